"""Parquet, through pyarrow: a row an edge; what rows can't hold stands in the schema's metadata."""

from __future__ import annotations

from importlib import import_module
from typing import Any, BinaryIO, cast

import numpy as np

from graphpri.errors import MissingExtraError
from graphpri.graph import EdgeTable
from graphpri.io import jsontext
from graphpri.io.columns import Column, label_texts, label_values, left_out, python_values
from graphpri.io.ends import Ends, find_ends, integer_ends, text_ends
from graphpri.io.format import ReadOptions
from graphpri.io.source import Source

_META = b"graphpri"
_JSON = {b"graphpri": b"json"}
_VERSION = 1
_META_LIMIT = 2**31 - 1
_LIMIT = "it holds values of a type that can't be kept as JSON"


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "a parquet file") from None


def read_parquet(source: Source, options: ReadOptions) -> EdgeTable:
    """Read a table of edges, whose end points are the columns ``source`` and ``target`` or the like.

    Integer and text columns can be end points; text stays text. What :func:`write_parquet` wrote comes
    back with its isolated nodes, node order, and node and graph attributes.

    Raises
    ------
    FileError
        For files that are damaged, without such columns, or with an end point missing.
    MissingExtraError
        Where pyarrow is not installed.
    """
    pa, parquet = _pyarrow()
    try:
        # Without threads: Arrow's pools now and then abort the process at its end (apache/arrow#34314).
        file = parquet.ParquetFile(
            pa.BufferReader(source.content()), pre_buffer=False, thrift_string_size_limit=_META_LIMIT
        )
        table = file.read(use_threads=False)
        meta = _read_meta(table.schema)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise source.error(f"can't be read as parquet ({error})") from None
    names: list[str] = list(table.column_names)
    found = find_ends(names)
    if found is None:
        raise source.error(
            f"no columns are called source and target, or the like (columns: {', '.join(names[:20]) or 'none'})"
        )
    ends = _read_ends(source, pa, table, *found)
    attributes: dict[str, Column] = {}
    for i, name in enumerate(names):
        if i not in found:
            lower = meta is None and name.lower() == "weight" and "weight" not in names
            attributes["weight" if lower else name] = _read_column(pa, table.column(i), table.schema.field(i))
    row_name = source.row_name(np.arange(1, ends.source.size + 1), "row")
    if meta is None:
        return EdgeTable(*ends[:4], edge_attributes=attributes, row_name=row_name)
    return EdgeTable(
        *_restore(source, ends, meta),
        directed=meta["directed"],
        edge_attributes=attributes,
        node_attributes=meta["node_attributes"],
        graph_attributes=meta["graph_attributes"],
        row_name=row_name,
    )


def _read_meta(schema: Any) -> dict[str, Any] | None:
    text = (schema.metadata or {}).get(_META)
    if text is None:
        return None
    meta = jsontext.loads(text)
    if not isinstance(meta, dict) or cast("Any", meta).get("version") != _VERSION:
        raise ValueError("its graphpri metadata is damaged, or made by a newer graphpri")
    meta = cast("dict[str, Any]", meta)
    n, columns = meta.get("n_nodes"), meta.get("node_attributes")
    lists = [*columns.values()] if isinstance(columns, dict) else [None]
    lists += [meta["labels"]] if meta.get("labels") is not None else []
    if any(not isinstance(column, list | np.ndarray) or len(column) != n for column in lists):
        raise ValueError("its graphpri metadata is damaged")
    return meta


def _read_ends(source: Source, pa: Any, table: Any, u: int, v: int) -> Ends:
    columns = [_decoded(pa, table.column(i)) for i in (u, v)]
    for i, column in zip((u, v), columns, strict=True):
        if column.null_count:
            row = column.is_null().to_pylist().index(True) + 1
            raise source.error(f"row {row} has no {table.column_names[i]!r}")
    kinds = [column.type for column in columns]
    if all(map(pa.types.is_integer, kinds)):
        try:
            first, second = (np.asarray(column.cast(pa.int64()).to_numpy()) for column in columns)
        except pa.ArrowInvalid:
            raise source.error("node numbers beyond 64-bit integers can't be read: store them as text") from None
        return integer_ends(first, second)
    if all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in kinds):
        return text_ends(*(column.to_pylist() for column in columns), parse=False)
    raise source.error(
        f"the columns {table.column_names[u]!r} and {table.column_names[v]!r} are {kinds[0]} and {kinds[1]}: "
        "store both as integers or both as text"
    )


