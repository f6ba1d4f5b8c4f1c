"""Every method against every kind of property: which one, and which β, for which purpose."""

from __future__ import annotations

from itertools import product
from typing import Any

from graphpri.budget import count_edges
from graphpri.compare import compare
from graphpri.graph import Graph
from graphpri.measures import MEASURES
from graphpri.sparsify import methods, path
from graphpri.studies.graphs import load
from graphpri.studies.landscape_picture import draw
from graphpri.studies.landscape_ranks import BESIDE, PURPOSES, derive
from graphpri.studies.landscape_verdicts import judge
from graphpri.studies.study import Cell, Study, Tables, generator

Ways = list[tuple[str, dict[str, Any]]]
"""Methods with their options."""

BETAS = (0.5, 1, 2, 4, 8, 16, 50)
_MOST = (0.2, 0.4, 0.6, 0.8)
_GRAPHS: dict[str, tuple[tuple[float, ...], int, bool]] = {
    "us-airports": ((0.2, 0.4, 0.8), 1, True),
    "as-caida": ((0.6,), 1, False),
    "ca-grqc": ((0.6,), 1, False),
    "facebook": ((0.6,), 1, False),
    "celegans": ((0.2, 0.4, 0.8), 1, True),
    "polblogs": ((0.4, 0.8), 1, False),
    "power-grid": ((0.4, 0.8), 1, False),
    "netscience": ((0.4, 0.8), 1, True),
    "jazz": (_MOST, 3, False),
    "polbooks": (_MOST, 3, False),
    "lesmis": (_MOST, 3, True),
    "madrid": (_MOST, 3, True),
    "karate": (_MOST, 3, False),
}
"""Keep ratios, seeds and whether weights are read; those that take longest first."""
_EIGENVALUES = 20_000
"""Edges up to which the ten lowest eigenvalues are computed; they take seconds for each subgraph above."""
_FREE = ("celegans", "jazz", "polbooks", "lesmis", "madrid", "karate")
"""Graphs on which β is tried without a budget too."""
_QUICK = ("random", "local-degree", "effective-resistance")


def cells(quick: bool) -> list[Cell]:
    """One for each graph, keep ratio, and whether components are held together; and one a graph without a budget."""
    names, betas = [name for name in methods() if name != "pri"], list(BETAS)
    if quick:
        common = {"keep": 0.6, "seeds": 1, "methods": list(_QUICK), "betas": [1, 4, 50]}
        both = product((("lesmis", True), ("karate", False)), (False, True))
        shown = [{"graph": name, "weighted": w, "connected": joined, **common} for (name, w), joined in both]
        return [*shown, {"graph": "karate", "weighted": False, "free": common["betas"]}]
    free = [{"graph": g, "weighted": _GRAPHS[g][2], "free": betas} for g in _FREE]
    return free + [
        {"graph": g, "weighted": w, "keep": keep, "connected": c, "seeds": seeds, "methods": names, "betas": betas}
        for g, (keeps, seeds, w) in _GRAPHS.items()
        for keep, c in product(keeps, (False, True))
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Sparsify a graph by all methods, and measure; nothing where the budget is too small for connectivity."""
    graph = load(cell["graph"], weighted=cell["weighted"])
    if "free" in cell:
        return {"free": _free(graph, cell)}
    needed = graph.n_nodes - graph.components()[0]
    if cell["connected"] and count_edges(cell["keep"], graph.n_edges) < needed:
        return {"landscape": []}
    seeds = generator(seed, "landscape", cell["graph"], cell["keep"]).integers(2**31, size=cell["seeds"]).tolist()
    ours = [("pri", {"beta": beta, "effort": "fast"}) for beta in cell["betas"]]
    rows = _compared(graph, cell, [(name, {}) for name in cell["methods"]], seeds)
    return {"landscape": rows + _compared(graph, cell, ours, seeds[:1])}


def _free(graph: Graph, cell: Cell) -> list[dict[str, Any]]:
    """How many edges each β keeps where nothing else says how many."""
    points = path(graph, beta=cell["free"])
    head = {"graph": cell["graph"], "edges": graph.n_edges}
    return [head | {"beta": point.settings["beta"], "K": point.kept.n_edges} for point in points]


def _compared(graph: Graph, cell: Cell, ways: Ways, seeds: list[int]) -> list[dict[str, Any]]:
    found = compare(
        graph, ways, cell["keep"], seeds=seeds, connected=cell["connected"], measures=_measures(graph), weight="weight"
    )
    head = {"graph": cell["graph"], "nodes": graph.n_nodes, "edges": graph.n_edges, "weighted": cell["weighted"]}
    original = {f"{name}_original": value for name, value in found.original.items()}
    named = [way for way in ways for _ in seeds]
    return [
        head
        | {"keep": cell["keep"], "connected": cell["connected"], "method": name, "beta": options.get("beta")}
        | {"seed": row["seed"], "K": row["K"]}
        | {measure: row[measure] for measure in found.measures}
        | original
        for (name, options), row in zip(named, found, strict=True)
    ]


def _measures(graph: Graph) -> list[str]:
    """Measures of all purposes that are affordable on this graph."""
    wanted = [name for kinds in PURPOSES.values() for name in kinds if name in MEASURES]
    wanted += BESIDE
    large = graph.n_edges > _EIGENVALUES
    return [name for name in wanted if MEASURES[name].affordable(graph) and not (large and name == "eigenvalue_error")]


STUDIES = (
    Study(
        name="landscape",
        title="Which method, which β, for which purpose",
        source="beyond the paper",
        about=(
            "Every method of this library, and Graph-PRI at seven β, with and without connectivity, at several keep "
            "ratios of real graphs: how well each keeps degrees, connectivity, distances, clustering, communities, "
            "centralities, spectrum, flows and information. A rank is the share of the other methods and settings that "
            "do better, in percent, averaged over measures, keep ratios and graphs: 0 is the best of all. Connected "
            "settings are averaged over the budgets that allow them; betweenness and the lowest eigenvalues are left "
            "out on the largest graphs."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
        needs=tuple(name for name in _GRAPHS if name not in ("karate", "lesmis")),
        needs_quick=(),
        derive=derive,
    ),
)
