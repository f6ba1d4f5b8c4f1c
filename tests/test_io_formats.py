"""What each format can hold comes back, and what it can't is said or refused; other programs' files are read."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph as ig
import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphpri import io as gio
from graphpri.errors import FileError, GraphError, GraphPRIError
from graphpri.graph import EdgeTable
from graphpri.io import jsontext

DATA = os.environ.get("GRAPHPRI_DATA")
NAMES = [known.name for known in gio.FORMATS]
LISTS_NODES = {"gml", "graphml", "gexf", "json", "pajek", "npz", "parquet"}
NUMBERED = {"mtx", "metis"}

# Tables


def text(alphabet: str) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(alphabet), max_size=6) | st.text(max_size=4)


WORDS = text("aé01 ,;\t\"'#%{}[]\n\r&<>*-.+:_\\\0")
INTS = st.integers(-(2**70), 2**70) | st.integers(-3, 3)
FLOATS = st.floats(allow_nan=True) | st.sampled_from([0.1, 1.0, 1e300, 5e-324])
ANYTHING = st.none() | st.booleans() | INTS | FLOATS | WORDS | st.tuples(INTS) | st.lists(INTS, max_size=3)
ANYTHING |= st.dictionaries(WORDS, INTS, max_size=2)
CELLS = [st.booleans(), INTS, st.integers(-9, 9), FLOATS, WORDS, st.none(), ANYTHING]
COLUMN_NAMES = st.sampled_from(["weight", "kind", "x", "y", "z", "shape", "id", "label", "Weight", "time"]) | WORDS


def columns(draw: Any, size: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in draw(st.lists(COLUMN_NAMES, max_size=3, unique=True)):
        cells = draw(st.sampled_from(CELLS))
        if draw(st.booleans()):
            cells = cells | st.none()
        values = draw(st.lists(cells, min_size=size, max_size=size))
        kinds = {type(value) for value in values}
        simple = kinds in ({bool}, {float}) or (kinds == {int} and all(abs(value) < 2**31 for value in values))
        dtype = draw(st.sampled_from([None, np.int32])) if kinds == {int} else None
        out[name] = np.array(values, dtype) if simple and draw(st.booleans()) else values
    return out


@st.composite
def tables(draw: Any) -> EdgeTable:
    kind = draw(st.sampled_from([None, st.integers(-5, 50), INTS, WORDS, INTS | WORDS | st.tuples(INTS)]))
    if kind is None:
        n, labels = draw(st.integers(0, 6)), None
    else:
        labels = draw(st.lists(kind, max_size=6, unique_by=lambda label: (type(label), label)))
        n = len(labels)
        if labels and all(type(label) is int and abs(label) < 2**63 for label in labels) and draw(st.booleans()):
            labels = np.array(labels, np.int64)
    ends = st.lists(st.integers(0, n - 1), min_size=2, max_size=2) if n else st.nothing()
    pairs = draw(st.lists(ends, max_size=8)) if n else []
    u, v = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = draw(st.dictionaries(st.sampled_from(["name", "id", "first_mode"]) | WORDS, ANYTHING, max_size=3))
    attributes = columns(draw, len(pairs)), columns(draw, n)
    return EdgeTable(n, u, v, labels, draw(st.booleans()), *attributes, graph)


# Comparing


def values_of(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def same(a: Any, b: Any) -> bool:
    """Equal, where an int may come back as the equal float, and NaN is NaN."""
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (a, b))
    return (numbers or type(a) is type(b)) and (a == b or (a != a and b != b))


def mentioned(what: str, name: str, notes: list[str]) -> bool:
    return any(note.startswith(f"{what} attribute") and repr(name) in note for note in notes)


def check_columns(what: str, before: Any, after: Any, notes: list[str]) -> None:
    for name, column in before.items():
        if mentioned(what, name, notes):
            continue
        values = values_of(column)
        if name not in after:
            assert all(value is None for value in values), (what, name)
            continue
        got = values_of(after[name])
        if what == "edge" and name == "weight" and any("written with the weight 1" in note for note in notes):
            values = [1 if value is None else value for value in values]
        if what == "edge" and name == "weight":
            values, got = ([float(x) if isinstance(x, int) else x for x in side] for side in (values, got))
        assert len(got) == len(values)
        assert all(map(same, values, got)), (what, name, values, got)


def check_round_trip(table: EdgeTable, back: EdgeTable, notes: list[str], name: str) -> None:
    """All that the notes don't mention is there again."""
    lost_labels = any(note.startswith("node labels not in the file") for note in notes)
    retyped = any("will be read back as" in note and note.split(" ", 2)[1].startswith("node") for note in notes)
    original = range(table.n_nodes) if lost_labels or table.labels is None else values_of(table.labels)
    read_back = range(back.n_nodes) if back.labels is None else values_of(back.labels)
    if any("will be read back as integers" in note for note in notes):
        original = [int(float(label)) for label in original]
    if retyped:
        original, read_back = map(str, original), map(str, read_back)
    original, read_back = list(original), list(read_back)
    if not any("isolated node" in note for note in notes):
        assert back.n_nodes == table.n_nodes
        assert len({type(x) for x in read_back}) <= 1 or name in ("npz", "parquet", "json")
        if name in LISTS_NODES | NUMBERED:
            assert list(map(same, read_back, original)) == [True] * table.n_nodes
    before = [(original[u], original[v]) for u, v in zip(table.source.tolist(), table.target.tolist(), strict=True)]
    after = [(read_back[u], read_back[v]) for u, v in zip(back.source.tolist(), back.target.tolist(), strict=True)]
    if any("reads back as undirected" in note for note in notes):
        arcs = after + [(v, u) for u, v in after if u != v]
        assert sorted(arcs) == sorted(before)
        return None
    if name in NUMBERED and not back.directed:
        assert sorted(map(sorted, before)) == sorted(map(sorted, after)), name
        if "weight" in back.edge_attributes:
            return check_weights(table, before, back, after)
    else:
        assert before == after
    if not any("directed" in note for note in notes):
        assert back.directed == table.directed
    check_columns("edge", table.edge_attributes, back.edge_attributes, notes)
    check_columns("node", table.node_attributes, back.node_attributes, notes)
    for key, value in table.graph_attributes.items():
        assert mentioned("graph", key, notes) or same(value, back.graph_attributes[key])
    return None


