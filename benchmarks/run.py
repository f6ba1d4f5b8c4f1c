"""`make bench`: measure the library against its goals; write a Markdown and a CSV table with the versions used."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import quality
import speed
from clock import load
from graphpri.errors import FileError
from outcome import Outcome, environment, number, write_csv, write_markdown

HERE = Path(__file__).parent
Row = Callable[[bool, quality.Say], Outcome]


def rows(best_known: Path) -> dict[str, Row]:
    """Every row by name, in the order in which they run."""
    return {
        "best-known": partial(quality.best_known, best_known),
        "karate-call": speed.karate_call,
        "jazz-time": speed.jazz_time,
        "free-path": quality.free_path,
        "degree-million": speed.million,
        "help-time": speed.help_time,
        "rivals": quality.rivals,
    }


def measure(name: str, row: Row, quick: bool) -> Outcome:
    """Run a row and print what it says; a data set that isn't there skips it."""
    print(f"\n{name}", flush=True)
    start = time.perf_counter()
    try:
        outcome = row(quick, lambda line: print(f"  {line}", flush=True))
    except FileError as error:
        outcome = Outcome(skipped=str(error))
    if outcome.skipped:
        print(f"  not run: {outcome.skipped}")
    for check in outcome.checks:
        print(f"  {check.what}: {number(float(check.measured))} {check.unit} (goal {check.goal}), met: {check.met}")
    print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)
    return outcome


def verdict(found: dict[str, Outcome]) -> str:
    """Which goals were met, missed and not looked at."""
    checks = [(name, check) for name, outcome in found.items() for check in outcome.checks]
    missed = [f"{name}: {check.what}" for name, check in checks if check.met == "no"]
    judged = sum(check.met != "not judged" for _, check in checks)
    skipped = [name for name, outcome in found.items() if outcome.skipped]
    text = f"{judged - len(missed)} of {judged} goals met"
    if missed:
        text += f"; MISSED: {'; '.join(missed)}"
    return text + (f"; rows not run: {', '.join(skipped)}" if skipped else "")


def main() -> None:
    """Run the rows asked for; a missed goal is said plainly and is no failure."""
    names = list(rows(Path()))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder for bench.md and bench.csv")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="fewer cells and a smaller large graph, in a minute")
    parser.add_argument("--best-known", type=Path, default=HERE / "best_known.csv", help="CSV of best values of J")
    args = parser.parse_args()
    facts = environment() | {"load": f"{load():.1f}", "quick": str(args.quick)}
    print(", ".join(f"{key} {value}" for key, value in facts.items()))
    if load() > 0.5:
        print("Other programs are running: wall times may be longer than the library's, see the CPU times beside them")
    chosen = {name: row for name, row in rows(args.best_known).items() if not args.only or name in args.only}
    args.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Outcome] = {}
    for name, row in chosen.items():
        found[name] = measure(name, row, args.quick)
        write_markdown(args.out / "bench.md", facts, found)
        write_csv(args.out / "bench.csv", facts, found)
    print(f"\n{verdict(found)}\nTables: {args.out / 'bench.md'}, {args.out / 'bench.csv'}")


if __name__ == "__main__":
    sys.exit(main())
