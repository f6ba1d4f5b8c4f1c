"""Large tables and files: compiled code gives what the code for small ones gives, in bounded memory, all or nothing."""

from __future__ import annotations

import errno
import gzip
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import zoo
from graphpri import _runtime, graph, interop
from graphpri import io as gio
from graphpri.cli import main
from graphpri.errors import FileError, GraphError, GraphPRIError, MemoryLimitError, OptionError
from graphpri.graph import MOST_EDGES, EdgeTable, Graph
from graphpri.io import columns, delimited, parquet, rows
from graphpri.io.source import CHUNK

Patch = pytest.MonkeyPatch


@contextmanager
def every_size_is_large() -> Iterator[None]:
    """Whatever is done for large tables and files only is done for all."""
    with Patch.context() as patch:
        for module, name in ((graph, "COMPILED"), (rows, "LARGE"), (rows, "_HEAD"), (columns, "_FEW")):
            patch.setattr(module, name, 1)
        patch.setattr(rows, "LARGE_TEXT", 0)
        patch.setattr(parquet, "_LARGE", 0)
        patch.setattr(parquet, "_MANY", 0)
        yield


def both_ways(call: Any) -> tuple[Any, Any]:
    """What a call gives as for small input and as for large: a result, or an error."""
    found: list[Any] = []
    for large in (False, True):
        try:
            if large:
                with every_size_is_large():
                    found.append(call())
            else:
                found.append(call())
        except GraphPRIError as error:
            found.append((type(error), str(error)))
    return found[0], found[1]


def plain(table: Any) -> Any:
    """Everything that a table says, in values that can be compared."""
    if not isinstance(table, EdgeTable):
        return table
    columns = {
        name: [str(column.dtype), column.tobytes()] if isinstance(column, np.ndarray) else column
        for name, column in table.edge_attributes.items()
    }
    labels = table.labels if table.labels is None else [table.label(i) for i in range(table.n_nodes)]
    ends = [table.source.tolist(), table.target.tolist(), str(table.source.dtype)]
    lines = [table.row_name(row) for row in range(table.source.size)] if table.row_name else None
    return [table.n_nodes, *ends, labels, table.directed, columns, lines]


def arrays(graph: Graph) -> list[Any]:
    return [graph.n_nodes, graph.source.tolist(), graph.target.tolist(), graph.weights.tolist(), graph.weight_name]


def numbers(order: Any, size: int) -> list[int]:
    return np.arange(size)[order].tolist()


# Sorting


@st.composite
def pairs(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    top = draw(st.sampled_from([1, 5, 300, 70_000, 2**31 - 1]))
    ids = st.integers(0, top) | st.integers(0, min(top, 3))
    listed = draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=60))
    u, v = np.array(listed, draw(st.sampled_from([np.int32, np.int64]))).T
    return u, v


@given(pairs())
def test_compiled_sort_is_that_of_numpy(ends: tuple[np.ndarray, np.ndarray]) -> None:
    expected = graph.sort_pairs(*ends)
    with every_size_is_large():
        found = graph.sort_pairs(*ends)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shape", ["random", "star", "path", "regular", "wide"])
def test_a_million_edges_are_sorted(shape: str) -> None:
    m = 1_100_000
    rng = np.random.default_rng(3)
    u, v = {
        "random": (rng.integers(0, 100_000, m), rng.integers(100_000, 200_000, m)),
        "star": (np.zeros(m, int), rng.permutation(m) + 1),
        "path": (np.arange(m), np.arange(1, m + 1)),
        "regular": (np.arange(m) % (m // 2), (np.arange(m) % (m // 2) + 1 + np.arange(m) // (m // 2)) % (m // 2)),
        "wide": (rng.integers(0, 2**30, m), rng.integers(2**30, 2**31 - 1, m)),
    }[shape]
    order = rng.permutation(m)
    turned = rng.random(m) < 0.5
    a, b = np.where(turned, v, u)[order], np.where(turned, u, v)[order]
    found = graph.sort_pairs(a, b)
    low, high = np.minimum(a, b), np.maximum(a, b)
    expected = np.argsort(low * 2**31 + high, kind="stable")
    np.testing.assert_array_equal(found.order, expected)
    np.testing.assert_array_equal(found.low, low[expected])
    np.testing.assert_array_equal(found.high, high[expected])


@st.composite
def listings(draw: Any) -> tuple[EdgeTable, dict[str, str]]:
    n = draw(st.integers(1, 6))
    listed = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=14))
    u, v = np.array(listed).T
    weights = st.floats(1e-3, 1e3) | st.just(1.0) | st.just(1e308)
    columns = {}
    if draw(st.booleans()):
        columns = {"weight": np.array(draw(st.lists(weights, min_size=u.size, max_size=u.size)))}
    labels = draw(st.none() | st.permutations(range(n)).map(lambda order: np.array(order) * 7))
    policies = {
        "directed": draw(st.sampled_from(["refuse", "symmetrize"])),
        "loops": draw(st.sampled_from(["refuse", "drop"])),
        "parallel": draw(st.sampled_from(["refuse", "sum", "max", "first"])),
    }
    return EdgeTable(n, u, v, labels, draw(st.booleans()), columns), policies


