"""Large graphs: compiled sums against NumPy, and the sweeps of the solver, on graphs small enough to check."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import graphpri
import zoo
from covering import each_pair
from graphpri._entropy import LARGE_EDGES
from graphpri._objective import Objective
from graphpri._runtime import CHUNK, in_chunks, in_threads, workers
from graphpri.errors import OptionError
from graphpri.graph import Graph
from graphpri.solvers import budgeted
from graphpri.solvers.budgeted import solve
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.reweight import reweighted
from graphpri.solvers.solution import Monitor
from graphpri.solvers.sweeps import Run, Sweeps
from graphpri.solvers.tournament import Tournament, rounds_of

ENTROPIES = ("degree", "local")
MIXTURES = ("equation", "listing")
SETTINGS = [(0.0, 0.0), (1.0, 0.01), (4.0, 0.0), (30.0, 0.005)]
objectives = importlib.import_module("graphpri._objective")


def small_objective(graph, beta, alpha=0.0, entropy="degree", mixture="equation", large=1):
    """An objective that takes the graph for a large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objectives, "LARGE_EDGES", large)
        return Objective(graph, beta, alpha, entropy, mixture)


by_numpy = partial(small_objective, large=10**9)


def random_mask(graph, seed, share=0.5):
    mask = np.random.default_rng(seed).random(graph.n_edges) < share
    mask[0] = True
    return mask


# Sums.


