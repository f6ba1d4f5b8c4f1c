"""Data for multi-task regression: rows grouped by task and checked, users' tables, the paper's synthetic tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import checked, count, seeded
from graphpri.errors import FileError, OptionError, argument, named
from graphpri.graph import FloatArray
from graphpri.io import tables

RIDGES = tuple(float(10.0**e) for e in np.arange(-4, 4.01, 0.5))
"""Ridges that leave-one-out chooses among, in units of the mean sum of squares of a column within a task."""

LARGEST = 1e70
"""Largest magnitude of a column or target; the smallest is its inverse. Beyond, squares over- or underflow."""

INFORMATIVE, NOISE = 20, 10
"""Columns of the synthetic tasks that matter, and that don't."""


@dataclass(frozen=True, eq=False)
class Tasks:
    """Rows of T tasks, those of one task together.

    Parameters
    ----------
    X : ndarray of float64, shape (n, P)
    y : ndarray of float64, shape (n,)
    starts : ndarray of int, shape (T + 1,)
        Where each task's rows start, and the number of rows.
    labels : tuple
        What users call the tasks.
    order : ndarray of int, shape (n,)
        Where each row stood in what the user gave.
    intercept : bool
        Whether each task has an intercept of its own: then `X` and `y` are used less their means over the task.
    weights : ndarray of float64, shape (n,), or None
        How much each row counts in squared errors; 1 where absent.

    Examples
    --------
    >>> tasks = group_rows([[[1.0], [2.0]], [[0.0], [4.0], [5.0]]], [[1.0, 2.0], [0.0, 2.0, 4.0]], ["a", "b"], True)
    >>> tasks.count, tasks.sizes, tasks.means[1]
    (2, array([2, 3]), array([1.5, 2. ]))
    """

    X: FloatArray
    y: FloatArray
    starts: NDArray[np.int64]
    labels: tuple[Any, ...]
    order: NDArray[np.int64]
    intercept: bool
    weights: FloatArray | None = None

    @property
    def count(self) -> int:
        """Number of tasks T."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each task, shape (T,)."""
        return np.diff(self.starts)

    @cached_property
    def member(self) -> NDArray[np.int64]:
        """The task of each row, shape (n,)."""
        return np.repeat(np.arange(self.count), self.sizes)

    @cached_property
    def share(self) -> FloatArray:
        """Weight of each row as a share of its task's, shape (n,): its leverage on the task's mean."""
        if self.weights is None:
            return (1 / self.sizes)[self.member]
        return self.weights / np.add.reduceat(self.weights, self.starts[:-1])[self.member]

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.y.size if self.weights is None else self.weights.sum())

    @cached_property
    def means(self) -> tuple[FloatArray, FloatArray]:
        """Means of X and of y over each task, shapes (T, P) and (T,); zeros without intercepts."""
        if not self.intercept:
            return np.zeros((self.count, self.X.shape[1])), np.zeros(self.count)
        at, n = self.starts[:-1], self.sizes
        if self.weights is None:
            return np.add.reduceat(self.X, at, axis=0) / n[:, None], np.add.reduceat(self.y, at) / n
        return np.add.reduceat(self.X * self.share[:, None], at, axis=0), np.add.reduceat(self.y * self.share, at)

    @cached_property
    def centred(self) -> tuple[FloatArray, FloatArray]:
        """X and y less their means over each task, times the square roots of the weights."""
        mean_x, mean_y = self.means
        X, y = _centre(self.X, mean_x[self.member]), _centre(self.y, mean_y[self.member])
        if self.weights is None:
            return X, y
        root = np.sqrt(self.weights)
        return X * root[:, None], y * root

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Sums XᵀX and Xᵀy of each task, centred, shapes (T, P, P) and (T, P)."""
        X, y = self.centred
        p = X.shape[1]
        squares, products = np.empty((self.count, p, p)), np.empty((self.count, p))
        for tasks, rows in self.by_size():
            stack = X[rows]
            squares[tasks] = stack.transpose(0, 2, 1) @ stack
            products[tasks] = (stack.transpose(0, 2, 1) @ y[rows][:, :, None])[:, :, 0]
        return squares, products

    def by_size(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Tasks with equally many rows, and their rows, shape (tasks, rows): work on several at once."""
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for size in np.unique(self.sizes):
            tasks = np.flatnonzero(self.sizes == size)
            found.append((tasks, self.starts[tasks][:, None] + np.arange(size)))
        return found

    def single_task_fits(self) -> FloatArray:
        """Coefficients of each task on its own, shape (T, P).

        Least squares; ridge regression where a task has no more than twice as many rows as columns, as least squares
        runs wild there. One ridge serves all of them, that with the least leave-one-out error.
        """
        few = self.sizes <= 2 * self.X.shape[1]
        unit = float(self._units().mean()) or 1.0
        ridges = np.array([0.0, *(unit * ridge for ridge in RIDGES[2::2])])
        coefficients = np.zeros((ridges.size, self.count, self.X.shape[1]))
        errors = np.zeros(ridges.size)
        for tasks, rows in self.by_size():
            X, y = self.centred
            found, loo = _ridge_path(X[rows], y[rows], ridges, self._of_mean(rows))
            coefficients[:, tasks] = found
            errors += loo[:, few[tasks]].sum(axis=1)
        best = 1 + int(np.argmin(errors[1:]))
        return np.where(few[:, None], coefficients[best], coefficients[0])

    def single_task_ridges(self) -> tuple[FloatArray, FloatArray]:
        """The ridge that leave-one-out chooses for each task alone, shape (T,), and its coefficients, shape (T, P)."""
        chosen, coefficients = np.zeros(self.count), np.zeros((self.count, self.X.shape[1]))
        units = np.where(self._units() > 0, self._units(), 1.0)
        X, y = self.centred
        for tasks, rows in self.by_size():
            for task, own in zip(tasks, rows, strict=True):
                ridges = units[task] * np.array(RIDGES)
                found, loo = _ridge_path(X[own][None], y[own][None], ridges, self._of_mean(own[None]))
                best = int(np.argmin(loo[:, 0]))
                chosen[task], coefficients[task] = ridges[best], found[best, 0]
        return chosen, coefficients

    def _of_mean(self, rows: NDArray[np.int64]) -> FloatArray:
        """Leverage of rows by way of their task's intercept."""
        return self.share[rows] if self.intercept else np.zeros(rows.shape)

    def _units(self) -> FloatArray:
        """Mean sum of squares of a column, of each task."""
        return np.einsum("tii->t", self.moments[0]) / self.X.shape[1]


