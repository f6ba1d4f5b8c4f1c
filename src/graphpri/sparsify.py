"""The front: sparsify a graph of any accepted type, for one budget or along a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, cast

import numpy as np

from graphpri.baselines import METHODS, find, run
from graphpri.budget import check_budget, count_edges
from graphpri.errors import GraphError, OptionError
from graphpri.graph import BoolArray, Directed, FloatArray, Graph, Loops, Parallel
from graphpri.interop import Source, edge_selector, load
from graphpri.objective import Mixture, Objective, Terms, check_beta
from graphpri.solvers.budgeted import EffortName, least_size, solve
from graphpri.solvers.gumbel import Gumbel
from graphpri.solvers.path import solve_betas
from graphpri.solvers.reweight import reweighted
from graphpri.solvers.search import Constraints
from graphpri.solvers.solution import Callback, Progress, Solution
from graphpri.version import __version__

DEFAULT_BETA = 4.0
EXACT_NODES = 300
"""Largest component, in nodes, for which entropy="auto" takes the exact entropy."""
LOCAL_EDGES = 200_000
"""Number of edges up to which entropy="auto" takes the local entropy otherwise."""

SolverName = Literal["auto", "budgeted", "gumbel"]


@dataclass(frozen=True, eq=False)
class Sparsified:
    """A sparsified graph and how it came about.

    Arrays per edge are in the input's edge order: the order in which its distinct edges first appear.

    Attributes
    ----------
    graph : object
        The kept graph, of the type that came in, with all its nodes and attributes.
    mask : ndarray of bool, shape (M,)
        Kept edges.
    weights : ndarray of float64, shape (M,)
        Weights of the kept edges, 0 for the others.
    scores : ndarray of float64, shape (M,)
        −∂J/∂w at the solution for method "pri", the method's own scores otherwise; higher = keep.
    objective, entropy, divergence : float
        J_β, S and D of what was kept, in nats, by the entropy that :meth:`report` names.
    status : str
        What ended the search and, where it matters, what to do about it.
    trace : tuple of Progress
        Steps of the solver; empty for other methods.
    probabilities : ndarray of float64, shape (M,), or None
        Selection probabilities, for solver "gumbel".
    original, kept : Graph
        Both graphs in canonical form.
    notes : tuple of str
        Where the weights come from, and what was done to the input on request.
    """

    original: Graph
    kept: Graph
    mask: BoolArray
    weights: FloatArray
    scores: FloatArray
    terms: Terms
    status: str
    trace: tuple[Progress, ...]
    probabilities: FloatArray | None
    notes: tuple[str, ...]
    settings: dict[str, Any]
    _source: Source = field(repr=False)
    _original_entropy: float = field(repr=False)

    @cached_property
    def graph(self) -> Any:
        """The kept graph, of the type that came in."""
        canonical = np.empty(self.mask.size, bool)
        canonical[self._source.edges] = self.mask
        if self.settings["own_weights"]:
            weights = np.empty(self.mask.size)
            weights[self._source.edges] = self.weights
            return self._source.rebuild(canonical, weights)
        return self._source.rebuild(canonical)

    @property
    def objective(self) -> float:
        """J_β of what was kept, in nats."""
        return self.terms.objective

    @property
    def entropy(self) -> float:
        """S of what was kept, in nats."""
        return self.terms.entropy

    @property
    def divergence(self) -> float:
        """D of what was kept from the original, in nats."""
        return self.terms.divergence

    def report(self) -> dict[str, Any]:
        """What was asked, what was kept and how good it is, as plain values.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpri
        >>> result = graphpri.sparsify(nx.karate_club_graph(), keep=0.5, beta=2)
        >>> result.report()["edges_kept"], result.report()["entropy_by"]
        (39, 'exact')
        """
        covered = int(np.count_nonzero(self.kept.degrees()[self.original.degrees() > 0]))
        shown = {key: value for key, value in self.settings.items() if key != "own_weights"}
        return {
            "graphpri": __version__,
            **shown,
            "weights": "; ".join(self.notes),
            "nodes": self.original.n_nodes,
            "edges": self.original.n_edges,
            "edges_kept": self.kept.n_edges,
            "share_kept": self.kept.n_edges / self.original.n_edges,
            "components": self.original.components()[0],
            "components_kept": self.kept.components()[0],
            "nodes_cut_off": int(np.count_nonzero(self.original.degrees())) - covered,
            "objective": self.terms.objective,
            "entropy": self.terms.entropy,
            "entropy_original": self._original_entropy,
            "divergence": self.terms.divergence,
            "barrier": self.terms.barrier,
            "unit": "nats",
            "status": self.status,
        }

    def __repr__(self) -> str:
        return (
            f"Sparsified({self.kept.n_edges} of {self.original.n_edges} edges kept by {self.settings['method']}, "
            f"J={self.objective:.4f}, S={self.entropy:.4f}, D={self.divergence:.4f}; {self.status})"
        )


def sparsify(
    G: Any,
    *,
    keep: float | int | None = None,
    beta: float = DEFAULT_BETA,
    alpha: float = 0.0,
    weight: str | None = "weight",
    connected: bool | None = None,
    protect: Any = None,
    forbid: Any = None,
    reweight: bool = False,
    entropy: str = "auto",
    solver: SolverName = "auto",
    mixture: Mixture = "equation",
    method: str = "pri",
    seed: int | None = None,
    effort: EffortName | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    **options: Any,
) -> Sparsified:
    """Keep the informative edges of a graph and drop the rest.

    Minimises J_β = S(σ̃) + 2β D(σ̃‖ρ̃) − α Σ ln d over subsets of edges: a low von Neumann entropy S keeps
    the graph regular, a low quantum Jensen–Shannon divergence D keeps it like the original.

    Parameters
    ----------
    G : object
        A graph of networkx, igraph or NetworKit, a SciPy sparse or NumPy adjacency matrix, a pandas
        DataFrame, a PyG ``Data``, an :class:`EdgeTable` or a :class:`Graph`.
    keep : float in (0, 1], int, or None
        Share or number of edges to keep, exactly. None leaves the number to β, among subgraphs with as
        many components as the graph.
    beta : float
        Weight β ≥ 0 of the divergence: small favours hubs, large favours likeness.
    alpha : float
        Weight α ≥ 0 of the degree barrier, which pulls edges to every node.
    weight : str or None
        Edge attribute used as weight where edges have it; None ignores weights.
    connected : bool, optional
        Keep the number of components. True without a budget, False with one where absent.
    protect, forbid : object, optional
        Edges that must stay and edges that must go: pairs of labels, a mask, or edge numbers.
    reweight : bool
        Choose new weights for the kept edges that minimise D; their sum is that of the original's.
    entropy : {"auto", "exact", "degree", "local"}
        How entropies are computed; "auto" goes by size.
    solver : {"auto", "budgeted", "gumbel"}
        For method "pri"; "gumbel" is the paper's Algorithm 1, "auto" is "budgeted".
    mixture : {"equation", "listing"}
        How the divergence averages the two Laplacians; see :class:`graphpri.objective.Objective`.
    method : str
        "pri", or a baseline of :data:`graphpri.methods.METHODS`; β, α, entropy and mixture then only
        say how the result is measured.
    seed : int, optional
        For everything that is random; None is 0, so that the same call gives the same result.
    effort : {"fast", "normal", "best"}, optional
        How long the budgeted solver searches; "normal" where absent.
    time_limit : float, optional
        Seconds after which the solver returns its best so far.
    callback : callable, optional
        Gets a :class:`Progress` after each step of the solver; returning True stops it.
    directed : {"refuse", "symmetrize"}
        What to do with a directed graph.
    loops : {"refuse", "drop"}
        What to do with self-loops.
    parallel : {"refuse", "sum", "max", "first"}
        What to do with parallel edges.
    **options
        Those of the baseline, or of solver "gumbel" (:class:`graphpri.solvers.gumbel.Gumbel`).

    Returns
    -------
    Sparsified

    Raises
    ------
    GraphError
        For a graph that can't be sparsified: directed, with self-loops or parallel edges, with weights that
        are not positive and finite, or without edges.
    OptionError
        For values out of range, budgets that can't be met, and options that the method doesn't use.

    Notes
    -----
    Yu, Alesiani, Yin, Jenssen and Principe, "Principle of Relevant Information for Graph Sparsification",
    UAI 2022, Eq. (4).

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> result = graphpri.sparsify(nx.karate_club_graph(), keep=0.3, beta=4)
    >>> result.graph.number_of_edges(), result.mask.sum()
    (23, np.int64(23))
    """
    source = load(G, weight=weight, directed=directed, loops=loops, parallel=parallel)
    graph = source.graph
    connected, k = _budget(graph, keep, connected, method, solver)
    constraints = _constraints(source, k, connected, protect, forbid)
    objective = Objective(graph, check_beta(beta), alpha, entropy_for(graph, entropy), mixture)
    seed = _seed(seed)
    settings: dict[str, Any] = {"method": method, "keep": keep, "beta": objective.beta, "alpha": objective.alpha}
    settings |= {"entropy_by": objective.entropy, "mixture": mixture, "connected": connected, "seed": seed}
    if method == "pri":
        settings |= {"solver": "budgeted" if solver == "auto" else solver, "effort": effort or "normal"}
        solution = _solve(objective, k, constraints, settings, effort, seed, callback, time_limit, options)
        scores, weights = None, None
    else:
        _refuse_solver_options(method, solver=solver, effort=effort, time_limit=time_limit, callback=callback)
        assert k is not None
        mask, scored = run(graph, method, k, np.random.default_rng(seed), **_given(constraints), **options)
        solution = Solution(mask, np.nan, f"kept the {k} edges that {method} scores highest", ())
        scores, weights = scored.scores, scored.weights
        settings |= options
    return _result(source, objective, solution, settings, reweight, scores, weights)


def entropy_for(graph: Graph, entropy: str = "auto") -> str:
    """Name of the entropy that "auto" means for a graph: exact, local or degree, by size."""
    if entropy != "auto":
        return entropy
    largest = int(np.bincount(graph.components()[1]).max()) if graph.n_nodes else 0
    if largest <= EXACT_NODES:
        return "exact"
    return "local" if graph.n_edges <= LOCAL_EDGES else "degree"


def _budget(
    graph: Graph, keep: float | int | None, connected: bool | None, method: str, solver: str
) -> tuple[bool, int | None]:
    if method != "pri":
        find(method)
    if solver not in ("auto", "budgeted", "gumbel"):
        raise OptionError(f"solver={solver!r}: choose from 'auto', 'budgeted', 'gumbel'")
    if not graph.n_edges:
        raise GraphError("the graph has no edges: there is nothing to keep or to drop")
    if connected is None:
        connected = keep is None and solver != "gumbel"
    if keep is not None:
        return bool(connected), count_edges(keep, graph.n_edges)
    if method != "pri":
        raise OptionError(f"method {method!r} needs a budget: pass keep= (--keep), a share or a number of edges")
    return bool(connected), None


def _seed(seed: int | None) -> int:
    if seed is None:
        return 0
    if isinstance(seed, bool) or not isinstance(cast("Any", seed), Integral) or seed < 0:
        raise OptionError(f"seed={seed!r} must be an integer, 0 or more")
    return int(seed)


def _constraints(source: Source, k: int | None, connected: bool, protect: Any, forbid: Any) -> Constraints:
    masks = [
        None if edges is None else edge_selector(source, edges, name)
        for name, edges in (("protect", protect), ("forbid", forbid))
    ]
    chosen = Constraints(connected, *(None if mask is None or not mask.any() else mask for mask in masks))
    allowed = source.graph.n_edges - (0 if chosen.forbid is None else int(chosen.forbid.sum()))
    if allowed == 0:
        raise OptionError("forbid names every edge of the graph: nothing is left to keep")
    check_budget(source.graph, allowed if k is None else k, **_given(chosen))
    return chosen


def _given(constraints: Constraints) -> dict[str, Any]:
    return {"connected": constraints.connected, "protect": constraints.protect, "forbid": constraints.forbid}


def _refuse_solver_options(method: str, **given: Any) -> None:
    unused = [name for name, value in given.items() if value not in (None, "auto")]
    if unused:
        raise OptionError(f"method {method!r} does not use {', '.join(unused)}: they are for method 'pri'")


def _solve(
    objective: Objective,
    k: int | None,
    constraints: Constraints,
    settings: dict[str, Any],
    effort: str | None,
    seed: int,
    callback: Callback | None,
    time_limit: float | None,
    options: dict[str, Any],
) -> Solution:
    if time_limit is not None and not (isinstance(cast("Any", time_limit), Real) and time_limit > 0):
        raise OptionError(f"time_limit={time_limit!r} must be a number of seconds above 0")
    if settings["solver"] == "gumbel":
        if effort is not None:
            raise OptionError("solver 'gumbel' does not use effort: its options are steps, samples and patience")
        del settings["effort"]
        known = Gumbel.__dataclass_fields__
        if unused := sorted(options.keys() - known.keys()):
            raise OptionError(f"solver 'gumbel' does not use {', '.join(unused)}; it uses {', '.join(known)}")
        settings |= options
        return Gumbel(**options).solve(objective, k, constraints, seed=seed, callback=callback, time_limit=time_limit)
    if options:
        names = ", ".join(sorted(options))
        raise OptionError(f"method 'pri' with solver 'budgeted' does not use {names}")
    solution = solve(
        objective,
        k,
        constraints,
        effort=effort or "normal",
        seed=seed,
        callback=callback,
        time_limit=time_limit,
    )
    return replace(solution, status=_status(solution, objective, k, constraints))


def _status(solution: Solution, objective: Objective, k: int | None, constraints: Constraints) -> str:
    """Say so where the minimum over all sizes is trivial."""
    kept = int(solution.mask.sum())
    if k is not None or not solution.status.startswith(("converged", "good")):
        return solution.status
    if kept == objective.graph.n_edges:
        return f"all edges kept: at beta={objective.beta:g} none is worth dropping; lower beta or pass keep="
    if not constraints.connected and kept == least_size(objective, constraints):
        return (
            f"trivial: without connectivity and a budget, J is smallest for {kept} edge{'s' * (kept > 1)} at "
            f"beta={objective.beta:g}; pass keep=, connected=True or a larger beta"
        )
    return solution.status


def _result(
    source: Source,
    objective: Objective,
    solution: Solution,
    settings: dict[str, Any],
    reweight: bool,
    scores: FloatArray | None,
    weights: FloatArray | None,
) -> Sparsified:
    graph, mask = source.graph, solution.mask
    selection = mask.astype(np.float64)
    if scores is None:
        terms, gradient = objective.terms_and_gradient(selection)
        scores = -gradient
    else:
        terms = objective.terms(selection)
    if reweight and weights is not None:
        raise OptionError(f"method {settings['method']!r} sets weights of its own: leave reweight out")
    if reweight:
        weights = reweighted(objective, mask)
    settings["reweight"] = reweight
    settings["own_weights"] = weights is not None
    if weights is not None:
        weights = np.where(mask, weights, 0.0)
        weighed = objective.terms(weights / graph.weights)
        value = weighed.entropy + 2 * objective.beta * weighed.divergence + terms.barrier
        terms = weighed._replace(objective=value, barrier=terms.barrier)
    else:
        weights = np.where(mask, graph.weights, 0.0)
    kept = graph.select(mask, weights) if settings["own_weights"] else graph.select(mask)
    order = source.edges
    chances = solution.probabilities
    return Sparsified(
        original=graph,
        kept=kept,
        mask=mask[order],
        weights=weights[order],
        scores=scores[order],
        terms=terms,
        status=solution.status,
        trace=solution.trace,
        probabilities=None if chances is None else chances[order],
        notes=source.notes,
        settings=settings,
        _source=source,
        _original_entropy=objective.original_entropy,
    )


def path(
    G: Any,
    *,
    beta: float | Sequence[float] = DEFAULT_BETA,
    keep: float | int | Sequence[float | int] | None = None,
    alpha: float = 0.0,
    weight: str | None = "weight",
    connected: bool | None = None,
    protect: Any = None,
    forbid: Any = None,
    entropy: str = "auto",
    mixture: Mixture = "equation",
    seed: int | None = None,
    effort: EffortName = "fast",
    callback: Callback | None = None,
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
) -> list[Sparsified]:
    """Sparsify along a sequence of β or of budgets, each point starting from its neighbour's solution.

    Parameters
    ----------
    G : object
        As in :func:`sparsify`.
    beta : float or sequence of float
        One β, or the β of the path. Along β all points share one pool of subsets, so that S never falls
        and D never rises (with alpha=0).
    keep : float, int, None, or sequence
        One budget (None leaves the size to β), or the budgets of the path.
    effort : {"fast", "normal", "best"}
        For paths over budgets: how long to search at each.
    alpha, weight, connected, protect, forbid, entropy, mixture, seed, callback, directed, loops, parallel
        As in :func:`sparsify`.

    Returns
    -------
    list of Sparsified
        In the order of the sequence.

    Raises
    ------
    OptionError
        Unless exactly one of `beta` and `keep` is a sequence; and as :func:`sparsify`.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> [r.kept.n_edges for r in graphpri.path(nx.path_graph(9), keep=[0.25, 0.5])]
    [2, 4]
    """
    along = [name for name, value in (("beta", beta), ("keep", keep)) if _is_sequence(value)]
    if len(along) != 1:
        raise OptionError("path needs a sequence in exactly one of beta and keep")
    source = load(G, weight=weight, directed=directed, loops=loops, parallel=parallel)
    name = entropy_for(source.graph, entropy)
    seed = _seed(seed)
    settings: dict[str, Any] = {"method": "pri", "alpha": alpha, "entropy_by": name, "mixture": mixture, "seed": seed}
    if along == ["beta"]:
        betas = [check_beta(b) for b in cast("Sequence[float]", beta)]
        single = cast("float | int | None", keep)
        is_connected, k = _budget(source.graph, single, connected, "pri", "auto")
        constraints = _constraints(source, k, is_connected, protect, forbid)
        objective = Objective(source.graph, 0.0, alpha, name, mixture)
        solutions = solve_betas(objective, betas, k, constraints, seed=seed, callback=callback)
        points = [
            (replace(objective, beta=b), s, {"keep": single, "beta": b}) for b, s in zip(betas, solutions, strict=True)
        ]
    else:
        is_connected, budgets = bool(connected), cast("Sequence[float | int]", keep)
        objective = Objective(source.graph, check_beta(cast("float", beta)), alpha, name, mixture)
        found = _along_budgets(source, objective, budgets, is_connected, protect, forbid, effort, seed, callback)
        points = [(objective, s, {"keep": b, "beta": objective.beta}) for b, s in zip(budgets, found, strict=True)]
    settings |= {"connected": is_connected, "solver": "budgeted"}
    return [_result(source, at, solution, settings | own, False, None, None) for at, solution, own in points]


def _along_budgets(
    source: Source,
    objective: Objective,
    budgets: Sequence[float | int],
    connected: bool,
    protect: Any,
    forbid: Any,
    effort: str,
    seed: int,
    callback: Callback | None,
) -> list[Solution]:
    counts = [cast("int", _budget(source.graph, keep, connected, "pri", "auto")[1]) for keep in budgets]
    constraints = [_constraints(source, k, connected, protect, forbid) for k in counts]
    solutions: dict[int, Solution] = {}
    start: BoolArray | None = None
    for k, constraint in sorted(zip(counts, constraints, strict=True), key=lambda pair: -pair[0]):
        if k not in solutions:
            solutions[k] = solve(objective, k, constraint, effort=effort, seed=seed, callback=callback, start=start)
            start = solutions[k].mask
    return [solutions[k] for k in counts]


def _is_sequence(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__len__")


def methods() -> dict[str, str]:
    """Names of all methods and what they do in a line."""
    own = {"pri": "Graph-PRI: minimise the von Neumann entropy and the divergence from the original"}
    return own | {name: METHODS[name].summary for name in METHODS}
