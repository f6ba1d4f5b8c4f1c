"""Threads: of the numerical libraries, and the library's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

from graphpri.errors import OptionError

VARIABLE = "GRAPHPRI_THREADS"
"""Environment variable that limits the library's own threads; all cores that the process may use where unset."""

CHUNK = 1 << 18
"""Edges or nodes that one task of :func:`in_chunks` takes: fixed, so that results don't depend on the threads."""

LARGE = 250_000
"""Edges from which compiled loops pay: below, NumPy and SciPy are done before the loops are loaded. Loops that gain
more have thresholds of their own."""


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def single_thread() -> AbstractContextManager[Any]:
    """Context in which BLAS uses one thread: faster on small matrices, and the same digits everywhere."""
    return _controller().limit(limits=1, user_api="blas")


def workers() -> int:
    """Number of threads that compiled loops run in.

    Raises
    ------
    OptionError
        Where the environment variable GRAPHPRI_THREADS is not a whole number of 1 or more.

    Examples
    --------
    >>> workers() >= 1
    True
    """
    asked = os.environ.get(VARIABLE)
    if not asked:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise OptionError(f"{VARIABLE}={asked!r} must be a whole number of threads, 1 or more")
    return int(asked)


def in_chunks(task: Callable[[int, int], Any], size: int, chunk: int = CHUNK) -> list[Any]:
    """Run ``task(start, stop)`` over fixed pieces of 0…size, in threads; results in the order of the pieces.

    Parameters
    ----------
    task : callable
        Compiled code that releases the interpreter's lock and writes to nothing that another piece writes to.
    size : int
    chunk : int
        Length of a piece.
    """
    starts = range(0, size, chunk)
    pieces = [(start, min(start + chunk, size)) for start in starts]
    threads = min(workers(), len(pieces))
    if threads < 2:
        return [task(*piece) for piece in pieces]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(task, *zip(*pieces, strict=True)))
