"""How multi-task regression is tested: splits within tasks, standardised columns, and the models to compare with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import single_thread
from graphpri.apps.mtl import MIN_DEGREE, GammaAfter, GraphMTL, TooFewEdgesError
from graphpri.apps.mtl_data import Tasks, group_rows
from graphpri.errors import GraphError, OptionError
from graphpri.graph import FloatArray

BASELINES = ("random", "local-degree", "local-similarity", "effective-resistance")
"""Sparsifiers of the task graph that the paper compares with."""


class Split(NamedTuple):
    """Rows to learn from and rows to test on, numbers of rows of a :class:`Tasks`.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> split = random_split(tasks, 0.75, np.random.default_rng(0))
    >>> split.train.size, split.test.size, np.intersect1d(split.train, split.test).size
    (180, 60, 0)
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def random_split(tasks: Tasks, share: float, rng: np.random.Generator) -> Split:
    """`share` of each task's rows to learn from, drawn at random; at least one, and one is left where there are two.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> np.bincount(tasks.member[random_split(tasks, 0.25, np.random.default_rng(0)).train])
    array([10, 10, 10, 10, 10, 10])
    """
    return _split(tasks, share, lambda rows, count: rows[rng.choice(rows.size, count, replace=False)])


def ordered_split(tasks: Tasks, share: float, key: FloatArray) -> Split:
    """The rows of each task with the smallest keys to learn from, such as the earliest.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> ordered_split(tasks, 0.1, -np.arange(240.0)).train[:4]
    array([36, 37, 38, 39])
    """
    return _split(tasks, share, lambda rows, count: rows[np.argsort(key[rows], kind="stable")[:count]])


def _split(tasks: Tasks, share: float, pick: Callable[[NDArray[np.int64], int], NDArray[np.int64]]) -> Split:
    chosen = np.zeros(tasks.member.size, bool)
    for start, size in zip(tasks.starts[:-1], tasks.sizes, strict=True):
        count = min(max(round(share * size), 1), max(size - 1, 1))
        chosen[pick(np.arange(start, start + size), count)] = True
    return Split(np.flatnonzero(chosen), np.flatnonzero(~chosen))


def folds(tasks: Tasks, count: int, rng: np.random.Generator) -> Iterator[Split]:
    """Splits that test every row once, spread evenly within each task.

    The row of a task with a single one is never tested: without it there is no such task. There are no more splits
    than a task has rows.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> tested = np.concatenate([split.test for split in folds(tasks, 5, np.random.default_rng(0))])
    >>> bool((np.sort(tested) == np.arange(240)).all())
    True
    """
    fold, count = np.full(tasks.member.size, -1), min(count, int(tasks.sizes.max()))
    for start, size in zip(tasks.starts[:-1], tasks.sizes, strict=True):
        if size > 1:
            fold[start + rng.permutation(size)] = (np.arange(size) + rng.integers(count)) % count
    for number in range(count):
        test = np.flatnonzero(fold == number)
        if test.size:
            yield Split(np.flatnonzero(fold != number), test)


@dataclass(frozen=True)
class StandardisedSplit:
    """A split's rows, columns less `mean` and over `scale` of those to learn from; columns constant there are 0.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> split = standardise(tasks, random_split(tasks, 0.5, np.random.default_rng(0)))
    >>> split.train.count, split.test_x.shape, split.test_task.shape
    (6, (120, 30), (120,))
    """

    train: Tasks
    test_x: FloatArray
    test_y: FloatArray
    test_task: NDArray[np.int64]
    mean: FloatArray
    scale: FloatArray


def standardise(tasks: Tasks, split: Split) -> StandardisedSplit:
    """Rows to learn from and to test on, standardised by the first.

    Raises
    ------
    OptionError
        For a task without rows to learn from.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> split = standardise(tasks, random_split(tasks, 0.5, np.random.default_rng(0)))
    >>> float(np.abs(split.train.X.mean(axis=0)).max()) < 1e-12
    True
    """
    X = tasks.X[split.train]
    mean, spread = X.mean(axis=0), X.std(axis=0)
    # Constant columns have to be 0, as least squares would fit what rounding leaves of them: no StandardScaler.
    scale = np.where(spread > 1e-12 * np.abs(mean), spread, np.inf)
    member = tasks.member[split.train]
    if (absent := np.bincount(member, minlength=tasks.count) == 0).any():
        raise OptionError(f"task {tasks.labels[int(np.argmax(absent))]!r} has no row to learn from")
    train = group_rows((X - mean) / scale, tasks.y[split.train], member, tasks.intercept)
    test = (tasks.X[split.test] - mean) / scale, tasks.y[split.test], tasks.member[split.test]
    return StandardisedSplit(train, *test, mean, scale)


