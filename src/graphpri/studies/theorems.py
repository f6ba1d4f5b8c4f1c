"""Theorems 1 to 4, the Corollary, the lemmas, and what §3.2 says of the star, the metric and random sampling."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from graphpri import baselines as baselines  # registers the methods
from graphpri._entropy import scaled
from graphpri._entropy.by_name import evaluate
from graphpri._objective import Objective
from graphpri.baselines import run
from graphpri.graph import FloatArray, Graph
from graphpri.interop import as_graph
from graphpri.measures import report
from graphpri.studies.graphs import (
    MODELS,
    RANDOM,
    Pairs,
    absent_pairs,
    available,
    build,
    complete,
    drawn,
    entropies_with,
    exact_values,
    random_graph,
)
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    dots,
    generator,
    grade,
    look,
    panels,
    where,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Theorems 1 to 3: an edge more, the gap between the degree entropy and the exact one, and how it closes

_ROUNDING = 1e-10
"""What exact entropies may be off by, in nats."""

_GROWTH = 1.05
"""What (H/S − 1) log₂ N may grow by over all sizes where the ratio falls like 1/log₂ N."""

_LOG2E = float(np.log2(np.e))


def additions(cell: Cell, seed: int) -> Tables:
    """Theorem 1: S before and after single edges are added, and by how much it stays above the bound."""
    rows: list[dict[str, Any]] = []
    for name in cell["graphs"]:
        graph = build(name, seed)
        pairs = drawn(absent_pairs(graph), cell["additions"], generator(seed, "theorem 1", name))
        before, after, slack = _slack(graph, pairs)
        head = {"graph": name, "nodes": graph.n_nodes, "edges": graph.n_edges, "tried": after.size, "S": before}
        rows.append({**head, "least_slack": float(slack.min()), "raised": int((after >= before).sum())})
    return {"additions": rows}


def _slack(graph: Graph, pairs: Pairs) -> tuple[float, FloatArray, FloatArray]:
    """S before and after single edges are added, and by how much it is above Theorem 1's (d − 2)/d S."""
    before, after = entropies_with(graph, pairs)
    d = 2 * graph.n_edges + 2
    return before, after, after - (d - 2) / d * before


def gaps(cell: Cell, seed: int) -> Tables:
    """Theorem 2: the gap H − S and what bounds it, both in nats."""
    rows: list[dict[str, Any]] = []
    for name in cell["graphs"]:
        for number in range(cell["numbers"] if name.split()[0] in RANDOM else 1):
            graph = build(name, seed, number)
            head = {"graph": name, "number": number, "nodes": graph.n_nodes, "weighted": graph.is_weighted}
            rows.append(head | gap(graph))
    return {"gaps": rows}


def gap(graph: Graph) -> dict[str, float]:
    """S and H in nats, and the bound tr(W²)/(δ d_G) of their difference."""
    w = scaled(graph.weights)
    strengths = graph.strengths(w)
    least = float(strengths[strengths > 0].min())
    s, h = (evaluate(graph, kind).value for kind in ("exact", "degree"))
    return {"S": s, "H": h, "bound": float((w**2).sum() / w.sum()) / least}


def decay(cell: Cell, seed: int) -> Tables:
    """Theorem 3: H and S of one family as it grows."""
    rows: list[dict[str, Any]] = []
    for n, numbers in cell["sizes"]:
        degree = (n - 1) / 2 if cell["degree"] == "half" else cell["degree"]
        for number in range(numbers):
            found = gap(build(f"{cell['family']} {n} {degree}", seed, number))
            head = {"family": cell["family"], "degree": str(cell["degree"]), "nodes": n, "number": number}
            rows.append({**head, "S": found["S"], "H": found["H"]})
    return {"decay": rows}


def judge_bounds(frames: Frames, facts: Facts) -> list[Verdict]:
    """Theorems 1, 2 and 3."""
    return [
        _theorem1(frames["additions"], frames["atlas"], facts),
        _theorem2(frames["gaps"], frames["atlas"], facts),
        _theorem3(frames["decay"], facts),
    ]


def _theorem1(table: Any, atlas: Any, facts: Facts) -> Verdict:
    small = atlas[atlas["tried"] > 0]
    facts.add("added", table["tried"].sum(), "additions", "edges added to random and real graphs")
    facts.add("added_small", small["tried"].sum(), "atlas", "edges added to all small graphs")
    slack = facts.add("slack", table["least_slack"].min(), "additions", "least S(G') − (d − 2)/d S(G), nats")
    slack_small = facts.add("slack_small", small["least_slack"].min(), "atlas", "the same over all small graphs")
    raised = (table["raised"].sum() + small["raised"].sum()) / (table["tried"].sum() + small["tried"].sum())
    facts.add("raised", raised, "additions", "share of all these additions that does not lower S")
    facts.add("most_nodes", atlas["nodes"].max(), "atlas", "nodes of the largest of the small graphs")
    return Verdict(
        "Adding an edge keeps at least the share (d − 2)/d of the entropy, d being the new degree sum",
        "Theorem 1",
        "holds for all of {added:.0f} edges added to random and real graphs (least slack {slack:.5f} nats) and of "
        "{added_small:.0f} added to all graphs of up to {most_nodes:.0f} nodes (least slack {slack_small:.5f}); S "
        "itself is not lowered by {raised:.1%} of them"
        if min(slack, slack_small) >= -_ROUNDING
        else "the least slack is {slack:.5f} nats on random and real graphs, {slack_small:.5f} on all small ones",
        grade(min(slack, slack_small) >= -_ROUNDING),
    )


