"""Node classification on graphs with noise edges: what sparsifying, gates and the Graph-PRI term do for a GCN."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from graphpri import datasets
from graphpri._entropy import LARGE_EDGES
from graphpri._sparsify import sparsify
from graphpri.graph import Graph
from graphpri.studies.graphs import load
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    dots,
    generator,
    grade,
    legend_below,
    panels,
    where,
)
from graphpri.torch import EdgeGate, PRILoss

GRAPHS = ("karate", "polbooks", "eoec", "polblogs")
NOISE = (0.0, 0.5, 2.0)
"""Random absent edges that are added, as a share of the graph's own."""
_DRAWS = 10

SETTINGS: dict[str, tuple[float, ...]] = {
    "gcn": (5e-4, 5e-3, 5e-2),
    "dropedge": (0.2, 0.5, 0.8),
    "gdc": (8, 16, 32),
    "local-degree": (0.3, 0.5, 0.7),
    "graph-pri": (0.3, 0.5, 0.7),
    "constant-gate": (0.1, 0.3, 0.5),
    "gate": (0.01, 0.05, 0.2),
    "gate-pri": (0.1, 1.0, 10.0),
}
"""Methods, with the settings that the validation nodes choose from, as many for each.

Weight decay; share of edges dropped in a step; edges kept a node; share of edges kept (twice); value of all gates;
learning rate of the gates; weight of the Graph-PRI term, with the middle of these rates.
"""

NAMES = {
    "gcn": "GCN",
    "dropedge": "DropEdge",
    "gdc": "GDC",
    "local-degree": "local degree",
    "graph-pri": "Graph-PRI",
    "constant-gate": "constant gate",
    "gate": "learned gate",
    "gate-pri": "learned gate, PRI term",
}

_HIDDEN, _RATE, _DECAY, _DROPOUT = 16, 0.02, 5e-4, 0.5
_EVERY = 4  # epochs from one look at the validation nodes to the next
_BETA = 4.0  # of the term: the default of sparsify
_PER_CLASS = {"karate": 2}  # labelled nodes of each class; five on other graphs


def cells(quick: bool) -> list[Cell]:
    """A piece for each graph and noise, of the largest graph for each draw as well."""
    if quick:
        return [{"graph": "karate", "noise": n, "draws": [0, 1], "epochs": 20, "settings": 2} for n in (0.0, 2.0)]
    small = [{"graph": g, "noise": n, "draws": list(range(_DRAWS)), "epochs": 100} for g in GRAPHS[:-1] for n in NOISE]
    large = [{"graph": GRAPHS[-1], "noise": n, "draws": [i], "epochs": 60} for i in range(_DRAWS) for n in NOISE]
    return [cell | {"settings": 3} for cell in (*large, *small)]


def work(cell: Cell, seed: int) -> Tables:
    """Test accuracy of each method on draws of noise, split and first weights, its setting by the validation nodes."""
    name, noise = cell["graph"], cell["noise"]
    graph, labels = _labelled(name)
    draws: list[_Draw] = []
    for draw in cell["draws"]:
        key = (name, noise, draw)
        noisy, added = _with_noise(graph, noise, generator(seed, "noise", *key))
        split = _split(labels, _PER_CLASS.get(name, 5), generator(seed, "split", *key))
        draws.append(_Draw(noisy, added, *split, int(generator(seed, "weights", *key).integers(2**31))))
    rows: list[dict[str, Any]] = []
    with _one_thread():
        for method, settings in SETTINGS.items():
            tried = _fit(method, settings[: cell["settings"]], draws, labels, cell["epochs"])
            for draw, fits in zip(cell["draws"], tried, strict=True):
                best = max(fits, key=lambda fit: (fit["validation"], -fit["loss"]))
                rows.append({"graph": name, "noise": noise, "draw": draw, "method": method, **best})
    return {"accuracy": rows}


