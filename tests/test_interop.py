"""Every accepted type: there and back, the policies, and hostile input."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
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

import zoo
from graphpri.errors import GraphError, OptionError
from graphpri.graph import EdgeTable, Graph
from graphpri.interop import Policies, align, as_graph, edge_selector, load
from graphpri.interop.tables import as_table

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the import of PyG sets off PyTorch's own deprecations
    from torch_geometric.data import Batch, Data, HeteroData

Edges = list[tuple[int, int]]
FORMATS = ("csr", "csc", "coo", "dia", "dok", "lil", "bsr")


class Kind(NamedTuple):
    """How to make an object of a type from arcs or edges, and how to read all entries of one, independently."""

    make: Callable[[int, Edges, list[float] | None, bool], Any]
    read: Callable[[Any], list[tuple[int, int, float]]]
    mirrored: bool = False
    multi: bool = True
    directed: bool = True


def numbers_of(source: Any) -> np.ndarray:
    """Canonical numbers of a source's edges, in the order of the input."""
    return np.arange(source.graph.n_edges)[source.edges]


def both_ways(edges: Edges, weights: list[float] | None, directed: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    w = np.ones(len(edges)) if weights is None else np.array(weights, float)
    u, v = np.array(edges, int).reshape(-1, 2).T
    off = (u != v) & (not directed)
    return np.r_[u, v[off]], np.r_[v, u[off]], np.r_[w, w[off]]


def make_networkx(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    many = (len({tuple(sorted(e)) for e in edges}) < len(edges) and not directed) or len(set(edges)) < len(edges)
    kinds = {(False, False): nx.Graph, (False, True): nx.MultiGraph, (True, False): nx.DiGraph}
    g = kinds.get((directed, many), nx.MultiDiGraph)()
    g.add_nodes_from(range(n))
    for i, (u, v) in enumerate(edges):
        g.add_edge(u, v, **({} if weights is None else {"weight": weights[i]}))
    return g


def make_igraph(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    g = igraph.Graph(n=n, edges=edges, directed=directed)
    if weights is not None:
        g.es["weight"] = list(weights)
    return g


def make_networkit(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    g = networkit.Graph(n, weighted=weights is not None, directed=directed)
    for i, (u, v) in enumerate(edges):
        g.addEdge(u, v, 1.0 if weights is None else weights[i])
    return g


def make_sparse(container: Any, form: str) -> Callable[..., Any]:
    def make(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
        u, v, w = both_ways(edges, weights, directed)
        data = w.astype(bool) if weights is None else w
        return container((data, (u, v)), shape=(n, n)).asformat(form)

    return make


def read_sparse(a: Any) -> list[tuple[int, int, float]]:
    dense = a.toarray()
    return [(int(i), int(j), float(dense[i, j])) for i, j in zip(*np.nonzero(dense), strict=True)]


def make_dense(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    return make_sparse(sp.coo_array, "coo")(n, edges, weights, directed).toarray()


def read_dense(a: Any) -> list[tuple[int, int, float]]:
    return read_sparse(sp.coo_array(np.asarray(a)))


def make_edge_frame(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    frame = pd.DataFrame(edges, columns=["source", "target"], index=[f"r{i}" for i in range(len(edges))])
    return frame if weights is None else frame.assign(weight=weights)


def read_edge_frame(frame: Any) -> list[tuple[int, int, float]]:
    w = frame["weight"] if "weight" in frame else [1.0] * len(frame)
    return list(zip(frame["source"], frame["target"], w, strict=True))


def make_square_frame(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    return pd.DataFrame(make_dense(n, edges, weights, directed))


def make_pyg(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Any:
    u, v, w = both_ways(edges, weights, directed)
    data = Data(edge_index=torch.from_numpy(np.array([u, v])), num_nodes=n)
    if weights is not None:
        data.edge_weight = torch.from_numpy(w)
    return data


def read_pyg(data: Any) -> list[tuple[int, int, float]]:
    w = [1.0] * data.num_edges if data.edge_weight is None else data.edge_weight.tolist()
    return [(u, v, x) for (u, v), x in zip(data.edge_index.T.tolist(), w, strict=True)]


def make_table(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> EdgeTable:
    u, v = np.array(edges, int).reshape(-1, 2).T
    return EdgeTable(n, u, v, directed=directed, edge_attributes={} if weights is None else {"weight": weights})


def read_table(table: EdgeTable) -> list[tuple[int, int, float]]:
    w = table.edge_attributes.get("weight", np.ones(table.source.size))
    return list(zip(table.source.tolist(), table.target.tolist(), w, strict=True))


def make_graph(n: int, edges: Edges, weights: list[float] | None, directed: bool) -> Graph:
    u, v = np.array(edges, int).reshape(-1, 2).T
    return Graph.from_edges(u, v, weights, n_nodes=n)


KINDS: dict[str, Kind] = {
    "Graph": Kind(
        make_graph,
        lambda g: list(zip(g.source.tolist(), g.target.tolist(), g.weights.tolist(), strict=True)),
        multi=False,
        directed=False,
    ),
    "EdgeTable": Kind(make_table, read_table),
    "networkx": Kind(make_networkx, lambda g: list(g.edges(data="weight", default=1.0))),
    "igraph": Kind(
        make_igraph, lambda g: [(*e.tuple, e["weight"] if "weight" in e.attributes() else 1.0) for e in g.es]
    ),
    "networkit": Kind(make_networkit, lambda g: list(g.iterEdgesWeights())),
    "dense": Kind(make_dense, read_dense, mirrored=True, multi=False),
    "np.matrix": Kind(lambda *a: make_dense(*a).view(np.matrix), read_dense, mirrored=True, multi=False),
    "edge frame": Kind(make_edge_frame, read_edge_frame, directed=False),
    "square frame": Kind(
        make_square_frame, lambda f: read_dense(f.to_numpy()), mirrored=True, multi=False
    ),
    "pyg": Kind(make_pyg, read_pyg, mirrored=True),
} | {
    f"{form}_{name}": Kind(make_sparse(container, form), read_sparse, mirrored=True, multi=False)
    for form in FORMATS
    for name, container in (("array", sp.coo_array), ("matrix", sp.coo_matrix))
}  # fmt: skip
EACH = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
DIRECTED = pytest.mark.parametrize(
    "kind", [k for k in KINDS.values() if k.directed], ids=[n for n, k in KINDS.items() if k.directed]
)
MULTI = pytest.mark.parametrize(
    "kind", [k for k in KINDS.values() if k.multi], ids=[n for n, k in KINDS.items() if k.multi]
)
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])

N = 7
EDGES: Edges = [(4, 1), (0, 1), (2, 0), (5, 2), (0, 5), (4, 5), (3, 1)]  # node 6 has no edge
WEIGHTS = [1.5, 2.0, 0.25, 3.0, 7.0, 1.0, 4.5]
MASK = np.array([True, False, True, True, False, True, False])


def reference(weighted: bool) -> Graph:
    u, v = np.array(EDGES).T
    return Graph.from_edges(u, v, WEIGHTS if weighted else None, n_nodes=N)


def assert_same(a: Graph, b: Graph) -> None:
    assert (a.n_nodes, a.is_weighted) == (b.n_nodes, b.is_weighted)
    assert [a.edge_labels(i) for i in range(a.n_edges)] == [b.edge_labels(i) for i in range(b.n_edges)]
    np.testing.assert_array_equal(a.weights, b.weights)


def entries(kind: Kind, obj: Any) -> list[tuple[int, int, float]]:
    """Each edge once, its ends in order."""
    found = [(min(u, v), max(u, v), float(w)) for u, v, w in kind.read(obj)]
    return sorted(found)[::2] if kind.mirrored else sorted(found)


def expected(graph: Graph) -> list[tuple[int, int, float]]:
    return list(zip(graph.source.tolist(), graph.target.tolist(), graph.weights.tolist(), strict=True))


# The contract of every type


@EACH
@WEIGHTED
def test_all_types_give_the_same_graph(kind, weighted):
    # An edge frame can't hold the isolated node 6.
    n = 6 if kind.make is make_edge_frame else N
    graph = as_graph(kind.make(N, EDGES, WEIGHTS if weighted else None, False))
    assert_same(graph, Graph.from_edges(*np.array(EDGES).T, WEIGHTS if weighted else None, n_nodes=n))


@EACH
@WEIGHTED
def test_kept_edges_come_back_in_the_same_type(kind, weighted):
    obj = kind.make(N, EDGES, WEIGHTS if weighted else None, False)
    before = kind.read(obj)
    source = load(obj)
    kept = source.rebuild(MASK)
    assert type(kept) is type(obj)
    assert entries(kind, kept) == expected(source.graph.select(MASK))
    assert as_graph(kept).is_weighted is weighted
    assert kind.read(obj) == before


@EACH
@WEIGHTED
def test_keeping_everything_and_nothing(kind, weighted):
    obj = kind.make(N, EDGES, WEIGHTS if weighted else None, False)
    source = load(obj)
    assert kind.read(source.rebuild(np.ones(7, bool))) == kind.read(obj)
    nothing = source.rebuild(np.zeros(7, bool))
    assert kind.read(nothing) == []
    if kind.make is not make_edge_frame:
        assert as_graph(nothing).n_nodes == N


@EACH
@WEIGHTED
def test_new_weights_are_written(kind, weighted):
    obj = kind.make(N, EDGES, WEIGHTS if weighted else None, False)
    before = kind.read(obj)
    source = load(obj)
    new = np.arange(1, 8) / 8
    kept = source.rebuild(MASK, new)
    assert entries(kind, kept) == expected(source.graph.select(MASK, new))
    assert kind.read(obj) == before


@EACH
def test_weight_none_ignores_weights_and_brings_them_back(kind):
    source = load(kind.make(N, EDGES, WEIGHTS, False), Policies(weight=None))
    assert not source.graph.is_weighted
    assert "weights ignored" in source.notes
    assert entries(kind, source.rebuild(MASK)) == expected(reference(True).select(MASK))


@EACH
def test_edge_order_is_the_input_s(kind):
    obj = kind.make(N, EDGES, WEIGHTS, False)
    source = load(obj)
    seen = dict.fromkeys((min(u, v), max(u, v)) for u, v, _ in kind.read(obj))
    if not kind.mirrored:
        assert [tuple(sorted(source.graph.edge_labels(int(i)))) for i in numbers_of(source)] == list(seen)
    assert sorted(numbers_of(source)) == list(range(7))


@EACH
def test_the_order_of_edges_does_not_change_the_graph(kind):
    order = np.random.default_rng(0).permutation(7)
    shuffled = [EDGES[i][::-1] for i in order]
    a, b = kind.make(N, EDGES, WEIGHTS, False), kind.make(N, shuffled, [WEIGHTS[i] for i in order], False)
    assert_same(as_graph(a), as_graph(b))


@EACH
def test_weights_by_another_name_are_refused(kind):
    with pytest.raises(OptionError, match="'cost'"):
        load(kind.make(N, EDGES, WEIGHTS, False), Policies(weight="cost"))


@EACH
def test_the_zoo_goes_there_and_back(kind):
    for graph in zoo.ALL.values():
        edges = list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
        weights = graph.weights.tolist() if graph.is_weighted else None
        if kind.make is make_edge_frame and (graph.degrees() == 0).any():
            continue  # an edge list can't hold isolated nodes
        source = load(kind.make(graph.n_nodes, edges, weights, False))
        assert (source.graph.n_nodes, expected(source.graph)) == (graph.n_nodes, expected(graph))
        mask = np.arange(graph.n_edges) % 3 != 0
        assert entries(kind, source.rebuild(mask)) == expected(graph.select(mask))


# Policies, on every type that can hold what they are about


@DIRECTED
@WEIGHTED
def test_directed_is_refused_unless_symmetrized(kind, weighted):
    arcs, weights = [(0, 1), (1, 0), (2, 1), (0, 3), (3, 2)], [1.0, 2.5, 4.0, 8.0, 0.5]
    obj = kind.make(5, arcs, weights if weighted else None, True)
    with pytest.raises(GraphError, match=r'directed graph: .*directed="symmetrize"|the graph is directed'):
        load(obj)
    source = load(obj, Policies(directed="symmetrize"))
    joined = [3.5, 8.0, 4.0, 0.5] if weighted else [1.0] * 4
    assert expected(source.graph) == [
        (u, v, w) for (u, v), w in zip([(0, 1), (0, 3), (1, 2), (2, 3)], joined, strict=True)
    ]
    assert any(
        note.endswith(", weights added" if weighted else "joined, each pair counts once") for note in source.notes
    )
    kept = source.rebuild(np.array([True, False, True, False]))
    assert entries(kind, kept) == [(0, 1, joined[0]), (1, 2, joined[2])]
    again = as_graph(kept)
    assert again.n_nodes == 5


@EACH
def test_self_loops_are_refused_unless_dropped(kind):
    if kind.make is make_graph:
        pytest.skip("a Graph has no self-loops")
    obj = kind.make(4, [(0, 1), (2, 2), (1, 2), (0, 0)], [1.0, 9.0, 2.0, 9.0], False)
    with pytest.raises(GraphError, match=r"2 self-loops, the first at edge \((2, 2|0, 0)\).*loops=\"drop\""):
        load(obj)
    source = load(obj, Policies(loops="drop"))
    assert expected(source.graph) == [(0, 1, 1.0), (1, 2, 2.0)]
    assert entries(kind, source.rebuild(np.array([True, True]))) == expected(source.graph)
    assert "2 self-loops dropped" in source.notes


@MULTI
@pytest.mark.parametrize(("policy", "weight"), [("sum", 6.0), ("max", 3.0), ("first", 2.0)])
def test_parallel_edges_are_refused_unless_joined(kind, policy, weight):
    obj = kind.make(3, [(0, 1), (1, 0), (0, 1), (1, 2)], [2.0, 3.0, 1.0, 5.0], False)
    with pytest.raises(GraphError, match=r"2 parallel edges, the first repeat at edge"):
        load(obj)
    source = load(obj, Policies(parallel=policy))
    assert expected(source.graph) == [(0, 1, weight), (1, 2, 5.0)]
    assert entries(kind, source.rebuild(np.array([True, True]))) == expected(source.graph)
    assert entries(kind, source.rebuild(np.array([False, True]))) == [(1, 2, 5.0)]


@MULTI
def test_the_number_of_parallel_edges_comes_back_as_weight(kind):
    obj = kind.make(3, [(0, 1), (1, 0), (0, 1), (1, 2)], None, False)
    source = load(obj, Policies(parallel="sum"))
    assert source.graph.weight_name == "multiplicity"
    kept = source.rebuild(np.array([True, True]))
    assert entries(kind, kept) == expected(source.graph) == [(0, 1, 3.0), (1, 2, 1.0)]
    assert expected(as_graph(kept)) == expected(source.graph)
    assert entries(kind, source.rebuild(np.array([True, True]), np.array([0.5, 2.0]))) == [(0, 1, 0.5), (1, 2, 2.0)]
    plain = load(obj, Policies(parallel="sum", weight=None))
    assert entries(kind, plain.rebuild(np.array([True, True]))) == [(0, 1, 1.0), (1, 2, 1.0)]


@EACH
@pytest.mark.parametrize("weight", [-1.0, np.inf, -np.inf, np.nan])
def test_bad_weights_name_the_edge(kind, weight):
    with pytest.raises(GraphError, match=r"\((1, 2|2, 1)\)"):
        load(kind.make(4, [(0, 1), (1, 2), (2, 3)], [1.0, weight, 2.0], False))


@EACH
@pytest.mark.parametrize(("negative", "weights"), [("abs", [3.0, 5.0, 2.0]), ("drop", [5.0])])
def test_negative_weights_are_made_absolute_or_dropped_and_counted(kind, negative, weights):
    if kind.make is make_graph:
        pytest.skip("a Graph has positive weights")
    obj = kind.make(4, [(0, 1), (1, 2), (3, 2)], [-3.0, 5.0, -2.0], False)
    with pytest.raises(GraphError, match=r'negative="abs" .* negative="drop"'):
        load(obj)
    source = load(obj, Policies(negative=negative))
    assert source.graph.weights.tolist() == weights
    assert any(note.startswith("2 edges of negative weight") for note in source.notes)
    assert entries(kind, source.rebuild(np.ones(len(weights), bool))) == expected(source.graph)
    assert as_graph(obj, weight=None).n_edges == 3


@EACH
def test_weights_of_zero_are_dropped_and_counted(kind):
    if kind.make is make_graph or (kind.mirrored and kind.make is not make_pyg):
        pytest.skip("a Graph has positive weights, and zeros of a matrix are no edges")
    obj = kind.make(4, [(0, 1), (1, 2), (3, 2)], [3.0, 0.0, 2.0], False)
    with pytest.raises(GraphError, match=r'weight 0\.0; .*zero="drop"'):
        load(obj)
    source = load(obj, Policies(zero="drop"))
    assert "1 edge of weight 0 dropped" in source.notes
    assert entries(kind, source.rebuild(np.ones(2, bool))) == expected(source.graph) == [(0, 1, 3.0), (2, 3, 2.0)]


@EACH
@pytest.mark.parametrize("policy", ["directed", "loops", "parallel", "negative", "zero"])
def test_unknown_policies_are_refused(kind, policy):
    with pytest.raises(OptionError, match=f"{policy}='yes'"):
        load(kind.make(N, EDGES, None, False), Policies(**{policy: "yes"}))


@EACH
def test_masks_must_fit(kind):
    with pytest.raises(GraphError, match="does not fit 7 edges"):
        load(kind.make(N, EDGES, None, False)).rebuild(np.ones(6, bool))


def test_a_weight_must_be_a_name():
    with pytest.raises(OptionError, match="weight=3"):
        as_graph(nx.path_graph(3), weight=3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([name for name in KINDS if name != "edge frame"]), st.booleans())
def test_random_graphs_go_there_and_back(seed, name, weighted):
    kind, rng = KINDS[name], np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    graph = zoo.random_graph(n, int(rng.integers(0, n * (n - 1) // 2 + 1)), seed, weighted=weighted)
    order = rng.permutation(graph.n_edges)
    edges = [(int(graph.source[i]), int(graph.target[i])) for i in order]
    weights = graph.weights[order].tolist() if weighted else None
    source = load(kind.make(n, edges, weights, False))
    mask, new = rng.random(graph.n_edges) < 0.5, rng.integers(1, 999, graph.n_edges) / 64  # exact in float32
    assert expected(source.graph) == expected(graph)
    assert entries(kind, source.rebuild(mask)) == expected(graph.select(mask))
    assert entries(kind, source.rebuild(mask, new)) == expected(graph.select(mask, new))


# Graph and EdgeTable


def test_a_graph_is_returned_as_it_is():
    graph = zoo.GRAPHS["labelled"]
    assert as_graph(graph) is graph
    assert as_graph(graph, weight=None).is_weighted is False
    assert as_graph(graph, weight=None).labels is graph.labels
    plain = zoo.GRAPHS["ring"]
    assert as_graph(plain, weight=None) is plain
    with pytest.raises(OptionError, match="'cost': the Graph has no such weights; its weights are called 'weight'"):
        as_graph(graph, weight="cost")
    with pytest.raises(OptionError, match="it is unweighted"):
        as_graph(plain, weight="cost")


def test_tables_keep_their_columns():
    table = EdgeTable(
        3,
        np.array([0, 1, 2]),
        np.array([1, 2, 0]),
        labels=["c", "b", "a"],
        edge_attributes={"kind": ["x", None, "z"], "cost": np.array([1, 2, 3])},
        node_attributes={"size": [1, 2, 3]},
        graph_attributes={"name": "t"},
        row_name=lambda row: f"line {row}",
    )
    source = load(table, Policies(weight="cost"))
    assert source.graph.weight_name == "cost"
    mask = np.zeros(3, bool)
    mask[numbers_of(source)[[0, 2]]] = True
    kept = source.rebuild(mask)
    assert kept.edge_attributes["kind"] == ["x", "z"]
    assert kept.edge_attributes["cost"].tolist() == [1, 3]
    assert kept.edge_attributes["cost"].dtype.kind == "i"
    assert (kept.labels, kept.node_attributes, kept.graph_attributes) == (
        ["c", "b", "a"],
        {"size": [1, 2, 3]},
        {"name": "t"},
    )
    assert source.rebuild(mask, np.ones(3) / 3).edge_attributes["cost"].dtype == np.float64


# networkx


class Labelled(nx.Graph):
    """A subclass."""


def rich_networkx(cls: type[Any]) -> Any:
    g = cls(name="rich", year=2022)
    g.add_node("z", colour="red")
    g.add_nodes_from(["lonely", "b", "a", 3, (1, 2)])
    g.add_edge("b", "a", weight=2, kind="x")
    g.add_edge("a", "z", weight=0.5, tags=["t"])
    g.add_edge("z", 3, weight=4)
    g.add_edge(3, (1, 2), weight=1, kind="y")
    return g


def content(g: Any) -> Any:
    return copy.deepcopy((list(g.nodes(data=True)), list(g.edges(data=True)), g.graph))


@pytest.mark.parametrize("cls", [nx.Graph, nx.MultiGraph, Labelled, nx.DiGraph, nx.MultiDiGraph])
def test_networkx_attributes_nodes_and_order_are_kept(cls):
    g = rich_networkx(cls)
    before = content(g)
    source = load(g, Policies(directed="symmetrize"))
    mask = edge_selector(source, [("z", "a"), ("a", "b")])
    kept = source.rebuild(mask)
    undirected = {nx.DiGraph: nx.Graph, nx.MultiDiGraph: nx.MultiGraph}.get(cls, cls)
    assert type(kept) is undirected
    assert list(kept.nodes(data=True)) == list(g.nodes(data=True))
    assert kept.graph == g.graph
    # Same nodes in the same order, and the kept edges in the order in which networkx lists them.
    like = undirected()
    like.add_nodes_from(g)
    like.add_edges_from(e for e in g.edges(data=True) if set(e[:2]) in ({"z", "a"}, {"a", "b"}))
    assert list(kept.edges(data=True)) == list(like.edges(data=True))
    assert content(g) == before
    # Attributes are copies: changing the result leaves the input alone.
    kept.nodes["z"]["colour"] = "blue"
    kept.graph["year"] = 0
    for *_, d in kept.edges(data=True):
        d["weight"] = -1
    assert content(g) == before


def test_networkx_edge_order_is_kept():
    g = nx.gnm_random_graph(30, 100, seed=2)
    g = nx.relabel_nodes(g, {i: (i * 7) % 30 for i in g})
    source = load(g)
    mask = np.random.default_rng(0).random(100) < 0.5
    assert list(source.rebuild(mask).edges) == [e for e, i in zip(g.edges, source.edges, strict=True) if mask[i]]


def test_networkx_multigraph_keys_are_kept():
    g = nx.MultiGraph()
    g.add_edge(0, 1, key="first", weight=2, kind="x")
    g.add_edge(1, 2, key=7)
    g.add_edge(1, 0, key="second", weight=3, kind="y")
    kept = load(g, Policies(parallel="sum")).rebuild(np.ones(2, bool))
    assert list(kept.edges(keys=True, data=True)) == [
        (0, 1, "first", {"weight": 5.0, "kind": "x"}),
        (1, 2, 7, {"weight": 1.0}),
    ]


def test_networkx_integers_stay_integers_where_they_add_up():
    g = nx.DiGraph()
    g.add_weighted_edges_from([(0, 1, 2), (1, 0, 3), (1, 2, 4)])
    kept = load(g, Policies(directed="symmetrize")).rebuild(np.ones(2, bool))
    assert list(kept.edges(data="weight")) == [(0, 1, 5), (1, 2, 4)]
    assert all(type(w) is int for *_, w in kept.edges(data="weight"))


def test_sources_know_the_columns_that_could_be_weights():
    g = nx.Graph()
    g.add_edge("a", "b", calls=3, since="May")
    g.add_edge("b", "c", calls=5, since="June")
    frame = nx.to_pandas_edgelist(g)
    for graph in (g, frame):
        assert load(graph).candidates == ("calls",)
        assert load(graph, Policies(weight="calls")).candidates == load(graph, Policies(weight=None)).candidates == ()
        with pytest.raises(OptionError, match=r'negative=.abs. needs weights.*weight="calls", or weight=None'):
            load(graph, Policies(negative="abs"))
    nx.set_edge_attributes(g, 1.0, "weight")
    assert load(g).candidates == ()
    parallel = nx.MultiGraph([("a", "b", {"calls": 1}), ("a", "b", {"calls": 2})])
    assert load(parallel, Policies(parallel="sum")).candidates == ()  # their number is the weight


def test_networkx_weights_where_edges_have_them():
    g = nx.path_graph(4)
    assert load(g).notes == ("unweighted: no edge has the attribute 'weight'",)
    g[1][2]["weight"] = 3
    source = load(g)
    assert source.graph.weights.tolist() == [1, 3, 1]
    assert source.notes == ("weights: 'weight', 2 of 3 edges have none and weigh 1",)
    assert load(g, Policies(weight=None)).notes == ("weights ignored",)
    g[1][2]["capacity"] = 8
    assert as_graph(g, weight="capacity").weight_name == "capacity"
    with pytest.raises(OptionError, match=r"'cost' named as weight \(edge attributes: 'weight', 'capacity'\)"):
        as_graph(g, weight="cost")
    kept = load(g, Policies(weight="capacity")).rebuild(np.ones(3, bool), np.full(3, 0.5))
    assert kept[1][2] == {"weight": 3, "capacity": 0.5}


def test_networkx_views_and_frozen_graphs():
    g = nx.freeze(nx.karate_club_graph())
    kept = load(g).rebuild(np.arange(78) < 10)
    assert (kept.number_of_edges(), g.number_of_edges()) == (10, 78)
    view = nx.karate_club_graph().subgraph(range(10))
    assert as_graph(view).n_nodes == 10


# igraph


@pytest.mark.parametrize("directed", [False, True])
def test_igraph_attributes_are_kept(directed):
    g = igraph.Graph(n=5, edges=[(3, 1), (0, 1), (2, 3)], directed=directed)
    g["name"], g.vs["colour"], g.es["kind"], g.es["weight"] = "rich", list("abcde"), ["x", "y", "z"], [1, 2, 3]
    source = load(g, Policies(directed="symmetrize"))
    mask = np.ones(3, bool)
    mask[numbers_of(source)[1]] = False
    kept = source.rebuild(mask)
    assert not kept.is_directed()
    assert (kept["name"], kept.vs["colour"], kept.es["kind"], kept.es["weight"]) == (
        "rich",
        list("abcde"),
        ["x", "z"],
        [1, 3],
    )
    assert [set(e) for e in kept.get_edgelist()] == [{1, 3}, {2, 3}]
    assert (g.ecount(), g.is_directed()) == (3, directed)
    assert load(g, Policies(weight=None, directed="symmetrize")).notes[0] == "weights ignored"


# NetworKit


def test_igraph_vertices_can_be_chosen_by_name():
    g = igraph.Graph(edges=[(0, 1), (1, 2), (2, 3)])
    g.vs["name"] = ["anna", "ben", "carl", "ben"]
    source = load(g)
    by_name = edge_selector(source, [("carl", 1), (0, 1)])
    assert by_name.tolist() == [True, True, False]
    assert source.graph.edge_labels(0) == (0, 1)
    with pytest.raises(OptionError, match=r"2 vertices have the name 'ben'"):
        edge_selector(source, [("anna", "ben")])
    with pytest.raises(OptionError, match=r"doesn't have: 'dora'"):
        edge_selector(source, [("anna", "dora")])


def test_networkit_ids_attributes_and_gaps_are_kept():
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    g = networkit.Graph(6, weighted=True)
    for u, v, w in [(0, 1, 2.0), (1, 2, 3.0), (2, 4, 4.0), (4, 5, 5.0), (3, 4, 1.0)]:
        g.addEdge(u, v, w)
    g.indexEdges()
    g.attachNodeAttribute("colour", str)[2] = "red"
    g.attachEdgeAttribute("cap", float)[4, 5] = 7.5
    g.removeNode(3)
    source = load(g)
    assert [source.graph.label(i) for i in range(5)] == [0, 1, 2, 4, 5]
    kept = source.rebuild(edge_selector(source, [(1, 2), (5, 4)]))
    assert sorted(kept.iterEdgesWeights()) == [(1, 2, 3.0), (4, 5, 5.0)] or sorted(kept.iterEdgesWeights()) == [
        (2, 1, 3.0),
        (5, 4, 5.0),
    ]
    assert kept.isWeighted()
    assert list(kept.iterNodes()) == [0, 1, 2, 4, 5]
    assert list(kept.getNodeAttribute("colour", str)) == [(2, "red")]
    assert kept.getEdgeAttribute("cap", float)[4, 5] == 7.5
    assert kept.edgeId(4, 5) == g.edgeId(4, 5)
    assert g.numberOfEdges() == 4


def test_networkit_says_that_symmetrising_loses_edge_attributes():
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    g = networkit.Graph(3, directed=True)
    g.addEdge(0, 1)
    notes = load(g, Policies(directed="symmetrize")).notes
    assert any("edge attributes are not carried over" in note for note in notes)


# SciPy and NumPy


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("container", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_sparse_class_format_and_dtype_are_kept(form, container, dtype):
    a = container(make_dense(N, EDGES, [1, 2, 3, 4, 5, 6, 7], False).astype(dtype)).asformat(form)
    source = load(a)
    assert source.graph.is_weighted is (dtype is not np.bool_)
    kept = source.rebuild(MASK)
    assert (type(kept), kept.format, kept.dtype, kept.shape) == (type(a), a.format, a.dtype, a.shape)
    assert (kept != kept.T).nnz == 0
    assert kept.count_nonzero() == 8
    heavier = source.rebuild(MASK, np.full(7, 0.5))
    assert heavier.dtype == (np.float32 if dtype is np.float32 else np.float64)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_stored_zeros_are_refused_with_the_remedy(form):
    a = sp.coo_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3)).asformat(form)
    with pytest.raises(
        GraphError, match=r"stores a zero at \((1, 2|2, 1)\) \(2 in all\).*eliminate_zeros.*zero=\"drop\""
    ):
        load(a)
    source = load(a, Policies(zero="drop"))
    assert (source.graph.n_edges, source.notes[-1]) == (1, "2 stored zeros dropped")
    assert source.rebuild(np.array([True])).nnz == 2
    if form != "coo":
        a.eliminate_zeros()
        assert as_graph(a).n_edges == 1


@pytest.mark.parametrize("form", ["dia", "bsr"])
def test_padding_is_no_edge(form):
    a = sp.coo_array(make_dense(4, [(0, 1), (2, 3)], [2.0, 3.0], False))
    padded = a.tobsr((2, 2)) if form == "bsr" else a.todia()
    assert padded.data.size > 4
    assert expected(as_graph(padded)) == [(0, 1, 2.0), (2, 3, 3.0)]


@pytest.mark.parametrize(
    ("dense", "message"),
    [
        (np.triu(np.ones((3, 3)), 1), r"each edge in one direction only \(3 entries\).*A \+ A\.T"),
        (np.tril(np.ones((3, 3)), -1), r"one direction only \(3 entries\)"),
        (np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]), r"has the entry \(1, 2\) and not \(2, 1\)"),
        (np.array([[0, 2.5, 1], [3.5, 0, 1], [1, 1, 0]]), r"the entry \(0, 1\) is 2\.5 and \(1, 0\) is 3\.5"),
    ],
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix, pd.DataFrame])
def test_asymmetric_matrices_say_where(dense, message, make):
    with pytest.raises(GraphError, match=message):
        load(make(dense))


def test_asymmetric_values_with_a_symmetric_pattern_are_no_matter_without_weights():
    a = np.array([[0, 2.5, 0], [3.5, 0, 1], [0, 1, 0]])
    source = load(a, Policies(weight=None))
    np.testing.assert_array_equal(source.rebuild(np.array([True, True])), a)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, pd.DataFrame])
@pytest.mark.parametrize("weight", ["weight", None])
def test_nan_is_never_an_edge(make, weight):
    a = np.ones((3, 3)) - np.eye(3)
    a[0, 2] = a[2, 0] = np.nan
    with pytest.raises(GraphError, match=r"entry \((0, 2|2, 0)\) of the matrix is NaN"):
        load(make(a), Policies(weight=weight))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\) is not a square"),
        (np.ones(4), r"shape \(4,\) is not a square"),
        (np.ones((2, 2, 2)), "not a square"),
        (sp.csr_array((2, 3)), "not a square"),
        (sp.coo_array(np.ones(4)), "not a square"),
        (np.ones((2, 2), complex), r"complex numbers.*abs\(A\)"),
        (sp.csr_array(np.ones((2, 2), complex)), "complex numbers"),
        (np.full((2, 2), "x"), "not numbers"),
        (np.ones((2, 2), object), "not numbers"),
        (np.ma.masked_array(np.ones((2, 2)), np.eye(2)), "masked array"),
    ],
)
def test_what_is_no_adjacency_matrix_is_refused(matrix, message):
    with pytest.raises(GraphError, match=message):
        load(matrix)


def test_integer_matrices_keep_their_dtype_where_sums_fit():
    for top, dtype in ((100, np.int8), (20, np.int8)):
        a = np.array([[0, top, 0], [top, 0, 7], [0, 0, 0]], dtype)
        kept = load(a, Policies(directed="symmetrize")).rebuild(np.ones(2, bool))
        assert kept[0, 1] == 2 * top
        assert kept.dtype == (np.int64 if top == 100 else np.int8)


def test_repeated_entries_are_parallel_edges():
    a = sp.coo_array(([1.0, 2.0, 1.0, 2.0], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    with pytest.raises(GraphError, match="1 parallel edge"):
        load(a)
    source = load(a, Policies(parallel="sum"))
    assert source.graph.weights.tolist() == [3.0]
    np.testing.assert_array_equal(source.rebuild(np.array([True])).toarray(), a.toarray())


# pandas


@pytest.mark.parametrize(("a", "b"), [("Source", "Target"), ("from", "to"), ("u", "v"), ("From Node_ID", "to_node_id")])
def test_edge_list_columns_are_recognised(a, b):
    frame = pd.DataFrame({"note": ["p", "q"], b: ["y", "z"], a: ["x", "x"], "Weight": [2, 3]}, index=[10, 20])
    source = load(frame)
    assert source.notes == ("weights: 'Weight'",)
    assert [source.graph.edge_labels(i) for i in range(2)] == [("x", "y"), ("x", "z")]
    kept = source.rebuild(np.array([False, True]))
    pd.testing.assert_frame_equal(kept, frame.iloc[[1]])
    new = source.rebuild(np.array([False, True]), np.array([0.1, 0.2]))
    assert new["Weight"].tolist() == [0.2]
    assert frame["Weight"].tolist() == [2, 3]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "c"]),
        pd.Series(["b", "a", "c"], dtype="category"),
        pd.Series([2, 1, 3], dtype="Int64"),
        pd.Series([20, 10, 30], dtype=np.uint16),
        pd.Series(["b", 1, (1, 2)], dtype=object),
    ],
)
def test_edge_list_labels_of_any_type(column):
    frame = pd.DataFrame({"source": column, "target": column.to_numpy()[[1, 2, 0]]})
    source = load(frame)
    named = {frozenset(source.graph.edge_labels(int(i))) for i in numbers_of(source)}
    values = column.tolist()
    assert named == {frozenset(pair) for pair in pairwise([*values, values[0]])}
    pd.testing.assert_frame_equal(source.rebuild(np.ones(3, bool)), frame)


