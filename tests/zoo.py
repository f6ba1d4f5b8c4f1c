"""The graph zoo: small graphs that every algorithm must handle, one large one, and the same graphs in networkx.

``GRAPHS`` have at least one edge, ``EDGELESS`` have none, ``ALL`` is both. ``CONNECTED`` and ``WEIGHTED``
are selections of ``GRAPHS``. ``large()`` has 10⁵ edges and is made on first use.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from graphpri.graph import Graph


def path(n: int) -> Graph:
    """Path of n nodes."""
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n))


def ring(n: int) -> Graph:
    """Cycle of n nodes."""
    return Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)


def star(n: int) -> Graph:
    """Node 0 joined to n − 1 others."""
    return Graph.from_edges(np.zeros(n - 1, int), np.arange(1, n))


def complete(n: int) -> Graph:
    """All pairs of n nodes."""
    return Graph.from_edges(*np.triu_indices(n, 1))


def grid(rows: int, columns: int) -> Graph:
    """Square lattice."""
    ids = np.arange(rows * columns).reshape(rows, columns)
    u = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    v = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return Graph.from_edges(u, v)


def two_cliques(n: int) -> Graph:
    """Two cliques of n nodes joined by one edge."""
    pairs = list(combinations(range(n), 2)) + list(combinations(range(n, 2 * n), 2)) + [(n - 1, n)]
    return Graph.from_edges(*np.array(pairs).T)


def disjoint(*graphs: Graph, isolated: int = 0) -> Graph:
    """The graphs side by side, and some isolated nodes after them."""
    offsets = np.cumsum([0] + [g.n_nodes for g in graphs])
    u = np.concatenate([g.source + k for g, k in zip(graphs, offsets, strict=False)])
    v = np.concatenate([g.target + k for g, k in zip(graphs, offsets, strict=False)])
    return Graph.from_edges(u, v, n_nodes=int(offsets[-1]) + isolated)


def reweighted(graph: Graph, weights: Any, labels: Any = None) -> Graph:
    """The same edges with weights, in canonical order."""
    names = labels if labels is not None else graph.labels
    return Graph.from_edges(graph.source, graph.target, weights, n_nodes=graph.n_nodes, labels=names)


def random_graph(n: int, m: int, seed: int, *, weighted: bool = False, spread: float = 1.0) -> Graph:
    """Uniform graph of exactly m edges; log-normal weights of that spread where asked."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    chosen = rng.choice(u.size, m, replace=False)
    weights = np.exp(spread * rng.standard_normal(m)) if weighted else None
    return Graph.from_edges(u[chosen], v[chosen], weights, n_nodes=n)


@lru_cache(maxsize=1)
def large() -> Graph:
    """Preferential attachment, 10⁴ nodes and 10⁵ edges with hubs; node 0 joined to every tenth node."""
    rng = np.random.default_rng(0)
    n, m = 10_000, 100_000
    v = rng.integers(1, n, 2 * m)
    u = np.floor(v * rng.random(2 * m) ** 2).astype(np.int64)
    u[: n // 10], v[: n // 10] = 0, np.arange(1, n, 10)
    _, first = np.unique(u * n + v, return_index=True)
    first = np.sort(first)[:m]
    return Graph.from_edges(u[first], v[first], n_nodes=n)


def to_networkx(graph: Graph) -> Any:
    """The graph as networkx.Graph, node labels and weights ("weight") included."""
    import networkx as nx

    g: Any = nx.Graph()
    g.add_nodes_from(graph.label(i) for i in range(graph.n_nodes))
    for m in range(graph.n_edges):
        u, v = graph.edge_labels(m)
        g.add_edge(u, v, **({"weight": float(graph.weights[m])} if graph.is_weighted else {}))
    return g


def _named(n: int) -> list[str]:
    return [f"n{i:02d}" for i in range(n)]


GRAPHS: dict[str, Graph] = {
    "single_edge": path(2),
    "two_edges": path(3),
    "triangle": ring(3),
    "path": path(8),
    "ring": ring(9),
    "star": star(9),
    "complete": complete(7),
    "grid": grid(4, 5),
    "two_cliques": two_cliques(5),
    "random": random_graph(20, 60, 1),
    "weighted": random_graph(14, 40, 2, weighted=True),
    "weighted_tree": reweighted(star(6), [0.1, 1.0, 2.5, 10.0, 3.0]),
    "weights_equal": reweighted(ring(6), np.full(6, 2.5)),
    "weights_wide": random_graph(12, 30, 3, weighted=True, spread=4.0),
    "labelled": reweighted(two_cliques(4), np.arange(1.0, 14.0), _named(8)),
    "disconnected": disjoint(ring(5), complete(4), path(3)),
    "isolated_node": disjoint(random_graph(10, 20, 4), isolated=2),
    "weighted_disconnected": reweighted(disjoint(ring(4), star(5), isolated=1), np.linspace(0.5, 4.0, 8)),
    "multipartite": Graph.from_edges(*np.array([(i, j) for i in range(3) for j in range(3, 8)]).T),
}
EDGELESS: dict[str, Graph] = {
    "empty": Graph.from_edges([], []),
    "one_node": Graph.from_edges([], [], n_nodes=1),
    "edgeless": Graph.from_edges([], [], n_nodes=5),
}
ALL: dict[str, Graph] = GRAPHS | EDGELESS
CONNECTED: dict[str, Graph] = {name: g for name, g in GRAPHS.items() if g.components()[0] == 1}
WEIGHTED: dict[str, Graph] = {name: g for name, g in GRAPHS.items() if g.is_weighted}
