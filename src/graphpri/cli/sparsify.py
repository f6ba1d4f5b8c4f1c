"""``graphpri sparsify``: one graph or a batch of them."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import App, Parameter

from graphpri.cli import explain, machines, outputs, show
from graphpri.cli.commands import FAILED, OK, command_line, is_debugging, say
from graphpri.cli.inputs import DEFAULT_READING, ReadingOptions, naming
from graphpri.cli.machines import DEFAULT_MACHINES, Machines
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
    in_words,
    notes_in_words,
    parse_keep,
    parse_options,
)
from graphpri.cli.progress import Watch
from graphpri.errors import Interrupted, OptionError

if TYPE_CHECKING:
    from graphpri._sparsify import Sparsified

app = App(
    name="sparsify",
    usage="Usage: graphpri sparsify [OPTIONS] INPUT...",
    help_epilogue="""\
Examples:
  graphpri sparsify karate --keep 0.5 --beta 2
  graphpri sparsify g.csv -o small.graphml --keep 300 --connected --plot g.png
  graphpri sparsify karate --keep 0.3 --report karate.html
  graphpri sparsify g.csv -o small.csv       beta alone decides how many stay
  graphpri sparsify g.mtx --keep 0.2 --method local-degree --option exponent=0.5
  graphpri sparsify a.csv b.csv jazz -o small/ --keep 0.3         one file each
  graphpri sparsify big.parquet -o small.npyd --keep 0.1 --memory 8GB
  graphpri sparsify edges/ -o kept/ --keep 0.3 --distributed --weight none

