"""The other methods: each gives a score per edge, for the one selection of exactly K edges in `_selection`.

A method is a function ``(graph, k, rng, *, option=…) -> Scored``, registered by :func:`method` under a name. Budget,
ties, connectivity, protected and forbidden edges are those of `select_top`.

Each takes the canonical graph and gives one float per edge in its order. Local degree, local similarity and
triangles are computed from the canonical arrays, which needs neither NetworKit's seconds of loading nor a copy of the
graph. Where no neighbours tie the scores are NetworKit's; where some do, it ranks them by the number of the edge or in
no particular order, and these in an order drawn by the seed. Simmelian scores are left to NetworKit.
It numbers edges in the order in which they are inserted, so the canonical order makes its scores a function of the
labelled graph. Its random algorithms draw from a generator that the whole process shares, and its betweenness
varies in the last digit with the threads; those are written here anew.

>>> ring = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [4.0, 1.0, 3.0, 2.0])
>>> mask, scored = run(ring, "weight", 2, np.random.default_rng(0))
>>> ring.weights[mask], scored.scores
(array([4., 3.]), array([4., 2., 1., 3.]))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from math import log
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, dijkstra
from scipy.special import betainc, betaln, ndtr, rel_entr

from graphpri._arguments import checked, new_name, real, whole
from graphpri._laplacian import Resistance, leverages
from graphpri._runtime import LARGE_GRAPH, compiled, in_chunks, workers
from graphpri._selection import (
    SAME,
    best_forest,
    best_forest_by,
    check_budget,
    cover_by,
    rank,
    select_top,
    settle,
    tie_keys,
)
from graphpri.errors import GraphError, MissingExtraError, OptionError, argument, did_you_mean, setting
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray, Neighbours, group, id_dtype, places_within


@compiled
def rank_by_node(
    nodes: IntArray,
    starts: tuple[IntArray, IntArray],
    below: IntArray,
    ends: tuple[IntArray, IntArray],
    counts: IntArray,
    log: FloatArray,
) -> FloatArray:
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
def rank_by_edge(order: IntArray, source: IntArray, target: IntArray, counts: IntArray, log: FloatArray) -> FloatArray:
    """The same where each node ranks its edges in `order`."""
    scores = np.zeros(source.size)
    for e in order:
        for x in (source[e], target[e]):
            counts[x, 0] += 1
            d = counts[x, 1]
            scores[e] = max(scores[e], 1.0 - log[counts[x, 0]] / log[d] if d > 1 else 1.0)
    return scores


@compiled
def count_triangles(
    first: int, last: int, start: NDArray[np.int64], head: IntArray, mark: IntArray, counts: IntArray
) -> None:
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


_WEDGES = 2**21  # the same for triangles, in pairs of arcs; sized for the memory of the whole-array way
_COUNTERS = 8  # threads that count triangles at once, each in its own array
_EXACT_WORK = 1e8  # largest N·M for which betweenness is computed from all nodes (some seconds)
_PIVOTS = 256
_SEARCH_STATES = 2**18  # nodes and edges of the searches held at once; sized for the cache
_FIRE_STATES = 2**22


def _arcs(graph: Graph) -> Neighbours:
    """Neighbours of each node, larger ones first: the order in which random draws have always been dealt."""
    n, m = graph.n_nodes, graph.n_edges
    start, arc = group(np.concatenate([graph.source, graph.target]), np.arange(2 * m), n)
    return Neighbours(start, np.concatenate([graph.target, graph.source]).astype(np.int64)[arc], arc % max(m, 1))


def networkit(purpose: str) -> Any:
    """The library NetworKit, or an error that says which extra brings it."""
    try:
        import networkit as nk
    except ImportError as error:
        raise MissingExtraError("NetworKit", "networkit", purpose) from error
    return nk


@contextmanager
def one_thread(nk: Any) -> Generator[None]:
    """NetworKit in one thread: several add up in an order that varies, and cost more than they save on small graphs."""
    threads = nk.getMaxNumberOfThreads()
    nk.setNumberOfThreads(1)
    try:
        yield
    finally:
        nk.setNumberOfThreads(threads)


def to_networkit(graph: Graph, purpose: str = "a graph of NetworKit") -> Any:
    """Unweighted NetworKit graph with indexed edges, numbered as in `graph`."""
    nk = networkit(purpose)
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    g: Any = nk.GraphFromCoo(ends, n=graph.n_nodes, edgesIndexed=True)
    for m in np.linspace(0, graph.n_edges - 1, 8).astype(int):
        if g.edgeId(int(graph.source[m]), int(graph.target[m])) != m:
            raise RuntimeError(f"NetworKit {nk.__version__} does not number edges in the order of insertion")
    return g


def _run(algorithm: Any) -> FloatArray:
    return np.asarray(algorithm.run().scores(), float)


def triangle_counts(graph: Graph) -> FloatArray:
    """Number of triangles that contain each edge.

    Each triangle is found once, from the end of lowest degree (O(M^1.5)). Where that takes long, by compiled
    loops in threads; then 24 bytes an edge, and 4 more for each thread up to the eighth.
    """
    start, head, edge = _upward(graph)
    counts = np.empty(graph.n_edges)
    lengths = np.diff(start)
    few = graph.n_edges < LARGE_GRAPH and int(lengths[head].sum()) < _WEDGES
    counts[edge] = _triangles_by_wedge(start, head) if few else _triangles_in_threads(start, head)
    return counts


def _upward(graph: Graph) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Nodes numbered by degree, and arcs from the lower to the higher node, by their lower: heads, and edges."""
    n, m = graph.n_nodes, graph.n_edges
    ids = id_dtype(max(n, m))
    number = np.empty(n, ids)
    # By degree no node has more than √(2M) arcs upwards: N. Chiba, T. Nishizeki, SIAM Journal on Computing 14, 1985.
    number[np.argsort(graph.degrees(), kind="stable")] = np.arange(n)
    one, two = number[graph.source], number[graph.target]
    tail, head, edge = np.minimum(one, two), np.maximum(one, two), np.arange(m, dtype=ids)
    del one, two
    start, edge = group(tail, edge, n)
    return start, head[edge], edge


