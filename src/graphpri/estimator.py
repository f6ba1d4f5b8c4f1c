"""Graph-PRI as a scikit-learn transformer of adjacency matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import is_whole, switch, whole
from graphpri._objective import Mixture
from graphpri._sparsify import SolverName, sparsify
from graphpri.errors import GraphError, MissingExtraError, OptionError, argument, setting
from graphpri.graph import BoolArray, Directed, FloatArray, Graph, Loops, Negative, check_policies
from graphpri.interop import Policies, Source, load
from graphpri.solvers.budgeted import EffortName
from graphpri.solvers.reweight import ReweightName

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn", "GraphPRI") from error

_FORMATS = ("csr", "csc", "coo")

EXPECTED_FAILED_CHECKS = {
    check: f"rows are nodes of one graph, not samples on their own: {why}"
    for check, why in {
        "check_methods_sample_order_invariance": "rows can't be permuted without the columns",
        "check_methods_subset_invariance": "a subset of the rows is not a graph",
        "check_fit_idempotent": "transform takes the nodes of the fit, not the rows of new ones against them",
    }.items()
}
"""Checks of scikit-learn's ``check_estimator`` that do not apply, and why: pass as ``expected_failed_checks``."""


_MATRIX_OF = {
    "networkx": "networkx.to_scipy_sparse_array(X)",
    "igraph": "X.get_adjacency_sparse()",
    "networkit": "networkit.algebraic.adjacencyMatrix(X)",
    "graphpri": "X.adjacency()",
}
"""Where graphs of other libraries have their matrix."""


