"""XML read element by element, behind defusedxml, and text made fit for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.saxutils import escape, quoteattr

from graphpri.errors import FileError, setting
from graphpri.graph import IntArray
from graphpri.io.columns import ends_by_id
from graphpri.io.rows import ANY_NUMBER, shorten
from graphpri.io.source import InputStream

REFUSED = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML can't hold."""

ROOTS = {"graphml": "graphml", "gexf": "gexf"}
"""Formats by the name of their outermost element."""

TRUTH = {"true": True, "1": True, "false": False, "0": False}
"""What XML writes for true and false."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_ESCAPES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
_INT64 = range(-(2**63), 2**63)


def read_truth(text: str) -> bool:
    """A truth value; a KeyError for any other text."""
    return TRUTH[text.strip().lower()]


def read_integer(text: str) -> int:
    """An integer; a ValueError for any other text."""
    return int(_matching(text, _INTEGER))


def read_float(text: str) -> float:
    """A number; a ValueError for any other text."""
    return float(_matching(text, ANY_NUMBER))


def _matching(text: str, pattern: re.Pattern[str]) -> str:
    if not pattern.fullmatch(bare := text.strip()):
        raise ValueError(f"{text!r} is no number")
    return bare


class Elements(ContentHandler):
    """Calls a method ``_start_TAG`` and ``_end_TAG`` for each element that it knows, and collects text where told.

    Parameters
    ----------
    source : InputStream
        Named in errors.
    line : callable
        Gives the line where the parser is.
    """

    root = ""
    """Name of the outermost element."""

    def __init__(self, source: InputStream, line: Callable[[], int]) -> None:
        super().__init__()
        self.source = source
        self.line = line
        self.text: list[str] | None = None
        self.ends: list[Callable[[], None] | None] = []

    def knows(self, uri: str) -> bool:
        """Whether elements of a namespace belong to the format."""
        raise NotImplementedError

    def error(self, message: str) -> FileError:
        """Make an error that names the line where the parser is."""
        return self.source.error(message, self.line())

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:
        """Handle an opening tag; those of other namespaces, and all inside a text, are passed over."""
        uri, tag = cast("tuple[str | None, str]", name)
        known = self.text is None and (not uri or self.knows(uri))
        if not self.ends and not (known and tag == self.root):
            other = f": pass {setting('format', ROOTS[tag])}" if tag in ROOTS else ""
            raise self.error(f"the file is XML, but its root is <{tag}>, not <{self.root}>{other}")
        start = getattr(self, f"_start_{tag}", None) if known else None
        self.ends.append(getattr(self, f"_end_{tag}", None) if known else None)
        if start is not None:
            start({key[1]: value for key, value in attrs.items()})

    def endElementNS(self, name: Any, qname: Any) -> None:
        """Handle a closing tag."""
        end = self.ends.pop()
        if end is not None:
            end()

    def characters(self, content: str) -> None:
        """Collect the text of a value."""
        if self.text is not None:
            self.text.append(content)


@dataclass(slots=True)
class Item:
    """A graph, node or edge: the line where it begins, its XML attributes and its data.

    `drawn` is the label drawn on it, and `look` what it looks like, where the format says so.
    """

    kind: str
    line: int
    xml: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)
    drawn: str | None = None
    look: dict[str, Any] = field(default_factory=dict)


class GraphElements(Elements):
    """Collects the nodes and edges of one graph while the parser runs; `owners` are those that it stands in."""

    types: Mapping[str, Callable[[str], Any]] = {}
    """How values of each declared type are read; those of other types are text."""

    def __init__(self, source: InputStream, line: Callable[[], int]) -> None:
        super().__init__(source, line)
        self.nodes: list[Item] = []
        self.edges: list[Item] = []
        self.owners: list[Item] = []

    def begin(self, kind: str, xml: dict[str, str], *needed: str) -> Item:
        """Enter an element that has data; those XML attributes that are `needed` must be there."""
        for key in needed:
            if key not in xml:
                raise self.error(f"the <{kind}> has no {key}")
        self.owners.append(Item(kind, self.line(), xml))
        return self.owners[-1]

    def typed(self, text: str, kind: str, name: str | None) -> Any:
        """A value of a declared type, of the attribute `name`."""
        try:
            return self.types.get(kind, str)(text)
        except (ValueError, KeyError):
            raise self.error(f"{shorten(text)} is not a value of the type {kind!r} ({name!r})") from None


class ElementEnds(NamedTuple):
    """Ids and lines of the nodes, lines of the edges, and source and target of each edge by position."""

    ids: list[str]
    lines: list[int]
    edge_lines: list[int]
    source: IntArray
    target: IntArray


def find_ends(source: InputStream, nodes: Sequence[Item], edges: Sequence[Item]) -> ElementEnds:
    """Look the ends of edges up among the nodes; ids that are missing or not unique are refused."""
    ids, lines = [node.xml["id"] for node in nodes], [node.line for node in nodes]
    pairs, edge_lines = [(edge.xml["source"], edge.xml["target"]) for edge in edges], [edge.line for edge in edges]
    return ElementEnds(ids, lines, edge_lines, *ends_by_id(source, ids, lines, pairs, edge_lines))


Handler = TypeVar("Handler", bound=Elements)


def parse_xml(source: InputStream, make: Callable[[InputStream, Callable[[], int]], Handler]) -> Handler:
    """Run a handler over a file.

    Raises
    ------
    FileError
        Names the line, for XML that is broken, and for entities and references to other files.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.expatreader import DefusedExpatParser

    parser: Any = DefusedExpatParser(namespaceHandling=1)
    handler = make(source, parser.getLineNumber)
    parser.setContentHandler(handler)
    empty = True
    try:
        for chunk in source.chunks():
            empty = False
            parser.feed(chunk)
        if empty:
            raise source.error("the file is empty")
        parser.close()
    except SAXParseException as error:
        raise source.error(
            f"broken XML ({error.getMessage()}): it is cut off or damaged", parser.getLineNumber()
        ) from None
    except DefusedXmlException:
        raise source.error(
            "the XML declares entities or refers to other files, which can be an attack and is refused: "
            "take out its DOCTYPE",
            parser.getLineNumber(),
        ) from None
    return handler


def quoted(text: str) -> str:
    """Text as the value of an XML attribute, with its quotes."""
    return quoteattr(text, _ESCAPES)


def value_text(value: Any) -> str:
    """A truth value, a number or text as XML writes it, not yet escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    return value if isinstance(value, str) else repr(value).replace("nan", "NaN")


def content(text: str) -> str:
    """Text as the content of an element."""
    return escape(text, {"\r": "&#13;"})


def check_labels(labels: list[str], name: str) -> None:
    """Refuse a node label with a character that XML can't hold, with a FileError."""
    for label in labels:
        if found := REFUSED.search(label):
            raise FileError(f"{name}: XML can't hold the character {found[0]!r} of the node label {label!r}: write npz")


def xml_kind(values: list[Any]) -> str | None:
    """The type, boolean, long, double or string, that holds all values; None where no type does."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int} and all(value is None or value in _INT64 for value in values):
        return "long"
    if kinds and kinds <= {int, float} and all(value is None or _is_double(value) for value in values):
        return "double"
    if kinds <= {str} and not any(REFUSED.search(value) for value in values if value):
        return "string"
    return None


def _is_double(value: float) -> bool:
    """Whether a number is a float, or an integer that a float holds."""
    return isinstance(value, float) or (abs(value) <= 2**53)
