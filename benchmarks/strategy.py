"""What the strategy by size loses against the all-exact solver, and whether gradients would improve on it."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import graphpri
from clock import timed
from graphpri._entropy import scaled
from graphpri._entropy.stochastic import log_term
from graphpri._objective import Objective
from graphpri._runtime import single_thread
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.solvers import budgeted
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.sweeps import Sweeps
from graphs import FAMILIES
from outcome import Cell, Check, Outcome
from quality import Say

TIME_LIMIT = 300.0
LOSS, SPEED_UP = 0.2, 20.0
SIZES = ((1000, 0.3, 4.0, tuple(FAMILIES)), (2000, 0.3, 4.0, ("preferential", "geometric")))
WAYS: dict[str, dict[str, Any]] = {
    "auto": {},
    "local": {"entropy": "local"},
    "exact, fast": {"entropy": "exact", "effort": "fast"},
    "exact, normal": {"entropy": "exact"},
}
ALL_EXACT = "all-exact"
JUDGED, JUDGED_NODES = "auto", 2000


def strategy(quick: bool, say: Say) -> Outcome:
    """J by the exact entropy, and time: each way against single moves by the exact entropy from all edges on."""
    outcome = Outcome()
    graphpri.sparsify(FAMILIES["communities"](2000), keep=0.3)  # compiles, or loads what was compiled
    for n, keep, beta, names in ((700, 0.3, 4.0, ("preferential",)),) if quick else SIZES:
        for name in names:
            graph, limit = FAMILIES[name](n), 20.0 if quick else TIME_LIMIT
            cells = _ways(f"{name}, keep {keep:g}, beta {beta:g}", graph, keep, beta, limit)
            outcome.cells += cells
            say(", ".join(f"{c.values['way']} {c.values['above %']:+.3f} % {c.values['s']:.1f} s" for c in cells))
    for n in dict.fromkeys(cell.nodes for cell in outcome.cells):
        for way in WAYS:
            found = [cell.values for cell in outcome.cells if cell.nodes == n and cell.values["way"] == way]
            judged = n == JUDGED_NODES and way == JUDGED
            most, least = max(v["above %"] for v in found), min(v["speed-up"] for v in found)
            outcome.checks.append(Check(f"{way}, N = {n}: J above the all-exact solver's", most, LOSS, "%", judged))
            what = f"{way}, N = {n}: times faster than the all-exact solver"
            outcome.checks.append(Check(what, least, SPEED_UP, "", judged, at_least=True))
    outcome.notes = [
        f"The all-exact solver is effort='normal' without a start from the local entropy, stopped after {TIME_LIMIT:g} "
        "s (20 with --quick); where it was, a speed-up is a lower bound, and more time would have lowered its J. CPU "
        "times of one call each. J is by the exact entropy for all; checks are of the worst graph."
    ]
    return outcome


def _ways(case: str, graph: Graph, keep: float, beta: float, limit: float) -> list[Cell]:
    runs = {way: timed(partial(graphpri.sparsify, graph, keep=keep, beta=beta, **how)) for way, how in WAYS.items()}
    never = mock.patch.multiple(budgeted, DRAFT_NODES=10**9, DRAFT_NODES_WEIGHTED=10**9)
    with never:
        runs[ALL_EXACT] = timed(
            partial(graphpri.sparsify, graph, keep=keep, beta=beta, entropy="exact", time_limit=limit)
        )
    judge, exact = Objective(graph, beta, 0.0, "exact"), runs[ALL_EXACT]
    with single_thread():
        values = {way: judge.value(run.result.mask.astype(np.float64)) for way, run in runs.items()}
    best = values[ALL_EXACT]
    return [
        Cell(
            case,
            graph.n_nodes,
            graph.n_edges,
            {"way": way, "entropy": run.result.settings["entropy_by"], "J": values[way]}
            | {"above %": 100 * (values[way] / best - 1), "s": run.wall, "CPU s": run.cpu}
            | {"speed-up": exact.cpu / run.cpu, "status": run.result.status},
        )
        for way, run in runs.items()
    ]


ROUNDS = 8
"""Gradients that a search by them takes at most."""


def exact_gradients(quick: bool, say: Say) -> Outcome:
    """What exact and stochastic gradients improve at the local entropy's solution, and what exact prices do."""
    outcome, keep, beta = Outcome(), 0.3, 4.0
    for name, family in list(FAMILIES.items())[: 1 if quick else None]:
        graph = family(700 if quick else 1000)
        judge = Objective(graph, beta, 0.0, "exact")
        start = graphpri.sparsify(graph, keep=keep, beta=beta, entropy="local").mask
        ways = {
            "exact gradient": lambda m, judge=judge: _by_gradient(judge, m, judge.gradient),
            "stochastic gradient": lambda m, judge=judge: _by_gradient(judge, m, partial(estimated_gradient, judge)),
            "exact prices": lambda m, graph=graph: (
                graphpri.sparsify(graph, keep=keep, beta=beta, entropy="exact", effort="normal").mask
            ),
        }
        with single_thread():
            before, values = judge.value(start.astype(np.float64)), {}
            for way, call in ways.items():
                run = timed(partial(call, start))
                gain = 100 * (1 - judge.value(run.result.astype(np.float64)) / before)
                values |= {f"{way}, gain %": gain, f"{way}, CPU s": run.cpu}
        outcome.cells.append(Cell(name, graph.n_nodes, graph.n_edges, {"J local": before} | values))
        say(f"{name}: " + ", ".join(f"{way} {values[f'{way}, gain %']:+.3f} %" for way in ways))
    outcome.notes = [
        f"beta = {beta:g}, keep = {keep}. Gains of J by the exact entropy over the local entropy's solution. A "
        "search by gradients adds the difference of the gradient to the local entropy's own to the local prices of "
        "flips, and bulk-swaps the worst kept edges for the best dropped ones, their number halved where exact J does "
        f"not fall, with up to {ROUNDS} gradients. Exact prices are those of whole flips, which is what "
        "sparsify(entropy='exact') does above 600 nodes."
    ]
    return outcome