def check_weights(table: EdgeTable, before: list[Any], back: EdgeTable, after: list[Any]) -> None:
    """Weights of formats that reorder the edges."""
    old = [1.0 if w is None else float(w) for w in values_of(table.edge_attributes["weight"])]
    new = [float(w) for w in values_of(back.edge_attributes["weight"])]
    sides = [
        sorted((*sorted(ends), repr(w)) for ends, w in zip(*side, strict=True))
        for side in ((before, old), (after, new))
    ]
    assert sides[0] == sides[1]


def write(table: EdgeTable, name: str) -> tuple[bytes, list[str]]:
    stream = io.BytesIO()
    notes = gio.write(table, stream, name)
    return stream.getvalue(), notes


def read(data: bytes | str, name: str, **options: Any) -> EdgeTable:
    return gio.read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), name, **options)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=tables())
@example(table=EdgeTable(2, np.array([0]), np.array([1]), ["u", "v"]))
@example(table=EdgeTable(2, np.array([0]), np.array([1]), ["source", "target"], edge_attributes={"from": ["x"]}))
@example(table=EdgeTable(3, np.array([0]), np.array([1]), ["1", "2", "a"]))
@example(
    table=EdgeTable(3, np.array([0, 1]), np.array([1, 2]), ["a", "#b,c", "d"], edge_attributes={"x": ["\n#a,b,c", ""]})
)
@example(table=EdgeTable(2, np.array([0]), np.array([1]), ["a,b", "c"], edge_attributes={"x": ["{y}"], "a;b": ["p;q"]}))
def test_nothing_is_lost_or_changed_without_a_word(name: str, table: EdgeTable) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    try:
        data, notes = write(table, name)
    except FileError:
        return
    # ncol has no header to say that the first row is none.
    back = read(data, name, **({"header": False} if name == "ncol" else {}))
    check_round_trip(table, back, notes, name)


def passed_on(table: EdgeTable, name: str) -> EdgeTable | None:
    """The table as a format gives it back, after a check that nothing has changed unsaid; None where it is refused."""
    try:
        data, notes = write(table, name)
    except FileError:
        return None
    back = read(data, name, **({"header": False} if name == "ncol" else {}))
    check_round_trip(table, back, notes, name)
    return back


@pytest.mark.parametrize("first", NAMES)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=tables(), second=st.sampled_from(NAMES))
def test_nothing_is_lost_from_one_format_to_the_next_without_a_word(first: str, table: EdgeTable, second: str) -> None:
    if "parquet" in (first, second):
        pytest.importorskip("pyarrow")
    between = passed_on(table, first)
    if between is not None:
        passed_on(between, second)


def as_bytes(save: Callable[[Any, Any], None]) -> bytes:
    """A file with a matrix, as `save` writes it."""
    stream = io.BytesIO()
    save(stream, np.array([[0, 0.5, 0, 1], [0.5, 0, 2, 0], [0, 2, 0, 0], [1, 0, 0, 0]]))
    return stream.getvalue()


FOREIGN = {
    "sif": "TP53 binds MDM2 RB1\nRB1 binds E2F1\nalone\n",
    "dot": 'digraph d {a [club="x", age=3]; b [club="y z"]; a -> b [weight=1.5]; b -> a [label="é"]; c}',
    "adjlist": "1 2 3\n3 4\n5\n",
    "matrix": "0,0.5,0,1\n0.5,0,2,0\n0,2,0,0\n1,0,0,0\n",
    "array": as_bytes(np.save),
    "mat": as_bytes(lambda stream, a: scipy.io.savemat(stream, {"a": a})),
}


@pytest.mark.parametrize("second", NAMES)
@pytest.mark.parametrize("first", [known.name for known in gio.READ_ONLY])
def test_formats_that_are_read_only_are_passed_on_whole(first: str, second: str) -> None:
    if second == "parquet":
        pytest.importorskip("pyarrow")
    t = read(FOREIGN[first], first)
    assert t.n_nodes >= 4 or t.directed
    assert (passed_on(t, second) is None) == (second == "metis" and t.directed)


PLAIN = EdgeTable(
    5,
    np.array([0, 1, 2, 3]),
    np.array([1, 2, 3, 0]),
    ["ann", "bob", "cem", "dörte", "eve"],
    edge_attributes={"weight": [0.5, 1.0, 2.25, 1e-3], "kind": ["x", "y", "x", "z"]},
    node_attributes={"age": [1, 2, 3, 4, 5], "club": ["a", "b", "a", None, "b"]},
    graph_attributes={"name": "friends"},
)


@pytest.mark.parametrize("name", sorted(LISTS_NODES))
@pytest.mark.parametrize("directed", [False, True])
def test_rich_formats_hold_everything(name: str, directed: bool) -> None:
    table = EdgeTable(**{**vars(PLAIN), "directed": directed})
    data, notes = write(table, name)
    assert notes == []
    check_round_trip(table, read(data, name), [], name)


