"""From cells to labels and attribute columns, and from labels back to text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError
from graphpri.graph import BoolArray, EdgeTable
from graphpri.io.ends import parse_labels
from graphpri.io.grid import ANY_NUMBER, INTEGER, NUMBER, CellRows, Rows
from graphpri.io.source import Source

Column = Sequence[Any] | NDArray[Any]
_INT_DIGITS = 4000  # int() takes 4300


def read_column(rows: Rows, column: int) -> Column:
    """One attribute column: int64 or float64 where every cell is such a number, else a list.

    Integers beyond int64 are Python's, in a list. An empty cell is None in the list; the others are
    numbers where all of them are, and text otherwise (so are codes with padding zeros, such as 007).
    """
    values = rows.integers(column)
    if values is None:
        values = rows.numbers(column)
        if values is None or not np.abs(values).max(initial=0.0) < 2.0**63:
            return parse_cells(rows.cells(column))
    return values


def parse_cells(cells: Sequence[str | None]) -> Column:
    """Attribute cells as in :func:`read_column`."""
    present = [cell for cell in cells if cell is not None]
    if present and all(INTEGER.fullmatch(cell) and len(cell) < _INT_DIGITS for cell in present):
        return python_column([None if cell is None else int(cell) for cell in cells])
    if present and all(NUMBER.fullmatch(cell) for cell in present):
        return python_column([None if cell is None else float(cell) for cell in cells])
    return list(cells)


def read_weights(
    source: Source, rows: Rows, column: int, remedy: str = "", ends: tuple[int, int] | None = None
) -> Column:
    """A column of weights: int64 or float64.

    Parameters
    ----------
    source : Source
    rows : Rows
    column : int
    remedy : str
        What to do about a cell that is no number, beside correcting it or dropping the row.
    ends : (int, int), optional
        The columns of the edge's end points, by which messages name it.

    Raises
    ------
    FileError
        For a cell that is empty or no number, naming its line.
    """
    values = rows.integers(column)
    if values is None:
        values = rows.numbers(column)
    if values is not None:
        return values
    cells = rows.cells(column)
    for row, cell in enumerate(cells):
        if cell is None or not ANY_NUMBER.fullmatch(cell):
            edge = "" if ends is None else f" of the edge {', '.join(shorten(rows.cells(i)[row] or '') for i in ends)}"
            raise source.error(_bad_weight(cell, edge, remedy), int(rows.lines[row]))
    return np.array([float(cell or "") for cell in cells], np.float64)


def _bad_weight(cell: str | None, edge: str, remedy: str) -> str:
    if cell is None:
        return f"the weight{edge} is missing: fill it in, or drop the row"
    point = cell.replace(",", ".")
    if cell.count(",") == 1 and ANY_NUMBER.fullmatch(point):
        return f"the weight {shorten(cell)}{edge} is not a number: write decimals with a point, {point}"
    return f"the weight {shorten(cell)}{edge} is not a number{remedy or ': correct it, or drop the row'}"


def python_column(values: Sequence[Any]) -> Column:
    """Python values as an array where all are int, all float or all bool, else as a list."""
    kinds = {type(value) for value in values}
    dtype = {int: np.int64, float: np.float64, bool: np.bool_}.get(next(iter(kinds))) if len(kinds) == 1 else None
    if dtype is None:
        return list(values)
    try:
        return np.array(values, dtype)
    except OverflowError:
        return list(values)


def gather_columns(
    records: Sequence[Mapping[str, Any]], make: Callable[[list[Any]], Column] = python_column
) -> dict[str, Column]:
    """Columns of records that each hold some of the keys; None where a record has no such key."""
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(record))
    return {name: make([record.get(name) for record in records]) for name in names}


def python_values(column: Column) -> list[Any]:
    """A column as a list of Python values."""
    if isinstance(column, np.ndarray):
        return column.tolist()
    return [value.item() if isinstance(value, np.generic) else value for value in column]


def shorten(text: str) -> str:
    """A cell as it stands in a message, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "…")


