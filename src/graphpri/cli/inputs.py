"""The graphs that commands work on: files, standard input and named data sets, and the options that read them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from graphpri.cli.commands import say
from graphpri.errors import FileError, GraphError, MemoryLimitError, OptionError, did_you_mean

if TYPE_CHECKING:
    from graphpri.cli.progress import Watch
    from graphpri.graph import EdgeTable

MOST_DIGITS = 4000
"""Digits of the longest integers that are read as such; Python's limit is 4300."""
_INTEGER = re.compile(r"-?(0|[1-9]\d*)")

READING = Group("Reading the input", sort_key=20)

INPUT_HELP = "A file, '-' for standard input, or the name of a data set (karate, jazz); a .npyd folder too."
InputName = Annotated[str, Parameter(help=INPUT_HELP)]


@Parameter(name="*", group=READING)
@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How to read graphs, and what to do about those that are not simple, undirected and weighted as expected."""

    format: Annotated[
        str | None,
        Parameter(
            help="csv, tsv, edgelist (SNAP, KONECT), ncol, mtx, gml, graphml, gexf, json (node-link), pajek, metis, "
            "npz, parquet, npy (a folder of arrays); read only: matrix (a square text of numbers), array (.npy), mat, "
            "sif, dot, adjlist. By the suffix where absent, and by the content where that tells nothing. Gzip is "
            "recognised."
        ),
    ] = None
    weight: Annotated[
        str,
        Parameter(metavar="NAME", help="Edge attribute used as weight where edges have it; 'none' ignores weights."),
    ] = "weight"
    directed: Annotated[
        Literal["refuse", "symmetrize", "average"],
        Parameter(help="Directed graphs: opposite arcs are joined, their weights added ('symmetrize') or averaged."),
    ] = "refuse"
    loops: Annotated[Literal["refuse", "drop"], Parameter(help="Self-loops: 'drop' leaves them out.")] = "refuse"
    parallel: Annotated[
        Literal["refuse", "sum", "max", "first"],
        Parameter(help="Edges between the same two nodes: which weight the one that is made of them has."),
    ] = "refuse"
    negative: Annotated[
        Literal["refuse", "abs", "drop"],
        Parameter(help="Edges of negative weight: 'abs' takes absolute values, 'drop' leaves them out."),
    ] = "refuse"
    zero: Annotated[Literal["refuse", "drop"], Parameter(help="Edges of weight 0: 'drop' leaves them out.")] = "refuse"
    header: Annotated[
        bool | None, Parameter(help="Edge lists: the first row names the columns; recognised where absent.")
    ] = None
    delimiter: Annotated[
        str | None, Parameter(help="Edge lists: comma, tab, semicolon, space or a character; found out where absent.")
    ] = None
    comment: Annotated[
        str,
        Parameter(
            metavar="CHARS",
            help="Edge lists: what comment lines begin with; 'auto' is # and %, 'none' takes every line for an edge.",
        ),
    ] = "auto"
    source: Annotated[
        str | None,
        Parameter(
            metavar="NAME", help="Edge lists, parquet: column of one end of the edges; by usual names if absent."
        ),
    ] = None
    target: Annotated[str | None, Parameter(metavar="NAME", help="Column of the other end.")] = None
    variable: Annotated[
        str | None, Parameter(metavar="NAME", help="MATLAB: which variable, where several are square matrices.")
    ] = None
    label: Annotated[
        str | None,
        Parameter(
            metavar="NAME", help="GML, GraphML, GEXF, JSON, DOT, Pajek: node attribute to call nodes by, or 'id'."
        ),
    ] = None

    def read(self, name: str, watch: Watch) -> EdgeTable:
        """Read a graph; a file goes before a data set of the same name, and a note then says so.

        Parameters
        ----------
        name : str
        watch : Watch
            Shows how far it is.

        Raises
        ------
        GraphPRIError
            Where there is no such file or data set, or it can't be read.
        """
        from graphpri import datasets, io

        watch.stage(f"reading {'standard input' if name == '-' else name}")
        file = is_file(name)
        if not file and is_dataset(name):
            if unused := [option for option in _OF_FILES if getattr(self, option)]:
                raise OptionError(f"{name} is a data set, not a file: --{unused[0]} has no meaning for it")
            return datasets.load(name)
        if not file:
            refuse_unknown(name)
        elif is_dataset(name):
            say(f"note: {name} is read from the file of that name, not from the data set")
        if name == "-" and self.format is not None and io.find_format(name, self.format)[0] is io.FOLDER:
            raise OptionError(f"-: standard input can't be a folder, as the format {self.format} is")
        comment = None if self.comment == "none" else self.comment
        return io.read(
            bare(name),
            self.format,
            header=self.header,
            delimiter=self.delimiter,
            comment=comment,
            label=self.label,
            source=self.source,
            target=self.target,
            variable=self.variable,
            progress=watch.file(name),
        )

    def policies(self) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.as_graph`."""
        weight = None if self.weight == "none" else self.weight
        return {"weight": weight} | {name: getattr(self, name) for name in _EDGE_POLICIES}


