"""Scores of edges from the structure around them, for the baselines: own ones, and NetworKit's.

Each takes the canonical graph and gives one float per edge in its order. Local degree, local similarity and
triangles are NetworKit's scores, ties broken like there by the number of the edge, computed from the canonical
arrays: that needs neither its seconds of loading nor a copy of the graph. Simmelian scores are left to NetworKit.
It numbers edges in the order in which they are inserted, so the canonical order makes its scores a function of the
labelled graph. Its random algorithms draw from a generator that the whole process shares, and its betweenness
varies in the last digit with the threads; those are written here anew.
"""

from __future__ import annotations

from math import log
from queue import SimpleQueue
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri.graph import FloatArray, Graph, id_dtype
from graphpri.threads import LARGE, in_chunks, workers

_WEDGES = 2**21  # the same for triangles, in pairs of arcs; sized for the memory of the whole-array way
_COUNTERS = 8  # threads that count triangles at once, each in its own array
_EXACT_WORK = 1e8  # largest N·M for which betweenness is computed from all nodes (some seconds)
_PIVOTS = 256
_SEARCH_STATES = 2**18  # nodes and edges of the searches held at once; sized for the cache
_FIRE_STATES = 2**22


class Arcs(NamedTuple):
    """Neighbours of each node and the edges to them: those of node i at ``start[i]:start[i + 1]``."""

    start: NDArray[np.int64]
    node: NDArray[np.int64]
    edge: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> Arcs:
        tails = np.concatenate([graph.source, graph.target]).astype(np.int64)
        order = np.argsort(tails, kind="stable")
        heads = np.concatenate([graph.target, graph.source]).astype(np.int64)
        start = np.concatenate([[0], np.cumsum(graph.degrees())])
        return cls(start, heads[order], np.tile(np.arange(graph.n_edges), 2)[order])

    def leaving(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the arcs that leave the nodes, one node after the other, and which of the nodes each leaves."""
        counts = self.start[nodes + 1] - self.start[nodes]
        entry = np.repeat(np.arange(nodes.size), counts)
        first = np.cumsum(counts) - counts
        return (self.start[nodes] - first)[entry] + np.arange(entry.size), entry


def settle(scores: FloatArray) -> FloatArray:
    """Round to 33 binary digits (10 decimal), so that scores that are equal but for rounding errors are ties."""
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    half = (1 << 19) - 1 + ((bits >> 20) & 1)  # to nearest, halves to even
    half += bits
    half &= -(1 << 20)
    return half.view(np.float64)


def to_networkit(graph: Graph) -> Any:
    """Unweighted NetworKit graph with indexed edges, numbered as in `graph`."""
    import networkit as nk

    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    g: Any = cast(Any, nk).GraphFromCoo(ends, n=graph.n_nodes, edgesIndexed=True)
    for m in np.linspace(0, graph.n_edges - 1, 8).astype(int):
        if g.edgeId(int(graph.source[m]), int(graph.target[m])) != m:
            raise RuntimeError(f"NetworKit {nk.__version__} does not number edges in the order of insertion")
    return g


def _sparsification() -> Any:
    import networkit as nk

    return cast(Any, nk).sparsification


def _run(algorithm: Any) -> FloatArray:
    return np.asarray(algorithm.run().scores(), float)


def triangles(graph: Graph) -> FloatArray:
    """Number of triangles that contain each edge.

    Each triangle is found once, from the end of lowest degree (O(M^1.5)). Where that takes long, by compiled
    loops in threads; then 24 bytes an edge, and 4 more for each thread up to the eighth.
    """
    start, head, edge = _upward(graph)
    counts = np.empty(graph.n_edges)
    lengths = np.diff(start)
    few = graph.n_edges < LARGE and int(lengths[head].sum()) < _WEDGES
    counts[edge] = _triangles_by_wedge(start, head) if few else _triangles_in_threads(start, head)
    return counts


def _upward(graph: Graph) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Nodes numbered by degree, and arcs from the lower to the higher node, by their lower: heads, and edges."""
    n, m = graph.n_nodes, graph.n_edges
    ids = id_dtype(max(n, m))
    number = np.empty(n, ids)
    number[np.argsort(graph.degrees(), kind="stable")] = np.arange(n)
    one, two = number[graph.source], number[graph.target]
    tail, head, edge = np.minimum(one, two), np.maximum(one, two), np.arange(m, dtype=ids)
    del one, two
    if m >= LARGE:
        from graphpri.grouping_loops import group

        start, edge = group(tail, edge, n)
    else:
        edge = edge[np.argsort(tail, kind="stable")]
        start = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=n))])
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
    from graphpri.score_loops import count_triangles

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


