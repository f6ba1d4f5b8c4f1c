"""Rows of delimited text: numbers parsed by libraries, quoted cells by ``csv``, other cells split; and rows written.

Reading takes the fast way first. Rows that are numbers only, and nothing else, are parsed in pieces of some mebibytes
by :func:`numpy.loadtxt` (by pyarrow in large files, where it is installed); rows with quotes by :mod:`csv`. Whatever
these can't be sure to read as we do (comments between rows, padding zeros, blanks around quotes) is left to a slow
pass in plain Python, which says what is wrong, and in which line, where something is.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO, TextIOWrapper
from itertools import chain, islice
from itertools import count as counter
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import compact, in_turn, joined, require
from graphpri.errors import FileError, OptionError, argument, setting
from graphpri.graph import MOST_EDGES, FloatArray, IntArray
from graphpri.io.arrow import as_arrow, numbers_of
from graphpri.io.sink import advance, check_text, numbers_text, write_text
from graphpri.io.source import InputStream

Ints = NDArray[np.int64]
CellText = str | None
"""A cell as text; None where it is empty."""

INTEGER = re.compile(r"0|-?[1-9][0-9]*")
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.I
)
ANY_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.I)
WORD = re.compile(r"[^ \t]+")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')

LARGE_TEXT = 1 << 24
"""Bytes of text from which it pays to load pyarrow."""

NUMBER_BYTES, TEXT_BYTES = 3, 20
"""Memory for each byte of a text, where its rows are numbers and where they are cells, at most; measured: 1.6 to 3."""

_CELL_BYTES, _WORD_BYTES = 24, 250  # for each cell, and for each different one
_DISTINCT = 1 << 20  # different cells beyond which a column whose cells mostly differ is a list of them
_BATCH = 1 << 9  # rows of quoted cells that are taken at once: fewer objects than set off the garbage collector
_LARGE_CELLS = 1 << 27  # bytes of cells up to which nothing is asked
_SPLIT = "split it, or write it as parquet or npz once"

_HEAD = 1 << 22
_PIECE = 1 << 22
_TEXT_PIECE = 1 << 18
_DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "space": None, "whitespace": None, " ": None}

CellCheck = Callable[[int, str], None]
"""Called with the number and the text of each comment that is left out."""


class Coded(NamedTuple):
    """A column of cells of which many are equal: the different ones, and the number of each cell among these.

    Columns can share the words, of which some stand in one of them only then.
    """

    words: list[CellText]
    codes: NDArray[np.int32]

    def cells(self) -> list[CellText]:
        """All cells; equal ones are one object."""
        return cast("list[CellText]", np.array([*self.words, None], object)[:-1][self.codes].tolist())


@dataclass(frozen=True)
class Rows:
    """Cells in rows of equal length.

    Parameters
    ----------
    columns : sequence
        Each an array of numbers, a list of cells, or `Coded`.
    lines : sequence of int
        The line of the file in which each row begins.
    """

    columns: Sequence[NDArray[Any] | list[CellText] | Coded]
    lines: Sequence[int] | range

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.lines)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def cells(self, column: int) -> list[CellText]:
        """Cells of a column as text."""
        cells = self.columns[column]
        if isinstance(cells, Coded):
            return cells.cells()
        return cast("list[CellText]", numbers_text(cells)) if isinstance(cells, np.ndarray) else cells

    def cell(self, column: int, row: int) -> CellText:
        """One cell as text."""
        cells = self.columns[column]
        if isinstance(cells, Coded):
            return cells.words[cells.codes[row]]
        return cells[row] if isinstance(cells, list) else numbers_text(cells[row : row + 1])[0]

    def words(self, column: int) -> Sequence[CellText]:
        """The different cells of a column, or all of them."""
        cells = self.columns[column]
        if isinstance(cells, Coded):
            return [cells.words[i] for i in np.flatnonzero(np.bincount(cells.codes)).tolist()]
        return self.cells(column)

    def first_empty(self, column: int) -> int | None:
        """The first row in which a column has no cell, if there is one."""
        cells = self.columns[column]
        if isinstance(cells, np.ndarray):
            return None
        words = cells.words if isinstance(cells, Coded) else cells
        if None not in words:
            return None
        if isinstance(cells, list):
            return cells.index(None)
        empty = cells.codes == words.index(None)
        return int(np.argmax(empty)) if empty.any() else None

    def integers(self, column: int) -> NDArray[Any] | None:
        """A column as integers, or None unless every cell is an integer in canonical form that int64 holds."""
        cells = self.columns[column]
        if isinstance(cells, np.ndarray):
            return cells if cells.dtype.kind == "i" else None
        values = parse_integers(cells.words if isinstance(cells, Coded) else cells)
        return values[cells.codes] if isinstance(cells, Coded) and values is not None else values

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None unless every cell is a number without padding zeros."""
        cells = self.columns[column]
        if isinstance(cells, np.ndarray):
            return cells.astype(np.float64, copy=False)
        values = parse_numbers(cells.words if isinstance(cells, Coded) else cells)
        return values[cells.codes] if isinstance(cells, Coded) and values is not None else values


