"""Figure "pri_demo": Zachary's karate club from a near-star at β = 0 to itself at large β."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpri import measures, plot
from graphpri.graph import BoolArray
from graphpri.layout import spring
from graphpri.sparsify import Sparsified, sparsify
from graphpri.studies.figures import curve, look, panels
from graphpri.studies.graphs import ALPHA, load
from graphpri.studies.karate_verdicts import ALGORITHM, BETAS, at, judge
from graphpri.studies.study import Cell, Frames, Picture, Study, Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIXTURES = ("equation", "listing")
_MINIMA = {"connected": True, "free": False}
_GRID = (0, 1, 2, 2.5, 2.8, 2.9, 3, 3.5, 4, 5, 6, 7, 1000)
_BARRIERS = (0.0005, 0.001, 0.002)
_DRAWN = 7  # the largest β of lines along it
"""Smaller α than the paper's, at β = 0."""
_TRACED = 100
"""Steps between two rows of the trace."""


def cells(quick: bool) -> list[Cell]:
    """One for each run of Algorithm 1, and one for the minima of each solver, mixture and α."""
    return [*(_quick() if quick else _whole()), {"solver": "original"}]


def _quick() -> list[Cell]:
    # At β = 0 there is no divergence, so that the mixture makes no difference.
    kinds = [("equation", b, a) for b, a in product(BETAS, (ALPHA, 0.0))]
    kinds += [("equation", 0, _BARRIERS[0]), ("listing", 2, 0.0), ("listing", 1000, 0.0)]
    asked = [("connected", "equation", 0.0), ("connected", "listing", 0.0), ("free", "equation", 0.0)]
    return [
        *(_run(kind, 0, 100) for kind in kinds),
        *(_minima(*kind, BETAS, "fast") for kind in asked),
        *(_minima("free", "equation", a, (0,), "fast") for a in (ALPHA, _BARRIERS[0])),
    ]


def _whole() -> list[Cell]:
    kinds = [("equation", b, a) for b, a in product(BETAS, (ALPHA, 0.0))]
    kinds += [("listing", b, a) for b, a in product(BETAS[1:], (ALPHA, 0.0))]
    kinds += [("equation", 0, a) for a in _BARRIERS]
    return [
        *(_run(kind, draw, 10_000) for kind, draw in product(kinds, range(3))),
        *(_minima(*kind, _GRID, "best") for kind in product(_MINIMA, _MIXTURES, (ALPHA, 0.0))),
        *(_minima("free", "equation", a, (0,), "best") for a in _BARRIERS),
    ]


def _run(kind: tuple[str, float, float], draw: int, steps: int) -> Cell:
    """One of Algorithm 1."""
    mixture, beta, alpha = kind
    return {"solver": ALGORITHM, "mixture": mixture, "betas": [beta], "alpha": alpha, "draw": draw, "steps": steps}


def _minima(solver: str, mixture: str, alpha: float, betas: Sequence[float], effort: str) -> Cell:
    return {"solver": solver, "mixture": mixture, "betas": list(betas), "alpha": alpha, "effort": effort}


def work(cell: Cell, seed: int) -> Tables:
    """The edges that are kept, and what they are like."""
    graph = load("karate")
    if cell["solver"] == "original":
        whole = {"nodes": graph.n_nodes, "edges": graph.n_edges, "hub": graph.degrees().max()}
        found = measures.report(graph, graph, measures=["entropy", "centralisation"])
        return {"original": [whole | {"S": found["entropy"], "centralisation": found["centralisation"]}]}
    options: dict[str, Any] = {key: cell[key] for key in ("alpha", "mixture")}
    head = {"solver": cell["solver"], **options, "draw": cell.get("draw", 0)}
    if cell["solver"] == ALGORITHM:
        options |= {"solver": "gumbel", "steps": cell["steps"], "patience": 0}
    else:
        options |= {"connected": _MINIMA[cell["solver"]], "effort": cell["effort"]}
    tables: Tables = {"runs": [], "kept": [], "trace": []}
    for beta in cell["betas"]:
        _note(tables, head | {"beta": beta}, sparsify(graph, beta=beta, seed=seed + head["draw"], **options))
    return tables


