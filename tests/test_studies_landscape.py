"""The studies that compare methods: by the paper's two measures, and for every purpose; the measures they added."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphpri
import zoo
from graphpri import measures as ms
from graphpri import studies
from graphpri.graph import Graph
from graphpri.measures import MEASURES, Settings, View
from graphpri.studies import find, landscape, sparsifiers
from graphpri.studies.study import Study
from judging import judged, read

NAMES = ("spectral-distance", "centrality", "landscape")
HOW = Settings(4.0, 0.0, "exact", "equation", "nats", 0)
Row = dict[str, str]


@pytest.fixture(scope="module")
def done(quick_studies: Path) -> Iterator[dict[str, studies.Result]]:
    """The three studies in their quick sizes, whose graphs are shipped; those of the full sizes are not needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHPRI_THREADS", "1")
        patch.delenv("GRAPHPRI_DATA", raising=False)
        yield {result.study.name: result for result in studies.reproduce(NAMES, quick_studies, quick=True)}


def changed(result: studies.Result, folder: Path, change: Callable[[Row], object]) -> dict[str, Any]:
    """Verdicts by their claim, after every row of the study's table has been changed."""
    table = Path(result.tables[0][0]).stem
    return by_claim(judged(result.study, result.folder, folder, table, change))


def by_claim(result: studies.Result) -> dict[str, Any]:
    return {verdict.claim: verdict for verdict in result.verdicts}


def about(verdicts: dict[str, Any], words: str) -> Any:
    """The one verdict whose claim has these words."""
    (found,) = (verdict for claim, verdict in verdicts.items() if words in claim)
    return found


# All three


@pytest.mark.parametrize("name", NAMES)
def test_a_study_judges_and_draws(done: dict[str, studies.Result], name: str) -> None:
    result = done[name]
    assert len(result.verdicts) >= 5
    assert {verdict.outcome for verdict in result.verdicts} <= set(studies.OUTCOMES)
    assert not any("nan" in v.measured + v.condition for v in result.verdicts)
    for verdict in result.judged:
        assert not re.search(r"\d\.\d|\d\s?%", re.sub(r"\{[^}]*\}", "", verdict.measured + verdict.condition))
    assert all((result.folder / f"{picture}.svg").stat().st_size > 1000 for picture, _ in result.pictures)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_numbers_in_any_order(done: dict[str, studies.Result], name: str) -> None:
    study = done[name].study
    for cell in reversed(study.cells(True)[-2:]):
        for table, rows in study.work(cell, 0).items():
            kept = read(done[name].folder / f"{table}.csv")
            for row in rows:
                assert {key: "" if value is None else str(value) for key, value in row.items()} in kept


@pytest.mark.parametrize("study", [find(name) for name in NAMES], ids=lambda study: study.name)
def test_cells_are_all_different_and_every_graph_they_need_is_named(study: Study) -> None:
    cells = [repr(cell) for cell in study.cells(False)]
    assert len(cells) == len(set(cells))
    shipped = {"g1", "g2", "karate", "lesmis"}
    assert {cell["graph"] for cell in study.cells(False)} - shipped == set(study.needs)
    assert {cell["graph"] for cell in study.cells(True)} <= shipped


# The paper's two measures


def test_every_method_keeps_exactly_as_many_edges(done: dict[str, studies.Result]) -> None:
    edges = {"karate": 78, "g1": 100}
    for row in read(done["spectral-distance"].folder / "sparsifiers.csv"):
        assert int(row["K"]) == round(float(row["keep"]) * edges[row["graph"]])


def test_centralisation_does_not_depend_on_the_study(done: dict[str, studies.Result]) -> None:
    both = [read(done[name].folder / "sparsifiers.csv") for name in ("spectral-distance", "centrality")]
    assert both[0] == both[1]
    at = ("graph", "keep", "method", "seed", "beta", "connected")
    by_weights = [{tuple(r[k] for k in at): r["C_D"] for r in both[0] if r["reweight"] == s} for s in ("True", "False")]
    assert by_weights[0]
    assert by_weights[0].items() <= by_weights[1].items()


def test_new_weights_never_raise_the_divergence(done: dict[str, studies.Result]) -> None:
    rows = read(done["spectral-distance"].folder / "sparsifiers.csv")
    key = ("graph", "keep", "beta", "connected")
    before = {
        tuple(row[k] for k in key): float(row["D"])
        for row in rows
        if row["method"] == "pri" and row["reweight"] == "False"
    }
    after = {tuple(row[k] for k in key): float(row["D"]) for row in rows if row["reweight"] == "True"}
    assert after
    assert all(value <= before[cell] + 1e-12 for cell, value in after.items())


