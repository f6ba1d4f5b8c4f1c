"""§3.4 and the approximations it cites: how close each is to the exact entropy, what it costs, how it ranks edges."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from graphpri import datasets
from graphpri.graph import FloatArray, Graph
from graphpri.studies.entropies_rivals import WAYS, slope
from graphpri.studies.entropies_verdicts import errors_of, judge, ranks_of
from graphpri.studies.families import build
from graphpri.studies.figures import look, panels
from graphpri.studies.graphs import PAPER, available
from graphpri.studies.study import Cell, Frames, Picture, Study, Tables, generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAMILIES = ("ER 1000 20", "BA 1000 10", "WS 1000 10", "SBM 1000 10", "ring 1000 10", "grid 30 30", "path 200 2")
_DIGITS = 8
"""Decimals of a slope, as a share of the largest edge term, that are not rounding."""


def cells(quick: bool) -> list[Cell]:
    """Graph by graph, the largest first; then large graphs for the cost alone."""
    if quick:
        graphs = [*available(("karate", "lesmis")), "BA 220 6", "path 60 2", "grid 8 8"]
        sizes, repeats = [1000, 4000, 16000], 2
    else:
        small = sorted(available(_small()), key=lambda name: -datasets.info(name).n_nodes)
        graphs, sizes, repeats = [*small, *_FAMILIES, *available(PAPER)[::-1]], [4000, 16000, 64000, 256000], 5
    named = [name + " weighted" * _has_weights(name) for name in graphs]
    return [*({"graph": name, "repeats": repeats} for name in named), {"sizes": sizes}]


def _small() -> tuple[str, ...]:
    """Graphs of the folder of small ones."""
    found = (datasets.info(name) for name in datasets.names())
    return tuple(d.name for d in found if d.files and d.files[0][0].startswith("graphs_small/"))


def _has_weights(name: str) -> bool:
    return name in _small() and datasets.info(name).weights is not None


def work(cell: Cell, seed: int) -> Tables:
    """Every approximation on one graph, or the time that some take on large ones."""
    return {"cost": _costs(cell["sizes"], seed)} if "sizes" in cell else {"values": _values(cell, seed)}


def _values(cell: Cell, seed: int) -> list[dict[str, Any]]:
    graph = build(cell["graph"], seed)
    a = graph.weights / (2 * graph.weights.sum())
    rows: list[dict[str, Any]] = []
    truth: FloatArray = np.empty(0)
    for name, way in WAYS.items():
        for repeat in range(cell["repeats"] if way.random else 1):
            key = (seed, "entropies", cell["graph"], name, repeat)
            (value, _), seconds = _timed(lambda k=key, w=way: w.run(graph, a, generator(*k), False))
            (_, h), slope_seconds = _timed(lambda k=key, w=way: w.run(graph, a, generator(*k), True))
            found = _told_apart(graph, a, h)
            if name == "exact":
                truth = found
            head = {"graph": cell["graph"], "nodes": graph.n_nodes, "edges": graph.n_edges, "way": name}
            times = {"value_seconds": seconds, "gradient_seconds": slope_seconds}
            rows.append({**head, "repeat": repeat, "value": value, "rank": _rank(truth, found), **times})
    return rows


def _timed(run: Callable[[], Any], least: int = 1) -> tuple[Any, float]:
    """What it returns, and the shortest CPU time of some runs, at least so many."""
    times: list[float] = []
    result: Any = None
    while len(times) < least or (len(times) < 5 and sum(times) < 0.06):
        start = time.process_time()
        result = run()
        times.append(time.process_time() - start)
    return result, min(times)


def _told_apart(graph: Graph, a: FloatArray, h: FloatArray) -> FloatArray:
    """The gradient, with what rounding alone tells apart made equal: a symmetric graph has many equal slopes."""
    scale = np.abs(h).max()
    return graph.weights * np.round(slope(a, h) / scale, _DIGITS)


def _rank(truth: FloatArray, other: FloatArray) -> float:
    """Spearman's correlation; NaN where either is constant."""
    if np.ptp(truth) == 0 or np.ptp(other) == 0:
        return np.nan
    return float(stats.spearmanr(truth, other)[0])


