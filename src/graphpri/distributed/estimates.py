"""Entropies of a graph in parts, and of a part of it, by random probes, as in `_entropy/stochastic.py`.

A block of probes is eight vectors, whose signs at a node hang on a hash of its key, the seed and the number of the
block. Vectors lie in files, one for each block of nodes. A task multiplies the rows of one block of nodes: it goes
through the blocks of columns in their order and holds two blocks of vectors, and the edges of one pair, at a time. So
sums are made in one order, whatever runs the tasks.

A graph that fits into a task is put together there and estimated in memory: it may take hundreds of steps, each of
which would be tasks of next to no work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri._entropy import stochastic
from graphpri._entropy.stochastic import MOST_PROBES, WIDTH, Estimate, Forms, Rule, Sample, edge_form, orders, root_of
from graphpri._objective import Barrier, Mixture, barrier_floor
from graphpri._runtime import in_threads
from graphpri.distributed.ingest import pair_name, pairs_of
from graphpri.distributed.keys import EDGES_A_PAIR
from graphpri.distributed.run import Cluster, Numbers
from graphpri.distributed.store import Store
from graphpri.graph import FloatArray, Graph, IntArray, id_dtype, unit_weights
from graphpri.measures.information import estimate_alone, joint_combinations, joint_estimate
from graphpri.measures.registry import Overlay
from graphpri.solvers.tournament import scrambled

STEP = 0.5
"""What a Lanczos step weighs in a run, in the unit of :mod:`graphpri.distributed.run`."""

STEPS = 25
"""About how many steps a block of probes takes."""

AT_ONCE = EDGES_A_PAIR
"""Edges up to which one task estimates in memory: as many as a pair of blocks has anyway."""

Rows = tuple[IntArray, IntArray, FloatArray]
"""Compressed rows of a block of the adjacency matrix: starts, columns and values. The columns of another block come
behind as many as the rows' own block has nodes."""


class EdgeWeighting(NamedTuple):
    """A weighting of the edges: what each weighs in the graph and in what is kept of it, times a factor each."""

    name: str
    of_original: float
    of_kept: float


def signs(store: Store, block: int, seed: int, draw: int) -> NDArray[np.int8]:
    """A block of probes at the nodes of a block, shape (n, 8)."""
    key = scrambled(scrambled(np.array([seed], np.uint64)) + np.uint64(draw))
    hashes = scrambled(store.load(f"blocks/{block}")[0] ^ key)
    bits = (hashes[:, None] >> np.arange(WIDTH, dtype=np.uint64)).astype(np.int8) & np.int8(1)
    return bits * np.int8(2) - np.int8(1)


# Tasks.


def arrange(store: Store, block: int, blocks: int, least: float, is_pair: bool) -> tuple[float, float, float]:
    """Write the rows of a block, by block of columns; returns both sums of its degrees, and Σ ln d of the kept graph.

    That sum is over degrees in the weights of the graph, from `least` on.
    """
    n = store.load(f"blocks/{block}")[0].size
    degrees, inside = np.zeros((2, n)), np.zeros(n)
    for other in range(blocks):
        pair = min(block, other), max(block, other)
        u, v, *w = store.load(f"edges/{pair_name(pair)}")
        k = store.load(f"marks/{pair_name(pair)}")[0] if is_pair else None
        size = n if other == block else store.load(f"blocks/{other}")[0].size
        if block == other:
            rows, columns, edge = np.concatenate([u, v]), np.concatenate([v, u]), np.tile(np.arange(u.size), 2)
        elif block < other:
            rows, columns, edge = u, v, np.arange(u.size)
        else:
            rows, columns, edge = v - size, u + n, np.arange(u.size)
        entries = edge.astype(np.int32), (rows, columns)
        matrix = sp.coo_array(entries, shape=(n, n if block == other else n + size)).tocsr()
        starts, ends, at = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data
        store.save(f"rows/{block}.{other}", starts, ends, *(one[at] for one in w))
        degrees[0] += np.bincount(rows, w[0][edge] if w else None, n)
        if k is None:
            continue
        kept = k[at]
        store.save(f"rows/{block}.{other}.marks", kept)
        on = kept > 0
        before = np.concatenate([[0], np.cumsum(on)])
        store.save(f"rows/{block}.{other}.kept", before[starts].astype(np.int32), ends[on], *([kept[on]] if w else []))
        degrees[1] += np.bincount(rows, k[edge], n)
        inside += np.bincount(rows, np.where(k > 0, w[0] if w else 1.0, 0.0)[edge], n)
    store.save(f"degrees/{block}", *degrees)
    return float(degrees[0].sum()), float(degrees[1].sum()), float(np.log(np.maximum(inside, least)).sum())


