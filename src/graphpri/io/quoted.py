"""Delimited text with quoted cells, and networkx's edge lists with a dict on each line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

from graphpri.io.columns import as_rows, shorten
from graphpri.io.grid import CellRows, count_error
from graphpri.io.source import Source

_DICT_LINE = re.compile(rb"[ \t]*([^ \t\n]+)[ \t]+([^ \t\n]+)[ \t]+(\{.*\})[ \t]*")


class Record(NamedTuple):
    """One row of quoted text: the line where it begins, its cells, and the offset behind it."""

    line: int
    cells: list[str | None]
    end: int


def records(
    source: Source,
    data: bytes,
    delimiter: str,
    offset: int,
    line: int,
    comment: str = "",
    check: Callable[[int, bytes], None] | None = None,
) -> Iterator[Record]:
    """Rows of delimited text from an offset on, leaving out blank lines and comments.

    A cell in double quotes may hold the delimiter, line breaks, and quotes written twice; an empty
    quoted cell is empty text, and an empty cell without quotes is None. `check` is called with the line
    number and text of each line left out.

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
                check(line, skip[0])
            offset, line = skip.end(), line + 1
            continue
        cells: list[str | None] = []
        first_line = line
        end = b""
        while end != b"\n":
            found = cell.match(data, offset)
            if found is None:
                raise source.error("a quote is opened and never closed, or text follows its end", line)
            offset = found.end()
            line += found[0].count(b"\n")
            quoted, plain, end = found.groups()
            cells.append(plain.rstrip(b" \t").decode() or None if quoted is None else _unquoted(quoted))
        yield Record(first_line, cells, offset)


def _unquoted(cell: bytes) -> str:
    return cell.replace(b'""', b'"').decode()


def quoted_rows(source: Source, data: bytes, delimiter: str, *args: Any) -> CellRows:
    """Rows with quoted cells, all of the same length; parameters as in :func:`records`.

    Raises
    ------
    FileError
        As in :func:`records`, and for a row with more or fewer cells than the first.
    """
    rows: list[list[str | None]] = []
    lines: list[int] = []
    for record in records(source, data, delimiter, *args):
        if rows and len(record.cells) != len(rows[0]):
            raise count_error(source, (len(record.cells), record.line), (len(rows[0]), lines[0]), delimiter)
        rows.append(record.cells)
        lines.append(record.line)
    return as_rows([list(column) for column in zip(*rows, strict=True)], lines)


def is_dict_line(line: bytes) -> bool:
    """Whether a line is one of networkx's ``write_edgelist``: two labels and a dict."""
    return _DICT_LINE.fullmatch(line) is not None


def dict_rows(
    source: Source, data: bytes, offset: int, line: int, comment: str
) -> tuple[CellRows, list[dict[str, Any]]]:
    """End points of networkx's edge list, and the attributes of each edge.

    Raises
    ------
    FileError
        For a line that is not two labels and a dict of plain values.
    """
    first: list[str | None] = []
    second: list[str | None] = []
    lines: list[int] = []
    attributes: list[dict[str, Any]] = []
    for number, text in enumerate(data[offset:].split(b"\n"), line):
        bare = text.strip(b" \t")
        if not bare or bare.startswith(tuple(comment.encode()[i : i + 1] for i in range(len(comment)))):
            continue
        found = _DICT_LINE.fullmatch(bare)
        if found is None:
            raise source.error("the row is not two labels and a dict {…} like the first row", number)
        first.append(found[1].decode())
        second.append(found[2].decode())
        lines.append(number)
        attributes.append(_literal(source, found[3].decode(), number))
    return as_rows([first, second], lines), attributes


def _literal(source: Source, text: str, line: int) -> dict[str, Any]:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, SyntaxWarning, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise source.error(f"{shorten(text)} is not a dict of plain values", line)
    return {str(key): item for key, item in cast("dict[Any, Any]", value).items()}
