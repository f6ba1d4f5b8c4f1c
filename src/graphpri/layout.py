"""Positions of nodes for drawing, and samples of nodes of graphs too large to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import dijkstra

from graphpri.errors import OptionError
from graphpri.graph import FloatArray, Graph, IntArray
from graphpri.threads import single_thread

_PIVOTS = 50
_STEPS = 100
_CLOSE = 1e-3  # of the drawing's width; nodes nearer than this repel as if they were so far apart
_GRAVITY = 0.1
_BLOCK = 128
_RESTART = 0.15


def spring(graph: Graph, seed: int | np.random.Generator = 0) -> FloatArray:
    """Place nodes by springs along the edges and repulsion between all nodes.

    Weights are not used. Time grows as N²: for graphs of a few thousand nodes.

    Parameters
    ----------
    graph : Graph
        N nodes.
    seed : int or Generator
        For the small displacements that separate nodes with the same neighbours.

    Returns
    -------
    ndarray of float64, shape (N, 2)
        Centred, with the farthest node at distance 1.

    Notes
    -----
    Force-directed placement of T. M. J. Fruchterman and E. M. Reingold, Software: Practice and Experience
    21(11), 1991, with a pull to the centre that keeps components together, started from the landmarks of
    U. Brandes and C. Pich, Eigensolver methods for progressive multidimensional scaling, GD 2006.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> place = spring(ring)
    >>> place.shape, np.round(np.hypot(*place.T), 1).tolist()
    ((4, 2), [1.0, 1.0, 1.0, 1.0])
    """
    rng = np.random.default_rng(seed)
    n = graph.n_nodes
    if n < 2:
        return np.zeros((n, 2))
    u, v = graph.source, graph.target
    with single_thread():
        place = _unit(_landmarks(graph, rng)) + 0.02 * rng.standard_normal((n, 2))
        for step in range(_STEPS):
            _relax(place, u, v, 0.1 * (1 - step / _STEPS))
    return _unit(place)


def _relax(place: FloatArray, u: IntArray, v: IntArray, reach: float) -> None:
    """Move every node along the force on it, at most as far as `reach`."""
    n = len(place)
    ideal = 1 / np.sqrt(n)
    force = _repulsion(place, ideal) - _GRAVITY * place
    along = place[u] - place[v]
    pull = along * (np.linalg.norm(along, axis=1, keepdims=True) / ideal)
    for axis in (0, 1):
        force[:, axis] += np.bincount(v, pull[:, axis], n) - np.bincount(u, pull[:, axis], n)
    place += force * np.minimum(1.0, reach / np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12))


def sample_nodes(graph: Graph, count: int, seed: int | np.random.Generator = 0) -> NDArray[np.int64]:
    """Nodes met by random walks, `count` of them (or all there are), in increasing order.

    Walks return to their start now and then, and go on from another node where they meet nothing new.

    Notes
    -----
    Random walk sampling of J. Leskovec and C. Faloutsos, Sampling from large graphs, KDD 2006.
    """
    n = graph.n_nodes
    if count >= n:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    a = graph.adjacency()
    seen = np.zeros(n, bool)
    starts = rng.permutation(n)
    for begin in starts:
        at, idle = int(begin), 0
        seen[at] = True
        if a.indptr[at] == a.indptr[at + 1]:
            idle = 200
        while idle < 200 and (missing := count - int(np.count_nonzero(seen))) > 0:
            met = _walk(a.indptr, a.indices, at, int(begin), min(2 * missing + 100, 5000), rng)
            fresh = [node for node in dict.fromkeys(met) if not seen[node]][:missing]
            seen[fresh] = True
            idle = 0 if fresh else idle + 100
            at = met[-1]
        if np.count_nonzero(seen) >= count:
            break
    return np.flatnonzero(seen)


def _walk(
    starts: NDArray[np.integer], ends: NDArray[np.integer], at: int, home: int, steps: int, rng: np.random.Generator
) -> list[int]:
    """Nodes of a random walk from `at`, in a matrix's rows, that now and then returns `home`."""
    met = [at]
    for chance, returns in zip(rng.random(steps).tolist(), (rng.random(steps) < _RESTART).tolist(), strict=True):
        degree = int(starts[at + 1] - starts[at])
        at = home if returns or not degree else int(ends[starts[at] + int(chance * degree)])
        met.append(at)
    return met


def _landmarks(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Positions from the distances to some pivots, the two main axes of them."""
    pivots = rng.permutation(graph.n_nodes)[:_PIVOTS]
    distance = np.asarray(dijkstra(graph.adjacency(), directed=False, indices=pivots, unweighted=True)).T
    reached = distance[np.isfinite(distance)]
    distance = np.where(np.isfinite(distance), distance, 1.2 * float(reached.max()) + 1)
    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    _, _, axes = np.linalg.svd(centred.T @ centred)
    axes = axes[:2]
    signs = np.sign(axes[np.arange(axes.shape[0]), np.abs(axes).argmax(axis=1)])
    place = centred @ (axes * signs[:, None]).T
    return np.pad(place, ((0, 0), (0, 2 - place.shape[1])))


def _repulsion(place: FloatArray, ideal: float) -> FloatArray:
    """Σ_j ideal² (p_i − p_j)/|p_i − p_j|² for every node i."""
    p = place.astype(np.float32)
    square = (p**2).sum(axis=1)
    force = np.empty_like(place)
    # In blocks that stay in the cache.
    for start in range(0, len(p), _BLOCK):
        block = slice(start, start + _BLOCK)
        apart = p[block] @ (-2 * p.T)
        apart += square
        apart += square[block, None]
        np.maximum(apart, np.float32(_CLOSE**2), out=apart)
        np.reciprocal(apart, out=apart)
        np.fill_diagonal(apart[:, start:], 0.0)
        force[block] = p[block] * apart.sum(axis=1, keepdims=True) - apart @ p
    return ideal**2 * force


def _unit(place: FloatArray) -> FloatArray:
    place = place - place.mean(axis=0)
    return place / max(float(np.linalg.norm(place, axis=1).max()), 1e-12)


def subgraph(graph: Graph, nodes: NDArray[np.int64]) -> Graph:
    """The graph of some nodes, without weights, numbered in their order."""
    number = np.full(graph.n_nodes, -1)
    number[nodes] = np.arange(nodes.size)
    u, v = number[graph.source], number[graph.target]
    inside = (u >= 0) & (v >= 0)
    return Graph.from_edges(u[inside], v[inside], n_nodes=nodes.size)


def positions(graph: Graph, layout: ArrayLike | Mapping[Any, Any]) -> FloatArray:
    """Given positions of the nodes, shape (N, 2), as an array or by label.

    Raises
    ------
    OptionError
        For nodes without a position, another shape, and positions that are not finite.
    """
    if isinstance(layout, Mapping):
        labels = [graph.label(i) for i in range(graph.n_nodes)]
        if missing := [label for label in labels if label not in layout]:
            raise OptionError(f"layout has no position for {len(missing)} nodes, the first is {missing[0]!r}")
        layout = [layout[label] for label in labels]
    place = np.asarray(layout, np.float64)
    if place.shape != (graph.n_nodes, 2) or not np.isfinite(place).all():
        raise OptionError(f"layout must be finite positions of shape ({graph.n_nodes}, 2), not of shape {place.shape}")
    return place
