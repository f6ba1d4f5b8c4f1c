"""The explorer's page: it holds exactly the edges that Python has, and nothing in it but what was put there."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import graphpri
import zoo
from commands import call
from graphpri import Exploration, explore
from graphpri._objective import Objective
from graphpri.cli import main
from graphpri.cli.progress import Watch
from graphpri.errors import FileError, GraphError, OptionError
from graphpri.explorer import exploration, solutions
from graphpri.explorer.page import bits_to_masks, masks_to_bits, pack, place_nodes, render, unpack
from graphpri.explorer.solutions import COLUMNS, Ranking
from graphpri.graph import EdgeTable

HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\"><svg onload='window.hacked=1'>",
    "-->]]>{{data}}{{script}}&lt;&amp;",
    "שלום עולם",
    "\u202eright to left\u202c",
    "👩‍👩‍👧‍👦 family",
    "tab\there, comma, \"quotes\" and 'more'",
    "null\u0000and\u0007bell",
    "=HYPERLINK(1)",
    "x" * 3000,
    "🦜" * 50,
]


def data_of(page: Exploration) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the page's script finds in it."""
    (text,) = re.findall(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page.html)
    return unpack(text)


@pytest.fixture(scope="module")
def karate() -> Any:
    return nx.karate_club_graph()


@pytest.fixture(scope="module")
def page(karate: Any) -> Exploration:
    return explore(karate, beta=[0, 1, 4, 20], keep=[0.1, 0.3, 0.5, 0.8], title="Club")


@given(st.data())
def test_masks_survive_the_encoding(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 40)))
    masks = np.random.default_rng(data.draw(st.integers(0, 99))).random(shape) < data.draw(st.floats(0, 1))
    assert_array_equal(bits_to_masks(masks_to_bits(masks), shape[2]), masks)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.lists(st.floats(), max_size=9))
def test_header_and_arrays_survive_the_encoding(labels: list[str], values: list[float]) -> None:
    arrays = {
        "bytes": np.arange(len(labels), dtype=np.uint8),
        "ends": np.arange(len(values), dtype=np.uint32),
        "weights": np.array(values, np.float64),
    }
    text = pack({"labels": labels}, arrays)
    assert re.fullmatch("[A-Za-z0-9+/=]+", text)
    header, found = unpack(text)
    assert header == {"labels": labels}
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert_array_equal(found[name], array)


def test_page_holds_the_edges_of_every_stop(page: Exploration) -> None:
    header, arrays = data_of(page)
    masks = bits_to_masks(arrays["bits"].reshape(4, 4, -1), 78)
    graph = page.graph
    assert_array_equal(arrays["source"], graph.source)
    assert_array_equal(arrays["target"], graph.target)
    assert_array_equal(arrays["weights"], graph.weights)
    assert header["betas"] == [0, 1, 4, 20]
    canonical = explore(graph, beta=page.betas, keep=page.budgets, methods=[])
    for i, beta in enumerate(page.betas):
        for j, k in enumerate(page.budgets):
            assert masks[i, j].sum() == k
            assert_array_equal(masks[i, j], canonical.mask(beta, k))
    for i, name in enumerate(page.methods):
        for k in page.budgets:
            kept = graphpri.sparsify(graph, keep=k, method=name).mask
            assert_array_equal(np.sort(arrays[f"order{i}"][:k]), np.flatnonzero(kept))


def test_masks_come_in_the_edge_order_of_the_input(karate: Any, page: Exploration) -> None:
    shuffled = nx.Graph()
    edges = list(karate.edges(data=True))
    order = np.random.default_rng(0).permutation(len(edges))
    shuffled.add_edges_from(edges[i] for i in order)
    other = explore(shuffled, beta=[4], keep=[0.3], methods=["local-degree"])
    where = {frozenset(e): i for i, e in enumerate(karate.edges)}
    back = [where[frozenset(e)] for e in shuffled.edges]
    assert_array_equal(other.mask(4, 0.3, "local-degree"), page.mask(4, 0.3, "local-degree")[back])


