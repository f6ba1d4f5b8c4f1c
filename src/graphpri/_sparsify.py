"""Sparsify a graph of any accepted type, for one budget or along a path."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, cast

import numpy as np

from graphpri._arguments import checked, is_several, seconds, unknown, whole
from graphpri._entropy.by_name import entropy_for
from graphpri._layout import sketch
from graphpri._objective import Mixture, Objective, Terms, beta_for
from graphpri._output import table as html_table
from graphpri._runtime import Deadline, deadline, in_threads, within
from graphpri._selection import check_budget, count_edges, forest_size, least_cover
from graphpri._version import __version__
from graphpri.baselines import METHODS, find, run
from graphpri.errors import (
    ArgumentError,
    GraphError,
    Interrupted,
    OptionError,
    argument,
    in_stages,
    named,
    setting,
    worded,
)
from graphpri.graph import BoolArray, Directed, FloatArray, Graph, Loops, Negative, Parallel, Zero, taken
from graphpri.interop import Policies, Source, edge_selector, load
from graphpri.interop.source import refuse_unweighted
from graphpri.solvers.budgeted import EffortName, least_size, solve
from graphpri.solvers.gumbel import Gumbel
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.path import solve_betas
from graphpri.solvers.reweight import Reweighting, ReweightName, asked, weigh
from graphpri.solvers.solution import Callback, Ending, Outcome, Progress, Solution, Status

SolverName = Literal["auto", "budgeted", "gumbel"]


class ResultFacts(TypedDict):
    """What :meth:`Sparsified.report` says: what was asked, what was kept and how good it is; options of the method too.

    Entropies, divergences, objectives and their errors are in nats.
    """

    graphpri: str
    method: str
    keep: float | int | None
    beta: float
    alpha: float
    entropy_by: str
    mixture: str
    connected: bool
    cover: bool
    at_least: bool
    seed: int
    solver: NotRequired[str]
    effort: NotRequired[str]
    reweight: str | None
    weight_factor: NotRequired[float]
    divergence_before: NotRequired[float]
    weights: str
    nodes: int
    edges: int
    edges_kept: int
    share_kept: float
    components: int
    components_kept: int
    nodes_cut_off: int
    cut_off_by_component: list[dict[str, int]]
    objective: float
    entropy: float
    entropy_original: float
    divergence: float
    barrier: float
    objective_error: NotRequired[float]
    entropy_error: NotRequired[float]
    divergence_error: NotRequired[float]
    entropy_original_error: NotRequired[float]
    unit: str
    status: str


@dataclass(frozen=True, eq=False)
class Sparsified:
    """A sparsified graph and how it came about.

    Arrays per edge are in the input's edge order: the order in which its distinct edges first appear.
    Results can be copied and pickled.

    Attributes
    ----------
    graph : object
        The kept graph, of the type that came in, with all its nodes and attributes. Results of :func:`path`
        build it from the input when it is first asked for: ask before you change the input.
    mask : ndarray of bool, shape (M,)
        Kept edges.
    weights : ndarray of float64, shape (M,)
        Weights of the kept edges, 0 for the others.
    scores : ndarray of float64, shape (M,)
        −∂J/∂w at the solution for method "pri", computed when first asked for; the method's own scores otherwise;
        higher = keep.
    objective, entropy, divergence : float
        J_β, S and D of what was kept, in nats, by the entropy that :meth:`report` names.
    errors : Terms or None
        Standard errors of J, S and D in nats where the entropy is the stochastic one.
    status : Status
        What ended the search and, where it matters, what to do about it: text with an ``outcome``.
    interrupted : bool
        Whether the user interrupted the work, so that this is the best so far, from :class:`graphpri.Interrupted`.
    trace : tuple of Progress
        Steps of the solver; empty for other methods.
    probabilities : ndarray of float64, shape (M,), or None
        Selection probabilities, for solver "gumbel".
    p_values : ndarray of float64, shape (M,), or None
        Of methods that test edges, before any correction.
    original, kept : Graph
        Both graphs in canonical form.
    reweighted : bool
        Whether kept edges have new weights: by ``reweight``, or from a method that sets some.
    before : Graph or None
        The kept graph with its weights before ``reweight``; None where that was not asked for.
    settings : dict of str to object
        What was asked, as in the report.
    notes : tuple of str
        Where the weights come from, and what was done to the input on request.

    Examples
    --------
    >>> import networkx as nx
    >>> result = sparsify(nx.karate_club_graph(), keep=0.3, weight=None)
    >>> type(result.graph).__name__, result.graph.number_of_edges(), int(result.mask.sum())
    ('Graph', 23, 23)
    >>> result.status
    'converged: no swap improves J'
    >>> facts = result.report()
    >>> facts["edges_kept"], facts["method"], facts["beta"]
    (23, 'pri', 50.0)
    """

    original: Graph
    kept: Graph
    mask: BoolArray
    weights: FloatArray
    terms: Terms
    errors: Terms | None
    status: Status
    trace: tuple[Progress, ...]
    probabilities: FloatArray | None
    p_values: FloatArray | None
    reweighted: bool
    before: Graph | None
    notes: tuple[str, ...]
    settings: dict[str, Any]
    _divergence_before: float | None
    _original_entropy: float
    _original_error: float
    _rebuild: Callable[[], Any] = field(repr=False)
    _score: Callable[[], FloatArray] = field(repr=False)

    @cached_property
    def graph(self) -> Any:
        """The kept graph, of the type that came in."""
        graph = self._rebuild()
        del self.__dict__["_rebuild"]  # lets go of the input
        return graph

    @cached_property
    def scores(self) -> FloatArray:
        """How much each edge is worth keeping, shape (M,)."""
        scores = self._score()
        del self.__dict__["_score"]  # lets go of the objective
        return scores

    def __getstate__(self) -> dict[str, Any]:
        _ = self.graph, self.scores  # what makes them refers to the input, and can't be pickled
        return dict(self.__dict__)

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

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted the work."""
        return self.status.interrupted

    def report(self) -> ResultFacts:
        """What was asked, what was kept and how good it is, as plain values.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpri
        >>> result = graphpri.sparsify(nx.karate_club_graph(), keep=0.5, beta=2)
        >>> result.report()["edges_kept"], result.report()["entropy_by"]
        (39, 'exact')
        """
        nodes, by_component = self._lost
        facts = {
            "graphpri": __version__,
            **self.settings,
            **self._changes(),
            "weights": "; ".join(self.notes),
            "nodes": self.original.n_nodes,
            "edges": self.original.n_edges,
            "edges_kept": self.kept.n_edges,
            "share_kept": self.kept.n_edges / self.original.n_edges,
            "components": self.original.components()[0],
            "components_kept": self.kept.components()[0],
            "nodes_cut_off": nodes,
            "cut_off_by_component": by_component,
            "objective": self.terms.objective,
            "entropy": self.terms.entropy,
            "entropy_original": self._original_entropy,
            "divergence": self.terms.divergence,
            "barrier": self.terms.barrier,
            **self._error_values(),
            "unit": "nats",
            "status": self.status,
        }
        return cast("ResultFacts", facts)

    def _changes(self) -> dict[str, float]:
        """What new weights changed: the sum of weights, and D unless it is an estimate."""
        if self.before is None:
            return {}
        unit = self.before.weights.max()
        factor = float((self.kept.weights / unit).sum()) / float((self.before.weights / unit).sum())
        before = {} if self._divergence_before is None else {"divergence_before": self._divergence_before}
        return {"weight_factor": factor} | before

    def _error_values(self) -> dict[str, float]:
        if self.errors is None:
            return {}
        found = {f"{name}_error": getattr(self.errors, name) for name in ("objective", "entropy", "divergence")}
        return found | {"entropy_original_error": self._original_error}

    @cached_property
    def _lost(self) -> tuple[int, list[dict[str, int]]]:
        return _lost(self.original, self.kept)

    @cached_property
    def cut_off(self) -> CutOff:
        """Nodes that lost all of their edges, and what budgets leave none such.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpri
        >>> print(graphpri.sparsify(nx.karate_club_graph(), keep=0.2).cut_off)  # doctest: +ELLIPSIS
        15 nodes lost all of their edges: connected=True needs at least 33; cover=True leaves an edge to each node, ...
        """
        graph = self.original
        nodes, rows = self._lost
        cover = least_cover(graph) if nodes and graph.n_edges <= _COVERED_EDGES else None
        needs = None if cover is None else int(np.count_nonzero(cover.mask))
        bound = None if cover is None else cover.bound
        is_ours = self.settings["method"] == "pri"
        least = int(np.count_nonzero(graph.degrees())) - 2 * self.kept.n_edges  # each edge has two ends
        is_open = nodes > least and self.settings["alpha"] < CUT_OFF_ALPHA
        alpha = CUT_OFF_ALPHA if is_ours and is_open else None
        budget, test = self.settings["keep"] is not None, self.settings.get("significance")
        return CutOff(nodes, rows, forest_size(graph), needs, bound, self.kept.n_edges, alpha, budget, test)

    def _repr_html_(self) -> str:
        """What a notebook shows: a small picture and what was kept."""
        facts = self.report()
        rows: list[tuple[str, str | float]] = [
            ("method", facts["method"]),
            ("edges kept", f"{facts['edges_kept']} of {facts['edges']} ({facts['share_kept']:.1%})"),
            ("beta", facts["beta"]),
            ("entropy S", f"{facts['entropy']:.4f} nats, original {facts['entropy_original']:.4f}"),
            ("divergence D", f"{facts['divergence']:.4f} nats"),
            ("objective J", facts["objective"]),
            ("components", f"{facts['components_kept']}, original {facts['components']}"),
            ("cut off", str(self.cut_off)),
            ("status", str(self.status)),
        ]
        picture = sketch(self.original, self._canonical_mask)
        return f'<div style="display: flex; gap: 1em">{picture}{html_table(["", ""], rows)}</div>'

    @property
    def _canonical_mask(self) -> BoolArray:
        """Kept edges in the order of `original`."""
        n = self.original.n_nodes
        keys = self.original.source.astype(np.int64) * n + self.original.target
        return np.isin(keys, self.kept.source.astype(np.int64) * n + self.kept.target)

    def __repr__(self) -> str:
        return (
            f"Sparsified({self.kept.n_edges} of {self.original.n_edges} edges kept by {self.settings['method']}, "
            f"J={self.objective:.4f}, S={self.entropy:.4f}, D={self.divergence:.4f}; {self.status})"
        )


