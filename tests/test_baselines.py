"""Contract of every baseline over the zoo, and each score against hand-made values, brute force or networkx."""

from __future__ import annotations

import math
import os
import sys
import time
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from scipy.special import logsumexp
from scipy.stats import binom, chi2, norm

import graphpri
import zoo
from graphpri import baselines
from graphpri._laplacian import leverages
from graphpri._selection import tie_keys
from graphpri.baselines import METHODS, Scored, find, method, run
from graphpri.errors import GraphError, OptionError
from graphpri.graph import Graph

DATA = os.environ.get("GRAPHPRI_DATA")
every_method = pytest.mark.parametrize("name", METHODS)
every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())
RANDOM = {"random", "forest-fire", "algebraic-distance", "effective-resistance-sampling"}
RANKED_BY_SEED = {"local-degree", "local-similarity"}  # ties are ranked by the seed


def score(graph: Graph, name: str, seed: int = 0, k: int | None = None, **options) -> np.ndarray:
    k = graph.n_edges // 2 if k is None else k
    return METHODS[name].score(graph, k, np.random.default_rng(seed), **options).scores


def keep(graph: Graph, name: str, k: int, seed: int = 0, **options) -> np.ndarray:
    return run(graph, name, k, np.random.default_rng(seed), **options)[0]


def neighbours(graph: Graph) -> list[set[int]]:
    result: list[set[int]] = [set() for _ in range(graph.n_nodes)]
    for u, v in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        result[u].add(v)
        result[v].add(u)
    return result


def pairs(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))


# --- contract ---------------------------------------------------------------------------------------------


def test_the_methods_of_the_specification_are_there():
    assert METHODS.keys() >= {
        "random", "local-degree", "local-similarity", "effective-resistance", "effective-resistance-sampling",
        "disparity", "spanning-forest",
    }  # fmt: skip
    for name, entry in METHODS.items():
        assert entry.name == name
        assert "\n" not in entry.summary
        assert len(entry.reference) > 20