def parse_integers(cells: Sequence[CellText]) -> Ints | None:
    """Cells as int64, or None unless every one is an integer in canonical form that fits."""
    if None in cells or not all(map(INTEGER.fullmatch, cast("Sequence[str]", cells))):
        return None
    try:
        return np.fromiter(map(int, cast("Sequence[str]", cells)), np.int64, len(cells))
    except (OverflowError, ValueError):  # ValueError: beyond the digits that int() takes
        return None


def parse_numbers(cells: Sequence[CellText]) -> FloatArray | None:
    """Cells as float64, or None unless every one is a number without padding zeros."""
    if None in cells:
        return None
    words = cast("Sequence[str]", cells)
    # float() takes more than we do, but not of such characters.
    if not _is_canonical("\n".join(words).encode(), None) and not all(map(NUMBER.fullmatch, words)):
        return None
    try:
        return np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        return None


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
        raise OptionError(f"{argument('delimiter', name)}: choose comma, tab, semicolon, space, or one such character")
    return name


_HINT = re.compile(rb'"?sep=(.)"?[,;\t ]*\r?\n', re.I)


def spreadsheet_hint(data: bytes) -> tuple[str, int] | None:
    """The delimiter that Excel's first line ``sep=;`` names, and the offset behind the line; None without one."""
    found = _HINT.match(data)
    return None if found is None else (found[1].decode("latin1"), found.end())


def sniff_delimiter(source: InputStream, lines: Sequence[tuple[int, str]], preferred: str | None = None) -> str | None:
    """The delimiter that splits the first rows into equally many cells; None for spaces.

    Parameters
    ----------
    source : InputStream
        Named in errors.
    lines : sequence of (int, str)
        The first rows and their line numbers.
    preferred : str, optional
        Delimiter that the file's name speaks for; a tab is taken wherever there is one.

    Raises
    ------
    FileError
        Where several would do.
    """
    bare = [_QUOTED.sub("q", text) for _, text in lines]
    sample = [text for text in bare if '"' not in text]
    present = [mark for mark in "\t,;" if mark in bare[0].split('"')[0]]
    if not present:
        return None
    if preferred == "\t" and preferred in present:
        return preferred
    steady = [mark for mark in present if _is_steady([text.split(mark) for text in sample])]
    if len(present) == 1:
        by_words = present == ["\t"] and not steady and _is_steady([WORD.findall(text) for text in sample])
        return None if by_words else present[0]
    others = [
        mark for mark in steady if mark != "," and all(map(_with_commas, chain(*(t.split(mark) for t in sample))))
    ]
    if len(steady) == 1 or len(others) == 1:
        return (others or steady)[0]
    number, first = lines[0]
    raise source.error(
        f"can't tell which of {', '.join(map(repr, present))} delimits the cells of {shorten(first)}: "
        f"pass {setting('delimiter', 'comma', 'tab', 'semicolon', 'space')}",
        number,
    )


def _with_commas(cell: str) -> bool:
    """Whether a cell is a number, perhaps with a decimal comma, so that its comma delimits nothing."""
    return ANY_NUMBER.fullmatch(cell.strip(" \t").replace(",", ".", 1)) is not None


def _is_steady(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all rows have as many cells as the first, and the first two of them."""
    width = len(rows[0]) if rows else 0
    return width > 1 and all(len(row) == width and row[0].strip(" \t") and row[1].strip(" \t") for row in rows)


def shorten(text: str) -> str:
    """A cell as it stands in a message, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "…")