def jaccard(graph: Graph) -> FloatArray:
    """Common neighbours over all neighbours of the two ends."""
    common, degree = triangles(graph), graph.degrees()
    return common / (degree[graph.source] + degree[graph.target] - common)


def structural_similarity(graph: Graph) -> FloatArray:
    """Cosine of the two ends' neighbourhoods, each end counted in its own."""
    size = graph.degrees() + 1.0
    return (triangles(graph) + 2) / np.sqrt(size[graph.source] * size[graph.target])


def local_degree(graph: Graph) -> FloatArray:
    """1 − ln r / ln d, r the rank of the one end among the d neighbours of the other, by degree; the better side.

    O(M); neighbours of equal degree rank in the order of the edges.
    """
    degree = graph.degrees()
    if graph.n_edges < LARGE:
        return _rank_exponents(graph, degree[graph.target], degree[graph.source])
    from graphpri.grouping_loops import group
    from graphpri.score_loops import rank_by_node

    n, ids = graph.n_nodes, id_dtype(max(graph.n_nodes, graph.n_edges))
    by_target, below = group(graph.target, np.arange(graph.n_edges, dtype=ids), n)
    by_source = np.searchsorted(graph.source, np.arange(n + 1, dtype=graph.source.dtype))
    nodes = np.argsort(-degree, kind="stable")
    ends, counts = (graph.source, graph.target), _counts(degree, ids)
    return rank_by_node(nodes, (by_target, by_source), below, ends, counts, _logarithms(degree))


def local_similarity(graph: Graph) -> FloatArray:
    """1 − ln r / ln d, r the rank of the one end among the d neighbours of the other, by Jaccard similarity.

    Of the better side; equally similar neighbours rank in the order of the edges.
    """
    similarity, degree = jaccard(graph), graph.degrees()
    if graph.n_edges < LARGE:
        return _rank_exponents(graph, similarity, similarity)
    from graphpri.score_loops import rank_by_edge

    order = np.argsort(-similarity, kind="stable")
    counts = _counts(degree, id_dtype(graph.n_nodes))
    return rank_by_edge(order, graph.source, graph.target, counts, _logarithms(degree))


def _counts(degree: NDArray[np.int64], ids: np.dtype[Any]) -> NDArray[Any]:
    """Neighbours ranked so far, none, and in all; shape (N, 2)."""
    return np.stack([np.zeros(degree.size, ids), degree.astype(ids)], axis=1)


def _rank_exponents(graph: Graph, of_target: NDArray[Any], of_source: NDArray[Any]) -> FloatArray:
    """1 − ln r / ln d of each edge, the better side; the values rank each end among the neighbours of the other."""
    degree, m = graph.degrees(), graph.n_edges
    tails, edges = np.concatenate([graph.source, graph.target]), np.tile(np.arange(m), 2)
    order = np.lexsort((edges, -np.concatenate([of_target, of_source]), tails))
    degrees, log = degree[tails[order]], _logarithms(degree)
    place = np.arange(2 * m) - np.repeat(np.cumsum(degree) - degree, degree)
    share = np.divide(log[place + 1], log[degrees], out=np.zeros(2 * m), where=degrees > 1)
    exponents = np.empty(2 * m)
    exponents[order] = 1 - share
    return np.maximum(exponents[:m], exponents[m:])


def _logarithms(degree: NDArray[np.int64]) -> FloatArray:
    """Natural logarithms of 0 (as 0) to the largest degree; the C library's, the same on every processor."""
    top = int(degree.max(initial=1))
    return np.fromiter((log(max(i, 1)) for i in range(top + 1)), np.float64, top + 1)


