"""Which edges tell two classes of connectomes apart: a table of the edges, and one of the systems they join."""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from graphpri.apps import Rows
from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_graph import fisher_z, pairs, upper
from graphpri.errors import OptionError, argument
from graphpri.graph import FloatArray, IntArray

PERMUTATIONS = 9999
"""Of the systems over the regions."""


def ranked(importance: ArrayLike, top: int) -> IntArray:
    """Positions of the most important edges, at most `top` of them, best first; none of importance 0.

    Parameters
    ----------
    importance : array_like, shape (N(N − 1)/2,)
        Zero or more. Of equal ones the first in the order of :func:`graphpri.apps.brain_graph.pairs` comes first.
    top : int

    Raises
    ------
    OptionError
        For a `top` below 1.

    Examples
    --------
    >>> ranked([0.1, 0.0, 0.4], 5).tolist()
    [2, 0]
    """
    if top < 1:
        raise OptionError(f"{argument('top', top)}: give a number of edges, 1 or more")
    values = np.asarray(importance, np.float64)
    best = np.argsort(-values, kind="stable")[:top]
    return best[values[best] > 0]


def edge_table(scans: Connectomes, importance: ArrayLike, frequency: ArrayLike, top: int = 100) -> Rows:
    """The most important edges, best first.

    Parameters
    ----------
    scans : Connectomes
    importance : array_like, shape (N(N − 1)/2,)
        By a method that :func:`graphpri.apps.brain_protocol.stability` has run, in the order of
        :func:`graphpri.apps.brain_graph.pairs`.
    frequency : array_like, shape (N(N − 1)/2,)
        Share of half-samples in which an edge is among the most important.
    top : int
        Number of edges; fewer where fewer have an importance above 0.

    Returns
    -------
    list of dict
        rank, region, other, system and other_system (where there are systems), importance, sign (that of t: +
        where the correlation is larger in class 1), selection_frequency, mean r of both classes (the mean of Fisher's
        z, turned back), t and p of :func:`edge_tests`, and q, p corrected for all N(N − 1)/2 edges
        (Benjamini-Hochberg).

    Raises
    ------
    OptionError
        For arrays of another length.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3)
    >>> rows = edge_table(drawn.train, np.abs(drawn.shift), drawn.planted, top=3)
    >>> [(row["region"], row["other"], row["sign"], row["q"] < 0.05) for row in rows]
    [('ROI 1', 'ROI 5', '-', True), ('ROI 8', 'ROI 9', '-', True), ('ROI 8', 'ROI 10', '+', True)]
    """
    u, v = pairs(scans.n_rois)
    importance, frequency = np.asarray(importance, np.float64), np.asarray(frequency, np.float64)
    for name, values in (("importance", importance), ("frequency", frequency)):
        if values.shape != u.shape:
            raise OptionError(f"{name} has shape {values.shape}, and {scans.n_rois} regions have {u.size} edges")
    t, p = edge_tests(scans)
    q = _corrected(p)
    z = fisher_z(upper(scans.matrices))
    means = [np.tanh(z[scans.labels == label].mean(axis=0)) for label in (0, 1)]
    rows: Rows = []
    for rank, e in enumerate(ranked(importance, top), 1):
        rows.append(
            {"rank": rank}
            | _ends(scans, int(u[e]), int(v[e]))
            | {
                "importance": float(importance[e]),
                "sign": "+" if t[e] > 0 else "-" if t[e] < 0 else "",
                "selection_frequency": float(frequency[e]),
                **{f"mean_r_{name}": float(r[e]) for name, r in zip(scans.classes, means, strict=True)},
                "t": float(t[e]),
                "p": float(p[e]),
                "q": float(q[e]),
            }
        )
    return rows


