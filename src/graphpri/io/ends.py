"""End points of edges: which columns hold them, and labels as numbers or text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri import endnames
from graphpri.graph import IntArray, id_dtype
from graphpri.io.grid import INTEGER, Rows
from graphpri.io.source import Source

_INT_DIGITS = 4000  # int() takes 4300


class Ends(NamedTuple):
    """Nodes of a file and the two ends of each of its rows, as positions among them."""

    n_nodes: int
    source: IntArray
    target: IntArray
    labels: Sequence[Hashable] | None


def find_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of two columns whose names are known for end points; the leftmost where there is a choice."""
    return min(endnames.find_ends(names), key=sorted, default=None)


def read_ends(source: Source, rows: Rows, u: int, v: int) -> Ends:
    """Number the labels in two columns of end points.

    Labels that are all integers in canonical form (``12``, ``-3``; not ``007``) become integers, and
    the nodes then stand in their order; otherwise all labels are text, in order of first appearance.

    Raises
    ------
    FileError
        For an empty cell, naming its line.
    """
    a, b = rows.integers(u), rows.integers(v)
    if a is not None and b is not None:
        return integer_ends(a, b)
    first, second = rows.cells(u), rows.cells(v)
    for cells in (first, second):
        if None in cells:
            raise source.error("an end point of the edge is missing", int(rows.lines[cells.index(None)]))
    return text_ends(first, second)


def text_ends(first: Sequence[str | None], second: Sequence[str | None], *, parse: bool = True) -> Ends:
    """Number labels given as text, as in :func:`read_ends`; with `parse` False they stay text."""
    words = [word for pair in zip(first, second, strict=True) for word in pair if word is not None]
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(word, len(place)) for word in words], np.int64)
    labels: list[Any] = parse_labels(list(place)) if parse else list(place)
    if labels and isinstance(labels[0], int):
        order = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        codes, labels = rank[codes], [labels[i] for i in order]
    codes = codes.astype(id_dtype(len(labels)))
    return Ends(len(labels), codes[0::2], codes[1::2], labels)


def integer_ends(u: NDArray[np.int64], v: NDArray[np.int64]) -> Ends:
    """Number integer labels in increasing order; no labels where they are 0, 1, 2 and so on."""
    labels, codes = np.unique(np.concatenate([u, v]), return_inverse=True)
    codes = codes.astype(id_dtype(labels.size))
    plain = not labels.size or (labels[0] == 0 and labels[-1] == labels.size - 1)
    return Ends(labels.size, codes[: u.size], codes[u.size :], None if plain else cast("Sequence[Hashable]", labels))


def parse_labels(words: Sequence[str]) -> list[Any]:
    """Labels as integers where all of them are integers in canonical form, as text otherwise."""
    if all(INTEGER.fullmatch(word) and len(word) < _INT_DIGITS for word in words):
        return [int(word) for word in words]
    return list(words)


def label_sequence(labels: Sequence[Any]) -> Sequence[Hashable] | None:
    """Labels for an EdgeTable: None for 0, 1, 2, …, an array of int64 where they are integers that fit."""
    if not all(type(label) is int for label in labels):
        return tuple(labels)
    if list(labels) == list(range(len(labels))):
        return None
    try:
        return cast("Sequence[Hashable]", np.array(labels, np.int64))
    except OverflowError:
        return tuple(labels)
