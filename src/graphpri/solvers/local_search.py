"""Local search over subsets of edges: elimination, single swaps, bulk moves and perturbations."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._selection import (
    NOISE,
    ascending,
    best_forest,
    cover_by,
    lowest,
    places,
    settle,
    smallest,
    take_top,
    tie_keys,
    tolerance,
)
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.solvers.moves import PREDICTION_ERROR, Edges, ExactEvaluator, MoveEvaluator
from graphpri.solvers.solution import Monitor
from graphpri.solvers.tournament import scrambled

# ---------------------------------------------------------------------------------------------------------------------
# Bridges of a subset of edges and the cuts that they are alone in.
# ---------------------------------------------------------------------------------------------------------------------


class BridgeFinder:
    """Finds the bridges of many subsets of a graph's edges.

    A spanning forest serves as long as all its edges are kept, and none between its trees. Of its edges those are
    bridges that no other kept edge leads past: every other edge adds a random number at one end and takes it off at the
    other one, so that the sum over the nodes below a bridge is zero and, but for a chance of 2⁻⁶⁴, over no others
    (cycle space sampling: D. Pritchard and R. Thurimella, 2011).
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        start, nodes, edges = (part.tolist() for part in graph.neighbours)
        around = list(zip(nodes, edges, strict=True))
        self._adjacent = [around[a:b] for a, b in pairwise(start)]
        self._numbers = scrambled(np.arange(graph.n_edges, dtype=np.uint64) + np.uint64(1))
        self._forest: _Forest | None = None

    def find(self, mask: BoolArray) -> Bridges:
        """The bridges of a subset."""
        graph, forest = self._graph, self._forest
        if forest is None or not mask[forest.edges].all() or (mask & forest.between).any():
            forest = self._forest = self._forest_of(mask)
        others = mask.copy()
        others[forest.edges] = False
        sums = np.zeros(graph.n_nodes + 1, np.uint64)
        np.add.at(sums, forest.first[graph.source[others]] + 1, self._numbers[others])
        np.subtract.at(sums, forest.first[graph.target[others]] + 1, self._numbers[others])
        np.cumsum(sums, out=sums)  # which add up modulo 2⁶⁴
        below = forest.child[forest.edges]
        bridge = np.zeros(mask.size, bool)
        bridge[forest.edges] = sums[forest.last[below]] == sums[forest.first[below]]
        return Bridges(graph, bridge, forest.first, forest.last, forest.child)

    def _forest_of(self, mask: BoolArray) -> _Forest:
        """A spanning forest of a subset, by depth-first search."""
        kept, n = mask.tolist(), self._graph.n_nodes
        first, last, child, tree = [-1] * n, [0] * n, np.full(mask.size, -1), np.zeros(n, np.int64)
        edges: list[int] = []
        clock = 0
        for root in range(n):
            if first[root] >= 0:
                continue
            first[root], tree[root] = clock, root
            clock += 1
            stack = [(root, iter(self._adjacent[root]))]
            while stack:
                node, neighbours = stack[-1]
                for other, edge in neighbours:
                    if kept[edge] and first[other] < 0:
                        first[other], tree[other] = clock, root
                        clock += 1
                        child[edge] = other
                        edges.append(edge)
                        stack.append((other, iter(self._adjacent[other])))
                        break
                else:
                    last[node] = clock
                    stack.pop()
        between = tree[self._graph.source] != tree[self._graph.target]
        return _Forest(np.array(edges, np.int64), between, np.array(first), np.array(last), child)


class _Forest(NamedTuple):
    """Edges of a spanning forest, and the interval of the order of first visits that holds the nodes below each node.

    `child` is the lower end of each edge of the forest, `between` says which edges of the graph join two trees.
    """

    edges: Edges
    between: BoolArray
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    child: NDArray[np.int64]


def _number_of_components(graph: Graph, mask: BoolArray) -> int:
    """By joining sets (Tarjan 1975): on the graphs of single moves sooner done than a matrix for SciPy is built."""
    parent, left = list(range(graph.n_nodes)), graph.n_nodes
    for u, v in zip(graph.source[mask].tolist(), graph.target[mask].tolist(), strict=True):
        while parent[u] != u:
            parent[u] = u = parent[parent[u]]
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        if u != v:
            parent[v] = u
            left -= 1
    return left


class Bridges:
    """Which kept edges are bridges, and which edges would reconnect the two sides of one.

    Attributes
    ----------
    is_needed : ndarray of bool, shape (M,)
        Kept edges whose loss would split a component.
    """

    def __init__(
        self,
        graph: Graph,
        is_bridge: BoolArray,
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        child: NDArray[np.int64],
    ) -> None:
        self.is_needed = is_bridge
        self._source, self._target = graph.source, graph.target
        # The nodes below a tree edge are an interval of the order of first visits.
        self._first, self._last, self._child = first, last, child

    def replaced_by(self, bridges: NDArray[np.int64], edges: NDArray[np.int64]) -> BoolArray:
        """Whether each of `edges` joins the two sides that the loss of each bridge leaves, (bridges, edges).

        Edges that lead to another component are not told apart: there are none where the subset has as
        many components as the graph.
        """
        nodes = self._child[bridges]
        low, high = self._first[nodes][:, None], self._last[nodes][:, None]
        at_u, at_v = self._first[self._source[edges]], self._first[self._target[edges]]
        return ((at_u >= low) & (at_u < high)) != ((at_v >= low) & (at_v < high))


