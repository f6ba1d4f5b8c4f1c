"""Adjacency matrices as text: read with and without labels, refused where they might be edge lists or have gaps."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import scipy.io

from graphpri import io as gio
from graphpri.errors import FileError, GraphError, OptionError
from graphpri.graph import EdgeTable


def read(text: str, form: str = "csv", **options: Any) -> EdgeTable:
    return gio.read(io.StringIO(text), form, **options)


DIRECTED = "1,2,0,0,0\n0,1,2,0,0\n0,0,1,2,0\n0,0,0,1,2\n0,0,0,0,1\n"


def similarities(n: int, diagonal: float = 0.0) -> np.ndarray[Any, Any]:
    """A symmetric matrix of decimals in (0.5, 1)."""
    a = np.random.default_rng(n).uniform(0.25, 0.5, (n, n)).round(4)
    a = a + a.T
    np.fill_diagonal(a, diagonal)
    return a


def as_text(a: np.ndarray[Any, Any], mark: str, layout: str) -> str:
    """A matrix as pandas, Gephi, R, NumPy and brain tools write it."""
    names = [f"n{i}" for i in range(len(a))]
    rows = [mark.join(map(repr, row)) for row in a.tolist()]
    if layout in ("both", "index"):
        rows = [name + mark + row for name, row in zip(names, rows, strict=True)]
    head = {"both": [mark + mark.join(names)], "header": [mark.join(names)], "comment": ["# " + mark.join(names)]}
    return "\n".join([*head.get(layout, []), *rows, ""])


def adjacency(t: EdgeTable) -> np.ndarray[Any, Any]:
    a = np.zeros((t.n_nodes, t.n_nodes))
    a[t.source, t.target] = a[t.target, t.source] = t.edge_attributes["weight"]
    return a


@pytest.mark.parametrize("n", [3, 4, 17, 120])
@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
@pytest.mark.parametrize("layout", ["none", "both", "header", "index", "comment"])
def test_square_blocks_of_numbers_are_matrices(n: int, mark: str, layout: str) -> None:
    a = similarities(n)
    text = as_text(a, mark, "header" if (mark, layout) == (" ", "both") else layout)
    for form in ("csv", "tsv", "matrix"):
        t = read(text, form)
        assert not t.directed
        assert t.labels is None if layout == "none" else list(t.labels or ()) == [f"n{i}" for i in range(n)]
        np.testing.assert_array_equal(adjacency(t), a)


@pytest.mark.parametrize("n", [4, 400])
def test_matrices_of_integers_are_no_edge_lists(n: int) -> None:
    a = (similarities(n) > 0.8).astype(int)
    np.testing.assert_array_equal(adjacency(read(as_text(a, ",", "none"))), a)
    labels = "\n".join([",".join(map(str, range(n))), as_text(a, ",", "none")])
    assert read(labels).n_nodes == n


@pytest.mark.parametrize("text", ["0,1\n1,0\n", "0,1,2\n1,0,3\n2,3,0\n", "A,B,C\n0,1,2\n1,0,3\n2,3,0\n", DIRECTED])
def test_what_might_as_well_be_an_edge_list_is_refused_with_both_options(text: str) -> None:
    with pytest.raises(FileError, match=r'pass format="matrix" or format="edgelist"'):
        read(text)
    assert read(text, "matrix").source.size in (1, 3, 9)


def test_edge_lists_with_as_many_rows_as_columns_stay_edge_lists() -> None:
    assert read("1,2\n2,3\n").source.size == 2
    assert read("0,1,5\n1,2,3\n0,2,1\n").source.size == 3
    assert read("source,target,weight\n0,1,2\n1,0,3\n2,3,0\n").source.size == 3
    assert read("0,1,2\n1,0,3\n2,3,0\n", "edgelist").source.size == 3
    assert read("% asym\n1 2 1 5\n2 1 1 6\n3 1 1 7\n1 4 1 8\n", "tsv").source.size == 4


def test_other_blocks_of_decimals_are_refused_unless_they_are_names() -> None:
    text = "0.25,0.5,0.75\n1.5,0.25,0.5\n"
    with pytest.raises(FileError, match=r"would be called '0.25', '0.5'.*format=\"edgelist\""):
        read(text)
    assert read(text, "edgelist").labels == ["0.25", "0.5", "1.5"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,.5,nan\n.5,0,1\nnan,1,0\n", r"line 1: the entry \(1, 3\) of the matrix is NaN"),
        (DIRECTED.replace("2,0\n", "2,\n"), "line 3: the entry in column 5 of the matrix is empty"),
        (",A,B\nA,0,\nB,1,0\n", "line 2: the entry in column 3 of the matrix is empty"),
        (",A,B\nA,0,x\nB,x,0\n", "line 2: the entry in column 3 of the matrix 'x' is not a number"),
    ],
)
def test_gaps_are_named(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(text)


def test_a_delimiter_behind_the_last_cell_and_quoted_labels_are_read() -> None:
    assert read("0.,1.,.5,\n1.,0.,1.,\n.5,1.,0.,\n").source.size == 3
    assert read('"","A","B"\n"A",0,.5\n"B",.5,0\n').labels == ("A", "B")


def test_unsymmetric_matrices_are_directed() -> None:
    t = read("0,.5,.25\n0,0,1\n.125,0,0\n")
    assert t.directed
    assert t.edge_attributes["weight"].tolist() == [0.5, 0.25, 1, 0.125]


def test_matrices_are_read_only() -> None:
    with pytest.raises(FileError, match="no square block of numbers"):
        read("1,2,3\n4,5,6\n", "matrix")
    with pytest.raises(OptionError, match="read, not written"):
        gio.write(EdgeTable(2, np.array([0]), np.array([1])), io.StringIO(), "matrix")


@pytest.mark.parametrize("form", ["csv", "mtx"])
def test_rounding_is_averaged_in_files_and_said(form: str) -> None:
    a = similarities(12, 1.0)
    a[3, 4] = np.nextafter(a[4, 3], 1)
    stream = io.BytesIO()
    if form == "csv":
        np.savetxt(stream, a, delimiter=",")
    else:
        scipy.io.mmwrite(stream, a, symmetry="general", precision=17)
    stream.seek(0)
    t = gio.read(stream, form)
    found = t.canonical(loops="drop")
    assert not t.directed
    assert "mirrored entries that differed by rounding averaged" in found.notes
    assert ("diagonal of 12 equal entries (1) left out" in found.notes) == (form == "csv")
    assert found.graph.n_edges == 66


def test_an_uneven_diagonal_is_refused_as_loops() -> None:
    a = similarities(5)
    np.fill_diagonal(a, np.arange(1, 6) / 4)
    with pytest.raises(GraphError, match="5 self-loops, the first at edge"):
        read(as_text(a, ",", "none")).canonical()
