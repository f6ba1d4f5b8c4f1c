"""Measures of what a sparsified graph keeps: a registry, and the view of a graph that they work on.

A measure is a function ``(view) -> float``, registered by :func:`measure`. The view is that of the kept graph,
and ``view.origin`` that of the original one. What several measures need is computed once (:func:`per_view`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import checked, new_name
from graphpri._entropy import LN2
from graphpri._objective import Mixture
from graphpri.errors import OptionError, did_you_mean
from graphpri.graph import FloatArray, Graph, unit_weights

Better = Literal["low", "high"]
Unit = Literal["nats", "bits"]
T = TypeVar("T")

UNITS: dict[str, float] = {"nats": 1.0, "bits": LN2}
"""Nats in one of each unit."""


class Overlay(NamedTuple):
    """Two graphs on one list of edges: those that either has; each weight is 0 where a graph lacks the edge."""

    graph: Graph
    original: FloatArray
    kept: FloatArray


def overlay(original: Graph, kept: Graph) -> Overlay:
    """Lay `kept` over `original`; the graph is `original` itself where that has all the edges."""
    mine, other = original.edge_keys(), kept.edge_keys()
    at = np.searchsorted(mine, other)
    if bool((mine.take(at, mode="clip") == other).all()):
        return Overlay(original, original.weights, _placed(kept.weights, at, mine.size))
    both = np.sort(np.concatenate([mine, other]), kind="stable")
    keys = both[np.concatenate([[True], both[1:] != both[:-1]])]
    u, v = (ends.astype(original.source.dtype) for ends in np.divmod(keys, original.n_nodes))
    graph = Graph(original.n_nodes, u, v, unit_weights(keys.size), original.labels)
    places = np.searchsorted(keys, mine), np.searchsorted(keys, other)
    return Overlay(graph, _placed(original.weights, places[0], keys.size), _placed(kept.weights, places[1], keys.size))


def _placed(weights: FloatArray, at: NDArray[np.integer[Any]], size: int) -> FloatArray:
    placed = np.zeros(size)
    placed[at] = weights
    return placed


@dataclass(frozen=True)
class Settings:
    """What measures depend on besides the graphs; `entropy` is the name of one, not "auto".

    Examples
    --------
    >>> Settings(4.0, 0.0, "exact", "equation", "nats", 0).entropy
    'exact'
    """

    beta: float
    alpha: float
    entropy: str
    mixture: Mixture
    unit: Unit
    seed: int


@dataclass(frozen=True, eq=False)
class View:
    """A graph as the measures see it: with settings, results that several of them use, and notes.

    Parameters
    ----------
    graph : Graph
        The kept graph, on the nodes of the original one; or the original one.
    settings : Settings
    original : View or None
        That of the original graph; None where this is it.
    errors : dict of str to float
        Standard errors of measures by name, set by those that are estimates.

    Examples
    --------
    >>> triangle = Graph.from_edges([0, 1, 0], [1, 2, 2])
    >>> settings = Settings(4.0, 0.0, "exact", "equation", "nats", 0)
    >>> kept = View(triangle.select(np.array([True, True, False])), settings, View(triangle, settings))
    >>> kept.degrees, kept.origin.degrees, kept.components[0]
    (array([2, 1, 1]), array([2, 2, 2]), 1)
    """

    graph: Graph
    settings: Settings
    original: View | None = None
    notes: list[str] = field(default_factory=list[str])
    memory: dict[Any, Any] = field(default_factory=dict[Any, Any])
    errors: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def origin(self) -> View:
        """View of the original graph; the view itself where it is that of the original."""
        return self.original or self

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Number of edges at each node, shape (N,)."""
        return self.graph.degrees()

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        """Nodes that have an edge in the original graph, shape (N,)."""
        return self.origin.degrees > 0

    @cached_property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Number of components and the component of each node."""
        return self.graph.components()

    @cached_property
    def overlay(self) -> Overlay:
        """Original and kept graph on one list of edges."""
        return overlay(self.origin.graph, self.graph)

    def note(self, text: str) -> None:
        """Say something about the values that the report should tell."""
        if text not in self.notes:
            self.notes.append(text)


def per_view(function: Callable[[View], T]) -> Callable[[View], T]:
    """Compute a function of a view once and keep the result there.

    Examples
    --------
    >>> @per_view
    ... def leaves(view):
    ...     print("counting")
    ...     return int((view.degrees == 1).sum())
    >>> view = View(Graph.from_edges([0, 1], [1, 2]), Settings(4.0, 0.0, "exact", "equation", "nats", 0))
    >>> leaves(view) + leaves(view)
    counting
    4
    """

    @wraps(function)
    def remembered(view: View) -> T:
        if function not in view.memory:
            view.memory[function] = function(view)
        return view.memory[function]

    return remembered


@dataclass(frozen=True)
class Cost:
    """What a measure costs, and how much of it a report takes on unless asked for the measure by name.

    Parameters
    ----------
    formula : str
        In terms of N nodes and M edges.
    steps : callable
        ``(graph) -> float``.
    limit : float
        Most steps that are taken without being asked; some seconds' worth.
    needs : str or None
        Library beyond the base install that does the work; the extra that brings it has the same name.

    Examples
    --------
    >>> Cost("N²", lambda graph: graph.n_nodes**2, limit=4).refusal(Graph.from_edges([0, 1], [1, 2]))
    'costs N² = 9e+00 steps, more than 4e+00; ask for it by name'
    """

    formula: str
    steps: Callable[[Graph], float]
    limit: float = np.inf
    needs: str | None = None

    def refusal(self, graph: Graph) -> str | None:
        """Why the measure is left out for a graph of this size; None where it is affordable."""
        if self.needs is not None and find_spec(self.needs) is None:
            return f"needs {self.needs}, which is not installed: pip install 'graphpri[{self.needs}]'"
        steps = self.steps(graph)
        if steps <= self.limit:
            return None
        return f"costs {self.formula} = {steps:.0e} steps, more than {self.limit:.0e}; ask for it by name"


GROUPS = (
    "information",
    "size and connectivity",
    "degrees",
    "spectrum",
    "clustering",
    "communities",
    "distances",
    "flows",
    "centralities, Spearman correlation",
)
"""Headings of the library's own measures, in the order of reports; others follow."""

