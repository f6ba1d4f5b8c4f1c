"""Subsets and weights of the most similar diffusion (`gibbs.py`) against today's best, by the landscape's own ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

import gibbs
import graphpri
from choice_graphs import core
from clock import timed
from gibbs import Diffusion
from graphpri import datasets
from graphpri._objective import BUDGET_BETA
from graphpri._selection import count_edges, forest_size
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.io import tables
from graphpri.io.pieces import Pieces
from graphpri.measures import MEASURES, Settings, View, spectral
from graphpri.measures.reports import evaluate
from graphpri.studies import landscape
from graphpri.studies.graphs import load
from graphs import grid, largest_component
from outcome import Cell, Outcome
from quality import Say

SCALES = (1, 3, 10, 30, 100)
KEEPS = (0.2, 0.3, 0.5, 0.7)
SEEDS = (0, 1, 2)
"""Of random graphs, and of starts of the search on lattices; after the first for the smallest keep ratio alone."""
OTHERS: tuple[tuple[str, float | None], ...] = (
    *(("pri", beta) for beta in (16, 50)),
    *((name, None) for name in ("effective-resistance-sampling", "spanning-forest", "local-degree")),
    *((name, None) for name in ("edge-betweenness", "local-similarity")),
)
"""Methods and their β: those that lead the landscape for a purpose, or tie with its leader."""
MORE: tuple[tuple[str, float | None], ...] = (
    *(("pri", beta) for beta in (8, 1000)),
    *((name, None) for name in ("weight", "disparity", "noise-corrected", "effective-resistance", "forest-fire")),
    *((name, None) for name in ("algebraic-distance", "jaccard", "scan", "simmelian")),
)
"""The rest that tie with a leader, and those that look for edges inside communities."""
BASES = (("pri", 50), ("spanning-forest", None))
"""Those whose subsets get weights of diffusion at every scale."""
VARIANTS: dict[str, tuple[float, bool, float | None]] = {
    "diffusion τ=30, sum not held": (30, False, None),
    "diffusion τ=30, β=4": (30, True, 4.0),
}
"""By name: scale, whether the search holds the sum of weights, β of S(σ_τ). For the first seed alone."""
FOLDER = Path("out/diffusion")
"""Finished cells, from which an interrupted run goes on, and `ways.csv`, all ways in all cells."""


def blocks(sizes: tuple[int, ...], inside: float, across: float, seed: int) -> Graph:
    """Planted blocks."""
    return largest_component(datasets.stochastic_block_model(sizes, inside, across, seed=seed))


def neighbours(points: FloatArray, k: int, *, weighted: bool = False) -> Graph:
    """Each point joined to its k nearest; Gaussian weights of the median distance, where asked."""
    n = len(points)
    apart, near = cKDTree(points).query(points, k + 1)
    u, v, d = np.repeat(np.arange(n), k), near[:, 1:].ravel(), apart[:, 1:].ravel()
    pairs, first = np.unique(np.sort([u, v], axis=0), axis=1, return_index=True)
    weights = np.exp(-(d[first] ** 2) / (2 * np.median(d) ** 2)) if weighted else None
    return largest_component(Graph.from_edges(*pairs, weights, n_nodes=n))


def clouds(seed: int) -> Graph:
    """100 points in five overlapping clouds of five dimensions, joined to their ten nearest, weighted."""
    rng = np.random.default_rng(seed)
    return neighbours(rng.normal(size=(5, 5))[np.arange(100) % 5] * 1.5 + rng.normal(size=(100, 5)), 10, weighted=True)


def long_grid() -> Graph:
    """A lattice of 5 by 20."""
    node = np.arange(100).reshape(5, 20)
    source = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    return Graph.from_edges(source, np.concatenate([node[:, 1:].ravel(), node[1:].ravel()]), n_nodes=100)


class Source(NamedTuple):
    """A graph of the study, by seed where it is random, and its seeds; a name that stands twice counts as one graph."""

    name: str
    make: Callable[[int], Graph]
    is_random: bool = False
    keeps: tuple[float, ...] = KEEPS
    seeds: tuple[int, ...] = SEEDS


SOURCES = (
    Source("grid", lambda _: grid(100), keeps=(0.7, 0.8)),
    Source("long grid", lambda _: long_grid(), keeps=(0.7, 0.8)),
    Source("blocks", lambda seed: blocks((25,) * 4, 0.4, 0.025, seed), True),
    Source("uneven blocks", lambda seed: blocks((40, 25, 17, 10, 8), 0.4, 0.04, seed), True),
    Source("k-NN, plane", lambda seed: neighbours(np.random.default_rng(seed).random((100, 2)), 10), True),
    Source("k-NN, clouds", clouds, True),
    Source("us-airports", lambda _: core("us-airports", 100), seeds=(0,)),
    Source("us-airports", lambda _: core("us-airports", 100, weighted=True), seeds=(0,)),
    Source("jazz", lambda _: load("jazz"), seeds=(0,)),
)


def diffusion(quick: bool, say: Say) -> Outcome:
    """Ranks of subsets and weights of diffusion for all purposes, and by how much they are before today's best."""
    outcome, pieces = Outcome(), Pieces(None if quick else FOLDER)
    sources, seeds = (SOURCES[:1], SEEDS[:1]) if quick else (SOURCES, SEEDS)
    rows = list[dict[str, Any]]()
    for seed in seeds:
        for source in sources:
            if seed not in source.seeds:
                continue
            graph = source.make(seed)
            for keep in source.keeps[:1] if seed else source.keeps:
                if count_edges(keep, graph.n_edges) < forest_size(graph):
                    say(f"{source.name}, keep {keep:g}: too few edges to hold it together")
                    continue
                drawn = seed if source.is_random else 0
                with flows_by_igraph():
                    found = [
                        pieces.get(["diffusion", 1, name, graph, keep, number], partial(work, graph, keep, number))
                        for name, work, number in (
                            ("others", partial(_others, OTHERS), drawn),
                            ("states", _states, seed),
                            ("more", partial(_others, MORE), drawn),
                        )
                    ]
                head = {"graph": source.name, "weighted": graph.is_weighted, "keep": keep, "seed": seed}
                head |= {"nodes": graph.n_nodes, "edges": graph.n_edges, "connected": True}
                rows += [head | row for rest in found for row in rest]
                say(f"seed {seed}, {source.name}{', weighted' * graph.is_weighted}, keep {keep:g}")
    if not quick:
        tables.write(FOLDER / "ways.csv", rows)
    outcome.cells = [*_purposes(rows), *_by_scale(rows), *_medians(rows), *_brute_force(4 if quick else 100)]
    outcome.cells += [_seconds(name, make(), pieces) for name, make in ({} if quick else TIMED).items()]
    outcome.notes.append(
        f"{len({r['graph'] for r in rows})} graphs (random ones drawn by each of {len(seeds)} seeds, lattices searched "
        f"from as many starts), all ways connected; scales {', '.join(map(str, SCALES))} in units of 1 / mean degree."
    )
    return outcome


