"""What the kept graph's Laplacian σ preserves of the original's, ρ: slowest mode, quadratic form, all directions."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.csgraph import maximum_flow
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from graphpri._entropy import scaled
from graphpri._laplacian import DENSE, Subgraph, grounded_inverse, large_parts, pseudo_inverse
from graphpri._runtime import single_thread
from graphpri.errors import GraphError
from graphpri.graph import FloatArray, Graph, stacks
from graphpri.measures.information import Overlay
from graphpri.measures.registry import Cost, View, measure, per_view

_GROUP = "spectrum"


def _work(graph: Graph) -> float:
    sizes = np.bincount(graph.components()[1]).astype(np.float64)
    return float((sizes[sizes <= DENSE] ** 3).sum()) + 1e4 * graph.n_edges * bool((sizes > DENSE).any())


SOLVES = Cost("Σ n³ over components of n ≤ 600 nodes + 10⁴·M for larger ones", _work, 3e9)
_PROBES = Cost("100·M", lambda g: 100 * g.n_edges, 1e9)
_LANCZOS_STEPS = 400
_SAME = 1e-8
"""Eigenvalues that differ by less, relative to their size, count as one that repeats."""


class ModePair(NamedTuple):
    """Eigenvector x of the smallest eigenvalue above zero, shape (N,), unit length; NaN where it isn't resolved."""

    vector: FloatArray
    repeats: bool


@per_view
def slowest_mode(view: View) -> ModePair:
    """Slowest mode of a graph with at least one edge.

    Zero is an eigenvalue once per component. Of the others the smallest is taken, over all components. Where
    it repeats, its eigenvectors are a choice; the one taken is the projection of a fixed vector (the
    fractional parts of the multiples of the golden ratio, in canonical node order) on their span.
    """
    graph = view.graph
    count, member = view.components
    start = fixed_vector(graph.n_nodes)
    found = _Modes(np.full(count, np.inf), np.zeros(graph.n_nodes), np.zeros(count, bool))
    with single_thread():
        _dense_modes(graph, member, start, found)
        for part, scale in large_parts(graph, member, count):
            name = member[part.nodes[0]]
            found.values[name], found.repeats[name], found.vectors[part.nodes] = _lanczos_mode(part, start[part.nodes])
            found.values[name] *= scale / graph.weights.max()
    least = found.values.min()
    taken = found.values <= least * (1 + _SAME)
    vector = np.where(taken[member], found.vectors, 0.0)
    repeats = int(taken.sum()) > 1 or bool(found.repeats[taken].any())
    return ModePair(vector / np.linalg.norm(vector), repeats)


class _Modes(NamedTuple):
    """Smallest eigenvalue above zero of each component, whether it repeats, and its vectors side by side."""

    values: FloatArray
    vectors: FloatArray
    repeats: NDArray[np.bool_]


def _dense_modes(graph: Graph, member: NDArray[Any], start: FloatArray, found: _Modes) -> None:
    weights = scaled(graph.weights)
    for stack in stacks(member, DENSE):
        lam, vectors = np.linalg.eigh(stack.laplacians(graph, weights))
        # The zero eigenvalue of a component comes first, whatever it was rounded to.
        slowest = lam[:, 1:2]
        same = lam <= slowest * (1 + _SAME) + 1e-14 * lam[:, -1:]
        same[:, 0] = False
        r = start[stack.nodes]
        shares = (vectors * (r - r.mean(axis=1, keepdims=True))[:, :, None]).sum(axis=1) * same
        names = member[stack.nodes[:, 0]]
        found.values[names] = np.maximum(slowest[:, 0], 0.0)
        found.repeats[names] = same.sum(axis=1) > 1
        unresolved = slowest[:, 0] <= 4e-16 * lam.shape[1] * lam[:, -1]
        x = (vectors * shares[:, None, :]).sum(axis=2)
        found.vectors[stack.nodes] = np.where(unresolved[:, None], np.nan, x)


