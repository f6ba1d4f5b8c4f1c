"""The front: sparsify, path and their results, for every method and every type of graph."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import graphpri
import zoo
from covering import each_pair
from graphpri import EdgeTable, Graph, as_graph, path, sparsify
from graphpri._entropy import by_name
from graphpri._entropy.by_name import EXACT_NODES, entropy_for
from graphpri._objective import BUDGET_BETA, FREE_BETA, Objective
from graphpri._selection import count_edges
from graphpri._sparsify import Sparsified
from graphpri.baselines import METHODS as BASELINES
from graphpri.errors import GraphError, Interrupted, OptionError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the import of PyG sets off PyTorch's own deprecations
    from torch_geometric.data import Data

METHODS = list(graphpri.methods())
OWN_WEIGHTS = "effective-resistance-sampling"
FAST = {"effort": "fast"}
GUMBEL = {"solver": "gumbel", "steps": 60}
KARATE = nx.karate_club_graph()
# core.md 2.3: what minimising J over all connected sizes reaches on karate, unweighted.
KARATE_FREE = {0: 2.7423, 1: 2.8771, 2: 2.9927, 3: 3.0601, 3.5: 3.0892, 4: 3.1159, 5: 3.1511, 6: 3.1541}

EACH_METHOD = pytest.mark.parametrize("method", METHODS)
EACH_GRAPH = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS)


def quick(method: str) -> dict[str, Any]:
    """Options that name the method and keep it quick."""
    return {"method": method} | (FAST if method == "pri" else {})


def plain_karate() -> Any:
    graph = nx.Graph(KARATE)
    for _, _, data in graph.edges(data=True):
        del data["weight"]
    return graph


def keys(graph: Graph) -> np.ndarray:
    return graph.source.astype(np.int64) * graph.n_nodes + graph.target


def selection(result: Sparsified) -> np.ndarray:
    """What was kept, as a selection w over the original's canonical edges."""
    at = np.searchsorted(keys(result.original), keys(result.kept))
    w = np.zeros(result.original.n_edges)
    w[at] = result.kept.weights / result.original.weights[at]
    return w


# Every method on every graph.


@EACH_METHOD
def test_exactly_k_edges_of_the_graph_and_the_objective_of_what_was_kept(method):
    for i, graph in enumerate(zoo.GRAPHS.values(), METHODS.index(method)):
        keep = (0.3, 0.8)[i % 2]
        result = sparsify(graph, keep=keep, beta=3.0, **quick(method))
        mask, kept = result.mask, result.graph
        assert mask.dtype == bool
        assert mask.sum() == kept.n_edges == result.kept.n_edges == count_edges(keep, graph.n_edges)
        assert np.array_equal(kept.source, graph.source[mask])
        assert np.array_equal(kept.target, graph.target[mask])
        assert (kept.n_nodes, kept.labels) == (graph.n_nodes, graph.labels)
        assert np.array_equal(result.weights > 0, mask)
        assert np.array_equal(kept.weights, result.weights[mask])
        if method != OWN_WEIGHTS:
            assert np.array_equal(kept.weights, graph.weights[mask])
        assert np.isfinite(result.scores).all()
        terms = Objective(graph, 3.0, entropy=result.report()["entropy_by"]).terms(result.weights / graph.weights)
        assert (result.objective, result.entropy, result.divergence) == pytest.approx(terms[:3], abs=1e-12)


