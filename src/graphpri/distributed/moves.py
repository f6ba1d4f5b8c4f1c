"""Tasks of the search: each plays the edges of one pair of blocks by the compiled loops of the solver for large graphs.

The place of every node in its block's table, see :class:`graphpri.solvers.sweeps.Table`, goes from pair to pair in the
order of the tournament; which edges are kept stays in a file of each pair, a bit an edge, a new one for every pass, so
that a task can be run again.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import Side, read_only
from graphpri._objective import BARRIER_FLOOR, coefficients, mixture_scale
from graphpri._runtime import in_threads
from graphpri._selection import stable_order
from graphpri.distributed.choices import Choice, chosen
from graphpri.distributed.ingest import TEXTS, Pair, pair_name
from graphpri.distributed.keys import FINE, integers_of_keys
from graphpri.distributed.store import Store, find
from graphpri.solvers import sweeps
from graphpri.solvers.sweeps import Coefficients, Table
from graphpri.solvers.tournament import scrambled

Nodes = NDArray[Any]
"""The place of each node of a block in its table, int32; a row of four float32 each by the local entropy."""

Played = tuple[Nodes, ...]
"""The nodes of both blocks after a pair was played, or of the one block that was paired with itself."""

PairEdges = tuple[Any, Any, Any, None, Any]
"""Ends of the edges of a pair, their weights, what each costs besides, and their state."""

Model = tuple[Any, Any, Any, Coefficients]
"""What is known of nodes, see :mod:`graphpri.solvers.sweeps`."""

GAIN = 1e-13
"""Share of J by which a swap must lower it."""


class Setting(NamedTuple):
    """What is minimised: J_β of subsets of K of the M edges, with the barrier α, by the degree or local entropy."""

    beta: float
    alpha: float
    k: int
    edges: int
    local: bool = False

    @property
    def traces(self) -> tuple[float, float, float]:
        """Of the kept graph and of the mixture, and κ."""
        kappa, mixed = mixture_scale("equation", 2.0 * self.k, 2.0 * self.edges)
        return 2.0 * self.k, mixed, kappa

    @property
    def c(self) -> Coefficients:
        """What the compiled loops take, at the trace of K edges."""
        kept, mixed, kappa = self.traces
        of_kept, of_mixed, _ = coefficients(self.beta)
        floor = BARRIER_FLOOR if self.alpha else 1.0
        return (
            of_kept / kept,
            of_mixed / mixed,
            self.alpha,
            floor,
            0.0,
            1 + 2 * kappa,
            np.inf,
            0.0,
            0.0,
            float(self.local),
        )


def tabulate(store: Store, block: int, setting: Setting, name: str) -> float:
    """Write a block's table for a setting, and where each node begins in it; returns Σ d ln d over its nodes.

    Logarithms are taken here once: other processors could round them in another way.
    """
    degrees = store.load(f"blocks/{block}")[1]
    table = Table(degrees)
    with in_threads(1):
        table.fill(setting.traces[2], setting.c)
    store.save(f"tables/{block}.{name}", table.rises, table.first.astype(np.int32))
    return -plain_f(degrees.astype(np.float64))


def plain_f(degrees: NDArray[np.float64]) -> float:
    """−Σ d ln d."""
    return Side(0.0, degrees, np.log(np.where(degrees > 0, degrees, 1.0)), 0.0, 0.0, np.empty(0)).f


class _Pair:
    """The edges of a pair of blocks, which of them are kept, and both blocks' nodes, for the compiled loops."""

    def __init__(self, store: Store, pair: Pair, how: Pass, of: str | None, a: Nodes, b: Nodes | None) -> None:
        self.store, self.pair = store, pair
        u, v = store.load(f"edges/{pair_name(pair)}")[:2]
        self.ends = read_only(u), read_only(v)
        self.state = state_of(store, pair, of)
        self.at, self.shift = a.size, np.int32(0)
        self.model = self._model(how, a, b)
        self.drift = np.zeros(4)

    def _model(self, how: Pass, a: Nodes, b: Nodes | None) -> Model:
        rises = [self.store.load(f"tables/{block}.{how.table}")[0] for block in dict.fromkeys(self.pair)]
        near = np.concatenate(rises) if b is not None else rises[0].copy()
        self.shift = np.int32(0 if b is None else rises[0].size)
        nodes = a.copy() if b is None else np.concatenate([a, b + self.shift])
        return near, nodes[:, None], np.empty((0, 4), np.float32), how.setting.c

    @property
    def edges(self) -> PairEdges:
        """Ends, weights, what each costs besides, and state."""
        return *self.ends, None, None, self.state

    def begun(self, name: str) -> Played:
        """Count what is kept at the nodes, where nothing was kept before, and be done."""
        nodes, kept = self.model[1][:, 0], self.state > 0
        for end in self.ends:
            nodes += np.bincount(end[kept], minlength=nodes.size).astype(nodes.dtype)
        return self.done(name)

    def write(self, name: str) -> None:
        """Write what is kept."""
        self.store.write(f"states/{pair_name(self.pair)}.{name}", np.packbits(self.state).tobytes())

    def done(self, name: str) -> Played:
        """Write what is kept, and give the nodes back."""
        self.write(name)
        nodes = self.model[1][:, 0]
        return (nodes,) if self.pair[0] == self.pair[1] else (nodes[: self.at].copy(), nodes[self.at :] - self.shift)


