"""Columns of numbers that arrive in pieces, made by threads while the next are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpri.threads import workers

T = TypeVar("T")
R = TypeVar("R")


def in_turn(make: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Results of a function for items in their order, made in threads while the next items are fetched."""
    threads = workers()
    if threads < 2:
        yield from map(make, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(pool.submit(make, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def compact(ids: NDArray[Any]) -> NDArray[Any]:
    """Integers as a copy in 4 bytes each where these hold them, in 8 otherwise."""
    limits = np.iinfo(np.int32)
    fits = not ids.size or (ids.min() >= limits.min and ids.max() <= limits.max)
    return ids.astype(np.int32 if fits else np.int64)


def joined(pieces: Sequence[NDArray[Any]], dtype: Any = None) -> NDArray[Any]:
    """The pieces as one read-only array; of their common type, where none is given."""
    array = np.concatenate(pieces, dtype=dtype, casting="unsafe") if pieces else np.zeros(0, dtype or np.int32)
    array.setflags(write=False)
    return array
