"""Edge lists: a row an edge, with or without a header, delimited by a comma, tab, semicolon or spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import NamedTuple

import numpy as np

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.columns import Column, gather_columns, read_column, read_weights, shorten
from graphpri.io.ends import find_ends, integer_ends, read_ends
from graphpri.io.format import ReadOptions
from graphpri.io.grid import INTEGER, Rows, find_delimiter, split_grid
from graphpri.io.number_rows import NUMBER_BYTES, TEXT_BYTES, NumberColumns, read_head, read_numbers
from graphpri.io.quoted import dict_rows, is_dict_line, quoted_rows, records
from graphpri.io.source import Source, Tape

_KONECT = re.compile(rb"%\s*(sym|asym|bip)(?:\s+\w+)?\s*")
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
_WORD = re.compile(r"[^ \t]+")
_BYTE_WORD = re.compile(rb"[^ \t]+")
_COMMENT_OR_ROW = re.compile(rb"^[ \t]*[#%][^ \t#%\n][^\n]*", re.MULTILINE)
_SAMPLE = 100


class Line(NamedTuple):
    """A line of the file, its number, and where it begins and ends."""

    number: int
    text: bytes
    start: int
    end: int


@dataclass(frozen=True)
class _File:
    """A file's text, the marks of its comments, the comments at its head, and its first rows."""

    source: Source
    data: bytes
    marks: str
    comments: list[Line]
    rows: list[Line]


@dataclass(frozen=True)
class _Layout:
    """Names of the columns, which of them are the ends, and where the rows behind the header begin."""

    names: list[str]
    ends: tuple[int, int]
    start: int
    line: int
    named: bool
    consumed: bool


def read_edge_list(
    source: Source, options: ReadOptions, preferred: str | None = None, *, headed: bool = True
) -> EdgeTable:
    """Read an edge list.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        `header`, `delimiter` and `comment`.
    preferred : str, optional
        Delimiter that the file's name speaks for, where several would do.
    headed : bool
        Whether files of this kind can have a header, where the options don't say.

    Raises
    ------
    FileError
        Names the line, for rows of unequal length, missing ends, weights that are no numbers, and where
        a header, a comment or a delimiter can't be told for certain.
    """
    source, tape = source.taped()
    table = _read_large(source, tape, options, preferred, headed)
    if table is not None:
        return table
    tape.rewind()
    source.require(TEXT_BYTES, "split it, or write it as parquet or npz once")
    file = _open(source, source.text(), options)
    directed = _konect_direction(file)
    if not file.rows:
        return _without_rows(file)
    if _has_dicts(file, options):
        return _read_dicts(file, directed)
    delimiter = _delimiter(file, options, preferred)
    layout = _layout(file, delimiter, options.header, headed)
    rows = _rows(file, delimiter, layout, check_comments=options.comment == "auto")
    return _table(source, rows, layout, directed, check_header=options.header is None)


def _read_large(
    source: Source, tape: Tape, options: ReadOptions, preferred: str | None, headed: bool
) -> EdgeTable | None:
    """A large file whose rows are numbers only; None for any other, also one in which something is wrong."""
    if (found := read_head(source)) is None:
        return None
    head, chunks = found
    try:
        file = _open(source, replace(source, stream=BytesIO(head), position=None).text(), options)
        directed = _konect_direction(file)
        if not file.rows or _has_dicts(file, options):
            return None
        delimiter = _delimiter(file, options, preferred)
        layout = _layout(file, delimiter, options.header, headed)
        if options.comment == "auto":
            _check_comments(file, delimiter, layout)
    except FileError:
        return None
    row = _cells(file.rows[-1].text, delimiter)
    if len(row) != len(layout.names) or not all(INTEGER.fullmatch(row[i].decode().strip()) for i in layout.ends):
        return None
    tape.drop()
    source.require(NUMBER_BYTES, "split it, or write it as parquet or npz once")
    numbers = read_numbers(source, file.data[layout.start :], chunks, delimiter, len(row), layout.ends, layout.line)
    return None if numbers is None else _number_table(source, numbers, layout, directed)


