"""Tables of rows as CSV files: written whole, read back with every digit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphpri.errors import FileError, MissingExtraError
from graphpri.io.sink import open_sink


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
    with open_sink(path, zipped=False, force=True) as sink:
        sink.write(text.encode())


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