@given(listings())
@settings(max_examples=300)
def test_canonical_form_and_errors_are_the_same_for_large_tables(listing: tuple[EdgeTable, dict[str, str]]) -> None:
    table, policies = listing

    def call() -> Any:
        found = table.canonical(**policies)
        size = found.graph.n_edges
        maps = [numbers(found.edges, size), numbers(found.rows, table.source.size), numbers(found.nodes, table.n_nodes)]
        return [*arrays(found.graph), *maps, found.notes]

    small, large = both_ways(call)
    assert small == large
    if isinstance(small, list):
        edges, kept, nodes = small[5:8]
        ends = zip(table.source[kept].tolist(), table.target[kept].tolist(), strict=True)
        assert kept == sorted(kept)
        assert [sorted((nodes[a], nodes[b])) for a, b in ends] == [[small[1][i], small[2][i]] for i in edges]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_large_matrices_come_back_as_small_ones_do(form: str) -> None:
    graph = zoo.random_graph(30, 120, 5, weighted=True)
    matrix = graph.adjacency().asformat(form)

    def call() -> Any:
        source = interop.load(matrix)
        mask = np.arange(source.graph.n_edges) % 3 == 0
        return [*arrays(source.graph), source.rebuild(mask).todense().tolist()]

    small, large = both_ways(call)
    assert small == large
    assert arrays(graph)[:4] == small[:4]


def test_threads_do_not_change_the_graph(monkeypatch: Patch) -> None:
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 5000, (2, graph.COMPILED + 1000))
    table = EdgeTable(5000, u, v, edge_attributes={"weight": rng.random(u.size) + 0.1})
    found: list[Any] = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("GRAPHPRI_THREADS", threads)
        found.append(table.canonical(loops="drop", parallel="sum"))
    for other in found[1:]:
        assert other.graph.weights.tobytes() == found[0].graph.weights.tobytes()
        np.testing.assert_array_equal(other.graph.source, found[0].graph.source)
        np.testing.assert_array_equal(other.edges, found[0].edges)


# Tables in canonical order, and limits


def test_canonical_rows_keep_their_order_at_no_cost() -> None:
    graph = zoo.large()
    table = EdgeTable(graph.n_nodes, graph.source, graph.target, edge_attributes={"weight": np.ones(graph.n_edges)})
    found = table.canonical()
    assert (found.edges, found.rows, found.nodes) == (slice(None),) * 3
    assert np.shares_memory(found.graph.source, graph.source)
    assert np.shares_memory(found.graph.target, graph.target)


def test_arrays_that_somebody_may_change_are_copied() -> None:
    u, v, w = np.arange(5), np.arange(1, 6), np.ones(5)
    u, v = u.astype(np.int32), v.astype(np.int32)
    view = u[:]
    view.setflags(write=False)
    graph = EdgeTable(6, view, v, edge_attributes={"weight": w}).canonical().graph
    for mine, given_by_me in ((graph.source, u), (graph.target, v), (graph.weights, w)):
        assert not np.shares_memory(mine, given_by_me)
        assert not mine.flags.writeable
    assert u.flags.writeable


def test_rows_out_of_order_are_found_at_any_place() -> None:
    u, v = np.arange(1000, dtype=np.int32), np.arange(1, 1001, dtype=np.int32)
    assert graph.in_order(u, v)
    for swapped in (0, 500, 998):
        a, b = u.copy(), v.copy()
        a[[swapped, swapped + 1]], b[[swapped, swapped + 1]] = a[[swapped + 1, swapped]], b[[swapped + 1, swapped]]
        assert not graph.in_order(a, b)
        a, b = u.copy(), v.copy()
        a[swapped], b[swapped] = v[swapped], u[swapped]
        assert not graph.in_order(a, b)
    with Patch.context() as patch:
        patch.setattr(graph, "CHUNK", 7)
        assert graph.in_order(u, v)
        for place in range(6, 9):
            b = v.copy()
            b[place] = u[place] = 0
            assert not graph.in_order(u, b)
            u[place] = place


def test_more_edges_than_four_bytes_count_are_refused_before_any_work() -> None:
    many = np.broadcast_to(np.int32(0), (MOST_EDGES + 1,))
    with pytest.raises(GraphError, match=r"2147483648 edges are too many: a graph can have 2147483647"):
        EdgeTable(1, many, many).canonical()


