"""The default solver: backward elimination, swaps, then iterated local search, for a given or a free size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri._objective import Objective
from graphpri._runtime import single_thread
from graphpri._selection import ascending, forest_size, levels, settle, take_top, tolerance
from graphpri.errors import Interrupted, OptionError, argument, in_stages
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.solvers.local_search import (
    ENTROPY_RULES,
    Check,
    Constraints,
    Search,
    alternating_trail,
    around_nodes,
    bulk_flips,
    bulk_swaps,
    check_moves,
    crossed,
    descend,
    eliminate,
    flip_squares,
    leading_flips,
    perturbed,
    scattered_flips,
)
from graphpri.solvers.moves import DegreeEvaluator, ExactEvaluator, LocalEvaluator, MoveEvaluator, scattered
from graphpri.solvers.solution import Callback, Ending, Monitor, Solution, Status, Stop
from graphpri.solvers.sweeps import Run, Sweeps
from graphpri.solvers.symmetry import Renamed

EffortName = Literal["fast", "normal", "best"]

EVALUATORS: dict[str, type[MoveEvaluator]] = {
    "exact": ExactEvaluator,
    "degree": DegreeEvaluator,
    "local": LocalEvaluator,
}


@dataclass(frozen=True)
class Effort:
    """How long to search.

    `share` of the edges go at a time in the elimination; swaps are chosen among `widths` candidates on
    either side; perturbations end after `patience` (grown with β) without a gain, or at `work` seconds of a
    nominal machine. A third of that may go to other starts, where β < 2. A free size is searched from
    the `sizes` best sizes of the elimination, and large graphs see at most `bulk_steps` bulk swaps, or
    sweeps that look at `visits` edges. On a graph that is large for the exact entropy, `corrections`
    rounds of exact prices set those of the local entropy right. Single moves are evaluated by J itself for
    `check` nominal seconds. The whole search of a free size takes about `most` nominal seconds.
    """

    share: float
    widths: tuple[int, ...]
    patience: float
    work: float
    sizes: int
    bulk_steps: int
    visits: float
    corrections: int
    check: float
    most: float


EFFORTS: dict[str, Effort] = {
    "fast": Effort(0.15, (16,), 0, 0.0, 3, 12, 0, 3, 0.1, 3.0),
    "normal": Effort(0.1, (16, 64), 1, 1.0, 4, 40, 1e6, 8, 0.5, 3.0),
    # For one of many subsets of the same graph: from another budget's or β's, by predicted swaps alone.
    "near": Effort(0.1, (32,), 0, 0.0, 1, 12, 0, 2, 0.0, 3.0),
    "best": Effort(0.03, (48, 128), 10, 30.0, 8, 400, 1e8, 30, 60.0, np.inf),
}

DRAFT_NODES = 600
DRAFT_NODES_WEIGHTED = 200
"""With more nodes in a component, the exact search starts from the local entropy's solution."""

CORRECTED_NODES = 600
"""With more nodes in a component, exact prices correct the local entropy's sweeps, and single moves by the exact
entropy are left to effort="best"."""

DRAFT_SECONDS = 1e-5
"""Nominal seconds that sweeps take for a draft, an edge."""

INERTIA = 0.1
"""Share of the spread of prices that a flip must gain where prices are corrected, so that it stays where they hold."""

LEAST_INERTIA = 0.01

SINGLE_EDGES = 16
START, DESCENT, PERTURBATIONS = 0.6, 0.8, 0.9
"""Shares of the time of a free size when the first subset, its descent, and perturbations are done at the latest."""

ELIMINATION = 0.25
"""Share of the time of a free size for an elimination."""

LEAST_DESCENT = 20
"""Moves below which another start is not worth a descent."""

BULK_STEPS = 40
"""Most steps by many edges at a time that come before single moves on the larger graphs of a free size."""

BULK_FIRST = 4000
"""Above this many edges, a bulk swap comes before the single ones."""

ENUMERATED = 1 << 14
"""Most subsets that are all evaluated instead of searched, where that takes no longer than checks of moves may."""

SYMMETRIC, MOST_SYMMETRIC = 2.0, 64.0
"""Edges per distinct slope from which equal edges are tried in other orders, and up to which patience grows."""

UNEQUAL = 4.0
"""Factor of the patience where weights differ, and swaps move the trace."""

