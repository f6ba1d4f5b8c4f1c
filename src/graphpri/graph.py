"""The canonical graph, and the table of edges that every format becomes on its way to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from numbers import Real
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from graphpri._arguments import checked, chosen, whole
from graphpri._output import table as html_table
from graphpri._runtime import CHUNK, LARGE_GRAPH, compiled, in_chunks, inlined, read_only, require
from graphpri.errors import GraphError, Note, OptionError, argument, did_you_mean, setting

_SHOWN_ROWS = 8  # of a table in a notebook

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# Columns that hold the two ends of an edge, whatever their case and punctuation.
END_NAMES = (
    ("source", "target"),
    ("source", "destination"),
    ("sourceid", "targetid"),
    ("sourcenode", "targetnode"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("vertex1", "vertex2"),
    ("v1", "v2"),
    ("u", "v"),
    ("i", "j"),
    ("start", "end"),
    ("head", "tail"),
    ("tail", "head"),
    ("ego", "alter"),
)


def find_ends(names: Iterable[str]) -> list[tuple[int, int]]:
    """Positions of the columns that could hold the two ends of an edge, source first.

    More than one pair where the names leave a choice; ``source`` and ``target`` go before others. Of
    ``head`` and ``tail``, whose meaning differs between fields, the source is what stands first.
    """
    at: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        at.setdefault(re.sub(r"[\W_]", "", name).casefold(), []).append(i)
    known = END_NAMES[:1] if END_NAMES[0][0] in at and END_NAMES[0][1] in at else END_NAMES
    pairs = [(i, j) for a, b in known for i in at.get(a, ()) for j in at.get(b, ())]
    return [(i, j) for i, j in pairs if i < j or (j, i) not in pairs]


EPOCHS = (6e8, 5e9), (6e11, 5e12)
"""Time stamps from 1989 to 2128, in seconds and in milliseconds since 1970."""

_YEARS = 1900, 2100
_RISING, _FIRST = 20, 100  # numbers from which on those that only rise are times, and how many are looked at first


def look_like_times(t: NDArray[np.number], *, integers: bool) -> bool:
    """Whether finite numbers look like time stamps: of today, or, of `integers`, years or ones that only rise."""
    low, high = float(t.min()), float(t.max())
    if any(start <= low and high <= end for start, end in EPOCHS):
        return True
    if not integers:
        return False
    if _YEARS[0] <= low and high <= _YEARS[1] and t.size > 2:
        return True
    if t.size < _RISING or high <= t.size or not rises(t[:_FIRST]):
        return False
    return rises(t) and bool(2 * np.count_nonzero(t[1:] > t[:-1]) >= t.size)


def rises(t: NDArray[np.number]) -> bool:
    """Whether no number is smaller than the one before."""
    return bool((t[1:] >= t[:-1]).all())


_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def plain_label(label: Any) -> Hashable:
    """The label as a Python object, so that messages don't read np.int64(3)."""
    return label.item() if isinstance(label, np.generic) else label


def order_labels(labels: Sequence[Hashable]) -> tuple[NDArray[np.int64], Sequence[Hashable] | None]:
    """Bring labels into canonical order.

    Numbers are sorted by value, text by code point, tuples entry by entry, frozensets by their sorted
    entries, everything else by its ``repr``; labels of different kinds by the name of the kind ("number",
    "text", else the type's). Where that could differ from one process to the next, because a ``repr`` shows
    a memory address, or where two labels can't be compared, all stay in the order in which they came.

    Parameters
    ----------
    labels : sequence of hashable, length N
        An array of integers or text is sorted as such.

    Returns
    -------
    order : ndarray of int64, shape (N,)
        Position in `labels` of the i-th label in canonical order.
    ordered : sequence of hashable or None
        The labels in that order; None where they are 0, 1, 2 and so on.

    Raises
    ------
    GraphError
        For a label that stands twice.
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuU":
        return _order_array(cast("NDArray[Any]", labels))
    seen: set[Hashable] = set()
    for label in labels:
        if label in seen:
            raise _twice(label)
        seen.add(label)
    kinds = {_kind(x) for x in labels}
    order = list(range(len(labels)))
    try:
        keys: list[Any] = list(labels) if kinds <= {"number"} or kinds <= {"text"} else [_sort_key(x) for x in labels]
        order.sort(key=keys.__getitem__)
    except TypeError:
        order = list(range(len(labels)))
    ordered = tuple(labels[i] for i in order)
    plain = all(type(x) is int for x in ordered) and ordered == tuple(range(len(ordered)))
    return np.array(order, np.int64), None if plain else ordered


def _order_array(labels: NDArray[Any]) -> tuple[NDArray[np.int64], Sequence[Hashable] | None]:
    if bool((labels[1:] > labels[:-1]).all()):
        order, ordered = np.arange(labels.size), labels
    else:
        order = np.argsort(labels, kind="stable")
        ordered = labels[order]
    if (repeats := ordered[1:][ordered[1:] == ordered[:-1]]).size:
        raise _twice(repeats[0])
    plain = ordered.dtype.kind in "iu" and np.array_equal(ordered, np.arange(ordered.size))
    return order, None if plain else cast("Sequence[Hashable]", ordered)


def _twice(label: Any) -> GraphError:
    return GraphError(f"the node label {plain_label(label)!r} stands twice: labels must be unique")


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    if isinstance(label, bool) or not isinstance(label, Real):
        return type(label).__qualname__
    return "number" if label == label else "nan"


def _sort_key(label: Any) -> tuple[str, Any]:
    """Kind, then something that compares within it; a TypeError where that would not be the same in every process."""
    kind = _kind(label)
    if kind in ("number", "text"):
        return kind, label
    if isinstance(label, tuple):
        return kind, tuple(_sort_key(x) for x in cast("tuple[Any, ...]", label))
    if isinstance(label, frozenset):
        return kind, sorted(_sort_key(x) for x in cast("frozenset[Any]", label))
    text = repr(label)
    if _ADDRESS.search(text):
        raise TypeError(f"{text} shows a memory address")
    return kind, text


@compiled
def count_buckets(u: Int32Array, v: Int32Array, shift: int, counts: Int64Array) -> None:
    """Number of rows in each bucket; the bucket of a row is its lower end without its last `shift` bits."""
    for i in range(u.size):
        counts[min(u[i], v[i]) >> shift] += 1


@compiled
def fill_buckets(
    u: Int32Array, v: Int32Array, start: int, shift: int, place: Int64Array, keys: Int64Array, rows: Int32Array
) -> None:
    """Put rows, numbered from `start` on, into their buckets, each as one number, the lower end above the higher.

    `place` says where the next row of each bucket goes, and is moved on.
    """
    for i in range(u.size):
        low, high = np.int64(min(u[i], v[i])), np.int64(max(u[i], v[i]))
        bucket = low >> shift
        at = place[bucket]
        place[bucket] = at + 1
        keys[at] = (low << 32) | high
        rows[at] = start + i


@compiled
def sort_bucket(
    keys: Int64Array,
    rows: Int32Array,
    shifts: Int64Array,
    bits: int,
    low: Int32Array,
    high: Int32Array,
    order: Int32Array,
) -> None:
    """Sort the rows of a bucket by their keys, a digit of `bits` bits at a time, into the last three arrays.

    `keys` and `rows` are overwritten.
    """
    other_keys, other_rows = np.empty_like(keys), np.empty_like(rows)
    place = np.empty(1 << bits, np.int64)
    last = (1 << bits) - 1
    for shift in shifts:
        place[:] = 0
        for i in range(keys.size):
            place[(keys[i] >> shift) & last] += 1
        before = 0
        for digit in range(place.size):
            count = place[digit]
            place[digit] = before
            before += count
        for i in range(keys.size):
            digit = (keys[i] >> shift) & last
            at = place[digit]
            place[digit] = at + 1
            other_keys[at] = keys[i]
            other_rows[at] = rows[i]
        keys, other_keys = other_keys, keys
        rows, other_rows = other_rows, rows
    for i in range(keys.size):
        low[i] = keys[i] >> 32
        high[i] = keys[i] & 0xFFFFFFFF
        order[i] = rows[i]


@compiled
def invert(order: Int32Array, start: int, place: Int32Array) -> None:
    """Note where the numbers of a piece of an order stand, its first at `start`."""
    for i in range(order.size):
        place[order[i]] = start + i


def group(keys: IntArray, values: IntArray, n_keys: int) -> tuple[NDArray[np.int64], IntArray]:
    """Values brought together by key, in their order: those of key i stand at ``start[i]:start[i + 1]``.

    Parameters
    ----------
    keys : ndarray of int, shape (M,)
        Below `n_keys`.
    values : ndarray of int, shape (M,)
    n_keys : int

    Returns
    -------
    start : ndarray of int64, shape (n_keys + 1,)
    values : ndarray of int, shape (M,)
    """
    rows = _rows(keys, np.broadcast_to(keys.dtype.type(0), keys.shape), values, n_keys)
    return rows.indptr.astype(np.int64, copy=False), rows.data


def _rows(row: IntArray, column: IntArray, values: Any, n: int) -> Any:
    """A CSR array with the entries of each row in the order in which they stand, none joined."""
    entries = sp.coo_array((values, (row, column)), shape=(n, n))
    entries.has_canonical_format = True
    return entries.tocsr()


class Neighbours(NamedTuple):
    """Neighbours of each node and the edges to them: those of node i at ``start[i]:start[i + 1]``.

    Attributes
    ----------
    start : ndarray of int, shape (N + 1,)
    node, edge : ndarray of int, shape (2M,)
    """

    start: IntArray
    node: IntArray
    edge: IntArray

    def leaving(self, nodes: IntArray) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Positions of the arcs that leave the nodes, one node after the other, and which of the nodes each leaves."""
        counts = self.start[nodes + 1] - self.start[nodes]
        entry = np.repeat(np.arange(nodes.size), counts)
        first = np.cumsum(counts) - counts
        return (self.start[nodes] - first)[entry] + np.arange(entry.size), entry