def simmelian(graph: Graph, *, quadrilateral: bool) -> FloatArray:
    """Largest Jaccard overlap of the two ends' first neighbours, ranked by shared triangles or quadrangles."""
    g, nk = to_networkit(graph), _sparsification()
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
    arcs, total = Arcs.of(graph), np.zeros(graph.n_edges)
    width = max(1, _SEARCH_STATES // max(1, n + graph.n_edges))
    for a in range(0, pivots, width):
        _add_dependencies(arcs, sources[a : a + width], total)
    return settle(total * (n / (2 * max(1, pivots))))


def _add_dependencies(arcs: Arcs, sources: NDArray[np.int64], total: FloatArray) -> None:
    """Brandes' algorithm from several sources at once; adds to each edge the paths from them that use it.

    A state is a node in the search from one source. Path counts are kept relative to the largest of their
    level, since only ratios within a level matter and the counts themselves may overflow.
    """
    n = arcs.start.size - 1
    level = np.full(sources.size * n, -1)
    last, paths, beyond = np.empty_like(level), np.zeros(level.size), np.zeros(level.size)
    states = np.arange(sources.size) * n + sources
    level[states], paths[states] = 0, 1.0
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], FloatArray]] = []
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
    for tail, head, edge, share in reversed(steps):
        through = share * (1 + beyond[head])
        np.add.at(beyond, tail, through)
        np.add.at(total, edge, through)


def forest_fire(graph: Graph, burn: float, rounds: float, rng: np.random.Generator) -> FloatArray:
    """How often each edge burns.

    A fire starts at a random node. Each burning node sets fire to a geometric number of its neighbours (mean
    burn/(1 − burn)) that don't burn yet, drawn at random, along the edges to them. Fires are lit one after
    the other until `rounds` times M edges have burnt.
    """
    arcs, burnt, wood = Arcs.of(graph), np.zeros(graph.n_edges), Wood.of(graph)
    inhabited = np.flatnonzero(graph.degrees())
    reach = float(wood.size[inhabited].mean())
    left, width, most = rounds * graph.n_edges, 1, max(1, int(_FIRE_STATES / reach))
    while left > 0:
        fire, edge = _burn(arcs, wood, rng.choice(inhabited, width), burn, rng)
        length = np.cumsum(np.bincount(fire, minlength=width))
        lit = int(np.searchsorted(length, left)) + 1
        np.add.at(burnt, edge[fire < lit], 1.0)
        left -= length[min(lit, width) - 1]
        width = int(np.clip(left * width / max(1, length[-1]) + 1, 1, min(4 * width, most)))
    return burnt


class Wood(NamedTuple):
    """What a fire from each node can reach: the size of its component, and the place of each node in its own."""

    size: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> Wood:
        count, member = graph.components()
        sizes = np.bincount(member, minlength=count)
        order = np.argsort(member, kind="stable")
        place = np.empty(graph.n_nodes, np.int64)
        place[order] = np.arange(graph.n_nodes) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(sizes[member], place)


def _burn(
    arcs: Arcs, wood: Wood, starts: NDArray[np.int64], burn: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One fire from each start; the fire and the edge of every burning."""
    base = np.cumsum(wood.size[starts]) - wood.size[starts]
    burning = np.zeros(int(wood.size[starts].sum()), bool)
    fire, nodes = np.arange(starts.size), starts
    burning[base + wood.place[starts]] = True
    fires, edges = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while nodes.size:
        sparks = rng.geometric(1 - burn, nodes.size) - 1
        position, entry = arcs.leaving(nodes)
        state = base[fire[entry]] + wood.place[arcs.node[position]]
        free = ~burning[state]
        position, entry, state = position[free], entry[free], state[free]
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


def algebraic_distance(graph: Graph, systems: int, rng: np.random.Generator) -> FloatArray:
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
    n = graph.n_nodes
    strength = np.bincount(graph.source, first, n) + np.bincount(graph.target, second, n)
    return first / strength[graph.source], second / strength[graph.target]