@pytest.mark.parametrize("large", [False, True])
def test_node_ids_beyond_four_bytes_are_labels(large: bool) -> None:
    text = b"source,target\n" + b"\n".join(b"%d,%d" % (2**62 - i, 2**33 + i) for i in range(50)) + b"\n"
    if large:
        with every_size_is_large():
            table = gio.read(io.BytesIO(text), "csv")
    else:
        table = gio.read(io.BytesIO(text), "csv")
    graph = table.canonical().graph
    assert graph.n_nodes == 100
    assert isinstance(table.labels, np.ndarray)
    assert graph.source.dtype == np.int32
    assert {graph.edge_labels(i) for i in range(50)} == {(2**33 + i, 2**62 - i) for i in range(50)}


def test_ids_beyond_64_bits_are_refused() -> None:
    with pytest.raises(GraphError, match=r"source holds 18446744073709551615, beyond 64-bit integers"):
        Graph.from_edges(np.array([2**64 - 1], np.uint64), [0])


# Memory


@pytest.mark.parametrize(
    ("text", "size"), [("8GB", 2**33), ("1.5g", 3 * 2**29), ("500 MiB", 500 * 2**20), ("12", 12), ("2 T", 2**41)]
)
def test_sizes_of_memory_are_read(text: str, size: int, monkeypatch: Patch) -> None:
    monkeypatch.setenv("GRAPHPRI_MEMORY", text)
    assert _runtime.available() == size


@pytest.mark.parametrize("text", ["", " ", "much", "-1GB", "0", "8 PB", "1e9"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="must be a size of memory such as 8GB"):
        _runtime.parse_size(text)


def test_memory_limits_of_control_groups_count(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.delenv("GRAPHPRI_MEMORY", raising=False)
    monkeypatch.setattr(_runtime, "_CGROUPS", tmp_path)
    monkeypatch.setattr(_runtime, "_MEMBERSHIP", tmp_path / "membership")
    free = _runtime.available()
    assert 0 < free < 2**60
    (tmp_path / "membership").write_text("0::/job/step\n")
    for folder, limit in ((tmp_path / "job", "3000000"), (tmp_path / "job" / "step", "max")):
        folder.mkdir()
        (folder / "memory.max").write_text(limit)
        (folder / "memory.current").write_text("2000000")
        (folder / "memory.stat").write_text("anon 5\ninactive_file 500000\n")
    assert _runtime.available() == 1_500_000
    (tmp_path / "membership").write_text("4:cpu,memory:/old\n1:pids:/job\n")
    old = tmp_path / "memory" / "old"
    old.mkdir(parents=True)
    (old / "memory.limit_in_bytes").write_text("700")
    (old / "memory.usage_in_bytes").write_text("900")
    (old / "memory.stat").write_text("total_inactive_file 300\n")
    assert _runtime.available() == 100
    (old / "memory.limit_in_bytes").write_text("damaged")
    assert _runtime.available() == pytest.approx(free, rel=0.5)


def test_too_little_memory_is_said_with_the_estimate_and_the_way_on(tmp_path: Path, monkeypatch: Patch) -> None:
    with pytest.raises(MemoryLimitError, match=r"a graph of 2305843009213693953 nodes needs about .* TB of memory"):
        Graph.from_edges([0], [2**61])
    monkeypatch.setenv("GRAPHPRI_MEMORY", "1KB")
    u, v = np.arange(1, 101), np.zeros(100, int)
    with every_size_is_large(), pytest.raises(MemoryLimitError) as caught:
        EdgeTable(101, u, v).canonical()
    assert "sorting 100 edges needs about 3.5 KB of memory, and GRAPHPRI_MEMORY allows 1.0 KB" in str(caught.value)
    assert "GRAPHPRI_MEMORY=7KB" in str(caught.value)
    assert isinstance(caught.value, MemoryError)
    monkeypatch.setattr("graphpri.io.source._LARGE", 100)
    for name in ("csv", "csv.gz", "mtx", "parquet"):
        path = tmp_path / f"graph.{name}"
        gio.write(EdgeTable(1001, np.arange(1000), np.arange(1, 1001)), path)
        with every_size_is_large(), pytest.raises(MemoryLimitError, match=rf"graph\.{name}: reading it"):
            gio.read(path)
    monkeypatch.setenv("GRAPHPRI_MEMORY", "1GB")
    assert gio.read(tmp_path / "graph.csv").source.size == 1000


# Text


CELLS = st.sampled_from(["1", "2", "10", "-3", "7", "0", "4", "12", "9223372036854775807"])
ODD = st.sampled_from(
    ["007", "-0", "+5", "1.5", "1e3", "x", "", " 3", "3 ", '"4"', "nan", "1e400", "9223372036854775808"]
)
WEIGHTS = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-99, 99).map(str)
ODD_WEIGHTS = st.sampled_from(["01.5", "1.", ".5", "-.5e-3", "+1", "inf", "1e", "1_0", "-", "0.1e+1", "5e-324", "1e22"])
LINES = st.sampled_from(["", "  ", "# note", "#1,2", "% x", "1", "1,2,3,4", "\t", "1 2 3"])


@st.composite
def texts(draw: Any) -> tuple[str, str]:
    """An edge list, mostly of numbers, and the name of its format."""
    name, mark = draw(st.sampled_from([("csv", ","), ("tsv", "\t"), ("edgelist", " "), ("csv", ";"), ("ncol", " ")]))
    weighted = draw(st.booleans())
    odd = draw(st.integers(0, 3))
    lines = [draw(st.sampled_from(["source,target", "# u v", "# a remark", "%%", "from;to", ""]))] if odd else []
    for _ in range(draw(st.integers(1, 6))):
        row = [draw(CELLS), draw(CELLS)] + ([draw(WEIGHTS)] if weighted else [])
        lines.append(mark.join(row))
    for _ in range(max(odd - 1, 0)):
        at = draw(st.integers(0, len(lines)))
        cell = draw(ODD | ODD_WEIGHTS)
        lines.insert(at, draw(LINES | st.just(mark.join(["1", cell] if not weighted else ["1", "2", cell]))))
    return draw(st.sampled_from(["\n", "\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n", "\n\n \n"])), name


@given(texts())
@settings(max_examples=200)
@example(("1,2\n1,2\t\n", "csv"))
@example(("1\t2\n3\t\n", "tsv"))
@example(("1 2 1.5\n3 4 2\n", "edgelist"))
@example(("a,b\n1,2\n", "csv"))
@example(("1,2,1\n3,4,9223372036854775808\n", "csv"))
@example(("source,target,x\n1,2,9e18\n3,4,1e19\n", "csv"))
def test_edge_lists_are_read_as_small_ones_are(case: tuple[str, str]) -> None:
    text, name = case
    small, large = both_ways(lambda: plain(gio.read(io.BytesIO(text.encode()), name)))
    assert small == large
    with Patch.context() as patch:
        patch.setattr(delimited, "_read_numbers", lambda *_: None)
        slow, _ = both_ways(lambda: plain(gio.read(io.BytesIO(text.encode()), name)))
    assert small == slow


@st.composite
def matrices(draw: Any) -> str:
    field = draw(st.sampled_from(["real", "integer", "pattern"]))
    kind = draw(st.sampled_from(["general", "symmetric"]))
    index = st.integers(1, 4) | st.sampled_from([0, 5, -1, "x", "01", 1.0])
    entries = draw(st.lists(st.tuples(index, st.integers(1, 4), WEIGHTS | ODD_WEIGHTS), min_size=1, max_size=5))
    lines = [" ".join(map(str, entry[: 2 if field == "pattern" else 3])) for entry in entries]
    size = len(lines) + draw(st.sampled_from([0, 0, 0, 1]))
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "% note", "1 2 3 4"])))
    return f"%%MatrixMarket matrix coordinate {field} {kind}\n% note\n4 4 {size}\n" + "\n".join(lines) + "\n"


