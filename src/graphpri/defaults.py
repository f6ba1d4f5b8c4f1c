"""Defaults chosen from measurements; `benchmarks/defaults.py` repeats them."""

from __future__ import annotations

import numpy as np

from graphpri.graph import Graph

DEFAULT_BETA = 4.0
EXACT_NODES = 500
"""Largest component, in nodes, for which entropy="auto" takes the exact entropy."""
LOCAL_EDGES = 20_000_000
"""Number of edges up to which entropy="auto" takes the local entropy otherwise; some ten seconds' work."""


def entropy_for(graph: Graph, entropy: str = "auto") -> str:
    """Name of the entropy that "auto" means for a graph: exact, local or degree, by size."""
    if entropy != "auto":
        return entropy
    if graph.n_nodes <= EXACT_NODES or int(np.bincount(graph.components()[1]).max()) <= EXACT_NODES:
        return "exact"
    return "local" if graph.n_edges <= LOCAL_EDGES else "degree"
