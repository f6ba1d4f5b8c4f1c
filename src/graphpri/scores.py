"""Scores of edges from the structure around them, for the baselines: NetworKit's, and own ones.

Each takes the canonical graph and gives one float per edge in its order. NetworKit numbers edges in the
order in which they are inserted and breaks ties by that number, so the canonical order makes its scores a
function of the labelled graph. Its random algorithms draw from a generator that the whole process shares,
and its betweenness varies in the last digit with the threads; those are written here anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri.graph import FloatArray, Graph

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
    """Round to 10 significant digits, so that scores that are equal but for rounding errors are ties."""
    mantissa, exponent = np.frexp(scores)
    return np.ldexp(np.rint(mantissa * 2.0**33) / 2.0**33, exponent)


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
    """Number of triangles that contain each edge."""
    return _run(_sparsification().TriangleEdgeScore(to_networkit(graph)))


def jaccard(graph: Graph) -> FloatArray:
    """Common neighbours over all neighbours of the two ends."""
    common, degree = triangles(graph), graph.degrees()
    return common / (degree[graph.source] + degree[graph.target] - common)


def structural_similarity(graph: Graph) -> FloatArray:
    """Cosine of the two ends' neighbourhoods, each end counted in its own."""
    size = graph.degrees() + 1.0
    return (triangles(graph) + 2) / np.sqrt(size[graph.source] * size[graph.target])


def local_degree(graph: Graph) -> FloatArray:
    """1 − ln r / ln d, r the rank of the one end among the d neighbours of the other, by degree; the better side."""
    return _run(_sparsification().LocalDegreeScore(to_networkit(graph)))


def local_similarity(graph: Graph) -> FloatArray:
    """1 − ln r / ln d, r the rank of the one end among the d neighbours of the other, by Jaccard similarity."""
    g, nk = to_networkit(graph), _sparsification()
    return _run(nk.LocalSimilarityScore(g, nk.TriangleEdgeScore(g).run().scores()))


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
    arcs, burnt = Arcs.of(graph), np.zeros(graph.n_edges)
    inhabited = np.flatnonzero(graph.degrees())
    left, width, most = rounds * graph.n_edges, 1, max(1, _FIRE_STATES // max(1, graph.n_nodes))
    while left > 0:
        fire, edge = _burn(arcs, rng.choice(inhabited, width), burn, rng)
        length = np.cumsum(np.bincount(fire, minlength=width))
        lit = int(np.searchsorted(length, left)) + 1
        np.add.at(burnt, edge[fire < lit], 1.0)
        left -= length[min(lit, width) - 1]
        width = int(np.clip(left * width / max(1, length[-1]) + 1, 1, min(4 * width, most)))
    return burnt


def _burn(
    arcs: Arcs, starts: NDArray[np.int64], burn: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One fire from each start; the fire and the edge of every burning."""
    n = arcs.start.size - 1
    burning = np.zeros(starts.size * n, bool)
    states = np.arange(starts.size) * n + starts
    burning[states] = True
    fires, edges = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while states.size:
        sparks = rng.geometric(1 - burn, states.size) - 1
        position, entry = arcs.leaving(states % n)
        head = states[entry] - states[entry] % n + arcs.node[position]
        free = ~burning[head]
        position, entry, head = position[free], entry[free], head[free]
        order = np.lexsort((rng.random(entry.size), entry))
        position, entry, head = position[order], entry[order], head[order]
        drawn = rng.permutation(np.flatnonzero(np.arange(entry.size) - np.searchsorted(entry, entry) < sparks[entry]))
        states, first = np.unique(head[drawn], return_index=True)
        burning[states] = True
        fires.append(states // n)
        edges.append(arcs.edge[position[drawn[first]]])
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