@every_method
def test_exactly_k_edges_and_finite_scores(name):
    for graph in zoo.GRAPHS.values():
        for k in {1, graph.n_edges // 2, graph.n_edges} - {0}:
            mask, scored = run(graph, name, k, np.random.default_rng(1))
            assert mask.dtype == bool
            assert mask.sum() == k
            assert scored.scores.shape == (graph.n_edges,)
            assert np.isfinite(scored.scores).all()
            assert scored.scores[mask].min() >= scored.scores[~mask].max(initial=-np.inf)
            if scored.weights is not None:
                assert np.isfinite(scored.weights).all()
                assert (scored.weights > 0).all()


@every_method
@pytest.mark.parametrize("graph", zoo.EDGELESS.values(), ids=zoo.EDGELESS.keys())
def test_edgeless_graphs_have_an_empty_answer(name, graph):
    mask, scored = run(graph, name, 0, np.random.default_rng(1))
    assert mask.shape == scored.scores.shape == (0,)


@every_method
@pytest.mark.parametrize("graph", [zoo.GRAPHS["weighted"], zoo.GRAPHS["two_cliques"], zoo.GRAPHS["disconnected"]])
def test_connected_keeps_the_components_and_constraints_hold(name, graph):
    need = graph.n_nodes - graph.components()[0]
    protect, forbid = np.zeros((2, graph.n_edges), bool)
    protect[-1] = True
    forbid[1] = graph.components(~(np.arange(graph.n_edges) == 1))[0] == graph.components()[0]
    mask = keep(graph, name, need + 2, connected=True, protect=protect, forbid=forbid)
    assert mask.sum() == need + 2
    assert graph.components(mask)[0] == graph.components()[0]
    assert mask[protect].all()
    assert not mask[forbid].any()
    with pytest.raises(OptionError, match="needs at least"):
        keep(graph, name, need - 1, connected=True)


@every_method
def test_the_seed_decides_and_nothing_else(name):
    graph = zoo.GRAPHS["weighted"]
    before = [graph.source.copy(), graph.target.copy(), graph.weights.copy()]
    one, again = (run(graph, name, 20, np.random.default_rng(5)) for _ in range(2))
    assert (one[0] == again[0]).all()
    assert (one[1].scores == again[1].scores).all()
    if name in RANDOM | RANKED_BY_SEED:
        assert (score(graph, name, 6) != one[1].scores).any()
    else:
        assert (score(graph, name, 6) == one[1].scores).all()
    for array, old in zip([graph.source, graph.target, graph.weights], before, strict=True):
        assert (array == old).all()


def test_ties_are_broken_by_the_seed():
    for name in (
        "weight",
        "disparity",
        "effective-resistance",
        "edge-betweenness",
        "jaccard",
        "spanning-forest",
        *RANKED_BY_SEED,
    ):
        assert len({keep(zoo.ring(9), name, 4, seed).tobytes() for seed in range(20)}) > 5, name


@every_method
def test_the_order_of_the_edges_is_irrelevant(name):
    graph = zoo.random_graph(20, 60, 3, weighted=True)
    order = np.random.default_rng(0).permutation(60)
    shuffled = Graph.from_edges(graph.target[order], graph.source[order], graph.weights[order], n_nodes=20)
    assert (score(shuffled, name) == score(graph, name)).all()


@pytest.mark.parametrize("name", sorted(METHODS.keys() - RANDOM))
def test_scores_are_functions_of_the_edge_whatever_the_node_numbers(name):
    graph = zoo.random_graph(20, 60, 3, weighted=True)
    new = np.random.default_rng(0).permutation(20)
    other = Graph.from_edges(new[graph.source], new[graph.target], graph.weights, n_nodes=20)
    place = {frozenset(pair): m for m, pair in enumerate(pairs(other))}
    mine = score(graph, name)
    theirs = score(other, name)[[place[frozenset((int(new[u]), int(new[v])))] for u, v in pairs(graph)]]
    if name in RANKED_BY_SEED:
        assert (mine == theirs).mean() > 0.5
    else:
        np.testing.assert_allclose(theirs, mine, rtol=1e-9)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_threads_do_not_matter(name):
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    from threadpoolctl import threadpool_limits

    graph = zoo.reweighted(zoo.random_graph(300, 2000, 1), np.linspace(1, 9, 2000))
    most = nk.getMaxNumberOfThreads()
    results = []
    try:
        for threads in (1, 2):
            nk.setNumberOfThreads(threads)
            with threadpool_limits(threads):
                results.append(score(graph, name))
    finally:
        nk.setNumberOfThreads(most)
    assert (results[0] == results[1]).all()


@every_method
def test_extreme_weights_are_ranked_or_refused(name):
    base = zoo.random_graph(12, 30, 4)
    weights = 10.0 ** np.linspace(-300, 300, 30)
    mask, scored = run(zoo.reweighted(base, weights), name, 10, np.random.default_rng(0))
    assert mask.sum() == 10
    assert np.isfinite(scored.scores).all()
    for unit in (1e-300, 1e300):
        scaled = zoo.reweighted(base, np.linspace(1, 2, 30) * unit)
        if name in ("noise-corrected", "marginal-likelihood") and unit < 1:
            with pytest.raises(GraphError, match="reads weights as counts"):
                score(scaled, name)
        else:
            assert keep(scaled, name, 10).sum() == 10


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(METHODS)), st.booleans())
def test_any_graph_any_method(seed, name, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    m = int(rng.integers(1, n * (n - 1) // 2 + 1))
    graph = zoo.random_graph(n, m, seed, weighted=weighted)
    k = int(rng.integers(1, m + 1))
    assert keep(graph, name, k, seed).sum() == k


# --- registry ---------------------------------------------------------------------------------------------


def test_unknown_methods_are_refused_with_a_guess():
    with pytest.raises(OptionError, match=r"did you mean 'local-degree'\? \(methods: algebraic-distance, "):
        run(zoo.ring(4), "localdegree", 2, np.random.default_rng(0))
    with pytest.raises(OptionError, match=r"method='zzz' is not known \(methods"):
        find("zzz")


def test_options_that_a_method_does_not_use_are_refused():
    with pytest.raises(OptionError, match="'random' does not use exponent; it has no options"):
        keep(zoo.ring(4), "random", 2, exponent=0.5)
    with pytest.raises(OptionError, match="does not use pivots, speed; it uses n_probes, resistance"):
        keep(zoo.ring(4), "effective-resistance-sampling", 2, speed=1, pivots=3)


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("local-degree", "exponent", 1.5),
        ("local-degree", "exponent", "half"),
        ("local-degree", "exponent", True),
        ("local-degree", "exponent", math.nan),
        ("simmelian", "shape", "round"),
        ("edge-betweenness", "pivots", 0),
        ("edge-betweenness", "pivots", 2.5),
        ("forest-fire", "burn_probability", 1.0),
        ("forest-fire", "burnt_ratio", 0),
        ("forest-fire", "burnt_ratio", math.inf),
        ("algebraic-distance", "systems", 0),
        ("effective-resistance", "resistance", "fast"),
        ("effective-resistance-sampling", "n_probes", 1),
    ],
)
def test_bad_values_are_refused(name, option, value):
    with pytest.raises(OptionError, match=f"{option}="):
        keep(zoo.ring(4), name, 2, **{option: value})


@every_method
def test_bad_budgets_are_refused_before_any_work(name, monkeypatch):
    graph = zoo.GRAPHS["two_edges"]
    both = np.ones(2, bool)
    with pytest.raises(OptionError, match="protect names 2"):
        keep(graph, name, 1, protect=both)
    with pytest.raises(OptionError, match="in protect and in forbid"):
        keep(graph, name, 2, protect=both, forbid=both)


def test_a_new_method_needs_only_a_score():
    @method("test-last", summary="the last edges", reference="made for this test, nothing more")
    def last(graph, k, rng, *, step=1):
        return Scored(np.arange(graph.n_edges) * float(step))

    try:
        assert METHODS["test-last"].options == {"step"}
        assert keep(zoo.path(5), "test-last", 2).tolist() == [False, False, True, True]
        assert keep(zoo.path(5), "test-last", 2, step=-1).tolist() == [True, True, False, False]
        with pytest.raises(ValueError, match="name='test-last': there is a method of that name already"):
            method("test-last", summary="", reference="")
    finally:
        del METHODS["test-last"]


# --- neighbourhoods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [*zoo.GRAPHS.values(), zoo.random_graph(40, 300, 9)])
def test_networkit_numbers_edges_as_we_do(graph):
    pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    g = baselines.to_networkit(graph)
    assert g.numberOfNodes() == graph.n_nodes
    assert [g.edgeId(u, v) for u, v in pairs(graph)] == list(range(graph.n_edges))


def test_a_networkit_that_numbers_edges_differently_is_noticed(monkeypatch):
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    def backwards(ends, n, edgesIndexed):
        g = nk.Graph(n)
        for u, v in zip(*ends, strict=True):
            g.addEdge(int(u), int(v))
        g.indexEdges()
        return g

    baselines.to_networkit(zoo.GRAPHS["random"])
    monkeypatch.setattr(nk, "GraphFromCoo", backwards)
    with pytest.raises(RuntimeError, match="does not number edges"):
        baselines.to_networkit(zoo.GRAPHS["random"])


def rank_exponents(graph: Graph, value, ties) -> np.ndarray:
    """1 − ln r / ln d by brute force; ties of neighbours by a key of the edge and the neighbour."""
    number = {pair: m for m, pair in enumerate(pairs(graph))}
    result = np.zeros(graph.n_edges)
    for u, around in enumerate(neighbours(graph)):
        ranked = sorted(around, key=lambda v: (-value(u, v), ties(number[min(u, v), max(u, v)], v)))
        for r, v in enumerate(ranked, 1):
            m = number[min(u, v), max(u, v)]
            result[m] = max(result[m], 1 - math.log(r) / math.log(len(around)) if len(around) > 1 else 1)
    return result


@every_graph
def test_local_degree_and_local_similarity_by_brute_force(graph):
    near = neighbours(graph)
    nodes, edges = (tie_keys(n, np.random.default_rng(0)) for n in (graph.n_nodes, graph.n_edges))
    by_degree = rank_exponents(graph, lambda u, v: len(near[v]), lambda _, v: nodes[v])
    np.testing.assert_allclose(score(graph, "local-degree"), by_degree, atol=1e-9)
    by_jaccard = rank_exponents(
        graph, lambda u, v: len(near[u] & near[v]) / len(near[u] | near[v]), lambda m, _: edges[m]
    )
    np.testing.assert_allclose(score(graph, "local-similarity"), by_jaccard, atol=1e-9)


@pytest.mark.parametrize("name", sorted(RANKED_BY_SEED))
def test_neighbours_that_tie_are_ranked_by_the_seed(name):
    found = [tuple(score(zoo.complete(3), name, seed)) for seed in range(60)]
    counts = [found.count(one) for one in ((1, 1, 0), (1, 0, 1), (0, 1, 1))]
    assert sum(counts) == 60
    assert min(counts) > 8  # 20 on average


def test_scan_is_the_cosine_of_closed_neighbourhoods():
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])  # a triangle with a tail
    np.testing.assert_allclose(score(graph, "scan"), [1, 3 / 12**0.5, 3 / 12**0.5, 2 / 8**0.5], rtol=1e-9)


