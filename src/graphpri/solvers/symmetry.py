"""Symmetric graphs in an order of their nodes that names have no part in, so that searches don't depend on names.

On rings, lattices and hypercubes many moves are equal, and which of them comes first decides where a search ends. Nodes
get colours by what surrounds them (colour refinement: B. Weisfeiler and A. Leman, 1968). Where some stay alike, one of
them is singled out and the colours are refined again, until all differ (B. McKay and A. Piperno, Practical graph
isomorphism II, J. Symbolic Computation 60, 2014). Of the nodes that may be singled out, those whose refined colours
come first are taken for images of each other. That holds for the graphs named; where it doesn't, and where telling
would take too long, names decide. Colours are hashes of 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpri._objective import Objective
from graphpri.graph import BoolArray, Graph
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.solution import Solution
from graphpri.solvers.tournament import scrambled

ALIKE = 1.6
"""Edges per kind of edge from which a graph counts as symmetric."""

WORK = 3_000_000
"""Most neighbours that are looked at for an order, over all rounds."""

Colours = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Renamed:
    """A problem with its nodes in the order of their surroundings.

    Parameters
    ----------
    objective : Objective
    constraints : Constraints
    edges : ndarray of int64, shape (M,)
        Number in the graph as it was given of each edge.
    """

    objective: Objective
    constraints: Constraints
    edges: NDArray[np.int64]

    @classmethod
    def of(cls, objective: Objective, constraints: Constraints) -> Renamed | None:
        """The problem by an order of the nodes without names, or None where few of its edges are alike."""
        graph = objective.graph
        place = order_of(graph, _kinds(graph, constraints))
        if place is None:
            return None
        u, v = place[graph.source], place[graph.target]
        source, target = np.minimum(u, v), np.maximum(u, v)
        edges = np.lexsort((target, source))
        renamed = Graph(graph.n_nodes, source[edges], target[edges], graph.weights[edges])
        protect, forbid, cover = (
            _taken(rule, edges) for rule in (constraints.protect, constraints.forbid, constraints.cover)
        )
        return cls(replace(objective, graph=renamed), Constraints(constraints.connected, protect, forbid, cover), edges)

    def taken(self, mask: BoolArray | None) -> BoolArray | None:
        """A subset of the edges as they were given, by their new numbers."""
        return _taken(mask, self.edges)

    def given(self, found: Solution) -> Solution:
        """A solution for the graph as it was given."""
        mask = np.empty_like(found.mask)
        mask[self.edges] = found.mask
        return replace(found, mask=mask)


def _taken(mask: BoolArray | None, edges: NDArray[np.int64]) -> BoolArray | None:
    return None if mask is None else mask[edges]


def _kinds(graph: Graph, constraints: Constraints) -> Colours:
    """A number for each edge by its weight and by what the constraints say of it."""
    kinds = np.unique(graph.weights, return_inverse=True)[1].astype(np.uint64)
    for rule in (constraints.protect, constraints.forbid):
        kinds *= np.uint64(2)
        if rule is not None:
            kinds += rule
    return kinds


def order_of(graph: Graph, kinds: Colours) -> NDArray[np.int64] | None:
    """Place of each node in an order by structure, shape (N,); None where there are fewer than `ALIKE` edges a kind."""
    rounds = _Rounds(graph, kinds)
    colours = rounds.refined(np.zeros((1, graph.n_nodes), np.uint64))
    if graph.n_edges < ALIKE * rounds.kinds_of_edges(colours[0]):
        return None
    while rounds.left > 0:
        found, counts = np.unique(colours[0], return_counts=True)
        shared = np.flatnonzero(counts > 1)
        if not shared.size:
            break
        colour = found[shared[np.argmin(counts[shared])]]
        alike = np.flatnonzero(colours[0] == colour)
        singled = np.repeat(colours, alike.size, axis=0)
        singled[np.arange(alike.size), alike] = scrambled(colour + np.ones(1, np.uint64))
        most = rounds.left // (2 * singled.shape[0] * max(rounds.node.size, 1))
        first = int(scrambled(rounds.refined(singled, most)).sum(axis=1).argmin()) if most > 1 else 0
        colours = rounds.refined(singled[first : first + 1])
    place = np.empty(graph.n_nodes, np.int64)
    place[np.argsort(colours[0], kind="stable")] = np.arange(graph.n_nodes)
    return place


class _Rounds:
    """Rounds of colour refinement on one graph, and the work that is left for them."""

    def __init__(self, graph: Graph, kinds: Colours) -> None:
        self.start, self.node, edge = graph.neighbours
        self.graph, self.kinds, self.left = graph, scrambled(kinds), WORK
        self._of_arcs = self.kinds[edge]

    def refined(self, colours: Colours, most: int | None = None) -> Colours:
        """Colours, a row per start, by those of the neighbours, until no more nodes differ or after `most` rounds."""
        differ = _differing(colours)
        while self.left > 0 and (most is None or most > 0):
            sums = np.zeros((len(colours), self.node.size + 1), np.uint64)  # which add up modulo 2⁶⁴
            np.cumsum(scrambled(colours[:, self.node] ^ self._of_arcs), axis=1, out=sums[:, 1:])
            colours = scrambled(scrambled(colours) + sums[:, self.start[1:]] - sums[:, self.start[:-1]])
            self.left -= len(colours) * self.node.size
            most = None if most is None else most - 1
            before, differ = differ, _differing(colours)
            if differ == before:
                break
        return colours

    def kinds_of_edges(self, colours: Colours) -> int:
        """How many edges differ in kind or in the colours of their ends."""
        ends = scrambled(colours[self.graph.source]) + scrambled(colours[self.graph.target])
        return np.unique(self.kinds ^ scrambled(ends)).size


def _differing(colours: Colours) -> int:
    """Number of different colours of each row, added up."""
    return int(np.count_nonzero(np.diff(np.sort(colours, axis=1), axis=1))) + len(colours)
