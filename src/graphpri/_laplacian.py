"""Laplacian systems and effective resistances: components as graphs of their own, dense factors, and any size.

The effective resistance R_m of an edge is the voltage between its ends when a unit current enters at one
and leaves at the other, each edge being a resistor of conductance μ. Its leverage μ_m R_m ∈ (0, 1] is the
probability that a random spanning forest, drawn in proportion to the product of its weights, contains the
edge; Σ_m μ_m R_m = N − (number of components).

Compiled loops, of large graphs only, take several vectors at once, as the columns of arrays of shape (n, k), so that
what an edge reads of a node lies together. Weights come with a stride, 0 where one number stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from numbers import Integral
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, splu

from graphpri._runtime import LARGE_GRAPH, compiled, in_chunks, require, single_thread
from graphpri.errors import GraphError, OptionError, argument, setting
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray, group, id_dtype

WIDTH = 8
"""Columns of the loops over edges: a number that the compiler knows is worth a factor of two."""


@compiled
def multiply_rows(
    first: int, last: int, start: NDArray[np.int64], head: IntArray, weight: FloatArray, stride: int, d: FloatArray,
    x: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Rows first…last of L x, the arcs of node i being those at ``start[i]:start[i + 1]`` and d its strength."""
    k = x.shape[1]
    for i in range(first, last):
        for j in range(k):
            out[i, j] = d[i, 0] * x[i, j]
        for a in range(start[i], start[i + 1]):
            w, h = weight[a * stride], head[a]
            for j in range(k):
                out[i, j] -= w * x[h, j]


@compiled
def add_signed(
    u: IntArray, v: IntArray, root: FloatArray, stride: int, signs: NDArray[np.uint8], out: FloatArray
) -> None:
    """Add √μ_m (e_u − e_v), with the sign of bit j of ``signs[m]`` (set: plus), to each column j of `out`."""
    for m in range(u.size):
        r, one, two, bits = root[m * stride], u[m], v[m], signs[m]
        for j in range(WIDTH):
            x = r * (2.0 * ((bits >> j) & 1) - 1.0)
            out[one, j] += x
            out[two, j] -= x


