"""METIS: after a header, the neighbours of node i on line i, counted from 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError
from graphpri.graph import EdgeTable, id_dtype
from graphpri.io.columns import Column, left_out, python_values, unlabelled, write_weights
from graphpri.io.rows import NUMBER, WORD, Ints, parse_integers, parse_numbers, shorten
from graphpri.io.sink import numbers_text, write_text
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions

_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})(?:[ \t]+([01]{1,3}))?(?:[ \t]+(\d{1,3}))?[ \t]*\n")
_COMMENT = re.compile(rb"[ \t]*(?:%[^\n]*)?\n")
_RICHER = "METIS holds a weight only; graphml, npz and parquet hold others"


class _Header(NamedTuple):
    n_nodes: int
    n_edges: int
    sizes: bool
    vertex_weights: int
    edge_weights: bool
    line: int
    start: int

    @property
    def leading(self) -> int:
        """How many numbers on a line stand before the neighbours."""
        return self.sizes + self.vertex_weights


@dataclass(frozen=True)
class _Words:
    """Numbers of the body, the node on whose line each stands, and as which of its numbers; and the nodes' lines."""

    source: InputStream
    words: Sequence[str]
    node: Ints
    place: Ints
    lines: Ints

    def pick(self, mask: NDArray[np.bool_]) -> _Words:
        words = list(compress(self.words, mask.tolist()))
        return _Words(self.source, words, self.node[mask], self.place[mask], self.lines)

    def numbers(self, what: str) -> NDArray[Any]:
        """The words as int64 or float64."""
        values = parse_integers(self.words)
        if values is None:
            values = parse_numbers(self.words)
        if values is not None:
            return values
        bad = next(i for i, word in enumerate(self.words) if not NUMBER.fullmatch(word))
        line = int(self.lines[self.node[bad]])
        raise self.source.error(f"the {what} {shorten(self.words[bad])} is not a number", line)


