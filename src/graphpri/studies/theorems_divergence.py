"""The Corollary, the square root of the divergence as a metric, and the spectral property of random sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpri import baselines as baselines  # registers the methods
from graphpri.graph import FloatArray, Graph
from graphpri.measures import report
from graphpri.methods import run
from graphpri.objective import Objective
from graphpri.studies.families import build, complete, exact_values
from graphpri.studies.graphs import random_graph
from graphpri.studies.study import Cell, Facts, Frames, Outcome, Tables, Verdict, generator
from graphpri.studies.theorems_extremes import atlas

_EQUAL = 1e-12


def corollary(cell: Cell, seed: int) -> Tables:
    """S and D before and after edges of the original come back to random subgraphs."""
    graph = build(cell["graph"], seed)
    objective = Objective(graph, 1.0)
    rows: list[dict[str, Any]] = []
    for share in cell["shares"]:
        rng = generator(seed, "corollary", cell["graph"], share)
        changes = np.concatenate([_returned(objective, share, cell["additions"], rng) for _ in range(cell["repeats"])])
        rises = changes[:, 0] >= -_EQUAL
        falls = changes[:, 1] <= _EQUAL
        counts = {"tried": falls.size, "falls": falls.sum(), "S_rises": rises.sum(), "both": (rises & falls).sum()}
        rows.append({"graph": cell["graph"], "share": share, **{name: int(count) for name, count in counts.items()}})
    return {"corollary": rows}


def _returned(objective: Objective, share: float, count: int, rng: np.random.Generator) -> FloatArray:
    """Changes of S and D, shape (A, 2), for some edges that come back to one random subgraph."""
    graph = objective.graph
    mask, _ = run(graph, "random", max(1, round(share * graph.n_edges)), rng)
    w = mask.astype(np.float64)
    before = objective.terms(w)
    missing = np.flatnonzero(~mask)
    found: list[tuple[float, float]] = []
    for edge in rng.choice(missing, min(count, missing.size), replace=False):
        w[edge] = 1.0
        after = objective.terms(w)
        w[edge] = 0.0
        found.append((after.entropy - before.entropy, after.divergence - before.divergence))
    return np.array(found)


def metric(cell: Cell, seed: int) -> Tables:
    """The triangle inequality of √D, and of D for contrast, over all triples of a set of graphs."""
    whole, y = _set(cell["set"], cell["graphs"], generator(seed, "metric", cell["set"]))
    y = np.unique(y / y.sum(axis=1, keepdims=True), axis=0)
    own = exact_values(whole, y)
    first, second = np.triu_indices(len(y), 1)
    between = np.zeros((len(y), len(y)))
    mixed = np.concatenate([exact_values(whole, (y[i] + y[j]) / 2) for i, j in _blocks(first, second)])
    between[first, second] = between[second, first] = np.maximum(mixed - (own[first] + own[second]) / 2, 0.0)
    root, plain = _slacks(np.sqrt(between)), _slacks(between)
    row = {
        "set": cell["set"],
        "graphs": len(y),
        "triples": root.size,
        "least": float(root.min()),
        "fails": int((root < -1e-7).sum()),  # √ of what an entropy is off by
        "plain_fails": int((plain < -1e-7).sum()),
        "largest": float(between.max()),
    }
    return {"metric": [row]}


def _blocks(first: Any, second: Any, size: int = 2000) -> list[tuple[Any, Any]]:
    pieces = max(1, first.size // size)
    return list(zip(np.array_split(first, pieces), np.array_split(second, pieces), strict=True))


def _slacks(d: FloatArray) -> FloatArray:
    """d_ik + d_kj − d_ij for all triples of different i < j and k."""
    n = len(d)
    i, j = np.triu_indices(n, 1)
    found: list[FloatArray] = []
    for k in range(n):
        other = (i != k) & (j != k)
        found.append(d[i[other], k] + d[k, j[other]] - d[i[other], j[other]])
    return np.concatenate(found)


def _set(name: str, count: int, rng: np.random.Generator) -> tuple[Graph, FloatArray]:
    """A graph and weightings of its edges, shape (B, M): the graphs of the set on the same nodes."""
    if name == "karate":
        whole = build("karate", 0)
        shares = rng.uniform(0.05, 1, count)[:, None]
        return whole, np.maximum(rng.random((count, whole.n_edges)) < shares, np.eye(1, whole.n_edges)).astype(float)
    whole = complete(6 if name == "atlas" else 30)
    if name == "atlas":
        graphs = [Graph.from_edges(*rng.permutation(6)[[g.source, g.target]], n_nodes=6) for g in atlas(6, 6)]
        return whole, np.array([_placed(whole, g) for g in graphs[:count]])
    present = rng.random((count, whole.n_edges)) < rng.uniform(1, 20, count)[:, None] / 29
    weights = np.exp(rng.standard_normal(present.shape) * (np.arange(count) % 2)[:, None])  # of every other graph
    return whole, np.where(present, weights, 0.0)


def _placed(whole: Graph, graph: Graph) -> FloatArray:
    n = whole.n_nodes
    return np.isin(whole.source * n + whole.target, graph.source * n + graph.target).astype(float)


def gamma(cell: Cell, seed: int) -> Tables:
    """The spectral constant of random subgraphs, by the share of edges kept."""
    graph = random_graph(cell["model"], cell["n"], cell["degree"], seed)
    rng = generator(seed, "gamma", cell)
    rows: list[dict[str, Any]] = []
    for share in (s / 10 for s in range(1, 11)):
        for repeat in range(cell["repeats"]):
            mask, _ = run(graph, "random", max(1, round(share * graph.n_edges)), rng)
            found = report(graph, graph.select(mask), measures=("spectral_constant", "spectral_lower"))
            value, lower = found["spectral_constant"], found["spectral_lower"]
            head = {"model": cell["model"], "degree": cell["degree"], "share": share, "repeat": repeat}
            rows.append({**head, "gamma": value, "scaled": float(np.sqrt(value * lower))})
    return {"gamma": rows}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The Corollary, the metric and γ."""
    return [*_corollary(frames["corollary"], facts), _metric(frames["metric"], facts), _gamma(frames["gamma"], facts)]


