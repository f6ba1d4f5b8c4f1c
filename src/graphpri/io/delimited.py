"""Edge lists: a row an edge, with or without a header, delimited by a comma, tab, semicolon or spaces."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError, Note, setting
from graphpri.graph import EPOCHS, EdgeTable, Header, look_like_times, rises
from graphpri.io.columns import (
    Column,
    Ends,
    alike,
    chosen_ends,
    count,
    find_ends,
    gather_columns,
    isolated,
    label_texts,
    left_out,
    parse_cells,
    python_values,
    read_column,
    read_ends,
    read_weights,
    whole_with_points,
    write_weights,
)
from graphpri.io.detect import way_out
from graphpri.io.matrix import find_matrix, may_be_matrix, refuse_decimals, without_hint
from graphpri.io.rows import (
    ANY_NUMBER,
    INTEGER,
    NUMBER,
    NUMBER_BYTES,
    TEXT_BYTES,
    WORD,
    CellCheck,
    Cells,
    CellText,
    Rows,
    code_cells,
    find_delimiter,
    read_head,
    read_numbers,
    records,
    shorten,
    sniff_delimiter,
    split_rows,
    spreadsheet_hint,
    text_bytes,
    write_rows,
)
from graphpri.io.source import CHUNK, InputStream, ReadOptions, Tape, peeked

_KONECT = re.compile(r"%\s*(sym|asym|bip)(?:\s+\w+)?\s*", re.ASCII)
_DICT = re.compile(r"[ \t]*([^ \t\n]+)[ \t]+([^ \t\n]+)[ \t]+(\{.*\})[ \t]*")
_DICT_BY = re.compile(r"([^,;\t\n]+)([,;\t])([^,;\t\n]+)\2 *(\{.*\}) *")
_SCALAR = re.compile(r"\bnp\.[a-z_]+[0-9]*\(((?:[^()'\"]|'[^']*')*)\)")  # as NumPy 2 shows its numbers
_QUOTED_WORDS = re.compile(r'(?:"[^"]*"|[^" \t,;]+)(?: +(?:"[^"]*"|[^" \t,;]+))+')
_BLANKS = re.compile(rb'("[^"\n]*")| +')
_REMARK = re.compile(r"[#%][^ \t#%]")  # such as #1,2 which may be an edge
_IN_NUMBERS = set("0123456789+-.eE")
_SAMPLE = 100
_HEAD = 1 << 16


class _Line(NamedTuple):
    """A line of the file, its number, and where it begins and ends."""

    number: int
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class _Text:
    """A file's text or its first lines, the marks of its comments, the comments at its head, and a sample of rows."""

    source: InputStream
    data: bytes
    marks: str
    comments: list[_Line]
    rows: list[_Line]
    hint: str | None = None

    @classmethod
    def open(cls, source: InputStream, data: bytes, options: ReadOptions) -> _Text:
        """Find comments and rows at the head of a text whose lines all end with a line break."""
        hint, start = spreadsheet_hint(data) or (None, 0)
        text = cls(source, data, "#%" if options.comment == "auto" else options.comment or "", [], [], hint)
        number = 1 + (start > 0)
        while start < len(data) and len(text.rows) < _SAMPLE:
            end = data.index(b"\n", start) + 1
            line = _Line(number, data[start : end - 1].decode(), start, end)
            bare = line.text.strip(" \t")
            if not bare.strip(",;\t "):
                bare = ""  # a row of empty cells
            if bare and bare[0] not in text.marks:
                text.rows.append(line)
            elif bare and not text.rows:
                text.comments.append(line)
            start, number = end, number + 1
        return text


@dataclass(frozen=True)
class _Layout:
    """How the rows are to be read: delimiter, names of the columns, which are the ends, and where the rows begin."""

    delimiter: str | None
    names: list[str]
    ends: tuple[int, int]
    start: int
    line: int
    named: bool
    consumed: bool
    header: Header | None = None
    unnamed: bool = False
    row_names: bool = False
    blank: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


def read_edge_list(
    source: InputStream,
    options: ReadOptions,
    preferred: str | None = None,
    *,
    headed: bool = True,
    square: bool = True,
) -> EdgeTable:
    """Read an edge list, or the adjacency matrix that a file of such a name holds.

    Parameters
    ----------
    source : InputStream
    options : ReadOptions
        `header`, `delimiter` and `comment`.
    preferred : str, optional
        Delimiter that the file's name speaks for, where several would do.
    headed : bool
        Whether files of this kind can have a header, where the options don't say.
    square : bool
        Whether a square block of numbers is an adjacency matrix, and decimals are refused as names of nodes.

    Raises
    ------
    FileError
        Names the line, for rows of unequal length, missing ends, weights that are no numbers, and where
        a header, a comment or a delimiter can't be told for certain.
    """
    source, tape = source.taped()
    told = not square  # what the nodes are called
    square = square and options.header is None and options.source is None
    if square and (table := _read_square(source, tape, options, preferred)) is not None:
        return table
    table = _read_numbers(source, tape, options, preferred, headed)
    if table is not None:
        return table
    tape.rewind()
    source.require(
        text_bytes(read_head(source)[0], source.unzipped_size), "split it, or write it as parquet or npz once"
    )
    tape.rewind(last=True)
    text = _Text.open(source, source.text(), options)
    if square and (foreign := way_out("", text.data[:_HEAD].decode(errors="replace"))):
        raise source.error(foreign)
    text, options = _unquoted(text, options)
    directed = _konect_direction(text)
    if not text.rows:
        return _without_rows(text)
    if _has_dicts(text, options):
        return _read_dicts(text, directed)
    layout = _layout(text, options, preferred, headed)
    if square and not layout.named:
        cells = [_split(line.text, layout.delimiter) for line in text.rows]
        refuse_decimals(source, [(line.number, row) for line, row in zip(text.rows, cells, strict=True)])
        refuse_drawn(source, [line.text for line in text.rows], cells, text.rows[0].number)
    check = _comment_check(text, layout, options)
    at = [end + layout.row_names for end in layout.ends] if layout.row_names else layout.ends
    rows = split_rows(source, text.data[layout.start :], layout.delimiter, layout.line, text.marks, check, at)
    return _table(source, rows, layout, options, directed, check_header=options.header is None, told=told)


