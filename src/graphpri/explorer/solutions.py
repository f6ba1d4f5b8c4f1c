"""Solutions over a grid of β and budgets, and what is measured of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri._objective import Objective, Terms, check_beta
from graphpri._selection import best_forest_by, count_edges, rank, tolerance
from graphpri._sparsify import several
from graphpri.baselines import find
from graphpri.errors import GraphError, Interrupted, OptionError, argument
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.io.pieces import NOTHING_KEPT, Pieces
from graphpri.measures import MEASURES, Settings, View
from graphpri.solvers.budgeted import corrected, solve
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.solution import Callback, Progress

BETAS = (0, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
SHARES = (0.02, *(round(0.05 * i, 2) for i in range(1, 21)))
FULL_EDGES, HALF_EDGES = 50_000, 150_000
"""Edges up to which the whole grid of 21 by 21 is solved by default, and up to which 11 by 11; above it is 5 by 11."""

COLUMNS = ("entropy", "divergence", "barrier", "spectral_distance", "centralisation", "components", "cut_off")
_MEASURED = COLUMNS[3:]
_SCORE_BYTES = 300_000, 24  # at least, and per edge
_PATHS = 0.5  # share of the time that goes to paths, of a small graph

SEARCH_SECONDS = 3.5
"""Nominal seconds that searching a graph of up to `SEARCHED_EDGES` edges may take, counted in solutions and not by a
clock: the page is the same on every machine."""
SWEPT_NODES, CORRECTED_NODES = 50, 100
"""Nodes of a component above which the exact entropy's subsets begin as those of the local one, found by sweeps, and
above which exact prices correct these; swaps of single edges improve smaller ones."""
_SCORE_SECONDS, _FEW_EDGES = 1.2, 100  # fewer edges have scores at every stop


@dataclass
class Pool:
    """Subsets with the parts of J that do not depend on β: J_β of a subset is linear in it, and each β takes its best.

    Examples
    --------
    >>> pool = Pool(Objective(Graph.from_edges([0, 1, 2], [1, 2, 3]), 1.0))
    >>> pool.add(np.array([True, False, False]))
    >>> pool.add(np.ones(3, bool))
    >>> int(pool.best(0.0)[0].sum()), int(pool.best(100.0)[0].sum())
    (1, 3)
    """

    objective: Objective
    masks: list[BoolArray] = field(default_factory=list[BoolArray])
    terms: list[Terms] = field(default_factory=list[Terms])
    _seen: set[bytes] = field(default_factory=set[bytes])

    def add(self, mask: BoolArray) -> None:
        """Add a subset that is not there yet."""
        key = np.packbits(mask).tobytes()
        if key not in self._seen:
            self._seen.add(key)
            self.masks.append(mask)
            self.terms.append(self.objective.terms(self.objective.selection(mask)))

    def best(self, beta: float) -> tuple[BoolArray, float]:
        """The subset with the smallest J_β, and J there; of equals the one with the smallest divergence."""
        values = [terms.at(beta).objective for terms in self.terms]
        least = min(values)
        tied = [i for i, value in enumerate(values) if value <= least + tolerance(least, beta)]
        least_divergence = min(self.terms[i].divergence for i in tied)
        chosen = next(i for i in tied if self.terms[i].divergence <= least_divergence + tolerance(least_divergence))
        return self.masks[chosen], values[chosen]


@dataclass(frozen=True, eq=False)
class Grid:
    """Subsets of edges for every β and budget.

    Attributes
    ----------
    betas : tuple of float
        Ascending, B of them.
    budgets : tuple of int
        Numbers of edges, ascending, K of them.
    masks : ndarray of bool, shape (B, K, M)
        Kept edges, in canonical order.
    values : ndarray of float64, shape (B, K, 7)
        By `COLUMNS`: S, D and the barrier in nats, d_x, C_D, components, nodes cut off; NaN where left out.
    scored : tuple of int
        Indices of the budgets for which scores are there.
    scores : ndarray of uint8, shape (B, len(scored), M)
        How many 255ths of the edges have a smaller −∂J/∂w at that solution.
    notes : tuple of str
    interrupted : bool
        Whether the search was ended early; a note says where.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> meter = SubsetMeter.of(Objective(ring_knn(12, 4), 1.0))
    >>> grid = solve_grid(meter, [1.0, 4.0], [6, 12], Constraints(), seed=0)
    >>> grid.masks.shape, grid.masks.sum(axis=2).tolist()
    ((2, 2, 24), [[6, 12], [6, 12]])
    """

    betas: tuple[float, ...]
    budgets: tuple[int, ...]
    masks: BoolArray
    values: FloatArray
    scored: tuple[int, ...]
    scores: NDArray[np.uint8]
    notes: tuple[str, ...]
    interrupted: bool = False


@dataclass(frozen=True)
class SubsetMeter:
    """Measures subsets of one graph by what is affordable at its size.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> meter = SubsetMeter.of(Objective(ring_knn(12, 4), 1.0))
    >>> whole = dict(zip(COLUMNS, meter.row(np.ones(24, bool)), strict=True))
    >>> round(whole["divergence"], 6), whole["components"]
    (0.0, 1.0)
    """

    objective: Objective
    origin: View
    chosen: tuple[str, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, objective: Objective) -> SubsetMeter:
        """A meter for the graph of an objective."""
        settings = Settings(objective.beta, objective.alpha, objective.entropy, objective.mixture, "nats", 0)
        refused = {name: MEASURES[name].cost.refusal(objective.graph) for name in _MEASURED}
        left = tuple(f"{name} is left out: it {why}" for name, why in refused.items() if why is not None)
        chosen = tuple(name for name, why in refused.items() if why is None)
        return cls(objective, View(objective.graph, settings), chosen, left)

    def row(self, mask: BoolArray, terms: Terms | None = None) -> list[float]:
        """The values of `COLUMNS` for a subset."""
        view = View(self.objective.graph.select(mask), self.origin.settings, self.origin)
        found = {name: float(MEASURES[name].compute(view)) for name in self.chosen}
        t = terms or self.objective.terms(self.objective.selection(mask))
        return [t.entropy, t.divergence, t.barrier, *(found.get(name, np.nan) for name in _MEASURED)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, and what is to be known about some values."""
        return (*self.left_out, *self.origin.notes)


