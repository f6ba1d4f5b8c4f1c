"""Whether central nodes stay central: rank correlations of node centralities."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from graphpri.entropy import edge_strengths, scaled
from graphpri.graph import FloatArray
from graphpri.measures.distances import SEARCHES, hops
from graphpri.measures.ranks import rank_correlation
from graphpri.measures.registry import Cost, View, measure, per_view
from graphpri.scores import settle, to_networkit
from graphpri.threads import single_thread

_GROUP = "centralities, Spearman correlation"
_BRANDES = Cost("N·M", lambda g: g.n_nodes * g.n_edges, 3e7)
_DENSE = 400
_DAMPING, _STEPS, _TOLERANCE = 0.85, 300, 1e-13


@per_view
def betweenness(view: View) -> FloatArray:
    """Share of the shortest paths (in hops) through each node; U. Brandes, J. Math. Sociol. 25(2), 2001."""
    import networkit as nk

    kit: Any = cast("Any", nk)
    threads = kit.getMaxNumberOfThreads()
    kit.setNumberOfThreads(1)  # several add up in an order that varies
    try:
        return settle(np.asarray(kit.centrality.Betweenness(to_networkit(view.graph)).run().scores()))
    finally:
        kit.setNumberOfThreads(threads)


@per_view
def closeness(view: View) -> FloatArray:
    """Harmonic closeness Σ 1/distance in hops, over the sources of :func:`hops`; defined where nodes are cut off."""
    d = hops(view)
    return settle(np.where(d > 0, 1 / np.maximum(d, 1), 0.0).sum(axis=0))


@per_view
def eigenvector(view: View) -> FloatArray:
    """Eigenvector centrality, weights included; where the largest eigenvalue repeats, the projection of the ones."""
    a, ones = view.graph.adjacency(scaled(view.graph.weights)), np.ones(view.graph.n_nodes)
    with single_thread():
        if a.shape[0] <= _DENSE:
            lam, vectors = np.linalg.eigh(a.toarray())
            top = vectors[:, lam >= lam[-1] * (1 - 1e-10)]
            x = top @ (top.T @ ones)
        else:
            x = _leading(a, ones)
    return np.round(np.abs(x) / np.abs(x).max(), 8)


def _leading(a: sp.csr_array, start: FloatArray) -> FloatArray:
    try:
        return eigsh(a, k=1, which="LA", v0=start, maxiter=5000)[1][:, 0]
    except ArpackNoConvergence:
        return np.full(start.size, np.nan)


@per_view
def pagerank(view: View) -> FloatArray:
    """PageRank with damping 0.85, weights included; L. Page et al., The PageRank citation ranking (1999)."""
    n, w = view.graph.n_nodes, scaled(view.graph.weights)
    strengths = edge_strengths(view.graph, w)
    dangling = strengths < 1e-300
    share = np.divide(1.0, strengths, out=np.zeros(n), where=~dangling)
    a = view.graph.adjacency(w)
    x = np.full(n, 1 / n)
    for _ in range(_STEPS):
        step = _DAMPING * (a @ (x * share) + x[dangling].sum() / n) + (1 - _DAMPING) / n
        change, x = float(np.abs(step - x).sum()), step
        if change < _TOLERANCE:
            break
    return settle(x)


@measure("betweenness_rank", "betweenness, in hops", group=_GROUP, better="high", affordable=_BRANDES)
def betweenness_rank(view: View) -> float:
    return rank_correlation(view, betweenness(view.origin), betweenness(view))


@measure("closeness_rank", "harmonic closeness, in hops", group=_GROUP, better="high", affordable=SEARCHES)
def closeness_rank(view: View) -> float:
    return rank_correlation(view, closeness(view.origin), closeness(view))


@measure("eigenvector_rank", "eigenvector centrality, weighted", group=_GROUP, better="high", affordable=SEARCHES)
def eigenvector_rank(view: View) -> float:
    before, after = eigenvector(view.origin), eigenvector(view)
    if np.isnan(before).any() or np.isnan(after).any():
        view.note("eigenvector_rank is n/a: the leading eigenvector did not settle")
        return np.nan
    return rank_correlation(view, before, after)


@measure("pagerank_rank", "PageRank, weighted", group=_GROUP, better="high", affordable=SEARCHES)
def pagerank_rank(view: View) -> float:
    return rank_correlation(view, pagerank(view.origin), pagerank(view))
