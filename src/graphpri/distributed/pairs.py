"""What a task of the search has before it: the edges of a pair of blocks and their nodes, for the compiled loops.

There are three kinds. By the degree entropy, where all edges weigh 1, a node is its place in the table of its block,
see :class:`graphpri.solvers.sweeps.PotentialTable`; by the local entropy a row of four numbers. Both go from pair to
pair in the order of the tournament. Where edges weigh differently, the trace of the kept graph moves with every flip,
and what depends on it is computed anew between two rounds of the tournament, where no task runs: nodes then are files,
which each pair writes for the round to come. Which edges are kept stays in a file of each pair, a bit an edge, a new
one for every pass, so that a task can be run again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import LIGHTEST, read_only
from graphpri._objective import barrier_floor, coefficients, mixture_scale
from graphpri.distributed.choices import Criterion
from graphpri.distributed.ingest import Pair, pair_name
from graphpri.distributed.store import Store
from graphpri.graph import FloatArray
from graphpri.solvers import sweeps
from graphpri.solvers.sweeps import Coefficients

Nodes = NDArray[Any]
"""The nodes of a block: int32 of shape (n,), places in a table; float32 of shape (n, 4), see
:mod:`graphpri.solvers.sweeps`; or, with weights, float64: degrees, both pulls for the local entropy, and debts half-way
through swaps, see :mod:`graphpri.distributed.swaps`."""

PairEdges = tuple[Any, Any, Any, None, Any]
"""Ends of the edges of a pair, their weights, what each costs besides, and their state."""

Model = tuple[Any, Any, Any, Coefficients]
"""What is known of nodes, see :mod:`graphpri.solvers.sweeps`."""


class Setting(NamedTuple):
    """What is minimised: J_β of subsets of K of the M edges, with the barrier α, by the degree or local entropy.

    `least` and `most` are the range of the weights. `trace` is that of the kept graph and `total` that of the graph,
    where the largest weight is 1.
    """

    beta: float
    alpha: float
    k: int
    edges: int
    local: bool
    weighted: bool
    least: float
    most: float
    trace: float
    total: float

    @property
    def traces(self) -> tuple[float, float, float]:
        """Of the kept graph and of the mixture, and κ."""
        kappa, mixed = mixture_scale("equation", self.trace, self.total)
        return self.trace, mixed, kappa

    @property
    def floor(self) -> float:
        """Smallest degree inside the barrier's logarithm, as in :class:`graphpri._objective.Barrier`."""
        return barrier_floor(self.least)

    def c(self, slope: float = 0.0, beyond: tuple[float, float, float] = (np.inf, 0.0, 0.0)) -> Coefficients:
        """What the compiled loops take: at a trace that is held, or with its slope and what is beyond that."""
        kept, mixed, kappa = self.traces
        of_kept, of_mixed, _ = coefficients(self.beta)
        floor = self.floor / self.most if self.alpha else 1.0
        factors = of_kept / kept, of_mixed / mixed
        return *factors, self.alpha, floor, slope, 1 + 2 * kappa, *beyond, float(self.local)


class Pass(NamedTuple):
    """A pass over all pairs: what it goes on from, and how it names what it writes.

    Attributes
    ----------
    setting : Setting
    states, nodes : str or None
        Names of what came before; None where nothing is kept.
    name : str
        Of what is written.
    to_nodes : str, optional
        Name of the nodes half-way, where these are files.
    numbers : tuple of float
        Of the move.
    c : tuple of float, optional
        What moves take, where the trace moves.
    bend : str, optional
        Name of the pulls, where these are held.
    choice : Criterion, optional
        Which edges are kept.
    """

    setting: Setting
    states: str | None
    nodes: str | None
    name: str = ""
    to_nodes: str = ""
    numbers: tuple[float, ...] = ()
    c: Coefficients | None = None
    bend: str | None = None
    choice: Criterion | None = None


class Played(NamedTuple):
    """How many edges a pair keeps, what its move has changed, as `drift` in :mod:`graphpri.solvers.sweeps`, and where.

    `place` is the edge at which a sweep ended, or how many there are.
    """

    kept: int
    drift: list[float]
    place: int
    edges: int


# Nodes and weights.


