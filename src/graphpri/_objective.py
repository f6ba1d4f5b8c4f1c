"""The Graph-PRI objective J_β: entropy, divergence and degree barrier, value and gradient."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from graphpri._entropy import (
    EIGENVALUE_FLOOR,
    ENTROPIES,
    LARGE_EDGES,
    LIGHTEST,
    EdgeSums,
    Kept,
    Side,
    edge_strengths,
    entropy_named,
    exact_entropies,
    scaled,
)
from graphpri.errors import GraphError, OptionError
from graphpri.graph import BoolArray, FloatArray, Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphpri._stochastic import Estimate

# ---------------------------------------------------------------------------------------------------------------------
# Defaults chosen from measurements; `benchmarks/defaults.py` repeats them.
# ---------------------------------------------------------------------------------------------------------------------

DEFAULT_BETA = 4.0
EXACT_NODES = 500
"""Largest component, in nodes, for which entropy="auto" takes the exact entropy."""
LOCAL_EDGES = 20_000_000
"""Number of edges up to which entropy="auto" takes the local entropy otherwise; some ten seconds' work."""


def entropy_for(graph: Graph, entropy: str = "auto") -> str:
    """Name of the entropy that "auto" means for a graph: exact, local or degree, by size."""
    if entropy != "auto":
        return entropy
    if graph.n_nodes <= EXACT_NODES or int(np.bincount(graph.components()[1]).max()) <= EXACT_NODES:
        return "exact"
    return "local" if graph.n_edges <= LOCAL_EDGES else "degree"


Mixture = Literal["equation", "listing"]
BATCHED_NODES = 200
ROUNDING = 1e-15
BULK_ROUNDING = 1e-12
LARGEST_BETA = 1e12
BARRIER_FLOOR = 1e-3
"""Smallest degree inside the barrier's logarithm, as a share of the graph's smallest weight."""
_STEEPEST = 1e300  # slope of the barrier where weights lie so far apart that it would overflow


class Terms(NamedTuple):
    """The parts of J_β in nats: J = entropy + 2β·divergence + barrier."""

    objective: float
    entropy: float
    divergence: float
    barrier: float


def check_beta(beta: float) -> float:
    """Refuse a β that is negative, not finite or beyond 1e12."""
    if isinstance(beta, bool) or not isinstance(beta, Real) or not 0 <= beta < np.inf:
        raise OptionError(f"beta={beta!r} must be a finite number, 0 or more")
    if beta > LARGEST_BETA:
        raise OptionError(f"beta={beta!r} is above {LARGEST_BETA:g}; the divergence alone decides there: pass less")
    return float(beta)


