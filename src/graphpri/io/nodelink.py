"""Node-link JSON: networkx's ``node_link_data`` with the key ``edges`` or ``links``, and the files of d3."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

import numpy as np

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.columns import (
    Column,
    count,
    ends_by_id,
    gather_columns,
    has_parallel,
    label_nodes,
    label_sequence,
    label_texts,
    label_values,
    left_out,
    python_values,
)
from graphpri.io.rows import shorten
from graphpri.io.sink import write_text
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions

_BLANK = re.compile(r"[ \t\n]*")
_LISTS = ("nodes", "links", "edges")
_LIMIT = "JSON holds true and false, finite numbers, text, and lists and records of these; npz holds others"


@dataclass
class _Document:
    """The outermost object of a file: its lists of nodes and edges with the line of each entry, and the rest."""

    source: InputStream
    lists: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)


def read_json(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read node-link JSON; nodes are called by their ``id``, which keeps its type: 7 is an integer, and "7" is text.

    Where nodes have no ids, the ends of edges are their ``key`` (graphology) or ``name`` (d3) if they are text, and
    positions in the list of nodes if they are integers (old files of d3), which are then called by their ``name``.

    Raises
    ------
    FileError
        Names the line, for text that is not JSON, JSON of another form (with the way to one that is read), missing or
        unknown ids, and keys that stand twice.
    """
    document = _Scanner(source, source.text(LONG_LINE_LIMIT).decode()).document()
    nodes = _records(document, "nodes")
    keys = [key for key in ("links", "edges") if key in document.lists]
    if len(keys) != 1:
        raise source.error(
            "two lists of edges stand in it, 'links' and 'edges': take one out" if keys else _other_form(document)
        )
    edges = _records(document, keys[0])
    lines, edge_lines = [line for line, _ in nodes], [line for line, _ in edges]
    by = ("from", "to") if edges and all("from" in edge and "source" not in edge for _, edge in edges) else _ENDS
    pairs = [
        (_label(source, edge, by[0], "edge", line), _label(source, edge, by[1], "edge", line)) for line, edge in edges
    ]
    key = _id_key([node for _, node in nodes], pairs)
    ids = [i if key is None else _label(source, node, key, "node", line) for i, (line, node) in enumerate(nodes)]
    u, v = ends_by_id(source, ids, lines, pairs, edge_lines)
    by_key = key == "key"  # graphology, which keeps attributes apart
    columns = gather_columns([_flat(_without(node, *[] if key is None else [key]), by_key) for _, node in nodes])
    if key is None and options.label is None and _all_differ(columns.get("name")):
        labels, attributes = label_nodes(source, ids, columns, lines, "name")
    elif options.label is None or options.label == (key or "id"):
        labels, attributes = label_sequence(ids), columns
    else:
        labels, attributes = label_nodes(source, ids, columns, lines, options.label)
    graph = _graph_record(document.rest.pop("graph", {}))
    multigraph = document.rest.pop("multigraph", None)
    directed = document.rest.pop("directed", False)
    if by_key:
        graph |= _graphology(source, document, [(line, edge) for line, edge in edges])
        directed = graph.pop("directed")
    if not isinstance(directed, bool) or not isinstance(multigraph, bool | None):
        raise source.error("'directed' and 'multigraph' should be true or false")
    return EdgeTable(
        len(nodes),
        u,
        v,
        labels,
        directed,
        gather_columns([_flat(_without(edge, *by), by_key) for _, edge in edges]),
        attributes,
        {**graph, **document.rest},
        source.row_name(np.array(edge_lines, np.int64)),
    )


_ENDS = ("source", "target")


def _id_key(nodes: Sequence[Mapping[str, Any]], pairs: Sequence[tuple[Any, Any]]) -> str | None:
    """The key of a node that ends of edges refer to; None where they are positions."""
    if any("id" in node for node in nodes) or not nodes:
        return "id"
    if all(type(end) is int for pair in pairs for end in pair):
        return None
    return next((key for key in ("key", "name") if all(key in node for node in nodes)), "id")


def _flat(record: dict[str, Any], flat: bool) -> dict[str, Any]:
    """A record with its ``attributes``, where graphology keeps them, among its keys."""
    inner = record.get("attributes")
    if not flat or not isinstance(inner, dict) or not record.keys().isdisjoint(cast("dict[str, Any]", inner)):
        return record
    return _without(record, "attributes", "undirected") | cast("dict[str, Any]", inner)


