"""Graphs as symmetric adjacency matrices, shape (..., N, N)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from graphpri.errors import GraphError
from graphpri.torch.checks import CLOSED
from graphpri.torch.functions import degrees_of, log_mean_inverse, spectral_entropy

_ROUNDING = 100


def slack(weights: Tensor) -> float:
    """By how much opposite weights may differ: a hundred roundings of the largest."""
    return _ROUNDING * torch.finfo(weights.dtype).eps * float(weights.max())


def edge_correction(a: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Correction a² Λ(x, y) of edges that are a share a of the trace between those of degrees; 0 where a is 0.

    An edge far lighter than others at its ends has no part in it that a digit of value or gradient would show, and
    one so light that 1/a overflows has none either.
    """
    info = torch.finfo(a.dtype)
    kept = (a > info.eps**2 * torch.maximum(x, y)) & (a > 100 * info.tiny / info.eps**2)
    # In units of a the degrees are 1 or more, and their squares in range.
    unit = torch.where(kept, a, 1.0)
    ratio = log_mean_inverse(torch.where(kept, x, 1.0) / unit, torch.where(kept, y, 1.0) / unit)
    return torch.where(kept, a, 0.0) * ratio


@dataclass(frozen=True)
class Dense:
    """Graphs whose weights are matrices of shape (..., N, N), on the nodes 0…N−1 each."""

    def check(self, weights: Tensor, what: str) -> None:
        """Refuse matrices that are not adjacencies of graphs with edges; names the entry at fault."""
        if weights.dim() < 2 or weights.shape[-1] != weights.shape[-2] or not weights.numel():
            shape = tuple(weights.shape)
            raise GraphError(f"{what} has the shape {shape}: adjacencies have (..., N, N), with an entry at least")
        weights = weights.detach()
        low, high = torch.aminmax(weights)
        if not (low >= 0 and high < torch.inf):
            _refuse(weights, ~torch.isfinite(weights), what, "NaN or infinite; correct it")
            _refuse(weights, weights < 0, what, "negative; take its absolute value or 0")
        if weights.diagonal(dim1=-2, dim2=-1).any():
            loops = torch.diag_embed(weights.diagonal(dim1=-2, dim2=-1)) != 0
            _refuse(weights, loops, what, "a self-loop; set the diagonal to 0")
        if not torch.equal(weights, weights.mT):
            apart = (weights - weights.mT).abs() > slack(weights)
            _refuse(weights, apart, what, "not that of the opposite entry; average the matrix with its transpose")
        empty = weights.amax((-2, -1)) <= 0
        if empty.any():
            first = ", ".join(map(str, empty.nonzero()[0].tolist()))
            which = f"{what}[{first}]" if first else what
            remedy = CLOSED if what in ("a", "gated") else ""
            raise GraphError(f"{which} has no edges, so its Laplacian is zero and its entropy is not defined{remedy}")

    def degrees(self, weights: Tensor) -> Tensor:
        """Sum of the weights at each node, shape (..., N)."""
        return degrees_of(weights)

    def largest(self, weights: Tensor) -> Tensor:
        """Largest weight of each graph, shape (...)."""
        return weights.amax((-2, -1))

    def over_nodes(self, values: Tensor) -> Tensor:
        """Sum of values of the nodes of each graph, shape (...)."""
        return values.sum(-1)

    def at_nodes(self, values: Tensor) -> Tensor:
        """Values of the graphs at each of their nodes."""
        return values[..., None]

    def at_weights(self, values: Tensor) -> Tensor:
        """Values of the graphs at each of their weights."""
        return values[..., None, None]

    def spectral(self, weights: Tensor) -> Tensor:
        """Entropy of the spectrum of the Laplacian divided by its trace, shape (...)."""
        return spectral_entropy(weights.reshape(-1, *weights.shape[-2:])).view(weights.shape[:-2])

    def correction(self, weights: Tensor, q: Tensor, trace: Tensor) -> Tensor:
        """Σ a² Λ(q_u, q_v) over edges, shape (...), for weights a·trace."""
        flat, q, trace = weights.reshape(-1, *weights.shape[-2:]), q.reshape(-1, q.shape[-1]), trace.reshape(-1)
        graph, u, v = (flat.detach() > 0).triu(1).nonzero(as_tuple=True)
        a = (flat[graph, u, v] + flat[graph, v, u]) / (2 * trace[graph])
        terms = edge_correction(a, q[graph, u], q[graph, v])
        return a.new_zeros(len(flat)).index_add(0, graph, terms).view(weights.shape[:-2])


def _refuse(weights: Tensor, fault: Tensor, what: str, words: str) -> None:
    if fault.any():
        at = tuple(fault.nonzero()[0].tolist())
        raise GraphError(f"{what}[{', '.join(map(str, at))}] = {float(weights[at]):g} is {words}")
