"""Read and write graphs as files: edge lists, GraphML, GEXF, JSON, GML, Pajek, MatrixMarket, METIS, npz, parquet.

Gzip of each is read and written; SIF, DOT, adjacency lists and matrices as text are read only.

A folder of NumPy arrays (``graph.npyd`` with ``source.npy``, ``target.npy`` and perhaps ``weight.npy``) is mapped
into memory instead of read.

A file becomes a :class:`graphpri.graph.EdgeTable`, with everything that it says and in its own order;
what to do about direction, self-loops, parallel edges and weights is decided when that becomes a graph.
"""

from __future__ import annotations

import os
from typing import IO, Any

from graphpri._arguments import checked
from graphpri.graph import EdgeTable, check_chosen
from graphpri.io.registry import FOLDER, FORMATS, READ_ONLY, Format, find_format, find_reader, recognise
from graphpri.io.sink import check_output, open_folder, open_sink
from graphpri.io.source import ProgressCallback, ReadOptions, open_folder_source, open_source, peeked

__all__ = [
    "FOLDER",
    "FORMATS",
    "READ_ONLY",
    "Format",
    "ProgressCallback",
    "check_output",
    "find_format",
    "read",
    "write",
]


@checked
def read(
    path_or_stream: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    comment: str | None = "auto",
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    variable: str | None = None,
    progress: ProgressCallback | None = None,
) -> EdgeTable:
    r"""Read a graph's edges and attributes from a file.

    Labels in text formats become integers where all of them are integers in canonical form (``12``,
    not ``012``), and stay text otherwise. In edge lists the nodes then stand in increasing order, and
    text labels in order of first appearance; other formats list their nodes, and keep their order.
    MatrixMarket, METIS and sparse matrices have no labels: node i is their node i + 1 (row i of a
    sparse matrix).

    A text that is a square block of numbers, with or without labels in a header, a first column or a comment above,
    is an adjacency matrix, also under the name of an edge list; its entries other than 0 are edges. Where it might as
    well be an edge list, it is refused, and ``format="matrix"`` or ``format="edgelist"`` says which it is.

    Integers written with a point (``12.0``), as tables with gaps have them, are integers, which the notes of the table
    say, unless ``format="edgelist"`` says that decimals are names of nodes.

    Parameters
    ----------
    path_or_stream : path, binary or text stream, or ``"-"``
        ``"-"`` is standard input. Content that is gzip is unzipped, whatever the name.
    format : str, optional
        Name of one of `FORMATS`, of `READ_ONLY` (``"matrix"``, ``"sif"``, ``"dot"``, ``"adjlist"``, ``"array"``,
        ``"mat"``) or ``"npy"``; by the suffix where absent (``.gz`` behind it does not count), and by the content where
        that tells nothing: in streams, and under names such as ``out.karate`` and ``graph.txt``.
    header : bool, optional
        Edge lists: whether the first row names the columns. Where absent, it does if it holds a known
        pair of names (source and target, from and to, u and v, src and dst, node1 and node2, i and j,
        start and end, ego and alter, …); a comment with such names does as well. Without a header, the
        third column is the weight and the others are called ``column4`` and so on.
    delimiter : str, optional
        Edge lists: comma, tab, semicolon, space (any run of spaces and tabs), or one ASCII character;
        found out where absent.
    comment : str or None
        Edge lists: characters that begin a comment line. ``"auto"`` is ``#`` and ``%``, and refuses lines
        that may as well be edges; None takes every line for an edge.
    label : str, optional
        GML, GraphML, GEXF, JSON, DOT and Pajek: the node attribute to call nodes by, or ``"id"`` for the file's
        own ids.

    source, target : str, optional
        Edge lists and parquet: the columns that hold the two ends of an edge, by their names in the first row; found
        by usual names where absent.
    variable : str, optional
        MATLAB: which variable to read, where several are square matrices; ``"Problem.A"`` is a field of a structure.
    progress : callable, optional
        Called as ``progress(stage, share)`` in the caller's thread, twenty times a second at most: the stage in a
        word ("reading", "writing"), and how much of it is done, from 0 to 1; NaN where the size of the input isn't
        known. Shares only fall where a large file turns out to need another way of reading. A stage ends with 1,
        unless it fails. What it raises ends the work, which then leaves nothing behind.

    Returns
    -------
    EdgeTable
        Its `row_name` gives file and line for messages.

    Raises
    ------
    FileError
        For a file that can't be read as this format; names the file and, where there is one, the line.
    OptionError
        For an unknown format, and an option that the format has no use for.
    MissingExtraError
        For parquet where pyarrow is not installed.

    Examples
    --------
    >>> import io
    >>> table = read(io.StringIO("source,target,weight\na,b,2\nb,c,0.5\n"), "csv")
    >>> table.labels, table.edge_attributes["weight"].tolist()
    (['a', 'b', 'c'], [2.0, 0.5])
    """
    known = find_reader(path_or_stream, format)
    options = ReadOptions(header, delimiter, comment, label, source, target, variable)
    check_chosen(source, target)
    if known is not None:
        known.check(options)
    if known is not None and known.folder:
        folder = open_folder_source(path_or_stream, progress)
        table = known.read(folder, options)
        folder.meter(1)
        return table
    with open_source(path_or_stream, progress) as opened:
        if known is None:
            head, opened = peeked(opened)
            known = recognise(opened, path_or_stream, head, options)
            known.check(options)
        return known.read(opened, options)


@checked
def write(
    graph: Any,
    path_or_stream: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    *,
    force: bool = False,
    progress: ProgressCallback | None = None,
) -> list[str]:
    """Write a graph to a file; the same graph gives the same bytes.

    A file appears complete or not at all, also when the writing is interrupted.

    Parameters
    ----------
    graph : object
        A table of edges, any graph that :func:`graphpri.sparsify` takes, or a result of it, of which the kept graph is
        written, with the attributes of the input.
    path_or_stream : path, binary or text stream, or ``"-"``
        ``"-"`` is standard output.
    format : str, optional
        Name of one of `FORMATS`, with ``.gz`` behind it for gzip; by the suffix where absent.
    force : bool
        Replace a file that exists.
    progress : callable, optional
        As in :func:`read`.

    Returns
    -------
    list of str
        What the format can't hold and is therefore not in the file, or will be read back changed; empty
        where everything is in it.

    Raises
    ------
    FileError
        For an output that can't be written or exists already, and labels that the format can't hold.
    GraphError
        For an object that is no graph.
    OptionError
        For an unknown format.
    MissingExtraError
        For parquet where pyarrow is not installed.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), labels=["anna", "ben", "carl"])
    >>> write(table, sys.stdout, "csv")
    source,target
    anna,ben
    ben,carl
    []
    """
    from graphpri.interop.tables import as_table

    known, zipped = find_format(path_or_stream, format, written=True)
    write_table = known.writer()
    table, said = as_table(graph)
    name = str(path_or_stream) if isinstance(path_or_stream, str | os.PathLike) else "the output"
    if known.folder:
        opened = open_folder(path_or_stream, force=force, progress=progress)
    else:
        opened = open_sink(path_or_stream, zipped=zipped, force=force, progress=progress)
    with opened as sink:
        return [*said, *write_table(table, sink, "standard output" if name == "-" else name)]
