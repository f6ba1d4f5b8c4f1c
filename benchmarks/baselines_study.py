"""Baselines on large graphs: exact-K selections against NetworKit's, resistances, generators.

    python benchmarks/baselines_study.py [--quick] [--out FOLDER]

The functions of the table `ROWS` have the form of the rows of `run.py`. Each measurement is made in a process of its
own, so that peak memory is its own; `python baselines_study.py --one '<JSON>'` makes one and prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
from clock import Timed, load, timed
from graphpri import datasets, laplacian
from graphpri.baselines import METHODS, run
from graphpri.errors import FileError
from graphpri.graph import Graph
from graphpri.spectral import leverages
from million import peak_megabytes
from outcome import Cell, Check, Outcome, environment, write_csv, write_markdown
from quality import Say

RIVALS = {
    "local-degree": "LocalDegreeSparsifier",
    "local-similarity": "LocalSimilaritySparsifier",
    "random": "RandomEdgeSparsifier",
}
KEEP, REPEATS, GOAL = 0.3, 5, 1.1
LARGE = [["ba", 100_000, 10], ["ba", 1_000_000, 10], ["grid", 1000, 0], ["cube", 40, 0]]


def baselines(quick: bool, say: Say) -> Outcome:
    """Local degree, local similarity and random with exact K, against NetworKit's sparsifiers."""
    outcome = Outcome(notes=["Medians of the CPU times; conversions apart. NetworKit's K is what its search ends at."])
    ba = ["ba", 10_000 if quick else 100_000, 10]
    for graph in (ba, ["data", "soc-slashdot"]):
        for name in RIVALS:
            for threads in (1, 2):
                job = {"task": "baseline", "graph": graph, "method": name, "threads": threads}
                found = _measured(job, threads)
                if "missing" in found:
                    outcome.notes.append(found["missing"])
                    continue
                outcome.cells.append(
                    _cell(f"{name}, {found.pop('name')}, {threads} thread{'s' * (threads > 1)}", found)
                )
                values = outcome.cells[-1].values
                for measure in ("core CPU s", "sparsify CPU s"):
                    ratio = float(values[measure]) / float(values["NetworKit CPU s"])
                    what = f"{outcome.cells[-1].case}: {measure.removesuffix(' CPU s')} / NetworKit, CPU"
                    judged = graph == ba and measure.startswith("sparsify") and not quick
                    outcome.checks.append(Check(what, ratio, GOAL, "", judged))
                    say(f"{what} = {ratio:.3f}")
    return outcome


def resistances(quick: bool, say: Say) -> Outcome:
    """Sketched effective resistances: time, memory, and the law Σ μR = N − components."""
    outcome = Outcome(notes=["64 probes, GRAPHPRI_THREADS unset. The law's error is of the sum, in percent."])
    small = [["ba", 10_000, 10], ["grid", 100, 0], ["cube", 25, 0]]
    for graph in small if quick else LARGE:
        for cholesky in (True, False) if graph[0] == "cube" else (True,):
            found = _measured({"task": "resistance", "graph": graph, "cholesky": cholesky})
            case = found.pop("name") + ("" if cholesky else ", without approx-chol")
            outcome.cells.append(_cell(case, found))
            outcome.checks.append(Check(f"law Σ μR, {case}", abs(found["law error %"]), 1.0, "%", not quick))
            memory, law = found["bytes an edge"], found["law error %"]
            say(f"{case}: {found['seconds']:.1f} s, {memory:.0f} bytes an edge, law {law:+.3f} %")
    return outcome


def generators(quick: bool, say: Say) -> Outcome:
    """Preferential attachment and uniform random graphs: time and peak memory."""
    outcome = Outcome(notes=["The peak is that of the process less what it had after the libraries were loaded."])
    for kind in ("ba", "er"):
        for nodes in (100_000,) if quick else (100_000, 1_000_000, 10_000_000):
            found = _measured({"task": "generator", "graph": [kind, nodes, 10]})
            case = found.pop("name")
            outcome.cells.append(_cell(case, found))
            say(f"{case}: {found['seconds']:.1f} s, {found['bytes an edge']:.1f} bytes an edge")
            if nodes >= 1_000_000:
                limit = 5.0 if nodes == 1_000_000 else 60.0
                outcome.checks.append(Check(f"{case}, CPU", found["CPU seconds"], limit, "s"))
                outcome.checks.append(Check(f"{case}, peak", found["bytes an edge"], 40.0, "bytes an edge"))
    return outcome


ROWS = {"baselines": baselines, "resistances": resistances, "generators": generators}