def degrees_in(store: Store, block: int, setting: Setting) -> FloatArray:
    """Degrees of a block's nodes in the graph, where its largest weight is 1."""
    _, count, strength = store.load(f"blocks/{block}")
    return strength / setting.most if setting.weighted else count.astype(np.float64)


def mean_weights(store: Store, block: int, setting: Setting) -> FloatArray:
    """Mean weight of the edges of a block's nodes."""
    _, count, strength = store.load(f"blocks/{block}")
    return strength / (setting.most * np.maximum(count, 1)) if setting.weighted else np.ones(count.size)


def first_nodes(store: Store, block: int, how: Pass) -> Nodes:
    """The nodes of a block where nothing is kept."""
    if not (how.setting.local or how.setting.weighted):
        return store.load(f"tables/{block}")[1]
    n = store.load(f"blocks/{block}")[0].size
    if how.setting.weighted:
        return np.zeros((n, 3 if how.setting.local else 1))
    return np.zeros((n, 4), np.float32)


def load_nodes(store: Store, block: int, how: Pass) -> Nodes:
    """The nodes of a block as a pass finds them."""
    if how.nodes is None:
        return first_nodes(store, block, how)
    return store.load(f"nodes/{block}.{how.nodes}")[0]


def kept_degrees(store: Store, block: int, how: Pass, nodes: Nodes | None = None) -> FloatArray:
    """Degrees of a block's nodes in the kept graph, as a pass finds them if `nodes` aren't given."""
    nodes = load_nodes(store, block, how) if nodes is None else nodes
    found = nodes[:, sweeps.DEGREE] if nodes.ndim > 1 else nodes - first_nodes(store, block, how)
    return found.astype(np.float64)


def logs_of(x: FloatArray) -> FloatArray:
    """Logarithms, 0 where there is no edge."""
    return np.log(np.where(x > 0, x, 1.0))


def scaled_weights(weights: list[FloatArray], setting: Setting) -> FloatArray | None:
    """Weights of edges, the largest 1; None where there are none."""
    return read_only(np.maximum(weights[0] / setting.most, np.finfo(np.float64).tiny)) if weights else None


# Pairs.


class Loaded:
    """The edges of a pair of blocks, which of them are kept, and both blocks' nodes."""

    def __init__(self, store: Store, pair: Pair, how: Pass, *nodes: Nodes) -> None:
        self.store, self.pair, self.how = store, pair, how
        self.blocks = list(dict.fromkeys(pair))
        u, v, *w = store.load(f"edges/{pair_name(pair)}")
        self.ends, self.mu = (read_only(u), read_only(v)), scaled_weights(w, how.setting)
        self.state, self.drift = state_of(store, pair, how.states, u.size), np.array([0.0, 0.0, 0.0, np.inf])
        nodes = nodes or tuple(load_nodes(store, block, how) for block in self.blocks)
        self.cut = len(nodes[0])  # where the nodes of the second block begin
        self.debt: NDArray[Any] = np.empty((0, 2))
        self.has_debts = False  # half-way through swaps
        self.place = u.size  # where a sweep ended
        self.model = self._model(list(nodes))

    def _model(self, nodes: list[Nodes]) -> Model:
        raise NotImplementedError

    def _nodes(self) -> tuple[Nodes, ...]:
        raise NotImplementedError

    @property
    def edges(self) -> PairEdges:
        """Ends, weights, what each costs besides, and state."""
        return *self.ends, self.mu, None, self.state

    def begun(self) -> Any:
        """Count what is kept at the nodes, where nothing was kept before, and be done."""
        degrees, kept = self.model[1][:, sweeps.DEGREE], self.state > 0
        for end in self.ends:
            found = np.bincount(end[kept], None if self.mu is None else self.mu[kept], degrees.size)
            degrees += found.astype(degrees.dtype)
        return self.done()

    def done(self) -> Any:
        """Write what is kept, and give the nodes back.

        What was cut short goes by the name of its nodes: a task that is run again must find what it began with.
        """
        name = self.how.name if self.place == self.state.size else self.how.to_nodes
        self.store.write(f"states/{pair_name(self.pair)}.{name}", np.packbits(self.state).tobytes())
        return self._nodes()