def _corollary(table: Any, facts: Facts) -> list[Verdict]:
    total = table[["tried", "falls", "S_rises", "both"]].sum()
    facts.add("returned", total["tried"], "corollary", "edges of the original that came back to random subgraphs")
    holds = facts.add("holds", total["falls"] / total["tried"], "corollary", "share after which D is not larger")
    under = facts.add("under", total["both"] / total["S_rises"], "corollary", "the same where S does not fall")
    rest = total["tried"] - total["S_rises"]
    facts.add("exceptions", total["S_rises"] - total["both"], "corollary", "edges that raise S and D")
    facts.add("not_under", (total["falls"] - total["both"]) / max(rest, 1), "corollary", "the same where S falls")
    facts.add("S_falls", rest / total["tried"], "corollary", "share after which S is lower")
    by_graph = table.groupby("graph")[["tried", "falls"]].sum()
    facts.add("weakest", (by_graph["falls"] / by_graph["tried"]).min(), "corollary", "the share on the weakest graph")
    rare = (by_graph["falls"] / by_graph["tried"]).idxmin()
    exact: Outcome = "reproduced" if under == 1 else "conditional" if under > 0.5 else "not reproduced"
    clear = table.groupby("graph", sort=False)[["S_rises", "both"]].sum()
    without = ", ".join(clear.index[clear["S_rises"] == clear["both"]])
    return [
        Verdict(
            "Adding an edge of the original back is prone to lower the divergence from it",
            "Corollary 1, §3.2.1",
            "D does not rise with {holds:.2%} of {returned:.0f} edges; {weakest:.2%} on the graph where that is "
            f"rarest ({rare})",
            "reproduced" if facts["weakest"] > 0.5 else "conditional" if holds > 0.5 else "not reproduced",
        ),
        Verdict(
            "Under Assumption 1, an edge of the original that comes back never raises the divergence",
            "Corollary 1",
            "where S does not fall, D does not rise with {under:.2%} of the edges: {exceptions:.0f} exceptions",
            exact,
            f"without exceptions on {without or 'none of the graphs'}; the proof is of first order; where S falls, "
            "with {S_falls:.1%} of the edges, D does not rise with {not_under:.2%} of them",
        ),
    ]


