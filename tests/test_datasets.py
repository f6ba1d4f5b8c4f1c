"""Named graphs: facts, places, checksums; and the generators."""

from __future__ import annotations

import functools
import threading
import tracemalloc
import zlib
from collections import Counter
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphpri import datasets
from graphpri.datasets import (
    barabasi_albert,
    cache_folder,
    erdos_renyi,
    generators,
    get,
    info,
    load,
    names,
    ring_knn,
    stochastic_block_model,
)
from graphpri.errors import FileError, OptionError

needs_data = pytest.mark.usefixtures("data")
SHIPPED = ("g1", "g2", "karate", "lesmis")
# Nodes, edges, components, total weight of each, from the descriptions of the files.
FACTS = {
    "g1": (20, 100, 1, None),
    "karate": (34, 78, 1, 231),
    "madrid": (64, 243, 1, 282),
    "polbooks": (105, 441, 1, None),
    "jazz": (198, 2742, 1, None),
    "lesmis": (77, 254, 1, 820),
    "celegans": (297, 2148, 1, 8743),
    "us-airports": (500, 2980, 1, 453914166),
    "netscience": (1589, 2742, 396, None),
    "power-grid": (4941, 6594, 1, None),
    "polblogs": (1490, 16715, 268, None),
    "ca-grqc": (5242, 14484, 355, None),
    "condmat1999": (16726, 47594, 1188, 27209.4963),
    "as-caida": (26475, 53381, 1, None),
    "facebook": (4039, 88234, 1, None),
    "ca-condmat": (21363, 91286, 1, None),
    "email-enron": (36692, 183831, 1065, None),
    "ca-astroph": (17903, 196972, 1, None),
    "soc-slashdot": (82168, 504230, 1, None),
    "ego-twitter": (81306, 1342296, 1, None),
}


@pytest.fixture
def bare(monkeypatch, tmp_path) -> Path:
    """A machine without data: no folder named, an empty cache."""
    monkeypatch.delenv("GRAPHPRI_DATA", raising=False)
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def karate_files(bare) -> Path:
    """A folder laid out like the data folder, with karate only."""
    get("karate")
    return cache_folder().rename(bare / "elsewhere")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Nothing."""


@pytest.fixture
def server(karate_files, monkeypatch):
    """Address of a server of that folder."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    http = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(karate_files)))
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    http.server_close()
    thread.join()


def in_cache() -> list[str]:
    return sorted(p.relative_to(cache_folder()).as_posix() for p in cache_folder().rglob("*") if p.is_file())


# Facts


def test_every_name_has_facts():
    assert set(FACTS) | {"g2"} == set(names())
    for name in names():
        facts = info(name)
        assert facts.name == name
        assert facts.title
        assert facts.citation
        assert facts.terms
        assert all(len(digest) == 64 and not path.startswith("/") for path, digest in facts.files)
        if name in FACTS:
            assert (facts.n_nodes, facts.n_edges) == FACTS[name][:2]


@pytest.mark.parametrize("name", ["G3", "g4", "G5", "g6", "US_Airports", "Karate"])
def test_aliases_and_case(name):
    paper = {"g3": "karate", "g4": "madrid", "g5": "polbooks", "g6": "jazz"}
    assert info(name).name == paper.get(name.lower(), name.lower().replace("_", "-"))


@pytest.mark.parametrize(
    ("name", "hint"), [("karat", "did you mean 'karate'"), ("qqqq", "known are g1, g2, karate"), ("", "known")]
)
def test_unknown_names_are_refused_with_a_hint(name, hint):
    for function in (info, load, get):
        with pytest.raises(OptionError, match=hint):
            function(name)


@pytest.mark.parametrize("name", ["g1", "g2", "karate", "lesmis"])
def test_some_graphs_need_no_data(bare, name):
    table, facts = load(name), info(name)
    graph = table.canonical().graph
    assert (graph.n_nodes, graph.n_edges) == (facts.n_nodes, facts.n_edges)
    assert graph.is_weighted is (facts.weights is not None)
    assert table.graph_attributes == {"name": name}
    assert in_cache() == []


def test_karate_is_networkx_karate(bare):
    table, g = load("g3"), nx.karate_club_graph()
    assert table.node_attributes["club"] == list(dict(g.nodes(data="club")).values())
    weights = table.edge_attributes["weight"]
    assert weights.dtype.kind == "i"
    assert dict(zip(zip(table.source, table.target, strict=True), weights, strict=True)) == {
        (u, v): w for u, v, w in g.edges(data="weight")
    }


