"""Entropy, divergence and objective of graphs that users pass: any two on the same nodes."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.defaults import entropy_for
from graphpri.entropy import LN2, entropy_named, scaled
from graphpri.errors import GraphError, OptionError
from graphpri.graph import Directed, FloatArray, Graph, Loops, Parallel, unit_weights
from graphpri.interop import Policies, as_graph
from graphpri.measures.pairs import load_pair
from graphpri.objective import Mixture, Objective

Unit = Literal["nats", "bits"]
UNITS: dict[str, float] = {"nats": 1.0, "bits": LN2}
"""Nats in one of each unit."""


class Overlay(NamedTuple):
    """Two graphs on one list of edges: those that either has; each weight is 0 where a graph lacks the edge."""

    graph: Graph
    original: FloatArray
    kept: FloatArray


def edge_keys(graph: Graph) -> NDArray[np.int64]:
    """One number per edge, ascending, that two graphs on the same nodes share."""
    return graph.source.astype(np.int64) * graph.n_nodes + graph.target


def overlay(original: Graph, kept: Graph) -> Overlay:
    """Lay `kept` over `original`; the graph is `original` itself where that has all the edges."""
    mine, other = edge_keys(original), edge_keys(kept)
    keys = np.union1d(mine, other)
    graph = original
    if keys.size > mine.size:
        u, v = (ends.astype(original.source.dtype) for ends in np.divmod(keys, original.n_nodes))
        graph = Graph(original.n_nodes, u, v, unit_weights(keys.size), original.labels)
    return Overlay(graph, _placed(original.weights, mine, keys), _placed(kept.weights, other, keys))


def _placed(weights: FloatArray, keys: NDArray[np.int64], all_keys: NDArray[np.int64]) -> FloatArray:
    placed = np.zeros(all_keys.size)
    placed[np.searchsorted(all_keys, keys)] = weights
    return placed


def entropy_of(graph: Graph, name: str, y: FloatArray | None = None) -> float:
    """Entropy in nats of a graph with at least one edge, by the entropy of that name."""
    y = scaled(graph.weights if y is None else y)
    try:
        value = entropy_named(name).evaluate(graph, y, False).value
    except MemoryError as error:
        size = int(np.bincount(graph.components()[1]).max())
        raise OptionError(
            f"the {name} entropy of a component of {size} nodes does not fit into memory "
            f"({8 * size**2 / 1e9:.0f} GB a matrix): take 'local', 'degree' or 'auto'"
        ) from error
    return _not_below_zero(value)


def mixed_entropy(over: Overlay, name: str, mixture: Mixture) -> float:
    """Entropy in nats of the mixture σ̄ of the two graphs of an overlay."""
    if mixture == "listing":
        top = max(float(over.original.max()), float(over.kept.max()))
        return entropy_of(over.graph, name, over.original / top + over.kept / top)
    g, h = scaled(over.original), scaled(over.kept)
    return entropy_of(over.graph, name, 0.5 * (g / g.sum() + h / h.sum()))


def divergence_of(mixed: float, original: float, kept: float) -> float:
    """D from the entropies of the mixture and of its two parts."""
    return _not_below_zero(mixed - 0.5 * (original + kept))


def barrier_of(original: Graph, kept: Graph, alpha: float) -> float:
    """−α Σ ln d over the nodes with an edge in the original graph, degrees in its weights on the kept edges.

    Raises
    ------
    GraphError
        For an edge of `kept` that `original` doesn't have.
    """
    if alpha == 0:
        return 0.0
    mine, other = edge_keys(original), edge_keys(kept)
    foreign = ~np.isin(other, mine)
    if foreign.any():
        u, v = kept.edge_labels(int(np.argmax(foreign)))
        raise GraphError(
            f"edge ({u!r}, {v!r}) of H is not an edge of G: with alpha > 0 the degrees are those of G on H's edges, "
            "so that H must be part of G; pass alpha=0"
        )
    selection = np.isin(mine, other).astype(np.float64)
    degrees, floor = Objective(original, 0.0, alpha, "degree").barrier_degrees(selection)
    return -alpha * float(np.log(np.maximum(degrees, floor)).sum())


def _not_below_zero(value: float) -> float:
    """The value, and 0 where rounding errors put it just below."""
    return 0.0 if -1e-12 < value <= 0 else value


def check_unit(unit: str) -> float:
    """Nats in one of the unit."""
    if unit not in UNITS:
        raise OptionError(f"unit={unit!r}: choose 'nats' or 'bits'")
    return UNITS[unit]


def check_mixture(mixture: Mixture) -> Mixture:
    """Refuse unknown mixtures."""
    if mixture not in ("equation", "listing"):
        raise OptionError(f"mixture={mixture!r}: choose 'equation' or 'listing'")
    return mixture


def check_edges(graph: Graph, name: str) -> None:
    """Refuse a graph without edges."""
    if not graph.n_edges:
        raise GraphError(f"{name} has no edges: its Laplacian is zero, and its entropy is not defined")


def von_neumann_entropy(
    G: Any,
    method: str = "exact",
    *,
    weight: str | None = "weight",
    unit: Unit = "nats",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
) -> float:
    """Von Neumann entropy S = −Σ λ ln λ of a graph's Laplacian, normalised to trace one.

    Parameters
    ----------
    G : object
        A graph of any type that :func:`graphpri.as_graph` accepts, N nodes and M edges.
    method : {"exact", "degree", "local", "auto"}
        ``"exact"`` takes the eigenvalues, O(n³) per component of n nodes; ``"degree"`` and ``"local"``
        approximate them in O(M); ``"auto"`` goes by size, as ``sparsify`` does.
    weight : str or None
        Edge attribute used as weight where edges have it; None ignores weights.
    unit : {"nats", "bits"}
    directed, loops, parallel
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
    graph = as_graph(G, weight=weight, directed=directed, loops=loops, parallel=parallel)
    check_edges(graph, "the graph")
    return entropy_of(graph, entropy_for(graph, method)) / in_unit


