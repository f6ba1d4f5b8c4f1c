"""How much of the lowest eigenvalues and of the largest flows is kept: against dense Laplacians and networkx."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zoo
from graphpri.graph import Graph
from graphpri.measures import MEASURES, Settings, View, spectral

HOW = Settings(4.0, 0.0, "exact", "equation", "nats", 0)


# Eigenvalues


def view_of(original: Graph, kept: Graph, **given_: Any) -> View:
    how = replace(HOW, **given_)
    return View(kept, how, View(original, how))


def measured(name: str, original: Graph, kept: Graph, **given_: Any) -> float:
    return MEASURES[name].compute(view_of(original, kept, **given_))


def some(graph: Graph, seed: int, share: float = 0.7) -> Graph:
    mask = np.random.default_rng(seed).random(graph.n_edges) < share
    mask[0] = True
    return graph.select(mask)


every_graph = pytest.mark.parametrize("graph", zoo.GRAPHS.values(), ids=zoo.GRAPHS.keys())


@every_graph
def test_eigenvalue_error_is_that_of_the_dense_laplacians(graph: Graph) -> None:
    kept = some(graph, 3)
    before, after = (np.linalg.eigvalsh(g.laplacian().toarray()) for g in (graph, kept))
    zeros = graph.components()[0]
    low = slice(zeros, zeros + spectral.LOW)
    expected = np.mean(np.abs(before[low] - after[low]) / before[low])
    assert measured("eigenvalue_error", graph, kept) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@every_graph
def test_eigenvalues_and_flows_of_a_graph_are_its_own_and_scale_with_its_weights(graph: Graph) -> None:
    halved = zoo.reweighted(graph, graph.weights / 2)
    assert measured("eigenvalue_error", graph, graph) == 0
    assert measured("eigenvalue_error", graph, halved) == pytest.approx(0.5)
    assert measured("flow_ratio", graph, graph) == 1
    assert measured("flow_ratio", graph, halved) == pytest.approx(0.5, rel=1e-6)


def test_eigenvalues_of_large_graphs_are_their_closed_form_repeated_ones_too() -> None:
    rows, columns = 25, 30
    waves = (2 - 2 * np.cos(np.pi * np.arange(n) / n) for n in (rows, columns))
    expected = np.sort(np.add.outer(*waves).ravel())[1:13]
    np.testing.assert_allclose(spectral.lowest(zoo.grid(rows, columns), 1.0, 12), expected, rtol=1e-9)
    ring = 2 - 2 * np.cos(2 * np.pi * np.repeat(np.arange(1, 4), 2) / 800)
    np.testing.assert_allclose(spectral.lowest(zoo.ring(800), 1.0, 6), ring, rtol=1e-9)
    both = zoo.disjoint(zoo.grid(rows, columns), zoo.grid(rows, columns), isolated=2)
    np.testing.assert_allclose(spectral.lowest(both, 2.0, 12), np.repeat(expected[:6], 2) / 2, rtol=1e-9)


def test_a_graph_in_many_pieces_has_lost_its_lowest_eigenvalues() -> None:
    graph = zoo.path(40)
    mask = np.arange(39) % 3 > 0  # 13 pieces
    assert measured("eigenvalue_error", graph, graph.select(mask)) == 1


def test_eigenvalues_that_weights_hide_are_said_to_be_so() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1e-300, 1.0])
    view = view_of(graph, graph)
    assert np.isnan(MEASURES["eigenvalue_error"].compute(view))
    assert any("too far apart" in note for note in view.notes)


# Flows


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=8, deadline=None)
def test_flow_ratio_is_networkxs_over_the_same_pairs(seed: int, weighted: bool) -> None:
    graph = zoo.random_graph(12, 24, seed, weighted=weighted)
    kept = some(graph, seed)
    view = view_of(graph, kept)
    ratios = []
    for s, t in np.unique(spectral.pairs(view.origin), axis=0, return_counts=False).tolist():
        before, after = (capacity_between(g, s, t) for g in (graph, kept))
        ratios.append(((s, t), after / before))
    table = dict(ratios)
    expected = np.mean([table[s, t] for s, t in map(tuple, spectral.pairs(view.origin).tolist())])
    assert MEASURES["flow_ratio"].compute(view) == pytest.approx(expected, rel=1e-6)


def capacity_between(graph: Graph, s: int, t: int) -> float:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n_nodes))
    for u, v, w in zip(graph.source.tolist(), graph.target.tolist(), graph.weights.tolist(), strict=True):
        G.add_edge(u, v, capacity=w)
    return nx.maximum_flow_value(G, s, t)


def test_flows_of_known_graphs() -> None:
    # Complete graphs have n − 1 disjoint paths between two nodes, a path has one, a ring two.
    complete = zoo.complete(9)
    assert measured("flow_ratio", complete, complete.select(complete.source == 0)) == pytest.approx(1 / 8)
    ring = zoo.ring(30)
    assert measured("flow_ratio", ring, ring.select(np.arange(30) > 0)) == pytest.approx(0.5)


def test_pairs_are_joined_in_the_original_and_drawn_by_the_seed() -> None:
    graph = zoo.disjoint(zoo.path(5), zoo.ring(4), zoo.path(2), isolated=3)
    member = graph.components()[1]
    drawn = [spectral.pairs(View(graph, replace(HOW, seed=seed))) for seed in (0, 0, 1)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    for found in drawn:
        assert (found[:, 0] != found[:, 1]).all()
        assert (member[found[:, 0]] == member[found[:, 1]]).all()
        assert len(np.unique(found)) == 11
