"""Stochastic entropy: bounds that hold, errors that cover, gradients that rank, and the same from every path."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import spearmanr

import zoo
from graphpri._entropy import EIGENVALUE_FLOOR, degree_entropy, exact_entropy, scaled, stochastic
from graphpri._entropy.by_name import ENTROPIES, evaluate
from graphpri._entropy.stochastic import (
    Estimate,
    Laplacian,
    Pattern,
    Rule,
    Sample,
    _combined,
    entropy_forms,
    estimate,
    log_term,
    log_times,
    steps,
)
from graphpri.datasets import barabasi_albert, stochastic_block_model
from graphpri.graph import FloatArray, Graph

every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())
TERMS = [[1, 0, 0], [0, 1, 0], [-0.5, -0.5, 1], [-3, -4, 8]]  # S kept, S, D, J at beta 4


def weightings(graph: Graph, seed: int = 0, share: float = 0.5) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A random part, the whole, and their mixture."""
    y = scaled(graph.weights)
    kept = np.where(np.random.default_rng(seed).random(graph.n_edges) < share, y, 0.0)
    kept[0] = y[0]
    return kept, y, scaled(0.5 * (kept / kept.sum() + y / y.sum()))


def exact(graph: Graph, ys: tuple[FloatArray, ...]) -> np.ndarray:
    return np.array(TERMS) @ [exact_entropy(graph, y, False).value for y in ys]


def operator(graph: Graph, y: FloatArray | None = None) -> tuple[Laplacian, np.ndarray]:
    """The Laplacian of trace 1 as an operator and as a dense matrix."""
    y = scaled(graph.weights) if y is None else y
    a = y / (2 * y.sum())
    dense = graph.laplacian(a).toarray()
    return Laplacian(Pattern(graph), a, dense.diagonal().copy()), dense


def of_matrix(dense: np.ndarray, f) -> np.ndarray:
    lam, vectors = np.linalg.eigh(dense)
    return (vectors * f(np.maximum(lam, 0))) @ vectors.T


def signs(n: int, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (n, count)) * 2.0 - 1.0


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(stochastic, "COMPILED_NODES", 0)
    monkeypatch.setattr(stochastic, "DENSE_NODES", 0)


# Recurrence and quadrature.


@every_graph
def test_quadrature_bounds_the_form_from_both_sides_and_meets_at_full_depth(graph):
    laplacian, dense = operator(graph)
    z = signs(graph.n_nodes, 4)
    form = np.einsum("ib,ij,jb->b", z, of_matrix(dense, lambda x: -x * np.log(np.where(x > 0, x, 1))), z)
    for depth in (1, 2, 3, 5, 3 * graph.n_nodes):
        low, high, rule = entropy_forms(laplacian, z.copy(), lambda *_: False, depth)
        assert rule.steps <= depth
        assert (low <= form + 1e-9).all()
        assert (form <= high + 1e-9).all()
    np.testing.assert_allclose(low, form, atol=1e-9)
    np.testing.assert_allclose(high, form, atol=1e-9)


@pytest.mark.parametrize("name", ["hubs", "grid", "path", "heavy"])
@pytest.mark.parametrize("depth", [8, 14])
def test_the_learned_place_of_the_form_between_its_bounds_is_off_by_about_what_it_says(name, depth):
    hubs = barabasi_albert(200, 5, 1)
    graph = {
        "hubs": hubs,
        "grid": zoo.grid(10, 20),
        "path": zoo.path(200),
        "heavy": zoo.reweighted(hubs, 1 + np.random.default_rng(1).pareto(1.5, hubs.n_edges)),
    }[name]
    laplacian, dense = operator(graph)
    z = signs(graph.n_nodes, 32)
    form = np.einsum("ib,ij,jb->b", z, of_matrix(dense, lambda x: -x * np.log(np.where(x > 0, x, 1))), z).mean()
    low, high, rule = entropy_forms(laplacian, z - z.mean(axis=0), lambda *_: False, depth)
    gap = float((high - low).mean())
    assert abs(float(high.mean()) - rule.place * gap - form) <= 1.5 * rule.wrong * gap + 1e-12
    assert rule.wrong < 0.2


