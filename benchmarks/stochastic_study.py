"""How far the stochastic entropy is off, what its error bars are worth, and what it costs, beside exact and primate.

`make bench` takes its rows from here. Run as a program it prints what the constants of the estimator were chosen by.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.linalg
from scipy.stats import spearmanr

import graphpri
from alone import peak
from clock import REPEATS, Timed, load, timed
from graphpri import datasets
from graphpri._entropy import scaled, stochastic, xlogx
from graphpri._entropy.by_name import ENTROPIES
from graphpri._entropy.stochastic import estimate, log_term
from graphpri._objective import Terms, divergence_between
from graphpri._runtime import single_thread
from graphpri.graph import FloatArray, Graph
from graphpri.measures.information import joint_estimate, overlay_mixture
from graphpri.measures.registry import Overlay, overlay
from graphs import communities, geometric, preferential
from outcome import environment, markdown_table

PROBES = 32
STEPS = 20
"""Lanczos steps of the baseline."""
BASELINE_SEEDS = 20


def random(n: int) -> Graph:
    """Erdős–Rényi graph of mean degree 10."""
    return datasets.erdos_renyi(n, 10, seed=0)


def small_world(n: int) -> Graph:
    """A ring of mean degree 10, a twentieth of its edges rewired."""
    import networkx as nx

    return graphpri.as_graph(nx.watts_strogatz_graph(n, 10, 0.05, seed=0))


def square(n: int) -> Graph:
    """Square grid of about n nodes."""
    side = int(np.sqrt(n))
    ids = np.arange(side * side).reshape(side, side)
    u = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    v = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return Graph.from_edges(u, v)


EXPANDERS: dict[str, Callable[[int], Graph]] = {
    "preferential": preferential,
    "random": random,
    "small-world": small_world,
    "communities": communities,
}
FAMILIES = EXPANDERS | {"grid": square, "geometric": geometric}


def weightings(graph: Graph, share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A random part of the graph, all of it, and their mixture."""
    y = scaled(graph.weights)
    kept = np.where(np.random.default_rng(0).random(graph.n_edges) < share, y, 0.0)
    return kept, y, scaled(0.5 * (kept / kept.sum() + y / y.sum()))


def entropies(n: int = 4000, seeds: int = 200) -> Iterator[dict[str, Any]]:
    """S of graphs of 5n edges: error and coverage over seeds, and the time of each, beside primate and LAPACK."""
    for name, make in EXPANDERS.items():
        graph = make(n)
        y = scaled(graph.weights)
        dense = graph.laplacian(y / (2 * y.sum())).toarray()
        exact = timed(lambda dense=dense: scipy.linalg.eigvalsh(dense))
        truth = -float(xlogx(np.maximum(exact.result, 0.0)).sum())
        baseline = primate(graph, y)
        runs: list[Timed[Any]] = []
        others: list[Timed[float]] = []
        for seed in range(-1, seeds):  # the first warms up
            runs.append(timed(lambda s=seed, g=graph, y=y: estimate(g, [y], [[1.0]], probes=PROBES, rng=max(s, 0))[0]))
            if baseline is not None and seed < BASELINE_SEEDS:
                others.append(timed(lambda s=seed, r=baseline: r(max(s, 0))))
        off = np.array([run.result.value - truth for run in runs[1:]])
        bars = np.array([run.result.error for run in runs[1:]])
        row = {
            "graph": name,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "S": truth,
            "largest error %": 100 * float(np.abs(off).max()) / truth,
            "rms error %": 100 * _rms(off) / truth,
            "mean bar %": 100 * float(bars.mean()) / truth,
            "within 2 bars": float((np.abs(off) <= 2 * bars).mean()),
            "CPU s": float(np.median([run.cpu for run in runs[1:]])),
            "LAPACK CPU s": exact.cpu,
        }
        found = [run.result - truth for run in others[1:]]
        cpu = float(np.median([run.cpu for run in others[1:]])) if others else np.nan
        yield row | {"primate rms error %": 100 * _rms(found) / truth if found else np.nan, "primate CPU s": cpu}


def _rms(values: Sequence[float] | FloatArray) -> float:
    return float(np.sqrt(np.square(values).mean()))


def primate(graph: Graph, y: FloatArray) -> Callable[[int], float] | None:
    """S by scikit-primate's Hutchinson estimator with as many probes, by seed; None where it is missing."""
    try:
        from primate.operators import matrix_function
        from primate.trace import hutch
    except ImportError:
        return None
    matrix: Any = graph.laplacian(y / (2 * y.sum()))

    def run(seed: int) -> float:
        operator = matrix_function(matrix, fun=lambda x: -xlogx(np.maximum(x, 0.0)), deg=STEPS)
        return float(np.asarray(hutch(operator, converge="count", count=PROBES, seed=seed)).item())

    return run


def line(n: int) -> Graph:
    """Path."""
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n))


