"""Size, connectivity and degrees."""

from __future__ import annotations

import numpy as np
from scipy.stats import ks_2samp

from graphpri.entropy import scaled
from graphpri.measures.ranks import rank_correlation
from graphpri.measures.registry import View, measure

_SIZE, _DEGREES = "size and connectivity", "degrees"


@measure("edges", "number of edges", group=_SIZE, core=True, both=True)
def edges(view: View) -> float:
    return view.graph.n_edges


@measure("new_edges", "edges that the original doesn't have", group=_SIZE, better="low")
def new_edges(view: View) -> float:
    return int(np.count_nonzero(view.overlay.original == 0))


@measure("weight_share", "share of the original's weight on the edges kept", group=_SIZE, core=True, better="high")
def weight_share(view: View) -> float:
    w = scaled(view.overlay.original)
    return float(w[view.overlay.kept > 0].sum() / w.sum())


@measure("weight_ratio", "total weight over the original's", group=_SIZE)
def weight_ratio(view: View) -> float:
    kept, original = view.graph.weights, view.origin.graph.weights
    # Both maxima are taken out, so that sums of 1e300 don't overflow.
    ratio = float(scaled(kept).sum() / scaled(original).sum())
    with np.errstate(over="ignore"):
        return float(ratio * (kept.max() / original.max()))


@measure("components", "connected components", group=_SIZE, core=True, both=True, better="low")
def components(view: View) -> float:
    return view.components[0]


@measure("isolated", "nodes without an edge", group=_SIZE, core=True, both=True, better="low")
def isolated(view: View) -> float:
    return int(np.count_nonzero(view.degrees == 0))


@measure("cut_off", "nodes that lost all their edges", group=_SIZE, core=True, better="low")
def cut_off(view: View) -> float:
    return int(np.count_nonzero(view.active & (view.degrees == 0)))


@measure("largest_component", "share of nodes in the largest component", group=_SIZE, both=True, better="high")
def largest_component(view: View) -> float:
    return float(np.bincount(view.components[1]).max() / view.graph.n_nodes)


@measure("connected_pairs", "share of the original's connected pairs still connected", group=_SIZE, better="high")
def connected_pairs(view: View) -> float:
    before, after = view.origin.components[1], view.components[1]
    both = np.unique(before.astype(np.int64) * view.graph.n_nodes + after, return_counts=True)[1]
    return _pairs(both) / _pairs(np.bincount(before))


def _pairs(sizes: np.ndarray) -> float:
    counts = sizes.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


@measure("centralisation", "degree centralisation C_D, unweighted (1 for a star)", group=_DEGREES, core=True, both=True)
def centralisation(view: View) -> float:
    n, degrees = view.graph.n_nodes, view.degrees
    return float((degrees.max() - degrees).sum() / ((n - 1) * (n - 2))) if n > 2 else 0.0


@measure("degree_ks", "Kolmogorov–Smirnov distance of the degrees", group=_DEGREES, better="low")
def degree_ks(view: View) -> float:
    return _ks(view.origin.degrees[view.active], view.degrees[view.active])


@measure("degree_shape_ks", "the same, of degrees over their mean", group=_DEGREES, better="low")
def degree_shape_ks(view: View) -> float:
    before, after = view.origin.degrees[view.active], view.degrees[view.active]
    return _ks(before / before.mean(), after / after.mean())


def _ks(before: np.ndarray, after: np.ndarray) -> float:
    return float(ks_2samp(before, after, method="asymp").statistic)


@measure("degree_rank", "Spearman correlation of the degrees", group=_DEGREES, better="high")
def degree_rank(view: View) -> float:
    return rank_correlation(view, view.origin.degrees, view.degrees)
