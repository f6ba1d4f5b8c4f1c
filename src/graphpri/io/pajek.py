"""Pajek: sections *Vertices, *Edges, *Arcs, … of one network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from graphpri.errors import FileError, setting
from graphpri.graph import EdgeTable, id_dtype
from graphpri.io.columns import (
    Column,
    alike,
    gather_columns,
    integer_ends,
    label_nodes,
    label_texts,
    left_out,
    parse_cells,
    python_column,
    python_values,
    read_weights,
    write_weights,
)
from graphpri.io.matrixmarket import equals_transpose
from graphpri.io.rows import ANY_NUMBER, Ints, shorten, split_rows
from graphpri.io.sink import numbers_text, write_text
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions

SHAPES = ("ellipse", "box", "diamond", "triangle", "cross", "empty", "circle", "house", "man", "woman")
_TOKEN = re.compile(r'[ \t]*(?:"([^"]*)"|(\[[^\]]*\])|([^ \t"]+))(?=[ \t]|$)')
_SECTION = re.compile(rb"^[ \t]*\*([A-Za-z]+)[ \t]*([^\n]*)\n", re.MULTILINE)
_LINKS = {"arcs": True, "arcslist": True, "edges": False, "edgeslist": False, "links": False, "matrix": True}
_COMMENT = "%#"  # of Pajek, and of Infomap
_LINK = re.compile(r"[0-9]+[ \t]+[0-9]+(?:[ \t]+\S+)?")


class _Section(NamedTuple):
    """A part of the file: its kind, the words behind it, the line of both, and the text below."""

    kind: str
    words: str
    line: int
    body: bytes


class _Links(NamedTuple):
    """Edges or arcs of one section, their ends counted from 0."""

    directed: bool
    u: Ints
    v: Ints
    lines: Ints
    columns: dict[str, Column]


@dataclass
class _Network:
    """What has been read so far."""

    source: InputStream
    n: int = -1
    two_mode: int | None = None
    names: list[str] = field(default_factory=list)
    records: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    vectors: dict[str, Column] = field(default_factory=dict)
    vector_name: str = ""
    title: str = ""
    links: list[_Links] = field(default_factory=list)


def read_pajek(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read one Pajek network, with its partitions and vectors as node attributes; or a list of links of Infomap.

    Text above the first section is the network's title. A file without sections, whose lines are two numbers and
    perhaps a weight, is a list of links, which Infomap keeps under the same suffix.

    Coordinates become the node attributes ``x``, ``y`` and ``z``, a vertex's figure ``shape``, times in
    brackets ``time``, other pairs attributes of their name, and the relation of a multi-relational
    section the edge attribute ``relation``. Where the file has arcs the graph is directed, and each
    edge in it is two opposite arcs, as in Pajek; where it has edges only the graph is undirected.

    Raises
    ------
    FileError
        Names the line, for whatever is not a network of this form, and for labels that stand twice.
    """
    network = _Network(source)
    data = source.text(LONG_LINE_LIMIT)
    if _SECTION.search(data) is None:
        return _read_bare_links(network, data, options)
    for section in _sections(network, data):
        _take(network, section)
    if network.n < 0:
        raise source.error("there is no section *Vertices, so this is no Pajek network")
    columns = {**_without_defaults(gather_columns(network.records, parse_cells)), **network.vectors}
    ids: list[Any] = [*range(1, network.n + 1)]
    if options.label == "id" and network.names != list(map(str, ids)):
        columns.setdefault("label", network.names)
    ids = ids if options.label == "id" else network.names
    return _table(network, *label_nodes(source, ids, columns, network.lines, options.label))


def _read_bare_links(network: _Network, data: bytes, options: ReadOptions) -> EdgeTable:
    """A list of links without sections, whose nodes are the numbers that stand in it."""
    rows = list(_rows(data, 1))
    for number, text in rows:
        if not _LINK.match(text) or not all(word.isdecimal() for word in text.split()[:2]):
            raise network.source.error(
                f"{shorten(text)} stands where a section such as *Vertices should, or two numbers of a link", number
            )
    if not rows:
        raise network.source.error("there are only comments, no sections and no links")
    network.n = 1 + max(int(word) for _, text in rows for word in text.split()[:2] if len(word) < 19)
    section = _Section("links", "", 0, data.replace(b"\t", b" "))
    links = _regular(network, section, 0) or _read_lines(network, section, 0)
    ends = integer_ends(links.u, links.v)
    if options.label not in (None, "id"):
        raise network.source.error(f"nodes have no attributes in a list of links: {setting('label')} names none")
    return EdgeTable(*ends, edge_attributes=links.columns, row_name=network.source.row_name(links.lines))