def _costs(sizes: list[int], seed: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n in sizes:
        graph = build(f"BA {n} 10", seed)
        a = graph.weights / (2 * graph.weights.sum())
        for name in ("degree", "local", "finger_degree", "finger"):
            seconds = _timed(lambda g=graph, a=a, w=WAYS[name]: w.run(g, a, generator(0), False), 4)[1]
            rows.append({"nodes": n, "edges": graph.n_edges, "way": name, "value_seconds": seconds})
    return rows


_SHOWN = [*(name for name in WAYS if name not in ("exact", "quadratic")), "exact"]


def draw(frames: Frames) -> list[Picture]:
    """Errors and rank correlations by graph; times by size, and errors by time."""
    table = frames["values"]
    return [_accuracy(table), _times(table, frames["cost"])]


def _accuracy(table: Any) -> Picture:
    errors, _ = errors_of(table)
    figure, axes = panels(1, 2, height=0.9 + 0.155 * len(errors), sharey=True)
    places = np.arange(len(errors))[::-1]
    for i, name in enumerate(_SHOWN[:-1]):
        off = np.maximum(errors[name], 1e-6)
        axes[0, 0].plot(off, places, label=WAYS[name].label, **_dots(i))
        axes[0, 1].plot(np.maximum(1 - ranks_of(table).loc[errors.index, name], 1e-5), places, **_dots(i))
    axes[0, 0].set_yticks(places, [str(name).replace(" weighted", ", weighted") for name in errors.index])
    axes[0, 0].set(xscale="log", xlabel="error of the entropy (nats)")
    axes[0, 1].set(xscale="log", xlabel="1 − rank correlation of the gradient")
    for ax in axes[0]:
        ax.grid(axis="y", color="0.9", linewidth=0.5)
        ax.set_axisbelow(True)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return Picture(
        "entropies",
        figure,
        "Left: root mean square error of each approximation of the von Neumann entropy over its repeats. Right: one "
        "less the Spearman correlation of its gradient in the edges with the exact one, mean over the repeats (those "
        "below 10⁻⁵ stand there; an order at random has about one); none where one of the two is the same on all "
        "edges. Random families: nodes and mean degree (grid: rows and columns).",
    )


def _dots(i: int) -> dict[str, Any]:
    """The i-th marker, hollow from the eighth on."""
    return look(i) | {"linestyle": "none", "alpha": 0.85} | ({"markerfacecolor": "none"} if i >= 7 else {})


def _times(table: Any, cost: Any) -> Picture:
    figure, axes = panels(1, 2, height=2.4)
    errors, _ = errors_of(table)
    for i, name in enumerate(_SHOWN):
        both = [
            part[part["way"] == name][["graph", "edges", "value_seconds"]] for part in (table, cost.assign(graph=""))
        ]
        _points(axes[0, 0], both, i, WAYS[name].label)
        seconds = table[table["way"] == name].groupby("graph")["value_seconds"].median()
        off = errors.loc[seconds.index, name]
        if name != "exact":
            axes[0, 1].plot(seconds, np.maximum(off, 1e-6), **_dots(i))
    axes[0, 0].set(xscale="log", yscale="log", xlabel="edges", ylabel="CPU time (s)")
    axes[0, 1].set(xscale="log", yscale="log", xlabel="CPU time (s)", ylabel="error of the entropy (nats)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return Picture(
        "entropies-cost",
        figure,
        "CPU time of one value of the entropy on one thread, by the number of edges (left), and the error that it "
        "leaves (right); each mark is a graph.",
    )


def _points(ax: Axes, tables: list[Any], i: int, label: str) -> None:
    for number, rows in enumerate(tables):
        middle = rows.groupby(["graph", "edges"])["value_seconds"].median().reset_index()
        ax.plot(middle["edges"], middle["value_seconds"].clip(1e-6), label="" if number else label, **_dots(i))


STUDIES = (
    Study(
        name="entropies",
        title="Approximations of the entropy: error, cost, and the edges they prefer",
        source="§3.4 and the approximations it cites",
        about=(
            "The exact entropy against that of the degrees, this library's local and stochastic ones, FINGER, "
            "randomised Taylor and Chebyshev traces and plain Lanczos quadrature: on the paper's graphs, random "
            "families and real graphs, the error of the value, the rank correlation of the gradient, and CPU time."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
    ),
)