def _read_square(source: InputStream, tape: Tape, options: ReadOptions, preferred: str | None) -> EdgeTable | None:
    """A file that is a square block of numbers; None for any other, which is then at its start again."""
    head, chunks = read_head(source)
    rest = next(chunks, None)
    table = None
    head, options = without_hint(head, options)
    if may_be_matrix(head, options, whole=not rest):
        try:
            tape.rewind()
            source.require(TEXT_BYTES, "write it as npz once, by scipy.sparse.save_npz")
            data, options = without_hint(source.text(), options)
        except FileError:
            data = b""
        table = find_matrix(source, data, options, preferred) if data and not _KONECT.match(_first(data)) else None
    tape.rewind()
    return table


def _first(data: bytes) -> str:
    return data[: data.find(b"\n")].decode()


def _read_numbers(
    source: InputStream, tape: Tape, options: ReadOptions, preferred: str | None, headed: bool
) -> EdgeTable | None:
    """A file whose rows are numbers only; None for any other, also one in which something is wrong."""
    head, chunks = read_head(source)
    try:
        text = _Text.open(source, replace(source, stream=BytesIO(head), position=None).text(), options)
        directed = _konect_direction(text)
        if not text.rows or _has_dicts(text, options) or set(text.marks) & _IN_NUMBERS:
            return None
        layout = _layout(text, options, preferred, headed)
        _comment_check(text, layout, options)
    except FileError:
        return None
    row = _split(text.rows[-1].text, layout.delimiter)
    if len(row) != len(layout.names) or not all(INTEGER.fullmatch(row[i].strip(" \t")) for i in layout.ends):
        return None
    tape.drop()
    source.require(NUMBER_BYTES, "split it, or write it as parquet or npz once")
    rows = read_numbers(source, text.data[layout.start :], chunks, layout.delimiter, len(row), layout.ends, layout.line)
    if rows is None:
        return None
    for name, column in zip(layout.names, map(np.asarray, rows.columns), strict=True):
        if name != "weight" and column.dtype.kind == "f" and not np.abs(column).max(initial=0.0) < 2.0**63:
            return None  # perhaps integers beyond 64 bits, which stay whole
    return _table(source, rows, layout, options, directed, check_header=False)


def _split(line: str, delimiter: str | None) -> list[str]:
    return WORD.findall(line) if delimiter is None else line.split(delimiter)


def _unquoted(text: _Text, options: ReadOptions) -> tuple[_Text, ReadOptions]:
    """The text with tabs for blanks between its cells, where these are quoted as R does it; else as it is."""
    rows = [row.text for row in text.rows]
    if options.delimiter or not any('"' in row for row in rows) or not all(map(_QUOTED_WORDS.fullmatch, rows)):
        return text, options
    data = _BLANKS.sub(lambda found: found[1] or b"\t", text.data)
    options = replace(options, delimiter="tab")
    return _Text.open(text.source, data, options), options


def _konect_direction(text: _Text) -> bool:
    """Whether KONECT's first line says that the edges are directed."""
    found = _KONECT.fullmatch(text.comments[0].text) if text.comments and "%" in text.marks else None
    if found and found[1] == "bip":
        raise text.source.error(
            "a bipartite KONECT network, whose two columns number different nodes, both from 1: give one kind of node "
            "another name first (a letter before each number in one column)",
            text.comments[0].number,
        )
    return bool(found and found[1] == "asym")


# Header, delimiter and comments


def _without_rows(text: _Text) -> EdgeTable:
    """An edge list that has a header in a comment and no edges."""
    if (found := _comment_header(text, ReadOptions())) is not None:
        return _table_without_edges(found[0], found[1])
    marks = " or ".join(text.marks)
    raise text.source.error(
        "there are only comments, no edges"
        + (f"; if labels begin with {marks}, pass {setting('comment', None)}" if marks else "")
    )


def _comment_header(text: _Text, options: ReadOptions) -> tuple[list[str], tuple[int, int], str | None] | None:
    """Names of columns in a comment at the head, which of them are the ends, and their delimiter."""
    for comment in reversed(text.comments):
        names, delimiter = _comment_names(comment.text)
        ends = find_ends(names)
        if options.source in names and options.target in names:
            ends = chosen_ends(text.source, list(names), options, comment.number)
        if ends is not None:
            return _check_names(text.source, list(names), comment.number), ends, delimiter
    return None


def _comment_names(text: str) -> tuple[list[str], str | None]:
    text = text.strip(" \t").lstrip("#%")
    for delimiter in ",", ";", "\t":
        if delimiter in text:
            return [name.strip(" \t") for name in text.split(delimiter)], delimiter
    return WORD.findall(text), None