def rows_of(store: Store, side: EdgeWeighting, block: int, other: int) -> Rows:
    """The rows of a block in the columns of another, by a weighting."""
    if side.of_original == 0:
        starts, ends, *k = store.load(f"rows/{block}.{other}.kept")
        return starts.copy(), ends.copy(), side.of_kept * k[0] if k else np.full(ends.size, side.of_kept)
    starts, ends, *w = store.load(f"rows/{block}.{other}")
    values = side.of_original * w[0] if w else np.full(ends.size, side.of_original)
    if side.of_kept:
        values += side.of_kept * store.load(f"rows/{block}.{other}.marks")[0]
    return starts.copy(), ends.copy(), values


def degrees_of(store: Store, side: EdgeWeighting, block: int) -> FloatArray:
    """Degrees of a block's nodes, by a weighting."""
    original, kept = store.load(f"degrees/{block}")
    return side.of_original * original + side.of_kept * kept


def _add_neighbours(rows: Rows, x: FloatArray, out: FloatArray) -> None:
    """Out ← out − A x for the rows of a block, with the columns' entries behind the rows' in x."""
    ones = np.ones(WIDTH)
    stochastic.multiply(*rows, np.zeros(len(out)), x, ones, out, -ones, 0, len(out))


def _multiplied(
    store: Store, side: EdgeWeighting, block: int, blocks: int, of: Callable[[int], FloatArray]
) -> FloatArray:
    """−A x at the nodes of a block; `of` gives x at those of any."""
    own = of(block)
    out = np.zeros_like(own)
    for other in range(blocks):
        x = own if other == block else np.concatenate([own, of(other)])
        _add_neighbours(rows_of(store, side, block, other), x, out)
    return out


class Begun(NamedTuple):
    """A block's part in what is known of the forms of probes, in their control variate, and in its mean.

    Shapes (8,) twice. `nodes` is how many nodes have an edge, and `largest` the largest degree.
    """

    known: FloatArray
    control: FloatArray
    trace: float
    nodes: int
    largest: float


def begin(store: Store, block: int, blocks: int, side: EdgeWeighting, seed: int, draw: int) -> Begun:
    """Write a block's part of the probes, and look at what is known of their forms."""

    def look_at(other: int) -> tuple[FloatArray, FloatArray, NDArray[np.int8]]:
        degrees = degrees_of(store, side, other)
        return degrees, root_of(degrees), signs(store, other, seed, draw)

    d, root, z = look_at(block)
    second, known, trace = np.zeros(z.shape), np.zeros(WIDTH), 0.0
    with in_threads(1):
        for other in range(blocks):
            all_d, roots, zs = d, root, z
            if other != block:
                theirs = look_at(other)
                all_d, roots = np.concatenate([d, theirs[0]]), np.concatenate([root, theirs[1]])
                zs = np.concatenate([z, theirs[2]])
            rows = rows_of(store, side, block, other)
            _add_neighbours(rows, roots[:, None] * zs, second)
            if other >= block:
                starts, ends, values = rows
                at = np.repeat(np.arange(len(d), dtype=np.int32), np.diff(starts))
                once = at < ends  # the rows of a block in its own columns have each edge twice
                u, v, a = at[once], ends[once], values[once]
                first, part = orders(u, v, a, all_d, roots)
                known += edge_form(u, v, first, zs)
                trace += part
    control = np.einsum("i,ij,ij->j", root, second, second)
    store.save(f"vectors/{side.name}.0.{block}", np.where(d[:, None] > 0, z, 0.0))
    return Begun(known, control, trace, int(np.count_nonzero(d)), float(d.max(initial=0.0)))


def multiply(
    store: Store, block: int, blocks: int, side: EdgeWeighting, names: tuple[str, str | None, str], factors: Any
) -> FloatArray:
    """Write a block's part of L x scale − before back; returns its part in ⟨x scale, it⟩.

    `names` are those of x, of what came before it, and of what is written; `factors` are scale and back.
    """
    x_name, before, to = names
    scale, back = factors

    def of(other: int) -> FloatArray:
        return store.load(f"vectors/{x_name}.{other}")[0]

    with in_threads(1):
        out = _multiplied(store, side, block, blocks, lambda other: of(other).copy())
    x = of(block)
    out = (out + degrees_of(store, side, block)[:, None] * x) * scale
    if before is not None:
        out -= store.load(f"vectors/{before}.{block}")[0] * back
    store.save(f"vectors/{to}.{block}", out)
    return np.einsum("ij,ij->j", x, out) * scale


