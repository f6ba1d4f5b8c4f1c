"""Methods side by side: every method at every budget, measured, as one tidy table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from graphpri._arguments import checked, seconds, whole
from graphpri._entropy.by_name import entropy_for
from graphpri._entropy.stochastic import Estimate
from graphpri._objective import Mixture, Objective, beta_for
from graphpri._output import aligned, format_value, items
from graphpri._output import table as html_table
from graphpri._sparsify import Sparsified, check_weights, several, sparsify
from graphpri.baselines import find
from graphpri.errors import (
    ArgumentError,
    GraphPRIError,
    Interrupted,
    MissingExtraError,
    Note,
    OptionError,
    argument,
    did_you_mean,
    marked,
    named,
    worded,
)
from graphpri.graph import Directed, Loops, Negative, Parallel, Zero
from graphpri.interop import Policies, Source, load
from graphpri.io import tables
from graphpri.io.pieces import Pieces
from graphpri.measures import MEASURES, Measure, Settings, View, choose
from graphpri.measures.information import check_edges, check_unit
from graphpri.measures.registry import Unit
from graphpri.measures.reports import describe, note_scale
from graphpri.solvers.budgeted import EffortName
from graphpri.solvers.reweight import ReweightName, asked

MethodWithOptions = str | tuple[str, Mapping[str, Any]]
_FIXED = ("G", "keep", "seed", "method", "callback", *(f.name for f in fields(Policies)))


class ComparisonStep(NamedTuple):
    """Where a comparison stands: passed to the callback after each row."""

    done: int
    total: int
    row: dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Sequence[dict[str, Any]]):
    """A table with a row for each method, budget and seed.

    A sequence of its rows; ``str()`` gives a readable table.

    Attributes
    ----------
    rows : list of dict
        Columns: ``method``, ``options`` (as text), ``beta`` where several were asked for, ``keep`` as asked, ``K``
        edges kept, ``seed``, the measures, ``seconds`` for sparsifying and ``status``. Behind a measure that is an
        estimate stands its standard error, as ``entropy_error``. Where a combination can't be done, ``status``
        starts with ``"error: "``, ``K`` is None and the measures are NaN.
    measures : tuple of str
        The measures' columns.
    original : dict of str to float
        Those measures of the original graph that are one graph's.
    left_out : dict of str to str
        Measures that cost too much at this size, and why.
    notes : tuple of str
        How the graph was read, and what to know about some values.
    settings : dict of str to object
        β, α, the entropy, the mixture and the unit by which all rows are measured.

    Examples
    --------
    >>> import networkx as nx
    >>> table = compare(nx.karate_club_graph(), ["pri", "random"], [0.3, 0.6], measures=["divergence"], effort="fast")
    >>> table
    Comparison(4 rows, 1 measures)
    >>> [row["K"] for row in table], table.best("divergence", keep=0.3)["method"]
    ([23, 47, 23, 47], 'pri')
    >>> table.to_pandas().shape
    (4, 8)
    """

    rows: list[dict[str, Any]]
    measures: tuple[str, ...]
    original: dict[str, float]
    left_out: dict[str, str]
    notes: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Comparison({len(self)} rows, {len(self.measures)} measures)"

    def __str__(self) -> str:
        return worded(self.message)

    @property
    def message(self) -> str:
        """The text with arguments marked."""
        hidden = {"status", "edges", *self._errors()}
        columns = [c for c in self.columns if c not in hidden and not self._says_nothing(c)]
        head = dict.fromkeys(("beta", "keep", "K", "seed", "seconds")) | {"method": "(original)", "options": ""}
        head |= {name: self.original.get(name) for name in self.measures}
        head |= {name: self.original.get(name) for name in self._errors()}
        lines = [describe(self.settings)] if self.settings else []
        lines += aligned([columns, *([_shown(row, c) for c in columns] for row in [head, *self.rows])], left=2)
        failed: dict[str, list[str]] = {}
        for row in filter(_failed, self.rows):
            failed.setdefault(marked(row["status"]), []).append(f"{row['method']} at keep {row['keep']}")
        lines += [f"{status} ({', '.join(dict.fromkeys(where))})" for status, where in failed.items()]
        lines += [f"left out: {name} ({why})" for name, why in self.left_out.items()]
        return "\n".join(lines + [f"note: {marked(note)}" for note in self.notes])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        columns = [c for c in self.columns if c not in {"status", *self._errors()} and not self._says_nothing(c)]
        rows = [[_in_cell(_shown(row, c)) for c in columns] for row in self.rows]
        return html_table(columns, rows) + items(self.notes)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        errors = self._errors()
        measured = [c for name in self.measures for c in (name, f"{name}_error") if c == name or c in errors]
        beta = ["beta"] if self.rows and "beta" in self.rows[0] else []
        return ["method", "options", *beta, "keep", "K", "seed", *measured, "seconds", "status"]

    def _errors(self) -> set[str]:
        """Columns of standard errors."""
        return {c for row in self.rows for c in row if c.endswith("_error") and c[:-6] in self.measures}

    @checked
    def best(
        self, measure: str | None = None, keep: float | int | None = None, beta: float | None = None
    ) -> dict[str, Any]:
        """The row that is best by a measure; of several, the first.

        Parameters
        ----------
        measure : str
            One of `measures` for which less, or more, means that more of the graph was kept; an error names them.
        keep : float or int, optional
            Only rows with this budget.
        beta : float, optional
            Only rows with this β, of a table with several.

        Raises
        ------
        OptionError
            For a measure that is not a column or has no better end, and where no row has a value.
        """
        measure, better = self._ranked(measure)
        asked = {name: value for name, value in (("keep", keep), ("beta", beta)) if value is not None}
        fitting = (r for r in self.rows if all(r.get(name) == value for name, value in asked.items()))
        rows = [r for r in fitting if not np.isnan(r[measure])]
        if not rows:
            at = " and ".join(argument(name, value) for name, value in asked.items())
            raise OptionError(f"no row{at and f' at {at}'} has a value of {measure!r}")
        return (min if better == "low" else max)(rows, key=lambda row: row[measure])

    def _ranked(self, measure: str | None) -> tuple[str, str]:
        """A measure that has a better end, and which: low or high."""
        ends = {name: better for name in self.measures if (better := MEASURES[name].better) is not None}
        if measure in ends:
            return measure, ends[measure]
        choose = (
            f"choose from {', '.join(map(repr, ends))}" if ends else "none of the table's measures has a better end"
        )
        if measure is None:
            raise ArgumentError(f"by which {named('measure')}? {choose}")
        if measure in self.measures:
            why = "neither less nor more of it is better"
        elif measure in self.columns:
            why = f"it measures nothing that was kept; sorted(table, key=lambda row: row[{measure!r}]) ranks by it"
        else:
            why = "the table has no such measure"
        raise OptionError(f"{argument('measure', measure)}: {why}; {choose}{did_you_mean(measure, ends, 0.6)}")

    @checked
    def best_per_budget(self, measure: str | None = None, beta: float | None = None) -> list[dict[str, Any]]:
        """The rows that are best by a measure, one for each budget, in the order of the table.

        Parameters
        ----------
        measure, beta
            As of :meth:`best`, which takes the best of all budgets: mostly one of the largest.

        Raises
        ------
        OptionError
            As :meth:`best`.

        Examples
        --------
        >>> import networkx as nx
        >>> table = compare(nx.karate_club_graph(), ["pri", "random"], [0.3, 0.6], effort="fast")
        >>> [(row["K"], row["method"]) for row in table.best_per_budget("divergence")]
        [(23, 'pri'), (47, 'pri')]
        """
        self.best(measure, beta=beta)  # refuses what has no value
        name, end = self._ranked(measure)
        budgets: dict[float | int | None, list[dict[str, Any]]] = {}
        for row in self.rows:
            if not np.isnan(row[name]) and (beta is None or row.get("beta") == beta):
                budgets.setdefault(row["keep"], []).append(row)
        better = min if end == "low" else max
        return [better(rows, key=lambda row: row[name]) for rows in budgets.values()]

    @checked
    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV, with a header; the measures with all their digits.

        A file of that name is replaced when the new one is complete, and stays as it is where that can't be written.

        Raises
        ------
        FileError
            Where the file can't be written; names it.
        """
        tables.write(Path(path), self.rows)

    def to_pandas(self) -> Any:
        """The table as a pandas ``DataFrame``.

        Raises
        ------
        MissingExtraError
            Where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("pandas", "pandas", "to_pandas()") from error
        return pd.DataFrame(self.rows, columns=self.columns)

    def _says_nothing(self, column: str) -> bool:
        if column == "options":
            return not any(row["options"] for row in self.rows)
        return column == "seed" and len({row["seed"] for row in self.rows}) == 1


@checked
def compare(
    G: Any,
    methods: MethodWithOptions | Iterable[MethodWithOptions],
    keep: float | int | Iterable[float | int | None] | None,
    *,
    beta: float | Iterable[float] | None = None,
    alpha: float = 0.0,
    seeds: int | Iterable[int] = (0,),
    connected: bool | None = False,
    measures: str | Iterable[str] = "core",
    reweight: ReweightName | bool | None = None,
    entropy: str = "auto",
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    effort: EffortName | None = None,
    time_limit: float | None = None,
    callback: Callable[[ComparisonStep], object] | None = None,
    store: str | os.PathLike[str] | None = None,
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Comparison:
    """Sparsify a graph by several methods at several budgets, and measure what each keeps.

    Parameters
    ----------
    G : object
        As in :func:`graphpri.sparsify`.
    methods : str, pair, or iterable of these
        Names of methods, ``"pri"`` among them; a pair of a name and a dict gives options to that method, or
        other arguments of :func:`graphpri.sparsify`: ``("pri", {"beta": 2, "reweight": "divergence"})``,
        ``("local-degree", {"exponent": 0.5})``.
    keep : float, int, None, or iterable of these
        Budgets: shares or numbers of edges; None leaves the size to β, for ``"pri"`` only.
    beta : float or iterable of float, optional
        β of what method ``"pri"`` minimises, unless its own options say otherwise; and, in every row, of the
        measure ``objective``. Several make all rows for each, with a column ``beta``. Where absent that of
        :func:`graphpri.sparsify`, for budgets and, if it is among them, for None.
    alpha, entropy, mixture
        Likewise, and of the measures ``entropy`` and ``divergence``.
    seeds : int or iterable of int
        Each combination runs once with each.
    connected : bool, optional
        Keep the number of components.
    measures : str or iterable of str
        As in :func:`graphpri.report`.
    reweight
        New weights after every method, unless its own options say otherwise; as in :func:`graphpri.sparsify`.
    unit : {"nats", "bits"}
        Of entropy, divergence and objective.
    effort, time_limit
        For method ``"pri"``, as in :func:`graphpri.sparsify`; `time_limit` is per row.
    callback : callable, optional
        Gets a :class:`ComparisonStep` after each row; returning True stops with the rows so far.
    store : path, optional
        Folder that keeps each finished row; a later call with the same graph and arguments goes on from them.
    weight, directed, loops, parallel, negative, zero, source, target
        As in :func:`graphpri.as_graph`.

    Returns
    -------
    Comparison
        Rows by β, then method, then budget, then seed.

    Raises
    ------
    GraphError
        For a graph that can't be sparsified.
    OptionError
        For unknown methods and measures, and where not one combination can be done; one that can't among
        others that can is a row that says why.
    FileError
        Where `store` can't be written.
    Interrupted
        On Ctrl-C: its ``result`` is the :class:`Comparison` of the finished rows.

    Examples
    --------
    >>> import networkx as nx
    >>> table = compare(nx.karate_club_graph(), ["pri", "random"], [0.3, 0.6], beta=2)
    >>> len(table), table.best("objective", keep=0.3)["method"]
    (4, 'pri')
    """
    named = _methods(methods)
    budgets, all_seeds = several(keep, "keep"), several(seeds, "seeds")
    for seed in all_seeds:
        whole("seeds", seed)
    seconds("time_limit", time_limit)
    loaded = load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target))
    graph = loaded.graph
    check_edges(graph, "the graph")
    chosen, left_out = choose(measures, graph)
    check_unit(unit)
    by = entropy_for(graph, entropy)
    given = {"alpha": alpha, "connected": connected, "reweight": asked(reweight), "entropy": by, "mixture": mixture}
    solver = {name: value for name, value in (("effort", effort), ("time_limit", time_limit)) if value is not None}
    tables: list[_Table] = []
    if beta is None:
        kinds = dict.fromkeys(k is None for k in budgets)
        betas = [(beta_for(None, None if free else 1), [k for k in budgets if (k is None) == free]) for free in kinds]
    else:
        betas = [(b, budgets) for b in several(beta, "beta")]
    cells: list[tuple[_Table, tuple[str, dict[str, Any]], Any, Any]] = []
    for b, sizes in betas:
        checked = Objective(graph, b, alpha, "degree", mixture)
        settings = Settings(checked.beta, checked.alpha, by, checked.mixture, unit, 0)
        tables.append(_Table(loaded, View(graph, settings), chosen, given | {"beta": b}, solver, len(betas) > 1))
        cells += product(tables[-1:], named, sizes, all_seeds)
    pieces = Pieces(None if store is None else Path(store))
    rows: list[dict[str, Any]] = []

    def compared() -> Comparison:
        if all(map(_failed, rows)):
            failure = tables[0].failures[0]
            raise OptionError(f"no combination could be done; the first, {rows[0]['method']}: {failure.message}")
        origin = tables[0].origin
        given = [table.origin.settings.beta for table in tables]
        asked = asdict(origin.settings) | ({"beta": given} if len(betas) > 1 else {})
        notes = dict.fromkeys(
            note for known in (loaded.notes, origin.notes, *(t.notes for t in tables)) for note in known
        )
        original = _measured(origin, [m for m in chosen if m.both])
        return _filled(Comparison(rows, tuple(m.name for m in chosen), original, left_out, tuple(notes), asked))

    try:
        for table, (name, options), k, seed in cells:
            rows.append(table.row(name, options, k, seed, pieces))
            if callback is not None and callback(ComparisonStep(len(rows), len(cells), rows[-1])) is True:
                break
        return compared()
    except KeyboardInterrupt:
        if all(map(_failed, rows)):
            raise KeyboardInterrupt from None
        raise Interrupted(compared) from None


def _filled(found: Comparison) -> Comparison:
    """The comparison with errors in all rows: also in those that failed, and of exact values."""
    for row in found.rows:
        missing = np.nan if _failed(row) else 0.0
        full = {column: row.get(column, missing) for column in found.columns}
        row.clear()
        row.update(full)
    return found


def _measured(view: View, chosen: Iterable[Measure]) -> dict[str, float]:
    """Values of measures by name, and their standard errors where they are estimates."""
    values: dict[str, float] = {}
    for m in chosen:
        values[m.name] = m.compute(view)
        if m.name in view.errors:
            values[f"{m.name}_error"] = view.errors[m.name]
    return values


def _in_cell(value: Any) -> str | float | None:
    """A value as a cell of a page."""
    if value is None or isinstance(value, str | int | float):
        return value
    return format_value(value)


def _shown(row: Mapping[str, Any], column: str) -> Any:
    """A cell of the printed table: an estimate with its error."""
    error = row.get(f"{column}_error")
    return str(Estimate(row[column], error)) if error else row[column]


@dataclass
class _Table:
    """Makes the rows for one β: sparsifies, times, measures."""

    source: Source
    origin: View
    chosen: list[Measure]
    given: dict[str, Any]
    solver: dict[str, Any]
    tells_beta: bool
    notes: list[str] = field(default_factory=list[str])
    failures: list[GraphPRIError] = field(default_factory=list[GraphPRIError])

    def row(self, name: str, options: dict[str, Any], keep: Any, seed: Any, pieces: Pieces) -> dict[str, Any]:
        """The row of one combination, failed or not; what `pieces` keeps is not done again."""
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        beta = {"beta": self.origin.settings.beta} if self.tells_beta else {}
        head: dict[str, Any] = {"method": name, "options": shown, **beta, "keep": keep, "K": None, "seed": seed}
        asked = name, options, keep, seed
        start = time.perf_counter()
        try:
            check_weights(name, self.source)
            found = pieces.get(self._key(*asked) if pieces.folder else [], lambda: self._made(*asked))
        except GraphPRIError as error:
            self.failures.append(error)
            nothing = dict.fromkeys((m.name for m in self.chosen), np.nan)
            return {
                **head,
                **nothing,
                "seconds": time.perf_counter() - start,
                "status": Note(f"error: {error.message}"),
            }
        self.notes += found["notes"]
        for note in found["notes of the original"]:
            self.origin.note(note)
        return {**head, **found["row"]}

    def _key(self, *asked: Any) -> list[Any]:
        """All that a row depends on."""
        graph, settings = self.origin.graph, asdict(self.origin.settings)
        labels = None if graph.labels is None else [repr(graph.label(i)) for i in range(graph.n_nodes)]
        return ["row", graph, labels, settings, self.given, self.solver, [m.name for m in self.chosen], *asked]

    def _made(self, name: str, options: dict[str, Any], keep: Any, seed: Any) -> dict[str, Any]:
        """What is kept of a row that could be done: its values, and what to know about them."""
        start = time.perf_counter()
        result = self._sparsify(name, options, keep, seed)
        seconds = time.perf_counter() - start
        view = View(result.kept, self.origin.settings, self.origin)
        values = _measured(view, self.chosen)
        note_scale(view, self.chosen)
        row = {"K": result.kept.n_edges, **values, "seconds": seconds, "status": result.status}
        return {"row": row, "notes": view.notes, "notes of the original": self.origin.notes}

    def _sparsify(self, name: str, options: dict[str, Any], keep: Any, seed: Any) -> Sparsified:
        if unusable := sorted(options.keys() & set(_FIXED)):
            raise OptionError(f"options of {name!r}: {', '.join(unusable)} is an argument of compare itself")
        solver = dict(self.solver) if name == "pri" else {}
        if options.get("solver") == "gumbel":
            solver.pop("effort", None)
        arguments = {**self.given, **solver, **options}
        return sparsify(self.origin.graph, keep=keep, method=name, seed=seed, **arguments)


def _methods(given: Any) -> list[tuple[str, dict[str, Any]]]:
    """Names and options of the methods; a single one may stand alone, a pair with options included."""
    pair = isinstance(given, tuple) and len(cast("tuple[Any, ...]", given)) == 2 and isinstance(given[1], Mapping)
    return [_named(method) for method in ([given] if pair else several(given, "methods"))]


def _named(method: Any) -> tuple[str, dict[str, Any]]:
    """Name and options of a method; refuses unknown names."""
    name, options = (method, {}) if isinstance(method, str) else _pair(method)
    if name != "pri":
        find(name, besides=("pri",))
    return name, options


def _pair(method: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(method, Sequence):
        parts = list(cast("Sequence[Any]", method))
        if len(parts) == 2 and isinstance(parts[0], str) and isinstance(parts[1], Mapping):
            return parts[0], dict(cast("Mapping[str, Any]", parts[1]))
    raise OptionError(f"methods: {method!r} is neither a name nor a pair of a name and a dict of options")


def _failed(row: dict[str, Any]) -> bool:
    return row["K"] is None
