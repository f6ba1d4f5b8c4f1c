"""A report on the classification of connectomes: tables, pictures, JSON, and one page that says what they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphpri import _output
from graphpri._version import versions
from graphpri.apps import brain_methods, brain_protocol
from graphpri.apps.brain_data import Connectomes, Rois, listed
from graphpri.apps.brain_edges import Rows, edge_table, how_tested, ranked, system_table
from graphpri.apps.brain_graph import pairs, square
from graphpri.apps.brain_methods import Settings
from graphpri.apps.brain_protocol import Evaluation, Protocol, Stability, chance, compared
from graphpri.errors import MissingExtraError, OptionError
from graphpri.graph import FloatArray, IntArray
from graphpri.io import tables
from graphpri.io.sink import open_sink
from graphpri.plot import as_bytes

# ---------------------------------------------------------------------------------------------------------------------
# What the results of a classification of connectomes allow to conclude, in sentences made from them.
# ---------------------------------------------------------------------------------------------------------------------

Row = Mapping[str, Any]

NOT_CONCLUDED = (
    "Causes, mechanisms or a diagnosis of single persons: the edges tell these two groups apart in these scans.",
    "That it holds elsewhere: scanner, site, head motion, age and sex are not modelled, and a difference in one of "
    "them between the classes is learned like any other.",
    "That an edge that is not listed does not differ: of edges that carry the same signal, a model needs one.",
    "Probabilities of edges: the Graph-PRI term doesn't change when the mask is multiplied by a constant, so that a "
    "mask value of .5 has no meaning. Edges are ranked, and judged by how often they are found again.",
)
"""What can't be concluded from any such analysis."""


def conclusions(
    scans: Connectomes,
    comparison: Sequence[Row],
    chance: tuple[float, float, float],
    permutation_p: Mapping[str, float],
    permutations: int = 0,
) -> list[str]:
    """What the accuracies say.

    Parameters
    ----------
    scans : Connectomes
    comparison : sequence of mapping
        Rows with method, accuracy, lower and upper end of its interval, and verdict, the best first.
    chance : tuple of float
        Chance level, and both ends of the interval that holds 95 % of guesses.
    permutation_p : mapping of str to float
        By method.
    permutations : int
        How many there were.

    Examples
    --------
    >>> import numpy as np
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], groups=["a", "b", "c", "d"])
    >>> row = {"method": "paper", "accuracy": 0.55, "lower": 0.4, "upper": 0.7, "verdict": "best"}
    >>> conclusions(scans, [row], (0.5, 0.25, 0.75), {"paper": 0.2}, 200)[1:3]  # doctest: +NORMALIZE_WHITESPACE
    ["No method's interval lies above what luck explains: don't interpret edges or systems.",
     'paper does no better than permuted labels (p = 0.2, 200 permutations).']
    """
    return [
        *_above_chance(comparison, chance, permutation_p, permutations),
        *_between_methods(comparison),
        _folds(scans),
    ]


def about_edges(explained: str, edges: Sequence[Row], stable: Stability, top: int, n_edges: int) -> list[str]:
    """What the table of edges says.

    Parameters
    ----------
    explained : str
        The method.
    edges : sequence of mapping
        Rows of :func:`graphpri.apps.brain_edges.edge_table`.
    stable : Stability
        Of the method's `top` edges.
    top, n_edges : int

    Examples
    --------
    >>> import numpy as np
    >>> stable = Stability(np.zeros(66), np.zeros(66), jaccard=0.1, shared_by_luck=0.1)
    >>> about_edges("edge-readout", [{"selection_frequency": 0.3, "q": 0.2}], stable, top=1, n_edges=66)[-1]
    "No more edges come back than with labels that say nothing: don't report single edges."
    """
    often = sum(row["selection_frequency"] > 0.5 for row in edges)
    luck = stable.often_by_luck
    found = [
        f"Of the {len(edges)} edges shown, {often} are among the top {top} of {explained} in more than half of the "
        f"half-samples of subjects; with labels that say nothing {luck} {'edge is' if luck == 1 else 'edges are'}. Two "
        f"half-samples share {stable.jaccard:.2f} of their edges (intersection over union), and "
        f"{stable.shared_by_luck:.2f} with such labels: half of the subjects of two half-samples are the same.",
        f"{sum(row['q'] < 0.05 for row in edges)} of them differ between the classes at q < .05, corrected for all "
        f"{n_edges} edges. The tests use all scans, as the ranks do: they describe the edges, and don't confirm them.",
    ]
    if often > luck and stable.jaccard > stable.shared_by_luck:
        return found
    return [*found, "No more edges come back than with labels that say nothing: don't report single edges."]


