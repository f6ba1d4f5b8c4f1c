"""The paper's table of brain networks on eyes open and closed, its figure of contributing links, and a second data set.

ADNI, the paper's other data set, may not be passed on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphpri.apps import Records, brain_protocol
from graphpri.apps.brain_data import Connectomes, Rois, named
from graphpri.apps.brain_edges import edge_table, ranked, system_table
from graphpri.apps.brain_figures import brain_legend, glass_brain
from graphpri.apps.brain_graph import pairs
from graphpri.apps.brain_methods import MethodSettings, train
from graphpri.apps.brain_protocol import Validation
from graphpri.apps.brain_scores import chance, differences, summary
from graphpri.studies.study import (
    COLUMN,
    PAGE,
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    blank,
    generator,
    grade,
    panels,
)

# What is run

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
    *("method", "balanced_accuracy", "standard_error", "lower", "upper", "accuracy", "auc"),
    *("difference", "difference_lower", "difference_upper", "verdict"),
)

_MOST_TRIALS = 4
_TRIALS = {"paper-exact": 3, "gat": 3}  # the fourth, exact terms of each graph, takes four times as long
"""Settings of graph networks that two inner folds choose among."""

EDGE_MODELS = ("edge-readout", "edge-readout-tangent", "linear-svm", "tangent-svm")


def load_scans(cell: Cell) -> Connectomes:
    """The data set of a piece of work; of a quick one a few subjects."""
    scans = named(cell["data"])
    if not cell["quick"]:
        return scans
    few = list(dict.fromkeys(scans.groups))
    chosen = set(few[: FIRST // 2] + few[-FIRST // 2 :])  # the classes may stand one after the other
    return scans.take(np.flatnonzero([group in chosen for group in scans.groups]))


def _score_cells(data: str, quick: bool, repeats: int) -> list[Cell]:
    """A piece for each method and repeat, networks first, as they take longest, and once."""
    methods = ("paper-exact", "gcn", "t-test-svm-rbf", "linear-svm", "edge-readout") if quick else tuple(NAMES)[::-1]
    head = {"kind": "scores", "data": data, "folds": 2 if quick else 5, "quick": quick}
    return [
        {**head, "method": method, "repeat": repeat} | _trials(method, quick)
        for method in methods
        for repeat in range(1 if quick or method in GRAPH_NETWORKS else repeats)
    ]


def _trials(method: str, quick: bool) -> Cell:
    """How many settings a graph network chooses among."""
    return {} if quick or method not in GRAPH_NETWORKS else {"trials": _TRIALS.get(method, _MOST_TRIALS)}


def _scores(cell: Cell, seed: int) -> Tables:
    """Scores of each scan by a method that had not seen its subject."""
    settings = MethodSettings(nested=not cell["quick"])
    if "trials" in cell:
        settings = MethodSettings(inner=2, network_trials=cell["trials"])
    protocol = Validation(folds=cell["folds"], repeats=1, seed=seed + cell["repeat"], settings=settings)
    found = brain_protocol.evaluate(load_scans(cell), [cell["method"]], protocol)
    return {"scores": [row | {"repeat": cell["repeat"]} for row in found.scores]}


PAPER = {
    "t-test-svm-rbf": (0.7179, 0.0780),
    "lasso-svm-rbf": (0.7208, 0.0729),
    "gcn": (0.6842, 0.0859),
    "gat": (0.7368, 0.0860),
    "paper-exact": (0.8070, 0.0960),
    "paper": (0.7895, 0.0430),
}
"""Accuracy and standard deviation over ten runs on eyes open or closed: table of §4.3."""

TOP = 100
_EXPLAINED = "edge-readout"
_HELD_OUT = 19  # scans of a test set of the paper: its means are multiples of 1/57
_STABLE = 0.25


def cells_eoec(quick: bool) -> list[Cell]:
    """Scores; scans drawn regardless of subjects, as the paper's may have been; labels that say nothing; edges."""
    drawn = ("gcn",) if quick else ("paper-exact", "paper", "gcn", "t-test-svm-rbf", "lasso-svm-rbf", "edge-readout")
    free = [
        {"kind": "free", "data": "eoec", "method": method, "runs": 2 if quick else 10, "quick": quick}
        for method in drawn
    ]
    nothing = {"kind": "nothing", "data": "eoec", "method": "linear-svm", "draws": 4 if quick else 50, "quick": quick}
    return [*free, *_score_cells("eoec", quick, repeats=5), _edges_cell("eoec", quick), nothing]


