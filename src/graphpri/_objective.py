"""The Graph-PRI objective and its parts, each once: mixture, divergence, degree barrier and J_β, with their gradients.

With σ̃ = σ/tr σ for the kept graph, ρ̃ = ρ/tr ρ for the original one and σ̄ for their mixture (Yu et al., UAI 2022):

    σ̄ = ½ (σ̃ + ρ̃)                                      `mixed_weights`, `mixture_scale`
    D(σ̃‖ρ̃) = S(σ̄) − ½ S(σ̃) − ½ S(ρ̃)                     `divergence_between`, the Jensen–Shannon divergence
    J_β = S(σ̃) + 2β D(σ̃‖ρ̃) − α Σ ln d_i                  `Terms.of`, Eq. (4) with the degree barrier
        = (1 − β) S(σ̃) + 2β S(σ̄) − β S(ρ̃) − α Σ ln d_i    `coefficients`

Solvers, measures and studies call these. torch has its own differentiable copy, which is tested against this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from graphpri._arguments import checked, chosen, real
from graphpri._entropy import (
    EIGENVALUE_FLOOR,
    LARGE_EDGES,
    LIGHTEST,
    EdgeSums,
    Kept,
    Side,
    exact_entropies_and_terms,
    scaled,
)
from graphpri._entropy.by_name import BATCHED_NODES, ENTROPIES, entropy_named
from graphpri._entropy.stochastic import TARGET, Estimate, edge_term_by_probes, estimate
from graphpri._runtime import single_thread
from graphpri.errors import GraphError, OptionError, argument
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray, edge_values, taken

Mixture = Literal["equation", "listing"]

FREE_BETA = 4.0
"""Default without a budget, where β decides how many edges stay: at large values all of them do."""
BUDGET_BETA = 50.0
"""Default with a budget, which says how many stay: best over all purposes but hubs (docs/beta.md has the study)."""
LARGEST_BETA = 1e12
BARRIER_FLOOR = 1e-3
"""Smallest degree inside the barrier's logarithm, as a share of the graph's smallest weight."""
_STEEPEST = 1e300  # slope of the barrier where weights lie so far apart that it would overflow
_ROUNDING = 1e-15
_LARGE_ROUNDING = 1e-12
_LIGHT = 1e-100  # largest kept weight below which sums over edges are scaled first


def check_beta(beta: float) -> float:
    """Refuse a β that is negative, not finite or beyond 1e12."""
    found = real("beta", beta)
    if beta > LARGEST_BETA:
        raise OptionError(
            f"{argument('beta', beta)} is above {LARGEST_BETA:g}; the divergence alone decides there: pass less"
        )
    return found


def beta_for(beta: float | None, keep: object) -> float:
    """The β that was asked for, or the default with or without a budget."""
    if beta is not None:
        return check_beta(beta)
    return FREE_BETA if keep is None else BUDGET_BETA


# The equations.


def mixture_scale(mixture: Mixture, trace: Any, total: Any) -> tuple[Any, Any]:
    """The factor κ and the trace T with which the mixture is σ̄ = (σ + κρ)/T, for tr σ = `trace` and tr ρ = `total`.

    The equation normalises each Laplacian by its own trace before it averages, so that κ = tr σ/tr ρ; the paper's
    code listing adds them as they are.
    """
    factor, rest = mixture_trace(mixture, total)
    return trace / total if mixture == "equation" else 1.0, factor * trace + rest


def mixture_trace(mixture: Mixture, total: Any) -> tuple[float, Any]:
    """The factor a and the rest b with which T = a tr σ + b, as in :func:`mixture_scale`."""
    return (2.0, 0.0) if mixture == "equation" else (1.0, total)


def mixed_weights(mixture: Mixture, kept: FloatArray, original: FloatArray) -> FloatArray:
    """Edge weights of the mixture σ̄ of two graphs on the same edges, shape (M,); their sum is ½.

    Several kept graphs in the rows of an array, shape (B, M), give as many mixtures.
    """
    trace, total = 2 * kept.sum(axis=-1, keepdims=True), 2 * float(original.sum())
    if mixture == "listing":
        return (kept + original) / (trace + total)
    return 0.5 * (kept / trace + original / total)


def divergence_between(mixed: float, kept: float, original: float) -> float:
    """D = S(σ̄) − ½ (S(σ̃) + S(ρ̃)): the quantum Jensen–Shannon divergence from three entropies in nats."""
    return mixed - 0.5 * (kept + original)


def coefficients(beta: float) -> tuple[float, float, float]:
    """Weights of S(σ̃), S(σ̄) and S(ρ̃) in J_β."""
    return 1 - beta, 2 * beta, -beta


class Terms(NamedTuple):
    """The parts of J_β in nats: J = entropy + 2β·divergence + barrier."""

    objective: float
    entropy: float
    divergence: float
    barrier: float

    @classmethod
    def of(cls, beta: float, entropy: float, divergence: float, barrier: float) -> Terms:
        """The parts with their sum, Eq. (4)."""
        return cls(entropy + 2 * beta * divergence + barrier, entropy, divergence, barrier)

    def at(self, beta: float) -> Terms:
        """The same subset of edges for another β."""
        return Terms.of(beta, self.entropy, self.divergence, self.barrier)


def barrier_floor(least: float) -> float:
    """Smallest degree inside the barrier's logarithm, for the smallest weight of a graph."""
    return max(BARRIER_FLOOR * least, float(np.finfo(np.float64).tiny))


