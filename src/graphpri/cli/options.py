"""Messages of the library as the command line says them: arguments of functions by the names of options."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextvars import ContextVar

ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("ARGUMENTS", default=())
"""The command line that is running, without the program's name."""

_BEFORE = r"(?<![\w'\"./=-])"
_VALUE = r"(?:'[^']*'|\"[^\"]*\"|[^\s,;:()'\"]+(?::(?=\d)[^\s,;()'\"]*)?)?"
_PLAIN = re.compile(r"(['\"])([\w.:+-]+)\1")


def as_options(text: str, names: Collection[str], typed: Sequence[str] = ()) -> str:
    """A message in which arguments of functions are named as options.

    Parameters
    ----------
    text : str
    names : collection of str
        Options of the command, as arguments are written: ``time_limit`` for ``--time-limit``.
    typed : sequence of str
        What the user typed, which stays as it is: names of files and values may look like arguments.

    Examples
    --------
    >>> as_options("time_limit=-1.0 is below 0; pass keep=, or connected=True", ["time_limit", "keep", "connected"])
    '--time-limit -1.0 is below 0; pass --keep, or --connected'
    >>> as_options('pass loops="drop" (--loops drop) to leave them out', ["loops"])
    'pass --loops drop to leave them out'
    """
    options = {form: name for name in names for form in (f"{name}s", name)} | {name: name for name in names}
    if not options:
        return text
    listed = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    twofold = re.compile(rf"{_BEFORE}(?:{listed})=([^()=]*?) ?\((--[a-z-]+)([^();]*)(\)|; )")
    single = re.compile(rf"{_BEFORE}({listed})=({_VALUE})")
    compound = "|".join(name for name in options if "_" in name)
    bare = re.compile(rf"{_BEFORE}({compound})\b(?!=)" if compound else r"(?!)")
    held = [word for word in dict.fromkeys(typed) if not word.startswith("-") and (single.search(word) or "_" in word)]
    parts = re.split(f"({'|'.join(map(re.escape, sorted(held, key=len, reverse=True)))})", text) if held else [text]
    for at in range(0, len(parts), 2):
        part = _joined(twofold, parts[at])
        part = single.sub(lambda found: _option(options[found[1]], found[2]), part)
        part = re.sub(r"(--[a-z-]+)=(['\"])([\w.:+-]+)\2", r"\1 \3", part)
        parts[at] = bare.sub(lambda found: _option(options[found[1]], ""), part)
    return "".join(parts)


def translated(text: str) -> str:
    """The message for the command that is running."""
    typed = ARGUMENTS.get()
    return as_options(text, option_names(typed[0]), typed[1:]) if typed else text


def option_names(command: str) -> list[str]:
    """Options of a command, as arguments of functions are written; none for one that has subcommands or isn't there."""
    from graphpri.cli import COMMANDS, build_app

    if command not in COMMANDS:
        return []
    try:
        found = build_app()[command].assemble_argument_collection()
    except ValueError:
        return []
    names = [name for argument in found for name in argument.names]
    return [
        name[2:].replace("-", "_")
        for name in names
        if name.startswith("--") and not name.startswith(("--no-", "--empty-"))
    ]


def _option(name: str, value: str) -> str:
    option = f"--{name.replace('_', '-')}"
    if value in ("", "True"):
        return option
    return f"--no-{option[2:]}" if value == "False" else f"{option} {_unquoted(value)}"


def _unquoted(values: str) -> str:
    """Values without the quotes that a shell needs none of either."""
    return _PLAIN.sub(lambda found: found[2], values)


def _joined(twofold: re.Pattern[str], text: str) -> str:
    """The text with one name for what it names twice, as an argument and in brackets as an option."""

    def join(found: re.Match[str]) -> str:
        values, option, rest, end = found.groups()
        told = f"{option} {_unquoted(values)}" if rest.strip() == "…" else option + rest
        return told + (" (" if end != ")" else "")

    return twofold.sub(join, text)