def _lanczos_mode(part: Subgraph, start: FloatArray) -> tuple[float, bool, FloatArray]:
    """Smallest eigenvalue above zero of a large component, and the projection of `start` on its eigenvectors.

    The Krylov space of a vector holds one direction of each eigenspace, the vector's projection on it; whether
    the eigenvalue repeats shows in the space of another vector, kept orthogonal to the first's result.
    """
    inverse = pseudo_inverse(part, 1e-11)
    other = start[::-1] ** 2
    try:
        largest, x = _leading(inverse, start - start.mean(), np.zeros(start.size), 1e-9)
        second, _ = _leading(inverse, other - other.mean(), x, 1e-6)
    except GraphError:
        largest = second = 0.0
        x = np.full(start.size, np.nan)
    return (1 / largest if largest > 0 else 0.0), second >= largest * (1 - 1e-6), x * float(x @ start)


def _leading(inverse: Any, start: FloatArray, against: FloatArray, tolerance: float) -> tuple[float, FloatArray]:
    """Largest eigenvalue of an operator in the Krylov space of `start`, orthogonal to `against`; its eigenvector.

    Lanczos iteration, each vector made orthogonal to all before; NaN where it has not settled in time.
    """
    basis = np.empty((_LANCZOS_STEPS + 1, start.size))
    diagonal, off_diagonal = np.empty(_LANCZOS_STEPS), np.empty(_LANCZOS_STEPS)
    q = start - against * float(against @ start)
    basis[0] = q / np.linalg.norm(q)
    for k in range(_LANCZOS_STEPS):
        z = inverse @ basis[k]
        diagonal[k] = float(basis[k] @ z)
        z -= against * float(against @ z)
        # Full reorthogonalisation, a second time against what rounding left of the first ("twice is enough":
        # B. N. Parlett, The Symmetric Eigenvalue Problem, 1980, after W. Kahan).
        for _ in range(2):
            z -= basis[: k + 1].T @ (basis[: k + 1] @ z)
        with np.errstate(over="ignore", invalid="ignore"):
            off_diagonal[k] = float(np.linalg.norm(z))
        if not np.isfinite(off_diagonal[k]):
            break  # weights too far apart
        theta, s = eigh_tridiagonal(diagonal[: k + 1], off_diagonal[:k], select="i", select_range=(k, k))
        # The residual of a Ritz pair is the last off-diagonal times the last entry of its vector (Parlett, chapter 13).
        if off_diagonal[k] * abs(float(s[-1, 0])) <= tolerance * float(theta[0]):
            return float(theta[0]), basis[: k + 1].T @ s[:, 0]
        basis[k + 1] = z / off_diagonal[k]
    return np.nan, np.full(start.size, np.nan)


@measure(
    "spectral_distance",
    "geodesic distance d_x of the Laplacians along the original's slowest mode",
    group=_GROUP,
    core=True,
    better="low",
    affordable=SOLVES,
)
def spectral_distance(view: View) -> float:
    """d_x = arccosh(1 + ‖(ρ−σ)x‖² ‖x‖² / (2 xᵀρx xᵀσx)); Bravo Hermsdorff and Gunderson, NeurIPS 2019."""
    x, repeats = slowest_mode(view.origin)
    if np.isnan(x).any():
        view.note(
            "spectral_distance is n/a: the original's slowest mode could not be told from rounding errors (weights "
            "too far apart) or from the next ones (a large expander)"
        )
        return np.nan
    if repeats:
        view.note(
            "spectral_distance: the original's smallest eigenvalue above zero repeats, so that its eigenvector "
            "is a choice; the projection of a fixed vector is taken"
        )
    return _distance_along(x, view.overlay)


def _distance_along(x: FloatArray, over: Overlay) -> float:
    graph = over.graph
    top = max(float(over.original.max()), float(over.kept.max()))
    rho, sigma = over.original / top, over.kept / top
    gap = x[graph.source] - x[graph.target]
    energy_rho, energy_sigma = float(rho @ gap**2), float(sigma @ gap**2)
    # Below this the energy is that of the eigenvector's rounding errors.
    if energy_sigma <= 1e-26 * float(sigma.sum()):
        return np.inf
    flow = (rho - sigma) * gap
    z = np.bincount(graph.source, flow, graph.n_nodes) - np.bincount(graph.target, flow, graph.n_nodes)
    if not z.any():
        return 0.0
    # arccosh(1 + 2s²) = 2 arsinh s, without the cancellation; the product of the roots can't underflow.
    return float(2 * np.arcsinh(np.linalg.norm(z) / 2 / (np.sqrt(energy_rho) * np.sqrt(energy_sigma))))


