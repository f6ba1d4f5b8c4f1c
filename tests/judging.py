"""Studies judged again after their numbers were changed."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from graphpri import studies
from graphpri.studies.study import Study

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def rewrite(path: Path, change: Callable[[Row], object]) -> None:
    """Change every row of a CSV file."""
    rows = read(path)
    for row in rows:
        change(row)
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def judged(study: Study, source: Path, folder: Path, table: str, change: Callable[[Row], object]) -> studies.Result:
    """What a study that stands in `source` concludes, without pictures, after every row of a table was changed."""
    shutil.copytree(source, folder)
    rewrite(folder / f"{table}.csv", change)
    return studies.conclude(replace(study, draw=lambda _: []), folder)


def about(result: studies.Result | Iterable[studies.Verdict], words: str) -> studies.Verdict:
    """The one verdict whose claim has these words."""
    verdicts = result.verdicts if isinstance(result, studies.Result) else result
    (found,) = (verdict for verdict in verdicts if words in verdict.claim)
    return found