@contextmanager
def _one_thread() -> Generator[None]:
    """PyTorch in one thread: pieces run in processes of their own, and digits are the same everywhere."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
            yield
    finally:
        torch.set_num_threads(threads)


def _labelled(name: str) -> tuple[Graph, Any]:
    """A real graph without weights, with classes 0, 1, … of its nodes; of several components, the largest."""
    if name == "eoec":
        scans = datasets.scans(name)
        assert scans.series is not None
        assert scans.atlas is not None
        correlation = np.mean([np.corrcoef(series.T) for series in scans.series], axis=0)
        low, high = np.triu_indices(len(correlation), 1)
        strongest = np.argsort(-np.abs(correlation[low, high]), kind="stable")[: low.size // 10]
        graph = Graph.from_edges(low[strongest], high[strongest], n_nodes=len(correlation))
        classes = np.asarray(scans.atlas["dos_system"])
    else:
        graph = load(name)
        classes = np.asarray(datasets.load(name).node_attributes["club" if name == "karate" else "value"])
    group = graph.components()[1]
    inside = group == np.bincount(group).argmax()
    number, joined = np.cumsum(inside) - 1, inside[graph.source]
    graph = Graph.from_edges(number[graph.source[joined]], number[graph.target[joined]], n_nodes=int(inside.sum()))
    return graph, np.unique(classes[inside], return_inverse=True)[1]


def _with_noise(graph: Graph, share: float, rng: np.random.Generator) -> tuple[Graph, Any]:
    """The graph with random absent edges, and which of its edges were added."""
    n, wanted = graph.n_nodes, round(share * graph.n_edges)
    own = graph.source.astype(np.int64) * n + graph.target
    low, high = np.triu_indices(n, 1)
    absent = np.setdiff1d(low * n + high, own)
    new = rng.choice(absent, min(wanted, absent.size), replace=False)
    keys = np.sort(np.concatenate([own, new]))
    return Graph.from_edges(keys // n, keys % n, n_nodes=n), ~np.isin(keys, own)


def _split(labels: Any, per_class: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Nodes to learn from, so many of each class; as many to choose settings by; and the others, to test."""
    train, validation = [], []
    for label in range(labels.max() + 1):
        members = rng.permutation(np.flatnonzero(labels == label))
        half = min(per_class, members.size // 3)
        train.append(members[:half])
        validation.append(members[half : 2 * half])
    taken = np.concatenate(train), np.concatenate(validation)
    return (*taken, np.setdiff1d(np.arange(labels.size), np.concatenate(taken)))


class _Draw(NamedTuple):
    """A graph with noise edges; nodes to learn from, to choose settings by and to test; a seed of first weights."""

    graph: Graph
    added: Any
    train: Any
    validation: Any
    test: Any
    seed: int


def _fit(method: str, settings: Sequence[float], draws: Sequence[_Draw], labels: Any, epochs: int) -> list[Any]:
    """Rows of a method, for each draw those of its settings. All models train side by side, parts of one graph."""
    models = [(draw, setting) for draw in draws for setting in settings]
    of_models = [draw for draw, _ in models]
    kept = [_sparsified(method, draw.graph, setting) for draw, setting in models]
    graphs = [draw.graph.select(mask) for draw, mask in zip(of_models, kept, strict=True)]
    edges = _EDGES.get(method, _Edges)(graphs, [setting for _, setting in models])
    decay = [setting if method == "gcn" else _DECAY for _, setting in models]
    net = _Net([draw.seed for draw in of_models], graphs[0].n_nodes, int(labels.max()) + 1, decay)
    found = _trained(net, edges, of_models, torch.from_numpy(labels), epochs)
    rows: list[dict[str, Any]] = []
    for i, (draw, setting) in enumerate(models):
        chosen = edges.most_open(i) if isinstance(edges, _Gated) else kept[i]
        noise = float(draw.added[chosen].mean()) if method in _SELECT else None
        rows.append({"setting": setting} | {name: float(v[i]) for name, v in found.items()} | {"noise_kept": noise})
    return [rows[i : i + len(settings)] for i in range(0, len(rows), len(settings))]


def _sparsified(method: str, graph: Graph, keep: float) -> Any:
    """Which edges a sparsifier keeps; all of them for the other methods."""
    if method == "graph-pri":
        return sparsify(graph, keep, seed=0, effort="fast").mask
    if method == "local-degree":
        return sparsify(graph, keep, method=method).mask
    return np.ones(graph.n_edges, np.bool_)


class _Places(NamedTuple):
    """Columns of an edge list as entries of a square sparse matrix and of its transpose, each sorted by row."""

    row: Tensor
    column: Tensor
    order: Tensor
    starts: Tensor
    order_transposed: Tensor
    starts_transposed: Tensor

    @classmethod
    def of(cls, columns: Tensor, size: int) -> _Places:
        parts: list[Tensor] = []
        for ends in columns:
            counts = torch.bincount(ends, minlength=size)
            parts += [torch.argsort(ends, stable=True), torch.cat([counts.new_zeros(1), counts.cumsum(0)])]
        return cls(*columns, *parts)


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one, in a tenth of the time of sums over columns."""

    @staticmethod
    def forward(ctx: Any, entries: Tensor, values: Tensor, at: _Places) -> Tensor:
        ctx.save_for_backward(entries, values)
        ctx.at = at
        return _times(at.starts, at.column[at.order], entries[at.order], values)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (entries, values), at = ctx.saved_tensors, ctx.at
        order = at.order_transposed
        of_values = _times(at.starts_transposed, at.row[order], entries[order], grads[0])
        of_entries = (grads[0][at.row] * values[at.column]).sum(1) if ctx.needs_input_grad[0] else None
        return of_entries, of_values, None


def _times(starts: Tensor, columns: Tensor, entries: Tensor, values: Tensor) -> Tensor:
    size = len(starts) - 1
    return torch.sparse_csr_tensor(starts, columns, entries, (size, size), check_invariants=False) @ values


class _Edges:
    """Graphs of several models side by side, and the weights of their edges: all 1."""

    def __init__(self, graphs: Sequence[Graph], settings: Sequence[float]) -> None:
        n = graphs[0].n_nodes
        self.sizes = [graph.n_edges for graph in graphs]
        ends = np.concatenate(
            [np.stack([g.source, g.target]).astype(np.int64) + i * n for i, g in enumerate(graphs)], axis=1
        )
        self.columns = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
        self.model = torch.arange(len(graphs)).repeat_interleave(torch.tensor(self.sizes))
        self.settings = torch.tensor(settings)
        self.nodes = torch.arange(len(graphs)).repeat_interleave(n)  # the model of each node

    def weights(self, noise: Any) -> Tensor:
        """One of each edge; `noise` is a source of random numbers in training, and None in evaluation."""
        return torch.ones(len(self.model))

    def entries(self, noise: Any) -> tuple[Tensor, Tensor]:
        """Those of D^(−1/2) (A + I) D^(−1/2) in each column, and on the diagonal (Kipf and Welling, ICLR 2017)."""
        row, column = self.columns
        weights = self.weights(noise)
        weights = torch.cat([weights, weights])
        scale = (1 + torch.zeros(len(self.nodes)).index_add(0, row, weights)).rsqrt()
        return weights * scale[row] * scale[column], scale**2

    @cached_property
    def places(self) -> _Places:
        """Where its columns are in sparse matrices."""
        return _Places.of(self.columns, len(self.nodes))

    def times(self, entries: tuple[Tensor, Tensor], values: Tensor) -> Tensor:
        """The operator with these entries, times values of shape (models, N, …)."""
        flat = values.flatten(0, 1)
        found = cast("Tensor", _Product.apply(entries[0], flat, self.places))
        return (found + entries[1][:, None] * flat).view(values.shape)

    def groups(self) -> list[dict[str, Any]]:
        """What of it is learned, with its rates."""
        return []

    def term(self) -> Any:
        """What it adds to the loss."""
        return 0.0


class _Dropped(_Edges):
    """DropEdge (Rong et al., ICLR 2020): a share of the edges is left out in each step."""

    def weights(self, noise: Any) -> Tensor:
        if noise is None:
            return super().weights(noise)
        return (torch.rand(len(self.model), generator=noise) >= self.settings[self.model]).float()


class _Constant(_Edges):
    """The same gate on every edge, beside which the self-loops weigh 1."""

    def weights(self, noise: Any) -> Tensor:
        return self.settings[self.model]


class _Diffused(_Edges):
    """Graph diffusion by personalised PageRank, the largest entries of each column (Gasteiger et al., NeurIPS 2019)."""

    def __init__(self, graphs: Sequence[Graph], settings: Sequence[float]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of their own import
            from torch_geometric.data import Batch, Data
            from torch_geometric.transforms import GDC

        super().__init__(graphs, settings)
        made: list[Any] = []
        for graph, most in zip(graphs, settings, strict=True):
            n, ends = graph.n_nodes, np.stack([graph.source, graph.target]).astype(np.int64)
            diffuse = GDC(
                diffusion_kwargs={"method": "ppr", "alpha": 0.15},
                sparsification_kwargs={"method": "topk", "k": min(int(most), n), "dim": 0},
            )
            columns = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
            made.append(diffuse(Data(edge_index=columns, num_nodes=n, x=torch.zeros(n, 1))))
        batch: Any = Batch.from_data_list(made)
        # Each node has its most entries as a target, which in PyG's lists is the second row.
        self.columns = batch.edge_index.flip(0)
        self._entries = batch.edge_attr, torch.zeros(len(self.nodes))

    def entries(self, noise: Any) -> tuple[Tensor, Tensor]:
        return self._entries


class _Gated(_Edges):
    """A learned gate on every edge; the mean of the gates of a graph is held at 1. Settings are the gates' rates."""

    def __init__(self, graphs: Sequence[Graph], settings: Sequence[float]) -> None:
        super().__init__(graphs, settings)
        self.gates = [EdgeGate(size, unit_mean=True) for size in self.sizes]
        self.rates = list(settings)
        self.latest: Any = None

    def weights(self, noise: Any) -> Tensor:
        self.latest = torch.cat([gate.train(noise is not None)(generator=noise) for gate in self.gates])
        return self.latest

    def groups(self) -> list[dict[str, Any]]:
        return [{"params": gate.parameters(), "lr": rate} for gate, rate in zip(self.gates, self.rates, strict=True)]

    def most_open(self, model: int) -> Any:
        """The more open half of a model's edges."""
        return self.gates[model].keep(0.5).numpy()


class _GatedPRI(_Gated):
    """The same with the Graph-PRI term. Settings are its weights."""

    def __init__(self, graphs: Sequence[Graph], settings: Sequence[float]) -> None:
        super().__init__(graphs, settings)
        self.rates = [SETTINGS["gate"][1]] * len(graphs)
        self._pri = PRILoss(_BETA, "local", reduction="none", check=False)
        self._parts = list(self._in_parts(len(graphs)))
        self._whole = [torch.ones(part["edge_index"].shape[1]) for _, _, part in self._parts]
        known = zip(self._whole, self._parts, strict=True)
        self._entropies = [self._pri.precompute(whole, **part) for whole, (_, _, part) in known]

    def _in_parts(self, count: int) -> Iterator[tuple[slice, slice, dict[str, Any]]]:
        """Edges, models and arguments of the loss: large graphs one by one, for which there are compiled loops."""
        half = len(self.model)
        if min(self.sizes) < LARGE_EDGES:
            yield slice(0, half), slice(0, count), {"edge_index": self.columns, "batch": self.nodes}
            return
        n, stops = len(self.nodes) // count, np.cumsum(self.sizes)
        for i, (size, stop) in enumerate(zip(self.sizes, stops.tolist(), strict=True)):
            own = slice(stop - size, stop)
            ends = self.columns[:, own] - i * n
            part = {"edge_index": torch.cat([ends, ends.flip(0)], 1), "num_nodes": n}
            yield own, slice(i, i + 1), part

    def term(self) -> Any:
        total: Any = 0.0
        for (edges, models, part), whole, known in zip(self._parts, self._whole, self._entropies, strict=True):
            gates = torch.cat([self.latest[edges], self.latest[edges]])
            total = total + (self.settings[models] * self._pri(gates, whole, known, **part)).sum()
        return total


_EDGES = {
    "dropedge": _Dropped,
    "constant-gate": _Constant,
    "gdc": _Diffused,
    "gate": _Gated,
    "gate-pri": _GatedPRI,
}
_SELECT = ("local-degree", "graph-pri", "gate", "gate-pri")


class _Net:
    """Graph convolutions in two layers (Kipf and Welling, ICLR 2017), as many as there are seeds.

    Nodes have no features, so that the first layer has a row of weights for each node.
    """

    def __init__(self, seeds: Sequence[int], n_nodes: int, classes: int, decay: Sequence[float]) -> None:
        count = len(seeds)
        self.first = torch.empty(count, n_nodes, _HIDDEN)
        self.second = torch.empty(count, _HIDDEN, classes)
        for i, seed in enumerate(seeds):
            source = torch.Generator().manual_seed(seed)
            for matrix in (self.first[i], self.second[i]):
                torch.nn.init.xavier_uniform_(matrix, generator=source)
        self.biases = torch.zeros(count, 1, _HIDDEN), torch.zeros(count, 1, classes)
        self.parameters = [p.requires_grad_() for p in (self.first, self.second, *self.biases)]
        self._decay = torch.tensor(decay)[:, None, None] / 2

    def penalty(self) -> Tensor:
        """Weight decay, a rate for each model."""
        return (self._decay * self.first**2).sum() + (self._decay * self.second**2).sum()

    def __call__(self, edges: _Edges, noise: Any) -> Tensor:
        """Scores of the classes, shape (models, N, classes), with dropout where there is a source of noise."""
        entries = edges.entries(noise)
        hidden = (edges.times(entries, self.first) + self.biases[0]).relu()
        if noise is not None:
            open_ = torch.rand(hidden.shape, generator=noise) >= _DROPOUT
            hidden = hidden * open_ / (1 - _DROPOUT)
        return edges.times(entries, hidden @ self.second) + self.biases[1]


def _trained(net: _Net, edges: _Edges, draws: Sequence[_Draw], labels: Tensor, epochs: int) -> dict[str, Tensor]:
    """Accuracies of each model on validation and test nodes where its validation loss is least, and that loss."""

    def loss_on(out: Tensor, nodes: Tensor) -> Tensor:
        picked = out.gather(1, nodes[..., None].expand(*nodes.shape, out.shape[2]))
        each = cross_entropy(picked.flatten(0, 1), labels[nodes].flatten(), reduction="none")
        return each.view(nodes.shape).mean(1)

    train, validation, test = (
        torch.from_numpy(np.stack([getattr(draw, name) for draw in draws])) for name in ("train", "validation", "test")
    )
    noise = torch.Generator().manual_seed(draws[0].seed)
    optimizer = torch.optim.Adam([{"params": net.parameters}, *edges.groups()], lr=_RATE)
    best = {name: torch.full((len(draws),), torch.inf) for name in ("validation", "loss", "test")}
    for epoch in range(1, epochs + 1):
        optimizer.zero_grad()
        loss = loss_on(net(edges, noise), train).sum() + net.penalty()
        (loss + edges.term()).backward()
        optimizer.step()
        if epoch % _EVERY == 0:
            with torch.no_grad():
                out = net(edges, None)
                right = (out.argmax(2) == labels).float()
                now = {"loss": loss_on(out, validation)}
                now |= {"validation": right.gather(1, validation).mean(1), "test": right.gather(1, test).mean(1)}
                better = now["loss"] < best["loss"]
                best = {name: torch.where(better, now[name], known) for name, known in best.items()}
    return best


def derive(frames: Frames) -> Frames:
    """Accuracy of each method, and its difference from the network alone with an interval of 95 % over draws."""
    table = frames["accuracy"]
    rows: list[dict[str, Any]] = []
    for (graph, noise, method), group in table.groupby(["graph", "noise", "method"], sort=False):
        mean, low, high = _interval(_differences(table, method, "gcn", graph, noise))
        found = {"test": group["test"].mean(), "change": mean, "low": low, "high": high}
        share = group["noise_kept"].mean() if noise > 0 else np.nan
        name = {"graph": graph, "noise": noise, "method": NAMES[method]}
        rows.append(name | {key: round(float(value), 4) for key, value in {**found, "noise_kept": share}.items()})
    return {"comparison": pd.DataFrame(rows)}


def _differences(table: Any, method: str, other: str, graph: str, noise: float) -> Any:
    """Test accuracy of a method less that of another, draw by draw."""
    one, two = (where(table, graph=graph, noise=noise, method=m).set_index("draw")["test"] for m in (method, other))
    return (one - two).to_numpy()


def _interval(values: Any) -> tuple[float, float, float]:
    """Mean, and its interval of 95 % by Student's t; no wider than the mean where all values are alike."""
    from scipy.stats import t

    mean = float(values.mean())
    half = float(t.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size))
    return mean, mean - half, mean + half


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """What helps a network on noisy graphs, one claim for each way, and which of all ways helps most."""
    table = frames["accuracy"]
    facts.add("draws", table["draw"].nunique(), "accuracy", "draws of noise, split and first weights")
    claims = (
        ("graph-pri", "gcn", True, "Edges kept by Graph-PRI make a GCN more accurate where random edges were added"),
        (
            "gate",
            "constant-gate",
            False,
            "Learned gates make a GCN more accurate than the same gate on all edges",
        ),
        ("gate-pri", "gate", False, "The Graph-PRI term makes a GCN with learned gates more accurate"),
    )
    return [*(_compared(table, facts, *claim) for claim in claims), _best(table, facts), _finds_noise(table, facts)]