def test_a_connected_graph_stays_in_one_piece_and_is_left_out_where_it_can_not(done: dict[str, studies.Result]) -> None:
    rows = [row for row in read(done["centrality"].folder / "sparsifiers.csv") if row["connected"] == "True"]
    assert {row["components"] for row in rows} == {"1"}
    assert {(row["graph"], row["keep"]) for row in rows} == {
        *(("g1", keep) for keep in ("0.4", "0.6", "0.8")),
        *(("karate", keep) for keep in ("0.6", "0.8")),
    }


def frames(**values: list[float]) -> dict[str, Any]:
    """A table of one graph with one d_x for each method and keep ratio."""
    pd = pytest.importorskip("pandas")
    common = {"graph": "karate", "beta": np.nan, "alpha": np.nan, "connected": False, "reweight": False}
    rows = [
        common | {"method": method, "keep": keep, "d_x": value}
        for method, found in values.items()
        for keep, value in zip((0.2, 0.4), found, strict=True)
    ]
    table = pd.DataFrame(rows)
    table["method"] = table["method"].str.replace("_", "-")
    table.loc[table["method"] == "pri", ["beta", "alpha"]] = 2.0, 0.005
    return {"sparsifiers": table}


def test_a_rank_counts_the_methods_that_are_better() -> None:
    others = {"random": [3.0, 3.0], "local_similarity": [4.0, 4.0], "effective_resistance_sampling": [np.inf, 5.0]}
    table = sparsifiers.medians(frames(local_degree=[1.0, 1.0], pri=[2.0, 4.5], **others), "d_x")
    assert sparsifiers.ranks(table, low=True)["Graph-PRI, β=2, α=0.005"].tolist() == [2, 4]
    assert sparsifiers.ranks(table, low=False)["Graph-PRI, β=2, α=0.005"].tolist() == [4, 2]
    tied = sparsifiers.medians(frames(local_degree=[2.0, 2.0], pri=[2.0, 2.0], **others), "d_x")
    assert set(sparsifiers.ranks(tied, low=True).to_numpy().ravel()) == {1}


@pytest.mark.parametrize(
    ("name", "measure", "words", "better"),
    [("spectral-distance", "d_x", "second lowest", "0.001"), ("centrality", "C_D", "second highest", "0.99")],
)
def test_the_papers_rank_follows_the_numbers(
    done: dict[str, studies.Result], tmp_path: Path, name: str, measure: str, words: str, better: str
) -> None:
    def second(row: Row) -> None:
        if row["method"] in ("local-degree", "pri", "gumbel"):
            row[measure] = (
                better
                if row["method"] == "local-degree"
                else str(float(better) + (0.001 if measure == "d_x" else -0.01))
            )

    def last(row: Row) -> None:
        if row["method"] in ("pri", "gumbel"):
            row[measure] = "99" if measure == "d_x" else "-1"

    made = changed(done[name], tmp_path / "second", second)
    assert about(made, words).outcome == "reproduced"
    assert "second in 100%" in about(made, words).measured
    assert about(made, "Local degree has").outcome == "reproduced"
    assert about(changed(done[name], tmp_path / "last", last), words).outcome == "not reproduced"


