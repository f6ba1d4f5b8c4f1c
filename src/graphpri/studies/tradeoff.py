"""Figure "tradeoff": a random sparsifier's entropy rises with the kept edges, and its divergence falls."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from graphpri import baselines as baselines  # registers the methods
from graphpri._objective import Objective
from graphpri.baselines import run
from graphpri.studies.graphs import MODELS, random_graph
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

_DEGREES = (10, 20, 30)
_SHARES = tuple(round(share / 10, 1) for share in range(1, 11))


def cells(quick: bool) -> list[Cell]:
    """One for each graph."""
    n, repeats = (60, 5) if quick else (200, 100)
    return [{"model": m, "degree": d, "n": n, "repeats": repeats} for m, d in product(("ER", "BA"), _DEGREES[::-1])]


def work(cell: Cell, seed: int) -> Tables:
    """Entropy and divergence of random subgraphs of every size."""
    graph = random_graph(cell["model"], cell["n"], cell["degree"], seed)
    exact = Objective(graph, beta=1.0, alpha=0.0, entropy="exact")
    rng = generator(seed, "tradeoff", cell)
    rows: list[dict[str, Any]] = []
    for share, repeat in product(_SHARES, range(cell["repeats"])):
        mask, _ = run(graph, "random", max(1, round(share * graph.n_edges)), rng)
        terms = exact.terms(mask.astype(float))
        head = {"model": cell["model"], "degree": cell["degree"], "nodes": graph.n_nodes, "edges": graph.n_edges}
        rows.append(
            {**head, "share": share, "repeat": repeat, "K": int(mask.sum()), "S": terms.entropy, "D": terms.divergence}
        )
    return {"random": rows}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Both curves, rank by rank, in the mean over the repeats and in single runs."""
    mean = frames["random"].groupby(["model", "degree", "share"])[["S", "D"]].mean().reset_index()
    graphs = [group.sort_values("share") for _, group in mean.groupby(["model", "degree"])]
    rising = sum(bool((np.diff(group["S"]) > 0).all()) for group in graphs)
    falling = sum(bool((np.diff(group["D"]) < 0).all()) for group in graphs)
    facts.add("graphs", len(graphs), "random", "pairs of model and mean degree")
    facts.add("rising", rising, "random", "graphs whose mean S rises at every step of the share")
    facts.add("falling", falling, "random", "graphs whose mean D falls at every step of the share")
    runs = [group for _, group in frames["random"].groupby(["model", "degree"])]
    rank_s, rank_d = ([float(stats.spearmanr(run["share"], run[name])[0]) for run in runs] for name in "SD")
    facts.add("rank_S", min(rank_s), "random", "lowest Spearman correlation of share and S over all runs")
    facts.add("rank_D", max(rank_d), "random", "highest Spearman correlation of share and D over all runs")
    return [
        Verdict(
            "The entropy of a randomly sparsified graph rises with the share of edges kept",
            "§3.2.1, Figure tradeoff",
            "mean S rises at every step on {rising:.0f} of {graphs:.0f} graphs; rank correlation at least {rank_S:.3f}",
            grade(rising == len(graphs), facts["rank_S"] > 0.9),
        ),
        Verdict(
            "Its divergence from the original falls with the share of edges kept",
            "§3.2.1, Figure tradeoff",
            "mean D falls at every step on {falling:.0f} of {graphs:.0f} graphs; rank correlation at most {rank_D:.3f}",
            grade(falling == len(graphs), facts["rank_D"] < -0.9),
        ),
    ]


def draw(frames: Frames) -> list[Picture]:
    """Entropy above, divergence below; a column a model."""
    figure, axes = panels(2, 2, height=1.7, sharex=True)
    table = frames["random"]
    for column, model in enumerate(("ER", "BA")):
        for i, degree in enumerate(_DEGREES):
            group = where(table, model=model, degree=degree).groupby("share")
            for row, name in enumerate("SD"):
                low, high = group[name].quantile(0.05), group[name].quantile(0.95)
                mean = group[name].mean()
                curve(axes[row, column], 100 * mean.index, mean, i, f"mean degree {degree}", (low, high))
        axes[0, column].set_title(MODELS[model])
        axes[1, column].set_xlabel("edges kept (%)")
    axes[0, 0].set_ylabel("entropy S (nats)")
    axes[1, 0].set_ylabel("divergence D (nats)")
    legend_below(figure, axes[0, 0])
    return [
        Picture(
            "tradeoff",
            figure,
            "Von Neumann entropy S of randomly sparsified graphs and their quantum Jensen–Shannon divergence D from "
            "the original, by the share of edges kept. Lines: means; bands: 5th to 95th percentile of the repeats.",
        )
    ]