def _conditions(table: Any, noisy: bool) -> list[tuple[Any, Any]]:
    pairs = table[["graph", "noise"]].drop_duplicates().itertuples(index=False)
    return [(graph, noise) for graph, noise in pairs if noise > 0 or not noisy]


def _compared(table: Any, facts: Facts, method: str, other: str, noisy: bool, claim: str) -> Verdict:
    """A method against another over graphs and noise; clear is an interval that doesn't hold 0."""
    key = method.replace("-", "_")
    found = [_interval(_differences(table, method, other, *at)) for at in _conditions(table, noisy)]
    named = f"{NAMES[method]} against {NAMES[other]}"
    facts.add(f"{key}_of", len(found), "accuracy", f"graphs and shares of noise, {named}")
    better = facts.add(f"{key}_better", sum(low > 0 for _, low, _ in found), "accuracy", f"clearly better, {named}")
    worse = facts.add(f"{key}_worse", sum(high < 0 for _, _, high in found), "accuracy", f"clearly worse, {named}")
    facts.add(f"{key}_change", np.mean([mean for mean, _, _ in found]), "accuracy", f"mean difference, {named}")
    facts.add(f"{key}_most", max(mean for mean, _, _ in found), "accuracy", f"largest mean difference, {named}")
    facts.add(f"{key}_least", min(mean for mean, _, _ in found), "accuracy", f"least mean difference, {named}")
    # One in forty is clearly better by luck.
    verdict = grade(better > len(found) / 2 and not worse, better - worse >= len(found) / 4)
    return Verdict(
        claim,
        "graphpri",
        f"test accuracy changes by {{{key}_change:+.3f}} in the mean ({{{key}_least:+.3f}} to {{{key}_most:+.3f}}); "
        f"clearly better in {{{key}_better:.0f}} of {{{key}_of:.0f}} graphs and shares of noise, clearly worse in "
        f"{{{key}_worse:.0f}}, over {{draws:.0f}} draws",
        verdict,
        "more often better than worse, and mostly no clear difference" if verdict == "conditional" else "",
    )


