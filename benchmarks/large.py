"""A million edges and more: against NetworKit, growth of time and memory, and what options cost there."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
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
SOLVES: dict[str, tuple[str, bool, int]] = {
    "degree entropy": ("degree", False, 1_000_000),
    "local entropy": ("local", False, 1_000_000),
    "degree entropy, weighted": ("degree", True, 100_000),
    "local entropy, weighted": ("local", True, 100_000),
}
"""Entropy, whether edges weigh differently, and nodes, by what is searched."""
WALL_GOAL, CPU_GOAL, FILE_GOAL = 0.6, 1.2, 3.0
PATIENCE = 30.0
"""Seconds after which nothing is measured again."""


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
        f"Preferential attachment, {DEGREE} edges a node, each in a process of its own, medians of {REPEATS}, or of as "
        f"many as fit into {PATIENCE:g} s. Memory is the peak of the process, generation included, less what it had "
        "with the libraries loaded; NetworKit's is without generation and conversion. J is by the local entropy."
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


def _counts() -> list[int]:
    """Numbers of threads, up to the cores."""
    return [count for count in (1, 2, 4, 16, 64) if count <= cores()]


def threads(quick: bool, say: Say) -> Outcome:
    """Searches of 10⁷ edges, 10⁶ where they weigh differently, by 1, 2, 4, … threads: times, and the same edges."""
    outcome = Outcome()
    for name, (entropy, weighted, nodes) in SOLVES.items():
        job = {"nodes": 10_000 if quick else nodes, "entropy": entropy, "weighted": weighted}
        found = {count: alone(__file__, "solved", threads=count, **job) for count in _counts()}
        edges_kept = [of_job.pop("edges kept") for of_job in found.values()]
        for count, of_job in found.items():
            ratios = {f"{key} ratio": of_job[key] / found[1][key] for key in ("s", "CPU s")}
            outcome.cells.append(_cell(f"{name}, {count} thread{'s' * (count > 1)}", of_job | ratios))
            say(f"{outcome.cells[-1].case}: {of_job['s']:.2f} s, {of_job['CPU s']:.2f} s of CPU")
            if count == 2:
                judged = not (quick or weighted)
                outcome.checks += [
                    Check(f"{name}: time of 2 threads / of 1", ratios["s ratio"], WALL_GOAL, "", judged),
                    Check(f"{name}: CPU time of 2 threads / of 1", ratios["CPU s ratio"], CPU_GOAL, "", judged),
                ]
        outcome.checks.append(
            Check(f"{name}: other edges kept by another number of threads", len(set(edges_kept)) - 1, 0)
        )
    outcome.notes = [
        f"Preferential attachment, {DEGREE} edges a node, keep = {KEEP}, beta = {BETA:g}; weights lognormal. The "
        "better of two searches after a first one, each number of threads in a process of its own."
    ]
    return outcome


def end_to_end(quick: bool, say: Say) -> Outcome:
    """The command on a parquet file of 10⁷ edges, and pyarrow's bare read and write of the same file."""
    from files_study import table

    outcome, edges = Outcome(), 10**5 if quick else 10**7
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "big.parquet")
        graphpri.write(table(edges, False, False), source)
        bare = alone(__file__, "copied", source=str(source), output=f"{folder}/copy.parquet")
        for entropy in ("degree", "local"):
            command = [sys.executable, "-m", "graphpri", "sparsify", str(source), "-o", f"{folder}/{entropy}.parquet"]
            command += ["--keep", str(KEEP), "--entropy", entropy, "--quiet"]
            kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
            run = partial(subprocess.run, check=True, capture_output=True, env=kept)
            run([*command, "--force"])  # what is compiled is kept
            for count in _counts():
                before = os.times()
                start = time.perf_counter()
                run([*command, "--threads", str(count), "--force"])
                wall, after = time.perf_counter() - start, os.times()
                cpu = after.children_user + after.children_system - before.children_user - before.children_system
                values = {"s": wall, "CPU s": cpu, "pyarrow s": bare["s"], "ratio": wall / bare["s"]}
                case = f"{entropy} entropy, {count} thread{'s' * (count > 1)}"
                outcome.cells.append(Cell(case, edges // 10, edges, values))
                say(f"{case}: {wall:.2f} s, {cpu:.2f} s of CPU; pyarrow {bare['s']:.2f} s")
        last = outcome.cells[len(_counts()) - 1].values["ratio"]
        what = f"degree entropy, {cores()} threads: time of the command / of pyarrow's read and write"
        outcome.checks = [Check(what, last, FILE_GOAL, "", not quick)]
    outcome.notes = [
        f"A random graph, its edges in any order and direction, keep = {KEEP}. The command's time is that of the whole "
        "process, its start included, after a first one; pyarrow reads and writes all edges where it is loaded already."
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
    calls = {"": lambda: graphpri.sparsify(graph, keep=KEEP, beta=BETA, entropy=entropy)}
    run = alternated(calls, repeats, PATIENCE)[""]
    found = {"s": run.wall, "CPU s": run.cpu, "first s": run.first, "peak": peak(), "peak MB": peak() / 1e6}
    return found, run.result.mask


def _networkit(graph: Graph, repeats: int) -> tuple[dict[str, Any], BoolArray]:
    import networkit as nk

    other, sparsifier = to_networkit(graph), nk.sparsification.LocalDegreeSparsifier()
    peak_from_here()
    run = alternated({"": lambda: sparsifier.getSparsifiedGraphOfSize(other, KEEP)}, repeats, PATIENCE)[""]
    found = {"s": run.wall, "CPU s": run.cpu, "first s": run.first, "peak": peak(), "peak MB": peak() / 1e6}
    return found, mask_of(graph, run.result)


def solved(nodes: int, entropy: str, weighted: bool) -> dict[str, Any]:
    """Searches of one kind, by as many threads as this process has."""
    from graphpri.solvers.budgeted import solve

    graph = _lognormal(graph_of(nodes)) if weighted else graph_of(nodes)
    objective, k = Objective(graph, BETA, 0.0, entropy), round(KEEP * graph.n_edges)
    times: list[tuple[float, float]] = []
    for _ in range(3):
        run = timed(partial(solve, objective, k))
        times.append((run.wall, run.cpu))
    wall, cpu = min(times[1:])
    kept = hashlib.blake2b(np.packbits(run.result.mask).tobytes()).hexdigest()
    found = {"s": wall, "CPU s": cpu, "J": run.result.objective, "edges kept": kept, "load": load()}
    return {"nodes": graph.n_nodes, "edges": graph.n_edges} | found


def copied(source: str, output: str) -> dict[str, Any]:
    """Read and write a file by pyarrow alone; the better of two."""
    from pyarrow import parquet

    runs = [timed(lambda: parquet.write_table(parquet.read_table(source), output)) for _ in range(2)]
    return {"s": min(run.wall for run in runs), "CPU s": min(run.cpu for run in runs)}


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
    return _lognormal(graph)


def _lognormal(graph: Graph) -> Graph:
    weights = np.random.default_rng(0).lognormal(size=graph.n_edges)
    return Graph.from_edges(graph.source, graph.target, weights)


if __name__ == "__main__":
    answer({"baseline": baseline, "grown": grown, "option": option, "solved": solved, "copied": copied})
