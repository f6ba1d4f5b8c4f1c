"""All formats that can be read and written, and how a file's name says which it is."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

from graphpri.errors import OptionError, argument, setting
from graphpri.graph import EdgeTable
from graphpri.io.adjlist import read_adjacency_list
from graphpri.io.arrays import read_array, read_mat
from graphpri.io.delimited import read_edge_list, read_sized_edge_list, write_csv, write_ncol, write_spaced, write_tsv
from graphpri.io.detect import detect, detect_lists, detect_rows, way_out
from graphpri.io.dot import read_dot
from graphpri.io.gexf import read_gexf, write_gexf
from graphpri.io.gml import read_gml, write_gml
from graphpri.io.graphml import read_graphml, write_graphml
from graphpri.io.matrix import read_matrix
from graphpri.io.matrixmarket import read_matrix_market, write_matrix_market
from graphpri.io.metis import read_metis, write_metis
from graphpri.io.nodelink import read_json, write_json
from graphpri.io.npz import read_folder, read_npz, write_folder, write_npz
from graphpri.io.pajek import read_pajek, write_pajek
from graphpri.io.parquet import read_parquet, write_parquet
from graphpri.io.sif import read_sif
from graphpri.io.sink import is_edge_folder
from graphpri.io.source import InputStream, ReadOptions

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


_COLUMNS = frozenset({"source", "target"})
_ROWS = frozenset({"header", "delimiter", "comment"}) | _COLUMNS
_LABEL = frozenset({"label"})

FORMATS: tuple[Format, ...] = (
    Format("csv", (".csv",), partial(read_edge_list, preferred=","), write_csv, "edge list, by commas", _ROWS),
    Format("tsv", (".tsv",), partial(read_edge_list, preferred="\t"), write_tsv, "edge list, by tabs", _ROWS),
    Format(
        "edgelist",
        (".txt", ".edges", ".edgelist", ".el"),
        read_sized_edge_list,
        write_spaced,
        "edge list, by spaces or any of the others (SNAP, KONECT, networkx)",
        _ROWS,
    ),
    Format(
        "ncol",
        (".ncol",),
        partial(read_edge_list, headed=False, square=False),
        write_ncol,
        "edge list of two labels and a weight (igraph)",
        _ROWS,
    ),
    Format("mtx", (".mtx",), read_matrix_market, write_matrix_market, "MatrixMarket adjacency matrix"),
    Format("gml", (".gml",), read_gml, write_gml, "GML, with attributes", _LABEL),
    Format("graphml", (".graphml", ".xml"), read_graphml, write_graphml, "GraphML, with attributes", _LABEL),
    Format("gexf", (".gexf",), read_gexf, write_gexf, "GEXF (Gephi), with attributes", _LABEL),
    Format("json", (".json",), read_json, write_json, "node-link JSON (networkx, d3), with attributes", _LABEL),
    Format("pajek", (".net", ".paj"), read_pajek, write_pajek, "Pajek network", _LABEL),
    Format("metis", (".graph", ".metis"), read_metis, write_metis, "METIS adjacency lists"),
    Format("npz", (".npz",), read_npz, write_npz, "NumPy archive of everything; reads SciPy sparse matrices"),
    Format(
        "parquet",
        (".parquet", ".pq"),
        read_parquet,
        write_parquet,
        "parquet, a row an edge (extra 'parquet')",
        _COLUMNS,
    ),
)

"""All formats that are one file, or one stream."""

FOLDER = Format("npy", (".npyd",), read_folder, write_folder, "folder of NumPy arrays, mapped into memory", folder=True)
"""The format that is a folder."""

MATRIX = Format(
    "matrix",
    (".edge", ".1d"),
    read_matrix,
    None,
    "adjacency matrix as text, read only; those in csv, tsv and txt are recognised",
    frozenset({"delimiter", "comment"}),
    "mtx, npz or csv",
)
"""Adjacency matrices as text, which are read only."""

READ_ONLY: tuple[Format, ...] = (
    MATRIX,
    Format("sif", (".sif",), read_sif, None, "interactions of Cytoscape, read only", instead="csv, graphml or gexf"),
    Format(
        "dot",
        (".dot", ".gv"),
        read_dot,
        None,
        "DOT of the simple kind (networkx, pydot, igraph), read only",
        _LABEL,
        "graphml, gexf or json",
    ),
    Format(
        "adjlist",
        (".adjlist",),
        read_adjacency_list,
        None,
        "adjacency lists (networkx), read only",
        frozenset({"delimiter", "comment"}),
        "graphml, metis or csv",
    ),
    Format("array", (".npy",), read_array, None, "NumPy array, a square matrix, read only", instead="npz or mtx"),
    Format(
        "mat",
        (".mat",),
        read_mat,
        None,
        "MATLAB file with a square matrix, read only",
        frozenset({"variable"}),
        "npz or mtx",
    ),
)
"""All formats that are read and not written."""

_ALL = (*FORMATS, FOLDER, *READ_ONLY)
_START = 1 << 16  # bytes by which a content is recognised
_GENERIC = (".txt", ".xml")  # suffixes that say little: what the content is goes before them


def find_format(path_or_stream: Any, name: str | None, *, written: bool = False) -> tuple[Format, bool]:
    """The format by its name, or by the suffix of a path, and whether it is to be zipped by gzip.

    `written` says that messages should list those that can be written.

    Raises
    ------
    OptionError
        For a name or suffix that no format has, and where there is neither; lists them all.

    Examples
    --------
    >>> found, zipped = find_format("friends.csv.gz", None)
    >>> found.name, zipped
    ('csv', True)
    """
    wanted = name if name is not None else _path_name(path_or_stream)
    if wanted is None:
        raise OptionError(f"a stream has no suffix: pass {setting('format')}, one of {_names()}")
    plain = wanted.lower().removesuffix(".gz")
    zipped = plain != wanted.lower()
    for known in _ALL:
        if (plain == known.name) if name is not None else plain.endswith(known.suffixes):
            if known.folder and zipped:
                raise OptionError(f"{wanted}: a folder can't be zipped by gzip; write npz instead")
            if name is None and known is MATRIX:
                known = replace(known, read=partial(read_matrix, named=False))
            if name is not None and known.name == "edgelist":
                known = replace(known, read=partial(read_sized_edge_list, square=False))
            return known, zipped
    if name is None and isinstance(path_or_stream, str | os.PathLike) and is_edge_folder(path_or_stream):
        return FOLDER, False
    if name is not None and (foreign := way_out(f".{plain}")):
        raise OptionError(f"{argument('format', name)}: {foreign}")
    if name is not None:
        raise OptionError(f"{argument('format', name)}: choose from {_names()} (with .gz behind it for gzip)")
    if isinstance(path_or_stream, str | os.PathLike) and os.path.isdir(path_or_stream):
        raise OptionError(_is_folder(os.fsdecode(os.fspath(path_or_stream))))
    raise OptionError(
        f"{os.fspath(path_or_stream)}: its suffix names no format; rename it, or pass {setting('format')}, one of "
        + (_listed((*FORMATS, FOLDER)) if written else _listed())
    )


def find_reader(path_or_stream: Any, name: str | None) -> Format | None:
    """The format to read by its name, or by the suffix of a path; None where only the content tells.

    Raises
    ------
    OptionError
        For a name that no format has, and for a folder that is no graph.
    """
    if name is None:
        wanted = _path_name(path_or_stream)
        plain = "" if wanted is None else wanted.lower().removesuffix(".gz")
        is_path = isinstance(path_or_stream, str | os.PathLike)
        known = any(plain.endswith(known.suffixes) for known in _ALL)
        if (not known or plain.endswith(_GENERIC)) and not (is_path and os.path.isdir(path_or_stream)):
            return None
    return find_format(path_or_stream, name)[0]


def recognise(source: InputStream, path_or_stream: Any, head: bytes, options: ReadOptions) -> Format:
    """The format of a content, by its first bytes.

    Raises
    ------
    OptionError
        Where it is none that is read; names the way to one that is, if that is known, and else lists them all.
    FileError
        For an empty file.
    """
    if not head.strip(b" \t\r\n"):
        raise source.error("the file is empty")
    if head.startswith(b"PAR1"):
        return find_format("-", "parquet")[0]
    if head.startswith(b"\x93NUMPY"):
        return find_format("-", "array")[0]
    if head.startswith(b"MATLAB "):
        return find_format("-", "mat")[0]
    if head.startswith(b"PK\x03\x04") and b".npy" in head[:200]:
        return find_format("-", "npz")[0]
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = head[:_START].decode("utf-16" if wide else "utf-8", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    name = _path_name(path_or_stream) or ""
    found = detect(text)
    if found in (None, "json") and (foreign := way_out(name, "" if found else text)):
        raise source.error(foreign)
    if found is None and not options.changed():
        found = detect_lists(text, whole=len(head) < _START)
    plain = name.lower().removesuffix(".gz")
    if found is None and not options.changed() and plain.endswith(".txt") and detect_rows(text) == "sif":
        found = "sif"
    if found is None and (plain.endswith(".txt") or options.changed() or _is_binary(head)):
        found = "edgelist"
    found = found or detect_rows(text)
    if found is not None:
        return next(known for known in _ALL if known.name == found)
    raise OptionError(
        f"{source.name}: neither its name nor its first lines say what format it is: pass {setting('format')}, one of "
        + _listed()
    )


def _is_binary(head: bytes) -> bool:
    return b"\0" in head


def _listed(formats: Sequence[Format] = _ALL) -> str:
    return "; ".join(f"{known.name} ({' '.join(known.suffixes)})" for known in formats)


def _is_folder(path: str) -> str:
    """The message about a folder that is no graph."""
    suffixes = tuple(suffix for known in FORMATS for suffix in known.suffixes)
    found = [[s for s in suffixes if name.lower().endswith(s)] for name in os.listdir(path) if name[0] not in "._"]
    inside = Counter(max(ends, key=len) for ends in found if ends)
    if not inside:
        return f"{path}: is a folder, not a file, and no file in it has the suffix of a graph"
    example = os.path.join(path, "*" + min(inside, key=lambda suffix: (-inside[suffix], suffix)))
    return (
        f"{path}: is a folder, not a file: name files in it, such as {example} ('graphpri sparsify' takes several, a "
        "graph each). Parts of one graph are read by 'graphpri sparsify --distributed' and graphpri.distributed"
    )


def _path_name(path_or_stream: Any) -> str | None:
    if isinstance(path_or_stream, str | os.PathLike):
        path = os.fspath(path_or_stream)
        return None if path == "-" else os.path.basename(os.fsdecode(path))
    name = getattr(path_or_stream, "name", None)
    return os.path.basename(name) if isinstance(name, str) and "." in name else None


def _names() -> str:
    return ", ".join(known.name for known in _ALL)
