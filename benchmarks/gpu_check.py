"""Does a GPU give what the CPU gives, and how long does a step take on each?

python benchmarks/gpu_check.py

Prints the times of a training step (75 dense graphs of 116 nodes under one mask, and an edge list of 100 000 edges,
forward and backward, entropies of the originals precomputed) on the CPU and, where there is one, on the GPU; 1 where
a value or a gradient differs.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from graphpri.torch import EdgeGate, PRILoss

GRAPHS, NODES, SHARE = 75, 116, 0.2
LIST_NODES, LIST_EDGES = 10_000, 100_000
REPEATS = 9
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-8}
"""Largest difference of a value, and of a gradient as a share of its largest entry."""


class Case(NamedTuple):
    """A step: name, dtype, and what it computes on a device."""

    name: str
    dtype: torch.dtype
    make: Callable[[torch.device], Callable[[], tuple[Tensor, Tensor]]]


def dense_graphs(dtype: torch.dtype) -> Tensor:
    """Symmetric weights with the share of the largest kept in every graph."""
    a = torch.rand(GRAPHS, NODES, NODES, generator=torch.Generator().manual_seed(0), dtype=torch.float64).triu(1)
    a = a + a.mT
    cut = a.flatten(1).quantile(1 - SHARE, dim=1)[:, None, None]
    return torch.where(a > cut, a, 0.0).to(dtype)


def dense_step(
    method: str, pri_on: str, dtype: torch.dtype, device: torch.device
) -> Callable[[], tuple[Tensor, Tensor]]:
    """Forward and backward of the loss under a shared mask."""
    whole = dense_graphs(dtype).to(device)
    chances = torch.rand(NODES * (NODES - 1) // 2, generator=torch.Generator().manual_seed(1)) * 0.8 + 0.1
    gate = EdgeGate.for_nodes(NODES, "sigmoid", init=chances).to(device, dtype)
    loss = PRILoss(2.0, method, pri_on)
    known = loss.precompute(whole)

    def step() -> tuple[Tensor, Tensor]:
        gate.zero_grad()
        value = loss(gate() * whole, whole, known)
        value.backward()
        return value.detach(), gate.logits.grad

    return step


def list_step(method: str, dtype: torch.dtype, device: torch.device) -> Callable[[], tuple[Tensor, Tensor]]:
    """The same on the edge list of a random graph."""
    generator = torch.Generator().manual_seed(2)
    ends = torch.randint(LIST_NODES, (2, LIST_EDGES), generator=generator).sort(0).values
    ends = torch.unique(ends[:, ends[0] < ends[1]], dim=1)
    edge_index = torch.cat([ends, ends.flip(0)], 1).to(device)
    chances = torch.rand(ends.shape[1], generator=generator, dtype=torch.float64) * 0.8 + 0.1
    gate = EdgeGate.for_edges(edge_index, "sigmoid", init=chances.to(device)).to(dtype)
    whole = torch.ones(edge_index.shape[1], dtype=dtype, device=device)
    loss = PRILoss(2.0, method)
    known = loss.precompute(whole, edge_index=edge_index)

    def step() -> tuple[Tensor, Tensor]:
        gate.zero_grad()
        value = loss(gate(), whole, known, edge_index=edge_index)
        value.backward()
        return value.detach(), gate.logits.grad

    return step


def cases() -> Iterator[Case]:
    """Every method, dtype and layout."""
    for dtype in (torch.float32, torch.float64):
        for method in ("exact", "local", "degree"):
            for pri_on in ("each", "mean"):
                yield Case(
                    f"dense, {method}, {pri_on}", dtype, lambda d, m=method, p=pri_on, t=dtype: dense_step(m, p, t, d)
                )
            if method != "exact":
                yield Case(f"edges, {method}", dtype, lambda d, m=method, t=dtype: list_step(m, t, d))


def timed(step: Callable[[], tuple[Tensor, Tensor]], device: torch.device) -> tuple[Tensor, Tensor, float]:
    """Value and gradient on the CPU, and the median time of a step in milliseconds, after one to warm up."""
    seconds: list[float] = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        value, gradient = step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return value.cpu(), gradient.cpu().clone(), 1000 * statistics.median(seconds[1:])


def main() -> int:
    """Print the table; 1 where the devices disagree."""
    gpu = torch.device("cuda") if torch.cuda.is_available() else None
    cpu = torch.device("cpu")
    print(f"{torch.get_num_threads()} threads", "" if gpu is None else f"and {torch.cuda.get_device_name()}")
    disagree = False
    for case in cases():
        value, gradient, cpu_time = timed(case.make(cpu), cpu)
        line = f"{case.name:24} {str(case.dtype).removeprefix('torch.'):8} CPU {cpu_time:8.1f} ms"
        if gpu is not None:
            there, slope, gpu_time = timed(case.make(gpu), gpu)
            gap = max(float((there - value).abs()), float((slope - gradient).abs().max() / gradient.abs().max()))
            same = gap <= TOLERANCE[case.dtype]
            disagree |= not same
            line += f"  GPU {gpu_time:8.1f} ms  difference {gap:.1e}{'' if same else '  TOO LARGE'}"
        print(line, flush=True)
    if gpu is None:
        print("no GPU here: nothing to compare")
    return int(disagree)


if __name__ == "__main__":
    sys.exit(main())