Order = IntArray | slice
"""Numbers of things in some order, as an index of an array; `EVERY` where they are 0, 1, 2 and so on."""

EVERY = slice(None)
"""The order of things as they are: an index that copies nothing."""

COMPILED = 1 << 18
"""Int32Array from which the compiled sort pays."""

_ROW_BYTES, _DIRECTED_BYTES = 36, 66  # measured: 25 and 58, and 8 for weights
_BUCKET_BITS = 14  # so many rows and their copies stay in a core's cache
_PIECES = 16
_MOST_BUCKET_BITS = 10  # more buckets than this are too far apart to be filled side by side


def number_in(order: Order, at: Any) -> Any:
    """Entries of an order at some positions, or under a mask; as an index, where the order is `EVERY`."""
    return at if isinstance(order, slice) else order[at]


def taken(values: NDArray[Any], order: Order) -> NDArray[Any]:
    """Entries of an array in an order, fetched by threads; as a view, where the order is `EVERY`."""
    if isinstance(order, slice):
        return values[order]
    values, out = np.ascontiguousarray(values), np.empty(order.size, values.dtype)
    in_chunks(lambda a, b: np.take(values, order[a:b], out=out[a:b], mode="clip"), out.size)
    return out


def listed(order: Order, mask: NDArray[np.bool_]) -> IntArray:
    """Numbers of an order under a mask, as an array."""
    return np.flatnonzero(mask) if isinstance(order, slice) else order[mask]


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Int32Array sorted by edge, then as they came; R rows of M edges.

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
    low: IntArray
    high: IntArray
    first: NDArray[np.bool_]
    backward: NDArray[np.bool_] | None = None

    @cached_property
    def distinct(self) -> bool:
        """Whether every row is an edge of its own."""
        return bool(self.first.all())

    @cached_property
    def has_repeats(self) -> bool:
        """Whether an arc (an edge, where rows have no direction) stands twice."""
        return not self.distinct and bool(self.repeat.any())

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