def choose_betas(beta: Any, graph: Graph) -> list[float]:
    """The given β, ascending and different, or those of the default for the size of the graph.

    Raises
    ------
    OptionError
        For none, and for values that are no β.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> choose_betas([4, 1, 4], ring_knn(12, 4))
    [1.0, 4.0]
    >>> len(choose_betas(None, ring_knn(12, 4)))
    21
    """
    if beta is None:
        step = 1 if graph.n_edges <= FULL_EDGES else 2 if graph.n_edges <= HALF_EDGES else 5
        return [float(b) for b in BETAS[::step]]
    return sorted({check_beta(b) for b in several(beta, "beta")})


def choose_budgets(keep: Any, graph: Graph, constraints: Constraints) -> list[int]:
    """Numbers of edges, ascending and different: the given ones, or those of the default that can be met.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> choose_budgets([0.5, 6], ring_knn(12, 4), Constraints())
    [6, 12]
    >>> choose_budgets(None, ring_knn(12, 4), Constraints(connected=True))[0]
    11
    """
    if not graph.n_edges:
        raise GraphError("the graph has no edges: there is nothing to explore")
    if keep is not None:
        return sorted({count_edges(k, graph.n_edges) for k in several(keep, "keep")})
    shares = SHARES if graph.n_edges <= FULL_EDGES else SHARES[::2]
    least, most = _range(graph, constraints)
    return sorted({min(max(count_edges(s, graph.n_edges), least), most) for s in shares})


def _range(graph: Graph, constraints: Constraints) -> tuple[int, int]:
    """Smallest and largest budget that the constraints allow; where there is none, the solver says so."""
    none = np.zeros(graph.n_edges, bool)
    protect = none if constraints.protect is None else constraints.protect
    least = int(protect.sum())
    if constraints.connected:
        least += graph.components(protect)[0] - graph.components()[0]
    most = int(constraints.allowed(graph.n_edges).sum())
    return max(least, 1), most


