"""Baselines on large graphs: exact-K selections against NetworKit's, resistances, generators, backbones."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import graphpri
from alone import alone, answer, peak, peak_from_here
from clock import alternated, cores, load, timed
from graphpri import _laplacian, datasets
from graphpri._laplacian import leverages
from graphpri._runtime import workers
from graphpri.baselines import METHODS, run
from graphpri.graph import Graph
from outcome import Cell, Check, Outcome
from quality import Say

IN_NETWORKIT = {
    "local-degree": "LocalDegreeSparsifier",
    "local-similarity": "LocalSimilaritySparsifier",
    "random": "RandomEdgeSparsifier",
}
KEEP, GOAL = 0.3, 1.1
LARGE = [["ba", 100_000, 10], ["ba", 1_000_000, 10], ["grid", 1000, 0], ["cube", 40, 0]]


def baselines(quick: bool, say: Say) -> Outcome:
    """Local degree, local similarity and random with exact K, against NetworKit's sparsifiers."""
    outcome = Outcome(notes=["Medians of the CPU times; conversions apart. NetworKit's K is what its search ends at."])
    ba = ["ba", 10_000 if quick else 100_000, 10]
    for graph in (ba, ["data", "soc-slashdot"]):
        for name in IN_NETWORKIT:
            for threads in sorted({1, cores()}):
                found = alone(__file__, "baseline", threads=threads, graph=graph, method=name)
                if "missing" in found:
                    outcome.notes.append(found["missing"])
                    continue
                cell = _cell(f"{name}, {_name(graph)}, {threads} thread{'s' * (threads > 1)}", found)
                outcome.cells.append(cell)
                outcome.checks += _ratios(cell, judged=graph == ba and not quick)
                say(", ".join(f"{check.what} = {check.measured:.3f}" for check in outcome.checks[-2:]))
    return outcome


def _ratios(cell: Cell, judged: bool) -> list[Check]:
    values, theirs = cell.values, float(cell.values["NetworKit CPU s"])
    return [
        Check(f"{cell.case}: {what} / NetworKit, CPU", float(values[f"{what} CPU s"]) / theirs, GOAL, "", is_goal)
        for what, is_goal in (("core", False), ("sparsify", judged))
    ]


def resistances(quick: bool, say: Say) -> Outcome:
    """Sketched effective resistances: time, memory, and the law Σ μR = N − components."""
    outcome = Outcome(notes=["64 probes, GRAPHPRI_THREADS unset. The law's error is of the sum, in percent."])
    small = [["ba", 10_000, 10], ["grid", 100, 0], ["cube", 25, 0]]
    for graph in small if quick else LARGE:
        for cholesky in (True, False) if graph[0] == "cube" else (True,):
            found = alone(__file__, "resistance", graph=graph, cholesky=cholesky)
            case = _name(graph) + ("" if cholesky else ", without approx-chol")
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
            found, case = alone(__file__, "generator", graph=[kind, nodes, 10]), _name([kind, nodes, 10])
            outcome.cells.append(_cell(case, found))
            say(f"{case}: {found['seconds']:.1f} s, {found['bytes an edge']:.1f} bytes an edge")
            if nodes >= 1_000_000:
                limit = 5.0 if nodes == 1_000_000 else 60.0
                outcome.checks.append(Check(f"{case}, CPU", found["CPU seconds"], limit, "s"))
                outcome.checks.append(Check(f"{case}, peak", found["bytes an edge"], 40.0, "bytes an edge"))
    return outcome


def _name(graph: list[Any]) -> str:
    return f"{graph[0]} {', '.join(str(value) for value in graph[1:])}"


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


def baseline(graph: list[Any], method: str) -> dict[str, Any]:
    """Both libraries, alternating."""
    import networkit as nk

    nk.setNumberOfThreads(workers())
    made = make(*graph)
    ends = made.source.astype(np.uint64), made.target.astype(np.uint64)
    convert = timed(lambda: nk.GraphFromCoo(ends, n=made.n_nodes, edgesIndexed=True))
    k = round(KEEP * made.n_edges)
    theirs: Any = getattr(nk.sparsification, IN_NETWORKIT[method])()
    done = alternated(
        {
            "core": lambda: run(made, method, k, np.random.default_rng(0))[0].sum(),
            "sparsify": lambda: graphpri.sparsify(made, keep=KEEP, method=method, seed=0).mask.sum(),
            "NetworKit": lambda: theirs.getSparsifiedGraphOfSize(convert.result, KEEP).numberOfEdges(),
        }
    )
    found: dict[str, Any] = {"nodes": made.n_nodes, "edges": made.n_edges}
    for what, series in done.items():
        found |= {f"{what} K": int(series.result), f"{what} CPU s": series.cpu, f"{what} s": series.wall}
    return found | {"first call s": done["core"].first, "NetworKit conversion s": convert.wall, "load": load()}


