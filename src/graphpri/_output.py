"""What users look at: text tables, self-contained HTML pages in one style and its colours, and bars of progress."""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from numbers import Integral
from typing import Any

import numpy as np

from graphpri._arguments import checked

# Colours of every page, for light and for dark, which readers of any colour vision tell apart. Groups have P. Tol's
# schemes "muted" (on light) and "light" (on dark, with a brown), from "Colour schemes", SRON/EPS/TN/09-002, 2021;
# numbers have viridis, whose lightness grows evenly; kept and dropped are blue and grey, and what only one method keeps
# is orange: the pair that all common colour deficiencies tell apart.

NAMES = {
    "light": {
        "paper": "#f6f7f9",
        "card": "#ffffff",
        "canvas": "#fdfdfc",
        "ink": "#17202b",
        "soft": "#566272",
        "line": "#dfe3e8",
        "kept": "#1668b8",
        "only": "#c2410c",
        "dropped": "#a9b4c0",
        "focus": "#1668b8",
        "mark": "#d4006a",
        "button": "#eef1f5",
    },
    "dark": {
        "paper": "#0d1219",
        "card": "#151c26",
        "canvas": "#0f151d",
        "ink": "#e8edf3",
        "soft": "#a3b0bf",
        "line": "#2a3441",
        "kept": "#5eb1ff",
        "only": "#ff9d5c",
        "dropped": "#4a586a",
        "focus": "#7cc0ff",
        "mark": "#ff6bb5",
        "button": "#212b38",
    },
}
"""Colours by what they are for; as CSS they are ``var(--kept)`` and so on."""

GROUPS = {
    "light": [
        "#cc6677",
        "#117733",
        "#999933",
        "#332288",
        "#44aa99",
        "#aa4499",
        "#88ccee",
        "#882255",
        "#ddcc77",
        "#b9bfc7",
    ],
    "dark": [
        "#ee8866",
        "#44bb99",
        "#eedd88",
        "#77aadd",
        "#bbcc33",
        "#ffaabb",
        "#99ddff",
        "#ae5904",
        "#aaaa00",
        "#5d6b7d",
    ],
}
"""Nine groups, the largest first, and what is left."""

_VIRIDIS = ["#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e", "#440154"]
RAMPS = {"light": _VIRIDIS, "dark": _VIRIDIS[::-1]}
"""Eight steps from the smallest to the largest number: the largest stands out from the ground."""


def variables(theme: str) -> str:
    """Declarations of CSS variables for "light" or "dark".

    Examples
    --------
    >>> variables("light").split(";")[0]
    'color-scheme: light'
    """
    return f"color-scheme: {theme}; " + " ".join(f"--{name}: {colour};" for name, colour in NAMES[theme].items())


def format_value(value: Any) -> str:
    """A value in a few characters: four decimals where that says something, "n/a" for NaN, "" for None."""
    if value is None:
        return ""
    if isinstance(value, str | bool | Integral | np.bool_):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "n/a"
    if np.isinf(number):
        return "∞" if number > 0 else "-∞"
    if number == 0 or 1e-3 <= abs(number) < 1e6:
        return f"{number:.4f}"
    return f"{number:.3g}"


