"""Which edges tell two classes of connectomes apart: a table of the edges, and one of the systems they join."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphpri.apps import Records
from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_graph import fisher_z, pairs, upper
from graphpri.apps.brain_tests import EdgeTests, corrected, edge_tests
from graphpri.errors import OptionError, argument
from graphpri.graph import IntArray

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


def edge_table(
    scans: Connectomes, importance: ArrayLike, frequency: ArrayLike, top: int = 100, tests: EdgeTests | None = None
) -> Records:
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
    tests : EdgeTests, optional
        Of these scans; without permutations where absent.

    Returns
    -------
    list of dict
        rank, node and other_node (numbers of the regions, from 1), region, other, system and other_system (where there
        are systems), importance, sign (that of t: + where the correlation is larger in class 1, or rises with the
        score), selection_frequency, mean r of each class (the mean of Fisher's z, turned back), and what
        :class:`graphpri.apps.brain_tests.EdgeTests` has: t or F, p, q, p_family and component.

    Raises
    ------
    OptionError
        For arrays of another length.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3)
    >>> rows = edge_table(drawn.train, np.abs(drawn.shift), drawn.planted, top=3)
    >>> [(row["region"], row["other_node"], row["sign"], row["q"] < 0.05) for row in rows]
    [('ROI 1', 5, '-', True), ('ROI 8', 9, '-', True), ('ROI 8', 10, '+', True)]
    """
    u, v = pairs(scans.n_rois)
    importance, frequency = np.asarray(importance, np.float64), np.asarray(frequency, np.float64)
    for name, values in (("importance", importance), ("frequency", frequency)):
        if values.shape != u.shape:
            raise OptionError(f"{name} has shape {values.shape}, and {scans.n_rois} regions have {u.size} edges")
    found = edge_tests(scans, 0) if tests is None else tests
    described = described_edges(scans, found)
    return [
        {"rank": rank}
        | _ends(scans, int(u[e]), int(v[e]))
        | {"importance": float(importance[e]), "selection_frequency": float(frequency[e])}
        | described[e]
        for rank, e in enumerate(ranked(importance, top), 1)
    ]


def described_edges(scans: Connectomes, tests: EdgeTests) -> Records:
    """What tests say of every edge, and its mean correlation in each class, a row an edge.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 1, 0, 1])
    >>> list(described_edges(scans, edge_tests(scans, 0))[0])
    ['sign', 'mean_r_0', 'mean_r_1', 't', 'p', 'q', 'p_family', 'component']
    """
    z = fisher_z(upper(scans.matrices))
    means = [np.tanh(z[scans.labels == k].mean(axis=0)) for k in range(len(scans.classes))]
    t = tests.statistic
    rows: Records = []
    for e in range(t.size):
        row: dict[str, Any] = {"sign": "+" if t[e] > 0 else "-" if t[e] < 0 else ""} if tests.signed else {}
        row |= {f"mean_r_{name}": float(r[e]) for name, r in zip(scans.classes, means, strict=True)}
        row |= {"t" if tests.signed else "F": float(t[e]), "p": float(tests.p[e]), "q": float(tests.q[e])}
        rows.append(row | {"p_family": float(tests.p_family[e]), "component": int(tests.component[e])})
    return rows


def all_edges(scans: Connectomes, importance: ArrayLike, frequency: ArrayLike, tests: EdgeTests) -> Records:
    """Every edge with its importance, selection frequency and tests, in the order of the regions.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 1, 0, 1])
    >>> rows = all_edges(scans, [1, 2, 3], [0, 0, 1], edge_tests(scans, 0))
    >>> [(row["node"], row["other_node"], row["importance"]) for row in rows]
    [(1, 2, 1.0), (1, 3, 2.0), (2, 3, 3.0)]
    """
    u, v = pairs(scans.n_rois)
    weights, often = np.asarray(importance, np.float64), np.asarray(frequency, np.float64)
    return [
        _ends(scans, int(u[e]), int(v[e]))
        | {"importance": float(weights[e]), "selection_frequency": float(often[e])}
        | row
        for e, row in enumerate(described_edges(scans, tests))
    ]


def system_table(scans: Connectomes, selected: ArrayLike, permutations: int = PERMUTATIONS, seed: int = 0) -> Records:
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
    rows: Records = []
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
    for row, q in zip(rows, corrected([row["p"] for row in rows]), strict=True):
        row["q"] = float(q)
    return sorted(rows, key=lambda row: -row["selected"])


def _ends(scans: Connectomes, u: int, v: int) -> dict[str, Any]:
    rois = scans.rois
    ends: dict[str, Any] = {"node": u + 1, "other_node": v + 1, "region": rois.names[u], "other": rois.names[v]}
    return ends if rois.systems is None else ends | {"system": rois.systems[u], "other_system": rois.systems[v]}


def _counts(codes: IntArray, u: IntArray, v: IntArray, n: int) -> IntArray:
    """For each row of system codes, the number of edges between each two systems, shape (rows, n²)."""
    low, high = np.minimum(codes[:, u], codes[:, v]), np.maximum(codes[:, u], codes[:, v])
    flat = low * n + high + n * n * np.arange(len(codes))[:, None]
    return np.bincount(flat.ravel(), minlength=len(codes) * n * n).reshape(len(codes), n * n)
