"""Algorithm 1 of the paper: selection probabilities by Gumbel-softmax gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphpri._arguments import checked, real, whole
from graphpri._entropy.by_name import BATCHED_NODES
from graphpri._objective import Objective
from graphpri._runtime import single_thread
from graphpri._selection import settle, take_top
from graphpri.errors import Interrupted, OptionError, argument
from graphpri.graph import BoolArray, FloatArray
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.solution import Callback, Ending, Monitor, Solution, Status, Stop


def expit(x: FloatArray) -> FloatArray:
    """Logistic function 1/(1 + e^−x)."""
    return 0.5 * (1 + np.tanh(0.5 * x))


@checked
@dataclass(frozen=True)
class Gumbel:
    """Relaxed Bernoulli selections with straight-through samples and Adam.

    Parameters
    ----------
    temperature : float
        τ of the relaxation.
    samples : int
        Samples S a step.
    learning_rate : float
        Of Adam.
    steps : int
        At most; the paper runs 10 000.
    patience : int
        Stop after so many steps without a lower J of the most probable subset, once the mean selection
        probability moves less than 10⁻³ over them; 0 never stops early.
    draw : bool
        Return a draw from the probabilities instead of the most probable subset.

    Notes
    -----
    Algorithm 1 and Eqs. (13)–(14) of Yu et al., UAI 2022. The gradient of J at the hard sample is the
    analytic one; an all-zero sample is skipped.

    Examples
    --------
    >>> import graphpri
    >>> ring = graphpri.datasets.ring_knn(8, 4)
    >>> result = graphpri.sparsify(ring, keep=8, beta=3, solver="gumbel", steps=200)
    >>> result.kept.n_edges, result.probabilities.shape
    (8, (16,))
    """

    temperature: float = 1.0
    samples: int = 3
    learning_rate: float = 1e-2
    steps: int = 10_000
    patience: int = 1000
    draw: bool = False

    def __post_init__(self) -> None:
        for name in ("temperature", "learning_rate"):
            real(name, getattr(self, name), above=True)
        for name, least in (("samples", 1), ("steps", 1), ("patience", 0)):
            whole(name, getattr(self, name), least)

    def solve(
        self,
        objective: Objective,
        k: int | None,
        constraints: Constraints | None = None,
        *,
        seed: int | np.random.Generator | None = None,
        callback: Callback | None = None,
        time_limit: float | None = None,
    ) -> Solution:
        """Run Algorithm 1.

        Parameters
        ----------
        objective : Objective
        k : int or None
            Keep the `k` most probable edges; None keeps those with probability above ½ (or the draw).
        constraints : Constraints, optional
            Protected and forbidden edges; the others are refused.
        seed, callback, time_limit
            As in :func:`graphpri.solvers.budgeted.solve`.

        Returns
        -------
        Solution
            With `probabilities`.

        Raises
        ------
        OptionError
            For `connected` and `cover`: the relaxation has no way to hold a graph together.
        Interrupted
            On Ctrl-C: its ``result`` has the probabilities so far.
        """
        constraints = constraints or Constraints()
        if constraints.connected or constraints.cover is not None:
            what = "keep the graph connected" if constraints.connected else "leave an edge to every node"
            raise OptionError(f"{argument('solver', 'gumbel')} can't {what}: use {argument('solver', 'budgeted')}")
        rng = np.random.default_rng(0 if seed is None else seed)
        monitor = Monitor(callback, time_limit, beta=objective.beta)
        run = _Run(self, objective, k, constraints, rng)
        status = Ending.OUT_OF_STEPS.status(steps=self.steps)

        def ended(status: Status) -> Solution:
            with single_thread():
                mask = run.subset(run.theta, draw=self.draw)
                value = objective.value(mask.astype(np.float64))
            return Solution(mask, value, status, tuple(monitor.trace), expit(run.theta))

        best = "these are the probabilities so far"
        try:
            with single_thread():
                status = run.loop(monitor) or status
        except Stop as stop:
            status = stop.status(best)
        except KeyboardInterrupt:
            raise Interrupted(lambda: ended(Ending.INTERRUPTED.status(best=best))) from None
        return ended(status)


class _Run:
    """State of one run: the logits θ and Adam's moments."""

    def __init__(
        self, options: Gumbel, objective: Objective, k: int | None, constraints: Constraints, rng: np.random.Generator
    ) -> None:
        self.options, self.objective, self.k, self.rng = options, objective, k, rng
        self.constraints = constraints
        self.theta = rng.standard_normal(objective.graph.n_edges)
        self._mean = np.zeros_like(self.theta)
        self._square = np.zeros_like(self.theta)

    def loop(self, monitor: Monitor) -> Status | None:
        """Take the steps; return the status where the stopping rule ends them."""
        check = max(1, min(50, self.options.patience or 50))
        best, since, before = np.inf, 0, expit(self.theta).mean()
        for step in range(1, self.options.steps + 1):
            self._step(step, monitor)
            if step % check:
                continue
            mask = self.subset(self.theta)
            value = self.objective.value(mask.astype(np.float64))
            monitor.step("gumbel", step, int(mask.sum()), value, step / self.options.steps)
            since += check
            if value < best - 1e-9 * abs(value):
                best, since, before = value, 0, expit(self.theta).mean()
            elif self.options.patience and since >= self.options.patience:
                now = expit(self.theta).mean()
                if abs(now - before) < 1e-3:
                    return Ending.SAME_SUBSET.status(steps=step)
                since, before = 0, now
        return None

    def _step(self, step: int, monitor: Monitor) -> None:
        tau = self.options.temperature
        noise = self.rng.logistic(size=(self.options.samples, self.theta.size))
        soft = expit((self.theta + noise) / tau)
        hard = np.array([self._constrained(sample > 0.5) for sample in soft])
        used = hard.any(axis=1)
        if not used.any():
            return
        slopes = self._slopes(hard[used].astype(np.float64), monitor)
        straight_through = slopes * soft[used] * (1 - soft[used]) / tau
        self._adam(straight_through.mean(axis=0), step)

    def _slopes(self, selections: FloatArray, monitor: Monitor) -> FloatArray:
        """Gradients of J at several selections, shape (B, M); stops in between where the time is up."""
        if self.objective.graph.n_nodes <= BATCHED_NODES:
            monitor.check_time()
            return self.objective.gradients(selections)[1]
        slopes: list[FloatArray] = []
        for selection in selections:
            monitor.check_time()
            slopes.append(self.objective.gradient(selection))
        return np.array(slopes)

    def _adam(self, gradient: FloatArray, step: int) -> None:
        first, second = 0.9, 0.999
        self._mean = first * self._mean + (1 - first) * gradient
        self._square = second * self._square + (1 - second) * gradient**2
        mean, square = self._mean / (1 - first**step), self._square / (1 - second**step)
        self.theta -= self.options.learning_rate * mean / (np.sqrt(square) + 1e-8)

    def _constrained(self, mask: BoolArray) -> BoolArray:
        if self.constraints.protect is not None:
            mask = mask | self.constraints.protect
        if self.constraints.forbid is not None:
            mask = mask & ~self.constraints.forbid
        return mask

    def subset(self, theta: FloatArray, draw: bool = False) -> BoolArray:
        """The most probable subset (or a draw), of the budget's size where there is one; never empty."""
        ranked = theta + self.rng.logistic(size=theta.size) if draw else theta
        c = self.constraints
        order = np.lexsort((np.arange(theta.size), -settle(ranked)))
        if self.k is not None:
            return take_top(self.objective.graph, order, self.k, protect=c.protect, forbid=c.forbid)
        mask = self._constrained(ranked > 0)
        if not mask.any():
            mask = take_top(self.objective.graph, order, 1, forbid=c.forbid)
        return mask