@dataclass(frozen=True, eq=False)
class Barrier:
    """The degree barrier −α Σ ln d_i(w) over the nodes that have an edge in the graph.

    Degrees are in the graph's own unit, before any new weights; a floor under them lets an uncovered node pull edges
    in while J stays finite.
    """

    graph: Graph
    alpha: float

    @cached_property
    def floor(self) -> float:
        """Smallest degree inside the logarithm."""
        return barrier_floor(float(self.graph.weights.min()))

    def degrees(self, w: FloatArray) -> FloatArray:
        """Degrees in σ(w) of the nodes that have an edge in the graph, 1 elsewhere, shape (N,)."""
        return self.of_covered(self.graph.strengths(self.graph.weights * w))

    def of_covered(self, degrees: FloatArray) -> FloatArray:
        """The degrees with 1, whose logarithm is zero, for nodes that have no edge in the graph."""
        return np.where(self.graph.degrees() > 0, degrees, 1.0)

    def value(self, degrees: FloatArray) -> float:
        """The barrier at these degrees."""
        return -self.alpha * float(np.log(np.maximum(degrees, self.floor)).sum())

    def change(self, degrees: FloatArray, step: FloatArray) -> FloatArray:
        """What the barrier gains where each of the degrees moves by its step."""
        before, after = np.maximum(degrees, self.floor), np.maximum(degrees + step, self.floor)
        return -self.alpha * (np.log(after) - np.log(before))

    def at(self, w: FloatArray) -> float:
        """The barrier at the selection w."""
        return self.value(self.degrees(w)) if self.alpha else 0.0

    def gradient(self, w: FloatArray) -> FloatArray:
        """Its derivative −α μ (1/d_u + 1/d_v) in the selection of each edge, shape (M,)."""
        inverse = 1 / np.maximum(self.degrees(w), self.floor)
        with np.errstate(over="ignore"):
            pull = self.alpha * self.graph.weights * (inverse[self.graph.source] + inverse[self.graph.target])
        return -np.minimum(pull, _STEEPEST)


# The entropies of the kept graph and of the mixture, at selections of the edges of one graph.


