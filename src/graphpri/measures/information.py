"""Entropy, divergence and objective of any two graphs on the same nodes: as functions, and as measures in reports."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from graphpri._arguments import checked, real, whole
from graphpri._entropy import scaled
from graphpri._entropy.by_name import entropy_for, entropy_named
from graphpri._entropy.stochastic import TARGET, Estimate
from graphpri._entropy.stochastic import estimate as estimate_entropies
from graphpri._objective import (
    BUDGET_BETA,
    Barrier,
    Mixture,
    Objective,
    Terms,
    check_beta,
    coefficients,
    divergence_between,
    mixed_weights,
)
from graphpri.errors import GraphError, OptionError, argument, setting
from graphpri.graph import BoolArray, Directed, FloatArray, Graph, Loops, Negative, Parallel, Zero
from graphpri.interop import Policies, Source, align, edge_selector, load
from graphpri.measures.registry import UNITS, Overlay, Settings, Unit, View, measure, overlay, per_view


def load_pair(G: Any, H: Any, policies: Policies) -> tuple[Source, Graph]:
    """Load G, and bring H onto its nodes; each must have an edge.

    Parameters
    ----------
    G : object
        A graph of any accepted type, M edges.
    H : object
        A graph of any accepted type, an object whose ``kept`` is a :class:`Graph` (a result of ``sparsify``),
        or a bool array of shape (M,) in G's edge order.
    policies : Policies
        How to read both.

    Raises
    ------
    GraphError
        For whatever :func:`graphpri.as_graph` refuses, for a node of H that G doesn't have, and for a graph without
        edges.
    OptionError
        For a mask that doesn't fit, and for a result that took weights differently from how G is read.
    """
    source = load(G, policies)
    mask = _as_mask(H)
    if mask is not None:
        kept = source.graph.select(edge_selector(source, mask, "H"))
    elif isinstance(getattr(H, "kept", None), Graph):
        _check_same_weights(source.graph, H)
        # The weights of a Graph go by the default name, those of reweight=True included.
        kept = align(source.graph, H.kept)
    else:
        kept = align(source.graph, H, policies.for_type(H))
    check_edges(source.graph, "G")
    check_edges(kept, "H")
    return source, kept


def _as_mask(H: Any) -> BoolArray | None:
    if isinstance(H, list) and H and all(isinstance(item, bool | np.bool_) for item in cast("list[Any]", H)):
        return np.array(cast("list[bool]", H))
    if isinstance(H, np.ndarray) and H.ndim == 1 and H.dtype.kind == "b":
        return cast("BoolArray", H)
    return None


def _check_same_weights(graph: Graph, result: Any) -> None:
    original = getattr(result, "original", None)
    if isinstance(original, Graph) and original.is_weighted != graph.is_weighted:
        how = ("with", "without") if original.is_weighted else ("without", "with")
        raise OptionError(
            f"the result was made {how[0]} weights and G is read {how[1]} them: pass the same {setting('weight')} as "
            "to sparsify"
        )


def view_of(kept: Graph, objective: Objective, entropy: str, unit: Unit = "nats", seed: int = 0) -> View:
    """The view of a kept graph with the settings of an objective; "auto" goes by the edges of both graphs."""
    graph = objective.graph
    if entropy == "auto":
        entropy = entropy_for(overlay(graph, kept).graph, measured=True)
    settings = Settings(objective.beta, objective.alpha, entropy, objective.mixture, unit, seed)
    return View(kept, settings, View(graph, settings))


def entropy_of(graph: Graph, name: str, y: FloatArray | None = None) -> float:
    """Entropy in nats of a graph with at least one edge, by the entropy of that name."""
    y = scaled(graph.weights if y is None else y)
    return _not_below_zero(entropy_named(name).evaluate(graph, y, False).value)


def overlay_mixture(over: Overlay, mixture: Mixture) -> FloatArray:
    """Edge weights of the mixture σ̄ of the two graphs of an overlay, shape (M,)."""
    if mixture == "listing":
        top = max(float(over.original.max()), float(over.kept.max()))
        return mixed_weights(mixture, over.kept / top, over.original / top)
    return mixed_weights(mixture, scaled(over.kept), scaled(over.original))


class Joint(NamedTuple):
    """Estimates in nats from common probes: S of the kept and of the original graph, D, and J without its barrier."""

    entropy: Estimate
    original: Estimate
    divergence: Estimate
    objective: Estimate


def joint_estimate(
    over: Overlay,
    mixture: Mixture,
    beta: float,
    *,
    target: float = TARGET,
    probes: int | None = None,
    seed: int = 0,
) -> Joint:
    """Estimate S, D and J of the two graphs of an overlay; `target` is the error of S and of D."""
    ys = scaled(over.kept), scaled(over.original), scaled(overlay_mixture(over, mixture))
    combinations, goals = joint_combinations(beta, target)
    return Joint(*estimate_entropies(over.graph, ys, combinations, target=goals, probes=probes, rng=seed))


def joint_combinations(beta: float, target: float) -> tuple[list[list[float]], tuple[float, ...]]:
    """:class:`Joint` as combinations of the entropies of the kept graph, the original and the mixture; their goals."""
    of_kept, of_mixed, of_original = coefficients(beta)
    return [[1, 0, 0], [0, 1, 0], [-0.5, -0.5, 1], [of_kept, of_original, of_mixed]], (target, target, target, np.inf)


def barrier_of(original: Graph, kept: Graph, alpha: float) -> float:
    """−α Σ ln d over the nodes with an edge in the original graph, degrees in its weights on the kept edges.

    Raises
    ------
    GraphError
        For an edge of `kept` that `original` doesn't have.
    """
    if alpha == 0:
        return 0.0
    mine, other = original.edge_keys(), kept.edge_keys()
    foreign = ~np.isin(other, mine)
    if foreign.any():
        u, v = kept.edge_labels(int(np.argmax(foreign)))
        raise GraphError(
            f"edge ({u!r}, {v!r}) of H is not an edge of G: with alpha > 0 the degrees are those of G on H's edges, "
            f"so that H must be part of G; pass {setting('alpha', 0)}"
        )
    selection = np.isin(mine, other).astype(np.float64)
    return Barrier(original, alpha).at(selection)


def _not_below_zero(value: float) -> float:
    """The value, and 0 where rounding errors put it just below."""
    return 0.0 if -1e-12 < value <= 0 else value


def check_unit(unit: str) -> float:
    """Nats in one of the unit."""
    if unit not in UNITS:
        raise OptionError(f"{argument('unit', unit)}: choose 'nats' or 'bits'")
    return UNITS[unit]


def check_edges(graph: Graph, name: str) -> None:
    """Refuse a graph without edges."""
    if not graph.n_edges:
        raise GraphError(f"{name} has no edges: its Laplacian is zero, and its entropy is not defined")


_GROUP = "information"
_ORIGINAL = "estimate of the original's entropy"


@per_view
def joint_of(view: View) -> Joint:
    """Estimates of a kept graph and its original, from common probes."""
    s = view.settings
    found = joint_estimate(view.overlay, s.mixture, s.beta, seed=s.seed)
    view.origin.memory.setdefault(_ORIGINAL, found.original)
    return found


def _is_stochastic(view: View) -> bool:
    return entropy_named(view.settings.entropy).stochastic


@per_view
def entropy_in_nats(view: View) -> Estimate:
    """Entropy of a view's graph; the error of an exact one is 0."""
    if not _is_stochastic(view):
        return Estimate(entropy_of(view.graph, view.settings.entropy), 0.0)
    if view.original is not None:
        return joint_of(view).entropy
    return view.memory.get(_ORIGINAL) or estimate_alone(view.graph, seed=view.settings.seed)


