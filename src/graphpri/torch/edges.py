"""Graphs as edge lists in PyG's convention: both orientations of every edge, and several graphs in one list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from graphpri.errors import GraphError, OptionError
from graphpri.torch.checks import CLOSED, check_dense
from graphpri.torch.dense import edge_correction, slack
from graphpri.torch.functions import spectral_entropy

MOST_EXACT_NODES = 3000
"""Most nodes of a graph of an edge list that the exact entropy takes: it fills a dense matrix of N² entries."""


class Block(NamedTuple):
    """Graphs of about one size: their numbers, the nodes of the largest, and where their columns go.

    `columns` are theirs, `ends` the two ends of each, numbered within the graph, and `first` is where the matrix of
    its graph begins.
    """

    graphs: Tensor
    size: int
    columns: Tensor
    ends: Tensor
    first: Tensor


@dataclass(frozen=True, eq=False)
class Edges:
    """Graphs whose weights are vectors of shape (E,), one entry per column of `edge_index`.

    Parameters
    ----------
    edge_index : Tensor of int64, shape (2, E)
    n_nodes : int
        Nodes of all graphs together.
    batch : Tensor of int64, shape (N,), or None
        Graph of each node; None for one graph.
    n_graphs : int
    """

    edge_index: Tensor
    n_nodes: int
    batch: Tensor | None
    n_graphs: int

    @classmethod
    def read(cls, edge_index: Tensor, batch: Tensor | None, num_nodes: int | None) -> Edges:
        """Take the arguments as PyG names them; refuse shapes and types that are none of its."""
        check_dense(edge_index, "edge_index")
        if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.int64:
            shape, dtype = tuple(edge_index.shape), edge_index.dtype
            raise GraphError(f"edge_index has the shape {shape} and is {dtype}: it must be (2, E) of torch.int64")
        if batch is None:
            count = int(edge_index.max()) + 1 if num_nodes is None and edge_index.numel() else num_nodes or 0
            return cls(edge_index, count, None, 1)
        check_dense(batch, "batch")
        if batch.dim() != 1 or batch.dtype != torch.int64:
            raise GraphError(f"batch is {batch.dtype} of shape {tuple(batch.shape)}: it must be (N,) of torch.int64")
        if num_nodes is not None and num_nodes != batch.numel():
            raise OptionError(f"num_nodes={num_nodes}, but batch has {batch.numel()} nodes: leave num_nodes out")
        return cls(edge_index, batch.numel(), batch, int(batch.max()) + 1 if batch.numel() else 0)

    def check_structure(self) -> None:
        """Refuse lists that don't hold every edge once in each orientation, within one graph."""
        row, col = self.edge_index
        if not row.numel():
            raise GraphError("edge_index has no columns: a graph without edges has no entropy")
        outside = (row < 0) | (row >= self.n_nodes) | (col < 0) | (col >= self.n_nodes)
        self._refuse(outside, f"names a node that is not among the {self.n_nodes} there are")
        self._refuse(row == col, "is a self-loop; apply torch_geometric.transforms.RemoveSelfLoops() first")
        if self.batch is not None:
            self._refuse(self.batch[row] != self.batch[col], "joins two graphs of the batch")
            if bool((self.batch < 0).any()):
                raise GraphError("batch has negative numbers of graphs")
        order, mirror = self._orders
        repeated = torch.zeros_like(row, dtype=torch.bool)
        key = self._key(row, col)[order]
        repeated[order[1:]] = key[1:] == key[:-1]
        self._refuse(repeated, "is there twice; coalesce the edge_index first")
        back = self._key(col, row)[mirror]
        if not torch.equal(key, back):
            lonely = ~torch.isin(self._key(row, col), back)
            self._refuse(lonely, "has no opposite, so the graph is directed; apply ToUndirected() first")

    def check(self, weights: Tensor, what: str) -> None:
        """Refuse weights that don't fit; call :meth:`check_structure` before."""
        if weights.shape != self.edge_index.shape[1:]:
            found, needed = tuple(weights.shape), self.edge_index.shape[1]
            raise GraphError(f"{what} has the shape {found}: one number per column of edge_index is ({needed},)")
        with torch.no_grad():
            self._refuse(~torch.isfinite(weights), f"is NaN or infinite in {what}", weights)
            self._refuse(weights < 0, f"is negative in {what}", weights)
            order, mirror = self._orders
            gap = torch.zeros_like(weights)
            gap[order] = (weights[order] - weights[mirror]).abs()
            self._refuse(gap > slack(weights), f"differs in {what} from its opposite: average the two", weights)
            empty = self._over_columns(weights) <= 0
            if bool(empty.any()):
                where = "the graph" if self.batch is None else f"graph {int(empty.nonzero()[0])} of the batch"
                remedy = CLOSED if what in ("a", "gated") else ": leave graphs without edges out"
                raise GraphError(
                    f"{where} has no edge with an entry of {what} above 0, so its entropy is not defined{remedy}"
                )

    def degrees(self, weights: Tensor) -> Tensor:
        """Sum of the weights at each node, shape (N,): by both ends, so that both orientations have one gradient."""
        ends = weights.new_zeros(self.n_nodes).index_add(0, self.edge_index[0], weights)
        return ends.index_add(0, self.edge_index[1], weights) / 2

    def largest(self, weights: Tensor) -> Tensor:
        """Largest weight of each graph, shape (n_graphs,); 0 where there is none."""
        if self.batch is None and weights.numel():
            return weights.amax(0, keepdim=True)
        return weights.new_zeros(self.n_graphs).scatter_reduce(0, self._graph_of_column, weights, "amax")

    def over_nodes(self, values: Tensor) -> Tensor:
        """Sum of values of the nodes of each graph, shape (n_graphs,)."""
        if self.batch is None:
            return values.sum(0, keepdim=True)
        return values.new_zeros(self.n_graphs).index_add(0, self.batch, values)

    def at_nodes(self, values: Tensor) -> Tensor:
        """Values of the graphs at each of their nodes."""
        return values if self.batch is None else values[self.batch]

    def at_weights(self, values: Tensor) -> Tensor:
        """Values of the graphs at each of their weights."""
        return values if self.batch is None else values[self._graph_of_column]

    def spectral(self, weights: Tensor) -> Tensor:
        """Entropy of the spectra, shape (n_graphs,), by dense matrices of graphs of about one size."""
        found = weights.new_zeros(self.n_graphs)
        for block in self._blocks:
            values = weights[block.columns] / 2
            n, (u, v) = block.size, block.ends
            flat = values.new_zeros(block.graphs.numel() * n * n).index_add(0, block.first + u * n + v, values)
            flat = flat.index_add(0, block.first + v * n + u, values)
            found = found.index_copy(0, block.graphs, spectral_entropy(flat.view(-1, n, n)))
        return found

    def correction(self, weights: Tensor, q: Tensor, trace: Tensor) -> Tensor:
        """Σ a² Λ(q_u, q_v) over edges, shape (n_graphs,), for weights a·trace."""
        row, col = self.edge_index
        return self._over_columns(edge_correction(weights / self.at_weights(trace), q[row], q[col])) / 2

    def _over_columns(self, values: Tensor) -> Tensor:
        return values.new_zeros(self.n_graphs).index_add(0, self._graph_of_column, values)

    @cached_property
    def _graph_of_column(self) -> Tensor:
        return torch.zeros_like(self.edge_index[0]) if self.batch is None else self.batch[self.edge_index[0]]

    @cached_property
    def _sizes(self) -> Tensor:
        """Nodes of each graph."""
        if self.batch is None:
            return torch.tensor([self.n_nodes], device=self.edge_index.device)
        return torch.bincount(self.batch, minlength=self.n_graphs)

    @cached_property
    def _place(self) -> Tensor:
        """Number of each node within its graph."""
        index = torch.arange(self.n_nodes, device=self.edge_index.device)
        if self.batch is None:
            return index
        order = torch.argsort(self.batch, stable=True)
        place = torch.empty_like(index)
        place[order] = index - (self._sizes.cumsum(0) - self._sizes)[self.batch[order]]
        return place

    @cached_property
    def _blocks(self) -> list[Block]:
        """Graphs by the number of bits of their size, so that padding at most doubles a matrix's side."""
        sizes = self._sizes.tolist()
        largest = max(sizes, default=0)
        if largest > MOST_EXACT_NODES:
            raise OptionError(
                f"a graph of {largest} nodes is too large for the exact entropy on edge lists (at most "
                f"{MOST_EXACT_NODES} nodes): take method='local' or 'degree'"
            )
        bits = [size.bit_length() for size in sizes]
        return [self._block(bits, b, max(s for s in sizes if s.bit_length() == b)) for b in sorted({*bits} - {0})]

    def _block(self, bits: list[int], wanted: int, size: int) -> Block:
        inside = torch.tensor(bits, device=self.edge_index.device) == wanted
        columns = inside[self._graph_of_column].nonzero()[:, 0]
        slot = inside.cumsum(0) - 1
        first = slot[self._graph_of_column[columns]] * size**2
        return Block(inside.nonzero()[:, 0], size, columns, self._place[self.edge_index[:, columns]], first)

    @cached_property
    def _orders(self) -> tuple[Tensor, Tensor]:
        """Columns by (row, col), and by (col, row): entry k of the one is the opposite of entry k of the other."""
        row, col = self.edge_index
        return torch.argsort(self._key(row, col)), torch.argsort(self._key(col, row))

    def _key(self, u: Tensor, v: Tensor) -> Tensor:
        return u * self.n_nodes + v

    def _refuse(self, fault: Tensor, words: str, weights: Tensor | None = None) -> None:
        if not bool(fault.any()):
            return
        column = int(fault.nonzero()[0])
        u, v = self.edge_index[:, column].tolist()
        value = "" if weights is None else f" ({float(weights[column]):g})"
        raise GraphError(f"column {column} of edge_index, the edge ({u}, {v}), {words}{value}")