LINEAR = Cost("N + M", lambda g: g.n_nodes + g.n_edges)


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Parameters
    ----------
    name : str
        Key in reports.
    summary : str
        One line.
    unit : str
        "" for plain numbers; "nats" stands for the unit that the user asked for.
    cost : Cost
    group : str
        Heading in reports.
    core : bool
        Whether the cheap selection ``measures="core"`` has it.
    both : bool
        Whether it is a property of one graph, reported for the kept and for the original one.
    better : {"low", "high"} or None
        Which end says that more was kept.
    compute : callable
        ``(view) -> float``.

    Examples
    --------
    >>> import graphpri
    >>> components = graphpri.measures.MEASURES["components"]
    >>> components.both, components.better, components.affordable(Graph.from_edges([0], [1]))
    (True, 'low', True)
    """

    name: str
    summary: str
    unit: str
    cost: Cost
    group: str
    core: bool
    both: bool
    better: Better | None
    compute: Callable[[View], float]

    def affordable(self, graph: Graph) -> bool:
        """Whether reports on a graph of this size have it without being asked."""
        return self.cost.refusal(graph) is None


MEASURES: dict[str, Measure] = {}
"""Every registered measure by name."""


@checked
def measure(
    name: str,
    summary: str,
    unit: str = "",
    *,
    affordable: Cost = LINEAR,
    group: str = "own",
    core: bool = False,
    both: bool = False,
    better: Better | None = None,
) -> Callable[[Callable[[View], float]], Callable[[View], float]]:
    """Register a measure under a name; the parameters are those of :class:`Measure`.

    Examples
    --------
    >>> import graphpri
    >>> @measure("leaves", "nodes with one edge", both=True)
    ... def leaves(view):
    ...     return int((view.degrees == 1).sum())
    >>> star = graphpri.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    >>> dict(graphpri.report(star, np.array([True, True, True, False]), measures=["leaves"]))
    {'leaves': 3, 'leaves_original': 1}
    >>> MEASURES.pop("leaves").cost.formula
    'N + M'
    """
    new_name(name, MEASURES, "measure")

    def register(function: Callable[[View], float]) -> Callable[[View], float]:
        MEASURES[name] = Measure(name, summary, unit, affordable, group, core, both, better, function)
        return function

    return register


@checked
def choose(measures: str | Iterable[str], graph: Graph) -> tuple[list[Measure], dict[str, str]]:
    """The measures that a selection means for a graph of this size.

    Parameters
    ----------
    measures : str or iterable of str
        ``"all"``, ``"core"``, the name of a measure, or several of these.
    graph : Graph
        The larger of the two graphs.

    Returns
    -------
    chosen : list of Measure
        In the order of reports; those named are there whatever they cost.
    left_out : dict of str to str
        Others of the selection that cost too much, or need a library that is not installed, and why.

    Raises
    ------
    OptionError
        For an unknown name; says the closest.

    Examples
    --------
    >>> import graphpri
    >>> chosen, left_out = choose(["edges", "components"], Graph.from_edges([0], [1]))
    >>> [measure.name for measure in chosen], left_out
    (['edges', 'components'], {})
    """
    asked = [measures] if isinstance(measures, str) else list(measures)
    named = {name for name in asked if name not in ("all", "core")}
    for name in sorted(named, key=str):
        if name not in MEASURES:
            guess, known = did_you_mean(name, MEASURES), ", ".join(MEASURES)
            raise OptionError(f"measure {name!r} is not known{guess} (measures: 'all', 'core', or some of {known})")
    if not asked:
        raise OptionError("measures is empty: pass 'all', 'core' or names of measures")
    chosen: list[Measure] = []
    left_out: dict[str, str] = {}
    in_order = {group: place for place, group in enumerate(GROUPS)}
    for m in sorted(MEASURES.values(), key=lambda m: in_order.get(m.group, len(GROUPS))):
        if m.name in named:
            chosen.append(m)
        elif "all" in asked or ("core" in asked and m.core):
            if (refusal := m.cost.refusal(graph)) is None:
                chosen.append(m)
            else:
                left_out[m.name] = refusal
    return chosen, left_out
