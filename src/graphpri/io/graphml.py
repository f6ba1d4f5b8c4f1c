"""Reading GraphML, element by element, behind defusedxml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from graphpri.graph import EdgeTable
from graphpri.io.columns import (
    Column,
    alike,
    gather_columns,
    label_texts,
    left_out,
    parse_cells,
    python_values,
    shown_names,
)
from graphpri.io.rows import shorten
from graphpri.io.sink import write_text
from graphpri.io.source import InputStream, ReadOptions
from graphpri.io.xmltext import (
    REFUSED,
    TRUTH,
    GraphElements,
    Item,
    check_labels,
    content,
    find_ends,
    parse_xml,
    quoted,
    read_float,
    read_integer,
    read_truth,
    value_text,
    xml_kind,
)

_PORTS = {"sourceport": "source_port", "targetport": "target_port"}
_DRAWN = ("NodeLabel", "EdgeLabel", "Label.Text")  # of yEd, and of yFiles since version 2
_TYPES: dict[str, Callable[[str], Any]] = {
    "boolean": read_truth,
    **dict.fromkeys(("int", "integer", "long"), read_integer),
    **dict.fromkeys(("float", "double"), read_float),
    "string": str,
}


@dataclass(slots=True)
class _Key:
    """A declared attribute; without a name it holds an editor's drawing, of which only the label is read."""

    name: str | None
    kind: str
    domain: str
    default: Any = None