Ctrl-C during the search writes the best result so far and exits with 1; with --distributed nothing is written, and
--resume goes on from what the scratch folder has.""",
)


_OF_TESTS = ("significance", "correction")


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class OwnOptions:
    """Options of :func:`graphpri.sparsify` that the other commands don't have."""

    keep: Annotated[
        str | None,
        Parameter(
            metavar="K",
            help="Edges to keep: a share such as 0.3 or a number such as 120 (1 is a number, 1.0 a share). "
            "Without it beta decides, among subgraphs that keep the number of components.",
        ),
    ] = None
    beta: Annotated[
        float | None,
        Parameter(
            help="Weight of the divergence: small favours hubs, large favours likeness to the original. 50 with "
            "--keep where absent, 4 without."
        ),
    ] = None
    method: Annotated[
        str,
        Parameter(
            help="pri, or one of random, weight, spanning-forest, local-degree, local-similarity, jaccard, scan, "
            "triangles, simmelian, edge-betweenness, forest-fire, algebraic-distance, disparity, noise-corrected, "
            "marginal-likelihood, high-salience, metric, ultrametric, effective-resistance, "
            "effective-resistance-sampling."
        ),
    ] = "pri"
    reweight: Annotated[
        Literal["rescale", "divergence"] | None,
        Parameter(
            help="New weights for the kept edges, after any method: all times one factor, or those of least "
            "divergence; their sum is the original's. Without it weights stay as they are."
        ),
    ] = None
    solver: Annotated[
        Literal["auto", "budgeted", "gumbel"], Parameter(help="For pri; 'gumbel' is the paper's Algorithm 1.")
    ] = "auto"
    effort: Annotated[
        Literal["fast", "normal", "best"] | None, Parameter(help="For pri: how long to search; 'normal' where absent.")
    ] = None
    time_limit: Annotated[
        float | None, Parameter(metavar="SECONDS", help="For pri: stop then, with the best so far.")
    ] = None
    significance: Annotated[
        float | None,
        Parameter(
            metavar="P",
            help="In place of --keep, for disparity, noise-corrected and marginal-likelihood: keep edges of a p-value "
            "up to this.",
        ),
    ] = None
    correction: Annotated[
        Literal["holm", "bonferroni", "fdr"] | None, Parameter(help="Correct p-values for testing all edges.")
    ] = None
    option: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="NAME=VALUE",
            show_default=False,
            help="Option of the method, such as exponent=0.5 of local-degree, or of solver gumbel; repeatable.",
        ),
    ] = ()

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.sparsify`."""
        options = parse_options(self.option)
        if options:
            from graphpri._sparsify import sparsify

            if taken := sorted(options.keys() & signature(sparsify).parameters.keys()):
                text = f"--option {taken[0]} is for options of the method: pass --{taken[0].replace('_', '-')}"
                raise OptionError(text)
        own = {name: value for name, value in vars(self).items() if name != "option"}
        own = {name: value for name, value in own.items() if value is not None or name not in _OF_TESTS}
        return own | {"keep": None if self.keep is None else parse_keep(self.keep)} | options


@app.default
def sparsify(
    inputs: Annotated[
        tuple[str, ...],
        Parameter(name="INPUT", help=f"Files, '-' for standard input, or names of data sets. {machines.IN_PARTS}"),
    ],
    /,
    *,
    output: Annotated[
        str | None,
        Parameter(
            name=["--output", "-o"],
            metavar="FILE|DIR/",
            group=OUTPUT,
            help="Where to write the kept graph; '-' is standard output. A folder for several inputs.",
        ),
    ] = None,
    output_format: Annotated[
        str | None, Parameter(metavar="FORMAT", group=OUTPUT, help="By the suffix where absent; csv.gz is zipped csv.")
    ] = None,
    plot: Plot = None,
    report: Annotated[
        str | None,
        Parameter(
            metavar="FILE.html",
            group=OUTPUT,
            help="Write a page: what was asked and kept, all measures and pictures beside other methods.",
        ),
    ] = None,
    json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    asked: OwnOptions = OwnOptions(),
    search: SearchOptions = DEFAULT_SEARCH,
    covering: Covering = DEFAULT_COVERING,
    reading: ReadingOptions = DEFAULT_READING,
    limits: Limits = DEFAULT_LIMITS,
    many: Machines = DEFAULT_MACHINES,
) -> int:
    """Keep the informative edges of graphs and drop the rest.

    Keeps the edges that make the von Neumann entropy and the divergence from
    the original small; beta weighs one against the other. Prints a report of
    what was kept; without -o that is all.
    """
    outputs.refuse_two_streams(output, "graph", json=json)
    if many.distributed:
        for name, value in (("output-format", output_format), ("plot", plot), ("report", report), ("force", force)):
            if value:
                raise OptionError(f"--{name} is not for --distributed")
        machines.refuse_others(asked, search, covering, reading, limits)
        with limits.held(), Watch(quiet=quiet) as watch:
            found = machines.sparsify(inputs, output, many, {**vars(asked), **vars(search), **vars(reading)}, watch)
        if json or not quiet:
            print(show.as_json(found) if json else machines.report(found))
        return OK
    machines.refuse_without(many)
    targets = outputs.plan(inputs, outputs.Wanted(output, output_format, reading.format, plot, force, report))
    job = Job(asked.keywords() | vars(covering), search, reading, force)
    with limits.held(), Watch(quiet=quiet) as watch:
        results = [job.run(targets[0], watch)] if len(targets) == 1 else job.run_all(targets, watch)
    if json:
        print(show.as_json(results[0] if len(targets) == 1 else {"results": results}))
    elif not quiet:
        text = _report(results[0]) if len(targets) == 1 else show.table([_row(result) for result in results])
        print(text, file=sys.stderr if output == "-" else sys.stdout)
    if watch.interrupted:
        say("interrupted; what was found until then is written" if output else "interrupted")
        return FAILED
    return max((result.get("exit_code", OK) for result in results), default=OK)


class Job(NamedTuple):
    """What to do with every input."""

    keywords: dict[str, Any]
    search: SearchOptions
    reading: ReadingOptions
    force: bool

    def run_all(self, targets: Sequence[outputs.Target], watch: Watch) -> list[dict[str, Any]]:
        """Sparsify every input; one that fails is reported and does not stop the others."""
        results: list[dict[str, Any]] = []
        for target in targets:
            if watch.interrupted:
                results.append({"input": target.input, "error": "not begun: interrupted", "exit_code": FAILED})
                continue
            try:
                results.append(self.run(target, watch))
            except KeyboardInterrupt:
                watch.interrupted = True
                results.append({"input": target.input, "error": "interrupted", "exit_code": FAILED})
            except Exception as error:
                if is_debugging():
                    raise
                message, code = explain(error)
                say(f"error: {message}")
                results.append({"input": target.input, "error": message, "exit_code": code})
        return results

    def run(self, target: outputs.Target, watch: Watch) -> dict[str, Any]:
        """Sparsify one input, write the results, and report."""
        begin = time.perf_counter()
        with naming(target.input), ThreadPoolExecutor(1) as beside:
            if _is_large(target.input):
                beside.submit(_load_loops, self.keywords["method"], self.search.entropy)
            table = self.reading.read(target.input, watch)
            from graphpri._sparsify import sparsify  # which may have been imported meanwhile
            from graphpri.measures.reports import changed

            watch.stage(f"sparsifying {target.input}")
            options = self.keywords | self.search.keywords(table) | self.reading.policies()
            if options["method"] == "pri":
                options["callback"] = watch.step
            try:
                result = sparsify(table, **options)
            except Interrupted as stop:
                result = stop.result
            watch.stage("writing")
            found = beside.submit(result.report)
            written = write(target, result, watch, force=self.force)
        facts = {**found.result(), "weights": notes_in_words(result.notes), "cut_off": result.cut_off.message}
        if result.before is not None:
            facts["changes"] = changed(result)
        return {"input": target.input, **facts, **written, "seconds": time.perf_counter() - begin}


_LARGE_FILE = 10_000_000
"""Bytes from which it pays to load the compiler while a file is read, about a million edges."""


def _is_large(name: str) -> bool:
    from graphpri._runtime import workers

    return workers() > 1 and os.path.isfile(name) and os.path.getsize(name) >= _LARGE_FILE


def _load_loops(method: str, entropy: str) -> None:
    """Import what large graphs need, compiler and loops included, by a small graph: reading leaves time for that."""
    import numpy as np

    from graphpri import Graph, sparsify
    from graphpri._entropy import LARGE_EDGES

    nodes = np.arange(LARGE_EDGES)
    if method == "pri":
        sparsify(
            Graph.from_edges(nodes, nodes + 1),
            keep=0.3,
            entropy=entropy if entropy == "degree" else "local",
            effort="fast",
        )


def write(target: outputs.Target, result: Sparsified, watch: Watch, *, force: bool) -> dict[str, Any]:
    """Write a result's graph, picture and page, as far as they are wanted; returns what was written."""
    from graphpri import io

    written: dict[str, Any] = {}
    picture = b"" if target.picture is None else _picture(result, target.picture)
    page = b"" if target.page is None else _page(result, target.input)
    if target.output is not None:
        outputs.make_folder(target.output)
        notes = io.write(result.graph, target.output, target.format, force=force, progress=watch.file(target.output))
        written |= {"output": target.output, "output_notes": [notes_in_words([note]) for note in notes]}
    if target.picture is not None:
        outputs.write_bytes(target.picture, picture, force=force)
        written["picture"] = target.picture
    if target.page is not None:
        outputs.make_folder(target.page)
        outputs.write_bytes(target.page, page, force=force)
        written["page"] = target.page
    return written


def _picture(result: Sparsified, path: str) -> bytes:
    from graphpri import plot

    return outputs.picture_bytes(lambda ax: plot.graph(result.original, result, ax), path)


def _page(result: Sparsified, name: str) -> bytes:
    from graphpri.explorer import summary

    return summary.page(result, title=f"{name}, sparsified", command=command_line()).encode()


def _report(r: dict[str, Any]) -> str:
    """A result as text."""
    from graphpri.io.columns import merged

    budget = f"{_budget(r)}" + " or more" * r["at_least"]
    before, after = r["components"], r["components_kept"]
    how = [r["method"], *([f"solver {r['solver']}"] if r.get("solver", "budgeted") != "budgeted" else [])]
    own = {"connected": "components kept", "cover": "nodes covered"}
    how += [text for key, text in own.items() if r[key]]
    head = f"{r['input']}: {r['edges_kept']} of {r['edges']} edges kept ({r['share_kept']:.1%}) of {r['nodes']} nodes"
    notes = r.get("output_notes", [])
    return f"{head}\n" + show.fields(
        [
            ("method", ", ".join(how)),
            ("budget", f"{budget}, beta {r['beta']:g}" + (f", alpha {r['alpha']:g}" if r["alpha"] else "")),
            ("weights", r["weights"].removeprefix("weights: ")),
            ("new weights", _new_weights(r)),
            (
                "entropy S",
                f"{_with_error(r, 'entropy')} nats, original {_with_error(r, 'entropy_original')} ({r['entropy_by']})",
            ),
            ("divergence D", f"{_with_error(r, 'divergence')} nats"),
            (
                "objective J",
                f"{_with_error(r, 'objective')} = S + 2·{r['beta']:g}·D" + (" + barrier" if r["alpha"] else ""),
            ),
            ("components", f"{after}, original {before}"),
            ("cut off", in_words(r["cut_off"]) if r["nodes_cut_off"] else None),
            ("status", in_words(r["status"].message)),
            ("time", f"{r['seconds']:.2f} s"),
            ("written", None if r.get("output") in (None, "-") else r["output"]),
            ("about the file", "; ".join(merged(notes)) or None),
            ("picture", r.get("picture")),
            ("page", r.get("page")),
        ]
    )


def _budget(r: dict[str, Any]) -> Any:
    """What decided how many edges stay."""
    if r["keep"] is not None:
        return r["keep"]
    if "significance" in r:
        return f"none, significance {r['significance']:g}"
    return "left to beta" if r["method"] == "pri" else f"left to {r['method']}"


def _new_weights(r: dict[str, Any]) -> str | None:
    """What was done to the weights, and what it changed."""
    if r["reweight"] is None:
        return None
    changes = [f"sum times {r['weight_factor']:.4g}"]
    changes += [f"{name} {before:.4g} -> {after:.4g}" for name, (before, after) in r["changes"].items()]
    return f"{r['reweight']}: {', '.join(changes)}"


def _with_error(r: dict[str, Any], name: str) -> str:
    text = show.value(r, name)
    return text if isinstance(text, str) else f"{text:.4f}"


def _row(r: dict[str, Any]) -> dict[str, Any]:
    """A result as a row of the table of a batch."""
    if "error" in r:
        return {"input": r["input"], "status": "failed"}
    return {
        "input": r["input"],
        "edges": r["edges"],
        "kept": r["edges_kept"],
        "S": show.value(r, "entropy"),
        "D": show.value(r, "divergence"),
        "J": show.value(r, "objective"),
        "components": r["components_kept"],
        "cut off": r["nodes_cut_off"],
        "status": re.split("[:;]", r["status"])[0],
        "written": r.get("output"),
    }
