"""Random and regular graphs: whole-array operations, and compiled loops from 250 000 edges on.

A seed gives the same graph either way. Of 10⁸ edges, preferential attachment and uniform random graphs take at most
26 bytes an edge, the graph's own 8 included.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import checked, count, seeded
from graphpri._runtime import CHUNK, LARGE_GRAPH, compiled, in_chunks
from graphpri.errors import OptionError
from graphpri.graph import Graph, Int64Array, IntArray, group, id_dtype, unit_weights


@compiled
def follow_draws(
    draws: NDArray[np.int64],
    known: int,
    m: int,
    target: IntArray,
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


@checked
def ring_knn(n: int = 20, k: int = 10) -> Graph:
    """Ring of n nodes, each joined to the k/2 nearest on either side (G1 of the paper by default).

    Parameters
    ----------
    n : int
        Number of nodes.
    k : int
        Degree: even, at least 2, below n. The graph has n·k/2 edges.

    Raises
    ------
    OptionError
        For other k.

    Examples
    --------
    >>> ring_knn()
    Graph(20 nodes, 100 edges, unweighted)
    """
    count("n", n)
    _need(k >= 2 and k % 2 == 0, f"k={k}: the degree of a ring must be even and at least 2")
    _need(k < n, f"k={k}: {n} nodes have at most {n - 1} neighbours each")
    u = np.repeat(np.arange(n), k // 2)
    return Graph.from_edges(u, (u + np.tile(np.arange(1, k // 2 + 1), n)) % n, n_nodes=n)


@checked
def stochastic_block_model(
    sizes: Sequence[int] = (30, 30, 30, 30),
    p_in: float = 1 / 4,
    p_out: float = 1 / 128,
    seed: np.random.Generator | int | None = 0,
) -> Graph:
    """Communities whose nodes are joined with one probability inside and another across (G2 by default).

    Parameters
    ----------
    sizes : sequence of int
        Nodes of each community; nodes are numbered community by community.
    p_in, p_out : float in [0, 1]
        Probability of an edge inside a community, and between two.
    seed : Generator, int or None

    Raises
    ------
    OptionError
        For negative sizes and for probabilities outside [0, 1].

    References
    ----------
    P. W. Holland, K. B. Laskey, S. Leinhardt, Stochastic blockmodels, Social Networks 5, 109-137 (1983).

    Examples
    --------
    >>> stochastic_block_model()
    Graph(120 nodes, 504 edges, unweighted)
    """
    for size in sizes:
        count("sizes", size)
    for name, p in (("p_in", p_in), ("p_out", p_out)):
        _need(0 <= p <= 1, f"{name}={p!r} is not a probability")
    rng = np.random.default_rng(seeded("seed", seed))
    starts = np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])
    ends: list[tuple[Int64Array, Int64Array]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for a, size in enumerate(sizes):
        u, v = _decode_pairs(_distinct(rng, comb(size, 2), int(rng.binomial(comb(size, 2), p_in))))
        ends.append((starts[a] + u, starts[a] + v))
        for b in range(a + 1, len(sizes)):
            pairs = size * sizes[b]
            chosen = _distinct(rng, pairs, int(rng.binomial(pairs, p_out)))
            ends.append((starts[a] + chosen // max(sizes[b], 1), starts[b] + chosen % max(sizes[b], 1)))
    u, v = (np.concatenate(side) for side in zip(*ends, strict=True))
    return Graph.from_edges(u, v, n_nodes=int(starts[-1]))


@checked
def erdos_renyi(n: int, mean_degree: float, seed: np.random.Generator | int | None = None) -> Graph:
    """Uniformly random graph with exactly ⌊n · mean_degree / 2 + ½⌋ edges, G(n, M).

    Parameters
    ----------
    n : int
        Number of nodes.
    mean_degree : float
        From 0 to n − 1.
    seed : Generator, int or None

    Raises
    ------
    OptionError
        For a mean degree that n nodes can't have.

    References
    ----------
    P. Erdős, A. Rényi, On random graphs I, Publicationes Mathematicae 6, 290-297 (1959).

    Examples
    --------
    >>> erdos_renyi(100, 6.0, seed=0)
    Graph(100 nodes, 300 edges, unweighted)
    """
    count("n", n)
    _need(0 <= mean_degree <= max(n - 1, 0), f"mean_degree={mean_degree!r} is not between 0 and n − 1 = {n - 1}")
    m = min(int(np.floor(n * mean_degree / 2 + 0.5)), comb(n, 2))
    rng, pairs = np.random.default_rng(seeded("seed", seed)), comb(n, 2)
    if m < LARGE_GRAPH:
        return Graph.from_edges(*_decode_pairs(_distinct(rng, pairs, m)), n_nodes=n)
    return _by_low(n, *_decoded(n, _distinct(rng, pairs, m)))


@checked
def barabasi_albert(n: int, m: int, seed: np.random.Generator | int | None = None) -> Graph:
    """Preferential attachment: each new node joins m earlier ones, chosen in proportion to their degrees.

    Starts with a star of m + 1 nodes; has exactly (n − m)·m edges and is connected.

    Parameters
    ----------
    n : int
        Number of nodes, above m.
    m : int
        Edges of each new node, at least 1.
    seed : Generator, int or None

    Raises
    ------
    OptionError
        For m outside 1…n − 1.

    Notes
    -----
    An edge copies an end drawn from the list of the ends of all edges of earlier nodes, which is in
    proportion to degree (Batagelj and Brandes). Ends within a batch of nodes are resolved together, by
    following the draws back; draws that repeat a neighbour of the same node are drawn again.

    References
    ----------
    A.-L. Barabási, R. Albert, Science 286, 509-512 (1999). V. Batagelj, U. Brandes, Efficient generation
    of large random networks, Phys. Rev. E 71, 036113 (2005).

    Examples
    --------
    >>> barabasi_albert(100, 3, seed=0)
    Graph(100 nodes, 291 edges, unweighted)
    """
    count("n", n)
    _need(1 <= m < n, f"m={m}: each new node must join between 1 and n − 1 = {n - 1} others")
    rng, size = np.random.default_rng(seeded("seed", seed)), (n - m) * m
    target = np.empty(size, id_dtype(n))
    target[:m] = np.arange(m)
    attach = _attach if size < LARGE_GRAPH else _attach_by_loops
    done = m
    while done < size:
        batch = min(size, done + m * max(1, done // (2 * m))) - done
        attach(rng, target, done, batch, m)
        done += batch
    source = np.repeat(np.arange(m, n, dtype=target.dtype), m)
    return Graph.from_edges(source, target, n_nodes=n) if size < LARGE_GRAPH else _by_low(n, target, source)


def _attach(rng: np.random.Generator, target: NDArray[Any], known: int, batch: int, m: int) -> None:
    """Set the targets of the `batch` edges after the `known` ones.

    Edge e is of node m + e // m; end 2e of the list of ends is that node, and end 2e + 1 the target of e.
    """
    node = np.arange(known, known + batch) // m
    available = 2 * m * node
    draws = rng.integers(0, available)
    while True:
        found = _follow(target, draws, 2 * known, m)
        order = np.lexsort((found, node))
        again = np.zeros(batch, bool)
        sorted_node, chosen = node[order], found[order]
        again[order[1:]] = (sorted_node[1:] == sorted_node[:-1]) & (chosen[1:] == chosen[:-1])
        if not again.any():
            target[known : known + batch] = found
            return
        draws[again] = rng.integers(0, available[again])


def _follow(target: NDArray[Any], draws: Int64Array, known: int, m: int) -> Int64Array:
    """Node at each drawn end, through draws of the same batch (from end `known` on) where these stand in between."""
    end = draws.copy()
    open_ = np.flatnonzero((end >= known) & (end % 2 == 1))
    while open_.size:
        end[open_] = draws[(end[open_] - known) // 2]
        open_ = open_[(end[open_] >= known) & (end[open_] % 2 == 1)]
    return np.where(end % 2 == 0, m + end // (2 * m), target[end // 2])


def _attach_by_loops(rng: np.random.Generator, target: NDArray[Any], known: int, batch: int, m: int) -> None:
    """The same, from the same draws, in 11 bytes an edge of the batch."""
    draws = np.empty(batch, np.int64)
    for a in range(0, batch, CHUNK):
        b = min(a + CHUNK, batch)
        draws[a:b] = rng.integers(0, 2 * m * (np.arange(known + a, known + b) // m))
    changed, again = np.ones(batch, bool), np.empty(batch, bool)
    taken = np.zeros(m + (known + batch) // m, bool)
    while True:
        follow_draws(draws, known, m, target, changed, again, taken)
        edges = np.flatnonzero(again)
        if not edges.size:
            return
        draws[edges] = rng.integers(0, 2 * m * ((known + edges) // m))
        changed[:] = again


def _by_low(n: int, low: NDArray[Any], high: NDArray[Any]) -> Graph:
    """The graph of edges that are sorted by their higher end."""
    start, target = group(low, high, n)
    source = np.repeat(np.arange(n, dtype=low.dtype), np.diff(start))
    for ends in (source, target):
        ends.setflags(write=False)
    return Graph(n, source, target, unit_weights(source.size))


def _distinct(rng: np.random.Generator, population: int, count: int) -> Int64Array:
    """A uniform set of `count` distinct numbers below `population`, sorted."""
    if 2 * count > population:
        keep = np.ones(population, bool)
        keep[_distinct(rng, population, population - count)] = False
        return np.flatnonzero(keep)
    values = rng.integers(0, max(population, 1), count)
    values.sort()
    distinct = np.ones(count, bool)
    distinct[1:] = values[1:] != values[:-1]
    if not distinct.all():
        values = values[distinct]
    del distinct
    extra, drawn = np.empty(0, np.int64), count
    while missing := count - values.size - extra.size:
        more = rng.integers(0, population, missing)
        drawn += missing
        extra = np.union1d(extra, more[values[np.minimum(np.searchsorted(values, more), values.size - 1)] != more])
    _skip(rng, population, -drawn % (count + count // 2) if count else 0)
    return np.sort(np.concatenate([values, extra])) if extra.size else values


def _skip(rng: np.random.Generator, population: int, draws: int) -> None:
    """Draw on to the end of a block of one and a half times the count: what is drawn next depends on it."""
    for done in range(0, draws, CHUNK):
        rng.integers(0, population, min(CHUNK, draws - done))


def _decode_pairs(numbers: Int64Array) -> tuple[Int64Array, Int64Array]:
    """The k-th pair u < v, in the order (0,1), (0,2), (1,2), (0,3) and so on."""
    v = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    # The square root may round across a whole number.
    v -= v * (v - 1) // 2 > numbers
    v += v * (v + 1) // 2 <= numbers
    return numbers - v * (v - 1) // 2, v


def _decoded(n: int, numbers: Int64Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same as ids of the smallest type, in pieces."""
    low, high = (np.empty(numbers.size, id_dtype(n)) for _ in range(2))

    def decode(a: int, b: int) -> None:
        low[a:b], high[a:b] = _decode_pairs(numbers[a:b])

    in_chunks(decode, numbers.size)
    return low, high


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise OptionError(message)