NEAR, AWAY = 0.005, 5
"""Share of J by which a local minimum may lie above the best and still be perturbed, and perturbations until the best
is again."""

CLOSE = 1e-3
"""Share of J by which a local minimum may lie above the best and still be improved by trails of edges."""

SQUARES = 0.01
"""Share of J by which a local minimum may lie above the best and still be improved by cycles of four edges."""

HUBS = 16
"""Factor of patience with a budget where the entropy rules: edges gather at hubs, of which there are several, and moves
between them come seldom; descents are short."""

LONGER = 2, 1.5
"""Factors of patience and work with a budget and a large β, where moves are cheap and perturbations go on to pay."""

TRAIL = 0.035
"""Nominal seconds of one search for a trail."""

COSTLY = 4
"""Share of the time of checks, as its inverse, that is spent on them where moves are costly."""

PERTURBED = 3
"""Most times that perturbations start again since a move that was evaluated by J has improved their result."""

CHECKED = 3
"""Most checks of all moves in a row, in units of the time of one, after moves that were evaluated by J."""

TRIVIAL = 0.95
"""Share of J of all edges below which a single edge is not looked beyond, where moves are costly."""

SWAP_LIMIT = 30_000
"""Above this many edges, edges are swapped in bulk only."""


def effort_named(name: str) -> Effort:
    """The effort of that name, or an error that lists them."""
    if name not in EFFORTS:
        raise OptionError(f"{argument('effort', name)}: choose from {', '.join(EFFORTS)}")
    return EFFORTS[name]


def solve(
    objective: Objective,
    k: int | None,
    constraints: Constraints | None = None,
    *,
    effort: str = "normal",
    seed: int | np.random.Generator | None = None,
    callback: Callback | None = None,
    time_limit: float | None = None,
    start: BoolArray | None = None,
) -> Solution:
    """Minimise J over the subsets of exactly `k` edges, or over all sizes where `k` is None.

    Parameters
    ----------
    objective : Objective
    k : int or None
        Number of edges to keep; None leaves it to β.
    constraints : Constraints, optional
        Connectivity, protected and forbidden edges; they must leave a subset
        (`check_budget` of `_selection`).
    effort : {"fast", "normal", "best"}
        How long to search.
    seed : int, Generator or None
        For perturbations and ties; None is 0.
    callback : callable, optional
        Gets a :class:`Progress` after every step, and stops the search by returning True.
    time_limit : float, optional
        Seconds after which the best subset so far is returned.
    start : ndarray of bool, shape (M,), optional
        A feasible subset to start from in place of all edges; with a budget, edges are dropped or added first.

    Returns
    -------
    Solution

    Raises
    ------
    Interrupted
        On Ctrl-C: its ``result`` is the best so far.

    Notes
    -----
    The stochastic entropy, and the exact one of a graph with thousands of small components, are searched by the
    local entropy, which costs O(M) a step; the objective of the result is the exact one, or the local one.
    """
    level = effort_named(effort)
    constraints = constraints or Constraints()
    exact = objective.entropy == "exact"
    if objective.is_stochastic or (exact and scattered(objective.graph.components()[1])):
        local = replace(objective, entropy="local")

        def valued(found: Solution) -> Solution:
            # Estimating is left to the caller: it takes long, and an interruption must not cost the subset.
            return replace(found, objective=objective.value(objective.selection(found.mask))) if exact else found

        options: Any = {"effort": effort, "seed": seed, "callback": callback, "time_limit": time_limit}
        return in_stages(lambda: solve(local, k, constraints, start=start, **options), valued)
    renamed = None if objective.is_large else Renamed.of(objective, constraints)
    if renamed is not None:
        other, rules, place = renamed.objective, renamed.constraints, renamed.taken(start)
        return in_stages(lambda: _solve(other, k, rules, level, seed, callback, time_limit, place), renamed.given)
    return _solve(objective, k, constraints, level, seed, callback, time_limit, start)


