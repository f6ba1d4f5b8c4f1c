"""Exact changes of the von Neumann entropy for flips and swaps of edges, from resolvents.

For F(A) = −tr A ln A, an edge vector b and its resolvent term g(s) = bᵀ(A + s)⁻¹b, the matrix determinant
lemma and ln x = ∫₀^∞ (1/(1+s) − 1/(x+s)) ds give

    F(A ± bbᵀ) − F(A) = ∫₀^∞ [±ln-part] ds,   with ln(1 ± g(s)) against the scalar problem A = c, c = bᵀAb/bᵀb,

so that a handful of nodes s replaces one eigenproblem per edge. A swap of e for f has the 2×2 determinant
(1 − g_e)(1 + g_f) + g_ef², g_ef = b_eᵀ(A + s)⁻¹b_f. Both hold where a flip opens or closes a bridge, where
Taylor expansions of the eigenvalues fail. A flip updates the resolvents by Sherman–Morrison, O(N²) a node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpri.entropy import log_mean_inverse, xlogx
from graphpri.graph import FloatArray
from graphpri.memory import require
from graphpri.objective import Objective
from graphpri.solvers.landscape import Edges, Landscape

STEP = 1.6
LOWEST = 1e-4
HIGHEST = 10.0
SMALLEST_BLOCK = 48
MOST_BLOCKS = 64
TINY = 1e-12
CHUNK = 200_000
"""Entries of the eigenvectors' differences that are worked on at a time."""


def quadrature(lowest: float = LOWEST, highest: float = HIGHEST, step: float = STEP) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of ∫₀^∞ r(s) ds for the integrands of this module, for a spectrum up to 1.

    The trapezoid rule in ln s; the tail below the first node is summed for r linear in ln s (an edge that
    opens or closes a bridge), the tail above the last one for r ~ s⁻³.
    """
    s = np.exp(np.arange(np.log(lowest), np.log(highest) + step, step))
    weights = step * s
    decay = np.exp(-step)
    below = step * s[0] * decay / (1 - decay)
    weights[0] += below * (1 + 1 / (1 - decay))
    weights[1] -= below / (1 - decay)
    weights[-1] /= 1 - decay**2
    return s, weights


@dataclass(frozen=True)
class Block:
    """Whole components of the graph whose matrices are held together."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]
    u: NDArray[np.int64]
    v: NDArray[np.int64]


def blocks_of(graph_components: NDArray[np.int32], source: NDArray[np.int64], target: NDArray[np.int64]) -> list[Block]:
    """Pack components with edges into blocks: a large one alone, small ones together."""
    sizes = np.bincount(graph_components)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 1]
    block_of = np.full(sizes.size, -1)
    count, room = 0, 0
    for component in order:
        size = int(sizes[component])
        if size > room:
            count, room = count + 1, max(SMALLEST_BLOCK, size)
        block_of[component] = count - 1
        room -= size
    node_block = block_of[graph_components]
    place = np.zeros(graph_components.size, np.int64)
    blocks: list[Block] = []
    for block in range(count):
        nodes = np.flatnonzero(node_block == block)
        place[nodes] = np.arange(nodes.size)
        edges = np.flatnonzero(node_block[source] == block)
        blocks.append(Block(nodes, edges, place[source[edges]], place[target[edges]]))
    return blocks


def scattered(graph_components: NDArray[np.int32]) -> bool:
    """Whether so many nodes lie in small components that their blocks would be too many to walk through."""
    sizes = np.bincount(graph_components)
    return int(sizes[(sizes > 1) & (sizes < SMALLEST_BLOCK)].sum()) > MOST_BLOCKS * SMALLEST_BLOCK