def test_the_divergence_that_is_lowest_follows_the_numbers(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def lower(row: Row) -> None:
        if row["method"] == "random":
            row["D"] = "0"

    found = changed(done["spectral-distance"], tmp_path / "D", lower)
    assert about(found, "no other method has a lower").outcome == "not reproduced"
    assert about(by_claim(done["spectral-distance"]), "no other method has a lower").outcome != "not reproduced"


def test_what_new_weights_do_follows_the_numbers(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def worse(row: Row) -> None:
        if row["reweight"] == "True":
            row["D"], row["d_x"] = "1", "0"

    found = changed(done["spectral-distance"], tmp_path / "weights", worse)
    assert about(found, "never raise the divergence").outcome == "not reproduced"
    assert about(found, "raise the spectral distance").outcome == "not reproduced"


# The landscape


def test_every_purpose_has_measures_of_the_registry_and_each_is_drawn() -> None:
    wanted = [name for kinds in landscape.PURPOSES.values() for name in kinds]
    assert len(wanted) == len(set(wanted)) >= 19
    assert set(wanted) - {"kept_distances"} | set(landscape.UNRANKED) <= set(MEASURES)
    for kinds in landscape.PURPOSES.values():
        for name, kind in kinds.items():
            if name not in MEASURES:
                continue
            if MEASURES[name].better and kind != "one":
                assert MEASURES[name].better == kind
            assert MEASURES[name].both or kind != "same"


def test_the_full_landscape_has_every_method_and_eight_real_graphs_or_more() -> None:
    cells = landscape.cells(False)
    assert len({cell["graph"] for cell in cells}) >= 8
    assert all({"pri", *cell["methods"]} == set(graphpri.methods()) for cell in cells if "methods" in cell)


def test_a_percentile_is_the_share_of_the_others_that_do_better() -> None:
    pd = pytest.importorskip("pandas")
    values = {"a": 0.3, "b": 0.1, "c": 0.1, "d": np.nan, "e": 0.2}
    rows = [
        {
            "graph": "g",
            "keep": 0.5,
            "method": m,
            "beta": np.nan,
            "connected": False,
            "divergence": x,
            "flow_ratio": 1 - x,
        }
        for m, x in values.items()
    ]
    found = landscape.by_cell({"landscape": pd.DataFrame(rows)}).reset_index().set_index("method")
    assert found["divergence"].to_dict() == {"a": 75, "b": 0, "c": 0, "d": 100, "e": 50}
    assert found["flow_ratio"].to_dict() == found["divergence"].to_dict()


def test_distances_to_nodes_that_are_cut_off_are_not_kept() -> None:
    pd = pytest.importorskip("pandas")
    ways = {"whole": (1.0, 1.5), "torn": (0.3, 1.0), "edge": (0.0, np.nan)}
    head = {"graph": "g", "keep": 0.5, "beta": np.nan, "connected": False}
    rows = [
        {**head, "method": name, "divergence": 0.1, "connected_pairs": pairs, "stretch": stretch}
        for name, (pairs, stretch) in ways.items()
    ]
    found = landscape.by_cell({"landscape": pd.DataFrame(rows)}).reset_index().set_index("method")
    assert found["kept_distances"].to_dict() == {"whole": 0, "torn": 50, "edge": 100}


def test_the_best_method_for_a_purpose_follows_the_numbers(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def perfect(row: Row) -> None:
        if row["method"] == "random":
            row["divergence"], row["flow_ratio"] = "0", "1"

    before, after = by_claim(done["landscape"]), changed(done["landscape"], tmp_path / "best", perfect)
    assert about(before, "keeps information").outcome == "reproduced"
    assert about(after, "keeps information").outcome == "not reproduced"
    assert "random" in about(after, "keeps information").condition
    assert about(after, "lowest divergence D").outcome == "not reproduced"
    assert "random" in about(after, "the largest flows").condition
    purposes = {row["purpose"]: row for row in read(tmp_path / "best" / "purposes.csv")}
    assert purposes["flows"]["best"].startswith("random")


def test_a_tie_of_all_that_hold_the_graph_together_is_said_to_be_one() -> None:
    pd = pytest.importorskip("pandas")
    rows = [
        {"graph": "g", "keep": 0.5, "method": m, "beta": b, "connected": c, "divergence": d, "components": 2 - c}
        for d, (m, b, c) in enumerate(product_of(("pri", 4.0), ("random", np.nan)))
    ]
    purposes = landscape.derive({"landscape": pd.DataFrame(rows)})["purposes"].set_index("purpose")
    assert set(purposes.loc["connectivity", ["best", "best_pri", "best_other"]]) == {
        "any method, connected",
        "pri β=4, connected",
        "random, connected",
    }
    assert purposes.loc["information", "best"] == "pri β=4"


def product_of(*ways: tuple[str, float]) -> list[tuple[str, float, bool]]:
    return [(method, beta, joined) for method, beta in ways for joined in (False, True)]


def test_without_a_budget_a_larger_beta_keeps_more(done: dict[str, studies.Result]) -> None:
    rows = read(done["landscape"].folder / "free.csv")
    kept = [int(row["K"]) for row in sorted(rows, key=lambda row: float(row["beta"]))]
    assert 33 <= kept[0] < kept[-1] == 78


def test_the_default_beta_is_judged_by_its_ranks(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def perfect(row: Row) -> None:
        if row["beta"] in ("4", "4.0"):
            row.update(aim(row))

    found = changed(done["landscape"], tmp_path / "default", perfect)
    assert about(found, "default β").outcome == "reproduced"
    assert about(by_claim(done["landscape"]), "default β").outcome == "not reproduced"
    assert {row["best_beta"] for row in read(tmp_path / "default" / "betas.csv")} == {"4.0"}


def aim(row: Row) -> Row:
    """The best values there can be."""
    ends = {"low": "-1", "high": "99", "one": "1"}
    kinds = {name: kind for kinds in landscape.PURPOSES.values() for name, kind in kinds.items()}
    return {name: ends.get(kind) or row[f"{name}_original"] for name, kind in kinds.items() if name in row}


# The measures: eigenvalues


def view_of(original: Graph, kept: Graph, **given_: Any) -> View:
    how = replace(HOW, **given_)
    return View(kept, how, View(original, how))


def measured(name: str, original: Graph, kept: Graph, **given_: Any) -> float:
    return MEASURES[name].compute(view_of(original, kept, **given_))


def some(graph: Graph, seed: int, share: float = 0.7) -> Graph:
    mask = np.random.default_rng(seed).random(graph.n_edges) < share
    mask[0] = True
    return graph.select(mask)


every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())


@every_graph
def test_eigenvalue_error_is_that_of_the_dense_laplacians(graph: Graph) -> None:
    kept = some(graph, 3)
    before, after = (np.linalg.eigvalsh(g.laplacian().toarray()) for g in (graph, kept))
    zeros = graph.components()[0]
    low = slice(zeros, zeros + ms.eigenvalues.LOW)
    expected = np.mean(np.abs(before[low] - after[low]) / before[low])
    assert measured("eigenvalue_error", graph, kept) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@every_graph
def test_eigenvalues_and_flows_of_a_graph_are_its_own_and_scale_with_its_weights(graph: Graph) -> None:
    halved = zoo.reweighted(graph, graph.weights / 2)
    assert measured("eigenvalue_error", graph, graph) == 0
    assert measured("eigenvalue_error", graph, halved) == pytest.approx(0.5)
    assert measured("flow_ratio", graph, graph) == 1
    assert measured("flow_ratio", graph, halved) == pytest.approx(0.5, rel=1e-6)


def test_eigenvalues_of_large_graphs_are_their_closed_form_repeated_ones_too() -> None:
    rows, columns = 25, 30
    waves = (2 - 2 * np.cos(np.pi * np.arange(n) / n) for n in (rows, columns))
    expected = np.sort(np.add.outer(*waves).ravel())[1:13]
    np.testing.assert_allclose(ms.eigenvalues.lowest(zoo.grid(rows, columns), 1.0, 12), expected, rtol=1e-9)
    ring = 2 - 2 * np.cos(2 * np.pi * np.repeat(np.arange(1, 4), 2) / 800)
    np.testing.assert_allclose(ms.eigenvalues.lowest(zoo.ring(800), 1.0, 6), ring, rtol=1e-9)
    both = zoo.disjoint(zoo.grid(rows, columns), zoo.grid(rows, columns), isolated=2)
    np.testing.assert_allclose(ms.eigenvalues.lowest(both, 2.0, 12), np.repeat(expected[:6], 2) / 2, rtol=1e-9)


def test_a_graph_in_many_pieces_has_lost_its_lowest_eigenvalues() -> None:
    graph = zoo.path(40)
    mask = np.arange(39) % 3 > 0  # 13 pieces
    assert measured("eigenvalue_error", graph, graph.select(mask)) == 1


def test_eigenvalues_that_weights_hide_are_said_to_be_so() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1e-300, 1.0])
    view = view_of(graph, graph)
    assert np.isnan(MEASURES["eigenvalue_error"].compute(view))
    assert any("too far apart" in note for note in view.notes)


# The measures: flows


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=8, deadline=None)
def test_flow_ratio_is_networkxs_over_the_same_pairs(seed: int, weighted: bool) -> None:
    graph = zoo.random_graph(12, 24, seed, weighted=weighted)
    kept = some(graph, seed)
    view = view_of(graph, kept)
    ratios = []
    for s, t in np.unique(ms.flows.pairs(view.origin), axis=0, return_counts=False).tolist():
        before, after = (capacity_between(g, s, t) for g in (graph, kept))
        ratios.append(((s, t), after / before))
    table = dict(ratios)
    expected = np.mean([table[s, t] for s, t in map(tuple, ms.flows.pairs(view.origin).tolist())])
    assert MEASURES["flow_ratio"].compute(view) == pytest.approx(expected, rel=1e-6)


