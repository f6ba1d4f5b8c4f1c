"""Numbers of 64 bits that stand for nodes, whatever part of the input names them, and the blocks they belong to.

The key of an integer is a permutation of the 64-bit numbers, from which the integer can be had back; that of a text is
a hash. A node's block is the first bits of its key, and its number within the block its place among the block's keys,
so that both depend on nothing but the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import compiled
from graphpri.distributed.store import find
from graphpri.solvers.tournament import scrambled

Keys = NDArray[np.uint64]

BITS = 6
FINE = 1 << BITS
"""Most blocks, to which edges are dealt at first, before it is known how many their number asks for."""

EDGES_A_PAIR = 250_000
"""About how many edges a pair of blocks should have: a task is long against what it takes to send and begin one."""

LEAST = 4
_ODD, _MASK = np.uint64(0x9E3779B97F4A7C15), (1 << 64) - 1


def blocks_for(rows: int) -> int:
    """Number of blocks, a power of two, for a number of edges."""
    blocks = LEAST
    while blocks < FINE and (2 * blocks) ** 2 * EDGES_A_PAIR <= 2 * rows:
        blocks *= 2
    return blocks


def block_of(keys: Keys, blocks: int) -> NDArray[np.int64]:
    """The block of each key."""
    return (keys >> np.uint64(64 - (blocks.bit_length() - 1))).astype(np.int64)


def keys_of_integers(ids: NDArray[np.int64]) -> Keys:
    """The key of each integer."""
    return scrambled(ids.view(np.uint64))


def integers_of_keys(keys: Keys) -> NDArray[np.int64]:
    """The integer of each key: the steps of :func:`~graphpri.solvers.tournament.scrambled` backwards."""
    x = keys ^ (keys >> np.uint64(31)) ^ (keys >> np.uint64(62))
    x = x * np.uint64(pow(0x94D049BB133111EB, -1, 1 << 64))
    x = x ^ (x >> np.uint64(27)) ^ (x >> np.uint64(54))
    x = x * np.uint64(pow(0xBF58476D1CE4E5B9, -1, 1 << 64))
    x = x ^ (x >> np.uint64(30)) ^ (x >> np.uint64(60))
    return (x - _ODD).view(np.int64)


@compiled
def hash_texts(data: NDArray[np.uint8], ends: NDArray[np.int64], out: Keys) -> None:
    """FNV-1a of each text, given where it ends in the bytes of all (Fowler, Noll, Vo; RFC 9923)."""
    start = 0
    for i in range(out.size):
        h = np.uint64(0xCBF29CE484222325)
        for p in range(start, ends[i]):
            h = (h ^ np.uint64(data[p])) * np.uint64(0x100000001B3)
        out[i] = h
        start = ends[i]


def keys_of_texts(texts: Any) -> tuple[Keys, NDArray[np.uint8], NDArray[np.int64]]:
    """Keys of texts in an array of Arrow's ``large_string``, their bytes, and where each ends.

    A text that is an integer as Python writes it has the key of that integer.
    """
    pa, pc = find("pyarrow"), find("pyarrow.compute")
    texts = pa.concat_arrays([texts])  # without an offset
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64, len(texts) + 1)
    first, ends = int(ends[0]), ends[1:]
    content = np.frombuffer(data or b"", np.uint8)[first : int(ends[-1]) if len(ends) else first]
    keys = np.empty(len(texts), np.uint64)
    hash_texts(content, ends - first, keys)
    keys = scrambled(keys)
    whole = integers_in(pa, pc, texts)
    if whole is not None:
        at, values = whole
        keys[at] = keys_of_integers(values)
    return keys, content, ends - first


def integers_in(pa: Any, pc: Any, texts: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Where texts are integers of 64 bits in canonical form, and which; None where none is."""
    at = np.flatnonzero(pc.match_substring_regex(texts, r"^(0|-?[1-9][0-9]{0,17})$").to_numpy(zero_copy_only=False))
    if not at.size:
        return None
    return at, pc.cast(texts.take(pa.array(at)), pa.int64()).to_numpy()


@compiled
def look_up(keys: Keys, slots: NDArray[np.int32], found: Keys, n: int, codes: NDArray[np.int32]) -> int:
    """Number different keys as they come, behind the first `n`, by a hash table; returns how many there are now.

    The number of slots is a power of two, with room to spare.
    """
    last = slots.size - 1
    for i in range(keys.size):
        key = keys[i]
        at = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & last
        while slots[at] >= 0 and found[slots[at]] != key:
            at = (at + 1) & last
        if slots[at] < 0:
            slots[at] = n
            found[n] = key
            n += 1
        codes[i] = slots[at]
    return n