def text_bytes(head: bytes, size: int | None) -> float:
    """Memory for each byte of a text whose rows are cells, by how many of them differ in its first lines.

    As many different cells are expected in the whole as if all were as frequent.

    Parameters
    ----------
    head : bytes
    size : int or None
        Of the whole text; None where it isn't known.
    """
    mark = next((mark for mark in b"\t,;" if mark in head[: head.find(b"\n")]), None)
    cells = head.replace(b"\n", bytes([mark])).split(bytes([mark])) if mark is not None else head.split()
    if not cells or not size:
        return TEXT_BYTES
    n, many = len(cells), max(size / len(head), 1)
    share = len(set(cells)) / n
    # In n draws of L cells, L (1 - exp(-n / L)) differ; n / L is found by bisection.
    low, high = 1e-9, 1 / share
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if -math.expm1(-middle) / middle > share else (low, middle)
    differ = min(-math.expm1(-many * low) * n / low, many * n)
    return min(3 + (_CELL_BYTES * many * n + _WORD_BYTES * differ) / (many * len(head)), TEXT_BYTES)


# Rows of numbers


def read_head(source: InputStream) -> tuple[bytes, Iterator[bytes]]:
    """The first lines of a text, all of it where it is small, and the chunks that follow."""
    chunks = source.chunks()
    head: list[bytes] = []
    size = 0
    for chunk in chunks:
        head.append(chunk)
        size += len(chunk)
        if size >= _HEAD:
            data = b"".join(head)
            cut = data.rfind(b"\n") + 1
            return data[:cut], chain([data[cut:]], chunks)
    return b"".join(head), iter(())


def read_numbers(
    source: InputStream,
    first: bytes,
    chunks: Iterable[bytes],
    delimiter: str | None,
    n_columns: int,
    integers: Sequence[int],
    line: int,
) -> Rows | None:
    """Read rows of numbers; None where some line is anything else.

    Parameters
    ----------
    source : InputStream
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

    Returns
    -------
    Rows
        Columns of int32 or int64 where all numbers are integers in canonical form that fit, else of float64.

    Raises
    ------
    FileError
        For more rows than a graph can have edges.
    """
    arrow: tuple[Any, Any] | None = None

    def pieces_of_text() -> Iterator[bytes]:
        nonlocal arrow
        size = 0
        for piece in _whole_lines(first, chunks, delimiter):
            if arrow is None and max(size, source.size or 0) >= LARGE_TEXT:
                arrow = _find_arrow()
            size += len(piece)
            yield piece

    def parse(data: bytes) -> list[NDArray[Any]] | None:
        if not _is_canonical(data, delimiter):
            return None
        columns = None if arrow is None else _parse_by_arrow(arrow, data, delimiter, n_columns, integers)
        columns = _parse_by_numpy(data, delimiter, n_columns, integers) if columns is None else columns
        # Blank lines, which are skipped, would shift the numbers of the lines behind them.
        if columns is None or len(columns[0]) != data.count(b"\n"):
            return None
        return [compact(column) if column.dtype.kind == "i" else column for column in columns]

    pieces: list[list[NDArray[Any]]] = []
    n_rows = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # older NumPy reads 2.0 as an integer, and warns
        for piece in in_turn(parse, pieces_of_text()):
            if piece is None:
                return None
            n_rows += len(piece[0])
            if n_rows > MOST_EDGES:
                raise source.error(f"there are more rows than a graph can have edges, {MOST_EDGES}")
            pieces.append(piece)
    if not pieces:
        return None
    # Each column's pieces are given up once they are joined.
    columns = [joined([piece.pop(0) for piece in pieces]) for _ in range(n_columns)]
    return Rows(columns, range(line, line + n_rows))


def _whole_lines(first: bytes, chunks: Iterable[bytes], delimiter: str | None) -> Iterator[bytes]:
    """The text in pieces of some mebibytes that end with a line; the last without blank lines at its end."""
    held: list[bytes] = []
    size = 0
    for chunk in chain((first[start : start + _PIECE] for start in range(0, len(first), _PIECE)), chunks):
        held.append(chunk)
        size += len(chunk)
        if size >= _PIECE:
            data = b"".join(held)
            cut = data.rfind(b"\n") + 1
            if cut:
                yield data[:cut]
            held, size = [data[cut:]], len(data) - cut
    if last := b"".join(held).rstrip(b" \r\n" if delimiter == "\t" else b" \t\r\n"):
        yield last + b"\n"


