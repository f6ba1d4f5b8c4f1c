"""Every subset of the edges of small graphs, against what the solver finds: how often it reaches the optimum."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clock import on_all_cores
from graphpri import Graph, Objective
from graphpri._entropy import xlogx
from graphpri.solvers import budgeted
from graphpri.solvers.local_search import Constraints
from outcome import Cell, Check, Outcome
from quality import Say

WEIGHTS = {
    "equal": lambda rng, m: np.ones(m),
    "uniform .2 to 3": lambda rng, m: rng.uniform(0.2, 3, m),
    "lognormal 1": lambda rng, m: np.exp(rng.normal(0, 1, m)),
    "lognormal 2": lambda rng, m: np.exp(rng.normal(0, 2, m)),
    "Pareto 1.5": lambda rng, m: 1 + rng.pareto(1.5, m),
}
BETAS = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0, 50.0)
RULES = ("none", "connected", "protect", "forbid", "all three")
MOST_EDGES = 14
CHUNK = 4096
ROUNDING = 1e-9


def small_graph(rng: np.random.Generator, weights: str, connected: bool) -> Graph:
    """A random graph of 5 to 12 nodes and at most 14 edges, connected or of two or more components."""
    while True:
        n = int(rng.integers(5, 13))
        parts = [n] if connected else [int(rng.integers(2, n - 2)), 0]
        if not connected:
            parts[1] = n - parts[0]
        pairs: set[tuple[int, int]] = set()
        possible: list[tuple[int, int]] = []
        first = 0
        for size in parts:
            nodes = first + np.arange(size)
            pairs |= {(int(nodes[rng.integers(i)]), int(nodes[i])) for i in range(1, size)}
            possible += [(a, b) for a in range(first, first + size) for b in range(a + 1, first + size)]
            first += size
        rest = [pair for pair in possible if pair not in pairs]
        most = MOST_EDGES - len(pairs)
        if most < 1 or not rest:
            continue
        more = min(int(rng.integers(1, most + 1)), len(rest))
        chosen = sorted(pairs | {rest[i] for i in rng.choice(len(rest), more, replace=False)})
        ends = np.array(chosen)
        return Graph(n, ends[:, 0], ends[:, 1], WEIGHTS[weights](rng, len(chosen)))


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All subsets of a graph's edges, one bit per edge: their sizes, entropies and components."""

    graph: Graph

    @cached_property
    def subsets(self) -> NDArray[np.bool_]:
        """Every subset, shape (2^M, M)."""
        m = self.graph.n_edges
        return (np.arange(1 << m)[:, None] >> np.arange(m)) & 1 == 1

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of edges of each subset."""
        return self.subsets.sum(axis=1)

    @cached_property
    def entropies(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """S of each subset and of its mixture with the graph, in nats, and S of the graph."""
        shares = self.graph.weights / self.graph.weights.sum()
        kept = self.subsets * shares
        kept[1:] /= kept[1:].sum(axis=1, keepdims=True)
        return self._entropy(kept), self._entropy(0.5 * (kept + shares)), float(self._entropy(shares[None])[0])

    def _entropy(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        n, u, v = self.graph.n_nodes, self.graph.source, self.graph.target
        found = np.empty(len(weights))
        for low in range(0, len(weights), CHUNK):
            some = weights[low : low + CHUNK] / 2
            matrices = np.zeros((len(some), n, n))
            matrices[:, u, v] = matrices[:, v, u] = -some
            matrices[:, np.arange(n), np.arange(n)] = -matrices.sum(axis=2)
            found[low : low + CHUNK] = -xlogx(np.maximum(np.linalg.eigvalsh(matrices), 0)).sum(axis=1)
        return found

    @cached_property
    def components(self) -> NDArray[np.int64]:
        """Number of components of each subset."""
        labels = np.tile(np.arange(self.graph.n_nodes), (len(self.subsets), 1))
        for edge, (u, v) in enumerate(zip(self.graph.source, self.graph.target, strict=True)):
            there = np.flatnonzero(self.subsets[:, edge])
            new, old = np.minimum(labels[there, u], labels[there, v]), np.maximum(labels[there, u], labels[there, v])
            labels[there] = np.where(labels[there] == old[:, None], new[:, None], labels[there])
        return (labels == np.arange(self.graph.n_nodes)).sum(axis=1)

    def objective(self, beta: float) -> NDArray[np.float64]:
        """J of every subset."""
        kept, mixed, original = self.entropies
        return (1 - beta) * kept + 2 * beta * mixed - beta * original

    def allowed(self, rules: Constraints) -> NDArray[np.bool_]:
        """Which subsets are not empty and satisfy the constraints."""
        fine = self.sizes > 0
        if rules.connected:
            fine &= self.components == self.components[-1]
        if rules.protect is not None:
            fine &= self.subsets[:, rules.protect].all(axis=1)
        if rules.forbid is not None:
            fine &= ~self.subsets[:, rules.forbid].any(axis=1)
        return fine


def constraints(rng: np.random.Generator, graph: Graph, rules: str) -> Constraints:
    """Connectivity, one or two protected edges, one or two forbidden ones, or all three."""
    m = graph.n_edges
    chosen = rng.permutation(m)
    protect, forbid = np.zeros(m, bool), np.zeros(m, bool)
    protect[chosen[: rng.integers(1, 3)]] = True
    forbid[chosen[-rng.integers(1, 3) :]] = True
    every = rules == "all three"
    return Constraints(
        rules == "connected" or every,
        protect if rules == "protect" or every else None,
        forbid if rules == "forbid" or every else None,
    )


class Trial(NamedTuple):
    """One cell: what was asked, how far above the optimum the solver ended, and whether a single move improves that."""

    weights: str
    connected: bool
    edges: int
    rules: str
    k: int | None
    beta: float
    gap: float
    status: str
    improvable: bool
    seed: int


def trials(seed: int, effort: str, share: float = 1.0, free: bool = True) -> list[Trial]:
    """Every K and β of one random graph, each by one of the constraints (in turn), and a share of these cells."""
    rng = np.random.default_rng(seed)
    names = list(WEIGHTS)
    weights, connected = names[seed % len(names)], bool(seed // len(names) % 2)
    graph = small_graph(rng, weights, connected)
    every = Enumeration(graph)
    found: list[Trial] = []
    for beta in BETAS:
        values = every.objective(beta)
        for k in ([None] if free else []) + list(range(1, graph.n_edges)):
            rules = RULES[int(rng.integers(len(RULES)))]
            c = constraints(rng, graph, rules)
            fine = every.allowed(c)
            if k is not None:
                fine &= every.sizes == k
            if not fine.any() or rng.random() >= share:
                continue
            best = float(values[fine].min())
            solution = budgeted.solve(Objective(graph, beta), k, c, effort=effort)
            code = int(solution.mask @ (1 << np.arange(graph.n_edges)))
            assert fine[code], (seed, rules, k, beta)
            value = float(values[code])
            assert abs(value - solution.objective) < 1e-8 * max(1, abs(value), beta), (seed, rules, k, beta)
            differs = (every.subsets[fine] != solution.mask).sum(axis=1)
            swapped = (differs == 2) & (every.sizes[fine] == every.sizes[code])
            near = swapped if k is not None else swapped | (differs == 1)
            slack = ROUNDING * max(1.0, abs(value), beta)
            improvable = bool((values[fine][near] < value - slack).any())
            gap = (value - best) / abs(best) if value > best + slack else 0.0
            found.append(
                Trial(weights, connected, graph.n_edges, rules, k, beta, gap, str(solution.status), improvable, seed)
            )
    return found


GRAPHS = 400
NEAR = 1e-3


class Goal(NamedTuple):
    """Shares of the cells that are searched, as called and by search alone; what is to be reached, in %."""

    called: float
    searched: float
    near: float
    worst: float


GOALS = {"normal": Goal(1.0, 0.1, 99.0, 1.0), "best": Goal(0.5, 0.05, 99.9, 0.2)}


@contextmanager
def searches_only() -> Iterator[None]:
    """Let the solver search where it would evaluate all subsets itself, since they are few."""
    before, budgeted.ENUMERATED = budgeted.ENUMERATED, 0
    try:
        yield
    finally:
        budgeted.ENUMERATED = before


def _of_graph(job: tuple[int, str, float, bool]) -> list[Trial]:
    seed, effort, share, alone = job
    with searches_only() if alone else nullcontext():
        return trials(seed, effort, share)


def brute_force(effort: str, quick: bool, say: Say) -> Outcome:
    """How far above the optimum over all subsets a call, and its search alone, end on graphs of at most 14 edges."""
    goal = GOALS[effort]
    outcome = Outcome(
        notes=[
            f"{GRAPHS} graphs of 5 to 12 nodes and at most {MOST_EDGES} edges, half of them of two components; every K "
            f"and free size, beta in {', '.join(f'{beta:g}' for beta in BETAS)}; each cell by one of the constraints, "
            "drawn.",
            f"As called: {100 * goal.called:g} % of the cells. The library looks at every subset itself where graphs "
            f"are as small as these. By search alone: {100 * goal.searched:g} % of the cells, drawn.",
            "A claim is wrong where the status says 'converged' and a swap, addition or removal lowers J.",
        ]
    )
    for how, share in (("search alone", goal.searched), ("as called", goal.called)):
        found: list[Trial] = []
        jobs = [(seed, effort, share, how == "search alone") for seed in range(10 if quick else GRAPHS)]
        for seed, some in enumerate(on_all_cores(_of_graph, jobs)):
            found += some
            if seed % 20 == 19:
                say(f"{how}: {seed + 1} graphs, {_figures(found)}")
        for weights in WEIGHTS:
            for free in (False, True):
                some = [trial for trial in found if trial.weights == weights and (trial.k is None) == free]
                name = f"{effort}, {how}, {weights}, {'free size' if free else 'K'}"
                outcome.cells.append(Cell(name, None, None, _figures(some)))
                say(f"{name}: {outcome.cells[-1].values}")
        figures = _figures(found)
        what = f"{effort}, {how}, {figures['cells']} cells"
        outcome.checks += [
            Check(f"{what}: within 0.1 % of the optimum", figures["within .1 %"], goal.near, "%", at_least=True),
            Check(f"{what}: worst above the optimum", figures["worst %"], goal.worst, "%"),
            Check(f"{what}: 'converged' with a single move that improves J", figures["wrong claims"], 0, "cells"),
        ]
    return outcome


def _figures(some: list[Trial]) -> dict[str, float]:
    gaps = np.array([trial.gap for trial in some])
    return {
        "cells": gaps.size,
        "optimal %": 100 * float((gaps == 0).mean()) if gaps.size else math.nan,
        "within .1 %": 100 * float((gaps <= NEAR).mean()) if gaps.size else math.nan,
        "worst %": 100 * float(gaps.max(initial=0.0)),
        "wrong claims": sum(trial.improvable and trial.status.startswith("converged") for trial in some),
    }
