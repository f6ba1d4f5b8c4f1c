"""Adjacency matrices as text: a square block of numbers, a row a node, perhaps with labels beside or above it.

Labels stand in a header (pandas' ``,A,B,C``, Gephi's ``;A;B;C``, R's ``A B C``), in the first cell of each row, or in
a comment above. A block that might as well be an edge list is refused, with a way to say which it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError, setting
from graphpri.graph import EdgeTable, Order, find_ends, plain_label
from graphpri.io.columns import in_thousands, label_sequence, parse_labels
from graphpri.io.matrixmarket import matrix_table
from graphpri.io.rows import (
    INTEGER,
    NUMBER,
    TEXT_BYTES,
    WORD,
    find_delimiter,
    shorten,
    sniff_delimiter,
    spreadsheet_hint,
)
from graphpri.io.source import InputStream, ReadOptions

_DECIMAL = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_MISSING = ("", "-", "NA", "na", "NaN", "nan", "None", "null", "?", "X", "x")  # in the corner of a table
_NUMBERS_ONLY = re.compile(r"[-+.0-9eEnaifNAIFtTyY \t]*")
_ZEROS = re.compile(r"^-?[0-9]+(?:\.0*)?$|^-?[0-9]\.[0-9]*e\+[0-9]+$")  # 12, 12.0, and 1.2e+01 as np.savetxt has it
_SAMPLE = 100
_NOISE = 1000  # lines of a small file that are looked at, whatever their number
_MOST_COLUMNS = 4  # of edge lists without names for them: ends, weight, time
_FEW = 3  # nodes up to which the rows of a symmetric matrix of integers are edges as well


@dataclass(frozen=True)
class _Row:
    number: int
    cells: list[str]


@dataclass(frozen=True)
class _SquareBlock:
    """The numbers of a square block, the line of each of its rows, and its labels."""

    values: NDArray[np.float64]
    lines: list[int]
    labels: list[str] | None
    certain: bool
    notes: tuple[str, ...] = ()


def read_matrix(source: InputStream, options: ReadOptions, *, named: bool = True) -> EdgeTable:
    """Read a text as an adjacency matrix.

    Parameters
    ----------
    source : InputStream
    options : ReadOptions
        `delimiter` and `comment`.
    named : bool
        Whether it is certain that the text is a matrix; else one that might as well be an edge list is refused.

    Raises
    ------
    FileError
        For a text that is no square block of numbers, and entries that are not numbers; names the line.
    """
    source.require(TEXT_BYTES, "write it as npz once, by scipy.sparse.save_npz")
    data, options = without_hint(source.text(), options)
    if not named and (table := find_matrix(source, data, options, None, named=True)) is not None:
        return table
    delimiter = _delimiter(source, data, options, None)
    lines, comments = _split(data, delimiter, _marks(options))
    lines, block = _read_block(source, lines, comments, delimiter)
    if block is None:
        raise source.error(*_why_not(lines))
    return _table(source, block)


def without_hint(data: bytes, options: ReadOptions) -> tuple[bytes, ReadOptions]:
    """A text without Excel's first line ``sep=;``, which stays as a blank one, and the options with its delimiter."""
    hint = spreadsheet_hint(data)
    if hint is None:
        return data, options
    return b"\n" + data[hint[1] :], options if options.delimiter else replace(options, delimiter=hint[0])


def find_matrix(
    source: InputStream, data: bytes, options: ReadOptions, preferred: str | None, *, named: bool = False
) -> EdgeTable | None:
    """The adjacency matrix that a text without a stated format is; None where it is none.

    `named` says that the file's name is one of matrices.

    Raises
    ------
    FileError
        Where it might as well be an edge list.
    """
    try:
        delimiter = _delimiter(source, data, options, preferred)
    except FileError:
        return None
    lines, comments = _split(data, delimiter, _marks(options))
    if not lines or any(find_ends(_words(text, delimiter)) for _, text in comments):
        return None
    lines, block = _read_block(source, lines, comments, delimiter)
    if block is None:
        _refuse_gap(source, lines)
        return None
    if find_ends(lines[0].cells):
        return None
    symmetric = bool(np.allclose(block.values, block.values.T, rtol=1e-8, atol=0, equal_nan=True))
    if block.certain or not _may_be_edges(lines, block):
        return _table(source, block)
    n = len(block.lines)
    hollow = not block.values.diagonal().any()
    if symmetric and n > _FEW:
        return _table(source, block)
    if not (
        named or hollow or n > _MOST_COLUMNS or (symmetric and (n == _FEW or np.ptp(block.values.diagonal()) == 0))
    ):
        return None
    raise source.error(
        f"{n} rows of {len(lines[-1].cells)} cells may be an adjacency matrix or an edge list: pass "
        f"{setting('format', 'matrix')} or {setting('format', 'edgelist')}",
        block.lines[0],
    )


