"""Laws of effective resistance and of Laplacian systems, against closed forms, exact fractions and dense oracles."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import zoo
from graphpri import _laplacian, datasets
from graphpri._laplacian import leverages
from graphpri.errors import GraphError, OptionError
from graphpri.graph import Graph

DATA = os.environ.get("GRAPHPRI_DATA")
every_graph = pytest.mark.parametrize("graph", zoo.ALL.values(), ids=zoo.ALL.keys())


def rank_of(graph: Graph) -> int:
    return graph.n_nodes - graph.components()[0]


def effective_resistance(graph: Graph, **options: Any) -> np.ndarray:
    """Of each edge, from its leverage μ R."""
    return leverages(graph, **options) / graph.weights


def centred(x: np.ndarray, graph: Graph) -> np.ndarray:
    """Columns less their means over each component."""
    count, member = graph.components()
    sums = np.zeros((count, x.shape[1]))
    np.add.at(sums, member, x)
    return x - (sums / np.bincount(member, minlength=count)[:, None])[member]


def solution(graph: Graph, b: np.ndarray) -> np.ndarray:
    """L⁺ b by the systems of the components, shape (N, k)."""
    count, member = graph.components()
    scale, x = _laplacian.component_scales(graph, count, member), np.zeros_like(b)
    right = centred(b, graph) / scale[member, None]
    for part in _laplacian.split(graph, member, scale, np.where(np.bincount(member, minlength=count) > 1, 0, -1)):
        x[part.nodes] = _laplacian.System(part).solve(right[part.nodes], 1e-10)
    return centred(x, graph)


def by_dense_inverse(graph: Graph) -> np.ndarray:
    p = np.linalg.pinv(graph.laplacian().toarray(), rcond=1e-13, hermitian=True)
    u, v = graph.source, graph.target
    return p[u, u] + p[v, v] - 2 * p[u, v]


def by_fractions(graph: Graph) -> np.ndarray:
    """Resistances by Gaussian elimination without rounding, the last node grounded."""
    n = graph.n_nodes - 1
    a = [[Fraction(0)] * (n + 1) + [Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    for u, v, w in zip(*(x.tolist() for x in (graph.source, graph.target, graph.weights)), strict=True):
        w = Fraction(w)
        a[u][u] += w
        if v < n:
            a[v][v], a[u][v], a[v][u] = a[v][v] + w, a[u][v] - w, a[v][u] - w
    for i in range(n):
        a[i] = [x / a[i][i] for x in a[i]]
        for j in range(n):
            if j != i and a[j][i]:
                a[j] = [x - a[j][i] * y for x, y in zip(a[j], a[i], strict=True)]
    g = [[*row[n + 1 :], Fraction(0)] for row in a] + [[Fraction(0)] * (n + 1)]
    return np.array([float(g[u][u] + g[v][v] - 2 * g[u][v]) for u, v in zip(graph.source, graph.target, strict=True)])


@every_graph
def test_leverages_add_up_to_nodes_minus_components(graph):
    values = leverages(graph)
    assert values.shape == (graph.n_edges,)
    assert values.sum() == pytest.approx(rank_of(graph), abs=1e-10)
    assert (values > 0).all()
    assert (values <= 1).all()


@every_graph
def test_resistances_equal_those_of_the_dense_pseudo_inverse(graph):
    if graph.n_edges:
        np.testing.assert_allclose(effective_resistance(graph), by_dense_inverse(graph), rtol=1e-7)


@pytest.mark.parametrize("n", [3, 4, 9, 40])
def test_closed_forms_of_ring_complete_and_bipartite_graphs(n):
    np.testing.assert_allclose(leverages(zoo.ring(n)), (n - 1) / n, rtol=1e-12)
    np.testing.assert_allclose(leverages(zoo.complete(n)), 2 / n, rtol=1e-12)
    pairs = np.array([(i, 5 + j) for i in range(5) for j in range(n)])
    np.testing.assert_allclose(leverages(Graph.from_edges(*pairs.T)), (4 + n) / (5 * n), rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=12))
def test_series_and_parallel_law_on_a_weighted_ring(weights):
    graph = zoo.reweighted(zoo.ring(len(weights)), weights)
    own = 1 / graph.weights
    others = np.array([np.delete(own, m).sum() for m in range(own.size)])
    np.testing.assert_allclose(effective_resistance(graph), 1 / (1 / own + 1 / others), rtol=1e-9)


@pytest.mark.parametrize("graph", [zoo.path(30), zoo.star(30), zoo.GRAPHS["weighted_tree"]])
def test_bridges_have_leverage_one(graph):
    assert (leverages(graph) == 1).all()
    assert (effective_resistance(graph) == 1 / graph.weights).all()


def test_bridge_between_cycles_has_leverage_one():
    graph = zoo.two_cliques(20)
    bridge = (graph.source < 20) & (graph.target >= 20)
    np.testing.assert_allclose(leverages(graph)[bridge], 1, rtol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_a_new_edge_lowers_every_resistance(seed):
    graph = zoo.random_graph(12, 30, seed, weighted=True)
    mask = np.ones(30, bool)
    mask[seed % 30] = False
    fewer = graph.select(mask)
    assert (effective_resistance(graph)[mask] <= effective_resistance(fewer) * (1 + 1e-9)).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_relabelling_permutes_the_resistances(seed):
    graph = zoo.random_graph(15, 40, seed, weighted=True)
    new = np.random.default_rng(seed).permutation(15)
    other = Graph.from_edges(new[graph.source], new[graph.target], graph.weights, n_nodes=15)
    place = {frozenset(pair): m for m, pair in enumerate(zip(other.source, other.target, strict=True))}
    mine = [place[frozenset((new[u], new[v]))] for u, v in zip(graph.source, graph.target, strict=True)]
    np.testing.assert_allclose(effective_resistance(other)[mine], effective_resistance(graph), rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1e9, 1e300])
def test_the_unit_of_the_weights_cancels(unit):
    graph = zoo.GRAPHS["weighted"]
    scaled = zoo.reweighted(graph, graph.weights * unit)
    np.testing.assert_allclose(leverages(scaled), leverages(graph), rtol=1e-10)
    np.testing.assert_allclose(effective_resistance(scaled) * unit, effective_resistance(graph), rtol=1e-10)


@pytest.mark.parametrize("spread", [2.0, 6.0, 8.0, 16.0, 60.0])
def test_weights_far_apart_lose_no_digits(spread):
    graph = zoo.random_graph(14, 35, 5, weighted=True, spread=spread)
    np.testing.assert_allclose(effective_resistance(graph), by_fractions(graph), rtol=1e-9)


def test_the_smallest_beside_the_largest_weight():
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [1e300, 1e-300, 1e300])
    np.testing.assert_allclose(leverages(graph), [1, 0, 1], rtol=1e-12)  # 2e-600 is below the smallest number
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [1e300, 1e-300, 1e-300])
    np.testing.assert_allclose(leverages(graph), [1, 0.5, 0.5], rtol=1e-12)


@pytest.mark.parametrize("tie", [1e-3, 1e-8, 1e-12, 1e-40])
def test_loosely_tied_cliques_keep_their_own_resistances(tie):
    clique = zoo.complete(12)
    u = np.concatenate([clique.source, clique.source + 12, [0, 1, 2]])
    v = np.concatenate([clique.target, clique.target + 12, [12, 13, 14]])
    graph = Graph.from_edges(u, v, np.concatenate([np.ones(2 * clique.n_edges), np.full(3, tie)]))
    inside = graph.weights == 1
    np.testing.assert_allclose(leverages(graph)[~inside], 1 / 3, rtol=2 * tie + 1e-9)
    np.testing.assert_allclose(leverages(graph)[inside], 1 / 6, rtol=2 * tie + 1e-9)


def test_a_cluster_of_tiny_resistances_survives_what_joins_it_to_others():
    inside, outside = zoo.random_graph(5, 9, 1, weighted=True), zoo.random_graph(9, 25, 2, weighted=True)
    u, v = np.concatenate([inside.source, outside.source]), np.concatenate([inside.target, outside.target])
    weights = np.concatenate([inside.weights * 1e200, outside.weights])
    graph = Graph.from_edges(u, v, weights, parallel="first")
    np.testing.assert_allclose(effective_resistance(graph), by_fractions(graph), rtol=1e-9)


@pytest.mark.parametrize("tie", [1e-30, 1e-100, 1e-250])
def test_weights_too_far_apart_for_a_large_graph_are_refused(tie, monkeypatch):
    monkeypatch.setattr(_laplacian, "_MERGE_WORK", 0)
    cluster = zoo.random_graph(12, 50, 1, weighted=True)
    u = np.concatenate([cluster.source, cluster.source + 12, [0, 1, 2]])
    v = np.concatenate([cluster.target, cluster.target + 12, [12, 13, 14]])
    graph = Graph.from_edges(u, v, np.concatenate([cluster.weights, cluster.weights, np.full(3, tie)]))
    with pytest.raises(GraphError, match=r"component of 24 nodes lie a factor .* apart"):
        leverages(graph, resistance="exact")


def test_dense_and_sparse_edge_sets_use_the_same_numbers(monkeypatch):
    graph = zoo.random_graph(40, 500, 1, weighted=True)
    plain = _laplacian._squared_distances
    calls = []
    monkeypatch.setattr(_laplacian, "_squared_distances", lambda z, u, v: calls.append(u.size) or plain(z, u, v))
    through_gram = leverages(graph)
    assert calls == [0]
    np.testing.assert_allclose(through_gram / graph.weights, by_dense_inverse(graph), rtol=1e-9)


def test_components_are_solved_on_their_own():
    graphs = [zoo.complete(7), zoo.path(4), zoo.random_graph(600, 1500, 1), zoo.ring(5), zoo.complete(3)] * 2
    whole = leverages(zoo.disjoint(*graphs, isolated=3))
    np.testing.assert_allclose(whole, np.concatenate([leverages(g) for g in graphs]), rtol=1e-9)


def test_many_small_components():
    base = 3 * np.arange(3000)
    u, v = np.concatenate([base, base, base + 1]), np.concatenate([base + 1, base + 2, base + 2])
    np.testing.assert_allclose(leverages(Graph.from_edges(u, v)), 2 / 3, rtol=1e-12)


def test_exact_results_do_not_depend_on_threads():
    graph = zoo.random_graph(500, 40_000, 2, weighted=True)
    with threadpool_limits(1):
        one = leverages(graph, resistance="exact")
    with threadpool_limits(2):
        two = leverages(graph, resistance="exact")
    assert (one == two).all()


SKETCHED = {"random": zoo.random_graph(300, 1500, 1), "weighted": zoo.random_graph(200, 900, 2, weighted=True)}
SKETCHED |= {"grid": zoo.grid(12, 14), "disconnected": zoo.disjoint(zoo.complete(9), zoo.ring(8), isolated=2)}


@pytest.mark.parametrize("graph", SKETCHED.values(), ids=SKETCHED.keys())
def test_sketch_has_the_right_mean_before_the_bounds_cut_its_noise(graph, monkeypatch):
    exact = effective_resistance(graph, resistance="exact")
    monkeypatch.setattr(_laplacian, "_bounded", lambda part, r: r)
    draws = np.array([effective_resistance(graph, resistance="sketch", n_probes=24, rng=seed) for seed in range(60)])
    error, standard = draws.mean(axis=0) - exact, draws.std(axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(error) <= 5 * standard + 1e-9).all()
    assert abs((graph.weights * error).sum()) <= 0.01 * rank_of(graph)


@pytest.mark.parametrize("graph", SKETCHED.values(), ids=SKETCHED.keys())
def test_bounds_hold_and_bring_the_sketch_closer(graph, monkeypatch):
    exact = leverages(graph, resistance="exact")
    bounded = np.array([leverages(graph, resistance="sketch", n_probes=8, rng=seed) for seed in range(10)])
    assert (bounded <= 1).all()
    monkeypatch.setattr(_laplacian, "_bounded", lambda part, r: r)
    free = np.array([effective_resistance(graph, resistance="sketch", n_probes=8, rng=seed) for seed in range(10)])
    assert (np.abs(bounded - exact) <= np.abs(free * graph.weights - exact) + 1e-9).all()


def test_sketch_is_as_accurate_as_documented():
    for graph, documented in [
        (zoo.random_graph(250, 12_500, 1), 0.02),
        (zoo.random_graph(600, 3600, 1), 0.065),
        (zoo.grid(25, 25), 0.11),
    ]:
        ratio = leverages(graph, resistance="sketch", rng=0) / leverages(graph, resistance="exact")
        assert np.sqrt(np.mean((ratio - 1) ** 2)) < documented


def test_sketch_follows_the_seed_and_improves_with_probes():
    graph = SKETCHED["random"]
    exact = leverages(graph)
    one, again, other = (leverages(graph, resistance="sketch", rng=seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()
    many = leverages(graph, resistance="sketch", n_probes=1024, rng=1)
    assert np.abs(many / exact - 1).mean() < np.abs(one / exact - 1).mean() / 2.5


def test_sketch_is_the_same_by_iteration_and_by_factorisation(monkeypatch):
    graph = SKETCHED["grid"]
    iterated = leverages(graph, resistance="sketch", rng=3)
    monkeypatch.setattr(_laplacian, "_CG_STEPS", 1)
    np.testing.assert_allclose(leverages(graph, resistance="sketch", rng=3), iterated, rtol=1e-3)


@pytest.mark.parametrize("graph", [*SKETCHED.values(), zoo.random_graph(3000, 9000, 5)])
@pytest.mark.parametrize("n_probes", [3, 16])
def test_compiled_sketch_is_that_of_whole_arrays(graph, n_probes, monkeypatch):
    arrays = leverages(graph, resistance="sketch", n_probes=n_probes, rng=3)
    b = np.random.default_rng(0).standard_normal((graph.n_nodes, 3))
    solved = solution(graph, b)
    for module in (_laplacian, _laplacian):
        monkeypatch.setattr(module, "LARGE_GRAPH", 0)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("GRAPHPRI_THREADS", threads)
        results.append(leverages(graph, resistance="sketch", n_probes=n_probes, rng=3))
    assert (results[0] == results[1]).all()
    np.testing.assert_allclose(results[0], arrays, rtol=1e-7)
    np.testing.assert_allclose(solution(graph, b), solved, rtol=1e-6, atol=1e-7 * np.abs(solved).max())


def cube(size: int) -> Graph:
    """Cubic lattice."""
    ids = np.arange(size**3).reshape(size, size, size)
    u = np.concatenate([ids[:-1].ravel(), ids[:, :-1].ravel(), ids[:, :, :-1].ravel()])
    v = np.concatenate([ids[1:].ravel(), ids[:, 1:].ravel(), ids[:, :, 1:].ravel()])
    return Graph.from_edges(u, v)


MESHES = {"cube": cube(9), "cubes": zoo.disjoint(cube(6), cube(7), zoo.path(3), isolated=1)}
MESHES["weighted"] = zoo.reweighted(cube(7), np.exp(2 * np.random.default_rng(0).standard_normal(882)))


@pytest.mark.parametrize("graph", MESHES.values(), ids=MESHES.keys())
def test_approximate_cholesky_solves_where_plain_iteration_is_slow(graph, monkeypatch):
    pytest.importorskip("approx_chol", reason="the extra cholesky is not installed")
    b = np.random.default_rng(1).standard_normal((graph.n_nodes, 3))
    expected, leverage = solution(graph, b), leverages(graph, resistance="sketch", rng=3)
    monkeypatch.setattr(_laplacian, "_CG_STEPS", 1)
    monkeypatch.setattr(_laplacian, "_CHOLESKY_NODES", 0)
    monkeypatch.setattr(_laplacian.System, "_factorised", lambda self: pytest.fail("factorised after all"))
    close = {"rtol": 1e-6, "atol": 1e-7 * np.abs(expected).max()}
    one, two = solution(graph, b), solution(graph, b)
    np.testing.assert_allclose(one, expected, **close)
    assert (one == two).all()
    np.testing.assert_allclose(leverages(graph, resistance="sketch", rng=3), leverage, rtol=1e-3)


def test_without_approximate_cholesky_the_factorisation_serves(monkeypatch):
    graph = MESHES["cube"]
    b = np.random.default_rng(1).standard_normal((graph.n_nodes, 1))
    expected = solution(graph, b)
    monkeypatch.setattr(_laplacian, "_CG_STEPS", 1)
    monkeypatch.setattr(_laplacian, "_CHOLESKY_NODES", 0)
    monkeypatch.setattr(_laplacian, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "approx_chol", None)
    np.testing.assert_allclose(solution(graph, b), expected, atol=1e-8 * np.abs(expected).max())


def test_iteration_without_prospect_is_given_up_early(monkeypatch):
    graph, steps = zoo.grid(110, 110), []
    multiply = _laplacian.System.multiply
    monkeypatch.setattr(_laplacian.System, "multiply", lambda self, x: steps.append(1) or multiply(self, x))
    b = np.random.default_rng(1).standard_normal((graph.n_nodes, 1))
    x = solution(graph, b)
    assert len(steps) < 160
    assert np.linalg.norm(graph.laplacian() @ x - (b - b.mean())) < 1e-8 * np.linalg.norm(b)


def test_auto_sketches_large_components_only(monkeypatch):
    graph = zoo.disjoint(zoo.random_graph(60, 300, 1), zoo.complete(8))
    monkeypatch.setattr(_laplacian, "DENSE_NODES", 20)
    mixed, exact = leverages(graph, rng=0), leverages(graph, resistance="exact")
    np.testing.assert_allclose(mixed[300:], exact[300:], rtol=1e-12)
    assert 1e-4 < np.abs(mixed[:300] / exact[:300] - 1).mean() < 0.2


def test_large_graph_of_hubs_obeys_the_law():
    graph = zoo.large()
    values = leverages(graph, rng=0)
    assert values.sum() == pytest.approx(rank_of(graph), rel=0.01)


@pytest.mark.parametrize("options", [{"resistance": "fast"}, {"n_probes": 1}, {"n_probes": 2.5}])
def test_bad_options_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        leverages(zoo.ring(4), **options)
    with pytest.raises(OptionError, match=next(iter(options))):
        effective_resistance(zoo.ring(4), **options)


@every_graph
@pytest.mark.parametrize("steps", [400, 1])
def test_solution_is_the_pseudo_inverse_times_the_right_hand_side(graph, steps, monkeypatch):
    monkeypatch.setattr(_laplacian, "_CG_STEPS", steps)
    b = np.random.default_rng(1).standard_normal((graph.n_nodes, 3))
    expected = np.linalg.pinv(graph.laplacian().toarray(), rcond=1e-13, hermitian=True) @ b
    close = {"rtol": 1e-6, "atol": 1e-7 * np.abs(expected).max(initial=0)}
    np.testing.assert_allclose(solution(graph, b), expected, **close)


def test_solution_of_a_large_mesh_and_of_a_large_expander():
    for graph in (zoo.grid(120, 120), zoo.large()):
        b = centred(np.random.default_rng(1).standard_normal((graph.n_nodes, 1)), graph)
        residual = graph.laplacian() @ solution(graph, b) - b
        assert np.linalg.norm(residual) < 1e-8 * np.linalg.norm(b)


@pytest.mark.skipif(DATA is None, reason="GRAPHPRI_DATA does not name the folder of the data sets")
@pytest.mark.parametrize("name", ["karate", "jazz", "graphs_small/netscience_weighted"])
def test_real_graphs_obey_the_law(name):
    folder = Path(str(DATA)) / name
    file = folder / "edges.csv" if folder.is_dir() else folder.with_suffix(".csv")
    ends = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1), dtype=int)
    _, inverse = np.unique(ends.T, return_inverse=True)
    u, v = inverse.reshape(2, -1)  # flat before NumPy 2
    graph = Graph.from_edges(u, v)
    assert leverages(graph, resistance="exact").sum() == pytest.approx(rank_of(graph), abs=1e-8)


def test_networkit_agrees():
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    graph = zoo.random_graph(25, 70, 2)
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    theirs = nk.centrality.SpanningEdgeCentrality(nk.GraphFromCoo(ends, n=graph.n_nodes, edgesIndexed=True), 1e-6)
    theirs.run()
    np.testing.assert_allclose(theirs.scores(), leverages(graph), rtol=1e-3)


def test_networkits_approximation_agrees_on_a_medium_graph():
    nk = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")

    graph = datasets.barabasi_albert(2000, 4, seed=1)
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    g = nk.GraphFromCoo(ends, n=graph.n_nodes, edgesIndexed=True)
    nk.setSeed(1, True)
    theirs = nk.centrality.ApproxSpanningEdge(g, 0.1)  # by random spanning trees
    theirs.run()
    exact, sketch = leverages(graph, resistance="exact"), leverages(graph, resistance="sketch", rng=0)
    second = np.array(theirs.scores())
    error, their_error = (np.sqrt(np.mean((values / exact - 1) ** 2)) for values in (sketch, second))
    assert their_error < 0.1
    assert error < 0.1
    assert np.corrcoef(sketch, second)[0, 1] > 0.9
    assert sketch.sum() == pytest.approx(rank_of(graph), rel=0.01)