@pytest.mark.parametrize("name", NAMES)
def test_weighted_edges_without_more_need_no_notes(name: str) -> None:
    table = EdgeTable(4, np.array([3, 1, 0]), np.array([0, 2, 1]), edge_attributes={"weight": np.array([1, 2, 3])})
    data, notes = write(table, name)
    assert notes == []
    back = read(data, name).canonical().graph
    expected = table.canonical().graph
    for field in ("source", "target", "weights"):
        assert getattr(back, field).tolist() == getattr(expected, field).tolist()


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("csv", ["1 isolated node ", "node attributes 'age', 'club'", "graph attribute 'name'"]),
        (
            "ncol",
            ["1 isolated node ", "node attributes 'age', 'club'", "graph attribute 'name'", "edge attribute 'kind'"],
        ),
        ("mtx", ["node labels", "edge attribute 'kind'", "node attributes 'age', 'club'", "graph attribute 'name'"]),
        ("metis", ["node labels", "edge attribute 'kind'", "node attributes 'age', 'club'", "graph attribute 'name'"]),
    ],
)
def test_losses_are_said(name: str, lost: list[str]) -> None:
    notes = write(PLAIN, name)[1]
    assert [next((note for note in notes if note.startswith(start)), None) for start in lost].count(None) == 0, notes
    assert all("not in the file" in note for note in notes[: len(lost)])


def test_labels_that_are_the_same_text_are_refused() -> None:
    table = EdgeTable(2, np.array([0]), np.array([1]), [1, "1"])
    for name in ("csv", "gml", "graphml", "pajek"):
        with pytest.raises(FileError, match="the node labels 1 and '1' are the same text"):
            write(table, name)
    assert read(write(table, "npz")[0], "npz").labels == (1, "1")


def test_large_labelled_tables_are_written_and_read() -> None:
    rng = np.random.default_rng(0)
    n, m = 3000, 20_000
    labels = [f"node {i}" for i in range(n)]
    table = EdgeTable(
        n, rng.integers(0, n, m), rng.integers(0, n, m), labels, edge_attributes={"weight": rng.random(m)}
    )
    for name in ("csv", "npz", "parquet"):
        back = read(write(table, name)[0], name)
        assert [back.label(i) for i in back.source.tolist()] == [labels[i] for i in table.source.tolist()]
        np.testing.assert_array_equal(back.edge_attributes["weight"], table.edge_attributes["weight"])


# networkx and igraph, both ways


def zoo() -> list[Any]:
    weighted = nx.karate_club_graph()
    named = nx.les_miserables_graph()
    arcs = nx.gnp_random_graph(12, 0.3, seed=1, directed=True)
    many = nx.MultiGraph([("a", "b", {"w": 1}), ("a", "b", {"w": 2}), ("b", "c", {"w": 3})])
    lonely = nx.Graph(name="lonely")
    lonely.add_nodes_from(["x", "ÿ & <z>", "w"], size=2)
    lonely.add_edge("x", "w", note='say "é"', strength=0.1)
    return [weighted, named, arcs, many, lonely]


def as_networkx(t: EdgeTable) -> Any:
    graph = nx.MultiDiGraph() if t.directed else nx.MultiGraph()
    for i in range(t.n_nodes):
        graph.add_node(
            t.label(i), **{k: values_of(c)[i] for k, c in t.node_attributes.items() if values_of(c)[i] is not None}
        )
    rows = {k: values_of(c) for k, c in t.edge_attributes.items()}
    for i, (u, v) in enumerate(zip(t.source.tolist(), t.target.tolist(), strict=True)):
        graph.add_edge(t.label(u), t.label(v), **{k: c[i] for k, c in rows.items() if c[i] is not None})
    return graph


def edge_view(graph: Any, drop: tuple[str, ...] = ()) -> list[Any]:
    rows: list[Any] = []
    for u, v, data in graph.edges(data=True):
        ends = (str(u), str(v)) if graph.is_directed() else tuple(sorted((str(u), str(v))))
        rows.append((*ends, sorted((k, x) for k, x in data.items() if k not in drop)))
    return sorted(rows, key=repr)


def node_view(graph: Any, drop: tuple[str, ...] = ()) -> dict[str, Any]:
    return {str(node): {k: x for k, x in data.items() if k not in drop} for node, data in graph.nodes(data=True)}


@pytest.mark.parametrize("name", ["gml", "graphml"])
@pytest.mark.parametrize("graph", zoo(), ids=lambda graph: f"{type(graph).__name__}{len(graph)}")
def test_files_of_networkx_are_read(name: str, graph: Any) -> None:
    stream = io.BytesIO()
    getattr(nx, f"write_{name}")(graph, stream)
    t = read(stream.getvalue(), name)
    back = as_networkx(t)
    assert t.directed == graph.is_directed()
    assert node_view(back) == node_view(graph)
    assert edge_view(back, ("id", "key")) == edge_view(graph)
    if graph.is_multigraph():
        assert values_of(t.edge_attributes["id" if name == "graphml" else "key"]) == [0, 1, 0]


@pytest.mark.parametrize("name", ["gml", "graphml"])
@pytest.mark.parametrize("graph", zoo(), ids=lambda graph: f"{type(graph).__name__}{len(graph)}")
def test_files_are_read_by_networkx(name: str, graph: Any) -> None:
    stream = io.BytesIO()
    getattr(nx, f"write_{name}")(graph, stream)
    data, notes = write(read(stream.getvalue(), name), name)
    assert notes == []
    back = getattr(nx, f"read_{name}")(io.BytesIO(data))
    assert back.is_directed() == graph.is_directed()
    assert node_view(back) == node_view(graph)
    assert edge_view(back, ("id", "key")) == edge_view(graph)


def test_pajek_files_of_networkx_are_read_and_read_ours() -> None:
    graph = nx.MultiGraph(nx.les_miserables_graph())
    stream = io.BytesIO()
    nx.write_pajek(graph, stream)
    t = read(stream.getvalue(), "pajek")
    assert not t.directed
    assert edge_view(as_networkx(t)) == edge_view(graph)
    back = nx.read_pajek(io.BytesIO(write(t, "pajek")[0]))
    assert edge_view(back) == edge_view(graph)


