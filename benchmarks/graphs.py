"""The graphs of the studies: named ones, or their largest components, and random families."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

import graphpri
from graphpri import datasets
from graphpri.graph import Graph

MEAN_DEGREE = 10


def named(name: str, *, weighted: bool = True) -> Graph:
    """A named graph, with its weights where it has some."""
    return graphpri.as_graph(datasets.load(name), weight="weight" if weighted else None)


def largest_component(graph: Graph) -> Graph:
    """The largest component as a graph of its own."""
    member = graph.components()[1]
    inside = member == np.bincount(member).argmax()
    place = np.cumsum(inside) - 1
    kept = inside[graph.source]
    weights = graph.weights[kept] if graph.is_weighted else None
    return Graph.from_edges(place[graph.source[kept]], place[graph.target[kept]], weights, n_nodes=int(inside.sum()))


def preferential(n: int) -> Graph:
    """Preferential attachment, mean degree 10: hubs."""
    return datasets.barabasi_albert(n, MEAN_DEGREE // 2, seed=0)


def communities(n: int) -> Graph:
    """Communities of 50 nodes: 8 neighbours inside and 2 outside on average."""
    return datasets.stochastic_block_model((50,) * (n // 50), 8 / 49, 2 / (n - 50), seed=0)


def small_world(n: int) -> Graph:
    """A ring of mean degree 10, a tenth of its edges rewired."""
    import networkx as nx

    return graphpri.as_graph(nx.watts_strogatz_graph(n, MEAN_DEGREE, 0.1, seed=0))


def geometric(n: int) -> Graph:
    """Random points of the unit square, joined within the radius of mean degree 10 (borders apart)."""
    points = np.random.default_rng(0).random((n, 2))
    pairs = cKDTree(points).query_pairs(np.sqrt(MEAN_DEGREE / (np.pi * n)), output_type="ndarray")
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n_nodes=n)


def grid(n: int) -> Graph:
    """A square grid of about n nodes."""
    side = round(n**0.5)
    node = np.arange(side * side).reshape(side, side)
    source = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    target = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return Graph.from_edges(source, target, n_nodes=side * side)


FAMILIES = {
    "preferential": preferential,
    "communities": communities,
    "small-world": small_world,
    "geometric": geometric,
}
