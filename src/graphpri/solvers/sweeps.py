"""The solver for large graphs: sweeps over the edges for the degree and the local entropy, O(M) each.

Where the trace is held, J is a sum of potentials of the degrees, and what one more edge costs is known from its two
ends. A sweep keeps each edge that costs less than a common price (a Lagrange multiplier of the budget), one after the
other, and the price is what makes the number of edges come out right. What single flips can't improve, swaps of two
edges at one node can. Edges take their turns in the order of :mod:`graphpri.solvers.tournament`, so that threads can
share a sweep. docs/scale.md says how far that leads.
"""

# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import LIGHTEST, EdgeSums, Side, weight_of
from graphpri._objective import LargeEntropies, Objective, coefficients, mixture_scale, renumbered
from graphpri._runtime import compiled, in_chunks, inlined, merged, require
from graphpri._selection import best_forest_by, cover_by, stable_order, tolerance
from graphpri.graph import BoolArray, FloatArray, IntArray
from graphpri.solvers.local_search import ENTROPY_RULES, Constraints
from graphpri.solvers.solution import Ending, Monitor
from graphpri.solvers.tournament import Places, Tournament, scrambled

# ---------------------------------------------------------------------------------------------------------------------
# Compiled moves of the solver for large graphs: one edge after the other, each seeing the degrees as they are.
#
# At fixed trace, J is a sum over nodes of a potential of the degree, less a term of each edge (the local entropy's).
# What is known of the nodes is of two kinds:
#
# - degree entropy, equal weights: ``table`` says what one more edge does to the potential, and ``nodes``, shape (N, 1),
#   is the place of each node in it; see :class:`PotentialTable`.
# - else ``table`` is None, and ``nodes`` has a row for each node, so that one look into memory finds it: its degree in
#   the kept graph and what the mixture adds to that; the change of its potential when an edge comes and when one goes,
#   or, where edges differ in weight, the logarithms of both degrees.
#
# ``bend`` has a row for each node for the local entropy, and none else: the strength of the neighbours' terms on both
# sides, and the smallest degree that they are followed to, with its logarithm.
#
# ``drift``, for weights: what has changed since `c` was made, of the trace and of both of the local entropy's sums, and
# by how much the trace may.
#
# All are float32 where the edges weigh the same: every result is checked by J itself.
#
# ``c``: the factors of F of the kept graph and of the mixture, α, the barrier's floor, dJ/dt, 1 + 2κ, and for weights
# the trace t with the two factors of what the slope leaves out, see :func:`at_new_trace`; the last is 1 for the local
# entropy.
#
# ``extra``, float32 of shape (M,): what keeping each edge costs besides, where another entropy corrects this one.
#
# `mu`, the edges' weights, is None where all of them weigh 1, and `extra` mostly: loops are then compiled without what
# they don't need.
# ---------------------------------------------------------------------------------------------------------------------

DEGREE, ADDED = 0, 1
RISE, FALL = 2, 3  # equal weights
LOG, LOG_MIXED = 2, 3  # weights
PULL, PULL_MIXED, LEAST, FLOOR = 0, 1, 2, 3

Nodes = NDArray[np.float32] | NDArray[np.float64]
Rises = NDArray[np.float32] | None
Coefficients = tuple[float, float, float, float, float, float, float, float, float, float]
Weights = FloatArray | None
Extra = NDArray[np.float32] | None
State = NDArray[np.uint8]
"""0 for a dropped edge and 1 for a kept one, plus 2 where it must stay as it is."""

ONE_BY_ONE = np.empty(0, np.int64)
"""The order of :func:`sweep` in which all edges have their turns."""

TIE = 1e-6
"""Share of the price by which a flip must gain, so that equal prices are not told apart by rounding."""


def tie_of(price: float) -> float:
    """By how much a flip must gain at that price; above zero where the price is zero."""
    return max(TIE * abs(price), 1e-300)


DRIFT = 0.1
"""Share by which the trace may move before what depends on it is computed anew, where edges weigh differently."""


@inlined
def log_of(x: float) -> float:
    """Logarithm, 0 where there is no edge."""
    return np.log(x) if x > 0 else 0.0


@inlined
def raised(log_d: float, d: float, floor: float) -> float:
    """Logarithm of a degree, followed down to the floor."""
    return log_d if d > 0 and log_d > floor else floor


@compiled
def sum_of_logs(
    d: float, log_d: float, m: float, log_m: float, on_kept: float, on_mixed: float, floor: float, c: Coefficients
) -> float:
    """The part of J that hangs on the degree d of one node and on m, that in the mixture."""
    value = -c[0] * d * log_d - c[1] * m * log_m
    if c[2] > 0:
        value -= c[2] * np.log(max(d, c[3]))
    if floor > -np.inf:
        value -= c[0] * on_kept * raised(log_d, d, floor) + c[1] * on_mixed * raised(log_m, m, floor)
    return value


@compiled
def rows(
    start: int, stop: int, degrees: Places, begin: Places, kappa: float, c: Coefficients, rises: NDArray[np.float32]
) -> None:
    """Fill rows of :class:`PotentialTable`."""
    for row in range(start, stop):
        added, at, before = kappa * degrees[row], begin[row], 0.0
        for d in range(degrees[row] + 1):
            m = d + added
            value = sum_of_logs(d, log_of(d), m, log_of(m), 0.0, 0.0, -np.inf, c)
            if d > 0:
                rises[at + d - 1] = value - before
            before = value
        rises[at + degrees[row]] = np.inf


@merged
def potential(d: float, i: int, nodes: Nodes, bend: Nodes, c: Coefficients) -> float:
    """The part of J that hangs on the degree of one node, by the local entropy."""
    m = d + np.float64(nodes[i, ADDED])
    return sum_of_logs(d, log_of(d), m, log_of(m), bend[i, PULL], bend[i, PULL_MIXED], bend[i, FLOOR], c)


@compiled
def look_around(start: int, stop: int, nodes: Nodes, bend: Nodes, c: Coefficients) -> None:
    """Fill in what a step does to the potentials of many nodes, by the local entropy where all edges weigh 1."""
    for i in range(start, stop):
        d = np.float64(nodes[i, DEGREE])
        value = potential(d, i, nodes, bend, c)
        nodes[i, RISE] = potential(d + 1, i, nodes, bend, c) - value
        nodes[i, FALL] = potential(d - 1, i, nodes, bend, c) - value if d > 0.5 else np.inf