def _detect(text: _Text, preferred: str | None) -> str | None:
    """The delimiter that splits the first rows into equally many cells; None for spaces."""
    first = text.rows[0]
    if text.comments and _KONECT.fullmatch(text.comments[0].text):
        return None  # blanks and tabs in one line
    if (found := _comment_header(text, ReadOptions())) is not None and len(_split(first.text, found[2])) == len(
        found[0]
    ):
        return found[2]
    return sniff_delimiter(text.source, [(line.number, line.text) for line in text.rows], preferred)


def _layout(text: _Text, options: ReadOptions, preferred: str | None, headed: bool) -> _Layout:
    """Find out what delimits the cells, what the columns are called, and where the rows begin."""
    named = options.delimiter or text.hint
    delimiter = find_delimiter(named) if named else _detect(text, preferred)
    first = text.rows[0]
    cells, end, line = _first_record(text, delimiter)
    if len(cells) < 2:
        for mark in None, "\t", ",", ";":
            if len(text.rows) > 2 and all(len(_split(row.text, mark)) == i for i, row in enumerate(text.rows, 1)):
                raise text.source.error(
                    "each row has a cell more, as the lower half of a matrix: write all of its rows whole", first.number
                )
        raise text.source.error(
            f"{shorten(first.text)} is one cell, and an edge needs two: pass {setting('delimiter')} if "
            "the cells are split by something else than a comma, tab, semicolon or spaces",
            first.number,
        )
    above = _comment_header(text, options) if options.header is None and headed else None
    if above is not None and len(above[0]) == len(cells):
        return _Layout(delimiter, above[0], above[1], first.start, first.number, named=True, consumed=False)
    ends = find_ends([cell or "" for cell in cells])
    if options.source is not None and options.header is not False:
        ends = chosen_ends(text.source, [cell or "" for cell in cells], options, first.number)
    if options.header or (options.header is None and headed and ends is not None):
        names = _check_names(text.source, cells, first.number)
        header = Header(tuple(names), tuple(cell or "" for cell in cells), ends or (0, 1))
        below = text.rows[1].text.lstrip() if len(text.rows) > 1 else ""
        return _Layout(
            delimiter,
            names,
            ends or (0, 1),
            end,
            line,
            named=True,
            consumed=True,
            header=header,
            row_names=below.startswith('"1"'),
            notes=_by_points(text, delimiter, names),
        )
    fourth = "timestamp" if text.comments and _KONECT.fullmatch(text.comments[0].text) else "column4"
    names = ["source", "target", "weight", fourth, *(f"column{i}" for i in range(5, len(cells) + 1))]
    names = names[: len(cells)]
    ends = (0, 1) if options.source is None else chosen_ends(text.source, names, options, None)
    unnamed = headed and fourth == "column4"
    notes = _by_points(text, delimiter, names)
    return _Layout(
        delimiter, names, ends, first.start, first.number, named=False, consumed=False, unnamed=unnamed, notes=notes
    )


def _by_points(text: _Text, delimiter: str | None, names: Sequence[str]) -> tuple[str, ...]:
    if delimiter != ";" or "weight" not in names:
        return ()
    at = names.index("weight")
    cells = [row[at] for line in text.rows if len(row := _split(line.text, delimiter)) == len(names)]
    return tuple(grouped_by_points([cell for cell in cells if cell.lower() != "weight"]))


def _first_record(text: _Text, delimiter: str | None) -> tuple[Sequence[CellText], int, int]:
    """Cells of the first row, and the offset and line number behind it."""
    first = text.rows[0]
    if delimiter is None:
        return WORD.findall(first.text), first.end, first.number + 1
    record = next(records(text.source, text.data, delimiter, first.start, first.number, ""))
    return record.cells, record.end, first.number + text.data.count(b"\n", first.start, record.end)


def _check_names(source: InputStream, cells: Sequence[CellText], line: int) -> list[str]:
    names = [cell or f"column{i}" for i, cell in enumerate(cells, 1)]
    lower = [name.lower() for name in names]
    if "weight" not in names and lower.count("weight") == 1:
        names[lower.index("weight")] = "weight"
    for i, name in enumerate(names):
        if name in names[:i]:
            raise source.error(f"two columns are called {shorten(name)}: rename one", line)
    return names


def _comment_check(text: _Text, layout: _Layout, options: ReadOptions) -> CellCheck | None:
    """Make what refuses a comment that looks like a row whose first label begins with the mark; refuse such a head."""

    def check(number: int, comment: str) -> None:
        if not _REMARK.match(comment):
            return
        n = len(WORD.findall(comment)) if layout.delimiter is None else comment.count(layout.delimiter) + 1
        is_known = _KONECT.fullmatch(comment) or find_ends(_comment_names(comment)[0]) is not None
        if n == len(layout.names) and not is_known:
            raise text.source.error(
                f"{shorten(comment)} may be a comment or an edge: pass {setting('comment', None)} if labels begin "
                f"with {comment[0]!r}, {setting('comment', comment[0])} if such lines are comments",
                number,
            )

    if options.comment != "auto":
        return None
    for comment in text.comments:
        check(comment.number, comment.text.strip(" \t"))
    return check


# networkx's edge lists, with a dict on each line


def _has_dicts(text: _Text, options: ReadOptions) -> bool:
    first = text.rows[0].text
    return options.delimiter is None and not options.header and _dict_row(first) is not None


