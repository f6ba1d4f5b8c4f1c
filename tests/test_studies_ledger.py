"""Studies of single claims: what is computed beside, and that verdicts follow the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="some of the studies need the extra graphpri[brain]")

from graphpri import studies
from graphpri._laplacian import leverages
from graphpri._objective import Objective
from graphpri.apps.mtl import GraphMTL
from graphpri.apps.mtl_data import synthetic
from graphpri.studies import costs, lemma3, optimisation, spectral_sparsifiers, task_graphs
from graphpri.studies.catalogue import find
from graphpri.studies.graphs import build
from judging import Row, about, judged, read

Run = Callable[[str], studies.Result]


def changed(
    found: studies.Result, tmp_path: Path, table: str, change: Callable[[Row], object], words: str
) -> studies.Verdict:
    """The verdict on a claim after every row of a table went through `change`."""
    return about(judged(find(found.study.name), found.folder, tmp_path / "changed", table, change), words)


# Spectral sparsifiers


def test_a_smaller_epsilon_draws_more_and_keeps_every_edge_in_the_end() -> None:
    graph = build("karate", 0)
    p = leverages(graph) / leverages(graph).sum()
    rng = np.random.default_rng(0)
    assert spectral_sparsifiers.samples(graph, 0.2) == pytest.approx(
        4 * spectral_sparsifiers.samples(graph, 0.4), abs=4
    )
    once, again = spectral_sparsifiers.sparsifiers(graph, p, 0.01, rng)
    assert once == again == graph.n_edges
    once, again = spectral_sparsifiers.sparsifiers(graph, p, 1.0, rng)
    assert once < again, "a draw that falls apart is drawn again with more edges"


def test_expected_edges_that_rise_with_epsilon_turn_the_verdict(quick_study: Run, tmp_path: Path) -> None:
    found = quick_study("spectral-sparsifiers")
    assert about(found, "not monotonically").outcome == "conditional"

    def rise(row: Row) -> None:
        row["expected"] = row["step"]

    assert changed(found, tmp_path, "sizes", rise, "not monotonically").outcome == "reproduced"


# Optimisation


def test_projected_gradients_stay_in_the_box_and_never_end_above_the_start() -> None:
    objective = Objective(build("karate", 0), 4.0)
    start = np.random.default_rng(1).random(objective.graph.n_edges)
    found = optimisation.projected(objective, start, 60)
    assert found.min() >= 0
    assert found.max() == pytest.approx(1)
    assert objective.value(found) < objective.value(start) - 1e-3


def test_the_best_cut_is_at_or_below_the_cut_at_one_half() -> None:
    objective = Objective(build("karate", 0), 4.0)
    p = np.random.default_rng(2).random(objective.graph.n_edges)
    found = optimisation.selections(objective, p)
    assert found["best"] <= found["half"]
    top = np.argsort(-p)[: found["best_edges"]]
    assert found["best"] == pytest.approx(objective.value(np.isin(np.arange(p.size), top).astype(float)))
    assert found["half_edges"] == (p > 0.5).sum()


def test_changed_runs_turn_the_verdicts_on_optimisation(quick_study: Run, tmp_path: Path) -> None:
    found = quick_study("optimisation")

    def eased(row: Row) -> None:
        low = "0.0" if row["way"] == "samples" else "1.0"
        row["half"] = row["best"] = low

    after = judged(find("optimisation"), found.folder, tmp_path / "eased", "runs", eased)
    assert about(after, "Gumbel-softmax").outcome == "reproduced"

    def best_at_half(row: Row) -> None:
        row["half"] = row["best"]

    after = judged(find("optimisation"), found.folder, tmp_path / "half", "runs", best_at_half)
    assert about(after, "above 50 %").outcome != "not reproduced"
    assert about(found, "above 50 %").outcome == "not reproduced"

    def free(row: Row) -> None:
        row["share"], row["alone"] = "0.5", "0.0" if float(row["alpha"]) > 0 else "0.5"

    after = judged(find("optimisation"), found.folder, tmp_path / "free", "barrier", free)
    assert about(after, "without compromising").outcome == "reproduced"
    assert about(found, "without compromising").outcome == "not reproduced"


# Costs


def test_all_ways_have_the_gradient_of_the_objective() -> None:
    graph = build("ER 24 5", 0)
    w = np.linspace(0.5, 1, graph.n_edges)
    right = Objective(graph, 2.0).gradient(w)
    for way, run in costs.ways(graph).items():
        assert run().numpy() == pytest.approx(right, abs=1e-9), way


def test_memory_counts_what_is_held_at_once() -> None:
    import torch

    def twice() -> None:
        for _ in range(2):
            torch.ones(1000, dtype=torch.float64).mul(2)

    assert 16_000 <= costs.peak(twice) < 32_000


def test_changed_costs_turn_the_verdicts(quick_study: Run, tmp_path: Path) -> None:
    found = quick_study("costs")

    def dear(row: Row) -> None:
        factor = 2.0 if row["way"] in ("autodiff", "listing") else 1.0
        row["seconds"] = str(factor * (int(row["nodes"]) / 100) ** 3)
        row["mega"] = str(factor)

    after = judged(find("costs"), found.folder, tmp_path / "dear", "costs", dear)
    assert [verdict.outcome for verdict in after.verdicts] == ["reproduced", "reproduced"]


# Lemma 3


def test_slopes_are_those_of_lemma_2_and_a_rising_one_turns_the_verdict(quick_study: Run, tmp_path: Path) -> None:
    lam, other = np.array([0.2, 0.3, 0.5]), np.array([0.25, 0.35, 0.4])
    start, end = lemma3.slopes(lam, other)
    assert start == pytest.approx(-(other - lam) @ np.log2(lam), abs=1e-6)
    assert end == pytest.approx(-(other - lam) @ np.log2(other), abs=1e-6)
    found = quick_study("lemma-3")
    assert found.verdicts[0].outcome == "reproduced"

    def rise(row: Row) -> None:
        row["end"] = str(float(row["start"]) + 1)

    assert changed(found, tmp_path, "edges", rise, "second inequality").outcome == "not reproduced"


# Task graphs


def test_the_squared_model_is_at_the_minimum_of_the_printed_objective() -> None:
    tasks = synthetic(seed=3, n_tasks=6, group_size=3, n=20, informative=3, irrelevant=1).tasks
    model = GraphMTL(gamma=2.0, k=3).fit_rows(tasks)
    least = task_graphs.printed(tasks, model.graph_, 2.0, model.coef_)
    assert least == pytest.approx(model.objective_history_[-1])
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = model.coef_ + 0.01 * rng.standard_normal(model.coef_.shape)
        assert task_graphs.printed(tasks, model.graph_, 2.0, other) > least


def test_changed_task_graphs_turn_the_verdicts(quick_study: Run, tmp_path: Path) -> None:
    found = quick_study("task-graphs")
    rows = read(found.folder / "pruned.csv")
    assert {row["method"] for row in rows} == {"none", "pri", "pri β=2", "local-degree", "random"}

    def compelling(row: Row) -> None:
        if row["method"] == "local-degree":
            row["rmse"] = str(0.1 + 0.001 * int(row["draw"]))

    after = judged(find("task-graphs"), found.folder, tmp_path / "degree", "pruned", compelling)
    assert about(after, "Local degree").outcome == "not reproduced"

    def least(row: Row) -> None:
        row["excess"] = "0.0"

    after = judged(find("task-graphs"), found.folder, tmp_path / "objective", "objective", least)
    assert about(after, "CCMTL").outcome == "reproduced"
    assert about(found, "CCMTL").outcome == "not reproduced"


# Features of brain networks


def test_better_scores_with_clustering_turn_the_verdict(quick_study: Run, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    found = quick_study("brain-features")
    seen = [(row["model"], row["features"], row["subject"]) for row in read(found.folder / "scores.csv")]
    assert len(set(seen)) == len(seen)

    def better(row: Row) -> None:
        right = 1.0 if row["label"] == "1" else -1.0
        row["score"] = str(right if row["features"] == "clustering" else -right)

    assert changed(found, tmp_path, "scores", better, "clustering").outcome == "reproduced"
