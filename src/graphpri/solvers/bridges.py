"""Bridges of a subset of edges and the cuts that they are alone in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import BoolArray, Graph


class BridgeFinder:
    """Adjacency of a graph, kept for finding the bridges of many subsets of its edges."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._adjacent: list[list[tuple[int, int]]] = [[] for _ in range(graph.n_nodes)]
        for edge, (u, v) in enumerate(zip(graph.source.tolist(), graph.target.tolist(), strict=True)):
            self._adjacent[u].append((v, edge))
            self._adjacent[v].append((u, edge))

    def find(self, mask: BoolArray) -> Bridges:
        """The bridges of a subset, by one depth-first search (Tarjan 1974)."""
        kept = mask.tolist()
        n = self._graph.n_nodes
        first, low, last, child = [-1] * n, [0] * n, [0] * n, [-1] * len(kept)
        bridge = np.zeros(len(kept), bool)
        clock = 0
        for root in range(n):
            if first[root] >= 0:
                continue
            first[root] = low[root] = clock
            clock += 1
            stack = [(root, -1, iter(self._adjacent[root]))]
            while stack:
                node, via, neighbours = stack[-1]
                for other, edge in neighbours:
                    if edge == via or not kept[edge]:
                        continue
                    if first[other] < 0:
                        first[other] = low[other] = clock
                        clock += 1
                        child[edge] = other
                        stack.append((other, edge, iter(self._adjacent[other])))
                        break
                    if first[other] < low[node]:
                        low[node] = first[other]
                else:
                    stack.pop()
                    last[node] = clock
                    if stack:
                        parent = stack[-1][0]
                        if low[node] < low[parent]:
                            low[parent] = low[node]
                        if low[node] > first[parent]:
                            bridge[via] = True
        return Bridges(self._graph, bridge, np.array(first), np.array(last), np.array(child, np.int64))


class Bridges:
    """Which kept edges are bridges, and which edges would reconnect the two sides of one.

    Attributes
    ----------
    is_bridge : ndarray of bool, shape (M,)
        Kept edges whose loss would split a component.
    """

    def __init__(
        self,
        graph: Graph,
        is_bridge: BoolArray,
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        child: NDArray[np.int64],
    ) -> None:
        self.is_bridge = is_bridge
        self._source, self._target = graph.source, graph.target
        # The nodes below a tree edge are an interval of the order of first visits.
        self._first, self._last, self._child = first, last, child

    def reconnects(self, bridges: NDArray[np.int64], edges: NDArray[np.int64]) -> BoolArray:
        """Whether each of `edges` joins the two sides that the loss of each bridge leaves, (bridges, edges).

        Edges that lead to another component are not told apart: there are none where the subset has as
        many components as the graph.
        """
        nodes = self._child[bridges]
        low, high = self._first[nodes][:, None], self._last[nodes][:, None]
        at_u, at_v = self._first[self._source[edges]], self._first[self._target[edges]]
        return ((at_u >= low) & (at_u < high)) != ((at_v >= low) & (at_v < high))
