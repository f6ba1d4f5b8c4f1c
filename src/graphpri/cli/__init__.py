"""The command line: which commands there are, errors and exit codes.

Each command is a module of its own, imported when it runs, and imports the library when it has work for it,
so that ``graphpri --help`` is quick. Exit codes are 0, 2 for usage and input that can't be used, and 1 for
everything else, an interruption included.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from graphpri._version import __version__
from graphpri.cli.commands import ARGUMENTS, COMMANDS, FAILED, OK, REFUSED, SUMMARY, build_app, is_debugging, say
from graphpri.errors import ClusterError, GraphPRIError, OptionError

if TYPE_CHECKING:
    from cyclopts.exceptions import MissingArgumentError

_DASH = "\N{NULL}-"
_NEGATIVE_LIST = re.compile(r"-\.?\d.*[,:].*")

_TAKES = {
    "path": "one graph",
    "choose": "one graph",
    "compare": "one graph",
    "explore": "one graph",
    "info": "one graph",
    "measure": "two graphs, ORIGINAL and KEPT",
    "mtl": "one table",
    "brain": "one SOURCE (a pattern such as 'scans/*.csv' stands in quotes)",
}

_OVERVIEW = """\
Usage: graphpri COMMAND ...

{summary}

Commands:
{commands}

Options:
  --help, -h  This text; after a command, that command's options.
  --version   The version.

Examples:
  graphpri sparsify karate --keep 0.5                      a data set's name stands for a file
  graphpri sparsify graph.csv -o small.csv --keep 0.3
  graphpri sparsify *.graphml -o small/ --keep 500         many files into a folder
  zcat big.txt.gz | graphpri sparsify - --keep 0.1 -o - > small.csv
  graphpri path karate --beta 0:10:0.5 -o path.csv
  graphpri compare karate --keep 0.2,0.5 --method pri,local-degree,random
  graphpri explore graph.csv -o page.html
  graphpri measure graph.csv small.csv
  graphpri reproduce --all --quick

Environment:
  GRAPHPRI_MEMORY    what a piece of work may take, such as 8GB (or --memory)
  GRAPHPRI_THREADS   threads for large graphs (or --threads)
  GRAPHPRI_DATA      folder of data sets; GRAPHPRI_CACHE: where they are kept
  GRAPHPRI_DEBUG     1 shows errors in full

Exit codes: 0 done, 2 usage or input that can't be used, 1 anything else.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process where absent.

    Returns
    -------
    int
        Exit code: 0, 2 for usage and input that can't be used, 1 for everything else. Errors are one line on
        standard error; with ``GRAPHPRI_DEBUG=1`` in the environment they are raised.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    ARGUMENTS.set(tuple(arguments))
    try:
        _accept_all_characters()
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _close_stdout()
        return FAILED
    except KeyboardInterrupt as interruption:
        how_to_go_on = [f"; {explain(about)[0]}" for about in interruption.args if isinstance(about, GraphPRIError)]
        say(f"interrupted{''.join(how_to_go_on)}")
        return FAILED
    except Exception as error:
        if is_debugging():
            raise
        message, code = explain(error)
        say(f"error: {message}")
        return code


def explain(error: Exception) -> tuple[str, int]:
    """The message for an error, in one line, and its exit code."""
    text = " ".join(str(error).split())
    if isinstance(error, GraphPRIError):
        from graphpri.cli.options import in_words

        failed = isinstance(error, ClusterError) or _is_failure(error.__context__)
        return " ".join(in_words(error.message).split()), FAILED if failed else REFUSED
    if isinstance(error, OSError) and _is_failure(error):
        return f"the output can't be written: {error.strerror}", FAILED
    if isinstance(error, MemoryError):
        return f"not enough memory{f': {text}' if text else ''}; '--entropy degree' needs the least", FAILED
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f" ({os.path.basename(at.tb_frame.f_code.co_filename)}, line {at.tb_lineno})" if at else ""
    return (
        f"internal error: {type(error).__name__}: {text}{where}; please report it with the command "
        "(GRAPHPRI_DEBUG=1 in the environment shows more)",
        FAILED,
    )


def _is_failure(error: BaseException | None) -> bool:
    """Whether a disk is full or fails, or a file is at its limit: neither input nor options are at fault."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)


def _run(arguments: list[str]) -> int:
    first = arguments[0] if arguments else "--help"
    if first in ("--help", "-h"):
        commands = "\n".join(f"  {name:<11} {summary}" for name, (_, summary) in COMMANDS.items())
        print(_OVERVIEW.format(summary=SUMMARY, commands=commands), end="")
        return OK
    if first == "--version":
        print(__version__)
        return OK
    from cyclopts.exceptions import CycloptsError, MissingArgumentError, UnusedCliTokensError

    try:
        command, bound, _ = build_app().parse_args(_mark(arguments), exit_on_error=False, print_error=False)
    except UnusedCliTokensError as error:
        raise OptionError(_too_many(first, error.unused_tokens or [])) from None
    except MissingArgumentError as error:
        raise OptionError(_missing(first, error)) from None
    except CycloptsError as error:
        about = f" {first}" if first in COMMANDS else ""
        text = str(error).replace(_DASH, "-")
        raise OptionError(f"{text} (see 'graphpri{about} --help')") from None
    return command(*map(_unmark, bound.args), **{k: _unmark(v) for k, v in bound.kwargs.items()}) or OK


_NAMED = 5  # arguments in a message, of those that a command has no place for


def _too_many(command: str, tokens: Sequence[str]) -> str:
    """The message about arguments that a command has no place for."""
    more = ", ".join(repr(token.replace(_DASH, "-")) for token in tokens[:_NAMED])
    more += f" and {len(tokens) - _NAMED} more" * (len(tokens) > _NAMED)
    takes = f"{command} takes {_TAKES[command]}: " if command in _TAKES else ""
    return f"{takes}{more} {'is one' if len(tokens) == 1 else 'are'} too many (see 'graphpri {command} --help')"


def _missing(command: str, error: MissingArgumentError) -> str:
    """The message about an argument that a command needs, with what it is; or about one without its value."""
    from difflib import get_close_matches

    at = error.argument
    assert at is not None
    see = f"(see 'graphpri {command} --help')"
    if error.keyword is not None or at.tokens:
        return f"{error.keyword or at.name} stands without a value: {at.parameter.help} {see}"
    options = [token for token in error.unused_tokens or [] if token.startswith("--")]
    meant = get_close_matches(at.name, options, 1)
    kinds = get_args(at.hint) if get_origin(at.hint) is Literal else ()
    choices = f" Choose from {', '.join(kinds)}." if kinds else ""
    words = f": {at.parameter.help}{choices}" if at.parameter.help else ""
    return f"{command} needs {at.name}{words}{f' Did you mean {at.name} instead of {meant[0]}?' if meant else ''} {see}"


def _mark(arguments: list[str]) -> list[str]:
    """Write what the parser takes for options, and isn't, in another way: lone dashes and lists such as -1,2."""
    marked: list[str] = []
    for argument in arguments:
        if _NEGATIVE_LIST.fullmatch(argument) and marked and re.fullmatch(r"--[a-z-]+", marked[-1]):
            marked[-1] += f"={argument}"
        else:
            marked.append(_DASH if argument == "-" else argument)
    return marked


def _unmark(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_unmark, cast("tuple[Any, ...]", value)))
    return "-" if value == _DASH else value


def _accept_all_characters() -> None:
    """Labels outside the terminal's encoding are written with escapes, not refused."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _close_stdout() -> None:
    """Nobody reads standard output any more: keep the interpreter from flushing it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