def may_be_matrix(head: bytes, options: ReadOptions, *, whole: bool) -> bool:
    """Whether a text has about as many rows as columns, by its first lines."""
    last = head.rstrip().rpartition(b"\n")[2]
    if head.count(b"\n") > _NOISE + 2 * len(last):
        return False  # the usual edge list, without a look at each of its lines
    marks = _marks(options)
    rows = [
        line for line in head.decode(errors="replace").splitlines() if line.strip() and line.strip()[0] not in marks
    ]
    if len(rows) < 2:
        return False
    widths = {len(WORD.findall(rows[-1]))} | {len(rows[-1].split(mark)) for mark in "\t,;"}
    if options.delimiter and (mark := find_delimiter(options.delimiter)) is not None:
        widths = {len(rows[-1].split(mark))}
    # A header more than columns at most, and a column of labels or an empty last cell more than rows.
    return any(-2 <= len(rows) - width <= 1 if whole else len(rows) <= width + 1 for width in widths if width > 1)


def refuse_decimals(source: InputStream, rows: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Refuse rows whose two ends are decimals, which are numbers of a matrix or a table rather than names of nodes."""
    ends = [cell.strip(" \t") for _, cells in rows for cell in cells[:2]]
    decimals = sum(INTEGER.fullmatch(cell) is None for cell in ends)
    whole = all(len(cells) <= _MOST_COLUMNS for _, cells in rows) and all(_ZEROS.search(cell) for cell in ends)
    if ends and all(map(NUMBER.fullmatch, ends)) and 2 * decimals > len(ends) and not whole:
        raise source.error(
            f"the nodes of this edge list would be called {shorten(ends[0])}, {shorten(ends[1])} and so on, and it is "
            f"no square block of numbers, which would be an adjacency matrix: pass {setting('format', 'edgelist')} if "
            "these are names",
            rows[0][0],
        )


# Lines and cells


def _marks(options: ReadOptions) -> str:
    return "#%" if options.comment == "auto" else options.comment or ""


def _delimiter(source: InputStream, data: bytes, options: ReadOptions, preferred: str | None) -> str | None:
    if options.delimiter:
        return find_delimiter(options.delimiter)
    marks = _marks(options)
    sample: list[tuple[int, str]] = []
    for number, line in enumerate(data[: 1 << 22].decode(errors="replace").split("\n"), 1):
        if line.strip(" \t") and line.strip(" \t")[0] not in marks:
            sample.append((number, line))
            if len(sample) == _SAMPLE:
                break
    return sniff_delimiter(source, sample, preferred) if sample else None


def _split(data: bytes, delimiter: str | None, marks: str) -> tuple[list[_Row], list[tuple[int, str]]]:
    """Cells of each line, and the comments above them."""
    lines: list[_Row] = []
    comments: list[tuple[int, str]] = []
    for number, line in enumerate(data.decode().split("\n"), 1):
        bare = line.strip(" \t")
        if not bare.strip(" \t" + (delimiter or "")):
            continue
        if bare[0] in marks:
            if not lines:
                comments.append((number, bare.lstrip("#% \t")))
            continue
        lines.append(_Row(number, _words(line, delimiter)))
    if lines and all(len(line.cells) > 1 and not line.cells[-1] for line in lines):
        lines = [_Row(line.number, line.cells[:-1]) for line in lines]  # a delimiter behind the last cell
    return lines, comments


def _words(line: str, delimiter: str | None) -> list[str]:
    if '"' in line:
        mark = delimiter or " "
        return [cell.strip(" \t") for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])]
    return WORD.findall(line) if delimiter is None else [cell.strip(" \t") for cell in line.split(delimiter)]


_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")


def _read_block(
    source: InputStream, lines: list[_Row], comments: list[tuple[int, str]], delimiter: str | None
) -> tuple[list[_Row], _SquareBlock | None]:
    """The block, also of numbers with decimal commas, and the lines with points for these.

    Raises
    ------
    FileError
        For commas in a block that may as well separate thousands.
    """
    block = _block(lines, comments, delimiter)
    if block is not None or delimiter not in (";", "\t"):
        return lines, block
    numbers = [(line, cell) for line in lines for cell in line.cells if _DECIMAL_COMMA.fullmatch(cell)]
    if not numbers:
        return lines, None
    pointed = [
        _Row(line.number, [c.replace(",", ".") if _DECIMAL_COMMA.fullmatch(c) else c for c in line.cells])
        for line in lines
    ]
    block = _block(pointed, comments, delimiter)
    if block is None:
        return lines, None
    if in_thousands(cell for _, cell in numbers):
        line, cell = numbers[0]
        raise source.error(
            f"the comma of {shorten(cell)} may separate thousands or decimals: write the numbers without separators of "
            "thousands, and a point before decimals",
            line.number,
        )
    return pointed, replace(block, notes=("decimal commas read as points", *block.notes))


# The block


def _block(lines: list[_Row], comments: list[tuple[int, str]], delimiter: str | None) -> _SquareBlock | None:
    """The square block of numbers that the lines are, with or without labels; None where there is none."""
    if len(lines) < 2:
        return None
    first, width = lines[0].cells, len(lines[-1].cells)
    header = None
    if len(lines) == width:  # a row more than a column of labels makes: the header
        header = first if len(first) == width - 1 or _numbers(first) is None else None
    elif len(lines) == width + 1:
        header = first if _numbers(first) is None or first in _counted(width) else None
    body = lines if header is None else lines[1:]
    n = len(body)
    if n < 2 or width not in (n, n + 1) or any(len(line.cells) != width for line in body):
        return None
    if header is not None and len(header) == width == n + 1:
        header = header[1:]
    index = [line.cells[0] for line in body] if width == n + 1 else None
    if header is not None and (len(header) != n or index not in (None, header)):
        return None
    if index is not None and header is not None and all(map(_DECIMAL.fullmatch, index)):
        return None  # numbers of a matrix whose first entry is missing
    if index is not None and header is None and _numbers(index) is not None and index not in _counted(n):
        return None
    values = np.empty((n, n))
    for i, line in enumerate(body):
        row = _numbers(line.cells[width - n :])
        if row is None:
            return None
        values[i] = row
    labels, notes = header or index, ()
    if labels is None:
        labels, notes = _labels_above(comments, delimiter, n)
    return _SquareBlock(values, [line.number for line in body], labels, index is not None and header is not None, notes)


_WORDY = 12  # nodes above which as many different words are no sentence
_NAME = re.compile(r"\S*[0-9_]\S*|[A-Z]+|[A-Z]+[-.][A-Z]+")


def _labels_above(
    comments: list[tuple[int, str]], delimiter: str | None, n: int
) -> tuple[list[str] | None, tuple[str, ...]]:
    """Labels in a comment above the block, and the note that says so, or that the comment may be a sentence instead.

    As many different cells as there are nodes, split by a comma, semicolon or tab as the rows are, are labels. Between
    spaces they may be words of a sentence, unless all are such as no sentence has, or there are many.
    """
    for number, text in reversed(comments):
        words = _words(text, delimiter)
        if not _names(words, n):
            continue
        if delimiter is not None or n > _WORDY or all(map(_NAME.fullmatch, words)):
            return words, (f"node labels from the comment in line {number}",)
        return None, (
            f"the comment in line {number} not taken for labels: write them as a first row, if it holds some",
        )
    return None, ()


def _counted(n: int) -> list[list[str]]:
    """The labels of n nodes that are counted, from 0 and from 1."""
    return [[str(i + start) for i in range(n)] for start in (0, 1)]


def _names(words: list[str], n: int) -> bool:
    return len(words) == n and len(set(words)) == n and all(words)


def _numbers(cells: Sequence[str]) -> list[float] | None:
    if not all(map(_NUMBERS_ONLY.fullmatch, cells)):
        return None
    try:
        return list(map(float, cells))
    except ValueError:
        return None


def _may_be_edges(lines: list[_Row], block: _SquareBlock) -> bool:
    """Whether the first two cells of every row could be the labels of two nodes: integers, or text and an integer."""
    body = [line.cells for line in lines[-len(block.lines) :]]
    if len(body[0]) > len(body) and len(body) > _FEW:
        return False
    kinds = [[INTEGER.fullmatch(row[i]) is not None for row in body] for i in (0, 1)]
    return all(kinds[1]) and (all(kinds[0]) or (not any(kinds[0]) and len(body[0]) > len(body)))


def _refuse_gap(source: InputStream, lines: list[_Row]) -> None:
    """Refuse matrices in which entries are missing, without labels or with labels on both sides."""
    n = len(lines)
    if n > _MOST_COLUMNS and all(len(line.cells) == n and _numbers([x for x in line.cells if x]) for line in lines):
        line = next(line for line in lines if "" in line.cells)
        column = line.cells.index("") + 1
        raise source.error(
            f"the entry in column {column} of the matrix is empty: put 0 where there is no edge; if this is an edge "
            f"list, pass {setting('format', 'edgelist')}",
            line.number,
        )
    first, body = lines[0].cells, lines[1:]
    index = [line.cells[0] for line in body]
    if len(first) != len(body) + 1 or len(body) < 2:
        return
    if first[1:] == index and not all(map(_DECIMAL.fullmatch, index)):
        raise source.error(*_why_not(lines))
    square = all(len(line.cells) == len(first) and _numbers(line.cells[1:]) for line in body)
    if square and (first[0] in _MISSING or len(first) > _MOST_COLUMNS):
        name, other = next((pair for pair in zip(first[1:], index, strict=True) if pair[0] != pair[1]), (index[0],) * 2)
        why = (
            f"the first row is {shorten(name)} where the first column is {shorten(other)}: bring rows and columns of "
            "the matrix into one order"
            if name != other
            else f"{shorten(name)} and so on would be names of nodes: if the entry before them is missing, put 0 there"
        )
        raise source.error(f"{why}; if this is an edge list, pass {setting('format', 'edgelist')}", lines[0].number)


def _why_not(lines: list[_Row]) -> tuple[str, int | None]:
    """What keeps a text from being a matrix, and the line."""
    if not lines:
        return "there are only comments, no matrix", None
    width = len(lines[-1].cells)
    for line in lines[1:]:
        if len(line.cells) != width:
            return (
                f"the row has {len(line.cells)} cells and the last one {width}, so it is no square matrix",
                line.number,
            )
        for i, cell in enumerate(line.cells[1:], 2):
            if _numbers([cell]) is None:
                what = "is empty" if not cell else f"{shorten(cell)} is not a number"
                return f"the entry in column {i} of the matrix {what}: put 0 where there is no edge", line.number
    return (
        f"{len(lines)} rows of {width} cells are no square block of numbers, with or without labels that agree, so "
        f"they are no adjacency matrix; if this is an edge list, pass {setting('format', 'edgelist')}",
        lines[0].number,
    )


# The table


def _table(source: InputStream, block: _SquareBlock) -> EdgeTable:
    """Edges of a block: entries other than 0, each named by the line of its row."""
    labels = None if block.labels is None else label_sequence(parse_labels(block.labels))
    if np.isnan(block.values).any():
        i, j = (int(at[0]) for at in np.nonzero(np.isnan(block.values)))
        name = (i + 1, j + 1) if labels is None else (plain_label(labels[i]), plain_label(labels[j]))
        raise source.error(f"the entry {name!r} of the matrix is NaN: put 0 where there is no edge", block.lines[i])
    row = np.nonzero(block.values)[0]
    lines = np.asarray(block.lines)[row]
    return dense_table(block.values, lambda kept: source.row_name(lines[kept]), labels, block.notes)


def dense_table(
    values: NDArray[Any],
    row_names: Callable[[Order], Callable[[int], str]],
    labels: Sequence[Any] | None = None,
    notes: tuple[str, ...] = (),
) -> EdgeTable:
    """Edges of a square matrix, its entries other than 0, which are read row by row.

    Parameters
    ----------
    values : ndarray, shape (N, N)
        Without NaN.
    row_names : callable
        Gives what names the rows of the table, from the positions of their entries among those that are not 0.
    labels : sequence, optional
    notes : tuple of str
        Said beside what is done.
    """
    row, column = np.nonzero(values)
    held = values[row, column]
    if held.dtype.kind == "b":
        held = None
    elif held.dtype.kind == "f":
        whole = bool((held == np.floor(held)).all() and (np.abs(held) < 2.0**53).all())
        held = held.astype(np.int64) if whole else held
    table = matrix_table(len(values), row, column, held, row_names, dense=True)
    said = (f"read as an adjacency matrix of {len(values)} nodes", *notes, *table.notes)
    return replace(table, labels=labels, notes=said, matrix=True)