@EACH_METHOD
@pytest.mark.parametrize("name", ["grid", "weighted", "disconnected", "weighted_disconnected", "star", "labelled"])
def test_connected_keeps_the_number_of_components(method, name):
    graph = zoo.GRAPHS[name]
    components = graph.components()[0]
    forest = graph.n_nodes - components
    for k in (forest, (forest + graph.n_edges) // 2):
        result = sparsify(graph, keep=k, connected=True, **quick(method))
        assert result.mask.sum() == k
        assert result.kept.components()[0] == result.report()["components_kept"] == components
    with pytest.raises(OptionError, match=rf"keep={forest - 1} .*connected=True needs at least {forest} edges"):
        sparsify(graph, keep=forest - 1, connected=True, **quick(method))


@pytest.mark.parametrize("method", [m for m in METHODS if m != "pri"])
def test_baselines_keep_the_highest_scores(method):
    result = sparsify(zoo.GRAPHS["random"], keep=0.4, method=method)
    assert result.scores[result.mask].min() >= result.scores[~result.mask].max()
    assert result.status == f"kept the 24 edges that {method} scores highest"
    assert result.trace == ()


@EACH_METHOD
def test_same_seed_same_result_bit_for_bit(method):
    once, again = (sparsify(zoo.GRAPHS["two_cliques"], keep=0.4, seed=3, **quick(method)) for _ in range(2))
    for name in ("mask", "scores", "weights"):
        assert np.array_equal(getattr(once, name), getattr(again, name))
    assert (once.terms, once.status) == (again.terms, again.status)


def test_no_seed_is_seed_zero_and_seeds_matter():
    graph = zoo.GRAPHS["complete"]
    drawn = [tuple(sparsify(graph, keep=0.5, method="random", seed=seed).mask) for seed in (None, 0, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 2


# The order of edges and nodes, threads and processes.


def make_networkx(nodes: list[Any], edges: list[tuple[Any, Any]], weights: Any) -> Any:
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    for i, edge in enumerate(edges):
        graph.add_edge(*edge, **({} if weights is None else {"weight": float(weights[i])}))
    return graph


def make_table(nodes: list[Any], edges: list[tuple[Any, Any]], weights: Any) -> EdgeTable:
    number = {label: i for i, label in enumerate(nodes)}
    u, v = np.array([[number[a], number[b]] for a, b in edges]).T
    return EdgeTable(len(nodes), u, v, labels=nodes, edge_attributes={} if weights is None else {"weight": weights})


def make_frame(nodes: list[Any], edges: list[tuple[Any, Any]], weights: Any) -> Any:
    frame = pd.DataFrame(edges, columns=["source", "target"])
    return frame if weights is None else frame.assign(weight=weights)


def by_label(result: Sparsified) -> tuple[Any, ...]:
    """What was kept and how it scored, by the labels of the ends."""
    order = np.lexsort((result.original.target, result.original.source))
    assert np.array_equal(order, np.arange(order.size))  # canonical
    pairs = [frozenset(result.kept.edge_labels(m)) for m in range(result.kept.n_edges)]
    return tuple(pairs), result.terms, np.sort(result.scores).tobytes(), np.sort(result.weights).tobytes()


@each_pair(method=METHODS, weighted=[False, True], connected=[False, True])
def test_the_order_of_edges_and_nodes_is_irrelevant(method, weighted, connected):
    # The cliques' ties leave much to the order, if anything looks at it.
    graph = zoo.two_cliques(5)
    labels = [f"n{i}" for i in range(10)]
    edges = [(labels[u], labels[v]) for u, v in zip(graph.source, graph.target, strict=True)]
    weights = np.tile([1.0, 2.0, 0.5], 7) if weighted else None
    seen = set()
    for seed, make in enumerate([make_networkx, make_networkx, make_table, make_frame]):
        rng = np.random.default_rng(seed)
        order, nodes = rng.permutation(len(edges)), rng.permutation(labels).tolist()
        listed = [edges[i][:: rng.choice([-1, 1])] for i in order]
        shuffled = make(nodes, listed, None if weights is None else weights[order])
        result = sparsify(shuffled, keep=0.5, connected=connected, **quick(method))
        given_order = list(shuffled.edges) if make is make_networkx else listed
        kept = {frozenset(result.kept.edge_labels(m)) for m in range(result.kept.n_edges)}
        assert [frozenset(pair) in kept for pair in given_order] == result.mask.tolist()
        seen.add(by_label(result))
    assert len(seen) == 1


@pytest.mark.parametrize("options", [GUMBEL, GUMBEL | {"keep": 9}, {"beta": 2.0}, {"keep": 9, "reweight": True}])
def test_the_order_of_edges_is_irrelevant_to_both_solvers_and_new_weights(options):
    graph = zoo.GRAPHS["labelled"]
    edges = [graph.edge_labels(m) for m in range(graph.n_edges)]
    seen = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(edges))
        shuffled = make_frame([], [edges[i] for i in order], graph.weights[order])
        seen.add(by_label(sparsify(shuffled, **options)))
    assert len(seen) == 1


FINGERPRINT = """
import hashlib, sys
import networkx as nx
from graphpri import methods, path, sparsify
G = nx.karate_club_graph()
names = [m for m in methods() if m != "simmelian"]
results = [sparsify(G, keep=0.4, method=m, **({"effort": "fast"} if m == "pri" else {})) for m in names]
results += [sparsify(G, keep=0.5, reweight=True, effort="fast", connected=True), sparsify(G, beta=1, effort="fast")]
results += [sparsify(G, solver="gumbel", steps=20), sparsify(G, keep=0.4, method="random", seed=7)]
results += path(G, beta=[0, 5], effort="fast", weight=None) + path(G, keep=[0.6, 0.3], effort="fast")
for r in results:
    pairs = sorted(map(str, r.graph.edges))
    arrays = r.mask.tobytes() + r.scores.tobytes() + r.weights.tobytes()
    print(r.settings["method"], hashlib.sha256(arrays + repr((pairs, r.terms)).encode()).hexdigest())
"""


def test_processes_and_threads_agree_to_the_last_bit():
    outputs = []
    for threads, hash_seed in (("1", "1"), ("2", "2")):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {"PYTHONHASHSEED": hash_seed} | dict.fromkeys(names, threads)
        done = subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | environment,
        )
        outputs.append(done.stdout.splitlines())
    assert len(outputs[0]) == len(METHODS) - 1 + 8
    assert outputs[0] == outputs[1]


def test_networkit_s_threads_change_nothing():  # in this process, since NetworKit takes seconds to import
    import networkit as nk

    before, found = nk.getMaxNumberOfThreads(), []
    try:
        for threads in (1, 2):
            nk.setNumberOfThreads(threads)
            found.append(by_label(sparsify(KARATE, keep=0.4, method="simmelian")))
    finally:
        nk.setNumberOfThreads(before)
    assert found[0] == found[1]


def test_the_caller_s_thread_limit_is_irrelevant_and_stays():
    graph = zoo.random_graph(60, 400, 0)
    results = []
    for limit in (1, 2):
        with threadpool_limits(limit, "blas"):
            results.append(by_label(sparsify(graph, keep=0.3, effort="fast", reweight=True)))
    assert results[0] == results[1]


# Types: what comes back, and in which order the arrays are.


class Kind(NamedTuple):
    """How to make an object of a type, its distinct edges in its own order, and a change to it."""

    make: Callable[[int, list[tuple[int, int]], Any], Any]
    listed: Callable[[Any], list[tuple[int, int, float]]]
    spoil: Callable[[Any], Any]


def both_ways(edges: list[tuple[int, int]], weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u, v = np.array(edges).T
    return np.r_[u, v], np.r_[v, u], np.r_[weights, weights]


def make_sparse(n: int, edges: list[tuple[int, int]], weights: Any) -> Any:
    u, v, w = both_ways(edges, weights)
    order = np.random.default_rng(0).permutation(w.size)
    return sp.coo_array((w[order], (u[order], v[order])), shape=(n, n))


def make_igraph(n: int, edges: list[tuple[int, int]], weights: Any) -> Any:
    graph = igraph.Graph(n=n, edges=edges)
    graph.es["weight"] = list(weights)
    return graph


def make_networkit(n: int, edges: list[tuple[int, int]], weights: Any) -> Any:
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    graph = networkit.Graph(n, weighted=True)
    for (u, v), w in zip(edges, weights, strict=True):
        graph.addEdge(u, v, w)
    return graph


def make_pyg(n: int, edges: list[tuple[int, int]], weights: Any) -> Any:
    u, v, w = both_ways(edges, weights)
    return Data(
        edge_index=torch.from_numpy(np.array([u, v])),
        edge_weight=torch.from_numpy(w),
        x=torch.arange(n),
        num_nodes=n,
    )


def first_seen(entries: Any) -> list[tuple[int, int, float]]:
    """Mirrored entries as edges, each where it first stands."""
    seen: dict[tuple[int, int], float] = {}
    for u, v, w in entries:
        seen.setdefault((min(u, v), max(u, v)), w)
    return [(u, v, float(w)) for (u, v), w in seen.items()]


KINDS = {
    "Graph": Kind(
        lambda n, edges, w: Graph.from_edges(*np.array(edges).T, w, n_nodes=n),
        lambda g: list(zip(g.source.tolist(), g.target.tolist(), g.weights.tolist(), strict=True)),
        lambda g: None,
    ),
    "EdgeTable": Kind(
        lambda n, edges, w: make_table(list(range(n)), edges, w),
        lambda t: list(zip(t.source.tolist(), t.target.tolist(), t.edge_attributes["weight"], strict=True)),
        lambda t: t.edge_attributes["weight"].fill(9.0),
    ),
    "networkx": Kind(
        lambda n, edges, w: make_networkx(list(range(n)), edges, w),
        lambda g: list(g.edges(data="weight")),
        lambda g: g.remove_edges_from(list(g.edges)),
    ),
    "igraph": Kind(
        make_igraph,
        lambda g: [(*e.tuple, e["weight"]) for e in g.es],
        lambda g: g.delete_edges(range(5)),
    ),
    "networkit": Kind(make_networkit, lambda g: list(g.iterEdgesWeights()), lambda g: g.removeAllEdges()),
    "sparse": Kind(
        make_sparse,
        lambda a: first_seen(zip(a.row.tolist(), a.col.tolist(), a.data, strict=True)),
        lambda a: a.data.fill(9.0),
    ),
    "dense": Kind(
        lambda n, edges, w: make_sparse(n, edges, w).toarray(),
        lambda a: first_seen((i, j, a[i, j]) for i, j in zip(*np.nonzero(a), strict=True)),
        lambda a: a.fill(9.0),
    ),
    "edge frame": Kind(
        lambda n, edges, w: make_frame([], edges, w).assign(note=np.arange(len(edges))),
        lambda f: list(zip(f["source"], f["target"], f["weight"], strict=True)),
        lambda f: f.insert(0, "weight", 9.0) if "weight" not in f else f.__setitem__("weight", 9.0),
    ),
    "square frame": Kind(
        lambda n, edges, w: pd.DataFrame(make_sparse(n, edges, w).toarray()),
        lambda f: first_seen((i, j, f.iat[i, j]) for i, j in zip(*np.nonzero(f.to_numpy()), strict=True)),
        lambda f: f.insert(0, "weight", 9.0) if "weight" not in f else f.__setitem__("weight", 9.0),
    ),
    "pyg": Kind(
        make_pyg,
        lambda d: first_seen((*ends, w) for ends, w in zip(d.edge_index.T.tolist(), d.edge_weight, strict=True)),
        lambda d: d.edge_weight.fill_(9.0),
    ),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def example(kind: Kind) -> Any:
    """A weighted graph whose edges are in no order; node 12 has none (where the type can hold it)."""
    graph = zoo.random_graph(12, 30, 5, weighted=True)
    order = np.random.default_rng(3).permutation(30)
    edges = list(zip(graph.source[order].tolist(), graph.target[order].tolist(), strict=True))
    return kind.make(13, [e[::-1] if i % 2 else e for i, e in enumerate(edges)], graph.weights[order])


def laplacian(listed: list[tuple[int, int, float]], weights: np.ndarray) -> np.ndarray:
    matrix = np.zeros((13, 13))
    for (u, v, _), w in zip(listed, weights, strict=True):
        matrix[[u, v], [u, v]] += w
        matrix[[u, v], [v, u]] -= w
    return matrix / np.trace(matrix)


def von_neumann(matrix: np.ndarray) -> float:
    values = np.linalg.eigvalsh(matrix)
    values = values[values > 1e-14]
    return float(-(values * np.log(values)).sum())


def dense_terms(listed: list[tuple[int, int, float]], kept: np.ndarray, beta: float) -> tuple[float, float, float]:
    """J, S and D of kept edge weights in the listed order, straight from the definition."""
    rho, sigma = laplacian(listed, np.array([w for *_, w in listed])), laplacian(listed, kept)
    s = von_neumann(sigma)
    d = von_neumann((rho + sigma) / 2) - 0.5 * (s + von_neumann(rho))
    return s + 2 * beta * d, s, d


def undirected(entries: list[tuple[int, int, float]]) -> set[tuple[frozenset[int], float]]:
    return {(frozenset((u, v)), float(w)) for u, v, w in entries}


@EACH_KIND
@pytest.mark.parametrize("options", [FAST, {"method": OWN_WEIGHTS}, FAST | {"reweight": True}], ids=str)
def test_the_same_type_comes_back_and_arrays_are_in_the_input_s_order(kind, options):
    given_graph = example(kind)
    listed = kind.listed(given_graph)
    result = sparsify(given_graph, keep=0.4, beta=2.0, **options)
    assert type(result.graph) is type(given_graph)
    assert result.mask.sum() == 12
    expected = [(u, v, w) for (u, v, _), w in zip(listed, result.weights.tolist(), strict=True) if w > 0]
    assert len(expected) == 12
    assert undirected(kind.listed(result.graph)) == undirected(expected)
    assert kind.listed(given_graph) == listed
    assert (result.objective, result.entropy, result.divergence) == pytest.approx(
        dense_terms(listed, result.weights, 2.0), abs=1e-10
    )


@EACH_KIND
def test_scores_and_probabilities_are_in_the_input_s_order(kind):
    given_graph = example(kind)
    listed = kind.listed(given_graph)
    graph = make_networkx(list(range(13)), [(u, v) for u, v, _ in listed], [w for *_, w in listed])
    place = {frozenset(edge): i for i, edge in enumerate(graph.edges)}
    where = [place[frozenset((u, v))] for u, v, _ in listed]
    options = GUMBEL | {"beta": 0.5}
    result, reference = sparsify(given_graph, **options), sparsify(graph, **options)
    assert 0 < result.mask.sum() < 30
    for name in ("mask", "weights", "scores", "probabilities"):
        # To rounding: an edge frame can't hold the node without edges.
        assert np.allclose(getattr(result, name), getattr(reference, name)[where], rtol=1e-9), name


@EACH_KIND
def test_a_change_to_the_input_afterwards_does_not_reach_the_result(kind):
    given_graph = example(kind)
    result = sparsify(given_graph, keep=0.4, method="weight")
    heaviest = undirected(sorted(kind.listed(given_graph), key=lambda edge: -edge[2])[:12])
    kind.spoil(given_graph)
    assert undirected(kind.listed(result.graph)) == heaviest


@EACH_KIND
@pytest.mark.parametrize("along", [False, True], ids=["sparsify", "path"])
def test_results_can_be_pickled_and_copied(kind, along):
    given_graph = example(kind)
    result = path(given_graph, keep=[0.4])[0] if along else sparsify(given_graph, keep=0.4, **GUMBEL)
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert undirected(kind.listed(twin.graph)) == undirected(kind.listed(result.graph))
        for name in ("mask", "weights", "scores"):
            assert np.array_equal(getattr(twin, name), getattr(result, name))
        assert twin.report() == result.report()
        assert (twin.trace, repr(twin)) == (result.trace, repr(result))


def test_networkx_attributes_isolated_nodes_and_the_order_of_nodes_are_kept():
    graph = nx.Graph(title="lettered")
    graph.add_nodes_from([("z", {"size": 3}), ("a", {}), (("t", 1), {"size": 1}), (7, {})])
    graph.add_edges_from([("z", "a", {"kind": "x"}), (("t", 1), "z", {"kind": "y"}), ("a", ("t", 1), {"kind": "z"})])
    kept = sparsify(graph, keep=2).graph
    assert list(kept.nodes(data=True)) == list(graph.nodes(data=True))
    assert kept.graph == {"title": "lettered"}
    assert all(data == graph.edges[u, v] for u, v, data in kept.edges(data=True))
    assert [set(edge) for edge in kept.edges] == [set(e) for e in graph.edges if kept.has_edge(*e)]


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "é", "", "x y", "Ω"],
        [1, "1", 2.5, (1, "a"), frozenset({1}), None],
        [2**62, 10**15, 5, -3, 0, 2**40],
        [10**30, 1, 2, 3, 4, 5],
        [True, "True", 7, 8, 9, 10],
    ],
    ids=["text", "mixed", "huge", "beyond 64 bits", "bool"],
)
@EACH_METHOD
def test_labels_of_any_kind(labels, method):
    graph = nx.Graph()
    if None in labels:
        labels = [label for label in labels if label is not None] + ["None"]
    graph.add_nodes_from(labels)
    graph.add_edges_from(combinations(labels, 2))
    result = sparsify(graph, keep=6, connected=True, **quick(method))
    assert list(result.graph) == labels
    assert result.graph.number_of_edges() == 6
    assert nx.is_connected(result.graph)


