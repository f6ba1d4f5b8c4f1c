"""The study of node classification: fair settings, disjoint nodes, and verdicts that follow the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the study needs the extra graphpri[pyg]")
pytest.importorskip("torch_geometric", reason="the study needs the extra graphpri[pyg]")
pytest.importorskip("pandas", reason="the study needs the extra graphpri[studies]")

import zoo
from graphpri import studies
from graphpri.studies import node_classification as study
from graphpri.studies.catalogue import find
from judging import Row, about, judged, read


@pytest.fixture(scope="module")
def quick(quick_study: Callable[[str], studies.Result]) -> studies.Result:
    """The study in its quick size."""
    return quick_study("node-classification")


def test_noise_edges_are_new_and_as_many_as_asked() -> None:
    graph = zoo.random_graph(20, 30, 0)
    noisy, added = study._with_noise(graph, 0.5, np.random.default_rng(0))
    assert added.sum() == 15
    own = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    assert set(zip(noisy.source[~added].tolist(), noisy.target[~added].tolist(), strict=True)) == own
    assert noisy.n_edges == 45


def test_nodes_to_learn_from_to_choose_by_and_to_test_are_disjoint_and_all() -> None:
    labels = np.repeat([0, 1, 2], [20, 9, 5])
    train, validation, test = study._split(labels, 5, np.random.default_rng(0))
    assert sorted([*train, *validation, *test]) == list(range(34))
    assert np.bincount(labels[train]).tolist() == np.bincount(labels[validation]).tolist() == [5, 3, 1]


def test_every_method_has_as_many_settings_and_each_draw_once(quick: studies.Result) -> None:
    assert {len(settings) for settings in study.SETTINGS.values()} == {3}
    rows = read(quick.folder / "accuracy.csv")
    assert len({(row["noise"], row["draw"], row["method"]) for row in rows}) == len(rows) == 2 * 2 * 8
    assert all(float(row["setting"]) in study.SETTINGS[row["method"]][:2] for row in rows)
    assert all(0 <= float(row["test"]) <= 1 for row in rows)


def test_the_setting_is_chosen_without_a_look_at_the_test_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def fits(method: str, settings: object, draws: list[object], labels: object, epochs: int) -> list[list[Row]]:
        good = {"setting": 1.0, "validation": 0.9, "loss": 0.4, "test": 0.1, "noise_kept": None}
        bad = {"setting": 2.0, "validation": 0.8, "loss": 0.3, "test": 1.0, "noise_kept": None}
        return [[bad, good] for _ in draws]

    monkeypatch.setattr(study, "_fit", fits)
    cell = {"graph": "karate", "noise": 0.0, "draws": [0], "epochs": 1, "settings": 2}
    assert {row["setting"] for row in study.work(cell, 0)["accuracy"]} == {1.0}


def test_the_operator_is_that_of_the_layer_it_stands_for() -> None:
    import torch
    from torch_geometric.nn import GCNConv

    graph = zoo.random_graph(10, 20, 0)
    edges = study._Edges([graph, graph], [0.0, 0.0])
    layer = GCNConv(3, 3, bias=False)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.eye(3))
    values = torch.rand(2, 10, 3, requires_grad=True)
    found = edges.times(edges.entries(None), values)
    torch.testing.assert_close(found, layer(values.flatten(0, 1), edges.columns).view(2, 10, 3))
    weights = torch.rand(2 * 10 * 3).view(2, 10, 3)
    (one,) = torch.autograd.grad((found * weights).sum(), values)
    (two,) = torch.autograd.grad((layer(values.flatten(0, 1), edges.columns).view(2, 10, 3) * weights).sum(), values)
    torch.testing.assert_close(one, two)


def test_a_method_that_is_always_right_turns_the_verdicts(quick: studies.Result, tmp_path: Path) -> None:
    def right(row: Row) -> None:
        row["test"] = str(0.9 if row["method"] == "graph-pri" else 0.5 + 0.001 * int(row["draw"]))

    after = judged(find("node-classification"), quick.folder, tmp_path / "node-classification", "accuracy", right)
    assert about(after, "Edges kept by Graph-PRI").outcome == "reproduced"
    assert about(after, "nothing helps a GCN more").outcome == "reproduced"
    assert about(after, "The Graph-PRI term").outcome == "not reproduced"


def test_kept_edges_that_are_all_true_turn_the_verdict(quick: studies.Result, tmp_path: Path) -> None:
    def clean(row: Row) -> None:
        if row["method"] == "graph-pri":
            row["noise_kept"] = "0.0"

    after = judged(find("node-classification"), quick.folder, tmp_path / "node-classification", "accuracy", clean)
    assert about(after, "leaves out random edges").outcome == "reproduced"