def cells_devfmri(quick: bool) -> list[Cell]:
    """Scores and edges."""
    return [*_score_cells("devfmri", quick, repeats=5), _edges_cell("devfmri", quick)]


def _edges_cell(data: str, quick: bool) -> Cell:
    return {"kind": "edges", "data": data, "halves": 2 if quick else 20, "quick": quick}


def work(cell: Cell, seed: int) -> Tables:
    """One piece, by its kind."""
    return {"scores": _scores, "free": _free, "nothing": _nothing, "edges": _edges}[cell["kind"]](cell, seed)


def _free(cell: Cell, seed: int) -> Tables:
    """Accuracies on test scans drawn at random, whose subjects' other scans may be among the training scans."""
    scans = load_scans(cell)
    count = _HELD_OUT if scans.n_scans > 2 * _HELD_OUT else scans.n_scans // 4
    rows: list[dict[str, Any]] = []
    for run in range(cell["runs"]):
        order = generator(seed, "free", run).permutation(scans.n_scans)
        learn, test = (scans.take(np.sort(part)) for part in (order[count:], order[:count]))
        fitted = train(cell["method"], learn, MethodSettings(nested=False), seed + run)
        right = (fitted.decide(test) > 0) == (test.labels == 1)
        rows.append({"method": cell["method"], "run": run, "test": count, "accuracy": float(right.mean())})
    return {"free": rows}


def _nothing(cell: Cell, seed: int) -> Tables:
    """Accuracies on labels that say nothing, by folds of subjects and by folds of scans."""
    scans = load_scans(cell)
    rows: list[dict[str, Any]] = []
    for draw in range(cell["draws"]):
        relabelled = brain_protocol.permute_labels(scans, generator(seed, "nothing", draw))
        protocol = Validation(seed=seed + draw, settings=MethodSettings(nested=False))
        for folds, grouped in (("subjects", relabelled), ("scans", replace(relabelled, groups=relabelled.scans))):
            found = brain_protocol.evaluate(grouped, [cell["method"]], protocol).summary[0]
            rows.append({"folds": folds, "draw": draw, "accuracy": found["accuracy"]})
    return {"nothing": rows}


def _edges(cell: Cell, seed: int) -> Tables:
    """The most important edges of the edge readout, what halves of the subjects agree on, and the regions."""
    scans = load_scans(cell)
    protocol = Validation(seed=seed, half_samples=cell["halves"])
    stable = brain_protocol.stability(scans, _EXPLAINED, protocol, top=TOP)
    at = ranked(stable.importance, TOP)
    u, v = pairs(scans.n_rois)
    listed = edge_table(scans, stable.importance, stable.frequency, TOP)
    found: Tables = {
        "edges": [{"u": int(u[e]), "v": int(v[e]), **row} for e, row in zip(at, listed, strict=True)],
        "stability": [
            {
                "jaccard": stable.jaccard,
                "shared_by_luck": stable.shared_by_luck,
                "often": int((stable.frequency > 0.5).sum()),
                "often_by_luck": stable.often_by_luck,
                "subjects": len(set(scans.groups)),
            }
        ],
        "chance": [dict(zip(("level", "lower", "upper"), chance(scans), strict=True))],
        "systems": system_table(scans, at, seed=seed),
    }
    rois = scans.rois
    if rois.coordinates is not None and rois.systems is not None:
        found["regions"] = [
            {"name": name, "x": x, "y": y, "z": z, "system": system}
            for name, (x, y, z), system in zip(rois.names, rois.coordinates.tolist(), rois.systems, strict=True)
        ]
    return {name: rows for name, rows in found.items() if rows}


# What the numbers say


def _comparison(frames: Frames) -> Any:
    """Each method's balanced accuracy with its standard error, and its gap to the best, the best first.

    A gap is over the repeats that both methods have: of graph networks there is one.
    """
    import pandas as pd

    rows = frames["scores"].to_dict("records")
    found = [summary([row for row in rows if row["method"] == name])[0] for name in _methods(rows)]
    found.sort(key=lambda row: -row["balanced_accuracy"])
    best = found[0]["method"]
    gaps = ("difference", "difference_lower", "difference_upper")
    for row in found:
        first = row["method"] == best
        row |= dict(zip(gaps, (0.0, 0.0, 0.0) if first else _difference(frames, row["method"], best), strict=True))
        row["verdict"] = "best" if first else "worse" if row["difference_upper"] < 0 else "no clear difference"
    return pd.DataFrame(found)[list(_COLUMNS)].round(4)


