"""Tables of rows as CSV files, written whole and read back with every digit; and any table read cell by cell."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from graphpri.errors import FileError, MissingExtraError
from graphpri.io.rows import Cell, Rows, find_delimiter, sniff_delimiter, split_rows
from graphpri.io.sink import open_sink
from graphpri.io.source import InputStream, open_source


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header.

    Parameters
    ----------
    source : InputStream
        Whose :meth:`~graphpri.io.source.InputStream.error` names the file, and a line of it, in messages.
    names : tuple of str
        Names of the columns, as they stand in the file.
    rows : Rows
        Cells as text, and the line of each row.
    """

    source: InputStream
    names: tuple[str, ...]
    rows: Rows

    def columns(self) -> dict[str, list[Cell]]:
        """Cells of each column as text; None where a cell is empty."""
        return {name: self.rows.cells(i) for i, name in enumerate(self.names)}


def read_table(path_or_stream: str | os.PathLike[str] | IO[Any], delimiter: str | None = None) -> Table:
    r"""Read a delimited text file whose first row names the columns, unzipped where it is gzip.

    Parameters
    ----------
    path_or_stream : path, binary or text stream, or ``"-"``
    delimiter : str, optional
        Comma, tab, semicolon, space, or one ASCII character; found out by the first rows where absent.

    Raises
    ------
    FileError
        Names file and line, for what can't be read, a name that is missing or stands twice, and rows of another length
        than the header.

    Examples
    --------
    >>> table = read_table(io.BytesIO(b"subject;age\n007;31\n008;\n"))
    >>> table.columns()
    {'subject': ['007', '008'], 'age': ['31', None]}
    >>> raise table.source.error("no age", table.rows.lines[1])
    Traceback (most recent call last):
        ...
    graphpri.errors.FileError: the stream, line 3: no age
    """
    with open_source(path_or_stream) as source:
        data = source.text()
    if delimiter is None:
        sample = [(i, text) for i, text in enumerate(data[:_SAMPLE].decode(errors="ignore").split("\n"), 1) if text]
        mark = sniff_delimiter(source, sample[:-1] or sample)
    else:
        mark = find_delimiter(delimiter)
    rows = split_rows(source, data, mark)
    names = [cells[0] for cells in map(rows.cells, range(rows.n_columns))]
    for i, name in enumerate(names):
        if name is None or name in names[:i]:
            what = f"column {i + 1} has no name" if name is None else f"two columns are called {name!r}: rename one"
            raise source.error(what, rows.lines[0])
    below = [rows.cells(i)[1:] for i in range(rows.n_columns)]
    return Table(source, tuple(name or "" for name in names), Rows(below, rows.lines[1:]))


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


def read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV or TSV file, gzipped or not, as text without blanks around it.

    Cells stand between what the header has of tabs, commas and semicolons, in this order. Empty lines are passed over.

    Raises
    ------
    FileError
        Where it can't be read, is empty, has no rows, or one of another length than the header.
    """
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            file.seek(0)
            mark = next((mark for mark in ("\t", ",", ";") if mark in head), ",")
            cells = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=mark) if any(row)]
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder, not a table") from None
    except UnicodeDecodeError:
        raise FileError(f"{path}: can't be read as a table: it is not text in UTF-8; save it as such") from None
    except (OSError, EOFError, csv.Error) as error:
        raise FileError(f"{path}: can't be read as a table ({error})") from None
    if not cells:
        raise FileError(f"{path}: can't be read: the table is empty")
    header, *rows = cells
    if not rows:
        raise FileError(f"{path}: the table has a header and no rows")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise FileError(f"{path}: row {i + 1} has {len(row)} cells, and the header has {len(header)}")
    return header, rows