@dataclass(frozen=True, eq=False)
class _Entropies:
    """S(σ̃) and S(σ̄) by arrays of NumPy, for any entropy.

    With T the trace of a matrix and q_e the edge term of its entropy, ∂S/∂y_e = −(q_e + 2S)/T for the weight y_e of
    each edge; the chain rule through the trace of σ̃ gives the gradients of the mixture.
    """

    graph: Graph
    weights: FloatArray
    entropy: str
    mixture: Mixture

    rounding = _ROUNDING
    """Divergences below this are zero but for rounding."""

    def selection(self, mask: BoolArray) -> Kept:
        """A subset as a selection w, in the type that takes the least time and memory."""
        return mask.astype(np.float64)

    def evaluate(self, y: FloatArray, gradient: bool = False) -> tuple[float, FloatArray | None]:
        """Entropy of edge weights y and the edge term of its gradient."""
        return ENTROPIES[self.entropy].evaluate(self.graph, y, gradient)

    def of_original(self) -> float:
        """S(ρ̃)."""
        return self.evaluate(self.weights)[0]

    def kept(self, w: FloatArray) -> FloatArray:
        """Weights of the kept edges, shape (M,)."""
        y = self.weights * w
        if not y.max() > 0:
            raise _nothing_kept()
        # Entropies are scale invariant, but a selection of the lightest edges must not underflow.
        return y / y.max() if y.max() < _LIGHT else y

    def mixed(self, kept: FloatArray) -> FloatArray:
        """Weights of the mixture, shape (M,)."""
        return mixed_weights(self.mixture, kept, self.weights)

    def values(self, w: FloatArray) -> tuple[float, float]:
        """S(σ̃) and S(σ̄)."""
        y = self.kept(w)
        return self.evaluate(y)[0], self.evaluate(self.mixed(y))[0]

    def several_values(self, selections: FloatArray) -> FloatArray:
        """S(σ̃) and S(σ̄) of several selections, shape (B, M) to (B, 2), all at once where that pays."""
        entropy = ENTROPIES[self.entropy]
        if entropy.several is None or self.graph.n_nodes > entropy.most:
            return np.array([self.values(w) for w in selections])
        kept = np.array([self.kept(w) for w in selections])
        return np.column_stack([entropy.several(self.graph, y) for y in (kept, self.mixed(kept))])

    def combination(self, w: FloatArray, of_kept: float, of_mixed: float) -> tuple[float, float, FloatArray]:
        """S(σ̃), S(σ̄), and the gradient in w of a combination of the two."""
        y = self.kept(w)
        kept, mixed = self.evaluate(y, True), self.evaluate(self.mixed(y), True)
        return self._combined(w, y, kept, mixed, of_kept, of_mixed)

    def slope_by_probes(
        self, w: FloatArray, values: tuple[float, float], of_kept: float, of_mixed: float
    ) -> FloatArray:
        """The gradient of :meth:`combination`, where S(σ̃) and S(σ̄) are estimated already."""
        y = self.kept(w)
        kept, mixed = ((s, edge_term_by_probes(self.graph, x)) for s, x in zip(values, (y, self.mixed(y)), strict=True))
        return self._combined(w, y, kept, mixed, of_kept, of_mixed)[2]

    def combinations(
        self, selections: FloatArray, of_kept: float, of_mixed: float
    ) -> list[tuple[float, float, FloatArray]]:
        """As :meth:`combination` for several selections, shape (B, M), by one batched eigenproblem where that pays."""
        if self.entropy != "exact" or self.graph.n_nodes > BATCHED_NODES:
            return [self.combination(w, of_kept, of_mixed) for w in selections]
        kept = [self.kept(w) for w in selections]
        ys = np.array(kept + [self.mixed(y) for y in kept])
        found = list(zip(*exact_entropies_and_terms(self.graph, ys), strict=True))
        pairs = zip(selections, kept, found[: len(kept)], found[len(kept) :], strict=True)
        return [self._combined(w, y, of_y, of_mix, of_kept, of_mixed) for w, y, of_y, of_mix in pairs]

    def _combined(
        self, w: FloatArray, y: FloatArray, kept: Any, mixed: Any, of_kept: float, of_mixed: float
    ) -> tuple[float, float, FloatArray]:
        (s, term), (s_mixed, mixed_term) = kept, mixed
        t = 2 * float(y.sum())
        mu = self.weights * (float(y.max()) / float((self.weights * w).max()))
        # The chain rule through the traces, by which both matrices are normalised.
        slope = -mu * (term + 2 * s) / t
        if self.mixture == "listing":
            mixed_slope = -mu * (mixed_term + 2 * s_mixed) / (t + 2 * float(self.weights.sum()))
        else:
            mixed_slope = -0.5 * mu * (mixed_term - 2 * float(y @ mixed_term) / t) / t
        return float(s), float(s_mixed), of_kept * slope + of_mixed * mixed_slope


