"""Columns of text cells, and rows of them written in pieces: by compiled code where there are very many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import IntArray
from graphpri.io.decimals import powers
from graphpri.io.pieces import in_turn
from graphpri.io.sink import advance
from graphpri.io.text import check_text, numbers_text, write_text

LARGE = 1 << 18
"""Rows from which compiled code pays."""

_ROWS = 1 << 16  # in a piece
_WIDTH = 25  # of the longest number

Longs = NDArray[np.int64]


class Placed(NamedTuple):
    """Cells as places in a text, shape (R,) each."""

    text: NDArray[np.uint8]
    starts: Longs
    lengths: Longs


class Cells(Protocol):
    """A column of cells; a piece of it as text, and in the form that compiled code takes."""

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        ...

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        ...


class Numbers:
    """Cells that are numbers.

    Parameters
    ----------
    take : callable
        Gives the numbers of a slice of rows as an array of int or float.
    """

    def __init__(self, take: Callable[[slice], NDArray[Any]]) -> None:
        self._take = take

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        return numbers_text(self._take(at))

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        from graphpri.io import text_loops as loops

        values = self._take(at)
        text = np.empty(values.size * _WIDTH, np.uint8)
        starts, lengths = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
        if values.dtype == np.uint64 and values.max(initial=0) > np.iinfo(np.int64).max:
            return Texts(list(map(str, values.tolist()))).placed(slice(None))
        if values.dtype.kind != "f":
            loops.put_integers(values.astype(np.int64), text, _WIDTH, starts, lengths)
            return Placed(text, starts, lengths)
        floats, left = values.astype(np.float64), np.empty(values.size, np.int64)
        count = loops.put_floats(floats.view(np.int64), text, _WIDTH, starts, lengths, left, *powers())
        for i in left[:count].tolist():
            cell = np.frombuffer(repr(float(floats[i])).encode(), np.uint8)
            starts[i], lengths[i] = i * _WIDTH, cell.size
            text[starts[i] : starts[i] + cell.size] = cell
        return Placed(text, starts, lengths)


class Texts:
    """Cells that are text, one for each row; None is an empty cell."""

    def __init__(self, words: Sequence[str | None]) -> None:
        self._words = words

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        return [word or "" for word in self._words[at]]

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        return _place(self.texts(at))


def number_cells(values: NDArray[Any]) -> Cells:
    """Cells of an array of numbers, which may be Python integers beyond 64 bits."""
    return Numbers(values.__getitem__) if values.dtype.kind in "iuf" else Texts(numbers_text(values))


class Coded:
    """Cells out of few different texts.

    Parameters
    ----------
    words : list of str
    codes : ndarray of int, shape (R,)
        Positions among the words.
    """

    def __init__(self, words: list[str], codes: IntArray) -> None:
        self._words, self._codes = words, codes
        self._placed: Placed | None = None

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        return [self._words[i] for i in self._codes[at].tolist()]

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        if self._placed is None:
            self._placed = _place(self._words)
        codes = self._codes[at]
        return Placed(self._placed.text, self._placed.starts[codes], self._placed.lengths[codes])


def _place(words: Sequence[str]) -> Placed:
    encoded = [word.encode(errors="surrogatepass") for word in words]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return Placed(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(lengths) - lengths, lengths)


def write_rows(stream: BinaryIO, name: str, header: str, columns: Sequence[Cells], size: int, delimiter: str) -> None:
    """Write a header, if any, and rows of cells.

    Parameters
    ----------
    stream : binary stream
    name : str
        Of the output, for messages.
    header : str
        With its line break.
    columns : sequence of Cells
    size : int
        Number of rows.
    delimiter : str

    Raises
    ------
    FileError
        For text that no text file can hold.
    """
    write_text(stream, name, [header] if header else [])
    pieces = [slice(start, min(start + _ROWS, size)) for start in range(0, size, _ROWS)]
    if size >= LARGE:
        for done, data in enumerate(in_turn(lambda at: _joined(columns, at, delimiter), pieces), 1):
            check_text(data, name)
            stream.write(data)
            advance(stream, done, len(pieces))
        return
    form = delimiter.join(["%s"] * len(columns)) + "\n"
    for at in pieces:
        write_text(stream, name, map(form.__mod__, zip(*(cells.texts(at) for cells in columns), strict=True)))


def _joined(columns: Sequence[Cells], at: slice, delimiter: str) -> bytes:
    from graphpri.io import text_loops as loops

    placed = [cells.placed(at) for cells in columns]
    offsets = np.cumsum([0, *(cells.text.size for cells in placed)])
    starts = np.stack([cells.starts + offset for cells, offset in zip(placed, offsets, strict=False)])
    lengths = np.stack([cells.lengths for cells in placed])
    out = np.empty(int(lengths.sum()) + lengths.size, np.uint8)
    loops.join_cells(np.concatenate([cells.text for cells in placed]), starts, lengths, ord(delimiter), out)
    return out.tobytes()
