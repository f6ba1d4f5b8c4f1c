"""Rows of an edge table brought together by edge, and their weights joined."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.memory import require
from graphpri.threads import CHUNK, in_chunks

Ids = NDArray[np.integer[Any]]
Order = Ids | slice
"""Numbers of things in some order, as an index of an array; `EVERY` where they are 0, 1, 2 and so on."""

EVERY = slice(None)
"""The order of things as they are: an index that copies nothing."""

COMPILED = 1 << 18
"""Rows from which the compiled sort pays."""

_ROW_BYTES, _DIRECTED_BYTES = 36, 66  # measured: 25 and 58, and 8 for weights
_BUCKET_BITS = 14  # so many rows and their copies stay in a core's cache
_PIECES = 16
_MOST_BUCKET_BITS = 10  # more buckets than this are too far apart to be filled side by side


def number_in(order: Order, at: Any) -> Any:
    """Entries of an order at some positions, or under a mask; as an index, where the order is `EVERY`."""
    return at if isinstance(order, slice) else order[at]


def listed(order: Order, mask: NDArray[np.bool_]) -> Ids:
    """Numbers of an order under a mask, as an array."""
    return np.flatnonzero(mask) if isinstance(order, slice) else order[mask]


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows sorted by edge, then as they came; R rows of M edges.

    Parameters
    ----------
    rows : ndarray of int, shape (R,), or `EVERY`
        Which row of the table.
    low, high : ndarray of int, shape (R,)
        The ends of its edge, ``low <= high``.
    first : ndarray of bool, shape (R,)
        Whether it is the first row of its edge.
    backward : ndarray of bool, shape (R,), or None
        Whether it leads from the higher end to the lower; None where rows have no direction.
    """

    rows: Order
    low: Ids
    high: Ids
    first: NDArray[np.bool_]
    backward: NDArray[np.bool_] | None = None

    @cached_property
    def distinct(self) -> bool:
        """Whether every row is an edge of its own."""
        return bool(self.first.all())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Position of the first row of each edge, shape (M,)."""
        return np.flatnonzero(self.first)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each edge, shape (M,)."""
        return np.diff(self.starts, append=self.first.size)

    @cached_property
    def crowded(self) -> NDArray[np.int64]:
        """Positions of the rows of edges that have three or more."""
        return np.flatnonzero(np.repeat(self.sizes > 2, self.sizes))

    @cached_property
    def repeat(self) -> NDArray[np.bool_]:
        """Whether an earlier row has the same arc (the same edge, where rows have no direction), shape (R,)."""
        if self.backward is None:
            return ~self.first
        repeat = np.zeros(self.first.size, bool)
        if self.distinct:
            return repeat
        second = self.starts[self.sizes == 2] + 1
        repeat[second] = self.backward[second] == self.backward[second - 1]
        arc = self.arcs(self.crowded)
        order = np.argsort(arc, kind="stable")
        repeat[self.crowded[order[1:]]] = arc[order[1:]] == arc[order[:-1]]
        return repeat

    def arcs(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of the arcs of some rows of whole edges, counted among these."""
        edge = np.cumsum(self.first[at]) - 1
        return edge if self.backward is None else 2 * edge + self.backward[at]


def sort_rows(u: Ids, v: Ids, rows: Order, *, directed: bool) -> SortedRows:
    """Sort rows that join u to v by edge.

    Rows that are sorted already, without parallel ones, are neither moved nor copied; others take 25 bytes each.

    Parameters
    ----------
    u, v : ndarray of int, shape (R,)
        Canonical node numbers of the two ends.
    rows : ndarray of int, shape (R,), or `EVERY`
        Which rows of the table they are, ascending.
    directed : bool
        Whether (u, v) and (v, u) are different arcs of one edge, rather than parallel.

    Raises
    ------
    MemoryLimitError
        For more rows than there is the memory to sort.
    """
    if in_order(u, v):
        return SortedRows(rows, u, v, np.broadcast_to(np.True_, u.shape))
    if u.size > COMPILED:
        what = f"sorting {u.size} edges"
        require((_DIRECTED_BYTES if directed else _ROW_BYTES) * u.size, what, "sparsify parts of the graph")
    order, low, high = sort_pairs(u, v)
    first = np.ones(low.size, bool)
    np.not_equal(low[1:], low[:-1], out=first[1:])
    first[1:] |= high[1:] != high[:-1]
    backward = (u > v)[order] if directed else None
    return SortedRows(number_in(rows, order), low, high, first, backward)


def in_order(u: Ids, v: Ids) -> bool:
    """Whether all pairs have u < v and are sorted by (u, v), none twice."""
    for start in range(0, u.size, CHUNK):
        a, b = u[start : start + CHUNK + 1], v[start : start + CHUNK + 1]
        rising = (a[1:] > a[:-1]) | ((a[1:] == a[:-1]) & (b[1:] > b[:-1]))
        if not (rising.all() and (a < b).all()):
            return False
    return True


class SortedPairs(NamedTuple):
    """Pairs sorted by their lower end, then by the higher; equal ones as they came.

    Parameters
    ----------
    order : ndarray of int, shape (R,)
        Which pair.
    low, high : ndarray of int, shape (R,)
        Its ends, ``low <= high``.
    """

    order: Ids
    low: Ids
    high: Ids


def sort_pairs(u: Ids, v: Ids) -> SortedPairs:
    """Sort unordered pairs of numbers, 0 or more each.

    Parameters
    ----------
    u, v : ndarray of int, shape (R,)
    """
    top = int(max(u.max(), v.max())) if u.size else 0
    if COMPILED <= u.size < 2**31 and top < 2**31:
        return _sort_in_buckets(u, v, top)
    low, high = np.minimum(u, v), np.maximum(u, v)
    order = _order_of_keys((low.astype(np.int64) << 31) | high) if top < 2**31 else np.lexsort((high, low))
    return SortedPairs(order, low[order], high[order])


def _order_of_keys(keys: NDArray[np.int64]) -> Ids:
    """The stable order; where no key stands twice, that is any order, and the fastest sort will do."""
    order = np.argsort(keys)
    ordered = keys[order]
    return np.argsort(keys, kind="stable") if bool((ordered[1:] == ordered[:-1]).any()) else order


def _sort_in_buckets(u: Ids, v: Ids, top: int) -> SortedPairs:
    """Buckets of the lower ends' leading bits; then by one digit of the keys after another in each bucket."""
    from graphpri import rows_loops as loops

    width = max(top.bit_length(), 1)
    shift = max(width - min(max(u.size.bit_length() - _BUCKET_BITS, 0), _MOST_BUCKET_BITS), 0)
    chunk = max(CHUNK, -(-u.size // _PIECES))
    counts = np.zeros((-(-u.size // chunk), (top >> shift) + 1), np.int64)

    def count(start: int, stop: int) -> None:
        loops.count_buckets(_compact(u[start:stop]), _compact(v[start:stop]), shift, counts[start // chunk])

    in_chunks(count, u.size, chunk)
    # Pieces of one bucket stand in their order, so that equal edges do as well.
    ends = np.cumsum(counts.T.reshape(-1)).reshape(counts.T.shape)
    places = np.ascontiguousarray((ends - counts.T).T)
    keys, rows = np.empty(u.size, np.int64), np.empty(u.size, np.int32)

    def fill(start: int, stop: int) -> None:
        ends = _compact(u[start:stop]), _compact(v[start:stop])
        loops.fill_buckets(*ends, start, shift, places[start // chunk], keys, rows)

    in_chunks(fill, u.size, chunk)
    bounds = [0, *ends[:, -1].tolist()]
    digits, bits = _digits(width, shift)
    low, high, order = (np.empty(u.size, np.int32) for _ in range(3))

    def sort(bucket: int, _: int) -> None:
        at = slice(bounds[bucket], bounds[bucket + 1])
        loops.sort_bucket(keys[at], rows[at], digits, bits, low[at], high[at], order[at])

    in_chunks(sort, len(bounds) - 1, 1)
    return SortedPairs(order, low, high)


def _compact(ids: Ids) -> NDArray[np.int32]:
    """A copy of the one kind that the loops are compiled for."""
    return np.array(ids, np.int32, order="C")


def _digits(width: int, shift: int) -> tuple[NDArray[np.int64], int]:
    """Where the digits of a key begin, from the last, and their common number of bits.

    The higher end has `width` bits from 0 on, the lower one `shift` that differ in a bucket, from 32 on.
    """
    bits = -(-width // -(-width // 11))
    starts = [*range(0, width, bits), *range(32, 32 + shift, bits)]
    return np.array(starts, np.int64), bits


def inverse(order: Ids) -> Ids:
    """Where each of the numbers 0, 1, 2 and so on stands in an order of them."""
    place = np.empty(order.size, order.dtype)
    if order.size < COMPILED or order.dtype != np.int32:
        place[order] = np.arange(order.size, dtype=order.dtype)
        return place

    from graphpri import rows_loops as loops

    rows, places = cast("NDArray[np.int32]", order), cast("NDArray[np.int32]", place)
    in_chunks(lambda start, stop: loops.invert(rows[start:stop], start, places), order.size)
    return place


def sorted_positions(u: Ids, v: Ids, values: NDArray[Any] | None, at: Ids) -> Ids:
    """Some positions sorted by (u, v), with u < v, then by value so that equal pairs can be compared.

    Parameters
    ----------
    u, v : ndarray of int, shape (R,)
    values : ndarray, shape (R,), or None
    at : ndarray of int
    """
    a, b = u[at], v[at]
    if in_order(a, b):
        return at
    order, low, high = sort_pairs(a, b)
    if values is not None and bool(((low[1:] == low[:-1]) & (high[1:] == high[:-1])).any()):
        order = np.lexsort((values[at], b, a))
    return at[order]


def join_weights(
    weights: NDArray[np.float64], found: SortedRows, how: Literal["sum", "max", "first"]
) -> NDArray[np.float64]:
    """Weight of each edge: the weights of parallel rows joined, then those of opposite arcs added.

    Parameters
    ----------
    weights : ndarray of float64, shape (R,)
        Weight of each of the sorted rows.
    found : SortedRows
    how : {"sum", "max", "first"}
        How rows of the same arc are joined.

    Returns
    -------
    ndarray of float64, shape (M,)
        Independent of the order of the rows, unless `how` is ``"first"``; infinite on overflow.
    """
    if found.distinct:
        return weights
    if how == "max":
        arc = found.arcs(np.arange(weights.size))
        best = np.zeros(int(arc.max()) + 1)
        np.maximum.at(best, arc, weights)
        weights = best[arc]
    if how != "sum":
        weights = np.where(found.repeat, 0.0, weights)
    joined = weights[found.starts]
    with np.errstate(over="ignore"):
        joined[found.sizes == 2] += weights[found.starts[found.sizes == 2] + 1]
    if found.crowded.size:
        joined[found.sizes > 2] = _ordered_sums(weights[found.crowded], found.first[found.crowded])
    return joined


def _ordered_sums(weights: NDArray[np.float64], first: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of groups of weights; adding in order of size makes them independent of the order of the rows."""
    edge = np.cumsum(first) - 1
    by_size = np.lexsort((weights, edge))
    return cast("NDArray[np.float64]", np.bincount(edge[by_size], weights[by_size]))