def test_source_and_target_go_before_other_names():
    frame = pd.DataFrame({"start": [1], "end": [2], "source": ["a"], "target": ["b"]})
    assert as_graph(frame).edge_labels(0) == ("a", "b")


def test_frames_that_are_no_graph_are_refused():
    with pytest.raises(GraphError, match="pass source= and target= with the names of two"):
        load(pd.DataFrame({"a": [1], "b": [2], "c": [3], "d": [4]}))
    with pytest.raises(
        GraphError, match="'a' of the frame would be the ends of edges by its position, and it holds dec"
    ):
        load(pd.DataFrame({"a": [0.5, 1.5, 2], "b": [2.5, 1, 2]}))
    with pytest.raises(GraphError, match=r"several columns.*'Source', 'source', 'target'"):
        load(pd.DataFrame({"u": [1], "v": [2], "Source": [1], "source": [1], "target": [2]}))
    with pytest.raises(GraphError, match=r"several columns.*'u', 'v', 'from', 'to'"):
        load(pd.DataFrame({"u": [1], "v": [2], "from": [1], "to": [2]}))
    with pytest.raises(GraphError, match="the row 7 of the frame has no 'source' or no 'target'"):
        load(pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}, index=[3, 7]))
    with pytest.raises(GraphError, match=r"two columns called 'source'"):
        load(pd.DataFrame([[1, 2, 3]], columns=["source", "source", "target"]))
    with pytest.raises(GraphError, match=r"edge \(1, 2\) \(row 'x' of the frame\) has the weight -1\.0"):
        load(pd.DataFrame({"u": [1], "v": [2], "weight": [-1.0]}, index=["x"]))