def read_metis(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a METIS graph; node i is the one on the body's line i + 1.

    Weights and sizes of vertices become the node attributes ``vertex_weight`` (``vertex_weight1``, …
    where there are several) and ``vertex_size``.

    Raises
    ------
    FileError
        Names the line, for a wrong header, another number of lines or edges than it says, neighbours
        out of range, and a neighbour that does not list the node back with the same weight.
    """
    data = source.text(LONG_LINE_LIMIT)
    head = _read_head(source, data)
    words = _split_body(source, data[head.start :], head)
    neighbour = words.place >= head.leading
    if head.edge_weights:
        is_weight = neighbour & ((words.place - head.leading) % 2 == 1)
        weights = words.pick(is_weight).numbers("weight")
        neighbour &= ~is_weight
    else:
        weights = None
    arcs = words.pick(neighbour)
    u, v = arcs.node, _neighbours(arcs, head.n_nodes)
    _check_symmetric(source, u, v, weights, words.lines)
    kept = np.flatnonzero(u <= v)
    if kept.size != head.n_edges:
        raise source.error(f"the header says {head.n_edges} edges, and the file has {kept.size}", head.line)
    ids = id_dtype(head.n_nodes)
    return EdgeTable(
        head.n_nodes,
        u[kept].astype(ids),
        v[kept].astype(ids),
        edge_attributes={} if weights is None else {"weight": weights[kept]},
        node_attributes=_vertex_columns(words, head),
        row_name=source.row_name(words.lines[u[kept]]),
    )


def _read_head(source: InputStream, data: bytes) -> _Header:
    start, line = 0, 1
    while skip := _COMMENT.match(data, start):
        start, line = skip.end(), line + 1
    found = _HEADER.match(data, start)
    if found is None:
        raise source.error("a METIS header should stand here: nodes, edges, and perhaps a format such as 001", line)
    n, m, flags, constraints = found.groups()
    flags = (flags or b"0").zfill(3)
    weights = int(constraints or 1) if flags[1:2] == b"1" else 0
    n_nodes = source.check_nodes(int(n), len(data), line)
    return _Header(n_nodes, int(m), flags[:1] == b"1", weights, flags[2:] == b"1", line, found.end())


def _split_body(source: InputStream, data: bytes, head: _Header) -> _Words:
    rows: list[list[str]] = []
    numbers: list[int] = []
    for number, text in enumerate(data.decode().split("\n")[:-1], head.line + 1):
        words = WORD.findall(text)
        if not words or not words[0].startswith("%"):
            rows.append(words)
            numbers.append(number)
    lines, counts = np.array(numbers, np.int64), np.array(list(map(len, rows)), np.int64)
    if lines.size < head.n_nodes:
        raise source.error(
            f"the header says {head.n_nodes} nodes, and only {lines.size} lines follow: the file is cut off or damaged",
            head.line,
        )
    if counts[head.n_nodes :].any():
        line = int(lines[head.n_nodes + int(np.argmax(counts[head.n_nodes :] > 0))])
        raise source.error(f"the header says {head.n_nodes} nodes, and more lines follow", line)
    body = counts[: head.n_nodes]
    wrong = (body < head.leading) | (((body - head.leading) % 2 == 1) & head.edge_weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise source.error(
            f"{body[row]} numbers do not fit the header's format: {head.leading} for the vertex, then its neighbours"
            + (", each with a weight" if head.edge_weights else ""),
            int(lines[row]),
        )
    node = np.repeat(np.arange(counts.size), counts)
    place = np.arange(node.size) - (np.cumsum(counts) - counts)[node]
    return _Words(source, list(chain.from_iterable(rows)), node, place, lines)


def _neighbours(words: _Words, n_nodes: int) -> Ints:
    found = words.numbers("neighbour")
    wrong = (found < 1) | (found > n_nodes) | (found % 1 != 0)
    if wrong.any():
        which = int(np.argmax(wrong))
        line = int(words.lines[words.node[which]])
        raise words.source.error(f"the neighbour {shorten(words.words[which])} is not a node from 1 to {n_nodes}", line)
    return found.astype(np.int64) - 1


def _check_symmetric(source: InputStream, u: Ints, v: Ints, weights: NDArray[Any] | None, lines: Ints) -> None:
    w = np.zeros(u.size) if weights is None else weights
    there, back = u < v, u > v
    a, b = np.lexsort((w[there], v[there], u[there])), np.lexsort((w[back], u[back], v[back]))
    one = (u[there][a], v[there][a], w[there][a])
    other = (v[back][b], u[back][b], w[back][b])
    if all(np.array_equal(x, y) for x, y in zip(one, other, strict=True)):
        return
    arcs = list(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))
    counts = Counter(arcs)
    for i, j, x in arcs:
        if counts[i, j, x] != counts[j, i, x]:
            i, j = (i, j) if counts[i, j, x] > counts[j, i, x] else (j, i)
            weight = f" with the weight {x}" if weights is not None else ""
            raise source.error(
                f"node {i + 1} lists the neighbour {j + 1}{weight}, and node {j + 1} (line {lines[j]}) does not list "
                "it back: METIS holds undirected graphs, each edge on both lines",
                int(lines[i]),
            )


def _vertex_columns(words: _Words, head: _Header) -> dict[str, Column]:
    names = ["vertex_size"] if head.sizes else []
    if head.vertex_weights == 1:
        names.append("vertex_weight")
    else:
        names += [f"vertex_weight{i + 1}" for i in range(head.vertex_weights)]
    return {name: words.pick(words.place == i).numbers("vertex weight") for i, name in enumerate(names)}


def write_metis(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write a METIS graph, with edge weights, vertex weights and vertex sizes where the table has them.

    Raises
    ------
    FileError
        For a directed table and for self-loops, which METIS can't hold.
    """
    if table.directed:
        raise FileError(f"{name}: METIS holds undirected graphs only: write mtx, graphml or npz")
    if (loops := table.source == table.target).any():
        label = table.label(int(table.source[int(np.argmax(loops))]))
        raise FileError(f"{name}: METIS can't hold the self-loop at {label!r}: write mtx, graphml or npz")
    notes = unlabelled(table, "METIS")
    sizes, weights = _vertex_numbers(table, "vertex_size"), _vertex_numbers(table, "vertex_weight")
    written = [key for key, column in (("vertex_size", sizes), ("vertex_weight", weights)) if column]
    notes += left_out("edge", [key for key in table.edge_attributes if key != "weight"], _RICHER)
    notes += left_out("node", [key for key in table.node_attributes if key not in written], _RICHER)
    notes += left_out("graph", table.graph_attributes, _RICHER)
    edge_weights = _whole(write_weights(table, notes), notes)
    flags = f"{int(bool(sizes))}{int(bool(weights))}{int(edge_weights is not None)}"
    header = f"{table.n_nodes} {table.source.size}{'' if flags == '000' else ' ' + flags}\n"
    write_text(stream, name, [header])
    vertex = [" ".join(words) for words in zip(*filter(None, (sizes, weights)), strict=True)]
    write_text(stream, name, _adjacency_lines(table, edge_weights, vertex))
    return notes


def _adjacency_lines(table: EdgeTable, weights: NDArray[Any] | None, vertex: list[str]) -> list[str]:
    u, v = table.source.astype(np.int64), table.target.astype(np.int64)
    at, neighbour = np.concatenate([u, v]), np.concatenate([v, u]) + 1
    order = np.lexsort((neighbour, at))
    words = list(map(str, neighbour[order].tolist()))
    if weights is not None:
        texts = np.array(numbers_text(weights), object)
        words = list(map("%s %s".__mod__, zip(words, np.tile(texts, 2)[order].tolist(), strict=True)))
    upto = np.cumsum(np.bincount(at, minlength=table.n_nodes)).tolist()
    lines: list[str] = []
    for i, (a, b) in enumerate(zip([0, *upto], upto, strict=False)):
        lines.append(" ".join([*vertex[i : i + 1], *words[a:b]]) + "\n")
    return lines


def _vertex_numbers(table: EdgeTable, key: str) -> list[str]:
    """A node attribute as text where it holds whole numbers from 0, else nothing."""
    values = python_values(table.node_attributes[key]) if key in table.node_attributes else [None]
    fits = all(type(value) is int and value >= 0 for value in values)
    return list(map(str, values)) if fits else []


def _whole(weights: NDArray[Any] | None, notes: list[str]) -> NDArray[Any] | None:
    """Weights as integers where they are whole, else as they are with a note."""
    if weights is None or weights.dtype.kind != "f":
        return weights
    if np.isfinite(weights).all() and (weights == np.floor(weights)).all() and np.abs(weights).max(initial=0) < 2**53:
        return weights.astype(np.int64)
    notes.append("edge weights are not whole numbers, which METIS itself wants; graphpri reads them")
    return weights