DEFAULT_READING = ReadingOptions()
_OF_FILES = ("format", "header", "delimiter", "label", "source", "target", "variable")
_EDGE_POLICIES = ("directed", "loops", "parallel", "negative", "zero")


def is_file(name: str) -> bool:
    """Whether the name is standard input, or of something on disk that is a graph or may be one."""
    return name == "-" or (_asks(Path(name).exists) and (not is_folder(name) or is_graph_folder(name)))


def is_folder(name: str) -> bool:
    """Whether the name is of a folder on disk."""
    return _asks(Path(name).is_dir)


def is_graph_folder(name: str) -> bool:
    """Whether a folder on disk is one graph as arrays, by its files or by its suffix."""
    from graphpri.io.sink import is_edge_folder

    return is_folder(name) and (has_folder_suffix(name) or _asks(lambda: is_edge_folder(name)))


def bare(name: str) -> str:
    """The name without the slash that shells put behind folders, where it is that of a folder of arrays."""
    return name.rstrip("/" + os.sep) if has_folder_suffix(name) or is_graph_folder(name) else name


def has_folder_suffix(name: str) -> bool:
    """Whether the name is that of a folder of arrays."""
    from graphpri.io import FOLDER

    return Path(name).name.lower().endswith(FOLDER.suffixes)


def _asks(question: Callable[[], bool]) -> bool:
    """The answer about a path; no for names that can't be those of files, too long ones for example."""
    try:
        return question()
    except (OSError, ValueError):
        return False


def is_dataset(name: str) -> bool:
    """Whether a data set has this name."""
    from graphpri import datasets

    try:
        datasets.info(name)
    except OptionError:
        return False
    return True


def refuse_unknown(name: str) -> None:
    """Refuse a bare word that is neither a file nor a data set; a path is left to the reader, who looks around."""
    from graphpri import datasets

    if is_folder(name) or Path(name).name != name or "." in name:
        return
    if not is_dataset(name):
        hint = did_you_mean(name.casefold(), datasets.names(), 0.6) or "; see 'graphpri data list'"
        raise FileError(f"{name}: there is no such file, and no data set of that name{hint}")


@contextmanager
def naming(name: str) -> Generator[None]:
    """Within this, errors about a graph or memory have the input's name before them, where they don't say it."""
    shown = "standard input" if name == "-" else name
    try:
        yield
    except (GraphError, MemoryLimitError) as error:
        if shown in str(error):
            raise
        raise error.at(shown) from None


def matched(kept: EdgeTable, original: EdgeTable) -> EdgeTable:
    """The kept graph with its labels written as those of the original: 7 where that says 7, "7" where it says "7".

    A file of which every label is an integer is read as integers, and one with a single other label as text.
    """
    if holds_numbers(kept) and holds_numbers(original):
        return kept
    labels = label_set(original)
    own = [kept.label(i) for i in range(kept.n_nodes)]
    if all(label in labels for label in own):
        return kept
    return replace(kept, labels=[_spelt_as_in(labels, label) for label in own])


def _spelt_as_in(labels: Container[Any], label: Any) -> Any:
    other = other_spelling(label)
    return other if label not in labels and other in labels else label


def holds_numbers(table: EdgeTable) -> bool:
    """Whether the labels of a table are integers, and held as such: those of a large graph from a file are."""
    labels: Any = table.labels
    return labels is None or getattr(getattr(labels, "dtype", None), "kind", "") in ("i", "u")


def label_set(table: EdgeTable) -> Container[Any]:
    """Labels of all nodes of a table."""
    labels: Any = table.labels
    if labels is None:
        return _NodeNumbers(table.n_nodes)
    return set(labels.tolist()) if holds_numbers(table) else {table.label(i) for i in range(table.n_nodes)}


class _NodeNumbers(Container[Any]):
    """0, 1, 2 and so on, without a set of them."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __contains__(self, label: object) -> bool:
        return isinstance(label, int) and 0 <= label < self._n


def other_spelling(label: Any) -> Any:
    """The same label as text where it is an integer, as an integer where it is text that writes one."""
    if isinstance(label, str):
        return int(label) if _INTEGER.fullmatch(label) and len(label) < MOST_DIGITS else label
    return str(label)
