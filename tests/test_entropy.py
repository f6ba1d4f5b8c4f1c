"""Laws of the entropies: closed forms, invariances, bounds, gradients, and agreement with a dense oracle."""

from __future__ import annotations

from decimal import Decimal, getcontext

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphpri
import zoo
from graphpri._entropy import exact_entropies, exact_entropies_and_terms, exact_entropy, log_mean_inverse, xlogx
from graphpri._entropy.by_name import ENTROPIES, evaluate
from graphpri.datasets import ring_knn
from graphpri.errors import GraphError, OptionError
from graphpri.graph import Graph

NAMES = tuple(ENTROPIES)
every_entropy = pytest.mark.parametrize("name", NAMES)
every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())


def of_eigenvalues(lam: np.ndarray) -> float:
    lam = np.asarray(lam, float)
    lam = lam / lam.sum()
    lam = lam[lam > 1e-15]
    return float(-(lam * np.log(lam)).sum())


def by_dense_matrix(graph: Graph, y: np.ndarray | None = None) -> float:
    """The definition: eigenvalues of the whole Laplacian, not component by component."""
    lap = graph.laplacian(y).toarray()
    return of_eigenvalues(np.maximum(np.linalg.eigvalsh(lap / np.trace(lap)), 0))


def value(graph: Graph, name: str = "exact", y: np.ndarray | None = None) -> float:
    return evaluate(graph, name, y).value


def random_graphs(*, weighted: bool = True) -> st.SearchStrategy[Graph]:
    def build(n: int, share: float, seed: int, spread: float) -> Graph:
        m = max(1, round(share * n * (n - 1) / 2))
        return zoo.random_graph(n, m, seed, weighted=weighted, spread=spread)

    return st.builds(build, st.integers(2, 14), st.floats(0, 1), st.integers(0, 10**6), st.floats(0, 3))


# Closed forms.


@pytest.mark.parametrize("n", [3, 4, 7, 20, 33])
def test_ring_has_the_entropy_of_its_cosines(n):
    assert value(zoo.ring(n)) == pytest.approx(of_eigenvalues(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n)), abs=1e-12)


@pytest.mark.parametrize("n", [2, 5, 17])
def test_path_has_the_entropy_of_its_cosines(n):
    assert value(zoo.path(n)) == pytest.approx(of_eigenvalues(2 - 2 * np.cos(np.pi * np.arange(n) / n)), abs=1e-12)


@pytest.mark.parametrize("n", [3, 4, 9, 50])
def test_star_has_one_large_eigenvalue(n):
    t = 2 * (n - 1)
    closed = -(n / t) * np.log(n / t) + (n - 2) / t * np.log(t)
    assert value(zoo.star(n)) == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 6, 40])
def test_complete_graph_attains_the_upper_bound(n):
    assert value(zoo.complete(n)) == pytest.approx(np.log(n - 1), abs=1e-12)


@pytest.mark.parametrize("graph", [zoo.ring(11), zoo.complete(8), ring_knn(20, 10)])
def test_degree_entropy_of_a_regular_graph_is_the_logarithm_of_its_nodes(graph):
    assert value(graph, "degree") == pytest.approx(np.log(graph.n_nodes), abs=1e-12)


@pytest.mark.parametrize("n", [4, 11])
def test_local_entropy_of_a_regular_graph_subtracts_one_over_twice_the_degree(n):
    # Λ(q, q) = n, a = 1/(n d), n d/2 edges: Σ a² Λ = 1/(2 d).
    assert value(zoo.ring(n), "local") == pytest.approx(np.log(n) - 1 / 4, abs=1e-12)
    assert value(zoo.complete(n), "local") == pytest.approx(np.log(n) - 1 / (2 * (n - 1)), abs=1e-12)


def test_degree_entropy_of_a_star_is_half_a_bit_and_half_the_leaves():
    n = 9
    closed = 0.5 * np.log(2) + 0.5 * np.log(2 * (n - 1))
    assert value(zoo.star(n), "degree") == pytest.approx(closed, abs=1e-12)


