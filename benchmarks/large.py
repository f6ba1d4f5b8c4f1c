"""A million edges and more: against NetworKit, growth of time and memory, and what options cost there."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import graphpri
from alone import alone, answer, peak, peak_from_here
from clock import REPEATS, alternated, cores, load, timed
from graphpri import _runtime, datasets
from graphpri._objective import Objective
from graphpri._runtime import workers
from graphpri.graph import BoolArray, Graph
from outcome import Cell, Check, Outcome
from quality import Say

BETA, KEEP, DEGREE = 4.0, 0.3, 10
GOALS = {"degree": 0.25, "local": 0.5}
NODES = (10_000, 100_000, 1_000_000, 10_000_000)
LIMITS = {10_000_000: 20.0, 100_000_000: 180.0}
BYTES, EXPONENT = 80.0, 1.05
MOST_BASELINE_NODES = 1_000_000
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {"keep": KEEP},
    "weighted": {"keep": KEEP},
    "effort='fast'": {"keep": KEEP, "effort": "fast"},
    "effort='best'": {"keep": KEEP, "effort": "best"},
    "entropy='stochastic'": {"keep": KEEP, "entropy": "stochastic"},
    "connected=True": {"keep": KEEP, "connected": True},
    "connected=True, weighted": {"keep": KEEP, "connected": True},
    "no budget": {},
    "reweight=True": {"keep": KEEP, "reweight": True},
    "path of 5 beta": {"keep": KEEP, "beta": [1, 2, 4, 8, 16]},
    "path of 5 beta, no budget": {"beta": [1, 2, 4, 8, 16]},
}
PATIENCE = 60.0
"""Seconds after which an option is not measured again."""


def against(entropy: str, quick: bool, say: Say) -> Outcome:
    """The budgeted solver on a ready graph, and NetworKit's local degree sparsifier on its own: CPU times and J."""
    outcome, goal = Outcome(), GOALS[entropy]
    for threads in sorted({1, cores()}):
        of_job = alone(__file__, "baseline", threads=threads, entropy=entropy, nodes=10_000 if quick else 100_000)
        case = f"{threads} thread{'s' * (threads > 1)}"
        ratio = of_job["CPU s"] / of_job["NetworKit CPU s"]
        outcome.cells.append(_cell(case, of_job | {"CPU ratio": ratio, "ratio": of_job["s"] / of_job["NetworKit s"]}))
        what = f"{entropy} entropy, {case}: CPU time / NetworKit's local degree"
        outcome.checks.append(Check(what, ratio, goal, "", not quick))
        say(f"{case}: {of_job['CPU s']:.3f} s of CPU, NetworKit {of_job['NetworKit CPU s']:.3f}, ratio {ratio:.3f}")
    outcome.notes = [
        f"sparsify(keep={KEEP}, beta={BETA:g}, entropy={entropy!r}) on a graphpri.Graph and "
        f"LocalDegreeSparsifier.getSparsifiedGraphOfSize({KEEP}) on an indexed NetworKit graph in one process, in "
        f"turn, medians of {REPEATS} after one call of each. J is estimated by the exact entropy, and by the degree "
        "and the local one."
    ]
    return outcome


def growth(quick: bool, say: Say) -> Outcome:
    """Graphs of 10⁵ to 10⁸ edges, generated in place: time and memory of each entropy, NetworKit beside them."""
    outcome = Outcome()
    for nodes in NODES[:2] if quick else NODES:
        for method in ("degree", "local", "NetworKit"):
            if reason := _too_large(method, nodes):
                outcome.notes.append(reason)
                continue
            found = alone(__file__, "grown", method=method, nodes=nodes)
            outcome.cells.append(_cell(method, found))
            edges, seconds, size = outcome.cells[-1].edges, found["s"], found["bytes an edge"]
            say(f"{method}, {edges} edges: {seconds:.2f} s, {size:.1f} bytes an edge")
    outcome.checks = [*_size_checks(outcome.cells), *_exponents(outcome.cells)]
    outcome.notes += [
        f"Preferential attachment, {DEGREE} edges a node, each in a process of its own, medians of {REPEATS}. Memory "
        "is the peak of the process, generation included, less what it had with the libraries loaded; NetworKit's is "
        "without generation and conversion. J is by the local entropy for all."
    ]
    return outcome


