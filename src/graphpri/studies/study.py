"""What a study is: pieces of work, verdicts computed from their numbers, and pictures drawn from them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from graphpri.errors import MissingExtraError
from graphpri.io.sink import open_sink
from graphpri.plot import COLOURS, MARKERS, STYLES, as_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cell = dict[str, Any]
"""Parameters of one piece of work, in JSON's types."""

Tables = dict[str, list[dict[str, Any]]]
"""Rows by the name of their table. A column whose name ends with ``seconds`` is a time, which no two runs share."""

Frames = Mapping[str, Any]
"""A study's whole tables, as pandas data frames."""

Grade = Literal["reproduced", "conditional", "not reproduced", "not testable"]
GRADES: tuple[Grade, ...] = ("reproduced", "conditional", "not reproduced", "not testable")


def grade(holds: Any, in_part: Any = False) -> Grade:
    """The outcome of a claim that holds, that holds in part or under a condition, or that doesn't.

    Examples
    --------
    >>> share = 0.8
    >>> grade(share == 1, share > 0.5)
    'conditional'
    """
    return "reproduced" if holds else "conditional" if in_part else "not reproduced"


def where(table: Any, **values: Any) -> Any:
    """The rows of a data frame whose columns have these values."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


@dataclass(frozen=True)
class Verdict:
    """What the numbers say about a claim.

    Parameters
    ----------
    claim : str
        In one sentence.
    source : str
        Where the claim stands: a section, figure, theorem of the paper, or ``"graphpri"`` for one of this library.
    measured : str
        What was found, with the names of facts in braces, as ``"{share:.1%} of {graphs:.0f} graphs"``: every figure
        comes from a fact.
    outcome : {"reproduced", "conditional", "not reproduced", "not testable"}
    condition : str
        Under which condition the claim holds, or why it fails or can't be tested; with facts in braces too.

    Examples
    --------
    >>> verdict = Verdict("S falls", "Section 3", "in {share:.0%} of runs", "conditional", "sparse graphs")
    >>> verdict.filled(lambda text: text.replace("{share:.0%}", "84 %")).measured
    'in 84 % of runs'
    """

    claim: str
    source: str
    measured: str
    outcome: Grade
    condition: str = ""

    def filled(self, fill: Callable[[str], str]) -> Verdict:
        """The verdict with its texts passed through `fill`."""
        return replace(self, claim=fill(self.claim), measured=fill(self.measured), condition=fill(self.condition))


class Fact(NamedTuple):
    """A number that a verdict rests on: its name, value, the table that it comes from, and how."""

    name: str
    value: float
    table: str
    how: str


@dataclass
class Facts:
    """The numbers that a study's verdicts rest on, in the order in which they were taken."""

    rows: dict[str, Fact] = field(default_factory=dict[str, Fact])

    def add(self, name: str, value: Any, table: str, how: str) -> float:
        """Note a number, the table it comes from and how; returns it as a float."""
        if name in self.rows:
            raise ValueError(f"there is a fact called {name!r} already")
        self.rows[name] = Fact(name, float(value), table, how)
        return float(value)

    def __getitem__(self, name: str) -> float:
        return self.rows[name].value

    def add_setting(self, key: str, setting: str, table: str) -> str:
        """Note β and α in the name of a method's setting; returns the name with these facts in place of the numbers.

        Examples
        --------
        >>> facts = Facts()
        >>> facts.add_setting("best", "pri β=2", "ranks"), facts["best_beta"]
        ('pri β={best_beta:g}', 2.0)
        """
        for symbol, word in (("β", "beta"), ("α", "alpha")):
            if found := re.search(rf"{symbol}=([\d.]+)", setting):
                self.add(f"{key}_{word}", float(found[1]), table, f"{symbol} of {setting}")
                setting = setting.replace(found[0], f"{symbol}={{{key}_{word}:g}}")
        return setting

    def fill(self, text: str, format_fact: Callable[[Fact, str], str] = lambda fact, text: text) -> str:
        """A text with its facts in place of their names; `format_fact` may dress each."""

        def put(found: re.Match[str]) -> str:
            fact = self.rows[found[1]]
            return format_fact(fact, "∞" if math.isinf(fact.value) else format(fact.value, found[2] or ".4g"))

        return re.sub(r"\{(\w+)(?::([^}]*))?\}", put, text)


