"""Tests of every edge over subjects, as the field expects them: t or F, permutations, network-based statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, stats

from graphpri.apps import Records
from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_graph import fisher_z, pairs, upper
from graphpri.errors import OptionError, argument
from graphpri.graph import BoolArray, FloatArray, IntArray

PERMUTATIONS = 5000
"""Of labels over subjects, for p-values corrected for the number of edges."""

PRIMARY_P = 0.001
"""Uncorrected p of edges that make components of the network-based statistic, where no threshold is given."""

_AT_ONCE = 250  # permutations, so that a chunk of their statistics stays small


@dataclass(frozen=True, eq=False)
class EdgeTests:
    """Tests of all E edges, in the order of :func:`graphpri.apps.brain_graph.pairs`.

    Parameters
    ----------
    statistic : ndarray of float64, shape (E,)
        Student's t of class 1 against class 0, or of the score; F of several classes. NaN where an edge does not vary,
        or too few subjects are left for a variance.
    p : ndarray of float64, shape (E,)
        By the distribution of t or F, two-sided.
    q : ndarray of float64, shape (E,)
        p corrected for the number of edges by Benjamini and Hochberg: false discovery rate.
    p_family : ndarray of float64, shape (E,)
        By the largest statistic of all edges under each permutation: the chance of any false edge (family-wise).
    component : ndarray of int64, shape (E,)
        Number of the component of the network-based statistic that has the edge, from 1; 0 for none.
    components : list of dict
        component, edges, regions, p (family-wise, by the number of edges of the largest component under each
        permutation) and the largest |statistic|; the largest first.
    threshold : float
        Of |statistic|, for edges of components.
    how : str
        Test and observations, in words.
    permutations : int

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3)
    >>> found = edge_tests(drawn.train, permutations=199)
    >>> sorted(np.flatnonzero(found.p_family < 0.05)) == np.flatnonzero(drawn.planted).tolist()
    True
    """

    statistic: FloatArray
    p: FloatArray
    q: FloatArray
    p_family: FloatArray
    component: IntArray
    components: Records
    threshold: float
    how: str
    permutations: int

    @property
    def signed(self) -> bool:
        """Whether the statistic has a sign, as t has and F has not."""
        return self.how.startswith("t")


class _Design(NamedTuple):
    """Edges of observations, effects of interest and nuisance, both orthonormal, and how observations are permuted."""

    z: FloatArray
    effects: FloatArray
    nuisance: FloatArray
    flips: bool
    blocks: IntArray
    how: str

    @property
    def freedom(self) -> int:
        return self.z.shape[0] - self.effects.shape[1] - self.nuisance.shape[1]


def edge_tests(
    scans: Connectomes, permutations: int = PERMUTATIONS, threshold: float | None = None, seed: int = 0
) -> EdgeTests:
    """Test each edge between the classes, or against the score, over subjects.

    By linear models of Fisher's z, averaged over the scans of a subject in a class, with the confounds as nuisance.
    Paired within the subjects where each has scans of both of two classes; else a subject that is in several classes
    counts as several. Permutations are those of D. Freedman and D. Lane (1983), of what confounds leave: signs of
    paired differences are flipped, other observations dealt out anew, within sites where these are known. Components
    are those of A. Zalesky, A. Fornito and E. Bullmore's network-based statistic (NeuroImage 53, 1197–1207, 2010), by
    their number of edges, of either sign.

    Parameters
    ----------
    scans : Connectomes
    permutations : int
        0 leaves out what needs them: the p are NaN.
    threshold : float, optional
        Of |t| or F, for the edges of components; that of p = .001 where absent.
    seed : int

    Raises
    ------
    OptionError
        For a negative number of permutations, and a threshold that is not positive.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 1, 0, 1], groups=["a", "a", "b", "b"])
    >>> edge_tests(scans, 0).how
    't, paired over 2 subjects'
    """
    if permutations < 0:
        raise OptionError(f"{argument('permutations', permutations)}: give 0 or more")
    if threshold is not None and not 0 < threshold < np.inf:
        raise OptionError(f"{argument('threshold', threshold)}: give a positive t or F")
    design = _design(scans)
    k, df = design.effects.shape[1], design.freedom
    if df < 1 or k < 1:
        blank = np.full(design.z.shape[1], np.nan)
        none = np.zeros(design.z.shape[1], np.int64)
        return EdgeTests(blank, blank, blank, blank, none, [], np.inf, design.how, permutations)
    f = _statistics(design, design.effects[None], design.nuisance[None])[0]
    p = np.asarray(stats.f.sf(f, k, df))
    limit = float(stats.f.isf(PRIMARY_P, k, df)) if threshold is None else threshold ** (2 if k == 1 else 1)
    labels, sizes = _components(f >= limit, scans.n_rois)
    most, largest = _under_permutations(design, permutations, limit, scans.n_rois, np.random.default_rng(seed))
    family = _upper_share(most, f) if permutations else np.full(f.size, np.nan)
    sign = np.sign(design.effects[:, 0] @ design.z) if k == 1 else 1.0
    statistic = sign * np.sqrt(f) if k == 1 else f
    rows: Records = []
    for number, size in enumerate(sizes, 1):
        mine = labels == number
        ends = np.concatenate([side[mine] for side in pairs(scans.n_rois)])
        rows.append(
            {
                "component": number,
                "edges": int(size),
                "regions": int(np.unique(ends).size),
                "p": float(_upper_share(largest, np.array([size]))[0]) if permutations else None,
                "largest": float(np.abs(statistic[mine]).max()),
            }
        )
    shown = limit**0.5 if k == 1 else limit
    return EdgeTests(statistic, p, corrected(p), family, labels, rows, shown, design.how, permutations)


def corrected(p: ArrayLike) -> FloatArray:
    """p-values corrected for their number by Benjamini and Hochberg; NaN stays NaN.

    Examples
    --------
    >>> corrected([0.01, np.nan, 0.04]).tolist()
    [0.02, nan, 0.04]
    """
    held = np.asarray(p, np.float64)
    there = ~np.isnan(held)
    found = np.full(held.shape, np.nan)
    found[there] = stats.false_discovery_control(held[there])
    return found


def _design(scans: Connectomes) -> _Design:
    z = fisher_z(upper(scans.matrices))
    confounds = np.zeros((scans.n_scans, 0)) if scans.confounds is None else scans.confounds
    rows: dict[tuple[str, int], list[int]] = {}
    for i, (subject, label) in enumerate(zip(scans.groups, scans.labels.tolist(), strict=True)):
        rows.setdefault((subject, label), []).append(i)
    keys = sorted(rows)
    means = np.array([z[rows[key]].mean(axis=0) for key in keys])
    beside = np.array([confounds[rows[key]].mean(axis=0) for key in keys])
    codes = np.array([label for _, label in keys])
    subjects = len({subject for subject, _ in keys})
    if scans.target is None and len(scans.classes) == 2 and len(keys) == 2 * subjects:
        gap, between = (x[codes == 1] - x[codes == 0] for x in (means, beside))
        return _orthogonal(gap, np.ones((subjects, 1)), between, True, None, f"t, paired over {subjects} subjects")
    sites = scans.sites
    blocks = None if sites is None else [sites[rows[key][0]] for key in keys]
    nuisance = np.column_stack([np.ones(len(keys)), beside])
    if scans.target is not None:
        target = np.array([scans.target[rows[key]].mean() for key in keys])
        return _orthogonal(means, target[:, None], nuisance, False, blocks, f"t of the score over {subjects} subjects")
    effects = (codes[:, None] == np.arange(1, len(scans.classes))).astype(np.float64)
    twice = len(keys) - subjects
    how = f"{'t' if effects.shape[1] == 1 else 'F'} over {subjects} subjects"
    how += f", {twice} of their means in another class as if of other subjects" if twice else ""
    return _orthogonal(means, effects, nuisance, False, blocks, how)


def _orthogonal(
    z: FloatArray, effects: FloatArray, nuisance: FloatArray, flips: bool, blocks: list[str] | None, how: str
) -> _Design:
    """The design with orthonormal columns, effects and edges orthogonal to the nuisance (Frisch, Waugh and Lovell)."""
    q = _basis(nuisance)
    x = _basis(effects - q @ (q.T @ effects))
    if x.shape[1] == 1 and effects[:, 0] @ x[:, 0] < 0:
        x = -x
    where = np.zeros(len(z), np.int64) if blocks is None else np.unique(blocks, return_inverse=True)[1]
    how += ", confounds as nuisance" if nuisance.shape[1] > (0 if flips else 1) else ""
    return _Design(z - q @ (q.T @ z), x, q, flips, where, how)


def _basis(columns: FloatArray) -> FloatArray:
    """Orthonormal columns that span the given ones, as many as are independent."""
    size = np.linalg.norm(columns, axis=0)
    u, s, _ = np.linalg.svd(columns / np.where(size > 1e-10, size, np.inf), full_matrices=False)
    return u[:, s > 1e-8]


def _statistics(design: _Design, effects: FloatArray, nuisance: FloatArray) -> FloatArray:
    """F of each edge for designs with permuted rows, shape (D, n, k) and (D, n, q) to (D, E); NaN without variance."""
    z, k = design.z, design.effects.shape[1]
    whole = (z**2).sum(axis=0)
    count = effects.shape[0]

    def explained(columns: FloatArray) -> FloatArray:
        flat = columns.transpose(0, 2, 1).reshape(-1, z.shape[0]) @ z
        return (flat**2).reshape(count, columns.shape[2], -1).sum(axis=1)

    by_effects = explained(effects)
    rest = whole - by_effects - (explained(nuisance) if nuisance.shape[2] else 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rest > 1e-12 * whole, (by_effects / k) / (rest / design.freedom), np.nan)


def _under_permutations(
    design: _Design, count: int, limit: float, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The largest F, and the number of edges of the largest component, under each permutation."""
    most, largest = np.zeros(count), np.zeros(count)
    for first in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - first)
        effects, nuisance = _permuted(design, size, rng)
        f = np.nan_to_num(_statistics(design, effects, nuisance))
        most[first : first + size] = f.max(axis=1)
        for i in range(size):
            sizes = _components(f[i] >= limit, n)[1]
            largest[first + i] = sizes[0] if sizes.size else 0
    return most, largest