def _note(tables: Tables, head: dict[str, Any], result: Sparsified) -> None:
    """Add a result to the tables."""
    graph, mask = result.original, result.mask
    degrees, drawn = result.kept.degrees(), result.probabilities
    row = {"K": result.kept.n_edges, "J": result.objective, "S": result.entropy, "D": result.divergence}
    row |= {"hub": degrees.max(), "hub_share": degrees.max() / result.kept.n_edges}
    row |= dict(measures.report(graph, result, measures=["centralisation"]))
    row |= {"components": result.kept.components()[0], "cut_off": np.count_nonzero(degrees == 0)}
    row |= {"mean_draw": None if drawn is None else drawn.sum()}
    tables["runs"].append(head | row | {"status": result.status})
    edges = zip(graph.source[mask].tolist(), graph.target[mask].tolist(), strict=True)
    tables["kept"] += [{**head, "source": u, "target": v} for u, v in edges]
    if drawn is not None:
        steps = (step for step in result.trace if step.step % _TRACED == 0)
        tables["trace"] += [{**head, "step": step.step, "K": step.edges, "J": step.objective} for step in steps]


def draw(frames: Frames) -> list[Picture]:
    """The paper's four graphs, lines over β, α and steps, and what the minima weigh."""
    return [_draw_graphs(frames), _draw_lines(frames), _draw_path(frames)]


def _draw_path(frames: Frames) -> Picture:
    figure, axes = panels(1, 2, height=2.4)
    n_edges = frames["original"]["edges"].iloc[0]
    for ax, (solver, title) in zip(axes[0], (("connected", "connected"), ("free", "all subsets")), strict=True):
        rows = at(frames["runs"], mixture="equation", alpha=0.0, solver=solver)
        rows = rows[rows["beta"] <= _DRAWN]
        names = {"J": "objective", "S": "entropy", "D": "divergence"}
        stops = rows.assign(share=rows["K"] / n_edges).rename(columns=names).to_dict("records")
        plot.path(stops, ax)
        ax.get_legend().set_visible(False)
        ax.set_title(f"minima over {title}" if solver == "free" else f"{title} minima")
    handles = axes[0, 0].get_legend().legend_handles
    figure.legend(handles, [handle.get_label() for handle in handles], loc="outside lower center", ncols=4)
    return Picture(
        "karate_path",
        figure,
        "Objective J, entropy S and divergence D of the minima along β, with the equation's mixture and α = 0, and "
        "the share of edges that they keep (right axes).",
    )


def _draw_graphs(frames: Frames) -> Picture:
    """The original and three β, by Algorithm 1 above and as connected minima below."""
    graph = load("karate")
    layout = spring(graph, 0)
    figure, axes = panels(2, 4, height=1.2)
    every = np.ones(graph.n_edges, bool)
    rows = ((ALGORITHM, ALPHA, "Algorithm 1"), ("connected", 0.0, "connected minimum"))
    for line, (solver, alpha, name) in zip(axes, rows, strict=True):
        shown = [("original", every)]
        shown += [(f"β = {b}", _mask(frames["kept"], solver=solver, alpha=alpha, beta=b)) for b in (0, 5, 1000)]
        for ax, (title, mask) in zip(line, shown, strict=True):
            plot.graph(graph, mask, ax, layout)
            ax.get_legend().remove()
            ax.set_title(f"{title}: {int(mask.sum())} edges")
            _make_finer(ax)
        text = f"{name}\nα = {alpha:g}"
        line[0].text(-0.12, 0.5, text, rotation=90, va="center", ha="center", transform=line[0].transAxes)
    return Picture(
        "karate",
        figure,
        "Zachary's karate club, kept edges over dropped ones (grey); the area of a node grows with its kept edges, "
        "a cross has lost all. Above: Algorithm 1 with the equation's mixture and the paper's α, first seed. Below: "
        "the library's answer without a budget, the minimum among connected subgraphs with α = 0.",
    )


def _make_finer(ax: Axes) -> None:
    """Lines and nodes as a panel of this size needs them."""
    from matplotlib.collections import PathCollection

    for drawn in ax.collections:
        drawn.set_linewidth(0.5 * np.mean(drawn.get_linewidth()).item())
        if isinstance(drawn, PathCollection):
            drawn.set_sizes(0.3 * drawn.get_sizes())


