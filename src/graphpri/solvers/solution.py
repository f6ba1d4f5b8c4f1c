"""What a solver returns, and how it reports, is stopped and keeps its best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from graphpri._runtime import Deadline, deadline
from graphpri._selection import tolerance
from graphpri.errors import argument, setting, worded
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


class Outcome(Enum):
    """What an ending means for whoever uses the subset."""

    CONVERGED = "nothing that the search tries improves J"
    GOOD = "the work of this effort was spent"
    TRIVIAL = "the minimum over all sizes says nothing about the graph"
    COMPLETE = "every edge is kept"
    SCORED = "scores decided, and no search"
    STOPPED = "the callback, the time limit or the number of steps ended the search"
    INTERRUPTED = "the user did"


_GOES_ON = f"{argument('effort', 'best')} goes on"


class Ending(Enum):
    """How edges come to be chosen: the outcome, the sentence that says it and, where there is one, the remedy.

    Examples
    --------
    >>> Ending.UNFINISHED.outcome.name, Ending.UNFINISHED.status()
    ('GOOD', "good: moves still improved J when the work of this effort was spent; effort='best' goes on")
    >>> status = Ending.CALLBACK.status(best="this is the best subset so far")
    >>> status, status.outcome is Outcome.STOPPED
    ('stopped by the callback; this is the best subset so far', True)
    """

    NO_SWAP = Outcome.CONVERGED, "converged: no swap improves J"
    ENUMERATED = Outcome.CONVERGED, "converged: none of the {count} subsets that are allowed has a smaller J"
    NO_MOVE = Outcome.CONVERGED, "converged: no swap, addition or removal of edges improves J"
    NO_BULK_SWAP = Outcome.GOOD, "good: no bulk swap of edges improves J; single swaps were not looked at"
    NO_SWEEP = Outcome.GOOD, "good: no sweep over the edges improves J; swaps were not looked at"
    EVALUATED = (
        Outcome.GOOD,
        "good: of {allowed} single moves the {looked_at} most promising were evaluated, and none improves J",
        f"{argument('effort', 'best')} evaluates more",
    )
    SAME_SUBSET = Outcome.CONVERGED, "converged after {steps} steps: the most probable subset no longer improves"
    CORRECTED = (
        Outcome.GOOD,
        "good: the local entropy's solution, corrected by exact prices",
        f"{_GOES_ON} with single moves",
    )
    UNFINISHED = Outcome.GOOD, "good: moves still improved J when the work of this effort was spent", _GOES_ON
    PERTURBED = (
        Outcome.GOOD,
        "good: no single move improves J, and the work of this effort was spent on perturbations",
        _GOES_ON,
    )
    OF_ANOTHER = Outcome.GOOD, "good: a subset that was found at another beta is the best here"
    SETTLED = Outcome.GOOD, "good: the last round of sweeps lowered J by less than 0.1 %", _GOES_ON
    UNSETTLED = Outcome.GOOD, "good: J still fell when the sweeps of this effort were done", _GOES_ON
    TRIVIAL = (
        Outcome.TRIVIAL,
        "trivial: without connectivity and a budget, J is smallest for {edges} at {beta}",
        f"pass {setting('keep')}, {setting('connected', True)} or a larger beta",
    )
    WORTH_KEEPING = (
        Outcome.COMPLETE,
        "all edges kept{allowed}: at {beta} none is worth dropping",
        f"lower beta or pass {setting('keep')}",
    )
    NEEDED = Outcome.COMPLETE, "all edges kept{allowed}: {reason}"
    SCORED = Outcome.SCORED, "kept the {edges} that {method} scores highest{rules}"
    TESTED = Outcome.SCORED, "kept the edges whose p-value by {method} is at most {level}{rules}"
    OWN_BACKBONE = Outcome.SCORED, "kept the {method} backbone{rules}"
    OUT_OF_STEPS = Outcome.STOPPED, "stopped after all {steps} steps", "raise steps to go on"
    CALLBACK = Outcome.STOPPED, "stopped by the callback; {best}"
    TIME_LIMIT = Outcome.STOPPED, "time limit of {seconds:g} s reached; {best}"
    INTERRUPTED = Outcome.INTERRUPTED, "interrupted; {best}"
    UNMEASURED = Outcome.INTERRUPTED, "interrupted while J, S and D of the best subset were computed"
    UNESTIMATED = Outcome.INTERRUPTED, "interrupted while estimating; J, S and D are by the local entropy"

    def __init__(self, outcome: Outcome, sentence: str, remedy: str = "") -> None:
        self.outcome = outcome
        self.sentence = sentence
        self.remedy = remedy

    def status(self, **facts: Any) -> Status:
        """The status of a search that ended so; `facts` fill the sentence."""
        return Status(self, "; ".join(filter(None, [self.sentence.format(**facts), self.remedy])))


class Status(str):
    """How edges came to be chosen, as text that knows which ending it tells.

    Attributes
    ----------
    ending : Ending
    message : str
        The text with arguments marked, as :func:`graphpri.errors.worded` takes it.
    """

    ending: Ending
    message: str

    def __new__(cls, ending: Ending, message: str) -> Status:
        status = super().__new__(cls, worded(message))
        status.ending, status.message = ending, message
        return status

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.ending, self.message

    @property
    def outcome(self) -> Outcome:
        """What the ending means."""
        return self.ending.outcome

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted the work."""
        return self.outcome is Outcome.INTERRUPTED

    @property
    def halted(self) -> bool:
        """Whether the caller wants no more work: an interruption, or the callback's answer."""
        return self.interrupted or self.ending is Ending.CALLBACK

    def noted(self, note: str) -> Status:
        """The status with a note behind it; itself where that is empty."""
        return Status(self.ending, f"{self.message}; {note}") if note else self