def test_single_edge_has_no_entropy():
    assert value(zoo.path(2)) == pytest.approx(0, abs=1e-14)


def test_copies_side_by_side_add_the_logarithm_of_their_number():
    one = zoo.random_graph(7, 12, 3, weighted=True)
    copies = zoo.disjoint(one, one, one, isolated=2)
    tripled = zoo.reweighted(copies, np.tile(one.weights, 3))
    for name in NAMES:
        assert value(tripled, name) == pytest.approx(value(one, name) + np.log(3), abs=1e-12)


# The figures that the documentation quotes, to four digits.


def figures(graph: Graph) -> tuple[float, float, float]:
    s, h, local = (value(graph, name) for name in ("exact", "degree", "local"))
    return s, h - s, local - s


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (lambda: graphpri.as_graph(nx.karate_club_graph(), weight=None), (3.1541, 0.1068, 0.0227)),
        (lambda: graphpri.as_graph(nx.les_miserables_graph()), (3.6028, 0.0960, 0.0265)),
        (lambda: ring_knn(1000, 10), (6.8334, 0.0743, 0.0243)),
        (lambda: zoo.grid(30, 30), (6.6489, 0.1490, 0.0198)),
        (lambda: zoo.path(200), (4.9884, 0.3084, 0.0574)),
    ],
    ids=["karate", "les miserables", "ring lattice", "grid", "path"],
)
def test_entropies_of_known_graphs(graph, expected):
    assert figures(graph()) == pytest.approx(expected, abs=6e-5)


def test_adding_the_missing_edge_can_lower_the_entropy():
    pairs = [(i, j) for i in range(2) for j in range(2, 8)]
    bipartite = Graph.from_edges(*np.array(pairs).T)
    joined = Graph.from_edges(*np.array([*pairs, (0, 1)]).T)
    assert value(bipartite) == pytest.approx(1.7482, abs=5e-5)
    assert value(joined) == pytest.approx(1.7118, abs=5e-5)


def test_the_degree_entropy_is_above_the_exact_one_by_at_most_theorem_2s_bound():
    # H − S ≤ tr(W²)/(δ d_G) in nats, with δ the smallest degree and d_G the sum of all.
    for graph in (zoo.grid(6, 7), zoo.complete(9), zoo.two_cliques(6), zoo.random_graph(20, 90, 5, weighted=True)):
        strengths = graph.strengths()
        bound = 2 * float((graph.weights**2).sum()) / (strengths.min() * strengths.sum())
        assert 0 <= value(graph, "degree") - value(graph) <= bound


# Bounds and invariances.


@settings(max_examples=40)
@given(random_graphs())
def test_exact_entropy_lies_between_zero_and_the_complete_graphs(graph):
    s = value(graph)
    n = int(np.count_nonzero(graph.degrees()))
    assert -1e-12 <= s <= np.log(max(n - 1, 1)) + 1e-12


@settings(max_examples=40)
@given(random_graphs())
def test_degree_entropy_is_never_below_the_exact_one(graph):
    assert value(graph, "degree") >= value(graph) - 1e-12


@settings(max_examples=40)
@given(random_graphs())
def test_exact_by_component_is_exact_of_the_whole_matrix(graph):
    assert value(graph) == pytest.approx(by_dense_matrix(graph), abs=1e-10)


@every_graph
def test_exact_by_component_is_exact_of_the_whole_matrix_on_the_zoo(graph):
    assert value(graph) == pytest.approx(by_dense_matrix(graph), abs=1e-10)


@every_entropy
@settings(max_examples=30)
@given(graph=random_graphs(), scale=st.floats(-250, 250))
def test_scale_of_the_weights_does_not_matter(name, graph, scale):
    scaled = zoo.reweighted(graph, graph.weights * 10.0**scale)
    assert value(scaled, name) == pytest.approx(value(graph, name), abs=1e-11)