def _mask(kept: Any, **where: Any) -> BoolArray:
    graph = load("karate")
    rows = at(kept, mixture="equation", draw=0, **where)
    wanted = set(zip(rows["source"], rows["target"], strict=True))
    return np.array([edge in wanted for edge in zip(graph.source, graph.target, strict=True)])


def _draw_lines(frames: Frames) -> Picture:
    figure, axes = panels(1, 3, height=2.3)
    runs = frames["runs"]
    _draw_beta(axes[0, 0], runs)
    _draw_alpha(axes[0, 1], runs, frames["original"])
    _draw_steps(axes[0, 2], frames["trace"])
    return Picture(
        "karate_lines",
        figure,
        "(a) Edges kept along β with α = 0 and the equation's mixture: minima over all subsets and over connected "
        "ones, and Algorithm 1, every seed a dot. (b) Degree centralisation C_D at β = 0 of what Algorithm 1 keeps, "
        "by α, mean over the seeds; band: least and most; number: mean edges kept; dashed: C_D of the original. "
        "(c) Edges in Algorithm 1's most probable subset by steps, first seed.",
    )


def _draw_beta(ax: Axes, runs: Any) -> None:
    rows = at(runs, mixture="equation", alpha=0.0)
    rows = rows[rows["beta"] <= _DRAWN]
    for i, (solver, label) in enumerate((("connected", "connected minimum"), ("free", "free minimum"))):
        own = at(rows, solver=solver)
        curve(ax, own["beta"], own["K"], i, label)
    own = at(rows, solver=ALGORITHM)
    style: dict[str, Any] = look(2) | {"linestyle": "none"}
    ax.plot(own["beta"], own["K"], label="Algorithm 1", **style)
    ax.set(xlabel="β", ylabel="edges kept", title="(a) edges along β, α = 0")
    ax.legend(loc="upper left")
    ax.set_ylim(0, 112)


def _draw_alpha(ax: Axes, runs: Any, original: Any) -> None:
    rows = at(runs, solver=ALGORITHM, mixture="equation", beta=0).groupby("alpha")
    central = rows["centralisation"]
    alphas = 1000 * np.array(sorted(rows.groups))
    curve(ax, alphas, central.mean(), 0, None, (central.min(), central.max()))
    for x, y, kept in zip(alphas, central.mean(), rows["K"].mean(), strict=True):
        ax.annotate(f"{kept:.0f}", (x, y), (3, -3), textcoords="offset points", va="top", fontsize=6)
    ax.axhline(original["centralisation"].iloc[0], color="0.5", linewidth=0.8, linestyle="--")
    ax.set(xlabel="α (10⁻³)", ylabel="degree centralisation $C_D$", title="(b) Algorithm 1 at β = 0")
    ax.set(xlim=(-0.3, 5.6), ylim=(-0.04, 0.56))


def _draw_steps(ax: Axes, trace: Any) -> None:
    shown = (("equation", 0, 0.0), ("equation", 0, ALPHA), ("equation", 1000, 0.0), ("listing", 1000, 0.0))
    for i, (mixture, beta, alpha) in enumerate(shown):
        rows = at(trace, mixture=mixture, beta=beta, alpha=alpha, draw=0)
        style: dict[str, Any] = look(i) | {"marker": ""}
        name = f"β = {beta}, α = {alpha:g}" + (f", {mixture}" if beta else "")
        ax.plot(rows["step"] / 1000, rows["K"], label=name, **style)
    ax.set(xlabel="steps (1000)", ylabel="edges kept", title="(c) Algorithm 1", ylim=(0, 85))
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.4))


STUDIES = (
    Study(
        name="karate",
        title="The karate club from a near-star to itself",
        source="Figure pri_demo",
        about=(
            "Zachary's karate club without weights at β = 0, 2, 5 and 1000, by Algorithm 1 as published (τ = 1, three "
            "samples a step, Adam with rate 0.01, all 10 000 steps; three seeds; the most probable subset), by the "
            "minimum among connected subgraphs and by the free minimum (at more β; the library's search with effort "
            "\"best\"); with the equation's and the listing's mixture, α = 0.005 and 0, and smaller α at β = 0."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
    ),
)
