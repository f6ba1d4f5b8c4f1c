"""pandas DataFrames: edge lists and adjacency matrices."""

from __future__ import annotations

from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError
from graphpri.graph import END_NAMES, EdgeTable, find_ends
from graphpri.interop.matrices import dense_source
from graphpri.interop.source import Policies, Source, accepts, fit_dtype, from_table


@accepts("a pandas DataFrame", "pandas.DataFrame")
def from_frame(F: Any, policies: Policies) -> Source:
    """An adjacency matrix where the index equals the columns, an edge list otherwise."""
    if not F.columns.is_unique:
        raise GraphError(f"the frame has two columns called {F.columns[F.columns.duplicated()][0]!r}: rename one")
    if F.shape[0] == F.shape[1] and F.index.equals(F.columns):
        return _from_adjacency(F, policies)
    ends = _find_ends(F)
    if ends is None and F.shape[0] == F.shape[1] and set(F.index) == set(F.columns):
        raise GraphError(
            "the index and the columns of the adjacency frame hold the same labels in different orders: "
            "pass frame.reindex(columns=frame.index)"
        )
    if ends is None:
        known = ", ".join("/".join(pair) for pair in END_NAMES if len(pair[0]) < 7)
        raise GraphError(
            f"no columns of the frame name the ends of an edge ({known}), and its index is not its columns, as in an "
            f"adjacency matrix; columns: {', '.join(map(repr, F.columns))}: rename two of them to source and target"
        )
    return _from_edges(F, ends, policies)


def _find_ends(F: Any) -> tuple[Any, Any] | None:
    pairs = find_ends(map(str, F.columns))
    if len(pairs) > 1:
        listed = ", ".join(repr(F.columns[i]) for i in sorted({*chain.from_iterable(pairs)}))
        raise GraphError(f"several columns of the frame could hold the ends of an edge: {listed}; rename all but two")
    return (F.columns[pairs[0][0]], F.columns[pairs[0][1]]) if pairs else None


def _from_edges(F: Any, ends: tuple[Any, Any], policies: Policies) -> Source:
    """One row an edge, in the frame's order; index and other columns are kept."""
    import pandas as pd

    sides = [np.asarray(F[end]) for end in ends]
    codes, labels = pd.factorize(np.stack(sides, axis=1).ravel() if _alike(*sides) else _objects(*sides))
    if (codes < 0).any():
        where = _row_name(F, int(np.argmax(codes < 0)) // 2)
        raise GraphError(f"the {where} has no {ends[0]!r} or no {ends[1]!r}: drop it")
    name = _weight_name(F, policies.weight)
    columns = {key: F[key].to_numpy() for key in F.columns if key == name}
    others = {str(key): () for key in F.columns if key not in ends and key != name}
    names = labels if labels.dtype.kind in "iu" else labels.tolist()
    table = EdgeTable(
        len(labels),
        codes[::2],
        codes[1::2],
        labels=cast("Any", names),
        edge_attributes=others | columns,
        row_name=lambda row: _row_name(F, row),
    )

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        H = F.iloc[rows].copy()
        if weights is not None:
            H[name] = fit_dtype(weights, columns[name].dtype if name in columns else weights.dtype)
        return H

    return from_table(table, build, policies, weight=name)


def _row_name(F: Any, row: int) -> str:
    return f"row {F.index[row : row + 1].tolist()[0]!r} of the frame"


def _alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.dtype == b.dtype or (a.dtype.kind in "iu" and b.dtype.kind in "iu")


def _objects(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    out = np.empty(2 * a.size, object)
    out[::2], out[1::2] = a, b
    return out


def _weight_name(F: Any, weight: str | None) -> str | None:
    """The weight column; the default name stands for Weight and WEIGHT as well."""
    if weight != "weight" or weight in F.columns:
        return weight
    alike = [column for column in F.columns if isinstance(column, str) and column.casefold() == weight]
    return alike[0] if len(alike) == 1 else weight


def _from_adjacency(F: Any, policies: Policies) -> Source:
    """A square frame with index equal to columns; 0 is no edge."""
    labels = F.index.to_numpy() if F.index.dtype.kind in "iu" else F.index.tolist()

    def wrap(matrix: NDArray[Any], reweighted: bool) -> Any:
        H = type(F)(matrix, index=F.index, columns=F.columns)
        H.attrs = dict(F.attrs)
        return H if reweighted else H.astype(F.dtypes)

    return dense_source(_numbers(F), policies, labels, wrap)


def _numbers(F: Any) -> NDArray[Any]:
    import pandas as pd

    for label, dtype in zip(F.columns, F.dtypes, strict=True):
        if not pd.api.types.is_numeric_dtype(dtype):
            raise GraphError(f"the column {label!r} of the adjacency frame holds {dtype}, not numbers")
    kinds = set(F.dtypes)
    if len(kinds) <= 1 and all(isinstance(dtype, np.dtype) for dtype in kinds):
        return F.to_numpy()
    return F.to_numpy(dtype=np.float64, na_value=np.nan)