def test_lanczos_vectors_are_orthonormal_and_tridiagonalise():
    laplacian, dense = operator(zoo.random_graph(30, 90, 1, weighted=True))
    z = signs(30, 3)
    run = [(s.x * s.scale, s.alpha, s.beta) for _, s in zip(range(8), steps(laplacian, z.copy()), strict=False)]
    for b in range(3):
        basis = np.array([v[:, b] for v, _, _ in run]).T
        np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-9)
        t = basis.T @ dense @ basis
        np.testing.assert_allclose(t.diagonal(), [a[b] for _, a, _ in run], atol=1e-12)
        np.testing.assert_allclose(t.diagonal(1), [c[b] for _, _, c in run[:-1]], atol=1e-12)


@pytest.mark.parametrize("name", ["path", "random", "weighted", "disconnected", "star", "isolated_node"])
def test_logarithm_times_vectors_is_that_of_the_dense_matrix(name):
    graph = zoo.GRAPHS[name]
    laplacian, dense = operator(graph)
    z = dense @ signs(graph.n_nodes, 4)  # in the range
    log = of_matrix(dense, lambda x: np.where(x > 1e-10, np.log(np.where(x > 1e-10, x, 1)), 0))
    np.testing.assert_allclose(log_times(laplacian, z, graph.n_nodes), log @ z, atol=1e-8)


@every_graph
def test_common_neighbours_are_those_of_the_squared_matrix(graph, everything_is_large, monkeypatch):
    y = weightings(graph, 3)[0]
    laplacian, dense = operator(graph, y)
    a = np.diag(dense.diagonal()) - dense
    at_node = np.random.default_rng(1).random(graph.n_nodes)
    expected = (a @ np.diag(at_node) @ a)[graph.source, graph.target]
    np.testing.assert_allclose(laplacian.common(at_node), expected, atol=1e-15)
    monkeypatch.setattr(stochastic, "COMPILED_NODES", 10**9)
    monkeypatch.setattr(stochastic, "DENSE_NODES", 10**9)
    np.testing.assert_allclose(operator(graph, y)[0].common(at_node), expected, atol=1e-15)


# Values.


@every_graph
def test_errors_cover_what_is_off_on_every_kind_of_graph(graph):
    ys = weightings(graph)
    found = estimate(graph, ys, TERMS, probes=256, small=0)
    for one, truth in zip(found, exact(graph, ys), strict=True):
        assert abs(one.value - truth) <= 4 * one.error + 1e-9


COVERED = {
    "hubs": barabasi_albert(300, 4, 1),
    "grid": zoo.grid(15, 20),
    "components": zoo.disjoint(zoo.random_graph(250, 750, 1, weighted=True), zoo.ring(60), zoo.star(20), isolated=40),
}


@pytest.mark.parametrize("asked", [{"probes": 32}, {"target": (2e-3, 2e-3, 2e-3, np.inf)}], ids=["probes", "error"])
@pytest.mark.parametrize("name", COVERED)
def test_intervals_hold_the_truth_in_95_of_100_seeds_and_are_no_wider(name, asked):
    graph = COVERED[name]
    ys = weightings(graph)
    truth = exact(graph, ys)
    found = [estimate(graph, ys, TERMS, rng=seed, **asked) for seed in range(40)]
    off = np.array([[one.value - x for one, x in zip(row, truth, strict=True)] for row in found])
    errors = np.array([[one.error for one in row] for row in found])
    inside = np.mean(np.abs(off) <= 1.96 * errors, axis=0)
    assert (inside >= 0.85).all()  # a binomial of 0.95 is below that once in 500 times
    assert inside.mean() < 0.99
    ratio = errors.mean(axis=0) / np.sqrt((off**2).mean(axis=0))
    assert ((ratio > 0.75) & (ratio < 1.5)).all()
    assert (np.abs(off.mean(axis=0)) < 4 * errors.mean(axis=0) / np.sqrt(40)).all()


@pytest.mark.parametrize("asked", [{"probes": 32}, {"probes": 512}, {"target": 5e-3}], ids=["few", "many", "error"])
@pytest.mark.parametrize("name", COVERED)
def test_bias_is_small_beside_chance_in_differences_too(name, asked):
    for one in estimate(COVERED[name], weightings(COVERED[name]), TERMS, **asked):
        assert 0 < one.bias < 0.4 * one.chance
        assert one.error == pytest.approx(np.hypot(one.bias, one.chance))


def share_inside(draw, probes: int) -> tuple[float, float]:
    """How often 1.96 errors hold the mean 0 of values that regress on controls, and their mean length."""
    rng, rule = np.random.default_rng(0), Rule(10, 0.3, 0.1)
    drawn = (draw(rng, probes) for _ in range(2000))
    found = [_combined([[Sample(value, control, 0.0, rule)]], np.ones(1)) for value, control in drawn]
    return float(np.mean([abs(one.value) <= 1.96 * one.error for one in found])), float(
        np.mean([one.error for one in found])
    )


