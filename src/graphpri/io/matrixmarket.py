"""MatrixMarket: the adjacency matrix of a graph, an entry a line, rows and columns counted from 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError, setting
from graphpri.graph import (
    AVERAGED,
    EVERY,
    EdgeTable,
    Order,
    average_mirrored,
    equal_diagonal,
    id_dtype,
    sorted_positions,
)
from graphpri.io.columns import left_out, read_weights, unlabelled, write_weights
from graphpri.io.rows import (
    NUMBER_BYTES,
    TEXT_BYTES,
    Cells,
    Rows,
    read_head,
    read_numbers,
    shorten,
    split_rows,
    write_rows,
)
from graphpri.io.source import InputStream, ReadOptions, Tape

_BANNER = re.compile(rb"%?%MatrixMarket[ \t]+matrix[ \t]+(\w+)[ \t]+(\w+)[ \t]+([\w-]+)[ \t]*\n", re.IGNORECASE)
_COMMENT = re.compile(rb"[ \t]*(?:%[^\n]*)?\n")
_LAYOUTS = ("coordinate", "array")
_FIELDS = ("real", "integer", "double", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric")
_RICHER = "MatrixMarket holds a weight only; graphml, npz and parquet hold others"


class _Banner(NamedTuple):
    layout: str
    field: str
    symmetric: bool
    size: list[int]
    size_line: int
    start: int


def read_matrix_market(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a square real, integer or pattern matrix; node i is row i + 1.

    A symmetric matrix, and a general one that equals its transpose, is an undirected graph; any other
    is directed.

    Raises
    ------
    FileError
        Names the line, for a header that is wrong or of another kind of matrix, entries out of range or
        of the wrong form, and another number of entries than the header says.
    """
    source, tape = source.taped()
    table = _read_numbers(source, tape)
    if table is not None:
        return table
    tape.rewind()
    source.require(TEXT_BYTES, "write it as parquet or npz once")
    data = source.text()
    head = _read_head(source, data)
    if head.size[0] != head.size[1]:
        raise source.error(
            f"a matrix of {head.size[0]} rows and {head.size[1]} columns is not square, so it is no adjacency matrix",
            head.size_line,
        )
    rows = split_rows(source, data[head.start :], None, head.size_line + 1, "%")
    source.check_nodes(head.size[0], rows.n_rows, head.size_line)
    return _read_array(source, head, rows) if head.layout == "array" else _read_entries(source, head, rows)


def _read_numbers(source: InputStream, tape: Tape) -> EdgeTable | None:
    """A coordinate matrix with numbers only; None for any other, also where something is wrong."""
    data, chunks = read_head(source)
    try:
        data = replace(source, stream=BytesIO(data), position=None).text()
        head = _read_head(source, data)
    except FileError:
        return None
    n, width = head.size[0], 2 if head.field == "pattern" else 3
    if head.layout != "coordinate" or n != head.size[1]:
        return None
    tape.drop()
    source.require(NUMBER_BYTES, "write it as parquet or npz once")
    rows = read_numbers(source, data[head.start :], chunks, None, width, (0, 1), head.size_line + 1)
    if rows is None or rows.n_rows != head.size[2]:
        return None
    if any(column.min() < 1 or column.max() > n for column in map(np.asarray, rows.columns[:2])):
        return None
    source.check_nodes(n, rows.n_rows, head.size_line)
    return _read_entries(source, head, rows)


def _row_name(source: InputStream, lines: Sequence[int] | range) -> Callable[[Order], Callable[[int], str]]:
    """Names rows of the table by the lines of the entries that they come from."""

    def name(kept: Order) -> Callable[[int], str]:
        if isinstance(kept, slice):
            return source.row_name(lines[kept])
        return source.row_name(kept + lines.start if isinstance(lines, range) else np.asarray(lines)[kept])

    return name