def test_a_third_column_by_position_that_looks_like_times_is_refused():
    frame = pd.DataFrame({"who": ["a", "b", "c"], "whom": ["b", "c", "a"], "t": [1082008561, 1082009568, 1082038576]})
    with pytest.raises(GraphError, match=r"the column 't' .* looks like times, .*weight=\"t\".*weight=None"):
        load(frame)
    assert load(frame, Policies(weight="t")).graph.is_weighted
    assert not load(frame, Policies(weight=None)).graph.is_weighted


def test_frames_of_two_or_three_columns_are_taken_by_position():
    frame = pd.DataFrame({"who": ["a", "b", "c"], "whom": ["b", "c", "a"], "times": [2, 3, 4]})
    source = load(frame)
    assert source.graph.weights.tolist() == [2, 4, 3]
    assert source.notes == ("weights: 'times'", "ends of edges: 'who' and 'whom', by position")
    pd.testing.assert_frame_equal(source.rebuild(np.array([True, False, True])), frame.iloc[[0, 1]])
    assert load(frame[["who", "whom"]]).notes[0].startswith("unweighted")
    assert not as_graph(frame.assign(times=["x", "y", "z"])).is_weighted
    assert as_graph(pd.DataFrame([[5, 6], [6, 7], [7, 5]])).labels is not None
    joined = load(pd.DataFrame([["a", "b", 2], ["b", "a", 3]]), Policies(parallel="sum"))
    assert joined.rebuild(np.array([True]))[2].tolist() == [5]