@measure(
    "quadratic_error",
    "mean of |xᵀσx − xᵀρx| / xᵀρx over 100 random vectors",
    group=_GROUP,
    better="low",
    affordable=_PROBES,
)
def quadratic_error(view: View) -> float:
    over, rng = view.overlay, np.random.default_rng(view.settings.seed)
    top = max(float(over.original.max()), float(over.kept.max()))
    rho, difference = over.original / top, (over.kept - over.original) / top
    errors: list[float] = []
    for _ in range(100):
        x = rng.standard_normal(view.graph.n_nodes)
        squared = (x[over.graph.source] - x[over.graph.target]) ** 2
        errors.append(abs(float(difference @ squared)) / float(rho @ squared))
    return float(np.mean(errors))


@per_view
def upper(view: View) -> float:
    """Largest xᵀρx / xᵀσx, ∞ where the kept graph falls apart."""
    return _largest_ratio(view.overlay.original, view.overlay.kept, view)


@per_view
def lower(view: View) -> float:
    """Largest xᵀσx / xᵀρx, ∞ where the kept graph joins components of the original."""
    return _largest_ratio(view.overlay.kept, view.overlay.original, view)


@measure("spectral_upper", "largest xᵀρx / xᵀσx", group=_GROUP, better="low", affordable=SOLVES)
def spectral_upper(view: View) -> float:
    return upper(view)


@measure("spectral_lower", "largest xᵀσx / xᵀρx", group=_GROUP, better="low", affordable=SOLVES)
def spectral_lower(view: View) -> float:
    return lower(view)


@measure(
    "spectral_constant",
    "smallest γ with xᵀσx/γ ≤ xᵀρx ≤ γ xᵀσx for all x",
    group=_GROUP,
    better="low",
    affordable=SOLVES,
)
def spectral_constant(view: View) -> float:
    over = view.overlay
    if (over.kept <= over.original).all():
        return upper(view)  # the other side is at most 1
    return max(upper(view), lower(view))


def _largest_ratio(a: FloatArray, b: FloatArray, view: View) -> float:
    """Largest xᵀAx / xᵀBx of the Laplacians with edge weights a and b on the edges of the overlay."""
    graph = view.overlay.graph
    count, member = graph.components(b > 0)
    crossing = member[graph.source] != member[graph.target]
    if (a[crossing] > 0).any():
        return np.inf
    top_a, top_b = float(a.max()), float(b.max())
    try:
        ratio = _ratio_of(graph, a / top_a, b / top_b, count, member)
    except (GraphError, np.linalg.LinAlgError, ArpackNoConvergence):
        ratio = np.nan
    if not ratio > 0:
        view.note("the spectral constants are n/a: the weights lie too far apart to resolve them")
        return np.nan
    with np.errstate(over="ignore"):
        return float(ratio * (top_a / top_b))


def _ratio_of(graph: Graph, a: FloatArray, b: FloatArray, count: int, member: NDArray[Any]) -> float:
    largest = 0.0
    with single_thread():
        for stack in stacks(member, DENSE):
            # Both forms ignore constants, so that one node can be held at zero.
            lower = np.linalg.cholesky(stack.laplacians(graph, b)[:, 1:, 1:])
            # The pencil Ax = λBx as the ordinary problem of L⁻¹AL⁻ᵀ, by the Cholesky factor of B.
            half = np.linalg.solve(lower, stack.laplacians(graph, a)[:, 1:, 1:])
            pencil = np.linalg.solve(lower, half.transpose(0, 2, 1))
            largest = max(largest, float(np.linalg.eigvalsh((pencil + pencil.transpose(0, 2, 1)) / 2).max()))
        denominator = graph.select(b > 0, b)
        numerator = a[b > 0]
        for part, scale in large_parts(denominator, member, count):
            beyond = np.flatnonzero((b == 0) & (a > 0) & (member[graph.source] == member[part.nodes[0]]))
            largest = max(largest, _lanczos_ratio(graph, part, scale, numerator, a, beyond))
    return largest


