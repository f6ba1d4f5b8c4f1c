"""From the input to numbered edges: tasks that deal rows to pairs of blocks, sort them, and number the nodes.

Each task reads files and writes files, and returns a few facts; run again, it writes the same bytes.

1. :func:`deal` reads rows, and writes the keys of both ends by pair of blocks, batch by batch.
2. :func:`sort_pair` sorts the edges of a pair, so that it no longer matters where they came from.
3. :func:`number` numbers the nodes of a block by their keys, with their degrees.
4. :func:`place` gives the edges of a pair these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.distributed.keys import (
    FINE,
    Keys,
    Numbering,
    block_of,
    distinct,
    in_order,
    integers_in,
    integers_of_keys,
    keys_of_integers,
    keys_of_texts,
    pair_order,
    place_of,
    places_among,
    places_within,
)
from graphpri.distributed.parts import Decimals, Piece, Reading, batches, decimals_in
from graphpri.distributed.store import Store, find

Pair = tuple[int, int]

INTEGERS, TEXTS = "integers", "texts"


class FirstRow(NamedTuple):
    """The first row of a part, which may name the columns: its words, and the keys of the nodes that it is read as."""

    part: str
    words: tuple[str, str]
    keys: tuple[int, int]


class Dealt(NamedTuple):
    """What :func:`deal` found in a piece.

    `files` has the name of each batch's file and, from place to place, where the pairs begin in it; `texts` the same
    for the texts of nodes, by block. `kinds` says what names the nodes, and `loop` is the row of the first self-loop.
    """

    rows: int
    files: list[tuple[str, NDArray[np.int32]]]
    texts: list[tuple[str, NDArray[np.int32]]]
    kinds: frozenset[str]
    loops: int
    loop: int
    weighted: bool
    decimals: Decimals
    doubtful: FirstRow | None


def deal(store: Store, piece: Piece, number: int, reading: Reading) -> Dealt:
    """Write the keys of both ends of a piece's rows, batch by batch, by pair of blocks; self-loops are left out."""
    pa, pc = find("pyarrow"), find("pyarrow.compute")
    rows = loops = loop = 0
    files: list[tuple[str, NDArray[np.int32]]] = []
    texts: list[tuple[str, NDArray[np.int32]]] = []
    kinds: set[str] = set()
    weighted, decimals, doubtful = False, Decimals(), None
    for batch, (before, first, second, w, perhaps_names) in enumerate(batches(piece, reading)):
        weighted |= w is not None
        if first.type == pa.int64():
            u, v = (keys_of_integers(column.to_numpy()) for column in (first, second))
            kinds.add(INTEGERS)
        else:
            both = pa.concat_arrays([first, second]).dictionary_encode()
            words, codes = both.dictionary, both.indices.to_numpy()
            found = keys_of_texts(words)
            u, v = found[0][codes[: len(first)]], found[0][codes[len(first) :]]
            whole = integers_in(pa, pc, words)
            kinds |= {INTEGERS} if whole is not None else set()
            if whole is not None and whole[0].size == len(words):
                exact = bool((np.abs(whole[1]) < 2**53).all())
                decimals = decimals.joined(Decimals(whole=exact, plain=(True, True)))
                # Columns of parquet have types: text stays text.
                kinds |= {TEXTS} if piece.groups is not None else set()
            else:
                kinds.add(TEXTS)
                # Text in parquet names nodes by what it is.
                ends = codes[: len(first)], codes[len(first) :]
                found_here = Decimals(numbers=False)
                if piece.groups is None and decimals.numbers:
                    found_here = decimals_in(words.to_pylist(), ends)
                decimals = decimals.joined(found_here)
                texts.append(_write_texts(store, f"texts/{number}.{batch}", *found))
        if perhaps_names is not None:
            doubtful = FirstRow(piece.part.name, perhaps_names, (int(u[0]), int(v[0])))
        same = u == v
        if same.any():
            loop = loop or before + 1 + int(same.argmax())
            loops += int(np.count_nonzero(same))
            u, v, w = u[~same], v[~same], None if w is None else w[~same]
        rows += len(first)
        files.append(_write_dealt(store, f"dealt/{number}.{batch}", np.minimum(u, v), np.maximum(u, v), w))
    return Dealt(rows, files, texts, frozenset(kinds), loops, loop, weighted, decimals, doubtful)