@per_view
def divergence_in_nats(view: View) -> Estimate:
    """Divergence of the kept graph from the original (Eq. 3)."""
    if _is_stochastic(view):
        return joint_of(view).divergence
    settings, over = view.settings, view.overlay
    mixed = entropy_of(over.graph, settings.entropy, overlay_mixture(over, settings.mixture))
    found = divergence_between(mixed, entropy_in_nats(view).value, entropy_in_nats(view.origin).value)
    return Estimate(_not_below_zero(found), 0.0)


def objective_in_unit(view: View) -> Estimate:
    """J of keeping a graph (Eq. 4), entropies in the unit of the settings."""
    s = view.settings
    barrier = barrier_of(view.origin.graph, view.graph, s.alpha)
    if _is_stochastic(view):
        found = joint_of(view).objective
    else:
        terms = Terms.of(s.beta, entropy_in_nats(view).value, divergence_in_nats(view).value, 0.0)
        found = Estimate(terms.objective, 0.0)
    return found.over(UNITS[s.unit]).plus(barrier)


def _value(view: View, name: str, found: Estimate) -> float:
    """Value of a measure; its standard error is left with the view."""
    if found.error:
        view.errors[name] = found.error
    return found.value


@measure("entropy", "von Neumann entropy S", "nats", group=_GROUP, core=True, both=True)
def entropy_measure(view: View) -> float:
    return _value(view, "entropy", entropy_in_nats(view).over(UNITS[view.settings.unit]))


