"""Sparsifying over parts: the same bytes whatever runs it, what is kept, faults, and what is refused."""

from __future__ import annotations

import errno
import importlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphpri
from commands import call
from graphpri import baselines, datasets
from graphpri._objective import Objective
from graphpri._selection import count_edges, settle
from graphpri.graph import Graph

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
dask = pytest.importorskip("dask")
# Workers that are killed start anew from a process that has imported everything.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
distributed = pytest.importorskip("distributed")
multiprocessing.set_forkserver_preload(["distributed", "graphpri.distributed"])

from graphpri.distributed import Manifest, Step, choices, estimate, keys, moves, run, search, sparsify, store  # noqa: E402
from graphpri.distributed import estimates as estimates_in_parts  # noqa: E402

GRAPH = datasets.barabasi_albert(300, 5, seed=0)
KEEP, BETA = 0.3, 4.0
# Dask's own threads and sockets warn at their end.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Port .* is already in use:UserWarning"),
]


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """A test that waits for what never comes fails, and does not keep the others from ending."""

    def ring(*_: Any) -> None:
        raise AssertionError("the test took more than four minutes")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(240)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def one_round() -> Iterator[None]:
    """Few sweeps, where each stage counts and not how good the result is, and no graph that is small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "SIZES", (0.4, 0.4))
        patch.setattr(search, "ROUNDS", 1)
        patch.setattr(search, "MANY_ROUNDS", 1)
        patch.setattr(search, "SWINGS", ((1, 0.5), (1, 0.5)))
        for swings in ("FAR_SWINGS", "WIDE_SWINGS"):
            patch.setattr(search, swings, (1, 0.5))
        patch.setattr(estimates_in_parts, "AT_ONCE", 0)
        yield


def in_threads(workers: int) -> Any:
    return distributed.Client(
        processes=False, n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )


@pytest.fixture(scope="module")
def client() -> Iterator[None]:
    """No client, and one thread of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHPRI_THREADS", "1")
        yield None


@pytest.fixture(scope="module")
def dask_client() -> Iterator[Any]:
    """Four workers of a Dask cluster, which are threads of this process."""
    with in_threads(4) as found:
        yield found


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    """Two workers, which are processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pairs of blocks, where more would only take longer."""
    monkeypatch.setattr(keys, "LEAST", 2)


def ends(graph: Graph = GRAPH) -> tuple[Any, Any]:
    return graph.source.astype(np.int64), graph.target.astype(np.int64)


def write_parts(folder: Path, cuts: tuple[int, ...] = (500, 501), order: int | None = None, text: Any = None) -> str:
    """Write the graph in parquet parts, cut at some rows; in another order and direction where a seed is given."""
    u, v = ends()
    if order is not None:
        rng = np.random.default_rng(order)
        at, flip = rng.permutation(u.size), rng.random(u.size) < 0.5
        u, v = np.where(flip, v, u)[at], np.where(flip, u, v)[at]
    folder.mkdir(exist_ok=True)
    for i, (start, stop) in enumerate(zip((0, *cuts), (*cuts, u.size), strict=True)):
        columns = [end[start:stop] if text is None else [text(x) for x in end[start:stop]] for end in (u, v)]
        pq.write_table(pa.table(columns, names=["source", "target"]), folder / f"{i}.parquet")
    return str(folder)


def write_csv(folder: Path, rows: list[str], name: str = "a.csv") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(rows) + "\n")
    return str(folder)


def contents(folder: Path | str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.parquet"))}


def edges_in(folder: Path | str) -> Any:
    return pq.read_table(folder)


def go(folder: str, output: Path, client: Any, **options: Any) -> Manifest:
    return sparsify(folder, str(output), **({"keep": KEEP, "beta": BETA, "weight": None, "client": client} | options))


def mask_of(folder: Path) -> Any:
    """Which edges of the graph are kept."""
    table = edges_in(folder)
    pairs = set(zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True))
    return np.array([pair in pairs for pair in zip(*map(np.ndarray.tolist, ends()), strict=True)])


WEIGHTS = np.random.default_rng(0).lognormal(0, 1.5, GRAPH.n_edges)
HEAVY = Graph.from_edges(*ends(), weights=WEIGHTS)


def write_weighted(folder: Path, cuts: tuple[int, ...], order: int, text: bool = False) -> str:
    """Write the graph with weights in parts, its rows in another order and direction."""
    rng = np.random.default_rng(order)
    at, flip = rng.permutation(GRAPH.n_edges), rng.random(GRAPH.n_edges) < 0.5
    u, v = ends()
    u, v, w = np.where(flip, v, u)[at], np.where(flip, u, v)[at], WEIGHTS[at]
    folder.mkdir()
    for i, (start, stop) in enumerate(zip((0, *cuts), (*cuts, u.size), strict=True)):
        rows = slice(start, stop)
        if text:
            lines = [
                f"{a},{b},{c!r}" for a, b, c in zip(u[rows].tolist(), v[rows].tolist(), w[rows].tolist(), strict=True)
            ]
            (folder / f"{i}.csv").write_text("\n".join(["source,target,weight", *lines]))
        else:
            columns = {"weight": w[rows], "source": u[rows], "target": v[rows]}
            pq.write_table(pa.table(columns), folder / f"{i}.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def weighted_parts(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_weighted(tmp_path_factory.mktemp("weighted") / "edges", (400, 401), 0)


@pytest.fixture(scope="module")
def weighted_kept(weighted_parts: str, client: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one thread keeps of the weighted parts."""
    folder = tmp_path_factory.mktemp("weighted") / "kept"
    go(weighted_parts, folder, client, weight="weight", beta=50.0)
    return folder


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_parts(tmp_path_factory.mktemp("parts") / "edges")


@pytest.fixture(scope="module")
def kept(parts: str, client: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one worker keeps of the parts."""
    folder = tmp_path_factory.mktemp("kept") / "kept"
    go(parts, folder, client)
    return folder


# Keys, and ranks of flips.


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, unique=True))
def test_integers_come_back_from_their_keys_and_no_two_have_the_same(ids: list[int]) -> None:
    numbers = np.array(ids, np.int64)
    found = keys.keys_of_integers(numbers)
    assert np.array_equal(keys.integers_of_keys(found), numbers)
    assert np.unique(found).size == numbers.size


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.integers(-(10**17), 10**17).map(str)


@given(st.lists(WORDS, min_size=1, max_size=30, unique=True))
@settings(max_examples=30, deadline=None)
def test_a_text_has_the_key_of_the_integer_that_it_is_and_its_key_does_not_hang_on_others(words: list[str]) -> None:
    found, turned = (keys.keys_of_texts(pa.array(some, pa.large_string()))[0] for some in (words, words[::-1]))
    assert found.tolist() == turned[::-1].tolist()
    assert np.unique(found).size == len(words)
    whole = [word.isascii() and word.lstrip("-").isdecimal() and str(int(word)) == word for word in words]
    numbers = np.array([int(word) for word, is_whole in zip(words, whole, strict=True) if is_whole], np.int64)
    assert np.array_equal(found[np.array(whole)], keys.keys_of_integers(numbers))


