"""Read and write graphs as files: edge lists, MatrixMarket, GML, GraphML, Pajek, METIS, npz, parquet, gzip of each.

A file becomes a :class:`graphpri.graph.EdgeTable`, with everything that it says and in its own order;
what to do about direction, self-loops, parallel edges and weights is decided when that becomes a graph.
"""

from __future__ import annotations

import os
from typing import IO, Any

from graphpri.graph import EdgeTable
from graphpri.io.format import Format, ReadOptions
from graphpri.io.registry import FORMATS, find_format
from graphpri.io.sink import check_output, open_sink
from graphpri.io.source import open_source

__all__ = ["FORMATS", "Format", "check_output", "find_format", "read", "write"]


def read(
    path_or_stream: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    comment: str | None = "auto",
    label: str | None = None,
) -> EdgeTable:
    r"""Read a graph's edges and attributes from a file.

    Labels in text formats become integers where all of them are integers in canonical form (``12``,
    not ``012``), and stay text otherwise. In edge lists the nodes then stand in increasing order, and
    text labels in order of first appearance; other formats list their nodes, and keep their order.
    MatrixMarket, METIS and sparse matrices have no labels: node i is their node i + 1 (row i of a
    sparse matrix).

    Parameters
    ----------
    path_or_stream : path, binary or text stream, or ``"-"``
        ``"-"`` is standard input. Content that is gzip is unzipped, whatever the name.
    format : str, optional
        Name of one of `FORMATS`; by the suffix where absent (``.gz`` behind it does not count).
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
        GML, GraphML and Pajek: the node attribute to call nodes by, or ``"id"`` for the file's own ids.

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
    known, _ = find_format(path_or_stream, format)
    options = ReadOptions(header, delimiter, comment, label)
    known.check(options)
    with open_source(path_or_stream) as source:
        return known.read(source, options)


def write(
    table: EdgeTable,
    path_or_stream: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    *,
    force: bool = False,
) -> list[str]:
    """Write a table of edges to a file; the same table gives the same bytes.

    A file appears complete or not at all, also when the writing is interrupted.

    Parameters
    ----------
    table : EdgeTable
    path_or_stream : path, binary or text stream, or ``"-"``
        ``"-"`` is standard output.
    format : str, optional
        Name of one of `FORMATS`, with ``.gz`` behind it for gzip; by the suffix where absent.
    force : bool
        Replace a file that exists.

    Returns
    -------
    list of str
        What the format can't hold and is therefore not in the file, or will be read back changed; empty
        where everything is in it.

    Raises
    ------
    FileError
        For an output that can't be written or exists already, and labels that the format can't hold.
    OptionError
        For an unknown format.
    MissingExtraError
        For parquet where pyarrow is not installed.
    """
    known, zipped = find_format(path_or_stream, format)
    name = str(path_or_stream) if isinstance(path_or_stream, str | os.PathLike) else "the output"
    with open_sink(path_or_stream, zipped=zipped, force=force) as sink:
        return known.write(table, sink, "standard output" if name == "-" else name)
