"""Figures for a two-column paper: sizes, lines that differ in grey too, and files that are the same each time."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphpri.errors import MissingExtraError
from graphpri.io.sink import open_sink
from graphpri.plot import COLOURS, MARKERS, STYLES, as_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.25, 6.75
"""Widths of one column and of a page of a two-column paper, in inches."""

_STYLE: dict[str, Any] = {
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "legend.fontsize": 6.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "graphpri",
    "savefig.dpi": 300,
}


@contextmanager
def style() -> Generator[None]:
    """Context in which figures are drawn for print, whatever the user's own settings are.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError("matplotlib", "studies", "drawing a study's pictures") from error
    settings: Any = {**mpl.rcParamsDefault, "backend": "agg", **_STYLE}
    with mpl.rc_context(settings):
        yield


def blank(width: float, height: float, **options: Any) -> Figure:
    """A figure of this size in inches, without Axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure


def panels(rows: int = 1, columns: int = 1, *, width: float = PAGE, height: float = 2.0, **options: Any) -> Any:
    """A figure and its array of Axes, shape (rows, columns); `height` is that of a row, in inches."""
    figure = blank(width, height * rows, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def look(i: int) -> dict[str, Any]:
    """Colour, dashes and marker of the i-th line, each a distinction of its own."""
    return {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": STYLES[i % len(STYLES)],
        "marker": MARKERS[i % len(MARKERS)],
    }


def dots(i: int) -> dict[str, Any]:
    """The i-th look without its line."""
    return look(i) | {"linestyle": "none"}


def curve(ax: Axes, x: Any, y: Any, i: int, label: str | None = None, band: tuple[Any, Any] | None = None) -> None:
    """A line with the i-th look; `band` is its lower and its upper edge (name in the caption what it spans)."""
    ax.plot(x, y, label=label, **look(i))
    if band is not None:
        ax.fill_between(x, *band, color=COLOURS[i % len(COLOURS)], alpha=0.18, linewidth=0)


def legend_below(figure: Figure, ax: Axes, columns: int = 4) -> None:
    """One legend for all panels, below them, with the entries of one."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and SVG, whole or not at all, the same bytes each time."""
    for suffix in ("png", "svg"):
        content = as_bytes(figure, suffix)
        with open_sink(folder / f"{name}.{suffix}", zipped=False, force=True) as sink:
            sink.write(content)
