"""Where nodes of a small graph are drawn, and a drawing of lines and discs that needs no library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from graphpri._runtime import single_thread
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray

_PIVOTS = 50
_STEPS = 100
_CLOSE = 1e-3  # of the drawing's width; nodes nearer than this repel as if they were so far apart
_GRAVITY = 0.1
_BLOCK = 128


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


def _landmarks(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Positions from the distances to some pivots, the two main axes of them."""
    pivots = rng.permutation(graph.n_nodes)[:_PIVOTS]
    distance = np.asarray(dijkstra(graph.adjacency(), directed=False, indices=pivots, unweighted=True)).T
    reached = distance[np.isfinite(distance)]
    distance = np.where(np.isfinite(distance), distance, 1.2 * float(reached.max()) + 1)
    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    place = centred @ _main_axes(centred.T @ centred)
    return np.pad(place, ((0, 0), (0, 2 - place.shape[1])))


def _main_axes(square: FloatArray) -> FloatArray:
    """Two main axes of a symmetric matrix, in columns; of equally long ones those near fixed vectors, as all signs."""
    lam, vectors = np.linalg.eigh(square)
    fixed = np.modf(np.arange(1, lam.size + 1) * ((np.sqrt(5.0) - 1) / 2))[0] - 0.5
    found = np.empty((lam.size, 0))
    for i, value in enumerate(lam[::-1][:2]):
        same = vectors[:, np.abs(lam - value) <= 1e-8 * lam[-1]]
        axis = same @ (same.T @ fixed ** (i + 1))
        axis -= found @ (found.T @ axis)
        found = np.column_stack([found, axis / max(float(np.linalg.norm(axis)), 1e-300)])
    return found


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


SKETCHED = (500, 3000)
"""Most nodes and edges of a graph that notebooks show."""


def sketch(graph: Graph, mask: BoolArray | None = None, width: int = 260) -> str:
    """A small picture as SVG markup, kept edges over dropped ones; nothing of a graph too large for it.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> sketch(ring).count("<path"), sketch(ring, np.arange(4) < 3).count("<path")
    (1, 2)
    """
    if graph.n_nodes > SKETCHED[0] or graph.n_edges > SKETCHED[1]:
        return ""
    place = width / 2 * (1 + 0.94 * spring(graph)) if graph.n_nodes > 1 else np.full((graph.n_nodes, 2), width / 2)
    kept = np.ones(graph.n_edges, bool) if mask is None else mask
    lost = (graph.select(kept).degrees() == 0) & (graph.degrees() > 0)
    radius = float(np.clip(width / 12 / np.sqrt(max(graph.n_nodes, 1)), 1, 5))
    discs = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{"#bbb" if gone else "#D55E00"}"/>'
        for (x, y), gone in zip(place, lost, strict=True)
    )
    drawn = [] if kept.all() else [_lines(graph, place, ~kept, "#bbb", 0.6)]
    drawn.append(_lines(graph, place, kept, "#0072B2", 1.2))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{width}" viewBox="0 0 {width} {width}" '
        f'role="img" aria-label="{int(kept.sum())} of {graph.n_edges} edges">{"".join(drawn)}{discs}</svg>'
    )


def _lines(graph: Graph, place: FloatArray, edges: BoolArray, colour: str, wide: float) -> str:
    ends = np.column_stack([place[graph.source[edges]], place[graph.target[edges]]])
    way = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in ends)
    dense = float(np.clip((300 / max(len(ends), 1)) ** 0.5, 0.15, 0.9))
    return f'<path d="{way}" stroke="{colour}" stroke-width="{wide}" stroke-opacity="{dense:.2f}" fill="none"/>'
