"""Rows of text cells: a vectorised parser for regular tables, and lists of cells for the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError, OptionError
from graphpri.graph import BoolArray, FloatArray
from graphpri.io.decimals import powers
from graphpri.io.source import Source

Ints = NDArray[np.int64]

INTEGER = re.compile(r"0|-?[1-9][0-9]*")
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.I
)
ANY_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.I)
_NUMERIC_BYTES = b"0123456789+-.eE \t\n,;"
_DIGITS_OF_INT64 = 19
_ROUNDS = 100
LARGE = 1 << 18
"""Rows from which compiled code pays."""

_DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "space": None, "whitespace": None, " ": None}


class Rows(Protocol):
    """Cells in rows of equal length, each row with its line in the file."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        ...

    @property
    def lines(self) -> Ints:
        """Line number of each row, counted from 1."""
        ...

    def cells(self, column: int) -> list[str | None]:
        """Cells of a column as text; None where a cell is empty."""
        ...

    def integers(self, column: int) -> Ints | None:
        """A column as int64, or None unless every cell is an integer in canonical form that fits."""
        ...

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None unless every cell is a number without padding zeros."""
        ...


@dataclass(frozen=True)
class CellRows:
    """Rows held as lists of cells, for what the vectorised parser can't take."""

    columns: Sequence[list[str | None]]
    lines: Ints

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.lines.size

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def cells(self, column: int) -> list[str | None]:
        """Cells of a column as text; None where a cell is empty."""
        return self.columns[column]

    def integers(self, column: int) -> Ints | None:
        """A column as int64, or None."""
        cells = self.columns[column]
        if not all(cell is not None and INTEGER.fullmatch(cell) for cell in cells):
            return None
        try:
            return np.array([int(cell or "") for cell in cells], np.int64)
        except (OverflowError, ValueError):  # ValueError: beyond the digits that int() takes
            return None

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None."""
        return parse_numbers(self.columns[column])


def parse_numbers(cells: list[str | None]) -> FloatArray | None:
    """Cells as float64, or None unless every one is a number without padding zeros."""
    if not all(cell is not None and NUMBER.fullmatch(cell) for cell in cells):
        return None
    return np.array([float(cell or "") for cell in cells], np.float64)


@dataclass(frozen=True)
class GridRows:
    """Rows as positions of cells in the bytes of the file."""

    data: bytes
    start: Ints
    stop: Ints
    lines: Ints
    buffer: NDArray[np.uint8] = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.start.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.start.shape[1]

    @cached_property
    def _only_numbers(self) -> bool:
        return not self.data.translate(None, _NUMERIC_BYTES)

    def cells(self, column: int) -> list[str | None]:
        """Cells of a column as text; None where a cell is empty."""
        ends = zip(self.start[:, column].tolist(), self.stop[:, column].tolist(), strict=True)
        if self.data.isascii():
            text = self.data.decode("ascii")
            return [text[a:b] or None for a, b in ends]
        return [self.data[a:b].decode() or None for a, b in ends]

    def integers(self, column: int) -> Ints | None:
        """A column as int64, or None unless every cell is an integer in canonical form that fits."""
        return parse_integers(self.buffer, self.start[:, column], self.stop[:, column])

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None unless every cell is a number without padding zeros."""
        start, stop = self.start[:, column], self.stop[:, column]
        if self.n_rows >= LARGE:
            values = _many_numbers(self.buffer, start, stop)
            return parse_numbers(self.cells(column)) if values is None else values
        if not self._only_numbers or _has_padding(self.buffer, start, stop):
            return parse_numbers(self.cells(column))
        try:
            ends = zip(start.tolist(), stop.tolist(), strict=True)
            return np.array([float(self.data[a:b]) for a, b in ends], np.float64)
        except ValueError:
            return None