def _centre(values: FloatArray, means: FloatArray) -> FloatArray:
    """Differences, with 0 for what is rounding: least squares would divide by it where a column is constant."""
    found = values - means
    found[np.abs(found) <= 1e-13 * np.abs(means)] = 0
    return found


def _ridge_path(X: FloatArray, y: FloatArray, ridges: FloatArray, of_mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients (R, tasks, P) and sums of squared leave-one-out errors (R, tasks) of each task at each ridge.

    By one singular value decomposition a task; the errors are residuals over 1 − leverage.
    """
    u, s, vt = np.linalg.svd(X, full_matrices=False)
    squares = s**2
    real = s > 1e-10 * s.max(initial=0, axis=-1, keepdims=True)
    uy = np.einsum("tnr,tn->tr", u, y)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(real, squares / (squares + ridges[:, None, None]), 0.0)
        inverse = np.where(real, shrink / s, 0.0)
    coefficients = np.einsum("trp,Rtr->Rtp", vt, inverse * uy)
    fitted = np.einsum("tnr,Rtr->Rtn", u, shrink * uy)
    leverage = np.einsum("tnr,Rtr->Rtn", u**2, shrink) + of_mean
    residual = (y - fitted) / np.maximum(1 - leverage, 1e-10)
    return coefficients, (residual**2).sum(axis=2)


def group_rows(X: Any, y: Any, tasks: Any, intercept: bool, weights: Any = None) -> Tasks:
    """Rows of all tasks from what users pass.

    Tasks stand in sorted order, or in that of appearance where their labels can't be sorted.

    Parameters
    ----------
    X, y : list of arrays, or array of shape (n, P) and of shape (n,)
        A matrix and a vector for each task; or all rows, with `tasks`.
    tasks : array of shape (n,), or None
        The task of each row; names of the tasks where `X` is a list, 0 to T − 1 where absent.
    intercept : bool
    weights : array of shape (n,), or list of arrays, optional
        How much each row counts.

    Raises
    ------
    OptionError
        Names the task, and the row or column, at fault: shapes that differ, no rows, entries that are NaN or infinite.

    Examples
    --------
    >>> tasks = group_rows(np.ones((3, 1)), np.arange(3.0), np.array(["b", "a", "b"]), intercept=True)
    >>> tasks.labels, tasks.y, tasks.order
    (('a', 'b'), array([1., 0., 2.]), array([1, 0, 2]))
    """
    if isinstance(X, list | tuple):
        return _weighted(_from_lists(cast("Sequence[Any]", X), y, tasks, intercept), weights)
    if tasks is None:
        raise OptionError("tasks= is missing: pass the task of each row, or lists with a matrix for each task")
    rows, target, ids = as_matrix(X, "X"), _as_vector(y, "y"), as_labels(tasks)
    for name, values in (("y", target), ("tasks", ids)):
        if values.shape != rows.shape[:1]:
            raise OptionError(f"{name} has shape {values.shape}, and X has {rows.shape[0]} rows: one value a row")
    if not rows.shape[0]:
        raise OptionError("X has no rows: there is nothing to learn from")
    try:
        found, member = np.unique(ids, return_inverse=True)
        labels = tuple(found.tolist())
    except TypeError:  # labels that can't be sorted stand in the order in which they appear
        places: dict[Any, int] = {}
        member = np.array([places.setdefault(label, len(places)) for label in ids.tolist()], np.int64)
        labels = tuple(places)
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(len(labels) + 1))
    return _weighted(_checked(Tasks(rows[order], target[order], starts, labels, order, intercept)), weights)


def _weighted(tasks: Tasks, weights: Any) -> Tasks:
    """The rows with their weights, which are refused where a task has none above 0."""
    if weights is None:
        return tasks
    if isinstance(weights, list | tuple) and weights and not np.isscalar(weights[0]):
        weights = np.concatenate([np.ravel(values) for values in cast("Sequence[Any]", weights)])
    found = _as_vector(weights, "sample_weight")
    if found.shape != tasks.y.shape:
        raise OptionError(f"sample_weight has shape {found.shape}, and there are {tasks.y.size} rows: one number a row")
    if (bad := ~(found >= 0) | ~np.isfinite(found)).any():
        row = int(np.argmax(bad))
        raise OptionError(f"sample_weight is {found[row]:g} for row {row}: weights are numbers of 0 or more")
    found = found[tasks.order]
    empty = np.add.reduceat(found, tasks.starts[:-1]) == 0
    if empty.any():
        raise OptionError(
            f"sample_weight is 0 in all rows of task {tasks.labels[int(np.argmax(empty))]!r}: leave it out"
        )
    return replace(tasks, weights=found)


def as_labels(tasks: Any) -> NDArray[Any]:
    """The task of each row; every label stays what it is, and there is none that is missing.

    Examples
    --------
    >>> as_labels([1, "b"])
    array([1, 'b'], dtype=object)
    """
    found = np.asarray(tasks)
    if found.dtype.kind in "mM":
        found = found.astype(f"{found.dtype.kind}8[us]").astype(object)
    elif found.dtype.kind == "U" and isinstance(tasks, list | tuple):
        # NumPy makes text of the numbers beside text.
        found = np.asarray(tasks, object)
    if found.dtype.kind in "Of" and any(missing := [_is_missing(value) for value in found.ravel().tolist()]):
        raise OptionError(f"tasks has no task for row {missing.index(True)}: fill it, or leave the row out")
    return found


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # as pandas.NA has it
        return True


def _from_lists(X: Sequence[Any], y: Any, names: Any, intercept: bool) -> Tasks:
    if not isinstance(y, Iterable):
        raise OptionError(f"y={y!r}: pass a vector of targets for each task")
    targets = list(cast("Iterable[Any]", y))
    labels = tuple(range(len(X)) if names is None else names)
    if not X:
        raise OptionError("X is an empty list: pass a matrix for each task")
    first: Any = X[0]
    if isinstance(first, int | float) or (
        isinstance(first, list | tuple) and first and isinstance(first[0], int | float)
    ):
        raise OptionError("X is a list of rows, and lists have a matrix for each task: pass an array, with tasks=")
    if not len(X) == len(targets) == len(labels):
        raise OptionError(
            f"{len(X)} matrices, {len(targets)} targets and {len(labels)} names of tasks: pass as many of each"
        )
    if len(set(labels)) < len(labels):
        raise OptionError("two tasks have the same name: names must differ")
    matrices = [as_matrix(x, f"X of task {label!r}") for x, label in zip(X, labels, strict=True)]
    vectors = [_as_vector(v, f"y of task {label!r}") for v, label in zip(targets, labels, strict=True)]
    width = matrices[0].shape[1]
    for label, x, v in zip(labels, matrices, vectors, strict=True):
        if x.shape[1] != width:
            raise OptionError(f"task {label!r} has {x.shape[1]} columns, and task {labels[0]!r} has {width}")
        if v.shape != x.shape[:1]:
            raise OptionError(f"task {label!r} has {x.shape[0]} rows and {v.size} targets: one target a row")
        if not v.size:
            raise OptionError(f"task {label!r} has no rows: leave it out")
    starts = np.concatenate([[0], np.cumsum([v.size for v in vectors])]).astype(np.int64)
    rows = np.arange(starts[-1])
    return _checked(Tasks(np.concatenate(matrices), np.concatenate(vectors), starts, labels, rows, intercept))


def as_matrix(X: Any, name: str) -> FloatArray:
    """Numbers as a matrix with a column or more.

    Examples
    --------
    >>> as_matrix([[1, 2], [3, 4]], "X").dtype
    dtype('float64')
    >>> as_matrix([1, 2], "X")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: X has shape (2,): pass rows and columns, one column or more
    """
    found = _as_floats(X, name)
    if found.ndim != 2 or not found.shape[1]:
        raise OptionError(f"{name} has shape {found.shape}: pass rows and columns, one column or more")
    return found


def _as_floats(values: Any, name: str) -> FloatArray:
    """Numbers as floats; dates and complex numbers, of which NumPy would make some, are none."""
    try:
        if np.asarray(values).dtype.kind in "cmM":
            raise TypeError(f"they are {np.asarray(values).dtype}")
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        for column in getattr(values, "columns", ()):
            _as_floats(values[column], f"column {column!r} of {name}")
        text = isinstance(error, ValueError) and "could not convert string" in str(error)
        remedy = "; make columns of 0 and 1 of categories (pandas.get_dummies)" if text else ""
        raise OptionError(f"{name} has entries that are not numbers: {error}{remedy}") from None


def _as_vector(y: Any, name: str) -> FloatArray:
    found = _as_floats(y, name)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise OptionError(f"{name} has shape {found.shape}: pass one target a row")
    return found


def _checked(tasks: Tasks) -> Tasks:
    """The tasks, where all numbers are finite and their squares can be summed."""
    for name, values in (("X", tasks.X), ("y", tasks.y[:, None])):
        if (bad := ~np.isfinite(values).all(axis=1)).any():
            row = int(np.argmax(bad))
            label, place = tasks.labels[tasks.member[row]], row - tasks.starts[tasks.member[row]]
            raise OptionError(
                f"{name} of task {label!r} has NaN or an infinite entry in its row {place}: drop or fill it"
            )
        for column, most in enumerate(np.abs(values).max(axis=0)):
            _check_size(float(most), f"column {column} of X" if name == "X" else "y")
    return tasks


def _check_size(most: float, name: str) -> None:
    """Refuse numbers, the largest of which is `most`, whose squares can't be summed."""
    if most and not 1 / LARGEST <= most <= LARGEST:
        raise OptionError(f"{name} has numbers up to {most:.4g}, whose squares can't be summed: choose another unit")


def read_table(path: str) -> Any:
    """A table from CSV, TSV or parquet, gzipped or not, as a data frame; cells of text stay text.

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

    if not path.casefold().endswith(".parquet"):
        return pd.DataFrame(tables.read_table(path).columns, dtype=object)
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except (OSError, ValueError, ImportError) as error:
        raise FileError(f"{path}: can't be read as a table: {error}") from None


def tasks_of(frame: Any, task: str, target: str, features: Sequence[str] | None = None) -> tuple[Tasks, list[str]]:
    """Rows of a data frame by task, and the columns to learn from.

    Parameters
    ----------
    frame : DataFrame
    task, target : str
        Columns.
    features : sequence of str, optional
        Columns to learn from; all others where absent.

    Raises
    ------
    OptionError
        Names the column, and the row, at fault: absent, twice there, not numeric, missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"school": ["a", "b", "b"], "hours": [3, 1, 2], "score": [9.5, 4, 6]})
    >>> tasks, columns = tasks_of(frame, "school", "score")
    >>> tasks.labels, columns
    (('a', 'b'), ['hours'])
    """
    columns = [str(c) for c in frame.columns]
    if twice := [c for c in dict.fromkeys(columns) if columns.count(c) > 1]:
        raise OptionError(f"column {twice[0]!r} stands {columns.count(twice[0])} times in the table: names must differ")
    others = [c for c in columns if c not in (task, target)]
    names = others if features is None else list(features)
    wanted = [
        ("task", task, columns),
        ("target", target, columns),
        *(("features", name, others) for name in names),
    ]
    for option, name, known in wanted:
        if name not in known:
            raise OptionError(f"{argument(option, name)}: there is no such column; there are {', '.join(known)}")
    if task == target:
        raise OptionError(f"{named('task')} and {named('target')} both name {task!r}: they are two columns")
    if not names:
        raise OptionError("there is no column to learn from beside task and target")
    X = np.column_stack([_numbers(frame, name, "features") for name in names])
    y, labels = _numbers(frame, target, "target"), _labels(frame[task])
    missing = labels.isna() | (labels == "")
    if missing.any():
        row = int(np.argmax(missing.to_numpy()))
        raise OptionError(f"column {task!r} has no task in its row {row + 1}: fill it, or leave the row out")
    return group_rows(X, y, labels.to_numpy(), True), names


def _labels(column: Any) -> Any:
    """Names of tasks without blanks around them, as whole numbers where that is how all of them are written."""
    import pandas as pd

    if not all(isinstance(value, str) for value in column):
        return column
    text: Any = column.astype(object).map(str.strip)
    numbers: Any = pd.to_numeric(text, errors="coerce", downcast="integer")
    return numbers if numbers.dtype.kind == "i" and (numbers.astype(str) == text).all() else text


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
        empty = text.iloc[row] in ("", "nan", "none", "<na>")
        there = "is empty" if empty else f"has {str(frame[name].iloc[row])!r}"
        what = "; fill it, leave the row out" if empty else ", which is no finite number: mend it"
        if not empty and bad.all():
            what = ", and no number in any row: make columns of 0 and 1 of categories"
        raise OptionError(
            f"column {name!r} {there} in its row {row + 1}{what}, or choose other columns with {named(option)}"
        )
    _check_size(float(np.abs(found).max(initial=0)), f"column {name!r}")
    return found


class Synthetic(NamedTuple):
    """Tasks, their true coefficients, shape (T, P), and the group of each, shape (T,).

    Examples
    --------
    >>> synthetic(seed=0, n_tasks=4, group_size=2).groups
    array([0, 0, 1, 1])
    """

    tasks: Tasks
    coefficients: FloatArray
    groups: NDArray[np.int64]


@checked
def synthetic(
    seed: int | np.random.Generator = 0,
    *,
    n_tasks: int = 20,
    group_size: int = 10,
    n: int = 100,
    informative: int = INFORMATIVE,
    irrelevant: int = NOISE,
    noise: Literal["std", "var"] = "std",
) -> Synthetic:
    """Linear tasks in groups: w_t = w_group ⊙ b_t + ξ, y = X w_t + N(0, 1).

    w_group ~ N(0, I) for each group, b_t ~ U(0, 1) for each task and column, X ~ N(0, I); columns of no effect follow
    those that matter.

    Parameters
    ----------
    seed : int or Generator
    n_tasks, group_size : int
        Tasks, and how many of them make a group.
    n : int
        Rows a task.
    informative, irrelevant : int
        Columns.
    noise : {"std", "var"}
        Whether the paper's ξ ~ N(0, 0.2 I) has a standard deviation or a variance of 0.2; it leaves that open.

    Raises
    ------
    OptionError
        For another `noise`, and sizes below 1.

    Examples
    --------
    >>> drawn = synthetic(seed=0, n=50)
    >>> drawn.tasks.count, drawn.tasks.X.shape, drawn.coefficients.shape
    (20, (1000, 30), (20, 30))
    """
    for name, size in (("n_tasks", n_tasks), ("group_size", group_size), ("n", n), ("informative", informative)):
        count(name, size, 1)
    count("irrelevant", irrelevant)
    rng = np.random.default_rng(seeded("seed", seed))
    groups = np.arange(n_tasks) // group_size
    centres = rng.normal(size=(int(groups[-1]) + 1, informative))
    spread = 0.2 if noise == "std" else np.sqrt(0.2)
    own = centres[groups] * rng.random((n_tasks, informative)) + spread * rng.normal(size=(n_tasks, informative))
    coefficients = np.column_stack([own, np.zeros((n_tasks, irrelevant))])
    member = np.repeat(np.arange(n_tasks), n)
    X = rng.normal(size=(n_tasks * n, informative + irrelevant))
    y = np.einsum("np,np->n", X, coefficients[member]) + rng.normal(size=n_tasks * n)
    starts, labels = n * np.arange(n_tasks + 1), tuple(range(n_tasks))
    return Synthetic(Tasks(X, y, starts, labels, np.arange(y.size), True), coefficients, groups)


def as_lists(tasks: Tasks) -> tuple[list[Any], list[Any]]:
    """A matrix and a vector for each task.

    Examples
    --------
    >>> X, y = as_lists(synthetic(seed=0, n_tasks=3, n=50).tasks)
    >>> len(X), X[0].shape, y[0].shape
    (3, (50, 30), (50,))
    """
    at = tasks.starts[1:-1]
    return np.split(tasks.X, at), np.split(tasks.y, at)
