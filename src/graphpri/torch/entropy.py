"""Von Neumann entropy, Jensen–Shannon divergence and the Graph-PRI objective, differentiable in the weights.

The functions without a suffix take symmetric adjacencies of shape (..., N, N), those on ``_edges`` PyG's edge lists.
All values are in nats, and none changes when all weights of a graph are multiplied by a number.

Autograd through eigenvectors divides by differences of eigenvalues, and gives NaN where they repeat (a complete
graph) or where the graph falls apart. The entropy needs no eigenvector's derivative: ∂S/∂σ̃ = −(ln σ̃ + I). It, the
degrees, x ln x and a mean of 1/x have derivatives of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphpri._arguments import MOST, checked, whole
from graphpri._entropy import LARGE_EDGES, EdgeSums, Side
from graphpri._entropy.by_name import EXACT_NODES, entropy_by_size
from graphpri._objective import check_beta, coefficients, mixture_scale
from graphpri._runtime import in_threads, workers
from graphpri.errors import GraphError, OptionError
from graphpri.graph import FloatArray, Graph, id_dtype

DTYPES = (torch.float32, torch.float64)

CLOSED = (
    "; where these are gates, all of the graph were closed: raise their init (or, of soft gates, the temperature), "
    "lower their size, or train with hard=False first"
)
"""What to do about a selection without an edge; the names are those of EdgeGate's options."""

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

    def trace(self, weights: Tensor) -> Tensor:
        """Trace of the Laplacian of each graph, the sum of its degrees, shape (...)."""
        return self.over_nodes(self.degrees(weights))

    def spectral(self, weights: Tensor, most: int | None = None) -> Tensor:
        """Entropy of the spectrum of the Laplacian divided by its trace, shape (...).

        Where `most` is given, graphs of more nodes have 0.
        """
        return spectral_entropy(weights.reshape(-1, *weights.shape[-2:])).view(weights.shape[:-2])

    def quick(self, weights: Tensor, local: bool) -> Tensor | None:
        """Entropy of the degrees, or the local one, in compiled loops; None where they don't serve."""
        return None

    def quick_pair(self, a: Tensor, original: Tensor, local: bool) -> tuple[Tensor, Tensor] | None:
        """The same of a graph and of its mixture with the original, in fewer passes."""
        return None

    def correction(self, weights: Tensor, q: Tensor, trace: Tensor) -> Tensor:
        """Σ a² Λ(q_u, q_v) over edges, shape (...), for weights a·trace."""
        flat, q, trace = weights.reshape(-1, *weights.shape[-2:]), q.reshape(-1, q.shape[-1]), trace.reshape(-1)
        graph, u, v = (flat.detach() > 0).triu(1).nonzero(as_tuple=True)
        a = (flat[graph, u, v] + flat[graph, v, u]) / (2 * trace[graph])
        terms = edge_correction(a, q[graph, u], q[graph, v])
        return a.new_zeros(len(flat)).index_add(0, graph, terms).view(weights.shape[:-2])

    def sizes(self, weights: Tensor) -> list[tuple[int, int]]:
        """Number of nodes of the graphs, with that of edges that they have room for: one for all."""
        n = weights.shape[-1]
        return [(n, n * (n - 1) // 2)]


def _refuse(weights: Tensor, fault: Tensor, what: str, words: str) -> None:
    if fault.any():
        at = tuple(fault.nonzero()[0].tolist())
        raise GraphError(f"{what}[{', '.join(map(str, at))}] = {float(weights[at]):g} is {words}")


MOST_EXACT_NODES = 3000
"""Most nodes of a graph of an edge list that the exact entropy takes: it fills a dense matrix of N² entries."""


class SizeGroup(NamedTuple):
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
class EdgeLists:
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
    def read(cls, edge_index: Tensor, batch: Tensor | None, num_nodes: int | None, check: bool = True) -> EdgeLists:
        """Take the arguments as PyG names them; refuse shapes and types that are none of its.

        Where asked, :meth:`check_structure` looks at the entries as well.
        """
        check_dense(edge_index, "edge_index")
        if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.int64:
            shape, dtype = tuple(edge_index.shape), edge_index.dtype
            integers = dtype in (torch.int32, torch.int16, torch.int8, torch.uint8)
            remedy = "; pass edge_index.long()" if integers else ""
            raise GraphError(
                f"edge_index has the shape {shape} and is {dtype}: it must be (2, E) of torch.int64{remedy}"
            )
        if num_nodes is not None:
            whole("num_nodes", num_nodes, 1, MOST)
        if batch is None:
            count = int(edge_index.max()) + 1 if num_nodes is None and edge_index.numel() else num_nodes or 0
            edges = cls(edge_index, count, None, 1)
        else:
            check_dense(batch, "batch")
            size = batch.numel()
            if batch.dim() != 1 or batch.dtype != torch.int64:
                shape = tuple(batch.shape)
                raise GraphError(f"batch is {batch.dtype} of shape {shape}: it must be (N,) of torch.int64")
            if num_nodes is not None and num_nodes != size:
                raise OptionError(f"num_nodes={num_nodes}, but batch has {size} nodes: leave num_nodes out")
            edges = cls(edge_index, size, batch, int(batch.max()) + 1 if size else 0)
        if check:
            edges.check_structure()
        return edges

    def check_structure(self) -> None:
        """Refuse lists that don't hold every edge once in each orientation, within one graph."""
        row, col = self.edge_index
        if not row.numel():
            raise GraphError("edge_index has no columns: a graph without edges has no entropy")
        self._check_nodes()
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

    def _check_nodes(self) -> None:
        outside = ((self.edge_index < 0) | (self.edge_index >= self.n_nodes)).any(0)
        self._refuse(outside, f"names a node that is not among the {self.n_nodes} there are")

    def check(self, weights: Tensor, what: str) -> None:
        """Refuse weights that don't fit; call :meth:`check_structure` before."""
        if weights.shape != self.edge_index.shape[1:]:
            found, needed = tuple(weights.shape), self.edge_index.shape[1]
            raise GraphError(f"{what} has the shape {found}: one number per column of edge_index is ({needed},)")
        with torch.no_grad():
            low, high = torch.aminmax(weights) if weights.numel() else (torch.tensor(0.0), torch.tensor(0.0))
            if not (low >= 0 and high < torch.inf):
                self._refuse(~torch.isfinite(weights), f"is NaN or infinite in {what}", weights)
                self._refuse(weights < 0, f"is negative in {what}", weights)
            _, first, second = self.pairs
            gaps = weights.index_select(0, first) - weights.index_select(0, second)
            if bool((gaps.abs() > slack(weights)).any()):
                apart, fault = gaps.abs() > slack(weights), torch.zeros_like(weights, dtype=torch.bool)
                fault[first[apart]] = fault[second[apart]] = True
                self._refuse(fault, f"differs in {what} from its opposite: average the two", weights)
            empty = self.trace(weights) <= 0
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

    def trace(self, weights: Tensor) -> Tensor:
        """Trace of the Laplacian of each graph, shape (n_graphs,)."""
        return weights.sum(0, keepdim=True) if self.batch is None else self._over_columns(weights)

    def spectral(self, weights: Tensor, most: int | None = None) -> Tensor:
        """Entropy of the spectra, shape (n_graphs,), by dense matrices of graphs of about one size.

        Where `most` is given, graphs of more nodes have 0.
        """
        found = weights.new_zeros(self.n_graphs)
        for block in self._blocks(most):
            values = weights[block.columns] / 2
            n, (u, v) = block.size, block.ends
            flat = values.new_zeros(block.graphs.numel() * n * n).index_add(0, block.first + u * n + v, values)
            flat = flat.index_add(0, block.first + v * n + u, values)
            found = found.index_copy(0, block.graphs, spectral_entropy(flat.view(-1, n, n)))
        return found

    def quick(self, weights: Tensor, local: bool) -> Tensor | None:
        """Entropy of the degrees, or the local one, in compiled loops: of one large graph on a CPU, else None."""
        if self.n_graphs != 1 or not self.compiles(weights):
            return None
        return cast("Tensor", _CompiledEntropy.apply(weights, self, local))

    def quick_pair(self, a: Tensor, original: Tensor, local: bool) -> tuple[Tensor, Tensor] | None:
        """The same of a graph and of its mixture with the original, in fewer passes; not where the original learns."""
        if self.n_graphs != 1 or not self.compiles(a) or original.requires_grad:
            return None
        known = self._original(original)
        return None if known is None else cast("Any", _CompiledPair.apply(a, original, self, known, local))

    def compiles(self, values: Tensor) -> bool:
        """Whether compiled loops serve sums over these edges: many of them, on a CPU, and not for torch.compile."""
        many = self.edge_index.shape[1] >= 2 * LARGE_EDGES
        return many and values.device.type == "cpu" and not torch.compiler.is_compiling()

    def correction(self, weights: Tensor, q: Tensor, trace: Tensor) -> Tensor:
        """Σ a² Λ(q_u, q_v) over edges, shape (n_graphs,), for weights a·trace."""
        row, col = self.edge_index
        return self._over_columns(edge_correction(weights / self.at_weights(trace), q[row], q[col])) / 2

    def sizes(self, weights: Tensor) -> list[tuple[int, int]]:
        """Numbers of nodes and edges of each graph."""
        columns = torch.bincount(self._graph_of_column, minlength=self.n_graphs)
        return list(zip(self._sizes.tolist(), (columns // 2).tolist(), strict=True))

    @cached_property
    def pairs(self) -> tuple[Tensor, Tensor, Tensor]:
        """Ends of each undirected edge, shape (2, M), the lower first, and its two columns; sorted by the ends."""
        order, mirror = self._orders
        upward = self.edge_index[0, order] < self.edge_index[1, order]
        first, second = order[upward], mirror[upward]
        return self.edge_index[:, first], first, second

    @cached_property
    def member(self) -> Tensor:
        """Undirected edge of each column, shape (E,)."""
        ends, first, second = self.pairs
        found = torch.empty_like(self.edge_index[0])
        found[first] = found[second] = torch.arange(ends.shape[1], device=ends.device)
        return found

    @cached_property
    def graph_of_pair(self) -> Tensor:
        """Graph of each undirected edge, shape (M,)."""
        return self._graph_of_column[self.pairs[1]]

    @cached_property
    def sums(self) -> EdgeSums:
        """The compiled sums over the undirected edges."""
        return self._sums_of(np.broadcast_to(1.0, self.pairs[1].shape))

    def of_pairs(self, weights: Tensor) -> FloatArray:
        """Weights of the undirected edges, the mean of both orientations, shape (M,)."""
        _, first, second = self.pairs
        return ((weights.index_select(0, first) + weights.index_select(0, second)) / 2).double().numpy()

    def to_columns(self, values: FloatArray, like: Tensor) -> Tensor:
        """Values of the undirected edges at both of their columns, shape (E,)."""
        (_, first, second), each = self.pairs, torch.from_numpy(values).to(like.dtype)
        return torch.empty_like(like).index_copy_(0, first, each).index_copy_(0, second, each)

    @cached_property
    def neighbours(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Where the neighbours of each node begin, shape (N + 1,), and they and their undirected edges, shape (E,)."""
        self._check_nodes()
        order, kind = self._orders[0], id_dtype(max(self.n_nodes, self.edge_index.shape[1]))
        begin = np.searchsorted(self.edge_index[0, order].numpy(), np.arange(self.n_nodes + 1))
        ends, edge = self.edge_index[1, order].numpy(), self.member[order].numpy()
        return begin, ends.astype(kind), edge.astype(kind)

    def _sums_of(self, weights: FloatArray) -> EdgeSums:
        self._check_nodes()  # a loop would read beyond its arrays
        source, target = self.pairs[0].numpy().astype(id_dtype(self.n_nodes))
        return EdgeSums(Graph(self.n_nodes, source, target, weights), weights)

    def _original(self, weights: Tensor) -> Original | None:
        """An original as compiled sums; None where some of its weights are 0. The last one is kept."""
        same = self._last and self._last[0] is weights and self._last[1] == weights._version
        if same and not weights.is_inference():
            return self._last[2]
        mu = self.of_pairs(weights.detach())
        found = None
        if mu.size and mu.min() > 0:
            sums = self._sums_of(mu / mu.max())
            found = Original(sums, sums.degrees(np.ones(sums.n_edges)))
        self._last[:] = [weights, 0 if weights.is_inference() else weights._version, found]
        return found

    @cached_property
    def _last(self) -> list[Any]:
        return []

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

    def _blocks(self, most: int | None) -> list[SizeGroup]:
        """Graphs by the number of bits of their size, so that padding at most doubles a matrix's side."""
        if most not in self._known_blocks:
            self._known_blocks[most] = self._blocks_of(
                [size if most is None or size <= most else 0 for size in self._sizes.tolist()]
            )
        return self._known_blocks[most]

    @cached_property
    def _known_blocks(self) -> dict[int | None, list[SizeGroup]]:
        return {}

    def _blocks_of(self, sizes: list[int]) -> list[SizeGroup]:
        largest = max(sizes, default=0)
        if largest > MOST_EXACT_NODES:
            raise OptionError(
                f"a graph of {largest} nodes is too large for the exact entropy on edge lists (at most "
                f"{MOST_EXACT_NODES} nodes): take entropy='local' or 'degree'"
            )
        bits = [size.bit_length() for size in sizes]
        return [self._block(bits, b, max(s for s in sizes if s.bit_length() == b)) for b in sorted({*bits} - {0})]

    def _block(self, bits: list[int], wanted: int, size: int) -> SizeGroup:
        inside = torch.tensor(bits, device=self.edge_index.device) == wanted
        columns = inside[self._graph_of_column].nonzero()[:, 0]
        slot = inside.cumsum(0) - 1
        first = slot[self._graph_of_column[columns]] * size**2
        return SizeGroup(inside.nonzero()[:, 0], size, columns, self._place[self.edge_index[:, columns]], first)

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


class Structures:
    """The latest edge list that was read: one that comes in every step is looked at and sorted once."""

    def __init__(self) -> None:
        self._key: list[Any] = []
        self._edges: EdgeLists | None = None

    def read(self, edge_index: Tensor, batch: Tensor | None, num_nodes: int | None, check: bool) -> EdgeLists:
        """As :meth:`EdgeLists.read`."""
        given: list[Any] = [edge_index, batch]
        tensors = [x for x in given if isinstance(x, Tensor)]
        if any(x.is_inference() for x in tensors):  # they don't say when they were changed in place
            return EdgeLists.read(edge_index, batch, num_nodes, check)
        key = [*map(id, given), *(x._version for x in tensors), num_nodes, check]
        if self._edges is None or key != self._key:
            # Edges holds both tensors, so that no other has their id.
            self._edges, self._key = EdgeLists.read(edge_index, batch, num_nodes, check), key
        return self._edges

    def __reduce__(self) -> tuple[type[Structures], tuple[()]]:
        return Structures, ()  # copies and files of a model have none


DEGREE_FLOOR = 1e-12
"""Smallest degree inside ln in a gradient, as a share of the trace."""

_FLOORS = {torch.float32: 1e-7, torch.float64: 1e-12}
_NEAR = 0.1  # where the series of _SERIES terms has all digits
_SERIES = 8
_SMALL = 512  # nodes below which the decomposition of one matrix gains nothing from threads
_CHUNK = 4  # matrices that one thread takes at a time


def eigenvalue_floor(dtype: torch.dtype) -> float:
    """Smallest eigenvalue inside ln, for a matrix of trace one: below it there is rounding."""
    return _FLOORS[dtype]


def spectral_entropy(adjacency: Tensor) -> Tensor:
    """−Σ λ ln λ of Laplacians divided by their traces.

    Parameters
    ----------
    adjacency : Tensor, shape (B, N, N)
        Symmetric weights with a positive sum; the diagonal is ignored.

    Returns
    -------
    Tensor, shape (B,)
        Nats. First and second derivatives exist; eigenvalues are floored inside ln.
    """
    if adjacency.requires_grad and torch.is_grad_enabled():
        return cast("Tensor", _SpectralEntropy.apply(adjacency))
    adjacency = adjacency.detach()
    return _shannon(_spectra(adjacency, _degrees(adjacency)))


def degrees_of(adjacency: Tensor) -> Tensor:
    """Degrees by rows and columns, shape (..., N): symmetric in value and gradient, without the diagonal."""
    return cast("Tensor", _Degrees.apply(adjacency))


def xlogx(x: Tensor) -> Tensor:
    """The function x ln x, with 0 ln 0 = 0; in its slope x is at least :data:`DEGREE_FLOOR`."""
    return cast("Tensor", _XLogX.apply(x))


def log_mean_inverse(x: Tensor, y: Tensor) -> Tensor:
    """Λ(x, y) = (ln x − ln y)/(x − y), and 1/x where they agree; x, y > 0. All derivatives are exact."""
    total, gap = x + y, x - y
    near = gap.abs() < _NEAR * total
    # With z = (x − y)/(x + y) it is 2 artanh(z)/z / (x + y): even in z, so smooth where degrees agree.
    z2 = (torch.where(near, gap, 0.0) / total) ** 2
    series = torch.full_like(z2, 1 / (2 * _SERIES + 1))
    for k in reversed(range(_SERIES)):
        series = series * z2 + 1 / (2 * k + 1)
    far = (torch.log(x) - torch.log(y)) / torch.where(near, 1.0, gap)
    return torch.where(near, 2 * series / total, far)


def _degrees(adjacency: Tensor) -> Tensor:
    return (adjacency.sum(-1) + adjacency.sum(-2)) / 2 - adjacency.diagonal(dim1=-2, dim2=-1)


def _laplacian(adjacency: Tensor, degrees: Tensor) -> Tensor:
    """The Laplacian of trace one."""
    trace = degrees.sum(-1, keepdim=True)
    laplacian = adjacency * (-1 / trace)[..., None]
    laplacian.diagonal(dim1=-2, dim2=-1).copy_(degrees / trace)
    return laplacian


def _shannon(eigenvalues: Tensor) -> Tensor:
    lam = eigenvalues.clamp(min=0)
    # An eigenvalue of 1 may come out above it.
    return (0.0 - torch.xlogy(lam, lam).sum(-1)).clamp(min=0)


def _spectra(adjacency: Tensor, degrees: Tensor, logs: Tensor | None = None) -> Tensor:
    """Eigenvalues of the Laplacians, shape (B, N); ln σ̃ is written to `logs`, shape (B, N, N), where given."""
    lam = torch.empty_like(degrees)

    def decompose(at: slice) -> None:
        laplacian = _laplacian(adjacency[at], degrees[at])
        if logs is None:
            lam[at] = torch.linalg.eigvalsh(laplacian)
            return
        lam[at], vectors = torch.linalg.eigh(laplacian)
        logs[at] = _log(_floored(lam[at]), vectors)

    if adjacency.device.type == "cpu" and adjacency.shape[-1] <= _SMALL:
        _by_single_threads(decompose, len(adjacency))
    else:
        decompose(slice(None))
    return lam


def _by_single_threads(task: Callable[[slice], None], count: int) -> None:
    """Run a task on pieces of a stack of small matrices, in as many threads as PyTorch may use, one for each piece.

    Threads that share one small matrix wait for each other most of the time, and for whole seconds where another
    program takes a core.
    """
    threads = torch.get_num_threads()
    pieces = [slice(start, start + _CHUNK) for start in range(0, count, _CHUNK)]
    torch.set_num_threads(1)
    try:
        if threads == 1 or len(pieces) < 2:
            for piece in pieces:
                task(piece)
        else:
            with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
                # Whether gradients are recorded is a thread's own setting, and on in a new thread.
                list(pool.map(torch.no_grad()(task), pieces))
    finally:
        torch.set_num_threads(threads)


class _SpectralEntropy(torch.autograd.Function):
    """S of adjacencies A with its gradient −(ℓ/2 + S)/T, where ℓ_ij = F_ii + F_jj − 2 F_ij and F = ln σ̃."""

    @staticmethod
    def forward(ctx: Any, adjacency: Tensor) -> Tensor:
        degrees = _degrees(adjacency)
        logs = adjacency.new_empty(adjacency.shape)
        entropy = _shannon(_spectra(adjacency, degrees, logs))
        ctx.save_for_backward(adjacency, logs, entropy, degrees.sum(-1))
        return entropy

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        adjacency, log, entropy, trace = ctx.saved_tensors
        if torch.is_grad_enabled():
            degrees = degrees_of(adjacency)
            trace = degrees.sum(-1)
            sigma = (torch.diag_embed(degrees) - _off_diagonal(adjacency)) / trace[..., None, None]
            log = cast("Tensor", _MatrixLog.apply(sigma))
            entropy = -(log * sigma).sum((-2, -1))
        factor = grads[0] / trace
        half = -0.5 * log.diagonal(dim1=-2, dim2=-1) * factor[..., None]
        # In place: this is the largest array of a training step.
        slope = log * factor[..., None, None]
        slope += half[..., :, None] - (entropy * factor)[..., None, None]
        slope += half[..., None, :]
        slope.diagonal(dim1=-2, dim2=-1).zero_()
        return slope


class _MatrixLog(torch.autograd.Function):
    """ln σ of floored eigenvalues; its derivative is by divided differences."""

    @staticmethod
    def forward(ctx: Any, sigma: Tensor) -> Tensor:
        lam, vectors = torch.linalg.eigh(sigma)
        lam = _floored(lam)
        ctx.save_for_backward(lam, vectors)
        return _log(lam, vectors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if torch.is_grad_enabled():
            raise OptionError("the exact entropy has no third derivative: take entropy='local' or 'degree'")
        lam, vectors = ctx.saved_tensors
        floor = eigenvalue_floor(lam.dtype)
        x, y = lam[..., :, None], lam[..., None, :]
        # Two eigenvalues at the floor don't move: their logarithm is constant.
        quotients = torch.where((x <= floor) & (y <= floor), 0.0, log_mean_inverse(x, y))
        inner = vectors.mT @ ((grads[0] + grads[0].mT) / 2) @ vectors
        return vectors @ (quotients * inner) @ vectors.mT


def _floored(lam: Tensor) -> Tensor:
    return lam.clamp(min=eigenvalue_floor(lam.dtype))


def _log(lam: Tensor, vectors: Tensor) -> Tensor:
    return (vectors * lam.log()[..., None, :]) @ vectors.mT


def _off_diagonal(matrices: Tensor) -> Tensor:
    symmetric = (matrices + matrices.mT) / 2
    symmetric.diagonal(dim1=-2, dim2=-1).zero_()
    return symmetric


class _Degrees(torch.autograd.Function):
    """Row sums, with one pass over the matrix in the gradient."""

    @staticmethod
    def forward(ctx: Any, adjacency: Tensor) -> Tensor:
        return _degrees(adjacency)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        half = grads[0] / 2
        slope = half[..., :, None] + half[..., None, :]
        slope.diagonal(dim1=-2, dim2=-1).zero_()
        return slope


class _XLogX(torch.autograd.Function):
    """The function x ln x, whose slope at zero is that of the floor and not infinite."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.xlogy(x, x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * (x.clamp(min=DEGREE_FLOOR).log() + 1)


@contextmanager
def torch_threads() -> Generator[None]:
    """Context in which compiled loops run in no more threads than PyTorch may use."""
    with in_threads(min(workers(), torch.get_num_threads())):
        yield


def _logs(side: Side, trace: float, local: bool) -> FloatArray:
    """What each end of an edge adds to the slope of −Σ d ln d − Σ y² Λ, but for its constant, shape (N,).

    ln d is that of a floor near 0.
    """
    node = -np.log(np.maximum(side.degrees, DEGREE_FLOOR * trace))
    return node - side.pull if local else node


class _CompiledEntropy(torch.autograd.Function):
    """Degree or local entropy of one graph, and its gradient, by the loops of :class:`EdgeSums`."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, edges: EdgeLists, local: bool) -> Tensor:
        y = edges.of_pairs(weights)
        with torch_threads():
            degrees = edges.sums.degrees(y)
            trace = float(degrees.sum())
            least = torch.finfo(weights.dtype).tiny * trace
            side = edges.sums.side(y, 0.0, degrees, local=local, least=least, pull=ctx.needs_input_grad[0])
        ctx.save_for_backward(weights)
        ctx.edges, ctx.local, ctx.y, ctx.trace, ctx.side = edges, local, y, trace, side
        return weights.new_tensor([side.entropy(trace)])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (weights,), edges = ctx.saved_tensors, cast("EdgeLists", ctx.edges)
        if torch.is_grad_enabled():
            value = _by_sums(edges, weights, ctx.local)
            return torch.autograd.grad(value, weights, grads[0], create_graph=True)[0], None, None
        side, trace, of_value = cast("Side", ctx.side), ctx.trace, float(grads[0]) / 2  # half for each column
        # S = ln T + F/T.
        own = [(side, -of_value / trace)] if ctx.local else []
        node = of_value / trace * _logs(side, trace, ctx.local)
        with torch_threads():
            slope = edges.sums.slopes(ctx.y, node, -2 * of_value * side.f / trace**2, own)
        return edges.to_columns(slope, weights), None, None


class Original(NamedTuple):
    """An original as sums over its edges, of weights μ whose largest is 1, and its degrees."""

    sums: EdgeSums
    degrees: FloatArray


class _CompiledPair(torch.autograd.Function):
    """Degree or local entropies of a graph of weights y = μx and of its mixture μ(x + κ) with an original.

    κ is the quotient of the traces T and T_μ, so that the mixture has the trace 2T. One pass gives both slopes.
    """

    @staticmethod
    def forward(
        ctx: Any, a: Tensor, original: Tensor, edges: EdgeLists, known: Original, local: bool
    ) -> tuple[Tensor, Tensor]:
        (sums, of_original), pull = known, ctx.needs_input_grad[0]
        mu = sums.ends[2]
        with torch_threads():
            x = edges.of_pairs(a) if mu is None else edges.of_pairs(a) / mu
            degrees = sums.degrees(x)
            trace, total = float(degrees.sum()), float(of_original.sum())
            kappa, scale = mixture_scale("equation", trace, total)
            least = torch.finfo(a.dtype).tiny * trace
            kept = sums.side(x, 0.0, degrees, local=local, least=least, pull=pull)
            mixed = sums.side(x, kappa, degrees + kappa * of_original, local=local, least=2 * least, pull=pull)
        ctx.save_for_backward(a, original)
        ctx.edges, ctx.known, ctx.local = edges, known, local
        ctx.x, ctx.sides, ctx.traces = x, (kept, mixed), (trace, scale, total)
        return a.new_tensor([kept.entropy(trace)]), a.new_tensor([mixed.entropy(scale)])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (a, original), edges, (sums, of_original) = ctx.saved_tensors, cast("EdgeLists", ctx.edges), ctx.known
        if torch.is_grad_enabled():
            values = [_by_sums(edges, y, ctx.local) for y in (a, mixture(edges, a, original))]
            return torch.autograd.grad(values, a, grads, create_graph=True)[0], *[None] * 4
        (kept, mixed), (t, m, total) = cast("tuple[Side, Side]", ctx.sides), ctx.traces
        of_kept, of_mixed = float(grads[0]) / 2 / t, float(grads[1]) / 2 / m  # half for each column
        node, node_mixed = (_logs(side, trace, ctx.local) for side, trace in ((kept, t), (mixed, m)))
        # S = ln T + F/T, and κ moves by 2/T_μ with y.
        along = 2 * (float(of_original @ node_mixed) - mixed.along) / total
        constant = -2 * of_kept * kept.f / t + of_mixed * (along - 4 * mixed.f / m)
        own = [(kept, -of_kept), (mixed, -of_mixed)] if ctx.local else []
        with torch_threads():
            slope = sums.slopes(ctx.x, of_kept * node + of_mixed * node_mixed, constant, own)
        mu = sums.ends[2]
        return edges.to_columns(slope if mu is None else slope / mu, a), *[None] * 4


EntropyName = Literal["exact", "degree", "local", "auto"]

_SAFE = 32  # powers of two of the largest weight between which no sum or quotient leaves the range of float32


class Representation(Protocol):
    """How weights describe graphs; see :class:`graphpri.torch.entropy.Dense` for what each function owes."""

    def check(self, weights: Tensor, what: str) -> None: ...
    def degrees(self, weights: Tensor) -> Tensor: ...
    def largest(self, weights: Tensor) -> Tensor: ...
    def over_nodes(self, values: Tensor) -> Tensor: ...
    def at_nodes(self, values: Tensor) -> Tensor: ...
    def at_weights(self, values: Tensor) -> Tensor: ...
    def trace(self, weights: Tensor) -> Tensor: ...
    def spectral(self, weights: Tensor, most: int | None = None) -> Tensor: ...
    def quick(self, weights: Tensor, local: bool) -> Tensor | None: ...
    def quick_pair(self, a: Tensor, original: Tensor, local: bool) -> tuple[Tensor, Tensor] | None: ...
    def correction(self, weights: Tensor, q: Tensor, trace: Tensor) -> Tensor: ...
    def sizes(self, weights: Tensor) -> list[tuple[int, int]]: ...


@checked
def von_neumann_entropy(adjacency: Tensor, entropy: EntropyName = "exact", *, check: bool = True) -> Tensor:
    """Von Neumann entropy S(σ̃) = −Σ λ ln λ of graphs given as adjacencies.

    Parameters
    ----------
    adjacency : Tensor of float32 or float64, shape (..., N, N)
        Symmetric weights, 0 where there is no edge and on the diagonal.
    entropy : {"exact", "degree", "local", "auto"}
        Eigenvalues, O(N³); the entropy of the degrees (the paper's Graph-PRI*), O(N²); the same with the
        second-order local correction, O(N²). "auto" goes by the number of nodes of the graphs, as
        :func:`graphpri.sparsify` does: exact up to 500, local beyond.
    check : bool
        Look for entries that can't be weights. Without it, they give wrong numbers, NaN or PyTorch's own errors;
        the diagonal is ignored.

    Returns
    -------
    Tensor, shape (...)
        Nats, in the dtype of the adjacency. First and second derivatives exist. The slope of an edge that would
        join two components is infinite; the gradient given for it is that of a floor under the eigenvalues
        (1e-12, and 1e-7 in float32).

    Raises
    ------
    GraphError
        For an adjacency that is not square or symmetric, with entries that are negative or not finite, with
        self-loops, or of a graph without edges; names the entry.
    OptionError
        For another entropy or dtype, and for what is no dense real tensor.

    Notes
    -----
    Yu et al., UAI 2022, Section 2; ∂S/∂σ̃ = −(ln σ̃ + I), without a derivative of any eigenvector.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import von_neumann_entropy
    >>> ring = torch.eye(6, dtype=torch.float64).roll(1, 0)
    >>> von_neumann_entropy(ring + ring.T, entropy="degree")
    tensor(1.7918, dtype=torch.float64)
    """
    return entropies(Dense(), adjacency, entropy, check, "adjacency")


@checked
def qjs_divergence(a: Tensor, b: Tensor, entropy: EntropyName = "exact", *, check: bool = True) -> Tensor:
    """Quantum Jensen–Shannon divergence D = S((ã + b̃)/2) − S(ã)/2 − S(b̃)/2 of graphs on the same nodes.

    Parameters
    ----------
    a, b : Tensor of float32 or float64, shapes (..., N, N)
        As in :func:`von_neumann_entropy`, of shapes that can be broadcast; each is divided by its own trace first.
    entropy, check
        As in :func:`von_neumann_entropy`.

    Returns
    -------
    Tensor, shape (...)
        Nats, between 0 and ln 2 for the exact and the degree entropy. Rounding below 0 is cut off, with a
        gradient of 0.

    Raises
    ------
    GraphError, OptionError
        As :func:`von_neumann_entropy`.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import qjs_divergence
    >>> a = torch.zeros(4, 4)
    >>> b = torch.zeros(4, 4)
    >>> a[0, 1] = a[1, 0] = b[2, 3] = b[3, 2] = 1
    >>> qjs_divergence(a, b)
    tensor(0.6931)
    """
    return divergences(Dense(), a, b, entropy, check)


@checked
def pri_objective(
    a: Tensor,
    original: Tensor,
    beta: float,
    entropy: EntropyName = "exact",
    *,
    original_entropy: Tensor | None = None,
    check: bool = True,
) -> Tensor:
    """Graph-PRI objective J_β = S(σ̃) + 2β D(σ̃‖ρ̃) of a graph and the original that it comes from.

    Parameters
    ----------
    a, original : Tensor of float32 or float64, shapes (..., N, N)
        Adjacencies σ and ρ, as in :func:`von_neumann_entropy`, of shapes that can be broadcast.
    beta : float
        Weight β ≥ 0 of the divergence.
    entropy, check
        As in :func:`von_neumann_entropy`.
    original_entropy : Tensor, shape (...), optional
        S(ρ̃) by the same entropy, where it is known: a third of the work. The originals are then not checked.

    Returns
    -------
    Tensor, shape (...)
        Nats.

    Raises
    ------
    GraphError, OptionError
        As :func:`von_neumann_entropy`; for a β that is negative or not finite.

    Notes
    -----
    Yu et al., UAI 2022, Eq. (4), without the degree barrier.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import pri_objective
    >>> ring = torch.eye(6, dtype=torch.float64).roll(1, 0)
    >>> ring = (ring + ring.T).requires_grad_()
    >>> value = pri_objective(ring, ring.detach(), beta=2.0, entropy="local")
    >>> value.backward()
    >>> round(value.item(), 6)
    1.541759
    """
    return checked_objectives(Dense(), a, original, beta, entropy, original_entropy, check)


@checked
def von_neumann_entropy_edges(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    batch: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    entropy: EntropyName = "exact",
    check: bool = True,
) -> Tensor:
    """Von Neumann entropy of graphs given as an edge list.

    Parameters
    ----------
    edge_index : Tensor of int64, shape (2, E)
        Ends of each edge in both orientations, as PyG holds undirected graphs.
    edge_weight : Tensor of float32 or float64, shape (E,), optional
        Weights ≥ 0, equal in both orientations; 1 where absent.
    batch : Tensor of int64, shape (N,), optional
        Graph of each node, as in PyG's ``Batch``; one graph where absent.
    num_nodes : int, optional
        Nodes N, where there is no `batch`; the largest in `edge_index` plus one where absent. It doesn't change
        the entropy.
    entropy : {"exact", "degree", "local", "auto"}
        As in :func:`von_neumann_entropy`. "exact" fills dense matrices, for graphs of at most 3000 nodes each; the
        others are O(E).
    check : bool
        Look for edges that are loops, repeated, in one orientation only or between graphs, and for weights that
        are none: a sort of the edges. Without it, they give wrong numbers, NaN or PyTorch's own errors.

    Returns
    -------
    Tensor, shape (number of graphs,)
        Nats. Both orientations of an edge get one and the same gradient, which is half that of the edge.

    Raises
    ------
    GraphError
        For what `check` finds; names the column and the edge, or the graph of the batch that has no edges: such
        graphs are to be left out.
    OptionError
        For another entropy or dtype, for what is no dense real tensor, and for a graph too large for "exact".

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import von_neumann_entropy_edges
    >>> edge_index = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    >>> von_neumann_entropy_edges(edge_index, batch=torch.tensor([0, 0, 0, 1, 1]))
    tensor([0.5623, 0.0000])
    """
    edges = EdgeLists.read(edge_index, batch, num_nodes, check)
    if edge_weight is None:
        edge_weight = torch.ones(edge_index.shape[1], device=edge_index.device)
    return entropies(edges, edge_weight, entropy, check, "edge_weight")


@checked
def qjs_divergence_edges(
    edge_index: Tensor,
    a: Tensor,
    b: Tensor,
    batch: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    entropy: EntropyName = "exact",
    check: bool = True,
) -> Tensor:
    """Quantum Jensen–Shannon divergence of graphs that are weights on the same edges.

    Parameters
    ----------
    edge_index, batch, num_nodes, entropy, check
        As in :func:`von_neumann_entropy_edges`.
    a, b : Tensor of float32 or float64, shape (E,)
        Weights ≥ 0 of both; 0 where one of them has no edge.

    Returns
    -------
    Tensor, shape (number of graphs,)
        Nats; see :func:`qjs_divergence`.

    Raises
    ------
    GraphError, OptionError
        As :func:`von_neumann_entropy_edges`.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import qjs_divergence_edges
    >>> edge_index = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    >>> a, b = torch.tensor([1.0, 1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 1.0, 1.0])
    >>> qjs_divergence_edges(edge_index, a, b)
    tensor([0.6931])
    """
    return divergences(EdgeLists.read(edge_index, batch, num_nodes, check), a, b, entropy, check)


@checked
def pri_objective_edges(
    edge_index: Tensor,
    a: Tensor,
    original: Tensor,
    beta: float,
    batch: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    entropy: EntropyName = "exact",
    original_entropy: Tensor | None = None,
    check: bool = True,
) -> Tensor:
    """Graph-PRI objective J_β of weights `a` on the edges of an original.

    Parameters
    ----------
    edge_index, batch, num_nodes, entropy, check
        As in :func:`von_neumann_entropy_edges`.
    a, original : Tensor of float32 or float64, shape (E,)
        Weights σ and ρ.
    beta : float
        Weight β ≥ 0 of the divergence.
    original_entropy : Tensor, shape (number of graphs,), optional
        S(ρ̃) by the same entropy, where it is known; the originals are then not checked.

    Returns
    -------
    Tensor, shape (number of graphs,)
        Nats; see :func:`pri_objective`.

    Raises
    ------
    GraphError, OptionError
        As :func:`von_neumann_entropy_edges`; for a β that is negative or not finite.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import pri_objective_edges
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> original = torch.ones(4)
    >>> gates = torch.tensor([1.0, 1.0, 0.5, 0.5], requires_grad=True)
    >>> pri_objective_edges(edge_index, gates, original, beta=1.0, entropy="degree").backward()
    >>> gates.grad
    tensor([-0.0187, -0.0187,  0.0374,  0.0374])
    """
    edges = EdgeLists.read(edge_index, batch, num_nodes, check)
    return checked_objectives(edges, a, original, beta, entropy, original_entropy, check)


def entropies(layout: Representation, weights: Tensor, entropy: EntropyName, check: bool, what: str) -> Tensor:
    """Entropies of the graphs with those weights."""
    check_weights(layout, weights, entropy, check, what)
    return entropy_of(layout, in_range(layout, weights), named(layout, weights, entropy))


def divergences(layout: Representation, a: Tensor, b: Tensor, entropy: EntropyName, check: bool) -> Tensor:
    """Divergences of the graphs with weights a and b."""
    check_weights(layout, a, entropy, check, "a")
    check_weights(layout, b, entropy, check, "b")
    _check_alike(a, b)
    entropy = named(layout, a, entropy)
    a, b = in_range(layout, a), in_range(layout, b)
    both = entropy_of(layout, a, entropy) + entropy_of(layout, b, entropy)
    return (entropy_of(layout, mixture(layout, a, b), entropy) - both / 2).clamp(min=0)


def checked_objectives(
    layout: Representation,
    a: Tensor,
    original: Tensor,
    beta: float,
    entropy: EntropyName,
    original_entropy: Tensor | None,
    check: bool,
    what: str = "a",
) -> Tensor:
    """J_β; the originals are looked at where their entropy is not known."""
    check_weights(layout, a, entropy, check, what)
    check_weights(layout, original, entropy, check and original_entropy is None, "original")
    a, original = in_range(layout, a), in_range(layout, original)
    return objectives(layout, a, original, check_beta(beta), entropy, original_entropy)


def objectives(
    layout: Representation,
    a: Tensor,
    original: Tensor,
    beta: float,
    entropy: EntropyName,
    original_entropy: Tensor | None,
) -> Tensor:
    """J_β = (1 − β) S(σ̃) − β S(ρ̃) + 2β S(σ̄) of the graphs with weights a and the originals, checked and in range."""
    _check_alike(a, original)
    if original_entropy is not None:
        check_dense(original_entropy, "original_entropy")
    kept, mixed = _kept_and_mixed(layout, a, original, entropy)
    known = entropy_of(layout, original, entropy) if original_entropy is None else original_entropy
    if torch.broadcast_shapes(kept.shape, known.shape) != mixed.shape:
        found, needed = tuple(known.shape), tuple(mixed.shape)
        raise OptionError(f"original_entropy has the shape {found}: give one of each original, {needed}")
    of_kept, of_mixed, of_original = coefficients(beta)
    return of_kept * kept + of_original * known + of_mixed * mixed


def _kept_and_mixed(layout: Representation, a: Tensor, original: Tensor, entropy: EntropyName) -> tuple[Tensor, Tensor]:
    """S(σ̃) and S(σ̄)."""
    names: list[EntropyName] = _by_size(layout, a) if entropy == "auto" else [entropy]
    if len(names) == 1 and names[0] in ("degree", "local"):
        found = layout.quick_pair(a, original, names[0] == "local")
        if found is not None:
            return found
    return entropy_of(layout, a, entropy), entropy_of(layout, mixture(layout, a, original), entropy)


def in_range(layout: Representation, weights: Tensor) -> Tensor:
    """Weights whose sums neither overflow nor vanish: those of very large or small graphs times a power of two.

    It is a constant to the gradient: no entropy depends on it.
    """
    exponent = torch.frexp(layout.largest(weights.detach())).exponent
    if not bool((exponent.abs() > _SAFE).any()):
        return weights
    # In two steps, each in range where their product is not.
    half = exponent // 2
    for part in (half, exponent - half):
        weights = weights * layout.at_weights(torch.exp2(-part.to(weights.dtype)))
    return weights


def entropy_of(layout: Representation, weights: Tensor, entropy: EntropyName) -> Tensor:
    """Entropy of weights in range; "auto" is each graph's own."""
    if entropy == "auto":
        names = _by_size(layout, weights)
        if len(set(names)) == 1:
            return entropy_of(layout, weights, names[0])
        others: list[EntropyName] = [name for name in set(names) if name != "exact"]
        each = {name: entropy_of(layout, weights, name) for name in others}
        each["exact"] = layout.spectral(weights, EXACT_NODES)
        return torch.stack([each[name][graph] for graph, name in enumerate(names)])
    if entropy == "exact":
        return layout.spectral(weights)
    local = entropy == "local"
    quick = layout.quick(weights, local)
    return _by_sums(layout, weights, local) if quick is None else quick


def _by_sums(layout: Representation, weights: Tensor, local: bool) -> Tensor:
    """The degree entropy, or the local one."""
    degrees = layout.degrees(weights)
    trace = layout.over_nodes(degrees)
    q = degrees / layout.at_nodes(trace)
    found = -layout.over_nodes(xlogx(q))
    return found - layout.correction(weights, q, trace) if local else found


def _by_size(layout: Representation, weights: Tensor) -> list[EntropyName]:
    """What "auto" means for each graph: by its size alone, so that it stays as it is while weights change."""
    names = [entropy_by_size(*size) for size in layout.sizes(weights)] or ["exact"]
    return cast("list[EntropyName]", names)


def named(layout: Representation, weights: Tensor, entropy: EntropyName) -> EntropyName:
    """The entropy of all graphs, refused where "auto" means several, whose values don't compare."""
    if entropy != "auto":
        return entropy
    names = set(_by_size(layout, weights))
    if len(names) > 1:
        means = " and ".join(map(repr, sorted(names)))
        raise OptionError(f"entropy='auto' means {means} for graphs of these sizes, which don't compare: name one")
    return next(iter(names))


def mixture(layout: Representation, a: Tensor, b: Tensor) -> Tensor:
    """Weights of ã + b̃, in the scale of a: each graph divided by its own trace before the two are added."""
    factor, _ = mixture_scale("equation", *(layout.trace(weights) for weights in (a, b)))
    return torch.addcmul(a, b, layout.at_weights(factor))


def check_weights(layout: Representation, weights: Tensor, entropy: str, check: bool, what: str) -> None:
    """Refuse what is no tensor that entropies take and, where asked, weights that describe no graph."""
    check_entropy(entropy)
    check_floats(weights, what)
    if check:
        layout.check(weights, what)


def check_entropy(entropy: str) -> None:
    """Refuse the name of an entropy that there is not."""
    if entropy not in get_args(EntropyName):
        raise OptionError(f"entropy={entropy!r}: choose from {', '.join(map(repr, get_args(EntropyName)))}")


def _check_alike(a: Tensor, b: Tensor) -> None:
    if a.dtype != b.dtype or a.device != b.device:
        raise OptionError(f"weights are {a.dtype} on {a.device} and {b.dtype} on {b.device}: bring them together")
    try:
        torch.broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        raise GraphError(f"shapes {tuple(a.shape)} and {tuple(b.shape)} do not fit each other") from None


# What functions, losses and gates refuse in their arguments, with what to do about it.


def check_dense(value: Any, what: str) -> None:
    """Refuse what is no dense tensor of real numbers."""
    if not isinstance(value, Tensor):
        kind = type(value)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        how = (
            f"torch.from_numpy({what})"
            if isinstance(value, np.ndarray)
            else "torch.tensor(...) of its numbers as an array"
        )
        raise OptionError(f"{what} is of type {name}: pass a dense real tensor, {how}")
    if value.layout != torch.strided or value.is_nested:
        kind, how = ("nested", "to_padded_tensor(0.0)") if value.is_nested else (value.layout, "to_dense()")
        raise OptionError(f"{what} is a tensor of layout {kind}: pass a dense real tensor, {what}.{how}")
    if value.is_complex():
        raise OptionError(f"{what} is {value.dtype}: pass a dense real tensor, such as {what}.abs() or {what}.real")


def check_floats(weights: Any, what: str) -> None:
    """Refuse weights that are no dense tensor of float32 or float64."""
    check_dense(weights, what)
    if weights.dtype not in DTYPES:
        raise OptionError(f"{what} is {weights.dtype}: it must be float32 or float64; pass {what}.float()")
