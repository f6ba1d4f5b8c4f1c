"""Which method, with which settings, for a purpose: those that can be afforded, measured on the graph at hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from graphpri._arguments import checked, whole
from graphpri._compare import ComparisonStep
from graphpri._entropy.by_name import entropy_for
from graphpri._objective import BUDGET_BETA, Objective
from graphpri._output import aligned, items
from graphpri._output import table as html_table
from graphpri._selection import count_edges, forest_size
from graphpri._sparsify import Sparsified, methods, reweighted_result, sparsify
from graphpri.errors import GraphPRIError, Note, OptionError, argument, marked, worded
from graphpri.graph import Directed, FloatArray, Graph, Loops, Negative, Parallel, Zero
from graphpri.interop import Policies, load
from graphpri.measures import MEASURES, Settings, View
from graphpri.measures.reports import evaluate
from graphpri.solvers.reweight import ReweightName, rescaled, reweighted

Purpose = Literal[
    "information",
    "hubs",
    "spectrum",
    "flows",
    "connectivity",
    "distances",
    "centralities",
    "degrees",
    "clustering",
    "communities",
]

PURPOSES: dict[str, dict[str, str]] = {
    "information": {"divergence": "low"},
    "spectrum": {"quadratic_error": "low", "eigenvalue_error": "low", "spectral_distance": "low"},
    "flows": {"flow_ratio": "one"},
    "connectivity": {"components": "low", "connected_pairs": "high", "cut_off": "low"},
    "distances": {"kept_distances": "high"},
    "centralities": {
        "betweenness_rank": "high",
        "closeness_rank": "high",
        "eigenvector_rank": "high",
        "pagerank_rank": "high",
    },
    "degrees": {"degree_shape_ks": "low", "degree_rank": "high"},
    "clustering": {"clustering": "same"},
    "communities": {"community_nmi": "high", "community_ari": "high"},
    "hubs": {"centralisation": "high", "entropy": "low"},
}
"""Measures by what they are for, and what is best: low, high, the original's value (same), or a ratio of 1 (one)."""

_DISTANCES = "connected_pairs", "stretch"
"""What :func:`kept_distances` takes."""


class Way(NamedTuple):
    """A method and its settings.

    Attributes
    ----------
    method : str
    beta : float or None
        Of method "pri".
    connected : bool
    reweight : {"rescale", "divergence"} or None
    """

    method: str
    beta: float | None = None
    connected: bool = False
    reweight: ReweightName | None = None


BETAS = (0.5, 2, 4, 8, 16, 50, 1000)
ALL_EDGES, ALL_NODES = 5000, 1000
"""Up to which all methods are tried, and Graph-PRI at all of these β."""
_REFINED = 20, 4
"""Ways that get weights of least D, the best by weights as given or rescaled: where all are tried, and a few."""
_EIGENVALUES, _EIGENVALUE_EDGES = ("eigenvalue_error", "spectral_distance"), 20_000
"""Measures that are left out above so many edges: of 91 286 they take 5 and 4 CPU s for each of sixteen ways."""
_STEPS = 30
"""Of the search for these weights, which come within 2 % of its end in a small part of the time."""

_NEW_WEIGHTS: dict[str, tuple[ReweightName, ...]] = {
    "information": ("divergence",),
    "spectrum": ("rescale", "divergence"),
    "flows": ("rescale", "divergence"),
    "centralities": ("divergence",),
    "communities": ("divergence",),
}
"""New weights that measures of a purpose see, and that serve it on some of the landscape's graphs."""


def _pri(*betas: float, connected: tuple[bool, ...] = (False, True)) -> tuple[Way, ...]:
    return tuple(Way("pri", beta, joined) for beta in betas for joined in connected)


def _both(*names: str) -> tuple[Way, ...]:
    return tuple(Way(name, None, joined) for name in names for joined in (False, True))