@every_entropy
@settings(max_examples=30)
@given(graph=random_graphs(), seed=st.integers(0, 1000))
def test_names_of_the_nodes_do_not_matter(name, graph, seed):
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    renamed = Graph.from_edges(order[graph.source], order[graph.target], graph.weights, n_nodes=graph.n_nodes)
    assert value(renamed, name) == pytest.approx(value(graph, name), abs=1e-11)


@every_entropy
def test_edges_of_weight_zero_and_isolated_nodes_do_not_matter(name):
    graph = zoo.random_graph(12, 40, 8, weighted=True)
    y = np.where(np.arange(40) % 3 == 0, 0.0, graph.weights)
    kept = zoo.disjoint(graph.select(y > 0), isolated=3)
    assert value(graph, name, y) == pytest.approx(value(zoo.reweighted(kept, y[y > 0]), name), abs=1e-12)


def test_many_components_are_solved_together():
    pairs = np.arange(2 * 10**5).reshape(-1, 2)
    triangles = np.arange(600).reshape(-1, 3)
    u = np.concatenate([pairs[:, 0], *(200_000 + triangles[:, i] for i in (0, 1, 2))])
    v = np.concatenate([pairs[:, 1], *(200_000 + triangles[:, i] for i in (1, 2, 0))])
    graph = Graph.from_edges(u, v)
    t = 2 * graph.n_edges
    lam = np.concatenate([np.full(10**5, 2 / t), np.full(400, 3 / t)])
    assert value(graph) == pytest.approx(of_eigenvalues(lam), abs=1e-9)


@every_entropy
@pytest.mark.parametrize("low", [1e-300, 1e-200, 1e-17])
def test_weights_far_apart_leave_the_heavy_edges(name, low):
    # Two heavy triangles, joined and surrounded by edges that weigh nothing beside them.
    heavy = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    light = [(2, 3), (6, 7), (7, 0)]
    graph = Graph.from_edges(*np.array(heavy + light).T, [1e300] * 6 + [low] * 3)
    alone = Graph.from_edges(*np.array(heavy).T)
    found = evaluate(graph, name, gradient=True)
    assert found.value == pytest.approx(value(alone, name), abs=1e-12)
    assert np.isfinite(found.log_term).all()


@pytest.mark.parametrize("graph", zoo.EDGELESS.values(), ids=zoo.EDGELESS.keys())
def test_a_graph_without_edges_has_no_entropy(graph):
    with pytest.raises(GraphError, match="no edges"):
        evaluate(graph, "exact")


def test_all_weights_zero_have_no_entropy():
    with pytest.raises(GraphError, match="not defined"):
        evaluate(zoo.ring(4), "degree", np.zeros(4))


def test_unknown_names_are_refused_with_those_there_are():
    with pytest.raises(OptionError, match="'quantum': choose from exact, degree, local"):
        evaluate(zoo.ring(4), "quantum")


# Gradients.


def gradient(graph: Graph, name: str, y: np.ndarray) -> np.ndarray:
    s, term = ENTROPIES[name].evaluate(graph, y, True)
    assert term is not None
    return -(term + 2 * s) / (2 * y.sum())


def log_derivatives(graph: Graph, name: str, y: np.ndarray) -> np.ndarray:
    """y ∂S/∂y of each edge by central differences of fourth order in ln y."""

    def at(m: int, step: float) -> float:
        moved = y.copy()
        moved[m] *= np.exp(step)
        return ENTROPIES[name].evaluate(graph, moved, False).value

    h = 1e-3
    return np.array(
        [(8 * (at(m, h) - at(m, -h)) - (at(m, 2 * h) - at(m, -2 * h))) / (12 * h) for m in range(graph.n_edges)]
    )