def test_columns_of_a_frame_are_chosen_and_others_named():
    frame = pd.DataFrame({"id": [7, 8], "who": ["a", "b"], "whom": ["b", "c"], "scenes": [2, 3]})
    source = load(frame, Policies(source="who", target="whom"))
    assert source.notes == (
        "unweighted: no edge has the attribute 'weight'; other columns: id, scenes; "
        'pass weight="id" or "scenes" if that holds the weights',
    )
    chosen = load(frame, Policies("scenes", source="who", target="whom"))
    assert chosen.graph.weights.tolist() == [2, 3]
    with pytest.raises(OptionError, match="target='what' is no column of the frame"):
        load(frame, Policies(source="who", target="what"))
    with pytest.raises(OptionError, match="pass target= as well"):
        Policies(source="who")
    with pytest.raises(OptionError, match="name columns of a data frame"):
        load(nx.path_graph(3), Policies(source="who", target="whom"))


def test_networks_without_weights_name_other_numbers():
    g = nx.Graph([(0, 1, {"calls": 2, "kind": "x", "near": True})])
    assert load(g).notes == (
        "unweighted: no edge has the attribute 'weight'; other columns: calls; "
        'pass weight="calls" if that holds the weights',
    )
    h = igraph.Graph(edges=[(0, 1)], edge_attrs={"calls": [2], "kind": ["x"]})
    assert load(h).notes == load(g).notes


