"""Pictures on matplotlib Axes: a sparsified graph, a path of solutions, a comparison of methods.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; lines differ in width or style as well.
"""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpri._arguments import checked, is_real, is_several, seeded
from graphpri._arguments import whole as whole_number
from graphpri._layout import spring, subgraph
from graphpri.errors import GraphError, MissingExtraError, OptionError, argument, did_you_mean, named
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.interop import Policies, Source, align, load
from graphpri.interop.source import in_node_order, node_columns
from graphpri.measures import MEASURES, Settings, View
from graphpri.measures.structure import communities_for_pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphpri._sparsify import Sparsified

__all__ = ["compare", "graph", "path"]

_RESTART = 0.15


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


def positions(graph: Graph, layout: ArrayLike | Mapping[Any, Any], name: str = "layout") -> FloatArray:
    """Given positions of the nodes, shape (N, 2), as an array or by label; `name` is that of the argument.

    Raises
    ------
    OptionError
        For nodes without a position, another shape, and positions that are not finite.
    """
    if isinstance(layout, Mapping):
        labels = [graph.label(i) for i in range(graph.n_nodes)]
        if missing := [label for label in labels if label not in layout]:
            raise OptionError(f"{named(name)} has no position for {len(missing)} nodes, the first is {missing[0]!r}")
        layout = [layout[label] for label in labels]
    try:
        place = np.asarray(layout, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{argument(name, layout)}: positions are two numbers for each node") from None
    if place.shape != (graph.n_nodes, 2) or not np.isfinite(place).all():
        what = f"not of shape {place.shape}" if place.shape != (graph.n_nodes, 2) else "and some are not finite"
        raise OptionError(f"{named(name)} must be finite positions of shape ({graph.n_nodes}, 2), {what}")
    return place


_MEASURING = Settings(0.0, 0.0, "degree", "equation", "nats", 0)

LARGEST = 2000
"""Number of nodes up to which a graph is drawn whole."""

_BLACK, _GREY = "#000000", "#BBBBBB"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@checked
def graph(
    original: Any,
    kept: Any = None,
    ax: Axes | None = None,
    layout: ArrayLike | Mapping[Any, Any] | None = None,
    seed: int | np.random.Generator = 0,
    *,
    pos: ArrayLike | Mapping[Any, Any] | None = None,
    names: str | int | Iterable[Hashable] | None = None,
    colour: Any = None,
    size: Any = None,
    width: str | None = None,
    dropped: bool = True,
) -> Axes:
    """Draw the kept edges over the dropped ones.

    Nodes stand where the original graph puts them, so that pictures of different results compare. Their area
    grows with their number of kept edges; a node that lost all of its edges is a cross. Many edges are drawn
    thinner and more transparent than few.

    Parameters
    ----------
    original : object
        The graph before: anything that :func:`graphpri.as_graph` takes; or a result of :func:`graphpri.sparsify` alone.
    kept : object, optional
        What was kept of it: a result of :func:`graphpri.sparsify`, a graph whose nodes have the same labels,
        or a bool array over the edges of ``as_graph(original)``. All edges where absent.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure where absent.
    layout, pos : array_like of shape (N, 2), or mapping of node labels to (x, y), optional
        Positions, in the node order of ``as_graph(original)``, by either name, as networkx's layouts return them.
        Springs along the edges of the original where absent, and of a graph of more than 2000 nodes only a sample by
        random walks; the title then says so.
    seed : int or Generator
        For the layout and the sample.
    names : "all", int or iterable of labels, optional
        Write the labels of all nodes, of so many with the most kept edges (or the largest `size`), or of some nodes.
    colour : str, mapping or sequence, optional
        Colour nodes by an attribute of the original's nodes, or by values, by label or in the order of its nodes: few
        different values are groups, many numbers a scale. ``"communities"`` are those of the original. Where no
        attribute has that name, a colour of matplotlib, such as ``"steelblue"``, for all of them.
    size : str, mapping or sequence, optional
        Area of the nodes by a numeric attribute, or by values of 0 and more.
    width : str, optional
        Edge attribute, such as ``"weight"``, that widths of edges grow with.
    dropped : bool
        Draw dropped edges too.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax.figure.savefig("graph.pdf")`` writes it.

    Raises
    ------
    GraphError
        For graphs that :func:`graphpri.as_graph` refuses, and an edge or a node that `original` doesn't have.
    OptionError
        For a layout that doesn't place every node, and attributes that there aren't or that say nothing.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import networkx as nx
    >>> from graphpri import sparsify
    >>> karate = nx.karate_club_graph()
    >>> ax = graph(karate, sparsify(karate, keep=0.3), pos=nx.circular_layout(karate), names=5, colour="club")
    >>> ax.get_title(), [text.get_text() for text in ax.texts][:2]
    ('23 of 78 edges kept', ['33', '0'])
    """
    if pos is not None and layout is not None:
        raise OptionError("layout and pos are two names for the positions: pass one of them")
    layout, placed_by = (layout, "layout") if pos is None else (pos, "pos")
    rng = np.random.default_rng(seeded("seed", seed))
    if kept is None and hasattr(original, "original") and hasattr(original, "kept"):
        original, kept = original.original, original
    loaded = load(original, Policies(weight=width))
    whole = loaded.graph
    if kept is None:
        mask = np.ones(whole.n_edges, bool)
    else:
        mask = _kept_edges(whole, align(whole, kept, Policies(weight=None)))
    groups = _colours(original, loaded, colour)
    areas = None if size is None else _numbers("size", _values(original, loaded, "size", size))
    nodes = np.arange(whole.n_nodes) if layout is not None else sample_nodes(whole, LARGEST, rng)
    chosen = np.isin(np.arange(whole.n_nodes), nodes)
    drawn = chosen[whole.source] & chosen[whole.target]
    place = spring(subgraph(whole, nodes), rng) if layout is None else positions(whole, layout, placed_by)
    at = np.zeros((whole.n_nodes, 2))
    at[nodes] = place
    is_own, ax = ax is None, axes(ax, place)
    rank = whole.select(mask).degrees() if areas is None else areas
    label_nodes = _named_nodes(names, loaded, nodes, rank)
    largest = max(float(rank[nodes].max(initial=0)), 1e-300)
    areas = 8 + 900 / max(float(np.sqrt(nodes.size)), 5.0) * (rank / largest)
    wide = whole.weights / max(float(whole.weights.max(initial=0)), 1e-300) if width is not None else None
    if dropped:
        _draw_edges(ax, whole, at, drawn & ~mask, f"dropped ({whole.n_edges - int(mask.sum())})", wide, kept=False)
    _draw_edges(ax, whole, at, drawn & mask, f"kept ({int(mask.sum())})", wide, kept=True)
    _draw_nodes(ax, whole, at, nodes, mask, groups, areas)
    written = _write_names(ax, whole, at, label_nodes, areas)
    title = f"{int(mask.sum())} of {whole.n_edges} edges kept" if kept is not None else f"{whole.n_edges} edges"
    if nodes.size < whole.n_nodes:
        title += f"\n(drawn: {nodes.size} of {whole.n_nodes} nodes, sampled by random walks)"
    if (shown := int((drawn & mask).sum())) > max(_HAIRBALL, _CROWDED * nodes.size):
        title += f"\n({shown} kept edges hide one another: a smaller keep shows more)"
    ax.set_title(title, fontsize="medium")
    # A figure of its own has the shape of the drawing; on given axes title and legend stay near it.
    ax.set_aspect("equal", adjustable="datalim" if is_own else "box")
    ax.margins(0.03)
    ax.set_axis_off()
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False)
    texts = [*legend.get_texts(), *written]
    fonts = _fonts("".join(text.get_text() for text in texts))
    for text in texts:
        text.set_parse_math(False)  # a label with two $ is no formula
        text.set_fontfamily(fonts)
    return ax


