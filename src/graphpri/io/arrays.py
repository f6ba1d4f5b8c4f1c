"""Adjacency matrices as arrays in files: NumPy's ``.npy`` and MATLAB's ``.mat``, which are read only."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io.matlab import MatReadError

from graphpri.errors import setting
from graphpri.graph import EdgeTable
from graphpri.io.matrix import dense_table
from graphpri.io.matrixmarket import matrix_table
from graphpri.io.npz import DAMAGE
from graphpri.io.rows import shorten
from graphpri.io.source import InputStream, ReadOptions

_BYTES = 3
"""Memory for each byte of such a file."""


def read_array(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a NumPy array as an adjacency matrix.

    Raises
    ------
    FileError
        For a file that holds no square array of numbers, and for one that would have to be unpickled.
    """
    source.require(_BYTES, "write it as npz once, by scipy.sparse.save_npz")
    try:
        array = np.load(io.BytesIO(source.content()), allow_pickle=False)
    except DAMAGE as error:
        if "allow_pickle" in str(error):
            raise source.error(
                "is not an array of plain numbers: it could only be read by unpickling, which may run any code; "
                "save it with numbers only"
            ) from None
        raise source.error(f"can't be read as a NumPy array ({error})") from None
    if not isinstance(array, np.ndarray):
        raise source.error("is an archive of several arrays: rename it to .npz")
    return _from_array(source, cast("NDArray[Any]", array), "the array")


def read_mat(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read the square matrix that a MATLAB file holds, dense or sparse.

    Parameters
    ----------
    source : InputStream
    options : ReadOptions
        `variable` names one of several.

    Raises
    ------
    FileError
        For a file without such a matrix, with several of them, and of version 7.3.
    """
    source.require(_BYTES, "write its matrix as npz once, by scipy.sparse.save_npz")
    held = _with_fields({name: value for name, value in _load_mat(source).items() if not name.startswith("__")})
    square = {name: value for name, value in held.items() if _is_square(value)}
    if options.variable is not None:
        if options.variable not in held:
            raise source.error(f"holds no variable {shorten(options.variable)} (variables: {_named(held)})")
        return _from_array(source, held[options.variable], options.variable)
    if len(square) != 1:
        what = (
            f"holds {len(square)} square matrices, {_named(square)}" if square else "holds no square matrix of numbers"
        )
        remedy = f": pass {setting('variable', min(square))} or the like" if square else f" (variables: {_named(held)})"
        raise source.error(what + remedy)
    return _from_array(source, *reversed(next(iter(square.items()))))


def _with_fields(held: Mapping[str, Any]) -> dict[str, Any]:
    """Variables, and the fields of structures as ``Problem.A``, where the SuiteSparse collection has its matrices."""
    out = dict(held)
    for name, value in held.items():
        names = getattr(getattr(value, "dtype", None), "names", None) or ()
        if names and value.size == 1:
            out |= {f"{name}.{field}": value.reshape(-1)[0][field] for field in names}
    return out


def _load_mat(source: InputStream) -> Mapping[str, Any]:
    data = source.content()
    if data[:512].startswith(b"MATLAB 7.3") or b"\x89HDF" in data[:1024]:
        raise source.error(
            "is a MATLAB file of version 7.3 (HDF5): save it in MATLAB with save(name, '-v7'), or write the matrix as "
            ".npy with h5py"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cast("Mapping[str, Any]", scipy.io.loadmat(cast("Any", io.BytesIO(data))))
    except (*DAMAGE, MatReadError, struct.error, UnicodeError, OverflowError, RecursionError) as error:
        raise source.error(f"can't be read as a MATLAB file ({error}): is it damaged, or another format?") from None


def _named(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names)[:20]) or "none"


def _is_square(value: Any) -> bool:
    shape, dtype = getattr(value, "shape", ()), getattr(value, "dtype", np.dtype(object))
    return len(shape) == 2 and shape[0] == shape[1] > 1 and dtype.kind in "fiubc"


def _from_array(source: InputStream, array: Any, name: str) -> EdgeTable:
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise source.error(
            f"{name} is of shape {array.shape} and type {array.dtype}, and an adjacency matrix is square, of real "
            "numbers"
        )
    if sp.issparse(array):
        return _from_sparse(source, sp.coo_array(cast("Any", array)))
    values = np.asarray(array)
    if values.dtype.kind == "f" and np.isnan(values).any():
        i, j = (int(at[0]) for at in np.nonzero(np.isnan(values)))
        raise source.error(f"the entry ({i}, {j}) of the matrix is NaN: put 0 where there is no edge")
    if values.dtype.kind in "iu" and values.size and int(values.max()) < 2**63:
        values = values.astype(np.int64)
    rows = np.nonzero(values)[0]
    return dense_table(values, lambda kept: source.row_name(rows[kept], "row"))


def _from_sparse(source: InputStream, coo: Any) -> EdgeTable:
    row, column = coo.row, coo.col
    values = None if coo.dtype.kind == "b" else coo.data
    return matrix_table(coo.shape[0], row, column, values, lambda kept: source.row_name(row[kept], "row"))
