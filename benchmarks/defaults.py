"""Measurements behind the default β and the default entropy by size; writes CSV files to docs/data."""

from __future__ import annotations

import argparse
import csv
import time
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from threadpoolctl import threadpool_limits

import beta_study
import entropy_study
from outcome import environment

ROOT = Path(__file__).parent.parent
STUDIES: dict[str, tuple[ModuleType, str]] = {
    "beta": (beta_study, "default_beta.csv"),
    "entropy": (entropy_study, "entropy_by_size.csv"),
}


def write(path: Path, columns: tuple[str, ...], found: list[dict[str, Any]]) -> None:
    """Write the rows, figures to six digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
        out.writeheader()
        out.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in found)


def run(study: ModuleType, path: Path, quick: bool) -> None:
    """Run a study and print its summary; the file holds what is done so far."""
    found: list[dict[str, Any]] = []
    start = time.process_time()
    for (name, nodes), rows in groupby(study.rows(quick), key=lambda row: (row["graph"], row["nodes"])):
        of_graph = list(rows)
        found += of_graph
        write(path, study.COLUMNS, found)
        spent = sum(row["cpu_seconds"] for row in of_graph)
        print(f"  {name}, {nodes} nodes: {spent:.1f} s of CPU in solvers", flush=True)
    spent = time.process_time() - start
    print("\n".join(["", *study.summary(found), "", f"{path}: {len(found)} rows, {spent:.0f} s of CPU"]))


def main() -> None:
    """Run one study or all, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "data", help="folder for the CSV files")
    parser.add_argument("--only", choices=STUDIES)
    parser.add_argument("--quick", action="store_true", help="small graphs only; do not commit the result")
    args = parser.parse_args()
    print(", ".join(f"{key} {value}" for key, value in environment().items()))
    args.out.mkdir(parents=True, exist_ok=True)
    for name, (study, file) in STUDIES.items():
        if args.only in (None, name):
            print(f"\n{name}", flush=True)
            with threadpool_limits(1):
                run(study, args.out / file, args.quick)


if __name__ == "__main__":
    main()
