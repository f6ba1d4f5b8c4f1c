"""Information: entropies, divergence and objective."""

from __future__ import annotations

from graphpri.measures.information import UNITS, barrier_of, divergence_of, entropy_of, mixed_entropy
from graphpri.measures.registry import View, measure, per_view

_GROUP = "information"


@per_view
def nats(view: View) -> float:
    """Entropy of a view's graph, in nats."""
    return entropy_of(view.graph, view.settings.entropy)


@per_view
def divergence_in_nats(view: View) -> float:
    """Divergence of the kept graph from the original, in nats."""
    mixed = mixed_entropy(view.overlay, view.settings.entropy, view.settings.mixture)
    return divergence_of(mixed, nats(view.origin), nats(view))


@measure("entropy", "von Neumann entropy S", "nats", group=_GROUP, core=True, both=True)
def entropy(view: View) -> float:
    return nats(view) / UNITS[view.settings.unit]


@measure(
    "divergence", "quantum Jensen–Shannon divergence D from the original", "nats", group=_GROUP, core=True, better="low"
)
def divergence(view: View) -> float:
    return divergence_in_nats(view) / UNITS[view.settings.unit]


@measure("objective", "Graph-PRI objective J = S + 2βD − α Σ ln d", "nats", group=_GROUP, core=True, better="low")
def objective(view: View) -> float:
    s = view.settings
    barrier = barrier_of(view.origin.graph, view.graph, s.alpha)
    return (nats(view) + 2 * s.beta * divergence_in_nats(view)) / UNITS[s.unit] + barrier
