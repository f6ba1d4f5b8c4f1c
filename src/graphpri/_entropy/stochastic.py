"""Von Neumann entropies of large graphs by random probes, with standard errors.

For a vector z of random signs, zᵀ f(L) z with f(x) = −x ln x has the mean tr f(L) = S, and Lanczos quadrature
bounds it from both sides. Its variance is 2 Σ_{i≠j} f(L)_ij², so that what is known off the diagonal of f(L) can be
taken away without touching the mean. With L = D − A and around D, as for the local entropy:

- first order, −a_ij f[d_i, d_j], the divided difference of f: known, its trace is zero;
- second order, close to −½ M A M A M with M = D^(−1/3): its trace is known, and how much of it to take away is
  found by regression over the probes, which also catches part of the higher orders.

What is left has a 25th to a 120th of the standard deviation (benchmarks/stochastic_study.py): 0.02/√N to 0.04/√N
nats a probe at a mean degree of 10. The diagonal needs no such care: z_i² = 1.

Entropies of several weightings take the same probes, and a divergence, in which they nearly cancel, is combined
probe by probe, so that it has a far smaller error than its parts.

An error has two parts. Chance is the standard error over the probes, by Student's t. Bias is what the quadrature leaves
open, the same way in every probe: the form lies somewhere between its bounds, and where is learned from fewer Lanczos
steps, which the last ones bound closely. Steps are taken until the bias is small beside the chance.

The edge term (e_u − e_v)ᵀ ln(L) (e_u − e_v) of the gradient is estimated likewise, both orders being taken
away and added back exactly, common neighbours included. Its noise is then shrunk, see :func:`_shrunk`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from graphpri._entropy import (
    EIGENVALUE_FLOOR,
    EntropyValue,
    exact_entropy,
    local_parts,
    log_mean_inverse,
    xlogx,
)
from graphpri._output import format_value
from graphpri._runtime import compiled, deadline, in_chunks, single_thread
from graphpri.graph import FloatArray, Graph, IntArray

WIDTH = 8
"""Number of probe vectors that move together."""


@compiled
def multiply(
    starts: IntArray,
    ends: IntArray,
    values: FloatArray,
    diagonal: FloatArray,
    x: FloatArray,
    scale: FloatArray,
    out: FloatArray,
    back: FloatArray,
    first: int,
    last: int,
) -> FloatArray:
    """Rows first…last of out ← (diagonal − A) x scale − out back; returns their part of ⟨x scale, out⟩.

    `starts`, `ends` and `values` are A in compressed rows; `scale` and `back` have an entry per probe.
    """
    product = np.zeros(WIDTH)
    for i in range(first, last):
        # One name per probe: the compiler keeps these in registers, and an array in memory.
        a = b = c = d = e = f = g = h = 0.0
        for k in range(starts[i], starts[i + 1]):
            j, w = ends[k], values[k]
            a += w * x[j, 0]
            b += w * x[j, 1]
            c += w * x[j, 2]
            d += w * x[j, 3]
            e += w * x[j, 4]
            f += w * x[j, 5]
            g += w * x[j, 6]
            h += w * x[j, 7]
        for p, neighbours in enumerate((a, b, c, d, e, f, g, h)):
            y = (diagonal[i] * x[i, p] - neighbours) * scale[p] - out[i, p] * back[p]
            out[i, p] = y
            product[p] += x[i, p] * scale[p] * y
    return product


@compiled
def subtract(x: FloatArray, factor: FloatArray, out: FloatArray, first: int, last: int) -> FloatArray:
    """Rows first…last of out ← out − x factor; returns their part of ‖out‖²."""
    norm = np.zeros(WIDTH)
    for i in range(first, last):
        for p in range(WIDTH):
            y = out[i, p] - x[i, p] * factor[p]
            out[i, p] = y
            norm[p] += y * y
    return norm


@compiled
def shared(
    starts: IntArray,
    ends: IntArray,
    values: FloatArray,
    at_node: FloatArray,
    u: IntArray,
    v: IntArray,
    out: FloatArray,
    first: int,
    last: int,
) -> None:
    """For edges first…last: out ← Σ over common neighbours k of A_uk A_vk at_node_k; rows of A sorted.

    The neighbours of the end that has fewer are looked up among those of the other.
    """
    for m in range(first, last):
        i, j = u[m], v[m]
        if starts[i + 1] - starts[i] > starts[j + 1] - starts[j]:
            i, j = j, i
        total, low = 0.0, starts[j]
        for k in range(starts[i], starts[i + 1]):
            node, high = ends[k], starts[j + 1]
            while low < high:
                middle = (low + high) // 2
                if ends[middle] < node:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[j + 1] and ends[low] == node:
                total += values[k] * values[low] * at_node[node]
        out[m] = total


@compiled
def edge_differences(
    u: IntArray, v: IntArray, x: FloatArray, y: FloatArray, total: FloatArray, square: FloatArray, first: int, last: int
) -> None:
    """For edges first…last: add (x_u − x_v)(y_u − y_v) of every probe to `total`, its square to `square`."""
    for m in range(first, last):
        i, j = u[m], v[m]
        for p in range(WIDTH):
            e = (x[i, p] - x[j, p]) * (y[i, p] - y[j, p])
            total[m] += e
            square[m] += e * e


COMPILED_NODES = 20_000
COMPILED_EDGES = 200_000
"""Graphs of as many nodes or edges go through compiled loops."""
DENSE_NODES = 2000
"""Graphs of at most so many nodes find common neighbours by a dense product."""
_ROWS = 1 << 14  # nodes that one thread takes at a time


class Pattern:
    """Where the edges of a graph stand in the compressed rows of its adjacency matrix.

    Parameters
    ----------
    graph : Graph
        N nodes, M edges.

    Attributes
    ----------
    starts, ends : ndarray of int
        Rows as in a CSR matrix, the nodes of each ascending; shapes (N + 1,) and (2M,).
    edges : ndarray of int, shape (2M,)
        Edge of each entry.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.large = graph.n_nodes >= COMPILED_NODES or graph.n_edges >= COMPILED_EDGES
        self.starts, self.ends, self.edges = graph.neighbours