def _solve(
    objective: Objective,
    k: int | None,
    constraints: Constraints,
    level: Effort,
    seed: int | np.random.Generator | None,
    callback: Callback | None,
    time_limit: float | None,
    start: BoolArray | None,
) -> Solution:
    """Minimise J by an entropy that the searches know, on the graph as it is named."""
    monitor = Monitor(callback, time_limit, beta=objective.beta)
    large = objective.is_large
    search = None if large else _search(objective, k, constraints, monitor, seed)

    def ended(status: Status) -> Solution:
        with single_thread():
            if monitor.best is None and search is None:
                sweeps, least = Sweeps(objective, constraints, k is not None), least_size(objective.graph, constraints)
                monitor.offer(*sweeps.cut_short(least if k is None else k))
            elif monitor.best is None:
                assert search is not None
                drafted = None if monitor.draft is None else monitor.draft.best
                search.reset(_cut_short(search, k) if drafted is None else drafted)
        assert monitor.best is not None
        return Solution(monitor.best, monitor.best_value, status, tuple(monitor.trace))

    best = "this is the best subset so far"
    try:
        with single_thread():
            if search is None:
                status = _sweep(objective, k, constraints, level, monitor, start).status()
            else:
                status = _enumerate(search, k, level.check) or _descend(search, k, level, start)
    except Stop as stop:
        status = stop.status(best)
    except KeyboardInterrupt:
        raise Interrupted(lambda: ended(Ending.INTERRUPTED.status(best=best))) from None
    return ended(status)


def corrected(
    objective: Objective, k: int, start: BoolArray, constraints: Constraints, *, rounds: int, callback: Callback | None
) -> Solution:
    """Improve a subset of k edges by sweeps of the local entropy, whose prices the exact one sets right `rounds` times.

    Each round takes one eigenproblem, whatever moves. The result is the start where nothing is better.
    """
    monitor = Monitor(callback, None, beta=objective.beta)
    with single_thread():
        search = _search(objective, k, constraints, monitor, None)
        search.reset(start)
        monitor.offer(start, search.evaluator.value)
        status = Ending.CORRECTED.status()
        try:
            _correct(search, k, rounds)
        except Stop as stop:
            status = stop.status("this is the best subset so far")
        monitor.offer(search.evaluator.mask, search.evaluator.value)
    assert monitor.best is not None
    return Solution(monitor.best, monitor.best_value, status, tuple(monitor.trace))


def _enumerate(search: Search, k: int | None, seconds: float) -> Status | None:
    """Evaluate every allowed subset, where they are few and that takes at most so long; None where it would not."""
    objective, rules = search.evaluator.objective, search.constraints
    graph, free = objective.graph, np.flatnonzero(search.free)
    held = 0 if rules.protect is None else int(rules.protect.sum())
    count = 2**free.size if k is None else comb(free.size, k - held)
    if objective.entropy != "exact" or not 1 < count <= min(ENUMERATED, seconds / search.evaluator.seconds_per_value):
        return None
    sizes = range(free.size + 1) if k is None else (k - held,)
    chosen = [few for size in sizes for few in combinations(range(free.size), size)]
    subsets = np.zeros((len(chosen), graph.n_edges), bool)
    rows = np.repeat(np.arange(len(chosen)), [len(few) for few in chosen])
    subsets[rows, free[np.fromiter(chain.from_iterable(chosen), np.int64, rows.size)]] = True
    if rules.protect is not None:
        subsets |= rules.protect
    subsets = subsets[subsets.any(axis=1)]
    if rules.connected:
        subsets = subsets[_components_of(graph, subsets) == graph.components()[0]]
    elif rules.cover is not None:
        subsets = subsets[_cover(graph, subsets)]
    # Those equal to the best but for rounding are told apart by the keys of their edges.
    values = objective.values(subsets.astype(np.float64))
    equal = subsets[values <= values.min() + tolerance(float(values.min()), objective.beta)]
    first = np.lexsort(equal[:, np.argsort(-search.ties)].T)[-1]
    search.reset(equal[first])
    return Ending.ENUMERATED.status(count=len(subsets))


def _components_of(graph: Graph, subsets: BoolArray) -> NDArray[np.int64]:
    """Number of components of each subset of the edges, shape (B, M) to (B,)."""
    nodes = np.arange(graph.n_nodes)
    label = np.tile(nodes, (len(subsets), 1))
    for edge, (u, v) in enumerate(zip(graph.source, graph.target, strict=True)):
        there = np.flatnonzero(subsets[:, edge])
        low, high = np.minimum(label[there, u], label[there, v]), np.maximum(label[there, u], label[there, v])
        label[there] = np.where(label[there] == high[:, None], low[:, None], label[there])
    return (label == nodes).sum(axis=1)