@pytest.mark.parametrize("name", ["gml", "graphml", "pajek", "ncol"])
def test_files_of_igraph_are_read_and_igraph_reads_ours(name: str, tmp_path: Path) -> None:
    graph = ig.Graph.Famous("Zachary")
    graph.vs["name"] = [f"member {i}" if name != "ncol" else f"member{i}" for i in range(34)]
    if name == "pajek":
        graph.vs["id"] = graph.vs["name"]
    graph.es["weight"] = [float(i % 5) + 0.5 for i in range(78)]
    path = tmp_path / f"karate.{name}"
    graph.write(str(path), format=name)
    label = {"graphml": "name", "gml": "name"}.get(name)
    t = gio.read(path, name, **({"label": label} if label else {}))
    names = graph.vs["name"]
    expected = sorted((*sorted((names[e.source], names[e.target])), e["weight"]) for e in graph.es)
    back = as_networkx(t)
    assert sorted((*sorted(ends), w) for *ends, w in back.edges(data="weight")) == expected
    gio.write(t, tmp_path / "ours", name)
    ours = ig.Graph.Read(str(tmp_path / "ours"), format=name)
    assert (ours.vcount(), ours.ecount(), sorted(ours.es["weight"])) == (34, 78, sorted(graph.es["weight"]))


# MatrixMarket and SciPy


def matrix(symmetric: bool, dtype: Any = float) -> sp.coo_array:
    dense = np.array([[0, 2, 0, 1], [0, 0, 3, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype)
    return sp.coo_array(dense + dense.T if symmetric else dense)


@pytest.mark.parametrize(("symmetry", "symmetric"), [("general", True), ("general", False), ("symmetric", True)])
@pytest.mark.parametrize(
    ("field", "dense"), [("real", True), ("real", False), ("integer", True), ("integer", False), ("pattern", False)]
)
def test_matrices_of_scipy_are_read(symmetry: str, field: str, symmetric: bool, dense: bool) -> None:
    a = matrix(symmetric, int if field == "integer" else float)
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, a.toarray() if dense else a, field=field, symmetry=symmetry)
    t = read(stream.getvalue(), "mtx")
    assert t.directed is not symmetric
    assert ("weight" in t.edge_attributes) == (field != "pattern")
    weights = [1, 1, 1] if field == "pattern" else [2, 1, 3]
    got = dict(zip(map(frozenset, zip(t.source.tolist(), t.target.tolist(), strict=True)), weights, strict=True))
    if field != "pattern":
        got = dict(zip(got, values_of(t.edge_attributes["weight"]), strict=True))
    expected = {frozenset((0, 1)): 2, frozenset((0, 3)): 1, frozenset((1, 2)): 3}
    assert got == (dict.fromkeys(expected, 1) if field == "pattern" else expected)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [np.array([2, 1, 3]), np.array([0.1, 1e-300, 3]), None])
def test_scipy_reads_our_matrices(directed: bool, weight: Any) -> None:
    u, v = np.array([0, 0, 1]), np.array([1, 3, 2])
    table = EdgeTable(4, u, v, None, directed, {} if weight is None else {"weight": weight})
    a = scipy.io.mmread(io.BytesIO(write(table, "mtx")[0])).toarray()
    expected = np.zeros((4, 4))
    expected[u, v] = 1 if weight is None else weight
    np.testing.assert_array_equal(a, expected if directed else expected + expected.T)


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr", "dia"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_sparse_npz_of_scipy_is_read(layout: str, symmetric: bool) -> None:
    stream = io.BytesIO()
    sp.save_npz(stream, matrix(symmetric).asformat(layout))
    t = read(stream.getvalue(), "npz")
    assert t.directed is not symmetric
    stored = sp.coo_array((values_of(t.edge_attributes["weight"]), (t.source, t.target)), shape=(4, 4)).toarray()
    np.testing.assert_array_equal(stored, matrix(False).toarray())


def test_entries_of_a_matrix_are_loops_zeros_and_parallel_edges() -> None:
    head = "%%MatrixMarket matrix coordinate real symmetric\n% x\n\n3 3 3\n"
    assert read(head + "1 1 1\n2 1 1\n3 2 1\n", "mtx").source.tolist() == [0, 1, 2]
    with pytest.raises(GraphError, match=r"self-loop.*\(the stream, line 5\)"):
        read(head + "1 1 1\n2 1 1\n3 2 1\n", "mtx").canonical()
    with pytest.raises(GraphError, match=r"\(the stream, line 7\) has the weight 0"):
        read(head + "2 1 1\n% y\n3 1 0\n3 2 1\n", "mtx").canonical()
    with pytest.raises(GraphError, match="1 parallel edge"):
        read(head + "2 1 1\n2 1 4\n3 2 1\n", "mtx").canonical()
    stream = io.BytesIO()
    sp.save_npz(stream, sp.coo_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2)))
    with pytest.raises(GraphError, match=r"\(the stream, entry number 0\) has the weight 0"):
        read(stream.getvalue(), "npz").canonical()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "empty"),
        ("1 2\n", "line 1: the first line is not a MatrixMarket header"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", "line 1: a matrix that is 'complex'"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n", "line 1: a matrix that is 'skew-symm"),
        (
            "%%MatrixMarket matrix coordinate real general\n%\n2 3 1\n1 2 1\n",
            "line 3: a matrix of 2 rows and 3 columns",
        ),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n1 2 1\n", "line 2: the numbers of rows, columns and ent"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "line 2: the header says 2 entries.*has 1"),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n",
            "line 3: an entry of a real coordinate matrix is",
        ),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n\n1 2\n", "line 5: the row has 2 cells where"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n1 3 1\n", "line 4: '3' is not a row or column"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n0 1 1\n", "line 4: '0' is not a row or column"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n1 x 1\n", "line 4: 'x' is not a row or column"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 x\n", "line 4: the weight 'x' is not a num"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "line 2: the header says 4 entries"),
    ],
)
def test_broken_matrices_are_refused_with_their_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "mtx")


