"""Laplacian systems: components as graphs of their own, dense factors, and solutions at any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from graphpri.errors import GraphError, OptionError
from graphpri.graph import BoolArray, FloatArray, Graph, IntArray, id_dtype
from graphpri.memory import require
from graphpri.threads import LARGE, in_chunks, single_thread

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


def laplacian_pinv(graph: Graph) -> FloatArray:
    """Moore–Penrose pseudo-inverse of the Laplacian, dense, shape (N, N).

    O(N³) time per component.

    Raises
    ------
    GraphError
        For weights too far apart for double precision.
    MemoryLimitError
        Where it doesn't fit into memory: about 5 N² numbers of 8 bytes.

    Examples
    --------
    >>> laplacian_pinv(Graph.from_edges([0], [1], [2.0]))
    array([[ 0.125, -0.125],
           [-0.125,  0.125]])
    """
    count, member = graph.components()
    most = int(np.bincount(member, minlength=1).max())
    what = f"the dense pseudo-inverse of the Laplacian of {graph.n_nodes} nodes"
    require(8.0 * (graph.n_nodes**2 + 4 * most**2), what, "solve systems with laplacian_solve")
    result = np.zeros((graph.n_nodes, graph.n_nodes))
    scale = component_scales(graph, count, member)
    for part in split(graph, member, scale, pack(np.bincount(member, minlength=count))):
        same = part.member[:, None] == part.member
        with single_thread():
            factor = inverse_factor(part) @ (np.eye(part.nodes.size) - same / same.sum(axis=0))
            result[np.ix_(part.nodes, part.nodes)] = factor.T @ (factor / scale[part.member])
    return result


def laplacian_solve(graph: Graph, rhs: FloatArray, *, tol: float = 1e-10) -> FloatArray:
    """Solution x = L⁺ b of the Laplacian system, for graphs of any size.

    Conjugate gradients; where they converge slowly (meshes) with an approximate Cholesky factor as preconditioner, if
    the extra ``cholesky`` is installed and the component is large, or else a sparse factorisation.

    Parameters
    ----------
    graph : Graph
    rhs : ndarray of float64, shape (N,) or (N, k)
        Right-hand sides b. Their mean over each component lies outside the range of L and is ignored.
    tol : float
        Size of the residual, relative to that of b, both in the norm of D⁻¹.

    Returns
    -------
    ndarray of float64, shape of `rhs`
        The solution whose mean over each component is zero.

    Raises
    ------
    OptionError
        Where `rhs` does not have a row per node.
    GraphError
        For weights too far apart for double precision.
    """
    count, member = graph.components()
    b = np.asarray(rhs, float)
    if b.ndim not in (1, 2) or b.shape[0] != graph.n_nodes:
        raise OptionError(f"rhs of shape {b.shape} does not have one row for each of the {graph.n_nodes} nodes")
    columns = b[:, None] if b.ndim == 1 else b
    scale = component_scales(graph, count, member)
    x = np.zeros_like(columns)
    centred = _centred(columns, member, count) / scale[member, None]
    joined = np.bincount(member, minlength=count) > 1
    for part in split(graph, member, scale, np.where(joined, 0, -1)):
        x[part.nodes] = System(part).solve(centred[part.nodes], tol)
    return _centred(x, member, count).reshape(b.shape)


def _centred(x: FloatArray, member: NDArray[Any], count: int) -> FloatArray:
    """Columns of x less their means over each component."""
    sizes = np.bincount(member, minlength=count)
    indicator = sp.csr_array((np.ones(member.size), (member, np.arange(member.size))), shape=(count, member.size))
    sums = cast(FloatArray, indicator @ x)
    return x - (sums / sizes[:, None])[member]


class Part(NamedTuple):
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

    def unearthed(self) -> NDArray[np.int64]:
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


def split(graph: Graph, member: NDArray[Any], scale: FloatArray, block: NDArray[np.int64]) -> Iterator[Part]:
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
        yield Part(i, m, member[i].astype(np.int64), local[u], local[v], graph.weights[m] / scale[member[u]])


def spread(part: Part) -> float:
    """Largest over smallest weight, infinite where that overflows."""
    with np.errstate(over="ignore"):
        return float(part.w.max() / part.w.min())


def too_wide(part: Part) -> GraphError:
    return GraphError(
        f"the weights of a component of {part.nodes.size} nodes lie a factor {spread(part):.0e} apart, too far to "
        "solve it in double precision: leave its weakest edges out, or use ranks or logarithms as weights"
    )


def inverse_factor(part: Part) -> FloatArray:
    """Z with Zᵀ Z = the inverse of the Laplacian without its earthed nodes, whose columns in Z are zero."""
    keep = part.unearthed()
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
    earthed = np.ones(dense.shape[0], bool)
    earthed[keep] = False
    to_earth = -dense[np.ix_(keep, earthed)].sum(axis=1)
    lower = np.zeros_like(a, order="F")
    for i in range(keep.size):
        links = a[i, i + 1 :].copy()
        total = links.sum() + to_earth[i]
        lower[i, i] = np.sqrt(total)
        lower[i + 1 :, i] = -links / np.sqrt(total)
        a[i + 1 :, i + 1 :] += np.outer(links / total, links)
        to_earth[i + 1 :] += links / total * to_earth[i]
    return lower


class System:
    """L x = b on one part, for many b: conjugate gradients while they converge, then with a better preconditioner.

    Expanders, whose factors fill in, need tens of steps with the diagonal; meshes need hundreds. For these a
    sparse factorisation solves directly, which planar ones, of about 2 edges a node, fill little. On large others an
    approximate Cholesky factorisation, where it is installed (the extra ``cholesky``), serves as preconditioner
    instead: on a cube of 64 000 nodes it is made 90 times faster, and solves in half the time.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        self.d = part.strengths()[:, None]
        self.steps = _CG_STEPS if part.w.size <= 4 * part.nodes.size else 10 * _CG_STEPS
        self._laplacian: sp.csr_array | None = None
        self._arcs = _arcs(part) if part.w.size >= LARGE else None
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
        from graphpri.laplacian_loops import multiply_rows

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
        keep = self.part.unearthed()
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
        keep = self.part.unearthed()
        reduced = sp.csc_array(self.laplacian[keep][:, keep])
        options = {"SymmetricMode": True}
        try:
            return splu(reduced, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:  # exactly singular, as far as double precision can tell
            raise too_wide(self.part) from error


def _arcs(part: Part) -> tuple[NDArray[np.int64], NDArray[Any], FloatArray, int]:
    """Neighbours of each node one after the other: where they start, which they are, and their weights with stride."""
    from graphpri.grouping_loops import group

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
