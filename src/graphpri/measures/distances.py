"""Distances in hops, from all nodes or from a sample of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.measures.registry import Cost, View, measure, per_view
from graphpri.scores import to_networkit

_GROUP = "distances"
SEARCHES = Cost("N + M", lambda g: g.n_nodes + g.n_edges, 5e6)
"""Some hundred passes over the graph."""
ALL_STEPS = 3e7
"""Distances are taken from all nodes where N·(N + M) is at most this, and from a sample of nodes otherwise."""
_SAMPLE = 256
_ENTRIES = 2e7
SHARE = 0.9
"""Share of the connected pairs within the effective diameter."""


@per_view
def sources(origin: View) -> NDArray[np.int64]:
    """Nodes of the original graph that distances are taken from: those with an edge, or a seeded sample of them."""
    nodes = np.flatnonzero(origin.active)
    n, work = origin.graph.n_nodes, origin.graph.n_nodes + origin.graph.n_edges
    if nodes.size * work <= ALL_STEPS:
        return nodes
    size = int(np.clip(min(2 * ALL_STEPS / work, _ENTRIES / n), 16, _SAMPLE))
    if size >= nodes.size:
        return nodes
    origin.note(f"distances are from {size} nodes drawn at random (seed {origin.settings.seed})")
    return np.sort(np.random.default_rng(origin.settings.seed).choice(nodes, size, replace=False))


@per_view
def hops(view: View) -> NDArray[np.int32]:
    """Edges on a shortest path from each source to each node, −1 where there is none, shape (sources, N)."""
    import networkit as nk

    kit: Any = cast("Any", nk)
    g = to_networkit(view.graph)
    origins = sources(view.origin)
    out = np.empty((origins.size, view.graph.n_nodes), np.int32)
    for row, s in enumerate(origins.tolist()):
        d = np.asarray(kit.distance.BFS(g, s, storePaths=False).run().getDistances(asarray=True))
        out[row] = np.where(d < view.graph.n_nodes, d, -1)
    return out


@measure(
    "effective_diameter",
    "hops within which 90 % of connected pairs lie",
    group=_GROUP,
    both=True,
    affordable=SEARCHES,
)
def effective_diameter(view: View) -> float:
    d = hops(view)
    counts = np.cumsum(np.bincount(d[d > 0]))
    return int(np.searchsorted(counts, SHARE * counts[-1])) if counts.size else np.nan


@measure("mean_distance", "mean hops between connected pairs", group=_GROUP, both=True, affordable=SEARCHES)
def mean_distance(view: View) -> float:
    d = hops(view)
    return float(d[d > 0].mean()) if (d > 0).any() else np.nan


@measure(
    "stretch",
    "mean ratio of hops to those in the original, over pairs still connected",
    group=_GROUP,
    better="low",
    affordable=SEARCHES,
)
def stretch(view: View) -> float:
    before, after = hops(view.origin), hops(view)
    still = (before > 0) & (after > 0)
    return float((after[still] / before[still]).mean()) if still.any() else np.nan
