"""Graph-regularised multi-task regression, and sparsifying the task graph (Section 4.2 of Yu et al., UAI 2022).

One linear model a task; a graph over the tasks says whose coefficients should be alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lapack

from graphpri._arguments import chosen, is_several, real, switch, whole
from graphpri._runtime import require, single_thread
from graphpri._selection import settle
from graphpri._sparsify import Sparsified, sparsify
from graphpri.apps.mtl_data import Tasks, as_labels, as_matrix, group_rows
from graphpri.errors import GraphError, MissingExtraError, OptionError, argument, named
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.interop import as_graph

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.metrics import r2_score
    from sklearn.neighbors import NearestNeighbors
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn", "multi-task regression") from error

Penalty = Literal["squared", "l2"]
EdgeWeights = Literal["unit", "similarity"]
GammaAfter = Literal["fixed", "rescaled", "loo"]

GAMMAS = tuple(float(10.0**e) for e in np.arange(-3, 3.01, 0.5))
"""Values of γ that leave-one-out chooses among, in units at which both terms of the objective weigh the same."""

MIN_DEGREE = 3
"""Neighbours that sparsifying leaves each task, by default."""

DENSE = 1500
"""Coefficients in all, T·P, up to which systems are solved by a dense factorisation."""

LEAVE_ONE_OUT = 8000
"""Coefficients in all up to which leave-one-out errors are computed: they need a dense inverse."""

REACH = 2e7
"""Most that the graph may weigh, in units of what the rows weigh: well beyond, rounding hides the rows."""

_RESIDUAL = 1e-11
_STEPS = 5000


class GraphMTL(RegressorMixin, BaseEstimator):
    """Linear regression of several tasks whose coefficients a graph draws together.

    Squared penalty: min Σ_t ‖X_t w_t − y_t‖² + ridge Σ_t ‖w_t‖² + γ Σ_i Σ_{j∈N_i} a_ij ‖w_i − w_j‖²
    (Eq. obj_MTL of Yu et al.; the double sum counts each edge twice). l2 penalty (convex clustering, CCMTL, He et
    al., AAAI 2019): min ½ Σ_t ‖X_t w_t − y_t‖² + ½ ridge Σ_t ‖w_t‖² + (γ/2) Σ_E a_ij ‖w_i − w_j‖.

    Parameters
    ----------
    penalty : {"squared", "l2"}
        Squares draw all neighbours together; lengths make some equal and leave others apart.
    gamma : float or "loo"
        Weight γ ≥ 0 of the graph; "loo" takes the one of `gammas` with the least exact leave-one-out error
        (squared penalty only).
    gammas : iterable of float, optional
        For "loo"; 13 values around the balance of the two terms (and 0, where there are ridges) where absent.
    ridge : float or "own"
        Weight ≥ 0 of the squared coefficients; "own" gives each task the ridge that leave-one-out chooses for it alone.
    graph : "knn", or a graph
        "knn" joins each task to the `k` tasks with the nearest coefficients when each is fitted on its own (edges of
        both directions). Otherwise anything that :func:`graphpri.as_graph` takes, with a node for each task: by
        label, or, for matrices, in the order of `tasks_`.
    k : int
        Neighbours for "knn"; all other tasks where there are fewer.
    edge_weights : {"unit", "similarity"}
        For "knn": 1, or exp(−‖w_i − w_j‖² / median).
    fit_intercept : bool
        An intercept for each task, which the graph does not couple.
    task_column : str, optional
        The column of a DataFrame that has the task of each row, where `tasks` is not passed; for what passes on
        nothing beside `X` and `y`, such as ``GridSearchCV``.
    unseen : {"error", "mean"}
        What :meth:`predict` does with a task that was not fitted: refuse, or take the mean coefficients and intercept.
    tol : float
        For the l2 penalty: stop where a step lowers the objective by a smaller share.

    Attributes
    ----------
    tasks_ : tuple
        The tasks.
    coef_ : ndarray of float64, shape (T, P)
    intercept_ : ndarray of float64, shape (T,)
    graph_ : Graph
        The task graph; nodes in the order of `tasks_`.
    gamma_ : float
        The γ that was used.
    ridge_ : ndarray of float64, shape (T,)
        The ridge of each task.
    objective_history_ : list of float
        The objective at the solution, and before it at each step where there are several.
    loo_ : dict of float to float, or None
        Root mean squared leave-one-out error of each γ that was tried.
    sparsified_ : Sparsified or None
        How the task graph was sparsified.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        The columns, where `X` is a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, tasks = rng.normal(size=(120, 2)), np.repeat(["a", "b", "c", "d"], 30)
    >>> y = X @ [1.0, -1.0] + np.where(tasks == "a", 5.0, 0.0)
    >>> model = GraphMTL(gamma=10.0, k=2).fit(X, y, tasks=tasks)
    >>> model.coef_.round(2)[0], float(model.intercept_[0].round(2))
    (array([ 1., -1.]), 5.0)
    """

    tasks_: tuple[Any, ...]
    coef_: FloatArray
    intercept_: FloatArray
    graph_: Graph
    gamma_: float
    objective_history_: list[float]
    ridge_: FloatArray
    loo_: dict[float, float] | None
    sparsified_: Sparsified | None
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _rows: Tasks
    _columns: list[Any] | None

    def __init__(
        self,
        penalty: Penalty = "squared",
        gamma: float | Literal["loo"] = 1.0,
        *,
        gammas: Iterable[float] | None = None,
        ridge: float | Literal["own"] = 0.0,
        graph: Any = "knn",
        k: int = 10,
        edge_weights: EdgeWeights = "unit",
        fit_intercept: bool = True,
        task_column: str | None = None,
        unseen: Literal["error", "mean"] = "error",
        tol: float = 1e-4,
    ) -> None:
        self.penalty: Penalty = penalty
        self.gamma = gamma
        self.gammas = gammas
        self.ridge = ridge
        self.graph = graph
        self.k = k
        self.edge_weights: EdgeWeights = edge_weights
        self.fit_intercept = fit_intercept
        self.task_column = task_column
        self.unseen: Literal["error", "mean"] = unseen
        self.tol = tol

    def fit(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> GraphMTL:
        """Fit all tasks together.

        Parameters
        ----------
        X : array or DataFrame of shape (n, P), or list of arrays of shape (n_t, P)
        y : array of shape (n,), or list of arrays
        tasks : array of shape (n,), or str
            The task of each row, or the column of a DataFrame that has it; names of the tasks for lists.
        sample_weight : array of shape (n,), or list of arrays, optional
            How much the squared error of each row counts, 0 or more; leave-one-out errors are weighted as well.

        Raises
        ------
        OptionError
            Names the task, row, column or parameter at fault.
        GraphError
            For a graph that does not have a node for each task.
        """
        self._check()
        return self.fit_rows(self._rows_of(X, y, tasks, sample_weight))

    def fit_rows(self, rows: Tasks) -> GraphMTL:
        """Fit rows that are grouped by task already; see :meth:`fit`."""
        self._check()
        with single_thread():
            if self.ridge == "own":
                self.ridge_, alone = rows.single_task_ridges()
            else:
                self.ridge_, alone = np.full(rows.count, float(self.ridge)), rows.single_task_fits()
            graph = self._graph(rows, alone)
            self.sparsified_, self.loo_ = None, None
            gamma = self._choose(rows, graph) if self.gamma == "loo" else float(self.gamma)
            return self._solve(rows, graph, gamma, alone)

    def predict(self, X: Any, tasks: Any = None) -> Any:
        """Predictions for rows of tasks.

        Parameters
        ----------
        X : array or DataFrame of shape (n, P), or list of arrays
        tasks : as in :meth:`fit`

        Returns
        -------
        ndarray of float64, shape (n,), a Series for a DataFrame, or a list of arrays

        Raises
        ------
        OptionError
            For a task that was not fitted (unless ``unseen="mean"``), and other columns than in fitting.
        """
        check_is_fitted(self)
        if isinstance(X, list | tuple):
            names = self.tasks_ if tasks is None else tuple(tasks)
            if len(names) != len(X):
                raise OptionError(f"{len(X)} matrices and {len(names)} tasks: pass as many of each")
            places = self._places(names)
            matrices = [as_matrix(x, "X") for x in X]
            return [self._predict(x, np.full(len(x), i)) for x, i in zip(matrices, places, strict=True)]
        frame, ids, index = self._split_frame(X, tasks)
        found = self._predict(as_matrix(frame, "X"), self._places(ids))
        if index is None:
            return found
        import pandas as pd

        return pd.Series(found, index=index)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, tasks: Any = None) -> float:
        """R² of the predictions, over the rows of all tasks."""
        found = self.predict(X, tasks)
        if hasattr(X, "columns"):
            for values, name in ((y, "y"), (sample_weight, "sample_weight")):
                _check_order(values, name, X.index)
        together = np.concatenate(found) if isinstance(found, list) else found
        truth = np.concatenate([np.ravel(v) for v in y]) if isinstance(X, list | tuple) else y
        return float(r2_score(truth, together, sample_weight=sample_weight))

    def sparsify_tasks(
        self,
        keep: float | int,
        *,
        method: str = "pri",
        beta: float = 100.0,
        min_degree: int = MIN_DEGREE,
        gamma: GammaAfter = "loo",
        seed: int = 0,
        **options: Any,
    ) -> GraphMTL:
        """The same model on a sparsified task graph.

        Parameters
        ----------
        keep : float or int
            Share or number of edges to keep.
        method, beta, seed, **options
            As in :func:`graphpri.sparsify`; `beta` is for method "pri".
        min_degree : int
            Neighbours that each task keeps at least, or all that it has where it has fewer.
        gamma : {"fixed", "rescaled", "loo"}
            Pruning lowers the penalty as a whole. "fixed" leaves γ as it is, "rescaled" multiplies the Laplacian by
            M/m (the ratio of total weights), and "loo" chooses γ again by leave-one-out (squared penalty).

        Returns
        -------
        GraphMTL
            Another estimator, fitted on the same rows.

        Raises
        ------
        OptionError
            For a budget below what `min_degree` needs; says the smallest.
        """
        check_is_fitted(self)
        if gamma not in ("fixed", "rescaled", "loo"):
            raise OptionError(f"{argument('gamma', gamma)}: choose 'fixed', 'rescaled' or 'loo'")
        if gamma == "loo" and self.penalty == "l2":
            raise OptionError(
                f"{argument('gamma', 'loo')} is for the squared penalty: choose 'fixed' or 'rescaled' for \"l2\""
            )
        whole("min_degree", min_degree, 0)
        if method == "pri":
            options["beta"] = beta
        kept = sparsify_guarded(self.graph_, keep, min_degree, method=method, seed=seed, **options)
        graph = kept.kept
        if gamma == "rescaled":
            ratio = float(self.graph_.weights.sum() / graph.weights.sum())
            graph = graph.select(np.ones(graph.n_edges, bool), graph.weights * ratio)
        other = copy(self)
        other.sparsified_, other.loo_ = kept, None
        with single_thread():
            value = other._choose(self._rows, graph) if gamma == "loo" else self.gamma_
            return other._solve(self._rows, graph, value, self.coef_)

    def _solve(self, rows: Tasks, graph: Graph, gamma: float, start: FloatArray) -> GraphMTL:
        if self.penalty == "squared":
            system = self._system(rows, graph, gamma)
            w = system.solve(rows.moments[1], start)
            history = [
                float((rows.centred[1] ** 2).sum() - 2 * (w * rows.moments[1]).sum() + (w * system.times(w)).sum())
            ]
        else:
            w, history = _half_quadratic(rows, graph, gamma, self.ridge_, self.tol, start)
        mean_x, mean_y = rows.means
        self.coef_, self.intercept_ = w, mean_y - (mean_x * w).sum(axis=1)
        self.graph_, self.gamma_, self.objective_history_ = graph, gamma, history
        self._rows, self.tasks_, self.n_features_in_ = rows, rows.labels, w.shape[1]
        return self

    def _system(self, rows: Tasks, graph: Graph, gamma: float) -> _System:
        # Beyond, tasks that are joined are the same but for rounding, which would come to hide their rows.
        gamma = min(gamma, REACH * _balance(rows, graph))
        return _System(_add_ridges(rows.moments[0], self.ridge_), graph.laplacian(), 2 * gamma)

    def _choose(self, rows: Tasks, graph: Graph) -> float:
        """The γ with the least leave-one-out error; the largest of those that tie."""
        if self.penalty != "squared":
            raise OptionError(
                f"{argument('gamma', 'loo')} is for the squared penalty, which alone has the formula: give a number"
            )
        values = self._gammas(rows, graph)
        errors = [_root_mean_square(rows, _leave_one_out(rows, self._system(rows, graph, g))) for g in values]
        self.loo_ = dict(zip(values, errors, strict=True))
        return min(zip(errors, (-value for value in values), values, strict=True))[2]

    def _gammas(self, rows: Tasks, graph: Graph) -> list[float]:
        """Values of γ to choose among; by default around that at which graph and rows pull alike, and 0 with ridges."""
        if self.gammas is not None:
            found: list[Any] = list(self.gammas) if is_several(self.gammas) else []  # pyright: ignore
            if not found:
                raise OptionError(f"{argument('gammas', self.gammas)}: pass a list with one value or more")
            for value in found:
                real("gammas", value)
            return [float(value) for value in found]
        unit = _balance(rows, graph)
        return [0.0] * bool(self.ridge_.min() > 0) + [value * unit for value in GAMMAS]

    def _graph(self, rows: Tasks, alone: FloatArray) -> Graph:
        if isinstance(self.graph, str):
            return knn_graph(alone, self.k, self.edge_weights)
        graph = as_graph(self.graph)
        if graph.n_nodes != rows.count:
            raise GraphError(f"graph has {graph.n_nodes} nodes and there are {rows.count} tasks: one node a task")
        return _in_order(graph, rows.labels)

    def _rows_of(self, X: Any, y: Any, tasks: Any, weights: Any) -> Tasks:
        self._columns = None
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if isinstance(X, list | tuple):
            return group_rows(X, y, tasks, self.fit_intercept, weights)
        frame, ids, index = self._split_frame(X, tasks)
        if index is not None:
            for values, name in ((y, "y"), (weights, "sample_weight")):
                _check_order(values, name, index)
            self._columns = list(frame.columns)
            if all(isinstance(column, str) for column in self._columns):
                self.feature_names_in_ = np.array(self._columns, object)
        return group_rows(frame, y, ids, self.fit_intercept, weights)

    def _split_frame(self, X: Any, tasks: Any) -> tuple[Any, Any, Any]:
        """Features, tasks and index of what may be a DataFrame."""
        columns: list[Any] = list(getattr(X, "columns", ()))
        if tasks is None:
            tasks = self.task_column
        if not columns:
            if isinstance(tasks, str):
                raise OptionError(
                    f"{argument('tasks', tasks)} names a column, and X has no names of columns: pass an array"
                )
            return X, tasks, None
        if twice := sorted({str(c) for c in columns if columns.count(c) > 1}):
            raise OptionError(f"X has several columns called {twice[0]!r}: names must differ")
        ids, features = tasks, X
        if isinstance(tasks, str):
            if tasks not in columns:
                raise OptionError(
                    f"{argument('tasks', tasks)} is no column of X; it has {', '.join(map(str, columns))}"
                )
            ids, features = X[tasks], X.drop(columns=tasks)
        if self._columns is not None and list(features.columns) != self._columns:
            here, before = (", ".join(map(str, names)) for names in (features.columns, self._columns))
            more = [column for column in features.columns if column not in self._columns]
            hint = f": pass tasks={more[0]!r} if that is the tasks' column" if tasks is None and len(more) == 1 else ""
            raise OptionError(f"X has the columns {here}, and fit saw {before}{hint}")
        _check_order(ids, "tasks", X.index)
        return features, ids, X.index

    def _places(self, names: Any) -> NDArray[np.int64]:
        """The place of each task; −1 for those that were not fitted, where that is allowed."""
        if names is None:
            raise OptionError("tasks= is missing: pass the task of each row")
        place = {label: i for i, label in enumerate(self.tasks_)}
        labels = as_labels(names).tolist()
        found = np.array([place.get(label, -1) for label in labels], np.int64)
        if self.unseen != "mean" and (found < 0).any():
            strange = labels[int(np.argmin(found))]
            raise OptionError(
                f'task {strange!r} was not fitted: fit on rows of it, or pass unseen="mean" for the mean of all tasks'
            )
        return found

    def _predict(self, X: FloatArray, places: NDArray[np.int64]) -> FloatArray:
        if X.shape[1] != self.n_features_in_:
            raise OptionError(f"X has {X.shape[1]} columns, and fit saw {self.n_features_in_}")
        if places.shape != X.shape[:1]:
            raise OptionError(f"tasks has {places.size} entries, and X has {X.shape[0]} rows: one a row")
        if (bad := ~np.isfinite(X).all(axis=1)).any():
            raise OptionError(f"X has NaN or an infinite entry in its row {int(np.argmax(bad))}: drop or fill it")
        w = np.vstack([self.coef_, self.coef_.mean(axis=0)])
        intercepts = np.append(self.intercept_, self.intercept_.mean())
        return np.einsum("np,np->n", X, w[places]) + intercepts[places]

    def _check(self) -> None:
        chosen("penalty", self.penalty, ("squared", "l2"))
        chosen("edge_weights", self.edge_weights, ("unit", "similarity"))
        chosen("unseen", self.unseen, ("error", "mean"))
        if isinstance(self.graph, str) and self.graph != "knn":
            raise OptionError(f"{argument('graph', self.graph)}: choose 'knn' or pass a graph over the tasks")
        whole("k", self.k, 1)
        switch("fit_intercept", self.fit_intercept)
        if not (isinstance(self.ridge, str) and self.ridge == "own"):
            real("ridge", self.ridge)
        real("tol", self.tol)
        if not (isinstance(self.gamma, str) and self.gamma == "loo"):
            real("gamma", self.gamma)


# The task graph


def knn_graph(coefficients: ArrayLike, k: int = 10, edge_weights: EdgeWeights = "unit") -> Graph:
    """Graph that joins each task to those with the nearest coefficients; edges of both directions.

    Parameters
    ----------
    coefficients : array_like of float, shape (T, P)
    k : int
        Neighbours of each task; all others where there are fewer.
    edge_weights : {"unit", "similarity"}
        1, or exp(−‖w_i − w_j‖² / median of these squares over the edges).

    Examples
    --------
    >>> graph = knn_graph([[0.0], [1.0], [5.0], [6.0]], k=1)
    >>> [graph.edge_labels(edge) for edge in range(graph.n_edges)]
    [(0, 1), (2, 3)]
    """
    w = np.asarray(coefficients, np.float64)
    k = min(k, len(w) - 1)
    if k < 1:
        return Graph.from_edges([], [], n_nodes=len(w))
    # In more than a few dimensions trees look at all points, and more slowly.
    search = NearestNeighbors(n_neighbors=k, algorithm="brute" if w.shape[1] > 5 else "auto").fit(w)
    near = cast("NDArray[np.int64]", search.kneighbors(return_distance=False))
    own = np.repeat(np.arange(len(w)), k)
    pairs = np.unique(np.sort(np.column_stack([own, near.ravel()]), axis=1), axis=0)
    graph = Graph.from_edges(pairs[:, 0], pairs[:, 1], n_nodes=len(w))
    if edge_weights == "unit":
        return graph
    squares = _edge_lengths(graph, w) ** 2
    # A weight of 0 is no edge.
    weights = np.maximum(np.exp(-squares / (float(np.median(squares)) or 1.0)), 1e-100)
    return graph.select(np.ones(graph.n_edges, bool), weights)


class TooFewEdgesError(OptionError):
    """A budget that doesn't leave every task the neighbours that it is to keep.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> sparsify_guarded(ring_knn(8, 4), keep=8, min_degree=3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.apps.mtl.TooFewEdgesError: keep=8: 8 edges don't leave every task 3 neighbours, 12 do: keep ...
    """


def sparsify_guarded(graph: Graph, keep: float | int, min_degree: int, **options: Any) -> Sparsified:
    """Sparsify a graph, and leave every node `min_degree` neighbours, or all that it has where it has fewer.

    Reverse deletion: edges go in the order that the method gives, those that it drops, then those that it keeps, the
    lowest scores first. A deletion that would leave a node with too few neighbours is skipped.

    Raises
    ------
    TooFewEdgesError
        Where so few edges don't leave every node that many; says how many do.
    GraphError
        For a graph without edges.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> found = sparsify_guarded(ring_knn(8, 4), keep=12, min_degree=3)
    >>> found.kept.n_edges, int(found.kept.degrees().min())
    (12, 3)
    """
    found = sparsify(graph, keep=keep, **options)
    k = found.kept.n_edges
    mask = _reverse_delete(graph, np.lexsort((settle(found.scores), found.mask)), k, min_degree)
    if (left := int(mask.sum())) > k:
        raise TooFewEdgesError(
            f"{argument('keep', keep)}: {k} edges don't leave every task {min_degree} neighbours, {left} do: keep "
            "more, or lower "
            f"{named('min_degree')}"
        )
    return found if (mask == found.mask).all() else sparsify(graph, keep=k, protect=mask, **options)


def _reverse_delete(graph: Graph, order: NDArray[Any], k: int, min_degree: int) -> BoolArray:
    """Edges that are left: `k`, or more where every other deletion would leave a node with too few."""
    mask, degrees = np.ones(graph.n_edges, bool), graph.degrees()
    left = graph.n_edges
    for edge in order:
        ends = [graph.source[edge], graph.target[edge]]
        if left > k and (degrees[ends] > min_degree).all():
            mask[edge] = False
            degrees[ends] -= 1
            left -= 1
    return mask


def _in_order(graph: Graph, labels: tuple[Any, ...]) -> Graph:
    """The graph with its nodes in the order of the tasks, where its labels are theirs."""
    own = [graph.label(i) for i in range(graph.n_nodes)]
    if own == list(labels) or set(own) == set(range(len(own))):
        return graph
    place = {label: i for i, label in enumerate(labels)}
    if missing := [label for label in own if label not in place]:
        raise GraphError(
            f"graph has the node {missing[0]!r}, which is no task; tasks are {', '.join(map(repr, labels[:5]))}, …"
        )
    at = np.array([place[label] for label in own])
    return Graph.from_edges(at[graph.source], at[graph.target], graph.weights, n_nodes=len(labels))


def _balance(rows: Tasks, graph: Graph) -> float:
    """The γ at which graph and rows pull alike; 1 where either does not."""
    own = float(np.einsum("tii->", rows.moments[0]))
    between = 4 * float(graph.weights.sum()) * rows.X.shape[1]
    return own / between if own and between else 1.0


def _check_order(values: Any, name: str, index: Any) -> None:
    """Refuse a Series with the index of X in another order: rows go by position, and its would be of other rows."""
    own = getattr(values, "index", None)
    if own is None or callable(own) or len(own) != len(index) or index.equals(own):
        return
    if own.is_unique and own.isin(index).all():
        raise OptionError(f"{name} has the index of X in another order: pass {name}.loc[X.index]")


# The linear systems, and leave-one-out


class _System(NamedTuple):
    """The normal equations of all tasks: blkdiag(squares) + coupling · L⊗I.

    `squares` has shape (T, P, P) and holds each task's XᵀX, its ridge on the diagonal; `coupling` is 2γ for the
    squared penalty.
    """

    squares: FloatArray
    laplacian: sp.csr_array
    coupling: float

    def solve(self, products: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Coefficients of all tasks, shape (T, P), for right-hand sides Xᵀy of that shape."""
        if not self.coupling:
            return np.array([_solve_semidefinite(own, b) for own, b in zip(self.squares, products, strict=True)])
        if products.size <= DENSE:
            return _solve_semidefinite(self.dense(), products.ravel()).reshape(products.shape)
        return self._conjugate_gradients(products, start)

    def dense(self) -> FloatArray:
        """The whole matrix, shape (T·P, T·P)."""
        t, p, _ = self.squares.shape
        matrix = np.zeros((t, p, t, p))
        index = np.arange(t)
        matrix[index, :, index, :] = self.squares
        between = self.laplacian.tocoo()
        diagonal = np.arange(p)
        matrix[between.row[:, None], diagonal, between.col[:, None], diagonal] += self.coupling * between.data[:, None]
        return matrix.reshape(t * p, t * p)

    def projected(self, basis: FloatArray) -> _System:
        """The system for coefficients in the span of an orthonormal basis, shape (P, R); ridges stay what they are."""
        return self._replace(squares=basis.T @ self.squares @ basis)

    def times(self, w: FloatArray) -> FloatArray:
        """The matrix times coefficients, shape (T, P)."""
        own = (self.squares @ w[:, :, None])[:, :, 0]
        return own + self.coupling * cast("FloatArray", self.laplacian @ w)

    def _conjugate_gradients(self, b: FloatArray, start: FloatArray | None) -> FloatArray:
        """Solution by conjugate gradients, preconditioned by the tasks' own blocks (block Jacobi)."""
        p = b.shape[1]
        blocks = self.squares + (self.coupling * self.laplacian.diagonal())[:, None, None] * np.eye(p)
        # Columns that are constant within a task leave its block singular.
        floor = 1e-12 * np.einsum("tii->t", blocks).mean() / p
        inverse = np.linalg.inv(blocks + floor * np.eye(p))

        def precondition(r: FloatArray) -> FloatArray:
            return (inverse @ r[:, :, None])[:, :, 0]

        x = np.zeros_like(b) if start is None else start
        r = b - self.times(x)
        z = precondition(r)
        d, rz, enough = z, float((r * z).sum()), _RESIDUAL**2 * float((b * precondition(b)).sum())
        for _ in range(_STEPS):
            if rz <= enough:
                break
            q = self.times(d)
            step = rz / float((d * q).sum())
            x, r = x + step * d, r - step * q
            z = precondition(r)
            before, rz = rz, float((r * z).sum())
            d = z + rz / before * d
        return x


