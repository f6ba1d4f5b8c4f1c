"""Simple interaction files of Cytoscape: a node, a kind of interaction, and the nodes that it joins the first to."""

from __future__ import annotations

import numpy as np

from graphpri.errors import setting
from graphpri.graph import EdgeTable
from graphpri.io.columns import label_sequence, parse_labels
from graphpri.io.rows import WORD, shorten
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions

_EXTENDED = "PARTICIPANT_A"  # how Pathway Commons begins


def read_sif(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a simple interaction file; the kind of each becomes the edge attribute ``interaction``.

    Cells are split by tabs where the file has any, else by blanks; a line of one cell is a node, a line of more than
    three joins the first to several. The edges are undirected: what an interaction's direction means, the file does
    not say.

    Raises
    ------
    FileError
        Names the line, for two cells, which are no interaction, and for empty ones.
    """
    text = source.text(LONG_LINE_LIMIT).decode()
    by_tabs = "\t" in text
    place: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    kinds: list[str] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t"):
            continue
        cells = [cell.strip(" ") for cell in line.rstrip(" \t").split("\t")] if by_tabs else WORD.findall(line)
        _check(source, cells, number, first=not place)
        u = place.setdefault(cells[0], len(place))
        for cell in cells[2:]:
            ends.append((u, place.setdefault(cell, len(place))))
            kinds.append(cells[1])
            lines.append(number)
    u, v = np.array(ends, np.int64).reshape(-1, 2).T
    return EdgeTable(
        len(place),
        u,
        v,
        label_sequence(parse_labels(list(place))),
        edge_attributes={"interaction": kinds},
        row_name=source.row_name(lines),
    )


def _check(source: InputStream, cells: list[str], number: int, *, first: bool) -> None:
    if first and cells[0].upper() == _EXTENDED:
        raise source.error(
            "this is the extended form of Pathway Commons, with a header and more columns: keep the first three of its "
            "edges, for example by: tail -n +2 FILE | cut -f 1-3",
            number,
        )
    if "" in cells:
        raise source.error("a cell between two tabs is empty", number)
    if len(cells) == 2:
        raise source.error(
            f"{shorten(cells[0])} and {shorten(cells[1])} are two cells, where a node, an interaction and one node or "
            f"more should stand: pass {setting('format', 'edgelist')} if these are two nodes",
            number,
        )
