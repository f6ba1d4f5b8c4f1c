"""Swaps among more candidates at every stop, once the stops have shared their subsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphpri.objective import Objective
from graphpri.solvers.budgeted import solve
from graphpri.solvers.path import Pool
from graphpri.solvers.search import Constraints
from graphpri.solvers.solution import Callback, Progress

MOST_EDGES = 4000
"""Edges up to which stops are polished; above, looking for swaps at each would cost more than the path did."""

_PASSES = 3


def polish(
    objective: Objective,
    betas: Sequence[float],
    budgets: Sequence[int],
    pools: Sequence[Pool],
    constraints: Constraints,
    callbacks: Sequence[Callback | None],
) -> bool:
    """Improve the best subset of every stop by swaps until each stands, and put what is found into the pools.

    A pass goes over the stops whose best subset is another one than they were last improved from.

    Parameters
    ----------
    objective : Objective
        Its β is not used.
    betas : sequence of float
    budgets : sequence of int
    pools : sequence of Pool
        The subsets of each budget, which all β share.
    constraints : Constraints
    callbacks : sequence
        One for each β, or None.

    Returns
    -------
    bool
        Whether that was stopped; the pools then hold what was found until then.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> graph = ring_knn(12, 4)
    >>> pool = Pool(Objective(graph, 1.0))
    >>> pool.add(graph.source % 2 == 0)  # any twelve of the edges
    >>> before = pool.best(4.0)[1]
    >>> polish(pool.objective, [4.0], [12], [pool], Constraints(), [None]), pool.best(4.0)[1] < before
    (False, True)
    """
    if objective.graph.n_edges > MOST_EDGES:
        return False
    settled: dict[tuple[int, int], bytes] = {}
    for _ in range(_PASSES):
        before = len(settled), sum(len(pool.masks) for pool in pools)
        for i, (beta, callback) in enumerate(zip(betas, callbacks, strict=True)):
            at = replace(objective, beta=beta)
            for j, (pool, k) in enumerate(zip(pools, budgets, strict=True)):
                start, value = pool.best(beta)
                if settled.get((i, j)) == start.tobytes():
                    continue
                # Where no swap helps, the solver has no step to report.
                if callback is not None and callback(Progress("polish", j + 1, k, value, 0.0)) is True:
                    return True
                found = solve(at, k, constraints, effort="wide", callback=callback, start=start)
                pool.add(found.mask)
                settled[i, j] = found.mask.tobytes()
                if found.status.startswith(("stopped", "interrupted")):
                    return True
        if before == (len(settled), sum(len(pool.masks) for pool in pools)):
            break
    return False
