"""Small files of the kinds that people have, each with its right value or refusal."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import graphpri
from graphpri.errors import FileError

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize(
    ("name", "labels", "n_edges", "weight", "said"),
    [
        ("matrix_positive_diagonal.csv", None, 66, None, "read as an adjacency matrix of 12 nodes"),
        ("matrix_pandas_index.csv", ["A", "B", "C", "D"], 4, 8.4, "adjacency matrix of 4 nodes"),
        ("matrix_gephi_semicolon.csv", ["A", "B", "C"], 2, 5.4, "adjacency matrix of 3 nodes"),
        ("yed.graphml", ["Gene1", "Gene2", "Gene3"], 2, None, ""),
        ("excel_sep.csv", ["a", "b", "c"], 2, 3, ""),
        ("out.konect", [1, 2, 3, 4], 5, 10, ""),
        ("networkrepository_onepercent.mtx", [0, 1, 2, 3, 4], 5, None, ""),
        ("gephi.gexf", ["A", "B", "C"], None, None, ""),
        ("cytoscape.sif", ["P53", "MDM2", "CDKN1A", "RB1", "E2F1"], 4, None, ""),
        ("infomap_hash_comments.net", None, 39, None, ""),
        ("utf16.csv", ["a", "b", "c"], 3, 6, ""),
    ],
)
def test_each_kind_of_file_gives_its_graph(
    name: str, labels: list[Any] | None, n_edges: int | None, weight: float | None, said: str
) -> None:
    table = graphpri.read(CASES / name)
    made = table.canonical(loops="drop", directed="symmetrize")
    if labels is not None:
        assert [table.label(i) for i in range(table.n_nodes)] == labels
    if n_edges is not None:
        assert made.graph.n_edges == n_edges
    if weight is not None:
        assert made.graph.weights.sum() == pytest.approx(weight)
    assert said in "; ".join(made.notes)
    if name == "infomap_hash_comments.net":
        assert (
            sum(nx.triangles(nx.Graph(zip(table.source.tolist(), table.target.tolist(), strict=True))).values()) == 27
        )


def test_an_uneven_diagonal_is_named() -> None:
    with pytest.raises(graphpri.GraphError, match=r"12 self-loops .*the first at edge \(0, 0\).*loops=\"drop\""):
        graphpri.read(CASES / "matrix_positive_diagonal.csv").canonical()


def test_thousands_are_refused_and_not_advised_as_decimals() -> None:
    with pytest.raises(FileError, match="write it without separators of thousands, 610086") as caught:
        graphpri.read(CASES / "thousands.csv")
    assert "610.086" not in str(caught.value)


def test_correlations_are_averaged_and_not_doubled() -> None:
    a = np.abs(np.corrcoef(np.random.default_rng(0).normal(size=(10, 50))))
    np.fill_diagonal(a, 0)
    result = graphpri.sparsify(a, keep=5, method="weight")
    assert np.asarray(result.graph).max() == pytest.approx(a.max(), rel=1e-12)
    assert "mirrored entries that differed by rounding averaged" in result.notes


def test_opposite_arcs_weigh_the_same_whatever_else_is_there() -> None:
    arcs = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 0)]
    weighs = []
    for made, extra in itertools.product((nx.MultiDiGraph, nx.DiGraph), ([], [(2, 3)])):
        policies = {"directed": "symmetrize", "parallel": "sum"}
        found = graphpri.as_graph(made(arcs + extra), **policies)
        weighs.append(float(found.weights[0]))
    assert weighs == [2.0] * 4


def test_ties_of_local_scores_fall_to_every_edge_over_seeds() -> None:
    for method in ("local-degree", "local-similarity"):
        dropped = {
            int(np.flatnonzero(~graphpri.sparsify(nx.complete_graph(3), keep=2, method=method, seed=seed).mask)[0])
            for seed in range(30)
        }
        assert dropped == {0, 1, 2}