def _best(table: Any, facts: Facts) -> Verdict:
    """Of all ways, the one with the largest mean gain where edges were added."""
    at = _conditions(table, noisy=True)
    found = {m: [_interval(_differences(table, m, "gcn", *c)) for c in at] for m in SETTINGS if m != "gcn"}
    gains = {method: float(np.mean([mean for mean, _, _ in values])) for method, values in found.items()}
    best = max(gains, key=lambda method: gains[method])
    facts.add("best_gain", gains[best], "accuracy", f"mean gain of {NAMES[best]} over GCN with added edges")
    clear = facts.add("best_better", sum(low > 0 for _, low, _ in found[best]), "accuracy", "of them clearly better")
    worse = facts.add("best_worse", sum(high < 0 for _, _, high in found[best]), "accuracy", "of them clearly worse")
    facts.add("best_of", len(at), "accuracy", "graphs with added edges, by their share")
    facts.add("pri_gain", gains["graph-pri"], "accuracy", "mean gain of Graph-PRI over GCN with added edges")
    facts.add("gate_gain", gains["gate-pri"], "accuracy", "mean gain of learned gates with the PRI term over GCN there")
    return Verdict(
        "Where random edges were added, nothing helps a GCN more than Graph-PRI does, as a sparsifier or as a term",
        "graphpri",
        f"the largest mean gain over GCN is that of {NAMES[best]}, {{best_gain:+.3f}} (clearly better in "
        "{best_better:.0f} of {best_of:.0f}, clearly worse in {best_worse:.0f}); Graph-PRI {pri_gain:+.3f}, learned "
        "gates with the term {gate_gain:+.3f}",
        grade(best in ("graph-pri", "gate-pri") and clear > worse),
    )