def test_lesmis_is_networkx_lesmis_with_other_ids(bare):
    h = nx.Graph()
    table = load("lesmis")
    h.add_weighted_edges_from(zip(table.source, table.target, table.edge_attributes["weight"], strict=True))
    same = nx.algorithms.isomorphism.numerical_edge_match("weight", 1)
    assert nx.is_isomorphic(h, nx.les_miserables_graph(), edge_match=same)


@needs_data
@pytest.mark.parametrize("name", FACTS)
def test_data_sets_have_the_counts_they_claim(name, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path))
    n, m, components, weight = FACTS[name]
    table = load(name)
    graph = table.canonical().graph
    assert (graph.n_nodes, graph.n_edges, graph.components()[0]) == (n, m, components)
    assert graph.is_weighted is (info(name).weights is not None)
    if weight is not None:
        assert graph.weights.sum() == pytest.approx(weight, abs=1e-4)
    assert all(len(column) == n for column in table.node_attributes.values())


@needs_data
@pytest.mark.parametrize("name", ["karate", "lesmis"])
def test_networkx_and_the_files_agree(name, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path))
    from_files = load(name)
    monkeypatch.delenv("GRAPHPRI_DATA")
    shipped = load(name)
    np.testing.assert_array_equal(from_files.source, shipped.source)
    np.testing.assert_array_equal(from_files.target, shipped.target)
    np.testing.assert_array_equal(from_files.edge_attributes["weight"], shipped.edge_attributes["weight"])
    assert from_files.node_attributes == shipped.node_attributes


@needs_data
def test_node_attributes():
    assert Counter(load("polbooks").node_attributes["value"]) == {"c": 49, "l": 43, "n": 13}
    assert load("polbooks").node_attributes["label"][0] == "1000 Years for Revenge"
    assert Counter(load("polblogs").node_attributes["value"]) == {0: 758, 1: 732}


@needs_data
def test_data_go_through_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path))
    files = get("polbooks")
    assert [p.relative_to(tmp_path).as_posix() for p in files] == ["polbooks/edges.csv", "polbooks/nodes.csv"]
    monkeypatch.delenv("GRAPHPRI_DATA")
    assert load("polbooks").source.size == 441


# Places and checksums


def test_absent_data_say_how_to_get_them(bare):
    with pytest.raises(FileError, match=r"'jazz'.*GRAPHPRI_DATA.*jazz/edges\.csv.*data get jazz --from") as caught:
        load("jazz")
    assert str(cache_folder() / "jazz" / "edges.csv") in str(caught.value)
    with pytest.raises(FileError, match="GRAPHPRI_DATA"):
        get("jazz")


def test_the_folder_named_must_exist(bare, monkeypatch):
    monkeypatch.setenv("GRAPHPRI_DATA", str(bare / "nowhere"))
    with pytest.raises(FileError, match=r"GRAPHPRI_DATA names .*nowhere, which is not a folder"):
        load("karate")


def test_the_named_folder_is_asked_before_the_cache(karate_files, monkeypatch):
    monkeypatch.setenv("GRAPHPRI_DATA", str(karate_files))
    get("karate")
    (cache_folder() / "karate" / "edges.csv").write_text("damaged")
    assert load("karate").source.size == 78
    (karate_files / "karate" / "edges.csv").unlink()
    with pytest.raises(FileError, match="is damaged"):
        load("karate")


@pytest.mark.parametrize("damage", [b"", b"source,target,weight\n0,1,4\n", b"\x1f\x8b\x00\xff"])
def test_damaged_files_are_refused_with_both_checksums(karate_files, monkeypatch, damage):
    monkeypatch.setenv("GRAPHPRI_DATA", str(karate_files))
    (karate_files / "karate" / "edges.csv").write_bytes(damage)
    expected = info("karate").files[0][1]
    with pytest.raises(FileError, match=rf"edges\.csv is damaged.*expected SHA-256 {expected}, found [0-9a-f]{{64}}"):
        load("karate")