# Budgets.


@given(st.floats(1e-12, 1), st.integers(1, 10**7))
def test_a_share_is_rounded_half_up_and_at_least_one(share, size):
    exact = Fraction(share) * size + Fraction(1, 2)
    k = count_edges(share, size)
    assert 1 <= k <= size
    # Half up, but for what 10⁻⁹ and rounding in floating point bridge.
    assert abs(exact - (k + Fraction(1, 2))) <= Fraction(1, 2) + Fraction(2, 10**9) or k == 1


@pytest.mark.parametrize(
    ("keep", "size", "k"),
    [
        (0.5, 5, 3),
        (0.5, 3, 2),
        (0.3, 5, 2),
        (0.285, 100, 29),  # 28.499999999999996 in floating point
        (0.2849, 100, 28),
        (1e-9, 78, 1),
        (1.0, 78, 78),
        (1, 78, 1),
        (78, 78, 78),
        (np.int64(5), 78, 5),
        (np.uint8(5), 78, 5),
        (np.float32(0.3), 78, 23),
        (np.float64(1), 78, 78),
        (Fraction(1, 3), 78, 26),
    ],
    ids=repr,
)
def test_shares_and_counts(keep, size, k):
    assert count_edges(keep, size) == k
    result = sparsify(zoo.path(size + 1), keep=keep, method="random")
    assert result.mask.sum() == k
    assert json.loads(json.dumps(result.report()))["keep"] == (float(keep) if keep % 1 else keep)


