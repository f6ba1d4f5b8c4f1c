"""``graphpri explore``: one HTML page with sliders over β and the budget."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from graphpri.cli import outputs, show
from graphpri.cli.commands import FAILED, OK, say
from graphpri.cli.inputs import DEFAULT_READING, InputName, ReadingOptions, naming
from graphpri.cli.options import (
    DEFAULT_LIMITS,
    DEFAULT_SEARCH,
    OUTPUT,
    SEARCH,
    Force,
    Json,
    Limits,
    Quiet,
    SearchOptions,
    StoreOption,
    notes_in_words,
    parse_betas,
    parse_keeps,
    split_names,
)
from graphpri.cli.progress import Watch
from graphpri.errors import Interrupted

if TYPE_CHECKING:
    from graphpri.explorer import Exploration

app = App(
    name="explore",
    help_epilogue="""\
Examples:
  graphpri explore karate -o karate.html
  graphpri explore graph.csv -o page.html --beta 0,1,4,16 --keep 0.1:0.9:0.1
  graphpri explore graph.graphml -o page.html --method local-degree,jaccard --connected

Ctrl-C during the search writes a page of the beta solved so far, if there are
any, and exits with 1; with --store the same command goes on from there.""",
)


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class Stops:
    """Where the sliders stop, and what stands beside."""

    beta: Annotated[
        str | None,
        Parameter(metavar="LIST", help="Values with commas between them, or a range start:stop:step; 21 where absent."),
    ] = None
    keep: Annotated[
        str | None,
        Parameter(metavar="LIST", help="Budgets likewise (0.3 is a share, 120 a number of edges); 21 where absent."),
    ] = None
    method: Annotated[
        str | None,
        Parameter(metavar="LIST", help="Baselines to compare with, or 'none'; some quick ones where absent."),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.explore`."""
        names = None if self.method is None else [] if self.method == "none" else split_names(self.method)
        return {
            "beta": None if self.beta is None else parse_betas(self.beta),
            "keep": None if self.keep is None else parse_keeps(self.keep),
            "methods": names,
        }


@app.default
def explore(
    source: Annotated[InputName, Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[
        str,
        Parameter(name=["--output", "-o"], metavar="FILE", group=OUTPUT, help="The page; '-' is standard output."),
    ],
    title: Annotated[str | None, Parameter(group=OUTPUT, help="Of the page; the input's name where absent.")] = None,
    store: StoreOption = None,
    json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    stops: Stops = Stops(),
    search: SearchOptions = DEFAULT_SEARCH,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Make a page to explore what is kept, over beta and budgets.

    One HTML file that needs no server and no network: sliders, curves of the
    measures, other methods beside, search, and downloads of what is shown.
    """
    outputs.refuse_two_streams(output, "page", json=json)
    if output != "-":
        outputs.check_page(output, "-o", "the page", force=force)
    keywords = stops.keywords() | {"title": title or ("Graph" if source == "-" else Path(source).name), "store": store}
    begin = time.perf_counter()
    with limits.held(), Watch(quiet=quiet) as watch:
        page = _solve(source, keywords, search, reading, watch)
        content = page.html.encode()
        outputs.write_bytes(output, content, force=force)
    done = _summary(page, source, output) | {"bytes": len(content), "seconds": time.perf_counter() - begin}
    if json:
        print(show.as_json(done))
    elif not quiet and output != "-":
        print(_text(done))
    if watch.interrupted:
        say("interrupted; the page has the beta solved until then")
        return FAILED
    return OK


def _solve(
    source: str, keywords: dict[str, Any], search: SearchOptions, reading: ReadingOptions, watch: Watch
) -> Exploration:
    from graphpri.explorer import explore as make

    table = reading.read(source, watch)
    watch.stage("ranking by the other methods, and placing the nodes")
    options = keywords | search.keywords(table) | reading.policies()
    options["connected"] = bool(search.connected)
    try:
        with naming(source):
            return make(table, callback=watch.step, **options)
    except Interrupted as stop:
        say("making the page of what is solved; interrupt again to stop at once")
        return stop.result


def _summary(page: Exploration, source: str, output: str) -> dict[str, Any]:
    return {
        "input": source,
        "nodes": page.graph.n_nodes,
        "edges": page.graph.n_edges,
        "betas": list(page.betas),
        "budgets": list(page.budgets),
        "methods": list(page.methods),
        "notes": [notes_in_words([note]) for note in page.notes],
        "output": output,
    }


def _text(done: dict[str, Any]) -> str:
    head = f"{done['input']}: {done['edges']} edges, {done['nodes']} nodes"
    low, high = done["budgets"][0], done["budgets"][-1]
    return f"{head}\n" + show.fields(
        [
            ("stops", f"{len(done['betas'])} beta, {_budgets(len(done['budgets']), low, high)}"),
            ("baselines", ", ".join(done["methods"]) or None),
            ("notes", "; ".join(done["notes"])),
            ("written", f"{done['output']} ({done['bytes'] / 1000:.0f} kB)"),
            ("time", f"{done['seconds']:.2f} s"),
        ]
    )


def _budgets(count: int, low: int, high: int) -> str:
    if count == 1:
        return f"1 budget of {low} edge{'s' * (low != 1)}"
    return f"{count} budgets from {low} to {high} edges"
