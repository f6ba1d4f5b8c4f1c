"""Size, degrees, clustering, communities, distances and centralities of a graph, and what is left of the original's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from graphpri._entropy import scaled
from graphpri._runtime import single_thread
from graphpri._selection import settle
from graphpri.baselines import networkit, one_thread, to_networkit, triangle_counts
from graphpri.errors import MissingExtraError
from graphpri.graph import FloatArray
from graphpri.measures.registry import Cost, View, measure, per_view


def rank_correlation(view: View, before: NDArray[Any], after: NDArray[Any]) -> float:
    """Spearman correlation over the nodes with an edge in the original; NaN where all nodes are alike in one of them.

    Parameters
    ----------
    view : View
    before, after : ndarray, shape (N,)
        A property of each node in the original and in the kept graph.
    """
    from scipy.stats import rankdata  # half a second, which those who ask for other measures need not wait

    x, y = (rankdata(values[view.active]) for values in (before, after))
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt(float(x @ x) * float(y @ y))
    if size == 0:
        view.note("a rank correlation is not defined (n/a) where all nodes are alike")
        return np.nan
    return float(x @ y / size)


_SIZE, _DEGREES = "size and connectivity", "degrees"


@measure("edges", "number of edges", group=_SIZE, core=True, both=True)
def edges(view: View) -> float:
    return view.graph.n_edges


@measure("new_edges", "edges that the original doesn't have", group=_SIZE, better="low")
def new_edges(view: View) -> float:
    return int(np.count_nonzero(view.overlay.original == 0))


@measure("weight_share", "share of the original's weight on the edges kept", group=_SIZE, core=True, better="high")
def weight_share(view: View) -> float:
    w = scaled(view.overlay.original)
    return float(w[view.overlay.kept > 0].sum() / w.sum())


@measure("weight_ratio", "total weight over the original's", group=_SIZE)
def weight_ratio(view: View) -> float:
    kept, original = view.graph.weights, view.origin.graph.weights
    # Both maxima are taken out, so that sums of 1e300 don't overflow.
    ratio = float(scaled(kept).sum() / scaled(original).sum())
    with np.errstate(over="ignore"):
        return float(ratio * (kept.max() / original.max()))


@measure("components", "connected components", group=_SIZE, core=True, both=True, better="low")
def components(view: View) -> float:
    return view.components[0]


@measure("isolated", "nodes without an edge", group=_SIZE, core=True, both=True, better="low")
def isolated(view: View) -> float:
    return int(np.count_nonzero(view.degrees == 0))


@measure("cut_off", "nodes that lost all their edges", group=_SIZE, core=True, better="low")
def cut_off(view: View) -> float:
    return int(np.count_nonzero(view.active & (view.degrees == 0)))


@measure("largest_component", "share of nodes in the largest component", group=_SIZE, both=True, better="high")
def largest_component(view: View) -> float:
    return float(np.bincount(view.components[1]).max() / view.graph.n_nodes)


@measure("connected_pairs", "share of the original's connected pairs still connected", group=_SIZE, better="high")
def connected_pairs(view: View) -> float:
    before, after = view.origin.components[1], view.components[1]
    both = np.unique(before.astype(np.int64) * view.graph.n_nodes + after, return_counts=True)[1]
    return _pairs_within(both) / _pairs_within(np.bincount(before))


def _pairs_within(sizes: np.ndarray) -> float:
    counts = sizes.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


@measure("centralisation", "degree centralisation C_D, unweighted (1 for a star)", group=_DEGREES, core=True, both=True)
def centralisation(view: View) -> float:
    # L. C. Freeman, Centrality in social networks, Social Networks 1, 1979.
    n, degrees = view.graph.n_nodes, view.degrees
    return float((degrees.max() - degrees).sum() / ((n - 1) * (n - 2))) if n > 2 else 0.0


@measure("degree_ks", "Kolmogorov–Smirnov distance of the degrees", group=_DEGREES, better="low")
def degree_ks(view: View) -> float:
    return _ks(view.origin.degrees[view.active], view.degrees[view.active])


@measure("degree_shape_ks", "Kolmogorov–Smirnov distance of the degrees over their mean", group=_DEGREES, better="low")
def degree_shape_ks(view: View) -> float:
    before, after = view.origin.degrees[view.active], view.degrees[view.active]
    return _ks(before / before.mean(), after / after.mean())


def _ks(before: np.ndarray, after: np.ndarray) -> float:
    from scipy.stats import ks_2samp

    return float(ks_2samp(before, after, method="asymp").statistic)


@measure("degree_rank", "Spearman correlation of the degrees", group=_DEGREES, better="high")
def degree_rank(view: View) -> float:
    return rank_correlation(view, view.origin.degrees, view.degrees)


_CLUSTERING, _COMMUNITIES = "clustering", "communities"
_TRIANGLES = Cost("M·√M", lambda g: g.n_edges**1.5, 1e10)
_LOUVAIN = Cost("M", lambda g: g.n_edges, 5e6, needs="networkit")


@per_view
def _closed(view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of neighbours of each node that are joined, and all pairs."""
    d = view.degrees.astype(np.float64)
    return view.graph.strengths(triangle_counts(view.graph)) / 2, d * (d - 1) / 2