def about_systems(systems: Sequence[Row], note: str) -> list[str]:
    """What the table of systems says; `note` is the caveat of the atlas.

    Examples
    --------
    >>> about_systems([{"system": "motor", "other_system": "visual", "q": 0.01}], "")
    ["More of the shown edges than the systems' sizes explain (q < .05) join motor–visual."]
    """
    if not systems:
        return ["The regions have no systems: an atlas with a column system adds a table of them."]
    more = [f"{row['system']}–{row['other_system']}" for row in systems if row["q"] < 0.05]
    found = (
        f"More of the shown edges than the systems' sizes explain (q < .05) join {listed(more)}."
        if more
        else "No two systems are joined by more of the shown edges than their sizes explain (q < .05)."
    )
    return [found, *([f"Of the atlas: {note}."] if note else [])]


def _above_chance(
    comparison: Sequence[Row],
    chance: tuple[float, float, float],
    permutation_p: Mapping[str, float],
    permutations: int,
) -> list[str]:
    level, _, upper = chance
    best = comparison[0]
    above = [row["method"] for row in comparison if row["lower"] > upper]
    found = [
        f"{best['method']} is most accurate: {best['accuracy']:.3f}, 95 % interval {best['lower']:.3f} to "
        f"{best['upper']:.3f}. Guessing has {level:.3f}, and up to {upper:.3f} by luck. It is the best of "
        f"{len(comparison)}, chosen after the fact, which flatters it."
        if len(comparison) > 1
        else f"{best['method']} has an accuracy of {best['accuracy']:.3f}, 95 % interval {best['lower']:.3f} to "
        f"{best['upper']:.3f}; guessing has {level:.3f}, and up to {upper:.3f} by luck.",
        f"The interval lies above all that luck explains for {listed(above, 12)}."
        if above
        else "No method's interval lies above what luck explains: don't interpret edges or systems.",
    ]
    return found + [
        f"{name} beats permuted labels (p = {p:.3g}, {permutations} permutations)."
        if p < 0.05
        else f"{name} does no better than permuted labels (p = {p:.3g}, {permutations} permutations)."
        for name, p in permutation_p.items()
    ]


def _between_methods(comparison: Sequence[Row]) -> list[str]:
    if len(comparison) < 2:
        return []
    groups = {v: [row["method"] for row in comparison if row["verdict"] == v] for v in ("worse", "no clear difference")}
    found: list[str] = []
    if groups["worse"]:
        found.append(f"Clearly less accurate than {comparison[0]['method']}: {listed(groups['worse'], 12)}.")
    if groups["no clear difference"]:
        alike = listed(groups["no clear difference"], 12)
        found.append(f"Not told apart from {comparison[0]['method']} by these subjects: {alike}.")
    return found


def _folds(scans: Connectomes) -> str:
    n = len(set(scans.groups))
    if not scans.grouped:
        return (
            "No subjects were given, and each scan counted as one. If a person has several scans here, test data "
            "leaked into training data, and nothing above holds."
        )
    return f"All scans of a subject were in the same fold; intervals are over {n} subjects."


# ---------------------------------------------------------------------------------------------------------------------
# Pictures of a brain-network report: edges in the brain, the systems they join, accuracies with intervals.
# ---------------------------------------------------------------------------------------------------------------------

_ACROSS, _IDLE = "#9a9a9a", "#d0d0d0"
_SIGNED = {1: "#c23b22", -1: "#2166ac"}
_DPI = 110


def check(scans: Connectomes) -> None:
    """Refuse pictures that can't be drawn, before there is any work.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed, or nilearn for regions with coordinates.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> check(from_matrices([np.eye(3)] * 4, [0, 0, 1, 1]))  # can be drawn
    """
    _figure(1, 1)
    if scans.rois.coordinates is not None:
        _nilearn()