def _measured(job: dict[str, Any], threads: int | None = None) -> dict[str, Any]:
    limits = {} if threads is None else {"GRAPHPRI_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, __file__, "--one", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | limits)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _cell(case: str, found: dict[str, Any]) -> Cell:
    return Cell(case, found.pop("nodes"), found.pop("edges"), found)


def make(kind: str, *size: Any) -> Graph:
    """A graph of a job."""
    if kind == "ba":
        return datasets.barabasi_albert(*size, seed=0)
    if kind == "er":
        return datasets.erdos_renyi(size[0], 2 * size[1], seed=0)
    if kind == "data":
        return graphpri.as_graph(datasets.load(size[0]), weight=None)
    side = size[0]
    ids = np.arange(side ** (2 if kind == "grid" else 3)).reshape(-1, *(side,) * (1 if kind == "grid" else 2))
    steps = [(np.delete(ids, -1, axis), np.delete(ids, 0, axis)) for axis in range(ids.ndim)]
    u, v = (np.concatenate([ends.ravel() for ends in side]) for side in zip(*steps, strict=True))
    return Graph.from_edges(u, v)


def one(job: dict[str, Any]) -> dict[str, Any]:
    """One measurement."""
    try:
        found = {"baseline": baseline, "resistance": resistance, "generator": generator}[job["task"]](job)
    except FileError as error:
        return {"missing": str(error)}
    kind, size = job["graph"][0], ", ".join(str(value) for value in job["graph"][1:])
    return {"name": f"{kind} {size}"} | found


def baseline(job: dict[str, Any]) -> dict[str, Any]:
    """Both libraries, alternating."""
    import networkit as nk

    nk.setNumberOfThreads(job["threads"])
    graph, name = make(*job["graph"]), job["method"]
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    convert = timed(lambda: nk.GraphFromCoo(ends, n=graph.n_nodes, edgesIndexed=True))
    k = round(KEEP * graph.n_edges)
    rival: Any = getattr(nk.sparsification, RIVALS[name])()
    calls = {
        "core": lambda: run(graph, name, k, np.random.default_rng(0))[0].sum(),
        "sparsify": lambda: graphpri.sparsify(graph, keep=KEEP, method=name, seed=0).mask.sum(),
        "NetworKit": lambda: rival.getSparsifiedGraphOfSize(convert.result, KEEP).numberOfEdges(),
    }
    runs: dict[str, list[Timed[Any]]] = {what: [] for what in calls}
    for _ in range(REPEATS + 1):  # the first compiles, or loads what was compiled
        for what, call in calls.items():
            runs[what].append(timed(call))
    found: dict[str, Any] = {"nodes": graph.n_nodes, "edges": graph.n_edges}
    for what, done in runs.items():
        found[f"{what} K"] = int(done[-1].result)
        found[f"{what} CPU s"] = float(np.median([call.cpu for call in done[1:]]))
        found[f"{what} s"] = float(np.median([call.wall for call in done[1:]]))
    return found | {"first call s": runs["core"][0].wall, "NetworKit conversion s": convert.wall, "load": load()}


def resistance(job: dict[str, Any]) -> dict[str, Any]:
    """Leverages of all edges by the sketch."""
    if not job["cholesky"]:
        laplacian.find_spec = lambda name: None
    leverages(datasets.barabasi_albert(30_000, 10, seed=0), n_probes=2, rng=0)
    graph = make(*job["graph"])
    before = peak_megabytes()
    call = timed(partial(leverages, graph, method="sketch", rng=0))
    law = graph.n_nodes - graph.components()[0]
    memory = (peak_megabytes() - before) * 1e6 / graph.n_edges
    error = 100 * (float(call.result.sum()) / law - 1)
    sizes = {"nodes": graph.n_nodes, "edges": graph.n_edges}
    return sizes | call.values | {"bytes an edge": memory, "law error %": error, "load": load()}


def generator(job: dict[str, Any]) -> dict[str, Any]:
    """A generator."""
    make(job["graph"][0], 30_000, 10)
    before = peak_megabytes()
    call = timed(partial(make, *job["graph"]))
    graph = call.result
    memory = (peak_megabytes() - before) * 1e6 / graph.n_edges
    return {"nodes": graph.n_nodes, "edges": graph.n_edges} | call.values | {"bytes an edge": memory, "load": load()}


def main() -> None:
    """Run the rows, or one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--only", action="append", choices=list(ROWS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("out/baselines"))
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one)))
        return
    assert METHODS.keys() >= RIVALS.keys()
    found: dict[str, Outcome] = {}
    args.out.mkdir(parents=True, exist_ok=True)
    for name, row in ROWS.items():
        if not args.only or name in args.only:
            start = time.perf_counter()
            found[name] = row(args.quick, lambda line: print(f"  {line}", flush=True))
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    facts = environment() | {"load": f"{load():.1f}", "quick": str(args.quick)}
    write_markdown(args.out / "baselines.md", facts, found)
    write_csv(args.out / "baselines.csv", facts, found)


if __name__ == "__main__":
    main()