_MOST_COMPONENTS = 20
CUT_OFF_ALPHA = 0.02
"""Of the barrier: with 20 and 30 % of the edges of karate, Les Misérables, Madrid and political books, at the default
beta, it cut off none to .87 of the nodes that no barrier did."""
_COVERED_EDGES = 1_000_000
"""Edges up to which a report looks for a small edge cover, half a second for as many."""


def _lost(graph: Graph, kept: Graph) -> tuple[int, list[dict[str, int]]]:
    """How many nodes lost all of their edges, and how many in each component, see :class:`CutOff`."""
    lost = (graph.degrees() > 0) & (kept.degrees() == 0)
    count, member = graph.components()
    sizes, cut = np.bincount(member, minlength=count), np.bincount(member[lost], minlength=count)
    ranked = np.lexsort((np.arange(count), -sizes))
    chosen = [(i, c) for i, c in enumerate(ranked, start=1) if cut[c]][:_MOST_COMPONENTS]
    rows = [{"component": i, "nodes": int(sizes[c]), "cut_off": int(cut[c])} for i, c in chosen]
    return int(np.count_nonzero(lost)), rows


@dataclass(frozen=True)
class CutOff:
    """Nodes that lost all of their edges, and what budgets leave none such.

    Attributes
    ----------
    nodes : int
    by_component : list of dict of str to int
        Of each component of the original that lost some, at most 20, the largest first: ``component`` (its number in
        that order, from 1), ``nodes``, and ``cut_off`` of them.
    connected_needs : int
        Fewest edges that keep the original's components together.
    cover_needs, cover_bound : int or None
        Edges of the smallest cover known, that leaves an edge to each node that had one, and of the smallest that
        there may be: the same where the graph is small. None where no node was cut off, and above a million edges.
    edges_kept : int
    alpha : float or None
        Weight of the barrier that is worth a try; None for another method, where it is as large already, and where
        so few edges can't reach more nodes.
    has_budget : bool
        Whether a number of edges was asked for.
    significance : float or None
        The p-value that decided in place of a budget.
    """

    nodes: int
    by_component: list[dict[str, int]]
    connected_needs: int
    cover_needs: int | None
    cover_bound: int | None
    edges_kept: int
    alpha: float | None = None
    has_budget: bool = True
    significance: float | None = None

    @property
    def message(self) -> str:
        """What was lost and what to do about it, with arguments marked; see :func:`graphpri.errors.worded`."""
        n = self.nodes
        if not n:
            return "no node lost all of its edges"
        head = f"{n} node{'s' * (n > 1)} lost all of {'their' if n > 1 else 'its'} edges"
        if len(self.by_component) > 1:
            parts = ", ".join(f"{row['cut_off']} of {row['nodes']}" for row in self.by_component[:3])
            head += f" ({parts}{', …' * (len(self.by_component) > 3)} in the components that lost some)"
        advice = self._about_budget() if self.has_budget else self._beside_budget()
        if self.alpha is not None:
            advice.append(f"{setting('alpha', self.alpha)} may cut fewer off")
        return f"{head}: {'; '.join(advice)}"

    def _about_budget(self) -> list[str]:
        needs = "" if self.cover_needs is None else f", with {self.cover_needs} edges at least"
        if self.cover_needs != self.cover_bound:
            needs = f", with {self.cover_needs} edges at least, or a few fewer ({self.cover_bound} is a lower bound)"
        advice = [
            f"{setting('connected', True)} needs at least {self.connected_needs}",
            f"{setting('cover', True)} leaves an edge to each node{needs}",
        ]
        if self.edges_kept < max(self.connected_needs, self.cover_needs or 0):
            advice.append(f"{setting('at_least', True)} raises the budget to what either needs")
        return advice

    def _beside_budget(self) -> list[str]:
        """What to do where no budget limits the edges: those that are needed stay besides."""
        tested = self.significance is not None
        besides = "adds the best edge of each" + " although it is not significant" * tested
        advice = [f"{setting('cover', True)} {besides}", f"{setting('connected', True)} those that join the components"]
        if tested:
            advice.append(f"a {named('significance')} above {self.significance:g} keeps more edges")
        return advice

    def __str__(self) -> str:
        return worded(self.message)


