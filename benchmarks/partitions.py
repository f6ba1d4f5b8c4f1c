"""Graphs in parts against the same command in memory: J, CPU time of all processes, and the largest process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
import graphpri.distributed
from alone import alone, answer
from clock import cores
from graphpri import datasets
from graphpri.graph import Graph
from graphs import communities, geometric, grid, preferential
from outcome import Cell, Check, Outcome
from quality import Say

BETA, KEEP, DEGREE, PARTS = 4.0, 0.3, 10, 16
NODES = (100_000, 1_000_000)
LARGE_NODES = (1_000_000, 10_000_000)
RAW = 16
"""Bytes of an edge as two 64-bit integers."""
OPTIONS = ["--entropy", "degree", "--weight", "none"]
KINDS = {
    "weighted, keep 0.1": ["--entropy", "degree", "--keep", "0.1"],
    "weighted, keep 0.3": ["--entropy", "degree"],
    "local entropy, keep 0.3": ["--entropy", "local", "--weight", "none"],
    "weighted, local entropy, keep 0.3": ["--entropy", "local"],
}
"""Options by what is measured."""

EVERY_EDGES = 100_000
EVERY_KEEP, EVERY_BETA = (0.1, 0.3, 0.8), (0.0, 2.0, 4.0, 50.0)
JUDGED = "preferential", "communities"
"""Families whose J is judged, for β ≥ 2; blocks of hashed nodes are known to be worse for lattices of low β."""

J_GOAL, CPU_GOAL, MEMORY_GOAL, GROWTH_GOAL = 1.0005, 2.0, 0.25, 1.1


def partitions(quick: bool, say: Say) -> Outcome:
    """Graphs of 10⁶ and 10⁷ edges, as one file in memory and in parts on local workers."""
    outcome, found = Outcome(), []
    for nodes in (10_000, 20_000) if quick else NODES:
        with tempfile.TemporaryDirectory() as folder:
            edges = alone(__file__, "files", nodes=nodes, folder=folder)["edges"]
            in_memory = alone(
                __file__, "command", source=f"{folder}/all.parquet", output=f"{folder}/kept.parquet", many=0
            )
            in_parts = alone(__file__, "command", source=f"{folder}/edges", output=f"{folder}/kept", many=cores())
        for case, values in (("in memory", in_memory), ("in parts", in_parts)):
            outcome.cells.append(Cell(case, nodes, edges, values))
            say(f"{case}, {edges} edges: J {values['J']:.6f}, {values['CPU s']:.1f} s of CPU, {values['MB']:.0f} MB")
        found.append((edges, in_memory, in_parts))
    for edges, in_memory, in_parts in found[1:] or found:
        size, judged = f"{edges:.0e} edges", not quick
        outcome.checks.append(Check(f"{size}: J / J in memory", in_parts["J"] / in_memory["J"], J_GOAL, "", judged))
        ratio = in_parts["CPU s"] / in_memory["CPU s"]
        outcome.checks.append(Check(f"{size}: CPU time / that in memory", ratio, CPU_GOAL, "", judged))
    outcome.notes = [
        f"Preferential attachment, {DEGREE} edges a node, keep = {KEEP}, beta = {BETA:g}, degree entropy: the command "
        f"graphpri sparsify on one parquet file, and with --distributed on {PARTS} parts with {cores()} threads. "
        "CPU time is that of the command, start included, and memory its peak."
    ]
    return outcome


def kinds(quick: bool, say: Say) -> Outcome:
    """Weighted edges by the degree entropy, and edges without weights by the local one."""
    outcome = Outcome()
    for kind, options in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            nodes = 10_000 if quick else NODES[0]
            edges = alone(__file__, "files", nodes=nodes, folder=folder, weighted="none" not in options)["edges"]
            jobs = (("all.parquet", "kept.parquet", 0), ("edges", "kept", cores()))
            in_memory, in_parts = (
                alone(__file__, "command", source=f"{folder}/{a}", output=f"{folder}/{b}", many=many, options=options)
                for a, b, many in jobs
            )
        for case, values in (("in memory", in_memory), ("in parts", in_parts)):
            outcome.cells.append(Cell(f"{kind}, {case}", nodes, edges, values))
            say(f"{kind}, {case}: J {values['J']:.6f}, {values['CPU s']:.1f} s of CPU, {values['MB']:.0f} MB")
        outcome.checks.append(Check(f"{kind}: J / J in memory", in_parts["J"] / in_memory["J"], J_GOAL, "", not quick))
        ratio = in_parts["CPU s"] / in_memory["CPU s"]
        outcome.checks.append(Check(f"{kind}: CPU time / that in memory", ratio, CPU_GOAL, "", not quick))
    outcome.notes = ["The graphs of the row partitions, weighted by Pareto's distribution (1.5) or not, and beta = 4."]
    return outcome


def every(quick: bool, say: Say) -> Outcome:
    """J in parts against J in memory: families, weights, entropies, budgets and β, at about 10⁵ edges."""
    outcome, worst = Outcome(), 0.0
    families = {"preferential": preferential, "communities": communities, "geometric": geometric, "grid": grid}
    for (family, make), weighted in product(families.items(), (False, True)):
        graph = make((EVERY_EDGES // 10 if quick else EVERY_EDGES) // (2 if family == "grid" else 5))
        if weighted:
            weights = 1 + np.random.default_rng(1).pareto(1.5, graph.n_edges)
            graph = Graph.from_edges(graph.source, graph.target, weights, n_nodes=graph.n_nodes)
        with tempfile.TemporaryDirectory() as folder:
            write_parts(graph, folder)
            for entropy, keep in product(("degree", "local"), EVERY_KEEP):
                values: dict[str, float] = {}
                for beta in EVERY_BETA:
                    options: Any = {"keep": keep, "beta": beta, "entropy": entropy}
                    in_memory = graphpri.sparsify(graph, **options).objective
                    with tempfile.TemporaryDirectory() as kept:
                        in_parts = graphpri.distributed.sparsify(f"{folder}/edges", f"{kept}/kept", **options)
                    values[f"beta {beta:g}, %"] = above = 100 * (in_parts.objective / in_memory - 1)
                    worst = max(worst, above) if family in JUDGED and beta >= 2 else worst
                case = f"{family}{', weighted' * weighted}, {entropy}, keep {keep:g}"
                outcome.cells.append(Cell(case, graph.n_nodes, graph.n_edges, values))
                say(f"{case}: {', '.join(f'{value:+.3f} %' for value in values.values())}")
    what = f"{' and '.join(JUDGED)}, beta of 2 and more: worst J above that in memory"
    outcome.checks.append(Check(what, worst, 100 * (J_GOAL - 1), "%", not quick))
    outcome.notes = ["J above that of one machine at the default effort; weights by Pareto's distribution (1.5)."]
    return outcome


def growth(quick: bool, say: Say) -> Outcome:
    """Graphs of 10⁷ and 10⁸ edges in parts."""
    outcome, found = Outcome(), []
    for nodes in (10_000, 20_000) if quick else LARGE_NODES:
        with tempfile.TemporaryDirectory() as folder:
            edges = alone(__file__, "files", nodes=nodes, folder=folder)["edges"]
            values = alone(__file__, "command", source=f"{folder}/edges", output=f"{folder}/kept", many=cores())
        outcome.cells.append(Cell("in parts", nodes, edges, values))
        say(f"{edges} edges: J {values['J']:.6f}, {values['CPU s']:.1f} s of CPU, {values['MB']:.0f} MB")
        found.append((edges, values))
    (few, small), (many, large) = found
    bytes_an_edge = (large["MB"] - small["MB"]) * 1e6 / (RAW * (many - few))
    what = f"growth of memory, {few:.0e} to {many:.0e} edges, per byte of raw edges"
    outcome.checks.append(Check(what, bytes_an_edge, MEMORY_GOAL, "", not quick))
    exponent = np.log(large["CPU s"] / small["CPU s"]) / np.log(many / few)
    outcome.checks.append(Check(f"growth of CPU time, {few:.0e} to {many:.0e} edges, exponent", exponent, GROWTH_GOAL))
    outcome.notes = ["The same graphs and command as in the row partitions, without those in memory."]
    return outcome


def write_files(nodes: int, folder: str, weighted: bool = False) -> dict[str, Any]:
    """A graph as one parquet file and in parts."""
    graph = datasets.barabasi_albert(nodes, DEGREE, seed=0)
    if weighted:
        weights = 1 + np.random.default_rng(1).pareto(1.5, graph.n_edges)
        graph = Graph.from_edges(graph.source, graph.target, weights)
    write_parts(graph, folder)
    return {"edges": graph.n_edges}


def write_parts(graph: Graph, folder: str) -> None:
    """Write a graph as one parquet file and in parts."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {"source": graph.source.astype(np.int64), "target": graph.target.astype(np.int64)}
    if graph.is_weighted:
        columns["weight"] = graph.weights
    table = pa.table(columns)
    parquet.write_table(table, f"{folder}/all.parquet")
    Path(folder, "edges").mkdir()
    for i, cut in enumerate(np.array_split(np.arange(graph.n_edges), PARTS)):
        parquet.write_table(table.slice(cut[0], cut.size), f"{folder}/edges/{i:02}.parquet")


def run_command(source: str, output: str, many: int, options: list[str] = OPTIONS) -> dict[str, Any]:
    """Run the command; CPU time and memory are those of the only child of this process, and of its children."""
    command = [sys.executable, "-m", "graphpri", "sparsify", source, "-o", output, "--json"]
    if "--keep" not in options:
        options = [*options, "--keep", str(KEEP)]
    options = [*options, "--beta", str(BETA), *(["--distributed", "--threads", str(many)] if many else [])]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return {"J": json.loads(done.stdout)["objective"], "CPU s": used.ru_utime + used.ru_stime, "MB": size}


if __name__ == "__main__":
    answer({"files": write_files, "command": run_command})