_RANDOM = Way("random")
WAYS: dict[str, tuple[Way, ...]] = {
    "information": (*_pri(1000, 50), *_both("spanning-forest")),
    "spectrum": (
        *_pri(50, 1000),
        *_both("spanning-forest", "effective-resistance-sampling"),
        Way("local-degree"),
        Way("forest-fire", None, True),
    ),
    "flows": (
        *_both("effective-resistance-sampling", "spanning-forest"),
        *_pri(50, 4, connected=(True,)),
        *_pri(50, connected=(False,)),
        Way("forest-fire", None, True),
        Way("noise-corrected"),
        Way("local-degree"),
    ),
    "connectivity": (*_both("spanning-forest", "local-degree"), Way("local-similarity"), *_pri(50)),
    "distances": (*_both("edge-betweenness", "local-degree"), *_pri(0.5, 2), Way("disparity", None, True)),
    "centralities": (*_pri(16, 8, 50, 2), *_both("local-degree", "effective-resistance-sampling")),
    "degrees": (*_pri(50, 1000), *_pri(16, 4, connected=(False,)), Way("local-similarity"), Way("jaccard")),
    "clustering": (
        *_both("scan", "algebraic-distance"),
        *(Way(name) for name in ("simmelian", "jaccard", "triangles", "disparity", "local-degree")),
        *_pri(2, 4),
    ),
    "communities": (
        *_pri(50, 8, 1000),
        *_both("local-similarity", "algebraic-distance", "spanning-forest", "noise-corrected"),
    ),
    "hubs": (*_pri(0.5, 2), *_both("local-degree"), Way("disparity"), Way("edge-betweenness")),
}
"""What is tried on larger graphs: few ways of which two or more are near the best on the landscape's graphs."""


def ways_for(purpose: str, graph: Graph, k: int) -> list[Way]:
    """What is tried, weights as given, the reference of random edges first; what a budget rules out is left out."""
    ways = list(WAYS[purpose])
    if graph.n_edges <= ALL_EDGES and graph.n_nodes <= ALL_NODES:
        ways += [*_pri(*BETAS), *_both(*(name for name in methods() if name != "pri"))]
    return [w for w in dict.fromkeys([_RANDOM, *ways]) if k >= forest_size(graph) or not w.connected]


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What does best for a purpose on one graph, and what it was compared with.

    ``str()`` gives the best of the table.

    Attributes
    ----------
    purpose : str
    result : Sparsified
        Of the way that did best.
    ways : tuple of Way
        Those that were tried, best first.
    rows : list of dict
        A row for each: ``loss`` is what it loses in percent of what random edges lose, mean over the measures, so that
        0 is ideal and 100 no better than chance; then the ``method``, ``beta``, ``connected`` and ``reweight``, the
        edges ``K``, the measures, and ``seconds`` of processor time. A measure by which nothing loses is left out of
        the mean; where random edges alone lose nothing by one, 100 is a loss of 1 (the whole of it, for most).
    failed : list of dict
        Ways that can't be done: ``method``, ``beta``, ``connected``, and ``status`` says why.
    not_tried : tuple of str
        Methods that other graphs speak against for this purpose, on graphs where all would take long.

    Examples
    --------
    >>> import networkx as nx
    >>> found = choose(nx.florentine_families_graph(), 16, "degrees")
    >>> found.best == found.ways[0], found.not_tried, {row["K"] for row in found.rows}
    (True, (), {16})
    """

    purpose: str
    result: Sparsified
    ways: tuple[Way, ...]
    rows: list[dict[str, Any]] = field(repr=False)
    failed: list[dict[str, Any]] = field(repr=False)
    not_tried: tuple[str, ...]

    @property
    def best(self) -> Way:
        """The way that did best."""
        return self.ways[0]

    @property
    def runner_up(self) -> Way | None:
        """The way that came next; None where there is no other."""
        return self.ways[1] if self.ways[1:] else None

    def __repr__(self) -> str:
        return f"Choice({self.purpose}: {_in_words(self.best)}, of {len(self.ways)} ways)"

    def __str__(self) -> str:
        return worded(self.message)

    @property
    def message(self) -> str:
        """The text with arguments marked."""
        columns, shown = self._table()
        lines = [f"for {self.purpose}: {_in_words(self.best)}", *aligned([columns, *shown], left=2), *self._remarks()]
        return "\n".join(lines + [f"note: {marked(note)}" for note in self.result.notes])

    def _repr_html_(self) -> str:
        """What a notebook shows: the best, and the table."""
        columns, shown = self._table()
        head = f"<p>for {self.purpose}: <b>{_in_words(self.best)}</b></p>"
        notes = [worded(text) for text in (*self._remarks(), *self.result.notes)]
        return head + html_table(columns, shown) + items(notes)

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows that are shown: the best ways, the best of Graph-PRI, and random edges."""
        shown, others = self.rows[:_SHOWN], self.rows[_SHOWN:]
        own = next((row for row in others if row["method"] == "pri"), None)
        shown += [own] if own is not None and all(row["method"] != "pri" for row in shown) else []
        shown += [row for row in others if _way(row) == _RANDOM]
        columns = [name for name in self.rows[0] if name != "seconds"]
        return columns, [[_shown(row[name]) for name in columns] for row in shown]

    def _remarks(self) -> list[str]:
        """How many ways are not shown, what the scale is, what could not be done and what was not tried."""
        lines: list[str] = []
        if (more := len(self.rows) - len(self._table()[1])) > 0:
            lines.append(f"and {more} ways that lose as much or more")
        chance = next(row["loss"] for row in self.rows if _way(row) == _RANDOM)
        if len(self.rows) > 1 and self.rows[0]["loss"] == self.rows[-1]["loss"]:
            lines.append("all ways are level here, random edges too: what was measured tells none from another")
        elif chance == self.rows[0]["loss"]:
            lines.append("random edges lose no more than the best here")
        if chance not in (0, 100):
            lines.append(f"random edges lose {chance:.4g} here and not 100: nothing by some of the measures")
        for status in dict.fromkeys(row["status"] for row in self.failed):
            names = dict.fromkeys(row["method"] for row in self.failed if row["status"] == status)
            lines.append(f"not done: {', '.join(names)}: {marked(status)}")
        if self.not_tried:
            lines.append(f"not tried, as other graphs speak against them: {', '.join(self.not_tried)}")
        return lines