# METIS


def test_metis_weights_sizes_and_comments_are_read() -> None:
    body = "% graph\n4 3 111 2\n9 1 2  2 5 3 7\n% inside\n8 3 4  1 5\n7 5 6  1 7\n\n6 7 8\n".replace("\n\n", "\n")
    t = read(body.replace("4 3", "4 2"), "metis")
    assert (t.n_nodes, t.source.tolist(), t.target.tolist()) == (4, [0, 0], [1, 2])
    assert values_of(t.edge_attributes["weight"]) == [5, 7]
    assert {k: values_of(v) for k, v in t.node_attributes.items()} == {
        "vertex_size": [9, 8, 7, 6],
        "vertex_weight1": [1, 3, 5, 7],
        "vertex_weight2": [2, 4, 6, 8],
    }
    assert t.row_name
    assert t.row_name(1) == "the stream, line 3"


def test_blank_lines_of_metis_are_isolated_nodes() -> None:
    t = read("4 1\n\n3\n2\n\n\n", "metis")
    assert (t.n_nodes, t.source.tolist(), t.target.tolist()) == (4, [1], [2])


def test_metis_vertex_attributes_are_written() -> None:
    attributes = {"vertex_weight": [3, 1, 2], "vertex_size": np.array([1, 1, 4])}
    table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), node_attributes=attributes)
    data, notes = write(table, "metis")
    assert (data, notes) == (b"3 2 110\n1 3 2\n1 1 1 3\n4 2 2\n", [])
    check_round_trip(table, read(data, "metis"), [], "metis")


def test_metis_notes_weights_that_are_not_whole() -> None:
    table = EdgeTable(2, np.array([0]), np.array([1]), edge_attributes={"weight": [0.5]})
    assert "not whole numbers" in write(table, "metis")[1][0]
    whole = EdgeTable(2, np.array([0]), np.array([1]), edge_attributes={"weight": [2.0]})
    assert write(whole, "metis") == (b"2 1 001\n2 2\n1 2\n", [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a b\n", "line 1: a METIS header should stand here"),
        ("% x\n\n3\n", "line 3: a METIS header should stand here"),
        ("3 2\n2\n1 3\n", "line 1: the header says 3 nodes, and only 2 lines follow"),
        ("2 1\n2\n1\n\n1\n", "line 5: the header says 2 nodes, and more lines follow"),
        ("2 2\n2\n1\n", "line 1: the header says 2 edges, and the file has 1"),
        ("2 1\n3\n1\n", "line 2: the neighbour '3' is not a node from 1 to 2"),
        ("2 1\n2\n0\n", "line 3: the neighbour '0' is not a node"),
        ("2 1\n2\n1 x\n", "line 3: the neighbour 'x' is not a number"),
        ("2 1\n2\n1.5\n", "line 3: the neighbour '1.5' is not a node"),
        ("3 2\n2 3\n1\n\n", "line 2: node 1 lists the neighbour 3, and node 3 .line 4. does not list it back"),
        ("2 1 001\n2 5\n1 6\n", "line 2: node 1 lists the neighbour 2 with the weight 5, and"),
        ("2 1 001\n2 5\n1\n", "line 3: 1 numbers do not fit the header's format"),
        ("2 1 001\n2 x\n1 5\n", "line 2: the weight 'x' is not a number"),
        ("2 1 010\n1 2\n\n", "line 3: 0 numbers do not fit"),
        ("2 2\n2 2\n1\n", "line 2: node 1 lists the neighbour 2"),
    ],
)
def test_broken_metis_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "metis")


def test_loops_can_not_be_written_as_metis() -> None:
    with pytest.raises(FileError, match="can't hold the self-loop at 'b'"):
        write(EdgeTable(2, np.array([0, 1]), np.array([1, 1]), ["a", "b"]), "metis")


# Pajek


PAJEK = """% made by hand
*Network a small one
*Vertices 4
1 "Ann A" 0.1 0.2 0.5 box ic Red [1-3]
3 "Cem, C" 0.3 0.4 0.5 ic "Light Blue"
2 Bob 0.5 0.5 0.5
*Edges
1 2 2.5
2 3 1 l "is near" c Blue
*Partition clubs
*Vertices 4
1
1
2
2
*Vector
*Vertices 4
0.5
1
1
2
"""


def test_pajek_sections_become_attributes() -> None:
    t = read(PAJEK, "pajek")
    assert (t.directed, t.labels, t.graph_attributes) == (
        False,
        ("Ann A", "Bob", "Cem, C", "4"),
        {"name": "a small one"},
    )
    assert {k: values_of(v) for k, v in t.edge_attributes.items()} == {
        "weight": [2.5, 1.0],
        "l": [None, "is near"],
        "c": [None, "Blue"],
    }
    assert {k: values_of(v) for k, v in t.node_attributes.items()} == {
        "x": [0.1, 0.5, 0.3, None],
        "y": [0.2, 0.5, 0.4, None],
        "z": [0.5, 0.5, 0.5, None],
        "shape": ["box", None, None, None],
        "ic": ["Red", None, "Light Blue", None],
        "time": ["[1-3]", None, None, None],
        "clubs": [1, 1, 2, 2],
        "vector": [0.5, 1.0, 1.0, 2.0],
    }
    assert t.row_name
    assert t.row_name(1) == "the stream, line 9"


def test_pajek_arcs_and_edges_mixed_are_arcs_both_ways() -> None:
    t = read("*vertices 3\n*ARCS\n1 2 3\n*edges\n2 3 4\n3 3 1\n", "pajek")
    assert t.directed
    assert list(zip(t.source.tolist(), t.target.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 2), (2, 1)]
    assert values_of(t.edge_attributes["weight"]) == [3, 4, 1, 4]
    assert t.labels is not None
    assert list(t.labels) == [1, 2, 3]