def _theorem2(table: Any, atlas: Any, facts: Facts) -> Verdict:
    h, s, bound = (np.concatenate([table[name], atlas[name]]) for name in ("H", "S", "bound"))
    gap_ = h - s
    facts.add("compared", gap_.size, "gaps", "graphs: random, real, and all small ones (atlas)")
    facts.add("weighted", table["weighted"].sum(), "gaps", "of them weighted")
    holds = (gap_ >= -_ROUNDING) & (gap_ <= bound + _ROUNDING)
    facts.add("within", holds.sum(), "gaps", "graphs with 0 ≤ H − S ≤ tr(W²)/(δ d), all in nats")
    facts.add("tightest", (gap_ / bound).max(), "gaps", "largest share of the bound that H − S reaches, one base")
    mixed = h * _LOG2E - s > _LOG2E * bound + _ROUNDING
    facts.add("mixed_fails", mixed.sum(), "gaps", "graphs beyond the bound with H in bits and S in nats")
    facts.add("looser", (_LOG2E * bound / bound).max(), "gaps", "bound with log₂e over the bound in nats")
    return Verdict(
        "The gap between degree entropy and entropy is between 0 and log₂e · tr(W²)/(δ d)",
        "Theorem 2",
        "with H and S in one base it holds on {within:.0f} of {compared:.0f} graphs ({weighted:.0f} weighted), and the "
        "gap reaches {tightest:.1%} of the bound; with H in bits as printed and S in nats, the gap is beyond the bound "
        "on {mixed_fails:.0f}",
        grade(holds.all() and not mixed.any(), holds.all()),
        "H and S must be in one base: both in bits it is as printed, both in nats log₂e falls away; keeping it for "
        "nats makes the bound {looser:.3f} times looser",
    )


def ratios(table: Any) -> Any:
    """Mean of H/S − 1 by family, mean degree and size."""
    table = table.assign(ratio=table["H"] / table["S"] - 1)
    return table.groupby(["family", "degree", "nodes"], sort=False)["ratio"].mean().reset_index()


def _theorem3(table: Any, facts: Facts) -> Verdict:
    families = list(ratios(table).groupby(["family", "degree"], sort=False))
    found = [_rate(family, degree, rows.sort_values("nodes"), facts) for (family, degree), rows in families]
    least = facts.add("least_ratio", (table["H"] / table["S"] - 1).min(), "decay", "smallest H/S − 1")
    facts.add("smallest_n", table["nodes"].min(), "decay", "smallest N")
    facts.add("largest_n", table["nodes"].max(), "decay", "largest N")
    bounded = [growth <= _GROWTH for _, growth in found]
    return Verdict(
        "H/S − 1 is not negative and decays like 1/log₂ N for almost all graphs",
        "Theorem 3",
        "H/S − 1 is at least {least_ratio:.2e}; the power of log₂ N by which it falls from N = {smallest_n:.0f} to "
        f"{{largest_n:.0f}} (and what becomes of (H/S − 1) log₂ N on the way): {'; '.join(text for text, _ in found)}",
        grade(least >= -_ROUNDING and all(bounded), least >= -_ROUNDING and any(bounded)),
        "the rate is a bound: families of one mean degree keep about to it, and where half of all pairs are joined, as "
        "in almost all graphs, the ratio falls much faster",
    )


def _rate(family: str, degree: Any, rows: Any, facts: Facts) -> tuple[str, float]:
    """How a family's H/S − 1 falls with log₂ N: in words, and what it times log₂ N grows by."""
    logs = np.log2(rows["nodes"].to_numpy(float))
    ratio = np.maximum(rows["ratio"].to_numpy(), 1e-300)
    key, of = f"{family}_{degree}", f"{family}, mean degree {degree}"
    power = stats.linregress(np.log(logs), np.log(ratio))[0]
    growth = ratio[-1] * logs[-1] / (ratio[0] * logs[0])
    facts.add(f"power_{key}", power, "decay", f"slope of ln(H/S − 1) against ln log₂ N, {of}")
    facts.add(f"growth_{key}", growth, "decay", f"(H/S − 1) log₂ N at the largest N over that at the smallest, {of}")
    label = "half of all pairs joined" if str(degree) == "half" else f"degree {degree}"
    return f"{family}, {label}: {{power_{key}:.2f}} (× {{growth_{key}:.2f}})", float(growth)


# The Corollary, the square root of the divergence as a metric, and the spectral property of random sampling

_EQUAL_CHANGES = 1e-12


def corollary(cell: Cell, seed: int) -> Tables:
    """S and D before and after edges of the original come back to random subgraphs."""
    graph = build(cell["graph"], seed)
    objective = Objective(graph, 1.0)
    rows: list[dict[str, Any]] = []
    for share in cell["shares"]:
        rng = generator(seed, "corollary", cell["graph"], share)
        changes = np.concatenate([_returned(objective, share, cell["additions"], rng) for _ in range(cell["repeats"])])
        rises = changes[:, 0] >= -_EQUAL_CHANGES
        falls = changes[:, 1] <= _EQUAL_CHANGES
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
        keys = whole.edge_keys()
        return whole, np.array([np.isin(keys, g.edge_keys()).astype(float) for g in graphs[:count]])
    present = rng.random((count, whole.n_edges)) < rng.uniform(1, 20, count)[:, None] / 29
    weights = np.exp(rng.standard_normal(present.shape) * (np.arange(count) % 2)[:, None])  # of every other graph
    return whole, np.where(present, weights, 0.0)


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