def _dict_row(text: str) -> tuple[str, str, str] | None:
    """Two labels and the text of a dict, split by blanks or by one delimiter."""
    found = _DICT.fullmatch(text)
    if found is not None:
        return found[1], found[2], found[3]
    found = _DICT_BY.fullmatch(text)
    return None if found is None else (found[1].strip(" "), found[3].strip(" "), found[4])


def _read_dicts(text: _Text, directed: bool) -> EdgeTable:
    source, first = text.source, text.rows[0]
    cells: list[tuple[str, str]] = []
    lines: list[int] = []
    attributes: list[dict[str, Any]] = []
    for number, line in enumerate(text.data[first.start :].decode().split("\n"), first.number):
        bare = line.strip(" \t")
        if not bare or bare[0] in text.marks:
            continue
        found = _dict_row(bare)
        if found is None:
            raise source.error("the row is not two labels and a dict {…} like the first row", number)
        cells.append(found[:2])
        lines.append(number)
        attributes.append(_literal(source, found[2], number))
    rows = Rows([list(column) for column in zip(*cells, strict=True)], lines)
    columns = gather_columns(attributes)
    return EdgeTable(*read_ends(source, rows, 0, 1), directed, columns, row_name=source.row_name(rows.lines))


def _literal(source: InputStream, text: str, line: int) -> dict[str, Any]:
    value = None
    for plain in (text, _SCALAR.sub(r"\1", text)):
        try:
            value = ast.literal_eval(plain)
            break
        except (ValueError, SyntaxError, SyntaxWarning, TypeError, MemoryError, RecursionError):
            pass
    if not isinstance(value, dict):
        raise source.error(f"{shorten(text)} is not a dict of plain values", line)
    return {str(key): item for key, item in cast("dict[Any, Any]", value).items()}


# From rows to a table


def _table(
    source: InputStream,
    rows: Rows,
    layout: _Layout,
    options: ReadOptions,
    directed: bool,
    *,
    check_header: bool,
    told: bool = False,
) -> EdgeTable:
    """The table of some rows; `told` says that decimals are names of nodes."""
    if not rows.n_rows:
        return _table_without_edges(layout.names, layout.ends)
    rows, layout = _named_columns(source, rows, layout)
    if check_header and not layout.consumed:
        _check_no_header(source, rows, layout)
    notes = list(layout.notes)
    unsure = not layout.named and options.header is None
    if unsure and rows.n_columns > 2 and layout.unnamed:
        refuse_times_first(source, rows)
    elif unsure:
        refuse_size(source, rows)
    ends = read_ends(source, rows, *layout.ends, notes=None if told else notes)
    if unsure and layout.unnamed:
        notes += lonely_first_row(rows, ends, layout.ends)
    remedy = "" if layout.named else _NO_HEADER_REMEDY
    if unclear := layout.unnamed and rows.n_columns > 2 and "weight" in layout.names and are_times(rows):
        layout = replace(layout, names=[*layout.names[:2], "column3", *layout.names[3:]])
    attributes: dict[str, Column] = {}
    for i, name in enumerate(layout.names):
        if i in layout.ends or i in layout.blank:
            continue
        attributes[name] = (
            read_weights(source, rows, i, remedy, layout.ends) if name == "weight" else read_column(rows, i)
        )
    directed = directed or _gephi_direction(source, rows, attributes, layout)
    return EdgeTable(
        *ends,
        directed,
        attributes,
        row_name=source.row_name(rows.lines),
        header=layout.header,
        unclear="column3" if unclear else None,
        notes=tuple(notes),
    )


def _named_columns(source: InputStream, rows: Rows, layout: _Layout) -> tuple[Rows, _Layout]:
    """Rows with as many columns as there are names, and which of those without a name are empty throughout.

    Raises
    ------
    FileError
        For rows of another width, but for an empty cell behind the last one, and for row names, which R quotes.
    """
    names, shown = layout.names, () if layout.header is None else layout.header.shown
    empty = {i for i in range(rows.n_columns) if rows.cell(i, 0) is None and set(rows.words(i)) == {None}}
    if rows.n_columns == len(names) + 1 and len(names) in empty:
        rows = Rows(rows.columns[:-1], rows.lines)
    elif rows.n_columns == len(names) + 1 and layout.row_names:
        names = ["column1", *names]
        ends = layout.ends[0] + 1, layout.ends[1] + 1
        header = None if layout.header is None else Header(tuple(names), ("", *shown), ends)
        notes = (*layout.notes, f"the first column has no name, as R writes names of rows: it is called {names[0]!r}")
        return rows, replace(layout, names=names, ends=ends, header=header, notes=notes)
    elif rows.n_columns != len(names):
        raise source.error(
            f"the row has {rows.n_columns} cells, and the header names {len(names)} columns", rows.lines[0]
        )
    blank = {i for i in empty if i < len(names) and not (shown[i] if shown else layout.named) and i not in layout.ends}
    return rows, replace(layout, blank=frozenset(blank))


_NO_HEADER_REMEDY = (
    " (without a header, the third column is the weight): name the columns in a first row, or pass "
    f"{setting('header', True)} if the first row does, or {setting('source')} and {setting('target')} with two of its "
    "names"
)


def _table_without_edges(names: Sequence[str], ends: tuple[int, int]) -> EdgeTable:
    none = np.zeros(0, np.int32)
    attributes: dict[str, Column] = {name: [] for i, name in enumerate(names) if i not in ends}
    return EdgeTable(0, none, none, edge_attributes=attributes)


