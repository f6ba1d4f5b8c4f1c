"""Tasks of swaps at nodes: each node's best ones, in whatever pairs of blocks they are.

A swap at a node drops one of its edges and adds another: its degree stays about the same, and what counts is those of
the two neighbours. Three blocks may meet in it, and a task has two. So it is made in halves: the old edge is dropped
where the swap would still pay, and the node is in debt; the new one is added at nodes in debt where both flips together
lower J; and drops at nodes that are in debt still are taken back. The other way round, nodes could be left alone by
drops that rely on additions that are taken back.
"""

# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import weight_of
from graphpri._runtime import compiled
from graphpri._selection import stable_order
from graphpri.distributed.ingest import Pair
from graphpri.distributed.moves import GAIN, save_nodes
from graphpri.distributed.pairs import Nodes, Pass, load_nodes, loaded
from graphpri.distributed.store import Store
from graphpri.graph import FloatArray, IntArray
from graphpri.solvers import sweeps
from graphpri.solvers.sweeps import (
    Coefficients,
    Extra,
    Rises,
    State,
    Weights,
    at_new_trace,
    change_at_trace,
    cost_from,
    flip_weighted,
    moved,
    node_change,
    slope_at,
)

DROP, ADD, TAKE_BACK = range(3)

Debts = NDArray[np.float32] | NDArray[np.float64]
Handed = tuple[Nodes, Debts]
"""The nodes of a block, and their debts, shape (n, 2): what the drop has changed, and its weight; 0 for none."""


@compiled
def make_halves(
    step: int,
    gain: float,
    node: IntArray,
    edge: IntArray,
    other: FloatArray,
    debt: Debts,
    source: IntArray,
    target: IntArray,
    mu: Weights,
    extra: Extra,
    state: State,
    table: Rises,
    nodes: Nodes,
    bend: Nodes,
    c: Coefficients,
    drift: FloatArray,
) -> None:
    """Make one step of swaps at some nodes, one after the other.

    `other`, shape (n, 2), has what the edge to add costs and weighs, for those to drop.
    """
    kept = 1 if step == 0 else 0
    for p in range(node.size):
        i, e = np.int64(node[p]), edge[p]
        if state[e] != kept or (debt[i, 1] > 0) != (step > 0):
            continue
        j, m, value = source[e] + target[e] - i, weight_of(mu, e), 0.0
        if step == 0:
            pull, cost, more = slope_at(i, mu, nodes, c), other[p, 0], other[p, 1]
            cost += cost_from(i, j, e, m, kept, pull, mu, extra, table, nodes, bend, c)
            if mu is not None:
                cost += pull * (m - more) + node_change(i, j, m, kept, more - m, mu, table, nodes, bend, c)
                cost = at_new_trace(cost, more - m, c)
            if not cost < -gain:
                continue
        if step < 2:
            value = change_at_trace(i, j, m, kept, mu, table, nodes, bend, c)
        if step == 1:
            total = debt[i, 0] + value
            if mu is not None:
                total = at_new_trace(total, m - debt[i, 1], c)
            if not total < -gain:
                continue
        state[e] = 1 - kept
        if mu is not None:
            flip_weighted(i, j, m, kept, drift, nodes, bend, c)
        else:
            moved(i, 1 - 2 * kept, table, nodes, bend, c)
            moved(j, 1 - 2 * kept, table, nodes, bend, c)
        debt[i, 0], debt[i, 1] = value, m * kept


def find(store: Store, pair: Pair, how: Pass) -> None:
    """Write which edges of a pair each node would drop and add first, and at what cost."""
    p = loaded(store, pair, how)
    n = p.model[1].shape[0]
    cost, edge = np.full((n, 2), np.inf, np.float32), np.zeros((n, 2), np.int32)
    sweeps.find_swaps(0, p.state.size, *p.edges, *p.model, cost, edge)
    for (block, other), side in zip(
        dict.fromkeys((pair, pair[::-1])), (slice(p.cut), slice(p.cut, None)), strict=False
    ):
        found: list[Any] = []
        for kept in range(2):
            at = np.flatnonzero(np.isfinite(cost[side, kept]))
            some = edge[side, kept][at]
            found += [at.astype(np.int32), cost[side, kept][at], some, np.empty(0) if p.mu is None else p.mu[some]]
        store.save(f"swaps/{block}.{other}", *found)