Predict = Callable[[StandardisedSplit], FloatArray]
"""Predictions for a split's test rows, shape (n_test,)."""


def _task_mean(split: StandardisedSplit) -> FloatArray:
    """The mean of each task."""
    return replace(split.train, intercept=True).means[1][split.test_task]


def _least_squares(split: StandardisedSplit) -> FloatArray:
    """Each task on its own, by least squares."""
    return _predict(GraphMTL(gamma=0.0).fit_rows(split.train), split)


def _own_ridge(split: StandardisedSplit) -> FloatArray:
    """Each task on its own, by ridge regression with the ridge that leave-one-out chooses for it."""
    return _predict(GraphMTL(gamma=0.0, ridge="own").fit_rows(split.train), split)


def _common_slopes(split: StandardisedSplit) -> FloatArray:
    """One regression for all tasks, with an intercept for each."""
    X, y = split.train.centred
    with single_thread():
        w = np.linalg.lstsq(X, y, rcond=None)[0]
    mean_x, mean_y = split.train.means
    return split.test_x @ w + (mean_y - mean_x @ w)[split.test_task]


GRAPH_FREE: dict[str, Predict] = {
    "task mean": _task_mean,
    "per-task least squares": _least_squares,
    "per-task ridge": _own_ridge,
    "common slopes": _common_slopes,
}
"""Models without a graph."""


PENALTIES = 12
"""Penalties of the multi-task lasso that inner folds choose among, from where all coefficients are 0 down to 1/1000."""

_INNER = 3  # folds within the tasks, to choose it
_LASSO_STEPS, _LASSO_TOLERANCE = 2000, 1e-6


def _multi_task_lasso(split: StandardisedSplit) -> FloatArray:
    """Columns that matter in some tasks matter in all; the penalty by three folds within the tasks."""
    tasks, rng = split.train, np.random.default_rng(0)
    path = row_penalties(tasks)
    found = np.zeros(len(path))
    for inner in folds(tasks, _INNER, rng):
        part = standardise(tasks, inner)
        for i, w in enumerate(row_sparse_path(part.train, path)):
            found[i] += ((part.test_y - _apply(part, w)) ** 2).sum()
    return _apply(split, row_sparse_path(tasks, path[: int(np.argmin(found)) + 1])[-1])


def _apply(split: StandardisedSplit, w: FloatArray) -> FloatArray:
    """Predictions by coefficients of the centred rows, shape (T, P)."""
    mean_x, mean_y = split.train.means
    rows = split.test_x - mean_x[split.test_task]
    return mean_y[split.test_task] + np.einsum("np,np->n", rows, w[split.test_task])


def row_penalties(tasks: Tasks) -> FloatArray:
    """Penalties for :func:`row_sparse_path`, from the least that leaves no column down, on a logarithmic scale.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> path = row_penalties(synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks)
    >>> path.size, float(path[0] / path[-1]).__round__()
    (12, 1000)
    """
    X, y = tasks.centred
    gradient = np.add.reduceat(X * y[:, None], tasks.starts[:-1], axis=0)
    return float(np.linalg.norm(gradient, axis=0).max()) * np.logspace(0, -3, PENALTIES)