def _methods(rows: Records) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in rows))


def _shared(rows: Records) -> Records:
    """Rows of the repeats that all methods have, so that they are compared on the same folds."""
    done = [{row["repeat"] for row in rows if row["method"] == name} for name in _methods(rows)]
    both = set[int].intersection(*done)
    return [row for row in rows if row["repeat"] in both]


def _add_accuracies(table: Any, facts: Facts) -> None:
    """Facts of each method's accuracy, its standard error and its AUC."""
    for row in table.to_dict("records"):
        key = row["method"].replace("-", "_")
        name = NAMES[row["method"]]
        facts.add(key, row["balanced_accuracy"], "comparison", f"balanced accuracy of {name}")
        facts.add(f"{key}_se", row["standard_error"], "comparison", "its standard error over subjects")
        facts.add(f"{key}_auc", row["auc"], "comparison", "its area under the curve")


def _difference(frames: Frames, method: str, other: str) -> tuple[float, float, float]:
    """Balanced accuracy of one method less that of another over the same scans, with its 95 % interval."""
    table = frames["scores"]
    rows = differences(_shared(table[table["method"].isin([method, other])].to_dict("records")))
    found = next(row for row in rows if row["verdict"] != "best")
    ends = found["difference"], found["lower"], found["upper"]
    middle, lower, upper = ends if found["method"] == method else (0.0 - ends[0], 0.0 - ends[2], 0.0 - ends[1])
    return middle, lower, upper


def derive(frames: Frames) -> Frames:
    """Each method's accuracy beside the paper's, and what the runs on scans drawn regardless of subjects have."""
    table = _comparison(frames)
    found = {"comparison": table}
    if "free" in frames:
        mean, deviation = (table["method"].map({name: known[i] for name, known in PAPER.items()}) for i in (0, 1))
        found["comparison"] = table.assign(paper=mean, paper_deviation=deviation)
        drawn = frames["free"].groupby("method", sort=False)["accuracy"]
        found["regardless"] = drawn.agg(["mean", "std", "min", "max", "size"]).round(4).reset_index()
    return found


