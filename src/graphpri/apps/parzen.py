"""The scalar PRI's objective over points, by Parzen windows (Appendix A of Yu et al., UAI 2022; Principe, 2010, ch. 8).

Points and data are in units of the window's width: divide by it first. Sums over windows are taken in blocks of
bounded memory and by their logarithms, so that points far from everything have means and not 0 / 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit, logsumexp

from graphpri.graph import FloatArray

BLOCK = 1 << 21
"""Windows that are held at a time: 16 MB, whatever the number of points."""

_STEEPEST = np.log(1e3)
"""Where the points' density, against the data's, is above this logarithm, a step is shortened: it would overflow."""


class Pull(NamedTuple):
    """What windows at some points say elsewhere: ln Σ_j w_j G(x − x_j), and the mean of the x_j by these terms.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    >>> log_density, mean = data.pull(np.array([[0.5]]))
    >>> mean, np.round(log_density, 3)
    (array([[0.5]]), array([-0.125]))
    """

    log_density: FloatArray
    mean: FloatArray


@dataclass(frozen=True)
class Cloud:
    """Points (N, d) in units of the window's width, and their weights (N,), above 0 with sum 1.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    >>> round(data.log_information, 4), data.moved(data.points + 9).log_information == data.log_information
    (-0.2191, True)
    """

    points: FloatArray
    weights: FloatArray

    def pull(self, at: FloatArray) -> Pull:
        """Log density, shape (n,), and mean, shape (n, d), at other points; windows G(x) = exp(−‖x‖²/2)."""
        logs = np.log(self.weights)
        density, mean = np.empty(len(at)), np.empty_like(at)
        height = max(1, BLOCK // len(self.points))
        for start in range(0, len(at), height):
            rows = slice(start, start + height)
            terms = cdist(at[rows], self.points, "sqeuclidean")
            terms *= -0.5
            terms += logs
            top = terms.max(axis=1, keepdims=True)
            terms -= top
            np.exp(terms, out=terms)
            total = terms.sum(axis=1)
            density[rows] = top[:, 0] + np.log(total)
            mean[rows] = (terms @ self.points) / total[:, None]
        return Pull(density, mean)

    def moved(self, points: FloatArray) -> Cloud:
        """The same weights elsewhere."""
        return Cloud(points, self.weights)

    @cached_property
    def log_information(self) -> float:
        """Logarithm of the information potential V = Σ_ij w_i w_j G(x_i − x_j); at most 0."""
        return _mean(self.weights, self.pull(self.points).log_density)


class State(NamedTuple):
    """The objective at some points.

    Parameters
    ----------
    cloud : Cloud
        The points.
    objective, entropy, divergence : float
        J, H₂ and D_cs in nats; J is D_cs at β = ∞.
    gradient : ndarray of float64, shape (N, d)
        ∂J/∂x, per width of the window.
    target : ndarray of float64, shape (N, d)
        Where the fixed point's step leads.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    >>> state = evaluate(data, data, 2.0)
    >>> round(state.entropy, 4), abs(round(state.divergence, 4)), state.gradient.shape
    (0.2191, 0.0, (2, 1))
    """

    cloud: Cloud
    objective: float
    entropy: float
    divergence: float
    gradient: FloatArray
    target: FloatArray


def evaluate(cloud: Cloud, data: Cloud, beta: float) -> State:
    """J = H₂(X) + β D_cs(X, S), its gradient and the fixed point's step.

    H₂(X) = −ln V(X) and D_cs = −2 ln V(X, S) + ln V(X) + ln V(S), with V(X, S) = Σ_ij w_i v_j G(x_i − s_j) (Eq. 1.3
    of the appendix). Windows have height 1, so that H₂ lies between 0 (one point) and ln N (N points far apart);
    windows of mass 1 and width s add (d/2) ln(2π s²) to it.

    Parameters
    ----------
    cloud, data : Cloud
        X and S.
    beta : float
        β ≥ 0; may be ∞, where J is D_cs alone.

    Notes
    -----
    The step goes to the weighted mean of the data around a point, plus a share (1 − β)/β of the pull of the other
    points. For β < 1 both draw, and the step is to the mean of both, weighted: at β = 0 blurring mean shift, at
    β = 1 mean shift on the data. Its direction is that of −∂J/∂x_i, by a factor of its own for each point.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]))
    >>> shifted = data.moved(data.points + 0.5)
    >>> round(evaluate(shifted, data, 2.0).objective - evaluate(data, data, 2.0).objective, 4)
    0.3118
    """
    own, theirs = cloud.pull(cloud.points), data.pull(cloud.points)
    within, across = (_mean(cloud.weights, pull.log_density) for pull in (own, theirs))
    entropy, divergence = -within, -2 * across + within + data.log_information
    p, q = shares(beta)
    x, logs = cloud.points, np.log(cloud.weights)
    own_pull = np.exp(logs + own.log_density - within)[:, None] * (own.mean - x)
    data_pull = np.exp(logs + theirs.log_density - across)[:, None] * (theirs.mean - x)
    objective = divergence if np.isinf(beta) else entropy + beta * divergence
    excess = own.log_density - within - theirs.log_density + across
    target = step(x, own.mean, theirs.mean, excess, beta)
    return State(cloud, objective, entropy, divergence, -2 * (p * own_pull + q * data_pull), target)


def shares(beta: float) -> tuple[float, float]:
    """Factors of −ln V(X) and of −2 ln V(X, S) in J.

    Examples
    --------
    >>> shares(0.25), shares(np.inf)
    ((0.75, 0.25), (-1.0, 1.0))
    """
    return (-1.0, 1.0) if np.isinf(beta) else (1 - beta, beta)


def step(x: FloatArray, own: FloatArray, theirs: FloatArray, excess: FloatArray, beta: float) -> FloatArray:
    """Where the fixed point leads, shape (n, d).

    Parameters
    ----------
    x : ndarray of float64, shape (n, d)
    own, theirs : ndarray of float64, shape (n, d)
        Means of the points and of the data around x.
    excess : ndarray of float64, shape (n,)
        Logarithm of the points' density over the data's, each as a share of its V.
    beta : float

    Examples
    --------
    >>> x, own, theirs = np.array([[0.0]]), np.array([[-1.0]]), np.array([[1.0]])
    >>> step(x, own, theirs, np.zeros(1), 1.0), step(x, own, theirs, np.zeros(1), 0.5)
    (array([[1.]]), array([[0.]]))
    """
    p, q = shares(beta)
    if p >= 0:
        # The share of the points in the common mean; expit takes the logarithms that would overflow.
        share = expit(np.log(p) + excess - np.log(q)) if p and q else np.full(len(x), p)
        return theirs + share[:, None] * (own - theirs)
    shorter = np.exp(-np.maximum(excess - _STEEPEST, 0))[:, None]
    ratio = np.exp(np.minimum(excess, _STEEPEST))[:, None]
    return x + shorter * (theirs - x) + p / q * ratio * (own - x)


def _mean(weights: FloatArray, logs: FloatArray) -> float:
    return float(logsumexp(logs, b=weights))
