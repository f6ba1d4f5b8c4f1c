"""The report: every measure of a kept graph beside the original."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graphpri._objective import DEFAULT_BETA, Mixture, Objective, entropy_for
from graphpri._output import aligned
from graphpri._stochastic import Estimate
from graphpri.graph import Directed, Graph, Loops, Parallel
from graphpri.interop import Policies
from graphpri.measures.information import (
    STOCHASTIC_EDGES,
    Unit,
    check_edges,
    check_unit,
    load_pair,
    method_for,
    overlay,
)
from graphpri.measures.registry import MEASURES, Measure, Settings, View, choose


@dataclass(frozen=True, eq=False, repr=False)
class Report(Mapping[str, float]):
    """Measures by name; ``name_original`` is the original graph's where a measure is one graph's.

    ``name_error`` and ``name_original_error`` are standard errors, there where a value is an estimate. ``str()`` gives
    a table. NaN marks a measure that is not defined for these graphs; a note says why.

    Attributes
    ----------
    values : dict of str to float
        What the mapping holds.
    left_out : dict of str to str
        Measures that cost too much at this size, and why.
    notes : tuple of str
        How the graphs were read, and what to know about some values.
    settings : dict of str to object
        β, α, the entropy, the mixture, the unit and the seed.

    Examples
    --------
    >>> import networkx as nx
    >>> from graphpri import sparsify
    >>> karate = nx.karate_club_graph()
    >>> found = report(karate, sparsify(karate, keep=0.5), measures=["edges", "components"])
    >>> found["edges"], found["edges_original"]
    (39, 78)
    >>> print(found)
    exact entropy in nats, beta 4, alpha 0, equation mixture
                           original  kept
    size and connectivity
      edges                      78    39   number of edges
      components                  1     3   connected components
    note: weights: 'weight'
    """

    values_by_name: dict[str, float]
    left_out: dict[str, str]
    notes: tuple[str, ...]
    settings: dict[str, Any]

    def __getitem__(self, name: str) -> float:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def __repr__(self) -> str:
        return f"Report({len(self)} values, {len(self.left_out)} measures left out)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: settings, measures, what was left out, notes."""
        return {
            **self.settings,
            "measures": dict(self.values_by_name),
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        rows: list[tuple[Any, ...]] = [("", "original", "kept", "")]
        group = None
        for m in (MEASURES[name] for name in self.values_by_name if name in MEASURES):
            if m.group != group:
                group = m.group
                rows.append((group, None, None, ""))
            rows.append(
                (
                    f"  {m.name}",
                    self._shown(f"{m.name}_original"),
                    self._shown(m.name),
                    _summary(m, self.settings["unit"]),
                )
            )
        lines = [said(self.settings), *(line for line in _with_summaries(rows))]
        lines += [f"left out: {name} ({why})" for name, why in self.left_out.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def _shown(self, name: str) -> Any:
        """A value for the table, with its error where it has one; None where there is no such value."""
        error = self.get(f"{name}_error")
        return self.get(name) if error is None else str(Estimate(self[name], error))


def said(settings: Mapping[str, Any]) -> str:
    """The settings of measures, in a line."""
    s = settings
    return f"{s['entropy']} entropy in {s['unit']}, beta {s['beta']:g}, alpha {s['alpha']:g}, {s['mixture']} mixture"


def _summary(m: Measure, unit: str) -> str:
    shown_unit = unit if m.unit == "nats" else m.unit
    return m.summary + (f" ({shown_unit})" if shown_unit else "")


def _with_summaries(rows: list[tuple[Any, ...]]) -> list[str]:
    table = aligned([row[:3] for row in rows])
    width = max(map(len, table))
    return [f"{line:<{width}}   {row[3]}".rstrip() for line, row in zip(table, rows, strict=True)]


def report(
    G: Any,
    H: Any,
    *,
    beta: float | None = None,
    alpha: float | None = None,
    entropy: str = "auto",
    mixture: Mixture | None = None,
    measures: str | Iterable[str] = "all",
    unit: Unit = "nats",
    seed: int = 0,
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
) -> Report:
    """What H keeps of G: information, connectivity, spectrum, clustering, communities, distances, centralities.

    Parameters
    ----------
    G, H : object
        As in :func:`graphpri.divergence`: a graph, and another one, a result of ``sparsify`` or a mask.
    beta, alpha, mixture : optional
        Those of the objective; where absent, those that H was made with if it is a result of ``sparsify``,
        and 4, 0 and ``"equation"`` otherwise.
    entropy : {"auto", "exact", "stochastic", "degree", "local"}
        How entropies are computed. ``"auto"`` takes the one that H was made with where that was chosen by hand,
        and goes by size otherwise: exact up to components of 2000 nodes, stochastic with error bars up to
        a million edges, degree above.
    measures : str or iterable of str
        ``"all"``, ``"core"`` (those that take time in proportion to the edges), or names of
        :data:`graphpri.measures.MEASURES`. What is too costly at the graph's size is left out, and the
        report says so; a measure asked for by name is computed at any size.
    unit : {"nats", "bits"}
        Of entropy, divergence and objective.
    seed : int
        For the nodes that distances in large graphs are measured from, and for random vectors.
    weight, directed, loops, parallel
        As in :func:`graphpri.as_graph`, for both graphs.

    Returns
    -------
    Report
        A mapping of names to numbers, with ``.left_out``, ``.notes`` and a readable ``str()``.

    Raises
    ------
    GraphError
        For a graph without edges, for a node of H that G doesn't have, and for alpha > 0 with an edge of H
        that G doesn't have.
    OptionError
        For unknown names and values out of range.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> G = nx.karate_club_graph()
    >>> result = graphpri.sparsify(G, keep=0.5, beta=2)
    >>> found = report(G, result, measures=["divergence", "components"])
    >>> {name: round(value, 4) for name, value in found.items()}
    {'divergence': 0.0604, 'components': 9, 'components_original': 1}
    """
    check_unit(unit)
    source, kept = load_pair(G, H, Policies(weight, directed, loops, parallel))
    graph = source.graph
    check_edges(graph, "G")
    check_edges(kept, "H")
    defaults: dict[str, Any] = {"beta": DEFAULT_BETA, "alpha": 0.0, "mixture": "equation"} | _made_with(H)
    objective = Objective(
        graph,
        defaults["beta"] if beta is None else beta,
        defaults["alpha"] if alpha is None else alpha,
        "degree",
        defaults["mixture"] if mixture is None else mixture,
    )
    all_edges = overlay(graph, kept).graph
    name = method_for(all_edges, _by_hand(defaults, graph) if entropy == "auto" else entropy)
    settings = Settings(objective.beta, objective.alpha, name, objective.mixture, unit, seed)
    origin = View(graph, settings)
    view = View(kept, settings, origin)
    if entropy == "auto" and name != "exact" and all_edges.n_edges > STOCHASTIC_EDGES:
        view.note(f'entropies are by {name} at this size; entropy="stochastic" estimates the exact ones')
    chosen, left_out = choose(measures, max(graph, kept, key=lambda g: g.n_edges))
    values = evaluate(view, chosen)
    notes = (*source.notes, *_weights_differ(graph, kept), *origin.notes, *view.notes)
    return Report(values, left_out, tuple(dict.fromkeys(notes)), asdict(settings))


def _by_hand(made_with: dict[str, Any], graph: Graph) -> str:
    """The entropy that a result was made with, where it is not the one that goes by the size of its graph."""
    name = made_with.get("entropy_by", "auto")
    return "auto" if name == entropy_for(graph) else name


def _made_with(H: Any) -> dict[str, Any]:
    """Settings of a result of ``sparsify``; nothing for graphs and masks."""
    return dict(H.settings) if isinstance(getattr(H, "kept", None), Graph) and hasattr(H, "settings") else {}


def evaluate(view: View, chosen: Iterable[Measure]) -> dict[str, float]:
    """Values of measures by name, those of the original graph where they are one graph's, and standard errors."""
    values: dict[str, float] = {}
    for m in chosen:
        asked = [(m.name, view), (f"{m.name}_original", view.origin)] if m.both else [(m.name, view)]
        for name, of in asked:
            values[name] = m.compute(of)
            if m.name in of.errors:
                values[f"{name}_error"] = of.errors[m.name]
    return values


def _weights_differ(graph: Graph, kept: Graph) -> list[str]:
    if graph.is_weighted and not kept.is_weighted:
        return ["G has weights and H has none: H's edges weigh 1 each"]
    if kept.is_weighted and not graph.is_weighted:
        return ["H has weights and G has none: G's edges weigh 1 each"]
    return []