def _check_no_header(source: InputStream, rows: Rows, layout: _Layout) -> None:
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
            f"pass {setting('header', True)} if it is one, {setting('header', False)} if it is an edge",
            rows.lines[0],
        )


_DIRECTIONS = re.compile(
    r"((un|non|no|não|nicht|in)?[ -]?)?(directed|dirig|gerichtet|orient|direcionad|dirett|diriz|kierow)\w*"
    r"|(не)?[ -]?направлен\w*|[无無有]向\w*",
    re.I,
)
"""Words of Gephi in other languages."""


def _gephi_direction(source: InputStream, rows: Rows, attributes: dict[str, Column], layout: _Layout) -> bool:
    """Whether a column "Type" of Gephi's says that all edges are directed.

    Raises
    ------
    FileError
        For a word that isn't known, in a header of Gephi's or where it looks like a direction in another language.
    """
    name = next((name for name in attributes if name.lower() == "type"), None)
    column = None if name is None else attributes[name]
    if not isinstance(column, list):
        return False
    kinds = [str(cell).strip().lower() for cell in column]
    shown = () if layout.header is None else layout.header.shown
    is_gephi = {"Source", "Target", "Type"} <= set(shown)
    for row, kind in enumerate(kinds):
        if kind in ("directed", "undirected", "mutual"):
            continue
        if is_gephi or _DIRECTIONS.fullmatch(kind):
            raise source.error(
                f"the {name} {shorten(str(column[row] or ''))} says neither Directed nor Undirected, as Gephi does in "
                "English: replace it, or rename the column if it is something else",
                rows.lines[row],
            )
        return False
    kinds = ["undirected" if kind == "mutual" else kind for kind in kinds]
    if set(kinds) == {"undirected"}:
        return False
    if len(set(kinds)) > 1:
        row = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise source.error("directed and undirected edges are mixed: split them into two files", rows.lines[row])
    return True


# Writing: csv, tsv, edgelist (spaces) and ncol

_BARE = re.compile(r"[^ \t\n\r{][^ \t\n\r]*")
_BARE_NAME = re.compile(r"[^ \t\n\r{,;#%][^ \t\n\r,;]*")
_NEEDS_QUOTES = re.compile(r'["\n\r,;\t]|^[\s#%]|\s$|^$')
_RICHER = "an edge list can't hold them; graphml, npz and parquet can"


