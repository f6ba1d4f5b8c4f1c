"""NumPy archives: graphpri's own, which hold everything, and SciPy's sparse matrices."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri.graph import EdgeTable, id_dtype
from graphpri.io import jsontext
from graphpri.io.columns import Column, left_out, python_values
from graphpri.io.format import ReadOptions
from graphpri.io.matrix import matrix_table
from graphpri.io.source import Source

_VERSION = 1
_META = "graphpri"
_NATIVE = "biufcUSmM"
_LIMIT = "it holds values of a type that can't be kept without pickle"
_DAMAGE = (
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


def read_npz(source: Source, options: ReadOptions) -> EdgeTable:
    """Read what :func:`write_npz` or ``scipy.sparse.save_npz`` wrote; nothing is unpickled.

    A sparse matrix must be square; one that equals its transpose is an undirected graph, any other a
    directed one, and stored zeros stay as weights that a graph refuses.

    Raises
    ------
    FileError
        For archives that are damaged, hold pickles, or hold something else.
    """
    content = source.content()
    try:
        arrays = _load(content)
        kind = _kind(arrays)
        table = _table(source, arrays) if kind == "table" else None
        matrix = _sparse(content) if kind == "sparse" else None
    except _DAMAGE as error:
        raise source.error(f"can't be read as npz ({error}): it is damaged, cut off, or another format") from None
    if table is not None:
        return table
    if matrix is None:
        listed = ", ".join(map(repr, sorted(arrays)[:10])) or "none"
        raise source.error(f"holds neither a graph of graphpri's nor a sparse matrix of SciPy's (arrays: {listed})")
    return _matrix_table(source, matrix)


def _load(content: bytes) -> dict[str, NDArray[Any]]:
    archive = np.load(io.BytesIO(content), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("a single array (npy), not an archive of several")
    with archive:
        return {name: cast("NDArray[Any]", archive[name]) for name in archive.files}


def _kind(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    if _META in arrays:
        return "table"
    return "sparse" if {"format", "shape", "data"} <= set(arrays) else None


def _sparse(content: bytes) -> sp.coo_array:
    matrix = cast("Any", sp.load_npz(io.BytesIO(content)))
    if matrix.format in ("csr", "csc", "bsr"):
        # SciPy's conversions trust index arrays, and these come from a file.
        matrix.check_format(full_check=True)
    return sp.coo_array(matrix)


def _matrix_table(source: Source, matrix: sp.coo_array) -> EdgeTable:
    rows, columns = matrix.shape
    if rows != columns:
        raise source.error(f"a matrix of {rows} rows and {columns} columns is not square, so it is no adjacency matrix")
    if matrix.dtype.kind not in "biuf":
        raise source.error(f"a matrix of {matrix.dtype} can't be weights")
    values = None if matrix.dtype.kind == "b" else matrix.data
    n = source.check_nodes(int(rows), matrix.nnz)
    row, column = matrix.coords
    return matrix_table(n, row, column, values, partial(source.row_name, what="entry number"))


def _table(source: Source, arrays: Mapping[str, NDArray[Any]]) -> EdgeTable:
    meta = jsontext.loads(arrays[_META].tobytes())
    if meta["version"] > _VERSION:
        raise ValueError(f"version {meta['version']} of graphpri's npz, made by a newer graphpri")
    u, v = arrays["source"], arrays["target"]
    n = source.check_nodes(meta["n_nodes"], max(map(len, arrays.values())))
    if u.ndim != 1 or u.shape != v.shape or u.dtype.kind not in "iu" or v.dtype.kind not in "iu":
        raise ValueError("source and target are not lists of node numbers")
    if u.size and not 0 <= min(u.min(), v.min()) <= max(u.max(), v.max()) < n:
        raise ValueError("an edge joins nodes that do not exist")
    labels = _get(arrays, "labels", n) if meta["labels"] else None
    return EdgeTable(
        n,
        u.astype(id_dtype(n)),
        v.astype(id_dtype(n)),
        cast("Sequence[Hashable] | None", tuple(labels) if isinstance(labels, list) else labels),
        bool(meta["directed"]),
        {name: _get(arrays, f"edge_{i}", u.size) for i, name in enumerate(meta["edge_attributes"])},
        {name: _get(arrays, f"node_{i}", n) for i, name in enumerate(meta["node_attributes"])},
        meta["graph_attributes"],
        source.row_name(np.arange(u.size), "edge number"),
    )


def _get(arrays: Mapping[str, NDArray[Any]], key: str, size: int) -> Column:
    """A column, as an array or as the list whose JSON it holds."""
    json = f"{key}.json" in arrays
    column = jsontext.loads(arrays[f"{key}.json"].tobytes()) if json else arrays[key]
    if len(column) != size or (json and not isinstance(column, list)):
        raise ValueError(f"{key} has another length than the table")
    return column


def write_npz(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write everything that the table holds: labels, isolated nodes, attributes and their types.

    Columns of arrays stay arrays; lists are kept as JSON. The bytes depend on the content only.
    """
    notes: list[str] = []
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
    arrays[_META] = _bytes(jsontext.dumps(meta))
    # zipfile seeks back in what it writes, which a gzip stream can't.
    held = io.BytesIO()
    np.savez_compressed(held, **cast("Any", arrays))
    stream.write(held.getbuffer())
    return notes


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
