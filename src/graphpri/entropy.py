"""Von Neumann entropies of a weighted graph: exact, by degrees, and by degrees with a local correction.

Every entropy is a function of edge weights y (zero where an edge is absent) and returns S together with
the term ℓ of its edge gradient. With the trace T = 2 Σ y, the shared shape is

    ∂S/∂y_m = −(ℓ_m + 2 S) / T,

where ℓ_m = (e_u − e_v)ᵀ ln(L/T) (e_u − e_v) for the exact entropy and the corresponding expression for the
others. All of them are invariant under scaling of y and are in nats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from graphpri.errors import GraphError, OptionError
from graphpri.graph import FloatArray, Graph
from graphpri.memory import require
from graphpri.threads import single_thread

EIGENVALUE_FLOOR = 1e-12
"""Smallest eigenvalue inside ln, for a matrix of trace one: keeps the gradient finite off its range."""

LEAST_SHARE = 1e-100
"""Smallest weight in computations, as a share of the largest."""

LIGHTEST = 1e-290
"""Share of the trace below which an edge has no part in the local correction: it is at most that, and 1/degree
would overflow."""

_STACK_ENTRIES = 1 << 22
"""Entries of the matrices of small components that are worked on at a time."""

LN2 = float(np.log(2.0))


class Evaluation(NamedTuple):
    """An entropy in nats and the edge term ℓ of its gradient (None where it was not asked for)."""

    value: float
    log_term: FloatArray | None


@dataclass(frozen=True)
class Entropy:
    """A way to compute the entropy: ``evaluate(graph, y, gradient)`` with edge weights y of shape (M,).

    Where it is `stochastic`, the value is an estimate: :func:`graphpri.stochastic.estimate` gives those of several
    weightings at once, from common probes, with their errors.
    """

    name: str
    summary: str
    evaluate: Callable[[Graph, FloatArray, bool], Evaluation]
    stochastic: bool = False


def xlogx(x: FloatArray) -> FloatArray:
    """The function x ln x, with 0 ln 0 = 0."""
    return x * np.log(np.where(x > 0, x, 1.0))


def log_mean_inverse(x: FloatArray, y: FloatArray) -> FloatArray:
    """Λ(x, y) = (ln x − ln y)/(x − y), and 1/x where they agree; needs x, y > 0."""
    low, high = np.minimum(x, y), np.maximum(x, y)
    ratio = (high - low) / high
    near = ratio < 1e-4
    # −ln(1−r)/r by its series where the quotient would lose digits.
    series = 1 + ratio * (1 / 2 + ratio * (1 / 3 + ratio / 4))
    far = np.where(near, 0.5, ratio)
    logs = np.where(far < 0.5, -np.log1p(-np.minimum(far, 0.5)), np.log(high) - np.log(low))
    return np.where(near, series, logs / far) / high


def edge_strengths(graph: Graph, y: FloatArray) -> FloatArray:
    """Sum of the edge values y at each node, shape (N,)."""
    total = np.bincount(graph.source, y, graph.n_nodes) + np.bincount(graph.target, y, graph.n_nodes)
    return cast("FloatArray", total)


def degree_entropy(graph: Graph, y: FloatArray, gradient: bool) -> Evaluation:
    """H(q) = −Σ q ln q of the degree distribution q = degrees/T (the paper's Graph-PRI*), O(M)."""
    q = edge_strengths(graph, y / (2 * y.sum()))
    value = -float(xlogx(q).sum())
    if not gradient:
        return Evaluation(value, None)
    log_q = np.log(np.maximum(q, EIGENVALUE_FLOOR))
    return Evaluation(value, log_q[graph.source] + log_q[graph.target])


class LocalParts(NamedTuple):
    """The correction Σ a² Λ(d_u, d_v) of the local entropy and its derivatives.

    `degrees` is per node. Per edge, zero where it is absent: `own` is a² Λ, `twice` is 2 a Λ, `pull_u` and
    `pull_v` are a² times the derivatives of Λ in either degree; `node` sums the pulls at each node.
    """

    degrees: FloatArray
    own: FloatArray
    twice: FloatArray
    pull_u: FloatArray
    pull_v: FloatArray
    node: FloatArray


def local_parts(graph: Graph, a: FloatArray) -> LocalParts:
    """Degrees and correction terms of edge weights a."""
    d = edge_strengths(graph, a)
    kept = a > LIGHTEST
    u, v, w = graph.source[kept], graph.target[kept], a[kept]
    x, z = d[u], d[v]
    # A weight is at most the degree at either end: products of quotients stay in range at 1e-300.
    mean = w * log_mean_inverse(x, z)
    gap = x - z
    near = np.abs(gap) < 1e-4 * z
    safe = np.where(near, 1.0, gap)
    ratio = np.where(near, gap / z, 0.0)
    # The derivative of Λ in its first argument is (1/x − Λ)/(x − z), and −1/(2x²) where they agree.
    squared = (w / z) ** 2
    pull_u = np.where(near, squared * (-0.5 + ratio * (2 / 3 - 0.75 * ratio)), w / safe * (w / x - mean))
    pull_v = np.where(near, squared * (-0.5 + ratio * (1 / 3 - 0.25 * ratio)), w / safe * (mean - w / z))
    node = np.bincount(u, pull_u, graph.n_nodes) + np.bincount(v, pull_v, graph.n_nodes)
    full = np.zeros((4, a.size))
    full[:, kept] = w * mean, 2 * mean, pull_u, pull_v
    return LocalParts(d, full[0], full[1], full[2], full[3], cast("FloatArray", node))


def local_entropy(graph: Graph, y: FloatArray, gradient: bool) -> Evaluation:
    """H(q) − Σ a² Λ(q_u, q_v) with a = y/T: second order around the degrees (Daleckii–Krein), O(M)."""
    a = y / (2 * y.sum())
    if not gradient:
        q = edge_strengths(graph, a)
        kept = a > LIGHTEST
        w = a[kept]
        correction = w * (w * log_mean_inverse(q[graph.source[kept]], q[graph.target[kept]]))
        return Evaluation(-float(xlogx(q).sum()) - float(correction.sum()), None)
    parts = local_parts(graph, a)
    value = -float(xlogx(parts.degrees).sum()) - float(parts.own.sum())
    at_node = np.log(np.maximum(parts.degrees, EIGENVALUE_FLOOR)) + parts.node
    return Evaluation(value, at_node[graph.source] + at_node[graph.target] + parts.twice)


def exact_entropy(graph: Graph, y: FloatArray, gradient: bool) -> Evaluation:
    """−Σ λ ln λ of the Laplacian's spectrum, one dense eigenproblem per connected component, O(N³).

    Raises
    ------
    MemoryLimitError
        For a component whose matrices don't fit into memory.
    """
    a = y / (2 * y.sum())
    kept = a > 0
    n, u, v = graph.n_nodes, graph.source, graph.target
    links = sp.coo_array((kept[kept], (u[kept], v[kept])), shape=(n, n))
    count, member = connected_components(links, directed=False)
    sizes = np.bincount(member, minlength=count)
    order = np.argsort(member, kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    edge_component = np.where(kept, member[u], -1)
    value = 0.0
    diagonal = np.full(n, np.log(EIGENVALUE_FLOOR))
    across = np.zeros(graph.n_edges)
    with single_thread():
        for members in _batches(sizes):
            size = int(sizes[members[0]])
            _require_dense(members.size, size, gradient)
            slot = np.full(count, -1)
            slot[members] = np.arange(members.size)
            inside = np.flatnonzero(kept & (slot[edge_component] >= 0))
            stack = np.zeros((members.size, size, size))
            where = slot[member[u[inside]]], place[u[inside]], place[v[inside]]
            stack[where] = -a[inside]
            stack[where[0], where[2], where[1]] = -a[inside]
            index = np.arange(size)
            stack[:, index, index] = -stack.sum(axis=2)
            if not gradient:
                value -= float(xlogx(np.maximum(np.linalg.eigvalsh(stack), 0.0)).sum())
                continue
            lam, vectors = np.linalg.eigh(stack)
            lam = np.maximum(lam, 0.0)
            value -= float(xlogx(lam).sum())
            log = (vectors * np.log(np.maximum(lam, EIGENVALUE_FLOOR))[:, None, :]) @ vectors.transpose(0, 2, 1)
            nodes = np.flatnonzero(slot[member] >= 0)
            diagonal[nodes] = log[slot[member[nodes]], place[nodes], place[nodes]]
            within = np.flatnonzero((member[u] == member[v]) & (slot[member[u]] >= 0))
            across[within] = log[slot[member[u[within]]], place[u[within]], place[v[within]]]
    return Evaluation(value, diagonal[u] + diagonal[v] - 2 * across if gradient else None)


def _batches(sizes: NDArray[np.integer[Any]]) -> Iterator[NDArray[np.int64]]:
    """Components of one size of at least two nodes, as many as are worked on at a time."""
    for size in np.unique(sizes[sizes > 1]):
        members = np.flatnonzero(sizes == size)
        pieces = members.size * int(size) ** 2 // _STACK_ENTRIES
        yield from np.array_split(members, min(max(1, pieces), members.size))


def _require_dense(count: int, size: int, gradient: bool) -> None:
    """Refuse components whose matrices don't fit into memory: 2 of each, 5 for the gradient, were measured."""
    require(
        8.0 * (5 if gradient else 2) * count * size**2,
        f"the exact entropy of a component of {size} nodes",
        "take the entropy 'stochastic', 'local', 'degree' or 'auto'",
    )


def exact_entropies(graph: Graph, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Exact entropies and edge terms of several weightings of a small graph at once.

    Parameters
    ----------
    graph : Graph
        N nodes, M edges.
    y : ndarray of float64, shape (B, M)
        Edge weights of each, not all zero.

    Returns
    -------
    values : ndarray of float64, shape (B,)
    terms : ndarray of float64, shape (B, M)
    """
    u, v, n = graph.source, graph.target, graph.n_nodes
    a = y / (2 * y.sum(axis=1, keepdims=True))
    stack = np.zeros((len(y), n, n))
    stack[:, u, v] = stack[:, v, u] = -a
    index = np.arange(n)
    stack[:, index, index] = -stack.sum(axis=2)
    with single_thread():
        lam, vectors = np.linalg.eigh(stack)
        lam = np.maximum(lam, 0.0)
        log = (vectors * np.log(np.maximum(lam, EIGENVALUE_FLOOR))[:, None, :]) @ vectors.transpose(0, 2, 1)
    diagonal = log[:, index, index]
    return -xlogx(lam).sum(axis=1), diagonal[:, u] + diagonal[:, v] - 2 * log[:, u, v]


def stochastic_entropy(graph: Graph, y: FloatArray, gradient: bool) -> Evaluation:
    """Exact entropy and edge term up to random errors, by Lanczos quadrature of 32 probes, O(M · probes · steps)."""
    from graphpri.stochastic import evaluate_by_probes

    return evaluate_by_probes(graph, y, gradient)


ENTROPIES: dict[str, Entropy] = {
    e.name: e
    for e in (
        Entropy("exact", "eigenvalues of the Laplacian", exact_entropy),
        Entropy("degree", "Shannon entropy of the degree distribution", degree_entropy),
        Entropy("local", "degree entropy with the second-order local correction", local_entropy),
        Entropy("stochastic", "Lanczos quadrature of random probes", stochastic_entropy, stochastic=True),
    )
}


def entropy_named(name: str) -> Entropy:
    """The entropy of that name.

    Raises
    ------
    OptionError
        For an unknown name; lists those that exist.
    """
    if name not in ENTROPIES:
        raise OptionError(f"entropy={name!r}: choose from {', '.join(ENTROPIES)}")
    return ENTROPIES[name]


def evaluate(graph: Graph, name: str, y: FloatArray | None = None, *, gradient: bool = False) -> Evaluation:
    """Entropy of the graph with edge weights `y` (its own where absent).

    Raises
    ------
    GraphError
        For a graph without edges: a zero matrix has no trace to normalise by.
    """
    y = graph.weights if y is None else y
    if not y.size or not y.max() > 0:
        raise GraphError("the graph has no edges, so its Laplacian is zero and its entropy is not defined")
    return entropy_named(name).evaluate(graph, scaled(y), gradient)


def scaled(y: FloatArray) -> FloatArray:
    """Edge weights divided by the largest, so that sums of 1e300 don't overflow.

    Weights further below the largest than 1e-100 are raised to that share: no digit of an entropy shows it,
    and a subset of the lightest edges keeps a trace above zero.
    """
    top = float(y.max())
    shares = y if top == 1.0 else y / top
    low = (shares < LEAST_SHARE) & (y > 0)
    return np.where(low, LEAST_SHARE, shares) if low.any() else shares
