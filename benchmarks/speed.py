"""How long calls take, and how much memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
from outcome import Cell, Check, Outcome
from quality import Say, unweighted

HERE = Path(__file__).parent
JAZZ_BETAS = (0, 0.5, 1, 2, 4, 10, 50, 1000)
JAZZ_KEEPS = tuple(i / 10 for i in range(1, 10))


def timed(call: Callable[[], Any]) -> float:
    """Wall time of a call in seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def karate_call(quick: bool, say: Say) -> Outcome:
    """Median time of one call on networkx's karate club, after import."""
    import networkx as nx

    outcome, repeats = Outcome(), 15 if quick else 60
    graph = nx.karate_club_graph()
    for label, weight in (("weighted", "weight"), ("weight=None", None)):
        times = [timed(lambda w=weight: graphpri.sparsify(graph, keep=0.5, beta=2, weight=w)) for _ in range(repeats)]
        spread = {"first": times[0], "median": np.median(times), "90 %": np.quantile(times, 0.9), "calls": repeats}
        values = {key: 1e3 * float(v) if key != "calls" else v for key, v in spread.items()}
        outcome.cells.append(Cell(f"karate keep=0.5 beta=2 {label}", 34, 78, values))
        outcome.checks.append(Check(f"median call, {label}", values["median"], 20.0, "ms"))
        say(f"{label}: median {values['median']:.1f} ms of {repeats} calls, the first {values['first']:.1f} ms")
    outcome.notes = ["Times in milliseconds."]
    return outcome


def jazz_time(quick: bool, say: Say) -> Outcome:
    """Time of every budget and β on jazz with default settings."""
    graph, outcome = unweighted("jazz"), Outcome()
    betas, keeps = (JAZZ_BETAS[::3], JAZZ_KEEPS[::4]) if quick else (JAZZ_BETAS, JAZZ_KEEPS)
    for connected in (False, True):
        for beta in betas:
            for keep in keeps:
                call: dict[str, Any] = {"keep": keep, "beta": beta, "connected": connected}
                start, cpu = time.perf_counter(), time.process_time()
                result = graphpri.sparsify(graph, weight=None, **call)
                spent = {"seconds": time.perf_counter() - start, "CPU seconds": time.process_time() - cpu}
                values = spent | {"J": result.objective, "status": result.status}
                case = " ".join(f"{key}={value}" for key, value in call.items())
                outcome.cells.append(Cell(case, graph.n_nodes, graph.n_edges, values))
            of_beta = outcome.cells[-len(keeps) :]
            say(f"connected={connected} beta={beta:g}: at most {_most(of_beta, 'seconds'):.2f} s")
        done = [cell for cell in outcome.cells if cell.case.endswith(f"connected={connected}")]
        outcome.checks += [
            Check(f"slowest call, connected={connected}", _most(done, "seconds"), 3.0, "s"),
            Check(f"the same in CPU time, connected={connected}", _most(done, "CPU seconds"), 3.0, "s", judged=False),
        ]
    return outcome


def _most(cells: Sequence[Cell], measure: str) -> float:
    return max(cell.values[measure] for cell in cells)


def million(quick: bool, say: Say) -> Outcome:
    """A million edges by the degree entropy; NetworKit's local degree sparsifier beside it."""
    outcome, nodes = Outcome(), 10_000 if quick else 100_000
    for what, threads in (("pri", 1), ("networkit", 1), ("networkit", 0)):
        command = [sys.executable, str(HERE / "million.py"), what, "--nodes", str(nodes), "--threads", str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
        found = json.loads(done.stdout)
        size = found.pop("nodes"), found.pop("edges")
        outcome.cells.append(Cell(found.pop("method"), *size, found))
        say(f"{outcome.cells[-1].case}: {found['seconds']:.2f} s, K = {found['K']}, peak {found['peak MB']:.0f} MB")
    own = outcome.cells[0].values
    outcome.checks = [
        Check("sparsify, keep=0.3 beta=4 entropy='degree'", own["seconds"], 5.0, "s", not quick),
        Check("peak memory of the process", own["peak MB"], 1000.0, "MB", not quick),
    ]
    outcome.notes = [
        "Each in a process of its own. The memory before is that of the interpreter, the libraries and the graph; "
        "J, S and D are by the degree entropy at beta = 4 for both methods."
    ]
    return outcome


def help_time(quick: bool, say: Say) -> Outcome:
    """Median time of `graphpri --help`."""
    script = Path(sys.executable).with_name("graphpri")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "graphpri"]
    first = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
    if first.returncode or "sparsify" not in first.stdout:
        return Outcome(skipped=f"graphpri --help does not work: {first.stderr.strip()[-200:]}")
    repeats = 5 if quick else 15
    times = [
        timed(lambda: subprocess.run([*command, "--help"], capture_output=True, check=True)) for _ in range(repeats)
    ]
    values = {"median": float(np.median(times)), "slowest": max(times), "calls": repeats}
    say(f"median {values['median']:.3f} s of {repeats} calls")
    check = Check("median of graphpri --help", values["median"], 0.3, "s")
    return Outcome([Cell("graphpri --help", None, None, values)], [check])
