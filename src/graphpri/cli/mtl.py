"""``graphpri mtl``: regression of several tasks from a table, on a sparsified graph over the tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from graphpri.cli import outputs, show
from graphpri.cli.commands import FAILED, OK, command_line, say
from graphpri.cli.options import (
    DEFAULT_LIMITS,
    IntoFolder,
    Json,
    Limits,
    Quiet,
    ResultsFolder,
    Whole,
    parse_keep,
    parse_options,
    split_names,
)
from graphpri.cli.progress import Watch
from graphpri.errors import OptionError

if TYPE_CHECKING:
    from graphpri.apps.mtl_report import TaskFindings, TaskRequest

_MODEL = Group("ModelOptions", sort_key=20)

app = App(
    name="mtl",
    help_epilogue="""\
Examples:
  graphpri mtl exams.csv --task school --target score -o exams/
  graphpri mtl exams.csv --task school --target score --keep 0.3 --method local-similarity -o exams/

DATA is a table with a header: CSV or TSV (gzipped too) or parquet, a row an
observation; or a named one (parkinsons, school).
DIR gets comparison.csv, predictions.csv, coefficients.csv, edges.csv and report.html. A run that was interrupted goes
on where it was.""",
)


@Parameter(name="*", group=_MODEL)
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model and its task graph."""

    penalty: Annotated[
        Literal["squared", "l2"], Parameter(help="Squares or lengths of the differences of coefficients.")
    ] = "squared"
    gamma: Annotated[
        str,
        Parameter(
            help="Weight of the graph; 'loo' chooses it by leave-one-out (squared penalty, up to 8000 coefficients)."
        ),
    ] = "loo"
    ridge: Annotated[str, Parameter(help="Ridge; 'own' gives each task one of its own by leave-one-out.")] = "own"
    k: Annotated[Whole, Parameter(name="--k", help="Nearest neighbours of each task in the graph.")] = 10
    edge_weights: Annotated[
        Literal["unit", "similarity"], Parameter(help="Weights of the task graph: 1, or by similar coefficients.")
    ] = "similarity"

    def parameters(self) -> dict[str, Any]:
        """Parameters of :class:`graphpri.apps.mtl.GraphMTL`."""
        return {
            "penalty": self.penalty,
            "gamma": _number(self.gamma, "--gamma", "loo"),
            "ridge": _number(self.ridge, "--ridge", "own"),
            "k": self.k,
            "edge_weights": self.edge_weights,
        }


def _number(text: str, option: str, word: str) -> float | str:
    if text == word:
        return word
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{option} {text}: give a number or '{word}'") from None


@app.default
def mtl(
    data: Annotated[str, Parameter(name="DATA", help="The table.")],
    /,
    *,
    task: Annotated[str, Parameter(metavar="COL", help="Column that says which task a row belongs to.")],
    target: Annotated[str, Parameter(metavar="COL", help="Column to predict.")],
    output: ResultsFolder,
    features: Annotated[
        str | None, Parameter(metavar="LIST", help="Columns to learn from; all others where absent.")
    ] = None,
    keep: Annotated[
        str,
        Parameter(
            help="Share (0.5) or number of edges of the task graph to keep; a given --gamma keeps its total weight."
        ),
    ] = "0.5",
    method: Annotated[str, Parameter(help="Sparsifier; see 'graphpri sparsify --help'.")] = "pri",
    beta: Annotated[float, Parameter(help="For pri: weight of the divergence.")] = 100.0,
    option: Annotated[
        tuple[str, ...], Parameter(metavar="NAME=VALUE", show_default=False, help="Option of the method; repeatable.")
    ] = (),
    min_degree: Annotated[Whole, Parameter(help="Neighbours that sparsifying leaves each task.")] = 3,
    folds: Annotated[Whole, Parameter(help="Of the cross-validation within the tasks.")] = 5,
    seed: Annotated[Whole, Parameter(help="For folds and everything random.")] = 0,
    force: IntoFolder = False,
    json: Json = False,
    quiet: Quiet = False,
    model: ModelOptions = ModelOptions(),
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Fit regression tasks together over a sparsified task graph.

    Compares it, cross-validated within the tasks, with each task's own ridge,
    common slopes, the multi-task lasso, a mixed model, the whole graph and other
    sparsifiers at the same size, and says whether a task graph is needed.
    """
    if folds < 2:
        raise OptionError(f"--folds {folds}: give 2 or more")
    if seed < 0:
        raise OptionError(f"--seed {seed}: give 0 or more")
    from graphpri.apps import mtl_report
    from graphpri.apps.mtl_report import TaskRequest

    options = parse_options(list(option)) | ({"beta": beta} if method == "pri" else {})
    request = TaskRequest(
        task=task,
        target=target,
        features=None if features is None else tuple(split_names(features)),
        keep=parse_keep(keep),
        method=method,
        options=options,
        min_degree=min_degree,
        folds=folds,
        seed=seed,
        parameters=model.parameters(),
    )
    with outputs.results_folder(output, force=force) as out, limits.held(), Watch(quiet=quiet) as watch:
        watch.stage(f"reading {data}")
        try:
            outcome = mtl_report.study(_table(data), request, watch.show, out / outputs.PIECES)
        except OptionError as error:
            raise error.at(data) from None
        except KeyboardInterrupt:
            say(f"interrupted; the same command goes on where it was, with what {out / outputs.PIECES} keeps")
            return FAILED
        with outputs.unfinished_until_written(out):
            names = mtl_report.write(outcome, request, out, Path(data).name, command_line())
    _print(outcome, request, out, names, json=json, quiet=quiet)
    return OK


def _table(data: str) -> Any:
    """A named data set, or the table in a file."""
    from graphpri import datasets
    from graphpri.apps.mtl_data import read_table

    if data in datasets.tables() and not Path(data).exists():
        return datasets.table(data)
    return read_table(data)


def _print(
    outcome: TaskFindings, request: TaskRequest, out: Path, names: list[str], *, json: bool, quiet: bool
) -> None:
    fitted = outcome.model
    kept = sum(row["kept"] for row in outcome.edges)
    if json:
        facts = {"tasks": len(fitted.tasks_), "gamma": fitted.gamma_, "edges": len(outcome.edges), "edges_kept": kept}
        files = [str(out / name) for name in names]
        print(
            show.as_json(
                {
                    **facts,
                    "comparison": outcome.comparison,
                    "advice": outcome.advice,
                    "notes": outcome.notes,
                    "files": files,
                }
            )
        )
    elif not quiet:
        print(f"{len(fitted.tasks_)} tasks, {kept} of {len(outcome.edges)} edges kept by {request.method}")
        if outcome.comparison:
            print(show.table(outcome.comparison))
        if outcome.advice:
            print(outcome.advice)
        for note in outcome.notes:
            print(f"note: {note}")
        print(f"{out / 'report.html'} has all of it")
