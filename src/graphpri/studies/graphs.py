"""The graphs that several studies run on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from graphpri import datasets
from graphpri._entropy import exact_entropies, exact_entropy
from graphpri.errors import FileError, OptionError
from graphpri.graph import FloatArray, Graph, IntArray
from graphpri.interop import as_graph
from graphpri.studies.study import generator

Pairs = tuple[IntArray, IntArray]

RANDOM = ("ER", "BA", "WS", "SBM", "weights")
"""Families whose graphs differ by their number."""

_BATCHED_NODES = 50
"""Graphs of at most so many nodes take one batched eigenproblem."""


def build(name: str, seed: int, number: int = 0) -> Graph:
    """A graph by name.

    Parameters
    ----------
    name : str
        A data set, as ``"karate"``, with ``" weighted"`` after it to keep its weights; or a family with the number of
        nodes and the mean degree, as ``"ER 200 10"`` (``"grid 30 30"`` has rows and columns).
    seed, number : int
        Of random families: number says which of the graphs of that name.

    Raises
    ------
    OptionError
        For an unknown name.
    """
    head, *rest = name.split()
    if head not in _FAMILIES:
        return load(head, weighted=rest == ["weighted"])
    sizes = tuple(float(size) for size in rest)
    if len(sizes) != 2:
        raise OptionError(f"graph {name!r}: a family needs two numbers, as 'ER 200 10'")
    return _FAMILIES[head](int(sizes[0]), sizes[1], generator(seed, "graph", name, number))


def _small_world(n: int, degree: float, rng: np.random.Generator) -> Graph:
    import networkx as nx

    return as_graph(nx.watts_strogatz_graph(n, round(degree), 0.05, seed=int(rng.integers(2**31))))


def _grid(rows: int, columns: float, _: np.random.Generator) -> Graph:
    import networkx as nx

    return as_graph(nx.grid_2d_graph(rows, round(columns)))


def _blocks(n: int, degree: float, rng: np.random.Generator) -> Graph:
    """Four communities whose nodes are joined 32 times as often inside as across, as in G2 of the paper."""
    size = n // 4
    inside = degree / (size - 1 + 3 * size / 32)
    return datasets.stochastic_block_model([size] * 4, inside, inside / 32, rng)


def _weighted(n: int, degree: float, rng: np.random.Generator) -> Graph:
    graph = datasets.erdos_renyi(n, degree, rng)
    return graph.select(np.ones(graph.n_edges, bool), np.exp(rng.standard_normal(graph.n_edges)))


_FAMILIES: dict[str, Callable[[int, float, np.random.Generator], Graph]] = {
    "ER": datasets.erdos_renyi,
    "BA": lambda n, degree, rng: datasets.barabasi_albert(n, round(degree / 2), rng),
    "WS": _small_world,
    "SBM": _blocks,
    "ring": lambda n, degree, _: datasets.ring_knn(n, round(degree)),
    "grid": _grid,
    "path": lambda n, _, __: Graph.from_edges(np.arange(n - 1), np.arange(1, n)),
    "weights": _weighted,
}
"""``SBM`` has four communities, ``WS`` rewires 5 % of a ring, ``weights`` is ``ER`` with log-normal weights."""


@cache
def _all_pairs(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = np.triu_indices(n, 1)
    return first, second


def complete(n: int) -> Graph:
    """All pairs of n nodes, in the order of NumPy's ``triu_indices``."""
    return Graph.from_edges(*_all_pairs(n), n_nodes=n)


def absent_pairs(graph: Graph) -> Pairs:
    """Pairs of nodes that are not joined, u < v, in order."""
    u, v = _all_pairs(graph.n_nodes)
    n = graph.n_nodes
    free = ~np.isin(u * n + v, graph.edge_keys())
    return u[free], v[free]


def drawn(pairs: Pairs, count: int, rng: np.random.Generator) -> Pairs:
    """At most `count` of some pairs, in order."""
    u, v = pairs
    chosen = np.sort(rng.choice(u.size, min(count, u.size), replace=False))
    return u[chosen], v[chosen]


def entropies_with(graph: Graph, pairs: Pairs) -> tuple[float, FloatArray]:
    """Exact entropy of an unweighted graph, and after adding each of some absent edges on its own.

    Parameters
    ----------
    graph : Graph
        N nodes, M edges.
    pairs : pair of ndarray of int, shape (A,)

    Returns
    -------
    before : float
        In nats.
    after : ndarray of float64, shape (A,)
    """
    u, v = pairs
    both = Graph.from_edges(np.append(graph.source, u), np.append(graph.target, v), n_nodes=graph.n_nodes)
    keys = both.edge_keys()
    trials = np.tile(np.isin(keys, graph.edge_keys()), (u.size + 1, 1))
    trials[np.arange(u.size), np.searchsorted(keys, u.astype(np.int64) * both.n_nodes + v)] = True
    values = exact_values(both, trials.astype(np.float64))
    return float(values[-1]), values[:-1]


def exact_values(graph: Graph, y: FloatArray) -> FloatArray:
    """Exact entropies of several edge weightings of a graph, shape (B, M) to (B,)."""
    if graph.n_nodes <= _BATCHED_NODES:
        return exact_entropies(graph, y)
    return np.array([exact_entropy(graph, row, False).value for row in y])


PAPER = ("g1", "g2", "karate", "madrid", "polbooks", "jazz")
"""G1 to G6 of the paper."""

TITLES = {
    "g1": "ring, k-NN",
    "g2": "block model",
    "karate": "karate club",
    "madrid": "train bombing",
    "polbooks": "political books",
    "jazz": "jazz musicians",
}
"""How pictures call them."""

MODELS = {"ER": "Erdős–Rényi", "BA": "Barabási–Albert", "WS": "Watts–Strogatz"}
"""How pictures call families of random graphs."""

ALPHA = 0.005
"""The paper's weight of the connectivity term, in all of its experiments."""


def load(name: str, *, weighted: bool = False) -> Graph:
    """A named graph; without its weights unless they are asked for."""
    return as_graph(datasets.load(name), weight="weight" if weighted else None)


def available(names: tuple[str, ...]) -> list[str]:
    """Those of the data sets that can be loaded here."""
    found: list[str] = []
    for name in names:
        try:
            datasets.load(name)
        except FileError:
            continue
        found.append(name)
    return found


def random_graph(model: str, n: int, mean_degree: float, seed: int, number: int = 0) -> Graph:
    """The paper's random graphs: ``"ER"`` or ``"BA"``, with about this mean degree.

    Barabási–Albert graphs join each new node to half the mean degree, which comes out a little lower.
    """
    rng = generator(seed, "graph", model, n, mean_degree, number)
    if model == "ER":
        return datasets.erdos_renyi(n, mean_degree, rng)
    return datasets.barabasi_albert(n, round(mean_degree / 2), rng)
