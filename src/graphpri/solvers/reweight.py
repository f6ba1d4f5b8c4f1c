"""Weights of the kept edges that bring them closest to the original graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from graphpri._arguments import real
from graphpri._objective import Objective
from graphpri._runtime import deadline, single_thread
from graphpri._selection import settle
from graphpri.errors import Interrupted, OptionError, argument
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray
from graphpri.solvers.diffusion import Diffusion
from graphpri.solvers.solution import Ending, Status, Stop

ReweightName = Literal["rescale", "divergence", "diffusion"]
"""What may be asked of new weights: one factor for all; the least divergence D; or the least relative entropy of
diffusion."""

_SCALES = 1e-6, 1e6

RANGE = 12.0
"""Weights may change by factors up to e^±12."""


LARGE = 100_000
"""Above this many kept edges, steps that gain less than 10⁻⁸ nats are left out."""

DIFFUSION_STEPS, DIFFUSION_GAIN = 200, 1e-6
"""Most steps for the weights of diffusion, and the gain in nats that ends them: they are flat at large scales."""


DEFAULT_SCALE = 10.0
"""Of diffusion, where absent: of those tried it is the one that keeps communities best."""


class Reweighting(NamedTuple):
    """New weights in the graph's unit, shape (M,), 0 where an edge is not kept; and what ended the search early."""

    weights: FloatArray
    status: Status | None = None


class NewWeights(NamedTuple):
    """What new weights are asked for: `scale` is that of "diffusion", None otherwise."""

    name: ReweightName
    scale: float | None = None

    @classmethod
    def asked(cls, reweight: ReweightName | bool | None, scale: float | None) -> NewWeights | None:
        """What the arguments ask for; True is "divergence", and None is as given.

        Raises
        ------
        OptionError
            For a scale that is not above 0, and for one without diffusion.
        """
        if reweight is None or isinstance(reweight, str):
            name = reweight
        else:
            name = "divergence" if bool(reweight) else None  # NumPy's bool as well
        if name != "diffusion":
            if scale is not None:
                raise OptionError(f"{argument('scale', scale)} is that of {argument('reweight', 'diffusion')} alone")
            return None if name is None else cls(name)
        return cls(name, DEFAULT_SCALE if scale is None else real("scale", scale, *_SCALES))

    def check(self, graph: Graph) -> None:
        """Refuse what can't be done on a graph of this size.

        Raises
        ------
        OptionError
            For diffusion on a component of too many nodes.
        """
        if self.scale is not None:
            Diffusion(graph, self.scale)

    def settings(self) -> dict[str, Any]:
        """What to report of it."""
        return {"reweight": self.name} | ({} if self.scale is None else {"scale": self.scale})

    def find(self, objective: Objective, mask: BoolArray, given: FloatArray) -> Reweighting:
        """The weights, of a subset and the weights that it has, shape (M,)."""
        if self.scale is not None:
            return diffused(objective, mask, self.scale)
        return rescaled(objective, given) if self.name == "rescale" else reweighted(objective, mask)


def rescaled(objective: Objective, weights: FloatArray) -> Reweighting:
    """All weights times one factor, so that their sum is the original's; shape (M,), 0 where an edge is not kept."""
    unit = objective.graph.weights.max()
    shares = weights / unit
    return Reweighting(weights * (float((objective.graph.weights / unit).sum()) / float(shares.sum())))


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
    together = np.zeros(mask.size, np.int64)
    gain = 1e-8 if np.count_nonzero(mask) > LARGE else 1e-12
    return _minimised(_settled(objective).divergence_and_gradient, objective, mask, together, max_iterations, gain)


def diffused(objective: Objective, mask: BoolArray, scale: float, max_iterations: int = DIFFUSION_STEPS) -> Reweighting:
    """Weights on a subset whose diffusion is most like the original's, the sum of each component held.

    They minimise the relative entropy of the Gibbs states, see :class:`graphpri.solvers.diffusion.Diffusion`, which is
    convex in them. A component that keeps no edge is left out, and its weight is gone.

    Parameters
    ----------
    objective : Objective
        Gives the graph.
    mask, max_iterations
        As in :func:`reweighted`.
    scale : float
        Time of diffusion over 1 / mean degree, above 0.

    Returns
    -------
    Reweighting
        As from :func:`reweighted`.

    Raises
    ------
    OptionError
        For a component of too many nodes.
    Interrupted
        On Ctrl-C: its ``result`` has the best weights so far.
    """
    settled = _settled(objective)
    diffusion, mu = Diffusion(settled.graph, scale), settled.weights

    def entropy(w: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = diffusion.relative_entropy(mu * w)
        return value, gradient * mu

    return _minimised(entropy, objective, mask, diffusion.component, max_iterations, DIFFUSION_GAIN)


def _settled(objective: Objective) -> Objective:
    """The objective with rounded weights.

    Functions of weights are flat in light edges, where a search would follow the last digits of a unit: without them
    it takes the same way in every unit.
    """
    graph = objective.graph
    return replace(objective, graph=graph.select(np.ones(graph.n_edges, bool), settle(objective.weights)))


def _minimised(
    function: Callable[[FloatArray], tuple[float, FloatArray]],
    objective: Objective,
    mask: BoolArray,
    group: IntArray,
    max_iterations: int,
    gain: float,
) -> Reweighting:
    """Weights that minimise a function of the selection, which gives its value and gradient, by L-BFGS.

    The sum of weights is held in each group of edges, `group` of shape (M,), where it keeps one.
    """
    from scipy.optimize import Bounds, minimize  # slow to import, and few calls need it

    kept, w = np.flatnonzero(mask), np.zeros(mask.size)
    exact, mu = objective.weights, _settled(objective).weights
    total, exact_total, group = np.bincount(group, mu), np.bincount(group, exact), group[kept]

    def summed(weights: FloatArray) -> FloatArray:
        """Sums of the groups, for each kept edge."""
        return np.bincount(group, weights).astype(np.float64)[group]

    def place(logs: FloatArray) -> FloatArray:
        """Selection values for logarithms, scaled to the original's sums; returns shares of these."""
        w[kept] = np.exp(logs)
        shares = mu[kept] * w[kept]
        sums = summed(shares)
        w[kept] *= total[group] / sums
        return shares / sums

    best, least = np.zeros(kept.size), np.inf
    limit = deadline()

    def in_logarithms(logs: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best, least
        if limit.is_over():
            raise Stop(Ending.TIME_LIMIT, seconds=limit.seconds)
        shares = place(logs)
        value, gradient = function(w)
        if value < least:
            best, least = logs.copy(), value
        slope = gradient[kept] * w[kept]
        return value, slope - shares * summed(slope)

    def ended(status: Status | None = None) -> Reweighting:
        place(best)
        w[kept] *= exact_total[group] / summed(exact[kept] * w[kept])
        return Reweighting(objective.graph.weights * w, status)

    so_far = "these are the best weights so far"
    if limit.is_over():
        return ended(Ending.TIME_LIMIT.status(seconds=limit.seconds, best=so_far))
    try:
        with single_thread():
            minimize(
                in_logarithms,
                best,
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(-RANGE, RANGE),  # pairs of numbers are slow to read
                options={"maxiter": max_iterations, "ftol": gain, "gtol": 1e-9},
            )
    except Stop as stop:
        return ended(stop.status(so_far))
    except KeyboardInterrupt:
        raise Interrupted(lambda: ended(Ending.INTERRUPTED.status(best=so_far))) from None
    return ended()