def solve_grid(
    meter: SubsetMeter,
    betas: Sequence[float],
    budgets: Sequence[int],
    constraints: Constraints,
    *,
    seed: int | None = None,
    callback: Callback | None = None,
    pieces: Pieces = NOTHING_KEPT,
) -> Grid:
    """Solve every β along the budgets; then each budget's subsets are shared by all β, and improved by swaps.

    J is linear in β for a fixed subset, so that along β the divergence never rises and (without a barrier) the
    entropy never falls. The β are solved in an order that spreads: what is there after an interruption covers
    their range.

    Parameters
    ----------
    meter : SubsetMeter
    betas, budgets : sequence
        Ascending.
    constraints, seed
        As in :func:`graphpri.path`.
    callback : callable, optional
        Gets a :class:`Progress` after each step of the solver; returning True stops: the β done so far are
        the grid's.
    pieces : Pieces
        Keeps what is solved, for a later call that goes on from there.

    Raises
    ------
    Interrupted
        On Ctrl-C, once a β is solved: its ``result`` is the grid of these.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> meter = SubsetMeter.of(Objective(ring_knn(12, 4), 1.0))
    >>> grid = solve_grid(meter, [1.0, 4.0], [6, 12], Constraints(), seed=0)
    >>> bool((grid.values[0, :, 1] >= grid.values[1, :, 1]).all())  # the divergence never rises with β
    True
    """
    pools = [Pool(meter.objective) for _ in budgets]
    done: list[float] = []
    notes = list[str]()

    def collected(interrupted: bool = True) -> Grid:
        grid = _collected(meter, sorted(done), budgets, pools, notes)
        return replace(grid, interrupted=interrupted)

    try:
        stopped = _solve(meter.objective, betas, budgets, constraints, seed, callback, pieces, pools, done, notes)
    except KeyboardInterrupt:
        if not done:
            raise KeyboardInterrupt from None
        notes.append(_INTERRUPTED[len(done) == len(betas)].format(len(done), len(betas)))
        raise Interrupted(collected) from None
    return collected(stopped)


_INTERRUPTED = {
    False: "interrupted: {} of {} beta were solved",
    True: "interrupted: every beta was solved, and swaps may improve some stops",
}


def _solve(
    objective: Objective,
    betas: Sequence[float],
    budgets: Sequence[int],
    constraints: Constraints,
    seed: int | None,
    callback: Callback | None,
    pieces: Pieces,
    pools: Sequence[Pool],
    done: list[float],
    notes: list[str],
) -> bool:
    """Fill the pools; `done` has the β that are in them. Whether the callback ended that early, and then a note."""
    key = [objective.graph, objective.alpha, objective.entropy, objective.mixture, vars(constraints)]
    first = coarse(objective, betas, len(budgets))
    for beta in _spread(first):
        begun, stopped = _PATHS * len(done) / len(first), False
        heard = _at(beta, begun, callback)

        def along(beta: float = beta, heard: Callback | None = heard) -> list[str]:
            found, halted = _along_budgets(objective, beta, budgets, constraints, seed, heard)
            if halted:
                raise _Halted(found)
            return [_packed(mask) for mask in found]

        try:
            found = pieces.get(["coarse", *key, beta, list(budgets), seed], along)
            masks = [_unpacked(text, objective.graph.n_edges) for text in found]
        except _Halted as halted:
            masks, stopped = halted.masks, True
        if stopped and done:
            notes.append(_INTERRUPTED[False].format(len(done), len(betas)))
            return True
        for pool, mask in zip(pools, masks, strict=True):
            pool.add(mask)
        done.append(beta)
        if stopped:
            notes.append("interrupted at the first beta: the subsets are the best until then")
            return True
    done[:] = betas  # the others take the best of what is found
    callbacks = [_at(beta, _PATHS, callback) for beta in betas]
    stopped = search_locally(objective, betas, budgets, pools, constraints, callbacks, pieces, notes)
    if stopped:
        notes.append(_INTERRUPTED[True])
    return stopped


def seconds_per_solution(objective: Objective) -> float:
    """Nominal seconds of one search of a small graph, from a subset nearby.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> 0.009 < seconds_per_solution(Objective(ring_knn(12, 4), 1.0)) < 0.01
    True
    """
    if objective.entropy != "exact":
        return 9e-3 + 1e-5 * objective.graph.n_edges
    return 9e-3 + 3e-6 * _largest_component(objective.graph) ** 2