def judge_divergence(frames: Frames, facts: Facts) -> list[Verdict]:
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
    shares = by_graph["falls"] / by_graph["tried"]
    rare = shares.idxmin()
    facts.add("weakest", shares.min(), "corollary", "the share on the weakest graph")
    clear = table.groupby("graph", sort=False)[["S_rises", "both"]].sum()
    without = ", ".join(clear.index[clear["S_rises"] == clear["both"]])
    return [
        Verdict(
            "Adding an edge of the original back is prone to lower the divergence from it",
            "Corollary 1, §3.2.1",
            "D does not rise with {holds:.2%} of {returned:.0f} edges; {weakest:.2%} on the graph where that is "
            f"rarest ({rare})",
            grade(facts["weakest"] > 0.5, holds > 0.5),
        ),
        Verdict(
            "Under Assumption 1, an edge of the original that comes back never raises the divergence",
            "Corollary 1",
            "where S does not fall, D does not rise with {under:.2%} of the edges: {exceptions:.0f} exceptions",
            grade(under == 1),
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
        grade(fails == 0),
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
    middle = where(table, share=0.5).groupby(["model", "degree"])["gamma"].median()
    facts.add("gamma_low", middle.min(), "gamma", "least median γ of a graph at half of the edges")
    facts.add("gamma_high", middle.max(), "gamma", "largest median γ of a graph at half of the edges")
    suited = where(table, share=0.5).groupby(["model", "degree"])["scaled"].median().min()
    facts.add("scaled_low", suited, "gamma", "least median of γ with all weights times the factor that makes it least")
    thin, dense = (where(table, degree=d) for d in (table["degree"].min(), table["degree"].max()))
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
        grade(finite == 1, finite > 0),
        f"γ is infinite where the subgraph falls apart; in every run it is finite {_shares(facts, 'dense')} at mean "
        f"degree {{dense_degree:.0f}}, and {_shares(facts, 'thin')} at {{thin_degree:.0f}}",
    )


def _shares(facts: Facts, name: str) -> str:
    """Shares of the edges at which γ is finite in every run, in words."""
    if np.isinf(facts[f"{name}_from"]):
        return "at no share below all edges"
    return f"from {{{name}_from:.0%}} on" if name == "thin" else f"from {{{name}_from:.0%}} of the edges on"


# The star as the graph of least entropy, the regular graph as that of most degree entropy: over all small graphs

_EQUAL_ENTROPIES = 1e-9


@cache
def atlas(smallest: int, largest: int) -> tuple[Graph, ...]:
    """All graphs of so many nodes that have an edge, up to relabelling (at most 7 nodes: Read and Wilson's atlas)."""
    import networkx as nx

    graphs = (as_graph(g) for g in nx.graph_atlas_g() if smallest <= g.number_of_nodes() <= largest)
    return tuple(graph for graph in graphs if graph.n_edges)


def every_graph(cell: Cell, seed: int) -> Tables:
    """S, H and Theorem 1's slack of every graph of some sizes, and of every tree of larger ones."""
    del seed  # nothing is random here
    graphs = [row for n in range(3, cell["nodes"] + 1) for row in map(_measured, atlas(n, n))]
    trees = [row for n in range(cell["nodes"] + 1, cell["tree_nodes"] + 1) for row in map(_tree, trees_of(n))]
    return {"atlas": graphs, "trees": trees}


def _measured(graph: Graph) -> dict[str, Any]:
    degrees = graph.degrees()
    before, after, slack = _slack(graph, absent_pairs(graph))
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "connected": graph.components()[0] == 1,
        "star": _is_star(graph),
        "regular": bool((degrees == degrees[0]).all()),
        **gap(graph),
        "tried": slack.size,
        "raised": int((after >= before - 1e-12).sum()),
        "least_slack": float(slack.min()) if slack.size else np.nan,
    }


def _is_star(graph: Graph) -> bool:
    return graph.n_edges == graph.n_nodes - 1 == graph.degrees().max()


def trees_of(n: int) -> list[Graph]:
    """All trees of n nodes, up to relabelling."""
    import networkx as nx

    return [as_graph(tree) for tree in nx.nonisomorphic_trees(n)]


def _tree(graph: Graph) -> dict[str, Any]:
    found = gap(graph)
    return {"nodes": graph.n_nodes, "star": _is_star(graph), "S": found["S"], "H": found["H"]}


def _star_is_least(table: Any, kind: str) -> int:
    """Sizes at which the star alone has the least entropy."""
    count = 0
    for _, rows in table.groupby("nodes"):
        others = rows[~rows["star"]][kind]
        star = rows[rows["star"]][kind]
        count += int(len(star) == 1 and bool((others > star.iloc[0] + _EQUAL_ENTROPIES).all()))
    return count


