"""Von Neumann entropies of a weighted graph: exact, by degrees, and by degrees with a local correction.

Every entropy is a function of edge weights y (zero where an edge is absent) and returns S together with
the term ℓ of its edge gradient. With the trace T = 2 Σ y, the shared shape is

    ∂S/∂y_m = −(ℓ_m + 2 S) / T,

where ℓ_m = (e_u − e_v)ᵀ ln(L/T) (e_u − e_v) for the exact entropy and the corresponding expression for the
others. All of them are invariant under scaling of y and are in nats.

Large graphs have the degree and the local entropy in a few compiled passes over the edges (:class:`EdgeSums`): both
have the form S = ln T + F/T with F = −Σ d ln d − Σ y² Λ(d_u, d_v), where d are the degrees and the second sum belongs
to the local entropy only. An edge e weighs y = μ (x + κ): μ is ``mu[e]``, or 1 where `mu` is None and the loop is
compiled without it, x what is kept of it, and κ the part of the original graph that the mixture adds. Loops take a
piece of the edges, so that pieces can run in threads; what they add up they return or write for their piece alone, and
results don't depend on the number of threads. Nothing holds more than one number an edge beside the graph.
"""

# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import compiled, in_chunks, inlined, read_only, require, single_thread
from graphpri.graph import FloatArray, Graph, IntArray, stacks

_NEAR = 0.1  # relative gap of two numbers below which Λ is taken from its series


@inlined
def weight_of(mu: FloatArray | None, e: int) -> float:
    """Weight of an edge."""
    if mu is None:
        return 1.0
    return mu[e]


@compiled
def sum_ends(
    start: int, stop: int, source: IntArray, target: IntArray, mu: FloatArray | None, x: FloatArray, out: FloatArray
) -> None:
    """Add μ x of each edge to the entries of `out` at both its ends."""
    for e in range(start, stop):
        y = weight_of(mu, e) * x[e]
        out[source[e]] += y
        out[target[e]] += y


@compiled
def count_ends(
    start: int, stop: int, source: IntArray, target: IntArray, x: NDArray[np.uint8], out: NDArray[np.int32]
) -> None:
    """The same where all edges weigh 1 and x is 0 or 1: half the memory for each node, which is what takes the time."""
    for e in range(start, stop):
        out[source[e]] += x[e]
        out[target[e]] += x[e]


@compiled
def inverse_log_mean(x: float, y: float, log_x: float, log_y: float) -> tuple[float, float, float]:
    """Λ(x, y) = (ln x − ln y)/(x − y) and its derivatives in x and in y, given both logarithms."""
    half = x + y
    r = (x - y) / half
    if abs(r) < _NEAR:
        # ln x − ln y = 2 artanh r.
        s = r * r
        series = 1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s * (1 / 13 + s / 15))))))
        slope = r * (2 / 3 + s * (4 / 5 + s * (6 / 7 + s * (8 / 9 + s * (10 / 11 + s * (12 / 13 + s * 14 / 15))))))
        mean = 2 * series / half
        # dr/dx = 2y/(x + y)², dr/dy = −2x/(x + y)².
        return mean, (-mean + 4 * slope * y / half / half) / half, (-mean - 4 * slope * x / half / half) / half
    mean = (log_x - log_y) / (x - y)
    return mean, (1 / x - mean) / (x - y), (mean - 1 / y) / (x - y)


@compiled
def correct(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: FloatArray | None,
    x: FloatArray,
    kappa: float,
    least: float,
    degrees: FloatArray,
    logs: FloatArray,
    pull: FloatArray,
) -> tuple[float, float]:
    """Σ y² Λ(d_u, d_v) and Σ 2 y Λ μ over the edges; adds y² ∂Λ/∂d to `pull` (where it is not empty).

    Edges of a weight below `least` are passed over.
    """
    total = along = 0.0
    for e in range(start, stop):
        m = weight_of(mu, e)
        y = m * (x[e] + kappa)
        if y > least:
            u, v = source[e], target[e]
            mean, by_u, by_v = inverse_log_mean(degrees[u], degrees[v], logs[u], logs[v])
            total += y * (y * mean)
            along += 2 * m * (y * mean)
            if pull.size:
                pull[u] += y * (y * by_u)
                pull[v] += y * (y * by_v)
    return total, along


