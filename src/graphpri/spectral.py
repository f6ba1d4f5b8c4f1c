"""Effective resistances.

The effective resistance R_m of an edge is the voltage between its ends when a unit current enters at one
and leaves at the other, each edge being a resistor of conductance μ. Its leverage μ_m R_m ∈ (0, 1] is the
probability that a random spanning forest, drawn in proportion to the product of its weights, contains the
edge; Σ_m μ_m R_m = N − (number of components).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphpri.errors import OptionError
from graphpri.graph import FloatArray, Graph, IntArray
from graphpri.laplacian import (
    LARGE,
    Part,
    System,
    component_scales,
    inverse_factor,
    pack,
    split,
    spread,
    too_wide,
    with_stride,
)
from graphpri.memory import require
from graphpri.threads import in_chunks, single_thread

ResistanceMethod = Literal["auto", "exact", "sketch"]

DENSE_NODES = 3000
"""Largest component, in nodes, that ``method="auto"`` solves exactly."""
_PROBE_BLOCK = 8  # probes solved at a time, the signs of an edge in a byte
_FACTOR_RANGE = 1e15  # weights further apart are more than any factorisation in double precision stands
_SKETCH_BYTES = 150, 400  # an edge and a node; measured on unweighted graphs: 120 and 380
_ROW_ENTRIES = 2**22  # of the matrix, that distances of rows are taken of at a time
_MERGE_WORK = 2e9  # largest M·N² for the algorithm that stands any weights


def effective_resistance(
    graph: Graph,
    *,
    method: ResistanceMethod = "auto",
    n_probes: int = 64,
    rng: np.random.Generator | int | None = None,
) -> FloatArray:
    """Effective resistance between the ends of each edge.

    Parameters
    ----------
    graph : Graph
        Any graph; components are solved on their own. Weights are conductances.
    method : {"auto", "exact", "sketch"}
        ``"exact"`` factorises each component densely (O(N³) time, O(N²) memory), ``"sketch"`` projects
        at random, and ``"auto"`` sketches components of more than 3000 nodes only.
    n_probes : int
        Random vectors of the sketch. The root mean square error of 64 is 2 % on dense random graphs
        (M/N = 50), 6 % on sparser ones (M/N = 6) and 10 % on a grid; it falls as their number to the power −½. The
        standard error of one edge is at most √(2/n_probes) of its resistance, 18 % for 64, where nothing but the
        projection estimates it; a control variate and the bounds that the degrees give lower it to these figures.
    rng : Generator or int, optional
        Source of the sketch's vectors; unused by ``"exact"``.

    Returns
    -------
    ndarray of float64, shape (M,)
        Resistances, in the inverse unit of the weights; infinite where they exceed 10³⁰⁸.

    Raises
    ------
    OptionError
        For an unknown method and for fewer than two probes.
    GraphError
        For a large graph whose weights lie too far apart for double precision (small ones always work).
    MemoryLimitError
        For a graph that there is not the memory for.

    See Also
    --------
    leverages : μ_m R_m, which doesn't depend on the unit of the weights.

    References
    ----------
    D. A. Spielman, N. Srivastava. Graph sparsification by effective resistances.
    SIAM Journal on Computing 40(6), 2011.

    Examples
    --------
    Two unit resistors in a row, beside a third, give 2/3.

    >>> effective_resistance(Graph.from_edges([0, 1, 0], [1, 2, 2])).round(4)
    array([0.6667, 0.6667, 0.6667])
    """
    r, _, scale = _resistances(graph, method, n_probes, rng)
    with np.errstate(over="ignore"):
        return r / scale


def leverages(
    graph: Graph,
    *,
    method: ResistanceMethod = "auto",
    n_probes: int = 64,
    rng: np.random.Generator | int | None = None,
) -> FloatArray:
    """Weight times effective resistance of each edge, μ_m R_m ∈ (0, 1].

    Parameters, errors and source are those of :func:`effective_resistance`.

    Returns
    -------
    ndarray of float64, shape (M,)
        They add up to N minus the number of components; a sketch's to within about a percent.

    Examples
    --------
    >>> leverages(Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3])).round(4)
    array([0.6667, 0.6667, 0.6667, 1.    ])
    """
    r, w, _ = _resistances(graph, method, n_probes, rng)
    return np.minimum(r * w, 1.0)


def _resistances(
    graph: Graph, method: str, n_probes: int, rng: np.random.Generator | int | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Resistances and weights of the edges in a unit of their component, and the weight of that unit."""
    if method not in ("auto", "exact", "sketch"):
        raise OptionError(f"method={method!r}: choose from 'auto', 'exact', 'sketch'")
    if not isinstance(n_probes, Integral) or n_probes < 2:
        raise OptionError(f"n_probes={n_probes!r}: a sketch needs a whole number of probes, 2 or more")
    count, member = graph.components()
    scale = component_scales(graph, count, member)
    edge_scale = scale[member[graph.source]]
    w = graph.weights / edge_scale
    r = 1 / w  # right for bridges, and so for components that are trees
    sizes = np.bincount(member, minlength=count)
    cyclic = np.bincount(member[graph.source], minlength=count) >= sizes
    dense = sizes <= {"auto": DENSE_NODES, "exact": graph.n_nodes, "sketch": 0}[method]
    _check_memory(graph, sizes[cyclic & dense], sizes[cyclic & ~dense])
    for part in split(graph, member, scale, pack(np.where(cyclic & dense, sizes, 0))):
        r[part.edges] = _bounded(part, _exact(part))
    for part in split(graph, member, scale, np.where(cyclic & ~dense, 0, -1)):
        r[part.edges] = _bounded(part, _sketch(part, n_probes, np.random.default_rng(rng)))
    return r, w, edge_scale


