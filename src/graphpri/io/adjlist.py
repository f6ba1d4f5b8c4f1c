"""Adjacency lists as networkx writes them: a node and its neighbours on each line, by their labels."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import EdgeTable, id_dtype
from graphpri.io.columns import label_sequence, parse_labels
from graphpri.io.rows import WORD, find_delimiter
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions


def read_adjacency_list(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read adjacency lists as an undirected graph; a line of one label is a node.

    networkx lists each edge with one of its nodes. Where a file lists every edge with both, each is one edge.

    Parameters
    ----------
    source : InputStream
    options : ReadOptions
        `delimiter`, blanks and tabs where absent, and `comment`, ``#`` where it is "auto".

    Raises
    ------
    FileError
        Names the line, for an empty label and for the multiline form.
    """
    marks = "#" if options.comment == "auto" else options.comment or ""
    delimiter = find_delimiter(options.delimiter) if options.delimiter else None
    place: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    lines: list[int] = []
    for number, line in enumerate(source.text(LONG_LINE_LIMIT).decode().split("\n"), 1):
        bare = line.strip(" \t")
        if not bare or bare[0] in marks:
            continue
        cells = WORD.findall(bare) if delimiter is None else [cell.strip(" \t") for cell in bare.split(delimiter)]
        if "" in cells:
            raise source.error("a cell between two delimiters is empty", number)
        if any(cell.startswith("{") for cell in cells):
            raise source.error(
                "a dict stands here, as in networkx's multiline adjacency lists: read it by "
                "networkx.read_multiline_adjlist and write GraphML",
                number,
            )
        u = place.setdefault(cells[0], len(place))
        ends += [(u, place.setdefault(cell, len(place))) for cell in cells[1:]]
        lines += [number] * (len(cells) - 1)
    if not place:
        raise source.error("there are only comments, no nodes")
    u, v = np.array(ends, np.int64).reshape(-1, 2).T
    kept = _once(u, v)
    ids = id_dtype(len(place))
    return EdgeTable(
        len(place),
        u[kept].astype(ids),
        v[kept].astype(ids),
        label_sequence(parse_labels(list(place))),
        row_name=source.row_name(np.array(lines, np.int64)[kept]),
        notes=() if kept.size == u.size else ("every edge stands with both of its nodes, and is read once",),
    )


def _once(u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows that give each edge once, where every edge is listed with both of its nodes; else all rows."""
    pairs = list(zip(u.tolist(), v.tolist(), strict=True))
    counts = Counter(pairs)
    mirrored = any(a != b for a, b in pairs) and all(counts[b, a] == n for (a, b), n in counts.items())
    return np.flatnonzero(u <= v) if mirrored else np.arange(u.size)
