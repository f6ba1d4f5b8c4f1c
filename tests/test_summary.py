import re
import subprocess
import sys

import networkx as nx
import pytest

import graphpri
from graphpri._summary import BASELINES, page
from graphpri._version import versions

pytest.importorskip("matplotlib")


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "graphpri", *map(str, arguments)], capture_output=True, text=True, cwd=cwd
    )


@pytest.fixture(scope="module")
def karate():
    return graphpri.sparsify(nx.karate_club_graph(), keep=0.3)


def cells(html, measure):
    row = re.search(rf"<tr><td>{measure}:.*?</tr>", html)[0]
    return re.findall(r"<td[^>]*>(.*?)</td>", row)[1:]


def test_values_are_those_of_report_for_every_method_at_the_same_size(karate):
    html = page(karate)
    found = cells(html, "divergence")
    expected = [graphpri.report(karate.original, karate)["divergence"]]
    for method in BASELINES:
        other = graphpri.sparsify(karate.original, keep=23, method=method)
        expected.append(graphpri.report(karate.original, other)["divergence"])
    assert found == ["", *(f"{value:.4g}" for value in expected), "less"]
    assert cells(html, "edges")[1:-1] == ["23"] * 5


def test_page_says_which_weights_were_used_and_counts_components():
    ring = nx.cycle_graph(5)
    html = page(graphpri.sparsify(ring, keep=4, connected=True), baselines=[])
    assert "<td>weights</td><td>unweighted: no edge has the attribute &#x27;weight&#x27;</td>" in html
    assert "in 1 component (original: 1)" in html
    nx.set_edge_attributes(ring, 2.0, "weight")
    html = page(graphpri.sparsify(ring, keep=3), baselines=[])
    asked = html[html.index("What was asked") : html.index("What was kept")]
    assert "<td>weights</td><td>&#x27;weight&#x27;</td>" in asked
    assert "in 2 components (original: 1)" in html


def test_measures_that_are_not_defined_are_not_blank():
    html = page(graphpri.sparsify(nx.cycle_graph(5), keep=4), baselines=[])
    assert cells(html, "degree_rank") == ["", "n/a", "more"]


def test_same_result_gives_the_same_page(karate):
    assert page(karate, baselines=["random"]) == page(karate, baselines=["random"])


def test_page_needs_no_other_file_and_shows_text_as_text(karate):
    html = page(karate, title='</title><script>alert("x")</script>', command="graphpri '<b>'", baselines=[])
    assert "<script" not in html
    assert "&lt;b&gt;" in html
    assert not re.search(r'(?:src|href)="(?!data:|#)', html)
    assert versions()["graphpri"] in html


def test_method_that_can_not_keep_that_many_edges_says_why():
    result = graphpri.sparsify(nx.path_graph(5), keep=2, connected=False)
    html = page(result, baselines=["spanning-forest"])
    assert "spanning-forest" in html


def test_command_writes_the_page_and_says_how_to_make_it_again(tmp_path):
    done = run("sparsify", "karate", "--keep", "0.3", "--report", "k.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "k.html" in done.stdout
    html = (tmp_path / "k.html").read_text("utf-8")
    assert "graphpri sparsify karate --keep 0.3 --report k.html" in html
    assert run("sparsify", "karate", "--keep", "0.3", "--report", "k.html", cwd=tmp_path).returncode != 0


def test_command_writes_a_page_for_each_input(tmp_path):
    done = run("sparsify", "karate", "lesmis", "--keep", "0.3", "--report", "pages/", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(file.name for file in (tmp_path / "pages").iterdir()) == ["karate.html", "lesmis.html"]


@pytest.mark.parametrize("name", ["k.txt", "nowhere/k.html"])
def test_page_that_can_not_be_written_is_refused_before_the_work(tmp_path, name):
    done = run("sparsify", "karate", "--keep", "0.3", "--report", name, cwd=tmp_path)
    assert done.returncode != 0
    assert name in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