@dataclass(frozen=True, eq=False)
class Objective:
    """J_β(w) = S(σ̃) + 2β D(σ̃‖ρ̃) − α Σ ln d_i for selections w of the edges of one graph.

    Parameters
    ----------
    graph : Graph
        The original graph ρ; it needs at least one edge.
    beta : float
        Weight β ≥ 0 of the divergence.
    alpha : float
        Weight α ≥ 0 of the degree barrier.
    entropy : {"exact", "degree", "local", "stochastic"}
        How entropies are computed. The stochastic one is estimated, with errors: see :meth:`estimated`.
    mixture : {"equation", "listing"}
        "equation" averages the Laplacians after each is normalised by its own trace; "listing" adds them
        first, as the paper's code listing does.

    Raises
    ------
    OptionError
        For β or α negative or not finite, and for unknown names.
    GraphError
        For a graph without edges.

    Notes
    -----
    Weights enter J_β only through their ratios, so that they are scaled to at most 1 internally; the
    barrier alone takes degrees in the graph's own unit. Source: Eq. (4) and Section 3.1 of Yu et al.,
    UAI 2022, with the gradient for weighted graphs.

    Examples
    --------
    >>> triangle = Graph.from_edges([0, 1, 0], [1, 2, 2])
    >>> round(Objective(triangle, beta=4.0, entropy="exact").value(np.ones(3)), 4)
    0.6931
    """

    graph: Graph
    beta: float
    alpha: float = 0.0
    entropy: str = "exact"
    mixture: Mixture = "equation"
    weights: FloatArray = field(init=False)
    sums: EdgeSums | None = field(init=False)
    _estimated: tuple[int, Terms, Terms, Estimate] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        check_beta(self.beta)
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, Real) or not 0 <= self.alpha < np.inf:
            raise OptionError(f"alpha={self.alpha!r} must be a finite number, 0 or more")
        entropy_named(self.entropy)
        if self.mixture not in ("equation", "listing"):
            raise OptionError(f"mixture={self.mixture!r}: choose 'equation' or 'listing'")
        if not self.graph.n_edges:
            raise GraphError("the graph has no edges: there is nothing to keep, and its entropy is not defined")
        object.__setattr__(self, "weights", scaled(self.graph.weights))
        large = self.entropy in ("degree", "local") and self.graph.n_edges >= LARGE_EDGES
        object.__setattr__(self, "sums", EdgeSums(self.graph, self.weights) if large else None)

    def by_local_sweeps(self) -> Objective:
        """The same with the local entropy, by compiled loops whatever the size of the graph."""
        local = replace(self, entropy="local")
        if local.sums is None:
            object.__setattr__(local, "sums", EdgeSums(local.graph, local.weights))
        return local

    @cached_property
    def _everything(self) -> Side:
        """The original graph as a large one."""
        assert self.sums is not None
        return self._bulk_kept(self.sums, np.ones(self.graph.n_edges, np.uint8))

    @cached_property
    def original_degrees(self) -> FloatArray:
        """Degrees of the original graph in scaled weights, shape (N,)."""
        return edge_strengths(self.graph, self.weights) if self.sums is None else self._everything.degrees

    @cached_property
    def original_entropy(self) -> float:
        """S(ρ̃) in nats."""
        if self.sums is not None:
            return self._everything.entropy(float(self.original_degrees.sum()))
        if self.is_stochastic:
            return self.original_estimate.value
        return self.entropy_of(self.weights)[0]

    @property
    def original_estimate(self) -> Estimate:
        """S(ρ̃) in nats and its standard error by the stochastic entropy: that of the last selection's probes."""
        if self._estimated is not None:
            return self._estimated[3]
        return self._estimate([self.weights], [[1.0]])[0]

    @property
    def is_stochastic(self) -> bool:
        """Whether values are estimates with errors."""
        return entropy_named(self.entropy).stochastic

    def _estimate(
        self, ys: Sequence[FloatArray], combinations: Sequence[Sequence[float]], exempt: tuple[int, ...] = ()
    ) -> list[Estimate]:
        """Estimates of combinations of entropies, those at `exempt` with whatever error comes of the others'."""
        from graphpri._stochastic import TARGET, estimate

        targets = [np.inf if i in exempt else TARGET for i in range(len(combinations))]
        return estimate(self.graph, ys, combinations, target=targets)

    def estimated(self, w: FloatArray) -> tuple[Terms, Terms]:
        """The parts of J_β at the selection w by the stochastic entropy, and their standard errors.

        All of them come from the same probes, so that the error of the divergence is smaller than those of its
        parts.
        """
        key = hash(np.asarray(w).tobytes())
        if self._estimated is None or self._estimated[0] != key:
            y = self._kept(w)
            mixed = self.mixed(y, 2 * float(y.sum()))
            ys = [scaled(y), self.weights, scaled(mixed)]
            factors = [[1.0, 0.0, 0.0], [-0.5, -0.5, 1.0], [1 - self.beta, -self.beta, 2 * self.beta], [0.0, 1.0, 0.0]]
            s, d, j, original = self._estimate(ys, factors, exempt=(2,))
            barrier = self._barrier(w)
            values = Terms(j.value + barrier, s.value, d.value, barrier)
            errors = Terms(j.error, s.error, d.error, 0.0)
            object.__setattr__(self, "_estimated", (key, values, errors, original))
        assert self._estimated is not None
        return self._estimated[1], self._estimated[2]

    def entropy_of(self, y: FloatArray, gradient: bool = False) -> tuple[float, FloatArray | None]:
        """Entropy of edge weights y and the edge term of its gradient."""
        return ENTROPIES[self.entropy].evaluate(self.graph, y, gradient)

    def selection(self, mask: BoolArray) -> Kept:
        """A subset as a selection w, in the type that takes the least time and memory."""
        return mask.view(np.uint8) if self.sums is not None else mask.astype(np.float64)

    def mixed(self, y: FloatArray, trace: float) -> FloatArray:
        """Edge weights of the mixture σ̄ for kept weights y of trace `trace`."""
        total = 2 * float(self.weights.sum())
        if self.mixture == "listing":
            return (y + self.weights) / (trace + total)
        return 0.5 * (y / trace + self.weights / total)

    def terms(self, w: FloatArray) -> Terms:
        """Value of every part of J_β at the selection w, shape (M,), entries ≥ 0.

        Raises
        ------
        GraphError
            For a selection without edges.
        """
        if self.is_stochastic:
            return self.estimated(w)[0]
        if self._in_bulk(w):
            kept, mixed = self.sides(w)
            t, m = self.traces(kept)
            return self._terms(kept.entropy(t), mixed.entropy(m), self._barrier(w))
        y = self._kept(w)
        mixed = self.mixed(y, 2 * float(y.sum()))
        return self._terms(self.entropy_of(y)[0], self.entropy_of(mixed)[0], self._barrier(w))

    def terms_and_gradient(self, w: FloatArray) -> tuple[Terms, FloatArray]:
        """The parts of J_β and its gradient at the selection w.

        The slope of an edge that would join two components of the kept graph is infinite; the gradient
        given for it is that of a floor under the eigenvalues, large and finite.
        """
        kept, mixed, slope = self._combination(w, 1 - self.beta, 2 * self.beta)
        if self.alpha:
            slope += self._barrier_gradient(w)
        if self.is_stochastic:
            return self.estimated(w)[0], slope
        return self._terms(kept, mixed, self._barrier(w)), slope

    def _terms(self, kept: float, mixed: float, barrier: float) -> Terms:
        divergence = mixed - 0.5 * (kept + self.original_entropy)
        if abs(divergence) < (ROUNDING if self.sums is None else BULK_ROUNDING) or -BULK_ROUNDING < divergence < 0:
            divergence = 0.0
        return Terms(kept + 2 * self.beta * divergence + barrier, kept, divergence, barrier)

    def value(self, w: FloatArray) -> float:
        """J_β at the selection w."""
        return self.terms(w).objective

    def gradient(self, w: FloatArray) -> FloatArray:
        """∂J/∂w at the selection w, shape (M,), in nats."""
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """J_β and its gradient at the selection w, as :meth:`terms_and_gradient`."""
        terms, gradient = self.terms_and_gradient(w)
        return terms.objective, gradient

    def divergence_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """D(σ̃‖ρ̃) and its gradient at the selection w."""
        kept, mixed, slope = self._combination(w, -0.5, 1.0)
        return mixed - 0.5 * (kept + self.original_entropy), slope

    def gradients(self, selections: FloatArray) -> tuple[FloatArray, FloatArray]:
        """J_β and its gradient at several selections, shapes (B, M) to (B,) and (B, M).

        Small graphs take one batched eigendecomposition.
        """
        if self.entropy != "exact" or self.graph.n_nodes > BATCHED_NODES:
            pairs = [self.value_and_gradient(w) for w in selections]
            return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])
        kept = [self._kept(w) for w in selections]
        mixed = [self.mixed(y, 2 * float(y.sum())) for y in kept]
        values, terms = exact_entropies(self.graph, np.array(kept + mixed))
        found: list[tuple[float, FloatArray]] = []
        for i, w in enumerate(selections):
            j = i + len(kept)
            of_both = self._slopes(w, kept[i], float(values[i]), terms[i], float(values[j]), terms[j])
            found.append(self._combined(w, *of_both))
        return np.array([value for value, _ in found]), np.array([slope for _, slope in found])

    def _combined(
        self, w: FloatArray, kept: float, kept_slope: FloatArray, mixed: float, mixed_slope: FloatArray
    ) -> tuple[float, FloatArray]:
        slope = (1 - self.beta) * kept_slope + 2 * self.beta * mixed_slope
        return self._terms(kept, mixed, self._barrier(w)).objective, slope + self._barrier_gradient(w)

    def _combination(self, w: FloatArray, of_kept: float, of_mixed: float) -> tuple[float, float, FloatArray]:
        """S(σ̃), S(σ̄), and the gradient in w of a combination of the two."""
        if self._in_bulk(w):
            return self._bulk_combination(w, of_kept, of_mixed)
        kept, kept_slope, mixed, mixed_slope = self._entropies(w)
        return kept, mixed, of_kept * kept_slope + of_mixed * mixed_slope

    def _in_bulk(self, w: FloatArray) -> bool:
        return self.sums is not None and (self.sums.equal or float((self.weights * w).max()) >= 1e-100)

    def _bulk_kept(self, sums: EdgeSums, w: Kept, pull: bool = False) -> Side:
        degrees = sums.degrees(w)
        trace = float(degrees.sum())
        if not trace > 0:
            raise _nothing_kept()
        return sums.side(w, 0.0, degrees, local=self.entropy == "local", least=LIGHTEST * trace, pull=pull)

    def sides(self, w: Kept, pull: bool = False) -> tuple[Side, Side]:
        """The kept graph and the mixture of a large graph, in one unit; `pull` as in :meth:`EdgeSums.side`."""
        assert self.sums is not None
        kept = self._bulk_kept(self.sums, w, pull)
        trace, total = float(kept.degrees.sum()), float(self.original_degrees.sum())
        kappa = trace / total if self.mixture == "equation" else 1.0
        degrees = kept.degrees + kappa * self.original_degrees
        local = self.entropy == "local"
        mixed = self.sums.side(w, kappa, degrees, local=local, least=LIGHTEST * 2 * trace, pull=pull)
        return kept, mixed

    def traces(self, kept: Side) -> tuple[float, float]:
        """Traces of the kept graph and of the mixture, in the unit of :meth:`sides`."""
        trace, total = float(kept.degrees.sum()), float(self.original_degrees.sum())
        return trace, 2 * trace if self.mixture == "equation" else trace + total

    def _bulk_combination(self, w: Kept, of_kept: float, of_mixed: float) -> tuple[float, float, FloatArray]:
        assert self.sums is not None
        kept, mixed = self.sides(w, pull=True)
        t, m = self.traces(kept)
        s, s_mixed = kept.entropy(t), mixed.entropy(m)
        node, node_mixed = _at_nodes(kept, t), _at_nodes(mixed, m)
        if self.mixture == "equation":
            along = float(kept.degrees @ node_mixed) + 2 * mixed.correction - mixed.kappa * mixed.along
            factor, constant = -0.5 * of_mixed / t, -2 * along / t
        else:
            factor, constant = -of_mixed / m, 2 * s_mixed
        a = -of_kept / t
        own = [(kept, a), (mixed, factor)] if self.entropy == "local" else []
        slope = self.sums.slopes(w, a * node + factor * node_mixed, a * 2 * s + factor * constant, own)
        return s, s_mixed, slope

    def _entropies(self, w: FloatArray) -> tuple[float, FloatArray, float, FloatArray]:
        """S(σ̃) and S(σ̄), each with its gradient in w."""
        y = self._kept(w)
        s, term = self.entropy_of(y, True)
        mixed, mixed_term = self.entropy_of(self.mixed(y, 2 * float(y.sum())), True)
        assert term is not None
        assert mixed_term is not None
        return self._slopes(w, y, s, term, mixed, mixed_term)

    def _slopes(
        self, w: FloatArray, y: FloatArray, s: float, term: FloatArray, mixed: float, mixed_term: FloatArray
    ) -> tuple[float, FloatArray, float, FloatArray]:
        t = 2 * float(y.sum())
        mu = self.weights * (float(y.max()) / float((self.weights * w).max()))
        slope = -mu * (term + 2 * s) / t
        if self.mixture == "listing":
            mixed_slope = -mu * (mixed_term + 2 * mixed) / (t + 2 * float(self.weights.sum()))
        else:
            mixed_slope = -0.5 * mu * (mixed_term - 2 * float(y @ mixed_term) / t) / t
        return s, slope, mixed, mixed_slope

    def _kept(self, w: FloatArray) -> FloatArray:
        y = self.weights * w
        if not y.max() > 0:
            raise _nothing_kept()
        # Entropies are scale invariant, but a selection of the lightest edges must not underflow.
        return y / y.max() if y.max() < 1e-100 else y

    def barrier_floor(self) -> float:
        """Smallest degree inside the barrier's logarithm."""
        return max(BARRIER_FLOOR * float(self.graph.weights.min()), float(np.finfo(np.float64).tiny))

    def barrier_degrees(self, w: FloatArray) -> tuple[FloatArray, float]:
        """Degrees in σ(w) of the nodes that have an edge in the graph (1 elsewhere), and the floor under them."""
        degrees = edge_strengths(self.graph, self.graph.weights * w)
        floor = self.barrier_floor()
        return np.where(self.graph.degrees() > 0, degrees, 1.0), floor

    def _barrier(self, w: FloatArray) -> float:
        if self.alpha == 0:
            return 0.0
        degrees, floor = self.barrier_degrees(w)
        return -self.alpha * float(np.log(np.maximum(degrees, floor)).sum())

    def _barrier_gradient(self, w: FloatArray) -> FloatArray | float:
        if self.alpha == 0:
            return 0.0
        degrees, floor = self.barrier_degrees(w)
        inverse = 1 / np.maximum(degrees, floor)
        with np.errstate(over="ignore"):
            pull = self.alpha * self.graph.weights * (inverse[self.graph.source] + inverse[self.graph.target])
        return -np.minimum(pull, _STEEPEST)


def _nothing_kept() -> GraphError:
    return GraphError("no edge is kept, so the entropy of the kept graph is not defined")


def _at_nodes(side: Side, trace: float) -> FloatArray:
    """What each end of an edge contributes to the edge term of the gradient."""
    logs = np.where(side.degrees > 0, side.logs - np.log(trace), -np.inf)
    logs = np.maximum(logs, np.log(EIGENVALUE_FLOOR))
    return logs + side.pull if side.pull.size else logs