@merged
def moved(i: int, step: int, table: Rises, nodes: Nodes, bend: Nodes, c: Coefficients) -> None:
    """Follow a change of one degree by 1 or −1, where all edges weigh 1."""
    if table is not None:
        nodes[i, DEGREE] += step
    else:
        d = max(np.float64(nodes[i, DEGREE]) + step, 0.0)
        nodes[i, DEGREE] = d
        further = np.inf
        if d + step > -0.5:
            further = potential(d + step, i, nodes, bend, c) - potential(d, i, nodes, bend, c)
        if step > 0:
            nodes[i, FALL] = -nodes[i, RISE]
            nodes[i, RISE] = further
        else:
            nodes[i, RISE] = -nodes[i, FALL]
            nodes[i, FALL] = further


@inlined
def inverse_mean(x: float, y: float) -> float:
    """About Λ(x, y): exact where x = y, and within 1 % up to a ratio of nine."""
    return 3 / (2 * np.sqrt(x * y) + 0.5 * (x + y))


@compiled
def own_sums(m: float, x: float, y: float, at_x: float, at_y: float, c: Coefficients) -> tuple[float, float]:
    """An edge's own term in the sums of the kept graph and of the mixture, which adds to both degrees."""
    return m * (m * inverse_mean(x, y)), m * (m * (c[5] * inverse_mean(x + at_x, y + at_y)))


@merged
def own_term(
    i: int,
    j: int,
    m: float,
    kept: int,
    more: float,
    mu: Weights,
    table: Rises,
    nodes: Nodes,
    c: Coefficients,
) -> float:
    """Change of the edge's own term in J when it flips, `more` of it arriving at node i; 0 for the degree entropy."""
    square = 0.0
    # Where all edges weigh 1 there is nothing to ask at run time, so that both ends are computed side by side.
    if table is None and (mu is None or c[9] > 0):
        x, y = nodes[i, DEGREE] + (1 - kept) * more, nodes[j, DEGREE] + (1 - kept) * m
        of_kept, of_mixed = own_sums(m, x, y, nodes[i, ADDED], nodes[j, ADDED], c)
        square = c[0] * of_kept + c[1] * of_mixed
    return (2 * kept - 1) * square


# Weights: a heavy edge has a large part in the pulls at its own ends, which goes with it. Functions of numbers are
# compiled once; inlined, they would take long to compile.


@compiled
def own_pulls(
    m: float, x: float, y: float, at_x: float, at_y: float, least: float, c: Coefficients
) -> tuple[float, float]:
    """What an edge's own term adds to both pulls at the end of degree x, in the unit of `bend`.

    ∂Λ/∂x of :func:`inverse_mean` is −Λ² (√(y/x) + 1/2)/3.
    """
    p, q = x + at_x, y + at_y
    mean, mixed = inverse_mean(x, y), inverse_mean(p, q)
    of_kept = -m * (m * mean) * (mean * max(x, least)) * (np.sqrt(y / x) + 0.5) / 3
    return of_kept, -c[5] * m * (m * mixed) * (mixed * p) * (np.sqrt(q / p) + 0.5) / 3


@compiled
def shifted(
    d: float,
    added: float,
    step: float,
    log_d: float,
    log_m: float,
    on_kept: float,
    on_mixed: float,
    floor: float,
    c: Coefficients,
) -> float:
    """Change of a node's potential when its degree d moves by a step; the logarithms are those at d."""
    after = max(d + step, 0.0)
    m = after + added
    now = sum_of_logs(d, log_d, d + added, log_m, on_kept, on_mixed, floor, c)
    return sum_of_logs(after, log_of(after), m, log_of(m), on_kept, on_mixed, floor, c) - now


@compiled
def flip_weighted(
    i: int, j: int, m: float, kept: int, drift: FloatArray, nodes: Nodes, bend: Nodes, c: Coefficients
) -> bool:
    """Follow the flip of an edge, and count it in `drift`; whether the trace has moved too far for `c` by now."""
    sign = 1 - 2 * kept
    drift[0] += 2 * sign * m
    x, y = nodes[i, DEGREE] + (1 - kept) * m, nodes[j, DEGREE] + (1 - kept) * m
    at_x, at_y = nodes[i, ADDED], nodes[j, ADDED]
    if c[9] > 0:
        of_kept, of_mixed = own_sums(m, x, y, at_x, at_y, c)
        drift[1] += sign * of_kept
        drift[2] += sign * of_mixed
    for n in (i, j):
        was, added, had = nodes[n, DEGREE], nodes[n, ADDED], nodes[n, DEGREE] + nodes[n, ADDED]
        d = max(was + sign * m, 0.0)
        log_d, log_m = log_of(d), log_of(d + added)
        if c[9] > 0:
            of_kept, of_mixed = own_pulls(m, x, y, at_x, at_y, bend[n, LEAST], c)
            floor = bend[n, FLOOR]
            on_kept, on_mixed = bend[n, PULL] - kept * of_kept, bend[n, PULL_MIXED] - kept * of_mixed
            drift[1] += on_kept * (raised(log_d, d, floor) - raised(nodes[n, LOG], was, floor))
            drift[2] += on_mixed * (raised(log_m, d + added, floor) - raised(nodes[n, LOG_MIXED], had, floor))
            bend[n, PULL] = on_kept + (1 - kept) * of_kept
            bend[n, PULL_MIXED] = on_mixed + (1 - kept) * of_mixed
        nodes[n, DEGREE], nodes[n, LOG], nodes[n, LOG_MIXED] = d, log_d, log_m
        x, y, at_x, at_y = y, x, at_y, at_x
    return abs(drift[0]) > drift[3]


@merged
def node_change(
    i: int,
    j: int,
    m: float,
    kept: int,
    step: float,
    mu: Weights,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
) -> float:
    """Change of the potential of one node, i, by a step, when an edge of weight m to node j comes or goes."""
    value = 0.0
    if mu is not None:
        of_kept = of_mixed = 0.0
        floor = -np.inf
        if c[9] > 0:
            of_kept, of_mixed, floor = bend[i, PULL], bend[i, PULL_MIXED], bend[i, FLOOR]
            if kept == 1:
                own = own_pulls(
                    m, nodes[i, DEGREE], nodes[j, DEGREE], nodes[i, ADDED], nodes[j, ADDED], bend[i, LEAST], c
                )
                of_kept, of_mixed = of_kept - own[0], of_mixed - own[1]
        logs = nodes[i, LOG], nodes[i, LOG_MIXED]
        value = shifted(nodes[i, DEGREE], nodes[i, ADDED], step, logs[0], logs[1], of_kept, of_mixed, floor, c)
    elif table is None:
        value = np.float64(nodes[i, RISE + kept])
    else:
        value = np.float64(table[np.int64(nodes[i, DEGREE]) - kept]) * (1 - 2 * kept)
    return value