class Laplacian:
    """Laplacian L = D − A of edge weights on a pattern, as an operator on blocks of vectors of shape (N, B).

    Parameters
    ----------
    pattern : Pattern
    a : ndarray of float64, shape (M,)
        Edge weights, zero where an edge is absent.
    degrees : ndarray of float64, shape (N,)
        Sums of the weights at each node. With zeros in their place the operator is −A, of any values `a`.
    """

    def __init__(self, pattern: Pattern, a: FloatArray, degrees: FloatArray) -> None:
        self.pattern, self.a, self.degrees = pattern, a, degrees
        values, kept = a[pattern.edges], (a != 0)[pattern.edges]
        self.starts, self.ends, self.values = pattern.starts, pattern.ends, values
        if not kept.all():
            before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
            self.starts = before[pattern.starts].astype(pattern.starts.dtype)
            self.ends, self.values = pattern.ends[kept], values[kept]
        n = degrees.size
        self._matrix: Any = None
        if not pattern.large:
            self._matrix = sp.csr_array((self.values, self.ends, self.starts), shape=(n, n))

    def multiply(self, x: FloatArray, scale: FloatArray, out: FloatArray, back: FloatArray) -> FloatArray:
        """Out ← L x scale − out back, with a factor per vector; returns ⟨x scale, out⟩ of each."""
        if self._matrix is not None:
            out *= -back
            out += (self.degrees[:, None] * x - self._matrix @ x) * scale
            return _dots(x, out) * scale

        parts = in_chunks(
            lambda i, j: multiply(self.starts, self.ends, self.values, self.degrees, x, scale, out, back, i, j),
            self.degrees.size,
            _ROWS,
        )
        return cast("FloatArray", np.sum(parts, axis=0))

    def subtract(self, x: FloatArray, factor: FloatArray, out: FloatArray) -> FloatArray:
        """Out ← out − x factor, with a factor per vector; returns ‖out‖² of each."""
        if self._matrix is not None:
            out -= x * factor
            return _dots(out, out)

        parts = in_chunks(lambda i, j: subtract(x, factor, out, i, j), self.degrees.size, _ROWS)
        return cast("FloatArray", np.sum(parts, axis=0))

    def without_degrees(self) -> Laplacian:
        """The operator −A."""
        other = copy(self)
        other.degrees = np.zeros_like(self.degrees)
        return other

    def times(self, x: FloatArray) -> FloatArray:
        """L x."""
        out, ones = np.zeros_like(x), np.ones(x.shape[1])
        self.multiply(x, ones, out, np.zeros_like(ones))
        return out

    def common(self, at_node: FloatArray) -> FloatArray:
        """Σ over common neighbours k of A_uk A_vk at_node_k for each edge (u, v) of the graph, shape (M,)."""
        u, v = self.pattern.graph.source, self.pattern.graph.target
        if self._matrix is not None and self.degrees.size <= DENSE_NODES:
            dense = self._matrix.toarray()
            return ((dense * at_node) @ dense)[u, v]

        out = np.empty(u.size)
        in_chunks(lambda i, j: shared(self.starts, self.ends, self.values, at_node, u, v, out, i, j), u.size)
        return out


def _dots(x: FloatArray, y: FloatArray) -> FloatArray:
    return cast("FloatArray", np.einsum("ij,ij->j", x, y))


class LanczosStep(NamedTuple):
    """A step of the Lanczos recurrence: the basis vectors are ``x * scale``; `alpha` and `beta` follow them."""

    x: FloatArray
    scale: FloatArray
    alpha: FloatArray
    beta: FloatArray


class Vectors(Protocol):
    """A block of vectors x and the block before, on which Lanczos steps are made."""

    def multiply(self, scale: FloatArray, back: FloatArray) -> FloatArray:
        """Put L x scale − before back in the place of the block before; returns ⟨x scale, it⟩ of each vector."""
        ...

    def subtract(self, factor: FloatArray) -> FloatArray:
        """Take x factor away from that; returns the squares of the lengths."""
        ...

    def turn(self) -> None:
        """Let both blocks change places."""
        ...


