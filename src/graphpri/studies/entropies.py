"""§3.4 and the approximations it cites: how close each is to the exact entropy, what it costs, how it ranks edges."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.polynomial import Chebyshev
from scipy import stats
from scipy.sparse.linalg import eigsh

from graphpri import datasets
from graphpri._entropy import xlogx
from graphpri._entropy.by_name import ENTROPIES
from graphpri._entropy.stochastic import Laplacian, Pattern, estimate, log_term, log_times, steps, tridiagonal
from graphpri.graph import FloatArray, Graph
from graphpri.studies.graphs import PAPER, available, build
from graphpri.studies.study import Cell, Facts, Frames, Picture, Tables, Verdict, dots, generator, grade, panels, where

# Approximations of the von Neumann entropy, this library's and others', each with the edge term of its gradient.
#
# All take edge weights a of trace one, Σ a = ½, and return a value S(a) in nats and, on request, its derivative h in a.
# The gradient in weights y = a T is then (h − 2 Σ a h)/T: see :func:`slope`.

PROBES = 32
"""Random vectors of every estimate."""
STEPS = 20
"""Terms of the polynomials, and Lanczos steps: products of the matrix with each vector."""

ValueAndTerm = tuple[float, FloatArray | None]


class Approximation(NamedTuple):
    """How to approximate S: ``run(graph, a, rng, gradient)`` gives the value and h, or None where not asked for."""

    label: str
    run: Callable[[Graph, FloatArray, np.random.Generator, bool], ValueAndTerm]
    random: bool = False


def slope(a: FloatArray, h: FloatArray) -> FloatArray:
    """Gradient in the weights y, times their trace T."""
    return h - 2 * float(a @ h)


def _of_library(name: str) -> Callable[[Graph, FloatArray, np.random.Generator, bool], ValueAndTerm]:
    def run(graph: Graph, a: FloatArray, _: np.random.Generator, gradient: bool) -> ValueAndTerm:
        value, term = ENTROPIES[name].evaluate(graph, a, gradient)
        return value, None if term is None else -term

    return run


def _stochastic(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> ValueAndTerm:
    """The library's estimate, for small graphs too."""
    y = a / a.max()
    if gradient:
        return np.nan, -log_term(graph, y, probes=PROBES, rng=rng)
    return estimate(graph, [y], [[1.0]], probes=PROBES, rng=rng, small=0)[0].value, None


def _quadratic(graph: Graph, a: FloatArray, _: np.random.Generator, gradient: bool) -> ValueAndTerm:
    """Q = 1 − tr ρ̃², a lower bound of S."""
    d = graph.strengths(a)
    value = 1 - float(d @ d + 2 * (a @ a))
    return value, -2 * (d[graph.source] + d[graph.target] + 2 * a) if gradient else None


