"""Writing edge lists: csv, tsv, edgelist (spaces) and ncol."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.cells import Cells, Coded, Numbers, Texts, number_cells, write_rows
from graphpri.io.columns import (
    Column,
    alike,
    count,
    isolated,
    label_texts,
    left_out,
    parse_cells,
    python_values,
    write_weights,
)

_BARE = re.compile(r"[^ \t\n\r{][^ \t\n\r]*")
_BARE_NAME = re.compile(r"[^ \t\n\r{,;#%][^ \t\n\r,;]*")
_NEEDS_QUOTES = re.compile(r'["\n\r,;\t]|^[\s#%]|\s$|^$')
_RICHER = "an edge list can't hold them; graphml, npz and parquet can"


def write_csv(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write comma-separated values with a header."""
    return _write_quoted(table, stream, name, ",")


def write_tsv(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write tab-separated values with a header."""
    return _write_quoted(table, stream, name, "\t")


def write_spaced(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write columns split by spaces, with their names in a comment on the first line."""
    notes = _losses(table)
    ends = _ends(table, name, notes, _bare_labels(r"[ \t\n\r]|^[#%]|^$"))
    columns = _bare_columns(_columns(table, notes), notes)
    header = " ".join(["# source target", *columns]) + "\n"
    write_rows(stream, name, header, [*ends, *columns.values()], table.source.size, " ")
    return notes


def write_ncol(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write two labels and perhaps a weight on each line, without a header.

    Raises
    ------
    FileError
        For labels with a delimiter, and for a table without edges, which would be an empty file.
    """
    if not table.source.size:
        raise FileError(f"{name}: ncol can't hold a graph without edges: write csv, graphml or npz")
    notes = _losses(table)
    ends = _ends(table, name, notes, _bare_labels(r"[ \t\n\r,;]|^[#%]|^$"))
    others = [key for key in table.edge_attributes if key != "weight"]
    notes += left_out("edge", others, "ncol holds a weight only; csv holds others")
    weights = write_weights(table, notes)
    columns = [] if weights is None else [number_cells(weights)]
    write_rows(stream, name, "", [*ends, *columns], table.source.size, " ")
    return notes


def _write_quoted(table: EdgeTable, stream: BinaryIO, name: str, delimiter: str) -> list[str]:
    def quoted_labels(labels: list[str], name: str) -> list[str]:
        quoted = list(map(_quoted, labels))
        _refuse_labels(quoted, "\r", name, "which holds a carriage return")
        return quoted

    notes = _losses(table)
    ends = _ends(table, name, notes, quoted_labels)
    columns = {_quoted(key): cells for key, cells in _columns(table, notes).items()}
    header = delimiter.join(["source", "target", *columns]) + "\n"
    cells = [Texts(list(map(_quoted, cells))) if isinstance(cells, list) else cells for cells in columns.values()]
    write_rows(stream, name, header, [*ends, *cells], table.source.size, delimiter)
    return notes


def _quoted(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _ends(
    table: EdgeTable, name: str, notes: list[str], as_cells: Callable[[list[str], str], list[str]]
) -> tuple[Cells, Cells]:
    """The two columns of node labels; `as_cells` makes cells of labels that are text, or refuses them."""
    u, v, labels = table.source, table.target, table.labels
    if labels is None:
        return number_cells(u), number_cells(v)
    numbers: Any = labels
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and bool((numbers[1:] > numbers[:-1]).all()):
        return Numbers(lambda at: numbers[u[at]]), Numbers(lambda at: numbers[v[at]])
    words = as_cells(label_texts(table, name, notes, with_edges=True), name)
    return Coded(words, u), Coded(words, v)


def _losses(table: EdgeTable) -> list[str]:
    """Notes on what no edge list holds."""
    notes: list[str] = []
    if lonely := isolated(table):
        notes.append(f"{count(lonely, 'isolated node')} not in the file: {_RICHER}")
    if table.directed:
        notes.append("the file does not say that its edges are directed: an edge list can't; graphml can")
    notes += left_out("node", table.node_attributes, _RICHER)
    notes += left_out("graph", table.graph_attributes, _RICHER)
    return notes


def _columns(table: EdgeTable, notes: list[str]) -> dict[str, Cells | list[str | None]]:
    """Edge attributes as cells, with notes on what is left out or will be read back as something else."""
    out: dict[str, Cells | list[str | None]] = {}
    weights = write_weights(table, notes)
    refused: list[str] = []
    for key, column in table.edge_attributes.items():
        if key in ("source", "target", "") or "\r" in key or (key.lower() == "weight" and weights is None):
            refused.append(key)
        elif key == "weight" and weights is not None:
            out[key] = number_cells(weights)
        else:
            out[key] = _cells(key, column, notes)
    refused = [key for key in refused if key != "weight"]
    notes += left_out("edge", refused, "the name means something else in an edge list; rename it, or write npz")
    return out


def _cells(key: str, column: Column, notes: list[str]) -> Cells | list[str | None]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return number_cells(column)
    values = python_values(column)
    cells = [None if value is None else repr(value) if type(value) is float else str(value) for value in values]
    plain = [cell and cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells]
    back = python_values(parse_cells(plain))
    if not all(alike(a, b) for a, b in zip(values, back, strict=True)):
        kind = "text" if any(isinstance(value, str) for value in back) else "numbers"
        notes.append(f"edge attribute {key!r} will be read back as {kind}; npz and parquet keep types")
    return cells


def _bare_columns(columns: dict[str, Cells | list[str | None]], notes: list[str]) -> dict[str, Cells]:
    """The columns that cells without quotes can hold, with a note on the others."""
    kept: dict[str, Cells] = {}
    for key, cells in columns.items():
        if not isinstance(cells, list):
            fits = True
        else:
            fits = all(cell is not None and _BARE.fullmatch(cell) for cell in cells)
        if fits and _BARE_NAME.fullmatch(key):
            kept[key] = Texts(cells) if isinstance(cells, list) else cells
    notes += left_out(
        "edge", [key for key in columns if key not in kept], "empty cells and spaces need csv or a richer format"
    )
    return kept


def _bare_labels(refused: str) -> Callable[[list[str], str], list[str]]:
    def bare(labels: list[str], name: str) -> list[str]:
        _refuse_labels(labels, refused, name, "which is empty, begins with a comment mark or holds a delimiter")
        return labels

    return bare


def _refuse_labels(labels: list[str], pattern: str, name: str, what: str) -> None:
    search: Callable[[str], Any] = re.compile(pattern).search
    for label in labels:
        if search(label):
            raise FileError(
                f"{name}: the format can't hold the node label {label!r}, {what}: write csv, graphml or npz"
            )