@pytest.mark.parametrize("blocks", [4, 8, 64])
def test_fine_pairs_of_a_pair_of_blocks_are_consecutive(blocks: int) -> None:
    a, b = np.triu_indices(keys.FINE)
    place, width = keys.place_of(a, b), keys.FINE // blocks
    for i in range(blocks):
        for j in range(i, blocks):
            first, stop = keys.places_within(i, j, blocks)
            inside = (place >= first) & (place < stop)
            assert np.array_equal(inside, (a // width == i) & (b // width == j))


@given(st.lists(st.tuples(st.floats(-1e3, 1e3, width=32), st.integers(0, 2**32 - 1)), min_size=1))
def test_ranks_sort_as_costs_and_then_hashes_and_tell_the_cost(flips: list[tuple[float, int]]) -> None:
    costs, hashes = np.array([c for c, _ in flips], np.float32), np.array([h for _, h in flips], np.uint32)
    ranks = moves.ranked(costs, hashes)
    assert [flips[i] for i in np.argsort(ranks, kind="stable")] == sorted(flips)
    assert [moves.cost_of(int(rank)) for rank in ranks] == costs.tolist()


# What is kept.


def test_exactly_k_edges_of_the_graph_are_kept_and_the_manifest_says_their_objective(kept: Path) -> None:
    found, table = Manifest.read(str(kept)), edges_in(kept)
    k = count_edges(KEEP, GRAPH.n_edges)
    mask = mask_of(kept)
    assert table.num_rows == mask.sum() == k == found.kept
    terms = Objective(GRAPH, BETA, entropy="degree").terms(mask.astype(float))
    assert [found.objective, found.entropy, found.divergence] == pytest.approx(terms[:3], abs=1e-12)
    assert (found.nodes, found.edges) == (GRAPH.n_nodes, GRAPH.n_edges)
    degrees = np.bincount(np.concatenate([GRAPH.source[mask], GRAPH.target[mask]]), minlength=GRAPH.n_nodes)
    assert found.nodes_cut_off == np.count_nonzero(degrees == 0)
    assert [part["rows"] for part in found.parts] == [pq.read_metadata(kept / p["name"]).num_rows for p in found.parts]


def test_the_objective_is_far_below_that_of_random_edges_and_near_that_in_memory(kept: Path) -> None:
    found = Manifest.read(str(kept)).objective
    at_random = graphpri.sparsify(GRAPH, keep=KEEP, beta=BETA, entropy="degree", method="random").objective
    in_memory = graphpri.sparsify(GRAPH, keep=KEEP, beta=BETA, entropy="degree", effort="fast").objective
    assert found - in_memory < 0.1 * (at_random - in_memory)


@pytest.mark.usefixtures("few_blocks")
def test_the_barrier_is_part_of_the_objective(parts: str, client: Any, tmp_path: Path) -> None:
    found = go(parts, tmp_path / "kept", client, alpha=0.01)
    terms = Objective(GRAPH, BETA, 0.01, "degree").terms(mask_of(tmp_path / "kept").astype(float))
    assert found.objective == pytest.approx(terms.objective, abs=1e-12)
    assert terms.barrier != 0
    assert found.nodes_cut_off == 0


def test_random_draws_k_edges_by_the_seed_and_the_ids_alone(client: Any, tmp_path: Path) -> None:
    found = {
        (seed, order): go(
            write_parts(tmp_path / f"{order}", (), order), tmp_path / f"{seed}.{order}", client, **options
        )
        for seed, order in ((0, 1), (0, 2), (1, 1))
        for options in [{"method": "random", "seed": seed}]
    }
    assert {one.kept for one in found.values()} == {count_edges(KEEP, GRAPH.n_edges)}
    first, again, other = (mask_of(tmp_path / f"{seed}.{order}") for seed, order in found)
    assert np.array_equal(first, again)
    assert 0.15 < np.mean(first[other]) < 0.45  # 0.3 by chance, of 443 edges


@pytest.mark.usefixtures("few_blocks")
def test_all_edges_are_kept_where_all_are_asked_for(parts: str, client: Any, tmp_path: Path) -> None:
    found = go(parts, tmp_path / "kept", client, keep=1.0)
    assert (found.kept, found.divergence) == (GRAPH.n_edges, pytest.approx(0, abs=1e-12))
    assert edges_in(tmp_path / "kept").num_rows == GRAPH.n_edges


@pytest.mark.usefixtures("few_blocks", "client")
@pytest.mark.parametrize("weighted", [False, True])
def test_local_degree_keeps_the_edges_of_the_method_in_memory(
    weighted: bool, parts: str, weighted_parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed, k = 3, count_edges(KEEP, GRAPH.n_edges)
    monkeypatch.setattr(choices, "ARCS", 300)  # several slices of each block
    options: dict[str, Any] = {"method": "local-degree", "seed": seed, "weight": "weight" if weighted else None}
    assert go(weighted_parts if weighted else parts, tmp_path / "kept", None, **options).kept == k
    mask = mask_of(tmp_path / "kept")
    salt = keys.scrambled(np.array([seed], np.uint64))
    ties = keys.scrambled(keys.keys_of_integers(np.arange(GRAPH.n_nodes)) + salt)
    monkeypatch.setattr(baselines, "tie_keys", lambda *_: ties)  # neighbours of equal degree in the same order
    scores = settle(baselines.local_degree_scores(GRAPH))
    last = np.sort(scores)[-k]
    assert mask.sum() == k
    assert mask[scores > last].all()
    assert not mask[scores < last].any()
    found = graphpri.sparsify(GRAPH, keep=KEEP, method="local-degree", seed=0).mask
    assert np.mean(found[mask]) > 0.9


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("entropy", ["degree", "local"])
@pytest.mark.parametrize("weighted", [False, True])
def test_swaps_at_nodes_lower_the_objective(
    weighted: bool, entropy: str, parts: str, weighted_parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, source, k = HEAVY if weighted else GRAPH, weighted_parts if weighted else parts, 60
    found: list[Manifest] = []
    for more in ((), ("swap",)):
        plan = [(kind, k) for kind in ("lightest" if weighted else "spread", "sweep", "exact", *more)]
        monkeypatch.setattr(search.Passes, "plan", lambda _, plan=plan: plan)
        how = {"weight": "weight" if weighted else None, "keep": k, "beta": 50.0, "entropy": entropy}
        found.append(go(source, tmp_path / f"kept{len(more)}", None, **how))
    assert found[1].objective < 0.98 * found[0].objective
    mask = mask_of(tmp_path / "kept1")
    terms = Objective(graph, 50.0, entropy=entropy).terms(mask.astype(float))
    assert found[1].objective == pytest.approx(terms.objective, abs=1e-9)
    assert mask.sum() == k


# The local entropy.


@pytest.mark.parametrize("beta", [0.0, 4.0])
def test_the_local_entropy_is_minimised_and_told(
    beta: float, parts: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ROUNDS", 2)
    found = go(parts, tmp_path / "kept", client, beta=beta, entropy="local", alpha=0.01)
    mask = mask_of(tmp_path / "kept")
    assert mask.sum() == found.kept == count_edges(KEEP, GRAPH.n_edges)
    terms = Objective(GRAPH, beta, 0.01, "local").terms(mask.astype(float))
    assert [found.objective, found.entropy, found.divergence] == pytest.approx(terms[:3], abs=1e-12)
    assert found.entropy_original == pytest.approx(graphpri.von_neumann_entropy(GRAPH, "local"), abs=1e-12)
    by = {"keep": KEEP, "beta": beta, "alpha": 0.01, "entropy": "local"}
    in_memory = graphpri.sparsify(GRAPH, **by, effort="fast").objective
    at_random = graphpri.sparsify(GRAPH, **by, method="random").objective
    assert found.objective - in_memory < 0.1 * (at_random - in_memory)


@pytest.mark.usefixtures("few_blocks")
def test_the_local_result_is_the_same_for_any_threads_partition_and_resumption(
    parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(step: Step) -> None:
        if step.stage.startswith("sweep 2 of"):
            raise KeyboardInterrupt

    monkeypatch.setenv("GRAPHPRI_THREADS", "4")
    with pytest.raises(KeyboardInterrupt):
        go(parts, tmp_path / "several", None, entropy="local", callback=stop)
    go(parts, tmp_path / "several", None, entropy="local", resume=True)
    monkeypatch.setenv("GRAPHPRI_THREADS", "1")
    go(write_parts(tmp_path / "edges", (7,), order=3), tmp_path / "one", None, entropy="local")
    assert contents(tmp_path / "several") == contents(tmp_path / "one")


# Weights.


def weighted_mask(folder: Path) -> Any:
    """Which edges are kept, checked to have the weights of the input."""
    table, mask = edges_in(folder), mask_of(folder)
    at = {pair: i for i, pair in enumerate(zip(*map(np.ndarray.tolist, ends()), strict=True))}
    rows = [at[pair] for pair in zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)]
    assert np.array_equal(table["weight"].to_numpy(), WEIGHTS[rows])
    return mask


def test_weighted_edges_are_kept_with_their_weights_and_the_manifest_says_their_objective(weighted_kept: Path) -> None:
    found, mask = Manifest.read(str(weighted_kept)), weighted_mask(weighted_kept)
    assert mask.sum() == found.kept == count_edges(KEEP, GRAPH.n_edges)
    terms = Objective(HEAVY, 50.0, entropy="degree").terms(mask.astype(float))
    assert [found.objective, found.entropy, found.divergence] == pytest.approx(terms[:3], abs=1e-9)
    in_memory = graphpri.sparsify(HEAVY, keep=KEEP, beta=50.0, entropy="degree", effort="fast").objective
    at_random = graphpri.sparsify(HEAVY, keep=KEEP, beta=50.0, entropy="degree", method="random").objective
    assert found.objective - in_memory < 0.1 * (at_random - in_memory)


@pytest.mark.parametrize("beta", [2.0, 50.0])
def test_the_local_entropy_of_weighted_edges_is_minimised_and_told(
    beta: float, weighted_parts: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = go(weighted_parts, tmp_path / "kept", client, weight="weight", entropy="local", beta=beta, alpha=0.01)
    mask = weighted_mask(tmp_path / "kept")
    assert mask.sum() == found.kept == count_edges(KEEP, GRAPH.n_edges)
    terms = Objective(HEAVY, beta, 0.01, "local").terms(mask.astype(float))
    assert [found.objective, found.entropy, found.divergence] == pytest.approx(terms[:3], abs=1e-9)
    assert found.entropy_original == pytest.approx(graphpri.von_neumann_entropy(HEAVY, "local"), abs=1e-9)
    by = {"keep": KEEP, "beta": beta, "alpha": 0.01, "entropy": "local"}
    in_memory = graphpri.sparsify(HEAVY, **by, effort="fast").objective
    at_random = graphpri.sparsify(HEAVY, **by, method="random").objective
    assert found.objective - in_memory < 0.1 * (at_random - in_memory)
    other = write_weighted(tmp_path / "edges", (7,), 1, text=True)
    monkeypatch.setenv("GRAPHPRI_THREADS", "4")
    go(other, tmp_path / "other", None, weight="weight", entropy="local", beta=beta, alpha=0.01)
    assert contents(tmp_path / "other") == contents(tmp_path / "kept")


@pytest.mark.parametrize("text", [False, True])
def test_the_weighted_result_is_the_same_for_any_threads_partition_order_and_format(
    text: bool, weighted_kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHPRI_THREADS", "2" if text else "4")
    source = write_weighted(tmp_path / "edges", (7,) if text else (), 2 + text, text)
    go(source, tmp_path / "kept", None, weight="weight", beta=50.0)
    assert contents(tmp_path / "kept") == contents(weighted_kept)


@pytest.mark.usefixtures("few_blocks")
def test_the_barrier_counts_weights_in_the_unit_of_the_graph(weighted_parts: str, client: Any, tmp_path: Path) -> None:
    found = go(weighted_parts, tmp_path / "kept", client, weight="weight", alpha=0.01)
    terms = Objective(HEAVY, BETA, 0.01, "degree").terms(mask_of(tmp_path / "kept").astype(float))
    assert found.objective == pytest.approx(terms.objective, abs=1e-9)


@pytest.mark.usefixtures("few_blocks")
def test_the_heaviest_edges_are_those_of_the_method_weight(weighted_parts: str, client: Any, tmp_path: Path) -> None:
    go(weighted_parts, tmp_path / "kept", client, weight="weight", method="weight")
    assert np.array_equal(mask_of(tmp_path / "kept"), graphpri.sparsify(HEAVY, keep=KEEP, method="weight").mask)


@pytest.mark.usefixtures("few_blocks")
def test_of_equally_heavy_edges_exactly_k_are_kept_whatever_their_order(client: Any, tmp_path: Path) -> None:
    rows, found = [f"{u},{v},{1 + (u + v) % 2}" for u, v in zip(*map(np.ndarray.tolist, ends()), strict=True)], []
    for name, some in (("one", rows), ("other", rows[::-1])):
        write_csv(tmp_path / name, some)  # without a header the third column is the weight
        go(str(tmp_path / name), tmp_path / f"{name}.kept", client, weight="weight", method="weight")
        found.append(contents(tmp_path / f"{name}.kept"))
    assert found[0] == found[1]
    weights = edges_in(tmp_path / "one.kept")["weight"].to_numpy()
    assert weights.size == count_edges(KEEP, GRAPH.n_edges)
    assert weights.min() == 2


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize(("parallel", "weight"), [("sum", 5.5), ("max", 3.5)])
def test_weights_of_repeated_edges_are_joined(parallel: str, weight: float, client: Any, tmp_path: Path) -> None:
    source = write_csv(tmp_path / "edges", ["source,target,weight", "a,b,3.5", "b,c,1", "b,a,2"])
    found = go(source, tmp_path / "kept", client, weight="weight", keep=1.0, parallel=parallel)
    assert sorted(edges_in(tmp_path / "kept").to_pylist(), key=str) == [
        {"source": "a", "target": "b", "weight": weight},
        {"source": "b", "target": "c", "weight": 1},
    ]
    how = "weights added" if parallel == "sum" else "largest weight kept"
    assert found.notes == [f"1 row that repeats an edge joined, {how}"]


# Estimates.


def estimates(folder: str, kept: Path | str | None, **options: Any) -> list[Any]:
    """Estimates by 16 probes, or as asked for; their values, and all errors."""
    found = estimate(folder, None if kept is None else str(kept), **({"weight": None, "probes": 16} | options))
    return [value for value in vars(found).values() if value is not None]


@pytest.mark.usefixtures("few_blocks", "client")
def test_estimates_hold_the_exact_values(parts: str, kept: Path, tmp_path: Path) -> None:
    found = estimates(parts, kept, beta=BETA, alpha=0.01, scratch=str(tmp_path / "scratch"))
    terms = Objective(GRAPH, BETA, 0.01, "exact").terms(mask_of(kept).astype(float))
    original = graphpri.von_neumann_entropy(GRAPH)
    exact = [terms.entropy, original, terms.divergence, terms.objective]
    for value, true in zip(found, exact, strict=True):
        assert abs(value.value - true) <= 4 * value.error
        assert value.error < 0.01
    assert found[2].error < 0.5 * found[0].error
    assert list(tmp_path.iterdir()) == []
    (alone,) = estimates(parts, None, unit="bits")
    assert abs(alone.value - original / np.log(2)) <= 4 * alone.error


@pytest.mark.usefixtures("few_blocks", "client")
def test_estimates_take_the_weights_of_either_graph(weighted_parts: str, tmp_path: Path) -> None:
    mask = np.random.default_rng(0).random(GRAPH.n_edges) < 0.5
    (tmp_path / "kept").mkdir()
    u, v = ends()
    w = WEIGHTS[mask] * np.random.default_rng(1).uniform(1, 3, np.count_nonzero(mask))
    table = pa.table({"source": v[mask], "target": u[mask], "weight": w})
    pq.write_table(table, tmp_path / "kept" / "a.parquet")
    half = Graph.from_edges(u[mask], v[mask], w, n_nodes=GRAPH.n_nodes)
    for mixture in ("equation", "listing"):
        found = estimates(weighted_parts, tmp_path / "kept", weight="weight", mixture=mixture)
        exact = graphpri.von_neumann_entropy(half), graphpri.divergence(HEAVY, half, mixture=mixture)
        for value, true in zip((found[0], found[2]), exact, strict=True):
            assert abs(value.value - true) <= 4 * value.error
            assert value.error < 0.03


@pytest.mark.usefixtures("few_blocks")
def test_estimates_are_the_same_for_any_workers_partition_and_order(
    parts: str, kept: Path, dask_client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHPRI_THREADS", "1")
    one = estimates(parts, kept, probes=8)
    other = write_parts(tmp_path / "edges", (7,), order=3)
    assert estimates(other, kept, probes=8, client=dask_client) == one
    assert estimates(parts, kept, probes=8, seed=1) != one


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize("weighted", [False, True])
def test_small_graphs_are_estimated_by_one_task(
    weighted: bool,
    parts: str,
    weighted_parts: str,
    kept: Path,
    weighted_kept: Path,
    dask_client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimates_in_parts, "AT_ONCE", GRAPH.n_edges)
    tasks: list[str] = []
    submit = run.Cluster.submit

    def counted(self: run.Cluster, task: Any, *arguments: Any) -> Any:
        tasks.append(task.__name__)
        return submit(self, task, *arguments)

    monkeypatch.setattr(run.Cluster, "submit", counted)
    graph, folder, part = (HEAVY, weighted_parts, weighted_kept) if weighted else (GRAPH, parts, kept)
    asked: Any = {"weight": "weight" if weighted else None, "beta": BETA, "alpha": 0.01, "probes": 64}
    found = estimates(folder, part, **asked)
    assert tasks.count("at_once") == 1
    assert not {"begin", "multiply", "subtract"} & set(tasks)
    terms = Objective(graph, BETA, 0.01, "exact").terms(mask_of(part).astype(float))
    exact = terms.entropy, graphpri.von_neumann_entropy(graph), terms.divergence, terms.objective
    for value, true in zip(found, exact, strict=True):
        assert abs(value.value - true) <= 4 * value.error
        assert value.error < 0.05
    other = write_parts(tmp_path / "edges", (7,), order=3) if not weighted else folder
    assert estimates(other, part, **asked, client=dask_client) == found
    assert len(estimates(folder, None, **asked)) == 1


@pytest.mark.usefixtures("few_blocks", "client")
def test_what_can_not_be_estimated_is_refused_and_named(
    parts: str, weighted_parts: str, kept: Path, tmp_path: Path
) -> None:
    stray = write_csv(tmp_path / "stray", ["0,1", "0,999"])
    with pytest.raises(graphpri.GraphError, match=r"a.csv, row 2: .*edges doesn't have that edge"):
        estimates(parts, stray)
    with pytest.raises(graphpri.FileError, match=r"part-.* has no weights and .* has: pass weight=None"):
        estimates(weighted_parts, kept, weight="weight")
    with pytest.raises(graphpri.FileError, match=r"exists already: name another place by scratch="):
        estimates(parts, kept, scratch=str(tmp_path))
    with pytest.raises(graphpri.OptionError, match=r"pattern has no place beside it: pass scratch="):
        estimates(f"{parts}/*.parquet", None)
    with pytest.raises(graphpri.OptionError, match=r"probes=7 must be a whole number, 8 or more"):
        estimates(parts, kept, probes=7)
    assert [path.name for path in tmp_path.iterdir()] == ["stray"]


@pytest.mark.usefixtures("few_blocks", "client")
def test_the_command_measures_what_the_call_estimates(parts: str, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphpri.distributed.estimates, "MOST_PROBES", 8)
    common = ["measure", parts, str(kept), "--distributed", "--weight", "none", "--beta", str(BETA)]
    found = call(*common, "--json")
    assert (found.code, found.err) == (0, "")
    expected = estimate(parts, str(kept), weight=None, beta=BETA)
    told = json.loads(found.out)["measures"]
    assert (told["divergence"], told["divergence_error"]) == tuple(expected.divergence or ())
    assert told["objective"] == getattr(expected.objective, "value", None)
    text = call(*common, "--measures", "divergence").out
    assert str(expected.divergence) in text
    assert "entropy   " not in text
    for option, message in (
        (["--measures", "modularity"], "--measures modularity is not for --distributed"),
        (["--entropy", "degree"], "--entropy degree is not for --distributed"),
        (["--resume"], "--resume is for sparsify"),
        (["--directed", "average"], "--directed is not for --distributed"),
    ):
        refused = call(*common, *option)
        assert (refused.code, message in refused.err) == (2, True)


# The same bytes.


@pytest.mark.parametrize("workers", [2, 4])
def test_the_result_is_the_same_for_any_workers_partition_order_and_format(
    workers: int, kept: Path, dask_client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if workers == 2:
        monkeypatch.setenv("GRAPHPRI_THREADS", "2")
        source = write_parts(tmp_path / "edges", (), order=1)
    else:
        rows = [f"{v}\t{u}" for u, v in zip(*ends(), strict=True)]
        source = write_csv(tmp_path / "edges", ["# a comment", *rows[::2]], "a.tsv")
        write_csv(tmp_path / "edges", rows[1::2], "b.tsv")
    found = go(source, tmp_path / "kept", None if workers == 2 else dask_client)
    assert contents(tmp_path / "kept") == contents(kept)
    assert vars(found) | {"input": ""} == vars(Manifest.read(str(kept))) | {"input": ""}


@pytest.mark.usefixtures("few_blocks")
def test_text_ids_come_back_and_do_not_hang_on_the_partition(client: Any, tmp_path: Path) -> None:
    names = {"one": (), "three": (30, 900)}
    for i, (name, cuts) in enumerate(names.items()):
        text = (lambda x: f"n{x}" if x % 3 else str(x)) if i < 2 else str
        go(write_parts(tmp_path / name, cuts, i, text), tmp_path / f"{name}.kept", client)
    assert contents(tmp_path / "one.kept") == contents(tmp_path / "three.kept")
    table = edges_in(tmp_path / "one.kept")
    known = {frozenset((text(u), text(v))) for u, v in zip(*map(np.ndarray.tolist, ends()), strict=True)}
    assert {frozenset(pair) for pair in zip(*map(pa.ChunkedArray.to_pylist, table.columns), strict=True)} <= known


@pytest.mark.usefixtures("few_blocks", "client")
def test_text_in_parquet_stays_text_where_it_looks_like_numbers(parts: str, tmp_path: Path) -> None:
    source = write_parts(tmp_path / "edges", text=str)
    go(source, tmp_path / "kept", None, method="random")
    kept, given = (pd.read_parquet(folder) for folder in (tmp_path / "kept", source))
    either = pd.concat([given, given.rename(columns={"source": "target", "target": "source"})])
    assert len(kept.merge(either)) == len(kept) == count_edges(KEEP, GRAPH.n_edges)
    go(parts, tmp_path / "numbers", None, method="random")
    as_integers = pd.read_parquet(tmp_path / "numbers").to_numpy()
    assert np.array_equal(np.sort(kept.astype(np.int64), axis=1), np.sort(as_integers, axis=1))


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize(
    ("rows", "labels", "note"),
    [
        (["1.0,2", "2.0,3", "3.0,10"], [1, 2, 3, 10], "nodes such as 1.0 are called 1, by the integers that they are"),
        (["1.0,2", "2.0,3.0", "2,2.0"], ["1.0", "2", "2.0", "3.0"], "nodes are called by decimals, such as 1.0"),
        (["1.5,2", "2.0,3", "1.5,3"], ["1.5", "2", "2.0", "3"], "nodes are called by decimals, such as 1.5"),
        (["1.0,2", "a,3", "2,3"], ["1.0", "2", "3", "a"], None),
        (["1.0,2", "9007199254740993,2", "3,4"], ["1.0", "2", "3", "4", "9007199254740993"], "nodes are called by"),
    ],
)
def test_decimals_name_nodes_as_in_a_file_that_is_read_whole(
    rows: list[str], labels: list[Any], note: str | None, client: Any, tmp_path: Path
) -> None:
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join(["source,target", *rows]) + "\n")
    read = graphpri.read(whole)
    assert sorted(read.labels, key=str) == sorted(labels, key=str)
    assert [text for text in read.notes if note and note in text] or note is None
    found: list[dict[str, bytes]] = []
    for cut in (1, 2, 3):
        for i, some in enumerate((rows[:cut], rows[cut:])):
            write_csv(tmp_path / f"edges{cut}", ["source,target", *some], f"{i}.csv")
        manifest = go(str(tmp_path / f"edges{cut}"), tmp_path / f"kept{cut}", client, keep=1.0)
        assert manifest.notes == [text for text in read.notes if "nodes" in text]
        table = edges_in(tmp_path / f"kept{cut}")
        assert sorted({*table["source"].to_pylist(), *table["target"].to_pylist()}, key=str) == sorted(labels, key=str)
        found.append(contents(tmp_path / f"kept{cut}"))
    assert found[0] == found[1] == found[2]
    # A part of it, all of whose nodes look whole, has the nodes of the graph.
    part = write_csv(tmp_path / "part", ["source,target", rows[-1]])
    assert len(estimates(str(tmp_path / "edges1"), part)) == 4


def test_cores_beyond_those_of_a_process_are_shared_out_to_a_local_cluster(
    parts: str, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    cluster = distributed.LocalCluster

    def in_this_process(**how: Any) -> Any:
        asked.append(how)
        return cluster(**how | {"processes": False, "dashboard_address": None})

    monkeypatch.setattr(distributed, "LocalCluster", in_this_process)
    monkeypatch.setattr(graphpri.distributed, "THREADS", 2)
    monkeypatch.setenv("GRAPHPRI_THREADS", "3")
    go(parts, tmp_path / "kept", None)
    assert [(how["n_workers"], how["threads_per_worker"]) for how in asked] == [(2, 2)]
    assert contents(tmp_path / "kept") == contents(kept)


# Faults.


class Killer:
    """Kills a worker of two at the first task of each of some stages."""

    def __init__(self, client: Any, stages: list[str]) -> None:
        self.client, self.left = client, stages

    def __call__(self, step: Step) -> None:
        if self.left and step.stage.startswith(self.left[0]) and step.done < step.tasks:
            self.left = self.left[1:]
            pids = list(self.client.run(os.getpid).values())
            os.kill(pids[len(self.left) % len(pids)], signal.SIGKILL)


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize(
    ("weight", "stages"),
    [(None, ["numbering", "sweep 2", "writing"]), ("weight", ["reading", "neighbours", "exact size"])],
)
def test_workers_that_are_killed_at_each_stage_do_not_change_the_result(
    weight: str | None,
    stages: list[str],
    processes: Any,
    parts: str,
    weighted_parts: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "INTERVAL", 0.0)
    source = parts if weight is None else weighted_parts
    how: dict[str, Any] = {"weight": weight, "entropy": "degree" if weight is None else "local"}
    go(source, tmp_path / "alone", None, **how)
    kill = Killer(processes, stages)
    go(source, tmp_path / "kept", processes, **how, callback=kill)
    assert kill.left == []
    assert contents(tmp_path / "kept") == contents(tmp_path / "alone")
    assert not (tmp_path / "kept.scratch").exists()


@pytest.mark.usefixtures("few_blocks")
def test_a_worker_that_is_killed_does_not_change_estimates(
    processes: Any, parts: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "INTERVAL", 0.0)
    kill = Killer(processes, ["probes 1 to 8, mixture, step 3"])
    assert estimates(parts, kept, probes=8, client=processes, callback=kill) == estimates(parts, kept, probes=8)
    assert kill.left == []


_CLUSTER = """
import sys, time, distributed
client = distributed.Client(processes=False, protocol="tcp", n_workers=1, threads_per_worker=1, dashboard_address=None)
print(client.scheduler.address, flush=True)
time.sleep(600)
"""


def test_a_cluster_without_workers_is_given_up(parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LOOK", 0.1)
    monkeypatch.setattr(run, "LONELY", 0.5)
    with in_threads(0) as alone, pytest.raises(graphpri.ClusterError, match=r"no worker for 0\.5 s: start some"):
        go(parts, tmp_path / "kept", alone)
    assert not (tmp_path / "kept").exists()


def test_after_the_scheduler_dies_the_run_can_be_resumed(parts: str, kept: Path, client: Any, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _CLUSTER], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            address = other.stdout.readline().strip()
            with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), distributed.Client(address) as theirs:

                def kill(step: Step) -> None:
                    if step.stage.startswith("sweep 2 of"):
                        other.kill()

                with pytest.raises(graphpri.ClusterError, match=r"scheduler was lost.*pass resume=True"):
                    go(parts, tmp_path / "kept", theirs, callback=kill)
        finally:
            other.kill()
    assert not (tmp_path / "kept").exists()
    with pytest.raises(graphpri.FileError, match=r"the run there has beta=4\.0, not beta=3\.0: resume it with that"):
        go(parts, tmp_path / "kept", client, resume=True, beta=3.0)
    stages: list[str] = []
    go(parts, tmp_path / "kept", client, resume=True, callback=lambda step: stages.append(step.stage))
    assert "reading" not in stages
    assert not any(stage.startswith("sweep 1 of") for stage in stages)
    assert contents(tmp_path / "kept") == contents(kept)


def test_an_interruption_leaves_no_output_and_can_be_resumed(
    parts: str, kept: Path, client: Any, tmp_path: Path
) -> None:
    def press(step: Step) -> None:
        if step.stage == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"scratch has what was done: pass resume=True to go on from there"):
        go(parts, tmp_path / "kept", client, callback=press)
    assert not (tmp_path / "kept").exists()
    with pytest.raises(graphpri.FileError, match="an unfinished run left it: pass resume=True"):
        go(parts, tmp_path / "kept", client)
    go(parts, tmp_path / "kept", client, resume=True)
    assert contents(tmp_path / "kept") == contents(kept)


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize("file", ["dealt/", "states/", "part-"])
def test_a_full_disk_is_named_and_leaves_no_output(
    file: str, parts: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = store.Store.write

    def full(self: Any, name: str, data: bytes) -> int:
        if name.startswith(file):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path(name))
        return write(self, name, data)

    monkeypatch.setattr(store.Store, "write", full)
    for there in (False, True):
        with pytest.raises(graphpri.FileError, match=r"kept.*No space left on device") as caught:
            go(parts, tmp_path / "kept", client, resume=there and (tmp_path / "kept.scratch").exists())
        assert isinstance(caught.value.__context__, OSError)
        assert (tmp_path / "kept").exists() == there
        (tmp_path / "kept").mkdir(exist_ok=True)  # an empty folder that was there stays, empty
        assert not list((tmp_path / "kept").iterdir())


def test_a_scratch_disk_that_is_too_small_is_refused_before_the_work(
    parts: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BYTES_AN_EDGE", 1 << 60)
    with pytest.raises(graphpri.FileError, match=r"needs about .* TB for 1475 rows.*scratch="):
        go(parts, tmp_path / "kept", client)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize("stage", ["sorting", "writing"])
def test_a_part_that_is_added_or_changed_meanwhile_is_named(stage: str, client: Any, tmp_path: Path) -> None:
    source = write_parts(tmp_path / "edges")

    def add(step: Step) -> None:
        if step.stage == stage:
            if stage == "sorting":
                (tmp_path / "edges" / "9.csv").write_text("1,2\n")
            else:
                os.utime(tmp_path / "edges" / "1.parquet", (1, 1))

    what = "9.csv was added" if stage == "sorting" else "1.parquet was changed"
    with pytest.raises(graphpri.FileError, match=what):
        go(source, tmp_path / "kept", client, callback=add)
    assert not (tmp_path / "kept").exists()


# What is refused.


ROWS: list[tuple[str, list[str], dict[str, Any], str]] = [
    ("loops", ["1,2", "3,3", "4,4"], {}, r"2 self-loops, the first in b.csv, row 2: pass loops=\"drop\""),
    (
        "repeats",
        ["1,2", "5,6", "2,1"],
        {},
        r"1 row repeats an edge of another, such as b.csv, row 3, that in b.csv, row 1",
    ),
    ("across parts", ["8,7"], {}, r"such as b.csv, row 1, that in a.csv, row 1: pass parallel=\"first\""),
    ("missing end", ["1,2", "3,"], {}, r"b.csv, row 2: an end of the edge is missing"),
    ("short row", ["1,2", "3"], {}, r"b.csv: the part is damaged"),
    ("one cell", ["1", "3"], {}, r"b.csv, line 1: no comma, tab, semicolon or space"),
    ("weights in a part", ["1,2,3"], {"weight": "weight"}, r"a.csv has no weights and b.csv has"),
    ("bad weight", ["1,2,3", "3,4,0"], {"weight": "weight"}, r"b.csv, row 2: the weight 0; weights must be positive"),
    ("no number", ["1,2,3", "3,4,x"], {"weight": "weight"}, r"b.csv, row 2: the weight 'x' is not a number"),
    ("no weight", ["1,2,3", "3,4,"], {"weight": "weight"}, r"b.csv, row 2: the weight is missing"),
    ("no column of weights", ["1,2"], {"weight": "calls"}, r"no column is called calls, named by weight="),
    ("heaviest of none", ["1,2"], {"method": "weight"}, r"method='weight' needs weights"),
    ("sum of none", ["1,2"], {"parallel": "sum"}, r"parallel='sum' is for weights"),
    ("unknown header", ["who,whom", "1,2"], {}, r"b.csv, line 1: the first row looks like a header.*pass source="),
    ("no such column", ["from,to", "1,2"], {"source": "x", "target": "to"}, r"no column is called x"),
    ("too many", ["1,2"], {"keep": 3}, r"keep=3 is not a count from 1 to the graph's 2 edges"),
]


@pytest.mark.parametrize(("rows", "options", "message"), [case[1:] for case in ROWS], ids=[case[0] for case in ROWS])
def test_rows_that_cannot_be_used_are_named_by_part_and_row(
    rows: list[str], options: dict[str, Any], message: str, client: Any, tmp_path: Path
) -> None:
    folder = write_csv(tmp_path / "edges", ["7,8"] if "source" not in options else ["x,to", "7,8"])
    write_csv(tmp_path / "edges", rows, "b.csv")
    with pytest.raises(graphpri.GraphPRIError, match=message):
        go(folder, tmp_path / "kept", client, **options)
    assert not (tmp_path / "kept").exists()
    assert options.get("keep") or not (tmp_path / "kept.scratch").exists()


@pytest.mark.usefixtures("few_blocks")
def test_loops_and_repeats_are_left_out_where_that_is_asked_for(client: Any, tmp_path: Path) -> None:
    source = write_csv(tmp_path / "edges", ["a b", "b a", "c c", "b c", "a b"])
    found = go(source, tmp_path / "kept", client, keep=1.0, loops="drop", parallel="first")
    assert found.notes == ["1 self-loop left out", "2 rows that repeat an edge left out"]
    assert sorted(edges_in(tmp_path / "kept").to_pylist(), key=str) == [
        {"source": "a", "target": "b"},
        {"source": "b", "target": "c"},
    ]


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize(
    ("first", "second", "noted"),
    [
        (["x,y", "a,b", "b,c"], ["c,d"], ("x", "y")),
        (["c,d"], ["x,y", "a,b", "b,c"], ("x", "y")),
        (["0,1", "3,4", "4,5"], ["5,6"], ("0", "1")),  # as pandas calls columns without a name
        (["7,8", "3,4", "4,5"], ["5,6"], None),
        (["x,y", "a,b", "b,c"], ["c,x"], None),
        (["source,target", "x,y", "a,b"], ["source,target", "b,c"], None),
    ],
)
def test_a_first_row_that_may_name_the_columns_is_noted_once_as_in_memory(
    first: list[str], second: list[str], noted: tuple[str, str] | None, tmp_path: Path
) -> None:
    source = write_csv(tmp_path / "edges", first, "a.csv")
    write_csv(tmp_path / "edges", second, "b.csv")
    whole = write_csv(tmp_path / "whole", list(dict.fromkeys(first + second if len(first) > 1 else second + first)))
    in_memory = [note for note in graphpri.read(f"{whole}/a.csv").notes if "is read as an edge" in note]
    assert len(in_memory) == (noted is not None)
    found = call("sparsify", source, "-o", tmp_path / "kept", "--keep", "1.0", "--distributed", "--json")
    notes = [note for note in json.loads(found.out)["notes"] if "is read as an edge" in note]
    in_manifest = [note for note in Manifest.read(str(tmp_path / "kept")).notes if "is read as an edge" in note]
    if noted is None:
        assert notes == in_manifest == []
        return
    (x, y), part = noted, "a.csv" if len(first) > 1 else "b.csv"
    what = f"the first row of {part}, '{x}', '{y}', is read as an edge: pass"
    assert notes == [f"{what} --source {x} and --target {y} if it names the columns"]
    assert in_manifest == [f'{what} source="{x}" and target="{y}" if it names the columns']


@pytest.mark.parametrize("name", ["x.parquet", "x.csv.gz"])
def test_a_damaged_part_is_named(name: str, parts: str, client: Any, tmp_path: Path) -> None:
    source = write_parts(tmp_path / "edges")
    (tmp_path / "edges" / name).write_bytes(Path(parts, "0.parquet").read_bytes()[:-50])
    with pytest.raises(graphpri.FileError, match=f"{name}: the part is damaged"):
        go(source, tmp_path / "kept", client)


def test_what_can_not_begin_is_refused(
    parts: str, kept: Path, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(graphpri.FileError, match="kept: exists already"):
        go(parts, kept, client)
    with pytest.raises(graphpri.FileError, match="there is no such file"):
        go(str(tmp_path / "nowhere"), tmp_path / "kept", client)
    (tmp_path / "empty").mkdir()
    with pytest.raises(graphpri.FileError, match="empty: the folder has no part in it"):
        go(str(tmp_path / "empty"), tmp_path / "kept", client)
    (tmp_path / "empty").rmdir()
    with pytest.raises(graphpri.FileError, match="no run to resume"):
        go(parts, tmp_path / "kept", client, resume=True)
    with pytest.raises(graphpri.OptionError, match="connected=True can't be kept to over parts"):
        go(parts, tmp_path / "kept", client, connected=True)
    with pytest.raises(graphpri.OptionError, match="go together"):
        go(parts, tmp_path / "kept", client, source="a")
    wrong = {"keep": 1.5, "beta": -1, "alpha": "x", "loops": "keep", "client": 3, "callback": 1, "resume": "no"}
    for name, value in wrong.items():
        with pytest.raises(graphpri.OptionError, match=name):
            go(parts, tmp_path / "kept", **({"client": client} | {name: value}))
    missing = importlib.import_module

    def without_dask(name: str, package: str | None = None) -> Any:
        if name == "dask":
            raise ImportError(name)
        return missing(name, package)

    monkeypatch.setattr(store, "import_module", without_dask)
    with pytest.raises(graphpri.MissingExtraError, match=r"needs dask.*graphpri\[distributed\]"):
        go(parts, tmp_path / "kept", client)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "url", "message"),
    [
        ("output", "s3://bucket/kept", r"s3://bucket/kept needs s3fs, which is not installed: pip install s3fs$"),
        ("input", "gs://bucket/edges", r"gs://bucket/edges needs gcsfs"),
        ("scratch", "abfs://bucket/scratch", r"abfs://bucket/scratch needs adlfs"),
        ("output", "nope://kept", r"nope://kept: .*Protocol not known: nope"),
        ("input", "zip://edges", r"zip://edges: "),
        ("input", "http://127.0.0.1:1/edges.csv", r"http://127.0.0.1:1/edges.csv: can't be read"),
    ],
)
def test_urls_that_no_installed_package_knows_are_refused_and_named(
    option: str, url: str, message: str, parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("s3fs", "gcsfs", "adlfs"):
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    places = {"input": parts, "output": str(tmp_path / "kept"), "scratch": str(tmp_path / "scratch")} | {option: url}
    with pytest.raises(graphpri.MissingExtraError if "needs" in message else graphpri.FileError, match=message):
        sparsify(**places, keep=KEEP)
    assert not list(tmp_path.iterdir())


def test_an_output_that_is_a_link_to_nowhere_is_refused(parts: str, tmp_path: Path) -> None:
    (tmp_path / "kept").symlink_to("nowhere")
    with pytest.raises(graphpri.FileError, match="kept: is a link to nowhere, which is not there"):
        go(parts, tmp_path / "kept", None)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.fixture(scope="module")
def unfinished(client: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with parts of text ids, and the scratch of a run that was stopped before it wrote."""
    folder = tmp_path_factory.mktemp("unfinished")

    def press(step: Step) -> None:
        if step.stage == "writing":
            raise KeyboardInterrupt

    source = write_parts(folder / "edges", text=lambda x: f"n{x}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "LEAST", 2)
        with pytest.raises(KeyboardInterrupt):
            go(source, folder / "kept", client, callback=press)
    return folder


@pytest.mark.parametrize("files", ["blocks/*", "edges/*", "states/*", "names/*", "journal.json"])
@pytest.mark.parametrize("left", [None, 0, 0.9])
def test_a_damaged_scratch_is_named_and_leaves_no_output(
    files: str, left: float | None, unfinished: Path, client: Any, tmp_path: Path
) -> None:
    copytree(unfinished, tmp_path / "run")
    for path in (tmp_path / "run" / "kept.scratch").glob(files):
        data = path.read_bytes()
        path.unlink()
        if left is not None:
            path.write_bytes(data[: int(left * len(data))])
    message = "there is no run to resume" if (files, left) == ("journal.json", None) else r"is damaged: its file .* is"
    with pytest.raises(graphpri.FileError, match=rf"kept.scratch.* {message}"):
        go(str(unfinished / "edges"), tmp_path / "run" / "kept", client, resume=True)
    assert not (tmp_path / "run" / "kept").exists()


@pytest.mark.parametrize(
    ("output", "scratch", "message"),
    [
        ("work/kept", "work", "must lie apart"),
        ("work", "work/", "must lie apart"),
        ("work", "work/scratch", "must lie apart"),
        ("edges/kept", None, "lies in the input"),
        ("kept", "mine", "mine: exists already, and no run left it"),
    ],
)
def test_no_folder_is_removed_or_read_with_another(
    output: str, scratch: str | None, message: str, client: Any, tmp_path: Path
) -> None:
    source = write_parts(tmp_path / "edges")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(graphpri.FileError, match=message):
        go(source, tmp_path / output, client, scratch=None if scratch is None else f"{tmp_path}/{scratch}")
    assert sorted(tmp_path.rglob("*")) == before


def test_folders_in_folders_that_are_not_there_are_refused(parts: str, kept: Path, client: Any, tmp_path: Path) -> None:
    far = tmp_path / "no" / "such"
    for output, scratch in ((far / "kept", None), (tmp_path / "kept", str(far / "scratch"))):
        with pytest.raises(graphpri.FileError, match=r"no/such: make it first"):
            go(parts, output, client, scratch=scratch)
    with pytest.raises(graphpri.FileError, match=r"no/such: make it first"):
        estimates(parts, kept, scratch=str(far / "scratch"))
    assert not list(tmp_path.iterdir())


def test_what_nothing_can_go_on_from_is_removed(parts: str, client: Any, tmp_path: Path) -> None:
    with pytest.raises(graphpri.OptionError, match="is not a count"):
        go(parts, tmp_path / "kept", client, keep=10**6)
    assert not list(tmp_path.iterdir())


def test_other_libraries_read_the_folder_as_one_table(kept: Path) -> None:
    manifest = Manifest.read(str(kept))
    assert len(pd.read_parquet(kept)) == pq.read_table(kept).num_rows == manifest.kept
    assert f"{manifest.kept} of {manifest.edges} edges" in repr(manifest)


def test_a_folder_without_a_manifest_or_with_a_part_missing_is_no_result(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(graphpri.FileError, match=r"no _manifest\.json there"):
        Manifest.read(str(tmp_path))
    for path in kept.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert Manifest.read(str(tmp_path)) == Manifest.read(str(kept))
    next(tmp_path.glob("*.parquet")).write_bytes(b"")
    with pytest.raises(graphpri.FileError, match="is missing or damaged"):
        Manifest.read(str(tmp_path))


# The command.


def test_the_command_writes_what_the_call_does(parts: str, kept: Path, dask_client: Any, tmp_path: Path) -> None:
    output = tmp_path / "kept"
    scheduler = ["--distributed", "--scheduler", dask_client.scheduler.address]
    common = ["sparsify", parts, "-o", output, "--keep", KEEP, "--beta", BETA, "--weight", "none", *scheduler]
    found = call(*map(str, common), "--json")
    assert (found.code, found.err) == (0, "")
    assert json.loads(found.out)["objective"] == Manifest.read(str(kept)).objective
    assert contents(output) == contents(kept)
    again = call(*map(str, common))
    assert (again.code, again.out) == (2, "")
    assert "exists already" in again.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--keep", "0.3", "--scratch", "x"], "--scratch is for --distributed"),
        (["--distributed", "--keep", "0.3"], "pass -o DIR/"),
        (["--distributed", "-o", "x"], "needs --keep"),
        (["--distributed", "-o", "x", "--keep", "0.3", "--connected"], "--connected can't be kept to over parts"),
        (["--distributed", "-o", "x", "--keep", "0.3", "--solver", "gumbel"], "--solver is not for --distributed"),
        (["--distributed", "-o", "x", "--keep", "0.3", "--memory", "1GB"], "--memory is not for --distributed"),
        (
            ["--distributed", "-o", "x", "--keep", "0.3", "--scheduler", "nonsense"],
            "--scheduler nonsense is not an address such as tcp://host:8786",
        ),
        (
            ["--distributed", "-o", "x", "--keep", "0.3", "--method", "scan"],
            "--method scan: choose from 'pri', 'random', 'weight', 'local-degree'",
        ),
        (
            ["--distributed", "-o", "x", "--keep", "0.3", "--scheduler", "tcp://127.0.0.1:1"],
            "no Dask scheduler answers",
        ),
    ],
)
def test_options_without_meaning_over_parts_are_refused(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "PATIENCE", "1s")
    found = call("sparsify", str(tmp_path), *options)
    assert found.code == (1 if "answers" in message else 2)
    assert message in found.err


def heavy_tails(folder: Path) -> tuple[Graph, str]:
    drawn = datasets.barabasi_albert(2000, 10, seed=0)
    weights = np.random.default_rng(0).lognormal(0, 2, drawn.n_edges)
    graph = Graph.from_edges(drawn.source, drawn.target, weights)
    graphpri.write(graph, folder / "edges.parquet")
    return graph, str(folder / "edges.parquet")


def test_heavy_edges_stay_out_where_light_ones_are_better_as_in_memory(tmp_path: Path) -> None:
    # From the lightest edges the trace grows forty times, and what a flip costs must follow it.
    graph, edges = heavy_tails(tmp_path)
    found = sparsify(edges, str(tmp_path / "kept"), keep=0.1, beta=4.0)
    alone = graphpri.sparsify(graph, 0.1, beta=4.0, entropy="degree")
    assert found.objective < 1.001 * alone.objective


def test_sweeps_that_are_run_again_begin_with_what_they_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, edges = heavy_tails(tmp_path)
    sparsify(edges, str(tmp_path / "once"), keep=0.1, beta=4.0)
    sweep, cut = moves.sweep, []

    def twice(*arguments: Any) -> Any:
        sweep(*arguments)
        found = sweep(*arguments)
        cut.append(found.place < found.edges)
        return found

    monkeypatch.setattr(moves, "sweep", twice)
    sparsify(edges, str(tmp_path / "twice"), keep=0.1, beta=4.0)
    assert any(cut)
    assert contents(tmp_path / "twice") == contents(tmp_path / "once")


def test_warm_up_compiles_for_memory_and_for_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphpri.cli.warm_up.NODES", 600)
    done = json.loads(call("warm-up", "--json").out)["done"]
    kinds = {(row["entropy"], row["edges"].endswith("in parts")) for row in done}
    assert kinds == {("degree", False), ("degree", True), ("local", False), ("local", True)}
    assert len(done) == 8