@given(matrices())
@settings(max_examples=200)
def test_matrix_market_is_read_as_small_files_are(text: str) -> None:
    small, large = both_ways(lambda: plain(gio.read(io.BytesIO(text.encode()), "mtx")))
    assert small == large


@given(
    st.lists(st.tuples(st.sampled_from(["a", "é", "x y", "7", "b" * 20, "07", "12"]), st.integers(0, 9)), min_size=1)
)
def test_text_labels_of_large_files_stand_in_order_of_appearance(pairs: list[tuple[str, int]]) -> None:
    text = "source,target,weight\n" + "".join(f"{a}, {b} ,{b / 3!r}\n" for a, b in pairs)
    small, large = both_ways(lambda: plain(gio.read(io.BytesIO(text.encode()), "csv")))
    assert small == large


DIGITS = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{0,24})?(e-?[0-9]{1,3})?", fullmatch=True)


@given(st.lists(DIGITS | WEIGHTS | st.integers(2**52, 2**64).map(str), min_size=1, max_size=30))
@settings(max_examples=150)
@example(["0.5", "9007199254740993", "9007199254740993.0", "2.2250738585072014e-308", "1.7976931348623157e308"])
@example(["1.00000000000000011102230246251565", "8.5e22", "179769313486231580793e289", "4.9e-324", "0e999", "-0.0"])
def test_decimals_become_the_nearest_floats(words: list[str]) -> None:
    text = "source,target,weight\n" + "".join(f"1,2,{word}\n" for word in words)
    with every_size_is_large():
        column = np.asarray(gio.read(io.BytesIO(text.encode()), "csv").edge_attributes["weight"])
    assert column.astype(np.float64).tobytes() == np.array([float(word) for word in words]).tobytes()