class _Best:
    """The edges of a block's nodes that cost least to add, or to drop: cost, block of the other end, number, weight."""

    def __init__(self, n: int) -> None:
        self.cost, self.weight = np.full(n, np.inf, np.float32), np.ones(n)
        self.other, self.edge = np.zeros(n, np.int8), np.zeros(n, np.int32)

    def take(self, other: int, node: IntArray, cost: NDArray[np.float32], edge: IntArray, weight: FloatArray) -> None:
        """Take what is better of the edges to another block."""
        better = np.flatnonzero(cost < self.cost[node])
        at = node[better]
        self.cost[at], self.edge[at], self.other[at] = cost[better], edge[better], other
        if weight.size:
            self.weight[at] = weight[better]


def choose(store: Store, block: int, blocks: int, how: Pass) -> None:
    """Write the swaps that the nodes of a block want, the best first: nodes and edges by pair, to add and to drop."""
    n = store.load(f"blocks/{block}")[0].size
    best = _Best(n), _Best(n)
    for other in range(blocks):
        found = store.load(f"swaps/{block}.{other}")
        best[0].take(other, *found[:4])
        best[1].take(other, *found[4:])
    total = best[0].cost + best[1].cost
    node = np.flatnonzero(total < -GAIN * how.numbers[0])
    node = node[stable_order(total[node])]
    added = np.column_stack([best[0].cost[node], best[0].weight[node]])
    for other in range(blocks):
        wanted: list[Any] = []
        for one in best:
            here = one.other[node] == other
            at = node[here]
            wanted += [at.astype(np.int32), one.edge[at], total[at], added[here]]
        store.save(f"wanted/{block}.{other}", *wanted)


def first(store: Store, block: int, how: Pass) -> Handed:
    """The nodes of a block, none in debt."""
    nodes = load_nodes(store, block, how)
    return nodes, np.zeros((len(nodes), 2), np.float32)


def make(store: Store, pair: Pair, how: Pass, step: int, *handed: Handed) -> Any:
    """Make a step of the swaps that want edges of a pair, the best first; where edges have weights, debts are files."""
    p = loaded(store, pair, step_of(how, step), *(nodes for nodes, _ in handed))
    if handed:
        p.debt = np.concatenate([debt for _, debt in handed])
    columns = slice(0, 4) if step == ADD else slice(4, 8)
    wanted = [store.load(f"wanted/{pair[0]}.{pair[1]}")[columns]]
    if pair[0] != pair[1]:
        node, *other = store.load(f"wanted/{pair[1]}.{pair[0]}")[columns]
        wanted.append([node + np.int32(p.cut), *other])
    node, edge, total, added = (np.concatenate(some) for some in zip(*wanted, strict=True))
    order = stable_order(total)
    swap = node[order], edge[order], added[order], p.debt
    make_halves(step, GAIN * how.numbers[0], *swap, *p.edges, *p.model, p.drift)
    if not handed:
        p.has_debts = True
        return p.done()
    return tuple(zip(p.done(), np.split(p.debt, [p.cut]), strict=False))


def step_of(how: Pass, step: int) -> Pass:
    """A step of the swaps of a pass: the last one has its name."""
    names = how.states, f"{how.name}.{DROP}", f"{how.name}.{ADD}", how.name
    return how._replace(states=names[step], name=names[step + 1])


def last(store: Store, block: int, how: Pass, handed: Handed) -> int:
    """Write the nodes of a block, as :func:`~graphpri.distributed.moves.save_nodes`."""
    return save_nodes(store, block, how, handed[0])