def connectome(scans: Connectomes, edges: ArrayLike, signs: ArrayLike) -> bytes | None:
    """Edges in a glass brain, as PNG; None where the regions have no coordinates or there are no edges.

    Parameters
    ----------
    scans : Connectomes
    edges : array_like of int, shape (K,)
        Positions, in the order of :func:`graphpri.apps.brain_graph.pairs`.
    signs : array_like, shape (K,)
        1 or -1, the colours of the edges where the regions have no systems; else each half of an edge has the colour
        of the system that it ends in.

    Raises
    ------
    MissingExtraError
        Where nilearn is not installed.

    Examples
    --------
    >>> from graphpri.apps.brain_data import Rois, from_matrices
    >>> centres = np.array([[-40.0, -20.0, 50.0], [40.0, -20.0, 50.0], [0.0, -90.0, 0.0]])
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], rois=Rois(("M1.L", "M1.R", "V1"), centres))
    >>> connectome(scans, [0, 2], [1, -1])[1:4]
    b'PNG'
    """
    at = np.asarray(edges, np.int64)
    if scans.rois.coordinates is None or not at.size:
        return None
    figure = _figure(9.5, 3.8, None)
    colours = glass_brain(figure, (0, 0.1, 1, 0.9), scans.rois, at, signs)
    named = colours or {f"larger in {scans.classes[k]}": _SIGNED[2 * k - 1] for k in (0, 1)}
    brain_legend(figure, named, fontsize=9)
    return as_bytes(figure, "png", dpi=_DPI, facecolor="white")


def glass_brain(
    figure: Any,
    place: tuple[float, float, float, float],
    rois: Rois,
    edges: ArrayLike,
    signs: ArrayLike,
    size: float = 1.0,
) -> dict[str, str]:
    """Draw edges in three views of a glass brain, with nilearn; returns the colour of each system.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    place : tuple of float
        Left, bottom, width and height in the figure, as shares of its own.
    rois : Rois
        With coordinates.
    edges, signs
        As in :func:`connectome`.
    size : float
        Of lines and nodes, against those of a page.

    Raises
    ------
    MissingExtraError
        Where nilearn is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from graphpri.apps.brain_data import Rois
    >>> centres = np.array([[-40.0, -20.0, 50.0], [40.0, -20.0, 50.0], [0.0, -90.0, 0.0]])
    >>> rois = Rois(("M1.L", "M1.R", "V1"), centres, ("motor", "motor", "visual"))
    >>> list(glass_brain(Figure(), (0, 0, 1, 1), rois, [0, 2], [1, -1]))
    ['motor', 'visual']
    """
    at, coordinates = np.asarray(edges, np.int64), rois.coordinates
    n = len(rois.names)
    degree = _degrees(n, at)
    colours = _system_colours(rois)
    of_region = [colours[s] for s in rois.systems or ()] or [_ACROSS] * n
    display = _nilearn().plot_connectome(
        np.zeros((n, n)),
        coordinates,
        node_color=[c if d else _IDLE for c, d in zip(of_region, degree, strict=True)],
        node_size=size * np.where(degree, 12 + 9 * degree, 5),
        display_mode="ortho",
        colorbar=False,
        figure=figure,
        axes=place,
    )
    for colour, lines in _lines(rois, at, np.asarray(signs), of_region if colours else None).items():
        _draw(display, lines, colour, 1.2 * size)
    return colours


def brain_legend(figure: Any, colours: dict[str, str], fontsize: float) -> None:
    """Names of colours, below a figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> brain_legend(figure, {"motor": "#2166ac"}, fontsize=9)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['motor']
    """
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=colour, marker="o", lw=2, label=name) for name, colour in colours.items()]
    figure.legend(handles=marks, loc="lower center", ncols=min(len(marks), 7), frameon=False, fontsize=fontsize)


def interactive(scans: Connectomes, edges: ArrayLike, values: ArrayLike) -> str | None:
    """Edges in a brain that can be turned, as a page that asks the network for nothing; None as in `connectome`.

    Parameters
    ----------
    scans : Connectomes
    edges : array_like of int, shape (K,)
    values : array_like, shape (K,)
        Colours of the edges: signed importance.

    Raises
    ------
    MissingExtraError
        Where nilearn is not installed.

    Examples
    --------
    >>> from graphpri.apps.brain_data import Rois, from_matrices
    >>> centres = np.array([[-40.0, -20.0, 50.0], [40.0, -20.0, 50.0], [0.0, -90.0, 0.0]])
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], rois=Rois(("M1.L", "M1.R", "V1"), centres))
    >>> "M1.R" in interactive(scans, [0, 2], [0.5, -0.2])
    True
    """
    at, coordinates = np.asarray(edges, np.int64), scans.rois.coordinates
    if coordinates is None or not at.size:
        return None
    adjacency = square(_spread(scans, at, np.asarray(values, np.float64)), scans.n_rois)
    colours = _system_colours(scans.rois)
    named: Any = {} if not colours else {"node_color": [colours[s] for s in scans.rois.systems or ()]}
    labels = [name if d else "" for name, d in zip(scans.rois.names, _degrees(scans.n_rois, at), strict=True)]
    page = _nilearn().view_connectome(adjacency, coordinates, linewidth=4, node_labels=labels, **named)
    # Scripts stand within the page; its icon is the one thing that comes from elsewhere.
    return re.sub(r"<link[^>]*rel=\"[^\"]*icon[^>]*>", "", page.get_standalone())


