"""How J_β changes when edges are dropped or added: the common part of every entropy.

With y the kept weights and t = 2 Σ y, every entropy of this library has the form S = ln T + F/T, where F is
a function of the unnormalised matrix. A landscape holds F of the kept graph σ and of the mixture σ + κρ
(κ = t / tr ρ by the equation, 1 by the listing), and predicts from their changes what a move does to J.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import BoolArray, FloatArray
from graphpri.objective import Objective

Edges = NDArray[np.int64]


class Landscape(ABC):
    """Exact value of J at a subset of edges, and the change that a flip or a swap of edges makes.

    Parameters
    ----------
    objective : Objective
        The objective; its entropy must be the one that the subclass implements.
    fixed_size : bool
        Whether the number of edges stays the same; with equal weights the trace does then, too.

    Attributes
    ----------
    mask : ndarray of bool, shape (M,)
        The current subset.
    value : float
        J there, in nats: exact after :meth:`reset`, predicted after :meth:`move`.
    exact_swaps : bool
        Whether swaps keep the trace, so that predictions carry no error of the mixture's scale.
    """

    def __init__(self, objective: Objective, fixed_size: bool = True) -> None:
        self.objective = objective
        self.graph = objective.graph
        self.mu = objective.weights
        self.beta = objective.beta
        self.total = 2 * float(self.mu.sum())
        self.follows_trace = objective.mixture == "equation" and objective.beta > 0
        self.exact_swaps = not objective.graph.is_weighted or bool(np.all(self.mu == self.mu[0]))
        self.moves_scale = self.follows_trace and not (fixed_size and self.exact_swaps)
        # Sides: 0 is the kept graph, 1 the mixture; a side with no weight in J is left out.
        self.sides = [side for side, weight in ((0, 1 - self.beta), (1, self.beta)) if weight != 0]
        self.mask: BoolArray = np.ones(self.graph.n_edges, bool)
        self.value = np.nan
        self._f = np.zeros(2)
        self._slopes = (0.0, 0.0)
        self._cross: FloatArray | None = None
        self._terms: FloatArray | None = None

    # Supplied by each entropy.

    @abstractmethod
    def _build(self, kappa: float) -> tuple[FloatArray, tuple[float, float]]:
        """Set up at the mask; return F of both sides, and first and second derivative of side 1 in κ.

        Sets `_cross`, the mixed derivative of side 1 in κ and in each edge's weight, where it is known.
        """

    @abstractmethod
    def flip_terms(self) -> FloatArray:
        """Change of F on each used side for flipping each edge alone, shape (sides, M)."""

    @abstractmethod
    def pair_terms(self, out: Edges, into: Edges, flips: FloatArray) -> FloatArray:
        """Change of F for each swap of a kept edge in `out` for a dropped one in `into`, (sides, a, b)."""

    @abstractmethod
    def _flip(self, edge: int, sign: int) -> None:
        """Drop (−1) or add (+1) an edge in the set-up."""

    # Common to all.

    def reset(self, mask: BoolArray) -> None:
        """Move to a subset and compute J there exactly."""
        self._terms = None
        self.mask = mask.copy()
        self.trace = 2 * float(self.mu[mask].sum())
        self._kappa = self.trace / self.total if self.follows_trace else 1.0
        self._f, self._slopes = self._build(self._kappa)
        if self.objective.alpha:
            self._degrees, self._floor = self.objective.barrier_degrees(mask.astype(np.float64))
        self.value = self._entropic(self._f, self.trace) + self._log_barrier()

    def flips(self) -> FloatArray:
        """Change of J for flipping each edge as one half of a swap (the trace enters to first order)."""
        terms = self._flip_terms()
        sign = np.where(self.mask, -1.0, 1.0)
        change = self._scale() @ terms
        if not self.exact_swaps:
            change += self._trace_slope() * 2 * self.mu * sign
        return change + self._barrier_flips(sign)

    def toggles(self) -> FloatArray:
        """Change of J for dropping or adding each edge alone; infinite for dropping the last one."""
        sign = np.where(self.mask, -1.0, 1.0)
        trace = self.trace + 2 * self.mu * sign
        f = self._f[self.sides][:, None] + self._flip_terms()
        self._add_cross(f, trace, sign * self.mu)
        change = self._entropic_of(f, self._resolved(trace)) - self._entropic(self._f, self.trace)
        change[trace < 1e-12 * self.trace] = np.inf
        return change + self._barrier_flips(sign)

    def pairs(self, out: Edges, into: Edges) -> tuple[FloatArray, FloatArray]:
        """Change of J for swapping each kept edge of `out` for each dropped edge of `into`, and of F.

        Shapes (a, b) and (sides, a, b).
        """
        terms = self.pair_terms(out, into, self._flip_terms())
        if self.exact_swaps:
            change = (self._scale() @ terms.reshape(len(terms), -1)).reshape(terms.shape[1:])
        else:
            trace = self._resolved(self.trace + 2 * (self.mu[into] - self.mu[out][:, None]))
            f = self._f[self.sides][:, None, None] + terms
            self._add_cross(f, trace, self.mu[into], into)
            self._add_cross(f, trace, -self.mu[out][:, None], out[:, None])
            change = self._entropic_of(f, trace) - self._entropic(self._f, self.trace)
        if self.objective.alpha == 0:
            return change, terms
        single = self._barrier_flips(np.where(self.mask, -1.0, 1.0))
        return change + single[out][:, None] + single[into] + self._barrier_shared(out, into), terms

    def toggle_terms(self, edge: int) -> FloatArray:
        """Change of F on each used side for flipping one edge."""
        return self._flip_terms()[:, edge]

    def move(self, out: tuple[int, ...], into: tuple[int, ...], terms: FloatArray) -> None:
        """Drop and add edges, given the change of F; J is then predicted, and exact again after :meth:`reset`."""
        self._f[self.sides] += terms
        self._terms = None
        for edges, sign in ((into, 1), (out, -1)):
            for edge in edges:
                self._flip(edge, sign)
                self.mask[edge] = sign > 0
                if self.objective.alpha:
                    self._degrees[self.graph.source[edge]] += sign * self.graph.weights[edge]
                    self._degrees[self.graph.target[edge]] += sign * self.graph.weights[edge]
        self.trace = 2 * float(self.mu[self.mask].sum())
        self.value = self._entropic(self._f, self.trace) + self._log_barrier()

    def _resolved(self, trace: FloatArray) -> FloatArray:
        """Traces after a move, where what is left of the present one may be nothing but rounding."""
        return np.maximum(trace, 1e-12 * self.trace)

    @property
    def work(self) -> float:
        """Entries that a move touches, the measure of its cost."""
        return float(self.mu.size)

    @property
    def drift(self) -> float:
        """Relative distance of the trace from the one that the mixture was set up with."""
        return abs(self.trace / self.total / self._kappa - 1) if self.follows_trace else 0.0

    def _flip_terms(self) -> FloatArray:
        if self._terms is None:
            self._terms = self.flip_terms()
        return self._terms

    def _add_cross(
        self, f: FloatArray, trace: FloatArray, step: FloatArray, edges: Edges | slice = slice(None)
    ) -> None:
        """Let the flips of side 1 feel that the mixture's scale moves with the trace."""
        if self._cross is not None:
            f[-1] += (trace / self.total - self._kappa) * step * self._cross[edges]

    def _scale(self) -> FloatArray:
        mixed = self.trace + (self._kappa if self.follows_trace else 1.0) * self.total
        weights = (1 - self.beta) / self.trace, 2 * self.beta / mixed
        return np.array([weights[side] for side in self.sides])

    def _entropic(self, f: FloatArray, trace: float) -> float:
        return float(self._entropic_of(f[self.sides], np.float64(trace)))

    def _entropic_of(self, f: FloatArray, trace: FloatArray | np.float64) -> FloatArray:
        """Entropic part of J from F of the used sides (first axis) and the kept trace."""
        value: FloatArray = np.full(np.shape(trace), -self.beta * self.objective.original_entropy)
        for side, of_side in zip(self.sides, f, strict=True):
            if side == 0:
                value = value + (1 - self.beta) * (np.log(trace) + of_side / trace)
                continue
            if self.follows_trace:
                shift = trace / self.total - self._kappa
                first, second = self._slopes
                of_side = of_side + shift * (first + 0.5 * second * shift)
                mixed = 2 * trace
            else:
                mixed = trace + self.total
            value = value + 2 * self.beta * (np.log(mixed) + of_side / mixed)
        return value

    def _trace_slope(self) -> float:
        """Derivative of the entropic part of J in the trace, the matrices of both sides held."""
        t = self.trace
        slope = (1 - self.beta) * (1 - self._f[0] / t) / t
        if self.follows_trace:
            shift = t / self.total - self._kappa
            first, second = self._slopes
            f = self._f[1] + shift * (first + 0.5 * second * shift)
            slope += 2 * self.beta * (1 / t + ((first + second * shift) / self.total - f / t) / (2 * t))
        elif self.beta > 0:
            mixed = t + self.total
            slope += 2 * self.beta * (1 - self._f[1] / mixed) / mixed
        return slope

    def _log_barrier(self) -> float:
        if self.objective.alpha == 0:
            return 0.0
        return -self.objective.alpha * float(np.log(np.maximum(self._degrees, self._floor)).sum())

    def _barrier_flips(self, sign: FloatArray) -> FloatArray:
        if self.objective.alpha == 0:
            return np.zeros(1)
        u, v, mu = self.graph.source, self.graph.target, sign * self.graph.weights
        return sum((self._barrier_step(self._degrees[x], mu) for x in (u, v)), start=np.zeros(mu.size))

    def _barrier_step(self, degrees: FloatArray, step: FloatArray) -> FloatArray:
        before, after = np.maximum(degrees, self._floor), np.maximum(degrees + step, self._floor)
        return -self.objective.alpha * (np.log(after) - np.log(before))

    def _barrier_shared(self, out: Edges, into: Edges) -> FloatArray:
        """What the sum of two single changes misses where the two edges share a node."""
        extra = np.zeros((out.size, into.size))
        less, more = -self.graph.weights[out][:, None], self.graph.weights[into][None, :]
        for a in (self.graph.source, self.graph.target):
            for b in (self.graph.source, self.graph.target):
                rows, columns = np.nonzero(a[out][:, None] == b[into][None, :])
                d, x, y = self._degrees[a[out[rows]]], less[rows, 0], more[0, columns]
                both = self._barrier_step(d, x + y) - self._barrier_step(d, x) - self._barrier_step(d, y)
                extra[rows, columns] += both
        return extra
