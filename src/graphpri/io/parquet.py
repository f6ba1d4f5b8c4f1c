"""Parquet read, through pyarrow: a row an edge; what rows can't hold stands in the schema's metadata."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import compact, in_turn, joined, require
from graphpri.errors import GraphPRIError, MissingExtraError, setting
from graphpri.graph import MOST_EDGES, EdgeTable, IntArray
from graphpri.io import jsontext
from graphpri.io.arrow import as_arrow, numbers_of
from graphpri.io.columns import (
    Column,
    Ends,
    chosen_ends,
    coded_ends,
    find_ends,
    integer_ends,
    isolated,
    label_texts,
    label_values,
    left_out,
    python_values,
    text_ends,
)
from graphpri.io.npz import DAMAGE
from graphpri.io.sink import advance
from graphpri.io.source import InputStream, ReadOptions

META = b"graphpri"
JSON = {b"graphpri": b"json"}
VERSION = 1
_META_LIMIT = 2**31 - 1
_LARGE = 1 << 20
_MEMORY = 3  # for each byte of the columns, measured


def find_pyarrow() -> tuple[Any, Any]:
    """The modules ``pyarrow`` and ``pyarrow.parquet``."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "a parquet file") from None


def read_parquet(source: InputStream, options: ReadOptions) -> EdgeTable:
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
    pa, parquet = find_pyarrow()
    try:
        return _read(source, options, pa, parquet)
    except (pa.ArrowException, *DAMAGE) as error:
        if isinstance(error, GraphPRIError):
            raise
        raise source.error(f"can't be read as parquet ({error})") from None


def _read(source: InputStream, options: ReadOptions, pa: Any, parquet: Any) -> EdgeTable:
    """The table; what is damaged raises an error of pyarrow's, or one of DAMAGE."""
    table = _read_table(source, pa, parquet)
    meta = _read_meta(table.schema)
    names: list[str] = list(table.column_names)
    found = find_ends(names) if options.source is None else chosen_ends(source, names, options, None)
    if found is None:
        raise source.error(
            f"no columns are called source and target, or the like (columns: {', '.join(names[:20]) or 'none'}): "
            f"pass {setting('source')} and {setting('target')}"
        )
    ends = _read_ends(source, pa, table, *found)
    attributes: dict[str, Column] = {}
    for i, name in enumerate(names):
        if i not in found:
            lower = meta is None and name.lower() == "weight" and "weight" not in names
            attributes["weight" if lower else name] = _read_column(pa, table.column(i), table.schema.field(i))
    row_name = source.row_name(range(1, ends.source.size + 1), "row")
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


def _read_table(source: InputStream, pa: Any, parquet: Any) -> Any:
    """All columns, each row group of a column by one thread of our own.

    Arrow's own threads now and then abort the process at its end (apache/arrow#34314).
    """
    whole = source.path is None or source.zipped
    content = pa.py_buffer(source.content()) if whole else str(source.path)

    def opened(**known: Any) -> Any:
        file = pa.BufferReader(content) if whole else content
        return parquet.ParquetFile(file, pre_buffer=False, thrift_string_size_limit=_META_LIMIT, **known)

    with opened() as file:
        layout, names = file.metadata, file.schema_arrow.names
        if layout.num_rows > MOST_EDGES:
            raise source.error(f"{layout.num_rows} rows are more than a graph can have edges, {MOST_EDGES}")
        groups = range(layout.num_row_groups)
        if layout.num_rows > _LARGE:
            size = sum(layout.row_group(i).total_byte_size for i in groups)
            require(_MEMORY * size, f"{source.name}: reading its {layout.num_rows} rows", "split the file")
        if not groups or len(set(names)) < len(names) or any("." in name for name in names):
            return file.read(use_threads=False)
        schema, known = file.schema_arrow, {"metadata": layout}
    mine = threading.local()

    def column(part: tuple[int, str]) -> Any:
        if not hasattr(mine, "file"):
            mine.file = opened(**known)
        return mine.file.read_row_group(part[0], [part[1]], use_threads=False).column(0)

    parts = [(group, name) for group in groups for name in names]
    chunks: dict[str, list[Any]] = {name: [] for name in names}
    for done, ((_, name), found) in enumerate(zip(parts, in_turn(column, parts), strict=True), 1):
        chunks[name] += found.chunks
        source.meter(done, len(parts) + 1)
    columns = [pa.chunked_array(chunks[field.name], field.type) for field in schema]
    if len(set(map(len, columns))) > 1:
        raise source.error("its columns have different numbers of rows: it is damaged")
    return pa.Table.from_arrays(columns, schema=schema)


def _read_meta(schema: Any) -> dict[str, Any] | None:
    text = (schema.metadata or {}).get(META)
    if text is None:
        return None
    meta = jsontext.loads(text)
    if not isinstance(meta, dict) or cast("Any", meta).get("version") != VERSION:
        raise ValueError("its graphpri metadata is damaged, or made by a newer graphpri")
    meta = cast("dict[str, Any]", meta)
    n, columns = meta.get("n_nodes"), meta.get("node_attributes")
    lists = [*columns.values()] if isinstance(columns, dict) else [None]
    lists += [meta["labels"]] if meta.get("labels") is not None else []
    if any(not isinstance(column, list | np.ndarray) or len(column) != n for column in lists):
        raise ValueError("its graphpri metadata is damaged")
    return meta