def _graphology(
    source: InputStream, document: _Document, edges: Sequence[tuple[int, Mapping[str, Any]]]
) -> dict[str, Any]:
    """Attributes of the graph, and whether its edges are directed, as graphology writes them.

    Raises
    ------
    FileError
        Where directed and undirected edges are mixed.
    """
    options, inner = document.rest.pop("options", {}), document.rest.pop("attributes", {})
    kind = cast("dict[str, Any]", options).get("type", "mixed") if isinstance(options, dict) else "mixed"
    directed = [kind != "undirected" and not edge.get("undirected", False) for _, edge in edges]
    if len(set(directed)) > 1:
        line = next(line for (line, _), one in zip(edges, directed, strict=True) if one != directed[0])
        raise source.error("directed and undirected edges are mixed: make them all one or the other", line)
    return {**(cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}), "directed": any(directed)}


def _graph_record(graph: Any) -> dict[str, Any]:
    """Attributes of the graph, which old versions of networkx write as pairs."""
    if isinstance(graph, dict):
        return cast("dict[str, Any]", graph)
    pairs = cast("list[Any]", graph) if isinstance(graph, list) else [graph]
    if all(isinstance(pair, list) and len(cast("list[Any]", pair)) == 2 for pair in pairs):
        return {str(key): value for key, value in pairs}
    return {"graph": graph}


def _all_differ(column: Column | None) -> bool:
    values = [] if column is None else python_values(column)
    return all(isinstance(value, str | int) for value in values) and len(set(map(str, values))) == len(values) > 0


def _records(document: _Document, key: str) -> list[tuple[int, dict[str, Any]]]:
    if key not in document.lists:
        raise document.source.error(_other_form(document))
    for line, entry in document.lists[key]:
        if not isinstance(entry, dict):
            raise document.source.error(f"an entry of {key!r} should be an object {{…}}, not {_short(entry)}", line)
    return document.lists[key]


def _other_form(document: _Document) -> str:
    """What to do with JSON that holds a graph in another form, or none."""
    found = {*document.lists, *document.rest}
    for keys, name, way in (
        ({"elements"}, "Cytoscape's", "networkx.cytoscape_graph, or export GraphML"),
        ({"adjacency"}, "networkx's adjacency_data", "networkx.adjacency_graph"),
        ({"children"}, "a tree", "networkx.tree_graph"),
        (
            {"graph"},
            "the JSON Graph Format",
            "its lists 'nodes' and 'edges' taken out of 'graph', each node with an id",
        ),
    ):
        if keys <= found:
            return f"the JSON is of another form, {name}: bring it to node-link form by {way}"
    listed = ", ".join(map(repr, sorted(found))) or "none"
    return f"a list of 'nodes' and one of 'links' or 'edges' should stand in it (its keys: {listed})"


def _label(source: InputStream, record: Mapping[str, Any], key: str, what: str, line: int) -> Any:
    value = record.get(key)
    if isinstance(value, dict) and what == "edge":
        value = cast("dict[str, Any]", value).get("id")  # d3 puts the node itself there, after a layout
    if isinstance(value, list):
        value = _as_tuple(cast("list[Any]", value))  # of networkx, whose nodes can be tuples
    if isinstance(value, bool) or not isinstance(value, str | int | float | tuple):
        raise source.error(f"the {what} should have a {key!r} that is text or a number, not {_short(value)}", line)
    return cast("Any", value)


def _as_tuple(items: list[Any]) -> tuple[Any, ...]:
    return tuple(
        _as_tuple(item) if isinstance(item, list) else str(item) if isinstance(item, dict) else item for item in items
    )


def _short(value: Any) -> str:
    return shorten(json.dumps(value, ensure_ascii=False))