def aligned(rows: Sequence[Sequence[Any]], left: int = 1) -> list[str]:
    """Lines of a table: the first `left` columns flush left, the others flush right."""
    cells = [[format_value(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    return ["  ".join(_padded(row, widths, left)).rstrip() for row in cells]


def _padded(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    columns = enumerate(zip(row, widths, strict=True))
    return [cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in columns]


_LIGHT, _DARK = (variables(theme) for theme in ("light", "dark"))
_STYLE = f"""
:root {{ {_LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }}
header, main {{ padding: 1rem max(1rem, calc(50% - 34rem)); }}
header {{ background: var(--card); border-bottom: 1px solid var(--line); }}
h1, h2, h3 {{ line-height: 1.25; letter-spacing: -0.01em; }} h1 {{ font-size: 1.5rem; margin: .3rem 0; }}
h2 {{ font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-top: 1px solid var(--line); padding-top: 1.1rem; }}
a {{ color: var(--kept); }} li + li {{ margin-top: .25rem; }}
table {{ border-collapse: collapse; font-size: .875rem; overflow-wrap: normal; background: var(--card); }}
td:first-child {{ min-width: 7rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .32rem .65rem; border-bottom: 1px solid var(--line); }}
th {{ color: var(--soft); font-weight: 600; }} th.rows {{ color: var(--ink); background: var(--button); }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
td.best {{ font-weight: 700; color: var(--kept); }} td.best::before {{ content: "\\2713\\00a0"; }}
.wide {{ overflow-x: auto; }} :focus-visible {{ outline: 2px solid var(--focus); outline-offset: 2px; }}
figure {{ margin: 1rem 0; }}
figure img {{ width: 100%; height: auto; background: #fff; padding: .5rem;
  border: 1px solid var(--line); border-radius: 8px; }}
figcaption, .small {{ font-size: .9em; color: var(--soft); }}
code {{ background: var(--button); padding: .1em .3em; border-radius: 4px; }}
@page {{ size: A4; margin: 15mm; }}
@media print {{
  body {{ font-size: 9.5pt; background: #fff; }} header, main {{ padding: 0; background: none; }}
  .wide {{ overflow: visible; }} figure, tr {{ break-inside: avoid; }} h2 {{ break-after: avoid; }}
  table {{ font-size: 8pt; }} figure img {{ width: auto; max-width: 100%; max-height: 16cm; }}
}}
"""


def document(title: str, *parts: str, style: str = "") -> str:
    """A whole page under a heading; the title is text, `parts` are markup, `style` is CSS beside the common one."""
    page = "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f"<title>{escape(title)}</title>",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}{style}</style>\n</head>\n<body>\n<header><h1>{escape(title)}</h1></header>\n<main>",
            *parts,
            "</main>\n</body>\n</html>\n",
        ]
    )
    return printable(page)


def printable(text: str) -> str:
    """The text with what UTF-8 can't write replaced: halves of surrogate pairs, as in file names that aren't text."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Markup(str):
    """A cell that is markup; other texts are shown as they are."""


class RowTitle(str):
    """A row of its own that names the rows below it."""


def table(
    head: Iterable[str],
    rows: Iterable[Iterable[str | float | None] | RowTitle],
    *,
    best: Mapping[int, Collection[int]] | None = None,
    ids: Sequence[str] = (),
) -> str:
    """A table of text; numbers are shown in four digits, flush right, and None as nothing.

    Parameters
    ----------
    head : iterable of str
    rows : iterable
        Of rows of cells, or of :class:`RowTitle`; a cell that is :class:`Markup` is not escaped.
    best : mapping of int to collection of int, optional
        By the number of the row, the cells to be marked as the best.
    ids : sequence of str
        Anchors of the rows; "" is none.

    Examples
    --------
    >>> table(["method", "S"], [["pri", 2.51342], ["<b>", None]]).count("<td")
    4
    >>> 'class="number best"' in table(["method", "S"], [["pri", 2.5], ["random", 3.0]], best={0: [1]})
    True
    """
    names = list(head)
    body: list[str] = []
    for number, row in enumerate(rows):
        anchor = f' id="{escape(ids[number])}"' if ids and ids[number] else ""
        marked = (best or {}).get(number, ())
        cells = (
            f'<th class="rows" scope="rowgroup" colspan="{len(names)}">{escape(row)}</th>'
            if isinstance(row, RowTitle)
            else "".join(_cell(value, i in marked) for i, value in enumerate(row))
        )
        body.append(f"<tr{anchor}>{cells}</tr>\n")
    heads = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in names)
    # A table that is wider than the page is moved by the keyboard as well: it takes the focus.
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="Table: {escape(", ".join(filter(None, names)))}">'
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(value: str | float | None, best: bool = False) -> str:
    if value is None or value != value:
        return "<td></td>"
    kinds = " ".join(["number"] * (not isinstance(value, str)) + ["best"] * best)
    shown = f' class="{kinds}"' if kinds else ""
    if isinstance(value, str):
        return f"<td{shown}>{value if isinstance(value, Markup) else escape(value)}</td>"
    return f"<td{shown}>{value:.4g}</td>" if isinstance(value, float) else f"<td{shown}>{value}</td>"


def picture(content: bytes, alt: str, caption: str = "", kind: str = "svg+xml") -> str:
    """A figure whose picture stands within the page; `kind` is that of its media type."""
    source = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><img src="{source}" alt="{escape(alt)}">{below}</figure>'


def items(texts: Iterable[str]) -> str:
    """A list of texts; nothing of none."""
    held = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{held}</ul>" if held else ""


_EVERY = 0.1  # seconds from one picture of the bar to the next
_WIDTH = 30


@checked
class ProgressBar:
    """A callback that shows a bar: ``graphpri.sparsify(G, 0.2, callback=graphpri.ProgressBar())``.

    It serves :func:`graphpri.sparsify`, :func:`graphpri.path` and :func:`graphpri.compare`. In a notebook the bar
    stands below the cell, elsewhere in one line of standard error.

    Parameters
    ----------
    label : str
        What stands before the bar.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> bar = graphpri.ProgressBar("karate")
    >>> result = graphpri.sparsify(nx.karate_club_graph(), 0.3, callback=bar)
    """

    def __init__(self, label: str = "") -> None:
        self.label = label
        self._last = -_EVERY
        self._handle: Any = None
        self._shell = _notebook()

    def __call__(self, progress: Any) -> None:
        """Show where a call is; anything with a ``fraction``, or with ``done`` of ``total``."""
        fraction = progress.fraction if hasattr(progress, "fraction") else progress.done / max(progress.total, 1)
        now = time.monotonic()
        if now - self._last < _EVERY and fraction < 1:
            return
        self._last = now
        self._show(float(min(max(fraction, 0.0), 1.0)), str(getattr(progress, "stage", "")))

    def _show(self, fraction: float, stage: str) -> None:
        text = " ".join(filter(None, (self.label, stage)))
        if self._shell is None:
            full = round(_WIDTH * fraction)
            end = "\n" if fraction >= 1 else ""
            sys.stderr.write(f"\r{text:<20} [{'#' * full}{'.' * (_WIDTH - full)}] {fraction:4.0%}{end}")
            sys.stderr.flush()
            return
        from html import escape

        html = f'{escape(text)} <progress value="{fraction:.3f}" max="1"></progress> {fraction:.0%}'
        if self._handle is None:
            self._handle = self._shell.display(self._shell.HTML(html), display_id=True)
        else:
            self._handle.update(self._shell.HTML(html))


def _notebook() -> Any:
    """What shows things in a notebook, where this runs in one; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import IPython.display  # pyright: ignore[reportMissingImports]

    return IPython.display
