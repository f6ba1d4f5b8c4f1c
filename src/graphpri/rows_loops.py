"""Compiled loops of the sort of edges: by the lower end, then by the higher, equal edges in the order of their rows.

Imported only for tables with very many rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Longs = NDArray[np.int64]
Rows = NDArray[np.int32]


@compiled
def count_buckets(u: Rows, v: Rows, shift: int, counts: Longs) -> None:
    """Number of rows in each bucket; the bucket of a row is its lower end without its last `shift` bits."""
    for i in range(u.size):
        counts[min(u[i], v[i]) >> shift] += 1


@compiled
def fill_buckets(u: Rows, v: Rows, start: int, shift: int, place: Longs, keys: Longs, rows: Rows) -> None:
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
def sort_bucket(keys: Longs, rows: Rows, shifts: Longs, bits: int, low: Rows, high: Rows, order: Rows) -> None:
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
def invert(order: Rows, start: int, place: Rows) -> None:
    """Note where the numbers of a piece of an order stand, its first at `start`."""
    for i in range(order.size):
        place[order[i]] = start + i
