"""The studies of the paper's theory: its assumption, its theorems, and the approximations of the entropy."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zoo
from graphpri import studies
from graphpri._entropy import exact_entropy
from graphpri._entropy.by_name import evaluate
from graphpri.errors import OptionError
from graphpri.graph import Graph
from graphpri.studies import assumption, entropies, graphs, theorems
from graphpri.studies.catalogue import find
from graphpri.studies.entropies import APPROXIMATIONS, slope
from graphpri.studies.study import Facts
from judging import about, judged

NAMES = ("assumption", "theorems", "entropies")
Row = dict[str, str]


@pytest.fixture(scope="module")
def done(quick_study: Callable[[str], studies.Result]) -> dict[str, studies.Result]:
    """The three studies in their quick sizes, with the graphs that are shipped alone."""
    return {name: quick_study(name) for name in NAMES}


def changed(result: studies.Result, folder: Path, table: str, change: Callable[[Row], object]) -> studies.Result:
    """The study judged again after every row of a table has been changed."""
    return judged(result.study, result.folder, folder, table, change)


# What all three do


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_numbers_in_any_order(done: dict[str, studies.Result], name: str) -> None:
    cells = find(name).cells(True)[-3:]
    for cell in reversed(cells):
        for table, rows in find(name).work(cell, 0).items():
            kept = untimed(done[name].folder / f"{table}.csv")
            for row in rows:
                written = {k: "" if v is None else str(v) for k, v in row.items() if not k.endswith("seconds")}
                assert written in kept


def untimed(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [{k: v for k, v in row.items() if not k.endswith("seconds")} for row in csv.DictReader(lines)]


def test_another_seed_gives_other_graphs() -> None:
    cell = {"model": "p", "nodes": 20, "degree": 3.0, "graphs": 2, "additions": 190}
    assert assumption.work(cell, 0) != assumption.work(cell, 1)


# Families


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [
        ("ER 100 4", 100, 200),
        ("BA 100 6", 100, 291),
        ("WS 100 6", 100, 300),
        ("ring 20 10", 20, 100),
        ("grid 3 4", 12, 17),
        ("path 9 2", 9, 8),
        ("weights 30 4", 30, 60),
        ("karate", 34, 78),
        ("karate weighted", 34, 78),
    ],
)
def test_a_family_has_the_nodes_and_edges_of_its_name(name: str, nodes: int, edges: int) -> None:
    graph = graphs.build(name, 0)
    assert (graph.n_nodes, graph.n_edges) == (nodes, edges)
    assert graph.is_weighted == name.startswith(("weights", "karate w"))
    again = graphs.build(name, 0)
    assert (graph.source == again.source).all()
    assert (graph.weights == again.weights).all()


def test_communities_have_the_mean_degree_that_was_asked_for() -> None:
    graph = graphs.build("SBM 400 10", 0)
    assert abs(2 * graph.n_edges / 400 - 10) < 1


def test_a_family_without_two_numbers_is_refused() -> None:
    with pytest.raises(OptionError, match="two numbers"):
        graphs.build("ER 200", 0)


@given(st.integers(4, 60), st.integers(1, 40), st.integers(0, 99))
def test_entropies_with_an_edge_are_those_of_the_larger_graphs(n: int, m: int, seed: int) -> None:
    graph = zoo.random_graph(n, min(m, n * (n - 1) // 2 - 1), seed)
    u, v = graphs.drawn(graphs.absent_pairs(graph), 3, np.random.default_rng(seed))
    before, after = graphs.entropies_with(graph, (u, v))
    assert before == pytest.approx(evaluate(graph, "exact").value, abs=1e-12)
    for i in range(u.size):
        larger = Graph.from_edges(np.append(graph.source, u[i]), np.append(graph.target, v[i]), n_nodes=n)
        assert larger.n_edges == graph.n_edges + 1
        assert after[i] == pytest.approx(evaluate(larger, "exact").value, abs=1e-12)


# The assumption


def test_the_counterexample_has_its_known_values(done: dict[str, studies.Result]) -> None:
    facts = done["assumption"].facts
    assert facts["S_without"] == pytest.approx(1.7482, abs=5e-5)
    assert facts["S_with"] == pytest.approx(1.7118, abs=5e-5)
    assert about(done["assumption"], "K(2, n−2)").outcome == "reproduced"


def test_every_absent_edge_of_a_small_graph_is_tried(done: dict[str, studies.Result]) -> None:
    for row in untimed(done["assumption"].folder / "additions.csv"):
        if row["nodes"] == "20":
            assert int(row["tried"]) == 190 - int(row["edges"])
        assert int(row["joining_raised"]) <= int(row["raised"]) <= int(row["tried"])


def test_the_share_of_the_assumption_decides_its_verdict(done: dict[str, studies.Result], tmp_path: Path) -> None:
    result = done["assumption"]
    assert about(result, "graphs of 20 nodes").outcome == "conditional"
    low = changed(result, tmp_path / "low", "additions", lambda row: row.update(raised=str(int(row["tried"]) // 4)))
    assert about(low, "graphs of 20 nodes").outcome == "not reproduced"
    assert about(low, "most added edges").outcome == "not reproduced"
    assert about(low, "graphs of 200 nodes").outcome == "not reproduced"
    high = changed(result, tmp_path / "high", "additions", lambda row: row.update(raised=row["tried"]))
    assert about(high, "graphs of 20 nodes").outcome == "reproduced"
    assert "100.0%" in about(high, "graphs of 20 nodes").measured
    assert about(high, "K(2, n−2)").outcome == "reproduced"


def test_the_papers_table_is_compared_with_our_means(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def as_printed(row: Row) -> None:
        paper = assumption._PAPER[float(row["degree"])]
        spread = 100 * (-1) ** int(row["graph"])
        row.update(tried="100000", raised=str(round(1000 * paper) + spread))

    found = changed(done["assumption"], tmp_path / "printed", "additions", as_printed)
    assert about(found, "95.65").outcome == "reproduced"
    assert about(done["assumption"], "95.65").outcome == "not reproduced"


def test_a_counterexample_that_is_none_is_seen(done: dict[str, studies.Result], tmp_path: Path) -> None:
    found = changed(done["assumption"], tmp_path / "no", "bipartite", lambda row: row.update(S_with_edge="9"))
    assert about(found, "K(2, n−2)").outcome == "not reproduced"


# The theorems


@pytest.mark.parametrize(("thin", "said"), [(np.inf, "at no share below all edges at 4"), (3.0, "from 90% on at 4")])
def test_the_shares_at_which_gamma_is_finite_are_a_sentence_where_there_is_none(thin, said):
    gammas = {(4, 0.5): np.inf, (4, 0.9): thin, (30, 0.5): 2.0, (30, 0.9): 1.5}
    rows = [{"model": "ER", "degree": d, "share": s, "gamma": g, "scaled": g} for (d, s), g in gammas.items()]
    facts = Facts()
    verdict = theorems._gamma(pd.DataFrame(rows), facts)
    assert facts.fill(verdict.condition).endswith(f"50% of the edges on at mean degree 30, and {said}")


def test_the_verdicts_of_the_theorems(done: dict[str, studies.Result]) -> None:
    verdicts = done["theorems"]
    expected = {
        "(d − 2)/d": "reproduced",
        "tr(W²)/(δ d)": "conditional",
        "decays like": "reproduced",
        "prone to lower": "reproduced",
        "triangle inequality": "reproduced",
        "spectral property": "conditional",
        "the star has the least": "reproduced",
        "is least for the star": "reproduced",
        "largest for regular graphs": "reproduced",
        "in w is U g": "not reproduced",
        "gradient of this library": "reproduced",
        "−tr(σ ln σ − σ)": "reproduced",
        "Lemmas 1 and 2": "reproduced",
        "E_v log λ'": "reproduced",
    }
    assert {words: about(verdicts, words).outcome for words in expected} == expected


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("additions", {"least_slack": "-0.1"}, "(d − 2)/d"),
        ("gaps", {"bound": "0.001"}, "tr(W²)/(δ d)"),
        ("decay", {"H": "1", "S": "2"}, "decays like"),
        ("corollary", {"falls": "0"}, "prone to lower"),
        ("corollary", {"both": "0"}, "never raises"),
        ("metric", {"fails": "3"}, "triangle inequality"),
        ("gamma", {"gamma": "inf"}, "spectral property"),
        ("atlas", {"star": "False"}, "the star has the least"),
        ("trees", {"H": "1"}, "is least for the star"),
        ("atlas", {"regular": "True"}, "largest for regular graphs"),
        ("gradients", {"partial_ratio_least": "1", "partial_ratio_most": "1"}, "in w is U g"),
        ("gradients", {"library_error": "0.01"}, "gradient of this library"),
        ("appendix", {"error": "0.01"}, "−tr(σ ln σ − σ)"),
        ("lemmas", {"lemma1_error": "0.01"}, "Lemmas 1 and 2"),
        ("lemmas", {"rises_least": "-0.01"}, "E_v log λ'"),
    ],
)
def test_a_changed_number_changes_the_verdict_of_its_theorem(
    done: dict[str, studies.Result], tmp_path: Path, table: str, change: Row, words: str
) -> None:
    before = about(done["theorems"], words)
    after = about(changed(done["theorems"], tmp_path / "changed", table, lambda row: row.update(change)), words)
    assert after.outcome != before.outcome


def test_one_exception_refutes_the_corollary(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def all_but_one(row: Row) -> None:
        row["both"] = str(int(row["S_rises"]) - 1)

    found = about(changed(done["theorems"], tmp_path / "one", "corollary", all_but_one), "never raises")
    assert found.outcome == "not reproduced"


def test_the_atlas_has_every_connected_graph() -> None:
    # 2, 6, 21, 112, 853: A. Cayley's numbers of connected graphs on 3 to 7 nodes.
    counts = [sum(g.components()[0] == 1 for g in theorems.atlas(n, n)) for n in range(3, 8)]
    assert counts == [2, 6, 21, 112, 853]


def test_one_edge_off_the_star_or_off_the_ring_is_noticed() -> None:
    star, ring = theorems._measured(zoo.star(6)), theorems._measured(zoo.ring(6))
    path = theorems._measured(zoo.path(6))
    assert (star["star"], ring["star"], path["star"]) == (True, False, False)
    assert (star["regular"], ring["regular"], path["regular"]) == (False, True, False)
    assert star["S"] < path["S"]
    assert ring["H"] == pytest.approx(math.log(6))


def test_the_printed_gradient_is_twice_the_derivative_along_its_direction_and_not_the_partial_one(
    done: dict[str, studies.Result],
) -> None:
    rows = [row for row in untimed(done["theorems"].folder / "edges.csv") if row["graph"] == "karate"]
    assert len(rows) == 78
    printed, along, partial, ours = (
        np.array([float(row[name]) for row in rows]) for name in ("printed", "along", "partial", "library")
    )
    assert printed == pytest.approx(2 * along, abs=1e-6)
    assert ours == pytest.approx(partial, abs=1e-7)
    assert np.abs(printed / partial).min() > 50


def test_quick_topics_are_those_of_the_paper_size() -> None:
    quick, whole = ({cell["topic"] for cell in theorems.cells(size)} for size in (True, False))
    assert quick == whole == set(theorems._TOPICS)


# The approximations


@pytest.mark.parametrize("way", sorted(set(APPROXIMATIONS) - {"stochastic"}))  # its gradient is another estimate
@pytest.mark.parametrize("name", ["random", "weighted", "labelled"])
def test_an_approximations_edge_term_is_its_derivative(way: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = zoo.CONNECTED[name]
    a = graph.weights / (2 * graph.weights.sum())
    rng = np.random.default_rng(0)
    # All unit vectors in place of random ones give the traces themselves; polynomials stay on their interval.
    monkeypatch.setattr(entropies, "_signs", lambda *_: np.eye(graph.n_nodes) * math.sqrt(graph.n_nodes))
    if way in ("taylor", "chebyshev"):
        top = entropies._largest(graph, a)[0] * 1.01
        monkeypatch.setattr(entropies, "_largest", lambda *_: (top, None))
    _, h = APPROXIMATIONS[way].run(graph, a, rng, True)
    assert h is not None
    along = rng.standard_normal(a.size) * a
    along -= a * 2 * along.sum()  # the trace stays one

    def value(step: float) -> float:
        return APPROXIMATIONS[way].run(graph, a + step * along, rng, False)[0]

    central = (value(1e-5) - value(-1e-5)) / 2e-5
    assert float(h @ along) == pytest.approx(central, abs=1e-6)


@pytest.mark.parametrize("way", ["taylor", "chebyshev", "lanczos", "stochastic"])
def test_random_estimates_are_right_in_the_mean(way: str) -> None:
    graph = zoo.complete(7)
    a = graph.weights / (2 * graph.weights.sum())
    found = [APPROXIMATIONS[way].run(graph, a, np.random.default_rng(seed), False)[0] for seed in range(20)]
    error = np.std(found) / np.sqrt(20)
    assert abs(np.mean(found) - math.log(6)) <= 4 * error + 5e-3


def test_fingers_values_are_ordered_as_its_authors_prove() -> None:
    for graph in zoo.GRAPHS.values():
        if graph.n_nodes < 4:
            continue
        a = graph.weights / (2 * graph.weights.sum())
        q, high, low = (
            APPROXIMATIONS[name].run(graph, a, np.random.default_rng(0), False)[0]
            for name in ("quadratic", "finger", "finger_degree")
        )
        exact = exact_entropy(graph, a, False).value
        assert low <= high + 1e-9
        assert high <= exact + 1e-9
        assert q <= exact + 1e-9


def test_q_is_one_less_the_trace_of_the_square() -> None:
    graph = zoo.GRAPHS["weighted"]
    a = graph.weights / (2 * graph.weights.sum())
    matrix = graph.laplacian(a).toarray()
    q = APPROXIMATIONS["quadratic"].run(graph, a, np.random.default_rng(0), False)[0]
    assert q == pytest.approx(1 - np.trace(matrix @ matrix))


def test_the_slope_is_the_gradient_of_the_normalised_entropy() -> None:
    graph = zoo.GRAPHS["weighted"]
    trace = 2 * graph.weights.sum()
    _, h = APPROXIMATIONS["exact"].run(graph, graph.weights / trace, np.random.default_rng(0), True)
    assert h is not None
    step = 1e-6
    for m in range(graph.n_edges):
        w = np.ones(graph.n_edges)
        values = []
        for sign in (1, -1):
            w[m] = 1 + sign * step
            values.append(exact_entropy(graph, graph.weights * w, False).value)
        central = (values[0] - values[1]) / (2 * step)
        found = graph.weights[m] * slope(graph.weights / trace, h)[m] / trace
        assert found == pytest.approx(central, abs=1e-7)


def test_gaps_have_their_known_values(done: dict[str, studies.Result]) -> None:
    facts = done["entropies"].facts
    assert facts["karate_degree"] == pytest.approx(0.1068, abs=5e-5)
    assert facts["karate_local"] == pytest.approx(0.0227, abs=5e-5)


def test_gaps_of_the_library_of_real_graphs_have_their_known_values(data: Path) -> None:
    rows = entropies.work({"graph": "lesmis weighted", "repeats": 1}, 0)["values"]
    found = {row["way"]: row["value"] for row in rows}
    assert found["degree"] - found["exact"] == pytest.approx(0.0960, abs=5e-5)
    assert found["local"] - found["exact"] == pytest.approx(0.0265, abs=5e-5)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("close to the von Neumann", {"degree": "9"}),
        ("the degree entropy is accurate", {"finger": None, "finger_degree": None}),
        ("Taylor and Chebyshev", {"taylor": "9", "chebyshev": "9"}),
        ("removes most of the gap", {"local": "9"}),
        ("than plain Lanczos", {"lanczos": None}),
    ],
)
def test_a_changed_value_changes_its_verdict(
    done: dict[str, studies.Result], tmp_path: Path, words: str, change: dict[str, str | None]
) -> None:
    exact = {r["graph"]: r["value"] for r in untimed(done["entropies"].folder / "values.csv") if r["way"] == "exact"}

    def put(row: Row) -> None:
        if row["way"] in change:
            row["value"] = change[row["way"]] or exact[row["graph"]]

    before = about(done["entropies"], words)
    after = about(changed(done["entropies"], tmp_path / "changed", "values", put), words)
    assert after.outcome != before.outcome


def test_changed_ranks_and_times_change_their_verdicts(done: dict[str, studies.Result], tmp_path: Path) -> None:
    words = "ranks the edges more"
    assert about(done["entropies"], words).outcome == "reproduced"

    def reverse(row: Row) -> None:
        if row["way"] == "local" and row["rank"]:
            row["rank"] = "-1"

    found = changed(done["entropies"], tmp_path / "ranks", "values", reverse)
    assert about(found, words).outcome == "not reproduced"
    slow = changed(
        done["entropies"],
        tmp_path / "times",
        "cost",
        lambda row: row.update(value_seconds=str(float(row["edges"]) ** 2 * 1e-9)),
    )
    assert about(slow, "time proportional to N").outcome == "not reproduced"


def test_equal_slopes_have_no_rank() -> None:
    ring = graphs.build("ring 60 6", 0)
    ways = {row["way"]: row["rank"] for row in entropies.work({"graph": "ring 60 6", "repeats": 1}, 0)["values"]}
    assert ring.n_edges == 180
    assert math.isnan(ways["degree"])
    assert math.isnan(ways["local"])
    assert ways["exact"] == pytest.approx(1.0)
    assert ways["stochastic"] > 0.9
