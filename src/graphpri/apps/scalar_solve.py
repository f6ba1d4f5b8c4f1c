"""Minimising the scalar PRI: the fixed point, damped so that J never rises, then a quasi-Newton method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize
from scipy.spatial.distance import cdist

from graphpri.apps.parzen import BLOCK, Cloud, State, evaluate, shares, step
from graphpri.graph import FloatArray

ROUNDING = 1e-8
"""Norm of ∂J/∂x, for each unit of β, that rounding leaves: J's own rounding grows with β, and so does its curvature."""

_STEPS = 30
"""Steps of the fixed point before a turn of the quasi-Newton method. At β = 1, where points don't see each other, there
is no such limit: each is to climb to the mode that it is under (mean shift)."""

_NEAR = 1e-3
"""Length of a turn's longest step, in widths of the window, at which the quasi-Newton method takes over before."""

_REACH = 1.0
"""How far, in widths, a point goes by the quasi-Newton method before the fixed point has its turn again. Longer ways
may lower J too, but by leaps that have nothing to do with the point's surroundings."""

_HALVINGS = 40
_ARMIJO = 1e-4


class Found(NamedTuple):
    """Where a descent ended: the state, J at the start and after each step, and whether |∂J/∂x| is small enough.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [0.2], [5.0]]), np.full(3, 1 / 3))
    >>> found = descend(data, data, 1.0, max_iter=200, tol=1e-6)
    >>> found.converged, bool((np.diff(found.history) <= 0).all())
    (True, True)
    """

    state: State
    history: list[float]
    converged: bool


def descend(start: Cloud, data: Cloud, beta: float, *, max_iter: int, tol: float) -> Found:
    """Go down from some points to a local minimum of J; no step raises J.

    Parameters
    ----------
    start, data : Cloud
        X at first, and S.
    beta : float
    max_iter : int
        Most steps, of both methods together.
    tol : float
        The norm of ∂J/∂x, over all points, at which to stop; 10⁻⁸ β where that is more, since rounding hides more.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [0.2], [5.0]]), np.full(3, 1 / 3))
    >>> descend(data, data, 1.0, max_iter=200, tol=1e-6).state.cloud.points.round(2).ravel()
    array([0.1, 0.1, 5. ])
    """
    within = max(tol, ROUNDING * beta) if np.isfinite(beta) else tol
    state = evaluate(start, data, beta)
    history = [state.objective]
    while (left := max_iter - len(history) + 1) and _norm(state) > within:
        before = len(history)
        state = _fixed_point(state, data, beta, history, left if beta == 1 else min(left, _STEPS), within)
        if (left := max_iter - len(history) + 1) and _norm(state) > within:
            state = _quasi_newton(state, data, beta, history, left, within)
        if len(history) == before:
            break
    return Found(state, history, _norm(state) <= within)


def _norm(state: State) -> float:
    return float(np.linalg.norm(state.gradient))


def _fixed_point(state: State, data: Cloud, beta: float, history: list[float], most: int, within: float) -> State:
    size = 1.0
    for _ in range(most):
        direction = state.target - state.cloud.points
        if np.abs(direction).max() <= _NEAR or _norm(state) <= within:
            break
        lower, size = _lower(state, direction, data, beta, min(1.0, 2 * size))
        if lower is None:
            break
        state = lower
        history.append(state.objective)
    return state


def _lower(state: State, direction: FloatArray, data: Cloud, beta: float, size: float) -> tuple[State | None, float]:
    """The state after the first of ever shorter steps that lowers J enough, and the share of the step."""
    slope = float((state.gradient * direction).sum())
    for _ in range(_HALVINGS):
        tried = evaluate(state.cloud.moved(state.cloud.points + size * direction), data, beta)
        if tried.objective <= state.objective + _ARMIJO * size * slope:
            return tried, size
        size /= 2
    return None, size


