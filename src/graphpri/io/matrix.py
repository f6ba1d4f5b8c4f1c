"""From entries of an adjacency matrix to an edge table, for the formats that hold a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import EdgeTable, id_dtype
from graphpri.rows import EVERY, Order, sorted_positions


def matrix_table(
    n_nodes: int,
    row: NDArray[Any],
    column: NDArray[Any],
    values: NDArray[Any] | None,
    row_name: Callable[[Order], Callable[[int], str]],
    *,
    triangle: bool = False,
) -> EdgeTable:
    """Edges of a square matrix's entries.

    A matrix that equals its transpose, entry by entry, is an undirected graph with each edge once (its
    entry above the diagonal); any other is directed. Zeros stay, as weights that a graph refuses.

    Parameters
    ----------
    n_nodes : int
        Rows of the matrix.
    row, column : ndarray of int, shape (E,)
        Places of the entries, counted from 0; repeated places are parallel edges.
    values : ndarray, shape (E,), or None
        The entries; None where the matrix is a pattern.
    row_name : callable
        Makes the table's `row_name` from the numbers of the entries kept, an index of the entries.
    triangle : bool
        Whether the entries are one triangle of a symmetric matrix.
    """
    symmetric = triangle or equals_transpose(row, column, values)
    kept: Order = np.flatnonzero(row <= column) if symmetric and not triangle else EVERY
    ids = id_dtype(n_nodes)
    return EdgeTable(
        n_nodes,
        row[kept].astype(ids, copy=False),
        column[kept].astype(ids, copy=False),
        directed=not symmetric,
        edge_attributes={} if values is None else {"weight": values[kept]},
        row_name=row_name(kept),
    )


def equals_transpose(row: NDArray[Any], column: NDArray[Any], values: NDArray[Any] | None) -> bool:
    """Whether the entries above the diagonal of a matrix are those below it, turned round."""
    above, below = np.flatnonzero(row < column), np.flatnonzero(row > column)
    if above.size != below.size:
        return False
    a, b = sorted_positions(row, column, values, above), sorted_positions(column, row, values, below)
    same = np.array_equal(row[a], column[b]) and np.array_equal(column[a], row[b])
    return same and (values is None or np.array_equal(values[a], values[b], equal_nan=values.dtype.kind == "f"))
