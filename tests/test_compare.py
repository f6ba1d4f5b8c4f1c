"""Comparisons: tidy rows, rows for what can't be done, budgets and seeds, exports, and the text table."""

from __future__ import annotations

import csv
import errno
import os
import sys
from dataclasses import replace
from unittest.mock import Mock

import networkx as nx
import numpy as np
import pytest

import graphpri
import zoo
from graphpri._compare import compare
from graphpri.datasets import barabasi_albert
from graphpri.errors import ArgumentError, FileError, GraphError, MissingExtraError, OptionError
from graphpri.measures import MEASURES, Cost

KARATE = nx.karate_club_graph()
FAST = ["random", "local-degree"]
CORE = tuple(m.name for m in MEASURES.values() if m.core)


def test_rows_are_methods_times_budgets_times_seeds_in_that_order():
    table = compare(KARATE, FAST, [0.3, 40], seeds=(0, 7))
    heads = [(row["method"], row["keep"], row["K"], row["seed"]) for row in table]
    assert heads == [(m, k, {0.3: 23, 40: 40}[k], s) for m in FAST for k in (0.3, 40) for s in (0, 7)]
    assert len(table) == 8
    assert table[0] is table.rows[0]
    assert all(list(row) == table.columns for row in table)
    assert set(table.measures) == set(CORE)


def test_rows_are_what_sparsify_and_report_give():
    options = {"beta": 1.5, "reweight": True}
    table = compare(KARATE, ["local-degree", ("pri", options)], 0.5, beta=3, seeds=5, effort="fast")
    single = graphpri.sparsify(KARATE, keep=0.5, method="local-degree", seed=5)
    own = graphpri.sparsify(KARATE, keep=0.5, seed=5, effort="fast", **options)
    for row, result in zip(table, (single, own), strict=True):
        expected = graphpri.report(KARATE, result, measures="core", beta=3)
        assert row["status"] == result.status
        for name in table.measures:
            assert row[name] == pytest.approx(expected[name], abs=1e-12), name
    assert table.original["entropy"] == pytest.approx(graphpri.von_neumann_entropy(KARATE))
    assert table[1]["options"] == "beta=1.5, reweight=True"


def test_several_beta_make_rows_for_each():
    table = compare(KARATE, ["pri", "random"], keep=[0.3, 0.5], beta=[1, 4], effort="fast")
    assert [(row["beta"], row["method"], row["keep"]) for row in table] == [
        (b, m, k) for b in (1, 4) for m in ("pri", "random") for k in (0.3, 0.5)
    ]
    assert all(list(row) == table.columns for row in table)
    assert table.settings["beta"] == [1, 4]
    assert "beta 1, 4" in str(table)
    for b in (1, 4):
        alone = compare(KARATE, ["pri", "random"], keep=[0.3, 0.5], beta=b, effort="fast")
        assert "beta" not in alone.columns
        for own, row in zip(alone, [row for row in table if row["beta"] == b], strict=True):
            assert {name: row[name] for name in own if name != "seconds"} == {
                name: value for name, value in own.items() if name != "seconds"
            }
        assert table.best("objective", keep=0.3, beta=b)["objective"] == alone.best("objective", keep=0.3)["objective"]
    labels = [line.get_label() for line in graphpri.plot.compare(table).get_lines()]
    assert labels == ["pri (beta=1)", "random (beta=1)", "pri (beta=4)", "random (beta=4)"]
    with pytest.raises(OptionError, match="beta is empty"):
        compare(KARATE, "random", 0.5, beta=[])


def test_single_items_may_stand_alone():
    assert len(compare(KARATE, "random", 0.5, seeds=3)) == 1
    assert compare(KARATE, ("local-degree", {"exponent": 0.5}), 0.5)[0]["options"] == "exponent=0.5"
    assert compare(KARATE, (m for m in FAST), (k for k in (0.2, 0.4)), seeds=range(2)).rows[-1]["seed"] == 1


def test_no_budget_leaves_the_size_to_beta_and_baselines_say_that_they_need_one():
    table = compare(KARATE, ["pri", "random"], [None, 0.9], beta=2, weight=None, effort="fast", connected=True)
    by = {(row["method"], row["keep"]): row for row in table}
    assert 34 <= by["pri", None]["K"] < 78
    assert by["pri", None]["components"] == 1
    assert by["random", None]["status"].startswith("error: method 'random' needs a budget")
    assert by["random", 0.9]["K"] == 70


def test_what_can_not_be_done_is_a_row_that_says_why():
    table = compare(KARATE, FAST, [0.2, 0.6], connected=True)
    assert [row["status"].startswith("error: ") for row in table] == [True, False, True, False]
    failed = table[0]
    assert "at least 33 edges" in failed["status"]
    assert failed["K"] is None
    assert all(np.isnan(failed[name]) for name in table.measures)
    assert failed["seconds"] >= 0
    text = str(table)
    assert text.count("at least 33 edges") == 1
    assert "(random at keep 0.2, local-degree at keep 0.2)" in text