def subtract(store: Store, block: int, names: tuple[str, str, str], factor: FloatArray) -> FloatArray:
    """Write a block's part of y − x factor, given names of x, y and what is written; returns its part in the square."""
    x, y = (store.load(f"vectors/{name}.{block}")[0] for name in names[:2])
    out = y - x * factor
    store.save(f"vectors/{names[2]}.{block}", out)
    return np.einsum("ij,ij->j", out, out)


# Small graphs.


class Asked(NamedTuple):
    """What to estimate: the objective, the error in nats or the number of probes, and their seed."""

    mixture: Mixture
    beta: float
    alpha: float
    target: float
    probes: int | None
    seed: int


Found = tuple[list[Estimate], float]
"""Estimates in nats, of a graph alone or those of :class:`graphpri.measures.information.Joint`, and the barrier."""


def put_together(store: Store, blocks: int, is_pair: bool) -> Overlay:
    """The graph, its nodes in the order of their keys, and what its edges weigh in it and in the part of it."""
    sizes = [store.load(f"blocks/{block}")[0].size for block in range(blocks)]
    first = np.cumsum([0, *sizes])
    ends: list[Any] = []
    weights: list[FloatArray] = []
    marks: list[FloatArray] = []
    for a, b in pairs_of(blocks):
        u, v, *w = store.load(f"edges/{pair_name((a, b))}")
        ends.append((u + first[a], v + first[b] - (0 if a == b else sizes[a])))
        weights += w
        if is_pair:
            marks.append(store.load(f"marks/{pair_name((a, b))}")[0].astype(np.float64))
    u, v = np.concatenate(ends, axis=1).astype(id_dtype(int(first[-1])))
    order = np.lexsort((v, u))
    mu = np.concatenate(weights)[order] if weights else unit_weights(u.size)
    graph = Graph(int(first[-1]), u[order], v[order], mu)
    return Overlay(graph, mu, np.concatenate(marks)[order] if is_pair else mu)


def at_once(store: Store, blocks: int, is_pair: bool, asked: Asked) -> Found:
    """Estimates of a graph that fits into memory."""
    over, how = put_together(store, blocks, is_pair), asked._asdict()
    mixture, beta, alpha = (how.pop(name) for name in ("mixture", "beta", "alpha"))
    if not is_pair:
        return [estimate_alone(over.graph, **how)], 0.0
    barrier = Barrier(over.graph, alpha).at((over.kept > 0).astype(np.float64)) if alpha else 0.0
    return list(joint_estimate(over, mixture, beta, **how)), barrier


# The run.


def estimated(cluster: Cluster, store: Store, numbers: Numbers, asked: Asked, *, is_pair: bool) -> Found:
    """Estimates of a graph whose edges are numbered, and of the part of it that is marked if it `is_pair`."""
    if numbers.edges <= AT_ONCE:
        calls = [(at_once, store, numbers.blocks, is_pair, asked)]
        return cluster.all("probes", 3 * STEP * STEPS, numbers.edges, calls)[0]
    return Probing(cluster, store, numbers, is_pair=is_pair).found(asked)


class _InFiles:
    """Vectors of Lanczos steps, see :class:`graphpri._entropy.stochastic.Vectors`."""

    def __init__(self, run: Probing, side: EdgeWeighting, label: str) -> None:
        self.run, self.side, self.label = run, side, label
        self.step, self.before = 0, ""

    def _name(self, what: int | str) -> str:
        return f"{self.side.name}.{what}"

    def multiply(self, scale: FloatArray, back: FloatArray) -> FloatArray:
        names = self._name(self.step), self._name(self.step - 1) if self.step else None, self._name("y")
        found = self.run.on_blocks(
            f"{self.label}, step {self.step + 1}", STEP, multiply, self.side, names, (scale, back)
        )
        if self.step:
            self.run.forget(self._name(self.step - 1))
        return np.sum(found, axis=0)

    def subtract(self, factor: FloatArray) -> FloatArray:
        names = self._name(self.step), self._name("y"), self._name(self.step + 1)
        calls = [(subtract, self.run.store, block, names, factor) for block in range(self.run.blocks)]
        return np.sum(self.run.cluster.all(self.label, 0.0, 0, calls), axis=0)

    def turn(self) -> None:
        self.step += 1