def _is_canonical(data: bytes, delimiter: str | None) -> bool:
    """Whether a text holds ASCII digits and signs only, and no 007, -0 or +5.

    The parsers of the libraries take more than we do for a number, such as 0x1p3, 1_0 or digits of other scripts.
    """
    kinds = data.translate(_kinds_of_bytes(delimiter))
    if b"x" in kinds or kinds.startswith((b"00", b"01")):
        return False
    codes = np.frombuffer(kinds, np.uint8)
    if ((codes[:-2] == ord(" ")) & (codes[1:-1] == ord("0")) & ((codes[2:] | 1) == ord("1"))).any():
        return False
    if b"+" in kinds and kinds.count(b"+") != kinds.count(b"e+"):
        return False
    # Behind a minus that is not an exponent's, a zero needs a point.
    if b"-" not in kinds:
        return True
    zeros, points = (kinds.count(mark) - kinds.count(b"e" + mark) for mark in (b"-0", b"-0."))
    return zeros == points


@lru_cache
def _kinds_of_bytes(delimiter: str | None) -> bytes:
    """A table for :meth:`bytes.translate`: a space for what splits cells, 1 for digits but 0, and x for no number's."""
    kinds = dict.fromkeys(b" \t\r\n" + (delimiter or "").encode(), b" ") | dict.fromkeys(b"123456789", b"1")
    kinds |= dict.fromkeys(b"eE", b"e") | {byte: bytes([byte]) for byte in b"0.+-"}
    return b"".join(kinds.get(byte, b"x") for byte in range(256))


def _parse_by_numpy(
    data: bytes, delimiter: str | None, n_columns: int, integers: Sequence[int]
) -> list[NDArray[Any]] | None:
    def load(kinds: Sequence[str], columns: Sequence[int] | None = None) -> NDArray[Any]:
        # latin1 takes one byte a character, so that no text is longer than the file.
        stream = TextIOWrapper(BytesIO(data), "latin1")
        types = np.dtype([(str(i), kind) for i, kind in enumerate(kinds)])
        return np.loadtxt(stream, types, comments=None, delimiter=delimiter, usecols=columns, ndmin=1)

    def holds_integers(column: int) -> bool:
        try:
            load(["i8"], [column])
        except (ValueError, DeprecationWarning):
            return False
        return True

    first = _cells(data[: data.index(b"\n")].decode().rstrip("\r"), delimiter)
    if len(first) != n_columns:
        return None
    kinds = ["i8" if INTEGER.fullmatch(cell) or i in integers else "f8" for i, cell in enumerate(first)]
    try:
        rows = load(kinds)
    except (ValueError, DeprecationWarning):
        others = [i for i in range(n_columns) if i not in integers and kinds[i] == "i8"]
        kinds = ["f8" if i in others and not holds_integers(i) else kind for i, kind in enumerate(kinds)]
        try:
            rows = load(kinds)
        except (ValueError, DeprecationWarning):
            return None
    return [np.ascontiguousarray(rows[str(i)]) for i in range(n_columns)]


def _find_arrow() -> tuple[Any, Any] | None:
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    return pyarrow, arrow_csv


def _parse_by_arrow(
    arrow: tuple[Any, Any], data: bytes, delimiter: str | None, n_columns: int, integers: Sequence[int]
) -> list[NDArray[Any]] | None:
    """Three times as fast as NumPy for decimals, and without the interpreter's lock; None where it can't read."""
    pa, arrow_csv = arrow
    names = list(map(str, range(n_columns)))
    mark = delimiter or ("\t" if b"\t" in data else " ")
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=mark, quote_char=False),
            arrow_csv.ConvertOptions(column_types={str(i): pa.int64() for i in integers}),
        )
    except (pa.ArrowException, ValueError):
        return None
    if any(column.null_count or column.type not in (pa.int64(), pa.float64()) for column in table.columns):
        return None
    return [numbers_of(column) for column in table.columns]


