"""Move evaluation: how J_β changes when edges are dropped, added or swapped, for each entropy.

With y the kept weights and t = 2 Σ y, every entropy of this library has the form S = ln T + F/T, where F is
a function of the unnormalised matrix. An evaluator holds F of the kept graph σ and of the mixture σ + κρ
(κ = t / tr ρ by the equation, 1 by the listing), and predicts from their changes what a move does to J.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import LocalParts, local_parts, log_mean_inverse, xlogx
from graphpri._objective import Objective, coefficients, mixture_trace
from graphpri._runtime import require
from graphpri.graph import BoolArray, FloatArray

Edges = NDArray[np.int64]

PREDICTION_ERROR = 1e-4
"""Error of a predicted change of F, with which a predicted gain must not be confused."""


class MoveEvaluator(ABC):
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
    spent : float
        Nominal seconds of all that was evaluated so far: counted, so that no clock and no machine decides what a search
        finds.
    exact_swaps : bool
        Whether swaps keep the trace, so that predictions carry no error of the mixture's scale.
    """

    def __init__(self, objective: Objective, fixed_size: bool = True) -> None:
        self.objective = objective
        self.graph = objective.graph
        self.mu = objective.weights
        self.beta = objective.beta
        self._of_kept, self._of_mixed, self._of_original = coefficients(objective.beta)
        self.total = 2 * float(self.mu.sum())
        self.follows_trace = objective.mixture == "equation" and objective.beta > 0
        self.exact_swaps = bool(np.all(self.mu == self.mu[0]))
        self.moves_scale = self.follows_trace and not (fixed_size and self.exact_swaps)
        # Sides: 0 is the kept graph, 1 the mixture; a side with no weight in J is left out.
        self.sides = [side for side, weight in ((0, 1 - self.beta), (1, self.beta)) if weight != 0]
        self._trace_factor, self._trace_rest = mixture_trace(objective.mixture, self.total)
        self.mask: BoolArray = np.ones(self.graph.n_edges, bool)
        self.value = np.nan
        self.spent = 0.0
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
        self.spent += self.seconds_per_reset
        self._terms = None
        self.mask = mask.copy()
        self.trace = 2 * float(self.mu[mask].sum())
        self._kappa = self.trace / self.total if self.follows_trace else 1.0
        self._f, self._slopes = self._build(self._kappa)
        if self.objective.alpha:
            self._degrees = self.objective.barrier.degrees(mask.astype(np.float64))
        self.value = self._entropic(self._f, self.trace) + self._log_barrier()

    def position(self) -> dict[str, Any]:
        """All that is known at the subset, to return to it when a reset has not been followed by moves."""
        return dict(vars(self))

    def return_to(self, position: dict[str, Any]) -> None:
        """Go back to a subset of which all is known."""
        vars(self).update(position, spent=self.spent)

    def values(self, masks: BoolArray) -> FloatArray:
        """J of subsets, one a row, from scratch; the evaluator stays where it is."""
        self.spent += len(masks) * self.seconds_per_value
        return self.objective.values(masks.astype(np.float64))

    def swap_changes(self) -> FloatArray:
        """Change of J for flipping each edge as one half of a swap (the trace enters to first order)."""
        terms = self._flip_terms()
        sign = np.where(self.mask, -1.0, 1.0)
        change = self._scale() @ terms
        if not self.exact_swaps:
            change += self._trace_slope() * 2 * self.mu * sign
        return change + self._barrier_flips(sign)

    def flip_changes(self) -> FloatArray:
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
        self.spent += 2e-4 + out.size * into.size * self.seconds_per_pair
        if self.exact_swaps:
            change = (self._scale() @ terms.reshape(len(terms), -1)).reshape(terms.shape[1:])
        else:
            trace = self._resolved(self._traces(out, into))
            f = self._f[self.sides][:, None, None] + terms
            self._add_cross(f, trace, self.mu[into], into)
            self._add_cross(f, trace, -self.mu[out][:, None], out[:, None])
            change = self._entropic_of(f, trace) - self._entropic(self._f, self.trace)
        return change + self._barrier_swaps(out, into), terms

    def least_changes(self, out: Edges, into: Edges, change: FloatArray, terms: FloatArray) -> FloatArray:
        """What the change of J by each swap is at least, from its prediction by :meth:`pairs`, shape (a, b).

        Right after a reset, and but for a small multiple of `PREDICTION_ERROR`. With equal weights, or where the
        mixture's scale does not follow the trace, predictions are exact. Else the change of F is exact for the
        mixture at its scale until now, c σ̃ + (1 − c) ρ̃ with c near ½. The entropy is concave, so that at ½ it is
        at least what lies on the chord from there to the end behind ½: to ρ̃ where c > ½, and to σ̃ where c < ½.
        """
        if self.exact_swaps or not self.follows_trace:
            return change
        trace = self._resolved(self._traces(out, into))
        known = dict(zip(self.sides, self._f[self.sides][:, None, None] + terms, strict=True))
        mixed, original = trace + self._kappa * self.total, self.objective.original_entropy
        # At β = 1, where J has no part of σ̃ alone, its entropy is not known, but never negative.
        kept = np.log(trace) + known[0] / trace if 0 in known else np.zeros(trace.shape)
        share = trace / mixed
        end = np.where(share > 0.5, original, kept)
        near = 0.5 / np.maximum(share, 1 - share)
        entropy = near * (np.log(mixed) + known[1] / mixed) + (1 - near) * end
        value = self._of_kept * kept + self._of_mixed * entropy + self._of_original * original
        return value - self._entropic(self._f, self.trace) + self._barrier_swaps(out, into)

    def _traces(self, out: Edges, into: Edges) -> FloatArray:
        """Trace of the kept graph after each swap."""
        return self.trace + 2 * (self.mu[into] - self.mu[out][:, None])

    def flip_terms_of(self, edge: int) -> FloatArray:
        """Change of F on each used side for flipping one edge."""
        return self._flip_terms()[:, edge]

    def move(self, out: tuple[int, ...], into: tuple[int, ...], terms: FloatArray) -> None:
        """Drop and add edges, given the change of F; J is then predicted, and exact again after :meth:`reset`."""
        self._f[self.sides] += terms
        self._terms = None
        self.spent += 2e-4 + 2e-7 * self.mu.size
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
    def seconds_per_value(self) -> float:
        """Nominal time in which J is computed from scratch."""
        return 5e-5 + 2e-8 * self.mu.size

    @property
    def seconds_per_reset(self) -> float:
        """Nominal time of a reset."""
        return 2 * self.seconds_per_value

    @property
    def seconds_per_flips(self) -> float:
        """Nominal time in which all flips are predicted."""
        return 2 * self.seconds_per_value

    @property
    def seconds_per_pair(self) -> float:
        """Nominal time in which a swap is predicted."""
        return 1e-7

    @property
    def drift(self) -> float:
        """Relative distance of the trace from the one that the mixture was set up with."""
        return abs(self.trace / self.total / self._kappa - 1) if self.follows_trace else 0.0

    def _flip_terms(self) -> FloatArray:
        if self._terms is None:
            self.spent += self.seconds_per_flips
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
        weights = self._of_kept / self.trace, self._of_mixed / mixed
        return np.array([weights[side] for side in self.sides])

    def _entropic(self, f: FloatArray, trace: float) -> float:
        return float(self._entropic_of(f[self.sides], np.float64(trace)))

    def _entropic_of(self, f: FloatArray, trace: FloatArray | np.float64) -> FloatArray:
        """Entropic part of J from F of the used sides (first axis) and the kept trace."""
        value: FloatArray = np.full(np.shape(trace), self._of_original * self.objective.original_entropy)
        for side, of_side in zip(self.sides, f, strict=True):
            if side == 0:
                value = value + self._of_kept * (np.log(trace) + of_side / trace)
                continue
            if self.follows_trace:
                shift = trace / self.total - self._kappa
                first, second = self._slopes
                of_side = of_side + shift * (first + 0.5 * second * shift)
            mixed = self._trace_factor * trace + self._trace_rest
            value = value + self._of_mixed * (np.log(mixed) + of_side / mixed)
        return value

    def _trace_slope(self) -> float:
        """Derivative of the entropic part of J in the trace, the matrices of both sides held."""
        t = self.trace
        slope = self._of_kept * (1 - self._f[0] / t) / t
        if self.follows_trace:
            shift = t / self.total - self._kappa
            first, second = self._slopes
            f = self._f[1] + shift * (first + 0.5 * second * shift)
            slope += self._of_mixed * (1 / t + ((first + second * shift) / self.total - f / t) / (2 * t))
        elif self.beta > 0:
            mixed = t + self.total
            slope += self._of_mixed * (1 - self._f[1] / mixed) / mixed
        return slope

    def _log_barrier(self) -> float:
        if self.objective.alpha == 0:
            return 0.0
        return self.objective.barrier.value(self._degrees)

    def _barrier_flips(self, sign: FloatArray) -> FloatArray:
        if self.objective.alpha == 0:
            return np.zeros(1)
        u, v, mu = self.graph.source, self.graph.target, sign * self.graph.weights
        change = self.objective.barrier.change
        return sum((change(self._degrees[x], mu) for x in (u, v)), start=np.zeros(mu.size))

    def _barrier_swaps(self, out: Edges, into: Edges) -> FloatArray:
        """Change of the barrier by each swap, (a, b) or what broadcasts to it."""
        if self.objective.alpha == 0:
            return np.zeros((1, 1))
        single = self._barrier_flips(np.where(self.mask, -1.0, 1.0))
        return single[out][:, None] + single[into] + self._barrier_shared(out, into)

    def _barrier_shared(self, out: Edges, into: Edges) -> FloatArray:
        """What the sum of two single changes misses where the two edges share a node."""
        extra, change = np.zeros((out.size, into.size)), self.objective.barrier.change
        less, more = -self.graph.weights[out][:, None], self.graph.weights[into][None, :]
        for a in (self.graph.source, self.graph.target):
            for b in (self.graph.source, self.graph.target):
                rows, columns = np.nonzero(a[out][:, None] == b[into][None, :])
                d, x, y = self._degrees[a[out[rows]]], less[rows, 0], more[0, columns]
                extra[rows, columns] += change(d, x + y) - change(d, x) - change(d, y)
        return extra