def read_graphml(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a GraphML file of one graph; nodes are called by their ids unless `label` names an attribute.

    In files of yEd, which has no use for ids, nodes are called by the labels drawn on them, where every node has one
    of its own. Labels of edges become the edge attribute ``label``.

    An edge's own id becomes the edge attribute ``id`` (networkx keeps multigraph keys there), the
    graph's a graph attribute, ports ``source_port`` and ``target_port``. Descriptions and the rest of
    an editor's drawing are not read.

    Raises
    ------
    FileError
        Names the line, for XML that is broken or declares entities, several or nested graphs,
        hyperedges, directed edges among undirected ones, missing or unknown ids, and values that are
        not of their declared type.
    """
    handler = parse_xml(source, _GraphmlElements)
    if handler.graph is None:
        raise source.error("there is no <graph> in it")
    nodes, edges = handler.nodes, handler.edges
    ids, lines, edge_lines, u, v = find_ends(source, nodes, edges)
    columns = gather_columns([handler.record(node) for node in nodes])
    shown = [node.drawn for node in nodes]
    (labels, attributes), notes = shown_names(source, ids, shown, columns, lines, options.label)
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
        notes,
    )


def _is_directed(source: InputStream, graph: Item, edges: Sequence[Item]) -> bool:
    default = graph.xml.get("edgedefault", "undirected") == "directed"
    kinds = [TRUTH.get(edge.xml.get("directed", str(default)).lower(), default) for edge in edges]
    for edge, directed in zip(edges, kinds, strict=True):
        if directed != kinds[0]:
            raise source.error("directed and undirected edges are mixed: make them all one or the other", edge.line)
    return kinds[0] if kinds else default


def _edge_columns(handler: _GraphmlElements, edges: Sequence[Item]) -> dict[str, Column]:
    columns = gather_columns([handler.record(edge) for edge in edges])
    for xml, name in (("id", "id"), *_PORTS.items()):
        if any(xml in edge.xml for edge in edges):
            columns[name if name not in columns else f"xml_{name}"] = parse_cells([edge.xml.get(xml) for edge in edges])
    if any(edge.drawn is not None for edge in edges):
        columns["label" if "label" not in columns else "shown_label"] = parse_cells([edge.drawn for edge in edges])
    return columns


class _GraphmlElements(GraphElements):
    """Collects a graph while the parser runs."""

    root = "graphml"
    types = _TYPES

    def __init__(self, source: InputStream, line: Callable[[], int]) -> None:
        super().__init__(source, line)
        self.graph: Item | None = None
        self._keys: dict[str, _Key] = {}
        self._key: _Key | None = None
        self._drawn: tuple[int, list[str]] | None = None

    def knows(self, uri: str) -> bool:
        """Whether elements of a namespace are GraphML's."""
        return uri.startswith("http://graphml.graphdrawing.org/")

    def record(self, item: Item) -> dict[str, Any]:
        """Attributes of a graph, node or edge, with the declared defaults."""
        defaults = {
            key.name: key.default
            for key in self._keys.values()
            if key.name and key.default is not None and key.domain in (item.kind, "all")
        }
        return {**defaults, **item.data}

    # yEd draws the names of nodes and edges: <y:NodeLabel> inside the value of a key without a name.

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:
        """Handle an opening tag, that of a drawn label as well."""
        super().startElementNS(name, qname, attrs)
        if self.text is not None and self._drawn is None and name[1] in _DRAWN:
            self._drawn = (len(self.ends), [])

    def characters(self, content: str) -> None:
        """Collect the text of a value and of a drawn label, without that of elements inside."""
        super().characters(content)
        if self._drawn is not None and len(self.ends) == self._drawn[0]:
            self._drawn[1].append(content)

    def endElementNS(self, name: Any, qname: Any) -> None:
        """Handle a closing tag; of several labels the first with text counts."""
        if self._drawn is not None and len(self.ends) == self._drawn[0]:
            owner, text = self.owners[-1], "".join(self._drawn[1]).strip()
            if self._key is not None and self._key.name is None and text and owner.drawn is None:
                owner.drawn = text
            self._drawn = None
        super().endElementNS(name, qname)

    def _start_graph(self, xml: dict[str, str]) -> None:
        if self.graph is not None:
            raise self.error("a second graph begins: split the file, one graph each (nested graphs can't be read)")
        self.graph = self.begin("graph", xml)

    def _start_node(self, xml: dict[str, str]) -> None:
        self.nodes.append(self.begin("node", xml, "id"))

    def _start_edge(self, xml: dict[str, str]) -> None:
        self.edges.append(self.begin("edge", xml, "source", "target"))

    def _start_port(self, xml: dict[str, str]) -> None:
        self.begin("port", xml)

    def _start_hyperedge(self, xml: dict[str, str]) -> None:
        raise self.error("a hyperedge joins more than two nodes, which no graph of edges holds")

    def _end_graph(self) -> None:
        self.owners.pop()

    _end_node = _end_edge = _end_port = _end_graph

    def _start_key(self, xml: dict[str, str]) -> None:
        kind = xml.get("attr.type", "string").lower()
        name = None if "attr.uri" in xml else xml.get("attr.name")
        if name is None and "yfiles.type" not in xml and "attr.uri" not in xml:
            name = xml.get("id")
        if "id" not in xml or (name is not None and kind not in _TYPES):
            raise self.error(f"the <key> has no id, or a type other than {', '.join(_TYPES)}")
        self._key = self._keys[xml["id"]] = _Key(name, kind, xml.get("for", "all"))

    def _start_default(self, xml: dict[str, str]) -> None:
        self.text = []

    def _end_default(self) -> None:
        if self._key is not None and self._key.name is not None:
            self._key.default = self._value(self._key)
        self.text = None

    def _start_data(self, xml: dict[str, str]) -> None:
        self._key = self._keys.get(xml.get("key", ""))
        if self._key is None:
            raise self.error(f"the <data> has the key {shorten(xml.get('key', ''))}, which no <key> declares")
        self.text = []

    def _end_data(self) -> None:
        key = self._key
        if key is not None and key.name is not None and self.owners and self.owners[-1].kind != "port":
            data = self.owners[-1].data
            if key.name in data:
                raise self.error(f"a second value of {key.name!r} for the same {self.owners[-1].kind}")
            data[key.name] = self._value(key)
        self.text = None

    def _value(self, key: _Key) -> Any:
        return self.typed("".join(self.text or []), key.kind, key.name)


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
    check_labels(labels, name)
    ids = [quoted(label) for label in labels]
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
    if REFUSED.search("".join(texts)) or not all(map(alike, values, python_values(parse_cells(texts)))):
        return []
    del attributes["id"]
    return [f" id={quoted(text)}" for text in texts]


def _data(what: str, attributes: Mapping[str, Column], size: int, keys: list[str], notes: list[str]) -> list[str]:
    """The <data> elements of each row; declares their keys, and notes the attributes left out."""
    out = [""] * size
    refused: list[str] = []
    for key, column in attributes.items():
        values = python_values(column)
        kind = None if REFUSED.search(key) else xml_kind(values)
        if kind is None or (what == "graph" and None in values):
            refused.append(key)
            continue
        id_ = f"d{len(keys)}"
        keys.append(f'  <key id="{id_}" for="{what}" attr.name={quoted(key)} attr.type="{kind}"/>\n')
        texts = ["" if value is None else f'<data key="{id_}">{content(value_text(value))}</data>' for value in values]
        out = list(map(str.__add__, out, texts))
    notes += left_out(what, refused, _LIMIT)
    return out
