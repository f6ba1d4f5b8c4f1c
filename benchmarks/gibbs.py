"""Subsets and weights whose diffusion is most like the original's: an experiment, see `diffusion.py` for its study.

The state of diffusion at time τ is ρ_τ = exp(−τ L)/Z, Z = tr exp(−τ L) (M. De Domenico, J. Biamonte, Physical Review X
6, 041062, 2016). What is minimised is its relative entropy against the state of the kept graph,

    S(ρ_τ‖σ_τ) = τ tr(ρ_τ L_σ) + ln Z_σ − S(ρ_τ),

which is convex in the weights. One term hangs on the kept graph in a way that is not linear, ln Z_σ. How Z changes with
a single edge, or with a swap of two, is known exactly: Z is an integral over s along a curve around the eigenvalues,

    Z = tr exp(−τ L) = −τ/(2πi) ∮ exp(τ s) ln det(s + L) ds,

and an edge of weight t changes the determinant by the factor 1 ± t g(s), g(s) = bᵀ(s + L)⁻¹b, b = e_u − e_v.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._selection import ascending, best_forest_by, smallest, tie_keys
from graphpri.errors import OptionError
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray
from graphpri.solvers.local_search import BridgeFinder

MOST_NODES = 500
NODES = 16
"""Of the quadrature along the curve; its error falls as e^(−1.36 n)."""
DROPPED = 0.05
"""Share of the edges that the elimination drops at a time."""
SHORTLISTS = (24, 96)
"""So many edges to drop and to add are looked at in pairs; the next number where a shorter list has no gain."""
MANY = 32
"""Most swaps made at a time."""
TRIED = 4
"""Swaps that are tried singly where the predicted ones do not help."""
SAME = 1e-10
"""Relative entropies that differ by less are equal, in nats."""
NOISE = 0.2
"""Standard deviation of the logarithms by which prices are disturbed, for starts other than the first."""
STEPS, GAIN, RANGE = 200, 1e-6, 12.0
"""Most steps for the weights, the gain in nats that ends them, and how far their logarithms may go."""


class State(NamedTuple):
    """A state of diffusion: ln Z, tr(ρ_τ L), and of each edge bᵀρ_τ b and bᵀρ_τ L b, shape (M,)."""

    log_partition: float
    energy: float
    at_edges: FloatArray
    energy_at_edges: FloatArray


@dataclass(frozen=True)
class Diffusion:
    """Diffusion on a connected graph at one scale, and the objective of other weights on its edges.

    Parameters
    ----------
    graph : Graph
        Connected, of at most 500 nodes.
    scale : float
        τ in units of 1 / mean degree (sum of weights at a node), above 0.
    beta : float, optional
        Adds S(σ_τ)/β to the relative entropy.
    """

    graph: Graph
    scale: float
    beta: float | None = None

    def __post_init__(self) -> None:
        if self.graph.n_nodes > MOST_NODES or self.graph.components()[0] != 1:
            raise OptionError(f"the graph must be connected, and have at most {MOST_NODES} nodes")

    @cached_property
    def time(self) -> float:
        return self.scale * self.graph.n_nodes / (2 * float(self.graph.weights.sum()))

    @cached_property
    def original(self) -> State:
        return self.state(*self.spectrum(self.graph.weights))

    def laplacian(self, y: FloatArray) -> FloatArray:
        """Of weights y on the edges, shape (M,)."""
        graph, n = self.graph, self.graph.n_nodes
        matrix = np.zeros((n, n))
        matrix[graph.source, graph.target] = matrix[graph.target, graph.source] = -y
        matrix[np.diag_indices(n)] = -matrix.sum(axis=1)
        return matrix

    def spectrum(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues and eigenvectors of that Laplacian."""
        values, vectors = np.linalg.eigh(self.laplacian(y))
        return np.maximum(values, 0.0), vectors

    def state(self, values: FloatArray, vectors: FloatArray) -> State:
        boltzmann = np.exp(-self.time * values)
        z = float(boltzmann.sum())
        u, v = self.graph.source, self.graph.target

        def at_edges(by: FloatArray) -> FloatArray:
            matrix = (vectors * by) @ vectors.T
            diagonal = np.diag(matrix)
            return diagonal[u] + diagonal[v] - 2 * matrix[u, v]

        energies = at_edges(boltzmann * values / z) if self.beta else np.zeros(u.size)
        return State(float(np.log(z)), float(boltzmann @ values) / z, at_edges(boltzmann / z), energies)

    def of(self, y: FloatArray, state: State) -> float:
        """The objective of weights y and their state, in nats."""
        before = self.original
        entropy = self.time * before.energy + before.log_partition
        value = self.time * float(before.at_edges @ y) + state.log_partition - entropy
        return value + (self.time * state.energy + state.log_partition) / self.beta if self.beta else value

    def value(self, y: FloatArray) -> float:
        """The objective of weights y, by eigenvalues alone."""
        values = np.maximum(np.linalg.eigvalsh(self.laplacian(y)), 0.0)
        boltzmann = np.exp(-self.time * values)
        z, none = float(boltzmann.sum()), np.zeros(0)
        return self.of(y, State(float(np.log(z)), float(boltzmann @ values) / z, none, none))

    def slopes(self, state: State) -> FloatArray:
        """Gradient of the objective in the weights, shape (M,): τ (ρ_e − σ_e), and that of S(σ_τ)/β.

        dS(σ_τ)/dw = −τ² (bᵀσ_τ L_σ b − σ_e tr(σ_τ L_σ)), since exp(−τ L) commutes with L under the trace.
        """
        found = self.time * (self.original.at_edges - state.at_edges)
        if self.beta:
            found -= self.time**2 / self.beta * (state.energy_at_edges - state.at_edges * state.energy)
        return found