def judge_extremes(frames: Frames, facts: Facts) -> list[Verdict]:
    """The star and the regular graph."""
    table, trees = frames["atlas"], frames["trees"]
    connected = table[table["connected"]]
    facts.add("connected", len(connected), "atlas", "connected graphs, one of each shape")
    facts.add("atlas_nodes", table["nodes"].max(), "atlas", "most nodes")
    facts.add("atlas_sizes", table["nodes"].nunique(), "atlas", "numbers of nodes")
    facts.add("tree_count", len(trees), "trees", "trees of more nodes, one of each shape")
    facts.add("tree_nodes", trees["nodes"].max(), "trees", "most nodes of a tree")
    facts.add("tree_sizes", trees["nodes"].nunique(), "trees", "numbers of nodes")
    return [_star(connected, trees, facts), _degree_star(connected, trees, facts), _regular(table, facts)]


def _count_stars(connected: Any, trees: Any, kind: str, keys: tuple[str, str], facts: Facts) -> tuple[bool, bool]:
    """Whether the star alone has the least entropy of this kind at every size, among graphs and trees, and at any."""
    least = facts.add(keys[0], _star_is_least(connected, kind), "atlas", f"sizes at which the star's {kind} is least")
    among = facts.add(keys[1], _star_is_least(trees, kind), "trees", "sizes at which it is, among trees")
    return least == facts["atlas_sizes"] and among == facts["tree_sizes"], least > 0


def _star(connected: Any, trees: Any, facts: Facts) -> Verdict:
    everywhere, somewhere = _count_stars(connected, trees, "S", ("star_sizes", "star_trees"), facts)
    return Verdict(
        "Among connected graphs of one order the star has the least von Neumann entropy",
        "§3.2.2 (conjecture of Dairyko et al.)",
        "the star alone is least at {star_sizes:.0f} of {atlas_sizes:.0f} sizes up to {atlas_nodes:.0f} nodes "
        "({connected:.0f} graphs, all there are), and among all {tree_count:.0f} trees at {star_trees:.0f} of "
        "{tree_sizes:.0f} sizes up to {tree_nodes:.0f}",
        grade(everywhere, somewhere),
        "among connected graphs: without that, a single edge has entropy 0" if everywhere else "",
    )


def _degree_star(connected: Any, trees: Any, facts: Facts) -> Verdict:
    everywhere, somewhere = _count_stars(connected, trees, "H", ("H_star", "H_star_trees"), facts)
    return Verdict(
        "The degree entropy H is least for the star",
        "§3.2.2",
        "among connected graphs the star alone is least at {H_star:.0f} of {atlas_sizes:.0f} sizes up to "
        "{atlas_nodes:.0f} nodes; among trees at {H_star_trees:.0f} of {tree_sizes:.0f} sizes up to {tree_nodes:.0f}",
        grade(everywhere, somewhere),
    )


def _regular(table: Any, facts: Facts) -> Verdict:
    top = np.log(table["nodes"])
    reach = table["H"] >= top - _EQUAL_ENTROPIES
    facts.add("graphs", len(table), "atlas", "graphs with an edge")
    facts.add("regular", table["regular"].sum(), "atlas", "of them regular")
    wrong = facts.add(
        "wrong", (reach != table["regular"]).sum(), "atlas", "graphs that are regular or have H = ln N, not both"
    )
    facts.add("others", (top - table["H"])[~table["regular"]].min(), "atlas", "least ln N − H of the others, nats")
    return Verdict(
        "The degree entropy H is largest for regular graphs",
        "§3.2.2",
        "over all {graphs:.0f} graphs of up to {atlas_nodes:.0f} nodes, {regular:.0f} are regular; H = ln N for "
        "exactly these ({wrong:.0f} exceptions), all others are at least {others:.4f} nats below",
        grade(wrong == 0),
    )


# Theorem 4, the appendix's gradient of the entropy, and Lemmas 1 to 3, against central differences

_STEP = 1e-4
_AGREE = 1e-6
"""Largest difference, relative to the largest derivative, that central differences leave to a right formula."""


def gradients(cell: Cell, seed: int) -> Tables:
    """The library's gradient, the printed U g, and what each is the derivative of."""
    graph = build(cell["graph"], seed)
    w = generator(seed, "theorem 4", cell["graph"]).uniform(0.2, 1, graph.n_edges)
    rows: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for beta in cell["betas"]:
        found = _Derivatives(graph, w, beta)
        rows.append({"graph": cell["graph"], "weighted": graph.is_weighted, "beta": beta, **found.compared()})
        if cell["graph"].split()[0] == "karate":
            edges += found.listed(cell["graph"])
    return {"gradients": rows} | ({"edges": edges} if edges else {})