def _without(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


# The text, whose lines json does not tell


class _Scanner:
    """Splits the outermost object into its lists of nodes and edges, entry by entry, and the rest."""

    def __init__(self, source: InputStream, text: str) -> None:
        self._source = source
        self._text = text
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._decoder = json.JSONDecoder(object_pairs_hook=_object)

    def document(self) -> _Document:
        """The whole text."""
        document = _Document(self._source)
        if self._mark() != "{":
            raise self._error(
                "a JSON object {…} with 'nodes' and 'links' or 'edges' should stand here; a list of edges is read by "
                "pandas.DataFrame(json.load(…)), whose frame can be passed"
            )
        for start in self._entries("}"):
            key = self._value()
            if not isinstance(key, str) or self._mark() != ":":
                raise self._error("not JSON: a key in quotes and a colon should stand here", start)
            if key in document.lists or key in document.rest:
                raise self._error(f"the key {key!r} stands twice in one object", start)
            self._at += 1
            if self._mark() == "[" and key in _LISTS:
                document.lists[key] = [(self._line(at), self._value()) for at in self._entries("]")]
            else:
                document.rest[key] = self._value()
        if self._mark():
            raise self._error(
                "something follows the end of the object: read lines of JSON by pandas.read_json(…, lines=True), and "
                "pass the frame"
            )
        return document

    def _line(self, at: int) -> int:
        return bisect_left(self._breaks, at) + 1

    def _error(self, message: str, at: int | None = None) -> FileError:
        return self._source.error(message, self._line(self._at if at is None else at))

    def _mark(self) -> str:
        """The next character that is not blank; empty at the end."""
        self._at = cast("re.Match[str]", _BLANK.match(self._text, self._at)).end()
        return self._text[self._at : self._at + 1]

    def _value(self) -> Any:
        self._mark()
        try:
            found, self._at = self._decoder.raw_decode(self._text, self._at)
        except _TwiceError as error:
            raise self._error(str(error)) from None
        except json.JSONDecodeError as error:
            raise self._error(f"not JSON ({error.msg}): {_DAMAGED}", error.pos) from None
        except (RecursionError, ValueError):
            raise self._error("objects are nested too deep, or a number has too many digits") from None
        return found

    def _entries(self, end: str) -> Iterator[int]:
        """Where each entry behind an opening bracket begins; whoever takes one moves on behind it."""
        self._at += 1
        while self._mark() != end:
            yield self._at
            mark = self._mark()
            if mark not in (",", end) or not mark:
                raise self._error(f"not JSON (a comma or {end} should stand here): {_DAMAGED}")
            if mark == ",":
                self._at += 1
                if self._mark() == end:
                    raise self._error("not JSON: nothing follows the comma")
        self._at += 1


_DAMAGED = "it is cut off or damaged"


class _TwiceError(ValueError):
    """A key stands twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return record


# Writing


def write_json(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write node-link JSON with the key ``links``, as d3 and networkx's ``node_link_graph(…, edges="links")`` read it.

    Raises
    ------
    FileError
        Where two labels can't be told apart.
    """
    notes: list[str] = []
    labels = label_values(table)
    if not all(_is_label(label) for label in labels):
        labels = label_texts(table, name, [])
        changed = [label for label in label_values(table) if not isinstance(label, str)]
        notes.append(
            f"{count(len(changed), 'node label')} such as {changed[0]!r} will be read back as text; npz keeps types"
        )
    elif len(set(labels)) < len(labels):
        raise FileError(f"{name}: two node labels are the same number: rename one, or write npz")
    graph = {key: [value] for key, value in table.graph_attributes.items()}
    of_graph = _kept("graph", graph, (), notes)
    of_nodes = _kept("node", table.node_attributes, ("id",), notes)
    of_edges = _kept("edge", table.edge_attributes, ("source", "target"), notes)
    head: dict[str, Any] = {"directed": table.directed, "multigraph": has_parallel(table)}
    head["graph"] = {key: values[0] for key, values in of_graph.items()}
    write_text(stream, name, [_dump(head)[:-1] + ',\n"nodes": [\n'])
    ids: list[dict[str, Any]] = [{"id": label} for label in labels]
    write_text(stream, name, _lines(ids, of_nodes))
    write_text(stream, name, ['],\n"links": [\n'])
    ends: list[dict[str, Any]] = [
        {"source": labels[u], "target": labels[v]}
        for u, v in zip(table.source.tolist(), table.target.tolist(), strict=True)
    ]
    write_text(stream, name, _lines(ends, of_edges))
    write_text(stream, name, ["]}\n"])
    return notes


def _is_label(label: Any) -> bool:
    """Whether a label has its own type in JSON; tuples become lists there, and tuples again."""
    if type(label) is tuple:
        return all(map(_is_label, cast("tuple[Any, ...]", label)))
    return type(label) is str or (type(label) in (int, float) and _fits(label))


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _lines(records: Sequence[dict[str, Any]], columns: Mapping[str, Sequence[Any]]) -> Iterable[str]:
    last = len(records) - 1
    for i, record in enumerate(records):
        more = {key: values[i] for key, values in columns.items() if values[i] is not None}
        yield _dump(record | more) + (",\n" if i < last else "\n")


def _kept(
    what: str, attributes: Mapping[str, Column], reserved: tuple[str, ...], notes: list[str]
) -> dict[str, list[Any]]:
    """Columns that JSON gives back the same, with a note on the others."""
    columns = {key: python_values(column) for key, column in attributes.items()}
    kept = {
        key: values
        for key, values in columns.items()
        if key not in reserved
        and all(_fits(value, nested=False) or (value is None and what != "graph") for value in values)
    }
    notes += left_out(what, [key for key in columns if key not in kept], _LIMIT)
    return kept


def _fits(value: Any, depth: int = 0, *, nested: bool = True) -> bool:
    """Whether JSON gives a value back the same; a missing value only inside of others."""
    if type(value) is dict:
        record = cast("dict[Any, Any]", value)
        return depth < 50 and all(type(key) is str and _fits(item, depth + 1) for key, item in record.items())
    if type(value) is list:
        return depth < 50 and all(_fits(item, depth + 1) for item in cast("list[Any]", value))
    if type(value) is int:
        return abs(value) < 10**4000
    if type(value) is float:
        return math.isfinite(value)
    return type(value) in (str, bool) or (value is None and nested)
