"""GEXF, the format of Gephi: nodes with labels, typed attributes, and what they look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np

from graphpri.graph import EdgeTable
from graphpri.io.columns import (
    Column,
    gather_columns,
    label_texts,
    left_out,
    parse_cells,
    python_values,
    shown_names,
    write_weights,
)
from graphpri.io.rows import ANY_NUMBER, shorten
from graphpri.io.sink import numbers_text, write_text
from graphpri.io.source import InputStream, ReadOptions
from graphpri.io.xmltext import (
    REFUSED,
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

_TYPES: dict[str, Callable[[str], Any]] = {
    "boolean": read_truth,
    **dict.fromkeys(("integer", "long", "byte", "short", "biginteger"), read_integer),
    **dict.fromkeys(("float", "double", "bigdecimal"), read_float),
}
_XML = ("id", "source", "target", "label", "weight", "type")  # of an element, read apart from its other attributes
_META = ("creator", "title", "keywords", "description")
_COLOUR = re.compile(r"#[0-9a-f]{6}")


@dataclass(slots=True)
class _Attribute:
    """A declared attribute of nodes or of edges."""

    title: str
    kind: str
    default: Any = None


def read_gexf(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a GEXF graph; nodes are called by their labels where every node has one of its own, else by their ids.

    Positions become the node attributes ``x``, ``y`` and ``z``, sizes, colours and shapes ``size``, ``color`` and
    ``shape``, the thickness of edges ``thickness``, times ``start``, ``end`` and ``spells``, a node's parent ``pid``.
    An edge without a weight weighs 1, as GEXF has it. Mutual edges among directed ones are two opposite arcs.

    Raises
    ------
    FileError
        Names the line, for XML that is broken or declares entities, directed and undirected edges side by side, missing
        or unknown ids, values that are not of their declared type, and values that change with time.
    """
    handler = parse_xml(source, _GexfElements)
    if handler.graph is None:
        raise source.error("there is no <graph> in it")
    nodes, edges = handler.nodes, handler.edges
    directed, edges = _direction(source, handler.graph, edges)
    ids, lines, edge_lines, u, v = find_ends(source, nodes, edges)
    columns = gather_columns([handler.record(node) for node in nodes])
    names = [node.xml.get("label") for node in nodes]
    shown = [name if name or name == key else None for name, key in zip(names, ids, strict=True)]
    (labels, attributes), notes = shown_names(source, ids, shown, columns, lines, options.label)
    if options.label is None and not notes and None not in shown and shown != ids and not _counted(ids):
        attributes.setdefault("id", parse_cells(ids))
    return EdgeTable(
        len(nodes),
        u,
        v,
        labels,
        directed,
        _edge_columns(source, handler, edges),
        attributes,
        handler.meta,
        source.row_name(np.array(edge_lines, np.int64)),
        notes,
    )


def _counted(ids: Sequence[str]) -> bool:
    """Whether the ids are numbers that an editor has counted, perhaps with a letter before them."""
    return all(re.fullmatch(r"[a-z]?[0-9]+", key) for key in ids)


def _direction(source: InputStream, graph: Mapping[str, str], edges: list[Item]) -> tuple[bool, list[Item]]:
    """Whether the edges are directed, and the arcs that they are."""
    default = graph.get("defaultedgetype", "undirected")
    kinds = [(edge.xml.get("type") or default).lower() for edge in edges]
    for edge, kind in zip(edges, kinds, strict=True):
        if kind not in ("directed", "undirected", "mutual"):
            raise source.error(
                f"the edge's type {shorten(kind)} is none of 'directed', 'undirected' and 'mutual'", edge.line
            )
        if kind == "undirected" and "directed" in kinds:
            raise source.error("directed and undirected edges are mixed: make them all one or the other", edge.line)
    if "directed" not in kinds:
        return not edges and default == "directed", edges
    arcs: list[Item] = []
    for edge, kind in zip(edges, kinds, strict=True):
        arcs.append(edge)
        if kind == "mutual" and edge.xml["source"] != edge.xml["target"]:
            turned = edge.xml | {"source": edge.xml["target"], "target": edge.xml["source"]}
            arcs.append(replace(edge, xml=turned))
    return True, arcs


