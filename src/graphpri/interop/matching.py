"""Match another graph, or a choice of edges, to a graph at hand by node labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError, OptionError, argument
from graphpri.graph import BoolArray, EdgeTable, Graph, number_in
from graphpri.interop.source import DEFAULT_POLICIES, Policies, Source, load


def align(graph: Graph, other: Any, policies: Policies = DEFAULT_POLICIES) -> Graph:
    """Bring `other` onto the nodes of `graph`, so that the two Laplacians compare entry by entry.

    Parameters
    ----------
    graph : Graph
        N nodes, M edges.
    other : object
        Anything :func:`as_graph` accepts, its nodes matched by label and perhaps without the isolated
        ones; a result of ``sparsify``, or any object whose ``kept`` is a :class:`Graph`; or a bool array
        of shape (M,), the edges to keep in the order of `graph`.
    policies : Policies
        How to read `other`.

    Returns
    -------
    Graph
        N nodes with the labels of `graph`; the edges of `other`.

    Raises
    ------
    GraphError
        For a node that `graph` doesn't have, and for whatever :func:`as_graph` refuses.
    """
    if isinstance(other, np.ndarray) and other.ndim == 1 and other.dtype.kind == "b":
        return graph.select(cast("BoolArray", other))
    kept = getattr(other, "kept", None)
    other = kept if isinstance(kept, Graph) else other
    found = load(other, policies).graph
    if found.labels is graph.labels and found.n_nodes <= graph.n_nodes:
        return replace(found, n_nodes=graph.n_nodes)
    nodes = _match_nodes(graph, found)
    columns = {found.weight_name: found.weights} if found.weight_name is not None else {}
    table = EdgeTable(graph.n_nodes, nodes[found.source], nodes[found.target], edge_attributes=columns)
    return replace(table.canonical(weight=found.weight_name).graph, labels=graph.labels)


def edge_selector(source: Source, edges: Any, name: str = "edges") -> BoolArray:
    """Mask over the canonical edges of a source that `edges` names, in one of three ways.

    Parameters
    ----------
    source : Source
        A loaded graph with M edges.
    edges : object
        Pairs of node labels, or of igraph's vertex names, in either direction (an iterable of pairs, or an array of
        shape (k, 2)); or a bool array of shape (M,) in the input's edge order; or a one-dimensional array or list of
        edge numbers in that order. The order is that of the distinct edges' first appearance.
    name : str
        What the option is called, for error messages.

    Raises
    ------
    OptionError
        For an edge the graph doesn't have, a mask or number that doesn't fit; names it.
    """
    listed = edges if isinstance(edges, np.ndarray) else _as_list(edges, name)
    if isinstance(listed, np.ndarray) and listed.ndim == 1 and listed.size:
        return _by_position(source, cast("NDArray[Any]", listed), name)
    mask = np.zeros(source.graph.n_edges, bool)
    pairs = [_pair(item, name) for item in (listed.tolist() if isinstance(listed, np.ndarray) else listed)]
    mask[_find_edges(source, pairs, name)] = True
    return mask


def _as_list(edges: Any, name: str) -> Sequence[Any] | NDArray[Any]:
    if not isinstance(edges, Iterable) or isinstance(edges, str | bytes | Mapping):
        raise OptionError(f"{argument(name, edges)}: pass pairs of nodes, a bool array over the edges, or edge numbers")
    listed = list(cast("Iterable[Any]", edges))
    if listed and all(isinstance(item, Integral | np.bool_) for item in listed):
        return np.asarray(listed)
    return listed


def _by_position(source: Source, listed: NDArray[Any], name: str) -> BoolArray:
    m = source.graph.n_edges
    mask = np.zeros(m, bool)
    if listed.dtype.kind == "b":
        if listed.size != m:
            raise OptionError(f"{name}: a mask of {listed.size} entries does not fit {m} edges")
        mask[number_in(source.edges, listed)] = True
        return mask
    if listed.dtype.kind not in "iu":
        raise OptionError(f"{name}: an array of {listed.dtype} is neither a mask nor edge numbers")
    if ((listed < 0) | (listed >= m)).any():
        wrong = listed[(listed < 0) | (listed >= m)][0]
        raise OptionError(f"{name}: there is no edge number {wrong}; they run from 0 to {m - 1}")
    mask[number_in(source.edges, listed)] = True
    return mask


def _pair(item: Any, name: str) -> tuple[Hashable, Hashable]:
    if isinstance(item, str | bytes) or not hasattr(item, "__len__") or len(item) != 2:
        raise OptionError(f"{name}: {item!r} is not a pair of nodes (u, v)")
    u, v = item
    return u, v


def _hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _find_edges(source: Source, pairs: Sequence[tuple[Hashable, Hashable]], name: str) -> NDArray[np.int64]:
    """Edge numbers of pairs of labels, or of names of nodes."""
    graph = source.graph
    number = _numbering(graph)
    ends = np.empty((len(pairs), 2), np.int64)
    for row, pair in enumerate(pairs):
        for side, label in enumerate(pair):
            found = number.get(label) if _hashable(label) else None
            if found is None:
                named = source.names(label)
                if len(named) > 1:
                    raise OptionError(
                        f"{name}: the edge {pair!r}: {len(named)} vertices have the name {label!r}, use vertex ids: "
                        f"{', '.join(map(str, named[:5]))}"
                    )
                found = named[0] if named else None
            if found is None:
                raise OptionError(f"{name}: the edge {pair!r} names a node that the graph doesn't have: {label!r}")
            ends[row, side] = found
    wanted = ends.min(axis=1, initial=graph.n_nodes) * graph.n_nodes + ends.max(axis=1, initial=0)
    keys = graph.edge_keys()
    at = np.searchsorted(keys, wanted)
    there = keys[np.minimum(at, max(keys.size - 1, 0))] == wanted if keys.size else np.zeros(wanted.size, bool)
    if not there.all():
        raise OptionError(f"{name}: the graph has no edge {pairs[int(np.argmin(there))]!r}")
    return at


def _match_nodes(graph: Graph, other: Graph) -> NDArray[np.int64]:
    """Number in `graph` of each node of `other`."""
    number = _numbering(graph)
    nodes = np.empty(other.n_nodes, np.int64)
    for i, label in enumerate(_plain_labels(other)):
        found = number.get(label)
        if found is None:
            raise _unknown(label, graph)
        nodes[i] = found
    return nodes


def _unknown(label: Hashable, graph: Graph) -> GraphError:
    some = ", ".join(repr(graph.label(i)) for i in range(min(3, graph.n_nodes)))
    return GraphError(f"the node {label!r} is not in the other graph, whose {graph.n_nodes} nodes begin with {some}")


def _plain_labels(graph: Graph) -> Iterable[Hashable]:
    if graph.labels is None:
        return range(graph.n_nodes)
    return graph.labels.tolist() if isinstance(graph.labels, np.ndarray) else graph.labels


def _numbering(graph: Graph) -> dict[Hashable, int]:
    return {label: i for i, label in enumerate(_plain_labels(graph))}
