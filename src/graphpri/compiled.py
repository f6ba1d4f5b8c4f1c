"""The compiler of loops (numba), known to this module only.

Modules of compiled loops import it, and are themselves imported only where a graph is large: a small one
would wait longer for the compiler than for NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function of numbers and arrays at its first call; the result is kept on disk where that can be.

    It runs without the interpreter's lock, and divides by zero as NumPy does.
    """
    make = cast("Any", numba).njit
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return cast("F", make(cache=True, **options)(function))
    except RuntimeError:  # no folder to keep it in
        return cast("F", make(**options)(function))


def inlined(function: F) -> F:
    """Compile a function into each of its callers: a call of its own would count references to its arrays."""
    return cast("F", cast("Any", numba).njit(inline="always", error_model="numpy")(function))