class _Derivatives:
    """Derivatives of J at one selection w: by formulas, and by central differences."""

    def __init__(self, graph: Graph, w: FloatArray, beta: float) -> None:
        objective = Objective(graph, beta)
        share = w / w.sum()
        self.graph, self.beta = graph, beta
        self.ours = objective.gradient(w)
        self.printed = self._printed(share)
        self.partial = np.array([_slope(objective.value, w, e) for e in np.eye(w.size)])
        # w_i up by one unit of the normalised w, the others down in proportion.
        directions = (np.eye(w.size) - share) / (1 - share)[:, None]
        self.along = np.array([_slope(objective.value, share, v) for v in directions])
        self.literal = np.array([_slope(self._literal, share, v) for v in directions])

    def _printed(self, share: FloatArray) -> FloatArray:
        """U g of Theorem 4, with w̃ = w/Σw and no other normalisation."""
        u, v = self.graph.source, self.graph.target
        own, mixed = (_matrix_log(self.graph, x) for x in (share, self._mixed(share)))
        inner = (1 - self.beta) * own + self.beta * mixed
        g = -self.graph.weights * (inner[u, u] + inner[v, v] - 2 * inner[u, v])
        return (g - share @ g) / (1 - share)

    def _mixed(self, share: FloatArray) -> FloatArray:
        return (share + 1 / share.size) / 2

    def _literal(self, share: FloatArray) -> float:
        """J with the matrices of Theorem 4, whose traces are not one, in −tr σ ln σ."""
        own, mixed = (_plain_entropy(self.graph, x, 0.0) for x in (share, self._mixed(share)))
        return (1 - self.beta) * own + 2 * self.beta * mixed

    def compared(self) -> dict[str, float]:
        largest = np.abs(self.partial).max()
        return {
            "edges": self.partial.size,
            "library_error": float(np.abs(self.ours - self.partial).max() / largest),
            "signs_wrong": int((np.sign(self.printed) != np.sign(self.partial)).sum()),
            "partial_ratio_least": float((self.printed / self.partial).min()),
            "partial_ratio_most": float((self.printed / self.partial).max()),
            "along_error": float(np.abs(self.printed - 2 * self.along).max() / np.abs(self.printed).max()),
            "literal_error": float(np.abs(self.printed - self.literal).max() / np.abs(self.printed).max()),
        }

    def listed(self, name: str) -> list[dict[str, Any]]:
        columns = zip(self.partial, self.ours, self.printed, self.along, strict=True)
        return [
            {"graph": name, "beta": self.beta, "edge": i, "partial": p, "library": o, "printed": t, "along": a}
            for i, (p, o, t, a) in enumerate(columns)
        ]


def _slope(f: Callable[[FloatArray], float], x: FloatArray, direction: FloatArray) -> float:
    """Central difference, with a step that is small beside every entry of x."""
    step = _STEP * float(x.min()) / max(1.0, float(np.abs(direction).max())) / 0.2
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