def _metric(table: Any, facts: Facts) -> Verdict:
    facts.add("triples", table["triples"].sum(), "metric", "triples of graphs on the same nodes")
    fails = facts.add("metric_fails", table["fails"].sum(), "metric", "triples that break the inequality of √D")
    facts.add("plain_fails", table["plain_fails"].sum(), "metric", "triples that break the inequality of D itself")
    facts.add("metric_least", table["least"].min(), "metric", "least d(a, c) + d(c, b) − d(a, b), d = √D in √nats")
    return Verdict(
        "The square root of the quantum Jensen–Shannon divergence satisfies the triangle inequality",
        "§3.2",
        "{metric_fails:.0f} of {triples:.0f} triples break it (least slack {metric_least:.1e}); D without the root "
        "breaks it on {plain_fails:.0f}",
        "reproduced" if fails == 0 else "not reproduced",
    )


def _gamma(table: Any, facts: Facts) -> Verdict:
    table = table[table["share"] < 1]
    finite = facts.add(
        "finite", np.isfinite(table["gamma"]).mean(), "gamma", "share of runs with finite γ, below 100 %"
    )
    by_share = table.assign(finite=np.isfinite(table["gamma"])).groupby(["model", "degree", "share"])
    whole = by_share["finite"].all().reset_index()
    facts.add("always", whole["finite"].sum(), "gamma", "pairs of graph and share with finite γ in every run")
    facts.add("pairs", len(whole), "gamma", "pairs of graph and share")
    facts.add("half", 0.5, "gamma", "the share that is shown")
    middle = table[table["share"] == 0.5].groupby(["model", "degree"])["gamma"].median()
    facts.add("gamma_low", middle.min(), "gamma", "least median γ of a graph at half of the edges")
    facts.add("gamma_high", middle.max(), "gamma", "largest median γ of a graph at half of the edges")
    suited = table[table["share"] == 0.5].groupby(["model", "degree"])["scaled"].median().min()
    facts.add("scaled_low", suited, "gamma", "least median of γ with all weights times the factor that makes it least")
    thin, dense = (table[table["degree"] == d] for d in (table["degree"].min(), table["degree"].max()))
    for name, rows in (("thin", thin), ("dense", dense)):
        facts.add(f"{name}_degree", rows["degree"].iloc[0], "gamma", "mean degree of the original")
        shares = rows.assign(finite=np.isfinite(rows["gamma"])).groupby("share")["finite"].all()
        good = shares[shares[::-1].cummin()[::-1]]
        least = good.index.min() if len(good) else np.inf
        facts.add(f"{name}_from", least, "gamma", "least share from which on γ is finite in every run")
    return Verdict(
        "The random sparsifier satisfies the spectral property",
        "§3.2.1, Eq. spectral_property",
        "γ is finite in {finite:.1%} of the runs below all edges, and in all runs at {always:.0f} of {pairs:.0f} pairs "
        "of graph and share; at {half:.0%} of the edges its median is {gamma_low:.3g} to {gamma_high:.3g}, and "
        "{scaled_low:.3g} at best where the kept weights are scaled to suit",
        "reproduced" if finite == 1 else "conditional" if finite > 0 else "not reproduced",
        "γ is infinite where the subgraph falls apart; in every run it is finite from {dense_from:.0%} of the edges on "
        "at mean degree {dense_degree:.0f}, and from {thin_from:.0%} on at {thin_degree:.0f}",
    )
