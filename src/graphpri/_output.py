"""Self-contained HTML pages: one style, tables, pictures within the page."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from numbers import Integral
from typing import Any

import numpy as np

from graphpri import _palette


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


_LIGHT, _DARK = (_palette.variables(theme) for theme in ("light", "dark"))
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
figcaption, .small {{ font-size: .875rem; color: var(--soft); }}
code {{ background: var(--button); padding: .1em .3em; border-radius: 4px; }}
@page {{ size: A4; margin: 15mm; }}
@media print {{
  body {{ font-size: 9.5pt; background: #fff; }} header, main {{ padding: 0; background: none; }}
  .wide {{ overflow: visible; }} figure, tr {{ break-inside: avoid; }} h2 {{ break-after: avoid; }}
  table {{ font-size: 8pt; }}
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


class Rows(str):
    """A row of its own that names the rows below it."""


def table(
    head: Iterable[str],
    rows: Iterable[Iterable[str | float | None] | Rows],
    *,
    best: Mapping[int, Collection[int]] | None = None,
    ids: Sequence[str] = (),
) -> str:
    """A table of text; numbers are shown in four digits, flush right, and None as nothing.

    Parameters
    ----------
    head : iterable of str
    rows : iterable
        Of rows of cells, or of :class:`Rows`; a cell that is :class:`Markup` is not escaped.
    best : mapping of int to collection of int, optional
        By the number of the row, the cells to be marked as the best.
    ids : sequence of str
        Anchors of the rows.

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
        anchor = f' id="{escape(ids[number])}"' if ids else ""
        marked = (best or {}).get(number, ())
        cells = (
            f'<th class="rows" scope="rowgroup" colspan="{len(names)}">{escape(row)}</th>'
            if isinstance(row, Rows)
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
