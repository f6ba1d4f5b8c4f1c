"""Compiled loops of edge scores: imported for large graphs only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Ids = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]


@compiled
def rank_by_node(
    nodes: Ids, starts: tuple[Ids, Ids], below: Ids, ends: tuple[Ids, Ids], counts: Ids, log: Floats
) -> Floats:
    """1 − ln r / ln d of each edge, the better side, where each node ranks its neighbours in the order of `nodes`.

    A node that comes up is the next of each of its neighbours: no node sorts. `starts` are those of the edges by
    target, which `below` lists, and of the edges by source, which stand together. ``counts[x]`` is how many
    neighbours of x came up, 0 at first, and its degree, side by side for the cache. ``log[i]`` is ln i.
    """
    (by_target, by_source), (source, target) = starts, ends
    scores = np.zeros(source.size)
    for y in nodes:
        for i in range(by_target[y], by_target[y + 1]):
            e = below[i]
            x = source[e]
            counts[x, 0] += 1
            d = counts[x, 1]
            scores[e] = max(scores[e], 1.0 - log[counts[x, 0]] / log[d] if d > 1 else 1.0)
        for e in range(by_source[y], by_source[y + 1]):
            x = target[e]
            counts[x, 0] += 1
            d = counts[x, 1]
            scores[e] = max(scores[e], 1.0 - log[counts[x, 0]] / log[d] if d > 1 else 1.0)
    return scores


@compiled
def rank_by_edge(order: Ids, source: Ids, target: Ids, counts: Ids, log: Floats) -> Floats:
    """The same where each node ranks its edges in `order`."""
    scores = np.zeros(source.size)
    for e in order:
        for x in (source[e], target[e]):
            counts[x, 0] += 1
            d = counts[x, 1]
            scores[e] = max(scores[e], 1.0 - log[counts[x, 0]] / log[d] if d > 1 else 1.0)
    return scores


@compiled
def count_triangles(first: int, last: int, start: NDArray[np.int64], head: Ids, mark: Ids, counts: Ids) -> None:
    """Add the triangles whose lowest node is in first…last to `counts`, one per arc.

    An edge is an arc from its lower node, those of node a at ``start[a]:start[a + 1]``. `mark`, one entry a node,
    is zero before and after.
    """
    for a in range(first, last):
        if start[a + 1] - start[a] < 2:
            continue
        for i in range(start[a], start[a + 1]):
            mark[head[i]] = i + 1
        for i in range(start[a], start[a + 1]):
            b = head[i]
            for j in range(start[b], start[b + 1]):
                k = mark[head[j]]
                if k > 0:
                    counts[i] += 1
                    counts[j] += 1
                    counts[k - 1] += 1
        for i in range(start[a], start[a + 1]):
            mark[head[i]] = 0
