"""Edge lists: delimiters, headers, comments, labels, columns, and errors that name the line."""

from __future__ import annotations

import io
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpri import io as gio
from graphpri.errors import FileError, GraphError, OptionError
from graphpri.graph import EdgeTable
from graphpri.io import delimited, gml
from graphpri.io.rows import ANY_NUMBER, INTEGER, NUMBER, parse_integers, split_rows
from graphpri.io.source import InputStream

DATA = os.environ.get("GRAPHPRI_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="set GRAPHPRI_DATA to the folder of data sets")


def read(text: str, name: str = "csv", **options: Any) -> EdgeTable:
    return gio.read(io.BytesIO(text.encode()), name, **options)


def rows(t: EdgeTable) -> list[tuple[Any, Any]]:
    return [(t.label(u), t.label(v)) for u, v in zip(t.source.tolist(), t.target.tolist(), strict=True)]


def column(t: EdgeTable, name: str = "weight") -> list[Any]:
    values = t.edge_attributes[name]
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def where(t: EdgeTable, row: int) -> str:
    assert t.row_name
    return t.row_name(row)


# Delimiters


@pytest.mark.parametrize("name", ["csv", "tsv", "edgelist", "ncol"])
@pytest.mark.parametrize("mark", [",", "\t", ";", " ", "   ", " \t ", ", ", " ;  "])
def test_delimiter_is_found_out(name: str, mark: str) -> None:
    t = read(f"a{mark}b{mark}1\nb{mark}c{mark}2.5\n", name)
    assert rows(t) == [("a", "b"), ("b", "c")]
    assert column(t) == [1.0, 2.5]


def test_aligned_columns_are_split_at_runs_of_spaces() -> None:
    t = read("   1    10  \n  20     3\n\n   1\t\t20 \n", "edgelist")
    assert rows(t) == [(1, 10), (20, 3), (1, 20)]


def test_spaces_stay_inside_cells_and_go_around_them() -> None:
    assert rows(read(" New York ,Los Angeles\nParis,  New York\n")) == [
        ("New York", "Los Angeles"),
        ("Paris", "New York"),
    ]
    assert rows(read("Smith, J\tDoe, A\n", "tsv")) == [("Smith, J", "Doe, A")]


def test_decimal_comma_is_not_a_delimiter_where_a_header_tells() -> None:
    t = read("source;target;note\na;b;0,5\nb;c;1,5\n")
    assert column(t, "note") == ["0,5", "1,5"]


def test_ambiguous_delimiter_is_refused_with_the_remedy() -> None:
    with pytest.raises(FileError, match=r"line 1: can't tell which of ',', ';' delimits.*pass delimiter="):
        read("a;b,c;d\nb;c,d;e\n")
    for options in ({}, {"delimiter": "semicolon"}):
        with pytest.raises(FileError, match=r"line 1: the weight '0,5' of the edge '1', '2' is not a number: .* 0.5"):
            read("1;2;0,5\n2;3;1,5\n", **options)


@pytest.mark.parametrize("name", ["|", ":", "comma", "tab", "semicolon", "space", ","])
def test_delimiter_can_be_named(name: str) -> None:
    mark = {"comma": ",", "tab": "\t", "semicolon": ";", "space": "  "}.get(name, name)
    assert rows(read(f"a{mark}b\n", delimiter=name)) == [("a", "b")]


@pytest.mark.parametrize("name", ["ab", "é", "", "1", "\n", '"', "#", "."])
def test_impossible_delimiter_is_refused(name: str) -> None:
    if name == "":
        assert rows(read("a,b\n", delimiter=None)) == [("a", "b")]
        return
    with pytest.raises(OptionError, match="delimiter="):
        read("a,b\n", delimiter=name)


def test_row_without_a_delimiter_is_refused() -> None:
    with pytest.raises(FileError, match=r"line 2: 'ab' is one cell, and an edge needs two"):
        read("# x\nab\ncd\n")


# Quotes


def test_quoted_cells_hold_delimiters_quotes_and_line_breaks() -> None:
    t = read('source,target,note\n"a, b","say ""hi""",x\n "c" , d ,"two\nlines"\ne,"d",""\n')
    assert rows(t) == [("a, b", 'say "hi"'), ("c", "d"), ("e", "d")]
    assert column(t, "note") == ["x", "two\nlines", ""]
    assert [where(t, i) for i in range(3)] == [f"the stream, line {i}" for i in (2, 3, 5)]


def test_empty_quoted_cell_is_text_and_empty_cell_is_missing() -> None:
    assert column(read('source,target,note\na,b,""\na,c,\na,d,x\n'), "note") == ["", None, "x"]
    assert column(read("source,target,note\na,c,\na,d,x\n"), "note") == [None, "x"]


def test_quoted_header_over_plain_rows_is_read() -> None:
    assert column(read('"source","target","the weight"\n1,2,3\n'), "the weight") == [3]


@pytest.mark.parametrize("text", ['a,b\n"c,d\ne,f\n', 'a,b\nx,"c"d\n'])
def test_unclosed_quote_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(FileError, match="line 2: a quote is opened and never closed"):
        read(text)


def test_quotes_mean_nothing_between_spaces() -> None:
    assert rows(read('"a b"\nc d\n', "edgelist")) == [('"a', 'b"'), ("c", "d")]


def test_quotes_of_r_stand_around_cells_between_spaces_too() -> None:
    t = read('"from" "to" "weight"\n"1" "New York" "b" 3\n"2" "b" "c" 4\n', "edgelist")
    assert rows(t) == [("New York", "b"), ("b", "c")]
    assert (column(t), column(t, "column1")) == ([3, 4], [1, 2])
    assert t.notes == ("the first column has no name, as R writes names of rows: it is called 'column1'",)
    assert rows(read('"a" "b c"\n"b c" "d"\n', "edgelist")) == [("a", "b c"), ("b c", "d")]
    with pytest.raises(FileError, match="the row has 3 cells, and the header names 2 columns"):
        read("source target\n1 2 5\n2 3 5\n", "edgelist")


# Headers


@pytest.mark.parametrize(
    "names",
    [
        *("source,target", "Target,SOURCE", "from,to", "u,v", "i,j", "src,dst", "node1,node2", "node_1,Node 2"),
        *("ego,alter", "start,end", "FromNodeId,ToNodeId", "source_id,target_id", '"from","to"'),
    ],
)
def test_known_names_are_a_header(names: str) -> None:
    t = read(f"{names},kind\na,b,x\n")
    assert rows(t) == ([("b", "a")] if names.startswith("Target") else [("a", "b")])
    assert column(t, "kind") == ["x"]


def test_columns_are_found_by_name_wherever_they_stand() -> None:
    t = read("id,weight,target,source\n7,0.5,b,a\n8,1.5,c,a\n")
    assert rows(t) == [("a", "b"), ("a", "c")]
    assert column(t) == [0.5, 1.5]
    assert column(t, "id") == [7, 8]


def test_header_can_be_forced_and_forbidden() -> None:
    assert rows(read("a,b\nc,d\n", header=True)) == [("c", "d")]
    assert rows(read("u,v\nc,d\n", header=False)) == [("u", "v"), ("c", "d")]
    assert column(read("x,y,kind\nc,d,e\n", header=True), "kind") == ["e"]


@pytest.mark.parametrize("text", ["0,1\n5,6\n6,7\n", "who,whom\na,b\nb,c\n", "0,1,2\n5,6,1\n6,7,1\n"])
def test_a_first_row_that_may_be_a_header_of_other_names_is_mentioned(text: str) -> None:
    first = ", ".join(map(repr, text.split("\n")[0].split(",")[:2]))
    t = read(text)
    assert t.source.size == 3
    assert t.notes == (f"the first row, {first}, is read as an edge: pass header=True if it names the columns",)
    assert read(text, header=False).notes == read(text, header=True).notes == ()
    assert read("a,b\nb,c\n").notes == read("7,8\n1,2\n2,3\n").notes == ()


def test_a_title_above_the_header_is_named() -> None:
    with pytest.raises(FileError, match="line 1: an end point of the edge is missing: if this is a title, take it out"):
        read("Edges of 2020,,\nsource,target,weight\na,b,1\n")


def test_unknown_header_over_integers_is_refused_and_not_an_edge() -> None:
    with pytest.raises(FileError, match=r"line 2: the row 'person', 'friend' looks like a header.*header=True"):
        read("\nperson,friend\n1,2\n2,3\n")
    assert rows(read("person,friend\n1,2\n", header=True)) == [(1, 2)]
    assert rows(read("person,friend\n1,2\n", header=False)) == [("person", "friend"), ("1", "2")]
    assert rows(read("a,b\n1,c\n")) == [("a", "b"), ("1", "c")]


@pytest.mark.parametrize("name", ["csv", "tsv", "edgelist"])
def test_comment_can_be_the_header(name: str) -> None:
    t = read("# made by hand\n# FromNodeId ToNodeId strength\n1 2 3\n2 3 4\n", name)
    assert column(t, "strength") == [3, 4]


def test_repeated_column_names_are_refused() -> None:
    with pytest.raises(FileError, match="line 1: two columns are called 'x'"):
        read("source,target,x,x\n1,2,3,4\n")


def test_header_alone_is_a_graph_without_edges() -> None:
    for text in ("source,target,weight\n", "# source target weight\n"):
        t = read(text)
        assert (t.n_nodes, t.source.size, list(t.edge_attributes)) == (0, 0, ["weight"])
        assert t.canonical().graph.n_edges == 0


def test_columns_without_a_header_have_fixed_names() -> None:
    t = read("a b 1 x 7\nb c 2 y 8\n", "edgelist")
    assert [(name, column(t, name)) for name in t.edge_attributes] == [
        ("weight", [1, 2]),
        ("column4", ["x", "y"]),
        ("column5", [7, 8]),
    ]


# Comments


def test_comments_and_blank_lines_are_left_out_and_counted() -> None:
    t = read("# SNAP\n\n# Nodes: 3 Edges: 2\n1\t2\n% more\n\n   # even\n2\t3\n", "edgelist")
    assert rows(t) == [(1, 2), (2, 3)]
    assert [where(t, i) for i in (0, 1)] == ["the stream, line 4", "the stream, line 8"]


@pytest.mark.parametrize("text", ["x,y\n#tag,y\n", "#a,#b\nx,y\n", 'x,"y"\n#tag,y\n', "x y\n#tag y\n"])
def test_comment_that_looks_like_an_edge_is_refused_with_the_remedy(text: str) -> None:
    number = 1 + text.startswith("x")
    with pytest.raises(FileError, match=rf"line {number}: .* may be a comment or an edge: pass comment=None"):
        read(text)
    assert read(text, comment=None).source.size == 2
    assert read(text, comment="#").source.size == 1


def test_only_comments_are_refused() -> None:
    with pytest.raises(FileError, match=r"only comments, no edges; if labels begin with #"):
        read("# a\n% b\n")


def test_other_comment_marks_can_be_named() -> None:
    assert rows(read("! a\n# b\n", "edgelist", comment="!")) == [("#", "b")]


@pytest.mark.parametrize(("kind", "directed"), [("sym", False), ("asym", True)])
def test_konect_says_direction_weight_and_time(kind: str, directed: bool) -> None:
    t = read(f"% {kind} positive\n% 2 3 3\n1 2 4 1082008561\n2 3 1 1082008562\n", "edgelist")
    assert t.directed is directed
    assert column(t) == [4, 1]
    assert column(t, "timestamp") == [1082008561, 1082008562]


def test_bipartite_konect_is_refused() -> None:
    with pytest.raises(FileError, match="line 1: a bipartite KONECT network"):
        read("% bip unweighted\n1 1\n1 2\n", "edgelist")


# Labels


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("0 1 2", None),
        ("5 3 -2", [-2, 3, 5]),
        ("007 7 8", ["007", "7", "8"]),
        ("+1 2 3", ["+1", "2", "3"]),
        ("-0 0 1", ["-0", "0", "1"]),
        ("1.0 2 3", ["1.0", "2", "3"]),
        ("b a c", ["b", "a", "c"]),
        ("1_0 2 3", ["1_0", "2", "3"]),
        ("٣ 2 3", ["٣", "2", "3"]),
        ("9223372036854775807 1 -9223372036854775807", [-9223372036854775807, 1, 9223372036854775807]),
        ("9223372036854775808 2 1", [1, 2, 9223372036854775808]),
        ("99999999999999999999999 -5 1", [-5, 1, 99999999999999999999999]),
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_labels_are_integers_only_in_canonical_form(words: str, labels: Any, quoted: bool) -> None:
    a, b, c = words.split()
    t = read(f'{a},{b}\n{b},"{c}"\n' if quoted else f"{a} {b}\n{b} {c}\n", "edgelist", header=False)
    kind = str if labels and isinstance(labels[0], str) else int
    assert rows(t) == [(kind(a), kind(b)), (kind(b), kind(c))]
    assert (None if t.labels is None else list(t.labels)) == labels


def test_integers_written_with_a_point_are_integers_and_said() -> None:
    for text in (
        "source,target\n1.0,2\n2.0,10\n",
        "1.0,2.0\n2.0,10.0\n10.0,3.0\n",
        "1.0e+00,2.0e+00\n2.0e+00,1.0e+01\n3.0e+00,1.0e+01\n",
    ):
        t = read(text)
        assert rows(t)[:2] == [(1, 2), (2, 10)]
        assert t.notes[0].endswith("are called 1, by the integers that they are")
    t = read("source,target\n0.5,2\n2,1.5\n")
    assert (t.labels, t.notes) == (["0.5", "2", "1.5"], ("nodes are called by decimals, such as 0.5",))
    t = read("1.0,2.0\n2.0,3.0\n3.0,1.0\n", "edgelist")
    assert (t.labels, t.notes) == (["1.0", "2.0", "3.0"], ())
    assert read("source,target\n1e5,2\n12e3,1\n").labels == ["1e5", "2", "12e3", "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 -> 2\n2 -> 3\n", "'->' stands between the two nodes of each row"),
        ("a -- b 3\nb -- c 4\n", "'--' stands between"),
        ("(1, 2)\n(2, 3)\n", r"each row stands in brackets, '\(1, 2\)'"),
        ("[a b],\n[b c]\n", "each row stands in brackets"),
        ("0\n1,0\n1,1,0\n", "a cell more, as the lower half of a matrix"),
    ],
)
def test_what_draws_edges_is_no_node(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(FileError, match=message):
        gio.read(tmp_path / "g.csv")


def test_one_word_makes_all_labels_text() -> None:
    assert rows(read("1,2\n2,x\n")) == [("1", "2"), ("2", "x")]


@pytest.mark.parametrize("text", ["a,b\n,c\n", "a,b\nc,\n", 'a,"b"\nc,\n', "1,2\n3, \n"])
def test_missing_end_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(FileError, match=r"line 2: an end point of the edge is missing: .*drop the row.*GraphML"):
        read(text)


# Columns


@pytest.mark.parametrize(
    ("cells", "values", "kind"),
    [
        (["1", "2"], [1, 2], np.int64),
        (["1", "2.5"], [1.0, 2.5], np.float64),
        (["-1e-300", "1E+300"], [-1e-300, 1e300], np.float64),
        (["nan", "-inf"], [float("nan"), -float("inf")], np.float64),
        (["1", ""], [1, None], list),
        (["0.5", ""], [0.5, None], list),
        (["x", ""], ["x", None], list),
        (["", ""], [None, None], list),
        (["007", "008"], ["007", "008"], list),
        (["00.5", "1"], ["00.5", "1"], list),
        (["1_0", "2"], ["1_0", "2"], list),
        (["True", "False"], ["True", "False"], list),
        (["9223372036854775808", "1"], [9223372036854775808, 1], list),
        (["9223372036854775808", "1.0"], [9223372036854775808.0, 1.0], np.float64),
    ],
)
@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_columns_have_the_type_of_all_their_cells(
    cells: list[str], values: list[Any], kind: Any, mark: str, quote: str
) -> None:
    lines = [mark.join([f"{quote}a{quote}", f"b{i}", cell]) for i, cell in enumerate(cells)]
    t = read(mark.join(["source", "target", "x"]) + "\n" + "\n".join(lines))
    got = t.edge_attributes["x"]
    assert got.dtype == kind if isinstance(got, np.ndarray) else kind is list
    np.testing.assert_equal(column(t, "x"), values)
    assert [type(a) for a in column(t, "x")] == [type(b) for b in values]


@pytest.mark.parametrize("name", ["weight", "Weight", "WEIGHT"])
def test_weight_column_is_found_whatever_its_case(name: str) -> None:
    t = read(f"source,target,{name}\n1,2,0.5\n")
    assert t.canonical().graph.weights.tolist() == [0.5]


@pytest.mark.parametrize("bad", ["heavy", "1_0", "0x10", "1,5", "1 2", "--1"])
@pytest.mark.parametrize("header", ["source;target;weight\n", "# x\n"])
def test_weight_that_is_no_number_is_refused_with_its_line(bad: str, header: str) -> None:
    text = f"{header}1;2;0.5\n2;3;{bad}\n"
    with pytest.raises(FileError, match=rf"line 3: the weight '{bad}' of the edge '2', '3' is not a number") as caught:
        read(text, delimiter=";")
    assert ("write decimals with a point, 1.5" in str(caught.value)) == (bad == "1,5")


@pytest.mark.parametrize("text", ["source,target,weight\n1,2,3\n2,3,\n", '1,2,3\n\n2,"3",\n'])
def test_missing_weight_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(FileError, match="line 3: the weight of the edge '2', '3' is missing: fill it in, or drop"):
        read(text)


@pytest.mark.parametrize(
    ("cell", "right"),
    [
        ("1.234,5", "1234.5"),
        ("1 200", "1200"),
        ("1'200", "1200"),
        ("1.234.567", "1234567"),
        ("1\u202f200,25", "1200.25"),
    ],
)
def test_other_ways_to_write_thousands_name_the_number(cell: str, right: str) -> None:
    with pytest.raises(FileError, match=rf"line 2: the weight .* is not a number: write it .*{right}$"):
        read(f"source;target;weight\na;b;{cell}\nb;c;2\n")


def test_points_that_may_separate_thousands_are_said() -> None:
    t = read("source;target;weight\na;b;610.086\nb;c;1.204\n")
    assert t.notes == (
        "weights such as 610.086 read as decimals: take the points out if they separate thousands, 610086",
    )
    for text in ("source;target;weight\na;b;610.086\nb;c;1.2\n", "source,target,weight\na,b,610.086\nb,c,1.204\n"):
        assert read(text).notes == ()


@pytest.mark.parametrize("text", ["1,2,\n2,3,\n", "source,target,\n1,2,\n2,3,\n", "source,target\n1,2,\n2,3,\n"])
def test_a_delimiter_behind_the_last_cell_makes_no_column(text: str) -> None:
    t = read(text)
    assert (rows(t), t.edge_attributes) == ([(1, 2), (2, 3)], {})
    assert list(read("source,target,age\na,b,\n").edge_attributes) == ["age"]


def test_weights_may_have_padding_zeros() -> None:
    assert column(read("a,b,007\nb,c,1.5\n")) == [7.0, 1.5]


@pytest.mark.parametrize("mark", [",", "\t", " "])
@pytest.mark.parametrize(("extra", "n"), [("", 1), ("{0}x{0}y", 3)])
def test_rows_of_another_length_are_refused_with_their_line(mark: str, extra: str, n: int) -> None:
    text = f"# x\na{mark}b\n\nc{mark}d\n" + ("e" if n == 1 else "e" + extra.format(mark)) + "\n"
    cells = "cell" if n == 1 else "cells"
    with pytest.raises(FileError, match=rf"line 5: the row has {n} {cells} where line 2 has 2"):
        read(text)
    if mark == ",":
        with pytest.raises(FileError, match=rf"line 5: the row has {n} {cells} where line 2 has 2"):
            read(text.replace("a", '"a"'))


def test_header_and_rows_of_different_length_are_refused() -> None:
    with pytest.raises(FileError, match="line 2: the row has 2 cells, and the header names 3 columns"):
        read("source,target,weight\n1,2\n3,4\n")


def test_gephi_types_say_the_direction() -> None:
    head = "Source,Target,Type,Id,Weight\n"
    directed = read(head + "1,2,Directed,0,1.0\n2,3,Directed,1,1.0\n")
    assert directed.directed
    assert not read(head + "1,2,Undirected,0,1.0\n").directed
    with pytest.raises(FileError, match="line 3: directed and undirected edges are mixed"):
        read(head + "1,2,Directed,0,1.0\n2,3,Undirected,1,1.0\n")


def test_errors_of_the_graph_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("source,target,weight\na,b,1\nb,c,-2\n")
    with pytest.raises(GraphError, match=r"edge \('b', 'c'\) \(.*g\.csv, line 3\) has the weight -2\.0"):
        gio.read(path).canonical()


# networkx's edge lists


def test_dicts_of_networkx_between_commas_and_with_numbers_of_numpy_are_read() -> None:
    t = read("a b,c,{'weight': np.float64(1.5), 'n': np.int64(-2)}\nc,d,{'weight': 2.0, 'n': 1}\n")
    assert (rows(t), column(t), column(t, "n")) == ([("a b", "c"), ("c", "d")], [1.5, 2.0], [-2, 1])
    assert column(read("a b {'kind': 'np.int64(3)'}\n", "edgelist"), "kind") == ["np.int64(3)"]


def test_dicts_of_networkx_are_read() -> None:
    graph = nx.karate_club_graph()
    stream = io.BytesIO()
    nx.write_edgelist(graph, stream)
    t = gio.read(io.BytesIO(stream.getvalue()), "edgelist")
    assert rows(t) == list(graph.edges)
    assert column(t) == [w for *_, w in graph.edges(data="weight")]
    assert rows(read("a b {}\n# x\nb c {'kind': 'x, y', 'n': None}\n", "edgelist")) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize("bad", ["{1}", "{x}", "{'a': f()}", "{'a': 1", "{" + "(" * 5000 + "}", "5"])
def test_dicts_that_are_no_plain_values_are_refused(bad: str) -> None:
    with pytest.raises(FileError, match="line 2: "):
        read(f"a b {{}}\nb c {bad}\n", "edgelist")


@pytest.mark.parametrize("mark", [" ", "\t", ",", ";"])
def test_weighted_edge_lists_of_networkx_are_read(mark: str) -> None:
    graph = nx.les_miserables_graph()
    stream = io.BytesIO()
    nx.write_weighted_edgelist(graph, stream, delimiter=mark)
    t = gio.read(io.BytesIO(stream.getvalue()), "csv")
    assert rows(t) == list(graph.edges)
    assert column(t) == [w for *_, w in graph.edges(data="weight")]


# Rows of cells

CELL = st.text("0123456789-+.abé", min_size=1, max_size=5)


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8), st.sampled_from([",", "\t", None]), st.data())
def test_blanks_and_comments_are_left_out(cells: list[tuple[str, ...]], mark: str | None, data: st.DataObject) -> None:
    lines: list[str] = []
    numbers: list[int] = []
    for row in cells:
        lines += data.draw(st.lists(st.sampled_from(["", "  ", "#x", " % y,z"]), max_size=2))
        gap = data.draw(st.sampled_from(["", " ", "   "]))
        numbers.append(len(lines) + 5)
        lines.append(gap + (f"{gap}{mark}{gap}" if mark else f" {gap}").join(row) + gap)
    found = split_rows(InputStream("f", io.BytesIO()), ("\n".join(lines) + "\n").encode(), mark, 5, "#%")
    assert list(found.lines) == numbers
    for i, column in enumerate(zip(*cells, strict=True)):
        assert found.cells(i) == list(column)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_parsed_exactly(values: list[int]) -> None:
    parsed = parse_integers(list(map(str, values)))
    assert parsed is not None
    assert parsed.tolist() == values


