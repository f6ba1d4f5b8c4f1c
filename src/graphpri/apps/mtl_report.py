"""Multi-task regression of a user's table: cross-validated comparison, final fit, files and a report."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from graphpri import _output
from graphpri._layout import spring
from graphpri._sparsify import methods
from graphpri.apps import Records
from graphpri.apps.mtl import MIN_DEGREE, GammaAfter, GraphMTL, TooFewEdgesError, check_leave_one_out
from graphpri.apps.mtl_data import Tasks, tasks_of
from graphpri.apps.mtl_protocol import (
    BASELINES,
    ModelErrors,
    Pruning,
    Split,
    evaluate,
    folds,
    mean_task_rmse,
    references,
    rmse,
    standardise,
)
from graphpri.baselines import find
from graphpri.errors import OptionError, argument
from graphpri.graph import FloatArray
from graphpri.io import ProgressCallback, tables
from graphpri.io.pieces import Pieces

NAMED = 60
"""Tasks up to which the picture has their names."""


@dataclass(frozen=True)
class TaskRequest:
    """What to fit and how.

    Parameters
    ----------
    task, target : str
        Columns of the table.
    features : tuple of str, or None
        Columns to learn from; all others where absent.
    keep, method, options, min_degree
        How the task graph is sparsified.
    folds, seed : int
        Of the cross-validation.
    parameters : mapping
        Of :class:`graphpri.apps.mtl.GraphMTL`.

    Examples
    --------
    >>> TaskRequest("school", "score", keep=0.8).features is None
    True
    """

    task: str
    target: str
    features: tuple[str, ...] | None = None
    keep: float | int = 0.5
    method: str = "pri"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    min_degree: int = MIN_DEGREE
    folds: int = 5
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class TaskFindings:
    """What was found: rows of the comparison, predictions, coefficients and task graph, and the fitted model.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=["hours", "age", "score"])
    >>> frame["school"] = np.repeat(list("abcdef"), 20)
    >>> request = TaskRequest("school", "score", keep=0.8, folds=2, min_degree=2)
    >>> [row["model"] for row in study(frame, request).comparison][:5]
    ['task mean', 'per-task least squares', 'per-task ridge', 'common slopes', 'multi-task lasso']
    """

    comparison: Records
    predictions: Records
    coefficients: Records
    edges: Records
    model: GraphMTL
    notes: tuple[str, ...]

    @property
    def advice(self) -> str:
        """Which model to take."""
        return advice(self.comparison)


def advice(comparison: Records) -> str:
    """Which model to take, by errors over the same folds; nothing where none was tested.

    Parameters
    ----------
    comparison : list of dict
        Rows with model, rmse and status; models with a graph begin with "graph".

    Examples
    --------
    >>> rows = [("common slopes", 55.3), ("per-task ridge", 58.0), ("graph", 59.1)]
    >>> advice([{"model": model, "rmse": error, "status": "fitted"} for model, error in rows])
    'You need no task graph: common slopes has the least error, 55.3, and the best graph 59.1 (graph).'
    """
    scored = [row for row in comparison if row["status"] == "fitted" and row["rmse"] == row["rmse"]]
    graphs = [row for row in scored if row["model"].startswith("graph")]
    if not scored or not graphs:
        return ""
    best, graph = (min(rows, key=lambda row: row["rmse"]) for rows in (scored, graphs))
    whole = next((row for row in graphs if row["model"] == "graph"), graph)
    if best is not graph:
        what = f"the best graph {graph['rmse']:.4g} ({graph['model']})"
        return f"You need no task graph: {best['model']} has the least error, {best['rmse']:.4g}, and {what}."
    other = min((row for row in scored if row not in graphs), key=lambda row: row["rmse"], default=None)
    beside = "" if other is None else f"; without a graph the least is {other['rmse']:.4g} ({other['model']})"
    pruned = "" if graph is whole else f", and the whole graph {whole['rmse']:.4g}"
    return f"A task graph has the least error, {graph['rmse']:.4g} ({graph['model']}){pruned}{beside}."


def study(
    frame: Any, request: TaskRequest, step: ProgressCallback = lambda text, share: None, store: Path | None = None
) -> TaskFindings:
    """Compare by cross-validation, then fit the sparsified model on all rows.

    Parameters
    ----------
    frame : DataFrame
    request : TaskRequest
    step : callable
        Hears what is being done and how much of it is done; what it raises ends the work.
    store : Path, optional
        Folder that keeps each fold that is done; a later call with the same data and request goes on from them.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=["hours", "age", "score"])
    >>> frame["school"] = np.repeat(list("abcdef"), 20)
    >>> request = TaskRequest("school", "score", keep=0.8, folds=2, min_degree=2)
    >>> outcome = study(frame, request)
    >>> len(outcome.predictions), len(outcome.coefficients), sum(row["kept"] for row in outcome.edges)
    (120, 6, 12)
    """
    if request.method not in methods():
        find(request.method, besides=("pri",))
    if request.seed < 0:
        raise OptionError(f"{argument('seed', request.seed)} must be 0 or more")
    tasks, features = tasks_of(frame, request.task, request.target, request.features)
    if request.parameters.get("gamma", "loo") == "loo":
        check_leave_one_out(tasks.count, len(features))
    rng = np.random.default_rng(request.seed)
    found: list[list[ModelErrors]] = []
    tested: list[Split] = []
    wanted, pieces = _prunings(request), Pieces(store)
    models = references()
    content = ["fold", list(models), tasks.X, tasks.y, tasks.member, tasks.intercept, [asdict(way) for way in wanted]]
    for number, split in enumerate(folds(tasks, request.folds, rng)):

        def fold(number: int = number, split: Split = split) -> list[dict[str, Any]]:
            entries: list[dict[str, Any]] = []
            for entry in evaluate(standardise(tasks, split), wanted, models, **request.parameters):
                entries.append(entry._asdict() | {"pruning": None})
                done = number + len(entries) / (len(models) + 1 + len(wanted))
                step(f"fold {number + 1} of {request.folds}: {entry.model}", done / (request.folds + 1))
            return entries

        found.append([_entry(kept) for kept in pieces.get([*content, request.parameters, *split], fold)])
        tested.append(split)
    step("fitting all rows", request.folds / (request.folds + 1))
    model, scale, notes = _fit_all(tasks, request)
    alone = int((tasks.sizes == 1).sum())
    notes += [f"{alone} tasks have a single row, which was learned from and never tested"] if alone else []
    notes += [f"{len(tested)} folds: no task has more rows"] if 0 < len(tested) < request.folds else []
    notes += [] if found else ["no task has two rows: nothing could be tested"]
    notes += [] if "mixed model" in models else ["no mixed model: it needs statsmodels, pip install 'graphpri[mixed]'"]
    return TaskFindings(
        comparison=_comparison(found),
        predictions=_predictions(tasks, tested, found, request),
        coefficients=_coefficients(model, features, *scale),
        edges=_edges(model),
        model=model,
        notes=tuple(notes),
    )


def _entry(kept: dict[str, Any]) -> ModelErrors:
    """What a model did, as it was kept."""
    arrays: dict[str, Any] = {"errors": np.array(kept["errors"], np.float64), "task": np.array(kept["task"], np.int64)}
    return ModelErrors(**kept | arrays)


def _prunings(request: TaskRequest) -> list[Pruning]:
    """The method asked for, and the baselines at the same size."""
    others = [name for name in BASELINES if name != request.method]
    # A γ that was given, and not chosen, keeps the total weight.
    gamma: GammaAfter = "loo" if request.parameters.get("gamma", "loo") == "loo" else "rescaled"
    first = Pruning(request.method, request.keep, gamma, request.min_degree, request.seed, request.options)
    return [first, *(replace(first, method=name, options={}) for name in others)]


def _fit_all(tasks: Tasks, request: TaskRequest) -> tuple[GraphMTL, tuple[FloatArray, FloatArray], list[str]]:
    """The model on all rows, sparsified where that can be done, and the mean and scale of the columns."""
    split = standardise(tasks, Split(np.arange(tasks.y.size), np.arange(0)))
    scale = split.mean, split.scale
    # Splits number the tasks; users see their names.
    rows = replace(split.train, labels=tasks.labels)
    given: dict[str, Any] = {"gamma": "loo", **request.parameters}
    whole = GraphMTL(**given).fit_rows(rows)
    if not whole.graph_.n_edges:
        return whole, scale, ["the task graph has no edges: there was nothing to sparsify"]
    try:
        return _prunings(request)[0].apply(whole), scale, []
    except TooFewEdgesError as error:
        return whole, scale, [f"the task graph was not sparsified: {error}"]


def _comparison(found: list[list[ModelErrors]]) -> Records:
    """A row a model: errors over all test rows, and the change against the whole graph with its standard error.

    All over the same folds: a model that failed in one has no errors, as those of the others are not comparable.
    """
    rows: Records = []
    whole = [next(e for e in fold if e.model == "graph") for fold in found]
    for entries in zip(*found, strict=True):
        failed = [(number, e.status) for number, e in enumerate(entries, 1) if e.status != "fitted"]
        row: dict[str, Any] = {"model": entries[0].model, "edges": None, "rmse": None, "mean_of_task_rmse": None}
        row |= {"change": None, "standard_error": None, "status": "fitted"}
        if failed:
            number, status = failed[0]
            rows.append(row | {"status": f"{status} (fold {number} of {len(found)}, so not compared)"})
            continue
        errors, task = (np.concatenate([getattr(e, name) for e in entries]) for name in ("errors", "task"))
        change = [rmse(e.errors) - rmse(w.errors) for e, w in zip(entries, whole, strict=True)]
        kept = [e.edges for e in entries if e.edges is not None]
        row |= {"edges": float(np.mean(kept)) if kept else None, "rmse": rmse(errors)}
        row |= {"mean_of_task_rmse": mean_task_rmse(errors, task), "change": float(np.mean(change))}
        several = len(change) > 1
        row["standard_error"] = float(np.std(change, ddof=1) / len(change) ** 0.5) if several else None
        rows.append(row)
    return rows


def _predictions(tasks: Tasks, tested: list[Split], found: list[list[ModelErrors]], request: TaskRequest) -> Records:
    """Every row with the predictions that models made of it when they had not seen it."""
    names = ("per-task ridge", "graph", f"graph, {request.method}")
    predicted = {name: np.full(tasks.y.size, np.nan) for name in names}
    for split, entries in zip(tested, found, strict=True):
        for entry in entries:
            if entry.model in predicted and entry.errors.size:
                predicted[entry.model][split.test] = tasks.y[split.test] - entry.errors
    rows = [
        {"row": int(at) + 1, "task": tasks.labels[tasks.member[i]], "target": tasks.y[i]}
        | {name: None if np.isnan(values[i]) else float(values[i]) for name, values in predicted.items()}
        for i, at in enumerate(tasks.order)
    ]
    return sorted(rows, key=lambda row: row["row"])


def _coefficients(model: GraphMTL, features: list[str], mean: FloatArray, scale: FloatArray) -> Records:
    """Coefficients and intercepts for the columns as they stand in the table."""
    w = model.coef_ / scale
    b = model.intercept_ - w @ mean
    names = [f"{name} (column)" if name in ("task", "intercept") else name for name in features]
    return [
        {"task": label, "intercept": float(b[t]), **dict(zip(names, map(float, w[t]), strict=True))}
        for t, label in enumerate(model.tasks_)
    ]


def _edges(model: GraphMTL) -> Records:
    """Every edge of the task graph: weight, score and whether it is kept."""
    found = model.sparsified_
    graph = model.graph_ if found is None else found.original
    kept = np.ones(graph.n_edges, bool) if found is None else found.mask
    scores = np.zeros(graph.n_edges) if found is None else found.scores
    return [
        {
            "task": model.tasks_[graph.source[e]],
            "other": model.tasks_[graph.target[e]],
            "weight": float(graph.weights[e]),
            "score": float(scores[e]),
            "kept": bool(kept[e]),
        }
        for e in range(graph.n_edges)
    ]


def _page(outcome: TaskFindings, request: TaskRequest, source: str, command: str) -> str:
    """The outcome as one self-contained HTML page."""
    keys = ("edges", "rmse", "mean_of_task_rmse", "change", "standard_error")
    comparison = [[row["model"], *(row[key] for key in keys)] for row in outcome.comparison]
    head = ["model", "edges", "RMSE", "mean of the tasks' RMSE", "change against the graph", "standard error"]
    failed = [f"{row['model']}: {row['status']}" for row in outcome.comparison if row["status"] != "fitted"]
    model = outcome.model
    kept, edges = sum(row["kept"] for row in outcome.edges), len(outcome.edges)
    by = f", by {escape(request.method)}" if model.sparsified_ else ""
    return _output.document(
        f"Multi-task regression: {source}",
        f"<p>{len(model.tasks_)} tasks of column {escape(request.task)}, target {escape(request.target)}, "
        f"{model.n_features_in_} columns to learn from. γ = {model.gamma_:.4g}; the task graph keeps {kept} of {edges} "
        f"edges{by}.</p>",
        "<h2>Cross-validated errors</h2>",
        f"<p>{escape(outcome.advice)}</p>" if outcome.advice else "",
        _output.table(head, comparison),
        f"<p>{request.folds} folds within the tasks; columns standardised by the rows to learn from. The change is the "
        "mean over the folds against the graph that is not pruned; less is better, and a change of less than two "
        "standard errors says nothing.</p>",
        _output.items([*outcome.notes, *failed]),
        "<h2>Task graph</h2>",
        _output.picture(_picture(outcome), "Kept edges over dropped ones"),
        f"<p>Again: <code>{escape(command)}</code></p>",
    )


def _picture(outcome: TaskFindings) -> bytes:
    """The task graph, kept edges over dropped ones, as SVG."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    from graphpri import plot

    figure = Figure(figsize=(6, 6), layout="constrained")
    FigureCanvasSVG(figure)
    ax = figure.subplots()
    found = outcome.model.sparsified_
    if outcome.edges:
        graph = outcome.model.graph_ if found is None else found.original
        mask, place = np.ones(graph.n_edges, bool) if found is None else found.mask, None
        if graph.n_nodes <= NAMED:
            place = spring(graph)
            for at, label in zip(place, outcome.model.tasks_, strict=True):
                text = str(label) if len(str(label)) <= 20 else f"{str(label)[:19]}…"
                ax.annotate(
                    text, at, (0, 5), textcoords="offset points", ha="center", size=7, zorder=9, parse_math=False
                )
        plot.graph(graph, mask, ax, place)
    else:
        ax.text(0.5, 0.5, "no edges", ha="center")
        ax.set_axis_off()
    # Text stays text: a browser has letters that the font of the picture lacks.
    with rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return plot.as_bytes(figure, "svg")


def write(outcome: TaskFindings, request: TaskRequest, out: Path, source: str, command: str) -> list[str]:
    """Write all tables and the report into a folder; returns their names.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=["hours", "age", "score"])
    >>> frame["school"] = np.repeat(list("abcdef"), 20)
    >>> request = TaskRequest("school", "score", keep=0.8, folds=2, min_degree=2)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     write(study(frame, request), request, Path(out), "exams.csv", "graphpri mtl exams.csv")
    ['comparison.csv', 'predictions.csv', 'coefficients.csv', 'edges.csv', 'report.html']
    """
    rows = {name: getattr(outcome, name) for name in ("comparison", "predictions", "coefficients", "edges")}
    contents = {f"{name}.csv": tables.as_csv(table) for name, table in rows.items()}
    return tables.write_folder(out, contents | {"report.html": _page(outcome, request, source, command)})