def _number_table(source: Source, found: NumberColumns, layout: _Layout, directed: bool) -> EdgeTable | None:
    attributes: dict[str, Column] = {}
    for i, name in enumerate(layout.names):
        if i in layout.ends:
            continue
        column = found.columns[i]
        if name != "weight" and column.dtype.kind == "f" and not np.abs(column).max(initial=0.0) < 2.0**63:
            return None
        attributes[name] = column if column.dtype.kind == "f" else column.astype(np.int64, copy=False)
    ends = integer_ends(*(found.columns[i] for i in layout.ends))
    return EdgeTable(*ends, directed, attributes, row_name=source.row_name(found.lines))


def _open(source: Source, data: bytes, options: ReadOptions) -> _File:
    marks = "#%" if options.comment == "auto" else options.comment or ""
    return _File(source, data, marks, *_head(data, marks))


def _has_dicts(file: _File, options: ReadOptions) -> bool:
    return options.delimiter is None and not options.header and is_dict_line(file.rows[0].text)


def _delimiter(file: _File, options: ReadOptions, preferred: str | None) -> str | None:
    return find_delimiter(options.delimiter) if options.delimiter else _detect(file, preferred)


def _check_comments(file: _File, delimiter: str | None, layout: _Layout) -> None:
    """Refuse comments at the head that may be edges."""
    for comment in file.comments:
        if _COMMENT_OR_ROW.match(comment.text):
            text = comment.text.decode().strip(" \t\n")
            _check_comment(file.source, comment.number, text, delimiter, len(layout.names))


def _rows(file: _File, delimiter: str | None, layout: _Layout, check_comments: bool) -> Rows:
    """The rows behind the header, where a line that may be a comment or an edge is refused."""
    source, data = file.source, file.data

    def check(number: int, line: bytes) -> None:
        if check_comments and _COMMENT_OR_ROW.match(line):
            _check_comment(source, number, line.decode().strip(" \t\n"), delimiter, len(layout.names))

    if check_comments:
        _check_comments(file, delimiter, layout)
    if delimiter is not None and data.find(b'"', layout.start) >= 0:
        return quoted_rows(source, data, delimiter, layout.start, layout.line, file.marks, check)
    for found in _COMMENT_OR_ROW.finditer(data, layout.start) if check_comments else ():
        check(data.count(b"\n", 0, found.start()) + 1, found[0])
    return split_grid(source, data[layout.start :], delimiter, layout.line, file.marks)


def _lines(data: bytes) -> Iterator[Line]:
    start, number = 0, 1
    while start < len(data):
        end = data.index(b"\n", start) + 1
        yield Line(number, data[start : end - 1], start, end)
        start, number = end, number + 1


def _head(data: bytes, marks: str) -> tuple[list[Line], list[Line]]:
    """Comments before the first row, and a sample of rows."""
    comments: list[Line] = []
    rows: list[Line] = []
    for line in _lines(data):
        bare = line.text.strip(b" \t")
        if bare and chr(bare[0]) not in marks:
            rows.append(line)
            if len(rows) == _SAMPLE:
                break
        elif bare and not rows:
            comments.append(line)
    return comments, rows


def _konect_direction(file: _File) -> bool:
    """Whether KONECT's first line says that the edges are directed."""
    found = _KONECT.fullmatch(file.comments[0].text) if file.comments and "%" in file.marks else None
    if found and found[1] == b"bip":
        raise file.source.error(
            "a bipartite KONECT network, whose two columns number different nodes, both from 1: give one kind of node "
            "another name first (a letter before each number in one column)",
            file.comments[0].number,
        )
    return bool(found and found[1] == b"asym")


def _without_rows(file: _File) -> EdgeTable:
    """An edge list that has a header in a comment and no edges."""
    if (found := _comment_header(file)) is not None:
        return _table_without_edges(found[0], found[1])
    marks = " or ".join(file.marks)
    raise file.source.error(
        "there are only comments, no edges"
        + (f"; if labels begin with {marks}, pass comment=None (--comment none)" if marks else "")
    )


def _comment_header(file: _File) -> tuple[list[str], tuple[int, int], str | None] | None:
    """Names of columns in a comment at the head, which of them are the ends, and their delimiter."""
    for comment in reversed(file.comments):
        names, delimiter = _comment_names(comment.text.decode())
        if (ends := find_ends(names)) is not None:
            return _check_names(file.source, list(names), comment.number), ends, delimiter
    return None


