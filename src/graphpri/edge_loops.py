"""Compiled loops over edges for the degree and the local entropy: node sums, corrections, slopes.

An edge e weighs y = μ (x + κ): μ is ``mu[e]``, or 1 where `mu` is None and the loop is compiled without it, x what
is kept of it, and κ the part of the original graph that the mixture adds. Loops take a piece of the edges, so that
pieces can run in threads; what they add up they return or write for their piece alone.
"""

# The type checker takes elements of arrays for arrays.
# pyright: reportArgumentType=false

from __future__ import annotations

from graphpri.compiled import compiled, inlined
from graphpri.graph import FloatArray, IntArray

_NEAR = 0.1  # relative gap of two numbers below which Λ is taken from its series


@inlined
def weight_of(mu: FloatArray | None, e: int) -> float:
    """Weight of an edge."""
    if mu is None:
        return 1.0
    return mu[e]


@compiled
def sum_ends(
    start: int, stop: int, source: IntArray, target: IntArray, mu: FloatArray | None, x: FloatArray, out: FloatArray
) -> None:
    """Add μ x of each edge to the entries of `out` at both its ends."""
    for e in range(start, stop):
        y = weight_of(mu, e) * x[e]
        out[source[e]] += y
        out[target[e]] += y


@compiled
def inverse_log_mean(x: float, y: float, log_x: float, log_y: float) -> tuple[float, float, float]:
    """Λ(x, y) = (ln x − ln y)/(x − y) and its derivatives in x and in y, given both logarithms."""
    half = x + y
    r = (x - y) / half
    if abs(r) < _NEAR:
        # ln x − ln y = 2 artanh r.
        s = r * r
        series = 1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s * (1 / 13 + s / 15))))))
        slope = r * (2 / 3 + s * (4 / 5 + s * (6 / 7 + s * (8 / 9 + s * (10 / 11 + s * (12 / 13 + s * 14 / 15))))))
        mean = 2 * series / half
        # dr/dx = 2y/(x + y)², dr/dy = −2x/(x + y)².
        return mean, (-mean + 4 * slope * y / half / half) / half, (-mean - 4 * slope * x / half / half) / half
    mean = (log_x - log_y) / (x - y)
    return mean, (1 / x - mean) / (x - y), (mean - 1 / y) / (x - y)


@compiled
def correct(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: FloatArray | None,
    x: FloatArray,
    kappa: float,
    least: float,
    degrees: FloatArray,
    logs: FloatArray,
    pull: FloatArray,
) -> tuple[float, float]:
    """Σ y² Λ(d_u, d_v) and Σ 2 y Λ μ over the edges; adds y² ∂Λ/∂d to `pull` (where it is not empty).

    Edges of a weight below `least` are passed over.
    """
    total = along = 0.0
    for e in range(start, stop):
        m = weight_of(mu, e)
        y = m * (x[e] + kappa)
        if y > least:
            u, v = source[e], target[e]
            mean, by_u, by_v = inverse_log_mean(degrees[u], degrees[v], logs[u], logs[v])
            total += y * (y * mean)
            along += 2 * m * (y * mean)
            if pull.size:
                pull[u] += y * (y * by_u)
                pull[v] += y * (y * by_v)
    return total, along


@compiled
def slopes(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: FloatArray | None,
    node: FloatArray,
    constant: float,
    out: FloatArray,
) -> None:
    """Write μ (node_u + node_v + constant) of each edge."""
    for e in range(start, stop):
        out[e] = weight_of(mu, e) * (node[source[e]] + node[target[e]] + constant)


@compiled
def add_own_slopes(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: FloatArray | None,
    x: FloatArray,
    kappa: float,
    least: float,
    degrees: FloatArray,
    logs: FloatArray,
    factor: float,
    out: FloatArray,
) -> None:
    """Add factor · μ · 2 y Λ(d_u, d_v) of each edge: what its own weight does to the correction."""
    for e in range(start, stop):
        m = weight_of(mu, e)
        y = m * (x[e] + kappa)
        if y > least:
            u, v = source[e], target[e]
            mean, _, _ = inverse_log_mean(degrees[u], degrees[v], logs[u], logs[v])
            out[e] += factor * m * (2 * y * mean)
