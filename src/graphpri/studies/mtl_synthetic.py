"""Figure "MTL", left: pruning the task graph of the synthetic tasks, and what it does to the test error."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from graphpri.apps.mtl import MIN_DEGREE, GammaAfter
from graphpri.apps.mtl_data import synthetic
from graphpri.apps.mtl_protocol import BASELINES, Pruning, contest, halves, random_split
from graphpri.studies.figures import curve, legend_below, panels
from graphpri.studies.mtl_verdicts import NAMES, PRUNED, changes, differences, least, row_of
from graphpri.studies.study import Cell, Facts, Frames, Picture, Study, Tables, Verdict, generator

_GAMMAS: tuple[GammaAfter, ...] = ("fixed", "rescaled", "loo")
_SHOWN = {"fixed": "γ fixed", "rescaled": "Laplacian rescaled", "loo": "γ chosen again"}


def cells(quick: bool) -> list[Cell]:
    """One for each draw of the tasks, share of rows to learn from, noise and kind of task graph."""
    kinds = [(0.4, "std", 2)] if quick else [(0.4, "std", 8)]
    keeps = [0.9, 0.5] if quick else [round(1 - pruned, 6) for pruned in PRUNED]
    sizes = {"n_tasks": 10, "group_size": 5, "n": 40, "informative": 8, "irrelevant": 4} if quick else {}
    return [
        {"draw": draw, "train": share, "noise": noise, "graph": graph, "keeps": keeps, "sizes": sizes}
        for share, noise, draws in kinds
        for graph, draw in product(("unit", "similarity"), range(draws))
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Errors of all models on one draw."""
    drawn = synthetic(
        generator(seed, "mtl-synthetic", cell["noise"], cell["draw"]), noise=cell["noise"], **cell["sizes"]
    )
    rng = generator(seed, "mtl-synthetic", "split", cell["draw"], cell["train"])
    split = halves(drawn.tasks, random_split(drawn.tasks, cell["train"], rng))
    prunings = [
        Pruning(method, keep, after, MIN_DEGREE, seed)
        for method in ("pri", *(BASELINES if not cell["sizes"] else ("random", "local-similarity")))
        for keep in cell["keeps"]
        for after in _GAMMAS
    ]
    prunings += [Pruning("pri", keep, "loo", 0, seed) for keep in cell["keeps"]]
    head = {key: cell[key] for key in ("draw", "train", "noise", "graph")}
    rows = [
        {**head, **row_of(entry)}
        for entry in contest(split, prunings, edge_weights=cell["graph"], k=10 if not cell["sizes"] else 6)
    ]
    return {"errors": rows}


def derive(frames: Frames) -> Frames:
    """Mean changes of the error, by task graph, treatment of γ and method."""
    import pandas as pd

    table = frames["errors"]
    main = table[(table["train"] == 0.4) & (table["noise"] == "std")]
    graphs = [({"graph": graph}, main[main["graph"] == graph]) for graph in ("unit", "similarity")]
    return {"changes": pd.DataFrame([row for after in _GAMMAS for row in changes(graphs, after)])}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's claims on its own task graph, and those of weights and the guard."""
    table = frames["errors"]
    main = table[(table["train"] == 0.4) & (table["noise"] == "std")]
    draws = main["draw"].nunique()
    facts.add("draws", draws, "errors", "draws of the tasks")
    for model in ("per-task least squares", "per-task ridge", "common slopes", "graph"):
        rows = main[(main["model"] == model) & (main["graph"] == "unit")]
        facts.add(_key(model), rows["rmse"].mean(), "errors", f"mean RMSE of {model}, 40 % to learn from")
    weighted = main[(main["model"] == "graph") & (main["graph"] == "similarity")]["rmse"].mean()
    facts.add("weighted_graph", weighted, "errors", "mean RMSE of the graph weighted by similarity, unpruned")
    return [_paper_early(main, facts), _paper_heavy(main, facts), _weights(main, facts), _goal(main, facts)]


def _key(model: str) -> str:
    return model.replace("-", "_").replace(" ", "_")


def _paper_early(main: Any, facts: Facts) -> Verdict:
    """PRI and LS alone lower the error on the unweighted graph with γ fixed, PRI early."""
    found = differences(main[main["graph"] == "unit"], "fixed")
    early = found[found["pruned"] <= 0.3]
    for method in ("pri", "local-similarity"):
        if (early["method"] == method).any():
            best = least(early[early["method"] == method])
            facts.add(
                f"early_{_key(method)}",
                best["change"],
                "errors",
                f"lowest mean change of RMSE by {method}, γ fixed, at most 30 % pruned",
            )
            facts.add(f"early_{_key(method)}_se", best["se"], "errors", "its standard error over the draws")
    lowered = facts["early_pri"] < -2 * facts["early_pri_se"]
    text = "the best early change of the mean RMSE by Graph-PRI is {early_pri:+.3f} ± {early_pri_se:.3f}"
    if "early_local_similarity" in facts.rows:
        text += ", by local similarity {early_local_similarity:+.3f} ± {early_local_similarity_se:.3f}"
    return Verdict(
        "Pruning the task graph by Graph-PRI lowers the test error early, and of the others only local similarity does",
        "§4.2, Figure MTL",
        text + " (unpruned {graph:.3f}, {draws:.0f} draws)",
        "reproduced" if lowered else "not reproduced",
        ""
        if lowered
        else "on the unweighted task graph with γ fixed; Graph-PRI keeps bridges, which here are wrong edges",
    )


