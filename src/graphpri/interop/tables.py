"""Graphs of any accepted type as tables of edges with all their attributes, to be written to files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphpri.graph import EdgeTable, Graph
from graphpri.interop.frames import read_frame
from graphpri.interop.matrices import check_matrix, read_entries
from graphpri.interop.pyg import read_data
from graphpri.interop.source import DEFAULT_POLICIES, Policies, load

_AS_IT_IS = Policies(directed="average")
"""With this, nothing is refused for its direction: the table says that it is directed."""


def as_table(G: Any) -> tuple[EdgeTable, list[str]]:
    """A graph of any accepted type, or a result with one in its ``graph``, and notes on what the table can't hold.

    Raises
    ------
    GraphError
        For an object of another type.

    Examples
    --------
    >>> import networkx as nx
    >>> table, notes = as_table(nx.Graph([("a", "b", {"weight": 2, "kind": "x"})]))
    >>> list(table.labels), table.edge_attributes, notes
    (['a', 'b'], {'weight': [2], 'kind': ['x']}, [])
    """
    if isinstance(G, EdgeTable):
        return G, []
    if isinstance(getattr(G, "kept", None), Graph) and hasattr(G, "graph"):
        return as_table(G.graph)
    for cls in type(G).__mro__:
        convert = _CONVERTERS.get(f"{cls.__module__.partition('.')[0]}.{cls.__name__}")
        if convert is not None:
            return convert(G)
    load(G, DEFAULT_POLICIES)  # says what is accepted
    raise NotImplementedError(f"{type(G)} is accepted and has no table")


def _from_graph(G: Graph) -> tuple[EdgeTable, list[str]]:
    columns = {G.weight_name: G.weights} if G.weight_name is not None else {}
    return EdgeTable(G.n_nodes, G.source, G.target, labels=G.labels, edge_attributes=columns), []


def _from_networkx(G: Any) -> tuple[EdgeTable, list[str]]:
    number = {node: i for i, node in enumerate(G)}
    edges: list[Any] = list(G.edges(data=True))
    ends = np.array([(number[u], number[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    table = EdgeTable(
        len(number),
        ends[:, 0],
        ends[:, 1],
        labels=list(number),
        directed=G.is_directed(),
        edge_attributes=_columns(data for *_, data in edges),
        node_attributes=_columns(data for _, data in G.nodes(data=True)),
        graph_attributes=dict(G.graph),
    )
    keyed = G.is_multigraph() and any(not isinstance(key, int) for *_, key in G.edges(keys=True))
    return table, ["keys of the multigraph's edges not in the file: make them an attribute first"] * keyed


def _columns(records: Iterable[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Columns of records that each hold some of the keys; None where a record has no such key."""
    rows = list(records)
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): [row.get(name) for row in rows] for name in names}


def _from_igraph(G: Any) -> tuple[EdgeTable, list[str]]:
    ends = np.array(G.get_edgelist(), np.int64).reshape(-1, 2)
    nodes = {name: G.vs[name] for name in G.vs.attributes()}
    names = nodes.get("name", [])
    labels = None
    if names and all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        labels = nodes.pop("name")
    table = EdgeTable(
        G.vcount(),
        ends[:, 0],
        ends[:, 1],
        labels=labels,
        directed=bool(G.is_directed()),
        edge_attributes={name: G.es[name] for name in G.es.attributes()},
        node_attributes=nodes,
        graph_attributes={name: G[name] for name in G.attributes()},
    )
    return table, []


def _from_networkit(G: Any) -> tuple[EdgeTable, list[str]]:
    ids = list(G.iterNodes())
    number = {node: i for i, node in enumerate(ids)}
    edges = list(G.iterEdgesWeights())
    ends = np.array([(number[u], number[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    columns = {"weight": np.array([w for *_, w in edges])} if G.isWeighted() else {}
    table = EdgeTable(
        len(ids), ends[:, 0], ends[:, 1], labels=ids, directed=bool(G.isDirected()), edge_attributes=columns
    )
    return table, []


def _from_matrix(A: Any, labels: Sequence[Any] | None = None) -> tuple[EdgeTable, list[str]]:
    check_matrix(A.shape, A.dtype)
    coo = sp.coo_array(A)
    there = coo.data != 0
    table = read_entries(coo.row[there], coo.col[there], coo.data[there], A.shape[0], _AS_IT_IS, labels=labels).table
    return replace(table, notes=()), list(table.notes)


def _from_frame(F: Any) -> tuple[EdgeTable, list[str]]:
    found = read_frame(F, DEFAULT_POLICIES)
    if found is None:
        labels = F.index.tolist()
        return _from_matrix(F.to_numpy(), labels)
    columns = {str(key): _plain(F[key]) for key in F.columns if key not in found.ends}
    if found.weight is not None and found.weight in F.columns:
        columns = {"weight" if key == str(found.weight) else key: column for key, column in columns.items()}
    return replace(found.table, edge_attributes=columns), []


def _plain(column: Any) -> Any:
    """A column as an array of numbers, or as a list with None for missing entries."""
    values = column.to_numpy()
    if values.dtype.kind in "iufb":
        return values
    return [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _from_pyg(D: Any) -> tuple[EdgeTable, list[str]]:
    table, left_out = read_data(D, _AS_IT_IS)
    listed = ", ".join(sorted(left_out))
    notes = [f"attributes of the Data object not in the file: {listed}: they are no single number an edge"] * bool(
        listed
    )
    return table, notes


_CONVERTERS: dict[str, Callable[[Any], tuple[EdgeTable, list[str]]]] = {
    "graphpri.Graph": _from_graph,
    "networkx.Graph": _from_networkx,
    "igraph.Graph": _from_igraph,
    "networkit.Graph": _from_networkit,
    "scipy.sparray": _from_matrix,
    "scipy.spmatrix": _from_matrix,
    "numpy.ndarray": _from_matrix,
    "pandas.DataFrame": _from_frame,
    "torch_geometric.Data": _from_pyg,
}
