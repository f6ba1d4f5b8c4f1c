"""The linear systems of graph-regularised multi-task regression, and what leave-one-out says about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lapack

from graphpri.apps.mtl_tasks import Tasks
from graphpri.errors import OptionError
from graphpri.graph import FloatArray, Graph
from graphpri.memory import require

DENSE = 1500
"""Coefficients in all, T·P, up to which systems are solved by a dense factorisation."""
LEAVE_ONE_OUT = 8000
"""Coefficients in all up to which leave-one-out errors are computed: they need a dense inverse."""

REACH = 2e7
"""Most that the graph may weigh, in units of what the rows weigh: well beyond, rounding hides the rows."""

_RESIDUAL = 1e-11
_STEPS = 5000


class System(NamedTuple):
    """blkdiag(squares) + coupling · L⊗I.

    `squares` has shape (T, P, P) and holds each task's XᵀX, its ridge on the diagonal; `coupling` is 2γ for the
    squared penalty.

    Examples
    --------
    >>> squares, pair = np.ones((2, 1, 1)), Graph.from_edges([0], [1])
    >>> system = System(squares, pair.laplacian(), 1.0)
    >>> system.dense()
    array([[ 2., -1.],
           [-1.,  2.]])
    >>> system.solve(np.array([[3.0], [0.0]])).ravel()
    array([2., 1.])
    """

    squares: FloatArray
    laplacian: sp.csr_array
    coupling: float

    def solve(self, products: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Coefficients of all tasks, shape (T, P), for right-hand sides Xᵀy of that shape."""
        if not self.coupling:
            return np.array([_solved(own, b) for own, b in zip(self.squares, products, strict=True)])
        if products.size <= DENSE:
            return _solved(self.dense(), products.ravel()).reshape(products.shape)
        return self._conjugate_gradients(products, start)

    def dense(self) -> FloatArray:
        """The whole matrix, shape (T·P, T·P)."""
        t, p, _ = self.squares.shape
        matrix = np.zeros((t, p, t, p))
        index = np.arange(t)
        matrix[index, :, index, :] = self.squares
        between = self.laplacian.tocoo()
        diagonal = np.arange(p)
        matrix[between.row[:, None], diagonal, between.col[:, None], diagonal] += self.coupling * between.data[:, None]
        return matrix.reshape(t * p, t * p)

    def projected(self, basis: FloatArray) -> System:
        """The system for coefficients in the span of an orthonormal basis, shape (P, R); ridges stay what they are."""
        return self._replace(squares=basis.T @ self.squares @ basis)

    def times(self, w: FloatArray) -> FloatArray:
        """The matrix times coefficients, shape (T, P)."""
        own = (self.squares @ w[:, :, None])[:, :, 0]
        return own + self.coupling * cast("FloatArray", self.laplacian @ w)

    def _conjugate_gradients(self, b: FloatArray, start: FloatArray | None) -> FloatArray:
        """Solution by conjugate gradients, preconditioned by the tasks' own blocks."""
        p = b.shape[1]
        blocks = self.squares + (self.coupling * self.laplacian.diagonal())[:, None, None] * np.eye(p)
        # Columns that are constant within a task leave its block singular.
        floor = 1e-12 * np.einsum("tii->t", blocks).mean() / p
        inverse = np.linalg.inv(blocks + floor * np.eye(p))

        def prepared(r: FloatArray) -> FloatArray:
            return (inverse @ r[:, :, None])[:, :, 0]

        return _iterate(self.times, prepared, b, np.zeros_like(b) if start is None else start)


def _iterate(
    times: Callable[[FloatArray], FloatArray],
    prepared: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    x: FloatArray,
) -> FloatArray:
    r = b - times(x)
    z = prepared(r)
    d, rz, enough = z, float((r * z).sum()), _RESIDUAL**2 * float((b * prepared(b)).sum())
    for _ in range(_STEPS):
        if rz <= enough:
            break
        q = times(d)
        step = rz / float((d * q).sum())
        x, r = x + step * d, r - step * q
        z = prepared(r)
        before, rz = rz, float((r * z).sum())
        d = z + rz / before * d
    return x


def _solved(matrix: FloatArray, b: FloatArray) -> FloatArray:
    """Solution of a positive semi-definite system; the shortest where there are several."""
    scale = float(np.trace(matrix)) / len(matrix) or 1.0
    try:
        factor = cho_factor(matrix)
        if np.diag(factor[0]).min() > 1e-7 * np.sqrt(scale):
            return cho_solve(factor, b)
    except LinAlgError:
        pass
    values, vectors = eigh(matrix)
    real = values > 1e-12 * max(float(values[-1]), 0.0)
    return vectors[:, real] @ ((vectors[:, real].T @ b) / values[real])