# ---------------------------------------------------------------------------------------------------------------------
# Moves by the degree and the local entropy, in O(M) memory and time.
# ---------------------------------------------------------------------------------------------------------------------

LEFT = 1e-12
"""Share of a degree below which what is left of it after a flip is rounding."""


class DegreeEvaluator(MoveEvaluator):
    """The degree entropy, F = −Σ d ln d: flips and swaps are exact."""

    def __init__(self, objective: Objective, fixed_size: bool = True) -> None:
        super().__init__(objective, fixed_size)
        self._original = self.graph.strengths(self.mu)

    def swap_changes(self) -> FloatArray:
        """Change of J for flipping each edge as one half of a swap (the trace enters to first order)."""
        if not self.exact_swaps or self.objective.alpha:
            return super().swap_changes()
        # With equal weights a node has one answer for all its kept edges and one for the dropped ones.
        mu = float(self.mu[0])
        down, up = (self._scale() @ (xlogx(self._d) - xlogx(np.maximum(self._d + s * mu, 0.0))) for s in (-1, 1))
        u, v = self.graph.source, self.graph.target
        return np.where(self.mask, down[u] + down[v], up[u] + up[v])

    def _build(self, kappa: float) -> tuple[FloatArray, tuple[float, float]]:
        graph, original = self.graph, self._original
        kept = graph.strengths(np.where(self.mask, self.mu, 0.0))
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