FLOATS = st.floats() | st.sampled_from([1.0, 0.5, 2.0**60, 1e15, 1e16, 1e17, 1e-4, 1e-5, 5e-324, 0.1, 1e22, 1e23, -0.0])


@given(st.lists(FLOATS, min_size=1, max_size=40))
@settings(max_examples=300)
def test_floats_are_written_as_python_writes_them(values: list[float]) -> None:
    pa = pytest.importorskip("pyarrow")
    assert rows.Cells.of(np.array(values)).by_arrow(pa, slice(None)).to_pylist() == list(map(repr, values))


def test_many_random_floats_are_written_shortest() -> None:
    pa = pytest.importorskip("pyarrow")
    bits = np.random.default_rng(1).integers(0, 2**63, 50_000) | 1
    values = np.concatenate([bits.view(np.float64), np.random.default_rng(2).lognormal(0, 9, size=50_000)])
    values = values[np.isfinite(values)]
    assert rows.Cells.of(values).by_arrow(pa, slice(None)).to_pylist() == list(map(repr, values.tolist()))


INTEGERS = st.integers(-(2**63), 2**63 - 1)


@st.composite
def written(draw: Any) -> EdgeTable:
    n = draw(st.integers(2, 5))
    listed = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=8))
    u, v = np.array(listed, np.int32).T
    size = {"min_size": u.size, "max_size": u.size}
    column = draw(
        st.none()
        | st.lists(st.floats(), **size).map(np.array)
        | st.lists(INTEGERS, **size).map(lambda x: np.array(x, np.int64))
        | st.lists(st.integers(0, 2**64 - 1), **size).map(lambda x: np.array(x, np.uint64))
        | st.lists(st.sampled_from(["a", "b c", None, 'q"', "ü", "a\0", "\ud800"]), **size)
    )
    names = st.lists(st.sampled_from(["a", "b b", "ü", "x,y", "#", "z\0"]), min_size=n, max_size=n, unique=True)
    labels = draw(st.none() | names | st.lists(INTEGERS, min_size=n, max_size=n, unique=True).map(np.array))
    key = draw(st.sampled_from(["weight", "x"]))
    return EdgeTable(n, u, v, labels, draw(st.booleans()), {} if column is None else {key: column})


@given(written(), st.sampled_from(["csv", "tsv", "edgelist", "ncol", "mtx", "parquet", "npz"]))
@settings(max_examples=300)
def test_large_tables_are_written_as_small_ones_are(table: EdgeTable, name: str) -> None:
    def call() -> Any:
        stream = io.BytesIO()
        notes = gio.write(table, stream, name)
        return [notes, stream.getvalue() if name != "parquet" else plain(gio.read(io.BytesIO(stream.getvalue()), name))]

    small, large = both_ways(call)
    assert small == large


# Whole files


@pytest.fixture(scope="module")
def big() -> EdgeTable:
    """A table whose files are larger than one piece of everything."""
    rng = np.random.default_rng(7)
    u, v = rng.integers(0, 10**6, (2, 400_000))
    return EdgeTable(
        10**6, u.astype(np.int32), v.astype(np.int32), edge_attributes={"weight": rng.random(u.size) + 0.1}
    )


@pytest.mark.parametrize("name", ["csv", "csv.gz", "edgelist", "mtx", "parquet", "npz", "npyd"])
def test_large_tables_come_back_with_progress(big: EdgeTable, name: str, tmp_path: Path) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    table = EdgeTable(big.n_nodes, big.source, big.target, None, True, {"weight": big.edge_attributes["weight"]})
    path = tmp_path / f"graph.{name}"
    heard: list[tuple[str, float]] = []
    gio.write(table, path, progress=lambda stage, share: heard.append((stage, share)))
    back = gio.read(path, progress=lambda stage, share: heard.append((stage, share)))
    names = np.arange(back.n_nodes) if back.labels is None else np.asarray(back.labels)
    np.testing.assert_array_equal(names[back.source], big.source)
    np.testing.assert_array_equal(names[back.target], big.target)
    np.testing.assert_array_equal(back.edge_attributes["weight"], big.edge_attributes["weight"])
    for stage in ("writing", "reading"):
        shares = [share for said, share in heard if said == stage]
        assert shares == sorted(shares)
        assert shares[-1] == 1
        assert all(0 <= share <= 1 for share in shares)
    assert {stage for stage, _ in heard} == {"writing", "reading"}
    if name.startswith("csv"):
        assert sum(stage == "reading" for stage, _ in heard) > 1
        assert back.row_name is not None
        assert back.row_name(300_000) == f"{path}, line 300002"


