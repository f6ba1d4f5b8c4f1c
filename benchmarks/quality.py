"""How good the results are: against the best values known, along β, and against other methods."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path

import numpy as np

import graphpri
from clock import timed
from graphpri import datasets
from outcome import Cell, Check, Outcome

Say = Callable[[str], None]

PAPER_GRAPHS = ("karate", "madrid", "polbooks", "jazz")
BASELINES = ("local-degree", "local-similarity", "effective-resistance", "random")
BETA = 4.0
RANDOM_SEEDS = range(10)
HALF_STEPS = [0.5 * i for i in range(21)]

# From a quick solver among connected subgraphs, J to four decimals.
KARATE_PATH = {0: 2.7423, 1: 2.8771, 2: 2.9927, 3: 3.0601, 3.5: 3.0892, 4: 3.1159, 5: 3.1511, 6: 3.1541}
FOUR_DECIMALS, SIX_DECIMALS = 5e-5, 1e-6


@cache
def unweighted(name: str) -> graphpri.Graph:
    """A named graph without its weights."""
    return graphpri.as_graph(datasets.load(name), weight=None)


@cache
def weighted(name: str) -> graphpri.Graph:
    """A named graph with its weights."""
    return graphpri.as_graph(datasets.load(name))


def read_best_known(path: Path) -> list[dict[str, str]]:
    """Rows of a file of best values; lines that start with # are comments."""
    lines = (line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return list(csv.DictReader(lines))


def best_known(path: Path, quick: bool, say: Say) -> Outcome:
    """J with default settings, in percent of the best value known for the cell."""
    outcome = Outcome()
    for row in read_best_known(path):
        if quick and row["graph"] not in PAPER_GRAPHS[:2]:
            continue
        cell = _against_best(row)
        outcome.cells.append(cell)
        say(f"{cell.case}: {cell.values['gap %']:+.4f} % in {cell.values['seconds']:.2f} s")
    gaps = [cell.values["gap %"] for cell in outcome.cells]
    outcome.checks = [
        Check("largest gap to the best J known", max(gaps), 0.5, "%"),
        Check("median gap to the best J known", float(np.median(gaps)), 0.1, "%"),
    ]
    below = [cell.case for cell in outcome.cells if cell.values["standing"] == "below"]
    outcome.notes = [f"Below the best known in {len(below)} of {len(gaps)} cells: {'; '.join(below) or 'none'}."]
    return outcome


def _against_best(row: dict[str, str]) -> Cell:
    graph = (weighted if row["weighted"] == "yes" else unweighted)(row["graph"])
    keep, beta = int(row["keep"]), float(row["beta"])
    best = float(row["J_best_known_nats"])
    alpha = float(row["alpha"])
    run = timed(lambda: graphpri.sparsify(graph, keep=keep, beta=beta, alpha=alpha))
    j = run.result.objective
    standing = "below" if j < best - SIX_DECIMALS else "above" if j > best + SIX_DECIMALS else "equal"
    values = {"J": j, "best": best, "gap %": 100 * (j - best) / abs(best), "standing": standing} | run.values
    return Cell(f"{row['graph']} K={keep} beta={beta:g}", graph.n_nodes, graph.n_edges, values)


def free_path(quick: bool, say: Say) -> Outcome:
    """Paths over β = 0, 0.5, …, 10 without a budget, and each β alone: order, J, time, and all edges at β = 20."""
    outcome = Outcome(
        notes=["Minimisers obey the law of S and D; of K it says nothing. Alone: each β by a call of its own."]
    )
    graphs = {name: unweighted(name) for name in PAPER_GRAPHS[:1] if quick} or {
        **{name: unweighted(name) for name in PAPER_GRAPHS[:3]},
        "lesmis, weighted": weighted("lesmis"),
    }
    for name, graph in graphs.items():
        run = timed(lambda graph=graph: graphpri.path(graph, beta=HALF_STEPS))
        points = run.result
        alone = [timed(lambda beta=beta, graph=graph: graphpri.sparsify(graph, beta=beta)) for beta in HALF_STEPS]
        for beta, p, one in zip(HALF_STEPS, points, alone, strict=True):
            values = {"K": p.kept.n_edges, "J": p.objective, "S": p.entropy, "D": p.divergence}
            values |= {"J alone": one.result.objective, "alone, CPU s": one.cpu}
            outcome.cells.append(Cell(f"{name} beta={beta:g}", graph.n_nodes, graph.n_edges, values))
        outcome.checks += _path_checks(name, points, [one.result for one in alone])
        if not name.endswith("weighted"):
            dropped = graph.n_edges - graphpri.sparsify(graph, beta=20).kept.n_edges
            outcome.checks.append(Check(f"{name}: edges dropped at beta=20", dropped, 0, "edges"))
        singles = sum(one.cpu for one in alone)
        values = {"path, CPU s": run.cpu, "all alone, CPU s": singles}
        outcome.cells.append(Cell(f"{name}, {len(points)} beta", graph.n_nodes, graph.n_edges, values))
        outcome.checks.append(Check(f"{name}: CPU time of the path / of its beta alone", run.cpu / singles, 1.1))
        say(f"{name}: {len(points)} points in {run.cpu:.2f} s of CPU, alone {singles:.2f} s")
    return outcome


def _path_checks(name: str, points: Sequence[graphpri.Sparsified], alone: Sequence[graphpri.Sparsified]) -> list[Check]:
    checks: list[Check] = []
    for of, found in (("", points), (", alone", alone)):
        s, d = np.array([p.entropy for p in found]), np.array([p.divergence for p in found])
        k = np.array([p.kept.n_edges for p in found])
        checks += [
            Check(f"{name}{of}: largest fall of S along beta", max(0.0, float(-np.diff(s).min())), 1e-9, "nats"),
            Check(f"{name}{of}: largest rise of D along beta", max(0.0, float(np.diff(d).max())), 1e-9, "nats"),
            Check(
                f"{name}{of}: largest fall of K along beta", max(0, int(-np.diff(k).min())), 0, "edges", judged=False
            ),
        ]
    path, one = (np.array([p.objective for p in found]) for found in (points, alone))
    checks.append(Check(f"{name}: path's J above that of a beta alone", float((path / one - 1).max()), 1e-6))
    checks.append(Check(f"{name}: J of a beta alone above the path's", float((one / path - 1).max()), 1e-6))
    if name == "karate":
        found = dict(zip(HALF_STEPS, points, strict=True))
        above = max(found[beta].objective - known for beta, known in KARATE_PATH.items())
        checks.append(Check("karate: J above the values known", above, FOUR_DECIMALS, "nats"))
    return checks


def other_methods(quick: bool, say: Say) -> Outcome:
    """J and D of Graph-PRI and of simple methods at equal K, β 4."""
    import_module("networkit")  # not in the time of the first method that uses it
    outcome, lowest_j, lowest_d, count = Outcome(), 0, 0, 0
    for name in PAPER_GRAPHS[:1] if quick else PAPER_GRAPHS:
        for keep in (0.2, 0.5):
            cells = [_cell(name, keep, method) for method in ("pri", *BASELINES)]
            outcome.cells += cells
            others = cells[1:]
            lowest_j += all(cells[0].values["J"] < cell.values["J"] for cell in others)
            lowest_d += all(cells[0].values["D"] < cell.values["D"] for cell in others)
            count += 1
            say(f"{name} keep={keep}: " + ", ".join(f"{c.values['method']} {c.values['J']:.3f}" for c in cells))
    outcome.checks = [
        Check(f"cells of {count} where another method has a lower J", count - lowest_j, 0),
        Check(f"cells of {count} where another method has a lower D", count - lowest_d, 0, judged=False),
    ]
    outcome.notes = [f"beta = {BETA:g}; random is the mean of {len(RANDOM_SEEDS)} seeds."]
    return outcome


def _cell(name: str, keep: float, method: str) -> Cell:
    graph, seeds = unweighted(name), RANDOM_SEEDS if method == "random" else range(1)
    call = partial(graphpri.sparsify, graph, keep=keep, beta=BETA, method=method, weight=None)
    runs = [timed(lambda seed=seed: call(seed=seed)) for seed in seeds]
    reports = [run.result.report() for run in runs]
    values = {"method": method, "K": reports[0]["edges_kept"]} | {
        short: float(np.mean([report[key] for report in reports]))
        for short, key in (
            ("J", "objective"),
            ("S", "entropy"),
            ("D", "divergence"),
            ("nodes cut off", "nodes_cut_off"),
        )
    }
    return Cell(
        f"{name} keep={keep}",
        graph.n_nodes,
        graph.n_edges,
        values | {"seconds": float(np.mean([run.wall for run in runs]))},
    )
