"""Adjacency matrices: SciPy sparse arrays and matrices of any format, and dense NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri._runtime import require
from graphpri.errors import GraphError, setting
from graphpri.graph import EdgeTable
from graphpri.interop.mirror import Mirrored, Wording, pair_up
from graphpri.interop.source import Policies, Source, accepts, fit_dtype, from_table

WORDS = Wording(
    "the matrix",
    "entry",
    "entries",
    "make it symmetric first, with A + A.T where one triangle is filled, or pass "
    f"{setting('directed', 'average')} for the mean of opposite entries, {setting('directed', 'symmetrize')} for their "
    "sum",
)
# These formats store blocks or diagonals with zeros as padding; elsewhere a stored zero was put there.
_PADDED = ("bsr", "dia")
_ENTRY_BYTES = 80  # measured: 35 to 79


@accepts("a square SciPy sparse array or matrix", "scipy.sparray", "scipy.spmatrix")
def from_sparse(A: Any, policies: Policies) -> Source:
    """Stored entries are edges; the same class, format and dtype come back."""
    shape, form, is_array = A.shape, A.format, isinstance(A, sp.sparray)
    check_matrix(shape, A.dtype)
    coo = A.tocoo()
    row, col, values = coo.row, coo.col, coo.data
    if form in _PADDED and not values.all():
        row, col, values = row[values != 0], col[values != 0], values[values != 0]
    notes: tuple[str, ...] = ()
    if not values.all():
        if policies.zero == "refuse":
            raise _stored_zeros(row, col, values)
        n_zeros = values.size - int(np.count_nonzero(values))
        notes = (f"{n_zeros} stored zero{'s' * (n_zeros > 1)} dropped",)
        row, col, values = row[values != 0], col[values != 0], values[values != 0]
    entries = read_entries(row, col, values, shape[0], policies)
    container: Any = sp.coo_array if is_array else sp.coo_matrix

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        r, c, data = write_entries(entries, row, col, values, rows, weights)
        return container((data, (r, c)), shape=shape).asformat(form)

    return from_table(entries.table, build, policies, notes=notes)


def _stored_zeros(row: NDArray[Any], col: NDArray[Any], values: NDArray[Any]) -> GraphError:
    at = int(np.argmin(values != 0))
    return GraphError(
        f"the matrix stores a zero at ({row[at]}, {col[at]}) ({values.size - np.count_nonzero(values)} in all), and an "
        f"edge of weight 0 is none: remove them first with A.eliminate_zeros(), or pass {setting('zero', 'drop')}"
    )


@accepts("a square NumPy array", "numpy.ndarray")
def from_dense(A: Any, policies: Policies) -> Source:
    """Entries other than 0 are edges; an array of the same dtype comes back."""
    if isinstance(A, np.ma.MaskedArray):
        raise GraphError("a masked array may mean unknown entries or absent edges: pass A.filled(0) if these are none")
    return dense_source(A, policies, None, lambda matrix, _: matrix)


def dense_source(
    A: NDArray[Any], policies: Policies, labels: Sequence[Any] | None, wrap: Callable[[NDArray[Any], bool], Any]
) -> Source:
    """Source of a dense matrix; ``wrap(matrix, reweighted)`` makes an object of the input's type of a new one."""
    check_matrix(A.shape, A.dtype)
    dense = np.asarray(A)
    needed = dense.nbytes + _ENTRY_BYTES * int(np.count_nonzero(dense))
    require(needed, f"a dense matrix of {dense.shape[0]} nodes as a graph", "pass it as scipy.sparse.csr_array")
    row, col = np.nonzero(dense)
    values = dense[row, col]
    entries = read_entries(row, col, values, dense.shape[0], policies, labels)

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        r, c, data = write_entries(entries, row, col, values, rows, weights)
        out = np.zeros_like(A, dtype=data.dtype)
        out[r, c] = data
        return wrap(out, weights is not None)

    return from_table(entries.table, build, policies)


def check_matrix(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse what can't be an adjacency matrix with real entries."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(
            f"an array of shape {shape} is not a square adjacency matrix; "
            "for arrays of end points use Graph.from_edges(source, target)"
        )
    if dtype.kind == "c":
        raise GraphError(f"the matrix holds complex numbers ({dtype}); weights must be real: take abs(A) or A.real")
    if dtype.kind not in "fiub":
        raise GraphError(f"the matrix holds {dtype}, not numbers: convert it with A.astype(float)")


def read_entries(
    row: NDArray[Any],
    col: NDArray[Any],
    values: NDArray[Any],
    n_nodes: int,
    policies: Policies,
    labels: Sequence[Any] | None = None,
) -> Mirrored:
    """Pair the entries of a matrix; true/false entries are edges without weights."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        at = int(np.argmax(np.isnan(values)))
        name = EdgeTable(n_nodes, row, col, labels=labels).label
        i, j = name(int(row[at])), name(int(col[at]))
        raise GraphError(f"the entry ({i!r}, {j!r}) of the matrix is NaN: put 0 where there is no edge")
    weights = None if values.dtype.kind == "b" else values
    return pair_up(row, col, weights, n_nodes, policies, WORDS, labels=labels, matrix=True)


def write_entries(
    entries: Mirrored,
    row: NDArray[Any],
    col: NDArray[Any],
    values: NDArray[Any],
    rows: NDArray[np.int64],
    weights: NDArray[Any] | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Row, column and value of the entries of a rebuilt matrix."""
    position, edge, flipped = entries.expand(rows)
    r, c = row[position], col[position]
    r, c = np.where(flipped, c, r), np.where(flipped, r, c)
    values = values if entries.averaged is None else entries.averaged
    data = values[position] if weights is None else fit_dtype(weights, values.dtype)[edge]
    return r, c, data
