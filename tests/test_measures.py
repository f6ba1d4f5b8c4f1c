"""Measures: against closed forms and other libraries, their laws, and how reports and errors read."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, spearmanr

import graphpri
import zoo
from graphpri import _laplacian
from graphpri import measures as ms
from graphpri._entropy import by_name
from graphpri._entropy.stochastic import Estimate
from graphpri._objective import Objective
from graphpri._selection import best_forest
from graphpri.datasets import barabasi_albert, ring_knn
from graphpri.errors import GraphError, OptionError
from graphpri.graph import Graph
from graphpri.measures import MEASURES, Cost, Settings, View, spectral

LN2 = np.log(2)
every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())


def view_of(original: Graph, kept: Graph | np.ndarray, **given_: object) -> View:
    chosen = {"beta": 4.0, "alpha": 0.0, "entropy": "exact", "mixture": "equation", "unit": "nats", "seed": 0} | given_
    how = Settings(**chosen)
    graph = original.select(kept) if isinstance(kept, np.ndarray) else kept
    return View(graph, how, View(original, how))


def measured(name: str, original: Graph, kept: Graph | np.ndarray, **given_: object) -> float:
    return MEASURES[name].compute(view_of(original, kept, **given_))


def random_mask(graph: Graph, seed: int, share: float = 0.6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mask = rng.random(graph.n_edges) < share
    mask[rng.integers(graph.n_edges)] = True
    return mask


def spanning_mask(graph: Graph, seed: int, share: float = 0.5) -> np.ndarray:
    """A random part of the graph with as many components."""
    order = np.random.default_rng(seed).permutation(graph.n_edges)
    return random_mask(graph, seed, share) | best_forest(graph, order)


# Entropy, divergence and objective of whatever users pass.


def test_entropy_of_a_networkx_graph_uses_its_weights_unless_told_otherwise():
    G = nx.karate_club_graph()
    assert graphpri.von_neumann_entropy(G, weight=None) == pytest.approx(3.1541, abs=5e-5)
    assert graphpri.von_neumann_entropy(G) != pytest.approx(3.1541, abs=1e-3)
    bits = graphpri.von_neumann_entropy(G, "local", unit="bits")
    assert bits * LN2 == pytest.approx(graphpri.von_neumann_entropy(G, "local"))
    assert graphpri.von_neumann_entropy(G, "auto") == graphpri.von_neumann_entropy(G)


def test_entropy_is_the_same_for_every_type_of_input():
    G = nx.les_miserables_graph()
    one = graphpri.von_neumann_entropy(G)
    assert graphpri.von_neumann_entropy(nx.to_scipy_sparse_array(G)) == pytest.approx(one, abs=1e-12)
    assert graphpri.von_neumann_entropy(nx.to_numpy_array(G)) == pytest.approx(one, abs=1e-12)
    assert graphpri.von_neumann_entropy(graphpri.as_graph(G)) == one


@pytest.mark.parametrize("graph", zoo.EDGELESS.values(), ids=zoo.EDGELESS.keys())
def test_entropy_of_a_graph_without_edges_is_refused(graph):
    with pytest.raises(GraphError, match="no edges"):
        graphpri.von_neumann_entropy(graph)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: graphpri.von_neumann_entropy(g, "eigen"), "entropy='eigen'"),
        (lambda g: graphpri.von_neumann_entropy(g, unit="dits"), "unit='dits'"),
        (lambda g: graphpri.divergence(g, g, mixture="sum"), "mixture='sum'"),
        (lambda g: graphpri.divergence(g, g, entropy="x"), "entropy='x'"),
        (lambda g: graphpri.divergence(g, g, method="degree"), "no argument method; did you mean entropy"),
        (lambda g: graphpri.von_neumann_entropy(g, method="degree"), "no argument method; did you mean entropy"),
        (lambda g: graphpri.objective(g, g, 1.0, method="degree"), "no argument method; did you mean entropy"),
        (lambda g: graphpri.report(g, g, method="degree"), "no argument method; did you mean entropy"),
        (lambda g: graphpri.objective(g, g, -1), "beta=-1"),
        (lambda g: graphpri.objective(g, g, 1, -2), "alpha=-2"),
        (lambda g: graphpri.divergence(g, np.ones(5, bool)), "mask of 5 entries does not fit 9 edges"),
        (lambda g: graphpri.report(g, g, measures=["divergance"]), "did you mean 'divergence'"),
        (lambda g: graphpri.report(g, g, measures=[]), "empty"),
        (lambda g: graphpri.report(g, g, entropy="x"), "entropy='x'"),
        (lambda g: graphpri.report(g, g, beta=np.nan), "beta=nan"),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(OptionError, match=message):
        call(zoo.ring(9))


def test_what_does_not_fit_into_memory_says_how_much_it_needs(monkeypatch):
    monkeypatch.setenv("GRAPHPRI_MEMORY", "1GB")
    with pytest.raises(graphpri.MemoryLimitError, match=r"component of 10000 nodes needs about 1\.5 GB .*'stochastic'"):
        graphpri.von_neumann_entropy(zoo.disjoint(zoo.path(10_000), zoo.path(2)), "exact")


def test_the_kept_graph_without_edges_is_refused_by_name():
    ring = zoo.ring(5)
    for call in (graphpri.divergence, lambda g, h: graphpri.objective(g, h, 1), graphpri.report):
        with pytest.raises(GraphError, match="H has no edges"):
            call(ring, np.zeros(5, bool))
        with pytest.raises(GraphError, match="G has no edges"):
            call(zoo.EDGELESS["edgeless"], zoo.EDGELESS["edgeless"])


def test_a_node_that_g_does_not_have_is_named():
    with pytest.raises(GraphError, match="'z' is not in the other graph"):
        graphpri.divergence(nx.Graph([("a", "b"), ("b", "c")]), nx.Graph([("a", "z")]))


def test_masks_results_and_graphs_of_any_type_give_the_same_divergence():
    G = nx.karate_club_graph()
    result = graphpri.sparsify(G, keep=0.4, beta=3)
    expected = pytest.approx(result.divergence, abs=1e-12)
    assert graphpri.divergence(G, result) == expected
    assert graphpri.divergence(G, result.graph) == expected
    assert graphpri.divergence(G, result.mask) == expected
    assert graphpri.divergence(G, result.mask.tolist()) == expected
    assert graphpri.divergence(G, result.kept) == expected
    assert graphpri.objective(G, result, 3) == pytest.approx(result.objective, abs=1e-12)


def test_masks_are_in_the_order_of_the_input():
    edges = [(5, 1), (4, 0), (1, 0), (3, 2), (2, 0), (5, 4)]
    G = nx.Graph()
    G.add_edges_from(edges)
    mask = np.array([True, False, True, True, False, True])
    kept = nx.Graph([e for e, keep in zip(G.edges, mask, strict=True) if keep])
    kept.add_nodes_from(G)
    assert graphpri.divergence(G, mask) == pytest.approx(graphpri.divergence(G, kept), abs=1e-14)


def test_labels_match_whatever_the_order_of_the_nodes():
    G = nx.relabel_nodes(nx.les_miserables_graph(), str.lower)
    H = nx.Graph()
    H.add_edges_from(reversed([(v, u, d) for u, v, d in G.edges(data=True)][:100]))
    mask = np.zeros(G.number_of_edges(), bool)
    mask[:100] = True
    assert graphpri.divergence(G, H) == pytest.approx(graphpri.divergence(G, mask), abs=1e-12)


def test_new_weights_of_a_result_count_and_the_barrier_keeps_the_old_ones():
    G = nx.karate_club_graph()
    for weight in ("weight", None):
        result = graphpri.sparsify(G, keep=0.5, beta=2, alpha=0.01, reweight=True, weight=weight)
        assert graphpri.divergence(G, result, weight=weight) == pytest.approx(result.divergence, abs=1e-12)
        assert graphpri.objective(G, result, 2, 0.01, weight=weight) == pytest.approx(result.objective, abs=1e-12)
        plain = graphpri.divergence(G, result.mask, weight=weight)
        assert result.divergence < plain


def test_a_result_made_without_weights_is_not_held_against_a_weighted_graph():
    G = nx.karate_club_graph()
    result = graphpri.sparsify(G, keep=0.5, weight=None)
    with pytest.raises(OptionError, match="made without weights and G is read with them"):
        graphpri.divergence(G, result)
    assert graphpri.divergence(G, result, weight=None) == pytest.approx(result.divergence, abs=1e-12)


def test_alpha_needs_a_part_of_g_and_names_the_edge_that_is_not():
    G, H = nx.path_graph(5), nx.Graph([(0, 1), (1, 3)])
    assert graphpri.objective(G, H, 1) > 0
    with pytest.raises(GraphError, match=r"edge \(1, 3\) of H is not an edge of G"):
        graphpri.objective(G, H, 1, 0.1)


def test_the_barrier_is_in_nats_whatever_the_unit():
    G = nx.karate_club_graph()
    mask = random_mask(graphpri.as_graph(G), 1)
    plain, with_barrier = graphpri.objective(G, mask, 2), graphpri.objective(G, mask, 2, 0.1)
    bits = graphpri.objective(G, mask, 2, 0.1, unit="bits")
    assert bits == pytest.approx(plain / LN2 + with_barrier - plain, abs=1e-12)
    assert graphpri.divergence(G, mask, unit="bits") == pytest.approx(graphpri.divergence(G, mask) / LN2)


@pytest.mark.parametrize("entropy", ["exact", "degree", "local"])
@pytest.mark.parametrize("mixture", ["equation", "listing"])
def test_objective_agrees_with_the_solvers_own(entropy, mixture):
    graph = zoo.random_graph(15, 40, 2, weighted=True)
    own = Objective(graph, 3.0, 0.02, entropy, mixture)
    for seed in range(4):
        mask = random_mask(graph, seed)
        found = graphpri.objective(graph, mask, 3.0, 0.02, entropy=entropy, mixture=mixture)
        assert found == pytest.approx(own.value(mask.astype(float)), abs=1e-11)


def graphs_on(n: int) -> st.SearchStrategy[Graph]:
    return st.builds(
        lambda share, seed, weighted: zoo.random_graph(
            n, max(1, round(share * n * (n - 1) / 2)), seed, weighted=weighted, spread=1.5
        ),
        st.floats(0, 1),
        st.integers(0, 10**6),
        st.booleans(),
    )


@pytest.mark.parametrize("entropy", ["exact", "degree"])
@given(a=graphs_on(8), b=graphs_on(8), c=graphs_on(8), scale=st.floats(-100, 100))
@settings(max_examples=25)
def test_the_root_of_the_divergence_is_a_metric(entropy, a, b, c, scale):
    ab, bc, ac = (np.sqrt(graphpri.divergence(*pair, entropy=entropy)) for pair in ((a, b), (b, c), (a, c)))
    assert ac <= ab + bc + 1e-9
    assert ab == pytest.approx(np.sqrt(graphpri.divergence(b, a, entropy=entropy)), abs=1e-6)
    assert 0 <= ab**2 <= LN2 + 1e-12
    scaled = zoo.reweighted(a, a.weights * 10.0**scale)
    assert graphpri.divergence(a, scaled, entropy=entropy) == pytest.approx(0, abs=1e-12)
    assert graphpri.divergence(scaled, b, entropy=entropy) == pytest.approx(ab**2, abs=1e-10)


def test_graphs_without_a_common_node_are_ln_2_apart():
    left = Graph.from_edges([0, 1, 0], [1, 2, 2], n_nodes=6)
    right = Graph.from_edges([3, 4], [4, 5], n_nodes=6)
    assert graphpri.divergence(left, right) == pytest.approx(LN2, abs=1e-12)
    assert graphpri.divergence(left, right, unit="bits") == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("weights", [[1e300, 1e300, 1e300], [1e-300] * 3, [1e300, 1e-300, 1.0]])
def test_extreme_weights_give_right_divergences(weights):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights)
    same = graphpri.divergence(graph, graph)
    assert same == pytest.approx(0, abs=1e-12)
    unweighted = Graph.from_edges([0, 1, 2], [1, 2, 3])
    relative = [w / max(weights) for w in weights]
    rescaled = Graph.from_edges([0, 1, 2], [1, 2, 3], [max(w, 1e-30) for w in relative])
    assert graphpri.divergence(unweighted, graph) == pytest.approx(graphpri.divergence(unweighted, rescaled), abs=1e-9)


# The spectral distance.


def by_formula(graph: Graph, kept: Graph) -> float:
    rho, sigma = (g.laplacian().toarray() for g in (graph, kept))
    lam, vectors = np.linalg.eigh(rho)
    x = vectors[:, np.flatnonzero(lam > 1e-9 * lam[-1])[0]]
    gap = (rho - sigma) @ x
    return float(np.arccosh(1 + gap @ gap * (x @ x) / (2 * (x @ rho @ x) * (x @ sigma @ x))))


@pytest.mark.parametrize(
    "name", ["path", "grid", "two_cliques", "random", "weighted", "labelled", "weighted_disconnected"]
)
def test_spectral_distance_is_its_formula(name):
    graph = zoo.GRAPHS[name]
    for seed in range(3):
        kept = graph.select(spanning_mask(graph, seed))
        view = view_of(graph, kept)
        assert MEASURES["spectral_distance"].compute(view) == pytest.approx(by_formula(graph, kept), rel=1e-6, abs=1e-7)
        assert not view.notes


@every_graph
def test_spectral_distance_to_itself_is_zero_and_scale_moves_it_by_its_logarithm(graph):
    assert measured("spectral_distance", graph, graph) == 0
    # (ρ − cρ)x = (1 − c)λx: d = arccosh(1 + (1−c)²/2c) = |ln c|.
    tripled = zoo.reweighted(graph, 3 * graph.weights)
    assert measured("spectral_distance", graph, tripled) == pytest.approx(np.log(3), abs=1e-9)


def test_spectral_distance_is_infinite_where_the_mode_lies_in_what_was_dropped():
    # The slowest mode of a path beside a clique is the path's own.
    graph = zoo.disjoint(zoo.path(5), zoo.complete(5))
    dropped = np.arange(graph.n_edges) >= 4
    assert measured("spectral_distance", graph, dropped) == np.inf
    assert measured("spectral_distance", graph, ~dropped) == 0


def test_a_repeated_eigenvalue_has_a_fixed_choice_and_a_note():
    for graph in (zoo.ring(9), zoo.complete(6), zoo.star(7), zoo.disjoint(zoo.path(4), zoo.path(4))):
        view = view_of(graph, random_mask(graph, 1, 0.8))
        found = MEASURES["spectral_distance"].compute(view)
        assert found == measured("spectral_distance", graph, random_mask(graph, 1, 0.8))
        assert any("repeats" in note for note in view.notes)
    assert not np.isnan(found)


def test_the_choice_for_a_repeated_eigenvalue_lies_in_its_space():
    graph = zoo.ring(12)
    mode = spectral.slowest_mode(view_of(graph, graph).origin)
    lap = graph.laplacian().toarray()
    np.testing.assert_allclose(lap @ mode.vector, (2 - 2 * np.cos(2 * np.pi / 12)) * mode.vector, atol=1e-12)
    assert mode.repeats


def test_isolated_nodes_and_small_components_do_not_hide_the_slowest_mode():
    graph = zoo.disjoint(zoo.complete(4), zoo.path(7), zoo.path(2), isolated=3)
    mode = spectral.slowest_mode(view_of(graph, graph).origin)
    assert np.flatnonzero(mode.vector).tolist() == list(range(4, 11))
    assert not mode.repeats


@pytest.mark.parametrize(
    "graph",
    [
        barabasi_albert(120, 3, 1),
        zoo.grid(9, 12),
        ring_knn(90, 4),
        zoo.star(60),
        zoo.disjoint(zoo.grid(8, 9), zoo.random_graph(40, 90, 2), zoo.path(3)),
        zoo.random_graph(80, 300, 4, weighted=True),
    ],
    ids=["hubs", "grid", "ring lattice", "star", "components", "weighted"],
)
def test_large_components_give_what_small_ones_give(graph, monkeypatch):
    kept = graph.select(spanning_mask(graph, 3))
    kept = zoo.reweighted(kept, kept.weights * np.random.default_rng(0).uniform(0.5, 2, kept.n_edges))
    names = ("spectral_distance", "spectral_upper", "spectral_lower")
    dense = [measured(name, graph, kept) for name in names]
    monkeypatch.setattr(_laplacian, "DENSE", 30)
    sparse = [measured(name, graph, kept) for name in names]
    assert sparse == pytest.approx(dense, rel=1e-6)


def test_weights_too_far_apart_are_not_resolved_and_said_so():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1e-30, 1.0])
    view = view_of(graph, np.array([True, True, False]))
    assert np.isnan(MEASURES["spectral_distance"].compute(view))
    assert any("too far apart" in note for note in view.notes)


# Spectral constants and quadratic forms.


@pytest.mark.parametrize("name", ["path", "complete", "grid", "weighted", "disconnected", "weighted_disconnected"])
def test_spectral_constants_are_generalised_eigenvalues(name):
    graph = zoo.GRAPHS[name]
    kept = graph.select(spanning_mask(graph, 5))
    kept = zoo.reweighted(kept, kept.weights * np.random.default_rng(1).uniform(0.3, 3, kept.n_edges))
    rho, sigma = (g.laplacian().toarray() for g in (graph, kept))
    basis = scipy.linalg.orth(rho)
    lam = scipy.linalg.eigh(basis.T @ rho @ basis, basis.T @ sigma @ basis, eigvals_only=True)
    assert measured("spectral_upper", graph, kept) == pytest.approx(lam[-1], rel=1e-8)
    assert measured("spectral_lower", graph, kept) == pytest.approx(1 / lam[0], rel=1e-8)
    assert measured("spectral_constant", graph, kept) == pytest.approx(max(lam[-1], 1 / lam[0]), rel=1e-8)


def test_spectral_constant_bounds_every_quadratic_form():
    graph = zoo.random_graph(12, 40, 6, weighted=True)
    kept = graph.select(spanning_mask(graph, 2))
    gamma = measured("spectral_constant", graph, kept)
    rho, sigma = (g.laplacian().toarray() for g in (graph, kept))
    for x in np.random.default_rng(0).standard_normal((200, 12)):
        before, after = x @ rho @ x, x @ sigma @ x
        assert after / gamma <= before * (1 + 1e-9)
        assert before <= gamma * after * (1 + 1e-9)


def test_dropping_an_edge_of_a_ring_stretches_it_by_the_others():
    # The voltage over the dropped edge is that over all the others in a row.
    n = 8
    kept = np.arange(n) > 0
    assert measured("spectral_constant", zoo.ring(n), kept) == pytest.approx(n, rel=1e-9)
    assert measured("spectral_lower", zoo.ring(n), kept) == pytest.approx(1, rel=1e-9)


def test_spectral_constants_are_infinite_where_components_differ():
    two = zoo.two_cliques(4)
    bridge = (two.source == 3) & (two.target == 4)
    assert measured("spectral_upper", two, ~bridge) == np.inf
    assert measured("spectral_constant", two, ~bridge) == np.inf
    assert measured("spectral_lower", two, ~bridge) == pytest.approx(1)
    apart = two.select(~bridge)
    assert measured("spectral_lower", apart, two) == np.inf
    assert measured("spectral_constant", apart, two) == np.inf
    assert measured("spectral_upper", apart, two) == pytest.approx(1)


def test_quadratic_error_is_that_of_the_scale_for_a_scaled_graph():
    graph = zoo.GRAPHS["weighted"]
    assert measured("quadratic_error", graph, graph) == 0
    halved = zoo.reweighted(graph, graph.weights / 2)
    assert measured("quadratic_error", graph, halved) == pytest.approx(0.5, abs=1e-12)
    mask = random_mask(graph, 1)
    assert measured("quadratic_error", graph, mask, seed=1) != measured("quadratic_error", graph, mask, seed=2)
    assert measured("quadratic_error", graph, mask) == measured("quadratic_error", graph, mask)


# Size, connectivity and degrees.


def test_size_and_connectivity_of_a_known_part():
    graph = zoo.reweighted(zoo.disjoint(zoo.ring(4), zoo.path(3), isolated=1), [1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    edges = list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    kept = np.array([e in {(0, 1), (1, 2)} for e in edges])
    weight = graph.weights[kept].sum()
    found = graphpri.report(graph, kept, measures="all")
    assert (found["edges"], found["edges_original"], found["new_edges"]) == (2, 6, 0)
    assert (found["components"], found["components_original"]) == (6, 3)
    assert (found["isolated"], found["isolated_original"], found["cut_off"]) == (5, 1, 4)
    assert found["weight_share"] == pytest.approx(weight / 20)
    assert found["weight_ratio"] == pytest.approx(weight / 20)
    assert (found["largest_component"], found["largest_component_original"]) == (3 / 8, 4 / 8)
    assert found["connected_pairs"] == pytest.approx(3 / 9)


def test_edges_that_g_does_not_have_are_counted_and_carry_none_of_its_weight():
    found = graphpri.report(nx.path_graph(4), nx.Graph([(0, 1), (0, 3)]), measures=["new_edges", "weight_share"])
    assert dict(found) == {"new_edges": 1, "weight_share": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("graph", "expected"),
    [(zoo.star(9), 1), (zoo.ring(7), 0), (zoo.complete(5), 0), (zoo.path(2), 0), (zoo.path(4), 2 / 6)],
)
def test_centralisation_is_one_for_a_star_and_zero_where_all_are_alike(graph, expected):
    assert measured("centralisation", graph, graph) == pytest.approx(expected)


def test_centralisation_ignores_weights():
    star = zoo.reweighted(zoo.star(5), [1.0, 10.0, 100.0, 1000.0])
    assert measured("centralisation", star, star) == 1


def test_degree_distances_are_those_of_the_empirical_distributions():
    graph = barabasi_albert(60, 3, 2)
    mask = random_mask(graph, 2)
    before, after = graph.degrees(), graph.select(mask).degrees()
    assert measured("degree_ks", graph, mask) == pytest.approx(ks_2samp(before, after).statistic)
    shape = ks_2samp(before / before.mean(), after / after.mean()).statistic
    assert measured("degree_shape_ks", graph, mask) == pytest.approx(shape)
    assert measured("degree_rank", graph, mask) == pytest.approx(spearmanr(before, after).statistic)


# Clustering, communities, distances, centralities: against networkx and scikit-learn.


@every_graph
def test_clustering_agrees_with_networkx(graph):
    G = zoo.to_networkx(graph)
    assert measured("transitivity", graph, graph) == pytest.approx(nx.transitivity(G))
    assert measured("clustering", graph, graph) == pytest.approx(nx.average_clustering(G))


def test_modularity_agrees_with_networkx_and_communities_are_good():
    G = nx.les_miserables_graph()
    graph = graphpri.as_graph(G)
    view = view_of(graph, random_mask(graph, 1, 0.7))
    member = ms.structure.communities(view.origin)
    sets = [{graph.label(int(i)) for i in np.flatnonzero(member == c)} for c in np.unique(member)]
    before, after = (MEASURES["modularity"].compute(v) for v in (view.origin, view))
    assert before == pytest.approx(nx.community.modularity(G, sets))
    assert before > 0.54  # the best known is 0.5667
    assert after == pytest.approx(nx.community.modularity(zoo.to_networkx(view.graph), sets))


def test_agreement_of_communities_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    graph = graphpri.datasets.stochastic_block_model(seed=1)
    for seed in range(3):
        view = view_of(graph, random_mask(graph, seed, 0.5))
        a, b = (ms.structure.communities(v)[view.active] for v in (view.origin, view))
        ari, nmi = (MEASURES[name].compute(view) for name in ("community_ari", "community_nmi"))
        assert ari == pytest.approx(metrics.adjusted_rand_score(a, b), abs=1e-12)
        assert nmi == pytest.approx(metrics.normalized_mutual_info_score(a, b), abs=1e-12)


def test_distances_agree_with_networkx():
    graph = zoo.disjoint(barabasi_albert(40, 2, 3), zoo.path(6), isolated=2)
    mask = random_mask(graph, 4, 0.8)
    G, H = zoo.to_networkx(graph), zoo.to_networkx(graph.select(mask))
    before, after = (dict(nx.all_pairs_shortest_path_length(g)) for g in (G, H))
    found = graphpri.report(graph, mask, measures=["mean_distance", "effective_diameter", "stretch"])
    hops = np.sort([d for row in after.values() for d in row.values() if d])
    assert found["mean_distance"] == pytest.approx(hops.mean())
    assert found["effective_diameter"] == hops[int(np.ceil(0.9 * hops.size)) - 1]
    ratios = [after[u][v] / before[u][v] for u in after for v in after[u] if u != v]
    assert found["stretch"] == pytest.approx(np.mean(ratios))


def test_distances_in_large_graphs_are_from_a_seeded_sample_and_close(monkeypatch):
    graph = barabasi_albert(500, 3, 1)
    mask = spanning_mask(graph, 1, 0.7)
    names = ["mean_distance", "stretch", "closeness_rank"]
    exact = graphpri.report(graph, mask, measures=names)
    monkeypatch.setattr(ms.structure, "ALL_STEPS", 1e5)
    sampled, again, other = (graphpri.report(graph, mask, measures=names, seed=s) for s in (0, 0, 1))
    assert dict(sampled) == dict(again) != dict(other)
    assert any("drawn at random (seed 0)" in note for note in sampled.notes)
    assert not any("drawn" in note for note in exact.notes)
    assert sampled["mean_distance"] == pytest.approx(exact["mean_distance"], rel=0.05)
    assert sampled["stretch"] == pytest.approx(exact["stretch"], rel=0.05)
    assert sampled["closeness_rank"] == pytest.approx(exact["closeness_rank"], abs=0.1)


@pytest.mark.parametrize("name", ["grid", "random", "two_cliques", "weighted", "disconnected"])
def test_centralities_agree_with_networkx(name):
    graph = zoo.GRAPHS[name]
    G, view = zoo.to_networkx(graph), view_of(graph, graph)

    def listed(values: dict) -> np.ndarray:
        return np.array([values[graph.label(i)] for i in range(graph.n_nodes)])

    central = ms.structure
    np.testing.assert_allclose(central.betweenness(view) / 2, listed(nx.betweenness_centrality(G, normalized=False)))
    np.testing.assert_allclose(central.closeness(view), listed(nx.harmonic_centrality(G)), rtol=1e-9)
    np.testing.assert_allclose(central.pagerank(view), listed(nx.pagerank(G, tol=1e-12, max_iter=1000)), rtol=1e-7)
    if name != "disconnected":
        expected = listed(nx.eigenvector_centrality_numpy(G, weight="weight"))
        np.testing.assert_allclose(central.eigenvector(view), expected / expected.max(), atol=1e-7)


def test_eigenvector_centrality_of_large_graphs_is_the_dense_one(monkeypatch):
    graph = barabasi_albert(150, 3, 5)
    dense = ms.structure.eigenvector(view_of(graph, graph))
    monkeypatch.setattr(ms.structure, "_DENSE", 10)
    np.testing.assert_allclose(ms.structure.eigenvector(view_of(graph, graph)), dense, atol=2e-8)


def test_rank_correlations_are_spearmans_over_nodes_with_an_edge():
    graph = zoo.disjoint(barabasi_albert(40, 2, 3), isolated=30)
    mask = random_mask(graph, 1, 0.7)
    view = view_of(graph, mask)
    before, after = (ms.structure.pagerank(v)[:40] for v in (view.origin, view))
    expected = spearmanr(before, after).statistic
    assert measured("pagerank_rank", graph, mask) == pytest.approx(expected)


def test_rank_correlation_is_not_defined_where_all_nodes_are_alike():
    found = graphpri.report(zoo.ring(6), np.arange(6) > 0, measures=["degree_rank"])
    assert np.isnan(found["degree_rank"])
    assert "n/a" in str(found)
    assert any("alike" in note for note in found.notes)


# The report.

SAME = {
    "divergence": 0,
    "new_edges": 0,
    "weight_share": 1,
    "weight_ratio": 1,
    "cut_off": 0,
    "connected_pairs": 1,
    "degree_ks": 0,
    "degree_shape_ks": 0,
    "spectral_distance": 0,
    "quadratic_error": 0,
    "spectral_upper": 1,
    "spectral_lower": 1,
    "spectral_constant": 1,
    "community_ari": 1,
    "community_nmi": 1,
    "stretch": 1,
}


@every_graph
def test_a_graph_held_against_itself_loses_nothing(graph):
    found = graphpri.report(graph, graph)
    for name, value in SAME.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
    for name, m in MEASURES.items():
        if m.both:
            assert found[name] == pytest.approx(found[f"{name}_original"], nan_ok=True)
        if name.endswith("_rank"):
            assert np.isnan(found[name]) or found[name] == pytest.approx(1)
    assert not found.left_out


@every_graph
def test_every_measure_has_a_value_for_every_part(graph):
    found = graphpri.report(graph, random_mask(graph, 0), alpha=0.01)
    assert set(found) == set(MEASURES) | {f"{m.name}_original" for m in MEASURES.values() if m.both}
    assert all(isinstance(value, int | float) for value in found.values())
    assert json.loads(json.dumps(found.to_dict()))["entropy"] == "exact"


def test_reports_do_not_depend_on_the_order_of_edges_and_nodes():
    G = nx.les_miserables_graph()
    edges = list(G.edges(data=True))
    kept = [e for i, e in enumerate(edges) if i % 3]
    rng = np.random.default_rng(0)
    H1, G2, H2 = nx.Graph(), nx.Graph(), nx.Graph()
    H1.add_edges_from(kept)
    G2.add_edges_from([edges[i] for i in rng.permutation(len(edges))])
    H2.add_edges_from([kept[i] for i in rng.permutation(len(kept))])
    assert dict(graphpri.report(G, H1)) == dict(graphpri.report(G2, H2))


def test_values_do_not_depend_on_the_number_of_threads():
    kit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    graph = barabasi_albert(300, 4, 1)
    mask = random_mask(graph, 1)
    threads = kit.getMaxNumberOfThreads()
    try:
        found = []
        for n in (1, 4):
            kit.setNumberOfThreads(n)
            found.append(dict(graphpri.report(graph, mask)))
            assert kit.getMaxNumberOfThreads() == n
    finally:
        kit.setNumberOfThreads(threads)
    assert found[0] == found[1]


def test_a_result_brings_the_settings_it_was_made_with():
    G = nx.karate_club_graph()
    result = graphpri.sparsify(G, keep=0.5, beta=1.5, alpha=0.003, entropy="local", mixture="listing")
    found = graphpri.report(G, result, measures="core")
    assert found["objective"] == pytest.approx(result.objective, abs=1e-12)
    assert found["entropy"] == pytest.approx(result.entropy, abs=1e-12)
    assert found.settings["entropy"] == "local"
    other = graphpri.report(G, result, measures="core", beta=0, entropy="exact", alpha=0)
    assert other["objective"] == pytest.approx(graphpri.von_neumann_entropy(result.graph), abs=1e-12)


def test_text_names_every_measure_with_values_of_both_graphs():
    G = nx.karate_club_graph()
    found = graphpri.report(G, graphpri.sparsify(G, keep=0.3, beta=2), unit="bits")
    text = str(found)
    assert all(f"  {name} " in text for name in MEASURES)
    assert "exact entropy in bits, beta 2, alpha 0, equation mixture" in text
    assert "(bits)" in text
    assert "weights: 'weight'" in text
    assert f"{found['entropy_original']:.4f}" in text
    assert found["entropy"] == pytest.approx(graphpri.von_neumann_entropy(G, unit="bits"), abs=2)


def test_one_weighted_graph_beside_an_unweighted_one_is_noted():
    G = nx.karate_club_graph()
    H = nx.Graph(list(G.edges)[::2])
    assert any("H's edges weigh 1 each" in note for note in graphpri.report(G, H, measures="core").notes)
    assert any("G's edges weigh 1 each" in note for note in graphpri.report(H, G.edge_subgraph(H.edges)).notes)


def test_costly_measures_are_left_out_by_name_unless_asked_for(monkeypatch):
    graph = zoo.random_graph(30, 80, 1)
    costly = Cost("N·M", lambda g: g.n_nodes * g.n_edges, 1000)
    monkeypatch.setitem(MEASURES, "betweenness_rank", replace(MEASURES["betweenness_rank"], cost=costly))
    mask = random_mask(graph, 1)
    found = graphpri.report(graph, mask)
    assert list(found.left_out) == ["betweenness_rank"]
    assert "betweenness_rank" not in found
    assert "left out: betweenness_rank (costs N·M = 2e+03 steps, more than 1e+03; ask for it by name)" in str(found)
    by_name = graphpri.report(graph, mask, measures=["core", "betweenness_rank"])
    assert not by_name.left_out
    assert -1 <= by_name["betweenness_rank"] <= 1
    assert "divergence" in by_name
    assert not MEASURES["betweenness_rank"].affordable(graph)


def test_every_measure_states_what_it_costs_and_large_graphs_get_the_cheap_ones():
    large = zoo.large()
    chosen, left_out = ms.choose("all", large)
    assert {m.name for m in chosen} | set(left_out) == set(MEASURES)
    assert {"betweenness_rank"} == set(left_out)
    assert all(m.cost.formula and m.summary for m in MEASURES.values())


def test_core_measures_of_a_large_graph_are_quick():
    large = zoo.large()
    found = graphpri.report(large, random_mask(large, 1), measures="core")
    assert found.settings["entropy"] == "stochastic"
    assert 0 < found["divergence"] < LN2
    assert found["spectral_distance"] > 0


@pytest.fixture
def large_report(monkeypatch) -> graphpri.Report:
    monkeypatch.setattr(by_name, "EXACT_STEPS", 1)
    graph = barabasi_albert(800, 4, 1)
    return graphpri.report(graph, random_mask(graph, 1, 0.4), measures="core", unit="bits", alpha=0.001)


def test_reports_on_large_graphs_have_error_bars_that_hold(large_report):
    graph = barabasi_albert(800, 4, 1)
    mask = random_mask(graph, 1, 0.4)
    exact = graphpri.report(graph, mask, measures="core", unit="bits", alpha=0.001, entropy="exact")
    assert large_report.settings["entropy"] == "stochastic"
    for name in ("entropy", "entropy_original", "divergence", "objective"):
        assert abs(large_report[name] - exact[name]) < 4 * large_report[f"{name}_error"], name
    assert max(large_report[f"{name}_error"] for name in ("entropy", "divergence")) <= 5e-4 / LN2
    assert set(large_report) - set(exact) == {
        "entropy_error",
        "entropy_original_error",
        "divergence_error",
        "objective_error",
    }


def test_error_bars_stand_beside_the_values_in_text_and_json(large_report):
    row = next(line for line in str(large_report).splitlines() if line.startswith("  divergence "))
    found = Estimate(large_report["divergence"], large_report["divergence_error"])
    assert f" {found} " in row
    assert " ± " in str(found)
    assert large_report.to_dict()["measures"]["divergence_error"] == large_report["divergence_error"]


def test_reports_go_by_size_and_keep_an_entropy_chosen_by_hand(monkeypatch):
    graph = barabasi_albert(900, 3, 1)
    by_size = graphpri.sparsify(graph, keep=0.5, method="random")
    by_hand = graphpri.sparsify(graph, keep=0.5, method="random", entropy="degree")
    assert graphpri.report(graph, by_size, measures=["entropy"]).settings["entropy"] == "exact"
    assert graphpri.report(graph, by_hand, measures=["entropy"]).settings["entropy"] == "degree"
    monkeypatch.setattr(by_name, "EXACT_STEPS", 1)
    found = graphpri.report(graph, by_size, measures=["entropy"])
    assert (found.settings["entropy"], found.notes[-1:]) == ("stochastic", by_size.notes[-1:])
    monkeypatch.setattr(by_name, "STOCHASTIC_EDGES", 10)
    monkeypatch.setattr(ms.reports, "STOCHASTIC_EDGES", 10)
    found = graphpri.report(graph, by_size, measures=["entropy"])
    assert found.settings["entropy"] == "local"
    assert any('entropy="stochastic" estimates' in note for note in found.notes)


@pytest.mark.parametrize("mixture", ["equation", "listing"])
def test_the_stochastic_entropy_agrees_with_the_exact_one(mixture):
    graph = barabasi_albert(600, 4, 2)
    mask = random_mask(graph, 3)
    for call in (
        lambda how: graphpri.divergence(graph, mask, entropy=how, mixture=mixture),
        lambda how: graphpri.objective(graph, mask, 2.0, 0.01, entropy=how, mixture=mixture) / 10,
        lambda how: graphpri.von_neumann_entropy(graph, how),
    ):
        assert call("stochastic") == pytest.approx(call("exact"), abs=2e-3)
        assert call("stochastic") == call("stochastic") != call("exact")


def test_estimates_come_with_errors_for_one_graph_and_for_two():
    graph = barabasi_albert(600, 4, 2)
    mask = random_mask(graph, 3)
    found = graphpri.estimate(graph, mask, beta=2, alpha=0.01, error=2e-4, unit="bits", seed=1)
    exact = {
        "entropy": graphpri.von_neumann_entropy(graph.select(mask), unit="bits"),
        "entropy_original": graphpri.von_neumann_entropy(graph, unit="bits"),
        "divergence": graphpri.divergence(graph, mask, unit="bits"),
        "objective": graphpri.objective(graph, mask, 2, 0.01, unit="bits"),
    }
    for name, value in exact.items():
        one = getattr(found, name)
        assert 0 < one.error < 3e-3
        assert abs(one.value - value) < 4 * one.error
        assert name in str(found)
    assert max(found.entropy.error, found.entropy_original.error, found.divergence.error) <= 2e-4
    alone = graphpri.estimate(graph)
    assert alone.divergence is alone.objective is alone.entropy_original is None
    assert abs(alone.entropy.value - graphpri.von_neumann_entropy(graph)) < 4 * alone.entropy.error <= 4 * 5e-4


def test_estimates_of_small_graphs_are_exact():
    G = nx.karate_club_graph()
    found = graphpri.estimate(G, nx.Graph(list(G.edges)[::2]), weight=None)
    assert found.entropy_original == (pytest.approx(3.1541, abs=5e-5), 0)
    assert "±" not in str(found)


@pytest.mark.parametrize("given", [{"error": 0}, {"error": np.nan}, {"probes": 4}, {"probes": 9.5}, {"probes": True}])
def test_efforts_that_give_no_error_are_refused(given):
    with pytest.raises(OptionError, match=next(iter(given))):
        graphpri.estimate(zoo.ring(5), **given)


def test_a_new_measure_is_one_function():
    @ms.measure("odd_nodes", "nodes of odd degree", both=True, affordable=Cost("N", lambda g: g.n_nodes))
    def odd(view: View) -> float:
        return int((view.degrees % 2).sum())

    try:
        found = graphpri.report(zoo.star(5), np.array([True, True, False, True]))
        assert (found["odd_nodes"], found["odd_nodes_original"]) == (4, 4)
        assert "own\n" in str(found)
        with pytest.raises(ValueError, match="name='odd_nodes': there is a measure of that name already"):
            ms.measure("odd_nodes", "again")(odd)
    finally:
        del MEASURES["odd_nodes"]


def test_policies_apply_to_both_graphs():
    G = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 2)])
    with pytest.raises(GraphError, match="directed"):
        graphpri.report(G, G)
    found = graphpri.report(G, G, directed="symmetrize", loops="drop", measures="core")
    assert found["edges"] == 2
    assert any("self-loop" in note for note in found.notes)


def test_matrices_and_masks_of_matrices():
    rng = np.random.default_rng(3)
    A = sp.csr_array(np.where(rng.random((20, 20)) < 0.3, rng.random((20, 20)), 0.0))
    A = sp.csr_array(A + A.T)
    A.setdiag(0)
    A.eliminate_zeros()
    result = graphpri.sparsify(A, keep=0.5)
    one = graphpri.report(A, result.graph, measures="core")
    two = graphpri.report(A.toarray(), result, measures="core")
    for name in one:
        assert one[name] == pytest.approx(two[name], abs=1e-12)


def test_small_graphs_have_defined_reports():
    pair = Graph.from_edges([0], [1], n_nodes=2)
    found = graphpri.report(pair, pair)
    assert found["entropy"] == 0
    assert found["centralisation"] == 0
    assert found["spectral_distance"] == 0
    triangle = list(combinations(range(3), 2))
    found = graphpri.report(Graph.from_edges(*np.array(triangle).T), np.array([True, False, False]))
    assert found["divergence"] > 0


@pytest.mark.parametrize("unit", [5e-324, 1.0, 2.0**1000])
def test_flows_depend_on_ratios_of_weights_down_to_the_smallest_floats(unit):
    ring = ring_knn(30, 4)
    weights = np.random.default_rng(0).integers(1, 2000, ring.n_edges).astype(float)
    kept = np.random.default_rng(1).random(ring.n_edges) < 0.6
    expected = graphpri.report(zoo.reweighted(ring, weights), kept, measures=["flow_ratio"])
    found = graphpri.report(zoo.reweighted(ring, weights * unit), kept, measures=["flow_ratio"])
    assert 0 < expected["flow_ratio"] < 1
    np.testing.assert_allclose(found["flow_ratio"], expected["flow_ratio"], rtol=1e-6)


def test_measures_of_a_library_that_is_not_installed_are_left_out_or_name_the_extra(monkeypatch):
    graph, mask = zoo.random_graph(30, 90, 1), np.arange(90) < 60
    monkeypatch.setitem(sys.modules, "networkit", None)
    found = graphpri.report(graph, mask)
    assert {name for name, why in found.left_out.items() if "pip install 'graphpri[networkit]'" in why} == {
        *("modularity", "community_ari", "community_nmi", "effective_diameter", "mean_distance", "stretch"),
        *("betweenness_rank", "closeness_rank"),
    }
    assert {"clustering", "pagerank_rank", "spectral_distance"} <= set(found)
    with pytest.raises(graphpri.MissingExtraError, match="networkit"):
        graphpri.report(graph, mask, measures=["modularity"])


def test_pictures_have_communities_without_networkit(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkit", None)
    cliques = zoo.disjoint(zoo.complete(5), zoo.complete(6))
    member = ms.structure.communities_for_pictures(view_of(cliques, cliques).origin)
    assert len(set(member[:5])) == len(set(member[5:])) == 1
    assert member[0] != member[5]