def _finger(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> ValueAndTerm:
    """Ĥ = −Q ln λ_max (P.-Y. Chen, L. Wu, S. Liu, I. Rajapakse, ICML 2019)."""
    q, of_q = _quadratic(graph, a, rng, gradient)
    top, x = _largest(graph, a)
    if of_q is None:
        return -q * float(np.log(top)), None
    return -q * float(np.log(top)), -of_q * np.log(top) - q / top * (x[graph.source] - x[graph.target]) ** 2


def _finger_degree(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> ValueAndTerm:
    """H̃ = −Q ln(2 max d), with the bound of λ_max that the degrees give (the same)."""
    q, of_q = _quadratic(graph, a, rng, gradient)
    d = graph.strengths(a)
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


def _taylor(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> ValueAndTerm:
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


def _chebyshev(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> ValueAndTerm:
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


def _lanczos(graph: Graph, a: FloatArray, rng: np.random.Generator, gradient: bool) -> ValueAndTerm:
    """Lanczos quadrature with nothing taken away: Gauss's rule, the mean over the probes."""
    operator = Laplacian(Pattern(graph), a, graph.strengths(a))
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


APPROXIMATIONS: dict[str, Approximation] = {
    "exact": Approximation("exact", _of_library("exact")),
    "degree": Approximation("degree (Graph-PRI*)", _of_library("degree")),
    "local": Approximation("local", _of_library("local")),
    "stochastic": Approximation("stochastic", _stochastic, random=True),
    "lanczos": Approximation("Lanczos, plain", _lanczos, random=True),
    "chebyshev": Approximation("Chebyshev", _chebyshev, random=True),
    "taylor": Approximation("Taylor", _taylor, random=True),
    "finger": Approximation("FINGER Ĥ", _finger),
    "finger_degree": Approximation("FINGER H̃", _finger_degree),
    "quadratic": Approximation("Q = 1 − tr ρ̃²", _quadratic),
}


# What is run

_FAMILIES = ("ER 1000 20", "BA 1000 10", "WS 1000 10", "SBM 1000 10", "ring 1000 10", "grid 30 30", "path 200 2")
_DIGITS = 8
"""Decimals of a slope, as a share of the largest edge term, that are not rounding."""


def cells(quick: bool) -> list[Cell]:
    """Graph by graph, the largest first; then large graphs for the cost alone."""
    if quick:
        graphs = [*available(("karate", "lesmis")), "BA 220 6", "path 60 2", "grid 8 8"]
        sizes, repeats = [1000, 4000, 16000], 2
    else:
        small = sorted(available(_small()), key=lambda name: -datasets.info(name).n_nodes)
        graphs, sizes, repeats = [*small, *_FAMILIES, *available(PAPER)[::-1]], [4000, 16000, 64000, 256000], 5
    named = [name + " weighted" * (name in _small() and datasets.info(name).weights is not None) for name in graphs]
    return [*({"graph": name, "repeats": repeats} for name in named), {"sizes": sizes}]


def _small() -> tuple[str, ...]:
    """Graphs of the folder of small ones."""
    found = (datasets.info(name) for name in datasets.names())
    return tuple(d.name for d in found if d.files and d.files[0][0].startswith("graphs_small/"))


def work(cell: Cell, seed: int) -> Tables:
    """Every approximation on one graph, or the time that some take on large ones."""
    return {"cost": _costs(cell["sizes"], seed)} if "sizes" in cell else {"values": _values(cell, seed)}


def _values(cell: Cell, seed: int) -> list[dict[str, Any]]:
    graph = build(cell["graph"], seed)
    a = graph.weights / (2 * graph.weights.sum())
    rows: list[dict[str, Any]] = []
    truth: FloatArray = np.empty(0)
    for name, approximation in APPROXIMATIONS.items():
        for repeat in range(cell["repeats"] if approximation.random else 1):
            key = (seed, "entropies", cell["graph"], name, repeat)
            (value, _), seconds = _timed(lambda k=key, w=approximation: w.run(graph, a, generator(*k), False))
            (_, h), slope_seconds = _timed(lambda k=key, w=approximation: w.run(graph, a, generator(*k), True))
            found = _without_rounding(graph, a, h)
            if name == "exact":
                truth = found
            head = {"graph": cell["graph"], "nodes": graph.n_nodes, "edges": graph.n_edges, "way": name}
            times = {"value_seconds": seconds, "gradient_seconds": slope_seconds}
            rows.append({**head, "repeat": repeat, "value": value, "rank": _rank(truth, found), **times})
    return rows


def _timed(run: Callable[[], Any], least: int = 1) -> tuple[Any, float]:
    """What it returns, and the shortest CPU time of some runs, at least so many."""
    times: list[float] = []
    result: Any = None
    while len(times) < least or (len(times) < 5 and sum(times) < 0.06):
        start = time.process_time()
        result = run()
        times.append(time.process_time() - start)
    return result, min(times)


def _without_rounding(graph: Graph, a: FloatArray, h: FloatArray) -> FloatArray:
    """The gradient, with values that differ by rounding alone made equal: a symmetric graph has many equal slopes."""
    scale = np.abs(h).max()
    return graph.weights * np.round(slope(a, h) / scale, _DIGITS)


def _rank(truth: FloatArray, other: FloatArray) -> float:
    """Spearman's correlation; NaN where either is constant."""
    if np.ptp(truth) == 0 or np.ptp(other) == 0:
        return np.nan
    return float(stats.spearmanr(truth, other)[0])


def _costs(sizes: list[int], seed: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n in sizes:
        graph = build(f"BA {n} 10", seed)
        a = graph.weights / (2 * graph.weights.sum())
        for name in ("degree", "local", "finger_degree", "finger"):
            seconds = _timed(lambda g=graph, a=a, w=APPROXIMATIONS[name]: w.run(g, a, generator(0), False), 4)[1]
            rows.append({"nodes": n, "edges": graph.n_edges, "way": name, "value_seconds": seconds})
    return rows


# What the numbers say

_CLOSE = 0.05
"""Share of S by which a value that counts as close may be off."""
_LINEAR = 1.15
"""Largest power of the number of edges that counts as proportional, in times."""
_ROUNDING = 1e-9


def errors_of(table: Any) -> tuple[Any, Any]:
    """Root mean square error by graph and approximation, in nats, and S by graph."""
    exact = where(table, way="exact").set_index("graph")["value"]
    off = table.assign(square=(table["value"] - table["graph"].map(exact)) ** 2)
    errors = np.sqrt(off.groupby(["graph", "way"], sort=False)["square"].mean()).unstack()
    return errors, exact.loc[errors.index]


def ranks_of(table: Any) -> Any:
    """Mean rank correlation of the gradient by graph and approximation."""
    return table.groupby(["graph", "way"], sort=False)["rank"].mean().unstack()


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The degree entropy, then the others."""
    table = frames["values"]
    errors, exact = errors_of(table)
    facts.add("graphs", len(errors), "values", "graphs")
    facts.add("close", _CLOSE, "values", "share of S that counts as close")
    facts.add("probes", PROBES, "values", "random vectors of each estimate")
    facts.add("terms", STEPS, "values", "terms of polynomials, steps of the plain Lanczos quadrature")
    return [
        _degree(errors, exact, table, facts),
        _cost(frames["cost"], facts),
        _against_finger(errors, facts),
        _polynomials(errors, exact, facts),
        _local(errors, facts),
        _ranking(ranks_of(table), facts),
        _controlled(table, errors, facts),
    ]


def _degree(errors: Any, exact: Any, table: Any, facts: Facts) -> Verdict:
    share = errors["degree"] / exact
    near = facts.add("near", (share <= _CLOSE).sum(), "values", "graphs on which H − S is at most that share of S")
    facts.add("gap_median", share.median(), "values", "median of (H − S)/S")
    facts.add("gap_most", share.max(), "values", "largest (H − S)/S")
    facts.add("gap_least", share.min(), "values", "least (H − S)/S")
    far = share[share > _CLOSE].sort_values(ascending=False).index
    if len(far):
        sizes = table.drop_duplicates("graph").set_index("graph").loc[far]
        facts.add(
            "far_degree", (2 * sizes["edges"] / sizes["nodes"]).max(), "values", "largest mean degree of the rest"
        )
    return Verdict(
        "The entropy of the degrees is close to the von Neumann entropy",
        "§3.4, Theorems 2 and 3",
        "H is above S by {gap_least:.2%} to {gap_most:.2%} of S, {gap_median:.2%} in the median of {graphs:.0f} "
        "graphs; by at most {close:.0%} on {near:.0f}",
        grade(near == len(share), near > len(share) / 2),
        f"farther than that on {', '.join(far)}, of mean degree {{far_degree:.2f}} at most" if len(far) else "",
    )


def _cost(table: Any, facts: Facts) -> Verdict:
    powers = {
        name: stats.linregress(np.log(rows["edges"]), np.log(rows["value_seconds"].clip(1e-6)))[0]
        for name, rows in table.groupby("way")
    }
    power = facts.add("degree_power", powers["degree"], "cost", "power of the edges by which the time of H grows")
    facts.add("local_power", powers["local"], "cost", "the same of the local entropy")
    largest = table[table["edges"] == table["edges"].max()].set_index("way")["value_seconds"]
    facts.add("largest", table["edges"].max(), "cost", "edges of the largest graph")
    facts.add("degree_time", 1000 * largest["degree"], "cost", "CPU time of H on the largest graph, ms")
    facts.add("local_time", 1000 * largest["local"], "cost", "CPU time of the local entropy there, ms")
    return Verdict(
        "The degree entropy takes time proportional to N",
        "§3.4",
        "at a fixed mean degree the time grows with the power {degree_power:.2f} of the size ({local_power:.2f} for "
        "the local entropy); {degree_time:.1f} ms at {largest:.0f} edges ({local_time:.1f})",
        grade(power <= _LINEAR),
        "given the degrees; from a list of edges it is proportional to their number M",
    )


def _against_finger(errors: Any, facts: Facts) -> Verdict:
    count = len(errors)
    for name, label in (("finger", "Ĥ"), ("finger_degree", "H̃")):
        closer = (errors["degree"] < errors[name]).sum()
        facts.add(f"beats_{name}", closer, "values", f"graphs on which H is closer to S than FINGER's {label}")
        facts.add(f"{name}_median", errors[name].median(), "values", f"median error of FINGER's {label}, nats")
    facts.add("degree_median", errors["degree"].median(), "values", "median of H − S, nats")
    both = min(facts["beats_finger"], facts["beats_finger_degree"])
    return Verdict(
        "Among the fast approximations that are cited, the degree entropy is accurate",
        "§3.2, after Liu et al.",
        "H is closer to S than FINGER's Ĥ on {beats_finger:.0f} of {graphs:.0f} graphs and than its H̃ on "
        "{beats_finger_degree:.0f}; median errors {degree_median:.3f}, {finger_median:.3f} and "
        "{finger_degree_median:.3f} nats",
        grade(both == count, both > count / 2),
    )


def _polynomials(errors: Any, exact: Any, facts: Facts) -> Verdict:
    near = 0.0
    far: list[str] = []
    for name in ("taylor", "chebyshev"):
        share = errors[name] / exact
        near += facts.add(f"{name}_near", (share <= _CLOSE).sum(), "values", f"graphs on which {name} is close")
        facts.add(f"{name}_median", errors[name].median(), "values", f"median error of {name}, nats")
        facts.add(f"{name}_most", share.max(), "values", f"largest error of {name} as a share of S")
        far += [f"{APPROXIMATIONS[name].label}'s on {graph}" for graph in share.index[share > _CLOSE]]
        beaten = (errors["local"] < errors[name]).sum()
        facts.add(f"local_beats_{name}", beaten, "values", f"graphs on which the local entropy is closer than {name}")
    count = 2 * len(errors)
    return Verdict(
        "Randomised Taylor and Chebyshev traces approximate the entropy with little loss",
        "§3.2, after Kontopoulou et al.",
        "with {probes:.0f} vectors and {terms:.0f} terms Taylor's is within {close:.0%} of S on {taylor_near:.0f} of "
        "{graphs:.0f} graphs (median error {taylor_median:.3f} nats, at most {taylor_most:.1%}), Chebyshev's on "
        "{chebyshev_near:.0f} ({chebyshev_median:.3f}, {chebyshev_most:.1%}); the local entropy, which needs no random "
        "vectors, is closer on {local_beats_taylor:.0f} and {local_beats_chebyshev:.0f}",
        grade(near == count, near > count / 2),
        f"farther off than that: {', '.join(far)}" if far else "",
    )


def _local(errors: Any, facts: Facts) -> Verdict:
    closer = facts.add(
        "local_closer", (errors["local"] < errors["degree"]).sum(), "values", "graphs on which local is closer than H"
    )
    removed = 1 - errors["local"] / errors["degree"]
    facts.add("removed_least", removed.min(), "values", "least share of H − S that the local entropy removes")
    facts.add("removed_most", removed.max(), "values", "largest share")
    facts.add("removed_median", removed.median(), "values", "median share")
    texts = ""
    if "karate" in errors.index:
        facts.add("karate_degree", errors.loc["karate", "degree"], "values", "H − S of karate, nats")
        facts.add("karate_local", errors.loc["karate", "local"], "values", "local − S of karate, nats")
        texts = "; on karate {karate_local:.4f} nats are left of {karate_degree:.4f}"
    return Verdict(
        "The local entropy is closer to S than the degree entropy and removes most of the gap",
        "graphpri",
        "closer on {local_closer:.0f} of {graphs:.0f} graphs; it removes {removed_least:.0%} to {removed_most:.0%} of "
        "the gap, {removed_median:.0%} in the median" + texts,
        grade(closer == len(errors) and removed.min() > 0.5, closer > len(errors) / 2),
    )


def _ranking(ranks: Any, facts: Facts) -> Verdict:
    for name in ("degree", "local", "stochastic", "lanczos", "quadratic", "finger"):
        facts.add(f"rank_{name}", ranks[name].median(), "values", f"median rank correlation of the {name} gradient")
        facts.add(f"rank_{name}_least", ranks[name].min(), "values", f"least rank correlation of the {name} gradient")
    flat = ranks["exact"].notna() & ranks["local"].isna() & ranks["degree"].isna()
    both = ranks[ranks["exact"].notna() & ~flat]
    facts.add("ranked", len(both), "values", "graphs on whose edges the exact and the local or degree gradient differ")
    constant = facts.add("constant", flat.sum(), "values", "graphs with constant local and degree gradients")
    gain = both["local"] - both["degree"].fillna(0)
    better = facts.add("ranks_better", (gain > 0).sum(), "values", "graphs on which the local gradient ranks better")
    same = "; both are the same on all edges of {constant:.0f} others" if constant else ""
    worse = ", ".join(gain.index[gain <= 0])
    return Verdict(
        "The local entropy's gradient ranks the edges more like the exact one than the degree entropy's",
        "graphpri",
        "on {ranks_better:.0f} of {ranked:.0f} graphs" + same + "; rank correlation with the exact gradient, median "
        "(least): local {rank_local:.3f} ({rank_local_least:.3f}), degree {rank_degree:.3f} ({rank_degree_least:.3f}), "
        "stochastic {rank_stochastic:.3f} ({rank_stochastic_least:.3f}), plain Lanczos {rank_lanczos:.3f} "
        "({rank_lanczos_least:.3f}), FINGER's Ĥ {rank_finger:.3f} ({rank_finger_least:.3f}) and its Q "
        "{rank_quadratic:.3f} ({rank_quadratic_least:.3f})",
        grade(better == len(both), better > len(both) / 2),
        f"not on {worse}" if worse else "",
    )


def _controlled(table: Any, errors: Any, facts: Facts) -> Verdict:
    ratio = errors["lanczos"] / np.maximum(errors["stochastic"], _ROUNDING)
    facts.add("stochastic_median", errors["stochastic"].median(), "values", "median error of the estimate, nats")
    facts.add("lanczos_median", errors["lanczos"].median(), "values", "median error of plain Lanczos, nats")
    better = facts.add("controlled", (ratio > 1).sum(), "values", "graphs on which the estimate is closer than plain")
    facts.add("ratio_least", ratio.min(), "values", "least error of plain Lanczos over that of the estimate")
    facts.add("ratio_median", ratio.median(), "values", "median of it")
    times = table.groupby(["graph", "way"])["value_seconds"].median().unstack()
    facts.add("ratio_time", (times["stochastic"] / times["lanczos"]).median(), "values", "median ratio of CPU times")
    return Verdict(
        "Taking away what is known makes the stochastic estimate closer than plain Lanczos quadrature with as many "
        "vectors",
        "graphpri",
        "closer on {controlled:.0f} of {graphs:.0f} graphs with {probes:.0f} vectors: errors {stochastic_median:.1e} "
        "and {lanczos_median:.1e} nats in the median, {ratio_median:.0f} times (at least {ratio_least:.2g}), for "
        "{ratio_time:.1f} times the CPU time",
        grade(better == len(errors), better > len(errors) / 2),
    )


# Pictures

_DRAWN = [*(name for name in APPROXIMATIONS if name not in ("exact", "quadratic")), "exact"]


def draw(frames: Frames) -> list[Picture]:
    """Errors and rank correlations by graph; times by size, and errors by time."""
    table = frames["values"]
    return [_accuracy(table), _times(table, frames["cost"])]


def _accuracy(table: Any) -> Picture:
    errors, _ = errors_of(table)
    figure, axes = panels(1, 2, height=0.9 + 0.155 * len(errors), sharey=True)
    places = np.arange(len(errors))[::-1]
    for i, name in enumerate(_DRAWN[:-1]):
        off = np.maximum(errors[name], 1e-6)
        axes[0, 0].plot(off, places, label=APPROXIMATIONS[name].label, **_marker(i))
        axes[0, 1].plot(np.maximum(1 - ranks_of(table).loc[errors.index, name], 1e-5), places, **_marker(i))
    axes[0, 0].set_yticks(places, [str(name).replace(" weighted", ", weighted") for name in errors.index])
    axes[0, 0].set(xscale="log", xlabel="error of the entropy (nats)")
    axes[0, 1].set(xscale="log", xlabel="1 − rank correlation of the gradient")
    for ax in axes[0]:
        ax.grid(axis="y", color="0.9", linewidth=0.5)
        ax.set_axisbelow(True)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return Picture(
        "entropies",
        figure,
        "Left: root mean square error of each approximation of the von Neumann entropy over its repeats. Right: one "
        "less the Spearman correlation of its gradient in the edges with the exact one, mean over the repeats (those "
        "below 10⁻⁵ stand there; an order at random has about one); none where one of the two is the same on all "
        "edges. Random families: nodes and mean degree (grid: rows and columns).",
    )


def _marker(i: int) -> dict[str, Any]:
    """The i-th marker, hollow from the eighth on."""
    return dots(i) | {"alpha": 0.85} | ({"markerfacecolor": "none"} if i >= 7 else {})


def _times(table: Any, cost: Any) -> Picture:
    figure, axes = panels(1, 2, height=2.4)
    errors, _ = errors_of(table)
    for i, name in enumerate(_DRAWN):
        both = [where(part, way=name)[["graph", "edges", "value_seconds"]] for part in (table, cost.assign(graph=""))]
        for rows, label in zip(both, (APPROXIMATIONS[name].label, ""), strict=True):
            middle = rows.groupby(["graph", "edges"])["value_seconds"].median().reset_index()
            axes[0, 0].plot(middle["edges"], middle["value_seconds"].clip(1e-6), label=label, **_marker(i))
        seconds = where(table, way=name).groupby("graph")["value_seconds"].median()
        off = errors.loc[seconds.index, name]
        if name != "exact":
            axes[0, 1].plot(seconds, np.maximum(off, 1e-6), **_marker(i))
    axes[0, 0].set(xscale="log", yscale="log", xlabel="edges", ylabel="CPU time (s)")
    axes[0, 1].set(xscale="log", yscale="log", xlabel="CPU time (s)", ylabel="error of the entropy (nats)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return Picture(
        "entropies-cost",
        figure,
        "CPU time of one value of the entropy on one thread, by the number of edges (left), and the error that it "
        "leaves (right); each mark is a graph.",
    )
