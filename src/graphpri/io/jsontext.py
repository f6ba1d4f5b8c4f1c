"""Python values as JSON that reads back as the same values; no pickle."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

import numpy as np

_TAG = "__python__"
_MANY = 1 << 16  # entries from which an array is written without an object for each


def dumps(value: Any) -> str:
    """JSON of None, booleans, numbers, text, bytes, arrays, and lists, tuples, sets and dicts.

    Raises
    ------
    TypeError
        For a value of any other type.
    """
    return json.dumps(_encode(value), ensure_ascii=True, separators=(",", ":"))


def loads(text: str | bytes) -> Any:
    """The value of JSON made by :func:`dumps`.

    Raises
    ------
    ValueError
        For text that is not such JSON.
    """
    try:
        return _decode(json.loads(text))
    except (RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a value that was written here ({error})") from None


def holds(value: Any) -> bool:
    """Whether :func:`dumps` takes a value."""
    try:
        dumps(value)
    except (TypeError, RecursionError):
        return False
    return True


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_encode(item) for item in cast("list[Any]", value)]
    if type(value) is dict:
        entries = cast("dict[Any, Any]", value)
        if all(type(key) is str for key in entries) and _TAG not in entries:
            return {key: _encode(item) for key, item in entries.items()}
        return {_TAG: "dict", "of": [[_encode(key), _encode(item)] for key, item in entries.items()]}
    if type(value) is tuple:
        return {_TAG: "tuple", "of": [_encode(item) for item in cast("tuple[Any, ...]", value)]}
    if type(value) in (set, frozenset):
        items = sorted((_encode(item) for item in value), key=lambda item: json.dumps(item))
        return {_TAG: type(value).__name__, "of": items}
    if type(value) is bytes:
        return {_TAG: "bytes", "of": base64.b64encode(value).decode()}
    if type(value) is complex:
        return {_TAG: "complex", "of": [value.real, value.imag]}
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        if value.size > _MANY:
            return {
                _TAG: "packed",
                "of": [value.dtype.str, list(value.shape), base64.b64encode(value.tobytes()).decode()],
            }
        return {_TAG: "array", "of": [value.dtype.str, list(value.shape), _encode(value.ravel().tolist())]}
    raise TypeError(f"values of the type {type(value).__name__} can't be kept")


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    entries = cast("dict[str, Any]", value)
    if _TAG not in entries:
        return {key: _decode(item) for key, item in entries.items()}
    kind, of = entries[_TAG], entries["of"]
    if kind == "bytes":
        return base64.b64decode(of)
    if kind == "dict":
        return {_decode(key): _decode(item) for key, item in of}
    items = [_decode(item) for item in of]
    if kind == "packed":
        return np.frombuffer(base64.b64decode(items[2]), items[0]).reshape(items[1])
    if kind == "array":
        return np.array(items[2], items[0]).reshape(items[1])
    if kind == "complex":
        return complex(*items)
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)
