"""What a file holds, by its first lines, where its name does not tell; and ways out of formats that are not read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from graphpri.graph import find_ends
from graphpri.io.rows import NUMBER, WORD
from graphpri.io.xmltext import ROOTS

_SAMPLE = 100
_PROLOG = re.compile(r"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\])?[^>]*>\s*)*", re.DOTALL)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")
_REMARKS = re.compile(r"(?:[ \t]*(?:[#%][^\n]*|//[^\n]*|/\*.*?\*/[ \t]*)?\n)*\s*", re.DOTALL)
_SIGNS = (
    ("mtx", re.compile(r"%%?MatrixMarket\b", re.IGNORECASE)),
    ("pajek", re.compile(r"(?:[^\n*]*\n){0,20}[ \t]*\*(?:vertices|network)\b", re.IGNORECASE)),
    ("json", re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"0-9])")),
    ("dot", re.compile(r"(?:strict\s+)?(?:di)?graph\b\s*(?:\"[^\"]*\"|[\w.-]*)\s*\{", re.IGNORECASE)),
    ("gml", re.compile(r"(?:\s*[A-Za-z]\w*\s+(?:\"[^\"]*\"|[-+.\w]+)\s)*\s*graph\s*\[", re.IGNORECASE)),
)
_EDITOR = "open it in Gephi and export GEXF or GraphML"
_FOREIGN = (
    ("Tulip's format", (".tlp", ".tlpb"), r"\(tlp\b", "export GML or GEXF from Tulip"),
    ("GUESS's format", (".gdf",), r"nodedef\s*>", _EDITOR),
    ("UCINET's DL", (".dl",), r"dl\s+(?:n|nr|nm|format)\b", f"export Pajek from UCINET, or {_EDITOR}"),
    ("NetDraw's format", (".vna",), r"\*node data\b", _EDITOR),
    ("LEDA's format", (".lgr", ".leda"), r"LEDA\.GRAPH", "read it by networkx.read_leda and write GraphML"),
    ("graph6", (".g6", ".graph6"), r">>graph6<<", "read it by networkx.read_graph6"),
    ("sparse6", (".s6", ".sparse6"), r">>sparse6<<", "read it by networkx.read_sparse6"),
    (
        "DIMACS",
        (".dimacs", ".col", ".gr"),
        r"(?:c\b[^\n]*\n)*p (?:edge|col|sp|max)\b",
        "read it by igraph.Graph.Read_DIMACS",
    ),
    ("LGL", (".lgl",), None, "read it by igraph.Graph.Read_Lgl"),
    ("XGMML", (".xgmml",), None, "open it in Cytoscape and export SIF or GraphML"),
    ("Cytoscape's JSON", (".cyjs", ".cx", ".cx2"), None, "open it in Cytoscape and export SIF or GraphML"),
    ("zipped GraphML", (".graphmlz",), None, "unzip it by: gunzip -S .graphmlz FILE"),
    ("a pickle", (".pkl", ".pickle", ".gpickle"), None, "load it in Python and pass the graph itself"),
    ("a table of a spreadsheet", (".xlsx", ".xls", ".ods"), None, "save it as CSV"),
)


def detect(head: str) -> str | None:
    """Name of the format whose signature a text begins with; None for rows of cells, and for what is none we know.

    Examples
    --------
    >>> detect('<?xml version="1.0"?><gexf version="1.2">'), detect("strict graph { a -- b }"), detect("a,b")
    ('gexf', 'dot', None)
    """
    text = head.removeprefix("\ufeff")
    if text.lstrip().startswith("<"):
        found = _ROOT.match(text, _end(_PROLOG, text))
        return ROOTS.get(found[1].lower()) if found else None
    body = text[_end(_REMARKS, text) :]
    return next((name for name, sign in _SIGNS if sign.match(text if name == "mtx" else body)), None)


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def detect_rows(head: str) -> str | None:
    r"""Name of the format of lines of cells: an edge list, or interactions; None where they are neither.

    Examples
    --------
    >>> detect_rows("% sym\n1 2\n2 3\n"), detect_rows("TP53 binds MDM2\nMDM2 binds RB1\n"), detect_rows("hello\n")
    ('edgelist', 'sif', None)
    """
    lines = [line for line in head.splitlines() if line.strip() and line.strip()[0] not in "#%"][:_SAMPLE]
    if not lines:
        return "edgelist" if head.strip() else None
    for mark in (None, *"\t,;"):
        rows = [WORD.findall(line) if mark is None else line.split(mark) for line in lines]
        width, n = Counter(map(len, rows)).most_common(1)[0]
        if width > 1 and 2 * n > len(rows):
            return "sif" if width == 3 and _are_interactions(rows) else "edgelist"
    return None


def _are_interactions(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows of three words name two nodes and in their midst a kind of edge."""
    if any(len(row) != 3 for row in rows) or find_ends(rows[0]):
        return False
    first, kinds, last = (set(column) for column in zip(*rows, strict=True))
    words = not any(NUMBER.fullmatch(cell) for cell in kinds | last)
    return words and (bool(first & last) or 2 * len(kinds) <= len(rows)) and not kinds & (first | last)


def way_out(name: str, head: str = "") -> str:
    """What to do about a format that is known and not read, by the file's name or its first lines; else empty.

    Examples
    --------
    >>> way_out("air.tlp")
    "it is Tulip's format, which is not read: export GML or GEXF from Tulip"
    """
    plain = name.lower().removesuffix(".gz")
    for what, suffixes, sign, way in _FOREIGN:
        if plain.endswith(suffixes) or (sign and re.match(sign, head.lstrip("\ufeff \n"), re.IGNORECASE)):
            return f"it is {what}, which is not read: {way}"
    return ""