def sort_rows(u: IntArray, v: IntArray, rows: Order, *, directed: bool) -> SortedRows:
    """Sort rows that join u to v by edge.

    Int32Array that are sorted already, without parallel ones, are neither moved nor copied; others take 25 bytes each.

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


def in_order(u: IntArray, v: IntArray) -> bool:
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

    order: IntArray
    low: IntArray
    high: IntArray


def sort_pairs(u: IntArray, v: IntArray) -> SortedPairs:
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


def _order_of_keys(keys: NDArray[np.int64]) -> IntArray:
    """The stable order; where no key stands twice, that is any order, and the fastest sort will do."""
    order = np.argsort(keys)
    ordered = keys[order]
    return np.argsort(keys, kind="stable") if bool((ordered[1:] == ordered[:-1]).any()) else order


def _sort_in_buckets(u: IntArray, v: IntArray, top: int) -> SortedPairs:
    """Buckets of the lower ends' leading bits; then by one digit of the keys after another in each bucket."""
    width = max(top.bit_length(), 1)
    shift = max(width - min(max(u.size.bit_length() - _BUCKET_BITS, 0), _MOST_BUCKET_BITS), 0)
    chunk = max(CHUNK, -(-u.size // _PIECES))
    counts = np.zeros((-(-u.size // chunk), (top >> shift) + 1), np.int64)

    def count(start: int, stop: int) -> None:
        count_buckets(_compact(u[start:stop]), _compact(v[start:stop]), shift, counts[start // chunk])

    in_chunks(count, u.size, chunk)
    # Pieces of one bucket stand in their order, so that equal edges do as well.
    ends = np.cumsum(counts.T.reshape(-1)).reshape(counts.T.shape)
    places = np.ascontiguousarray((ends - counts.T).T)
    keys, rows = np.empty(u.size, np.int64), np.empty(u.size, np.int32)

    def fill(start: int, stop: int) -> None:
        ends = _compact(u[start:stop]), _compact(v[start:stop])
        fill_buckets(*ends, start, shift, places[start // chunk], keys, rows)

    in_chunks(fill, u.size, chunk)
    bounds = [0, *ends[:, -1].tolist()]
    digits, bits = _digits(width, shift)
    low, high, order = (np.empty(u.size, np.int32) for _ in range(3))

    def sort(bucket: int, _: int) -> None:
        at = slice(bounds[bucket], bounds[bucket + 1])
        sort_bucket(keys[at], rows[at], digits, bits, low[at], high[at], order[at])

    in_chunks(sort, len(bounds) - 1, 1)
    return SortedPairs(order, low, high)


def _compact(ids: IntArray) -> NDArray[np.int32]:
    """A copy of the one kind that the loops are compiled for."""
    return np.array(ids, np.int32, order="C")


def _digits(width: int, shift: int) -> tuple[NDArray[np.int64], int]:
    """Where the digits of a key begin, from the last, and their common number of bits.

    The higher end has `width` bits from 0 on, the lower one `shift` that differ in a bucket, from 32 on.
    """
    bits = -(-width // -(-width // 11))
    starts = [*range(0, width, bits), *range(32, 32 + shift, bits)]
    return np.array(starts, np.int64), bits


def inverse(order: IntArray) -> IntArray:
    """Where each of the numbers 0, 1, 2 and so on stands in an order of them."""
    place = np.empty(order.size, order.dtype)
    if order.size < COMPILED or order.dtype != np.int32:
        place[order] = np.arange(order.size, dtype=order.dtype)
        return place

    rows, places = cast("NDArray[np.int32]", order), cast("NDArray[np.int32]", place)
    in_chunks(lambda start, stop: invert(rows[start:stop], start, places), order.size)
    return place


def sorted_positions(u: IntArray, v: IntArray, values: NDArray[Any] | None, at: IntArray) -> IntArray:
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


# By the type of the entries: relative to the larger of the two, and to the largest entry of the matrix.
_ROUNDING = {"float32": (1e-5, 1e-6), "float64": (1e-8, 1e-12)}

AVERAGED = "mirrored entries that differed by rounding averaged"
"""The note on matrices of which :func:`average_mirrored` made symmetric ones."""


def average_mirrored(values: NDArray[Any], up: IntArray, low: IntArray) -> NDArray[Any] | None:
    """A matrix's entries, with means where mirrored ones differ by rounding, as ``np.corrcoef`` and inverses make them.

    Rounding is 10⁻⁸ of the larger of the two, or 10⁻¹² of the largest entry of the matrix (10⁻⁵ and 10⁻⁶ in float32).

    Parameters
    ----------
    values : ndarray, shape (E,)
    up, low : ndarray of int, shape (P,)
        Positions of the entries above the diagonal, and of their mirror images.

    Returns
    -------
    ndarray, shape (E,), or None
        None where no pair differs, or some pair by more than rounding; equal entries stay as they are.
    """
    if values.dtype.name not in _ROUNDING:
        return None
    one, two = values[up], values[low]
    if np.array_equal(one, two):
        return None
    largest = float(np.abs(values).max())
    if not np.isfinite(largest):
        return None
    relative, absolute = _ROUNDING[values.dtype.name]
    if not (np.abs(one - two) <= np.maximum(relative * np.maximum(np.abs(one), np.abs(two)), absolute * largest)).all():
        return None
    half = one.dtype.type(0.5)
    out = values.copy()
    out[up] = out[low] = np.where(one == two, one, one * half + two * half)
    return out


def equal_diagonal(n_entries: int, n_nodes: int, values: NDArray[Any] | None) -> str | None:
    """The note that leaves out the diagonal of a symmetric matrix, where every node has the same entry there.

    Correlations and similarities have ones there, which are no self-loops. None where entries are missing or differ by
    more than rounding.
    """
    if not n_nodes or n_entries != n_nodes:
        return None
    if values is None:
        return f"diagonal of {n_nodes} entries left out"
    low, high = float(values.min()), float(values.max())
    relative = _ROUNDING.get(values.dtype.name, (0.0, 0.0))[0]
    equal = low == high or high - low <= relative * max(abs(low), abs(high))
    return f"diagonal of {n_nodes} equal entries ({high:g}) left out" if equal else None


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


Column = Sequence[Any] | NDArray[Any]
EdgeName = Callable[[int], str]


def read_weights(
    columns: Mapping[str, Column], weight: str | None, edge: EdgeName
) -> tuple[NDArray[np.float64] | None, str]:
    """Take the weights from the columns of a table.

    Parameters
    ----------
    columns : mapping of str to sequence
        Columns of length R.
    weight : str or None
        Column that holds the weights, where there is one; None ignores weights. A name other than
        ``"weight"`` must exist.
    edge : callable
        Names the edge in a row, for error messages.

    Returns
    -------
    weights : ndarray of float64, shape (R,), or None
        1 where a row has no entry, and None where there are no weights.
    note : str
        Where they come from.

    Raises
    ------
    GraphError
        For weights that are not numbers.
    OptionError
        For a column that is not there.
    """
    if weight is None:
        return None, "weights ignored" if "weight" in columns else "unweighted"
    if weight in columns:
        w, missing = _numbers(columns[weight], weight, edge)
        return w, f"weights: {weight!r}" + (f", {missing} of {w.size} edges have none and weigh 1" if missing else "")
    if weight != "weight":
        known = ", ".join(map(repr, columns)) or "none"
        close = did_you_mean(weight, columns)
        raise OptionError(f"no edge has the attribute {weight!r} named as weight (edge attributes: {known}){close}")
    names = weight_candidates(columns)
    if not names:
        return None, "unweighted: no edge has the attribute 'weight'"
    shown = ", ".join(names[:5]) + ", …" * (len(names) > 5)
    remedy = f"pass {setting('weight', *names[:3])} if that holds the weights"
    return None, Note(f"unweighted: no edge has the attribute 'weight'; other columns: {shown}; {remedy}")


def weight_candidates(columns: Mapping[str, Column]) -> list[str]:
    """Names of the columns of numbers, which could be weights.

    Examples
    --------
    >>> weight_candidates({"calls": np.array([3, 1]), "since": ["May", "June"]})
    ['calls']
    """
    return [name for name, column in columns.items() if isinstance(column, np.ndarray) and column.dtype.kind in "iuf"]


def _numbers(column: Column, weight: str, edge: EdgeName) -> tuple[NDArray[np.float64], int]:
    """The column as floats, 1 for a missing entry, and how many are missing."""
    values = np.asarray(column)
    if values.dtype.kind == "b":
        raise GraphError(
            f"the weights {weight!r} are true/false, not numbers: pass {setting('weight', None)} to ignore them"
        )
    if values.dtype.kind in "fiu":
        return values.astype(np.float64, copy=False), 0
    out = np.ones(len(column))
    present = [row for row, value in enumerate(column) if value is not None]
    for row in present:
        out[row] = _number(column[row], edge, row)
    return out, len(column) - len(present)


def _number(value: Any, edge: EdgeName, row: int) -> float:
    if isinstance(value, bool | np.bool_):
        raise GraphError(f"{edge(row)} has the weight {value!r}, which is not a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(
            f"{edge(row)} has the weight {value!r}, which is not a number: "
            f"correct it, or pass {setting('weight', None)} to ignore weights"
        ) from None


class PositiveWeights(NamedTuple):
    """Weights after what policies do to those that are negative or 0.

    Parameters
    ----------
    weights : ndarray of float64, shape (R,)
        Those of the rows that stay are positive and finite.
    dropped : ndarray of bool, shape (R,), or None
        Rows that don't stay; None where all do.
    changed : bool
        Whether some weights are no longer what they were.
    notes : list of str
    """

    weights: FloatArray
    dropped: BoolArray | None
    changed: bool
    notes: list[str]


def make_positive(w: FloatArray, ignored: BoolArray, negative: Negative, zero: Zero, edge: EdgeName) -> PositiveWeights:
    """Weights of which none that counts is negative or 0, by what the policies say.

    Parameters
    ----------
    w : ndarray of float64, shape (R,)
    ignored : ndarray of bool, shape (R,)
        Rows that are left out in any case, and not counted in notes; their weights are checked all the same.
    negative : {"refuse", "abs", "drop"}
    zero : {"refuse", "drop"}
    edge : callable
        Names the edge in a row, for error messages.

    Raises
    ------
    GraphError
        For weights that are not finite, and for negative ones and zeros that the policies refuse.
    """
    if all(in_chunks(lambda a, b: bool(((w[a:b] > 0) & (w[a:b] < np.inf)).all()), w.size)):
        return PositiveWeights(w, None, False, [])
    below, none = w < 0, w == 0
    bad = ~np.isfinite(w)
    bad |= below if negative == "refuse" else False
    bad |= none if zero == "refuse" else False
    if bad.any():
        raise _not_positive(w, bad, edge)
    n_below, n_none = (int(np.count_nonzero(rows & ~ignored)) for rows in (below, none))
    notes: list[str] = []
    if n_below:
        absolute = "taken as absolute values" if negative == "abs" else "dropped"
        notes.append(f"{_count(n_below, 'edge')} of negative weight {absolute}")
    if n_none:
        notes.append(f"{_count(n_none, 'edge')} of weight 0 dropped")
    if negative == "abs":
        return PositiveWeights(np.abs(w), none, n_below > 0, notes)
    return PositiveWeights(w, ~(w > 0), False, notes)


def _not_positive(w: FloatArray, bad: BoolArray, edge: EdgeName) -> GraphError:
    """The error about weights that are refused, the first of which it names with its remedy."""
    count, row = int(np.count_nonzero(bad)), int(np.argmax(bad))
    value = float(w[row])
    if value < 0 and np.isfinite(value):
        remedy = (
            f"pass {setting('negative', 'abs')} to take absolute values, {setting('negative', 'drop')} to leave such "
            "edges out"
        )
    elif value == 0:
        remedy = f"pass {setting('zero', 'drop')} to leave such edges out"
    else:
        remedy = "correct it, or remove the edge"
    more = f" ({count} weights are not)" if count > 1 else ""
    return GraphError(
        f"{edge(row)} has the weight {value!r}; weights must be positive and finite{more}: "
        f"{remedy}, or {setting('weight', None)} to ignore weights"
    )


Directed = Literal["refuse", "symmetrize", "average"]
Loops = Literal["refuse", "drop"]
Parallel = Literal["refuse", "sum", "max", "first"]
Negative = Literal["refuse", "abs", "drop"]
Zero = Literal["refuse", "drop"]

MULTIPLICITY = "multiplicity"
"""Name of the weights that count the parallel edges of an unweighted graph."""

MOST_EDGES = 2**31 - 1
"""Most edges that a graph can have."""

_MANY = 1 << 20
_NODE_BYTES = 16  # the least that any use of the graph takes
_POLICIES = {
    name: get_args(kind)
    for name, kind in {
        "directed": Directed,
        "loops": Loops,
        "parallel": Parallel,
        "negative": Negative,
        "zero": Zero,
    }.items()
}
_JOINED = {
    "sum": "weights added",
    "max": "largest weight kept",
    "first": "first weight kept",
    "count": "their number kept as weight",
}


def id_dtype(n_nodes: int) -> np.dtype[Any]:
    """Smallest signed integer type used for the ids of `n_nodes` nodes (4 or 8 bytes)."""
    return np.dtype(np.int32 if n_nodes <= np.iinfo(np.int32).max else np.int64)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Undirected simple graph with positive weights, in canonical form.

    Nodes are numbered in the order of their labels and edges are sorted, so that two descriptions of
    the same labelled graph give the same arrays, whatever the order in which they list it (but see
    `labels`). Build one with :func:`graphpri.as_graph` or :meth:`Graph.from_edges`.

    Parameters
    ----------
    n_nodes : int
        Number of nodes N, isolated ones included.
    source, target : ndarray of int, shape (M,)
        End points of each edge, ``source < target``, sorted by (source, target).
    weights : ndarray of float64, shape (M,)
        Positive finite edge weights μ; a read-only view of a single 1.0 where the graph is unweighted.
    labels : sequence of hashable or None
        Label of each node; None where node i is called i. Numbers, text, tuples and frozensets of these, and
        whatever has a ``repr`` that says the same in every process are sorted; where some label can't be
        (an object that prints its memory address), the nodes keep the order in which they were given.
    weight_name : str or None
        Where the weights come from; ``"multiplicity"`` where they count the parallel edges of an unweighted
        graph, None where the graph is unweighted.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0], [2.0, 1.0, 1.0], labels=["a", "b", "c"])
    >>> graph
    Graph(3 nodes, 3 edges, weighted by 'weight')
    >>> graph.edge_labels(0), graph.degrees(), graph.strengths()
    (('a', 'b'), array([2, 2, 2]), array([3., 3., 2.]))
    >>> graph.select(graph.weights < 2).n_edges
    2
    """

    n_nodes: int
    source: IntArray
    target: IntArray
    weights: FloatArray
    labels: Sequence[Hashable] | None = None
    weight_name: str | None = None

    def __post_init__(self) -> None:
        _check_shapes(self.n_nodes, self.source, self.target, self.weights, self.labels)
        if self.source.size and not max(self.source[-1], self.target[-1]) < self.n_nodes:
            raise OptionError(f"{argument('n_nodes', self.n_nodes)} is below the numbers of the nodes")

    @classmethod
    @checked
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        n_nodes: int | None = None,
        labels: Sequence[Hashable] | None = None,
        directed: Directed = "refuse",
        loops: Loops = "refuse",
        parallel: Parallel = "refuse",
        negative: Negative = "refuse",
        zero: Zero = "refuse",
    ) -> Graph:
        """Make a graph from arrays of node numbers.

        Parameters
        ----------
        source, target : array_like of int, shape (M,)
            End points, numbered from 0; each edge once, in either direction.
        weights : array_like of float, shape (M,), optional
            Weights; 1 where absent.
        n_nodes : int, optional
            Number of nodes; the largest number plus one (or the number of labels) where absent.
        labels : sequence of hashable, optional
            Label of each node number.
        directed, loops, parallel, negative, zero
            As in :func:`graphpri.as_graph`; the arrays are taken as undirected.

        Raises
        ------
        GraphError
            For ids out of range, self-loops, parallel edges and weights that are not positive and finite, unless a
            policy says otherwise.
        """
        u, v = _as_ids(source, "source"), _as_ids(target, "target")
        if u.shape != v.shape:
            raise GraphError(f"source has {u.size} entries and target has {v.size}: give one of each per edge")
        if n_nodes is None:
            n_nodes = len(labels) if labels is not None else int(max(u.max(), v.max())) + 1 if u.size else 0
        if weights is not None and np.shape(weights := np.asarray(weights)) != u.shape:
            raise GraphError(f"weights of shape {weights.shape} do not fit {u.size} edges: give one for each")
        attributes = {} if weights is None else {"weight": weights}
        table = EdgeTable(n_nodes, u, v, labels=labels, edge_attributes=attributes)
        return table.canonical(directed=directed, loops=loops, parallel=parallel, negative=negative, zero=zero).graph

    def __repr__(self) -> str:
        kind = f"weighted by {self.weight_name!r}" if self.is_weighted else "unweighted"
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {kind})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows: list[tuple[str, str | int | float]] = [
            ("nodes", self.n_nodes),
            ("edges", self.n_edges),
            ("weights", repr(self.weight_name) if self.is_weighted else "unweighted"),
            ("components", self.components()[0]),
            ("largest degree", int(self.degrees().max(initial=0))),
        ]
        return html_table(["graph", ""], rows)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges M."""
        return self.source.size

    @property
    def is_weighted(self) -> bool:
        """Whether the edges carry weights (even if all of them are equal)."""
        return self.weight_name is not None

    def label(self, node: int) -> Hashable:
        """Label of a node number."""
        node = whole("node", node, 0, self.n_nodes - 1)
        return int(node) if self.labels is None else plain_label(self.labels[node])

    def edge_labels(self, edge: int) -> tuple[Hashable, Hashable]:
        """Labels of the two ends of an edge number."""
        edge = whole("edge", edge, 0, self.n_edges - 1)
        return self.label(int(self.source[edge])), self.label(int(self.target[edge]))

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # without what is cached

    def degrees(self) -> NDArray[np.int64]:
        """Number of edges at each node, shape (N,)."""
        return self._degrees.copy()

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        ends = np.bincount(self.source, minlength=self.n_nodes)
        return ends + np.bincount(self.target, minlength=self.n_nodes)

    def strengths(self, y: FloatArray | None = None) -> FloatArray:
        """Sum of the weights at each node, shape (N,); `y`, shape (M,), replaces the graph's own weights.

        Several weightings, shape (B, M), give sums of shape (B, N).
        """
        y = self.weights if y is None else edge_values(self, "y", y, "buif", several=True)
        return self.node_sums(y, y)

    def node_sums(self, at_source: FloatArray, at_target: FloatArray) -> FloatArray:
        """Sum at each node of what every edge brings to either end, shapes (M,) to (N,) or (B, M) to (B, N)."""
        at_source, at_target = (
            edge_values(self, name, values, "buif", several=True)
            for name, values in (("at_source", at_source), ("at_target", at_target))
        )
        ends = [(self.source, at_source), (self.target, at_target)]
        if at_source.ndim == 1:
            sums = [np.bincount(nodes, values, self.n_nodes) for nodes, values in ends]
            return cast("FloatArray", sums[0] + sums[1])
        size = (len(at_source), self.n_nodes)
        first = self.n_nodes * np.arange(size[0])[:, None]
        sums = [np.bincount((first + nodes).ravel(), values.ravel(), size[0] * size[1]) for nodes, values in ends]
        return cast("FloatArray", (sums[0] + sums[1]).reshape(size))

    def edge_keys(self) -> NDArray[np.int64]:
        """One number per edge, ascending, that two graphs on the same nodes share, shape (M,)."""
        return self.source.astype(np.int64) * self.n_nodes + self.target

    @cached_property
    def neighbours(self) -> Neighbours:
        """Neighbours of each node in ascending order, and the edges to them."""
        # Edges are sorted, so that with smaller neighbours first the rows come out sorted without a sort.
        ends = np.concatenate([self.target, self.source]), np.concatenate([self.source, self.target])
        edges = np.arange(self.n_edges, dtype=id_dtype(self.n_edges))
        rows = _rows(*ends, np.concatenate([edges, edges]), self.n_nodes)
        return Neighbours(rows.indptr, rows.indices, rows.data)

    def adjacency(self, weights: FloatArray | None = None) -> sp.csr_array:
        """Symmetric weighted adjacency matrix, shape (N, N); `weights` replaces the graph's own."""
        w = self.weights if weights is None else edge_values(self, "weights", weights, "buif")
        start, node, edge = self.neighbours
        return sp.csr_array((w[edge], node.copy(), start.copy()), shape=(self.n_nodes, self.n_nodes))

    def laplacian(self, weights: FloatArray | None = None) -> sp.csr_array:
        """Graph Laplacian ρ = D − A as a sparse matrix, shape (N, N)."""
        a = self.adjacency(weights)
        return sp.csr_array(sp.diags_array(np.asarray(a.sum(axis=1)).ravel()) - a)

    def components(self, mask: BoolArray | None = None) -> tuple[int, NDArray[np.int32]]:
        """Number of connected components and the component of each node, with the masked edges only."""
        if mask is None:
            return self._components[0], self._components[1].copy()
        mask = edge_values(self, "mask", mask, "b")
        return _components(self.n_nodes, self.source[mask], self.target[mask])

    @cached_property
    def _components(self) -> tuple[int, NDArray[np.int32]]:
        return _components(self.n_nodes, self.source, self.target)

    def select(self, mask: BoolArray, weights: FloatArray | None = None) -> Graph:
        """The graph of the edges in `mask` on the same nodes.

        Parameters
        ----------
        mask : ndarray of bool, shape (M,)
            Edges to keep.
        weights : ndarray of float64, shape (M,), optional
            New weights of all M edges; those of dropped edges are not read.
        """
        mask = np.asarray(mask)
        if mask.shape != (self.n_edges,):
            raise GraphError(f"a mask of shape {mask.shape} does not fit {self.n_edges} edges")
        if mask.dtype != bool:
            mask = edge_values(self, "mask", mask, "biuf").astype(bool)
        u, v = self.source[mask], self.target[mask]
        if weights is not None:
            weights = edge_values(self, "weights", weights, "buif")
            return replace(self, source=u, target=v, weights=weights[mask], weight_name=self.weight_name or "weight")
        kept = self.weights[mask] if self.is_weighted else unit_weights(u.size)
        return replace(self, source=u, target=v, weights=kept)


def edge_values(graph: Graph, name: str, values: Any, kinds: str, *, several: bool = False) -> NDArray[Any]:
    """An argument that has a value for every edge, perhaps in `several` rows, of one of some kinds of dtype."""
    is_array = isinstance(values, np.ndarray)
    fits = is_array and values.shape[-1:] == (graph.n_edges,) and values.ndim <= 1 + several
    if not fits or values.dtype.kind not in kinds:
        found = f"one of shape {values.shape} and type {values.dtype}" if is_array else type(values).__name__
        what = "true or false" if kinds == "b" else "numbers"
        raise GraphError(f"{name} must be an array of {graph.n_edges} {what}, one for every edge, not {found}")
    return values


@inlined
def join(parent: NDArray[Any], a: Any, b: Any) -> None:
    """Join the sets of two nodes: union–find, paths halved (Tarjan and van Leeuwen, J. ACM 1984)."""
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    while parent[b] != b:
        parent[b] = parent[parent[b]]
        b = parent[b]
    parent[max(a, b)] = min(a, b)


@compiled
def joined_sets(n_nodes: int, u: IntArray, v: IntArray) -> tuple[int, NDArray[np.int32]]:
    """Number of components, in the order of their first nodes, and that of each node."""
    parent = np.arange(n_nodes).astype(np.int32)
    for e in range(u.size):
        join(parent, u[e], v[e])
    count = 0
    for i in range(n_nodes):
        # A parent comes before its children, and has the number of its component by then.
        if parent[i] == i:
            parent[i] = count
            count += 1
        else:
            parent[i] = parent[parent[i]]
    return count, parent


def _components(n_nodes: int, u: IntArray, v: IntArray) -> tuple[int, NDArray[np.int32]]:
    if u.size >= LARGE_GRAPH and n_nodes < 2**31:
        return joined_sets(n_nodes, read_only(u), read_only(v))
    links = sp.coo_array((np.ones(u.size, np.int8), (u, v)), shape=(n_nodes, n_nodes))
    count, member = connected_components(links, directed=False)
    return int(count), member


def places_within(member: NDArray[np.integer[Any]], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of nodes of each of `count` components, and the place of each node in its own, in the order of nodes."""
    sizes = np.bincount(member, minlength=count)
    place = np.empty(member.size, np.int64)
    place[np.argsort(member, kind="stable")] = np.arange(member.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return sizes, place


STACK_ENTRIES = 1 << 22
"""Entries of the matrices of small components that are worked on at a time."""


class Stack(NamedTuple):
    """Components of one size, whose matrices are worked on together.

    `nodes`, of shape (c, size), has the nodes of each in ascending order; `slot` says in which of them each node of
    the graph lies, -1 where in none, and `place` where it stands in its component.
    """

    nodes: Int64Array
    slot: Int64Array
    place: Int64Array

    def laplacians(self, graph: Graph, y: FloatArray) -> FloatArray:
        """Laplacians of the components with edge weights y, shape (c, size, size); edges must not leave them."""
        inside = np.flatnonzero((self.slot[graph.source] >= 0) & (y > 0))
        u, v = graph.source[inside], graph.target[inside]
        out = np.zeros((*self.nodes.shape, self.nodes.shape[1]))
        out[self.slot[u], self.place[u], self.place[v]] = -y[inside]
        out[self.slot[u], self.place[v], self.place[u]] = -y[inside]
        index = np.arange(self.nodes.shape[1])
        out[:, index, index] = -out.sum(axis=2)
        return out


def stacks(member: IntArray, most: int | None = None) -> Iterator[Stack]:
    """Components of at least two nodes, and of at most `most`, by their size; `member` is the component of each node.

    Those of one size that fill more than `STACK_ENTRIES` come in several stacks.
    """
    sizes, place = places_within(member, 0)
    order, first = np.argsort(member, kind="stable"), np.cumsum(sizes) - sizes
    for size in np.unique(sizes[(sizes > 1) & (sizes <= (most or member.size))]):
        every = np.flatnonzero(sizes == size)
        pieces = every.size * int(size) ** 2 // STACK_ENTRIES
        for batch in np.array_split(every, min(max(1, pieces), every.size)):
            slot_of = np.full(sizes.size, -1)
            slot_of[batch] = np.arange(batch.size)
            yield Stack(order[first[batch][:, None] + np.arange(size)], slot_of[member], place)


class Canonical(NamedTuple):
    """A canonical graph and how the table it came from maps to it.

    ``edges[i]`` is the number in `graph` of the i-th distinct edge of the table in order of first
    appearance, ``rows[i]`` the table's row where it first stands, and ``nodes[j]`` the number in
    `graph` of the table's node j. Each of them is an array of int, or ``slice(None)`` where the numbers are
    0, 1, 2 and so on: either way an index, so that ``x[edges]`` brings what belongs to the graph's edges into
    the table's order (as a view of x in the second case). `notes` says what the policies did and where the
    weights come from, `reweighted` whether some edge has another weight than its first row.
    """

    graph: Graph
    edges: Order
    rows: Order
    nodes: Order
    reweighted: bool
    notes: tuple[str, ...]


class Header(NamedTuple):
    """The first row of a table of rows, so that it can be written as it was.

    Parameters
    ----------
    keys : tuple of str
        For each column the edge attribute that it holds; those of the ends mean nothing.
    shown : tuple of str
        What the columns were called.
    ends : (int, int)
        Which columns hold source and target.
    """

    keys: tuple[str, ...]
    shown: tuple[str, ...]
    ends: tuple[int, int]


@checked
@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Edges as a user or a file gave them: one row an edge, in their order, with attributes.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    source, target : ndarray of int, shape (R,)
        Node numbers (positions in `labels`) of the ends of each row.
    labels : sequence of hashable or None
        Node labels in the user's order; None where node i is called i. Labels that can't be sorted the
        same way in every process, such as objects that print their memory address, stay in this order.
    directed : bool
        Whether a row is an arc.
    edge_attributes : mapping of str to sequence
        Columns of length R; None marks a missing entry in a column of objects.
    node_attributes : mapping of str to sequence
        Columns of length `n_nodes`, likewise.
    graph_attributes : mapping
        Attributes of the whole graph.
    row_name : callable, optional
        Says where a row stands (``"line 17"``), for error messages.
    notes : tuple of str
        What reading did to the edges; :meth:`canonical` says it with what it does itself.
    header : Header, optional
        How the columns were called and ordered in the file that the table was read from.
    unclear : str, optional
        A column that may be weights as well as something else, such as times: :meth:`canonical` refuses to guess.
    matrix : bool
        Whether rows are the entries of an adjacency matrix, whose self-loops are its diagonal.

    Examples
    --------
    >>> rows = np.array([0, 1, 0]), np.array([1, 0, 2])
    >>> table = EdgeTable(3, *rows, labels=["a", "b", "c"], edge_attributes={"calls": [4, 1, 2]})
    >>> joined = table.canonical(weight="calls", parallel="sum")
    >>> joined.graph.weights, joined.notes
    (array([5., 2.]), ("weights: 'calls'", '1 parallel edge joined, weights added'))
    """

    n_nodes: int
    source: IntArray
    target: IntArray
    labels: Sequence[Hashable] | None = None
    directed: bool = False
    edge_attributes: Mapping[str, Sequence[Any] | NDArray[Any]] = field(default_factory=dict)
    node_attributes: Mapping[str, Sequence[Any] | NDArray[Any]] = field(default_factory=dict)
    graph_attributes: Mapping[str, Any] = field(default_factory=dict)
    row_name: Callable[[int], str] | None = None
    notes: tuple[str, ...] = ()
    header: Header | None = None
    unclear: str | None = None
    matrix: bool = False

    def __repr__(self) -> str:
        columns = ", ".join(map(repr, self.edge_attributes)) or "none"
        kind = "arcs" if self.directed else "edges"
        return f"EdgeTable({self.n_nodes} nodes, {self.source.size} {kind}, attributes of edges: {columns})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows."""
        few = min(_SHOWN_ROWS, self.source.size)
        columns = {name: values[:few] for name, values in self.edge_attributes.items()}
        rows = [
            [
                *(str(self.label(int(ends[r]))) for ends in (self.source, self.target)),
                *(str(c[r]) for c in columns.values()),
            ]
            for r in range(few)
        ]
        return html_table(["source", "target", *columns], rows) + f"<p>{escape(repr(self))}</p>"

    def __post_init__(self) -> None:
        _check_shapes(self.n_nodes, self.source, self.target, None, self.labels)

    def label(self, node: int) -> Hashable:
        """Label of a node number of this table."""
        node = whole("node", node, 0, self.n_nodes - 1)
        return int(node) if self.labels is None else plain_label(self.labels[node])

    @checked
    def canonical(
        self,
        *,
        weight: str | None = "weight",
        directed: Directed = "refuse",
        loops: Loops = "refuse",
        parallel: Parallel = "refuse",
        negative: Negative = "refuse",
        zero: Zero = "refuse",
    ) -> Canonical:
        """Check the table and bring it into canonical form.

        Parameters
        ----------
        weight : str or None
            Column that holds the weights, where there is one; None ignores weights. A name other than
            ``"weight"`` must exist. A row without an entry weighs 1, and a note says so.
        directed : {"refuse", "symmetrize", "average"}
            What to do with a directed table: opposite arcs become one edge, their weights added, or averaged,
            where a missing direction counts 0. Without weights the edge has none either.
        loops : {"refuse", "drop"}
            What to do with self-loops.
        parallel : {"refuse", "sum", "max", "first"}
            What to do with rows that join the same two nodes (in the same direction, where rows are arcs).
            ``"sum"`` adds their weights; where the table has none, every row counts 1, so that an edge
            weighs as much as it has rows, and the weights are called ``"multiplicity"``.
        negative : {"refuse", "abs", "drop"}
            What to do with rows of negative weight, before any are joined.
        zero : {"refuse", "drop"}
            What to do with rows of weight 0.

        Raises
        ------
        GraphError
            For a directed table, self-loops, parallel edges, duplicate labels, and weights that are
            not positive and finite numbers, unless a policy says otherwise.
        OptionError
            For an unknown policy or weight column.
        """
        check_policies(directed=directed, loops=loops, parallel=parallel, negative=negative, zero=zero)
        self._check_size()
        nodes, labels = self._number_nodes()
        is_loop = self._check_ends()
        if self.directed and directed == "refuse":
            raise GraphError(
                f"the graph is directed ({self.source.size} arc{'s' * (self.source.size > 1)}), and the entropies are "
                f"defined for undirected graphs: pass {setting('directed', 'symmetrize')} to join opposite arcs, "
                "adding "
                "their weights"
            )
        if self.unclear is not None and weight == "weight" and "weight" not in self.edge_attributes:
            raise self._unclear_weights(self.unclear)
        w, origin = read_weights(self.edge_attributes, weight, self._edge)
        made = None if w is None else make_positive(w, is_loop, negative, zero, self._edge)
        loop_notes = self._check_loops(is_loop, loops)
        w = None if made is None else made.weights
        rows = _staying(is_loop if loop_notes else None, None if made is None else made.dropped)
        dtype = id_dtype(self.n_nodes)
        u, v = (
            (ids.astype(dtype, copy=False) if isinstance(nodes, slice) else nodes[ids])[rows]
            for ids in (self.source, self.target)
        )
        found = sort_rows(u, v, rows, directed=self.directed)
        self._check_parallel(found, parallel)
        name = None if w is None else weight
        if counted := w is None and weight is not None and parallel == "sum" and not found.distinct:
            w, name = np.ones(self.source.size), MULTIPLICITY
            what = "arcs" if self.directed else "parallel edges"
            origin = f"weights: {MULTIPLICITY!r}, the number of {what} joined"
        edges, firsts = _appearance(found, rows, self.source.size)
        low, high = (x if found.distinct else x[found.first] for x in (found.low, found.high))
        low, high = _owned(low, self.source), _owned(high, self.target)
        weights = unit_weights(low.size)
        if w is not None:
            joined = self._join(found, taken(w, found.rows), parallel)
            if self.directed and directed == "average" and not counted:
                joined = joined * 0.5
            weights = _owned(joined, self.edge_attributes.get(name or ""))
        graph = Graph(self.n_nodes, low, high, weights, labels, name)
        notes = (
            origin,
            *self.notes,
            *loop_notes,
            *([] if made is None else made.notes),
            *self._join_notes(
                found, "count" if counted else parallel, weighted=w is not None, average=directed == "average"
            ),
        )
        halved = self.directed and directed == "average"
        changed = w is not None and (not found.distinct or halved or (made is not None and made.changed))
        return Canonical(graph, edges, firsts, nodes, changed, notes)

    def _unclear_weights(self, column: str) -> GraphError:
        where = "" if self.row_name is None else f" ({self.row_name(0)})"
        return GraphError(
            f"{column} has no name and looks like time stamps, from {self.edge_attributes[column][0]} on{where}: pass "
            f"{setting('weight', column)} if it holds weights, {setting('weight', None)} if it holds times, to be "
            "ignored; or name the columns in a first row"
        )

    def _check_size(self) -> None:
        """Refuse tables beyond the library's limits, and those that there is not the memory for."""
        n, size = self.n_nodes, self.source.size
        if size > MOST_EDGES:
            raise GraphError(
                f"{size} edges are too many: a graph can have {MOST_EDGES}, as many as 4-byte numbers count"
            )
        if n > _MANY:
            remedy = "number the nodes without gaps, if most have no edge, with their names in labels"
            require(_NODE_BYTES * n, f"a graph of {n} nodes", remedy)

    def _number_nodes(self) -> tuple[Order, Sequence[Hashable] | None]:
        """Canonical number of each node, and the labels in canonical order."""
        if self.labels is None:
            return EVERY, None
        order, labels = order_labels(self.labels)
        if np.array_equal(order, np.arange(self.n_nodes)):
            return EVERY, labels
        nodes = np.empty(self.n_nodes, id_dtype(self.n_nodes))
        nodes[order] = np.arange(self.n_nodes)
        return nodes, labels

    def _check_ends(self) -> BoolArray:
        """Refuse ends that are no nodes; which rows are self-loops."""
        u, v, top = self.source, self.target, self.n_nodes - 1
        is_loop = np.empty(u.size, bool)

        def look(start: int, stop: int) -> bool:
            a, b = u[start:stop], v[start:stop]
            np.equal(a, b, out=is_loop[start:stop])
            return bool(min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= top)

        if not all(in_chunks(look, u.size)):
            row = int(np.argmax((np.minimum(u, v) < 0) | (np.maximum(u, v) > top)))
            where = self.row_name(row) if self.row_name else f"edge number {row}"
            raise GraphError(f"{where} joins {u[row]} and {v[row]}, but the nodes are numbered 0 to {top}")
        return is_loop

    def _check_loops(self, is_loop: BoolArray, loops: Loops) -> list[str]:
        """Refuse self-loops, or note that they are dropped."""
        count = int(np.count_nonzero(is_loop))
        if not count:
            return []
        if loops == "refuse":
            place = " on the diagonal of the adjacency matrix" if self.matrix else ""
            raise GraphError(
                f"{_count(count, 'self-loop')}{place}, the first at {self._edge(int(np.argmax(is_loop)))}: "
                f"pass {setting('loops', 'drop')} to leave them out"
            )
        return [f"{_count(count, 'self-loop')} dropped"]

    def _check_parallel(self, found: SortedRows, parallel: Parallel) -> None:
        if parallel != "refuse" or not found.has_repeats:
            return
        repeats = listed(found.rows, found.repeat)
        raise GraphError(
            f"{_count(repeats.size, 'parallel edge')}, the first repeat at {self._edge(int(repeats.min()))}: "
            f"pass {setting('parallel', 'sum', 'max', 'first')} to join them"
        )

    def _join(self, found: SortedRows, w: FloatArray, parallel: Parallel) -> FloatArray:
        joined = join_weights(w, found, "sum" if parallel == "refuse" else parallel)
        if not found.distinct and not np.isfinite(joined).all():
            row = int(listed(found.rows, found.first)[int(np.argmin(np.isfinite(joined)))])
            raise GraphError(f"the weights joined into {self._edge(row)} add up beyond the range of float64: rescale")
        return joined

    def _join_notes(self, found: SortedRows, how: str, *, weighted: bool, average: bool) -> list[str]:
        """Which rows were joined, and what became of their weights."""
        notes: list[str] = []
        repeats = 0 if found.distinct else int(np.count_nonzero(found.repeat))
        pairs = 0 if found.distinct else int(np.count_nonzero(~found.first)) - repeats
        if self.directed and pairs:
            mean = "weights averaged (a missing direction counts 0)" if average and how != "count" else "weights added"
            if how == "count":
                mean = "each counted"
            added = f", {mean}" if weighted else ", each pair counts once"
            notes.append(f"directed graph symmetrised: {_count(pairs, 'pair')} of opposite arcs joined{added}")
        elif self.directed:
            arcs = int(np.count_nonzero(found.first))
            halved = ", weights halved" if weighted and average and how != "count" else ""
            notes.append(
                f"directed graph symmetrised: {_count(arcs, 'arc')} taken as edges, no opposite arcs to join{halved}"
            )
        if repeats:
            kept = _JOINED[how] if weighted else "their number not kept"
            notes.append(f"{_count(repeats, 'parallel edge')} joined, {kept}")
        return notes

    def _edge(self, row: int) -> str:
        where = f" ({self.row_name(row)})" if self.row_name else ""
        return f"edge ({self.label(int(self.source[row]))!r}, {self.label(int(self.target[row]))!r}){where}"


def _staying(*dropped: BoolArray | None) -> Order:
    """Rows that none of the masks drops."""
    masks = [mask for mask in dropped if mask is not None]
    return np.flatnonzero(~np.logical_or.reduce(masks)) if masks else EVERY


def check_chosen(source: object, target: object) -> None:
    """Refuse one end without the other, with an OptionError."""
    if (source is None) != (target is None):
        there, missing = ("source", "target") if target is None else ("target", "source")
        value = source if target is None else target
        raise OptionError(f"{argument(there, value)} names one end of the edges: pass {setting(missing)} as well")


def check_policies(**given: object) -> None:
    """Refuse a policy that there isn't, with an OptionError that lists those there are."""
    for name, value in given.items():
        chosen(name, value, _POLICIES[name])


_COUNTABLE = 2**62


def _check_shapes(n: int, source: Any, target: Any, weights: Any, labels: Sequence[Any] | None) -> None:
    """Refuse arrays of edges that don't belong together."""
    whole("n_nodes", n, 0, _COUNTABLE)
    for name, array in (("target", target), ("weights", weights)):
        if array is not None and array.shape != source.shape:
            raise OptionError(f"{name} of shape {array.shape} does not fit source of shape {source.shape}")
    if labels is not None and len(labels) != n:
        raise GraphError(f"{len(labels)} labels for {n} nodes: n_nodes and labels must agree")


def unit_weights(size: int) -> FloatArray:
    """Read-only array of ones that takes no memory."""
    return np.broadcast_to(np.float64(1.0), (size,))


def _appearance(found: SortedRows, rows: Order, size: int) -> tuple[Order, Order]:
    """Number of each edge in order of first appearance, and the row where it first stands."""
    if found.rows is rows:
        return EVERY, rows
    place = first = cast("IntArray", found.rows) if found.distinct else listed(found.rows, found.first)
    if not (found.distinct and isinstance(rows, slice)):
        stands = np.zeros(size, bool)
        stands[first] = True
        rows = np.flatnonzero(stands)
        place = np.cumsum(stands, dtype=first.dtype)[first] - 1
    return inverse(place), rows


def _owned(array: Any, given: Any) -> Any:
    """Make an array read-only; copied before, where it is (part of) a given one that somebody may change."""
    if isinstance(given, np.ndarray) and np.may_share_memory(array, given):
        array = array.view(np.ndarray) if _is_constant(given) else array.copy()
    array.setflags(write=False)
    return array


def _is_constant(array: Any) -> bool:
    """Whether neither the array nor one that it is a view of can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return True


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _as_ids(values: ArrayLike, name: str) -> IntArray:
    ids = np.asarray(values)
    if ids.ndim != 1:
        raise GraphError(f"{name} must be one-dimensional, not of shape {ids.shape}")
    if ids.size and ids.dtype.kind not in "iu":
        raise GraphError(f"{name} holds {ids.dtype}, not integers: pass node numbers, and names as labels=")
    if ids.dtype == np.uint64 and ids.size and ids.max() > np.iinfo(np.int64).max:
        raise GraphError(f"{name} holds {ids.max()}, beyond 64-bit integers: number the nodes from 0, names in labels=")
    return ids.astype(np.int32 if ids.dtype == np.int32 else np.int64, copy=False)