def capacity_between(graph: Graph, s: int, t: int) -> float:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n_nodes))
    for u, v, w in zip(graph.source.tolist(), graph.target.tolist(), graph.weights.tolist(), strict=True):
        G.add_edge(u, v, capacity=w)
    return nx.maximum_flow_value(G, s, t)


def test_flows_of_known_graphs() -> None:
    # Complete graphs have n − 1 disjoint paths between two nodes, a path has one, a ring two.
    complete = zoo.complete(9)
    assert measured("flow_ratio", complete, complete.select(complete.source == 0)) == pytest.approx(1 / 8)
    ring = zoo.ring(30)
    assert measured("flow_ratio", ring, ring.select(np.arange(30) > 0)) == pytest.approx(0.5)


def test_pairs_are_joined_in_the_original_and_drawn_by_the_seed() -> None:
    graph = zoo.disjoint(zoo.path(5), zoo.ring(4), zoo.path(2), isolated=3)
    member = graph.components()[1]
    drawn = [ms.flows.pairs(View(graph, replace(HOW, seed=seed))) for seed in (0, 0, 1)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    for found in drawn:
        assert (found[:, 0] != found[:, 1]).all()
        assert (member[found[:, 0]] == member[found[:, 1]]).all()
        assert len(np.unique(found)) == 11
