"""Tables of rows as CSV files, written whole and read back with every digit; and any table read as text."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import IO, Any

from graphpri.errors import FileError, MissingExtraError
from graphpri.io.rows import find_delimiter, sniff_delimiter, split_rows
from graphpri.io.sink import open_sink
from graphpri.io.source import InputStream, open_source


@dataclass(frozen=True)
class TextTable:
    """Columns of text under a header.

    Parameters
    ----------
    source : InputStream
        Whose :meth:`~graphpri.io.source.InputStream.error` names the file, and a line of it, in messages.
    columns : dict of str to list of str
        Cells by the names of the columns, in the file's order; an empty cell is an empty text.
    lines : sequence of int
        The line of each row.
    """

    source: InputStream
    columns: dict[str, list[str]]
    lines: Sequence[int]


def read_table(path_or_stream: str | os.PathLike[str] | IO[Any], delimiter: str | None = None) -> TextTable:
    r"""Read a delimited text file whose first row names the columns, unzipped where it is gzip.

    Rows without text, as spreadsheets write them, are passed over.

    Parameters
    ----------
    path_or_stream : path, binary or text stream, or ``"-"``
    delimiter : str, optional
        Comma, tab, semicolon, space, or one ASCII character. Where absent, it is found out by the first rows: a table
        without commas, tabs and semicolons has one column.

    Raises
    ------
    FileError
        Names file and line, for what can't be read, a name that is missing or stands twice, rows of another length
        than the header, and a header alone.

    Examples
    --------
    >>> table = read_table(io.BytesIO(b"subject;age\n007;31\n008;\n"))
    >>> table.columns
    {'subject': ['007', '008'], 'age': ['31', '']}
    >>> raise table.source.error("no age", table.lines[1])
    Traceback (most recent call last):
        ...
    graphpri.errors.FileError: the stream, line 3: no age
    """
    with open_source(path_or_stream) as source:
        data = source.text()
    if delimiter is None:
        sample = [(i, text) for i, text in enumerate(data[:_SAMPLE].decode(errors="ignore").split("\n"), 1) if text]
        mark = sniff_delimiter(source, sample[:-1] or sample, preferred="\t") or ","
    else:
        mark = find_delimiter(delimiter)
    rows = split_rows(source, data, mark)
    columns: dict[str, list[str]] = {}
    for i in range(rows.n_columns):
        name, *cells = rows.cells(i)
        if name is None or name in columns:
            what = f"column {i + 1} has no name" if name is None else f"two columns are called {name!r}: rename one"
            raise source.error(what, rows.lines[0])
        columns[name] = [cell or "" for cell in cells]
    lines = rows.lines[1:]
    filled = [any(row) for row in zip(*columns.values(), strict=True)]
    if not any(filled):
        raise source.error("the table has a header and no rows")
    if not all(filled):
        columns = {name: list(compress(cells, filled)) for name, cells in columns.items()}
        lines = list(compress(lines, filled))
    return TextTable(source, columns, lines)


_SAMPLE = 1 << 14  # bytes by which the delimiter is found out


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows under a header of all their keys; numbers with all digits, nothing where a row lacks a key."""
    held, all_rows = io.StringIO(), list(rows)
    columns = list(dict.fromkeys(key for row in all_rows for key in row))
    writer = csv.DictWriter(held, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(all_rows)
    return held.getvalue()


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV, whole or not at all."""
    write_text(path, as_csv(rows))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    write_folder(path.parent, {path.name: text})


def write_folder(folder: Path, contents: Mapping[str, str | bytes]) -> list[str]:
    """Write files by name, each whole or not at all; returns their names."""
    for name, content in contents.items():
        with open_sink(folder / name, zipped=False, force=True) as sink:
            sink.write(content.encode() if isinstance(content, str) else content)
    return list(contents)


def read(path: Path) -> Any:
    """A table as a pandas data frame.

    Raises
    ------
    FileError
        Where it is missing or no table.
    MissingExtraError
        Where pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "pandas", "reading a table of rows") from error
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=["", "nan"])
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {error}") from None
