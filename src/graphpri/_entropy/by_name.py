"""Entropies by name: how each is computed, and which one "auto" means for a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from graphpri._entropy import (
    EntropyValue,
    degree_entropies,
    degree_entropy,
    exact_entropies,
    exact_entropy,
    local_entropies,
    local_entropy,
    scaled,
)
from graphpri._entropy.stochastic import evaluate_by_probes
from graphpri.errors import GraphError, OptionError, argument
from graphpri.graph import FloatArray, Graph

# What "auto" goes by was chosen from measurements; benchmarks/defaults.py repeats them.

EXACT_NODES = 500
"""Largest component, in nodes, for which entropy="auto" takes the exact entropy."""
LOCAL_EDGES = 20_000_000
"""Number of edges up to which entropy="auto" takes the local entropy otherwise; some ten seconds' work."""
EXACT_STEPS = 2000**3
"""Σ n³ over components of n nodes up to which a measure takes the exact entropy; three of them take some seconds."""
STOCHASTIC_EDGES = 1_000_000
"""Number of edges up to which a measure takes the stochastic entropy otherwise."""

BATCHED_NODES = 200
"""Number of nodes up to which the eigenproblems of several weightings are solved in one batch."""


@dataclass(frozen=True)
class Entropy:
    """A way to compute the entropy: ``evaluate(graph, y, gradient)`` with edge weights y of shape (M,).

    Where it is `stochastic`, the value is an estimate: ``estimate`` in `stochastic.py` gives those of several
    weightings at once, from common probes, with their errors. `several` values of weightings of shape (B, M), none all
    zero, come at once where the graph has at most `most` nodes.
    """

    name: str
    summary: str
    evaluate: Callable[[Graph, FloatArray, bool], EntropyValue]
    stochastic: bool = False
    several: Callable[[Graph, FloatArray], FloatArray] | None = None
    most: float = np.inf


ENTROPIES: dict[str, Entropy] = {
    e.name: e
    for e in (
        Entropy("exact", "eigenvalues of the Laplacian", exact_entropy, False, exact_entropies, BATCHED_NODES),
        Entropy("degree", "Shannon entropy of the degree distribution", degree_entropy, False, degree_entropies),
        Entropy(
            "local", "degree entropy with the second-order local correction", local_entropy, False, local_entropies
        ),
        Entropy("stochastic", "Lanczos quadrature of random probes", evaluate_by_probes, stochastic=True),
    )
}


def entropy_named(name: str) -> Entropy:
    """The entropy of that name.

    Raises
    ------
    OptionError
        For an unknown name; lists those that exist.
    """
    if name not in ENTROPIES:
        raise OptionError(f"{argument('entropy', name)}: choose from {', '.join(ENTROPIES)}")
    return ENTROPIES[name]


def evaluate(graph: Graph, name: str, y: FloatArray | None = None, *, gradient: bool = False) -> EntropyValue:
    """Entropy of the graph with edge weights `y` (its own where absent).

    Raises
    ------
    GraphError
        For a graph without edges: a zero matrix has no trace to normalise by.
    """
    y = graph.weights if y is None else y
    if not y.size or not y.max() > 0:
        raise GraphError("the graph has no edges, so its Laplacian is zero and its entropy is not defined")
    return entropy_named(name).evaluate(graph, scaled(y), gradient)


def entropy_for(graph: Graph, entropy: str = "auto", *, measured: bool = False) -> str:
    """Name of the entropy that "auto" means for a graph, by its size; any other name stands for itself.

    Parameters
    ----------
    graph : Graph
    entropy : str
    measured : bool
        Whether it is computed once, for a measure, which can afford more than a solver: exact up to components of 2000
        nodes, and stochastic up to a million edges.
    """
    if entropy != "auto":
        return entropy_named(entropy).name
    sizes = [graph.n_nodes] if graph.n_nodes <= EXACT_NODES else np.bincount(graph.components()[1])
    return entropy_by_size(sizes, graph.n_edges, measured=measured)


def entropy_by_size(sizes: ArrayLike, n_edges: int, *, measured: bool = False) -> str:
    """What "auto" means for a graph whose components have so many nodes each, as in :func:`entropy_for`."""
    nodes = np.asarray(sizes, np.float64)
    if nodes.max() <= EXACT_NODES or (measured and float((nodes**3).sum()) <= EXACT_STEPS):
        return "exact"
    if measured and n_edges <= STOCHASTIC_EDGES:
        return "stochastic"
    return "local" if n_edges <= LOCAL_EDGES else "degree"
