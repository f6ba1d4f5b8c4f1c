"""Compiled moves of the solver for large graphs: one edge after the other, each seeing the degrees as they are.

At fixed trace, J is a sum over nodes of a potential of the degree, less a term of each edge (the local entropy's).
Both arrays that describe it are made by :mod:`graphpri.solvers.sweeps`:

``near``, shape (N, 2): change of a node's potential when an edge of the common weight comes and when one goes. A
look at an edge needs little else, so that these stay in the cache.

``nodes``, shape (N, 2): degree in the kept graph, and what the mixture adds to it.

``bend``, shape (N, 3), for the local entropy: the strength of the neighbours' terms on both sides, and the smallest
degree that they are followed to.

All three are float32 where the edges weigh the same: every result is checked by J itself.

``c``: the factors of F of the kept graph and of the mixture, α, the barrier's floor, dJ/dt, and 1 + 2κ.

``extra``, float32 of shape (M,): what keeping each edge costs besides, where another entropy corrects this one.

`bend` is None for the degree entropy, `mu`, the edges' weights, where all of them weigh 1, and `extra` mostly: loops
are then compiled without what they don't need.
"""

# The type checker takes elements of arrays for arrays.
# pyright: reportArgumentType=false

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled, inlined
from graphpri.edge_loops import weight_of
from graphpri.graph import FloatArray, IntArray

Nodes = NDArray[np.float32] | NDArray[np.float64]
Coefficients = tuple[float, float, float, float, float, float]
Weights = FloatArray | None
Extra = NDArray[np.float32] | None
State = NDArray[np.uint8]
"""0 for a dropped edge and 1 for a kept one, plus 2 where it must stay as it is."""


@compiled
def sum_of_logs(d: float, base: float, on_kept: float, on_mixed: float, least: float, c: Coefficients) -> float:
    """The part of J that hangs on the degree of one node, from numbers."""
    m = d + base
    log_d = np.log(d) if d > 0 else 0.0
    log_m = np.log(m) if m > 0 else 0.0
    value = -c[0] * d * log_d - c[1] * m * log_m
    if c[2] > 0:
        value -= c[2] * np.log(max(d, c[3]))
    if least > 0:
        log_d = log_d if d > least else np.log(least)
        log_m = log_m if m > least else np.log(least)
        value -= c[0] * on_kept * log_d + c[1] * on_mixed * log_m
    return value


@inlined
def potential(d: float, i: int, nodes: Nodes, bend: Nodes | None, c: Coefficients) -> float:
    """The part of J that hangs on the degree of one node."""
    if bend is None:
        return sum_of_logs(d, np.float64(nodes[i, 1]), 0.0, 0.0, 0.0, c)
    return sum_of_logs(d, np.float64(nodes[i, 1]), bend[i, 0], bend[i, 1], bend[i, 2], c)


@compiled
def look_around(start: int, stop: int, near: Nodes, nodes: Nodes, bend: Nodes | None, c: Coefficients) -> None:
    """Fill in `near` for many nodes, where all edges weigh 1."""
    for i in range(start, stop):
        d = np.float64(nodes[i, 0])
        value = potential(d, i, nodes, bend, c)
        near[i, 0] = potential(d + 1, i, nodes, bend, c) - value
        near[i, 1] = potential(d - 1, i, nodes, bend, c) - value if d > 0.5 else np.inf


@inlined
def moved(i: int, step: float, equal: bool, near: Nodes, nodes: Nodes, bend: Nodes | None, c: Coefficients) -> None:
    """Follow a change of one degree."""
    d = max(nodes[i, 0] + step, 0.0)
    nodes[i, 0] = d
    if equal:
        further = np.inf
        if d + step > -0.5 * abs(step):
            further = potential(max(d + step, 0.0), i, nodes, bend, c) - potential(d, i, nodes, bend, c)
        if step > 0:
            near[i, 1] = -near[i, 0]
            near[i, 0] = further
        else:
            near[i, 0] = -near[i, 1]
            near[i, 1] = further


@inlined
def inverse_mean(x: float, y: float) -> float:
    """About Λ(x, y): exact where x = y, and within 1 % up to a ratio of nine."""
    return 3 / (2 * np.sqrt(x * y) + 0.5 * (x + y))


@inlined
def own_term(
    i: int, j: int, m: float, kept: int, more: float, nodes: Nodes, bend: Nodes | None, c: Coefficients
) -> float:
    """Change of the edge's own term in J when it flips, `more` of it arriving at node i; 0 for the degree entropy."""
    square = 0.0
    if bend is not None:
        x = nodes[i, 0] + (1 - kept) * more
        y = nodes[j, 0] + (1 - kept) * m
        mixed = c[1] * c[5] * inverse_mean(x + nodes[i, 1], y + nodes[j, 1])
        square = m * (m * (c[0] * inverse_mean(x, y) + mixed))
    return (2 * kept - 1) * square


