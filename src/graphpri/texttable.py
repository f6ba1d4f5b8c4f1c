"""Numbers and tables as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def shown(value: Any) -> str:
    """A value in a few characters: four decimals where that says something, "n/a" for NaN, "" for None."""
    if value is None:
        return ""
    if isinstance(value, str | bool | Integral | np.bool_):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "n/a"
    if np.isinf(number):
        return "∞" if number > 0 else "-∞"
    if number == 0 or 1e-3 <= abs(number) < 1e6:
        return f"{number:.4f}"
    return f"{number:.3g}"


def aligned(rows: Sequence[Sequence[Any]], left: int = 1) -> list[str]:
    """Lines of a table: the first `left` columns flush left, the others flush right."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    return ["  ".join(_padded(row, widths, left)).rstrip() for row in cells]


def _padded(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    columns = enumerate(zip(row, widths, strict=True))
    return [cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in columns]
