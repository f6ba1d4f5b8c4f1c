"""``graphpri reproduce``: the paper's figures and tables, each with verdicts computed from its numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from graphpri.cli import show
from graphpri.cli.commands import FAILED, OK, say
from graphpri.cli.options import DEFAULT_LIMITS, OUTPUT, Json, Limits, Quiet, Whole
from graphpri.cli.progress import Watch
from graphpri.errors import FileError, OptionError

if TYPE_CHECKING:
    from graphpri.studies import Result, StudyProgress

app = App(
    name="reproduce",
    help_epilogue="""\
Examples:
  graphpri reproduce --list
  graphpri reproduce karate
  graphpri reproduce --all --quick    small sizes; says how long it took
  graphpri reproduce --all -o paper/  and one page, paper/index.html

A run that was interrupted goes on where it was. The environment variable
GRAPHPRI_DATA names the folder of data sets.""",
)


@app.default
def reproduce(
    *names: Annotated[str, Parameter(name="NAME", help="Studies; see --list.")],
    all_: Annotated[
        bool, Parameter(name="--all", negative="", show_default=False, help="All studies, and one page for them.")
    ] = False,
    list_: Annotated[
        bool, Parameter(name="--list", negative="", show_default=False, help="List the studies and what they need.")
    ] = False,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Small sizes, seconds a study, instead of the paper's.")
    ] = False,
    out: Annotated[
        str,
        Parameter(
            name=["--out", "-o"],
            metavar="DIR",
            group=OUTPUT,
            help="Folder for tables, pictures, verdicts and the page.",
        ),
    ] = "reproduced",
    seed: Annotated[Whole, Parameter(help="For everything random; the same seed gives the same numbers.")] = 0,
    fresh: Annotated[
        bool, Parameter(negative="", show_default=False, help="Do again what an earlier run into DIR has done.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Run studies of the paper's claims.

    Each writes its numbers (CSV), pictures (PNG, SVG) and verdicts into a folder
    of its own, and prints the verdicts.
    """
    if list_:
        return _list(json)
    chosen = _chosen(names, all_)
    from graphpri import studies

    def step(at: StudyProgress) -> bool:
        return watch.show(f"{at.study}: {at.done} of {at.total} pieces", at.done / at.total)

    with limits.held(), Watch(quiet=quiet) as watch:
        watch.stage("looking what is done")
        try:
            found = studies.reproduce(chosen, out, quick=quick, seed=seed, fresh=fresh, callback=step)
        except KeyboardInterrupt:
            say(f"interrupted; the same command goes on where it was, with what {out} keeps")
            return FAILED
        if all_:
            studies.write_verdicts(found, out)
            studies.write_page(found, out)
    _refuse_missing(found, all_)
    _print(found, out, all_=all_, json=json, quiet=quiet)
    return OK


def _chosen(names: Sequence[str], all_: bool) -> list[str]:
    from graphpri import studies

    if all_ and names:
        raise OptionError(f"--all runs every study: leave out {', '.join(names)}, or --all")
    if not all_ and not names:
        raise OptionError("name a study, or give --all; 'graphpri reproduce --list' lists them")
    return list(studies.names()) if all_ else list(names)


def _refuse_missing(found: Sequence[Result], all_: bool) -> None:
    """Say which studies lack data; where they were asked for by name that is an error."""
    for result in found:
        if result.missing:
            text = f"study {result.study.name} has not run: {result.verdicts[0].condition} (see 'graphpri data list')"
            if not all_:
                raise FileError(text)
            say(text)


def _list(json: bool) -> int:
    from graphpri import studies

    rows = [
        {
            "name": study.name,
            "of the paper": study.source,
            "needs": ", ".join(study.needs),
            "title": study.title,
        }
        for study in map(studies.find, studies.names())
    ]
    print(show.as_json({"studies": rows}) if json else show.table(rows))
    return OK


def _print(found: Sequence[Result], out: str, *, all_: bool, json: bool, quiet: bool) -> None:
    from graphpri.studies import row_of

    if json:
        rows = [row_of(verdict, result) for result in found for verdict in result.verdicts]
        print(show.as_json({"folder": out, "verdicts": rows}))
    elif not quiet:
        for result in found:
            print(_shown(result))
        print(f"{out}/index.html has all of it" if all_ else f"Numbers and pictures: {out}/")
        print(_time(found))


def _time(found: Sequence[Result]) -> str:
    """How long the work took, also of pieces that an earlier run has done, and which study took longest."""
    longest = max(found, key=lambda result: result.seconds)
    share = f", {longest.seconds:.0f} s of them {longest.study.name}" if len(found) > 1 else ""
    return f"The work took {sum(result.seconds for result in found):.0f} s{share}."


def _shown(result: Result) -> str:
    lines = [f"{result.study.name}: {result.study.title} ({result.study.source})"]
    for verdict in result.verdicts:
        text = f"{verdict.claim}. Measured: {verdict.measured}"
        text += f". {verdict.condition}" if verdict.condition else ""
        lines += [
            f"  {verdict.outcome.upper()}",
            *textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="    "),
        ]
    return "\n".join([*lines, ""])
