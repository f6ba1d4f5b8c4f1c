"""Figure "MTL", left: pruning the task graph of the synthetic tasks, and what it does to the test error."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpri.apps.mtl import MIN_DEGREE, GammaAfter
from graphpri.apps.mtl_data import synthetic
from graphpri.apps.mtl_protocol import (
    BASELINES,
    ModelErrors,
    Pruning,
    evaluate,
    mean_task_rmse,
    random_split,
    rmse,
    standardise,
)
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    generator,
    grade,
    legend_below,
    panels,
    where,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What the multi-task studies share: names of methods, and changes of the error against the unpruned graph

PRUNED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Shares of edges pruned."""

GAMMAS: tuple[GammaAfter, ...] = ("fixed", "rescaled", "loo")
"""What becomes of the strength of the task graph after pruning."""

NAMES = {
    "pri": "Graph-PRI",
    "random": "random",
    "local-degree": "local degree",
    "local-similarity": "local similarity",
    "effective-resistance": "effective resistance",
}
"""How pictures call the methods."""


def row_of(entry: ModelErrors) -> dict[str, Any]:
    """What one model did on one split, as a row of a table."""
    p = entry.pruning
    return {
        "model": entry.model,
        "method": p.method if p else "",
        "pruned": round(1 - float(p.keep), 6) if p else 0.0,
        "after": p.gamma if p else "",
        "min_degree": p.min_degree if p else None,
        "edges": entry.edges,
        "gamma": entry.gamma,
        "rmse": rmse(entry.errors),
        "task_rmse": mean_task_rmse(entry.errors, entry.task),
        "status": entry.status,
    }


def differences(table: Any, after: str, min_degree: int = 3) -> Any:
    """Mean change of RMSE, and its standard error over the draws, by method and share pruned."""
    import pandas as pd

    whole = where(table, model="graph").set_index("draw")["rmse"]
    rows = where(table, after=after, min_degree=min_degree)
    change = rows["rmse"] - rows["draw"].map(whole)
    grouped = rows.assign(change=change).dropna(subset=["change"]).groupby(["method", "pruned"])["change"]
    return pd.DataFrame(
        {"change": grouped.mean(), "se": grouped.std(ddof=1) / np.sqrt(grouped.size()), "draws": grouped.size()}
    ).reset_index()


def changes(tables: Iterable[tuple[dict[str, str], Any]], after: str) -> list[dict[str, Any]]:
    """Rows of mean changes ± standard errors, a column a share pruned, for several tables with their heads."""
    rows: list[dict[str, Any]] = []
    for head, table in tables:
        for method, group in differences(table, after).groupby("method", sort=False):
            columns = {
                f"{pruned:.0%} pruned": f"{change:+.4f}" + ("" if np.isnan(se) else f" ± {se:.4f}")
                for pruned, change, se in zip(group["pruned"], group["change"], group["se"], strict=True)
            }
            rows.append({**head, "gamma": after, "method": NAMES[str(method)], **columns})
    return rows


def least(found: Any) -> Any:
    """The row with the lowest change."""
    return found.loc[found["change"].idxmin()]


def draw_changes(ax: Axes, found: Any) -> None:
    """Change of RMSE against pruning, a line a method, with bands of a standard error."""
    for i, (method, name) in enumerate(NAMES.items()):
        group = where(found, method=method)
        if len(group):
            mean, error = group["change"], group["se"].fillna(0)
            curve(ax, 100 * group["pruned"], mean, i, name, (mean - error, mean + error))
    ax.axhline(0, color="black", linewidth=0.6, linestyle="--")


# What is run

_TITLES = {"fixed": "γ fixed", "rescaled": "Laplacian rescaled", "loo": "γ chosen again"}


def cells(quick: bool) -> list[Cell]:
    """One for each draw of the tasks, share of rows to learn from, noise and kind of task graph."""
    kinds = [(0.4, "std", 2)] if quick else [(0.4, "std", 16), (0.25, "std", 4), (0.4, "var", 4)]
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
    split = standardise(drawn.tasks, random_split(drawn.tasks, cell["train"], rng))
    prunings = [
        Pruning(method, keep, after, MIN_DEGREE, seed)
        for method in ("pri", *(BASELINES if not cell["sizes"] else ("random", "local-similarity")))
        for keep in cell["keeps"]
        for after in GAMMAS
    ]
    prunings += [Pruning("pri", keep, "loo", 0, seed) for keep in cell["keeps"]]
    head = {key: cell[key] for key in ("draw", "train", "noise", "graph")}
    rows = [
        {**head, **row_of(entry)}
        for entry in evaluate(split, prunings, edge_weights=cell["graph"], k=10 if not cell["sizes"] else 6)
    ]
    return {"errors": rows}