class GraphPRI(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Sparsify a graph given as an adjacency or affinity matrix.

    The matrix is symmetric, with one row and one column per node; entries other than 0 off the diagonal are
    edges and their values the weights. :meth:`fit` selects edges, :meth:`transform` gives a matrix of the same
    type with the others set to 0, to be used where scikit-learn takes ``affinity="precomputed"``.

    Parameters
    ----------
    keep, beta, alpha, connected, cover, at_least, reweight, entropy, solver, mixture, method, effort, time_limit
        As in :func:`graphpri.sparsify`.
    method_options : mapping of str to object, optional
        Options of the method, such as ``{"exponent": 0.5}`` for ``"local-degree"``.
    weighted : bool
        Use the entries as weights. If False they are 1 for the choice of edges; :meth:`transform` keeps
        their values all the same.
    directed : {"refuse", "symmetrize", "average"}
        What to do with a matrix that is not symmetric; ``"symmetrize"`` adds opposite entries, ``"average"`` takes
        their mean. Where mirrored
        entries differ by rounding only (10⁻⁸ of the larger one, 10⁻¹² of the largest entry; 10⁻⁵ and 10⁻⁶ in float32)
        they are averaged, which `report_` says.
    negative : {"refuse", "abs", "drop"}
        What to do with negative entries, such as negative correlations: ``"abs"`` takes absolute values, which the
        transformed matrix then has too, ``"drop"`` leaves the edges out. `report_` counts them.
    loops : {"drop", "refuse"}
        What to do with entries on the diagonal, which affinity matrices have by custom: they are no edges.
        ``"drop"`` leaves them out of the selection and of the transformed matrix, and says so in `report_`.
    random_state : int, RandomState, Generator or None
        For everything that is random. None is 0, so that the same call gives the same result.

    Attributes
    ----------
    edges_ : ndarray of int, shape (M, 2)
        Rows and columns of the edges, row < column, sorted.
    mask_ : ndarray of bool, shape (M,)
        Edges that are kept.
    weights_ : ndarray of float64, shape (M,)
        Weights of the kept edges, 0 for the others.
    scores_ : ndarray of float64, shape (M,)
        −∂J/∂w at the solution for method "pri", the method's own scores otherwise; higher = keep.
    objective_, entropy_, divergence_ : float
        J, S and D of what was kept, in nats.
    report_ : dict
        What was asked, what was kept and how good it is.
    n_features_in_ : int
        Number of nodes N.

    Notes
    -----
    Small β gathers the edges at hubs, which cuts across communities; before a clustering take a large one.

    Raises
    ------
    MissingExtraError
        On import, where scikit-learn is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> A = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    >>> kept = GraphPRI(keep=0.5, beta=2).fit_transform(A)
    >>> int(np.count_nonzero(kept)) // 2, kept.shape
    (39, (34, 34))
    """

    edges_: NDArray[np.int64]
    mask_: BoolArray
    weights_: FloatArray
    scores_: FloatArray
    objective_: float
    entropy_: float
    divergence_: float
    report_: dict[str, Any]
    n_features_in_: int
    _graph: Graph
    _reweighted: bool
    _factors: FloatArray

    def __init__(
        self,
        keep: float | int | None = None,
        beta: float | None = None,
        *,
        alpha: float = 0.0,
        connected: bool | None = None,
        cover: bool = False,
        at_least: bool = False,
        reweight: ReweightName | bool | None = None,
        entropy: str = "auto",
        solver: SolverName = "auto",
        mixture: Mixture = "equation",
        method: str = "pri",
        method_options: Mapping[str, Any] | None = None,
        weighted: bool = True,
        directed: Directed = "refuse",
        loops: Loops = "drop",
        negative: Negative = "refuse",
        random_state: Any = None,
        effort: EffortName | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.keep = keep
        self.beta = beta
        self.alpha = alpha
        self.connected = connected
        self.cover = cover
        self.at_least = at_least
        self.reweight: ReweightName | bool | None = reweight
        self.entropy = entropy
        self.solver: SolverName = solver
        self.mixture: Mixture = mixture
        self.method = method
        self.method_options = method_options
        self.weighted = weighted
        self.directed: Directed = directed
        self.loops: Loops = loops
        self.negative: Negative = negative
        self.random_state = random_state
        self.effort: EffortName | None = effort
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any = None) -> GraphPRI:
        """Select edges of a graph.

        Parameters
        ----------
        X : array or sparse matrix, shape (N, N)
            Symmetric adjacency matrix with entries ≥ 0, unless `negative` says what to do with others.
        y : ignored

        Returns
        -------
        GraphPRI
            The estimator itself.

        Raises
        ------
        GraphError
            For a matrix that isn't square or symmetric, negative entries, and no edges.
        OptionError
            For parameters out of range, and budgets that can't be met.
        MemoryLimitError
            For a matrix, or an entropy, that there is not the memory for.
        """
        switch("weighted", self.weighted)
        options: Any = {} if self.method_options is None else self.method_options
        if not isinstance(options, Mapping):
            raise OptionError(f"{argument('method_options', options)} must be a mapping of options to values")
        source, notes = self._load(self._checked(X, reset=True))
        result = sparsify(
            source.graph,
            keep=self.keep,
            beta=self.beta,
            alpha=self.alpha,
            connected=self.connected,
            cover=self.cover,
            at_least=self.at_least,
            reweight=self.reweight,
            entropy=self.entropy,
            solver=self.solver,
            mixture=self.mixture,
            method=self.method,
            seed=_seed(self.random_state),
            effort=self.effort,
            time_limit=self.time_limit,
            **options,
        )
        graph = source.graph
        self.edges_ = np.column_stack([graph.source, graph.target]).astype(np.int64)
        self.mask_, self.weights_, self.scores_ = result.mask, result.weights, result.scores
        self.objective_, self.entropy_, self.divergence_ = result.objective, result.entropy, result.divergence
        self.report_ = {**result.report(), "weights": "; ".join(notes)}
        self._graph, self._reweighted = graph, result.reweighted
        self._factors = np.where(self.mask_, self.weights_ / graph.weights, 0.0)
        return self

    def transform(self, X: Any) -> Any:
        """Set the entries of dropped edges to 0.

        Parameters
        ----------
        X : array or sparse matrix, shape (N, N)
            The fitted matrix, or another one on the same nodes whose edges are among the fitted ones: the
            same edges are kept, with the values that they have here. Where edges got new weights, values
            change by the same factors as in fitting.

        Returns
        -------
        array or sparse matrix, shape (N, N)
            Of the type of `X`.

        Raises
        ------
        GraphError
            For an edge that the fitted graph doesn't have: the fit says nothing about it.
        """
        check_is_fitted(self)
        source, _ = self._load(self._checked(X, reset=False))
        fitted, here = self._graph.edge_keys(), source.graph.edge_keys()
        at = np.minimum(np.searchsorted(fitted, here), fitted.size - 1)
        if (unknown := fitted[at] != here).any():
            u, v = source.graph.edge_labels(int(np.argmax(unknown)))
            raise GraphError(
                f"edge ({u}, {v}) of X is not in the graph that GraphPRI was fitted on, so that it was neither kept "
                "nor dropped: fit on a matrix that has it"
            )
        mask = self.mask_[at]
        if not self._reweighted:
            return source.rebuild(mask)
        w, before = source.graph.weights, self._graph.weights[at]
        return source.rebuild(mask, np.where(w == before, self.weights_[at], w * self._factors[at]))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Select edges and give the matrix without the others; see :meth:`fit` and :meth:`transform`."""
        return self.fit(X, y).transform(X)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which edges are kept.

        Parameters
        ----------
        indices : bool
            Give the numbers of the kept edges instead of a mask.

        Returns
        -------
        ndarray of bool, shape (M,), or of int, shape (K,)
            Over the rows of `edges_`, which is ``edges_[get_support()]`` for the kept ones.
        """
        indices = switch("indices", indices)
        check_is_fitted(self)
        return np.flatnonzero(self.mask_) if indices else self.mask_.copy()

    def _checked(self, X: Any, *, reset: bool) -> Any:
        check_policies(negative=self.negative)
        home = type(X).__module__.partition(".")[0]
        if home in _MATRIX_OF:
            raise GraphError(
                f"GraphPRI takes an adjacency matrix, not a graph of {home}: pass {_MATRIX_OF[home]}, or call "
                "graphpri.sparsify(X, keep), which takes graphs and returns them"
            )
        checked = cast("Any", validate_data)(
            self, X, reset=reset, accept_sparse=_FORMATS, dtype="numeric", ensure_min_samples=2 if reset else 1
        )
        if checked.shape[0] != checked.shape[1]:
            raise GraphError(f"X of shape {checked.shape} is not a square adjacency matrix, nodes by nodes")
        if self.weighted and self.negative == "refuse" and checked.size and checked.min() < 0:
            raise GraphError(
                "Negative values in data passed to GraphPRI: weights must be positive; pass "
                f"{setting('negative', 'abs')} to take absolute values, {setting('negative', 'drop')} to leave such "
                f"edges out, or {setting('weighted', False)}"
            )
        return checked

    def _load(self, X: Any) -> tuple[Source, tuple[str, ...]]:
        policies = Policies("weight" if self.weighted else None, self.directed, self.loops, negative=self.negative)
        source = load(_without_zeros(X), policies)
        return source, source.notes

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = self.negative == "refuse"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _without_zeros(X: Any) -> Any:
    """The matrix without stored zeros, which scikit-learn takes for absent entries."""
    if isinstance(X, np.ndarray) or X.data.all():
        return X
    out = X.copy()
    out.eliminate_zeros()
    return out


def _seed(random_state: Any) -> int | None:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if random_state is None or is_whole(random_state):
        return None if random_state is None else whole("random_state", random_state)
    raise OptionError(f"{argument('random_state', random_state)}: pass an integer, a Generator, a RandomState or None")
