"""How much can flow between two nodes: capacities, and the number of ways around failing edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import maximum_flow

from graphpri.entropy import edge_strengths
from graphpri.graph import FloatArray
from graphpri.measures.registry import Cost, View, measure, per_view

PAIRS = 100
_FLOWS = Cost(f"{PAIRS}·(N + M)", lambda g: PAIRS * (g.n_nodes + g.n_edges), 2e7)
_UNITS = 2.0**30
"""Of the capacity at the strongest node; the algorithm counts in 32-bit integers."""


@per_view
def pairs(origin: View) -> NDArray[np.int64]:
    """Pairs of different nodes with a path between them in the original, drawn at random, shape (PAIRS, 2)."""
    rng = np.random.default_rng(origin.settings.seed)
    member = origin.components[1]
    order = np.argsort(member, kind="stable")
    sizes = np.bincount(member)
    first = np.cumsum(sizes) - sizes
    at = rng.choice(np.flatnonzero(sizes[member[order]] > 1), PAIRS)
    size, start = sizes[member[order[at]]], first[member[order[at]]]
    other = start + (at - start + rng.integers(1, size)) % size
    return np.stack([order[at], order[other]], axis=1)


def capacities(view: View, top: float, unit: float) -> sp.csr_array:
    """Weights of the edges in both directions as integers: in units of `top`, then in `unit`."""
    graph = view.graph
    whole = np.maximum(np.rint(graph.weights / top / unit), 1).astype(np.int32)
    ends = np.concatenate([graph.source, graph.target]), np.concatenate([graph.target, graph.source])
    return sp.csr_array((np.concatenate([whole, whole]), ends), shape=(graph.n_nodes, graph.n_nodes))


def flows(view: View, top: float, unit: float) -> FloatArray:
    """Largest flow between the nodes of each pair, in `unit` of `top`; edges carry their weight."""
    matrix, member = capacities(view, top, unit), view.components[1]
    return np.array(
        [
            float(maximum_flow(matrix, s, t).flow_value) if member[s] == member[t] else 0.0
            for s, t in pairs(view.origin).tolist()
        ]
    )


@measure(
    "flow_ratio",
    f"mean ratio of the largest flow to that in the original, over {PAIRS} pairs of nodes",
    group="flows",
    better="high",
    affordable=_FLOWS,
)
def flow_ratio(view: View) -> float:
    """Edges carry up to their weight either way; where all weigh the same, a flow is a number of disjoint paths."""
    # Weights are taken by the largest first: a share of one near the smallest float would be nothing.
    top = max(float(v.graph.weights.max()) for v in (view.origin, view))
    unit = max(float(edge_strengths(v.graph, v.graph.weights / top).max()) for v in (view.origin, view)) / _UNITS
    key = "flows", top, unit
    if key not in view.origin.memory:
        view.origin.memory[key] = flows(view.origin, top, unit)
    return float((flows(view, top, unit) / view.origin.memory[key]).mean())