@measure("transitivity", "share of paths of two edges that close", group=_CLUSTERING, both=True, affordable=_TRIANGLES)
def transitivity(view: View) -> float:
    closed, pairs = _closed(view)
    return float(closed.sum() / max(1.0, pairs.sum()))


@measure("clustering", "mean local clustering coefficient", group=_CLUSTERING, both=True, affordable=_TRIANGLES)
def clustering(view: View) -> float:
    # D. J. Watts, S. H. Strogatz, Collective dynamics of "small-world" networks, Nature 393, 1998.
    closed, pairs = _closed(view)
    return float((closed / np.maximum(pairs, 1.0)).mean())


@per_view
def communities(view: View) -> NDArray[np.int64]:
    """Community of each node by the sequential Louvain method of NetworKit, weights included, shape (N,).

    It takes nodes in canonical order and draws nothing, so that the same graph has the same communities.
    V. D. Blondel et al., Fast unfolding of communities in large networks, J. Stat. Mech. P10008 (2008).
    """
    nk, graph = networkit("finding communities"), view.graph
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    with one_thread(nk):
        g = nk.GraphFromCoo((np.array(scaled(graph.weights)), ends), n=graph.n_nodes, weighted=True)
        found = nk.community.PLM(g, par="none").run().getPartition()
        return np.asarray(found.getVector(), np.int64)


@per_view
def communities_for_pictures(view: View) -> NDArray[np.int64]:
    """Communities as above; by the Louvain method of networkx, slower and with others, where NetworKit is missing."""
    try:
        return communities(view)
    except MissingExtraError:
        import networkx as nx

        graph = view.graph
        g: Any = nx.Graph()
        g.add_nodes_from(range(graph.n_nodes))
        g.add_weighted_edges_from(
            zip(graph.source.tolist(), graph.target.tolist(), scaled(graph.weights).tolist(), strict=True)
        )
        member = np.empty(graph.n_nodes, np.int64)
        for i, nodes in enumerate(nx.community.louvain_communities(g, seed=0)):
            member[list(nodes)] = i
        return member


@measure(
    "modularity",
    "modularity of the original's communities",
    group=_COMMUNITIES,
    both=True,
    affordable=_LOUVAIN,
)
def modularity(view: View) -> float:
    member, graph = communities(view.origin), view.graph
    w = scaled(graph.weights)
    # The weight within communities, less what strengths alone lead to expect: M. E. J. Newman, Physical Review E 70,
    # 056131, 2004.
    within = float(w[member[graph.source] == member[graph.target]].sum())
    strengths = np.bincount(member, graph.strengths(w))
    return within / float(w.sum()) - float(((strengths / (2 * w.sum())) ** 2).sum())


@measure(
    "community_ari",
    "adjusted Rand index of both graphs' communities",
    group=_COMMUNITIES,
    better="high",
    affordable=_LOUVAIN,
)
def community_ari(view: View) -> float:
    # Agreement beyond chance, pairs counted: L. Hubert, P. Arabie, Journal of Classification 2, 1985.
    joint, rows, columns = _contingency(view)
    together = _pairs_within(joint)
    mean = _pairs_within(rows) * _pairs_within(columns) / max(1.0, _pairs_within(np.array([rows.sum()])))
    most = (_pairs_within(rows) + _pairs_within(columns)) / 2
    return 1.0 if most == mean else (together - mean) / (most - mean)


@measure(
    "community_nmi",
    "normalised mutual information of both graphs' communities",
    group=_COMMUNITIES,
    better="high",
    affordable=_LOUVAIN,
)
def community_nmi(view: View) -> float:
    # Over the mean of the two entropies: L. Danon et al., Journal of Statistical Mechanics P09008, 2005.
    joint, rows, columns = (_shannon(counts) for counts in _contingency(view))
    return 1.0 if rows + columns == 0 else max(0.0, 2 * (rows + columns - joint) / (rows + columns))