_HAIRBALL, _CROWDED = 500, 1.5  # kept edges, and kept edges a node, from which a picture says what to do
_GROUPS = 6  # that have colours of their own


class _Colours(NamedTuple):
    """Colours of nodes: a group for each, with its name, numbers on a scale, or as they were given, shape (N, 4)."""

    name: str
    group: NDArray[np.int64] | None = None
    groups: tuple[str, ...] = ()
    numbers: FloatArray | None = None
    plain: NDArray[Any] | None = None


def _values(original: Any, source: Source, argument_name: str, given: Any) -> list[Any]:
    """Values of an attribute, or given ones, in canonical order of the nodes."""
    if isinstance(given, str):
        known = dict(node_columns(original))
        if given not in known:
            has = f"it has {', '.join(map(repr, known))}" if known else "it has none"
            also = ", and no colour of matplotlib" if argument_name == "colour" else ""
            raise OptionError(
                f"{argument(argument_name, given)} is no attribute of the graph's nodes{also}; {has}"
                f"{did_you_mean(given, known, 0.7)}"
            )
        given = known[given]
    elif not (isinstance(given, Mapping) or is_several(given)):
        raise OptionError(
            f"{argument(argument_name, given)} must be the name of an attribute, or a value for each node"
        )
    try:
        values = in_node_order(source, argument_name, given)
    except OptionError as error:
        raise OptionError(f"{named(argument_name)}: {error.message}") from None
    if all(value is None for value in values):
        raise OptionError(f"{named(argument_name)} has no value for any node of the graph")
    return values