def _sections(network: _Network, data: bytes) -> Iterator[_Section]:
    found = list(_SECTION.finditer(data))
    for number, text in _rows(data[: found[0].start()], 1):
        if _LINK.fullmatch(text):
            raise network.source.error(
                f"{shorten(text)} looks like a link and stands before the first section, such as *Vertices", number
            )
        network.title = f"{network.title} {text}".strip()
    line, counted = 1, 0
    for match, end in zip(found, [*(m.start() for m in found[1:]), len(data)], strict=True):
        line += data.count(b"\n", counted, match.start())
        counted = match.start()
        yield _Section(match[1].decode().lower(), match[2].decode().strip(), line, data[match.end() : end])


def _rows(body: bytes, line: int) -> Iterator[tuple[int, str]]:
    """Line numbers and text of the lines that are neither blank nor comments."""
    for number, text in enumerate(body.decode().split("\n"), line):
        bare = text.strip(" \t")
        if bare and not bare.startswith((*_COMMENT, "/*")):
            yield number, bare


def _tokens(source: InputStream, text: str, line: int) -> list[tuple[str, bool]]:
    """Words of a line, each with whether it is quoted; a time in brackets keeps them."""
    out: list[tuple[str, bool]] = []
    end = 0
    while end < len(text):
        found = _TOKEN.match(text, end)
        if found is None:
            raise source.error("a quote is opened and never closed, or text follows its end", line)
        out.append((found[found.lastindex or 0], found.lastindex == 1))
        end = found.end()
    return out


def _take(network: _Network, section: _Section) -> None:
    """Read one section into the network."""
    kind = section.kind
    if kind in ("partition", "vector"):
        network.vector_name = section.words or kind
    elif kind == "vertices" and network.vector_name:
        _take_vector(network, section)
    elif kind in ("network", "vertices") and network.n >= 0:
        raise network.source.error("a second network begins: split the file, one network each", section.line)
    elif kind == "network":
        network.title = section.words or network.title
    elif kind == "vertices":
        _take_vertices(network, section)
    elif kind not in _LINKS:
        raise network.source.error(f"the section *{kind} can't be read: take it out", section.line)
    elif network.n < 0:
        raise network.source.error(f"*{kind} stands before *Vertices", section.line)
    elif kind == "matrix":
        network.links.append(_read_matrix(network, section))
    else:
        network.links.append(_read_links(network, section))


def _vertex_count(network: _Network, section: _Section) -> list[int]:
    words = section.words.split()
    if not 1 <= len(words) <= 2 or not all(word.isdecimal() and len(word) < 19 for word in words):
        raise network.source.error("the number of vertices should follow *Vertices", section.line)
    network.source.check_nodes(int(words[0]), len(section.body), section.line)
    return [int(word) for word in words]


def _take_vector(network: _Network, section: _Section) -> None:
    values = [text for _, text in _rows(section.body, section.line + 1)]
    (n, *_), name = _vertex_count(network, section), network.vector_name
    if n != network.n or len(values) != n:
        raise network.source.error(f"{name!r} has {len(values)} values for {network.n} vertices", section.line)
    while name in network.vectors:
        name += "_"
    network.vectors[name] = parse_cells(values)
    network.vector_name = ""


def _take_vertices(network: _Network, section: _Section) -> None:
    network.n, *mode = _vertex_count(network, section)
    network.two_mode = mode[0] if mode else None
    rows = list(_rows(section.body, section.line + 1))
    network.names = list(map(str, range(1, network.n + 1)))
    network.records = [{} for _ in range(network.n)]
    network.lines = [section.line] * network.n
    for line, text in rows:
        (number, _), *rest = _tokens(network.source, text, line)
        i = _vertex(network, number, line)
        if network.lines[i] != section.line:
            raise network.source.error(f"vertex {number} stands in line {network.lines[i]} already", line)
        network.lines[i] = line
        if rest:
            network.names[i] = rest[0][0]
            network.records[i] = _vertex_record(network.source, rest[1:], line)


def _vertex(network: _Network, number: str, line: int, first: int = 1) -> int:
    """Place of a vertex by its number; the first one has the number `first`."""
    if number.isascii() and number.isdecimal() and len(number) < 19 and first <= int(number) < first + network.n:
        return int(number) - first
    raise network.source.error(f"{shorten(number)} is not a vertex from {first} to {first + network.n - 1}", line)