class CoverFinder:
    """Finds the edges of a subset without which a node would have none."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def find(self, mask: BoolArray) -> LastEdges:
        """The last edges of nodes of a subset."""
        ends = np.concatenate([self._graph.source[mask], self._graph.target[mask]])
        return LastEdges(self._graph, mask, np.bincount(ends, minlength=self._graph.n_nodes) == 1)


class LastEdges:
    """Which kept edges are the last of a node, and which edges lead to the nodes that the loss of one would leave.

    Attributes
    ----------
    is_needed : ndarray of bool, shape (M,)
        Kept edges that are the last of one of their ends.
    """

    def __init__(self, graph: Graph, mask: BoolArray, is_leaf: BoolArray) -> None:
        self._source, self._target, self._is_leaf = graph.source, graph.target, is_leaf
        self.is_needed = mask & (is_leaf[graph.source] | is_leaf[graph.target])

    def replaced_by(self, last: NDArray[np.int64], edges: NDArray[np.int64]) -> BoolArray:
        """Whether each of `edges` leads to all nodes that the loss of each last edge leaves, (last, edges)."""
        leads = np.ones((last.size, edges.size), bool)
        for ends in (self._source[last][:, None], self._target[last][:, None]):
            leads &= ~self._is_leaf[ends] | (self._source[edges] == ends) | (self._target[edges] == ends)
        return leads


ENTROPY_RULES = 2.0
"""Below this β the entropy outweighs the divergence, and good subsets gather around a few nodes."""


QUICK = 3.0
"""Nominal seconds of as many moves as there are edges from which moves count as costly."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What a subset must satisfy besides its size.

    `cover` is an edge cover as small as any known (:func:`graphpri._selection.least_cover`), where every node that has
    edges must keep one.
    """

    connected: bool = False
    protect: BoolArray | None = None
    forbid: BoolArray | None = None
    cover: BoolArray | None = None

    def allowed(self, size: int) -> BoolArray:
        """Edges that may be kept."""
        return np.ones(size, bool) if self.forbid is None else ~self.forbid

    def free(self, size: int) -> BoolArray:
        """Edges that may be kept or dropped."""
        allowed = self.allowed(size)
        return allowed if self.protect is None else allowed & ~self.protect

    @property
    def rules(self) -> list[str]:
        """Names of those that there are."""
        return [name for name, rule in vars(self).items() if rule is not None and rule is not False]


@dataclass
class Allowance:
    """Nominal seconds that a search may spend on evaluations until its present stage ends."""

    seconds: float = np.inf


@dataclass(frozen=True, eq=False)
class Search:
    """An evaluator, its constraints, the random numbers and the monitor of one run.

    With `sizes_vary` single additions and removals are moves as well. When the allowance is spent, every stage ends at
    the best that it has.
    """

    evaluator: MoveEvaluator
    constraints: Constraints
    monitor: Monitor
    rng: np.random.Generator
    sizes_vary: bool = False
    allowance: Allowance = field(default_factory=Allowance)

    free: BoolArray = field(init=False)
    ties: Edges = field(init=False)
    finder: BridgeFinder | CoverFinder | None = field(init=False)

    def __post_init__(self) -> None:
        finder = None
        if self.constraints.connected:
            finder = BridgeFinder(self.evaluator.graph)
        elif self.constraints.cover is not None:
            finder = CoverFinder(self.evaluator.graph)
        object.__setattr__(self, "finder", finder)
        m = self.evaluator.graph.n_edges
        object.__setattr__(self, "free", self.constraints.free(m))
        object.__setattr__(self, "ties", tie_keys(m, deepcopy(self.rng)))

    def reset(self, mask: BoolArray) -> None:
        """Go to a feasible subset and offer it as the best."""
        self.evaluator.reset(mask)
        self.monitor.offer(mask, self.evaluator.value)

    def try_subset(self, mask: BoolArray) -> bool:
        """Go to a feasible subset and offer it where that lowers J, else stay; returns whether it did."""
        before, value = self.evaluator.position(), self.evaluator.value
        self.evaluator.reset(mask)
        if self.lowers(value):
            self.monitor.offer(mask, self.evaluator.value)
            return True
        self.evaluator.return_to(before)
        return False

    def is_allowed(self, mask: BoolArray) -> bool:
        """Whether a subset of free and protected edges satisfies the constraints."""
        graph = self.evaluator.graph
        if self.constraints.connected:
            return _number_of_components(graph, mask) == graph.components()[0]
        if self.constraints.cover is not None:
            ends = np.concatenate([graph.source[mask], graph.target[mask]])
            return bool((np.bincount(ends, minlength=graph.n_nodes)[graph.degrees() > 0] > 0).all())
        return bool(mask.any())

    def step(self, stage: str, step: int, fraction: float) -> None:
        """Report a step of the evaluator."""
        self.monitor.step(stage, step, int(self.evaluator.mask.sum()), self.evaluator.value, fraction)

    @property
    def seconds_per_move(self) -> float:
        """Nominal time of a move, so that the amount of work does not depend on a clock."""
        bridges = 4e-7 * self.evaluator.graph.n_edges if self.constraints.connected else 0.0
        return 3e-4 + 1.3e-7 * self.evaluator.work + bridges

    @property
    def keeps_degrees(self) -> bool:
        """Whether local minima differ in what leaves the degrees as they are: equal weights, a budget and a large β."""
        return self.evaluator.exact_swaps and self.evaluator.beta > ENTROPY_RULES and not self.sizes_vary

    @property
    def has_squares(self) -> bool:
        """Whether cycles of four edges are flipped: by the exact entropy, with equal weights and a large β."""
        evaluator = self.evaluator
        exact = isinstance(evaluator, ExactEvaluator) and evaluator.exact_swaps
        return exact and evaluator.beta >= DIVERGENCE_RULES and not self.is_large

    @property
    def is_spent(self) -> bool:
        """Whether the allowance is spent."""
        return self.evaluator.spent >= self.allowance.seconds

    @property
    def is_costly(self) -> bool:
        """Whether as many moves as there are edges can't be afforded several times."""
        return self.evaluator.graph.n_edges * self.seconds_per_move > QUICK

    @property
    def is_large(self) -> bool:
        """Whether sizes vary and moves are costly: flips go before swaps, and many at a time before single ones."""
        return self.sizes_vary and self.is_costly

    @property
    def unit(self) -> float:
        """Change of J where F changes by 1."""
        return max(abs(1 - self.evaluator.beta), self.evaluator.beta) / self.evaluator.trace

    @property
    def gain(self) -> float:
        """Smallest predicted gain that is worth a move."""
        return PREDICTION_ERROR * self.unit

    def lowers(self, before: float) -> bool:
        """Whether J of the evaluator's subset lies below another value by more than rounding."""
        return self.evaluator.value < before - tolerance(before, self.evaluator.beta)

    def smallest(self, changes: FloatArray, among: Edges, count: int) -> Edges:
        """The edges of `among` with the smallest changes, at most `count`."""
        return smallest(changes, among, count, self.ties, self.unit)

    def ascending(self, changes: FloatArray) -> Edges:
        """All edges from the smallest change to the largest."""
        return ascending(changes, self.ties, self.unit)

    def forest(self, changes: FloatArray) -> BoolArray:
        """Spanning forest of the evaluator's subset, of the edges that must stay and then those worth most."""
        ranks = places(changes, self.ties, self.unit)
        return best_forest(self.evaluator.graph, np.lexsort((-ranks, self.free, ~self.evaluator.mask)))

    def cover(self, changes: FloatArray) -> BoolArray:
        """Edge cover of the evaluator's subset: of each node that no protected edge covers the edge worth most."""
        place, mask, c = (
            self.ties.size - 1 - places(changes, self.ties, self.unit),
            self.evaluator.mask,
            self.constraints,
        )
        assert c.cover is not None
        return cover_by(self.evaluator.graph, place, mask.size, c.cover, among=mask, protect=c.protect)

    def best_of(self, changes: FloatArray, k: int) -> BoolArray:
        """The `k` edges worth most that the constraints allow; of the evaluator's subset, as far as they allow that."""
        mask, changes = self.evaluator.mask, np.where(self.evaluator.mask, -changes, changes)
        order = np.lexsort((places(changes, self.ties, self.unit), ~mask))
        return take_top(self.evaluator.graph, order, k, **vars(self.constraints))

    def droppable(self, changes: FloatArray) -> BoolArray:
        """Kept edges that may all go at once: free, and outside a spanning forest or a cover where one must stay."""
        loose = self.evaluator.mask & self.free
        if self.constraints.connected:
            return loose & ~self.forest(changes)
        return loose if self.constraints.cover is None else loose & ~self.cover(changes)

    def helpful(self, changes: FloatArray) -> BoolArray:
        """Edges whose flip is predicted to lower J, and that may all be flipped at once."""
        return (changes < -self.gain) & (self.droppable(changes) | (self.free & ~self.evaluator.mask))