@settings(max_examples=40)
@given(
    st.integers(0, 10_000), st.integers(3, 9), st.booleans(), st.booleans(), st.sampled_from(["pri", "local-degree"])
)
def test_random_graphs_constraints_and_budgets(seed, n, connected, free, method):
    rng = np.random.default_rng(seed)
    graph = zoo.random_graph(n, int(rng.integers(1, n * (n - 1) // 2 + 1)), seed, weighted=bool(seed % 2))
    protect, forbid = rng.random((2, graph.n_edges)) < 0.2
    forbid &= ~protect
    keep = None if free and method == "pri" else int(rng.integers(1, graph.n_edges + 1))
    feasible = [
        mask
        for size in ([keep] if keep else range(1, graph.n_edges + 1))
        for mask in masks_of(graph, size, protect, forbid, connected)
        if graph.n_edges <= 9
    ]
    try:
        result = sparsify(
            graph, keep=keep, connected=connected, protect=protect, forbid=forbid, beta=1.5, method=method
        )
    except OptionError:
        assert not feasible
        return
    assert keep is None or result.mask.sum() == keep
    assert result.mask[protect].all()
    assert not result.mask[forbid].any()
    assert not connected or result.kept.components()[0] == graph.components()[0]
    if feasible and method == "pri":
        objective = Objective(graph, 1.5)
        best = min(objective.value(mask.astype(float)) for mask in feasible)
        assert result.objective <= best + 2e-3 * abs(best)


def masks_of(graph: Graph, size: int, protect: Any, forbid: Any, connected: bool) -> Any:
    for kept in combinations(range(graph.n_edges), size) if graph.n_edges <= 9 else ():
        mask = np.isin(np.arange(graph.n_edges), kept)
        fits = mask[protect].all() and not mask[forbid].any()
        if fits and (not connected or graph.components(mask)[0] == graph.components()[0]):
            yield mask


# Constraints.


def forms(graph: Any, numbers: list[int]) -> dict[str, Any]:
    """The same edges in every form that protect and forbid take."""
    edges = list(graph.edges)
    pairs = [edges[i] for i in numbers]
    mask = np.isin(np.arange(len(edges)), numbers)
    return {
        "pairs": pairs,
        "turned": [pair[::-1] for pair in pairs],
        "a set": {frozenset(pair) for pair in pairs} and set(pairs),
        "a generator": (pair for pair in pairs),
        "an array": np.array(pairs),
        "a mask": mask,
        "a list of bools": mask.tolist(),
        "numbers": np.array(numbers),
        "a list of numbers": numbers,
    }


@pytest.mark.parametrize("form", forms(KARATE, [0]))
@pytest.mark.parametrize("method", ["pri", "local-degree", OWN_WEIGHTS])
def test_protect_and_forbid_in_every_form(form, method):
    protected, forbidden = [5, 40, 77], [0, 33, 60]
    result = sparsify(
        KARATE,
        keep=30,
        protect=forms(KARATE, protected)[form],
        forbid=forms(KARATE, forbidden)[form],
        **quick(method),
    )
    assert result.mask[protected].all()
    assert not result.mask[forbidden].any()
    assert result.mask.sum() == 30
    edges = list(KARATE.edges)
    assert all(result.graph.has_edge(*edges[i]) for i in protected)
    assert not any(result.graph.has_edge(*edges[i]) for i in forbidden)
    if method != "pri":
        assert result.status.endswith("scores highest, subject to protect, forbid")


@pytest.mark.parametrize(
    "options", [{"solver": "gumbel", "steps": 60}, {"beta": 1.0}, {"beta": 1.0, "connected": False}]
)
def test_protect_and_forbid_without_a_budget(options):
    result = sparsify(KARATE, protect=[(0, 1), (32, 33)], forbid=[(0, 2), (0, 3)], **options)
    assert {(0, 1), (32, 33)} <= set(result.graph.edges)
    assert not {(0, 2), (0, 3)} & set(result.graph.edges)


@pytest.mark.parametrize("form", forms(KARATE, [0]))
def test_protect_and_forbid_hold_along_the_whole_path(form):
    protected, forbidden = [5, 40, 77], [0, 33, 60]
    along = {"beta": [0.0, 6.0]} if form == "a mask" else {"keep": [0.5, 0.2]}
    results = path(KARATE, protect=forms(KARATE, protected)[form], forbid=forms(KARATE, forbidden)[form], **along)
    assert all(r.mask[protected].all() and not r.mask[forbidden].any() for r in results)


def test_nothing_protected_is_no_constraint():
    plain = sparsify(KARATE, keep=0.5, **FAST)
    empty = sparsify(KARATE, keep=0.5, protect=[], forbid=np.zeros(78, bool), **FAST)
    assert np.array_equal(plain.mask, empty.mask)


def test_protecting_all_edges_keeps_them():
    result = sparsify(KARATE, protect=np.ones(78, bool))
    assert result.status == "all edges kept: each is protected or holds a component together"
    assert sparsify(KARATE, keep=78, protect=np.ones(78, bool)).mask.all()


# Values in results.


@each_pair(
    weight=["weight", None],
    beta=[0.5, 3.0],
    alpha=[0.0, 0.01],
    mixture=["equation", "listing"],
    entropy=["exact", "degree", "local"],
)
def test_scores_of_pri_are_minus_the_gradient(weight, beta, alpha, mixture, entropy):
    options = {"beta": beta, "alpha": alpha, "mixture": mixture, "entropy": entropy, "weight": weight}
    result = sparsify(KARATE, keep=50, connected=True, **options, **FAST)
    order = np.array([result_edge(result.original, edge) for edge in KARATE.edges])
    w = np.zeros(78)
    w[order] = result.mask
    objective = Objective(as_graph(KARATE, weight=weight), beta, alpha, entropy, mixture)
    h = 1e-5
    # Dropped edges have a right-hand slope only: a second-order difference of it.
    for edge in range(0, 78, 5):
        step = np.zeros(78)
        step[order[edge]] = h
        ahead, twice = objective.value(w + step), objective.value(w + 2 * step)
        slope = (4 * ahead - twice - 3 * objective.value(w)) / (2 * h)
        if result.mask[edge]:
            slope = (ahead - objective.value(w - step)) / (2 * h)
        assert result.scores[edge] == pytest.approx(-slope, rel=2e-3, abs=1e-6)


def result_edge(graph: Graph, edge: tuple[Any, Any]) -> int:
    ends = {frozenset(graph.edge_labels(m)): m for m in range(graph.n_edges)}
    return ends[frozenset(edge)]


@pytest.mark.parametrize("entropy", ["exact", "degree", "local"])
@pytest.mark.parametrize("method", ["pri", "random", OWN_WEIGHTS])
@pytest.mark.parametrize("mixture", ["equation", "listing"])
def test_terms_are_those_of_the_entropy_in_the_report(entropy, method, mixture):
    options = {"beta": 2.5, "alpha": 0.02, "entropy": entropy, "mixture": mixture}
    graph = zoo.GRAPHS["weighted"]
    result = sparsify(graph, keep=0.5, **options, **quick(method))
    report = result.report()
    assert (report["entropy_by"], report["mixture"], report["unit"]) == (entropy, mixture, "nats")
    objective = Objective(graph, 2.5, 0.02, entropy, mixture)
    terms = objective.terms(result.weights / graph.weights)
    assert (result.entropy, result.divergence) == pytest.approx((terms.entropy, terms.divergence), abs=1e-12)
    # The barrier is that of the degrees before any reweighting.
    barrier = objective.terms(result.mask.astype(float)).barrier
    assert result.objective == pytest.approx(terms.entropy + 5 * terms.divergence + barrier, abs=1e-12)
    assert report["entropy_original"] == objective.original_entropy
    assert (report["objective"], report["barrier"]) == (result.objective, pytest.approx(barrier))


def test_the_default_entropy_goes_by_the_largest_component_and_then_by_edges(monkeypatch):
    assert entropy_for(zoo.path(EXACT_NODES)) == "exact"
    assert entropy_for(zoo.path(EXACT_NODES + 1)) == "local"
    assert entropy_for(zoo.disjoint(*[zoo.path(EXACT_NODES)] * 5, isolated=400)) == "exact"
    monkeypatch.setattr(by_name, "LOCAL_EDGES", 1000)
    assert entropy_for(zoo.path(1001)) == "local"
    assert entropy_for(zoo.path(1002)) == "degree"
    assert entropy_for(zoo.path(1002), "exact") == "exact"
    assert sparsify(zoo.path(EXACT_NODES + 1), keep=0.5, method="random").report()["entropy_by"] == "local"


def test_all_edges_have_no_divergence():
    result = sparsify(KARATE, keep=1.0)
    assert result.divergence == pytest.approx(0, abs=1e-12)
    assert result.objective == result.entropy == pytest.approx(result.report()["entropy_original"])


REPORTED = [
    {"keep": 0.3} | FAST,
    {"keep": np.float32(0.3), "alpha": np.float32(0.01), "beta": np.float64(2), "seed": np.int64(3)} | FAST,
    {"keep": np.int64(40), "connected": np.True_, "reweight": np.True_, "beta": Fraction(1, 2)} | FAST,
    {"beta": 1},
    {"beta": 0, "connected": False},
    {"beta": 2, "solver": "budgeted", "effort": "best", "time_limit": 0.2},
    GUMBEL | {"temperature": 0.5, "samples": 2, "learning_rate": 0.1, "patience": 0, "draw": True},
    GUMBEL | {"keep": 0.5},
    {"method": "local-degree", "keep": 0.5, "exponent": 0.5},
    {"method": "simmelian", "keep": 0.5, "shape": "triadic"},
    {"method": "edge-betweenness", "keep": 0.5, "pivots": np.int64(5)},
    {"method": "forest-fire", "keep": 0.5, "burn_probability": np.float32(0.5), "burnt_ratio": 2},
    {"method": "algebraic-distance", "keep": 0.5, "systems": 3},
    {"method": "effective-resistance", "keep": 0.5, "resistance": "exact", "n_probes": 8},
    {"method": OWN_WEIGHTS, "keep": 0.5, "resistance": "sketch", "n_probes": 8},
    *(
        {"method": m, "keep": 0.6, "connected": True, "mixture": "listing", "protect": [0]}
        for m in METHODS
        if m != "pri"
    ),
]


@pytest.mark.parametrize("options", REPORTED, ids=str)
def test_reports_are_plain_and_complete(options):
    result = sparsify(KARATE, **options)
    report = result.report()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    named = {"weight", "protect", "forbid", "time_limit", "callback"}
    for name, value in options.items():
        assert name in named or report[name] == ("divergence" if name == "reweight" else value)
    assert report["graphpri"] == graphpri.__version__
    assert report["method"] == options.get("method", "pri")
    assert (report["nodes"], report["edges"], report["edges_kept"]) == (34, 78, result.mask.sum())
    assert report["share_kept"] == result.mask.sum() / 78
    kept = nx.Graph(result.graph)
    assert (report["components"], report["components_kept"]) == (1, nx.number_connected_components(kept))
    assert report["nodes_cut_off"] == sum(d == 0 for _, d in kept.degree)
    assert report["status"] == result.status
    assert report["weights"] == "weights: 'weight'"
    assert f"{report['edges_kept']} of 78 edges kept by {report['method']}" in repr(result)


def test_isolated_nodes_are_not_counted_as_cut_off():
    report = sparsify(zoo.disjoint(zoo.path(2), zoo.path(3), isolated=2), keep=1, method="random").report()
    assert (report["nodes"], report["nodes_cut_off"], report["components"], report["components_kept"]) == (7, 3, 4, 6)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"beta": 20}, "all edges kept: at beta=20 none is worth dropping; lower beta or pass keep="),
        (
            {"beta": 0, "connected": False},
            "trivial: without connectivity and a budget, J is smallest for 1 edge at beta=0; "
            "pass keep=, connected=True or a larger beta",
        ),
        (
            {"beta": 0, "connected": False, "protect": [3, 4]},
            "trivial: without connectivity and a budget, J is smallest for 2 edges at beta=0; "
            "pass keep=, connected=True or a larger beta",
        ),
        (
            {"beta": 50, "forbid": [0]},
            "all edges kept that forbid allows: at beta=50 none is worth dropping; lower beta or pass keep=",
        ),
        ({"keep": 1.0}, "converged: no swap improves J"),
        ({"beta": 3}, "converged: no swap, addition or removal of edges improves J"),
    ],
    ids=str,
)
def test_status_says_where_the_minimum_is_trivial(options, status):
    assert sparsify(plain_karate(), **options).status == status
    if "keep" not in options:
        beta = options["beta"]
        others = {name: value for name, value in options.items() if name != "beta"}
        assert path(plain_karate(), beta=[beta], **others)[0].status == status


@pytest.mark.parametrize("name", ["single_edge", "path", "star", "weighted_tree"])
@pytest.mark.parametrize("beta", [0, 20])
def test_a_forest_has_nothing_to_drop(name, beta):
    result = sparsify(zoo.GRAPHS[name], beta=beta)
    assert result.mask.all()
    assert result.status == "all edges kept: each holds a component together"


