"""§3.4 and Appendix A.3: the cost of the exact entropy and its gradient, in closed form and by autodiff."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from graphpri._entropy.by_name import evaluate
from graphpri.graph import Graph
from graphpri.studies.graphs import build
from graphpri.studies.study import Cell, Facts, Frames, Picture, Tables, Verdict, curve, grade, panels, where
from graphpri.torch import pri_objective

WAYS = {
    "closed": "closed form",
    "autodiff": "autodiff of eigvalsh",
    "listing": "autodiff of the paper's listing",
}
_BETA = 2.0
_LISTED = 400
"""Most nodes of the listing's way, whose matrices have M rows and columns."""
_MEGA = 2.0**20
_CUBIC = (2.4, 3.4)
"""Powers of N that count as cubic at sizes of hundreds to thousands."""


def cells(quick: bool) -> list[Cell]:
    """One for each size, the largest first."""
    sizes = (80, 40, 20) if quick else (1600, 800, 400, 200, 100)
    return [{"nodes": n, "repeats": 1 if quick or n > 800 else 3} for n in sizes]


def work(cell: Cell, seed: int) -> Tables:
    """CPU seconds of the value, and of value and gradient of J each way, with the bytes that tensors take."""
    n = cell["nodes"]
    graph = build(f"ER {n} 10", seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        value = _fastest(lambda: evaluate(graph, "exact"), cell["repeats"])
        rows = [{"nodes": n, "edges": graph.n_edges, "way": "value", "mega": None, "error": 0.0, "seconds": value}]
        known: Tensor | None = None
        for way, run in ways(graph).items():
            if way == "listing" and n > _LISTED:
                continue
            gradient = run()
            known = gradient if known is None else known
            error = float((gradient - known).abs().max() / known.abs().max())
            head = {"nodes": n, "edges": graph.n_edges, "way": way, "mega": peak(run) / _MEGA, "error": error}
            rows.append({**head, "seconds": _fastest(run, cell["repeats"])})
    finally:
        torch.set_num_threads(threads)
    return {"costs": rows}


def ways(graph: Graph) -> dict[str, Callable[[], Tensor]]:
    """The gradient of J in the weights of the edges, shape (M,), at a weighting of all of them."""
    u, v = (torch.tensor(ends, dtype=torch.int64) for ends in (graph.source, graph.target))
    n, m = graph.n_nodes, graph.n_edges
    start = torch.linspace(0.5, 1, m, dtype=torch.float64)

    def adjacency(w: Tensor) -> Tensor:
        half = torch.zeros(n, n, dtype=torch.float64).index_put((u, v), w)
        return half + half.T

    def closed() -> Tensor:
        w = start.clone().requires_grad_()
        original = adjacency(torch.ones(m, dtype=torch.float64))
        pri_objective(adjacency(w), original, _BETA, check=False).backward()
        return _gradient(w)

    def autodiff() -> Tensor:
        w = start.clone().requires_grad_()
        _plain(_laplacian(adjacency(w)), _laplacian(adjacency(torch.ones(m, dtype=torch.float64)))).backward()
        return _gradient(w)

    def listing() -> Tensor:
        w = start.clone().requires_grad_()
        edge = torch.arange(m)
        incidence = torch.zeros(n, m, dtype=torch.float64)
        incidence[u, edge], incidence[v, edge] = 1.0, -1.0
        _plain(incidence @ torch.diag(w) @ incidence.T, incidence @ incidence.T).backward()
        return _gradient(w)

    return {"closed": closed, "autodiff": autodiff, "listing": listing}


def _gradient(w: Tensor) -> Tensor:
    assert w.grad is not None
    return w.grad


def _laplacian(a: Tensor) -> Tensor:
    return torch.diag(a.sum(dim=0)) - a


def _plain(sigma: Tensor, rho: Tensor) -> Tensor:
    """J of two Laplacians by their eigenvalues, as PyTorch differentiates it."""

    def entropy(matrix: Tensor) -> Tensor:
        lam = torch.linalg.eigvalsh(matrix)
        lam = lam[lam > 1e-12]
        return -(lam * lam.log()).sum()

    kept, original = sigma / sigma.trace(), rho / rho.trace()
    mixed = (kept + original) / 2
    return (1 - _BETA) * entropy(kept) + 2 * _BETA * entropy(mixed) - _BETA * entropy(original)


def _fastest(run: Callable[[], object], repeats: int) -> float:
    times: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def peak(run: Callable[[], object]) -> int:
    """Most bytes that tensors held at once during a run."""
    with _Held() as held:
        run()
    return held.most


class _Held(TorchDispatchMode):
    """Counts the bytes of all tensors that operations have made and that are still there."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self._seen: dict[int, weakref.ref[Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for made in out if isinstance(out, (tuple, list)) else (out,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(made, Tensor):
                self._add(made.untyped_storage())
        return out

    def _add(self, storage: Any) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self._seen:
            return

        def gone(_: Any) -> None:
            del self._seen[key]
            self.now -= size

        self._seen[key] = weakref.ref(storage, gone)
        self.now += size
        self.most = max(self.most, self.now)


# What the numbers say


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The power of N, and closed form against automatic differentiation."""
    table = frames["costs"]
    return [_power(table, facts), _saves(table, facts)]


def _power(table: Any, facts: Facts) -> Verdict:
    rows = where(table, way="value").sort_values("nodes")
    facts.add("smallest", rows["nodes"].iloc[-3], "costs", "nodes of the smallest graph of the fit")
    facts.add("largest", rows["nodes"].iloc[-1], "costs", "nodes of the largest graph")
    for key, way, words in (("value", "value", "the value"), ("closed", "closed", "value and gradient of J")):
        few = where(table, way=way).sort_values("nodes").tail(3)
        times = np.maximum(few["seconds"], 1e-6)
        power = stats.linregress(np.log(few["nodes"]), np.log(times))[0]
        facts.add(f"{key}_power", power, "costs", f"power of N by which the CPU time of {words} grows")
        facts.add(f"{key}_last", few["seconds"].iloc[-1], "costs", f"CPU seconds of {words} at the largest size")
    low, high = _CUBIC
    power = facts["value_power"]
    return Verdict(
        "The von Neumann entropy takes O(N³) time",
        "§3.4",
        "from {smallest:.0f} to {largest:.0f} nodes the CPU time of the exact value grows with the power "
        "{value_power:.2f} of N, of J and its gradient with {closed_power:.2f} ({value_last:.2f} and "
        "{closed_last:.2f} s at the largest)",
        grade(low <= power <= high, power < low),
        "cubic is an upper bound; at these sizes the time grows more slowly" if power < low else "",
    )


def _saves(table: Any, facts: Facts) -> Verdict:
    at = {way: where(table, way=way).set_index("nodes") for way in WAYS}
    ratios: dict[str, Any] = {}
    for way in ("autodiff", "listing"):
        sizes = at[way].index
        n = facts.add(f"{way}_nodes", sizes.max(), "costs", f"nodes of the largest graph, {WAYS[way]}")
        for column, words in (("seconds", "CPU time"), ("mega", "memory")):
            ratio = at[way][column] / at["closed"].loc[sizes, column]
            ratios[f"{way}_{column}"] = ratio
            facts.add(f"{way}_{column}_ratio", ratio.loc[n], "costs", f"{words} of {WAYS[way]} over the closed form's")
    facts.add("errors", table["error"].max(), "costs", "largest difference between the gradients, relative")
    saved = [bool((ratios[f"autodiff_{column}"].iloc[-2:] > 1.1).all()) for column in ("seconds", "mega")]
    listed = all(facts[f"listing_{column}_ratio"] > 1.1 for column in ("seconds", "mega"))
    return Verdict(
        "The closed-form gradient saves time and memory against automatic differentiation",
        "Appendix A.3",
        "autodiff of J through eigenvalues takes {autodiff_seconds_ratio:.2f} times the CPU time and "
        "{autodiff_mega_ratio:.2f} times the memory at {autodiff_nodes:.0f} nodes, that of the paper's listing "
        "{listing_seconds_ratio:.1f} and {listing_mega_ratio:.1f} times at {listing_nodes:.0f} (gradients agree to "
        "{errors:.0e})",
        grade(all(saved), any(saved) or listed),
        ("against the listing, whose matrices have a row and a column for each edge; " if listed else "")
        + "autodiff of a Laplacian that is built edge by edge takes about as much, as both need the same "
        "eigendecompositions"
        if not all(saved)
        else "",
    )


def draw(frames: Frames) -> list[Picture]:
    """Time and memory by size."""
    table = frames["costs"]
    figure, axes = panels(1, 2, height=2.0)
    for ax, column, label in zip(axes[0], ("seconds", "mega"), ("CPU time (s)", "memory (MiB)"), strict=True):
        for i, (way, name) in enumerate((WAYS | {"value": "entropy alone"}).items()):
            rows = where(table, way=way).sort_values("nodes")
            if way != "value" or column == "seconds":
                curve(ax, rows["nodes"], rows[column], i, name)
        ax.set(xscale="log", yscale="log", xlabel="nodes N", ylabel=label)
    axes[0, 0].legend(loc="upper left")
    return [
        Picture(
            "costs",
            figure,
            "CPU time and largest memory of tensors for J and its gradient on Erdős–Rényi graphs of mean degree near "
            "10, one thread, by the closed form, by automatic differentiation through eigenvalues, and as in the "
            "paper's listing; and the time of the exact entropy alone.",
        )
    ]
