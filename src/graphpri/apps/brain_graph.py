"""From correlations to graphs and features: the strongest edges, Fisher z and tangent space, clustering."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from graphpri._runtime import single_thread
from graphpri.apps.brain_data import Connectomes
from graphpri.errors import MissingExtraError, OptionError, argument
from graphpri.graph import BoolArray, FloatArray, IntArray

Signs = Literal["abs", "positive", "two"]
FeatureKind = Literal["correlation", "tangent"]

SHRINKAGE = 0.1
"""Weight of the identity that tangent features add to correlation matrices that come without series."""

_LARGEST = 1 - 1e-7  # |r| above it has the Fisher z of this: 8.4


def pairs(n: int) -> tuple[IntArray, IntArray]:
    """Ends u < v of the N(N − 1)/2 edges between `n` regions, in the order of every edge array here.

    Examples
    --------
    >>> [ends.tolist() for ends in pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    return np.triu_indices(n, 1)


def upper(matrices: ArrayLike) -> FloatArray:
    """Strict upper triangles of symmetric matrices, shape (..., N, N) to (..., N(N − 1)/2), row by row.

    Examples
    --------
    >>> upper([[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]]).tolist()
    [0.1, 0.2, 0.3]
    """
    held = np.asarray(matrices, np.float64)
    u, v = pairs(held.shape[-1])
    return held[..., u, v]


def square(edges: ArrayLike, n: int) -> FloatArray:
    """Symmetric matrices with a zero diagonal from edge values: the inverse of :func:`upper`.

    Examples
    --------
    >>> square([0.1, 0.2, 0.3], 3).tolist()
    [[0.0, 0.1, 0.2], [0.1, 0.0, 0.3], [0.2, 0.3, 0.0]]
    """
    held = np.asarray(edges, np.float64)
    matrices = np.zeros((*held.shape[:-1], n, n))
    u, v = pairs(n)
    matrices[..., u, v] = matrices[..., v, u] = held
    return matrices


def n_kept(n: int, density: float) -> int:
    """Number of edges of a graph over `n` regions: round(density · N(N − 1)/2).

    Raises
    ------
    OptionError
        For a density outside (0, 1], and one that leaves no edge.

    Examples
    --------
    >>> n_kept(116, 0.2)
    1334
    """
    if not 0 < density <= 1:
        raise OptionError(f"{argument('density', density)}: give a share of all pairs, above 0 and up to 1")
    count = round(density * (n * (n - 1) // 2))
    if not count:
        raise OptionError(
            f"{argument('density', density)} leaves a graph of {n} regions without edges: give a larger one"
        )
    return count


def connectome_graphs(
    matrices: ArrayLike, density: float = 0.2, signs: Signs = "abs", names: Sequence[str] | None = None
) -> FloatArray:
    """Weighted graphs of exactly the strongest correlations, the same number of edges in each.

    Parameters
    ----------
    matrices : array_like, shape (S, N, N)
        Correlations.
    density : float
        Share of all pairs that become edges; the paper's is 0.2, 1334 edges of 116 regions.
    signs : {"abs", "positive", "two"}
        By |R| with weights |R|; by R, the positive ones only; or by |R| in two channels, positive
        correlations and the magnitude of negative ones.
    names : sequence of str, optional
        Of the scans, for messages.

    Returns
    -------
    ndarray of float64, shape (S, N, N), or (S, 2, N, N) for "two"
        Adjacency with a zero diagonal. Isolated nodes are normal. Of equal correlations the first in the order of
        :func:`pairs` is kept.

    Raises
    ------
    OptionError
        For a density that leaves no edge, and for a matrix with fewer non-zero (or positive) entries than edges.

    Examples
    --------
    >>> R = np.array([[[1, 0.9, -0.8], [0.9, 1, 0.1], [-0.8, 0.1, 1]]])
    >>> connectome_graphs(R, density=0.67)[0].tolist()
    [[0.0, 0.9, 0.8], [0.9, 0.0, 0.0], [0.8, 0.0, 0.0]]
    """
    if signs not in get_args(Signs):
        raise OptionError(f"{argument('signs', signs)}: choose 'abs', 'positive' or 'two'")
    n = np.asarray(matrices).shape[-1]
    values, count = upper(matrices), n_kept(n, density)
    strength = np.maximum(values, 0) if signs == "positive" else np.abs(values)
    there = (strength > 0).sum(axis=1)
    if (short := np.flatnonzero(there < count)).size:
        i, what = int(short[0]), "positive" if signs == "positive" else "non-zero"
        scan = f"number {i}" if names is None else names[i]
        raise OptionError(
            f"scan {scan} has {there[i]} {what} correlations, fewer than the {count} edges of "
            f"{argument('density', density, 'g')}: "
            "give a smaller density"
        )
    best = np.argsort(-strength, axis=1, kind="stable")[:, :count]
    kept = np.zeros_like(values)
    np.put_along_axis(kept, best, np.take_along_axis(values, best, axis=1), axis=1)
    if signs == "two":
        return square(np.stack([np.maximum(kept, 0), np.maximum(-kept, 0)], axis=1), n)
    return square(np.abs(kept), n)


def candidates(adjacency_train: ArrayLike, share: float = 0.5) -> BoolArray:
    """Edges that stand in a share of the training graphs or more.

    Parameters
    ----------
    adjacency_train : array_like, shape (S, N, N) or (S, 2, N, N)
        Graphs of training scans only.
    share : float
        In (0, 1].

    Returns
    -------
    ndarray of bool, shape (N(N − 1)/2,)
        In the order of :func:`pairs`.

    Raises
    ------
    OptionError
        For another share, and where no edge is that common.

    Examples
    --------
    >>> graphs = square([[0.5, 0.0, 0.2], [0.4, 0.3, 0.0], [0.6, 0.0, 0.1]], 3)
    >>> candidates(graphs, share=0.5).tolist()
    [True, False, True]
    """
    if not 0 < share <= 1:
        raise OptionError(f"{argument('share', share)}: give a share of the training graphs, above 0 and up to 1")
    weights = upper(adjacency_train)
    if weights.ndim == 3:
        weights = weights.max(axis=1)
    found = np.asarray((weights > 0).mean(axis=0) >= share - 1e-12)
    if not found.any():
        raise OptionError(f"no edge stands in {share:g} of the training graphs: give a smaller share, or more edges")
    return found


def clustering(adjacency: ArrayLike) -> FloatArray:
    """Local clustering coefficients of weighted graphs, shape (..., N, N) to (..., N).

    The mean over pairs of neighbours of the cube root of the product of the triangle's weights, each over the graph's
    largest weight (J.-P. Onnela et al., Phys. Rev. E 71, 065103, 2005), as networkx has it; 0 for nodes of degree 0 and
    1.

    Raises
    ------
    OptionError
        For a graph without edges.

    Examples
    --------
    >>> clustering(square([1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 4)).round(3).tolist()
    [0.333, 1.0, 1.0, 0.0]
    """
    a = np.asarray(adjacency, np.float64)
    largest = a.max(axis=(-1, -2))
    if not (largest > 0).all():
        raise OptionError(f"graph {int(np.argmin(largest.ravel()))} has no edges: clustering needs some")
    roots = np.cbrt(a / largest[..., None, None])
    triangles = np.einsum("...ij,...ji->...i", roots @ roots, roots)
    degree = (a > 0).sum(axis=-1)
    return triangles / np.maximum(degree * (degree - 1), 1)


def fisher_z(correlations: ArrayLike) -> FloatArray:
    """Fisher's z = artanh r, with |r| up to 1 − 1e-7, so that it is finite everywhere.

    Examples
    --------
    >>> fisher_z([0.0, 0.5, 1.0]).round(3).tolist()
    [0.0, 0.549, 8.406]
    """
    return np.arctanh(np.clip(np.asarray(correlations, np.float64), -_LARGEST, _LARGEST))


class ConfoundModel:
    """What confounds explain of edges by least squares on training scans, and any scans without it.

    Parameters
    ----------
    edges : array_like, shape (S, E)
        Features of edges of the training scans.
    confounds : ndarray of float64, shape (S, Q)
        Columns that are constant in the training scans take nothing away.

    Examples
    --------
    >>> age = np.array([[20.0], [30.0], [40.0]])
    >>> model = ConfoundModel([[1.0], [2.0], [3.0]], age)
    >>> model.without([[4.0]], np.array([[40.0]])).round(9).tolist()  # 30 is the mean age, and .1 a year
    [[3.0]]
    """

    def __init__(self, edges: ArrayLike, confounds: FloatArray) -> None:
        self._mean = confounds.mean(axis=0)
        scale = confounds.std(axis=0)
        self._scale = np.where(scale > 1e-12 * np.abs(self._mean), scale, np.inf)
        held = np.asarray(edges, np.float64)
        self._slopes = np.linalg.lstsq(self._columns(confounds), held - held.mean(axis=0), rcond=1e-10)[0]

    def _columns(self, confounds: FloatArray) -> FloatArray:
        return (confounds - self._mean) / self._scale

    def without(self, edges: ArrayLike, confounds: FloatArray) -> FloatArray:
        """Features of edges at the mean of the training scans' confounds, shape (S, E)."""
        return np.asarray(edges, np.float64) - self._columns(confounds) @ self._slopes


def without_confounds(train: Connectomes) -> Callable[[Connectomes], FloatArray]:
    """A function that gives correlation matrices without what confounds explain of Fisher z in the training scans.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> train = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=12, n_test=4).train
    >>> bool((without_confounds(train)(train) == train.matrices).all())  # there are none
    True
    """
    if train.confounds is None:
        return lambda scans: scans.matrices
    model = ConfoundModel(fisher_z(upper(train.matrices)), train.confounds)

    def adjusted(scans: Connectomes) -> FloatArray:
        if scans.confounds is None:
            raise OptionError("the scans lack the confounds that the training scans have")
        z = model.without(fisher_z(upper(scans.matrices)), scans.confounds)
        return square(np.tanh(z), scans.n_rois) + np.eye(scans.n_rois)

    return adjusted


class EdgeFeatures(ABC):
    """Features of edges: learned from training scans, standardised with their mean and deviation, for any scans.

    What confounds explain in the training scans is taken away before that. An edge whose feature is constant in the
    training scans is 0 in all scans.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=12, n_test=4)
    >>> maker: EdgeFeatures = features("correlation")
    >>> maker.fit(drawn.train).transform(drawn.test).shape
    (4, 66)
    """

    def fit(self, train: Connectomes) -> Self:
        """Learn what the features need, from training scans only."""
        self._learn(train)
        entries = self._entries(train)
        self._confounds = None if train.confounds is None else ConfoundModel(entries, train.confounds)
        entries = self._cleaned(entries, train)
        self._mean, deviation = entries.mean(axis=0), entries.std(axis=0)
        # StandardScaler would centre a constant edge and let other scans differ from it by as much as they do.
        self._deviation = np.where(deviation > 1e-12, deviation, np.inf)
        return self

    def transform(self, scans: Connectomes) -> FloatArray:
        """Features of scans, shape (S, N(N − 1)/2), an edge a column in the order of :func:`pairs`."""
        return (self._cleaned(self._entries(scans), scans) - self._mean) / self._deviation

    def _cleaned(self, entries: FloatArray, scans: Connectomes) -> FloatArray:
        if self._confounds is None:
            return entries
        if scans.confounds is None:
            raise OptionError("the scans lack the confounds that the training scans have")
        return self._confounds.without(entries, scans.confounds)

    def _learn(self, train: Connectomes) -> None:  # noqa: B027
        """Learn what the entries need besides their mean and deviation: nothing, unless a kind says otherwise."""

    @abstractmethod
    def _entries(self, scans: Connectomes) -> FloatArray:
        """Features before they are standardised, shape (S, N(N − 1)/2)."""


class Correlation(EdgeFeatures):
    """Fisher z of each edge, standardised with mean and deviation of the training scans.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=12, n_test=4)
    >>> z = Correlation().fit(drawn.train).transform(drawn.train)
    >>> z.shape, bool(np.allclose(z.mean(axis=0), 0)), bool(np.allclose(z.std(axis=0), 1))
    ((12, 66), True, True)
    """

    def _entries(self, scans: Connectomes) -> FloatArray:
        return fisher_z(upper(scans.matrices))


class Tangent(EdgeFeatures):
    """Tangent space at the geometric mean of the training scans, off-diagonal entries, standardised.

    nilearn's ``ConnectivityMeasure(kind="tangent")`` with its Ledoit-Wolf covariances (G. Varoquaux et al., MICCAI
    2010). Where only correlation matrices are known, it gets for each a series of N rows, √N times the transposed
    Cholesky factor of (1 − a) R + a I, whose second moment is that very matrix.

    Parameters
    ----------
    shrinkage : float
        The a above, in [0, 1); of no effect where series are known.

    Raises
    ------
    OptionError
        For a correlation matrix that `shrinkage` doesn't make positive definite.
    MissingExtraError
        Where nilearn is not installed.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=12, n_test=4)
    >>> maker = Tangent(shrinkage=0.2).fit(drawn.train)
    >>> maker.transform(drawn.test).shape, bool(np.allclose(maker.transform(drawn.train).std(axis=0), 1))
    ((4, 66), True)
    """

    def __init__(self, shrinkage: float = SHRINKAGE) -> None:
        if not 0 <= shrinkage < 1:
            raise OptionError(f"{argument('shrinkage', shrinkage)}: give 0 or more, below 1")
        self.shrinkage = shrinkage

    def _learn(self, train: Connectomes) -> None:
        """Learn the geometric mean."""
        try:
            from nilearn.connectome import ConnectivityMeasure
            from sklearn.covariance import EmpiricalCovariance
        except ImportError as error:
            raise MissingExtraError("nilearn", "brain", "computing tangent space features") from error
        # None is nilearn's own estimator, that of Ledoit and Wolf.
        given = None if train.series is not None else EmpiricalCovariance(assume_centered=True, store_precision=False)
        measure: Any = ConnectivityMeasure(cov_estimator=given, kind="tangent")
        with single_thread():
            self._measure = measure.fit(self._series(train))

    def _entries(self, scans: Connectomes) -> FloatArray:
        series = self._series(scans)
        # nilearn refuses a single scan, though the reference is the training scans' own.
        with single_thread():
            found = self._measure.transform(series if len(series) > 1 else series * 2)
        return upper(found[: len(series)])

    def _series(self, scans: Connectomes) -> list[FloatArray]:
        if scans.series is not None:
            return list(scans.series)
        return [self._factor(r, name) for r, name in zip(scans.matrices, scans.scans, strict=True)]

    def _factor(self, r: FloatArray, name: str) -> FloatArray:
        n = len(r)
        try:
            return np.sqrt(n) * np.linalg.cholesky((1 - self.shrinkage) * r + self.shrinkage * np.eye(n)).T
        except np.linalg.LinAlgError:
            raise OptionError(
                f"scan {name}: {argument('shrinkage', self.shrinkage, 'g')} leaves its matrix without an inverse "
                "(smallest eigenvalue "
                f"{np.linalg.eigvalsh(r)[0]:.3g} before it); give a larger one, or use correlation features"
            ) from None


def features(kind: FeatureKind) -> EdgeFeatures:
    """A maker of edge features by name.

    Parameters
    ----------
    kind : {"correlation", "tangent"}

    Raises
    ------
    OptionError
        For another name.

    Examples
    --------
    >>> isinstance(features("correlation"), Correlation), features("tangent").shrinkage
    (True, 0.1)
    """
    makers: dict[str, type[EdgeFeatures]] = {"correlation": Correlation, "tangent": Tangent}
    if kind not in makers:
        raise OptionError(f"{argument('features', kind)}: choose 'correlation' or 'tangent'")
    return makers[kind]()
