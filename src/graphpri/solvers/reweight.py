"""Weights of the kept edges that bring them closest to the original graph."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from graphpri.graph import BoolArray, FloatArray
from graphpri.objective import Objective
from graphpri.threads import single_thread

RANGE = 12.0
"""Weights may change by factors up to e^±12."""


def reweighted(objective: Objective, mask: BoolArray, max_iterations: int = 500) -> FloatArray:
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
    ndarray of float64, shape (M,)
        New weights in the graph's unit, 0 where an edge is not kept.
    """
    from scipy.optimize import minimize  # slow to import, and few calls need it

    kept = np.flatnonzero(mask)
    mu = objective.weights
    total = float(mu.sum())
    w = np.zeros(mask.size)

    def place(logs: FloatArray) -> FloatArray:
        """Selection values for logarithms, scaled to the original's trace; returns shares of it."""
        w[kept] = np.exp(logs)
        shares = mu[kept] * w[kept]
        w[kept] *= total / float(shares.sum())
        return shares / float(shares.sum())

    def divergence(logs: FloatArray) -> tuple[float, FloatArray]:
        shares = place(logs)
        value, gradient = objective.divergence_and_gradient(w)
        slope = gradient[kept] * w[kept]
        return value, slope - shares * float(slope.sum())

    start = np.zeros(kept.size)
    with single_thread():
        found = cast(
            "Any",
            minimize(
                divergence,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(-RANGE, RANGE)] * kept.size,
                options={"maxiter": max_iterations, "ftol": 1e-12, "gtol": 1e-9},
            ),
        )
        best = found.x if divergence(found.x)[0] <= divergence(start)[0] else start
    place(best)
    return objective.graph.weights * w