class Probing:
    """Estimates by random probes of a graph whose edges are numbered, and of the part of it that is marked.

    Parameters
    ----------
    cluster : Cluster
    store : Store
    numbers : Numbers
    is_pair : bool
        Whether there is such a part.
    """

    def __init__(self, cluster: Cluster, store: Store, numbers: Numbers, *, is_pair: bool) -> None:
        self.cluster, self.store, self.blocks, self.edges = cluster, store, numbers.blocks, numbers.edges
        self.is_pair, self.seed = is_pair, 0
        store.make("rows", "degrees", "vectors")
        self.least = barrier_floor(numbers.least)
        calls = [(arrange, store, b, self.blocks, self.least, is_pair) for b in range(self.blocks)]
        found = cluster.all("placing", 1.0, self.edges, calls)
        self.total, self.trace, self.logs = (math.fsum(column) for column in zip(*found, strict=True))

    def on_blocks(self, label: str, weight: float, task: Any, *arguments: Any) -> list[Any]:
        """Results of a task for each block of nodes."""
        calls = [(task, self.store, block, self.blocks, *arguments) for block in range(self.blocks)]
        return self.cluster.all(label, weight, 2 * self.edges, calls)

    def forget(self, name: str) -> None:
        """Remove vectors."""
        self.store.remove_files([f"vectors/{name}.{block}" for block in range(self.blocks)])

    def found(self, asked: Asked) -> Found:
        """Estimates as :mod:`graphpri.measures.information` makes them in memory."""
        total, trace, by = self.total, self.trace, (asked.probes, asked.seed)
        original = EdgeWeighting("original", 1 / total, 0.0)
        if not self.is_pair:
            return self._by_probes([original], [[1.0]], [asked.target], *by), 0.0
        halves = (0.5 / total, 0.5 / trace) if asked.mixture == "equation" else (1 / (total + trace),) * 2
        sides = [EdgeWeighting("kept", 0.0, 1 / trace), original, EdgeWeighting("mixture", *halves)]
        barrier = -asked.alpha * self.logs if asked.alpha else 0.0
        return self._by_probes(sides, *joint_combinations(asked.beta, asked.target), *by), barrier

    def _by_probes(
        self, sides: list[EdgeWeighting], factors: Any, goals: Any, probes: int | None, seed: int
    ) -> list[Estimate]:
        self.seed = seed
        draws = range(-(-(MOST_PROBES if probes is None else probes) // WIDTH))
        wanted = np.zeros(len(goals)) if probes is not None else np.asarray(goals, np.float64)
        weightings = [_Weighting(self, side) for side in sides]
        factors = np.asarray(factors, np.float64)
        return stochastic.estimate_by(lambda: weightings, draws, factors, wanted, probes, is_large=True)


class _Weighting:
    """One weighting of the edges, as :class:`graphpri._entropy.stochastic.Sampled`; a draw is the number of a block."""

    def __init__(self, run: Probing, side: EdgeWeighting) -> None:
        self.run, self.side = run, side

    def sample(self, signs: int, rule: Rule | None, is_enough: Callable[[Estimate, int], bool]) -> Sample:
        first = signs * WIDTH + 1
        label = f"probes {first} to {first + WIDTH - 1}, {self.side.name}"
        begun: list[Begun] = self.run.on_blocks(label, STEP, begin, self.side, self.run.seed, signs)
        known = np.sum([part.known for part in begun], axis=0)
        control = np.sum([part.control for part in begun], axis=0) - math.fsum(part.trace for part in begun)
        # Signs are 1 or −1 at nodes with an edge. Components need no care: −x ln x is 0 where L is.
        largest = max(part.largest for part in begun)
        squares = np.full(WIDTH, float(sum(part.nodes for part in begun)))

        def forms(enough: Callable[[FloatArray, FloatArray], bool], most: int) -> Forms:
            steps = stochastic.recurrence(_InFiles(self.run, self.side, label), squares, largest)
            return stochastic.forms_of(((alpha, beta) for _, alpha, beta in steps), squares, enough, most)

        found = stochastic.sample_of(known, control, forms, rule, is_enough)
        self.run.store.remove("vectors")
        self.run.store.make("vectors")
        return found