def _many_numbers(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> FloatArray | None:
    """Very many numbers as float64; None where some cell is no number, or one that takes slower code to tell."""
    from graphpri.io import text_loops as loops

    start, length = np.ascontiguousarray(start)[None], (stop - start)[None]
    joined = np.empty(int(length.sum()) + length.size, np.uint8)
    loops.join_cells(np.array(buffer), start, length, ord("\n"), joined)
    text = joined.tobytes()
    cells, todo = np.empty((1, length.size), np.int64), np.empty((length.size, 4), np.int64)
    buffer = np.frombuffer(text, np.uint8)
    rows, left, problem = loops.parse_rows(buffer, ord(","), np.ones(1, bool), cells, todo, *powers())
    if problem != -1 or rows != length.size:
        return None
    values = cells.view(np.float64)[0]
    for row, _, begin, end in todo[:left].tolist():
        values[row] = float(text[begin:end])
    return values


def parse_integers(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> Ints | None:
    """Integers at given places of a text as int64; None unless all are in canonical form and fit.

    Parameters
    ----------
    buffer : ndarray of uint8
        The text; it must end with a byte that belongs to no cell.
    start, stop : ndarray of int64, shape (R,)
        Where each integer begins and ends.
    """
    if not start.size:
        return np.zeros(0, np.int64)
    negative = buffer[start] == ord("-")
    first = start + negative
    width = stop - first
    if width.min() < 1 or width.max() > _DIGITS_OF_INT64:
        return None
    if ((buffer[first] == ord("0")) & ((width > 1) | negative)).any():
        return None
    value = np.zeros(start.size, np.uint64)
    for place in range(int(width.max())):
        inside = width > place
        digit = buffer[np.minimum(first + place, buffer.size - 1)] - np.uint8(ord("0"))
        if (digit[inside] > 9).any():
            return None
        value = np.where(inside, value * np.uint64(10) + digit, value)
    if value.max() > np.iinfo(np.int64).max:
        return None
    signed = value.astype(np.int64)
    return np.where(negative, -signed, signed)


def _has_padding(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> bool:
    """Whether a cell begins with a zero before another digit, as in 007."""
    sign = (buffer[start] == ord("+")) | (buffer[start] == ord("-"))
    first = start + (sign & (stop > start))
    after = buffer[np.minimum(first + 1, buffer.size - 1)]
    digit = (after >= ord("0")) & (after <= ord("9"))
    return bool(((buffer[first] == ord("0")) & (stop - first > 1) & digit).any())


def find_words(buffer: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Start and stop of every run of bytes that are not spaces, tabs or line ends."""
    gap = (buffer == ord(" ")) | (buffer == ord("\t")) | (buffer == ord("\n"))
    edge = np.flatnonzero(gap[1:] != gap[:-1]) + 1
    if buffer.size and not gap[0]:
        edge = np.concatenate([[0], edge])
    return edge[0::2], edge[1::2]


def line_bounds(buffer: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Start and end of every line; the text must end with a line break."""
    end = np.flatnonzero(buffer == ord("\n"))
    start = np.zeros_like(end)
    start[1:] = end[:-1] + 1
    return start, end


def split_grid(source: Source, data: bytes, delimiter: str | None, first_line: int = 1, comment: str = "") -> GridRows:
    """Split text into rows of equally many cells, leaving out blank lines and comments.

    Parameters
    ----------
    source : Source
        Named in errors.
    data : bytes
        Text that ends with a line break and has no quoted cells.
    delimiter : str or None
        One ASCII character, around which spaces don't count; None for runs of spaces and tabs.
    first_line : int
        Line number at which `data` begins.
    comment : str
        Characters that make a line that begins with one of them a comment.

    Raises
    ------
    FileError
        For a row with more or fewer cells than the first, naming both lines.
    """
    buffer = np.frombuffer(data, np.uint8)
    start, end = line_bounds(buffer)
    lines = np.arange(first_line, first_line + start.size)
    kept = _is_row(buffer, start, comment, delimiter)
    if not kept.all():
        buffer = buffer[np.repeat(kept, end - start + 1)]
        data, lines = buffer.tobytes(), lines[kept]
        start, end = line_bounds(buffer)
    if not start.size:
        nothing = np.zeros((0, 0), np.int64)
        return GridRows(data, nothing, nothing, lines, buffer)
    if delimiter is None:
        first, stop = find_words(buffer)
        counts = np.diff(np.searchsorted(first, end), prepend=0)
    else:
        breaks = np.flatnonzero(buffer == ord(delimiter))
        counts = np.diff(np.searchsorted(breaks, end), prepend=0) + 1
        first, stop = breaks + 1, breaks
    check_counts(source, counts, lines, delimiter)
    shape = (start.size, int(counts[0]))
    if delimiter is None:
        return GridRows(data, first.reshape(shape), stop.reshape(shape), lines, buffer)
    inner = (shape[0], shape[1] - 1)
    first = np.hstack([start[:, None], first.reshape(inner)])
    stop = np.hstack([stop.reshape(inner), end[:, None]])
    _trim(buffer, first, stop, delimiter)
    return GridRows(data, first, stop, lines, buffer)


def check_counts(source: Source, counts: Ints, lines: Ints, delimiter: str | None) -> None:
    """Refuse rows that have another number of cells than the first row."""
    odd = counts != counts[0]
    if odd.any():
        row = int(np.argmax(odd))
        raise count_error(source, (int(counts[row]), int(lines[row])), (int(counts[0]), int(lines[0])), delimiter)


def count_error(source: Source, found: tuple[int, int], first: tuple[int, int], delimiter: str | None) -> FileError:
    """Make the error for a row with too few or too many cells, from (cells, line) of it and of the first row."""
    between = "spaces and tabs" if delimiter is None else repr(delimiter)
    return source.error(
        f"the row has {found[0]} cell{'s' * (found[0] != 1)} where line {first[1]} has {first[0]} (split at {between})",
        found[1],
    )


def _is_row(buffer: NDArray[np.uint8], start: Ints, comment: str, delimiter: str | None) -> BoolArray:
    """Which lines are neither blank nor comments."""
    at = start.copy()
    _skip(buffer, at, 1, _blank_bytes(delimiter))
    byte = buffer[at]
    kept = byte != ord("\n")
    for mark in comment:
        kept &= byte != ord(mark)
    return kept


def _trim(buffer: NDArray[np.uint8], start: Ints, stop: Ints, delimiter: str) -> None:
    """Move the bounds of cells past the spaces around them, in place."""
    blank = _blank_bytes(delimiter)
    _skip(buffer, start.reshape(-1), 1, blank, stop.reshape(-1))
    last = stop.reshape(-1) - 1
    _skip(buffer, last, -1, blank, start.reshape(-1) - 1)
    stop[...] = last.reshape(stop.shape) + 1


def _blank_bytes(delimiter: str | None) -> bytes:
    return b" " if delimiter == "\t" else b" \t"


def _skip(buffer: NDArray[np.uint8], at: Ints, step: int, blank: bytes, bound: Ints | None = None) -> None:
    """Move positions over blanks, in place, as far as `bound`; a position stops at any other byte."""
    todo = np.arange(at.size)
    codes = np.frombuffer(blank, np.uint8)
    for _ in range(_ROUNDS):
        where = at[todo]
        on_blank = np.isin(buffer[where], codes)
        if bound is not None:
            on_blank &= where != bound[todo]
        todo = todo[on_blank]
        if not todo.size:
            return
        at[todo] += step
    # Wide padding in few places: walk it byte by byte rather than in ever shorter rounds.
    text = buffer.tobytes()
    for cell in todo.tolist():
        place, limit = int(at[cell]), -1 if bound is None else int(bound[cell])
        while place != limit and text[place] in blank:
            place += step
        at[cell] = place


def find_delimiter(name: str) -> str | None:
    """The character that a delimiter's name means; None for spaces and tabs.

    Raises
    ------
    OptionError
        Unless it is comma, tab, semicolon, space, or a single ASCII character that can delimit.
    """
    if name in _DELIMITERS:
        return _DELIMITERS[name]
    if len(name) != 1 or not name.isascii() or name.isalnum() or name in '\n\r\0"#%+-._':
        raise OptionError(f"delimiter={name!r}: choose comma, tab, semicolon, space, or one such character")
    return name
