"""Files whose name does not say what they hold, files that begin with their size, and formats that are not read."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from graphpri import io as gio
from graphpri.errors import FileError, OptionError
from graphpri.graph import EdgeTable

PATH = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), ["a", "b", "c"], edge_attributes={"weight": np.array([2, 5])})
TOLD = [known.name for known in gio.FORMATS]


def content(name: str, zipped: str = "") -> bytes:
    stream = io.BytesIO()
    gio.write(PATH, stream, name + zipped)
    return stream.getvalue()


def edges_of(t: EdgeTable) -> list[tuple[int, int]]:
    return sorted(zip(np.minimum(t.source, t.target).tolist(), np.maximum(t.source, t.target).tolist(), strict=True))


def values_of(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


# By content


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_the_content_says_the_format_where_no_name_does(
    name: str, zipped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    data = content(name, zipped)
    expected = gio.read(io.BytesIO(data), name)
    (tmp_path / "out.graph-of-ours").write_bytes(data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    for place in (io.BytesIO(data), "-", tmp_path / "out.graph-of-ours"):
        t = gio.read(place)
        assert edges_of(t) == edges_of(expected) == [(0, 1), (1, 2)]
        assert values_of(t.edge_attributes["weight"]) == [2, 5]
        assert [t.label(i) for i in range(3)] == [expected.label(i) for i in range(3)]


def test_a_pipe_is_read_by_its_content() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as w:
        w.write(content("graphml"))
    with os.fdopen(reader, "rb") as r:
        assert gio.read(r).labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("text", "labels", "n_edges"),
    [
        ("% asym unweighted\n% 3 2 2\n1 2\n2 3\n3 1\n", [1, 2, 3], 3),
        ("# SNAP\n# FromNodeId\tToNodeId\n5\t7\n7\t9\n", [5, 7, 9], 2),
        ("source;target;weight\na;b;1,5\n".replace("1,5", "1.5"), ["a", "b"], 1),
        ("EGFR activates RAS\nRAS activates RAF\n", ["EGFR", "RAS", "RAF"], 2),
        (
            'Creator "x"\nVersion 1\ngraph\n[\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]\n',
            [1, 2],
            1,
        ),
        ("%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", [0, 1], 1),
        ("/* made by hand */\ngraph G{a--b}", ["a", "b"], 1),
        ("a title\n*vertices 2\n*edges\n1 2\n", [1, 2], 1),
        ("0 1.5 0\n1.5 0 2\n0 2 0\n", [0, 1, 2], 2),
        ("\ufeffu,v\nx,y\n", ["x", "y"], 1),
        (
            "<!-- by hand -->\n<g:graphml xmlns:g='http://graphml.graphdrawing.org/xmlns'><g:graph>"
            "<g:node id='x'/></g:graph></g:graphml>",
            ["x"],
            0,
        ),
    ],
)
def test_texts_of_other_programs_are_told_by_their_first_lines(text: str, labels: list[Any], n_edges: int) -> None:
    t = gio.read(io.BytesIO(text.encode()))
    assert ([t.label(i) for i in range(t.n_nodes)], t.source.size) == (labels, n_edges)


def test_files_of_konect_are_read_under_their_own_name(tmp_path: Path) -> None:
    path = tmp_path / "out.moreno_made"
    path.write_text("% sym weighted\n% 4 3 3\n1 2 3 1082040961\n2 3 1 1082155839\n3 1 2 1082414391\n1 3 4 1082439619\n")
    spaced = gio.read(path)
    path.write_text(path.read_text().replace(" 10", "\t10"))
    t = gio.read(path)
    assert edges_of(t) == edges_of(spaced)
    assert (t.n_nodes, t.source.size) == (3, 4)
    assert values_of(t.edge_attributes["weight"]) == [3, 1, 2, 4]
    assert values_of(t.edge_attributes["timestamp"])[0] == 1082040961


@pytest.mark.parametrize(
    ("name", "format_"), [("g.txt", "graphml"), ("g.txt", "pajek"), ("g.xml", "gexf"), ("g.txt", "json")]
)
def test_suffixes_that_say_little_give_way_to_the_content(name: str, format_: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content(format_))
    assert gio.read(tmp_path / name).labels == ("a", "b", "c")


def test_options_of_edge_lists_speak_for_one() -> None:
    assert gio.read(io.BytesIO(b"a|b\n"), delimiter="|").labels == ["a", "b"]
    with pytest.raises(OptionError, match="header=True has no meaning for the format 'gml'"):
        gio.read(io.BytesIO(content("gml")), header=True)


@pytest.mark.parametrize("data", [b"", b" \n\n"])
def test_nothing_is_said_to_be_empty(data: bytes) -> None:
    with pytest.raises(FileError, match="the file is empty"):
        gio.read(io.BytesIO(data))


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"PK\x03\x04word/document.xml\0"])
def test_other_content_is_refused_by_what_it_is(data: bytes) -> None:
    with pytest.raises(FileError, match=r"picture|zip archive"):
        gio.read(io.BytesIO(data))


def test_prose_is_refused_with_all_formats() -> None:
    with pytest.raises(OptionError, match=r"neither its name nor its first lines .* pass format=, .*gexf \(\.gexf\)"):
        gio.read(io.BytesIO(b"Dear all,\nthis is no graph.\nYours\n"))


@pytest.mark.parametrize(
    ("name", "text", "way"),
    [
        ("air.tlp", '(tlp "2.3"\n(nodes 0..3)\n)', "export GML or GEXF from Tulip"),
        ("x", '(tlp "2.3"\n(nodes 0..3)\n)', "export GML or GEXF from Tulip"),
        ("air.gdf", "nodedef>name VARCHAR\na\nedgedef>node1,node2\n", "open it in Gephi"),
        ("ties.dl", "dl n = 4 format = fullmatrix\ndata:\n0 1\n", "UCINET"),
        ("x", "DL n=4 format = edgelist1\ndata:\n1 2\n", "UCINET"),
        ("g.lgr", "LEDA.GRAPH\nstring\nint\n-1\n", r"networkx\.read_leda"),
        ("g.col", "c made\np edge 3 2\ne 1 2\ne 2 3\n", r"Read_DIMACS"),
        ("g.g6", "DqK\n", r"networkx\.read_graph6"),
        ("n.cx", "[]", "Cytoscape"),
        ("g.gpickle", "x", "load it in Python"),
        ("g.lgl", "# a\nb 1\n# b\nc 2\n", r"Read_Lgl"),
        ("g.txt", "# a\nb 1\nc 2.5\n# b\nc\n", r"Read_Lgl"),
        ("g.csv", "nodedef>name VARCHAR\na\nedgedef>node1,node2\n", "open it in Gephi"),
        ("g.csv", "<!DOCTYPE html><html><body>404</body></html>\n", "fetch the file itself"),
        ("x", "<svg xmlns='http://www.w3.org/2000/svg'></svg>\n", "open it in Gephi"),
        ("x", '<?xml version="1.0"?><graph label="x" xmlns="http://www.cs.rpi.edu/XGMML"/>', "Cytoscape"),
        ("g.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "git lfs pull"),
        ("g.edges", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "git lfs pull"),
        ("x", "<http://a> <http://b> <http://c> .\n", "as CSV"),
        ("g.jsonl", '{"source": 1, "target": 2}\n', r"lines=True"),
    ],
)
def test_formats_that_are_not_read_name_the_way_out(name: str, text: str, way: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=f"which is not read: .*{way}"):
        gio.read(tmp_path / name)


def test_a_format_by_name_that_is_not_read_names_the_way_out() -> None:
    with pytest.raises(OptionError, match="format='gdf': it is GUESS's format, which is not read: open it in Gephi"):
        gio.read("x.csv", "gdf")


# Edge lists that begin with their size


def sized(tmp_path: Path, text: str, name: str = "net.edges") -> EdgeTable:
    (tmp_path / name).write_text(text)
    return gio.read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "n_nodes", "n_edges"),
    [
        ("4 4 5\n1 2\n1 3\n2 3\n3 4\n4 1\n", 4, 5),
        ("% sym\n\n4 4 3\n1 2 0.5\n2 3 1.5\n\n3 4 2\n\n", 4, 3),
        ("4 4 3\n1,2\n2,3\n3,4\n".replace("4 4 3", "4,4,3"), 4, 3),
        ("3 5\n1 2 7\n1 3 7\n2 3 7\n3 2 1\n2 1 9\n", 3, 5),
        ("4 6\n1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n", 4, 6),
    ],
)
def test_a_size_on_the_first_line_is_no_edge(text: str, n_nodes: int, n_edges: int, tmp_path: Path) -> None:
    t = sized(tmp_path, text)
    assert (t.n_nodes, t.source.size) == (n_nodes, n_edges)
    assert "is the size of the graph and no edge" in t.notes[0]
    assert t.row_name
    above = next(i for i, line in enumerate(text.split("\n"), 1) if line and line[0] in "1234")
    assert t.row_name(0) == f"{tmp_path / 'net.edges'}, line {above + 1}"


def test_a_first_line_of_any_edge_list_that_counts_the_others_is_refused(tmp_path: Path) -> None:
    wheel = [(1, i) for i in range(2, 6)] + [(2, 3), (3, 4), (4, 5), (5, 2)]
    text = "".join(f"{u} {v}\n" for u, v in wheel)
    for name, size in (("g.txt", "5 8"), ("g.csv", "5,8"), ("g.txt", "6 8")):
        (tmp_path / name).write_text(f"{size}\n" + text.replace(" ", size[1]))
        with pytest.raises(FileError, match=r"line 1: '. 8' may be the size of the graph, . nodes and 8 edges"):
            gio.read(tmp_path / name)
        assert gio.read(tmp_path / name, header=False).source.size == 9
    for first in ("9 8", "5 7", "1 8"):
        (tmp_path / "g.txt").write_text(f"{first}\n{text}")
        assert gio.read(tmp_path / "g.txt").source.size == 9


def test_lists_of_neighbours_are_told_from_edge_lists() -> None:
    graph = nx.karate_club_graph()
    out = io.BytesIO()
    nx.write_adjlist(nx.path_graph(6), out)
    assert edges_of(gio.read(io.BytesIO(out.getvalue()))) == [(i, i + 1) for i in range(5)]
    assert edges_of(gio.read(io.BytesIO(out.getvalue().partition(b"# \n")[2]))) == [(i, i + 1) for i in range(5)]
    written = io.BytesIO()
    gio.write(graph, written, "metis")
    assert edges_of(gio.read(io.BytesIO(written.getvalue()))) == sorted(graph.edges)
    for text in ("1 2\n2 1 1\n", "3 2\n2 1\n3\n", "4 3\n2\n1 3\n2 4\n"):
        with pytest.raises((FileError, OptionError)):
            gio.read(io.StringIO(text))
    nx.write_multiline_adjlist(graph, out := io.BytesIO())
    with pytest.raises(FileError, match=r"a dict stands here.*read_multiline_adjlist"):
        gio.read(io.BytesIO(out.getvalue()))
    with pytest.raises(FileError, match=r'lists the neighbours of a node, pass format="adjlist" or "metis"'):
        gio.read(io.StringIO("a b c\nb c\n"), "edgelist")


def test_texts_of_interactions_are_read_whatever_their_name(tmp_path: Path) -> None:
    (tmp_path / "ties.txt").write_text("a\tpp\tb\nb\tpp\tc\nc\tpd\ta\n")
    assert gio.read(tmp_path / "ties.txt").edge_attributes["interaction"] == ["pp", "pp", "pd"]


def test_nodes_that_a_size_counts_and_no_edge_has_are_said(tmp_path: Path) -> None:
    assert sized(tmp_path, "9 9 2\n1 2\n2 3\n").notes[1] == "6 of 9 nodes have no edge and are not in the file"


@pytest.mark.parametrize(
    "text", ["1 2\n2 3\n", "5 2\n1 2\n1 3\n".replace("5 2", "5 4"), "2 2 1\n1 3 1\n3 4 1\n", "3 9\n1 2\n2 3\n3 1\n"]
)
def test_a_first_edge_is_an_edge(text: str, tmp_path: Path) -> None:
    t = sized(tmp_path, text)
    assert (t.source.size, t.notes) == (text.count("\n"), ())


def test_two_numbers_that_may_be_an_edge_are_refused_and_the_option_settles_it(tmp_path: Path) -> None:
    text = "3 2\n1 2\n1 3\n"
    with pytest.raises(FileError, match=r"line 1: '3 2' may be the size .* put '# ' before it .* header=False"):
        sized(tmp_path, text)
    assert gio.read(tmp_path / "net.edges", header=False).source.size == 3
    assert sized(tmp_path, text, "net.txt").source.size == 3
    assert sized(tmp_path, "# " + text).source.size == 2


def test_sizes_of_rectangular_matrices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"line 1: '5 3 2' is the size of a matrix of 5 rows and 3 columns"):
        sized(tmp_path, "5 3 2\n1 2\n5 3\n")


def test_large_edge_lists_are_not_taken_for_sized(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 1000, (400_000, 2))
    (tmp_path / "large.edges").write_bytes(b"12 999\n" + "\n".join(f"{u} {v}" for u, v in rows.tolist()).encode())
    assert gio.read(tmp_path / "large.edges").source.size == 400_001
