"""``graphpri info``: what a graph is, also one that would be refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import App, Parameter

from graphpri.cli import show
from graphpri.cli.inputs import DEFAULT_READING, InputName, ReadingOptions
from graphpri.cli.options import DEFAULT_LIMITS, Json, Limits, in_words, notes_in_words
from graphpri.cli.progress import Watch
from graphpri.errors import GraphError

if TYPE_CHECKING:
    from graphpri.graph import EdgeTable, FloatArray, Graph

EXACT_NODES = 3000
"""Component, in nodes, whose exact entropy takes some seconds; it is computed for graphs that take no longer."""

app = App(
    name="info",
    help_epilogue="""\
Examples:
  graphpri info graph.csv
  graphpri info web.txt --directed symmetrize --json""",
)


class Oddities(NamedTuple):
    """What stands in the way of reading a table as a simple undirected graph: counts of rows."""

    loops: int
    parallel: int
    opposite: int
    negative: int
    zero: int


@app.default
def info(
    source: Annotated[InputName, Parameter(name="INPUT")],
    /,
    *,
    json: Json = False,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Describe a graph, and say what stands in the way of sparsifying it.

    Works for graphs that 'sparsify' refuses: it says which options they need,
    and describes the graph that these options make of it.
    """
    with limits.held(), Watch() as watch:
        table = reading.read(source, watch)
        watch.stage("describing")
        graph, notes, problem = _graph(table, reading)
        rows = _count_rows(table, graph, reading)
        facts = {"input": source, **_file(table, rows), "needs": _needs(table, rows, reading, problem)}
        facts |= {"problem": problem, "weights": notes_in_words(notes), **_describe(graph)}
    if json:
        print(show.as_json(facts))
    else:
        print(_text(facts))


def _file(table: EdgeTable, rows: Oddities) -> dict[str, Any]:
    """What the file holds, before anything is done about it."""
    return {
        "rows": int(table.source.size),
        "directed": table.directed,
        "self_loops": rows.loops,
        "parallel_edges": rows.parallel,
        "opposite_arcs": rows.opposite,
        "negative_weights": rows.negative,
        "zero_weights": rows.zero,
        "edge_attributes": list(table.edge_attributes),
        "node_attributes": list(table.node_attributes),
        "graph_attributes": list(table.graph_attributes),
    }


def _count_rows(table: EdgeTable, graph: Graph, reading: ReadingOptions) -> Oddities:
    """Counts for a table and the graph that lenient policies make of it."""
    import numpy as np

    from graphpri.graph import sort_rows

    u, v = table.source, table.target
    loops = int(np.count_nonzero(u == v))
    negative, zero = _count_weights(table, reading)
    if graph.n_edges == u.size - loops:
        return Oddities(loops, 0, 0, negative, zero)
    plain = np.flatnonzero(u != v)
    found = sort_rows(u[plain], v[plain], plain, directed=table.directed)
    repeats = int(np.count_nonzero(found.repeat))
    return Oddities(loops, repeats, int(np.count_nonzero(~found.first)) - repeats, negative, zero)


def _count_weights(table: EdgeTable, reading: ReadingOptions) -> tuple[int, int]:
    """How many weights are negative, and how many 0."""
    from graphpri.graph import read_weights

    try:
        w, _ = read_weights(table.edge_attributes, reading.policies()["weight"], lambda row: f"row {row}")
    except GraphError:
        return 0, 0
    return (0, 0) if w is None else (int((w < 0).sum()), int((w == 0).sum()))


def _needs(table: EdgeTable, rows: Oddities, reading: ReadingOptions, problem: str | None) -> list[str]:
    """Options that sparsify asks for."""
    needs: list[str] = []
    if table.directed and reading.directed == "refuse":
        needs.append("--directed symmetrize")
    if rows.loops and reading.loops == "refuse":
        needs.append("--loops drop")
    if rows.parallel and reading.parallel == "refuse":
        needs.append("--parallel sum, max or first")
    if rows.negative and reading.negative == "refuse":
        needs.append("--negative abs or drop")
    if rows.zero and reading.zero == "refuse":
        needs.append("--zero drop")
    if problem is not None and table.source.size:
        needs.append("other weights, or --weight none")
    return needs


def _lenient(reading: ReadingOptions) -> dict[str, Any]:
    """Policies that accept what can be accepted, those that the user gave first."""
    given = reading.policies()
    usual = {"directed": "symmetrize", "loops": "drop", "parallel": "sum", "negative": "abs", "zero": "drop"}
    return given | {name: usual[name] for name in usual if given[name] == "refuse"}