def _cover(graph: Graph, subsets: BoolArray) -> BoolArray:
    """Whether each subset of the edges, shape (B, M), leaves one to every node that has edges."""
    rows, columns = np.tile(np.arange(graph.n_edges), 2), np.concatenate([graph.source, graph.target])
    ends = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(graph.n_edges, graph.n_nodes))
    return (((subsets @ ends) > 0) | (graph.degrees() == 0)).all(axis=1)


def _search(
    objective: Objective,
    k: int | None,
    constraints: Constraints,
    monitor: Monitor,
    seed: int | np.random.Generator | None,
) -> Search:
    evaluator = EVALUATORS[objective.entropy](objective, fixed_size=k is not None)
    rng = np.random.default_rng(0 if seed is None else seed)
    return Search(evaluator, constraints, monitor, rng, sizes_vary=k is None)


def _descend(search: Search, k: int | None, level: Effort, start: BoolArray | None) -> Status:
    """Search by single moves; returns the status."""
    evaluator = search.evaluator
    if start is None and isinstance(evaluator, ExactEvaluator) and _wants_draft(evaluator):
        start = _draft(search, k)
        search.reset(start)
        if _is_corrected(search):
            _correct(search, k, level.corrections)
            if not level.patience > 1:
                return Ending.CORRECTED.status()
        start = search.monitor.best
    _allow(search, START, level)
    _start(search, k, level, start)
    return _improve(search, level)


def _is_corrected(search: Search) -> bool:
    return search.evaluator.work > CORRECTED_NODES**2


def _correct(search: Search, k: int | None, rounds: int) -> None:
    """Improve the evaluator's subset by sweeps of the local entropy, whose prices are corrected at each round.

    The exact price of every edge takes one eigenproblem; how prices change as edges move is left to the local
    entropy.
    """
    evaluator = search.evaluator
    local = evaluator.objective.by_local_sweeps()
    sweeps, least = Sweeps(local, search.constraints, k is not None), least_size(local.graph, search.constraints)
    mask, value, prices = evaluator.mask.copy(), evaluator.value, _exact_prices(search, k)
    spread = float(np.subtract(*np.quantile(prices[np.isfinite(prices)], [0.75, 0.25])))
    inertia, tries = INERTIA, 0
    while tries < rounds and inertia > LEAST_INERTIA:
        sweeps.correct(mask, prices, inertia * spread)
        monitor = search.monitor.for_draft()
        Run(sweeps, monitor, EFFORTS["normal"].visits).settle(k, least)
        if monitor.best is None or np.array_equal(monitor.best, mask):
            inertia /= 4
            continue
        search.reset(monitor.best)
        tries += 1
        if search.lowers(value):
            mask, value, prices = evaluator.mask.copy(), evaluator.value, _exact_prices(search, k)
        else:
            inertia *= 2  # too far from where the prices hold


def _exact_prices(search: Search, k: int | None) -> FloatArray:
    """What keeping each edge costs J at the evaluator's subset: its Lagrangian price, to rank against the budget's."""
    evaluator = search.evaluator
    changes = evaluator.flip_changes() if k is None else evaluator.swap_changes()
    return np.where(evaluator.mask, -changes, changes)


def _sweep(
    objective: Objective,
    k: int | None,
    constraints: Constraints,
    level: Effort,
    monitor: Monitor,
    start: BoolArray | None,
) -> Ending:
    """Search by sweeps; returns the status. The monitor has a subset afterwards, also where it stops the search."""
    sweeps = Sweeps(objective, constraints, fixed_size=k is not None)
    run = Run(sweeps, monitor, level.visits, thorough=level.patience > 1)
    least = least_size(objective.graph, constraints) if k is None else k
    try:
        if k is not None:
            return run.of_size(k, start)
        _offer_single_edges(objective, constraints, monitor)
        return run.of_any_size(least, start)
    except Stop:
        if monitor.best is None:
            monitor.offer(*sweeps.cut_short(least))
        raise


def _wants_draft(evaluator: ExactEvaluator) -> bool:
    most = DRAFT_NODES if evaluator.exact_swaps else DRAFT_NODES_WEIGHTED
    return evaluator.work > most**2


