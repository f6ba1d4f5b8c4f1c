"""Compiled stable counting sort of edges by one of their nodes: imported for large graphs only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Ids = NDArray[np.integer[Any]]


def group(keys: Ids, values: Ids, n_keys: int) -> tuple[NDArray[np.int64], Ids]:
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
    start = np.zeros(n_keys + 1, np.int64)
    placed = np.empty_like(values)
    sort_by_key(keys, values, start, placed)
    return start, placed


@compiled
def sort_by_key(keys: Ids, values: Ids, start: NDArray[np.int64], placed: Ids) -> None:
    """Fill `start`, zero at first, and `placed`."""
    n = start.size - 1
    for i in range(keys.size):
        start[keys[i] + 1] += 1
    for k in range(n):
        start[k + 1] += start[k]
    for i in range(keys.size):
        k = keys[i]
        placed[start[k]] = values[i]
        start[k] += 1
    for k in range(n, 0, -1):
        start[k] = start[k - 1]
    start[0] = 0
