"""The Principle of Relevant Information for points: from one point over modes and curves to the data (Appendix A).

The objective over points is by Parzen windows (Yu et al., UAI 2022, Appendix A; Principe, 2010, ch. 8). Points and
data are in units of the window's width: divide by it first. Sums over windows are taken in blocks of bounded memory and
by their logarithms, so that points far from everything have means and not 0 / 0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, minimize
from scipy.spatial.distance import cdist
from scipy.special import expit, logsumexp

from graphpri._arguments import real, seeded, whole
from graphpri._runtime import single_thread
from graphpri.errors import MissingExtraError, OptionError, argument
from graphpri.graph import FloatArray
from graphpri.plot import COLOURS, axes

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn", "the PRI of points") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLOCK = 1 << 21
"""Windows that are held at a time: 16 MB, whatever the number of points."""

_STEEPEST = np.log(1e3)
"""Where the points' density, against the data's, is above this logarithm, a step is shortened: it would overflow."""


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

    def kernel_mean(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log density ln Σ_j w_j G(x − x_j), shape (n,), and mean of the x_j by these terms, shape (n, d).

        The mean is where mean shift leads from x; windows G(x) = exp(−‖x‖²/2).
        """
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
        return density, mean

    def moved(self, points: FloatArray) -> Cloud:
        """The same weights elsewhere."""
        return Cloud(points, self.weights)

    @cached_property
    def log_information(self) -> float:
        """Logarithm of the information potential V = Σ_ij w_i w_j G(x_i − x_j); at most 0."""
        return float(logsumexp(self.kernel_mean(self.points)[0], b=self.weights))


class Evaluated(NamedTuple):
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


def evaluate(cloud: Cloud, data: Cloud, beta: float) -> Evaluated:
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
    x, logs = cloud.points, np.log(cloud.weights)
    (own, own_mean), (theirs, data_mean) = cloud.kernel_mean(x), data.kernel_mean(x)
    within, across = (float(logsumexp(log_density, b=cloud.weights)) for log_density in (own, theirs))
    entropy, divergence = -within, -2 * across + within + data.log_information
    p, q = _coefficients(beta)
    own_pull = np.exp(logs + own - within)[:, None] * (own_mean - x)
    data_pull = np.exp(logs + theirs - across)[:, None] * (data_mean - x)
    objective = divergence if np.isinf(beta) else entropy + beta * divergence
    target = _fixed_point(x, own_mean, data_mean, own - within - theirs + across, beta)
    return Evaluated(cloud, objective, entropy, divergence, -2 * (p * own_pull + q * data_pull), target)


def _coefficients(beta: float) -> tuple[float, float]:
    """Factors of −ln V(X) and of −2 ln V(X, S) in J."""
    return (-1.0, 1.0) if np.isinf(beta) else (1 - beta, beta)


def _fixed_point(x: FloatArray, own: FloatArray, theirs: FloatArray, excess: FloatArray, beta: float) -> FloatArray:
    """Where the fixed point leads from x, shape (n, d).

    `own` and `theirs` are the means of the points and of the data around x; `excess`, shape (n,), is the logarithm of
    the points' density over the data's, each as a share of its V.
    """
    p, q = _coefficients(beta)
    if p >= 0:
        # The share of the points in the common mean; expit takes the logarithms that would overflow.
        share = expit(np.log(p) + excess - np.log(q)) if p and q else np.full(len(x), p)
        return theirs + share[:, None] * (own - theirs)
    shorter = np.exp(-np.maximum(excess - _STEEPEST, 0))[:, None]
    ratio = np.exp(np.minimum(excess, _STEEPEST))[:, None]
    return x + shorter * (theirs - x) + p / q * ratio * (own - x)


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


class Descent(NamedTuple):
    """Where a descent ended: the state, J at the start and after each step, and whether |∂J/∂x| is small enough.

    Examples
    --------
    >>> data = Cloud(np.array([[0.0], [0.2], [5.0]]), np.full(3, 1 / 3))
    >>> found = descend(data, data, 1.0, max_iter=200, tol=1e-6)
    >>> found.converged, bool((np.diff(found.history) <= 0).all())
    (True, True)
    """

    state: Evaluated
    history: list[float]
    converged: bool


