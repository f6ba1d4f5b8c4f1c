"""Regression tasks: rows grouped by task, checked, and each task's own ridge regression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import OptionError
from graphpri.graph import FloatArray

RIDGES = tuple(float(10.0**e) for e in np.arange(-4, 4.01, 0.5))
"""Ridges that leave-one-out chooses among, in units of the mean sum of squares of a column within a task."""

MIN_DEGREE = 3
"""Neighbours that sparsifying leaves each task, by default."""

LARGEST = 1e70
"""Largest magnitude of a column or target; the smallest is its inverse. Beyond, squares over- or underflow."""


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

    Examples
    --------
    >>> tasks = collect([[[1.0], [2.0]], [[0.0], [4.0], [5.0]]], [[1.0, 2.0], [0.0, 2.0, 4.0]], ["a", "b"], True)
    >>> tasks.count, tasks.sizes, tasks.means[1]
    (2, array([2, 3]), array([1.5, 2. ]))
    """

    X: FloatArray
    y: FloatArray
    starts: NDArray[np.int64]
    labels: tuple[Any, ...]
    order: NDArray[np.int64]
    intercept: bool

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
    def means(self) -> tuple[FloatArray, FloatArray]:
        """Means of X and of y over each task, shapes (T, P) and (T,); zeros without intercepts."""
        if not self.intercept:
            return np.zeros((self.count, self.X.shape[1])), np.zeros(self.count)
        at, n = self.starts[:-1], self.sizes
        return np.add.reduceat(self.X, at, axis=0) / n[:, None], np.add.reduceat(self.y, at) / n

    @cached_property
    def centred(self) -> tuple[FloatArray, FloatArray]:
        """X and y less their means over each task."""
        mean_x, mean_y = self.means
        return _less(self.X, mean_x[self.member]), _less(self.y, mean_y[self.member])

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Sums XᵀX and Xᵀy of each task, centred, shapes (T, P, P) and (T, P)."""
        X, y = self.centred
        p = X.shape[1]
        squares, products = np.empty((self.count, p, p)), np.empty((self.count, p))
        for tasks, rows in self.groups():
            stack = X[rows]
            squares[tasks] = stack.transpose(0, 2, 1) @ stack
            products[tasks] = (stack.transpose(0, 2, 1) @ y[rows][:, :, None])[:, :, 0]
        return squares, products

    def groups(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Tasks with equally many rows, and their rows, shape (tasks, rows): work on several at once."""
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for size in np.unique(self.sizes):
            tasks = np.flatnonzero(self.sizes == size)
            found.append((tasks, self.starts[tasks][:, None] + np.arange(size)))
        return found

    def without_others(self) -> FloatArray:
        """Coefficients of each task on its own, shape (T, P).

        Least squares; ridge regression where a task has no more than twice as many rows as columns, as least squares
        runs wild there. One ridge serves all of them, that with the least leave-one-out error.
        """
        few = self.sizes <= 2 * self.X.shape[1]
        unit = float(self._units().mean()) or 1.0
        ridges = np.array([0.0, *(unit * ridge for ridge in RIDGES[2::2])])
        coefficients = np.zeros((ridges.size, self.count, self.X.shape[1]))
        errors = np.zeros(ridges.size)
        for tasks, rows in self.groups():
            X, y = self.centred
            found, loo = _ridge_paths(X[rows], y[rows], ridges, self.intercept)
            coefficients[:, tasks] = found
            errors += loo[:, few[tasks]].sum(axis=1)
        best = 1 + int(np.argmin(errors[1:]))
        return np.where(few[:, None], coefficients[best], coefficients[0])

    def own_ridges(self) -> tuple[FloatArray, FloatArray]:
        """The ridge that leave-one-out chooses for each task alone, shape (T,), and its coefficients, shape (T, P)."""
        chosen, coefficients = np.zeros(self.count), np.zeros((self.count, self.X.shape[1]))
        units = np.where(self._units() > 0, self._units(), 1.0)
        X, y = self.centred
        for tasks, rows in self.groups():
            for task, own in zip(tasks, rows, strict=True):
                ridges = units[task] * np.array(RIDGES)
                found, loo = _ridge_paths(X[own][None], y[own][None], ridges, self.intercept)
                best = int(np.argmin(loo[:, 0]))
                chosen[task], coefficients[task] = ridges[best], found[best, 0]
        return chosen, coefficients

    def _units(self) -> FloatArray:
        """Mean sum of squares of a column, of each task."""
        return np.einsum("tii->t", self.moments[0]) / self.X.shape[1]


def _less(values: FloatArray, means: FloatArray) -> FloatArray:
    """Differences, with 0 for what is rounding: least squares would divide by it where a column is constant."""
    found = values - means
    found[np.abs(found) <= 1e-13 * np.abs(means)] = 0
    return found


