"""The order in which sweeps visit the edges of a large graph: many at a time, and the same whatever runs them.

Nodes are dealt to blocks, by a hash or in the order of their numbers where most edges join near ones, and each edge
belongs to the pair of blocks of its ends. Pairs without a common block share no node, so that their edges can be
settled at the same time and yet as if one after the other. The pairs are played in rounds as in a round-robin
tournament: in each round every block meets one other, and in the last one itself. The number of blocks depends on the
graph alone.
"""

# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import CHUNK, compiled, in_chunks, inlined, merged, workers
from graphpri.graph import Graph, IntArray, id_dtype, taken, unit_weights

Places = NDArray[np.int64]

EDGES_A_PAIR = 25_000
"""About how many edges a pair of blocks should have, so that a round is long against what it takes to begin one."""

BLOCKS = (4, 32)
"""Fewest and most blocks, both powers of two."""

NEAR = 0.5
"""Share of the edges within blocks of consecutive nodes from which these are better: what belongs together is settled
together, which lattices need where edges gather (β < 2)."""

SAMPLE = 100_000
"""About how many edges that share is taken from."""

THREADED = 250_000
"""Edges from which threads pay."""


@merged
def seat(i: int, n: int, bits: int, near: bool) -> tuple[Any, Any]:
    """Block and new number of a node: runs of consecutive nodes, or one of each run of nodes to every block.

    Which one of a run goes to which block hangs on a hash of the run. Blocks then are of the same size, and nodes keep
    their order in each. There are 2 to the power of `bits`, so that runs are told by shifts: divisions take longer than
    all else here.
    """
    blocks = 1 << bits
    if near:
        size = -(-n >> bits)
        return i // size, i
    runs, run, block = n >> bits, i >> bits, i & (blocks - 1)
    if run < runs:
        x = (np.uint64(run) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        # An odd factor and a shift permute the numbers below a power of two.
        block = np.int64((np.uint64(block) * (x | np.uint64(1)) + (x >> np.uint64(32))) & np.uint64(blocks - 1))
    longer = n & (blocks - 1)
    return block, block * runs + (block if block < longer else longer) + run


@inlined
def pair_of(a: int, b: int, blocks: int) -> int:
    """Number of a pair of blocks."""
    return a * blocks + b if a < b else b * blocks + a


@compiled
def count_pairs(
    start: int, stop: int, source: IntArray, target: IntArray, n: int, bits: int, near: bool, counts: Places
) -> None:
    """Count the edges of each pair of blocks; the pair a ≤ b has the number a · blocks + b."""
    for e in range(start, stop):
        a, _ = seat(np.int64(source[e]), n, bits, near)
        b, _ = seat(np.int64(target[e]), n, bits, near)
        counts[pair_of(a, b, 1 << bits)] += 1


@compiled
def deal(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    n: int,
    bits: int,
    near: bool,
    place: Places,
    edge: IntArray,
    u: IntArray,
    v: IntArray,
) -> None:
    """Put edges behind those of their pair that came before, with the nodes' new numbers; `place` is moved on."""
    for e in range(start, stop):
        a, i = seat(np.int64(source[e]), n, bits, near)
        b, j = seat(np.int64(target[e]), n, bits, near)
        pair = pair_of(a, b, 1 << bits)
        at = place[pair]
        place[pair] = at + 1
        edge[at] = e
        u[at], v[at] = i, j


@compiled
def seats(start: int, stop: int, n: int, bits: int, near: bool, node: IntArray) -> None:
    """Note at each new number which node has it."""
    for i in range(start, stop):
        node[seat(i, n, bits, near)[1]] = i


def scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of 64-bit numbers: the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def rounds_of(blocks: int) -> list[NDArray[np.int64]]:
    """Numbers of the pairs that meet in each round, by the circle method; every block meets itself in the last."""
    rest = np.arange(blocks - 1)
    schedule = []
    for turn in range(blocks - 1):
        seats = np.concatenate([[blocks - 1], np.roll(rest, turn)])
        one, other = seats[: blocks // 2], seats[: blocks // 2 - 1 : -1]
        schedule.append(np.minimum(one, other) * blocks + np.maximum(one, other))
    return [*schedule, np.arange(blocks) * (blocks + 1)]


def _is_local(graph: Graph, blocks: int) -> bool:
    """Whether most edges are within blocks of consecutive nodes."""
    size, some = -(-graph.n_nodes // blocks), slice(None, None, max(1, graph.n_edges // SAMPLE))
    return bool(np.mean(graph.source[some] // size == graph.target[some] // size) >= NEAR)


class Tournament:
    """The edges of a graph in the order of the tournament.

    Attributes
    ----------
    graph : Graph
        The same graph, nodes numbered block by block and edges listed pair by pair: not in canonical form.
    edge, node : ndarray of int, shapes (M,) and (N,)
        The given graph's number of each edge and of each node.
    first : ndarray of int64
        Where the edges of each pair begin, and where the last ones end.
    rounds : list of ndarray of int64
        Numbers of the pairs of each round.
    """

    def __init__(self, graph: Graph) -> None:
        n, m = graph.n_nodes, graph.n_edges
        least, most = BLOCKS
        blocks = least
        while blocks < most and (2 * blocks) ** 2 * EDGES_A_PAIR <= 2 * m:
            blocks *= 2
        near = _is_local(graph, blocks)
        # Pieces of fixed length, so that threads can deal side by side; in each pair they keep their order.
        piece = max(CHUNK, -(-m // 64))
        counts = np.zeros((max(-(-m // piece), 1), blocks * blocks), np.int64)
        bits = blocks.bit_length() - 1
        how = graph.source, graph.target, n, bits, near
        in_chunks(lambda a, b: count_pairs(a, b, *how, counts[a // piece]), m, piece)
        before = np.cumsum(counts.T.ravel()).reshape(counts.T.shape).T - counts
        self.edge, u, v = np.empty(m, id_dtype(m)), np.empty(m, id_dtype(n)), np.empty(m, id_dtype(n))
        in_chunks(lambda a, b: deal(a, b, *how, before[a // piece], self.edge, u, v), m, piece)
        self.node = np.empty(n, id_dtype(n))
        in_chunks(lambda a, b: seats(a, b, n, bits, near, self.node), n)
        self.first = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
        weights = self.dealt(graph.weights) if graph.is_weighted else unit_weights(m)
        self.graph = Graph(n, u, v, weights, weight_name=graph.weight_name)
        self.rounds = rounds_of(blocks)
        self._pool: ThreadPoolExecutor | None = None

    def dealt(self, per_edge: NDArray[Any]) -> NDArray[Any]:
        """What the given graph has for each edge, in the order of the tournament."""
        return taken(per_edge, self.edge)

    def listed(self, mask: NDArray[Any]) -> NDArray[Any]:
        """What there is for each edge, in the order of the given graph."""
        out = np.empty_like(mask)

        def put(a: int, b: int) -> None:
            out[self.edge[a:b]] = mask[a:b]

        in_chunks(put, out.size)
        return out

    def side_by_side(self, task: Callable[[Places], None], pairs: Places) -> None:
        """Run a task on pairs that share no node, in threads where that pays.

        Parameters
        ----------
        task : callable
            Takes numbers of pairs, works in compiled code without the interpreter's lock, and writes to nothing but
            what belongs to their blocks.
        pairs : ndarray of int64
        """
        threads = min(workers(), pairs.size) if self.edge.size >= THREADED else 1
        if threads < 2:
            return task(pairs)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(workers() - 1)
        # The largest first, each to the thread that has least to do: which one does not matter for the result.
        sizes = self.first[pairs + 1] - self.first[pairs]
        load, share = np.zeros(threads), [[] for _ in range(threads)]
        for p in np.argsort(-sizes, kind="stable"):
            idle = int(load.argmin())
            load[idle] += sizes[p]
            share[idle].append(pairs[p])
        others = [self._pool.submit(task, np.array(some)) for some in share[1:] if some]
        try:
            task(np.array(share[0]))
        finally:
            wait(others)
        for done in others:
            done.result()
        return None