def _check_memory(graph: Graph, exact: NDArray[Any], sketched: NDArray[Any]) -> None:
    """Refuse components, of these sizes in nodes, that there is not the memory for."""
    most = int(exact.max(initial=0))
    what = f"computing the exact effective resistances of a component of {most} nodes"
    # Four matrices while they are made, and differences of rows beside the last of them.
    rows = 24.0 * min(_ROW_ENTRIES, graph.n_edges * most)
    require(8.0 * most**2 + max(24.0 * most**2, rows), what, 'take method="sketch"')
    if sketched.size:
        per_edge, per_node = _SKETCH_BYTES
        what = f"sketching the effective resistances of {graph.n_edges} edges"
        require(per_edge * graph.n_edges + per_node * int(sketched.sum()), what, "score the edges by something else")


def _bounded(part: Part, r: FloatArray) -> FloatArray:
    """Estimates held between the two bounds that the ends' strengths give.

    R ≤ 1/μ by the edge alone, and joining all other nodes into one leaves the edge beside two resistors
    in a row.
    """
    s = part.strengths()
    with np.errstate(divide="ignore"):
        beside = 1 / (1 / np.maximum(s[part.u] - part.w, 0) + 1 / np.maximum(s[part.v] - part.w, 0))
    return np.clip(r, 1 / (part.w + beside), 1 / part.w)


def _exact(part: Part) -> FloatArray:
    n, m = part.nodes.size, part.w.size
    if spread(part) > _FACTOR_RANGE and m * float(n) ** 2 <= _MERGE_WORK:
        return _by_merging(part)
    r = _by_factorisation(part)
    if abs((r * part.w).sum() - part.unearthed().size) > 1e-6 * n:
        raise too_wide(part)
    return r


def _by_factorisation(part: Part) -> FloatArray:
    """R = ‖Z_u − Z_v‖², which unlike Σ_uu + Σ_vv − 2 Σ_uv keeps its digits inside a loosely attached cluster."""
    z = inverse_factor(part)
    if part.u.size < part.nodes.size**2 / 16:
        return _squared_distances(z.T, part.u, part.v)
    with single_thread():
        gram = z.T @ z
    sums = gram.diagonal()[part.u] + gram.diagonal()[part.v]
    r = sums - 2 * gram[part.u, part.v]
    poor = part.nodes.size * np.finfo(float).eps * sums > 1e-10 * r
    r[poor] = _squared_distances(z.T, part.u[poor], part.v[poor])
    return r


