"""Real graphs with default settings, weighted ones with and without their weights."""

from __future__ import annotations

from functools import partial
from typing import Any

import graphpri
from alone import alone, answer, peak, peak_from_here
from clock import REPEATS, alternated, load, timed
from graphpri import datasets
from outcome import Cell, Outcome
from quality import Say

KEEP, BETA = 0.3, 4.0
FOLDERS = ("graphs_small/", "graphs_large/")
QUICK = ("lesmis", "ca-grqc")


def names() -> list[str]:
    """Data sets of the two folders, by size."""
    found = [datasets.info(name) for name in datasets.names()]
    inside = [data for data in found if data.files and data.files[0][0].startswith(FOLDERS)]
    return [data.name for data in sorted(inside, key=lambda data: data.n_edges)]


def real_graphs(quick: bool, say: Say) -> Outcome:
    """Time, memory, J, S and D with error bars, and what stays connected, for every real graph."""
    outcome = Outcome()
    for name in QUICK if quick else names():
        for weighted in (False, True) if datasets.info(name).weights else (False,):
            found = alone(__file__, "one", name=name, weighted=weighted)
            if "missing" in found:
                outcome.notes.append(found["missing"])
                continue
            case = f"{name}, weighted" if weighted else name
            outcome.cells.append(Cell(case, found.pop("nodes"), found.pop("edges"), found))
            say(f"{case}: {found['s']:.2f} s by {found['entropy']}, J = {found['J shown']}")
    if not outcome.cells:
        return Outcome(skipped="; ".join(outcome.notes) or "no data sets")
    outcome.notes.append(
        f"sparsify(keep={KEEP}, beta={BETA:g}), otherwise defaults; medians of {REPEATS} after a first call, each in a "
        "process of its own, memory beyond the graph. J, S and D are those of the exact "
        "entropy: estimate() gives them with their standard errors, or exactly where components are small."
    )
    return outcome


def one(name: str, weighted: bool) -> dict[str, Any]:
    """One graph."""
    reading = timed(lambda: graphpri.as_graph(datasets.load(name), weight="weight" if weighted else None))
    graph = reading.result
    graphpri.sparsify(datasets.barabasi_albert(2000, 5, seed=0), keep=KEEP)
    peak_from_here()
    before = peak()
    run = alternated({"": lambda: graphpri.sparsify(graph, keep=KEEP, beta=BETA)})[""]
    most, result = peak() - before, run.result
    estimating = timed(partial(graphpri.estimate, graph, result, beta=BETA))
    made = estimating.result
    found: dict[str, Any] = {"nodes": graph.n_nodes, "edges": graph.n_edges, "read s": reading.wall}
    found |= {"s": run.wall, "CPU s": run.cpu, "first s": run.first, "MB": most / 1e6, "estimate s": estimating.wall}
    values = {"J": made.objective, "S": made.entropy, "D": made.divergence, "S original": made.entropy_original}
    for short, value in values.items():
        found |= {short: value.value, f"{short} error": value.error, f"{short} shown": str(value)}
    said = result.report()
    found |= {"K": said["edges_kept"], "components": said["components"], "components kept": said["components_kept"]}
    found |= {"cut off": said["nodes_cut_off"], "entropy": said["entropy_by"], "status": said["status"]}
    return found | {"load": load()}


if __name__ == "__main__":
    answer({"one": one})