def _read_head(source: InputStream, data: bytes) -> _Banner:
    found = _BANNER.match(data)
    if found is None:
        raise source.error(
            "the first line is not a MatrixMarket header, %%MatrixMarket matrix …: put one there, such as "
            "'%%MatrixMarket matrix coordinate pattern symmetric', or pass "
            f"{setting('format', 'edgelist')} if the lines are edges",
            1,
        )
    layout, field, symmetry = (word.decode().lower() for word in found.groups())
    for word, known in ((layout, _LAYOUTS), (field, _FIELDS), (symmetry, _SYMMETRIES)):
        if word not in known:
            raise source.error(f"a matrix that is {word!r} is no graph's: can be read: {', '.join(known)}", 1)
    if (layout, field) == ("array", "pattern"):
        raise source.error("a pattern has to be a 'coordinate' matrix", 1)
    start, line = found.end(), 2
    while skip := _COMMENT.match(data, start):
        start, line = skip.end(), line + 1
    end = data.find(b"\n", start) + 1
    words = data[start:end].split()
    if len(words) != (3 if layout == "coordinate" else 2) or not all(
        word.isdigit() and len(word) < 19 for word in words
    ):
        expected = "rows, columns and entries" if layout == "coordinate" else "rows and columns"
        raise source.error(f"the numbers of {expected} should stand here", line)
    return _Banner(layout, field, symmetry == "symmetric", [int(word) for word in words], line, end)


def _check_size(source: InputStream, head: _Banner, rows: Rows, expected: int, width: int) -> None:
    if rows.n_rows != expected:
        raise source.error(
            f"the header says {expected} entries, and the file has {rows.n_rows}: it is cut off or damaged",
            head.size_line,
        )
    if rows.n_rows and rows.n_columns != width:
        raise source.error(
            f"an entry of a {head.field} {head.layout} matrix is {width} numbers, not {rows.n_columns}",
            rows.lines[0],
        )


def _read_entries(source: InputStream, head: _Banner, rows: Rows) -> EdgeTable:
    n = head.size[0]
    pattern = head.field == "pattern"
    _check_size(source, head, rows, head.size[2], 2 if pattern else 3)
    if not rows.n_rows:
        nothing = np.zeros(0, np.int64)
        values = None if pattern else nothing
        return matrix_table(n, nothing, nothing, values, _row_name(source, rows.lines), triangle=True)
    row, column = (_index(source, rows, place, n) for place in (0, 1))
    values = None if pattern else np.asarray(read_weights(source, rows, 2))
    return matrix_table(n, row, column, values, _row_name(source, rows.lines), triangle=head.symmetric)


def _index(source: InputStream, rows: Rows, place: int, n: int) -> NDArray[Any]:
    index = rows.integers(place)
    if index is None or index.min() < 1 or index.max() > n:
        for line, cell in zip(rows.lines, rows.cells(place), strict=True):
            if cell is None or not (cell.isascii() and cell.isdigit() and 1 <= int(cell[:20]) <= n):
                raise source.error(f"{shorten(cell or '')} is not a row or column from 1 to {n}", line)
        return np.array([int(cell or "") for cell in rows.cells(place)], np.int64) - 1
    return index - index.dtype.type(1)