def edge_tests(scans: Connectomes) -> tuple[FloatArray, FloatArray]:
    """Student's t and p of each edge, class 1 against class 0, over subjects.

    Of Fisher's z, averaged over the scans of a subject in a class. Paired within the subjects where each has scans of
    both classes; else Welch's test, which takes a subject that is in both classes for two. Scans of a subject are no
    independent observations, so that they don't count.

    Returns
    -------
    t, p : ndarray of float64, shape (N(N − 1)/2,)
        NaN where there are fewer than two subjects in a class, or no variance.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3)
    >>> t, p = edge_tests(drawn.train)
    >>> sorted(np.argsort(p)[:3].tolist()) == np.flatnonzero(drawn.planted).tolist()
    True
    """
    z = fisher_z(upper(scans.matrices))
    by_class = [_subject_means(z, scans, label) for label in (0, 1)]
    names = [list(found) for found in by_class]
    zero, one = (np.array([found[name] for name in sorted(found)]) for found in by_class)
    if min(len(zero), len(one)) < 2:
        return np.full(z.shape[1], np.nan), np.full(z.shape[1], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of values that are nearly the same in all subjects
        if sorted(names[0]) == sorted(names[1]):
            found: Any = stats.ttest_1samp(one - zero, 0.0)
        else:
            found = stats.ttest_ind(one, zero, equal_var=False)
    return np.asarray(found[0]), np.asarray(found[1])


def how_tested(scans: Connectomes) -> str:
    """What :func:`edge_tests` does with these scans, in words.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> how_tested(from_matrices([np.eye(3)] * 4, [0, 1, 0, 1], groups=["a", "a", "b", "b"]))
    'paired t-test over subjects'
    """
    sets = [{g for g, label in zip(scans.groups, scans.labels, strict=True) if label == k} for k in (0, 1)]
    if sets[0] == sets[1]:
        return "paired t-test over subjects"
    twice = len(sets[0] & sets[1])
    return "Welch's t-test over subjects" + (f", {twice} of them in both classes as if independent" if twice else "")


def _corrected(p: ArrayLike) -> FloatArray:
    """p-values corrected for their number by Benjamini and Hochberg; NaN stays NaN."""
    held = np.asarray(p, np.float64)
    there = ~np.isnan(held)
    found = np.full(held.shape, np.nan)
    found[there] = stats.false_discovery_control(held[there])
    return found


def system_table(scans: Connectomes, selected: ArrayLike, permutations: int = PERMUTATIONS, seed: int = 0) -> Rows:
    """How many of the selected edges join each two systems, and whether that is more than their sizes explain.

    Parameters
    ----------
    scans : Connectomes
        Whose regions have systems.
    selected : array_like of int
        Positions of edges, in the order of :func:`graphpri.apps.brain_graph.pairs`.
    permutations : int
        Of the systems over the regions, edges and sizes of the systems unchanged.
    seed : int

    Returns
    -------
    list of dict
        A row a pair of systems (with itself, too) that has edges: system, other_system, edges (number of pairs of
        regions), selected, share of the selected edges, expected (mean share over the permutations), p (share of the
        permutations with as many or more, themselves counted) and q (Benjamini-Hochberg over the rows). Most selected
        first. Empty where the regions have no systems.

    Raises
    ------
    OptionError
        For fewer than one permutation.

    Examples
    --------
    >>> from graphpri.apps.brain_data import Rois, from_matrices
    >>> rois = Rois(tuple("abcdefgh"), systems=("motor",) * 4 + ("visual",) * 4)
    >>> scans = from_matrices([np.eye(8)] * 4, [0, 0, 1, 1], rois=rois)
    >>> rows = system_table(scans, [0, 1, 2, 7, 8, 13], permutations=999)  # the six edges within motor
    >>> [(row["system"], row["other_system"], row["selected"], row["edges"]) for row in rows]
    [('motor', 'motor', 6, 6), ('motor', 'visual', 0, 16), ('visual', 'visual', 0, 6)]
    >>> rows[0]["p"] < 0.05
    True
    """
    if permutations < 1:
        raise OptionError(f"{argument('permutations', permutations)}: give 1 or more")
    if scans.rois.systems is None:
        return []
    names, code = np.unique(scans.rois.systems, return_inverse=True)
    u, v = pairs(scans.n_rois)
    at = np.asarray(selected, np.int64)
    sizes = _counts(code[None], u, v, names.size)[0]
    observed = _counts(code[None], u[at], v[at], names.size)[0]
    rng = np.random.default_rng(seed)
    drawn = rng.permuted(np.tile(code, (permutations, 1)), axis=1)
    chance = _counts(drawn, u[at], v[at], names.size)
    rows: Rows = []
    for a, b in combinations_with_replacement(range(names.size), 2):
        k = a * names.size + b
        if sizes[k]:
            rows.append(
                {
                    "system": str(names[a]),
                    "other_system": str(names[b]),
                    "edges": int(sizes[k]),
                    "selected": int(observed[k]),
                    "share": float(observed[k] / max(at.size, 1)),
                    "expected": float(chance[:, k].mean() / max(at.size, 1)),
                    "p": float((1 + (chance[:, k] >= observed[k]).sum()) / (1 + permutations)),
                }
            )
    for row, q in zip(rows, _corrected([row["p"] for row in rows]), strict=True):
        row["q"] = float(q)
    return sorted(rows, key=lambda row: -row["selected"])


def _ends(scans: Connectomes, u: int, v: int) -> dict[str, str]:
    rois = scans.rois
    ends = {"region": rois.names[u], "other": rois.names[v]}
    return ends if rois.systems is None else ends | {"system": rois.systems[u], "other_system": rois.systems[v]}


def _subject_means(z: FloatArray, scans: Connectomes, label: int) -> dict[str, FloatArray]:
    rows: dict[str, list[int]] = {}
    for i, subject in enumerate(scans.groups):
        if scans.labels[i] == label:
            rows.setdefault(subject, []).append(i)
    return {subject: z[at].mean(axis=0) for subject, at in rows.items()}


def _counts(codes: IntArray, u: IntArray, v: IntArray, n: int) -> IntArray:
    """For each row of system codes, the number of edges between each two systems, shape (rows, n²)."""
    low, high = np.minimum(codes[:, u], codes[:, v]), np.maximum(codes[:, u], codes[:, v])
    flat = low * n + high + n * n * np.arange(len(codes))[:, None]
    return np.bincount(flat.ravel(), minlength=len(codes) * n * n).reshape(len(codes), n * n)
