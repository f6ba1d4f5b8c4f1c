"""Theorems 1 to 4, the Corollary, the lemmas, and what §3.2 says of the star, the metric and random sampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpri.studies import theorems_bounds, theorems_divergence, theorems_extremes, theorems_gradient
from graphpri.studies.figures import curve, look, panels
from graphpri.studies.graphs import available
from graphpri.studies.study import Cell, Facts, Frames, Picture, Study, Tables, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOPICS: dict[str, Callable[[Cell, int], Tables]] = {
    "additions": theorems_bounds.additions,
    "gaps": theorems_bounds.gaps,
    "decay": theorems_bounds.decay,
    "gradients": theorems_gradient.gradients,
    "appendix": theorems_gradient.appendix,
    "corollary": theorems_divergence.corollary,
    "metric": theorems_divergence.metric,
    "gamma": theorems_divergence.gamma,
    "extremes": theorems_extremes.every_graph,
}
_RANDOM = ("ER 100 4", "ER 100 10", "BA 100 2", "BA 100 6", "WS 100 6", "SBM 100 8", "grid 10 10", "path 100 2")
_FAMILIES = (("ER", 10), ("BA", 10), ("WS", 10), ("ER", "half"))


def cells(quick: bool) -> list[Cell]:
    """Topic by topic and graph by graph."""
    return _quick() if quick else _whole()


def _quick() -> list[Cell]:
    small = ["karate", "ER 30 4", "BA 30 4"]
    return [
        {"topic": "decay", "family": "ER", "degree": 10, "sizes": [(50, 2), (100, 1), (200, 1)]},
        {"topic": "decay", "family": "ER", "degree": "half", "sizes": [(50, 2), (100, 1), (200, 1)]},
        {"topic": "extremes", "nodes": 6, "tree_nodes": 8},
        *({"topic": "gradients", "graph": g, "betas": [2]} for g in ("karate", "karate weighted", "weights 16 5")),
        *({"topic": "corollary", "graph": g, "shares": [0.3, 0.7], "repeats": 3, "additions": 8} for g in small),
        {"topic": "gamma", "model": "ER", "n": 40, "degree": 4, "repeats": 3},
        {"topic": "gamma", "model": "ER", "n": 40, "degree": 12, "repeats": 3},
        {"topic": "metric", "set": "karate", "graphs": 12},
        {"topic": "metric", "set": "atlas", "graphs": 40},
        {"topic": "additions", "graphs": small, "additions": 20},
        {"topic": "gaps", "graphs": [*small, "weights 30 4"], "numbers": 3},
        {"topic": "appendix", "graphs": ["karate", "karate weighted", "BA 20 4"], "pairs": 15},
    ]


def _whole() -> list[Cell]:
    real = available(("karate", "madrid", "polbooks", "jazz"))
    heavy = [f"{name} weighted" for name in available(("karate", "madrid", "lesmis", "celegans", "us-airports"))]
    sizes = [(2000, 2), (1000, 4), (500, 6), (200, 10), (100, 20), (50, 40)]
    shares = [round(0.1 * i, 1) for i in range(1, 10)]
    few = [name for name in real if name != "jazz"]
    return [
        *(
            {"topic": "gradients", "graph": g, "betas": [0.5, 2, 5]}
            for g in ["ER 100 10", *few[::-1], "ER 100 4", *heavy[1::-1], "weights 60 6", "BA 100 2"]
        ),
        *(
            {"topic": "gamma", "model": m, "n": 200, "degree": d, "repeats": 20}
            for m in ("ER", "BA")
            for d in (30, 20, 10)
        ),
        *(
            {"topic": "corollary", "graph": g, "shares": shares, "repeats": 10, "additions": 10}
            for g in [*real[::-1], *_RANDOM]
        ),
        *({"topic": "decay", "family": f, "degree": d, "sizes": sizes[::-1]} for f, d in _FAMILIES),
        *({"topic": "metric", "set": s, "graphs": n} for s, n in (("atlas", 155), ("dense", 80), ("karate", 80))),
        {"topic": "extremes", "nodes": 7, "tree_nodes": 12},
        {"topic": "gaps", "graphs": [*real, *heavy, *_RANDOM, "weights 100 4", "weights 100 10"], "numbers": 30},
        {"topic": "additions", "graphs": [*real, *_RANDOM], "additions": 200},
        {"topic": "appendix", "graphs": [*few, *heavy[:2], "BA 60 6", "WS 60 6", "grid 8 8"], "pairs": 100},
    ]


def work(cell: Cell, seed: int) -> Tables:
    """One topic on one graph or set of graphs."""
    return _TOPICS[cell["topic"]](cell, seed)


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """In the order of the paper's theorems."""
    return [
        *theorems_bounds.judge(frames, facts),
        *theorems_divergence.judge(frames, facts),
        *theorems_extremes.judge(frames, facts),
        *theorems_gradient.judge(frames, facts),
    ]


