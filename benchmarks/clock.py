"""Time of calls, on the wall and of the processor: they differ where other programs take their share."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from outcome import Check

T = TypeVar("T")
Job = TypeVar("Job")

REPEATS = 5


class Timed(NamedTuple, Generic[T]):
    """What a call returned, and its time in seconds."""

    result: T
    wall: float
    cpu: float

    @property
    def values(self) -> dict[str, float]:
        """Both times, for a cell."""
        return {"seconds": self.wall, "CPU seconds": self.cpu}


def timed(call: Callable[[], T]) -> Timed[T]:
    """Make a call and time it."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return Timed(result, time.perf_counter() - wall, time.process_time() - cpu)


class Series(NamedTuple):
    """Times of the same call: the first, which compiles or loads compiled code, and medians of the others."""

    first: float
    wall: float
    cpu: float
    result: Any


def alternated(
    calls: Mapping[str, Callable[[], Any]], repeats: int = REPEATS, patience: float = math.inf
) -> dict[str, Series]:
    """Make several calls in turn, so that the load of the machine hits all of them; each once to warm up.

    The last result of each stays, and no more than one at a time. No turn but the second begins after so many seconds.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    results: dict[str, Any] = {}
    begun = time.perf_counter()
    for turn in range(repeats + 1):
        if turn > 1 and time.perf_counter() - begun > patience:
            break
        for name, call in calls.items():
            results.pop(name, None)
            run = timed(call)
            results[name] = run.result
            times[name].append((run.wall, run.cpu))
            del run
    medians = {name: np.median(found[1:], axis=0).tolist() for name, found in times.items()}
    return {name: Series(times[name][0][0], *medians[name], results[name]) for name in calls}


def time_checks(what: str, wall: float, cpu: float, limit: float, unit: str = "s", judged: bool = True) -> list[Check]:
    """The goal is for the wall; the processor's time beside it tells a slow call from a busy machine."""
    return [Check(what, wall, limit, unit, judged), Check(f"{what}, CPU time", cpu, limit, unit, judged=False)]


def load() -> float:
    """Programs that want to run, averaged over the last minute; NaN where the system doesn't say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(call: Callable[[Job], T], jobs: Iterable[Job]) -> Iterator[T]:
    """What a call returns for each job, in their order; each job has one thread of a process that other jobs share."""
    settings = dict.fromkeys(("GRAPHPRI_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)  # inherited: BLAS reads them when it is loaded
    try:
        with ProcessPoolExecutor(cores(), get_context("spawn")) as pool:
            yield from pool.map(call, jobs)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
