"""The page as one text: data, places of nodes, scripts and styles in a single file that asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from numbers import Real
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from graphpri import _output
from graphpri._layout import spring, subgraph
from graphpri._output import printable
from graphpri._version import __version__
from graphpri.errors import OptionError
from graphpri.explorer.solutions import COLUMNS, Grid, Ranking
from graphpri.graph import BoolArray, EdgeTable, FloatArray, Graph
from graphpri.interop import Source
from graphpri.interop.source import in_node_order, node_columns
from graphpri.measures import Settings, View
from graphpri.measures.structure import communities_for_pictures
from graphpri.plot import positions

# What nodes can be coloured by

MOST_GROUPS = len(_output.GROUPS["light"]) - 1
"""Groups with a colour of their own; the smaller ones share one."""
_FEW = 10
COMMUNITY = "community (computed)"


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
    ['club', 'community (computed)', 'degree in the original']
    """
    columns = dict(node_columns(G))
    found = [_communities(view)]
    found.append(Attribute("degree in the original", None, view.degrees.astype(np.float32)))
    read: list[Attribute] = []
    for name, column in columns.items():
        read += _read(str(name), in_node_order(source, str(name), column))
    for name, values in (given or {}).items():
        chosen = _read(str(name), in_node_order(source, str(name), values))
        if not chosen:
            raise OptionError(f"attributes: {name!r} says nothing that groups nodes: each has another value, or none")
        read += chosen
    return read + found


Value = str | float | None


class Columns(NamedTuple):
    """Every value that nodes and edges came with, for the table and the files of the page.

    Parameters
    ----------
    nodes, edges : dict of str to list
        A value for each node and each edge, in canonical order: a number that JSON and JavaScript have, text for
        any other, or None.

    Examples
    --------
    >>> Columns({"club": ["a", None]}, {}).nodes["club"][0]
    'a'
    """

    nodes: dict[str, list[Value]]
    edges: dict[str, list[Value]]


def columns_of(G: Any, source: Source) -> Columns:
    """What nodes and edges of an :class:`EdgeTable`, a networkx or an igraph graph have; nothing of others.

    Columns of edges are left out where edges were joined.

    Examples
    --------
    >>> import networkx as nx
    >>> from graphpri.interop import load
    >>> karate = nx.karate_club_graph()
    >>> found = columns_of(karate, load(karate))
    >>> found.nodes["club"][0], found.edges["weight"][0]
    ('Mr. Hi', 4)
    """
    n, m = source.graph.n_nodes, source.graph.n_edges
    nodes = {name: _placed(np.arange(n)[source.nodes], column) for name, column in node_columns(G)}
    edges = {name: _placed(np.arange(m)[source.edges], column) for name, column in _own_edges(G) if len(column) == m}
    return Columns(nodes, edges)


def _placed(order: NDArray[Any], column: Sequence[Any]) -> list[Value]:
    held: list[Value] = [None] * len(order)
    for place, value in zip(order.tolist(), column, strict=True):
        held[place] = _cell(value.item() if isinstance(value, np.generic) else value)
    return held


def _cell(value: Any) -> Value:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        exact = abs(value) <= _MOST_WHOLE if isinstance(value, int) else np.isfinite(value)
        if exact:
            return value
    return None if value is None else printable(str(value))


_MOST_WHOLE = 2**53 - 1  # the largest integer n so that JavaScript tells n and n + 1 apart


def _own_edges(G: Any) -> Iterable[tuple[str, Sequence[Any]]]:
    if isinstance(G, EdgeTable):
        return [(printable(str(name)), list(column)) for name, column in G.edge_attributes.items()]
    kind = type(G).__module__.partition(".")[0]
    if kind == "networkx":
        data: list[dict[Any, Any]] = [d for *_, d in G.edges(data=True)]
        names = dict.fromkeys(name for d in data for name in d)
        return [(printable(str(name)), [d.get(name) for d in data]) for name in names]
    if kind == "igraph":
        return [(str(name), list(G.es[name])) for name in G.es.attributes()]
    return []