def test_adjacency_frames_keep_labels_and_dtypes():
    names = pd.Index(["c", "a", "b"], name="who")
    frame = pd.DataFrame([[0, 1, 2], [1, 0, 0], [2, 0, 0]], index=names, columns=names).astype({"c": float})
    frame.attrs["made"] = "here"
    source = load(frame)
    assert [source.graph.edge_labels(i) for i in range(2)] == [("a", "c"), ("b", "c")]
    kept = source.rebuild(np.array([False, True]))
    like = frame.copy()
    like.loc["a", "c"] = like.loc["c", "a"] = 0
    pd.testing.assert_frame_equal(kept, like)
    assert kept.attrs == {"made": "here"}
    with pytest.raises(GraphError, match=r"reindex\(columns=frame\.index\)"):
        load(frame[["a", "b", "c"]])
    with pytest.raises(GraphError, match="column 'b' of the adjacency frame holds"):
        load(frame.astype({"b": object}))
    with pytest.raises(GraphError, match=r"the entry \('c', 'a'\) is 5\.0 and \('a', 'c'\) is 1\.0|\('a', 'c'\)"):
        load(frame.replace({"a": {1: 5}}))


# PyG


def rich_pyg() -> Any:
    edges = torch.tensor([[0, 1, 2, 1, 3, 0], [1, 0, 1, 2, 0, 3]])
    return Data(
        x=torch.arange(10.0).view(5, 2),
        edge_index=edges,
        edge_attr=torch.arange(12.0).view(6, 2),
        edge_weight=torch.tensor([2.0, 2.0, 3.0, 3.0, 4.0, 4.0]),
        train_edge_mask=torch.tensor([True, True, False, False, True, True]),
        names=list("abcdef"),
        cost=torch.tensor([[1], [1], [2], [2], [3], [3]]),
        y=torch.tensor([1]),
        train_mask=torch.ones(5, dtype=torch.bool),
    )


