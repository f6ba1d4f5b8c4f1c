"""What an epoch of a graph convolutional network costs with gates and the Graph-PRI term.

python benchmarks/learning.py

A random graph with ten columns of ``edge_index`` a node, 16 features, two layers with 16 hidden units, 4 classes, one
thread; forward, backward and a step of Adam. "Weights" are one free number a column, without anything of this library:
what it costs that the layers differentiate by weights. "Normalised once" is gcn_norm of the gates before the layers,
which would each do it again. The ways take turns, so that what else the machine does slows all alike; the first epoch
of each, which looks at the edges, is left out. Prints medians of 11 epochs in CPU seconds, and of the quotients to the
network's own epoch of the same turn.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from graphpri.torch import EdgeGate, InductiveGate, PRILoss

warnings.simplefilter("ignore", DeprecationWarning)  # PyG's import sets off PyTorch's own

from torch_geometric.nn import GCNConv  # noqa: E402
from torch_geometric.nn.conv.gcn_conv import gcn_norm  # noqa: E402

SIZES = (100_000, 1_000_000)
REPEATS = 11
WAYS = (
    "GCN",
    "weights",
    "weights normalised once",
    "gates",
    "gates, local PRI",
    "gates, degree PRI",
    "gates normalised once",
    "gates normalised once, local PRI",
    "inductive gates, local PRI",
    "inductive gates normalised once, local PRI",
)


def random_columns(n_nodes: int, count: int) -> torch.Tensor:
    """So many columns of an undirected random graph, each orientation in a half of its own."""
    rng = np.random.default_rng(0)
    low, high = np.sort(rng.integers(0, n_nodes, (2, count)), axis=0)
    keys = rng.permutation(np.unique(low[low < high] * n_nodes + high[low < high]))[: count // 2]
    ends = np.stack([keys // n_nodes, keys % n_nodes])
    return torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))


def epoch_of(way: str, columns: torch.Tensor, n_nodes: int) -> Callable[[], float]:
    """What trains for one epoch and says how many CPU seconds it took; the first one is over."""
    torch.manual_seed(0)
    x, y = torch.randn(n_nodes, 16), torch.randint(0, 4, (n_nodes,))
    once, whole = "once" in way, torch.ones(columns.shape[1])
    layers = torch.nn.ModuleList([GCNConv(16, 16, normalize=not once), GCNConv(16, 4, normalize=not once)])
    if "gates" in way:
        layers.append(InductiveGate(16, hidden=16) if "inductive" in way else EdgeGate.for_edges(columns))
    free = torch.nn.Parameter(whole / 2)
    optimizer = torch.optim.Adam([*layers.parameters(), *[free] * ("weights" in way)], lr=0.01)
    where: dict[str, Any] = {"edge_index": columns, "num_nodes": n_nodes}
    pri = PRILoss(entropy="degree" if "degree" in way else "local") if "PRI" in way else None
    known = None if pri is None else pri.precompute(whole, **where)

    def weights() -> torch.Tensor | None:
        if "gates" in way:
            return layers[2](*((x, columns) if "inductive" in way else ()))
        return free if "weights" in way else None

    def epoch() -> float:
        start = time.process_time()
        optimizer.zero_grad()
        gates = weights()
        edges: Any = gcn_norm(columns, gates, n_nodes) if once else (columns, gates)
        out = layers[1](layers[0](x, *edges).relu(), *edges)
        loss = torch.nn.functional.cross_entropy(out, y)
        if pri is not None:
            loss = loss + 0.5 * pri(gates, whole, known, **where)
        loss.backward()
        optimizer.step()
        return time.process_time() - start

    epoch()
    return epoch


def main() -> None:
    """Print a row for each size and way."""
    torch.set_num_threads(1)
    print(f"{'columns':>9}  {'':43}{'s':>7}  times GCN")
    for count in SIZES:
        columns = random_columns(count // 10, count)
        turns = [epoch_of(way, columns, count // 10) for way in WAYS]
        seconds = [[epoch() for epoch in turns] for _ in range(REPEATS)]
        for i, way in enumerate(WAYS):
            own = statistics.median(row[i] for row in seconds)
            times = statistics.median(row[i] / row[0] for row in seconds)
            print(f"{columns.shape[1]:>9}  {way:43}{own:7.3f}  {times:.2f}", flush=True)


if __name__ == "__main__":
    main()