def systems(rows: Rows) -> bytes | None:
    """Selected edges between each two systems against chance, as SVG; None where there are no systems.

    Numbers are of selected edges, colours how many more these are than expected, stars p < .05.

    Examples
    --------
    >>> row = {"system": "motor", "other_system": "visual", "selected": 3, "expected": 0.4, "p": 0.01}
    >>> b"<svg" in systems([row])
    True
    """
    if not rows:
        return None
    names = sorted({row[key] for row in rows for key in ("system", "other_system")})
    total = max(1, sum(row["selected"] for row in rows))
    excess = np.full((len(names), len(names)), np.nan)
    side = 1.6 + 0.62 * len(names)
    figure = _figure(side + 1.4, side)
    ax = figure.subplots()
    for row in rows:
        i, j = names.index(row["system"]), names.index(row["other_system"])
        for a, b in {(i, j), (j, i)}:
            excess[a, b] = row["selected"] - total * row["expected"]
            mark = "*" if row["p"] < 0.05 else ""
            ax.text(b, a, f"{row['selected']}{mark}", ha="center", va="center", fontsize=9)
    most = max(1.0, float(np.nanmax(np.abs(excess))))
    image = ax.imshow(excess, cmap="RdBu_r", vmin=-1.4 * most, vmax=1.4 * most)
    ax.set_xticks(range(len(names)), names, rotation=35, ha="right")
    ax.set_yticks(range(len(names)), names)
    figure.colorbar(image, ax=ax, label="selected edges above expected", shrink=0.8)
    return as_bytes(figure, "svg")


def accuracies(
    names: Sequence[str], values: ArrayLike, intervals: ArrayLike, chance: tuple[float, float, float]
) -> bytes:
    """Accuracies with intervals beside chance, as SVG.

    Parameters
    ----------
    names : sequence of str, length M
    values : array_like, shape (M,)
    intervals : array_like, shape (M, 2)
        Lower and upper ends.
    chance : tuple of float
        Chance level, and both ends of its interval.

    Examples
    --------
    >>> b"<svg" in accuracies(["edge-readout"], [0.8], [(0.7, 0.9)], (0.5, 0.4, 0.6))
    True
    """
    middle, ends = np.asarray(values, np.float64), np.asarray(intervals, np.float64)
    figure = _figure(7.5, 1.2 + 0.36 * len(names))
    ax = figure.subplots()
    at = np.arange(len(names))[::-1]
    ax.axvspan(chance[1], chance[2], color="#8883", label="chance, 95 % of guesses")
    ax.axvline(chance[0], color="#666", lw=1, ls="--")
    ax.hlines(at, ends[:, 0], ends[:, 1], color="#2166ac", lw=2)
    ax.plot(middle, at, "o", color="#2166ac", label="accuracy, 95 % interval over subjects")
    ax.set_yticks(at, names)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.set_xlabel("accuracy")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return as_bytes(figure, "svg")


def _system_colours(rois: Rois) -> dict[str, Any]:
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    if rois.systems is None:
        return {}
    names = sorted(set(rois.systems))
    palette = mpl.colormaps["tab10" if len(names) <= 10 else "tab20"]
    return {name: to_hex(palette(i % palette.N)) for i, name in enumerate(names)}


def _lines(rois: Rois, at: IntArray, signs: FloatArray, of_region: list[Any] | None) -> dict[str, list[Any]]:
    """Lines to draw by colour: edges by their signs, or each half of an edge in the colour of the region it ends at."""
    lines: dict[str, list[Any]] = {}
    where: Any = rois.coordinates
    u, v = (ends[at] for ends in pairs(len(rois.names)))
    for a, b, sign in zip(u, v, signs, strict=True):
        if of_region is None:
            lines.setdefault(_SIGNED.get(sign, _ACROSS), []).append((where[a], where[b]))
            continue
        middle = (where[a] + where[b]) / 2
        for end in (a, b):
            lines.setdefault(of_region[end], []).append((where[end], middle))
    return lines


