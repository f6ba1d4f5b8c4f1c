"""One graph in every library: made by that library's own converter, sparsified, and used there again."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

import graphpri

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the import of PyG sets off PyTorch's own deprecations
    from torch_geometric.data import Batch, Data, InMemoryDataset
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GCNConv, global_mean_pool
    from torch_geometric.transforms import Compose, ToUndirected
    from torch_geometric.utils import from_networkx, to_networkx

    from graphpri.torch import Sparsify


def shuffled(graph: nx.Graph) -> nx.Graph:
    """The same graph, its edges in an order that is not the canonical one."""
    out = nx.create_empty_copy(graph)
    edges = list(graph.edges(data=True))
    out.add_edges_from(edges[i] for i in np.random.default_rng(0).permutation(len(edges)))
    return out


KARATE = shuffled(nx.karate_club_graph())
FEW = {"keep": 0.3, "beta": 4.0, "effort": "fast"}
KEPT = {frozenset(edge) for edge in graphpri.sparsify(KARATE, **FEW).graph.edges}

Facts = tuple[int, float, int]


class Library(NamedTuple):
    """Its converter from networkx; the pairs of nodes, and (edges, total weight, components), as it tells them."""

    make: Callable[[nx.Graph], Any]
    pairs: Callable[[Any], list[tuple[int, int]]]
    facts: Callable[[Any], Facts]


def of_networkx(g: Any) -> Facts:
    return g.number_of_edges(), g.size("weight"), nx.number_connected_components(g)


def of_igraph(g: Any) -> Facts:
    return g.ecount(), sum(g.es["weight"]), len(g.connected_components())


def of_networkit(g: Any) -> Facts:
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    parts = networkit.components.ConnectedComponents(g).run()
    return g.numberOfEdges(), g.totalEdgeWeight(), parts.numberOfComponents()


def of_matrix(a: Any) -> Facts:
    return sp.csr_array(a).nnz // 2, a.sum() / 2, int(connected_components(a)[0])


def of_edge_frame(f: pd.DataFrame) -> Facts:
    g = nx.from_pandas_edgelist(f, edge_attr=True)
    g.add_nodes_from(range(34))  # a list of edges can't hold the others
    return of_networkx(g)


def of_pyg(d: Any) -> Facts:
    return of_networkx(to_networkx(d, edge_attrs=["weight"], to_undirected=True))


def both_ends(rows: Any, columns: Any) -> list[tuple[int, int]]:
    """Each mirrored pair once, where it first stands."""
    return list(dict.fromkeys((min(u, v), max(u, v)) for u, v in zip(rows.tolist(), columns.tolist(), strict=True)))


def to_networkit(g: Any) -> Any:
    networkit = pytest.importorskip("networkit", reason="NetworKit is an extra, and not installed")
    return networkit.nxadapter.nx2nk(g, weightAttr="weight")


LIBRARIES = {
    "networkx": Library(nx.Graph.copy, lambda g: list(g.edges), of_networkx),
    "igraph": Library(igraph.Graph.from_networkx, lambda g: g.get_edgelist(), of_igraph),
    "networkit": Library(to_networkit, lambda g: list(g.iterEdges()), of_networkit),
    "pandas edges": Library(
        nx.to_pandas_edgelist, lambda f: list(zip(f["source"], f["target"], strict=True)), of_edge_frame
    ),
    "pandas square": Library(
        nx.to_pandas_adjacency,
        lambda f: both_ends(*np.nonzero(f.to_numpy())),
        lambda f: of_matrix(f.to_numpy()),
    ),
    "scipy": Library(nx.to_scipy_sparse_array, lambda a: both_ends(*a.tocoo().coords), of_matrix),
    "numpy": Library(nx.to_numpy_array, lambda a: both_ends(*np.nonzero(a)), of_matrix),
    "pyg": Library(from_networkx, lambda d: both_ends(*d.edge_index), of_pyg),
}
each = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


@each
def test_every_library_keeps_the_same_edges_and_counts_what_the_report_says(library: Library) -> None:
    given = library.make(KARATE)
    before = library.facts(given)
    result = graphpri.sparsify(given, **FEW)
    assert type(result.graph) is type(given)
    assert {frozenset(pair) for pair in library.pairs(result.graph)} == KEPT
    told = result.report()
    edges, weight, components = library.facts(result.graph)
    assert (edges, components) == (told["edges_kept"], told["components_kept"])
    assert weight == pytest.approx(sum(KARATE.edges[tuple(pair)]["weight"] for pair in KEPT))
    assert library.facts(given) == before == (78, 231, 1)


@each
def test_arrays_over_edges_line_up_with_the_library_s_own_order(library: Library) -> None:
    given = library.make(KARATE)
    result = graphpri.sparsify(given, **FEW)
    pairs = library.pairs(given)
    assert {frozenset(pair) for pair, kept in zip(pairs, result.mask, strict=True) if kept} == KEPT
    expected = [KARATE.edges[pair]["weight"] * (frozenset(pair) in KEPT) for pair in pairs]
    np.testing.assert_array_equal(result.weights, expected)


@each
def test_the_other_questions_take_every_library_too(library: Library) -> None:
    given = library.make(KARATE)
    kept = graphpri.sparsify(given, **FEW).graph
    # A frame of edges has no place for nodes that lost all of theirs; they are matched by label.
    asked = {"entropy": "exact", "measures": ["entropy", "divergence", "components"]}
    ours, theirs = graphpri.report(given, kept, **asked), graphpri.report(KARATE, nx.Graph(KARATE), **asked)
    assert ours["entropy_original"] == pytest.approx(theirs["entropy"])
    assert ours["divergence"] == pytest.approx(graphpri.sparsify(KARATE, **FEW).divergence)
    assert [r.mask.sum() for r in graphpri.path(given, keep=[0.2, 0.5], effort="fast")] == [16, 39]
    assert graphpri.compare(given, ["local-degree"], [0.3], measures=["edges"])[0]["K"] == 23
    page = graphpri.explore(given, beta=[4], keep=[0.3], methods=[])
    assert page.mask(beta=4, keep=0.3).sum() == 23
    assert page.html in unescape(page._repr_html_())


def test_igraph_goes_on_with_names_attributes_and_weights() -> None:
    graph = igraph.Graph.from_networkx(nx.relabel_nodes(KARATE, {i: f"member {i}" for i in KARATE}))
    kept = graphpri.sparsify(graph, **FEW).graph
    assert kept.vs["_nx_name"] == [f"member {i}" for i in range(34)]
    assert kept.vs["club"] == graph.vs["club"]
    assert kept.es["weight"] == [graph.es[graph.get_eid(*edge)]["weight"] for edge in kept.get_edgelist()]
    like = KARATE.edge_subgraph(tuple(pair) for pair in KEPT)
    np.testing.assert_allclose(
        [kept.pagerank(weights="weight")[i] for i in like],
        [nx.pagerank(of_all(like), weight="weight", tol=1e-12)[i] for i in like],
        rtol=1e-6,
    )


def of_all(some: nx.Graph) -> nx.Graph:
    """The graph with all members of the club."""
    graph = nx.create_empty_copy(KARATE)
    graph.add_edges_from(some.edges(data=True))
    return graph


def test_rows_of_a_frame_keep_index_types_and_order() -> None:
    frame = nx.to_pandas_edgelist(KARATE).rename(columns={"weight": "meetings"})
    frame = frame.assign(
        first=pd.date_range("1970-01-01", periods=78), kind=pd.Categorical(["sport", "bar"] * 39)
    ).set_index(pd.Index([f"tie {i}" for i in range(78)], name="tie"))
    result = graphpri.sparsify(frame, weight="meetings", **FEW)
    pd.testing.assert_frame_equal(result.graph, frame[result.mask])
    assert len(frame.drop(result.graph.index)) == 55
    assert {frozenset(pair) for pair in zip(result.graph["source"], result.graph["target"], strict=True)} == KEPT


def test_a_csv_file_gives_the_same_in_pandas_in_python_and_on_the_shell(tmp_path: Path) -> None:
    named = nx.relabel_nodes(KARATE, {i: f"member {i}, karate" for i in KARATE})
    frame = nx.to_pandas_edgelist(named).assign(note=[f'"{i}"' for i in range(78)])
    frame.to_csv(tmp_path / "ties.csv", index=False)
    by_pandas = graphpri.sparsify(pd.read_csv(tmp_path / "ties.csv"), **FEW).graph
    graphpri.write(graphpri.sparsify(graphpri.read(tmp_path / "ties.csv"), **FEW).graph, tmp_path / "python.csv")
    command = [
        sys.executable,
        "-m",
        "graphpri",
        "sparsify",
        "ties.csv",
        "-o",
        "shell.csv",
        "--keep",
        "0.3",
        "--beta",
        "4",
        "--effort",
        "fast",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert len(by_pandas) == 23
    for name in ("python.csv", "shell.csv"):
        written = pd.read_csv(tmp_path / name)
        pd.testing.assert_frame_equal(written[frame.columns], by_pandas.reset_index(drop=True), check_dtype=False)


# PyTorch Geometric: data sets, loaders, training.


class Clubs(InMemoryDataset):
    """Six small weighted graphs with a class each; counts how often graphs are processed."""

    processed_file_names = "clubs.pt"
    processings = 0

    def __init__(self, root: Path, **options: Any) -> None:
        super().__init__(str(root), **options)
        self.load(self.processed_paths[0])

    def process(self) -> None:
        type(self).processings += 1
        graphs = [one_way(seed) for seed in range(6)]
        self.save([g if self.pre_transform is None else self.pre_transform(g) for g in graphs], self.processed_paths[0])


def one_way(seed: int) -> Any:
    """A graph with each edge in one direction, as files often hold them, and attributes that name their edge."""
    graph = nx.gnm_random_graph(12, 30, seed=seed)
    ends = torch.tensor(list(graph.edges)).T
    return Data(
        edge_index=ends,
        edge_weight=1.0 + (ends[0] * 7 + ends[1]) % 5,
        edge_attr=(ends[0] * 100 + ends[1])[:, None],
        x=torch.randn(12, 3, generator=torch.Generator().manual_seed(seed)),
        y=torch.tensor([seed % 2]),
    )


def attributes_follow(data: Any) -> bool:
    ends = data.edge_index.sort(dim=0).values % 12
    return torch.equal(data.edge_attr[:, 0], ends[0] * 100 + ends[1]) and torch.equal(
        data.edge_weight, 1.0 + (ends[0] * 7 + ends[1]) % 5
    )


CHAIN = Compose([ToUndirected(reduce="mean"), Sparsify(keep=0.5, beta=0.5, connected=True, effort="fast")])


def same(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one.keys())  # noqa: SIM118


def test_before_and_on_the_fly_give_the_same_graphs(tmp_path: Path) -> None:
    Clubs.processings = 0
    before = Clubs(tmp_path / "before", pre_transform=CHAIN)
    fly = Clubs(tmp_path / "fly", transform=CHAIN)
    assert len(before) == len(fly) == 6
    for one, other in zip(before, fly, strict=True):
        assert same(one, other)
        assert one.num_edges == 30
        assert one.is_undirected()
        assert nx.number_connected_components(to_networkx(one, to_undirected=True)) == 1
        assert attributes_follow(one)
    # From the disk, without sparsifying again, though the transform is another object with equal options.
    again = Clubs(tmp_path / "before", pre_transform=copy.deepcopy(CHAIN))
    assert Clubs.processings == 2
    assert all(map(same, before, again))


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_make_batches_of_sparsified_graphs(workers: int, tmp_path: Path) -> None:
    fly = Clubs(tmp_path, transform=CHAIN)
    batches = list(DataLoader(fly, batch_size=4, num_workers=workers))
    assert [batch.num_graphs for batch in batches] == [4, 2]
    for graph, alone in zip([g for batch in batches for g in batch.to_data_list()], fly, strict=True):
        assert same(graph, alone)
        assert attributes_follow(graph)


def test_a_batch_from_a_loader_can_be_sparsified_itself(tmp_path: Path) -> None:
    plain = Clubs(tmp_path, transform=ToUndirected(reduce="mean"))
    batch = next(iter(DataLoader(plain, batch_size=6)))
    kept = CHAIN.transforms[1](batch)
    assert isinstance(kept, Batch)
    assert kept.num_edges == batch.num_edges // 2
    assert torch.equal(kept.batch, batch.batch)
    for one, graph in zip(kept.to_data_list(), plain, strict=True):
        assert same(one, CHAIN(graph))


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Steps this small wait for threads more than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_a_network_trains_on_sparsified_batches(tmp_path: Path) -> None:
    torch.manual_seed(0)
    loader = DataLoader(Clubs(tmp_path, pre_transform=CHAIN), batch_size=3)
    convolution, readout = GCNConv(3, 16), torch.nn.Linear(16, 2)
    optimizer = torch.optim.Adam([*convolution.parameters(), *readout.parameters()], lr=0.05)
    losses: list[float] = []
    for _ in range(25):
        for batch in loader:
            hidden = convolution(batch.x, batch.edge_index, batch.edge_weight).relu()
            loss = torch.nn.functional.cross_entropy(readout(global_mean_pool(hidden, batch.batch)), batch.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.mean(losses[-4:]) < 0.5 * np.mean(losses[:4])