@compiled
def slopes(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: FloatArray | None,
    node: FloatArray,
    constant: float,
    out: FloatArray,
) -> None:
    """Write μ (node_u + node_v + constant) of each edge."""
    for e in range(start, stop):
        out[e] = weight_of(mu, e) * (node[source[e]] + node[target[e]] + constant)


@compiled
def add_own_slopes(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    mu: FloatArray | None,
    x: FloatArray,
    kappa: float,
    least: float,
    degrees: FloatArray,
    logs: FloatArray,
    factor: float,
    out: FloatArray,
) -> None:
    """Add factor · μ · 2 y Λ(d_u, d_v) of each edge: what its own weight does to the correction."""
    for e in range(start, stop):
        m = weight_of(mu, e)
        y = m * (x[e] + kappa)
        if y > least:
            u, v = source[e], target[e]
            mean, _, _ = inverse_log_mean(degrees[u], degrees[v], logs[u], logs[v])
            out[e] += factor * m * (2 * y * mean)


LARGE_EDGES = 5_000
"""Number of edges from which compiled loops are used: a smaller graph is done before they are loaded."""

_SHARDS = 8
"""Most pieces in which node sums are added up; each takes 8 bytes a node."""

Kept = NDArray[Any]
"""What is kept of each edge: floats from 0 to 1, or 0 and 1 in a byte."""


class Side(NamedTuple):
    """The kept graph, or its mixture with the original one: its edges weigh μ (x + κ).

    `degrees` and `logs`, their logarithms (0 where there is no edge), have shape (N,). `correction` is
    Σ y² Λ, `along` its derivative in κ with the degrees held, and `pull` its derivative in each degree,
    shape (N,); zero and empty for the degree entropy.
    """

    kappa: float
    degrees: FloatArray
    logs: FloatArray
    correction: float
    along: float
    pull: FloatArray

    @property
    def f(self) -> float:
        """F; BLAS would add in another order by several threads."""
        with single_thread():
            return -float(self.degrees @ self.logs) - self.correction

    def entropy(self, trace: float) -> float:
        """S in nats, for the trace T of the matrix."""
        return float(np.log(trace)) + self.f / trace