class _InMemory:
    """Vectors as arrays of shape (N, B), the first of which it overwrites."""

    def __init__(self, laplacian: Laplacian, x: FloatArray) -> None:
        self.laplacian, self.x, self.before = laplacian, x, np.zeros_like(x)

    def multiply(self, scale: FloatArray, back: FloatArray) -> FloatArray:
        return self.laplacian.multiply(self.x, scale, self.before, back)

    def subtract(self, factor: FloatArray) -> FloatArray:
        return self.laplacian.subtract(self.x, factor, self.before)

    def turn(self) -> None:
        self.x, self.before = self.before, self.x


def recurrence(
    vectors: Vectors, squares: FloatArray, largest: float
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Scale, α and β of each Lanczos step from vectors of given squared lengths; `largest` is the largest degree.

    A vector whose space is exhausted goes on with zeros. There is no reorthogonalisation: copies of converged
    eigenvalues that rounding brings in share the weight of the one they copy, and quadrature doesn't see them.
    """
    norm, floor = np.sqrt(squares), 1e-14 * largest
    scale, beta, earlier = _inverse(norm), np.zeros_like(norm), np.zeros_like(norm)
    while True:
        alpha = vectors.multiply(scale, beta * earlier)
        norm = np.sqrt(vectors.subtract(alpha * scale))
        norm[norm < floor] = 0.0
        yield scale, alpha, norm
        vectors.turn()
        scale, earlier, beta = _inverse(norm), scale, norm


def steps(laplacian: Laplacian, start: FloatArray) -> Iterator[LanczosStep]:
    """Lanczos steps from a block of vectors, which it overwrites; the x of a step is valid until the next."""
    vectors = _InMemory(laplacian, start)
    for scale, alpha, beta in recurrence(vectors, _dots(start, start), float(laplacian.degrees.max())):
        yield LanczosStep(vectors.x, scale, alpha, beta)


def _inverse(x: FloatArray) -> FloatArray:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


class Rule(NamedTuple):
    """A quadrature of forms zᵀ f(L) z: so many Lanczos `steps`, and which value between the bounds they give.

    `place` is a share of the distance between the bounds, from above, and `wrong` how much that may be off.
    """

    steps: int
    place: float
    wrong: float


class Forms(NamedTuple):
    """Bounds of forms, shape (B,), and the rule that places them."""

    low: FloatArray
    high: FloatArray
    rule: Rule


def entropy_forms(
    laplacian: Laplacian, start: FloatArray, enough: Callable[[FloatArray, FloatArray], bool], most: int
) -> Forms:
    """Bounds of zᵀ f(L) z with f(x) = −x ln x for each vector z of a block, which is overwritten.

    The derivatives of f alternate in sign, so that Gauss quadrature bounds from above, and Gauss–Radau with
    its fixed node at 0, where f vanishes, from below (G. H. Golub, G. Meurant, Matrices, Moments and Quadrature
    with Applications, 2010, Section 6.2).

    Parameters
    ----------
    laplacian : Laplacian
    start : ndarray of float64, shape (N, B)
    enough : callable
        Whether bounds, two arrays of shape (B,), are tight enough.
    most : int
        Number of steps after which they are in any case.

    Notes
    -----
    From step to step the place moves little, while the distance shrinks. So the place at an earlier step, which the
    last bounds tell, is taken for the last as well (Richardson's extrapolation), and where a still earlier one lies
    elsewhere, as much is open.
    """
    weight = _dots(start, start)
    return forms_of(((step.alpha, step.beta) for step in steps(laplacian, start)), weight, enough, most)


def forms_of(
    recurrence: Iterable[tuple[FloatArray, FloatArray]],
    weight: FloatArray,
    enough: Callable[[FloatArray, FloatArray], bool],
    most: int,
) -> Forms:
    """As :func:`entropy_forms`, from the coefficients α and β of each step and the squares of the vectors' lengths."""
    alphas: list[FloatArray] = []
    betas: list[FloatArray] = []
    look = 4
    for coefficients in recurrence:
        alphas.append(coefficients[0])
        betas.append(coefficients[1])
        k = len(alphas)
        last = k >= most or not betas[-1].any()
        if k >= look or last:
            look = k + max(2, k // 6)
            alpha, beta = np.array(alphas).T, np.array(betas).T
            low, high = _bounds(alpha, beta, weight)
            if last or enough(low, high):
                before = [_bounds(alpha[:, :j], beta[:, :j], weight) for j in (max(1, k // 2), max(1, round(0.7 * k)))]
                return Forms(low, high, Rule(k, *_place([*before, (low, high)])))
    raise AssertionError("the recurrence has no end")


def _place(bounds: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[float, float]:
    """Where forms lie between the last of three bounds, and how far that may be off; see :class:`Rule`."""
    highs = np.array([float(high.mean()) for _, high in bounds])
    gaps = np.array([float((high - low).mean()) for low, high in bounds])
    fall, closed = -np.diff(highs), -np.diff(gaps)
    least = 1e-12 * max(float(np.abs(highs).max()), 1e-300)
    earlier, place = (float(np.clip(f / c, 0, 1)) if c > least else _PLACE for f, c in zip(fall, closed, strict=True))
    return place, max(_MISPLACED, abs(place - earlier))


def _bounds(alpha: FloatArray, beta: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss–Radau and Gauss quadrature of −x ln x for recurrence coefficients of shape (B, k)."""
    high = _quadrature(alpha, beta[:, :-1])
    # The fixed node lies a rounding error below 0, so that the last pivot stays positive where L is singular.
    shift = 1e-13 * float(alpha.max()) + 1e-300
    pivot = alpha[:, 0] + shift
    for j in range(1, alpha.shape[1]):
        pivot = np.maximum(alpha[:, j] + shift - beta[:, j - 1] ** 2 / pivot, 0.5 * shift)
    low = _quadrature(np.column_stack([alpha, beta[:, -1] ** 2 / pivot - shift]), beta)
    return weight * np.minimum(low, high), weight * high


def _quadrature(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    nodes, vectors = tridiagonal(alpha, beta)
    return -cast("FloatArray", (vectors[:, 0, :] ** 2 * xlogx(np.maximum(nodes, 0.0))).sum(axis=1))


def tridiagonal(alpha: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (B, k) and vectors (B, k, k) of tridiagonal matrices with diagonals (B, k) and (B, k − 1)."""
    count, k = alpha.shape
    stack = np.zeros((count, k, k))
    index = np.arange(k)
    stack[:, index, index] = alpha
    stack[:, index[1:], index[:-1]] = beta
    lam, vectors = np.linalg.eigh(stack)
    return lam, vectors


def log_times(laplacian: Laplacian, z: FloatArray, count: int) -> FloatArray:
    """ln(L) z for a block of vectors z in the range of L, in `count` Lanczos steps taken twice.

    Going through the recurrence a second time takes the place of keeping its vectors.
    """
    edge_differences = [(s.alpha, s.beta) for _, s in zip(range(count), steps(laplacian, z.copy()), strict=False)]
    alpha, beta = (np.array(part).T for part in zip(*edge_differences, strict=True))
    lam, vectors = tridiagonal(alpha, beta[:, :-1])
    # Steps past the end of a vector's space are zero and have no weight.
    logs = np.log(np.maximum(lam, np.finfo(float).tiny))
    norm = np.sqrt(_dots(z, z))
    factors: NDArray[np.float64] = np.einsum("bij,bj,bj->ib", vectors, logs, vectors[:, 0, :]) * norm
    out = np.zeros_like(z)
    for factor, step in zip(factors, steps(laplacian, z.copy()), strict=False):
        laplacian.subtract(step.x, -factor * step.scale, out)
    return out


def differences(pattern: Pattern, x: FloatArray, y: FloatArray, total: FloatArray, square: FloatArray) -> None:
    """Add (x_u − x_v)(y_u − y_v) of every probe to `total` and its square to `square`, for each edge (u, v)."""
    u, v = pattern.graph.source, pattern.graph.target
    if not pattern.large:
        e = (x[u] - x[v]) * (y[u] - y[v])
        total += e.sum(axis=1)
        square += np.einsum("ij,ij->i", e, e)
        return

    in_chunks(lambda i, j: edge_differences(u, v, x, y, total, square, i, j), u.size)


SMALL = 200
"""Graphs of components of at most so many nodes have the exact entropy, which is no dearer."""
TARGET = 5e-4
"""Standard error in nats that values have by default."""
MOST_PROBES = 1024
"""Probes that reaching it may take."""
_STEPS = 100  # of Lanczos, at most
_PLACE = 0.3  # of a form between its bounds, from above, where they lie too close to tell
_MISPLACED = 0.1  # share of their distance by which the place is off: stochastic_study.py has what was measured
_BIAS = 0.3  # largest ratio of bias and chance; intervals then hold the truth in 94 to 96 of 100 seeds
_OWN = 0.05  # the same for a single entropy at first, for the sake of differences
_LEAST_BIAS = 1e-9  # nats that nobody asks for
GRADIENT_PROBES = 32
_GRADIENT_STEPS = 15
_EDGES = 1 << 16  # edges whose probes are gathered at a time
_SIZES = {True: 8, False: 32}  # probes that move together, in large graphs and in others


class _Pair(NamedTuple):
    value: float
    error: float


class Estimate(_Pair):
    """A value and its error, a pair; 0 for exact values. Two errors hold the truth in about 95 of 100 seeds.

    Parameters
    ----------
    value : float
    error : float
        The root of the squares of both parts: `chance`, the standard error over the probes (for few probes longer, by
        Student's t), and `bias`.
    bias : float
        What the quadrature leaves open, the same for every seed.

    Examples
    --------
    >>> print(Estimate(13.714, 0.001))
    13.7140 ± 0.0010
    >>> round(Estimate(13.714, 0.001, bias=0.0006).chance, 6)
    0.0008
    """

    bias: float

    def __new__(cls, value: float, error: float, bias: float = 0.0) -> Estimate:
        """Make a pair of the value and the error, which `bias` is a part of."""
        self = super().__new__(cls, value, error)
        self.bias = bias
        return self

    @property
    def chance(self) -> float:
        """What another seed would change."""
        return float(np.sqrt(max(self.error**2 - self.bias**2, 0.0)))

    def __str__(self) -> str:
        if not 0 < self.error < np.inf:
            return format_value(self.value)
        decimals = max(0, 1 - int(np.floor(np.log10(self.error))))
        return f"{self.value:.{decimals}f} ± {self.error:.{decimals}f}"

    def over(self, unit: float) -> Estimate:
        """Both divided by the nats in a unit."""
        return Estimate(self.value / unit, self.error / unit, self.bias / unit)

    def plus(self, shift: float) -> Estimate:
        """The value moved by a number that is known."""
        return Estimate(self.value + shift, self.error, self.bias)


class Sample(NamedTuple):
    """What B probes say about a weighting: the mean of `value` is S up to the `bias`, that of `control` is 0."""

    value: FloatArray
    control: FloatArray
    bias: float
    rule: Rule


def estimate(
    graph: Graph,
    ys: Sequence[FloatArray],
    combinations: ArrayLike,
    *,
    target: float | Sequence[float] = TARGET,
    probes: int | None = None,
    rng: np.random.Generator | int = 0,
    small: int = SMALL,
) -> list[Estimate]:
    """Estimate linear combinations of the entropies of several weightings of a graph from common probes.

    Parameters
    ----------
    graph : Graph
        N nodes, M edges.
    ys : sequence of ndarray of float64, shape (M,)
        W weightings: edge weights of 0 to 1, not all zero (see `scaled` of `_entropy`).
    combinations : array_like of float, shape (C, W)
        Factors of the entropies in each combination: ``[[1, 0], [-0.5, 1]]`` is S of the first weighting, and
        S of the second without half of it.
    target : float or sequence of float
        Error in nats that each combination should reach, or one for all; infinite where it doesn't matter. Blocks
        of 8 (large graphs) or 32 probes are taken until they do, for 1024 probes, or until the deadline of the call.
    probes : int, optional
        A fixed number of probes in place of a target, rounded up to whole blocks.
    rng : Generator or int
        Source of the probes. Their number and the values depend on it and the graph alone.
    small : int
        Graphs of components of at most so many nodes have exact values with an error of 0.

    Returns
    -------
    list of Estimate
        One for each combination, in nats.
    """
    factors = np.asarray(combinations, np.float64)
    if _largest(graph) <= small:
        values = np.array([exact_entropy(graph, y, False).value for y in ys])
        return [Estimate(float(c @ values), 0.0) for c in factors]
    goals = np.broadcast_to(np.asarray(target, np.float64), len(factors)) if probes is None else np.zeros(len(factors))
    pattern = Pattern(graph)
    # Large graphs make one weighting at a time, for the memory.
    ready = [] if pattern.large else [_Probed(pattern, y) for y in ys]

    def weightings() -> Iterable[_Probed]:
        return ready or (_Probed(pattern, y) for y in ys)

    most = MOST_PROBES if probes is None else probes
    return estimate_by(weightings, _signs(pattern, most, rng), factors, goals, probes, is_large=pattern.large)


class Sampled(Protocol):
    """A weighting of a graph, whose entropy blocks of probes tell."""

    def sample(self, signs: Any, rule: Rule | None, is_enough: Callable[[Estimate, int], bool]) -> Sample:
        """Take a block of probes by a rule; without one, until the estimate from it is enough."""
        ...


def estimate_by(
    weightings: Callable[[], Iterable[Sampled]],
    draws: Iterable[Any],
    factors: FloatArray,
    goals: FloatArray,
    probes: int | None,
    *,
    is_large: bool,
) -> list[Estimate]:
    """Estimate linear combinations of the entropies of weightings, see :func:`estimate`.

    Parameters
    ----------
    weightings : callable
        Gives all weightings, in their order, whenever a block of probes is to be taken.
    draws : iterable
        What samples take for blocks of probes; no more blocks than there are here.
    factors : ndarray of float64, shape (C, W)
    goals : ndarray of float64, shape (C,)
        Errors in nats.
    probes : int or None
        A fixed number, which the draws have, in place of the goals.
    is_large : bool
        Whether a block says so much that quadratures may stop at the error asked for.
    """
    effort = _Effort(factors, goals, MOST_PROBES if probes is None else probes, is_large and probes is None)
    blocks: list[list[Sample]] = []
    with single_thread():
        for z in draws:
            begun = time.monotonic()
            block: list[Sample] = []
            while not block or (not blocks and effort.tightened(block)):
                rules = [sample.rule for sample in blocks[0]] if blocks else [None] * factors.shape[1]
                block = [w.sample(z, rule, effort.enough) for w, rule in zip(weightings(), rules, strict=True)]
            blocks.append(block)
            if probes is None and (
                deadline().is_over(in_seconds=time.monotonic() - begun)  # with another block
                or all(_combined(blocks, c).error <= g for c, g in zip(factors, goals, strict=True))
            ):
                break
    return [_combined(blocks, c) for c in factors]


class _Effort:
    """How many Lanczos steps the first block of probes takes, and all others after it.

    Bias should be small beside the chance error of each combination, with as many probes as will be taken. Entropies
    alone stop where theirs is a 20th of it; if that is not enough for the combinations, all go further. In a large
    graph, where a block of probes says more than was asked for, the error asked for is enough.
    """

    def __init__(self, factors: FloatArray, goals: FloatArray, most: int, is_large: bool) -> None:
        self.factors, self.goals, self.most, self.is_large = factors, goals, most, is_large
        # Four fifths of an error, in the squares, may come from the quadratures.
        self.allowed = float((0.8 * goals / np.abs(factors).sum(axis=1)).min()) if is_large else _LEAST_BIAS
        self.share = _OWN

    def final(self, chance: ArrayLike, goals: ArrayLike, probes: int) -> FloatArray:
        """Chance errors after as many probes as the goals need, of those after some."""
        chance = np.maximum(chance, np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            needed = probes * float((np.divide(chance, goals) ** 2).max())
        return chance * np.sqrt(probes / np.clip(needed, probes, max(self.most, probes)))

    def enough(self, alone: Estimate, probes: int) -> bool:
        """Whether the bias of a single entropy is small enough."""
        chance = float(self.final(alone.chance, self.goals.min(), probes))
        return alone.bias <= max(self.share * chance, self.allowed)

    def tightened(self, block: list[Sample]) -> bool:
        """Whether combinations need more steps than were taken; entropies alone then stop later."""
        if self.is_large or all(sample.rule.steps >= _STEPS for sample in block):
            return False
        found = [_combined([block], c) for c in self.factors]
        chance = self.final([e.chance for e in found], self.goals, block[0].value.size)
        worst = max(e.bias / max(_BIAS * c, _LEAST_BIAS) for e, c in zip(found, chance, strict=True))
        if worst <= 1 or self.share < 1e-9:
            return False
        self.share *= 0.7 / worst
        return True


def _largest(graph: Graph) -> int:
    """Number of nodes of the largest component, at least 1."""
    return int(np.bincount(graph.components()[1]).max(initial=1))


def _signs(pattern: Pattern, count: int, rng: np.random.Generator | int) -> Iterator[NDArray[np.int8]]:
    """Blocks of random signs, shape (N, B), at least `count` in all."""
    source, size = np.random.default_rng(rng), _SIZES[pattern.large]
    for _ in range(0, count, size):
        yield source.integers(0, 2, (pattern.graph.n_nodes, size), dtype=np.int8) * np.int8(2) - np.int8(1)


def _combined(blocks: Sequence[Sequence[Sample]], factors: FloatArray) -> Estimate:
    """A combination: the intercept of the regression of its values on its controls, with its error.

    The error is the larger of the usual one and of the one that lets values scatter more where controls are far out,
    as they do where a few probes say most (HC2: J. MacKinnon, H. White, J. Econometrics 29, 1985). Student's t makes
    it longer where there are few probes, so that 1.96 of them are an interval of 95 %. The biases of the weightings
    are taken to be independent: each knows its own place between its own bounds.
    """
    value, control = (
        np.concatenate([sum(c * part[i] for c, part in zip(factors, block, strict=True)) for block in blocks])
        for i in range(2)
    )
    bias = np.mean([[sample.bias for sample in block] for block in blocks], axis=0)
    n, mean, offset = value.size, float(value.mean()), float(control.mean())
    t, x = value - mean, control - offset
    spread = float(x @ x)
    x = x / np.sqrt(spread) if spread > 0 else np.zeros(n)
    slope = float(x @ t)
    rest = t - slope * x
    at = offset / float(np.sqrt(spread)) if spread > 0 else 0.0
    usual = float(rest @ rest) / (n - 2) * (1 / n + at**2)
    leverage = np.minimum(1 / n + x**2, 1 - 1e-6)  # of a probe that no other is like, whose rest is 0
    robust = float((((1 / n - at * x) * rest) ** 2 / (1 - leverage)).sum())
    chance = float(stdtrit(n - 2, 0.975) / ndtri(0.975) * np.sqrt(max(usual, robust)))
    total = float(np.linalg.norm(factors * bias))
    return Estimate(mean - slope * at, float(np.hypot(chance, total)), total)


class _Probed:
    """One weighting y of a graph, ready for blocks of probes."""

    def __init__(self, pattern: Pattern, y: FloatArray) -> None:
        graph, a = pattern.graph, y / (2 * y.sum())
        d = graph.strengths(a)
        self.graph, self.laplacian, self.parts = graph, Laplacian(pattern, a, d), _Components(graph, a)
        self._root = root_of(d)
        self.first, self._trace = orders(graph.source, graph.target, a, d, self._root)

    def sample(self, signs: NDArray[np.int8], rule: Rule | None, is_enough: Callable[[Estimate, int], bool]) -> Sample:
        """Take a block of probes, shape (N, B), by a rule; without one, until the estimate from it is enough."""
        z = signs.astype(np.float64)
        second = self.laplacian.without_degrees().times(self._root[:, None] * z)
        control = np.einsum("i,ij,ij->j", self._root, second, second) - self._trace
        del second
        known = edge_form(self.graph.source, self.graph.target, self.first, signs)
        start = self.parts.centred(z)
        return sample_of(
            known, control, lambda enough, most: entropy_forms(self.laplacian, start, enough, most), rule, is_enough
        )


def sample_of(
    known: FloatArray,
    control: FloatArray,
    forms: Callable[[Callable[[FloatArray, FloatArray], bool], int], Forms],
    rule: Rule | None,
    is_enough: Callable[[Estimate, int], bool],
) -> Sample:
    """A sample from what is known of its forms, their control variate, and their bounds.

    Parameters
    ----------
    known, control : ndarray of float64, shape (B,)
    forms : callable
        Takes what :func:`forms_of` does to say when bounds are tight enough.
    rule, is_enough
        See :class:`Sampled`.
    """

    def placed(low: FloatArray, high: FloatArray, by: Rule) -> Sample:
        gap = high - low
        return Sample(high - by.place * gap - known, control, by.wrong * float(gap.mean()), by)

    def enough(low: FloatArray, high: FloatArray) -> bool:
        if rule is not None:
            return False
        sample = placed(low, high, Rule(0, _PLACE, _MISPLACED))
        return is_enough(_combined([[sample]], np.ones(1)), low.size)

    found = forms(enough, rule.steps if rule else _STEPS)
    return placed(found.low, found.high, rule or found.rule)


class _Components:
    """Connected components of the edges that a weighting keeps: `member` per node, `size` per component."""

    def __init__(self, graph: Graph, a: FloatArray) -> None:
        self.member = graph.components(a > 0)[1]
        self.size = np.bincount(self.member)

    def centred(self, z: FloatArray) -> FloatArray:
        """Leave out the part of z on which L is zero: the mean of each column over each component."""
        sums = np.stack([np.bincount(self.member, column, self.size.size) for column in z.T], axis=1)
        sums /= self.size[:, None]
        return z - sums[self.member]


def orders(u: IntArray, v: IntArray, a: FloatArray, d: FloatArray, root: FloatArray) -> tuple[FloatArray, float]:
    """Twice the first order −a f[d_u, d_v] of each edge (u, v), and the trace of M A M A M, a piece at a time."""
    first = np.zeros_like(a)

    def piece(i: int, j: int) -> float:
        on = i + np.flatnonzero(a[i:j])
        at_u, at_v, w = u[on], v[on], a[on]
        first[on] = 2 * w * (d[at_u] * log_mean_inverse(d[at_u], d[at_v]) + np.log(d[at_v]))
        return float(((w * root[at_u]) * (w * root[at_v]) * (root[at_u] + root[at_v])).sum())

    return first, sum(in_chunks(piece, a.size, _EDGES))


def root_of(d: FloatArray) -> FloatArray:
    """The diagonal of M, degrees to the power −⅓; 0 where there is no edge."""
    return np.where(d > 0, np.maximum(d, np.finfo(float).tiny) ** (-1 / 3), 0.0)


def edge_form(u: IntArray, v: IntArray, values: FloatArray, signs: NDArray[np.int8]) -> FloatArray:
    """Σ values z_u z_v over the edges (u, v), for each z, shape (B,)."""

    def piece(i: int, j: int) -> FloatArray:
        return values[i:j] @ (signs[u[i:j]] * signs[v[i:j]])

    return cast("FloatArray", sum(in_chunks(piece, values.size, _EDGES)))


def log_term(
    graph: Graph,
    y: FloatArray,
    *,
    probes: int = GRADIENT_PROBES,
    steps: int = _GRADIENT_STEPS,
    rng: np.random.Generator | int = 0,
) -> FloatArray:
    """Estimate ℓ_m = (e_u − e_v)ᵀ ln(L/T) (e_u − e_v) for every edge, kept or not.

    Parameters
    ----------
    graph : Graph
        N nodes, M edges.
    y : ndarray of float64, shape (M,)
        Edge weights of 0 to 1, not all zero.
    probes, rng
        As in :func:`estimate`.
    steps : int
        Lanczos steps, each taken twice.

    Returns
    -------
    ndarray of float64, shape (M,)
        Between 2 ln(10⁻¹²) and 0. On an edge that joins two components of the kept graph, of n and n' nodes, ln 0
        counts as ln of the eigenvalue floor, as in the exact entropy: ln(10⁻¹²)(1/n + 1/n') is part of it, which is
        far below all others where one of the two is small.
    """
    pattern = Pattern(graph)
    u, v, a = graph.source, graph.target, y / (2 * y.sum())
    d = graph.strengths(a)
    laplacian = Laplacian(pattern, a, d)
    components = _Components(graph, a)
    parts = _known_parts(graph, laplacian, a, d)
    first = Laplacian(pattern, 0.5 * parts.edge, np.zeros_like(d))
    total, square = np.zeros(u.size), np.zeros(u.size)
    taken = 0
    with single_thread():
        for signs in _signs(pattern, probes, rng):
            begun = time.monotonic()
            z = signs.astype(np.float64)
            rest = log_times(laplacian, components.centred(z), steps)
            rest -= parts.log[:, None] * z
            rest -= first.times(z)
            rest += 0.5 * _second(laplacian, parts.root, z)
            differences(pattern, z, rest, total, square)
            taken += z.shape[1]
            if deadline().is_over(in_seconds=time.monotonic() - begun):
                break
    mean = total / taken
    noise = np.maximum(square / taken - mean**2, 0.0) / (taken - 1)
    member, size = components.member, components.size
    apart = member[u] != member[v]
    found = parts.known + mean
    inside = np.flatnonzero(~apart)
    found[inside] = parts.known[inside] + _shrunk(graph, inside, mean[inside], noise[inside], parts)
    found[apart] += np.log(EIGENVALUE_FLOOR) * (1 / size[member[u[apart]]] + 1 / size[member[v[apart]]])
    # ln of eigenvalues between the floor and 1, each with a part of ‖e_u − e_v‖² = 2.
    return np.clip(found, 2 * np.log(EIGENVALUE_FLOOR), 0.0)


class _Known(NamedTuple):
    """What is known of ln(L) to second order around the degrees.

    `log` and `root` (degrees to the power −⅔) are per node. Per edge: `known` is the edge term; its features are
    `ends`, the logarithms at both ends, `pull`, the second order there, `edge`, the first order between them, and
    `common`, the second order.
    """

    log: FloatArray
    root: FloatArray
    known: FloatArray
    ends: FloatArray
    pull: FloatArray
    edge: FloatArray
    common: FloatArray


def _known_parts(graph: Graph, laplacian: Laplacian, a: FloatArray, d: FloatArray) -> _Known:
    u, v = graph.source, graph.target
    local = local_parts(graph, a)
    floored = np.maximum(d, EIGENVALUE_FLOOR)
    log = np.where(d > 0, np.log(floored), 0.0)
    root = np.where(d > 0, floored ** (-2 / 3), 0.0)
    edge = np.where(a > 0, 2 * a * log_mean_inverse(floored[u], floored[v]), 0.0)
    at_u, at_v = (a * root[u]) ** 2 * root[v], (a * root[v]) ** 2 * root[u]
    node = graph.node_sums(at_u, at_v)
    common = root[u] * root[v] * laplacian.common(root)
    ends = log[u] + log[v]
    known = ends + edge - 0.5 * (node[u] + node[v] - 2 * common)
    return _Known(log, root, known, ends, local.node[u] + local.node[v], edge, common)


def _second(laplacian: Laplacian, root: FloatArray, z: FloatArray) -> FloatArray:
    """M A M A M z with M = diag(root)."""
    neighbours = laplacian.without_degrees()
    return root[:, None] * neighbours.times(root[:, None] * neighbours.times(root[:, None] * z))


def _shrunk(graph: Graph, edges: IntArray, mean: FloatArray, noise: FloatArray, parts: _Known) -> FloatArray:
    """Estimates of what is not known at some edges, drawn towards a fit to what is known.

    The fit is linear in the features; what is left keeps the share of its square that the noise doesn't explain,
    both averaged over neighbouring edges (James and Stein's rule, within reach of each edge), and nothing where
    that is less than half as much again as the noise.

    Parameters
    ----------
    edges : ndarray of int, shape (E,)
        Edges within components.
    mean, noise : ndarray of float64, shape (E,)
        Estimates, and the variance of each.
    """
    u, v = graph.source[edges], graph.target[edges]
    count = np.maximum(np.bincount(u, minlength=graph.n_nodes) + np.bincount(v, minlength=graph.n_nodes), 1)

    def smooth(x: FloatArray, times: int) -> FloatArray:
        for _ in range(times):
            at = (np.bincount(u, x, graph.n_nodes) + np.bincount(v, x, graph.n_nodes)) / count
            x = 0.5 * (at[u] + at[v])
        return x

    smoothed = smooth(noise, 1)
    weight = 1 / np.maximum(smoothed, 1e-6 * max(float(smoothed.mean()), 1e-300))
    features = [np.ones(edges.size), *(f[edges] for f in (parts.ends, parts.pull, parts.edge, parts.common))]
    fitted = _fit(features, mean, weight)
    rest = mean - fitted
    kept = 1 - 1.5 * smooth(smoothed, 2) / np.maximum(smooth(rest**2, 3), 1e-300)
    return fitted + np.maximum(kept, 0.0) * rest


def _fit(features: list[FloatArray], y: FloatArray, weight: FloatArray) -> FloatArray:
    """Weighted least squares by the normal equations of scaled features."""
    scaled = [f / max(float(np.abs(f).max(initial=0)), 1e-300) for f in features]
    gram = np.array([[float(f @ (weight * g)) for g in scaled] for f in scaled])
    slopes = np.linalg.lstsq(gram, np.array([float(f @ (weight * y)) for f in scaled]), rcond=1e-12)[0]
    return cast("FloatArray", sum(s * f for s, f in zip(slopes, scaled, strict=True)))


def evaluate_by_probes(graph: Graph, y: FloatArray, gradient: bool) -> EntropyValue:
    """The entropy to 5·10⁻⁴ nats, and its edge term from 32 probes, of seed 0; exact for small components."""
    if _largest(graph) <= SMALL:
        return exact_entropy(graph, y, gradient)
    value = estimate(graph, [y], [[1.0]])[0].value
    return EntropyValue(value, edge_term_by_probes(graph, y) if gradient else None)


def edge_term_by_probes(graph: Graph, y: FloatArray) -> FloatArray:
    """The edge term of :func:`evaluate_by_probes` alone, shape (M,)."""
    if _largest(graph) > SMALL:
        return log_term(graph, y)
    term = exact_entropy(graph, y, True).log_term
    assert term is not None
    return term
