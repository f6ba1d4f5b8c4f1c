"""The search where edges weigh differently: the moves of :mod:`graphpri.solvers.sweeps` for weights, pair by pair.

The trace of the kept graph moves with every flip, and what depends on it is computed anew once it has moved by a
tenth: between two rounds of the tournament, where no task runs. So nodes' degrees are files here, written by each
pair for the round to come, and are not handed on from task to task.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import LIGHTEST, read_only
from graphpri._objective import barrier_floor, coefficients, mixture_scale
from graphpri.distributed import moves
from graphpri.distributed.choices import Choice, chosen
from graphpri.distributed.ingest import Pair, pair_name
from graphpri.distributed.moves import Model, PairEdges, Sums, plain_f
from graphpri.distributed.store import Store
from graphpri.solvers import sweeps
from graphpri.solvers.sweeps import Coefficients, TraceSums

Degrees = NDArray[np.float64]


class Weighted(NamedTuple):
    """What is minimised, J_β of subsets of K of the M edges with the barrier α, and the range of the weights.

    `total` is the sum of the nodes' strengths, where the largest weight is 1.
    """

    beta: float
    alpha: float
    k: int
    edges: int
    least: float
    most: float
    total: float

    @property
    def floor(self) -> float:
        """Smallest degree inside the barrier's logarithm, as in :class:`graphpri._objective.Barrier`."""
        return barrier_floor(self.least)

    def kappa(self, trace: float) -> float:
        """κ of the mixture."""
        return mixture_scale("equation", trace, self.total)[0]


class Play(NamedTuple):
    """What a task goes on from, and how it names what it writes.

    Attributes
    ----------
    setting : Weighted
    states, nodes : str or None
        Names of what came before; None where nothing is kept.
    to_states, to_nodes : str
        Names of what is written.
    c : tuple of float, optional
        What moves take, see :mod:`graphpri.solvers.sweeps`.
    numbers : tuple of float
        Of the move.
    choice : Choice, optional
        Which edges :func:`draw` keeps.
    """

    setting: Weighted
    states: str | None
    nodes: str | None
    to_states: str = ""
    to_nodes: str = ""
    c: Coefficients | None = None
    numbers: tuple[float, ...] = ()
    choice: Choice | None = None


class Played(NamedTuple):
    """How many edges a pair keeps, and by how much its move has changed the trace."""

    kept: int
    drift: float


class _Pair:
    """The edges of a pair of blocks and their nodes, for the compiled loops."""

    def __init__(self, store: Store, pair: Pair, how: Play) -> None:
        self.store, self.pair, self.how = store, pair, how
        u, v, self.weights = store.load(f"edges/{pair_name(pair)}")
        self.mu = read_only(np.maximum(self.weights / how.setting.most, np.finfo(np.float64).tiny))
        self.state = np.zeros(u.size, np.uint8)
        if how.states is not None:
            bits = np.frombuffer(store.read(f"states/{pair_name(pair)}.{how.states}"), np.uint8)
            self.state = np.unpackbits(bits, count=u.size)
        self.ends = read_only(u), read_only(v)
        blocks = dict.fromkeys(pair)
        degrees = [degrees_of(store, block, how.nodes) for block in blocks]
        self.first = degrees[0].size
        self.nodes = np.empty((sum(map(len, degrees)), 4))
        self.nodes[:, sweeps.DEGREE] = d = np.concatenate(degrees)
        self.drift = np.array([0.0, 0.0, 0.0, np.inf])
        if how.c is not None:
            kappa = 0.5 * (how.c[5] - 1)
            self.nodes[:, sweeps.ADDED] = kappa * np.concatenate([strengths_of(store, b, how.setting) for b in blocks])
            self.nodes[:, sweeps.LOG] = logs_of(d)
            self.nodes[:, sweeps.LOG_MIXED] = logs_of(d + self.nodes[:, sweeps.ADDED])
            self.model: Model = None, self.nodes, np.empty((0, 4)), how.c

    @property
    def edges(self) -> PairEdges:
        """Ends, weights, what each costs besides, and state."""
        return *self.ends, self.mu, None, self.state

    def done(self) -> Played:
        """Write what is kept, and the degrees."""
        how = self.how
        self.store.write(f"states/{pair_name(self.pair)}.{how.to_states}", np.packbits(self.state).tobytes())
        degrees = self.nodes[:, sweeps.DEGREE]
        self.store.save(f"nodes/{self.pair[0]}.{how.to_nodes}", degrees[: self.first])
        if self.pair[0] != self.pair[1]:
            self.store.save(f"nodes/{self.pair[1]}.{how.to_nodes}", degrees[self.first :])
        return Played(int(np.count_nonzero(self.state)), float(self.drift[0]))

    def begun(self) -> Played:
        """Add what is kept to the degrees, and be done."""
        kept, degrees = self.state > 0, self.nodes[:, sweeps.DEGREE]
        for end in self.ends:
            degrees += np.bincount(end[kept], self.mu[kept], degrees.size)
        return self.done()