_SHOWN = 10


def _way(row: dict[str, Any]) -> Way:
    return Way(row["method"], row["beta"], row["connected"], row["reweight"])


def _in_words(way: Way) -> str:
    words = [way.method if way.beta is None else f"{way.method} with beta {way.beta:g}"]
    words += ["connected"] * way.connected + [f"weights by {way.reweight}"] * (way.reweight is not None)
    return ", ".join(words)


def _shown(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else value


@checked
def choose(
    G: Any,
    keep: float | int,
    purpose: Purpose,
    *,
    new_weights: bool = True,
    seed: int = 0,
    callback: Callable[[ComparisonStep], object] | None = None,
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Choice:
    """Sparsify by what serves a purpose best: methods and settings are tried, and measured on this graph.

    Parameters
    ----------
    G : object
        As in :func:`graphpri.sparsify`.
    keep : float or int
        Share or number of edges.
    purpose : str
        What the kept graph is for: "information" (least divergence), "hubs", "spectrum", "flows", "connectivity",
        "distances", "centralities", "degrees", "clustering" or "communities".
    new_weights : bool
        Whether ways that give the kept edges other weights are tried as well.
    seed : int
        Of methods that draw at random.
    callback : callable, optional
        Gets a step, as that of :func:`graphpri.compare`, after each way; returning True ends the trials.
    weight, directed, loops, parallel, negative, zero, source, target
        As in :func:`graphpri.as_graph`.

    Returns
    -------
    Choice

    Raises
    ------
    OptionError
        Where no measure of the purpose is computed at this size, and where nothing that was tried can be done.

    Notes
    -----
    Up to 5000 edges and 1000 nodes all methods are tried, and Graph-PRI at seven β; on larger graphs the few that did
    best on other graphs (``graphpri reproduce landscape``). Each is tried connected, where the budget allows it, and
    not; weights of least divergence after those that did best without. Searches are brief (``effort="fast"``).
    Above 20 000 edges the spectrum is judged by the quadratic form alone, as eigenvalues take seconds for each way.

    Examples
    --------
    >>> import networkx as nx
    >>> found = choose(nx.florentine_families_graph(), 0.8, "hubs")
    >>> found.result.kept.n_edges, found.rows[0]["loss"] < 100
    (16, True)
    """
    loaded = load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target))
    graph = loaded.graph
    measures = _measures(purpose, graph)
    if not measures:
        others = ", ".join(name for name in PURPOSES if _measures(name, graph))
        names = _DISTANCES if purpose == "distances" else PURPOSES[purpose]
        reasons = {name: MEASURES[name].cost.refusal(graph) for name in names}
        name, reason = next((name, reason) for name, reason in reasons.items() if reason is not None)
        raise OptionError(
            f"{argument('purpose', purpose)} can't be measured on {graph.n_nodes} nodes and {graph.n_edges} edges: "
            f"{name} {reason.removesuffix('; ask for it by name')}. Other purposes can: {others}"
        )
    k = count_edges(keep, graph.n_edges)
    ways = ways_for(purpose, graph, k)
    kinds = _NEW_WEIGHTS.get(purpose, ()) if new_weights else ()
    most = _REFINED[0 if len(ways) > len(WAYS[purpose]) + 1 else 1]
    trial = _Trial(graph, keep, purpose, measures, whole("seed", seed), callback)
    trial.total = len(ways) + (len(ways) if "rescale" in kinds else 0) + (most if "divergence" in kinds else 0)
    for way in ways:
        trial.run(way, "rescale" in kinds)
    if "divergence" in kinds:
        for way in list(dict.fromkeys(tried.way._replace(reweight=None) for _, tried in trial.ordered()))[:most]:
            trial.refine(way)
    tried = trial.ordered()
    if not tried:
        raise OptionError(
            f"nothing that was tried can be done; {trial.failed[0]['method']}: {trial.failed[0]['status']}"
        )
    (_, best), names = tried[0], {way.method for way in ways}
    result = trial.results[best.way._replace(reweight=None)]
    return Choice(
        purpose,
        reweighted_result(loaded, result, keep, best.way.reweight, best.weights),
        tuple(t.way for _, t in tried),
        [trial.row(*of) for of in tried],
        trial.failed,
        tuple(name for name in methods() if name not in names),
    )


