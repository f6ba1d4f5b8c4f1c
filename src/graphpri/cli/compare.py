"""``graphpri compare``: methods at several budgets, measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from graphpri.cli import outputs, show
from graphpri.cli.commands import FAILED, OK, say
from graphpri.cli.inputs import DEFAULT_READING, InputName, ReadingOptions, naming
from graphpri.cli.options import (
    DEFAULT_LIMITS,
    DEFAULT_MEASURING,
    MEASURING,
    SEARCH,
    Force,
    Json,
    Limits,
    Measuring,
    Plot,
    Quiet,
    StoreOption,
    TableFile,
    in_words,
    notes_in_words,
    parse_betas,
    parse_integers,
    parse_keeps,
    parse_options,
    split_names,
)
from graphpri.cli.progress import Watch
from graphpri.errors import Interrupted, OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphpri._compare import Comparison, ComparisonStep

app = App(
    name="compare",
    help_epilogue="""\
Examples:
  graphpri compare karate
  graphpri compare graph.csv --keep 0.2,0.5 --method pri,local-degree,random
  graphpri compare graph.csv --keep 0.1:0.9:0.1 --method all -o table.csv
  graphpri compare jazz --option local-degree:exponent=0.5 --measures all
  graphpri compare graph.csv --method all --store rows/

Ctrl-C gives the rows that were finished and exits with 1; with --store the
same command goes on from them.""",
)


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class Contest:
    """Which methods, at which budgets."""

    method: Annotated[
        str,
        Parameter(metavar="LIST", help="Methods with commas between them, or 'all'; see 'graphpri sparsify --help'."),
    ] = "pri,random,local-degree,local-similarity,effective-resistance"
    keep: Annotated[
        str,
        Parameter(metavar="LIST", help="Budgets (0.3 is a share, 120 a number of edges), or a range start:stop:step."),
    ] = "0.2,0.5,0.8"
    beta: Annotated[
        str | None,
        Parameter(
            metavar="LIST",
            help="Weight of the divergence, in pri's search and in the objective; several likewise. 50 where absent.",
        ),
    ] = None
    option: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="METHOD:NAME=VALUE",
            show_default=False,
            help="Option of a method; see 'graphpri sparsify'; repeatable.",
        ),
    ] = ()
    seeds: Annotated[str, Parameter(metavar="LIST", help="Every combination runs once with each.")] = "0"
    connected: Annotated[bool, Parameter(negative="", show_default=False, help="Keep the number of components.")] = (
        False
    )
    effort: Annotated[
        Literal["fast", "normal", "best"] | None, Parameter(help="For pri: how long to search; 'normal' where absent.")
    ] = None
    time_limit: Annotated[
        float | None, Parameter(metavar="SECONDS", help="For pri, in each row: stop then, with the best so far.")
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.compare`."""
        return {
            "methods": list(self._methods()),
            "keep": parse_keeps(self.keep),
            "beta": None if self.beta is None else parse_betas(self.beta),
            "seeds": parse_integers(self.seeds, "--seeds"),
            "connected": self.connected,
            "effort": self.effort,
            "time_limit": self.time_limit,
        }

    def _methods(self) -> Iterable[Any]:
        from graphpri._sparsify import methods

        options: dict[str, list[str]] = {}
        for text in self.option:
            name, colon, assignment = text.partition(":")
            if not colon:
                raise OptionError(f"--option {text}: write it as METHOD:name=value, such as local-degree:exponent=0.5")
            options.setdefault(name, []).append(assignment)
        names = list(methods()) if self.method == "all" else split_names(self.method)
        if strange := sorted(options.keys() - set(names)):
            raise OptionError(
                f"--option {strange[0]}:…: that method is not compared; --method names {', '.join(names)}"
            )
        for name in names:
            yield (name, parse_options(options[name])) if name in options else name


@app.default
def compare(
    source: Annotated[InputName, Parameter(name="INPUT")],
    /,
    *,
    measures: Annotated[
        str,
        Parameter(
            group=MEASURING, metavar="LIST", help="'core', 'all', or names as in the report of 'graphpri measure'."
        ),
    ] = "core",
    output: TableFile = None,
    plot: Plot = None,
    store: StoreOption = None,
    json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    contest: Contest = Contest(),
    measuring: Measuring = DEFAULT_MEASURING,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Compare methods at several budgets.

    Every method keeps exactly as many edges as the budget says. Prints a row a
    method and budget, with measures of what was kept.
    """
    outputs.refuse_two_streams(output, "table", json=json)
    keywords = contest.keywords() | {"measures": split_names(measures), **vars(measuring), **reading.policies()}
    keywords["store"] = store
    files = outputs.TableFiles(output, plot, force)
    files.check()
    with limits.held(), Watch(quiet=quiet) as watch:
        table = reading.read(source, watch)
        watch.stage("comparing")
        with naming(source):
            found = _compare(table, keywords, watch)
    files.write(found.rows, lambda ax: _draw(found, ax))
    if json:
        print(show.as_json(_plain(source, found)))
    elif not quiet and output != "-":
        print(in_words(found.message))
    if watch.interrupted:
        say("interrupted; the table has the rows that were finished")
        return FAILED
    return OK


def _compare(table: Any, keywords: dict[str, Any], watch: Watch) -> Comparison:
    """The comparison; the finished rows where the user interrupts it."""
    from graphpri._compare import compare

    def step(at: ComparisonStep) -> bool:
        return watch.show(f"{at.row['method']}, keep {at.row['keep']}: {at.done} of {at.total}", at.done / at.total)

    try:
        return compare(table, callback=step, **keywords)
    except Interrupted as stop:
        watch.stage("measuring the original")
        return stop.result


def _draw(found: Comparison, ax: Axes) -> None:
    from graphpri import plot

    plot.compare(found, ax)


def _plain(source: str, found: Comparison) -> dict[str, Any]:
    return {
        "input": source,
        **found.settings,
        "rows": found.rows,
        "original": found.original,
        "left_out": found.left_out,
        "notes": [notes_in_words([note]) for note in found.notes],
    }