def row_sparse_path(tasks: Tasks, penalties: FloatArray) -> list[FloatArray]:
    """The multi-task lasso for tasks with rows of their own: min ½ Σ_t ‖X_t w_t − y_t‖² + α Σ_p ‖(w_1p, …, w_Tp)‖.

    Rows and targets centred within the tasks. scikit-learn's ``MultiTaskLasso`` needs the same rows for all tasks;
    there the solution is the same, with its penalty times the number of rows (G. Obozinski, B. Taskar and M. I. Jordan,
    2010). Accelerated proximal gradient steps (A. Beck and M. Teboulle, 2009), each penalty from the solution before.

    Parameters
    ----------
    tasks : Tasks
    penalties : ndarray of float64, shape (A,)
        Values of α, the largest first.

    Returns
    -------
    list of ndarray of float64, shape (T, P)
        Coefficients for each penalty.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> path = row_sparse_path(tasks, row_penalties(tasks))
    >>> [int((w != 0).any(axis=0).sum()) for w in path[:3]]  # columns
    [0, 14, 19]
    """
    X, y = tasks.centred
    count, width = tasks.count, X.shape[1]
    grams, products = np.empty((count, width, width)), np.empty((count, width))
    for t, (first, last) in enumerate(pairwise(tasks.starts)):
        own = X[first:last]
        grams[t], products[t] = own.T @ own, own.T @ y[first:last]
    steepest = max(float(np.linalg.norm(gram, 2)) for gram in grams) or 1.0
    w, found = np.zeros((count, width)), list[FloatArray]()
    for penalty in penalties:
        ahead, momentum = w, 1.0
        for _ in range(_LASSO_STEPS):
            moved = ahead - (np.einsum("tpq,tq->tp", grams, ahead) - products) / steepest
            size = np.linalg.norm(moved, axis=0)
            after = moved * np.maximum(0.0, 1 - penalty / steepest / np.maximum(size, 1e-300))
            following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
            change = after - w
            if (change * (ahead - after)).sum() > 0:  # O'Donoghue and Candès: momentum that goes uphill starts again
                following = 1.0
            ahead, w, momentum = after + (momentum - 1) / following * change, after, following
            if np.abs(change).max() <= _LASSO_TOLERANCE * max(np.abs(after).max(), 1e-300):
                break
        found.append(w)
    return found