def estimated_gradient(objective: Objective, w: FloatArray) -> FloatArray:
    """∂J/∂w with the edge terms of both entropies estimated, up to a constant times μ."""
    graph, beta, mu = objective.graph, objective.beta, objective.weights
    kept, everything = w * mu, mu
    mixed = scaled(0.5 * (kept / kept.sum() + everything / everything.sum()))
    terms = (1 - beta) * log_term(graph, scaled(kept)) + beta * log_term(graph, mixed)
    g = -mu * terms
    t = 2 * float(kept.sum())
    return (g - 2 * mu / t * float(w @ g)) / t


def _by_gradient(judge: Objective, mask: BoolArray, gradient: Any) -> BoolArray:
    """Bulk swaps by local prices that a gradient sets right, accepted by exact J."""
    local = judge.by_local_sweeps()
    sweeps, best = Sweeps(local, Constraints(), fixed_size=True), mask.copy()
    value = judge.value(best.astype(np.float64))
    for _ in range(ROUNDS):
        w = best.astype(np.float64)
        sweeps.set_to(best)
        prices = sweeps.prices() + gradient(w) - local.gradient(w)
        better, found = _bulk_swapped(judge, best, value, prices)
        if found >= value:
            break
        best, value = better, found
    return best


def _bulk_swapped(judge: Objective, mask: BoolArray, value: float, prices: FloatArray) -> tuple[BoolArray, float]:
    """Bulk-swap the dearest kept edges for the cheapest dropped ones: the largest number that lowers J."""
    kept, dropped = np.flatnonzero(mask), np.flatnonzero(~mask)
    out = kept[np.argsort(-prices[kept], kind="stable")]
    into = dropped[np.argsort(prices[dropped], kind="stable")]
    few = min(out.size, into.size)
    count = int((prices[out[:few]] > prices[into[:few]]).sum())
    while count:
        trial = mask.copy()
        trial[out[:count]], trial[into[:count]] = False, True
        found = judge.value(trial.astype(np.float64))
        if found < value:
            return trial, found
        count //= 2
    return mask, value