def _solve_semidefinite(matrix: FloatArray, b: FloatArray) -> FloatArray:
    """Solution of a positive semi-definite system; the shortest where there are several."""
    scale = float(np.trace(matrix)) / len(matrix) or 1.0
    try:
        factor = cho_factor(matrix)
        if np.diag(factor[0]).min() > 1e-7 * np.sqrt(scale):
            return cho_solve(factor, b)
    except LinAlgError:
        pass
    values, vectors = eigh(matrix)
    real = values > 1e-12 * max(float(values[-1]), 0.0)
    return vectors[:, real] @ ((vectors[:, real].T @ b) / values[real])


def _add_ridges(squares: FloatArray, ridges: FloatArray) -> FloatArray:
    """The tasks' XᵀX, shape (T, P, P), with each one's ridge on the diagonal."""
    return squares + ridges[:, None, None] * np.eye(squares.shape[1])


def _edge_lengths(graph: Graph, w: FloatArray) -> FloatArray:
    """Distances ‖w_i − w_j‖ of the coefficients at the ends of each edge, shape (M,)."""
    return np.linalg.norm(w[graph.source] - w[graph.target], axis=1)


def _half_quadratic(
    tasks: Tasks, graph: Graph, lam: float, ridges: FloatArray, tol: float, start: FloatArray
) -> tuple[FloatArray, list[float]]:
    """Minimum of ½Σ‖X w − y‖² + ½ ridge ‖w‖² + (λ/2) Σ a_ij ‖w_i − w_j‖ (convex clustering, He et al. 2019).

    Half-quadratic minimisation (iteratively reweighted least squares): each step replaces the lengths by quadratics
    that touch them, with l_ij = a_ij/√(‖w_i − w_j‖² + ε²), and solves the linear system from the last solution, so that
    the (smoothed) objective never rises.

    Returns
    -------
    coefficients : ndarray of float64, shape (T, P)
    objectives : list of float
        At the start and after each step.
    """
    squares, products = tasks.moments
    squares = _add_ridges(squares, ridges)
    constant = 0.5 * float((tasks.centred[1] ** 2).sum())
    lengths = _edge_lengths(graph, start)
    epsilon = 1e-6 * (float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 1.0)
    if own := float(np.einsum("tii->", squares)) / products.size:
        epsilon = max(epsilon, lam / 2 * float(graph.weights.max(initial=0)) / (REACH * own))

    def objective(w: FloatArray) -> float:
        fit = 0.5 * float(np.einsum("tp,tpq,tq->", w, squares, w)) - float((w * products).sum())
        return constant + fit + 0.5 * lam * float(graph.weights @ np.hypot(_edge_lengths(graph, w), epsilon))

    w, history = start, [objective(start)]
    while True:
        pull = graph.weights / np.hypot(_edge_lengths(graph, w), epsilon)
        w = _System(squares, graph.laplacian(pull), lam / 2).solve(products, w)
        history.append(objective(w))
        # Not "<=": an objective that overflowed, for a weight near the largest number, has no difference.
        if not history[-2] - history[-1] > tol * abs(history[-2]) or len(history) > 10_000:
            return w, history


