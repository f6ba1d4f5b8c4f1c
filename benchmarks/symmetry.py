"""How much J depends on the names of nodes and the order of edges, on symmetric graphs above all."""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np

import graphpri
from clock import timed
from outcome import Cell, Check, Outcome
from quality import Say

RELABELLINGS = 20
LIMIT = 0.1


def _cells() -> list[tuple[str, nx.Graph, int | None, float]]:
    torus, large = (nx.grid_2d_graph(*shape, periodic=True) for shape in ((5, 6), (8, 8)))
    rings = [nx.disjoint_union_all([nx.cycle_graph(n) for n in sizes]) for sizes in ((8, 8, 8), (5, 7, 9))]
    cubes = {n: nx.hypercube_graph(n) for n in (4, 5, 6)}
    return [
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


def symmetry(quick: bool, say: Say) -> Outcome:
    """Spread of J over relabellings of the nodes and orders of the edges, with default settings."""
    outcome = Outcome(
        notes=[f"{RELABELLINGS} relabellings with edges in another order; spread is largest over smallest J."]
    )
    for name, graph, k, beta in _cells():
        given = graphpri.as_graph(nx.convert_node_labels_to_integers(graph))
        found: list[float] = []
        seconds: list[float] = []
        for seed in range(4 if quick else RELABELLINGS):
            rng = np.random.default_rng(seed)
            names, order = rng.permutation(given.n_nodes), rng.permutation(given.n_edges)
            other = graphpri.Graph.from_edges(
                names[given.source[order]], names[given.target[order]], given.weights[order]
            )
            run = timed(partial(graphpri.sparsify, other, keep=k, beta=beta))
            found.append(run.result.objective)
            seconds.append(run.cpu)
        spread = 100 * (max(found) / min(found) - 1)
        values = {"K": k or "free", "lowest J": min(found), "spread %": spread, "CPU s": float(np.mean(seconds))}
        outcome.cells.append(Cell(f"{name}, beta={beta:g}", given.n_nodes, given.n_edges, values))
        outcome.checks.append(Check(f"{name}, K {k or 'free'}, beta {beta:g}: spread of J", spread, LIMIT, "%"))
        say(f"{outcome.cells[-1].case}: spread {spread:.3f} %, {values['CPU s']:.2f} s of CPU")
    return outcome
