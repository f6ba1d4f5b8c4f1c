"""A panel for each graph: one measure over the keep ratio, a line for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphpri import plot
from graphpri.studies.figures import legend_below, panels
from graphpri.studies.graphs import ALPHA, PAPER, TITLES
from graphpri.studies.study import Frames, Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OTHERS = {
    "random": "random",
    "local-degree": "local degree",
    "local-similarity": "local similarity",
    "effective-resistance-sampling": "effective resistance, sampled",
}
_BANDS = "Lines: medians over the seeds; bands: 5th to 95th percentile of the seeds, for methods that draw."

_SETTINGS = f"Graph-PRI and Algorithm 1 with α = {ALPHA:g}; Graph-PRI connected, where so few edges can be."


def draw_distance(frames: Frames) -> list[Picture]:
    """d_x, the smaller the better."""
    figure = _figure(frames, "d_x", "spectral distance $d_x$")
    caption = "Spectral distance of the kept graph from the original along its slowest mode (the smaller the better)"
    ring = "The ring has two such modes, of which a fixed combination is taken."
    lost = " Infinite values are left out." if np.isinf(frames["sparsifiers"]["d_x"]).any() else ""
    text = f"{caption}, by the share of edges kept. {_SETTINGS} {_BANDS} {ring}{lost}"
    return [Picture("spectral-distance", figure, text)]


def draw_centrality(frames: Frames) -> list[Picture]:
    """C_D, the larger the more centralised."""
    figure = _figure(frames, "C_D", "centralisation $C_D$")
    caption = "Degree centralisation of the kept graph (1 for a star; the larger the more centralised)"
    return [Picture("centrality", figure, f"{caption}, by the share of edges kept. {_SETTINGS} {_BANDS}")]


def _betas(frames: Frames) -> list[float]:
    """The two of Graph-PRI's β that are drawn."""
    table = frames["sparsifiers"]
    betas = sorted(table.loc[table["method"] == "pri", "beta"].unique())
    return [betas[len(betas) // 3], betas[-1]]


def _lines(frames: Frames) -> list[tuple[str, Any]]:
    """Labels and the rows of each line."""
    table = frames["sparsifiers"]
    found = [(label, table[table["method"] == method]) for method, label in _OTHERS.items()]
    ours = table[(table["method"] == "pri") & (table["alpha"] == ALPHA) & table["connected"] & ~table["reweight"]]
    found += [(f"Graph-PRI, β = {beta:g}", ours[ours["beta"] == beta]) for beta in _betas(frames)]
    relaxed = table[table["method"] == "gumbel"]
    beta = relaxed["beta"].min()
    return [*found, (f"Algorithm 1, β = {beta:g}", relaxed[relaxed["beta"] == beta])]


def _figure(frames: Frames, measure: str, label: str) -> Figure:
    graphs = [graph for graph in PAPER if graph in set(frames["sparsifiers"]["graph"])]
    columns = min(3, len(graphs))
    figure, axes = panels(-(-len(graphs) // columns), columns, height=1.75, sharex=True)
    for ax, graph in zip(axes.flat, graphs, strict=True):
        rows = [
            {"method": name, "kept": 100 * row["keep"], measure: row[measure]}
            for name, table in _lines(frames)
            for row in table[table["graph"] == graph].to_dict("records")
        ]
        plot.compare(rows, ax, measure=measure, along="kept", centre="median", band=(0.05, 0.95))
        ax.get_legend().remove()
        ax.set(xlabel="", ylabel="")
        ax.set_title(TITLES[graph])
        ax.set_ylim(bottom=0)
    for ax in axes[-1]:
        ax.set_xlabel("edges kept (%)")
    for ax in axes[:, 0]:
        ax.set_ylabel(label)
    legend_below(figure, axes[0, 0])
    return figure