# What the numbers say


def derive(frames: Frames) -> Frames:
    """Mean changes of the error, by task graph, treatment of γ and method."""
    import pandas as pd

    kinds = [
        ({"train": f"{share:.0%}", "noise": noise, "graph": graph}, rows)
        for (share, noise, graph), rows in frames["errors"].groupby(["train", "noise", "graph"], sort=False)
    ]
    return {"changes": pd.DataFrame([row for after in GAMMAS for row in changes(kinds, after)])}


def _kind(frames: Frames, train: float = 0.4, noise: str = "std") -> Any:
    """Rows of one share of rows to learn from and one reading of the noise."""
    return where(frames["errors"], train=train, noise=noise)


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's claims on its own task graph, and those of weights and the guard."""
    main = _kind(frames)
    draws = main["draw"].nunique()
    facts.add("draws", draws, "errors", "draws of the tasks")
    for model in ("per-task least squares", "per-task ridge", "common slopes", "graph"):
        rows = where(main, model=model, graph="unit")
        facts.add(_key(model), rows["rmse"].mean(), "errors", f"mean RMSE of {model}, 40 % to learn from")
    weighted = where(main, model="graph", graph="similarity")["rmse"].mean()
    facts.add("weighted_graph", weighted, "errors", "mean RMSE of the graph weighted by similarity, unpruned")
    verdicts = [_paper_early(main, facts), _paper_heavy(main, facts), _weights(main, facts), _goal(main, facts)]
    if len(scarce := _kind(frames, train=0.25)):
        verdicts.append(_scarce(scarce, facts))
    if len(variance := _kind(frames, noise="var")):
        verdicts.append(_variance(variance, facts))
    return verdicts


def _key(model: str) -> str:
    return model.replace("-", "_").replace(" ", "_")


def _add_mean(
    facts: Facts, key: str, mean: float, error: float, how: str, of_error: str = "its standard error"
) -> None:
    """Facts of a mean over the draws and of its standard error."""
    facts.add(key, mean, "errors", how)
    facts.add(f"{key}_se", error, "errors", of_error)


def _add_mean_of(facts: Facts, key: str, changes: Any, how: str) -> None:
    _add_mean(facts, key, changes.mean(), changes.std(ddof=1) / np.sqrt(len(changes)), how)


def _paper_early(main: Any, facts: Facts) -> Verdict:
    """PRI and LS alone lower the error on the unweighted graph with γ fixed, PRI early."""
    found = differences(where(main, graph="unit"), "fixed")
    early = found[found["pruned"] <= 0.3]
    for method in ("pri", "local-similarity"):
        if (early["method"] == method).any():
            best = least(where(early, method=method))
            how = f"lowest mean change of RMSE by {method}, γ fixed, at most 30 % pruned"
            key = f"early_{_key(method)}"
            _add_mean(facts, key, best["change"], best["se"], how, "its standard error over the draws")
    lowered = facts["early_pri"] < -2 * facts["early_pri_se"]
    text = "the best early change of the mean RMSE by Graph-PRI is {early_pri:+.3f} ± {early_pri_se:.3f}"
    if "early_local_similarity" in facts.rows:
        text += ", by local similarity {early_local_similarity:+.3f} ± {early_local_similarity_se:.3f}"
    return Verdict(
        "Pruning the task graph by Graph-PRI lowers the test error early, and of the others only local similarity does",
        "§4.2, Figure MTL",
        text + " (unpruned {graph:.3f}, {draws:.0f} draws)",
        grade(lowered),
        ""
        if lowered
        else "on the unweighted task graph with γ fixed; Graph-PRI keeps bridges, which here are wrong edges",
    )


def _paper_heavy(main: Any, facts: Facts) -> Verdict:
    found = differences(where(main, graph="unit"), "fixed")
    heavy = found[(found["method"] == "pri") & (found["pruned"] == found["pruned"].max())].iloc[0]
    how = "mean change of RMSE by Graph-PRI at the heaviest pruning, γ fixed"
    _add_mean(facts, "heavy", heavy["change"], heavy["se"], how)
    facts.add("heavy_share", heavy["pruned"], "errors", "the heaviest pruning")
    return Verdict(
        "Graph-PRI becomes worse where many edges are removed",
        "§4.2",
        "at {heavy_share:.0%} pruned the mean RMSE rises by {heavy:.3f} ± {heavy_se:.3f}",
        grade(facts["heavy"] > 2 * facts["heavy_se"]),
    )


