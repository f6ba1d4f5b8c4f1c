"""Landscapes of the degree and the local entropy, in O(M) memory and time."""

from __future__ import annotations

import numpy as np

from graphpri.entropy import LocalParts, edge_strengths, local_parts, log_mean_inverse, xlogx
from graphpri.graph import FloatArray
from graphpri.objective import Objective
from graphpri.solvers.landscape import Edges, Landscape


class DegreeLandscape(Landscape):
    """The degree entropy, F = −Σ d ln d: flips and swaps are exact."""

    def __init__(self, objective: Objective, fixed_size: bool = True) -> None:
        super().__init__(objective, fixed_size)
        self._original = edge_strengths(self.graph, self.mu)

    def flips(self) -> FloatArray:
        """Change of J for flipping each edge as one half of a swap (the trace enters to first order)."""
        if not self.exact_swaps or self.objective.alpha:
            return super().flips()
        # With equal weights a node has one answer for all its kept edges and one for the dropped ones.
        mu = float(self.mu[0])
        down, up = (self._scale() @ (xlogx(self._d) - xlogx(np.maximum(self._d + s * mu, 0.0))) for s in (-1, 1))
        u, v = self.graph.source, self.graph.target
        return np.where(self.mask, down[u] + down[v], up[u] + up[v])

    def _build(self, kappa: float) -> tuple[FloatArray, tuple[float, float]]:
        graph, original = self.graph, self._original
        kept = edge_strengths(graph, np.where(self.mask, self.mu, 0.0))
        self._d = np.stack([(kept, kept + kappa * original)[side] for side in self.sides])
        f = np.zeros(2)
        f[self.sides] = -xlogx(self._d).sum(axis=1)
        self._cross = None
        if not self.moves_scale:
            return f, (0.0, 0.0)
        d = np.where(self._d[-1] > 0, self._d[-1], 1.0)
        ratio = original / d
        self._cross = -(ratio[graph.source] + ratio[graph.target])
        return f, (-float((np.log(d) + 1) @ original), -float(ratio @ original))

    def flip_terms(self) -> FloatArray:
        """Change of F on each used side for flipping each edge alone, shape (sides, M)."""
        step = np.where(self.mask, -self.mu, self.mu)
        return np.stack([self._node_terms(d, step) for d in self._d])

    def _node_terms(self, d: FloatArray, step: FloatArray) -> FloatArray:
        total = np.zeros(step.size)
        for ends in (self.graph.source, self.graph.target):
            total += xlogx(d[ends]) - xlogx(np.maximum(d[ends] + step, 0.0))
        return total

    def pair_terms(self, out: Edges, into: Edges, flips: FloatArray) -> FloatArray:
        """Change of F for each swap of a kept edge in `out` for a dropped one in `into`, (sides, a, b)."""
        terms = flips[:, out][:, :, None] + flips[:, into][:, None, :]
        _add_shared(terms, self, self._d, out, into)
        return terms

    def _flip(self, edge: int, sign: int) -> None:
        ends = [int(self.graph.source[edge]), int(self.graph.target[edge])]
        self._d[:, ends] = np.maximum(self._d[:, ends] + sign * self.mu[edge], 0.0)


class LocalLandscape(Landscape):
    """The local entropy, F = −Σ d ln d − Σ y² Λ(d_u, d_v).

    A flip is exact in its own two degrees and its own term; the terms of its neighbours follow to first
    order, damped as 1/d. Swaps add two flips. Resets are exact, so a wrong prediction costs time only.
    """

    def _build(self, kappa: float) -> tuple[FloatArray, tuple[float, float]]:
        f = np.zeros(2)
        slopes = (0.0, 0.0)
        self._cross = None
        kept = np.where(self.mask, self.mu, 0.0)
        self._of_side: list[tuple[FloatArray, LocalParts]] = []
        for side in self.sides:
            y = kept + kappa * self.mu if side else kept
            parts = local_parts(self.graph, y)
            f[side] = -float(xlogx(parts.degrees).sum()) - float(parts.own.sum())
            self._of_side.append((y, parts))
            if side and self.moves_scale:
                original = edge_strengths(self.graph, self.mu)
                d = np.where(parts.degrees > 0, parts.degrees, 1.0)
                first = (np.log(d) + 1 + parts.node) @ original + parts.twice @ self.mu
                slopes = -float(first), -float((original / d) @ original)
        return f, slopes

    def flip_terms(self) -> FloatArray:
        """Change of F on each used side for flipping each edge alone, shape (sides, M)."""
        step = np.where(self.mask, -self.mu, self.mu)
        return np.stack([self._flips_of(y, parts, step) for y, parts in self._of_side])

    def _flips_of(self, y: FloatArray, parts: LocalParts, step: FloatArray) -> FloatArray:
        change = parts.own.copy()
        ends = (self.graph.source, parts.pull_u), (self.graph.target, parts.pull_v)
        after: list[FloatArray] = []
        for node, pull in ends:
            d = parts.degrees[node]
            new = np.maximum(d + step, 0.0)
            others = parts.node[node] - pull
            change += xlogx(d) - xlogx(new) - others * step * d / np.where(new > 0, new, 1.0)
            after.append(new)
        own = np.maximum(y + step, 0.0)
        on = own > 1e-12 * self.mu
        change[on] -= own[on] ** 2 * log_mean_inverse(after[0][on], after[1][on])
        return change

    def pair_terms(self, out: Edges, into: Edges, flips: FloatArray) -> FloatArray:
        """Change of F for each swap of a kept edge in `out` for a dropped one in `into`, (sides, a, b)."""
        terms = flips[:, out][:, :, None] + flips[:, into][:, None, :]
        _add_shared(terms, self, np.stack([parts.degrees for _, parts in self._of_side]), out, into)
        return terms

    def _flip(self, edge: int, sign: int) -> None:
        """Leave the set-up to the next reset: a few moves shift the terms of few edges."""


def _add_shared(terms: FloatArray, landscape: Landscape, degrees: FloatArray, out: Edges, into: Edges) -> None:
    """Correct the sum of two flips of −Σ d ln d where the two edges share a node, in place."""
    graph, mu = landscape.graph, landscape.mu
    for a in (graph.source, graph.target):
        for b in (graph.source, graph.target):
            rows, columns = np.nonzero(a[out][:, None] == b[into][None, :])
            d = degrees[:, a[out[rows]]]
            x, y = -mu[out[rows]], mu[into[columns]]
            before, less, more = xlogx(d), xlogx(np.maximum(d + x, 0.0)), xlogx(d + y)
            terms[:, rows, columns] += less + more - before - xlogx(np.maximum(d + x + y, 0.0))
