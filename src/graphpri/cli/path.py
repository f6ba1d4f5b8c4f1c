"""``graphpri path``: solutions along β or along the budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from graphpri.cli import outputs, show
from graphpri.cli.commands import FAILED, OK, say
from graphpri.cli.inputs import DEFAULT_READING, InputName, ReadingOptions, naming
from graphpri.cli.options import (
    DEFAULT_COVERING,
    DEFAULT_LIMITS,
    DEFAULT_SEARCH,
    OUTPUT,
    SEARCH,
    Covering,
    Force,
    Json,
    Limits,
    Plot,
    Quiet,
    SearchOptions,
    TableFile,
    is_several,
    parse_betas,
    parse_keep,
    parse_keeps,
)
from graphpri.cli.progress import Watch
from graphpri.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphpri._sparsify import Sparsified

app = App(
    name="path",
    help_epilogue="""\
Examples:
  graphpri path karate --beta 0:10:0.5   the number of edges follows from beta
  graphpri path g.csv --beta 0,1,2,4,8 --keep 0.3 -o path.csv --plot path.png
  graphpri path graph.csv --keep 0.1:0.9:0.1 --beta 2 --save small/""",
)


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class Along:
    """What the path runs along."""

    beta: Annotated[
        str | None,
        Parameter(
            metavar="LIST",
            help="Values with commas between them, or a range start:stop:step; or one value, for budgets 50 if absent.",
        ),
    ] = None
    keep: Annotated[
        str | None,
        Parameter(
            metavar="LIST", help="Budgets likewise (0.3 is a share, 120 a number of edges), or one for all beta."
        ),
    ] = None
    effort: Annotated[
        Literal["fast", "normal", "best"] | None,
        Parameter(help="How long to search at each; where absent normal along beta, fast along budgets."),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.path`."""
        budgets = self.keep is not None and is_several(self.keep)
        if budgets == (self.beta is not None and is_several(self.beta)):
            raise OptionError(
                "give several values in one of --beta and --keep, such as --beta 0,1,2 or --beta 0:10:0.5"
            )
        betas = None if self.beta is None else parse_betas(self.beta)
        keep: Any = None if self.keep is None else parse_keeps(self.keep) if budgets else parse_keep(self.keep)
        return {"beta": betas[0] if budgets and betas else betas, "keep": keep, "effort": self.effort}


@app.default
def path(
    source: Annotated[InputName, Parameter(name="INPUT")],
    /,
    *,
    output: TableFile = None,
    save: Annotated[
        str | None, Parameter(metavar="DIR", group=OUTPUT, help="Write every kept graph into this folder.")
    ] = None,
    output_format: Annotated[
        str | None, Parameter(metavar="FORMAT", group=OUTPUT, help="Of the graphs in --save; the input's where absent.")
    ] = None,
    plot: Plot = None,
    json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    along: Along = Along(),
    search: SearchOptions = DEFAULT_SEARCH,
    covering: Covering = DEFAULT_COVERING,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Sparsify along a range of beta or of budgets.

    Prints a row a point. Along beta each is searched as by sparsify; S never falls and D never rises (at alpha 0).
    Along budgets each starts from the next larger one's solution.
    """
    outputs.refuse_two_streams(output, "table", json=json)
    keywords = along.keywords()
    saved = _saved(source, keywords, outputs.Wanted(save, output_format, reading.format, force=force)) if save else []
    files = outputs.TableFiles(output, plot, force)
    files.check()
    begin = time.perf_counter()
    with limits.held(), Watch(quiet=quiet) as watch:
        results = _solve(source, keywords | vars(covering), search, reading, watch)
        watch.stage("writing")
        rows = [_row(result) for result in results]
        if watch.interrupted:
            rows = [row | {"status": "interrupted: the best of what was found until then"} for row in rows]
        files.write(rows, lambda ax: _draw(results, ax))
        _save(results, saved, output_format or reading.format, force, watch)
    written = {"output": output, "saved": saved or None, "picture": plot}
    done = {**_common(source, results), "rows": rows, **written, "seconds": time.perf_counter() - begin}
    if json:
        print(show.as_json(done))
    elif not quiet and output != "-":
        print(_text(done, save))
    if watch.interrupted:
        say("interrupted; the path is what was found until then")
        return FAILED
    return OK


def _save(results: Sequence[Sparsified], places: Sequence[str], form: str | None, force: bool, watch: Watch) -> None:
    """Write the kept graphs."""
    from graphpri import io

    for place, result in zip(places, results, strict=False):
        outputs.make_folder(place)
        io.write(result.graph, place, form, force=force, progress=watch.file(place))


def _draw(results: Sequence[Sparsified], ax: Axes) -> None:
    from graphpri import plot

    plot.path(results, ax)


def _solve(
    source: str, keywords: dict[str, Any], search: SearchOptions, reading: ReadingOptions, watch: Watch
) -> list[Sparsified]:
    from graphpri._sparsify import path as solve_path

    table = reading.read(source, watch)
    watch.stage("solving")
    options = keywords | search.keywords(table) | reading.policies()
    with naming(source), watch.gently():
        return solve_path(table, callback=watch.step, **options)


def _common(source: str, results: Sequence[Sparsified]) -> dict[str, Any]:
    """What all points have in common."""
    r = results[0].report()
    return {"input": source} | {key: r[key] for key in ("nodes", "edges", "weights", "entropy_by", "connected")}


def _text(done: dict[str, Any], folder: str | None) -> str:
    head = (
        f"{done['input']}: {done['edges']} edges, {done['nodes']} nodes; "
        f"weights: {done['weights'].removeprefix('weights: ')}; {done['entropy_by']} entropy"
    )
    brief = [{name: show.value(row, name) for name in row if _is_brief(name)} for row in done["rows"]]
    places = [("table", done["output"]), ("graphs", folder), ("picture", done["picture"])]
    return "\n".join([head, show.table(brief), show.fields([*places, ("time", f"{done['seconds']:.2f} s")])])


def _is_brief(name: str) -> bool:
    return name not in ("share_kept", "status") and not name.endswith("_error")


def _saved(source: str, keywords: dict[str, Any], wanted: outputs.Wanted) -> list[str]:
    """Files for the kept graphs, one a point."""
    if isinstance(keywords["beta"], list):
        return outputs.plan_points(source, [f"beta{beta:g}" for beta in keywords["beta"]], wanted)
    return outputs.plan_points(source, [f"keep{keep!r}" for keep in keywords["keep"]], wanted)


def _row(result: Sparsified) -> dict[str, Any]:
    r = result.report()
    names = ("beta", "keep", "edges_kept", "share_kept", "objective", "entropy", "divergence")
    errors = [name for name in r if name.endswith("_error")]
    return {name: r[name] for name in (*names, *errors, "components_kept", "nodes_cut_off", "status")}