def _quasi_newton(state: State, data: Cloud, beta: float, history: list[float], most: int, within: float) -> State:
    cloud, norm = state.cloud, _norm(state)
    # J's curvature along a point grows with the point's weight: this scale evens it out.
    scale = 1 / np.sqrt(cloud.weights)[:, None]
    start = (cloud.points / scale).ravel()
    reach = np.broadcast_to(_REACH / scale, cloud.points.shape).ravel()

    def function(z: FloatArray) -> tuple[float, FloatArray]:
        nonlocal norm
        found = evaluate(cloud.moved(z.reshape(cloud.points.shape) * scale), data, beta)
        norm = _norm(found)
        return found.objective, (found.gradient * scale).ravel()

    def note(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun))
        if norm <= within:
            raise StopIteration

    options: Any = {"maxiter": most, "maxfun": 20 * most, "ftol": 0.0, "gtol": 0.0, "maxcor": 30}
    bounds = Bounds(start - reach, start + reach)
    found = minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=note, options=options)
    return evaluate(cloud.moved(found.x.reshape(cloud.points.shape) * scale), data, beta)


def carry(at: FloatArray, state: State, data: Cloud, beta: float, *, max_iter: int, tol: float) -> FloatArray:
    """Move further points, of no mass, by the fixed point among points that stay where they are.

    A point slides down J's derivative by mass put at its place, with its own damping, until its steps are shorter
    than `tol`.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [0.2], [5.0]]), np.full(3, 1 / 3))
    >>> state = descend(data, data, 1.0, max_iter=200, tol=1e-6).state
    >>> carry(np.array([[4.5]]), state, data, 1.0, max_iter=200, tol=1e-6).round(2)
    array([[5.]])
    """
    field = _Field(state, data, beta)
    x = at.copy()
    going = np.arange(len(x))
    height, target = field.look(x)
    for _ in range(max_iter):
        direction = target - x[going]
        far = np.abs(direction).max(axis=1, initial=0) > tol
        going, direction, height = going[far], direction[far], height[far]
        if not going.size:
            break
        moved, place, height, target = field.slide(x[going], direction, height)
        going = going[moved]
        x[going] = place
    return x


class _Field:
    """J's derivative by mass at a place, and the fixed point's step there."""

    def __init__(self, state: State, data: Cloud, beta: float) -> None:
        self.cloud, self.data, self.beta = state.cloud, data, beta
        self.within = -state.entropy
        self.across = (self.within + data.log_information - state.divergence) / 2

    def look(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Heights, shape (n,), and targets, shape (n, d)."""
        own, theirs = self.cloud.pull(x), self.data.pull(x)
        p, q = shares(self.beta)
        a, b = own.log_density - self.within, theirs.log_density - self.across
        return -p * np.exp(a) - q * np.exp(b), step(x, own.mean, theirs.mean, a - b, self.beta)

    def slide(
        self, x: FloatArray, direction: FloatArray, height: FloatArray
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray, FloatArray]:
        """One step of each point, halved until it doesn't lead up: which moved, and their places, heights, targets."""
        place, reached, target = x.copy(), height.copy(), x.copy()
        waiting, size = np.arange(len(x)), 1.0
        for _ in range(_HALVINGS):
            tried = x[waiting] + size * direction[waiting]
            new, leads = self.look(tried)
            good = new <= height[waiting]
            at, waiting = waiting[good], waiting[~good]
            place[at], reached[at], target[at] = tried[good], new[good], leads[good]
            size /= 2
            if not waiting.size:
                break
        moved = np.ones(len(x), bool)
        moved[waiting] = False
        return moved, place[moved], reached[moved], target[moved]


def clusters(points: FloatArray, near: float) -> NDArray[np.int64]:
    """Number of the cluster of each point: joined are those that steps of at most `near` lead to; by first point.

    Examples
    --------
    >>> clusters(np.array([[0.0], [5.0], [0.4], [0.8]]), near=0.5)
    array([0, 1, 0, 0])
    """
    labels = np.full(len(points), -1, np.int64)
    for number in range(len(points)):
        left = np.flatnonzero(labels < 0)
        if not left.size:
            break
        labels[left[0]] = number
        edge = left[:1]
        while edge.size:
            left = np.flatnonzero(labels < 0)
            edge = left[_reached(points[left], points[edge], near)]
            labels[edge] = number
    return labels


def _reached(points: FloatArray, edge: FloatArray, near: float) -> NDArray[np.bool_]:
    """Which points are near one of the edge, in blocks."""
    found = np.zeros(len(points), bool)
    height = max(1, BLOCK // max(len(points), 1))
    for start in range(0, len(edge), height):
        found |= (cdist(edge[start : start + height], points) <= near).any(axis=0)
    return found