def _contingency(view: View) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nodes in each pair of communities, and in each community of the original and of the kept graph."""
    before, after = (communities(v)[view.active] for v in (view.origin, view))
    pairs = before * (int(after.max()) + 1) + after
    joint, rows, columns = (np.unique(labels, return_counts=True)[1] for labels in (pairs, before, after))
    return joint, rows, columns


def _shannon(counts: NDArray[np.int64]) -> float:
    p = counts / counts.sum()
    return -float((p * np.log(p)).sum())


_DISTANCES = "distances"
_SEARCHES = Cost("N + M", lambda g: g.n_nodes + g.n_edges, 5e6, needs="networkit")
"""Some hundred searches of the graph."""
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
    nk = networkit("measuring distances")
    origins = sources(view.origin)
    out = np.empty((origins.size, view.graph.n_nodes), np.int32)
    with one_thread(nk):
        g = to_networkit(view.graph)
        for row, s in enumerate(origins.tolist()):
            d = np.asarray(nk.distance.BFS(g, s, storePaths=False).run().getDistances(asarray=True))
            out[row] = np.where(d < view.graph.n_nodes, d, -1)
    return out


@measure(
    "effective_diameter",
    "hops within which 90 % of connected pairs lie",
    group=_DISTANCES,
    both=True,
    affordable=_SEARCHES,
)
def effective_diameter(view: View) -> float:
    d = hops(view)
    counts = np.cumsum(np.bincount(d[d > 0]))
    return int(np.searchsorted(counts, SHARE * counts[-1])) if counts.size else np.nan


@measure(
    "mean_distance",
    "mean hops between connected pairs",
    group=_DISTANCES,
    both=True,
    affordable=_SEARCHES,
)
def mean_distance(view: View) -> float:
    d = hops(view)
    return float(d[d > 0].mean()) if (d > 0).any() else np.nan


@measure(
    "stretch",
    "mean ratio of hops to those in the original, over pairs still connected",
    group=_DISTANCES,
    better="low",
    affordable=_SEARCHES,
)
def stretch(view: View) -> float:
    before, after = hops(view.origin), hops(view)
    still = (before > 0) & (after > 0)
    return float((after[still] / before[still]).mean()) if still.any() else np.nan


_CENTRALITIES = "centralities, Spearman correlation"
_ITERATIONS = Cost("N + M", lambda g: g.n_nodes + g.n_edges, 5e6)
"""Some hundred passes over the graph."""
_BRANDES = Cost("N·M", lambda g: g.n_nodes * g.n_edges, 3e7, needs="networkit")
_DENSE = 400
_DAMPING, _STEPS, _TOLERANCE = 0.85, 300, 1e-13


@per_view
def betweenness(view: View) -> FloatArray:
    """Share of the shortest paths (in hops) through each node; U. Brandes, J. Math. Sociol. 25(2), 2001."""
    nk = networkit("measuring betweenness")
    with one_thread(nk):
        return settle(np.asarray(nk.centrality.Betweenness(to_networkit(view.graph)).run().scores()))


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
    strengths = view.graph.strengths(w)
    dangling = strengths < 1e-300
    share = np.divide(1.0, strengths, out=np.zeros(n), where=~dangling)
    a = view.graph.adjacency(w)
    x = np.full(n, 1 / n)
    # Power iteration; from a node without edges one goes on anywhere.
    for _ in range(_STEPS):
        step = _DAMPING * (a @ (x * share) + x[dangling].sum() / n) + (1 - _DAMPING) / n
        change, x = float(np.abs(step - x).sum()), step
        if change < _TOLERANCE:
            break
    return settle(x)


@measure(
    "betweenness_rank",
    "betweenness, in hops",
    group=_CENTRALITIES,
    better="high",
    affordable=_BRANDES,
)
def betweenness_rank(view: View) -> float:
    return rank_correlation(view, betweenness(view.origin), betweenness(view))


@measure(
    "closeness_rank",
    "harmonic closeness, in hops",
    group=_CENTRALITIES,
    better="high",
    affordable=_SEARCHES,
)
def closeness_rank(view: View) -> float:
    return rank_correlation(view, closeness(view.origin), closeness(view))


@measure(
    "eigenvector_rank", "eigenvector centrality, weighted", group=_CENTRALITIES, better="high", affordable=_ITERATIONS
)
def eigenvector_rank(view: View) -> float:
    before, after = eigenvector(view.origin), eigenvector(view)
    if np.isnan(before).any() or np.isnan(after).any():
        view.note("eigenvector_rank is n/a: the leading eigenvector did not settle")
        return np.nan
    return rank_correlation(view, before, after)


@measure("pagerank_rank", "PageRank, weighted", group=_CENTRALITIES, better="high", affordable=_ITERATIONS)
def pagerank_rank(view: View) -> float:
    return rank_correlation(view, pagerank(view.origin), pagerank(view))