# The work of a cell


@contextmanager
def flows_by_igraph() -> Iterator[None]:
    """The same largest flows in a tenth of the time, which are half of the study's else."""
    import igraph

    def flows(view: View, top: float, unit: float) -> FloatArray:
        graph, member = view.graph, view.components[1]
        whole = np.maximum(np.rint(graph.weights / top / unit), 1).tolist()
        network = igraph.Graph(graph.n_nodes, list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)))
        pairs = spectral.pairs(view.origin).tolist()
        return np.array([network.maxflow_value(s, t, whole) if member[s] == member[t] else 0.0 for s, t in pairs])

    before, spectral.flows = spectral.flows, flows
    try:
        yield
    finally:
        spectral.flows = before


class Weighed(NamedTuple):
    """A subset and the weights that its method gives, shape (M,)."""

    mask: BoolArray
    weights: FloatArray


def _view(graph: Graph) -> View:
    return View(graph, Settings(BUDGET_BETA, 0.0, "exact", "equation", "nats", 0))


def _others(methods: Sequence[tuple[str, float | None]], graph: Graph, keep: float, seed: int) -> list[dict[str, Any]]:
    """Other methods with the landscape's three kinds of weights, some with weights of diffusion too."""
    origin, rows = _view(graph), list[dict[str, Any]]()
    for method, beta in methods:
        options: dict[str, Any] = {"beta": beta, "effort": "fast"} if beta else {}
        result = graphpri.sparsify(graph, keep, method=method, seed=seed, connected=True, **options)
        kinds = landscape._measured(origin, result)
        if (method, beta) in BASES:
            for scale in SCALES:
                kinds[f"diffusion τ={scale}"] = _diffused(origin, kinds, result.mask, scale)
        rows += [{"method": method, "beta": beta, "weights": kind, **values} for kind, values in kinds.items()]
    return rows