def _too_large(method: str, nodes: int) -> str | None:
    if method != "degree" and nodes > MOST_BASELINE_NODES:
        return f"{method} was not run on {DEGREE * nodes} edges."
    if _runtime.available() < BYTES * DEGREE * nodes:
        free = _runtime.size_text(_runtime.available())
        return (
            f"{method} was not run on {DEGREE * nodes} edges: {free} of memory are free, {BYTES:g} bytes an edge asked."
        )
    return None


def _size_checks(cells: list[Cell]) -> list[Check]:
    checks: list[Check] = []
    for cell in cells:
        limit = LIMITS.get(round(cell.edges or 0, -4))
        if limit is not None and cell.case != "NetworKit":
            what, judged = f"{cell.case} entropy, {cell.edges:.0e} edges", cell.case == "degree"
            checks.append(Check(f"{what}: time", cell.values["s"], limit, "s", judged))
            checks.append(Check(f"{what}: peak memory", cell.values["bytes an edge"], BYTES, "bytes an edge", judged))
    return checks


def _exponents(cells: list[Cell]) -> list[Check]:
    """Growth of time with the edges, over the last two sizes."""
    checks: list[Check] = []
    for method in ("degree", "local"):
        ends = [(np.log(cell.edges or 1), np.log(cell.values["s"])) for cell in cells if cell.case == method][-2:]
        if len(ends) == 2:
            (m0, t0), (m1, t1) = ends
            what = f"{method} entropy: growth exponent of time, {np.exp(m0):.0e} to {np.exp(m1):.0e} edges"
            judged = method == "degree" and bool(m1 > np.log(5e7))
            checks.append(Check(what, float((t1 - t0) / (m1 - m0)), EXPONENT, "", judged))
    return checks


def options(quick: bool, say: Say) -> Outcome:
    """What options cost on a million edges, default entropy."""
    outcome = Outcome()
    for name in OPTIONS:
        found = alone(__file__, "option", option=name, nodes=10_000 if quick else 100_000)
        outcome.cells.append(_cell(name, found))
        say(f"{name}: {found['s']:.2f} s, {found['bytes an edge']:.0f} bytes an edge; {found['status']}")
    outcome.notes = [
        f"beta = {BETA:g}, keep = {KEEP} where not said otherwise; medians of {REPEATS}, or of as many as fit into "
        f"{PATIENCE:g} s."
    ]
    return outcome


def _cell(case: str, found: dict[str, Any]) -> Cell:
    return Cell(case, found.pop("nodes"), found.pop("edges"), found)


# What is measured, each in a process of its own.


def graph_of(nodes: int) -> Graph:
    """Preferential attachment."""
    return datasets.barabasi_albert(nodes, DEGREE, seed=0)


def to_networkit(graph: Graph) -> Any:
    """The same as an indexed NetworKit graph."""
    import networkit as nk

    nk.setNumberOfThreads(workers())
    ends = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
    return nk.GraphFromCoo(ends, n=graph.n_nodes, edgesIndexed=True)


def mask_of(graph: Graph, other: Any) -> BoolArray:
    """Edges of a graph that a NetworKit graph has."""
    ends = np.sort(np.array(list(other.iterEdges()), np.int64), axis=1)
    keys = graph.source.astype(np.int64) * graph.n_nodes + graph.target
    return np.isin(keys, ends[:, 0] * graph.n_nodes + ends[:, 1])


def value(graph: Graph, mask: BoolArray, entropy: str) -> float:
    """J of a subset by an entropy."""
    objective = Objective(graph, BETA, 0.0, entropy)
    return objective.value(objective.selection(mask))


