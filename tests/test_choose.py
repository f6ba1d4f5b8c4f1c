"""Ways that are tried for a purpose: which they are, how they are ranked, and what comes back."""

from __future__ import annotations

import typing
from dataclasses import replace
from typing import Any, get_args

import networkx as nx
import numpy as np
import pytest

import graphpri
from graphpri import _choose
from graphpri._choose import PURPOSES, WAYS, Purpose, Way
from graphpri.cli import choose as cli
from graphpri.datasets import barabasi_albert
from graphpri.errors import OptionError
from graphpri.measures import MEASURES
from graphpri.measures.registry import Cost

FEW = ("pri", "random", "local-degree", "scan", "jaccard", "edge-betweenness")


@pytest.fixture(autouse=True)
def _few_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer methods, β and new weights than users get, for time."""
    known = graphpri.methods()
    monkeypatch.setattr(_choose, "methods", lambda: {name: known[name] for name in FEW})
    monkeypatch.setattr(_choose, "BETAS", (0.5, 50))
    monkeypatch.setattr(_choose, "WAYS", dict.fromkeys(WAYS, (Way("pri", 50), Way("pri", 50, True))))
    monkeypatch.setattr(_choose, "_REFINED", (2, 1))


@pytest.fixture(scope="module")
def karate() -> nx.Graph:
    return nx.karate_club_graph()


def test_each_purpose_has_measures_and_ways() -> None:
    assert set(get_args(Purpose)) == set(PURPOSES) == set(WAYS)
    asked = typing.get_type_hints(cli.choose)["purpose"]
    assert get_args(asked) == get_args(Purpose)
    known = {*MEASURES, "kept_distances"}
    assert all(name in known for kinds in PURPOSES.values() for name in kinds)
    for ways in WAYS.values():
        assert len(set(ways)) == len(ways)
        assert {way.method for way in ways} <= set(graphpri.methods())
        assert {way.connected for way in ways if way.method == "pri"} == {False, True}
        assert all((way.beta is None) == (way.method != "pri") for way in ways)
        assert not any(way.reweight for way in ways)


@pytest.mark.parametrize("purpose", ["information", "distances", "degrees", "hubs"])
def test_the_best_comes_back_with_exactly_k_edges(karate: nx.Graph, purpose: str) -> None:
    found = graphpri.choose(karate, 40, purpose)
    assert found.result.kept.n_edges == 40
    assert isinstance(found.result.graph, nx.Graph)
    losses = [row["loss"] for row in found.rows]
    assert losses == sorted(losses)
    assert len(losses) == len(found.ways)
    assert found.runner_up == found.ways[1]
    assert {row["K"] for row in found.rows} == {40}
    assert found.best.method in str(found).splitlines()[0]
    assert {way.method for way in found.ways} == set(FEW)
    assert found.not_tried == ()


def test_eigenvalues_are_left_out_on_large_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graphpri.datasets.ring_knn()
    assert "eigenvalue_error" in _choose._measures("spectrum", graph)
    monkeypatch.setattr(_choose, "_EIGENVALUE_EDGES", graph.n_edges - 1)
    assert _choose._measures("spectrum", graph) == ["quadratic_error"]


def test_random_edges_are_not_chosen_where_others_lose_no_more() -> None:
    found = graphpri.choose(nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]), 0.5, "communities")
    assert found.rows[0]["loss"] == next(row["loss"] for row in found.rows if row["method"] == "random")
    assert found.best.method != "random"


def test_level_ways_come_in_a_fixed_order_and_random_edges_last() -> None:
    for graph in (nx.Graph([(0, 1)]), nx.star_graph(3)):
        for purpose in ("information", "degrees", "connectivity", "hubs"):
            found = graphpri.choose(graph, graph.number_of_edges(), purpose)
            assert len({row["loss"] for row in found.rows}) == 1
            assert found.best == Way("pri", 50)
            assert [way.method for way in found.ways[-2:]] == ["random", "random"]
            assert "all ways are level here, random edges too" in str(found)


def test_measures_by_which_nothing_is_lost_are_no_part_of_the_loss() -> None:
    found = graphpri.choose(nx.cycle_graph(6), 5, "connectivity")  # any five edges are a path
    (chance,) = (row for row in found.rows if _choose._way(row) == Way("random"))
    assert {row["loss"] for row in found.rows} == {chance["loss"]} == {0.0}


def test_choices_show_in_notebooks_and_say_where_weights_may_be(karate: nx.Graph) -> None:
    graph = nx.Graph((u, v, {"calls": data["weight"]}) for u, v, data in karate.edges(data=True))
    found = graphpri.choose(graph, 40, "degrees")
    html = found._repr_html_()
    assert f"<b>{_choose._in_words(found.best)}</b>" in html
    assert html.count("<tr") >= 5
    for text in (str(found), html.replace("&quot;", '"')):
        assert 'pass weight="calls" if that holds the weights' in text


def test_misspelt_purposes_are_met_with_the_closest(karate: nx.Graph) -> None:
    with pytest.raises(OptionError, match=r"purpose='comunities': choose from .*; did you mean 'communities'\?"):
        graphpri.choose(karate, 0.5, "comunities")


def test_random_edges_lose_a_hundred(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.5, "degrees")
    (chance,) = (row for row in found.rows if _choose._way(row) == Way("random"))
    assert chance["loss"] == pytest.approx(100)


@pytest.mark.parametrize("purpose", list(PURPOSES))
def test_the_original_loses_nothing_but_for_hubs(karate: nx.Graph, purpose: str) -> None:
    values = {**graphpri.report(karate, karate), "kept_distances": 1.0}
    losses = [_choose.lost(name, kind, values) for name, kind in PURPOSES[purpose].items()]
    assert (max(losses) > 0.5) if purpose == "hubs" else (losses == pytest.approx([0] * len(losses), abs=1e-7))


def test_the_result_is_what_was_measured(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.5, "communities")
    again = graphpri.report(karate, found.result, measures=list(PURPOSES["communities"]))
    assert all(again[name] == pytest.approx(found.rows[0][name], abs=1e-9) for name in PURPOSES["communities"])
    way = found.best
    assert (found.result.settings["reweight"], found.result.settings["connected"]) == (way.reweight, way.connected)
    assert {frozenset(e) for e in found.result.graph.edges} == {
        frozenset(e) for e, kept in zip(karate.edges, found.result.mask, strict=True) if kept
    }


def test_each_search_is_made_once_and_the_graph_is_read_once(karate: nx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    search, read = _choose.sparsify, _choose.load
    monkeypatch.setattr(_choose, "sparsify", lambda g, k, **o: calls.append(tuple(o.items())) or search(g, k, **o))
    monkeypatch.setattr(_choose, "load", lambda *a: calls.append("read") or read(*a))
    graphpri.choose(karate, 0.5, "information")
    assert len(calls) == len(set(calls))
    assert calls.count("read") == 1


def test_small_graphs_get_every_method_connected_and_not(karate: nx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_choose, "methods", graphpri.methods)
    ways = _choose.ways_for("hubs", graphpri.as_graph(karate), 40)
    assert {(way.method, way.connected) for way in ways} == {(m, c) for m in graphpri.methods() for c in (False, True)}
    assert len(ways) == len(set(ways))


def test_large_graphs_get_few_ways_and_the_others_are_named(monkeypatch: pytest.MonkeyPatch, karate: nx.Graph) -> None:
    monkeypatch.setattr(_choose, "ALL_EDGES", 10)
    found = graphpri.choose(karate, 0.5, "clustering")
    assert set(found.ways) == {Way("random"), Way("pri", 50), Way("pri", 50, True)}
    assert {way.method for way in found.ways} | set(found.not_tried) == set(FEW)
    assert "not tried" in str(found)


def test_a_callback_ends_the_trials(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.5, "hubs", callback=lambda step: step.done == 3)
    assert len(found.rows) == 3


def test_the_least_divergence_wins_for_information(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.6, "information")
    least = min(row["divergence"] for row in found.rows)
    assert found.rows[0]["divergence"] == pytest.approx(least, rel=1e-8)
    assert found.result.divergence == pytest.approx(least, rel=1e-8)


def test_weights_stay_where_that_is_asked_for(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.6, "information", new_weights=False)
    assert all(way.reweight is None for way in found.ways)


def test_a_budget_below_a_forest_leaves_connected_ways_out(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 20, "hubs")
    assert not any(way.connected for way in found.ways)


def test_ways_that_can_not_be_done_are_named(karate: nx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    search = _choose.sparsify

    def broken(graph: Any, keep: Any, **options: Any) -> Any:
        if options["method"] == "scan":
            raise OptionError("too costly")
        return search(graph, keep, **options)

    monkeypatch.setattr(_choose, "sparsify", broken)
    found = graphpri.choose(karate, 0.5, "clustering")
    assert {row["method"] for row in found.failed} == {"scan"}
    assert "not done: scan: too costly" in str(found)


def test_the_order_of_edges_changes_nothing(karate: nx.Graph) -> None:
    edges = list(karate.edges(data=True))
    order = np.random.default_rng(0).permutation(len(edges))
    other = nx.Graph()
    other.add_nodes_from(karate)
    other.add_edges_from(edges[i] for i in order)
    one, two = (graphpri.choose(g, 0.4, "degrees") for g in (karate, other))
    assert one.ways == two.ways
    assert {frozenset(e) for e in one.result.graph.edges} == {frozenset(e) for e in two.result.graph.edges}


def test_purposes_whose_measures_cost_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = barabasi_albert(60, 2, seed=0)
    costly = replace(MEASURES["clustering"], cost=Cost("M", lambda g: g.n_edges, 1.0))
    monkeypatch.setitem(MEASURES, "clustering", costly)
    with pytest.raises(OptionError, match=r"purpose='clustering' can't be measured on 60 nodes .*costs M.*degrees"):
        graphpri.choose(graph, 0.5, "clustering")


def test_a_purpose_that_needs_a_library_says_which(karate: nx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphpri.measures.registry.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"community_nmi needs networkit.*pip install 'graphpri\[networkit\]'"):
        graphpri.choose(karate, 0.5, "communities")