class _LocalPair(_Pair):
    """The same by the local entropy."""

    def _model(self, how: Pass, a: Nodes, b: Nodes | None) -> Model:
        self.at = len(a)
        nodes = a.copy() if b is None else np.concatenate([a, b])
        bend = np.tile(np.array([0, 0, 1, 0], np.float32), (len(nodes), 1))
        if how.bend is not None:
            held = [self.store.load(f"bends/{block}.{how.bend}")[0] for block in dict.fromkeys(self.pair)]
            bend[:, : sweeps.LEAST] = np.concatenate(held)
        return None, nodes, bend, how.setting.c

    def done(self, name: str) -> Played:
        self.write(name)
        nodes = self.model[1]
        return (nodes,) if self.pair[0] == self.pair[1] else (nodes[: self.at].copy(), nodes[self.at :].copy())


def _loaded(store: Store, pair: Pair, how: Pass, of: str | None, a: Nodes, b: Nodes | None) -> _Pair:
    return (_LocalPair if how.setting.local else _Pair)(store, pair, how, of, a, b)


def state_of(store: Store, pair: Pair, name: str | None) -> NDArray[np.uint8]:
    """Which edges of a pair are kept after a pass; none where there was none."""
    size = store.load(f"edges/{pair_name(pair)}")[0].size
    if name is None:
        return np.zeros(size, np.uint8)
    return np.unpackbits(np.frombuffer(store.read(f"states/{pair_name(pair)}.{name}"), np.uint8), count=size)


def edge_hashes(pair: Pair, edges: NDArray[np.int64]) -> NDArray[np.uint32]:
    """A hash of each of some edges of a pair, 32 bits, which says who is first where prices are equal."""
    numbers = edges.astype(np.uint64)
    numbers += np.uint64(pair[0] * FINE + pair[1]) << np.uint64(40)
    return (scrambled(numbers) >> np.uint64(32)).astype(np.uint32)


class Pass(NamedTuple):
    """A pass over all pairs: the table to use, the pass whose state it goes on from, its own name, and its numbers.

    By the local entropy also the names of the pulls at nodes, and of the nodes where these were looked at anew.
    """

    setting: Setting
    table: str
    before: str | None
    name: str
    numbers: tuple[float, ...] = ()
    bend: str | None = None
    nodes: str | None = None


def spread(store: Store, pair: Pair, how: Pass, keep: int, a: Nodes, b: Nodes | None = None) -> Played:
    """Keep `keep` of the pair's edges, evenly over their order, and none of those before."""
    p = _loaded(store, pair, how, None, a, b)
    if p.state.size:
        sweeps.spread(p.state, keep, p.state.size)
    return p.begun(how.name)


def draw(store: Store, pair: Pair, how: Pass, choice: Choice, a: Nodes, b: Nodes | None = None) -> Played:
    """Keep the edges that are chosen, and none of those before."""
    p = _loaded(store, pair, how, None, a, b)
    p.state[:] = chosen(store, pair, choice)
    return p.begun(how.name)


def sweep(store: Store, pair: Pair, how: Pass, a: Nodes, b: Nodes | None = None) -> Played:
    """Keep each edge exactly where that costs J less than the price, one after the other."""
    p = _loaded(store, pair, how, how.before, a, b)
    swept(p, float(how.numbers[0]))
    return p.done(how.name)


def take(store: Store, pair: Pair, how: Pass, a: Nodes, b: Nodes | None = None) -> Played:
    """Flip the edges up to a cut, see :func:`taken`."""
    p = _loaded(store, pair, how, how.before, a, b)
    taken(p, how.numbers)
    return p.done(how.name)


def swap(store: Store, pair: Pair, how: Pass, a: Nodes, b: Nodes | None = None) -> Played:
    """At each node swap two edges of the pair, see :func:`swapped`."""
    p = _loaded(store, pair, how, how.before, a, b)
    swapped(p, how.numbers)
    return p.done(how.name)


