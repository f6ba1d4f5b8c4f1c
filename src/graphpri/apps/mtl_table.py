"""A user's table of regression tasks: what is wanted of it, reading it, and its rows by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphpri.apps.mtl_tasks import MIN_DEGREE, Tasks, check_size, collect
from graphpri.errors import FileError, OptionError
from graphpri.graph import FloatArray


@dataclass(frozen=True)
class Request:
    """What to fit and how.

    Parameters
    ----------
    task, target : str
        Columns of the table.
    features : tuple of str, or None
        Columns to learn from; all others where absent.
    keep, method, options, min_degree
        How the task graph is sparsified.
    folds, seed : int
        Of the cross-validation.
    parameters : mapping
        Of :class:`graphpri.apps.mtl.GraphMTL`.

    Examples
    --------
    >>> Request("school", "score", keep=0.8).features is None
    True
    """

    task: str
    target: str
    features: tuple[str, ...] | None = None
    keep: float | int = 0.5
    method: str = "pri"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    min_degree: int = MIN_DEGREE
    folds: int = 5
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_table(path: str) -> Any:
    """A table from CSV, TSV or parquet, gzipped or not, as a data frame.

    Raises
    ------
    FileError
        Where it is missing, empty or no table.

    Examples
    --------
    >>> read_table("exams.csv")
    Traceback (most recent call last):
        ...
    graphpri.errors.FileError: exams.csv: there is no such file
    """
    import pandas as pd

    name = path.casefold().removesuffix(".gz")
    try:
        if name.endswith(".parquet"):
            return pd.read_parquet(path)
        # The header apart, as pandas renames columns that stand twice; NA may be the name of a task.
        options: Any = {"sep": "\t" if name.endswith((".tsv", ".tab")) else ",", "header": None, "dtype": object}
        options |= {"keep_default_na": False}
        raw = pd.read_csv(path, **options)
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder, not a table") from None
    except pd.errors.EmptyDataError:
        raise FileError(f"{path}: can't be read as a table: it is empty") from None
    except UnicodeError:
        raise FileError(f"{path}: can't be read as a table: it is not text in UTF-8; save it as such") from None
    except (OSError, ValueError, ImportError) as error:
        raise FileError(f"{path}: can't be read as a table: {error}") from None
    frame = raw.iloc[1:].reset_index(drop=True)
    frame.columns = [str(c).strip() for c in raw.iloc[0]]
    if not len(frame):
        raise FileError(f"{path}: has a header and no rows")
    return frame


def tasks_of(frame: Any, request: Request) -> tuple[Tasks, list[str]]:
    """Rows of a data frame by task, and the columns to learn from.

    Raises
    ------
    OptionError
        Names the column, and the row, at fault: absent, twice there, not numeric, missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["hours", "age"])
    >>> frame["school"] = np.repeat(list("abcdef"), 20)
    >>> frame["score"] = frame["hours"] - frame["age"] + rng.normal(size=120)
    >>> tasks, columns = tasks_of(frame, Request("school", "score"))
    >>> tasks.labels, columns
    (('a', 'b', 'c', 'd', 'e', 'f'), ['hours', 'age'])
    """
    columns = [str(c) for c in frame.columns]
    if twice := [c for c in dict.fromkeys(columns) if columns.count(c) > 1]:
        raise OptionError(f"column {twice[0]!r} stands {columns.count(twice[0])} times in the table: names must differ")
    for option, name in (("--task", request.task), ("--target", request.target)):
        _check_there(columns, name, option)
    if request.task == request.target:
        raise OptionError(f"--task and --target both name {request.task!r}: they are two columns")
    others = [c for c in columns if c not in (request.task, request.target)]
    features = others if request.features is None else list(request.features)
    for name in features:
        _check_there(others, name, "--features")
    if not features:
        raise OptionError("there is no column to learn from beside task and target")
    numbers = np.column_stack([_numbers(frame, name, "--features") for name in features])
    target, labels = _numbers(frame, request.target, "--target"), _labels(frame[request.task])
    missing = labels.isna() | (labels == "")
    if missing.any():
        row = int(np.argmax(missing.to_numpy()))
        raise OptionError(f"column {request.task!r} has no task in its row {row + 1}: fill it, or leave the row out")
    return collect(numbers, target, labels.to_numpy(), True), features


def _labels(column: Any) -> Any:
    """Names of tasks without blanks around them, as whole numbers where that is how all of them are written."""
    import pandas as pd

    if not all(isinstance(value, str) for value in column):
        return column
    text: Any = column.astype(object).map(str.strip)
    numbers: Any = pd.to_numeric(text, errors="coerce", downcast="integer")
    return numbers if numbers.dtype.kind == "i" and (numbers.astype(str) == text).all() else text


def _check_there(columns: list[str], name: str, option: str) -> None:
    if name not in columns:
        raise OptionError(f"{option} {name}: there is no such column; there are {', '.join(columns)}")


def _numbers(frame: Any, name: str, option: str) -> FloatArray:
    """A column's numbers, 1 and 0 of true and false; a row that has none is named."""
    import pandas as pd

    text: Any = frame[name].astype(str).str.strip().str.casefold()
    if text.isin(["true", "false"]).all():
        return (text == "true").to_numpy(np.float64)
    dates = frame[name].dtype.kind in "mM"
    column: Any = pd.to_numeric(frame[name] if not dates else text, errors="coerce")
    found: FloatArray = column.to_numpy(np.float64, na_value=np.nan)
    if (bad := ~np.isfinite(found)).any():
        row = int(np.argmax(bad))
        there = "is empty" if text.iloc[row] in ("", "nan", "none", "<na>") else f"has {str(frame[name].iloc[row])!r}"
        raise OptionError(
            f"column {name!r} {there} in its row {row + 1}, which is no finite number: mend it, or choose other "
            f"columns with {option}"
        )
    check_size(float(np.abs(found).max(initial=0)), f"column {name!r}")
    return found