class _Tried(NamedTuple):
    """A way, the weights that it leaves, what was measured, and the seconds of processor time that it took."""

    way: Way
    weights: FloatArray
    values: dict[str, float]
    seconds: float


class _Trial:
    """Runs ways on a graph and measures what each keeps."""

    def __init__(
        self,
        graph: Graph,
        keep: float | int,
        purpose: str,
        measures: list[str],
        seed: int,
        callback: Callable[[ComparisonStep], object] | None,
    ) -> None:
        self.graph, self.keep, self.purpose, self.seed, self.callback = graph, keep, purpose, seed, callback
        self.measures = [MEASURES[name] for name in measures]
        self.objective = Objective(graph, BUDGET_BETA, 0.0, entropy_for(graph, "auto"))
        self.origin = View(graph, Settings(BUDGET_BETA, 0.0, self.objective.entropy, "equation", "nats", seed))
        self.results: dict[Way, Sparsified] = {}
        self.tried: list[_Tried] = []
        self.failed: list[dict[str, Any]] = []
        self.total, self.is_over = 0, False

    def run(self, way: Way, rescale: bool) -> None:
        """Try a way with weights as it leaves them and, where that is asked for, times one factor."""
        if self.is_over:
            return
        start = time.process_time()
        own: dict[str, Any] = {} if way.beta is None else {"beta": way.beta, "effort": "fast"}
        try:
            found = sparsify(self.graph, self.keep, method=way.method, seed=self.seed, connected=way.connected, **own)
        except GraphPRIError as error:
            self.failed.append({**way._asdict(), "status": Note(error.message)})
            self.total -= 1 + rescale
            return
        self.results[way] = found
        self._measure(way, found, found.weights, start)
        if rescale:
            scaled = rescaled(self.objective, found.weights).weights
            self._measure(way._replace(reweight="rescale"), found, scaled, time.process_time())

    def refine(self, way: Way) -> None:
        """Try a way that was run with weights of least D."""
        if not self.is_over:
            start, found = time.process_time(), self.results[way]
            self._measure(
                way._replace(reweight="divergence"),
                found,
                reweighted(self.objective, found.mask, _STEPS).weights,
                start,
            )

    def _measure(self, way: Way, found: Sparsified, weights: FloatArray, start: float) -> None:
        view = View(self.graph.select(found.mask, weights), self.origin.settings, self.origin)
        values = evaluate(view, self.measures)
        if self.purpose == "distances":
            values["kept_distances"] = float(kept_distances(values["connected_pairs"], values["stretch"]))
        self.tried.append(_Tried(way, weights, values, time.process_time() - start))
        if self.callback is not None:
            step = ComparisonStep(len(self.tried), self.total, {**way._asdict(), **values})
            self.is_over = self.callback(step) is True

    def losses(self) -> FloatArray:
        """What each way loses, in percent of what random edges lose, mean over measures; shape (ways,)."""
        kinds = {name: kind for name, kind in PURPOSES[self.purpose].items() if name in self.tried[0].values}
        table = np.array([[lost(name, kind, t.values) for name, kind in kinds.items()] for t in self.tried])
        table = table[:, table.any(axis=0)]  # what nothing loses tells no way from another
        if not table.size:
            return np.zeros(len(self.tried))
        chance = table[[t.way for t in self.tried].index(_RANDOM)]
        # Where random edges lose nothing, a loss of one is as bad as chance.
        return np.array([nine_digits(x) for x in 100 * (table / np.where(chance > 0, chance, 1.0)).mean(axis=1)])

    def ordered(self) -> list[tuple[float, _Tried]]:
        """What was tried and what it loses, best first; of equal ones Graph-PRI first and random edges last.

        Then weights as given go before new ones, and what was tried first before the others.
        """
        losses = self.losses() if self.tried else np.empty(0)
        found = list(zip(losses.tolist(), self.tried, strict=True))
        last = {"pri": 0, _RANDOM.method: 2}
        return sorted(found, key=lambda one: (one[0], last.get(one[1].way.method, 1), one[1].way.reweight is not None))

    def row(self, loss: float, tried: _Tried) -> dict[str, Any]:
        """What the table says of a way."""
        k = int(self.results[tried.way._replace(reweight=None)].mask.sum())
        names = [name for name in PURPOSES[self.purpose] if name in tried.values]
        values = {name: tried.values[name] for name in names}
        return {"loss": loss, **tried.way._asdict(), "K": k, **values, "seconds": tried.seconds}