def _decoded(pa: Any, column: Any) -> Any:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _read_column(pa: Any, column: Any, field: Any) -> Column:
    column = _decoded(pa, column)
    if (field.metadata or {}).get(_META) == _JSON[_META]:
        return [jsontext.loads(text) for text in column.to_pylist()]
    kind = column.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return column.to_numpy() if plain and not column.null_count else column.to_pylist()


def _restore(source: Source, ends: Ends, meta: dict[str, Any]) -> Ends:
    """Nodes as they stood in the table that was written."""
    n, labels = source.check_nodes(meta["n_nodes"], ends.source.size), meta.get("labels")
    if labels is None and not meta.get("plain"):
        return ends
    names = _names(ends)
    place = dict(zip(map(str, labels), range(n), strict=True)) if labels is not None else None
    position = [(place.get(str(name), -1) if place else name) for name in names]
    if position and not all(isinstance(i, int) and 0 <= i < n for i in position):
        raise source.error("its rows name nodes that its graphpri metadata doesn't know: it is damaged")
    codes = np.array(position, ends.source.dtype)
    return Ends(n, codes[ends.source], codes[ends.target], None if labels is None else tuple(labels))


def _names(ends: Ends) -> list[Any]:
    return list(range(ends.n_nodes)) if ends.labels is None else python_values(cast("Column", ends.labels))


def write_parquet(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a row an edge, with isolated nodes, and node and graph attributes in the metadata.

    Columns of numbers, of text, and of true and false keep their type for other programs; mixed ones
    are JSON.

    Raises
    ------
    MissingExtraError
        Where pyarrow is not installed.
    """
    pa, parquet = _pyarrow()
    notes: list[str] = []
    labels = label_values(table)
    texts = _uniform(labels) or label_texts(table, name, [])
    sides = [[texts[i] for i in side.tolist()] for side in (table.source, table.target)]
    arrays = [pa.array(side, pa.int64() if texts and isinstance(texts[0], int) else pa.string()) for side in sides]
    fields = [pa.field(key, array.type) for key, array in zip(("source", "target"), arrays, strict=True)]
    refused: list[str] = []
    for key, column in table.edge_attributes.items():
        made = None if key in ("source", "target") else _make_column(pa, column)
        if made is None:
            refused.append(key)
            continue
        arrays.append(made[0])
        fields.append(pa.field(key, made[0].type, metadata=_JSON if made[1] else None))
    notes += left_out("edge", refused, _LIMIT)
    meta = jsontext.dumps(_meta(table, None if _recovers(sides, labels) else labels, notes))
    made = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={_META: meta.encode()}))
    buffer = pa.BufferOutputStream()
    parquet.write_table(made, buffer)
    stream.write(buffer.getvalue())
    return notes


def _uniform(labels: list[Any]) -> list[Any] | None:
    """Labels that are all text or all 64-bit integers; None for others."""
    kinds = {type(label) for label in labels}
    if kinds == {str} or (kinds == {int} and all(-(2**63) <= label < 2**63 for label in labels)):
        return labels
    return None


def _recovers(sides: list[list[Any]], labels: list[Any]) -> bool:
    """Whether the rows alone give the nodes back, in their order."""
    if not sides[0]:
        return not labels
    if isinstance(sides[0][0], int):
        return sorted({*sides[0], *sides[1]}) == labels
    return list(dict.fromkeys(word for pair in zip(*sides, strict=True) for word in pair)) == labels


def _meta(table: EdgeTable, labels: list[Any] | None, notes: list[str]) -> dict[str, Any]:
    plain = table.labels is None and labels is not None
    nodes = {key: _kept(column) for key, column in table.node_attributes.items()}
    notes += left_out("node", [key for key, column in nodes.items() if not jsontext.holds(column)], _LIMIT)
    graph = table.graph_attributes
    notes += left_out("graph", [key for key in graph if not jsontext.holds(graph[key])], _LIMIT)
    return {
        "version": _VERSION,
        "n_nodes": table.n_nodes,
        "directed": table.directed,
        "labels": None if plain else labels,
        "plain": plain,
        "node_attributes": {key: column for key, column in nodes.items() if jsontext.holds(column)},
        "graph_attributes": {key: value for key, value in graph.items() if jsontext.holds(value)},
    }


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
