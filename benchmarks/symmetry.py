"""How much J depends on the names of nodes and the order of edges, on symmetric graphs above all."""

from __future__ import annotations

from functools import cache, partial
from itertools import islice, product

import networkx as nx
import numpy as np

import graphpri
from clock import on_all_cores, timed
from outcome import Cell, Check, Outcome
from quality import Say

RELABELLINGS = 20
LIMIT = 0.1


@cache
def _cells() -> list[tuple[str, graphpri.Graph, int | None, float]]:
    torus, large = (nx.grid_2d_graph(*shape, periodic=True) for shape in ((5, 6), (8, 8)))
    rings = [nx.disjoint_union_all([nx.cycle_graph(n) for n in sizes]) for sizes in ((8, 8, 8), (5, 7, 9))]
    cubes = {n: nx.hypercube_graph(n) for n in (4, 5, 6)}
    cells = [
        ("ring of 24", nx.cycle_graph(24), 12, 4.0),
        ("ring of 24", nx.cycle_graph(24), 12, 1.0),
        ("torus 5 × 6", torus, 18, 4.0),
        ("torus 5 × 6", torus, 30, 4.0),
        ("torus 5 × 6", torus, 30, 1.0),
        ("torus 8 × 8", large, 64, 10.0),
        ("grid 5 × 5", nx.grid_2d_graph(5, 5), 20, 4.0),
        ("grid 5 × 5", nx.grid_2d_graph(5, 5), None, 4.0),
        ("4-cube", cubes[4], None, 4.0),
        ("4-cube", cubes[4], 16, 4.0),
        ("4-cube", cubes[4], 16, 50.0),
        ("5-cube", cubes[5], 40, 4.0),
        ("6-cube", cubes[6], 96, 4.0),
        ("complete bipartite 5, 7", nx.complete_bipartite_graph(5, 7), 14, 4.0),
        ("complete bipartite 4, 4", nx.complete_bipartite_graph(4, 4), 8, 4.0),
        ("rings of 8, 8, 8", rings[0], 12, 4.0),
        ("rings of 5, 7, 9", rings[1], 10, 2.0),
        ("weighted karate", nx.karate_club_graph(), 47, 50.0),
    ]
    plain = (nx.convert_node_labels_to_integers(graph) for _, graph, _, _ in cells)
    return [(name, graphpri.as_graph(graph), k, beta) for (name, _, k, beta), graph in zip(cells, plain, strict=True)]


def _search(job: tuple[int, int]) -> tuple[float, float]:
    """J of a cell with its nodes relabelled and its edges in another order, and CPU seconds."""
    cell, seed = job
    _, given, k, beta = _cells()[cell]
    rng = np.random.default_rng(seed)
    names, order = rng.permutation(given.n_nodes), rng.permutation(given.n_edges)
    other = graphpri.Graph.from_edges(names[given.source[order]], names[given.target[order]], given.weights[order])
    run = timed(partial(graphpri.sparsify, other, keep=k, beta=beta))
    return run.result.objective, run.cpu


def symmetry(quick: bool, say: Say) -> Outcome:
    """Spread of J over relabellings of the nodes and orders of the edges, with default settings."""
    relabellings = 4 if quick else RELABELLINGS
    outcome = Outcome(
        notes=[
            f"{relabellings} relabellings with edges in another order; spread is largest over smallest J. Each search "
            "has one thread; as many run beside one another as there are cores."
        ]
    )
    searches = on_all_cores(_search, product(range(len(_cells())), range(relabellings)))
    for name, given, k, beta in _cells():
        found, seconds = zip(*islice(searches, relabellings), strict=True)
        spread = 100 * (max(found) / min(found) - 1)
        values = {"K": k or "free", "lowest J": min(found), "spread %": spread, "CPU s": float(np.mean(seconds))}
        outcome.cells.append(Cell(f"{name}, beta={beta:g}", given.n_nodes, given.n_edges, values))
        outcome.checks.append(Check(f"{name}, K {k or 'free'}, beta {beta:g}: spread of J", spread, LIMIT, "%"))
        say(f"{outcome.cells[-1].case}: spread {spread:.3f} %, {values['CPU s']:.2f} s of CPU")
    return outcome