def test_pyg_edge_tensors_follow_their_edges():
    data = rich_pyg()
    before = copy.deepcopy(data).to_dict()
    source = load(data, Policies(edge_attrs=["cost", "names"]))
    kept = source.rebuild(edge_selector(source, [(0, 1), (0, 3)]))
    columns = [0, 1, 4, 5]
    assert kept.edge_index.tolist() == data.edge_index[:, columns].tolist()
    assert not any("as long as" in note for note in source.notes)
    for key in ("edge_attr", "edge_weight", "train_edge_mask", "cost"):
        assert torch.equal(kept[key], data[key][columns]), key
    assert kept.names == list("abef")
    assert torch.equal(kept.x, data.x)
    assert torch.equal(kept.y, data.y)
    assert kept.num_nodes == 5
    assert kept.validate()
    after = data.to_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(a, after[k]) if torch.is_tensor(a) else a == after[k] for k, a in before.items())


def test_pyg_attributes_of_the_graph_are_not_cut_and_named():
    data = rich_pyg()
    data.y = torch.arange(6.0)  # as many as edge_index has columns
    source = load(data)
    assert any(note.startswith("cost, names, y: as long as edge_index, but not cut") for note in source.notes)
    kept = source.rebuild(np.array([True, False, False]))
    assert torch.equal(kept.y, data.y)
    assert len(kept.names) == 6
    assert kept.edge_attr.shape == (2, 2)
    with pytest.raises(OptionError, match="has no 'z'"):
        load(data, Policies(edge_attrs=["z"]))
    with pytest.raises(GraphError, match="x has 5 entries"):
        load(data, Policies(edge_attrs=["x"]))
    square = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=4, cost=torch.arange(4.0))
    assert load(square, Policies(edge_attrs=["cost"])).rebuild(np.array([True, False])).cost.tolist() == [0, 1]


def test_pyg_examples_of_link_prediction_are_not_cut():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(edge_index=edges, edge_label_index=edges.flip(1), edge_label=torch.ones(4), num_nodes=5)
    kept = load(data).rebuild(np.array([True, False]))
    assert kept.num_edges == 2
    assert torch.equal(kept.edge_label_index, data.edge_label_index)
    assert kept.edge_label.shape == (4,)


