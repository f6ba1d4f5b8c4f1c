"""Subsets around one place of the graph, to start from where the entropy rules and hubs are what counts."""

from __future__ import annotations

import numpy as np

from graphpri.budget import take_top
from graphpri.graph import BoolArray
from graphpri.solvers.search import Search

WALK_LENGTHS = (2, 6)
MOST_PLACES = 32


def around_nodes(search: Search, k: int) -> list[BoolArray]:
    """Subsets of `k` edges that short lazy random walks from one node visit most.

    Up to 32 nodes, spread evenly over the order of degrees, times the lengths of the walk.
    """
    graph, c = search.landscape.graph, search.constraints
    degrees = graph.strengths()
    order = np.lexsort((np.arange(graph.n_nodes), -degrees))
    order = order[degrees[order] > 0]
    seeds = order[np.unique(np.linspace(0, order.size - 1, min(MOST_PLACES, order.size)).astype(np.int64))]
    walk = np.zeros((graph.n_nodes, seeds.size))
    walk[seeds, np.arange(seeds.size)] = 1.0
    adjacency = graph.adjacency(search.landscape.mu)
    divisor = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1e-300)[:, None]
    subsets: list[BoolArray] = []
    for step in range(1, max(WALK_LENGTHS) + 1):
        walk = 0.5 * walk + 0.5 * (adjacency @ (walk / divisor))
        if step in WALK_LENGTHS:
            visits = walk[graph.source] * walk[graph.target]
            ranks = np.argsort(-visits, axis=0, kind="stable").T
            subsets += [
                take_top(graph, rank, k, connected=c.connected, protect=c.protect, forbid=c.forbid) for rank in ranks
            ]
    return subsets