def write_weights(table: EdgeTable, notes: list[str]) -> NDArray[Any] | None:
    """Weights for a format that holds one number an edge, as an array; None where there are none.

    Edges without one get 1; weights that are no numbers are left out. The notes say so.
    """
    if "weight" not in table.edge_attributes:
        return None
    column = table.edge_attributes["weight"]
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    values = python_values(column)
    present = [value for value in values if value is not None]
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in present):
        notes += left_out("edge", ["weight"], "it holds values that are no numbers, as weights must be")
        return None
    if len(present) < len(values):
        notes.append(f"{count(len(values) - len(present), 'edge')} without a weight written with the weight 1")
    whole = all(isinstance(value, int) for value in present)
    try:
        return np.array([1 if value is None else value for value in values], np.int64 if whole else np.float64)
    except OverflowError:
        return np.array([1 if value is None else value for value in values], np.object_)


def label_values(table: EdgeTable) -> list[Any]:
    """Node labels of a table as Python values."""
    return list(range(table.n_nodes)) if table.labels is None else python_values(table.labels)


def label_texts(table: EdgeTable, name: str, notes: list[str], *, with_edges: bool = False) -> list[str]:
    """Node labels as the text that a text format writes, with notes on what reading back changes.

    Parameters
    ----------
    with_edges : bool
        Whether the format lists only the nodes that have edges.

    Raises
    ------
    FileError
        Where two labels are the same text, such as 1 and "1".
    """
    labels = label_values(table)
    texts = [str(label) for label in labels]
    if len(set(texts)) < len(texts):
        first: dict[str, Any] = {}
        for label, text in zip(labels, texts, strict=True):
            if text in first:
                raise FileError(
                    f"{name}: the node labels {first[text]!r} and {label!r} are the same text: rename one, or write npz"
                )
            first[text] = label
    used = np.flatnonzero(_touched(table)).tolist() if with_edges else range(table.n_nodes)
    read_back = parse_labels([texts[i] for i in used])
    changed = [labels[i] for i, b in zip(used, read_back, strict=True) if type(labels[i]) is not type(b)]
    if changed:
        kind = "an integer" if isinstance(read_back[0], int) else "text"
        notes.append(
            f"{count(len(changed), 'node label')} such as {changed[0]!r} will be read back as {kind}; npz keeps types"
        )
    return texts


def unlabelled(table: EdgeTable, format_name: str) -> list[str]:
    """Note that a format without labels drops them; empty where node i is called i."""
    if table.labels is None or label_values(table) == list(range(table.n_nodes)):
        return []
    return [f"node labels not in the file: {format_name} numbers nodes from 1, here in the order of the table"]


def alike(value: Any, back: Any) -> bool:
    """Whether a value read back is the same one; an int and the equal float count as the same."""
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (value, back))
    return (numbers or type(value) is type(back)) and (value == back or (value != value and back != back))


def isolated(table: EdgeTable) -> int:
    """Number of nodes without an edge."""
    return int(table.n_nodes - np.count_nonzero(_touched(table)))


def _touched(table: EdgeTable) -> BoolArray:
    touched = np.zeros(table.n_nodes, bool)
    touched[table.source] = True
    touched[table.target] = True
    return touched


def count(n: int, noun: str) -> str:
    """A number and its noun, in the plural where it takes one."""
    return f"{n} {noun}{'s' * (n != 1)}"


def left_out(what: str, names: Iterable[Any], why: str) -> list[str]:
    """Note that attributes are not in the file; empty where there are none."""
    listed = ", ".join(map(repr, names))
    plural = "s" if "," in listed else ""
    return [f"{what} attribute{plural} {listed} not in the file: {why}"] if listed else []


def has_parallel(table: EdgeTable) -> bool:
    """Whether two rows join the same nodes (in the same direction, where the table is directed)."""
    u, v = table.source.astype(np.int64), table.target.astype(np.int64)
    low, high = (u, v) if table.directed else (np.minimum(u, v), np.maximum(u, v))
    return np.unique(low * max(table.n_nodes, 1) + high).size < u.size


def as_rows(columns: Sequence[list[str | None]], lines: Sequence[int]) -> CellRows:
    """Rows of cells from lists."""
    return CellRows(columns, np.array(lines, np.int64))
