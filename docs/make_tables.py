"""Measure what the pages show into docs/data/*.csv, and fill the pages with it.

python docs/make_tables.py                     everything: about twenty minutes
python docs/make_tables.py --only gradient     one of the measurements, repeatable
python docs/make_tables.py --fill              nothing measured, the pages filled from docs/data

The graphs are those of `graphpri data list`; the environment variable GRAPHPRI_DATA names their folder.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from fill_tables import DATA, fill_pages

import graphpri
from graphpri import datasets
from graphpri._entropy import exact_entropies
from graphpri._entropy.by_name import evaluate
from graphpri._objective import Objective
from graphpri.graph import Graph
from graphpri.solvers.moves import ExactEvaluator
from graphpri.solvers.reweight import weigh

Row = dict[str, Any]

PAPER_GRAPHS = ("karate", "madrid", "polbooks", "jazz")
HALF_STEPS = [i / 2 for i in range(21)]
FEW = [0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20]
KEEP = 0.3


@cache
def unweighted(name: str) -> Graph:
    """A named graph without its weights."""
    return graphpri.as_graph(datasets.load(name), weight=None)


def point(name: str, result: graphpri.Sparsified) -> Row:
    """The figures of a result that tables over β show."""
    report = result.report()
    names = {"edges_kept": "K", "entropy": "S", "divergence": "D", "objective": "J"}
    row = {"graph": name, "beta": report["beta"]} | {short: report[key] for key, short in names.items()}
    return row | {key: report[key] for key in ("share_kept", "components_kept", "nodes_cut_off")}


def beta_free() -> Iterator[Row]:
    """Along β without a budget, the number of components kept."""
    for name in PAPER_GRAPHS:
        betas = FEW if name == "jazz" else [*HALF_STEPS, 20]
        for result in graphpri.path(unweighted(name), beta=betas):
            yield point(name, result)


def beta_budget() -> Iterator[Row]:
    """At each β the best of what single calls at all of them found: 30 % of the edges, connected or not."""
    for name in PAPER_GRAPHS:
        found = [graphpri.sparsify(unweighted(name), keep=KEEP, beta=beta) for beta in FEW]
        for beta in FEW:
            best = min(found, key=lambda r: r.entropy + 2 * beta * r.divergence)
            yield point(name, best) | {"beta": beta, "J": best.entropy + 2 * beta * best.divergence}


def beta_loose() -> Iterator[Row]:
    """Along β with neither a budget nor connectivity, karate."""
    for beta in (0, 1, 2, 2.5, 2.8, 2.9, 3, 3.5, 4, 5, 6):
        result = graphpri.sparsify(unweighted("karate"), beta=beta, connected=False)
        yield point("karate", result) | {"status": result.status}


def barrier() -> Iterator[Row]:
    """What α does at 30 % of karate's edges, and with neither a budget nor connectivity."""
    graph = unweighted("karate")
    for keep, beta in ((KEEP, 2), (None, 0), (None, 2)):
        for alpha in (0, 0.001, 0.005, 0.02, 0.1):
            result = graphpri.sparsify(graph, keep=keep, beta=beta, alpha=alpha, connected=False)
            yield {"keep": keep, "alpha": alpha} | point("karate", result)


def mixtures() -> Iterator[Row]:
    """The same budgets under both mixtures: how much of the choice they share, and D by each."""
    for name in PAPER_GRAPHS[:3]:
        graph = unweighted(name)
        for keep in (0.2, 0.5, 0.8):
            a, b = (graphpri.sparsify(graph, keep=keep, beta=4, mixture=m) for m in ("equation", "listing"))
            yield {
                "graph": name,
                "keep": keep,
                "K": a.kept.n_edges,
                "in_both": int((a.mask & b.mask).sum()),
                "D_equation": graphpri.divergence(graph, a, mixture="equation"),
                "D_listing": graphpri.divergence(graph, a, mixture="listing"),
            }


def algorithm1() -> Iterator[Row]:
    """Algorithm 1 on karate beside the default solver at the same K; then at β = 1000 under both mixtures."""
    for beta in (2, 3, 5):
        for seed in range(3):
            yield _algorithm1("equation", beta, seed, {})
    for mixture, steps in (("listing", 10_000), ("equation", 2_500)):
        for seed in range(3):
            yield _algorithm1(mixture, 1000, seed, {"steps": steps, "patience": 0})


