"""Figures of brain networks: edges in the brain, systems that they join, accuracies with intervals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphpri.apps import Records
from graphpri.apps.brain_data import Connectomes, Rois
from graphpri.apps.brain_graph import pairs, square
from graphpri.errors import MissingExtraError
from graphpri.graph import FloatArray, IntArray
from graphpri.plot import as_bytes

_ACROSS, _IDLE = "#9a9a9a", "#d0d0d0"
_SIGNED = {1: "#c23b22", -1: "#2166ac"}
_DPI = 110


def check_drawable(scans: Connectomes) -> None:
    """Refuse pictures that can't be drawn, before there is any work.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed, or nilearn for regions with coordinates.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> check_drawable(from_matrices([np.eye(3)] * 4, [0, 0, 1, 1]))  # can be drawn
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
    named = colours or _sign_names(scans.classes)
    if named:
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
    for colour, lines in _edge_lines(rois, at, np.asarray(signs), of_region if colours else None).items():
        _add_lines(display, lines, colour, 1.2 * size)
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
    weights = np.zeros(pairs(scans.n_rois)[0].size)
    weights[at] = values
    adjacency = square(weights, scans.n_rois)
    colours = _system_colours(scans.rois)
    named: Any = {} if not colours else {"node_color": [colours[s] for s in scans.rois.systems or ()]}
    labels = [name if d else "" for name, d in zip(scans.rois.names, _degrees(scans.n_rois, at), strict=True)]
    page = _nilearn().view_connectome(adjacency, coordinates, linewidth=4, node_labels=labels, **named)
    # Scripts stand within the page; its icon is the one thing that comes from elsewhere.
    return re.sub(r"<link[^>]*rel=\"[^\"]*icon[^>]*>", "", page.get_standalone())


