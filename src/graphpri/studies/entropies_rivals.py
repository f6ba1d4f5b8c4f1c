"""Ways to approximate the von Neumann entropy, this library's and others', each with the edge term of its gradient.

All take edge weights a of trace one, Σ a = ½, and return a value S(a) in nats and, on request, its derivative h in a.
The gradient in weights y = a T is then (h − 2 Σ a h)/T: see :func:`slope`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.sparse.linalg import eigsh

from graphpri.entropy import ENTROPIES, edge_strengths, xlogx
from graphpri.graph import FloatArray, Graph
from graphpri.lanczos import Laplacian, Pattern, log_times, steps, tridiagonal
from graphpri.stochastic import estimate, log_term

PROBES = 32
"""Random vectors of every estimate."""
STEPS = 20
"""Terms of the polynomials, and Lanczos steps: products of the matrix with each vector."""

Found = tuple[float, FloatArray | None]


class Way(NamedTuple):
    """How to approximate S: ``run(graph, a, rng, gradient)`` gives the value and h, or None where not asked for."""

    label: str
    run: Callable[[Graph, FloatArray, np.random.Generator, bool], Found]
    random: bool = False


def slope(a: FloatArray, h: FloatArray) -> FloatArray:
    """Gradient in the weights y, times their trace T."""
    return h - 2 * float(a @ h)


def _of_library(name: str) -> Callable[[Graph, FloatArray, np.random.Generator, bool], Found]:
    def run(graph: Graph, a: FloatArray, _: np.random.Generator, gradient: bool) -> Found:
        value, term = ENTROPIES[name].evaluate(graph, a, gradient)
        return value, None if term is None else -term

    return run


def _stochastic(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> Found:
    """The library's estimate, for small graphs too."""
    y = a / a.max()
    if gradient:
        return np.nan, -log_term(graph, y, probes=PROBES, rng=rng)
    return estimate(graph, [y], [[1.0]], probes=PROBES, rng=rng, small=0)[0].value, None


def _quadratic(graph: Graph, a: FloatArray, _: np.random.Generator, gradient: bool) -> Found:
    """Q = 1 − tr ρ̃², a lower bound of S."""
    d = edge_strengths(graph, a)
    value = 1 - float(d @ d + 2 * (a @ a))
    return value, -2 * (d[graph.source] + d[graph.target] + 2 * a) if gradient else None