def _numbers(name: str, values: Sequence[Any]) -> FloatArray:
    """Values as numbers of 0 and more; missing ones are 0."""
    try:
        found = np.array([0.0 if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        raise OptionError(f"{named(name)} must be numbers, one for each node") from None
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise OptionError(f"{named(name)} must be finite numbers, 0 or more")
    return found


def _colours(original: Any, source: Source, colour: Any) -> _Colours | None:
    if colour is None:
        return None
    if isinstance(colour, str) and colour == "communities":
        member = communities_for_pictures(View(source.graph, _MEASURING))
        return _grouped("community", [f"community {i + 1}" for i in member.tolist()])
    from matplotlib.colors import to_rgba_array

    n = source.graph.n_nodes
    if _is_plain(original, n, colour):
        return _Colours("", plain=to_rgba_array([colour] * n))
    values = _values(original, source, "colour", colour)
    if not isinstance(colour, str) and all(value is None or _is_colour(value) for value in values):
        return _Colours("", plain=to_rgba_array([_GREY if value is None else value for value in values]))
    name = colour if isinstance(colour, str) else "value"
    there = [value for value in values if value is not None]
    if there and all(map(is_real, there)):
        numbers = np.array([np.nan if value is None else float(value) for value in values])
        if len(set(there)) > _GROUPS:
            return _Colours(name, numbers=numbers)
    return _grouped(name, ["none" if value is None else str(value) for value in values])


def _is_plain(original: Any, n: int, colour: Any) -> bool:
    """Whether all nodes have one colour: a name of matplotlib that is no attribute, or three or four numbers."""
    from matplotlib.colors import is_color_like

    if isinstance(colour, str):
        return is_color_like(colour) and colour not in dict(node_columns(original))
    return isinstance(colour, tuple) and len(cast("Any", colour)) != n and is_color_like(colour)


def _is_colour(value: Any) -> bool:
    """Whether a value is the name of a colour, such as "steelblue" or "#4682b4", and not of a group, such as "b"."""
    from matplotlib.colors import is_color_like

    return isinstance(value, str) and len(value) > 2 and not value[0].isdigit() and is_color_like(value)


def _grouped(name: str, values: list[str]) -> _Colours:
    """Groups by frequency; those beyond the palette share grey."""
    counts = Counter(values)
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    shown = ranked if len(ranked) <= _GROUPS + 1 else [*ranked[:_GROUPS], "other"]
    number = {value: min(i, len(shown) - 1) for i, value in enumerate(ranked)}
    return _Colours(name, np.array([number[value] for value in values]), tuple(shown))


def _named_nodes(
    names: str | int | Iterable[Hashable] | None, source: Source, nodes: NDArray[np.int64], rank: NDArray[Any]
) -> NDArray[np.int64]:
    """The nodes whose labels are written, of those that are drawn."""
    if names is None:
        return nodes[:0]
    if isinstance(names, str):
        if names == "all":
            return nodes
        raise OptionError(f'{argument("names", names)}: choose "all", a number of nodes, or a list of their labels')
    if isinstance(names, Iterable):
        return np.intersect1d(_nodes_called(names, source), nodes)
    count = whole_number("names", names)
    return nodes[np.lexsort((nodes, -np.asarray(rank, float)[nodes]))][:count]


def _nodes_called(labels: Iterable[Hashable], source: Source) -> NDArray[np.int64]:
    graph = source.graph
    place = {graph.label(i): [i] for i in range(graph.n_nodes)}
    found: list[int] = []
    for label in labels:
        known = (place.get(label) or source.names(label)) if getattr(label, "__hash__", None) is not None else ()
        if not known:
            raise OptionError(
                f"{named('names')}: the graph has no node {label!r}{did_you_mean(label, map(str, place), 0.7)}"
            )
        found += known
    return np.array(found, np.int64)


def _fonts(text: str) -> list[str]:
    """Families to write a text in: the usual, and installed ones that have what it lacks.

    What none has is drawn as boxes, and one warning says so.
    """
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, fontManager

    families: list[str] = list(rcParams["font.family"])
    missing = {ord(c) for c in text if c.isprintable()} - _characters(fontManager.findfont(FontProperties()))
    boxes: list[str] = []
    for entry in sorted(fontManager.ttflist, key=lambda one: (one.name, one.fname)) if missing else ():
        if entry.name.startswith("Last Resort"):
            boxes = [entry.name]
        elif has := missing & _characters(entry.fname):
            families.append(entry.name)
            missing -= has
    if missing:
        shown = " ".join(map(chr, sorted(missing)[:_GROUPS])) + " …" * (len(missing) > _GROUPS)
        warnings.warn(
            f"no installed font has {shown}, which are drawn as boxes: install one that has them", stacklevel=4
        )
    return families + (boxes if missing else [])


@lru_cache(maxsize=64)
def _characters(path: str) -> frozenset[int]:
    """Characters that a font file has."""
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


def _write_names(ax: Axes, whole: Graph, at: FloatArray, nodes: NDArray[np.int64], areas: FloatArray) -> list[Any]:
    from matplotlib.patheffects import withStroke

    font = float(np.clip(60 / np.sqrt(max(nodes.size, 1)), 5, 9))
    return [
        ax.annotate(
            str(whole.label(node)),
            tuple(at[node]),
            xytext=(0, float(np.sqrt(areas[node])) / 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=font,
            zorder=5,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )
        for node in nodes.tolist()
    ]


@checked
def path(results: Sequence[Sparsified] | Sequence[Mapping[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw J, D, S and the number of kept edges along a path, each on axes of its own; what is constant is left out.

    Parameters
    ----------
    results : sequence of Sparsified, or of mappings
        From :func:`graphpri.path`, or any that differ in β or in their budget; or rows with beta, objective, entropy,
        divergence, and share, that of the edges kept.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure where absent. The other axes share its place.

    Returns
    -------
    matplotlib.axes.Axes
        That of J, at the bottom; ``ax.figure.axes`` has all.

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
    >>> ax.get_xlabel(), [each.get_lines()[0].get_label() for each in ax.figure.axes]
    ('β', ['objective J', 'divergence D', 'entropy S', 'edges kept'])
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
    curves = [(label, np.array([point[key] for point in points])[order]) for key, label in _PANELS]
    if not along_beta:
        curves = curves[:-1]
    shown = [curves[0], *(curve for curve in curves[1:] if not _is_constant(curve[1]))]
    for i, (panel, (label, y)) in enumerate(zip(_stacked(ax, len(shown)), shown, strict=True)):
        _curve(panel, across, y, label, i)
        panel.set_ylabel(label.replace(" ", "\n") if label == "edges kept" else f"{label}\n(nats)")
        panel.margins(y=0.12)
    ax.set_xlabel("β" if along_beta else "share of edges kept")
    return ax


def _is_constant(y: NDArray[Any]) -> bool:
    return len(y) > 1 and bool(np.ptp(y) <= 1e-9 * max(1.0, float(np.abs(y).max())))


def _stacked(ax: Axes, count: int) -> list[Axes]:
    """The Axes and others above it in its place, from the bottom up, with one horizontal axis."""
    spec, figure = ax.get_subplotspec(), cast("Figure", ax.figure)
    if spec is None:
        spec = figure.add_gridspec(1, 1)[0]
    cells = spec.subgridspec(count, 1)
    ax.set_subplotspec(cells[count - 1])
    others = [figure.add_subplot(cells[i], sharex=ax) for i in reversed(range(count - 1))]
    for other in others:
        other.tick_params(labelbottom=False)
    return [ax, *others]


_PANELS = (
    ("objective", "objective J"),
    ("divergence", "divergence D"),
    ("entropy", "entropy S"),
    ("share", "edges kept"),
)
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
    """Draw one measure of several methods over the budget, a line a method, with a ring around the best.

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
    >>> table = graphpri.compare(nx.karate_club_graph(), ["pri", "random"], [0.3, 0.6], effort="fast")
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
    _mark_best(ax, _by_method(table, along, measure), measure, centre)
    ax.set_xlabel("edges kept" if along == "K" else along.replace("_", " "))
    ax.set_ylabel(measure.replace("_", " "))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    return ax


def _mark_best(ax: Axes, found: dict[str, dict[float, list[float]]], measure: str, centre: str) -> None:
    """A ring around the best method wherever several can be compared, where the measure has a better end."""
    known = MEASURES.get(measure)
    if known is None or known.better is None:
        return
    middle, best = (np.mean if centre == "mean" else np.median), (min if known.better == "low" else max)
    rings: list[tuple[float, float]] = []
    for x in sorted({x for points in found.values() for x in points}):
        values = [float(middle(points[x])) for points in found.values() if x in points]
        if len(values) > 1:
            rings.append((x, best(values)))
    if rings:
        ax.scatter(*zip(*rings, strict=True), s=110, facecolors="none", edgecolors=_BLACK, zorder=4, label="best")


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


def axes(ax: Axes | None, place: FloatArray | None = None) -> Axes:
    """The given Axes, or those of a new figure, of the shape of some positions; an error without matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing") from None
    if ax is not None and not hasattr(ax, "add_collection"):
        raise OptionError(f"{argument('ax', ax)} must be Axes of matplotlib, or None for a new figure")
    if ax is not None:
        return ax
    if place is None or not len(place):
        return plt.subplots(layout="constrained")[1]
    wide, high = np.maximum(np.ptp(place, axis=0), 1e-9)
    shape = float(np.clip(high / wide, 0.4, 1.6))
    return plt.subplots(layout="constrained", figsize=(6.4, 6.4 * shape + 1.2))[1]


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


def _draw_edges(
    ax: Axes, whole: Graph, at: FloatArray, edges: BoolArray, label: str, wide: FloatArray | None, *, kept: bool
) -> None:
    """Lines, thinner and more transparent where there are many, wider by their weight where that is asked for."""
    from matplotlib.collections import LineCollection

    segments = np.stack([at[whole.source[edges]], at[whole.target[edges]]], axis=1)
    fine = min(1.0, 20 / max(float(np.sqrt(whole.n_edges)), 1.0))
    width: Any = (0.4 + 1.2 * fine) if kept else (0.2 + 0.6 * fine)
    if wide is not None and edges.any():
        width = width * (0.3 + 1.7 * np.sqrt(wide[edges]))
    colour = COLOURS[0] if kept else _GREY
    faint = 150 / max(int(edges.sum()), 1)
    alpha = float(np.clip(faint**0.5, 0.2, 0.9)) if kept else float(np.clip(faint**0.5, 0.08, 0.6))
    # An own object for each: matplotlib types the segments as a sequence of arrays.
    lines = LineCollection(cast("list[Any]", segments), linewidths=width, colors=colour, alpha=alpha, zorder=1 + kept)
    lines.set_label(label)
    ax.add_collection(lines)
    ax.autoscale_view()


def _draw_nodes(
    ax: Axes,
    whole: Graph,
    at: FloatArray,
    nodes: NDArray[np.int64],
    mask: BoolArray,
    colours: _Colours | None,
    areas: FloatArray,
) -> None:
    """Nodes with kept edges as discs, and those that lost all as crosses."""
    lost = ((whole.select(mask).degrees() == 0) & (whole.degrees() > 0))[nodes]
    size = areas[nodes]
    place, rim = at[nodes], {"edgecolors": "white", "linewidths": 0.4, "zorder": 3}
    if colours is None or colours.plain is not None:
        shade = COLOURS[1] if colours is None or colours.plain is None else colours.plain[nodes][~lost]
        ax.scatter(*place[~lost].T, s=size[~lost], color=shade, **rim)
    elif colours.numbers is not None:
        points = ax.scatter(*place[~lost].T, s=size[~lost], c=colours.numbers[nodes][~lost], cmap="viridis", **rim)
        cast("Any", ax.figure).colorbar(points, ax=ax, label=colours.name, shrink=0.6)
    else:
        assert colours.group is not None
        for i, name in enumerate(colours.groups):
            own = ~lost & (colours.group[nodes] == i)
            shade = _GREY if name == "other" else (*COLOURS[1:], COLOURS[0])[i]
            ax.scatter(*place[own].T, s=size[own], color=shade, label=name, **rim)
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