@inlined
def extra_of(extra: Extra, e: int, kept: int) -> float:
    """Change of what an edge costs besides when it flips."""
    if extra is None:
        return 0.0
    return (1 - 2 * kept) * extra[e]


@compiled
def at_new_trace(nodes_change: float, step: float, c: Coefficients) -> float:
    """Change of J where the potentials change so at the old trace t and the kept edges weigh `step` more.

    With x = 2 step/t, J has the terms A ln t and −(Σ d ln d)/t: the second scales by 1/(1 + x), and of both the slope
    tells the first order only. An edge may weigh as much as all others together.
    """
    x = 2 * step / c[6]
    if not x > -1:
        return np.inf
    logs = -0.5 * x * x if abs(x) < 1e-5 else np.log1p(x) - x
    return nodes_change / (1 + x) + 2 * step * c[4] + c[7] * logs - c[8] * (x * x / (1 + x))


@inlined
def change_at_trace(
    i: int,
    j: int,
    m: float,
    kept: int,
    mu: Weights,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
) -> float:
    """Change of the potentials and of the edge's own term when it flips, at the old trace."""
    step = (1 - 2 * kept) * m
    total = node_change(i, j, m, kept, step, mu, table, nodes, bend, c)
    total += node_change(j, i, m, kept, step, mu, table, nodes, bend, c)
    return total + own_term(i, j, m, kept, m, mu, table, nodes, c)


@merged
def change(
    e: int,
    i: int,
    j: int,
    m: float,
    kept: int,
    mu: Weights,
    extra: Extra,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
) -> float:
    """Change of J when the edge flips."""
    step = (1 - 2 * kept) * m
    total = change_at_trace(i, j, m, kept, mu, table, nodes, bend, c)
    if mu is None:
        total += 2 * step * c[4]
    else:
        total = at_new_trace(total, step, c)
    return total + extra_of(extra, e, kept)


@compiled
def sweep(
    order: NDArray[np.int64],
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
    price: float,
    tie: float,
    most: int,
    drift: FloatArray,
) -> tuple[int, int]:
    """Keep each edge exactly where that costs J less than `price`, for a flip by at least `tie`.

    Parameters
    ----------
    order : ndarray of int64
        The edges to visit; where empty all of them, one after the other.
    start, stop : int
        Places in that order.
    most : int
        Flips after which it ends.
    drift : ndarray
        Changes since `c` was made, see :meth:`Sweeps.sweep`. Once the trace has moved too far for `c`, it ends.

    Returns
    -------
    flips, place : int
        How many edges were flipped, and the place to go on at.
    """
    done, is_listed = 0, order.size > 0
    for place in range(start, stop):
        if done == most:
            return done, place
        e = order[place] if is_listed else place
        if state[e] > 1:
            continue
        i, j, m = np.int64(source[e]), np.int64(target[e]), weight_of(mu, e)
        kept = np.int64(state[e])
        sign = 1 - 2 * kept
        if change(e, i, j, m, kept, mu, extra, table, nodes, bend, c) <= sign * price - tie:
            state[e] = 1 - kept
            done += 1
            if mu is not None:
                if flip_weighted(i, j, m, kept, drift, nodes, bend, c):
                    return done, place + 1
            else:
                moved(i, sign, table, nodes, bend, c)
                moved(j, sign, table, nodes, bend, c)
    return done, stop


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
    idle: int,
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
    out: NDArray[np.float32],
) -> None:
    """What keeping each stride-th edge costs J, with the edge gone where it is kept.

    It is ∓∞ for edges that can't flip, and ±∞ where the kept or the dropped ones are not wanted, as `idle` says. `out`
    begins with the price at `start`.
    """
    for p in range(start, stop):
        e = p * stride
        kept = np.int64(state[e] & 1)
        if kept == idle:
            out[p - start] = (2 * kept - 1) * np.inf
        elif state[e] > 1:
            out[p - start] = (1 - 2 * kept) * np.inf
        else:
            i, j = np.int64(source[e]), np.int64(target[e])
            flip = change(e, i, j, weight_of(mu, e), kept, mu, extra, table, nodes, bend, c)
            out[p - start] = (1 - 2 * kept) * flip


@merged
def cost_from(
    i: int,
    j: int,
    e: int,
    m: float,
    kept: int,
    pull: float,
    mu: Weights,
    extra: Extra,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
) -> float:
    """Change of J when an edge flips and the degree of its end i stays nearly as it is; `pull` is the slope there."""
    sign = 1 - 2 * kept
    value = node_change(j, i, m, kept, sign * m, mu, table, nodes, bend, c)
    value += own_term(i, j, m, kept, 0.0, mu, table, nodes, c)
    return value + extra_of(extra, e, kept) + sign * pull * m


@inlined
def slope_at(i: int, mu: Weights, nodes: Nodes, c: Coefficients) -> float:
    """Slope of a node's own potential, which ranks edges of different weights."""
    slope = 2 * c[4]
    if mu is not None and nodes[i, LOG] != 0:
        slope -= c[0] * (nodes[i, LOG] + 1) + c[1] * (nodes[i, LOG_MIXED] + 1)
    return slope


@compiled
def find_swaps(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
    cost: NDArray[np.float32],
    edge: IntArray,
) -> None:
    """Note at each node the dropped and the kept edge whose flip costs least where the node's degree stays.

    `cost` and `edge`, shape (N, 2), have the dropped edge first.
    """
    for e in range(start, stop):
        if state[e] > 1:
            continue
        i, j = np.int64(source[e]), np.int64(target[e])
        m, kept = weight_of(mu, e), np.int64(state[e])
        at_i, at_j = slope_at(i, mu, nodes, c), slope_at(j, mu, nodes, c)
        value = np.float32(cost_from(i, j, e, m, kept, at_i, mu, extra, table, nodes, bend, c))
        if value < cost[i, kept]:
            cost[i, kept], edge[i, kept] = value, e
        value = np.float32(cost_from(j, i, e, m, kept, at_j, mu, extra, table, nodes, bend, c))
        if value < cost[j, kept]:
            cost[j, kept], edge[j, kept] = value, e