def _ridge_paths(X: FloatArray, y: FloatArray, ridges: FloatArray, intercept: bool) -> tuple[FloatArray, FloatArray]:
    """Coefficients (R, tasks, P) and sums of squared leave-one-out errors (R, tasks) of each task at each ridge."""
    u, s, vt = np.linalg.svd(X, full_matrices=False)
    squares = s**2
    real = s > 1e-10 * s.max(initial=0, axis=-1, keepdims=True)
    uy = np.einsum("tnr,tn->tr", u, y)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(real, squares / (squares + ridges[:, None, None]), 0.0)
        inverse = np.where(real, shrink / s, 0.0)
    coefficients = np.einsum("trp,Rtr->Rtp", vt, inverse * uy)
    fitted = np.einsum("tnr,Rtr->Rtn", u, shrink * uy)
    leverage = np.einsum("tnr,Rtr->Rtn", u**2, shrink) + (1 / X.shape[1] if intercept else 0)
    residual = (y - fitted) / np.maximum(1 - leverage, 1e-10)
    return coefficients, (residual**2).sum(axis=2)


def collect(X: Any, y: Any, tasks: Any, intercept: bool) -> Tasks:
    """Rows of all tasks from what users pass.

    Parameters
    ----------
    X, y : list of arrays, or array of shape (n, P) and of shape (n,)
        A matrix and a vector for each task; or all rows, with `tasks`.
    tasks : array of shape (n,), or None
        The task of each row; names of the tasks where `X` is a list, 0 to T − 1 where absent.
    intercept : bool

    Raises
    ------
    OptionError
        Names the task, and the row or column, at fault: shapes that differ, no rows, entries that are NaN or infinite.

    Examples
    --------
    >>> tasks = collect(np.ones((3, 1)), np.arange(3.0), np.array(["b", "a", "b"]), intercept=True)
    >>> tasks.labels, tasks.y, tasks.order
    (('a', 'b'), array([1., 0., 2.]), array([1, 0, 2]))
    """
    if isinstance(X, list | tuple):
        return _from_lists(cast("Sequence[Any]", X), y, tasks, intercept)
    if tasks is None:
        raise OptionError("tasks= is missing: pass the task of each row, or lists with a matrix for each task")
    rows, target, ids = as_matrix(X, "X"), _as_vector(y, "y"), as_labels(tasks)
    for name, values in (("y", target), ("tasks", ids)):
        if values.shape != rows.shape[:1]:
            raise OptionError(f"{name} has shape {values.shape}, and X has {rows.shape[0]} rows: one value a row")
    if not rows.shape[0]:
        raise OptionError("X has no rows: there is nothing to learn from")
    labels, member = labelled(ids)
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(len(labels) + 1))
    found = Tasks(rows[order], target[order], starts, labels, order, intercept)
    _check_numbers(found)
    return found


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


def labelled(ids: NDArray[Any]) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The tasks in sorted order (in that of appearance where labels can't be sorted), and the task of each row.

    Examples
    --------
    >>> labelled(np.array(["b", "a", "b"]))
    (('a', 'b'), array([1, 0, 1]))
    """
    try:
        labels, member = np.unique(ids, return_inverse=True)
        return tuple(labels.tolist()), member
    except TypeError:
        places: dict[Any, int] = {}
        member = np.array([places.setdefault(label, len(places)) for label in ids.tolist()], np.int64)
        return tuple(places), member


def _from_lists(X: Sequence[Any], y: Any, names: Any, intercept: bool) -> Tasks:
    if not isinstance(y, Iterable):
        raise OptionError(f"y={y!r}: pass a vector of targets for each task")
    targets = list(cast("Iterable[Any]", y))
    labels = tuple(range(len(X)) if names is None else names)
    if not X:
        raise OptionError("X is an empty list: pass a matrix for each task")
    if _is_row(X[0]):
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
    found = Tasks(np.concatenate(matrices), np.concatenate(vectors), starts, labels, rows, intercept)
    _check_numbers(found)
    return found


def _is_row(x: Any) -> bool:
    """Whether what should be a matrix is a row of numbers, or one."""
    return isinstance(x, int | float) or (isinstance(x, list | tuple) and bool(x) and isinstance(x[0], int | float))


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
        raise OptionError(f"{name} has entries that are not numbers: {error}") from None


def _as_vector(y: Any, name: str) -> FloatArray:
    found = _as_floats(y, name)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise OptionError(f"{name} has shape {found.shape}: pass one target a row")
    return found


def _check_numbers(tasks: Tasks) -> None:
    for name, values in (("X", tasks.X), ("y", tasks.y[:, None])):
        if (bad := ~np.isfinite(values).all(axis=1)).any():
            row = int(np.argmax(bad))
            label, place = tasks.labels[tasks.member[row]], row - tasks.starts[tasks.member[row]]
            raise OptionError(
                f"{name} of task {label!r} has NaN or an infinite entry in its row {place}: drop or fill it"
            )
        for column, most in enumerate(np.abs(values).max(axis=0)):
            check_size(float(most), f"column {column} of X" if name == "X" else "y")


def check_size(most: float, name: str) -> None:
    """Refuse numbers, the largest of which is `most`, whose squares can't be summed.

    Examples
    --------
    >>> check_size(1e300, "y")
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: y has numbers up to 1e+300, whose squares can't be summed: choose another unit
    """
    if most and not 1 / LARGEST <= most <= LARGEST:
        raise OptionError(f"{name} has numbers up to {most:.4g}, whose squares can't be summed: choose another unit")
