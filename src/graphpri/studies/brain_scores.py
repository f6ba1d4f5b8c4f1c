"""What the studies of brain networks share: methods scored by folds of subjects, tables of them, a chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpri.apps import brain_protocol
from graphpri.apps.brain_data import Connectomes, named
from graphpri.apps.brain_gaps import compared, gaps
from graphpri.apps.brain_methods import Settings
from graphpri.apps.brain_protocol import Evaluation, Protocol, summary
from graphpri.studies.figures import COLUMN, panels
from graphpri.studies.study import Cell, Facts, Frames, Picture, Tables

FIRST = 16
"""Subjects of the quick size."""

NAMES = {
    "edge-readout": "edge readout",
    "edge-readout-tangent": "edge readout, tangent space",
    "linear-svm": "linear SVM",
    "tangent-svm": "linear SVM, tangent space",
    "t-test-svm": "t-test + linear SVM",
    "t-test-svm-rbf": "t-test + SVM",
    "lasso-svm": "LASSO + linear SVM",
    "lasso-svm-rbf": "LASSO + SVM",
    "gcn": "GCN",
    "pyg-gcn": "GCN (PyG)",
    "gat": "GAT (PyG)",
    "paper": "Graph-PRI*",
    "paper-exact": "Graph-PRI",
}
"""How pictures and tables call the methods; as the paper does, where it has them."""

GRAPH_NETWORKS = ("gcn", "pyg-gcn", "gat", "paper", "paper-exact")
_COLUMNS = (
    *("method", "accuracy", "standard_error", "lower", "upper", "balanced_accuracy", "auc"),
    *("difference", "difference_lower", "difference_upper", "verdict"),
)

EDGE_MODELS = ("edge-readout", "edge-readout-tangent", "linear-svm", "tangent-svm")


def scans_of(cell: Cell) -> Connectomes:
    """The data set of a piece of work; of a quick one a few subjects."""
    scans = named(cell["data"])
    if not cell["quick"]:
        return scans
    few = list(dict.fromkeys(scans.groups))
    chosen = set(few[: FIRST // 2] + few[-FIRST // 2 :])  # the classes may stand one after the other
    return scans.take(np.flatnonzero([group in chosen for group in scans.groups]))


def score_cells(data: str, quick: bool, repeats: int) -> list[Cell]:
    """A piece for each method and repeat, networks first, as they take longest."""
    methods = ("paper-exact", "gcn", "t-test-svm-rbf", "linear-svm", "edge-readout") if quick else tuple(NAMES)[::-1]
    return [
        {"kind": "scores", "data": data, "method": method, "repeat": repeat, "folds": 2 if quick else 5, "quick": quick}
        for method in methods
        for repeat in range(1 if quick else repeats)
    ]


def scored(cell: Cell, seed: int) -> Tables:
    """Scores of each scan by a method that had not seen its subject."""
    protocol = Protocol(
        folds=cell["folds"], repeats=1, seed=seed + cell["repeat"], settings=Settings(nested=not cell["quick"])
    )
    found = brain_protocol.evaluate(scans_of(cell), [cell["method"]], protocol)
    return {"scores": [row | {"repeat": cell["repeat"]} for row in found.scores]}


def comparison(frames: Frames) -> Any:
    """Each method's accuracy with its standard error, and its gap to the best, the best first."""
    import pandas as pd

    rows = frames["scores"].to_dict("records")
    return pd.DataFrame(compared(Evaluation(rows, summary(rows))))[list(_COLUMNS)].round(4)


def note_accuracies(table: Any, facts: Facts) -> None:
    """Facts of each method's accuracy, its standard error and its AUC."""
    for row in table.to_dict("records"):
        key = row["method"].replace("-", "_")
        facts.add(key, row["accuracy"], "comparison", f"accuracy of {NAMES[row['method']]}")
        facts.add(f"{key}_se", row["standard_error"], "comparison", "its standard error over subjects")
        facts.add(f"{key}_auc", row["auc"], "comparison", "its area under the curve")


def difference(frames: Frames, method: str, other: str) -> tuple[float, float, float]:
    """Accuracy of one method less that of another over the same scans, with its 95 % interval over subjects."""
    table = frames["scores"]
    rows = gaps(table[table["method"].isin([method, other])].to_dict("records"))
    found = next(row for row in rows if row["verdict"] != "best")
    ends = found["difference"], found["lower"], found["upper"]
    middle, lower, upper = ends if found["method"] == method else (0.0 - ends[0], 0.0 - ends[2], 0.0 - ends[1])
    return middle, lower, upper


def chart(name: str, frames: Frames, known: dict[str, tuple[float, float]], caption: str) -> Picture:
    """Accuracies with intervals; diamonds with bars for what the paper has, as (mean, standard deviation)."""
    table = frames["comparison"]
    figure, axes = panels(width=COLUMN, height=0.8 + 0.17 * len(table))
    ax = axes[0, 0]
    low, high = (float(frames["chance"][end].iloc[0]) for end in ("lower", "upper"))
    ax.axvspan(low, high, color="#8883", linewidth=0, label="guesses, 95 %")
    for i, row in enumerate(table[::-1].to_dict("records")):
        ax.hlines(i, row["lower"], row["upper"], color="#0072B2")
        ax.plot(row["accuracy"], i, "o", color="#0072B2", label="measured, 95 % over subjects" if i == 0 else None)
        if row["method"] in known:
            mean, deviation = known[row["method"]]
            ax.hlines(i - 0.3, mean - deviation, mean + deviation, color="#D55E00", linewidth=0.8)
            ax.plot(mean, i - 0.3, "D", markerfacecolor="white", color="#D55E00")
    if known:
        ax.plot([], [], "D", markerfacecolor="white", color="#D55E00", label="the paper, one deviation")
    ax.set_yticks(range(len(table)), [NAMES[name] for name in table["method"][::-1]])
    ax.set_xlabel("accuracy")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return Picture(name, figure, caption)
