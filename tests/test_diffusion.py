"""Diffusion as an objective, an experiment in `benchmarks/gibbs.py`: its laws, its changes by moves, and the search."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm, logm

from graphpri import as_graph, datasets
from graphpri.errors import OptionError
from graphpri.graph import Graph
from zoo import complete, grid, path, random_graph, reweighted, ring

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import diffusion as study
import gibbs
from gibbs import Diffusion, Moves, search, weights

WEIGHTED = random_graph(14, 40, seed=3, weighted=True)
SCALES = [0.3, 3.0, 30.0]
every_scale = pytest.mark.parametrize("scale", SCALES)
with_entropy = pytest.mark.parametrize("beta", [None, 2.0])


def karate() -> Graph:
    return as_graph(datasets.load("karate"), weight=None)


def drawn(graph: Graph, seed: int) -> Any:
    """Other weights on the edges, a part of them 0."""
    rng = np.random.default_rng(seed)
    return graph.weights * rng.uniform(0.1, 2, graph.n_edges) * (rng.random(graph.n_edges) < 0.7)


def half(graph: Graph, seed: int = 0) -> Any:
    """About half of the edges, and a spanning forest."""
    mask = np.random.default_rng(seed).random(graph.n_edges) < 0.4
    return mask | gibbs.best_forest_by(graph, graph.weights, np.arange(graph.n_edges))


def value_by_matrices(graph: Graph, y: Any, scale: float) -> float:
    """tr ρ (ln ρ − ln σ) by functions of matrices."""
    laplacians = [graph.select(np.ones(graph.n_edges, bool), w).laplacian().toarray() for w in (graph.weights, y)]
    tau = scale * graph.n_nodes / np.trace(laplacians[0])
    rho, sigma = (m / np.trace(m) for m in (expm(-tau * laplacian) for laplacian in laplacians))
    return float(np.trace(rho @ (logm(rho) - logm(sigma))))


# The objective


def test_the_objective_is_the_relative_entropy_of_the_states():
    y = drawn(WEIGHTED, 1) + 0.01
    assert Diffusion(WEIGHTED, 2.0).value(y) == pytest.approx(value_by_matrices(WEIGHTED, y, 2.0), rel=1e-9)


def test_beta_adds_a_share_of_the_entropy_of_the_kept_state():
    graph, y = karate(), drawn(karate(), 0)
    d = Diffusion(graph, 2.0)
    matrix = expm(-d.time * d.laplacian(y))
    p = np.linalg.eigvalsh(matrix / np.trace(matrix))
    assert Diffusion(graph, 2.0, 5.0).value(y) - d.value(y) == pytest.approx(-float(p @ np.log(p)) / 5, rel=1e-9)


@every_scale
@with_entropy
def test_the_gradient_is_that_of_central_differences(scale, beta):
    d, y = Diffusion(WEIGHTED, scale, beta), drawn(WEIGHTED, 2) + 0.1
    slopes = d.slopes(d.state(*d.spectrum(y)))
    for edge in range(0, y.size, 3):
        step = np.zeros(y.size)
        step[edge] = 1e-5 * y[edge]
        difference = (d.value(y + step) - d.value(y - step)) / (2 * step[edge])
        assert slopes[edge] == pytest.approx(difference, rel=1e-4, abs=1e-8)


@every_scale
def test_the_objective_is_convex_along_segments_not_negative_and_zero_for_the_original(scale):
    d = Diffusion(WEIGHTED, scale)
    assert d.value(WEIGHTED.weights) == pytest.approx(0, abs=1e-12)
    for seed in range(5):
        a, b = drawn(WEIGHTED, seed), drawn(WEIGHTED, 100 + seed)
        along = [d.value(a + t * (b - a)) for t in np.linspace(0, 1, 9)]
        assert min(along) > 0
        assert np.diff(along, 2).min() > 0


def test_short_times_see_the_laplacian_and_long_times_nothing():
    """τ → 0: τ²/2 times the variance of the eigenvalues of L_σ − L_ρ; τ → ∞: every state is the constant one."""
    graph, y = karate(), drawn(karate(), 4) + 0.1
    short, long = Diffusion(graph, 1e-3), Diffusion(graph, 1e5)
    change = short.laplacian(y) - short.laplacian(graph.weights)
    variance = (change**2).sum() / 34 - (np.trace(change) / 34) ** 2
    assert short.value(y) == pytest.approx(short.time**2 / 2 * variance, rel=0.01)
    assert long.value(y) == pytest.approx(0, abs=1e-9)
    assert np.abs(long.original.at_edges).max() < 1e-9


def test_long_times_cost_most_where_the_graph_falls_apart():
    graph = ring(9)
    y = np.where(np.arange(9) < 7, 1.0, 0.0)
    assert Diffusion(graph, 1e4).value(y) == pytest.approx(np.log(2), rel=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_scale_is_in_units_of_the_mean_degree(unit):
    other = reweighted(WEIGHTED, WEIGHTED.weights * unit)
    y = drawn(WEIGHTED, 5)
    assert Diffusion(other, 7.0).value(y * unit) == pytest.approx(Diffusion(WEIGHTED, 7.0).value(y), rel=1e-9)
    found, again = (search(Diffusion(g, 7.0), 20) for g in (WEIGHTED, other))
    np.testing.assert_array_equal(found.mask, again.mask)
    one, two = (weights(Diffusion(g, 7.0), found.mask) for g in (WEIGHTED, other))
    np.testing.assert_allclose(two, one * unit, rtol=1e-4)


def test_names_of_nodes_do_not_matter():
    places = np.random.default_rng(1).permutation(WEIGHTED.n_nodes)
    ends = np.sort([places[WEIGHTED.source], places[WEIGHTED.target]], axis=0)
    at = np.lexsort((ends[1], ends[0]))
    other = Graph.from_edges(*ends[:, at], WEIGHTED.weights[at], n_nodes=WEIGHTED.n_nodes)
    y = drawn(WEIGHTED, 6)
    assert Diffusion(other, 3.0).value(y[at]) == pytest.approx(Diffusion(WEIGHTED, 3.0).value(y), rel=1e-9)
    found, again = (search(Diffusion(g, 3.0), 20) for g in (WEIGHTED, other))
    np.testing.assert_array_equal(again.mask, found.mask[at])


# Moves


@pytest.mark.parametrize("held", [False, True])
@with_entropy
@every_scale
def test_changes_by_moves_are_exact_where_weights_are_equal(scale, beta, held):
    graph, d = karate(), Diffusion(karate(), scale, beta)
    mask = half(graph)
    moves = Moves(d, mask, held)
    out, into = np.flatnonzero(mask)[::9], np.flatnonzero(~mask)[::9]
    factor = 78 / mask.sum() if held else 1.0

    def after(*edges: int) -> float:
        changed = mask.copy()
        changed[list(edges)] = ~changed[list(edges)]
        return d.value(factor * changed) - moves.value

    for i, e in enumerate(out):
        if not held:
            assert moves.singles[e] == pytest.approx(after(e), abs=1e-8)
        for j, f in enumerate(into):
            assert moves.swaps(out, into)[i, j] == pytest.approx(after(e, f), abs=1e-8)


def test_changes_by_moves_are_exact_for_weights_as_given():
    d, mask = Diffusion(WEIGHTED, 10.0), half(WEIGHTED)
    moves, y = Moves(d, mask, False), np.where(mask, WEIGHTED.weights, 0.0)
    for edge in range(WEIGHTED.n_edges):
        changed = y.copy()
        changed[edge] = 0.0 if mask[edge] else WEIGHTED.weights[edge]
        assert moves.singles[edge] == pytest.approx(d.value(changed) - moves.value, abs=1e-8)


@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
def test_the_factor_of_resistance_mends_most_of_the_first_order(scale):
    """1/(1 ∓ w R_τ), with R_τ = bᵀ(1/τ + L)⁻¹b, is an approximation; the integral is what the search takes."""
    graph, d = karate(), Diffusion(karate(), scale)
    mask = half(graph)
    exact = Moves(d, mask, False).singles - np.where(mask, -1, 1) * d.time * d.original.at_edges
    first, mended = gibbs.corrected(d, mask)
    errors = [np.median(np.abs(found - exact)) for found in (first, mended)]
    assert 1e-9 < errors[1] < 0.7 * errors[0]


# Subsets


@pytest.mark.parametrize("graph", [WEIGHTED, grid(5, 6), complete(9), ring(8)], ids=["weighted", "grid", "K9", "ring"])
@with_entropy
def test_the_search_keeps_k_edges_that_hold_the_graph_together_and_no_swap_is_better(graph, beta):
    k = max(graph.n_nodes - 1, graph.n_edges // 2)
    d = Diffusion(graph, 3.0, beta)
    found = search(d, k)
    assert (found.mask.sum(), graph.components(found.mask)[0], found.converged) == (k, 1, True)
    assert found.value == pytest.approx(d.value(gibbs.scaled(graph, found.mask, True)), rel=1e-9)
    for e in np.flatnonzero(found.mask):
        for f in np.flatnonzero(~found.mask):
            after = found.mask.copy()
            after[e], after[f] = False, True
            if graph.components(after)[0] == 1:
                # With weights the predicted change is not exact, so that some gains go unseen.
                slack = 1e-9 if not graph.is_weighted else 0.02 * found.value
                assert d.value(gibbs.scaled(graph, after, True)) > found.value - slack


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_the_search_mostly_ends_at_the_least_of_all_subsets(scale):
    one, three = study.gaps(6, scale)
    assert sum(gap < 1e-9 for gap in one) >= 4
    assert sum(gap < 1e-9 for gap in three) >= 5
    assert min(one) > -1e-9


def test_a_start_by_seed_is_the_same_each_time_and_another_than_that_of_other_seeds():
    d = Diffusion(karate(), 10.0)
    once, again = search(d, 40, seed=1), search(d, 40, seed=1)
    np.testing.assert_array_equal(once.mask, again.mask)
    assert once.value == again.value
    ties = gibbs.tie_keys(78)
    starts = [gibbs._eliminated(d, 40, True, ties, np.random.default_rng(seed)) for seed in (1, 2)]
    assert (starts[0] != starts[1]).any()


def test_what_the_search_cannot_do_is_refused():
    with pytest.raises(OptionError, match="connected"):
        Diffusion(Graph.from_edges([0, 2], [1, 3]), 1.0)
    with pytest.raises(OptionError, match="500 nodes"):
        Diffusion(path(501), 1.0)
    with pytest.raises(OptionError, match="32 edges can't connect 34 nodes"):
        search(Diffusion(karate(), 1.0), 32)


# Weights


@every_scale
def test_weights_hold_the_sum_and_are_near_the_minimum_of_a_convex_function(scale):
    """Over y ≥ 0 of sum W the value is at most gradient·y − W min gradient above the least (Frank and Wolfe 1956)."""
    graph = karate()
    d, mask = Diffusion(graph, scale), half(graph)
    y = weights(d, mask, 500, 1e-10)
    assert y.sum() == pytest.approx(78)
    assert (y > 0).tolist() == mask.tolist()
    slopes = d.slopes(d.state(*d.spectrum(y)))[mask]
    value = d.value(y)
    assert value < d.value(gibbs.scaled(graph, mask, True))
    assert slopes @ y[mask] - 78 * slopes.min() < 0.05 * value + 1e-6


# The study


def test_the_study_runs_on_a_small_part(monkeypatch):
    monkeypatch.setattr(study, "SOURCES", (study.Source("grid", lambda _: grid(5, 5), keeps=(0.7,)),))
    monkeypatch.setattr(study, "OTHERS", (("pri", 50), ("spanning-forest", None)))
    monkeypatch.setattr(study, "MORE", (("random", None),))
    monkeypatch.setattr(study, "SCALES", (1, 30))
    few = ["divergence", "quadratic_error", "eigenvalue_error", "spectral_distance"]
    monkeypatch.setattr(study.landscape, "_measures", lambda _: few)
    outcome = study.diffusion(True, lambda _: None)
    cells = {cell.case: cell.values for cell in outcome.cells}
    spectrum = cells["spectrum"]
    assert spectrum["subset"].startswith("diffusion τ=")
    assert "diffusion" not in spectrum["today"]
    assert spectrum["weights"].split(", ")[-1].startswith("diffusion τ=")
    lead = spectrum["today, rank"] - spectrum["subset, rank"]
    assert spectrum["subset, lead low"] == pytest.approx(lead)
    assert cells["all subsets, τ=1"]["optimum, three starts, %"] >= cells["all subsets, τ=1"]["optimum, one start, %"]
