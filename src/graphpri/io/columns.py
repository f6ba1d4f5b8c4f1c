"""Labels and attribute columns: from the cells of a text to arrays and Python values, and back to text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from itertools import count as counter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri import graph
from graphpri._runtime import CHUNK, in_chunks
from graphpri.errors import FileError, joined, setting
from graphpri.graph import BoolArray, Column, EdgeTable, IntArray, check_chosen, id_dtype
from graphpri.io.rows import ANY_NUMBER, INTEGER, NUMBER, Coded, Rows, shorten
from graphpri.io.source import InputStream, ReadOptions

_INT_DIGITS = 4000  # int() takes 4300
_DENSE = 8
_FEW = 1 << 20

# Attribute columns


def read_column(rows: Rows, column: int) -> Column:
    """One attribute column: int64 or float64 where every cell is such a number, else a list.

    Integers beyond int64 are Python's, in a list. An empty cell is None in the list; the others are
    numbers where all of them are, and text otherwise (so are codes with padding zeros, such as 007).
    """
    values = _read_numbers(rows, column)
    if values is None or (values.dtype.kind == "f" and not np.abs(values).max(initial=0.0) < 2.0**63):
        return parse_cells(rows.cells(column))
    return values


def _read_numbers(rows: Rows, column: int) -> NDArray[Any] | None:
    values = rows.integers(column)
    return rows.numbers(column) if values is None else values.astype(np.int64, copy=False)


def parse_cells(cells: Sequence[str | None]) -> Column:
    """Attribute cells as in :func:`read_column`."""
    present = [cell for cell in cells if cell is not None]
    if present and all(INTEGER.fullmatch(cell) and len(cell) < _INT_DIGITS for cell in present):
        return python_column([None if cell is None else int(cell) for cell in cells])
    if present and all(NUMBER.fullmatch(cell) for cell in present):
        return python_column([None if cell is None else float(cell) for cell in cells])
    return list(cells)


def read_weights(
    source: InputStream, rows: Rows, column: int, remedy: str = "", ends: tuple[int, int] | None = None
) -> Column:
    """A column of weights: int64 or float64.

    Parameters
    ----------
    source : InputStream
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
    values = _read_numbers(rows, column)
    if values is not None:
        return values
    cells = rows.cells(column)
    for row, cell in enumerate(cells):
        if cell is None or not ANY_NUMBER.fullmatch(cell):
            edge = "" if ends is None else f" of the edge {', '.join(shorten(rows.cells(i)[row] or '') for i in ends)}"
            thousands = cell is not None and "," in cell and in_thousands(cells)
            raise source.error(_bad_weight(cell, edge, remedy, thousands), rows.lines[row])
    return np.array([float(cell or "") for cell in cells], np.float64)