def _communities(view: View) -> Attribute:
    """Communities by Louvain, numbered from the largest."""
    member = communities_for_pictures(view)
    order = np.argsort(-np.bincount(member), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return Attribute(COMMUNITY, *_grouped([f"community {place[c] + 1}" for c in member]))


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


# How the page holds its data: a header and arrays, deflated, as base64 text.
#
# The text has letters, digits and ``+/=`` only, so that no label can end the element that it stands in. Decompressed,
# it is a 4-byte length, a JSON header, and arrays at the places that the header names, each at a multiple of 8 bytes,
# little-endian.

_ALIGNED = 8


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """A header and named arrays as text.

    Parameters
    ----------
    header : mapping
        Values that JSON has; NaN and infinities are not among them.
    arrays : mapping of str to ndarray
        Of uint8, uint32, float32 or float64.

    Examples
    --------
    >>> text = pack({"title": "karate"}, {"ends": np.array([1, 2], np.uint32)})
    >>> text.isascii(), unpack(text)[0]["title"]
    (True, 'karate')
    """
    places: dict[str, list[Any]] = {}
    body = bytearray()
    for name, array in arrays.items():
        places[name] = [array.dtype.name, len(body), array.size]
        body += np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
        body += bytes(-len(body) % _ALIGNED)
    head = json.dumps({**header, "arrays": places}, ensure_ascii=True, allow_nan=False).encode("ascii")
    head += b" " * (-(len(head) + 4) % _ALIGNED)
    packed = zlib.compress(len(head).to_bytes(4, "little") + head + bytes(body), 9)
    return base64.b64encode(packed).decode("ascii")


def unpack(text: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of :func:`pack`.

    Examples
    --------
    >>> unpack(pack({"title": "karate"}, {"ends": np.array([1, 2], np.uint32)}))
    ({'title': 'karate'}, {'ends': array([1, 2], dtype=uint32)})
    """
    raw = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(raw[:4], "little")
    header = json.loads(raw[4 : 4 + size])
    found: dict[str, NDArray[Any]] = {}
    for name, (dtype, offset, count) in header.pop("arrays").items():
        kind = np.dtype(dtype).newbyteorder("<")
        found[name] = np.frombuffer(raw, kind, count, 4 + size + offset).astype(dtype)
    return header, found


def masks_to_bits(masks: BoolArray) -> NDArray[np.uint8]:
    """Masks of shape (B, K, M) as bits, each as what differs from the budget before; shape (B, K, ⌈M/8⌉).

    Edge i is bit i mod 8, the lowest first, of byte i div 8. Most edges enter once along the budgets, so that
    the differences are nearly all zero and deflate well.

    Examples
    --------
    >>> masks = np.array([[[True, False, False], [True, True, False]]])
    >>> masks_to_bits(masks).tolist()
    [[[1], [2]]]
    >>> bool((bits_to_masks(masks_to_bits(masks), 3) == masks).all())
    True
    """
    changed = masks.copy()
    changed[:, 1:] ^= masks[:, :-1]
    return np.packbits(changed, axis=-1, bitorder="little")


def bits_to_masks(bits: NDArray[np.uint8], n_edges: int) -> BoolArray:
    """The masks of :func:`masks_to_bits`.

    Examples
    --------
    >>> bits_to_masks(np.array([[[1], [2]]], np.uint8), 3).astype(int).tolist()
    [[[1, 0, 0], [1, 1, 0]]]
    """
    return np.unpackbits(np.bitwise_xor.accumulate(bits, axis=1), axis=-1, count=n_edges, bitorder="little").astype(
        bool
    )


SCRIPTS = ("data.js", "draw.js", "curves.js", "save.js", "app.js")


def render(
    title: str,
    graph: Graph,
    place: NDArray[np.float32],
    attributes: Sequence[Attribute],
    grid: Grid,
    baselines: Sequence[Ranking],
    about: Sequence[str],
    columns: Columns | None = None,
    call: Mapping[str, str] | None = None,
) -> str:
    """The page of a graph and its solutions.

    Parameters
    ----------
    title : str
        Any text.
    graph : Graph
    place : ndarray of float32, shape (N, 2)
    attributes : sequence of Attribute
    grid : Grid
    baselines : sequence of Ranking
    about : sequence of str
        What to say of how the page came about, a sentence each.
    columns : Columns, optional
        Values that files downloaded from the page have.
    call : mapping of str to str, optional
        ``input``, and the options of the ``command``, of one for another method (``baseline``) and of ``python``, as
        they are written there.

    Examples
    --------
    >>> from graphpri.explorer.solutions import Objective, SubsetMeter, solve_grid
    >>> from graphpri.solvers.local_search import Constraints
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> grid = solve_grid(SubsetMeter.of(Objective(graph, 1.0)), [1.0], [1], Constraints(), seed=0)
    >>> html = render("Two edges", graph, np.zeros((3, 2), np.float32), [], grid, [], [])
    >>> "<title>Two edges" in html
    True
    """
    called = call or {"input": "INPUT", "command": "", "baseline": "", "python": ""}
    header = {
        "title": printable(title),
        "version": __version__,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "labels": None if graph.labels is None else [printable(str(graph.label(i))) for i in range(graph.n_nodes)],
        "weight": None if graph.weight_name is None else printable(graph.weight_name),
        "betas": grid.betas,
        "budgets": grid.budgets,
        "columns": COLUMNS,
        "scored": grid.scored,
        "baselines": [ranking.method for ranking in baselines],
        "attributes": [
            {"name": printable(a.name), "groups": None if a.groups is None else [printable(g) for g in a.groups]}
            for a in attributes
        ],
        "about": [printable(line) for line in about],
        "nodeValues": columns.nodes if columns else {},
        "edgeValues": columns.edges if columns else {},
        "call": {key: printable(text) for key, text in called.items()},
        "palette": {"groups": _output.GROUPS, "ramps": _output.RAMPS},
    }
    return _assembled(title, pack(header, _arrays(graph, place, attributes, grid, baselines)))


def _arrays(
    graph: Graph,
    place: NDArray[np.float32],
    attributes: Sequence[Attribute],
    grid: Grid,
    baselines: Sequence[Ranking],
) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "source": graph.source.astype(np.uint32),
        "target": graph.target.astype(np.uint32),
        "x": place[:, 0],
        "y": place[:, 1],
        "bits": masks_to_bits(grid.masks),
        "values": grid.values,
        "scores": grid.scores,
    }
    if graph.is_weighted:
        arrays["weights"] = np.array(graph.weights)
    arrays |= {f"attribute{i}": a.values for i, a in enumerate(attributes)}
    for i, ranking in enumerate(baselines):
        arrays |= {f"order{i}": ranking.order, f"baseline{i}": ranking.values}
    return arrays


def _assembled(title: str, data: str) -> str:
    assets = files("graphpri.explorer") / "assets"
    themes = {":root": "light", ':root[data-theme="dark"]': "dark"}
    roots = "\n".join(f"{root} {{ {_output.variables(theme)} }}" for root, theme in themes.items())
    style = f"{roots}\n{(assets / 'style.css').read_text('utf-8')}"
    script = "\n".join((assets / name).read_text("utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    page = (assets / "page.html").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src blob: data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"title": escape(printable(title)), "policy": policy, "style": style, "script": script, "data": data}
    # In one pass: a title may hold what looks like the place of another part.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Where nodes are drawn: one fixed place for each, computed once.

SPRINGS = 1500
"""Nodes up to which springs place them; larger graphs are placed group by group."""
_SPREAD = 0.6  # power of the radius: opens the dense middle, draws stragglers in
_ROOM = 0.4  # radius of a node, where a disc of N of them has the radius √N/2
_NEAR = 12
_STRONGEST = 4  # ties of a group that pull
_MEASURING = Settings(0.0, 0.0, "degree", "equation", "nats", 0)


def place_nodes(graph: Graph, layout: Any = None, seed: int = 0) -> NDArray[np.float32]:
    """Positions in the unit disc, shape (N, 2).

    Springs place up to 1500 nodes. Of more, the Louvain communities are placed by springs between them, and
    the nodes of each within its disc, in the same way. Then nodes that lie on one another are pushed apart.

    Parameters
    ----------
    graph : Graph
    layout : array_like of shape (N, 2), or mapping of labels to (x, y), optional
        Positions, which are only centred and scaled.
    seed : int

    Raises
    ------
    OptionError
        For positions that don't fit.

    Examples
    --------
    >>> place_nodes(Graph.from_edges([0, 1], [1, 2]), layout=[[0, 0], [1, 0], [2, 0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    if layout is not None:
        return _scaled(positions(graph, layout)).astype(np.float32)
    joined = np.flatnonzero(graph.degrees() > 0)
    found = _drawn(subgraph(graph, joined), seed) * (np.sqrt(joined.size) / 2)
    place = np.zeros((graph.n_nodes, 2))
    place[joined] = _scaled(_pushed_apart(found, np.full(joined.size, _ROOM), 40))
    _ring(place, np.setdiff1d(np.arange(graph.n_nodes), joined))
    return place.astype(np.float32)


def _drawn(graph: Graph, seed: int) -> FloatArray:
    """Positions in the unit disc."""
    n = graph.n_nodes
    if n <= SPRINGS:
        found = _scaled(spring(graph, seed))
        return found * np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9) ** (_SPREAD - 1)
    member = communities_for_pictures(View(graph, _MEASURING))
    groups = int(member.max()) + 1
    if not 1 < groups < n / 2:
        return _sunflower(n)
    return _by_groups(graph, member, groups, seed)


def _by_groups(graph: Graph, member: NDArray[np.int64], groups: int, seed: int) -> FloatArray:
    sizes = np.bincount(member, minlength=groups)
    radii = np.sqrt(sizes) / 2
    centres = _drawn(_ties(graph, member, groups), seed) * np.sqrt(graph.n_nodes) / 2
    centres = _pushed_apart(centres, radii, 200)
    place = np.empty((graph.n_nodes, 2))
    for nodes in np.split(np.argsort(member, kind="stable"), np.cumsum(sizes)[:-1]):
        group = member[nodes[0]]
        place[nodes] = centres[group] + radii[group] * _drawn(subgraph(graph, nodes), seed)
    return _scaled(place)


def _ties(graph: Graph, member: NDArray[np.int64], groups: int) -> Graph:
    """The graph of the groups: each with those that it has most edges to, for the degrees of both."""
    low, high = np.sort([member[graph.source], member[graph.target]], axis=0)
    strength = np.bincount(low, minlength=groups) + np.bincount(high, minlength=groups)
    across = low != high
    keys, counts = np.unique(low[across] * groups + high[across], return_counts=True)
    u, v = np.divmod(keys, groups)
    order = np.argsort(-counts / strength[u] / strength[v], kind="stable")
    kept, ties = np.zeros(keys.size, bool), np.zeros(groups, np.int64)
    for edge in order.tolist():
        if min(ties[u[edge]], ties[v[edge]]) < _STRONGEST:
            kept[edge] = True
            ties[[u[edge], v[edge]]] += 1
    return Graph.from_edges(u[kept], v[kept], n_nodes=groups)


def _pushed_apart(place: FloatArray, radii: FloatArray, steps: int) -> FloatArray:
    """Discs that overlap, moved until most do no more: each pushes its nearest ones away."""
    near = min(_NEAR, len(place))
    if near < 2:
        return place
    for _ in range(steps):
        distance, other = cKDTree(place).query(place, k=near)
        room = radii[:, None] + radii[other]
        push = np.maximum(room - distance, 0.0) / np.maximum(distance, 1e-9) / 4
        move = ((place[:, None, :] - place[other]) * push[:, :, None]).sum(axis=1)
        length = np.maximum(np.linalg.norm(move, axis=1), 1e-9)
        place = place + move * np.minimum(1.0, radii / length)[:, None]
    return place


def _sunflower(n: int) -> FloatArray:
    """Nodes that nothing groups, evenly over the disc: H. Vogel, Mathematical Biosciences 44, 1979."""
    turn = np.arange(n) * np.pi * (3 - np.sqrt(5))
    return np.sqrt((np.arange(n) + 0.5) / n)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _ring(place: FloatArray, alone: NDArray[np.int64]) -> None:
    """Nodes without an edge stand on a circle around the others."""
    angle = 2 * np.pi * np.arange(alone.size) / max(alone.size, 1)
    place[alone] = 1.12 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _scaled(place: FloatArray) -> FloatArray:
    """Centred on the middle of their box, the farthest at distance 1."""
    if not len(place):
        return place
    place = place - (place.max(axis=0) + place.min(axis=0)) / 2
    return place / max(float(np.linalg.norm(place, axis=1).max()), 1e-300)