def eliminate(search: Search, start: BoolArray, k: int, share: float) -> Iterator[BoolArray]:
    """Drop edges from a feasible subset down to `k`, a share of them at a time, cheapest first.

    Yields the subset after each step, the evaluator standing at it; the first one is `start`. Where nodes must stay
    covered, the last ones go all at once if single ones can't.
    """
    evaluator = search.evaluator
    mask, total = start, int(start.sum())
    for step in count(1):
        evaluator.reset(mask)
        yield mask
        size = int(mask.sum())
        if size <= k:
            return
        search.step("eliminate", step, (total - size) / max(total - k, 1))
        changes = evaluator.flip_changes() if search.sizes_vary else evaluator.swap_changes()
        candidates = np.flatnonzero(search.droppable(changes))
        few = min(max(1, int(share * size)), size - k, candidates.size)
        if few == 0 and search.constraints.cover is None:
            return
        mask = mask.copy() if few else search.best_of(changes, k)
        mask[search.smallest(changes, candidates, few)] = False


class Move(NamedTuple):
    """Edges to drop and to add, with the predicted change of J and of F."""

    change: float
    out: tuple[int, ...]
    into: tuple[int, ...]
    terms: FloatArray

    @property
    def edges(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The move without its prediction."""
        return self.out, self.into


MOST_TABU = 2
"""Wrong predictions at a subset after which more candidates are looked at."""

Tabu = set[tuple[tuple[int, ...], tuple[int, ...]]]
NO_MOVE = Move(np.inf, (), (), np.empty(0))


def best_move(search: Search, width: int, tabu: Tabu) -> Move:
    """The best predicted move at the evaluator's subset, from `width` candidates on either side."""
    evaluator, mask = search.evaluator, search.evaluator.mask
    evaluator.spent += 4e-4 + 2e-7 * mask.size
    bridges = search.finder.find(mask) if search.finder is not None else None
    loose = mask & search.free
    if bridges is not None:
        loose &= ~bridges.is_needed
    dropped = np.flatnonzero(~mask & search.free)
    moves: list[Move] = []
    if search.sizes_vary:
        moves.append(_best_flip(search, loose, dropped, tabu))
        if search.is_large and moves[0].change < -search.gain:
            return moves[0]
    changes = evaluator.swap_changes()
    out, into = search.smallest(changes, np.flatnonzero(loose), width), search.smallest(changes, dropped, width)
    if out.size and into.size:
        moves.append(_best_pair(search, *evaluator.pairs(out, into), out, into, tabu))
    if bridges is not None and dropped.size:
        moves.append(_best_bridge_swap(search, bridges, changes, dropped, width, tabu))
    best = NO_MOVE
    for move in moves:
        if move.change < best.change - (NOISE * search.unit if best.edges[0] or best.edges[1] else 0.0):
            best = move
    return best


def _best_pair(search: Search, changes: FloatArray, terms: FloatArray, out: Edges, into: Edges, tabu: Tabu) -> Move:
    for dropped, added in tabu:
        if len(dropped) == len(added) == 1:
            changes[np.ix_(out == dropped[0], into == added[0])] = np.inf
    rows, columns = np.divmod(lowest(changes.ravel(), search.unit), into.size)
    first = np.lexsort((search.ties[into[columns]], search.ties[out[rows]]))[0]
    i, j = int(rows[first]), int(columns[first])
    return Move(float(changes[i, j]), (int(out[i]),), (int(into[j]),), terms[:, i, j])


def _best_flip(search: Search, loose: BoolArray, dropped: Edges, tabu: Tabu) -> Move:
    changes = search.evaluator.flip_changes()
    allowed = loose.copy()
    allowed[dropped] = True
    for out, into in tabu:
        if len(out) + len(into) == 1:
            allowed[list(out + into)] = False
    changes = np.where(allowed, changes, np.inf)
    equal = lowest(changes, search.unit)
    edge = int(equal[np.argmin(search.ties[equal])])
    sides = ((edge,), ()) if search.evaluator.mask[edge] else ((), (edge,))
    return Move(float(changes[edge]), *sides, search.evaluator.flip_terms_of(edge))


def _best_bridge_swap(
    search: Search, bridges: Bridges | LastEdges, changes: FloatArray, dropped: Edges, width: int, tabu: Tabu
) -> Move:
    """Swap of a bridge for a dropped edge across the same cut."""
    tied = np.flatnonzero(search.evaluator.mask & search.free & bridges.is_needed)
    out = search.smallest(changes, tied, max(width // 2, 8))
    crossing = bridges.replaced_by(out, dropped)
    ranks = places(changes[dropped], search.ties[dropped], search.unit)
    ranked = np.where(crossing, ranks, ranks + dropped.size)
    few = min(4, dropped.size)
    columns = np.unique(np.argpartition(ranked, few - 1, axis=1)[:, :few]) if out.size else np.empty(0, np.int64)
    columns = columns[crossing[:, columns].any(axis=0)]
    if not columns.size:
        return NO_MOVE
    into = dropped[columns]
    pairs, terms = search.evaluator.pairs(out, into)
    pairs[~crossing[:, columns]] = np.inf
    return _best_pair(search, pairs, terms, out, into, tabu)


def descend(
    search: Search,
    widths: tuple[int, ...],
    *,
    most: int | None = None,
    beat: tuple[BoolArray, float] | None = None,
    passed: dict[bytes, object] | None = None,
) -> int:
    """Steepest descent: make the best move until none helps; return the number of moves.

    Moves that turned out not to help are tabu until the subset is better (Glover, 1989).

    The evaluator's predictions are checked against J itself now and then, before each move after one was wrong: the
    subset at the end is the best checked one. With `beat`, a subset and its J, the search ends where it
    falls back to that subset, and a result that is not better is not checked. With `passed`, the subsets that earlier
    descents went through, it ends at the first of them, as from there it would go the same way; its own are added.
    """
    evaluator, this = search.evaluator, object()

    def known() -> bool:
        return passed is not None and passed.setdefault(evaluator.mask.tobytes(), this) is not this

    if known():
        return 0
    checked, checked_value = evaluator.mask.copy(), evaluator.value
    interval, pending, moves, width = 32, 0, 0, 0
    tabu: Tabu = set()
    while (most is None or moves < most) and not search.is_spent:
        move = best_move(search, widths[width], tabu)
        if helps := move.change < -search.gain:
            moves += 1
            value = _value_after(search, move) if interval == 1 else np.nan
            if value >= checked_value - tolerance(checked_value, evaluator.beta):
                tabu.add(move.edges)
                if len(tabu) <= MOST_TABU * (width + 1):
                    continue
                width += 1
                if width == len(widths):
                    break
                continue
            evaluator.move(move.out, move.into, move.terms)
            pending += 1
            search.step("swap" if beat is None else "perturb", moves, 0.5)
            if known() or (beat is not None and np.array_equal(evaluator.mask, beat[0])):
                return moves
            if interval == 1:
                evaluator.value = value
                checked, checked_value = evaluator.mask.copy(), value
                search.monitor.offer(checked, checked_value)
                tabu.clear()
            if pending < max(interval, 32 * (interval == 1)) and evaluator.drift < 0.03:
                continue
        elif not pending:
            width += 1
            if width == len(widths):
                break
            continue
        if beat is not None and evaluator.value > beat[1] + search.gain and not helps:
            return moves
        evaluator.reset(evaluator.mask)
        if search.lowers(checked_value):
            checked, checked_value = evaluator.mask.copy(), evaluator.value
            search.monitor.offer(checked, checked_value)
            tabu.clear()
        elif interval > 1:
            evaluator.reset(checked)
            interval = 1
        pending = 0
    if pending:
        evaluator.reset(evaluator.mask)
        if interval > 1 and not search.lowers(checked_value):
            evaluator.reset(checked)
        search.monitor.offer(evaluator.mask, evaluator.value)
    return moves


def _value_after(search: Search, move: Move) -> float:
    """J itself after a move."""
    mask = search.evaluator.mask.copy()
    mask[list(move.out + move.into)] ^= True
    return float(search.evaluator.values(mask[None])[0])


class Check(NamedTuple):
    """What evaluating single moves by J has shown: a better subset, if one was found, and how many were looked at."""

    better: BoolArray | None
    looked_at: int
    allowed: int
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether no allowed move improves J."""
        return self.better is None and self.looked_at == self.allowed


def check_moves(search: Search, seconds: float) -> Check:
    """Evaluate the single moves at the evaluator's subset by J itself, those predicted best first.

    Moves are all swaps and, where sizes vary, all additions and removals that the constraints allow. It ends with
    the first moves that improve J, or when the nominal seconds are spent. A swap that is known to raise J, by an exact
    prediction or by a bound from below, counts as looked at.
    """
    evaluator, mask = search.evaluator, search.evaluator.mask
    candidates, allowed, bounded, spent = _candidates(search, seconds / 2)
    most = int((seconds - spent) / evaluator.seconds_per_value)
    chunk = max(8, min(512, int(2e6 / evaluator.work)))
    for low in range(0, min(most, len(candidates)), chunk):
        some = candidates[low : min(low + chunk, most)]
        subsets = np.repeat(mask[None], len(some), axis=0)
        for side, kept in ((0, False), (1, True)):
            rows = np.flatnonzero(some[:, side] >= 0)
            subsets[rows, some[rows, side]] = kept
        values = evaluator.values(subsets)
        spent += len(some) * evaluator.seconds_per_value
        better, _ = _together(search, mask, evaluator.value, subsets, values, jointly=search.sizes_vary)
        if better is not mask:
            return Check(better, low + len(some), allowed, spent)
        search.step("check", low + len(some), (low + len(some)) / len(candidates))
    looked_at = min(most, len(candidates)) + (bounded if most >= len(candidates) else 0)
    return Check(None, looked_at, allowed, spent)


def _candidates(search: Search, seconds: float) -> tuple[NDArray[np.int64], int, int, float]:
    """Single moves that may improve J, as edges to drop and to add (−1 for none), those predicted best first.

    Also returns how many moves are allowed, how many are left out since they are known to raise J, and the nominal
    seconds that their predictions took.
    """
    evaluator, mask = search.evaluator, search.evaluator.mask
    loose, dropped = mask & search.free, np.flatnonzero(~mask & search.free)
    bridges = search.finder.find(mask) if search.finder is not None else None
    is_needed = np.zeros(mask.size, bool) if bridges is None else bridges.is_needed
    moves, changes = [np.empty((0, 2), np.int64)], [np.empty(0)]
    out, into = np.flatnonzero(loose), dropped
    allowed = bounded = 0
    if search.sizes_vary:
        removable = out[~is_needed[out]] if mask.sum() > 1 else out[:0]
        flips = evaluator.flip_changes()
        moves += [np.column_stack([removable, np.full(removable.size, -1)])]
        moves += [np.column_stack([np.full(into.size, -1), into])]
        changes += [flips[removable], flips[into]]
        allowed += removable.size + into.size
    width = max(1, int((seconds / evaluator.seconds_per_pair) ** 0.5))
    crossing = None if bridges is None else bridges.replaced_by(out[is_needed[out]], into)
    if crossing is not None:
        allowed += int(crossing.sum()) + int((~is_needed[out]).sum()) * into.size
    else:
        allowed += out.size * into.size
    if out.size * into.size > width**2:
        singles = evaluator.swap_changes()
        out, into = search.smallest(singles, out, width), search.smallest(singles, into, width)
    margin = 4 * search.gain
    step = max(1, int(2e5 / max(into.size, 1)))
    for low in range(0, out.size if into.size else 0, step):
        some = out[low : low + step]
        predicted, terms = evaluator.pairs(some, into)
        least = evaluator.least_changes(some, into, predicted, terms)
        if bridges is not None:
            tied = np.flatnonzero(is_needed[some])
            least[tied] = np.where(bridges.replaced_by(some[tied], into), least[tied], np.nan)
        rows, columns = np.nonzero(least < margin)
        bounded += int(np.count_nonzero(least >= margin))
        moves.append(np.column_stack([some[rows], into[columns]]))
        changes.append(predicted[rows, columns])
    every = np.concatenate(moves)
    keys = np.append(search.ties, -1)
    ranks = np.empty(len(every), np.int64)
    ranks[np.lexsort((keys[every[:, 1]], keys[every[:, 0]]))] = np.arange(len(every))
    spent = out.size * into.size * evaluator.seconds_per_pair
    return every[ascending(np.concatenate(changes), ranks, search.unit)], allowed, bounded, spent


def bulk_flips(search: Search, most: int) -> None:
    """Bulk flips of a free size: drop and add half of the edges that help alone, halved again where J rises."""
    evaluator = search.evaluator
    few = evaluator.mask.size
    for step in range(1, most + 1):
        if search.is_spent:
            return
        changes = evaluator.flip_changes()
        chosen = np.flatnonzero(search.helpful(changes))
        few = min(few, (chosen.size + 1) // 2)
        if few < 2:
            return
        search.step("flip", step, step / most)
        new = evaluator.mask.copy()
        new[search.smallest(changes, chosen, few)] ^= True
        if not new.any():
            return
        if not search.try_subset(new):
            few //= 2


def scattered_flips(search: Search, most: int) -> None:
    """Flips of a free size at nodes that no other of them touches, so that their gains nearly add up; most first."""
    evaluator, graph, share = search.evaluator, search.evaluator.graph, 1.0
    for step in range(1, most + 1):
        if search.is_spent:
            return
        changes = evaluator.flip_changes()
        helps = search.helpful(changes)
        chosen: list[int] = []
        touched = np.zeros(graph.n_nodes, bool)
        for edge in search.ascending(np.where(helps, changes, np.inf))[: int(np.count_nonzero(helps))]:
            u, v = graph.source[edge], graph.target[edge]
            if not (touched[u] or touched[v]):
                touched[u] = touched[v] = True
                chosen.append(int(edge))
        few = int(share * len(chosen))
        if few < 2:
            return
        search.step("flip", step, step / most)
        new = evaluator.mask.copy()
        new[chosen[:few]] ^= True
        if not search.try_subset(new):
            share /= 2


def leading_flips(search: Search, most: int) -> None:
    """Flips of a free size, the most promising 1, 2, 4, … of those that help: as many as lower J most.

    Where none of these helps, the first few are evaluated one by one, and those that raise J are left out from then on.
    """
    evaluator = search.evaluator
    wrong = np.zeros(evaluator.mask.size, bool)
    for step in range(1, most + 1):
        changes = evaluator.flip_changes()
        helps = search.helpful(changes) & ~wrong
        count = int(np.count_nonzero(helps))
        if not count or search.is_spent:
            return
        search.step("flip", step, step / most)
        order = search.ascending(np.where(helps, changes, np.inf))[:count]
        masks = np.repeat(evaluator.mask[None], count.bit_length(), axis=0)
        for number, mask in enumerate(masks):
            mask[order[: 1 << number]] ^= True
        values = evaluator.values(masks[masks.any(axis=1)])
        best = int(lowest(values, search.unit)[0])
        if values[best] < evaluator.value - search.gain:
            search.reset(masks[best])
            continue
        few = order[:SINGLES]
        masks = np.repeat(evaluator.mask[None], few.size, axis=0)
        masks[np.arange(few.size), few] ^= True
        wrong[few[evaluator.values(masks) > evaluator.value - search.gain]] = True


SINGLES = 16
"""Flips that are evaluated one by one where many at a time don't help."""


def bulk_swaps(search: Search, start: int, most: int) -> bool:
    """Bulk swaps: the c cheapest kept edges for the c best dropped ones, c halved where J does not fall.

    Returns whether that ended before `most` of them were tried.
    """
    evaluator = search.evaluator
    few = start
    changes = evaluator.swap_changes()
    for step in range(1, most + 1):
        if search.is_spent:
            return False
        search.step("swap", step, step / most)
        out, into = np.flatnonzero(search.droppable(changes)), np.flatnonzero(~evaluator.mask & search.free)
        few = min(few, out.size, into.size)
        if not few:
            return True
        new = evaluator.mask.copy()
        new[search.smallest(changes, out, few)] = False
        new[search.smallest(changes, into, few)] = True
        if search.try_subset(new):
            changes = evaluator.swap_changes()
        else:
            few //= 2
    return False


def perturbed(search: Search, number: int, flips: FloatArray) -> BoolArray:
    """A perturbation of the evaluator's subset, of the same size: whole nodes, a few edges, or a few nearby ones.

    With equal weights and a budget, where the divergence rules, mostly closed trails, which change no degree; less
    often where the budget can't cover all nodes.
    """
    evaluator, rng = search.evaluator, search.rng
    graph, mask = evaluator.graph, evaluator.mask
    size, joined = int(mask.sum()), int(np.count_nonzero(graph.degrees()))
    share = CLOSED if size >= joined else CLOSED / 2
    if search.keeps_degrees and evaluator.beta >= DIVERGENCE_RULES and rng.random() < share:
        closed = _closed_trails(search)
        if closed is not None:
            return closed
    place = np.empty(mask.size)
    place[search.ascending(flips)] = np.linspace(0, 1, mask.size, endpoint=False)
    score = np.where(mask, 1 + place, 1 - place)
    if number % 2 == 0:
        how = rng.integers(3)
        if how != 0:
            score[_incident(search, mask)] -= 2
        if how != 1:
            score[_incident(search, ~mask)] += 2
    elif number % 4 == 3 and rng.random() < 0.5:
        trail = _alternating_trail(search)
        score[trail] = np.where(mask[trail], -score[trail], 2 + score[trail])
    else:
        pool = np.arange(mask.size) if number % 4 == 1 else _nearby(search)
        kept, dropped = pool[mask[pool]], pool[~mask[pool]]
        count = min(int(rng.integers(2, max(3, min(8, size // 4)))), kept.size, dropped.size)
        score[rng.choice(kept, count, replace=False)] -= 2
        score[rng.choice(dropped, count, replace=False)] += 2
    order = np.argsort(-score, kind="stable")
    return take_top(graph, order, size, **vars(search.constraints))


LONGEST = 12
"""Edges of the longest trails that are flipped at once."""

CLOSED, TRIES = 0.7, 10
"""Share of perturbations by closed trails, and how often one is looked for."""

DIVERGENCE_RULES = 8.0
"""From this β on closed trails were measured to lead on."""

BEAM = 2000
"""Trails of each length that are made longer."""


def alternating_trail(search: Search, evaluated: int = 8) -> BoolArray | None:
    """The best flip of a whole trail of edges kept and dropped in turn that lowers J, or None; right after a reset.

    For free sizes: with a budget it takes more time than it saves.

    Such a trail changes the degrees of its two ends alone, or none where it is closed, and longer ones can't be made
    of single moves that each lower J. As in the search of Lin and Kernighan (1973) trails grow edge by edge, the best
    `BEAM` of each length. What they change is predicted by the exact entropy as the sum of their edges' flips and of
    what edges next to each other change beyond these; the best few are evaluated.
    """
    evaluator, mask, graph = search.evaluator, search.evaluator.mask, search.evaluator.graph
    if not isinstance(evaluator, ExactEvaluator) or not (search.free & mask).any() or not (search.free & ~mask).any():
        return None
    cost = evaluator.flip_changes()
    steps = _Steps.of(evaluator, search.free)
    m = mask.size
    arcs = np.flatnonzero(np.tile(search.free, 2))
    trails, total = (arcs % m)[:, None], cost[arcs % m]
    start = np.where(arcs < m, graph.source[arcs % m], graph.target[arcs % m])
    found: list[tuple[float, bytes]] = []
    for length in range(2, LONGEST + 1):
        before, place = steps.after(arcs)
        arcs, edges = steps.arc[place], steps.arc[place] % m
        new = (trails[before] != edges[:, None]).all(axis=1)
        before, place, arcs, edges = before[new], place[new], arcs[new], edges[new]
        if not arcs.size:
            break
        total = total[before] + cost[edges] + steps.change[place]
        trails, start = np.column_stack([trails[before], edges]), start[before]
        head = np.where(arcs < m, graph.target[edges], graph.source[edges])
        value = total
        if length % 2 == 0:
            closed = np.flatnonzero(head == start)
            value = total.copy()
            value[closed] += steps.between(trails[closed, 0], edges[closed])
        if length > 2:
            for number in ascending(value, np.arange(value.size), search.unit)[: 4 * evaluated]:
                if value[number] >= -search.gain:
                    break
                subset = mask.copy()
                subset[trails[number]] ^= True
                found.append((float(value[number]), subset.tobytes()))
        best = np.sort(ascending(total, np.arange(total.size), search.unit)[:BEAM])
        trails, arcs, total, start = trails[best], arcs[best], total[best], start[best]
    subsets: list[BoolArray] = []
    order = ascending(np.array([value for value, _ in found]), np.arange(len(found)), search.unit) if found else []
    for content in dict.fromkeys(found[number][1] for number in order):
        subset = np.frombuffer(content, bool)
        if search.is_allowed(subset):
            subsets.append(subset)
        if len(subsets) == evaluated:
            break
    if not subsets:
        return None
    values = evaluator.values(np.array(subsets))
    number = int(lowest(values, search.unit)[0])
    return subsets[number] if values[number] < evaluator.value - tolerance(evaluator.value, evaluator.beta) else None


@dataclass(frozen=True, eq=False)
class _Steps:
    """Ways to go on from an edge to one that is dropped where it is kept, or kept where it is dropped.

    Arcs are numbered from 0 to 2M − 1, those of an edge from source to target first.
    """

    first: Edges
    arc: Edges
    change: FloatArray
    keys: Edges
    changes: FloatArray

    @classmethod
    def of(cls, evaluator: ExactEvaluator, free: BoolArray) -> _Steps:
        graph, mask, m = evaluator.graph, evaluator.mask, evaluator.mask.size
        edges = np.tile(np.arange(m), 2)
        heads = np.concatenate([graph.target, graph.source])
        neighbours = graph.neighbours
        place, before = neighbours.leaving(heads)
        edge, node = neighbours.edge[place].astype(np.int64), neighbours.node[place]
        fine = free[edge] & free[edges[before]] & (mask[edge] != mask[edges[before]])
        before, edge, node = before[fine], edge[fine], node[fine]
        kept = np.where(mask[edge], edge, edges[before])
        dropped = np.where(mask[edge], edges[before], edge)
        keys, inverse = np.unique(kept * m + dropped, return_inverse=True)
        changes = evaluator.shared(keys // m, keys % m)
        first = np.searchsorted(before, np.arange(2 * m + 1))
        arc = np.where(graph.target[edge] == node, edge, edge + m)
        return cls(first, arc, changes[inverse], keys, changes)

    def after(self, arcs: Edges) -> tuple[Edges, Edges]:
        """Which of the arcs each step goes on from, and the places of the steps."""
        counts = self.first[arcs + 1] - self.first[arcs]
        before = np.repeat(np.arange(arcs.size), counts)
        return before, np.arange(before.size) - np.repeat(np.cumsum(counts) - counts - self.first[arcs], counts)

    def between(self, one: Edges, other: Edges) -> FloatArray:
        """What two edges next to each other change beyond their flips."""
        m = self.first.size // 2
        places = [np.searchsorted(self.keys, key) for key in (one * m + other, other * m + one)]
        found = [np.minimum(place, self.keys.size - 1) for place in places]
        return np.where(self.keys[found[0]] == one * m + other, self.changes[found[0]], self.changes[found[1]])


MOST_PARTS = 16
"""Most parts of the difference of two subsets that are tried, the smallest first."""


def crossed(
    search: Search, best: BoolArray, value: float, other: BoolArray, tried: set[bytes]
) -> tuple[BoolArray, int]:
    """Partition crossover (Whitley, Hains and Howe, 2009): the best subset, with what another one does better.

    The edges in which two subsets differ fall into connected parts, whose effects on J nearly add up. Those that lower
    J alone are taken together. For free sizes, as parts don't keep the size.

    Parameters
    ----------
    best : ndarray of bool, shape (M,)
        The subset to improve, with its J.
    tried : set of bytes
        Subsets that have been evaluated, which are left out; new ones are added.

    Returns
    -------
    ndarray of bool, shape (M,)
        The best subset itself where no part lowers J.
    int
        How many subsets were evaluated.
    """
    evaluator, graph = search.evaluator, search.evaluator.graph
    flips = [
        flip
        for flip in _parts(graph, best, other)
        if (best ^ flip).tobytes() not in tried and (best ^ flip).any() and not np.array_equal(best ^ flip, other)
    ]
    tried.update((best ^ flip).tobytes() for flip in flips)
    flips = [flip for flip in flips if search.is_allowed(best ^ flip)]
    if not flips:
        return best, 0
    subsets = np.array([best ^ flip for flip in flips])
    return _together(search, best, value, subsets, evaluator.values(subsets))


def _together(
    search: Search, start: BoolArray, value: float, subsets: BoolArray, values: FloatArray, *, jointly: bool = True
) -> tuple[BoolArray, int]:
    """The best of subsets evaluated by J, or, jointly, what those that are better than the start change together.

    Returns the start itself where none is better; and how many subsets were evaluated.
    """
    least = tolerance(value, search.evaluator.beta)
    number = ascending(values, np.arange(values.size), search.unit)
    number = number[values[number] < value - least]
    if not number.size:
        return start, len(subsets)
    together = start.copy()
    for flip in subsets[number if jointly else number[:1]] ^ start:
        if not (flip & (together ^ start)).any():
            together ^= flip
    first = subsets[number[0]]
    if np.array_equal(together, first) or not search.is_allowed(together):
        return first, len(subsets)
    joint = float(search.evaluator.values(together[None])[0])
    return (together if joint < values[number[0]] - least else first), len(subsets) + 1


def _parts(graph: Graph, one: BoolArray, other: BoolArray) -> list[BoolArray]:
    """Connected parts of the edges in which two subsets differ, the smallest first."""
    differ = one != other
    label = graph.components(differ)[1][graph.source]
    found = [differ & (label == part) for part in np.unique(label[differ])]
    return sorted(found, key=lambda part: int(part.sum()))[:MOST_PARTS]


def _alternating_trail(search: Search) -> Edges:
    """A random trail of edges that are kept and dropped in turn, grown at both ends until it is long or stuck.

    Flipping it changes the number of kept edges at its two ends only, as augmenting paths of matchings do: it
    shifts a pattern of edges that small changes can't.
    """
    evaluator, rng = search.evaluator, search.rng
    graph, mask, free = evaluator.graph, evaluator.mask, search.free.copy()
    if not free.any():
        return np.empty(0, np.int64)
    neighbours = graph.neighbours
    first = int(rng.choice(np.flatnonzero(free)))
    most = mask.size if rng.random() < 0.5 else int(rng.integers(2, 13))
    trail = [first]
    free[first] = False
    for node in (int(graph.source[first]), int(graph.target[first])):
        kept = bool(mask[first])
        while len(trail) < most:
            around = slice(neighbours.start[node], neighbours.start[node + 1])
            edges = neighbours.edge[around]
            on = np.flatnonzero(free[edges] & (mask[edges] != kept))
            if not on.size:
                break
            chosen = int(on[rng.integers(on.size)])
            edge, node, kept = int(edges[chosen]), int(neighbours.node[around][chosen]), not kept
            trail.append(edge)
            free[edge] = False
    return np.array(trail)


def _closed_trails(search: Search) -> BoolArray | None:
    """The subset after one or two random closed trails were flipped; None where none was found.

    The divergence depends on the degrees above all, so that local minima differ in cycles of edges kept and dropped in
    turn, whose single swaps all raise J.
    """
    rng = search.rng
    for _ in range(TRIES):
        subset = search.evaluator.mask.copy()
        flipped = np.zeros(subset.size, bool)
        for _ in range(int(rng.integers(1, 3))):
            for _ in range(TRIES):
                trail = _closed_trail(search)
                if trail is not None and not flipped[trail].any():
                    flipped[trail] = True
                    break
        subset ^= flipped
        if flipped.any() and search.is_allowed(subset):
            return subset
    return None


def _closed_trail(search: Search) -> list[int] | None:
    """A random trail of edges kept and dropped in turn that ends where it began; None where it doesn't soon."""
    evaluator, rng = search.evaluator, search.rng
    graph, mask, free = evaluator.graph, evaluator.mask, search.free.copy()
    neighbours = graph.neighbours
    edge = int(rng.choice(np.flatnonzero(free)))
    ends = int(graph.source[edge]), int(graph.target[edge])
    start, node = ends if rng.random() < 0.5 else ends[::-1]
    trail = [edge]
    while len(trail) < LONGEST:
        free[edge] = False
        around = slice(neighbours.start[node], neighbours.start[node + 1])
        edges, nodes = neighbours.edge[around], neighbours.node[around]
        on = free[edges] & (mask[edges] != mask[edge])
        closing = np.flatnonzero(on & (nodes == start))
        if len(trail) % 2 and closing.size:
            return [*trail, int(edges[closing[0]])]
        ways = np.flatnonzero(on)
        if not ways.size:
            return None
        chosen = int(ways[rng.integers(ways.size)])
        edge, node = int(edges[chosen]), int(nodes[chosen])
        trail.append(edge)
    return None


def flip_squares(search: Search) -> bool:
    """Flip cycles of two kept and two dropped edges in turn that lower J; returns whether any was.

    All degrees stay (the 2-switches by which random graphs of given degrees are made), so that neither flips nor swaps
    lead there. For equal weights and the exact entropy, which predicts what each changes; right after a reset. Cycles
    without a common node are flipped together, the best first, or the best alone where J is no lower then.
    """
    evaluator = search.evaluator
    assert isinstance(evaluator, ExactEvaluator)
    nodes, edges = _squares(search)
    changes = evaluator.switch_changes(nodes)
    order = ascending(changes, search.ties[edges].min(axis=1), search.unit)
    first: BoolArray | None = None
    together, touched = evaluator.mask.copy(), np.zeros(evaluator.graph.n_nodes, bool)
    for number in order[changes[order] < -search.gain]:
        if first is None:
            alone = evaluator.mask.copy()
            alone[edges[number]] ^= True
            first = alone if search.is_allowed(alone) else None
        if not touched[nodes[number]].any():
            touched[nodes[number]] = True
            together[edges[number]] ^= True
    if first is None:
        return False
    return (search.is_allowed(together) and search.try_subset(together)) or search.try_subset(first)


def _squares(search: Search) -> tuple[Edges, Edges]:
    """Cycles of free edges of which ab and cd are kept, bc and da dropped: nodes a, b, c, d and edges in that order."""
    graph, mask, n = search.evaluator.graph, search.evaluator.mask, search.evaluator.graph.n_nodes
    neighbours = graph.neighbours
    kept = np.flatnonzero(mask & search.free)
    ends = graph.source[kept].astype(np.int64), graph.target[kept].astype(np.int64)
    a, b, first = np.concatenate(ends), np.concatenate(ends[::-1]), np.tile(kept, 2)
    place, before = neighbours.leaving(b)
    second, c = neighbours.edge[place].astype(np.int64), neighbours.node[place].astype(np.int64)
    on = search.free[second] & ~mask[second]
    before, second, c = before[on], second[on], c[on]
    a, b, first = a[before], b[before], first[before]
    # A path from a to c, of a kept edge and a dropped one, and such a path from c to a are a cycle.
    order = np.argsort(a * n + c, kind="stable")
    low, high = (np.searchsorted((a * n + c)[order], c * n + a, side) for side in ("left", "right"))
    one = np.repeat(np.arange(a.size), high - low)
    other = order[np.arange(one.size) - np.repeat(np.cumsum(high - low) - high, high - low)]
    # Each is met from each of its nodes.
    once = (a[one] < c[one]) & (a[one] < b[one]) & (a[one] < b[other])
    one, other = one[once], other[once]
    return np.stack([a[one], b[one], c[one], b[other]], 1), np.stack(
        [first[one], second[one], first[other], second[other]], 1
    )


def _random_node(search: Search, edges: Edges) -> int:
    """An end of a random one of the edges."""
    graph, rng = search.evaluator.graph, search.rng
    ends = graph.source if rng.random() < 0.5 else graph.target
    return int(ends[edges[rng.integers(edges.size)]])


def _incident(search: Search, among: BoolArray) -> BoolArray:
    """The edges of `among` at one random node that has any."""
    graph = search.evaluator.graph
    if not among.any():
        return among
    node = _random_node(search, np.flatnonzero(among))
    return among & ((graph.source == node) | (graph.target == node))


def _nearby(search: Search) -> Edges:
    """Edges at the neighbours of a random node."""
    graph = search.evaluator.graph
    node = _random_node(search, np.arange(graph.n_edges))
    incident = (graph.source == node) | (graph.target == node)
    close = np.zeros(graph.n_nodes, bool)
    close[graph.source[incident]] = close[graph.target[incident]] = True
    return np.flatnonzero(close[graph.source] | close[graph.target])


# ---------------------------------------------------------------------------------------------------------------------
# Subsets around one place of the graph, to start from where the entropy rules and hubs are what counts.
# ---------------------------------------------------------------------------------------------------------------------

WALK_LENGTHS = (2, 6)
MOST_PLACES = 32


def around_nodes(search: Search, k: int) -> list[BoolArray]:
    """Subsets of `k` edges that short lazy random walks from one node visit most.

    Up to 32 nodes, spread evenly over the order of degrees, times the lengths of the walk.
    """
    graph = search.evaluator.graph
    degrees = settle(graph.strengths())
    order = np.lexsort((np.arange(graph.n_nodes), -degrees))
    order = order[degrees[order] > 0]
    seeds = order[np.unique(np.linspace(0, order.size - 1, min(MOST_PLACES, order.size)).astype(np.int64))]
    walk = np.zeros((graph.n_nodes, seeds.size))
    walk[seeds, np.arange(seeds.size)] = 1.0
    adjacency = graph.adjacency(search.evaluator.mu)
    divisor = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1e-300)[:, None]
    keyed = np.argsort(search.ties)
    subsets: list[BoolArray] = []
    for step in range(1, max(WALK_LENGTHS) + 1):
        walk = 0.5 * walk + 0.5 * (adjacency @ (walk / divisor))
        if step in WALK_LENGTHS:
            visits = walk[graph.source] * walk[graph.target]
            ranks = keyed[np.argsort(-settle(visits)[keyed], axis=0, kind="stable")].T
            subsets += [take_top(graph, rank, k, **vars(search.constraints)) for rank in ranks]
    return subsets
