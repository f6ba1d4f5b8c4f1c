"""Which entropy to take at which size: time of each, and J by the exact entropy of what it keeps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphpri
from graphpri._objective import Objective
from graphpri.graph import Graph
from graphpri.solvers.budgeted import EffortName
from graphs import FAMILIES, largest_component, named

KEEP, BETA = 0.3, 4.0
TIME_LIMIT = 120.0
COLUMNS = (
    *("graph", "nodes", "edges", "largest_component", "weighted", "keep", "beta", "entropy", "effort"),
    *("cpu_seconds", "J_own", "J_exact", "above_best_percent", "status"),
)


class Case(NamedTuple):
    """A graph, whether the exact entropy is searched with, and at which efforts."""

    name: str
    graph: Graph
    exact: bool = True
    efforts: tuple[EffortName, ...] = ("fast", "normal")


def cases(quick: bool) -> Iterator[Case]:
    """Random families by size, then real graphs by size."""
    for n in (100,) if quick else (100, 200, 300, 500, 700, 1000, 2000, 5000):
        for name, family in FAMILIES.items():
            if n == 5000 and name != "preferential":
                continue
            yield Case(name, family(n), n < 5000, ("fast", "normal") if n < 5000 else ("normal",))
    yield Case("jazz", named("jazz"))
    if quick:
        return
    yield Case("celegans", named("celegans"))
    yield Case("netscience", named("netscience"))
    yield Case("us-airports", named("us-airports"))
    yield Case("polblogs (largest component)", largest_component(named("polblogs")))
    yield Case("ca-grqc (largest component)", largest_component(named("ca-grqc")), False, ("normal",))
    yield Case("power-grid", named("power-grid"), False, ("normal",))


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """One row for each graph, entropy and effort."""
    for case in cases(quick):
        found = list(_solved(case))
        values = _exact_values(case.graph, [mask for _, mask in found])
        best = min(values)
        for (row, _), value in zip(found, values, strict=True):
            yield row | {"J_exact": value, "above_best_percent": 100 * (value - best) / best}


def _solved(case: Case) -> Iterator[tuple[dict[str, Any], NDArray[np.bool_]]]:
    graph = case.graph
    facts = {"graph": case.name, "nodes": graph.n_nodes, "edges": graph.n_edges, "weighted": graph.is_weighted}
    facts |= {"largest_component": int(np.bincount(graph.components()[1]).max()), "keep": KEEP, "beta": BETA}
    for entropy in ("degree", "local", "exact") if case.exact else ("degree", "local"):
        for effort in case.efforts:
            start = time.process_time()
            result = graphpri.sparsify(
                graph, keep=KEEP, beta=BETA, entropy=entropy, effort=effort, time_limit=TIME_LIMIT
            )
            seconds = time.process_time() - start
            spent = {"entropy": entropy, "effort": effort, "cpu_seconds": seconds}
            yield facts | spent | {"J_own": result.objective, "status": result.status}, result.mask


def _exact_values(graph: Graph, masks: list[NDArray[np.bool_]]) -> list[float]:
    """J by the exact entropy; equal masks are evaluated once."""
    objective = Objective(graph, BETA, 0.0, "exact")
    values = {mask.tobytes(): objective.value(mask.astype(np.float64)) for mask in masks}
    return [values[mask.tobytes()] for mask in masks]


def summary(found: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown: time and loss of each entropy and effort for each graph."""
    kinds = [(entropy, effort) for entropy in ("exact", "local", "degree") for effort in ("fast", "normal")]
    header = ["graph", "nodes", "edges", *(f"{entropy} {effort}: s" for entropy, effort in kinds)]
    header += [f"{entropy} {effort}: % above" for entropy, effort in kinds]
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    for name, nodes in dict.fromkeys((row["graph"], row["nodes"]) for row in found):
        of_graph = [row for row in found if (row["graph"], row["nodes"]) == (name, nodes)]
        cells = {(row["entropy"], row["effort"]): row for row in of_graph}
        figures = [f"{cells[kind]['cpu_seconds']:.2f}" if kind in cells else "" for kind in kinds]
        figures += [f"{cells[kind]['above_best_percent']:.3f}" if kind in cells else "" for kind in kinds]
        lines.append(f"| {' | '.join([name, str(nodes), str(of_graph[0]['edges']), *figures])} |")
    return lines
