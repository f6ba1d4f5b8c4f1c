"""Reading GraphML, element by element, behind defusedxml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.columns import (
    Column,
    alike,
    ends_by_id,
    gather_columns,
    label_nodes,
    label_texts,
    left_out,
    parse_cells,
    python_values,
)
from graphpri.io.format import ReadOptions
from graphpri.io.rows import ANY_NUMBER, shorten
from graphpri.io.sink import write_text
from graphpri.io.source import InputStream

_NAMESPACE = "http://graphml.graphdrawing.org/"
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_PORTS = {"sourceport": "source_port", "targetport": "target_port"}


def _number(kind: Callable[[str], Any], pattern: re.Pattern[str]) -> Callable[[str], Any]:
    """What reads a number of a kind, and raises a ValueError for text that doesn't match the pattern."""

    def read(text: str) -> Any:
        if not pattern.fullmatch(bare := text.strip()):
            raise ValueError(f"{text!r} is no number")
        return kind(bare)

    return read


_TYPES: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: _TRUTH[text.strip().lower()],
    **dict.fromkeys(("int", "integer", "long"), _number(int, _INTEGER)),
    **dict.fromkeys(("float", "double"), _number(float, ANY_NUMBER)),
    "string": str,
}


@dataclass(slots=True)
class _Key:
    """A declared attribute; without a name it holds an editor's drawing, which is passed over."""

    name: str | None
    kind: str
    domain: str
    default: Any = None


@dataclass(slots=True)
class _Item:
    """A graph, node or edge: the line where it begins, its XML attributes, and its data."""

    kind: str
    line: int
    xml: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)