@inlined
def node_change(
    i: int, m: float, kept: int, equal: bool, near: Nodes, nodes: Nodes, bend: Nodes | None, c: Coefficients
) -> float:
    """Change of one node's potential when an edge of weight m comes or goes."""
    value = 0.0
    if equal:
        value = np.float64(near[i, kept])
    else:
        d = np.float64(nodes[i, 0])
        after = max(d + (1 - 2 * kept) * m, 0.0)
        value = potential(after, i, nodes, bend, c) - potential(d, i, nodes, bend, c)
    return value


@inlined
def extra_of(extra: Extra, e: int, kept: int) -> float:
    """Change of what an edge costs besides when it flips."""
    if extra is None:
        return 0.0
    return (1 - 2 * kept) * extra[e]


@inlined
def change(
    e: int,
    i: int,
    j: int,
    m: float,
    kept: int,
    equal: bool,
    extra: Extra,
    near: Nodes,
    nodes: Nodes,
    bend: Nodes | None,
    c: Coefficients,
) -> float:
    """Change of J when the edge flips."""
    total = node_change(i, m, kept, equal, near, nodes, bend, c)
    total += node_change(j, m, kept, equal, near, nodes, bend, c)
    slope = 2 * m * c[4]
    total += extra_of(extra, e, kept)
    return total + own_term(i, j, m, kept, m, nodes, bend, c) + (1 - 2 * kept) * slope


@compiled
def sweep(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    near: Nodes,
    nodes: Nodes,
    bend: Nodes | None,
    c: Coefficients,
    price: float,
) -> None:
    """Keep each edge exactly where that costs J less than `price`."""
    equal = mu is None
    for e in range(start, stop):
        if state[e] > 1:
            continue
        i, j, m = source[e], target[e], weight_of(mu, e)
        kept = np.int64(state[e])
        sign = 1 - 2 * kept
        if change(e, i, j, m, kept, equal, extra, near, nodes, bend, c) < sign * price:
            state[e] = 1 - kept
            moved(i, sign * m, equal, near, nodes, bend, c)
            moved(j, sign * m, equal, near, nodes, bend, c)


@compiled
def spread(state: State, keep: int, among: int) -> None:
    """Keep `keep` of the `among` edges that may flip, evenly over their order."""
    owed = among // 2
    for e in range(state.size):
        if state[e] <= 1:
            owed += keep
            state[e] = 1 if owed >= among else 0
            if owed >= among:
                owed -= among


@compiled
def prices(
    start: int,
    stop: int,
    stride: int,
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    near: Nodes,
    nodes: Nodes,
    bend: Nodes | None,
    c: Coefficients,
    out: NDArray[np.float32],
) -> None:
    """What keeping each stride-th edge costs J, with the edge gone where it is kept; ∓∞ where it can't flip."""
    for p in range(start, stop):
        e = p * stride
        kept = np.int64(state[e] & 1)
        if state[e] > 1:
            out[p] = (1 - 2 * kept) * np.inf
        else:
            flip = change(e, source[e], target[e], weight_of(mu, e), kept, mu is None, extra, near, nodes, bend, c)
            out[p] = (1 - 2 * kept) * flip


@compiled
def collect(
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    near: Nodes,
    nodes: Nodes,
    bend: Nodes | None,
    c: Coefficients,
    kept: int,
    limit: float,
    edges: NDArray[np.int64],
    changes: FloatArray,
) -> int:
    """List the edges, kept or dropped, whose flip changes J by at most `limit`, until the list is full."""
    found = 0
    for e in range(source.size):
        if state[e] == kept:
            flip = change(e, source[e], target[e], weight_of(mu, e), kept, mu is None, extra, near, nodes, bend, c)
            if flip <= limit:
                if found == edges.size:
                    break
                edges[found], changes[found] = e, flip
                found += 1
    return found


@compiled
def take(
    order: NDArray[np.int64],
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    near: Nodes,
    nodes: Nodes,
    bend: Nodes | None,
    c: Coefficients,
    limit: float,
    most: int,
) -> int:
    """Flip the edges of `order`, at most `most`, that still change J by at most `limit` when their turn comes."""
    done = 0
    for e in order:
        if done == most:
            break
        i, j, m = source[e], target[e], weight_of(mu, e)
        kept = np.int64(state[e])
        sign = 1 - 2 * kept
        if change(e, i, j, m, kept, mu is None, extra, near, nodes, bend, c) <= limit:
            state[e] = 1 - kept
            moved(i, sign * m, mu is None, near, nodes, bend, c)
            moved(j, sign * m, mu is None, near, nodes, bend, c)
            done += 1
    return done


