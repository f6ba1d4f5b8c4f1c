"""DOT of the simple kind that networkx, pydot and igraph write: nodes, edges and their attributes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphpri.errors import FileError
from graphpri.graph import EdgeTable
from graphpri.io.columns import ends_by_id, gather_columns, label_nodes, parse_cells
from graphpri.io.rows import shorten
from graphpri.io.source import LONG_LINE_LIMIT, InputStream, ReadOptions

_TOKEN = re.compile(
    r"""(?P<gap>[ \t\n]+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<word>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[A-Za-z_\u0080-\U0010ffff][A-Za-z_0-9\u0080-\U0010ffff]*)
    |(?P<mark>--|->|[{}\[\];,=:+])""",
    re.DOTALL | re.VERBOSE,
)
_WAY = "draw it without, or read it by pydot or pygraphviz in Python and write GraphML"


class _Token(NamedTuple):
    """A word, quoted or not, or a mark; and where it stands."""

    text: str
    kind: str
    at: int


@dataclass
class _Graph:
    """What has been read so far: nodes in order of appearance with their attributes, and edges with theirs."""

    directed: bool = False
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    node_lines: list[int] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    records: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, dict[str, str]] = field(default_factory=lambda: {"node": {}, "edge": {}})


def read_dot(source: InputStream, options: ReadOptions) -> EdgeTable:
    """Read a DOT graph; nodes are called by their ids unless `label` names an attribute.

    Attributes are numbers where all of them are, and text otherwise; those that are stated for all nodes or edges to
    come are given to these.

    Raises
    ------
    FileError
        Names the line, for text that is not DOT, and for what is not simple: subgraphs, ports, and HTML.
    """
    parser = _Parser(source, source.text(LONG_LINE_LIMIT).decode())
    graph = parser.graph()
    ids = list(graph.nodes)
    u, v = ends_by_id(source, ids, graph.node_lines, graph.edges, graph.lines)
    columns = gather_columns(list(graph.nodes.values()), parse_cells)
    labels, attributes = label_nodes(source, ids, columns, graph.node_lines, options.label)
    return EdgeTable(
        len(ids),
        u,
        v,
        labels,
        graph.directed,
        gather_columns(graph.records, parse_cells),
        attributes,
        {key: column[0] for key, column in gather_columns([graph.attributes], _parsed).items()},
        source.row_name(np.array(graph.lines, np.int64)),
    )


def _parsed(cells: list[str | None]) -> list[object]:
    column = parse_cells(cells)
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


class _Parser:
    """Goes through the tokens of a text, one statement after the other."""

    def __init__(self, source: InputStream, text: str) -> None:
        self._source = source
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._size = len(text)
        self._tokens = list(self._split(text))
        self._next = 0

    def graph(self) -> _Graph:
        """The one graph of the file."""
        graph = _Graph()
        if self._word().lower() == "strict":
            self._next += 1
        kind = self._word().lower()
        if kind not in ("graph", "digraph"):
            raise self._error("'graph' or 'digraph' should stand here")
        graph.directed = kind == "digraph"
        self._next += 1
        if self._is_id() and (name := self._id()):
            graph.attributes["name"] = name
        self._take("{")
        while not self._found("}"):
            self._statement(graph)
            self._found(";")
        if self._next < len(self._tokens):
            raise self._error("a second graph begins, or text follows the end: split the file, one graph each")
        return graph

    # Tokens

    def _split(self, text: str) -> Iterator[_Token]:
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(self._complaint(text[at : at + 40].split("\n")[0]), at)
            kind = found.lastgroup or ""
            if kind == "quoted":
                inside = found[0][1:-1].replace("\\\n", "")
                yield _Token(inside.replace('\\"', '"'), kind, at)
            elif kind != "gap":
                yield _Token(found[0], kind, at)
            at = found.end()

    @staticmethod
    def _complaint(rest: str) -> str:
        if rest.startswith('"'):
            return "a quote is opened and never closed"
        if rest.startswith("<"):
            return f"HTML in labels can't be read: {_WAY}"
        return f"{shorten(rest)} is not DOT: names with such characters need quotes"

    def _error(self, message: str, at: int | None = None) -> FileError:
        if at is None:
            at = self._tokens[self._next].at if self._next < len(self._tokens) else self._size - 1
        return self._source.error(message, self._line(at))

    def _line(self, at: int) -> int:
        return bisect_left(self._breaks, at) + 1

    def _token(self) -> _Token:
        if self._next == len(self._tokens):
            raise self._error("the file ends within the graph: it is cut off or damaged")
        return self._tokens[self._next]

    def _word(self) -> str:
        """The next token where it is a word without quotes, such as 'graph'."""
        token = self._token()
        return token.text if token.kind == "word" else ""

    def _found(self, mark: str) -> bool:
        """Whether the next token is this mark, which is then passed."""
        token = self._token()
        found = token.kind == "mark" and token.text == mark
        self._next += found
        return found

    def _take(self, mark: str) -> None:
        if not self._found(mark):
            raise self._error(f"{mark} should stand here, not {shorten(self._token().text)}")

    def _is_id(self) -> bool:
        return self._token().kind != "mark"

    def _id(self) -> str:
        """A word or a quoted text, or several of these joined by +."""
        token = self._token()
        if token.kind == "mark":
            raise self._error(f"a name should stand here, not {shorten(token.text)}")
        self._next += 1
        text = token.text
        while token.kind == "quoted" and self._found("+"):
            text += self._id()
        return text

    # Statements

    def _statement(self, graph: _Graph) -> None:
        start = self._token()
        word = self._word().lower()
        if word == "subgraph" or (start.kind == "mark" and start.text == "{"):
            raise self._error(f"subgraphs can't be read: {_WAY}")
        if word in ("graph", "node", "edge"):
            self._next += 1
            graph.attributes.update(self._attributes()) if word == "graph" else graph.defaults[word].update(
                self._attributes()
            )
            return
        first = self._id()
        if self._found("="):
            graph.attributes[first] = self._id()
            return
        chain = [self._node(graph, first, start.at)]
        while self._connects(graph):
            chain.append(self._node(graph, self._id(), start.at))
        attributes = self._attributes()
        if len(chain) == 1:
            graph.nodes[first].update(attributes)
            return
        for u, v in pairwise(chain):
            graph.edges.append((u, v))
            graph.records.append({**graph.defaults["edge"], **attributes})
            graph.lines.append(self._line(start.at))

    def _connects(self, graph: _Graph) -> bool:
        """Whether an edge operator of the right kind follows, which is then passed; ports are refused."""
        if self._found(":"):
            raise self._error(f"ports of nodes can't be read: {_WAY}")
        right, wrong = ("->", "--") if graph.directed else ("--", "->")
        if self._found(wrong):
            kind = "digraph" if graph.directed else "graph"
            raise self._error(f"edges of a {kind} are written {right}, not {wrong}: mixed graphs can't be read")
        if not self._found(right):
            return False
        if self._word().lower() == "subgraph" or (self._token().kind == "mark" and self._token().text == "{"):
            raise self._error(f"subgraphs can't be read: {_WAY}")
        return True

    def _node(self, graph: _Graph, name: str, at: int) -> str:
        if name not in graph.nodes:
            # Graphviz writes label="\\N" for labels that are the node's own name.
            graph.nodes[name] = {key: text for key, text in graph.defaults["node"].items() if text != "\\N"}
            graph.node_lines.append(self._line(at))
        return name

    def _attributes(self) -> dict[str, str]:
        """Attributes in brackets, of which there can be several or none."""
        record: dict[str, str] = {}
        while self._found("["):
            while not self._found("]"):
                key = self._id()
                record[key] = self._id() if self._found("=") else "true"
                _ = self._found(",") or self._found(";")
        return record
