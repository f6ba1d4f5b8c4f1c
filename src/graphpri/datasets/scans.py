"""Named sets of brain networks: their arrays as they are published, with labels, subjects and the atlas."""

from __future__ import annotations

import csv
import io
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.datasets.catalogue import ScanSet, about, scan_sets
from graphpri.datasets.files import contents
from graphpri.errors import OptionError

Columns = dict[str, tuple[str, ...]]


class Scans(NamedTuple):
    """Arrays of S scans over N regions; either `series` or `triangles` is there.

    Parameters
    ----------
    names : tuple of str, length S
    labels : tuple of str, length S
        The class of each scan, as text.
    classes : tuple of two str
    subjects : tuple of str, length S
    series : ndarray of float32, shape (S, T, N), or None
    triangles : ndarray of float32, shape (S, N(N − 1)/2), or None
        Strict lower triangles of Pearson correlations, row by row.
    atlas : dict of column to tuple of str, length N, or None
    note : str
        How the scans belong to subjects.

    Examples
    --------
    >>> series = np.zeros((2, 50, 4), np.float32)
    >>> both = Scans(("one", "two"), ("rest", "task"), ("rest", "task"), ("a", "b"), series, None, None, "")
    >>> both.series.shape, both.triangles is None
    ((2, 50, 4), True)
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    classes: tuple[str, str]
    subjects: tuple[str, ...]
    series: NDArray[np.float32] | None
    triangles: NDArray[np.float32] | None
    atlas: Columns | None
    note: str


def scans(name: str) -> Scans:
    """Load a named set of brain networks; :func:`graphpri.apps.brain_data.named` makes connectomes of it.

    Parameters
    ----------
    name : str
        One of :func:`scan_sets`.

    Raises
    ------
    OptionError
        For an unknown name.
    FileError
        As in :func:`load`.

    Examples
    --------
    >>> scans("karate")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: no set of brain networks is called 'karate': known are eoec, ...
    """
    facts = about(name) if str(name).casefold() in scan_sets() else None
    if not isinstance(facts, ScanSet):
        raise OptionError(f"no set of brain networks is called {name!r}: known are {', '.join(scan_sets())}")
    numbers, table, *atlas = contents(facts).values()
    rows = _columns(table)
    with np.load(io.BytesIO(numbers), allow_pickle=False) as arrays:
        ((key, values),) = arrays.items()
    names = rows.get("scan") or tuple(map("-".join, zip(rows["group"], rows["index"], strict=True)))
    return Scans(
        names=names,
        labels=rows.get("state") or rows["group"],
        classes=facts.classes,
        subjects=rows.get("subject", names),
        series=cast("NDArray[np.float32]", values) if key == "bold" else None,
        triangles=None if key == "bold" else cast("NDArray[np.float32]", values),
        atlas=_columns(atlas[0]) if atlas else None,
        note=facts.note,
    )


def _columns(data: bytes) -> Columns:
    header, *rows = csv.reader(io.StringIO(data.decode()))
    return dict(zip(header, map(tuple, zip(*rows, strict=True)), strict=True))
