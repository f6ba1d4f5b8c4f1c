"""Brain networks with planted edges: how well methods find them, and what the Graph-PRI term does for that."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpri.apps.brain_graph import candidates, connectome_graphs, fisher_z, upper
from graphpri.apps.brain_graph import features as features_of
from graphpri.apps.brain_models import EdgeReadout, MaskedGCN
from graphpri.apps.brain_planted import Planted, planted_connectomes
from graphpri.studies.study import (
    COLUMN,
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    grade,
    legend_below,
    panels,
    where,
)

GOALS = {0.08: 0.98, 0.06: 0.93}
"""Mean area under the curve that the edge readout should reach, by the shift of the planted edges."""

_PRI = 2.0  # β of the term where only its weight λ changes
NAMES = {
    "edge-readout": "edge readout",
    "linear-svm": "linear SVM",
    "t-test": "t-test",
    "mask": "the paper's mask",
}


LARGE = (0.8, 0.4, 0.2)
"""Shifts at which the paper's network may classify; a t-test and a linear machine find all edges there."""

_CLASSIFIES = 0.75  # accuracy on test scans


def cells(quick: bool) -> list[Cell]:
    """A piece for each shift and draw; the paper's network where it may classify, and at the next shift."""
    if quick:
        size = {"n_rois": 24, "n_modules": 3, "n_planted": 8, "n_train": 48, "n_test": 24}
        return [
            {"delta": delta, "draw": 0, "size": size, "term": delta == 0.3, "network": delta > 0.2}
            for delta in (0.8, 0.3, 0.2)
        ]
    large = [{"delta": delta, "draw": draw, "term": False, "network": True} for draw in range(4) for delta in LARGE]
    small = [
        {"delta": delta, "draw": draw, "term": draw < 3, "network": delta == 0.15 and draw < 4}
        for draw in range(10)
        for delta in (0.15, 0.1, 0.08, 0.06)
    ]
    return [cell | {"size": dict[str, int]()} for cell in (*large, *small)]


def work(cell: Cell, seed: int) -> Tables:
    """Areas under the curve by all methods on one draw, among the edges that half of the training graphs have."""
    from sklearn.feature_selection import f_classif
    from sklearn.svm import SVC

    drawn = planted_connectomes(cell["delta"], 1000 * seed + cell["draw"], **cell["size"])
    head = {"delta": cell["delta"], "draw": cell["draw"]}
    graphs = connectome_graphs(drawn.train.matrices)
    truth = _Truth(drawn, candidates(graphs))
    maker = features_of("correlation").fit(drawn.train)
    z, rest, labels = maker.transform(drawn.train), maker.transform(drawn.test), drawn.train.labels
    machine = SVC(kernel="linear", C=1e-3).fit(z, labels)
    t = f_classif(fisher_z(upper(drawn.train.matrices)), labels)[0]
    rows = [
        truth.row("linear-svm", np.abs(machine.coef_[0]), machine.decision_function(rest)),
        truth.row("t-test", t, None),
    ]
    if cell["network"]:
        net = MaskedGCN(entropy="exact", seed=seed).fit(drawn.train.matrices, graphs, labels)
        score = net.decision(drawn.test.matrices, connectome_graphs(drawn.test.matrices))
        rows.append(truth.row("mask", net.importance_, score))
    terms = [(0.0, _PRI)]
    if cell["term"]:
        terms += [(0.03, _PRI), (0.1, _PRI), (0.3, _PRI), (1.0, _PRI), (0.3, 50.0), (1.0, 50.0)]
    for weight, beta in terms:
        model = EdgeReadout(pri=weight, beta=beta).fit(z, labels, graphs if weight else None)
        rows.append(truth.row("edge-readout", model.importance_, model.decision(rest)) | {"pri": weight, "beta": beta})
    return {"found": [head | {"pri": 0.0, "beta": _PRI} | row for row in rows]}


class _Truth:
    """Scores importances of the candidate edges against the truth, and decisions against the test labels."""

    def __init__(self, drawn: Planted, among: Any) -> None:
        self._drawn, self._among = drawn, among

    def row(self, method: str, importance: Any, score: Any) -> dict[str, Any]:
        from sklearn.metrics import roc_auc_score

        among, labels = self._among, self._drawn.test.labels
        return {
            "method": method,
            "candidates": int(among.sum()),
            "planted_among": int(self._drawn.planted[among].sum()),
            "auroc": float(roc_auc_score(self._drawn.planted[among], np.asarray(importance)[among])),
            "accuracy": None if score is None else float(((score > 0) == (labels == 1)).mean()),
        }