def _graph(table: EdgeTable, reading: ReadingOptions) -> tuple[Graph, tuple[str, ...], str | None]:
    """The graph that lenient policies make of a table, their notes, and what is wrong with the weights or the edges."""
    problem = None
    try:
        found = table.canonical(**_lenient(reading))
    except GraphError as error:
        problem = in_words(error.message)
        found = table.canonical(**_lenient(replace(reading, weight="none")))
    if not table.source.size:
        problem = "the graph has no edges: there is nothing to keep or to drop"
    return found.graph, found.notes, problem


def _describe(graph: Graph) -> dict[str, Any]:
    import numpy as np

    from graphpri._entropy.by_name import entropy_for
    from graphpri._objective import BUDGET_BETA, FREE_BETA

    n, m = graph.n_nodes, graph.n_edges
    count, member = graph.components()
    degrees, sizes = graph.degrees(), np.bincount(member, minlength=count)
    facts: dict[str, Any] = {
        "nodes": n,
        "edges": m,
        "density": 2 * m / (n * (n - 1)) if n > 1 else None,
        "components": count,
        "largest_component": int(sizes.max(initial=0)),
        "isolated_nodes": int(np.count_nonzero(degrees == 0)),
        "spanning_forest": n - count,
    }
    if n:
        facts |= {"degree_least": degrees.min(), "degree_mean": float(degrees.mean()), "degree_most": degrees.max()}
    if graph.is_weighted and m:
        w = graph.weights
        facts |= {"weight_least": w.min(), "weight_mean": float(w.mean()), "weight_most": w.max()}
    if m:
        facts["entropies"] = _entropies(graph, sizes.astype(np.float64))
        facts["defaults"] = {"entropy": entropy_for(graph), "beta_with_keep": BUDGET_BETA, "beta": FREE_BETA}
    return facts


def _entropies(graph: Graph, sizes: FloatArray) -> dict[str, float]:
    """Entropies in nats, for components of these sizes; the exact one where it takes seconds at most."""
    from graphpri._objective import FREE_BETA, Objective

    affordable = float((sizes**3).sum()) <= EXACT_NODES**3
    names = ("exact", "local", "degree") if affordable else ("local", "degree")
    # An objective takes compiled passes over the edges of large graphs, in little memory.
    return {name: max(0.0, Objective(graph, FREE_BETA, 0.0, name).original_entropy) for name in names}


def _defaults(d: dict[str, Any]) -> str:
    return f"entropy {d['entropy']}, beta {d['beta_with_keep']:g} with --keep, {d['beta']:g} without"


def _text(f: dict[str, Any]) -> str:
    rows = "arcs" if f["directed"] else "edges"
    facts = [f"{f['rows']} {rows}", "directed" if f["directed"] else "undirected"]
    facts += [f"{what}: {f[key]}" for key, what in _ODDITIES.items() if f[key]]
    lines: list[tuple[str, Any]] = [
        ("in the file", ", ".join(facts)),
        ("sparsify needs", ", ".join(f["needs"]) or None),
        ("problem", f["problem"]),
        ("as a graph", f"{f['nodes']} nodes, {f['edges']} edges" + (" with these options" if f["needs"] else "")),
        ("weights", f["weights"].removeprefix("weights: ")),
        ("weight range", _range(f, "weight")),
        ("degrees", _range(f, "degree")),
        ("density", f["density"]),
        ("components", f"{f['components']}, the largest of {f['largest_component']} nodes"),
        ("isolated nodes", f["isolated_nodes"]),
        ("least connected", f"{f['spanning_forest']} edges (--connected keeps at least as many)"),
    ]
    if "entropies" in f:
        values = ", ".join(f"{value:.4f} ({name})" for name, value in f["entropies"].items())
        lines += [
            ("entropy S", f"{values} nats"),
            ("by default", _defaults(f["defaults"])),
        ]
    for kind in ("edge", "node", "graph"):
        lines.append((f"{kind} attributes", ", ".join(map(str, f[f"{kind}_attributes"])) or None))
    return f"{f['input']}\n{show.fields(lines)}"


_ODDITIES = {
    "self_loops": "self-loops",
    "parallel_edges": "parallel edges",
    "opposite_arcs": "pairs of opposite arcs",
    "negative_weights": "negative weights",
    "zero_weights": "weights of 0",
}


def _range(f: dict[str, Any], what: str) -> str | None:
    if f"{what}_least" not in f:
        return None
    return f"{f[f'{what}_least']:g} to {f[f'{what}_most']:g}, mean {f[f'{what}_mean']:.4g}"