def _finds_noise(table: Any, facts: Facts) -> Verdict:
    """The share of random edges among those kept, against that among all."""
    most = float(table["noise"].max())
    facts.add("noise", most, "accuracy", "largest share of added edges")
    blind = facts.add("noise_blind", most / (1 + most), "accuracy", "share of added edges among all there")
    rows = where(table, noise=most).groupby("method")["noise_kept"].mean()
    for method in _SELECT:
        facts.add(
            f"noise_{method.replace('-', '_')}", rows[method], "accuracy", f"the same among edges of {NAMES[method]}"
        )
    kept = facts["noise_graph_pri"]
    return Verdict(
        "Graph-PRI leaves out random edges before others",
        "graphpri",
        "with {noise:.0%} added, {noise_graph_pri:.0%} of the edges that Graph-PRI keeps are random ones, of those of "
        "local degree {noise_local_degree:.0%}, of the more open half of learned gates {noise_gate:.0%} and with the "
        "term {noise_gate_pri:.0%}; a blind choice has {noise_blind:.0%}",
        grade(kept < blind / 2, kept < 0.95 * blind),
        "few of them" if blind / 2 <= kept < 0.95 * blind else "",
    )


def draw(frames: Frames) -> list[Picture]:
    """Differences from the network alone, a panel a graph."""
    table = frames["comparison"]
    graphs = list(dict.fromkeys(table["graph"]))
    methods = [name for method, name in NAMES.items() if method != "gcn"]
    figure, axes = panels(1, max(len(graphs), 2), height=2.4, sharey=True)
    for ax, graph in zip(axes[0], graphs, strict=False):
        ax.axvline(0, color="0.6", linewidth=0.6)
        for i, (noise, rows) in enumerate(where(table, graph=graph).groupby("noise")):
            rows = rows.set_index("method").loc[methods]
            spread = (rows["change"] - rows["low"], rows["high"] - rows["change"])
            places = np.arange(len(methods)) + 0.2 * (i - 1)
            ax.errorbar(rows["change"], places, xerr=spread, elinewidth=0.7, label=f"{noise:.0%} added", **dots(i))
        ax.set_title(graph)
        ax.set_yticks(range(len(methods)), methods)
        ax.set_xlabel("change of accuracy")
    for ax in axes[0][len(graphs) :]:
        ax.set_axis_off()
    axes[0, 0].invert_yaxis()
    legend_below(figure, axes[0, 0], 3)
    caption = (
        "Test accuracy less that of the network alone, by random edges added. Dots: means over draws; lines: intervals "
        "of 95 % by t of the paired differences."
    )
    return [Picture("node_classification", figure, caption)]