def test_stops_lie_within_a_fiftieth_of_the_path_along_its_budgets(karate: Any, page: Exploration) -> None:
    rows = {(row["beta"], row["K"]): row for row in page.rows() if row["method"] == "pri"}
    for beta in page.betas:
        for result in graphpri.path(karate, beta=beta, keep=list(page.budgets)):
            row = rows[beta, result.kept.n_edges]
            assert row["entropy"] + 2 * beta * row["divergence"] <= 1.02 * result.objective


@pytest.mark.parametrize(("n", "m"), [(40, 90), (70, 150), (150, 300)])
def test_work_is_bounded_by_counting_and_the_page_says_so(n: int, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Swaps, swaps from sweeps, and exact prices: as many solutions as the nominal seconds have."""
    monkeypatch.setattr(solutions, "SEARCH_SECONDS", 0.6)
    solved: list[str] = []

    def counted(name: str) -> Any:
        whole = getattr(solutions, name)
        return lambda *args, **options: (solved.append(name), whole(*args, **options))[1]

    for name in ("solve", "corrected"):
        monkeypatch.setattr(solutions, name, counted(name))
    graph = zoo.random_graph(n, m, 0)
    page = explore(graph, beta=[0, 1, 2, 3, 4, 6, 9, 20], keep=[0.2, 0.4, 0.6], methods=[])
    each = solutions.seconds_per_solution(Objective(graph, 1.0))
    paths = 3 * len(solutions.coarse(Objective(graph, 1.0), list(page.betas), 3))
    assert len(solved) - paths == max(3, min(int(0.6 / each), len(solved) - paths))
    assert any("swaps of single edges were looked for at" in note for note in page.notes) == (len(solved) - paths < 24)
    assert ("corrected" in solved) == (n > solutions.CORRECTED_NODES)


def test_no_swap_of_two_edges_improves_a_stop(page: Exploration) -> None:
    objective = Objective(page.graph, 4.0)
    kept = page.mask(4, page.budgets[0])
    value = objective.value(objective.selection(kept))
    for out in np.flatnonzero(kept):
        for into in np.flatnonzero(~kept):
            swapped = kept.copy()
            swapped[[out, into]] = False, True
            assert objective.value(objective.selection(swapped)) > value - 1e-9


def test_a_search_that_is_stopped_keeps_what_it_found(karate: Any) -> None:
    seen: list[str] = []

    def stop(progress: Any) -> bool:
        seen.append(progress.stage)
        return sum("local search" in stage for stage in seen) == 3

    page = explore(karate, beta=[2, 4], keep=[0.2, 0.3], methods=[], callback=stop)
    assert page.interrupted
    assert page.betas == (2, 4)
    assert page.mask(4, 0.3).sum() == 23


def test_along_beta_entropy_never_falls_and_divergence_never_rises(page: Exploration) -> None:
    for k in page.budgets:
        rows = [row for row in page.rows() if row["method"] == "pri" and row["K"] == k]
        assert (np.diff([row["entropy"] for row in rows]) >= -1e-12).all()
        assert (np.diff([row["divergence"] for row in rows]) <= 1e-12).all()


def test_measures_are_those_of_the_report(karate: Any, page: Exploration) -> None:
    for row in page.rows()[::5]:
        mask = page.mask(row["beta"] or 0, row["K"], row["method"])
        report = graphpri.report(karate, mask, measures=list(set(COLUMNS) - {"barrier"}))
        for name in set(COLUMNS) - {"barrier"}:
            assert_allclose(row[name], report[name], rtol=1e-9, atol=1e-12)


def test_scores_rank_the_slopes_of_the_objective(page: Exploration) -> None:
    k = page.budgets[1]
    single = explore(page.graph, beta=[4], keep=[k], methods=[])
    objective = Objective(page.graph, 4.0)
    slopes = objective.terms_and_gradient(objective.selection(single.mask(4, k)))[1]
    scores = data_of(single)[1]["scores"]
    assert (np.diff(scores[np.argsort(-slopes)].astype(int)) >= 0).all()
    assert scores.min() == 0
    assert scores.max() >= 250  # several edges share the highest score


def test_constraints_hold_for_every_method(karate: Any) -> None:
    protect, forbid = [(0, 11), (33, 15)], [(0, 1)]
    page = explore(karate, beta=[0, 4], keep=[40, 60], connected=True, protect=protect, forbid=forbid)
    edges = [frozenset(e) for e in karate.edges]
    inside = [edges.index(frozenset(e)) for e in protect]
    outside = [edges.index(frozenset(e)) for e in forbid]
    for method in ("pri", *page.methods):
        for k in page.budgets:
            mask = page.mask(4, k, method)
            assert mask[inside].all()
            assert not mask[outside].any()
            assert nx.is_connected(nx.Graph([e for e, kept in zip(karate.edges, mask, strict=True) if kept]))
            if method != "pri":
                options: dict[str, Any] = {"connected": True, "protect": protect, "forbid": forbid}
                assert_array_equal(mask, graphpri.sparsify(karate, keep=k, method=method, **options).mask)


def test_default_budgets_are_those_that_can_be_met(karate: Any) -> None:
    page = explore(karate, beta=[4], connected=True, forbid=[(0, 1)], methods=[])
    assert (page.budgets[0], page.budgets[-1]) == (33, 77)


def test_page_of_unrelated_solutions_is_small() -> None:
    """Every β keeps other edges, in an order drawn at random: nothing is alike but neighbouring budgets."""
    rng = np.random.default_rng(0)
    graph = zoo.random_graph(1000, 10_000, 0, weighted=True)
    budgets = tuple(int(share * graph.n_edges) for share in solutions.SHARES)
    places = np.stack([rng.permutation(graph.n_edges) for _ in solutions.BETAS])
    masks = places[:, None, :] < np.array(budgets)[None, :, None]
    scored = solutions._scored(graph.n_edges, 21, 21)
    scores = rng.integers(0, 256, (21, len(scored), graph.n_edges), np.uint8)
    values = rng.random((21, 21, len(COLUMNS)))
    solved = solutions.Grid(tuple(map(float, solutions.BETAS)), budgets, masks, values, scored, scores, ())
    baselines = [Ranking(name, rng.permutation(graph.n_edges).astype(np.uint32), values[0]) for name in "abcdef"]
    html = render("random", graph, rng.random((1000, 2)).astype(np.float32), [], solved, baselines, [])
    assert len(html.encode()) <= 100 * graph.n_edges + 500_000


@pytest.mark.parametrize("name", zoo.GRAPHS)
def test_every_graph_has_a_page(name: str) -> None:
    graph = zoo.GRAPHS[name]
    page = explore(graph, beta=[0.5, 4], keep=[1, graph.n_edges])
    header, arrays = data_of(page)
    assert (header["nodes"], header["edges"]) == (graph.n_nodes, graph.n_edges)
    assert np.isfinite(arrays["x"]).all()
    assert np.isfinite(arrays["y"]).all()
    assert page.mask(4, graph.n_edges).all()
    assert page.mask(0.5, 1).sum() == 1


@pytest.mark.parametrize("name", zoo.EDGELESS)
def test_graphs_without_edges_are_refused(name: str) -> None:
    with pytest.raises(GraphError, match="no edges"):
        explore(zoo.EDGELESS[name])


def test_extreme_weights_are_kept_to_the_last_digit() -> None:
    weights = [1e-300, 1e300, 1.0, 0.1, 7e-11]
    page = explore(zoo.reweighted(zoo.ring(5), weights), beta=[4], keep=[3, 5])
    assert sorted(data_of(page)[1]["weights"].tolist()) == sorted(weights)


class Elements(HTMLParser):
    """The elements of a page, and whether an attribute of any of them runs a script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def test_labels_cant_break_out() -> None:
    ring = nx.cycle_graph(len(HOSTILE) + 2)
    plain = Elements(explore(ring, beta=[4], keep=[0.5], methods=["random"], title="plain").html)
    for title in HOSTILE:
        graph = nx.relabel_nodes(ring, dict(enumerate(HOSTILE)))
        nx.set_node_attributes(graph, {label: label[:9] for label in HOSTILE}, "</script>")
        page = explore(graph, beta=[4], keep=[0.5], methods=["random"], title=title)
        found = Elements(page.html)
        assert found.tags == plain.tags
        assert found.handlers == []
        header, _ = data_of(page)
        assert set(HOSTILE) < set(header["labels"])
        assert header["title"] == title
        break_out = [tag for tag in ("<img", "<svg onload") if tag in page.html.replace("createElementNS", "")]
        assert break_out == []


def test_odd_labels_have_pages() -> None:
    graph = nx.Graph([(10**40, "a"), ("a", (1, 2)), ((1, 2), -5), (-5, "\ud800")])
    header, _ = data_of(explore(graph, beta=[4], keep=[2]))
    assert set(header["labels"]) == {str(10**40), "a", "(1, 2)", "-5", "?"}


def test_page_forbids_every_request(page: Exploration) -> None:
    assert "Content-Security-Policy\" content=\"default-src 'none';" in page.html
    assert not re.search(r'(src|href)="(?!data:|#)', page.html)
    assert "unsafe" not in page.html


def test_same_seed_same_page(karate: Any, page: Exploration) -> None:
    one, again = (explore(karate, beta=[0, 4], keep=[0.3, 0.5], title="Club") for _ in range(2))
    assert again.html == one.html
    other = explore(karate, beta=[4], keep=[0.3], methods=["random"], seed=1)
    assert (other.mask(4, 0.3, "random") != page.mask(4, 0.3, "random")).any()


def test_interruption_leaves_what_was_solved(karate: Any) -> None:
    seen: list[str] = []

    def stop(progress: Any) -> bool:
        seen.append(progress.stage.split(",")[0])
        return len(set(seen)) > 2

    page = explore(karate, beta=[0, 1, 2, 4, 8], keep=[0.3, 0.6], callback=stop)
    assert page.interrupted
    assert page.betas == (1, 2)
    assert "interrupted: 2 of 5 beta were solved" in page.notes
    at_once = explore(karate, beta=[0, 1, 2], keep=[0.3, 0.6], callback=lambda _: True)
    assert (at_once.betas, at_once.mask(1, 0.3).sum()) == ((1,), 23)
    assert at_once.interrupted


def test_nodes_are_coloured_by_the_attributes_of_the_input(karate: Any) -> None:
    igraph = pytest.importorskip("igraph")
    clubs = [karate.nodes[v]["club"] for v in karate]
    other = igraph.Graph.from_networkx(karate)
    table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), node_attributes={"side": ["a", "b", None]})
    for graph, name, values in ((karate, "club", clubs), (other, "club", clubs), (table, "side", ["a", "b", "(none)"])):
        header, arrays = data_of(explore(graph, beta=[4], keep=[1], methods=[]))
        at = [a["name"] for a in header["attributes"]].index(name)
        groups = header["attributes"][at]["groups"]
        assert [groups[int(g)] for g in arrays[f"attribute{at}"]] == values


