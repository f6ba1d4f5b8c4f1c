"""What a solver returns, and how it reports, is stopped and keeps its best."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from graphpri._selection import tolerance
from graphpri.graph import BoolArray, FloatArray


class Progress(NamedTuple):
    """Where a solver stands: passed to the callback, and kept as the trace.

    `stage` names the phase, `step` counts within it, `objective` is J in nats of the subset at hand,
    which has `edges` edges; `fraction` guesses how much of the work is done.
    """

    stage: str
    step: int
    edges: int
    objective: float
    fraction: float


Callback = Callable[[Progress], object]


@dataclass(frozen=True, eq=False)
class Solution:
    """A subset of edges with its objective.

    Attributes
    ----------
    mask : ndarray of bool, shape (M,)
        Kept edges.
    objective : float
        J in nats there.
    status : str
        What ended the search and, where it matters, what to do about it.
    trace : tuple of Progress
        The steps that led there.
    probabilities : ndarray of float64, shape (M,), or None
        Selection probabilities, for solvers that have them.
    """

    mask: BoolArray
    objective: float
    status: str
    trace: tuple[Progress, ...]
    probabilities: FloatArray | None = None


class Stop(Exception):
    """The caller asked to stop, or the time is up."""


@dataclass
class Monitor:
    """Watches a solver: calls back, keeps the trace and the best subset, and stops it.

    The callback may return True to stop; Ctrl-C and the time limit stop as well. What was best stays.
    """

    callback: Callback | None = None
    time_limit: float | None = None
    trace: list[Progress] = field(default_factory=list[Progress])
    best: BoolArray | None = None
    best_value: float = np.inf
    draft: Monitor | None = None
    beta: float = 0.0

    def __post_init__(self) -> None:
        self._deadline = None if self.time_limit is None else time.monotonic() + self.time_limit

    def for_draft(self) -> Monitor:
        """A monitor of a preliminary search by another entropy, with the same trace, callback and deadline."""
        self.draft = Monitor(self.callback, self.time_limit, self.trace, beta=self.beta)
        self.draft._deadline = self._deadline
        return self.draft

    def offer(self, mask: BoolArray, value: float) -> bool:
        """Keep a feasible subset if it is the best so far, by more than rounding."""
        better = self.best is None or value < self.best_value - tolerance(value, self.beta)
        if better:
            self.best, self.best_value = mask.copy(), value
        return better

    def step(self, stage: str, step: int, edges: int, value: float, fraction: float) -> None:
        """Record a step.

        Raises
        ------
        Stop
            Where the callback asks for it or the time limit is reached.
        """
        progress = Progress(stage, step, edges, value, min(fraction, 1.0))
        self.trace.append(progress)
        answer = self.callback(progress) if self.callback is not None else None
        if isinstance(answer, bool | np.bool_) and answer:
            raise Stop("stopped by the callback")
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise Stop(f"time limit of {self.time_limit:g} s reached")
