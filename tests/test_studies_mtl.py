"""The studies of multi-task regression: what they find, and that verdicts follow the numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graphpri import studies
from graphpri.studies.catalogue import find
from judging import Row, judged, read

needs_data = pytest.mark.skipif(
    not os.environ.get("GRAPHPRI_DATA"), reason="GRAPHPRI_DATA does not name the folder of the data sets"
)


@pytest.fixture(scope="module")
def synthetic(quick_study: Callable[[str], studies.Result]) -> Path:
    """The folder of the study of synthetic tasks in its quick size."""
    return quick_study("mtl-synthetic").folder


def changed(folder: Path, to: Path, table: str, change: Callable[[Row], object]) -> tuple[studies.Verdict, ...]:
    """The verdicts after every row of a table went through `change`."""
    return judged(find(folder.name), folder, to / folder.name, table, change).verdicts


def test_a_lower_error_early_in_pruning_turns_the_verdict(synthetic: Path, tmp_path: Path) -> None:
    def better(row: dict[str, str]) -> None:
        if row["method"] == "pri" and row["after"] == "fixed" and row["graph"] == "unit":
            row["rmse"] = str(0.5 + 0.001 * int(row["draw"]))

    assert changed(synthetic, tmp_path, "errors", better)[0].outcome == "reproduced"


def test_pruned_graphs_keep_their_share(synthetic: Path) -> None:
    rows = read(synthetic / "errors.csv")
    whole = {(r["draw"], r["graph"]): int(float(r["edges"])) for r in rows if r["model"] == "graph"}
    for row in rows:
        if row["method"] and row["status"] == "fitted":
            kept = (1 - float(row["pruned"])) * whole[row["draw"], row["graph"]]
            assert abs(int(float(row["edges"])) - kept) <= 0.5 + 1e-9


@needs_data
def test_real_tasks_are_compared_and_own_ridges_do_no_worse(quick_study: Callable[[str], studies.Result]) -> None:
    for found in map(quick_study, ("mtl-parkinsons", "mtl-school")):
        assert not found.missing
        outcome = {verdict.claim: verdict.outcome for verdict in found.verdicts}
        assert (
            outcome["A task graph on top of each task's own ridge does no worse than the ridge alone"] == "reproduced"
        )
        rows = read(found.folder / "errors.csv")
        assert {row["model"] for row in rows} >= {"task mean", "per-task ridge", "common slopes", "graph"}
