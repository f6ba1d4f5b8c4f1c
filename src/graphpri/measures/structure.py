"""Clustering and communities."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.entropy import edge_strengths, scaled
from graphpri.measures.registry import Cost, View, measure, per_view
from graphpri.scores import triangles

_CLUSTERING, _COMMUNITIES = "clustering", "communities"
_TRIANGLES = Cost("M·√M", lambda g: g.n_edges**1.5, 1e10)
_LOUVAIN = Cost("M", lambda g: g.n_edges, 5e6)


@per_view
def _closed(view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of neighbours of each node that are joined, and all pairs."""
    d = view.degrees.astype(np.float64)
    return edge_strengths(view.graph, triangles(view.graph)) / 2, d * (d - 1) / 2


@measure("transitivity", "share of paths of two edges that close", group=_CLUSTERING, both=True, affordable=_TRIANGLES)
def transitivity(view: View) -> float:
    closed, pairs = _closed(view)
    return float(closed.sum() / max(1.0, pairs.sum()))


@measure("clustering", "mean local clustering coefficient", group=_CLUSTERING, both=True, affordable=_TRIANGLES)
def clustering(view: View) -> float:
    closed, pairs = _closed(view)
    return float((closed / np.maximum(pairs, 1.0)).mean())


@per_view
def communities(view: View) -> NDArray[np.int64]:
    """Community of each node by the sequential Louvain method of NetworKit, weights included, shape (N,).

    It takes nodes in canonical order and draws nothing, so that the same graph has the same communities.
    V. D. Blondel et al., Fast unfolding of communities in large networks, J. Stat. Mech. P10008 (2008).
    """
    import networkit as nk

    graph, kit = view.graph, cast("Any", nk)
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    g = kit.GraphFromCoo((np.array(scaled(graph.weights)), ends), n=graph.n_nodes, weighted=True)
    found = kit.community.PLM(g, par="none").run().getPartition()
    return np.asarray(found.getVector(), np.int64)


@measure("modularity", "modularity of the original's communities", group=_COMMUNITIES, both=True, affordable=_LOUVAIN)
def modularity(view: View) -> float:
    member, graph = communities(view.origin), view.graph
    w = scaled(graph.weights)
    within = float(w[member[graph.source] == member[graph.target]].sum())
    strengths = np.bincount(member, edge_strengths(graph, w))
    return within / float(w.sum()) - float(((strengths / (2 * w.sum())) ** 2).sum())


@measure(
    "community_ari",
    "adjusted Rand index of both graphs' communities",
    group=_COMMUNITIES,
    better="high",
    affordable=_LOUVAIN,
)
def community_ari(view: View) -> float:
    joint, rows, columns = _contingency(view)
    together = _pairs(joint)
    mean = _pairs(rows) * _pairs(columns) / max(1.0, _pairs(np.array([rows.sum()])))
    most = (_pairs(rows) + _pairs(columns)) / 2
    return 1.0 if most == mean else (together - mean) / (most - mean)


@measure(
    "community_nmi",
    "normalised mutual information of both graphs' communities",
    group=_COMMUNITIES,
    better="high",
    affordable=_LOUVAIN,
)
def community_nmi(view: View) -> float:
    joint, rows, columns = (_shannon(counts) for counts in _contingency(view))
    return 1.0 if rows + columns == 0 else max(0.0, 2 * (rows + columns - joint) / (rows + columns))


def _contingency(view: View) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nodes in each pair of communities, and in each community of the original and of the kept graph."""
    before, after = (communities(v)[view.active] for v in (view.origin, view))
    pairs = before * (int(after.max()) + 1) + after
    joint, rows, columns = (np.unique(labels, return_counts=True)[1] for labels in (pairs, before, after))
    return joint, rows, columns


def _pairs(counts: NDArray[np.int64]) -> float:
    return float((counts * (counts - 1.0)).sum() / 2)


def _shannon(counts: NDArray[np.int64]) -> float:
    p = counts / counts.sum()
    return -float((p * np.log(p)).sum())
