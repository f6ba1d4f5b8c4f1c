"""``graphpri choose``: what serves a purpose best, measured on the graph at hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from graphpri.cli import outputs, show
from graphpri.cli.commands import OK
from graphpri.cli.inputs import DEFAULT_READING, InputName, ReadingOptions, naming
from graphpri.cli.options import DEFAULT_LIMITS, OUTPUT, SEARCH, Force, Json, Limits, Plot, Quiet, in_words, parse_keep
from graphpri.cli.progress import Watch
from graphpri.cli.sparsify import write

if TYPE_CHECKING:
    from graphpri._choose import Choice
    from graphpri._compare import ComparisonStep

app = App(
    name="choose",
    help_epilogue="""\
Examples:
  graphpri choose karate --keep 0.4 --for communities
  graphpri choose graph.csv --keep 0.2 --for spectrum -o kept.csv
  graphpri choose graph.csv --keep 0.2 --for flows --weights-as-given""",
)


@app.default
def choose(
    source: Annotated[InputName, Parameter(name="INPUT")],
    /,
    *,
    keep: Annotated[
        str, Parameter(group=SEARCH, metavar="K", help="Edges to keep: a share such as 0.3 or a number such as 120.")
    ],
    purpose: Annotated[
        Literal[
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
        ],
        Parameter(name="--for", group=SEARCH, help="What the kept graph is for."),
    ],
    weights_as_given: Annotated[
        bool,
        Parameter(
            group=SEARCH, negative="", show_default=False, help="Leave out ways that give kept edges other weights."
        ),
    ] = False,
    seed: Annotated[int, Parameter(group=SEARCH, help="Of methods that draw at random.")] = 0,
    output: Annotated[
        str | None,
        Parameter(
            name=["--output", "-o"],
            metavar="FILE",
            group=OUTPUT,
            help="Where to write the kept graph of the best; '-' is standard output.",
        ),
    ] = None,
    output_format: Annotated[
        str | None, Parameter(metavar="FORMAT", group=OUTPUT, help="By the suffix where absent; csv.gz is zipped csv.")
    ] = None,
    plot: Plot = None,
    json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Sparsify by what serves a purpose best.

    Methods and settings are tried and measured on this graph: all of them up to
    5000 edges, those that did best on other graphs beyond. Prints the best, and
    writes what the first of them keeps.
    """
    from graphpri._choose import choose
    from graphpri.io.columns import merged

    outputs.refuse_two_streams(output, "graph", json=json)
    wanted = outputs.Wanted(output, output_format, reading.format, plot, force, None)
    target = outputs.plan((source,), wanted)[0]
    budget = parse_keep(keep)
    with limits.held(), Watch(quiet=quiet) as watch:
        table = reading.read(source, watch)
        watch.stage("trying")

        def step(at: ComparisonStep) -> None:
            watch.show(f"{at.row['method']}: {at.done} of {at.total}", at.done / at.total)

        with naming(source):
            options = {"new_weights": not weights_as_given, "seed": seed, "callback": step}
            found = choose(table, budget, purpose, **options, **reading.policies())
        watch.stage("writing")
        written = write(target, found.result, watch, force=force)
    if json:
        print(show.as_json(_facts(source, found) | written))
    elif not quiet:
        lines = [f"written: {output}"] * (output not in (None, "-"))
        lines += [f"about the file: {note}" for note in merged(written.get("output_notes", []))]
        lines += [f"picture: {written['picture']}"] if "picture" in written else []
        print(
            "\n".join([f"{source}, {in_words(found.message)}", *lines]),
            file=sys.stderr if output == "-" else sys.stdout,
        )
    return OK


def _facts(source: str, found: Choice) -> dict[str, Any]:
    ways = [way._asdict() for way in found.ways]
    return {
        "input": source,
        "for": found.purpose,
        "best": ways[0],
        "runner_up": ways[1] if ways[1:] else None,
        "rows": found.rows,
        "failed": found.failed,
        "not_tried": list(found.not_tried),
    }