def _read_ends(source: InputStream, pa: Any, table: Any, u: int, v: int) -> Ends:
    columns = [_decoded(pa, table.column(i)) for i in (u, v)]
    for i, column in zip((u, v), columns, strict=True):
        if column.null_count:
            row = column.is_null().to_pylist().index(True) + 1
            raise source.error(f"row {row} has no {table.column_names[i]!r}")
    kinds = [column.type for column in columns]
    if all(map(pa.types.is_integer, kinds)):
        try:
            first, second = (_integers(pa, column) for column in columns)
        except pa.ArrowInvalid:
            raise source.error("node numbers beyond 64-bit integers can't be read: store them as text") from None
        return integer_ends(first, second)
    if all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in kinds):
        return _text_ends(pa, *columns)
    raise source.error(
        f"the columns {table.column_names[u]!r} and {table.column_names[v]!r} are {kinds[0]} and {kinds[1]}: "
        "store both as integers or both as text"
    )


def _integers(pa: Any, column: Any) -> NDArray[Any]:
    def numbers(chunk: Any) -> NDArray[Any]:
        return compact(numbers_of(chunk.cast(pa.int64())))

    return joined(list(in_turn(numbers, column.chunks)))


def _text_ends(pa: Any, first: Any, second: Any) -> Ends:
    """Ends that are text, in order of first appearance, with one object for each different one."""
    text = pa.large_string()
    both = pa.chunked_array([*first.cast(text).chunks, *second.cast(text).chunks], text)
    if not len(both):
        return text_ends([], [], parse=False)
    coded = both.dictionary_encode().unify_dictionaries().combine_chunks()
    codes = numbers_of(coded.indices)
    return coded_ends(codes[: len(first)], codes[len(first) :], coded.dictionary.to_pylist())


def _decoded(pa: Any, column: Any) -> Any:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _read_column(pa: Any, column: Any, field: Any) -> Column:
    column = _decoded(pa, column)
    if (field.metadata or {}).get(META) == JSON[META]:
        return [jsontext.loads(text) for text in column.to_pylist()]
    kind = column.type
    if column.null_count:
        return column.to_pylist()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return numbers_of(column)
    return column.to_numpy() if pa.types.is_boolean(kind) else column.to_pylist()


def _restore(source: InputStream, ends: Ends, meta: dict[str, Any]) -> Ends:
    """Nodes as they stood in the table that was written."""
    n, labels = source.check_nodes(meta["n_nodes"], ends.source.size), meta.get("labels")
    if labels is None and not meta.get("plain"):
        return ends
    position = _positions(ends, labels)
    if position is None or (position.size and not 0 <= position.min() <= position.max() < n):
        raise source.error("its rows name nodes that its graphpri metadata doesn't know: it is damaged")
    codes = position.astype(ends.source.dtype)
    kept = labels if isinstance(labels, np.ndarray) or labels is None else tuple(labels)
    return Ends(n, codes[ends.source], codes[ends.target], cast("Sequence[Hashable] | None", kept))


def _positions(ends: Ends, labels: Any) -> NDArray[np.int64] | None:
    """Where each node of the rows stands among the labels, or as the number that it is; None where some do not."""
    names = np.arange(ends.n_nodes) if ends.labels is None else ends.labels
    if labels is None:
        return names if isinstance(names, np.ndarray) and names.dtype.kind == "i" else None
    if isinstance(labels, np.ndarray) and isinstance(names, np.ndarray):
        order = np.argsort(labels)
        at = order[np.minimum(np.searchsorted(labels, names, sorter=order), labels.size - 1)]
        return at if np.array_equal(labels[at], names) else None
    place = {str(label): i for i, label in enumerate(labels)}
    found = [place.get(str(name), -1) for name in python_values(cast("Column", names))]
    return np.array(found, np.int64)


_LIMIT = "it holds values of a type that can't be kept as JSON"
_ROWS = 1 << 20  # in a group
_DICTIONARY = 1 << 17  # nodes whose numbers fill the page of a dictionary, by pyarrow's default
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
            return self.texts.take(as_arrow(self._pa, nodes))
        return as_arrow(self._pa, nodes.astype(np.int64) if self.numbers is None else self.numbers[nodes])

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
    # A dictionary that outgrows its page would be built in vain for every group of rows.
    plain = names.texts is None and table.n_nodes > _DICTIONARY
    by_dictionary: Any = [field.name for field in fields[2:]] if plain else True
    with parquet.ParquetWriter(_Output(stream), schema, use_dictionary=by_dictionary) as writer:
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
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        narrow = column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8)
        return as_arrow(pa, column.astype(np.float64) if narrow else column), False
    if isinstance(column, np.ndarray) and column.dtype.kind == "b":
        return pa.array(column), False
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
