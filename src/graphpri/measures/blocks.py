"""Laplacians of connected components: small ones as stacks of dense matrices, large ones one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from graphpri.graph import FloatArray, Graph
from graphpri.laplacian import Part, System, component_scales, split

DENSE = 600
"""Largest component, in nodes, whose eigenvalues are all computed."""
_STACK_ENTRIES = 2**22


class Stack(NamedTuple):
    """Components of one size: their nodes, shape (c, size), and the place of each node of the graph."""

    nodes: NDArray[np.int64]
    slot: NDArray[np.int64]
    place: NDArray[np.int64]

    def laplacians(self, graph: Graph, y: FloatArray) -> FloatArray:
        """Laplacians of the components with edge weights y, shape (c, size, size); edges must not leave them."""
        inside = np.flatnonzero((self.slot[graph.source] >= 0) & (y > 0))
        u, v = graph.source[inside], graph.target[inside]
        out = np.zeros((*self.nodes.shape, self.nodes.shape[1]))
        out[self.slot[u], self.place[u], self.place[v]] = -y[inside]
        out[self.slot[u], self.place[v], self.place[u]] = -y[inside]
        index = np.arange(self.nodes.shape[1])
        out[:, index, index] = -out.sum(axis=2)
        return out


def stacks(member: NDArray[Any]) -> Iterator[Stack]:
    """Components of 2 to `DENSE` nodes, grouped by size, for the component of each node."""
    sizes = np.bincount(member)
    order = np.argsort(member, kind="stable")
    first = np.cumsum(sizes) - sizes
    place = np.empty(member.size, np.int64)
    place[order] = np.arange(member.size) - np.repeat(first, sizes)
    for size in np.unique(sizes[(sizes > 1) & (sizes <= DENSE)]):
        every = np.flatnonzero(sizes == size)
        for group in np.array_split(every, max(1, every.size * size**2 // _STACK_ENTRIES)):
            slot_of = np.full(sizes.size, -1)
            slot_of[group] = np.arange(group.size)
            yield Stack(order[first[group][:, None] + np.arange(size)], slot_of[member], place)


def large_parts(graph: Graph, member: NDArray[Any], count: int) -> Iterator[tuple[Part, float]]:
    """Components of more than `DENSE` nodes as graphs of their own, and what their weights were divided by."""
    large = np.bincount(member, minlength=count) > DENSE
    if large.any():
        scale = component_scales(graph, count, member)
        for part in split(graph, member, scale, np.where(large, np.cumsum(large), -1)):
            yield part, float(scale[part.member[0]])


def pseudo_inverse(part: Part, tolerance: float) -> Any:
    """L⁺ of a connected part as a linear operator, shape (n, n)."""
    system, n = System(part), part.nodes.size

    def solve(b: FloatArray) -> FloatArray:
        b = b.reshape(n, 1)
        x = system.solve(b - b.mean(), tolerance)[:, 0]
        return x - x.mean()

    return _operator(n, solve)


def grounded_inverse(part: Part, tolerance: float) -> Any:
    """Inverse of L without its first node, which is held at zero, as a linear operator, shape (n − 1, n − 1)."""
    system, n = System(part), part.nodes.size

    def solve(b: FloatArray) -> FloatArray:
        x = system.solve(np.concatenate([[-b.sum()], b.ravel()])[:, None], tolerance)[:, 0]
        return x[1:] - x[0]

    return _operator(n - 1, solve)


def _operator(n: int, apply: Callable[[FloatArray], FloatArray]) -> Any:
    return cast("Any", LinearOperator)((n, n), matvec=apply, dtype=np.float64)
