"""Appendix C.2: whether local clustering coefficients as further features of regions improve the classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpri.apps.brain_graph import clustering, connectome_graphs, fisher_z, upper
from graphpri.apps.brain_methods import subject_folds
from graphpri.apps.brain_models import MaskedGCN
from graphpri.apps.brain_planted import planted_connectomes
from graphpri.apps.brain_scores import differences, summary
from graphpri.graph import FloatArray
from graphpri.studies.brain_real import load_scans
from graphpri.studies.study import COLUMN, Cell, Facts, Frames, Picture, Tables, Verdict, grade, panels, where

MODELS = {"gcn": "GCN", "svm": "linear SVM"}
_DATA = {"eoec": "eyes open or closed", "devfmri": "children or adults", "planted": "made-up scans"}


def cells(quick: bool) -> list[Cell]:
    """One for each data set and model; networks first, as they take longest."""
    if quick:
        return [{"data": "planted", "model": model, "folds": 2, "repeats": 1, "epochs": 20} for model in MODELS]
    return [
        {"data": data, "model": model, "folds": folds, "repeats": repeats, "epochs": 150}
        for model, folds, repeats in (("gcn", 3, 1), ("svm", 5, 5))
        for data in ("eoec", "devfmri")
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Scores of each scan by a model that had not seen its subject, without and with clustering coefficients."""
    if cell["data"] == "planted":
        scans = planted_connectomes(0.4, seed, n_rois=16, n_modules=2, n_planted=5, n_train=24, n_test=4).train
    else:
        scans = load_scans({"data": cell["data"], "quick": False})
    graphs = connectome_graphs(scans.matrices)
    local = clustering(graphs)
    rows: list[dict[str, Any]] = []
    for repeat in range(cell["repeats"]):
        for learn, test in subject_folds(scans, cell["folds"], seed + repeat):
            mean, deviation = local[learn].mean(axis=0), local[learn].std(axis=0)
            scaled = (local - mean) / np.where(deviation > 1e-12, deviation, np.inf)
            for features, more in (("plain", scaled[..., :0]), ("clustering", scaled)):
                if cell["model"] == "gcn":
                    x = np.concatenate([scans.matrices, more[..., None]], axis=2) if more.size else scans.matrices
                    net = MaskedGCN(mask=False, epochs=cell["epochs"], seed=seed)
                    scores = net.fit(x[learn], graphs[learn], scans.labels[learn]).decision(x[test], graphs[test])
                else:
                    scores = _machine(fisher_z(upper(scans.matrices)), more, learn, test, scans.labels)
                head = {"data": cell["data"], "model": cell["model"], "features": features, "repeat": repeat}
                rows += [
                    {**head, "subject": scans.groups[i], "label": int(scans.labels[i]), "score": float(score)}
                    for i, score in zip(test, scores, strict=True)
                ]
    return {"scores": rows}


def _machine(z: FloatArray, more: FloatArray, learn: Any, test: Any, labels: Any) -> FloatArray:
    """Decisions of a linear machine of all edges, and of the coefficients beside them, all standardised."""
    from sklearn.svm import SVC

    mean, deviation = z[learn].mean(axis=0), z[learn].std(axis=0)
    x = np.concatenate([(z - mean) / np.where(deviation > 1e-12, deviation, np.inf), more], axis=1)
    return SVC(kernel="linear", C=1e-3, class_weight="balanced").fit(x[learn], labels[learn]).decision_function(x[test])


def derive(frames: Frames) -> Frames:
    """Balanced accuracies without and with the coefficients, and the difference with its interval over subjects."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for (data, model), group in frames["scores"].groupby(["data", "model"], sort=False):
        records = [row | {"method": row["features"]} for row in group.to_dict("records")]
        of = {row["method"]: row["balanced_accuracy"] for row in summary(records)}
        gap = next(row for row in differences(records) if row["verdict"] != "best")
        ends = np.array([gap["difference"], gap["lower"], gap["upper"]])
        if gap["method"] == "plain":
            ends = -ends[[0, 2, 1]]
        names = ("change", "lower", "upper")
        rows.append({"data": data, "model": model, **of, **dict(zip(names, (ends + 0.0).tolist(), strict=True))})
    return {"features": pd.DataFrame(rows).round(4)}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Whether any interval lies above zero."""
    texts: list[str] = []
    table = frames["features"]
    for row in table.to_dict("records"):
        key, of = f"{row['model']}_{row['data']}", f"{MODELS[row['model']]}, {_DATA[row['data']]}"
        facts.add(key, row["change"], "features", f"change of balanced accuracy by clustering coefficients, {of}")
        facts.add(f"{key}_lower", row["lower"], "features", "lower end of its 95 % interval over subjects")
        facts.add(f"{key}_upper", row["upper"], "features", "upper end of it")
        facts.add(f"{key}_plain", row["plain"], "features", f"balanced accuracy without them, {of}")
        texts.append(f"{of}: {{{key}:+.1%}} ({{{key}_lower:+.1%}} to {{{key}_upper:+.1%}}) from {{{key}_plain:.1%}}")
    network = where(table, model="gcn")["lower"] > 0
    return [
        Verdict(
            "Local clustering coefficients as further features of the regions improve the classification",
            "Appendix C.2",
            "; ".join(texts),
            grade(network.all(), network.any()),
            "" if network.any() else "the intervals of the network hold 0: these people show no improvement",
        )
    ]


def draw(frames: Frames) -> list[Picture]:
    """Changes with intervals."""
    table = frames["features"]
    figure, axes = panels(width=COLUMN, height=0.7 + 0.2 * len(table))
    ax = axes[0, 0]
    for i, row in enumerate(table[::-1].to_dict("records")):
        ax.hlines(i, 100 * row["lower"], 100 * row["upper"], color="#0072B2")
        ax.plot(100 * row["change"], i, "o", color="#0072B2")
    ax.axvline(0, color="0.5", linewidth=0.6)
    ax.set_yticks(
        range(len(table)),
        [f"{MODELS[m]}, {_DATA[d]}" for d, m in zip(table["data"], table["model"], strict=True)][::-1],
    )
    ax.set_xlabel("change of balanced accuracy (points)")
    return [
        Picture(
            "brain_features",
            figure,
            "What local clustering coefficients beside the correlations change, by folds of subjects; lines: 95 % "
            "over subjects drawn again.",
        )
    ]