@measure(
    "divergence", "quantum Jensen–Shannon divergence D from the original", "nats", group=_GROUP, core=True, better="low"
)
def divergence_measure(view: View) -> float:
    return _value(view, "divergence", divergence_in_nats(view).over(UNITS[view.settings.unit]))


@measure("objective", "Graph-PRI objective J = S + 2βD − α Σ ln d", "nats", group=_GROUP, core=True, better="low")
def objective_measure(view: View) -> float:
    return _value(view, "objective", objective_in_unit(view))


@checked
def von_neumann_entropy(
    G: Any,
    entropy: str = "exact",
    *,
    weight: str | None = "weight",
    unit: Unit = "nats",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> float:
    """Von Neumann entropy S = −Σ λ ln λ of a graph's Laplacian, normalised to trace one.

    Parameters
    ----------
    G : object
        A graph of any type that :func:`graphpri.as_graph` accepts, N nodes and M edges.
    entropy : {"exact", "stochastic", "degree", "local", "auto"}
        ``"exact"`` takes the eigenvalues, O(n³) per component of n nodes; ``"stochastic"`` estimates the same
        by random probes of a fixed seed to 5·10⁻⁴ nats (:func:`graphpri.estimate` says how exactly);
        ``"degree"`` and ``"local"`` approximate it in O(M). ``"auto"`` takes the exact one up to components
        of 2000 nodes, the stochastic one up to a million edges, the local one up to 20 million, and the degree
        entropy above.
    weight : str or None
        Edge attribute used as weight where edges have it; None ignores weights.
    unit : {"nats", "bits"}
    directed, loops, parallel, negative, zero, source, target
        As in :func:`graphpri.as_graph`.

    Returns
    -------
    float
        Between 0 (a single edge) and ln(N − 1) (a complete graph). Isolated nodes and the scale of the
        weights don't matter.

    Raises
    ------
    GraphError
        For a graph without edges, whose entropy is not defined, and for whatever
        :func:`graphpri.as_graph` refuses.
    OptionError
        For unknown names.

    Notes
    -----
    Equation (2) of Yu, Alesiani, Yin, Jenssen and Principe, UAI 2022; the degree entropy is that of their
    Graph-PRI*, and the local one adds the second-order term around the degrees.

    Examples
    --------
    >>> import networkx as nx
    >>> complete = nx.complete_graph(5)
    >>> round(von_neumann_entropy(complete), 4), round(von_neumann_entropy(complete, unit="bits"), 4)
    (1.3863, 2.0)
    """
    in_unit = check_unit(unit)
    graph = load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target)).graph
    check_edges(graph, "the graph")
    return entropy_of(graph, entropy_for(graph, entropy, measured=True)) / in_unit


