"""Up to how many edges to take the local entropy: its time, and what the degree entropy loses by its measure."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import graphpri
from graphpri.defaults import DEFAULT_BETA
from graphpri.graph import Graph
from graphpri.objective import Objective
from graphs import named, preferential

KEEP = 0.3
NAMES = ("ca-grqc", "condmat1999", "facebook", "ca-condmat", "email-enron", "soc-slashdot")
COLUMNS = (
    *("graph", "nodes", "edges", "weighted", "keep", "beta", "entropy", "effort"),
    *("cpu_seconds", "J_own", "J_local", "degree_above_local_percent", "status"),
)


def cases(quick: bool) -> Iterator[tuple[str, Graph]]:
    """Real graphs by size, then a million edges."""
    for name in NAMES[:1] if quick else NAMES:
        yield name, named(name)
    if not quick:
        yield "preferential", preferential(200_000)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """One row for each graph and entropy."""
    for name, graph in cases(quick):
        judge = Objective(graph, DEFAULT_BETA, 0.0, "local")
        facts = {"graph": name, "nodes": graph.n_nodes, "edges": graph.n_edges, "weighted": graph.is_weighted}
        facts |= {"keep": KEEP, "beta": DEFAULT_BETA, "effort": "normal"}
        best = np.inf
        for entropy in ("local", "degree"):
            start = time.process_time()
            result = graphpri.sparsify(graph, keep=KEEP, entropy=entropy, time_limit=120)
            seconds = time.process_time() - start
            value = judge.value(result.mask.astype(np.float64))
            best = value if entropy == "local" else best
            found = {"J_own": result.objective, "J_local": value, "status": result.status}
            loss = {"degree_above_local_percent": 100 * (value - best) / best}
            yield facts | {"entropy": entropy, "cpu_seconds": seconds} | found | loss


def summary(found: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown: time of both entropies and the loss of the cheaper one for each graph."""
    lines = ["| graph | edges | local: s | degree: s | degree: % above local |", "| --- | --: | --: | --: | --: |"]
    for local, degree in zip(found[::2], found[1::2], strict=True):
        times = f"{local['cpu_seconds']:.2f} | {degree['cpu_seconds']:.2f}"
        lines.append(f"| {local['graph']} | {local['edges']} | {times} | {degree['degree_above_local_percent']:.3f} |")
    return lines