def _vertex_record(source: InputStream, tokens: list[tuple[str, bool]], line: int) -> dict[str, str]:
    record: dict[str, str] = {}
    while tokens and len(record) < 3 and not tokens[0][1] and ANY_NUMBER.fullmatch(tokens[0][0]):
        record["xyz"[len(record)]] = tokens.pop(0)[0]
    if tokens and not tokens[0][1] and tokens[0][0].lower() in SHAPES:
        record["shape"] = tokens.pop(0)[0]
    return record | _pairs(source, tokens, line)


def _pairs(source: InputStream, tokens: list[tuple[str, bool]], line: int) -> dict[str, str]:
    """Attributes from ``name value name value …``, with times in brackets as ``time``."""
    times = [word for word, quoted in tokens if not quoted and word.startswith("[")]
    rest = [word for word, quoted in tokens if quoted or not word.startswith("[")]
    if len(rest) % 2:
        raise source.error(f"{shorten(rest[-1])} has no value: pairs of a name and a value should stand here", line)
    record = dict(zip(rest[::2], rest[1::2], strict=True))
    return record | {"time": " ".join(times)} if times else record


def _read_links(network: _Network, section: _Section) -> _Links:
    if section.kind.endswith("list"):
        links = _read_lists(network, section)
    else:
        links = _regular(network, section) or _read_lines(network, section)
    if section.words.startswith(":"):
        number, _, name = section.words.partition(" ")
        links.columns["relation"] = [name.strip(' \t"') or number[1:]] * links.u.size
    return links


def _regular(network: _Network, section: _Section, first: int = 1) -> _Links | None:
    """Links that are all two vertices, or two vertices and a weight; None for any others."""
    if b'"' in section.body or b"[" in section.body or b"/*" in section.body:
        return None
    try:
        rows = split_rows(network.source, section.body, None, section.line + 1, _COMMENT)
    except FileError:
        return None
    if not rows.n_rows or rows.n_columns not in (2, 3):
        return None
    u, v = rows.integers(0), rows.integers(1)
    if u is None or v is None or min(u.min(), v.min()) < first or max(u.max(), v.max()) >= first + network.n:
        return None
    columns: dict[str, Column] = {}
    if rows.n_columns == 3:
        columns["weight"] = read_weights(network.source, rows, 2, ends=(0, 1))
    return _Links(_LINKS[section.kind], u - first, v - first, np.array(rows.lines, np.int64), columns)


def _read_lines(network: _Network, section: _Section, first: int = 1) -> _Links:
    ends: list[tuple[int, int]] = []
    lines: list[int] = []
    records: list[dict[str, str]] = []
    for line, text in _rows(section.body, section.line + 1):
        tokens = _tokens(network.source, text, line)
        if len(tokens) < 2:
            raise network.source.error("two vertices should stand here", line)
        ends.append((_vertex(network, tokens[0][0], line, first), _vertex(network, tokens[1][0], line, first)))
        lines.append(line)
        record: dict[str, str] = {}
        rest = tokens[2:]
        if rest and not rest[0][1] and ANY_NUMBER.fullmatch(rest[0][0]):
            record["weight"] = rest.pop(0)[0]
        records.append(record | _pairs(network.source, rest, line))
    u, v = np.array(ends, np.int64).reshape(-1, 2).T
    columns = gather_columns(records, parse_cells)
    return _Links(_LINKS[section.kind], u, v, np.array(lines, np.int64), columns)


def _read_lists(network: _Network, section: _Section) -> _Links:
    ends: list[tuple[int, int, int]] = []
    for line, text in _rows(section.body, section.line + 1):
        first, *others = (_vertex(network, word, line) for word in text.split())
        ends += [(first, other, line) for other in others]
    u, v, lines = np.array(ends, np.int64).reshape(-1, 3).T
    return _Links(_LINKS[section.kind], u, v, lines, {})