@checked
def divergence(
    G: Any,
    H: Any,
    *,
    entropy: str = "exact",
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> float:
    """Quantum Jensen–Shannon divergence D = S(σ̄) − ½S(σ̃) − ½S(ρ̃) of two graphs on the same nodes.

    Parameters
    ----------
    G : object
        A graph of any type that :func:`graphpri.as_graph` accepts, M edges.
    H : object
        A graph of any type, not necessarily a part of G, its nodes matched by label (isolated ones may be
        missing); a result of ``sparsify``; or a bool array of shape (M,), G's edges that stay, in G's edge
        order (that of ``Sparsified.mask``).
    entropy : {"exact", "stochastic", "degree", "local", "auto"}
        How entropies are computed; see :func:`von_neumann_entropy`.
    mixture : {"equation", "listing"}
        ``"equation"`` averages the Laplacians after each is normalised by its own trace, ``"listing"``
        adds them first, as the paper's code listing does.
    unit : {"nats", "bits"}
    weight, directed, loops, parallel, negative, zero, source, target
        As in :func:`graphpri.as_graph`, for both graphs.

    Returns
    -------
    float
        Between 0 (the same graph, whatever the scale of its weights) and ln 2 for the exact and the degree
        entropy of the ``"equation"``; its square root is then a metric.

    Raises
    ------
    GraphError
        For a graph without edges, and for a node of H that G doesn't have.
    OptionError
        For unknown names, a mask that doesn't fit, and a result of ``sparsify`` that was made with weights
        where G is read without them, or the other way round.

    Notes
    -----
    Equation (3) of Yu et al., UAI 2022.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.cycle_graph(6)
    >>> divergence(G, G), round(divergence(G, nx.path_graph(6)), 4)
    (0.0, 0.0279)
    """
    in_unit = check_unit(unit)
    loaded, kept = load_pair(G, H, Policies(weight, directed, loops, parallel, negative, zero, source, target))
    checked = Objective(loaded.graph, 0.0, 0.0, "degree", mixture)
    return divergence_in_nats(view_of(kept, checked, entropy)).value / in_unit


@checked
def objective(
    G: Any,
    H: Any,
    beta: float,
    alpha: float = 0.0,
    *,
    entropy: str = "exact",
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> float:
    """Graph-PRI objective J = S(σ̃) + 2β D(σ̃‖ρ̃) − α Σ ln d of keeping H of G.

    Parameters
    ----------
    G, H : object
        As in :func:`divergence`.
    beta : float
        Weight β ≥ 0 of the divergence.
    alpha : float
        Weight α ≥ 0 of the degree barrier, over the nodes that have an edge in G. Its degrees are sums of G's
        weights on H's edges, whatever weights H has, and at least 10⁻³ of G's smallest weight.
    entropy, mixture, weight, directed, loops, parallel, negative, zero, source, target
        As in :func:`divergence`.
    unit : {"nats", "bits"}
        Of S and D; the barrier's term stays as it is.

    Raises
    ------
    GraphError
        As :func:`divergence`; and with alpha > 0 for an edge of H that G doesn't have.
    OptionError
        As :func:`divergence`; and for β or α negative or not finite.

    Notes
    -----
    Equation (4) of Yu et al., UAI 2022. J of all edges is S(ρ̃) for every β where α = 0.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.karate_club_graph()
    >>> round(objective(G, G, beta=7, weight=None), 4)
    3.1541
    """
    check_unit(unit)
    loaded, kept = load_pair(G, H, Policies(weight, directed, loops, parallel, negative, zero, source, target))
    checked = Objective(loaded.graph, beta, alpha, "degree", mixture)
    return objective_in_unit(view_of(kept, checked, entropy, unit)).value


@dataclass(frozen=True)
class Estimates:
    """Entropies and what follows from them, each with its standard error (see :func:`graphpri.estimate`).

    Attributes
    ----------
    entropy : Estimate
        S of H, or of G where there is no H; a pair ``(value, error)``.
    entropy_original : Estimate or None
        S of G; None where there is no H, like all that follow.
    divergence : Estimate or None
        D of H from G.
    objective : Estimate or None
        J of keeping H of G.

    Examples
    --------
    >>> import graphpri
    >>> found = graphpri.estimate(graphpri.datasets.barabasi_albert(300, 3, seed=0))
    >>> found.divergence is None, found.entropy.error < 0.01
    (True, True)
    >>> exact = graphpri.von_neumann_entropy(graphpri.datasets.barabasi_albert(300, 3, seed=0))
    >>> abs(found.entropy.value - exact) < 4 * found.entropy.error
    True
    """

    entropy: Estimate
    entropy_original: Estimate | None = None
    divergence: Estimate | None = None
    objective: Estimate | None = None

    def __str__(self) -> str:
        return "\n".join(f"{name:<16}  {value}" for name, value in vars(self).items() if value is not None)


@checked
def estimate(
    G: Any,
    H: Any = None,
    *,
    beta: float = BUDGET_BETA,
    alpha: float = 0.0,
    error: float = TARGET,
    probes: int | None = None,
    seed: int = 0,
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Estimates:
    """Von Neumann entropy of a large graph, and divergence and objective of a part of it, with error bars.

    Lanczos quadrature of random probes, O(M · probes · steps). All values come from the same probes, so that the
    divergence is far more precise than its parts.

    Parameters
    ----------
    G, H : object
        As in :func:`graphpri.divergence`: a graph of N nodes and M edges, and another one, a result of ``sparsify``
        or a mask. Without H only the entropy of G is estimated.
    beta, alpha : float
        Of the objective.
    error : float
        Error, in the unit, that entropies and divergence should reach. Probes are taken until they do, or
        for 1024 of them; the errors say what was reached.
    probes : int, optional
        A fixed number of probes instead, rounded up to blocks of 8 (from 20 000 nodes or 200 000 edges on) or 32.
    seed : int
        For the probes.
    mixture, unit, weight, directed, loops, parallel, negative, zero, source, target
        As in :func:`graphpri.divergence`.

    Returns
    -------
    Estimates
        ``.entropy``, ``.entropy_original``, ``.divergence`` and ``.objective``, each a pair ``(value, error)``. Two
        errors hold the exact value in about 95 of 100 seeds. The ``.chance`` of each is the part that another seed
        changes, its ``.bias`` what the quadrature leaves open for every seed alike: at most 0.3 of the chance, but in
        graphs from 20 000 nodes or 200 000 edges on, where ``error`` may be reached before. Graphs of components of at
        most 200 nodes have exact values.

    Raises
    ------
    GraphError
        As :func:`graphpri.objective`.
    OptionError
        As :func:`graphpri.objective`; and for an error that is not above 0 and fewer than 8 probes.

    Notes
    -----
    Stochastic Lanczos quadrature: S. Ubaru, J. Chen, Y. Saad, SIAM J. Matrix Anal. Appl. 38(4), 2017. What is known of
    the matrix around its degrees is taken out of the probes, as a control variate.

    Examples
    --------
    >>> import graphpri
    >>> G = graphpri.datasets.barabasi_albert(3000, 5, seed=1)
    >>> found = estimate(G, graphpri.sparsify(G, keep=0.3, method="random"))
    >>> found.divergence.error < 0.0005
    True
    """
    in_unit = check_estimate(beta, alpha, error, probes, seed, unit)
    policies = Policies(weight, directed, loops, parallel, negative, zero, source, target)
    asked: dict[str, Any] = {"target": error * in_unit, "probes": probes, "seed": seed}
    if H is None:
        graph = load(G, policies).graph
        check_edges(graph, "G")
        return Estimates(estimate_alone(graph, **asked).over(in_unit))
    loaded, kept = load_pair(G, H, policies)
    graph = loaded.graph
    checked = Objective(graph, beta, alpha, "degree", mixture)
    found = joint_estimate(overlay(graph, kept), checked.mixture, checked.beta, **asked)
    s, original, d, j = (value.over(in_unit) for value in found)
    return Estimates(s, original, d, j.plus(barrier_of(graph, kept, checked.alpha)))


def check_estimate(beta: float, alpha: float, error: float, probes: int | None, seed: int, unit: str) -> float:
    """Refuse options of an estimate that can't be used; returns the nats in one of the unit."""
    in_unit = check_unit(unit)
    real("error", error, above=True)
    check_beta(beta)
    real("alpha", alpha)
    whole("seed", seed)
    if probes is not None and probes < 8:
        raise OptionError(
            f"{argument('probes', probes)} must be a whole number, 8 or more: fewer say nothing about their error"
        )
    return in_unit


def estimate_alone(graph: Graph, *, target: float = TARGET, probes: int | None = None, seed: int = 0) -> Estimate:
    """Estimate of the entropy of one graph, in nats."""
    return estimate_entropies(graph, [scaled(graph.weights)], [[1.0]], target=target, probes=probes, rng=seed)[0]
