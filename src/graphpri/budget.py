"""Budgets and selections: how many edges to keep, and which, given a score per edge."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from graphpri.errors import OptionError
from graphpri.graph import BoolArray, FloatArray, Graph


def count_edges(keep: float | int, n_edges: int) -> int:
    """Turn a share or a count of edges into a count K.

    Parameters
    ----------
    keep : float in (0, 1] or int in 1…M
        A float is a share, rounded half up and at least 1 (K = ⌊share·M + ½ + 10⁻⁹⌋); an int a count.
    n_edges : int
        Number of edges M.

    Raises
    ------
    OptionError
        For a value outside these ranges, and for a graph without edges.
    """
    if isinstance(keep, bool | np.bool_) or not isinstance(keep, Real):
        raise OptionError(f"keep={keep!r} is neither a share (a float in (0, 1]) nor a count (an int, 1 to {n_edges})")
    if n_edges == 0:
        raise OptionError(f"keep={keep!r}: the graph has no edges to keep")
    if isinstance(keep, Integral):
        if not 1 <= keep <= n_edges:
            raise OptionError(f"keep={keep} is not a count from 1 to the graph's {n_edges} edges")
        return int(keep)
    share = float(keep)
    if not 0 < share <= 1:
        raise OptionError(f"keep={keep!r} is not a share in (0, 1]; for a count of edges pass an int")
    return max(1, min(n_edges, int(np.floor(share * n_edges + 0.5 + 1e-9))))


def rank(scores: FloatArray, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """Edges from the highest score to the lowest; ties in an order drawn from `rng` (by number where None)."""
    ties = np.arange(scores.size) if rng is None else rng.permutation(scores.size)
    return np.lexsort((ties, -scores))


def best_forest(graph: Graph, order: NDArray[np.int64]) -> BoolArray:
    """Spanning forest that takes edges greedily in `order` (all M edges, best first), as a mask."""
    place = np.empty(graph.n_edges)
    place[order] = np.arange(1, graph.n_edges + 1)
    shape = (graph.n_nodes, graph.n_nodes)
    tree = minimum_spanning_tree(sp.csr_array((place, (graph.source, graph.target)), shape=shape))
    mask = np.zeros(graph.n_edges, bool)
    mask[order[tree.data.astype(np.int64) - 1]] = True
    return mask


def forest_size(graph: Graph) -> int:
    """Number of edges of a spanning forest, N minus the number of components."""
    return graph.n_nodes - graph.components()[0]


def check_budget(
    graph: Graph, k: int, *, connected: bool = False, protect: BoolArray | None = None, forbid: BoolArray | None = None
) -> None:
    """Refuse a budget that connectivity, `protect` and `forbid` leave no selection for.

    Raises
    ------
    OptionError
        Says which of them conflict, and the smallest or largest K that works.
    """
    if protect is not None and forbid is not None and (both := protect & forbid).any():
        u, v = graph.edge_labels(int(np.argmax(both)))
        raise OptionError(f"edge ({u!r}, {v!r}) stands in protect and in forbid: name it in one of them")
    if forbid is not None and k > (allowed := graph.n_edges - int(forbid.sum())):
        raise OptionError(f"keep={k} edges, but forbid leaves only {allowed} of {graph.n_edges}")
    least = 0 if protect is None else int(protect.sum())
    if k < least:
        raise OptionError(f"keep={k} edges, but protect names {least} that must stay: keep at least {least}")
    if not connected:
        return
    components = graph.components()[0]
    if forbid is not None and graph.components(~forbid)[0] > components:
        raise OptionError("connected=True: without the edges in forbid the graph falls apart; forbid fewer edges")
    need = graph.n_nodes - components
    if protect is not None:
        need = least + graph.components(protect)[0] - components
    if k < need:
        extra = " with the protected edges" if least else ""
        raise OptionError(
            f"keep={k} edges can't hold the graph's {components} component{'s' * (components > 1)} together{extra}: "
            f"connected=True needs at least {need} edges"
        )


def select_top(
    graph: Graph,
    scores: FloatArray,
    k: int,
    rng: np.random.Generator | None = None,
    *,
    connected: bool = False,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> BoolArray:
    """Mask of exactly `k` edges with the highest scores.

    Parameters
    ----------
    graph : Graph
    scores : ndarray of float64, shape (M,)
        Higher is kept first.
    k : int
        Number of edges to keep.
    rng : Generator, optional
        Breaks ties; by edge number where absent.
    connected : bool
        Take a maximum spanning forest of the scores first, so that no component falls apart.
    protect, forbid : ndarray of bool, shape (M,), optional
        Edges that must stay and edges that must go.

    Raises
    ------
    OptionError
        Where no selection of `k` edges meets all of these.
    """
    check_budget(graph, k, connected=connected, protect=protect, forbid=forbid)
    return take_top(graph, rank(scores, rng), k, connected=connected, protect=protect, forbid=forbid)


def take_top(
    graph: Graph,
    order: NDArray[np.int64],
    k: int,
    *,
    connected: bool = False,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> BoolArray:
    """The selection of :func:`select_top` from edges ranked best first, for a budget known to fit."""
    tier = np.zeros(graph.n_edges, np.int8)
    if protect is not None:
        tier[protect] = 2
    if forbid is not None:
        tier[forbid] = -1
    if connected:
        forest = best_forest(graph, order[np.argsort(-tier[order], kind="stable")])
        tier[forest] = np.maximum(tier[forest], 1)
    if tier.any():
        order = order[np.argsort(-tier[order], kind="stable")]
    mask = np.zeros(graph.n_edges, bool)
    mask[order[:k]] = True
    return mask
