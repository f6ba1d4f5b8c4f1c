"""The other methods beside the solutions: they score edges, so that one order of the edges tells every budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.baselines import find
from graphpri.budget import best_forest_by, rank
from graphpri.errors import OptionError
from graphpri.explore.grid import COLUMNS, Meter
from graphpri.graph import FloatArray, Graph
from graphpri.solvers.search import Constraints

_PATHS = 3e7


class Rival(NamedTuple):
    """A method, the edges in the order in which it keeps them, shape (M,), and its measures, shape (K, 7).

    Examples
    --------
    >>> Rival("random", np.array([2, 0, 1], np.uint32), np.zeros((1, len(COLUMNS)))).order[:2]
    array([2, 0], dtype=uint32)
    """

    name: str
    order: NDArray[np.uint32]
    values: FloatArray


def default_methods(graph: Graph) -> list[str]:
    """Methods that take little time at the size of the graph.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> default_methods(ring_knn(12, 4))
    ['random', 'local-degree', 'local-similarity', 'effective-resistance', 'edge-betweenness']
    """
    names = ["random", "local-degree", "local-similarity", "effective-resistance"]
    if graph.n_nodes * graph.n_edges <= _PATHS:
        names.append("edge-betweenness")
    return names + (["weight", "disparity"] if graph.is_weighted else [])


def ranked(meter: Meter, name: str, budgets: Sequence[int], constraints: Constraints, seed: int) -> Rival:
    """What a method keeps at every budget: the first K edges of one order.

    Raises
    ------
    OptionError
        For an unknown method, and one that sets weights of its own, which depend on the budget.

    Examples
    --------
    >>> from graphpri.objective import Objective
    >>> graph = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    >>> rival = ranked(Meter.of(Objective(graph, 1.0)), "effective-resistance", [1, 2], Constraints(), seed=0)
    >>> int(rival.order[0]), rival.values.shape  # the bridge comes first
    (2, (2, 7))
    """
    graph = meter.objective.graph
    order = _order(graph, name, constraints, seed)
    values = np.zeros((len(budgets), len(COLUMNS)))
    for j, k in enumerate(budgets):
        mask = np.zeros(graph.n_edges, bool)
        mask[order[:k]] = True
        values[j] = meter.row(mask)
    return Rival(name, order.astype(np.uint32), values)


def _order(graph: Graph, name: str, constraints: Constraints, seed: int) -> NDArray[np.int64]:
    if name == "pri":
        raise OptionError("method='pri' is what the page shows: name others to stand beside it")
    rng = np.random.default_rng(seed)
    scored = find(name).score(graph, graph.n_edges, rng)
    if scored.weights is not None:
        raise OptionError(f"method {name!r} sets weights of its own, which the page does not show: leave it out")
    order = rank(scored.scores, rng)
    first = np.zeros(graph.n_edges, bool) if constraints.protect is None else constraints.protect.copy()
    if constraints.connected:
        place = np.empty(graph.n_edges, np.int64)
        place[order] = np.arange(graph.n_edges)
        first |= best_forest_by(
            graph, -place.astype(np.float64), place, protect=constraints.protect, forbid=constraints.forbid
        )
    last = np.zeros(graph.n_edges, bool) if constraints.forbid is None else constraints.forbid
    classes = np.where(first, 0, np.where(last, 2, 1))
    return order[np.argsort(classes[order], kind="stable")]