@every_entropy
@every_graph
def test_gradient_agrees_with_central_differences(name, graph):
    y = graph.weights / graph.weights.max() * np.random.default_rng(5).uniform(0.3, 1, graph.n_edges)
    np.testing.assert_allclose(y * gradient(graph, name, y), log_derivatives(graph, name, y), rtol=1e-7, atol=1e-11)


@every_entropy
@settings(max_examples=40)
@given(graph=random_graphs())
def test_value_is_the_same_with_and_without_gradient(name, graph):
    with_gradient = evaluate(graph, name, gradient=True)
    assert with_gradient.value == pytest.approx(value(graph, name), abs=1e-12)
    # Scaling all weights changes nothing: the gradient is orthogonal to them.
    slope = with_gradient.log_term + 2 * with_gradient.value
    if name != "exact" or graph.components()[0] == 1:
        assert float(graph.weights @ slope) / float(graph.weights.sum()) == pytest.approx(0, abs=1e-6)


def test_several_weightings_at_once_agree_with_one_by_one():
    graph = zoo.random_graph(9, 20, 4, weighted=True)
    rng = np.random.default_rng(1)
    y = rng.random((6, 20)) * (rng.random((6, 20)) < 0.7)
    values, terms = exact_entropies_and_terms(graph, y)
    np.testing.assert_allclose(exact_entropies(graph, y), values, rtol=1e-12)
    for row, s, term in zip(y, values, terms, strict=True):
        alone = ENTROPIES["exact"].evaluate(graph, row, True)
        assert s == pytest.approx(alone.value, abs=1e-12)
        np.testing.assert_allclose(term[row > 0], alone.log_term[row > 0], atol=1e-8)


# The functions they are made of.


def accurate_log_mean_inverse(x: float, y: float) -> float:
    getcontext().prec = 60
    a, b = Decimal(x), Decimal(y)
    return float(1 / a) if a == b else float((a.ln() - b.ln()) / (a - b))


@given(
    st.floats(-300, 0),
    st.one_of(st.floats(-300, 0), st.sampled_from([0.0, 1e-16, 1e-12, 1e-9, 1e-6, 9.9e-5, 1.01e-4, 1e-3, 0.3, 0.7, 3])),
    st.booleans(),
)
def test_log_mean_inverse_is_accurate_near_and_far(exponent, other, near):
    x = 10.0**exponent
    y = x * (1 + abs(other) / 300) if near else 10.0 ** -abs(other)
    exact = accurate_log_mean_inverse(x, y)
    assert log_mean_inverse(np.array([x]), np.array([y]))[0] == pytest.approx(exact, rel=1e-12)
    assert log_mean_inverse(np.array([y]), np.array([x]))[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-10, 1e-7, 9.99e-5, 1.001e-4, 1e-3, 0.49, 0.51, 0.9, 1e3, 1e12])
def test_log_mean_inverse_is_accurate_at_the_seams(gap):
    x, y = 0.37, 0.37 * (1 + gap)
    assert log_mean_inverse(np.array([x]), np.array([y]))[0] == pytest.approx(
        accurate_log_mean_inverse(x, y), rel=3e-15
    )


def test_zero_times_its_logarithm_is_zero():
    np.testing.assert_array_equal(xlogx(np.array([0.0, 1.0])), [0.0, 0.0])
    assert xlogx(np.array([0.5]))[0] == pytest.approx(-0.5 * np.log(2))


@pytest.mark.parametrize("entries", [1, 10, 100, 10**6])
def test_components_worked_on_in_batches_give_the_same_entropy(monkeypatch, entries):
    graph = zoo.disjoint(zoo.ring(5), zoo.complete(5), zoo.path(5), zoo.star(9), isolated=3)
    y = np.linspace(0.5, 2, graph.n_edges)
    expected = exact_entropy(graph, y, True)
    monkeypatch.setattr("graphpri.graph.STACK_ENTRIES", entries)
    found = exact_entropy(graph, y, True)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert np.allclose(found.log_term, expected.log_term, atol=1e-10)