@compiled
def far_ends(
    start: int, stop: int, at: NDArray[np.int64], edge: IntArray, source: IntArray, target: IntArray, pair: IntArray
) -> None:
    """Note for some nodes both edges to swap and their other ends, so that :func:`swap` finds them side by side.

    `pair`, shape (S, 4), has the dropped edge, the kept one, and the other end of either.
    """
    for place in range(start, stop):
        i = at[place]
        for kept in range(2):
            e = edge[i, kept]
            pair[place, kept] = e
            pair[place, 2 + kept] = source[e] + target[e] - i


@compiled
def swap(
    start: int,
    at: NDArray[np.int64],
    pair: IntArray,
    gain: float,
    mu: Weights,
    extra: Extra,
    state: State,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
    drift: FloatArray,
) -> tuple[int, int]:
    """Swap the two edges noted at each node, one node after the other, where J still falls by `gain`.

    It ends early as :func:`sweep`; returns the number of swaps and the place to go on at.
    """
    done = 0
    for place in range(start, at.size):
        f, e = pair[place, 0], pair[place, 1]
        if state[e] != 1 or state[f] != 0:
            continue
        i = at[place]
        pull, value = slope_at(i, mu, nodes, c), 0.0
        for kept in range(2):
            x, other = pair[place, kept], np.int64(pair[place, 2 + kept])
            value += cost_from(i, other, x, weight_of(mu, x), kept, pull, mu, extra, table, nodes, bend, c)
        if not value < -gain:
            continue
        if mu is not None:
            less, more = weight_of(mu, e), weight_of(mu, f)
            value += pull * (less - more)
            other = np.int64(pair[place, 3])
            value += node_change(i, other, less, 1, more - less, mu, table, nodes, bend, c)
            if not at_new_trace(value, more - less, c) < -gain:
                continue
        done += 1
        is_too_far = False
        for new in range(2):
            x, other = pair[place, 1 - new], np.int64(pair[place, 3 - new])
            state[x] = new
            if mu is None:
                moved(other, 2 * new - 1, table, nodes, bend, c)
            elif flip_weighted(i, other, weight_of(mu, x), 1 - new, drift, nodes, bend, c):
                is_too_far = True
        if is_too_far:
            return done, place + 1
    return done, at.size


class TraceSums(NamedTuple):
    """What the coefficients of moves hang on: sums over the nodes, where the largest weight is 1.

    Attributes
    ----------
    trace, mixed_trace : float
        Of the kept graph and of the mixture.
    kappa : float
        κ, by which the mixture has more of each weight.
    f, mixed_f : float
        F of both.
    along : float
        Derivative of the mixture's F in κ.
    bend : float
        Σ a²/m over the degrees m of the mixture, a = κ times those of the graph.
    total : float
        Trace of the graph.
    """

    trace: float
    mixed_trace: float
    kappa: float
    f: float
    mixed_f: float
    along: float
    bend: float
    total: float


def price_below(sample: NDArray[np.float32], share: float) -> float:
    """The price below which that share of a sample of prices lies; the last finite one where that is infinite."""
    place = min(int(share * sample.size), sample.size - 1)
    price = float(np.partition(sample, place)[place])
    if np.isfinite(price):
        return price
    finite = sample[np.isfinite(sample)]
    return float(finite.max(initial=0.0) if price > 0 else finite.min(initial=0.0))


def trace_slope(beta: float, mixture: str, s: TraceSums) -> float:
    """Derivative of J in the trace, the matrix of the kept graph held."""
    of_kept, of_mixed, _ = coefficients(beta)
    t, m = s.trace, s.mixed_trace
    slope = of_kept * (1 - s.f / t) / t
    if mixture == "listing":
        return slope + of_mixed * (1 - s.mixed_f / m) / m
    return slope + of_mixed * (1 / t + (s.along / s.total - s.mixed_f / t) / m)


def beyond_slope(beta: float, s: TraceSums) -> tuple[float, float, float]:
    """The trace, and the two factors of what the slope leaves out: see :func:`at_new_trace`."""
    of_kept, of_mixed, _ = coefficients(beta)
    of_kappa = -s.mixed_f + s.kappa * s.along + 0.5 * s.bend
    return s.trace, of_kept + of_mixed, -of_kept * s.f / s.trace + of_mixed * of_kappa / s.mixed_trace


_SAMPLE = 50_000
_SMALL_SAMPLE = 12_500  # within a sweep
_SIZES = 0.8  # ratio of one size to the next where the search comes down from all edges
_COARSE_SIZES = 0.6  # on large graphs, where another start is tried as well
_ROUNDS = 40
_LIGHT_BETA = 4.0  # up to which the minimum among light edges was the lower one, or as low within 0.3 %
_SMALL_GAIN = 1e-3  # share of J; the endings name it
_ATTEMPTS = 12
_PATIENCE = 3  # sizes without a better J after which smaller ones are not looked at
_EXACT_GAIN = 1e-13
_DENSE = 50  # edges a node
_SWAPS = 1 << 15  # in one task of a thread
_FINITE = float(np.finfo(np.float32).max)
_SPREAD_BETA = 5.0  # from which edges of equal price are better taken far from each other than side by side
_BYTES_AN_EDGE, _BYTES_A_NODE = 30, 200  # beside the graph itself


class PotentialTable:
    """What one more edge does to the potential of a node, by the degree entropy where all edges weigh 1.

    It hangs on two whole numbers only, the node's degrees in the graph and in the kept graph: nodes of one degree
    share a row, and each node needs only its place in it.

    Parameters
    ----------
    degrees : ndarray of int64, shape (N,)
        In the graph.

    Attributes
    ----------
    first : ndarray of int, shape (N,)
        Where the row of each node begins, at degree 0 in the kept graph.
    rises : ndarray of float32
        Change of the potential from each place to the next.
    """

    def __init__(self, degrees: NDArray[np.int64]) -> None:
        self.distinct = np.flatnonzero(np.bincount(degrees))
        self.begin = np.concatenate([[0], np.cumsum(self.distinct + 1)])
        row = np.zeros(int(self.distinct.max(initial=0)) + 1, np.int32 if self.begin[-1] < 2**31 else np.int64)
        row[self.distinct] = self.begin[:-1]
        self.first = row[degrees]
        self.rises = np.zeros(int(self.begin[-1]), np.float32)

    def fill(self, kappa: float, c: Coefficients) -> None:
        """Compute the rows for a mixture to which the graph adds κ times its degrees; the last entries are infinite."""
        in_chunks(lambda a, b: rows(a, b, self.distinct, self.begin, kappa, c, self.rises), self.distinct.size, 64)