def _draft(search: Search, k: int | None) -> BoolArray:
    """A subset by the local entropy, from which the exact search starts on graphs where that is slow."""
    monitor, fast = search.monitor.for_draft(), EFFORTS["fast"]
    objective = replace(search.evaluator.objective, entropy="local")
    if _is_corrected(search) or search.is_large or objective.graph.n_edges > SWAP_LIMIT:
        objective = objective.by_local_sweeps()
        _sweep(objective, k, search.constraints, EFFORTS["normal"], monitor, None)
        search.evaluator.spent += DRAFT_SECONDS * objective.graph.n_edges
    else:
        evaluator = LocalEvaluator(objective, fixed_size=not search.sizes_vary)
        draft = Search(evaluator, search.constraints, monitor, search.rng, search.sizes_vary)
        _start(draft, k, fast, None)
        if draft.sizes_vary:
            bulk_flips(draft, fast.bulk_steps)
        bulk_swaps(draft, max(int(draft.evaluator.mask.sum()) // 20, 1), 2 * fast.bulk_steps)
        descend(draft, fast.widths, most=100)
    assert monitor.best is not None
    return monitor.best


def _start(search: Search, k: int | None, level: Effort, start: BoolArray | None) -> None:
    """Bring the evaluator to a feasible subset of the right size: the end, or the best of an elimination."""
    if k is None and start is not None:
        return search.reset(start)
    if start is None:
        start = search.constraints.allowed(search.free.size)
    if k is None:
        return _start_of_free_size(search, start, level)
    if start.sum() < k:
        order = np.argsort(~start, kind="stable")
        start = take_top(search.evaluator.graph, order, k, **vars(search.constraints))
    *_, mask = eliminate(search, start, k, _share(level, search.evaluator))
    search.monitor.offer(mask, search.evaluator.value)
    return None


def _start_of_free_size(search: Search, start: BoolArray, level: Effort) -> None:
    """Descend from the best subsets of an elimination that differ in size, and stay at the best.

    On larger graphs flips of many edges at a time come first: from the local entropy's solution, and from all edges
    or, where the entropy rules, the elimination's best.
    """
    evaluator, monitor = search.evaluator, search.monitor
    if not search.is_large:
        # Where the entropy rules, descents are short, and the most candidates cost little.
        widths = level.widths[-1:] if evaluator.beta < ENTROPY_RULES else level.widths[:1]
        passed: dict[bytes, object] = {}
        for mask in _eliminated(search, start, level.share / 2, level)[: level.sizes]:
            search.reset(mask)
            descend(search, widths, passed=passed)
    else:
        drafts = [_draft(search, None)] if isinstance(evaluator, ExactEvaluator) else []
        if level.patience > 1 or not any(_is_trivial(search, draft) for draft in drafts):
            first = start if evaluator.beta > ENTROPY_RULES else _eliminated(search, start, level.share, level)[0]
            flips = bulk_flips if evaluator.graph.n_edges > SWAP_LIMIT else scattered_flips
            found: list[BoolArray] = []
            for mask in (*drafts, first):
                search.reset(mask)
                flips(search, BULK_STEPS)
                found.append(evaluator.mask.copy())
            # What two local minima agree to leave out is mostly right, and dropping edges is sooner done than adding.
            search.reset(np.logical_or.reduce(found))
            flips(search, BULK_STEPS)
    _offer_single_edges(evaluator.objective, search.constraints, monitor)
    assert monitor.best is not None
    evaluator.reset(monitor.best)


def _is_trivial(search: Search, draft: BoolArray) -> bool:
    """Whether the draft is one edge, and far better than all edges: then no subset in between comes near it."""
    if draft.sum() > 1:
        return False
    search.reset(draft)
    return search.evaluator.value < TRIVIAL * search.evaluator.objective.original_entropy


def _eliminated(search: Search, start: BoolArray, share: float, level: Effort) -> list[BoolArray]:
    """Subsets of an elimination whose sizes differ by more than 8 %, the best first.

    Its steps are larger where it would take too long.
    """
    evaluator, monitor = search.evaluator, search.monitor
    least = least_size(evaluator.graph, search.constraints)
    evaluator.reset(start)
    steps = level.most * ELIMINATION / (evaluator.seconds_per_reset + evaluator.seconds_per_flips)
    share = max(share, 1 - (least / start.sum()) ** (1 / max(steps, 2)))
    passed: list[BoolArray] = []
    found: list[float] = []
    for mask in eliminate(search, start, least, share):
        monitor.offer(mask, evaluator.value)
        passed.append(mask)
        found.append(evaluator.value)
    sizes = np.array([int(mask.sum()) for mask in passed])
    chosen: list[int] = []
    for number in ascending(np.array(found), sizes, search.unit):
        if all(abs(sizes[number] - sizes[other]) > 0.08 * sizes[other] for other in chosen):
            chosen.append(int(number))
    return [passed[number] for number in chosen]


def _offer_single_edges(objective: Objective, constraints: Constraints, monitor: Monitor) -> None:
    """Offer the heaviest edges alone: swaps between single edges move the trace too far to be predicted."""
    if least_size(objective.graph, constraints) > 1 or constraints.protect is not None:
        return
    graph, free = objective.graph, constraints.free(objective.graph.n_edges)
    strengths = graph.strengths()
    ends = settle(strengths[graph.source] + strengths[graph.target])
    order = np.lexsort((-ends, -objective.weights, ~free))
    for edge in order[: min(SINGLE_EDGES, int(free.sum()))]:
        alone = np.zeros(graph.n_edges, bool)
        alone[edge] = True
        monitor.offer(alone, objective.value(objective.selection(alone)))


def least_size(graph: Graph, constraints: Constraints) -> int:
    """Smallest number of edges that the constraints allow, at least 1; of covers, of the smallest known."""
    least = 0 if constraints.protect is None else int(constraints.protect.sum())
    if constraints.connected:
        least = max(least, forest_size(graph))
        if constraints.protect is not None:
            least = int(constraints.protect.sum()) + graph.components(constraints.protect)[0] - graph.components()[0]
    elif constraints.cover is not None:
        least += int(constraints.cover.sum())
    return max(least, 1)


def _share(level: Effort, evaluator: MoveEvaluator) -> float:
    return level.share if evaluator.graph.n_edges <= SWAP_LIMIT else max(level.share, 0.1)


def _allow(search: Search, share: float, level: Effort) -> None:
    """Let a search of free size go on until that share of its time is spent; with a budget nothing ends so."""
    if search.sizes_vary:
        search.allowance.seconds = share * level.most


def _improve(search: Search, level: Effort) -> Status:
    """Bulk swaps, single swaps, then perturbations from the evaluator's subset; return the status."""
    evaluator = search.evaluator
    _allow(search, DESCENT, level)
    if search.sizes_vary:
        (leading_flips if search.is_large else bulk_flips)(search, level.bulk_steps)
    size = int(evaluator.mask.sum())
    if evaluator.graph.n_edges > SWAP_LIMIT:
        if bulk_swaps(search, max(size // 20, 1), level.bulk_steps):
            return Ending.NO_BULK_SWAP.status()
        return Ending.UNFINISHED.status()
    if not search.sizes_vary and evaluator.graph.n_edges > BULK_FIRST:
        bulk_swaps(search, max(size // 20, 1), level.bulk_steps)
    hurried = search.is_costly and level.patience <= 1
    if hurried and size == 1 and search.sizes_vary:
        # One edge has no local structure to descend by: what is next to it is evaluated by J.
        check = check_moves(search, level.check)
        if check.better is None:
            return _verdict(search, check, False)
        search.reset(check.better)
    if hurried:
        level = replace(level, check=level.check / COSTLY)
        if search.sizes_vary:
            level = replace(level, work=level.work / 2)
    check = _settle(search, level, level.check / 8)
    if evaluator.beta < ENTROPY_RULES and not search.sizes_vary:
        _try_starts(search, level)
    spent = False
    for _ in range(PERTURBED if level.patience else 1):
        _allow(search, PERTURBATIONS, level)
        perturbs = level.patience > 0 and not search.is_large and bool(search.free.any())
        spent = perturbs and _perturb(search, level)
        value = evaluator.value
        _allow(search, 1.0, level)
        check = _settle(search, level, level.check)
        if hurried or search.is_spent or not search.lowers(value):
            break
    return _verdict(search, check, spent)


def _settle(search: Search, level: Effort, seconds: float) -> Check:
    """Descend until no move that is evaluated by J itself improves it, or that took too long; return the last check."""
    spent = on_squares = 0.0
    while True:
        descend(search, level.widths)
        if level.patience:
            if search.has_squares and on_squares < 2 * level.check:
                on_squares += _flip_squares(search, level) * search.seconds_per_move
            _flip_trails(search, level)
        check = check_moves(search, seconds)
        spent += check.seconds
        if check.better is None:
            return check
        search.reset(check.better)
        if search.is_spent or (spent > CHECKED * seconds and not search.is_large):
            return check


def _verdict(search: Search, check: Check, spent: bool) -> Status:
    """What is known of the evaluator's subset."""
    if check.better is not None:
        return Ending.UNFINISHED.status()
    if check.complete and spent:
        return Ending.PERTURBED.status()
    if not check.complete:
        return Ending.EVALUATED.status(looked_at=check.looked_at, allowed=check.allowed)
    return (Ending.NO_MOVE if search.sizes_vary else Ending.NO_SWAP).status()


def _try_starts(search: Search, level: Effort) -> None:
    """Descend from the best subsets around single nodes, and stay at the best of all."""
    evaluator = search.evaluator
    budget = level.work / 3 / search.seconds_per_move
    if budget < LEAST_DESCENT:
        return
    best, value = evaluator.mask.copy(), evaluator.value
    subsets = around_nodes(search, int(best.sum()))
    values = np.array([evaluator.objective.value(evaluator.objective.selection(subset)) for subset in subsets])
    tried, passed = [value], dict[bytes, object]()
    for number in ascending(values, np.arange(values.size), search.unit):
        if budget < LEAST_DESCENT:
            break
        found = float(values[number])
        if min(abs(found - other) for other in tried) <= tolerance(found, evaluator.beta):
            continue
        tried.append(found)
        search.reset(subsets[number])
        budget -= 5 + descend(search, level.widths[:1], passed=passed)
        if evaluator.value < value - search.gain:
            best, value = evaluator.mask.copy(), evaluator.value
    evaluator.reset(best)


def _perturb(search: Search, level: Effort) -> bool:
    """Iterated local search (Lourenço, Martin and Stützle, 2003): perturb the best subset, descend, keep the better.

    With a budget, where the entropy rules, or the divergence with equal weights, a local minimum a little above the
    best is perturbed next, and the best again after a few of them.

    Returns whether the work was spent before the patience.
    """
    evaluator, monitor = search.evaluator, search.monitor
    # Local minima are many where the divergence rules.
    rugged = 1 + 1.5 * min(max(evaluator.beta - 2, 0.0), 18.0)
    joined = int(np.count_nonzero(evaluator.graph.degrees()))
    symmetry = _symmetry(evaluator.objective)
    hard = symmetry if evaluator.exact_swaps else max(symmetry, UNEQUAL)
    patience = round(level.patience * max(2.0, joined / 16) * rugged * hard)
    budget = level.work / search.seconds_per_move
    squares = search.has_squares and not search.is_costly
    at_hubs = evaluator.beta < ENTROPY_RULES and not search.is_costly and not search.sizes_vary
    if at_hubs:
        patience *= HUBS
    if squares and not search.sizes_vary:
        patience, budget = LONGER[0] * patience, LONGER[1] * budget
    best, value, flips = evaluator.mask.copy(), evaluator.value, evaluator.swap_changes()
    near = value + NEAR * abs(value) if search.keeps_degrees or at_hubs else -np.inf
    failures, number, moves, current, away = 0, 0, 0.0, best, 0
    passed: dict[bytes, object] = {}
    tried: set[bytes] = set()
    reset_moves = 3 * max(1.0, evaluator.work**0.5 / 200)
    while failures < patience and moves < budget and not search.is_spent:
        evaluator.mask = current
        if symmetry >= SYMMETRIC and number % 8 == 5:
            subset = _restarted(search, int(best.sum()), level)
        else:
            subset = perturbed(search, number, flips)
        number += 1
        failures += 1
        if np.array_equal(subset, current):
            moves += reset_moves  # of a restart that came back
            continue
        evaluator.reset(subset)
        moves += reset_moves + descend(search, level.widths[:1], most=60, beat=(best, value), passed=passed)
        search.step("perturb", number, max(failures / patience, moves / budget))
        is_better = evaluator.value < value - search.gain
        if is_better:
            evaluator.reset(evaluator.mask)
            is_better = evaluator.value < value - search.gain
        if not is_better and squares and evaluator.value < value + SQUARES * abs(value):
            evaluator.reset(evaluator.mask)
            moves += _flip_squares(search, level, beat=(best, value), passed=passed)
            is_better = evaluator.value < value - search.gain
        close = evaluator.value < value + CLOSE * abs(value) and not np.array_equal(evaluator.mask, best)
        if not is_better and close and _has_trails(search):
            moves += _flip_trails(search, level)
            is_better = evaluator.value < value - tolerance(value, evaluator.beta)
        if not is_better and search.sizes_vary:
            better, evaluated = crossed(search, best, value, evaluator.mask, tried)
            moves += evaluated * search.evaluator.seconds_per_value / search.seconds_per_move
            if is_better := better is not best:
                evaluator.reset(better)
                moves += reset_moves + descend(search, level.widths[:1], most=60)
        if is_better:
            best, value, failures = evaluator.mask.copy(), evaluator.value, 0
            near = min(near, value + NEAR * abs(value))
            flips = evaluator.swap_changes()
            monitor.offer(best, value)
            current, away = best, 0
            continue
        away += 1
        if away > AWAY:
            current, away = best, 0
        elif evaluator.value < near:
            current = evaluator.mask.copy()
    evaluator.reset(best)
    return failures < patience


def _flip_squares(search: Search, level: Effort, **options: Any) -> float:
    """Flip cycles of four edges, and descend, while that helps; right after a reset. Returns the work in moves.

    `options` are those of the descents.
    """
    evaluator, before, start = search.evaluator, search.evaluator.spent, search.evaluator.value
    while evaluator.spent < before + level.check and not search.is_spent:
        if flip_squares(search):
            continue
        if evaluator.value == start or not descend(search, level.widths[:1], most=60, **options):
            break
        evaluator.reset(evaluator.mask)
        start = evaluator.value
    return (evaluator.spent - before) / search.seconds_per_move


def _has_trails(search: Search) -> bool:
    """Whether trails are looked for: with a budget they take more time than they save."""
    return search.sizes_vary and not search.is_costly


def _flip_trails(search: Search, level: Effort) -> float:
    """Flip trails of edges kept and dropped in turn, and descend, while that helps; returns the work in moves."""
    evaluator, moves = search.evaluator, 0.0
    if not _has_trails(search):
        return moves
    evaluator.reset(evaluator.mask)
    while moves * search.seconds_per_move < level.work / 4 and not search.is_spent:
        evaluator.spent += TRAIL
        moves += 5 * max(1.0, evaluator.work**0.5 / 200) + TRAIL / search.seconds_per_move
        subset = alternating_trail(search)
        if subset is None:
            return moves
        search.reset(subset)
        moves += descend(search, level.widths[:1], most=60)
    return moves


def _restarted(search: Search, k: int, level: Effort) -> BoolArray:
    """A subset of `k` edges by an elimination that takes equal edges in another order."""
    other = replace(search)
    start = search.constraints.allowed(search.free.size)
    *_, mask = eliminate(other, start, k, _share(level, search.evaluator))
    return mask


def _symmetry(objective: Objective) -> float:
    """Edges per distinct slope of the whole graph's entropy, up to `MOST_SYMMETRIC`.

    Where edges are alike, as on rings and lattices, many moves are equal, and which of them comes first decides
    where a descent ends.
    """
    entropy, terms = objective.entropies.evaluate(objective.weights, True)
    assert terms is not None
    slopes = objective.weights * (terms + 2 * entropy)
    unit = float(np.abs(objective.weights * terms).max())  # the slopes of a regular graph are all zero
    alike = slopes.size / levels(slopes, unit)
    return min(alike**1.5, MOST_SYMMETRIC)


def _cut_short(search: Search, k: int | None) -> BoolArray:
    """A feasible subset where the search was stopped before it had one."""
    evaluator = search.evaluator
    size = int(evaluator.mask.sum()) if k is None else k
    if np.isnan(evaluator.value):
        evaluator.reset(search.constraints.allowed(evaluator.graph.n_edges))
    return search.best_of(evaluator.swap_changes(), size)
