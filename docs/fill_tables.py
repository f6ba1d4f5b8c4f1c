"""Put the figures of docs/data into the pages, between `<!-- table: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).parent
DATA = DOCS / "data"
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")))

Row = Mapping[str, str]
Cell = Callable[[Row], str]
Table = Callable[[list[Row]], list[str]]


def fill_pages() -> list[str]:
    """Fill every page; return the names of those that changed."""
    changed: list[str] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            changed.append(page.name)
    return changed


def filled(text: str) -> str:
    """A page's text with its tables made from the data."""
    pattern = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda m: m[1] + "\n" + "\n".join(table(m[2])) + "\n\n" + m[3], text)


def table(name: str) -> list[str]:
    """Lines of the table of that name."""
    from tables import TABLES

    how, file, make = TABLES[name]
    path = DATA / file
    return make(read(path)) if path.exists() else [f"*(not measured yet: {how})*"]


def read(path: Path) -> list[Row]:
    """Rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table, columns of numbers flush right."""
    cells = [list(row) for row in rows]
    number = [all(not row[i] or re.match(r"[−\d]", row[i]) for row in cells) for i in range(len(header))]
    marks = ["--:" if right else "---" for right in number]
    return [f"| {' | '.join(line)} |" for line in (list(header), marks, *cells)]


def columns(shown: Mapping[str, str | Cell], where: Callable[[Row], bool] = lambda row: True) -> Table:
    """A table with a row for each row of the file: headers, and a key or a function for the cells."""

    def cell(row: Row, what: str | Cell) -> str:
        return row[what] if isinstance(what, str) else what(row)

    def make(rows: list[Row]) -> list[str]:
        return markdown(list(shown), [[cell(row, what) for what in shown.values()] for row in rows if where(row)])

    return make


def decimals(key: str, digits: int = 4) -> Cell:
    """Cells of a number with so many decimals; empty where there is none."""
    return lambda row: fixed(row[key], digits)


def significant(key: str) -> Cell:
    """Cells of a number in two significant digits."""
    return lambda row: f"{float(row[key]):.2g}"


def shortest(key: str) -> Cell:
    """Cells of a number without trailing zeros."""
    return lambda row: f"{float(row[key]):g}"


def fixed(number: str | float, digits: int = 4) -> str:
    """A number with so many decimals, without a sign where that makes 0; nothing for nothing."""
    if number == "":
        return ""
    value = float(number)
    return f"{0.0 if abs(value) < 0.5 * 10**-digits else value:.{digits}f}".replace("-", "−")