class LocalEvaluator(MoveEvaluator):
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
                original = self.graph.strengths(self.mu)
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
            new = d + step
            new[new < LEFT * d] = 0.0
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

    def least_changes(self, out: Edges, into: Edges, change: FloatArray, terms: FloatArray) -> FloatArray:
        """No bound: other edges' terms follow to first order, and the local entropy is not concave."""
        return np.full_like(change, -np.inf)

    def _flip(self, edge: int, sign: int) -> None:
        """Leave the set-up to the next reset: a few moves shift the terms of few edges."""


def _add_shared(terms: FloatArray, evaluator: MoveEvaluator, degrees: FloatArray, out: Edges, into: Edges) -> None:
    """Correct the sum of two flips of −Σ d ln d where the two edges share a node, in place."""
    graph, mu = evaluator.graph, evaluator.mu
    for a in (graph.source, graph.target):
        for b in (graph.source, graph.target):
            rows, columns = np.nonzero(a[out][:, None] == b[into][None, :])
            d = degrees[:, a[out[rows]]]
            x, y = -mu[out[rows]], mu[into[columns]]
            before, less, more = xlogx(d), xlogx(np.maximum(d + x, 0.0)), xlogx(d + y)
            terms[:, rows, columns] += less + more - before - xlogx(np.maximum(d + x + y, 0.0))