def _states(graph: Graph, keep: float, seed: int) -> list[dict[str, Any]]:
    """Subsets of the most similar diffusion, with the three kinds of weights and those of diffusion."""
    origin, rows, k = _view(graph), list[dict[str, Any]](), count_edges(keep, graph.n_edges)
    ways = {f"diffusion τ={scale}": (scale, True, None) for scale in SCALES} | (VARIANTS if seed == 0 else {})
    for name, (scale, held, beta) in ways.items():
        call = timed(lambda: gibbs.search(Diffusion(graph, scale, beta), k, held=held, seed=seed or None))  # noqa: B023
        mask = call.result.mask
        kinds = landscape._measured(origin, Weighed(mask, np.where(mask, graph.weights, 0.0)))  # type: ignore[arg-type]
        kinds[f"diffusion τ={scale}"] = _diffused(origin, kinds, mask, scale)
        facts = {"objective": call.result.value, "swaps": call.result.swaps, "CPU s": call.cpu}
        rows += [{"method": name, "beta": None, "weights": kind, **facts, **values} for kind, values in kinds.items()]
    return rows


def _diffused(origin: View, kinds: dict[str, dict[str, float]], mask: BoolArray, scale: float) -> dict[str, float]:
    """What a subset keeps with weights of diffusion; measures that see no weights are those of other weights."""
    graph = origin.graph
    call = timed(lambda: gibbs.weights(Diffusion(graph, scale), mask))
    view = View(graph.select(mask, call.result), origin.settings, origin)
    wanted = [name for name in landscape._measures(graph) if name in landscape.WEIGHED]
    found = evaluate(view, [MEASURES[name] for name in wanted])
    return kinds["reweighted"] | found | {"weights CPU s": call.cpu}


# What comes out


def _ranks(rows: list[dict[str, Any]]) -> Any:
    """The landscape's ranks by way and graph; cells of all seeds count alike.

    Ways that were run for the first seed alone are ranked there.
    """
    import pandas as pd

    table = pd.DataFrame(rows)
    table["graph"] = table["graph"] + " / " + table["seed"].astype(str)
    ranks = landscape.by_cell({"landscape": table}).reset_index()
    ranks["graph"] = ranks["graph"].str.split(" / ").str[0]
    return landscape.by_graph(ranks.set_index([*landscape._CELL, *landscape.SETTING]))


def _groups(graphs: Any) -> Any:
    """Whether a way is a subset of diffusion, other edges with weights of diffusion, or neither."""
    index = graphs.index.to_frame(index=False)
    subset, weights = (index[key].str.startswith("diffusion").to_numpy() for key in ("method", "weights"))
    return np.where(subset, "subset", np.where(weights, "weights", "today"))


def _purposes(rows: list[dict[str, Any]]) -> list[Cell]:
    """Today's best for each purpose, and the best of diffusion with the interval of its lead."""
    graphs = _ranks(rows)
    means, cells = graphs.groupby(landscape.SETTING).mean(), list[Cell]()
    groups = _groups(means)
    for purpose in means:
        values: dict[str, Any] = {}
        best = means[purpose][groups == "today"].sort_values(kind="stable").index[0]
        for group in ("today", "weights", "subset"):
            way = means[purpose][groups == group].sort_values(kind="stable").index[0]
            values |= {group: landscape.setting_name(way), f"{group}, rank": means.loc[way, purpose]}
            if group != "today":
                lead = landscape._of(graphs, purpose, best) - landscape._of(graphs, purpose, way)
                chosen = _on_others(graphs, groups, purpose, group) if graphs.index.unique("graph").size > 1 else lead
                for name, found in (("lead", lead), ("unseen", chosen)):
                    low, high = landscape.interval(found.dropna())
                    values |= {f"{group}, {name} low": low, f"{group}, {name} high": high}
        cells.append(Cell(str(purpose), None, None, values))
    return cells


def _on_others(graphs: Any, groups: Any, purpose: Any, group: str) -> Any:
    """The lead on each graph where both ways, today's and that of diffusion, are those best on all others."""
    import pandas as pd

    wide, leads = graphs[purpose].unstack("graph"), dict[str, float]()
    for graph in wide:
        means = wide.drop(columns=graph).mean(axis=1)
        today, way = (means[groups == kind].sort_values(kind="stable").index[0] for kind in ("today", group))
        leads[graph] = wide.loc[today, graph] - wide.loc[way, graph]
    return pd.Series(leads)


def _by_scale(rows: list[dict[str, Any]]) -> list[Cell]:
    """Ranks of subsets of diffusion by scale, with the best of their weights, for each purpose."""
    means = _ranks(rows).groupby(landscape.SETTING).mean()
    names = [f"diffusion τ={scale}" for scale in SCALES] + list(VARIANTS)
    found = means.groupby("method").min()
    return [Cell(name, None, None, dict(found.loc[name])) for name in names if name in found.index]