def _edge_columns(source: InputStream, handler: _GexfElements, edges: Sequence[Item]) -> dict[str, Column]:
    columns = gather_columns([handler.record(edge) for edge in edges])
    for name in "id", "label":
        texts = [edge.xml.get(name) for edge in edges]
        if any(texts) and not (name == "id" and texts == _numbered(len(edges))):
            columns[name if name not in columns else f"xml_{name}"] = parse_cells(texts)
    if any("weight" in edge.xml for edge in edges):
        weights, stated = _weight_column(source, edges), columns.pop("weight", None)
        if stated is not None and python_values(stated) != python_values(weights):  # Gephi writes the same ones twice
            columns["attribute_weight"] = stated
        columns = {"weight": weights, **columns}
    return columns


def _numbered(n: int) -> list[str]:
    """The ids that programs give to n edges when these have none."""
    return list(map(str, range(n)))


def _weight_column(source: InputStream, edges: Sequence[Item]) -> Column:
    texts = [edge.xml.get("weight", "1").strip() for edge in edges]
    for text, edge in zip(texts, edges, strict=True):
        if not ANY_NUMBER.fullmatch(text):
            raise source.error(f"the weight {shorten(text)} is not a number: correct it, or drop the edge", edge.line)
    column = parse_cells(texts)
    return [float(text) for text in texts] if any(isinstance(x, str) for x in column) else column


def _plain(text: str) -> Any:
    """The number or the text that an XML attribute without a declared type holds."""
    return python_values(parse_cells([text]))[0]


class _GexfElements(GraphElements):
    """Collects a graph while the parser runs."""

    root = "gexf"
    types = _TYPES

    def __init__(self, source: InputStream, line: Callable[[], int]) -> None:
        super().__init__(source, line)
        self.graph: dict[str, str] | None = None
        self.meta: dict[str, Any] = {}
        self._declared: dict[str, dict[str, _Attribute]] = {"node": {}, "edge": {}}
        self._class = ""
        self._attribute: _Attribute | None = None

    def knows(self, uri: str) -> bool:
        """Whether elements of a namespace are GEXF's, of any version, or say what nodes look like."""
        return "gexf" in uri

    def record(self, item: Item) -> dict[str, Any]:
        """Attributes of a node or edge, with the declared defaults."""
        declared = {a.title: a.default for a in self._declared[item.kind].values()}
        look = {name if name not in declared else f"viz_{name}": value for name, value in item.look.items()}
        return {**{title: value for title, value in declared.items() if value is not None}, **item.data, **look}

    def _start_graph(self, xml: dict[str, str]) -> None:
        if self.graph is not None:
            raise self.error("a second graph begins: split the file, one graph each")
        self.graph = xml
        if xml.get("name"):
            self.meta["name"] = xml["name"]

    def _start_creator(self, xml: dict[str, str]) -> None:
        self.text = []

    _start_keywords = _start_description = _start_title = _start_default = _start_creator

    def _end_creator(self) -> None:
        self._take_meta("creator")

    def _end_title(self) -> None:
        self._take_meta("title")

    def _end_keywords(self) -> None:
        self._take_meta("keywords")

    def _end_description(self) -> None:
        self._take_meta("description")

    def _take_meta(self, name: str) -> None:
        if text := "".join(self.text or []):
            self.meta[name] = text
        self.text = None

    # Declarations of attributes

    def _start_attributes(self, xml: dict[str, str]) -> None:
        self._class = xml.get("class", "")
        if self._class not in self._declared:
            raise self.error(f"the class {shorten(self._class)} of <attributes> is neither 'node' nor 'edge'")

    def _start_attribute(self, xml: dict[str, str]) -> None:
        if "id" not in xml or self._class not in self._declared:
            raise self.error("the <attribute> has no id, or stands outside of <attributes>")
        self._attribute = _Attribute(xml.get("title", xml["id"]), xml.get("type", "string").lower())
        self._declared[self._class][xml["id"]] = self._attribute

    def _end_default(self) -> None:
        if self._attribute is not None:
            self._attribute.default = self.typed("".join(self.text or []), self._attribute.kind, self._attribute.title)
        self.text = None

    # Nodes and edges

    def _start_node(self, xml: dict[str, str]) -> None:
        parent = next((owner.xml["id"] for owner in reversed(self.owners) if owner.kind == "node"), None)
        self.nodes.append(self.begin("node", xml, "id"))
        if parent is not None:
            self.nodes[-1].data["pid"] = parent

    def _start_edge(self, xml: dict[str, str]) -> None:
        self.edges.append(self.begin("edge", xml, "source", "target"))

    def begin(self, kind: str, xml: dict[str, str], *needed: str) -> Item:
        """Enter a node or an edge, whose other XML attributes are data."""
        item = super().begin(kind, xml, *needed)
        item.data.update((key, _plain(xml[key])) for key in xml if key not in _XML)
        return item

    def _end_node(self) -> None:
        self.owners.pop()

    _end_edge = _end_node

    def _start_attvalue(self, xml: dict[str, str]) -> None:
        if not self.owners:
            raise self.error("the <attvalue> stands outside of nodes and edges")
        owner, key = self.owners[-1], xml.get("for", xml.get("id", ""))
        attribute = self._declared[owner.kind].get(key)
        if attribute is None and key == "weight" and owner.kind == "edge":
            attribute = _Attribute("weight", "double")  # as Gephi writes it, undeclared
        if attribute is None:
            raise self.error(f"the <attvalue> is for {shorten(key)}, which no <attribute> declares")
        if attribute.title in owner.data:
            raise self.error(
                f"a second value of {attribute.title!r} for the same {owner.kind}: values that change with time can't "
                "be read; export the graph as it is at one time"
            )
        owner.data[attribute.title] = self.typed(xml.get("value", ""), attribute.kind, attribute.title)

    def _start_spell(self, xml: dict[str, str]) -> None:
        if self.owners:
            data, spell = self.owners[-1].data, f"{xml.get('start', '')}..{xml.get('end', '')}"
            data["spells"] = f"{data['spells']} {spell}" if "spells" in data else spell

    # What nodes and edges look like

    def _look(self, **values: Any) -> None:
        if self.owners:
            self.owners[-1].look.update(values)

    def _number(self, xml: dict[str, str], key: str, default: str = "") -> float:
        try:
            return read_float(xml.get(key, default))
        except ValueError:
            raise self.error(f"{key} is {shorten(xml.get(key, default))}, which is not a number") from None

    def _start_position(self, xml: dict[str, str]) -> None:
        self._look(**{key: self._number(xml, key, "0") for key in "xyz" if key != "z" or "z" in xml})

    def _start_size(self, xml: dict[str, str]) -> None:
        self._look(size=self._number(xml, "value"))

    def _start_thickness(self, xml: dict[str, str]) -> None:
        self._look(thickness=self._number(xml, "value"))

    def _start_shape(self, xml: dict[str, str]) -> None:
        self._look(shape=xml.get("value", xml.get("shape", "")))

    def _start_color(self, xml: dict[str, str]) -> None:
        parts = [int(self._number(xml, key, "0")) for key in "rgb"]
        colour = xml.get("hex", "#" + "".join(f"{min(max(part, 0), 255):02x}" for part in parts)).lower()
        alpha = self._number(xml, "a", "1")
        self._look(color=colour if alpha == 1 else f"{colour} {alpha!r}")


