"""NumPy archives: graphpri's own, which hold everything, and SciPy's sparse matrices."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri.graph import EdgeTable
from graphpri.io.arrays import DAMAGE, META, pack, unpack
from graphpri.io.format import ReadOptions
from graphpri.io.matrix import matrix_table
from graphpri.io.sink import Forward, advance
from graphpri.io.source import Source
from graphpri.rows import Order

_BEGINNINGS = b"PK", b"\x93NUMPY"
_PICKLED = "an array of Python objects, which are not unpickled because that runs code from the file"


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
    if not content.startswith(_BEGINNINGS):
        raise source.error("is no npz archive, by its first bytes: it is damaged, cut off, or another format")
    try:
        arrays = _load(content)
        kind = _kind(arrays)
        table = unpack(source, arrays) if kind == "table" else None
        matrix = _sparse(content) if kind == "sparse" else None
    except DAMAGE as error:
        told = _PICKLED if "pickle" in str(error) else str(error)
        raise source.error(f"can't be read as npz ({told}): it is damaged, cut off, or another format") from None
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
    if META in arrays:
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