def test_pyg_weights_by_name():
    data = rich_pyg()
    assert as_graph(data).weight_name == "edge_weight"
    source = load(data, Policies(weight="cost"))
    assert source.graph.weights.tolist() == [1, 3, 2]
    new = source.rebuild(np.array([True, False, True]), np.array([0.5, 1.0, 0.25]))
    assert new.cost.tolist() == [[0.5], [0.5], [0.25], [0.25]]
    assert new.cost.dtype == torch.float32
    assert torch.equal(new.edge_weight, torch.tensor([2.0, 2.0, 3.0, 3.0]))
    with pytest.raises(OptionError, match="no edge-level tensor is called 'x'"):
        load(data, Policies(weight="x"))
    with pytest.raises(GraphError, match=r"edge_attr has the shape \(6, 2\)"):
        load(data, Policies(weight="edge_attr"))
    del data.edge_weight
    assert load(data).rebuild(np.ones(3, bool), np.full(3, 0.5)).edge_weight.dtype == torch.float32


def test_pyg_one_direction_only_is_directed():
    data = Data(edge_index=torch.tensor([[0, 2, 1], [1, 1, 3]]), edge_attr=torch.arange(3.0), num_nodes=4)
    with pytest.raises(GraphError, match=r"one direction only \(3 edges\).*ToUndirected"):
        load(data)
    kept = load(data, Policies(directed="symmetrize")).rebuild(np.array([True, False, True]))
    assert kept.edge_index.tolist() == [[0, 1, 1, 3], [1, 3, 0, 1]]
    assert kept.edge_attr.tolist() == [0.0, 2.0, 0.0, 2.0]


def test_pyg_opposite_weights_must_agree():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), edge_weight=torch.tensor([1.0, 2.0]), num_nodes=2)
    with pytest.raises(GraphError, match=r"the edge \(0, 1\) is 1\.0 and \(1, 0\) is 2\.0"):
        load(data)
    assert load(data, Policies(weight=None)).graph.n_edges == 1


def test_pyg_edges_repeated_in_one_direction_only():
    data = Data(
        edge_index=torch.tensor([[0, 1, 0, 0, 2, 0], [1, 0, 1, 2, 0, 2]]), edge_weight=torch.ones(6), num_nodes=3
    )
    for weight in ("weight", None):
        with pytest.raises(GraphError, match="some edges stand more often in one direction"):
            load(data, Policies(weight=weight))


def test_pyg_guessed_node_counts_are_said_and_kept():
    source = load(Data(edge_index=torch.tensor([[0, 1, 1, 4], [1, 0, 4, 1]])))
    assert any("num_nodes is not set" in note for note in source.notes)
    assert source.rebuild(np.array([True, False])).num_nodes == 5


def test_pyg_without_edges_or_of_another_kind():
    with pytest.raises(GraphError, match="no edge_index"):
        load(Data(x=torch.ones(3, 1)))
    with pytest.raises(GraphError, match="HeteroData"):
        load(HeteroData())
    with pytest.raises(GraphError, match=r"to_data_list\(\)"):
        load(Batch.from_data_list([rich_pyg(), rich_pyg()]))
    assert as_graph(Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=3)).n_nodes == 3


def test_pyg_ids_out_of_range():
    with pytest.raises(GraphError, match="nodes are numbered 0 to 2"):
        load(Data(edge_index=torch.tensor([[0, 5], [5, 0]]), num_nodes=3))


# Aligning


def test_align_matches_labels_whatever_the_order():
    g = rich_networkx(nx.Graph)
    graph = as_graph(g)
    h = nx.Graph()
    h.add_edge(3, "z", weight=4)
    h.add_edge("a", "b", weight=2)
    found = align(graph, h)
    assert (found.n_nodes, found.labels) == (graph.n_nodes, graph.labels)
    mask = edge_selector(load(graph), [("z", 3), ("a", "b")])
    np.testing.assert_array_equal(found.laplacian().toarray(), graph.select(mask).laplacian().toarray())


def test_align_names_the_node_that_is_not_there():
    with pytest.raises(GraphError, match="node 'who' is not in the other graph"):
        align(as_graph(rich_networkx(nx.Graph)), nx.Graph([("a", "who")]))
    with pytest.raises(GraphError, match=r"node 9 is not in the other graph, whose 9 nodes begin with 0, 1, 2"):
        align(zoo.GRAPHS["ring"], nx.path_graph(10))


@pytest.mark.parametrize("graph", zoo.ALL.values(), ids=zoo.ALL)
def test_align_takes_masks_results_and_smaller_graphs(graph):
    mask = np.arange(graph.n_edges) % 2 == 1
    kept = graph.select(mask)
    for other in (kept, SimpleNamespace(kept=kept), mask, zoo.to_networkx(kept)):
        found = align(graph, other)
        assert (found.n_nodes, expected(found)) == (graph.n_nodes, expected(kept))
        assert found.labels is graph.labels
    edges_only = zoo.to_networkx(kept)
    edges_only.remove_nodes_from(list(nx.isolates(edges_only)))
    assert expected(align(graph, edges_only)) == expected(kept)


def test_align_of_plain_numbers_onto_labels():
    graph = Graph.from_edges([0, 1], [1, 2], labels=[5, 7, 9])
    assert expected(align(graph, nx.Graph([(7, 9)]))) == [(1, 2, 1.0)]
    assert align(zoo.GRAPHS["path"], nx.Graph([(7, 6)])).edge_labels(0) == (6, 7)
    assert align(zoo.GRAPHS["weighted"], zoo.GRAPHS["weighted"], Policies(weight=None)).is_weighted is False


# Choosing edges


def test_edges_are_chosen_in_three_ways():
    source = load(rich_networkx(nx.Graph))
    order = [frozenset(source.graph.edge_labels(int(i))) for i in numbers_of(source)]
    wanted = [order.index(frozenset(pair)) for pair in (("a", "b"), ("z", 3))]
    pairs = edge_selector(source, (pair for pair in [("a", "b"), (3, "z")]))
    flags = np.zeros(4, bool)
    flags[wanted] = True
    for way in (flags, flags.tolist(), np.array(wanted), wanted, iter(wanted)):
        np.testing.assert_array_equal(edge_selector(source, way), pairs)
    assert pairs.sum() == 2
    assert edge_selector(source, []).sum() == 0
    assert edge_selector(source, np.array([])).sum() == 0


def test_edges_are_chosen_by_an_array_of_pairs():
    source = load(nx.cycle_graph(5))
    mask = edge_selector(source, np.array([[1, 0], [3, 4]]))
    assert [source.graph.edge_labels(i) for i in np.flatnonzero(mask)] == [(0, 1), (3, 4)]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "zz")], r"protect: the edge \('a', 'zz'\) names a node that the graph doesn't have: 'zz'"),
        ([("z", "b")], r"protect: the graph has no edge \('z', 'b'\)"),
        ([("a", "a")], r"protect: the graph has no edge \('a', 'a'\)"),
        ([("a", ["b"])], "protect: .*doesn't have"),
        (["ab"], "'ab' is not a pair"),
        ([("a", "b", "z")], "is not a pair"),
        ("ab", "pass pairs of nodes"),
        (3, "pass pairs of nodes"),
        (np.ones(3, bool), "a mask of 3 entries does not fit 4 edges"),
        ([4], "no edge number 4; they run from 0 to 3"),
        ([-1], "no edge number -1"),
        (np.ones(4), "float64 is neither"),
    ],
)
def test_edges_that_are_not_there_are_named(edges, message):
    with pytest.raises(OptionError, match=message):
        edge_selector(load(rich_networkx(nx.Graph)), edges, "protect")


def test_no_edge_can_be_chosen_of_an_edgeless_graph():
    with pytest.raises(OptionError, match=r"no edge \(0, 1\)"):
        edge_selector(load(zoo.EDGELESS["edgeless"]), [(0, 1)])