@checked
def sparsify(
    G: Any,
    keep: float | int | None = None,
    *,
    beta: float | None = None,
    alpha: float = 0.0,
    weight: str | None = "weight",
    connected: bool | None = None,
    cover: bool = False,
    at_least: bool = False,
    protect: Any = None,
    forbid: Any = None,
    reweight: ReweightName | bool | None = None,
    entropy: str = "auto",
    solver: SolverName = "auto",
    mixture: Mixture = "equation",
    method: str = "pri",
    seed: int | None = None,
    effort: EffortName | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    callback: Callback | None = None,
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
    edge_attrs: Sequence[str] = (),
    **options: Any,
) -> Sparsified:
    """Keep the informative edges of a graph and drop the rest.

    Minimises J_β = S(σ̃) + 2β D(σ̃‖ρ̃) − α Σ ln d over subsets of edges: a low von Neumann entropy S
    gathers them at hubs, a low quantum Jensen–Shannon divergence D keeps the graph like the original.

    Parameters
    ----------
    G : object
        A graph of networkx, igraph or NetworKit, a SciPy sparse or NumPy adjacency matrix, a pandas
        DataFrame, a PyG ``Data``, an :class:`EdgeTable` or a :class:`Graph`.
    keep : float in (0, 1], int, or None
        Share or number of edges to keep, exactly. None leaves the number to β, among subgraphs with as
        many components as the graph; of methods "metric" and "ultrametric" it gives the backbone of that name.
    beta : float, optional
        Weight β ≥ 0 of the divergence: small favours hubs, large favours likeness. Where absent 50 with a budget, and 4
        without one, where β also decides how many edges stay.
    alpha : float
        Weight α ≥ 0 of the degree barrier, which pulls edges to every node.
    weight : str or None
        Edge attribute used as weight where edges have it; None ignores weights.
    connected : bool, optional
        Keep the number of components. True without a budget, False with one where absent.
    cover : bool
        Leave an edge to every node that has one. `connected` does as well.
    at_least : bool
        Keep more edges than `keep` says where `connected`, `cover` and `protect` need more, instead of an error.
    protect, forbid : object, optional
        Edges that must stay and edges that must go: pairs of labels, a mask, or edge numbers.
    reweight : {"rescale", "divergence"}, bool or None
        New weights of the kept edges, after any method, whose sum is the original's: all times one factor, or those of
        least D (True is the same). None leaves weights as they are.
    entropy : {"auto", "exact", "local", "degree", "stochastic"}
        How entropies are computed; "auto" goes by size: exact up to 500 nodes in the largest component, local up
        to 2·10⁷ edges, degree beyond. "stochastic" searches by the local entropy, and estimates the exact J, S
        and D of the result, with errors.
    solver : {"auto", "budgeted", "gumbel"}
        For method "pri"; "gumbel" is the paper's Algorithm 1, "auto" is "budgeted".
    mixture : {"equation", "listing"}
        How the divergence averages the two Laplacians; see :class:`graphpri.Objective`.
    method : str
        "pri", or a baseline of :data:`graphpri.baselines.METHODS`; β, α, entropy and mixture then only
        say how the result is measured.
    seed : int, optional
        For everything that is random; None is 0, so that the same call gives the same result.
    effort : {"fast", "normal", "best"}, optional
        How long the budgeted solver searches; "normal" where absent.
    time_limit : float, optional
        Seconds for the whole call, new weights and estimates included, after which it returns the best so far. What
        can't be divided is done whole: reading the graph, one evaluation of J, one step of a solver.
    threads : int, optional
        Most threads to use, on large graphs alone; all cores that the process may use where absent (or as many as the
        environment variable GRAPHPRI_THREADS says). The result is the same for any number.
    callback : callable, optional
        Gets a :class:`Progress` after each step of the solver; returning True stops it.
    directed : {"refuse", "symmetrize", "average"}
        What to do with a directed graph.
    loops : {"refuse", "drop"}
        What to do with self-loops.
    parallel : {"refuse", "sum", "max", "first"}
        What to do with parallel edges.
    negative : {"refuse", "abs", "drop"}
        What to do with edges of negative weight: take absolute values, which the kept graph then has, or drop them.
    zero : {"refuse", "drop"}
        What to do with edges of weight 0.
    source, target : hashable, optional
        The columns of a data frame that hold the two ends of an edge; see :func:`graphpri.as_graph`.
    edge_attrs : sequence of str
        Attributes of a PyG ``Data`` that belong to its edges although their names don't say so, as those with the word
        "edge" do; the others are not cut, and a note names those that are as long as ``edge_index``.
    **options
        Those of the baseline, among them ``significance`` (a p-value, in place of `keep`) and ``correction`` ("holm",
        "bonferroni" or "fdr") of "disparity", "noise-corrected" and "marginal-likelihood"; or of solver "gumbel"
        (:class:`graphpri.solvers.gumbel.Gumbel`).

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
    Interrupted
        On Ctrl-C, a KeyboardInterrupt: its ``result`` is the :class:`Sparsified` of the best so far.

    Notes
    -----
    Yu, Alesiani, Yin, Jenssen and Principe, "Principle of Relevant Information for Graph Sparsification",
    UAI 2022, Eq. (4).

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> result = graphpri.sparsify(nx.karate_club_graph(), keep=0.3, beta=4)
    >>> result.graph.number_of_edges(), int(result.mask.sum())
    (23, 23)
    """
    with _at_most(threads):
        limit = Deadline(seconds("time_limit", time_limit))
        run_by = _MethodCall(method, solver, effort, whole("seed", seed or 0), time_limit, callback, options)
        run_by.check()
        loaded = load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target, edge_attrs))
        graph = loaded.graph
        check_weights(method, loaded)
        is_connected, k = _budget(graph, keep, connected, method, solver)
        _check_raising(at_least, keep, is_connected or cover, protect, options.get("significance"))
        constraints = _constraints(loaded, is_connected, cover, protect, forbid)
        k = _raised(graph, k, constraints, at_least)
        _check_fits(graph, k, constraints)
        new_weights = asked(reweight)
        objective = Objective(graph, beta_for(_plain(beta), keep), _plain(alpha), entropy_for(graph, entropy), mixture)
        if solver == "gumbel" and objective.is_stochastic:
            raise OptionError("solver 'gumbel' needs an entropy without noise: choose 'exact', 'local' or 'degree'")
        settings = _settings(objective, keep, constraints, run_by.seed, new_weights, at_least) | run_by.settings()

        def search() -> Solution:
            if method != "pri":
                return run_by.score(graph, k, constraints)
            with within(_before(limit, (new_weights is not None) + objective.is_stochastic)):
                return run_by.solve(objective, k, constraints)

        def weigh(solution: Solution) -> Solution:
            # What was interrupted is finished as quickly as can be.
            with within(Deadline(0.0) if solution.status.interrupted else _before(limit, objective.is_stochastic)):
                return _with_new_weights(solution, objective, new_weights)

        def measure(solution: Solution) -> Sparsified:
            with within(limit):
                result = _measured(loaded, objective, solution, settings)
            _ = result.graph  # built now, so that the input may change from here on
            return result

        return in_stages(search, lambda solution: in_stages(lambda: weigh(solution), measure))