def _finger(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> Found:
    """Ĥ = −Q ln λ_max (P.-Y. Chen, L. Wu, S. Liu, I. Rajapakse, ICML 2019)."""
    q, of_q = _quadratic(graph, a, rng, gradient)
    top, x = _largest(graph, a)
    if of_q is None:
        return -q * float(np.log(top)), None
    return -q * float(np.log(top)), -of_q * np.log(top) - q / top * (x[graph.source] - x[graph.target]) ** 2


def _finger_degree(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> Found:
    """H̃ = −Q ln(2 max d), with the bound of λ_max that the degrees give (the same)."""
    q, of_q = _quadratic(graph, a, rng, gradient)
    d = edge_strengths(graph, a)
    node, value = int(d.argmax()), -q * float(np.log(2 * d.max()))
    if of_q is None:
        return value, None
    at_top = (graph.source == node) | (graph.target == node)
    return value, -of_q * np.log(2 * d.max()) - q / d.max() * at_top


def _largest(graph: Graph, a: FloatArray) -> tuple[float, FloatArray]:
    """Largest eigenvalue of the normalised Laplacian and its vector."""
    start = np.modf(np.arange(1, graph.n_nodes + 1) * ((np.sqrt(5.0) - 1) / 2))[0]
    matrix: Any = graph.laplacian(a)
    value, vector = eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9)
    return float(value[0]), cast("FloatArray", vector[:, 0])


def _signs(graph: Graph, rng: np.random.Generator) -> FloatArray:
    return rng.choice([-1.0, 1.0], (graph.n_nodes, PROBES))


def _edge_mean(graph: Graph, x: FloatArray, y: FloatArray) -> FloatArray:
    """Mean over the probes of (x_u − x_v)(y_u − y_v) for each edge."""
    u, v = graph.source, graph.target
    return np.einsum("ij,ij->i", x[u] - x[v], y[u] - y[v]) / x.shape[1]


def _taylor(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> Found:
    """The series ln(1/u) + Σ_k tr(R Cᵏ)/k, C = I − R/u, u = λ_max (E.-M. Kontopoulou et al., IEEE Trans. IT 2020)."""
    top = _largest(graph, a)[0]
    matrix, z = graph.laplacian(a), _signs(graph, rng)
    known, x = matrix @ z, z
    value, total = -float(np.log(top)), np.zeros_like(z)
    for k in range(1, STEPS + 1):
        x = x - (matrix @ x) / top
        value += float(np.einsum("ij,ij->j", known, x).mean()) / k
        total += x / k
    # The derivative of x(−ln u + Σ (1 − x/u)ᵏ/k), its constants left out.
    return value, _edge_mean(graph, z, total + x) if gradient else None


def _chebyshev(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> Found:
    """Trace of the Chebyshev polynomial that interpolates −x ln x on [0, λ_max] (the same authors)."""
    top = _largest(graph, a)[0]
    series = Chebyshev.interpolate(lambda x: -xlogx(np.maximum(x, 0.0)), STEPS, [0, top])
    matrix, z = graph.laplacian(a), _signs(graph, rng)
    if gradient:
        return np.nan, _edge_mean(graph, z, _applied(series.deriv(), matrix, z, top))
    return float(np.einsum("ij,ij->j", z, _applied(series, matrix, z, top)).mean()), None


def _applied(series: Any, matrix: Any, z: FloatArray, top: float) -> FloatArray:
    """A Chebyshev series of a matrix with spectrum in [0, top], times vectors, by the three-term recurrence."""
    before, now = z, (matrix @ z) * (2 / top) - z
    total = series.coef[0] * before + series.coef[1] * now
    for c in series.coef[2:]:
        before, now = now, 2 * ((matrix @ now) * (2 / top) - now) - before
        total = total + c * now
    return total


def _lanczos(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> Found:
    """Lanczos quadrature with nothing taken away: Gauss's rule, the mean over the probes."""
    operator = Laplacian(Pattern(graph), a, edge_strengths(graph, a))
    z = _signs(graph, rng)
    if gradient:
        return np.nan, -_edge_mean(graph, z, log_times(operator, _centred(graph, z), STEPS))
    run = [(step.alpha, step.beta) for _, step in zip(range(STEPS), steps(operator, z), strict=False)]
    alpha, beta = (np.array(part).T for part in zip(*run, strict=True))
    nodes, vectors = tridiagonal(alpha, beta[:, :-1])
    forms = (vectors[:, 0, :] ** 2 * xlogx(np.maximum(nodes, 0.0))).sum(axis=1)
    return -graph.n_nodes * float(forms.mean()), None


def _centred(graph: Graph, z: FloatArray) -> FloatArray:
    """Vectors without the part on which the Laplacian is zero."""
    member = graph.components()[1]
    size = np.bincount(member)
    means = np.stack([np.bincount(member, column) / size for column in z.T], axis=1)
    return z - means[member]


WAYS: dict[str, Way] = {
    "exact": Way("exact", _of_library("exact")),
    "degree": Way("degree (Graph-PRI*)", _of_library("degree")),
    "local": Way("local", _of_library("local")),
    "stochastic": Way("stochastic", _stochastic, random=True),
    "lanczos": Way("Lanczos, plain", _lanczos, random=True),
    "chebyshev": Way("Chebyshev", _chebyshev, random=True),
    "taylor": Way("Taylor", _taylor, random=True),
    "finger": Way("FINGER Ĥ", _finger),
    "finger_degree": Way("FINGER H̃", _finger_degree),
    "quadratic": Way("Q = 1 − tr ρ̃²", _quadratic),
}
