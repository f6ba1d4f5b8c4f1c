"""What the two studies of the paper's measures say: at whose α, on which graphs, and in which of them it fails."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphpri import studies
from graphpri.studies.sparsifiers import (
    always_from,
    draw_distance,
    judge_centrality,
    judge_distance,
    medians,
    ranks,
    second_best,
)
from graphpri.studies.study import Facts, Verdict
from judging import Row, about, judged, read

pd = pytest.importorskip("pandas")

# As the fixture quick_study runs them: pieces of work that are done again must give the same.
KEEPS = (0.4, 0.6, 0.8)
OTHERS = ("random", "local-degree", "local-similarity", "effective-resistance", "effective-resistance-sampling")


NAMES = ("spectral-distance", "centrality")


@pytest.fixture(scope="module")
def done(quick_study: Callable[[str], studies.Result]) -> dict[str, studies.Result]:
    """Both studies in their quick sizes, whose graphs are shipped; those of the full sizes are not needed."""
    return {name: quick_study(name) for name in NAMES}


def changed(result: studies.Result, folder: Path, change: Callable[[Row], object]) -> studies.Result:
    """The study judged again after every row of its table has been changed."""
    return judged(result.study, result.folder, folder, "sparsifiers", change)


def table(graphs: tuple[str, ...] = ("g1", "karate", "jazz")) -> Any:
    """Rows of all methods: local degree best, Graph-PRI second, in every cell and setting."""
    rows: list[dict[str, Any]] = []
    blank = {"seed": 0, "beta": np.nan, "alpha": np.nan, "connected": False, "reweight": False, "cut_off": 0}
    for graph, keep in product(graphs, KEEPS):
        at = {"graph": graph, "keep": keep, **blank}
        for i, method in enumerate(OTHERS):
            place = 0 if method == "local-degree" else 2 + i
            rows.append({**at, "method": method, "d_x": 1.0 + place, "C_D": 0.9 - 0.1 * place, "D": 0.1})
        ours = {**at, "method": "pri", "d_x": 2.0, "C_D": 0.8}
        for alpha, beta, joined in product((0.0, 0.005), (0, 1, 5, 50), (False, True)):
            setting = {**ours, "alpha": alpha, "beta": beta, "connected": joined, "cut_off": int(not joined)}
            rows.append({**setting, "D": 0.05})
            if alpha:
                rows.append({**setting, "D": 0.04, "d_x": 2.5, "reweight": True})
        rows.append({**ours, "method": "gumbel", "alpha": 0.005, "beta": 2, "D": 0.06})
    return pd.DataFrame(rows)


def judge_table(frame: Any, judge: Any = judge_distance) -> tuple[list[Verdict], Facts]:
    """Verdicts on made-up rows, and the facts that they rest on."""
    facts = Facts()
    found = judge({"sparsifiers": frame}, facts)
    return [verdict.filled(facts.fill) for verdict in found], facts


@pytest.mark.parametrize(("judge", "measure"), [(judge_distance, "d_x"), (judge_centrality, "C_D")])
def test_a_setting_that_is_not_the_papers_does_not_make_its_claim_hold(judge: Any, measure: str) -> None:
    frame = table()
    assert about(judge_table(frame, judge)[0], "Graph-PRI always").outcome == "reproduced"
    frame.loc[frame["alpha"] == 0.005, measure] = 99 if measure == "d_x" else -1
    verdicts, facts = judge_table(frame, judge)
    assert about(verdicts, "Graph-PRI always").outcome == "not reproduced"
    assert facts["other_two"] == 1
    assert "which is not the paper's" in about(verdicts, "Graph-PRI always").condition


def test_a_tie_with_local_degree_is_stated() -> None:
    frame = table()
    level = float(frame.loc[frame["method"] == "local-degree", "C_D"].iloc[0])
    frame.loc[frame["method"].isin(["pri", "gumbel"]), "C_D"] = level
    facts = Facts()
    second_best(facts, {"sparsifiers": frame}, "C_D", "highest", low=False)
    assert (facts["held_two"], facts["held_second"], facts["held_tied"]) == (1, 0, 1)


def test_the_ring_is_stated_apart_where_the_slowest_mode_decides() -> None:
    frame = table()
    frame.loc[(frame["graph"] == "g1") & (frame["method"] != "local-degree"), "d_x"] = 0.5
    frame.loc[(frame["graph"] == "g1") & frame["method"].isin(["pri", "gumbel"]), "d_x"] = 99
    verdicts, facts = judge_table(frame)
    assert facts["held_two"] < 1 == facts["held_elsewhere"]
    assert facts["local_first"] < 1 == facts["local_elsewhere"]
    assert "hangs on a choice" in about(verdicts, "Graph-PRI always").condition
    assert "held_elsewhere" not in judge_table(frame, judge_centrality)[1].rows


def test_the_best_of_each_cell_is_not_passed_off_as_one_setting() -> None:
    frame = table()
    ours = (frame["method"] == "pri") & frame["connected"] & ~frame["reweight"] & (frame["alpha"] == 0)
    for beta, keep in ((0, 0.4), (1, 0.6), (50, 0.8)):
        frame.loc[ours & (frame["beta"] == beta) & (frame["keep"] == keep), "d_x"] = 0.1
    _, facts = judge_table(frame)
    assert facts["below_local"] == 1
    assert facts["single_local"] == pytest.approx(1 / 3)


def test_jazz_is_judged_at_each_alpha() -> None:
    frame = table()
    assert about(judge_table(frame)[0], "On jazz").outcome == "reproduced"
    frame.loc[(frame["method"] == "pri") & (frame["alpha"] == 0.005) & ~frame["reweight"], "d_x"] = 0.5
    assert about(judge_table(frame)[0], "On jazz").outcome == "conditional"
    frame.loc[(frame["method"] == "pri") & (frame["alpha"] == 0) & ~frame["reweight"], "d_x"] = 0.5
    assert about(judge_table(frame)[0], "On jazz").outcome == "not reproduced"
    assert not any("On jazz" in verdict.claim for verdict in judge_table(table(("g1", "karate")))[0])


@pytest.mark.parametrize("judge", [judge_distance, judge_centrality])
def test_what_holds_in_part_says_where(judge: Any) -> None:
    frame = table()
    some = (frame["method"] == "pri") & (frame["graph"] == "karate") & (frame["keep"] < 0.8)
    frame.loc[some, "C_D"], frame.loc[some & frame["reweight"], "d_x"] = 0.5, 0.1
    frame.loc[(frame["method"] == "pri") & ~some, "C_D"] = 0.95
    for verdict in judge_table(frame, judge)[0]:
        assert verdict.outcome == "reproduced" or verdict.condition


def test_the_caption_states_infinite_distances() -> None:
    frame = table()
    (without,) = draw_distance({"sparsifiers": frame})
    frame.loc[frame["method"] == "random", "d_x"] = np.inf
    (picture,) = draw_distance({"sparsifiers": frame})
    assert "Infinite" in picture.caption
    assert "Infinite" not in without.caption


def test_always_means_from_a_ratio_on() -> None:
    index = pd.MultiIndex.from_product([("a", "b"), KEEPS], names=["graph", "keep"])
    assert always_from(pd.Series(True, index)) == 0.4
    assert always_from(pd.Series([True, False, True, True, True, True], index)) == 0.8
    assert always_from(pd.Series([True, True, False, True, True, True], index)) == 1


# Of runs


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


def one_graph(**values: list[float]) -> dict[str, Any]:
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
    table = medians(one_graph(local_degree=[1.0, 1.0], pri=[2.0, 4.5], **others), "d_x")
    assert ranks(table, low=True)["Graph-PRI, β=2, α=0.005"].tolist() == [2, 4]
    assert ranks(table, low=False)["Graph-PRI, β=2, α=0.005"].tolist() == [4, 2]
    tied = medians(one_graph(local_degree=[2.0, 2.0], pri=[2.0, 2.0], **others), "d_x")
    assert set(ranks(tied, low=True).to_numpy().ravel()) == {1}


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
    assert about(done["spectral-distance"], "no other method has a lower").outcome != "not reproduced"


def test_what_new_weights_do_follows_the_numbers(done: dict[str, studies.Result], tmp_path: Path) -> None:
    def worse(row: Row) -> None:
        if row["reweight"] == "True":
            row["D"], row["d_x"] = "1", "0"

    found = changed(done["spectral-distance"], tmp_path / "weights", worse)
    assert about(found, "never raise the divergence").outcome == "not reproduced"
    assert about(found, "raise the spectral distance").outcome == "not reproduced"