def test_few_probes_have_the_longer_interval_of_students_t():
    def draw(rng, probes):
        control = rng.standard_normal(probes)
        return rng.standard_normal(probes) + 0.7 * control, control

    inside, length = share_inside(draw, 8)
    assert 0.935 < inside < 0.975  # without Student's t: 0.92
    assert length > 1.1 / np.sqrt(8)


def test_intervals_hold_the_mean_where_values_scatter_most_where_controls_are_far_out():
    def draw(rng, probes):
        control = rng.standard_normal(probes) ** 2 - 1
        return (0.7 + rng.standard_normal(probes)) * control, control

    assert 0.93 < share_inside(draw, 64)[0] < 0.97  # by the usual error of a regression: 0.91


def test_common_probes_make_differences_more_precise_than_their_parts():
    graph = barabasi_albert(800, 4, 1)
    y = scaled(graph.weights)
    nearly = np.where(np.arange(y.size) % 50 == 0, 0.0, y)
    difference, one, other = estimate(graph, (y, nearly), [[1, -1], [1, 0], [0, 1]], probes=64)
    assert difference.error < 0.3 * min(one.error, other.error)
    truth = exact_entropy(graph, y, False).value - exact_entropy(graph, nearly, False).value
    assert abs(difference.value - truth) < 4 * difference.error


@pytest.mark.parametrize(("target", "least", "most"), [(5e-3, 1, 1), (7e-4, 5, 32)])
def test_an_error_asked_for_is_reached_and_takes_more_probes(target, least, most, monkeypatch):
    graph = zoo.grid(18, 20)
    taken = []
    draw = stochastic._signs
    monkeypatch.setattr(stochastic, "_signs", lambda *given: (taken.append(1) or z for z in draw(*given)))
    found = estimate(graph, weightings(graph), TERMS, target=(target, np.inf, np.inf, np.inf))
    assert found[0].error <= target
    assert least <= len(taken) <= most


def test_probes_have_an_end_where_the_error_asked_for_can_not_be_reached(monkeypatch):
    monkeypatch.setattr(stochastic, "MOST_PROBES", 64)
    graph = zoo.grid(15, 15)
    one = estimate(graph, [scaled(graph.weights)], [[1]], target=1e-9)[0]
    assert 1e-9 < one.error == estimate(graph, [scaled(graph.weights)], [[1]], probes=64)[0].error


def test_values_depend_on_the_seed_alone():
    graph = barabasi_albert(400, 3, 1)
    order = np.random.default_rng(0).permutation(graph.n_edges)
    shuffled = Graph.from_edges(graph.target[order], graph.source[order])
    one, again, other = (
        estimate(g, [np.ones(g.n_edges)], [[1]], rng=seed) for g, seed in ((graph, 0), (shuffled, 0), (graph, 1))
    )
    assert one == again != other


@pytest.mark.parametrize("spread", [10.0, 250.0])
def test_weights_far_apart_keep_values_and_terms_in_range(spread):
    graph = zoo.disjoint(zoo.random_graph(250, 900, 1), zoo.path(2), isolated=30)
    y = scaled(10.0 ** np.random.default_rng(0).uniform(-spread, spread, graph.n_edges))
    one = estimate(graph, [y], [[1]])[0]
    assert abs(one.value - exact_entropy(graph, y, False).value) <= 4 * one.error
    term = log_term(graph, y)
    assert ((term >= 2 * np.log(EIGENVALUE_FLOOR)) & (term <= 0)).all()


def test_small_components_are_exact_and_have_no_error():
    graph = zoo.disjoint(*[zoo.random_graph(30, 60, seed) for seed in range(10)], isolated=50)
    y = scaled(graph.weights)
    assert estimate(graph, [y], [[1]]) == [(exact_entropy(graph, y, False).value, 0.0)]
    term = evaluate(graph, "stochastic", gradient=True).log_term
    np.testing.assert_array_equal(term, exact_entropy(graph, y, True).log_term)


def test_an_estimate_is_a_pair_and_keeps_its_bias_on_the_way():
    one = Estimate(2.0, 0.5, bias=0.3)
    value, error = pickle.loads(pickle.dumps(one))
    assert (value, error) == (2.0, 0.5)
    for other in (pickle.loads(pickle.dumps(one)), one.plus(1.0), one.over(1.0)):
        assert (other.bias, other.chance) == (0.3, pytest.approx(0.4))