class Sweeps:
    """A subset of the edges of a large graph, and the moves that improve it.

    Parameters
    ----------
    objective : Objective
        Of the degree or the local entropy, large enough to have `sums`.
    constraints : Constraints
    fixed_size : bool
        Whether the number of edges is given.

    Attributes
    ----------
    state : ndarray of uint8, shape (M,)
        1 for kept edges, plus 2 for those that must stay as they are.
    value : float
        J at the last :meth:`refresh`.
    extra : ndarray of float32, shape (M,), or None
        What keeping each edge costs besides: see :meth:`correct`.
    """

    def __init__(self, objective: Objective, constraints: Constraints, fixed_size: bool) -> None:
        n, m = objective.graph.n_nodes, objective.graph.n_edges
        needed = _BYTES_AN_EDGE * m + _BYTES_A_NODE * n
        require(needed, f"the search on {m} edges and {n} nodes", "free memory, or sparsify a part of the graph")
        self.given, self.constraints = objective.graph, constraints
        self.order = Tournament(objective.graph)
        self.objective, self.graph = renumbered(objective, self.order.graph, self.order.node), self.order.graph
        assert isinstance(self.objective.entropies, LargeEntropies)
        self.entropies = self.objective.entropies
        self.sums: EdgeSums = self.entropies.sums
        self.local = objective.entropy == "local"
        self.equal = self.sums.equal
        self.moves_trace = not (fixed_size and self.equal)
        self.room = self.graph.n_edges  # for what is held: the size that is looked for
        self._cover = None if constraints.cover is None else self.order.dealt(constraints.cover)
        self.value = np.nan
        self._trace = np.nan  # of the subset that moves are set up for
        # Since: of the trace, of both sums of the local entropy's own terms, and how far the trace may move.
        self._drift = np.zeros(4)
        self._drifts = np.zeros((self.order.first.size - 1, 8))  # of each pair; a line of the cache
        self._start, self._stop = self.order.first[:-1].copy(), self.order.first[1:]
        kind = cast("Any", np.float32 if self.equal else np.float64)
        self.state: State = np.zeros(self.graph.n_edges, np.uint8)
        self._fixed = np.zeros(self.graph.n_edges, np.uint8)
        for mask, code in ((constraints.protect, 3), (constraints.forbid, 2)):
            if mask is not None:
                self._fixed[self.order.dealt(mask)] = code
        self._table = (
            PotentialTable(self.entropies.original_degrees.astype(np.int64)) if self.equal and not self.local else None
        )
        self._nodes: Nodes
        if self._table is None:
            self._nodes = np.zeros((n, 4), kind)
        else:
            self._nodes = cast("Any", self._table.first[:, None].copy())
        self._bend: Nodes = np.zeros((n if self.local else 0, 4), kind)
        self._c: Coefficients = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self.extra: NDArray[np.float32] | None = None

    @property
    def mask(self) -> BoolArray:
        """Kept edges of the given graph, shape (M,)."""
        return self.order.listed(self._kept).view(np.bool_)

    def snapshot(self) -> Callable[[], BoolArray]:
        """What gives :attr:`mask` as it is now when it is called: bringing it into the given order takes a while."""
        kept = self._kept
        return lambda: self.order.listed(kept).view(np.bool_)

    @property
    def _kept(self) -> State:
        return np.bitwise_and(self.state, np.uint8(1))

    @property
    def size(self) -> int:
        """Number of kept edges."""
        return int(np.count_nonzero(self._kept))

    def set_to(self, mask: BoolArray) -> None:
        """Go to a subset that the constraints allow."""
        self.state = self.order.dealt(mask.view(np.uint8))
        self.state[self._fixed > 0] = self._fixed[self._fixed > 0]
        self._start_here()

    def allowed(self) -> BoolArray:
        """All edges but those that must go."""
        return self.order.listed(self._fixed != 2)

    def spread_out(self, k: int) -> None:
        """Go to `k` edges evenly over their order, around those that must stay."""
        among, wanted, state = self._start_around(k)
        spread(state, wanted, among)
        self.state = self.order.dealt(state)
        self._start_here()

    def lightest(self, k: int) -> None:
        """Go to the `k` edges of the least weight, around those that must stay."""
        _, wanted, state = self._start_around(k)
        loose = np.flatnonzero(state <= 1)
        weights = self.given.weights[loose]
        most = float(np.partition(weights, wanted - 1)[wanted - 1]) if wanted else 0.0
        lighter, ties = loose[weights < most], loose[weights == most]
        state[lighter] = state[ties[: wanted - lighter.size]] = 1
        self.state = self.order.dealt(state)
        self._start_here()

    def _start_around(self, k: int) -> tuple[int, int, State]:
        """Among how many edges to choose, how many of them, and what must stay, in the order of the given graph."""
        self.state, self.room = self._fixed.copy(), k
        if self._holds:
            # Prices for the first forest: as if every edge kept its share of the budget.
            share = np.full(self.graph.n_edges, k / self.graph.n_edges)
            self._set_up(*self.entropies.sides(share, pull=True))
            self._hold(self._prices(), self._fixed != 2)
        among, held = int(np.count_nonzero(self.state <= 1)), int(np.count_nonzero(self.state == 3))
        state = self.order.listed(self.state) if among < self.state.size else np.zeros_like(self.state)
        return among, min(max(k - held, 0), among), state

    def _start_here(self) -> None:
        self._trace = np.nan
        self.refresh()

    def refresh(self) -> float:
        """Compute J at the subset, with what is `extra`, and set up for moves from there."""
        if self.equal and not self.local and self._trace == 2 * self.size:
            kept, mixed = self._sides_now()
        else:
            kept, mixed = self.entropies.sides(self._kept, pull=True)
            self._set_up(kept, mixed)
        o, (t, m) = self.objective, self.entropies.traces(kept)
        of_kept, of_mixed, of_original = coefficients(o.beta)
        j = of_kept * kept.entropy(t) + of_mixed * mixed.entropy(m)
        barrier = 0.0
        if o.alpha:
            barrier = o.barrier.value(o.barrier.of_covered(kept.degrees * self._unit))
        self.value = j + of_original * o.original_entropy + barrier
        if self.extra is not None:
            self.value += float(self.extra[self._kept.view(np.bool_)].sum(dtype=np.float64))
        return self.value

    @cached_property
    def _unit(self) -> float:
        """The graph's largest weight, which weighs 1 in computations."""
        return float(self.graph.weights.max())

    @cached_property
    def _mean_weights(self) -> FloatArray:
        """Mean weight of the edges at each node."""
        if self.equal:
            return np.minimum(self.entropies.original_degrees, 1.0)
        return np.asarray(self.entropies.original_degrees / np.maximum(self.graph.degrees(), 1))

    def _sides_now(self) -> tuple[Side, Side]:
        """Both sides where the degrees are known and nothing has changed that moves are set up with."""
        original = self.entropies.original_degrees
        at = self._nodes[:, DEGREE]
        degrees = (at if self._table is None else at - self._table.first).astype(np.float64)
        zeros, (kappa, _) = (
            np.empty(0, np.uint8),
            mixture_scale(self.objective.mixture, float(degrees.sum()), float(original.sum())),
        )
        kept = self.sums.side(zeros, 0.0, degrees, local=False)
        return kept, self.sums.side(zeros, kappa, degrees + kappa * original, local=False)

    def _set_up(self, kept: Side, mixed: Side) -> None:
        if self._table is not None:
            self._nodes[:, DEGREE] = self._table.first + np.rint(kept.degrees)
            self._set_trace(kept, mixed)
            self._table.fill(mixed.kappa, self._c)
            return
        self._nodes[:, DEGREE] = kept.degrees
        self._set_trace(kept, mixed)
        least = self._mean_weights if self.local else np.empty(0)

        def fill(start: int, stop: int) -> None:
            at = slice(start, stop)
            if self.local:
                self._bend[at, PULL] = kept.pull[at] * np.maximum(kept.degrees[at], least[at])
                self._bend[at, PULL_MIXED] = mixed.pull[at] * mixed.degrees[at]
                self._bend[at, LEAST] = least[at]
                self._bend[at, FLOOR] = np.log(np.maximum(least[at], LIGHTEST))
            if self.equal:
                look_around(start, stop, self._nodes, self._bend, self._c)

        in_chunks(fill, self.graph.n_nodes)

    def _set_trace(self, kept: Side, mixed: Side) -> None:
        """Set up what depends on the trace."""
        o, (t, m) = self.objective, self.entropies.traces(kept)
        of_kept, of_mixed, _ = coefficients(o.beta)
        self._trace, self._drift[:3] = t, 0.0
        original, slope, exact = self.entropies.original_degrees, 0.0, (np.inf, 0.0, 0.0)
        is_exact = not self.equal and o.mixture == "equation"
        if self.moves_trace:
            added = mixed.kappa * original
            bend = float((added * (added / np.maximum(mixed.degrees, LIGHTEST))).sum()) if is_exact else 0.0
            along = self._along(mixed) if o.mixture == "equation" else 0.0
            sums = TraceSums(t, m, mixed.kappa, kept.f, mixed.f, along, bend, float(original.sum()))
            slope = trace_slope(o.beta, o.mixture, sums)
            exact = beyond_slope(o.beta, sums) if is_exact else exact
        floor = o.barrier.floor / self._unit if o.alpha else 1.0
        self._c = (of_kept / t, of_mixed / m, o.alpha, floor, slope, 1 + 2 * mixed.kappa, *exact, float(self.local))
        self._drift[3] = DRIFT * self._c[6]
        if self._table is None:
            self._nodes[:, ADDED] = mixed.degrees - kept.degrees
        if not self.equal:
            self._sides = kept, mixed
            self._nodes[:, LOG], self._nodes[:, LOG_MIXED] = kept.logs, mixed.logs

    def _follow(self) -> None:
        """Set up for the trace as it is now, from the degrees and what moves have counted."""
        kept, mixed = self._sides_now()
        if self.local:
            was_kept, was_mixed = self._sides
            of_kappa = was_mixed.along + float(was_mixed.pull @ self.entropies.original_degrees)
            counted = self._drift[2] + (mixed.kappa - was_mixed.kappa) * of_kappa
            pull = self._bend[:, PULL_MIXED] / np.maximum(mixed.degrees, LIGHTEST)
            kept = kept._replace(correction=was_kept.correction + self._drift[1])
            mixed = mixed._replace(correction=was_mixed.correction + counted, along=was_mixed.along, pull=pull)
        self._set_trace(kept, mixed)

    @property
    def _model(self) -> tuple[Rises, Nodes, Nodes, Coefficients]:
        return None if self._table is None else self._table.rises, self._nodes, self._bend, self._c

    @property
    def _edges(self) -> tuple[Any, Any, Any, Extra, State]:
        return *self.sums.ends, self.extra, self.state

    def _along(self, mixed: Side) -> float:
        """Derivative of F of the mixture in κ."""
        logs = np.where(mixed.degrees > 0, mixed.logs + 1, 0.0)
        return -float((logs + mixed.pull if self.local else logs) @ self.entropies.original_degrees) - mixed.along

    def cut_short(self, k: int) -> tuple[BoolArray, float]:
        """A subset of `k` edges that the constraints allow, and J there, where there was no time for a better one."""
        self.spread_out(k)
        if self.size != k:
            self.resize(k)
        return self.mask.copy(), self.refresh()

    # Moves.

    def sweep(self, k: int | None) -> None:
        """Keep exactly the edges that cost less than a common price, one after the other in tournament order.

        The price is that below which `k` edges lie, or 0 for None; it is looked up anew as the trace moves.
        """
        price, start, drifts = self.market_price(k), self._start, self._drifts
        start[:] = self.order.first[:-1]

        def play(pairs: Places) -> None:
            edges, model, least = self._edges, self._model, tie_of(price)
            for p in pairs:
                where = ONE_BY_ONE, start[p], self._stop[p]
                start[p] = sweep(*where, *edges, *model, price, least, edges[-1].size, drifts[p])[1]

        for pairs in self.order.rounds:
            while pairs.size:
                drifts[pairs, :3], drifts[pairs, 3] = 0.0, self._drift[3] / pairs.size
                self.order.side_by_side(play, pairs)
                if self.equal:
                    break
                self._drift[:3] += drifts[pairs, :3].sum(axis=0)
                if self._has_drifted:
                    self._follow()
                    price = self.market_price(k, _SMALL_SAMPLE)
                pairs = pairs[start[pairs] < self._stop[pairs]]

    @property
    def _has_drifted(self) -> bool:
        return abs(self._drift[0]) > self._drift[3]

    def prices(self) -> NDArray[np.float32]:
        """What keeping each edge of the given graph costs, J without it held against J with it."""
        return self.order.listed(self._prices())

    def _prices(self, stride: int = 1, idle: int = -1) -> NDArray[np.float32]:
        """What keeping each stride-th edge costs, in tournament order, `idle` as in :func:`prices`."""
        out = np.empty(-(-self.graph.n_edges // stride), np.float32)
        in_chunks(lambda a, b: prices(a, b, stride, idle, *self._edges, *self._model, out[a:b]), out.size)
        return out

    def correct(self, mask: BoolArray, prices: FloatArray, inertia: float) -> None:
        """Go to a subset, take the prices of another entropy there for right, and this one's for how they change.

        A flip counts only where it gains more than `inertia` besides.
        """
        self.extra = None
        self.set_to(mask)
        difference = self.order.dealt(prices + np.where(mask, -inertia, inertia)) - self._prices()
        self.extra = np.where(np.isfinite(difference), difference, 0.0).astype(np.float32)
        self.refresh()
        self.hold()

    @property
    def _stride(self) -> int:
        return max(1, self.graph.n_edges // _SAMPLE)

    def market_price(self, k: int | None, size: int = _SAMPLE) -> float:
        """The price below which `k` edges lie, from a sample; 0 where the size is free."""
        if k is None:
            return 0.0
        sample = self._prices(max(1, self.graph.n_edges // size))
        return price_below(sample, k / self.graph.n_edges)

    def resize(self, k: int) -> None:
        """Add the cheapest edges, or drop the dearest, until there are `k`; each sees the changes before it."""
        need = k - self.size
        is_dense = self.graph.n_edges > _DENSE * self.graph.n_nodes
        for attempt in range(_ATTEMPTS):
            if need == 0:
                return
            # Each flip makes those at its nodes dear: where these are many, more and more are let through.
            done = self._take(*self._candidates(need, 4.0**attempt if is_dense else 1.0), abs(need))
            need -= done if need > 0 else -done
        flips = np.flatnonzero(self.state == (need < 0))
        self._take(flips, np.inf, abs(need))

    def _candidates(self, need: int, reach: float) -> tuple[NDArray[np.int64], float]:
        """Edges whose flip brings the size nearer to the goal, best first, and the change of J of the last.

        They are 2.5 · `reach` times as many as are needed.
        """
        kept = need < 0
        sample = self._prices(self._stride, 1 - kept)[self.state[:: self._stride] == kept]
        sample = -sample if kept else sample
        few = int(2.5 * reach * abs(need) / self._stride) + 8
        limit = float(np.partition(sample, few)[few]) if few < sample.size else np.inf
        limit += 1e-6 * abs(limit)  # prices are rounded
        most = np.float32(min(limit, _FINITE))

        def cheap(start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
            changes = np.empty(stop - start, np.float32)
            prices(start, stop, 1, 1 - kept, *self._edges, *self._model, changes)
            if kept:
                np.negative(changes, out=changes)
            at = np.flatnonzero(changes <= most)
            return start + at, changes[at]

        found = in_chunks(cheap, self.state.size)
        edges, changes = (np.concatenate(pieces) for pieces in zip(*found, strict=True))
        if self.objective.beta < _SPREAD_BETA:
            return edges[stable_order(changes)], limit
        # Equal prices by a hash: in the order of the list, edges of the first blocks would crowd there.
        return edges[np.lexsort((scrambled(edges.astype(np.uint64)), changes))], limit

    def _take(self, edges: NDArray[np.int64], limit: float, most: int) -> int:
        """Flip edges of one state, at most so many, that change J by at most `limit` when their turn comes."""
        done = place = 0
        while place < edges.size and done < most:
            price = limit if self.state[edges[place]] == 0 else -limit
            where = edges, place, edges.size
            found, place = sweep(*where, *self._edges, *self._model, price, 0.0, most - done, self._drift)
            done += found
            if self._has_drifted:
                self._follow()
        return done

    def swap(self) -> int:
        """At each node swap the kept edge that is worth least for the dropped one worth most; returns how often.

        A swap at a node leaves its degree nearly as it is, so that it helps where neither flip alone does. Which
        edges to swap is found for all nodes at the same time; the swaps are then made one after the other, the best
        first, those that still lower J.
        """
        n, gain = self.graph.n_nodes, _EXACT_GAIN * max(1.0, abs(self.value))
        cost, edge = np.full((n, 2), np.inf, np.float32), np.zeros((n, 2), self.order.edge.dtype)

        def find(pairs: Places) -> None:
            for p in pairs:
                find_swaps(self.order.first[p], self.order.first[p + 1], *self._edges, *self._model, cost, edge)

        for pairs in self.order.rounds:
            self.order.side_by_side(find, pairs)
        total = cost[:, 0] + cost[:, 1]
        at = np.flatnonzero(total < -gain)
        at = at[stable_order(total[at])]
        source, target, mu, extra, state = self._edges
        pair = np.empty((at.size, 4), edge.dtype)
        in_chunks(lambda a, b: far_ends(a, b, at, edge, source, target, pair), at.size, _SWAPS)
        done = place = 0
        while place < at.size:
            found, place = swap(place, at, pair, gain, mu, extra, state, *self._model, self._drift)
            done += found
            if self._has_drifted:
                self._follow()
        return done

    def hold(self) -> None:
        """Fix a spanning forest or an edge cover of the kept edges, those cheapest to keep, where one must stay.

        Where no cover of kept edges has room, it is the smallest known, which may have others.
        """
        if self._holds:
            self.state = np.where(self._fixed > 0, self._fixed, self._kept)
            prices = self._prices()
            prices[self._kept == 0] = np.inf
            size = self.size
            self._hold(prices, self._kept > 0)
            if self.size > size:
                self.refresh()

    @property
    def _holds(self) -> bool:
        return self.constraints.connected or self._cover is not None

    def _hold(self, prices: NDArray[np.float32], among: BoolArray) -> None:
        if self.constraints.connected:
            scores = -prices.astype(np.float64)
            self.state[best_forest_by(self.graph, scores, self.order.edge.astype(np.int64))] = 3
            return
        assert self._cover is not None
        place = np.empty(prices.size, np.int64)
        place[np.lexsort((self.order.edge, prices))] = np.arange(prices.size)
        protect = self._fixed == 3
        room = self.room - int(np.count_nonzero(protect))
        self.state[cover_by(self.graph, place, room, self._cover, among=among, protect=protect)] = 3


@dataclass(frozen=True, eq=False)
class Run:
    """One search by sweeps: the subset, who watches, and how long to go on.

    Parameters
    ----------
    sweeps : Sweeps
    monitor : Monitor
    visits : float
        Edges to look at in rounds of sweep, exact size and swaps. At least two rounds are made, and they go on until
        one gains little, unless `visits` is 0.
    thorough : bool
        Whether to start from several subsets whatever the size of the graph.
    """

    sweeps: Sweeps
    monitor: Monitor
    visits: float
    thorough: bool = False

    @property
    def rounds(self) -> int:
        """Most rounds for one start."""
        return int(np.clip(self.visits / (2 * self.sweeps.state.size), 2, _ROUNDS))

    def of_size(self, k: int, start: BoolArray | None) -> Ending:
        """Search among the subsets of `k` edges; returns the status."""
        self.sweeps.room = k
        if start is not None:
            self._go_to(start)
            self._resize(k)
            return self.settle(k)
        starts, most = self._starts(k), np.inf
        if self._weighted and not self.thorough and not self._concave and len(starts) > 1:
            best, value = self._best_after_a_round(starts, k)
            self._go_to(best)
            return self.settle(k, value=value)
        status = Ending.NO_SWEEP
        for begin in starts:
            begin()
            ending = self.settle(k)
            if self.sweeps.value < most:
                status, most = ending, self.sweeps.value
        return status

    @property
    def _weighted(self) -> bool:
        return self.visits > 0 and not self.sweeps.equal

    @property
    def _concave(self) -> bool:
        """Whether edges gather at hubs: rounds then fall slowly, and the first says little about the last."""
        return self.sweeps.objective.beta < ENTROPY_RULES

    def _starts(self, k: int) -> list[Callable[[], None]]:
        """Ways to begin, by β and the size of the graph.

        J may be lowest among the heavy edges or far from them, and sweeps at fixed size do not lead from one to the
        other.
        """
        s = self.sweeps
        both, concave = self.thorough or 4 * s.state.size <= self.visits, self._concave
        come_down = partial(self._come_down, k, _SIZES if both or concave else _COARSE_SIZES)
        spread_out, lightest = partial(s.spread_out, k), partial(s.lightest, k)
        if self._weighted and (self.thorough or not concave):
            if both:
                return [come_down, lightest, spread_out]
            return [lightest] if s.objective.beta <= _LIGHT_BETA else [come_down, lightest]
        return [come_down, spread_out] if both else [come_down if concave else spread_out]

    def _come_down(self, k: int, ratio: float) -> None:
        self._go_to(self.sweeps.allowed())
        for _ in self._shrunk(k, ratio):
            pass

    def _best_after_a_round(self, starts: list[Callable[[], None]], k: int) -> tuple[BoolArray, float]:
        """The lowest of the subsets to which one round leads from each start, and J there."""
        s, value, best = self.sweeps, np.inf, self.sweeps.mask
        for begin in starts:
            begin()
            self._round(1, k)
            if s.value < value:
                value, best = s.value, s.mask.copy()
                self.monitor.offer(best, value)
        return best, value

    def of_any_size(self, least: int, start: BoolArray | None) -> Ending:
        """Search among all sizes from `least` on; returns the status."""
        s = self.sweeps
        if start is None:
            # Dense graphs have a valley at the smallest size that no path from all edges leads to.
            s.spread_out(least)
            self.settle(least)
            s.room = s.state.size
            self.settle(None, least)
        s.room = s.state.size
        self._go_to(s.allowed() if start is None else start)
        self.monitor.offer(s.snapshot(), s.value)
        if start is None:
            self._shrink_while_better(least)
        self._search_near(least, s.size)
        return self.settle(None, least)

    def _go_to(self, mask: BoolArray) -> None:
        self.sweeps.set_to(mask)
        self.sweeps.hold()

    def _resize(self, k: int) -> float:
        """Change the size by the cheapest edges, and improve the subset of that size once."""
        s = self.sweeps
        s.resize(k)
        s.refresh()
        s.sweep(k)
        s.resize(k)
        return s.refresh()

    def _shrunk(self, k: int, ratio: float = _SIZES) -> Iterator[float]:
        """Go through smaller and smaller sizes to `k` edges; yields J at each."""
        s, step = self.sweeps, 0
        while s.size > k:
            size, step = max(k, int(ratio * s.size)), step + 1
            before, found = s.size, self._resize(size)
            self.monitor.step("shrink", step, size, found, 1 - size / s.state.size)
            yield found
            s.hold()
            if s.size >= before:
                return  # what is held leaves no fewer

    def _shrink_while_better(self, least: int) -> None:
        """Go through smaller and smaller sizes while that pays, and stay at the best."""
        s, worse = self.sweeps, 0
        best, value = s.mask.copy(), s.value
        for found in self._shrunk(least):
            worse += 1
            if found < value - tolerance(value, s.objective.beta):
                best, value, worse = s.mask.copy(), found, 0
                self.monitor.offer(best, value)
            if worse == _PATIENCE:
                break
        self._go_to(best)

    def _search_near(self, least: int, size: int) -> None:
        """Try sizes on both sides of the best, nearer and nearer."""
        s, share = self.sweeps, 1 - _SIZES
        best, value = s.mask.copy(), s.value
        most = int(np.count_nonzero(s.allowed()))
        while share > 0.01:
            share /= 2
            for k in (int(size * (1 - share)), int(size * (1 + share))):
                k = min(max(k, least), most)
                found = self._resize(k)
                self.monitor.step("size", 1, k, found, 1 - share)
                if found < value - tolerance(value, s.objective.beta):
                    best, value, size = s.mask.copy(), found, k
                    self.monitor.offer(best, value)
                    break
                self._go_to(best)

    def settle(self, k: int | None, least: int = 1, value: float = np.inf) -> Ending:
        """Improve the subset at hand, of `k` edges or of any size from `least` on; returns the status.

        `value` is J there, where rounds have led to it.
        """
        s = self.sweeps
        for step in range(1, _ROUNDS + 1):
            self._round(step, k, least)
            if s.value >= value - tolerance(value, s.objective.beta):
                return Ending.NO_SWEEP
            is_small = value - s.value < _SMALL_GAIN * abs(s.value)
            value = s.value
            self.monitor.offer(s.snapshot(), value)
            if step >= self.rounds and (is_small or not self.visits):
                return Ending.SETTLED if is_small else Ending.UNSETTLED
            if step < _ROUNDS:
                s.hold()
        return Ending.UNSETTLED

    def _round(self, step: int, k: int | None, least: int = 1) -> None:
        """One sweep, the exact size, and swaps at nodes."""
        s = self.sweeps
        s.sweep(k)
        if k is not None or s.size < least:
            s.resize(least if k is None else k)
        s.swap()
        s.refresh()
        self.monitor.step("sweep", step, s.size, s.value, step / max(self.rounds, step))
