"""Memory: work that needs more than there is is refused before it begins, and the estimates are those of the work."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphpri
import zoo
from graphpri import _entropy, _runtime
from graphpri._entropy import by_name
from graphpri._laplacian import leverages
from graphpri._objective import Objective
from graphpri.datasets import barabasi_albert
from graphpri.errors import GraphPRIError, MemoryLimitError, OptionError
from graphpri.io.rows import TEXT_BYTES, text_bytes
from graphpri.solvers.moves import ExactEvaluator


class Work(NamedTuple):
    """Work whose memory is estimated: the module that does it, a size that shows, and what a refusal says."""

    module: str
    run: Callable[[], Any]
    words: tuple[str, ...]


def graph(n: int = 700, degree: int = 4) -> graphpri.Graph:
    return barabasi_albert(n, degree, seed=1)


def evaluator(g: graphpri.Graph) -> None:
    found = ExactEvaluator(Objective(g, 4.0, 0.0, "exact"))
    found.reset(np.arange(g.n_edges) % 3 == 0)
    found.swap_changes()


@lru_cache
def dense(n: int, share: float) -> np.ndarray:
    upper = np.triu(np.random.default_rng(0).random((n, n)) < share, 1)
    return (upper | upper.T).astype(np.float64)


WORK = {
    "entropy": Work(
        "_entropy",
        lambda: by_name.evaluate(graph(), "exact"),
        ("the exact entropy of a component of 700 nodes", "'stochastic'"),
    ),
    "gradient": Work(
        "_entropy",
        lambda: by_name.evaluate(graph(), "exact", gradient=True),
        ("the exact entropy of a component of 700 nodes", "'local'"),
    ),
    "solver": Work("solvers.moves", lambda: evaluator(graph()), ("component of 700 nodes and 2784 edges", "'local'")),
    "solver of many edges": Work("solvers.moves", lambda: evaluator(graph(300, 60)), ("14400 edges", "'degree'")),
    "resistance": Work(
        "_laplacian",
        lambda: leverages(graph(), resistance="exact"),
        ("component of 700 nodes", 'resistance="sketch"'),
    ),
    "matrix of few entries": Work(
        "interop.matrices",
        lambda: graphpri.sparsify(dense(1500, 0.001), keep=0.5, method="random", entropy="degree"),
        ("a dense matrix of 1500 nodes", "csr_array"),
    ),
    "matrix of many entries": Work(
        "interop.matrices",
        lambda: graphpri.sparsify(dense(700, 0.6), keep=0.5, method="random", entropy="degree"),
        ("a dense matrix of 700 nodes", "csr_array"),
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_estimates_are_those_of_the_work(name: str, monkeypatch: pytest.MonkeyPatch):
    asked: list[float] = []
    work = WORK[name]
    work.run()  # whatever is loaded or compiled once
    monkeypatch.setattr(import_module(f"graphpri.{work.module}"), "require", lambda needed, *_: asked.append(needed))
    tracemalloc.start()
    try:
        work.run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # What LAPACK takes is not seen here.
    assert 0.6 * peak < max(asked) < 3 * peak


@pytest.mark.parametrize("name", WORK)
def test_work_beyond_the_limit_is_refused_before_it_begins(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "2MB")
    with pytest.raises(MemoryLimitError, match=r"needs about [0-9.]+ .B of memory, and .* allows 2\.0 MB") as caught:
        WORK[name].run()
    for words in (*WORK[name].words, "GRAPHPRI_MEMORY"):
        assert words in str(caught.value)
    assert "--memory" not in str(caught.value)  # for the command line to say


def test_sketches_of_resistances_are_refused_by_their_edges(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "1MB")
    with pytest.raises(
        MemoryLimitError, match=r"sketching the effective resistances of 11984 edges needs about 2\.9 MB"
    ):
        leverages(graph(3000), resistance="sketch")
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "3MB")
    assert (leverages(graph(3000), resistance="sketch") > 0).all()


def test_an_adjacency_frame_is_refused_like_a_matrix(monkeypatch: pytest.MonkeyPatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "100KB")
    with pytest.raises(MemoryLimitError, match="a dense matrix of 200 nodes"):
        graphpri.as_graph(pandas.DataFrame(dense(200, 0.2)))


def test_small_work_is_not_weighed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(_runtime.MEMORY_VARIABLE, raising=False)
    monkeypatch.setattr(_runtime, "available", lambda: 0)
    _runtime.require(_runtime.UNASKED, "this", "that")
    graphpri.sparsify(graph(200), keep=0.5, entropy="exact", effort="fast")
    with pytest.raises(MemoryLimitError, match="0 bytes are free"):
        _runtime.require(_runtime.UNASKED + 1, "this", "that")
    with pytest.raises(MemoryLimitError):
        by_name.evaluate(zoo.path(2000), "exact")


def test_a_refusal_is_an_error_of_the_package_and_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "1KB")
    for kind in (GraphPRIError, MemoryError, graphpri.MemoryLimitError):
        with pytest.raises(kind):
            graphpri.von_neumann_entropy(zoo.path(50), "exact")


def test_a_method_that_does_not_fit_is_a_row_of_a_comparison(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "2MB")
    table = graphpri.compare(graph(), ["random", "effective-resistance"], 0.5, entropy="degree")
    assert table[0]["K"] == 1392
    assert "component of 700 nodes needs about" in table[1]["status"]


def test_messages_call_a_size_what_the_user_calls_it():
    assert _runtime.parse_size("2GB", "--memory") == 2**31
    with pytest.raises(OptionError, match="--memory='2 bananas'"):
        _runtime.parse_size("2 bananas", "--memory")


def test_components_are_worked_on_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch):
    parts = zoo.disjoint(*[zoo.ring(9), zoo.star(5), zoo.complete(5)] * 7)
    at_once = by_name.evaluate(parts, "exact", gradient=True)
    monkeypatch.setattr("graphpri.graph.STACK_ENTRIES", 100)
    asked: list[float] = []
    monkeypatch.setattr(_entropy, "require", lambda needed, *_: asked.append(needed))
    few = by_name.evaluate(parts, "exact", gradient=True)
    assert len(asked) == 5 + 3
    assert few.value == pytest.approx(at_once.value, abs=1e-14)
    np.testing.assert_array_equal(few.log_term, at_once.log_term)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.gml.gz", "a.npz"])
def test_unzipping_stops_at_the_limit(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, most = tmp_path / name, 60 << 20
    if name == "a.npz":
        np.savez_compressed(path, source=np.zeros(1 << 23, np.int64), target=np.zeros(1 << 23, np.int64))
    else:
        with gzip.open(path, "wb", 1) as file:
            for _ in range(160):
                file.write(b"node-1,node-2\n" * 75_000)
    assert path.stat().st_size < 2 << 20
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, str(most))
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError, match=r"a\.\w+(\.gz)?: unzipping it (beyond|to) .* MB needs about"):
            graphpri.read(path)
        assert tracemalloc.get_traced_memory()[1] < 2 * most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("quote", ["", '"'])
def test_equal_cells_of_a_text_are_held_once(quote: str, tmp_path: Path) -> None:
    ends = np.random.default_rng(0).integers(0, 2000, (50_000, 2)).tolist()
    text = "".join(f"{quote}node {a}{quote},{quote}node {b}{quote}\n" for a, b in ends)
    (tmp_path / "a.csv").write_text("source,target\n" + text)
    tracemalloc.start()
    try:
        assert graphpri.read(tmp_path / "a.csv").source.size == 50_000
        assert tracemalloc.get_traced_memory()[1] < 9 * len(text)
    finally:
        tracemalloc.stop()


def test_the_memory_of_a_text_is_estimated_by_how_many_cells_differ_at_its_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = b"".join(b'"node 1","node %d"\n' % (i % 50) for i in range(5000))
    many = b"".join(b'"node %d","other %d"\n' % (i, i) for i in range(5000))
    assert text_bytes(few, len(few)) < 6 < 12 < text_bytes(many, len(many))
    assert text_bytes(few, 1000 * len(few)) == pytest.approx(text_bytes(few, len(few)), rel=0.05)
    assert text_bytes(few, None) == text_bytes(b"", 10**9) == TEXT_BYTES
    rng = np.random.default_rng(0)
    head = b"".join(b"n%d,n%d\n" % (a, b) for a, b in rng.integers(0, 5000, (2000, 2)).tolist())
    assert 3 < text_bytes(head, 100 * len(head)) < text_bytes(head, 10 * len(head)) < text_bytes(head, len(head))
    monkeypatch.setattr("graphpri.io.rows._LARGE_CELLS", 10_000)
    monkeypatch.setenv(_runtime.MEMORY_VARIABLE, "1MB")
    (tmp_path / "a.csv").write_bytes(many)
    with pytest.raises(MemoryLimitError, match=r"a\.csv: the cells of \d+ rows needs? about"):
        graphpri.read(tmp_path / "a.csv")


def test_a_small_zipped_file_asks_for_nothing(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"a,b\nb,c\n")
    assert graphpri.read(tmp_path / "a.csv.gz").n_nodes == 3
