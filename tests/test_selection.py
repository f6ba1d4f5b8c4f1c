"""Selections of exactly K edges: partial sorts and forests against full sorts, ties, memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import chi2

import zoo
from graphpri import _selection
from graphpri._selection import (
    best_forest,
    best_forest_by,
    check_budget,
    least_cover,
    rank,
    select_top,
    take_top,
    tie_keys,
)
from graphpri.datasets import barabasi_albert
from graphpri.errors import OptionError
from graphpri.graph import Graph

WAYS = {"scipy": 10**9, "compiled": 0}
both_ways = pytest.mark.parametrize("large", WAYS.values(), ids=WAYS.keys())


def by_full_sort(graph: Graph, scores, k, seed, *, connected, protect, forbid):
    """Kruskal and the rest in order of (score, key), one edge after the other."""
    keys = keys_of(graph, seed)
    order = sorted(range(graph.n_edges), key=lambda m: (-scores[m], keys[m]))
    mask = protect.copy()
    if connected:
        for m in order:
            if not forbid[m]:
                added = mask.copy()
                added[m] = True
                mask = added if graph.components(added)[0] < graph.components(mask)[0] else mask
    rest = [m for m in order if not mask[m] and not forbid[m]]
    mask[rest[: k - int(mask.sum())]] = True
    return mask


def keys_of(graph: Graph, seed: int | None):
    return tie_keys(graph.n_edges, None if seed is None else np.random.default_rng(seed))


@both_ways
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), ties=st.booleans(), connected=st.booleans(), ranked=st.booleans())
def test_selections_are_those_of_a_full_sort(large, seed, ties, connected, ranked):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    m = int(rng.integers(1, n * (n - 1) // 2 + 1))
    graph = zoo.random_graph(n, m, seed)
    scores = rng.integers(0, 3, m).astype(float) if ties else rng.standard_normal(m)
    protect, forbid = rng.random(m) < 0.15, rng.random(m) < 0.15
    forbid &= ~protect
    constraints = {"connected": connected, "protect": protect, "forbid": forbid}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_selection, "LARGE_GRAPH", large)
        for k in {*range(1, m + 1, 1 + m // 8), m}:
            try:
                check_budget(graph, k, **constraints)
            except OptionError:
                continue
            expected = by_full_sort(graph, scores, k, seed, **constraints)
            mask = select_top(graph, scores, k, np.random.default_rng(seed), **constraints)
            assert (mask == expected).all()
            small = select_top(graph, scores.astype(np.float32), k, np.random.default_rng(seed), **constraints)
            assert (small == expected).all() or not ties
            if ranked:
                order = rank(scores, np.random.default_rng(seed))
                assert (take_top(graph, order, k, **constraints) == expected).all()


@both_ways
@pytest.mark.parametrize("graph", [*zoo.ALL.values(), zoo.large()])
def test_forests_are_those_of_scipy(graph, large, monkeypatch):
    monkeypatch.setattr(_selection, "LARGE_GRAPH", large)
    scores = np.random.default_rng(2).permutation(graph.n_edges).astype(float)
    a = graph.adjacency(graph.n_edges - scores)
    mask = best_forest(graph, rank(scores))
    assert mask.sum() == graph.n_nodes - graph.components()[0]
    assert (graph.n_edges - scores)[mask].sum() == minimum_spanning_tree(a).sum()
    assert (best_forest_by(graph, scores, tie_keys(graph.n_edges)) == mask).all()


def test_ways_agree_on_a_large_graph_with_ties(monkeypatch):
    graph, masks = zoo.large(), []
    scores = np.round(np.random.default_rng(1).random(graph.n_edges), 2)
    protect, forbid = (np.random.default_rng(seed).random(graph.n_edges) < 0.01 for seed in (5, 6))
    forbid &= ~protect & ~best_forest(graph, np.arange(graph.n_edges))
    for large in WAYS.values():
        monkeypatch.setattr(_selection, "LARGE_GRAPH", large)
        options = {"connected": True, "protect": protect, "forbid": forbid}
        masks.append(select_top(graph, scores, 30_000, np.random.default_rng(3), **options))
    assert (masks[0] == masks[1]).all()
    assert masks[0].sum() == 30_000


def test_ties_are_drawn_evenly_and_only_among_the_tied():
    graph, scores = zoo.ring(12), np.repeat([2.0, 1.0, 0.0], 4)
    chosen = np.zeros(12)
    for seed in range(3000):
        mask = select_top(graph, scores, 6, np.random.default_rng(seed))
        assert mask[:4].all()
        assert not mask[8:].any()
        chosen += mask
    pairs = chosen[4:8]
    assert pairs.sum() == 6000
    assert chi2.sf(((pairs - 1500) ** 2 / 1500).sum(), 3) > 1e-4


def test_keys_are_a_permutation_that_the_seed_draws():
    one, again, other = (tie_keys(10**5, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (one == again).all()
    assert np.unique(one).size == 10**5
    place = np.argsort(one) / 10**5
    assert abs(np.corrcoef(place, np.arange(10**5))[0, 1]) < 0.02
    assert abs(np.corrcoef(place, np.argsort(other))[0, 1]) < 0.02
    assert tie_keys(5).tolist() == [0, 1, 2, 3, 4]


@both_ways
def test_equal_scores_give_random_forests_and_exactly_k(large, monkeypatch):
    monkeypatch.setattr(_selection, "LARGE_GRAPH", large)
    graph, scores = zoo.complete(7), np.zeros(21)
    masks = [select_top(graph, scores, 6, np.random.default_rng(seed), connected=True) for seed in range(30)]
    assert all(mask.sum() == 6 and graph.components(mask)[0] == 1 for mask in masks)
    assert len({mask.tobytes() for mask in masks}) > 20


def test_signed_zeros_are_ties_and_infinities_rank():
    scores = np.array([0.0, -0.0, 0.0, -np.inf, np.inf])
    kept = {select_top(zoo.ring(5), scores, 2, np.random.default_rng(seed)).tobytes() for seed in range(60)}
    assert len(kept) == 3
    assert all(np.frombuffer(mask, bool)[4] for mask in kept)


def test_scores_that_are_no_numbers_are_refused():
    scores = np.array([1.0, np.nan, 2.0, 0.0])
    with pytest.raises(OptionError, match=r"the score of edge \(0, 3\) is not a number \(NaN\)"):
        select_top(zoo.ring(4), scores, 2)
    with pytest.raises(OptionError, match=r"scores of shape \(3,\) do not fit 4 edges"):
        select_top(zoo.ring(4), scores[:3], 2)


def test_the_memory_of_a_selection_is_a_few_bytes_an_edge():
    m = 1_000_000
    graph = Graph(m + 1, np.arange(m, dtype=np.int32), np.arange(1, m + 1, dtype=np.int32), np.ones(m))
    for scores in (np.random.default_rng(0).random(m), np.zeros(m)):
        tracemalloc.start()
        mask = select_top(graph, scores, m // 3, np.random.default_rng(1))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert mask.sum() == m // 3
        assert peak < 36 * m if (scores == 0).all() else peak < 12 * m


def test_small_graphs_wait_for_no_compiler_and_no_networkit():
    code = (
        "import sys, numpy as np; from graphpri import datasets; from graphpri.baselines import run\n"
        "graph = datasets.barabasi_albert(200, 3, seed=0)\n"
        "for name in ('random', 'local-degree', 'local-similarity', 'jaccard', 'triangles', 'effective-resistance'):\n"
        "    assert run(graph, name, 300, np.random.default_rng(0), connected=True)[0].sum() == 300\n"
        "assert not {'numba', 'networkit'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Edge covers.


def covers(graph: Graph, mask) -> bool:
    return bool((graph.select(mask).degrees() > 0)[graph.degrees() > 0].all())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), constrained=st.booleans())
def test_the_least_cover_is_a_minimum_of_all_subsets(seed, constrained):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    m = int(rng.integers(1, min(12, n * (n - 1) // 2) + 1))
    graph, none = zoo.random_graph(n, m, seed), np.zeros(m, bool)
    protect = rng.random(m) < 0.2 if constrained else none
    forbid = (rng.random(m) < 0.2) & ~protect if constrained else none
    subsets = (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(bool)
    subsets = subsets[(subsets >= protect).all(axis=1) & ~(subsets & forbid).any(axis=1)]
    sizes = [int(subset.sum()) for subset in subsets if covers(graph, subset)]
    if not sizes:
        with pytest.raises(OptionError, match="forbid names every edge of node"):
            least_cover(graph, protect=protect, forbid=forbid)
        return
    found = least_cover(graph, protect=protect, forbid=forbid)
    assert covers(graph, found.mask | protect)
    assert not (found.mask & (forbid | protect)).any()
    assert found.is_minimum
    assert found.bound + protect.sum() == min(sizes)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), constrained=st.booleans())
def test_selections_leave_an_edge_to_each_node_and_have_exactly_k(seed, constrained):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    m = int(rng.integers(1, min(60, n * (n - 1) // 2) + 1))
    graph, scores = zoo.random_graph(n, m, seed), rng.integers(0, 4, m).astype(float)
    protect = rng.random(m) < 0.1 if constrained else np.zeros(m, bool)
    cover = least_cover(graph, protect=protect).mask
    least = int((cover | protect).sum())
    for k in {least, (least + m) // 2, m}:
        kept = select_top(graph, scores, k, np.random.default_rng(0), cover=cover, protect=protect)
        assert kept.sum() == k
        assert (kept >= protect).all()
        assert covers(graph, kept)
        assert (kept == take_top(graph, rank(scores, np.random.default_rng(0)), k, cover=cover, protect=protect)).all()
    if least:
        with pytest.raises(OptionError, match=f"cover=True needs at least {least} edges"):
            check_budget(graph, least - 1, cover=cover, protect=None if not constrained else protect)


def test_covers_keep_each_node_s_best_edge_where_there_is_room():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    scores = np.array([1.0, 4.0, 3.0, 2.0])
    cover = least_cover(path).mask
    assert cover.sum() == 3
    assert select_top(path, scores, 3, cover=cover).tolist() == [True, True, False, True]
    complete = zoo.complete(6)
    best = complete.source == 0  # all others' best edges lead to node 0, which are a cover of 5
    kept = select_top(complete, best + 0.0, 5, cover=least_cover(complete).mask)
    assert (kept == best).all()
    tight = select_top(complete, best + 0.0, 3, cover=least_cover(complete).mask)
    assert tight.sum() == 3
    assert covers(complete, tight)


def test_the_bound_of_large_graphs_is_near():
    graph = barabasi_albert(5000, 3)
    found = least_cover(graph)
    assert covers(graph, found.mask)
    assert found.bound <= found.mask.sum() <= found.bound + 10