@compiled
def sort_into(keys: Keys, low: int, shift: int, first: NDArray[np.int32], out: Keys, rank: NDArray[np.int32]) -> None:
    """Sort different keys from `low` on, and tell the place of each: by buckets of the first bits, then insertion.

    Keys are hashes, so that a bucket has about one. `first` has a place more than there are buckets, all 0.
    """
    n = keys.size
    for i in range(n):
        first[np.int64((keys[i] - low) >> shift) + 1] += 1
    for b in range(1, first.size):
        first[b] += first[b - 1]
    for i in range(n):
        b = np.int64((keys[i] - low) >> shift)
        at = first[b]
        first[b] = at + 1  # behind the last of the bucket in the end
        out[at], rank[at] = keys[i], i
    for i in range(1, n):
        key, of = out[i], rank[i]
        at = i
        while at > 0 and out[at - 1] > key:
            out[at], rank[at] = out[at - 1], rank[at - 1]
            at -= 1
        out[at], rank[at] = key, of


def in_order(keys: Keys) -> tuple[Keys, NDArray[np.int32]]:
    """Different keys in order, and the place that each given one has there."""
    place, order = np.empty((2, keys.size), np.int32)
    if not keys.size:
        return keys, place
    low = keys.min()
    bits = keys.size.bit_length()
    shift: Any = np.uint64(max(int(keys.max() - low).bit_length() - bits, 0))
    out = np.empty_like(keys)
    sort_into(keys, low, shift, np.zeros((1 << bits) + 1, np.int32), out, order)
    place[order] = np.arange(keys.size, dtype=np.int32)
    return out, place


class Numbering:
    """Different keys, numbered as they come."""

    def __init__(self) -> None:
        self.n = 0
        self._found = np.empty(0, np.uint64)
        self._slots = np.empty(0, np.int32)

    def add(self, keys: Keys) -> NDArray[np.int32]:
        """The number of each of some keys."""
        most = self.n + keys.size
        if 2 * most > self._slots.size:
            known, codes = self.keys, np.empty(self.n, np.int32)
            self._slots = np.full(1 << (2 * most).bit_length(), -1, np.int32)
            self._found = np.empty(self._slots.size // 2, np.uint64)
            look_up(known, self._slots, self._found, 0, codes)
        codes = np.empty(keys.size, np.int32)
        self.n = look_up(np.ascontiguousarray(keys), self._slots, self._found, self.n, codes)
        return codes

    @property
    def keys(self) -> Keys:
        """The keys by their numbers."""
        return self._found[: self.n]


def distinct(keys: Keys) -> tuple[Keys, NDArray[np.int32]]:
    """The different keys in order, and the place of each given one among them."""
    numbering = Numbering()
    codes = numbering.add(keys)
    found, place = in_order(numbering.keys)
    return found, place[codes]


@compiled
def sort_by(
    values: NDArray[np.int32], before: NDArray[np.int32], first: NDArray[np.int64], order: NDArray[np.int32]
) -> None:
    """A pass of a radix sort: order by values, equal ones as `before` says; `first` has where each value begins."""
    for i in range(order.size):
        e = before[i] if before.size else np.int32(i)
        at = first[values[e]]
        first[values[e]] = at + 1
        order[at] = e


def pair_order(u: NDArray[np.int32], v: NDArray[np.int32], sizes: tuple[int, int]) -> NDArray[np.int32]:
    """The order of edges by u, and by v where that is the same, given how many values there are of each."""
    order = np.empty(0, np.int32)
    for values, size in ((v, sizes[1]), (u, sizes[0])):
        before, order = order, np.empty(values.size, np.int32)
        counts = np.bincount(values, minlength=size)
        sort_by(values, before, np.cumsum(counts) - counts, order)
    return order


@compiled
def places_among(among: Keys, some: Keys, places: NDArray[np.int32]) -> None:
    """Place of some keys among others, all of which are there; both are in order."""
    at = 0
    for i in range(some.size):
        while among[at] != some[i]:
            at += 1
        places[i] = at


def spread_bits(numbers: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Put a zero before each of the lowest bits of numbers below 64."""
    x = numbers.astype(np.uint16)
    x = (x | (x << np.uint16(4))) & np.uint16(0x030F)
    x = (x | (x << np.uint16(2))) & np.uint16(0x0333)
    return (x | (x << np.uint16(1))) & np.uint16(0x0555)


def place_of(a: Any, b: Any) -> Any:
    """Place of the pair of blocks (a, b) in Morton order: the pairs of any coarser blocks are consecutive."""
    return (spread_bits(np.asarray(a)) << np.uint16(1)) | spread_bits(np.asarray(b))


def places_within(a: int, b: int, blocks: int) -> tuple[int, int]:
    """First place of the fine pairs of a pair of blocks, and the one behind the last."""
    share = (FINE // blocks) ** 2
    first = int(place_of(a, b)) * share
    return first, first + share
