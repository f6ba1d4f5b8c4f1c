"""Edge covers: sets of edges that leave no node without one, where it had one."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import maximum_bipartite_matching

from graphpri.errors import OptionError, setting
from graphpri.graph import BoolArray, Graph

EXACT_NODES = 1000
"""Nodes up to which a maximum matching is looked for where the quick one may not be; a third of a second."""


class LeastCover(NamedTuple):
    """A small edge cover.

    `mask`, shape (M,), has its edges but for the protected ones; no cover has fewer than `bound` of them. It is a
    minimum where these are as many.
    """

    mask: BoolArray
    bound: int

    @property
    def is_minimum(self) -> bool:
        """Whether no cover has fewer edges."""
        return int(np.count_nonzero(self.mask)) == self.bound


def least_cover(graph: Graph, *, protect: BoolArray | None = None, forbid: BoolArray | None = None) -> LeastCover:
    """As few edges as leave one to every node that has one, beside those that are protected.

    Parameters
    ----------
    graph : Graph
    protect, forbid : ndarray of bool, shape (M,), optional
        Edges that are kept anyway, and edges that are not to be used.

    Raises
    ------
    OptionError
        Where `forbid` has all edges of a node; names it.

    Notes
    -----
    A minimum edge cover is a maximum matching and one edge for each node that it leaves out (T. Gallai, 1959). The
    matching is half of one of the bipartite double cover (Hopcroft and Karp, 1973), which gives the bound; where
    that falls short, of up to 1000 nodes, it is Edmonds's (networkx).
    """
    n, allowed = graph.n_nodes, _allowed(graph, forbid)
    open_ = _uncovered(graph, protect)
    counts = np.bincount(np.concatenate([graph.source[allowed], graph.target[allowed]]), minlength=n)
    if (alone := np.flatnonzero(open_ & (counts == 0))).size:
        raise OptionError(
            f"forbid names every edge of node {graph.label(int(alone[0]))!r}, which {setting('cover', True)} "
            "is to leave one: forbid fewer edges"
        )
    within = np.flatnonzero(allowed & open_[graph.source] & open_[graph.target])
    matched, bound = _matching(graph, within)
    most = int(open_.sum()) - bound
    if matched.size < bound and np.unique(graph.source[within]).size <= EXACT_NODES:
        matched = _maximum_matching(graph, within)
        most = int(open_.sum()) - matched.size
    mask = np.zeros(graph.n_edges, bool)
    mask[matched] = True
    open_[graph.source[matched]] = open_[graph.target[matched]] = False
    # Any edge will do for the others: the first of each.
    first = np.full(n, graph.n_edges)
    edges = np.flatnonzero(allowed)
    for ends in (graph.source, graph.target):
        np.minimum.at(first, ends[edges], edges)
    mask[first[open_]] = True
    return LeastCover(mask, most)


def cover_by(
    graph: Graph,
    place: NDArray[np.integer[Any]],
    room: int,
    least: BoolArray,
    *,
    among: BoolArray | None = None,
    protect: BoolArray | None = None,
) -> BoolArray:
    """Edges that leave one to every node, the best that fit: each node's best where there is room for all of these.

    Where there is not, edges that are the best of a node with another one go, the worst first, and if these still are
    too many, the cover is `least`.

    Parameters
    ----------
    graph : Graph
    place : ndarray of int, shape (M,)
        Rank of each edge, all different, the best lowest.
    room : int
        Most edges, those of `protect` not counted.
    least : ndarray of bool, shape (M,)
        Of :func:`least_cover`.
    among : ndarray of bool, shape (M,), optional
        Edges to choose from, which cover all nodes.
    protect : ndarray of bool, shape (M,), optional
        Edges that are kept anyway, and are not in the result.
    """
    m, open_ = graph.n_edges, _uncovered(graph, protect)
    edges = np.arange(m) if among is None else np.flatnonzero(among)
    at = place[edges]
    best = np.full(graph.n_nodes, m)
    for ends in (graph.source, graph.target):
        np.minimum.at(best, ends[edges], at)
    edge_at = np.empty(m, np.int64)
    edge_at[place] = np.arange(m)
    chosen = edge_at[np.unique(best[open_])][::-1]  # the worst first
    mask = np.zeros(m, bool)
    mask[chosen] = True
    if chosen.size <= room:
        return mask
    others = (graph.strengths(mask.astype(np.float64)) + ~open_).astype(np.int64).tolist()
    left = chosen.size
    for e, u, v in zip(chosen.tolist(), graph.source[chosen].tolist(), graph.target[chosen].tolist(), strict=True):
        if left == room:
            return mask
        if others[u] > 1 and others[v] > 1:
            others[u] -= 1
            others[v] -= 1
            mask[e] = False
            left -= 1
    return mask if left <= room else least.copy()


def _allowed(graph: Graph, forbid: BoolArray | None) -> BoolArray:
    return np.ones(graph.n_edges, bool) if forbid is None else ~forbid


def _uncovered(graph: Graph, protect: BoolArray | None) -> BoolArray:
    """Nodes that have edges and none among the protected ones, shape (N,)."""
    open_ = graph.degrees() > 0
    if protect is not None:
        open_[graph.source[protect]] = open_[graph.target[protect]] = False
    return open_


def _matching(graph: Graph, edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """A matching among some edges, and how many edges none exceeds.

    A matching of the bipartite double cover is paths and cycles over the nodes; every other edge of each is taken, and
    only odd cycles lose half an edge by that.
    """
    n = graph.n_nodes
    u, v = graph.source[edges].astype(np.int64), graph.target[edges].astype(np.int64)
    ends = np.concatenate([u, v]), np.concatenate([v, u])
    number = sp.csr_array((np.tile(np.arange(1, edges.size + 1), 2), ends), shape=(n, n))
    onward = cast("NDArray[Any]", maximum_bipartite_matching(number, perm_type="column")).astype(np.int64)
    tails = np.flatnonzero(onward >= 0)
    by = np.full(n, -1)
    if tails.size:
        by[tails] = edges[np.asarray(number[tails, onward[tails]]).ravel() - 1]
    heads = np.zeros(n, bool)
    heads[onward[tails]] = True
    goes, edge = onward.tolist(), by.tolist()
    free, taken = [True] * n, list[int]()
    # Paths from where they begin, then cycles from any node of theirs.
    for node in [*np.flatnonzero((onward >= 0) & ~heads).tolist(), *tails.tolist()]:
        at = node
        while at >= 0 and free[at]:
            to = goes[at]
            free[at] = False
            if to < 0 or not free[to]:
                break
            free[to] = False
            taken.append(edge[at])
            at = goes[to]
    return np.array(taken, np.int64), tails.size // 2


def _maximum_matching(graph: Graph, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    import networkx as nx

    u, v = graph.source[edges].tolist(), graph.target[edges].tolist()
    numbers = dict(zip(zip(u, v, strict=True), edges.tolist(), strict=True))
    found: Any = nx.max_weight_matching(nx.Graph(list(numbers)), maxcardinality=True)
    return np.array(sorted(numbers[pair] if pair in numbers else numbers[pair[::-1]] for pair in found), np.int64)
