"""Large files: reading and validating against pyarrow or SciPy on the same file, writing, and the memory that takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clock import load, timed
from graphpri import io as gio
from graphpri.graph import EdgeTable
from outcome import Cell, Check, Outcome
from quality import Say

REPEATS = 5
READ_GOAL, VALIDATED_GOAL = 1.5, 3.0
JUDGED = (".parquet", ".csv.gz")


class Case(NamedTuple):
    """A kind of file, and the library that reads it beside ours."""

    suffix: str
    weighted: bool
    baseline: str
    read: Callable[[Path], Any]


def _parquet(path: Path) -> Any:
    import pyarrow.parquet as parquet

    return parquet.read_table(path)


def _delimited(mark: str) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        from pyarrow import csv

        named = csv.ReadOptions(skip_rows=1, autogenerate_column_names=True) if mark == " " else None  # a comment
        return csv.read_csv(path, named, csv.ParseOptions(delimiter=mark))

    return read


def _matrix(path: Path) -> Any:
    import scipy.io

    return scipy.io.mmread(path)


def _archive(path: Path) -> Any:
    with np.load(path) as archive:
        return [archive[name] for name in archive.files]


CASES = (
    Case(".parquet", False, "pyarrow", _parquet),
    Case(".parquet", True, "pyarrow", _parquet),
    Case(".csv.gz", False, "pyarrow", _delimited(",")),
    Case(".csv", False, "pyarrow", _delimited(",")),
    Case(".csv", True, "pyarrow", _delimited(",")),
    Case(".tsv", False, "pyarrow", _delimited("\t")),
    Case(".txt", False, "pyarrow", _delimited(" ")),
    Case(".mtx", False, "scipy", _matrix),
    Case(".mtx", True, "scipy", _matrix),
    Case(".mtx.gz", False, "scipy", _matrix),
    Case(".npz", False, "numpy", _archive),
    Case(".npyd", True, "", lambda _: None),
)


def table(m: int, weighted: bool, canonical: bool) -> EdgeTable:
    """A random graph, ten edges a node, every node with one; in any order and direction, or in the canonical one."""
    rng, n = np.random.default_rng(0), m // 10
    keys = rng.integers(0, n, m + m // 20) * n + rng.integers(0, n, m + m // 20)
    keys[: n - 1] = np.arange(n - 1) * n + np.arange(1, n)
    low, high = np.minimum(keys // n, keys % n), np.maximum(keys // n, keys % n)
    path, keys = keys[: n - 1], np.unique((low * n + high)[low != high])
    keys = np.concatenate([path, rng.permutation(np.setdiff1d(keys, path))[: m - path.size]])
    keys = np.sort(keys) if canonical else rng.permutation(keys)
    turned = np.zeros(m, bool) if canonical else rng.random(m) < 0.5
    u, v = (np.where(turned, a, b).astype(np.int32) for a, b in ((keys % n, keys // n), (keys // n, keys % n)))
    return EdgeTable(n, u, v, edge_attributes={"weight": rng.lognormal(size=m)} if weighted else {})


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Rows for each kind of file: written, read, validated, both, and the memory of it in a process of its own."""
    m = 10**6 if quick else 10**7
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            path = Path(folder) / f"graph{case.suffix}"
            yield from _case(case, path, m)


def _case(case: Case, path: Path, m: int) -> Iterator[dict[str, Any]]:
    writing = timed(partial(gio.write, table(m, case.weighted, case.suffix == ".npyd"), path, force=True))
    size = sum(part.stat().st_size for part in (path.iterdir() if path.is_dir() else [path]))
    facts = {"file": case.suffix, "megabytes": size / 1e6, "edges": m, "weighted": case.weighted}
    yield facts | {"work": "write", "seconds": writing.wall, "cpu_seconds": writing.cpu, "load": load()}
    # The first of each warms up: compiled code is loaded, and the file is in the system's cache.
    times: dict[str, list[tuple[float, float]]] = {"read": [], "validate": [], "both": [], "baseline": []}
    for _ in range(REPEATS + 1):
        reading = timed(partial(gio.read, path))
        validating = timed(reading.result.canonical)
        baseline = timed(partial(case.read, path))
        for work, runs in (("read", [reading]), ("validate", [validating]), ("both", [reading, validating])):
            times[work].append((sum(run.wall for run in runs), sum(run.cpu for run in runs)))
        times["baseline"].append((baseline.wall, baseline.cpu))
        del reading, validating, baseline
    medians = {work: np.median(found[1:], axis=0).tolist() for work, found in times.items()}
    peak = _peak(path, m)
    for work, goal in (("read", READ_GOAL), ("validate", None), ("both", VALIDATED_GOAL)):
        wall, cpu = medians[work]
        row = facts | {"work": work, "seconds": wall, "cpu_seconds": cpu, "load": load()}
        if work != "validate":
            row["bytes_per_edge"] = peak[work]
        if case.baseline:
            other, other_cpu = medians["baseline"]
            row |= {"baseline": case.baseline, "baseline_seconds": other, "baseline_cpu_seconds": other_cpu}
            row |= {"ratio": wall / other, "cpu_ratio": cpu / other_cpu, "goal": goal}
        yield row


_PROGRAM = """
import sys
from graphpri import io
from graphpri.graph import Graph
import numpy as np
try:
    import pyarrow.parquet, pyarrow.csv
except ImportError:
    pass
Graph.from_edges(np.arange(2**20, 0, -1), np.arange(2**20 - 1, -1, -1))
def settled():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak_now()
def peak_now():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
before = settled()
table = io.read(sys.argv[1])
reading = peak_now()
table.canonical()
print(reading - before, peak_now() - before)
"""


def _peak(path: Path, m: int) -> dict[str, float]:
    """Most bytes an edge that reading takes, and reading with validation; NaN where the system doesn't tell."""
    if not os.path.exists("/proc/self/clear_refs"):
        return {"read": np.nan, "both": np.nan}
    command = [sys.executable, "-c", _PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    reading, both = (int(word) * 1024 / m for word in done.stdout.split())
    return {"read": reading, "both": both}


def files(quick: bool, say: Say) -> Outcome:
    """Reading, validating and writing large files, beside the reader that each kind of file is usually read with."""
    outcome = Outcome(notes=[f"Medians of {REPEATS} after a first call, in turn; validation is EdgeTable.canonical()."])
    for row in rows(quick):
        file = f"{row['file']}, weighted" if row["weighted"] else row["file"]
        case, edges = f"{file}: {row['work']}", row["edges"]
        values = {key: value for key, value in row.items() if key not in ("file", "weighted", "edges", "goal")}
        outcome.cells.append(Cell(case, edges // 10, edges, {"file": file} | values))
        beside = f", {row['baseline']} {row['baseline_seconds']:.2f} s" if row.get("baseline") else ""
        say(f"{case} {row['seconds']:.2f} s{beside}")
        if row.get("goal"):
            work = {"read": "read", "both": "read and validated"}[row["work"]]
            what, judged = f"{file}, {work}: time / {row['baseline']}'s", row["file"] in JUDGED and not quick
            outcome.checks.append(Check(what, row["ratio"], row["goal"], "", judged))
    return outcome