# New weights.


@pytest.mark.parametrize("method", ["pri", "random", "local-degree"])
@pytest.mark.parametrize("weight", ["weight", None])
def test_new_weights_keep_the_trace_and_lower_the_divergence(method, weight):
    plain, new = (sparsify(KARATE, keep=0.4, weight=weight, reweight=r, **quick(method)) for r in (False, True))
    assert np.array_equal(plain.mask, new.mask)
    assert new.divergence < plain.divergence
    assert new.weights.sum() == pytest.approx(plain.original.weights.sum(), rel=1e-9)
    assert np.array_equal(new.weights > 0, new.mask)
    assert np.array_equal(new.scores, plain.scores)
    kept = dict(zip(new.graph.edges, new.graph.edges(data="weight"), strict=True))
    edges = [edge for edge, is_kept in zip(KARATE.edges, new.mask, strict=True) if is_kept]
    assert [kept[edge][-1] for edge in edges] == new.weights[new.mask].tolist()
    assert new.report()["reweight"] == "divergence"
    assert new.report()["divergence_before"] == pytest.approx(plain.divergence, rel=1e-12)
    assert plain.report()["reweight"] is None


@pytest.mark.parametrize("method", ["pri", "random", OWN_WEIGHTS])
@pytest.mark.parametrize("name", ["rescale", "divergence"])
def test_new_weights_of_every_name_follow_every_method(method, name):
    plain, new = (sparsify(KARATE, keep=0.5, reweight=r, **quick(method)) for r in (None, name))
    assert np.array_equal(plain.mask, new.mask)
    assert new.weights.sum() == pytest.approx(plain.original.weights.sum(), rel=1e-9)
    assert np.array_equal(new.weights > 0, new.mask)
    assert np.array_equal(new.before.weights, plain.kept.weights)
    factor = new.report()["weight_factor"]
    assert factor == pytest.approx(plain.original.weights.sum() / plain.kept.weights.sum(), rel=1e-9)
    is_one_factor = np.allclose(new.kept.weights, factor * plain.kept.weights, rtol=1e-9)
    assert is_one_factor == (name == "rescale")


def test_true_is_the_least_divergence_and_false_leaves_weights_as_they_are():
    weights = [sparsify(KARATE, keep=0.5, reweight=r, **FAST).weights for r in (True, "divergence", False, None)]
    assert np.array_equal(weights[0], weights[1])
    assert np.array_equal(weights[2], weights[3])


def test_one_factor_for_all_weights_changes_no_divergence():
    plain, new = (sparsify(KARATE, keep=0.3, reweight=r, **FAST) for r in (None, "rescale"))
    assert new.divergence == pytest.approx(plain.divergence, rel=1e-9)


def test_new_weights_of_all_edges_are_the_old_ones():
    graph = zoo.GRAPHS["weighted"]
    assert sparsify(graph, keep=1.0, reweight=True).weights == pytest.approx(graph.weights, rel=1e-6)


def test_new_weights_go_where_the_old_ones_were():
    graph = plain_karate()
    kept = sparsify(graph, keep=0.5, reweight=True, **FAST).graph
    assert all(set(data) == {"weight"} for *_, data in kept.edges(data=True))
    nx.set_edge_attributes(graph, 2.0, "cost")
    kept = sparsify(graph, keep=0.5, weight="cost", reweight=True, **FAST).graph
    assert all(set(data) == {"cost"} for *_, data in kept.edges(data=True))
    assert sum(cost for *_, cost in kept.edges(data="cost")) == pytest.approx(156)


# Algorithm 1, limits and interruption.


def test_probabilities_belong_to_algorithm_one():
    result = sparsify(KARATE, **GUMBEL)
    assert result.probabilities.shape == (78,)
    assert np.array_equal(result.probabilities > 0.5, result.mask)
    assert {"solver": "gumbel", "steps": 60}.items() <= result.report().items()
    assert "effort" not in result.report()
    assert sparsify(KARATE, keep=0.5, **FAST).probabilities is None


SOLVERS = [{"keep": 30}, {"beta": 2}, {"keep": 40, "connected": True}, GUMBEL | {"steps": 5000}]


@pytest.mark.parametrize("options", SOLVERS, ids=str)
def test_a_time_limit_returns_a_valid_selection(options):
    result = sparsify(zoo.random_graph(40, 150, 0), time_limit=1e-9, **options)
    assert result.status.startswith("time limit of 1e-09 s reached")
    assert result.mask.sum() == options.get("keep", result.mask.sum())
    assert result.mask.any()


def test_a_time_limit_ends_a_long_search():
    result = sparsify(zoo.random_graph(120, 2000, 0), keep=0.5, beta=30, effort="best", time_limit=0.3)
    assert result.status.startswith("time limit of 0.3 s reached")


def ended(interrupt, call):
    """What a call returns; where it is interrupted it raises, and its best is in the exception."""
    if not interrupt:
        return call()
    with pytest.raises(Interrupted) as stop:
        call()
    return stop.value.result


@pytest.mark.parametrize("options", SOLVERS, ids=str)
@pytest.mark.parametrize("step", [1, 4])
@pytest.mark.parametrize("interrupt", [False, True], ids=["stop", "interrupt"])
def test_the_caller_can_stop_with_the_best_so_far(options, step, interrupt):
    seen = []

    def callback(progress):
        seen.append(progress)
        if len(seen) == step and interrupt:
            raise KeyboardInterrupt
        return len(seen) == step

    result = ended(interrupt, lambda: sparsify(KARATE, callback=callback, **options))
    assert len(seen) == step
    assert result.status.startswith("interrupted" if interrupt else "stopped by the callback")
    assert result.interrupted == interrupt
    assert result.mask.sum() == options.get("keep", result.mask.sum())
    assert "connected" not in options or result.kept.components()[0] == 1
    assert tuple(seen) == result.trace


def test_a_second_interruption_raises_too(monkeypatch):
    """Making the best of an interrupted search takes time as well, and can be interrupted."""
    with pytest.raises(Interrupted) as stop:
        sparsify(KARATE, keep=0.5, callback=press)
    monkeypatch.setattr("graphpri._objective.Objective.terms", press)
    with pytest.raises(KeyboardInterrupt):
        _ = stop.value.result


def press(*_):
    raise KeyboardInterrupt


def test_interruption_after_the_search_keeps_its_subset(monkeypatch):
    plain = sparsify(KARATE, keep=0.5)
    once = iter([press, Objective.terms])
    monkeypatch.setattr(Objective, "terms", lambda *given: next(once)(*given))
    result = ended(True, lambda: sparsify(KARATE, keep=0.5))
    assert np.array_equal(result.mask, plain.mask)
    assert result.objective == plain.objective
    assert result.status.startswith("interrupted while J, S and D")


def test_interruption_while_reweighting_keeps_the_weights_so_far(monkeypatch):
    plain, calls = sparsify(KARATE, keep=0.5, weight=None), []
    honest = Objective.divergence_and_gradient

    def pressed(*given):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return honest(*given)

    monkeypatch.setattr(Objective, "divergence_and_gradient", pressed)
    result = ended(True, lambda: sparsify(KARATE, keep=0.5, weight=None, reweight=True))
    assert result.reweighted
    assert result.status == "interrupted; these are the best weights so far"
    assert np.array_equal(result.mask, plain.mask)
    assert result.divergence < plain.divergence


@pytest.mark.skipif(os.name == "nt", reason="no signals of this kind")
def test_ctrl_c_reaches_a_call_within_a_loop():
    """A loop over calls ends at the first one that is interrupted: none takes the interruption for itself."""
    done = []

    def press_once(progress):
        if len(done) == 1:
            signal.raise_signal(signal.SIGINT)

    def several():
        for keep in (0.3, 0.5, 0.7):
            sparsify(KARATE, keep=keep, callback=press_once)
            done.append(keep)

    with pytest.raises(KeyboardInterrupt):
        several()
    assert done == [0.3]