def _read_matrix(network: _Network, section: _Section) -> _Links:
    source, n, first = network.source, network.n, network.two_mode
    rows = split_rows(source, section.body, None, section.line + 1, _COMMENT)
    shape = (rows.n_rows, rows.n_columns)
    if first is not None and shape == (first, n - first):
        matrix = np.array([read_weights(source, rows, column) for column in range(n - first)]).T.reshape(shape)
        u, v = np.nonzero(matrix)
        return _Links(False, u, v + first, np.array(rows.lines, np.int64)[u], {"weight": matrix[u, v]})
    if shape != (n, n):
        modes = "" if first is None else f" of which {first} are of the first mode"
        raise source.error(f"*Matrix has {shape[0]} rows of {shape[1]} for {n} vertices{modes}", section.line)
    matrix = np.array([read_weights(source, rows, column) for column in range(n)]).T.reshape(n, n)
    u, v = np.nonzero(matrix)
    symmetric = equals_transpose(u, v, matrix[u, v])
    if symmetric:
        u, v = u[u <= v], v[u <= v]
    return _Links(not symmetric, u, v, np.array(rows.lines, np.int64)[u], {"weight": matrix[u, v]})


def _table(network: _Network, labels: Any, attributes: dict[str, Column]) -> EdgeTable:
    # Many programs write both sections, one of them empty.
    filled = [part.directed for part in network.links if part.u.size]
    directed = any(filled or [part.directed for part in network.links])
    links = [_both_ways(part) if directed and not part.directed else part for part in network.links]
    ids = id_dtype(network.n)
    empty = [np.zeros(0, np.int64)]
    graph: dict[str, Any] = {"name": network.title} if network.title else {}
    if network.two_mode is not None:
        graph["first_mode"] = network.two_mode
    return EdgeTable(
        network.n,
        np.concatenate(empty + [part.u for part in links]).astype(ids),
        np.concatenate(empty + [part.v for part in links]).astype(ids),
        labels,
        directed,
        _join(links),
        attributes,
        graph,
        network.source.row_name(np.concatenate(empty + [part.lines for part in links])),
    )


def _both_ways(links: _Links) -> _Links:
    """Edges as two opposite arcs each; a loop stays one."""
    back = np.flatnonzero(links.u != links.v)
    order = np.concatenate([np.arange(links.u.size), back])
    forward = np.arange(order.size) < links.u.size
    u, v = links.u[order], links.v[order]
    columns: dict[str, Column] = {
        name: column[order] if isinstance(column, np.ndarray) else [column[i] for i in order.tolist()]
        for name, column in links.columns.items()
    }
    return _Links(True, np.where(forward, u, v), np.where(forward, v, u), links.lines[order], columns)


def _join(links: list[_Links]) -> dict[str, Column]:
    """Columns of all sections one below the other; None where a section has no such column."""
    names = dict.fromkeys(name for part in links for name in part.columns)
    if len(links) == 1:
        return links[0].columns
    return {
        name: python_column([x for part in links for x in python_values(part.columns.get(name, [None] * part.u.size))])
        for name in names
    }


_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LIMIT = (
    "Pajek holds numbers and text without quotes, line breaks and gaps under plain names; graphml and npz hold others"
)