def _spectrum(graph: Graph, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.linalg.eigh(graph.laplacian(graph.weights * y).toarray())


def _matrix_log(graph: Graph, y: FloatArray) -> FloatArray:
    """Logarithm of Σ y μ b bᵀ on its range."""
    lam, vectors = _spectrum(graph, y)
    return (vectors * np.log(np.where(lam > 1e-13 * lam.max(), lam, 1.0))) @ vectors.T


def _plain_entropy(graph: Graph, y: FloatArray, linear: float) -> float:
    """−Σ (λ ln λ − linear · λ) of a Laplacian that is not normalised."""
    lam = np.maximum(np.linalg.eigvalsh(graph.laplacian(graph.weights * y).toarray()), 0.0)
    return float(-(lam * np.log(np.where(lam > 0, lam, 1.0))).sum() + linear * lam.sum())


def appendix(cell: Cell, seed: int) -> Tables:
    """The appendix's gradient of −tr(σ ln σ − σ), and the three lemmas, on each graph."""
    rows: list[dict[str, Any]] = []
    lemmas: list[dict[str, Any]] = []
    for name in cell["graphs"]:
        rng = generator(seed, "appendix", name)
        graph = build(name, seed)
        w = rng.uniform(0.2, 1, graph.n_edges)
        inner, (u, v) = _matrix_log(graph, w), (graph.source, graph.target)
        printed = -graph.weights * (inner[u, u] + inner[v, v] - 2 * inner[u, v])
        central = np.array([_slope(lambda x, g=graph: _plain_entropy(g, x, 1.0), w, e) for e in np.eye(w.size)])
        error = float(np.abs(printed - central).max() / np.abs(central).max())
        rows.append({"graph": name, "weighted": graph.is_weighted, "edges": w.size, "error": error})
        lemmas.append({"graph": name, **_lemmas(graph, cell["pairs"], rng)})
    return {"appendix": rows, "lemmas": lemmas}


def _lemmas(graph: Graph, pairs: int, rng: np.random.Generator) -> dict[str, float]:
    lam = _positive(graph)
    found = [_moved(lam, rng) for _ in range(pairs)]
    return {
        "lemma1_error": _lemma1(lam),
        "lemma2_error": max(error for error, _ in found),
        "lemma3_least": min(least for _, least in found),
        **_lemma3(graph, pairs, rng),
    }


def _positive(graph: Graph) -> FloatArray:
    """Eigenvalues of the normalised Laplacian of a connected graph, without the zero."""
    return _spectrum(graph, np.full(graph.n_edges, 0.5 / graph.weights.sum()))[0][1:]


def _bits(lam: FloatArray) -> float:
    return -float((lam * np.log2(lam)).sum())


def _lemma1(lam: FloatArray) -> float:
    """Largest difference of Lemma 1's derivative from a central one, relative to the largest."""
    printed = -(_bits(lam) + np.log2(lam)) / (1 - lam)
    directions = (np.eye(lam.size) - lam) / (1 - lam)[:, None]
    # Along these directions the i-th eigenvalue moves by one.
    central = np.array([_slope(_bits, lam, v) for v in directions])
    return float(np.abs(printed - central).max() / np.abs(printed).max())


def _moved(lam: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Along a random change v of sum zero: Lemma 2's relative error, and Σ v (log λ' − log λ) of Lemma 3."""
    v = rng.standard_normal(lam.size)
    v -= v.mean()
    central = _slope(_bits, lam, v)
    scale = float(np.abs(v * np.log2(lam)).sum())
    error = abs(-float(v @ np.log2(lam)) - central) / scale
    step = v * (0.9 * rng.random() * float((lam / np.maximum(np.abs(v), 1e-12)).min()))
    return error, float(step @ (np.log2(lam + step) - np.log2(lam)))


def _lemma3(graph: Graph, pairs: int, rng: np.random.Generator) -> dict[str, float]:
    """Lemma 3 between the spectra of a graph and of the graph with an edge more, whether S rises or falls."""
    lam = _positive(graph)
    rises, falls = [], []
    for u, v in zip(*drawn(absent_pairs(graph), pairs, rng), strict=True):
        ends = np.append(graph.source, u), np.append(graph.target, v)
        weights = np.append(graph.weights, 1.0)
        other = _positive(Graph.from_edges(*ends, weights, n_nodes=graph.n_nodes))
        value = float((other - lam) @ (np.log2(other) - np.log2(lam)))
        (rises if _bits(other) >= _bits(lam) else falls).append(value)
    return {
        "rises": len(rises),
        "rises_least": min(rises, default=np.nan),
        "falls": len(falls),
        "falls_least": min(falls, default=np.nan),
    }


def judge_gradient(frames: Frames, facts: Facts) -> list[Verdict]:
    """Theorem 4, the library's gradient, the appendix's gradient, the lemmas."""
    table = frames["gradients"]
    plain, weighted = table[~table["weighted"]], table[table["weighted"]]
    facts.add("edge_cases", table["edges"].sum(), "gradients", "edges, summed over graphs and β")
    return [
        _theorem4(plain, weighted, facts),
        _library(table, facts),
        _appendix(frames["appendix"], facts),
        *_of_lemmas(frames["lemmas"], facts),
    ]


def _theorem4(plain: Any, weighted: Any, facts: Facts) -> Verdict:
    facts.add("ratio_least", plain["partial_ratio_least"].min(), "gradients", "least U g over ∂J/∂w, equal weights")
    facts.add("ratio_most", plain["partial_ratio_most"].max(), "gradients", "largest U g over ∂J/∂w, equal weights")
    signs = facts.add("signs_plain", plain["signs_wrong"].sum(), "gradients", "edges with another sign, equal weights")
    facts.add("edges_plain", plain["edges"].sum(), "gradients", "edges, summed over graphs of equal weights and β")
    facts.add("signs_weighted", weighted["signs_wrong"].sum(), "gradients", "edges with another sign, weighted graphs")
    facts.add("edges_weighted", weighted["edges"].sum(), "gradients", "edges, summed over weighted graphs and β")
    along = facts.add("along", plain["along_error"].max(), "gradients", "U g against 2 dJ along w_i up, equal weights")
    facts.add("literal", plain["literal_error"].max(), "gradients", "U g against dJ along it, J of traces as printed")
    off = facts.add("literal_weighted", weighted["literal_error"].max(), "gradients", "the same, weighted graphs")
    partial = max(abs(facts["ratio_least"] - 1), abs(facts["ratio_most"] - 1)) < _AGREE
    why = (
        "where all edge weights are equal U g is the derivative of J along w_i up and the others down in proportion: "
        "twice that of the normalised J (to {along:.1e}), once that of J with the printed matrices, of trace two (to "
        "{literal:.1e}); for unequal weights it is neither (off by up to {literal_weighted:.0%})"
    )
    return Verdict(
        "The gradient of the objective in w is U g",
        "Theorem 4",
        "U g is {ratio_least:.3g} to {ratio_most:.3g} times the partial derivatives where weights are equal, with the "
        "other sign on {signs_plain:.0f} of {edges_plain:.0f} edges; in weighted graphs the sign differs on "
        "{signs_weighted:.0f} of {edges_weighted:.0f}",
        grade(partial),
        why if signs == 0 and along < _AGREE < off else "",
    )


def _library(table: Any, facts: Facts) -> Verdict:
    error = facts.add("library", table["library_error"].max(), "gradients", "largest error of this library's gradient")
    return Verdict(
        "The gradient of this library is the partial derivative of J, on weighted graphs too",
        "graphpri",
        "differs from central differences by at most {library:.1e} of the largest, over {edge_cases:.0f} edges",
        grade(error < _AGREE),
    )


def _appendix(table: Any, facts: Facts) -> Verdict:
    error = facts.add("appendix", table["error"].max(), "appendix", "largest error relative to the largest derivative")
    facts.add("appendix_graphs", len(table), "appendix", "graphs, weighted ones included")
    return Verdict(
        "The gradient of −tr(σ ln σ − σ) of the Laplacian without normalisation is −diag(Bᵀ ln σ B)",
        "Appendix A.3, Theorem 5",
        "differs from central differences by at most {appendix:.1e} of the largest on {appendix_graphs:.0f} graphs",
        grade(error < _AGREE),
    )


def _of_lemmas(table: Any, facts: Facts) -> list[Verdict]:
    first = facts.add("lemma1", table["lemma1_error"].max(), "lemmas", "largest relative error of Lemma 1")
    second = facts.add("lemma2", table["lemma2_error"].max(), "lemmas", "largest relative error of Lemma 2")
    facts.add("lemma_graphs", len(table), "lemmas", "graphs whose spectra were taken")
    facts.add("rises", table["rises"].sum(), "lemmas", "added edges that raise S")
    facts.add("falls", table["falls"].sum(), "lemmas", "added edges that lower S")
    third = facts.add("lemma3", table["rises_least"].min(), "lemmas", "least E_v log₂λ' − E_v log₂λ, S rising, bits")
    facts.add("lemma3_falls", table["falls_least"].min(), "lemmas", "the same where S falls, bits")
    facts.add("lemma3_random", table["lemma3_least"].min(), "lemmas", "the same for random changes, bits")
    return [
        Verdict(
            "Lemmas 1 and 2 give the derivatives of the entropy in its eigenvalues",
            "Appendix A.2, Lemmas 1 and 2",
            "they differ from central differences by at most {lemma1:.1e} and {lemma2:.1e} on {lemma_graphs:.0f} "
            "spectra",
            grade(max(first, second) < _AGREE),
            "for positive eigenvalues: at zero, which every Laplacian has, the slope is infinite",
        ),
        Verdict(
            "Where S does not fall from λ to λ', E_v log λ' is at least E_v log λ",
            "Appendix A.2, Lemma 3",
            "the least difference is {lemma3:.1e} bits over {rises:.0f} added edges that raise S",
            grade(third >= 0),
            "the condition is not needed: it is {lemma3_falls:.1e} bits or more over {falls:.0f} edges that lower S, "
            "and {lemma3_random:.1e} or more for random changes",
        ),
    ]


# All of them as one study

_TOPICS: dict[str, Callable[[Cell, int], Tables]] = {
    "additions": additions,
    "gaps": gaps,
    "decay": decay,
    "gradients": gradients,
    "appendix": appendix,
    "corollary": corollary,
    "metric": metric,
    "gamma": gamma,
    "extremes": every_graph,
}
_RANDOM = ("ER 100 4", "ER 100 10", "BA 100 2", "BA 100 6", "WS 100 6", "SBM 100 8", "grid 10 10", "path 100 2")
_FAMILIES = (("ER", 10), ("BA", 10), ("WS", 10), ("ER", "half"))


def cells(quick: bool) -> list[Cell]:
    """Topic by topic and graph by graph."""
    return _quick() if quick else _whole()


def _quick() -> list[Cell]:
    small = ["karate", "ER 30 4", "BA 30 4"]
    return [
        {"topic": "decay", "family": "ER", "degree": 10, "sizes": [(50, 2), (100, 1), (200, 1)]},
        {"topic": "decay", "family": "ER", "degree": "half", "sizes": [(50, 2), (100, 1), (200, 1)]},
        {"topic": "extremes", "nodes": 6, "tree_nodes": 8},
        *({"topic": "gradients", "graph": g, "betas": [2]} for g in ("karate", "karate weighted", "weights 16 5")),
        *({"topic": "corollary", "graph": g, "shares": [0.3, 0.7], "repeats": 3, "additions": 8} for g in small),
        {"topic": "gamma", "model": "ER", "n": 40, "degree": 4, "repeats": 3},
        {"topic": "gamma", "model": "ER", "n": 40, "degree": 12, "repeats": 3},
        {"topic": "metric", "set": "karate", "graphs": 12},
        {"topic": "metric", "set": "atlas", "graphs": 40},
        {"topic": "additions", "graphs": small, "additions": 20},
        {"topic": "gaps", "graphs": [*small, "weights 30 4"], "numbers": 3},
        {"topic": "appendix", "graphs": ["karate", "karate weighted", "BA 20 4"], "pairs": 15},
    ]


def _whole() -> list[Cell]:
    real = available(("karate", "madrid", "polbooks", "jazz"))
    heavy = [f"{name} weighted" for name in available(("karate", "madrid", "lesmis", "celegans", "us-airports"))]
    sizes = [(2000, 2), (1000, 4), (500, 6), (200, 10), (100, 20), (50, 40)]
    shares = [round(0.1 * i, 1) for i in range(1, 10)]
    few = [name for name in real if name != "jazz"]
    return [
        *(
            {"topic": "gradients", "graph": g, "betas": [0.5, 2, 5]}
            for g in ["ER 100 10", *few[::-1], "ER 100 4", *heavy[1::-1], "weights 60 6", "BA 100 2"]
        ),
        *(
            {"topic": "gamma", "model": m, "n": 200, "degree": d, "repeats": 20}
            for m in ("ER", "BA")
            for d in (30, 20, 10)
        ),
        *(
            {"topic": "corollary", "graph": g, "shares": shares, "repeats": 10, "additions": 10}
            for g in [*real[::-1], *_RANDOM]
        ),
        *({"topic": "decay", "family": f, "degree": d, "sizes": sizes[::-1]} for f, d in _FAMILIES),
        *({"topic": "metric", "set": s, "graphs": n} for s, n in (("atlas", 155), ("dense", 80), ("karate", 80))),
        {"topic": "extremes", "nodes": 7, "tree_nodes": 12},
        {"topic": "gaps", "graphs": [*real, *heavy, *_RANDOM, "weights 100 4", "weights 100 10"], "numbers": 30},
        {"topic": "additions", "graphs": [*real, *_RANDOM], "additions": 200},
        {"topic": "appendix", "graphs": [*few, *heavy[:2], "BA 60 6", "WS 60 6", "grid 8 8"], "pairs": 100},
    ]


def work(cell: Cell, seed: int) -> Tables:
    """One topic on one graph or set of graphs."""
    return _TOPICS[cell["topic"]](cell, seed)


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """In the order of the paper's theorems."""
    return [
        *judge_bounds(frames, facts),
        *judge_divergence(frames, facts),
        *judge_extremes(frames, facts),
        *judge_gradient(frames, facts),
    ]


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """The bounds and the extremes above, the gradient, the Corollary and γ below."""
    figure, axes = panels(2, 3, height=2.1)
    _draw_gaps(axes[0, 0], frames["gaps"])
    _draw_decay(axes[0, 1], frames["decay"])
    _draw_atlas(axes[0, 2], frames["atlas"])
    _draw_gradient(axes[1, 0], frames["edges"])
    _draw_corollary(axes[1, 1], frames["corollary"])
    _draw_gamma(axes[1, 2], frames["gamma"])
    return [
        Picture(
            "theorems",
            figure,
            "(a) The gap between degree entropy H and entropy S, and Theorem 2's bound in nats: dots are graphs, none "
            "may be above the line. (b) H/S − 1 by the number of nodes, means over graphs, and the rate 1/log₂ N of "
            "Theorem 3 (grey, through the first point of the first curve). (c) S and H of all connected graphs of the "
            "largest size that was enumerated; the dashed line is ln N. (d) Theorem 4's U g, as printed, against "
            "derivatives of the objective by central differences, karate club: the partial derivative, and that along "
            "w_i up with the others down in proportion. (e) Share of edges of the original whose return to a random "
            "subgraph does not raise the divergence. (f) Spectral constant γ of random subgraphs: medians over the "
            "runs for each model and mean degree, left out where half of them or more are infinite.",
        )
    ]


def _draw_gaps(ax: Axes, table: Any) -> None:
    for i, (weighted, label) in enumerate(((False, "unweighted"), (True, "weighted"))):
        rows = where(table, weighted=weighted)
        ax.plot(rows["bound"], rows["H"] - rows["S"], label=label, **dots(i))
    ends = np.array([table["bound"].min(), table["bound"].max()])
    ax.plot(ends, ends, color="0.5", linewidth=0.8, label="bound")
    ax.set(xscale="log", yscale="log", xlabel="tr(W²)/(δ d) (nats)", ylabel="H − S (nats)", title="(a) Theorem 2")
    ax.legend(loc="upper left")


def _draw_decay(ax: Axes, table: Any) -> None:
    mean = ratios(table)
    for i, ((family, degree), rows) in enumerate(mean.groupby(["family", "degree"], sort=False)):
        label = "half of all pairs" if str(degree) == "half" else MODELS[family]
        curve(ax, rows["nodes"], rows["ratio"], i, label)
        if i == 0:
            rate = rows["ratio"].iloc[0] * np.log(rows["nodes"].iloc[0]) / np.log(rows["nodes"])
            ax.plot(rows["nodes"], rate, color="0.5", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="nodes N", ylabel="H/S − 1", title="(b) Theorem 3")
    ax.legend(loc="lower left")


def _draw_atlas(ax: Axes, table: Any) -> None:
    n = table["nodes"].max()
    rows = table[table["connected"] & (table["nodes"] == n)]
    kinds = ((~rows["star"] & ~rows["regular"], "others"), (rows["regular"], "regular"), (rows["star"], "star"))
    for i, (chosen, label) in enumerate(kinds):
        style: dict[str, Any] = {**dots(i), "markersize": 2 if i == 0 else 5}
        ax.plot(rows[chosen]["S"], rows[chosen]["H"], label=label, **style)
    ax.axhline(np.log(n), color="0.5", linewidth=0.8, linestyle="--")
    ax.set(xlabel="S (nats)", ylabel="H (nats)", title=f"(c) connected graphs, N = {n}")
    ax.legend(loc="lower right")


def _draw_gradient(ax: Axes, table: Any) -> None:
    rows = where(table, graph="karate", beta=2)
    for i, (column, label) in enumerate((("partial", "∂J/∂w"), ("along", "dJ along w_i"))):
        ax.plot(rows["printed"], rows[column], label=label, **dots(i))
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.6, zorder=0)
    ends = np.array([rows["printed"].min(), rows["printed"].max()])
    ax.plot(ends, ends / 2, color="0.5", linewidth=0.8, label="half of U g")
    ax.set(xlabel="U g (nats)", ylabel="derivative (nats)", title="(d) Theorem 4, karate, β = 2")
    ax.legend(loc="upper left")


def _draw_corollary(ax: Axes, table: Any) -> None:
    groups = list(table.groupby("graph", sort=False))
    for name, rows in groups:
        real = name[0].islower() and " " not in name
        share = 100 * rows["falls"] / rows["tried"]
        ax.plot(100 * rows["share"], share, linewidth=0.8, **look(0 if real else 1))
    for i, label in enumerate(("real graphs", "random graphs")):
        ax.plot([], [], label=label, **look(i))
    ax.set(xlabel="edges kept (%)", ylabel="D does not rise (%)", title="(e) Corollary 1", ylim=(40, 102))
    ax.legend(loc="lower right")


def _draw_gamma(ax: Axes, table: Any) -> None:
    for i, ((model, degree), rows) in enumerate(table.groupby(["model", "degree"])):
        middle = rows.groupby("share")["gamma"].median()
        middle = middle[np.isfinite(middle)]
        curve(ax, 100 * middle.index, middle, i, f"{model} {degree}")
    ax.set(yscale="log", xlabel="edges kept (%)", ylabel="γ", title="(f) random sparsifier", xlim=(5, 105))
    ax.legend(loc="lower left", labelspacing=0.3)