def _draw(display: Any, lines: list[Any], colour: str, width: float) -> None:
    """Lines as a graph that has two nodes of its own for each."""
    from matplotlib.colors import ListedColormap

    adjacency = np.kron(np.eye(len(lines)), [[0, 1], [1, 0]])
    display.add_graph(
        adjacency,
        np.concatenate([np.array(line) for line in lines]),
        node_size=0,
        node_color="none",
        edge_cmap=ListedColormap([colour]),
        edge_vmin=0,
        edge_vmax=1,
        edge_kwargs={"linewidth": width, "alpha": 0.8},
        colorbar=False,
    )


def _spread(scans: Connectomes, at: IntArray, values: FloatArray) -> FloatArray:
    full = np.zeros(scans.n_rois * (scans.n_rois - 1) // 2)
    full[at] = values
    return full


def _degrees(n: int, at: IntArray) -> IntArray:
    u, v = pairs(n)
    return np.bincount(np.concatenate([u[at], v[at]]), minlength=n)


def _nilearn() -> Any:
    try:
        from nilearn import plotting
    except ImportError as error:
        raise MissingExtraError("nilearn", "brain", "a picture of a connectome") from error
    return plotting


def _figure(width: float, height: float, layout: Any = "constrained") -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "brain", "drawing a report's pictures") from error
    return Figure(figsize=(width, height), layout=layout)


Progress = Callable[[str, float], object]

INTERACTIVE = "connectome.html"
"""Name of the page with a brain to turn."""

REFERENCES = ("t-test-svm", "t-test-svm-rbf", "lasso-svm", "lasso-svm-rbf", "tangent-svm", "gcn", "gat")
"""Methods that others are measured against."""

TOP = 100
"""Edges in the table and the pictures."""

_LISTED = 30
_SIGNS = {
    "abs": "by |r|",
    "positive": "the largest positive",
    "two": "by |r|, positive and negative ones in channels of their own, of which pyg-gcn and gat see the sum",
}
_MEASURES = ("balanced_accuracy", "auc", "sensitivity", "specificity", "paired_accuracy")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "torch-geometric", "nilearn")