def test_an_oddity_at_the_end_of_a_large_file_is_found_with_its_line(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(rows, "_HEAD", CHUNK)
    monkeypatch.setattr(rows, "_PIECE", CHUNK)
    many_rows = b"".join(b"%d,%d\n" % (i, i + 1) for i in range(200_000))
    for end, message in (
        (b"1,x,3\n", "line 200002: the row has 3 cells where line 2 has 2"),
        (b"1,\n", "line 200002: an end point of the edge is missing"),
    ):
        for unzip in (False, True):
            data = b"source,target\n" + many_rows + end
            with pytest.raises(FileError, match=message):
                gio.read(io.BytesIO(gzip.compress(data, 1) if unzip else data), "csv")
    path = tmp_path / "graph.csv"
    path.write_bytes(b"source,target\n" + many_rows + b"1,a\n")
    table = gio.read(path)
    assert table.label(int(table.target[-1])) == "a"
    assert table.label(int(table.source[0])) == "0"


def test_damaged_gzip_of_a_large_file_is_refused(big: EdgeTable) -> None:
    stream = io.BytesIO()
    gio.write(big, stream, "csv.gz")
    with pytest.raises(FileError, match="the gzip data is cut off or damaged"):
        gio.read(io.BytesIO(stream.getvalue()[:-1000]), "csv")


def test_a_pipe_is_read_like_a_file(big: EdgeTable) -> None:
    stream = io.BytesIO()
    gio.write(big, stream, "csv")
    data = stream.getvalue() + b"1,word,1\n"
    assert len(data) > CHUNK
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"],
        stdin=subprocess.PIPE,
        stdout=writing,
    ) as feeder:
        os.close(writing)
        assert feeder.stdin is not None
        send = threading.Thread(target=lambda: (feeder.stdin.write(data), feeder.stdin.close()))
        send.start()
        heard: list[float] = []
        with os.fdopen(reading, "rb") as pipe:
            table = gio.read(pipe, "csv", progress=lambda _, share: heard.append(share))
        send.join()
    assert table.source.size == 400_001
    assert table.label(int(table.target[-1])) == "word"
    assert heard[-1] == 1


def test_parquet_of_several_groups_kinds_and_gaps_is_read(monkeypatch: Patch) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "_LARGE", 0)
    rng = np.random.default_rng(0)
    words = np.array(["b", "a", "ü", "c"])
    u, v = rng.integers(0, 4, (2, 1000))
    columns = {
        "to": pa.array(words[u]).dictionary_encode(),
        "from": pa.array(words[v].tolist(), pa.large_string()),
        "x": pa.array([None if i % 7 == 0 else i for i in range(1000)]),
        "y": pa.array(rng.random(1000)),
        "z.z": pa.array(rng.integers(0, 9, 1000)),
    }
    for names in (list(columns), list(columns)[:-1]):
        stream = io.BytesIO()
        pq.write_table(pa.table({name: columns[name] for name in names}), stream, row_group_size=300)
        table = gio.read(io.BytesIO(stream.getvalue()), "parquet")
        assert [table.label(i) for i in table.source] == words[v].tolist()
        assert [table.label(i) for i in table.target] == words[u].tolist()
        assert list(table.labels or []) == list(dict.fromkeys(np.stack([words[v], words[u]], axis=1).ravel().tolist()))
        assert table.edge_attributes["x"] == [None if i % 7 == 0 else i for i in range(1000)]
        assert np.asarray(table.edge_attributes["y"]).tobytes() == columns["y"].to_numpy().tobytes()


