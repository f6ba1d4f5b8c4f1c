"""Figures "spectral distance" and "centrality": Graph-PRI beside the paper's other methods at equal budgets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from graphpri.baselines import run
from graphpri.budget import count_edges, select_top
from graphpri.graph import Graph
from graphpri.measures import MEASURES, Settings, View
from graphpri.objective import Objective
from graphpri.solvers.gumbel import Gumbel
from graphpri.solvers.reweight import reweighted
from graphpri.sparsify import sparsify
from graphpri.studies.graphs import ALPHA, PAPER, load
from graphpri.studies.sparsifiers_pictures import draw_centrality, draw_distance
from graphpri.studies.sparsifiers_verdicts import judge_centrality, judge_distance
from graphpri.studies.study import Cell, Facts, Frames, Picture, Study, Tables, Verdict, generator

BASELINES = ("random", "local-degree", "local-similarity", "effective-resistance", "effective-resistance-sampling")
NEED = ("madrid", "polbooks", "jazz")
_KEEPS = tuple(round(i / 10, 1) for i in range(1, 10))
_BETAS = (0, 1, 2, 5, 10, 50)
_GUMBEL_EXACT = 100
"""Nodes up to which Algorithm 1 takes the exact entropy; the local one above takes a tenth of the time."""
_THOROUGH = 100
"""Edges up to which the largest β, where D decides and the search is hardest, is searched with normal effort."""
_REWEIGHTING = 100
"""Steps of the search for new weights, which come close to its end in a fifth of the time."""
_MEASURED = {
    "d_x": "spectral_distance",
    "C_D": "centralisation",
    "S": "entropy",
    "D": "divergence",
    "components": "components",
    "cut_off": "cut_off",
}


class Kept(NamedTuple):
    """What one setting of one method kept."""

    graph: Graph
    method: str
    seed: int
    beta: float | None = None
    alpha: float | None = None
    connected: bool = False
    reweight: bool = False


def cells(quick: bool) -> list[Cell]:
    """One for each graph and keep ratio, and one for each graph and β of Algorithm 1; large graphs first."""
    graphs, keeps, betas, alphas, runs = PAPER[::-1], _KEEPS, _BETAS, (ALPHA, 0.0), 10
    relaxed, steps = (2, 10), 2500
    if quick:
        graphs, keeps, betas, alphas, runs = ("karate", "g1"), (0.4, 0.6, 0.8), (1, 50), (ALPHA,), 3
        relaxed, steps = (2,), 150
    size = {"betas": list(betas), "alphas": list(alphas), "runs": runs}
    size["thorough"] = 0 if quick else _THOROUGH
    solver = {"keeps": list(keeps), "steps": steps, "runs": 1 if quick else 2}
    found: list[Cell] = []
    for graph in graphs:
        found += [{"graph": graph, "gumbel": beta, **solver} for beta in relaxed]
        found += [{"graph": graph, "keep": keep, **size} for keep in keeps]
    return found


def work(cell: Cell, seed: int) -> Tables:
    """Sparsify a graph by every method, and measure what each kept."""
    graph = load(cell["graph"])
    origin = View(graph, Settings(4.0, 0.0, "exact", "equation", "nats", 0))
    kept = _by_gumbel(graph, cell, seed) if "gumbel" in cell else _by_all(graph, cell, seed)
    return {"sparsifiers": [_row(cell["graph"], keep, found, origin) for keep, found in kept]}


def _row(name: str, keep: float, found: Kept, origin: View) -> dict[str, Any]:
    view = View(found.graph, origin.settings, origin)
    setting = {**found._asdict(), "graph": name, "keep": keep, "K": found.graph.n_edges}
    return setting | {short: MEASURES[long].compute(view) for short, long in _MEASURED.items()}


def _by_all(graph: Graph, cell: Cell, seed: int) -> Iterator[tuple[float, Kept]]:
    """Other methods with several seeds, and Graph-PRI with each setting that the budget allows."""
    keep = cell["keep"]
    k = count_edges(keep, graph.n_edges)
    seeds = generator(seed, "sparsifiers", cell["graph"], keep).integers(2**31, size=cell["runs"]).tolist()
    for method, drawn in ((method, drawn) for method in BASELINES for drawn in seeds):
        mask, scored = run(graph, method, k, np.random.default_rng(drawn))
        yield keep, Kept(graph.select(mask, scored.weights), method, drawn)
    joins = graph.n_nodes - graph.components()[0] <= k
    for alpha, beta, connected in product(cell["alphas"], cell["betas"], (False, True) if joins else (False,)):
        effort = "normal" if graph.n_edges <= cell["thorough"] and beta == max(cell["betas"]) else "fast"
        result = sparsify(graph, keep=keep, beta=beta, alpha=alpha, connected=connected, effort=effort, entropy="exact")
        named = partial(Kept, method="pri", seed=0, beta=beta, alpha=alpha, connected=connected)
        yield keep, named(result.kept)
        if alpha == ALPHA:
            weights = reweighted(Objective(graph, beta, alpha, "exact"), result.mask, _REWEIGHTING).weights
            yield keep, named(graph.select(result.mask, weights), reweight=True)


def _by_gumbel(graph: Graph, cell: Cell, seed: int) -> Iterator[tuple[float, Kept]]:
    """The K most probable edges of Algorithm 1, run once for all budgets."""
    beta, solver = cell["gumbel"], Gumbel(steps=cell["steps"])
    entropy = "exact" if graph.n_nodes <= _GUMBEL_EXACT else "local"
    objective = Objective(graph, beta, ALPHA, entropy)
    seeds = generator(seed, "sparsifiers", cell["graph"], "gumbel", beta).integers(2**31, size=cell["runs"])
    for drawn in seeds.tolist():
        chances = solver.solve(objective, None, seed=drawn).probabilities
        scores = np.zeros(graph.n_edges) if chances is None else chances
        for keep in cell["keeps"]:
            k = count_edges(keep, graph.n_edges)
            mask = select_top(graph, scores, k, np.random.default_rng(drawn))
            yield keep, Kept(graph.select(mask), "gumbel", drawn, beta, ALPHA)


def _judge_centrality(frames: Frames, facts: Facts) -> list[Verdict]:
    return judge_centrality(_own_weights(frames), facts)


def _draw_centrality(frames: Frames) -> list[Picture]:
    return draw_centrality(_own_weights(frames))


def _own_weights(frames: Frames) -> Frames:
    """The rows without new weights, which degrees don't look at."""
    table = frames["sparsifiers"]
    return {"sparsifiers": table[~table["reweight"]]}


_ABOUT = (
    "The paper's six graphs at 10 to 90 % of their edges: random sampling, local degree, local similarity, effective "
    "resistance (highest, and sampled with weights), Graph-PRI at several β and α, with and without connectivity{}, "
    "and the most probable edges of Algorithm 1 (two seeds, β = 2 and 10, the paper's α; on the local entropy for more "
    "than a hundred nodes)."
)

STUDIES = (
    Study(
        name="spectral-distance",
        title="Spectral distance of sparsified graphs",
        source="Figure spectral_distance",
        about=_ABOUT.format(" and new weights"),
        cells=cells,
        work=work,
        judge=judge_distance,
        draw=draw_distance,
        needs=NEED,
        needs_quick=(),
    ),
    Study(
        name="centrality",
        title="Centralisation of sparsified graphs",
        source="Figure centrality",
        about=_ABOUT.format(""),
        cells=cells,
        work=work,
        judge=_judge_centrality,
        draw=_draw_centrality,
        shares="spectral-distance",
        needs=NEED,
        needs_quick=(),
    ),
)
