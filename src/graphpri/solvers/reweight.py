"""Weights of the kept edges that bring them closest to the original graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from graphpri._objective import Objective
from graphpri._runtime import deadline, single_thread
from graphpri._selection import settle
from graphpri.errors import Interrupted
from graphpri.graph import BoolArray, FloatArray
from graphpri.solvers.solution import Ending, Status, Stop

ReweightName = Literal["rescale", "divergence"]
"""What may be asked of new weights: one factor for all, or the least divergence D; both hold the sum."""

RANGE = 12.0
"""Weights may change by factors up to e^±12."""


LARGE = 100_000
"""Above this many kept edges, steps that gain less than 10⁻⁸ nats are left out."""


class Reweighting(NamedTuple):
    """New weights in the graph's unit, shape (M,), 0 where an edge is not kept; and what ended the search early."""

    weights: FloatArray
    status: Status | None = None


def asked(reweight: ReweightName | bool | None) -> ReweightName | None:
    """The name of what an argument asks for: True is "divergence", False None, NumPy's as well."""
    if reweight is None or isinstance(reweight, str):
        return reweight
    return "divergence" if bool(reweight) else None


def weigh(name: ReweightName, objective: Objective, mask: BoolArray, given: FloatArray) -> Reweighting:
    """New weights of that name for a subset and the weights that it has, shape (M,)."""
    return rescaled(objective, given) if name == "rescale" else reweighted(objective, mask)


def rescaled(objective: Objective, weights: FloatArray) -> Reweighting:
    """All weights times one factor, so that their sum is the original's; shape (M,), 0 where an edge is not kept."""
    unit = objective.graph.weights.max()
    total = float((objective.graph.weights / unit).sum())
    return Reweighting(weights * (total / float((weights / unit).sum())))


def reweighted(objective: Objective, mask: BoolArray, max_iterations: int = 500) -> Reweighting:
    """Weights on a subset that minimise the divergence D(σ̃‖ρ̃), with tr σ = tr ρ.

    The divergence alone is minimised: J would drive most weights to zero for small β. Weights are positive
    (they are searched as logarithms, from the original ones), so every kept edge stays.

    Parameters
    ----------
    objective : Objective
        Gives the graph, the entropy and the mixture; α and β play no part.
    mask : ndarray of bool, shape (M,)
        Kept edges, at least one.
    max_iterations : int
        Of L-BFGS.

    Returns
    -------
    Reweighting
        With a status where the time limit of the call ended the search, so that the weights are the best so far.

    Raises
    ------
    Interrupted
        On Ctrl-C: its ``result`` has the best weights so far.
    """
    from scipy.optimize import Bounds, minimize  # slow to import, and few calls need it

    graph = objective.graph
    kept = np.flatnonzero(mask)
    # The divergence is flat in light edges, where the search would follow the last digits of a unit: without them it
    # takes the same way in every unit.
    exact = objective.weights
    objective = replace(objective, graph=graph.select(np.ones(mask.size, bool), settle(exact)))
    mu = objective.weights
    total = float(mu.sum())
    w = np.zeros(mask.size)

    def place(logs: FloatArray) -> FloatArray:
        """Selection values for logarithms, scaled to the original's trace; returns shares of it."""
        w[kept] = np.exp(logs)
        shares = mu[kept] * w[kept]
        w[kept] *= total / float(shares.sum())
        return shares / float(shares.sum())

    best, least = np.zeros(kept.size), np.inf
    limit = deadline()

    def divergence(logs: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best, least
        if limit.is_over():
            raise Stop(Ending.TIME_LIMIT, seconds=limit.seconds)
        shares = place(logs)
        value, gradient = objective.divergence_and_gradient(w)
        if value < least:
            best, least = logs.copy(), value
        slope = gradient[kept] * w[kept]
        return value, slope - shares * float(slope.sum())

    def ended(status: Status | None = None) -> Reweighting:
        place(best)
        return Reweighting(graph.weights * (w * (float(exact.sum()) / float(exact @ w))), status)

    so_far = "these are the best weights so far"
    if limit.is_over():
        return ended(Ending.TIME_LIMIT.status(seconds=limit.seconds, best=so_far))
    try:
        with single_thread():
            minimize(
                divergence,
                best,
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(-RANGE, RANGE),  # pairs of numbers are slow to read
                options={"maxiter": max_iterations, "ftol": 1e-8 if kept.size > LARGE else 1e-12, "gtol": 1e-9},
            )
    except Stop as stop:
        return ended(stop.status(so_far))
    except KeyboardInterrupt:
        raise Interrupted(lambda: ended(Ending.INTERRUPTED.status(best=so_far))) from None
    return ended()