def _at_most(threads: int | None) -> AbstractContextManager[None]:
    """Context in which compiled loops run in at most so many threads."""
    return in_threads(None if threads is None else whole("threads", threads, 1, 4096))


def _before(limit: Deadline, following: int) -> Deadline:
    """The deadline of a stage that others follow, new weights or estimates: half of the time is theirs, for each."""
    return limit.part(0.5**following)


class _MethodCall(NamedTuple):
    """Method and solver with their options."""

    method: str
    solver: str
    effort: str | None
    seed: int
    time_limit: float | None
    callback: Callback | None
    options: dict[str, Any]

    def check(self) -> None:
        """Refuse unknown names, values out of range, and options that the method or the solver does not use."""
        used = frozenset[str]() if self.method == "pri" else find(self.method, besides=("pri",)).options
        if self.method != "pri":
            given = {
                "solver": self.solver,
                "effort": self.effort,
                "time_limit": self.time_limit,
                "callback": self.callback,
            }
            if unused := [name for name, value in given.items() if value not in (None, "auto")]:
                raise OptionError(
                    f"method {self.method!r} does not use {', '.join(map(named, unused))}: only method 'pri' does"
                )
            _refuse_unused(self.options, used, f"method {self.method!r}")
        elif self.solver == "gumbel":
            if self.effort is not None:
                raise OptionError("solver 'gumbel' does not use effort: its options are steps, samples and patience")
            _refuse_unused(self.options, Gumbel.__dataclass_fields__.keys(), "solver 'gumbel'")
        else:
            _refuse_unused(self.options, used, "method 'pri' with solver 'budgeted'")

    def settings(self) -> dict[str, Any]:
        """What to report of it."""
        options = {name: _plain(value) for name, value in self.options.items()}
        if self.method != "pri":
            return {"method": self.method} | options
        solver = "budgeted" if self.solver == "auto" else self.solver
        effort = {"effort": self.effort or "normal"} if solver == "budgeted" else {}
        return {"method": "pri", "solver": solver} | effort | options

    def solve(self, objective: Objective, k: int | None, constraints: Constraints) -> Solution:
        """Minimise J."""
        if self.solver == "gumbel":
            solver: Any = Gumbel(**self.options).solve
        else:
            solver = partial(solve, effort=self.effort or "normal")
        solution = solver(objective, k, constraints, seed=self.seed, callback=self.callback)
        return _explained(solution, objective, k, constraints)

    def score(self, graph: Graph, k: int | None, constraints: Constraints) -> Solution:
        """Keep the edges that a method scores highest, or that it keeps without a budget."""
        rng = np.random.default_rng(self.seed)
        mask, scored = run(graph, self.method, k, rng, **vars(constraints), **self.options)
        rules = constraints.rules
        subject = f", subject to {', '.join(rules)}" if rules else ""
        test, tests = self.options.get("significance"), find(self.method).p_values
        if k is not None:
            edges = f"{k} edges" if k > 1 else "edge"
            status = Ending.SCORED.status(edges=edges, method=self.method, rules=subject)
        elif test is not None:
            by = self.options.get("correction")
            level = f"{test:g}" + (f", corrected by {by}" if by else "")
            status = Ending.TESTED.status(method=self.method, level=level, rules=subject)
        else:
            status = Ending.OWN_BACKBONE.status(method=self.method, rules=subject)
        p_values = None if tests is None else np.minimum(tests(scored.scores), 1.0)
        return Solution(mask, np.nan, status, scores=scored.scores, weights=scored.weights, p_values=p_values)