def _weights(main: Any, facts: Facts) -> Verdict:
    """What weighting alone does."""
    both = where(main, model="graph").pivot(index="draw", columns="graph", values="rmse")
    how = "mean change of RMSE by weighting the task graph, unpruned"
    _add_mean_of(facts, "weights", both["similarity"] - both["unit"], how)
    return Verdict(
        "Weighting the task graph by the similarity of coefficients lowers the test error without any pruning",
        "graphpri",
        "by {weights:+.3f} ± {weights_se:.3f}, from {graph:.3f} to {weighted_graph:.3f}",
        grade(facts["weights"] < -2 * facts["weights_se"]),
    )


def _goal(main: Any, facts: Facts) -> Verdict:
    """Weighted Graph-PRI with the guard, γ chosen again, at half the edges, against the unweighted unpruned graph."""
    unit = where(main, model="graph", graph="unit").set_index("draw")["rmse"]
    rows = where(main, after="loo", min_degree=3)
    rows = rows[np.isclose(rows["pruned"], 0.5)]

    def changes(graph: str, method: str) -> Any:
        chosen = where(rows, graph=graph, method=method).set_index("draw")["rmse"]
        return (chosen - unit).dropna()

    how = "mean change of RMSE by weighted Graph-PRI at half the edges, γ chosen again"
    _add_mean_of(facts, "half", changes("similarity", "pri"), how)
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


def _scarce(scarce: Any, facts: Facts) -> Verdict:
    """Local similarity against Graph-PRI where little is known, on the weighted graph with γ chosen again."""
    found = differences(where(scarce, graph="similarity"), "loo")
    at = found.set_index(["method", "pruned"])["change"]
    shares = sorted(found[found["pruned"] <= 0.5]["pruned"].unique())
    won = sum(at["local-similarity", share] < at["pri", share] for share in shares)
    facts.add("scarce_shares", len(shares), "errors", "shares pruned, up to half, with 25 % to learn from")
    facts.add("scarce_won", won, "errors", "of them, where local similarity has the lower mean RMSE")
    for method in ("pri", "local-similarity"):
        facts.add(f"scarce_{_key(method)}", at[method, 0.3], "errors", f"mean change of RMSE by {method}, 30 % pruned")
    return Verdict(
        "With a quarter of the rows to learn from, local similarity prunes the weighted task graph better than "
        "Graph-PRI, up to half of the edges",
        "graphpri",
        "at {scarce_won:.0f} of {scarce_shares:.0f} shares; at 30 % pruned {scarce_local_similarity:+.3f} against "
        "{scarce_pri:+.3f}",
        grade(won == len(shares), 2 * won > len(shares)),
        "" if won in (0, len(shares)) else "at most of the shares pruned",
    )


def _variance(rows: Any, facts: Facts) -> Verdict:
    """The other reading of N(0, 0.2 I): its verdict on the paper's claim about early pruning."""
    found = differences(where(rows, graph="unit"), "fixed")
    best = least(found[(found["method"] == "pri") & (found["pruned"] <= 0.3)])
    how = "lowest early change of RMSE by pri, γ fixed, 0.2 as variance"
    _add_mean(facts, "variance", best["change"], best["se"], how)
    lowered = facts["variance"] < -2 * facts["variance_se"]
    same = lowered == (facts["early_pri"] < -2 * facts["early_pri_se"])
    return Verdict(
        "What is found about early pruning is the same when 0.2 is read as the variance of the coefficients' noise",
        "graphpri",
        "the best early change by Graph-PRI is {variance:+.3f} ± {variance_se:.3f}, with 0.2 as deviation "
        "{early_pri:+.3f} ± {early_pri_se:.3f}",
        grade(same),
    )


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """Change of RMSE against pruning, a panel a treatment of γ, a row a kind of task graph."""
    main = _kind(frames)
    figure, axes = panels(2, 3, height=1.7, sharex=True, sharey=True)
    for (row, graph), (column, after) in product(enumerate(("unit", "similarity")), enumerate(GAMMAS)):
        ax = axes[row, column]
        draw_changes(ax, differences(where(main, graph=graph), after))
        if row == 0:
            ax.set_title(_TITLES[after])
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
