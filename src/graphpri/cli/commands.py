"""The commands by name, the command line that is running, and what it says to the user."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from graphpri._version import __version__

if TYPE_CHECKING:
    from cyclopts import App

OK, FAILED, REFUSED = 0, 1, 2
"""Exit codes."""

SUMMARY = "Keep the informative edges of a graph and drop the rest, by the Principle of Relevant Information."
COMMANDS = {
    "sparsify": ("graphpri.cli.sparsify:app", "Keep the informative edges of graphs and drop the rest."),
    "path": ("graphpri.cli.path:app", "Sparsify along a range of beta or of budgets."),
    "choose": ("graphpri.cli.choose:app", "Try what serves a purpose best, and keep the best of it."),
    "compare": ("graphpri.cli.compare:app", "Compare methods at several budgets."),
    "explore": ("graphpri.cli.explore:app", "Make a page to explore what is kept, over beta and budgets."),
    "measure": ("graphpri.cli.measure:app", "Measure what a sparsified graph keeps of the original."),
    "mtl": ("graphpri.cli.mtl:app", "Fit regression tasks together over a sparsified graph of tasks."),
    "brain": ("graphpri.cli.brain:app", "Tell two classes of brain networks apart, and say by which edges."),
    "reproduce": ("graphpri.cli.reproduce:app", "Run the paper's figures and tables, with computed verdicts."),
    "info": ("graphpri.cli.info:app", "Describe a graph, and say what stands in the way of sparsifying it."),
    "data": ("graphpri.cli.data:app", "List, fetch and describe the named data sets."),
    "warm-up": ("graphpri.cli.warm_up:app", "Compile the loops for large graphs beforehand."),
    "completion": ("graphpri.cli.completion:app", "Print a script that completes commands in a shell."),
}

ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("ARGUMENTS", default=())
"""The command line that is running, without the program's name."""


def command_line() -> str:
    """The command line that is running, as a shell takes it."""
    return shlex.join(["graphpri", *ARGUMENTS.get()])


def is_debugging() -> bool:
    """Whether errors are to be raised, not explained."""
    return os.environ.get("GRAPHPRI_DEBUG") == "1"


def say(message: str) -> None:
    """Write a line to standard error."""
    with suppress(OSError):
        print(f"graphpri: {message}", file=sys.stderr, flush=True)


def build_app() -> App:
    """The parser of all commands."""
    from cyclopts import App, Parameter

    app = App(
        name="graphpri",
        help=SUMMARY,
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(negative_iterable=()),
    )
    for name, (target, _) in COMMANDS.items():
        app.command(target, name=name)
    return app