@dataclass(frozen=True, eq=False)
class Solution:
    """A subset of edges with its objective.

    Attributes
    ----------
    mask : ndarray of bool, shape (M,)
        Kept edges.
    objective : float
        J in nats there.
    status : Status
        What ended the search and, where it matters, what to do about it.
    trace : tuple of Progress
        The steps that led there.
    probabilities : ndarray of float64, shape (M,), or None
        Selection probabilities, for solvers that have them.
    scores, weights, p_values : ndarray of float64, shape (M,), or None
        Scores that decided, new weights, and p-values, for methods that have them.
    before : ndarray of float64, shape (M,), or None
        Weights before the new ones, where they were asked for.
    """

    mask: BoolArray
    objective: float
    status: Status
    trace: tuple[Progress, ...] = ()
    probabilities: FloatArray | None = None
    scores: FloatArray | None = None
    weights: FloatArray | None = None
    p_values: FloatArray | None = None
    before: FloatArray | None = None


class Stop(Exception):
    """The caller asked to stop, or the time is up: says how the search ends.

    Parameters
    ----------
    ending : Ending
    **facts
        Of its sentence, but for `best`.
    """

    def __init__(self, ending: Ending, **facts: Any) -> None:
        super().__init__(ending.name)
        self.ending, self.facts = ending, facts

    def status(self, best: str) -> Status:
        """The status, where `best` says what the result is."""
        return self.ending.status(best=best, **self.facts)


@dataclass
class Monitor:
    """Watches a solver: calls back, keeps the trace and the best subset, and stops it.

    The callback may return True to stop; Ctrl-C and the time limit stop as well. What was best stays. Without a time
    limit of its own it has that of the call.
    """

    callback: Callback | None = None
    time_limit: float | None = None
    trace: list[Progress] = field(default_factory=list[Progress])
    best_value: float = np.inf
    draft: Monitor | None = None
    beta: float = 0.0

    def __post_init__(self) -> None:
        self._deadline = deadline() if self.time_limit is None else Deadline(self.time_limit)
        self._best: BoolArray | Callable[[], BoolArray] | None = None

    @property
    def best(self) -> BoolArray | None:
        """The best subset so far, shape (M,)."""
        if callable(self._best):
            self._best = self._best()
        return self._best

    def for_draft(self) -> Monitor:
        """A monitor of a preliminary search by another entropy, with the same trace, callback and deadline."""
        self.draft = Monitor(self.callback, self.time_limit, self.trace, beta=self.beta)
        self.draft._deadline = self._deadline
        return self.draft

    def offer(self, mask: BoolArray | Callable[[], BoolArray], value: float) -> bool:
        """Keep a feasible subset, or what gives it when asked, if it is the best so far, by more than rounding."""
        better = self._best is None or value < self.best_value - tolerance(value, self.beta)
        if better:
            self._best, self.best_value = mask if callable(mask) else mask.copy(), value
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
            raise Stop(Ending.CALLBACK)
        self.check_time()

    def check_time(self) -> None:
        """Stop the solver where the time limit is reached: its own, or that of the call.

        Raises
        ------
        Stop
            Where it is.
        """
        if self._deadline.is_over():
            raise Stop(Ending.TIME_LIMIT, seconds=self._deadline.seconds)
