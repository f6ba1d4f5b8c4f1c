"""All formats that can be read and written, and how a file's name says which it is."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Any

from graphpri.errors import OptionError, argument, setting
from graphpri.io.arrays import read_array, read_mat
from graphpri.io.delimited import read_edge_list, write_csv, write_ncol, write_spaced, write_tsv
from graphpri.io.format import Format, read_only
from graphpri.io.gml import read_gml, write_gml
from graphpri.io.graphml import read_graphml, write_graphml
from graphpri.io.matrix import read_matrix
from graphpri.io.matrixmarket import read_matrix_market, write_matrix_market
from graphpri.io.metis import read_metis, write_metis
from graphpri.io.npz import read_folder, read_npz, write_folder, write_npz
from graphpri.io.pajek import read_pajek, write_pajek
from graphpri.io.parquet import read_parquet, write_parquet
from graphpri.io.sink import is_edge_folder

_COLUMNS = frozenset({"source", "target"})
_ROWS = frozenset({"header", "delimiter", "comment"}) | _COLUMNS
_LABEL = frozenset({"label"})

FORMATS: tuple[Format, ...] = (
    Format("csv", (".csv",), partial(read_edge_list, preferred=","), write_csv, "edge list, by commas", _ROWS),
    Format("tsv", (".tsv",), partial(read_edge_list, preferred="\t"), write_tsv, "edge list, by tabs", _ROWS),
    Format(
        "edgelist",
        (".txt", ".edges", ".edgelist", ".el"),
        read_edge_list,
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
    read_only("matrix", "mtx, npz or csv"),
    "adjacency matrix as text, read only; those in csv, tsv and txt are recognised",
    frozenset({"delimiter", "comment"}),
)
"""Adjacency matrices as text, which are read only."""

READ_ONLY: tuple[Format, ...] = (
    MATRIX,
    Format("array", (".npy",), read_array, read_only("array", "npz or mtx"), "NumPy array, a square matrix, read only"),
    Format(
        "mat",
        (".mat",),
        read_mat,
        read_only("mat", "npz or mtx"),
        "MATLAB file with a square matrix, read only",
        frozenset({"variable"}),
    ),
)
"""All formats that are read and not written."""


def find_format(path_or_stream: Any, name: str | None) -> tuple[Format, bool]:
    """The format by its name, or by the suffix of a path, and whether it is to be zipped by gzip.

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
    for known in (*FORMATS, FOLDER, *READ_ONLY):
        if (plain == known.name) if name is not None else plain.endswith(known.suffixes):
            if known.folder and zipped:
                raise OptionError(f"{wanted}: a folder can't be zipped by gzip; write npz instead")
            if name is not None and known.name == "edgelist":
                known = replace(known, read=partial(read_edge_list, square=False))
            return known, zipped
    if name is None and isinstance(path_or_stream, str | os.PathLike) and is_edge_folder(path_or_stream):
        return FOLDER, False
    if name is not None:
        raise OptionError(f"{argument('format', name)}: choose from {_names()} (with .gz behind it for gzip)")
    if isinstance(path_or_stream, str | os.PathLike) and os.path.isdir(path_or_stream):
        raise OptionError(_is_folder(os.fsdecode(os.fspath(path_or_stream))))
    raise OptionError(
        f"{os.fspath(path_or_stream)}: its suffix names no format; rename it, or pass {setting('format')}, one of "
        + "; ".join(f"{known.name} ({' '.join(known.suffixes)})" for known in (*FORMATS, FOLDER, *READ_ONLY))
    )


def _is_folder(path: str) -> str:
    """The message about a folder that is no graph."""
    suffixes = tuple(suffix for known in FORMATS for suffix in known.suffixes)
    inside = min((name for name in os.listdir(path) if name.lower().endswith(suffixes)), default=None)
    if inside is None:
        return f"{path}: is a folder, not a file, and no file in it has the suffix of a graph"
    example = os.path.join(path, "*" + next(suffix for suffix in suffixes if inside.lower().endswith(suffix)))
    return f"{path}: is a folder, not a file: name files in it, such as {example} ('graphpri sparsify' takes several)"


def _path_name(path_or_stream: Any) -> str | None:
    if isinstance(path_or_stream, str | os.PathLike):
        path = os.fspath(path_or_stream)
        return None if path == "-" else os.path.basename(os.fsdecode(path))
    name = getattr(path_or_stream, "name", None)
    return os.path.basename(name) if isinstance(name, str) and "." in name else None


def _names() -> str:
    return ", ".join(known.name for known in (*FORMATS, FOLDER, *READ_ONLY))