def lollipop(n: int) -> Graph:
    """A clique of n/3 nodes with a path of the others."""
    clique = n // 3
    u, v = np.triu_indices(clique, 1)
    tail = np.arange(clique - 1, n - 1)
    return Graph.from_edges(np.concatenate([u, tail]), np.concatenate([v, tail + 1]))


def heavy(graph: Graph) -> Graph:
    """The graph with weights of Pareto's distribution with exponent 1.5, of infinite variance."""
    weights = 1 + np.random.default_rng(1).pareto(1.5, graph.n_edges)
    return Graph.from_edges(graph.source, graph.target, weights, n_nodes=graph.n_nodes)


COVERED: dict[str, Callable[[int], Graph]] = {
    "preferential": preferential,
    "communities": communities,
    "grid": square,
    "path": line,
    "lollipop": lollipop,
    "preferential, Pareto weights": lambda n: heavy(preferential(n)),
    "communities, Pareto weights": lambda n: heavy(communities(n)),
    "grid, Pareto weights": lambda n: heavy(square(n)),
}
LARGER = ("preferential", "grid", "path", "preferential, Pareto weights")
"""Those of them that are taken with 2000 nodes as well as with 500."""
QUANTITIES = ("S kept", "S", "D", "J")
SHARE, BETA = 0.4, 4.0


def coverage(seeds: int = 200, sizes: Sequence[tuple[str, int]] | None = None) -> Iterator[dict[str, Any]]:
    """How often 1.96 errors hold the exact S, D and J, and how wide they are, over seeds, with both ways to ask.

    ``error=`` asks for 0.6 of the error that 32 probes have, and for 5e-4 at least, so that most graphs take a few
    blocks of probes; ``probes=`` for 64.
    """
    for name, n in sizes or [*((name, 500) for name in COVERED), *((name, 2000) for name in LARGER)]:
        graph = COVERED[name](n)
        for subset in ("random", "PRI"):
            options: dict[str, Any] = {"method": "random"} if subset == "random" else {"entropy": "local", "beta": BETA}
            over = overlay(graph, graphpri.sparsify(graph, keep=SHARE, seed=1, **options).kept)
            truth = np.array(exact_terms(over))
            pilot = joint_estimate(over, "equation", BETA, probes=32, seed=10**6)
            goal = max(5e-4, 0.6 * max(part.error for part in pilot[:3]))
            for mode, asked in (("error", {"target": goal}), ("probes", {"probes": 64})):
                start = time.process_time()
                runs = [joint_estimate(over, "equation", BETA, seed=s, **asked) for s in range(seeds)]
                cpu = (time.process_time() - start) / seeds
                values, errors, biases = (
                    np.array([[getattr(part, what) for part in run] for run in runs])
                    for what in ("value", "error", "bias")
                )
                off = values - truth
                row: dict[str, Any] = {"graph": name, "subset": subset, "asked": mode, "nodes": graph.n_nodes}
                row |= {"edges": graph.n_edges, "goal": goal if mode == "error" else "", "seeds": seeds}
                for i, of in enumerate(QUANTITIES):
                    chance = float(off[:, i].std(ddof=1))
                    row |= {
                        f"{of}: within 1.96 errors": float((np.abs(off[:, i]) <= 1.96 * errors[:, i]).mean()),
                        f"{of}: error": float(errors[:, i].mean()),
                        f"{of}: chance measured": chance,
                        f"{of}: bias stated": float(biases[:, i].mean()),
                        f"{of}: bias measured": float(off[:, i].mean()),
                    }
                yield row | {"CPU s": cpu}


def exact_terms(over: Overlay) -> tuple[float, float, float, float]:
    """S of the kept graph and of the original, D and J, by eigenvalues."""
    kept, original, mixed = (
        ENTROPIES["exact"].evaluate(over.graph, scaled(y), False).value
        for y in (over.kept, over.original, overlay_mixture(over, "equation"))
    )
    divergence = divergence_between(mixed, kept, original)
    return kept, original, divergence, Terms.of(BETA, kept, divergence, 0.0).objective


def variances(n: int = 2000) -> Iterator[dict[str, Any]]:
    """Standard deviation per probe of plain Hutchinson, without the first order, and without both, times √N."""
    for name, make in FAMILIES.items():
        for share in (1.0, 0.3):
            graph = make(n)
            y = weightings(graph, share)[0]
            weighting = stochastic._Weighting(stochastic.Pattern(graph), y)
            z = np.random.default_rng(0).integers(0, 2, (graph.n_nodes, 256), dtype=np.int8) * np.int8(2) - np.int8(1)
            with single_thread():
                sample = weighting.sample(z, None, lambda alone, _: alone.bias <= 0.02 * alone.chance)
            plain = sample.value + stochastic.edge_form(graph.source, graph.target, weighting.first, z)
            x, t = sample.control - sample.control.mean(), sample.value - sample.value.mean()
            both = t - float(x @ t) / float(x @ x) * x
            figures = (float(v.std()) * np.sqrt(graph.n_nodes) for v in (plain, sample.value, both))
            names = ("plain", "first order out", "both orders out")
            yield {"graph": name, "share kept": share, **dict(zip(names, figures, strict=True))}