def judge_eoec(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's table, whether its term does anything, edge models against graph networks, edges, and folds."""
    table = frames["comparison"]
    _add_accuracies(table, facts)
    return [
        _table(frames, facts),
        _rows(table, facts),
        _order(frames, facts),
        _term(frames, facts),
        _beyond(table, facts),
        _networks_behind(frames, facts),
        _stable_edges(frames, facts),
        _folds(frames, facts),
    ]


def judge_devfmri(frames: Frames, facts: Facts) -> list[Verdict]:
    """Whether the second data set agrees."""
    _add_accuracies(frames["comparison"], facts)
    return [_term(frames, facts), _networks_behind(frames, facts), _stable_edges(frames, facts)]


def _table(frames: Frames, facts: Facts) -> Verdict:
    """Graph-PRI has 80.7 %, the best of six methods."""
    table = frames["comparison"].set_index("method")
    six = table.loc[[name for name in PAPER if name in table.index]]
    best = str(six["balanced_accuracy"].idxmax())
    facts.add("paper_claims", PAPER["paper-exact"][0], "comparison", "accuracy that the paper has for Graph-PRI")
    facts.add(
        "six_best", six["balanced_accuracy"].max(), "comparison", f"best accuracy of the paper's methods: {NAMES[best]}"
    )
    facts.add("upper", six.loc["paper-exact", "upper"], "comparison", "upper end of Graph-PRI's interval")
    drawn = frames["regardless"].set_index("method")
    own = "paper-exact" if "paper-exact" in drawn.index else str(drawn.index[0])
    facts.add("free_mean", drawn.loc[own, "mean"], "regardless", f"mean accuracy of {NAMES[own]}, any scans drawn")
    facts.add("free_sd", drawn.loc[own, "std"], "regardless", "its deviation over the runs")
    facts.add("free_max", drawn.loc[own, "max"], "regardless", "the best of the runs")
    facts.add("held_out", frames["free"]["test"].iloc[0], "free", "test scans of a run")
    reached = facts["upper"] >= facts["paper_claims"]
    first = best in ("paper-exact", "paper")
    return Verdict(
        "Graph-PRI classifies eyes open and eyes closed with an accuracy of 80.7 %, the best of six methods",
        "§4.3, Table",
        "by folds of subjects {paper_exact:.1%} ± {paper_exact_se:.1%} (at most {upper:.1%}), and the best of the "
        f"paper's methods, {NAMES[best]}, {{six_best:.1%}}; on {{held_out:.0f}} scans drawn regardless of subjects "
        f"{{free_mean:.1%}} ± {{free_sd:.1%}} ({NAMES[own]}, one run at best {{free_max:.1%}})",
        grade(reached and first, reached or first),
        "the accuracy is within its interval, but another method has more"
        if reached and not first
        else "it is the best of them, with a lower accuracy"
        if first and not reached
        else "",
    )


def _rows(table: Any, facts: Facts) -> Verdict:
    """Each accuracy of the paper's table against the interval of ours."""
    rows = table[table["method"].isin(PAPER)]
    texts: list[str] = []
    for row in rows.to_dict("records"):
        key = f"row_{row['method'].replace('-', '_')}"
        facts.add(key, row["paper"], "comparison", f"accuracy that the paper has for {NAMES[row['method']]}")
        texts.append(f"{NAMES[row['method']]} {{{row['method'].replace('-', '_')}:.1%}} ({{{key}:.1%}})")
    within = (rows["lower"] <= rows["paper"]) & (rows["paper"] <= rows["upper"])
    above = rows["paper"] > rows["upper"]
    facts.add("rows_within", within.sum(), "comparison", "rows of the paper's table within our 95 % intervals")
    facts.add("rows_above", above.sum(), "comparison", "rows above them")
    facts.add("rows", len(rows), "comparison", "rows of the paper's table that were run")
    return Verdict(
        "The accuracies of the six methods on eyes open and eyes closed are as in the table",
        "§4.3, Table",
        f"ours, and in brackets the paper's: {', '.join(texts)}; {{rows_within:.0f}} of {{rows:.0f}} of the "
        "paper's are within our intervals, {rows_above:.0f} above",
        grade(within.all(), within.any()),
        f"only those of {', '.join(NAMES[name] for name in rows[within]['method'])}"
        if within.any() and not within.all()
        else "",
    )


def _order(frames: Frames, facts: Facts) -> Verdict:
    """Each pair of the paper's methods: whether the one that it has in front is so here, and clearly."""
    table = frames["comparison"].set_index("method")
    names = sorted((name for name in PAPER if name in table.index), key=lambda name: -PAPER[name][0])
    same = clear = against = 0
    pairs = [(better, worse) for i, better in enumerate(names) for worse in names[i + 1 :]]
    for better, worse in pairs:
        gap, lower, upper = _difference(frames, better, worse)
        same, clear, against = same + (gap > 0), clear + (lower > 0), against + (upper < 0)
    facts.add("pairs", len(pairs), "scores", "pairs of the paper's methods")
    facts.add("pairs_same", same, "scores", "pairs in the paper's order")
    facts.add("pairs_clear", clear, "scores", "pairs in it whose 95 % interval of the difference is above 0")
    facts.add("pairs_against", against, "scores", "pairs clearly in the other order")
    ours = sorted(names, key=lambda name: -table.loc[name, "balanced_accuracy"])
    return Verdict(
        "The methods rank as in the table: Graph-PRI, Graph-PRI*, GAT, LASSO + SVM, t-test + SVM, GCN",
        "§4.3, Table",
        "{pairs_same:.0f} of {pairs:.0f} pairs are in this order, {pairs_clear:.0f} of them clearly, and "
        f"{{pairs_against:.0f}} clearly in the other; ours: {', '.join(NAMES[name] for name in ours)}",
        grade(same == len(pairs), same > len(pairs) / 2 and not against),
        "most pairs are in it, and none clearly against it"
        if len(pairs) / 2 < same < len(pairs) and not against
        else "",
    )


def _term(frames: Frames, facts: Facts) -> Verdict:
    """Mask and term raise the accuracy of the plain network."""
    gap, lower, upper = _difference(frames, "paper-exact", "gcn")
    facts.add("gap", gap, "scores", "accuracy of Graph-PRI less that of the same network without mask and term")
    facts.add("gap_lower", lower, "scores", "lower end of its 95 % interval over subjects")
    facts.add("gap_upper", upper, "scores", "upper end of it")
    return Verdict(
        "The mask and the Graph-PRI term make a graph convolutional network more accurate",
        "§4.3, Table",
        "{gap:+.1%} against the same network without them (over subjects from {gap_lower:+.1%} to {gap_upper:+.1%})",
        grade(lower > 0),
        "the interval holds 0: these people show no difference" if lower <= 0 <= upper else "",
    )


def _beyond(table: Any, facts: Facts) -> Verdict:
    """The edge models do better than the paper's best."""
    rows = table[table["method"].isin(EDGE_MODELS)]
    top = rows.loc[rows["balanced_accuracy"].idxmax()]
    facts.add("top", top["balanced_accuracy"], "comparison", f"best accuracy of an edge model: {NAMES[top['method']]}")
    facts.add("top_lower", top["lower"], "comparison", "lower end of its interval")
    facts.add("top_auc", top["auc"], "comparison", "its area under the curve")
    ours = facts["edge_readout"]
    above, clearly = ours > facts["paper_claims"], facts["top_lower"] > facts["paper_claims"]
    return Verdict(
        "An edge readout through a mask is more accurate than the paper's best, by folds of subjects",
        "graphpri",
        "{edge_readout:.1%} ± {edge_readout_se:.1%}, AUC {edge_readout_auc:.3f}, against {paper_claims:.1%}; the best "
        f"edge model, {NAMES[top['method']]}, has {{top:.1%}} (from {{top_lower:.1%}}), AUC {{top_auc:.3f}}",
        grade(clearly),
        "{paper_claims:.1%} is within the interval of both: these people show no difference"
        if above and not clearly
        else "",
    )


def _networks_behind(frames: Frames, facts: Facts) -> Verdict:
    """Graph networks on thresholded graphs stay behind models of all edges."""
    table = frames["comparison"].set_index("method")
    nets = [name for name in GRAPH_NETWORKS if name in table.index]
    models = [name for name in EDGE_MODELS if name in table.index]
    net, model = (str(table.loc[names, "balanced_accuracy"].idxmax()) for names in (nets, models))
    behind = {name: _difference(frames, model, name) for name in nets}
    facts.add("behind", sum(lower > 0 for _, lower, _ in behind.values()), "scores", "graph networks clearly behind")
    facts.add("networks", len(nets), "scores", "graph networks")
    gap, lower, _ = behind[net]
    facts.add("lead", gap, "scores", f"accuracy of {NAMES[model]} less that of {NAMES[net]}, the best graph network")
    facts.add("lead_lower", lower, "scores", "lower end of its 95 % interval over subjects")
    return Verdict(
        "Linear models of all edges are more accurate than graph networks on the strongest fifth of them",
        "graphpri",
        f"{NAMES[model]} by {{lead:+.1%}} (from {{lead_lower:+.1%}}) than {NAMES[net]}, the best of {{networks:.0f}} "
        "graph networks, of which {behind:.0f} are clearly behind",
        grade(facts["behind"] == facts["networks"], gap > 0),
        "not all of the differences are clear" if gap > 0 and facts["behind"] < facts["networks"] else "",
    )


def _stable_edges(frames: Frames, facts: Facts) -> Verdict:
    """Halves of the subjects agree on edges."""
    row = frames["stability"].iloc[0]
    facts.add(
        "jaccard",
        row["jaccard"],
        "stability",
        "mean share of top edges in common of two halves without a subject in common",
    )
    facts.add("by_luck", row["shared_by_luck"], "stability", "the same with labels that say nothing")
    facts.add("often", row["often"], "stability", "edges that more than half of the half-samples have on top")
    facts.add("often_by_luck", row["often_by_luck"], "stability", "the same with labels that say nothing")
    clear = row["jaccard"] > 1.5 * row["shared_by_luck"] and row["often"] > 1.5 * row["often_by_luck"]
    return Verdict(
        "The edges that tell the classes apart are found again in other people",
        "graphpri",
        "halves without a subject in common share {jaccard:.2f} of their top 100 edges ({by_luck:.2f} with labels that "
        "say nothing); {often:.0f} edges are on top in more than half of them ({often_by_luck:.0f} with such labels)",
        grade(row["jaccard"] >= _STABLE and clear, clear),
        "but less than a quarter in common" if clear and row["jaccard"] < _STABLE else "",
    )


def _folds(frames: Frames, facts: Facts) -> Verdict:
    """Labels that say nothing are at chance by folds of subjects, and below it by folds of scans."""
    mean = frames["nothing"].groupby("folds")["accuracy"].mean()
    facts.add("nothing_subjects", mean["subjects"], "nothing", "mean accuracy on random labels, folds of subjects")
    facts.add("nothing_scans", mean["scans"], "nothing", "the same with folds of scans")
    fair = 0.4 <= mean["subjects"] <= 0.6
    return Verdict(
        "Folds must hold all scans of a person: else even labels that say nothing seem to say something",
        "graphpri",
        "labels swapped at random within subjects: accuracy {nothing_subjects:.3f} by folds of subjects, "
        "{nothing_scans:.3f} by folds of scans",
        grade(fair and mean["scans"] < 0.45, fair),
        "both are near one half" if fair and mean["scans"] >= 0.45 else "",
    )


# Pictures


def draw_eoec(frames: Frames) -> list[Picture]:
    """Accuracies beside the paper's, and the links."""
    return _draw("eoec", frames)


def draw_devfmri(frames: Frames) -> list[Picture]:
    """Accuracies, and the links."""
    return _draw("devfmri", frames)


def _draw(data: str, frames: Frames) -> list[Picture]:
    """Accuracies; where regions have places, the links whose correlation is larger in each class."""
    known = PAPER if data == "eoec" else {}
    caption = (
        "Balanced accuracy by five folds of subjects, of graph networks once and else five times (circles; lines: 95 % "
        "over subjects drawn again), and what the paper has over ten runs (diamonds; lines: one standard deviation). "
        "Grey: guesses."
        if known
        else "Balanced accuracy by five folds of subjects, of graph networks once and else five times; lines: 95 % "
        "over subjects drawn again. Grey: guesses."
    )
    found = [_chart(f"{data}_accuracy", frames, known, caption)]
    if "regions" in frames:
        found.append(_links(data, frames))
    return found


def _links(data: str, frames: Frames) -> Picture:
    regions, edges = frames["regions"], frames["edges"]
    rois = Rois(tuple(regions["name"]), regions[["x", "y", "z"]].to_numpy(), tuple(regions["system"]))
    figure = blank(PAGE, 4.6)
    n, u, v = len(rois.names), edges["u"].to_numpy(), edges["v"].to_numpy()
    at = u * n - u * (u + 1) // 2 + v - u - 1  # places of the edges in the order of all pairs
    colours: dict[str, str] = {}
    classes = [column.removeprefix("mean_r_") for column in edges.columns if column.startswith("mean_r_")]
    for panel, (sign, name) in enumerate(zip("-+", classes, strict=True)):
        chosen = (edges["sign"] == sign).to_numpy()
        top = 0.98 - 0.46 * panel
        figure.text(
            0.01, top, f"({'ab'[panel]}) larger correlation with {name.replace('_', ' ')}: {chosen.sum()}", va="top"
        )
        colours = glass_brain(figure, (0, top - 0.43, 1, 0.4), rois, at[chosen], np.ones(int(chosen.sum())), 0.6)
    brain_legend(figure, colours, fontsize=6.5)
    caption = (
        f"The {len(edges)} most important edges of the edge readout, by the class in which their correlation is "
        "larger. Each half of an edge has the colour of the system in which it ends; systems of the AAL regions are "
        "derived from near regions of Dosenbach's atlas, not published."
    )
    return Picture(f"{data}_links", figure, caption)


def _chart(name: str, frames: Frames, known: dict[str, tuple[float, float]], caption: str) -> Picture:
    """Accuracies with intervals; diamonds with bars for what the paper has, as (mean, standard deviation)."""
    table = frames["comparison"]
    figure, axes = panels(width=COLUMN, height=0.8 + 0.17 * len(table))
    ax = axes[0, 0]
    low, high = (float(frames["chance"][end].iloc[0]) for end in ("lower", "upper"))
    ax.axvspan(low, high, color="#8883", linewidth=0, label="guesses, 95 %")
    for i, row in enumerate(table[::-1].to_dict("records")):
        ax.hlines(i, row["lower"], row["upper"], color="#0072B2")
        ax.plot(
            row["balanced_accuracy"], i, "o", color="#0072B2", label="measured, 95 % over subjects" if i == 0 else None
        )
        if row["method"] in known:
            mean, deviation = known[row["method"]]
            ax.hlines(i - 0.3, mean - deviation, mean + deviation, color="#D55E00", linewidth=0.8)
            ax.plot(mean, i - 0.3, "D", markerfacecolor="white", color="#D55E00")
    if known:
        ax.plot([], [], "D", markerfacecolor="white", color="#D55E00", label="the paper, one deviation")
    ax.set_yticks(range(len(table)), [NAMES[name] for name in table["method"][::-1]])
    ax.set_xlabel("balanced accuracy")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return Picture(name, figure, caption)