def derive(frames: Frames) -> Frames:
    """Mean areas by method and shift, with the worst draw; and by weight and β of the term."""
    table = frames["found"]
    plain = where(table, pri=0)
    grouped = plain.groupby(["delta", "method"], sort=False)
    by_method = grouped["auroc"].agg(["mean", "min", "max", "size"]).join(grouped["accuracy"].mean()).reset_index()
    with_term = table[table["pri"] > 0]
    both = table["draw"].isin(with_term["draw"]) & table["delta"].isin(with_term["delta"])
    three = table[(table["method"] == "edge-readout") & both]
    term = three.groupby(["delta", "pri", "beta"], sort=False)["auroc"].mean().reset_index()
    return {"areas": by_method.round(4), "term": term.round(4)}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Whether the edge readout finds them, what the mask of the paper finds, and what the term does."""
    areas = frames["areas"]
    for row in areas.to_dict("records"):
        key = f"{row['method']}_{row['delta']:g}".replace("-", "_").replace(".", "")
        facts.add(key, row["mean"], "areas", f"mean area under the curve of {NAMES[row['method']]}, δ = {row['delta']}")
    return [_readout(areas, facts), _mask(areas, facts), _term(frames["term"], facts)]


def _readout(areas: Any, facts: Facts) -> Verdict:
    rows = areas[areas["method"] == "edge-readout"].set_index("delta")
    shifts = sorted(GOALS, reverse=True) if set(GOALS) <= set(rows.index) else list(rows.index)
    for delta in shifts:
        key = f"{delta:g}".replace(".", "")
        facts.add(f"worst_{key}", rows.loc[delta, "min"], "areas", f"worst draw, δ = {delta}")
        facts.add(f"delta_{key}", delta, "areas", "a shift of the planted edges")
    reached = [rows.loc[delta, "mean"] >= GOALS.get(delta, 0.9) for delta in shifts]
    keys = [f"{delta:g}".replace(".", "") for delta in shifts]
    return Verdict(
        "The edge readout finds planted edges, down to shifts of half the spread between subjects",
        "graphpri",
        "area under the curve "
        + ", ".join(
            f"{{edge_readout_{key}:.3f}} for δ = {{delta_{key}:g}} (worst draw {{worst_{key}:.3f}})" for key in keys
        ),
        grade(all(reached), any(reached)),
        "not for the smallest shift" if any(reached) and not all(reached) else "",
    )


def _mask(areas: Any, facts: Facts) -> Verdict:
    """Judged at the smallest shift where the network itself tells test scans apart, or else at the largest."""
    rows = areas[areas["method"] == "mask"].sort_values("delta")
    able = rows[rows["accuracy"] >= _CLASSIFIES]
    at, least = (able if len(able) else rows.tail(1)).iloc[0], rows.iloc[0]
    others = where(areas, delta=float(at["delta"])).set_index("method")["mean"]
    for name, row in (("classifies", at), ("least", least)):
        facts.add(f"{name}_delta", row["delta"], "areas", "a shift of the planted edges")
        facts.add(f"{name}_area", row["mean"], "areas", "mean area under the curve of the paper's mask there")
        facts.add(f"{name}_accuracy", row["accuracy"], "areas", "mean accuracy of its network on test scans there")
    facts.add("classifies_t", others["t-test"], "areas", "mean area under the curve of a t-test there")
    facts.add("classifies_readout", others["edge-readout"], "areas", "mean area of the edge readout there")
    poor = at["mean"] < 0.7
    return Verdict(
        "The mask that the paper's network learns shows the connections that differ",
        "§4.3, Figure brain",
        "where the network tells test scans apart (accuracy {classifies_accuracy:.3f} at δ = {classifies_delta:g}) its "
        "mask has an area under the curve of {classifies_area:.3f}, a t-test {classifies_t:.3f} and the edge readout "
        "{classifies_readout:.3f}; at δ = {least_delta:g} the accuracy is {least_accuracy:.3f}, the area "
        "{least_area:.3f}",
        grade(at["mean"] >= 0.9, not poor),
        ("little better than a blind choice" if poor else "in part: far behind a t-test" if at["mean"] < 0.9 else "")
        + ("" if len(able) else ("; " if poor else "") + "the network tells classes apart at no shift"),
    )


def _term(term: Any, facts: Facts) -> Verdict:
    without = where(term, pri=0).set_index("delta")["auroc"]
    change = term["auroc"] - term["delta"].map(without)
    small = change[(term["pri"] > 0) & (term["pri"] <= 0.3) & (term["beta"] == _PRI)]
    large = change[term["beta"] > _PRI]
    facts.add("small_least", small.min(), "term", "lowest change of the area by the term, λ ≤ 0.3 and β = 2")
    facts.add("small_most", small.max(), "term", "highest change")
    facts.add("large_least", large.min(), "term", "lowest change of the area by the term, β = 50")
    facts.add("small", 0.3, "term", "the largest λ of these")
    harmless = small.abs().max() <= 0.01
    harm = large.min() < -0.01
    return Verdict(
        "The Graph-PRI term neither helps nor harms the search for edges unless β is large",
        "graphpri",
        "area under the curve changes by {small_least:+.4f} to {small_most:+.4f} with λ up to {small:g}, β = 2, and by "
        "{large_least:+.4f} at worst with β = 50",
        grade(harmless and harm, harmless or harm),
        "with β = 50 it does no harm either" if harmless and not harm else "",
    )


def draw(frames: Frames) -> list[Picture]:
    """Areas under the curve against the shift."""
    areas = frames["areas"]
    figure, axes = panels(width=COLUMN, height=2.2)
    ax = axes[0, 0]
    for i, method in enumerate(NAMES):
        rows = where(areas, method=method).sort_values("delta")
        curve(ax, rows["delta"], rows["mean"], i, NAMES[method], (rows["min"], rows["max"]))
    ax.axhline(0.5, color="black", linewidth=0.6, linestyle="--")
    ax.set_xlabel("δ, shift of the planted edges in Fisher z")
    ax.set_ylabel("area under the curve")
    legend_below(figure, ax, 2)
    caption = (
        "How well methods rank the planted edges among those that half of the training graphs have; means over draws "
        "(of the mask, and at δ of .2 and more, four; else ten), bands from the worst to the best. Dashed: a blind "
        "choice."
    )
    return [Picture("planted_areas", figure, caption)]