@dataclass(frozen=True)
class Request:
    """What to run.

    Parameters
    ----------
    methods : tuple of str
        Names of :func:`graphpri.apps.brain_methods.names`.
    protocol : Protocol
    explained : str
        The method whose edges are shown; one that has importances.
    top : int, optional
        Edges to show; 100 where absent, or a tenth of all where that is fewer.
    permuted : tuple of str
        Methods to permute labels for, as often as the protocol says.

    Examples
    --------
    >>> request = Request(("linear-svm", "paper"), Protocol(folds=3), explained="linear-svm")
    >>> request.explained, request.permuted
    ('linear-svm', ())
    """

    methods: tuple[str, ...]
    protocol: Protocol
    explained: str = "edge-readout"
    top: int | None = None
    permuted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What was found.

    Parameters
    ----------
    scans : Connectomes
    request : Request
    evaluation : Evaluation
    stability : Stability
        Of the explained method.
    comparison : list of dict
        The evaluation's summary, and each method against the best one.
    edges, systems : list of dict
        As :func:`graphpri.apps.brain_edges.edge_table` and ``system_table`` have them.
    chance : tuple of float
        As :func:`graphpri.apps.brain_protocol.chance` has it.
    permutation_p : dict of str to float
        By method; empty where none was asked for.

    Examples
    --------
    >>> from graphpri.apps.brain_methods import Settings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Protocol(folds=2, half_samples=2, settings=Settings(nested=False))
    >>> outcome = study(drawn.train, Request(("linear-svm",), quick, explained="linear-svm", top=3))
    >>> sorted(outcome.shown.tolist()) == np.flatnonzero(drawn.planted).tolist()
    True
    """

    scans: Connectomes
    request: Request
    evaluation: Evaluation
    stability: Stability
    comparison: Rows
    edges: Rows
    systems: Rows
    chance: tuple[float, float, float]
    permutation_p: dict[str, float]

    @property
    def top(self) -> int:
        """How many edges to show."""
        return _top(self.request.top, self.scans)

    @property
    def shown(self) -> IntArray:
        """Positions of the edges of the table."""
        return ranked(self.stability.importance, self.top)

    @cached_property
    def picture(self) -> bytes | None:
        """The shown edges in the brain, as PNG."""
        return connectome(self.scans, self.shown, self.signs)

    @property
    def signs(self) -> FloatArray:
        """1 or -1 for each shown edge, by its sign in the table."""
        return np.array([1.0 if row["sign"] == "+" else -1.0 for row in self.edges])

    @property
    def weights(self) -> FloatArray:
        """Signed importance of each shown edge."""
        return self.signs * self.stability.importance[self.shown]


def study(
    scans: Connectomes, request: Request, step: Progress = lambda text, share: None, store: Path | None = None
) -> Outcome:
    """Evaluate the methods, and look for stable edges of the explained one.

    Parameters
    ----------
    scans : Connectomes
    request : Request
    step : callable
        Called with a text and the share of the work that is done; may raise to stop.
    store : Path, optional
        Folder that keeps pieces that are done; a run with the same request goes on from them.

    Raises
    ------
    OptionError
        As :func:`graphpri.apps.brain_protocol.evaluate` has it.
    MissingExtraError
        Where a library that a method needs is not installed.

    Examples
    --------
    >>> from graphpri.apps.brain_methods import Settings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Protocol(folds=2, half_samples=2, settings=Settings(nested=False))
    >>> outcome = study(drawn.train, Request(("linear-svm", "t-test-svm"), quick, explained="linear-svm", top=3))
    >>> [row["method"] for row in outcome.comparison], len(outcome.edges), outcome.chance[0]
    (['t-test-svm', 'linear-svm'], 3, 0.5)
    """
    protocol = request.protocol
    _check(scans, request)
    top = _top(request.top, scans)
    stable = brain_protocol.stability(
        scans,
        request.explained,
        protocol,
        top=top,
        on_progress=step,
        store=store,
    )
    found = brain_protocol.evaluate(scans, request.methods, protocol, step, store)
    at = ranked(stable.importance, top)

    def permuted(name: str) -> float:
        return brain_protocol.permutation_p(scans, name, protocol, step, store)[0]

    return Outcome(
        scans=scans,
        request=replace(request, top=top),
        evaluation=found,
        stability=stable,
        comparison=compared(found, protocol.seed),
        edges=edge_table(scans, stable.importance, stable.frequency, top),
        systems=system_table(scans, at, seed=protocol.seed),
        chance=chance(scans),
        permutation_p={name: permuted(name) for name in request.permuted if protocol.permutations},
    )


def _check(scans: Connectomes, request: Request) -> None:
    """Refuse what would fail after much work.

    Raises
    ------
    OptionError
        For no method, unknown ones, repeats or permutations out of range, no edges to show, and folds that the
        subjects don't fill.
    MissingExtraError
        Where a library that pictures need is not installed.
    """
    if not request.methods:
        raise OptionError("no method: name one, or leave the list out for all")
    if twice := [name for name in request.methods if request.methods.count(name) > 1]:
        raise OptionError(f"method {twice[0]!r} is named {request.methods.count(twice[0])} times: once is enough")
    if request.protocol.repeats < 1 or request.protocol.permutations < 0:
        raise OptionError("give 1 repeat or more, and 0 permutations or more")
    _top(request.top, scans)
    protocol = request.protocol
    every = (*request.methods, request.explained, *request.permuted)
    brain_methods.check(every, scans, protocol.settings, protocol.folds, protocol.seed)
    check(scans)


def _top(top: int | None, scans: Connectomes) -> int:
    """How many edges to show."""
    n_edges = scans.n_rois * (scans.n_rois - 1) // 2
    usual = max(1, min(TOP, n_edges // 10))
    if top is None:
        return usual
    if not 1 <= top < n_edges:
        raise OptionError(
            f"top={top}: there are {n_edges} edges, of which some are shown: give 1 or more, fewer than all, or leave "
            f"it out for {usual}"
        )
    return top


def _page(outcome: Outcome, source: str, command: str) -> str:
    """The outcome as one self-contained HTML page."""
    scans = outcome.scans
    return _output.document(
        f"Brain networks: {source}",
        *_asked(outcome),
        "<h2>How well the classes are told apart</h2>",
        *_results(outcome),
        "<h2>Edges</h2>",
        *_edges(outcome),
        "<h2>Systems</h2>",
        *_systems(outcome),
        "<h2>What can't be concluded</h2>",
        _output.items(NOT_CONCLUDED),
        *(["<h2>Notes on the data</h2>", _output.items(scans.notes)] if scans.notes else []),
        "<h2>Again</h2>",
        f"<p><code>{escape(command)}</code></p>",
        f"<p class='small'>{escape(', '.join(f'{name} {v}' for name, v in versions(*_LIBRARIES).items()))}</p>",
    )


def _asked(outcome: Outcome) -> list[str]:
    scans, protocol = outcome.scans, outcome.request.protocol
    signs = protocol.settings.signs
    counts = [int((scans.labels == k).sum()) for k in (0, 1)]
    subjects = len(set(scans.groups))
    named = " and ".join(f"{n} {name}" for n, name in zip(counts, scans.classes, strict=True))
    return [
        f"<p>Can {escape(scans.classes[1])} be told from {escape(scans.classes[0])} by functional connectivity, and by "
        "which edges?</p>",
        f"<p>{scans.n_scans} scans ({escape(named)}) of {subjects} subjects, {scans.n_rois} regions. "
        f"{protocol.folds}-fold cross-validation by subject, {_times(protocol.repeats)}, seed {protocol.seed}; "
        f"everything is fitted on the training scans, {_chosen(protocol.settings)}.</p>",
        f"<p>Graphs have the strongest {protocol.settings.density:.0%} of all pairs as edges ({_SIGNS[signs]}); models "
        f"of edges read all pairs. {protocol.half_samples} half-samples, {protocol.permutations or 'no'} permutations."
        "</p>",
        *_not_run(outcome.request.methods),
    ]


def _not_run(methods: tuple[str, ...]) -> list[str]:
    """Which of the references an accuracy should be seen beside are not there."""
    left = [name for name in REFERENCES if name not in methods]
    return [f"<p>Of the references {listed(left, len(left))} did not run: leave out --methods for all.</p>"] * bool(
        left
    )


def _chosen(settings: Settings) -> str:
    """How hyper-parameters came about."""
    if not settings.nested:
        return "with default hyper-parameters"
    folds = f"on {settings.inner} folds within them"
    if not settings.tune:
        return f"and hyper-parameters are chosen {folds}"
    budget = "" if settings.time_budget is None else f", {settings.time_budget:g} s for each"
    return f"and hyper-parameters are tuned {folds}{budget}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _results(outcome: Outcome) -> list[str]:
    rows, permutations = outcome.comparison, outcome.request.protocol.permutations
    names = [row["method"] for row in rows]
    chart = accuracies(
        names, [row["accuracy"] for row in rows], [(row["lower"], row["upper"]) for row in rows], outcome.chance
    )
    return [
        _output.items(conclusions(outcome.scans, rows, outcome.chance, outcome.permutation_p, permutations)),
        _output.picture(chart, "Accuracy of each method with its interval, beside chance"),
        _output.table(
            ["method", "accuracy", "standard error", "95 % interval", "from the best", "95 % interval", ""],
            [_result(row) for row in rows],
        ),
        "<p>Other measures:</p>",
        _table(rows, ("method", *_MEASURES)),
        f"<p class='small'>Positive is {escape(outcome.scans.classes[1])}. Standard errors and 95 % intervals by "
        "drawing subjects again (of a method that is always right or always wrong, the exact interval); the difference "
        "is from the best method over the same draws, and its interval is not corrected for the number of methods.</p>",
    ]


def _edges(outcome: Outcome) -> list[str]:
    scans, request = outcome.scans, outcome.request
    image = outcome.picture
    n_edges = scans.n_rois * (scans.n_rois - 1) // 2
    said = about_edges(request.explained, outcome.edges, outcome.stability, outcome.top, n_edges)
    shown = outcome.edges[:_LISTED]
    return [
        _output.items(said),
        _output.picture(image, "The edges in the brain", _caption(scans), "png")
        if image
        else "<p>There is no picture of them, as the regions have no coordinates: an atlas with columns x, y and z "
        "adds it.</p>",
        *([f'<p>The same to turn: <a href="{INTERACTIVE}">{INTERACTIVE}</a></p>'] if image else []),
        _table([{key: value for key, value in row.items() if key != "p"} for row in shown]),
        f"<p class='small'>The first {len(shown)} of {len(outcome.edges)}; edges.csv has all. Sign: + where a larger "
        f"correlation is seen in {escape(scans.classes[1])}. t: {how_tested(scans)}, of Fisher's z; q: its p, "
        f"corrected for {n_edges} edges.</p>",
    ]


def _caption(scans: Connectomes) -> str:
    if scans.rois.systems is None:
        return ""
    return "Each half of an edge has the colour of the system that it ends in; grey regions have none of these edges."


def _systems(outcome: Outcome) -> list[str]:
    image = systems(outcome.systems)
    said = _output.items(about_systems(outcome.systems, outcome.scans.rois.note))
    if image is None:
        return [said]
    rows = [row for row in outcome.systems if row["selected"]]
    return [
        said,
        _output.picture(image, "Edges between systems", "Number of shown edges; stars: p < .05 of permuted systems."),
        _table(rows),
    ]


def _result(row: Mapping[str, Any]) -> list[str | float]:
    ends = [f"{row[a]:.3f} to {row[b]:.3f}" for a, b in (("lower", "upper"), ("difference_lower", "difference_upper"))]
    best = row["verdict"] == "best"
    difference: list[str | float] = ["", ""] if best else [row["difference"], ends[1]]
    return [row["method"], row["accuracy"], row["standard_error"], ends[0], *difference, row["verdict"]]


def _table(rows: Rows, columns: Iterable[str] | None = None) -> str:
    """Rows under the names of their columns; columns without values are left out."""
    keys = list(rows[0] if rows else ()) if columns is None else columns
    there = [key for key in keys if any(row.get(key) is not None for row in rows)]
    return _output.table([_head(key) for key in there], [[row.get(key) for key in there] for row in rows])


def _head(key: str) -> str:
    """A column's name in words; names of classes stay as they are."""
    return f"mean r, {key.removeprefix('mean_r_')}" if key.startswith("mean_r_") else key.replace("_", " ")


