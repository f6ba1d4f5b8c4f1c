"""NumPy archives: graphpri's own, which hold everything, and SciPy's sparse matrices; and folders.

A folder holds one array a file, which is mapped into memory instead of read: that of a graph of 10⁸ edges is opened in
the time that one look at its edges takes, and what stands there in canonical order becomes a graph without a copy.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri._runtime import require, size_text
from graphpri.errors import GraphPRIError
from graphpri.graph import MOST_EDGES, EdgeTable, Order, id_dtype
from graphpri.io import jsontext
from graphpri.io.columns import Column, integer_ends, left_out, python_values
from graphpri.io.matrixmarket import matrix_table
from graphpri.io.sink import Forward, Sink, advance
from graphpri.io.source import InputStream, ReadOptions

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
    OverflowError,
    SyntaxError,
    TokenError,
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


def unpack(source: InputStream, arrays: Mapping[str, NDArray[Any]]) -> EdgeTable:
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


_ENDS = ("source", "target")


def read_folder(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Open what :func:`write_folder` wrote, or a folder of ``source.npy`` and ``target.npy`` from elsewhere.

    The second kind holds integer node labels, and perhaps other arrays with an entry for each edge, such as
    ``weight.npy``. Nothing is unpickled.

    Raises
    ------
    FileError
        For a folder without these files, and for arrays that are damaged or don't fit together.
    """
    folder = cast("Path", source.path)
    try:
        arrays = {_key(path): _open(path) for path in sorted(folder.iterdir()) if path.suffix in (".npy", ".json")}
        if META in arrays:
            return unpack(source, _renamed(arrays))
        missing = [name for name in _ENDS if name not in arrays]
        if not missing:
            return _plain(source, arrays)
    except DAMAGE as error:
        if isinstance(error, GraphPRIError):
            raise
        raise source.error(f"can't be read as a folder of arrays ({error}): it is damaged, or made otherwise") from None
    raise source.error(f"is a directory without {missing[0]}.npy, so it is no folder of edges")


def _key(path: Path) -> str:
    """Name of an array by its file; a list that is kept as JSON has the suffix in its name."""
    return path.stem if path.suffix == ".npy" or path.stem == META else path.name


def _file(key: str, weight: str | None) -> str:
    """The file for an array, `weight` being the name of the weights."""
    if key == META:
        return f"{META}.json"
    return "weight.npy" if key == weight else key if key.endswith(".json") else f"{key}.npy"


