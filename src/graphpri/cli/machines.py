"""``graphpri sparsify`` and ``measure --distributed``: graphs in parts, on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from graphpri.cli import show
from graphpri.cli.commands import say
from graphpri.cli.options import notes_in_words, parse_keep
from graphpri.errors import OptionError

if TYPE_CHECKING:
    from graphpri.cli.progress import Watch
    from graphpri.distributed import Step
    from graphpri.measures import Report

IN_PARTS = "With --distributed a folder of parts, one part, or a pattern in quotes."
"""End of the help on an input."""

MACHINES = Group("Many machines", sort_key=35)


@Parameter(name="*", group=MACHINES)
@dataclass(frozen=True, kw_only=True)
class Machines:
    """Whether and where to work on parts of a graph."""

    distributed: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Graphs are folders of parts, parquet or CSV, as what -o writes: they need not fit into memory. On "
            "all cores of this machine where no scheduler is named.",
        ),
    ] = False
    scheduler: Annotated[
        str | None, Parameter(metavar="ADDRESS", help="Dask cluster to work on, such as tcp://host:8786.")
    ] = None
    scratch: Annotated[
        str | None,
        Parameter(
            metavar="URL",
            help="Folder that all workers can reach and that is not there yet, 30 to 40 bytes an edge; beside the "
            "output if absent. It is removed at the end.",
        ),
    ] = None
    resume: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Go on from what an unfinished run left in the scratch folder."
        ),
    ] = False


DEFAULT_MACHINES = Machines()

_TAKEN = {
    *(
        "keep",
        "beta",
        "alpha",
        "entropy",
        "method",
        "seed",
        "connected",
        "weight",
        "loops",
        "parallel",
        "source",
        "target",
    ),
    "threads",
}


def refuse_without(machines: Machines) -> None:
    """Refuse options of many machines where the graph is to be read into memory."""
    for field in fields(machines):
        if getattr(machines, field.name) != field.default:
            raise OptionError(f"--{field.name} is for --distributed: pass that as well")


def refuse_others(*groups: Any) -> None:
    """Refuse options that have no meaning over parts, where they are given."""
    for group in groups:
        for field in fields(group):
            if field.name not in _TAKEN and getattr(group, field.name) != field.default:
                raise OptionError(f"--{field.name.replace('_', '-')} is not for --distributed")


def sparsify(
    inputs: tuple[str, ...], output: str | None, machines: Machines, options: Mapping[str, Any], watch: Watch
) -> dict[str, Any]:
    """Sparsify a graph in parts; returns what to report.

    Parameters
    ----------
    inputs : tuple of str
        One path or URL.
    output : str or None
        Folder to write.
    machines : Machines
    options : mapping
        What was asked for, by the names of options.
    watch : Watch
        Shows how far it is.
    """
    from graphpri import distributed

    if len(inputs) != 1:
        raise OptionError("--distributed takes one INPUT: a folder of parts, one part, or a pattern in quotes")
    if output is None or output == "-":
        raise OptionError("--distributed writes a folder: pass -o DIR/")
    if options["keep"] is None:
        raise OptionError("--distributed needs --keep: sizes are not searched for over parts")
    names = ("beta", "alpha", "method", "seed")
    asked = {name: options[name] for name in names if options[name] is not None}
    with _running(machines, options, watch) as common:
        found = distributed.sparsify(
            inputs[0],
            output,
            keep=parse_keep(options["keep"]),
            entropy=options["entropy"],
            connected=bool(options["connected"]),
            resume=machines.resume,
            **asked,
            **common,
        )
    return {**vars(found), "notes": [notes_in_words([note]) for note in found.notes], "output": output}


@contextmanager
def _running(machines: Machines, options: Mapping[str, Any], watch: Watch) -> Generator[dict[str, Any]]:
    """Arguments about the input and the cluster; the connection to one is closed at the end."""
    from graphpri import distributed

    names = ("loops", "parallel", "source", "target")
    asked = {name: options[name] for name in names if options[name] is not None}
    weight = None if options["weight"] == "none" else options["weight"]
    watch.stage("connecting")
    client: Any = None
    if machines.scheduler is not None:
        client = distributed.connect(machines.scheduler)
    try:
        yield {"weight": weight, "client": client, "scratch": machines.scratch, "callback": _teller(watch)} | asked
    finally:
        if client is not None:
            client.close()


def _teller(watch: Watch) -> Callable[[Step], None]:
    """Shows steps, and the address of the dashboard once."""
    announced = False

    def tell(step: Step) -> None:
        nonlocal announced
        if not announced and step.dashboard and watch.shows:
            say(f"dashboard: {step.dashboard}")
            announced = True
        watch.show(str(step), step.share)

    return tell


MEASURED = ("entropy", "divergence", "objective")
"""Measures that there are over parts."""


def measure(original: str, kept: str, machines: Machines, options: Mapping[str, Any], watch: Watch) -> Report:
    """Estimate what a graph in parts keeps of another; options by their names.

    Raises
    ------
    OptionError
        For measures and entropies that there are not over parts.
    """
    from graphpri import distributed
    from graphpri.measures import Report

    wanted = options["measures"]
    names = MEASURED if wanted in (["all"], ["core"]) else tuple(wanted)
    if unknown := [name for name in names if name not in MEASURED]:
        raise OptionError(f"--measures {unknown[0]} is not for --distributed: {', '.join(MEASURED)} are")
    if options["entropy"] not in ("auto", "stochastic"):
        raise OptionError(
            f"--entropy {options['entropy']} is not for --distributed, which estimates the exact one; the "
            "manifest of what sparsify wrote has that by which it was made"
        )
    if machines.resume:
        raise OptionError("--resume is for sparsify: estimates begin anew")
    settings = {name: options[name] for name in ("beta", "alpha", "mixture", "unit", "seed")}
    with _running(machines, options, watch) as common:
        found = distributed.estimate(original, kept, **settings, **common)
    values: dict[str, float] = {}
    for name, value in vars(found).items():
        if name.removesuffix("_original") in names:
            values |= {name: value.value, f"{name}_error": value.error}
    return Report(values, {}, (), settings | {"entropy": "stochastic"})


def report(r: Mapping[str, Any]) -> str:
    """A result as text."""
    cut = r["nodes_cut_off"]
    lost = f", {cut} node{'s' * (cut > 1)} lost all of {'their' if cut > 1 else 'its'} edges" if cut else ""
    beta, alpha = r["settings"]["beta"], r["settings"]["alpha"]
    share, by = r["kept"] / r["edges"], r["settings"]["entropy"]
    return (
        f"{r['input']}: {r['kept']} of {r['edges']} edges kept ({share:.1%}) of {r['nodes']} nodes{lost}\n"
        + show.fields(
            [
                ("budget", f"{r['settings']['keep']}, beta {beta:g}" + (f", alpha {alpha:g}" if alpha else "")),
                (
                    "entropy S",
                    f"{r['entropy']:.4f} nats, original {r['entropy_original']:.4f} ({by})",
                ),
                ("divergence D", f"{r['divergence']:.4f} nats"),
                ("objective J", f"{r['objective']:.4f} = S + 2·{beta:g}·D" + (" + barrier" if alpha else "")),
                ("about the input", "; ".join(r["notes"]) or None),
                ("written", f"{r['output']}: {len(r['parts'])} parts and _manifest.json"),
            ]
        )
    )
