"""Writing GraphML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.columns import Column, alike, label_texts, left_out, parse_cells, python_values
from graphpri.io.text import write_text

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
