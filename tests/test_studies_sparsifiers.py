"""What the two studies of the paper's measures say: at whose α, on which graphs, and in which of them it fails."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from graphpri.studies.sparsifiers import always_from, draw_distance, judge_centrality, judge_distance, second_best
from graphpri.studies.study import Facts, Verdict

pd = pytest.importorskip("pandas")
KEEPS = (0.4, 0.6, 0.8)
OTHERS = ("random", "local-degree", "local-similarity", "effective-resistance", "effective-resistance-sampling")


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


def judged(frame: Any, judge: Any = judge_distance) -> tuple[dict[str, Verdict], Facts]:
    facts = Facts()
    found = judge({"sparsifiers": frame}, facts)
    return {verdict.claim: verdict.filled(facts.fill) for verdict in found}, facts


def about(verdicts: dict[str, Verdict], words: str) -> Verdict:
    (found,) = (verdict for claim, verdict in verdicts.items() if words in claim)
    return found


@pytest.mark.parametrize(("judge", "measure"), [(judge_distance, "d_x"), (judge_centrality, "C_D")])
def test_a_setting_that_is_not_the_papers_does_not_make_its_claim_hold(judge: Any, measure: str) -> None:
    frame = table()
    assert about(judged(frame, judge)[0], "Graph-PRI always").outcome == "reproduced"
    frame.loc[frame["alpha"] == 0.005, measure] = 99 if measure == "d_x" else -1
    verdicts, facts = judged(frame, judge)
    assert about(verdicts, "Graph-PRI always").outcome == "not reproduced"
    assert facts["other_two"] == 1
    assert "which is not the paper's" in about(verdicts, "Graph-PRI always").condition


def test_a_tie_with_local_degree_is_told() -> None:
    frame = table()
    level = float(frame.loc[frame["method"] == "local-degree", "C_D"].iloc[0])
    frame.loc[frame["method"].isin(["pri", "gumbel"]), "C_D"] = level
    facts = Facts()
    second_best(facts, {"sparsifiers": frame}, "C_D", "highest", low=False)
    assert (facts["held_two"], facts["held_second"], facts["held_tied"]) == (1, 0, 1)


def test_the_ring_is_told_apart_where_the_slowest_mode_decides() -> None:
    frame = table()
    frame.loc[(frame["graph"] == "g1") & (frame["method"] != "local-degree"), "d_x"] = 0.5
    frame.loc[(frame["graph"] == "g1") & frame["method"].isin(["pri", "gumbel"]), "d_x"] = 99
    verdicts, facts = judged(frame)
    assert facts["held_two"] < 1 == facts["held_elsewhere"]
    assert facts["local_first"] < 1 == facts["local_elsewhere"]
    assert "hangs on a choice" in about(verdicts, "Graph-PRI always").condition
    assert "held_elsewhere" not in judged(frame, judge_centrality)[1].rows


def test_the_best_of_each_cell_is_not_passed_off_as_one_setting() -> None:
    frame = table()
    ours = (frame["method"] == "pri") & frame["connected"] & ~frame["reweight"] & (frame["alpha"] == 0)
    for beta, keep in ((0, 0.4), (1, 0.6), (50, 0.8)):
        frame.loc[ours & (frame["beta"] == beta) & (frame["keep"] == keep), "d_x"] = 0.1
    _, facts = judged(frame)
    assert facts["below_local"] == 1
    assert facts["single_local"] == pytest.approx(1 / 3)


def test_jazz_is_judged_at_each_alpha() -> None:
    frame = table()
    assert about(judged(frame)[0], "On jazz").outcome == "reproduced"
    frame.loc[(frame["method"] == "pri") & (frame["alpha"] == 0.005) & ~frame["reweight"], "d_x"] = 0.5
    assert about(judged(frame)[0], "On jazz").outcome == "conditional"
    frame.loc[(frame["method"] == "pri") & (frame["alpha"] == 0) & ~frame["reweight"], "d_x"] = 0.5
    assert about(judged(frame)[0], "On jazz").outcome == "not reproduced"
    assert not any("On jazz" in claim for claim in judged(table(("g1", "karate")))[0])


@pytest.mark.parametrize("judge", [judge_distance, judge_centrality])
def test_what_holds_in_part_says_where(judge: Any) -> None:
    frame = table()
    some = (frame["method"] == "pri") & (frame["graph"] == "karate") & (frame["keep"] < 0.8)
    frame.loc[some, "C_D"], frame.loc[some & frame["reweight"], "d_x"] = 0.5, 0.1
    frame.loc[(frame["method"] == "pri") & ~some, "C_D"] = 0.95
    for verdict in judged(frame, judge)[0].values():
        assert verdict.outcome == "reproduced" or verdict.condition


def test_infinite_distances_are_told_in_the_caption() -> None:
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