def _algorithm1(mixture: str, beta: float, seed: int, options: Row) -> Row:
    graph = unweighted("karate")
    start = time.process_time()
    result = graphpri.sparsify(graph, beta=beta, mixture=mixture, solver="gumbel", seed=seed, **options)
    seconds, size = time.process_time() - start, result.kept.n_edges
    begin = time.process_time()
    default = graphpri.sparsify(graph, keep=size, beta=beta, mixture=mixture)
    return {
        "mixture": mixture,
        "beta": beta,
        "seed": seed,
        "K": size,
        "mean_draw": float(result.probabilities.sum()),
        "J": result.objective,
        "J_default_at_K": default.objective,
        "cpu_seconds": seconds,
        "cpu_seconds_default": time.process_time() - begin,
    }


def gradient() -> Iterator[Row]:
    """The library's gradient and Theorem 4 as printed, against central differences on karate."""
    karate = graphpri.as_graph(datasets.load("karate"))
    for graph in (unweighted("karate"), karate):
        objective = Objective(graph, 2.0)
        w = np.random.default_rng(0).uniform(0.2, 1, graph.n_edges)
        slope, printed = objective.gradient(w), _theorem4(objective, w)
        step = 1e-5 * np.eye(w.size)
        central = np.array([(objective.value(w + e) - objective.value(w - e)) / 2e-5 for e in step])
        ratio = printed / central
        yield {
            "weighted": graph.is_weighted,
            "edges": graph.n_edges,
            "library_error": float(np.abs(slope - central).max()),
            "printed_ratio_smallest": float(ratio.min()),
            "printed_ratio_largest": float(ratio.max()),
            "signs_wrong": int((np.sign(printed) != np.sign(central)).sum()),
        }


def _theorem4(objective: Objective, w: np.ndarray) -> np.ndarray:
    """U g of Theorem 4 with its own normalisation w̃ = w/Σw."""
    graph, beta = objective.graph, objective.beta
    share, even = w / w.sum(), np.full(w.size, 1 / w.size)
    logs = [_log(graph.laplacian(graph.weights * x).toarray()) for x in (share, (share + even) / 2)]
    inner = (1 - beta) * logs[0] + beta * logs[1]
    u, v = graph.source, graph.target
    g = -graph.weights * (inner[u, u] + inner[v, v] - 2 * inner[u, v])
    return (g - share @ g) / (1 - share)


def _log(matrix: np.ndarray) -> np.ndarray:
    lam, vectors = np.linalg.eigh(matrix)
    return (vectors * np.log(np.maximum(lam, 1e-12))) @ vectors.T


def entropies() -> Iterator[Row]:
    """Exact entropy, the distance of the others from it, and the bound of Theorem 2."""
    cases = {
        "karate": unweighted("karate"),
        "les misérables, weighted": graphpri.as_graph(datasets.load("lesmis")),
        "Barabási–Albert": datasets.barabasi_albert(1000, 5, seed=0),
        "Erdős–Rényi": graphpri.as_graph(nx.gnm_random_graph(1000, 10_000, seed=0)),
        "Watts–Strogatz, k=10, p=0.05": graphpri.as_graph(nx.watts_strogatz_graph(1000, 10, 0.05, seed=0)),
        "ring lattice, k=10": datasets.ring_knn(1000, 10),
        "30×30 grid": graphpri.as_graph(nx.grid_2d_graph(30, 30)),
        "path": graphpri.as_graph(nx.path_graph(200)),
    }
    for name, graph in cases.items():
        s, h, local = (evaluate(graph, kind).value for kind in ("exact", "degree", "local"))
        strengths, w = graph.strengths(), graph.weights
        bound = float((w**2).sum() / w.sum() / strengths[strengths > 0].min())
        size = {"graph": name, "nodes": graph.n_nodes, "edges": graph.n_edges}
        yield size | {"S": s, "degree_minus_S": h - s, "local_minus_S": local - s, "bound": bound}