def leave_one_out(tasks: Tasks, system: System) -> FloatArray:
    """Errors of predicting each row without it, shape (n,): (y − ŷ)/(1 − H), exact for the squared penalty.

    Raises
    ------
    OptionError
        For more coefficients than :data:`LEAVE_ONE_OUT`.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=3, n=40).tasks
    >>> apart = System(ridged(tasks.moments[0], np.ones(3)), Graph.from_edges([], [], n_nodes=3).laplacian(), 0.0)
    >>> leave_one_out(tasks, apart).shape
    (120,)
    """
    t, p, _ = system.squares.shape
    check_leave_one_out(t, p)
    require(16.0 * (t * p) ** 2, f"leave-one-out with {t * p} coefficients", "choose gamma on some of the tasks")
    X, y = tasks.centred
    # Directions that no task's rows have, such as a column constant within each, would make the system singular.
    values, vectors = eigh(X.T @ X)
    basis = vectors[:, values >= 1e-12 * values[-1]]
    rows, p = X @ basis, basis.shape[1]
    inverse = _inverse(system.projected(basis).dense()).reshape(t, p, t, p)
    index = np.arange(t)
    own = inverse[index, :, index, :]
    coefficients = np.einsum("ipjq,jq->ip", inverse, tasks.moments[1] @ basis)
    leverage = np.einsum("np,npq,nq->n", rows, own[tasks.member], rows)
    if tasks.intercept:
        leverage = leverage + (1 / tasks.sizes)[tasks.member]
    residual = y - np.einsum("np,np->n", rows, coefficients[tasks.member])
    return residual / np.maximum(1 - leverage, 1e-10)


def check_leave_one_out(t: int, p: int) -> None:
    """Refuse leave-one-out of more coefficients than :data:`LEAVE_ONE_OUT`.

    Examples
    --------
    >>> check_leave_one_out(100, 20)
    """
    if t * p > LEAVE_ONE_OUT:
        raise OptionError(
            f"leave-one-out needs a dense inverse of {t * p} coefficients ({t} tasks of {p}), and does up to "
            f"{LEAVE_ONE_OUT}: choose gamma on some of the tasks, and pass it"
        )


def _inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix; the pseudo-inverse of a singular one."""
    scale = float(np.trace(matrix)) / len(matrix) or 1.0
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if not failed and np.diag(factor).min() > 1e-7 * np.sqrt(scale):
        lower = np.tril(lapack.dpotri(factor, lower=1)[0])
        return lower + np.tril(lower, -1).T
    values, vectors = eigh(matrix)
    real = values > 1e-12 * max(float(values[-1]), 0.0)
    return (vectors[:, real] / values[real]) @ vectors[:, real].T


def ridged(squares: FloatArray, ridges: FloatArray) -> FloatArray:
    """The tasks' XᵀX, shape (T, P, P), with each one's ridge on the diagonal.

    Examples
    --------
    >>> ridged(np.zeros((1, 2, 2)), np.array([3.0]))
    array([[[3., 0.],
            [0., 3.]]])
    """
    return squares + ridges[:, None, None] * np.eye(squares.shape[1])


def edge_lengths(graph: Graph, w: FloatArray) -> FloatArray:
    """Distances ‖w_i − w_j‖ of the coefficients at the ends of each edge, shape (M,).

    Examples
    --------
    >>> edge_lengths(Graph.from_edges([0, 1], [1, 2]), np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]))
    array([5., 0.])
    """
    return np.linalg.norm(w[graph.source] - w[graph.target], axis=1)


def half_quadratic(
    tasks: Tasks, graph: Graph, lam: float, ridges: FloatArray, tol: float, start: FloatArray
) -> tuple[FloatArray, list[float]]:
    """Minimum of ½Σ‖X w − y‖² + ½ ridge ‖w‖² + (λ/2) Σ a_ij ‖w_i − w_j‖ (convex clustering, He et al. 2019).

    Each step replaces the lengths by quadratics that touch them, with l_ij = a_ij/√(‖w_i − w_j‖² + ε²), and solves the
    linear system from the last solution, so that the (smoothed) objective never rises.

    Returns
    -------
    coefficients : ndarray of float64, shape (T, P)
    objectives : list of float
        At the start and after each step.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks, pair = synthetic(seed=0, n_tasks=2, n=60).tasks, Graph.from_edges([0], [1])
    >>> w, history = half_quadratic(tasks, pair, 1.0, np.zeros(2), 1e-8, np.zeros((2, 30)))
    >>> w.shape, bool((np.diff(history) <= 0).all())
    ((2, 30), True)
    """
    squares, products = tasks.moments
    squares = ridged(squares, ridges)
    constant = 0.5 * float((tasks.centred[1] ** 2).sum())
    lengths = edge_lengths(graph, start)
    epsilon = 1e-6 * (float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 1.0)
    if own := float(np.einsum("tii->", squares)) / products.size:
        epsilon = max(epsilon, lam / 2 * float(graph.weights.max(initial=0)) / (REACH * own))

    def objective(w: FloatArray) -> float:
        fit = 0.5 * float(np.einsum("tp,tpq,tq->", w, squares, w)) - float((w * products).sum())
        return constant + fit + 0.5 * lam * float(graph.weights @ np.hypot(edge_lengths(graph, w), epsilon))

    w, history = start, [objective(start)]
    while True:
        pull = graph.weights / np.hypot(edge_lengths(graph, w), epsilon)
        w = System(squares, graph.laplacian(pull), lam / 2).solve(products, w)
        history.append(objective(w))
        # Not "<=": an objective that overflowed, for a weight near the largest number, has no difference.
        if not history[-2] - history[-1] > tol * abs(history[-2]) or len(history) > 10_000:
            return w, history
