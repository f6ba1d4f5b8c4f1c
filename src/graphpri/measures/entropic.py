"""Information: entropies, divergence and objective."""

from __future__ import annotations

from graphpri._entropy import entropy_named
from graphpri._objective import Terms
from graphpri._stochastic import Estimate
from graphpri.measures.information import (
    UNITS,
    Joint,
    barrier_of,
    divergence_of,
    entropy_of,
    estimate_alone,
    joint_estimate,
    mixed_entropy,
)
from graphpri.measures.registry import View, measure, per_view

_GROUP = "information"
_ORIGINAL = "estimate of the original's entropy"


@per_view
def together(view: View) -> Joint:
    """Estimates of a kept graph and its original, from common probes."""
    s = view.settings
    found = joint_estimate(view.overlay, s.mixture, s.beta, seed=s.seed)
    view.origin.memory.setdefault(_ORIGINAL, found.original)
    return found


@per_view
def nats(view: View) -> Estimate:
    """Entropy of a view's graph, in nats."""
    if not _is_stochastic(view):
        return Estimate(entropy_of(view.graph, view.settings.entropy), 0.0)
    if view.original is not None:
        return together(view).entropy
    return view.memory.get(_ORIGINAL) or estimate_alone(view.graph, seed=view.settings.seed)


@per_view
def divergence_in_nats(view: View) -> Estimate:
    """Divergence of the kept graph from the original, in nats."""
    if _is_stochastic(view):
        return together(view).divergence
    mixed = mixed_entropy(view.overlay, view.settings.entropy, view.settings.mixture)
    return Estimate(divergence_of(mixed, nats(view.origin).value, nats(view).value), 0.0)


def _is_stochastic(view: View) -> bool:
    return entropy_named(view.settings.entropy).stochastic


def _told(view: View, name: str, found: Estimate) -> float:
    """The value in the report's unit; its error is kept beside it."""
    told = found.over(UNITS[view.settings.unit])
    if told.error:
        view.errors[name] = told.error
    return told.value


@measure("entropy", "von Neumann entropy S", "nats", group=_GROUP, core=True, both=True)
def entropy(view: View) -> float:
    return _told(view, "entropy", nats(view))


@measure(
    "divergence", "quantum Jensen–Shannon divergence D from the original", "nats", group=_GROUP, core=True, better="low"
)
def divergence(view: View) -> float:
    return _told(view, "divergence", divergence_in_nats(view))


@measure("objective", "Graph-PRI objective J = S + 2βD − α Σ ln d", "nats", group=_GROUP, core=True, better="low")
def objective(view: View) -> float:
    s = view.settings
    barrier = barrier_of(view.origin.graph, view.graph, s.alpha)
    if _is_stochastic(view):
        return _told(view, "objective", together(view).objective) + barrier
    terms = Terms.of(s.beta, nats(view).value, divergence_in_nats(view).value, 0.0)
    return terms.objective / UNITS[s.unit] + barrier
