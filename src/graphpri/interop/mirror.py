"""Formats that hold an undirected edge twice, as two opposite arcs: matrices and PyG's edge_index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError
from graphpri.graph import (
    AVERAGED,
    EVERY,
    EdgeTable,
    Order,
    average_mirrored,
    equal_diagonal,
    id_dtype,
    number_in,
    sorted_positions,
)
from graphpri.interop.source import Policies

Positions = NDArray[Any]


class Wording(NamedTuple):
    """How a format calls its parts in error messages."""

    whole: str
    entry: str
    entries: str
    remedy: str


class Expanded(NamedTuple):
    """The entries of a rebuilt object: where each was copied from, its edge, and whether it was turned round."""

    position: Positions
    edge: Positions
    flipped: NDArray[np.bool_]


class Mirrored(NamedTuple):
    """A table with one row an edge, and the entries of the input that each row stands for.

    ``one[r]`` is the entry where row r comes first, ``two[r]`` its mirror image; `two` is None where the
    input is directed and the mirror images have to be made. `averaged` are the values of all entries where
    mirrored ones differed by rounding, None where they didn't.
    """

    table: EdgeTable
    one: Order
    two: Positions | None
    averaged: NDArray[Any] | None = None

    def expand(self, rows: Positions) -> Expanded:
        """Both directions of some rows, in the input's order; made mirror images come after."""
        edge = np.tile(np.arange(rows.size), 2)
        if self.two is None:
            return Expanded(np.tile(number_in(self.one, rows), 2), edge, np.repeat([False, True], rows.size))
        position = np.concatenate([number_in(self.one, rows), self.two[rows]])
        order = np.argsort(position)
        return Expanded(position[order], edge[order], np.zeros(edge.size, bool))


def pair_up(
    row: NDArray[Any],
    col: NDArray[Any],
    values: NDArray[Any] | None,
    n_nodes: int,
    policies: Policies,
    words: Wording,
    *,
    name: str = "weight",
    labels: Sequence[Any] | None = None,
    matrix: bool = False,
) -> Mirrored:
    """Find the mirror image of every entry, and make a table with one row for the two.

    Where some entry has none of the same value, the input is directed: every entry is an arc.

    Parameters
    ----------
    row, col : ndarray of int, shape (E,)
        Ends of each entry.
    values : ndarray, shape (E,), or None
        Weights of the entries, called `name`; None where the format has none.
    n_nodes : int
    policies : Policies
    words : Wording
    name : str
    labels : sequence, optional
        Node labels.
    matrix : bool
        Whether the entries are those of a matrix, where a diagonal of equal entries, such as the ones of
        correlations, is no self-loops but left out, with a note.

    Raises
    ------
    GraphError
        For a directed input that the policies refuse; names the entry that makes it so.
    """
    compared = None if policies.weight is None else values
    up = sorted_positions(row, col, compared, _positions(row < col))
    low = sorted_positions(col, row, compared, _positions(row > col))
    notes: list[str] = []
    averaged = None
    if compared is not None and _symmetric(row, col, None, up, low):
        averaged = average_mirrored(compared, up, low)
    if averaged is not None:
        values = compared = averaged
        notes.append(AVERAGED)
    columns = {} if values is None else {name: values}
    if _symmetric(row, col, compared, up, low):
        loop = _positions(row == col)
        if matrix and (note := equal_diagonal(loop.size, n_nodes, None if values is None else values[loop])):
            loop = loop[:0]
            notes.append(note)
        one = np.concatenate([np.minimum(up, low), loop])
        two = np.concatenate([np.maximum(up, low), loop])
        if not bool((one[1:] > one[:-1]).all()):
            order = np.argsort(one)
            one, two = one[order], two[order]
        columns = {key: column[one] for key, column in columns.items()}
        table = EdgeTable(n_nodes, row[one], col[one], labels=labels, edge_attributes=columns, notes=tuple(notes))
        return Mirrored(table, one, two, averaged)
    table = EdgeTable(n_nodes, row, col, labels=labels, directed=True, edge_attributes=columns)
    if policies.directed == "refuse":
        raise GraphError(f"{_asymmetry(table, compared, words)}, so it is a directed graph: {words.remedy}")
    return Mirrored(table, EVERY, None)


def _positions(mask: NDArray[np.bool_]) -> Positions:
    return np.flatnonzero(mask).astype(id_dtype(mask.size), copy=False)


def _key(u: NDArray[Any], v: NDArray[Any], at: Positions) -> Positions:
    low, high = u[at].astype(np.int64), v[at].astype(np.int64)
    return low * (int(high.max(initial=0)) + 1) + high


def _symmetric(
    row: NDArray[Any], col: NDArray[Any], values: NDArray[Any] | None, up: Positions, low: Positions
) -> bool:
    if up.size != low.size or not (np.array_equal(row[up], col[low]) and np.array_equal(col[up], row[low])):
        return False
    return values is None or np.array_equal(values[up], values[low], equal_nan=values.dtype.kind == "f")


def _asymmetry(table: EdgeTable, values: NDArray[Any] | None, words: Wording) -> str:
    """Say what is not symmetric: one triangle only, an entry without mirror image, or another value there."""
    u, v = table.source, table.target
    off = np.flatnonzero(u != v)
    key = _key(np.minimum(u, v), np.maximum(u, v), off)
    upward = (u < v)[off]
    alone = ~np.where(upward, np.isin(key, key[~upward]), np.isin(key, key[upward]))
    if alone.all():
        return f"{words.whole} holds each edge in one direction only ({off.size} {words.entries})"
    if alone.any():
        at = int(off[np.argmax(alone)])
        i, j = table.label(int(u[at])), table.label(int(v[at]))
        return f"{words.whole} has the {words.entry} ({i!r}, {j!r}) and not ({j!r}, {i!r})"
    return f"{words.whole} is not symmetric: {_unequal(table, values, off[upward], off[~upward], words)}"


def _unequal(table: EdgeTable, values: NDArray[Any] | None, up: Positions, low: Positions, words: Wording) -> str:
    up, low = (
        sorted_positions(table.source, table.target, values, up),
        sorted_positions(table.target, table.source, values, low),
    )
    u, v = table.source, table.target
    if values is None or not (np.array_equal(u[up], v[low]) and np.array_equal(v[up], u[low])):
        return f"some {words.entries} stand more often in one direction than in the other"
    at = int(np.argmax(values[up] != values[low]))
    i, j = table.label(int(u[up[at]])), table.label(int(v[up[at]]))
    one, two = values[up[at]].item(), values[low[at]].item()
    return f"the {words.entry} ({i!r}, {j!r}) is {one!r} and ({j!r}, {i!r}) is {two!r}"