_SHOWN = ("quadratic_error", "eigenvalue_error", "spectral_distance", "divergence", "community_nmi", "CPU s")


def _medians(rows: list[dict[str, Any]]) -> list[Cell]:
    """Medians over cells of measures of the spectrum and communities, of the ways that claims are about."""
    import pandas as pd

    table = pd.DataFrame(rows)
    table["way"] = table["method"] + table["beta"].map(lambda b: "" if np.isnan(b) else f" β={b:g}")
    table["way"] += ", " + table["weights"]
    shown = [name for name in _SHOWN if name in table]
    wanted = [f"pri β=50, {kind}" for kind in (*landscape.WEIGHTS, *(f"diffusion τ={scale}" for scale in SCALES))]
    wanted += [f"diffusion τ={scale}, {kind}" for scale in SCALES for kind in ("rescaled", f"diffusion τ={scale}")]
    found = table[table["way"].isin(wanted)].groupby("way")[shown].median()
    return [Cell(f"median: {way}", None, None, dict(found.loc[way])) for way in wanted if way in found.index]


TIMED: dict[str, Callable[[], Graph]] = {
    "jazz": lambda: load("jazz"),
    "Erdős–Rényi": lambda: datasets.erdos_renyi(500, 400, 0),
}


def _seconds(name: str, graph: Graph, pieces: Pieces) -> Cell:
    """Processor seconds of weights of diffusion on half of the edges."""

    def measured() -> dict[str, float]:
        mask = graphpri.sparsify(graph, 0.5, method="spanning-forest", seed=0).mask
        return {f"τ={s}": timed(lambda: gibbs.weights(Diffusion(graph, s), mask)).cpu for s in SCALES[::2]}  # noqa: B023

    found = pieces.get(["diffusion", 1, "seconds", name], measured)
    return Cell(f"seconds: {name}", graph.n_nodes, graph.n_edges, found)


# Small graphs, all subsets


def small_graphs(count: int) -> Iterator[tuple[Graph, int]]:
    """Connected random graphs of 5 to 8 nodes and at most 12 edges, half of them weighted, and how many to keep."""
    rng = np.random.default_rng(0)
    while count:
        n = int(rng.integers(5, 9))
        u, v = np.triu_indices(n, 1)
        m = int(rng.integers(n + 1, min(12, u.size) + 1))
        chosen = rng.choice(u.size, m, replace=False)
        weights = np.exp(rng.standard_normal(m)) if count % 2 else None
        graph = Graph.from_edges(u[chosen], v[chosen], weights, n_nodes=n)
        if graph.components()[0] == 1:
            count -= 1
            yield graph, int(rng.integers(n - 1, m))


def least(graph: Graph, k: int, scale: float) -> float:
    """The least objective of all connected subsets of K edges, their sum of weights held."""
    state = Diffusion(graph, scale)
    masks = np.zeros((comb(graph.n_edges, k), graph.n_edges), bool)
    for mask, chosen in zip(masks, combinations(range(graph.n_edges), k), strict=True):
        mask[list(chosen)] = True
    ends = np.eye(graph.n_nodes)[graph.source] - np.eye(graph.n_nodes)[graph.target]
    laplacians = np.einsum("se,eu,ev->suv", masks, ends, ends, optimize=True)
    joined = np.linalg.eigvalsh(laplacians)[:, 1] > 1e-9
    return min(state.value(gibbs.scaled(graph, mask, True)) for mask in masks[joined])


def gaps(count: int, scale: float) -> tuple[list[float], list[float]]:
    """How far the search ends above the least of all, in nats: from one start, and the best of three."""
    one, three = list[float](), list[float]()
    for graph, k in small_graphs(count):
        ends = [gibbs.search(Diffusion(graph, scale), k, seed=seed or None).value for seed in SEEDS]
        lowest = least(graph, k, scale)
        one.append(ends[0] - lowest)
        three.append(min(ends) - lowest)
    return one, three


def _brute_force(count: int) -> Iterator[Cell]:
    for scale in (1, 3, 10):
        values: dict[str, Any] = {"graphs": count}
        for name, found in zip(("one start", "three starts"), gaps(count, scale), strict=True):
            above = np.array(found)
            values |= {f"optimum, {name}, %": 100 * float((above < 1e-9).mean()), f"above, {name}": float(above.max())}
        yield Cell(f"all subsets, τ={scale}", None, None, values)
