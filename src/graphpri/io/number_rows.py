"""Large files whose rows are numbers only: read in pieces, by compiled code, in threads.

Whatever is not as simple as that (comments between rows, quotes, words, padding zeros, rows of another length) is
left to the reader of small files, which says what is wrong where something is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import MOST_EDGES
from graphpri.io.decimals import powers
from graphpri.io.pieces import compact, in_turn, joined
from graphpri.io.source import Source

LARGE = 1 << 23
"""Bytes of text from which compiled code pays."""

NUMBER_BYTES, TEXT_BYTES = 3, 20
"""Memory for each byte of a text, read here and by the reader of small files; measured: 1.6 to 3, and 19."""

_PIECE = 1 << 22


class NumberColumns(NamedTuple):
    """Columns of numbers, and the numbers of their lines.

    Parameters
    ----------
    columns : list of ndarray
        int32 or int64 where all numbers are integers in canonical form that fit, else float64.
    lines : range
    """

    columns: list[NDArray[Any]]
    lines: range


def read_head(source: Source) -> tuple[bytes, Iterator[bytes]] | None:
    """The first lines of a large file, some mebibytes, and the chunks that follow; None for a small file."""
    chunks = source.chunks()
    head: list[bytes] = []
    size = 0
    while size < LARGE:
        if (chunk := next(chunks, None)) is None:
            return None
        head.append(chunk)
        size += len(chunk)
    data = b"".join(head)
    cut = data.rfind(b"\n") + 1
    return (data[:cut], chain([data[cut:]], chunks)) if cut else None


def read_numbers(
    source: Source,
    first: bytes,
    chunks: Iterable[bytes],
    delimiter: str | None,
    n_columns: int,
    integers: Sequence[int],
    line: int,
) -> NumberColumns | None:
    """Read rows of numbers; None where some line is anything else.

    Parameters
    ----------
    source : Source
        Named in errors.
    first : bytes
        Whole lines, in which the rows begin.
    chunks : iterable of bytes
        What follows.
    delimiter : str or None
        One ASCII character, around which spaces don't count; None for runs of spaces and tabs.
    n_columns : int
    integers : sequence of int
        Columns that must be integers in canonical form.
    line : int
        Line number at which `first` begins.

    Raises
    ------
    FileError
        For more rows than a graph can have edges.
    """
    code = 0 if delimiter is None else ord(delimiter)
    pieces: list[list[NDArray[Any]]] = []
    n_rows = 0
    for piece in in_turn(lambda data: _parse(data, code, n_columns, integers), _whole_lines(first, chunks, delimiter)):
        if piece is None:
            return None
        n_rows += piece[0].size
        if n_rows > MOST_EDGES:
            raise source.error(f"there are more rows than a graph can have edges, {MOST_EDGES}")
        pieces.append(piece)
    columns = [joined([piece[i] for piece in pieces]) for i in range(n_columns)]
    return NumberColumns(columns, range(line, line + n_rows))


def _whole_lines(first: bytes, chunks: Iterable[bytes], delimiter: str | None) -> Iterator[bytes]:
    """The text in pieces of some mebibytes that end with a line; the last without blank lines at its end."""
    held, size = [first], len(first)
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= _PIECE:
            data = b"".join(held)
            cut = data.rfind(b"\n") + 1
            yield data[:cut]
            held, size = [data[cut:]], len(data) - cut
    last = b"".join(held).rstrip(b" \r\n" if delimiter == "\t" else b" \t\r\n")
    if last:
        yield last + b"\n"


def _parse(data: bytes, delimiter: int, n_columns: int, integers: Sequence[int]) -> list[NDArray[Any]] | None:
    """Columns of the rows in whole lines."""
    from graphpri.io import text_loops as loops

    text = np.frombuffer(data, np.uint8)
    floats = np.zeros(n_columns, bool)
    # Pages that no row reaches are never touched.
    most = len(data) // (2 * n_columns) + 1
    cells, todo = np.empty((n_columns, most), np.int64), np.empty((most * n_columns, 4), np.int64)
    while True:
        rows, left, problem = loops.parse_rows(text, delimiter, floats, cells, todo, *powers())
        if problem == -1:
            break
        if problem < 0 or problem in integers:
            return None
        floats[problem] = True
    columns: list[NDArray[Any]] = []
    for column, as_floats in zip(cells[:, :rows], floats, strict=True):
        columns.append(column.view(np.float64).copy() if as_floats else compact(column))
    for row, column, start, stop in todo[:left].tolist():
        columns[column][row] = float(data[start:stop])
    return columns