def baseline(entropy: str, nodes: int) -> dict[str, Any]:
    """Both libraries in turn."""
    import networkit as nk

    graph = graph_of(nodes)
    other, sparsifier = to_networkit(graph), nk.sparsification.LocalDegreeSparsifier()
    runs = alternated(
        {
            "": lambda: graphpri.sparsify(graph, keep=KEEP, beta=BETA, entropy=entropy).mask,
            "NetworKit ": lambda: sparsifier.getSparsifiedGraphOfSize(other, KEEP),
        }
    )
    masks = {"": runs[""].result, "NetworKit ": mask_of(graph, runs["NetworKit "].result)}
    found: dict[str, Any] = {"nodes": graph.n_nodes, "edges": graph.n_edges}
    for name, run in runs.items():
        found |= {f"{name}s": run.wall, f"{name}CPU s": run.cpu, f"{name}K": int(masks[name].sum())}
        j = graphpri.estimate(graph, masks[name], beta=BETA).objective
        assert j is not None
        found |= {f"{name}J": j.value, f"{name}J error": j.error}
        found |= {f"{name}J {kind}": value(graph, masks[name], kind) for kind in ("degree", "local")}
    return found | {"first call s": runs[""].first, "load": load()}


def grown(method: str, nodes: int) -> dict[str, Any]:
    """One method on one size, memory before anything else is computed."""
    call = _networkit if method == "NetworKit" else partial(_pri, entropy=method)
    call(graph_of(3000), 1)
    before = peak()
    generating = timed(partial(graph_of, nodes))
    graph = generating.result
    values, mask = call(graph, REPEATS)
    values["bytes an edge"] = (values.pop("peak") - before) / graph.n_edges
    values |= {"K": int(mask.sum()), "J": value(graph, mask, "local"), "generation s": generating.wall, "load": load()}
    return {"nodes": graph.n_nodes, "edges": graph.n_edges} | values


def _pri(graph: Graph, repeats: int, entropy: str) -> tuple[dict[str, Any], BoolArray]:
    run = alternated({"": lambda: graphpri.sparsify(graph, keep=KEEP, beta=BETA, entropy=entropy)}, repeats)[""]
    found = {"s": run.wall, "CPU s": run.cpu, "first s": run.first, "peak": peak(), "peak MB": peak() / 1e6}
    return found, run.result.mask


def _networkit(graph: Graph, repeats: int) -> tuple[dict[str, Any], BoolArray]:
    import networkit as nk

    other, sparsifier = to_networkit(graph), nk.sparsification.LocalDegreeSparsifier()
    peak_from_here()
    run = alternated({"": lambda: sparsifier.getSparsifiedGraphOfSize(other, KEEP)}, repeats)[""]
    found = {"s": run.wall, "CPU s": run.cpu, "first s": run.first, "peak": peak(), "peak MB": peak() / 1e6}
    return found, mask_of(graph, run.result)


def option(option: str, nodes: int) -> dict[str, Any]:
    """One option."""
    chosen = {"beta": BETA} | OPTIONS[option]
    call = graphpri.path if isinstance(chosen["beta"], list) else graphpri.sparsify
    call(_for_option(option, 1000), **chosen)
    graph = _for_option(option, nodes)
    peak_from_here()
    before, times, start, result = peak(), [], time.perf_counter(), None
    while len(times) <= REPEATS and (len(times) < 2 or time.perf_counter() - start < PATIENCE):
        result = None
        run = timed(partial(call, graph, **chosen))
        times.append((run.wall, run.cpu))
        result = run.result
        del run
        if times[0][0] > PATIENCE:
            break
    wall, cpu = np.median(times[1:] or times, axis=0).tolist()
    found = {"s": wall, "CPU s": cpu, "runs": len(times[1:] or times)}
    found |= {"bytes an edge": (peak() - before) / graph.n_edges, "first s": times[0][0], "load": load()}
    last = result if call is graphpri.sparsify else result[2]
    kept = {"K": last.kept.n_edges, "components": last.kept.components()[0], "J": last.objective, "D": last.divergence}
    facts = {"entropy": last.settings["entropy_by"], "status": last.status}
    return {"nodes": graph.n_nodes, "edges": graph.n_edges} | found | kept | facts


def _for_option(name: str, nodes: int) -> Graph:
    graph = graph_of(nodes)
    if not name.endswith("weighted"):
        return graph
    weights = np.random.default_rng(0).lognormal(size=graph.n_edges)
    return Graph.from_edges(graph.source, graph.target, weights)


if __name__ == "__main__":
    answer({"baseline": baseline, "grown": grown, "option": option})
