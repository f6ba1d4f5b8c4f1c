"""Adjacency matrices as text: read with and without labels, refused where they might be edge lists or have gaps."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ",A,B,C\nA,0,1,2\nC,1,0,3\nB,2,3,0\n",
            "first row is 'B' where the first column is 'C': bring rows and columns",
        ),
        ("NA,.5,.2,.1\n.5,0,1,.3\n.2,1,0,.4\n.1,.3,.4,0\n", "'.5' and so on would be names of nodes: if the entry"),
    ],
)
def test_labels_that_can_not_be_right_are_refused(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(text)


@pytest.mark.parametrize("text", ["1 2\n2 3\n", "1 2 0.5\n2 3 0.1\n3 1 .4\n"])
def test_edge_lists_named_as_matrices_are_refused_unless_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "net.edge").write_text(text)
    with pytest.raises(FileError, match=r'may be an adjacency matrix or an edge list: pass format="matrix" or format'):
        gio.read(tmp_path / "net.edge")
    assert gio.read(tmp_path / "net.edge", "edgelist").n_nodes == 3
    assert gio.read(tmp_path / "net.edge", "matrix").matrix
    (tmp_path / "net.edge").write_text(text + "3 4 1\n4 5 2\n")
    with pytest.raises(FileError, match=r'if this is an edge list, pass format="edgelist"|not a number|has . cells'):
        gio.read(tmp_path / "net.edge")


def test_the_matrix_of_a_structure_is_read(tmp_path: Path) -> None:
    matrix = sp.csc_array(similarities(4))
    scipy.io.savemat(tmp_path / "mesh.mat", {"Problem": {"A": matrix, "name": "mesh", "b": np.ones((4, 1))}})
    assert gio.read(tmp_path / "mesh.mat").source.size == 6
    assert gio.read(tmp_path / "mesh.mat", variable="Problem.A").source.size == 6


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
    for form in ("matrix", "array", "mat"):
        with pytest.raises(OptionError, match="is read, not written; write"):
            gio.write(EdgeTable(2, np.array([0]), np.array([1])), io.StringIO(), form)


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
    with pytest.raises(GraphError, match="5 self-loops on the diagonal of the adjacency matrix, the first at edge"):
        read(as_text(a, ",", "none")).canonical()


# Matrices as connectomes are published


def connectome(i: int) -> tuple[np.ndarray[Any, Any], str, str, str]:
    """The i-th of some matrices, as published ones are: kind, layout and delimiter differ."""
    n = [3, 4, 5, 7, 12, 19, 33, 68, 83, 116, 400][i % 11]
    kind = ["positive", "signed", "diagonal", "counts", "nan"][i % 5]
    rng = np.random.default_rng(i)
    a = rng.gamma(2.0, 1.0, (n, n)).round(4) + 0.0101
    a = (a + a.T).round(4)
    np.fill_diagonal(a, 0)
    if kind == "signed":
        a *= np.sign(rng.normal(size=(n, n)))
        a = np.triu(a, 1) + np.triu(a, 1).T
        np.fill_diagonal(a, 1)
    elif kind == "diagonal":
        np.fill_diagonal(a, rng.gamma(2.0, 1.0, n).round(4) + 1.01)
    elif kind == "counts":
        a = np.floor(a * 3) + 1
        a = np.triu(a, 1) + np.triu(a, 1).T
    elif kind == "nan":
        a[0, 1] = a[1, 0] = np.nan
    return a, kind, ["none", "both", "header", "index", "comment"][i // 5 % 5], ",;\t "[i % 4]


@pytest.mark.parametrize("i", range(41))
def test_matrices_like_published_connectomes_are_read_or_refused(i: int) -> None:
    a, kind, layout, mark = connectome(i)
    n = len(a)
    layout = "header" if (mark, layout) == (" ", "both") else layout
    text = as_text(a.astype(int) if kind == "counts" else a, mark, layout)
    if kind == "nan":
        with pytest.raises(FileError, match=r"the entry .* of the matrix is NaN: put 0"):
            read(text)
        return
    if kind == "counts" and n == 3 and layout != "both":
        with pytest.raises(FileError, match=r'pass format="matrix" or format="edgelist"'):
            read(text)
        text, form = text, "matrix"
    else:
        form = "csv"
    t = read(text, form)
    assert f"read as an adjacency matrix of {n} nodes" in t.notes
    assert t.labels is None if layout == "none" else list(t.labels or ()) == [f"n{j}" for j in range(n)]
    if kind == "diagonal":
        with pytest.raises(GraphError, match=f"{n} self-loops on the diagonal of the adjacency matrix"):
            t.canonical()
    if kind == "signed":
        with pytest.raises(GraphError, match=r'negative="abs"'):
            t.canonical()
        assert f"diagonal of {n} equal entries (1) left out" in t.notes
    found = t.canonical(loops="drop" if kind == "diagonal" else "refuse", negative="abs").graph
    assert (found.n_nodes, found.n_edges) == (n, n * (n - 1) // 2)
    names = [f"n{j}" for j in range(n)] if t.labels is not None else list(range(n))
    order = [names.index(found.label(j)) for j in range(n)]
    up = np.triu_indices(n, 1)
    np.testing.assert_array_equal(found.adjacency().toarray()[up], np.abs(a)[np.ix_(order, order)][up])


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("layout", ["none", "both", "header"])
def test_decimal_commas_are_read_and_said(mark: str, layout: str) -> None:
    a = similarities(6)
    t = read(as_text(a, mark, layout).replace(".", ","))
    np.testing.assert_array_equal(adjacency(t), a)
    assert "decimal commas read as points" in t.notes


def test_commas_that_may_separate_thousands_are_refused() -> None:
    with pytest.raises(FileError, match="line 1: the comma of '1,204' may separate thousands or decimals"):
        read("0;1,204;3,105\n1,204;0;5,001\n3,105;5,001;0\n")


def test_comments_are_labels_only_where_they_can_be_nothing_else() -> None:
    a = similarities(4)
    sentence = read("# correlations of four subjects\n" + as_text(a, " ", "none"), "matrix")
    assert sentence.n_nodes == 4
    for words, labels in (("my matrix of brains", None), ("V1 V2 MT LIP", ("V1", "V2", "MT", "LIP"))):
        t = gio.read(io.StringIO(f"# {words}\n" + as_text(a, " ", "none")), "matrix")
        assert t.labels == labels
        said = "node labels from the comment in line 1" if labels else "the comment in line 1 not taken for labels"
        assert any(note.startswith(said) for note in t.notes)
    assert read("# anna,ben,carl,dora\n" + as_text(a, ",", "none")).labels == ("anna", "ben", "carl", "dora")
    assert read("# my matrix of brains\n" + as_text(a, ",", "none")).labels is None


@pytest.mark.parametrize("name", ["brain.edge", "brain.1D", "brain.txt"])
@pytest.mark.parametrize("mark", ["\t", "   "])
def test_texts_of_brain_tools_are_matrices(tmp_path: Path, name: str, mark: str) -> None:
    a = similarities(9)
    (tmp_path / name).write_text("# 3dNetCorr\n" + as_text(a, mark, "none"))
    np.testing.assert_array_equal(adjacency(gio.read(tmp_path / name)), a)


# Arrays


def test_arrays_are_matrices(tmp_path: Path) -> None:
    a = similarities(7, 1.0)
    np.save(tmp_path / "a.npy", a)
    scipy.io.savemat(tmp_path / "a.mat", {"W": a, "names": ["x"], "n": 7})
    scipy.io.savemat(tmp_path / "s.mat", {"S": sp.csc_array(a)})
    for name in ("a.npy", "a.mat"):
        t = gio.read(tmp_path / name)
        assert t.notes == ("read as an adjacency matrix of 7 nodes", "diagonal of 7 equal entries (1) left out")
        np.testing.assert_array_equal(adjacency(t), a - np.eye(7))
    assert gio.read(tmp_path / "s.mat").canonical(loops="drop").graph.n_edges == 21
    np.save(tmp_path / "b.npy", a > 0.8)
    assert "weight" not in gio.read(tmp_path / "b.npy").edge_attributes


def test_one_of_several_variables_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "two.mat"
    scipy.io.savemat(path, {"V": similarities(3), "W": similarities(4), "x": np.ones((2, 3))})
    with pytest.raises(FileError, match=r'holds 2 square matrices, V, W: pass variable="V"'):
        gio.read(path)
    assert gio.read(path, variable="W").n_nodes == 4
    with pytest.raises(FileError, match=r"no variable 'Q' \(variables: V, W, x\)"):
        gio.read(path, variable="Q")
    with pytest.raises(FileError, match=r"x is of shape \(2, 3\)"):
        gio.read(path, variable="x")
    with pytest.raises(OptionError, match="has no meaning for the format 'csv'"):
        read("a,b\n", variable="W")


def test_arrays_that_are_no_matrices_are_refused(tmp_path: Path) -> None:
    def refused(name: str, words: str) -> None:
        with pytest.raises(FileError, match=words):
            gio.read(tmp_path / name)

    np.save(tmp_path / "o.npy", np.array([[{}]], object), allow_pickle=True)
    refused("o.npy", "only be read by unpickling")
    np.save(tmp_path / "n.npy", np.array([[0, np.nan], [np.nan, 0]]))
    refused("n.npy", r"the entry \(0, 1\) of the matrix is NaN")
    np.save(tmp_path / "r.npy", np.ones((2, 3)))
    refused("r.npy", r"shape \(2, 3\)")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "r.npy").read_bytes()[:-8])
    refused("cut.npy", "can't be read as a NumPy array")
    (tmp_path / "h.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n")
    refused("h.mat", r"version 7\.3 \(HDF5\): save it in MATLAB with save\(name, '-v7'\)")
    scipy.io.savemat(tmp_path / "x.mat", {"x": np.ones((2, 3))})
    refused("x.mat", r"holds no square matrix of numbers \(variables: x\)")
    (tmp_path / "x.mat").write_bytes((tmp_path / "x.mat").read_bytes()[:-30])
    refused("x.mat", "can't be read as a MATLAB file")
    (tmp_path / "t.mat").write_bytes(b"a b c\n")
    refused("t.mat", "can't be read as a MATLAB file")