def descend(start: Cloud, data: Cloud, beta: float, *, max_iter: int, tol: float) -> Descent:
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
        state = _shift(state, data, beta, history, left if beta == 1 else min(left, _STEPS), within)
        if (left := max_iter - len(history) + 1) and _norm(state) > within:
            state = _quasi_newton(state, data, beta, history, left, within)
        if len(history) == before:
            break
    return Descent(state, history, _norm(state) <= within)


def _norm(state: Evaluated) -> float:
    return float(np.linalg.norm(state.gradient))


def _shift(state: Evaluated, data: Cloud, beta: float, history: list[float], most: int, within: float) -> Evaluated:
    size = 1.0
    for _ in range(most):
        direction = state.target - state.cloud.points
        if np.abs(direction).max() <= _NEAR or _norm(state) <= within:
            break
        lower, size = _backtrack(state, direction, data, beta, min(1.0, 2 * size))
        if lower is None:
            break
        state = lower
        history.append(state.objective)
    return state


def _backtrack(
    state: Evaluated, direction: FloatArray, data: Cloud, beta: float, size: float
) -> tuple[Evaluated | None, float]:
    """The state after the first of ever shorter steps that lowers J enough (Armijo's rule), and the step's share."""
    slope = float((state.gradient * direction).sum())
    for _ in range(_HALVINGS):
        tried = evaluate(state.cloud.moved(state.cloud.points + size * direction), data, beta)
        if tried.objective <= state.objective + _ARMIJO * size * slope:
            return tried, size
        size /= 2
    return None, size


def _quasi_newton(
    state: Evaluated, data: Cloud, beta: float, history: list[float], most: int, within: float
) -> Evaluated:
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


def _carry(at: FloatArray, state: Evaluated, data: Cloud, beta: float, *, max_iter: int, tol: float) -> FloatArray:
    """Move further points, of no mass, by the fixed point among points that stay where they are.

    A point slides down J's derivative by mass put at its place, with its own damping, until its steps are shorter
    than `tol`.
    """
    p, q = _coefficients(beta)
    within = -state.entropy
    across = (within + data.log_information - state.divergence) / 2

    def look(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """J's derivative by mass at places, shape (n,), and where the fixed point leads from there, shape (n, d)."""
        (own, own_mean), (theirs, data_mean) = state.cloud.kernel_mean(x), data.kernel_mean(x)
        a, b = own - within, theirs - across
        return -p * np.exp(a) - q * np.exp(b), _fixed_point(x, own_mean, data_mean, a - b, beta)

    x = at.copy()
    going = np.arange(len(x))
    height, target = look(x)
    for _ in range(max_iter):
        direction = target - x[going]
        far = np.abs(direction).max(axis=1, initial=0) > tol
        going, direction, height = going[far], direction[far], height[far]
        if not going.size:
            break
        # One step of each point, halved until it doesn't lead up; a point that every step leads up from stays.
        place, reached, target = x[going], height.copy(), np.empty_like(direction)
        waiting, size = np.arange(going.size), 1.0
        for _ in range(_HALVINGS):
            tried = x[going[waiting]] + size * direction[waiting]
            new, leads = look(tried)
            good = new <= height[waiting]
            moved, waiting = waiting[good], waiting[~good]
            place[moved], reached[moved], target[moved] = tried[good], new[good], leads[good]
            size /= 2
            if not waiting.size:
                break
        x[going] = place
        stays = np.zeros(going.size, bool)
        stays[waiting] = True
        going, height, target = going[~stays], reached[~stays], target[~stays]
    return x


def clusters(points: FloatArray, near: float) -> NDArray[np.int64]:
    """Number of the cluster of each point: joined are those that steps of at most `near` lead to; by first point.

    These are the clusters of DBSCAN with one sample a core, or of single linkage cut at `near`; the latter, unlike the
    former, needs memory for the points only, where all are neighbours of each other.

    Examples
    --------
    >>> clusters(np.array([[0.0], [5.0], [0.4], [0.8]]), near=0.5)
    array([0, 1, 0, 0])
    """
    if len(points) < 2:
        return np.zeros(len(points), np.int64)
    # scikit-learn joins what is nearer than the threshold, not as near.
    options: Any = {"n_clusters": None, "linkage": "single", "distance_threshold": np.nextafter(near, np.inf)}
    found = AgglomerativeClustering(**options).fit_predict(points)
    _, first, labels = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


NEAR = 0.05
"""Points that are this near each other, in bandwidths, belong to one mode."""

_TRANSFORM_STEPS, _STILL = 1000, 1e-6
"""Most steps of a sample that is transformed, and the step, in bandwidths, that is none."""

_FARTHEST = 1e100
"""Bandwidths that samples may be apart: squares must stay finite."""

EXPECTED_FAILED_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "Silverman's rule takes the effective number of samples, which weights lower and repeated samples don't; with "
        "a bandwidth of its own, the points agree as far as tol goes"
    )
}
"""Checks of scikit-learn's ``check_estimator`` that do not apply, and why: pass as ``expected_failed_checks``."""


