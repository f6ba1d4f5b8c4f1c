"""The other methods: each gives a score per edge, for the one selection of exactly K edges in `methods`.

>>> ring = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [4.0, 1.0, 3.0, 2.0])
>>> mask, scored = run(ring, "weight", 2, np.random.default_rng(0))
>>> ring.weights[mask], scored.scores
(array([4., 3.]), array([4., 2., 1., 3.]))
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from graphpri import scores as structure
from graphpri.budget import best_forest, rank
from graphpri.errors import GraphError, OptionError
from graphpri.graph import BoolArray, Graph
from graphpri.methods import METHODS, Method, Scored, find, method, run
from graphpri.spectral import ResistanceMethod, leverages

__all__ = ["METHODS", "Method", "Scored", "find", "method", "run"]

_HAMANN = (
    "M. Hamann, G. Lindner, H. Meyerhenke, C. L. Staudt, D. Wagner. Structure-preserving sparsification methods "
    "for social networks. Social Network Analysis and Mining 6, 22, 2016"
)
_SATULURI = "V. Satuluri, S. Parthasarathy, Y. Ruan. Local graph sparsification for scalable clustering. SIGMOD 2011"
_SPIELMAN = (
    "D. A. Spielman, N. Srivastava. Graph sparsification by effective resistances. "
    "SIAM Journal on Computing 40(6), 2011"
)


def _number(name: str, value: Any, low: float, high: float = np.inf, *, integer: bool = False) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral if integer else Real)
        or not low <= float(value) <= high
    ):
        kind = "an integer" if integer else "a number"
        bounds = f"from {low:g} to {high:g}" if np.isfinite(high) else f"of at least {low:g}"
        raise OptionError(f"{name}={value!r}: give {kind} {bounds}")


@method("random", summary="edges drawn at random, all alike", reference=_HAMANN)
def random(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Uniform random scores."""
    return Scored(rng.random(graph.n_edges))


