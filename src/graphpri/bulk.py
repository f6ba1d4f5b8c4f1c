"""The degree and the local entropy of large graphs, in a few compiled passes over the edges.

With kept weights y, trace T = 2 Σ y and degrees d, both entropies have the form S = ln T + F/T with
F = −Σ d ln d − Σ y² Λ(d_u, d_v), the second sum for the local entropy only. Nothing here holds more than one
number an edge beside the graph, and results don't depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import FloatArray, Graph
from graphpri.threads import in_chunks

LARGE_EDGES = 5_000
"""Number of edges from which compiled loops are used: a smaller graph is done before they are loaded."""

_SHARDS = 8
"""Most pieces in which node sums are added up; each takes 8 bytes a node."""

Kept = NDArray[Any]
"""What is kept of each edge: floats from 0 to 1, or 0 and 1 in a byte."""


class Side(NamedTuple):
    """The kept graph, or its mixture with the original one: its edges weigh μ (x + κ).

    `degrees` and `logs`, their logarithms (0 where there is no edge), have shape (N,). `correction` is
    Σ y² Λ, `along` its derivative in κ with the degrees held, and `pull` its derivative in each degree,
    shape (N,); zero and empty for the degree entropy.
    """

    kappa: float
    degrees: FloatArray
    logs: FloatArray
    correction: float
    along: float
    pull: FloatArray

    @property
    def f(self) -> float:
        """F."""
        return -float(self.degrees @ self.logs) - self.correction

    def entropy(self, trace: float) -> float:
        """S in nats, for the trace T of the matrix."""
        return float(np.log(trace)) + self.f / trace


class EdgeSums:
    """Sums over the edges of one graph.

    Parameters
    ----------
    graph : Graph
    weights : ndarray of float64, shape (M,)
        Edge weights μ, the largest 1.
    """

    def __init__(self, graph: Graph, weights: FloatArray) -> None:
        self.n_nodes, self.n_edges = graph.n_nodes, graph.n_edges
        self.equal = weights.strides == (0,) or bool((weights == 1).all())
        self.ends = read_only(graph.source), read_only(graph.target), None if self.equal else read_only(weights)

    def degrees(self, x: Kept) -> FloatArray:
        """Σ μ x at each node, shape (N,)."""
        from graphpri import edge_loops

        x = read_only(x)

        def run(start: int, stop: int, out: FloatArray) -> None:
            edge_loops.sum_ends(start, stop, *self.ends, x, out)

        return self._by_node(run)[0]

    def _by_node(self, task: Any) -> tuple[FloatArray, list[Any]]:
        """Run ``task(start, stop, out)`` on a few pieces with node sums of their own; all added up, and its results."""
        shards = int(np.clip(self.n_edges // (4 * max(self.n_nodes, 1)), 1, _SHARDS))
        length = -(-self.n_edges // shards)

        def run(start: int, stop: int) -> tuple[FloatArray, Any]:
            out = np.zeros(self.n_nodes)
            return out, task(start, stop, out)

        done = in_chunks(run, self.n_edges, max(length, 1))
        total = np.zeros(self.n_nodes)
        for out, _ in done:
            total += out
        return total, [result for _, result in done]

    def side(
        self, x: Kept, kappa: float, degrees: FloatArray, *, local: bool, least: float = 0.0, pull: bool = True
    ) -> Side:
        """The graph of weights μ (x + κ), whose degrees are given.

        Parameters
        ----------
        x : ndarray, shape (M,)
        kappa : float
        degrees : ndarray of float64, shape (N,)
        local : bool
            Whether to compute the correction of the local entropy.
        least : float
            Weight below which an edge has no part in it.
        pull : bool
            Whether its derivatives are wanted as well.
        """
        logs = np.where(degrees > 0, degrees, 1.0)
        np.log(logs, out=logs)
        if not local:
            return Side(kappa, degrees, logs, 0.0, 0.0, np.empty(0))
        from graphpri import edge_loops

        x = read_only(x)

        def run(start: int, stop: int, out: FloatArray) -> tuple[float, float]:
            return edge_loops.correct(start, stop, *self.ends, x, kappa, least, degrees, logs, out)

        if pull:
            pulls, sums = self._by_node(run)
        else:
            pulls = np.empty(0)
            sums = in_chunks(lambda a, b: run(a, b, pulls), self.n_edges)
        return Side(kappa, degrees, logs, float(sum(s for s, _ in sums)), float(sum(s for _, s in sums)), pulls)

    def slopes(self, x: Kept, node: FloatArray, constant: float, own: list[tuple[Side, float]]) -> FloatArray:
        """μ (node_u + node_v + constant) of each edge, and factor · μ · 2 y Λ for each side and its factor.

        Returns
        -------
        ndarray of float64, shape (M,)
        """
        from graphpri import edge_loops

        out, x = np.empty(self.n_edges), read_only(x)

        def run(start: int, stop: int) -> None:
            edge_loops.slopes(start, stop, *self.ends, node, constant, out)
            for side, factor in own:
                edge_loops.add_own_slopes(
                    start, stop, *self.ends, x, side.kappa, 0.0, side.degrees, side.logs, factor, out
                )

        in_chunks(run, self.n_edges)
        return out


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous view that can't be written to: loops are compiled for such arrays alone."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
