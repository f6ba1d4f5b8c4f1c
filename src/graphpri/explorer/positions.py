"""Where nodes are drawn: one fixed place for each, computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from graphpri._layout import spring, subgraph
from graphpri.graph import FloatArray, Graph
from graphpri.measures import Settings, View
from graphpri.measures.structure import communities_for_pictures
from graphpri.plot import positions

SPRINGS = 1500
"""Nodes up to which springs place them; larger graphs are placed group by group."""
_SPREAD = 0.6  # power of the radius: opens the dense middle, draws stragglers in
_ROOM = 0.4  # radius of a node, where a disc of N of them has the radius √N/2
_NEAR = 12
_STRONGEST = 4  # ties of a group that pull
_MEASURING = Settings(0.0, 0.0, "degree", "equation", "nats", 0)


def place_nodes(graph: Graph, layout: Any = None, seed: int = 0) -> NDArray[np.float32]:
    """Positions in the unit disc, shape (N, 2).

    Springs place up to 1500 nodes. Of more, the Louvain communities are placed by springs between them, and
    the nodes of each within its disc, in the same way. Then nodes that lie on one another are pushed apart.

    Parameters
    ----------
    graph : Graph
    layout : array_like of shape (N, 2), or mapping of labels to (x, y), optional
        Positions, which are only centred and scaled.
    seed : int

    Raises
    ------
    OptionError
        For positions that don't fit.

    Examples
    --------
    >>> place_nodes(Graph.from_edges([0, 1], [1, 2]), layout=[[0, 0], [1, 0], [2, 0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    if layout is not None:
        return _scaled(positions(graph, layout)).astype(np.float32)
    joined = np.flatnonzero(graph.degrees() > 0)
    found = _drawn(subgraph(graph, joined), seed) * (np.sqrt(joined.size) / 2)
    place = np.zeros((graph.n_nodes, 2))
    place[joined] = _scaled(_pushed_apart(found, np.full(joined.size, _ROOM), 40))
    _ring(place, np.setdiff1d(np.arange(graph.n_nodes), joined))
    return place.astype(np.float32)


def _drawn(graph: Graph, seed: int) -> FloatArray:
    """Positions in the unit disc."""
    n = graph.n_nodes
    if n <= SPRINGS:
        found = _scaled(spring(graph, seed))
        return found * np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9) ** (_SPREAD - 1)
    member = communities_for_pictures(View(graph, _MEASURING))
    groups = int(member.max()) + 1
    if not 1 < groups < n / 2:
        return _sunflower(n)
    return _by_groups(graph, member, groups, seed)


def _by_groups(graph: Graph, member: NDArray[np.int64], groups: int, seed: int) -> FloatArray:
    sizes = np.bincount(member, minlength=groups)
    radii = np.sqrt(sizes) / 2
    centres = _drawn(_ties(graph, member, groups), seed) * np.sqrt(graph.n_nodes) / 2
    centres = _pushed_apart(centres, radii, 200)
    place = np.empty((graph.n_nodes, 2))
    for nodes in np.split(np.argsort(member, kind="stable"), np.cumsum(sizes)[:-1]):
        group = member[nodes[0]]
        place[nodes] = centres[group] + radii[group] * _drawn(subgraph(graph, nodes), seed)
    return _scaled(place)


def _ties(graph: Graph, member: NDArray[np.int64], groups: int) -> Graph:
    """The graph of the groups: each with those that it has most edges to, for the degrees of both."""
    low, high = np.sort([member[graph.source], member[graph.target]], axis=0)
    strength = np.bincount(low, minlength=groups) + np.bincount(high, minlength=groups)
    across = low != high
    keys, counts = np.unique(low[across] * groups + high[across], return_counts=True)
    u, v = np.divmod(keys, groups)
    order = np.argsort(-counts / strength[u] / strength[v], kind="stable")
    kept, ties = np.zeros(keys.size, bool), np.zeros(groups, np.int64)
    for edge in order.tolist():
        if min(ties[u[edge]], ties[v[edge]]) < _STRONGEST:
            kept[edge] = True
            ties[[u[edge], v[edge]]] += 1
    return Graph.from_edges(u[kept], v[kept], n_nodes=groups)


def _pushed_apart(place: FloatArray, radii: FloatArray, steps: int) -> FloatArray:
    """Discs that overlap, moved until most do no more: each pushes its nearest ones away."""
    near = min(_NEAR, len(place))
    if near < 2:
        return place
    for _ in range(steps):
        distance, other = cKDTree(place).query(place, k=near)
        room = radii[:, None] + radii[other]
        push = np.maximum(room - distance, 0.0) / np.maximum(distance, 1e-9) / 4
        move = ((place[:, None, :] - place[other]) * push[:, :, None]).sum(axis=1)
        length = np.maximum(np.linalg.norm(move, axis=1), 1e-9)
        place = place + move * np.minimum(1.0, radii / length)[:, None]
    return place


def _sunflower(n: int) -> FloatArray:
    """Nodes that nothing groups, evenly over the disc: H. Vogel, Mathematical Biosciences 44, 1979."""
    turn = np.arange(n) * np.pi * (3 - np.sqrt(5))
    return np.sqrt((np.arange(n) + 0.5) / n)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _ring(place: FloatArray, alone: NDArray[np.int64]) -> None:
    """Nodes without an edge stand on a circle around the others."""
    angle = 2 * np.pi * np.arange(alone.size) / max(alone.size, 1)
    place[alone] = 1.12 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _scaled(place: FloatArray) -> FloatArray:
    """Centred on the middle of their box, the farthest at distance 1."""
    if not len(place):
        return place
    place = place - (place.max(axis=0) + place.min(axis=0)) / 2
    return place / max(float(np.linalg.norm(place, axis=1).max()), 1e-300)
