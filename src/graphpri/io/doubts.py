"""Texts that split into rows as edge lists do, and may be something else: refused or noted, never read in silence."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graphpri.errors import Note, setting
from graphpri.graph import EPOCHS, look_like_times, rises
from graphpri.io.columns import Ends
from graphpri.io.rows import NUMBER, Rows, shorten
from graphpri.io.source import InputStream

_ARROW = re.compile(r"[-=<>~–—→←↔]+")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_HEAD = 10_000  # rows that are looked at
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


def are_times(rows: Rows, column: int = 2) -> bool:
    """Whether a column without a name looks like time stamps: of today, years, or numbers that only rise."""
    t = rows.integers(column) if rows.cell(column, 0) is not None else None
    t = rows.numbers(column) if t is None else t
    if t is None or not t.size or not np.isfinite(t).all():
        return False
    return look_like_times(t, integers=rows.integers(column) is not None)


def refuse_times_first(source: InputStream, rows: Rows) -> None:
    """Refuse rows of a time and two nodes, as those of contacts are, which would be read as two nodes and a weight.

    The first column holds times of today, or numbers that only rise; the next two share most of their values, and the
    first has hardly any of them.
    """
    t, u, v = (rows.integers(column) for column in range(3))
    if t is None or u is None or v is None or rows.n_rows < 2:
        return
    t, u, v = t[:_HEAD], u[:_HEAD], v[:_HEAD]
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