def placements(n: int = 10_000) -> Iterator[dict[str, Any]]:
    """Where the form lies between its bounds, as a share of their distance from above, and where it is taken to lie."""
    for name, make in FAMILIES.items():
        for share in (1.0, 0.3):
            graph = make(n)
            weighting = stochastic._Weighting(stochastic.Pattern(graph), weightings(graph, share)[0])
            z = np.random.default_rng(0).integers(0, 2, (graph.n_nodes, 32)) * 2.0 - 1.0
            found: dict[int, stochastic.Forms] = {}
            for most in (6, 10, 16, 26, 150):
                with single_thread():
                    found[most] = stochastic.entropy_forms(
                        weighting.laplacian, weighting.parts.centred(z), lambda *_: False, most
                    )
            truth = float(found.pop(150).high.mean())
            row: dict[str, Any] = {"graph": name, "share kept": share}
            for k, forms in found.items():
                high, gap = float(forms.high.mean()), float((forms.high - forms.low).mean())
                row |= {f"{k} steps": (high - truth) / gap, f"{k}, learned": forms.rule.place}
            yield row


def gradients(n: int = 1500, seeds: int = 3) -> Iterator[dict[str, Any]]:
    """Spearman correlation with the exact edge terms: of S at all edges, and of J at half of them, β = 4."""
    for name, make in FAMILIES.items():
        graph = make(n)
        kept, y, mixed = weightings(graph, 0.5)

        def both(term: Callable[[FloatArray], Any], kept=kept, y=y, mixed=mixed) -> list[FloatArray]:
            return [term(y), -3 * term(kept) + 4 * term(mixed)]

        def by(how: str, graph=graph) -> Callable[[FloatArray], Any]:
            return lambda w: ENTROPIES[how].evaluate(graph, w, True).log_term

        true = both(by("exact"))
        row: dict[str, Any] = {"graph": name, "nodes": graph.n_nodes, "edges": graph.n_edges}
        for how in ("degree", "local"):
            for of, found, truth in zip("SJ", both(by(how)), true, strict=True):
                row[f"{how} {of}"] = float(spearmanr(found, truth).statistic)
        runs = [
            [
                float(spearmanr(f, t).statistic)
                for f, t in zip(both(lambda w, s=s, g=graph: log_term(g, w, rng=s)), true, strict=True)
            ]
            for s in range(seeds)
        ]
        row |= {f"stochastic {of}": min(run[i] for run in runs) for i, of in enumerate("SJ")}
        row["CPU s"] = timed(lambda graph=graph, y=y: log_term(graph, y)).cpu
        row["exact CPU s"] = timed(lambda y=y, by=by: by("exact")(y)).cpu
        yield row


def million(n: int = 10**6, target: float = 1e-4, share: float = 0.3) -> dict[str, Any]:
    """S and D of a random part of a large graph, errors at most `target` of S; medians of some seeds."""
    graph = datasets.barabasi_albert(n, 5, seed=0)
    before = peak()
    kept = graph.select(np.random.default_rng(0).random(graph.n_edges) < share)
    estimate(datasets.barabasi_albert(25_000, 5, seed=0), [np.ones(124_975)], [[1.0]], probes=8)  # compiles
    goal = target * ENTROPIES["degree"].evaluate(graph, scaled(graph.weights), False).value
    runs = [
        timed(lambda s=seed: joint_estimate(overlay(graph, kept), "equation", 4.0, target=goal, seed=s))
        for seed in range(REPEATS)
    ]
    found = runs[0].result
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "S": str(found.original),
        "S kept": str(found.entropy),
        "D": str(found.divergence),
        "J": str(found.objective),
        "largest error / S": max(e.error / run.result.original.value for run in runs for e in run.result[:3]),
        "seconds": float(np.median([run.wall for run in runs])),
        "CPU s": float(np.median([run.cpu for run in runs])),
        "seeds": REPEATS,
        "peak GB": peak() / 1e9,
        "peak GB before": before / 1e9,
        "load": load(),
    }


TABLES: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "variances": variances,
    "placements": placements,
    "coverage": coverage,
}


def main() -> None:
    """Print the tables asked for, with versions and the load of the machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(TABLES), help="table to print; all where absent")
    args = parser.parse_args()
    print(", ".join(f"{key} {value}" for key, value in environment().items()))
    for name in args.only or TABLES:
        start = time.perf_counter()
        rows = list(TABLES[name]())
        print(f"\n{TABLES[name].__doc__}\n")
        print("\n".join(markdown_table(list(rows[0]), [list(row.values()) for row in rows])))
        print(f"\n({time.perf_counter() - start:.0f} s, load {load():.1f})", flush=True)


if __name__ == "__main__":
    main()
