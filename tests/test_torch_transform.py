"""The PyG transform keeps what the library keeps, and everything on an edge stays on it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zoo

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")

import graphpri  # noqa: E402
from graphpri.errors import GraphError, MissingExtraError, OptionError  # noqa: E402
from graphpri.graph import Graph  # noqa: E402
from graphpri.torch import Sparsify  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
    from torch_geometric.loader import DataLoader
    from torch_geometric.transforms import Compose, ToUndirected


def data_of(graph: Graph, seed: int = 0) -> Any:
    """A graph with attributes that say which column they belong to, in shuffled columns."""
    order = np.random.default_rng(seed).permutation(2 * graph.n_edges)
    row = np.concatenate([graph.source, graph.target]).astype(np.int64)[order]
    col = np.concatenate([graph.target, graph.source]).astype(np.int64)[order]
    weights = np.tile(graph.weights * np.ones(graph.n_edges), 2)[order]
    return Data(
        edge_index=torch.from_numpy(np.stack([row, col])),
        edge_weight=torch.from_numpy(weights),
        edge_attr=torch.from_numpy(np.stack([row, col], 1)),
        edge_mask=torch.from_numpy(row < col),
        x=torch.arange(float(graph.n_nodes))[:, None],
        y=torch.tensor([seed]),
    )


def edges_of(data: Any) -> set[tuple[int, int]]:
    return {tuple(edge) for edge in data.edge_index.T.tolist()}


def check_aligned(data: Any) -> None:
    """Every attribute still belongs to the column that it came with."""
    assert torch.equal(data.edge_attr, data.edge_index.T)
    assert torch.equal(data.edge_mask, data.edge_index[0] < data.edge_index[1])
    assert len(edges_of(data)) == data.num_edges
    assert edges_of(data) == {(v, u) for u, v in edges_of(data)}


def test_it_keeps_the_edges_that_sparsify_keeps() -> None:
    graph = zoo.random_graph(20, 60, 0, weighted=True)
    data = data_of(graph)
    kept = Sparsify(keep=0.4, beta=2.0, entropy="exact", seed=1)(data)
    mask = graphpri.sparsify(graph, keep=0.4, beta=2.0, entropy="exact", seed=1).mask
    expected = set(zip(graph.source[mask].tolist(), graph.target[mask].tolist(), strict=True))
    assert {(u, v) for u, v in edges_of(kept) if u < v} == expected
    weight = {(int(u), int(v)): w for u, v, w in zip(graph.source, graph.target, graph.weights, strict=True)}
    found = zip(kept.edge_index.T.tolist(), kept.edge_weight.tolist(), strict=True)
    assert all(weight[(min(e), max(e))] == w for e, w in found)
    check_aligned(kept)
    assert torch.equal(kept.x, data.x)
    assert data.num_edges == 120  # as it was


@pytest.mark.parametrize("method", ["local-degree", "local-similarity", "random"])
def test_other_methods_and_options(method: str) -> None:
    kept = Sparsify(0.5, method=method, connected=True)(data_of(zoo.random_graph(15, 40, 1)))
    assert kept.num_edges == 40
    check_aligned(kept)


def test_a_batch_is_sparsified_graph_by_graph() -> None:
    graphs = [data_of(zoo.random_graph(10 + i, 24 + i, i), i) for i in range(3)]
    transform = Sparsify(keep=0.5)
    batch = Batch.from_data_list(graphs, follow_batch=["x"])
    batch.note = "kept"
    kept = transform(batch)
    assert isinstance(kept, Batch)
    assert (kept.num_graphs, kept.note) == (3, "kept")
    assert torch.equal(kept.x_batch, batch.x_batch)
    for part, graph in zip(kept.to_data_list(), graphs, strict=True):
        alone = transform(graph)
        assert torch.equal(part.edge_index, alone.edge_index)
        check_aligned(part)
        assert torch.equal(part.y, graph.y)
    batch.edge_late = torch.zeros(batch.num_edges)
    with pytest.raises(GraphError, match="edge_late was set on the batch"):
        transform(batch)


def test_in_a_chain_behind_to_undirected() -> None:
    one_way = Data(edge_index=torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]]), edge_attr=torch.rand(5, 2))
    one_way.num_nodes = 4
    kept = Compose([ToUndirected(), Sparsify(keep=3)])(one_way)
    assert kept.num_edges == 6
    assert kept.edge_attr.shape == (6, 2)
    with pytest.raises(GraphError, match=r"directed graph.*ToUndirected.*directed=.symmetrize"):
        Sparsify(keep=3)(one_way)
    assert Sparsify(keep=3, directed="symmetrize")(one_way).num_edges == 6


class Rings(InMemoryDataset):
    """Three rings with chords."""

    def __init__(self, root: str, **options: Any) -> None:
        super().__init__(root, **options)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self) -> str:
        return "rings.pt"

    def process(self) -> None:
        graphs = [data_of(zoo.random_graph(12, 30, i), i) for i in range(3)]
        self.save([self.pre_transform(g) for g in graphs], self.processed_paths[0])


def test_as_pre_transform_of_a_data_set_on_disk(tmp_path: Path) -> None:
    first = Rings(str(tmp_path), pre_transform=Sparsify(keep=0.5))
    assert [g.num_edges for g in first] == [30, 30, 30]
    for graph in first:
        check_aligned(graph)
    # Equal options are the same transform to PyG; others are noticed.
    Rings(str(tmp_path), pre_transform=Sparsify(0.5))
    with pytest.warns(UserWarning, match="pre_transform"):
        Rings(str(tmp_path), pre_transform=Sparsify(keep=0.25))
    batch = next(iter(DataLoader(first, batch_size=3)))
    assert batch.num_edges == 90


def test_its_name_says_every_option_in_one_order() -> None:
    one = Sparsify(0.3, seed=1, connected=True)
    assert repr(one) == repr(Sparsify(connected=True, keep=0.3, seed=1))
    assert repr(one) == "Sparsify(keep=0.3, beta=4.0, method='pri', connected=True, seed=1)"
    long = [(i, i + 1) for i in range(2000)]
    assert "(1999, 2000)" in repr(Sparsify(protect=long)).replace("[", "(").replace("]", ")")
    assert "1999" in repr(Sparsify(protect=np.arange(2000)))
    assert repr(Sparsify(protect={(0, 1), (1, 2)})) == repr(Sparsify(protect={(1, 2), (0, 1)}))
    assert repr(Sparsify(beta=np.float64(2.0))) == repr(Sparsify(beta=2))


def test_what_it_can_not_take_is_refused() -> None:
    with pytest.raises(OptionError, match="callback: a transform takes no functions"):
        Sparsify(callback=print)
    with pytest.raises(GraphError, match="HeteroData is not a Data"):
        Sparsify(0.5)(HeteroData())
    with pytest.raises(OptionError, match="efort"):
        Sparsify(0.5, efort="fast")(data_of(zoo.ring(5)))
    empty = Data(edge_index=torch.empty(2, 0, dtype=torch.int64), num_nodes=3)
    with pytest.raises((GraphError, OptionError), match=r"graph 1 of the batch: .*no edges"):
        Sparsify(0.5)(Batch.from_data_list([Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2), empty]))


def test_a_missing_torch_geometric_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "graphpri.torch.transform")
    for name in [name for name in sys.modules if name.split(".")[0] == "torch_geometric"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(MissingExtraError, match=r"graphpri\[pyg\]"):
        _ = graphpri.torch.Sparsify