# ---------------------------------------------------------------------------------------------------------------------
# Exact changes of the von Neumann entropy for flips and swaps of edges, from resolvents.
#
# For F(A) = −tr A ln A, an edge vector b and its resolvent term g(s) = bᵀ(A + s)⁻¹b, the matrix determinant
# lemma and ln x = ∫₀^∞ (1/(1+s) − 1/(x+s)) ds give
#
# F(A ± bbᵀ) − F(A) = ∫₀^∞ [±ln-part] ds,   with ln(1 ± g(s)) against the scalar problem A = c, c = bᵀAb/bᵀb,
#
# so that a handful of nodes s replaces one eigenproblem per edge. A swap of e for f has the 2×2 determinant
# (1 − g_e)(1 + g_f) + g_ef², g_ef = b_eᵀ(A + s)⁻¹b_f. Both hold where a flip opens or closes a bridge, where
# Taylor expansions of the eigenvalues fail. A flip updates the resolvents by Sherman–Morrison, O(N²) a node.
# ---------------------------------------------------------------------------------------------------------------------

STEP = 1.6
LOWEST = 1e-4
HIGHEST = 10.0
SMALLEST_BLOCK = 48
MOST_BLOCKS = 64
TINY = 1e-12
CHUNK = 200_000
"""Entries of the eigenvectors' differences that are worked on at a time."""


def quadrature(lowest: float = LOWEST, highest: float = HIGHEST, step: float = STEP) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of ∫₀^∞ r(s) ds for the integrands of this module, for a spectrum up to 1.

    The trapezoid rule in ln s; the tail below the first node is summed for r linear in ln s (an edge that
    opens or closes a bridge), the tail above the last one for r ~ s⁻³.
    """
    s = np.exp(np.arange(np.log(lowest), np.log(highest) + step, step))
    weights = step * s
    decay = np.exp(-step)
    below = step * s[0] * decay / (1 - decay)
    weights[0] += below * (1 + 1 / (1 - decay))
    weights[1] -= below / (1 - decay)
    weights[-1] /= 1 - decay**2
    return s, weights


@dataclass(frozen=True)
class Block:
    """Whole components of the graph whose matrices are held together."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]
    u: NDArray[np.int64]
    v: NDArray[np.int64]


def blocks_of(graph_components: NDArray[np.int32], source: NDArray[np.int64], target: NDArray[np.int64]) -> list[Block]:
    """Pack components with edges into blocks: a large one alone, small ones together."""
    sizes = np.bincount(graph_components)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 1]
    block_of = np.full(sizes.size, -1)
    count, room = 0, 0
    for component in order:
        size = int(sizes[component])
        if size > room:
            count, room = count + 1, max(SMALLEST_BLOCK, size)
        block_of[component] = count - 1
        room -= size
    node_block = block_of[graph_components]
    place = np.zeros(graph_components.size, np.int64)
    blocks: list[Block] = []
    for block in range(count):
        nodes = np.flatnonzero(node_block == block)
        place[nodes] = np.arange(nodes.size)
        edges = np.flatnonzero(node_block[source] == block)
        blocks.append(Block(nodes, edges, place[source[edges]], place[target[edges]]))
    return blocks


def scattered(graph_components: NDArray[np.int32]) -> bool:
    """Whether so many nodes lie in small components that their blocks would be too many to walk through."""
    sizes = np.bincount(graph_components)
    return int(sizes[(sizes > 1) & (sizes < SMALLEST_BLOCK)].sum()) > MOST_BLOCKS * SMALLEST_BLOCK