def test_pajek_lists_matrices_and_relations_are_read() -> None:
    t = read("*Vertices 4\n*Edgeslist\n1 2 3\n4 1\n", "pajek")
    assert (t.source.tolist(), t.target.tolist(), t.directed) == ([0, 0, 3], [1, 2, 0], False)
    assert read("*Vertices 4\n*Arcslist\n1 2\n", "pajek").directed
    t = read("*Vertices 3\n*Matrix\n0 1 0\n1 0 2\n0 2 0\n", "pajek")
    assert (t.source.tolist(), t.target.tolist(), t.directed) == ([0, 1], [1, 2], False)
    assert values_of(t.edge_attributes["weight"]) == [1, 2]
    assert read("*Vertices 2\n*Matrix\n0 1\n0 0\n", "pajek").directed
    t = read('*Vertices 3\n*Edges :1 "likes"\n1 2 1\n*Edges :2\n2 3 1\n', "pajek")
    assert values_of(t.edge_attributes["relation"]) == ["likes", "2"]


def test_pajek_labels_can_be_the_numbers() -> None:
    body = '*Vertices 2\n1 "x"\n2 "x"\n*Edges\n1 2\n'
    with pytest.raises(FileError, match=r"line 3: the node label 'x' stands in line 2 already: pass label=\"id\""):
        read(body, "pajek")
    t = read(body, "pajek", label="id")
    assert list(t.labels or ()) == [1, 2] if not isinstance(t.labels, np.ndarray) else t.labels.tolist() == [1, 2]
    assert values_of(t.node_attributes["label"]) == ["x", "x"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("hello\n", r"line 1: 'hello' stands where a section such as \*Vertices should, or two numbers"),
        ("1 2\nx 3\n", "line 2: 'x 3' stands where a section"),
        ("% only\n", "there are only comments"),
        ("1 2\n*Vertices 2\n", "line 1: '1 2' looks like a link and stands before the first section"),
        ("*Network x\n", "there is no section"),
        ("*Edges\n1 2\n", r"line 1: \*edges stands before \*Vertices"),
        ("*Vertices\n", "line 1: the number of vertices should follow"),
        ("*Vertices 2\n*Vertices 2\n", "line 2: a second network begins"),
        ("*Vertices 2\n3 a\n", "line 2: '3' is not a vertex from 1 to 2"),
        ("*Vertices 2\n1 a\n1 b\n", "line 3: vertex 1 stands in line 2 already"),
        ('*Vertices 2\n1 "a\n', "line 2: a quote is opened and never closed"),
        ("*Vertices 2\n1 a 0 0 0 box ic\n", "line 2: 'ic' has no value"),
        ("*Vertices 2\n*Edges\n1 2\n\n1 3\n", "line 5: '3' is not a vertex"),
        ("*Vertices 2\n*Edges\n1 2\n2\n", "line 4: two vertices should stand here"),
        ("*Vertices 2\n*Edges\n1 2 x\n", "line 3: the weight 'x' of the edge '1', '2' is not a number"),
        ("*Vertices 2\n*Hierarchy\n1\n", r"line 2: the section \*hierarchy can't be read"),
        ("*Vertices 2\n*Matrix\n0 1\n", r"line 2: \*Matrix has 1 rows"),
        ("*Vertices 2\n*Partition p\n*Vertices 2\n1\n", "line 3: 'p' has 1 values for 2 vertices"),
    ],
)
def test_broken_pajek_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "pajek")


# GML


GML = """Creator "hand" # a comment
graph [ directed 0 name "two &amp; &#x62;" tags "a" tags "b"
  node [ id 1 label "b" graphics [ x 1.5 y -2 ] ]
  node [
    id 0
    label "a" value NAN
  ]
  edge [ source 1 target 0 value 1e-3 ]
  edge [ source 0 target 1 value +INF ]
]
"""


def test_gml_is_read_with_nested_and_repeated_keys() -> None:
    t = read(GML, "gml")
    assert t.labels == ("b", "a")
    assert t.graph_attributes == {"name": "two & b", "tags": ["a", "b"]}
    assert t.node_attributes["graphics"] == [{"x": 1.5, "y": -2}, None]
    assert values_of(t.edge_attributes["value"]) == [0.001, float("inf")]
    with pytest.raises(GraphError, match=r"1 parallel edge.*\(the stream, line 9\)"):
        t.canonical()
    data, notes = write(t, "gml")
    assert notes == []
    check_round_trip(t, read(data, "gml"), [], "gml")


def test_gml_without_labels_uses_ids() -> None:
    t = read("graph [ node [ id 5 ] node [ id 3 ] edge [ source 3 target 5 ] ]", "gml")
    assert t.labels is not None
    assert (list(t.labels), t.source.tolist()) == ([5, 3], [1])