class Picture(NamedTuple):
    """A figure, the name of its files and what it shows."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Study:
    """One figure, table or theorem of the paper, or a comparison of this library's, as something to run.

    Parameters
    ----------
    name : str
        What users call it.
    title : str
    source : str
        What it reproduces, as ``"Figure 1"``.
    about : str
        What is run, in two or three sentences.
    cells : callable
        ``(quick) -> list of Cell``: independent pieces of work, those that take longest first.
    work : callable
        ``(cell, seed) -> Tables``: does one piece; a function of a module, which other processes can find.
    judge : callable
        ``(frames, facts) -> list of Verdict``: reads the whole tables, notes the facts.
    draw : callable
        ``(frames) -> list of Picture``; called within :func:`graphpri.studies.study.style`.
    needs : tuple of str
        Names of data sets without which it can't run at the paper's size.
    needs_quick : tuple of str, optional
        The same at the quick size; `needs` where absent.
    libraries : tuple of str
        Modules that must be installed beside those of the extra ``studies``; they are those of the extra ``brain``.
    shares : str, optional
        The study whose pieces of work these are too, with the same `cells` and `work`: they are done once.
    derive : callable, optional
        ``(frames) -> frames``: short tables made from the others, which `judge` and `draw` get too and the page shows.
    """

    name: str
    title: str
    source: str
    about: str
    cells: Callable[[bool], list[Cell]]
    work: Callable[[Cell, int], Tables]
    judge: Callable[[Frames, Facts], list[Verdict]]
    draw: Callable[[Frames], list[Picture]]
    needs: tuple[str, ...] = ()
    needs_quick: tuple[str, ...] | None = None
    derive: Callable[[Frames], Frames] | None = None
    shares: str | None = None
    libraries: tuple[str, ...] = ()


def generator(seed: int, *key: Any) -> np.random.Generator:
    """Random numbers for one purpose: the same for the same seed and key, in whatever order the work is done.

    Examples
    --------
    >>> first, again = generator(0, "graph", 3).random(), generator(0, "graph", 3).random()
    >>> first == again, first == generator(1, "graph", 3).random()
    (True, False)
    """
    return np.random.default_rng(int(digest([seed, *key]), 16))


def digest(value: Any) -> str:
    """A number for JSON data, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


_ADNI = "needs the ADNI scans, which their owners alone may pass on; a user's own copy can be tested"
_NOT_RUN: tuple[tuple[str, str, str], ...] = (
    (
        "Graph-PRI tells mild cognitive impairment from normal controls as well as the best method (66.7 %)",
        "§4.3, Table",
        _ADNI,
    ),
    (
        "Connections within the sensorimotor network are stronger in patients with mild cognitive impairment",
        "§4.3, Figure brain",
        _ADNI,
    ),
    (
        "Connections within the fronto-parietal network are fewer in patients with mild cognitive impairment",
        "§4.3, Figure brain",
        _ADNI,
    ),
)
UNTESTED = tuple(Verdict(claim, source, "not run", "not testable", why) for claim, source, why in _NOT_RUN)
"""Claims of the paper that no study tests, with the reason; a study that tests one takes it out of this list."""

_LONG_STUDIES = {
    "mtl-synthetic": (
        "Pruning the task graph by Graph-PRI lowers the test error early, and of the others only local similarity does",
        "§4.2, Figure MTL",
    ),
    "mtl-parkinsons": (
        "On Parkinson's data most methods stay close to no pruning, and Graph-PRI is slightly better",
        "§4.2, Figure MTL",
    ),
    "brain-eoec": (
        "Graph-PRI classifies eyes open and eyes closed with an accuracy of 80.7 %, the best of six methods",
        "§4.3, Table",
    ),
    "costs": (
        "The closed-form gradient saves time and memory against automatic differentiation",
        "Appendix A.3",
    ),
    "optimisation": (
        "Gumbel-softmax sampling eases the optimisation, though the gradient is analytical",
        "§3.3",
    ),
    "brain-features": (
        "Local clustering coefficients as further features of the regions improve the classification",
        "Appendix C.2",
    ),
    "brain-planted": (
        "The mask that the paper's network learns shows the connections that differ",
        "§4.3, Figure brain",
    ),
}
"""Claims whose studies are long and may be left out of a page."""


def untested(ran: Collection[str]) -> tuple[Verdict, ...]:
    """The claims of the paper that the studies of these names leave untested, and why."""
    why = "its study has not run for this page: graphpri reproduce {}"
    left = {name: claim for name, claim in _LONG_STUDIES.items() if name not in ran}
    return (*(Verdict(*claim, "not run", "not testable", why.format(name)) for name, claim in left.items()), *UNTESTED)


# Pictures for a two-column paper: sizes, lines that differ in grey too, and files that are the same each time.

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