def curve(n: int = NODES) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Half of the nodes z and factors of (2πi)⁻¹∮ e^z f(z) dz around the negative axis, as Re Σ factor · f(z).

    J. A. C. Weideman, Optimizing Talbot's contours for the inversion of the Laplace transform, SIAM Journal on
    Numerical Analysis 44, 2342-2362, 2006.
    """
    angle = np.pi * (2 * np.arange(n // 2) + 1) / n
    cot = 1 / np.tan(0.6407 * angle)
    z = n * (0.5017 * angle * cot - 0.6122 + 0.2645j * angle)
    slope = n * (0.5017 * cot - 0.5017 * 0.6407 * angle * (1 + cot**2) + 0.2645j)
    return z, -2j / n * np.exp(z) * slope


def scaled(graph: Graph, mask: BoolArray, held: bool) -> FloatArray:
    """Weights of a subset, 0 elsewhere, times the factor that makes their sum the original's where `held`."""
    y = np.where(mask, graph.weights, 0.0)
    return y * (float(graph.weights.sum()) / float(y.sum())) if held else y


class Moves:
    """Changes of the objective by single edges and by swaps, exact but for the quadrature, from a subset.

    Weights are c times those of the graph, with c such that their sum is the original's where `held`, or 1. A change of
    c by the move counts to first order.
    """

    def __init__(self, diffusion: Diffusion, mask: BoolArray, held: bool) -> None:
        graph = diffusion.graph
        self.diffusion, self.mask = diffusion, mask
        y = scaled(graph, mask, held)
        values, vectors = diffusion.spectrum(y)
        self.state = diffusion.state(values, vectors)
        self.value = diffusion.of(y, self.state)
        kept = float(graph.weights[mask].sum())
        self.weights = graph.weights * (float(y.sum()) / kept)
        self.drift = -float(diffusion.slopes(self.state) @ y) / kept * graph.weights if held else np.zeros(mask.size)
        self._z, self._by = curve()
        self._resolvents = 1 / (self._z[:, None] / diffusion.time + values)
        self._b = vectors[graph.source] - vectors[graph.target]
        squares = self._b**2
        self._g = squares @ self._resolvents.real.T + 1j * (squares @ self._resolvents.imag.T)

    def _changes(self, ratios: NDArray[np.complex128]) -> FloatArray:
        """What determinants' factors along the curve, on the last axis, do to the part that isn't linear."""
        d, before = self.diffusion, self.state
        logs, z = np.log(ratios), np.exp(before.log_partition)
        relative = -(logs @ self._by).real / z
        change = np.log1p(relative)
        if d.beta is None:
            return change
        rise = (logs @ (self._by * (1 + self._z))).real / (d.time * z)
        energy = (before.energy + rise) / (1 + relative)
        return change + (d.time * (energy - before.energy) + change) / d.beta

    @cached_property
    def singles(self) -> FloatArray:
        """The change by each edge alone, out where it is kept and in where it isn't; shape (M,)."""
        signed = np.where(self.mask, -1.0, 1.0)
        change = self._changes(1 + (signed * self.weights)[:, None] * self._g)
        return change + signed * self._linear

    @cached_property
    def _linear(self) -> FloatArray:
        return self.diffusion.time * self.diffusion.original.at_edges * self.weights + self.drift

    def swaps(self, out: IntArray, into: IntArray) -> FloatArray:
        """The change by each pair of an edge out and one in, shape (out, into)."""
        a, b = self.weights[out][:, None], self.weights[into][None]
        ratios = np.empty((out.size, into.size, self._z.size), complex)
        for k, resolvent in enumerate(self._resolvents):
            left = self._b[out] * resolvent.real, self._b[out] * resolvent.imag
            both = left[0] @ self._b[into].T + 1j * (left[1] @ self._b[into].T)
            ratios[:, :, k] = (1 - a * self._g[out, k][:, None]) * (1 + b * self._g[into, k][None]) + a * b * both**2
        return self._changes(ratios) - self._linear[out][:, None] + self._linear[into][None]


