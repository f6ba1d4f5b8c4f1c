"""What comes before the work: turning other libraries' graphs into ours, and compiling at the first call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
from alone import alone, answer, peak, peak_from_here
from clock import REPEATS, alternated, load, timed
from graphpri import datasets
from graphpri.graph import EdgeTable, Graph
from outcome import Cell, Outcome
from quality import Say

KINDS = ("arrays", "SciPy matrix", "pandas", "NetworKit", "igraph", "networkx")
NODES = 10_000


def conversions(quick: bool, say: Say) -> Outcome:
    """From other libraries' graphs to a graphpri.Graph; NetworKit from arrays and from networkx beside it."""
    outcome = Outcome(notes=[f"Medians of {REPEATS} after a first call; each kind in a process of its own."])
    for kind in KINDS:
        found = alone(__file__, "conversion", kind=kind, nodes=10_000 if quick else 100_000)
        if "absent" in found:
            outcome.notes.append(f"{kind}: {found['absent']}")
            continue
        outcome.cells.append(Cell(kind, found.pop("nodes"), found.pop("edges"), found))
        beside = f", NetworKit {found['NetworKit s']:.2f} s" if "NetworKit s" in found else ""
        say(f"{kind}: {found['s']:.2f} s{beside}")
    return outcome


def first_calls(quick: bool, say: Say) -> Outcome:
    """The first call with nothing compiled, in a later process, and the second call: 10⁵ edges."""
    outcome = Outcome(notes=["Each in processes of their own: the first with an empty folder of compiled code."])
    for name in list(ACTIONS)[:2] if quick else ACTIONS:
        with tempfile.TemporaryDirectory() as folder:
            new, old = (alone(__file__, "first_call", action=name, cache=Path(folder)) for _ in range(2))
        values = {
            "compiling s": new["first s"],
            "compiled before s": old["first s"],
            "second call s": old["second s"],
            "load": old["load"],
        }
        outcome.cells.append(Cell(name, NODES, new["edges"], values))
        say(f"{name}: {new['first s']:.2f} s, compiled before {old['first s']:.2f}, second {old['second s']:.3f} s")
    return outcome


def _in_disorder(graph: Graph, weighted: bool = False) -> EdgeTable:
    """The same edges in random order and direction."""
    rng = np.random.default_rng(0)
    order, turned = rng.permutation(graph.n_edges), rng.random(graph.n_edges) < 0.5
    u, v = graph.source[order], graph.target[order]
    weights = {"weight": rng.lognormal(size=graph.n_edges)} if weighted else {}
    return EdgeTable(graph.n_nodes, np.where(turned, v, u), np.where(turned, u, v), edge_attributes=weights)


def _graph(weighted: bool = False) -> Graph:
    return graphpri.as_graph(_in_disorder(datasets.barabasi_albert(NODES, 10, seed=0), weighted))


def _file(suffix: str) -> Path:
    path = Path(tempfile.mkdtemp()) / f"edges{suffix}"
    graphpri.write(_in_disorder(datasets.barabasi_albert(NODES, 10, seed=0)), path)
    return path


ACTIONS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "sparsify": (_graph, partial(graphpri.sparsify, keep=0.3)),
    "sparsify, degree entropy": (_graph, partial(graphpri.sparsify, keep=0.3, entropy="degree")),
    "sparsify, weighted": (partial(_graph, True), partial(graphpri.sparsify, keep=0.3)),
    "sparsify, connected=True": (_graph, partial(graphpri.sparsify, keep=0.3, connected=True)),
    "estimate": (_graph, graphpri.estimate),
    "local-similarity": (_graph, partial(graphpri.sparsify, keep=0.3, method="local-similarity")),
    "read .csv": (partial(_file, ".csv"), graphpri.read),
    "as_graph of arrays": (lambda: _in_disorder(datasets.barabasi_albert(50_000, 10, seed=0)), graphpri.as_graph),
    "barabasi_albert": (lambda: 50_000, partial(datasets.barabasi_albert, m=10)),
}
"""What is called: how its argument is made, and the call."""


def first_call(action: str) -> dict[str, Any]:
    """Time of the first and the second call in this process."""
    make, call = ACTIONS[action]
    given = make()
    first, second = timed(partial(call, given)), timed(partial(call, given))
    edges = getattr(first.result, "n_edges", NODES * 10)
    return {"first s": first.wall, "second s": second.wall, "edges": int(edges), "load": load()}


def conversion(kind: str, nodes: int) -> dict[str, Any]:
    """One kind of graph."""
    graph = datasets.barabasi_albert(nodes, 10, seed=0)
    try:
        given, beside = _made(kind, _in_disorder(graph))
    except ImportError as error:
        return {"absent": str(error)}
    peak_from_here()
    before = peak()
    runs = alternated({"": partial(graphpri.as_graph, given), **beside})
    found: dict[str, Any] = {"nodes": nodes, "edges": graph.n_edges}
    for name, run in runs.items():
        found |= {f"{name}s": run.wall, f"{name}CPU s": run.cpu}
    return found | {"first call s": runs[""].first, "bytes an edge": (peak() - before) / graph.n_edges, "load": load()}


def _made(kind: str, table: EdgeTable) -> tuple[Any, dict[str, Callable[[], Any]]]:
    """A graph of a kind, and what NetworKit does with the same, where it can."""
    import networkit as nk

    n, ends = table.n_nodes, (table.source.astype(np.uint64), table.target.astype(np.uint64))

    def coo() -> Any:
        return nk.GraphFromCoo(ends, n=n, edgesIndexed=True)

    if kind == "arrays":
        return table, {"NetworKit ": coo}
    if kind == "NetworKit":
        return coo(), {}
    if kind == "SciPy matrix":
        return graphpri.as_graph(table).adjacency(), {}
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame({"source": table.source, "target": table.target}), {}
    if kind == "igraph":
        import igraph

        return igraph.Graph(n, np.stack([table.source, table.target], axis=1)), {}
    import networkx as nx

    other = nx.Graph()
    other.add_nodes_from(range(n))
    other.add_edges_from(zip(table.source.tolist(), table.target.tolist(), strict=True))
    return other, {"NetworKit ": lambda: nk.nxadapter.nx2nk(other)}


if __name__ == "__main__":
    answer({"conversion": conversion, "first_call": first_call})
