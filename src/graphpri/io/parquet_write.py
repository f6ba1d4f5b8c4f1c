"""Parquet written, through pyarrow: a row an edge; what rows can't hold stands in the schema's metadata."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from graphpri.graph import EdgeTable, IntArray
from graphpri.io import jsontext
from graphpri.io.columns import Column, isolated, label_texts, label_values, left_out, python_values
from graphpri.io.parquet import JSON, META, VERSION, find_pyarrow
from graphpri.io.sink import advance

_LIMIT = "it holds values of a type that can't be kept as JSON"
_ROWS = 1 << 20  # in a group
_MANY = 1 << 16


class _Names:
    """What the rows call the nodes: integers in an array, or text."""

    def __init__(self, pa: Any, table: EdgeTable, name: str) -> None:
        labels = table.labels
        if labels is None or (isinstance(labels, np.ndarray) and labels.dtype.kind == "i"):
            self.numbers = None if labels is None else np.asarray(labels, np.int64)
            self.texts = None
            self.type = pa.int64()
        else:
            values = label_values(table)
            kinds = {type(label) for label in values}
            whole = kinds == {int} and all(-(2**63) <= label < 2**63 for label in values)
            self.numbers = np.array(values, np.int64) if whole else None
            texts = values if kinds == {str} else label_texts(table, name, [])
            self.texts = None if whole else pa.array(texts, pa.string())
            self.type = pa.int64() if whole else pa.string()
        self._pa = pa

    def of(self, nodes: IntArray) -> Any:
        """A column of nodes."""
        if self.texts is not None:
            return self.texts.take(self._pa.array(nodes))
        return self._pa.array(nodes.astype(np.int64) if self.numbers is None else self.numbers[nodes])

    def recover(self, table: EdgeTable) -> bool:
        """Whether the rows alone give the nodes back, in their order."""
        if not table.source.size:
            return table.n_nodes == 0
        if isolated(table):
            return False
        if self.texts is None:
            return self.numbers is None or bool((self.numbers[1:] > self.numbers[:-1]).all())
        both = np.stack([table.source, table.target], axis=1).reshape(-1).astype(np.int64)
        new = np.diff(np.maximum.accumulate(both), prepend=-1)
        return bool((new <= 1).all()) and all(type(label) is str for label in label_values(table))


class _Output:
    """What pyarrow takes for a file; it is closed by those who opened it."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush

    def close(self) -> None:
        """Leave the stream open."""


def write_parquet(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a row an edge, with isolated nodes, and node and graph attributes in the metadata.

    Columns of numbers, of text, and of true and false keep their type for other programs; mixed ones
    are JSON.

    Raises
    ------
    MissingExtraError
        Where pyarrow is not installed.
    """
    pa, parquet = find_pyarrow()
    notes: list[str] = []
    names = _Names(pa, table, name)
    fields = [pa.field(key, names.type) for key in ("source", "target")]
    columns: list[Any] = []
    refused: list[str] = []
    for key, column in table.edge_attributes.items():
        made = None if key in ("source", "target") else _make_column(pa, column)
        if made is None:
            refused.append(key)
            continue
        columns.append(made[0])
        fields.append(pa.field(key, made[0].type, metadata=JSON if made[1] else None))
    notes += left_out("edge", refused, _LIMIT)
    meta = jsontext.dumps(_meta(table, names.recover(table), notes))
    schema = pa.schema(fields, metadata={META: meta.encode()})
    with parquet.ParquetWriter(_Output(stream), schema) as writer:
        for start in range(0, max(table.source.size, 1), _ROWS):
            at = slice(start, start + _ROWS)
            ends = [names.of(table.source[at]), names.of(table.target[at])]
            rows = pa.Table.from_arrays([*ends, *(column[at] for column in columns)], schema=schema)
            writer.write_table(rows, row_group_size=_ROWS)
            advance(stream, min(start + _ROWS, table.source.size), table.source.size)
    return notes


def _meta(table: EdgeTable, recovers: bool, notes: list[str]) -> dict[str, Any]:
    plain = table.labels is None and not recovers
    nodes = {key: _kept(column) for key, column in table.node_attributes.items()}
    notes += left_out("node", [key for key, column in nodes.items() if not jsontext.holds(column)], _LIMIT)
    graph = table.graph_attributes
    notes += left_out("graph", [key for key in graph if not jsontext.holds(graph[key])], _LIMIT)
    return {
        "version": VERSION,
        "n_nodes": table.n_nodes,
        "directed": table.directed,
        "labels": None if recovers or table.labels is None else _listed(table.labels),
        "plain": plain,
        "node_attributes": {key: column for key, column in nodes.items() if jsontext.holds(column)},
        "graph_attributes": {key: value for key, value in graph.items() if jsontext.holds(value)},
    }


def _listed(labels: Any) -> Column:
    """Labels as a list, or as the array that they are where they are very many."""
    many = isinstance(labels, np.ndarray) and labels.dtype.kind == "i" and labels.size > _MANY
    return labels if many else python_values(labels)


def _kept(column: Column) -> Column:
    return column if isinstance(column, np.ndarray) and column.dtype.kind in "biufc" else python_values(column)


def _make_column(pa: Any, column: Column) -> tuple[Any, bool] | None:
    """A column for pyarrow and whether it is JSON; None where it can't be kept."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        narrow = column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8)
        return pa.array(column.astype(np.float64) if narrow else column), False
    values = python_values(column)
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        try:
            return pa.array(values), False
        except (pa.ArrowException, ValueError, OverflowError):
            pass
    try:
        return pa.array([jsontext.dumps(value) for value in values], pa.string()), True
    except TypeError:
        return None