def test_an_option_that_a_method_does_not_use_fails_that_row_only():
    table = compare(KARATE, [("random", {"exponent": 2}), "random"], 0.5)
    assert "does not use exponent" in table[0]["status"]
    assert table[1]["K"] == 39


def test_nothing_done_at_all_is_an_error():
    with pytest.raises(OptionError, match=r"no combination could be done; the first, random: keep=5 .*at least 33"):
        compare(KARATE, FAST, [5, 10], connected=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["random", "randm"]}, "did you mean 'random'"),
        ({"methods": []}, "methods is empty"),
        ({"methods": [("random",)]}, "text or a pair"),
        ({"methods": [3]}, "text or a pair"),
        ({"keep": []}, "keep is empty"),
        ({"seeds": ()}, "seeds is empty"),
        ({"measures": ["divergance"]}, "did you mean 'divergence'"),
        ({"beta": -1}, "beta=-1"),
        ({"unit": "dits"}, "unit='dits'"),
        ({"entropy": "x"}, "entropy='x'"),
        ({"methods": [("random", {"keep": 0.5})]}, "keep is an argument of compare itself"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments, message):
    with pytest.raises(OptionError, match=message):
        compare(KARATE, **({"methods": "random", "keep": 0.5} | arguments))


@pytest.mark.parametrize("graph", zoo.EDGELESS.values(), ids=zoo.EDGELESS.keys())
def test_graphs_without_edges_are_refused(graph):
    with pytest.raises(GraphError, match="no edges"):
        compare(graph, "random", 0.5)


def test_entropies_are_by_one_measure_for_all_rows():
    methods = [("pri", {"entropy": "degree", "effort": "fast"}), "random"]
    table = compare(KARATE, methods, 0.5, entropy="local", unit="bits", alpha=0.01)
    assert table.settings["entropy"] == "local"
    own = graphpri.sparsify(KARATE, keep=0.5, entropy="degree", alpha=0.01, effort="fast")
    expected = graphpri.von_neumann_entropy(own.graph, "local", unit="bits")
    assert table[0]["entropy"] == pytest.approx(expected, abs=1e-12)
    assert table[0]["objective"] == pytest.approx(
        graphpri.objective(KARATE, own, 50, 0.01, entropy="local", unit="bits"), abs=1e-12
    )


def test_algorithm_1_can_take_part():
    options = {"solver": "gumbel", "steps": 60}
    table = compare(KARATE, [("pri", options), "random"], 0.5, effort="fast", time_limit=20)
    assert table[0]["K"] == 39


def test_same_arguments_give_the_same_table_whatever_the_order_of_edges():
    edges = list(KARATE.edges(data=True))
    shuffled = nx.Graph()
    shuffled.add_edges_from([edges[i] for i in np.random.default_rng(1).permutation(len(edges))])
    one, two = (compare(G, [*FAST, "effective-resistance"], [0.3, 0.5]) for G in (KARATE, shuffled))
    for a, b in zip(one, two, strict=True):
        assert {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}


def test_the_callback_sees_every_row_and_stops():
    seen = []
    table = compare(KARATE, FAST, [0.2, 0.4, 0.6], callback=lambda step: seen.append(step) or len(seen) == 4)
    assert len(table) == 4
    assert [(s.done, s.total) for s in seen] == [(i, 6) for i in (1, 2, 3, 4)]
    assert seen[-1].row is table[-1]


def test_best_follows_the_measures_better_end():
    table = compare(KARATE, FAST, [0.2, 0.6], measures=["divergence", "degree_rank", "entropy"])
    lows = [row["divergence"] for row in table]
    assert table.best("divergence")["divergence"] == min(lows)
    assert table.best("degree_rank", keep=0.2)["degree_rank"] == max(
        r["degree_rank"] for r in table if r["keep"] == 0.2
    )
    with pytest.raises(OptionError, match="neither less nor more"):
        table.best("entropy")
    with pytest.raises(OptionError, match="the table has no such measure; choose from 'divergence', 'degree_rank'"):
        table.best("stretch")
    with pytest.raises(OptionError, match=r"measure='seconds': it measures nothing .*sorted.*choose from 'divergence'"):
        table.best("seconds")
    with pytest.raises(OptionError, match=r"did you mean 'divergence'\?"):
        table.best("divergance")
    for call in (table.best, table.best_per_budget):
        with pytest.raises(ArgumentError, match=r"by which measure\? choose from 'divergence', 'degree_rank'"):
            call()
    with pytest.raises(OptionError, match=r"no row at keep=0\.3"):
        table.best("divergence", keep=0.3)