def _write_dealt(
    store: Store, name: str, low: Keys, high: Keys, weights: NDArray[np.float64] | None
) -> tuple[str, NDArray[np.int32]]:
    """The lower key's block never comes behind the other's, as blocks are the first bits."""
    place = place_of(block_of(low, FINE), block_of(high, FINE))
    order = np.argsort(place, kind="stable")  # a radix sort of 16 bits
    columns = [low, high] if weights is None else [low, high, weights.view(np.uint64)]
    records = np.empty((low.size, len(columns)), np.uint64)
    for i, of in enumerate(columns):
        records[:, i] = of[order]
    store.write(name, records.data.cast("B") if records.size else b"")
    counts = np.bincount(place, minlength=FINE * FINE)
    return name, np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _write_texts(
    store: Store, name: str, keys: Keys, data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[str, NDArray[np.int32]]:
    """Keys in order, where the text of each ends, and the texts."""
    order = np.argsort(keys, kind="stable")
    starts = np.concatenate([[0], ends[:-1]])
    length = (ends - starts)[order]
    last = np.cumsum(length)
    at = np.repeat(starts[order] - (last - length), length) + np.arange(data.size)
    store.write(name, keys[order].tobytes() + last.tobytes() + data[at].tobytes())
    counts = np.bincount(block_of(keys, FINE), minlength=FINE)
    return name, np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


class Slice(NamedTuple):
    """Records of a file, from one to another, of as many as it has."""

    name: str
    start: int
    stop: int
    size: int


def slices(files: list[tuple[str, NDArray[np.int32]]], first: int, stop: int) -> list[Slice]:
    """What the files have from one place to another."""
    found = [Slice(name, int(at[first]), int(at[stop]), int(at[-1])) for name, at in files]
    return [one for one in found if one.start < one.stop]


def dealt_slices(files: list[tuple[str, NDArray[np.int32]]], pair: Pair, blocks: int) -> list[Slice]:
    """Where the edges of a pair of blocks are."""
    return slices(files, *places_within(*pair, blocks))


class Sorted(NamedTuple):
    """What :func:`sort_pair` found: different edges, further rows that repeat one, and the first of these.

    Where the edges are weighted, also the smallest and the largest weight.
    """

    edges: int
    repeats: int
    repeated: tuple[int, int] | None
    least: float
    most: float


def pair_name(pair: Pair) -> str:
    """How the files of a pair are called."""
    return f"{pair[0]}.{pair[1]}"


def sort_pair(store: Store, pair: Pair, where: list[Slice], weighted: bool, parallel: str) -> Sorted:
    """Sort the edges of a pair by the keys of their ends; those that are there several times are taken once.

    Written are the keys at either side, how many edges each has and the sum of their weights, and the edges as places
    among these keys. Weights of an edge that is repeated are added in order of size, or the largest one is taken.
    """
    size = 24 if weighted else 16
    data = b"".join(store.read(one.name, size * one.start, size * one.stop) for one in where)
    keys = np.frombuffer(data, np.uint64).reshape(-1, size // 8)
    w = keys[:, 2].copy().view(np.float64) if weighted else None
    keys = keys[:, :2]
    if pair[0] == pair[1]:
        low, places = distinct(keys.ravel())
        high, u, v = low, places[::2].copy(), places[1::2].copy()
    else:
        (low, u), (high, v) = distinct(keys[:, 0]), distinct(keys[:, 1])
    del data, keys
    order = pair_order(u, v, (low.size, high.size))
    u, v, w = u[order], v[order], None if w is None else w[order]
    again = (u[1:] == u[:-1]) & (v[1:] == v[:-1])
    repeats, repeated = int(np.count_nonzero(again)), None
    if repeats:
        first = int(again.argmax())
        repeated = int(low[u[first]]), int(high[v[first]])
        new = np.concatenate([[True], ~again])
        if w is not None:
            w = w[np.lexsort((w, np.cumsum(new)))]
            w = np.bincount(np.cumsum(new) - 1, w) if parallel == "sum" else w[np.append(new[1:], True)]
        u, v = u[new], v[new]
    counts = [np.bincount(side, minlength=of.size).astype(np.int32) for side, of in ((u, low), (v, high))]
    sums: list[NDArray[Any]] = []
    if w is not None:
        sums = [np.bincount(side, w, of.size) for side, of in ((u, low), (v, high))]
    store.save(f"sorted/{pair_name(pair)}", low, high, *counts, *sums)
    store.save(f"sorted/{pair_name(pair)}.edges", u, v, *([] if w is None else [w]))
    range_of = (1.0, 1.0) if w is None else (float(w.min(initial=np.inf)), float(w.max(initial=0.0)))
    return Sorted(u.size, repeats, repeated, *range_of)


class Numbered(NamedTuple):
    """What :func:`number` found: how many nodes a block has, and whether two texts have the same key.

    Also which of the nodes that were asked about have one edge.
    """

    nodes: int
    clash: tuple[str, str] | None
    lonely: set[int]


def number(store: Store, block: int, blocks: int, texts: list[Slice] | None, asked: Keys) -> Numbered:
    """Number the nodes of a block in the order of their keys, and write their degrees and the sums of their weights.

    Where nodes are called by texts, also what each is called; `asked` has keys of nodes of the block.
    """
    numbering, sums_at = Numbering(), np.zeros((2, 0))
    for some, count, sums in _sides(store, block, blocks):
        at = numbering.add(some)
        sums_at = np.pad(sums_at, ((0, 0), (0, numbering.n - sums_at.shape[1])))
        sums_at[0, at] += count
        if sums is not None:
            sums_at[1, at] += sums  # in the order of the blocks, so that roundings are the same
    keys, place = in_order(numbering.keys)
    degrees, strengths = np.zeros(keys.size, np.int64), np.zeros(keys.size)
    degrees[place], strengths[place] = sums_at
    store.save(f"blocks/{block}", keys, degrees, strengths)
    clash = None if texts is None else _number_texts(store, block, keys, texts)
    lonely = keys[degrees == 1]
    return Numbered(int(keys.size), clash, set(asked[_places(lonely, asked) >= 0].tolist()))


def _sides(
    store: Store, block: int, blocks: int
) -> Iterator[tuple[Keys, NDArray[np.int32], NDArray[np.float64] | None]]:
    """Keys of a block's nodes in each of its pairs, how many edges these have there, and the sums of their weights."""
    for a in range(blocks):
        pair = min(a, block), max(a, block)
        found = store.load(f"sorted/{pair_name(pair)}")
        for side in range(2):
            if pair[side] == block:
                yield found[side], found[2 + side], found[4 + side] if len(found) > 4 else None


def _number_texts(store: Store, block: int, keys: Keys, where: list[Slice]) -> tuple[str, str] | None:
    """Write the text of each node of a block, and say whether two different ones have the same key."""
    pa, pc = find("pyarrow"), find("pyarrow.compute")
    numbers = pa.array(integers_of_keys(keys)).cast(pa.large_string())
    if not where:  # all are integers
        _write_names(store, block, numbers)
        return None
    pieces: list[Any] = []
    found: list[Keys] = []
    for one in where:
        behind = 8 * one.size
        found.append(np.frombuffer(store.read(one.name, 8 * one.start, 8 * one.stop), np.uint64))
        begin = max(one.start - 1, 0)
        ends = np.frombuffer(store.read(one.name, behind + 8 * begin, behind + 8 * one.stop), np.int64)
        ends = ends if one.start else np.concatenate([[0], ends])
        data = store.read(one.name, 2 * behind + int(ends[0]), 2 * behind + int(ends[-1]))
        offsets = pa.py_buffer((ends - ends[0]).tobytes())
        pieces.append(
            pa.Array.from_buffers(pa.large_string(), one.stop - one.start, [None, offsets, pa.py_buffer(data)])
        )
    theirs, texts = np.concatenate(found), pa.concat_arrays(pieces)
    order = np.argsort(theirs, kind="stable")
    theirs, texts = theirs[order], texts.take(pa.array(order))
    again = np.flatnonzero(theirs[1:] == theirs[:-1])
    differs = pc.not_equal(texts.take(pa.array(again)), texts.take(pa.array(again + 1))).to_numpy(zero_copy_only=False)
    if differs.any():
        at = int(again[differs.argmax()])
        return texts[at].as_py(), texts[at + 1].as_py()
    # Nodes that only ever stood among integers have no text.
    at = np.searchsorted(theirs, keys)
    known = theirs[np.minimum(at, theirs.size - 1)] == keys
    column = texts.take(pa.array(np.where(known, at, 0), mask=~known))
    _write_names(store, block, pc.coalesce(column, numbers))
    return None


def _write_names(store: Store, block: int, column: Any) -> None:
    pa = find("pyarrow")
    with find("pyarrow.ipc").new_file(stream := pa.BufferOutputStream(), pa.schema([("name", column.type)])) as file:
        file.write_batch(pa.record_batch([column], ["name"]))
    store.write(f"names/{block}", stream.getvalue().to_pybytes())


def place(store: Store, pair: Pair) -> int:
    """Give the edges of a pair the numbers of their ends, those of the second block behind the first's."""
    low, high = store.load(f"sorted/{pair_name(pair)}")[:2]
    u, v, *w = store.load(f"sorted/{pair_name(pair)}.edges")
    a = store.load(f"blocks/{pair[0]}")[0]
    b = store.load(f"blocks/{pair[1]}")[0] if pair[1] != pair[0] else a
    behind = a.size if pair[1] != pair[0] else 0
    at = np.empty(low.size, np.int32), np.empty(high.size, np.int32)
    for among, some, places in ((a, low, at[0]), (b, high, at[1])):
        places_among(among, some, places)
    store.save(f"edges/{pair_name(pair)}", at[0][u], (at[1] + np.int32(behind))[v], *w)
    return int(u.size)


class Marked(NamedTuple):
    """How many of a pair's edges another graph has, and the keys of one that only the other has."""

    kept: int
    missing: tuple[int, int] | None


def mark(store: Store, pair: Pair) -> Marked:
    """Write what each edge of a pair weighs in another graph, whose edges :func:`sort_pair` has sorted; 0 without it.

    A byte an edge where edges have no weights.
    """
    low, high = store.load(f"sorted/{pair_name(pair)}")[:2]
    u, v, *w = store.load(f"sorted/{pair_name(pair)}.edges")
    first, second = store.load(f"edges/{pair_name(pair)}")[:2]
    a = store.load(f"blocks/{pair[0]}")[0]
    b = store.load(f"blocks/{pair[1]}")[0] if pair[1] != pair[0] else a
    behind = a.size if pair[1] != pair[0] else 0
    width = behind + b.size
    at_low, at_high = (_places(keys, some) for keys, some in ((a, low), (b, high)))
    edges = first.astype(np.int64) * width + second  # in order
    wanted = np.where((at_low[u] < 0) | (at_high[v] < 0), -1, at_low[u] * width + at_high[v] + behind)
    at = _places(edges, wanted)
    if (at < 0).any():
        one = int((at < 0).argmax())
        return Marked(0, (int(low[u[one]]), int(high[v[one]])))
    marks = np.zeros(edges.size, np.float64 if w else np.uint8)
    marks[at] = w[0] if w else 1
    store.save(f"marks/{pair_name(pair)}", marks)
    return Marked(int(at.size), None)


def _places(among: NDArray[Any], some: NDArray[Any]) -> NDArray[np.int64]:
    """Place of each of some numbers among those in order; −1 where it is not there."""
    at = np.searchsorted(among, some)
    at[at == among.size] = 0
    found = among[at] == some if among.size else np.zeros(some.size, bool)
    return np.where(found, at, -1)


def rows_with(piece: Piece, reading: Reading, keys: tuple[int, int]) -> list[int]:
    """Rows of a piece that have an edge, given by its keys; read only where edges were found twice."""
    pa = find("pyarrow")
    found: list[int] = []
    for before, first, second, *_ in batches(piece, reading):
        if first.type == pa.int64():
            u, v = (keys_of_integers(column.to_numpy()) for column in (first, second))
        else:
            u, v = (keys_of_texts(column)[0] for column in (first, second))
        at = np.flatnonzero((np.minimum(u, v) == np.uint64(keys[0])) & (np.maximum(u, v) == np.uint64(keys[1])))
        found += (before + 1 + at).tolist()
    return found


def pairs_of(blocks: int) -> list[Pair]:
    """All pairs of blocks a ≤ b, in order."""
    return [(a, b) for a in range(blocks) for b in range(a, blocks)]
