"""Runs that are interrupted and killed at random moments, and end with the same files as one that is left alone.

python benchmarks/interruptions.py        30 moments; or make bench BENCH_ARGS="--only interruptions"
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from outcome import Cell, Check, Outcome
from quality import Say

MOMENTS = 30
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
WORKERS = (1, 2)
COMMAND = ("reproduce", "karate", "--quick", "-q", "--out")


class Moment(NamedTuple):
    """A signal, and when the command gets it: after some seconds, and once its folder has some finished pieces."""

    number: signal.Signals
    after: float = 0.0
    pieces: int = 0


class Ended(NamedTuple):
    """How a command ended: its exit code, whether the signal came before it was done, and what it wrote to stderr."""

    code: int
    cut: bool
    error: str


def run(arguments: Sequence[str], workers: int, moment: Moment | None = None) -> Ended:
    """Run a command of the program, the folder of its results last.

    The signal goes to all its processes, as Ctrl-C does; SIGKILL to the first alone.
    """
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "graphpri", *arguments],
        env=os.environ | {"GRAPHPRI_THREADS": str(workers)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    cut = False
    while moment is not None and process.poll() is None and not cut:
        time.sleep(0.02)
        kept = len(list(Path(arguments[-1]).rglob("pieces/*.json"))) if moment.pieces else 0
        cut = kept >= moment.pieces and time.monotonic() - start >= moment.after
    if moment is not None and cut:
        if moment.number == signal.SIGKILL:
            process.kill()  # those that it started have to find that out
        else:
            os.killpg(process.pid, moment.number)
    # Processes that outlive the first one keep the pipe open: reading to its end waits for all of them.
    _, error = process.communicate(timeout=600)
    return Ended(process.returncode, cut, error)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder of results but pieces, drafts and times: what two runs have in common, byte for byte."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or "pieces/" in name or path.name.startswith(".graphpri-"):
            continue
        found[name] = path.read_bytes()
        if path.name == "run.json":
            found[name] = json.dumps(json.loads(found[name]) | {"seconds": 0}).encode()
    return found


class Chain(NamedTuple):
    """A run that was cut at some moments and gone on with until it was done."""

    cuts: int
    ended: Ended
    content: dict[str, bytes]


def chain(arguments: Sequence[str], folder: Path, workers: int, moments: Iterable[Moment]) -> Chain:
    """Give the same command again and again, each time with the next moment, until it is done."""
    cuts = 0
    for moment in moments:
        ended = run([*arguments, str(folder)], workers, moment)
        if ended.code == 0:
            break
        cuts += ended.cut
    else:
        ended = run([*arguments, str(folder)], workers)
    return Chain(cuts, ended, content(folder))


def differing(found: Chain, left_alone: dict[str, bytes]) -> list[str]:
    """Files that are not as those of the run that was left alone; the exit code, where that is not 0."""
    names = sorted(found.content.keys() | left_alone.keys())
    wrong = [name for name in names if found.content.get(name) != left_alone.get(name)]
    return wrong + ([f"exit code {found.ended.code}: {found.ended.error}"] if found.ended.code else [])


def interruptions(quick: bool, say: Say) -> Outcome:
    """`reproduce karate --quick`, cut at random moments by SIGINT, SIGTERM and SIGKILL in turn, by one and two workers.

    A command is cut, the same one goes on, is cut at another moment, and so on until it is done.
    """
    # A shell's background jobs ignore SIGINT, and what they start would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng, asked = np.random.default_rng(0), 6 if quick else MOMENTS
    outcome = Outcome(notes=["Files are compared byte for byte, but for the seconds in run.json."])
    all_cuts, wrong = 0, 0
    for workers in WORKERS:
        with tempfile.TemporaryDirectory() as held:
            run([*COMMAND, f"{held}/first"], workers)  # compiles, so that moments are drawn from what runs take later
            start = time.perf_counter()
            run([*COMMAND, f"{held}/alone"], workers)
            span, left_alone = time.perf_counter() - start, content(Path(held, "alone"))
            waiting, runs, files = [SIGNALS[i % len(SIGNALS)] for i in range(asked // len(WORKERS))], 0, 0
            cuts = dict.fromkeys(SIGNALS, 0)
            while waiting:
                moments = [Moment(number, float(rng.uniform(0, span))) for number in waiting]
                found = chain(COMMAND, Path(held, f"cut{runs}"), workers, moments)
                for number in waiting[: found.cuts]:
                    cuts[number] += 1
                del waiting[: found.cuts]
                off = differing(found, left_alone)
                files, runs = files + len(off), runs + 1
                say(f"{workers} workers: {found.cuts} cuts, {len(found.content)} files, {off or 'all the same'}")
        all_cuts, wrong = all_cuts + sum(cuts.values()), wrong + files
        values = {number.name: count for number, count in cuts.items()} | {"runs": runs, "files that differ": files}
        outcome.cells.append(Cell(f"{workers} workers", None, None, values))
    outcome.checks.append(Check("moments at which a run was cut", all_cuts, asked, "", not quick, at_least=True))
    outcome.checks.append(Check("files that differ from the run that was left alone", wrong, 0))
    return outcome


if __name__ == "__main__":
    done = interruptions("--quick" in sys.argv, lambda line: print(line, flush=True))
    for check in done.checks:
        print(f"{check.what}: {check.measured:g} (goal {check.goal}), met: {check.met}")