def coarse(objective: Objective, betas: Sequence[float], budgets: int) -> list[float]:
    """The β that are solved along the budgets.

    All of a large graph or a short list, else as many as a part of the nominal time allows, evenly spread.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> coarse(Objective(ring_knn(12, 4), 1.0), BETAS, 21)
    [0, 0.5, 3, 15, 100]
    >>> coarse(Objective(ring_knn(12, 4), 1.0), [1, 4], 21)
    [1, 4]
    """
    if objective.graph.n_edges > SEARCHED_EDGES:
        return list(betas)
    each = seconds_per_solution(objective)
    if _is_swept(objective):
        each = 7e-6 * objective.graph.n_edges + 1e-9 * _largest_component(objective.graph) ** 3
    most = max(4, int(SEARCH_SECONDS / 3 / each / budgets))
    if len(betas) <= most:
        return list(betas)
    return [betas[round(i * (len(betas) - 1) / (most - 1))] for i in range(most)]


def _largest_component(graph: Graph) -> int:
    return int(np.bincount(graph.components()[1]).max())


def _is_swept(objective: Objective, nodes: int = SWEPT_NODES) -> bool:
    return objective.entropy == "exact" and _largest_component(objective.graph) > nodes


class _Halted(Exception):
    """The callback asked to stop within a path, whose subsets are the best until then."""

    def __init__(self, masks: list[BoolArray]) -> None:
        super().__init__()
        self.masks = masks


def _packed(mask: BoolArray) -> str:
    """A subset as text."""
    return np.packbits(mask).tobytes().hex()


def _unpacked(text: str, n_edges: int) -> BoolArray:
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8), count=n_edges).astype(bool)


def _along_budgets(
    objective: Objective,
    beta: float,
    budgets: Sequence[int],
    constraints: Constraints,
    seed: int | None,
    callback: Callback | None,
) -> tuple[list[BoolArray], bool]:
    """A subset for each budget, each from the next larger one's; and whether the callback stopped it."""
    at = replace(objective, beta=beta)
    if objective.graph.n_edges <= SEARCHED_EDGES:
        effort = "near"
        at = at.by_local_sweeps() if _is_swept(objective) else at
    else:
        effort = "fast"
    halt, start, halted = callback, None, False
    found: dict[int, BoolArray] = {}
    for k in sorted(budgets, reverse=True):
        solution = solve(at, k, constraints, effort=effort, seed=seed, callback=halt, start=start)
        found[k] = start = solution.mask
        if solution.status.halted:
            halt, halted = _stop, True
    return [found[k] for k in budgets], halted


def _stop(_: Progress) -> bool:
    return True


def _at(beta: float, begun: float, callback: Callback | None) -> Callback | None:
    """A callback that says for which β the solver works."""
    if callback is None:
        return None
    return lambda p: callback(Progress(f"beta {beta:g}, {p.stage}", p.step, p.edges, p.objective, begun))


def _spread(values: Sequence[Any]) -> list[Any]:
    """The middle, then the middles of both halves, and so on."""
    queue, found = [(0, len(values))], list[Any]()
    while queue:
        low, high = queue.pop(0)
        if low < high:
            middle = (low + high) // 2
            found.append(values[middle])
            queue += [(low, middle), (middle + 1, high)]
    return found


def _collected(
    meter: SubsetMeter, betas: Sequence[float], budgets: Sequence[int], pools: Sequence[Pool], notes: Sequence[str]
) -> Grid:
    m = meter.objective.graph.n_edges
    shape = (len(betas), len(budgets))
    masks, values = np.zeros((*shape, m), bool), np.zeros((*shape, len(COLUMNS)))
    scored = _scored(m, *shape, meter.objective)
    scores = np.zeros((len(betas), len(scored), m), np.uint8)
    rows: dict[int, list[float]] = {}
    for i, beta in enumerate(betas):
        for j, pool in enumerate(pools):
            mask = pool.best(beta)[0]
            at = next(t for t, held in zip(pool.terms, pool.masks, strict=True) if held is mask)
            if id(mask) not in rows:
                rows[id(mask)] = meter.row(mask, at)
            masks[i, j], values[i, j] = mask, rows[id(mask)]
        for slot, j in enumerate(scored):
            scores[i, slot] = _percentiles(replace(meter.objective, beta=beta), masks[i, j])
    return Grid(tuple(betas), tuple(budgets), masks, values, scored, scores, (*notes, *meter.notes))