class Loaded(Protocol):
    """A pair of blocks as the compiled loops take it: its edges with their state, and what is known of the nodes."""

    store: Store
    pair: Pair
    state: NDArray[np.uint8]
    drift: NDArray[np.float64]
    model: Model

    @property
    def edges(self) -> PairEdges:
        """Ends, weights, what each costs besides, and state."""
        ...


def swept(p: Loaded, price: float) -> None:
    """Sweep a pair at a price."""
    size = p.state.size
    sweeps.sweep(sweeps.ONE_BY_ONE, 0, size, *p.edges, *p.model, price, sweeps.tie_of(price), size, p.drift)


def taken(p: Loaded, numbers: tuple[float, ...]) -> None:
    """Flip the edges up to a cut, by what their flip costs and their hashes, that still cost no more in their turn.

    `numbers` has the cut, whether to drop kept edges or add dropped ones, and whether to flip them at any cost.
    Costs that are cut are those before the pass, which :func:`probe` wrote, so that it doesn't matter which pairs are
    played first.
    """
    cut, kept, at_any_cost = (int(number) for number in numbers)
    limit = cost_of(cut)
    edges, ranks = p.store.load(f"flips/{pair_name(p.pair)}")
    chosen = np.flatnonzero(ranks <= np.uint64(cut))
    order = edges[chosen[np.argsort(ranks[chosen], kind="stable")]].astype(np.int64)
    most = np.inf if at_any_cost else limit + 1e-6 * abs(limit)  # costs are rounded
    sweeps.sweep(order, 0, order.size, *p.edges, *p.model, -most if kept else most, 0.0, order.size, p.drift)


def swapped(p: Loaded, numbers: tuple[float, ...]) -> None:
    """At each node swap the kept edge of the pair that is worth least for the dropped one worth most, where J falls.

    `numbers` has the scale of J, of which a swap must gain a share.
    """
    n, gain = p.model[1].shape[0], GAIN * numbers[0]
    cost, edge = np.full((n, 2), np.inf, np.float32), np.zeros((n, 2), np.int32)
    sweeps.find_swaps(0, p.state.size, *p.edges, *p.model, cost, edge)
    total = cost.sum(axis=1)
    at = np.flatnonzero(total < -gain)
    at = at[stable_order(total[at])]
    sweeps.swap(at, edge, gain, *p.edges, *p.model, p.drift)


# Looks at the edges between passes.


def load_nodes(store: Store, block: int, how: Pass) -> Nodes:
    """The nodes of a block as a pass finds them."""
    return store.load(f"nodes/{block}.{how.nodes or how.before}")[0]


def save_nodes(store: Store, block: int, how: Pass, nodes: Nodes) -> int:
    """Write the nodes of a block after a pass; returns the sum of their degrees in the kept graph."""
    store.save(f"nodes/{block}.{how.name}", nodes)
    return int(kept_degrees(store, block, how, nodes).sum())


def first_nodes(store: Store, block: int, how: Pass) -> Nodes:
    """The nodes of a block where nothing is kept."""
    if how.setting.local:
        return np.zeros((store.load(f"blocks/{block}")[0].size, 4), np.float32)
    return store.load(f"tables/{block}.{how.table}")[1]


def kept_degrees(store: Store, block: int, how: Pass, nodes: Nodes) -> NDArray[np.float64]:
    """Degrees of a block's nodes in the kept graph."""
    found = nodes[:, sweeps.DEGREE] if how.setting.local else nodes - first_nodes(store, block, how)
    return found.astype(np.float64)


def sample(store: Store, pair: Pair, how: Pass, stride: int) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """What keeping each stride-th edge costs, and whether it is kept."""
    p = _at_rest(store, pair, how)
    return sample_of(p.edges, p.model, p.state, stride)


