"""Edges chosen by a number each: drawn by lot, the heaviest or lightest, or those that local degree ranks first.

Which edges are the first K is found by radix selection: counts of the first 16 bits of all numbers say with which bits
the K-th begins, and so on. Equal numbers are told apart by lots, which hang on a seed and the ids of an edge's ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import in_threads
from graphpri._selection import settle
from graphpri.baselines import exponents, logarithms
from graphpri.distributed.ingest import Pair, pair_name
from graphpri.distributed.store import Store
from graphpri.graph import FloatArray
from graphpri.solvers.tournament import scrambled

Numbers64 = NDArray[np.uint64]

ARCS = 1 << 21
"""About how many arcs are sorted at a time."""


class Criterion(NamedTuple):
    """By which numbers edges are chosen, and up to which.

    Attributes
    ----------
    by : {"lots", "heaviest", "lightest", "scores"}
    seed : int
        Of the lots.
    cut, lot : int
        Place of the last edge that is chosen, and the lot up to which edges of that place are.
    """

    by: str
    seed: int
    cut: int = 0
    lot: int = 0


def lots(store: Store, pair: Pair, seed: int) -> Numbers64:
    """A random number of 64 bits for each edge of a pair, which hangs on the seed and the ids of its ends alone."""
    u, v = store.load(f"edges/{pair_name(pair)}")[:2]
    keys = np.concatenate([store.load(f"blocks/{block}")[0] for block in dict.fromkeys(pair)])
    return scrambled(keys[u] ^ scrambled(keys[v] + scrambled(np.array([seed], np.uint64))))


def places(store: Store, pair: Pair, by: str) -> Numbers64:
    """Numbers of 64 bits by which the edges of a pair are sorted: the bits of numbers that are not negative."""
    if by == "scores":
        return ~np.maximum(*(store.load(f"scores/{a}.{b}")[0] for a, b in (pair, pair[::-1]))).view(np.uint64)
    u, _, *w = store.load(f"edges/{pair_name(pair)}")
    if by == "lots":
        return np.zeros(u.size, np.uint64)
    return w[0].view(np.uint64) if by == "lightest" else ~w[0].view(np.uint64)


def chosen(store: Store, pair: Pair, how: Criterion) -> NDArray[np.bool_]:
    """Which edges of a pair are chosen."""
    at = places(store, pair, how.by)
    tied = at == np.uint64(how.cut)
    found = at < np.uint64(how.cut)
    if tied.any():
        found |= tied & (lots(store, pair, how.seed) <= np.uint64(how.lot))
    return found


def digits(store: Store, pair: Pair, how: Criterion, tied: bool, before: int, level: int) -> NDArray[np.int64]:
    """How often each value of 16 bits comes next behind `before` in the places of a pair's edges.

    Where `tied`, in the lots of the edges whose place is the cut.
    """
    numbers = places(store, pair, how.by)
    if tied:
        numbers = lots(store, pair, how.seed)[numbers == np.uint64(how.cut)]
    shift = np.uint64(48 - 16 * level)
    inside = numbers if level == 0 else numbers[(numbers >> (shift + np.uint64(16))) == np.uint64(before)]
    return np.bincount(((inside >> shift) & np.uint64(0xFFFF)).astype(np.int64), minlength=1 << 16)


def rank(store: Store, block: int, blocks: int, seed: int) -> None:
    """Write what each edge of a block's nodes scores from their side by the method ``local-degree``, by pair.

    All arcs of some nodes are sorted at a time; neighbours of equal degree rank by a hash of the seed and their ids.
    """
    degrees = store.load(f"blocks/{block}")[1]
    after = np.cumsum(degrees)
    slices = np.unique(np.searchsorted(after, np.arange(ARCS, after[-1], ARCS))) if degrees.size else after
    log = logarithms(degrees)
    sizes = [store.load(f"edges/{pair_name(_pair(block, b))}")[0].size for b in range(blocks)]
    scores: list[FloatArray] = [np.zeros(size) for size in sizes]
    salt = scrambled(np.array([seed], np.uint64))
    for first, stop in zip([0, *slices], [*slices, degrees.size], strict=True):
        tails, keys, where = [], [], []
        for other in range(blocks):
            u, v = store.load(f"edges/{pair_name(_pair(block, other))}")[:2]
            their_keys, theirs = store.load(f"blocks/{other}")[:2]
            hashes = scrambled(their_keys + salt) >> np.uint64(32)
            order = (~theirs.view(np.uint64) << np.uint64(32)) | hashes  # the largest degree first
            arcs = [(v - theirs.size, u)]
            if block < other:
                arcs = [(u, v - degrees.size)]
            elif block == other:
                arcs = [(u, v), (v, u)]
            for tail, head in arcs:
                on = np.flatnonzero((tail >= first) & (tail < stop))
                tails.append(tail[on] - first)
                keys.append(order[head[on]])
                where.append((other, on))
        with in_threads(1):
            found = settle(exponents(np.concatenate(tails), np.concatenate(keys), stop - first, log))
        for (other, on), some in zip(where, np.split(found, np.cumsum([t.size for t in tails])[:-1]), strict=True):
            scores[other][on] = np.maximum(scores[other][on], some)
    for other, some in enumerate(scores):
        store.save(f"scores/{block}.{other}", some)


def _pair(a: int, b: int) -> Pair:
    return min(a, b), max(a, b)