class _InTable(Loaded):
    """By the degree entropy, where all edges weigh 1."""

    def _model(self, nodes: list[Nodes]) -> Model:
        rises = [self.store.load(f"tables/{block}")[0] for block in self.blocks]
        self.shift = np.cumsum([0, *map(len, rises)]).astype(np.int32)  # where each block's table begins
        rows = np.concatenate([some + at for some, at in zip(nodes, self.shift, strict=False)])
        return np.concatenate(rises), rows[:, None], np.empty((0, 4), np.float32), self.how.setting.c()

    def _nodes(self) -> tuple[Nodes, ...]:
        rows = np.split(self.model[1][:, 0], [self.cut])
        return tuple(some - at for some, at, _ in zip(rows, self.shift, self.blocks, strict=False))


class _InRows(Loaded):
    """By the local entropy, where all edges weigh 1: pulls are held."""

    def _model(self, nodes: list[Nodes]) -> Model:
        rows = np.concatenate(nodes)
        bend = np.tile(np.array([0, 0, 1, 0], np.float32), (len(rows), 1))
        if self.how.bend is not None:
            held = [self.store.load(f"bends/{block}.{self.how.bend}")[0] for block in self.blocks]
            bend[:, : sweeps.LEAST] = np.concatenate(held)
        return None, rows, bend, self.how.setting.c()

    def _nodes(self) -> tuple[Nodes, ...]:
        return tuple(some.copy() for some in np.split(self.model[1], [self.cut])[: len(self.blocks)])


class _Weighted(Loaded):
    """Where edges weigh differently."""

    def _model(self, nodes: list[Nodes]) -> Model:
        setting = self.how.setting
        found, width = np.concatenate(nodes), 3 if setting.local else 1
        self.debt = found[:, width:].copy() if found.shape[1] > width else np.zeros((len(found), 2))
        d, rows = found[:, 0], np.empty((len(found), 4))
        rows[:, sweeps.DEGREE] = d
        bend = np.zeros((len(rows) if setting.local else 0, 4))
        if self.how.c is None:  # nothing is moved
            return None, rows, bend, setting.c()
        original = np.concatenate([degrees_in(self.store, block, setting) for block in self.blocks])
        rows[:, sweeps.ADDED] = added = setting.traces[2] * original
        rows[:, sweeps.LOG], rows[:, sweeps.LOG_MIXED] = logs_of(d), logs_of(d + added)
        if setting.local:
            mean = np.concatenate([mean_weights(self.store, block, setting) for block in self.blocks])
            bend[:, : sweeps.LEAST] = found[:, 1:width]
            bend[:, sweeps.LEAST], bend[:, sweeps.FLOOR] = mean, np.log(np.maximum(mean, LIGHTEST))
        return None, rows, bend, self.how.c

    def _nodes(self) -> tuple[Nodes, ...]:
        columns = [self.model[1][:, [sweeps.DEGREE]]]
        columns += [self.model[2][:, : sweeps.LEAST]] if self.how.setting.local else []
        columns += [self.debt] if self.has_debts else []
        return tuple(np.split(np.hstack(columns), [self.cut])[: len(self.blocks)])

    def done(self) -> Played:
        for block, nodes in zip(self.blocks, super().done(), strict=True):
            self.store.save(f"nodes/{block}.{self.how.to_nodes}", nodes)
        return Played(int(np.count_nonzero(self.state)), self.drift[:3].tolist(), self.place, self.state.size)


def loaded(store: Store, pair: Pair, how: Pass, *nodes: Nodes) -> Loaded:
    """A pair of blocks, for the compiled loops; its nodes are those that are handed on, or as the pass finds them."""
    if how.setting.weighted:
        return _Weighted(store, pair, how, *nodes)
    return (_InRows if how.setting.local else _InTable)(store, pair, how, *nodes)


def state_of(store: Store, pair: Pair, name: str | None, size: int) -> NDArray[np.uint8]:
    """Which of the edges of a pair are kept after a pass; none where there was none."""
    if name is None:
        return np.zeros(size, np.uint8)
    bits = store.read(f"states/{pair_name(pair)}.{name}", 0, -(-size // 8))
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=size)
