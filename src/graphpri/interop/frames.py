"""pandas DataFrames: edge lists and adjacency matrices."""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError, OptionError, argument, setting
from graphpri.graph import END_NAMES, EdgeTable, find_ends, look_like_times
from graphpri.interop.matrices import dense_source
from graphpri.interop.source import Policies, Source, accepts, fit_dtype, from_table


@accepts("a pandas DataFrame", "pandas.DataFrame")
def from_frame(F: Any, policies: Policies) -> Source:
    """An adjacency matrix where the index equals the columns, an edge list otherwise."""
    found = read_frame(F, policies)
    return _from_adjacency(F, policies) if found is None else _from_edges(F, found, policies)


class FrameEdges(NamedTuple):
    """A frame as an edge list: the columns of the ends, that of the weights if there is one, and the table."""

    ends: tuple[Any, Any]
    weight: Any
    table: EdgeTable


def read_frame(F: Any, policies: Policies) -> FrameEdges | None:
    """The edge list that a frame is; None where it is an adjacency matrix.

    Raises
    ------
    GraphError
        For a frame that is neither, and for ends that are missing.
    OptionError
        For columns that are not there.
    """
    if not F.columns.is_unique:
        raise GraphError(f"the frame has two columns called {F.columns[F.columns.duplicated()][0]!r}: rename one")
    by_position = False
    if policies.source is not None:
        ends = _chosen(F, "source", policies.source), _chosen(F, "target", policies.target)
    elif F.shape[0] == F.shape[1] and F.index.equals(F.columns):
        return None
    else:
        found = _find_ends(F)
        if found is None and F.shape[0] == F.shape[1] and set(F.index) == set(F.columns):
            raise GraphError(
                "the index and the columns of the adjacency frame hold the same labels in different orders: "
                "pass frame.reindex(columns=frame.index)"
            )
        by_position = found is None
        ends = _by_position(F) if found is None else found
    weight = _weight_name(F, policies.weight)
    if by_position and weight == "weight" and weight not in F.columns and len(F.columns) == 3:
        weight = F.columns[2] if _is_numeric(F[F.columns[2]]) else weight
        if weight != "weight":
            _refuse_times(F, weight)
    return FrameEdges(ends, weight, _edge_table(F, ends, weight, by_position))


def _chosen(F: Any, name: str, column: Any) -> Any:
    if column not in F.columns:
        known = ", ".join(map(repr, F.columns))
        raise OptionError(f"{argument(name, column)} is no column of the frame (columns: {known})")
    return column


def _find_ends(F: Any) -> tuple[Any, Any] | None:
    pairs = find_ends(map(str, F.columns))
    if len(pairs) > 1:
        listed = ", ".join(repr(F.columns[i]) for i in sorted({*chain.from_iterable(pairs)}))
        raise GraphError(
            f"several columns of the frame could hold the ends of an edge: {listed}; name two with "
            f"{setting('source')} and {setting('target')}"
        )
    return (F.columns[pairs[0][0]], F.columns[pairs[0][1]]) if pairs else None


def _by_position(F: Any) -> tuple[Any, Any]:
    """The first two of two or three columns, as in files without a header."""
    if len(F.columns) not in (2, 3):
        known = ", ".join("/".join(pair) for pair in END_NAMES if len(pair[0]) < 7)
        raise GraphError(
            f"no columns of the frame name the ends of an edge ({known}), and its index is not its columns, as in an "
            f"adjacency matrix; columns: {', '.join(map(repr, F.columns))}: pass {setting('source')} and "
            f"{setting('target')} with the names of two of them"
        )
    for column in F.columns[:2]:
        values = F[column].to_numpy()
        if values.dtype.kind == "f" and (values % 1 > 0).any():
            raise GraphError(
                f"the column {column!r} of the frame would be the ends of edges by its position, and it holds "
                f"decimals: pass {setting('source')} and {setting('target')} with the names of two columns if they are "
                "names of nodes, or a square frame with index equal to columns for an adjacency matrix"
            )
    return F.columns[0], F.columns[1]


def _refuse_times(F: Any, column: Any) -> None:
    values = F[column].to_numpy(dtype=np.float64, na_value=np.nan)
    if values.size and np.isfinite(values).all() and look_like_times(values, integers=bool((values % 1 == 0).all())):
        raise GraphError(
            f"the column {column!r} of the frame would be the weights by its position, and looks like times, from "
            f"{F[column].iloc[0]} on: pass {setting('weight', str(column))} if it holds weights, "
            f"{setting('weight', None)} if it holds times, to be ignored"
        )


def _edge_table(F: Any, ends: tuple[Any, Any], weight: Any, by_position: bool) -> EdgeTable:
    """One row an edge, in the frame's order; of other columns the names only, and what is needed to name them."""
    import pandas as pd

    sides = [np.asarray(F[end]) for end in ends]
    codes, labels = pd.factorize(np.stack(sides, axis=1).ravel() if _alike(*sides) else _objects(*sides))
    if (codes < 0).any():
        where = _row_name(F, int(np.argmax(codes < 0)) // 2)
        raise GraphError(f"the {where} has no {ends[0]!r} or no {ends[1]!r}: drop it")
    others = [key for key in F.columns if key not in ends and key != weight]
    columns = {str(key): F[key].to_numpy() if _is_numeric(F[key]) else () for key in others}
    if weight in F.columns:
        columns[str(weight)] = F[weight].to_numpy()
    said = f"ends of edges: {ends[0]!r} and {ends[1]!r}, by position"
    return EdgeTable(
        len(labels),
        codes[::2],
        codes[1::2],
        labels=cast("Any", labels if labels.dtype.kind in "iu" else labels.tolist()),
        edge_attributes=columns,
        row_name=lambda row: _row_name(F, row),
        notes=(said,) if by_position else (),
    )


def _is_numeric(column: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column.dtype)) and not pd.api.types.is_bool_dtype(column.dtype)


def _from_edges(F: Any, found: FrameEdges, policies: Policies) -> Source:
    """Rows of the frame, with its index and all columns."""
    weight = found.weight

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> Any:
        H = F.iloc[rows].copy()
        if weights is not None:
            H[weight or name] = fit_dtype(weights, F[weight].dtype if weight in F.columns else weights.dtype)
        return H

    return from_table(found.table, build, policies, weight=None if weight is None else str(weight))


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
