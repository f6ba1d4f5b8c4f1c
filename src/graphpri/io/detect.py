"""What a file holds, by its first lines, where its name does not tell; and ways out of formats that are not read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from graphpri.graph import find_ends
from graphpri.io.rows import NUMBER, WORD
from graphpri.io.xmltext import ROOTS

_SAMPLE = 100
_WIDTHS = 3  # of edge lists, whose rows should all be as wide as the first
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
_LGL = "read it by igraph.Graph.Read_Lgl"
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
    ("LGL", (".lgl",), None, _LGL),
    (
        "RDF",
        (".nt", ".ttl", ".rdf"),
        r"(?:@prefix|<[^<>\s]+>\s+<[^<>\s]+>\s+[<\"_])",
        "query it for pairs of nodes as CSV",
    ),
    (
        "a web page",
        (".html", ".htm"),
        r"<!doctype html|<(?:html|head|body)\b",
        "the address leads to a page about the file; fetch the file itself",
    ),
    ("a pointer of Git LFS", (), r"version https://git-lfs", "fetch the file itself, by: git lfs pull"),
    (
        "XGMML",
        (".xgmml",),
        r"(?:<\?xml[^>]*>\s*)?<graph\b[^>]*\bXGMML",
        "open it in Cytoscape and export SIF or GraphML",
    ),
    ("Cytoscape's JSON", (".cyjs", ".cx", ".cx2"), None, "open it in Cytoscape and export SIF or GraphML"),
    ("XML of another kind", (), r"<(?:\?xml\b|!DOCTYPE\b|[a-z][\w:.-]*\s+[\w:.-]+\s*=\s*[\"'])", _EDITOR),
    ("JSON lines", (".jsonl", ".ndjson"), None, "read it by pandas.read_json(…, lines=True) and pass the frame"),
    ("HDF5", (".h5", ".hdf5"), None, "load its matrix by h5py and pass it, or write it as .npy"),
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


def detect_lists(head: str, *, whole: bool) -> str | None:
    r"""Name of the format of lines that list the neighbours of a node, by their numbers or labels; else None.

    METIS is told by numbers that all fit: as many lines as the first one says, neighbours that name each other.
    Adjacency lists have the date in a comment, as networkx writes them, or a line for every node that is named.

    Parameters
    ----------
    head : str
    whole : bool
        Whether nothing follows.

    Examples
    --------
    >>> detect_lists("3 2\n2\n1 3\n2\n", whole=True), detect_lists("a b c\nb c\nc\n", whole=True)
    ('metis', 'adjlist')
    """
    lines = head.split("\n")[: None if whole else -1]
    if any(re.match(r"# GMT \w{3} \w{3} ", line) for line in lines[:5]):
        return "adjlist"
    rows = [WORD.findall(line) for line in lines if line.strip()[:1] != "%"]
    return "metis" if _is_metis(rows, whole=whole) else "adjlist" if _are_adjacencies(lines, whole=whole) else None


def _is_metis(rows: Sequence[Sequence[str]], *, whole: bool) -> bool:
    if not rows or len(rows[0]) not in (2, 3) or any(not re.fullmatch(r"[0-9]{1,9}", x) for row in rows for x in row):
        return False
    n, m, form = int(rows[0][0]), int(rows[0][1]), int((*rows[0], "0")[2])
    near = [list(map(int, row[:: 1 + form])) for row in rows[1 : n + 1]]
    if form not in (0, 1) or n < 2 or (whole and len(near) < n) or any(rows[n + 1 :]):
        return False
    if any(not 0 < j <= n for row in near for j in row) or (whole and sum(map(len, near)) != 2 * m):
        return False
    pairs = {(i, j) for i, row in enumerate(near, 1) for j in row if j <= len(near)}
    return bool(pairs) and all((j, i) in pairs for i, j in pairs)


def _are_adjacencies(lines: Sequence[str], *, whole: bool) -> bool:
    rows = [row for line in lines if (row := WORD.findall(line)) and row[0][0] not in "#%"]
    first = {row[0] for row in rows}
    if len(rows) < 2 or len(first) < len(rows) or any(cell[0] in '{"' for row in rows for cell in row):
        return False
    widths = set(map(len, rows))
    if not whole:
        return len(widths) > _WIDTHS
    return (
        len(widths) > 1
        and (min(widths) == 1 or max(widths) > _WIDTHS)
        and all(cell in first for row in rows for cell in row)
    )


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
    return f"it is LGL, which is not read: {_LGL}" if _is_lgl(head) else ""


def _is_lgl(head: str) -> bool:
    """Whether lines of ``# node`` stand above lines of its neighbours, each perhaps with a weight."""
    lines = [line.split() for line in head.splitlines()[:_SAMPLE] if line.strip()]
    nodes = [cells[1] for cells in lines if cells[0] == "#" and len(cells) == 2]
    rows = [cells for cells in lines if cells[0][0] != "#"]
    return (
        len(nodes) > 1
        and len(nodes) + len(rows) == len(lines)
        and lines[0][0] == "#"
        and all(len(row) == 1 or (len(row) == 2 and NUMBER.fullmatch(row[1])) for row in rows)
        and not {row[0] for row in rows}.isdisjoint(nodes)
    )