def test_gml_label_can_be_another_attribute() -> None:
    body = 'graph [ node [ id 1 label "x" code 7 ] node [ id 2 label "x" code 9 ] edge [ source 1 target 2 ] ]'
    with pytest.raises(FileError, match=r"the node label 'x' stands in line 1 already: pass label=\"id\""):
        read(body, "gml")
    for option, labels in (("id", [1, 2]), ("code", [7, 9])):
        t = read(body, "gml", label=option)
        assert t.labels is not None
        assert list(t.labels) == labels
        assert values_of(t.node_attributes["label"]) == ["x", "x"]
    with pytest.raises(FileError, match=r"no node has the attribute 'nope' named as label=.*'label', 'code'"):
        read(body, "gml", label="nope")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("hello\n", "cut off or damaged"),
        ("x 1\n", r"there is no graph \[ … \] in it"),
        ("graph 1\n", r"one graph \[ … \] should stand"),
        ("graph [\n node [ id 0 ]\n", r"line 1: the bracket is never closed: the file is cut off"),
        ("graph [\n]\n]\n", "line 3: a ] closes nothing"),
        ("graph [\n node [ id ]\n]\n", "line 2: a value should follow 'id'"),
        ("graph [\n node [ label a ]\n]\n", r"line 2: a value should follow 'label', not 'a \]' \(text needs quotes\)"),
        ('graph [\n\n name "abc\n]\n', "line 3: a quote is opened and never closed"),
        ("graph [\n 5 6\n]\n", "line 2: a key should stand here, not '5 6'"),
        ("graph [\n a $\n]\n", r"line 2: a value should follow 'a', not '\$'"),
        ("graph [\n $ 1\n]\n", r"line 2: a key should stand here, not '\$ 1'"),
        ("graph [\n node [ label 5 ]\n]\n", "line 2: the node should have one 'id'"),
        ("graph [\n node [ id 1 ]\n node [ id 1 ]\n]\n", "line 3: the node id 1 stands in line 2 already"),
        ("graph [\n node [ id 1 ]\n edge [ source 1 target 2 ]\n]\n", "line 3: the edge's target 2 is not the id"),
        ("graph [\n node [ id 1 ]\n edge [ source 1 ]\n]\n", "line 3: the edge should have one 'target'"),
        ("graph [\n node 5\n]\n", "node 5 should be node"),
        ('graph [\n node [ id 1 label "a" ]\n node [ id 2 ]\n]\n', "line 3: the node has no 'label', and others have"),
    ],
)
def test_broken_gml_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "gml")


# GraphML


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key id="w" for="edge" attr.name="weight" attr.type="double"/>
<key id="c" for="node" attr.name="color" attr.type="string"><default>yellow</default></key>
<key id="ok" for="all" attr.name="ok" attr.type="boolean"/>
<key id="g" for="node" yfiles.type="nodegraphics"/>
<graph id="G" edgedefault="undirected"><desc>not read</desc>
 <data key="ok">true</data>
 <edge id="e0" source="n0" target="n1" sourceport="north"><data key="w">1.5</data></edge>
 <node id="n0"><data key="c">gr
een</data><data key="g"><y:ShapeNode><y:node id="no"/><node id="no"/></y:ShapeNode></data></node>
 <node id="n1"><port name="north"><data key="c">ignored</data></port></node>
 <edge id="e1" source="n1" target="n1"><data key="w">NaN</data></edge>
