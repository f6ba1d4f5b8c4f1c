"""Von Neumann entropy, Jensen–Shannon divergence and the Graph-PRI objective, differentiable in the weights.

The functions without a suffix take symmetric adjacencies of shape (..., N, N), those on ``_edges`` PyG's edge lists.
All values are in nats, and none changes when all weights of a graph are multiplied by a number.
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

import torch
from torch import Tensor

from graphpri.errors import GraphError, OptionError
from graphpri.objective import check_beta
from graphpri.torch.checks import check_dense, check_floats
from graphpri.torch.dense import Dense
from graphpri.torch.edges import Edges
from graphpri.torch.functions import xlogx

Method = Literal["exact", "degree", "local"]

_SAFE = 32  # powers of two of the largest weight between which no sum or quotient leaves the range of float32


class Layout(Protocol):
    """How weights describe graphs; see :class:`graphpri.torch.dense.Dense` for what the methods owe."""

    def check(self, weights: Tensor, what: str) -> None: ...
    def degrees(self, weights: Tensor) -> Tensor: ...
    def largest(self, weights: Tensor) -> Tensor: ...
    def over_nodes(self, values: Tensor) -> Tensor: ...
    def at_nodes(self, values: Tensor) -> Tensor: ...
    def at_weights(self, values: Tensor) -> Tensor: ...
    def spectral(self, weights: Tensor) -> Tensor: ...
    def correction(self, weights: Tensor, q: Tensor, trace: Tensor) -> Tensor: ...


def von_neumann_entropy(adjacency: Tensor, method: Method = "exact", *, check: bool = True) -> Tensor:
    """Von Neumann entropy S(σ̃) = −Σ λ ln λ of graphs given as adjacencies.

    Parameters
    ----------
    adjacency : Tensor of float32 or float64, shape (..., N, N)
        Symmetric weights, 0 where there is no edge and on the diagonal.
    method : {"exact", "degree", "local"}
        Eigenvalues, O(N³); the entropy of the degrees (the paper's Graph-PRI*), O(N²); the same with the
        second-order local correction, O(N²).
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
        For another method or dtype, and for what is no dense real tensor.

    Notes
    -----
    Yu et al., UAI 2022, Section 2; ∂S/∂σ̃ = −(ln σ̃ + I), without a derivative of any eigenvector.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import von_neumann_entropy
    >>> ring = torch.eye(6, dtype=torch.float64).roll(1, 0)
    >>> von_neumann_entropy(ring + ring.T, method="degree")
    tensor(1.7918, dtype=torch.float64)
    """
    return entropies(Dense(), adjacency, method, check, "adjacency")


def qjs_divergence(a: Tensor, b: Tensor, method: Method = "exact", *, check: bool = True) -> Tensor:
    """Quantum Jensen–Shannon divergence D = S((ã + b̃)/2) − S(ã)/2 − S(b̃)/2 of graphs on the same nodes.

    Parameters
    ----------
    a, b : Tensor of float32 or float64, shapes (..., N, N)
        As in :func:`von_neumann_entropy`, of shapes that can be broadcast; each is divided by its own trace first.
    method, check
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
    return divergences(Dense(), a, b, method, check)


def pri_objective(
    a: Tensor,
    original: Tensor,
    beta: float,
    method: Method = "exact",
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
    method, check
        As in :func:`von_neumann_entropy`.
    original_entropy : Tensor, shape (...), optional
        S(ρ̃) by the same method, where it is known: a third of the work. The originals are then not checked.

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
    >>> value = pri_objective(ring, ring.detach(), beta=2.0, method="local")
    >>> value.backward()
    >>> round(value.item(), 6)
    1.541759
    """
    return checked_objectives(Dense(), a, original, beta, method, original_entropy, check)


def von_neumann_entropy_edges(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    batch: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    method: Method = "exact",
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
    method : {"exact", "degree", "local"}
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
        For another method or dtype, for what is no dense real tensor, and for a graph too large for "exact".

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import von_neumann_entropy_edges
    >>> edge_index = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    >>> von_neumann_entropy_edges(edge_index, batch=torch.tensor([0, 0, 0, 1, 1]))
    tensor([0.5623, 0.0000])
    """
    edges = read_edges(edge_index, batch, num_nodes, check)
    if edge_weight is None:
        edge_weight = torch.ones(edge_index.shape[1], device=edge_index.device)
    return entropies(edges, edge_weight, method, check, "edge_weight")


def qjs_divergence_edges(
    edge_index: Tensor,
    a: Tensor,
    b: Tensor,
    batch: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    method: Method = "exact",
    check: bool = True,
) -> Tensor:
    """Quantum Jensen–Shannon divergence of graphs that are weights on the same edges.

    Parameters
    ----------
    edge_index, batch, num_nodes, method, check
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
    return divergences(read_edges(edge_index, batch, num_nodes, check), a, b, method, check)


def pri_objective_edges(
    edge_index: Tensor,
    a: Tensor,
    original: Tensor,
    beta: float,
    batch: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    method: Method = "exact",
    original_entropy: Tensor | None = None,
    check: bool = True,
) -> Tensor:
    """Graph-PRI objective J_β of weights `a` on the edges of an original.

    Parameters
    ----------
    edge_index, batch, num_nodes, method, check
        As in :func:`von_neumann_entropy_edges`.
    a, original : Tensor of float32 or float64, shape (E,)
        Weights σ and ρ.
    beta : float
        Weight β ≥ 0 of the divergence.
    original_entropy : Tensor, shape (number of graphs,), optional
        S(ρ̃) by the same method, where it is known; the originals are then not checked.

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
    >>> pri_objective_edges(edge_index, gates, original, beta=1.0, method="degree").backward()
    >>> gates.grad
    tensor([-0.0187, -0.0187,  0.0374,  0.0374])
    """
    edges = read_edges(edge_index, batch, num_nodes, check)
    return checked_objectives(edges, a, original, beta, method, original_entropy, check)


def entropies(layout: Layout, weights: Tensor, method: Method, check: bool, what: str) -> Tensor:
    """Entropies of the graphs with those weights."""
    check_weights(layout, weights, method, check, what)
    return entropy(layout, in_range(layout, weights), method)


def divergences(layout: Layout, a: Tensor, b: Tensor, method: Method, check: bool) -> Tensor:
    """Divergences of the graphs with weights a and b."""
    check_weights(layout, a, method, check, "a")
    check_weights(layout, b, method, check, "b")
    _check_alike(a, b)
    a, b = in_range(layout, a), in_range(layout, b)
    both = entropy(layout, a, method) + entropy(layout, b, method)
    return (entropy(layout, mixture(layout, a, b), method) - both / 2).clamp(min=0)


def checked_objectives(
    layout: Layout,
    a: Tensor,
    original: Tensor,
    beta: float,
    method: Method,
    original_entropy: Tensor | None,
    check: bool,
    what: str = "a",
) -> Tensor:
    """J_β; the originals are looked at where their entropy is not known."""
    check_weights(layout, a, method, check, what)
    check_weights(layout, original, method, check and original_entropy is None, "original")
    a, original = in_range(layout, a), in_range(layout, original)
    return objectives(layout, a, original, check_beta(beta), method, original_entropy)


def objectives(
    layout: Layout, a: Tensor, original: Tensor, beta: float, method: Method, original_entropy: Tensor | None
) -> Tensor:
    """J_β = (1 − β) S(σ̃) − β S(ρ̃) + 2β S(σ̄) of the graphs with weights a and the originals, checked and in range."""
    _check_alike(a, original)
    if original_entropy is not None:
        check_dense(original_entropy, "original_entropy")
    kept = entropy(layout, a, method)
    mixed = entropy(layout, mixture(layout, a, original), method)
    known = entropy(layout, original, method) if original_entropy is None else original_entropy
    if torch.broadcast_shapes(kept.shape, known.shape) != mixed.shape:
        found, needed = tuple(known.shape), tuple(mixed.shape)
        raise OptionError(f"original_entropy has the shape {found}: give one of each original, {needed}")
    return (1 - beta) * kept - beta * known + 2 * beta * mixed


def in_range(layout: Layout, weights: Tensor) -> Tensor:
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


def entropy(layout: Layout, weights: Tensor, method: Method) -> Tensor:
    """Entropy of weights in range."""
    if method == "exact":
        return layout.spectral(weights)
    degrees = layout.degrees(weights)
    trace = layout.over_nodes(degrees)
    q = degrees / layout.at_nodes(trace)
    found = -layout.over_nodes(xlogx(q))
    return found - layout.correction(weights, q, trace) if method == "local" else found


def mixture(layout: Layout, a: Tensor, b: Tensor) -> Tensor:
    """Weights of ã + b̃, in the scale of a: each graph divided by its own trace before the two are added."""
    factor = layout.over_nodes(layout.degrees(a)) / layout.over_nodes(layout.degrees(b))
    return torch.addcmul(a, b, layout.at_weights(factor))


def check_weights(layout: Layout, weights: Tensor, method: str, check: bool, what: str) -> None:
    """Refuse what is no tensor that entropies take and, where asked, weights that describe no graph."""
    check_method(method)
    check_floats(weights, what)
    if check:
        layout.check(weights, what)


def check_method(method: str) -> None:
    """Refuse the name of a method that there is not."""
    if method not in get_args(Method):
        raise OptionError(f"method={method!r}: choose from {', '.join(map(repr, get_args(Method)))}")


def read_edges(edge_index: Tensor, batch: Tensor | None, num_nodes: int | None, check: bool) -> Edges:
    """The edge list, checked where asked."""
    edges = Edges.read(edge_index, batch, num_nodes)
    if check:
        edges.check_structure()
    return edges


def _check_alike(a: Tensor, b: Tensor) -> None:
    if a.dtype != b.dtype or a.device != b.device:
        raise OptionError(f"weights are {a.dtype} on {a.device} and {b.dtype} on {b.device}: bring them together")
    try:
        torch.broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        raise GraphError(f"shapes {tuple(a.shape)} and {tuple(b.shape)} do not fit each other") from None