class _BlockState:
    """Resolvent terms of one block on the used sides, kept in the eigenvectors of the last set-up.

    With σ = V diag(λ) Vᵀ at the set-up, b_eᵀ(σ + s)⁻¹b_f is a sum over eigenvalues; every flip since then adds
    a rank-one term c x xᵀ to each resolvent (Sherman–Morrison). `crossings` and `flip` read both, so that the
    N × N resolvents themselves are never formed; `g` holds b_eᵀ(σ + s)⁻¹b_e of every edge up to date.
    """

    def __init__(self, block: Block, matrices: FloatArray, nodes: FloatArray, weights: FloatArray) -> None:
        self.block = block
        self.matrices = matrices
        scale = 1.5 * np.einsum("sii->si", matrices).max(axis=1)
        scale[scale == 0] = 1.0
        lam, self.vectors = np.linalg.eigh(matrices)
        self.lam = np.maximum(lam, 0.0)
        self.f = -xlogx(self.lam).sum(axis=1)
        shifts = scale[:, None] * nodes
        self.weights = scale[:, None] * weights
        self.shifts = shifts.reshape(-1, 1)
        self._inverse = 1 / (self.lam[:, None, :] + shifts[:, :, None])
        self._g = self._edge_terms()
        sides, count, n = self._inverse.shape
        self._past = np.empty((0, sides * count, n))
        self._factors = np.empty((0, sides * count))
        self._flips = 0

    def _edge_terms(self) -> FloatArray:
        """The term g of every edge at every node of every side, (sides · nodes, edges)."""
        sides, count, n = self._inverse.shape
        u, v = self.block.u, self.block.v
        g = np.empty((sides, u.size, count))
        step = max(1, CHUNK // n)
        for side, vectors in enumerate(self.vectors):
            inverse = np.ascontiguousarray(self._inverse[side].T)
            for low in range(0, u.size, step):
                some = slice(low, low + step)
                squares = vectors[u[some]] - vectors[v[some]]
                squares *= squares
                np.matmul(squares, inverse, out=g[side, some])
        return np.ascontiguousarray(g.transpose(0, 2, 1)).reshape(sides * count, -1)

    def flips(self, mu: FloatArray, sign: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Change of F on each side for flipping each edge of the block, and 1 ± g at each node."""
        u, v = self.block.u, self.block.v
        signed = sign * mu
        one = self._g * signed
        one += 1
        np.maximum(one, TINY, out=one)
        d = np.einsum("sii->si", self.matrices)
        centre = 0.5 * (d[:, u] + d[:, v]) - self.matrices[:, u, v]
        step = 2 * signed
        sides, nodes = self.weights.shape
        shifted = self.shifts + np.repeat(centre, nodes, axis=0)
        reference = np.maximum(shifted + step, TINY * shifted)
        logs = np.log(one * shifted / reference).reshape(sides, nodes, -1)
        moved = np.maximum(centre + step, 0.0)
        return (self.weights[:, None] @ logs)[:, 0] + xlogx(centre) - xlogx(moved), one

    def crossings(
        self, out: Edges, into: Edges, mu_out: FloatArray, mu_into: FloatArray, one: FloatArray
    ) -> FloatArray:
        """What a swap changes beyond its two flips, (sides, a, b); edges numbered within the block."""
        u, v = self.block.u, self.block.v
        left = self.vectors[:, u[out]] - self.vectors[:, v[out]]
        right = self.vectors[:, u[into]] - self.vectors[:, v[into]]
        cross = (left[:, None] * self._inverse[:, :, None, :]) @ right.transpose(0, 2, 1)[:, None]
        cross = cross.reshape(-1, out.size, into.size)
        if self._flips:
            past = self._past[: self._flips]
            left = (past[:, :, u[out]] - past[:, :, v[out]]) * self._factors[: self._flips, :, None]
            right = past[:, :, u[into]] - past[:, :, v[into]]
            cross -= left.transpose(1, 2, 0) @ right.transpose(1, 0, 2)
        cross *= cross
        cross *= (mu_out / one[:, out])[:, :, None]
        cross *= (mu_into / one[:, into])[:, None, :]
        cross += 1
        # Single precision serves a sum of logarithms of a positive quantity, and is several times faster.
        logs = np.log(cross.astype(np.float32))
        sides, nodes = self.weights.shape
        total = self.weights[:, None] @ logs.reshape(sides, nodes, -1)
        return total.reshape(sides, *logs.shape[1:])

    def flip(self, edge: int, mu: float, sign: int) -> None:
        """Add or drop one edge of the block."""
        u, v = self.block.u[edge], self.block.v[edge]
        sides, count, n = self._inverse.shape
        across = self.vectors[:, u] - self.vectors[:, v]
        x = ((self._inverse * across[:, None]) @ self.vectors.transpose(0, 2, 1)).reshape(sides * count, n)
        past = self._past[: self._flips]
        if self._flips:
            x -= np.einsum("rs,rsn->sn", (past[:, :, u] - past[:, :, v]) * self._factors[: self._flips], past)
        step = sign * mu
        factors = step / np.maximum(1 + step * (x[:, u] - x[:, v]), TINY)
        self._remember(x, factors)
        change = x[:, self.block.u] - x[:, self.block.v]
        change *= change
        change *= factors[:, None]
        self._g -= change
        self.matrices[:, u, u] += step
        self.matrices[:, v, v] += step
        self.matrices[:, u, v] -= step
        self.matrices[:, v, u] -= step

    def _remember(self, x: FloatArray, factors: FloatArray) -> None:
        """Store the rank-one term of a flip, in arrays that grow by doubling."""
        if self._flips == len(self._past):
            more = max(8, self._flips)
            self._past = np.concatenate([self._past, np.empty((more, *x.shape))])
            self._factors = np.concatenate([self._factors, np.empty((more, factors.size))])
        self._past[self._flips] = x
        self._factors[self._flips] = factors
        self._flips += 1


class ResolventLandscape(Landscape):
    """The exact entropy, for graphs whose largest component has up to a thousand nodes or so."""

    def __init__(self, objective: Objective, fixed_size: bool = True) -> None:
        super().__init__(objective, fixed_size)
        graph = self.graph
        source, target = graph.source.astype(np.int64), graph.target.astype(np.int64)
        self._blocks = blocks_of(graph.components()[1], source, target)
        # Light edges of a weighted graph act at the low end of the spectrum.
        self._quadrature = quadrature(LOWEST * max(float(self.mu.min()), 1e-2))
        self._check_memory()
        self._home = np.zeros(graph.n_edges, np.int64)
        self._local = np.zeros(graph.n_edges, np.int64)
        for number, block in enumerate(self._blocks):
            self._home[block.edges] = number
            self._local[block.edges] = np.arange(block.edges.size)

    def _check_memory(self) -> None:
        """Refuse graphs for which there is not the memory: 4 matrices a block, 10 of the largest were measured."""
        sizes = np.array([block.nodes.size for block in self._blocks], np.float64)
        numbers = 4 * float((sizes**2).sum()) + 6 * float((sizes**2).max())
        numbers += 8 * len(self.sides) * self._quadrature[0].size * self.graph.n_edges
        what = f"the exact entropy's solver of a component of {int(sizes.max())} nodes and {self.graph.n_edges} edges"
        require(8 * numbers, what, "take the entropy 'local', 'degree' or 'auto'")

    @property
    def work(self) -> float:
        """Entries that a move touches, the measure of its cost."""
        return float(max(block.nodes.size for block in self._blocks) ** 2)

    def _matrices(self, block: Block, y: FloatArray, kappa: float) -> tuple[FloatArray, FloatArray]:
        n = block.nodes.size
        pair = np.zeros((2, n, n))
        for matrix, weights in zip(pair, (y, self.mu), strict=True):
            matrix[block.u, block.v] = -weights[block.edges]
            matrix[block.v, block.u] = -weights[block.edges]
            np.fill_diagonal(matrix, -matrix.sum(axis=1))
        kept, original = pair
        mixed = kept + kappa * original
        return np.stack([(kept, mixed)[side] for side in self.sides]), original

    def _build(self, kappa: float) -> tuple[FloatArray, tuple[float, float]]:
        y = np.where(self.mask, self.mu, 0.0)
        f = np.zeros(2)
        first = second = 0.0
        self._cross = np.zeros(self.mu.size) if self.moves_scale else None
        self._states: list[_BlockState] = []
        for block in self._blocks:
            matrices, original = self._matrices(block, y, kappa)
            state = _BlockState(block, matrices, *self._quadrature)
            f[self.sides] += state.f
            if self._cross is not None:
                one, two, self._cross[block.edges] = _slopes(state, original)
                first, second = first + one, second + two
            self._states.append(state)
        return f, (first, second)

    def flip_terms(self) -> FloatArray:
        """Change of F on each used side for flipping each edge alone, shape (sides, M)."""
        sign = np.where(self.mask, -1.0, 1.0)
        self._one: list[FloatArray] = []
        terms = np.empty((len(self.sides), self.mu.size))
        for state in self._states:
            edges = state.block.edges
            terms[:, edges], one = state.flips(self.mu[edges], sign[edges])
            self._one.append(one)
        return terms

    def pair_terms(self, out: Edges, into: Edges, flips: FloatArray) -> FloatArray:
        """Change of F for each swap of a kept edge in `out` for a dropped one in `into`, (sides, a, b)."""
        terms = flips[:, out][:, :, None] + flips[:, into][:, None, :]
        shared = (0,) if len(self._blocks) == 1 else np.intersect1d(self._home[out], self._home[into])
        for number in shared:
            a, b = np.flatnonzero(self._home[out] == number), np.flatnonzero(self._home[into] == number)
            cross = self._states[number].crossings(
                self._local[out[a]], self._local[into[b]], self.mu[out[a]], self.mu[into[b]], self._one[number]
            )
            terms[:, a[:, None], b] += cross
        return terms

    def _flip(self, edge: int, sign: int) -> None:
        self._states[self._home[edge]].flip(int(self._local[edge]), float(self.mu[edge]), sign)


def _slopes(state: _BlockState, original: FloatArray) -> tuple[float, float, FloatArray]:
    """First and second derivative of F(σ + κρ) in κ, and the mixed one in κ and each edge's weight."""
    vectors, lam = state.vectors[-1], state.lam[-1]
    on = lam > TINY * lam[-1]
    vectors, lam = vectors[:, on], lam[on]
    inner = vectors.T @ original @ vectors
    curved = log_mean_inverse(lam[:, None], lam[None, :]) * inner
    mixed = vectors @ curved @ vectors.T
    u, v = state.block.u, state.block.v
    cross = -(mixed[u, u] + mixed[v, v] - 2 * mixed[u, v])
    return -float((np.log(lam) + 1) @ inner.diagonal()), -float((curved * inner).sum()), cross