def test_given_attributes_are_read(karate: Any) -> None:
    given_ = {
        "age": {v: v / 2 for v in range(30)},
        "even": [v % 2 for v in range(34)],
        "many": list("abcdefghijklmnopq" * 2),
    }
    header, arrays = data_of(explore(karate, beta=[4], keep=[3], methods=[], attributes=given_))
    kinds = {a["name"]: (a["groups"], arrays[f"attribute{i}"]) for i, a in enumerate(header["attributes"])}
    assert kinds["age"][0] is None
    assert_array_equal(kinds["age"][1], [*np.arange(30) / 2, *[np.nan] * 4])
    assert kinds["even"][0] == ["0", "1"]
    assert kinds["many"][0][-1] == "others (8)"
    for wrong, message in (([1, 2], "2 values for 34 nodes"), ([str(v) for v in range(34)], "nothing that groups")):
        with pytest.raises(OptionError, match=message):
            explore(karate, beta=[4], keep=[3], attributes={"wrong": wrong})


def test_nodes_stand_apart_and_where_they_are_put() -> None:
    graph = zoo.disjoint(zoo.two_cliques(6), zoo.star(9), isolated=5)
    at = place_nodes(graph)
    gaps = np.linalg.norm(at[:, None] - at, axis=2) + np.eye(len(at))
    assert gaps.min() > 0.01
    given_ = np.random.default_rng(0).normal(size=(graph.n_nodes, 2)) * 1e6
    moved = place_nodes(graph, given_)
    back = np.polyfit(moved[:, 0], given_[:, 0], 1)[0]
    assert_allclose(np.diff(moved, axis=0) * back, np.diff(given_, axis=0), rtol=1e-3, atol=50)
    mapping = {graph.label(i): given_[i] for i in range(graph.n_nodes)}
    assert_array_equal(place_nodes(graph, mapping), moved)
    with pytest.raises(OptionError, match="no position for 1 nodes, the first is 3"):
        place_nodes(graph, {k: v for k, v in mapping.items() if k != 3})
    with pytest.raises(OptionError, match="finite positions"):
        place_nodes(graph, given_[:4])