# Rows of cells


def split_rows(
    source: InputStream,
    data: bytes,
    delimiter: str | None,
    line: int = 1,
    comment: str = "",
    check: CellCheck | None = None,
    ends: Collection[int] = (),
) -> Rows:
    """Split text into rows of equally many cells, leaving out blank lines and comments.

    A row of empty cells, as spreadsheets write them, is a blank line.
    A cell in double quotes may hold the delimiter, line breaks, and quotes written twice; an empty
    quoted cell is empty text, and an empty cell without quotes is None. Between spaces, quotes mean nothing.

    Parameters
    ----------
    source : InputStream
        Named in errors.
    data : bytes
        Text that ends with a line break.
    delimiter : str or None
        One ASCII character, around which spaces don't count; None for runs of spaces and tabs.
    line : int
        Line number at which `data` begins.
    comment : str
        Characters that make a line that begins with one of them a comment.
    check : callable, optional
        Called for each comment left out.
    ends : collection of int
        Columns that hold the same kind of text, and are numbered together.

    Raises
    ------
    FileError
        For a row with more or fewer cells than the first, naming both lines, and for a quote that is not closed,
        or text behind one.
    """
    if delimiter is not None and b'"' in data:
        rows = _rows_by_csv(source, data, delimiter, line, comment, check, ends)
        return _rows_by_record(source, data, delimiter, line, comment, check) if rows is None else rows
    cells = _Gatherer(source, ends)
    for start, end in _pieces(data):
        line = _split_piece(cells, data[start:end].decode(), delimiter, line, comment, check)
    return cells.rows()


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    """Where pieces of text begin and end, with a line."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _TEXT_PIECE) + 1 or len(data)
        yield start, end
        start = end


def _split_piece(
    shared: _Gatherer, text: str, delimiter: str | None, line: int, comment: str, check: CellCheck | None
) -> int:
    """Split some lines without quotes, of which `line` is the first; the number of the line behind them."""
    texts = text.split("\n")[:-1]
    behind = line + len(texts)
    blank = _blank(delimiter)
    empty = blank + (delimiter or "")
    skipped: set[int] = set()
    for i in [i for i, row in enumerate(texts) if row[:1] in empty + comment]:
        bare = texts[i].strip(blank)
        if not bare.strip(empty) or bare[0] in comment:
            skipped.add(i)
            if bare and bare[0] in comment and check is not None:
                check(line + i, bare)
    lines: Sequence[int] = range(line, behind)
    if skipped:
        lines = [number for i, number in enumerate(lines) if i not in skipped]
        texts = [row for i, row in enumerate(texts) if i not in skipped]
    if not texts:
        return behind
    if delimiter is None:
        counts, cells = _split_words(texts, text)
    else:
        counts = [row.count(delimiter) + 1 for row in texts]
        text = delimiter.join(texts)
        cells = text.split(delimiter)
        if any(mark in text for mark in blank):
            cells = [cell.strip(blank) for cell in cells]
    width, first = (shared.width, shared.first_line) if shared.width else (counts[0], lines[0])
    for count, number in zip(counts, lines, strict=True):
        if count != width:
            raise _count_error(shared.source, (count, number), (width, first), delimiter)
    shared.add([cells[i::width] for i in range(width)], lines)
    return behind


_Places = defaultdict[str, int]


class _Gathered:
    """One column: the number of each cell among the different ones, or the cells where most of them differ."""

    def __init__(self, ends: _Places | None) -> None:
        self._place: _Places = defaultdict(counter().__next__) if ends is None else ends
        self._is_end = ends is not None
        self._codes: list[NDArray[np.int32]] = []
        self._cells: list[CellText] | None = None
        self.size = 0

    @property
    def n_bytes(self) -> int:
        """About what it takes."""
        return _CELL_BYTES * self.size + _WORD_BYTES * (self.size if self._cells is not None else len(self._place))

    def add(self, cells: Sequence[str]) -> Iterable[str]:
        """Take cells; those that were not there before, and perhaps others."""
        self.size += len(cells)
        if self._cells is not None:
            self._cells += [cell or None for cell in cells]
            return cells
        before = len(self._place)
        self._codes.append(np.fromiter(map(self._place.__getitem__, cells), np.int32, len(cells)))
        fresh = list(islice(reversed(self._place), len(self._place) - before))
        if len(self._place) > max(_DISTINCT, self.size // 2) and not self._is_end:
            self._cells = self._coded(self._words()).cells()
            self._place.clear()
            self._codes.clear()
        return fresh

    def _words(self) -> list[CellText]:
        return [word or None for word in self._place]

    def _coded(self, words: list[CellText]) -> Coded:
        return Coded(words, np.concatenate(self._codes) if self._codes else np.zeros(0, np.int32))

    def column(self, words: list[CellText] | None) -> Coded | list[CellText]:
        """All of it; `words` are those of the ends."""
        if self._cells is not None:
            return self._cells
        return self._coded(words if self._is_end and words is not None else self._words())


class _Gatherer:
    """Columns of cells that come piece by piece. What they take is asked for as it grows.

    A file's first lines say little about how many different texts are in it.
    """

    def __init__(self, source: InputStream, ends: Collection[int]) -> None:
        self.source = source
        self.first_line = 0
        self._ends = ends
        self._labels: _Places = defaultdict(counter().__next__)
        self._columns: list[_Gathered] = []
        self._lines: range | array[int] = range(0)
        self._asked = _LARGE_CELLS

    @property
    def width(self) -> int:
        """Number of columns, 0 as long as there is no row."""
        return len(self._columns)

    def add(self, columns: Sequence[Sequence[str]], lines: Sequence[int]) -> Iterator[str]:
        """Take rows, as columns, and the lines where they begin; the texts that were not there before."""
        if not self._columns:
            self.first_line = lines[0]
            self._columns = [_Gathered(self._labels if i in self._ends else None) for i in range(len(columns))]
        fresh = [column.add(cells) for column, cells in zip(self._columns, columns, strict=True)]
        self._add_lines(lines)
        held = sum(column.n_bytes for column in self._columns)
        if held > self._asked:
            self._asked = held + held // 4
            require(held, f"{self.source.name}: the cells of {self._columns[0].size} rows", _SPLIT)
        return chain.from_iterable(fresh)

    def _add_lines(self, lines: Sequence[int]) -> None:
        mine = self._lines
        if isinstance(mine, range) and isinstance(lines, range) and (not mine or mine.stop == lines.start):
            self._lines = range(mine.start if mine else lines.start, lines.stop)
            return
        self._lines = array("q", mine) if isinstance(mine, range) else mine
        self._lines.extend(lines)

    def rows(self) -> Rows:
        """What was gathered."""
        labels = [word or None for word in self._labels]
        self._labels.clear()
        return Rows([column.column(labels) for column in self._columns], self._lines)


def _split_words(texts: Sequence[str], whole: str) -> tuple[list[int], list[str]]:
    """How many words each line has, and all of them."""
    # Python's own split is twice as fast, and splits at more than spaces and tabs.
    alike = whole.isascii() and not any(mark in whole for mark in "\v\f\r\x1c\x1d\x1e\x1f")
    split: Callable[[str], list[str]] = str.split if alike else WORD.findall
    counts: list[int] = []
    cells: list[str] = []
    for text in texts:
        words = split(text)
        counts.append(len(words))
        cells += words
    return counts, cells


def _blank(delimiter: str | None) -> str:
    return " " if delimiter == "\t" else " \t"


def _cells(line: str, delimiter: str | None) -> list[str]:
    """Cells of a line without quotes."""
    if delimiter is None:
        return WORD.findall(line)
    return [cell.strip(_blank(delimiter)) for cell in line.split(delimiter)]


def _count_error(
    source: InputStream, found: tuple[int, int], first: tuple[int, int], delimiter: str | None
) -> FileError:
    """Make the error for a row with too few or too many cells, from (cells, line) of it and of the first row."""
    lists = f"; if each line lists the neighbours of a node, pass {setting('format', 'adjlist', 'metis')}"
    lists = "" if delimiter else lists
    between = "spaces and tabs" if delimiter is None else repr(delimiter)
    return source.error(
        f"the row has {found[0]} cell{'s' * (found[0] != 1)} where line {first[1]} has {first[0]} (split at {between})"
        + lists,
        found[1],
    )


def _rows_by_csv(
    source: InputStream,
    data: bytes,
    delimiter: str,
    line: int,
    comment: str,
    check: CellCheck | None,
    ends: Collection[int],
) -> Rows | None:
    """Rows read by :mod:`csv`; None where it would read something else than we do, or finds something wrong.

    It does not tell an empty quoted cell from an empty one, nor blanks inside quotes from those around a cell.
    """
    blank = _blank(delimiter)
    begins = array("q")
    at_start = True

    def lines() -> Iterator[str]:
        return iter(TextIOWrapper(BytesIO(data), "utf-8", newline="\n"))

    def rows_of(lines: Iterator[str]) -> Any:
        return csv.reader(lines, delimiter=delimiter, strict=True)

    def without_comments() -> Iterator[str]:
        nonlocal at_start
        for number, row in enumerate(lines(), line):
            if at_start:
                bare = row[:-1].strip(blank)
                if not bare or bare[0] in comment:
                    if bare and check is not None:
                        check(number, bare)
                    continue
                begins.append(number)
            at_start = False
            yield row

    def one_by_one() -> Iterator[list[str]]:
        nonlocal at_start
        for row in rows_of(without_comments()):
            at_start = True
            yield row

    mixed = re.compile(rb"(?m)^[ \t]*(?:[%b]|$)" % re.escape(comment.encode() or b"\n")).search(data, 0, len(data) - 1)
    told = b'""' in data
    try:
        if not mixed:
            reader = rows_of(lines())
            gathered = _Gatherer(source, ends)
            rows = _gather(gathered, reader, range(line, line + data.count(b"\n")), blank, told=told)
            if rows is None or reader.line_num == data.count(b"\n"):
                return rows
        return _gather(_Gatherer(source, ends), one_by_one(), begins, blank, told=told)
    except csv.Error:
        return None


def _gather(
    gathered: _Gatherer, reader: Iterator[list[str]], numbers: Sequence[int], blank: str, *, told: bool
) -> Rows | None:
    """Rows of a reader; None where blanks stand around a cell, rows differ in width, or, if `told`, a cell is empty."""
    done = 0
    while rows := list(islice(reader, _BATCH)):
        at = numbers[done : done + len(rows)]
        done += len(rows)
        if not all(map(any, rows)):
            at = [number for number, row in zip(at, rows, strict=True) if any(row)]
            rows = [row for row in rows if any(row)]
            if told:
                return None
        if not rows:
            continue
        if set(map(len, rows)) != {gathered.width or len(rows[0])}:
            return None
        columns: list[Sequence[str]] = list(zip(*rows, strict=True))
        if told and any("" in column for column in columns):
            return None
        if any(word != word.strip(blank) for word in gathered.add(columns, at)):
            return None
    return gathered.rows()


class Record(NamedTuple):
    """One row of quoted text: the line where it begins, its cells, and the offset behind it."""

    line: int
    cells: list[CellText]
    end: int


def records(
    source: InputStream,
    data: bytes,
    delimiter: str,
    offset: int,
    line: int,
    comment: str = "",
    check: CellCheck | None = None,
) -> Iterator[Record]:
    """Rows of delimited text from an offset on, one by one, as :func:`split_rows` reads them.

    Raises
    ------
    FileError
        For a quote that is not closed, or text behind one, naming the line.
    """
    mark = re.escape(delimiter.encode())
    blank = rb" *+" if delimiter == "\t" else rb"[ \t]*+"
    cell = re.compile(rb'%b(?:"((?:[^"]++|"")*+)"%b|((?!")[^%b\n]*+))(%b|\n)' % (blank, blank, mark, mark))
    remark = rb"(?:[%b][^\n]*+)?" % re.escape(comment.encode()) if comment else b""
    skipped = re.compile(rb"%b%b\n" % (blank, remark))
    while offset < len(data):
        if skip := skipped.match(data, offset):
            if check is not None:
                check(line, skip[0].decode().strip(" \t\n"))
            offset, line = skip.end(), line + 1
            continue
        cells: list[CellText] = []
        first_line = line
        end = b""
        while end != b"\n":
            found = cell.match(data, offset)
            if found is None:
                raise source.error("a quote is opened and never closed, or text follows its end", line)
            offset = found.end()
            line += found[0].count(b"\n")
            quoted, plain, end = found.groups()
            text = plain.rstrip(b" \t") if quoted is None else quoted.replace(b'""', b'"')
            cells.append(text.decode() if text or quoted is not None else None)
        yield Record(first_line, cells, offset)


def _rows_by_record(
    source: InputStream, data: bytes, delimiter: str, line: int, comment: str, check: CellCheck | None
) -> Rows:
    rows: list[list[CellText]] = []
    lines: list[int] = []
    for record in records(source, data, delimiter, 0, line, comment, check):
        if all(cell is None for cell in record.cells):
            continue
        if rows and len(record.cells) != len(rows[0]):
            raise _count_error(source, (len(record.cells), record.line), (len(rows[0]), lines[0]), delimiter)
        rows.append(record.cells)
        lines.append(record.line)
    return Rows([list(column) for column in zip(*rows, strict=True)], lines)


# Rows written

LARGE = 1 << 18
"""Rows from which it pays to load pyarrow for writing them."""

_ROWS = 1 << 16  # in a piece


class Cells:
    """A column of cells to be written, a piece at a time.

    Parameters
    ----------
    take : callable
        Gives what stands in a slice of rows: numbers as an array of int or float, or positions among the words.
    words : list of (str or None), optional
        The different texts of the cells; None is an empty cell.
    """

    def __init__(self, take: Callable[[slice], NDArray[Any]], words: Sequence[CellText] | None = None) -> None:
        self._take = take
        self._words = words
        self._arrow_words: Any = None

    @classmethod
    def of(cls, values: NDArray[Any] | Sequence[CellText]) -> Cells:
        """Cells that stand in memory: numbers, which may be Python's integers beyond 64 bits, or texts."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
            return cls(values.__getitem__)
        texts = numbers_text(values) if isinstance(values, np.ndarray) else values
        return cls(np.arange(len(texts)).__getitem__, texts)

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        values = self._take(at)
        return numbers_text(values) if self._words is None else [self._words[i] or "" for i in values.tolist()]

    def by_arrow(self, pa: Any, at: slice) -> Any:
        """The same as an array of pyarrow's."""
        values = self._take(at)
        if self._words is not None:
            if self._arrow_words is None:
                self._arrow_words = pa.array([word or "" for word in self._words], pa.string())
            return self._arrow_words.take(as_arrow(pa, values))
        if values.dtype.kind != "f":
            return as_arrow(pa, values).cast(pa.string())
        floats = values.astype(np.float64)
        texts = as_arrow(pa, floats).cast(pa.string())
        # The digits are the shortest ones that read back, like Python's; the form is the same in this range only.
        size = np.abs(floats)
        odd = ~((size >= 1e-4) & (size < 1e9)) | (floats == np.trunc(floats))
        if not odd.any():
            return texts
        return _compute().replace_with_mask(texts, pa.array(odd), pa.array(list(map(repr, floats[odd].tolist()))))


