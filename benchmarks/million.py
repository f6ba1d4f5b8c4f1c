"""One sparsification of a large graph, alone in its process so that peak memory is its own; prints JSON."""

from __future__ import annotations

import argparse
import json
import resource
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
from clock import timed
from graphpri import datasets
from graphpri.budget import count_edges
from graphpri.graph import BoolArray, Graph
from graphpri.objective import Objective

BETA, KEEP = 4.0, 0.3


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    # ru_maxrss would count the parent process, whose memory a child shares until it starts a program of its own.
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def by_pri(graph: Graph, threads: int) -> dict[str, Any]:
    """Graph-PRI with the degree entropy."""
    before = peak_megabytes()
    run = timed(lambda: graphpri.sparsify(graph, keep=KEEP, beta=BETA, entropy="degree"))
    measured = {**run.values, "peak MB": peak_megabytes(), "MB before": before, "status": run.result.status}
    return {"method": "graphpri, degree entropy", **measured, **quality(graph, run.result.mask)}


def by_networkit(graph: Graph, threads: int) -> dict[str, Any]:
    """NetworKit's local degree sparsifier, with the size search that it comes with."""
    import networkit as nk

    if threads:
        nk.setNumberOfThreads(threads)
    other = nk.GraphFromCoo((graph.source.astype(np.uint64), graph.target.astype(np.uint64)), n=graph.n_nodes)
    other.indexEdges()
    before = peak_megabytes()
    sparsifier: Any = nk.sparsification.LocalDegreeSparsifier()
    run = timed(partial(sparsifier.getSparsifiedGraphOfSize, other, KEEP))
    measured = {**run.values, "peak MB": peak_megabytes(), "MB before": before}
    ends = np.sort(np.array(list(run.result.iterEdges()), np.int64), axis=1)
    keys = graph.source.astype(np.int64) * graph.n_nodes + graph.target
    mask = np.isin(keys, ends[:, 0] * graph.n_nodes + ends[:, 1])
    cores = nk.getMaxNumberOfThreads()
    name = f"NetworKit local degree, {cores} thread{'s' * (cores > 1)}"
    return {"method": name, **measured, **quality(graph, mask)}


def quality(graph: Graph, mask: BoolArray) -> dict[str, Any]:
    """Size and J of what was kept, by the degree entropy."""
    terms = Objective(graph, BETA, 0.0, "degree").terms(mask.astype(np.float64))
    sizes = {"nodes": graph.n_nodes, "edges": graph.n_edges, "K": int(mask.sum())}
    return {
        **sizes,
        "K asked": count_edges(KEEP, graph.n_edges),
        "J": terms.objective,
        "S": terms.entropy,
        "D": terms.divergence,
    }


def main() -> None:
    """Run one method on a preferential attachment graph with ten edges a node."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=("pri", "networkit"))
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=0, help="of NetworKit; 0: all")
    args = parser.parse_args()
    graph = datasets.barabasi_albert(args.nodes, 10, seed=0)
    found = (by_pri if args.method == "pri" else by_networkit)(graph, args.threads)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
