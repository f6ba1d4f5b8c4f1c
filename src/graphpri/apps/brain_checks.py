"""Checks of time series and of correlation matrices: each error names the scan and the region at fault."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from graphpri.errors import OptionError
from graphpri.graph import FloatArray, IntArray

_OUT = "leave out the region in all scans, or the scan"
_LEAST = 3  # regions, and time points
_TOLERANCE = 1e-5  # of correlations written in single precision or to six digits
_CONSTANT = 1e-12  # of the largest entry
_SUBJECT = re.compile(r"(?:^|[_/\\])sub-([A-Za-z0-9]+)")


def subject_of(scan: str) -> str | None:
    """The subject in a scan's name of BIDS entities (``sub-01_task-rest``); None where it has none.

    Examples
    --------
    >>> subject_of("sub-01_task-rest"), subject_of("scan 7")
    ('01', None)
    """
    found = _SUBJECT.search(scan)
    return found[1] if found else None


def correlations(
    series: Sequence[ArrayLike], names: Sequence[str], regions: Sequence[str] | None = None
) -> tuple[tuple[FloatArray, ...], FloatArray]:
    """Time series as arrays, and their Pearson correlations, shape (S, N, N).

    Raises
    ------
    OptionError
        See :func:`graphpri.apps.brain_data.from_series`.

    Examples
    --------
    >>> _, found = correlations([[[0, 1, 0], [1, 3, 2], [2, 5, 0]]], ["sub-01"])
    >>> found[0].round(6).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    held = tuple(_as_table(x, name) for x, name in zip(series, names, strict=True))
    _check_widths(held, names)
    for x, name in zip(held, names, strict=True):
        _check_series(x, name, regions)
    return held, np.stack([_pearson(x) for x in held])


def as_correlations(
    matrices: Sequence[ArrayLike], names: Sequence[str], regions: Sequence[str] | None = None
) -> tuple[FloatArray, list[str]]:
    """Correlation matrices, exactly symmetric with a diagonal of 1, and the names of those that had zeros there.

    Raises
    ------
    OptionError
        See :func:`graphpri.apps.brain_data.from_matrices`.

    Examples
    --------
    >>> found, blank = as_correlations([[[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]], ["sub-01"])
    >>> found[0].tolist(), blank
    ([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]], ['sub-01'])
    """
    held = [_as_table(x, name) for x, name in zip(matrices, names, strict=True)]
    for x, name in zip(held, names, strict=True):
        if x.shape[0] != x.shape[1]:
            raise OptionError(f"scan {name} has shape {x.shape}: a correlation matrix is square")
    _check_widths(held, names)
    blank = [name for x, name in zip(held, names, strict=True) if _is_blank(x)]
    for x, name in zip(held, names, strict=True):
        _check_matrix(x, name, regions)
    found = np.stack(held)
    found = np.clip((found + found.swapaxes(1, 2)) / 2, -1, 1)
    at = np.arange(found.shape[1])
    found[:, at, at] = 1.0
    return found, blank


def _is_blank(x: FloatArray) -> bool:
    """Whether the diagonal was left at 0."""
    return bool((np.abs(x.diagonal()) <= _TOLERANCE).all())


def _as_table(x: ArrayLike, name: str) -> FloatArray:
    try:
        found = np.array(x, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"scan {name} has entries that are not numbers: {error}") from None
    if found.ndim != 2:
        raise OptionError(f"scan {name} has shape {found.shape}: pass a table of time points by regions, or a matrix")
    if min(found.shape) < _LEAST:
        raise OptionError(f"scan {name} has shape {found.shape}: {_LEAST} rows and {_LEAST} columns are the least")
    return found


def _check_widths(held: Sequence[FloatArray], names: Sequence[str]) -> None:
    n = held[0].shape[1]
    for x, name in zip(held, names, strict=True):
        if x.shape[1] != n:
            turned = x.shape[0] == held[0].shape[0] < min(n, x.shape[1])
            hint = "; are regions in rows? Then transpose the series" if turned else ""
            raise OptionError(
                f"scan {name} has {x.shape[1]} regions and scan {names[0]} has {n}: all must have the same{hint}"
            )


def _listed(columns: IntArray, n: int, regions: Sequence[str] | None) -> str:
    """The first of some of n regions, by number and name, and how many more there are."""
    i = int(columns[0])
    named = f" ({regions[i]})" if regions is not None and len(regions) == n else ""
    return f"ROI {i + 1}{named}" + (f" and {columns.size - 1} more" if columns.size > 1 else "")


def _check_series(x: FloatArray, name: str, regions: Sequence[str] | None) -> None:
    n = x.shape[1]
    bad = ~np.isfinite(x)
    if bad.any():
        raise OptionError(
            f"scan {name} has NaN or an infinite entry in "
            f"{_listed(np.flatnonzero(bad.any(axis=0)), n, regions)}: {_OUT}"
        )
    constant = np.flatnonzero(np.ptp(x, axis=0) <= _CONSTANT * np.abs(x).max(axis=0))
    if constant.size:
        raise OptionError(
            f"scan {name} is constant in {_listed(constant, n, regions)}, which has no correlations: {_OUT}"
        )


def _pearson(x: FloatArray) -> FloatArray:
    found = np.asarray(np.corrcoef(x, rowvar=False), np.float64)
    found = np.clip((found + found.T) / 2, -1, 1)
    np.fill_diagonal(found, 1.0)
    return found


def _check_matrix(x: FloatArray, name: str, regions: Sequence[str] | None) -> None:
    bad = ~np.isfinite(x) & ~np.eye(len(x), dtype=bool)
    without = np.flatnonzero(bad.sum(axis=1) == len(x) - 1)
    if without.size:
        raise OptionError(f"scan {name} has no correlations of {_listed(without, len(x), regions)}: {_OUT}")
    finite, diagonal = np.where(np.isfinite(x), x, 0.0), x.diagonal()
    cases = (
        (np.isinf(x), "correlations lie in [-1, 1]; take tanh of Fisher z values, of which that of 1 is infinite"),
        (np.isnan(x), "pass numbers only"),
        (np.abs(finite - finite.T) > _TOLERANCE, "its mirror image differs: pass symmetric matrices"),
        (
            (np.abs(x) > 1 + _TOLERANCE) & ~np.eye(len(x), dtype=bool),
            "correlations lie in [-1, 1]; take tanh of Fisher z values, divide covariances by the deviations",
        ),
        (
            np.diag((np.abs(diagonal - 1) > _TOLERANCE) & (not _is_blank(x))),
            "the diagonal of a correlation matrix is 1 (or left at 0)",
        ),
    )
    for bad, remedy in cases:
        if bad.any():
            u, v = np.argwhere(bad)[0]
            raise OptionError(f"scan {name} has {x[u, v]:.6g} in row {u + 1}, column {v + 1}: {remedy}")
