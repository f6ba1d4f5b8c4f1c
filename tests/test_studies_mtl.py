"""The studies of multi-task regression: what they find, and that verdicts follow the numbers."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphpri import studies
from graphpri.studies.study import find

needs_data = pytest.mark.skipif(
    not os.environ.get("GRAPHPRI_DATA"), reason="GRAPHPRI_DATA does not name the folder of the data sets"
)


@pytest.fixture(scope="module")
def out(quick_studies: Path) -> Path:
    """The studies in their quick sizes."""
    studies.reproduce(["mtl-synthetic"], quick_studies, quick=True)
    return quick_studies


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def changed(
    folder: Path, to: Path, table: str, change: Callable[[dict[str, str]], None]
) -> tuple[studies.Verdict, ...]:
    """The verdicts after every row of a table went through `change`."""
    copy = to / folder.name
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    rows = rows_of(copy / f"{table}.csv")
    for row in rows:
        change(row)
    with (copy / f"{table}.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return studies.conclude(find(folder.name), copy).verdicts


def test_a_lower_error_early_in_pruning_turns_the_verdict(out: Path, tmp_path: Path) -> None:
    def better(row: dict[str, str]) -> None:
        if row["method"] == "pri" and row["after"] == "fixed" and row["graph"] == "unit":
            row["rmse"] = str(0.5 + 0.001 * int(row["draw"]))

    assert changed(out / "mtl-synthetic", tmp_path, "errors", better)[0].outcome == "reproduced"


def test_pruned_graphs_keep_their_share(out: Path) -> None:
    rows = rows_of(out / "mtl-synthetic" / "errors.csv")
    whole = {(r["draw"], r["graph"]): int(float(r["edges"])) for r in rows if r["model"] == "graph"}
    for row in rows:
        if row["method"] and row["status"] == "fitted":
            kept = (1 - float(row["pruned"])) * whole[row["draw"], row["graph"]]
            assert abs(int(float(row["edges"])) - kept) <= 0.5 + 1e-9


@needs_data
def test_real_tasks_are_compared_and_own_ridges_do_no_worse(quick_studies: Path) -> None:
    for found in studies.reproduce(["mtl-parkinsons", "mtl-school"], quick_studies, quick=True):
        assert not found.missing
        outcome = {verdict.claim: verdict.outcome for verdict in found.verdicts}
        assert (
            outcome["A task graph on top of each task's own ridge does no worse than the ridge alone"] == "reproduced"
        )
        rows = rows_of(found.folder / "errors.csv")
        assert {row["model"] for row in rows} >= {"task mean", "per-task ridge", "common slopes", "graph"}
