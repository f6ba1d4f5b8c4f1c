"""Brain networks with planted edges: which of them a method finds is then known.

Within and across modules Fisher z differs in its mean; subjects differ in all edges, in those of a module and in
noise of each edge; a few strong edges within modules shift with the class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpri.apps.brain_data import Connectomes, from_matrices
from graphpri.apps.brain_graph import pairs, square
from graphpri.errors import OptionError
from graphpri.graph import BoolArray, FloatArray, IntArray

WITHIN, ACROSS, SPREAD = 0.55, 0.1, 0.12
"""Mean of the base z of edges within and across modules, and its deviation."""

SUBJECT = 0.1
"""Deviation of what a subject adds to all edges, and to those of each module."""

STRONG = 0.5
"""Base z above which an edge can be planted."""

NOISE = 1 / np.sqrt(117)
"""Deviation of Fisher z over 120 independent time points."""


@dataclass(frozen=True, eq=False)
class Planted:
    """Training and test scans, and the truth about their edges.

    Parameters
    ----------
    train, test : Connectomes
        The classes in turn, each scan another subject's.
    planted : ndarray of bool, shape (N(N − 1)/2,)
        Which edges differ between the classes, in the order of :func:`graphpri.apps.brain_graph.pairs`.
    shift : ndarray of float64, shape (N(N − 1)/2,)
        Mean Fisher z of class 1 less that of class 0: ±delta for planted edges, else 0.
    base : ndarray of float64, shape (N(N − 1)/2,)
        Fisher z of each edge, which all scans share.
    modules : ndarray of int64, shape (N,)
        Module of each region.

    Examples
    --------
    >>> drawn = planted_connectomes(0.2, n_rois=24, n_modules=3, n_planted=5, n_train=8, n_test=4)
    >>> np.abs(drawn.shift[drawn.planted]).tolist(), drawn.test.labels.tolist()
    ([0.2, 0.2, 0.2, 0.2, 0.2], [0, 1, 0, 1])
    """

    train: Connectomes
    test: Connectomes
    planted: BoolArray
    shift: FloatArray
    base: FloatArray
    modules: IntArray


def planted_connectomes(
    delta: float = 0.15,
    seed: int | np.random.Generator = 0,
    *,
    n_rois: int = 116,
    n_modules: int = 6,
    n_planted: int = 40,
    n_train: int = 96,
    n_test: int = 48,
) -> Planted:
    """Scans of two classes that differ in a few edges.

    Parameters
    ----------
    delta : float
        How far the classes lie apart in Fisher z, at a planted edge.
    seed : int or Generator
    n_rois, n_modules : int
        Regions N, in modules of sizes that differ by one at most.
    n_planted : int
        Planted edges, drawn from those within modules whose base z is above 0.5.
    n_train, n_test : int
        Scans; four or more each.

    Raises
    ------
    OptionError
        For sizes out of range, and where fewer edges than `n_planted` are strong enough.

    Examples
    --------
    >>> found = planted_connectomes(n_rois=24, n_modules=3, n_planted=5, n_train=8, n_test=4)
    >>> found.train.matrices.shape, int(found.planted.sum())
    ((8, 24, 24), 5)
    """
    if not 1 <= n_modules <= n_rois // 2 or n_rois < 4:
        raise OptionError(f"n_rois={n_rois}, n_modules={n_modules}: give 4 regions or more, and two or more a module")
    if min(n_train, n_test) < 4 or n_planted < 1 or not delta >= 0:
        raise OptionError("n_train and n_test must be 4 or more, n_planted 1 or more, and delta 0 or more")
    rng = np.random.default_rng(seed)
    modules = np.sort(np.arange(n_rois) % n_modules)
    of_edge = _module_of_edge(modules)
    base = rng.normal(np.where(of_edge >= 0, WITHIN, ACROSS), SPREAD)
    strong = np.flatnonzero((of_edge >= 0) & (base > STRONG))
    if strong.size < n_planted:
        raise OptionError(f"n_planted={n_planted}: only {strong.size} edges within modules have z above {STRONG}")
    at = rng.choice(strong, n_planted, replace=False)
    planted, shift = np.zeros(base.size, np.bool_), np.zeros(base.size)
    planted[at] = True
    shift[at] = delta * rng.choice([-1.0, 1.0], n_planted)
    train, test = (_scans(rng, n, base, shift, of_edge) for n in (n_train, n_test))
    return Planted(train, test, planted, shift, base, modules)


def _module_of_edge(modules: IntArray) -> IntArray:
    """The module of each edge; -1 across modules."""
    u, v = pairs(modules.size)
    return np.where(modules[u] == modules[v], modules[u], -1)


def _scans(rng: np.random.Generator, count: int, base: FloatArray, shift: FloatArray, of_edge: IntArray) -> Connectomes:
    """Scans of as many subjects, the classes in turn."""
    labels = np.arange(count) % 2
    every = SUBJECT * rng.normal(size=(count, 1))
    own = np.column_stack([SUBJECT * rng.normal(size=(count, int(of_edge.max()) + 1)), np.zeros(count)])
    z = base + every + own[:, of_edge] + (labels[:, None] - 0.5) * shift + NOISE * rng.normal(size=(count, base.size))
    n = round((1 + np.sqrt(1 + 8 * base.size)) / 2)
    return from_matrices(square(np.tanh(z), n) + np.eye(n), labels, groups=range(count))
