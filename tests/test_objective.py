"""Laws of the objective: its parts, bounds, landmarks and gradient; and what the paper's formulas say of them."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import graphpri
import zoo
from covering import each_pair
from graphpri._entropy.by_name import ENTROPIES, evaluate
from graphpri._objective import BARRIER_FLOOR, Objective
from graphpri.errors import GraphError, OptionError
from graphpri.graph import Graph

NAMES = tuple(ENTROPIES)
MIXTURES = ("equation", "listing")
BETAS = (0.0, 0.7, 1.0, 4.0, 50.0)
every_entropy = pytest.mark.parametrize("name", NAMES)
every_mixture = pytest.mark.parametrize("mixture", MIXTURES)
every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())
LN2 = np.log(2)


def karate() -> Graph:
    return graphpri.as_graph(nx.karate_club_graph(), weight=None)


def selections(graph: Graph, seed: int, count: int = 8) -> np.ndarray:
    """Random subsets with at least one edge, and all edges."""
    rng = np.random.default_rng(seed)
    masks = rng.random((count, graph.n_edges)) < rng.uniform(0.1, 0.9, (count, 1))
    masks[np.arange(count), rng.integers(graph.n_edges, size=count)] = True
    masks[-1] = True
    return masks.astype(float)


def by_definition(graph: Graph, w: np.ndarray, beta: float, mixture: str) -> float:
    """J from dense matrices, as the formulas have it."""
    rho, sigma = (graph.laplacian(graph.weights * x).toarray() for x in (np.ones(graph.n_edges), w))

    def entropy(matrix: np.ndarray) -> float:
        lam = np.linalg.eigvalsh(matrix / np.trace(matrix))
        lam = lam[lam > 1e-15]
        return float(-(lam * np.log(lam)).sum())

    mixed = rho / np.trace(rho) + sigma / np.trace(sigma) if mixture == "equation" else rho + sigma
    divergence = entropy(mixed) - 0.5 * entropy(sigma) - 0.5 * entropy(rho)
    return entropy(sigma) + 2 * beta * divergence


# Values.


@every_graph
@every_mixture
def test_value_is_that_of_the_dense_definition(graph, mixture):
    for w, beta in zip(selections(graph, 1), np.resize(BETAS, 8), strict=True):
        found = Objective(graph, beta, mixture=mixture).value(w)
        assert found == pytest.approx(by_definition(graph, w, beta, mixture), abs=1e-9)


@every_entropy
@every_mixture
def test_all_edges_give_the_entropy_of_the_graph_for_every_beta(name, mixture):
    for graph in zoo.GRAPHS.values():
        s = evaluate(graph, name).value
        for beta in BETAS:
            terms = Objective(graph, beta, entropy=name, mixture=mixture).terms(np.ones(graph.n_edges))
            assert terms.objective == pytest.approx(s, abs=1e-9)
            assert terms.divergence == pytest.approx(0, abs=1e-10)


@every_mixture
@every_graph
def test_parts_add_up(graph, mixture):
    objective = Objective(graph, 3.0, 0.01, mixture=mixture)
    for w in selections(graph, 2):
        t = objective.terms(w)
        assert t.objective == pytest.approx(t.entropy + 6 * t.divergence + t.barrier, abs=1e-12)
        assert objective.value_and_gradient(w)[0] == pytest.approx(t.objective, abs=1e-9)


@pytest.mark.parametrize("name", ["exact", "degree"])
@every_graph
def test_divergence_lies_between_zero_and_the_logarithm_of_two(graph, name):
    objective = Objective(graph, 1.0, entropy=name)
    for w in selections(graph, 3, 16):
        assert -1e-12 <= objective.terms(w).divergence <= LN2 + 1e-12


def test_divergence_nears_the_logarithm_of_two_for_a_vanishing_part():
    parts = zoo.disjoint(zoo.path(2), zoo.complete(40))
    w = np.zeros(parts.n_edges)
    w[0] = 1
    assert 0.68 < Objective(parts, 1.0).terms(w).divergence < LN2


@given(st.integers(3, 10), st.floats(0.2, 1), st.integers(0, 10**6), st.floats(-200, 200), st.sampled_from(NAMES))
@settings(max_examples=25)
def test_scale_of_the_weights_changes_nothing_but_the_barrier(n, share, seed, scale, name):
    graph = zoo.random_graph(n, max(2, round(share * n * (n - 1) / 2)), seed, weighted=True)
    scaled = zoo.reweighted(graph, graph.weights * 10.0**scale)
    for w, mixture in product(selections(graph, seed, 3), MIXTURES):
        one = Objective(graph, 2.0, entropy=name, mixture=mixture).value(w)
        assert Objective(scaled, 2.0, entropy=name, mixture=mixture).value(w) == pytest.approx(one, abs=1e-9)


@given(st.integers(3, 10), st.integers(0, 10**6), st.sampled_from(NAMES))
@settings(max_examples=25)
def test_names_of_the_nodes_change_nothing(n, seed, name):
    graph = zoo.random_graph(n, max(2, n * (n - 1) // 3), seed, weighted=True)
    order = np.random.default_rng(seed).permutation(n)
    w = selections(graph, seed, 2)[0]
    renamed = Graph.from_edges(order[graph.source], order[graph.target], graph.weights, n_nodes=n)
    back = {frozenset(e): m for m, e in enumerate(zip(renamed.source.tolist(), renamed.target.tolist(), strict=True))}
    moved = np.empty(graph.n_edges)
    for m, (u, v) in enumerate(zip(order[graph.source].tolist(), order[graph.target].tolist(), strict=True)):
        moved[back[frozenset((u, v))]] = w[m]
    one, other = Objective(graph, 3.0, 0.02, name), Objective(renamed, 3.0, 0.02, name)
    assert other.value(moved) == pytest.approx(one.value(w), abs=1e-10)


@pytest.mark.parametrize(
    "weights", [[1e-300] * 5, [1e300] * 5, [1e300, 1e-300, 1.0, 1e300, 1e-300], [5e-324, 1, 1, 2, 1]]
)
@every_entropy
@every_mixture
def test_extreme_weights_give_finite_values_and_gradients(weights, name, mixture):
    graph = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], weights)
    objective = Objective(graph, 2.0, 0.01, name, mixture)
    for w in (np.ones(5), np.array([0.0, 1, 0, 0, 1]), np.array([1.0, 0, 1, 1, 0])):
        value, slope = objective.value_and_gradient(w)
        assert np.isfinite(value)
        assert not np.isnan(slope).any()


# The barrier.


def test_barrier_counts_nodes_with_an_edge_in_the_graph_only_and_floors_their_degrees():
    graph = zoo.reweighted(zoo.disjoint(zoo.star(4), isolated=2), [2.0, 4.0, 0.5])
    w = np.array([1.0, 0.5, 0.0])
    floor = BARRIER_FLOOR * 0.5
    expected = -0.01 * np.log([2.0 + 2.0, 2.0, 2.0, floor]).sum()
    assert Objective(graph, 1.0, 0.01).terms(w).barrier == pytest.approx(expected, abs=1e-14)


def test_barrier_keeps_uncovered_nodes_finite_and_pulls_edges_to_them():
    graph = zoo.star(6)
    w = np.array([1.0, 1, 1, 1, 0])
    with_barrier, without = Objective(graph, 1.0, 0.5).gradient(w), Objective(graph, 1.0).gradient(w)
    pull = with_barrier - without
    assert np.isfinite(pull).all()
    assert pull[4] == pytest.approx(-0.5 * (1 / 4 + 1000))
    assert pull[:4] == pytest.approx(-0.5 * (1 / 4 + 1))


# Gradients.


def log_derivative(objective: Objective, w: np.ndarray, m: int) -> float:
    """w ∂J/∂w of one edge by central differences of fourth order in ln w."""

    def at(step: float) -> float:
        moved = w.copy()
        moved[m] *= np.exp(step)
        return objective.value(moved)

    h = 1e-3
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


@each_pair(
    name=NAMES,
    mixture=MIXTURES,
    alpha=[0.0, 0.05],
    name_of_graph=["random", "weighted", "weights_wide", "disconnected", "star", "single_edge"],
)
def test_gradient_agrees_with_central_differences(name, mixture, alpha, name_of_graph):
    graph = zoo.GRAPHS[name_of_graph]
    rng = np.random.default_rng(7)
    w = rng.uniform(0.2, 1, graph.n_edges)
    some = rng.permutation(graph.n_edges)[:6]
    for beta in (0.0, 3.0):
        objective = Objective(graph, beta, alpha, name, mixture)
        expected = [log_derivative(objective, w, m) for m in some]
        np.testing.assert_allclose((w * objective.gradient(w))[some], expected, rtol=1e-7, atol=1e-9)


@every_entropy
@every_mixture
def test_gradient_of_the_divergence_is_that_of_a_large_beta(name, mixture):
    graph = zoo.GRAPHS["weighted"]
    w = np.random.default_rng(9).uniform(0.2, 1, graph.n_edges)
    value, slope = Objective(graph, 0.0, entropy=name, mixture=mixture).divergence_and_gradient(w)
    low, high = (Objective(graph, b, entropy=name, mixture=mixture) for b in (1.0, 2.0))
    assert 2 * value == pytest.approx(high.value(w) - low.value(w), abs=1e-10)
    np.testing.assert_allclose(2 * slope, high.gradient(w) - low.gradient(w), atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_exact_gradient_is_the_published_formula_with_weights(weighted):
    # ∂J/∂w_m = (1/t)[g_m − (2 μ_m/t) Σ w g], g_m = −bᵀ F b, F = (1−β) ln σ̃ + β ln σ̄.
    graph, beta = zoo.random_graph(9, 24, 2, weighted=weighted), 2.5
    w = np.random.default_rng(3).uniform(0.3, 1, 24)
    mu = graph.weights / graph.weights.max()
    sigma, rho = (graph.laplacian(mu * x).toarray() for x in (w, np.ones(24)))
    s, r = sigma / np.trace(sigma), rho / np.trace(rho)

    def logarithm(matrix: np.ndarray) -> np.ndarray:
        lam, vectors = np.linalg.eigh(matrix)
        return (vectors * np.log(np.maximum(lam, 1e-12))) @ vectors.T

    f = (1 - beta) * logarithm(s) + beta * logarithm((s + r) / 2)
    u, v = graph.source, graph.target
    g = -mu * (f[u, u] + f[v, v] - 2 * f[u, v])
    t = float(np.trace(sigma))
    expected = (g - 2 * mu / t * float(w @ g)) / t
    np.testing.assert_allclose(Objective(graph, beta).gradient(w), expected, atol=1e-10)


def test_joining_two_parts_has_a_large_finite_slope_that_lowers_nothing_by_itself():
    graph = zoo.two_cliques(4)
    bridge = int(np.flatnonzero((graph.source == 3) & (graph.target == 4))[0])
    w = np.ones(graph.n_edges)
    w[bridge] = 0
    slope = Objective(graph, 0.0).gradient(w)
    assert np.isfinite(slope).all()
    assert slope[bridge] > 5 * np.abs(np.delete(slope, bridge)).max()


# What the paper says, and where it needs care.


def test_listing_and_equation_mix_differently_unless_both_traces_are_equal():
    graph = karate()
    w = selections(graph, 4, 2)[0]
    equation, listing = (Objective(graph, 5.0, mixture=m).terms(w).divergence for m in MIXTURES)
    assert abs(equation - listing) > 1e-3
    # In terms of density matrices the listing weighs each by its trace.
    sigma, rho = (graph.laplacian(x).toarray() for x in (w, np.ones(graph.n_edges)))
    share = np.trace(sigma) / (np.trace(sigma) + np.trace(rho))
    mixed = share * sigma / np.trace(sigma) + (1 - share) * rho / np.trace(rho)
    lam = np.linalg.eigvalsh(mixed)
    lam = lam[lam > 1e-15]
    s, original = evaluate(graph.select(w > 0), "exact").value, evaluate(graph, "exact").value
    assert listing == pytest.approx(-(lam * np.log(lam)).sum() - 0.5 * (s + original), abs=1e-10)


def test_the_listings_divergence_can_be_negative_and_the_equations_can_not():
    # A heavy edge and many light ones: dropping the heavy one raises the entropy, and hardly moves the sum σ + ρ.
    pair_and_clique = zoo.disjoint(zoo.path(2), zoo.complete(12))
    graph = zoo.reweighted(pair_and_clique, [1000.0] + [0.01] * 66)
    w = np.ones(67)
    w[0] = 0
    equation, listing = (Objective(graph, 1.0, mixture=m).terms(w).divergence for m in MIXTURES)
    assert listing < -1
    assert equation > 0.3


def printed_ug(graph: Graph, w: np.ndarray, beta: float) -> np.ndarray:
    """Theorem 4 as printed, for equal weights: the derivative along "w_i up, the others down in proportion"."""
    share = w / w.sum()
    lap = [graph.laplacian(x).toarray() for x in (share, (share + 1 / w.size) / 2)]
    logs = []
    for matrix in lap:
        lam, vectors = np.linalg.eigh(matrix / np.trace(matrix))
        logs.append((vectors * np.log(np.maximum(lam, 1e-12))) @ vectors.T)
    f = (1 - beta) * logs[0] + beta * logs[1]
    u, v = graph.source, graph.target
    g = -(f[u, u] + f[v, v] - 2 * f[u, v])
    return (g - float(share @ g)) / (1 - share)


@pytest.mark.parametrize("beta", [0.0, 2.0, 20.0])
@pytest.mark.parametrize(
    "graph", [karate(), zoo.random_graph(12, 30, 1), zoo.grid(4, 5)], ids=["karate", "random", "grid"]
)
def test_theorem_4s_gradient_has_the_sign_of_the_true_one_and_another_size(graph, beta):
    w = np.random.default_rng(2).uniform(0.2, 1, graph.n_edges)
    printed, true = printed_ug(graph, w, beta), Objective(graph, beta).gradient(w)
    clear = np.abs(true) > 1e-9
    assert clear.sum() > 0.9 * true.size
    np.testing.assert_array_equal(np.sign(printed[clear]), np.sign(true[clear]))
    ratio = printed[clear] / true[clear]
    # ∂J/∂w_i = (1/t)(g_i − mean g): the printed one is t/(1 − w̃_i) times that, so not even in proportion.
    np.testing.assert_allclose(ratio, 2 * w.sum() / (1 - w[clear] / w.sum()), rtol=1e-6)
    assert ratio.min() > 10


def test_the_printed_mixture_of_theorem_4_has_trace_two():
    graph = karate()
    w = np.random.default_rng(0).random(graph.n_edges)
    printed = graph.laplacian(0.5 * (w / w.sum() + np.ones(w.size) / w.size)).toarray()
    assert np.trace(printed) == pytest.approx(2)


def test_a_single_edge_is_the_trivial_minimum_at_beta_zero():
    graph = karate()
    one = np.eye(graph.n_edges)[0]
    assert Objective(graph, 0.0).value(one) == pytest.approx(0, abs=1e-12)
    assert all(Objective(graph, 0.0).value(w) >= 0 for w in selections(graph, 8))


def test_landmarks_of_karate():
    graph = karate()
    at_three = Objective(graph, 3.0)
    assert min(map(at_three.value, np.eye(graph.n_edges))) == pytest.approx(3.1707, abs=5e-5)
    assert at_three.value(np.ones(graph.n_edges)) == pytest.approx(3.1541, abs=5e-5)


# Refusals.


@pytest.mark.parametrize("beta", [-1, np.nan, np.inf, "2", True, None])
def test_impossible_beta_is_refused(beta):
    with pytest.raises(OptionError, match="beta"):
        Objective(zoo.ring(4), beta)


@pytest.mark.parametrize("alpha", [-0.1, np.nan, np.inf, "0", True])
def test_impossible_alpha_is_refused(alpha):
    with pytest.raises(OptionError, match="alpha"):
        Objective(zoo.ring(4), 1.0, alpha)


def test_unknown_names_are_refused():
    with pytest.raises(OptionError, match="mixture='mean'"):
        Objective(zoo.ring(4), 1.0, mixture="mean")
    with pytest.raises(OptionError, match="entropy='x'"):
        Objective(zoo.ring(4), 1.0, entropy="x")


@pytest.mark.parametrize("graph", zoo.EDGELESS.values(), ids=zoo.EDGELESS.keys())
def test_graphs_without_edges_are_refused(graph):
    with pytest.raises(GraphError, match="no edges"):
        Objective(graph, 1.0)


def test_keeping_nothing_is_refused():
    with pytest.raises(GraphError, match="no edge is kept"):
        Objective(zoo.ring(4), 1.0).value(np.zeros(4))


@pytest.mark.parametrize("name", ["degree", "local"])
def test_large_graphs_have_the_same_values_by_any_number_of_threads(name: str):
    """Those of BLAS included, which adds long vectors piece by piece."""
    graph = graphpri.datasets.barabasi_albert(30_000, 2, seed=0)
    w = np.random.default_rng(0).random(graph.n_edges)
    found: list[bytes] = []
    for count in (1, 2, 3):
        with threadpool_limits(count, "blas"):
            terms, gradient = Objective(graph, 4.0, entropy=name).terms_and_gradient(w)
        found.append(np.array([*terms, *gradient]).tobytes())
    assert len(set(found)) == 1
