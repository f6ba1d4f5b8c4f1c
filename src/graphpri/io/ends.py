"""End points of edges: which columns hold them, and labels as numbers or text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri import endnames
from graphpri.graph import IntArray, id_dtype
from graphpri.io.grid import INTEGER, LARGE, GridRows, Rows
from graphpri.io.source import Source
from graphpri.threads import CHUNK, in_chunks

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
    if isinstance(rows, GridRows) and rows.n_rows >= LARGE and bool((rows.stop > rows.start)[:, [u, v]].all()):
        return _word_ends(rows, u, v)
    first, second = rows.cells(u), rows.cells(v)
    for cells in (first, second):
        if None in cells:
            raise source.error(
                "an end point of the edge is missing: fill it in, or drop the row; an edge list has no place for nodes "
                "without edges (GML, GraphML, Pajek and npz have)",
                int(rows.lines[cells.index(None)]),
            )
    return text_ends(first, second)


def text_ends(first: Sequence[str | None], second: Sequence[str | None], *, parse: bool = True) -> Ends:
    """Number labels given as text, as in :func:`read_ends`; with `parse` False they stay text."""
    words = [word for pair in zip(first, second, strict=True) for word in pair if word is not None]
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(word, len(place)) for word in words], np.int64)
    if parse:
        return _parsed_ends(codes[0::2], codes[1::2], list(place))
    codes = codes.astype(id_dtype(len(place)))
    return Ends(len(place), codes[0::2], codes[1::2], list(place))


def _word_ends(rows: GridRows, u: int, v: int) -> Ends:
    """Text labels of very many rows, with one object for each different label."""
    from graphpri.io import label_loops as loops

    starts, stops = (np.ascontiguousarray(x[:, [u, v]]).reshape(-1) for x in (rows.start, rows.stop))
    # Read-only, like all text that compiled code takes: each kind of array would be compiled for anew.
    text = np.frombuffer(rows.data, np.uint8)
    codes, size, count = np.empty(starts.size, np.int32), 1 << 16, -1
    firsts = np.empty(0, np.int64)
    while count < 0:
        size *= 4
        firsts = np.empty(size // 2, np.int64)
        count = loops.number_words(text, starts, stops, np.full(size, -1, np.int32), codes, firsts)
    first = firsts[:count]
    words = [rows.data[a:b].decode() for a, b in zip(starts[first].tolist(), stops[first].tolist(), strict=True)]
    return _parsed_ends(codes[0::2], codes[1::2], words)


def _parsed_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], words: list[str]) -> Ends:
    """Ends by their positions among labels given as text, which become integers in their order if all of them are."""
    labels = parse_labels(words)
    if labels and isinstance(labels[0], int):
        order = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        u, v, labels = rank[u], rank[v], [labels[i] for i in order]
    ids = id_dtype(len(labels))
    return Ends(len(labels), u.astype(ids), v.astype(ids), labels)


def coded_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], words: Sequence[str]) -> Ends:
    """Number text labels in order of first appearance.

    Parameters
    ----------
    u, v : ndarray of int, shape (R,)
        Positions of the ends among `words`.
    words : sequence of str
        All different, each an end of some row.
    """
    both = np.stack([u, v], axis=1).reshape(-1)
    first = np.empty(len(words), np.int64)
    first[both[::-1]] = np.arange(both.size)[::-1]  # of several values for one place the last one stays
    order = np.argsort(first)
    rank = np.empty(order.size, id_dtype(order.size))
    rank[order] = np.arange(order.size)
    return Ends(order.size, rank[u], rank[v], [words[i] for i in order.tolist()])


def integer_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Ends:
    """Number integer labels in increasing order; no labels where they are 0, 1, 2 and so on.

    Arrays of the type of node numbers that hold these already are not copied.
    """
    if not u.size:
        return Ends(0, u.astype(id_dtype(0)), v.astype(id_dtype(0)), None)
    low, high = int(min(u.min(), v.min())), int(max(u.max(), v.max()))
    if high - low < max(_DENSE * u.size, _FEW):
        return _dense_ends(u, v, low, high - low + 1)
    if u.size < _FEW:
        labels, codes = np.unique(np.concatenate([u, v]), return_inverse=True)
        codes = codes.astype(id_dtype(labels.size))
        return Ends(labels.size, codes[: u.size], codes[u.size :], cast("Sequence[Hashable]", labels))
    return _sparse_ends(u, v)


_DENSE = 8
_FEW = 1 << 20


def _dense_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], low: int, span: int) -> Ends:
    """Labels out of a range that a table can hold."""
    present = np.zeros(span, bool)
    for ids in (u, v):
        for at in _pieces(ids):
            present[at - low if low else at] = True
    labels = np.flatnonzero(present) + low
    ids = id_dtype(labels.size)
    if labels.size == span:
        source, target = (x.astype(ids, copy=False) if not low else (x - low).astype(ids) for x in (u, v))
        return Ends(span, source, target, None if not low else cast("Sequence[Hashable]", labels))
    rank = np.cumsum(present, dtype=ids) - ids.type(1)
    source, target = (np.concatenate([rank[at - low] for at in _pieces(x)]) for x in (u, v))
    return Ends(labels.size, source, target, cast("Sequence[Hashable]", labels))


def _pieces(ids: NDArray[np.integer[Any]]) -> Iterator[NDArray[np.integer[Any]]]:
    return (ids[start : start + CHUNK] for start in range(0, ids.size, CHUNK))


def _sparse_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Ends:
    """Labels far apart, such as hashes."""
    from graphpri.io import label_loops as loops

    labels = np.concatenate([u, v], dtype=np.int64)
    labels.sort()
    labels = labels[np.concatenate([[True], labels[1:] != labels[:-1]])]
    table = np.full(1 << (2 * labels.size - 1).bit_length(), -1, np.int64)
    loops.fill(labels, table)
    source, target = np.empty(u.size, id_dtype(labels.size)), np.empty(u.size, id_dtype(labels.size))

    def find(start: int, stop: int) -> None:
        for ids, found in ((u, source), (v, target)):
            loops.find(ids[start:stop].astype(np.int64), labels, table, found[start:stop])

    in_chunks(find, u.size)
    return Ends(labels.size, source, target, cast("Sequence[Hashable]", labels))


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