def test_large_graphs_are_placed_group_by_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphpri.explorer.page.SPRINGS", 40)
    graph = zoo.disjoint(*[zoo.two_cliques(15) for _ in range(4)])
    at = place_nodes(graph)
    assert_array_equal(at, place_nodes(graph))
    clique = np.arange(graph.n_nodes) // 15
    centres = np.array([at[clique == c].mean(axis=0) for c in range(8)])
    nearest = np.linalg.norm(at[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == clique).mean() > 0.9
    gaps = np.linalg.norm(at[:, None] - at, axis=2) + np.eye(len(at))
    assert gaps.min() > 0.02


def test_large_graphs_without_groups_are_placed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphpri.explorer.page.SPRINGS", 40)
    for graph in (zoo.complete(60), zoo.disjoint(*[zoo.path(2)] * 50)):
        gaps = np.linalg.norm((at := place_nodes(graph))[:, None] - at, axis=2) + np.eye(len(at))
        assert gaps.min() > 0.02


def test_files_of_the_page_have_every_value_of_nodes_and_edges() -> None:
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {v: f"name {v}" for v in graph}, "own")
    nx.set_edge_attributes(graph, {e: f"kind {sum(e)}" for e in graph.edges}, "kind")
    header, _ = data_of(explore(graph, beta=[4], keep=[2], methods=[], height=500, alpha=0.1, seed=3, title="a b"))
    assert header["nodeValues"] == {"own": [f"name {v}" for v in range(4)]}
    assert header["edgeValues"] == {"kind": ["kind 1", "kind 3", "kind 5"]}
    python = ", beta=[4.0], keep=[2], alpha=0.1, seed=3"
    commands = {"command": " --alpha 0.1 --seed 3", "baseline": " --seed 3"}
    assert header["call"] == {"input": "INPUT", "python": python, **commands}