def test_estimates_are_written_to_two_digits_of_their_error():
    texts = [str(Estimate(*pair)) for pair in ((13.714, 0.001), (0.0632412, 9.26e-5), (7.1, 0.0), (2.0, np.inf))]
    assert texts == ["13.7140 ± 0.0010", "0.063241 ± 0.000093", "7.1000", "2.0000"]


# Gradients.


def communities(n: int) -> Graph:
    return stochastic_block_model((50,) * (n // 50), 8 / 49, 2 / (n - 50), seed=0)


@pytest.mark.parametrize(
    "graph", [barabasi_albert(600, 5, 0), communities(600), zoo.grid(24, 25)], ids=["hubs", "communities", "grid"]
)
def test_edge_terms_rank_better_than_the_degree_entropys(graph):
    kept, y, mixed = weightings(graph)
    beta = 4.0

    def slopes(term) -> list[np.ndarray]:
        return [term(y), (1 - beta) * term(kept) + beta * term(mixed)]

    true, found, degree = (
        slopes(lambda w, how=how: how(graph, w))
        for how in (
            lambda g, w: exact_entropy(g, w, True).log_term,
            lambda g, w: log_term(g, w),
            lambda g, w: degree_entropy(g, w, True).log_term,
        )
    )
    ranks = [
        (spearmanr(f, t).statistic, spearmanr(d, t).statistic) for f, t, d in zip(found, true, degree, strict=True)
    ]
    for ours, theirs in ranks:
        assert ours > theirs or ours > 0.9999
        assert ours >= 0.99 or theirs < 0.99
    assert ranks[1][0] > 0.98


def test_edge_terms_are_right_to_their_noise_and_across_components():
    graph = zoo.disjoint(barabasi_albert(300, 4, 1), zoo.grid(6, 7))
    kept = weightings(graph, share=0.4)[0]
    true = exact_entropy(graph, kept, True).log_term
    found = log_term(graph, kept, probes=256, steps=30)
    member = graph.components(kept > 0)[1]
    across = member[graph.source] != member[graph.target]
    assert across.sum() > 50
    assert np.sqrt(np.mean((found - true)[~across] ** 2)) < 0.05 * true[~across].std()
    np.testing.assert_allclose(found[across], true[across], atol=2)


def test_the_registered_entropy_gives_value_and_term():
    graph = barabasi_albert(400, 3, 1)
    entropy = ENTROPIES["stochastic"]
    assert entropy.stochastic
    assert not ENTROPIES["exact"].stochastic
    value, term = entropy.evaluate(graph, scaled(graph.weights), True)
    true = exact_entropy(graph, scaled(graph.weights), True)
    assert value == pytest.approx(true.value, abs=2e-3)
    assert term is not None
    np.testing.assert_allclose(term, true.log_term, atol=0.1)


# Large graphs.


def test_compiled_loops_give_what_scipy_gives(everything_is_large, monkeypatch):
    graph = zoo.disjoint(barabasi_albert(300, 4, 1), zoo.random_graph(60, 150, 2), isolated=5)
    ys = weightings(graph)
    monkeypatch.setattr(stochastic, "_ROWS", 50)
    compiled = estimate(graph, ys, TERMS, probes=16), log_term(graph, ys[0], probes=16)
    monkeypatch.setattr(stochastic, "COMPILED_NODES", 10**9)
    monkeypatch.setattr(stochastic, "DENSE_NODES", 10**9)
    monkeypatch.setattr(stochastic, "_SIZES", {False: 8})
    for one, other in zip(compiled[0], estimate(graph, ys, TERMS, probes=16), strict=True):
        assert one == pytest.approx(other, abs=1e-9)
    np.testing.assert_allclose(compiled[1], log_term(graph, ys[0], probes=16), atol=1e-6)


def test_the_number_of_threads_changes_no_digit(everything_is_large, monkeypatch):
    monkeypatch.setattr(stochastic, "_ROWS", 50)
    graph = barabasi_albert(400, 4, 1)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("GRAPHPRI_THREADS", threads)
        found.append((estimate(graph, weightings(graph), TERMS), log_term(graph, scaled(graph.weights)).tobytes()))
    assert found[0] == found[1]


def test_small_graphs_do_not_load_the_compiler():
    code = (
        "import sys, graphpri; g = graphpri.datasets.barabasi_albert(1500, 3, seed=1); "
        "graphpri.estimate(g); graphpri.von_neumann_entropy(g, 'stochastic'); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
