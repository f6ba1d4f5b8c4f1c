"""Attributes of the nodes of graphs that have some, in the order of the canonical nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from graphpri.errors import OptionError
from graphpri.graph import EdgeTable
from graphpri.interop.source import Source


def node_columns(G: Any) -> Iterable[tuple[str, Sequence[Any]]]:
    """Names and values of the attributes of an edge table's, a networkx or an igraph graph's nodes, in its order."""
    if isinstance(G, EdgeTable):
        return [(name, list(column)) for name, column in G.node_attributes.items()]
    kind = type(G).__module__.partition(".")[0]
    if kind == "networkx":
        data: list[dict[Any, Any]] = [d for _, d in G.nodes(data=True)]
        names = dict.fromkeys(str(name) for d in data for name in d)
        return [(name, [{str(k): v for k, v in d.items()}.get(name) for d in data]) for name in names]
    if kind == "igraph":
        return [(str(name), list(G.vs[name])) for name in G.vs.attributes()]
    return []


def in_node_order(source: Source, name: str, values: Any) -> list[Any]:
    """Values given by label, or in the order of the input's nodes, in the order of the canonical ones.

    Raises
    ------
    OptionError
        For another number of values than there are nodes.
    """
    graph = source.graph
    if isinstance(values, Mapping):
        by_label = cast("Mapping[Any, Any]", values)
        return [by_label.get(graph.label(i)) for i in range(graph.n_nodes)]
    listed: list[Any] = list(values)
    if len(listed) != graph.n_nodes:
        raise OptionError(f"attributes: {name!r} has {len(listed)} values for {graph.n_nodes} nodes")
    held: list[Any] = [None] * graph.n_nodes
    for place, value in zip(np.arange(graph.n_nodes)[source.nodes].tolist(), listed, strict=True):
        held[place] = value
    return held
