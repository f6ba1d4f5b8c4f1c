"""The studies that compare methods: by the paper's two measures, and for every purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphpri
from graphpri import studies
from graphpri.measures import MEASURES, Settings
from graphpri.studies import find, landscape
from graphpri.studies.study import Facts, Study
from judging import about, judged, read

# As the fixture quick_study runs them: pieces of work that are done again must give the same.
NAMES = ("spectral-distance", "centrality", "landscape")
HOW = Settings(4.0, 0.0, "exact", "equation", "nats", 0)
Row = dict[str, str]
HEAD = {"graph": "g", "weighted": False, "keep": 0.5, "beta": np.nan, "connected": False, "weights": "given"}


@pytest.fixture(scope="module")
def done(quick_study: Callable[[str], studies.Result]) -> dict[str, studies.Result]:
    """The three studies in their quick sizes, whose graphs are shipped; those of the full sizes are not needed."""
    return {name: quick_study(name) for name in NAMES}


def changed(result: studies.Result, folder: Path, change: Callable[[Row], object]) -> studies.Result:
    """The study judged again after every row of its table has been changed."""
    table = Path(result.tables[0][0]).stem
    return judged(result.study, result.folder, folder, table, change)


# All three


@pytest.mark.parametrize("name", NAMES[1:])  # the first two have their pieces of work in common
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
            **HEAD,
            "method": m,
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
    rows = [
        {**HEAD, "method": name, "divergence": 0.1, "connected_pairs": pairs, "stretch": stretch}
        for name, (pairs, stretch) in ways.items()
    ]
    found = landscape.by_cell({"landscape": pd.DataFrame(rows)}).reset_index().set_index("method")
    assert found["kept_distances"].to_dict() == {"whole": 0, "torn": 50, "edge": 100}


def test_the_best_method_for_a_purpose_follows_the_numbers(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def perfect(row: Row) -> None:
        if row["method"] == "random":
            row["divergence"], row["flow_ratio"] = "0", "1"

    before, after = done["landscape"], changed(done["landscape"], tmp_path / "best", perfect)
    assert about(before, "keeps information").outcome == "reproduced"
    assert about(after, "keeps information").outcome == "not reproduced"
    assert "random" in about(after, "keeps information").condition
    assert about(after, "lowest divergence D").outcome == "not reproduced"
    for found in (before, after):
        assert "what Graph-PRI minimises" in about(found, "lowest divergence D").condition
    assert "random" in about(after, "the largest flows").condition
    purposes = {row["purpose"]: row for row in read(tmp_path / "best" / "purposes.csv")}
    assert purposes["flows"]["best"].startswith("random")


def test_a_tie_of_all_that_hold_the_graph_together_is_said_to_be_one() -> None:
    pd = pytest.importorskip("pandas")
    rows = [
        {**HEAD, "method": m, "beta": b, "connected": c, "divergence": d, "components": 2 - c}
        for d, (m, b, c) in enumerate(product_of(("pri", 4.0), ("random", np.nan)))
    ]
    rescaled = [row | {"weights": "rescaled"} for row in rows]
    purposes = landscape.derive({"landscape": pd.DataFrame(rows + rescaled)})["purposes"].set_index("purpose")
    assert set(purposes.loc["connectivity", ["best", "best_pri", "best_other"]]) == {
        "any method, connected",
        "pri β=4, connected",
        "random, connected",
    }
    assert purposes.loc["information", "best"] == "pri β=4"


def test_measures_are_taken_again_where_weights_change_them() -> None:
    graph = graphpri.as_graph(graphpri.datasets.load("lesmis"))
    mask = np.random.default_rng(0).random(graph.n_edges) < 0.6
    names = [name for kinds in landscape.PURPOSES.values() for name in kinds if name in MEASURES]
    names += landscape.UNRANKED
    factors = np.random.default_rng(1).uniform(0.3, 3, graph.n_edges)
    given, scaled, new = (
        graphpri.report(graph, graph.select(mask, mask * graph.weights * f), measures=names)
        for f in (1.0, 1.7, factors)
    )
    for name in names:
        assert given[name] == pytest.approx(scaled[name], rel=1e-9) or name in landscape.SCALED
        assert given[name] == new[name] or name in landscape.WEIGHED


def leads(purpose: list[float]) -> Any:
    """Ranks by graph of Graph-PRI, and of another method that is so much behind."""
    pd = pytest.importorskip("pandas")
    ways = [("pri", 4.0, False, "given"), ("random", -1.0, False, "given")]
    index = pd.MultiIndex.from_tuples(
        [(*way, g) for way in ways for g in range(len(purpose))], names=[*landscape.SETTING, "graph"]
    )
    return pd.DataFrame({"flows": [20.0] * len(purpose) + [20 + x for x in purpose]}, index=index)


@pytest.mark.parametrize(("lead", "outcome"), [([9, 5, 7, 8], "reproduced"), ([9, -8, 1, 3], "conditional")])
def test_a_lead_that_graphs_do_not_agree_on_is_a_tie(lead: list[float], outcome: str) -> None:
    graphs = leads(lead)
    means = graphs.groupby(landscape.SETTING).mean()
    (row,) = landscape._purposes(graphs, means).itertuples()
    verdict = landscape._purpose(row, Facts())
    assert verdict.outcome == outcome
    assert ("may be chance" in verdict.condition) == (outcome == "conditional")
    ties = landscape._ties(graphs, means)
    assert list(ties["method"]) == (["pri", "random"] if outcome == "conditional" else ["pri"])
    assert (ties["low"] <= ties["rank"]).all()
    assert (ties["rank"] <= ties["high"]).all()
    worse = landscape._purpose(next(landscape._purposes(leads([-x for x in (9, 5, 7)]), means).itertuples()), Facts())
    assert worse.condition == "for this purpose take random"


def test_intervals_are_those_of_the_mean_over_graphs() -> None:
    assert landscape.interval([3.0, 3.0, 3.0]) == (3.0, 3.0)
    values = np.random.default_rng(0).normal(10, 4, 100)
    low, high = landscape.interval(values)
    assert np.array([low, high]) == pytest.approx(values.mean() + np.array([-1, 1]) * 1.96 * values.std() / 10, abs=0.2)


def product_of(*ways: tuple[str, float]) -> list[tuple[str, float, bool]]:
    return [(method, beta, joined) for method, beta in ways for joined in (False, True)]


def test_without_a_budget_a_larger_beta_keeps_more(done: dict[str, studies.Result]) -> None:
    rows = read(done["landscape"].folder / "free.csv")
    kept = [int(row["K"]) for row in sorted(rows, key=lambda row: float(row["beta"]))]
    assert 33 <= kept[0] < kept[-1] == 78


@pytest.mark.parametrize(("beta", "outcome"), [("50", "reproduced"), ("4", "not reproduced")])
def test_the_default_beta_is_judged_by_its_ranks(
    done: dict[str, studies.Result], tmp_path: Path, beta: str, outcome: str
) -> None:
    def perfect(row: Row) -> None:
        if row["beta"] in (beta, f"{beta}.0"):
            row.update(aim(row))

    found = changed(done["landscape"], tmp_path / "default", perfect)
    assert about(found, "default β").outcome == outcome
    assert {row["best_beta"] for row in read(tmp_path / "default" / "betas.csv")} == {f"{beta}.0"}


def aim(row: Row) -> Row:
    """The best values there can be."""
    ends = {"low": "-1", "high": "99", "one": "1"}
    kinds = {name: kind for kinds in landscape.PURPOSES.values() for name, kind in kinds.items()}
    return {name: ends.get(kind) or row[f"{name}_original"] for name, kind in kinds.items() if name in row}
