"""What nodes can be coloured by: their attributes in the input, groups and degrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import OptionError
from graphpri.graph import EdgeTable
from graphpri.interop import Source
from graphpri.measures import View
from graphpri.measures.structure import communities

MOST_GROUPS = 11
"""Groups with a colour of their own; the smaller ones share one."""
_FEW = 10


class Attribute(NamedTuple):
    """A value for each node: `groups` names those that `values` numbers; None where the values are numbers.

    Examples
    --------
    >>> Attribute("club", ["Officer", "Mr. Hi"], np.array([0, 1, 1], np.float32)).groups[0]
    'Officer'
    """

    name: str
    groups: list[str] | None
    values: NDArray[np.float32]


def node_attributes(G: Any, source: Source, given: Mapping[str, Any] | None, view: View) -> list[Attribute]:
    """Attributes by which nodes can be coloured, in canonical node order.

    Parameters
    ----------
    G : object
        The input: an :class:`EdgeTable`, a networkx or an igraph graph have attributes of nodes.
    source : Source
        The same, loaded.
    given : mapping of str to mapping or sequence, optional
        More of them: by label, or in the order of the input's nodes.
    view : View
        Of the original graph.

    Raises
    ------
    OptionError
        For given ones that don't fit the nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> from graphpri.interop import load
    >>> from graphpri.measures import Settings
    >>> karate = nx.karate_club_graph()
    >>> source = load(karate)
    >>> view = View(source.graph, Settings(2.0, 0.0, "exact", "equation", "nats", 0))
    >>> [found.name for found in node_attributes(karate, source, None, view)]
    ['club', 'community', 'degree in the original']
    """
    n = source.graph.n_nodes
    columns = dict(_own(G))
    found = [_communities(view)]
    found.append(Attribute("degree in the original", None, view.degrees.astype(np.float32)))
    read: list[Attribute] = []
    for name, column in columns.items():
        held: list[Any] = [None] * n
        for place, value in zip(np.arange(n)[source.nodes].tolist(), column, strict=True):
            held[place] = value
        read += _read(str(name), held)
    for name, values in (given or {}).items():
        chosen = _read(str(name), _matched(source, str(name), values))
        if not chosen:
            raise OptionError(f"attributes: {name!r} says nothing that groups nodes: each has another value, or none")
        read += chosen
    return read + found


def _communities(view: View) -> Attribute:
    """Communities by Louvain, numbered from the largest."""
    member = communities(view)
    order = np.argsort(-np.bincount(member), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return Attribute("community", *_grouped([f"community {place[c] + 1}" for c in member]))


def _own(G: Any) -> Iterable[tuple[str, Sequence[Any]]]:
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


def _matched(source: Source, name: str, values: Any) -> list[Any]:
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


def _read(name: str, column: Sequence[Any]) -> list[Attribute]:
    """The attribute of a column; none where it groups nothing."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in column]
    there = [v for v in plain if v is not None]
    if there and all(_is_number(v) for v in there):
        whole = all(float(v).is_integer() for v in there if np.isfinite(float(v)))
        if not whole or len(set(there)) > _FEW:
            return [Attribute(name, None, _numbers(plain))]
    texts = ["" if v is None else str(v) for v in plain]
    different = len(set(texts))
    if different < 2 or (different == len(texts) and different > _FEW):
        return []
    return [Attribute(name, *_grouped(texts))]


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(cast("Any", value), bool)


def _numbers(column: Sequence[Any]) -> NDArray[np.float32]:
    values = np.array([np.nan if v is None else float(v) for v in column])
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return np.where(np.isfinite(narrow), narrow, np.float32(np.nan))


def _grouped(texts: Sequence[str]) -> tuple[list[str], NDArray[np.float32]]:
    """Names of the groups, the largest first, and the group of each node; the last is what is left."""
    names = [text for text, _ in Counter(texts).most_common()]
    groups = [name or "(none)" for name in names[:MOST_GROUPS]]
    if len(names) > MOST_GROUPS:
        groups.append(f"others ({len(names) - MOST_GROUPS})")
    number = {name: min(i, MOST_GROUPS) for i, name in enumerate(names)}
    return groups, np.array([number[text] for text in texts], np.float32)