def assumption() -> Iterator[Row]:
    """How often one more edge does not lower S: random graphs of 20 nodes, every absent edge."""
    complete = graphpri.as_graph(nx.complete_graph(20))
    rng = np.random.default_rng(0)
    for degree, paper in zip((1.6, 2.5, 3, 4, 5), (95.65, 88.57, 88.82, 88.13, 87.25), strict=True):
        raised = tried = 0
        for _ in range(100):
            present = rng.random(complete.n_edges) < degree / 19
            absent = np.flatnonzero(~present)
            trials = np.repeat(present[None].astype(float), absent.size + 1, axis=0)
            trials[np.arange(absent.size), absent] = 1
            values, _ = exact_entropies(complete, trials)
            raised += int((values[:-1] >= values[-1] - 1e-12).sum())
            tried += absent.size
        found = {"graphs": 100, "additions": tried, "percent": 100 * raised / tried}
        yield {"mean_degree": degree} | found | {"paper": paper}


def swaps() -> Iterator[Row]:
    """Predicted against exact changes of J, for random swaps at the default solver's solutions."""
    for name in PAPER_GRAPHS:
        graph = unweighted(name)
        for beta in (0.5, 4.0, 50.0):
            mask = graphpri.sparsify(graph, keep=KEEP, beta=beta, effort="fast").mask
            objective = Objective(graph, beta)
            rng = np.random.default_rng(0)
            out, into = (rng.choice(np.flatnonzero(side), 20, replace=False) for side in (mask, ~mask))
            landscape = ExactEvaluator(objective)
            landscape.reset(mask)
            predicted, _ = landscape.pairs(out, into)
            exact = np.array([[_swapped(objective, mask, i, j) for j in into] for i in out]) - landscape.value
            yield {
                "graph": name,
                "beta": beta,
                "swaps": exact.size,
                "median_change": float(np.median(np.abs(exact))),
                "largest_error": float(np.abs(predicted - exact).max()),
            }


def _swapped(objective: Objective, mask: np.ndarray, out: int, into: int) -> float:
    w = mask.astype(np.float64)
    w[out], w[into] = 0, 1
    return objective.value(w)


def effort() -> Iterator[Row]:
    """What more effort buys, at 30 % of the edges."""
    for name in PAPER_GRAPHS:
        for beta in (0.5, 4.0, 50.0):
            for level in ("fast", "normal", "best"):
                start = time.process_time()
                result = graphpri.sparsify(unweighted(name), keep=KEEP, beta=beta, effort=level)
                seconds = time.process_time() - start
                yield {"graph": name, "beta": beta, "effort": level, "J": result.objective, "cpu_seconds": seconds}


def reweight() -> Iterator[Row]:
    """D, the quadratic form and the lowest eigenvalues with weights of every kind for the kept edges."""
    measures = ["divergence", "quadratic_error", "eigenvalue_error"]
    for name in PAPER_GRAPHS:
        graph = graphpri.as_graph(unweighted(name))
        for keep in (0.3, 0.5):
            result = graphpri.sparsify(graph, keep=keep, beta=4)
            objective = Objective(graph, 4.0)
            weights = {"given": result.weights} | {
                kind: weigh(kind, objective, result.mask, result.weights).weights for kind in ("rescale", "divergence")
            }
            for kind, w in weights.items():
                found = graphpri.report(graph, graph.select(result.mask, w), measures=measures)
                yield {"graph": name, "keep": keep, "reweight": kind, **{m: found[m] for m in measures}}


MEASUREMENTS: dict[str, Callable[[], Iterator[Row]]] = {
    function.__name__: function
    for function in (
        beta_free,
        beta_budget,
        beta_loose,
        barrier,
        mixtures,
        algorithm1,
        gradient,
        entropies,
        assumption,
        swaps,
        effort,
        reweight,
    )
}


def write(path: Path, rows: list[Row]) -> None:
    """Write the rows, figures to seven digits."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, lineterminator="\n")
        out.writeheader()
        out.writerows({k: f"{v:.7g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)


def main() -> None:
    """Measure what was asked for and fill the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=MEASUREMENTS)
    parser.add_argument("--fill", action="store_true", help="measure nothing")
    args = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    for name in [] if args.fill else args.only or MEASUREMENTS:
        start = time.perf_counter()
        write(DATA / f"{name}.csv", list(MEASUREMENTS[name]()))
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    for page in fill_pages():
        print(f"filled {page}")


if __name__ == "__main__":
    main()
