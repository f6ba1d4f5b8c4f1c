"""A table as arrays by name, for the formats that keep arrays: everything that it holds, without pickle."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import EdgeTable, id_dtype
from graphpri.io import jsontext
from graphpri.io.columns import Column, left_out, python_values
from graphpri.io.source import Source

META = "graphpri"
"""Name of the array that holds the rest, as JSON."""

_VERSION = 1
_NATIVE = "biufcUSmM"
_LIMIT = "it holds values of a type that can't be kept without pickle"
DAMAGE = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    NotImplementedError,
    EOFError,
    OSError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What is raised where arrays, or the archive that they come from, are not as they were written."""


def pack(table: EdgeTable, notes: list[str]) -> dict[str, NDArray[Any]]:
    """Arrays that hold a table; columns of arrays stay arrays, lists are kept as JSON, and what can't be is noted."""
    arrays: dict[str, NDArray[Any]] = {"source": np.asarray(table.source), "target": np.asarray(table.target)}
    graph = {key: value for key, value in table.graph_attributes.items() if jsontext.holds(value)}
    notes += left_out("graph", [key for key in table.graph_attributes if key not in graph], _LIMIT)
    meta = {
        "version": _VERSION,
        "n_nodes": table.n_nodes,
        "directed": table.directed,
        "labels": table.labels is not None,
        "edge_attributes": _put(arrays, "edge", table.edge_attributes, notes),
        "node_attributes": _put(arrays, "node", table.node_attributes, notes),
        "graph_attributes": graph,
    }
    if table.labels is not None:
        _put_column(arrays, "labels", table.labels)
    arrays[META] = _bytes(jsontext.dumps(meta))
    return arrays


def unpack(source: Source, arrays: Mapping[str, NDArray[Any]]) -> EdgeTable:
    """The table that :func:`pack` made arrays of; these are copied only where their type doesn't fit.

    Raises
    ------
    FileError, or one of DAMAGE
        For arrays that hold no table.
    """
    meta = jsontext.loads(arrays[META].tobytes())
    if meta["version"] > _VERSION:
        raise ValueError(f"version {meta['version']} of graphpri's format, made by a newer graphpri")
    u, v = arrays["source"], arrays["target"]
    n = source.check_nodes(meta["n_nodes"], max(map(len, arrays.values())))
    if u.ndim != 1 or u.shape != v.shape or u.dtype.kind not in "iu" or v.dtype.kind not in "iu":
        raise ValueError("source and target are not lists of node numbers")
    if u.size and not 0 <= min(u.min(), v.min()) <= max(u.max(), v.max()) < n:
        raise ValueError("an edge joins nodes that do not exist")
    labels = _get(arrays, "labels", n) if meta["labels"] else None
    return EdgeTable(
        n,
        u.astype(id_dtype(n), copy=False),
        v.astype(id_dtype(n), copy=False),
        cast("Sequence[Hashable] | None", tuple(labels) if isinstance(labels, list) else labels),
        bool(meta["directed"]),
        {name: _get(arrays, f"edge_{i}", u.size) for i, name in enumerate(meta["edge_attributes"])},
        {name: _get(arrays, f"node_{i}", n) for i, name in enumerate(meta["node_attributes"])},
        meta["graph_attributes"],
        source.row_name(range(u.size), "edge number"),
    )


def _get(arrays: Mapping[str, NDArray[Any]], key: str, size: int) -> Column:
    """A column, as an array or as the list whose JSON it holds."""
    json = f"{key}.json" in arrays
    column = jsontext.loads(arrays[f"{key}.json"].tobytes()) if json else arrays[key]
    if len(column) != size or (json and not isinstance(column, list)):
        raise ValueError(f"{key} has another length than the table")
    return column


def _put(arrays: dict[str, NDArray[Any]], what: str, attributes: Mapping[str, Column], notes: list[str]) -> list[str]:
    """Add columns to the arrays; the names of those added."""
    names: list[str] = []
    refused: list[str] = []
    for name, column in attributes.items():
        try:
            _put_column(arrays, f"{what}_{len(names)}", column)
            names.append(name)
        except TypeError:
            refused.append(name)
    notes += left_out(what, refused, _LIMIT)
    return names


def _put_column(arrays: dict[str, NDArray[Any]], key: str, column: Column | Sequence[Hashable]) -> None:
    if isinstance(column, np.ndarray) and column.dtype.kind in _NATIVE:
        arrays[key] = column
    else:
        arrays[f"{key}.json"] = _bytes(jsontext.dumps(python_values(column)))


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("ascii"), np.uint8)
