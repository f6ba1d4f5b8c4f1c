"""The report: every measure of a kept graph beside the original."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graphpri._arguments import checked, whole
from graphpri._entropy.by_name import STOCHASTIC_EDGES, entropy_for, entropy_named
from graphpri._entropy.stochastic import Estimate
from graphpri._objective import BUDGET_BETA, Mixture, Objective
from graphpri._output import aligned, format_value, items
from graphpri._output import table as html_table
from graphpri.graph import Directed, Graph, Loops, Negative, Parallel, Zero
from graphpri.interop import Policies
from graphpri.measures.information import check_unit, load_pair, view_of
from graphpri.measures.registry import MEASURES, Measure, Settings, Unit, View, choose


@dataclass(frozen=True, eq=False, repr=False)
class Report(Mapping[str, float]):
    """Measures by name; ``name_original`` is the original graph's where a measure is one graph's.

    ``name_error`` and ``name_original_error`` are standard errors, there where a value is an estimate. ``str()`` gives
    a table. NaN marks a measure that is not defined for these graphs; a note says why.

    Attributes
    ----------
    values_by_name : dict of str to float
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
    exact entropy in nats, beta 50, alpha 0, equation mixture
                           original  kept
    size and connectivity
      edges                      78    39   number of edges
      components                  1     1   connected components
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
        rows: list[tuple[Any, ...]] = [("", "original", "kept")]
        summaries = [""]
        group = None
        for m in (MEASURES[name] for name in self.values_by_name if name in MEASURES):
            if m.group != group:
                group = m.group
                rows.append((group, None, None))
                summaries.append("")
            rows.append((f"  {m.name}", self._cell(f"{m.name}_original"), self._cell(m.name)))
            unit = self.settings["unit"] if m.unit == "nats" else m.unit
            summaries.append(m.summary + (f" ({unit})" if unit else ""))
        table = aligned(rows)
        width = max(map(len, table))
        lines = [describe(self.settings)]
        lines += [f"{line:<{width}}   {text}".rstrip() for line, text in zip(table, summaries, strict=True)]
        lines += [f"left out: {name} ({why})" for name, why in self.left_out.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        known = [MEASURES[name] for name in self.values_by_name if name in MEASURES]
        rows = [[m.name, self._text(f"{m.name}_original"), self._text(m.name), m.summary] for m in known]
        left_out = [f"left out: {name} ({why})" for name, why in self.left_out.items()]
        head = ["measure", "original", "kept", describe(self.settings)]
        return html_table(head, rows) + items([*left_out, *self.notes])

    def _text(self, name: str) -> str:
        return format_value(self._cell(name))

    def _cell(self, name: str) -> Any:
        """A value for the table, with its error where it has one; None where there is no such value."""
        error = self.get(f"{name}_error")
        return self.get(name) if error is None else str(Estimate(self[name], error))


def describe(settings: Mapping[str, Any]) -> str:
    """The settings of measures, in a line."""
    s = settings
    beta = ", ".join(f"{b:g}" for b in ([s["beta"]] if isinstance(s["beta"], float | int) else s["beta"]))
    return f"{s['entropy']} entropy in {s['unit']}, beta {beta}, alpha {s['alpha']:g}, {s['mixture']} mixture"


@checked
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
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Report:
    """What H keeps of G: information, connectivity, spectrum, clustering, communities, distances, centralities.

    Parameters
    ----------
    G, H : object
        As in :func:`graphpri.divergence`: a graph, and another one, a result of ``sparsify`` or a mask.
    beta, alpha, mixture : optional
        Those of the objective; where absent, those that H was made with if it is a result of ``sparsify``,
        and 50, 0 and ``"equation"`` otherwise.
    entropy : {"auto", "exact", "stochastic", "degree", "local"}
        How entropies are computed. ``"auto"`` takes the one that H was made with where that was chosen by hand,
        and goes by size otherwise: exact up to components of 2000 nodes, stochastic with error bars up to
        a million edges, local up to 20 million, degree above.
    measures : str or iterable of str
        ``"all"``, ``"core"`` (those that take time in proportion to the edges), or names of
        :data:`graphpri.measures.MEASURES`. What is too costly at the graph's size, or needs a library that is not
        installed, is left out, and the report says so; a measure asked for by name is computed at any size.
    unit : {"nats", "bits"}
        Of entropy, divergence and objective.
    seed : int
        For the nodes that distances in large graphs are measured from, and for random vectors.
    weight, directed, loops, parallel, negative, zero, source, target
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
    MissingExtraError
        For a measure asked for by name that needs a library which is not installed.

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
    whole("seed", seed)
    if entropy != "auto":
        entropy_named(entropy)
    loaded, kept = load_pair(G, H, Policies(weight, directed, loops, parallel, negative, zero, source, target))
    graph = loaded.graph
    # A result of sparsify tells what it was made with; graphs and masks don't.
    is_result = isinstance(getattr(H, "kept", None), Graph) and hasattr(H, "settings")
    defaults: dict[str, Any] = {"beta": BUDGET_BETA, "alpha": 0.0, "mixture": "equation", "entropy_by": "auto"}
    defaults.update(H.settings if is_result else {})
    objective = Objective(
        graph,
        defaults["beta"] if beta is None else beta,
        defaults["alpha"] if alpha is None else alpha,
        "degree",
        defaults["mixture"] if mixture is None else mixture,
    )
    by_hand = entropy == "auto" and defaults["entropy_by"] != entropy_for(graph)
    view = view_of(kept, objective, defaults["entropy_by"] if by_hand else entropy, unit, seed)
    origin, settings = view.origin, view.settings
    if entropy == "auto" and settings.entropy != "exact" and view.overlay.graph.n_edges > STOCHASTIC_EDGES:
        view.note(f'entropies are by {settings.entropy} at this size; entropy="stochastic" estimates the exact ones')
    chosen, left_out = choose(measures, max(graph, kept, key=lambda g: g.n_edges))
    values = evaluate(view, chosen)
    if is_result and getattr(H, "before", None) is not None:
        view.note(_changes_in_words(H))
    note_scale(view, chosen)
    notes = (*loaded.notes, *_weights_differ(graph, kept), *origin.notes, *view.notes)
    return Report(values, left_out, tuple(dict.fromkeys(notes)), asdict(settings))


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


SCALED = ("quadratic_error", "eigenvalue_error", "spectral_distance", "flow_ratio")
"""Measures that one factor for all weights changes."""
_SHORT = 0.9
"""Share of the original's weight below which the missing rest is what these measure first."""


def note_scale(view: View, chosen: Iterable[Measure]) -> None:
    """Say so where weights as given make measures tell how much of the weight is missing."""
    named = [m.name for m in chosen if m.name in SCALED]
    before = view.overlay.original.max()
    share = float((view.overlay.kept / before).sum()) / float((view.overlay.original / before).sum())
    if named and share < _SHORT:
        view.note(
            f"weights as given add up to less than the original's, which {', '.join(named)} "
            f'tell{"s" * (len(named) < 2)} first: reweight="rescale" holds the sum'
        )


def changed(result: Any) -> dict[str, tuple[float, float]]:
    """What new weights of a result of ``sparsify`` changed: measures before and after, where they can be had in time.

    D, the error of the quadratic form and that of the lowest eigenvalues, by the entropy that the result was made with,
    the local one where that was estimated.
    """
    graph, by = result.original, result.settings["entropy_by"]
    s = Settings(BUDGET_BETA, 0.0, "local" if by == "stochastic" else by, result.settings["mixture"], "nats", 0)
    chosen, _ = choose("all", graph)
    kinds = [m for m in chosen if m.name in ("divergence", "quadratic_error", "eigenvalue_error")]
    origin = View(graph, s)
    before, after = (evaluate(View(kept, s, origin), kinds) for kept in (result.before, result.kept))
    return {name: (before[name], after[name]) for name in before}


def _changes_in_words(result: Any) -> str:
    values = ", ".join(f"{name} {before:.4g} -> {after:.4g}" for name, (before, after) in changed(result).items())
    return f'reweight="{result.settings["reweight"]}" changed {values}'


def _weights_differ(graph: Graph, kept: Graph) -> list[str]:
    if graph.is_weighted and not kept.is_weighted:
        return ["G has weights and H has none: H's edges weigh 1 each"]
    if kept.is_weighted and not graph.is_weighted:
        return ["H has weights and G has none: G's edges weigh 1 each"]
    return []