def test_cache_folder_follows_the_conventions(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("GRAPHPRI_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "graphpri"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for platform, place in (("linux", ".cache/graphpri"), ("darwin", "Library/Caches/graphpri")):
        monkeypatch.setattr("sys.platform", platform)
        assert cache_folder() == tmp_path / place


# Getting


@pytest.mark.parametrize("way", ["folder", "inner folder", "file", "path"])
def test_files_are_got_from_a_folder_or_a_file(karate_files, way):
    inner = karate_files / "karate"
    source = {"folder": str(karate_files), "inner folder": str(inner), "file": str(inner / "edges.csv"), "path": inner}
    assert get("karate", source[way]) == (cache_folder() / "karate/edges.csv", cache_folder() / "karate/nodes.csv")
    assert in_cache() == ["karate/edges.csv", "karate/nodes.csv"]
    assert get("karate") == get("karate", source[way])


@pytest.mark.parametrize("ending", ["/", "/{path}", "/karate/../{path}"])
def test_files_are_got_from_an_address(server, ending):
    get("karate", server + ending)
    assert in_cache() == ["karate/edges.csv", "karate/nodes.csv"]


@pytest.mark.parametrize("form", ["folder", "address"])
def test_a_wrong_file_leaves_the_cache_alone(server, karate_files, form):
    (karate_files / "karate" / "nodes.csv").write_text("node,club\n0,Mr. Hi\n")
    source = server + "/" if form == "address" else str(karate_files)
    with pytest.raises(FileError, match=r"nodes\.csv is damaged or another file"):
        get("karate", source)
    assert in_cache() == []


def test_addresses_that_fail(server, bare):
    with pytest.raises(FileError, match=r"lesmis_weighted\.csv: can't be downloaded .*404"):
        get("lesmis", server + "/")
    with pytest.raises(FileError, match="can't be downloaded"):
        get("lesmis", "http://127.0.0.1:9/")
    with pytest.raises(FileError, match="can't be downloaded"):
        get("lesmis", "http://")
    with pytest.raises(OptionError, match="not ftp"):
        get("lesmis", "ftp://example.org/")
    with pytest.raises(OptionError, match="not file"):
        get("lesmis", "file:///etc/passwd")
    with pytest.raises(OptionError, match=r"karate/edges\.csv and karate/nodes\.csv: give an address"):
        get("karate", server + "/karate/edges.csv")
    assert in_cache() == []


def test_an_endless_answer_is_cut_off(server, karate_files, monkeypatch):
    monkeypatch.setattr("graphpri.datasets.files._LARGEST", 100)
    with pytest.raises(FileError, match="larger than any file"):
        get("karate", server + "/")


def test_sources_that_are_not_there(bare):
    with pytest.raises(FileError, match=r"no such file; jazz needs jazz/edges\.csv"):
        get("jazz", bare / "nothing")
    with pytest.raises(FileError, match=r"jazz/edges\.csv and .*edges\.csv: no such file"):
        get("jazz", bare)
    with pytest.raises(OptionError, match="is generated"):
        get("g1")


def test_a_cache_that_cannot_be_written(karate_files, bare):
    (bare / "cache").write_text("a file where the folder should be")
    with pytest.raises(FileError, match=r"can't be written.*GRAPHPRI_CACHE"):
        get("karate", karate_files)
    assert (bare / "cache").read_text().startswith("a file")


# Generators


def test_g1_and_g2_are_those_of_the_paper():
    g1 = ring_knn()
    assert set(g1.degrees()) == {10}
    gap = (g1.target - g1.source) % 20
    assert set(np.minimum(gap, 20 - gap)) == {1, 2, 3, 4, 5}
    g2 = stochastic_block_model()
    inside = (g2.source // 30) == (g2.target // 30)
    assert inside.sum() == pytest.approx(4 * 435 / 4, abs=4 * np.sqrt(4 * 435 * 3 / 16))
    assert (~inside).sum() == pytest.approx(5400 / 128, abs=4 * np.sqrt(5400 / 128))


@pytest.mark.parametrize(("n", "k"), [(3, 2), (5, 4), (20, 10), (7, 2)])
def test_ring_matches_networkx(n, k):
    g = ring_knn(n, k)
    assert {(u, v) for u, v in zip(g.source.tolist(), g.target.tolist(), strict=True)} == {
        tuple(sorted(e)) for e in nx.watts_strogatz_graph(n, k, 0).edges
    }


@settings(deadline=None)
@given(st.integers(0, 60), st.floats(0, 1), st.integers(0, 2**32))
def test_erdos_renyi_has_the_edges_asked_for(n, share, seed):
    mean_degree = share * max(n - 1, 0)
    g = erdos_renyi(n, mean_degree, seed)
    assert g.n_nodes == n
    assert g.n_edges == int(np.floor(n * mean_degree / 2 + 0.5))


def test_erdos_renyi_is_uniform():
    counts = Counter((*g.source.tolist(), *g.target.tolist()) for g in (erdos_renyi(4, 1.0, s) for s in range(3000)))
    assert len(counts) == 15  # all pairs of the 6 edges
    assert max(abs(c - 200) for c in counts.values()) < 5 * np.sqrt(200)


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 60), st.integers(0, 2**32))
def test_barabasi_albert_joins_m_earlier_nodes(m, extra, seed):
    n = m + extra
    g = barabasi_albert(n, m, seed)
    assert (g.n_nodes, g.n_edges, g.components()[0]) == (n, (n - m) * m, 1)
    np.testing.assert_array_equal(np.bincount(g.target, minlength=n)[m:], m)


def test_barabasi_albert_grows_as_networkx_does():
    ours = np.mean([np.sort(barabasi_albert(400, 3, s).degrees())[::-1] for s in range(40)], axis=0)
    theirs = np.mean(
        [sorted(dict(nx.barabasi_albert_graph(400, 3, s).degree).values())[::-1] for s in range(40)], axis=0
    )
    np.testing.assert_allclose(ours[:100], theirs[:100], rtol=0.12)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(1, 200), st.integers(0, 2**32), st.floats(0, 1))