_LIMIT = "GEXF holds columns of one type: true or false, 64-bit integers, numbers, or text; npz holds others"
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
"""


def write_gexf(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a GEXF graph with labels, weights, attributes, and positions, sizes and colours where nodes have them.

    Raises
    ------
    FileError
        For a node label with a character that XML can't hold.
    """
    notes: list[str] = []
    labels = label_texts(table, name, notes)
    check_labels(labels, name)
    nodes, edges = dict(table.node_attributes), dict(table.edge_attributes)
    ids = _ids(nodes, labels)
    attributes = {"weight": _weights(table, edges, notes), "id": _xml_column(edges, "id")}
    attributes["label"] = _xml_column(edges, "label")
    looks = _looks(nodes, table.n_nodes)
    declared: list[str] = []
    of_nodes = _values("node", nodes, table.n_nodes, declared, notes)
    of_edges = _values("edge", edges, table.source.size, declared, notes)
    kind = "directed" if table.directed else "undirected"
    graph_name, meta = _meta(table, notes)
    opening = f'  <graph defaultedgetype="{kind}" mode="static"{graph_name}>\n'
    write_text(stream, name, [_HEAD, *meta, opening, *declared, "    <nodes>\n"])
    rows = zip(ids, map(quoted, labels), of_nodes, looks, strict=True)
    write_text(stream, name, map("      <node id=%s label=%s>%s%s</node>\n".__mod__, rows))
    write_text(stream, name, ["    </nodes>\n    <edges>\n"])
    ends = (map(ids.__getitem__, side.tolist()) for side in (table.source, table.target))
    columns = [
        [""] * table.source.size if texts is None else [f" {key}={quoted(text)}" for text in texts]
        for key, texts in attributes.items()
    ]
    edge_rows = zip(*ends, *columns, of_edges, strict=True)
    write_text(stream, name, map("      <edge source=%s target=%s%s%s%s>%s</edge>\n".__mod__, edge_rows))
    write_text(stream, name, ["    </edges>\n  </graph>\n</gexf>\n"])
    return notes