class Ticking:
    """A clock that goes on by a second each time that it is looked at."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1
        return self.now


LIMITED = [
    {"keep": 0.5, "reweight": True, "time_limit": 30},
    {"keep": 0.5, "solver": "gumbel", "patience": 0, "time_limit": 30},
    {"keep": 0.5, "solver": "gumbel", "patience": 0, "reweight": True, "time_limit": 30},
]


@pytest.mark.parametrize("options", LIMITED, ids=str)
def test_a_time_limit_holds_for_the_whole_call(options, monkeypatch):
    """Whatever takes long looks at the clock at each step: 30 looks and a few to end, where they took hundreds."""
    clock = Ticking()
    monkeypatch.setattr("graphpri._runtime.time", clock)
    result = sparsify(zoo.random_graph(40, 150, 0), **options)
    assert result.status.startswith("time limit of 30 s reached")
    assert clock.now < 40
    assert result.mask.sum() == 75
    assert result.reweighted == ("reweight" in options)


def test_half_of_a_time_limit_is_left_to_new_weights(monkeypatch):
    graph = zoo.random_graph(40, 150, 0)
    monkeypatch.setattr("graphpri._runtime.time", Ticking())
    result = sparsify(graph, keep=0.5, effort="best", reweight=True, time_limit=40)
    assert result.status == "time limit of 40 s reached; these are the best weights so far"
    objective = Objective(result.original, 4.0)
    assert result.divergence < objective.terms(objective.selection(result.mask)).divergence


def test_errors_in_the_callback_are_the_caller_s():
    with pytest.raises(ZeroDivisionError):
        sparsify(KARATE, keep=0.5, callback=lambda progress: 1 / 0)


@pytest.mark.parametrize("interrupt", [False, True], ids=["stop", "interrupt"])
def test_a_path_over_budgets_stops_as_a_whole(interrupt):
    seen = []

    def callback(progress):
        seen.append(progress)
        if len(seen) == 5 and interrupt:
            raise KeyboardInterrupt
        return len(seen) == 5

    results = ended(interrupt, lambda: path(KARATE, keep=[0.2, 0.7, 0.5, 0.3], callback=callback))
    assert len(seen) == 5
    assert [r.mask.sum() for r in results] == [16, 55, 39, 23]
    assert all(r.status.startswith("interrupted" if interrupt else "stopped by the callback") for r in results)


def test_a_path_over_beta_can_be_stopped():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 2

    results = path(KARATE, beta=[0, 1, 2, 3], callback=callback)
    assert (len(results), len(seen)) == (4, 2)
    assert all(r.kept.components()[0] == 1 for r in results)


# Paths.


def check_laws(results: list[Sparsified], *, grows: bool = True) -> None:
    assert all(a.entropy <= b.entropy + 1e-12 for a, b in pairwise(results))
    assert all(a.divergence >= b.divergence - 1e-12 for a, b in pairwise(results))
    assert not grows or all(a.mask.sum() <= b.mask.sum() for a, b in pairwise(results))
    assert results[-1].mask.all()
    assert results[-1].status.startswith("all edges kept")
    assert all(r.kept.components()[0] == r.original.components()[0] for r in results)


def test_laws_along_beta_on_karate():
    results = path(KARATE, beta=[*KARATE_FREE, 20.0], weight=None)
    check_laws(results)
    for result, known in zip(results, KARATE_FREE.values(), strict=False):
        assert result.objective <= known + 5e-5


def test_laws_along_beta_with_weights():
    check_laws(path(KARATE, beta=[0.0, 2.0, 5.0, 20.0]))


@pytest.mark.parametrize("name", ["madrid", "polbooks"])
def test_laws_along_beta_on_real_data(data, name):
    rows = np.loadtxt(data / name / "edges.csv", delimiter=",", skiprows=1)
    graph = Graph.from_edges(rows[:, 0].astype(int), rows[:, 1].astype(int))
    # Sizes follow from no law; where subsets of many sizes are equally good, a brief search need not order them.
    check_laws(path(graph, beta=[0.0, 4.0, 10.0]), grows=name != "polbooks")


def test_points_come_in_the_order_asked_for_and_twice_where_asked_twice():
    results = path(KARATE, beta=(5, 0, 2.5, 5))
    assert [r.settings["beta"] for r in results] == [5.0, 0.0, 2.5, 5.0]
    assert np.array_equal(results[0].mask, results[3].mask)
    assert results[1].entropy <= results[2].entropy <= results[0].entropy
    results = path(KARATE, keep=[0.5, 10, 39, 1.0])
    assert [r.mask.sum() for r in results] == [39, 10, 39, 78]
    assert [r.settings["keep"] for r in results] == [0.5, 10, 39, 1.0]


@pytest.mark.parametrize(
    "steps", [[1, 2], (1.0, 2.0), np.array([1, 2]), pd.Series([1, 2]), range(1, 3), (b for b in (1, 2))], ids=type
)
def test_any_ordered_sequence_makes_a_path(steps):
    assert [r.report()["beta"] for r in path(zoo.two_cliques(4), beta=steps)] == [1.0, 2.0]


def test_points_of_a_path_agree_with_single_calls():
    along = path(KARATE, keep=[0.45, 0.6, 0.9], beta=5.0, connected=True, effort="normal")
    single = [sparsify(KARATE, keep=r.settings["keep"], beta=5.0, connected=True) for r in along]
    for a, b in zip(along, single, strict=True):
        assert a.objective == pytest.approx(b.objective, rel=5e-3)
        terms = Objective(a.original, 5.0).terms(selection(a))
        assert json.loads(json.dumps(a.report())) == a.report()
        assert a.report().keys() >= b.report().keys() - {"effort"}
        assert (a.kept.components()[0], a.mask.sum()) == (1, b.mask.sum())
        assert a.terms.objective == pytest.approx(terms.objective)


def test_results_of_a_path_come_in_the_input_s_type():
    frame = make_frame([], list(KARATE.edges), None)
    for result in path(frame, beta=[1, 4], keep=20):
        assert isinstance(result.graph, pd.DataFrame)
        assert len(result.graph) == 20


# Policies.


def test_directed_graphs_are_symmetrized_on_request():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1.0), ("b", "a", 2.0), ("b", "c", 4.0), ("c", "a", 1.0)])
    with pytest.raises(GraphError, match=r'directed.*directed="symmetrize"'):
        sparsify(graph, keep=2)
    result = sparsify(graph, keep=2, directed="symmetrize", method="weight")
    assert result.weights.tolist() == [3.0, 4.0, 0.0]
    assert {(frozenset(e[:2]), e[2]) for e in result.graph.edges(data="weight")} == {
        (frozenset("ab"), 3.0),
        (frozenset("bc"), 4.0),
    }
    assert not result.graph.is_directed()
    assert "symmetrised: 1 pair of opposite arcs joined, weights added" in result.report()["weights"]


def test_loops_and_parallel_edges_by_policy():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3)])
    with pytest.raises(GraphError, match=r"1 self-loop.*\(1, 1\).*loops=\"drop\""):
        sparsify(graph, keep=2, parallel="first")
    with pytest.raises(GraphError, match=r"1 parallel edge.*\(0, 1\).*parallel=\"sum\""):
        sparsify(graph, keep=2, loops="drop")
    result = sparsify(graph, keep=2, loops="drop", parallel="sum", connected=False, method="weight")
    assert result.mask.size == 4
    assert result.weights.max() == 2
    assert type(result.graph) is nx.MultiGraph
    assert "1 self-loop dropped" in result.report()["weights"]


@pytest.mark.parametrize("name", ["weight", None, "cost"])
def test_the_report_says_which_weights_were_used(name):
    graph = nx.Graph(KARATE)
    nx.set_edge_attributes(graph, 1.0, "cost")
    said = {"weight": "weights: 'weight'", None: "weights ignored", "cost": "weights: 'cost'"}[name]
    assert sparsify(graph, keep=0.5, weight=name, method="random").report()["weights"] == said


# Extremes.


@pytest.mark.parametrize("name", zoo.EDGELESS)
@pytest.mark.parametrize("run", [sparsify, lambda g, **o: path(g, beta=[1], **o)], ids=["sparsify", "path"])
@pytest.mark.parametrize("options", [{}, {"keep": 1}, {"keep": 0.5}], ids=str)
def test_graphs_without_edges_are_refused(name, run, options):
    with pytest.raises(GraphError, match="the graph has no edges: there is nothing to keep or to drop"):
        run(zoo.EDGELESS[name], **options)


@EACH_METHOD
def test_one_edge_is_kept(method):
    for keep in (1, 0.01, 1.0):
        result = sparsify(zoo.path(2), keep=keep, connected=True, **quick(method))
        assert result.mask.tolist() == [True]
        assert (result.objective, result.entropy, result.divergence) == pytest.approx((0, 0, 0), abs=1e-12)


@EACH_METHOD
def test_many_components_of_one_edge_each(method):
    # A fire burns one edge and goes out: so many take long to light.
    n, k = (1_000, 300) if method == "forest-fire" else (10_000, 3_000)
    graph = Graph.from_edges(*np.arange(2 * n).reshape(n, 2).T)
    result = sparsify(graph, keep=k, beta=4.0, **quick(method))
    assert result.mask.sum() == k
    assert result.report()["entropy_by"] == "exact"
    if method != OWN_WEIGHTS:
        # n equal eigenvalues; of the mixture, k are ½(1/k + 1/n) and the others 1/2n.
        both, one = 0.5 * (1 / k + 1 / n), 0.5 / n
        mixed = -k * both * np.log(both) - (n - k) * one * np.log(one)
        assert result.entropy == pytest.approx(np.log(k))
        assert result.divergence == pytest.approx(mixed - 0.5 * (np.log(k) + np.log(n)))


@pytest.mark.parametrize("weights", [(1e-300, 1e300), (1e-300, 1e-300), (1e300, 1e300), (1e-300, 1.0), (1.0, 1e300)])
@EACH_METHOD
def test_extreme_weights(weights, method):
    graph = zoo.random_graph(14, 40, 2)
    extreme = Graph.from_edges(graph.source, graph.target, np.where(np.arange(40) % 2, *weights))
    if method in ("noise-corrected", "marginal-likelihood") and max(weights) < 1:
        with pytest.raises(GraphError, match="reads weights as counts"):
            sparsify(extreme, keep=0.5, method=method)
        return
    result = sparsify(extreme, keep=0.5, **quick(method))
    assert result.mask.sum() == 20
    for values in (result.scores, result.weights, result.terms):
        assert np.isfinite(values).all()
    assert np.array_equal(result.weights > 0, result.mask)


# Refusals: the message names the culprit and says what to do.

NOT_A_KEEP = r"keep=.* must be a share \(a float in \(0, 1\]\) or a number of edges"
OPTIONS: list[tuple[dict[str, Any], str]] = [
    *(
        ({"keep": keep}, NOT_A_KEEP)
        for keep in (True, np.True_, "0.3", Decimal("0.3"), [0.3], np.array(0.3), 3 + 0j, np.nan)
    ),
    *(({"keep": keep}, f"keep={keep} is not a count from 1 to the graph's 78 edges") for keep in (0, -1, 79, 10**30)),
    *(({"keep": keep}, r"is not a share in \(0, 1\]; for a count of edges pass an int") for keep in (0.0, -0.1, 5.0)),
    *(({"keep": keep}, r"is not a share in \(0, 1\]") for keep in (1.0000001, np.inf, Fraction(5), -0.0)),
    *(({"beta": beta}, r"beta=.*finite number, 0 or more") for beta in (-1, np.nan, np.inf, "4", True, 1j, [1])),
    *(({"alpha": alpha}, r"alpha=.*finite number, 0 or more") for alpha in (-1, np.nan, np.inf, "4", None, True)),
    *(({"seed": seed}, "seed=.*a whole number, 0 or more") for seed in (-1, 1.0, "a", True, np.random.default_rng())),
    *(({"connected": value}, "connected=.* must be True or False") for value in (1, "no", [], "True")),
    *(({"reweight": value}, "reweight=.* must be 'rescale', 'divergence', True") for value in (1, "no")),
    *(({"entropy": name}, "entropy='.*choose from.*exact") for name in ("shannon", "von neumann", "")),
    *(({"entropy": name}, "entropy=.* must be text") for name in (None, ["exact"], 3)),
    *(({"method": name}, "method=.* must be text") for name in (None, ["pri"], 3)),
    ({"method": "PRI"}, "method='PRI' is not known"),
    ({"method": "local_degree"}, "'local_degree' is not known; did you mean 'local-degree'"),
    ({"solver": "adam"}, "solver='adam': choose from 'auto', 'budgeted', 'gumbel'"),
    ({"solver": None}, "solver=None: choose from"),
    ({"mixture": "average"}, "mixture='average': choose from 'equation', 'listing'"),
    *(({"effort": effort}, "effort=.*: choose from 'fast', 'normal', 'best'") for effort in ("path", "", 3, [])),
    *(({"time_limit": limit}, "time_limit=.*seconds above 0") for limit in (0, -1, np.nan, "1", True)),
    *(({"callback": callback}, "callback=.* must be a function") for callback in (3, "print", True)),
    ({"weight": "cost"}, "'cost'.*edge attributes: 'weight'"),
    ({"weight": 3}, "weight=3 must be the name of an edge attribute, or None"),
    ({"directed": "yes"}, "directed='yes': choose from 'refuse', 'symmetrize'"),
    ({"loops": True}, "loops=True: choose from 'refuse', 'drop'"),
    ({"parallel": "min"}, "parallel='min': choose from 'refuse', 'sum', 'max', 'first'"),
    # Options that the method does not use.
    *(
        ({"method": "random"} | option, f"method 'random' does not use {next(iter(option))}: only method 'pri' does")
        for option in ({"solver": "budgeted"}, {"effort": "fast"}, {"time_limit": 1.0}, {"callback": print})
    ),
    ({"method": "random", "exponent": 0.5}, "does not use exponent; exponent is for method 'local-degree'"),
    ({"exponent": 0.5}, "'pri' with solver 'budgeted' does not use exponent; exponent is for method 'local-degree'"),
    ({"steps": 5}, "'pri' with solver 'budgeted' does not use steps; steps is for solver 'gumbel'"),
    ({"kepe": 0.3}, "no such argument: kepe; did you mean keep"),
    ({"k": 5}, "no such argument: k; did you mean keep"),
    *(({"method": "random"} | {name: 5}, f"does not use {name}") for name in ("name", "graph")),
    ({"method": "random", "k": 5, "rng": 5}, "no such argument: k, rng; did you mean keep, seed"),
    ({"solver": "gumbel", "effort": "fast"}, "gumbel' does not use effort: its options are steps, samples"),
    ({"solver": "gumbel", "connected": True}, "gumbel.*connected.*solver='budgeted'"),
    ({"solver": "gumbel", "exponent": 1}, "gumbel' does not use exponent"),
    ({"solver": "gumbel", "step": 1}, "no such argument: step; did you mean steps"),
    ({"solver": "gumbel", "steps": 0}, "steps=0 must be a whole number, 1 or more"),
    ({"method": "local-degree", "exponent": 2}, "exponent=2"),
    ({"method": "random", "keep": None}, r"method 'random' needs a budget: pass keep=, a share"),
    # Budgets and constraints that don't go together.
    ({"keep": 32, "connected": True}, "keep=32 edges can't hold the graph's 1 component together.*at least 33 edges"),
    ({"keep": 2, "protect": [0, 1, 2]}, "keep=2 edges, but protect names 3 that must stay: keep at least 3"),
    ({"keep": 77, "forbid": [0, 1]}, "keep=77 edges, but forbid leaves only 76 of 78"),
    ({"protect": [(0, 1)], "forbid": [(1, 0)]}, r"edge \(0, 1\) stands in protect and in forbid"),
    ({"forbid": np.ones(78, bool)}, "forbid names every edge of the graph"),
    ({"keep": 50, "connected": True, "forbid": [(0, 11)]}, "edges in forbid the graph falls apart"),
    ({"keep": None, "forbid": [(0, 11)]}, "edges in forbid the graph falls apart"),
    (
        {"keep": 34, "connected": True, "protect": [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]},
        "with the protected edges: connected=True needs at least 35 edges",
    ),
    ({"protect": [(0, 99)]}, r"protect: the edge \(0, 99\) names a node that the graph doesn't have: 99"),
    ({"forbid": [(9, 10)]}, r"forbid: the graph has no edge \(9, 10\)"),
    ({"protect": [78]}, "protect: there is no edge number 78; they run from 0 to 77"),
    ({"protect": np.ones(77, bool)}, "protect: a mask of 77 entries does not fit 78 edges"),
    ({"protect": "ab"}, "protect='ab': pass pairs of nodes"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=[re.sub(" at 0x.*", "", str(o))[:60] for o, _ in OPTIONS])
def test_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        sparsify(KARATE, **({"keep": 0.5} | options))


def test_a_budget_message_counts_components_and_protected_edges():
    graph = zoo.GRAPHS["disconnected"]
    with pytest.raises(OptionError, match="hold the graph's 3 components together"):
        sparsify(graph, keep=2, connected=True)


PATHS: list[tuple[dict[str, Any], str]] = [
    ({}, "path needs a sequence in exactly one of beta and keep, and neither is"),
    ({"beta": [1, 2], "keep": [0.1, 0.2]}, "exactly one of beta and keep, and both are"),
    *(
        ({"beta": beta}, "beta=.* must be a number, a sequence")
        for beta in ("123", {1.0}, {1: 2}, np.array(2.0), b"12")
    ),
    ({"beta": []}, "beta is empty: pass at least one value"),
    ({"keep": np.array([])}, "keep is empty: pass at least one value"),
    ({"beta": [1, np.nan]}, "beta=nan must be a finite number, 0 or more"),
    ({"beta": [1, -1]}, "beta=-1 must be a finite number"),
    ({"beta": [1, None]}, "beta=None must be a finite number"),
    ({"beta": np.ones((2, 2))}, "beta=.* must be a finite number"),
    ({"keep": [0.5], "beta": np.inf}, "beta=inf must be a finite number"),
    ({"keep": [0.3, None]}, "keep=None must be a share"),
    ({"keep": [None]}, "keep=None must be a share"),
    ({"keep": [0.3, True]}, NOT_A_KEEP),
    ({"keep": [0.3, 2.0]}, r"keep=2.0 is not a share in \(0, 1\]"),
    ({"keep": [0.9, 0.1], "connected": True}, "keep=8 edges can't hold .*at least 33 edges"),
    ({"keep": [0.9, 2], "protect": [0, 1, 2]}, "keep=2 edges, but protect names 3"),
    ({"beta": [1], "forbid": [(0, 11)]}, "edges in forbid the graph falls apart"),
    ({"beta": [1], "effort": "path"}, "effort='path': choose from 'fast', 'normal', 'best'"),
    ({"keep": [0.5], "effort": "path"}, "effort='path': choose from 'fast', 'normal', 'best'"),
    ({"keep": [0.5], "callback": 3}, "callback=3 must be a function"),
    ({"keep": [0.5], "seed": -1}, "seed=-1 must be a whole number"),
    ({"keep": [0.5], "connected": "yes"}, "connected='yes' must be True or False"),
    ({"keep": [0.5], "entropy": "shannon"}, "entropy='shannon': choose from"),
    ({"keep": [0.5], "alpha": -1}, "alpha=-1 must be a finite number"),
    ({"keep": [0.5], "mixture": "x"}, "mixture='x': choose"),
]


@pytest.mark.parametrize(("options", "message"), PATHS, ids=[str(o)[:60] for o, _ in PATHS])
def test_paths_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        path(KARATE, **options)


def weighing(weight: Any) -> Any:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", weight), ("a", "c", 2.0)])
    return graph


GRAPHS: list[tuple[Any, str]] = [
    (nx.DiGraph([(0, 1), (1, 2)]), r'directed \(2 arcs\).*directed="symmetrize"'),
    (nx.Graph([(0, 1), (2, 2), (3, 3)]), r'2 self-loops, the first at edge \(2, 2\): pass loops="drop"'),
    (nx.MultiGraph([(0, 1), (1, 0), (1, 2)]), r'1 parallel edge, .*edge \(0, 1\): pass parallel="sum"'),
    (weighing(0.0), r"edge \('b', 'c'\) has the weight 0.0; .*zero=\"drop\".*weight=None"),
    (weighing(-2.0), r"edge \('b', 'c'\) has the weight -2.0; .*negative=\"abs\".*weight=None"),
    (weighing(np.nan), r"edge \('b', 'c'\) has the weight nan; weights must be positive and finite"),
    (weighing(np.inf), r"edge \('b', 'c'\) has the weight inf"),
    (weighing(-np.inf), r"edge \('b', 'c'\) has the weight -inf"),
    (weighing("heavy"), r"edge \('b', 'c'\) has the weight 'heavy', which is not a number"),
    (np.array([[0, 1], [2, 0]]), "the matrix is not symmetric.*directed"),
    (np.ones((2, 3)), r"shape \(2, 3\) is not a square"),
    (EdgeTable(3, np.array([0, 1]), np.array([1, 2]), labels=["a", "b", "a"]), "the node label 'a' stands twice"),
    ("graph.csv", "is a path or name, not a graph: read it first"),
    ([(0, 1)], "can't read a graph from list"),
    (None, "can't read a graph from NoneType"),
]


@pytest.mark.parametrize(("graph", "message"), GRAPHS, ids=[message[:30] for _, message in GRAPHS])
def test_graphs_are_refused(graph, message):
    with pytest.raises(GraphError, match=message):
        sparsify(graph, keep=0.5)
    with pytest.raises(GraphError, match=message):
        path(graph, beta=[1, 2])


def test_every_method_is_listed_with_a_line():
    listed = graphpri.methods()
    assert list(listed) == ["pri", *BASELINES]
    assert all(line and "\n" not in line for line in listed.values())


def test_results_are_written_as_they_are(tmp_path):
    g = nx.karate_club_graph()
    result = graphpri.sparsify(g, keep=0.3, effort="fast")
    graphpri.write(result, tmp_path / "kept.graphml")
    back = graphpri.read(tmp_path / "kept.graphml")
    assert back.source.size == result.kept.n_edges
    assert back.node_attributes["club"][0] == "Mr. Hi"
    graphpri.write(g, tmp_path / "karate.csv")
    assert graphpri.read(tmp_path / "karate.csv").source.size == 78


# Nodes that lose all of their edges.


@pytest.mark.parametrize("method", ["pri", "random", "local-degree", "effective-resistance-sampling"])
def test_cover_leaves_an_edge_to_each_node_with_exactly_k_edges(method):
    karate = nx.karate_club_graph()
    karate.add_node("alone")
    for k in (21, 30):
        result = sparsify(karate, keep=k, cover=True, method=method)
        assert result.mask.sum() == k
        assert [node for node, degree in result.graph.degree if degree == 0] == ["alone"]
        assert result.report()["cover"] is True
    with pytest.raises(OptionError, match=r"keep=20 edges can't leave one .* cover=True needs at least 21 edges"):
        sparsify(karate, keep=20, cover=True, method=method)


def test_budgets_are_at_least_what_constraints_need_on_request():
    karate = nx.karate_club_graph()
    for rule, least in ({"cover": True}, 21), ({"connected": True}, 33), ({"protect": list(karate.edges)[:25]}, 25):
        assert sparsify(karate, keep=10, at_least=True, **rule).mask.sum() == least
        assert sparsify(karate, keep=40, at_least=True, **rule).mask.sum() == 40
    sizes = [r.mask.sum() for r in path(karate, keep=[10, 25], cover=True, at_least=True)]
    assert sizes == [21, 25]


def test_a_budget_that_nothing_raises_is_refused():
    karate = nx.karate_club_graph()
    for options in {}, {"method": "random"}, {"connected": False}:
        with pytest.raises(OptionError, match="at_least=True raises the budget to what connected=True, cover=True or"):
            sparsify(karate, 10, at_least=True, **options)
    with pytest.raises(OptionError, match="at_least=True raises the budget"):
        path(karate, keep=[5, 10], at_least=True)
    with pytest.raises(OptionError, match=r"significance=0\.3 decides how many stay"):
        sparsify(karate, method="disparity", significance=0.3, at_least=True, cover=True)
    for call in (sparsify, lambda graph, **options: path(graph, beta=[1, 2], **options)):
        with pytest.raises(OptionError, match="at_least=True raises a budget, and there is none; pass keep="):
            call(karate, at_least=True, cover=True)


def test_results_say_what_was_cut_off_where_and_what_to_do():
    graph = nx.disjoint_union(nx.star_graph(4), nx.path_graph(4))
    result = sparsify(graph, keep=1, method="random")
    cut = result.cut_off
    assert cut.nodes == 7 == result.report()["nodes_cut_off"]
    assert sum(row["cut_off"] for row in cut.by_component) == 7
    assert [row["nodes"] for row in cut.by_component] == [5, 4]
    assert (cut.connected_needs, cut.cover_needs, cut.cover_bound) == (7, 6, 6)
    assert "connected=True needs at least 7; cover=True leaves an edge to each node, with 6 edges at least" in str(cut)
    assert "at_least=True" in str(cut)
    assert str(sparsify(graph, keep=6, cover=True).cut_off) == "no node lost all of its edges"
    assert "alpha" not in str(cut)  # which other methods don't have
    tested = sparsify(nx.karate_club_graph(), method="disparity", significance=0.3)
    text = str(tested.cut_off)
    assert "cover=True adds the best edge of each although it is not significant" in text
    assert "a significance above 0.3 keeps more edges" in text
    assert "at_least" not in text
    assert "budget" not in text
    by_pri, by_barrier = (sparsify(nx.karate_club_graph(), keep=0.3, alpha=alpha).cut_off for alpha in (0, 0.02))
    assert "alpha=0.02 may cut fewer off" in str(by_pri)
    assert by_barrier.nodes < by_pri.nodes
    assert "alpha" not in str(by_barrier)
    assert "alpha" not in str(sparsify(nx.path_graph(5), keep=1).cut_off)  # one edge has two ends


def test_forbidden_edges_and_algorithm_1_can_not_cover():
    star = nx.star_graph(4)
    with pytest.raises(OptionError, match="forbid names every edge of node 2"):
        sparsify(star, keep=2, cover=True, forbid=[(0, 2)])
    with pytest.raises(OptionError, match=r"gumbel.* can't leave an edge to every node"):
        sparsify(star, keep=4, cover=True, solver="gumbel")


def test_the_default_beta_is_larger_where_a_budget_says_how_many_edges_stay() -> None:
    graph = nx.karate_club_graph()
    assert sparsify(graph, 0.3, effort="fast").settings["beta"] == BUDGET_BETA
    assert sparsify(graph, effort="fast").settings["beta"] == FREE_BETA
    assert {point.settings["beta"] for point in path(graph, keep=[0.2, 0.3])} == {BUDGET_BETA}
    table = graphpri.compare(graph, "random", 0.3)
    assert table.settings["beta"] == BUDGET_BETA
    both = graphpri.compare(graph, ("pri", {"effort": "fast"}), [0.3, None])
    assert [(row["keep"], row["beta"]) for row in both] == [(0.3, BUDGET_BETA), (None, FREE_BETA)]