def by_networkit(graph: Graph) -> dict[str, np.ndarray]:
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    g, kit = baselines.to_networkit(graph), nk.sparsification
    triangles = kit.TriangleEdgeScore(g).run().scores()
    scores = {
        "local_degree_scores": kit.LocalDegreeScore(g).run().scores(),
        "local_similarity_scores": kit.LocalSimilarityScore(g, triangles).run().scores(),
        "triangle_counts": triangles,
    }
    return {name: np.asarray(values, float) for name, values in scores.items()}


NEIGHBOURHOODS = [*zoo.GRAPHS.values(), zoo.random_graph(40, 300, 9), zoo.random_graph(200, 700, 3)]


@pytest.mark.parametrize("graph", NEIGHBOURHOODS)
def test_scores_of_neighbourhoods_are_networkits(graph):
    for name, theirs in by_networkit(graph).items():
        ours = getattr(baselines, name)(graph)
        # Neighbours of equal degree stand in no particular order with NetworKit, once there are more than 16.
        if name != "local_degree_scores" or graph.degrees().max() <= 16:
            assert (ours == theirs).all(), name
        assert np.sort(ours) == pytest.approx(np.sort(theirs), abs=0.15)


@pytest.mark.parametrize("graph", [*NEIGHBOURHOODS, zoo.large(), zoo.complete(60), zoo.star(300)])
@pytest.mark.parametrize("name", ["local_degree_scores", "local_similarity_scores", "triangle_counts"])
def test_compiled_scores_are_those_of_whole_arrays(graph, name, monkeypatch):
    arrays = getattr(baselines, name)(graph)
    monkeypatch.setattr(baselines, "LARGE_GRAPH", 0)
    for threads in ("1", "3"):
        monkeypatch.setenv("GRAPHPRI_THREADS", threads)
        assert (getattr(baselines, name)(graph) == arrays).all()


def test_triangles_take_the_compiled_way_where_pairs_of_arcs_are_many(monkeypatch):
    graph = zoo.complete(30)
    assert (baselines.triangle_counts(graph) == 28).all()
    monkeypatch.setattr(baselines, "_WEDGES", 1)
    assert (baselines.triangle_counts(graph) == 28).all()


@pytest.mark.skipif(DATA is None, reason="GRAPHPRI_DATA does not name the folder of the data sets")
@pytest.mark.parametrize("name", ["graphs_large/facebook_combined.csv.gz", "graphs_large/as_caida_20071105.csv.gz"])
def test_scores_of_real_neighbourhoods_are_networkits(name, monkeypatch):
    ends = np.loadtxt(Path(str(DATA)) / name, delimiter=",", skiprows=1, usecols=(0, 1), dtype=int)
    _, inverse = np.unique(ends.T, return_inverse=True)
    u, v = inverse.reshape(2, -1)  # flat before NumPy 2
    graph = Graph.from_edges(u, v, parallel="first", loops="drop")
    theirs = by_networkit(graph)
    local_degree = baselines.local_degree_scores(graph)
    assert (local_degree != theirs["local_degree_scores"]).mean() < 0.3  # ties
    for name in ("triangle_counts", "local_similarity_scores"):
        assert (getattr(baselines, name)(graph) == theirs[name]).all()
    monkeypatch.setattr(baselines, "LARGE_GRAPH", 0)
    assert (baselines.local_degree_scores(graph) == local_degree).all()
    for name in ("triangle_counts", "local_similarity_scores"):
        assert (getattr(baselines, name)(graph) == theirs[name]).all()


def test_settling_rounds_to_33_binary_digits():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(10_000) * 10.0 ** rng.integers(-290, 290, 10_000)
    values[:6] = [0.0, -0.0, np.inf, -np.inf, 1 + 2.0**-33, 1 + 3 * 2.0**-33]
    mantissa, exponent = np.frexp(values)
    assert (baselines.settle(values) == np.ldexp(np.rint(mantissa * 2.0**33) / 2.0**33, exponent)).all()


@every_graph
@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.5, 1.0])
def test_exponent_gives_the_published_form(graph, exponent):
    near = neighbours(graph)
    number = {pair: m for m, pair in enumerate(pairs(graph))}
    kept = np.zeros(graph.n_edges, bool)
    ties = tie_keys(graph.n_nodes, np.random.default_rng(0))
    for u, around in enumerate(near):
        ranked = sorted(around, key=lambda v: (-len(near[v]), ties[v]))
        top = math.floor(len(around) ** exponent + 1e-9)
        kept[[number[min(u, v), max(u, v)] for v in ranked[:top]]] = True
    scores, free = score(graph, "local-degree", exponent=exponent), score(graph, "local-degree")
    assert ((scores == 1) == kept).all()
    assert (keep(graph, "local-degree", int(kept.sum()), exponent=exponent) == kept).all()
    order = np.argsort(free[~kept])
    assert (np.diff(scores[~kept][order]) >= 0).all()


