"""``graphpri sparsify --distributed``: graphs in parts, on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from graphpri.cli import show
from graphpri.cli.commands import say
from graphpri.cli.options import parse_keep
from graphpri.errors import OptionError

if TYPE_CHECKING:
    from graphpri.cli.progress import Watch
    from graphpri.distributed import Step

MACHINES = Group("Many machines", sort_key=35)


@Parameter(name="*", group=MACHINES)
@dataclass(frozen=True, kw_only=True)
class Machines:
    """Whether and where to sparsify over parts of a graph."""

    distributed: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="INPUT is a folder of parts, parquet or CSV, and -o a folder to write: the graph need not fit into "
            "memory. On all cores of this machine where no scheduler is named.",
        ),
    ] = False
    scheduler: Annotated[
        str | None, Parameter(metavar="ADDRESS", help="Dask cluster to work on, such as tcp://host:8786.")
    ] = None
    scratch: Annotated[
        str | None,
        Parameter(
            metavar="URL",
            help="Folder that all workers can reach, about 30 bytes an edge; beside the output if absent.",
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
    *("memory", "threads"),
}


def refuse_without(machines: Machines) -> None:
    """Refuse options of many machines where the graph is to be sparsified in memory."""
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
    names = ("beta", "alpha", "method", "seed", "loops", "parallel", "source", "target")
    asked = {name: options[name] for name in names if options[name] is not None}
    weight = options["weight"]
    watch.stage("connecting")
    told = False

    def tell(step: Step) -> None:
        nonlocal told
        if not told and step.dashboard and watch.shows:
            say(f"dashboard: {step.dashboard}")
            told = True
        watch.show(str(step), step.share)

    client: Any = None
    if machines.scheduler is not None:
        client = distributed.connect(machines.scheduler)
    try:
        found = distributed.sparsify(
            inputs[0],
            output,
            keep=parse_keep(options["keep"]),
            entropy=options["entropy"],
            weight=None if weight == "none" else weight,
            connected=bool(options["connected"]),
            client=client,
            scratch=machines.scratch,
            resume=machines.resume,
            callback=tell,
            **asked,
        )
    finally:
        if client is not None:
            client.close()
    return {**vars(found), "output": output}


def report(r: Mapping[str, Any]) -> str:
    """A result as text."""
    cut = r["nodes_cut_off"]
    lost = f", {cut} node{'s' * (cut > 1)} lost all of {'their' if cut > 1 else 'its'} edges" if cut else ""
    beta, alpha = r["settings"]["beta"], r["settings"]["alpha"]
    share = r["kept"] / r["edges"]
    return (
        f"{r['input']}: {r['kept']} of {r['edges']} edges kept ({share:.1%}) of {r['nodes']} nodes{lost}\n"
        + show.fields(
            [
                ("budget", f"{r['settings']['keep']}, beta {beta:g}" + (f", alpha {alpha:g}" if alpha else "")),
                ("entropy S", f"{r['entropy']:.4f} nats, original {r['entropy_original']:.4f} (degree)"),
                ("divergence D", f"{r['divergence']:.4f} nats"),
                ("objective J", f"{r['objective']:.4f} = S + 2·{beta:g}·D" + (" + barrier" if alpha else "")),
                ("about the input", "; ".join(r["notes"]) or None),
                ("written", f"{r['output']}: {len(r['parts'])} parts and manifest.json"),
            ]
        )
    )