_POINTS_THEN_COMMA = re.compile(r"([+-]?[1-9][0-9]{0,2}(?:[.' \xa0\u202f\u2019][0-9]{3})+),([0-9]+)")
_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:[' \xa0\u202f\u2019][0-9]{3})+)")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?")


def in_thousands(cells: Iterable[str | None]) -> bool:
    """Whether all commas in some numbers may separate thousands, as in 610,086; 0,5 among them says that none does."""
    return all(_THOUSANDS.fullmatch(cell) for cell in cells if cell and "," in cell)


def _bad_weight(cell: str | None, edge: str, remedy: str, thousands: bool) -> str:
    if cell is None:
        return f"the weight{edge} is missing: fill it in, or drop the row"
    point = cell.replace(",", ".")
    if found := _POINTS_THEN_COMMA.fullmatch(cell):
        plain = f"{re.sub(r'[^0-9+-]', '', found[1])}.{found[2]}"
        return f"the weight {shorten(cell)}{edge} is not a number: write it as {plain}"
    if _GROUPS.fullmatch(cell):
        plain = re.sub(r"[^0-9+-]", "", cell)
        return f"the weight {shorten(cell)}{edge} is not a number: write it without separators of thousands, {plain}"
    if thousands:
        plain = cell.replace(",", "")
        return (
            f"the weight {shorten(cell)}{edge} is not a number: write it without separators of thousands, {plain} "
            "(if the comma is the decimal one here, replace it by a point)"
        )
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


# End points of edges, and labels of nodes


class Ends(NamedTuple):
    """Nodes of a file and the two ends of each of its rows, as positions among them."""

    n_nodes: int
    source: IntArray
    target: IntArray
    labels: Sequence[Hashable] | None


class NodeTable(NamedTuple):
    """Labels of the nodes and their remaining attributes."""

    labels: Sequence[Hashable] | None
    attributes: dict[str, Column]


def find_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of two columns whose names are known for end points; the leftmost where there is a choice."""
    return min(graph.find_ends(names), key=sorted, default=None)


def chosen_ends(source: InputStream, names: Sequence[str], options: ReadOptions, line: int | None) -> tuple[int, int]:
    """Positions of the columns that the user names as ends.

    Raises
    ------
    FileError
        For a name that no column has, or several have.
    OptionError
        Where one of the two is missing.
    """
    check_chosen(options.source, options.target)
    found: list[int] = []
    for option in ("source", "target"):
        wanted = str(getattr(options, option))
        at = [i for i, name in enumerate(names) if name == wanted]
        at = at or [i for i, name in enumerate(names) if name.casefold() == wanted.casefold()]
        if len(at) != 1:
            what = "several columns are" if at else "no column is"
            raise source.error(
                f"{what} called {shorten(wanted)}, named by {setting(option, wanted)} "
                f"(columns: {', '.join(names[:20])})",
                line,
            )
        found.append(at[0])
    if found[0] == found[1]:
        raise source.error(f"{setting('source', options.source)} and {setting('target')} name the same column", line)
    return found[0], found[1]


def read_ends(source: InputStream, rows: Rows, u: int, v: int, notes: list[str] | None = None) -> Ends:
    """Number the labels in two columns of end points.

    Labels that are all integers in canonical form (``12``, ``-3``; not ``007``) become integers, and
    the nodes then stand in their order; otherwise all labels are text, in order of first appearance.
    With `notes`, to which it is added, so do integers with decimals that are zeros, as tables with gaps have them
    (``12.0``), and other decimals are mentioned.

    Raises
    ------
    FileError
        For an empty cell, naming its line.
    """
    a, b = rows.integers(u), rows.integers(v)
    if a is not None and b is not None:
        return integer_ends(a, b)
    for column in (u, v):
        if (row := rows.first_empty(column)) is not None:
            raise source.error(
                "an end point of the edge is missing: "
                + (
                    "if this is a title, take it out; if it names the columns, pass "
                    f"{setting('header', True)} or {setting('source')} and {setting('target')} with two of the names; "
                    "else "
                    if not row
                    else ""
                )
                + "fill it in, or drop the row; an edge list has no place for nodes without edges (GML, GraphML, Pajek "
                "and npz have)",
                rows.lines[row],
            )
    if notes is not None and all(NUMBER.fullmatch(rows.cell(column, 0) or "") for column in (u, v)):
        sides = [cast("Sequence[str]", rows.words(column)) for column in (u, v)]
        whole = whole_with_points([*sides[0], *sides[1]]) and all(len({"." in x for x in side}) == 1 for side in sides)
        example = next((word for word in chain(*sides) if "." in word), None)
        if whole and example is not None:
            notes.append(f"nodes such as {example} are called {int(float(example))}, by the integers that they are")
            return integer_ends(*(np.asarray(rows.numbers(column)).astype(np.int64) for column in (u, v)))
        if example is not None and all(map(NUMBER.fullmatch, chain(*sides))):
            notes.append(f"nodes are called by decimals, such as {example}")
    first, second = rows.columns[u], rows.columns[v]
    if (
        isinstance(first, Coded)
        and isinstance(second, Coded)
        and first.words is second.words
        and not INTEGER.fullmatch(first.words[0] or "")
    ):
        return coded_ends(first.codes, second.codes, cast("list[str]", first.words))
    return text_ends(rows.cells(u), rows.cells(v))


def whole_with_points(words: Sequence[str]) -> bool:
    """Whether words are whole numbers of which some have a point, as tables with gaps write integers."""
    pointed = [word for word in words if not INTEGER.fullmatch(word)]
    return (
        bool(pointed)
        and all("." in word and NUMBER.fullmatch(word) for word in pointed)
        and all(float(word) % 1 == 0 and abs(float(word)) < 2.0**53 for word in words)
    )


def text_ends(first: Sequence[str | None], second: Sequence[str | None], *, parse: bool = True) -> Ends:
    """Number labels given as text, as in :func:`read_ends`; with `parse` False they stay text."""
    # A new word gets the next number.
    place: defaultdict[str | None, int] = defaultdict(counter().__next__)
    words = chain.from_iterable(zip(first, second, strict=True))
    codes = np.fromiter(map(place.__getitem__, words), np.int64, 2 * len(first))
    labels: list[Any] = parse_labels(cast("list[str]", list(place))) if parse else list(place)
    if labels and isinstance(labels[0], int):
        order = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        codes, labels = rank[codes], [labels[i] for i in order]
    codes = codes.astype(id_dtype(len(labels)))
    return Ends(len(labels), codes[0::2], codes[1::2], labels)


def coded_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], words: Sequence[str]) -> Ends:
    """Number text labels in order of first appearance.

    Parameters
    ----------
    u, v : ndarray of int, shape (R,)
        Positions of the ends among `words`.
    words : sequence of str
        All different, each an end of some row.
    """
    both = np.stack([u, v], axis=1).reshape(-1)
    first = np.empty(len(words), np.int64)
    first[both[::-1]] = np.arange(both.size)[::-1]  # of several values for one place the last one stays
    order = np.argsort(first)
    rank = np.empty(order.size, id_dtype(order.size))
    rank[order] = np.arange(order.size)
    return Ends(order.size, rank[u], rank[v], [words[i] for i in order.tolist()])


def integer_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Ends:
    """Number integer labels in increasing order; no labels where they are 0, 1, 2 and so on.

    Arrays of the type of node numbers that hold these already are not copied.
    """
    if not u.size:
        return Ends(0, u.astype(id_dtype(0)), v.astype(id_dtype(0)), None)
    ranges = in_chunks(lambda a, b: (min(u[a:b].min(), v[a:b].min()), max(u[a:b].max(), v[a:b].max())), u.size)
    low, high = int(min(least for least, _ in ranges)), int(max(most for _, most in ranges))
    if high - low < max(_DENSE * u.size, _FEW):
        return _dense_ends(u, v, low, high - low + 1)
    labels, codes = np.unique(np.concatenate([u, v], dtype=np.int64), return_inverse=True)
    codes = codes.astype(id_dtype(labels.size))
    return Ends(labels.size, codes[: u.size], codes[u.size :], cast("Sequence[Hashable]", labels))


def _dense_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], low: int, span: int) -> Ends:
    """Labels out of a range that a table can hold."""
    present = np.zeros(span, bool)

    def mark(ids: NDArray[np.integer[Any]]) -> None:
        present[ids - low if low else ids] = True

    for ids in (u, v):
        in_chunks(lambda a, b, ids=ids: mark(ids[a:b]), ids.size)
    labels = np.flatnonzero(present) + low
    ids = id_dtype(labels.size)
    if labels.size == span:
        source, target = (x.astype(ids, copy=False) if not low else (x - low).astype(ids) for x in (u, v))
        return Ends(span, source, target, None if not low else cast("Sequence[Hashable]", labels))
    rank = np.cumsum(present, dtype=ids) - ids.type(1)
    source, target = (np.concatenate([rank[at - low] for at in _pieces(x)]) for x in (u, v))
    return Ends(labels.size, source, target, cast("Sequence[Hashable]", labels))


def _pieces(ids: NDArray[np.integer[Any]]) -> Iterator[NDArray[np.integer[Any]]]:
    return (ids[start : start + CHUNK] for start in range(0, ids.size, CHUNK))


def parse_labels(words: Sequence[str]) -> list[Any]:
    """Labels as integers where all of them are integers in canonical form, as text otherwise."""
    if all(INTEGER.fullmatch(word) and len(word) < _INT_DIGITS for word in words):
        return [int(word) for word in words]
    return list(words)


def label_sequence(labels: Sequence[Any]) -> Sequence[Hashable] | None:
    """Labels for an EdgeTable: None for 0, 1, 2, …, an array of int64 where they are integers that fit."""
    if not all(type(label) is int for label in labels):
        return tuple(labels)
    if list(labels) == list(range(len(labels))):
        return None
    try:
        return cast("Sequence[Hashable]", np.array(labels, np.int64))
    except OverflowError:
        return tuple(labels)


def label_nodes(
    source: InputStream,
    ids: Sequence[Any],
    attributes: Mapping[str, Column],
    lines: Sequence[int],
    option: str | None,
    default: str = "id",
    remedy: str = f"pass {setting('label', 'id')} to call nodes by their ids",
) -> NodeTable:
    """Choose what the nodes are called.

    Parameters
    ----------
    source : InputStream
    ids : sequence
        The file's ids of the nodes.
    attributes : mapping
        Columns of node attributes; the one that becomes the label is taken out.
    lines : sequence of int
        Where each node stands.
    option : str or None
        The attribute to use, or ``"id"`` for the ids.
    default : str
        The same, where `option` is None; the ids where no node has this attribute.
    remedy : str
        What to do about labels that are missing or stand twice.

    Raises
    ------
    FileError
        For an attribute that no node or not every node has, and for labels that stand twice.
    """
    name = option or default
    if option is None and default not in attributes:
        name = "id"
    if name == "id":
        values = list(ids)
    elif name in attributes:
        values = python_values(attributes[name])
    else:
        known = ", ".join(map(repr, attributes)) or "none"
        raise source.error(f"no node has the attribute {name!r} named as {setting('label')} (node attributes: {known})")
    if option == "id":
        remedy = "correct the file"
    seen: dict[str, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value is None:
            raise source.error(f"the node has no {name!r}, and others have: {remedy}", line)
        if not isinstance(value, str | int | float):
            raise source.error(f"the node's {name!r} is neither text nor a number: {remedy}", line)
        text = str(value)
        if text in seen:
            raise source.error(f"the node label {value!r} stands in line {seen[text]} already: {remedy}", line)
        seen[text] = line
    rest = {key: column for key, column in attributes.items() if name == "id" or key != name}
    return NodeTable(label_sequence(parse_labels(list(seen))), rest)


def shown_names(
    source: InputStream,
    ids: Sequence[str],
    shown: Sequence[str | None],
    attributes: Mapping[str, Column],
    lines: Sequence[int],
    option: str | None,
) -> tuple[NodeTable, tuple[str, ...]]:
    """Call nodes by the names that an editor shows where these can tell them apart, else by their ids, with a note.

    Parameters
    ----------
    source, ids, attributes, lines, option
        As in :func:`label_nodes`. Names that are not used become the attribute ``label``.
    shown : sequence of (str or None)
        What stands on each node; None where nothing does.
    """
    present = [name for name in shown if name is not None]
    if not present:
        return label_nodes(source, ids, attributes, lines, option), ()
    if option is None and len(present) == len(set(present)) == len(ids):
        return NodeTable(label_sequence(parse_labels(present)), dict(attributes)), ()
    columns = dict(attributes)
    if list(shown) != list(ids) or option == "label":
        columns["label" if "label" not in columns else "shown_label"] = parse_cells(shown)
    why = "some nodes have none" if len(present) < len(ids) else "one of them stands twice"
    note = f"nodes are called by their ids, and not by their labels: {why}"
    return label_nodes(source, ids, columns, lines, option), (note,) if option is None else ()


def ends_by_id(
    source: InputStream,
    ids: Sequence[Any],
    node_lines: Sequence[int],
    pairs: Sequence[tuple[Any, Any]],
    edge_lines: Sequence[int],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ends of edges that a file gives by the ids of nodes, as positions among these.

    Parameters
    ----------
    source : InputStream
    ids, node_lines : sequence
        The id of each node, and where it stands.
    pairs, edge_lines : sequence
        The ids of both ends of each edge, and where it stands.

    Raises
    ------
    FileError
        For an id that stands twice, and one that is no node's.
    """
    place: dict[Any, int] = {}
    for i, (key, line) in enumerate(zip(ids, node_lines, strict=True)):
        if place.setdefault(key, i) != i:
            raise source.error(f"the node id {key!r} stands in line {node_lines[place[key]]} already", line)
    for pair, line in zip(pairs, edge_lines, strict=True):
        for name, key in zip(("source", "target"), pair, strict=True):
            if key not in place:
                raise source.error(f"the edge's {name} {key!r} is not the id of a node", line)
    u, v = (np.array([place[pair[side]] for pair in pairs], id_dtype(len(ids))) for side in (0, 1))
    return u, v


# Back to text, with notes on what a format can't hold


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
    return [f"{what} attribute{plural} {listed}{_NOT_IN_FILE}{why}"] if listed else []


_NOT_IN_FILE = " not in the file: "


def merged(notes: Sequence[str]) -> list[str]:
    """Notes, of which those on what is left out for the same reason are one.

    Examples
    --------
    >>> merged(["2 isolated nodes not in the file: no room", "as text", "node attribute 'a' not in the file: no room"])
    ["2 isolated nodes and node attribute 'a' not in the file: no room", 'as text']
    """
    lines: list[str] = []
    for note in notes:
        _, mark, why = note.partition(_NOT_IN_FILE)
        alike = [other.partition(_NOT_IN_FILE) for other in notes]
        lines.append(joined([what for what, *end in alike if end == [mark, why]], "and") + mark + why if mark else note)
    return list(dict.fromkeys(lines))


def has_parallel(table: EdgeTable) -> bool:
    """Whether two rows join the same nodes (in the same direction, where the table is directed)."""
    u, v = table.source.astype(np.int64), table.target.astype(np.int64)
    low, high = (u, v) if table.directed else (np.minimum(u, v), np.maximum(u, v))
    return np.unique(low * max(table.n_nodes, 1) + high).size < u.size