@pytest.mark.parametrize("graph", [zoo.star(101), zoo.path(101)])
def test_star_and_path_keep_exactly_k_where_networkit_keeps_all(graph):
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    theirs = nk.sparsification.LocalDegreeSparsifier().getSparsifiedGraphOfSize(baselines.to_networkit(graph), 0.2)
    assert theirs.numberOfEdges() == 100
    for name in ("local-degree", "local-similarity"):
        assert keep(graph, name, 20).sum() == 20


@every_graph
def test_jaccard_triangles_and_cosine_by_brute_force(graph):
    near = neighbours(graph)
    common = np.array([len(near[u] & near[v]) for u, v in pairs(graph)])
    union = np.array([len(near[u] | near[v]) for u, v in pairs(graph)])
    closed = [len((near[u] | {u}) & (near[v] | {v})) / math.sqrt((len(near[u]) + 1) * (len(near[v]) + 1))
              for u, v in pairs(graph)]  # fmt: skip
    assert (score(graph, "triangles") == common).all()
    np.testing.assert_allclose(score(graph, "jaccard"), common / union, rtol=1e-12)
    np.testing.assert_allclose(score(graph, "scan"), closed, rtol=1e-9)


def test_jaccard_of_networkx():
    import networkx as nx

    graph = zoo.GRAPHS["random"]
    theirs = [j for _, _, j in nx.jaccard_coefficient(zoo.to_networkx(graph), pairs(graph))]
    np.testing.assert_allclose(score(graph, "jaccard"), theirs, rtol=1e-12)


def quadrangles(graph: Graph) -> np.ndarray:
    near = neighbours(graph)
    return np.array([sum(len((near[x] & near[v]) - {u}) for x in near[u] - {v}) for u, v in pairs(graph)])


@every_graph
@pytest.mark.parametrize("shape", ["triadic", "quadrilateral"])
def test_simmelian_by_brute_force(graph, shape):
    near, number = neighbours(graph), {}
    for m, (u, v) in enumerate(pairs(graph)):
        number[u, v] = number[v, u] = m
    strength = score(graph, "triangles")
    if shape == "quadrilateral":
        strength = quadrangles(graph).astype(float)
        at = np.bincount(graph.source, strength, graph.n_nodes) + np.bincount(graph.target, strength, graph.n_nodes)
        scale = np.sqrt(at[graph.source] * at[graph.target])
        strength = np.divide(strength, scale, out=np.zeros_like(strength), where=scale > 0)

    def place(u: int, x: int) -> int:
        return sum(strength[number[u, y]] > strength[number[u, x]] + 1e-12 for y in near[u])

    expected = []
    for u, v in pairs(graph):
        best = 0.0
        for r in range(max(len(near[u]), len(near[v]))):
            one = {x for x in near[u] - {v} if place(u, x) <= r}
            two = {x for x in near[v] - {u} if place(v, x) <= r}
            best = max(best, len(one & two) / max(1, len(one | two)))
        expected.append(best)
    np.testing.assert_allclose(score(graph, "simmelian", shape=shape), expected, atol=1e-12)


# --- paths, fires, smoothing ------------------------------------------------------------------------------


@every_graph
def test_edge_betweenness_of_networkx(graph):
    import networkx as nx

    theirs = nx.edge_betweenness_centrality(nx.Graph(pairs(graph)), normalized=False)
    theirs = {frozenset(pair): value for pair, value in theirs.items()}
    expected = [theirs[frozenset(pair)] for pair in pairs(graph)]
    np.testing.assert_allclose(score(graph, "edge-betweenness"), expected, rtol=1e-9)


def test_edge_betweenness_of_networkit():
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    graph = zoo.random_graph(200, 900, 3)
    theirs = nk.centrality.Betweenness(baselines.to_networkit(graph), computeEdgeCentrality=True).run()
    np.testing.assert_allclose(2 * score(graph, "edge-betweenness"), theirs.edgeScores(), rtol=1e-9)


def test_equivalent_edges_tie_in_betweenness():
    ids = np.arange(49).reshape(7, 7)
    right, down = np.roll(ids, -1, axis=1), np.roll(ids, -1, axis=0)
    torus = Graph.from_edges(np.tile(ids.ravel(), 2), np.concatenate([right.ravel(), down.ravel()]))
    assert len(set(score(torus, "edge-betweenness"))) == 1


def test_pivots_estimate_the_betweenness():
    graph = zoo.random_graph(60, 200, 3)
    exact = score(graph, "edge-betweenness")
    assert (score(graph, "edge-betweenness", pivots=60) == exact).all()
    draws = np.array([score(graph, "edge-betweenness", seed, pivots=20) for seed in range(60)])
    standard = draws.std(axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(draws.mean(axis=0) - exact) <= 5 * standard).all()
    assert (draws[0] != draws[1]).any()


def test_large_graphs_use_pivots(monkeypatch):
    graph = zoo.random_graph(60, 200, 3)
    monkeypatch.setattr(baselines, "_EXACT_WORK", 60 * 200 - 1)
    monkeypatch.setattr(baselines, "_PIVOTS", 7)
    assert (score(graph, "edge-betweenness", 1) == score(graph, "edge-betweenness", 1, pivots=7)).all()


def test_betweenness_stands_more_paths_than_floats_can_count():
    base = 3 * np.arange(1100)
    u = np.concatenate([base, base, base + 1, base + 2])
    v = np.concatenate([base + 1, base + 2, base + 3, base + 3])
    graph = Graph.from_edges(u, v)  # diamonds in a row: 2¹¹⁰⁰ shortest paths from end to end
    values = score(graph, "edge-betweenness", 5, pivots=3)
    pivots = np.random.default_rng(5).choice(graph.n_nodes, 3, replace=False)
    hops = dijkstra(graph.adjacency(), indices=pivots).sum()
    assert values.sum() == pytest.approx(hops * graph.n_nodes / 6, rel=1e-9)  # a path of h hops uses h edges


