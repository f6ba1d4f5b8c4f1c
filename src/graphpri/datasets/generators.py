"""Random and regular graphs, in whole-array operations: 10⁶ edges take seconds."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import OptionError
from graphpri.graph import Graph

Ids = NDArray[np.int64]


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
    _need(k >= 2 and k % 2 == 0, f"k={k}: the degree of a ring must be even and at least 2")
    _need(k < n, f"k={k}: {n} nodes have at most {n - 1} neighbours each")
    u = np.repeat(np.arange(n), k // 2)
    return Graph.from_edges(u, (u + np.tile(np.arange(1, k // 2 + 1), n)) % n, n_nodes=n)


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
    """
    _need(all(size >= 0 for size in sizes), f"sizes={tuple(sizes)}: a community can't have a negative size")
    for name, p in (("p_in", p_in), ("p_out", p_out)):
        _need(0 <= p <= 1, f"{name}={p!r} is not a probability")
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])
    ends: list[tuple[Ids, Ids]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for a, size in enumerate(sizes):
        u, v = _decode_pairs(_distinct(rng, comb(size, 2), int(rng.binomial(comb(size, 2), p_in))))
        ends.append((starts[a] + u, starts[a] + v))
        for b in range(a + 1, len(sizes)):
            pairs = size * sizes[b]
            chosen = _distinct(rng, pairs, int(rng.binomial(pairs, p_out)))
            ends.append((starts[a] + chosen // max(sizes[b], 1), starts[b] + chosen % max(sizes[b], 1)))
    u, v = (np.concatenate(side) for side in zip(*ends, strict=True))
    return Graph.from_edges(u, v, n_nodes=int(starts[-1]))


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
    """
    _need(n >= 0, f"n={n}: a graph can't have a negative number of nodes")
    _need(0 <= mean_degree <= max(n - 1, 0), f"mean_degree={mean_degree!r} is not between 0 and n − 1 = {n - 1}")
    m = min(int(np.floor(n * mean_degree / 2 + 0.5)), comb(n, 2))
    u, v = _decode_pairs(_distinct(np.random.default_rng(seed), comb(n, 2), m))
    return Graph.from_edges(u, v, n_nodes=n)


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
    """
    _need(1 <= m < n, f"m={m}: each new node must join between 1 and n − 1 = {n - 1} others")
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(m, n), m)
    target = np.empty(source.size, np.int64)
    target[:m] = np.arange(m)
    done = m
    while done < source.size:
        batch = np.arange(done, min(source.size, done + m * max(1, done // (2 * m))))
        target[batch] = _attach(rng, source, target, batch, m)
        done = int(batch[-1]) + 1
    return Graph.from_edges(source, target, n_nodes=n)


def _attach(rng: np.random.Generator, source: Ids, target: Ids, batch: Ids, m: int) -> Ids:
    """Targets of a batch of edges; end 2e of the list is edge e's source, end 2e + 1 its target."""
    known = 2 * int(batch[0])
    available = 2 * m * (source[batch] - m)
    draws = rng.integers(0, available)
    while True:
        found = _follow(source, target, draws, known)
        order = np.lexsort((found, source[batch]))
        again = np.zeros(batch.size, bool)
        node, chosen = source[batch][order], found[order]
        again[order[1:]] = (node[1:] == node[:-1]) & (chosen[1:] == chosen[:-1])
        if not again.any():
            return found
        draws[again] = rng.integers(0, available[again])


def _follow(source: Ids, target: Ids, draws: Ids, known: int) -> Ids:
    """Node at each drawn end, through draws of the same batch where these stand in between."""
    end = draws.copy()
    open_ = np.flatnonzero((end >= known) & (end % 2 == 1))
    while open_.size:
        end[open_] = draws[(end[open_] - known) // 2]
        open_ = open_[(end[open_] >= known) & (end[open_] % 2 == 1)]
    return np.where(end % 2 == 0, source[end // 2], target[end // 2])


def _distinct(rng: np.random.Generator, population: int, count: int) -> Ids:
    """A uniform set of `count` distinct numbers below `population`, sorted."""
    if 2 * count > population:
        keep = np.ones(population, bool)
        keep[_distinct(rng, population, population - count)] = False
        return np.flatnonzero(keep)
    drawn = np.empty(0, np.int64)
    while True:
        drawn = np.concatenate([drawn, rng.integers(0, max(population, 1), count + count // 2)])
        values, first = np.unique(drawn, return_index=True)
        if values.size >= count:
            return np.sort(drawn[np.sort(first)[:count]])


def _decode_pairs(numbers: Ids) -> tuple[Ids, Ids]:
    """The k-th pair u < v, in the order (0,1), (0,2), (1,2), (0,3) and so on."""
    v = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    # The square root may round across a whole number.
    v -= v * (v - 1) // 2 > numbers
    v += v * (v + 1) // 2 <= numbers
    return numbers - v * (v - 1) // 2, v


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise OptionError(message)