def corrected(diffusion: Diffusion, mask: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The changes of ln Z by single edges to first order, and over 1 ∓ w R_τ, R_τ = bᵀ(1/τ + L)⁻¹b; shape (M,) each.

    It is the integral's main part, one pole at s = 1/τ in place of the curve.
    """
    y = np.where(mask, diffusion.graph.weights, 0.0)
    values, vectors = diffusion.spectrum(y)
    b = vectors[diffusion.graph.source] - vectors[diffusion.graph.target]
    signed = np.where(mask, -1.0, 1.0) * diffusion.graph.weights
    first = -diffusion.time * signed * diffusion.state(values, vectors).at_edges
    return first, first / (1 + signed * (b**2 @ (1 / (1 / diffusion.time + values))))


class Found(NamedTuple):
    """A subset, its objective in nats, how many swaps led there, and whether no shorter list had a better one."""

    mask: BoolArray
    value: float
    swaps: int
    converged: bool


def search(diffusion: Diffusion, k: int, *, held: bool = True, seed: int | None = None, most: int = 2000) -> Found:
    """K edges that hold the graph together and have a low objective: elimination from all edges, then swaps.

    Parameters
    ----------
    diffusion : Diffusion
    k : int
    held : bool
        Whether the kept weights are scaled to the original's sum.
    seed : int, optional
        Disturbs the elimination, for another start.
    most : int
        Evaluations at which the swaps end.
    """
    if k < diffusion.graph.n_nodes - 1:
        raise OptionError(f"{k} edges can't connect {diffusion.graph.n_nodes} nodes")
    rng = None if seed is None else np.random.default_rng(seed)
    ties = tie_keys(diffusion.graph.n_edges, rng)
    return _descend(diffusion, _eliminated(diffusion, k, held, ties, rng), held, ties, most)


def _eliminated(diffusion: Diffusion, k: int, held: bool, ties: IntArray, rng: np.random.Generator | None) -> BoolArray:
    graph = diffusion.graph
    mask, unit = np.ones(graph.n_edges, bool), float(np.log(graph.n_nodes))
    while (size := int(mask.sum())) > k:
        prices = Moves(diffusion, mask, held).singles
        if rng is not None:
            prices = prices * np.exp(NOISE * rng.standard_normal(prices.size))
        open_ = mask & ~best_forest_by(graph, prices, ties, forbid=~mask)
        count = min(size - k, max(1, int(DROPPED * size)))
        mask[smallest(prices, np.flatnonzero(open_), count, ties, unit)] = False
    return mask


def _descend(diffusion: Diffusion, mask: BoolArray, held: bool, ties: IntArray, most: int) -> Found:
    graph, finder = diffusion.graph, BridgeFinder(diffusion.graph)
    moves, swaps, evaluations, many, stage = Moves(diffusion, mask, held), 0, 0, MANY, 0
    while stage < len(SHORTLISTS) and evaluations < most:
        for some in _trials(_promising(moves, finder, SHORTLISTS[stage], ties), many):
            after = moves.mask.copy()
            after[[e for e, _ in some]], after[[f for _, f in some]] = False, True
            if graph.components(after)[0] > 1:
                continue
            evaluations += 1
            if diffusion.value(scaled(graph, after, held)) < moves.value - SAME:
                moves, swaps, many, stage = Moves(diffusion, after, held), swaps + len(some), 2 * len(some), 0
                break
        else:
            stage += 1
    return Found(moves.mask, moves.value, swaps, stage == len(SHORTLISTS))


def _trials(pairs: list[tuple[int, int]], many: int) -> Iterator[list[tuple[int, int]]]:
    """Many swaps at once, half as many and so on, then the first ones singly."""
    count = min(many, MANY, len(pairs))
    while count > 1:
        yield pairs[:count]
        count //= 2
    for pair in pairs[:TRIED]:
        yield [pair]


def _promising(moves: Moves, finder: BridgeFinder, length: int, ties: IntArray) -> list[tuple[int, int]]:
    """Swaps that are predicted to gain, the best first, no edge in two of them, and none that splits the graph."""
    mask, unit = moves.mask, float(np.log(moves.diffusion.graph.n_nodes))
    bridges, prices = finder.find(mask), moves.singles
    out = smallest(np.where(bridges.is_needed, _replaceable(moves), prices), np.flatnonzero(mask), length, ties, unit)
    into = smallest(prices, np.flatnonzero(~mask), length, ties, unit)
    if not out.size or not into.size:
        return []
    changes = moves.swaps(out, into)
    needed = bridges.is_needed[out]
    changes[needed] = np.where(bridges.replaced_by(out[needed], into), changes[needed], np.inf)
    flat = changes.ravel()
    gaining = np.flatnonzero(flat < -SAME)
    keys = np.add.outer(np.argsort(np.argsort(ties[out])) * into.size, np.argsort(np.argsort(ties[into]))).ravel()
    pairs, used = list[tuple[int, int]](), set[int]()
    for place in gaining[ascending(flat[gaining], keys[gaining], unit)].tolist():
        e, f = int(out[place // into.size]), int(into[place % into.size])
        if e not in used and f not in used:
            pairs.append((e, f))
            used |= {e, f}
    return pairs


def _replaceable(moves: Moves) -> FloatArray:
    """What counts for bridges in place of their price, which is of a graph in two parts: the slope of their weight."""
    return -moves.diffusion.slopes(moves.state) * moves.weights - moves.drift


def weights(diffusion: Diffusion, mask: BoolArray, steps: int = STEPS, gain: float = GAIN) -> FloatArray:
    """Weights of a subset with the least relative entropy, their sum the original's; shape (M,).

    L-BFGS on their logarithms, so that all stay positive.
    """
    from scipy.optimize import Bounds, minimize

    graph, kept = diffusion.graph, np.flatnonzero(mask)
    total, y = float(graph.weights.sum()), np.zeros(mask.size)

    def placed(logs: FloatArray) -> FloatArray:
        shares = graph.weights[kept] * np.exp(logs)
        shares /= shares.sum()
        y[kept] = total * shares
        return shares

    def objective(logs: FloatArray) -> tuple[float, FloatArray]:
        shares = placed(logs)
        state = diffusion.state(*diffusion.spectrum(y))
        slope = diffusion.slopes(state)[kept] * y[kept]
        return diffusion.of(y, state), slope - shares * float(slope.sum())

    options = {"maxiter": steps, "ftol": gain, "gtol": 1e-9}
    found = minimize(
        objective, np.zeros(kept.size), jac=True, method="L-BFGS-B", bounds=Bounds(-RANGE, RANGE), options=options
    )
    placed(found.x)
    return y
