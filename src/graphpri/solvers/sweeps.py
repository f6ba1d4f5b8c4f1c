"""The solver for large graphs: sweeps over the edges for the degree and the local entropy, O(M) each.

Where the trace is held, J is a sum of potentials of the degrees (see :mod:`graphpri.solvers.sweep_loops`), and
what one more edge costs is known from its two ends. A sweep keeps each edge that costs less than a common price,
one after the other, and the price is what makes the number of edges come out right. What single flips can't
improve, swaps of two edges at one node can. docs/scale.md says how far that leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.budget import best_forest_by
from graphpri.bulk import EdgeSums, Side
from graphpri.graph import BoolArray, FloatArray, id_dtype
from graphpri.memory import require
from graphpri.objective import Objective
from graphpri.solvers.search import ENTROPY_RULES, Constraints, tolerance
from graphpri.solvers.solution import Monitor
from graphpri.threads import in_chunks

if TYPE_CHECKING:
    from graphpri.solvers.sweep_loops import Coefficients, Extra, Nodes, State

SETTLED = "converged: no sweep over the edges improves J"
SWEPT = "good: J still fell when the sweeps of this effort were done; effort='best' goes on"

_SAMPLE = 50_000
_PIECES = 256  # a power of two
_SIZES = 0.8  # ratio of one size to the next where the size is free
_ROUNDS = 40
_ATTEMPTS = 12
_PATIENCE = 3  # sizes without a better J after which smaller ones are not looked at
_EXACT_GAIN = 1e-13
_BYTES_AN_EDGE, _BYTES_A_NODE = 30, 150  # beside the graph itself


class Sweeps:
    """A subset of the edges of a large graph, and the moves that improve it.

    Parameters
    ----------
    objective : Objective
        Of the degree or the local entropy, large enough to have `sums`.
    constraints : Constraints
    fixed_size : bool
        Whether the number of edges is given.

    Attributes
    ----------
    state : ndarray of uint8, shape (M,)
        1 for kept edges, plus 2 for those that must stay as they are.
    value : float
        J at the last :meth:`refresh`.
    extra : ndarray of float32, shape (M,), or None
        What keeping each edge costs besides: see :meth:`correct`.
    """

    def __init__(self, objective: Objective, constraints: Constraints, fixed_size: bool) -> None:
        assert objective.sums is not None
        self.objective, self.graph, self.constraints = objective, objective.graph, constraints
        self.sums: EdgeSums = objective.sums
        n, m = self.graph.n_nodes, self.graph.n_edges
        needed = _BYTES_AN_EDGE * m + _BYTES_A_NODE * n
        require(needed, f"the search on {m} edges and {n} nodes", "free memory, or sparsify a part of the graph")
        self.local = objective.entropy == "local"
        self.equal = self.sums.equal
        self.moves_trace = not (fixed_size and self.equal)
        self.value = np.nan
        self._trace = np.nan  # of the subset that moves are set up for
        kind = cast("Any", np.float32 if self.equal else np.float64)
        self.state: State = np.zeros(self.graph.n_edges, np.uint8)
        self._fixed = np.zeros(self.graph.n_edges, np.uint8)
        for mask, code in ((constraints.protect, 3), (constraints.forbid, 2)):
            if mask is not None:
                self._fixed[mask] = code
        self._near: Nodes = np.zeros((n, 2), kind)
        self._nodes: Nodes = np.zeros((n, 2), kind)
        self._bend: Nodes | None = np.zeros((n, 3), kind) if self.local else None
        self._c: Coefficients = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self._fresh = np.ones(n, np.uint8)
        self.extra: NDArray[np.float32] | None = None

    @property
    def mask(self) -> BoolArray:
        """Kept edges, shape (M,)."""
        return self._kept.view(np.bool_)

    @property
    def _kept(self) -> State:
        return np.bitwise_and(self.state, np.uint8(1))

    @property
    def size(self) -> int:
        """Number of kept edges."""
        return int(np.count_nonzero(self._kept))

    def set_to(self, mask: BoolArray) -> None:
        """Go to a subset that the constraints allow."""
        self.state = mask.astype(np.uint8)
        self.state[self._fixed > 0] = self._fixed[self._fixed > 0]
        self._fresh[:] = 1
        self._trace = np.nan
        self.refresh()

    def allowed(self) -> BoolArray:
        """All edges but those that must go."""
        return self._fixed != 2

    def spread_out(self, k: int) -> None:
        """Go to `k` edges evenly over their order, around those that must stay."""
        from graphpri.solvers import sweep_loops

        self.state = self._fixed.copy()
        if self.constraints.connected:
            # Prices for the first forest: as if every edge kept its share of the budget.
            share = np.full(self.graph.n_edges, k / self.graph.n_edges)
            self._set_up(*self.objective.sides(share, pull=True))
            self._hold_forest(self.prices())
        loose = self.state <= 1
        among, held = int(np.count_nonzero(loose)), int(np.count_nonzero(self.state == 3))
        sweep_loops.spread(self.state, min(max(k - held, 0), among), among)
        self._fresh[:] = 1
        self._trace = np.nan
        self.refresh()

    def refresh(self) -> float:
        """Compute J at the subset, with what is `extra`, and set up for moves from there."""
        if self.equal and not self.local and self._trace == 2 * self.size:
            kept, mixed = self._sides_now()
        else:
            kept, mixed = self.objective.sides(self._kept, pull=True)
            self._set_up(kept, mixed)
        o, (t, m) = self.objective, self.objective.traces(kept)
        j = (1 - o.beta) * kept.entropy(t) + 2 * o.beta * mixed.entropy(m)
        barrier = 0.0
        if o.alpha:
            degrees = np.where(o.original_degrees > 0, kept.degrees * self._unit, 1.0)
            barrier = -o.alpha * float(np.log(np.maximum(degrees, self._floor)).sum())
        self.value = j - o.beta * o.original_entropy + barrier
        if self.extra is not None:
            self.value += float(self.extra[self.mask].sum(dtype=np.float64))
        return self.value

    @cached_property
    def _unit(self) -> float:
        """The graph's largest weight, which weighs 1 in computations."""
        return float(self.graph.weights.max())

    @cached_property
    def _floor(self) -> float:
        return self.objective.barrier_floor()

    @cached_property
    def _mean_weights(self) -> FloatArray:
        """Mean weight of the edges at each node."""
        return np.asarray(self.objective.original_degrees / np.maximum(self.graph.degrees(), 1))

    def _sides_now(self) -> tuple[Side, Side]:
        """Both sides where the degrees are known and nothing has changed that moves are set up with."""
        degrees, original = self._nodes[:, 0].astype(np.float64), self.objective.original_degrees
        zeros, kappa = np.empty(0, np.uint8), (self._c[5] - 1) / 2
        kept = self.sums.side(zeros, 0.0, degrees, local=False)
        return kept, self.sums.side(zeros, kappa, degrees + kappa * original, local=False)

    def _set_up(self, kept: Side, mixed: Side) -> None:
        from graphpri.solvers import sweep_loops

        o, (t, m) = self.objective, self.objective.traces(kept)
        self._trace = t
        slope = self._trace_slope(kept, mixed, t, m) if self.moves_trace else 0.0
        floor = self._floor / self._unit if o.alpha else 1.0
        self._c = ((1 - o.beta) / t, 2 * o.beta / m, o.alpha, floor, slope, 1 + 2 * mixed.kappa)
        self._nodes[:, 0] = kept.degrees
        self._nodes[:, 1] = mixed.degrees - kept.degrees
        if self._bend is not None:
            self._bend[:, 0] = kept.pull * np.maximum(kept.degrees, self._mean_weights)
            self._bend[:, 1] = mixed.pull * mixed.degrees
            self._bend[:, 2] = self._mean_weights
        if self.equal:
            in_chunks(lambda a, b: sweep_loops.look_around(a, b, *self._model), self.graph.n_nodes)

    @property
    def _model(self) -> tuple[Nodes, Nodes, Nodes | None, Coefficients]:
        return self._near, self._nodes, self._bend, self._c

    @property
    def _edges(self) -> tuple[Any, Any, Any, Extra, State]:
        return *self.sums.ends, self.extra, self.state

    def _trace_slope(self, kept: Side, mixed: Side, t: float, m: float) -> float:
        """Derivative of J in the trace, the matrix of the kept graph held."""
        beta = self.objective.beta
        slope = (1 - beta) * (1 - kept.f / t) / t
        if self.objective.mixture == "listing":
            return slope + 2 * beta * (1 - mixed.f / m) / m
        original = self.objective.original_degrees
        logs = np.where(mixed.degrees > 0, mixed.logs + 1, 0.0)
        along = -float((logs + mixed.pull if self.local else logs) @ original) - mixed.along
        return slope + 2 * beta * (1 / t + (along / float(original.sum()) - mixed.f / t) / m)

    def cut_short(self, k: int) -> tuple[BoolArray, float]:
        """A subset of `k` edges that the constraints allow, and J there, where there was no time for a better one."""
        self.spread_out(k)
        if self.size != k:
            self.resize(k)
        return self.mask.copy(), self.refresh()

    # Moves.

    def sweep(self, price: float) -> None:
        """Keep exactly the edges that cost less than `price`, one after the other.

        Pieces of the list of edges take their turns in bit-reversed order: in the order of the list, the edges
        of the first nodes would all be settled against neighbours that have not moved yet.
        """
        from graphpri.solvers import sweep_loops

        m = self.graph.n_edges
        for turn in range(_PIECES):
            piece = int(f"{turn:0{_PIECES.bit_length() - 1}b}"[::-1], 2)
            ends = m * piece // _PIECES, m * (piece + 1) // _PIECES
            sweep_loops.sweep(*ends, *self._edges, *self._model, price)

    def prices(self, stride: int = 1) -> NDArray[np.float32]:
        """What keeping each stride-th edge costs, J without it held against J with it."""
        from graphpri.solvers import sweep_loops

        out = np.empty(-(-self.graph.n_edges // stride), np.float32)
        in_chunks(
            lambda a, b: sweep_loops.prices(a, b, stride, *self._edges, *self._model, out),
            out.size,
        )
        return out

    def correct(self, mask: BoolArray, prices: FloatArray, inertia: float) -> None:
        """Go to a subset, take the prices of another entropy there for right, and this one's for how they change.

        A flip counts only where it gains more than `inertia` besides.
        """
        self.extra = None
        self.set_to(mask)
        difference = prices - self.prices() + np.where(mask, -inertia, inertia)
        self.extra = np.where(np.isfinite(difference), difference, 0.0).astype(np.float32)
        self.refresh()
        self.hold()

    @property
    def _stride(self) -> int:
        return max(1, self.graph.n_edges // _SAMPLE)

    def market_price(self, k: int) -> float:
        """The price below which `k` edges lie, from a sample."""
        sample = self.prices(self._stride)
        place = min(int(k / self.graph.n_edges * sample.size), sample.size - 1)
        price = float(np.partition(sample, place)[place])
        finite = sample[np.isfinite(sample)]
        return price if np.isfinite(price) else float(finite.max(initial=0.0) if price > 0 else finite.min(initial=0.0))

    def resize(self, k: int) -> None:
        """Add the cheapest edges, or drop the dearest, until there are `k`; each sees the changes before it."""
        need = k - self.size
        for _ in range(_ATTEMPTS):
            if need == 0:
                return
            done = self._take(*self._candidates(need), abs(need))
            need -= done if need > 0 else -done
        flips = np.flatnonzero(self.state == (need < 0))
        self._take(flips, np.inf, abs(need))

    def _candidates(self, need: int) -> tuple[NDArray[np.int64], float]:
        """Edges whose flip brings the size nearer to the goal, best first, and the change of J of the last."""
        from graphpri.solvers import sweep_loops

        kept = need < 0
        sample = self.prices(self._stride)
        sample = (-sample if kept else sample)[self.state[:: self._stride] == kept]
        few = int(2.5 * abs(need) / self._stride) + 8
        limit = float(np.partition(sample, few)[few]) if few < sample.size else np.inf
        limit += 1e-6 * abs(limit)  # the sample is rounded
        room = min(4 * abs(need) + 64 * self._stride, self.graph.n_edges)
        edges, changes = np.empty(room, np.int64), np.empty(room)
        found = sweep_loops.collect(*self._edges, *self._model, int(kept), limit, edges, changes)
        return edges[:found][np.argsort(changes[:found], kind="stable")], limit

    def _take(self, edges: NDArray[np.int64], limit: float, most: int) -> int:
        from graphpri.solvers import sweep_loops

        return sweep_loops.take(edges, *self._edges, *self._model, limit, most)

    def rotate(self) -> int:
        """Swap two edges at one node, over all nodes at which something changed; returns how many were swapped."""
        from graphpri.solvers import sweep_loops

        gain = _EXACT_GAIN * max(1.0, abs(self.value))
        return sweep_loops.rotate(*self._arcs, *self._edges[2:], *self._model, gain, self._fresh)

    @cached_property
    def _arcs(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """First place of each node in the two lists that follow, then edges and other ends node by node."""
        from graphpri.solvers import sweep_loops

        first = np.zeros(self.graph.n_nodes + 1, np.int64)
        np.cumsum(self.graph.degrees(), out=first[1:])
        edge = np.empty(2 * self.graph.n_edges, id_dtype(self.graph.n_edges))
        other = np.empty(2 * self.graph.n_edges, self.graph.source.dtype)
        sweep_loops.arcs(*self.sums.ends[:2], first[:-1].copy(), edge, other)
        return first, edge, other

    def hold(self) -> None:
        """Fix a spanning forest of the kept edges, those cheapest to keep, where components must not fall apart."""
        if self.constraints.connected:
            self.state = np.where(self._fixed > 0, self._fixed, self._kept)
            prices = self.prices()
            prices[self._kept == 0] = np.inf
            self._hold_forest(prices)

    def _hold_forest(self, prices: NDArray[np.float32]) -> None:
        scores = -prices.astype(np.float64)
        self.state[best_forest_by(self.graph, scores, np.arange(scores.size))] = 3


@dataclass(frozen=True, eq=False)
class Run:
    """One search by sweeps: the subset, who watches, and how long to go on.

    Parameters
    ----------
    sweeps : Sweeps
    monitor : Monitor
    visits : float
        Edges to look at in rounds of sweep, exact size and swaps; at least two rounds are made.
    thorough : bool
        Whether to start from several subsets whatever the size of the graph.
    """

    sweeps: Sweeps
    monitor: Monitor
    visits: float
    thorough: bool = False

    @property
    def rounds(self) -> int:
        """Most rounds for one start."""
        return int(np.clip(self.visits / self.sweeps.state.size, 2, _ROUNDS))

    def of_size(self, k: int, start: BoolArray | None) -> str:
        """Search among the subsets of `k` edges; returns the status."""
        if start is not None:
            self._go_to(start)
            self._resize(k)
            return self.settle(k)
        status, concave = SETTLED, self.sweeps.objective.beta < ENTROPY_RULES
        both = self.thorough or 4 * self.sweeps.state.size <= self.visits
        for shrunk in (True, False) if both else (concave,):
            if shrunk:
                self._go_to(self.sweeps.allowed())
                for _ in self._shrunk(k):
                    pass
            else:
                self.sweeps.spread_out(k)
            status = self.settle(k)
        return status

    def of_any_size(self, least: int, start: BoolArray | None) -> str:
        """Search among all sizes from `least` on; returns the status."""
        s = self.sweeps
        if start is None:
            # Dense graphs have a valley at the smallest size that no path from all edges leads to.
            s.spread_out(least)
            self.settle(least)
            self.settle(None, least)
        self._go_to(s.allowed() if start is None else start)
        self.monitor.offer(s.mask, s.value)
        if start is None:
            self._shrink_while_better(least)
        self._search_near(least, s.size)
        return self.settle(None, least)

    def _go_to(self, mask: BoolArray) -> None:
        self.sweeps.set_to(mask)
        self.sweeps.hold()

    def _resize(self, k: int) -> float:
        """Change the size by the cheapest edges, and improve the subset of that size once."""
        s = self.sweeps
        s.resize(k)
        s.refresh()
        s.sweep(s.market_price(k))
        s.resize(k)
        return s.refresh()

    def _shrunk(self, k: int) -> Iterator[float]:
        """Go through smaller and smaller sizes to `k` edges; yields J at each."""
        s, step = self.sweeps, 0
        while s.size > k:
            size, step = max(k, int(_SIZES * s.size)), step + 1
            found = self._resize(size)
            self.monitor.step("shrink", step, size, found, 1 - size / s.state.size)
            yield found
            s.hold()

    def _shrink_while_better(self, least: int) -> None:
        """Go through smaller and smaller sizes while that pays, and stay at the best."""
        s, worse = self.sweeps, 0
        best, value = s.mask.copy(), s.value
        for found in self._shrunk(least):
            worse += 1
            if found < value:
                best, value, worse = s.mask.copy(), found, 0
                self.monitor.offer(best, value)
            if worse == _PATIENCE:
                break
        self._go_to(best)

    def _search_near(self, least: int, size: int) -> None:
        """Try sizes on both sides of the best, nearer and nearer."""
        s, share = self.sweeps, 1 - _SIZES
        best, value = s.mask.copy(), s.value
        most = int(np.count_nonzero(s.allowed()))
        while share > 0.01:
            share /= 2
            for k in (int(size * (1 - share)), int(size * (1 + share))):
                k = min(max(k, least), most)
                found = self._resize(k)
                self.monitor.step("size", 1, k, found, 1 - share)
                if found < value - tolerance(value):
                    best, value, size = s.mask.copy(), found, k
                    self.monitor.offer(best, value)
                    break
                self._go_to(best)

    def settle(self, k: int | None, least: int = 1) -> str:
        """Improve the subset at hand, of `k` edges or of any size from `least` on; returns the status."""
        s = self.sweeps
        value = np.inf
        for step in range(1, self.rounds + 1):
            s.sweep(0.0 if k is None else s.market_price(k))
            if k is not None or s.size < least:
                s.resize(least if k is None else k)
            s.rotate()
            s.refresh()
            self.monitor.step("sweep", step, s.size, s.value, step / self.rounds)
            if s.value >= value - tolerance(value):
                return SETTLED
            value = s.value
            self.monitor.offer(s.mask, value)
            if step < self.rounds:
                s.hold()
        return SWEPT