def _facts(outcome: Outcome, source: str, command: str) -> dict[str, Any]:
    """The outcome in types that JSON has: settings, data, folds, results, versions."""
    scans = outcome.scans
    return {
        "source": source,
        "command": command,
        "versions": versions(*_LIBRARIES),
        "settings": asdict(outcome.request),
        "data": {
            "scans": scans.n_scans,
            "subjects": len(set(scans.groups)),
            "subjects_given": scans.grouped,
            "regions": scans.n_rois,
            "classes": list(scans.classes),
            "notes": list(scans.notes),
            "atlas_note": scans.rois.note,
        },
        "folds": _fold_rows(outcome.evaluation.scores),
        "chance": dict(zip(("level", "lower", "upper"), outcome.chance, strict=True)),
        "results": outcome.comparison,
        "permutation_p": outcome.permutation_p,
        "stability": {
            "method": outcome.request.explained,
            "half_samples": outcome.request.protocol.half_samples,
            "jaccard": outcome.stability.jaccard,
            "jaccard_by_luck": outcome.stability.shared_by_luck,
            "often_by_luck": outcome.stability.often_by_luck,
        },
        "edges": outcome.edges,
        "systems": outcome.systems,
    }


def _fold_rows(scores: Iterable[Mapping[str, Any]]) -> Rows:
    """Test scans of each fold of each repeat."""
    held: dict[tuple[int, int], dict[str, None]] = {}
    for row in scores:
        held.setdefault((int(row["repeat"]), int(row["fold"])), {})[str(row["scan"])] = None
    return [{"repeat": r, "fold": f, "test": list(names)} for (r, f), names in sorted(held.items())]