def test_the_command_of_the_page_names_the_file_and_the_python_line_no_defaults() -> None:
    table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]))
    header, _ = data_of(explore(table, methods=[], title="a b.csv"))
    assert header["call"] == {"input": "'a b.csv'", "command": "", "baseline": "", "python": ""}


def test_notebooks_show_the_page_and_files_hold_it(page: Exploration, tmp_path: Path) -> None:
    (inner,) = re.findall(r'srcdoc="([^"]*)"', page._repr_html_())
    assert unescape(inner) == page.html
    assert "height:760px" in page._repr_html_()
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page.html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(FileError, match="nowhere"):
        page.save(tmp_path / "nowhere" / "page.html")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["nonsense"]}, "not known"),
        ({"methods": ["pri"]}, "is what the page shows"),
        ({"methods": ["effective-resistance-sampling"]}, "weights of its own"),
        ({"entropy": "stochastic"}, "error bars"),
        ({"beta": []}, "beta is empty"),
        ({"beta": [-1]}, "beta"),
        ({"keep": [1.5]}, "keep=1.5"),
        ({"keep": [3], "connected": True}, "at least 33"),
    ],
)
def test_options_that_cant_be_met_are_refused(karate: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        explore(karate, **options)


def test_values_that_are_not_on_the_page_are_named(page: Exploration) -> None:
    for wrong in ({"beta": 3, "keep": 0.3}, {"beta": 4, "keep": 5}, {"beta": 4, "keep": 0.3, "method": "scan"}):
        with pytest.raises(OptionError, match="not on the page; it has"):
            page.mask(**wrong)


def test_larger_graphs_have_fewer_grid_points_and_the_largest_none(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = zoo.GRAPHS["random"]
    assert graph.n_edges == 60
    monkeypatch.setattr(solutions, "FULL_EDGES", 40)
    page = explore(graph, methods=[])
    assert (len(page.betas), len(page.budgets)) == (11, 11)
    monkeypatch.setattr(solutions, "HALF_EDGES", 50)
    assert len(explore(graph, methods=[]).betas) == 5
    monkeypatch.setattr(exploration, "MOST_EDGES", 55)
    with pytest.raises(OptionError, match="sparsify it first"):
        explore(graph)


def test_unaffordable_measures_are_left_out_and_said_so(monkeypatch: pytest.MonkeyPatch, karate: Any) -> None:
    from dataclasses import replace

    from graphpri.measures import MEASURES, Cost

    costly = replace(MEASURES["spectral_distance"], cost=Cost("N", lambda g: 1e9, 1.0))
    monkeypatch.setitem(MEASURES, "spectral_distance", costly)
    page = explore(karate, beta=[4], keep=[0.5], methods=["random"])
    assert all(np.isnan(row["spectral_distance"]) for row in page.rows())
    assert any("spectral_distance is left out" in note for note in page.notes)


def test_command_writes_the_page_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edges, out = tmp_path / "graph.csv", tmp_path / "page.html"
    edges.write_text("source,target\na,b\nb,c\nc,a\nc,<d>\n", "utf-8")
    done = call("explore", edges, "-o", out, "--beta", "1,4", "--keep", "2,3", "--method", "random", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["edges"], told["betas"], told["budgets"], told["methods"]) == (4, [1, 4], [2, 3], ["random"])
    assert told["bytes"] == out.stat().st_size
    same = explore(graphpri.read(edges), beta=[1, 4], keep=[2, 3], methods=["random"], title="graph.csv")
    assert out.read_text("utf-8") == same.html
    assert main(["explore", str(edges), "-o", str(out)]) == 2
    assert "--force" in capsys.readouterr().err


def test_command_refuses_names_of_other_kinds_of_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("page.pdf", "page"):
        assert main(["explore", "karate", "-o", str(tmp_path / name)]) == 2
        assert "the page's name ends in .html" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_counts_one_budget_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "page.html")
    assert main(["explore", "karate", "-o", out, "--beta", "4", "--keep", "3", "--method", "none"]) == 0
    assert "1 beta, 1 budget of 3 edges" in capsys.readouterr().out


def test_command_keeps_what_was_solved_when_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(watch: Watch, progress: Any) -> bool:
        watch.interrupted = True
        return True

    monkeypatch.setattr(Watch, "step", interrupt)
    edges, out = tmp_path / "graph.csv", tmp_path / "page.html"
    edges.write_text("a,b\nb,c\nc,a\nc,d\n", "utf-8")
    assert main(["explore", str(edges), "-o", str(out)]) == 1
    assert "interrupted" in capsys.readouterr().err
    assert "graphpri explorer" in out.read_text("utf-8")
