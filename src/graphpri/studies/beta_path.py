"""Figure "monotonic": the number of kept edges grows with β."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from graphpri.graph import Graph
from graphpri.sparsify import Sparsified, path, sparsify
from graphpri.studies.beta_path_verdicts import ALGORITHM, MINIMA, judge
from graphpri.studies.figures import curve, legend_below, panels
from graphpri.studies.graphs import ALPHA, random_graph
from graphpri.studies.study import Cell, Frames, Picture, Study, Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DEGREES = (10, 20, 30)
_BOTH = "minima"
_BETAS = (0, 1, 2, 2.5, 2.75, 3, 3.1, 3.2, 3.3, 3.4, 3.5, 3.75, 4, 5, 6, 8, 12)
_RUN_BETAS = (0, 1, 2, 3, 4, 6)
_BARRED_BETAS = (0, 3, 6)
"""Of Algorithm 1 with the paper's α, where β turns out to matter little."""
_LONG_BETAS = (0, 3)
_SHOWN = 8
"""Largest β in the picture."""


def cells(quick: bool) -> list[Cell]:
    """One for each run of Algorithm 1, and one for the minima of each graph and α."""
    return _quick() if quick else _whole()


def _quick() -> list[Cell]:
    head = {"model": "ER", "degree": 10, "n": 30}
    run = {**head, "solver": ALGORITHM, "steps": 60, "rate": 0.1}
    return [
        *({**run, "alpha": 0.0, "beta": b, "draw": draw} for b, draw in product((0, 3, 6), range(2))),
        *({**run, "alpha": ALPHA, "beta": b, "draw": 0} for b in (0, 6)),
        *({**run, "alpha": 0.0, "beta": b, "draw": 0, "steps": 150, "table": "long"} for b in _LONG_BETAS),
        *({**head, "solver": _BOTH, "alpha": a, "betas": [0, 1, 3, 4, 8]} for a in (ALPHA, 0.0)),
    ]


def _whole() -> list[Cell]:
    graphs = [{"model": m, "degree": d, "n": 200} for d, m in product(_DEGREES[::-1], ("ER", "BA"))]
    run = {"solver": ALGORITHM, "steps": 150, "rate": 0.1}
    long = {"solver": ALGORITHM, "steps": 1000, "rate": 0.05, "alpha": 0.0, "draw": 0, "table": "long"}
    return [
        *({**graphs[-2], **long, "beta": b} for b in _LONG_BETAS),
        *({**g, "solver": _BOTH, "alpha": a, "betas": list(_BETAS)} for g, a in product(graphs, (0.0, ALPHA))),
        *({**g, **run, "alpha": 0.0, "beta": b, "draw": d} for g, b, d in product(graphs, _RUN_BETAS, range(3))),
        *({**g, **run, "alpha": ALPHA, "beta": b, "draw": 0} for g, b in product(graphs, _BARRED_BETAS)),
    ]


def work(cell: Cell, seed: int) -> Tables:
    """How many edges are kept at each β."""
    graph = random_graph(cell["model"], cell["n"], cell["degree"], seed)
    head = {key: cell[key] for key in ("model", "degree", "alpha")}
    head |= {"draw": cell.get("draw", 0), "steps": cell.get("steps", 0)}
    head |= {"nodes": graph.n_nodes, "edges": graph.n_edges}
    found = _minima(graph, cell, seed) if cell["solver"] == _BOTH else {ALGORITHM: [_run(graph, cell, seed)]}
    rows = [
        {**head, "solver": solver, "beta": f.settings["beta"], "K": f.kept.n_edges, "share": f.mask.mean()}
        | {"J": f.objective, "S": f.entropy, "D": f.divergence, "components": f.kept.components()[0]}
        for solver, results in found.items()
        for f in results
    ]
    return {cell.get("table", "path"): rows}


def _run(graph: Graph, cell: Cell, seed: int) -> Sparsified:
    """One of Algorithm 1."""
    options: dict[str, Any] = {"steps": cell["steps"], "learning_rate": cell["rate"], "patience": 0}
    options |= {"beta": cell["beta"], "alpha": cell["alpha"], "seed": seed + cell["draw"]}
    return sparsify(graph, solver="gumbel", **options)


def _minima(graph: Graph, cell: Cell, seed: int) -> dict[str, list[Sparsified]]:
    """Along the path, of each solver; connected subgraphs compete for the free minimum too."""
    options: dict[str, Any] = {"beta": cell["betas"], "alpha": cell["alpha"], "seed": seed}
    found = {solver: path(graph, connected=connected, **options) for solver, connected in MINIMA.items()}
    pairs = zip(found["free"], found["connected"], strict=True)
    return found | {"free": [min(pair, key=lambda result: result.objective) for pair in pairs]}


def draw(frames: Frames) -> list[Picture]:
    """Kept edges over β with α = 0: a row a model, a column a solver; the paper's α in grey."""
    table = frames["path"]
    table = table[table["beta"] <= _SHOWN]
    models = list(dict.fromkeys(table["model"]))
    figure, axes = panels(len(models), 3, height=1.75, sharex=True, sharey=True)
    names = {ALGORITHM: "Algorithm 1", "connected": "connected minimum", "free": "free minimum"}
    for (row, model), (column, solver) in product(enumerate(models), enumerate(names)):
        ax = axes[row, column]
        rows = table[(table["model"] == model) & (table["solver"] == solver)]
        for i, degree in enumerate(_DEGREES):
            own = rows[rows["degree"] == degree]
            _draw_shares(ax, own[own["alpha"] == 0], i, f"mean degree {degree}")
        _draw_barred(ax, rows[rows["alpha"] == ALPHA])
        ax.set_title(names[solver] if row == 0 else "")
        ax.set_xlabel("β" if row == len(models) - 1 else "")
        if column == 0:
            ax.set_ylabel(f"{ {'ER': 'Erdős–Rényi', 'BA': 'Barabási–Albert'}[model] }\nedges kept (%)")
    legend_below(figure, axes[0, 0])
    return [
        Picture(
            "beta_path",
            figure,
            "Share of edges kept along β, α = 0, by mean degree; with the paper's α = 0.005 in grey. Lines: means over "
            "the seeds of Algorithm 1, and the minima; bands: least and most over these seeds.",
        )
    ]


def _draw_shares(ax: Axes, rows: Any, i: int, label: str) -> None:
    if len(rows):
        shares = 100 * rows.groupby("beta")["share"].agg(["mean", "min", "max"])
        curve(ax, shares.index, shares["mean"], i, label, (shares["min"], shares["max"]))


def _draw_barred(ax: Axes, rows: Any) -> None:
    for i, (_, shares) in enumerate(rows.groupby("degree")):
        mean = 100 * shares.groupby("beta")["share"].mean()
        label = None if i else f"α = {ALPHA}, each degree"
        ax.plot(mean.index, mean, color="0.65", linewidth=0.7, zorder=0, label=label)


STUDIES = (
    Study(
        name="beta-path",
        title="More edges with larger β",
        source="Figure monotonic",
        about=(
            "The graphs of the study tradeoff, sparsified without a budget at β from 0 to 12: by Algorithm 1 (150 "
            "steps of Adam with rate 0.1 instead of up to 10 000 with 0.01, three samples each; three seeds; on one "
            "graph 1000 steps with rate 0.05 beside it), by the minimum among connected subgraphs and by the free "
            "minimum (each along the path of β, the better of both where all subsets compete); "
            "with α = 0 and the paper's 0.005."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
    ),
)
