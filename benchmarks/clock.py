"""Time of calls, on the wall and of the processor: they differ where other programs take their share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from outcome import Check

T = TypeVar("T")


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


def time_checks(what: str, wall: float, cpu: float, limit: float, unit: str = "s", judged: bool = True) -> list[Check]:
    """The goal is for the wall; the processor's time beside it tells a slow call from a busy machine."""
    return [Check(what, wall, limit, unit, judged), Check(f"{what}, CPU time", cpu, limit, unit, judged=False)]


def load() -> float:
    """Programs that want to run, averaged over the last minute; NaN where the system doesn't say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