def read_graphml(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a GraphML file of one graph; nodes are called by their ids unless `label` names an attribute.

    An edge's own id becomes the edge attribute ``id`` (networkx keeps multigraph keys there), the
    graph's a graph attribute, ports ``source_port`` and ``target_port``. Descriptions and the drawings
    of editors are not read.

    Raises
    ------
    FileError
        Names the line, for XML that is broken or declares entities, several or nested graphs,
        hyperedges, directed edges among undirected ones, missing or unknown ids, and values that are
        not of their declared type.
    """
    handler = _parse(source)
    if handler.graph is None:
        raise source.error("there is no <graph> in it")
    nodes, edges = handler.nodes, handler.edges
    ids, lines = [node.xml["id"] for node in nodes], [node.line for node in nodes]
    pairs, edge_lines = [(edge.xml["source"], edge.xml["target"]) for edge in edges], [edge.line for edge in edges]
    u, v = ends_by_id(source, ids, lines, pairs, edge_lines)
    columns = gather_columns([handler.record(node) for node in nodes])
    labels, attributes = label_nodes(source, ids, columns, lines, options.label)
    name = handler.graph.xml.get("id")
    graph_id = {} if name is None else {"id": python_values(parse_cells([name]))[0]}
    return EdgeTable(
        len(nodes),
        u,
        v,
        labels,
        _is_directed(source, handler.graph, edges),
        _edge_columns(handler, edges),
        attributes,
        graph_id | handler.record(handler.graph),
        source.row_name(np.array(edge_lines, np.int64)),
    )


def _parse(source: InputStream) -> _Handler:
    from defusedxml.common import DefusedXmlException
    from defusedxml.expatreader import DefusedExpatParser

    parser: Any = DefusedExpatParser(namespaceHandling=1)
    handler = _Handler(source, parser.getLineNumber)
    parser.setContentHandler(handler)
    empty = True
    try:
        for chunk in source.chunks():
            empty = False
            parser.feed(chunk)
        if empty:
            raise source.error("the file is empty")
        parser.close()
    except SAXParseException as error:
        raise source.error(
            f"broken XML ({error.getMessage()}): it is cut off or damaged", parser.getLineNumber()
        ) from None
    except DefusedXmlException:
        raise source.error(
            "the XML declares entities or refers to other files, which can be an attack and is refused: "
            "take out its DOCTYPE",
            parser.getLineNumber(),
        ) from None
    return handler


def _is_directed(source: InputStream, graph: _Item, edges: Sequence[_Item]) -> bool:
    default = graph.xml.get("edgedefault", "undirected") == "directed"
    kinds = [_TRUTH.get(edge.xml.get("directed", str(default)).lower(), default) for edge in edges]
    for edge, directed in zip(edges, kinds, strict=True):
        if directed != kinds[0]:
            raise source.error("directed and undirected edges are mixed: make them all one or the other", edge.line)
    return kinds[0] if kinds else default


def _edge_columns(handler: _Handler, edges: Sequence[_Item]) -> dict[str, Column]:
    columns = gather_columns([handler.record(edge) for edge in edges])
    for xml, name in (("id", "id"), *_PORTS.items()):
        if any(xml in edge.xml for edge in edges):
            columns[name if name not in columns else f"xml_{name}"] = parse_cells([edge.xml.get(xml) for edge in edges])
    return columns


class _Handler(ContentHandler):
    """Collects a graph while the parser runs."""

    def __init__(self, source: InputStream, line: Callable[[], int]) -> None:
        super().__init__()
        self.graph: _Item | None = None
        self.nodes: list[_Item] = []
        self.edges: list[_Item] = []
        self._source = source
        self._line = line
        self._keys: dict[str, _Key] = {}
        self._ends: list[Callable[[], None] | None] = []
        self._owners: list[_Item] = []
        self._key: _Key | None = None
        self._text: list[str] | None = None

    def record(self, item: _Item) -> dict[str, Any]:
        """Attributes of a graph, node or edge, with the declared defaults."""
        defaults = {
            key.name: key.default
            for key in self._keys.values()
            if key.name and key.default is not None and key.domain in (item.kind, "all")
        }
        return {**defaults, **item.data}

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:
        """Handle an opening tag; those of other namespaces, and all inside a value, are passed over."""
        uri, tag = cast("tuple[str | None, str]", name)
        known = self._text is None and (not uri or uri.startswith(_NAMESPACE))
        if not self._ends and not (known and tag == "graphml"):
            raise self._error(f"the file is XML, but its root is <{tag}>, not <graphml>")
        start = getattr(self, f"_start_{tag}", None) if known else None
        self._ends.append(getattr(self, f"_end_{tag}", None) if known else None)
        if start is not None:
            start({key[1]: value for key, value in attrs.items()})

    def endElementNS(self, name: Any, qname: Any) -> None:
        """Handle a closing tag."""
        end = self._ends.pop()
        if end is not None:
            end()

    def characters(self, content: str) -> None:
        """Collect the text of a value."""
        if self._text is not None:
            self._text.append(content)

    def _error(self, message: str) -> FileError:
        return self._source.error(message, self._line())

    def _item(self, kind: str, xml: dict[str, str], *needed: str) -> _Item:
        for key in needed:
            if key not in xml:
                raise self._error(f"the <{kind}> has no {key}")
        item = _Item(kind, self._line(), xml)
        self._owners.append(item)
        return item

    def _start_graph(self, xml: dict[str, str]) -> None:
        if self.graph is not None:
            raise self._error("a second graph begins: split the file, one graph each (nested graphs can't be read)")
        self.graph = self._item("graph", xml)

    def _start_node(self, xml: dict[str, str]) -> None:
        self.nodes.append(self._item("node", xml, "id"))

    def _start_edge(self, xml: dict[str, str]) -> None:
        self.edges.append(self._item("edge", xml, "source", "target"))

    def _start_port(self, xml: dict[str, str]) -> None:
        self._item("port", xml)

    def _start_hyperedge(self, xml: dict[str, str]) -> None:
        raise self._error("a hyperedge joins more than two nodes, which no graph of edges holds")

    def _end_graph(self) -> None:
        self._owners.pop()

    _end_node = _end_edge = _end_port = _end_graph

    def _start_key(self, xml: dict[str, str]) -> None:
        kind = xml.get("attr.type", "string").lower()
        name = xml.get("attr.name")
        if name is None and "yfiles.type" not in xml:
            name = xml.get("id")
        if "id" not in xml or (name is not None and kind not in _TYPES):
            raise self._error(f"the <key> has no id, or a type other than {', '.join(_TYPES)}")
        self._key = self._keys[xml["id"]] = _Key(name, kind, xml.get("for", "all"))

    def _start_default(self, xml: dict[str, str]) -> None:
        self._text = []

    def _end_default(self) -> None:
        if self._key is not None and self._key.name is not None:
            self._key.default = self._value(self._key)
        self._text = None

    def _start_data(self, xml: dict[str, str]) -> None:
        self._key = self._keys.get(xml.get("key", ""))
        if self._key is None:
            raise self._error(f"the <data> has the key {shorten(xml.get('key', ''))}, which no <key> declares")
        self._text = []

    def _end_data(self) -> None:
        key = self._key
        if key is not None and key.name is not None and self._owners and self._owners[-1].kind != "port":
            data = self._owners[-1].data
            if key.name in data:
                raise self._error(f"a second value of {key.name!r} for the same {self._owners[-1].kind}")
            data[key.name] = self._value(key)
        self._text = None

    def _value(self, key: _Key) -> Any:
        text = "".join(self._text or [])
        try:
            return _TYPES[key.kind](text)
        except (ValueError, KeyError):
            raise self._error(f"{shorten(text)} is not a value of the type {key.kind!r} ({key.name!r})") from None


_REFUSED = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
_INT64 = range(-(2**63), 2**63)
_LIMIT = "GraphML holds columns of one type: true or false, 64-bit integers, numbers, or text; npz holds others"
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""


def write_graphml(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write one GraphML graph with all attributes that have a GraphML type.

    Raises
    ------
    FileError
        For a node label with a character that XML can't hold.
    """
    notes: list[str] = []
    labels = label_texts(table, name, notes)
    for label in labels:
        if found := _REFUSED.search(label):
            raise FileError(f"{name}: XML can't hold the character {found[0]!r} of the node label {label!r}: write npz")
    ids = [quoteattr(label, _ESCAPES) for label in labels]
    graph = {key: [value] for key, value in table.graph_attributes.items()}
    graph_id = _own_ids(graph)
    edges = dict(table.edge_attributes)
    edge_ids = _own_ids(edges)
    keys: list[str] = []
    of_graph = _data("graph", graph, 1, keys, notes)
    of_nodes = _data("node", table.node_attributes, table.n_nodes, keys, notes)
    of_edges = _data("edge", edges, table.source.size, keys, notes)
    default = "directed" if table.directed else "undirected"
    opening = f'  <graph edgedefault="{default}"{graph_id[0] if graph_id else ""}>\n'
    write_text(stream, name, [_HEAD, *keys, opening, *of_graph])
    write_text(stream, name, map("    <node id=%s>%s</node>\n".__mod__, zip(ids, of_nodes, strict=True)))
    ends = (map(ids.__getitem__, side.tolist()) for side in (table.source, table.target))
    rows = zip(edge_ids or [""] * table.source.size, *ends, of_edges, strict=True)
    write_text(stream, name, map("    <edge%s source=%s target=%s>%s</edge>\n".__mod__, rows))
    write_text(stream, name, ["  </graph>\n</graphml>\n"])
    return notes


def _own_ids(attributes: dict[str, Any]) -> list[str]:
    """The attribute ``id`` as XML ids, taken out, where they read back the same; else empty."""
    values = python_values(attributes.get("id", []))
    if not values or not all(isinstance(value, str | int | None) for value in values) or None in values:
        return []
    texts = [str(value) for value in values]
    if _REFUSED.search("".join(texts)) or not all(map(alike, values, python_values(parse_cells(texts)))):
        return []
    del attributes["id"]
    return [f" id={quoteattr(text, _ESCAPES)}" for text in texts]


def _data(what: str, attributes: Mapping[str, Column], size: int, keys: list[str], notes: list[str]) -> list[str]:
    """The <data> elements of each row; declares their keys, and notes the attributes left out."""
    out = [""] * size
    refused: list[str] = []
    for key, column in attributes.items():
        values = python_values(column)
        kind = None if _REFUSED.search(key) else _kind(values)
        if kind is None or (what == "graph" and None in values):
            refused.append(key)
            continue
        id_ = f"d{len(keys)}"
        keys.append(f'  <key id="{id_}" for="{what}" attr.name={quoteattr(key, _ESCAPES)} attr.type="{kind}"/>\n')
        texts = ["" if value is None else f'<data key="{id_}">{_text(value)}</data>' for value in values]
        out = list(map(str.__add__, out, texts))
    notes += left_out(what, refused, _LIMIT)
    return out


def _kind(values: Sequence[Any]) -> str | None:
    """The GraphML type that holds all values; None where no type does."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int} and all(value is None or value in _INT64 for value in values):
        return "long"
    if kinds and kinds <= {int, float} and all(value is None or _is_double(value) for value in values):
        return "double"
    if kinds <= {str} and not any(_REFUSED.search(value) for value in values if value):
        return "string"
    return None


def _is_double(value: float) -> bool:
    """Whether a number is a float, or an integer that a float holds."""
    return isinstance(value, float) or (abs(value) <= 2**53)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    return escape(value, {"\r": "&#13;"}) if isinstance(value, str) else repr(value).replace("nan", "NaN")
