"""Budgets and selections: how many edges to keep, and which, given a score per edge; covers; and what counts as equal.

Another processor, another linear algebra library or another number of threads gives other last digits. They must not
decide which of two equal edges goes first, so that every ranking of prices and every "better" comes from here: what is
equal but for rounding is equal, and goes by a fixed order. Values are compared with each other and not with the steps
of a grid, which some of them would lie on.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import maximum_bipartite_matching, minimum_spanning_tree

from graphpri._runtime import LARGE_GRAPH, compiled
from graphpri.errors import OptionError, argument, setting
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray, id_dtype, join

SAME = 1e-9
"""Prices that differ by less than this share of their size count as equal."""

NOISE = 1e-10
"""Prices that differ by less than this share of the unit that they are computed in count as equal, too."""

ROUNDING = 1e-11
"""Share of J, or of β where that is more, that rounding may leave in J."""

Edges = NDArray[np.int64]


def tolerance(value: float, beta: float = 0.0) -> float:
    """Difference of J below which two values count as equal; rounding must not look like progress."""
    return ROUNDING * max(1.0, abs(value), beta)


def settle(scores: FloatArray) -> FloatArray:
    """Round to 33 binary digits (10 decimal), so that scores that are equal but for rounding errors are ties."""
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    half = (1 << 19) - 1 + ((bits >> 20) & 1)  # to nearest, halves to even
    half += bits
    half &= -(1 << 20)
    return half.view(np.float64)


def _same(values: FloatArray | float, unit: float) -> FloatArray:
    """How far from each value others count as equal to it."""
    size = np.abs(values)
    return np.where(np.isfinite(size), SAME * size + NOISE * unit, 0.0)


def stable_order(values: NDArray[np.float32]) -> Edges:
    """Places of single-precision values from the smallest to the largest, equal ones in the order they come in.

    What ``argsort(kind="stable")`` returns, in a seventh of its time: value and place are sorted as one number, as
    the bits of a float are in its order once those of negative ones are turned round.

    Examples
    --------
    >>> stable_order(np.array([0.5, -1, 0.5, -2], np.float32))
    array([3, 1, 0, 2])
    """
    bits = (values + np.float32(0)).view(np.uint32)  # −0 is 0
    turned = (-(bits >> np.uint32(31)).view(np.int32)).view(np.uint32) | np.uint32(1 << 31)
    keys = (bits ^ turned).astype(np.uint64) << np.uint64(32)
    keys |= np.arange(values.size, dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).view(np.int64)


def ascending(values: FloatArray, ties: Edges, unit: float) -> Edges:
    """Places of the values from the smallest to the largest, equal ones by the smaller key.

    Examples
    --------
    >>> ascending(np.array([0.3, 0.1 + 0.2, 0.1]), np.array([1, 0, 2]), 1.0)
    array([2, 1, 0])
    """
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    with np.errstate(invalid="ignore"):
        apart = np.diff(ranked) > _same(ranked[1:], unit)
    if apart.all():
        return order
    level = np.zeros(values.size, np.int64)
    np.cumsum(apart, out=level[1:])
    return order[np.lexsort((ties[order], level))]


def places(values: FloatArray, ties: Edges, unit: float) -> Edges:
    """Rank of each value, from 0, by :func:`ascending`."""
    found = np.empty(values.size, np.int64)
    found[ascending(values, ties, unit)] = np.arange(values.size)
    return found


def smallest(values: FloatArray, among: Edges, count: int, ties: Edges, unit: float) -> Edges:
    """Those of `among` with the smallest values, at most `count`, in their order there; keys decide between equals."""
    if among.size <= count:
        return among
    of_them = values[among]
    last = np.partition(of_them, count - 1)[count - 1]
    same = _same(last, unit)
    with np.errstate(invalid="ignore"):
        taken = of_them < last - same
        tied = np.flatnonzero(~taken & ((of_them <= last + same) | (of_them == last)))
    missing = count - int(np.count_nonzero(taken))
    if missing < tied.size:
        tied = tied[np.argsort(ties[among[tied]])[:missing]]
    taken[tied] = True
    return among[taken]


def levels(values: FloatArray, unit: float) -> int:
    """How many values there are, equal ones counted once."""
    ranked = np.sort(values)
    return 1 + int(np.count_nonzero(np.diff(ranked) > _same(ranked[1:], unit)))


def lowest(values: FloatArray, unit: float) -> Edges:
    """Places of the smallest of some values, and of those equal to it."""
    low = values.min()
    return np.flatnonzero(values <= low + _same(low, unit))


@compiled
def grow_forest(
    source: IntArray,
    target: IntArray,
    scores: NDArray[np.floating[Any]],
    ties: NDArray[np.int64],
    label: IntArray,
    allowed: NDArray[np.bool_],
    mask: NDArray[np.bool_],
) -> None:
    """Borůvka's algorithm: in each round every group of nodes takes its best edge to another group.

    `label` gives the group of each node, numbered below N, and is overwritten with the last groups; the edges taken
    are set in `mask`. A round keeps the edges that still join two groups, at least halves the number of groups,
    and depends on the order of the edges by (score, tie) alone.
    """
    n, alive = label.size, np.empty(source.size, label.dtype)
    size = 0
    for e in range(source.size):
        if allowed[e]:
            alive[size] = e
            size += 1
    best, top = np.empty(n, label.dtype), np.empty(n, scores.dtype)
    parent = np.empty(n, label.dtype)
    while True:
        best[:] = -1
        left = 0
        for i in range(size):
            e = alive[i]
            a, b = label[source[e]], label[target[e]]
            if a == b:
                continue
            alive[left] = e
            left += 1
            score = scores[e]
            if best[a] < 0 or score > top[a] or (score == top[a] and ties[e] < ties[best[a]]):
                best[a], top[a] = e, score
            if best[b] < 0 or score > top[b] or (score == top[b] and ties[e] < ties[best[b]]):
                best[b], top[b] = e, score
        size = left
        if size == 0:
            return
        for a in range(n):
            parent[a] = a
        for a in range(n):
            e = best[a]
            if e < 0 or mask[e]:
                continue
            mask[e] = True
            join(parent, label[source[e]], label[target[e]])
        for a in range(n):
            parent[a] = parent[parent[a]]
        for i in range(n):
            label[i] = parent[label[i]]


def count_edges(keep: float | int, n_edges: int, name: str = "keep") -> int:
    """Turn a share or a count of edges into a count K.

    Parameters
    ----------
    keep : float in (0, 1] or int in 1…M
        A float is a share, rounded half up and at least 1 (K = ⌊share·M + ½ + 10⁻⁹⌋); an int a count.
    n_edges : int
        Number of edges M.
    name : str
        What users call it.

    Raises
    ------
    OptionError
        For a value outside these ranges, and for a graph without edges.
    """
    if isinstance(keep, bool | np.bool_) or not isinstance(keep, Real):
        raise OptionError(
            f"{argument(name, keep)} is neither a share (a float in (0, 1]) nor a count (an int, 1 to {n_edges})"
        )
    if n_edges == 0:
        raise OptionError(f"{argument(name, keep)}: the graph has no edges to keep")
    if isinstance(keep, Integral):
        if not 1 <= keep <= n_edges:
            raise OptionError(f"{argument(name, keep)} is not a count from 1 to the graph's {n_edges} edges")
        return int(keep)
    share = float(keep)
    if not 0 < share <= 1:
        raise OptionError(f"{argument(name, keep)} is not a share in (0, 1]; for a count of edges pass an int")
    return max(1, min(n_edges, int(np.floor(share * n_edges + 0.5 + 1e-9))))


def tie_keys(n_edges: int, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """Key of each edge, all different: of two edges with equal scores, the one of the smaller key comes first.

    A scrambled edge number where `rng` is given, of which one number is drawn; the edge number itself without.
    """
    return _keys(np.arange(n_edges), _salt(rng))


def _salt(rng: np.random.Generator | None) -> int | None:
    return None if rng is None else int(rng.integers(2**64, dtype=np.uint64))


def _keys(edges: NDArray[np.int64], salt: int | None) -> NDArray[np.int64]:
    """Edge numbers scrambled by the steps of SplitMix64, which map 64 bits one to one.

    G. L. Steele, D. Lea, C. H. Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.
    """
    if salt is None:
        return edges
    x = edges.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return x.view(np.int64)


def rank(scores: FloatArray, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """Edges from the highest score to the lowest; ties in an order drawn from `rng` (by number where None)."""
    return np.lexsort((tie_keys(scores.size, rng), -scores))


def best_forest(graph: Graph, order: NDArray[np.int64]) -> BoolArray:
    """Spanning forest that takes edges greedily in `order` (all M edges, best first), as a mask."""
    place = np.empty(graph.n_edges, np.int64)
    place[order] = np.arange(1, graph.n_edges + 1)
    if graph.n_edges >= LARGE_GRAPH:
        return _grown(graph, -place.astype(np.float64), place, np.arange(graph.n_nodes), None)
    # SciPy takes no other node numbers than of 32 bits here (1.13: "buffer dtype mismatch"), and may keep longer ones.
    ends = (graph.source.astype(np.int32), graph.target.astype(np.int32))
    weights = sp.csr_array((place.astype(np.float64), ends), shape=(graph.n_nodes, graph.n_nodes))
    tree = minimum_spanning_tree(weights)
    mask = np.zeros(graph.n_edges, bool)
    mask[order[tree.data.astype(np.int64) - 1]] = True
    return mask


def best_forest_by(
    graph: Graph,
    scores: FloatArray,
    ties: NDArray[np.int64],
    *,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> BoolArray:
    """Edges of highest scores that join all that can be joined, as a mask: a maximum spanning forest.

    Parameters
    ----------
    graph : Graph
    scores : ndarray of float64, shape (M,)
        No NaN.
    ties : ndarray of int64, shape (M,)
        Keys, all different: the smaller comes first among equal scores.
    protect : ndarray of bool, shape (M,), optional
        Edges that are there already; the forest joins what they leave apart, and has none of them.
    forbid : ndarray of bool, shape (M,), optional
        Edges that it must not use.

    Notes
    -----
    O(M log N) without sorting (O. Borůvka, 1926) from 250 000 edges on; at most 14 bytes an edge beyond the arguments.
    """
    if graph.n_edges >= LARGE_GRAPH:
        label = np.arange(graph.n_nodes) if protect is None else graph.components(protect)[1].astype(np.int64)
        return _grown(graph, scores, ties, label, forbid)
    none = np.zeros(graph.n_edges, bool)
    protect, forbid = (none if edges is None else edges for edges in (protect, forbid))
    forest = best_forest(graph, np.lexsort((ties, -scores, ~protect, forbid)))
    return forest & ~protect & ~forbid


def _grown(
    graph: Graph, scores: FloatArray, ties: NDArray[np.int64], label: NDArray[np.int64], forbid: BoolArray | None
) -> BoolArray:
    """The forest between the groups of nodes that `label` names, by compiled loops.

    The best edges go first: they join most nodes, and the others then drop out at first sight.
    """
    open_ = np.ones(graph.n_edges, bool) if forbid is None else ~forbid
    label = label.astype(id_dtype(max(graph.n_nodes, graph.n_edges)))
    mask = np.zeros(graph.n_edges, bool)
    if graph.n_edges > 4 * graph.n_nodes:
        first = np.array(scores)
        first.partition(first.size - 2 * graph.n_nodes)
        best = scores >= first[-2 * graph.n_nodes]
        del first
        grow_forest(graph.source, graph.target, scores, ties, label, best & open_, mask)
    grow_forest(graph.source, graph.target, scores, ties, label, open_, mask)
    return mask


def forest_size(graph: Graph) -> int:
    """Number of edges of a spanning forest, N minus the number of components."""
    return graph.n_nodes - graph.components()[0]


def check_budget(
    graph: Graph,
    k: int,
    *,
    connected: bool = False,
    cover: BoolArray | None = None,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> None:
    """Refuse a budget that connectivity, `cover`, `protect` and `forbid` leave no selection for.

    Raises
    ------
    OptionError
        Says which of them conflict, and the smallest or largest K that works.
    """
    budget = f"{argument('keep', k)} edge{'s' * (k > 1)}"
    if protect is not None and forbid is not None and (both := protect & forbid).any():
        u, v = graph.edge_labels(int(np.argmax(both)))
        raise OptionError(f"edge ({u!r}, {v!r}) stands in protect and in forbid: name it in one of them")
    if forbid is not None and k > (allowed := graph.n_edges - int(forbid.sum())):
        raise OptionError(f"{budget}, but forbid leaves only {allowed} of {graph.n_edges}")
    least = 0 if protect is None else int(protect.sum())
    if k < least:
        raise OptionError(f"{budget}, but protect names {least} that must stay: keep at least {least}")
    if cover is not None and k < (need := least + int(cover.sum())):
        bound = least + least_cover(graph, protect=protect, forbid=forbid).bound
        extra = " with the protected edges" if least else ""
        doubt = "" if bound == need else f", or a few fewer ({bound} is a lower bound)"
        raise OptionError(
            f"{budget} can't leave one to every node that has edges{extra}: "
            f"{setting('cover', True)} needs at least {need} edges{doubt}"
        )
    if not connected:
        return
    components = graph.components()[0]
    if forbid is not None and graph.components(~forbid)[0] > components:
        raise OptionError(
            f"without the edges in forbid the graph falls apart: forbid fewer edges, or pass "
            f"{setting('connected', False)} (no budget and {setting('connected', True)} both keep it together)"
        )
    need = graph.n_nodes - components
    if protect is not None:
        need = least + graph.components(protect)[0] - components
    if k < need:
        extra = " with the protected edges" if least else ""
        raise OptionError(
            f"{budget} can't hold the graph's {components} component{'s' * (components > 1)} "
            f"together{extra}: "
            f"{setting('connected', True)} needs at least {need} edges"
        )


def select_top(
    graph: Graph,
    scores: FloatArray,
    k: int,
    rng: np.random.Generator | None = None,
    *,
    connected: bool = False,
    cover: BoolArray | None = None,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> BoolArray:
    """Mask of exactly `k` edges with the highest scores.

    O(M) time, by a partial sort of the scores; at most 10 bytes an edge beyond them without `connected` and `cover`.

    Parameters
    ----------
    graph : Graph
    scores : ndarray of float64 or float32, shape (M,)
        Higher is kept first.
    k : int
        Number of edges to keep.
    rng : Generator, optional
        Breaks ties: one number is drawn from it, which gives every edge a random key. By edge number where absent.
    connected : bool
        Take a maximum spanning forest of the scores first, so that no component falls apart.
    cover : ndarray of bool, shape (M,), optional
        Of :func:`least_cover`: leave one edge to every node, first of all each node's best where
        there are enough; see :func:`cover_by`.
    protect, forbid : ndarray of bool, shape (M,), optional
        Edges that must stay and edges that must go.

    Raises
    ------
    OptionError
        Where no selection of `k` edges meets all of these, and where a score is not a number.
    """
    check_budget(graph, k, connected=connected, cover=cover, protect=protect, forbid=forbid)
    _check_scores(graph, scores)
    salt = _salt(rng)
    mask = np.zeros(graph.n_edges, bool) if protect is None else protect.copy()
    if connected:
        ties = _keys(np.arange(graph.n_edges), salt)
        mask |= best_forest_by(graph, scores, ties, protect=protect, forbid=forbid)
    elif cover is not None:
        order = np.lexsort((_keys(np.arange(graph.n_edges), salt), -scores))
        _add_cover(graph, mask, order, k, cover, protect, forbid)
    open_ = ~mask
    if forbid is not None:
        open_ &= ~forbid
    _keep_best(mask, scores, open_, k - int(np.count_nonzero(mask)), salt)
    return mask


def _add_cover(
    graph: Graph,
    mask: BoolArray,
    order: NDArray[np.int64],
    k: int,
    cover: BoolArray,
    protect: BoolArray | None,
    forbid: BoolArray | None,
) -> None:
    """Add an edge cover of the edges ranked best first to the protected edges, of at most `k` in all."""
    place = np.empty(graph.n_edges, np.int64)
    place[order] = np.arange(graph.n_edges)
    among = None if forbid is None else ~forbid
    mask |= cover_by(graph, place, k - int(np.count_nonzero(mask)), cover, among=among, protect=protect)


def _check_scores(graph: Graph, scores: FloatArray) -> None:
    if scores.shape != (graph.n_edges,):
        raise OptionError(f"scores of shape {scores.shape} do not fit {graph.n_edges} edges")
    if scores.size and np.isnan(scores.max()):
        u, v = graph.edge_labels(int(np.argmax(np.isnan(scores))))
        raise OptionError(f"the score of edge ({u!r}, {v!r}) is not a number (NaN): it has no rank")


def _keep_best(mask: BoolArray, scores: FloatArray, open_: BoolArray, room: int, salt: int | None) -> None:
    """Add the `room` best of the edges in `open_` to the mask."""
    if room <= 0:
        return
    among = scores[open_]
    worst = among.size - room
    if worst <= 0:
        mask |= open_
        return
    among.partition(worst)
    threshold = among[worst]
    del among
    above, tied = scores > threshold, scores == threshold
    above &= open_
    tied &= open_
    mask |= above
    edges = np.flatnonzero(tied)
    missing = room - int(np.count_nonzero(above))
    if missing < edges.size:
        edges = edges[np.argpartition(_keys(edges, salt), missing - 1)[:missing]]
    mask[edges] = True


def take_top(
    graph: Graph,
    order: NDArray[np.int64],
    k: int,
    *,
    connected: bool = False,
    cover: BoolArray | None = None,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
) -> BoolArray:
    """The selection of :func:`select_top` from edges ranked best first, for a budget known to fit."""
    mask = np.zeros(graph.n_edges, bool) if protect is None else protect.copy()
    if connected:
        place = np.empty(graph.n_edges, np.int64)
        place[order] = np.arange(graph.n_edges)
        mask |= best_forest_by(graph, -place.astype(np.float64), place, protect=protect, forbid=forbid)
    elif cover is not None:
        _add_cover(graph, mask, order, k, cover, protect, forbid)
    closed = mask if forbid is None else mask | forbid
    open_ = order[~closed[order]] if closed.any() else order
    mask[open_[: max(0, k - int(np.count_nonzero(mask)))]] = True
    return mask


MATCHED_NODES = 1000
"""Nodes up to which a maximum matching is looked for where the quick one may not be; a third of a second."""


class LeastCover(NamedTuple):
    """A small edge cover.

    `mask`, shape (M,), has its edges but for the protected ones; no cover has fewer than `bound` of them. It is a
    minimum where these are as many.
    """

    mask: BoolArray
    bound: int

    @property
    def is_minimum(self) -> bool:
        """Whether no cover has fewer edges."""
        return int(np.count_nonzero(self.mask)) == self.bound


def least_cover(graph: Graph, *, protect: BoolArray | None = None, forbid: BoolArray | None = None) -> LeastCover:
    """As few edges as leave one to every node that has one, beside those that are protected.

    Parameters
    ----------
    graph : Graph
    protect, forbid : ndarray of bool, shape (M,), optional
        Edges that are kept anyway, and edges that are not to be used.

    Raises
    ------
    OptionError
        Where `forbid` has all edges of a node; names it.

    Notes
    -----
    A minimum edge cover is a maximum matching and one edge for each node that it leaves out (T. Gallai, 1959). The
    matching is half of one of the bipartite double cover (Hopcroft and Karp, 1973), which gives the bound; where
    that falls short, of up to 1000 nodes, it is Edmonds's (networkx).
    """
    n, allowed = graph.n_nodes, _allowed(graph, forbid)
    open_ = _uncovered(graph, protect)
    counts = np.bincount(np.concatenate([graph.source[allowed], graph.target[allowed]]), minlength=n)
    if (alone := np.flatnonzero(open_ & (counts == 0))).size:
        raise OptionError(
            f"forbid names every edge of node {graph.label(int(alone[0]))!r}, which {setting('cover', True)} "
            "is to leave one: forbid fewer edges"
        )
    within = np.flatnonzero(allowed & open_[graph.source] & open_[graph.target])
    matched, bound = _matching(graph, within)
    most = int(open_.sum()) - bound
    if matched.size < bound and np.unique(graph.source[within]).size <= MATCHED_NODES:
        matched = _maximum_matching(graph, within)
        most = int(open_.sum()) - matched.size
    mask = np.zeros(graph.n_edges, bool)
    mask[matched] = True
    open_[graph.source[matched]] = open_[graph.target[matched]] = False
    # Any edge will do for the others: the first of each.
    first = np.full(n, graph.n_edges)
    edges = np.flatnonzero(allowed)
    for ends in (graph.source, graph.target):
        np.minimum.at(first, ends[edges], edges)
    mask[first[open_]] = True
    return LeastCover(mask, most)


def cover_by(
    graph: Graph,
    place: NDArray[np.integer[Any]],
    room: int,
    least: BoolArray,
    *,
    among: BoolArray | None = None,
    protect: BoolArray | None = None,
) -> BoolArray:
    """Edges that leave one to every node, the best that fit: each node's best where there is room for all of these.

    Where there is not, edges that are the best of a node with another one go, the worst first, and if these still are
    too many, the cover is `least`.

    Parameters
    ----------
    graph : Graph
    place : ndarray of int, shape (M,)
        Rank of each edge, all different, the best lowest.
    room : int
        Most edges, those of `protect` not counted.
    least : ndarray of bool, shape (M,)
        Of :func:`least_cover`.
    among : ndarray of bool, shape (M,), optional
        Edges to choose from, which cover all nodes.
    protect : ndarray of bool, shape (M,), optional
        Edges that are kept anyway, and are not in the result.
    """
    m, open_ = graph.n_edges, _uncovered(graph, protect)
    edges = np.arange(m) if among is None else np.flatnonzero(among)
    at = place[edges]
    best = np.full(graph.n_nodes, m)
    for ends in (graph.source, graph.target):
        np.minimum.at(best, ends[edges], at)
    edge_at = np.empty(m, np.int64)
    edge_at[place] = np.arange(m)
    chosen = edge_at[np.unique(best[open_])][::-1]  # the worst first
    mask = np.zeros(m, bool)
    mask[chosen] = True
    if chosen.size <= room:
        return mask
    others = (graph.strengths(mask.astype(np.float64)) + ~open_).astype(np.int64).tolist()
    left = chosen.size
    for e, u, v in zip(chosen.tolist(), graph.source[chosen].tolist(), graph.target[chosen].tolist(), strict=True):
        if left == room:
            return mask
        if others[u] > 1 and others[v] > 1:
            others[u] -= 1
            others[v] -= 1
            mask[e] = False
            left -= 1
    return mask if left <= room else least.copy()


def _allowed(graph: Graph, forbid: BoolArray | None) -> BoolArray:
    return np.ones(graph.n_edges, bool) if forbid is None else ~forbid


def _uncovered(graph: Graph, protect: BoolArray | None) -> BoolArray:
    """Nodes that have edges and none among the protected ones, shape (N,)."""
    open_ = graph.degrees() > 0
    if protect is not None:
        open_[graph.source[protect]] = open_[graph.target[protect]] = False
    return open_


def _matching(graph: Graph, edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """A matching among some edges, and how many edges none exceeds.

    A matching of the bipartite double cover is paths and cycles over the nodes; every other edge of each is taken, and
    only odd cycles lose half an edge by that.
    """
    n = graph.n_nodes
    u, v = graph.source[edges].astype(np.int32), graph.target[edges].astype(np.int32)  # all that SciPy 1.13 takes
    ends = np.concatenate([u, v]), np.concatenate([v, u])
    number = sp.csr_array((np.tile(np.arange(1, edges.size + 1), 2), ends), shape=(n, n))
    onward = cast("NDArray[Any]", maximum_bipartite_matching(number, perm_type="column")).astype(np.int64)
    tails = np.flatnonzero(onward >= 0)
    by = np.full(n, -1)
    if tails.size:
        by[tails] = edges[np.asarray(number[tails, onward[tails]]).ravel() - 1]
    heads = np.zeros(n, bool)
    heads[onward[tails]] = True
    goes, edge = onward.tolist(), by.tolist()
    free, taken = [True] * n, list[int]()
    # Paths from where they begin, then cycles from any node of theirs.
    for node in [*np.flatnonzero((onward >= 0) & ~heads).tolist(), *tails.tolist()]:
        at = node
        while at >= 0 and free[at]:
            to = goes[at]
            free[at] = False
            if to < 0 or not free[to]:
                break
            free[to] = False
            taken.append(edge[at])
            at = goes[to]
    return np.array(taken, np.int64), tails.size // 2


def _maximum_matching(graph: Graph, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    import networkx as nx

    u, v = graph.source[edges].tolist(), graph.target[edges].tolist()
    numbers = dict(zip(zip(u, v, strict=True), edges.tolist(), strict=True))
    found: Any = nx.max_weight_matching(nx.Graph(list(numbers)), maxcardinality=True)
    return np.array(sorted(numbers[pair] if pair in numbers else numbers[pair[::-1]] for pair in found), np.int64)