def test_fires_burn_trees():
    graph = zoo.GRAPHS["two_cliques"]
    arcs = baselines._arcs(graph)
    starts = np.random.default_rng(0).integers(0, 10, 200)
    fire, edge = baselines._burn(arcs, baselines.Reach.of(graph), starts, 0.6, np.random.default_rng(1))
    for i in range(200):
        burnt = edge[fire == i]
        mask = np.isin(np.arange(graph.n_edges), burnt)
        assert mask.sum() == burnt.size
        _, member = graph.components(mask)
        touched = {int(starts[i]), *graph.source[mask].tolist(), *graph.target[mask].tolist()}
        assert len(touched) == burnt.size + 1
        assert len({int(member[x]) for x in touched}) == 1


def test_a_fire_spreads_to_a_geometric_number_of_neighbours():
    n, fires = 400, 3000
    arcs, wood = baselines._arcs(zoo.star(n)), baselines.Reach.of(zoo.star(n))
    fire, edge = baselines._burn(arcs, wood, np.zeros(fires, np.int64), 0.6, np.random.default_rng(1))
    burnt = np.bincount(fire, minlength=fires)
    expected = fires * np.append(0.4 * 0.6 ** np.arange(8), 0.6**8)
    observed = np.bincount(np.minimum(burnt, 8), minlength=9)
    assert chi2.sf(((observed - expected) ** 2 / expected).sum(), 8) > 1e-4
    per_edge = np.bincount(edge, minlength=n - 1)
    assert chi2.sf(((per_edge - per_edge.mean()) ** 2 / per_edge.mean()).sum(), n - 2) > 1e-4


def test_fires_on_many_small_components_need_no_room_for_all_nodes():
    m = 50_000
    graph = Graph.from_edges(2 * np.arange(m), 2 * np.arange(m) + 1)
    start = time.process_time()
    burnt = score(graph, "forest-fire")
    assert time.process_time() - start < 5
    assert burnt.sum() == 5 * m
    assert burnt.var() == pytest.approx(burnt.mean(), rel=0.05)


def test_forest_fire_burns_edges_as_networkit_does():
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    graph = zoo.two_cliques(7)
    g = baselines.to_networkit(graph)
    nk.setSeed(1, True)
    theirs = np.array(nk.sparsification.ForestFireScore(g, 0.6, 2000.0).run().scores())
    ours = score(graph, "forest-fire", burnt_ratio=2000.0)
    bridge = (graph.source < 7) & (graph.target >= 7)
    gate = ((graph.source == 6) | (graph.target == 6) | (graph.source == 7) | (graph.target == 7)) & ~bridge
    for alike in (gate, ~gate & ~bridge):
        assert ours[alike].std() < 0.05 * ours[alike].mean()
        assert ours[alike].mean() / ours.mean() == pytest.approx(theirs[alike].mean() / theirs.mean(), rel=0.1)
    assert ours[bridge] / ours.mean() == pytest.approx(theirs[bridge] / theirs.mean(), rel=0.25)


@pytest.mark.parametrize("ratio", [0.5, 5.0, 40.0])
def test_forest_fire_burns_as_much_as_asked(ratio):
    for graph in (zoo.GRAPHS["random"], zoo.GRAPHS["isolated_node"], zoo.path(300)):
        burnt = score(graph, "forest-fire", burnt_ratio=ratio).sum()
        assert ratio * graph.n_edges <= burnt < ratio * graph.n_edges + graph.n_nodes


def test_algebraic_distance_is_that_of_the_smoothed_vectors():
    graph = zoo.GRAPHS["weighted"]
    x = np.random.default_rng(4).random((graph.n_nodes, 10))
    a = graph.adjacency().toarray()
    step = np.linalg.matrix_power((np.eye(graph.n_nodes) + a / a.sum(axis=1, keepdims=True)) / 2, 30)
    x = step @ x
    expected = -np.abs(x[graph.source] - x[graph.target]).max(axis=1)
    np.testing.assert_allclose(score(graph, "algebraic-distance", 4), expected, atol=1e-11)


def test_algebraic_distance_drops_the_bridge_between_cliques_first():
    graph = zoo.two_cliques(6)
    bridge = (graph.source < 6) & (graph.target >= 6)
    assert not keep(graph, "algebraic-distance", graph.n_edges - 1)[bridge].any()


# --- weights ----------------------------------------------------------------------------------------------


def test_weight_keeps_the_heaviest():
    graph = zoo.GRAPHS["weights_wide"]
    mask = keep(graph, "weight", 10)
    assert graph.weights[mask].min() > graph.weights[~mask].max()


@pytest.mark.parametrize("graph", zoo.WEIGHTED.values(), ids=zoo.WEIGHTED.keys())
def test_spanning_forest_is_the_heaviest_one_and_comes_first(graph):
    import networkx as nx

    size = graph.n_nodes - graph.components()[0]
    forest = keep(graph, "spanning-forest", size)
    assert graph.components(forest)[0] == graph.components()[0]
    theirs = nx.maximum_spanning_tree(zoo.to_networkx(graph)).size(weight="weight")
    assert graph.weights[forest].sum() == pytest.approx(theirs)
    for k in range(1, graph.n_edges + 1):
        mask = keep(graph, "spanning-forest", k)
        inside, outside = (mask, forest & ~mask) if k <= size else (mask & ~forest, ~mask)
        assert (mask <= forest).all() if k <= size else (forest <= mask).all()
        assert graph.weights[inside].min(initial=np.inf) >= graph.weights[outside].max(initial=0)


