"""Graph objects: networkx, igraph and NetworKit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from functools import cache
from itertools import chain, islice
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import EdgeTable
from graphpri.interop.source import Policies, Source, accepts, fit_dtype, from_table


@accepts("a networkx graph", "networkx.Graph")
def from_networkx(G: Any, policies: Policies) -> Source:
    """Graph, DiGraph, MultiGraph, MultiDiGraph and their subclasses; a directed one comes back undirected.

    Nodes are labelled by themselves. Node, edge and graph attributes, isolated nodes, node and edge order
    and the keys of a multigraph are kept.
    """
    multi, directed = G.is_multigraph(), G.is_directed()
    key = policies.weight or "weight"
    number: dict[Hashable, int] = {node: i for i, node in enumerate(G)}
    edges: list[Any] = list(G.edges(keys=True, data=key) if multi else G.edges(data=key))
    m = len(edges)
    u = np.fromiter((number[e[0]] for e in edges), np.int64, m)
    v = np.fromiter((number[e[1]] for e in edges), np.int64, m)
    column = [e[-1] for e in edges]
    columns = _weight_column(
        column, policies.weight, lambda: (item for e in G.edges(data=True) for item in e[-1].items())
    )
    table = EdgeTable(len(number), u, v, labels=list(number), directed=directed, edge_attributes=columns)

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        H = (G.to_undirected_class() if directed else type(G))()
        H.graph.update(G.graph)
        H.add_nodes_from(G.nodes.items())
        kept = [edges[i][:-1] for i in rows.tolist()]
        data = (G.get_edge_data(*ends) for ends in kept)
        if weights is not None:
            values = fit_dtype(weights, np.asarray(column).dtype).tolist()
            data = ({**d, name: w} for d, w in zip(data, values, strict=True))
        H.add_edges_from((*ends, d) for ends, d in zip(kept, data, strict=True))
        return H

    return from_table(table, build, policies)


@accepts("an igraph Graph", "igraph.Graph")
def from_igraph(G: Any, policies: Policies) -> Source:
    """Nodes are called by their vertex ids; all attributes, and the order of vertices and edges, are kept.

    Where vertices have a name, edges can be chosen by it too.
    """
    m, key = G.ecount(), policies.weight or "weight"
    ends = np.fromiter(chain.from_iterable(G.get_edgelist()), np.int64, 2 * m).reshape(m, 2)
    names: list[str] = G.es.attributes()
    column: list[Any] = G.es[key] if key in names else [None] * m
    columns = _weight_column(column, policies.weight, lambda: ((name, G.es[0][name]) for name in names if m))
    directed = bool(G.is_directed())
    table = EdgeTable(G.vcount(), ends[:, 0], ends[:, 1], directed=directed, edge_attributes=columns)

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        H = G.copy()
        H.delete_edges(_others(rows, m).tolist())
        if directed:
            H.to_undirected(mode="each")
        if weights is not None:
            H.es[name] = fit_dtype(weights, np.asarray(column).dtype).tolist()
        return H

    @cache
    def vertices() -> dict[Any, list[int]]:
        found: dict[Any, list[int]] = {}
        for i, name in enumerate(G.vs["name"] if "name" in G.vs.attributes() else ()):
            found.setdefault(name, []).append(i)
        return found

    def named(label: Hashable) -> Sequence[int]:
        return vertices().get(label, ())

    return from_table(table, build, policies)._replace(names=named)


@accepts("a NetworKit Graph", "networkit.Graph")
def from_networkit(G: Any, policies: Policies) -> Source:
    """Nodes are called by their ids, gaps included; edge ids and node and edge attributes are kept.

    The weights of a weighted graph are its only edge attribute here, ``"weight"``. Symmetrising a
    directed graph numbers its edges anew and so loses edge attributes, and a note says so.
    """
    ids = np.fromiter(G.iterNodes(), np.int64, G.numberOfNodes())
    number = np.zeros(G.upperNodeIdBound(), np.int64)
    number[ids] = np.arange(ids.size)
    m, weighted, directed = G.numberOfEdges(), G.isWeighted(), G.isDirected()
    edges = G.iterEdgesWeights() if weighted else G.iterEdges()
    width = 3 if weighted else 2
    rows_of = np.fromiter(chain.from_iterable(edges), np.float64 if weighted else np.int64, width * m)
    listed = rows_of.reshape(m, width)
    u, v = listed[:, 0].astype(np.int64), listed[:, 1].astype(np.int64)
    columns = {"weight": listed[:, 2]} if weighted else {}
    table = EdgeTable(
        ids.size, number[u], number[v], labels=cast("Any", ids), directed=directed, edge_attributes=columns
    )

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        import networkit as nk

        tools: Any = nk.graphtools
        # Only a copy carries the attributes, which can't be listed, and only single edges can be removed.
        kept = tools.toWeighted(G) if weights is not None and not weighted else copy(G)
        dropped = _others(rows, m)
        deque(map(kept.removeEdge, u[dropped].tolist(), v[dropped].tolist()), maxlen=0)
        if directed:
            kept = tools.toUndirected(kept)
        if weights is not None:
            deque(map(kept.setWeight, u[rows].tolist(), v[rows].tolist(), weights.tolist()), maxlen=0)
        return kept

    lost = ("NetworKit numbers edges anew on symmetrising: edge attributes are not carried over",)
    return from_table(table, build, policies, notes=lost if directed else ())


def _weight_column(column: list[Any], weight: str | None, items: Callable[[], Iterable[tuple[str, Any]]]) -> Any:
    """The weight column where some edge has an entry; else columns without entries, by which messages name others."""
    present = any(w is not None for w in column)
    if present and weight is not None:
        return {weight: column}
    if present:
        return {"weight": ()}
    if weight is None or not column:
        return {}
    found = items() if weight != "weight" else islice(items(), _FIRST)
    return {str(key): _NUMBERS if _is_number(value) else () for key, value in found if key != weight}


_FIRST = 100  # attributes of the first edges that are looked at for the names of others
_NUMBERS = np.empty(0)


def _is_number(value: Any) -> bool:
    """Whether an attribute could be a weight."""
    return type(value) is not bool and isinstance(value, Real)


def _others(rows: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    dropped = np.ones(size, bool)
    dropped[rows] = False
    return np.flatnonzero(dropped)
