"""Tasks of the search: each plays the edges of one pair of blocks by the loops of the solver for large graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import Side
from graphpri._runtime import in_threads
from graphpri.distributed.choices import chosen
from graphpri.distributed.ingest import TEXTS, Pair, pair_name
from graphpri.distributed.keys import FINE, integers_of_keys
from graphpri.distributed.pairs import Loaded, Nodes, Pass, Setting, degrees_in, kept_degrees, loaded, logs_of, state_of
from graphpri.distributed.store import Store, find
from graphpri.graph import FloatArray
from graphpri.solvers import sweeps
from graphpri.solvers.sweeps import PotentialTable
from graphpri.solvers.tournament import scrambled

GAIN = 1e-13
"""Share of J by which a swap must lower it."""


def tabulate(store: Store, block: int, setting: Setting) -> tuple[float, float]:
    """Sum of a block's degrees in the graph and Σ d ln d; writes its table, where one is used, and where nodes begin.

    Logarithms are taken here once: other processors could round them in another way.
    """
    degrees = degrees_in(store, block, setting)
    if not (setting.local or setting.weighted):
        table = PotentialTable(store.load(f"blocks/{block}")[1])
        with in_threads(1):
            table.fill(setting.traces[2], setting.c())
        store.save(f"tables/{block}", table.rises, table.first.astype(np.int32))
    return float(degrees.sum()), -plain_f(degrees)


def plain_f(degrees: FloatArray) -> float:
    """−Σ d ln d."""
    return Side(0.0, degrees, logs_of(degrees), 0.0, 0.0, np.empty(0)).f


def edge_hashes(pair: Pair, edges: NDArray[np.int64]) -> NDArray[np.uint32]:
    """A hash of each of some edges of a pair, 32 bits, which says who is first where prices are equal."""
    numbers = edges.astype(np.uint64)
    numbers += np.uint64(pair[0] * FINE + pair[1]) << np.uint64(40)
    return (scrambled(numbers) >> np.uint64(32)).astype(np.uint32)


# Moves. They return what :meth:`Loaded.done` does.


def spread(store: Store, pair: Pair, how: Pass, keep: int, *nodes: Nodes) -> Any:
    """Keep `keep` of the pair's edges, evenly over their order, and none of those before."""
    p = loaded(store, pair, how, *nodes)
    if p.state.size:
        sweeps.spread(p.state, keep, p.state.size)
    return p.begun()


def draw(store: Store, pair: Pair, how: Pass, *nodes: Nodes) -> Any:
    """Keep the edges that are chosen, and none of those before."""
    p = loaded(store, pair, how, *nodes)
    assert how.choice is not None
    p.state[:] = chosen(store, pair, how.choice)
    return p.begun()


def recount(store: Store, pair: Pair, how: Pass, *nodes: Nodes) -> Any:
    """Add up the degrees anew, without the roundings of many flips."""
    return loaded(store, pair, how, *nodes).begun()


def sweep(store: Store, pair: Pair, how: Pass, *nodes: Nodes) -> Any:
    """Keep each edge exactly where that costs J less than the price, one after the other.

    The numbers are the price and, where edges weigh differently, how far the trace may move before the sweep is cut
    short, and the edge to begin at.
    """
    p, (price, *limits) = loaded(store, pair, how, *nodes), how.numbers
    p.drift[3], start = limits or (np.inf, 0)
    where, size = (sweeps.ONE_BY_ONE, int(start), p.state.size), p.state.size
    p.place = sweeps.sweep(*where, *p.edges, *p.model, price, sweeps.tie_of(price), size, p.drift)[1]
    return p.done()