def _lanczos_ratio(
    graph: Graph, part: Subgraph, scale: float, numerator: FloatArray, a: FloatArray, beyond: NDArray[np.int64]
) -> float:
    """The same for one large component of the denominator; `beyond` are the numerator's edges that it lacks."""
    local = np.full(graph.n_nodes, -1)
    local[part.nodes] = np.arange(part.nodes.size)
    u = np.concatenate([part.u, local[graph.source[beyond]]])
    v = np.concatenate([part.v, local[graph.target[beyond]]])
    w = np.concatenate([numerator[part.edges], a[beyond]]) / scale
    form = Subgraph(part.nodes, part.edges, part.member, u, v, w).laplacian()[1:, 1:]
    denominator, inverse = part.laplacian()[1:, 1:], grounded_inverse(part, 1e-10)
    start = fixed_vector(part.nodes.size)[1:]
    # Lanczos iteration in the inner product of the denominator, whose inverse is the grounded solver.
    found = eigsh(form, k=1, M=denominator, Minv=inverse, which="LA", v0=start, tol=1e-6, maxiter=2000)
    return float(found[0][0])


def fixed_vector(n: int) -> FloatArray:
    """A fixed vector that no graph is likely to be symmetric with: multiples of the golden ratio, modulo 1."""
    # A Weyl sequence: its numbers lie evenly, and no two are equal.
    return cast("FloatArray", np.modf(np.arange(1, n + 1) * ((np.sqrt(5.0) - 1) / 2))[0])


LOW = 10
"""Eigenvalues that are compared, where there are so many."""


def lowest(graph: Graph, top: float, count: int) -> FloatArray:
    """The smallest eigenvalues of the Laplacian but one zero for each component, at most `count`, ascending.

    Parameters
    ----------
    graph : Graph
    top : float
        Weight that counts as 1.
    count : int

    Raises
    ------
    GraphError
        For weights too far apart to tell an eigenvalue from a rounding error.
    """
    parts, member = graph.components()
    found = [np.empty(0)]
    with single_thread():
        for stack in stacks(member, DENSE):
            lam = cast("FloatArray", np.linalg.eigvalsh(stack.laplacians(graph, graph.weights / top)))
            if (lam[:, 1] <= 4e-16 * lam.shape[1] * lam[:, -1]).any():
                raise GraphError("the weights lie too far apart to resolve the eigenvalues of the Laplacian")
            found.append(lam[:, 1 : count + 1].ravel())
        for part, scale in large_parts(graph, member, parts):
            found.append(_lowest_of(part, count) * (scale / top))
    return np.sort(np.concatenate(found))[:count]


def _lowest_of(part: Subgraph, count: int) -> FloatArray:
    """The same for one large component, by Lanczos iteration on the pseudo-inverse."""
    start = fixed_vector(part.nodes.size)
    inverse = pseudo_inverse(part, 1e-10)
    # More vectors than are asked for, so that an eigenvalue that repeats shows each time.
    options: Any = {"which": "LA", "v0": start - start.mean(), "ncv": 4 * count + 20, "tol": 1e-8}
    found = cast("FloatArray", eigsh(inverse, k=count, return_eigenvectors=False, **options))
    return 1 / found[found > 0]


