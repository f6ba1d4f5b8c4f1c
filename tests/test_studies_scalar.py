"""The study of the scalar PRI: what it finds, and that verdicts follow the numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphpri import studies
from graphpri.apps.scalar import ScalarPRI
from graphpri.studies.scalar_pri import crossing
from judging import Row, about, judged, read


@pytest.fixture(scope="module")
def done(quick_study: Callable[[str], studies.Result]) -> studies.Result:
    """The study in its quick size."""
    return quick_study("scalar-pri")


def changed(result: studies.Result, folder: Path, table: str, change: Callable[[Row], object]) -> studies.Result:
    """The study judged again after every row of a table has been changed."""
    return judged(result.study, result.folder, folder, table, change)


def at(beta: float, **values: Any) -> Callable[[Row], object]:
    return lambda row: row.update({k: str(v) for k, v in values.items()}) if float(row["beta"]) == beta else None


def test_the_study_judges_and_draws(done: studies.Result) -> None:
    assert len(done.verdicts) == 11
    assert {verdict.outcome for verdict in done.verdicts} <= set(studies.GRADES)
    assert not any("nan" in v.measured + v.condition for v in done.verdicts)
    assert [name for name, _ in done.pictures] == ["scalar-pri", "scalar-pri-widths"]
    for words in ("never raise J", "single point", "Minima are found", "Started at the data"):
        assert about(done, words).outcome == "reproduced"


def test_the_studys_rows_are_what_the_estimator_gives(done: studies.Result) -> None:
    (row,) = (
        row
        for row in read(done.folder / "runs.csv")
        if (row["sample"], row["start"], row["width"], float(row["s"]), float(row["beta"]))
        == ("0", "data", "given", 0.2, 3)
    )
    model = ScalarPRI(3, 0.2).fit(crossing(int(row["n"]), 0, 0))
    assert float(row["J"]) == model.objective_
    assert int(row["clusters"]) == len(model.modes_)
    points = [row for row in read(done.folder / "points.csv") if float(row["beta"]) == 3]
    np.testing.assert_array_equal([[float(p["x"]), float(p["y"])] for p in points], model.points_)


def test_the_same_seed_gives_the_same_numbers(done: studies.Result) -> None:
    kept = read(done.folder / "runs.csv")
    cell = next(cell for cell in done.study.cells(True) if cell["start"] == "data" and cell["width"] == 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = done.study.work(cell, 0)["runs"]
        other = done.study.work(cell | {"betas": [1]}, 1)["runs"]
    for row in rows:
        assert {key: "" if value is None else str(value) for key, value in row.items()} in kept
    assert other[0]["J"] not in {row["J"] for row in rows}


@pytest.mark.parametrize(
    ("words", "table", "change"),
    [
        ("single point", "runs", at(0, clusters=2)),
        ("modes of the data", "runs", at(1, maxima=0.5)),
        ("data themselves", "runs", at(10_000, moved=1.0)),
        ("passes from the point", "runs", at(6, D=0.0)),
        ("never raise J", "runs", at(3, rise=1e-9)),
        ("Started at the data", "steps", at(0, plain_rise=1e-3)),
        ("Minima are found", "runs", at(6, gradient=1e-3)),
    ],
)
def test_changed_numbers_change_the_verdict(
    done: studies.Result, tmp_path: Path, words: str, table: str, change: Callable[[Row], object]
) -> None:
    assert about(done, words).outcome == "reproduced"
    found = about(changed(done, tmp_path / "changed", table, change), words)
    assert found.outcome == "not reproduced"
    assert found.measured != about(done, words).measured


def test_better_numbers_make_it_a_curve_and_a_chain(done: studies.Result, tmp_path: Path) -> None:
    def change(row: Row) -> None:
        beta = float(row["beta"])
        if beta in (3, 6):
            row.update(distance="0.001", covered="0.99", clusters="12")
        row.update({0: {"clusters": "1"}, 1: {"clusters": "4"}}.get(beta, {}))

    found = changed(done, tmp_path / "changed", "runs", change)
    for words in ("principal curves of the data", "stand at β = 0, 1, 3 and ∞", "Silverman's rule"):
        assert about(found, words).outcome == "reproduced"
        assert about(done, words).outcome == "not reproduced"


def test_a_path_that_ends_higher_changes_the_verdict(done: studies.Result, tmp_path: Path) -> None:
    def change(row: Row) -> None:
        if row["start"] == "path":
            row["J"] = str(float(row["J"]) + 1)

    assert about(changed(done, tmp_path / "c", "runs", change), "next larger β").outcome == "not reproduced"