class ScalarPRI(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Points that minimise J = H₂(X) + β D_cs(X, S): the entropy of the points, and their divergence from the data S.

    H₂ is Rényi's quadratic entropy and D_cs the divergence of Cauchy and Schwarz, both by Parzen windows: Gaussian
    ones of width s, the bandwidth (Eq. 1.3 of the appendix of Yu et al., UAI 2022; Principe, *Information Theoretic
    Learning*, 2010, chapter 8). The points start at the data and go down J: at β = 0 to a single point, at β = 1 to
    the modes of the data's density (mean shift), at β of about 2 to 10 to points along its ridges (principal curves);
    as β → ∞ they stay where the data are. Where one regime ends and the next begins depends on the bandwidth.

    Parameters
    ----------
    beta : float
        β ≥ 0, the weight of the divergence; ``math.inf`` for the divergence alone.
    bandwidth : float or "silverman"
        Width s > 0 of the windows, in units of the data; the same along all columns, so bring them to one scale
        first. "silverman" is σ (4 / ((d + 2) n))^(1/(d + 4)), where σ² is the mean variance of the columns and n the
        (effective) number of samples; 1 where all samples are the same.
    init : None, int, or array of float, shape (N, d)
        Where the points start: at the samples, with their weights; at that many of the samples, drawn without
        replacement; or anywhere. Those of the last two weigh the same.
    max_iter : int
        Most steps.
    tol : float
        Norm of ∂J/∂x over all points, in nats per bandwidth, at which to stop, or 10⁻⁸ β where that is more: J's
        rounding hides what is below.
    random_state : int, RandomState or None
        For an `init` that draws. None is 0, so that the same call gives the same result.

    Attributes
    ----------
    points_ : ndarray of float64, shape (N, d)
        The points, in the order of the samples, or of `init`.
    labels_ : ndarray of int, shape (N,)
        The mode of each point; points belong to the same one where steps of at most 0.05 bandwidths join them.
    modes_ : ndarray of float64, shape (n_modes, d)
        The mean of each mode's points.
    bandwidth_ : float
    objective_, entropy_, divergence_ : float
        J, H₂ and D_cs in nats. Windows have height 1, so that H₂ = 0 for a single point. At β = ∞ J is D_cs.
    gradient_norm_ : float
        |∂J/∂x|, in nats per bandwidth.
    history_ : list of float
        J at the start and after each step; it never rises.
    n_iter_ : int
        Steps.
    n_features_in_ : int

    Notes
    -----
    Minima are local. Samples much farther apart than the bandwidth hardly draw each other, and then β = 0 leaves
    several points. Starts from larger β, see :meth:`path`, follow one branch of solutions; the other way round they
    would not, since points that have met don't part.

    A step takes O(N N₀ d) time for N points and N₀ samples, and little memory beyond theirs.

    Raises
    ------
    MissingExtraError
        On import, where scikit-learn is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [6, 0], [3, 6]], 20, axis=0)
    >>> model = ScalarPRI(beta=1, bandwidth=1.5).fit(X)
    >>> model.modes_.round(1).tolist(), np.bincount(model.labels_).tolist()
    ([[-0.3, 0.1], [6.4, 0.2], [2.9, 6.1]], [20, 20, 20])
    """

    points_: FloatArray
    labels_: NDArray[np.int64]
    modes_: FloatArray
    bandwidth_: float
    objective_: float
    entropy_: float
    divergence_: float
    gradient_norm_: float
    history_: list[float]
    n_iter_: int
    n_features_in_: int
    _centre: FloatArray
    _data: Cloud
    _state: Evaluated

    def __init__(
        self,
        beta: float = 1.0,
        bandwidth: float | Literal["silverman"] = "silverman",
        *,
        init: Any = None,
        max_iter: int = 10_000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.beta = beta
        self.bandwidth: float | Literal["silverman"] = bandwidth
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ScalarPRI:
        """Move the points from their start to a minimum of J.

        Parameters
        ----------
        X : array of float, shape (N₀, d)
            The samples S.
        y : ignored
        sample_weight : array of float, shape (N₀,), optional
            Weights ≥ 0 of the samples; only their ratios count. Samples of weight 0 move as new ones do, see
            :meth:`transform`.

        Returns
        -------
        ScalarPRI
            The estimator itself.

        Raises
        ------
        OptionError
            For parameters and weights out of range, and an `init` that doesn't fit the samples.
        ValueError
            For samples that are not a finite table of numbers, as scikit-learn has it.

        Warns
        -----
        ConvergenceWarning
            Where `max_iter` steps don't lead to a gradient below `tol`.
        """
        return self._fit(X, sample_weight, None)

    def transform(self, X: Any) -> FloatArray:
        """Move samples by the fixed point among the learned points, which stay where they are.

        A sample is a point of no mass: it slides down J's derivative by mass put at its place, for at most 1000 steps.
        At β ≤ 1 it goes to a mode, as the fitted samples did; at moderate β to the curve that the points outline.
        Points of mass keep their distance there and those of none don't, so that fitted samples end near their points,
        not at them: these are in `points_`. At large β the slopes are slight, and the places they lead to mean little;
        at β = ∞ samples stay where they are.

        Parameters
        ----------
        X : array of float, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, d)
        """
        check_is_fitted(self)
        checked = cast("Any", validate_data)(self, X, reset=False, dtype=np.float64)
        return self._transform(_in_bandwidths(checked, self._centre, self.bandwidth_)) * self.bandwidth_ + self._centre

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> FloatArray:
        """Fit, and give the samples' points: `points_`, or :meth:`transform` where `init` puts points elsewhere."""
        self.fit(X, y, sample_weight, **fit_params)
        return self.points_ if self.init is None else self.transform(X)

    def path(self, X: Any, betas: Iterable[float], sample_weight: Any = None) -> list[ScalarPRI]:
        """Fits at several β, from the largest to the least, each from the points of the one before (annealing).

        Parameters
        ----------
        X, sample_weight : as in :meth:`fit`
        betas : iterable of float
            In any order.

        Returns
        -------
        list of ScalarPRI
            One for each β, in the order of `betas`; this estimator stays as it is.
        """
        asked = [real("betas", beta, 0.0, math.inf) for beta in betas]
        fits: dict[float, ScalarPRI] = {}
        before: Cloud | None = None
        for beta in sorted(set(asked), reverse=True):
            model = cast("ScalarPRI", clone(self)).set_params(beta=beta)
            fits[beta] = model._fit(X, sample_weight, before)
            before = model._state.cloud
        return [fits[beta] for beta in asked]

    def _fit(self, X: Any, sample_weight: Any, start: Cloud | None) -> ScalarPRI:
        self._check()
        checked = cast("Any", validate_data)(self, X, dtype=np.float64)
        weights = _weights(sample_weight, len(checked))
        heavy = weights > 0
        self._centre = checked.min(axis=0) / 2 + checked.max(axis=0) / 2
        self.bandwidth_ = self._width(checked[heavy] - self._centre, weights[heavy])
        samples = _in_bandwidths(checked, self._centre, self.bandwidth_)
        self._data = Cloud(samples[heavy], weights[heavy])
        begin = self._start() if start is None else start
        with single_thread():
            found = descend(begin, self._data, self.beta, max_iter=self.max_iter, tol=self.tol)
        self._note(found.state)
        self.history_, self.n_iter_ = found.history, len(found.history) - 1
        if self.init is None and not heavy.all():
            self._spread(samples, heavy)
        if not found.converged:
            warnings.warn(
                f"after {self.n_iter_} steps the norm of J's gradient is {self.gradient_norm_:.2g}, above "
                f"tol={self.tol:.2g}: J may fall further; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _note(self, state: Evaluated) -> None:
        self._state = state
        self.objective_, self.entropy_, self.divergence_ = state.objective, state.entropy, state.divergence
        self.gradient_norm_ = float(np.linalg.norm(state.gradient))
        self._place(state.cloud.points)

    def _place(self, points: FloatArray) -> None:
        self.points_ = points * self.bandwidth_ + self._centre
        self.labels_ = clusters(points, NEAR)
        sums = [np.bincount(self.labels_, column) for column in self.points_.T]
        self.modes_ = np.stack(sums, axis=1) / np.bincount(self.labels_)[:, None]

    def _spread(self, samples: FloatArray, heavy: NDArray[np.bool_]) -> None:
        """Samples of weight 0 take their places among the points."""
        points = np.empty_like(samples)
        points[heavy], points[~heavy] = self._state.cloud.points, self._transform(samples[~heavy])
        self._place(points)

    def _transform(self, at: FloatArray) -> FloatArray:
        with single_thread():
            return _carry(
                at, self._state, self._data, self.beta, max_iter=min(self.max_iter, _TRANSFORM_STEPS), tol=_STILL
            )

    def _start(self) -> Cloud:
        """Where the points start, in bandwidths."""
        if self.init is None:
            return self._data
        if isinstance(self.init, int | np.integer) and not isinstance(self.init, bool):
            return self._drawn(int(self.init))
        try:
            found = np.asarray(self.init, np.float64)
        except (TypeError, ValueError):
            raise OptionError(f"{argument('init', self.init)}: pass points, a number of them, or None") from None
        if found.ndim != 2 or not len(found) or found.shape[1] != self.n_features_in_ or not np.isfinite(found).all():
            raise OptionError(
                f"init of shape {found.shape} must be a number of points, or finite positions, one a row, with the "
                f"{self.n_features_in_} columns of X"
            )
        return _even(_in_bandwidths(found, self._centre, self.bandwidth_))

    def _drawn(self, count: int) -> Cloud:
        there = len(self._data.points)
        if not 1 <= count <= there:
            raise OptionError(f"init={count}: draw 1 to {there} points, as many as there are samples with weight")
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        at = rng.choice(there, count, replace=False, p=self._data.weights)
        return _even(self._data.points[np.sort(at)])

    def _width(self, samples: FloatArray, weights: FloatArray) -> float:
        if isinstance(self.bandwidth, str):
            return silverman(samples, weights)
        return real("bandwidth", self.bandwidth, above=True)

    def _check(self) -> None:
        real("beta", self.beta, 0.0, math.inf)
        real("tol", self.tol)
        whole("max_iter", self.max_iter, 1)
        if not isinstance(self.random_state, np.random.RandomState):
            seeded("random_state", self.random_state)
        if isinstance(self.bandwidth, str) and self.bandwidth != "silverman":
            raise OptionError(f"bandwidth={self.bandwidth!r}: choose 'silverman' or pass a number above 0")


def silverman(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Silverman's width of Gaussian windows, one for all columns.

    σ (4 / ((d + 2) n))^(1/(d + 4)), with σ² the mean variance of the columns and n = (Σ w)² / Σ w².

    Parameters
    ----------
    X : array_like of float, shape (N, d)
    sample_weight : array_like of float, shape (N,), optional

    Returns
    -------
    float
        1 where all samples are the same.

    References
    ----------
    Silverman, *Density Estimation for Statistics and Data Analysis*, 1986, Section 4.3.2.

    Examples
    --------
    >>> round(silverman([[0.0], [1.0], [2.0], [3.0]]), 4)
    0.8975
    """
    x = np.asarray(X, np.float64)
    w = np.full(len(x), 1 / len(x)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    w = w / w.sum()
    unit = float(np.abs(x).max(initial=0.0)) or 1.0
    x = x / unit
    variance = float((w @ (x - w @ x) ** 2).mean())
    if variance <= (4 * np.finfo(float).eps) ** 2:
        return 1.0
    n, d = 1 / float((w**2).sum()), x.shape[1]
    return unit * math.sqrt(variance) * (4 / ((d + 2) * n)) ** (1 / (d + 4))


def draw(model: ScalarPRI, ax: Axes | None = None, *, columns: tuple[int, int] = (0, 1)) -> Axes:
    """Draw the samples of a fitted model, and its points over them.

    Parameters
    ----------
    model : ScalarPRI
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure where absent.
    columns : pair of int
        The two columns to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        For columns that the samples don't have.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> draw(ScalarPRI(beta=0).fit(X)).get_title()
    'β = 0: 1 mode'
    """
    check_is_fitted(model)
    if any(not 0 <= column < model.n_features_in_ for column in columns):
        raise OptionError(f"columns={columns}: the samples have the columns 0 to {model.n_features_in_ - 1}")
    samples = model._data.points * model.bandwidth_ + model._centre  # pyright: ignore[reportPrivateUsage]
    ax = draw_points(samples[:, columns], model.points_[:, columns], ax)
    count = len(model.modes_)
    ax.set_title(f"β = {model.beta:g}: {count} mode{'s' * (count != 1)}")
    ax.set_xlabel(f"column {columns[0]}")
    ax.set_ylabel(f"column {columns[1]}")
    return ax


def draw_points(samples: FloatArray, points: FloatArray | None, ax: Axes | None = None, *, size: float = 12.0) -> Axes:
    """Draw samples as pale discs and points as darker, outlined ones over them, which differ in grey too.

    Examples
    --------
    >>> ax = draw_points(np.zeros((3, 2)), np.ones((1, 2)))
    >>> [drawn.get_label() for drawn in ax.collections]
    ['samples', 'points']
    """
    ax = axes(ax)
    ax.scatter(*samples.T, s=size, color="#BBBBBB", linewidths=0, label="samples")
    if points is not None:
        ax.scatter(*points.T, s=size, color=COLOURS[0], edgecolors="white", linewidths=0.3, label="points")
    ax.set_aspect("equal")
    return ax


def _weights(asked: Any, count: int) -> FloatArray:
    """Weights with sum 1."""
    if asked is None:
        return np.full(count, 1 / count)
    w = np.asarray(asked, np.float64)
    w = np.full(count, w) if w.ndim == 0 else w
    if w.shape != (count,):
        raise OptionError(f"sample_weight of shape {w.shape}: there are {count} samples, pass a weight for each")
    if not np.isfinite(w).all() or (w < 0).any():
        at = int(np.argmin(np.isfinite(w) & (w >= 0)))
        raise OptionError(f"sample_weight has {w[at]} at {at}: weights must be finite, 0 or more")
    if not w.any():
        raise OptionError("sample_weight is zero for every sample: at least one must count")
    w = w / w.max()
    return w / w.sum()


def _even(points: FloatArray) -> Cloud:
    return Cloud(points, np.full(len(points), 1 / len(points)))


def _in_bandwidths(X: FloatArray, centre: FloatArray, width: float) -> FloatArray:
    with np.errstate(over="ignore"):
        found = (X - centre) / width
    if not (np.abs(found) <= _FARTHEST).all():
        raise OptionError(
            f"samples lie {np.abs(found).max():.2g} bandwidths of {width:.2g} from the centre: their squares are too "
            "large for a float; pass a larger bandwidth, or leave such samples out"
        )
    return found
