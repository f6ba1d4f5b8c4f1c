"""What notebooks show: tables and small pictures, short texts, progress, and paths as one object."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

import graphpri
from graphpri.errors import Interrupted, OptionError


@pytest.fixture(scope="module")
def karate() -> nx.Graph:
    return nx.karate_club_graph()


def cells(html: str) -> list[str]:
    return ["".join(cell.itertext()) for cell in ElementTree.fromstring(f"<x>{html}</x>").iter() if cell.tag == "td"]


def test_results_show_a_picture_and_what_was_kept(karate: nx.Graph) -> None:
    result = graphpri.sparsify(karate, keep=23)
    html = result._repr_html_()
    assert "23 of 78 (29.5%)" in cells(html)
    drawing = next(ElementTree.fromstring(html).iter("{http://www.w3.org/2000/svg}svg"))
    ways = [path.get("d", "") for path in drawing.iter("{http://www.w3.org/2000/svg}path")]
    assert [way.count("M") for way in ways] == [55, 23]
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))) == 34
    large = graphpri.datasets.barabasi_albert(600, 2)
    assert "<svg" not in graphpri.sparsify(large, keep=20, method="random")._repr_html_()


def test_reports_tables_and_graphs_show_what_their_text_says(karate: nx.Graph) -> None:
    report = graphpri.report(karate, graphpri.sparsify(karate, keep=23), measures=["edges", "components"])
    assert cells(report._repr_html_())[:3] == ["edges", "78", "23"]
    table = graphpri.compare(karate, ["random", "weight"], [0.2, 0.5], measures=["divergence"])
    assert [cell for cell in cells(table._repr_html_()) if cell in ("random", "weight")] == ["random"] * 2 + [
        "weight"
    ] * 2
    assert "34" in cells(graphpri.as_graph(karate)._repr_html_())
    rows = graphpri.EdgeTable(
        3, np.array([0, 1]), np.array([1, 2]), labels=["a", "<b>", "c"], edge_attributes={"calls": [4, 1]}
    )
    assert cells(rows._repr_html_()) == ["a", "<b>", "4", "<b>", "c", "1"]
    assert repr(rows) == "EdgeTable(3 nodes, 2 edges, attributes of edges: 'calls')"


def test_the_best_of_each_budget_is_the_best_among_its_rows(karate: nx.Graph) -> None:
    table = graphpri.compare(
        karate, ["random", "pri", "weight"], [0.2, 0.5], measures=["divergence", "connected_pairs"]
    )
    for measure, better in (("divergence", min), ("connected_pairs", max)):
        best = table.best_per_budget(measure)
        assert [row["keep"] for row in best] == [0.2, 0.5]
        for row in best:
            assert row[measure] == better(r[measure] for r in table if r["keep"] == row["keep"])
    with pytest.raises(OptionError, match="neither less nor more"):
        graphpri.compare(karate, ["random"], [0.2], measures=["edges"]).best_per_budget("edges")


def test_paths_are_lists_with_a_table_and_points_by_beta(karate: nx.Graph) -> None:
    found = graphpri.path(karate, keep=20, beta=[1, 4.0])
    assert isinstance(found, list)
    assert found[4.0] is found[1] is found.at(4)
    assert found[1.0] is found[0]
    assert [row["beta"] for row in found.table()] == [1.0, 4.0]
    assert [row["objective"] for row in found.table()] == [result.objective for result in found]
    assert len(cells(found._repr_html_())) == 2 * len(found.table()[0])
    assert str(found).count("\n") == 2
    with pytest.raises(OptionError, match=r"the path has no beta 3; it has 1\.0, 4\.0"):
        found.at(3)
    budgets = graphpri.path(karate, keep=[0.2, 0.5, 1])
    assert budgets[0.5].kept.n_edges == 39
    assert budgets.at(1).kept.n_edges == 1
    pytest.importorskip("matplotlib").use("agg")
    assert found.plot().get_xlabel() == "β"


def test_a_path_that_was_interrupted_is_one_too(karate: nx.Graph) -> None:
    def press(progress: Any) -> None:
        if progress.step > 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        graphpri.path(karate, keep=20, beta=[1.0, 4.0, 8.0], callback=press)
    assert len(stop.value.result.table()) == 3


def test_progress_is_a_line_in_a_terminal(capsys: pytest.CaptureFixture[str], karate: nx.Graph) -> None:
    graphpri.sparsify(karate, keep=20, callback=graphpri.ProgressBar("karate"))
    graphpri.compare(karate, ["random"], [0.2, 0.4], measures=["edges"], callback=graphpri.ProgressBar())
    err = capsys.readouterr().err
    assert "karate" in err
    assert "100%" in err


def test_progress_is_a_bar_below_the_cell_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)

    def display(html: str, display_id: bool) -> Any:
        shown.append(html)
        return handle

    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    displays.display, displays.HTML = display, lambda text: text  # type: ignore[attr-defined]
    ipython.display = displays  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    bar = graphpri.ProgressBar("<jazz>")
    bar(SimpleNamespace(fraction=0.25, stage="swap"))
    bar(SimpleNamespace(fraction=1.0, stage="swap"))
    assert shown[0] == '&lt;jazz&gt; swap <progress value="0.250" max="1"></progress> 25%'
    assert shown[-1].endswith("100%")
