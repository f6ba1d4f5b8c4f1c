"""The PyG transform keeps what the library keeps, and everything on an edge stays on it."""

from __future__ import annotations

import math
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
    assert repr(one) == "Sparsify(keep=0.3, beta=50.0, method='pri', connected=True, seed=1)"
    long = [(i, i + 1) for i in range(2000)]
    assert "(1999, 2000)" in repr(Sparsify(protect=long)).replace("[", "(").replace("]", ")")
    assert "1999" in repr(Sparsify(protect=np.arange(2000)))
    assert repr(Sparsify(protect={(0, 1), (1, 2)})) == repr(Sparsify(protect={(1, 2), (0, 1)}))
    assert repr(Sparsify(beta=np.float64(2.0))) == repr(Sparsify(beta=2))


def test_what_it_can_not_take_is_refused() -> None:
    with pytest.raises(OptionError, match="callback: a transform takes no functions"):
        Sparsify(callback=print)
    with pytest.raises(GraphError, match="data is a HeteroData, not a Data"):
        Sparsify(0.5)(HeteroData())
    with pytest.raises(OptionError, match="efort"):
        Sparsify(0.5, efort="fast")(data_of(zoo.ring(5)))
    two_way = data_of(zoo.ring(5))
    one_way = Data(edge_index=two_way.edge_index[:, :1], num_nodes=5)
    one_way.update({key: two_way[key][:1] for key in ("edge_weight", "edge_attr", "edge_mask")})
    with pytest.raises(GraphError, match=r"graph 1 of the batch: .*ToUndirected"):
        Sparsify(0.5)(Batch.from_data_list([data_of(zoo.ring(5)), data_of(zoo.ring(5)).update(one_way)]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": 1.5}, "keep=1.5 must be a share"),
        ({"keep": 0}, "keep=0 must be a share"),
        ({"keep": -1}, "keep=-1 must be a share"),
        ({"keep": True}, "keep=True must be a share"),
        ({"keep": math.nan}, "keep=nan must be a share"),
        ({"keep": "half"}, "keep='half' must be a share"),
        ({"beta": "x"}, "beta='x' must be a finite number"),
        ({"beta": -1}, "beta=-1"),
        ({"keep": 0.5, "method": "prj"}, "method='prj' is not known; did you mean 'pri'"),
        ({"keep": 0.5, "method": 3}, "method=3 must be text"),
        ({"method": "random"}, "method 'random' needs a budget"),
    ],
)
def test_options_that_no_graph_can_have_are_refused_before_the_first(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        Sparsify(**options)


@pytest.mark.parametrize("key", ["edge_weight", "edge_attr"])
@pytest.mark.parametrize("late", [False, True])
def test_values_of_another_number_of_edges_are_refused(key: str, late: bool) -> None:
    data = data_of(zoo.ring(5))
    # Late: set on a batch that was made before.
    target = Batch.from_data_list([data, data]) if late else data
    target[key] = torch.ones(3)
    with pytest.raises(GraphError, match=rf"{key} has 3 entries, and edge_index {20 if late else 10} columns"):
        Sparsify(0.5)(target)
    target[key] = torch.tensor(1.0)
    with pytest.raises(GraphError, match=rf"{key} has no axis"):
        Sparsify(0.5)(target)


def test_graphs_without_edges_pass_through() -> None:
    atom = Data(edge_index=torch.empty(2, 0, dtype=torch.int64), edge_attr=torch.empty(0, 2), x=torch.ones(1, 3))
    bond = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), edge_attr=torch.ones(4, 2), x=torch.ones(3, 3))
    transform = Sparsify(0.5, connected=False)
    alone = transform(atom)
    assert alone is not atom
    assert alone.to_dict().keys() == atom.to_dict().keys()
    assert all(torch.equal(alone[key], atom[key]) for key in atom.to_dict())
    kept = transform(Batch.from_data_list([atom, bond, atom]))
    assert [graph.num_edges for graph in kept.to_data_list()] == [0, 2, 0]
    assert kept.num_nodes == 5
    assert kept.edge_attr.shape == (2, 2)


def test_edge_attr_is_taken_for_weights_where_it_is_named() -> None:
    graph = zoo.random_graph(12, 30, 2, weighted=True)
    data = data_of(graph)
    data.edge_attr = data.edge_weight[:, None]
    by_weight = Sparsify(0.4)(data)
    del data.edge_weight
    assert edges_of(Sparsify(0.4, weight="edge_attr")(data)) == edges_of(by_weight)
    assert edges_of(Sparsify(0.4)(data)) == edges_of(Sparsify(0.4, weight=None)(data))
    assert edges_of(Sparsify(0.4)(data)) != edges_of(by_weight)


def test_a_missing_torch_geometric_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "graphpri.torch.transform")
    for name in [name for name in sys.modules if name.split(".")[0] == "torch_geometric"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(MissingExtraError, match=r"graphpri\[pyg\]"):
        _ = graphpri.torch.Sparsify