@compiled
def arcs(source: IntArray, target: IntArray, place: NDArray[np.int64], edge: IntArray, other: IntArray) -> None:
    """Fill in the edges at each node and the nodes at their other ends; `place` moves on to the next node's."""
    for e in range(source.size):
        u, v = source[e], target[e]
        p, q = place[u], place[v]
        edge[p], other[p] = e, v
        edge[q], other[q] = e, u
        place[u], place[v] = p + 1, q + 1


@compiled
def rank(values: FloatArray, order: NDArray[np.int64]) -> None:
    """Write the places of the values from the smallest to the largest.

    By Shell's method: few nodes have many edges, and NumPy's sort takes seconds to compile.
    """
    n = values.size
    for i in range(n):
        order[i] = i
    gap = 1
    while n > 40 and 9 * gap < 4 * n:
        gap = (9 * gap) // 4 + 1
    while gap > 0:
        for i in range(gap, n):
            e, p = order[i], i
            while p >= gap and values[order[p - gap]] > values[e]:
                order[p] = order[p - gap]
                p -= gap
            order[p] = e
        gap = 0 if gap == 1 else max((4 * gap) // 9, 1)


@compiled
def rotate(
    first: NDArray[np.int64],
    edge: IntArray,
    other: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    near: Nodes,
    nodes: Nodes,
    bend: Nodes | None,
    c: Coefficients,
    gain: float,
    fresh: State,
) -> int:
    """At each node swap the kept edge that is worth least for the dropped one worth most, while J falls by `gain`.

    A swap at a node leaves its degree nearly as it is, so that it helps where neither flip alone does. Nodes that
    are not `fresh` are passed over; those at which something changed are fresh for the next time.
    """
    equal = mu is None
    swaps = 0
    longest = 0
    for i in range(first.size - 1):
        longest = max(longest, first[i + 1] - first[i])
    values, order = np.empty(longest), np.empty(longest, np.int64)
    for i in range(first.size - 1):
        if fresh[i] == 0:
            continue
        fresh[i] = 0
        start, stop = first[i], first[i + 1]
        # The slope of the node's own potential ranks edges of different weights.
        d, pull = np.float64(nodes[i, 0]), 2 * c[4]
        if not equal and d > 0:
            pull -= c[0] * (np.log(d) + 1) + c[1] * (np.log(d + nodes[i, 1]) + 1)
        least = most = np.inf
        for p in range(start, stop):
            e = edge[p]
            values[p - start] = np.inf
            if state[e] > 1:
                continue
            j, w = other[p], weight_of(mu, e)
            kept = np.int64(state[e])
            value = node_change(j, w, kept, equal, near, nodes, bend, c) + own_term(i, j, w, kept, 0.0, nodes, bend, c)
            value += extra_of(extra, e, kept) + (1 - 2 * kept) * pull * w
            values[p - start] = value
            least = min(least, value if kept == 1 else np.inf)
            most = min(most, value if kept == 0 else np.inf)
        if not least + most < -gain:
            continue
        # What a swap changes at this node's other neighbours is nothing: one ranking serves for all swaps.
        n = stop - start
        rank(values[:n], order[:n])
        a = b = 0
        while True:
            while a < n and state[edge[start + order[a]]] != 1:
                a += 1
            while b < n and state[edge[start + order[b]]] != 0:
                b += 1
            if a == n or b == n or not values[order[a]] + values[order[b]] < -gain:
                break
            p, q = start + order[a], start + order[b]
            e, f = edge[p], edge[q]
            less, more = weight_of(mu, e), weight_of(mu, f)
            if not equal:
                d = np.float64(nodes[i, 0])
                at_node = potential(max(d - less + more, 0.0), i, nodes, bend, c) - potential(d, i, nodes, bend, c)
                if values[order[a]] + values[order[b]] + (pull - 2 * c[4]) * (less - more) + at_node >= -gain:
                    break
                moved(i, more - less, equal, near, nodes, bend, c)
            # Codes that neither search finds again, until the node is done.
            state[e], state[f] = 4, 5
            moved(other[p], -less, equal, near, nodes, bend, c)
            moved(other[q], more, equal, near, nodes, bend, c)
            fresh[other[p]] = fresh[other[q]] = 1
            swaps += 1
        for p in range(start, stop):
            if state[edge[p]] >= 4:
                state[edge[p]] -= 4
    return swaps