def divergence(
    G: Any,
    H: Any,
    *,
    method: str = "exact",
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
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
    method : {"exact", "degree", "local", "auto"}
        How entropies are computed; see :func:`von_neumann_entropy`.
    mixture : {"equation", "listing"}
        ``"equation"`` averages the Laplacians after each is normalised by its own trace, ``"listing"``
        adds them first, as the paper's code listing does.
    unit : {"nats", "bits"}
    weight, directed, loops, parallel
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
    policies = Policies(weight, directed, loops, parallel)
    graph, kept = _pair(G, H, policies)
    return _terms(graph, kept, method, check_mixture(mixture))[1] / in_unit


def objective(
    G: Any,
    H: Any,
    beta: float,
    alpha: float = 0.0,
    *,
    method: str = "exact",
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
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
    method, mixture, weight, directed, loops, parallel
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
    in_unit = check_unit(unit)
    policies = Policies(weight, directed, loops, parallel)
    graph, kept = _pair(G, H, policies)
    checked = Objective(graph, beta, alpha, "degree", mixture)
    s, d = _terms(graph, kept, method, checked.mixture)
    return (s + 2 * checked.beta * d) / in_unit + barrier_of(graph, kept, checked.alpha)


def _pair(G: Any, H: Any, policies: Policies) -> tuple[Graph, Graph]:
    source, kept = load_pair(G, H, policies)
    check_edges(source.graph, "G")
    check_edges(kept, "H")
    return source.graph, kept


def _terms(graph: Graph, kept: Graph, method: str, mixture: Mixture) -> tuple[float, float]:
    """S of the kept graph, and D, in nats."""
    over = overlay(graph, kept)
    name = entropy_for(over.graph, method)
    s = entropy_of(kept, name)
    return s, divergence_of(mixed_entropy(over, name, mixture), entropy_of(graph, name), s)