def _triangles_by_wedge(start: NDArray[np.int64], head: NDArray[Any]) -> NDArray[np.int64]:
    """Triangles of each arc: every two arcs in a row are looked up as one."""
    n = start.size - 1
    tail = np.repeat(np.arange(n), np.diff(start))
    order = np.lexsort((head, tail))
    pairs = tail[order] * n + head[order]
    lengths = np.diff(start)[head]
    one = np.repeat(np.arange(head.size), lengths)
    two = start[head[one]] + np.arange(one.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    pair = tail[one] * n + head[two]
    place = np.minimum(np.searchsorted(pairs, pair), pairs.size - 1)
    closed = pairs[place] == pair
    arcs = np.concatenate([one[closed], two[closed], order[place[closed]]])
    return np.bincount(arcs, minlength=head.size)


def _triangles_in_threads(start: NDArray[np.int64], head: NDArray[Any]) -> NDArray[Any]:

    n, threads = start.size - 1, min(workers(), _COUNTERS)
    spare: SimpleQueue[tuple[NDArray[Any], NDArray[Any]]] = SimpleQueue()
    for _ in range(threads):
        spare.put((np.zeros(n, head.dtype), np.zeros(head.size, head.dtype)))

    def task(first: int, last: int) -> None:
        mark, counts = spare.get()
        count_triangles(first, last, start, head, mark, counts)
        spare.put((mark, counts))

    in_chunks(task, n, max(1, n // 64))
    total = spare.get()[1]
    for _ in range(threads - 1):
        total += spare.get()[1]
    return total


def jaccard_scores(graph: Graph) -> FloatArray:
    """Common neighbours over all neighbours of the two ends."""
    common, degree = triangle_counts(graph), graph.degrees()
    return common / (degree[graph.source] + degree[graph.target] - common)


def structural_similarity(graph: Graph) -> FloatArray:
    """Cosine of the two ends' neighbourhoods, each end counted in its own, as SCAN defines it.

    NetworKit's score of that name counts one of the two ends: t + 1 for t triangles, where the cosine has t + 2.
    """
    size = graph.degrees() + 1.0
    return (triangle_counts(graph) + 2) / np.sqrt(size[graph.source] * size[graph.target])


def local_degree_scores(graph: Graph, rng: np.random.Generator | None = None) -> FloatArray:
    """1 − ln r / ln d, r the rank of the one end among the d neighbours of the other, by degree; the better side.

    O(M); neighbours of equal degree rank in an order of the nodes drawn from `rng` (by number where None).
    """
    degree, ties = graph.degrees(), tie_keys(graph.n_nodes, rng)
    if graph.n_edges < LARGE_GRAPH:
        place = np.empty(graph.n_nodes, np.int64)
        place[np.lexsort((ties, -degree))] = np.arange(graph.n_nodes)
        return _rank_exponents(graph, place[graph.target], place[graph.source])
    n, ids = graph.n_nodes, id_dtype(max(graph.n_nodes, graph.n_edges))
    by_target, below = group(graph.target, np.arange(graph.n_edges, dtype=ids), n)
    by_source = np.searchsorted(graph.source, np.arange(n + 1, dtype=graph.source.dtype))
    nodes = np.lexsort((ties, -degree))
    ends, counts = (graph.source, graph.target), _counts(degree, ids)
    return rank_by_node(nodes, (by_target, by_source), below, ends, counts, logarithms(degree))


def local_similarity_scores(graph: Graph, rng: np.random.Generator | None = None) -> FloatArray:
    """1 − ln r / ln d, r the rank of the one end among the d neighbours of the other, by Jaccard similarity.

    Of the better side; equally similar neighbours rank in an order of the edges drawn from `rng` (by
    number where None).
    """
    order, degree = rank(jaccard_scores(graph), rng), graph.degrees()
    if graph.n_edges < LARGE_GRAPH:
        place = np.empty(graph.n_edges, np.int64)
        place[order] = np.arange(graph.n_edges)
        return _rank_exponents(graph, place, place)
    counts = _counts(degree, id_dtype(graph.n_nodes))
    return rank_by_edge(order, graph.source, graph.target, counts, logarithms(degree))


def _counts(degree: NDArray[np.int64], ids: np.dtype[Any]) -> NDArray[Any]:
    """Neighbours ranked so far, none, and in all; shape (N, 2)."""
    return np.stack([np.zeros(degree.size, ids), degree.astype(ids)], axis=1)


def _rank_exponents(graph: Graph, of_target: NDArray[Any], of_source: NDArray[Any]) -> FloatArray:
    """1 − ln r / ln d of each edge, the better side; each end stands at its place among the neighbours of the other."""
    tails, keys = np.concatenate([graph.source, graph.target]), np.concatenate([of_target, of_source])
    found = exponents(tails, keys, graph.n_nodes, logarithms(graph.degrees()))
    return np.maximum(found[: graph.n_edges], found[graph.n_edges :])


def exponents(tails: NDArray[Any], keys: NDArray[Any], n: int, log: FloatArray) -> FloatArray:
    """1 − ln r / ln d of each arc, which is the r-th by its key of the d arcs of its tail, one of n nodes."""
    order, degree = np.lexsort((keys, tails)), np.bincount(tails, minlength=n)
    degrees = np.repeat(degree, degree)
    place = np.arange(tails.size) - np.repeat(np.cumsum(degree) - degree, degree)
    share = np.divide(log[place + 1], log[degrees], out=np.zeros(tails.size), where=degrees > 1)
    found = np.empty(tails.size)
    found[order] = 1 - share
    return found


def logarithms(degree: NDArray[np.int64]) -> FloatArray:
    """Natural logarithms of 0 (as 0) to the largest degree; the C library's, the same on every processor."""
    top = int(degree.max(initial=1))
    return np.fromiter((log(max(i, 1)) for i in range(top + 1)), np.float64, top + 1)


def simmelian_scores(graph: Graph, *, quadrilateral: bool) -> FloatArray:
    """Largest Jaccard overlap of the two ends' first neighbours, ranked by shared triangles or quadrangles."""
    g, nk = to_networkit(graph, "method 'simmelian'"), networkit("method 'simmelian'").sparsification
    if quadrilateral:
        counts = nk.ChibaNishizekiQuadrangleEdgeScore(g).run().scores()
        return _run(nk.PrefixJaccardScore(g, nk.GeometricMeanScore(g, counts).run().scores()))
    return _run(nk.PrefixJaccardScore(g, nk.TriangleEdgeScore(g).run().scores()))


def betweenness(graph: Graph, pivots: int | None, rng: np.random.Generator) -> FloatArray:
    """Shortest paths (in hops) through each edge, each pair of nodes counted once.

    From `pivots` nodes drawn at random, scaled up to all; None takes all nodes up to N·M = 10⁸ and 256 above.
    """
    n = graph.n_nodes
    if pivots is None:
        pivots = n if n * graph.n_edges <= _EXACT_WORK else _PIVOTS
    pivots = min(pivots, n)
    sources = np.arange(n) if pivots == n else np.sort(rng.choice(n, pivots, replace=False))
    arcs, total = _arcs(graph), np.zeros(graph.n_edges)
    width = max(1, _SEARCH_STATES // max(1, n + graph.n_edges))
    for a in range(0, pivots, width):
        _add_dependencies(arcs, sources[a : a + width], total)
    return settle(total * (n / (2 * max(1, pivots))))


def _add_dependencies(arcs: Neighbours, sources: NDArray[np.int64], total: FloatArray) -> None:
    """Brandes' algorithm from several sources at once; adds to each edge the paths from them that use it.

    A state is a node in the search from one source. Path counts are kept relative to the largest of their
    level, since only ratios within a level matter and the counts themselves may overflow.
    """
    n = arcs.start.size - 1
    level = np.full(sources.size * n, -1)
    last, paths, beyond = np.empty_like(level), np.zeros(level.size), np.zeros(level.size)
    states = np.arange(sources.size) * n + sources
    level[states], paths[states] = 0, 1.0
    steps: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any], FloatArray]] = []
    while states.size:
        position, entry = arcs.leaving(states % n)
        tail = states[entry]
        head = tail - tail % n + arcs.node[position]
        onward = level[head] < 0
        tail, head, edge = tail[onward], head[onward], arcs.edge[position[onward]]
        level[head] = len(steps) + 1
        np.add.at(paths, head, paths[tail])
        steps.append((tail, head, edge, paths[tail] / paths[head]))
        order = np.arange(head.size)
        last[head] = order
        states = head[last[head] == order]
        largest = np.zeros(sources.size)
        np.maximum.at(largest, states // n, paths[states])
        paths[states] /= largest[states // n]
    # Dependencies are added up from the farthest level back: U. Brandes, Journal of Mathematical Sociology 25, 2001.
    for tail, head, edge, share in reversed(steps):
        through = share * (1 + beyond[head])
        np.add.at(beyond, tail, through)
        np.add.at(total, edge, through)


def forest_fire_scores(graph: Graph, burn: float, rounds: float, rng: np.random.Generator) -> FloatArray:
    """How often each edge burns.

    A fire starts at a random node. Each burning node sets fire to a geometric number of its neighbours (mean
    burn/(1 − burn)) that don't burn yet, drawn at random, along the edges to them. Fires are lit one after
    the other until `rounds` times M edges have burnt.
    """
    arcs, burnt, reach = _arcs(graph), np.zeros(graph.n_edges), Reach.of(graph)
    inhabited = np.flatnonzero(graph.degrees())
    mean_size = float(reach.size[inhabited].mean())
    left, width, most = rounds * graph.n_edges, 1, max(1, int(_FIRE_STATES / mean_size))
    while left > 0:
        fire, edge = _burn(arcs, reach, rng.choice(inhabited, width), burn, rng)
        length = np.cumsum(np.bincount(fire, minlength=width))
        lit = int(np.searchsorted(length, left)) + 1
        np.add.at(burnt, edge[fire < lit], 1.0)
        left -= length[min(lit, width) - 1]
        # As many fires at once as the edges that are left to burn seem to need.
        width = int(np.clip(left * width / max(1, length[-1]) + 1, 1, min(4 * width, most)))
    return burnt


class Reach(NamedTuple):
    """What a fire from each node can reach: the size of its component, and the place of each node in its own."""

    size: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> Reach:
        count, member = graph.components()
        sizes, place = places_within(member, count)
        return cls(sizes[member], place)


def _burn(
    arcs: Neighbours, reach: Reach, starts: NDArray[np.int64], burn: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One fire from each start; the fire and the edge of every burning."""
    base = np.cumsum(reach.size[starts]) - reach.size[starts]
    burning = np.zeros(int(reach.size[starts].sum()), bool)
    fire, nodes = np.arange(starts.size), starts
    burning[base + reach.place[starts]] = True
    fires: list[NDArray[Any]] = [np.empty(0, np.int64)]
    edges: list[NDArray[Any]] = [np.empty(0, np.int64)]
    while nodes.size:
        sparks = rng.geometric(1 - burn, nodes.size) - 1
        position, entry = arcs.leaving(nodes)
        state = base[fire[entry]] + reach.place[arcs.node[position]]
        free = ~burning[state]
        position, entry, state = position[free], entry[free], state[free]
        # The free neighbours of each burning node in a random order, of whom the first few catch fire.
        order = np.lexsort((rng.random(entry.size), entry))
        position, entry, state = position[order], entry[order], state[order]
        drawn = rng.permutation(np.flatnonzero(np.arange(entry.size) - np.searchsorted(entry, entry) < sparks[entry]))
        state, first = np.unique(state[drawn], return_index=True)
        burning[state] = True
        caught = drawn[first]
        fire, nodes = fire[entry[caught]], arcs.node[position[caught]]
        fires.append(fire)
        edges.append(arcs.edge[position[caught]])
    return np.concatenate(fires), np.concatenate(edges)


def algebraic_distance_scores(graph: Graph, systems: int, rng: np.random.Generator) -> FloatArray:
    """Largest difference between the two ends over random vectors after 30 steps of damped Jacobi smoothing."""
    x = rng.random((graph.n_nodes, systems))
    rows, columns = np.concatenate([graph.source, graph.target]), np.concatenate([graph.target, graph.source])
    average = sp.csr_array((np.concatenate(shares(graph)), (rows, columns)), shape=(graph.n_nodes, graph.n_nodes))
    for _ in range(30):
        x = 0.5 * x + 0.5 * (average @ x)
    return np.round(np.abs(x[graph.source] - x[graph.target]).max(axis=1, initial=0.0), 12)


def shares(graph: Graph) -> tuple[FloatArray, FloatArray]:
    """Part of the strength of its first and of its second end that each edge carries."""
    top = np.zeros(graph.n_nodes)
    for ends in (graph.source, graph.target):
        np.maximum.at(top, ends, graph.weights)
    first, second = graph.weights / top[graph.source], graph.weights / top[graph.target]
    strength = graph.node_sums(first, second)
    return first / strength[graph.source], second / strength[graph.target]


def lengths(graph: Graph) -> FloatArray:
    """Length of each edge, the inverse of its weight, in units of the shortest: 1 and more, at most 10²⁰⁰."""
    with np.errstate(over="ignore"):
        return np.minimum(graph.weights.max(initial=0.0) / graph.weights, 1e200)


def _distances(
    graph: Graph, length: FloatArray, roots: NDArray[np.int64], reach: FloatArray | None = None
) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
    """Some of the roots after the other, and their distances to all nodes; ∞ beyond the largest `reach` of them."""
    ends = np.concatenate([graph.source, graph.target]), np.concatenate([graph.target, graph.source])
    links = sp.csr_array((np.tile(length, 2), ends), shape=(graph.n_nodes, graph.n_nodes))
    width = max(1, _SEARCH_STATES // max(1, graph.n_nodes))
    for a in range(0, roots.size, width):
        some = roots[a : a + width]
        limit = np.inf if reach is None else float(reach[a : a + width].max()) * (1 + SAME)
        yield some, np.atleast_2d(dijkstra(links, indices=some, limit=limit))


def salience_scores(graph: Graph, pivots: int | None, rng: np.random.Generator) -> FloatArray:
    """Share of roots from which the edge is on a shortest path to one of its ends, by lengths 1/weight.

    From `pivots` nodes drawn at random; None takes all up to N·M = 10⁸ and 256 above.
    """
    inhabited = np.flatnonzero(graph.degrees())
    if pivots is None:
        pivots = inhabited.size if graph.n_nodes * graph.n_edges <= _EXACT_WORK else _PIVOTS
    pivots = min(pivots, inhabited.size)
    roots = inhabited if pivots == inhabited.size else np.sort(rng.choice(inhabited, pivots, replace=False))
    length, counts = lengths(graph), np.zeros(graph.n_edges)
    for _, distance in _distances(graph, length, roots):
        for row in distance:
            at_source, at_target = row[graph.source], row[graph.target]
            with np.errstate(invalid="ignore"):
                gap = np.abs(at_target - at_source)
            counts += gap >= length * (1 - SAME)
    return counts / max(1, pivots)


def metric_ratios(graph: Graph) -> FloatArray:
    """Distance of the ends of each edge over its own length 1/weight: 1 where no way around is shorter."""
    length, degree = lengths(graph), graph.degrees()
    # A search from the end of higher degree serves many edges.
    up = degree[graph.source] >= degree[graph.target]
    root, leaf = np.where(up, graph.source, graph.target), np.where(up, graph.target, graph.source)
    longest = np.zeros(graph.n_nodes)
    np.maximum.at(longest, root, length)
    roots = np.unique(root).astype(np.int64)
    roots = roots[np.argsort(longest[roots], kind="stable")]
    start, edge = group(root, np.arange(graph.n_edges), graph.n_nodes)
    ratio = np.ones(graph.n_edges)
    for some, distance in _distances(graph, length, roots, longest[roots]):
        for node, row in zip(some, distance, strict=True):
            edges = edge[start[node] : start[node + 1]]
            ratio[edges] = row[leaf[edges]] / length[edges]
    return np.minimum(ratio, 1.0)


def bottlenecks(graph: Graph) -> FloatArray:
    """Least weight on the way between the ends of each edge whose least weight is largest.

    That is the way in a maximum spanning forest; its least weight is found by doubled steps towards the root.
    """
    n, forest = graph.n_nodes, best_forest(graph, rank(graph.weights))
    u, v = graph.source[forest].astype(np.int64), graph.target[forest].astype(np.int64)
    firsts = np.unique(graph.components()[1], return_index=True)[1]  # a root above all trees joins them
    ends = np.concatenate([u, np.full(firsts.size, n)]), np.concatenate([v, firsts])
    tree = sp.csr_array((np.ones(ends[0].size), ends), shape=(n + 1, n + 1))
    above = breadth_first_order(tree, n, directed=False)[1].astype(np.int64)
    above[n] = n
    low = np.full(n + 1, np.inf)
    child = np.where(above[u] == v, u, v)
    low[child] = graph.weights[forest]
    # Binary lifting: the ancestor 2ᵏ steps above each node, and the least weight on the way there.
    ups, lows, depth = [above], [low], (np.arange(n + 1) != n).astype(np.int64)
    while (ups[-1] != n).any():
        depth = depth + depth[ups[-1]]
        lows.append(np.minimum(lows[-1], lows[-1][ups[-1]]))
        ups.append(ups[-1][ups[-1]])
    deeper = depth[graph.source] >= depth[graph.target]
    a = np.where(deeper, graph.source, graph.target).astype(np.int64)
    b = np.where(deeper, graph.target, graph.source).astype(np.int64)
    least, gap = np.full(graph.n_edges, np.inf), depth[a] - depth[b]
    for step, (up, lowest_) in enumerate(zip(ups, lows, strict=True)):
        there = (gap >> step & 1).astype(bool)
        least[there] = np.minimum(least[there], lowest_[a[there]])
        a[there] = up[a[there]]
    for up, lowest_ in zip(ups[::-1], lows[::-1], strict=True):
        apart = up[a] != up[b]
        least[apart] = np.minimum(least[apart], np.minimum(lowest_[a[apart]], lowest_[b[apart]]))
        a[apart], b[apart] = up[a[apart]], up[b[apart]]
    apart = a != b
    least[apart] = np.minimum(least[apart], np.minimum(low[a[apart]], low[b[apart]]))
    return least


def log_binomial_tail(count: FloatArray, trials: float, chance: FloatArray) -> FloatArray:
    """Logarithm of the chance of at least `count` successes, for counts that need not be whole.

    The regularised incomplete beta function; where that is below the smallest numbers, its series (DLMF 8.17.8), and
    for counts beyond the digits of float64 Chernoff's bound.
    """
    a, b, x = count, trials - count + 1, chance
    if trials > 1e15:
        return np.where(a > trials * x, -rel_entr(a, trials * x) - rel_entr(trials - a, trials * (1 - x)), 0.0)
    tail = betainc(a, b, x)
    rare = tail < 1e-280
    logs = np.log(np.where(rare, 1.0, tail))
    a, b, x = a[rare], b[rare], x[rare]
    term = total = np.ones(a.size)
    for i in range(1000):
        term = term * ((a + b + i) / (a + 1 + i) * x)
        total = total + term
        if not (term > 1e-12 * total).any():
            break
    logs[rare] = a * np.log(x) + b * np.log1p(-x) - np.log(a) - betaln(a, b) + np.log(total)
    return logs


class Scored(NamedTuple):
    """What a method says about the edges.

    `scores` has shape (M,), higher = keep. `weights`, of the same shape, are those of methods that set weights
    of their own; they are meant for the edges that are kept.

    Examples
    --------
    >>> Scored(np.array([3.0, 1.0])).weights is None
    True
    """

    scores: FloatArray
    weights: FloatArray | None = None


@dataclass(frozen=True)
class Method:
    """A registered method.

    Parameters
    ----------
    name : str
        What users call it.
    summary : str
        One line.
    reference : str
        Where it comes from.
    score : callable
        ``(graph, k, rng, *, …) -> Scored``.
    options : frozenset of str
        Keyword options that `score` takes.
    constrained : bool
        Whether `score` takes ``protect`` and ``forbid`` too, because its weights depend on them.
    p_values : callable, optional
        What a score says as a p-value, for methods that test edges. They take the options ``significance`` and
        ``correction``: see :func:`run`.
    threshold : float, optional
        Least score of the edges that the method itself keeps, where no budget is given.
    needs_weights : bool
        Whether weights are what it goes by, so that a graph whose weights nobody named is refused.

    Examples
    --------
    >>> from graphpri.baselines import METHODS
    >>> METHODS["local-degree"].options, METHODS["random"].summary
    (frozenset({'exponent'}), 'edges drawn at random, all alike')
    """

    name: str
    summary: str
    reference: str
    score: Callable[..., Scored]
    options: frozenset[str]
    constrained: bool
    p_values: Callable[[FloatArray], FloatArray] | None = None
    threshold: float | None = None
    needs_weights: bool = False


METHODS: dict[str, Method] = {}
"""Every registered method by name."""

_CONSTRAINTS = frozenset({"protect", "forbid"})


_TESTING = frozenset({"significance", "correction"})
CORRECTIONS = ("holm", "bonferroni", "fdr")
"""Ways to correct p-values for testing all edges."""


@checked
def method(
    name: str,
    *,
    summary: str,
    reference: str,
    p_values: Callable[[FloatArray], FloatArray] | None = None,
    threshold: float | None = None,
    needs_weights: bool = False,
) -> Callable[[Callable[..., Scored]], Callable[..., Scored]]:
    """Register a score function under a name; its keyword-only parameters become the method's options.

    `p_values`, `threshold` and `needs_weights` are those of :class:`Method`.

    Examples
    --------
    >>> @method("strong-ends", summary="edges between strong nodes", reference="…")
    ... def strong_ends(graph, k, rng, *, power=1.0):
    ...     s = graph.strengths() ** power
    ...     return Scored(s[graph.source] * s[graph.target])
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], [1.0, 3.0, 2.0])
    >>> run(star, "strong-ends", 1, np.random.default_rng(0), power=2)[0]
    array([False,  True, False])
    >>> METHODS.pop("strong-ends").options
    frozenset({'power'})
    """
    new_name(name, METHODS, "method")

    def register(function: Callable[..., Scored]) -> Callable[..., Scored]:
        parameters = inspect.signature(function).parameters.values()
        keywords = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)

        @wraps(function)
        def score(graph: Graph, k: int, rng: np.random.Generator, **options: Any) -> Scored:
            return function(graph, k, rng, **options) if graph.n_edges else Scored(np.empty(0))

        options = keywords - _CONSTRAINTS | (_TESTING if p_values else frozenset())
        constrained = keywords >= _CONSTRAINTS
        METHODS[name] = Method(
            name, summary, reference, score, options, constrained, p_values, threshold, needs_weights
        )
        return score

    return register


@checked
def find(name: str, *, besides: Sequence[str] = ()) -> Method:
    """The method of that name.

    Parameters
    ----------
    name : str
    besides : sequence of str
        Names that the caller takes as well; an error lists them first.

    Raises
    ------
    OptionError
        Lists the names there are, and the closest.

    Examples
    --------
    >>> from graphpri.baselines import find
    >>> find("jaccard").summary
    'edges whose ends share most of their neighbours'
    >>> find("jacard")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: method='jacard' is not known; did you mean 'jaccard'? (methods: ...
    """
    if name not in METHODS:
        names = [*besides, *sorted(METHODS)]
        guess = did_you_mean(name, names)
        raise OptionError(f"{argument('method', name)} is not known{guess} (methods: {', '.join(names)})")
    return METHODS[name]


def run(
    graph: Graph,
    name: str,
    k: int | None,
    rng: np.random.Generator,
    *,
    connected: bool = False,
    cover: BoolArray | None = None,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
    **options: Any,
) -> tuple[BoolArray, Scored]:
    """Score the edges by a method and keep exactly `k` of them, or those that a test or the method itself says.

    Parameters
    ----------
    graph : Graph
    name : str
        One of `METHODS`.
    k : int or None
        Number of edges to keep. None keeps those whose p-value is at most `significance`, or for methods with a
        threshold those that reach it, besides what `connected`, `cover` and `protect` need.
    rng : Generator
        For methods that draw, then for ties.
    connected : bool
        Take a maximum spanning forest of the scores first, so that no component falls apart.
    cover : ndarray of bool, shape (M,), optional
        A small edge cover, to leave an edge to every node, each node's best where there are enough.
    protect, forbid : ndarray of bool, shape (M,), optional
        Edges that must stay and edges that must go.
    **options
        The method's own. Those that test edges take ``significance``, a p-value in (0, 1), in place of `k`, and
        ``correction``: ``"holm"``, ``"bonferroni"`` (both bound the chance of a single wrong edge) or ``"fdr"`` (the
        expected share of wrong edges, Benjamini and Hochberg 1995).

    Returns
    -------
    mask : ndarray of bool, shape (M,)
        The edges that are kept.
    scored : Scored
        Scores of all edges, and the method's own weights where it has some.

    Raises
    ------
    OptionError
        For an unknown method, an option that it doesn't use, and a budget that can't be met.

    Examples
    --------
    >>> from graphpri.baselines import run
    >>> ring = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [4.0, 1.0, 3.0, 2.0])
    >>> mask, scored = run(ring, "weight", 2, np.random.default_rng(0))
    >>> mask, scored.scores
    (array([ True, False, False,  True]), array([4., 2., 1., 3.]))
    """
    chosen = find(name)
    if unused := sorted(options.keys() - chosen.options):
        uses = f"uses {', '.join(sorted(chosen.options))}" if chosen.options else "has no options"
        raise OptionError(f"method {name!r} does not use {', '.join(unused)}; it {uses}")
    significance, correction = options.pop("significance", None), options.pop("correction", None)
    _check_test(chosen, k, significance, correction)
    most = graph.n_edges if forbid is None else graph.n_edges - int(forbid.sum())
    check_budget(graph, most if k is None else k, connected=connected, cover=cover, protect=protect, forbid=forbid)
    constraints = {"protect": protect, "forbid": forbid} if chosen.constrained else {}
    scored = chosen.score(graph, most if k is None else k, rng, **options, **constraints)
    rules: dict[str, Any] = {"connected": connected, "cover": cover, "protect": protect, "forbid": forbid}
    if k is not None:
        return select_top(graph, scored.scores, k, rng, **rules), scored
    return _above(graph, scored.scores, _members(chosen, scored.scores, significance, correction), **rules), scored


def _check_test(chosen: Method, k: int | None, significance: Any, correction: Any) -> None:
    """Refuse a test beside a budget, none where there is no budget, and what is none."""
    if correction is not None and correction not in CORRECTIONS:
        raise OptionError(f"{argument('correction', correction)}: choose from {', '.join(map(repr, CORRECTIONS))}")
    if significance is not None:
        real("significance", significance, 0, 1, above=True)
        if k is not None:
            raise OptionError(
                f"{argument('significance', significance)} says how many edges stay, and so does {setting('keep')}: "
                "pass one of them"
            )
    elif correction is not None:
        raise OptionError(f"{argument('correction', correction)} needs {setting('significance')}")
    elif k is None and chosen.threshold is None:
        tests = f", or {setting('significance')}, a p-value" if chosen.p_values else ""
        raise OptionError(
            f"method {chosen.name!r} needs a budget: pass {setting('keep')}, a share or a number of edges{tests}"
        )


def _members(chosen: Method, scores: FloatArray, significance: float | None, correction: str | None) -> BoolArray:
    """Edges that the test, or the method itself, keeps."""
    if significance is None or chosen.p_values is None:
        return scores >= (chosen.threshold or 0.0)
    p = corrected(chosen.p_values(scores), correction)
    if not (p <= significance).any():
        how = f", corrected by {correction}," if correction else ""
        raise OptionError(
            f"{argument('significance', significance)}: no edge is significant, the least p-value{how} is "
            f"{p.min():.3g}: take a larger one, or {setting('keep')} for the best edges whatever their p-value"
        )
    return p <= significance


def corrected(p: FloatArray, correction: str | None) -> FloatArray:
    """p-values corrected for testing all of them: Bonferroni, Holm (1979), or Benjamini and Hochberg (1995).

    Examples
    --------
    >>> corrected(np.array([0.01, 0.02, 0.03]), "bonferroni").round(2)
    array([0.03, 0.06, 0.09])
    >>> corrected(np.array([0.01, 0.02, 0.03]), "holm").round(2)
    array([0.03, 0.04, 0.04])
    """
    if correction == "bonferroni":
        return np.minimum(p * p.size, 1.0)
    if correction == "holm":
        order, out = np.argsort(p, kind="stable"), np.empty(p.size)
        out[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
        return out
    if correction == "fdr":
        from scipy.stats import false_discovery_control  # slow to import

        return false_discovery_control(p)
    return p


def _above(
    graph: Graph,
    scores: FloatArray,
    mask: BoolArray,
    *,
    connected: bool,
    cover: BoolArray | None,
    protect: BoolArray | None,
    forbid: BoolArray | None,
) -> BoolArray:
    """Some edges, with those that the constraints need besides, the highest scores first."""
    mask = mask if protect is None else mask | protect
    mask = mask if forbid is None else mask & ~forbid
    if connected:
        return mask | best_forest_by(graph, scores, np.arange(graph.n_edges), protect=mask, forbid=forbid)
    if cover is not None:
        place = np.empty(graph.n_edges, np.int64)
        place[rank(scores)] = np.arange(graph.n_edges)
        among = None if forbid is None else ~forbid
        return mask | cover_by(graph, place, graph.n_edges, cover, among=among, protect=mask)
    return mask


__all__ = ["METHODS", "Method", "Scored", "find", "method", "run"]

_HAMANN = (
    "M. Hamann, G. Lindner, H. Meyerhenke, C. L. Staudt, D. Wagner. Structure-preserving sparsification methods "
    "for social networks. Social Network Analysis and Mining 6, 22, 2016"
)
_SATULURI = "V. Satuluri, S. Parthasarathy, Y. Ruan. Local graph sparsification for scalable clustering. SIGMOD 2011"
_SPIELMAN = (
    "D. A. Spielman, N. Srivastava. Graph sparsification by effective resistances. "
    "SIAM Journal on Computing 40(6), 2011"
)


@method("random", summary="edges drawn at random, all alike", reference=_HAMANN)
def random(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Uniform random scores."""
    return Scored(rng.random(graph.n_edges))


@method(
    "weight",
    summary="the heaviest edges (on unweighted graphs, the seed decides)",
    reference="M. Á. Serrano, M. Boguñá, A. Vespignani. Extracting the multiscale backbone of complex weighted "
    "networks. PNAS 106(16), 2009 (as the threshold that it improves on)",
    needs_weights=True,
)
def weight(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Edge weights μ."""
    return Scored(np.array(graph.weights))


@method(
    "spanning-forest",
    summary="the maximum spanning forest, then the heaviest other edges",
    reference="J. B. Kruskal. On the shortest spanning subtree of a graph and the traveling salesman problem. "
    "Proceedings of the AMS 7(1), 1956",
    needs_weights=True,
)
def spanning_forest(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Rank of the weight in (0, 1], plus 1 for the edges of the forest; below its size, its heaviest edges stay.

    Equal weights enter the forest in an order drawn from `rng`.
    """
    forest = best_forest(graph, rank(graph.weights, rng))
    levels, place = np.unique(graph.weights, return_inverse=True)
    return Scored((place + 1) / levels.size + forest)


@method("local-degree", summary="each node's edges to its neighbours of highest degree", reference=_HAMANN)
def local_degree(graph: Graph, k: int, rng: np.random.Generator, *, exponent: float | None = None) -> Scored:
    """1 − ln r / ln d, where one end is the r-th of the other's d neighbours by degree; the better of both sides.

    An edge is among some node's top ⌊d^a⌋ neighbours exactly where this is at least 1 − a. With `exponent` = a
    in [0, 1], the method in its parametric form, such edges score 1 alike and the others in proportion below, so
    a budget of as many edges as score 1 keeps the graph of that exponent, and any other as close to it as K
    allows. Weights are not used; neighbours of equal degree rank in an order that the seed draws.
    """
    scores = settle(local_degree_scores(graph, rng))
    if exponent is None:
        return Scored(scores)
    real("exponent", exponent, 0, 1)
    threshold = 1.0 - exponent
    return Scored(np.where(scores >= threshold - 1e-12, 1.0, scores / max(threshold, 1e-12)))


@method("local-similarity", summary="each node's edges to its most similar neighbours (Jaccard)", reference=_SATULURI)
def local_similarity(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """1 − ln r / ln d, where one end is the r-th of the other's d neighbours by Jaccard similarity; the better side.

    Weights are not used; equally similar neighbours rank in an order that the seed draws.
    """
    return Scored(settle(local_similarity_scores(graph, rng)))


@method("jaccard", summary="edges whose ends share most of their neighbours", reference=_SATULURI)
def jaccard(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Common over all neighbours of the two ends. Weights are not used."""
    return Scored(jaccard_scores(graph))


@method(
    "scan",
    summary="edges whose ends are structurally similar (cosine)",
    reference="X. Xu, N. Yuruk, Z. Feng, T. A. J. Schweiger. SCAN: a structural clustering algorithm for networks. "
    "KDD 2007",
)
def scan(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Cosine similarity of the ends' closed neighbourhoods, Γ(u) = {u} ∪ neighbours of u, as in the SCAN paper.

    NetworKit's score of that name is another: it counts t + 1 common nodes for t triangles, not t + 2. Weights are
    not used.
    """
    return Scored(settle(structural_similarity(graph)))


@method("triangles", summary="edges in many triangles", reference=_HAMANN)
def triangles(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Number of triangles. Weights are not used."""
    return Scored(triangle_counts(graph))


@method(
    "simmelian",
    summary="edges embedded in both ends' strongest groups (Simmelian backbone)",
    reference="A. Nocaj, M. Ortmann, U. Brandes. Untangling the hairballs of multi-centered, small-world online "
    "social media networks. Journal of Graph Algorithms and Applications 19(2), 2015; triadic: B. Nick, C. Lee, "
    "P. Cunningham, U. Brandes. Simmelian backbones. ASONAM 2013",
)
def simmelian(
    graph: Graph, k: int, rng: np.random.Generator, *, shape: Literal["quadrilateral", "triadic"] = "quadrilateral"
) -> Scored:
    """Best Jaccard overlap of the ends' first r neighbours over all r, ranked by shared quadrangles or triangles.

    Weights are not used. The published backbone adds the union of maximum spanning trees, to hold the graph
    together; ``connected=True`` does that with one.
    """
    if shape not in ("quadrilateral", "triadic"):
        raise OptionError(f"{argument('shape', shape)}: choose from 'quadrilateral', 'triadic'")
    return Scored(simmelian_scores(graph, quadrilateral=shape == "quadrilateral"))


@method(
    "edge-betweenness",
    summary="edges on many shortest paths",
    reference="M. Girvan, M. E. J. Newman. Community structure in social and biological networks. PNAS 99(12), 2002; "
    "U. Brandes, C. Pich. Centrality estimation in large networks. International Journal of Bifurcation and "
    "Chaos 17(7), 2007",
)
def edge_betweenness(graph: Graph, k: int, rng: np.random.Generator, *, pivots: int | None = None) -> Scored:
    """Pairs of nodes whose shortest paths, in hops, use the edge (shared among paths of equal length).

    From `pivots` random nodes; by default from all where N·M ≤ 10⁸, else from 256. Weights are not used.
    """
    if pivots is not None:
        whole("pivots", pivots, 1)
    return Scored(betweenness(graph, pivots, rng))


@method(
    "forest-fire",
    summary="edges along which random fires spread often",
    reference=f"J. Leskovec, J. Kleinberg, C. Faloutsos. Graphs over time. KDD 2005; as an edge score: {_HAMANN}",
)
def forest_fire(
    graph: Graph, k: int, rng: np.random.Generator, *, burn_probability: float = 0.6, burnt_ratio: float = 5.0
) -> Scored:
    """How many fires spread along the edge until `burnt_ratio` times M edges have burnt.

    A burning node sets fire to a geometric number of neighbours, `burn_probability` being the chance of each
    next one. Weights are not used.
    """
    real("burn_probability", burn_probability, 0.01, 0.99)
    real("burnt_ratio", burnt_ratio, 0.01, 1e4)
    return Scored(forest_fire_scores(graph, burn_probability, burnt_ratio, rng))


@method(
    "algebraic-distance",
    summary="edges whose ends random smoothing draws together",
    reference="J. Chen, I. Safro. Algebraic distance on graphs. SIAM Journal on Scientific Computing 33(6), 2011",
)
def algebraic_distance(graph: Graph, k: int, rng: np.random.Generator, *, systems: int = 10) -> Scored:
    """Minus the largest difference between the ends over `systems` smoothed random vectors."""
    whole("systems", systems, 1)
    return Scored(-algebraic_distance_scores(graph, systems, rng))


@method(
    "disparity",
    summary="edges that carry more of a node's strength than chance would give (disparity filter)",
    reference="M. Á. Serrano, M. Boguñá, A. Vespignani. Extracting the multiscale backbone of complex weighted "
    "networks. PNAS 106(16), 2009",
    p_values=lambda scores: np.exp(-scores),
    needs_weights=True,
)
def disparity(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """−ln α with α = (1 − p)^(d−1), p the edge's part of the strength of an end of degree d; the better end.

    The order is that of 1 − α, which rounds to 1 for many edges of heavy hubs. An end of degree 1 has α = 1, so
    that the other end decides. On an unweighted graph p = 1/d and −ln α grows with d from ln 2 to 1: the filter
    then ranks edges by the larger degree of their ends.
    """
    degree, result = graph.degrees(), np.zeros(graph.n_edges)
    for ends, share in zip((graph.source, graph.target), shares(graph), strict=True):
        surprise = -(degree[ends] - 1.0) * np.log1p(-np.minimum(share, 1 - 2.0**-53))
        result = np.maximum(result, surprise)
    return Scored(settle(result))


@method(
    "noise-corrected",
    summary="edges that weigh more than their ends' strengths explain, in standard deviations",
    reference="M. Coscia, F. M. H. Neffke. Network backboning with noisy data. ICDE 2017",
    p_values=lambda scores: ndtr(-scores),
    needs_weights=True,
)
def noise_corrected(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Lift of the edge over its expectation, mapped to [−1, 1], over its posterior standard deviation.

    The filter keeps edges whose lift exceeds δ deviations, so this is the δ at which an edge goes; its p-value is that
    of the normal distribution, one-sided. Weights are read as counts: the result depends on their unit.
    """
    total = 2 * _events(graph, "noise-corrected")
    first, second = shares(graph)
    strength = graph.strengths() / total
    a, b = strength[graph.source], strength[graph.target]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        lift = first / b
        prior = (1 - a * b) * (total - 1) / ((1 - a) * (1 - b)) - 1
        chance = (a * b * prior + graph.weights) / (prior + total)
        slope = 2 / ((lift + 1) * (1 + 1 / lift)) * np.abs(1 + graph.weights / total - first - second)
        deviation = slope * (np.sqrt(total * chance * (1 - chance)) / graph.weights)
    deviation[np.isnan(deviation)] = np.inf  # 0 · ∞, of weights that lie beyond float64's range apart
    scores = (1 - 2 / (lift + 1)) / np.maximum(deviation, np.finfo(float).tiny)
    return Scored(settle(scores))


def _events(graph: Graph, name: str) -> float:
    """Sum of the weights, for a method that reads them as counts."""
    total = float(graph.weights.sum())
    if not 0.5 < total < np.inf:
        raise GraphError(
            f"{name} reads weights as counts, but all of them together make {total:g}: "
            "multiply them to the number of events that they stand for"
        )
    return total


@method(
    "marginal-likelihood",
    summary="edges that weigh more than chance gives their ends' strengths, by a binomial test",
    reference="N. Dianati. Unwinding the hairball graph: pruning algorithms for weighted complex networks. "
    "Physical Review E 93, 012304, 2016",
    p_values=lambda scores: np.exp(-scores),
    needs_weights=True,
)
def marginal_likelihood(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """−ln p of at least so many of T events at the edge, each there with chance s_u s_v/(2T²).

    T is the sum of all weights, which are read as counts: the result depends on their unit. Counts need not be whole.
    """
    total, strength = _events(graph, "marginal-likelihood"), graph.strengths()
    chance = strength[graph.source] / total * (strength[graph.target] / total) / 2
    with np.errstate(under="ignore"):
        logs = log_binomial_tail(graph.weights, total, np.clip(chance, 1e-300, 0.5))
    return Scored(settle(np.maximum(-logs, 0.0)))


@method(
    "high-salience",
    summary="edges of the shortest-path trees of many nodes (high-salience skeleton)",
    reference="D. Grady, C. Thiemann, D. Brockmann. Robust classification of salient links in complex networks. "
    "Nature Communications 3, 864, 2012",
    needs_weights=True,
)
def high_salience(graph: Graph, k: int, rng: np.random.Generator, *, pivots: int | None = None) -> Scored:
    """Share of nodes whose shortest paths, by lengths 1/weight, use the edge to reach one of its ends.

    Of several shortest paths all count. From `pivots` random nodes; by default from all where N·M ≤ 10⁸, else from 256.
    """
    if pivots is not None:
        whole("pivots", pivots, 1)
    return Scored(salience_scores(graph, pivots, rng))


_SIMAS = (
    "T. Simas, R. B. Correia, L. M. Rocha. The distance backbone of complex networks. "
    "Journal of Complex Networks 9(6), cnab021, 2021"
)


@method(
    "metric",
    summary="edges that no path is shorter than, by lengths 1/weight (metric backbone), then the least of detours",
    reference=_SIMAS,
    threshold=1.0,
    needs_weights=True,
)
def metric(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Distance of the ends over the edge's own length where a way around is shorter; from 1 to 2 by weight elsewhere.

    Without a budget, the metric backbone: it has the distances of the graph.
    """
    return Scored(_backbone_first(graph, metric_ratios(graph)))


@method(
    "ultrametric",
    summary="edges of the maximum spanning forests (ultrametric backbone), then those that fall short of them least",
    reference=_SIMAS,
    threshold=1.0,
    needs_weights=True,
)
def ultrametric(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Weight over the least weight on the best way between the ends, where that is less than 1; else by weight, 1 to 2.

    Without a budget, the ultrametric backbone: every edge that is in some maximum spanning forest.
    """
    return Scored(_backbone_first(graph, graph.weights / bottlenecks(graph)))


def _backbone_first(graph: Graph, ratio: FloatArray) -> FloatArray:
    """Scores of edges with a ratio up to 1: those of 1, by weight, before all others."""
    levels, place = np.unique(graph.weights, return_inverse=True)
    return np.where(ratio >= 1 - SAME, 1 + (place + 1) / levels.size, settle(ratio))


@method("effective-resistance", summary="edges of highest weight times effective resistance", reference=_SPIELMAN)
def effective_resistance(
    graph: Graph, k: int, rng: np.random.Generator, *, resistance: Resistance = "auto", n_probes: int = 64
) -> Scored:
    """μ·R, the probability that a random spanning forest contains the edge."""
    return Scored(settle(leverages(graph, resistance=resistance, n_probes=n_probes, rng=rng)))


@method(
    "effective-resistance-sampling",
    summary="edges drawn in proportion to weight times effective resistance, reweighted to keep the Laplacian's mean",
    reference=_SPIELMAN,
)
def effective_resistance_sampling(
    graph: Graph,
    k: int,
    rng: np.random.Generator,
    *,
    resistance: Resistance = "auto",
    n_probes: int = 64,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> Scored:
    r"""Spielman and Srivastava's sampling, stopped so that exactly K edges are drawn.

    Edges are drawn with replacement with probabilities p ∝ μR until the next draw would bring edge number K + 1.
    An edge drawn c times in these T draws weighs c μ/(T p). Given the counts every order of the T draws is
    equally likely, so c/T has mean p as it has for a fixed T, and the mean of the new Laplacian is the old one.
    (With all edges kept, T has no end, and weights stay as they are.)

    Protected edges stay at their own weight, forbidden ones go, and the rest is sampled: the mean is then the
    Laplacian without the forbidden edges. An edge kept undrawn by ``connected=True`` has its own weight, and
    nothing is promised.

    Scores are minus the logarithm of the time of an edge's first draw, where draws come at random times.
    """
    rate = np.maximum(leverages(graph, resistance=resistance, n_probes=n_probes, rng=rng), 1e-290)
    first = np.maximum(rng.standard_exponential(graph.n_edges), 1e-290) / rate
    free = np.ones(graph.n_edges, bool)
    for fixed in (protect, forbid):
        if fixed is not None:
            free &= ~fixed
    draws = k - (0 if protect is None else int(protect.sum()))
    weights = np.array(graph.weights)
    if draws < int(free.sum()):
        end = np.partition(first[free], draws)[draws]
        drawn = np.flatnonzero(free & (first < end))
        again = rate[drawn] * (end - first[drawn])
        counts = 1 + np.where(again > 1e15, again, rng.poisson(np.minimum(again, 1e15)))
        weights[drawn] *= counts / counts.sum() * (rate[free].sum() / rate[drawn])
    return Scored(-np.log(first), weights)