def test_best_passes_over_rows_without_a_value():
    table = compare(KARATE, "random", [0.2, 0.6], connected=True)
    assert table.best("divergence")["keep"] == 0.6


def test_costly_measures_are_left_out_and_named(monkeypatch):
    costly = replace(MEASURES["stretch"], cost=Cost("M", lambda g: g.n_edges, 10))
    monkeypatch.setitem(MEASURES, "stretch", costly)
    table = compare(KARATE, "random", 0.5, measures="all")
    assert list(table.left_out) == ["stretch"]
    assert "left out: stretch (costs M = 8e+01 steps" in str(table)
    assert "stretch" in compare(KARATE, "random", 0.5, measures=["core", "stretch"]).measures


def test_large_graphs_are_compared_by_an_affordable_entropy():
    table = compare(zoo.large(), "random", 0.5, measures=["divergence", "edges"])
    assert table.measures == ("divergence", "edges")
    assert table.settings["entropy"] == "local"
    assert table[0]["K"] == 50_000


def test_csv_has_every_digit_and_every_row(tmp_path):
    table = compare(KARATE, FAST, [0.2, 0.6], connected=True)
    table.to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == table.columns
    assert [float(r["divergence"]) for r in rows] == pytest.approx([r["divergence"] for r in table], abs=0, nan_ok=True)
    assert rows[0]["K"] == ""
    with pytest.raises(FileError, match=r"nowhere.table\.csv: can't be written"):
        table.to_csv(tmp_path / "nowhere" / "table.csv")


def test_a_csv_that_can_not_be_written_leaves_the_older_one(tmp_path, monkeypatch):
    table = compare(KARATE, FAST, 0.5)
    path = tmp_path / "table.csv"
    path.write_text("precious\n")
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=full))
        with pytest.raises(FileError, match=r"table\.csv: can't be written: No space left"):
            table.to_csv(path)
    assert path.read_text() == "precious\n"
    assert os.listdir(tmp_path) == ["table.csv"]
    table.to_csv(path)
    assert path.read_text().startswith("method,")


def test_estimates_stand_beside_their_errors(tmp_path):
    graph, wrong = barabasi_albert(400, 4, seed=2), ("random", {"exponent": 1})
    table = compare(graph, [wrong, *FAST], 0.5, entropy="stochastic", measures=["entropy", "edges"])
    assert table.columns[5:8] == ["entropy", "entropy_error", "edges"]
    assert all(list(row) == table.columns for row in table)
    assert np.isnan(table[0]["entropy_error"])
    exact = compare(graph, FAST, 0.5, entropy="exact", measures=["entropy", "edges"])
    for row, truth in zip(table[1:], exact, strict=True):
        assert abs(row["entropy"] - truth["entropy"]) <= 4 * row["entropy_error"] < 0.005
    assert table.original["entropy_error"] > 0
    assert "entropy_error" not in exact.columns
    text = str(table)
    assert text.count(" ± ") == 3
    assert "entropy_error" not in text
    table.to_csv(tmp_path / "table.csv")
    assert "entropy,entropy_error,edges" in (tmp_path / "table.csv").read_text()


def test_pandas_gets_the_same_rows(monkeypatch):
    pytest.importorskip("pandas")
    table = compare(KARATE, FAST, [0.4, 0.6])
    frame = table.to_pandas()
    assert list(frame.columns) == table.columns
    assert frame.groupby("method")["divergence"].mean().size == 2
    assert frame["K"].tolist() == [31, 47, 31, 47]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"graphpri\[pandas\]"):
        table.to_pandas()


def test_text_has_the_original_first_and_hides_columns_that_say_nothing():
    settings, *text = str(compare(KARATE, FAST, 0.5)).splitlines()
    assert settings == "exact entropy in nats, beta 50, alpha 0, equation mixture"
    assert text[0].split()[:3] == ["method", "keep", "K"]
    assert text[1].startswith("(original)")
    assert f"{graphpri.von_neumann_entropy(KARATE):.4f}" in text[1]
    assert [line.split()[0] for line in text[2:4]] == FAST
    many = str(compare(KARATE, [("local-degree", {"exponent": 0.5})], 0.5, seeds=(0, 1)))
    assert many.splitlines()[1].split()[:5] == ["method", "options", "keep", "K", "seed"]
    assert "exponent=0.5" in many
    assert repr(compare(KARATE, FAST, 0.5)) == f"Comparison(2 rows, {len(CORE)} measures)"


def test_notes_say_how_the_graph_was_read():
    assert "weights: 'weight'" in compare(KARATE, "random", 0.5).notes
    ring = compare(zoo.ring(9), "random", 0.5)
    assert any("repeats" in note for note in ring.notes)
