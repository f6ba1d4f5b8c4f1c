"""Compiled loops of Laplacian systems and resistances, for several vectors at once: imported for large graphs only.

Vectors are the columns of arrays of shape (n, k), so that what an edge reads of a node lies together. Weights come
with a stride, 0 where one number stands for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Ids = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
WIDTH = 8
"""Columns of the loops over edges: a number that the compiler knows is worth a factor of two."""


@compiled
def multiply_rows(
    first: int, last: int, start: NDArray[np.int64], head: Ids, weight: Floats, stride: int, d: Floats, x: Floats,
    out: Floats,
) -> None:  # fmt: skip
    """Rows first…last of L x, the arcs of node i being those at ``start[i]:start[i + 1]`` and d its strength."""
    k = x.shape[1]
    for i in range(first, last):
        for j in range(k):
            out[i, j] = d[i, 0] * x[i, j]
        for a in range(start[i], start[i + 1]):
            w, h = weight[a * stride], head[a]
            for j in range(k):
                out[i, j] -= w * x[h, j]


@compiled
def add_signed(u: Ids, v: Ids, root: Floats, stride: int, signs: NDArray[np.uint8], out: Floats) -> None:
    """Add √μ_m (e_u − e_v), with the sign of bit j of ``signs[m]`` (set: plus), to each column j of `out`."""
    for m in range(u.size):
        r, one, two, bits = root[m * stride], u[m], v[m], signs[m]
        for j in range(WIDTH):
            x = r * (2.0 * ((bits >> j) & 1) - 1.0)
            out[one, j] += x
            out[two, j] -= x


@compiled
def add_squares(
    first: int, last: int, u: Ids, v: Ids, weight: Floats, stride: int, x: Floats, y: Floats, total: Floats,
    control: Floats,
) -> tuple[float, float]:  # fmt: skip
    """Add Σ_j μ (x_u − x_v)² to `total` and the same of y to `control`; sums of products a·b and b·b of the terms."""
    both = square = 0.0
    for m in range(first, last):
        w, one, two = weight[m * stride], u[m], v[m]
        all_a = all_b = 0.0
        for j in range(WIDTH):
            a, b = x[one, j] - x[two, j], y[one, j] - y[two, j]
            a, b = w * a * a, w * b * b
            all_a += a
            all_b += b
            both += a * b
            square += b * b
        total[m] += all_a
        control[m] += all_b
    return both, square
