"""Writing Pajek networks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.columns import Column, alike, label_texts, left_out, parse_cells, python_values, write_weights
from graphpri.io.grid import ANY_NUMBER
from graphpri.io.pajek import SHAPES
from graphpri.io.text import numbers_text, write_text

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LIMIT = (
    "Pajek holds numbers and text without quotes, line breaks and gaps under plain names; graphml and npz hold others"
)


def write_pajek(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a Pajek network: *Arcs where the table is directed, *Edges where it is not.

    Raises
    ------
    FileError
        For a node label with a quote or a line break, which Pajek can't hold.
    """
    notes: list[str] = []
    labels = label_texts(table, name, notes)
    for label in labels:
        if re.search(r'["\n\r]', label):
            raise FileError(f"{name}: Pajek can't hold the node label {label!r}: write graphml or npz")
    vertices = [f'{i} "{label}"' for i, label in enumerate(labels, 1)]
    vertices = list(map(str.__add__, vertices, _vertex_words(table, notes)))
    title, mode = _graph_words(table, notes)
    head = [*title, f"*Vertices {table.n_nodes}{mode}\n", *(line + "\n" for line in vertices)]
    weights = write_weights(table, notes)
    others = {key: column for key, column in table.edge_attributes.items() if key != "weight"}
    pairs = _pair_words("edge", others, notes, table.source.size, reserved=("weight", "time"))
    columns: list[Sequence[Any]] = [(table.source + 1).tolist(), (table.target + 1).tolist()]
    columns += [] if weights is None else [numbers_text(weights)]
    form = " ".join(["%s"] * len(columns)) + "%s\n"
    lines = map(form.__mod__, zip(*columns, pairs, strict=True))
    write_text(stream, name, chain(head, ["*Arcs\n" if table.directed else "*Edges\n"], lines))
    return notes


def _graph_words(table: EdgeTable, notes: list[str]) -> tuple[list[str], str]:
    """The line that names the network, and the number of nodes of the first kind."""
    attributes = dict(table.graph_attributes)
    title, mode = attributes.get("name"), attributes.get("first_mode")
    fits = isinstance(title, str) and title == title.strip() and title and not re.search(r"[\n\r]", title)
    written = ["name"] if fits else []
    if type(mode) is int and mode >= 0:
        written.append("first_mode")
    notes += left_out("graph", [key for key in attributes if key not in written], "Pajek holds a name only")
    return [f"*Network {title}\n"] if fits else [], f" {mode}" if "first_mode" in written else ""


def _vertex_words(table: EdgeTable, notes: list[str]) -> list[str]:
    """Coordinates, shape and pairs of each vertex."""
    attributes = dict(table.node_attributes)
    words = [""] * table.n_nodes
    for key in "xyz":
        values = python_values(attributes.get(key, [None]))
        if not values or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
            break
        words = [f"{word} {value!r}" for word, value in zip(words, values, strict=True)]
        del attributes[key]
    shapes = python_values(attributes.get("shape", []))
    if shapes and all(isinstance(shape, str) and shape.lower() in SHAPES for shape in shapes):
        words = [f"{word} {shape}" for word, shape in zip(words, shapes, strict=True)]
        del attributes["shape"]
    pairs = _pair_words("node", attributes, notes, table.n_nodes, reserved=("time", "x", "y", "z", "shape"))
    return list(map(str.__add__, words, pairs))


def _pair_words(
    what: str, attributes: Mapping[str, Column], notes: list[str], size: int, reserved: Sequence[str]
) -> list[str]:
    """Attributes as ``name "value"`` pairs for each row, with notes on those that don't fit."""
    words = [""] * size
    refused: list[str] = []
    for key, column in attributes.items():
        plain = _NAME.fullmatch(key) and not ANY_NUMBER.fullmatch(key) and key.lower() not in SHAPES
        cells = _cells(column) if plain and key not in reserved else None
        if cells is None:
            refused.append(key)
            continue
        words = [w if cell is None else f'{w} {key} "{cell}"' for w, cell in zip(words, cells, strict=True)]
        if not all(map(alike, python_values(column), python_values(parse_cells(cells)))):
            notes.append(f"{what} attribute {key!r} will be read back as another type; npz and parquet keep types")
    notes += left_out(what, refused, _LIMIT)
    return words


def _cells(column: Column) -> list[str | None] | None:
    """Values as text, None where one can't be held."""
    cells: list[str | None] = []
    for value in python_values(column):
        text = value if isinstance(value, str) else repr(value)
        if not isinstance(value, str | int | float | None) or re.search(r'["\n\r]', text):
            return None
        cells.append(None if value is None else text)
    return cells