@measure(
    "eigenvalue_error",
    f"mean relative error of the {LOW} smallest Laplacian eigenvalues above the original's zeros",
    group="spectrum",
    better="low",
    affordable=SOLVES,
)
def eigenvalue_error(view: View) -> float:
    """Mean of |λ_i(σ) − λ_i(ρ)| / λ_i(ρ) by rank i, from the first that is not zero in the original.

    Each piece that the kept graph falls into has a zero more, an error of 1.
    """
    zeros, now = view.origin.components[0], view.components[0]
    count = min(LOW, view.graph.n_nodes - zeros)
    top = float(view.origin.graph.weights.max())
    try:
        before = lowest(view.origin.graph, top, count)
        wanted = zeros + count - now
        rest = lowest(view.graph, top, wanted) if wanted > 0 else np.empty(0)
    except (GraphError, np.linalg.LinAlgError, ArpackNoConvergence):
        view.note("eigenvalue_error is n/a: the weights lie too far apart to resolve the eigenvalues")
        return np.nan
    after = np.concatenate([np.zeros(now), rest])[zeros : zeros + count]
    return float((np.abs(after - before) / before).mean())


PAIRS = 100
_FLOWS = Cost(f"{PAIRS}·(N + M)", lambda g: PAIRS * (g.n_nodes + g.n_edges), 2e7)
_UNITS = 2.0**30
"""Of the capacity at the strongest node; the algorithm counts in 32-bit integers."""


@per_view
def pairs(origin: View) -> NDArray[np.int64]:
    """Pairs of different nodes with a path between them in the original, drawn at random, shape (PAIRS, 2)."""
    rng = np.random.default_rng(origin.settings.seed)
    member = origin.components[1]
    order = np.argsort(member, kind="stable")
    sizes = np.bincount(member)
    first = np.cumsum(sizes) - sizes
    at = rng.choice(np.flatnonzero(sizes[member[order]] > 1), PAIRS)
    size, start = sizes[member[order[at]]], first[member[order[at]]]
    other = start + (at - start + rng.integers(1, size)) % size
    return np.stack([order[at], order[other]], axis=1)


def _over(weights: FloatArray, top: float) -> FloatArray:
    """Weights over the largest; where that is subnormal, NumPy 1.26 warns of what it fills its registers with."""
    with np.errstate(over="ignore"):
        return weights / top


def capacities(view: View, top: float, unit: float) -> sp.csr_array:
    """Weights of the edges in both directions as integers: in units of `top`, then in `unit`."""
    graph = view.graph
    whole = np.maximum(np.rint(_over(graph.weights, top) / unit), 1).astype(np.int32)
    ends = np.concatenate([graph.source, graph.target]), np.concatenate([graph.target, graph.source])
    return sp.csr_array((np.concatenate([whole, whole]), ends), shape=(graph.n_nodes, graph.n_nodes))


def flows(view: View, top: float, unit: float) -> FloatArray:
    """Largest flow between the nodes of each pair, in `unit` of `top`; edges carry their weight."""
    matrix, member = capacities(view, top, unit), view.components[1]
    return np.array(
        [
            float(maximum_flow(matrix, s, t).flow_value) if member[s] == member[t] else 0.0
            for s, t in pairs(view.origin).tolist()
        ]
    )


def _power_of_two(value: float) -> float:
    """The smallest power of two that is not below a positive number; the largest one where none is finite."""
    fraction, exponent = np.frexp(value)
    return float(np.ldexp(1.0, min(int(exponent) - (fraction == 0.5), 1023)))


@measure(
    "flow_ratio",
    f"mean ratio of the largest flow to that in the original, over {PAIRS} pairs of nodes",
    group="flows",
    better="high",
    affordable=_FLOWS,
)
def flow_ratio(view: View) -> float:
    """Edges carry up to their weight either way; where all weigh the same, a flow is a number of disjoint paths."""
    # Weights are taken by the largest first: a share of one near the smallest float would be nothing. In powers of two,
    # most new weights of an edge set have the unit of the old ones, whose flows are there.
    views = view.origin, view
    top = _power_of_two(max(float(v.graph.weights.max()) for v in views))
    unit = _power_of_two(max(float(v.graph.strengths(_over(v.graph.weights, top)).max()) for v in views) / _UNITS)
    key = "flows", top, unit
    if key not in view.origin.memory:
        view.origin.memory[key] = flows(view.origin, top, unit)
    return float((flows(view, top, unit) / view.origin.memory[key]).mean())
