"""The page on one result: its numbers, its text, and the command that writes it."""

import re

import networkx as nx
import pytest

import graphpri
from graphpri._version import versions
from graphpri.cli import main
from graphpri.explorer.summary import BASELINES, page

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def karate():
    return graphpri.sparsify(nx.karate_club_graph(), keep=0.3, effort="fast")


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
    asked = html[html.index("What was asked") : html.index("How to make it again")]
    assert "<td>weights</td><td>&#x27;weight&#x27;</td>" in asked
    assert "in 2 components (original: 1)" in html


def test_what_was_kept_comes_first_and_what_was_asked_last():
    html = page(graphpri.sparsify(nx.cycle_graph(5), keep=4), baselines=[])
    headings = re.findall(r"<h2>(.*?)</h2>", html)
    assert (headings[0], headings[-2]) == ("What was kept", "What was asked")


def test_the_best_of_a_row_is_marked(karate):
    html = page(karate, baselines=["random"])
    values = [float(value) for value in cells(html, "divergence")[1:3]]
    row = re.search(r"<tr><td>divergence:.*?</tr>", html)[0]
    assert f'class="number best">{min(values):.4g}<' in row
    assert row.count("best") == 1
    assert "best" not in re.search(r"<tr><td>edges:.*?</tr>", html)[0]


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


@pytest.fixture
def sparsify(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder: exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["sparsify", *arguments, "--keep", "0.3", "--effort", "fast"])
        return code, *capsys.readouterr()

    return run


def test_command_writes_the_page_and_says_how_to_make_it_again(tmp_path, sparsify):
    code, out, err = sparsify("karate", "--report", "k.html")
    assert code == 0, err
    assert "k.html" in out
    html = (tmp_path / "k.html").read_text("utf-8")
    assert "graphpri sparsify karate --report k.html --keep 0.3 --effort fast" in html
    assert sparsify("karate", "--report", "k.html")[0] == 2


def test_command_writes_a_page_for_each_input(tmp_path, sparsify):
    code, _, err = sparsify("karate", "g1", "--report", "pages/", "-q")
    assert code == 0, err
    assert sorted(file.name for file in (tmp_path / "pages").iterdir()) == ["g1.html", "karate.html"]


@pytest.mark.parametrize("name", ["k.txt", "nowhere/k.html"])
def test_page_that_can_not_be_written_is_refused_before_the_work(tmp_path, name, sparsify):
    code, _, err = sparsify("karate", "--report", name)
    assert code == 2
    assert name in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
