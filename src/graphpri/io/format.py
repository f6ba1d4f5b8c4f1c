"""What a file format is to the reader and the writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import BinaryIO

from graphpri.errors import OptionError, argument, setting
from graphpri.graph import EdgeTable
from graphpri.io.source import InputStream


@dataclass(frozen=True)
class ReadOptions:
    """Choices of :func:`graphpri.io.read` that only some formats know."""

    header: bool | None = None
    delimiter: str | None = None
    comment: str | None = "auto"
    label: str | None = None
    source: str | None = None
    target: str | None = None
    variable: str | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "comment"):
            if getattr(self, name) == "":
                raise OptionError(f"{argument(name, '')} is no text: leave it out, or pass {setting(name, None)}")

    def changed(self) -> set[str]:
        """Names of the options that differ from their default."""
        return {f.name for f in fields(self) if getattr(self, f.name) != f.default}


Write = Callable[[EdgeTable, BinaryIO, str], list[str]]


@dataclass(frozen=True)
class Format:
    """A file format: how to know it, read it and write it.

    Parameters
    ----------
    name : str
        Name for ``format=`` and ``--format``.
    suffixes : tuple of str
        File name endings that mean this format, with the dot.
    read : callable
        Makes an EdgeTable of a InputStream.
    write : callable or None
        Writes an EdgeTable to a binary stream, given a name for messages, and returns notes on what
        the format can't hold. None for a format that is read only.
    description : str
        One line for lists of formats.
    options : frozenset of str
        Fields of ReadOptions that `read` uses; others are refused.
    instead : str
        What to write instead of a format that is read only.
    folder : bool
        Whether it is a folder of files, which `read` finds at the source's `path`, and `write` makes in the
        sink's `folder`.

    Examples
    --------
    >>> from graphpri.io import find_format
    >>> found, zipped = find_format("friends.graphml.gz", None)
    >>> found.name, zipped, found.suffixes
    ('graphml', True, ('.graphml', '.xml'))
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[InputStream, ReadOptions], EdgeTable]
    write: Write | None
    description: str
    options: frozenset[str] = frozenset()
    instead: str = ""
    folder: bool = False

    def writer(self) -> Write:
        """What writes the format.

        Raises
        ------
        OptionError
            For a format that is read only; names others.
        """
        if self.write is None:
            raise OptionError(f"{argument('format', self.name)}: is read, not written; write {self.instead}")
        return self.write

    def check(self, options: ReadOptions) -> None:
        """Refuse options that this format has no use for.

        Raises
        ------
        OptionError
            Names them.
        """
        if unused := sorted(options.changed() - self.options):
            known = ", ".join(sorted(self.options)) or "none"
            raise OptionError(
                f"{', '.join(argument(name, getattr(options, name)) for name in unused)} has no meaning for the format "
                f"{self.name!r} (its options: {known})"
            )