@dataclass(frozen=True, eq=False)
class LargeEntropies(_Entropies):
    """S(σ̃) and S(σ̄) of a large graph by the degree or the local entropy, in compiled passes over the edges."""

    rounding = _LARGE_ROUNDING

    @cached_property
    def sums(self) -> EdgeSums:
        """Sums over the edges."""
        return EdgeSums(self.graph, self.weights)

    @cached_property
    def _everything(self) -> Side:
        return self._side_of_kept(np.ones(self.graph.n_edges, np.uint8))

    @property
    def original_degrees(self) -> FloatArray:
        """Degrees of the original graph in scaled weights, shape (N,)."""
        return self._everything.degrees

    def renumbered(self, graph: Graph, weights: FloatArray, node: IntArray) -> LargeEntropies:
        """The same where nodes and edges stand in another order; `node` was the number of each node."""
        other = LargeEntropies(graph, weights, self.entropy, self.mixture)
        every = self._everything
        everything = every._replace(degrees=taken(every.degrees, node), logs=taken(every.logs, node))
        object.__setattr__(other, "_everything", everything)
        return other

    def selection(self, mask: BoolArray) -> Kept:
        """A subset as a selection w, in the type that takes the least time and memory."""
        return mask.view(np.uint8)

    def of_original(self) -> float:
        """S(ρ̃)."""
        return self._everything.entropy(float(self.original_degrees.sum()))

    def values(self, w: Kept) -> tuple[float, float]:
        """S(σ̃) and S(σ̄)."""
        if self._is_light(w):
            return super().values(w)
        kept, mixed = self.sides(w)
        t, m = self.traces(kept)
        return kept.entropy(t), mixed.entropy(m)

    def combination(self, w: Kept, of_kept: float, of_mixed: float) -> tuple[float, float, FloatArray]:
        """S(σ̃), S(σ̄), and the gradient in w of a combination of the two."""
        if self._is_light(w):
            return super().combination(w, of_kept, of_mixed)
        kept, mixed = self.sides(w, pull=True)
        t, m = self.traces(kept)
        s, s_mixed = kept.entropy(t), mixed.entropy(m)
        node, node_mixed = _at_nodes(kept, t), _at_nodes(mixed, m)
        if self.mixture == "equation":
            # The chain rule through κ, since the scale of ρ in the mixture follows the trace of σ.
            with single_thread():  # as in Side.f
                along = float(kept.degrees @ node_mixed)
            along += 2 * mixed.correction - mixed.kappa * mixed.along
            factor, constant = -0.5 * of_mixed / t, -2 * along / t
        else:
            factor, constant = -of_mixed / m, 2 * s_mixed
        a = -of_kept / t
        own = [(kept, a), (mixed, factor)] if self.entropy == "local" else []
        slope = self.sums.slopes(w, a * node + factor * node_mixed, a * 2 * s + factor * constant, own)
        return s, s_mixed, slope

    def sides(self, w: Kept, pull: bool = False) -> tuple[Side, Side]:
        """The kept graph and the mixture, in one unit; `pull` as in :meth:`EdgeSums.side`."""
        kept = self._side_of_kept(w, pull)
        trace, total = float(kept.degrees.sum()), float(self.original_degrees.sum())
        kappa, _ = mixture_scale(self.mixture, trace, total)
        degrees = kept.degrees + kappa * self.original_degrees
        local = self.entropy == "local"
        return kept, self.sums.side(w, kappa, degrees, local=local, least=LIGHTEST * 2 * trace, pull=pull)

    def traces(self, kept: Side) -> tuple[float, float]:
        """Traces of the kept graph and of the mixture, in the unit of :meth:`sides`."""
        trace = float(kept.degrees.sum())
        return trace, mixture_scale(self.mixture, trace, float(self.original_degrees.sum()))[1]

    def _side_of_kept(self, w: Kept, pull: bool = False) -> Side:
        degrees = self.sums.degrees(w)
        trace = float(degrees.sum())
        if not trace > 0:
            raise _nothing_kept()
        return self.sums.side(w, 0.0, degrees, local=self.entropy == "local", least=LIGHTEST * trace, pull=pull)

    def _is_light(self, w: Kept) -> bool:
        return not self.sums.equal and float((self.weights * w).max()) < _LIGHT


def _nothing_kept() -> GraphError:
    return GraphError("no edge is kept, so the entropy of the kept graph is not defined")


