"""Which β to take by default: what each keeps of a graph, with a budget and without one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import graphpri
from graphpri.graph import Graph
from graphpri.measures import report
from graphs import largest_component, named

Row = dict[str, Any]

BETAS = (0.5, 1, 2, 4, 8, 16, 32, 64)
KEEPS = (0.2, 0.3, 0.5, 0.8)
FREE_BETAS = (0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
BASIC = ("entropy", "divergence", "objective", "components", "cut_off", "connected_pairs", "weight_share")
LIKENESS = (
    "centralisation",
    "spectral_distance",
    "degree_rank",
    "pagerank_rank",
    "betweenness_rank",
    "stretch",
    "clustering",
    "community_nmi",
    "modularity",
)
MEASURES = BASIC + LIKENESS
SHOWN = ("centralisation", "spectral_distance", "degree_rank", "pagerank_rank", "betweenness_rank", "community_nmi")
EXACT_UP_TO = 1000
COSTLY = {"betweenness_rank", "stretch", "spectral_distance"}
"""Measures that are left out above `EXACT_UP_TO` nodes."""

COLUMNS = (
    *("study", "graph", "nodes", "edges", "weighted", "keep", "connected", "beta", "entropy_by", "effort"),
    *("edges_kept", "cpu_seconds", *MEASURES, "components_original", "entropy_original"),
)


class Case(NamedTuple):
    """A graph with the budgets and the effort that its size allows."""

    name: str
    graph: Graph
    keeps: tuple[float, ...] = KEEPS
    effort: str = "normal"
    free: bool = True


def cases(quick: bool) -> Iterator[Case]:
    """The paper's graphs without weights, as there, then others with theirs."""
    for name in ("karate", "g2") if quick else ("g1", "g2", "karate", "madrid", "polbooks", "jazz"):
        yield Case(name, named(name, weighted=False))
    yield Case("lesmis", named("lesmis"))
    if quick:
        return
    yield Case("celegans", named("celegans"), effort="fast")
    yield Case("netscience (largest component)", largest_component(named("netscience")), effort="fast")
    yield Case("us-airports", named("us-airports"), keeps=(0.3,), effort="fast", free=False)
    yield Case("power-grid", named("power-grid"), keeps=(0.3,), free=False)
    yield Case("ca-grqc", named("ca-grqc"), keeps=(0.3,), free=False)


def rows(quick: bool) -> Iterator[Row]:
    """One row for each graph, budget and β; then one for each graph and β without a budget."""
    for case in cases(quick):
        for keep in case.keeps:
            for beta in BETAS:
                yield _budgeted(case, keep, beta)
        if case.free:
            yield from _free(case)


def _budgeted(case: Case, keep: float, beta: float) -> Row:
    start = time.process_time()
    options: dict[str, Any] = {"effort": case.effort, "entropy": _entropy(case.graph), "time_limit": 60}
    result = graphpri.sparsify(case.graph, keep=keep, beta=beta, **options)
    seconds = time.process_time() - start
    return _row(case, result, study="budget", keep=keep, effort=case.effort, cpu_seconds=seconds)


def _free(case: Case) -> Iterator[Row]:
    start = time.process_time()
    points = graphpri.path(case.graph, beta=FREE_BETAS, entropy=_entropy(case.graph))
    seconds = (time.process_time() - start) / len(points)
    for point in points:
        yield _row(case, point, study="free", keep=None, effort="path", cpu_seconds=seconds)


def _is_small(graph: Graph) -> bool:
    return graph.n_nodes <= EXACT_UP_TO


def _entropy(graph: Graph) -> str:
    return "exact" if _is_small(graph) else "auto"


def _row(case: Case, result: graphpri.Sparsified, **given: Any) -> Row:
    graph, made_with = case.graph, result.settings
    found = report(graph, result, measures=[m for m in MEASURES if _is_small(graph) or m not in COSTLY])
    facts = {"graph": case.name, "nodes": graph.n_nodes, "edges": graph.n_edges, "weighted": graph.is_weighted}
    settings = {key: made_with[key] for key in ("connected", "beta", "entropy_by")}
    return facts | settings | given | dict(found) | {"edges_kept": result.kept.n_edges}


def summary(found: list[Row]) -> list[str]:
    """Lines of Markdown: means over graphs and budgets for each β, and shares kept without a budget."""
    budget = [row for row in found if row["study"] == "budget"]
    free = [row for row in found if row["study"] == "free"]
    lines = ["With a budget, means over all graphs and budgets (median of spectral_distance):", "", *_by_beta(budget)]
    for keep in sorted({row["keep"] for row in budget}):
        lines += ["", f"keep = {keep}:", "", *_by_beta([row for row in budget if row["keep"] == keep])]
    return [*lines, "", "Without a budget, percent of the edges kept:", "", *_shares(free)]


def _by_beta(rows_: list[Row]) -> list[str]:
    header = ["beta", *_figures(rows_[0], rows_)]
    lines = [f"| {' | '.join(header)} |", "|" + " --: |" * len(header)]
    for beta in BETAS:
        of_beta = [_figures(row, rows_) for row in rows_ if row["beta"] == beta]
        # The distance along one direction is infinite where that direction is lost.
        middles = [np.nanmedian if name == "spectral_distance" else np.nanmean for name in header[1:]]
        figures = [middle([f[name] for f in of_beta]) for name, middle in zip(header[1:], middles, strict=True)]
        lines.append(f"| {beta:g} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
    return lines


def _figures(row: Row, rows_: list[Row]) -> dict[str, float]:
    """What the tables show of a row, comparable between graphs."""
    return {
        "S / S(G)": row["entropy"] / row["entropy_original"],
        "D": row["divergence"],
        "D's fall made, %": 100 * _fall(row, rows_),
        "nodes cut off, %": 100 * row["cut_off"] / row["nodes"],
        "connected pairs, %": 100 * row["connected_pairs"],
    } | {name: row.get(name, np.nan) for name in SHOWN}


def _fall(row: Row, rows_: list[Row]) -> float:
    """Share of the fall of D from the smallest to the largest β that is made at the row's β."""
    same = {r["beta"]: r["divergence"] for r in rows_ if (r["graph"], r["keep"]) == (row["graph"], row["keep"])}
    start, end = same[BETAS[0]], same[BETAS[-1]]
    return (start - row["divergence"]) / (start - end) if start > end else 1.0


def _shares(free: list[Row]) -> list[str]:
    lines = [f"| graph | {' | '.join(f'{beta:g}' for beta in FREE_BETAS)} |", "| --- |" + " --: |" * len(FREE_BETAS)]
    for name in dict.fromkeys(row["graph"] for row in free):
        shares = [100 * row["edges_kept"] / row["edges"] for row in free if row["graph"] == name]
        lines.append(f"| {name} | {' | '.join(f'{share:.0f}' for share in shares)} |")
    return lines
