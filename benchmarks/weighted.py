"""Large graphs whose edges weigh differently: how far the default effort stays above the best, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import product

import numpy as np

import graphs
from clock import on_all_cores, timed
from graphpri._objective import Objective
from graphpri.graph import FloatArray, Graph
from graphpri.solvers.budgeted import solve
from outcome import Cell, Check, Outcome
from quality import Say

EDGES_A_NODE = graphs.MEAN_DEGREE / 2
FAMILIES: dict[str, tuple[Callable[[int], Graph], float]] = {
    "preferential": (graphs.preferential, EDGES_A_NODE),
    "communities": (graphs.communities, EDGES_A_NODE),
    "geometric": (graphs.geometric, EDGES_A_NODE),
    "grid": (graphs.grid, 2),
}
WEIGHTS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "Pareto 1.5": lambda rng, m: 1 + rng.pareto(1.5, m),
    "lognormal 1": lambda rng, m: rng.lognormal(0, 1, m),
    "lognormal 2": lambda rng, m: rng.lognormal(0, 2, m),
    "uniform": lambda rng, m: 1 - rng.random(m),
}
KEEPS, BETAS, ENTROPIES = (0.1, 0.3, 0.8), (0, 2, 4, 50), ("degree", "local")
GOAL = 0.5


@cache
def _unweighted(family: str, edges: int) -> Graph:
    make, edges_a_node = FAMILIES[family]
    return make(round(edges / edges_a_node / 50) * 50)


def graph_of(family: str, weights: str, edges: int) -> Graph:
    """A graph of about so many edges with random weights."""
    graph = _unweighted(family, edges)
    drawn = WEIGHTS[weights](np.random.default_rng(1), graph.n_edges)
    return Graph.from_edges(graph.source, graph.target, drawn, n_nodes=graph.n_nodes)


Options = tuple[float, float, str]
GRID: list[Options] = list(product(KEEPS, BETAS, ENTROPIES))


def every(edges: int, quick: bool, say: Say) -> Outcome:
    """J by the default effort, in percent of that by effort="best": all 384 cells."""
    return _cells(20_000 if quick else edges, [(pair, GRID) for pair in product(FAMILIES, WEIGHTS)], say)


def weighted(edges: int, quick: bool, say: Say) -> Outcome:
    """The same of 48 cells: for each family and weights all budgets, at one β and entropy, which take turns."""
    turns = len(BETAS) * len(ENTROPIES)
    chosen = [
        (pair, [GRID[5 * number % turns + turns * budget] for budget in range(len(KEEPS))])
        for number, pair in enumerate(product(FAMILIES, WEIGHTS))
    ]
    return _cells(20_000 if quick else edges, chosen, say)


def sample(edges: int, quick: bool, say: Say) -> Outcome:
    """The cells in which the default effort has the hardest time, on larger graphs."""
    hardest: list[Options] = [(KEEPS[0], BETAS[1], entropy) for entropy in ENTROPIES]
    pairs = product(("preferential", "grid"), ("Pareto 1.5", "lognormal 2"))
    return _cells(40_000 if quick else edges, [(pair, hardest) for pair in pairs], say)


def _cell(job: tuple[tuple[str, str], Options, int]) -> Cell:
    (family, kind), (keep, beta, entropy), edges = job
    graph = graph_of(family, kind, edges)
    objective, k = Objective(graph, beta, 0.0, entropy), round(keep * graph.n_edges)
    found = {effort: timed(partial(solve, objective, k, effort=effort)) for effort in ("normal", "best")}
    normal, best = found["normal"].result, found["best"].result
    gap = 100 * (normal.objective - best.objective) / abs(best.objective)
    name = f"{family}, {kind}, keep {keep:g}, beta {beta:g}, {entropy}"
    values = {"J": normal.objective, "best J": best.objective, "gap %": gap}
    values |= {f"{effort}, CPU s": run.cpu for effort, run in found.items()} | {"status": str(normal.status)}
    return Cell(name, graph.n_nodes, graph.n_edges, values)


def _cells(edges: int, chosen: Iterable[tuple[tuple[str, str], Sequence[Options]]], say: Say) -> Outcome:
    outcome = Outcome(notes=["Each search has one thread; as many run beside one another as there are cores."])
    for cell in on_all_cores(_cell, [(pair, one, edges) for pair, options in chosen for one in options]):
        outcome.cells.append(cell)
        seconds = " and ".join(f"{cell.values[f'{effort}, CPU s']:.2f}" for effort in ("normal", "best"))
        say(f"{cell.case}: {cell.values['gap %']:+.3f} %, CPU {seconds} s; {cell.values['status']}")
    gaps = [float(cell.values["gap %"]) for cell in outcome.cells]
    outcome.checks = [
        Check("largest gap between the default effort and the best", max(gaps), GOAL, "%"),
        Check("median gap", float(np.median(gaps)), GOAL / 5, "%"),
    ]
    return outcome
