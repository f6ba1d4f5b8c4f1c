"""Compiled loops of the generators: imported for large graphs only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Ids = NDArray[np.integer[Any]]


@compiled
def follow_draws(
    draws: NDArray[np.int64],
    known: int,
    m: int,
    target: Ids,
    changed: NDArray[np.bool_],
    again: NDArray[np.bool_],
    taken: NDArray[np.bool_],
) -> None:
    """Set the targets of a batch of edges, and mark in `again` those that repeat a target of their node.

    Edge e is of node m + e // m; end 2e of the list of ends is that node, and end 2e + 1 the target of e. `draws` are
    the ends that the edges of the batch copy, `known` the number of the first of them. Each copies an end of an
    earlier node, so that one pass in their order finds every target set. `changed` marks the draws that are new since
    the last pass, and then the targets that are. `taken`, one entry a node, is False before and after.
    """
    for first in range(0, draws.size, m):
        new = False
        for i in range(first, first + m):
            again[i] = False
            edge = draws[i] // 2
            if draws[i] % 2 == 0:
                if changed[i]:
                    target[known + i] = m + edge // m
            else:
                changed[i] |= edge >= known and changed[edge - known]
                if changed[i]:
                    target[known + i] = target[edge]
            new |= changed[i]
        if new:
            for i in range(first, first + m):
                again[i] = taken[target[known + i]]
                taken[target[known + i]] = True
            for i in range(first, first + m):
                taken[target[known + i]] = False
