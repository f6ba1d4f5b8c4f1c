"""``graphpri measure``: what a sparsified graph keeps of the original."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from graphpri.cli import machines, show
from graphpri.cli.inputs import DEFAULT_READING, INPUT_HELP, ReadingOptions, matched, naming
from graphpri.cli.machines import DEFAULT_MACHINES, Machines
from graphpri.cli.options import (
    DEFAULT_LIMITS,
    DEFAULT_MEASURING,
    MEASURING,
    Json,
    Limits,
    Measuring,
    Whole,
    split_names,
)
from graphpri.cli.progress import Watch
from graphpri.errors import OptionError

_INPUT = f"{INPUT_HELP} {machines.IN_PARTS}"

app = App(
    name="measure",
    help_epilogue="""\
Examples:
  graphpri measure graph.csv small.csv
  graphpri measure karate small.graphml --beta 2 --measures core --json
  graphpri measure edges/ kept/ --distributed        S, D and J with error bars""",
)


@app.default
def measure(
    original: Annotated[str, Parameter(name="ORIGINAL", help=_INPUT)],
    kept: Annotated[str, Parameter(name="KEPT", help=_INPUT)],
    /,
    *,
    measures: Annotated[
        str,
        Parameter(
            group=MEASURING, help="'all', 'core' (quick on large graphs too), or names with commas between them."
        ),
    ] = "all",
    beta: Annotated[float, Parameter(group=MEASURING, help="Weight of the divergence in the objective.")] = 50.0,
    seed: Annotated[Whole, Parameter(group=MEASURING, help="For measures that draw a sample of a large graph.")] = 0,
    json: Json = False,
    measuring: Measuring = DEFAULT_MEASURING,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
    many: Machines = DEFAULT_MACHINES,
) -> None:
    """Measure what a sparsified graph keeps of the original.

    Information, connectivity, spectrum, clustering, communities, distances and
    centralities. Nodes are matched by their labels; the options that read
    graphs hold for both of them. With --distributed both are folders of parts,
    and entropy, divergence and objective are estimated with error bars.
    """
    from graphpri.measures import report

    if many.distributed:
        machines.refuse_others(reading, limits)
        asked = {"measures": split_names(measures), "beta": beta, "seed": seed, **vars(measuring), **vars(reading)}
        with limits.held(), Watch() as watch:
            found = machines.measure(original, kept, many, asked, watch)
        print(show.as_json({"original": original, "kept": kept, **found.to_dict()}) if json else found)
        return
    machines.refuse_without(many)
    if original == kept == "-":
        raise OptionError("only one of ORIGINAL and KEPT can be standard input (-)")
    with limits.held(), Watch() as watch:
        whole = reading.read(original, watch)
        part = matched(reading.read(kept, watch), whole)
        watch.stage("measuring")
        with naming(f"{original} and {kept}"):
            found = report(
                whole,
                part,
                measures=split_names(measures),
                beta=beta,
                seed=seed,
                **vars(measuring),
                **reading.policies(),
            )
    if json:
        print(show.as_json({"original": original, "kept": kept, **found.to_dict()}))
    else:
        print(found)
