"""Rows of an edge table brought together by edge, and their weights joined."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray


class SortedRows(NamedTuple):
    """Rows sorted by edge, then as they came; R rows of M edges.

    Parameters
    ----------
    rows : ndarray of int64, shape (R,)
        Which row of the table.
    low, high : ndarray of int64, shape (R,)
        The ends of its edge, ``low <= high``.
    edge : ndarray of int64, shape (R,)
        Number of its edge, 0 to M − 1.
    arc : ndarray of int64, shape (R,)
        Number of edge and direction; the same as `edge` where rows have no direction.
    first : ndarray of bool, shape (R,)
        Whether it is the first row of its edge.
    repeat : ndarray of bool, shape (R,)
        Whether an earlier row has the same arc.
    """

    rows: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    edge: NDArray[np.int64]
    arc: NDArray[np.int64]
    first: NDArray[np.bool_]
    repeat: NDArray[np.bool_]


def sort_rows(u: NDArray[np.int64], v: NDArray[np.int64], rows: NDArray[np.int64], *, directed: bool) -> SortedRows:
    """Sort rows that join u to v by edge.

    Parameters
    ----------
    u, v : ndarray of int64, shape (R,)
        Canonical node numbers of the two ends.
    rows : ndarray of int64, shape (R,)
        Which rows of the table they are, ascending.
    directed : bool
        Whether (u, v) and (v, u) are different arcs of one edge, rather than parallel.
    """
    low, high = np.minimum(u, v), np.maximum(u, v)
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    first = np.ones(low.size, bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    edge = np.cumsum(first) - 1
    arc = 2 * edge + (u > v)[order] if directed else edge
    return SortedRows(rows[order], low, high, edge, arc, first, _repeats(arc) if directed else ~first)


def join_weights(
    weights: NDArray[np.float64], found: SortedRows, how: Literal["sum", "max", "first"]
) -> NDArray[np.float64]:
    """Weight of each edge: the weights of parallel rows joined, then those of opposite arcs added.

    Parameters
    ----------
    weights : ndarray of float64, shape (R,)
        Weight of each of the sorted rows.
    found : SortedRows
    how : {"sum", "max", "first"}
        How rows of the same arc are joined.

    Returns
    -------
    ndarray of float64, shape (M,)
        Independent of the order of the rows, unless `how` is ``"first"``; infinite on overflow.
    """
    if found.first.all():
        return weights
    if how == "max":
        best = np.zeros(int(found.arc.max()) + 1)
        np.maximum.at(best, found.arc, weights)
        weights = best[found.arc]
    if how != "sum":
        weights = np.where(found.repeat, 0.0, weights)
    # Adding in order of size makes the sum independent of the order of the rows.
    by_size = np.lexsort((weights, found.edge))
    return cast("NDArray[np.float64]", np.bincount(found.edge[by_size], weights[by_size]))


def _repeats(arc: NDArray[Any]) -> NDArray[np.bool_]:
    order = np.argsort(arc, kind="stable")
    repeat = np.zeros(arc.size, bool)
    repeat[order[1:]] = arc[order[1:]] == arc[order[:-1]]
    return repeat
