"""Functions of a graph's Laplacian on blocks of vectors: Lanczos recurrences and their quadrature.

All vectors of a block advance together. No reorthogonalisation: copies of converged eigenvalues that rounding
brings in share the weight of the one they copy, and quadrature doesn't see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri.entropy import xlogx
from graphpri.graph import FloatArray, Graph
from graphpri.threads import in_chunks

LARGE_NODES = 20_000
LARGE_EDGES = 200_000
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
        n, m = graph.n_nodes, graph.n_edges
        u, v = graph.source, graph.target
        # In this order the rows come out sorted: smaller neighbours first.
        where = np.concatenate([v, u]), np.concatenate([u, v])
        entries = sp.coo_array((np.tile(np.arange(m, dtype=u.dtype), 2), where), shape=(n, n))
        entries.has_canonical_format = True
        rows: Any = entries.tocsr()
        self.graph = graph
        self.large = n >= LARGE_NODES or m >= LARGE_EDGES
        self.starts, self.ends, self.edges = rows.indptr, rows.indices, rows.data


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
        from graphpri.lanczos_loops import multiply

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
        from graphpri.lanczos_loops import subtract

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
        from graphpri.lanczos_loops import shared

        out = np.empty(u.size)
        in_chunks(lambda i, j: shared(self.starts, self.ends, self.values, at_node, u, v, out, i, j), u.size)
        return out


def _dots(x: FloatArray, y: FloatArray) -> FloatArray:
    return cast("FloatArray", np.einsum("ij,ij->j", x, y))


class Step(NamedTuple):
    """A step of the Lanczos recurrence: the basis vectors are ``x * scale``; `alpha` and `beta` follow them."""

    x: FloatArray
    scale: FloatArray
    alpha: FloatArray
    beta: FloatArray


def steps(laplacian: Laplacian, start: FloatArray) -> Iterator[Step]:
    """Lanczos steps from a block of vectors, which it overwrites; the x of a step is valid until the next.

    A vector whose space is exhausted goes on with zeros.
    """
    x, before = start, np.zeros_like(start)
    norm = np.sqrt(_dots(x, x))
    floor = 1e-14 * float(laplacian.degrees.max())
    scale, beta, earlier = _inverse(norm), np.zeros_like(norm), np.zeros_like(norm)
    while True:
        alpha = laplacian.multiply(x, scale, before, beta * earlier)
        norm = np.sqrt(laplacian.subtract(x, alpha * scale, before))
        norm[norm < floor] = 0.0
        yield Step(x, scale, alpha, norm)
        x, before = before, x
        scale, earlier, beta = _inverse(norm), scale, norm


def _inverse(x: FloatArray) -> FloatArray:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


def entropy_forms(
    laplacian: Laplacian, start: FloatArray, enough: Callable[[FloatArray, FloatArray], bool], most: int
) -> tuple[FloatArray, FloatArray, int]:
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

    Returns
    -------
    low, high : ndarray of float64, shape (B,)
    steps : int
    """
    weight = _dots(start, start)
    alphas: list[FloatArray] = []
    betas: list[FloatArray] = []
    look = 4
    for step in steps(laplacian, start):
        alphas.append(step.alpha)
        betas.append(step.beta)
        k = len(alphas)
        last = k >= most or not step.beta.any()
        if k >= look or last:
            look = k + max(1, k // 10)
            low, high = _bounds(np.array(alphas).T, np.array(betas).T, weight)
            if last or enough(low, high):
                return low, high, k
    raise AssertionError("the recurrence has no end")


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
    run = [(s.alpha, s.beta) for _, s in zip(range(count), steps(laplacian, z.copy()), strict=False)]
    alpha, beta = (np.array(part).T for part in zip(*run, strict=True))
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
    from graphpri.lanczos_loops import differences as run

    in_chunks(lambda i, j: run(u, v, x, y, total, square, i, j), u.size)