def draw(frames: Frames) -> list[Picture]:
    """The bounds and the extremes above, the gradient, the Corollary and γ below."""
    figure, axes = panels(2, 3, height=2.1)
    _draw_gaps(axes[0, 0], frames["gaps"])
    _draw_decay(axes[0, 1], frames["decay"])
    _draw_atlas(axes[0, 2], frames["atlas"])
    _draw_gradient(axes[1, 0], frames["edges"])
    _draw_corollary(axes[1, 1], frames["corollary"])
    _draw_gamma(axes[1, 2], frames["gamma"])
    return [
        Picture(
            "theorems",
            figure,
            "(a) The gap between degree entropy H and entropy S, and Theorem 2's bound in nats: dots are graphs, none "
            "may be above the line. (b) H/S − 1 by the number of nodes, means over graphs, and the rate 1/log₂ N of "
            "Theorem 3 (grey, through the first point of the first curve). (c) S and H of all connected graphs of the "
            "largest size that was enumerated; the dashed line is ln N. (d) Theorem 4's U g, as printed, against "
            "derivatives of the objective by central differences, karate club: the partial derivative, and that along "
            "w_i up with the others down in proportion. (e) Share of edges of the original whose return to a random "
            "subgraph does not raise the divergence. (f) Spectral constant γ of random subgraphs: medians over the "
            "runs for each model and mean degree, left out where half of them or more are infinite.",
        )
    ]


def _dots(i: int) -> dict[str, Any]:
    return look(i) | {"linestyle": "none"}


def _draw_gaps(ax: Axes, table: Any) -> None:
    for i, (weighted, label) in enumerate(((False, "unweighted"), (True, "weighted"))):
        rows = table[table["weighted"] == weighted]
        ax.plot(rows["bound"], rows["H"] - rows["S"], label=label, **_dots(i))
    ends = np.array([table["bound"].min(), table["bound"].max()])
    ax.plot(ends, ends, color="0.5", linewidth=0.8, label="bound")
    ax.set(xscale="log", yscale="log", xlabel="tr(W²)/(δ d) (nats)", ylabel="H − S (nats)", title="(a) Theorem 2")
    ax.legend(loc="upper left")


def _draw_decay(ax: Axes, table: Any) -> None:
    mean = theorems_bounds.ratios(table)
    names = {"ER": "Erdős–Rényi", "BA": "Barabási–Albert", "WS": "Watts–Strogatz"}
    for i, ((family, degree), rows) in enumerate(mean.groupby(["family", "degree"], sort=False)):
        label = "half of all pairs" if str(degree) == "half" else names[family]
        curve(ax, rows["nodes"], rows["ratio"], i, label)
        if i == 0:
            rate = rows["ratio"].iloc[0] * np.log(rows["nodes"].iloc[0]) / np.log(rows["nodes"])
            ax.plot(rows["nodes"], rate, color="0.5", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="nodes N", ylabel="H/S − 1", title="(b) Theorem 3")
    ax.legend(loc="lower left")


def _draw_atlas(ax: Axes, table: Any) -> None:
    n = table["nodes"].max()
    rows = table[table["connected"] & (table["nodes"] == n)]
    kinds = ((~rows["star"] & ~rows["regular"], "others"), (rows["regular"], "regular"), (rows["star"], "star"))
    for i, (chosen, label) in enumerate(kinds):
        style: dict[str, Any] = {**_dots(i), "markersize": 2 if i == 0 else 5}
        ax.plot(rows[chosen]["S"], rows[chosen]["H"], label=label, **style)
    ax.axhline(np.log(n), color="0.5", linewidth=0.8, linestyle="--")
    ax.set(xlabel="S (nats)", ylabel="H (nats)", title=f"(c) connected graphs, N = {n}")
    ax.legend(loc="lower right")


def _draw_gradient(ax: Axes, table: Any) -> None:
    rows = table[(table["graph"] == "karate") & (table["beta"] == 2)]
    for i, (column, label) in enumerate((("partial", "∂J/∂w"), ("along", "dJ along w_i"))):
        ax.plot(rows["printed"], rows[column], label=label, **_dots(i))
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.6, zorder=0)
    ends = np.array([rows["printed"].min(), rows["printed"].max()])
    ax.plot(ends, ends / 2, color="0.5", linewidth=0.8, label="half of U g")
    ax.set(xlabel="U g (nats)", ylabel="derivative (nats)", title="(d) Theorem 4, karate, β = 2")
    ax.legend(loc="upper left")


def _draw_corollary(ax: Axes, table: Any) -> None:
    groups = list(table.groupby("graph", sort=False))
    for name, rows in groups:
        real = name[0].islower() and " " not in name
        share = 100 * rows["falls"] / rows["tried"]
        ax.plot(100 * rows["share"], share, linewidth=0.8, **look(0 if real else 1))
    for i, label in enumerate(("real graphs", "random graphs")):
        ax.plot([], [], label=label, **look(i))
    ax.set(xlabel="edges kept (%)", ylabel="D does not rise (%)", title="(e) Corollary 1", ylim=(40, 102))
    ax.legend(loc="lower right")


def _draw_gamma(ax: Axes, table: Any) -> None:
    for i, ((model, degree), rows) in enumerate(table.groupby(["model", "degree"])):
        middle = rows.groupby("share")["gamma"].median()
        middle = middle[np.isfinite(middle)]
        curve(ax, 100 * middle.index, middle, i, f"{model} {degree}")
    ax.set(yscale="log", xlabel="edges kept (%)", ylabel="γ", title="(f) random sparsifier", xlim=(5, 105))
    ax.legend(loc="lower left", labelspacing=0.3)


STUDIES = (
    Study(
        name="theorems",
        title="The theorems, one by one",
        source="Theorems 1–4, Corollary 1, Appendix A",
        about=(
            "Each theorem, lemma and cited fact against numbers: bounds on random, real and all small graphs, formulas "
            "against central differences, the star and the regular graph by enumeration, the triangle inequality over "
            "triples, and the spectral constant of random subgraphs. All entropies are exact."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
    ),
)
