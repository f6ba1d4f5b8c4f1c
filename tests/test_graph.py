"""The canonical form, the policies on the way to it, and budgets."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import zoo
from graphpri._runtime import read_only
from graphpri._selection import best_forest, check_budget, count_edges, forest_size, rank, select_top
from graphpri.errors import GraphError, OptionError
from graphpri.graph import EdgeTable, Graph, joined_sets

ALL = pytest.mark.parametrize("graph", zoo.ALL.values(), ids=zoo.ALL)
GRAPHS = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS)


def table(pairs, weights=None, n=None, **options) -> EdgeTable:
    u, v = np.array(pairs, int).reshape(-1, 2).T
    columns = {} if weights is None else {"weight": weights}
    return EdgeTable(n or int(np.max(pairs)) + 1, u, v, edge_attributes=columns, **options)


def numbers(order, size: int) -> np.ndarray:
    """The numbers that an index of :class:`graphpri.graph.Canonical` stands for."""
    return np.arange(size)[order]


def assert_same(a: Graph, b: Graph) -> None:
    assert a.n_nodes == b.n_nodes
    np.testing.assert_array_equal(a.source, b.source)
    np.testing.assert_array_equal(a.target, b.target)
    np.testing.assert_array_equal(a.weights, b.weights)
    assert [a.label(i) for i in range(a.n_nodes)] == [b.label(i) for i in range(b.n_nodes)]
    assert a.weight_name == b.weight_name


@st.composite
def listings(draw):
    """Edges with weights, and the same ones shuffled and turned round."""
    n = draw(st.integers(2, 9))
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True, max_size=20))
    weights = draw(st.lists(st.floats(1e-6, 1e6), min_size=len(pairs), max_size=len(pairs)))
    order = draw(st.permutations(range(len(pairs))))
    turned = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return n, pairs, weights, order, turned


# Canonical form


@settings(deadline=None)
@given(listings())
def test_listing_order_and_direction_do_not_matter(listing):
    n, pairs, weights, order, turned = listing
    other = [pairs[i][::-1] if t else pairs[i] for i, t in zip(order, turned, strict=True)]
    a = table(pairs, weights, n).canonical()
    b = table(other, [weights[i] for i in order], n).canonical()
    assert_same(a.graph, b.graph)
    np.testing.assert_array_equal(numbers(a.edges, len(pairs))[list(order)], numbers(b.edges, len(pairs)))


@settings(deadline=None)
@given(listings(), st.data())
def test_labels_decide_the_numbering_and_not_their_order(listing, data):
    n, pairs, weights, *_ = listing
    names = [f"x{i}" for i in range(n)]
    place = data.draw(st.permutations(range(n)))
    moved = [(place[u], place[v]) for u, v in pairs]
    shuffled = [names[place.index(j)] for j in range(n)]
    a = table(pairs, weights, n, labels=names).canonical()
    b = table(moved, weights, n, labels=shuffled).canonical()
    assert_same(a.graph, b.graph)
    np.testing.assert_array_equal(numbers(b.nodes, n)[place], numbers(a.nodes, n))


@settings(deadline=None)
@given(listings())
def test_maps_lead_from_rows_to_edges(listing):
    n, pairs, weights, *_ = listing
    graph, edges, rows, nodes, *_ = table(pairs, weights, n).canonical()
    edges, nodes = numbers(edges, len(pairs)), numbers(nodes, n)
    assert numbers(rows, len(pairs)).tolist() == list(range(len(pairs)))
    for i, (u, v) in enumerate(pairs):
        ends = sorted((nodes[u], nodes[v]))
        assert [graph.source[edges[i]], graph.target[edges[i]]] == ends
        assert graph.weights[edges[i]] == weights[i]


@ALL
def test_edges_are_sorted_and_arrays_read_only(graph):
    key = graph.source.astype(int) * graph.n_nodes + graph.target
    assert (np.diff(key) > 0).all()
    assert (graph.source < graph.target).all()
    for array in (graph.source, graph.target, graph.weights):
        assert not array.flags.writeable
    with pytest.raises(FrozenInstanceError):
        graph.n_nodes = 3


@pytest.mark.parametrize(
    ("given_labels", "ordered"),
    [
        ([2, 0, 1], [0, 1, 2]),
        ([10, 9, 100], [9, 10, 100]),
        ([10**40, -1, 0.5], [-1, 0.5, 10**40]),
        (["b", "a", "B"], ["B", "a", "b"]),
        (np.array(["b", "a", "é"]), ["a", "b", "é"]),
        (np.array([30, 10, 20], np.uint8), [10, 20, 30]),
        (["1", 2, 1], [1, 2, "1"]),
        ([(1, 2), (0, 9), "t"], ["t", (0, 9), (1, 2)]),
        ([None, "a", 3], [None, 3, "a"]),
    ],
)
def test_label_order(given_labels, ordered):
    graph = EdgeTable(3, np.array([0]), np.array([2]), labels=given_labels).canonical().graph
    assert [graph.label(i) for i in range(3)] == ordered
    plain = [x.item() if isinstance(x, np.generic) else x for x in given_labels]
    assert set(graph.edge_labels(0)) == {plain[0], plain[2]}
    assert [type(graph.label(i)) for i in range(3)] == [type(x) for x in ordered]


@pytest.mark.parametrize("labels", [["a", "b", "a"], [1, 1.0, 2], np.array([3, 3, 1]), np.array(["q", "p", "q"])])
def test_duplicate_labels_are_named(labels):
    with pytest.raises(GraphError, match=r"the node label ('a'|1\.0|3|'q') stands twice"):
        EdgeTable(3, np.array([0]), np.array([2]), labels=labels).canonical()


def test_wrong_number_of_labels():
    with pytest.raises(GraphError, match="2 labels for 3 nodes"):
        EdgeTable(3, np.array([0]), np.array([2]), labels=["a", "b"]).canonical()


def test_huge_and_many_ids():
    ids = np.array([2**62, 7, 10**12])
    graph = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), labels=ids).canonical().graph
    assert [graph.edge_labels(m) for m in range(2)] == [(7, 10**12), (7, 2**62)]
    n = 100_000
    pairs = Graph.from_edges(np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2))
    assert pairs.components()[0] == n == pairs.n_edges


def test_from_edges_counts_nodes():
    assert Graph.from_edges([0], [3]).n_nodes == 4
    assert Graph.from_edges([0], [1], labels=["a", "b", "c"]).n_nodes == 3
    assert Graph.from_edges([], [], n_nodes=2).n_nodes == 2
    assert repr(Graph.from_edges([0], [1], [2.0])) == "Graph(2 nodes, 1 edges, weighted by 'weight')"


@pytest.mark.parametrize(
    ("source", "target", "options", "message"),
    [
        ([0, 1], [1], {}, "source has 2 entries and target has 1"),
        ([0.0], [1.0], {}, "holds float64, not integers"),
        ([[0]], [[1]], {}, "one-dimensional"),
        ([0], [5], {"n_nodes": 3}, "joins 0 and 5, but the nodes are numbered 0 to 2"),
        ([0, -1], [1, 1], {"n_nodes": 3}, "edge number 1 joins -1 and 1"),
        (["a"], ["b"], {}, "names as labels="),
    ],
)
def test_from_edges_refuses(source, target, options, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(source, target, **options)


# Matrices, degrees, components, selection


@ALL
def test_laplacian_is_the_sum_over_edges(graph):
    dense = np.zeros((graph.n_nodes, graph.n_nodes))
    for u, v, w in zip(graph.source, graph.target, graph.weights, strict=True):
        b = np.zeros(graph.n_nodes)
        b[[u, v]] = 1, -1
        dense += w * np.outer(b, b)
    np.testing.assert_allclose(graph.laplacian().toarray(), dense, rtol=1e-12)
    np.testing.assert_allclose(graph.strengths(), np.diag(dense), rtol=1e-12)
    np.testing.assert_array_equal(graph.degrees(), (graph.adjacency().toarray() > 0).sum(axis=0))
    np.testing.assert_allclose(graph.laplacian(3 * graph.weights).toarray(), 3 * dense, rtol=1e-12)


@ALL
def test_components_match_networkx(graph):
    count, member = graph.components()
    reference = list(nx.connected_components(zoo.to_networkx(graph)))
    assert count == len(reference)
    for nodes in reference:
        assert len({member[i] for i in range(graph.n_nodes) if graph.label(i) in nodes}) == 1
    assert graph.components(np.zeros(graph.n_edges, bool))[0] == graph.n_nodes
    assert forest_size(graph) == graph.n_nodes - count


@given(st.integers(1, 40), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_components_of_large_graphs_are_numbered_as_those_of_small_ones(n, m, seed):
    u, v = np.random.default_rng(seed).integers(0, n, (2, m)).astype(np.int32)
    count, member = joined_sets(n, read_only(u), read_only(v))
    expected = connected_components(sp.coo_array((np.ones(m), (u, v)), shape=(n, n)), directed=False)
    assert count == expected[0]
    np.testing.assert_array_equal(member, expected[1])


@GRAPHS
def test_select_keeps_nodes_labels_and_weights(graph):
    mask = np.arange(graph.n_edges) % 2 == 0
    kept = graph.select(mask)
    assert (kept.n_nodes, kept.labels, kept.weight_name) == (graph.n_nodes, graph.labels, graph.weight_name)
    np.testing.assert_array_equal(kept.weights, graph.weights[mask])
    np.testing.assert_array_equal(kept.target, graph.target[mask])
    again = graph.select(mask, np.arange(1.0, graph.n_edges + 1))
    np.testing.assert_array_equal(again.weights, np.arange(1.0, graph.n_edges + 1)[mask])
    assert again.is_weighted
    with pytest.raises(GraphError, match="does not fit"):
        graph.select(mask[:-1])


# Policies


def test_directed_is_refused_then_symmetrised():
    arcs = table([(0, 1), (1, 0), (2, 1)], [1.0, 2.5, 4.0], directed=True)
    with pytest.raises(GraphError, match=r'directed \(3 arcs\).*directed="symmetrize"'):
        arcs.canonical()
    graph, edges, rows, *_, notes = arcs.canonical(directed="symmetrize")
    assert graph.weights.tolist() == [3.5, 4.0]
    assert (edges.tolist(), rows.tolist()) == ([0, 1], [0, 2])
    assert notes[-1] == "directed graph symmetrised: 1 pair of opposite arcs joined, weights added"


def test_loops_are_refused_then_dropped():
    loops = table([(0, 0), (0, 1), (2, 2)], [9.0, 2.0, 9.0], row_name=lambda row: f"line {row + 2}")
    with pytest.raises(GraphError, match=r"2 self-loops, the first at edge \(0, 0\) \(line 2\)"):
        loops.canonical()
    graph, edges, rows, *_, notes = loops.canonical(loops="drop")
    assert (graph.n_nodes, graph.n_edges, numbers(edges, 1).tolist(), rows.tolist()) == (3, 1, [0], [1])
    assert "2 self-loops dropped" in notes


@pytest.mark.parametrize(("policy", "weight"), [("sum", 6.0), ("max", 3.0), ("first", 2.0)])
def test_parallel_edges_are_refused_then_joined(policy, weight):
    rows = table([(1, 2), (0, 1), (1, 0), (0, 1)], [5.0, 2.0, 3.0, 1.0])
    with pytest.raises(GraphError, match=r"2 parallel edges, the first repeat at edge \(1, 0\)"):
        rows.canonical()
    graph, edges, first, *_, notes = rows.canonical(parallel=policy)
    assert graph.weights.tolist() == [weight, 5.0]
    assert (edges.tolist(), first.tolist()) == ([1, 0], [0, 1])
    assert any("2 parallel edges joined" in note for note in notes)


@pytest.mark.parametrize(("policy", "weight"), [("sum", 7.0), ("max", 6.0), ("first", 5.0)])
def test_parallel_arcs_are_joined_before_opposite_ones(policy, weight):
    arcs = table([(0, 1), (0, 1), (1, 0)], [1.0, 2.0, 4.0], directed=True)
    with pytest.raises(GraphError, match="1 parallel edge, the first repeat"):
        arcs.canonical(directed="symmetrize")
    assert arcs.canonical(directed="symmetrize", parallel=policy).graph.weights.tolist() == [weight]


@pytest.mark.parametrize("directed", [False, True])
def test_without_weights_a_sum_counts_parallel_edges(directed):
    rows = table([(1, 2), (0, 1), (0, 1), (0, 1), (2, 3)], directed=directed)
    graph, *_, notes = rows.canonical(parallel="sum", directed="symmetrize")
    assert (graph.weights.tolist(), graph.weight_name) == ([3.0, 1.0, 1.0], "multiplicity")
    assert notes[0] == f"weights: 'multiplicity', the number of {'arcs' if directed else 'parallel edges'} joined"
    assert notes[-1] == "2 parallel edges joined, their number kept as weight"
    ones = table([(1, 2), (0, 1), (0, 1), (0, 1), (2, 3)], np.ones(5), directed=directed)
    assert ones.canonical(parallel="sum", directed="symmetrize").graph.weights.tolist() == graph.weights.tolist()


@pytest.mark.parametrize(("policy", "weight"), [("max", "weight"), ("first", "weight"), ("sum", None)])
def test_otherwise_parallel_edges_without_weights_have_none(policy, weight):
    for column in (None, [1.0, 2.0, 4.0]) if weight is None else (None,):
        graph, *_, notes = table([(0, 1), (1, 0), (1, 2)], column).canonical(parallel=policy, weight=weight)
        assert (graph.is_weighted, graph.weights.tolist()) == (False, [1.0, 1.0])
        assert notes[-1] == "1 parallel edge joined, their number not kept"


def test_a_sum_without_parallel_edges_makes_no_weights():
    assert not table([(0, 1), (1, 2)]).canonical(parallel="sum").graph.is_weighted


@pytest.mark.parametrize("extra", [[], [(2, 3)]])
def test_a_pair_of_opposite_arcs_weighs_the_same_whatever_else_is_there(extra):
    arcs = table([(0, 1), (1, 0), (1, 2), (2, 3), *extra], directed=True)
    found = arcs.canonical(parallel="sum", directed="symmetrize")
    assert found.graph.weights.tolist() == [2.0, 1.0, 1.0 + len(extra)]
    assert found.notes[0] == "weights: 'multiplicity', the number of arcs joined"
    assert "directed graph symmetrised: 1 pair of opposite arcs joined, each counted" in found.notes
    once = arcs.canonical(parallel="first", directed="symmetrize")
    assert not once.graph.is_weighted
    assert "directed graph symmetrised: 1 pair of opposite arcs joined, each pair counts once" in once.notes


def test_symmetrising_without_weights_makes_none():
    graph, *_, notes = table([(0, 1), (1, 0), (2, 1)], directed=True).canonical(directed="symmetrize")
    assert (graph.is_weighted, graph.weights.tolist()) == (False, [1.0, 1.0])
    assert notes[-1] == "directed graph symmetrised: 1 pair of opposite arcs joined, each pair counts once"
    *_, notes = table([(0, 1), (2, 1)], directed=True).canonical(directed="symmetrize")
    assert notes[-1] == "directed graph symmetrised: 2 arcs taken as edges, no opposite arcs to join"


@settings(deadline=None)
@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_added_weights_do_not_depend_on_row_order(weights, random):
    shuffled = weights.copy()
    random.shuffle(shuffled)
    a, b = (table([(0, 1)] * len(w), w).canonical(parallel="sum").graph.weights for w in (weights, shuffled))
    assert a[0] == b[0]
    assert a[0] == pytest.approx(sum(weights))


@pytest.mark.parametrize("name", ["directed", "loops", "parallel"])
def test_unknown_policies_are_refused(name):
    with pytest.raises(OptionError, match=f"{name}='keep': choose from 'refuse'"):
        table([(0, 1)]).canonical(**{name: "keep"})


# Weights


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (0.0, r"weight 0\.0; .*zero=\"drop\""),
        (-2.0, r"weight -2\.0; .*negative=\"abs\" .* negative=\"drop\""),
        (np.nan, "weight nan"),
        (np.inf, "weight inf"),
        (-np.inf, "weight -inf"),
        (True, "is not a number|true/false"),
        ("heavy", "'heavy', which is not a number"),
        (1j, "which is not a number"),
        (10**400, "which is not a number"),
    ],
)
def test_bad_weights_name_the_edge(weight, said):
    column = [1.0, weight] if not isinstance(weight, bool) else [None, weight]
    with pytest.raises(GraphError, match=said) as caught:
        table([(0, 1), (1, 2)], column).canonical()
    assert "(1, 2)" in str(caught.value)
    assert table([(0, 1), (1, 2)], column).canonical(weight=None).graph.is_weighted is False


SIGNED = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)], [-3, 0, 2, 1, -1]


@pytest.mark.parametrize(
    ("negative", "weights", "said"),
    [
        ("abs", [3, 2, 1], "1 edge of negative weight taken as absolute values"),
        ("drop", [2, 1], "negative weight dropped"),
    ],
)
def test_negative_and_zero_weights_follow_their_policies(negative, weights, said):
    found = table(*SIGNED).canonical(negative=negative, zero="drop", loops="drop")
    assert found.graph.weights.tolist() == weights
    assert found.reweighted == (negative == "abs")
    assert any(said in note for note in found.notes)
    assert "1 edge of weight 0 dropped" in found.notes
    assert [note for note in found.notes if "self-loop" in note] == ["1 self-loop dropped"]


def test_absolute_values_and_dropped_weights_come_before_joining():
    rows = table([(0, 1), (0, 1), (1, 2)], [-3, 2, 1])
    assert rows.canonical(negative="abs", parallel="sum").graph.weights.tolist() == [5, 1]
    assert rows.canonical(negative="drop").graph.weights.tolist() == [2, 1]
    arcs = table([(0, 1), (1, 0), (1, 2)], [-3, 2, 1], directed=True)
    assert arcs.canonical(negative="abs", directed="average").graph.weights.tolist() == [2.5, 0.5]


def test_weights_that_are_not_finite_have_no_policy():
    with pytest.raises(GraphError, match=r"weight nan.*correct it"):
        table([(0, 1)], [np.nan]).canonical(negative="drop", zero="drop")


def test_columns_of_booleans_are_no_weights():
    with pytest.raises(GraphError, match="true/false"):
        table([(0, 1)], np.array([True])).canonical()


def test_extreme_weights_pass_and_overflow_is_refused():
    assert table([(0, 1), (1, 2)], [1e-300, 1e300]).canonical().graph.weights.tolist() == [1e-300, 1e300]
    with pytest.raises(GraphError, match=r"joined into edge \(0, 1\) add up beyond"):
        table([(0, 1), (0, 1)], [1.7e308, 1.7e308]).canonical(parallel="sum")


def test_missing_weights_count_one_and_are_said():
    graph, *_, notes = table([(0, 1), (1, 2)], [None, 3]).canonical()
    assert graph.weights.tolist() == [1.0, 3.0]
    assert notes == ("weights: 'weight', 1 of 2 edges have none and weigh 1",)


def test_named_weights_must_exist():
    with pytest.raises(OptionError, match=r"'cost' named as weight \(edge attributes: 'weight'\)"):
        table([(0, 1)], [2.0]).canonical(weight="cost")
    assert table([(0, 1)]).canonical().notes == ("unweighted: no edge has the attribute 'weight'",)
    assert table([(0, 1)], [2.0]).canonical(weight=None).notes == ("weights ignored",)


# Budgets


@pytest.mark.parametrize(
    ("keep", "m", "k"),
    [
        (0.5, 78, 39), (0.5, 5, 3), (0.1, 5, 1), (0.001, 78, 1), (1.0, 78, 78), (1, 78, 1), (78, 78, 78),
        (0.3, 10, 3), (0.15, 10, 2), (0.35, 10, 4), (np.float32(0.5), 4, 2), (np.int64(3), 4, 3), (1e-12, 10**6, 1),
        (0.29, 50, 15), (0.2, 1, 1), (0.9999999999, 10, 10),
    ],
)  # fmt: skip
def test_shares_round_half_up_and_counts_stay(keep, m, k):
    assert count_edges(keep, m) == k
    assert type(count_edges(keep, m)) is int


@pytest.mark.parametrize("keep", [0, -1, 79, 0.0, -0.1, 1.1, np.nan, np.inf, True, "0.3", None, 1j])
def test_budgets_out_of_range_are_refused(keep):
    with pytest.raises(OptionError, match="keep="):
        count_edges(keep, 78)


def test_edgeless_graphs_have_no_budget():
    with pytest.raises(OptionError, match="no edges to keep"):
        count_edges(0.5, 0)


def test_ties_are_drawn_by_the_seed():
    scores = np.zeros(50)
    assert rank(scores).tolist() == list(range(50))
    a, b, c = (rank(scores, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert a.tolist() == b.tolist() != c.tolist()
    assert sorted(a) == list(range(50))


@GRAPHS
def test_best_forest_is_a_maximum_spanning_forest(graph):
    scores = np.random.default_rng(3).random(graph.n_edges)
    mask = best_forest(graph, rank(scores))
    assert mask.sum() == forest_size(graph)
    assert graph.components(mask)[0] == graph.components()[0]
    reference = nx.Graph()
    reference.add_weighted_edges_from(zip(graph.source.tolist(), graph.target.tolist(), scores, strict=True))
    best = nx.maximum_spanning_tree(reference).size(weight="weight")
    assert scores[mask].sum() == pytest.approx(best)


@GRAPHS
@pytest.mark.parametrize("connected", [False, True])
def test_select_top_keeps_exactly_k(graph, connected):
    scores = np.round(np.random.default_rng(4).random(graph.n_edges), 1)
    for k in range(forest_size(graph) if connected else 1, graph.n_edges + 1):
        mask = select_top(graph, scores, k, np.random.default_rng(k), connected=connected)
        assert mask.sum() == k
        if connected:
            assert graph.components(mask)[0] == graph.components()[0]
        else:
            assert scores[mask].min() >= scores[~mask].max(initial=-1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_select_top_is_the_best_admissible_selection(seed, connected):
    rng = np.random.default_rng(seed)
    graph = zoo.random_graph(5, 8, seed)
    scores = rng.permutation(8).astype(float)
    protect, forbid = np.zeros(8, bool), np.zeros(8, bool)
    protect[rng.integers(8)] = True
    forbid[rng.integers(8)] = True
    k = int(rng.integers(1, 9))

    def admissible(chosen):
        mask = np.isin(np.arange(8), chosen)
        whole = not connected or graph.components(mask)[0] == graph.components()[0]
        return whole and mask[protect].all() and not mask[forbid].any()

    best = max((scores[list(c)].sum() for c in combinations(range(8), k) if admissible(c)), default=None)
    options = {"connected": connected, "protect": protect, "forbid": forbid}
    if best is None:
        with pytest.raises(OptionError):
            select_top(graph, scores, k, **options)
    else:
        mask = select_top(graph, scores, k, **options)
        assert admissible(np.flatnonzero(mask))
        assert scores[mask].sum() == best


@pytest.mark.parametrize(
    ("k", "options", "message"),
    [
        (4, {"connected": True}, "connected=True needs at least 5 edges"),
        (5, {"connected": True, "protect": [0, 1, 2]}, "with the protected edges: connected=True needs at least 6"),
        (2, {"protect": [0, 1, 2]}, "protect names 3 that must stay"),
        (6, {"forbid": [0, 1]}, "forbid leaves only 5 of 7"),
        (5, {"forbid": [3], "protect": [3]}, r"edge \(2, 3\) stands in protect and in forbid"),
        (5, {"forbid": [3], "connected": True}, "falls apart"),
    ],
)
def test_conflicting_budgets_are_explained(k, options, message):
    graph = zoo.two_cliques(3)
    masks = {
        name: np.isin(np.arange(7), value) if isinstance(value, list) else value for name, value in options.items()
    }
    with pytest.raises(OptionError, match=message):
        check_budget(graph, k, **masks)
    with pytest.raises(OptionError, match=message):
        select_top(graph, np.arange(7.0), k, **masks)