def _comment_names(text: str) -> tuple[list[str], str | None]:
    text = text.strip(" \t").lstrip("#%")
    for delimiter in ",", ";", "\t":
        if delimiter in text:
            return [name.strip(" \t") for name in text.split(delimiter)], delimiter
    return _WORD.findall(text), None


def _table_without_edges(names: Sequence[str], ends: tuple[int, int]) -> EdgeTable:
    none = np.zeros(0, np.int32)
    attributes: dict[str, Column] = {name: [] for i, name in enumerate(names) if i not in ends}
    return EdgeTable(0, none, none, edge_attributes=attributes)


def _detect(file: _File, preferred: str | None) -> str | None:
    """The delimiter that splits the first rows into equally many cells; None for spaces."""
    first = file.rows[0]
    if (found := _comment_header(file)) is not None and len(_cells(first.text, found[2])) == len(found[0]):
        return found[2]
    bare = [_QUOTED.sub(b"q", line.text) for line in file.rows]
    sample = [line for line in bare if b'"' not in line]
    present = [mark for mark in "\t,;" if mark.encode() in bare[0].split(b'"')[0]]
    if not present:
        return None
    if preferred == "\t" and preferred in present:
        return preferred
    steady = [mark for mark in present if _is_steady([line.split(mark.encode()) for line in sample])]
    if len(present) == 1:
        by_words = present == ["\t"] and not steady and _is_steady([_BYTE_WORD.findall(line) for line in sample])
        return None if by_words else present[0]
    if len(steady) == 1:
        return steady[0]
    raise file.source.error(
        f"can't tell which of {', '.join(map(repr, present))} delimits the cells of {shorten(first.text.decode())}: "
        "pass delimiter= (--delimiter comma, tab, semicolon or space)",
        first.number,
    )


def _cells(line: bytes, delimiter: str | None) -> list[bytes]:
    return _BYTE_WORD.findall(line) if delimiter is None else line.split(delimiter.encode())


def _is_steady(rows: Sequence[Sequence[bytes]]) -> bool:
    """Whether all rows have as many cells as the first, and both their ends."""
    width = len(rows[0]) if rows else 0
    return width > 1 and all(len(row) == width and row[0].strip() and row[1].strip() for row in rows)


def _layout(file: _File, delimiter: str | None, header: bool | None, headed: bool) -> _Layout:
    """Find out what the columns are called, and where the rows begin."""
    first = file.rows[0]
    cells, end, line = _first_record(file, delimiter)
    if len(cells) < 2:
        raise file.source.error(
            f"{shorten(first.text.decode())} is one cell, and an edge needs two: pass delimiter= (--delimiter) if "
            "the cells are split by something else than a comma, tab, semicolon or spaces",
            first.number,
        )
    above = _comment_header(file) if header is None and headed else None
    if above is not None and len(above[0]) == len(cells):
        return _Layout(above[0], above[1], first.start, first.number, named=True, consumed=False)
    ends = find_ends([cell or "" for cell in cells])
    if header or (header is None and headed and ends is not None):
        names = _check_names(file.source, cells, first.number)
        return _Layout(names, ends or (0, 1), end, line, named=True, consumed=True)
    fourth = "timestamp" if file.comments and _KONECT.fullmatch(file.comments[0].text) else "column4"
    names = ["source", "target", "weight", fourth, *(f"column{i}" for i in range(5, len(cells) + 1))]
    return _Layout(names[: len(cells)], (0, 1), first.start, first.number, named=False, consumed=False)


def _first_record(file: _File, delimiter: str | None) -> tuple[list[str | None], int, int]:
    """Cells of the first row, and the offset and line number behind it."""
    first = file.rows[0]
    if delimiter is None:
        words: list[str | None] = [*_WORD.findall(first.text.decode())]
        return words, first.end, first.number + 1
    record = next(records(file.source, file.data, delimiter, first.start, first.number, ""))
    return record.cells, record.end, first.number + file.data.count(b"\n", first.start, record.end)