def take(store: Store, pair: Pair, how: Pass, *nodes: Nodes) -> Any:
    """Flip the edges up to a cut, by what their flip costs and their hashes, that still cost no more in their turn.

    The numbers are the cut, whether to drop kept edges or add dropped ones, and whether to flip them at any cost.
    Costs that are cut are those before the pass, which :func:`probe` wrote, so that it doesn't matter which pairs are
    played first.
    """
    p = loaded(store, pair, how, *nodes)
    cut, kept, at_any_cost = (int(number) for number in how.numbers)
    limit = cost_of(cut)
    edges, ranks = store.load(f"flips/{pair_name(pair)}")
    chosen = np.flatnonzero(ranks <= np.uint64(cut))
    order = edges[chosen[np.argsort(ranks[chosen], kind="stable")]].astype(np.int64)
    most = np.inf if at_any_cost else limit + 1e-6 * abs(limit)  # costs are rounded
    sweeps.sweep(order, 0, order.size, *p.edges, *p.model, -most if kept else most, 0.0, order.size, p.drift)
    return p.done()


# Looks at the edges between passes.


def save_nodes(store: Store, block: int, how: Pass, nodes: Nodes) -> int:
    """Write the nodes of a block after a pass; returns the sum of their degrees in the kept graph."""
    store.save(f"nodes/{block}.{how.name}", nodes)
    return int(kept_degrees(store, block, how, nodes).sum())


def sample(store: Store, pair: Pair, how: Pass, stride: int) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """What keeping each stride-th edge of a pair costs, and whether it is kept."""
    p = loaded(store, pair, how)
    found = np.empty(-(-p.state.size // stride), np.float32)
    sweeps.prices(0, found.size, stride, -1, *p.edges, *p.model, found)
    return found, p.state[::stride].copy()


def probe(store: Store, pair: Pair, how: Pass, kept: int, low: float, high: float) -> tuple[int, NDArray[np.uint64]]:
    """How many flips cost less than `low`, and the ranks of those that cost up to `high`; writes all of them."""
    edges, costs = costs_up_to(loaded(store, pair, how), kept, high)
    ranks = ranked(costs, edge_hashes(pair, edges))
    store.save(f"flips/{pair_name(pair)}", edges.astype(np.int32), ranks)
    inside = costs >= np.float32(low)
    return int(np.count_nonzero(~inside)), ranks[inside]


def costs_up_to(p: Loaded, kept: int, high: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Kept or dropped edges whose flip costs at most `high`, and what it costs."""
    costs = np.empty(p.state.size, np.float32)
    sweeps.prices(0, costs.size, 1, 1 - kept, *p.edges, *p.model, costs)
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
    setting, kept = how.setting, kept_degrees(store, block, how)
    mixed, logs = kept + setting.traces[2] * degrees_in(store, block, setting), 0.0
    if setting.alpha:  # in the graph's own unit
        logs = float(np.log(np.maximum(kept * setting.most, setting.floor)).sum())
    return Sums(plain_f(kept), plain_f(mixed), logs, int(np.count_nonzero(kept == 0)))


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
    kept = state_of(store, pair, of, u.size).view(np.bool_)
    names = [_names(store, block, kinds) for block in dict.fromkeys(pair)]
    ids = pa.concat_arrays(names)
    ends = [ids.take(pa.array(end[kept])) for end in (u, v)]
    low = find("pyarrow.compute").less_equal(*ends)
    first, second = (find("pyarrow.compute").if_else(low, *some) for some in (ends, ends[::-1]))
    table = pa.table([first, second, *(some[kept] for some in w)], names=list(columns))
    sink = pa.BufferOutputStream()
    # Most integers differ: a dictionary of them takes longer and more bytes.
    find("pyarrow.parquet").write_table(table, sink, use_dictionary=TEXTS in kinds)
    data = sink.getvalue().to_pybytes()
    output.write(name, data)
    return Wrote(name, table.num_rows, len(data), sha256(data).hexdigest())


def _names(store: Store, block: int, kinds: frozenset[str]) -> Any:
    pa = find("pyarrow")
    if TEXTS in kinds:
        data = pa.py_buffer(store.read(f"names/{block}"))
        try:
            with find("pyarrow.ipc").open_file(data) as file:
                return file.read_all().column(0).combine_chunks()
        except (pa.ArrowException, OSError):
            raise store.damaged(f"names/{block}", "cut short, or not what was written") from None
    return pa.array(integers_of_keys(store.load(f"blocks/{block}")[0]))
