"""The star as the graph of least entropy, the regular graph as that of most degree entropy: over all small graphs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from graphpri.graph import Graph
from graphpri.interop import as_graph
from graphpri.studies.families import absent_pairs, entropies_with
from graphpri.studies.study import Cell, Facts, Frames, Tables, Verdict
from graphpri.studies.theorems_bounds import gap

_EQUAL = 1e-9


@cache
def atlas(smallest: int, largest: int) -> tuple[Graph, ...]:
    """All graphs of so many nodes that have an edge, up to relabelling (at most 7 nodes: Read and Wilson's atlas)."""
    import networkx as nx

    graphs = (as_graph(g) for g in nx.graph_atlas_g() if smallest <= g.number_of_nodes() <= largest)
    return tuple(graph for graph in graphs if graph.n_edges)


def every_graph(cell: Cell, seed: int) -> Tables:
    """S, H and Theorem 1's slack of every graph of some sizes, and of every tree of larger ones."""
    del seed  # nothing is random here
    graphs = [row for n in range(3, cell["nodes"] + 1) for row in map(_measured, atlas(n, n))]
    trees = [row for n in range(cell["nodes"] + 1, cell["tree_nodes"] + 1) for row in map(_tree, _trees(n))]
    return {"atlas": graphs, "trees": trees}


def _measured(graph: Graph) -> dict[str, Any]:
    pairs, degrees = absent_pairs(graph), graph.degrees()
    total = 2 * graph.n_edges + 2
    before, after = entropies_with(graph, pairs)
    slack = after - (total - 2) / total * before
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "connected": graph.components()[0] == 1,
        "star": _is_star(graph),
        "regular": bool((degrees == degrees[0]).all()),
        **gap(graph),
        "tried": slack.size,
        "raised": int((after >= before - 1e-12).sum()),
        "least_slack": float(slack.min()) if slack.size else np.nan,
    }


def _is_star(graph: Graph) -> bool:
    return graph.n_edges == graph.n_nodes - 1 == graph.degrees().max()


def _trees(n: int) -> list[Graph]:
    import networkx as nx

    return [as_graph(tree) for tree in nx.nonisomorphic_trees(n)]


def _tree(graph: Graph) -> dict[str, Any]:
    found = gap(graph)
    return {"nodes": graph.n_nodes, "star": _is_star(graph), "S": found["S"], "H": found["H"]}


def _star_is_least(table: Any, kind: str) -> int:
    """Sizes at which the star alone has the least entropy."""
    count = 0
    for _, rows in table.groupby("nodes"):
        rivals = rows[~rows["star"]][kind]
        star = rows[rows["star"]][kind]
        count += int(len(star) == 1 and bool((rivals > star.iloc[0] + _EQUAL).all()))
    return count


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The star and the regular graph."""
    table, trees = frames["atlas"], frames["trees"]
    connected = table[table["connected"]]
    facts.add("connected", len(connected), "atlas", "connected graphs, one of each shape")
    facts.add("atlas_nodes", table["nodes"].max(), "atlas", "most nodes")
    facts.add("atlas_sizes", table["nodes"].nunique(), "atlas", "numbers of nodes")
    facts.add("tree_count", len(trees), "trees", "trees of more nodes, one of each shape")
    facts.add("tree_nodes", trees["nodes"].max(), "trees", "most nodes of a tree")
    facts.add("tree_sizes", trees["nodes"].nunique(), "trees", "numbers of nodes")
    return [_star(connected, trees, facts), _degree_star(connected, trees, facts), _regular(table, facts)]


def _star(connected: Any, trees: Any, facts: Facts) -> Verdict:
    least = facts.add("star_sizes", _star_is_least(connected, "S"), "atlas", "sizes at which the star's S is least")
    among = facts.add("star_trees", _star_is_least(trees, "S"), "trees", "sizes at which it is, among trees")
    good = least == facts["atlas_sizes"] and among == facts["tree_sizes"]
    return Verdict(
        "Among connected graphs of one order the star has the least von Neumann entropy",
        "§3.2.2 (conjecture of Dairyko et al.)",
        "the star alone is least at {star_sizes:.0f} of {atlas_sizes:.0f} sizes up to {atlas_nodes:.0f} nodes "
        "({connected:.0f} graphs, all there are), and among all {tree_count:.0f} trees at {star_trees:.0f} of "
        "{tree_sizes:.0f} sizes up to {tree_nodes:.0f}",
        "reproduced" if good else "conditional" if least else "not reproduced",
        "among connected graphs: without that, a single edge has entropy 0" if good else "",
    )


def _degree_star(connected: Any, trees: Any, facts: Facts) -> Verdict:
    least = facts.add("H_star", _star_is_least(connected, "H"), "atlas", "sizes at which the star's H is least")
    among = facts.add("H_star_trees", _star_is_least(trees, "H"), "trees", "sizes at which it is, among trees")
    good = least == facts["atlas_sizes"] and among == facts["tree_sizes"]
    return Verdict(
        "The degree entropy H is least for the star",
        "§3.2.2",
        "among connected graphs the star alone is least at {H_star:.0f} of {atlas_sizes:.0f} sizes up to "
        "{atlas_nodes:.0f} nodes; among trees at {H_star_trees:.0f} of {tree_sizes:.0f} sizes up to {tree_nodes:.0f}",
        "reproduced" if good else "conditional" if least else "not reproduced",
    )


def _regular(table: Any, facts: Facts) -> Verdict:
    top = np.log(table["nodes"])
    reach = table["H"] >= top - _EQUAL
    facts.add("graphs", len(table), "atlas", "graphs with an edge")
    facts.add("regular", table["regular"].sum(), "atlas", "of them regular")
    wrong = facts.add(
        "wrong", (reach != table["regular"]).sum(), "atlas", "graphs that are regular or have H = ln N, not both"
    )
    facts.add("others", (top - table["H"])[~table["regular"]].min(), "atlas", "least ln N − H of the others, nats")
    return Verdict(
        "The degree entropy H is largest for regular graphs",
        "§3.2.2",
        "over all {graphs:.0f} graphs of up to {atlas_nodes:.0f} nodes, {regular:.0f} are regular; H = ln N for "
        "exactly these ({wrong:.0f} exceptions), all others are at least {others:.4f} nats below",
        "reproduced" if wrong == 0 else "not reproduced",
    )