def _check_names(source: Source, cells: Sequence[str | None], line: int) -> list[str]:
    names = [cell or f"column{i}" for i, cell in enumerate(cells, 1)]
    lower = [name.lower() for name in names]
    if "weight" not in names and lower.count("weight") == 1:
        names[lower.index("weight")] = "weight"
    for i, name in enumerate(names):
        if name in names[:i]:
            raise source.error(f"two columns are called {shorten(name)}: rename one", line)
    return names


def _check_comment(source: Source, number: int, text: str, delimiter: str | None, width: int) -> None:
    """Refuse a comment that looks like a row whose first label begins with the mark."""
    n = len(_WORD.findall(text)) if delimiter is None else text.count(delimiter) + 1
    if n == width and not _KONECT.fullmatch(text.encode()) and find_ends(_comment_names(text)[0]) is None:
        raise source.error(
            f"{shorten(text)} may be a comment or an edge: pass comment=None (--comment none) if labels begin with "
            f'{text[0]!r}, comment="{text[0]}" if such lines are comments',
            number,
        )


def _read_dicts(file: _File, directed: bool) -> EdgeTable:
    first = file.rows[0]
    rows, attributes = dict_rows(file.source, file.data, first.start, first.number, file.marks)
    n, u, v, labels = read_ends(file.source, rows, 0, 1)
    columns = gather_columns(attributes)
    return EdgeTable(n, u, v, labels, directed, columns, row_name=file.source.row_name(rows.lines))


def _table(source: Source, rows: Rows, layout: _Layout, directed: bool, check_header: bool) -> EdgeTable:
    if not rows.n_rows:
        return _table_without_edges(layout.names, layout.ends)
    if rows.n_columns != len(layout.names):
        raise source.error(
            f"the row has {rows.n_columns} cells, and the header names {len(layout.names)} columns", int(rows.lines[0])
        )
    if check_header and not layout.consumed:
        _check_no_header(source, rows, layout)
    n, u, v, labels = read_ends(source, rows, *layout.ends)
    remedy = "" if layout.named else _NO_HEADER_REMEDY
    attributes: dict[str, Column] = {}
    for i, name in enumerate(layout.names):
        if name == "weight" and i not in layout.ends:
            attributes[name] = read_weights(source, rows, i, remedy, layout.ends)
        elif i not in layout.ends:
            attributes[name] = read_column(rows, i)
    directed = directed or _gephi_direction(source, rows, attributes)
    return EdgeTable(n, u, v, labels, directed, attributes, row_name=source.row_name(rows.lines))


_NO_HEADER_REMEDY = (
    " (without a header, the third column is the weight): name the columns in a first row, or pass header=True "
    "(--header) if the first row does"
)


def _check_no_header(source: Source, rows: Rows, layout: _Layout) -> None:
    """Refuse a first row of words over rows of integers: an edge, or a header of unknown names."""
    if rows.n_rows < 2 or rows.integers(layout.ends[0]) is not None:
        return
    ends = [rows.cells(i) for i in layout.ends]
    words = [cells[0] or "" for cells in ends]
    if any(INTEGER.fullmatch(word) for word in words) or (layout.named and find_ends(words) is None):
        return
    if all(cell is not None and INTEGER.fullmatch(cell) for cells in ends for cell in cells[1:]):
        raise source.error(
            f"the row {words[0]!r}, {words[1]!r} looks like a header over integer labels, but its names are not known: "
            "pass header=True (--header) if it is one, header=False (--no-header) if it is an edge",
            int(rows.lines[0]),
        )


def _gephi_direction(source: Source, rows: Rows, attributes: dict[str, Column]) -> bool:
    """Whether a column "Type" of Gephi's says that all edges are directed."""
    column = next((attributes[name] for name in attributes if name.lower() == "type"), None)
    if not isinstance(column, list):
        return False
    kinds = [str(cell).lower() for cell in column]
    if not set(kinds) <= {"directed", "undirected"} or set(kinds) == {"undirected"}:
        return False
    if len(set(kinds)) > 1:
        row = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise source.error("directed and undirected edges are mixed: split them into two files", int(rows.lines[row]))
    return True
