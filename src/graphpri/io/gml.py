"""GML: nested ``key value`` and ``key [ … ]``, with a graph of nodes and edges inside."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from html.entities import html5
from typing import Any, BinaryIO, cast

import numpy as np

from graphpri.graph import EdgeTable
from graphpri.io.columns import (
    ends_by_id,
    gather_columns,
    has_parallel,
    label_nodes,
    label_texts,
    left_out,
    python_values,
)
from graphpri.io.rows import shorten
from graphpri.io.sink import write_text
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions

_GAP = r"(?:[ \t\n]+|#[^\n]*)*+"
_ITEM = re.compile(rf'{_GAP}(?:(\])|([A-Za-z_]\w*+){_GAP}(?:"([^"]*)"|(\[)|([^\s\[\]"#]+))?)?{_GAP}', re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:INF|NAN)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_CUT_OFF = "the file is cut off or damaged"
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_DEPTH = 50
_LIMIT = "GML holds numbers, text, and records of these under plain names (and no true or false); npz holds others"


@dataclass(slots=True)
class _Record:
    """What stands between two brackets, with the line where it begins; a repeated key gives a list."""

    line: int
    items: dict[str, list[Any]] = field(default_factory=dict)

    def plain(self, without: tuple[str, ...] = ()) -> dict[str, Any]:
        """As a dict of Python values, except for some keys."""
        out: dict[str, Any] = {}
        for key, values in self.items.items():
            if key not in without:
                bare = [value.plain() if isinstance(value, _Record) else value for value in values]
                out[key] = bare[0] if len(bare) == 1 else bare
        return out


def read_gml(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a GML graph; nodes are called by their ``label``, or by their ``id`` where they have none.

    Raises
    ------
    FileError
        Names the line, for text that is not GML, missing or unknown ids, and labels that stand twice.
    """
    root = _parse(source, source.text(LONG_LINE_LIMIT).decode())
    graphs = root.items.get("graph", [])
    if len(graphs) != 1 or not isinstance(graphs[0], _Record):
        raise source.error("there is no graph [ … ] in it" if not graphs else "one graph [ … ] should stand in it")
    graph = graphs[0]
    nodes, edges = _blocks(source, graph, "node"), _blocks(source, graph, "edge")
    ids = [_one(source, node, "id", "node") for node in nodes]
    pairs = [(_one(source, edge, "source", "edge"), _one(source, edge, "target", "edge")) for edge in edges]
    lines, edge_lines = [node.line for node in nodes], [edge.line for edge in edges]
    u, v = ends_by_id(source, ids, lines, pairs, edge_lines)
    columns = gather_columns([node.plain(("id",)) for node in nodes])
    labels, attributes = label_nodes(source, ids, columns, lines, options.label, "label")
    return EdgeTable(
        len(nodes),
        u,
        v,
        labels,
        graph.items.get("directed", [0])[0] == 1,
        gather_columns([edge.plain(("source", "target")) for edge in edges]),
        attributes,
        graph.plain(("node", "edge", "directed", "multigraph")),
        source.row_name(np.array(edge_lines, np.int64)),
    )


def _parse(source: InputStream, text: str) -> _Record:
    breaks = [found.start() for found in re.finditer("\n", text)]
    stack = [_Record(1)]
    offset = 0
    while offset < len(text):
        found = cast("re.Match[str]", _ITEM.match(text, offset))  # it matches nothing at all, too
        close, key, quoted, opened, word = found.groups()
        if close and len(stack) > 1:
            stack.pop()
        elif opened:
            block = _Record(bisect_left(breaks, found.start(2)) + 1)
            stack[-1].items.setdefault(key, []).append(block)
            stack.append(block)
        elif quoted is not None:
            stack[-1].items.setdefault(key, []).append(_ENTITY.sub(_character, quoted))
        elif word and (number := _read_number(word)) is not None:
            stack[-1].items.setdefault(key, []).append(number)
        elif close or key or found.end() == offset:
            at = found.start(1) if close else found.start(5) if word else found.end()
            raise source.error(_complaint(key, close or text[at : at + 40].split("\n")[0]), bisect_left(breaks, at) + 1)
        if len(stack) > _DEPTH:
            raise source.error(f"brackets are nested more than {_DEPTH} deep", stack[-1].line)
        offset = found.end()
    if len(stack) > 1:
        raise source.error(f"the bracket is never closed: {_CUT_OFF}", stack[-1].line)
    return stack[0]