def resistance(graph: list[Any], cholesky: bool) -> dict[str, Any]:
    """Leverages of all edges by the sketch."""
    if not cholesky:
        _laplacian.find_spec = lambda name: None
    leverages(datasets.barabasi_albert(30_000, 10, seed=0), n_probes=2, rng=0)
    made = make(*graph)
    peak_from_here()
    before = peak()
    call = timed(partial(leverages, made, method="sketch", rng=0))
    memory = (peak() - before) / made.n_edges
    law = made.n_nodes - made.components()[0]
    error = 100 * (float(call.result.sum()) / law - 1)
    sizes = {"nodes": made.n_nodes, "edges": made.n_edges}
    return sizes | call.values | {"bytes an edge": memory, "law error %": error, "load": load()}


def generator(graph: list[Any]) -> dict[str, Any]:
    """A generator."""
    make(graph[0], 30_000, 10)
    before = peak()
    call = timed(partial(make, *graph))
    made = call.result
    memory = (peak() - before) / made.n_edges
    return {"nodes": made.n_nodes, "edges": made.n_edges} | call.values | {"bytes an edge": memory, "load": load()}


BACKBONES = {
    "disparity": "disparity",
    "noise-corrected": "noise_corrected",
    "marginal-likelihood": "marginal_likelihood",
    "ultrametric": "ultrametric_distance_backbone",
    "metric": "metric_distance_backbone",
    "high-salience": "high_salience_skeleton",
}
PER_ROOT = {"ultrametric", "metric", "high-salience"}


def backbones(quick: bool, say: Say) -> Outcome:
    """Scores of backbones at 10⁵ edges, against cppbone's: CPU time, and how far they differ."""
    outcome = Outcome(notes=["CPU times of the score alone; weights are whole numbers, drawn from 1 to 1000."])
    small, large = ["ba", 2000, 5], ["ba", 20_000, 5]
    for name in BACKBONES:
        # Those that search from every node: fewer nodes, and as many edges.
        for graph in [small] if quick else [small, ["ba", 4000, 25] if name in PER_ROOT else large]:
            found = alone(__file__, "backbone", graph=graph, method=name)
            if "missing" in found:
                outcome.notes.append(found["missing"])
                return outcome
            case, ratio = f"{name}, {_name(graph)}", found["CPU s"] / found["cppbone CPU s"]
            is_large, line = found["edges"] > 90_000, f"{found['CPU s']:.3f} s, cppbone {found['cppbone CPU s']:.3f} s"
            outcome.cells.append(_cell(case, found))
            outcome.checks.append(Check(f"{case}: CPU / cppbone's", ratio, 2.0, "", is_large))
            say(f"{case}: {line}")
    return outcome


def backbone(graph: list[Any], method: str) -> dict[str, Any]:
    """One score by both libraries, once each."""
    try:
        import netbone_cpp
    except ImportError:
        return {"missing": "cppbone is not installed: pip install 'graphpri[bench]'"}
    made = make(*graph)
    weights = np.random.default_rng(0).integers(1, 1001, made.n_edges).astype(float)
    made = Graph(made.n_nodes, made.source, made.target, weights)
    theirs: Any = netbone_cpp.Graph()
    for u, v, w in zip(made.source.tolist(), made.target.tolist(), weights.tolist(), strict=True):
        theirs.add_edge(str(u), str(v), {"weight": w})
    rng = np.random.default_rng(0)
    run(make("ba", 20, 2), method, 2, rng)  # what is loaded at the first call
    begun = time.process_time()
    scores = METHODS[method].score(made, 1, rng).scores
    done = time.process_time()
    found = getattr(netbone_cpp, BACKBONES[method])(theirs)
    spent = time.process_time() - done
    return {"nodes": made.n_nodes, "edges": made.n_edges, "CPU s": done - begun, "cppbone CPU s": spent} | _difference(
        made, method, scores, found.to_dataframe()
    )


def _difference(graph: Graph, method: str, scores: Any, theirs: Any) -> dict[str, float]:
    """Edges whose membership differs, or the largest difference of scores or p-values."""
    column = {"metric": "in_backbone", "ultrametric": "in_backbone", "high-salience": "salience"}.get(method, "p_value")
    place = {
        frozenset(map(int, ends)): x for *ends, x in zip(theirs.source, theirs.target, theirs[column], strict=True)
    }
    values = np.array([place[frozenset(e)] for e in zip(graph.source.tolist(), graph.target.tolist(), strict=True)])
    tests = METHODS[method].p_values
    if column == "in_backbone":
        return {"edges that differ": int(np.count_nonzero((scores >= 1) != (values > 0)))}
    return {"largest difference": float(np.abs((tests(scores) if tests else scores) - values).max())}


if __name__ == "__main__":
    answer({"baseline": baseline, "resistance": resistance, "generator": generator, "backbone": backbone})
