"""A folder of NumPy arrays, one file a column, mapped into memory instead of read.

A file of a graph of 10⁸ edges is opened in the time that one look at its edges takes; what stands there in
canonical order becomes a graph without a copy.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError
from graphpri.graph import MOST_EDGES, EdgeTable
from graphpri.io import jsontext
from graphpri.io.arrays import DAMAGE, META, pack, unpack
from graphpri.io.columns import Column
from graphpri.io.ends import integer_ends
from graphpri.io.format import ReadOptions
from graphpri.io.sink import Forward, Sink, advance
from graphpri.io.source import Source

_ENDS = ("source", "target")


def read_folder(source: Source, options: ReadOptions) -> EdgeTable:
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
        if isinstance(error, FileError):
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


def _plain(source: Source, arrays: dict[str, NDArray[Any]]) -> EdgeTable:
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