def _complaint(key: str | None, rest: str) -> str:
    """What is wrong where no item of GML can be read, from the key read and the text behind it."""
    if rest.startswith('"') and rest.count('"') == 1:
        return "a quote is opened and never closed"
    if not rest:
        return f"the file ends behind {key!r}: {_CUT_OFF}"
    if key:
        return f"a value should follow {key!r}, not {shorten(rest)} (text needs quotes)"
    return "a ] closes nothing" if rest == "]" else f"a key should stand here, not {shorten(rest)}"


def _read_number(word: str) -> float | None:
    if _INTEGER.fullmatch(word) and len(word) < 4000:
        return int(word)
    return float(word) if _REAL.fullmatch(word) else None


def _character(entity: re.Match[str]) -> str:
    """The character of an entity, which stays as it is where it names none."""
    name = entity[0][1:-1]
    if not name.startswith("#"):
        return html5.get(name + ";", entity[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else entity[0]


def _blocks(source: InputStream, graph: _Record, key: str) -> list[_Record]:
    blocks = graph.items.get(key, [])
    for block in blocks:
        if not isinstance(block, _Record):
            raise source.error(f"{key} {block!r} should be {key} [ … ]", graph.line)
    return cast("list[_Record]", blocks)


def _one(source: InputStream, block: _Record, key: str, what: str) -> int | str:
    values = block.items.get(key, [])
    if len(values) != 1 or not isinstance(values[0], int | str):
        raise source.error(f"the {what} should have one {key!r}", block.line)
    return values[0]


def write_gml(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a GML graph, in ASCII with entities for all other characters."""
    notes: list[str] = []
    labels = label_texts(table, name, notes)
    lines = ["graph [\n"]
    lines += ["  directed 1\n"] if table.directed else []
    lines += ["  multigraph 1\n"] if has_parallel(table) else []
    reserved = ("node", "edge", "directed", "multigraph")
    kept = {key: [value] for key, value in table.graph_attributes.items()}
    lines += _records("graph", kept, reserved, 1, "  ", notes)
    of_nodes = _records("node", table.node_attributes, ("id", "label"), table.n_nodes, "    ", notes)
    of_edges = _records("edge", table.edge_attributes, ("source", "target"), table.source.size, "    ", notes)
    write_text(stream, name, lines)
    nodes = zip(range(table.n_nodes), map(_text, labels), of_nodes, strict=True)
    write_text(stream, name, map("  node [\n    id %s\n    label %s\n%s  ]\n".__mod__, nodes))
    edges = zip(table.source.tolist(), table.target.tolist(), of_edges, strict=True)
    write_text(stream, name, map("  edge [\n    source %s\n    target %s\n%s  ]\n".__mod__, edges))
    write_text(stream, name, ["]\n"])
    return notes


def _records(
    what: str, attributes: Any, reserved: tuple[str, ...], size: int, indent: str, notes: list[str]
) -> list[str]:
    """Attributes of each row as lines of GML, with a note on those that don't fit."""
    out = [""] * size
    refused: list[str] = []
    for key, column in attributes.items():
        values = python_values(column)
        fits = all((value is None and what != "graph") or _fits(value) for value in values)
        if not fits or not _KEY.fullmatch(key) or key in reserved:
            refused.append(key)
            continue
        texts = ["" if value is None else _item(key, value, indent) for value in values]
        out = list(map(str.__add__, out, texts))
    notes += left_out(what, refused, _LIMIT)
    return out


def _fits(value: Any, depth: int = 0) -> bool:
    """Whether a value reads back the same: numbers, text, and records and repeated entries of them."""
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        keys = all(isinstance(key, str) and _KEY.fullmatch(key) for key in entries)
        return depth < _DEPTH // 2 and keys and all(_fits(item, depth + 1) for item in entries.values())
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return len(items) > 1 and all(not isinstance(item, list) and _fits(item, depth + 1) for item in items)
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _item(key: str, value: Any, indent: str) -> str:
    if isinstance(value, dict):
        inner = "".join(_item(k, v, indent + "  ") for k, v in cast("dict[str, Any]", value).items())
        return f"{indent}{key} [\n{inner}{indent}]\n"
    if isinstance(value, list):
        return "".join(_item(key, item, indent) for item in cast("list[Any]", value))
    return f"{indent}{key} {_text(value) if isinstance(value, str) else _number(value)}\n"


def _number(value: float) -> str:
    text = repr(value).upper()
    if isinstance(value, int):
        return text
    if text in ("NAN", "INF", "-INF"):
        return "+INF" if text == "INF" else text
    mantissa, e, exponent = text.partition("E")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


def _text(value: str) -> str:
    # igraph knows these two entities by name only; networkx wants ASCII.
    plain = value.replace("&", "&amp;").replace('"', "&quot;")
    return '"' + re.sub(r"[^ -~]", lambda c: f"&#{ord(c[0])};", plain) + '"'
