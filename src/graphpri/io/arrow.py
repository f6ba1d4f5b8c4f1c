"""Numbers between NumPy and pyarrow on the same memory.

pyarrow's own conversions import pandas wherever that is installed, which takes longer than a million rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import joined


def numbers_of(column: Any) -> NDArray[Any]:
    """A column of integers or floats without gaps as a read-only array; copied where it is in several pieces.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
    """
    dtype = np.dtype(column.type.to_pandas_dtype())
    pieces = [_of_piece(piece, dtype) for piece in getattr(column, "chunks", [column])]
    return pieces[0] if len(pieces) == 1 else joined(pieces, dtype)


def _of_piece(piece: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    if not len(piece):
        return np.empty(0, dtype)
    values = np.frombuffer(piece.buffers()[1], dtype, len(piece), piece.offset * dtype.itemsize)
    values.setflags(write=False)
    return values


def as_arrow(pa: Any, numbers: NDArray[Any]) -> Any:
    """Integers or floats as a pyarrow.Array; those that stand one after the other are not copied."""
    numbers = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), numbers.size, [None, pa.py_buffer(numbers)])