def check_leave_one_out(t: int, p: int) -> None:
    """Refuse leave-one-out of more coefficients than :data:`LEAVE_ONE_OUT`.

    Examples
    --------
    >>> check_leave_one_out(100, 20)
    """
    if t * p > LEAVE_ONE_OUT:
        raise OptionError(
            f"leave-one-out needs a dense inverse of {t * p} coefficients ({t} tasks of {p}), and does up to "
            f"{LEAVE_ONE_OUT}: choose gamma on some of the tasks, and pass it"
        )


def _leave_one_out(tasks: Tasks, system: _System) -> FloatArray:
    """Errors of predicting each row without it, shape (n,): (y − ŷ)/(1 − H), exact for the squared penalty.

    Those of weighted rows are times the square roots of the weights.

    Raises
    ------
    OptionError
        For more coefficients than :data:`LEAVE_ONE_OUT`.
    """
    t, p, _ = system.squares.shape
    check_leave_one_out(t, p)
    require(16.0 * (t * p) ** 2, f"leave-one-out with {t * p} coefficients", "choose gamma on some of the tasks")
    X, y = tasks.centred
    # Directions that no task's rows have, such as a column constant within each, would make the system singular.
    values, vectors = eigh(X.T @ X)
    basis = vectors[:, values >= 1e-12 * values[-1]]
    rows, p = X @ basis, basis.shape[1]
    inverse = _inverse(system.projected(basis).dense()).reshape(t, p, t, p)
    index = np.arange(t)
    own = inverse[index, :, index, :]
    coefficients = np.einsum("ipjq,jq->ip", inverse, tasks.moments[1] @ basis)
    leverage = np.einsum("np,npq,nq->n", rows, own[tasks.member], rows)
    if tasks.intercept:
        leverage = leverage + tasks.share
    residual = y - np.einsum("np,np->n", rows, coefficients[tasks.member])
    return residual / np.maximum(1 - leverage, 1e-10)


def _root_mean_square(tasks: Tasks, errors: FloatArray) -> float:
    return float(np.sqrt((errors**2).sum() / tasks.total))


def _inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix; the pseudo-inverse of a singular one."""
    scale = float(np.trace(matrix)) / len(matrix) or 1.0
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if not failed and np.diag(factor).min() > 1e-7 * np.sqrt(scale):
        lower = np.tril(lapack.dpotri(factor, lower=1)[0])
        return lower + np.tril(lower, -1).T
    values, vectors = eigh(matrix)
    real = values > 1e-12 * max(float(values[-1]), 0.0)
    return (vectors[:, real] / values[real]) @ vectors[:, real].T
