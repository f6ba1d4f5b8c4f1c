"""`make bench`: measure the library against its goals; write a Markdown and a CSV table with the versions used.

Every row is kept in a file of its own in the output folder, and the tables are made of all that are there. So rows can
be measured one at a time; `--publish` then puts the tables into docs.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import baselines
import brute_force
import choice
import diffusion
import estimates
import files_study
import firsts
import interruptions
import large
import limits
import partitions
import quality
import real
import speed
import strategy
import symmetry
import tasks
import weighted
from clock import cores, load
from graphpri.errors import FileError
from outcome import COLUMNS, Outcome, environment, number, write_csv, write_markdown

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
Row = Callable[[bool, quality.Say], Outcome]


def rows(best_known: Path) -> dict[str, Row]:
    """Every row by name, in the order in which they run."""
    return {
        "best-known": partial(quality.best_known, best_known),
        "best-known-weighted": partial(quality.best_known, HERE / "best_known_weighted.csv"),
        "brute-force": partial(brute_force.brute_force, "normal"),
        "brute-force-best": partial(brute_force.brute_force, "best"),
        "symmetry": symmetry.symmetry,
        "karate-call": speed.karate_call,
        "jazz-time": speed.jazz_time,
        "free-size": speed.free_size,
        "free-path": quality.free_path,
        "help-time": speed.help_time,
        "other-methods": quality.other_methods,
        "large-degree": partial(large.against, "degree"),
        "large-local": partial(large.against, "local"),
        "conversions": firsts.conversions,
        "first-calls": firsts.first_calls,
        "baselines": baselines.baselines,
        "resistances": baselines.resistances,
        "generators": baselines.generators,
        "backbones": baselines.backbones,
        "growth": large.growth,
        "threads": large.threads,
        "end-to-end": large.end_to_end,
        "options": large.options,
        "partitions": partitions.partitions,
        "partitions-kinds": partitions.kinds,
        "partitions-every": partitions.every,
        "partitions-growth": partitions.growth,
        "weighted": partial(weighted.weighted, 200_000),
        "weighted-every": partial(weighted.every, 200_000),
        "weighted-million": partial(weighted.sample, 1_000_000),
        "stochastic": estimates.small,
        "stochastic-million": estimates.million,
        "coverage": estimates.coverage,
        "gradients": estimates.gradients,
        "files": files_study.files,
        "strategy": strategy.strategy,
        "exact-gradients": strategy.exact_gradients,
        "real-graphs": real.real_graphs,
        "choose": choice.choice,
        "choose-seconds": choice.seconds,
        "diffusion": diffusion.diffusion,
        "many-tasks": tasks.many_tasks,
        "interruptions": interruptions.interruptions,
        "time-limits": limits.time_limits,
    }


def measure(name: str, row: Row, quick: bool) -> Outcome:
    """Run a row and print what it says; a data set that isn't there skips it."""
    print(f"\n{name}", flush=True)
    start, busy = time.perf_counter(), load()
    try:
        outcome = row(quick, lambda line: print(f"  {line}", flush=True))
    except FileError as error:
        outcome = Outcome(skipped=str(error))
    if outcome.skipped:
        print(f"  not run: {outcome.skipped}")
    for check in outcome.checks:
        print(f"  {check.what}: {number(float(check.measured))} {check.unit} (goal {check.goal}), met: {check.met}")
    minutes = (time.perf_counter() - start) / 60
    outcome.facts = {
        "measured on": datetime.now(UTC).strftime("%Y-%m-%d"),
        "load before": f"{busy:.1f}",
        "minutes": f"{minutes:.1f}",
        "cores": str(cores()),
        "quick": "yes" if quick else "no",
    }
    print(f"  ({minutes:.1f} min)", flush=True)
    return outcome


def tables(out: Path, names: list[str]) -> dict[str, Outcome]:
    """Make the tables of all rows that are in the folder; returns these."""
    found = {name: Outcome.load(out / f"{name}.json") for name in names if (out / f"{name}.json").exists()}
    write_markdown(out / "bench.md", environment(), found)
    write_csv(out / "bench.csv", environment(), found)
    return found


def verdict(found: dict[str, Outcome]) -> str:
    """Which goals were met, missed and not looked at."""
    checks = [(name, check) for name, outcome in found.items() for check in outcome.checks]
    missed = [f"{name}: {check.what} {number(float(check.measured))}" for name, check in checks if check.met == "no"]
    judged = sum(check.met != "not judged" for _, check in checks)
    skipped = [name for name, outcome in found.items() if outcome.skipped]
    text = f"{judged - len(missed)} of {judged} goals met"
    if missed:
        text += "\nMISSED\n  " + "\n  ".join(missed)
    return text + (f"\nrows not run: {', '.join(skipped)}" if skipped else "")


def publish(out: Path) -> None:
    """Put the rows of the table into the one of docs, draw the pictures made of it, and fill the pages.

    Rows that were not measured stay as they are there.
    """
    tables = (out / "bench.csv", DOCS / "data" / "bench.csv")
    new, old = (list(csv.reader(table.read_text(encoding="utf-8").splitlines())) for table in tables)
    measured = {line[0] for line in new}
    order = [*COLUMNS[:1], "environment", *rows(Path())]
    lines = sorted(new + [line for line in old if line[0] not in measured], key=lambda line: order.index(line[0]))
    with tables[1].open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    for script, option in (("make_pictures.py", "--only=growth"), ("make_tables.py", "--fill")):
        subprocess.run([sys.executable, str(DOCS / script), option], check=True)


def main() -> None:
    """Run the rows asked for; a missed goal is said plainly and is no failure."""
    names = list(rows(Path()))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the tables: out/bench, or out/bench-quick with --quick")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--skip", action="append", choices=names, metavar="NAME", help="leave a row out")
    parser.add_argument("--quick", action="store_true", help="fewer cases and smaller graphs, in minutes")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument("--publish", action="store_true", help="then copy the table into docs and fill the pages")
    parser.add_argument("--best-known", type=Path, default=HERE / "best_known.csv", help="CSV of best values of J")
    args = parser.parse_args()
    out: Path = args.out or Path("out/bench-quick" if args.quick else "out/bench")
    out.mkdir(parents=True, exist_ok=True)
    print(", ".join(f"{key} {value}" for key, value in environment().items()) + f", load {load():.1f}")
    if load() > 0.5:
        print("Other programs are running: wall times may be longer than the library's, see the CPU times beside them")
    chosen = [] if args.tables else [name for name in args.only or names if name not in (args.skip or [])]
    for name in chosen:
        measure(name, rows(args.best_known)[name], args.quick).save(out / f"{name}.json")
        tables(out, names)
    print(f"\n{verdict(tables(out, names))}\nTables: {out / 'bench.md'}, {out / 'bench.csv'}")
    if args.publish:
        publish(out)


if __name__ == "__main__":
    sys.exit(main())
