"""Compiled loops that find the numbers of integer labels which are far apart, by hashing.

Imported only for large files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Longs = NDArray[np.int64]
Codes = NDArray[np.int32]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4)


@compiled
def fill(labels: Longs, table: Longs) -> None:
    """Enter distinct labels into a table of −1, a power of two long: each number at its label's place or behind."""
    last = table.size - 1
    for i in range(labels.size):
        at = np.int64((np.uint64(labels[i]) * _SPREAD) >> np.uint64(32)) & last
        while table[at] >= 0:
            at = (at + 1) & last
        table[at] = i


@compiled
def find(ids: Longs, labels: Longs, table: Longs, found: NDArray[np.integer[Any]]) -> None:
    """The number of the label that each id is; all of them must be in the table."""
    last = table.size - 1
    for i in range(ids.size):
        at = np.int64((np.uint64(ids[i]) * _SPREAD) >> np.uint64(32)) & last
        while labels[table[at]] != ids[i]:
            at = (at + 1) & last
        found[i] = table[at]


@compiled
def number_words(
    text: NDArray[np.uint8],
    starts: Longs,
    stops: Longs,
    table: NDArray[np.int32],
    codes: NDArray[np.int32],
    firsts: Longs,
) -> int:
    """Number words in order of first appearance.

    Parameters
    ----------
    text : ndarray of uint8
    starts, stops : ndarray of int64, shape (R,)
        Where each word stands.
    table : ndarray of int32
        All −1, a power of two long.
    codes : ndarray of int32, shape (R,)
        Gets the number of each word.
    firsts : ndarray of int64, half as long as the table
        Gets the row where each word first appears.

    Returns
    -------
    int
        How many words there are; −1 where the table is too small for them.
    """
    last, count = table.size - 1, 0
    for i in range(starts.size):
        start, length = starts[i], stops[i] - starts[i]
        hashed = np.uint64(length)
        for at in range(start, start + length):
            hashed = (hashed ^ np.uint64(text[at])) * _SPREAD
        at = np.int64(hashed >> np.uint64(32)) & last
        while True:
            code = table[at]
            if code < 0:
                if count == firsts.size:
                    return -1
                table[at] = code = count
                firsts[count] = i
                count += 1
                break
            other = starts[firsts[code]]
            if stops[firsts[code]] - other == length:
                same = 0
                while same < length and text[other + same] == text[start + same]:
                    same += 1
                if same == length:
                    break
            at = (at + 1) & last
        codes[i] = code
    return count
