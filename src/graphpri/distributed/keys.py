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
def look_up(keys: Keys, slots: NDArray[np.int32], found: Keys, codes: NDArray[np.int32]) -> int:
    """Number different keys as they come, by a hash table of slots, a power of two; returns how many there are."""
    last, n = slots.size - 1, 0
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


def distinct(keys: Keys) -> tuple[Keys, NDArray[np.int64]]:
    """The different keys in order, and the place of each given one among them."""
    slots = np.full(1 << (2 * keys.size).bit_length(), -1, np.int32)
    found, codes = np.empty(keys.size, np.uint64), np.empty(keys.size, np.int32)
    found = found[: look_up(np.ascontiguousarray(keys), slots, found, codes)]
    order = np.argsort(found)
    place = np.empty(found.size, np.int64)
    place[order] = np.arange(found.size)
    return found[order], place[codes]


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