class _BlockState:
    """Resolvent terms of one block on the used sides, kept in the eigenvectors of the last set-up.

    With σ = V diag(λ) Vᵀ at the set-up, b_eᵀ(σ + s)⁻¹b_f is a sum over eigenvalues; every flip since then adds
    a rank-one term c x xᵀ to each resolvent (Sherman–Morrison). `crossings` and `flip` read both, so that the
    N × N resolvents themselves are never formed; `_g` holds b_eᵀ(σ + s)⁻¹b_e of every edge up to date, from when
    flips are asked for: many a subset is only looked at for its J.
    """

    def __init__(
        self, block: Block, matrices: FloatArray, nodes: FloatArray, weights: FloatArray, heaviest: float
    ) -> None:
        self.block = block
        self.matrices = matrices
        # An edge that is heavier than all that is kept moves the spectrum's upper end.
        scale = 1.5 * np.maximum(np.einsum("sii->si", matrices).max(axis=1), 2 * heaviest)
        scale[scale == 0] = 1.0
        lam, self.vectors = np.linalg.eigh(matrices)
        self.lam = np.maximum(lam, 0.0)
        self.f = -xlogx(self.lam).sum(axis=1)
        shifts = scale[:, None] * nodes
        self.weights = scale[:, None] * weights
        self.shifts = shifts.reshape(-1, 1)
        self._inverse = 1 / (self.lam[:, None, :] + shifts[:, :, None])
        sides, count, n = self._inverse.shape
        self._past = np.empty((0, sides * count, n))
        self._factors = np.empty((0, sides * count))
        self._flips = 0

    @cached_property
    def _g(self) -> FloatArray:
        """The term g of every edge at every node of every side, (sides · nodes, edges), at the set-up."""
        sides, count, n = self._inverse.shape
        u, v = self.block.u, self.block.v
        g = np.empty((sides, u.size, count))
        step = max(1, CHUNK // n)
        for side, vectors in enumerate(self.vectors):
            inverse = np.ascontiguousarray(self._inverse[side].T)
            for low in range(0, u.size, step):
                some = slice(low, low + step)
                squares = vectors[u[some]] - vectors[v[some]]
                squares *= squares
                np.matmul(squares, inverse, out=g[side, some])
        return np.ascontiguousarray(g.transpose(0, 2, 1)).reshape(sides * count, -1)

    def flips(self, mu: FloatArray, sign: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Change of F on each side for flipping each edge of the block, and 1 ± g at each node."""
        u, v = self.block.u, self.block.v
        signed = sign * mu
        one = self._g * signed
        one += 1
        np.maximum(one, TINY, out=one)
        d = np.einsum("sii->si", self.matrices)
        centre = 0.5 * (d[:, u] + d[:, v]) - self.matrices[:, u, v]
        step = 2 * signed
        sides, nodes = self.weights.shape
        shifted = self.shifts + np.repeat(centre, nodes, axis=0)
        reference = np.maximum(shifted + step, TINY * shifted)
        logs = np.log(one * shifted / reference).reshape(sides, nodes, -1)
        before, after = xlogx(np.stack([centre, np.maximum(centre + step, 0.0)]))
        return (self.weights[:, None] @ logs)[:, 0] + before - after, one

    def crossings(
        self, out: Edges, into: Edges, mu_out: FloatArray, mu_into: FloatArray, one: FloatArray
    ) -> FloatArray:
        """What a swap changes beyond its two flips, (sides, a, b); edges numbered within the block."""
        u, v = self.block.u, self.block.v
        left = self.vectors[:, u[out]] - self.vectors[:, v[out]]
        right = self.vectors[:, u[into]] - self.vectors[:, v[into]]
        cross = (left[:, None] * self._inverse[:, :, None, :]) @ right.transpose(0, 2, 1)[:, None]
        cross = cross.reshape(-1, out.size, into.size)
        if self._flips:
            past = self._past[: self._flips]
            left = (past[:, :, u[out]] - past[:, :, v[out]]) * self._factors[: self._flips, :, None]
            right = past[:, :, u[into]] - past[:, :, v[into]]
            cross -= left.transpose(1, 2, 0) @ right.transpose(1, 0, 2)
        cross *= cross
        cross *= (mu_out / one[:, out])[:, :, None]
        cross *= (mu_into / one[:, into])[:, None, :]
        cross += 1
        # In single precision faster, but then rounding would decide between equal swaps.
        logs = np.log(cross)
        weights = self._tailed_weights  # not the flips' s⁻³
        sides, nodes = weights.shape
        total = weights[:, None] @ logs.reshape(sides, nodes, -1)
        return total.reshape(sides, *logs.shape[1:])

    def shared(self, out: Edges, into: Edges, mu_out: FloatArray, mu_into: FloatArray, one: FloatArray) -> FloatArray:
        """What swaps of edges in `out` for those in `into`, one by one, change beyond their flips, (sides, swaps)."""
        u, v = self.block.u, self.block.v
        sides, nodes = self.weights.shape
        logs = np.empty((sides, nodes, out.size))
        scale = (mu_out / one[:, out] * mu_into / one[:, into]).reshape(logs.shape)
        step = max(1, CHUNK // self.lam.shape[1])
        for side, vectors in enumerate(self.vectors):
            for low in range(0, out.size, step):
                some = slice(low, low + step)
                product = vectors[u[out[some]]] - vectors[v[out[some]]]
                product *= vectors[u[into[some]]] - vectors[v[into[some]]]
                logs[side, :, some] = self._inverse[side] @ product.T
        logs *= logs
        logs *= scale
        return (self._tailed_weights[:, None] @ np.log1p(logs))[:, 0]

    def switches(self, squares: Edges, mu: float) -> FloatArray:
        """Change of F on each side where edges ab and cd give way to bc and da; rows are nodes a, b, c, d of the block.

        With p = e_a − e_c and q = e_b − e_d the matrix changes by μ(pqᵀ + qpᵀ), as all degrees stay.
        """
        sides, nodes = self.weights.shape
        n = self.lam.shape[1]
        a, b, c, d = squares.T
        far = self._resistances.reshape(-1, n * n)
        pairs = np.stack([a * n + d, b * n + c, a * n + b, c * n + d, a * n + c, b * n + d])
        logs = np.empty((sides * nodes, len(squares)))
        step = max(1, CHUNK // (8 * len(logs)))
        for low in range(0, len(squares), step):
            ad, bc, ab, cd, ac, bd = (far.take(pair, axis=1) for pair in pairs[:, low : low + step])
            across = (ad + bc - ab - cd) * (0.5 * mu) + 1
            logs[:, low : low + step] = across * across - mu**2 * ac * bd
        np.log(np.maximum(logs, TINY, out=logs), out=logs)
        return (self.weights[:, None] @ logs.reshape(sides, nodes, -1))[:, 0]

    @cached_property
    def _resistances(self) -> FloatArray:
        """(e_i − e_j)ᵀ(A + s)⁻¹(e_i − e_j) of all nodes at every node s of every side at the set-up."""
        inverse = (self.vectors[:, None] * self._inverse[:, :, None, :]) @ self.vectors.transpose(0, 2, 1)[:, None]
        inverse = inverse.reshape(-1, *inverse.shape[2:])
        own = np.einsum("sii->si", inverse)
        return own[:, :, None] + own[:, None, :] - 2 * inverse

    @property
    def _tailed_weights(self) -> FloatArray:
        """Weights where the tail above the last node is that of s⁻², as of two edges that share a node."""
        weights = self.weights.copy()
        weights[:, -1] *= 1 + np.exp(-STEP)
        return weights

    def flip(self, edge: int, mu: float, sign: int) -> None:
        """Add or drop one edge of the block."""
        u, v = self.block.u[edge], self.block.v[edge]
        sides, count, n = self._inverse.shape
        g = self._g
        across = self.vectors[:, u] - self.vectors[:, v]
        x = ((self._inverse * across[:, None]) @ self.vectors.transpose(0, 2, 1)).reshape(sides * count, n)
        past = self._past[: self._flips]
        if self._flips:
            x -= np.einsum("rs,rsn->sn", (past[:, :, u] - past[:, :, v]) * self._factors[: self._flips], past)
        step = sign * mu
        factors = step / np.maximum(1 + step * (x[:, u] - x[:, v]), TINY)
        self._remember(x, factors)
        change = x[:, self.block.u] - x[:, self.block.v]
        change *= change
        change *= factors[:, None]
        g -= change
        self.matrices[:, u, u] += step
        self.matrices[:, v, v] += step
        self.matrices[:, u, v] -= step
        self.matrices[:, v, u] -= step

    def _remember(self, x: FloatArray, factors: FloatArray) -> None:
        """Store the rank-one term of a flip, in arrays that grow by doubling."""
        if self._flips == len(self._past):
            more = max(8, self._flips)
            self._past = np.concatenate([self._past, np.empty((more, *x.shape))])
            self._factors = np.concatenate([self._factors, np.empty((more, factors.size))])
        self._past[self._flips] = x
        self._factors[self._flips] = factors
        self._flips += 1


class ExactEvaluator(MoveEvaluator):
    """The exact entropy, for graphs whose largest component has up to a thousand nodes or so."""

    def __init__(self, objective: Objective, fixed_size: bool = True) -> None:
        super().__init__(objective, fixed_size)
        graph = self.graph
        source, target = graph.source.astype(np.int64), graph.target.astype(np.int64)
        self._blocks = blocks_of(graph.components()[1], source, target)
        # Light edges of a weighted graph act at the low end of the spectrum.
        self._quadrature = quadrature(LOWEST * max(float(self.mu.min()), 1e-2))
        self._check_memory()
        self._home = np.zeros(graph.n_edges, np.int64)
        self._local = np.zeros(graph.n_edges, np.int64)
        for number, block in enumerate(self._blocks):
            self._home[block.edges] = number
            self._local[block.edges] = np.arange(block.edges.size)

    def _check_memory(self) -> None:
        """Refuse graphs for which there is not the memory: 4 matrices a block, 10 of the largest were measured."""
        sizes = np.array([block.nodes.size for block in self._blocks], np.float64)
        numbers = 4 * float((sizes**2).sum()) + 6 * float((sizes**2).max())
        numbers += 8 * len(self.sides) * self._quadrature[0].size * self.graph.n_edges
        what = f"the exact entropy's solver of a component of {int(sizes.max())} nodes and {self.graph.n_edges} edges"
        require(8 * numbers, what, "take the entropy 'local', 'degree' or 'auto'")

    @property
    def work(self) -> float:
        """Entries that a move touches, the measure of its cost."""
        return float(max(block.nodes.size for block in self._blocks) ** 2)

    @property
    def seconds_per_value(self) -> float:
        """Nominal time in which J is computed from scratch: two eigenproblems."""
        return 1e-5 + 1.1e-7 * self.work

    @property
    def seconds_per_reset(self) -> float:
        """Nominal time of a reset: two eigenproblems with vectors."""
        return 4e-4 + 2.7e-7 * self.work

    @property
    def seconds_per_flips(self) -> float:
        """Nominal time in which all flips are predicted; the first time after a reset the set-up comes first."""
        seconds = 2e-4 + 5e-7 * self.mu.size
        if self._fresh:
            seconds += 3e-10 * len(self.sides) * self._quadrature[0].size * self.mu.size * self.work**0.5
            seconds += 1.75e-7 * self.work if self.moves_scale else 0.0
        return seconds

    @property
    def seconds_per_pair(self) -> float:
        """Nominal time in which a swap is predicted."""
        return len(self.sides) * self._quadrature[0].size * (1e-8 + 1e-10 * self.work**0.5)

    def _laplacian(self, block: Block, weights: FloatArray) -> FloatArray:
        n = block.nodes.size
        matrix = np.zeros((n, n))
        matrix[block.u, block.v] = -weights[block.edges]
        matrix[block.v, block.u] = -weights[block.edges]
        np.fill_diagonal(matrix, -matrix.sum(axis=1))
        return matrix

    def _matrices(self, block: Block, y: FloatArray, kappa: float) -> FloatArray:
        kept = self._laplacian(block, y)
        both = kept, kept + kappa * self._laplacian(block, self.mu)
        return np.stack([both[side] for side in self.sides])

    def _build(self, kappa: float) -> tuple[FloatArray, tuple[float, float]]:
        y = np.where(self.mask, self.mu, 0.0)
        f = np.zeros(2)
        self._cross, self._fresh = None, True
        self._states: list[_BlockState] = []
        for block in self._blocks:
            heaviest = 0.0 if self.exact_swaps else float(self.mu[block.edges].max())
            state = _BlockState(block, self._matrices(block, y, kappa), *self._quadrature, heaviest)
            f[self.sides] += state.f
            self._states.append(state)
        return f, (0.0, 0.0)

    def _follow_trace(self) -> None:
        """The slopes of side 1 in κ at the set-up, from when moves are asked for."""
        if self._cross is not None or not self.moves_scale:
            return
        self._cross = np.zeros(self.mu.size)
        first = second = 0.0
        for block, state in zip(self._blocks, self._states, strict=True):
            one, two, self._cross[block.edges] = _slopes(state, self._laplacian(block, self.mu))
            first, second = first + one, second + two
        self._slopes = first, second

    def flip_terms(self) -> FloatArray:
        """Change of F on each used side for flipping each edge alone, shape (sides, M)."""
        self._follow_trace()
        self._fresh = False
        sign = np.where(self.mask, -1.0, 1.0)
        self._one: list[FloatArray] = []
        terms = np.empty((len(self.sides), self.mu.size))
        for state in self._states:
            edges = state.block.edges
            terms[:, edges], one = state.flips(self.mu[edges], sign[edges])
            self._one.append(one)
        return terms

    def pair_terms(self, out: Edges, into: Edges, flips: FloatArray) -> FloatArray:
        """Change of F for each swap of a kept edge in `out` for a dropped one in `into`, (sides, a, b)."""
        terms = flips[:, out][:, :, None] + flips[:, into][:, None, :]
        shared = (0,) if len(self._blocks) == 1 else np.intersect1d(self._home[out], self._home[into])
        for number in shared:
            a, b = np.flatnonzero(self._home[out] == number), np.flatnonzero(self._home[into] == number)
            cross = self._states[number].crossings(
                self._local[out[a]], self._local[into[b]], self.mu[out[a]], self.mu[into[b]], self._one[number]
            )
            terms[:, a[:, None], b] += cross
        return terms

    def shared(self, out: Edges, into: Edges) -> FloatArray:
        """Change of J by swaps, one by one, beyond their flips; right after a reset, and but for the trace's part."""
        self._flip_terms()
        terms = np.zeros((len(self.sides), out.size))
        for number, state in enumerate(self._states):
            rows = np.flatnonzero((self._home[out] == number) & (self._home[into] == number))
            if rows.size:
                a, b = out[rows], into[rows]
                terms[:, rows] = state.shared(self._local[a], self._local[b], self.mu[a], self.mu[b], self._one[number])
        return self._scale() @ terms

    def switch_changes(self, squares: Edges) -> FloatArray:
        """Change of J by each 2-switch: rows are nodes a, b, c, d where ab and cd go and bc and da come.

        Right after a reset, where all weights are equal. Neither degrees nor the trace move.
        """
        terms = np.zeros((len(self.sides), len(squares)))
        number, place = self._places
        for block, state in enumerate(self._states):
            rows = np.flatnonzero(number[squares[:, 0]] == block)
            terms[:, rows] = state.switches(place[squares[rows]], float(self.mu[0]))
        self.spent += len(self.sides) * self._quadrature[0].size * (2e-10 * self.work**1.5 + 2.5e-8 * len(squares))
        return self._scale() @ terms

    @cached_property
    def _places(self) -> tuple[Edges, Edges]:
        """Block of each node, and its number there."""
        number, place = np.full((2, self.graph.n_nodes), -1)
        for count, block in enumerate(self._blocks):
            number[block.nodes], place[block.nodes] = count, np.arange(block.nodes.size)
        return number, place

    def _flip(self, edge: int, sign: int) -> None:
        self._follow_trace()
        self._states[self._home[edge]].flip(int(self._local[edge]), float(self.mu[edge]), sign)


def _slopes(state: _BlockState, original: FloatArray) -> tuple[float, float, FloatArray]:
    """First and second derivative of F(σ + κρ) in κ, and the mixed one in κ and each edge's weight."""
    vectors, lam = state.vectors[-1], state.lam[-1]
    on = lam > TINY * lam[-1]
    vectors, lam = vectors[:, on], lam[on]
    inner = vectors.T @ original @ vectors
    curved = log_mean_inverse(lam[:, None], lam[None, :]) * inner
    mixed = vectors @ curved @ vectors.T
    u, v = state.block.u, state.block.v
    cross = -(mixed[u, u] + mixed[v, v] - 2 * mixed[u, v])
    return -float((np.log(lam) + 1) @ inner.diagonal()), -float((curved * inner).sum()), cross
