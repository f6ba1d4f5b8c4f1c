"""How results look: aligned text for people, strict JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from numbers import Integral, Real
from typing import Any, cast


def fields(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values on lines of their own, values aligned; pairs whose value is None are left out."""
    from graphpri._output import format_value

    given = [(name, format_value(value)) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in given), default=0)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in given)


def value(row: Mapping[str, Any], name: str) -> Any:
    """A value of a report or row; with its standard error, as text, where it has one."""
    error = row.get(f"{name}_error")
    if not error:
        return row[name]
    from graphpri._entropy.stochastic import Estimate

    return str(Estimate(row[name], error))


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under the names of their columns; columns of numbers flush right, a missing value left empty."""
    from graphpri._output import format_value

    names = list(dict.fromkeys(key for row in rows for key in row))
    right = [all(isinstance(row.get(name), Real | None) for row in rows) for name in names]
    lines = [names, *([format_value(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)).rstrip()
        for line in lines
    )


def as_json(value: Any) -> str:
    """The value as JSON that every parser reads.

    JSON has no infinities and no NaN: they are the texts ``"Infinity"``, ``"-Infinity"`` and ``"NaN"``, which
    Python's and JavaScript's conversions to numbers read.
    """
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """The value in JSON's own types."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _finite(float(value))
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Iterable):
        return [plain(entry) for entry in cast("Iterable[Any]", value)]
    return str(value)


def _finite(x: float) -> float | str:
    if math.isnan(x):
        return "NaN"
    return x if math.isfinite(x) else ("Infinity" if x > 0 else "-Infinity")