def _ids(nodes: dict[str, Column], labels: list[str]) -> list[str]:
    """XML ids of the nodes: their attribute ``id``, taken out, where it will be read back, else the labels."""
    values = python_values(nodes.get("id", []))
    texts = [str(value) for value in values]
    fits = bool(values) and all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    if fits and len(set(texts)) == len(texts) and "" not in texts + labels and texts != labels:
        back = python_values(parse_cells(texts))
        if not _counted(texts) and back == values and not REFUSED.search("".join(texts)):
            del nodes["id"]
            return list(map(quoted, texts))
    return list(map(quoted, labels))


def _weights(table: EdgeTable, edges: dict[str, Column], notes: list[str]) -> list[str] | None:
    weights = write_weights(table, notes)
    edges.pop("weight", None)
    return (
        None
        if weights is None
        else [{"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text, text) for text in numbers_text(weights)]
    )


def _xml_column(edges: dict[str, Column], key: str) -> list[str] | None:
    """An attribute of edges that is one of the element's own, taken out, where it is read back the same."""
    values = python_values(edges.get(key, []))
    if not values or not all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
        return None
    texts = [str(value) for value in values]
    if (key == "id" and texts == _numbered(len(texts))) or not any(texts) or REFUSED.search("".join(texts)):
        return None
    if python_values(parse_cells(texts)) != values:
        return None
    del edges[key]
    return texts


def _looks(nodes: dict[str, Column], size: int) -> list[str]:
    """Positions, sizes and colours that all nodes have, taken out of the attributes."""
    out = [""] * size
    axes = ["x", "y", "z"] if "z" in nodes else ["x", "y"]
    if columns := _numbers(nodes, *axes):
        form = "<viz:position " + " ".join(f'{axis}="%s"' for axis in axes) + "/>"
        out = list(map(form.__mod__, zip(*columns, strict=True)))
    if columns := _numbers(nodes, "size"):
        out = [f'{text}<viz:size value="{value}"/>' for text, value in zip(out, columns[0], strict=True)]
    colours = python_values(nodes.get("color", []))
    if colours and all(isinstance(colour, str) and _COLOUR.fullmatch(colour) for colour in colours):
        del nodes["color"]
        parts = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]
        out = [f'{text}<viz:color r="{r}" g="{g}" b="{b}"/>' for text, (r, g, b) in zip(out, parts, strict=True)]
    return out


def _numbers(nodes: dict[str, Column], *names: str) -> list[list[str]]:
    """Columns of finite floats, taken out of the attributes, where all of them are such; else empty."""
    columns = [python_values(nodes.get(name, [])) for name in names]
    if not all(column and all(type(x) is float and np.isfinite(x) for x in column) for column in columns):
        return []
    for name in names:
        del nodes[name]
    return [list(map(repr, column)) for column in columns]


def _meta(table: EdgeTable, notes: list[str]) -> tuple[str, list[str]]:
    """The name of the graph, and the element that says who made it."""
    graph = dict(table.graph_attributes)
    texts = {
        key: graph.pop(key)
        for key in ("name", *_META)
        if isinstance(graph.get(key), str) and graph[key] and not REFUSED.search(graph[key])
    }
    notes += left_out("graph", graph, "GEXF holds a name, a creator, a title, keywords and a description only")
    name = f" name={quoted(texts.pop('name'))}" if "name" in texts else ""
    inside = "".join(f"<{key}>{content(text)}</{key}>" for key, text in texts.items())
    return name, [f"  <meta>{inside}</meta>\n"] if texts else []


def _values(what: str, attributes: Mapping[str, Column], size: int, declared: list[str], notes: list[str]) -> list[str]:
    """The <attvalues> of each row; declares the attributes, and notes those that are left out."""
    out = [""] * size
    refused: list[str] = []
    lines: list[str] = []
    for key, column in attributes.items():
        values = python_values(column)
        kind = None if REFUSED.search(key) else xml_kind(values)
        if kind is None:
            refused.append(key)
            continue
        id_ = f"{what[0]}{len(lines)}"
        lines.append(f'      <attribute id="{id_}" title={quoted(key)} type="{kind}"/>\n')
        texts = [
            "" if value is None else f'<attvalue for="{id_}" value={quoted(value_text(value))}/>' for value in values
        ]
        out = list(map(str.__add__, out, texts))
    notes += left_out(what, refused, _LIMIT)
    if lines:
        declared += [f'    <attributes class="{what}" mode="static">\n', *lines, "    </attributes>\n"]
    return [text and f"<attvalues>{text}</attvalues>" for text in out]