@each_pair(name=zoo.GRAPHS.keys(), entropy=ENTROPIES, mixture=MIXTURES)
def test_compiled_terms_and_gradients_are_those_of_numpy(name, entropy, mixture):
    graph = zoo.GRAPHS[name]
    ours, theirs = (make(graph, 3.0, 0.01, entropy, mixture) for make in (small_objective, by_numpy))
    assert ours.is_large
    assert not theirs.is_large
    assert ours.original_entropy == pytest.approx(theirs.original_entropy, abs=1e-12)
    relaxed = np.random.default_rng(1).random(graph.n_edges)
    for w in (relaxed, random_mask(graph, 0).astype(float), random_mask(graph, 0).view(np.uint8)):
        terms, gradient = ours.terms_and_gradient(w)
        expected, slopes = theirs.terms_and_gradient(w.astype(float))
        assert terms == pytest.approx(expected, abs=1e-12)
        assert np.allclose(gradient, slopes, rtol=1e-9, atol=1e-12 * np.abs(slopes).max())
        assert ours.terms(w) == pytest.approx(expected, abs=1e-12)
        value, slope = ours.divergence_and_gradient(w)
        assert value == pytest.approx(theirs.divergence_and_gradient(w.astype(float))[0], abs=1e-12)
        assert np.allclose(slope, theirs.divergence_and_gradient(w.astype(float))[1], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("entropy", ENTROPIES)
def test_compiled_gradients_agree_with_central_differences(entropy):
    graph = zoo.random_graph(30, 90, 5, weighted=True)
    objective = small_objective(graph, 3.0, 0.01, entropy)
    w, step = np.random.default_rng(2).uniform(0.2, 0.9, 90), 1e-6
    gradient = objective.gradient(w)
    for m in range(0, 90, 7):
        up, down = w.copy(), w.copy()
        up[m] += step
        down[m] -= step
        assert gradient[m] == pytest.approx((objective.value(up) - objective.value(down)) / (2 * step), rel=1e-5)


@given(st.lists(st.floats(-300, 300), min_size=12, max_size=12), st.integers(0, 2**12 - 1))
@settings(max_examples=40, deadline=None)
def test_weights_of_any_size_give_the_values_of_numpy(exponents, bits):
    graph = zoo.reweighted(zoo.random_graph(7, 12, 1), [10.0**e for e in exponents])
    mask = np.array([bits >> i & 1 for i in range(12)], bool)
    mask[0] = True
    for entropy in ENTROPIES:
        ours, theirs = (make(graph, 2.0, 0.0, entropy) for make in (small_objective, by_numpy))
        assert ours.value(ours.selection(mask)) == pytest.approx(theirs.value(mask.astype(float)), rel=1e-9, abs=1e-9)


def test_nothing_kept_is_an_error():
    objective = small_objective(zoo.ring(5), 1.0)
    with pytest.raises(graphpri.GraphError, match="no edge is kept"):
        objective.terms(np.zeros(5, np.uint8))


# Prices and moves.


def at(objective, mask, constraints=None):
    sweeps = Sweeps(objective, constraints or Constraints(), fixed_size=True)
    sweeps.set_to(mask)
    return sweeps


@each_pair(name=["random", "two_cliques", "grid", "star", "disconnected"], setting=SETTINGS, mixture=MIXTURES)
def test_prices_of_the_degree_entropy_tell_what_swaps_do(name, setting, mixture):
    """With equal weights a swap of edges without a common node changes J by exactly the difference of the prices."""
    graph, (beta, alpha) = zoo.GRAPHS[name], setting
    objective = small_objective(graph, beta, alpha, "degree", mixture)
    mask = random_mask(graph, 3)
    prices, value = at(objective, mask).prices(), objective.value(objective.selection(mask))
    for out in np.flatnonzero(mask):
        for into in np.flatnonzero(~mask):
            ends = {graph.source[out], graph.target[out], graph.source[into], graph.target[into]}
            if len(ends) == 4:
                new = mask.copy()
                new[[out, into]] = False, True
                change = objective.value(objective.selection(new)) - value
                assert float(prices[into] - prices[out]) == pytest.approx(change, abs=1e-6 * max(1.0, beta))


@each_pair(weighted=[False, True], setting=SETTINGS, mixture=MIXTURES, entropy=ENTROPIES)
def test_prices_are_near_the_change_of_a_flip(weighted, setting, mixture, entropy):
    """On a large enough graph, where the trace hardly moves; the size is free, so that the trace counts."""
    graph = zoo.random_graph(400, 2400, 7, weighted=weighted, spread=0.5)
    objective = small_objective(graph, *setting, entropy, mixture)
    mask = random_mask(graph, 4)
    sweeps = Sweeps(objective, Constraints(), fixed_size=False)
    sweeps.set_to(mask)
    prices, value = sweeps.prices(), objective.value(objective.selection(mask))
    edges = np.random.default_rng(5).choice(graph.n_edges, 60, replace=False)
    actual = []
    for e in edges:
        new = mask.copy()
        new[e] ^= True
        change = objective.value(objective.selection(new)) - value
        actual.append(-change if mask[e] else change)
    scale = np.abs(actual).max()
    assert np.allclose(prices[edges], actual, atol=(0.05 if entropy == "degree" else 0.15) * scale)


def heavy_graph(seed, n=120, m=700, spread=2.0):
    """Weights so far apart that one edge may weigh as much as many others together."""
    weights = np.random.default_rng(seed).lognormal(0, spread, m)
    return zoo.reweighted(zoo.random_graph(n, m, seed), weights)


def test_prices_count_the_trace_that_a_heavy_edge_moves():
    graph = heavy_graph(3)
    objective = small_objective(graph, 0.5)
    mask = random_mask(graph, 5)
    prices, value = at(objective, mask).prices(), objective.value(objective.selection(mask))
    for e in np.argsort(-graph.weights)[:20]:
        new = mask.copy()
        new[e] ^= True
        change = objective.value(objective.selection(new)) - value
        assert float(prices[e]) == pytest.approx(-change if mask[e] else change, rel=0.08, abs=1.5e-3)


@pytest.mark.parametrize("entropy", ENTROPIES)
def test_sums_that_moves_have_counted_are_those_computed_anew(entropy):
    graph = heavy_graph(4)
    sweeps = at(small_objective(graph, 4.0, 0.0, entropy), random_mask(graph, 6))
    sweeps.sweep(300)
    sweeps.swap()
    sweeps._follow()
    counted = sweeps._sides
    anew = sweeps.entropies.sides(sweeps.order.dealt(sweeps.mask.view(np.uint8)), pull=True)
    for ours, theirs in zip(counted, anew, strict=True):
        assert ours.degrees == pytest.approx(theirs.degrees, rel=1e-9, abs=1e-12)
        assert ours.f == pytest.approx(theirs.f, rel=1e-9 if entropy == "degree" else 0.1)


def test_the_lightest_edges_are_a_start_that_keeps_to_the_constraints():
    graph = zoo.reweighted(zoo.random_graph(60, 300, 2), np.repeat([1.0, 2.0, 3.0], 100))
    protect, forbid = np.zeros(300, bool), np.zeros(300, bool)
    protect[250], forbid[:50] = True, True
    sweeps = Sweeps(small_objective(graph, 4.0), Constraints(False, protect, forbid), fixed_size=True)
    sweeps.lightest(81)
    assert np.array_equal(np.flatnonzero(sweeps.mask), [*range(50, 130), 250])


def test_rounds_go_on_until_one_gains_little_where_edges_weigh_differently():
    objective = small_objective(heavy_graph(7, 1000, 6000, 1.5), 4.0)
    sweeps, monitor = Sweeps(objective, Constraints(), fixed_size=True), Monitor()
    sweeps.spread_out(600)
    status = Run(sweeps, monitor, visits=1.0).settle(600).status()
    assert status.startswith("good: the last round of sweeps lowered J by less than 0.1 %")
    values = [step.objective for step in monitor.trace]
    gains = -np.diff(values) / np.abs(values[1:])
    assert len(values) > 2
    assert (gains[:-1] >= 1e-3).all()
    assert 0 < gains[-1] < 1e-3


@pytest.mark.parametrize("entropy", ENTROPIES)
@pytest.mark.parametrize("beta", [0.5, 2.0, 4.0, 50.0])
def test_heavy_weights_end_near_the_best_effort_and_below_any_single_start(entropy, beta):
    objective = small_objective(heavy_graph(8, 200, 1500), beta, 0.0, entropy)
    normal, best = (solve(objective, 150, effort=effort).objective for effort in ("normal", "best"))
    assert normal <= best + 0.005 * abs(best)
    spread_out = Sweeps(objective, Constraints(), fixed_size=True)
    spread_out.spread_out(150)
    assert best < spread_out.value


@pytest.mark.parametrize("name", zoo.GRAPHS)
@pytest.mark.parametrize("entropy", ENTROPIES)
def test_j_after_moves_is_j_computed_anew(name, entropy):
    graph = zoo.GRAPHS[name]
    objective = small_objective(graph, 3.0, 0.01, entropy)
    sweeps = at(objective, random_mask(graph, 6))
    k = max(1, graph.n_edges // 2)
    sweeps.sweep(k)
    sweeps.resize(k)
    sweeps.swap()
    assert sweeps.size == k
    assert sweeps.refresh() == pytest.approx(objective.value(objective.selection(sweeps.mask)), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_swaps_at_a_node_lower_j(weighted):
    graph = zoo.random_graph(200, 1200, 8, weighted=weighted)
    for entropy in ENTROPIES:
        sweeps = at(small_objective(graph, 4.0, 0.0, entropy), random_mask(graph, 9, 0.3))
        before = sweeps.value
        assert sweeps.swap() > 10
        assert sweeps.refresh() < before


def test_no_swap_improves_the_result():
    graph = zoo.random_graph(60, 300, 10)
    objective = small_objective(graph, 4.0)
    found = solve(objective, 120, effort="best")
    assert found.status.startswith("good: no sweep over the edges improves J")
    slack = 2e-4
    for out in np.flatnonzero(found.mask):
        for into in np.flatnonzero(~found.mask)[::3]:
            new = found.mask.copy()
            new[[out, into]] = False, True
            assert objective.value(objective.selection(new)) > found.objective - slack


# The order of a tournament.


@pytest.mark.parametrize("blocks", [4, 8, 32])
def test_every_pair_of_blocks_meets_once_and_no_block_twice_in_a_round(blocks):
    rounds = rounds_of(blocks)
    for pairs in rounds[:-1]:
        assert sorted(np.concatenate([pairs // blocks, pairs % blocks])) == list(range(blocks))
    met = np.concatenate(rounds)
    assert sorted(met) == [a * blocks + b for a in range(blocks) for b in range(a, blocks)]


@pytest.mark.parametrize("n", [1, 2, 5, 31, 32, 33, 1000])
@pytest.mark.parametrize("local", [False, True])
def test_a_tournament_is_the_same_graph_in_another_order(n, local):
    rng = np.random.default_rng(n)
    other = (lambda u: u + 1 + rng.integers(0, 3, u.size)) if local else (lambda u: rng.integers(0, 10 * n, u.size))
    u = rng.integers(0, 10 * n, 30 * n)
    ends = np.unique(np.sort(np.column_stack([u, other(u)]), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], rng.random(len(ends)) + 1, n_nodes=13 * n)
    order = Tournament(graph)
    assert np.array_equal(np.sort(order.edge), np.arange(graph.n_edges))
    assert np.array_equal(order.graph.weights, graph.weights[order.edge])
    assert np.array_equal(order.listed(order.dealt(graph.weights)), graph.weights)
    number = np.full(graph.n_nodes, -1)
    for new, old in ((order.graph.source, graph.source), (order.graph.target, graph.target)):
        at = old[order.edge]
        assert ((number[at] == -1) | (number[at] == new)).all()
        number[at] = new
    known = number[number >= 0]
    assert np.unique(known).size == known.size
    assert known.max() < graph.n_nodes
    # Pairs without a common block share no node.
    for pairs in order.rounds:
        seen = []
        for pair in pairs:
            inside = slice(order.first[pair], order.first[pair + 1])
            seen.append(np.unique([order.graph.source[inside], order.graph.target[inside]]))
        together = np.concatenate(seen) if seen else np.empty(0)
        assert np.unique(together).size == together.size


def test_most_edges_between_near_numbers_stay_in_their_blocks():
    ring = zoo.ring(4000)
    assert (np.diff(Tournament(ring).first)[::5] > 900).all()
    shuffled = np.random.default_rng(0).permutation(4000)
    far = Graph.from_edges(shuffled[ring.source], shuffled[ring.target])
    assert (np.diff(Tournament(far).first) < 700).all()


@each_pair(weighted=[False, True], entropy=ENTROPIES, k=[2400, None])
def test_threads_do_not_change_a_bit_of_a_sweep(weighted, entropy, k, monkeypatch):
    monkeypatch.setattr("graphpri.solvers.tournament.THREADED", 1)
    graph = zoo.random_graph(1000, 8000, 3, weighted=weighted, spread=1.5)
    found = []
    for threads in (1, 4):
        with in_threads(threads):
            found.append(solve(small_objective(graph, 4.0, 0.0, entropy), k))
    assert found[0].objective == found[1].objective
    assert np.array_equal(found[0].mask, found[1].mask)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "all", True])
def test_a_wrong_argument_threads_is_an_error(threads):
    with pytest.raises(OptionError, match=r"threads=.* must be a whole number, 1 or more|threads"):
        graphpri.sparsify(zoo.ring(5), keep=2, threads=threads)
    with pytest.raises(OptionError, match="threads"):
        graphpri.path(zoo.ring(5), keep=[2, 3], threads=threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_hold_for_a_call_and_for_a_whole_path(threads):
    graph, seen = zoo.random_graph(20, 60, 0), []

    def watch(_):
        seen.append(workers())

    graphpri.sparsify(graph, keep=20, threads=threads, effort="fast", callback=watch)
    once = len(seen)
    graphpri.path(graph, keep=[20, 30], threads=threads, callback=watch)
    assert 0 < once < len(seen)
    assert set(seen) == {threads}


# Results.


@each_pair(entropy=ENTROPIES, beta=[0.5, 4.0, 30.0], weighted=[False, True])
def test_sweeps_are_about_as_good_as_single_moves(entropy, beta, weighted):
    graph = zoo.random_graph(50, 250, 11, weighted=weighted)
    swept = solve(small_objective(graph, beta, 0.0, entropy), 100).objective
    moved = solve(by_numpy(graph, beta, 0.0, entropy), 100, effort="fast").objective
    assert swept <= moved + 0.01 * abs(moved)


@each_pair(name=zoo.GRAPHS.keys(), entropy=ENTROPIES, connected=[False, True])
def test_every_budget_is_met_exactly_whatever_the_graph(name, entropy, connected):
    graph = zoo.GRAPHS[name]
    least = graph.n_nodes - graph.components()[0] if connected else 1
    for k in {max(1, least), (max(1, least) + graph.n_edges) // 2, graph.n_edges}:
        objective = small_objective(graph, 2.0, 0.0, entropy)
        found = solve(objective, k, Constraints(connected))
        assert found.mask.sum() == k
        assert found.objective == pytest.approx(objective.value(objective.selection(found.mask)), abs=1e-6)
        if connected:
            assert graph.components(found.mask)[0] == graph.components()[0]


@pytest.mark.parametrize("name", zoo.GRAPHS)
@pytest.mark.parametrize("beta", [0.5, 3.0, 1000.0])
def test_free_sizes_keep_components_together_and_are_no_worse_than_everything(name, beta):
    graph = zoo.GRAPHS[name]
    objective = small_objective(graph, beta)
    found = solve(objective, None, Constraints(connected=True))
    assert graph.components(found.mask)[0] == graph.components()[0]
    assert found.objective <= objective.value(np.ones(graph.n_edges)) + 1e-9


def test_free_sizes_of_dense_graphs_find_the_tree_that_no_path_from_all_edges_leads_to():
    graph = zoo.complete(120)
    objective = small_objective(graph, 4.0, 0.0, "local")
    found = solve(objective, None, Constraints(connected=True))
    tree = solve(objective, 119, Constraints(connected=True))
    assert found.objective <= tree.objective + 1e-9
    assert tree.objective < objective.value(np.ones(graph.n_edges)) - 0.1


def test_without_connectivity_a_small_beta_ends_at_one_edge():
    found = solve(small_objective(zoo.random_graph(40, 200, 12), 0.5), None, Constraints())
    assert found.mask.sum() == 1


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("k", [90, 150, None])
def test_protected_edges_stay_and_forbidden_ones_go(connected, k):
    graph = zoo.random_graph(60, 300, 13)
    protect, forbid = np.zeros(300, bool), np.zeros(300, bool)
    protect[:20], forbid[250:] = True, True
    if connected:
        assert graph.components(~forbid)[0] == graph.components()[0]
    found = solve(small_objective(graph, 3.0), k, Constraints(connected, protect, forbid))
    assert found.mask[protect].all()
    assert not found.mask[forbid].any()
    assert k is None or found.mask.sum() == k


def test_a_warm_start_is_resized_and_not_made_worse():
    graph = zoo.random_graph(60, 300, 14)
    objective = small_objective(graph, 4.0)
    start = solve(objective, 150)
    again = solve(objective, 150, start=start.mask)
    assert again.objective <= start.objective + 1e-9
    assert solve(objective, 100, start=start.mask).mask.sum() == 100
    assert solve(objective, 200, start=start.mask).mask.sum() == 200


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_the_order_of_edges_does_not_matter(seed):
    graph = zoo.random_graph(50, 200, 15)
    order = np.random.default_rng(seed).permutation(200)
    other = Graph.from_edges(graph.target[order], graph.source[order], n_nodes=50)
    masks = [solve(small_objective(g, 4.0, 0.0, "local"), 80).mask for g in (graph, other)]
    assert np.array_equal(*masks)


# Exact prices for the local entropy's sweeps.


def clustered(n):
    """Points of the unit square, joined where they are near: the local entropy's worst case."""
    points = np.random.default_rng(3).random((n, 2))
    pairs = cKDTree(points).query_pairs(np.sqrt(10 / (np.pi * n)), output_type="ndarray")
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n_nodes=n)


def test_corrected_prices_are_the_ones_given():
    graph = zoo.random_graph(60, 300, 16)
    mask = random_mask(graph, 1)
    sweeps = Sweeps(small_objective(graph, 4.0, 0.0, "local"), Constraints(), fixed_size=True)
    given = np.random.default_rng(2).normal(size=300)
    sweeps.correct(mask, given, 0.0)
    assert sweeps.prices() == pytest.approx(given, abs=1e-5)
    sweeps.correct(mask, given, 0.5)
    assert sweeps.prices() == pytest.approx(given + np.where(mask, -0.5, 0.5), abs=1e-5)


@pytest.mark.parametrize(("keep", "connected"), [(0.3, False), (0.4, True), (None, True)])
def test_corrected_prices_improve_on_the_local_entropy(keep, connected, monkeypatch):
    monkeypatch.setattr(budgeted, "CORRECTED_NODES", 100)
    monkeypatch.setattr(budgeted, "DRAFT_NODES", 100)
    graph = clustered(110)
    judge = Objective(graph, 4.0)
    by = {
        name: graphpri.sparsify(graph, keep=keep, beta=4, connected=connected, entropy=name, effort="fast")
        for name in ("local", "exact")
    }
    local, exact = (judge.value(by[name].mask.astype(float)) for name in ("local", "exact"))
    assert by["exact"].objective == pytest.approx(exact)
    assert exact < local - 5e-4
    assert "corrected by exact" in by["exact"].status
    if keep is not None:
        assert by["exact"].mask.sum() == by["local"].mask.sum()
    if connected:
        assert by["exact"].kept.components()[0] == graph.components()[0]


def test_corrected_searches_keep_to_protected_and_forbidden_edges():
    graph = clustered(700)
    protect, forbid = np.zeros((2, graph.n_edges), bool)
    protect[:50], forbid[-200:] = True, True
    result = graphpri.sparsify(graph, keep=0.3, entropy="exact", effort="fast", protect=protect, forbid=forbid)
    assert result.mask[protect].all()
    assert not result.mask[forbid].any()


# The stochastic entropy, which the local one searches for.

HUBS = graphpri.datasets.barabasi_albert(260, 4, seed=2)
ESTIMATED = {"entropy": "stochastic", "effort": "fast"}


@pytest.fixture(scope="module")
def estimated():
    return graphpri.sparsify(HUBS, keep=0.4, beta=4, **ESTIMATED)


def test_stochastic_results_come_with_errors_that_cover_the_exact_values(estimated):
    graph, result = HUBS, estimated
    same = graphpri.sparsify(graph, keep=0.4, beta=4, entropy="local", effort="fast")
    exact = Objective(graph, 4.0)
    terms = exact.terms(result.mask.astype(float))
    assert np.array_equal(result.mask, same.mask)
    report = result.report()
    for name in ("objective", "entropy", "divergence"):
        error = report[f"{name}_error"]
        assert 0 < error < (1e-2 if name == "objective" else 2e-3)
        assert abs(getattr(result, name) - getattr(terms, name)) < 4 * error
    slopes = exact.gradient(result.mask.astype(float))
    assert np.corrcoef(-slopes[result.mask], result.scores[result.mask])[0, 1] > 0.99
    assert "entropy_error" not in same.report()


@pytest.mark.usefixtures("brief_search")
def test_stochastic_results_can_be_reweighted_and_lie_on_paths(estimated):
    weighed = graphpri.sparsify(HUBS, keep=0.4, reweight=True, **ESTIMATED)
    assert weighed.divergence < estimated.divergence - 4 * (estimated.errors.divergence + weighed.errors.divergence)
    few = graphpri.datasets.barabasi_albert(80, 4, seed=2)
    along = graphpri.path(few, keep=0.4, beta=[2, 8], **ESTIMATED)
    assert [r.report()["entropy_by"] for r in along] == ["stochastic"] * 2
    assert along[0].divergence > along[1].divergence


def test_ctrl_c_while_estimating_keeps_the_subset(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphpri._objective.estimate", interrupted)
    with pytest.raises(graphpri.Interrupted) as stop:
        graphpri.sparsify(HUBS, keep=0.4, **ESTIMATED)
    result = stop.value.result
    assert result.status.startswith("interrupted while estimating")
    assert result.mask.sum() == round(0.4 * HUBS.n_edges)
    assert result.report()["entropy_by"] == "local"


def test_a_time_limit_ends_estimating_with_larger_errors(monkeypatch):
    monkeypatch.setattr("graphpri._entropy.stochastic.TARGET", 1e-9)  # out of reach: all probes are taken
    monkeypatch.setattr("graphpri._entropy.stochastic.MOST_PROBES", 128)
    options = {"keep": 0.4, "beta": 4, **ESTIMATED}
    full = graphpri.sparsify(HUBS, **options)
    result = graphpri.sparsify(HUBS, **options, time_limit=1e-9)
    assert "time_limit=1e-09 ended estimating: see the errors" in result.status
    assert "ended estimating" not in full.status
    assert result.errors.entropy > 1.5 * full.errors.entropy
    assert abs(result.entropy - graphpri.von_neumann_entropy(result.kept, entropy="exact")) < 4 * result.errors.entropy
    local = graphpri.Objective(result.original, 4.0, entropy="local")
    assert np.array_equal(result.scores, -local.gradient(local.selection(result.mask)))


def test_the_paper_s_solver_refuses_an_entropy_with_noise():
    with pytest.raises(OptionError, match="without noise"):
        graphpri.sparsify(zoo.ring(9), keep=4, entropy="stochastic", solver="gumbel")


# By `sparsify` and `path`, on graphs that are large.


@pytest.mark.parametrize("weighted", [False, True])
def test_results_do_not_depend_on_the_number_of_threads(weighted, monkeypatch):
    graph = graphpri.datasets.barabasi_albert(60_000, 5, seed=1)
    assert graph.n_edges > CHUNK
    if weighted:
        graph = zoo.reweighted(graph, np.random.default_rng(0).lognormal(size=graph.n_edges))
    found = set()
    for threads in ("1", "3"):
        monkeypatch.setenv("GRAPHPRI_THREADS", threads)
        result = graphpri.sparsify(graph, keep=0.3, entropy="local", effort="fast")
        found.add((result.mask.tobytes(), result.scores.tobytes(), result.objective))
    assert len(found) == 1


def test_stopping_gives_the_best_so_far_with_the_exact_budget():
    graph = zoo.large()
    assert graph.n_edges >= LARGE_EDGES
    steps = []

    def stop(progress):
        steps.append(progress)
        return True

    result = graphpri.sparsify(graph, keep=0.3, entropy="degree", callback=stop)
    assert len(steps) == 1
    assert result.status.startswith("stopped by the callback")
    assert result.mask.sum() == 30_000


def test_ctrl_c_gives_the_best_so_far_with_the_exact_budget():
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(graphpri.Interrupted) as stop:
        graphpri.sparsify(zoo.large(), keep=0.25, connected=True, entropy="local", callback=interrupt)
    result = stop.value.result
    assert result.status.startswith("interrupted")
    assert result.mask.sum() == 25_000
    assert result.kept.components()[0] == result.original.components()[0]


def test_a_time_limit_ends_the_sweeps():
    result = graphpri.sparsify(zoo.large(), keep=0.3, entropy="degree", time_limit=1e-9, effort="best")
    assert "time limit" in result.status
    assert result.mask.sum() == 30_000


def test_memory_that_is_not_there_is_said_before_the_search(monkeypatch):
    graph = graphpri.datasets.ring_knn(400_000, 6)
    monkeypatch.setenv("GRAPHPRI_MEMORY", "60MB")
    with pytest.raises(graphpri.errors.MemoryLimitError, match=r"the search on 1200000 edges.*GRAPHPRI_MEMORY"):
        graphpri.sparsify(graph, keep=0.5, entropy="degree")


def test_reweighting_can_be_interrupted(monkeypatch):
    objective = small_objective(zoo.random_graph(60, 300, 17), 4.0, 0.0, "local")
    mask, calls = random_mask(objective.graph, 2), []
    real = Objective.divergence_and_gradient

    def interrupted(self, w):
        calls.append(w)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return real(self, w)

    monkeypatch.setattr(Objective, "divergence_and_gradient", interrupted)
    with pytest.raises(graphpri.Interrupted) as stop:
        reweighted(objective, mask)
    weights, status = stop.value.result
    assert status.interrupted
    assert weights[mask].min() > 0
    assert weights.sum() == pytest.approx(300)


@pytest.mark.parametrize("n", [3000, 20_000])
def test_regular_graphs_stars_and_paths(n):
    """All scores equal, and degrees as far apart as they can be."""
    for graph in (zoo.ring(2 * n), graphpri.datasets.ring_knn(n, 6), zoo.star(2 * n), zoo.path(2 * n)):
        for entropy in ENTROPIES:
            result = graphpri.sparsify(graph, keep=0.2, entropy=entropy)
            assert result.mask.sum() == graphpri._selection.count_edges(0.2, graph.n_edges)


def test_paths_over_beta_obey_the_laws_on_large_graphs():
    results = graphpri.path(zoo.large(), beta=[1.0, 3.0, 6.0, 12.0], keep=0.3, entropy="degree")
    entropies, divergences = [r.entropy for r in results], [r.divergence for r in results]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(entropies))
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(divergences))
    assert {int(r.mask.sum()) for r in results} == {30_000}


def test_paths_over_budgets_warm_start():
    results = graphpri.path(zoo.large(), keep=[0.1, 0.5, 0.3], entropy="local")
    assert [int(r.mask.sum()) for r in results] == [10_000, 50_000, 30_000]


def test_small_graphs_do_not_load_the_compiler():
    code = (
        "import sys, networkx as nx, graphpri; G = nx.karate_club_graph();"
        "kept = graphpri.sparsify(G, keep=0.5, effort='fast');"
        "graphpri.sparsify(G, keep=0.5, entropy='local', effort='fast');"
        "graphpri.sparsify(G, keep=0.5, method='local-degree'); graphpri.report(G, kept);"
        "graphpri.path(G, beta=[1, 2], effort='fast'); print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.stdout.strip() == "False", done.stderr


# Threads.


def test_pieces_are_done_in_order_whatever_the_threads(monkeypatch):
    for threads in ("1", "4"):
        monkeypatch.setenv("GRAPHPRI_THREADS", threads)
        assert in_chunks(lambda a, b: (a, b), 10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert in_chunks(lambda a, b: (a, b), 0, 4) == []


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_threads_is_an_error(monkeypatch, text):
    monkeypatch.setenv("GRAPHPRI_THREADS", text)
    with pytest.raises(OptionError, match="GRAPHPRI_THREADS"):
        workers()