class EdgeSums:
    """Sums over the edges of one graph.

    Parameters
    ----------
    graph : Graph
    weights : ndarray of float64, shape (M,)
        Edge weights μ, the largest 1.
    """

    def __init__(self, graph: Graph, weights: FloatArray) -> None:
        self.n_nodes, self.n_edges = graph.n_nodes, graph.n_edges
        self.equal = weights.strides == (0,) or bool((weights == 1).all())
        self.ends = read_only(graph.source), read_only(graph.target), None if self.equal else read_only(weights)

    def degrees(self, x: Kept) -> FloatArray:
        """Σ μ x at each node, shape (N,)."""
        x = read_only(x)
        is_counted = self.equal and x.dtype == np.uint8

        def run(start: int, stop: int, out: NDArray[Any]) -> None:
            if is_counted:
                count_ends(start, stop, *self.ends[:2], x, out)
            else:
                sum_ends(start, stop, *self.ends, x, out)

        return self._by_node(run, np.int32 if is_counted else np.float64)[0]

    def _by_node(self, task: Any, dtype: Any = np.float64) -> tuple[FloatArray, list[Any]]:
        """Run ``task(start, stop, out)`` on a few pieces with node sums of their own; all added up, and its results."""
        shards = int(np.clip(self.n_edges // (4 * max(self.n_nodes, 1)), 1, _SHARDS))
        length = -(-self.n_edges // shards)

        def run(start: int, stop: int) -> tuple[NDArray[Any], Any]:
            out = np.zeros(self.n_nodes, dtype)
            return out, task(start, stop, out)

        done = in_chunks(run, self.n_edges, max(length, 1))
        total = np.zeros(self.n_nodes)
        for out, _ in done:
            total += out
        return total, [result for _, result in done]

    def side(
        self, x: Kept, kappa: float, degrees: FloatArray, *, local: bool, least: float = 0.0, pull: bool = True
    ) -> Side:
        """The graph of weights μ (x + κ), whose degrees are given.

        Parameters
        ----------
        x : ndarray, shape (M,)
        kappa : float
        degrees : ndarray of float64, shape (N,)
        local : bool
            Whether to compute the correction of the local entropy.
        least : float
            Weight below which an edge has no part in it.
        pull : bool
            Whether its derivatives are wanted as well.
        """
        logs = np.empty(self.n_nodes)

        def take_logs(start: int, stop: int) -> None:
            part = degrees[start:stop]
            np.log(np.where(part > 0, part, 1.0), out=logs[start:stop])

        in_chunks(take_logs, self.n_nodes)
        if not local:
            return Side(kappa, degrees, logs, 0.0, 0.0, np.empty(0))

        x = read_only(x)

        def run(start: int, stop: int, out: FloatArray) -> tuple[float, float]:
            return correct(start, stop, *self.ends, x, kappa, least, degrees, logs, out)

        if pull:
            pulls, sums = self._by_node(run)
        else:
            pulls = np.empty(0)
            sums = in_chunks(lambda a, b: run(a, b, pulls), self.n_edges)
        return Side(kappa, degrees, logs, float(sum(s for s, _ in sums)), float(sum(s for _, s in sums)), pulls)

    def slopes(self, x: Kept, node: FloatArray, constant: float, own: list[tuple[Side, float]]) -> FloatArray:
        """μ (node_u + node_v + constant) of each edge, and factor · μ · 2 y Λ for each side and its factor.

        Returns
        -------
        ndarray of float64, shape (M,)
        """
        out, x = np.empty(self.n_edges), read_only(x)

        def run(start: int, stop: int) -> None:
            slopes(start, stop, *self.ends, node, constant, out)
            for side, factor in own:
                add_own_slopes(start, stop, *self.ends, x, side.kappa, 0.0, side.degrees, side.logs, factor, out)

        in_chunks(run, self.n_edges)
        return out


EIGENVALUE_FLOOR = 1e-12
"""Smallest eigenvalue inside ln, for a matrix of trace one: keeps the gradient finite off its range."""

LEAST_SHARE = 1e-100
"""Smallest weight in computations, as a share of the largest."""

LIGHTEST = 1e-290
"""Share of the trace below which an edge has no part in the local correction: it is at most that, and 1/degree
would overflow."""

LN2 = float(np.log(2.0))


class EntropyValue(NamedTuple):
    """An entropy in nats and the edge term ℓ of its gradient (None where it was not asked for)."""

    value: float
    log_term: FloatArray | None


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


def degree_entropy(graph: Graph, y: FloatArray, gradient: bool) -> EntropyValue:
    """H(q) = −Σ q ln q of the degree distribution q = degrees/T (the paper's Graph-PRI*), O(M)."""
    q = _shares(graph, y)
    value = -float(xlogx(q).sum())
    if not gradient:
        return EntropyValue(value, None)
    log_q = np.log(np.maximum(q, EIGENVALUE_FLOOR))
    return EntropyValue(value, log_q[graph.source] + log_q[graph.target])


def degree_entropies(graph: Graph, y: FloatArray) -> FloatArray:
    """Degree entropies of several weightings at once, shapes (B, M) to (B,); no row is all zero."""
    return -xlogx(_shares(graph, y)).sum(axis=1)


def _shares(graph: Graph, y: FloatArray) -> FloatArray:
    """The degree distribution, shape (N,) or, of several weightings, (B, N)."""
    return graph.strengths(y / (2 * y.sum(axis=-1, keepdims=True)))


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
    d = graph.strengths(a)
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


def local_entropy(graph: Graph, y: FloatArray, gradient: bool) -> EntropyValue:
    """H(q) − Σ a² Λ(q_u, q_v) with a = y/T: second order around the degrees (Daleckii–Krein), O(M)."""
    a = y / (2 * y.sum())
    if not gradient:
        q = graph.strengths(a)
        kept = a > LIGHTEST
        own = _own_terms(a[kept], q[graph.source[kept]], q[graph.target[kept]])
        return EntropyValue(-float(xlogx(q).sum()) - float(own.sum()), None)
    parts = local_parts(graph, a)
    value = -float(xlogx(parts.degrees).sum()) - float(parts.own.sum())
    at_node = np.log(np.maximum(parts.degrees, EIGENVALUE_FLOOR)) + parts.node
    return EntropyValue(value, at_node[graph.source] + at_node[graph.target] + parts.twice)


def local_entropies(graph: Graph, y: FloatArray) -> FloatArray:
    """Local entropies of several weightings at once, shapes (B, M) to (B,); no row is all zero."""
    a = y / (2 * y.sum(axis=1, keepdims=True))
    q = graph.strengths(a)
    row, edge = np.nonzero(a > LIGHTEST)
    own = _own_terms(a[row, edge], q[row, graph.source[edge]], q[row, graph.target[edge]])
    return cast("FloatArray", -xlogx(q).sum(axis=1) - np.bincount(row, own, len(a)))


def _own_terms(w: FloatArray, at_source: FloatArray, at_target: FloatArray) -> FloatArray:
    """What each edge adds to the local entropy's correction, w² Λ; a weight is at most the degree at either end."""
    return w * (w * log_mean_inverse(at_source, at_target))


def exact_entropy(graph: Graph, y: FloatArray, gradient: bool) -> EntropyValue:
    """−Σ λ ln λ of the Laplacian's spectrum, one dense eigenproblem per connected component, O(N³).

    Raises
    ------
    MemoryLimitError
        For a component whose matrices don't fit into memory.
    """
    a = y / (2 * y.sum())
    member = graph.components(a > 0)[1]
    u, v = graph.source, graph.target
    value = 0.0
    diagonal = np.full(graph.n_nodes, np.log(EIGENVALUE_FLOOR))
    across = np.zeros(graph.n_edges)
    with single_thread():
        for stack in stacks(member):
            components, size = stack.nodes.shape
            _require_dense(components, size, gradient)
            matrices = stack.laplacians(graph, a)
            if not gradient:
                value -= float(xlogx(np.maximum(np.linalg.eigvalsh(matrices), 0.0)).sum())
                continue
            lam, vectors = np.linalg.eigh(matrices)
            lam = np.maximum(lam, 0.0)
            value -= float(xlogx(lam).sum())
            log = (vectors * np.log(np.maximum(lam, EIGENVALUE_FLOOR))[:, None, :]) @ vectors.transpose(0, 2, 1)
            diagonal[stack.nodes] = np.einsum("sii->si", log)
            within = np.flatnonzero((member[u] == member[v]) & (stack.slot[u] >= 0))
            across[within] = log[stack.slot[u[within]], stack.place[u[within]], stack.place[v[within]]]
    return EntropyValue(value, diagonal[u] + diagonal[v] - 2 * across if gradient else None)


def _require_dense(count: int, size: int, gradient: bool) -> None:
    """Refuse components whose matrices don't fit into memory: 2 of each, 5 for the gradient, were measured."""
    require(
        8.0 * (5 if gradient else 2) * count * size**2,
        f"the exact entropy of a component of {size} nodes",
        "take the entropy 'stochastic', 'local', 'degree' or 'auto'",
    )


def exact_entropies(graph: Graph, y: FloatArray) -> FloatArray:
    """Exact entropies of several weightings of a small graph at once, shapes (B, M) to (B,); no row is all zero."""
    with single_thread():
        return -xlogx(np.maximum(np.linalg.eigvalsh(_normalised(graph, y)), 0.0)).sum(axis=1)


def exact_entropies_and_terms(graph: Graph, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Exact entropies of several weightings of a small graph at once, and the edge terms of their gradients.

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
    u, v, index = graph.source, graph.target, np.arange(graph.n_nodes)
    with single_thread():
        lam, vectors = np.linalg.eigh(_normalised(graph, y))
        lam = np.maximum(lam, 0.0)
        log = (vectors * np.log(np.maximum(lam, EIGENVALUE_FLOOR))[:, None, :]) @ vectors.transpose(0, 2, 1)
    diagonal = log[:, index, index]
    return -xlogx(lam).sum(axis=1), diagonal[:, u] + diagonal[:, v] - 2 * log[:, u, v]


def _normalised(graph: Graph, y: FloatArray) -> FloatArray:
    """Dense Laplacians of trace 1, shape (B, N, N)."""
    u, v, n = graph.source, graph.target, graph.n_nodes
    stack = np.zeros((len(y), n, n))
    stack[:, u, v] = stack[:, v, u] = -y / (2 * y.sum(axis=1, keepdims=True))
    index = np.arange(n)
    stack[:, index, index] = -stack.sum(axis=2)
    return stack


def scaled(y: FloatArray) -> FloatArray:
    """Edge weights divided by the largest, so that sums of 1e300 don't overflow.

    Weights further below the largest than 1e-100 are raised to that share: no digit of an entropy shows it,
    and a subset of the lightest edges keeps a trace above zero.
    """
    top = float(y.max())
    shares = y if top == 1.0 else y / top
    low = (shares < LEAST_SHARE) & (y > 0)
    return np.where(low, LEAST_SHARE, shares) if low.any() else shares