def _renamed(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays by the names that they have in an archive."""
    weight = _weight(_columns(arrays))
    return {weight if key == "weight" and weight else key: array for key, array in arrays.items()}


def _weight(names: list[str]) -> str | None:
    return f"edge_{names.index('weight')}" if "weight" in names else None


def _open(path: Path) -> NDArray[Any]:
    if path.suffix == ".json":
        return np.frombuffer(path.read_bytes(), np.uint8)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    return np.asarray(array)


def _plain(source: InputStream, arrays: dict[str, NDArray[Any]]) -> EdgeTable:
    u, v = (arrays.pop(name) for name in _ENDS)
    for name, ids in zip(_ENDS, (u, v), strict=True):
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}.npy holds {ids.dtype} of shape {ids.shape}, not a list of node numbers")
        if ids.dtype == np.uint64 and ids.size and int(ids.max()) >= 2**63:
            raise ValueError(f"{name}.npy holds the node number {ids.max()}, beyond 64-bit signed integers")
    if u.size > MOST_EDGES:
        raise ValueError(f"{u.size} edges are more than a graph can have, {MOST_EDGES}")
    for name, array in {"target": v, **arrays}.items():
        if array.shape != u.shape:
            raise ValueError(f"{name}.npy has the shape {array.shape} and source.npy {u.shape}: one entry an edge")
    u, v = (ids.astype(np.int64) if ids.dtype.kind == "u" else ids for ids in (u, v))
    ends = integer_ends(u, v)
    columns = cast("dict[str, Column]", arrays)
    return EdgeTable(*ends, edge_attributes=columns, row_name=source.row_name(range(u.size), "edge number"))


def write_folder(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write everything that the table holds, a file for each column; the folder is that of the sink."""
    notes: list[str] = []
    arrays = pack(table, notes)
    folder, weight = cast("Path", cast("Sink", stream).folder), _weight(_columns(arrays))
    for done, (key, array) in enumerate(arrays.items(), 1):
        with (folder / _file(key, weight)).open("xb") as file:
            if key == META or key.endswith(".json"):
                file.write(array.tobytes())
            else:
                # To a real file NumPy writes by itself, and doesn't say why where it can't.
                np.lib.format.write_array(cast("Any", Forward(file)), array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        advance(stream, done, len(arrays))
    return notes


def _columns(arrays: dict[str, NDArray[Any]]) -> list[str]:
    return jsontext.loads(arrays[META].tobytes())["edge_attributes"]


_BEGINNINGS = b"PK", b"\x93NUMPY"
_PICKLED = "an array of Python objects, which are not unpickled because that runs code from the file"


def read_npz(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read what :func:`write_npz` or ``scipy.sparse.save_npz`` wrote; nothing is unpickled.

    A sparse matrix must be square; one that equals its transpose is an undirected graph, any other a
    directed one, and stored zeros stay as weights that a graph refuses.

    Raises
    ------
    FileError
        For archives that are damaged, hold pickles, or hold something else.
    """
    content = source.content()
    if not content.startswith(_BEGINNINGS):
        raise source.error("is no npz archive, by its first bytes: it is damaged, cut off, or another format")
    try:
        arrays = _load(source, content)
        kind = _kind(arrays)
        table = unpack(source, arrays) if kind == "table" else None
        matrix = _sparse(content) if kind == "sparse" else None
    except DAMAGE as error:
        if isinstance(error, GraphPRIError):
            raise
        told = _PICKLED if "pickle" in str(error) else str(error)
        raise source.error(f"can't be read as npz ({told}): it is damaged, cut off, or another format") from None
    if table is not None:
        return table
    if matrix is None:
        listed = ", ".join(map(repr, sorted(arrays)[:10])) or "none"
        raise source.error(f"holds neither a graph of graphpri's nor a sparse matrix of SciPy's (arrays: {listed})")
    return _matrix_table(source, matrix)


def _load(source: InputStream, content: bytes) -> dict[str, NDArray[Any]]:
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as zipped:
            size = sum(member.file_size for member in zipped.infolist())
        # Of the archive, its arrays and what is made of them, never less than two are there at a time.
        require(len(content) + 2 * size, f"{source.name}: unzipping it to {size_text(size)}", "split it")
    archive = np.load(io.BytesIO(content), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("a single array (npy), not an archive of several")
    with archive:
        return {name: cast("NDArray[Any]", archive[name]) for name in archive.files}


def _kind(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    if META in arrays:
        return "table"
    return "sparse" if {"format", "shape", "data"} <= set(arrays) else None


def _sparse(content: bytes) -> sp.coo_array:
    matrix = cast("Any", sp.load_npz(io.BytesIO(content)))
    if matrix.format in ("csr", "csc", "bsr"):
        # SciPy's conversions trust index arrays, and these come from a file.
        matrix.check_format(full_check=True)
    return sp.coo_array(matrix)


def _matrix_table(source: InputStream, matrix: sp.coo_array) -> EdgeTable:
    rows, columns = matrix.shape
    if rows != columns:
        raise source.error(f"a matrix of {rows} rows and {columns} columns is not square, so it is no adjacency matrix")
    if matrix.dtype.kind not in "biuf":
        raise source.error(f"a matrix of {matrix.dtype} can't be weights")
    values = None if matrix.dtype.kind == "b" else matrix.data
    n = source.check_nodes(int(rows), matrix.nnz)
    row, column = matrix.coords

    def row_name(kept: Order) -> Callable[[int], str]:
        return source.row_name(range(matrix.nnz)[kept] if isinstance(kept, slice) else kept, "entry number")

    return matrix_table(n, row, column, values, row_name)


def write_npz(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write everything that the table holds: labels, isolated nodes, attributes and their types.

    Columns of arrays stay arrays; lists are kept as JSON. The bytes depend on the content only.
    """
    notes: list[str] = []
    arrays = pack(table, notes)
    # A stream without a position: zipfile then doesn't go back in it, which gzip can't.
    with zipfile.ZipFile(cast("Any", Forward(stream)), "w", zipfile.ZIP_DEFLATED) as archive:
        for done, (key, array) in enumerate(arrays.items(), 1):
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
            advance(stream, done, len(arrays))
    return notes