def code_cells(words: Sequence[CellText], codes: IntArray) -> Cells:
    """Cells out of few different texts, by their positions among these."""
    return Cells(codes.__getitem__, words)


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
    form = delimiter.join(["%s"] * len(columns)) + "\n"
    arrow = _find_arrow() if size >= LARGE else None

    def text(at: slice) -> bytes:
        if arrow is not None:
            try:
                return _text_by_arrow(arrow[0], columns, at, delimiter)
            except (UnicodeEncodeError, OverflowError):
                pass  # halves of surrogate pairs, which are refused with a message
        rows = zip(*(cells.texts(at) for cells in columns), strict=True)
        return "".join(map(form.__mod__, rows)).encode(errors="surrogatepass")

    for done, data in enumerate(in_turn(text, pieces), 1):
        check_text(data, name)
        stream.write(data)
        advance(stream, done, len(pieces))


def _compute() -> Any:
    from pyarrow import compute

    return compute


def _text_by_arrow(pa: Any, columns: Sequence[Cells], at: slice, delimiter: str) -> bytes:
    join = _compute().binary_join_element_wise
    cells = [column.by_arrow(pa, at) for column in columns]
    rows = join(join(*cells, delimiter), "", "\n")
    _, offsets, text = rows.buffers()
    return text.to_pybytes()[: np.frombuffer(offsets, np.int32)[len(rows)]]