def _mixed_model(split: StandardisedSplit) -> FloatArray:
    """Common slopes, and an intercept for each task that is drawn to their mean: statsmodels' ``MixedLM``, by REML."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    tasks = split.train
    columns = np.column_stack([np.ones(len(tasks.y)), tasks.X])
    used = np.r_[True, tasks.X.std(axis=0) > 1e-9]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance at 0 is an answer here: then the intercepts are the same
        model: Any = MixedLM(tasks.y, columns[:, used], groups=tasks.member)
        fitted = model.fit(reml=True)
    own = np.array([float(np.asarray(fitted.random_effects[t]).ravel()[0]) for t in range(tasks.count)])
    rows = np.column_stack([np.ones(len(split.test_x)), split.test_x])[:, used]
    return rows @ np.asarray(fitted.fe_params) + own[split.test_task]


def references() -> dict[str, Predict]:
    """Models without a graph that a user's table is compared with: also the multi-task lasso, and a mixed model.

    The mixed model needs statsmodels (``pip install 'graphpri[mixed]'``), and is left out without it.

    Examples
    --------
    >>> list(references())[:5]
    ['task mean', 'per-task least squares', 'per-task ridge', 'common slopes', 'multi-task lasso']
    """
    found = {**GRAPH_FREE, "multi-task lasso": _multi_task_lasso}
    return found | ({"mixed model": _mixed_model} if find_spec("statsmodels") else {})


def _predict(model: GraphMTL, split: StandardisedSplit) -> FloatArray:
    w, b = model.coef_[split.test_task], model.intercept_[split.test_task]
    return np.einsum("np,np->n", split.test_x, w) + b


def rmse(errors: FloatArray) -> float:
    """Root mean square; NaN of none.

    Examples
    --------
    >>> rmse(np.array([3.0, -4.0])) == 12.5**0.5
    True
    """
    return float(np.sqrt((errors**2).mean())) if errors.size else float("nan")


def mean_task_rmse(errors: FloatArray, task: NDArray[np.int64]) -> float:
    """Mean over the tasks of the root mean squared error of each; NaN of none.

    Examples
    --------
    >>> mean_task_rmse(np.array([1.0, -1.0, 3.0]), np.array([0, 0, 1]))
    2.0
    """
    count, squares = np.bincount(task), np.bincount(task, errors**2)
    return float(np.sqrt(squares[count > 0] / count[count > 0]).mean()) if errors.size else float("nan")


@dataclass(frozen=True)
class Pruning:
    """A way to sparsify the task graph; parameters as in :meth:`graphpri.apps.mtl.GraphMTL.sparsify_tasks`.

    Examples
    --------
    >>> Pruning("pri", 0.5, options={"beta": 100.0}).gamma
    'loo'
    """

    method: str
    keep: float | int
    gamma: GammaAfter = "loo"
    min_degree: int = MIN_DEGREE
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def apply(self, model: GraphMTL) -> GraphMTL:
        """The model on the sparsified graph; raises what :meth:`GraphMTL.sparsify_tasks` does."""
        return model.sparsify_tasks(
            self.keep,
            method=self.method,
            min_degree=self.min_degree,
            gamma=self.gamma,
            seed=self.seed,
            **self.options,
        )


class ModelErrors(NamedTuple):
    """What one model did on one split: its name, what was kept and chosen, its errors y − ŷ, and their tasks.

    `edges` and `gamma` are None for models without a graph. `status` says why a model couldn't be made; then there
    are no errors.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> split = standardise(tasks, random_split(tasks, 0.5, np.random.default_rng(0)))
    >>> entry = next(evaluate(split, []))
    >>> entry.model, entry.edges, entry.status
    ('task mean', None, 'fitted')
    """

    model: str
    pruning: Pruning | None
    edges: int | None
    gamma: float | None
    errors: FloatArray
    task: NDArray[np.int64]
    status: str = "fitted"


def evaluate(
    split: StandardisedSplit,
    prunings: Iterable[Pruning],
    models: Mapping[str, Predict] = GRAPH_FREE,
    **parameters: Any,
) -> Iterator[ModelErrors]:
    """The models without a graph, the graph model, and the graph model on each sparsified graph, on one split.

    Parameters
    ----------
    split : StandardisedSplit
    prunings : iterable of Pruning
    models : mapping of str to callable
        Those without a graph.
    **parameters
        Of the graph model; γ is chosen by leave-one-out where it is not among them.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> split = standardise(tasks, random_split(tasks, 0.5, np.random.default_rng(0)))
    >>> for entry in evaluate(split, [Pruning("pri", 0.7, min_degree=2)], k=4):
    ...     print(entry.model, entry.edges)
    task mean None
    per-task least squares None
    per-task ridge None
    common slopes None
    graph 14
    graph, pri 10
    """
    for name, predict in models.items():
        try:
            yield ModelErrors(name, None, None, None, split.test_y - predict(split), split.test_task)
        except np.linalg.LinAlgError as error:
            nothing = np.empty(0), np.empty(0, np.int64)
            yield ModelErrors(name, None, None, None, *nothing, f"error: {error}")
    given: dict[str, Any] = {"gamma": "loo", **parameters}
    whole = GraphMTL(**given).fit_rows(split.train)
    yield errors_of(whole, split)
    for pruning in prunings:
        try:
            yield errors_of(pruning.apply(whole), split, pruning)
        except (TooFewEdgesError, GraphError) as error:
            nothing = np.empty(0), np.empty(0, np.int64)
            yield ModelErrors(f"graph, {pruning.method}", pruning, None, None, *nothing, f"error: {error}")


def errors_of(model: GraphMTL, split: StandardisedSplit, pruning: Pruning | None = None) -> ModelErrors:
    """What a fitted graph model does on a split's test rows; `pruning` is how its graph was sparsified.

    Examples
    --------
    >>> from graphpri.apps.mtl_data import synthetic
    >>> tasks = synthetic(seed=0, n_tasks=6, group_size=3, n=40).tasks
    >>> split = standardise(tasks, random_split(tasks, 0.5, np.random.default_rng(0)))
    >>> errors_of(GraphMTL(k=3).fit_rows(split.train), split).model
    'graph'
    """
    name = "graph" if pruning is None else f"graph, {pruning.method}"
    errors = split.test_y - _predict(model, split)
    return ModelErrors(name, pruning, model.graph_.n_edges, model.gamma_, errors, split.test_task)