def test_disparity_by_hand():
    # node 0 has strength 10 and degree 4; node 1 strength 3 and degree 2; the others have degree 1 or 2
    graph = Graph.from_edges([0, 0, 0, 0, 1], [1, 2, 3, 4, 2], [1.0, 2.0, 3.0, 4.0, 2.0])
    alpha = [
        min((1 - 1 / 10) ** 3, (1 - 1 / 3) ** 1),
        min((1 - 2 / 10) ** 3, (1 - 2 / 4) ** 1),
        (1 - 3 / 10) ** 3,
        (1 - 4 / 10) ** 3,
        min((1 - 2 / 3) ** 1, (1 - 2 / 4) ** 1),
    ]
    np.testing.assert_allclose(np.exp(-score(graph, "disparity")), alpha, rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_disparity_is_the_tail_of_the_published_null_model(seed):
    from scipy.integrate import quad

    graph = zoo.random_graph(8, 18, seed, weighted=True)
    degree, strength = graph.degrees(), graph.strengths()
    alpha = np.ones(18)
    for m, ends in enumerate(pairs(graph)):
        for i in ends:
            if degree[i] > 1:
                p, d = graph.weights[m] / strength[i], int(degree[i])
                alpha[m] = min(alpha[m], 1 - (d - 1) * quad(lambda x, d=d: (1 - x) ** (d - 2), 0, p)[0])
    np.testing.assert_allclose(np.exp(-score(graph, "disparity")), alpha, rtol=1e-7)


def test_disparity_on_unweighted_graphs_ranks_by_the_larger_degree():
    graph = zoo.GRAPHS["random"]
    degree = graph.degrees()
    larger = np.maximum(degree[graph.source], degree[graph.target])
    expected = (larger - 1) * np.log(larger / (larger - 1))
    np.testing.assert_allclose(score(graph, "disparity"), expected, rtol=1e-9)
    assert (np.diff(expected[np.argsort(larger)]) >= 0).all()


def test_methods_that_go_by_weights_ask_which_they_are():
    calls = nx.karate_club_graph()
    for _, _, data in calls.edges(data=True):
        data["calls"] = data.pop("weight")
    needing = {name for name in METHODS if find(name).needs_weights}
    assert {"weight", "disparity", "noise-corrected", "marginal-likelihood", "metric"} <= needing
    assert "local-degree" not in needing
    for name in METHODS:
        if name not in needing:
            continue
        with pytest.raises(OptionError, match=rf"'{name}' needs weights, .*weight=\"calls\", or weight=None"):
            graphpri.sparsify(calls, 20, method=name)
        assert graphpri.sparsify(calls, 20, method=name, weight=None).kept.n_edges == 20
        assert graphpri.sparsify(calls, 20, method=name, weight="calls").kept.is_weighted
    table = graphpri.compare(calls, ["random", "disparity"], 20)
    assert [row["K"] for row in table] == [20, None]
    assert graphpri.sparsify(nx.path_graph(5), 2, method="weight").kept.n_edges == 2  # nothing that could be weights


def test_disparity_tells_hub_edges_apart_whose_significance_rounds_to_one():
    graph = zoo.reweighted(zoo.star(402), np.concatenate([np.ones(398), [200.0, 210.0, 220.0]]))
    scores = score(graph, "disparity")
    assert (1 - np.exp(-scores[-3:]) == 1).all()
    assert scores[-3] < scores[-2] < scores[-1]


@pytest.mark.parametrize("graph", [zoo.GRAPHS["weighted"], zoo.GRAPHS["random"], zoo.GRAPHS["labelled"]])
def test_noise_corrected_is_lift_over_its_deviation(graph):
    total, strength = 2 * graph.weights.sum(), graph.strengths()
    expected = []
    for m, (u, v) in enumerate(pairs(graph)):
        w, a, b = graph.weights[m], strength[u], strength[v]

        def lift(h: float, w: float = w, a: float = a, b: float = b) -> float:
            kappa = (total + h) / ((a + h) * (b + h))
            return (kappa * (w + h) - 1) / (kappa * (w + h) + 1)

        mean = a * b / total**2
        variance = a * b * (total - a) * (total - b) / (total**4 * (total - 1))
        both = mean * (1 - mean) / variance - 1
        chance = (mean * both + w) / (both + total)
        h = 1e-6 * w
        slope = (lift(h) - lift(-h)) / (2 * h)
        expected.append(lift(0) / (math.sqrt(total * chance * (1 - chance)) * abs(slope)))
    np.testing.assert_allclose(score(graph, "noise-corrected"), expected, rtol=1e-5)


# --- resistances ------------------------------------------------------------------------------------------


def test_effective_resistance_keeps_bridges_first():
    graph = zoo.two_cliques(6)
    bridge = (graph.source < 6) & (graph.target >= 6)
    assert keep(graph, "effective-resistance", 1)[bridge].all()
    scores = score(graph, "effective-resistance")
    assert scores[bridge] == pytest.approx(1)
    assert len(set(scores[~bridge])) == 1  # all other edges are alike: ties, whatever the rounding


SAMPLED = zoo.reweighted(Graph.from_edges([0, 0, 1, 1, 2, 3], [1, 2, 2, 3, 3, 4]), [1.0, 2.0, 3.0, 0.5, 1.5, 0.2])


@pytest.fixture
def known_leverage(monkeypatch):
    """Compute the leverages of SAMPLED once, not in each of thousands of runs."""
    values = leverages(SAMPLED)
    monkeypatch.setattr(baselines, "leverages", lambda graph, **_: values if graph is SAMPLED else leverages(graph))


def sampled(runs: int, k: int, **constraints) -> np.ndarray:
    """Weights of the kept graph, 0 for dropped edges, shape (runs, M)."""
    result = np.zeros((runs, SAMPLED.n_edges))
    for seed, row in enumerate(result):
        mask, scored = run(SAMPLED, "effective-resistance-sampling", k, np.random.default_rng(seed), **constraints)
        row[mask] = scored.weights[mask]
    return result


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.usefixtures("known_leverage")
def test_sampling_keeps_the_mean_of_the_laplacian(k):
    w = sampled(4000, k)
    assert ((w > 0).sum(axis=1) == k).all()
    standard = w.std(axis=0, ddof=1) / np.sqrt(len(w))
    assert (np.abs(w.mean(axis=0) - SAMPLED.weights) <= 4.5 * standard).all()


@pytest.mark.usefixtures("known_leverage")
def test_sampling_with_protected_and_forbidden_edges_keeps_the_mean_of_the_rest():
    protect, forbid = np.zeros((2, 6), bool)
    protect[2], forbid[4] = True, True
    w = sampled(4000, 3, protect=protect, forbid=forbid)
    assert (w[:, 2] == SAMPLED.weights[2]).all()
    assert (w[:, 4] == 0).all()
    rest = ~(protect | forbid)
    standard = w.std(axis=0, ddof=1)[rest] / np.sqrt(len(w))
    assert (np.abs(w.mean(axis=0) - SAMPLED.weights)[rest] <= 4.5 * standard).all()


@pytest.mark.usefixtures("known_leverage")
def test_sampling_draws_sets_in_proportion_to_leverage():
    leverage = score(SAMPLED, "effective-resistance")
    p = leverage / leverage.sum()
    sets = list(combinations(range(6), 2))
    chance = np.array([p[a] * p[b] / (1 - p[a]) + p[b] * p[a] / (1 - p[b]) for a, b in sets])
    assert chance.sum() == pytest.approx(1)
    drawn = [tuple(np.flatnonzero(row).tolist()) for row in sampled(4000, 2)]
    observed = np.array([drawn.count(s) for s in sets])
    assert chi2.sf(((observed - 4000 * chance) ** 2 / (4000 * chance)).sum(), len(sets) - 1) > 1e-4


@pytest.mark.usefixtures("known_leverage")
def test_sampled_weights_have_the_law_of_draws_with_replacement():
    leverage = score(SAMPLED, "effective-resistance")
    p, k = leverage / leverage.sum(), 3
    rng = np.random.default_rng(0)
    literal = np.zeros((4000, 6))
    for row in literal:
        while True:
            m = rng.choice(6, p=p)
            if row[m] == 0 and np.count_nonzero(row) == k:
                break
            row[m] += 1
        row *= SAMPLED.weights / (row.sum() * p)
    ours = sampled(4000, k)
    for moment in (1, 2):
        gap = (ours**moment).mean(axis=0) - (literal**moment).mean(axis=0)
        noise = np.sqrt(((ours**moment).var(axis=0) + (literal**moment).var(axis=0)) / 4000)
        assert (np.abs(gap) <= 4.5 * noise).all()


def test_sampling_everything_leaves_the_graph_as_it_is():
    assert (sampled(5, 6) == SAMPLED.weights).all()
    protect = np.ones(6, bool)
    protect[0] = False
    assert (sampled(5, 5, protect=protect)[:, protect] == SAMPLED.weights[protect]).all()


def test_sampling_with_connectivity_gives_undrawn_edges_their_own_weight():
    graph = zoo.GRAPHS["weights_wide"]
    for seed in range(20):
        mask, scored = run(graph, "effective-resistance-sampling", 11, np.random.default_rng(seed), connected=True)
        assert graph.components(mask)[0] == 1
        undrawn = np.argsort(-scored.scores)[11:]
        assert (scored.weights[undrawn] == graph.weights[undrawn]).all()


# --- backbones and tests ----------------------------------------------------------------------------------


def as_networkx(graph: Graph) -> nx.Graph:
    g = nx.Graph()
    g.add_nodes_from(range(graph.n_nodes))
    g.add_weighted_edges_from(zip(*map(np.ndarray.tolist, (graph.source, graph.target, graph.weights)), strict=True))
    for _, _, edge in g.edges(data=True):
        edge["length"] = 1 / edge["weight"]
    return g


any_weighted = given(st.integers(0, 10_000), st.integers(2, 14), st.booleans())


def weighted_graph(seed: int, n: int, whole_weights: bool) -> Graph:
    rng = np.random.default_rng(seed)
    graph = zoo.random_graph(n, int(rng.integers(1, n * (n - 1) // 2 + 1)), seed)
    weights = rng.integers(1, 5, graph.n_edges) if whole_weights else rng.uniform(0.1, 5, graph.n_edges)
    return zoo.reweighted(graph, weights.astype(float))


@settings(max_examples=25, deadline=None)
@any_weighted
def test_salience_counts_the_shortest_paths_of_networkx(seed, n, whole_weights):
    graph = weighted_graph(seed, n, whole_weights)
    g, counts = as_networkx(graph), dict.fromkeys(map(frozenset, pairs(graph)), 0)
    for root in g:
        for node, before in nx.dijkstra_predecessor_and_distance(g, root, weight="length")[0].items():
            for previous in before:
                counts[frozenset((node, previous))] += 1
    roots = np.count_nonzero(graph.degrees())
    expected = np.array([counts[frozenset(pair)] for pair in pairs(graph)]) / roots
    np.testing.assert_allclose(score(graph, "high-salience"), expected, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@any_weighted
def test_the_metric_backbone_has_all_distances_and_detours_are_ranked_by_them(seed, n, whole_weights):
    graph = weighted_graph(seed, n, whole_weights)
    g, scores = as_networkx(graph), score(graph, "metric")
    ratio = [nx.dijkstra_path_length(g, u, v, "length") * g[u][v]["weight"] for u, v in pairs(graph)]
    is_metric = np.array(ratio) > 1 - 1e-9
    assert ((scores >= 1) == is_metric).all()
    np.testing.assert_allclose(scores[~is_metric], np.array(ratio)[~is_metric], rtol=1e-9)
    kept = as_networkx(graph.select(scores >= 1))
    for node, distances in nx.all_pairs_dijkstra_path_length(g, weight="length"):
        assert nx.single_source_dijkstra_path_length(kept, node, weight="length") == pytest.approx(distances)


@settings(max_examples=25, deadline=None)
@any_weighted
def test_the_ultrametric_backbone_is_the_union_of_maximum_spanning_forests(seed, n, whole_weights):
    graph = weighted_graph(seed, n, whole_weights)
    best = np.zeros((n, n))  # the least weight on the best way, as Floyd and Warshall find it
    best[graph.source, graph.target] = best[graph.target, graph.source] = graph.weights
    for via in range(n):
        best = np.maximum(best, np.minimum(best[:, [via]], best[[via]]))
    ratio = graph.weights / best[graph.source, graph.target]
    scores = score(graph, "ultrametric")
    assert ((scores >= 1) == (ratio == 1)).all()
    np.testing.assert_allclose(scores[ratio < 1], ratio[ratio < 1], rtol=1e-9)
    assert (scores >= 1).sum() >= n - graph.components()[0]
    assert ((score(graph, "metric") >= 1) >= (scores >= 1)).all()


@pytest.mark.parametrize("name", ["metric", "ultrametric"])
def test_without_a_budget_a_backbone_is_the_method_s_own_and_constraints_add_to_it(name):
    graph = weighted_graph(3, 12, False)
    rng, none = np.random.default_rng(0), np.zeros(graph.n_edges, bool)
    mask, scored = run(graph, name, None, rng)
    assert (mask == (scored.scores >= 1)).all()
    protect, forbid = none.copy(), none.copy()
    protect[np.flatnonzero(~mask)[0]] = forbid[np.flatnonzero(mask)[0]] = True
    held = run(graph, name, None, rng, protect=protect, forbid=forbid)[0]
    assert (held == ((mask | protect) & ~forbid)).all()
    result = graphpri.sparsify(graph, method=name)
    assert (result.mask == mask).all()
    assert result.status == f"kept the {name} backbone"


@pytest.mark.parametrize("trials", [50, 100_000])
def test_marginal_likelihood_is_the_tail_of_the_binomial_distribution(trials):
    rng = np.random.default_rng(0)
    graph = zoo.random_graph(12, 40, 1)
    graph = zoo.reweighted(graph, rng.multinomial(trials - 40, rng.dirichlet(np.full(40, 0.2))) + 1.0)
    strength = graph.strengths()
    chance = strength[graph.source] * strength[graph.target] / (2 * trials**2)
    expected = [
        -logsumexp(binom.logpmf(np.arange(w, trials + 1), trials, p))
        for w, p in zip(graph.weights, chance, strict=True)
    ]
    np.testing.assert_allclose(score(graph, "marginal-likelihood"), expected, rtol=1e-7, atol=1e-9)
    assert max(expected) > 700 or trials == 50  # beyond the smallest numbers of float64


def test_disparity_noise_and_likelihood_keep_what_their_tests_say():
    graph = zoo.reweighted(zoo.random_graph(30, 150, 2), np.random.default_rng(3).pareto(1.2, 150).round() + 1)
    for name, p in (
        ("disparity", np.exp(-score(graph, "disparity"))),
        ("noise-corrected", norm.sf(score(graph, "noise-corrected"))),
        ("marginal-likelihood", np.exp(-score(graph, "marginal-likelihood"))),
    ):
        for level in (0.05, 0.3):
            result = graphpri.sparsify(graph, method=name, significance=level)
            assert (result.mask == (p <= level)).all()
            np.testing.assert_allclose(result.p_values, p, rtol=1e-9)
        budget = graphpri.sparsify(graph, keep=20, method=name)
        assert budget.p_values[budget.mask].max() <= budget.p_values[~budget.mask].min()
        sizes = [
            graphpri.sparsify(graph, method=name, significance=0.5, correction=correction, protect=[0]).mask.sum()
            for correction in ("bonferroni", "holm", "fdr", None)
        ]
        assert sizes == sorted(sizes)


def test_corrections_are_those_of_the_textbooks():
    p = np.array([0.01, 0.04, 0.03, 0.005])  # as R's p.adjust has them
    assert baselines.corrected(p, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert baselines.corrected(p, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert baselines.corrected(p, "fdr") == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_tests_beside_a_budget_and_budgets_that_are_missing_are_refused():
    graph = zoo.reweighted(zoo.random_graph(12, 30, 4), np.linspace(1, 9, 30))
    for options, message in (
        ({"keep": 5, "method": "disparity", "significance": 0.05}, "pass one of them"),
        ({"method": "disparity"}, "needs a budget: pass keep=, .*or significance="),
        ({"method": "jaccard"}, "needs a budget: pass keep="),
        ({"method": "jaccard", "significance": 0.05}, "significance is for method 'disparity'"),
        ({"method": "disparity", "significance": 2.0}, "significance=2.0 must be"),
        ({"method": "disparity", "significance": 0.1, "correction": "sidak"}, "correction='sidak': choose from 'holm'"),
        ({"method": "disparity", "correction": "holm"}, "needs significance"),
        ({"method": "disparity", "significance": 1e-9}, "no edge is significant, the least p-value is"),
    ):
        with pytest.raises(OptionError, match=message):
            graphpri.sparsify(graph, **options)


# --- real graphs ------------------------------------------------------------------------------------------


def real(name: str) -> Graph:
    folder = Path(str(DATA)) / name
    file = folder / "edges.csv" if folder.is_dir() else folder.with_suffix(".csv")
    table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=float, ndmin=2)
    _, inverse = np.unique(table[:, :2].T, return_inverse=True)
    u, v = inverse.reshape(2, -1)  # flat before NumPy 2
    return Graph.from_edges(u, v, table[:, 2] if table.shape[1] > 2 else None)


@pytest.mark.skipif(DATA is None, reason="GRAPHPRI_DATA does not name the folder of the data sets")
@pytest.mark.parametrize("data", ["karate", "jazz", "graphs_small/us_airports500_weighted"])
@every_method
def test_real_graphs_keep_exactly_the_share_asked_for(data, name):
    graph = real(data)
    for share in (0.2, 0.5, 0.8):
        k = round(share * graph.n_edges)
        assert keep(graph, name, k).sum() == k


def test_the_method_that_networkit_does_names_the_extra_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkit", None)
    graph = zoo.random_graph(12, 30, 1)
    for name in METHODS:
        if name != "simmelian":
            assert graphpri.sparsify(graph, keep=10, method=name).mask.sum() == 10
    with pytest.raises(graphpri.MissingExtraError, match=r"pip install 'graphpri\[networkit\]'"):
        graphpri.sparsify(graph, keep=10, method="simmelian")
