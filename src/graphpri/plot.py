"""Pictures on matplotlib Axes: a sparsified graph, a path of solutions, a comparison of methods.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; lines differ in width or style as well.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import dijkstra

from graphpri._arguments import checked, is_several, seeded
from graphpri._runtime import single_thread
from graphpri.errors import GraphError, MissingExtraError, OptionError, argument
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray
from graphpri.interop import Policies, align, as_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphpri._sparsify import Sparsified

__all__ = ["compare", "graph", "path"]

_PIVOTS = 50
_STEPS = 100
_CLOSE = 1e-3  # of the drawing's width; nodes nearer than this repel as if they were so far apart
_GRAVITY = 0.1
_BLOCK = 128
_RESTART = 0.15


def spring(graph: Graph, seed: int | np.random.Generator = 0) -> FloatArray:
    """Place nodes by springs along the edges and repulsion between all nodes.

    Weights are not used. Time grows as N²: for graphs of a few thousand nodes.

    Parameters
    ----------
    graph : Graph
        N nodes.
    seed : int or Generator
        For the small displacements that separate nodes with the same neighbours.

    Returns
    -------
    ndarray of float64, shape (N, 2)
        Centred, with the farthest node at distance 1.

    Notes
    -----
    Force-directed placement of T. M. J. Fruchterman and E. M. Reingold, Software: Practice and Experience
    21(11), 1991, with a pull to the centre that keeps components together, started from the landmarks of
    U. Brandes and C. Pich, Eigensolver methods for progressive multidimensional scaling, GD 2006.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> place = spring(ring)
    >>> place.shape, np.round(np.hypot(*place.T), 1).tolist()
    ((4, 2), [1.0, 1.0, 1.0, 1.0])
    """
    rng = np.random.default_rng(seed)
    n = graph.n_nodes
    if n < 2:
        return np.zeros((n, 2))
    u, v = graph.source, graph.target
    with single_thread():
        place = _unit(_landmarks(graph, rng)) + 0.02 * rng.standard_normal((n, 2))
        for step in range(_STEPS):
            _relax(place, u, v, 0.1 * (1 - step / _STEPS))
    return _unit(place)


def _relax(place: FloatArray, u: IntArray, v: IntArray, reach: float) -> None:
    """Move every node along the force on it, at most as far as `reach`."""
    n = len(place)
    ideal = 1 / np.sqrt(n)
    force = _repulsion(place, ideal) - _GRAVITY * place
    along = place[u] - place[v]
    pull = along * (np.linalg.norm(along, axis=1, keepdims=True) / ideal)
    for axis in (0, 1):
        force[:, axis] += np.bincount(v, pull[:, axis], n) - np.bincount(u, pull[:, axis], n)
    place += force * np.minimum(1.0, reach / np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12))


def sample_nodes(graph: Graph, count: int, seed: int | np.random.Generator = 0) -> NDArray[np.int64]:
    """Nodes met by random walks, `count` of them (or all there are), in increasing order.

    Walks return to their start now and then, and go on from another node where they meet nothing new.

    Notes
    -----
    Random walk sampling of J. Leskovec and C. Faloutsos, Sampling from large graphs, KDD 2006.
    """
    n = graph.n_nodes
    if count >= n:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    a = graph.adjacency()
    seen = np.zeros(n, bool)
    starts = rng.permutation(n)
    for begin in starts:
        at, idle = int(begin), 0
        seen[at] = True
        if a.indptr[at] == a.indptr[at + 1]:
            idle = 200
        while idle < 200 and (missing := count - int(np.count_nonzero(seen))) > 0:
            met = _walk(a.indptr, a.indices, at, int(begin), min(2 * missing + 100, 5000), rng)
            fresh = [node for node in dict.fromkeys(met) if not seen[node]][:missing]
            seen[fresh] = True
            idle = 0 if fresh else idle + 100
            at = met[-1]
        if np.count_nonzero(seen) >= count:
            break
    return np.flatnonzero(seen)


def _walk(
    starts: NDArray[np.integer], ends: NDArray[np.integer], at: int, home: int, steps: int, rng: np.random.Generator
) -> list[int]:
    """Nodes of a random walk from `at`, in a matrix's rows, that now and then returns `home`."""
    met = [at]
    for chance, returns in zip(rng.random(steps).tolist(), (rng.random(steps) < _RESTART).tolist(), strict=True):
        degree = int(starts[at + 1] - starts[at])
        at = home if returns or not degree else int(ends[starts[at] + int(chance * degree)])
        met.append(at)
    return met