@compiled
def add_squares(
    first: int, last: int, u: IntArray, v: IntArray, weight: FloatArray, stride: int, x: FloatArray, y: FloatArray,
    total: FloatArray, control: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Add Σ_j μ (x_u − x_v)² to `total` and the same of y to `control`; sums of products a·b and b·b of the terms."""
    both = square = 0.0
    for m in range(first, last):
        w, one, two = weight[m * stride], u[m], v[m]
        all_a = all_b = 0.0
        for j in range(WIDTH):
            a, b = x[one, j] - x[two, j], y[one, j] - y[two, j]
            a, b = w * a * a, w * b * b
            all_a += a
            all_b += b
            both += a * b
            square += b * b
        total[m] += all_a
        control[m] += all_b
    return both, square


ROWS = 1 << 14
"""Rows that a thread takes at a time; sized for the cache."""

_BLOCK_NODES = 512  # small components are solved together in dense blocks of about this many nodes
_CG_STEPS = 400  # for sparse graphs; ten times as many where a factorisation would fill in
_CG_PACE = 50  # steps after which the pace is judged
_PATIENCE = 12  # steps for a digit after which an approximate factor is made, where one is to be had
_CHOLESKY_STEPS = 400  # with the approximate factor tens are enough
_CHOLESKY_NODES = 20_000  # nodes from which an approximate factorisation beats the direct one, but for meshes:
_PLANAR, _MESH_NODES = 2.2, 2_000_000  # of so few edges a node, the direct one is ahead up to so many nodes
_CHOLESKY_RANGE = 1e6  # weights further apart need a factorisation without cancellation


class Subgraph(NamedTuple):
    """Some components as a graph of their own: nodes numbered from 0, weights centred on 1."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]
    member: NDArray[np.int64]
    u: IntArray
    v: IntArray
    w: FloatArray

    def strengths(self) -> FloatArray:
        n = self.nodes.size
        return cast(FloatArray, np.bincount(self.u, self.w, n) + np.bincount(self.v, self.w, n))

    def laplacian(self) -> sp.csr_array:
        n = self.nodes.size
        rows, columns = np.concatenate([self.u, self.v]), np.concatenate([self.v, self.u])
        a = sp.csr_array((np.concatenate([self.w, self.w]), (rows, columns)), shape=(n, n))
        return sp.csr_array(sp.diags_array(self.strengths()) - a)

    def ungrounded(self) -> NDArray[np.int64]:
        """All nodes but the strongest of each component, which is held at voltage 0."""
        order = np.lexsort((-self.strengths(), self.member))
        first = np.ones(order.size, bool)
        first[1:] = np.diff(self.member[order]) != 0
        return np.sort(order[~first])


def component_scales(graph: Graph, count: int, member: NDArray[Any]) -> FloatArray:
    """Geometric middle of each component's smallest and largest weight, shape (components,)."""
    low, high = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(low, member[graph.source], graph.weights)
    np.maximum.at(high, member[graph.source], graph.weights)
    low[high == 0] = high[high == 0] = 1.0
    return np.sqrt(low) * np.sqrt(high)


def pack(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Block for each component of at least two nodes (−1 for others): small ones share, large ones stand alone."""
    order = np.argsort(sizes, kind="stable")
    filled = np.cumsum(np.minimum(sizes[order], _BLOCK_NODES)) // _BLOCK_NODES
    block = np.empty(sizes.size, np.int64)
    block[order] = np.where(sizes[order] < 2, -1, filled)
    return block


def split(graph: Graph, member: NDArray[Any], scale: FloatArray, block: NDArray[np.int64]) -> Iterator[Subgraph]:
    """The blocks of components as graphs of their own, weights divided by the scale of the component."""
    node_block = block[member]
    edge_block = node_block[graph.source]
    nodes, edges = np.argsort(node_block, kind="stable"), np.argsort(edge_block, kind="stable")
    names = np.unique(edge_block[edge_block >= 0])
    node_ends = np.searchsorted(node_block[nodes], [names, names + 1]).T
    edge_ends = np.searchsorted(edge_block[edges], [names, names + 1]).T
    local = np.empty(graph.n_nodes, id_dtype(graph.n_nodes))
    for (a, b), (c, d) in zip(node_ends, edge_ends, strict=True):
        i, m = nodes[a:b], edges[c:d]
        local[i] = np.arange(i.size)
        u, v = graph.source[m], graph.target[m]
        yield Subgraph(i, m, member[i].astype(np.int64), local[u], local[v], graph.weights[m] / scale[member[u]])


def spread(part: Subgraph) -> float:
    """Largest over smallest weight, infinite where that overflows."""
    with np.errstate(over="ignore"):
        return float(part.w.max() / part.w.min())


def too_wide(part: Subgraph) -> GraphError:
    return GraphError(
        f"the weights of a component of {part.nodes.size} nodes lie a factor {spread(part):.0e} apart, too far to "
        "solve it in double precision: leave its weakest edges out, or use ranks or logarithms as weights"
    )


def inverse_factor(part: Subgraph) -> FloatArray:
    """Z with Zᵀ Z = the inverse of the Laplacian without its grounded nodes, whose columns in Z are zero."""
    keep = part.ungrounded()
    dense = np.asfortranarray(part.laplacian().toarray())
    factor = np.zeros((keep.size, part.nodes.size), order="F")
    with single_thread(), np.errstate(all="ignore"):
        lower = _cholesky if spread(part) <= _CHOLESKY_RANGE else _cholesky_of_conductances
        inverse, failed = cast(Any, lapack).dtrtri(lower(dense, keep), lower=1, overwrite_c=1)
    if failed or not np.isfinite(inverse).all():
        raise too_wide(part)
    factor[:, keep] = inverse
    return factor


def _cholesky(dense: FloatArray, keep: NDArray[np.int64]) -> FloatArray:
    """Lower Cholesky factor of the rows and columns `keep`."""
    return cast(Any, lapack).dpotrf(np.asfortranarray(dense[np.ix_(keep, keep)]), lower=1, clean=1, overwrite_a=1)[0]


def _cholesky_of_conductances(dense: FloatArray, keep: NDArray[np.int64]) -> FloatArray:
    """The same, node by node as star-mesh transforms: sums of positive numbers only, so that no digits cancel.

    W. K. Grassmann, M. I. Taksar, D. P. Heyman. Regenerative analysis and steady state distributions for
    Markov chains. Operations Research 33(5), 1985.
    """
    a = -dense[np.ix_(keep, keep)]
    grounded = np.ones(dense.shape[0], bool)
    grounded[keep] = False
    to_ground = -dense[np.ix_(keep, grounded)].sum(axis=1)
    lower = np.zeros_like(a, order="F")
    for i in range(keep.size):
        links = a[i, i + 1 :].copy()
        total = links.sum() + to_ground[i]
        lower[i, i] = np.sqrt(total)
        lower[i + 1 :, i] = -links / np.sqrt(total)
        a[i + 1 :, i + 1 :] += np.outer(links / total, links)
        to_ground[i + 1 :] += links / total * to_ground[i]
    return lower


class System:
    """L x = b on one part, for many b: conjugate gradients while they converge, then with a better preconditioner.

    Expanders, whose factors fill in, need tens of steps with the diagonal; meshes need hundreds. For these a
    sparse factorisation solves directly, which planar ones, of about 2 edges a node, fill little. On large others an
    approximate Cholesky factorisation, where it is installed (the extra ``cholesky``), serves as preconditioner
    instead: on a cube of 64 000 nodes it is made 90 times faster, and solves in half the time.
    """

    def __init__(self, part: Subgraph) -> None:
        self.part = part
        self.d = part.strengths()[:, None]
        self.steps = _CG_STEPS if part.w.size <= 4 * part.nodes.size else 10 * _CG_STEPS
        self._laplacian: sp.csr_array | None = None
        self._arcs = _arcs(part) if part.w.size >= LARGE_GRAPH else None
        self._lu: Any = None
        self._cholesky: Any = None

    @property
    def laplacian(self) -> sp.csr_array:
        """The matrix, made when something needs it."""
        if self._laplacian is None:
            self._laplacian = self.part.laplacian()
        return self._laplacian

    def multiply(self, x: FloatArray) -> FloatArray:
        """L x, for x of shape (n, k)."""
        if self._arcs is None:
            return cast(FloatArray, self.laplacian @ x)

        out = np.empty_like(x)
        start, head, weight, stride = self._arcs

        def task(a: int, b: int) -> None:
            multiply_rows(a, b, start, head, weight, stride, self.d, x, out)

        in_chunks(task, x.shape[0], ROWS)
        return out

    def solve(self, b: FloatArray, tol: float) -> FloatArray:
        """Solution up to a constant on each component, shape of b (n, k)."""
        if self._lu is None and self._cholesky is None:
            steps = min(self.steps, round(-_PATIENCE * np.log10(tol))) if self._approximable() else self.steps
            x, slow = _conjugate_gradients(self.multiply, self._scaled, b, tol, steps)
            if not slow.any():
                return x
            self._cholesky = self._approximated() if self._approximable() else None
        if self._cholesky is not None:
            x, slow = _conjugate_gradients(self.multiply, self._by_cholesky, b, tol, _CHOLESKY_STEPS)
            if not slow.any():
                return x
        return self._directly(b, tol)

    def _directly(self, b: FloatArray, tol: float) -> FloatArray:
        if self._lu is None:
            self._lu = self._factorised()
        keep = self.part.ungrounded()
        x = np.zeros_like(b)
        x[keep] = self._lu.solve(b[keep])
        residual = self.multiply(x) - b
        if ((residual**2 / self.d).sum(axis=0) > max(tol, 1e-8) ** 2 * (b**2 / self.d).sum(axis=0)).any():
            raise too_wide(self.part)
        return x

    def _scaled(self, r: FloatArray) -> FloatArray:
        """D⁻¹ r."""
        z = np.empty_like(r)
        in_chunks(lambda a, b: np.divide(r[a:b], self.d[a:b], out=z[a:b]), r.shape[0], ROWS)
        return z

    def _by_cholesky(self, r: FloatArray) -> FloatArray:
        """Approximate solution, column by column."""
        columns = np.ascontiguousarray(r.T)
        return np.stack([self._cholesky.matvec(column) for column in columns], axis=1)

    def _approximable(self) -> bool:
        """Whether an approximate Cholesky factor is to be had and pays."""
        n, m = self.part.nodes.size, self.part.w.size
        mesh = m <= _PLANAR * n and n < _MESH_NODES
        return n >= _CHOLESKY_NODES and not mesh and 2 * m + n < 2**32 and find_spec("approx_chol") is not None

    def _approximated(self) -> Any:
        """Approximate Cholesky factor, from the library's fixed seed; None for weights that it can't take."""
        import approx_chol

        a = self.laplacian
        compact = sp.csr_array((a.data, a.indices.astype(np.uint32), a.indptr.astype(np.uint32)), shape=a.shape)
        try:
            return cast("Any", approx_chol).factorize(compact)
        except ValueError:
            return None

    def _factorised(self) -> Any:
        keep = self.part.ungrounded()
        reduced = sp.csc_array(self.laplacian[keep][:, keep])
        options = {"SymmetricMode": True}
        try:
            return splu(reduced, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:  # exactly singular, as far as double precision can tell
            raise too_wide(self.part) from error


def _arcs(part: Subgraph) -> tuple[NDArray[np.int64], NDArray[Any], FloatArray, int]:
    """Neighbours of each node one after the other: where they start, which they are, and their weights with stride."""
    n, m = part.nodes.size, part.w.size
    ids = id_dtype(max(n, 2 * m))
    start, arc = group(np.concatenate([part.u, part.v]), np.arange(2 * m, dtype=ids), n)
    head = np.concatenate([part.v, part.u])[arc]
    weight, stride = with_stride(part.w)
    return start, head, weight[arc % m] if stride else weight, stride


def with_stride(w: FloatArray) -> tuple[FloatArray, int]:
    """The weights, or where all are equal one of them: with the step from one to the next."""
    return (w[:1], 0) if (w == w[0]).all() else (w, 1)


def _conjugate_gradients(
    multiply: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    tol: float,
    steps: int,
) -> tuple[FloatArray, BoolArray]:
    """Preconditioned conjugate gradients on all columns; second, those that need more steps.

    Gives up before `steps` where twice as many would not do at the pace so far: on meshes it only falls.
    """
    n, (x, r) = b.shape[0], (np.zeros_like(b), b.copy())
    p = precondition(r)
    rho = _dots(r, p)
    goal = tol**2 * rho
    first = np.maximum(rho, np.finfo(float).tiny)
    for done in range(steps):
        active = rho > goal
        if not active.any():
            break
        if done and done % _CG_PACE == 0 and (np.log(rho / first)[active] * (steps / done) > np.log(tol)).any():
            break
        q = multiply(p)
        step = np.divide(rho, _dots(p, q), out=np.zeros_like(rho), where=active)
        in_chunks(lambda a, b, step=step, p=p, q=q: _advance(x[a:b], r[a:b], step, p[a:b], q[a:b]), n, ROWS)
        z = precondition(r)
        last, rho = rho, _dots(r, z)
        turn = np.divide(rho, last, out=np.zeros_like(rho), where=active)
        in_chunks(lambda a, b, turn=turn, p=p, z=z: _turn(p[a:b], turn, z[a:b]), n, ROWS)
    return x, rho > goal


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    """Products of the columns of a and b."""
    return np.sum(in_chunks(lambda i, j: (a[i:j] * b[i:j]).sum(axis=0), a.shape[0], ROWS), axis=0)


def _advance(x: FloatArray, r: FloatArray, step: FloatArray, p: FloatArray, q: FloatArray) -> None:
    x += step * p
    r -= step * q


def _turn(p: FloatArray, turn: FloatArray, z: FloatArray) -> None:
    p *= turn
    p += z


DENSE = 600
"""Largest component, in nodes, whose eigenvalues are all computed."""


def large_parts(graph: Graph, member: NDArray[Any], count: int) -> Iterator[tuple[Subgraph, float]]:
    """Components of more than `DENSE` nodes as graphs of their own, and what their weights were divided by."""
    large = np.bincount(member, minlength=count) > DENSE
    if large.any():
        scale = component_scales(graph, count, member)
        for part in split(graph, member, scale, np.where(large, np.cumsum(large), -1)):
            yield part, float(scale[part.member[0]])


def pseudo_inverse(part: Subgraph, tolerance: float) -> Any:
    """L⁺ of a connected part as a linear operator, shape (n, n)."""
    system, n = System(part), part.nodes.size

    def solve(b: FloatArray) -> FloatArray:
        b = b.reshape(n, 1)
        x = system.solve(b - b.mean(), tolerance)[:, 0]
        return x - x.mean()

    return _operator(n, solve)


def grounded_inverse(part: Subgraph, tolerance: float) -> Any:
    """Inverse of L without its first node, which is held at zero, as a linear operator, shape (n − 1, n − 1)."""
    system, n = System(part), part.nodes.size

    def solve(b: FloatArray) -> FloatArray:
        x = system.solve(np.concatenate([[-b.sum()], b.ravel()])[:, None], tolerance)[:, 0]
        return x[1:] - x[0]

    return _operator(n - 1, solve)


def _operator(n: int, apply: Callable[[FloatArray], FloatArray]) -> Any:
    return cast("Any", LinearOperator)((n, n), matvec=apply, dtype=np.float64)


Resistance = Literal["auto", "exact", "sketch"]

DENSE_NODES = 3000
"""Largest component, in nodes, that ``resistance="auto"`` solves exactly."""
_PROBE_BLOCK = 8  # probes solved at a time, the signs of an edge in a byte
_FACTOR_RANGE = 1e15  # weights further apart are more than any factorisation in double precision stands
_SKETCH_BYTES = 150, 400  # an edge and a node; measured on unweighted graphs: 120 and 380
_ROW_ENTRIES = 2**22  # of the matrix, that distances of rows are taken of at a time
_MERGE_WORK = 2e9  # largest M·N² for the algorithm that stands any weights


def leverages(
    graph: Graph,
    *,
    resistance: Resistance = "auto",
    n_probes: int = 64,
    rng: np.random.Generator | int | None = None,
) -> FloatArray:
    """Weight times effective resistance of each edge, μ_m R_m ∈ (0, 1].

    Parameters
    ----------
    graph : Graph
        Any graph; components are solved on their own. Weights are conductances.
    resistance : {"auto", "exact", "sketch"}
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
        They add up to N minus the number of components; a sketch's to within about a percent.

    Raises
    ------
    OptionError
        For an unknown way and for fewer than two probes.
    GraphError
        For a large graph whose weights lie too far apart for double precision (small ones always work).
    MemoryLimitError
        For a graph that there is not the memory for.

    References
    ----------
    D. A. Spielman, N. Srivastava. Graph sparsification by effective resistances.
    SIAM Journal on Computing 40(6), 2011.

    Examples
    --------
    Two unit resistors in a row, beside a third, give 2/3.

    >>> leverages(Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3])).round(4)
    array([0.6667, 0.6667, 0.6667, 1.    ])
    """
    if resistance not in get_args(Resistance):
        raise OptionError(f"{argument('resistance', resistance)}: choose from 'auto', 'exact', 'sketch'")
    if not isinstance(n_probes, Integral) or n_probes < 2:
        raise OptionError(f"{argument('n_probes', n_probes)}: a sketch needs a whole number of probes, 2 or more")
    count, member = graph.components()
    scale = component_scales(graph, count, member)
    w = graph.weights / scale[member[graph.source]]
    r = 1 / w  # right for bridges, and so for components that are trees
    sizes = np.bincount(member, minlength=count)
    cyclic = np.bincount(member[graph.source], minlength=count) >= sizes
    dense = sizes <= {"auto": DENSE_NODES, "exact": graph.n_nodes, "sketch": 0}[resistance]
    _check_memory(graph, sizes[cyclic & dense], sizes[cyclic & ~dense])
    for part in split(graph, member, scale, pack(np.where(cyclic & dense, sizes, 0))):
        r[part.edges] = _bounded(part, _exact(part))
    for part in split(graph, member, scale, np.where(cyclic & ~dense, 0, -1)):
        r[part.edges] = _bounded(part, _sketch(part, n_probes, np.random.default_rng(rng)))
    return np.minimum(r * w, 1.0)


def _check_memory(graph: Graph, exact: NDArray[Any], sketched: NDArray[Any]) -> None:
    """Refuse components, of these sizes in nodes, that there is not the memory for."""
    most = int(exact.max(initial=0))
    what = f"computing the exact effective resistances of a component of {most} nodes"
    # Four matrices while they are made, and differences of rows beside the last of them.
    rows = 24.0 * min(_ROW_ENTRIES, graph.n_edges * most)
    require(8.0 * most**2 + max(24.0 * most**2, rows), what, f"take {setting('resistance', 'sketch')}")
    if sketched.size:
        per_edge, per_node = _SKETCH_BYTES
        what = f"sketching the effective resistances of {graph.n_edges} edges"
        require(per_edge * graph.n_edges + per_node * int(sketched.sum()), what, "score the edges by something else")


def _bounded(part: Subgraph, r: FloatArray) -> FloatArray:
    """Estimates held between the two bounds that the ends' strengths give.

    R ≤ 1/μ by the edge alone, and joining all other nodes into one leaves the edge beside two resistors
    in a row.
    """
    s = part.strengths()
    with np.errstate(divide="ignore"):
        beside = 1 / (1 / np.maximum(s[part.u] - part.w, 0) + 1 / np.maximum(s[part.v] - part.w, 0))
    return np.clip(r, 1 / (part.w + beside), 1 / part.w)


def _exact(part: Subgraph) -> FloatArray:
    n, m = part.nodes.size, part.w.size
    if spread(part) > _FACTOR_RANGE and m * float(n) ** 2 <= _MERGE_WORK:
        return _by_merging(part)
    r = _by_factorisation(part)
    if abs((r * part.w).sum() - part.ungrounded().size) > 1e-6 * n:
        raise too_wide(part)
    return r


def _by_factorisation(part: Subgraph) -> FloatArray:
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


def _by_merging(part: Subgraph) -> FloatArray:
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


def _sketch(part: Subgraph, n_probes: int, rng: np.random.Generator) -> FloatArray:
    """Random projection: R = E[(z_u − z_v)²] for z = L⁺ Bᵀ q, q of random signs and B the weighted incidence.

    The same with D⁻¹ in place of L⁺ has the known mean 1/d_u + 1/d_v + 2μ/(d_u d_v), and serves as control
    variate: where L⁺ is close to D⁻¹, as on expanders, most of the noise goes.
    """
    m, d, system = part.w.size, part.strengths(), System(part)
    probe = (_Probe if m < LARGE_GRAPH else _CompiledProbe)(part)
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

    def __init__(self, part: Subgraph) -> None:
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

    def __init__(self, part: Subgraph) -> None:
        self.part = part
        self.weight, self.stride = with_stride(part.w)

    def project(self, signs: NDArray[np.uint8], k: int) -> FloatArray:

        y = np.zeros((self.part.nodes.size, WIDTH))
        add_signed(self.part.u, self.part.v, np.sqrt(self.weight), self.stride, signs, y)
        y[:, k:] = 0
        return y

    def add(self, x: FloatArray, y: FloatArray, total: FloatArray, control: FloatArray) -> FloatArray:

        u, v = self.part.u, self.part.v

        def task(a: int, b: int) -> tuple[float, float]:
            return add_squares(a, b, u, v, self.weight, self.stride, x, y, total, control)

        return np.sum(in_chunks(task, u.size), axis=0)