# The registry


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("karate.gml", r"'karate\.gml' is a path or name.*graphpri\.read"),
        (Path("karate.gml"), r"graphpri\.read"),
        ([(0, 1)], r"from list: pass .*networkx.*Graph\.from_edges"),
        (None, "from NoneType"),
        (42, "from int: pass a graphpri Graph"),
    ],
)
def test_other_types_are_refused_with_what_is_accepted(thing, message):
    with pytest.raises(GraphError, match=message):
        as_graph(thing)


def test_no_graph_library_is_imported_before_it_is_needed():
    heavy = ("networkx", "igraph", "networkit", "pandas", "torch", "torch_geometric")
    code = (
        "import sys, numpy as np, scipy.sparse as sp, graphpri.interop as i;"
        "i.load(sp.csr_array(np.ones((2, 2)) - np.eye(2))).rebuild(np.ones(1, bool));"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pyg_weights_of_another_length_are_refused():
    data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), edge_weight=torch.ones(3), num_nodes=3)
    with pytest.raises(GraphError, match="edge_weight has 3 entries, and edge_index 4 columns"):
        load(data)
    data.edge_weight = torch.tensor(1.0)
    with pytest.raises(GraphError, match="edge_weight has no axis, and edge_index 4 columns"):
        load(data)


def test_large_inputs_are_read_in_whole_arrays():
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    graph = zoo.large()
    u, v = graph.source, graph.target
    a = graph.adjacency()
    frame = pd.DataFrame({"u": u, "v": v})
    data = Data(edge_index=torch.from_numpy(np.array([np.r_[u, v], np.r_[v, u]], np.int64)), num_nodes=graph.n_nodes)
    nk = networkit.GraphFromCoo((u.astype(np.int64), v.astype(np.int64)), n=graph.n_nodes)
    for obj in (a, frame, data, nk, igraph.Graph(n=graph.n_nodes, edges=np.c_[u, v])):
        found = as_graph(obj)
        np.testing.assert_array_equal(found.source, u)
        np.testing.assert_array_equal(found.target, v)


# Matrices that are symmetric but for rounding, and their diagonals


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_array])
def test_mirrored_entries_that_differ_by_rounding_are_averaged_and_said(make):
    a = np.abs(np.corrcoef(np.random.default_rng(0).normal(size=(10, 50))))
    np.fill_diagonal(a, 0)
    assert not np.array_equal(a, a.T)
    source = load(make(a))
    assert source.notes == ("weights: 'weight'", "mirrored entries that differed by rounding averaged")
    np.testing.assert_allclose(source.graph.adjacency().toarray(), a, rtol=1e-15)
    assert source.graph.weights.max() <= a.max()
    kept = source.rebuild(np.ones(45, bool))
    kept = kept if isinstance(kept, np.ndarray) else kept.toarray()
    np.testing.assert_array_equal(kept, kept.T)
    a[0, 1] *= 1 + 1e-7
    with pytest.raises(GraphError, match="not symmetric"):
        load(make(a))


def test_rounding_is_judged_by_the_largest_entry_and_by_the_type():
    a = np.array([[0, 1e3, 1e-10], [1e3, 0, 1], [3e-10, 1, 0]])
    assert load(a).graph.weights.tolist() == [1e3, 2e-10, 1.0]
    single = np.array([[0, 1, 2], [np.nextafter(np.float32(1), np.float32(2)), 0, 1], [2, 1, 0]], np.float32)
    assert "averaged" in load(single).notes[1]
    with pytest.raises(GraphError, match="not symmetric"):
        load(a / np.array([1, 1, 1e-6])[:, None])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_diagonal_of_equal_entries_is_no_loops(make):
    a = np.full((4, 4), 0.5)
    np.fill_diagonal(a, [1, 1 - 1e-16, 1, 1])
    source = load(make(a))
    assert source.notes[1:] == ("diagonal of 4 equal entries (1) left out",)
    kept = source.rebuild(np.ones(6, bool))
    assert (kept if isinstance(kept, np.ndarray) else kept.toarray()).trace() == 0
    for entries in ([1, 1, 1, 2], [1, 1, 1, 0]):
        np.fill_diagonal(a, entries)
        with pytest.raises(GraphError, match="self-loop"):
            load(make(a))


def test_loops_of_pyg_are_no_diagonal():
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    with pytest.raises(GraphError, match="2 self-loops"):
        load(data.Data(edge_index=torch.tensor([[0, 1, 0, 1], [1, 0, 0, 1]]), num_nodes=2))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [float, int])
def test_average_is_the_mean_of_the_two_directions(make, dtype):
    a = np.array([[0, 4, 3], [1, 0, 0], [0, 0, 0]], dtype)
    source = load(make(a), Policies(directed="average"))
    np.testing.assert_array_equal(source.graph.adjacency().toarray(), (a + a.T) / 2)
    assert source.notes[-1].endswith("1 pair of opposite arcs joined, weights averaged (a missing direction counts 0)")
    kept = source.rebuild(np.ones(2, bool))
    np.testing.assert_array_equal(kept if isinstance(kept, np.ndarray) else kept.toarray(), (a + a.T) / 2)
    one = load(make(np.triu(a)), Policies(directed="average"))
    np.testing.assert_array_equal(one.graph.weights, [2, 1.5])
    assert one.notes[-1].endswith("weights halved")
    kept = one.rebuild(np.ones(2, bool))
    assert (kept if isinstance(kept, np.ndarray) else kept.toarray())[1, 0] == 2


# Tables for files


@EACH
@WEIGHTED
def test_every_type_becomes_a_table_of_its_edges(kind, weighted):
    table, notes = as_table(kind.make(N, EDGES, WEIGHTS if weighted else None, False))
    found, graph = as_graph(table), reference(weighted)
    assert not table.directed
    assert notes == []
    pairs = [found.edge_labels(i) for i in range(found.n_edges)]
    assert pairs == [graph.edge_labels(i) for i in range(graph.n_edges)]
    if weighted:
        assert found.weights.tolist() == graph.weights.tolist()


@DIRECTED
def test_tables_of_directed_graphs_say_so(kind):
    table, _ = as_table(kind.make(4, [(0, 1), (1, 0), (2, 3)], [1.0, 2.0, 4.0], True))
    assert table.directed
    assert sorted(table.edge_attributes["weight"]) == [1, 2, 4]


def test_tables_have_the_attributes_of_the_input():
    g = nx.Graph([("a", "b", {"weight": 2, "kind": "x"}), ("b", "c", {"weight": 3})], title="t")
    g.nodes["b"]["age"] = 7
    table, _ = as_table(g)
    assert table.edge_attributes == {"weight": [2, 3], "kind": ["x", None]}
    assert (table.node_attributes, table.graph_attributes) == ({"age": [None, 7, None]}, {"title": "t"})
    h = igraph.Graph(edges=[(0, 1)], vertex_attrs={"name": ["p", "q"], "age": [1, 2]}, edge_attrs={"kind": ["x"]})
    table, _ = as_table(h)
    assert (table.labels, table.edge_attributes, table.node_attributes) == (
        ["p", "q"],
        {"kind": ["x"]},
        {"age": [1, 2]},
    )
    frame = pd.DataFrame({"u": ["a"], "v": ["b"], "Weight": [2], "kind": [None]})
    assert as_table(frame)[0].edge_attributes == {"weight": np.array([2]), "kind": [None]}
    data, notes = as_table(rich_pyg())
    assert data.edge_attributes["train_edge_mask"].tolist() == [True, False, True]
    assert "cost, edge_attr, names, train_mask, x, y" in notes[0]
    with pytest.raises(GraphError, match="is a path or name, not a graph"):
        as_table("karate")
