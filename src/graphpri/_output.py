"""Self-contained HTML pages: one style, tables, pictures within the page."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from numbers import Integral
from typing import Any

import numpy as np


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


_STYLE = """
:root { color-scheme: light dark; --line: #8888; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { border-collapse: collapse; font-size: .875rem; overflow-wrap: normal; } td:first-child { min-width: 7rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; }
figure { margin: 1rem 0; } figure img { max-width: 100%; background: #fff; padding: .5rem; box-sizing: border-box; }
figcaption, .small { font-size: .875rem; } code { background: var(--soft); padding: .1em .3em; }
@media print { body { font-size: 9.5pt; max-width: none; padding: 0; } figure, tr { break-inside: avoid; } }
"""


def document(title: str, *parts: str, style: str = "") -> str:
    """A whole page under a heading; the title is text, `parts` are markup, `style` is CSS beside the common one."""
    page = "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f"<title>{escape(title)}</title>",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}{style}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>",
            *parts,
            "</body>\n</html>\n",
        ]
    )
    return printable(page)


def printable(text: str) -> str:
    """The text with what UTF-8 can't write replaced: halves of surrogate pairs, as in file names that aren't text."""
    return text.encode("utf-8", "replace").decode("utf-8")


def table(head: Iterable[str], rows: Iterable[Iterable[str | float | None]]) -> str:
    """A table of text; numbers are shown in four digits, flush right, and None as nothing.

    Examples
    --------
    >>> table(["method", "S"], [["pri", 2.51342], ["<b>", None]]).count("<td")
    4
    """
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f'<div class="wide"><table>\n<tr>{names}</tr>\n{body}</table></div>'


def _cell(value: str | float | None) -> str:
    if value is None or value != value:
        return "<td></td>"
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td class="number">{value:.4g}</td>' if isinstance(value, float) else f'<td class="number">{value}</td>'


def picture(content: bytes, alt: str, caption: str = "", kind: str = "svg+xml") -> str:
    """A figure whose picture stands within the page; `kind` is that of its media type."""
    source = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><img src="{source}" alt="{escape(alt)}">{below}</figure>'


def items(texts: Iterable[str]) -> str:
    """A list of texts; nothing of none."""
    held = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{held}</ul>" if held else ""