def test_compiled_generators_make_the_same_graphs(m, extra, seed, share):
    n = m + extra
    calls = (lambda: barabasi_albert(n, m, seed), lambda: erdos_renyi(n, share * (n - 1), seed))
    arrays = [call() for call in calls]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generators, "LARGE_GRAPH", 0)
        for before, call in zip(arrays, calls, strict=True):
            after = call()
            assert after.n_nodes == before.n_nodes
            for name in ("source", "target"):
                one, two = getattr(before, name), getattr(after, name)
                assert one.dtype == two.dtype
                assert not two.flags.writeable
                np.testing.assert_array_equal(one, two)


def test_seeds_keep_their_graphs():
    """Other releases, and best known values of studies, name graphs by their seed."""
    sums = {
        "ba": barabasi_albert(1000, 5, 0),
        "ba_loops": barabasi_albert(60_000, 5, 1),
        "er": erdos_renyi(1000, 10, 0),
        "er_dense": erdos_renyi(60, 40, 3),
        "sbm": stochastic_block_model((40, 50, 60), 0.3, 0.05, 7),
    }
    found = {name: zlib.crc32(np.concatenate([g.source, g.target]).astype("<i4").tobytes()) for name, g in sums.items()}
    assert found == {
        "ba": 791952695,
        "ba_loops": 833533926,
        "er": 529217481,
        "er_dense": 1936002521,
        "sbm": 1601298829,
    }


def test_generators_need_few_bytes_an_edge():
    for make in (barabasi_albert, lambda n, m, seed: erdos_renyi(n, 2 * m, seed)):
        make(30_000, 10, 0)
        tracemalloc.start()
        graph = make(60_000, 10, 0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * graph.n_edges


def test_block_model_matches_its_probabilities():
    g = stochastic_block_model((200, 0, 100), 0.3, 0.02, seed=1)
    block = np.digitize(np.arange(300), [200])
    inside = block[g.source] == block[g.target]
    assert inside.sum() == pytest.approx(0.3 * (19900 + 4950), abs=4 * np.sqrt(0.21 * 24850))
    assert (~inside).sum() == pytest.approx(400, abs=4 * np.sqrt(400))
    assert stochastic_block_model((3, 2), 1, 1).n_edges == 10
    assert stochastic_block_model((3, 2), 0, 0).n_edges == 0
    assert stochastic_block_model((), 0.5, 0.5).n_nodes == 0


@pytest.mark.parametrize(
    "make",
    [lambda s: erdos_renyi(200, 6, s), lambda s: barabasi_albert(200, 3, s), lambda s: stochastic_block_model(seed=s)],
)
def test_seeds_decide(make):
    a, b, c, d = make(5), make(5), make(6), make(np.random.default_rng(5))
    for other in (b, d):
        np.testing.assert_array_equal(a.source, other.source)
        np.testing.assert_array_equal(a.target, other.target)
    assert not np.array_equal(a.target[:50], c.target[:50])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ring_knn(10, 3), "k=3: the degree of a ring must be even"),
        (lambda: ring_knn(10, 10), "k=10: 10 nodes have at most 9"),
        (lambda: ring_knn(10, 0), "at least 2"),
        (lambda: erdos_renyi(10, 9.5), r"mean_degree=9\.5"),
        (lambda: erdos_renyi(10, -1), "mean_degree=-1"),
        (lambda: erdos_renyi(10, np.nan), "mean_degree=nan"),
        (lambda: erdos_renyi(-1, 0), "n=-1"),
        (lambda: barabasi_albert(3, 3), "m=3"),
        (lambda: barabasi_albert(3, 0), "m=0"),
        (lambda: stochastic_block_model((3, -1)), "sizes=-1 must be a whole number"),
        (lambda: stochastic_block_model(p_in=1.5), r"p_in=1\.5 is not a probability"),
    ],
)
def test_impossible_graphs_are_refused(call, message):
    with pytest.raises(OptionError, match=message):
        call()


def test_a_million_edges():
    assert barabasi_albert(100_010, 10, 0).n_edges == 1_000_000
    assert erdos_renyi(100_000, 20, 0).n_edges == 1_000_000


def test_the_module_exports_what_it_says():
    assert all(hasattr(datasets, name) for name in datasets.__all__)