def _squared_distances(rows: FloatArray, u: IntArray, v: IntArray) -> FloatArray:
    result = np.empty(u.size)
    step = max(1, _ROW_ENTRIES // max(1, rows.shape[1]))
    for a in range(0, u.size, step):
        difference = rows[u[a : a + step]] - rows[v[a : a + step]]
        result[a : a + step] = np.einsum("ij,ij->i", difference, difference)
    return result


def _by_merging(part: Part) -> FloatArray:
    """Add the edges from the strongest to the weakest to the matrix of resistances between all nodes.

    O(M N²), and right to rounding whatever the weights: joining two components only adds positive numbers,
    and a later, weaker resistor between a and b lowers R_xy by s²/(1/μ + R_ab), where s, the voltage that it
    sees, is at most R_xy.
    """
    n = part.nodes.size
    r = np.zeros((n, n))
    cluster = np.arange(n)
    for m in np.argsort(-part.w, kind="stable"):
        a, b, own = part.u[m], part.v[m], 1 / part.w[m]
        one = np.flatnonzero(cluster == cluster[a])
        if cluster[a] != cluster[b]:
            two = np.flatnonzero(cluster == cluster[b])
            joined = r[one, a][:, None] + own + r[two, b]
            r[np.ix_(one, two)], r[np.ix_(two, one)] = joined, joined.T
            cluster[two] = cluster[a]
        elif r[a, b] > 1e-18 * own:
            inside = r[np.ix_(one, one)]
            voltage = (r[one, b] - r[one, a]) / 2
            s = np.minimum(np.abs(voltage[:, None] - voltage), inside) / np.sqrt(own + r[a, b])
            r[np.ix_(one, one)] = inside - s * s
    return r[part.u, part.v]


def _sketch(part: Part, n_probes: int, rng: np.random.Generator) -> FloatArray:
    """Random projection: R = E[(z_u − z_v)²] for z = L⁺ Bᵀ q, q of random signs and B the weighted incidence.

    The same with D⁻¹ in place of L⁺ has the known mean 1/d_u + 1/d_v + 2μ/(d_u d_v), and serves as control
    variate: where L⁺ is close to D⁻¹, as on expanders, most of the noise goes.
    """
    m, d, system = part.w.size, part.strengths(), System(part)
    probe = (_Probe if m < LARGE else _CompiledProbe)(part)
    total, control = np.zeros(m), np.zeros(m)
    sums = np.zeros(2)
    for start in range(0, n_probes, _PROBE_BLOCK):
        signs = rng.integers(0, 256, m, np.uint8)
        y = probe.project(signs, min(_PROBE_BLOCK, n_probes - start))
        sums += probe.add(system.solve(y, 1e-5), y / d[:, None], total, control)
    covariance = sums[0] - float(np.einsum("i,i->", total, control)) / n_probes
    variance = sums[1] - float(np.einsum("i,i->", control, control)) / n_probes
    slope = covariance / variance if variance > 0 else 0.0
    du, dv = d[part.u], d[part.v]
    known = part.w * (1 / du + 1 / dv + 2 * part.w / (du * dv))
    return (total / n_probes - slope * (control / n_probes - known)) / part.w


class _Probe:
    """The incidence matrix at work, in whole-array operations."""

    def __init__(self, part: Part) -> None:
        m, n, root = part.w.size, part.nodes.size, np.sqrt(part.w)
        ends = np.concatenate([part.u, part.v])
        places = ends, np.tile(np.arange(m), 2)
        self.incidence = sp.csr_array((np.concatenate([root, -root]), places), shape=(n, m))

    def project(self, signs: NDArray[np.uint8], k: int) -> FloatArray:
        """B q, shape (n, k), q from the k lowest bits of `signs`."""
        bits = np.unpackbits(signs[:, None], axis=1, count=k, bitorder="little")
        return cast("FloatArray", self.incidence @ (bits * 2.0 - 1.0))

    def add(self, x: FloatArray, y: FloatArray, total: FloatArray, control: FloatArray) -> tuple[float, float]:
        """Add squared differences over each edge, of x to `total` and of y to `control`; their inner products."""
        a, b = (self.incidence.T @ x) ** 2, (self.incidence.T @ y) ** 2
        total += a.sum(axis=1)
        control += b.sum(axis=1)
        return float(np.einsum("ij,ij->", a, b)), float(np.einsum("ij,ij->", b, b))


class _CompiledProbe:
    """The same without a matrix, by compiled loops; columns beyond the k-th are zero."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.weight, self.stride = with_stride(part.w)

    def project(self, signs: NDArray[np.uint8], k: int) -> FloatArray:
        from graphpri.laplacian_loops import WIDTH, add_signed

        y = np.zeros((self.part.nodes.size, WIDTH))
        add_signed(self.part.u, self.part.v, np.sqrt(self.weight), self.stride, signs, y)
        y[:, k:] = 0
        return y

    def add(self, x: FloatArray, y: FloatArray, total: FloatArray, control: FloatArray) -> FloatArray:
        from graphpri.laplacian_loops import add_squares

        u, v = self.part.u, self.part.v

        def task(a: int, b: int) -> tuple[float, float]:
            return add_squares(a, b, u, v, self.weight, self.stride, x, y, total, control)

        return np.sum(in_chunks(task, u.size), axis=0)
