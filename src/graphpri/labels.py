"""Node labels and their canonical order."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def plain_label(label: Any) -> Hashable:
    """The label as a Python object, so that messages don't read np.int64(3)."""
    return label.item() if isinstance(label, np.generic) else label


def order_labels(labels: Sequence[Hashable]) -> tuple[NDArray[np.int64], Sequence[Hashable] | None]:
    """Bring labels into canonical order.

    Numbers are sorted by value, text by code point, tuples entry by entry, frozensets by their sorted
    entries, everything else by its ``repr``; labels of different kinds by the name of the kind ("number",
    "text", else the type's). Where that could differ from one process to the next, because a ``repr`` shows
    a memory address, or where two labels can't be compared, all stay in the order in which they came.

    Parameters
    ----------
    labels : sequence of hashable, length N
        An array of integers or text is sorted as such.

    Returns
    -------
    order : ndarray of int64, shape (N,)
        Position in `labels` of the i-th label in canonical order.
    ordered : sequence of hashable or None
        The labels in that order; None where they are 0, 1, 2 and so on.

    Raises
    ------
    GraphError
        For a label that stands twice.
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuU":
        return _order_array(cast("NDArray[Any]", labels))
    _check_unique(labels)
    order = np.asarray(_order(labels), np.int64)
    ordered = tuple(labels[i] for i in order)
    plain = all(type(x) is int for x in ordered) and ordered == tuple(range(len(ordered)))
    return order, None if plain else ordered


def _order_array(labels: NDArray[Any]) -> tuple[NDArray[np.int64], Sequence[Hashable] | None]:
    if bool((labels[1:] > labels[:-1]).all()):
        order, ordered = np.arange(labels.size), labels
    else:
        order = np.argsort(labels, kind="stable")
        ordered = labels[order]
    if (repeats := ordered[1:][ordered[1:] == ordered[:-1]]).size:
        raise _twice(repeats[0])
    plain = ordered.dtype.kind in "iu" and np.array_equal(ordered, np.arange(ordered.size))
    return order, None if plain else cast("Sequence[Hashable]", ordered)


def _check_unique(labels: Sequence[Hashable]) -> None:
    seen: set[Hashable] = set()
    for label in labels:
        if label in seen:
            raise _twice(label)
        seen.add(label)


def _twice(label: Any) -> GraphError:
    return GraphError(f"the node label {plain_label(label)!r} stands twice: labels must be unique")


def _order(labels: Sequence[Hashable]) -> Sequence[int]:
    kinds = {_kind(x) for x in labels}
    key: Callable[[Any], Any] = _whole if kinds <= {"number"} or kinds <= {"text"} else _sort_key
    try:
        keys = [key(x) for x in labels]
        return sorted(range(len(keys)), key=keys.__getitem__)
    except TypeError:
        return range(len(labels))


def _whole(label: Any) -> Any:
    return label


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    if isinstance(label, bool) or not isinstance(label, Real):
        return type(label).__qualname__
    return "number" if label == label else "nan"


def _sort_key(label: Any) -> tuple[str, Any]:
    """Kind, then something that compares within it; a TypeError where that would not be the same in every process."""
    kind = _kind(label)
    if kind in ("number", "text"):
        return kind, label
    if isinstance(label, tuple):
        return kind, tuple(_sort_key(x) for x in cast("tuple[Any, ...]", label))
    if isinstance(label, frozenset):
        return kind, sorted(_sort_key(x) for x in cast("frozenset[Any]", label))
    text = repr(label)
    if _ADDRESS.search(text):
        raise TypeError(f"{text} shows a memory address")
    return kind, text