def sample_of(
    of_pair: PairEdges, model: Model, state: NDArray[np.uint8], stride: int
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """What keeping each stride-th edge of a pair costs, and whether it is kept."""
    found = np.empty(-(-state.size // stride), np.float32)
    sweeps.prices(0, found.size, stride, -1, *of_pair, *model, found)
    return found, state[::stride].copy()


def probe(store: Store, pair: Pair, how: Pass, kept: int, low: float, high: float) -> tuple[int, NDArray[np.uint64]]:
    """How many flips cost less than `low`, and the ranks of those that cost up to `high`; writes all of them."""
    p = _at_rest(store, pair, how)
    return probe_of(store, pair, p.edges, p.model, kept, low, high)


def probe_of(
    store: Store, pair: Pair, of_pair: PairEdges, model: Model, kept: int, low: float, high: float
) -> tuple[int, NDArray[np.uint64]]:
    """As :func:`probe`, of a pair that is loaded."""
    edges, costs = costs_up_to(of_pair, model, kept, high)
    ranks = ranked(costs, edge_hashes(pair, edges))
    store.save(f"flips/{pair_name(pair)}", edges.astype(np.int32), ranks)
    inside = costs >= np.float32(low)
    return int(np.count_nonzero(~inside)), ranks[inside]


def _at_rest(store: Store, pair: Pair, how: Pass) -> _Pair:
    a, b = (load_nodes(store, block, how) for block in pair)
    return _loaded(store, pair, how, how.before, a, b if pair[0] != pair[1] else None)


def costs_up_to(
    of_pair: PairEdges, model: Model, kept: int, high: float
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Kept or dropped edges whose flip costs at most `high`, and what it costs."""
    costs = np.empty(of_pair[0].size, np.float32)
    sweeps.prices(0, costs.size, 1, 1 - kept, *of_pair, *model, costs)
    if kept:
        np.negative(costs, out=costs)
    edges = np.flatnonzero((costs <= np.float32(high)) & (costs < np.inf))
    return edges, costs[edges]


def ranked(costs: NDArray[np.float32], hashes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Numbers that sort as the costs do, and by the hash where these are equal."""
    bits = (costs + np.float32(0)).view(np.uint32)  # no −0
    upper = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
    return (upper.astype(np.uint64) << np.uint64(32)) | hashes


def cost_of(rank: int) -> float:
    """The cost in a rank."""
    upper = rank >> 32
    bits = upper ^ (1 << 31) if upper >> 31 else upper ^ 0xFFFFFFFF
    return float(np.array([bits], np.uint32).view(np.float32)[0])


class Sums(NamedTuple):
    """Sums over a block's nodes: −Σ d ln d of the kept graph and of the mixture, Σ ln d, and how many are cut off."""

    kept: float
    mixed: float
    logs: float
    cut_off: int


def measure(store: Store, block: int, how: Pass) -> Sums:
    """The parts of J that belong to the nodes of a block."""
    degrees = store.load(f"blocks/{block}")[1].astype(np.float64)
    kept = kept_degrees(store, block, how, load_nodes(store, block, how))
    logs = float(np.log(np.maximum(kept, BARRIER_FLOOR)).sum()) if how.setting.alpha else 0.0
    return Sums(plain_f(kept), plain_f(kept + how.setting.traces[2] * degrees), logs, int(np.count_nonzero(kept == 0)))


class Wrote(NamedTuple):
    """A part of the output: its name, rows, bytes, and the digest of these."""

    name: str
    rows: int
    bytes: int
    sha256: str


def write(
    store: Store, output: Store, pair: Pair, of: str, name: str, kinds: frozenset[str], columns: list[str]
) -> Wrote:
    """Write the kept edges of a pair as parquet, with the ids and weights of the input."""
    from hashlib import sha256

    pa = find("pyarrow")
    u, v, *w = store.load(f"edges/{pair_name(pair)}")
    bits = np.frombuffer(store.read(f"states/{pair_name(pair)}.{of}"), np.uint8)
    kept = np.unpackbits(bits, count=u.size).view(np.bool_)
    names = [_names(store, block, kinds) for block in dict.fromkeys(pair)]
    ids = pa.concat_arrays(names)
    ends = [ids.take(pa.array(end[kept])) for end in (u, v)]
    low = find("pyarrow.compute").less_equal(*ends)
    first, second = (find("pyarrow.compute").if_else(low, *some) for some in (ends, ends[::-1]))
    table = pa.table([first, second, *(some[kept] for some in w)], names=list(columns))
    sink = pa.BufferOutputStream()
    find("pyarrow.parquet").write_table(table, sink)
    data = sink.getvalue().to_pybytes()
    output.write(name, data)
    return Wrote(name, table.num_rows, len(data), sha256(data).hexdigest())


def _names(store: Store, block: int, kinds: frozenset[str]) -> Any:
    pa = find("pyarrow")
    if TEXTS in kinds and store.exists(f"names/{block}"):
        with find("pyarrow.ipc").open_file(pa.py_buffer(store.read(f"names/{block}"))) as file:
            return file.read_all().column(0).combine_chunks()
    numbers = pa.array(integers_of_keys(store.load(f"blocks/{block}")[0]))
    return numbers.cast(pa.large_string()) if TEXTS in kinds else numbers