def check_weights(name: str, source: Source) -> None:
    """Refuse a method that goes by weights for a graph that has none but columns that could be some.

    Raises
    ------
    OptionError
        Names the columns, and how to go without weights.
    """
    if name != "pri" and find(name).needs_weights:
        refuse_unweighted(source.candidates, f"method {name!r}")


def _refuse_unused(options: Iterable[str], used: Iterable[str], who: str) -> None:
    """Refuse options that `who` does not use, and say whose they are; a misspelt argument lands here too."""
    used = sorted(used)
    unused = [name for name in options if name not in used]
    if not unused:
        return
    owners = [f"method {name!r}" for name, method in METHODS.items() if unused[0] in method.options]
    owners += ["solver 'gumbel'"] if unused[0] in Gumbel.__dataclass_fields__ else []
    named_so = [*used, *list(inspect.signature(sparsify).parameters)[:-1]]
    if not owners and "; " in (meant := unknown(unused, named_so)):
        raise ArgumentError(f"no such argument: {meant}")
    if owners:
        hint = f"; {unused[0]} is for {', '.join(owners)}"
    else:
        hint = f"; it uses {', '.join(used)}" if used else ""
    raise OptionError(f"{who} does not use {', '.join(unused)}{hint}")


def _plain(value: Any) -> Any:
    """The value as a type of Python's own, so that reports can be written as JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bool | int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _settings(
    objective: Objective,
    keep: Any,
    constraints: Constraints,
    seed: int,
    new_weights: ReweightName | None,
    at_least: bool,
) -> dict[str, Any]:
    return {
        "method": "pri",
        "keep": _plain(keep),
        "beta": objective.beta,
        "alpha": objective.alpha,
        "entropy_by": objective.entropy,
        "mixture": objective.mixture,
        "connected": constraints.connected,
        "cover": constraints.cover is not None,
        "at_least": bool(at_least),
        "seed": seed,
        "reweight": new_weights,
    }


def _budget(
    graph: Graph, keep: Any, connected: Any, method: str = "pri", solver: str = "auto"
) -> tuple[bool, int | None]:
    """Whether to keep the number of components, and how many edges to keep."""
    if not graph.n_edges:
        raise GraphError("the graph has no edges: there is nothing to keep or to drop")
    by_beta = keep is None and solver != "gumbel" and method == "pri"
    is_connected = by_beta if connected is None else bool(connected)
    if keep is not None:
        return is_connected, count_edges(keep, graph.n_edges)
    return is_connected, None


def _constraints(source: Source, connected: bool, cover: Any, protect: Any, forbid: Any) -> Constraints:
    masks = [
        None if edges is None else edge_selector(source, edges, name)
        for name, edges in (("protect", protect), ("forbid", forbid))
    ]
    held, gone = (None if mask is None or not mask.any() else mask for mask in masks)
    chosen = Constraints(connected, held, gone)
    if not _allowed(source.graph, chosen):
        raise OptionError("forbid names every edge of the graph: nothing is left to keep")
    if not cover or connected or (held is not None and gone is not None and (held & gone).any()):
        return chosen  # what is connected is covered; edges that stand in both are refused with the budget
    return replace(chosen, cover=least_cover(source.graph, protect=held, forbid=gone).mask)


def _check_raising(at_least: Any, keep: Any, by_rule: Any, protect: Any, significance: Any = None) -> None:
    """Refuse `at_least` where there is no budget to raise, and nothing for which it could be raised."""
    if not at_least:
        return
    if keep is None:
        instead = "" if significance is None else f": {argument('significance', significance)} decides how many stay"
        raise OptionError(
            f"{argument('at_least', True)} raises a budget, and there is none{instead}; "
            f"pass {setting('keep')}, or leave it out"
        )
    if not by_rule and protect is None:
        raise OptionError(
            f"{argument('at_least', True)} raises the budget to what {setting('connected', True)}, "
            f"{setting('cover', True)} or {named('protect')} need: pass one of them too"
        )


def _raised(graph: Graph, k: int | None, constraints: Constraints, at_least: Any) -> int | None:
    """The budget, or what the constraints need where that is more and the budget may be raised."""
    if k is None or not at_least:
        return k
    return min(max(k, least_size(graph, constraints)), _allowed(graph, constraints))


def _check_fits(graph: Graph, k: int | None, constraints: Constraints) -> None:
    check_budget(graph, _allowed(graph, constraints) if k is None else k, **vars(constraints))


def _allowed(graph: Graph, constraints: Constraints) -> int:
    return int(constraints.allowed(graph.n_edges).sum())


def _explained(solution: Solution, objective: Objective, k: int | None, constraints: Constraints) -> Solution:
    """The solution with a status that says so where the minimum over all sizes is trivial."""
    if k is not None or solution.status.outcome not in (Outcome.CONVERGED, Outcome.GOOD):
        return solution
    kept, most = int(solution.mask.sum()), _allowed(objective.graph, constraints)
    least = least_size(objective.graph, constraints)
    beta = argument("beta", objective.beta, "g")
    allowed = " that forbid allows" if constraints.forbid is not None else ""
    if kept == most == least:
        reasons = ["is protected"] * (constraints.protect is not None)
        reasons += ["holds a component together"] * constraints.connected
        reasons += ["is the last of a node"] * (constraints.cover is not None)
        reason = f"each {' or '.join(reasons)}" if reasons else "there is only one"
        status = Ending.NEEDED.status(allowed=allowed, reason=reason)
    elif kept == most:
        status = Ending.WORTH_KEEPING.status(allowed=allowed, beta=beta)
    elif kept == least and not constraints.connected:
        status = Ending.TRIVIAL.status(edges=f"{kept} edge{'s' * (kept > 1)}", beta=beta)
    else:
        return solution
    return replace(solution, status=status)


def _with_new_weights(solution: Solution, objective: Objective, new_weights: ReweightName | None) -> Solution:
    """The solution with the weights that were asked for; where that ended early, its status says so."""
    if new_weights is None:
        return solution
    given = np.where(solution.mask, objective.graph.weights if solution.weights is None else solution.weights, 0.0)

    def weighted(found: Reweighting) -> Solution:
        is_cut = found.status is not None and not solution.status.interrupted
        status = found.status if is_cut else solution.status
        return replace(solution, weights=found.weights, before=given, status=status)

    by_local = _local_if_stochastic(objective)
    return in_stages(lambda: weigh(new_weights, by_local, solution.mask, given), weighted)


def _measured(source: Source, objective: Objective, solution: Solution, settings: dict[str, Any]) -> Sparsified:
    """The result; what was interrupted is measured by the local entropy where estimating would take long."""
    by_local = _local_if_stochastic(objective), settings | {"entropy_by": _local_if_stochastic(objective).entropy}
    if solution.status.interrupted:
        return _result(source, by_local[0], solution, by_local[1])
    try:
        return _result(source, objective, solution, settings)
    except KeyboardInterrupt:
        ending = Ending.UNESTIMATED if objective.is_stochastic else Ending.UNMEASURED
        cut = replace(solution, status=ending.status())
        raise Interrupted(lambda: _result(source, by_local[0], cut, by_local[1])) from None


def _result(source: Source, objective: Objective, solution: Solution, settings: dict[str, Any]) -> Sparsified:
    graph, mask, order = source.graph, solution.mask, source.edges
    selection, new, terms, errors = objective.selection(mask), solution.weights, None, None
    new = None if new is None else np.where(mask, new, 0.0)
    w = selection if new is None else new / graph.weights
    is_late = False
    if objective.is_stochastic:
        begun = time.monotonic()
        terms, errors = objective.estimated(w)
        is_late = deadline().is_over(in_seconds=time.monotonic() - begun)
    else:
        terms = objective.terms(w)
    # Estimating slopes takes about as long again: where the time is up, those of the local entropy have to do.
    sloped = _local_if_stochastic(objective) if is_late else objective

    def score() -> FloatArray:
        found = -sloped.gradient(selection) if solution.scores is None else solution.scores
        return found[order]

    if new is not None:  # the barrier is that of the degrees before
        terms = Terms.of(objective.beta, terms.entropy, terms.divergence, objective.barrier.at(selection))
    in_order = taken(mask, order)
    if new is None and not graph.is_weighted:
        weights = in_order.astype(np.float64)
    else:
        weights = taken(np.where(mask, graph.weights, 0.0) if new is None else new, order)
    given, divergence_before = solution.before, None
    if given is not None and not objective.is_stochastic:
        divergence_before = objective.terms(given / graph.weights).divergence
    chances = solution.probabilities
    return Sparsified(
        original=graph,
        kept=graph.select(mask, new),
        mask=in_order,
        weights=weights,
        terms=terms,
        errors=errors,
        status=solution.status.noted(_imprecise(errors) if is_late else ""),
        trace=solution.trace,
        probabilities=None if chances is None else chances[order],
        p_values=None if solution.p_values is None else solution.p_values[order],
        reweighted=new is not None,
        before=None if given is None else graph.select(mask, given),
        notes=source.notes,
        settings=settings,
        _divergence_before=divergence_before,
        _original_entropy=objective.original_entropy,
        _original_error=objective.original_estimate.error if objective.is_stochastic else 0.0,
        _rebuild=partial(source.rebuild, mask, new),
        _score=score,
    )


def reweighted_result(
    source: Source, found: Sparsified, keep: float | int, name: ReweightName | None, weights: FloatArray
) -> Sparsified:
    """A result on a graph in canonical form as one of its source, with new weights of that name, or None and its own.

    `weights` in the canonical order, shape (M,).
    """
    objective = Objective(source.graph, found.settings["beta"], 0.0, found.settings["entropy_by"])
    scores = None if found.settings["method"] == "pri" else found.scores
    solution = Solution(found.mask, np.nan, found.status, trace=found.trace, scores=scores, p_values=found.p_values)
    if name is not None:
        solution = replace(solution, weights=weights, before=found.weights)
    elif found.reweighted:
        solution = replace(solution, weights=weights)
    return _measured(source, objective, solution, found.settings | {"keep": _plain(keep), "reweight": name})


def _imprecise(errors: Terms | None) -> str:
    """What to say where a time limit ended estimating before the errors were as small as they should be."""
    if errors is None:
        return ""
    from graphpri._entropy.stochastic import TARGET

    if max(errors.entropy, errors.divergence) <= TARGET:
        return ""
    limit = argument("time_limit", deadline().seconds, "g")
    return f"{limit} ended estimating: see the errors; scores are by the local entropy"


def _local_if_stochastic(objective: Objective) -> Objective:
    return replace(objective, entropy="local") if objective.is_stochastic else objective


@checked
def path(
    G: Any,
    *,
    beta: float | Sequence[float] | None = None,
    keep: float | int | Sequence[float | int] | None = None,
    alpha: float = 0.0,
    weight: str | None = "weight",
    connected: bool | None = None,
    cover: bool = False,
    at_least: bool = False,
    protect: Any = None,
    forbid: Any = None,
    entropy: str = "auto",
    mixture: Mixture = "equation",
    seed: int | None = None,
    effort: EffortName | None = None,
    threads: int | None = None,
    callback: Callback | None = None,
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
    edge_attrs: Sequence[str] = (),
) -> list[Sparsified]:
    """Sparsify along a sequence of β or of budgets.

    Along β each point is searched as by :func:`sparsify`, and neighbours whose order contradicts that of minimisers
    are put right: S never falls and D never rises (with alpha=0). Along budgets each point starts from the next
    larger one's solution.

    Parameters
    ----------
    G : object
        As in :func:`sparsify`.
    beta : float or sequence of float, optional
        One β, or the β of the path; where absent that of :func:`sparsify` with a budget.
    keep : float, int, None, or sequence
        One budget (None leaves the size to β), or the budgets of the path.
    effort : {"fast", "normal", "best"}, optional
        How long to search at each point; where absent "normal" along β, as alone, and "fast" along budgets.
    alpha, weight, connected, cover, at_least, protect, forbid, entropy, mixture, seed, threads, callback
        As in :func:`sparsify`.
    directed, loops, parallel, negative, zero, source, target, edge_attrs
        As in :func:`sparsify`.

    Returns
    -------
    list of Sparsified
        In the order of the sequence.

    Raises
    ------
    OptionError
        Unless exactly one of `beta` and `keep` is a sequence; and as :func:`sparsify`.
    Interrupted
        On Ctrl-C: its ``result`` is the list with the best subsets found until then.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> [r.kept.n_edges for r in graphpri.path(nx.path_graph(9), keep=[0.25, 0.5])]
    [2, 4]
    """
    with _at_most(threads):
        name, keeps, betas = _steps(beta, keep)
        effort = effort or ("normal" if name == "beta" else "fast")
        loaded = load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target, edge_attrs))
        graph = loaded.graph
        betas = [beta_for(_plain(b), keep) for b in betas]
        budgets = [_budget(graph, k, connected) for k in keeps]
        for given in keeps:
            _check_raising(at_least, given, budgets[0][0] or cover, protect)
        constraints = _constraints(loaded, budgets[0][0], cover, protect, forbid)
        budgets = [_raised(graph, k, constraints, at_least) for _, k in budgets]
        for k in budgets:
            _check_fits(graph, k, constraints)
        objective = Objective(graph, betas[0], _plain(alpha), entropy_for(graph, entropy), mixture)
        seed = whole("seed", seed or 0)

        def result(at: Objective, solution: Solution, asked: Any) -> Sparsified:
            settings = _settings(at, asked, constraints, seed, None, at_least) | {"solver": "budgeted"}
            return _measured(loaded, at, solution, settings)

        if name == "beta":
            k = budgets[0]
            points = [replace(objective, beta=b) for b in betas]
            return in_stages(
                lambda: solve_betas(objective, betas, k, constraints, effort=effort, seed=seed, callback=callback),
                lambda solutions: [
                    result(at, _explained(solution, at, k, constraints), keeps[0])
                    for at, solution in zip(points, solutions, strict=True)
                ],
            )
        sizes = [cast("int", k) for k in budgets]
        halt, order = _Halt(callback), sorted(set(sizes), reverse=True)

        def along(found: dict[int, Solution]) -> list[Sparsified]:
            """From the largest budget to the smallest, each starting from the one before."""
            for before, k in zip([0, *order], order, strict=False):
                if k in found:
                    continue
                start = found[before].mask if before else None
                try:
                    solution = solve(objective, k, constraints, effort=effort, seed=seed, callback=halt, start=start)
                except Interrupted as stop:
                    raise Interrupted(partial(cut_short, found, k, stop)) from None
                found[k] = halt.follow(solution)
            return [result(objective, found[k], asked) for asked, k in zip(keeps, sizes, strict=True)]

        def cut_short(found: dict[int, Solution], k: int, stop: Interrupted) -> list[Sparsified]:
            return along(found | {k: halt.follow(stop.result)})

        return along({})


def several(values: Any, name: str) -> list[Any]:
    """The values of an argument that takes one or several, as a list.

    Raises
    ------
    OptionError
        Where there are none.

    Examples
    --------
    >>> several(0.5, "keep"), several([0.2, 40], "keep")
    ([0.5], [0.2, 40])
    """
    found = list(values) if is_several(values) else [values]
    if not found:
        raise OptionError(f"{name} is empty: pass at least one value")
    return found


def _steps(beta: Any, keep: Any) -> tuple[str, list[Any], list[Any]]:
    """Which of the two is a sequence, the budgets and the β."""
    along = [name for name, value in (("beta", beta), ("keep", keep)) if is_several(value)]
    if len(along) != 1:
        got = "both are" if along else "neither is"
        raise OptionError(f"path needs a sequence in exactly one of beta and keep, and {got}")
    betas, keeps = several(beta, "beta"), several(keep, "keep")
    return along[0], keeps, betas


class _Halt:
    """A callback for one solver after the other: what stops one of them stops all that follow."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback = callback
        self._status: Status | None = None

    def __call__(self, progress: Progress) -> bool:
        return self._status is not None or (self._callback is not None and self._callback(progress) is True)

    def follow(self, solution: Solution) -> Solution:
        """Note how a solver ended, and let those after it say the same."""
        if self._status is not None:
            return replace(solution, status=self._status)
        if solution.status.halted:
            self._status = solution.status
        return solution


def methods() -> dict[str, str]:
    """Names of all methods and what they do in a line.

    Examples
    --------
    >>> methods()["local-degree"]
    "each node's edges to its neighbours of highest degree"
    >>> len(methods())
    21
    """
    own = {"pri": "Graph-PRI: minimise the von Neumann entropy and the divergence from the original"}
    return own | {name: METHODS[name].summary for name in METHODS}