def _landmarks(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Positions from the distances to some pivots, the two main axes of them."""
    pivots = rng.permutation(graph.n_nodes)[:_PIVOTS]
    distance = np.asarray(dijkstra(graph.adjacency(), directed=False, indices=pivots, unweighted=True)).T
    reached = distance[np.isfinite(distance)]
    distance = np.where(np.isfinite(distance), distance, 1.2 * float(reached.max()) + 1)
    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    place = centred @ _main_axes(centred.T @ centred)
    return np.pad(place, ((0, 0), (0, 2 - place.shape[1])))


def _main_axes(square: FloatArray) -> FloatArray:
    """Two main axes of a symmetric matrix, in columns; of equally long ones those near fixed vectors, as all signs."""
    lam, vectors = np.linalg.eigh(square)
    fixed = np.modf(np.arange(1, lam.size + 1) * ((np.sqrt(5.0) - 1) / 2))[0] - 0.5
    found = np.empty((lam.size, 0))
    for i, value in enumerate(lam[::-1][:2]):
        same = vectors[:, np.abs(lam - value) <= 1e-8 * lam[-1]]
        axis = same @ (same.T @ fixed ** (i + 1))
        axis -= found @ (found.T @ axis)
        found = np.column_stack([found, axis / max(float(np.linalg.norm(axis)), 1e-300)])
    return found


def _repulsion(place: FloatArray, ideal: float) -> FloatArray:
    """Σ_j ideal² (p_i − p_j)/|p_i − p_j|² for every node i."""
    p = place.astype(np.float32)
    square = (p**2).sum(axis=1)
    force = np.empty_like(place)
    # In blocks that stay in the cache.
    for start in range(0, len(p), _BLOCK):
        block = slice(start, start + _BLOCK)
        apart = p[block] @ (-2 * p.T)
        apart += square
        apart += square[block, None]
        np.maximum(apart, np.float32(_CLOSE**2), out=apart)
        np.reciprocal(apart, out=apart)
        np.fill_diagonal(apart[:, start:], 0.0)
        force[block] = p[block] * apart.sum(axis=1, keepdims=True) - apart @ p
    return ideal**2 * force


def _unit(place: FloatArray) -> FloatArray:
    place = place - place.mean(axis=0)
    return place / max(float(np.linalg.norm(place, axis=1).max()), 1e-12)


def subgraph(graph: Graph, nodes: NDArray[np.int64]) -> Graph:
    """The graph of some nodes, without weights, numbered in their order."""
    number = np.full(graph.n_nodes, -1)
    number[nodes] = np.arange(nodes.size)
    u, v = number[graph.source], number[graph.target]
    inside = (u >= 0) & (v >= 0)
    return Graph.from_edges(u[inside], v[inside], n_nodes=nodes.size)


def positions(graph: Graph, layout: ArrayLike | Mapping[Any, Any]) -> FloatArray:
    """Given positions of the nodes, shape (N, 2), as an array or by label.

    Raises
    ------
    OptionError
        For nodes without a position, another shape, and positions that are not finite.
    """
    if isinstance(layout, Mapping):
        labels = [graph.label(i) for i in range(graph.n_nodes)]
        if missing := [label for label in labels if label not in layout]:
            raise OptionError(f"layout has no position for {len(missing)} nodes, the first is {missing[0]!r}")
        layout = [layout[label] for label in labels]
    try:
        place = np.asarray(layout, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{argument('layout', layout)}: positions are two numbers for each node") from None
    if place.shape != (graph.n_nodes, 2) or not np.isfinite(place).all():
        raise OptionError(f"layout must be finite positions of shape ({graph.n_nodes}, 2), not of shape {place.shape}")
    return place


LARGEST = 2000
"""Number of nodes up to which a graph is drawn whole."""

_BLACK, _GREY = "#000000", "#BBBBBB"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@checked
def graph(
    original: Any,
    kept: Any,
    ax: Axes | None = None,
    layout: ArrayLike | Mapping[Any, Any] | None = None,
    seed: int | np.random.Generator = 0,
) -> Axes:
    """Draw the kept edges over the dropped ones.

    Nodes stand where the original graph puts them, so that pictures of different results compare. Their area
    grows with their number of kept edges; a node that lost all of its edges is a cross.

    Parameters
    ----------
    original : object
        The graph before: anything that :func:`graphpri.as_graph` takes. Weights are not drawn.
    kept : object
        What was kept of it: a result of :func:`graphpri.sparsify`, a graph whose nodes have the same labels,
        or a bool array over the edges of ``as_graph(original)``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure where absent.
    layout : array_like of shape (N, 2), or mapping of node labels to (x, y), optional
        Positions, in the node order of ``as_graph(original)``. Springs along the edges of the original where
        absent, and of a graph of more than 2000 nodes only a sample by random walks; the title then says so.
    seed : int or Generator
        For the layout and the sample.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    GraphError
        For graphs that :func:`graphpri.as_graph` refuses, and an edge or a node that `original` doesn't have.
    OptionError
        For a layout that doesn't place every node.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> from graphpri import sparsify
    >>> karate = nx.karate_club_graph()
    >>> ax = graph(karate, sparsify(karate, keep=0.3))
    >>> ax.get_title()
    '23 of 78 edges kept'
    """
    rng = np.random.default_rng(seeded("seed", seed))
    whole = as_graph(original, weight=None)
    mask = _kept_edges(whole, align(whole, kept, Policies(weight=None)))
    nodes = np.arange(whole.n_nodes) if layout is not None else sample_nodes(whole, LARGEST, rng)
    chosen = np.isin(np.arange(whole.n_nodes), nodes)
    drawn = chosen[whole.source] & chosen[whole.target]
    place = spring(subgraph(whole, nodes), rng) if layout is None else positions(whole, layout)
    at = np.zeros((whole.n_nodes, 2))
    at[nodes] = place
    ax = axes(ax)
    _draw_edges(ax, whole, at, drawn & ~mask, f"dropped ({whole.n_edges - int(mask.sum())})", kept=False)
    _draw_edges(ax, whole, at, drawn & mask, f"kept ({int(mask.sum())})", kept=True)
    _draw_nodes(ax, whole, at, nodes, mask)
    title = f"{int(mask.sum())} of {whole.n_edges} edges kept"
    if nodes.size < whole.n_nodes:
        title += f"\n(drawn: {nodes.size} of {whole.n_nodes} nodes, sampled by random walks)"
    ax.set_title(title)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False)
    return ax


@checked
def path(results: Sequence[Sparsified] | Sequence[Mapping[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw J, S, D and the number of kept edges along a path.

    Parameters
    ----------
    results : sequence of Sparsified, or of mappings
        From :func:`graphpri.path`, or any that differ in β or in their budget; or rows with beta, objective, entropy,
        divergence, and share, that of the edges kept.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure where absent. Along β the share of kept edges has an axis of its own on the
        right; along the budget it is the horizontal axis.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        For no results, a row that lacks a key, and results that differ neither in β nor in the number of edges.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> ax = path(graphpri.path(nx.karate_club_graph(), beta=[0, 2, 4], weight=None))
    >>> ax.get_xlabel(), [line.get_label() for line in ax.get_lines()]
    ('β', ['objective J', 'entropy S', 'divergence D'])
    """
    if not len(results):
        raise OptionError("no results to draw: pass those of graphpri.path")
    points = [_point(result) for result in results]
    betas, shares = ([point[key] for point in points] for key in ("beta", "share"))
    along_beta = len(set(betas)) > 1
    if not along_beta and len(set(shares)) == 1 and len(results) > 1:
        raise OptionError("the results differ neither in beta nor in the number of edges: there is no path to draw")
    ax = axes(ax)
    x = betas if along_beta else shares
    order = np.argsort(x, kind="stable")
    across = np.asarray(x)[order]
    for i, (key, letter) in enumerate((("objective", "J"), ("entropy", "S"), ("divergence", "D"))):
        _curve(ax, across, np.array([point[key] for point in points])[order], f"{key} {letter}", i)
    ax.set_xlabel("β" if along_beta else "share of edges kept")
    ax.set_ylabel("nats")
    lines = [*ax.get_lines()]
    if along_beta:
        right = ax.twinx()
        _curve(right, across, np.asarray(shares)[order], "edges kept (right)", 3)
        right.set_ylabel("share of edges kept")
        right.set_ylim(0, 1.05)
        lines += right.get_lines()
    ax.legend(handles=lines, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return ax


_STOP = ("beta", "objective", "entropy", "divergence", "share")


def _point(result: Sparsified | Mapping[str, Any]) -> dict[str, float]:
    """What is drawn of one result."""
    if not isinstance(result, Mapping):
        if not hasattr(result, "kept"):
            raise OptionError(f"{argument('results', result)} is no result of graphpri.path")
        share = result.kept.n_edges / result.original.n_edges
        values = (result.settings["beta"], result.objective, result.entropy, result.divergence, share)
        return dict(zip(_STOP, map(float, values), strict=True))
    if missing := [key for key in _STOP if key not in result]:
        raise OptionError(f"a row has no {missing[0]!r}; it has {', '.join(map(repr, result))}")
    return {key: float(result[key]) for key in _STOP}


@checked
def compare(
    rows: Any,
    ax: Axes | None = None,
    *,
    measure: str = "divergence",
    along: str = "K",
    centre: Literal["mean", "median"] = "mean",
    band: tuple[float, float] = (0.0, 1.0),
) -> Axes:
    """Draw one measure of several methods over the budget, a line a method.

    Parameters
    ----------
    rows : sequence of dict
        A result of :func:`graphpri.compare`, or its rows. A method with several values at a budget, from
        several seeds, has its line through their `centre`, and a `band`; rows without a value, of combinations that
        couldn't be done, are left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure where absent.
    measure, along : str
        Keys of the rows for the vertical and the horizontal axis.
    centre : {"mean", "median"}
        Where the line of several values goes.
    band : tuple of float
        Quantiles between which the band lies; all values are in that of (0, 1).

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    OptionError
        For no rows, a key that a row doesn't have, another `centre`, and a `band` that is not of two quantiles.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> table = graphpri.compare(nx.karate_club_graph(), ["pri", "random"], [0.3, 0.6])
    >>> ax = compare(table, measure="divergence")
    >>> ax.get_ylabel(), [line.get_label() for line in ax.get_lines()]
    ('divergence', ['pri', 'random'])
    """
    table: list[Any] = list(rows) if is_several(rows) else [None]
    if not table:
        raise OptionError("no rows to draw: pass those of graphpri.compare")
    if not all(isinstance(row, Mapping) for row in table):
        raise OptionError(f"{argument('rows', rows)}: pass those of graphpri.compare")
    if not (len(band) == 2 and 0 <= band[0] <= band[1] <= 1):
        raise OptionError(f"band={band!r}: give two quantiles from 0 to 1, the lower first")
    for key in ("method", along, measure):
        if missing := next((row for row in table if key not in row), None):
            raise OptionError(f"a row has no {key!r}; it has {', '.join(map(repr, missing))}")
    ax = axes(ax)
    for i, (name, points) in enumerate(_by_method(table, along, measure).items()):
        x = np.array(sorted(points), np.float64)
        values = [points[place] for place in sorted(points)]
        middle = np.mean if centre == "mean" else np.median
        _curve(ax, x, np.array([middle(v) for v in values]), name, i)
        if max(map(len, values)) > 1:
            low, high = ([np.quantile(v, q) for v in values] for q in band)
            ax.fill_between(x, low, high, color=COLOURS[i % len(COLOURS)], alpha=0.15, linewidth=0)
    ax.set_xlabel("edges kept" if along == "K" else along.replace("_", " "))
    ax.set_ylabel(measure.replace("_", " "))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    return ax


def _by_method(table: Sequence[Mapping[str, Any]], along: str, measure: str) -> dict[str, dict[float, list[float]]]:
    """Values of each method (with its options) at each place."""
    found: dict[str, dict[float, list[float]]] = {}
    for row in table:
        x, y = row[along], row[measure]
        if x is not None and y is not None and np.isfinite(float(y)):
            beta = f"beta={row['beta']:g}" if "beta" in row else ""
            how = [text for text in (beta, row.get("options")) if text]
            options = f" ({', '.join(how)})" if how else ""
            found.setdefault(f"{row['method']}{options}", {}).setdefault(float(x), []).append(float(y))
    return found


def as_bytes(figure: Figure, kind: str, **options: Any) -> bytes:
    """A figure as the content of a "png" or "svg" file, the same bytes each time; `options` are of ``savefig``."""
    held = io.BytesIO()
    figure.savefig(held, format=kind, metadata={"Date" if kind == "svg" else "Software": None}, **options)
    return held.getvalue()


def axes(ax: Axes | None) -> Axes:
    """The given Axes, or those of a new figure; an error where matplotlib is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing") from None
    if ax is not None and not hasattr(ax, "add_collection"):
        raise OptionError(f"{argument('ax', ax)} must be Axes of matplotlib, or None for a new figure")
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _kept_edges(whole: Graph, kept: Graph) -> BoolArray:
    """Mask over the edges of `whole`."""
    n = max(whole.n_nodes, 1)
    keys = whole.source.astype(np.int64) * n + whole.target
    wanted = kept.source.astype(np.int64) * n + kept.target
    strange = ~np.isin(wanted, keys)
    if strange.any():
        u, v = kept.edge_labels(int(np.argmax(strange)))
        raise GraphError(f"the kept graph has the edge ({u!r}, {v!r}), which the original doesn't have")
    return np.isin(keys, wanted)


def _draw_edges(ax: Axes, whole: Graph, at: FloatArray, edges: BoolArray, label: str, *, kept: bool) -> None:
    from matplotlib.collections import LineCollection

    segments = np.stack([at[whole.source[edges]], at[whole.target[edges]]], axis=1)
    fine = min(1.0, 20 / max(float(np.sqrt(whole.n_edges)), 1.0))
    width = (0.4 + 1.2 * fine) if kept else (0.2 + 0.6 * fine)
    colour = COLOURS[0] if kept else _GREY
    # An own object for each: matplotlib types the segments as a sequence of arrays.
    lines = LineCollection(
        cast("list[Any]", segments), linewidths=width, colors=colour, alpha=0.9 if kept else 0.6, zorder=1 + kept
    )
    lines.set_label(label)
    ax.add_collection(lines)
    ax.autoscale_view()


def _draw_nodes(ax: Axes, whole: Graph, at: FloatArray, nodes: NDArray[np.int64], mask: BoolArray) -> None:
    """Nodes with kept edges as discs, and those that lost all as crosses."""
    degrees = whole.select(mask).degrees()[nodes]
    lost = (degrees == 0) & (whole.degrees()[nodes] > 0)
    unit = 500 / max(float(np.sqrt(nodes.size)), 5.0) / max(float(degrees.max(initial=1)), 1.0)
    size = 3 + unit * degrees
    place = at[nodes]
    ax.scatter(*place[~lost].T, s=size[~lost], color=COLOURS[1], edgecolors="white", linewidths=0.4, zorder=3)
    if lost.any():
        label = f"cut off ({int(np.count_nonzero(lost))})"
        ax.scatter(*place[lost].T, s=14, color=_BLACK, marker="x", linewidths=0.8, zorder=3, label=label)


def _curve(ax: Axes, x: NDArray[Any], y: NDArray[Any], label: str, i: int) -> None:
    ax.plot(
        x,
        y,
        label=label,
        color=COLOURS[i % len(COLOURS)],
        linestyle=STYLES[i % len(STYLES)],
        marker=MARKERS[i % len(MARKERS)] if len(x) <= 30 else None,
        markersize=4,
    )
