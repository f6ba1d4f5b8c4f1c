"""Compiled loops of selections with connectivity: imported for large graphs only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Ids = NDArray[np.integer[Any]]


@compiled
def grow_forest(
    source: Ids,
    target: Ids,
    scores: NDArray[np.floating[Any]],
    ties: NDArray[np.int64],
    label: Ids,
    allowed: NDArray[np.bool_],
    mask: NDArray[np.bool_],
) -> None:
    """Borůvka's algorithm: in each round every group of nodes takes its best edge to another group.

    `label` gives the group of each node, numbered below N, and is overwritten with the last groups; the edges taken
    are set in `mask`. A round keeps the edges that still join two groups, at least halves the number of groups,
    and depends on the order of the edges by (score, tie) alone.
    """
    n, alive = label.size, np.empty(source.size, label.dtype)
    size = 0
    for e in range(source.size):
        if allowed[e]:
            alive[size] = e
            size += 1
    best, top = np.empty(n, label.dtype), np.empty(n, scores.dtype)
    parent = np.empty(n, label.dtype)
    while True:
        best[:] = -1
        left = 0
        for i in range(size):
            e = alive[i]
            a, b = label[source[e]], label[target[e]]
            if a == b:
                continue
            alive[left] = e
            left += 1
            score = scores[e]
            if best[a] < 0 or score > top[a] or (score == top[a] and ties[e] < ties[best[a]]):
                best[a], top[a] = e, score
            if best[b] < 0 or score > top[b] or (score == top[b] and ties[e] < ties[best[b]]):
                best[b], top[b] = e, score
        size = left
        if size == 0:
            return
        for a in range(n):
            parent[a] = a
        for a in range(n):
            e = best[a]
            if e < 0 or mask[e]:
                continue
            mask[e] = True
            one, two = label[source[e]], label[target[e]]
            while parent[one] != one:
                parent[one] = parent[parent[one]]
                one = parent[one]
            while parent[two] != two:
                parent[two] = parent[parent[two]]
                two = parent[two]
            if one < two:
                parent[two] = one
            else:
                parent[one] = two
        for a in range(n):
            parent[a] = parent[parent[a]]
        for i in range(n):
            label[i] = parent[label[i]]
