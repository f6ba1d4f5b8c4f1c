"""How long calls take, and how much memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
import graphs
from clock import time_checks, timed
from graphpri import datasets
from graphpri.graph import Graph
from outcome import Cell, Check, Outcome
from quality import Say, unweighted

JAZZ_BETAS = (0, 0.5, 1, 2, 4, 10, 50, 1000)
JAZZ_KEEPS = tuple(i / 10 for i in range(1, 10))


def karate_call(quick: bool, say: Say) -> Outcome:
    """Median time of one call on networkx's karate club, after import."""
    import networkx as nx

    outcome, repeats = Outcome(), 15 if quick else 60
    graph = nx.karate_club_graph()
    for label, weight in (("weighted", "weight"), ("weight=None", None)):
        call = partial(graphpri.sparsify, graph, keep=0.5, beta=2, weight=weight)
        runs = [timed(call) for _ in range(repeats)]
        wall, cpu = (1e3 * np.array([getattr(run, clock) for run in runs]) for clock in ("wall", "cpu"))
        spread = {"first": wall[0], "median": np.median(wall), "90 %": np.quantile(wall, 0.9), "CPU": np.median(cpu)}
        values = {key: float(value) for key, value in spread.items()}
        outcome.cells.append(Cell(f"karate keep=0.5 beta=2 {label}", 34, 78, values | {"calls": repeats}))
        outcome.checks += time_checks(f"median call, {label}", values["median"], values["CPU"], 20.0, "ms")
        say(f"{label}: median {values['median']:.1f} ms of {repeats} calls ({values['CPU']:.1f} ms of CPU)")
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
                run = timed(partial(graphpri.sparsify, graph, weight=None, **call))
                values = run.values | {"J": run.result.objective, "status": run.result.status}
                case = " ".join(f"{key}={value}" for key, value in call.items())
                outcome.cells.append(Cell(case, graph.n_nodes, graph.n_edges, values))
            of_beta = outcome.cells[-len(keeps) :]
            say(f"connected={connected} beta={beta:g}: at most {_most(of_beta, 'seconds'):.2f} s")
        done = [cell for cell in outcome.cells if cell.case.endswith(f"connected={connected}")]
        wall, cpu = _most(done, "seconds"), _most(done, "CPU seconds")
        outcome.checks += time_checks(f"slowest call, connected={connected}", wall, cpu, 3.0)
    return outcome


def _weighing(graph: Graph, kind: str) -> Graph:
    rng = np.random.default_rng(1)
    drawn = rng.lognormal(0, 1, graph.n_edges) if kind == "lognormal" else 1 + rng.pareto(1.5, graph.n_edges)
    return Graph.from_edges(graph.source, graph.target, drawn, n_nodes=graph.n_nodes)


def _of_free_size() -> dict[str, Graph]:
    """Real graphs and random ones of up to 500 nodes, sparse and dense, weighted and not."""
    named = {
        "karate, weighted": graphs.named("karate"),
        **{name: unweighted(name) for name in ("madrid", "polbooks", "jazz")},
        "lesmis, weighted": graphs.named("lesmis"),
        "celegans, weighted": graphs.named("celegans"),
        "us-airports, weighted": graphs.named("us-airports"),
        "netscience, largest component": graphs.largest_component(graphs.named("netscience", weighted=False)),
    }
    random = {
        "preferential": graphs.preferential(499),
        "communities": datasets.stochastic_block_model((49,) * 10, 8 / 49, 2 / 450, seed=0),
        "geometric": graphs.geometric(499),
        "grid": graphs.grid(484),
        "random, 200 nodes, mean degree 60": datasets.erdos_renyi(200, 60, seed=0),
        "random, mean degree 50": datasets.erdos_renyi(499, 50, seed=0),
        "random, mean degree 200": datasets.erdos_renyi(499, 200, seed=0),
    }
    weights = {"preferential": "Pareto", "geometric": "lognormal", "random, 200 nodes, mean degree 60": "Pareto"}
    return named | random | {f"{name}, {kind}": _weighing(random[name], kind) for name, kind in weights.items()}


def free_size(quick: bool, say: Say) -> Outcome:
    """CPU time of a call without a budget, default settings otherwise, on graphs of up to 500 nodes."""
    outcome = Outcome(notes=["Default settings: connected, beta 4. CPU time; compiled code is loaded before."])
    every = _of_free_size()
    for name in ("communities", "celegans, weighted"):
        graphpri.sparsify(every[name], keep=0.3, effort="fast")
    for name, graph in list(every.items())[: 4 if quick else None]:
        run = timed(partial(graphpri.sparsify, graph))
        kept = {"K": run.result.kept.n_edges, "J": run.result.objective, "entropy": run.result.settings["entropy_by"]}
        outcome.cells.append(
            Cell(name, graph.n_nodes, graph.n_edges, kept | run.values | {"status": run.result.status})
        )
        say(f"{name}: J {run.result.objective:.6f}, K {run.result.kept.n_edges}, {run.cpu:.2f} s of CPU")
    outcome.checks = [Check("slowest call without a budget, CPU time", _most(outcome.cells, "CPU seconds"), 5.0, "s")]
    return outcome


def _most(cells: Sequence[Cell], measure: str) -> float:
    return max(cell.values[measure] for cell in cells)


def help_time(quick: bool, say: Say) -> Outcome:
    """Median time of `graphpri --help`."""
    script = Path(sys.executable).with_name("graphpri")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "graphpri"]
    first = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
    if first.returncode or "sparsify" not in first.stdout:
        return Outcome(skipped=f"graphpri --help does not work: {first.stderr.strip()[-200:]}")
    repeats = 5 if quick else 15
    help_ = partial(subprocess.run, [*command, "--help"], capture_output=True, check=True)
    times = [timed(help_).wall for _ in range(repeats)]
    values = {"median": float(np.median(times)), "slowest": max(times), "calls": repeats}
    say(f"median {values['median']:.3f} s of {repeats} calls")
    check = Check("median of graphpri --help", values["median"], 0.3, "s")
    return Outcome([Cell("graphpri --help", None, None, values)], [check])