@pytest.mark.parametrize("name", ["csv", "mtx", "npz"])
def test_small_files_are_read_and_written_without_the_compiler(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph.{name}"
    program = (
        "import sys, numpy as np; from graphpri.graph import EdgeTable; from graphpri.io import read, write\n"
        f"write(EdgeTable(1001, np.arange(1000), np.arange(1, 1001)), {str(path)!r}); read({str(path)!r}).canonical()\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("folder", ["graphs_large", "graphs_small", "karate", "jazz"])
def test_real_files_are_read_as_small_ones_are(folder: str, data: Path) -> None:
    paths = sorted(path for path in (data / folder).iterdir() if path.name.endswith((".csv", ".csv.gz", ".gml")))
    assert paths
    for path in paths:
        if path.stat().st_size < 10**6:
            small, large = both_ways(lambda path=path: plain(gio.read(path)))
            assert small == large


# Folders of arrays


def rich() -> EdgeTable:
    return EdgeTable(
        4,
        np.array([0, 2], np.int32),
        np.array([1, 0], np.int32),
        labels=["a", "b", "c", "lonely"],
        directed=True,
        edge_attributes={"kind": ["x", None], "weight": np.array([0.5, 2.0]), "f": np.array([True, False])},
        node_attributes={"size": np.arange(4)},
        graph_attributes={"name": "g"},
    )


def test_a_folder_holds_everything(tmp_path: Path) -> None:
    path = tmp_path / "graph.npyd"
    assert gio.write(rich(), path) == []
    assert {file.name for file in path.iterdir()} >= {"source.npy", "target.npy", "weight.npy", "graphpri.json"}
    back = gio.read(path)
    assert plain(back)[:-1] == plain(rich())[:-1]
    assert back.node_attributes["size"].tolist() == [0, 1, 2, 3]
    assert back.graph_attributes == {"name": "g"}
    assert back.row_name is not None
    assert back.row_name(1) == f"{path}, edge number 1"


def test_arrays_of_a_canonical_folder_are_the_graph_without_a_copy(tmp_path: Path) -> None:
    graph = zoo.reweighted(zoo.large(), np.linspace(1, 2, 100_000))
    path = tmp_path / "graph.npyd"
    columns = {"weight": graph.weights}
    gio.write(EdgeTable(graph.n_nodes, graph.source, graph.target, edge_attributes=columns), path)
    found = gio.read(path, "npy").canonical()
    assert arrays(found.graph) == arrays(graph)
    for array in (found.graph.source, found.graph.target, found.graph.weights):
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert type(base).__name__ == "mmap"
    assert found.edges == slice(None)


def test_a_folder_of_arrays_from_elsewhere_is_read_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "edges"
    folder.mkdir()
    np.save(folder / "source.npy", np.array([7, 7, 2**40]))
    np.save(folder / "target.npy", np.array([9, 8, 7], np.uint16))
    np.save(folder / "weight.npy", np.array([1, 2, 3]))
    table = gio.read(folder)
    assert [table.label(i) for i in table.source] == [7, 7, 2**40]
    assert [table.label(i) for i in table.target] == [9, 8, 7]
    assert table.edge_attributes["weight"].tolist() == [1, 2, 3]
    np.save(folder / "other.npy", np.array([1, 2]))
    with pytest.raises(FileError, match=r"other\.npy has the shape \(2,\) and source\.npy \(3,\)"):
        gio.read(folder)
    (folder / "other.npy").unlink()
    np.save(folder / "target.npy", np.array([0.5, 1, 2]))
    with pytest.raises(FileError, match=r"target\.npy holds float64 of shape \(3,\), not a list of node numbers"):
        gio.read(folder)
    (folder / "target.npy").write_bytes(b"\x93NUMPY damaged")
    with pytest.raises(FileError, match=r"can't be read as a folder of arrays \(target\.npy"):
        gio.read(folder)
    np.save(folder / "target.npy", np.array([None, 1, 2]), allow_pickle=True)
    with pytest.raises(FileError, match="Python objects"):
        gio.read(folder)
    (folder / "target.npy").unlink()
    with pytest.raises(FileError, match=r"is a directory without target\.npy"):
        gio.read(folder, "npy")


def test_a_damaged_folder_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.npyd"
    gio.write(rich(), path)
    np.save(path / "target.npy", np.array([1, 9], np.int32))
    with pytest.raises(FileError, match="an edge joins nodes that do not exist"):
        gio.read(path)
    (path / "target.npy").unlink()
    with pytest.raises(FileError, match="'target'"):
        gio.read(path)


def test_folders_are_not_streams_nor_zipped(tmp_path: Path) -> None:
    for call in (
        lambda: gio.write(rich(), io.BytesIO(), "npy"),
        lambda: gio.write(rich(), "-", "npy"),
        lambda: gio.read(io.BytesIO(), "npy"),
        lambda: gio.read(tmp_path / "none.npyd"),
    ):
        with pytest.raises(FileError):
            call()
    with pytest.raises(OptionError, match="can't be zipped"):
        gio.write(rich(), tmp_path / "graph.npyd.gz")
    with pytest.raises(OptionError, match="has no meaning for the format 'npy'"):
        gio.read(tmp_path / "graph.npyd", header=True)


def test_a_folder_is_replaced_as_a_whole_and_only_if_it_is_one_of_arrays(tmp_path: Path) -> None:
    path = tmp_path / "graph.npyd"
    gio.write(rich(), path)
    mapped = gio.read(path)
    with pytest.raises(FileError, match="exists already"):
        gio.write(rich(), path)
    gio.write(EdgeTable(2, np.array([0]), np.array([1])), path, force=True)
    assert gio.read(path).source.size == 1
    assert not (path / "weight.npy").exists()
    assert mapped.edge_attributes["weight"].tolist() == [0.5, 2.0]
    with pytest.raises(FileError, match="it is a directory"):
        gio.write(rich(), path, "csv", force=True)
    mine = tmp_path / "mine.npyd"
    mine.mkdir()
    (mine / "notes.txt").write_text("precious")
    with pytest.raises(FileError, match="it is a directory"):
        gio.write(rich(), mine, force=True)
    assert {file.name for file in tmp_path.iterdir()} == {"graph.npyd", "mine.npyd"}
    assert (mine / "notes.txt").read_text() == "precious"


# Faults


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stop(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["csv", "csv.gz", "mtx", "npz", "parquet", "npyd"])
@pytest.mark.parametrize("fault", [full, stop])
@pytest.mark.parametrize("exists", [False, True])
def test_a_full_disk_or_an_interrupt_leaves_nothing_partial(
    big: EdgeTable, name: str, fault: Any, exists: bool, tmp_path: Path, monkeypatch: Patch
) -> None:
    path = tmp_path / f"graph.{name}"
    if exists:
        gio.write(rich() if name == "npyd" else EdgeTable(2, np.array([0]), np.array([1])), path)
    before = path.stat().st_mtime_ns if exists else None
    monkeypatch.setattr(os, "fsync", fault)
    error: type[BaseException] = FileError if fault is full else KeyboardInterrupt
    with pytest.raises(error, match=r"graph\..*can't be written: No space left" if fault is full else None):
        gio.write(EdgeTable(big.n_nodes, big.source[:9999], big.target[:9999]), path, force=True)
    assert [file.name for file in tmp_path.iterdir()] == [path.name] * exists
    assert (path.stat().st_mtime_ns if exists else None) == before


def test_a_file_size_limit_ends_as_a_full_disk_does(tmp_path: Path, monkeypatch: Patch, capsys: Any) -> None:
    def limited(*_: Any) -> None:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    monkeypatch.setattr(os, "fsync", limited)
    assert main(["sparsify", "karate", "-o", str(tmp_path / "a.csv"), "--keep", "9", "--method", "random"]) == 1
    assert "a.csv: can't be written: File too large" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device /dev/full")
@pytest.mark.parametrize("name", ["csv", "npz", "parquet"])
def test_a_full_device_is_said(big: EdgeTable, name: str) -> None:
    with pytest.raises(FileError, match="/dev/full: can't be written: No space left on device"):
        gio.write(EdgeTable(big.n_nodes, big.source, big.target), "/dev/full", name)


@pytest.mark.parametrize("name", ["csv", "csv.gz", "npz", "parquet", "npyd"])
def test_a_small_disk_that_fills_is_left_as_it_was(big: EdgeTable, name: str, tmp_path: Path) -> None:
    if sys.platform != "linux" or os.getuid():
        pytest.skip("mounting a small file system needs Linux and its superuser")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", tmp_path], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(FileError, match="No space left on device"):
            gio.write(EdgeTable(big.n_nodes, big.source, big.target), tmp_path / f"graph.{name}")
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("name", ["csv", "npz", "parquet", "npyd"])
def test_what_progress_raises_ends_the_work_and_leaves_nothing(big: EdgeTable, name: str, tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def give_up(stage: str, share: float) -> None:
        raise StoppedError

    table = EdgeTable(big.n_nodes, big.source, big.target)
    with pytest.raises(StoppedError):
        gio.write(table, tmp_path / f"graph.{name}", progress=give_up)
    assert list(tmp_path.iterdir()) == []
    gio.write(table, tmp_path / f"graph.{name}")
    if name != "npyd":
        with pytest.raises(StoppedError):
            gio.read(tmp_path / f"graph.{name}", progress=give_up)


def test_a_failing_stream_gets_a_file_error() -> None:
    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            return full()  # type: ignore[func-returns-value]

    with pytest.raises(FileError, match="No space left on device"):
        gio.write(EdgeTable(2, np.array([0]), np.array([1])), Full(), "csv")


def test_sparse_matrices_in_archives_keep_their_entry_numbers() -> None:
    stream = io.BytesIO()
    sp.save_npz(stream, sp.coo_array(([1.0, 1.0, 0.0], ([0, 1, 2], [1, 0, 2])), shape=(3, 3)))
    table = gio.read(io.BytesIO(stream.getvalue()), "npz")
    with pytest.raises(GraphError, match=r"entry number 2"):
        table.canonical(loops="drop")


def test_a_folder_with_other_files_is_not_replaced(tmp_path):
    table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]))
    gio.write(table, tmp_path / "g.npyd")
    (tmp_path / "g.npyd" / "thesis.docx").write_text("mine")
    with pytest.raises(FileError, match=r"other files, such as 'thesis.docx'"):
        gio.write(table, tmp_path / "g.npyd", force=True)
    assert (tmp_path / "g.npyd" / "thesis.docx").read_text() == "mine"


def test_node_numbers_beyond_signed_integers_in_a_folder_are_refused(tmp_path):
    folder = tmp_path / "g.npyd"
    folder.mkdir()
    np.save(folder / "source.npy", np.array([0, 2**63], np.uint64))
    np.save(folder / "target.npy", np.array([1, 2], np.uint64))
    with pytest.raises(FileError, match="beyond 64-bit"):
        gio.read(folder)