def _measures(purpose: str, graph: Graph) -> list[str]:
    """Measures of a purpose that are affordable on this graph, for each of the ways that are tried."""
    if purpose == "distances":
        return list(_DISTANCES) if all(MEASURES[name].affordable(graph) for name in _DISTANCES) else []
    skipped = _EIGENVALUES if graph.n_edges > _EIGENVALUE_EDGES else ()
    return [name for name in PURPOSES[purpose] if name not in skipped and MEASURES[name].affordable(graph)]


def kept_distances(connected_pairs: Any, stretch: Any) -> Any:
    """How well distances are kept: the share of pairs still connected over their mean stretch; 0 where there is none.

    Stretch alone looks at connected pairs only, and praises graphs that lose the far ones. Takes numbers or arrays.
    """
    return np.nan_to_num(np.divide(connected_pairs, stretch), nan=0.0)


def loss(kind: str, value: Any, original: Any) -> Any:
    """What is lost by a measure, least is best; `kind` as in `PURPOSES`. Takes numbers or arrays."""
    if kind in ("low", "high"):
        return value if kind == "low" else -value
    return abs(value - (1 if kind == "one" else original))


def nine_digits(value: float) -> float:
    """A value without what rounding does to it."""
    return float(f"{value:.9g}")


def purpose_ranks(purpose: str, rows: list[dict[str, Any]], original: dict[str, float]) -> FloatArray:
    """How rows of measures rank for a purpose: the mean share of the others that do better, in percent; 0 is best.

    Adds ``kept_distances`` to the rows where the purpose is distances.
    """
    return _ranks([_losses(purpose, row, original) for row in rows])


def _losses(purpose: str, row: dict[str, Any], original: dict[str, float]) -> list[float]:
    """What a row loses by each measure of the purpose, 0 or least is best; adds `kept_distances` to the row."""
    if purpose == "distances":
        row["kept_distances"] = float(kept_distances(row["connected_pairs"], row["stretch"]))
    kinds = {name: kind for name, kind in PURPOSES[purpose].items() if name in row}
    losses = [float(loss(kind, row[name], original.get(name))) for name, kind in kinds.items()]
    return [np.inf if np.isnan(value) else nine_digits(value) for value in losses]


def _ranks(losses: list[list[float]]) -> FloatArray:
    """Mean over measures of the share of others that do better, in percent; what differs by rounding is equal."""
    table = np.array(losses)
    better = (table[None, :, :] < table[:, None, :]).sum(axis=1)
    return 100 * better.mean(axis=1) / max(len(table) - 1, 1)


def lost(name: str, kind: str, values: dict[str, float]) -> float:
    """The loss from an ideal of 0: no component more than the original has, an entropy of 0, other measures of 1.

    A measure that is not defined is lost: 1.
    """
    value, original = nine_digits(values[name]), values.get(f"{name}_original", np.nan)
    ideal = -1.0 if kind == "high" else original if name == "components" else 0.0
    found = loss(kind, value, nine_digits(original)) - ideal
    return 1.0 if np.isnan(found) else nine_digits(found)
