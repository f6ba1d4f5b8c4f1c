"""Ways that are tried for a purpose: which they are, how they are ranked, and what comes back."""

from __future__ import annotations

import csv
import typing
from pathlib import Path
from typing import get_args

import networkx as nx
import numpy as np
import pytest

import graphpri
from graphpri._choose import PURPOSES, WAYS, Purpose
from graphpri.cli import choose as cli
from graphpri.datasets import barabasi_albert
from graphpri.errors import OptionError
from graphpri.measures import MEASURES

RANKS = Path(__file__).parent.parent / "docs" / "data" / "landscape_ranks.csv"
KINDS = {"given": None, "rescaled": "rescale", "reweighted": "divergence"}


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


@pytest.mark.parametrize("purpose", [p for p in PURPOSES if p != "connectivity"])
def test_what_ranks_first_on_other_graphs_is_tried(purpose: str) -> None:
    rows = list(csv.DictReader(RANKS.read_text("utf-8").splitlines()))
    least = min(float(row[purpose]) for row in rows)
    first = [
        (row["method"], None if row["beta"] == "nan" else float(row["beta"]), row["connected"] == "True")
        for row in rows
        if float(row[purpose]) == least
    ]
    assert set(first) & {way[:3] for way in WAYS[purpose]}


@pytest.mark.parametrize("purpose", ["information", "distances", "degrees", "hubs"])
def test_the_best_comes_back_with_exactly_k_edges(karate: nx.Graph, purpose: str) -> None:
    found = graphpri.choose(karate, 40, purpose)
    assert found.result.kept.n_edges == 40
    assert isinstance(found.result.graph, nx.Graph)
    ranks = [row["rank"] for row in found.rows]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(found.ways) == len(WAYS[purpose])
    assert found.runner_up == found.ways[1]
    assert {row["K"] for row in found.rows} == {40}
    assert found.best.method in str(found).splitlines()[0]
    assert not set(found.not_tried) & {way.method for way in found.ways}


def test_the_least_divergence_wins_for_information(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.6, "information")
    least = min(row["divergence"] for row in found.rows)
    assert found.rows[0]["divergence"] == pytest.approx(least, rel=1e-8)
    assert found.result.divergence == pytest.approx(least, rel=1e-8)


def test_weights_stay_where_that_is_asked_for(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 0.6, "flows", new_weights=False)
    assert all(way.reweight is None for way in found.ways)


def test_ways_that_can_not_be_done_are_named(karate: nx.Graph) -> None:
    found = graphpri.choose(karate, 20, "hubs")
    assert found.failed
    assert not any(way.connected for way in found.ways)
    assert "not done" in str(found)


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
    affordable = type(MEASURES["clustering"]).affordable
    monkeypatch.setattr(
        type(MEASURES["clustering"]), "affordable", lambda m, g: m.name != "clustering" and affordable(m, g)
    )
    with pytest.raises(OptionError, match=r"purpose='clustering': clustering cost too much for 60 nodes .*degrees"):
        graphpri.choose(graph, 0.5, "clustering")