@pytest.mark.parametrize("pattern", [delimited._DICT, delimited._DICT_BY, INTEGER, NUMBER, ANY_NUMBER, gml._REAL])
@pytest.mark.parametrize("text", [f"{0:0200000}x", f"{'{':>200000}", "a," + " " * 200_000 + "b,", "1" * 200_000 + ".."])
def test_long_cells_are_recognised_in_linear_time(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.fullmatch(text) is None  # by steps that grow with the square this would take minutes


def test_wide_padding_is_walked_over() -> None:
    t = read(f"a,{' ' * 1000}b{' ' * 1000},1\n{' ' * 500}c,d,2\n")
    assert rows(t) == [("a", "b"), ("c", "d")]


# Real files

SIZES = {
    "karate/edges.csv": (34, 78, True),
    "madrid/edges.csv": (64, 243, True),
    "polbooks/edges.csv": (105, 441, False),
    "jazz/edges.csv": (198, 2742, False),
    "graphs_small/lesmis_weighted.csv": (77, 254, True),
    "graphs_small/us_airports500_weighted.csv": (500, 2980, True),
    "graphs_large/ca_grqc.csv.gz": (5241, 14484, False),
    "graphs_large/condmat1999_weighted.csv.gz": (16264, 47594, True),
}


@needs_data
@pytest.mark.parametrize("name", SIZES)
def test_real_files_are_read(name: str) -> None:
    assert DATA
    t = gio.read(Path(DATA) / name)
    graph = t.canonical().graph
    assert (graph.n_nodes, graph.n_edges, graph.is_weighted) == SIZES[name]


@needs_data
def test_a_million_edges_are_read_in_seconds() -> None:
    assert DATA
    t = gio.read(Path(DATA) / "graphs_large" / "ego_twitter.csv.gz")
    assert (t.n_nodes, t.source.size, t.labels) == (81306, 1342296, None)
    assert where(t, 1342295).endswith("ego_twitter.csv.gz, line 1342297")


# Spreadsheets


def test_a_hint_of_the_spreadsheet_names_the_delimiter() -> None:
    t = read("sep=;\r\nSource;Target;Weight\r\nx;y;4\r\ny;z;5\r\n;;\r\n;;\r\n")
    assert rows(t) == [("x", "y"), ("y", "z")]
    assert where(t, 1) == "the stream, line 4"
    assert rows(read("sep=|\na|b\nb|c\n")) == [("a", "b"), ("b", "c")]
    assert rows(read('"sep=,"\na,b,2\n')) == [("a", "b")]
    assert read("sep=;\n;A;B\nA;0;2\nB;2;0\n").labels == ("A", "B")
    with pytest.raises(FileError, match=r"line 3: the weight 'x' of the edge 'b', 'c'"):
        read("sep=;\na;b;1\nb;c;x\n")


@pytest.mark.parametrize("quoted", [False, True])
def test_rows_of_empty_cells_are_blank_lines(quoted: bool) -> None:
    text = "source,target,weight\na,b,1\n,,\nb,c,2\n,,\n , ,\n"
    t = read(text.replace("a,", '"a",') if quoted else text)
    assert rows(t) == [("a", "b"), ("b", "c")]
    assert where(t, 1) == "the stream, line 4"


def test_thousands_are_not_taken_for_decimals() -> None:
    with pytest.raises(FileError, match=r"'2,250,000'.*write it without separators of thousands, 2250000") as caught:
        read('source,target,weight\na,b,"2,250,000"\nb,c,"7,500"\n')
    assert "7.5" not in str(caught.value)
    with pytest.raises(FileError, match=r"'410,725'.*without separators of thousands, 410725") as caught:
        read("a;b;410,725\nb;c;12\n")
    assert "410.725" not in str(caught.value)
    with pytest.raises(FileError, match=r"'1,204'.*write decimals with a point, 1\.204"):
        read("Source;Target;Weight\na;b;1,204\nb;c;0,5\n")


@pytest.mark.parametrize("word", ["Dirigido", "Gerichtet", "non orienté", "friend", ""])
def test_unknown_words_in_the_type_of_gephi_are_refused(word: str) -> None:
    with pytest.raises(FileError, match=r"line 3: the Type .* says neither Directed nor Undirected"):
        read(f"Source,Target,Type\na,b,Undirected\nb,c,{word}\n")


def test_other_types_are_attributes_unless_they_are_directions() -> None:
    t = read("source,target,type\na,b,friend\nb,c,foe\n")
    assert (t.directed, column(t, "type")) == (False, ["friend", "foe"])
    with pytest.raises(FileError, match="the type 'ungerichtet'"):
        read("source,target,type\na,b,ungerichtet\n")
    assert read("Source;Target;Type\na;b;Directed\n").directed


# Columns


@pytest.mark.parametrize(
    "times",
    [[1082040961, 1082155839, 1082414391], [1.08e9, 1.0801e9, 1.09e9], [1082040961123, 1082155839000, 1082155839001],
     [1999, 1987, 2004], list(range(100, 3000, 100))],
)  # fmt: skip
def test_time_stamps_without_a_name_are_refused_with_both_readings(times: list[float]) -> None:
    text = "".join(f"{i} {i + 1} {time}\n" for i, time in enumerate(times))
    t = read(text, "edgelist")
    with pytest.raises(GraphError, match=r'pass weight="column3" if it holds weights, weight=None if it holds times'):
        t.canonical()
    assert t.canonical(weight="column3").graph.weights.tolist() == times
    assert not t.canonical(weight=None).graph.is_weighted
    assert read("source target weight\n" + text, "edgelist").canonical().graph.is_weighted
    named = read("source target time\n" + text, "edgelist").canonical()
    assert named.notes[0].endswith('; other columns: time; pass weight="time" if that holds the weights')


@pytest.mark.parametrize(
    "weights", [[3, 1, 2], [0.5, 1.5, 2.5], [1, 1, 1], list(range(1, 15)), [1990, 2, 3], [5, 7] * 20]
)
def test_other_third_columns_are_weights(weights: list[float]) -> None:
    text = "".join(f"{i} {i + 1} {weight}\n" for i, weight in enumerate(weights))
    assert read(text, "edgelist").canonical().graph.weights.tolist() == weights


def test_times_before_the_nodes_are_refused_unless_told() -> None:
    contacts = [(20 * i, 1 + i % 7, 1 + (3 * i + 1) % 7) for i in range(40)]
    for some in (contacts, [(1082008561 + t, u, v) for t, u, v in contacts[:3]]):
        text = "".join(f"{t} {u} {v}\n" for t, u, v in some)
        with pytest.raises(FileError, match=r"line 1: the first column looks like time stamps, from \d+ on"):
            read(text, "edgelist")
        assert read(text, "edgelist", header=False).source.size == len(some)
        assert "time" in read("time source target\n" + text, "edgelist").edge_attributes
    by_source = "".join(f"{u} {v} {1 + (u + v) % 3}\n" for u in range(30) for v in range(u + 1, 30))
    assert read(by_source, "edgelist").source.size == 435


def test_columns_of_ends_are_chosen_by_name() -> None:
    text = "id,who,whom,scenes\n1,a,b,2\n2,b,c,3\n"
    t = read(text, source="who", target="WHOM")
    assert rows(t) == [("a", "b"), ("b", "c")]
    assert list(t.edge_attributes) == ["id", "scenes"]
    assert (
        t.canonical().notes[0].endswith('columns: id, scenes; pass weight="id" or "scenes" if that holds the weights')
    )
    assert rows(read("# id who whom\n1 a b\n", "edgelist", source="who", target="whom")) == [("a", "b")]
    assert rows(read("source,target,boss\na,b,c\n", source="boss", target="source")) == [("c", "a")]
    with pytest.raises(FileError, match=r"no column is called 'what', named by target=\"what\" \(columns: id, who"):
        read(text, source="who", target="what")
    with pytest.raises(OptionError, match="pass target= as well"):
        read(text, source="who")
    with pytest.raises(OptionError, match="no meaning for the format 'gml'"):
        read("graph []", "gml", source="a", target="b")


@pytest.mark.parametrize(
    "text",
    [
        "From,To,Weight\na,b,2\n",
        "id,Weight,Target,kind,Source\n7,0.5,b,x,a\n",
        'u,v,"a, b"\n1,2,x\n',
    ],
)
def test_names_and_order_of_columns_are_kept(text: str) -> None:
    out = io.StringIO()
    assert gio.write(read(text), out, "csv") == []
    assert out.getvalue() == text


def test_new_columns_come_last_and_unusual_names_are_noted() -> None:
    out = io.StringIO()
    t = read("n,who,whom\n3,a,b\n", source="who", target="whom")
    notes = gio.write(replace(t, edge_attributes={**t.edge_attributes, "weight": [0.5]}), out, "csv")
    assert out.getvalue() == "n,who,whom,weight\n3,a,b,0.5\n"
    assert notes == ['columns called as in the input: read it with source="who", target="whom"']
