"""The weights in a column of an edge table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError, OptionError

Column = Sequence[Any] | NDArray[Any]
EdgeName = Callable[[int], str]


def read_weights(
    columns: Mapping[str, Column], weight: str | None, edge: EdgeName
) -> tuple[NDArray[np.float64] | None, str]:
    """Take the weights from the columns of a table.

    Parameters
    ----------
    columns : mapping of str to sequence
        Columns of length R.
    weight : str or None
        Column that holds the weights, where there is one; None ignores weights. A name other than
        ``"weight"`` must exist.
    edge : callable
        Names the edge in a row, for error messages.

    Returns
    -------
    weights : ndarray of float64, shape (R,), or None
        Positive and finite; 1 where a row has no entry, and None where there are no weights.
    note : str
        Where they come from.

    Raises
    ------
    GraphError
        For weights that are not positive and finite numbers.
    OptionError
        For a column that is not there.
    """
    if weight is None:
        return None, "weights ignored" if "weight" in columns else "unweighted"
    if weight in columns:
        w, missing = _numbers(columns[weight], weight, edge)
        _check_positive(w, edge)
        return w, f"weights: {weight!r}" + (f", {missing} of {w.size} edges have none and weigh 1" if missing else "")
    if weight != "weight":
        known = ", ".join(map(repr, columns)) or "none"
        raise OptionError(f"no edge has the attribute {weight!r} named as weight (edge attributes: {known})")
    return None, "unweighted: no edge has the attribute 'weight'"


def _numbers(column: Column, weight: str, edge: EdgeName) -> tuple[NDArray[np.float64], int]:
    """The column as floats, 1 for a missing entry, and how many are missing."""
    values = np.asarray(column)
    if values.dtype.kind == "b":
        raise GraphError(
            f"the weights {weight!r} are true/false, not numbers: pass weight=None (--weight none) to ignore them"
        )
    if values.dtype.kind in "fiu":
        return values.astype(np.float64, copy=False), 0
    out = np.ones(len(column))
    present = [row for row, value in enumerate(column) if value is not None]
    for row in present:
        out[row] = _number(column[row], edge, row)
    return out, len(column) - len(present)


def _number(value: Any, edge: EdgeName, row: int) -> float:
    if isinstance(value, bool | np.bool_):
        raise GraphError(f"{edge(row)} has the weight {value!r}, which is not a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(
            f"{edge(row)} has the weight {value!r}, which is not a number: "
            "correct it, or pass weight=None (--weight none) to ignore weights"
        ) from None


def _check_positive(w: NDArray[np.float64], edge: EdgeName) -> None:
    bad = ~(np.isfinite(w) & (w > 0))
    count = int(np.count_nonzero(bad))
    if not count:
        return
    row = int(np.argmax(bad))
    value = float(w[row])
    negative = value < 0 and bool(np.isfinite(value))
    remedy = "take absolute values (abs) or drop it" if negative else "remove the edge, or threshold the weights before"
    more = f" ({count} such weights)" if count > 1 else ""
    raise GraphError(
        f"{edge(row)} has the weight {value!r}{more}; weights must be positive and finite: "
        f"{remedy}, or pass weight=None (--weight none) to ignore weights"
    )
