"""Labels of scans as two classes: which there are, which to compare, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import OptionError
from graphpri.graph import BoolArray, IntArray

MISSING = frozenset({"", "n/a", "na", "nan", "none", "null"})
"""Text, in lower case, that stands for no value."""

_LEAST = 2  # scans of a class
_SHOWN = 6


class TwoClasses(NamedTuple):
    """Labels as 0 and 1, which scans have one of the two, and what to say of the others.

    Examples
    --------
    >>> TwoClasses(np.array([0, 1]), np.array([True, True]), ("control", "patient"), ()).classes
    ('control', 'patient')
    """

    codes: IntArray
    kept: BoolArray
    classes: tuple[str, str]
    notes: tuple[str, ...]


def two_classes(
    labels: Sequence[Any] | NDArray[Any], scans: Sequence[str], classes: Sequence[Any] | None = None
) -> TwoClasses:
    """Labels as 0 and 1.

    Parameters
    ----------
    labels : sequence of numbers or text
    scans : sequence of str
        Names for messages.
    classes : sequence of two labels, optional
        Which to compare, the first as 0.

    Raises
    ------
    OptionError
        Where a label is missing, there are not two classes, `classes` names one that isn't there, or a class has fewer
        than two scans.

    Examples
    --------
    >>> names = ["a", "b", "c", "d", "e"]
    >>> found = two_classes(["patient", "control", "n/a", "control", "patient"], names, ["control", "patient"])
    >>> found.codes[found.kept].tolist(), found.notes
    ([1, 0, 0, 1], ('scans left out for another label or none: 1',))
    """
    texts = [label_text(x) for x in labels]
    counts = Counter(text for text in texts if text is not None)
    chosen = _found(texts, scans, counts) if classes is None else _chosen(classes, counts)
    for name in chosen:
        if counts[name] < _LEAST:
            raise OptionError(f"class {name!r} has {counts[name]} scan: each class needs {_LEAST} or more")
    kept = np.array([text in chosen for text in texts])
    codes = np.array([int(text == chosen[1]) for text in texts], np.int64)
    out = int((~kept).sum())
    notes = (f"scans left out for another label or none: {out}",) if out else ()
    return TwoClasses(codes, kept, chosen, notes)


def label_text(label: Any) -> str | None:
    """A label as text, 1.0 as "1"; None where it is missing.

    Examples
    --------
    >>> label_text(1.0), label_text(" patient "), label_text("n/a")
    ('1', 'patient', None)
    """
    if isinstance(label, (bool, np.bool_)):
        return str(int(label))
    if isinstance(label, (float, np.floating)) and np.isfinite(label) and label == int(label):
        label = int(label)
    text = str(label).strip()
    return None if text.casefold() in MISSING else text


def _found(texts: Sequence[str | None], scans: Sequence[str], counts: Counter[str]) -> tuple[str, str]:
    without = [scan for text, scan in zip(texts, scans, strict=True) if text is None]
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        raise OptionError(f"scan {without[0]}{more} has no label: fill it in, or choose two classes with classes=")
    if len(counts) == 1:
        raise OptionError(f"all {len(texts)} scans have the label {next(iter(counts))!r}: two classes are needed")
    if len(counts) > 2:
        raise OptionError(f"there are {_counted(counts)}: choose two with classes=, or another column of labels")
    first, second = _sorted(counts)
    return first, second


def _chosen(classes: Sequence[Any], counts: Counter[str]) -> tuple[str, str]:
    names = tuple(str(label_text(x)) for x in classes)
    if isinstance(classes, str) or len(names) != 2 or names[0] == names[1]:
        raise OptionError(f"classes={classes!r}: name two different labels")
    for name in names:
        if name not in counts:
            raise OptionError(f"classes={classes!r}: no scan has the label {name!r}; there are {_counted(counts)}")
    return names[0], names[1]


def _sorted(counts: Counter[str]) -> list[str]:
    """Labels in order: of their values where all are numbers."""
    try:
        return sorted(counts, key=float)
    except ValueError:
        return sorted(counts)


def _counted(counts: Counter[str]) -> str:
    order = _sorted(counts)
    shown = ", ".join(f"{name!r} of {counts[name]}" for name in order[:_SHOWN])
    return f"{len(counts)} labels (and scans): {shown}" + (", ..." if len(order) > _SHOWN else "")
