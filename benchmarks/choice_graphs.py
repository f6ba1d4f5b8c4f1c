"""Twelve real graphs that the landscape of methods does not contain, on which `choose` is confirmed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

import graphpri
from graphpri.apps import brain_data
from graphpri.graph import Graph
from graphs import named


def women() -> Graph:
    """Southern women and the events that they attended (Davis, Gardner, Gardner 1941)."""
    import networkx as nx

    return graphpri.as_graph(nx.davis_southern_women_graph())


def families() -> Graph:
    """Marriages between families of Florence (Padgett and Ansell 1993)."""
    import networkx as nx

    return graphpri.as_graph(nx.florentine_families_graph())


def ball(name: str, radius: int, nodes: int, *, weighted: bool = False) -> Graph:
    """What lies within `radius` steps of a node of a large graph: of the first node with nearest to `nodes` there."""
    graph = named(name, weighted=weighted)
    steps = sp.csr_array(graph.adjacency(np.ones(graph.n_edges)) + sp.eye_array(graph.n_nodes))
    near = steps if radius == 1 else sp.csr_array(steps @ steps)
    centre = int(np.argmin(np.abs(np.diff(near.indptr) - nodes)))
    return _induced(graph, near.indices[near.indptr[centre] : near.indptr[centre + 1]])


def core(name: str, nodes: int, *, weighted: bool = False) -> Graph:
    """The k-core of a large graph that has nearest to `nodes` nodes."""
    import networkx as nx

    graph = named(name, weighted=weighted)
    number = nx.core_number(nx.Graph(zip(graph.source.tolist(), graph.target.tolist(), strict=True)))
    level = np.array([number.get(v, 0) for v in range(graph.n_nodes)])
    sizes = [(abs(int((level >= k).sum()) - nodes), k) for k in range(1, int(level.max()) + 1)]
    return _induced(graph, np.flatnonzero(level >= min(sizes)[1]))


def _induced(graph: Graph, nodes: np.ndarray) -> Graph:
    place = np.full(graph.n_nodes, -1)
    place[np.sort(nodes)] = np.arange(len(nodes))
    kept = (place[graph.source] >= 0) & (place[graph.target] >= 0)
    weights = graph.weights[kept] if graph.is_weighted else None
    return Graph.from_edges(place[graph.source[kept]], place[graph.target[kept]], weights, n_nodes=len(nodes))


def brain(name: str, share: float) -> Graph:
    """The mean of all scans' correlations, its largest entries only, as weights."""
    mean = np.mean(brain_data.named(name).matrices, axis=0)
    i, j = np.triu_indices(len(mean), 1)
    order = np.argsort(-mean[i, j], kind="stable")[: round(share * len(i))]
    return Graph.from_edges(i[order], j[order], mean[i[order], j[order]], n_nodes=len(mean))


GRAPHS: dict[str, Callable[[], Graph]] = {
    "florentine families": families,
    "southern women": women,
    "devfmri, mean of 83, weighted": lambda: brain("devfmri", 0.15),
    "eoec, mean of 94, weighted": lambda: brain("eoec", 0.08),
    "condmat1999, ball of radius 2, weighted": lambda: ball("condmat1999", 2, 100, weighted=True),
    "ca-condmat, ball of radius 2": lambda: ball("ca-condmat", 2, 150),
    "ca-grqc, ball of radius 2": lambda: ball("ca-grqc", 2, 200),
    "facebook, ball of radius 1": lambda: ball("facebook", 1, 80),
    "email-enron, ball of radius 1": lambda: ball("email-enron", 1, 120),
    "condmat1999, larger ball of radius 2, weighted": lambda: ball("condmat1999", 2, 250, weighted=True),
    "as-caida, core": lambda: core("as-caida", 200),
    "polblogs, core": lambda: core("polblogs", 80),
}
"""By name, the smaller first."""