def system_matrix(rows: Records) -> bytes | None:
    """Selected edges between each two systems against chance, as SVG; None where there are no systems.

    Numbers are of selected edges, colours how many more these are than expected, stars p < .05.

    Examples
    --------
    >>> row = {"system": "motor", "other_system": "visual", "selected": 3, "expected": 0.4, "p": 0.01}
    >>> b"<svg" in system_matrix([row])
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


def results(
    names: Sequence[str], values: ArrayLike, intervals: ArrayLike, chance: tuple[float, float, float], measure: str
) -> bytes:
    """A measure of methods with intervals, against chance, as SVG.

    Parameters
    ----------
    names : sequence of str, length M
    values : array_like, shape (M,)
    intervals : array_like, shape (M, 2)
        Lower and upper ends.
    chance : tuple of float
        Chance level, and both ends of its interval.
    measure : str

    Examples
    --------
    >>> b"<svg" in results(["edge-readout"], [0.8], [(0.7, 0.9)], (0.5, 0.4, 0.6), "balanced accuracy")
    True
    """
    middle, ends = np.asarray(values, np.float64), np.asarray(intervals, np.float64)
    figure = _figure(7.5, 1.2 + 0.36 * len(names))
    ax = figure.subplots()
    at = np.arange(len(names))[::-1]
    ax.axvspan(chance[1], chance[2], color="#8883", label="chance, 95 % of guesses")
    ax.axvline(chance[0], color="#666", lw=1, ls="--")
    ax.hlines(at, ends[:, 0], ends[:, 1], color="#2166ac", lw=2)
    ax.plot(middle, at, "o", color="#2166ac", label="95 % interval over subjects")
    ax.set_yticks(at, names)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.set_xlabel(measure)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return as_bytes(figure, "svg")


_NAMED = 130  # regions up to which a ring has their names
_GAP = 1.5  # regions' widths between systems of a ring


def ring(rois: Rois, edges: ArrayLike, signs: ArrayLike, classes: Sequence[str] = ()) -> bytes | None:
    """Edges as chords of a ring of the regions, by system where there are systems, as SVG; None without edges.

    Parameters
    ----------
    rois : Rois
    edges : array_like of int, shape (K,)
        Positions, in the order of :func:`graphpri.apps.brain_graph.pairs`.
    signs : array_like, shape (K,)
        1 or -1, the colours of the chords.
    classes : sequence of str
        The two, for the legend.

    Examples
    --------
    >>> from graphpri.apps.brain_data import Rois
    >>> b"<svg" in ring(Rois(("M1.L", "M1.R", "V1"), None, ("motor", "motor", "visual")), [0, 2], [1, -1])
    True
    """
    at = np.asarray(edges, np.int64)
    if not at.size:
        return None
    from matplotlib import rc_context
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch, Wedge
    from matplotlib.path import Path

    angle, spans = _places(rois)
    colours, where = _system_colours(rois), np.column_stack([np.cos(angle), np.sin(angle)])
    figure = _figure(6.6, 7)
    ax = figure.subplots()
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35))
    u, v = (ends[at] for ends in pairs(len(rois.names)))
    for a, b, sign in zip(u, v, np.asarray(signs), strict=True):
        # Chords bend towards the centre, those of near regions less.
        middle = (where[a] + where[b]) / 2 * 0.25
        path = Path([where[a], middle, where[b]], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
        colour = _SIGNED.get(int(sign), _ACROSS) if len(classes) <= 2 else _ACROSS
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor=colour, linewidth=1.1, alpha=0.7))
    for name, (first, last) in spans.items():
        ends = np.degrees([first, last])
        ax.add_patch(Wedge((0, 0), 1.07, *ends, width=0.05, color=colours.get(name, _ACROSS)))
    used = _degrees(len(rois.names), at)
    for i, name in enumerate(rois.names):
        if used[i] or len(rois.names) <= 40:
            flipped = np.cos(angle[i]) < 0
            ax.annotate(
                name if len(name) <= 16 else f"{name[:15]}…",
                1.09 * where[i],
                rotation=np.degrees(angle[i]) + 180 * flipped,
                rotation_mode="anchor",
                ha="right" if flipped else "left",
                va="center",
                fontsize=6.5 if len(rois.names) <= _NAMED else 4.5,
                parse_math=False,
            )
    marks = [Line2D([], [], color=colours[name], lw=5, label=name) for name in spans if name in colours]
    marks += [Line2D([], [], color=colour, lw=1.5, label=word) for word, colour in _sign_names(classes).items()]
    if marks:
        figure.legend(handles=marks, loc="outside lower center", ncols=min(5, len(marks)), frameon=False, fontsize=8)
    with rc_context({"svg.fonttype": "none"}):  # names stay text
        return as_bytes(figure, "svg")


def _places(rois: Rois) -> tuple[FloatArray, dict[str, tuple[float, float]]]:
    """Angle of each region on a ring, from the top clockwise, and first and last angle of each system."""
    n = len(rois.names)
    systems = rois.systems or ("",) * n
    order = sorted(range(n), key=lambda i: (systems[i], i))
    names = sorted(set(systems))
    step = 2 * np.pi / (n + _GAP * len(names))
    angle, spans, position = np.zeros(n), dict[str, tuple[float, float]](), 0.0
    for name in names:
        mine = [i for i in order if systems[i] == name]
        places = np.pi / 2 - step * (position + np.arange(len(mine)) + 0.5)
        angle[mine] = places
        spans[name] = float(places[-1] - step / 2), float(places[0] + step / 2)
        position += len(mine) + _GAP
    return angle, spans if rois.systems else {}


def _system_colours(rois: Rois) -> dict[str, Any]:
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    if rois.systems is None:
        return {}
    names = sorted(set(rois.systems))
    palette = mpl.colormaps["tab10" if len(names) <= 10 else "tab20"]
    return {name: to_hex(palette(i % palette.N)) for i, name in enumerate(names)}


def _sign_names(classes: Sequence[str]) -> dict[str, str]:
    """What the colours of signs mean; nothing of several classes."""
    if len(classes) > 2:
        return {}
    words = [f"larger in {name}" for name in classes] or ["falls with the score", "rises with the score"]
    return {word: _SIGNED[2 * k - 1] for k, word in enumerate(words)}


def _edge_lines(rois: Rois, at: IntArray, signs: FloatArray, of_region: list[Any] | None) -> dict[str, list[Any]]:
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


def _add_lines(display: Any, lines: list[Any], colour: str, width: float) -> None:
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