def _permuted(design: _Design, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Effects and nuisance with rows permuted, which is as if the edges' rows were."""
    n = design.z.shape[0]
    if design.flips:
        signs = rng.choice([-1.0, 1.0], (size, n, 1))
        return signs * design.effects, signs * design.nuisance
    order = np.tile(np.arange(n), (size, 1))
    for block in np.unique(design.blocks):
        mine = np.flatnonzero(design.blocks == block)
        order[:, mine] = rng.permuted(np.tile(mine, (size, 1)), axis=1)
    return design.effects[order], design.nuisance[order]


def _components(above: BoolArray, n: int) -> tuple[IntArray, IntArray]:
    """Number of the component of each edge, from 1, the one with most edges first, and their numbers of edges."""
    found = np.zeros(above.size, np.int64)
    at = np.flatnonzero(above)
    if not at.size:
        return found, np.zeros(0, np.int64)
    u, v = (ends[at] for ends in pairs(n))
    graph = sparse.coo_array((np.ones(at.size), (u, v)), (n, n))
    labels: Any = sparse.csgraph.connected_components(graph, directed=False)[1]
    names, of_edge, size = np.unique(labels[u], return_inverse=True, return_counts=True)
    order = np.argsort(-size, kind="stable")
    rank = np.empty(names.size, np.int64)
    rank[order] = np.arange(1, names.size + 1)
    found[at] = rank[of_edge]
    return found, size[order]


def _upper_share(null: FloatArray, values: FloatArray) -> FloatArray:
    """(1 + number of null values as large or larger) / (1 + their number); NaN for NaN."""
    ordered = np.sort(null)
    above = null.size - np.searchsorted(ordered, values * (1 - 1e-12), "left")
    return np.where(np.isnan(values), np.nan, (1 + above) / (1 + null.size))