</graph></graphml>
"""


def test_graphml_keys_defaults_ids_and_ports_are_read() -> None:
    t = read(GRAPHML, "graphml")
    assert (t.labels, t.source.tolist(), t.target.tolist(), t.directed) == (("n0", "n1"), [0, 1], [1, 1], False)
    assert t.graph_attributes == {"id": "G", "ok": True}
    assert t.node_attributes == {"color": ["gr\neen", "yellow"]}
    assert {k: values_of(v) for k, v in t.edge_attributes.items() if k != "weight"} == {
        "id": ["e0", "e1"],
        "source_port": ["north", None],
    }
    np.testing.assert_equal(values_of(t.edge_attributes["weight"]), [1.5, float("nan")])
    assert t.row_name
    assert t.row_name(1) == "the stream, line 13"
    assert read(GRAPHML, "graphml", label="color").labels == ("gr\neen", "yellow")


def test_graphml_in_another_declared_encoding_is_read() -> None:
    data = '<?xml version="1.0" encoding="ISO-8859-1"?><graphml><graph><node id="é"/></graph></graphml>'
    assert read(data.encode("latin1"), "graphml").labels == ("é",)


def test_graphml_edges_can_all_be_directed() -> None:
    body = '<graphml><graph edgedefault="undirected"><node id="a"/>\n{}</graph></graphml>'
    edge = '<edge source="a" target="a" directed="true"/>'
    assert read(body.format(edge), "graphml").directed
    with pytest.raises(FileError, match="line 3: directed and undirected edges are mixed"):
        read(body.format(f'{edge}\n<edge source="a" target="a"/>'), "graphml")


def graphml(body: str) -> str:
    key = '<key id="k" for="all" attr.name="k" attr.type="int"/>'
    return f"<graphml>{key}\n<graph>\n<node id='a'/>\n{body}\n</graph></graphml>"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("hello", "line 1: broken XML"),
        ("<html></html>", "line 1: the file is XML, but its root is <html>, not <graphml>"),
        ("<graphml></graphml>", "there is no <graph> in it"),
        ("<graphml>\n<graph>\n", "line 3: broken XML .no element found.: it is cut off"),
        (graphml("<node/>"), "line 4: the <node> has no id"),
        (graphml("<node id='a'/>"), "line 4: the node id 'a' stands in line 3 already"),
        (graphml("<edge source='a'/>"), "line 4: the <edge> has no target"),
        (graphml("<edge source='a' target='b'/>"), "line 4: the edge's target 'b' is not the id of a node"),
        (graphml("<hyperedge/>"), "line 4: a hyperedge joins more than two nodes"),
        (graphml("<graph/>"), "line 4: a second graph begins"),
        (graphml("<data key='k'>x</data>"), r"line 4: 'x' is not a value of the type 'int' \('k'\)"),
        (graphml("<data key='k'>1_0</data>"), "line 4: '1_0' is not a value"),
        (graphml("<data key='k'></data>"), "line 4: '' is not a value"),
        (graphml("<data key='k'>1</data><data key='k'>2</data>"), "line 4: a second value of 'k' for the same graph"),
        (graphml("<data key='z'>1</data>"), "line 4: the <data> has the key 'z', which no <key> declares"),
        ("<graphml><key id='k' attr.name='k' attr.type='blob'/></graphml>", "a type other than boolean, int"),
    ],
)
def test_broken_graphml_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "graphml")


def test_characters_that_xml_lacks_are_refused_in_labels_and_noted_in_attributes() -> None:
    with pytest.raises(FileError, match=r"XML can't hold the character '\\x01'"):
        write(EdgeTable(1, np.zeros(0, int), np.zeros(0, int), ["\x01"]), "graphml")
    notes = write(EdgeTable(1, np.zeros(0, int), np.zeros(0, int), node_attributes={"x": ["\x01"]}), "graphml")[1]
    assert notes[0].startswith("node attribute 'x' not in the file")


# npz and parquet


@given(
    ANYTHING | st.dictionaries(INTS | WORDS, ANYTHING, max_size=3) | st.sets(INTS) | st.binary() | st.complex_numbers()
)
def test_json_gives_values_back(value: Any) -> None:
    back = jsontext.loads(jsontext.dumps(value))
    assert type(back) is type(value)
    assert repr(back) == repr(value) or back == value


def test_values_without_json_are_left_out_with_a_note() -> None:
    table = EdgeTable(
        1, np.array([0]), np.array([0]), edge_attributes={"f": [print], "x": [1]}, node_attributes={"g": [len]}
    )
    for name in ("npz", "parquet"):
        data, notes = write(table, name)
        assert [note.split(":")[0] for note in sorted(notes)] == [
            "edge attribute 'f' not in the file",
            "node attribute 'g' not in the file",
        ]
        assert list(read(data, name).edge_attributes) == ["x"]


def test_npz_keeps_array_types_and_positions() -> None:
    nodes = {"pos": [np.array([0.5, 1.0]), np.array([1, 2])], "name": np.array(["é", "b"])}
    edges = {"w": np.array([1.5], np.float32), "b": np.array([True])}
    back = read(write(EdgeTable(2, np.array([0]), np.array([1]), None, False, edges, nodes), "npz")[0], "npz")
    assert {k: v.dtype for k, v in back.edge_attributes.items()} == {"w": np.float32, "b": np.bool_}
    np.testing.assert_array_equal(back.node_attributes["name"], nodes["name"])
    np.testing.assert_array_equal(back.node_attributes["pos"], nodes["pos"])


def parquet(columns: dict[str, Any]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def test_parquet_of_other_programs_is_read() -> None:
    pa = pytest.importorskip("pyarrow")
    t = read(
        parquet({"to": ["x", "7"], "from": ["7", "y"], "Weight": [0.5, 2.0], "n": [1, None], "ok": [True, False]}),
        "parquet",
    )
    assert [(t.label(u), t.label(v)) for u, v in zip(t.source, t.target, strict=True)] == [("7", "x"), ("y", "7")]
    assert {k: values_of(v) for k, v in t.edge_attributes.items()} == {
        "weight": [0.5, 2.0],
        "n": [1, None],
        "ok": [True, False],
    }
    words = pa.array(["a", "b"]).dictionary_encode()
    assert read(parquet({"u": words, "v": words, "c": words}), "parquet").edge_attributes["c"] == ["a", "b"]
    ints = read(parquet({"u": np.array([5, 9], np.uint8), "v": np.array([9, 2], np.int32)}), "parquet")
    assert ints.labels is not None
    assert list(ints.labels) == [2, 5, 9]


def test_parquet_of_pandas_is_read_and_pandas_reads_ours() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.5, 2.0]})
    stream = io.BytesIO()
    frame.to_parquet(stream)
    t = read(stream.getvalue(), "parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(write(t, "parquet")[0])), frame)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1], "b": [2]}, r"no columns are called source and target, or the like \(columns: a, b\)"),
        ({"u": [1, None], "v": [2, 3]}, "row 2 has no 'u'"),
        ({"u": [1.0], "v": [2.0]}, "the columns 'u' and 'v' are double and double"),
        ({"u": [1], "v": ["a"]}, "are int64 and string"),
        ({"u": np.array([2**63], np.uint64), "v": [1]}, "beyond 64-bit integers"),
    ],
)
def test_parquet_without_ends_is_refused(columns: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(parquet(columns), "parquet")


@pytest.mark.skipif(not DATA, reason="set GRAPHPRI_DATA to the folder of data sets")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "file", ["karate/edges.csv", "graphs_small/netscience_weighted.csv", "graphs_small/power_grid.csv"]
)
def test_real_graphs_survive_every_format(name: str, file: str) -> None:
    assert DATA
    t = gio.read(Path(DATA) / file)
    data, _ = write(t, name + ".gz")
    one, other = t.canonical().graph, read(data, name).canonical().graph
    for field in ("source", "target", "weights"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_labels_that_a_spreadsheet_runs_are_written_as_they_are_and_mentioned_once(name: str, tmp_path: Path) -> None:
    rows = np.array([0, 1, 2]), np.array([1, 2, 3])
    table = EdgeTable(4, *rows, labels=["=1+1", "@sum", "plain", "-5"])
    notes = gio.write(table, tmp_path / name)
    assert [note for note in notes if "spreadsheet" in note] == [
        "a spreadsheet may run '=1+1' as a formula: open the file as text there"
    ]
    assert list(gio.read(tmp_path / name).labels or []) == ["=1+1", "@sum", "plain", "-5"]
    numbers = EdgeTable(4, *rows, labels=["-1", "+2", "x", "-"], edge_attributes={"weight": np.array([-1.0, 1.0, 2.0])})
    assert not [note for note in gio.write(numbers, tmp_path / f"b{name}") if "spreadsheet" in note]


def test_parquet_whose_columns_differ_in_length_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    gio.write(EdgeTable(3, np.array([0, 1]), np.array([1, 2])), path)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = data.copy()
        damaged[int(rng.integers(0, len(data)))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        with contextlib.suppress(GraphPRIError):  # what is not read is refused by a message, and nothing else
            gio.read(path)
