"""What a benchmark row found: measured cells, checks against goals, and the tables they are written to."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = (
    *("graphpri", "numpy", "scipy", "numba", "networkx", "networkit", "pyarrow", "scikit-primate", "approx-chol"),
    *("pandas", "igraph"),
)
COLUMNS = ("row", "case", "nodes", "edges", "measure", "value", "goal", "met")


@dataclass(frozen=True)
class Check:
    """A measured figure beside its goal.

    Parameters
    ----------
    what : str
    measured : float
    limit : float
        Largest value that meets the goal, or the smallest.
    unit : str
    judged : bool
        False where the size is not the goal's, so that the figure only informs.
    at_least : bool
        Whether the limit is the smallest value that meets the goal.
    """

    what: str
    measured: float
    limit: float
    unit: str = ""
    judged: bool = True
    at_least: bool = False

    @property
    def goal(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}".rstrip()

    @property
    def met(self) -> str:
        if not self.judged:
            return "not judged"
        met = self.measured >= self.limit if self.at_least else self.measured <= self.limit
        return "yes" if met else "no"


@dataclass(frozen=True)
class Cell:
    """Figures of one case: a graph with settings."""

    case: str
    nodes: int | None
    edges: int | None
    values: Mapping[str, Any]


@dataclass
class Outcome:
    """All that a row found. `skipped` says why it was not run, where it was not; `facts` are those of the run."""

    cells: list[Cell] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: str | None = None
    facts: dict[str, str] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write everything as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Outcome:
        """Read what :meth:`save` wrote."""
        found = json.loads(path.read_text(encoding="utf-8"))
        found["cells"] = [Cell(**cell) for cell in found["cells"]]
        found["checks"] = [Check(**check) for check in found["checks"]]
        return cls(**found)


def environment() -> dict[str, str]:
    """Versions and cores, for the head of the tables."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    system = f"{platform.system()} {platform.machine()}"
    facts = {"python": platform.python_version(), "platform": system, "cores": str(cores)}
    return facts | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def number(value: Any) -> str:
    """A value in a few characters."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lines of a Markdown table, columns of numbers flush right."""
    numeric = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    lines = [list(header), ["--:" if n else "---" for n in numeric], *([number(v) for v in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def write_markdown(path: Path, facts: Mapping[str, str], found: Mapping[str, Outcome]) -> None:
    """Write the goals first, then the cells of every row."""
    summary = [
        (name, check.what, check.goal, f"{number(float(check.measured))} {check.unit}".rstrip(), check.met)
        for name, outcome in found.items()
        for check in outcome.checks
    ]
    summary += [(name, outcome.skipped, "", "", "not run") for name, outcome in found.items() if outcome.skipped]
    lines = ["# Benchmarks", "", ", ".join(f"{key} {value}" for key, value in facts.items()), ""]
    lines += markdown_table(("row", "what", "goal", "measured", "met"), summary)
    for name, outcome in found.items():
        if outcome.skipped:
            continue
        said = ", ".join(f"{key} {value}" for key, value in outcome.facts.items())
        lines += ["", f"## {name}", "", said, "", *(f"{note}\n" for note in outcome.notes), *_cells(outcome.cells)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cells(cells: Sequence[Cell]) -> list[str]:
    if not cells:
        return []
    names = list(dict.fromkeys(name for cell in cells for name in cell.values))
    rows = [(c.case, c.nodes or "", c.edges or "", *(c.values.get(name, "") for name in names)) for c in cells]
    return markdown_table(("case", "nodes", "edges", *names), rows)


def write_csv(path: Path, facts: Mapping[str, str], found: Mapping[str, Outcome]) -> None:
    """Write one line per figure; checks carry their goal."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        out.writerows(("environment", "", "", "", key, value, "", "") for key, value in facts.items())
        for name, outcome in found.items():
            out.writerows((name, "", "", "", key, value, "", "") for key, value in outcome.facts.items())
            if outcome.skipped:
                out.writerow((name, "", "", "", "not run", outcome.skipped, "", ""))
            for check in outcome.checks:
                out.writerow((name, "", "", "", check.what, number(float(check.measured)), check.goal, check.met))
            for cell in outcome.cells:
                for measure, value in cell.values.items():
                    out.writerow((name, cell.case, cell.nodes, cell.edges, measure, number(value), "", ""))