def degrees_of(store: Store, block: int, name: str | None) -> Degrees:
    """Degrees of a block's nodes in the kept graph."""
    if name is None:
        return np.zeros(store.load(f"blocks/{block}")[0].size)
    return store.load(f"nodes/{block}.{name}")[0]


def strengths_of(store: Store, block: int, setting: Weighted) -> Degrees:
    """Degrees of a block's nodes in the graph, where its largest weight is 1."""
    return store.load(f"blocks/{block}")[2] / setting.most


def logs_of(x: Degrees) -> Degrees:
    """Logarithms, 0 where there is no edge."""
    return np.log(np.where(x > 0, x, 1.0))


# Moves.


def keep_all(store: Store, pair: Pair, how: Play) -> Played:
    """Keep every edge."""
    p = _Pair(store, pair, how)
    p.state[:] = 1
    return p.begun()


def draw(store: Store, pair: Pair, how: Play) -> Played:
    """Keep the edges that are chosen."""
    p = _Pair(store, pair, how)
    assert how.choice is not None
    p.state[:] = chosen(store, pair, how.choice)
    return p.begun()


def recount(store: Store, pair: Pair, how: Play) -> Played:
    """Add up the degrees anew, without the roundings of many flips."""
    return _Pair(store, pair, how).begun()


def sweep(store: Store, pair: Pair, how: Play) -> Played:
    """Keep each edge exactly where that costs J less than the price, one after the other."""
    p = _Pair(store, pair, how)
    moves.swept(p, float(how.numbers[0]))
    return p.done()


def take(store: Store, pair: Pair, how: Play) -> Played:
    """Flip the edges up to a cut, see :func:`graphpri.distributed.moves.taken`."""
    p = _Pair(store, pair, how)
    moves.taken(p, how.numbers)
    return p.done()


def swap(store: Store, pair: Pair, how: Play) -> Played:
    """At each node swap two edges of the pair, see :func:`graphpri.distributed.moves.swapped`."""
    p = _Pair(store, pair, how)
    moves.swapped(p, how.numbers)
    return p.done()


# Looks at the edges between passes.


def sample(store: Store, pair: Pair, how: Play, stride: int) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """What keeping each stride-th edge costs, and whether it is kept."""
    p = _Pair(store, pair, how)
    return moves.sample_of(p.edges, p.model, p.state, stride)


def probe(store: Store, pair: Pair, how: Play, kept: int, low: float, high: float) -> tuple[int, NDArray[np.uint64]]:
    """How many flips cost less than `low`, and the ranks of those that cost up to `high`; writes all of them."""
    p = _Pair(store, pair, how)
    return moves.probe_of(store, pair, p.edges, p.model, kept, low, high)


def strength(store: Store, block: int, setting: Weighted) -> tuple[float, float]:
    """Sum of a block's degrees in the graph, where its largest weight is 1, and −Σ d ln d."""
    degrees = strengths_of(store, block, setting)
    return float(degrees.sum()), plain_f(degrees)


def trace(store: Store, block: int, name: str) -> float:
    """Sum of a block's degrees in the kept graph."""
    return float(degrees_of(store, block, name).sum())


def sums(store: Store, block: int, setting: Weighted, name: str, kappa: float) -> tuple[float, float, float, float]:
    """A block's part in F of the kept graph and of the mixture, its derivative in κ, and Σ a²/m."""
    degrees, original = degrees_of(store, block, name), strengths_of(store, block, setting)
    added = kappa * original
    mixed = degrees + added
    along = np.where(mixed > 0, logs_of(mixed) + 1, 0.0)
    bend = float((added * (added / np.maximum(mixed, LIGHTEST))).sum())
    return plain_f(degrees), plain_f(mixed), -float(along @ original), bend


def measure(store: Store, block: int, setting: Weighted, name: str, kappa: float) -> Sums:
    """The parts of J that belong to the nodes of a block."""
    degrees, original = degrees_of(store, block, name), strengths_of(store, block, setting)
    logs = 0.0
    if setting.alpha:  # in the graph's own unit
        logs = float(np.log(np.maximum(degrees * setting.most, setting.floor)).sum())
    return Sums(plain_f(degrees), plain_f(degrees + kappa * original), logs, int(np.count_nonzero(degrees == 0)))


def coefficients_of(setting: Weighted, s: TraceSums) -> Coefficients:
    """What moves take."""
    of_kept, of_mixed, _ = coefficients(setting.beta)
    floor = setting.floor / setting.most if setting.alpha else 1.0
    slope = sweeps.trace_slope(setting.beta, "equation", s)
    factors = of_kept / s.trace, of_mixed / s.mixed_trace
    return *factors, setting.alpha, floor, slope, 1 + 2 * s.kappa, *sweeps.beyond_slope(setting.beta, s), 0.0


def gathered(setting: Weighted, t: float, parts: list[tuple[float, float, float, float]]) -> TraceSums:
    """The sums over all blocks."""
    kappa, mixed_trace = mixture_scale("equation", t, setting.total)
    f, mixed_f, along, bend = (math.fsum(column) for column in zip(*parts, strict=True))
    return TraceSums(t, mixed_trace, kappa, f, mixed_f, along, bend, setting.total)


Move = Callable[[Store, Pair, Play], Played]
