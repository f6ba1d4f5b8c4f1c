"""Bridges of a subset of edges and the cuts that they are alone in."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from graphpri.graph import BoolArray, Graph

_SEED = 20220606


class Bridges:
    """Bridges of the kept edges of a graph, and which edges would reconnect the two sides of one.

    A spanning forest is walked in preorder, so that the nodes below a tree edge are an interval. Every edge
    off the forest carries a random number, with opposite signs at its ends: a tree edge is a bridge exactly
    if the numbers below it cancel (up to a collision of 64-bit sums).

    Parameters
    ----------
    graph : Graph
    mask : ndarray of bool, shape (M,)
        Kept edges.
    """

    def __init__(self, graph: Graph, mask: BoolArray) -> None:
        n = graph.n_nodes
        self._source, self._target = graph.source, graph.target
        kept = np.flatnonzero(mask)
        u, v = graph.source[kept], graph.target[kept]
        _, member = connected_components(sp.coo_array((np.ones(kept.size), (u, v)), shape=(n, n)), directed=False)
        roots = np.unique(member, return_index=True)[1]
        # A virtual node n joined to one node of each component makes one tree of the forest.
        rows, columns = np.concatenate([u, np.full(roots.size, n)]), np.concatenate([v, roots])
        links = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(n + 1, n + 1))
        order, parent = breadth_first_order(links, n, directed=False)
        down = np.zeros(n + 1, np.uint64)
        low, high = np.minimum(u, v), np.maximum(u, v)
        on_tree = (parent[low] == high) | (parent[high] == low)
        numbers = np.random.default_rng(_SEED).integers(1, 2**64 - 1, kept.size, np.uint64)
        off = ~on_tree
        np.add.at(down, u[off], numbers[off])
        np.subtract.at(down, v[off], numbers[off])
        self._first, self._size, below = _preorder(order.tolist(), parent.tolist(), down.tolist())
        child = np.where(parent[v] == u, v, u)
        self._child = np.full(graph.n_edges, -1, np.int64)
        self._child[kept[on_tree]] = child[on_tree]
        self.is_bridge: BoolArray = np.zeros(graph.n_edges, bool)
        self.is_bridge[kept[on_tree]] = below[child[on_tree]] == 0

    def reconnects(self, bridge: int, edges: NDArray[np.int64]) -> BoolArray:
        """Which of the edges join the two sides that the loss of a bridge would leave."""
        node = self._child[bridge]
        first, last = self._first[node], self._first[node] + self._size[node]
        at_u, at_v = self._first[self._source[edges]], self._first[self._target[edges]]
        return ((at_u >= first) & (at_u < last)) != ((at_v >= first) & (at_v < last))


def _preorder(
    order: list[int], parent: list[int], down: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Preorder number, subtree size and subtree sum (mod 2⁶⁴) of each node, from a breadth-first order."""
    size = [1] * len(order)
    for node in reversed(order[1:]):
        up = parent[node]
        size[up] += size[node]
        down[up] += down[node]
    first = [0] * len(order)
    free = [1] * len(order)
    for node in order[1:]:
        up = parent[node]
        first[node] = first[up] + free[up]
        free[up] += size[node]
    wrapped = np.array([x & 0xFFFFFFFFFFFFFFFF for x in down], np.uint64)
    return np.array(first), np.array(size), wrapped