@method(
    "weight",
    summary="the heaviest edges (on unweighted graphs, the seed decides)",
    reference="M. Á. Serrano, M. Boguñá, A. Vespignani. Extracting the multiscale backbone of complex weighted "
    "networks. PNAS 106(16), 2009 (as the threshold that it improves on)",
)
def weight(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Edge weights μ."""
    return Scored(np.array(graph.weights))


@method(
    "spanning-forest",
    summary="the maximum spanning forest, then the heaviest other edges",
    reference="J. B. Kruskal. On the shortest spanning subtree of a graph and the traveling salesman problem. "
    "Proceedings of the AMS 7(1), 1956",
)
def spanning_forest(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Rank of the weight in (0, 1], plus 1 for the edges of the forest; below its size, its heaviest edges stay.

    Equal weights enter the forest in an order drawn from `rng`.
    """
    forest = best_forest(graph, rank(graph.weights, rng))
    levels, place = np.unique(graph.weights, return_inverse=True)
    return Scored((place + 1) / levels.size + forest)


@method("local-degree", summary="each node's edges to its neighbours of highest degree", reference=_HAMANN)
def local_degree(graph: Graph, k: int, rng: np.random.Generator, *, exponent: float | None = None) -> Scored:
    """1 − ln r / ln d, where one end is the r-th of the other's d neighbours by degree; the better of both sides.

    An edge is among some node's top ⌊d^a⌋ neighbours exactly where this is at least 1 − a. With `exponent` = a
    in [0, 1], the method in its parametric form, such edges score 1 alike and the others in proportion below, so
    a budget of as many edges as score 1 keeps the graph of that exponent, and any other as close to it as K
    allows. Weights are not used; neighbours of equal degree rank in the order of the edges.
    """
    scores = structure.settle(structure.local_degree(graph))
    if exponent is None:
        return Scored(scores)
    _number("exponent", exponent, 0, 1)
    threshold = 1.0 - exponent
    return Scored(np.where(scores >= threshold - 1e-12, 1.0, scores / max(threshold, 1e-12)))


@method("local-similarity", summary="each node's edges to its most similar neighbours (Jaccard)", reference=_SATULURI)
def local_similarity(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """1 − ln r / ln d, where one end is the r-th of the other's d neighbours by Jaccard similarity; the better side.

    Weights are not used; equally similar neighbours rank in the order of the edges.
    """
    return Scored(structure.settle(structure.local_similarity(graph)))


@method("jaccard", summary="edges whose ends share most of their neighbours", reference=_SATULURI)
def jaccard(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Common over all neighbours of the two ends. Weights are not used."""
    return Scored(structure.jaccard(graph))


@method(
    "scan",
    summary="edges whose ends are structurally similar (cosine)",
    reference="X. Xu, N. Yuruk, Z. Feng, T. A. J. Schweiger. SCAN: a structural clustering algorithm for networks. "
    "KDD 2007",
)
def scan(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Cosine similarity of the ends' closed neighbourhoods. Weights are not used."""
    return Scored(structure.settle(structure.structural_similarity(graph)))


@method("triangles", summary="edges in many triangles", reference=_HAMANN)
def triangles(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Number of triangles. Weights are not used."""
    return Scored(structure.triangles(graph))


@method(
    "simmelian",
    summary="edges embedded in both ends' strongest groups (Simmelian backbone)",
    reference="A. Nocaj, M. Ortmann, U. Brandes. Untangling the hairballs of multi-centered, small-world online "
    "social media networks. Journal of Graph Algorithms and Applications 19(2), 2015; triadic: B. Nick, C. Lee, "
    "P. Cunningham, U. Brandes. Simmelian backbones. ASONAM 2013",
)
def simmelian(
    graph: Graph, k: int, rng: np.random.Generator, *, shape: Literal["quadrilateral", "triadic"] = "quadrilateral"
) -> Scored:
    """Best Jaccard overlap of the ends' first r neighbours over all r, ranked by shared quadrangles or triangles.

    Weights are not used. The published backbone adds the union of maximum spanning trees, to hold the graph
    together; ``connected=True`` does that with one.
    """
    if shape not in ("quadrilateral", "triadic"):
        raise OptionError(f"shape={shape!r}: choose from 'quadrilateral', 'triadic'")
    return Scored(structure.simmelian(graph, quadrilateral=shape == "quadrilateral"))


@method(
    "edge-betweenness",
    summary="edges on many shortest paths",
    reference="M. Girvan, M. E. J. Newman. Community structure in social and biological networks. PNAS 99(12), 2002; "
    "U. Brandes, C. Pich. Centrality estimation in large networks. International Journal of Bifurcation and "
    "Chaos 17(7), 2007",
)
def edge_betweenness(graph: Graph, k: int, rng: np.random.Generator, *, pivots: int | None = None) -> Scored:
    """Pairs of nodes whose shortest paths, in hops, use the edge (shared among paths of equal length).

    From `pivots` random nodes; by default from all where N·M ≤ 10⁸, else from 256. Weights are not used.
    """
    if pivots is not None:
        _number("pivots", pivots, 1, integer=True)
    return Scored(structure.betweenness(graph, pivots, rng))


@method(
    "forest-fire",
    summary="edges along which random fires spread often",
    reference=f"J. Leskovec, J. Kleinberg, C. Faloutsos. Graphs over time. KDD 2005; as an edge score: {_HAMANN}",
)
def forest_fire(
    graph: Graph, k: int, rng: np.random.Generator, *, burn_probability: float = 0.6, burnt_ratio: float = 5.0
) -> Scored:
    """How many fires spread along the edge until `burnt_ratio` times M edges have burnt.

    A burning node sets fire to a geometric number of neighbours, `burn_probability` being the chance of each
    next one. Weights are not used.
    """
    _number("burn_probability", burn_probability, 0.01, 0.99)
    _number("burnt_ratio", burnt_ratio, 0.01, 1e4)
    return Scored(structure.forest_fire(graph, burn_probability, burnt_ratio, rng))


@method(
    "algebraic-distance",
    summary="edges whose ends random smoothing draws together",
    reference="J. Chen, I. Safro. Algebraic distance on graphs. SIAM Journal on Scientific Computing 33(6), 2011",
)
def algebraic_distance(graph: Graph, k: int, rng: np.random.Generator, *, systems: int = 10) -> Scored:
    """Minus the largest difference between the ends over `systems` smoothed random vectors."""
    _number("systems", systems, 1, integer=True)
    return Scored(-structure.algebraic_distance(graph, systems, rng))


@method(
    "disparity",
    summary="edges that carry more of a node's strength than chance would give (disparity filter)",
    reference="M. Á. Serrano, M. Boguñá, A. Vespignani. Extracting the multiscale backbone of complex weighted "
    "networks. PNAS 106(16), 2009",
)
def disparity(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """−ln α with α = (1 − p)^(d−1), p the edge's part of the strength of an end of degree d; the better end.

    The order is that of 1 − α, which rounds to 1 for many edges of heavy hubs. An end of degree 1 has α = 1, so
    that the other end decides. On an unweighted graph p = 1/d and −ln α grows with d from ln 2 to 1: the filter
    then ranks edges by the larger degree of their ends.
    """
    degree, result = graph.degrees(), np.zeros(graph.n_edges)
    for ends, share in zip((graph.source, graph.target), structure.shares(graph), strict=True):
        surprise = -(degree[ends] - 1.0) * np.log1p(-np.minimum(share, 1 - 2.0**-53))
        result = np.maximum(result, surprise)
    return Scored(structure.settle(result))


@method(
    "noise-corrected",
    summary="edges that weigh more than their ends' strengths explain, in standard deviations",
    reference="M. Coscia, F. M. H. Neffke. Network backboning with noisy data. ICDE 2017",
)
def noise_corrected(graph: Graph, k: int, rng: np.random.Generator) -> Scored:
    """Lift of the edge over its expectation, mapped to [−1, 1], over its posterior standard deviation.

    The filter keeps edges whose lift exceeds δ deviations, so this is the δ at which an edge goes. Weights are
    read as counts: the result depends on their unit.
    """
    total = 2 * float(graph.weights.sum())
    if not 1 < total < np.inf:
        raise GraphError(
            f"noise-corrected reads weights as counts, but all of them together make {total / 2:g}: "
            "multiply them to the number of events that they stand for"
        )
    first, second = structure.shares(graph)
    strength = graph.strengths() / total
    a, b = strength[graph.source], strength[graph.target]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        lift = first / b
        prior = (1 - a * b) * (total - 1) / ((1 - a) * (1 - b)) - 1
        chance = (a * b * prior + graph.weights) / (prior + total)
        slope = 2 / ((lift + 1) * (1 + 1 / lift)) * np.abs(1 + graph.weights / total - first - second)
        deviation = slope * (np.sqrt(total * chance * (1 - chance)) / graph.weights)
    deviation[np.isnan(deviation)] = np.inf  # 0 · ∞, of weights that lie beyond float64's range apart
    scores = (1 - 2 / (lift + 1)) / np.maximum(deviation, np.finfo(float).tiny)
    return Scored(structure.settle(scores))


@method("effective-resistance", summary="edges of highest weight times effective resistance", reference=_SPIELMAN)
def effective_resistance(
    graph: Graph, k: int, rng: np.random.Generator, *, resistance: ResistanceMethod = "auto", n_probes: int = 64
) -> Scored:
    """μ·R, the probability that a random spanning forest contains the edge; `resistance` as `method` there."""
    return Scored(structure.settle(leverages(graph, method=resistance, n_probes=n_probes, rng=rng)))


@method(
    "effective-resistance-sampling",
    summary="edges drawn in proportion to weight times effective resistance, reweighted to keep the Laplacian's mean",
    reference=_SPIELMAN,
)
def effective_resistance_sampling(
    graph: Graph,
    k: int,
    rng: np.random.Generator,
    *,
    resistance: ResistanceMethod = "auto",
    n_probes: int = 64,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> Scored:
    r"""Spielman and Srivastava's sampling, stopped so that exactly K edges are drawn.

    Edges are drawn with replacement with probabilities p ∝ μR until the next draw would bring edge number K + 1.
    An edge drawn c times in these T draws weighs c μ/(T p). Given the counts every order of the T draws is
    equally likely, so c/T has mean p as it has for a fixed T, and the mean of the new Laplacian is the old one.
    (With all edges kept, T has no end, and weights stay as they are.)

    Protected edges stay at their own weight, forbidden ones go, and the rest is sampled: the mean is then the
    Laplacian without the forbidden edges. An edge kept undrawn by ``connected=True`` has its own weight, and
    nothing is promised.

    Scores are minus the logarithm of the time of an edge's first draw, where draws come at random times.
    """
    rate = np.maximum(leverages(graph, method=resistance, n_probes=n_probes, rng=rng), 1e-290)
    first = np.maximum(rng.standard_exponential(graph.n_edges), 1e-290) / rate
    free = np.ones(graph.n_edges, bool)
    for fixed in (protect, forbid):
        if fixed is not None:
            free &= ~fixed
    draws = k - (0 if protect is None else int(protect.sum()))
    weights = np.array(graph.weights)
    if draws < int(free.sum()):
        end = np.partition(first[free], draws)[draws]
        drawn = np.flatnonzero(free & (first < end))
        again = rate[drawn] * (end - first[drawn])
        counts = 1 + np.where(again > 1e15, again, rng.poisson(np.minimum(again, 1e15)))
        weights[drawn] *= counts / counts.sum() * (rate[free].sum() / rate[drawn])
    return Scored(-np.log(first), weights)