def write_pajek(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a Pajek network: *Arcs where the table is directed, *Edges where it is not.

    Raises
    ------
    FileError
        For a node label with a quote or a line break, which Pajek can't hold.
    """
    notes: list[str] = []
    labels = label_texts(table, name, notes)
    for label in labels:
        if re.search(r'["\n\r]', label):
            raise FileError(f"{name}: Pajek can't hold the node label {label!r}: write graphml or npz")
    vertices = [f'{i} "{label}"' for i, label in enumerate(labels, 1)]
    vertices = list(map(str.__add__, vertices, _vertex_words(table, notes)))
    title, mode = _graph_words(table, notes)
    head = [*title, f"*Vertices {table.n_nodes}{mode}\n", *(line + "\n" for line in vertices)]
    weights = write_weights(table, notes)
    others = {key: column for key, column in table.edge_attributes.items() if key != "weight"}
    pairs = _pair_words("edge", others, notes, table.source.size, reserved=("weight", "time"))
    if weights is None and any(pairs):
        weights = np.ones(len(pairs), np.int64)
        notes.append("edges written with the weight 1, behind which Pajek has their attributes")
    columns: list[Sequence[Any]] = [(table.source + 1).tolist(), (table.target + 1).tolist()]
    columns += [] if weights is None else [numbers_text(weights)]
    form = " ".join(["%s"] * len(columns)) + "%s\n"
    lines = map(form.__mod__, zip(*columns, pairs, strict=True))
    write_text(stream, name, chain(head, ["*Arcs\n" if table.directed else "*Edges\n"], lines))
    return notes


def _graph_words(table: EdgeTable, notes: list[str]) -> tuple[list[str], str]:
    """The line that names the network, and the number of nodes of the first kind."""
    attributes = dict(table.graph_attributes)
    title, mode = attributes.get("name"), attributes.get("first_mode")
    fits = isinstance(title, str) and title == title.strip() and title and not re.search(r"[\n\r]", title)
    written = ["name"] if fits else []
    if type(mode) is int and 0 <= mode <= table.n_nodes:
        written.append("first_mode")
    notes += left_out("graph", [key for key in attributes if key not in written], "Pajek holds a name only")
    return [f"*Network {title}\n"] if fits else [], f" {mode}" if "first_mode" in written else ""


def _vertex_words(table: EdgeTable, notes: list[str]) -> list[str]:
    """Coordinates, shape and pairs of each vertex.

    Programs read pairs behind coordinates and a shape only, so that vertices with pairs have all of these: those of
    :data:`_PLACE` and :data:`_FIGURE` where the table has none, which are passed over on reading, as defaults are.
    """
    attributes = dict(table.node_attributes)
    axes = [[python_values(attributes.get(key, [None])) for key in keys] for keys in ("xyz", "xy")]
    places = next((columns for columns in axes if all(map(_are_finite, columns))), [])
    shapes = python_values(attributes.get("shape", []))
    shapes = shapes if all(isinstance(shape, str) and shape.lower() in SHAPES for shape in shapes) else []
    kept = [*"xyz"[: len(places)], *(["shape"] if shapes else [])]
    others = {key: column for key, column in attributes.items() if key not in kept}
    pairs = _pair_words("node", others, notes, table.n_nodes, reserved=("time", "x", "y", "z", "shape"))
    plain = [*"xy" * _all_at_zero(places), *(["shape"] * _all_default(shapes))]
    notes += left_out("node", plain, "it is the same everywhere, and what Pajek takes where nothing is said")
    if not (places or shapes or any(pairs)):
        return pairs
    words = list(map(" ".join, zip(*(map(repr, column) for column in places), strict=True))) or [_PLACE] * len(pairs)
    return list(map(" {} {}{}".format, words, shapes or [_FIGURE] * len(pairs), pairs))


_PLACE, _FIGURE = "0.0 0.0", "ellipse"


def _are_finite(values: list[Any]) -> bool:
    return bool(values) and all(type(x) in (int, float) and np.isfinite(x) for x in values)


def _all_at_zero(places: list[list[Any]]) -> bool:
    return len(places) == 2 and all(x == 0 for column in places for x in column)


def _all_default(shapes: list[Any]) -> bool:
    return bool(shapes) and all(isinstance(shape, str) and shape.lower() == _FIGURE for shape in shapes)


def _without_defaults(columns: dict[str, Column]) -> dict[str, Column]:
    """Attributes of vertices without places and shapes that say nothing, which programs write to be read by others."""
    places = [python_values(columns[key]) for key in "xyz" if key in columns]
    dropped = [*"xy" * _all_at_zero(places), *(["shape"] * _all_default(python_values(columns.get("shape", []))))]
    return {key: column for key, column in columns.items() if key not in dropped}


def _pair_words(
    what: str, attributes: Mapping[str, Column], notes: list[str], size: int, reserved: Sequence[str]
) -> list[str]:
    """Attributes as ``name "value"`` pairs for each row, with notes on those that don't fit."""
    words = [""] * size
    refused: list[str] = []
    for key, column in attributes.items():
        plain = _NAME.fullmatch(key) and not ANY_NUMBER.fullmatch(key) and key.lower() not in SHAPES
        cells = _cells(column) if plain and key not in reserved else None
        if cells is None:
            refused.append(key)
            continue
        words = [w if cell is None else f'{w} {key} "{cell}"' for w, cell in zip(words, cells, strict=True)]
        if not all(map(alike, python_values(column), python_values(parse_cells(cells)))):
            notes.append(f"{what} attribute {key!r} will be read back as another type; npz and parquet keep types")
    notes += left_out(what, refused, _LIMIT)
    return words


def _cells(column: Column) -> list[str | None] | None:
    """Values as text, None where one can't be held."""
    cells: list[str | None] = []
    for value in python_values(column):
        text = value if isinstance(value, str) else repr(value)
        if not isinstance(value, str | int | float | None) or re.search(r'["\n\r]', text):
            return None
        cells.append(None if value is None else text)
    return cells
