"""Compiled loops over the nodes of a large graph and eight probe vectors at a time, which fill a cache line."""

from __future__ import annotations

import numpy as np

from graphpri.compiled import compiled
from graphpri.graph import FloatArray, IntArray

WIDTH = 8
"""Number of probe vectors that move together."""


@compiled
def multiply(
    starts: IntArray,
    ends: IntArray,
    values: FloatArray,
    diagonal: FloatArray,
    x: FloatArray,
    scale: FloatArray,
    out: FloatArray,
    back: FloatArray,
    first: int,
    last: int,
) -> FloatArray:
    """Rows first…last of out ← (diagonal − A) x scale − out back; returns their part of ⟨x scale, out⟩.

    `starts`, `ends` and `values` are A in compressed rows; `scale` and `back` have an entry per probe.
    """
    product = np.zeros(WIDTH)
    for i in range(first, last):
        # One name per probe: the compiler keeps these in registers, and an array in memory.
        a = b = c = d = e = f = g = h = 0.0
        for k in range(starts[i], starts[i + 1]):
            j, w = ends[k], values[k]
            a += w * x[j, 0]
            b += w * x[j, 1]
            c += w * x[j, 2]
            d += w * x[j, 3]
            e += w * x[j, 4]
            f += w * x[j, 5]
            g += w * x[j, 6]
            h += w * x[j, 7]
        for p, neighbours in enumerate((a, b, c, d, e, f, g, h)):
            y = (diagonal[i] * x[i, p] - neighbours) * scale[p] - out[i, p] * back[p]
            out[i, p] = y
            product[p] += x[i, p] * scale[p] * y
    return product


@compiled
def subtract(x: FloatArray, factor: FloatArray, out: FloatArray, first: int, last: int) -> FloatArray:
    """Rows first…last of out ← out − x factor; returns their part of ‖out‖²."""
    norm = np.zeros(WIDTH)
    for i in range(first, last):
        for p in range(WIDTH):
            y = out[i, p] - x[i, p] * factor[p]
            out[i, p] = y
            norm[p] += y * y
    return norm


@compiled
def shared(
    starts: IntArray,
    ends: IntArray,
    values: FloatArray,
    at_node: FloatArray,
    u: IntArray,
    v: IntArray,
    out: FloatArray,
    first: int,
    last: int,
) -> None:
    """For edges first…last: out ← Σ over common neighbours k of A_uk A_vk at_node_k; rows of A sorted.

    The neighbours of the end that has fewer are looked up among those of the other.
    """
    for m in range(first, last):
        i, j = u[m], v[m]
        if starts[i + 1] - starts[i] > starts[j + 1] - starts[j]:
            i, j = j, i
        total, low = 0.0, starts[j]
        for k in range(starts[i], starts[i + 1]):
            node, high = ends[k], starts[j + 1]
            while low < high:
                middle = (low + high) // 2
                if ends[middle] < node:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[j + 1] and ends[low] == node:
                total += values[k] * values[low] * at_node[node]
        out[m] = total


@compiled
def differences(
    u: IntArray, v: IntArray, x: FloatArray, y: FloatArray, total: FloatArray, square: FloatArray, first: int, last: int
) -> None:
    """For edges first…last: add (x_u − x_v)(y_u − y_v) of every probe to `total`, its square to `square`."""
    for m in range(first, last):
        i, j = u[m], v[m]
        for p in range(WIDTH):
            e = (x[i, p] - x[j, p]) * (y[i, p] - y[j, p])
            total[m] += e
            square[m] += e * e
