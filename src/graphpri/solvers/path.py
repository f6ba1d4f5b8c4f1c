"""Solutions over a range of β: one pool of subsets, of which each β takes its best.

J_β is linear in β for a fixed subset, so that the pool's lower envelope has the order of true minimisers:
along β the divergence never rises and (without a barrier) the entropy never falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphpri._objective import Objective, Terms
from graphpri._selection import tolerance
from graphpri.errors import Interrupted
from graphpri.graph import BoolArray
from graphpri.solvers.budgeted import solve
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.solution import Callback, Ending, Progress, Solution, Status

AFRESH = 64
"""Most β of a path that are searched from scratch as well, evenly spread."""

ROUNDS = 2
"""Times that every β is gone through at the end, down and up, where its neighbours have found something better."""


@dataclass
class Pool:
    """Subsets with the parts of J that do not depend on β."""

    objective: Objective
    masks: list[BoolArray] = field(default_factory=list[BoolArray])
    terms: list[Terms] = field(default_factory=list[Terms])
    _seen: set[bytes] = field(default_factory=set[bytes])

    def add(self, mask: BoolArray) -> None:
        """Add a subset that is not there yet."""
        key = np.packbits(mask).tobytes()
        if key not in self._seen:
            self._seen.add(key)
            self.masks.append(mask)
            self.terms.append(self.objective.terms(self.objective.selection(mask)))

    def best(self, beta: float) -> tuple[BoolArray, float]:
        """The subset with the smallest J_β, and J there; of equals the one with the smallest divergence."""
        values = [terms.at(beta).objective for terms in self.terms]
        least = min(values)
        tied = [i for i, value in enumerate(values) if value <= least + tolerance(least, beta)]
        least_divergence = min(self.terms[i].divergence for i in tied)
        chosen = next(i for i in tied if self.terms[i].divergence <= least_divergence + tolerance(least_divergence))
        return self.masks[chosen], values[chosen]


def solve_betas(
    objective: Objective,
    betas: Sequence[float],
    k: int | None,
    constraints: Constraints | None = None,
    *,
    seed: int | None = None,
    callback: Callback | None = None,
) -> list[Solution]:
    """Minimise J_β for every β, warm started from the neighbours.

    Parameters
    ----------
    objective : Objective
        Its β is not used.
    betas : sequence of float
        In any order; the solutions come in the same one.
    k : int or None
        Number of edges to keep; None leaves it to β.
    constraints, seed, callback
        As in :func:`graphpri.solvers.budgeted.solve`.

    Raises
    ------
    Interrupted
        On Ctrl-C: its ``result`` takes the best for every β of the subsets found until then.
    """
    if objective.is_stochastic:
        # Estimates would rank subsets by their noise.
        objective = replace(objective, entropy="local")
    pool = Pool(objective)
    ascending = sorted(set(map(float, betas)))
    # β from scratch give the pool its range; then every β improves on the best of its neighbours, until none changes.
    scratch = ascending if len(ascending) <= AFRESH else ascending[:: -(-len(ascending) // AFRESH)]
    plan = [
        (beta, effort, True) for beta in scratch for effort in (("normal",) if k is not None else ("normal", "path"))
    ]
    plan += [(beta, "path", False) for beta in ascending[::-1] + ascending]
    plan += [(beta, "point", False) for beta in (ascending[::-1] + ascending) * ROUNDS]
    improved: dict[tuple[float, str], bytes] = {}
    statuses: dict[float, tuple[bytes, Status]] = {}
    stopped: Status | None = None
    everything = np.inf

    def ended(stopped: Status | None) -> list[Solution]:
        found: list[Solution] = []
        for beta in map(float, betas):
            mask, value = pool.best(beta)
            of_mask, status = statuses.get(beta, (b"", None))
            known = status if status is not None and of_mask == mask.tobytes() else Ending.OF_ANOTHER.status()
            found.append(Solution(mask, value, stopped or known, ()))
        return found

    best = "these are the best subsets so far"
    try:
        for done, (beta, effort, afresh) in enumerate(plan):
            start = None if afresh or not pool.masks else pool.best(beta)[0]
            if start is not None and improved.get((beta, effort)) == start.tobytes():
                continue
            if beta >= everything:
                continue
            solution = solve(replace(objective, beta=beta), k, constraints, effort=effort, seed=seed, start=start)
            if solution.mask.all():
                everything = beta  # D is zero there, and never rises with β
            pool.add(solution.mask)
            improved[beta, effort] = solution.mask.tobytes()
            statuses[beta] = solution.mask.tobytes(), solution.status
            size = int(solution.mask.sum())
            progress = Progress("path", done + 1, size, solution.objective, (done + 1) / len(plan))
            if callback is not None and callback(progress) is True:
                stopped = Ending.CALLBACK.status(best=best)
                break
    except KeyboardInterrupt as stop:
        unfinished = stop if isinstance(stop, Interrupted) else None
        if unfinished is None and not pool.masks:
            raise

        def cut_short() -> list[Solution]:
            if unfinished is not None:
                pool.add(unfinished.result.mask)
            return ended(Ending.INTERRUPTED.status(best=best))

        raise Interrupted(cut_short) from None
    return ended(stopped)