def _read_array(source: InputStream, head: _Banner, rows: Rows) -> EdgeTable:
    n = head.size[0]
    _check_size(source, head, rows, n * (n + 1) // 2 if head.symmetric else n * n, 1)
    if head.symmetric:
        column, row = np.triu_indices(n)
    else:
        row, column = np.tile(np.arange(n), n), np.repeat(np.arange(n), n)
    values = np.asarray(read_weights(source, rows, 0)) if n else np.zeros(0)
    entry = np.flatnonzero(values != 0)
    return matrix_table(
        n,
        row[entry],
        column[entry],
        values[entry],
        lambda kept: source.row_name(np.asarray(rows.lines)[entry][kept]),
        triangle=head.symmetric,
    )


def write_matrix_market(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a coordinate matrix: symmetric where the table is undirected, general where it is directed."""
    notes = unlabelled(table, "MatrixMarket")
    notes += left_out("edge", [key for key in table.edge_attributes if key != "weight"], _RICHER)
    notes += left_out("node", table.node_attributes, _RICHER)
    notes += left_out("graph", table.graph_attributes, _RICHER)
    weights = write_weights(table, notes)
    u, v = table.source, table.target
    field = "pattern" if weights is None else "real" if weights.dtype.kind == "f" else "integer"
    columns = [Cells(lambda at: u[at].astype(np.int64) + 1), Cells(lambda at: v[at].astype(np.int64) + 1)]
    if not table.directed:  # the lower triangle
        columns = [
            Cells(lambda at: np.maximum(u[at], v[at]).astype(np.int64) + 1),
            Cells(lambda at: np.minimum(u[at], v[at]).astype(np.int64) + 1),
        ]
    columns += [] if weights is None else [Cells.of(weights)]
    n = table.n_nodes
    banner = f"%%MatrixMarket matrix coordinate {field} {'general' if table.directed else 'symmetric'}\n"
    write_rows(stream, name, f"{banner}{n} {n} {u.size}\n", columns, u.size, " ")
    if table.directed and equals_transpose(u, v, weights):
        notes.append("every arc has its opposite, so the file reads back as undirected")
    return notes


# Matrices of all formats


def matrix_table(
    n_nodes: int,
    row: NDArray[Any],
    column: NDArray[Any],
    values: NDArray[Any] | None,
    row_name: Callable[[Order], Callable[[int], str]],
    *,
    triangle: bool = False,
    dense: bool = False,
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
    dense : bool
        Whether the matrix was written out in full, so that equal entries all along the diagonal are no self-loops:
        they are left out, with a note. Mirrored entries that differ by rounding only are averaged, with a note.
    """
    notes: list[str] = []
    symmetric = triangle
    if not triangle and (pairs := _mirrored(row, column, values)) is not None:
        averaged = None if values is None else average_mirrored(values, *pairs)
        if averaged is not None:
            values = averaged
            notes.append(AVERAGED)
        symmetric = _equal(values, *pairs)
    kept: Order = np.flatnonzero(row <= column) if symmetric and not triangle else EVERY
    if dense and symmetric:
        on = row == column
        if note := equal_diagonal(int(np.count_nonzero(on)), n_nodes, None if values is None else values[on]):
            kept = np.flatnonzero((row <= column) & ~on)
            notes.append(note)
    ids = id_dtype(n_nodes)
    return EdgeTable(
        n_nodes,
        row[kept].astype(ids, copy=False),
        column[kept].astype(ids, copy=False),
        directed=not symmetric,
        edge_attributes={} if values is None else {"weight": values[kept]},
        row_name=row_name(kept),
        notes=tuple(notes),
    )


def equals_transpose(row: NDArray[Any], column: NDArray[Any], values: NDArray[Any] | None) -> bool:
    """Whether the entries above the diagonal of a matrix are those below it, turned round."""
    pairs = _mirrored(row, column, values)
    return pairs is not None and _equal(values, *pairs)


def _mirrored(
    row: NDArray[Any], column: NDArray[Any], values: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Positions of the entries above the diagonal and of their mirror images; None where some have none."""
    above, below = np.flatnonzero(row < column), np.flatnonzero(row > column)
    if above.size != below.size:
        return None
    a, b = sorted_positions(row, column, values, above), sorted_positions(column, row, values, below)
    return (a, b) if np.array_equal(row[a], column[b]) and np.array_equal(column[a], row[b]) else None


def _equal(values: NDArray[Any] | None, a: NDArray[Any], b: NDArray[Any]) -> bool:
    return values is None or np.array_equal(values[a], values[b], equal_nan=values.dtype.kind == "f")