def _scored(m: int, betas: int, budgets: int, objective: Objective | None = None) -> tuple[int, ...]:
    """Budgets whose scores the page has room for, and that are computed in the nominal time, evenly spread."""
    least, per_edge = _SCORE_BYTES
    count = int((least + per_edge * m) // (m * betas))
    if objective is not None and objective.entropy == "exact" and m > _FEW_EDGES:
        each = 4e-3 + 1.5e-9 * _largest_component(objective.graph) ** 3
        count = min(count, int(_SCORE_SECONDS / each / betas))
    count = min(budgets, max(1, count))
    if count == budgets:
        return tuple(range(budgets))
    return tuple(int(j) for j in np.round((np.arange(count) + 0.5) * budgets / count - 0.5))


def _percentiles(objective: Objective, mask: BoolArray) -> NDArray[np.uint8]:
    _, gradient = objective.terms_and_gradient(objective.selection(mask))
    below = np.searchsorted(np.sort(-gradient), -gradient, side="left")
    return np.floor(255 * below / max(mask.size - 1, 1)).astype(np.uint8)


SEARCHED_EDGES = 4000
"""Edges up to which swaps are looked for at each grid point; above, that would cost more than the path did."""


def search_locally(
    objective: Objective,
    betas: Sequence[float],
    budgets: Sequence[int],
    pools: Sequence[Pool],
    constraints: Constraints,
    callbacks: Sequence[Callback | None],
    pieces: Pieces = NOTHING_KEPT,
    notes: list[str] | None = None,
) -> bool:
    """Improve the best subset of grid points by swaps, or by exact prices, and put what is found into the pools.

    As many as `SEARCH_SECONDS` allow, those of the largest β first and then spread over the range. A second pass, where
    there is time for it, goes over the points whose best subset is another one than they were improved from.

    Parameters
    ----------
    objective : Objective
        Its β is not used.
    betas : sequence of float
    budgets : sequence of int
    pools : sequence of Pool
        The subsets of each budget, which all β share.
    constraints : Constraints
    callbacks : sequence
        One for each β, or None.
    pieces : Pieces
        Keeps what is found.
    notes : list of str, optional
        Gets a sentence where there was no time for all points.

    Returns
    -------
    bool
        Whether the callback stopped it; the pools then hold what was found until then.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> graph = ring_knn(12, 4)
    >>> pool = Pool(Objective(graph, 1.0))
    >>> pool.add(graph.source % 2 == 0)  # any twelve of the edges
    >>> before = pool.best(4.0)[1]
    >>> search_locally(pool.objective, [4.0], [12], [pool], Constraints(), [None]), pool.best(4.0)[1] < before
    (False, True)
    """
    if objective.graph.n_edges > SEARCHED_EDGES:
        return False
    key = [objective.graph, objective.alpha, objective.entropy, objective.mixture, vars(constraints)]
    left = max(len(budgets), int(SEARCH_SECONDS / seconds_per_solution(objective)))
    order = [len(betas) - 1, *_spread(range(len(betas) - 1))]
    settled: dict[tuple[int, int], bytes] = {}
    for i, j in [(i, j) for _ in range(_PASSES) for i in order for j in range(len(budgets))]:
        start, value = pools[j].best(betas[i])
        if settled.get((i, j)) == start.tobytes():
            continue
        if not left:
            if notes is not None and len(settled) < len(betas) * len(budgets):
                stops = len(betas) * len(budgets)
                notes.append(f"swaps of single edges were looked for at {len(settled)} of {stops} stops")
            return False
        left -= 1
        # Where no swap helps, the solver has no step to report.
        callback = callbacks[i]
        if callback is not None and callback(Progress("local search", j + 1, budgets[j], value, 0.0)) is True:
            return True
        at = replace(objective, beta=betas[i])
        improve = partial(_improved, at, budgets[j], constraints, callback, start)
        try:
            text = pieces.get(["near", *key, betas[i], budgets[j], _packed(start)], improve)
        except _Halted as halted:
            pools[j].add(halted.masks[0])
            return True
        mask = _unpacked(text, objective.graph.n_edges)
        pools[j].add(mask)
        settled[i, j] = mask.tobytes()
    return False


_PASSES = 2


def _improved(at: Objective, k: int, constraints: Constraints, callback: Callback | None, start: BoolArray) -> str:
    """A subset after swaps, as text."""
    if _is_swept(at, CORRECTED_NODES):
        found = corrected(at, k, start, constraints, rounds=2, callback=callback)
    else:
        found = solve(at, k, constraints, effort="near", callback=callback, start=start)
    if found.status.halted:
        raise _Halted([found.mask])
    return _packed(found.mask)


# Other methods: they score edges, so that one order of the edges has every budget in it

_MOST_PATHS = 3e7
"""Nodes times edges up to which edge betweenness takes little time."""


class Ranking(NamedTuple):
    """A method, the edges in the order in which it keeps them, shape (M,), and its measures, shape (K, 7).

    Examples
    --------
    >>> Ranking("random", np.array([2, 0, 1], np.uint32), np.zeros((1, len(COLUMNS)))).order[:2]
    array([2, 0], dtype=uint32)
    """

    method: str
    order: NDArray[np.uint32]
    values: FloatArray


def default_methods(graph: Graph) -> list[str]:
    """Methods that take little time at the size of the graph.

    Examples
    --------
    >>> from graphpri.datasets import ring_knn
    >>> default_methods(ring_knn(12, 4))
    ['random', 'local-degree', 'local-similarity', 'effective-resistance', 'edge-betweenness']
    """
    names = ["random", "local-degree", "local-similarity", "effective-resistance"]
    if graph.n_nodes * graph.n_edges <= _MOST_PATHS:
        names.append("edge-betweenness")
    return names + (["weight", "disparity"] if graph.is_weighted else [])


def rank_by(meter: SubsetMeter, name: str, budgets: Sequence[int], constraints: Constraints, seed: int) -> Ranking:
    """What a method keeps at every budget: the first K edges of one order.

    Raises
    ------
    OptionError
        For an unknown method, and one that sets weights of its own, which depend on the budget.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    >>> ranking = rank_by(SubsetMeter.of(Objective(graph, 1.0)), "effective-resistance", [1, 2], Constraints(), seed=0)
    >>> int(ranking.order[0]), ranking.values.shape  # the bridge comes first
    (2, (2, 7))
    """
    graph = meter.objective.graph
    order = _order(graph, name, constraints, seed)
    values = np.zeros((len(budgets), len(COLUMNS)))
    for j, k in enumerate(budgets):
        mask = np.zeros(graph.n_edges, bool)
        mask[order[:k]] = True
        values[j] = meter.row(mask)
    return Ranking(name, order.astype(np.uint32), values)


def _order(graph: Graph, name: str, constraints: Constraints, seed: int) -> NDArray[np.int64]:
    if name == "pri":
        raise OptionError(f"{argument('method', 'pri')} is what the page shows: name others to stand beside it")
    rng = np.random.default_rng(seed)
    scored = find(name).score(graph, graph.n_edges, rng)
    if scored.weights is not None:
        raise OptionError(f"method {name!r} sets weights of its own, which the page does not show: leave it out")
    order = rank(scored.scores, rng)
    first = np.zeros(graph.n_edges, bool) if constraints.protect is None else constraints.protect.copy()
    if constraints.connected:
        place = np.empty(graph.n_edges, np.int64)
        place[order] = np.arange(graph.n_edges)
        first |= best_forest_by(
            graph, -place.astype(np.float64), place, protect=constraints.protect, forbid=constraints.forbid
        )
    last = np.zeros(graph.n_edges, bool) if constraints.forbid is None else constraints.forbid
    classes = np.where(first, 0, np.where(last, 2, 1))
    return order[np.argsort(classes[order], kind="stable")]