def _at_nodes(side: Side, trace: float) -> FloatArray:
    """What each end of an edge contributes to the edge term of the gradient."""
    logs = np.where(side.degrees > 0, side.logs - np.log(trace), -np.inf)
    logs = np.maximum(logs, np.log(EIGENVALUE_FLOOR))
    return logs + side.pull if side.pull.size else logs


@checked
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
    barrier: Barrier = field(init=False)
    entropies: _Entropies = field(init=False)
    _estimated: tuple[int, Terms, Terms, Estimate] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        check_beta(self.beta)
        real("alpha", self.alpha)
        entropy_named(self.entropy)
        chosen("mixture", self.mixture, get_args(Mixture))
        if not self.graph.n_edges:
            raise GraphError("the graph has no edges: there is nothing to keep, and its entropy is not defined")
        object.__setattr__(self, "weights", scaled(self.graph.weights))
        object.__setattr__(self, "barrier", Barrier(self.graph, self.alpha))
        is_large = self.entropy in ("degree", "local") and self.graph.n_edges >= LARGE_EDGES
        self._evaluate_by(LargeEntropies if is_large else _Entropies)

    def _evaluate_by(self, kind: type[_Entropies]) -> None:
        object.__setattr__(self, "entropies", kind(self.graph, self.weights, self.entropy, self.mixture))

    def by_local_sweeps(self) -> Objective:
        """The same with the local entropy, by compiled loops whatever the size of the graph."""
        local = replace(self, entropy="local")
        local._evaluate_by(LargeEntropies)
        return local

    @property
    def is_large(self) -> bool:
        """Whether entropies are computed by compiled passes over the edges."""
        return isinstance(self.entropies, LargeEntropies)

    @property
    def is_stochastic(self) -> bool:
        """Whether values are estimates with errors."""
        return ENTROPIES[self.entropy].stochastic

    @cached_property
    def original_entropy(self) -> float:
        """S(ρ̃) in nats."""
        return self.original_estimate.value if self.is_stochastic else self.entropies.of_original()

    @property
    def original_estimate(self) -> Estimate:
        """S(ρ̃) in nats and its standard error by the stochastic entropy: that of the last selection's probes."""
        if self._estimated is not None:
            return self._estimated[3]
        return self._estimate([self.weights], [[1.0]])[0]

    def _estimate(
        self, ys: Sequence[FloatArray], combinations: Sequence[Sequence[float]], exempt: tuple[int, ...] = ()
    ) -> list[Estimate]:
        """Estimates of combinations of entropies, those at `exempt` with whatever error comes of the others'."""
        targets = [np.inf if i in exempt else TARGET for i in range(len(combinations))]
        return estimate(self.graph, ys, combinations, target=targets)

    def estimated(self, w: FloatArray) -> tuple[Terms, Terms]:
        """The parts of J_β at the selection w by the stochastic entropy, and their standard errors.

        All of them come from the same probes, so that the error of the divergence is smaller than those of its
        parts.
        """
        key = hash(self._checked("w", w).tobytes())
        if self._estimated is None or self._estimated[0] != key:
            y = self.entropies.kept(w)
            ys = [scaled(y), self.weights, scaled(self.entropies.mixed(y))]
            of_kept, of_mixed, of_original = coefficients(self.beta)
            factors = [[1.0, 0.0, 0.0], [-0.5, -0.5, 1.0], [of_kept, of_original, of_mixed], [0.0, 1.0, 0.0]]
            s, d, j, original = self._estimate(ys, factors, exempt=(2,))
            barrier = self.barrier.at(w)
            values = Terms(j.value + barrier, s.value, d.value, barrier)
            errors = Terms(j.error, s.error, d.error, 0.0)
            object.__setattr__(self, "_estimated", (key, values, errors, original))
        assert self._estimated is not None
        return self._estimated[1], self._estimated[2]

    def selection(self, mask: BoolArray) -> Kept:
        """A subset as a selection w, in the type that takes the least time and memory."""
        return self.entropies.selection(edge_values(self.graph, "mask", mask, "b"))

    def _checked(self, name: str, w: Any, *, several: bool = False) -> Any:
        """A selection, or several: finite numbers of 0 or more, one for every edge."""
        w = edge_values(self.graph, name, w, "buif", several=several)
        # NaN is below nothing.
        if w.dtype.kind in "if" and w.size and not (w.min() >= 0 and w.max() < np.inf):
            edge = int(np.flatnonzero(~((w >= 0) & (w < np.inf)))[0]) % self.graph.n_edges
            raise GraphError(
                f"{name} must have finite numbers, 0 or more, not {w.ravel()[edge]:g} as for edge {edge}: "
                f"{self.graph.edge_labels(edge)}"
            )
        return w

    def terms(self, w: FloatArray) -> Terms:
        """Value of every part of J_β at the selection w, shape (M,), entries ≥ 0.

        Raises
        ------
        GraphError
            For a selection without edges.
        """
        w = self._checked("w", w)
        if self.is_stochastic:
            return self.estimated(w)[0]
        return self._terms(w, *self.entropies.values(w))

    def terms_and_gradient(self, w: FloatArray) -> tuple[Terms, FloatArray]:
        """The parts of J_β and its gradient at the selection w.

        The slope of an edge that would join two components of the kept graph is infinite; the gradient
        given for it is that of a floor under the eigenvalues, large and finite.
        """
        w = self._checked("w", w)
        factors = coefficients(self.beta)[:2]
        if self.is_stochastic:
            found = self.estimated(w)[0]
            kept, mixed = found.entropy, found.divergence + 0.5 * (found.entropy + self.original_entropy)
            slope = self.entropies.slope_by_probes(w, (kept, mixed), *factors)
        else:
            kept, mixed, slope = self.entropies.combination(w, *factors)
            found = self._terms(w, kept, mixed)
        if self.alpha:
            slope += self.barrier.gradient(w)
        return found, slope

    def _terms(self, w: FloatArray, kept: float, mixed: float) -> Terms:
        divergence = divergence_between(mixed, kept, self.original_entropy)
        if abs(divergence) < self.entropies.rounding or -_LARGE_ROUNDING < divergence < 0:
            divergence = 0.0
        return Terms.of(self.beta, kept, divergence, self.barrier.at(w))

    def value(self, w: FloatArray) -> float:
        """J_β at the selection w."""
        return self.terms(w).objective

    def values(self, selections: FloatArray) -> FloatArray:
        """J_β at several selections, shapes (B, M) to (B,)."""
        found = self.entropies.several_values(self._checked("selections", selections, several=True))
        return np.array([self._terms(w, *pair).objective for w, pair in zip(selections, found, strict=True)])

    def gradient(self, w: FloatArray) -> FloatArray:
        """∂J/∂w at the selection w, shape (M,), in nats."""
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """J_β and its gradient at the selection w, as :meth:`terms_and_gradient`."""
        terms, gradient = self.terms_and_gradient(w)
        return terms.objective, gradient

    def divergence_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """D(σ̃‖ρ̃) and its gradient at the selection w."""
        kept, mixed, slope = self.entropies.combination(self._checked("w", w), -0.5, 1.0)
        return divergence_between(mixed, kept, self.original_entropy), slope

    def gradients(self, selections: FloatArray) -> tuple[FloatArray, FloatArray]:
        """J_β and its gradient at several selections, shapes (B, M) to (B,) and (B, M)."""
        selections = self._checked("selections", selections, several=True)
        found = self.entropies.combinations(selections, *coefficients(self.beta)[:2])
        values = [self._terms(w, kept, mixed).objective for w, (kept, mixed, _) in zip(selections, found, strict=True)]
        slopes = [slope for _, _, slope in found]
        if self.alpha:
            slopes = [slope + self.barrier.gradient(w) for w, slope in zip(selections, slopes, strict=True)]
        return np.array(values), np.array(slopes)


def renumbered(objective: Objective, graph: Graph, node: IntArray) -> Objective:
    """The same, of a large graph, where nodes and edges stand in another order; `node` was the number of each node."""
    other = replace(objective, graph=graph)
    assert isinstance(objective.entropies, LargeEntropies)
    object.__setattr__(other, "entropies", objective.entropies.renumbered(graph, other.weights, node))
    object.__setattr__(other, "original_entropy", objective.original_entropy)
    return other