def _paper_heavy(main: Any, facts: Facts) -> Verdict:
    found = differences(main[main["graph"] == "unit"], "fixed")
    heavy = found[(found["method"] == "pri") & (found["pruned"] == found["pruned"].max())].iloc[0]
    facts.add("heavy", heavy["change"], "errors", "mean change of RMSE by Graph-PRI at the heaviest pruning, γ fixed")
    facts.add("heavy_se", heavy["se"], "errors", "its standard error")
    facts.add("heavy_share", heavy["pruned"], "errors", "the heaviest pruning")
    return Verdict(
        "Graph-PRI becomes worse where many edges are removed",
        "§4.2",
        "at {heavy_share:.0%} pruned the mean RMSE rises by {heavy:.3f} ± {heavy_se:.3f}",
        "reproduced" if facts["heavy"] > 2 * facts["heavy_se"] else "not reproduced",
    )


def _weights(main: Any, facts: Facts) -> Verdict:
    """What weighting alone does."""
    both = main[main["model"] == "graph"].pivot(index="draw", columns="graph", values="rmse")
    change = both["similarity"] - both["unit"]
    facts.add("weights", change.mean(), "errors", "mean change of RMSE by weighting the task graph, unpruned")
    facts.add("weights_se", change.std(ddof=1) / np.sqrt(len(change)), "errors", "its standard error")
    return Verdict(
        "Weighting the task graph by the similarity of coefficients lowers the test error without any pruning",
        "graphpri",
        "by {weights:+.3f} ± {weights_se:.3f}, from {graph:.3f} to {weighted_graph:.3f}",
        "reproduced" if facts["weights"] < -2 * facts["weights_se"] else "not reproduced",
    )


def _goal(main: Any, facts: Facts) -> Verdict:
    """Weighted Graph-PRI with the guard, γ chosen again, at half the edges, against the unweighted unpruned graph."""
    unit = main[(main["model"] == "graph") & (main["graph"] == "unit")].set_index("draw")["rmse"]
    rows = main[(main["after"] == "loo") & np.isclose(main["pruned"], 0.5) & (main["min_degree"] == 3)]

    def changes(graph: str, method: str) -> Any:
        chosen = rows[(rows["graph"] == graph) & (rows["method"] == method)].set_index("draw")["rmse"]
        return (chosen - unit).dropna()

    pri = changes("similarity", "pri")
    facts.add(
        "half", pri.mean(), "errors", "mean change of RMSE by weighted Graph-PRI at half the edges, γ chosen again"
    )
    facts.add("half_se", pri.std(ddof=1) / np.sqrt(len(pri)), "errors", "its standard error")
    text = (
        "weighted Graph-PRI at half the edges changes the RMSE of the unweighted whole graph by "
        "{half:+.3f} ± {half_se:.3f}"
    )
    similarity = changes("unit", "local-similarity")
    if len(similarity):
        facts.add("half_ls", similarity.mean(), "errors", "mean change of RMSE by local similarity at half the edges")
        text += ", local similarity by {half_ls:+.3f}"
    own = facts["half"] - facts["weights"]
    facts.add("half_own", own, "errors", "of that, what pruning adds to weighting")
    holds = facts["half"] <= -0.02 and (not len(similarity) or facts["half"] <= facts["half_ls"] - 0.01)
    return Verdict(
        "Half of a task graph weighted by similarity, chosen by Graph-PRI with three neighbours a task, predicts "
        "better than the whole unweighted graph, and than local similarity's half",
        "graphpri",
        text,
        "conditional" if holds else "not reproduced",
        "most of it comes from the weights: against the weighted unpruned graph pruning changes {half_own:+.3f}",
    )


def draw(frames: Frames) -> list[Picture]:
    """Change of RMSE against pruning, a panel a treatment of γ, a row a kind of task graph."""
    table = frames["errors"]
    main = table[(table["train"] == 0.4) & (table["noise"] == "std")]
    figure, axes = panels(2, 3, height=1.7, sharex=True, sharey=True)
    for (row, graph), (column, after) in product(enumerate(("unit", "similarity")), enumerate(_GAMMAS)):
        ax = axes[row, column]
        found = differences(main[main["graph"] == graph], after)
        for i, (method, group) in enumerate((m, found[found["method"] == m]) for m in NAMES):
            if len(group):
                band = group["change"] - group["se"], group["change"] + group["se"]
                curve(ax, 100 * group["pruned"], group["change"], i, NAMES[method], band)
        ax.axhline(0, color="black", linewidth=0.6, linestyle="--")
        if row == 0:
            ax.set_title(_SHOWN[after])
        if column == 0:
            ax.set_ylabel(f"change of RMSE\n({'unweighted' if graph == 'unit' else 'weighted'} graph)")
    for ax in axes[-1]:
        ax.set_xlabel("edges pruned (%)")
    legend_below(figure, axes[0, 0], 5)
    return [
        Picture(
            "mtl_synthetic",
            figure,
            "Synthetic tasks, 40 % of the rows to learn from: change of the test RMSE by pruning the task graph, "
            "against the same graph unpruned (dashed). Lines: means over draws; bands: one standard error. Every task "
            "keeps three neighbours.",
        )
    ]


STUDIES = (
    Study(
        name="mtl-synthetic",
        title="Pruning the task graph: synthetic tasks",
        source="Figure MTL, synthetic data",
        about=(
            "Twenty linear tasks in two groups, learned together over a 10-nearest-neighbour task graph whose edges "
            "are pruned by each method, with γ fixed, with the Laplacian rescaled, and with γ chosen again by "
            "leave-one-out."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
        derive=derive,
    ),
)
