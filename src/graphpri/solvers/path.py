"""Solutions over a range of β: each as of a call of its own, and in the order that minimisers have.

J_β is linear in β for a fixed subset, so that along true minimisers the divergence never rises and (without a barrier)
the entropy never falls. Where solutions found one by one break this law, one of two neighbours is better at the other's
β than what was found there, and takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from graphpri._objective import Objective, Terms
from graphpri._selection import tolerance
from graphpri.errors import Interrupted
from graphpri.graph import BoolArray
from graphpri.solvers.budgeted import solve
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.solution import Callback, Ending, Progress, Solution, Status


@dataclass(frozen=True, eq=False)
class Point:
    """A subset with the parts of J that do not depend on β, and the status of the search that found it."""

    mask: BoolArray
    terms: Terms
    status: Status

    def at(self, beta: float) -> float:
        """J_β of the subset, in nats."""
        return self.terms.at(beta).objective

    def elsewhere(self) -> Point:
        """The same subset as the solution for another β."""
        return replace(self, status=Ending.OF_ANOTHER.status())


@dataclass
class Path:
    """The solutions found so far, by β."""

    objective: Objective
    points: dict[float, Point] = field(default_factory=dict[float, Point])
    complete_from: float = float("inf")

    def add(self, beta: float, solution: Solution) -> None:
        """Take the solution for a β."""
        terms = self.objective.terms(self.objective.selection(solution.mask))
        self.points[beta] = Point(solution.mask, terms, solution.status)
        if solution.mask.all():
            self.complete_from = min(self.complete_from, beta)

    def fill(self, betas: Sequence[float]) -> None:
        """Give each β that was not searched all edges, where they were best at a smaller one, or the best subset."""
        searched = list(self.points.values())
        for beta in betas:
            if beta >= self.complete_from:
                self.points.setdefault(beta, self.points[self.complete_from])
            elif beta not in self.points:
                self.points[beta] = min(searched, key=lambda point: point.at(beta)).elsewhere()

    def put_in_order(self) -> None:
        """Where two neighbours break the law, give one the other's subset, until S never falls and D never rises."""
        betas = sorted(self.points)
        for _ in betas:
            pairs = [(low, high, self.points[low], self.points[high]) for low, high in pairwise(betas)]
            broken = [pair for pair in pairs if _breaks_the_law(pair[2].terms, pair[3].terms)]
            if not broken:
                break
            # As J is linear in β, one of the two gains by it.
            low, high, one, two = broken[0]
            if one.at(low) - two.at(low) > two.at(high) - one.at(high):
                self.points[low] = two.elsewhere()
            else:
                self.points[high] = one.elsewhere()

    def solutions(self, betas: Sequence[float], stopped: Status | None = None) -> list[Solution]:
        """The solution for each β, with one status for all where the work was stopped."""
        self.fill(betas)
        self.put_in_order()
        found = [(beta, self.points[beta]) for beta in betas]
        return [Solution(point.mask, point.at(beta), stopped or point.status) for beta, point in found]


def _breaks_the_law(low: Terms, high: Terms) -> bool:
    """Whether D rises or the rest of J falls, by more than rounding, from the solution of a smaller β to a larger's."""
    rises = high.divergence - low.divergence
    falls = low.entropy + low.barrier - high.entropy - high.barrier
    return rises > tolerance(low.divergence) or falls > tolerance(low.entropy + low.barrier)


def solve_betas(
    objective: Objective,
    betas: Sequence[float],
    k: int | None,
    constraints: Constraints | None = None,
    *,
    effort: str = "normal",
    seed: int | None = None,
    callback: Callback | None = None,
) -> list[Solution]:
    """Minimise J_β for every β, as :func:`graphpri.solvers.budgeted.solve` does, and keep the order of minimisers.

    Parameters
    ----------
    objective : Objective
        Its β is not used.
    betas : sequence of float
        In any order; the solutions come in the same one.
    k : int or None
        Number of edges to keep; None leaves it to β.
    constraints, effort, seed
        As in :func:`graphpri.solvers.budgeted.solve`.
    callback : callable, optional
        Gets a :class:`Progress` after every β, and stops the work by returning True.

    Raises
    ------
    Interrupted
        On Ctrl-C: its ``result`` takes the best for every β of the subsets found until then.
    """
    if objective.is_stochastic:
        # Estimates would rank subsets by their noise.
        objective = replace(objective, entropy="local")
    path = Path(objective)
    betas = [float(beta) for beta in betas]
    plan = sorted(set(betas))
    best = "these are the best subsets so far"
    beta = plan[0]
    try:
        for done, beta in enumerate(plan, start=1):
            if beta >= path.complete_from:
                break  # D is zero there, and never rises with β
            found = solve(replace(objective, beta=beta), k, constraints, effort=effort, seed=seed)
            path.add(beta, found)
            progress = Progress("path", done, int(found.mask.sum()), found.objective, done / len(plan))
            if callback is not None and callback(progress) is True:
                return path.solutions(betas, Ending.CALLBACK.status(best=best))
    except KeyboardInterrupt as stop:
        if not isinstance(stop, Interrupted) and not path.points:
            raise
        unfinished = stop

        def cut_short() -> list[Solution]:
            if isinstance(unfinished, Interrupted):
                path.add(beta, unfinished.result)
            return path.solutions(betas, Ending.INTERRUPTED.status(best=best))

        raise Interrupted(cut_short) from None
    return path.solutions(betas)