def _plain(value: Any) -> Any:
    """In types of JSON; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def write(outcome: Outcome, out: Path, source: str, command: str) -> list[str]:
    """Write all tables, pictures and the report into a folder; returns their names.

    Examples
    --------
    >>> import tempfile
    >>> from graphpri.apps.brain_methods import Settings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Protocol(folds=2, half_samples=2, settings=Settings(nested=False))
    >>> outcome = study(drawn.train, Request(("linear-svm",), quick, explained="linear-svm", top=3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(outcome, Path(folder), "scans", "graphpri brain scans -o report")
    ['scores.csv', 'comparison.csv', 'edges.csv', 'report.json', 'report.html']
    """
    scans = outcome.scans
    texts = {
        "scores.csv": tables.as_csv(outcome.evaluation.scores),
        "comparison.csv": tables.as_csv(outcome.comparison),
        "edges.csv": tables.as_csv(outcome.edges),
        "systems.csv": tables.as_csv(outcome.systems) if outcome.systems else None,
        "report.json": json.dumps(_plain(_facts(outcome, source, command)), indent=2, allow_nan=False) + "\n",
        "report.html": _page(outcome, source, command),
        INTERACTIVE: interactive(scans, outcome.shown, outcome.weights),
    }
    written = {name: text.encode() for name, text in texts.items() if text is not None}
    if outcome.picture is not None:
        written["connectome.png"] = outcome.picture
    for name, content in written.items():
        with open_sink(out / name, zipped=False, force=True) as sink:
            sink.write(content)
    return list(written)