def write_csv(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write comma-separated values with a header."""
    return _write_quoted(table, stream, name, ",")


def write_tsv(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write tab-separated values with a header."""
    return _write_quoted(table, stream, name, "\t")


def write_spaced(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write columns split by spaces, with their names in a comment on the first line."""
    notes = _losses(table)
    ends = _ends(table, name, notes, _bare_labels(r"[ \t\n\r]|^[#%]|^$|^\".*\"$"))
    columns = _bare_columns(_columns(table, notes), notes)
    header = " ".join(["# source target", *columns]) + "\n"
    write_rows(stream, name, header, [*ends, *columns.values()], table.source.size, " ")
    return notes


def write_ncol(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write two labels and perhaps a weight on each line, without a header.

    Raises
    ------
    FileError
        For labels with a delimiter, and for a table without edges, which would be an empty file.
    """
    if not table.source.size:
        raise FileError(f"{name}: ncol can't hold a graph without edges: write csv, graphml or npz")
    notes = _losses(table)
    ends = _ends(table, name, notes, _bare_labels(r"[ \t\n\r,;]|^[#%]|^$"), told=True)
    others = [key for key in table.edge_attributes if key != "weight"]
    notes += left_out("edge", others, "ncol holds a weight only; csv holds others")
    weights = write_weights(table, notes)
    columns = [] if weights is None else [Cells.of(weights)]
    write_rows(stream, name, "", [*ends, *columns], table.source.size, " ")
    return notes


def _write_quoted(table: EdgeTable, stream: BinaryIO, name: str, delimiter: str) -> list[str]:
    def quoted_labels(labels: list[str], name: str) -> list[str]:
        quoted = list(map(_quoted, labels))
        _refuse_labels(quoted, "\r", name, "which holds a carriage return")
        return quoted

    notes = _losses(table)
    ends = _ends(table, name, notes, quoted_labels)
    columns = _columns(table, notes)
    words = chain.from_iterable(cells for cells in columns.values() if isinstance(cells, list))
    notes += _formulas(chain(_label_words(table), words))
    cells = {
        key: Cells.of(list(map(_quoted, cells))) if isinstance(cells, list) else cells for key, cells in columns.items()
    }
    named = _in_order(table, ends, cells, notes)
    header = delimiter.join(_quoted(key) for key, _ in named) + "\n"
    write_rows(stream, name, header, [column for _, column in named], table.source.size, delimiter)
    return notes


def _in_order(
    table: EdgeTable, ends: tuple[Cells, Cells], columns: dict[str, Cells], notes: list[str]
) -> list[tuple[str, Cells]]:
    """Names and columns in the order of the file that the table comes from; new ones come last."""
    if table.header is None:
        return [("source", ends[0]), ("target", ends[1]), *columns.items()]
    keys, shown, at = table.header
    out: list[tuple[str, Cells]] = []
    for i, (key, name) in enumerate(zip(keys, shown, strict=True)):
        if i in at:
            out.append((name or key, ends[at.index(i)]))
        elif key in columns:
            out.append((name or key, columns[key]))
    out += [item for item in columns.items() if item[0] not in (key for i, key in enumerate(keys) if i not in at)]
    written = [name for name, _ in out]
    if find_ends(written) != (min(at), max(at)) and find_ends(written) != at:
        one, two = (shown[i] or keys[i] for i in at)
        notes.append(
            Note(f"columns called as in the input: read it with {setting('source', one)}, {setting('target', two)}")
        )
    return out


def _label_words(table: EdgeTable) -> Iterable[str]:
    return () if table.labels is None else (word for word in table.labels if isinstance(word, str))


def _formulas(cells: Iterable[str | None]) -> list[str]:
    """Note that a spreadsheet may take text for formulas; it is written as it is, for those who read it as data."""
    runs = (cell for cell in cells if cell and cell[0] in "=+-@" and not ANY_NUMBER.fullmatch(cell) and len(cell) > 1)
    first = next(runs, None)
    return [] if first is None else [f"a spreadsheet may run {first!r} as a formula: open the file as text there"]


def _quoted(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _ends(
    table: EdgeTable,
    name: str,
    notes: list[str],
    as_cells: Callable[[list[str], str], list[str]],
    *,
    told: bool = False,
) -> tuple[Cells, Cells]:
    """The two columns of node labels; `as_cells` makes cells of labels that are text, or refuses them.

    With `told`, who reads the format takes decimals for names of nodes.
    """
    u, v, labels = table.source, table.target, table.labels
    if labels is None:
        return Cells.of(u), Cells.of(v)
    numbers: Any = labels
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and bool((numbers[1:] > numbers[:-1]).all()):
        return Cells(lambda at: numbers[u[at]]), Cells(lambda at: numbers[v[at]])
    texts = label_texts(table, name, notes, with_edges=True)
    words = as_cells(texts, name)
    if not told and u.size:
        notes += _read_as_integers(texts, u, v, name)
    return code_cells(words, u), code_cells(words, v)


def _read_as_integers(texts: Sequence[str], u: NDArray[Any], v: NDArray[Any], name: str) -> list[str]:
    """Note that labels such as 1.0 are read back as integers.

    Raises
    ------
    FileError
        Where two of them are the same number.
    """
    touched = [texts[int(i)] for i in np.union1d(u, v)]
    pointed = np.array(["." in text for text in texts])
    if not whole_with_points(touched) or any(pointed[side].any() and not pointed[side].all() for side in (u, v)):
        return []
    example = next(text for text in touched if "." in text)
    if len(set(map(float, touched))) < len(touched):
        raise FileError(f"{name}: node labels such as {example!r} are the same number: rename one, or write npz")
    as_numbers = f"{count(len(touched), 'node label')} such as {example!r} will be read back as integers"
    return [f"{as_numbers}, such as {int(float(example))}; npz keeps text"]


def _losses(table: EdgeTable) -> list[str]:
    """Notes on what no edge list holds."""
    notes: list[str] = []
    if lonely := isolated(table):
        notes.append(f"{count(lonely, 'isolated node')} not in the file: {_RICHER}")
    if table.directed:
        notes.append("the file does not say that its edges are directed: an edge list can't; graphml can")
    notes += left_out("node", table.node_attributes, _RICHER)
    notes += left_out("graph", table.graph_attributes, _RICHER)
    return notes


def _columns(table: EdgeTable, notes: list[str]) -> dict[str, Cells | list[str | None]]:
    """Edge attributes as cells, with notes on what is left out or will be read back as something else."""
    out: dict[str, Cells | list[str | None]] = {}
    weights = write_weights(table, notes)
    refused: list[str] = []
    for key, column in table.edge_attributes.items():
        if key in ("source", "target", "") or "\r" in key or (key.lower() == "weight" and weights is None):
            refused.append(key)
        elif key == "weight" and weights is not None:
            out[key] = Cells.of(weights)
        else:
            out[key] = _cells_of_column(key, column, notes)
    refused = [key for key in refused if key != "weight"]
    notes += left_out("edge", refused, "the name means something else in an edge list; rename it, or write npz")
    return out


def _cells_of_column(key: str, column: Column, notes: list[str]) -> Cells | list[str | None]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return Cells.of(column)
    values = python_values(column)
    cells = [None if value is None else repr(value) if type(value) is float else str(value) for value in values]
    plain = [cell and cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells]
    back = python_values(parse_cells(plain))
    if not all(alike(a, b) for a, b in zip(values, back, strict=True)):
        kind = "text" if any(isinstance(value, str) for value in back) else "numbers"
        notes.append(f"edge attribute {key!r} will be read back as {kind}; npz and parquet keep types")
    return cells


def _bare_columns(columns: dict[str, Cells | list[str | None]], notes: list[str]) -> dict[str, Cells]:
    """The columns that cells without quotes can hold, with a note on the others."""
    kept: dict[str, Cells] = {}
    for key, cells in columns.items():
        if not isinstance(cells, list):
            fits = True
        else:
            fits = all(cell is not None and _BARE.fullmatch(cell) for cell in cells)
        if fits and _BARE_NAME.fullmatch(key):
            kept[key] = Cells.of(cells) if isinstance(cells, list) else cells
    notes += left_out(
        "edge", [key for key in columns if key not in kept], "empty cells and spaces need csv or a richer format"
    )
    return kept


def _bare_labels(refused: str) -> Callable[[list[str], str], list[str]]:
    def bare(labels: list[str], name: str) -> list[str]:
        _refuse_labels(
            labels, refused, name, "which is empty, begins with a comment mark, stands in quotes or holds a delimiter"
        )
        return labels

    return bare


def _refuse_labels(labels: list[str], pattern: str, name: str, what: str) -> None:
    search: Callable[[str], Any] = re.compile(pattern).search
    for label in labels:
        if search(label):
            raise FileError(
                f"{name}: the format can't hold the node label {label!r}, {what}: write csv, graphml or npz"
            )


# Texts that split into rows as edge lists do, and may be something else: refused or noted, never read in silence.

_ARROW = re.compile(r"[-=<>~–—→←↔]+")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_LOOKED_AT = 10_000  # rows that are looked at
_LEAST_SIZED = 5  # rows, since edges of a smaller graph may well look like its size
_FEW = 20
_GROUPED = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")


def refuse_drawn(source: InputStream, texts: Sequence[str], cells: Sequence[Sequence[str]], line: int) -> None:
    """Refuse rows such as ``a -> b`` and ``(1, 2)``, whose arrow or bracket would be part of a node's name.

    Parameters
    ----------
    source : InputStream
        Named in errors.
    texts, cells : sequence
        The first rows, whole and split.
    line : int
        Of the first row.
    """
    middle = [row[1].strip() for row in cells if len(row) > 2]
    if len(middle) == len(cells) and all(map(_ARROW.fullmatch, middle)):
        raise source.error(
            f"{shorten(middle[0])} stands between the two nodes of each row and would be a node itself: take it out",
            line,
        )
    bare = [text.strip(" \t,;") for text in texts]
    if all(text[:1] in _BRACKETS and text.endswith(_BRACKETS[text[0]]) for text in bare if text):
        raise source.error(f"each row stands in brackets, {shorten(bare[0])}: take them out", line)


_TIMES = 2  # the column after those of the ends


def are_times(rows: Rows) -> bool:
    """Whether the third column, without a name, looks like time stamps: of today, years, or numbers that only rise."""
    t = rows.integers(_TIMES) if rows.cell(_TIMES, 0) is not None else None
    t = rows.numbers(_TIMES) if t is None else t
    if t is None or not t.size or not np.isfinite(t).all():
        return False
    return look_like_times(t, integers=rows.integers(_TIMES) is not None)


def refuse_times_first(source: InputStream, rows: Rows) -> None:
    """Refuse rows of a time and two nodes, as those of contacts are, which would be read as two nodes and a weight.

    The first column holds times of today, or numbers that only rise; the next two share most of their values, and the
    first has hardly any of them.
    """
    t, u, v = (rows.integers(column) for column in range(3))
    if t is None or u is None or v is None or rows.n_rows < 2:
        return
    t, u, v = t[:_LOOKED_AT], u[:_LOOKED_AT], v[:_LOOKED_AT]
    low, high = float(t.min()), float(t.max())
    of_today = any(a <= low and high <= b and not (a <= v.max() and u.max() >= a) for a, b in EPOCHS)
    nodes = np.union1d(u, v)
    shared = np.intersect1d(u, v).size / nodes.size
    in_order = t.size >= _FEW and rises(t) and high > t[0] and nodes.size > 2
    apart = np.intersect1d(t, nodes).size < 0.1 * np.unique(t).size
    if (of_today and shared > 0) or (in_order and apart and shared > 1 / 2):
        raise source.error(
            f"the first column looks like time stamps, from {t[0]} on, and the next two like the nodes: name the "
            f"columns in a first row, such as 'time source target', or pass {setting('header', False)} if the first "
            "two are the nodes",
            rows.lines[0],
        )


def refuse_size(source: InputStream, rows: Rows) -> None:
    """Refuse a first row of two numbers that are those of the nodes and edges below, and would be one more edge."""
    u, v = rows.integers(0), rows.integers(1)
    if u is None or v is None or rows.n_columns != 2 or rows.n_rows <= _LEAST_SIZED or int(v[0]) != rows.n_rows - 1:
        return
    below = np.unique(np.concatenate([u[1:], v[1:]]))
    a, b = int(u[0]), int(v[0])
    if a not in (below.size, below[-1], below[-1] + 1):
        return
    joined = ((u[1:] == a) & (v[1:] == b)) | ((u[1:] == b) & (v[1:] == a))
    if b not in below or joined.any():
        raise source.error(
            f"'{a} {b}' may be the size of the graph, {a} nodes and {b} edges, or an edge: put '# ' before it if it is "
            f"the size, pass {setting('header', False)} if it is an edge",
            rows.lines[0],
        )


def lonely_first_row(rows: Rows, ends: Ends, at: tuple[int, int]) -> list[str]:
    """Note that the first row is read as an edge, where it may name the columns: words, or 0 and 1, found nowhere else.

    pandas calls columns without a name 0 and 1.
    """
    words = [rows.cell(i, 0) or "" for i in at]
    if rows.n_rows < 2 or (words != ["0", "1"] and any(map(NUMBER.fullmatch, words))):
        return []
    first = ends.source[0], ends.target[0]
    if sum(np.count_nonzero(side == end) for side in (ends.source, ends.target) for end in first) > 2:
        return []
    shown = ", ".join(map(shorten, words))
    return [Note(f"the first row, {shown}, is read as an edge: pass {setting('header', True)} if it names the columns")]


def grouped_by_points(cells: Sequence[str]) -> list[str]:
    """Note that numbers such as 610.086, split by semicolons, are read as decimals, where all look like thousands."""
    if len(cells) < 2 or not all(map(_GROUPED.fullmatch, cells)):
        return []
    whole = cells[0].replace(".", "")
    return [f"weights such as {cells[0]} read as decimals: take the points out if they separate thousands, {whole}"]


# Edge lists that begin with their size, as those of the Network Repository do: nodes, perhaps twice, and edges.

_SUFFIXES = (".edges", ".edges.gz")  # of files whose first line can be two numbers, as an edge is


class _Size(NamedTuple):
    """A first line that may be a size: its text, number and place, its numbers, and the cells of the line below."""

    text: str
    line: int
    start: int
    end: int
    numbers: list[int]
    width: int

    @property
    def same_width(self) -> bool:
        """Whether the line has as many cells as the edges."""
        return len(self.numbers) == self.width


def read_sized_edge_list(source: InputStream, options: ReadOptions, *, square: bool = True) -> EdgeTable:
    """Read an edge list as :func:`read_edge_list` does, without a first line that says its size.

    A first line is a size where its last number is that of the lines below, and it can't be an edge: it has another
    number of cells, or joins a node to itself. Two numbers above pairs, in files called ``.edges``, are a size if one
    of them is no node.

    Raises
    ------
    FileError
        As in :func:`read_edge_list`, and for a first line that may be either, or the size of a rectangular matrix.
    """
    head, source = peeked(source)
    size = None if options.header is not None else _find_size(head, options, source)
    # In a large file the usual first edge is told by numbers that are smaller than that of the lines read so far.
    if size is None or (len(head) == CHUNK and size.numbers[-1] < head.count(b"\n") // 2):
        return read_edge_list(source, options, square=square)
    data = source.text()
    marks = "#%" if options.comment == "auto" else options.comment or ""
    # In normal form the text begins at the same line, if not at the same byte.
    size = _find_size(data, options, source)
    if size is not None and size.numbers[-1] == _count_rows(data[size.end :], marks):
        masked = data[: size.start] + b"\n" + data[size.end :]
        table = read_edge_list(_of(source, masked), options, square=False)
        if _fits(source, size, table):
            return replace(table, notes=(*table.notes, *_notes(size, table)))
    return read_edge_list(_of(source, data), options, square=square)


def _of(source: InputStream, data: bytes) -> InputStream:
    return replace(source, stream=BytesIO(data), path=None, position=None)


def _find_size(data: bytes, options: ReadOptions, source: InputStream) -> _Size | None:
    """The first row of a text where it is two or three whole numbers over rows of another form, or may be a size."""
    marks = "#%" if options.comment == "auto" else options.comment or ""
    rows: list[tuple[int, int, int, str]] = []
    start, number = 0, 1
    while start < len(data) and len(rows) < 2:
        end = data.find(b"\n", start) + 1 or len(data)
        text = data[start:end].decode(errors="replace").strip("\ufeff \t\r\n")
        if text and text[0] not in marks:
            rows.append((number, start, end, text))
        start, number = end, number + 1
    if len(rows) < 2:
        return None
    line, start, end, text = rows[0]
    cells, below = _cells(text, options), _cells(rows[1][3], options)
    if len(cells) not in (2, 3) or len(below) < 2 or not all(INTEGER.fullmatch(c) and len(c) < 19 for c in cells):
        return None
    size = _Size(text, line, start, end, list(map(int, cells)), len(below))
    if size.same_width:
        named = source.name.lower().endswith(_SUFFIXES)
        return size if (named if len(cells) == 2 else cells[0] == cells[1]) else None
    return size


def _cells(text: str, options: ReadOptions) -> Sequence[str]:
    for mark in (options.delimiter or "", ",", ";"):
        if len(mark) == 1 and mark in text:
            return [cell.strip() for cell in text.split(mark)]
    return text.split()


def _count_rows(data: bytes, marks: str) -> int:
    lines = (line.strip() for line in data.split(b"\n"))
    return sum(bool(line) and chr(line[0]) not in marks for line in lines)


def _fits(source: InputStream, size: _Size, table: EdgeTable) -> bool:
    """Whether the line says the size of this graph.

    Raises
    ------
    FileError
        Where it may as well be an edge, and where rows and columns differ.
    """
    nodes = size.numbers[:-1]
    labels = np.arange(table.n_nodes) if table.labels is None else np.asarray(table.labels)
    if size.same_width and (labels.dtype.kind != "i" or labels.max(initial=0) > nodes[0]):
        return False
    if len(set(nodes)) > 1:
        raise source.error(
            f"{shorten(size.text)} is the size of a matrix of {nodes[0]} rows and {nodes[1]} columns, which number "
            "different nodes, both from 1: give one kind of node another name first, and take this line out",
            size.line,
        )
    if size.same_width and len(nodes) == 1:
        u, v = (np.flatnonzero(labels == end) for end in size.numbers)
        if u.size and v.size and not _joined(table, int(u[0]), int(v[0])):
            raise source.error(
                f"{shorten(size.text)} may be the size of the graph or an edge: put '# ' before it if it is the size, "
                f"pass {setting('header', False)} if it is an edge",
                size.line,
            )
    return True


def _joined(table: EdgeTable, u: int, v: int) -> bool:
    ends = np.stack([table.source, table.target])
    return bool(u == v or ((ends[0] == u) & (ends[1] == v)).any() or ((ends[0] == v) & (ends[1] == u)).any())


def _notes(size: _Size, table: EdgeTable) -> list[str]:
    notes = [f"line {size.line}, {shorten(size.text)}, is the size of the graph and no edge"]
    if (lonely := size.numbers[0] - table.n_nodes) > 0:
        notes.append(f"{lonely} of {size.numbers[0]} nodes have no edge and are not in the file")
    return notes
