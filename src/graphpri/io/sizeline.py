"""Edge lists that begin with their size, as those of the Network Repository do: nodes, perhaps twice, and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import NamedTuple

import numpy as np

from graphpri.errors import setting
from graphpri.graph import EdgeTable
from graphpri.io.delimited import read_edge_list
from graphpri.io.format import ReadOptions
from graphpri.io.rows import INTEGER, shorten
from graphpri.io.source import CHUNK, InputStream, peeked

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
