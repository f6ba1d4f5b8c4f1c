"""Appendix A.1: how often one more edge does not lower the entropy, and a family of graphs where it does."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from graphpri import datasets
from graphpri.graph import Graph
from graphpri.studies.graphs import absent_pairs, complete, drawn, entropies_with
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    generator,
    grade,
    look,
    panels,
    where,
)

_PAPER = {1.6: 95.65, 2.5: 88.57, 3.0: 88.82, 4.0: 88.13, 5.0: 87.25}
"""The paper's table: percentage by mean degree, N = 20."""

_CLAIMED = 0.85
_EQUAL = 1e-12
"""Differences of S that count as none, in nats."""

_MODELS = {"p": "G(n, p)", "M": "G(n, M)"}
_SOURCE = "Appendix A.1, Assumption 1"


def cells(quick: bool) -> list[Cell]:
    """Large graphs with sampled additions, small ones with all, and the counterexample."""
    graphs, sampled = (10, 10) if quick else (100, 30)
    large = {"model": "p", "nodes": 200, "graphs": 3 if quick else graphs, "additions": sampled}
    small = {"nodes": 20, "graphs": graphs, "additions": 190}
    return [
        *({**large, "degree": degree} for degree in reversed(_PAPER)),
        *({**small, "model": model, "degree": degree} for model, degree in product(_MODELS, _PAPER)),
        {"largest": 20 if quick else 80},
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Count the additions that do not lower S."""
    if "largest" in cell:
        return {"bipartite": [_bipartite(n) for n in range(5, cell["largest"] + 1)]}
    return {"additions": [_counted(cell, number, seed) for number in range(cell["graphs"])]}


def _counted(cell: Cell, number: int, seed: int) -> dict[str, Any]:
    """One graph: how many absent edges were tried, how many did not lower S, and likewise those between components."""
    rng = generator(seed, "assumption", cell, number)
    graph = _random(cell["model"], cell["nodes"], cell["degree"], rng)
    u, v = drawn(absent_pairs(graph), cell["additions"], rng)
    before, after = entropies_with(graph, (u, v))
    raised = after >= before - _EQUAL
    member = graph.components()[1]
    joining = member[u] != member[v]
    head = {name: cell[name] for name in ("model", "nodes", "degree")}
    return {
        **head,
        "graph": number,
        "edges": graph.n_edges,
        "tried": u.size,
        "raised": int(raised.sum()),
        "joining": int(joining.sum()),
        "joining_raised": int((raised & joining).sum()),
    }


def _random(model: str, n: int, degree: float, rng: np.random.Generator) -> Graph:
    if model == "M":
        return datasets.erdos_renyi(n, degree, rng)
    whole = complete(n)
    while not (present := rng.random(whole.n_edges) < degree / (n - 1)).any():
        pass
    return whole.select(present)


def _bipartite(n: int) -> dict[str, Any]:
    """K(2, n − 2), and the same with its two hubs joined."""
    hubs = np.repeat([0, 1], n - 2)
    graph = Graph.from_edges(hubs, np.tile(np.arange(2, n), 2))
    before, after = entropies_with(graph, (np.array([0]), np.array([1])))
    return {"n": n, "S": before, "S_with_edge": float(after[0])}


def _shares(table: Any) -> Any:
    """Mean share over the graphs by model, size and degree, with its 95 % interval and the range of single graphs."""
    table = table.assign(share=table["raised"] / table["tried"])
    groups = table.groupby(["model", "nodes", "degree"])["share"]
    found = groups.agg(["mean", "sem", "count"])
    reach = stats.t.ppf(0.975, found["count"] - 1) * found["sem"]
    found = found.assign(low=found["mean"] - reach, high=found["mean"] + reach)
    return found.assign(least=groups.quantile(0.025), most=groups.quantile(0.975)).reset_index()


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's share in both sizes, its table, and the counterexample."""
    table, shares = frames["additions"], _shares(frames["additions"])
    facts.add("claimed", _CLAIMED, "additions", "the paper's share")
    for degree in _PAPER:
        facts.add(f"degree_{_key(degree)}", degree, "additions", "mean degree that was asked for")
    small, large = (where(shares, model="p", nodes=n) for n in (20, 200))
    joining = table["joining_raised"].sum() / max(table["joining"].sum(), 1)
    facts.add("joining", joining, "additions", "share not lowered among additions that join two components")
    rest = table[["tried", "raised"]].sum() - table[["joining", "joining_raised"]].sum().to_numpy()
    facts.add("inside", rest["raised"] / rest["tried"], "additions", "share not lowered among all other additions")
    return [
        _of_size("On Erdős–Rényi graphs of 20 nodes, more than 85 % of all added edges", small, facts),
        _of_table(small, where(shares, model="M"), facts),
        _of_size("On graphs of 200 nodes likewise more than 85 % of the added edges", large, facts),
        _of_most(small, large, facts),
        _of_bipartite(frames["bipartite"], facts),
    ]


def _key(degree: float) -> str:
    return f"{degree:g}".replace(".", "_")


def _of_size(claim: str, shares: Any, facts: Facts) -> Verdict:
    """The paper's share, degree by degree."""
    n, above = int(shares["nodes"].iloc[0]), shares["low"] > _CLAIMED
    texts: list[str] = []
    for row in shares.itertuples():
        name, key = f"share_{n}_{_key(row.degree)}", _key(row.degree)
        facts.add(name, row.mean, "additions", f"mean of the shares of G(n, p) graphs, N = {n}")
        facts.add(f"{name}_reach", row.high - row.mean, "additions", "half of its 95 % interval between graphs")
        texts.append(f"{{{name}:.1%}} ± {{{name}_reach:.1%}} at mean degree {{degree_{key}:g}}")
    facts.add(f"graphs_{n}", shares["count"].min(), "additions", "graphs at each degree")
    return Verdict(
        f"{claim} do not lower the entropy",
        _SOURCE,
        f"{'; '.join(texts)} (mean over {{graphs_{n}:.0f}} graphs each, with its 95-in-100 interval)",
        grade(above.all(), above.any()),
        _condition(shares, facts, n),
    )


def _condition(shares: Any, facts: Facts, n: int) -> str:
    above, below = shares[shares["low"] > _CLAIMED], shares[shares["high"] < _CLAIMED]
    parts: list[str] = []
    if len(above):
        facts.add(f"holds_{n}", above["degree"].max(), "additions", "largest degree with the interval above the share")
        parts.append(f"the interval is above {{claimed:.0%}} up to mean degree {{holds_{n}:g}}")
    if len(below):
        facts.add(f"fails_{n}", below["degree"].min(), "additions", "smallest degree with the interval below the share")
        parts.append(f"below it from {{fails_{n}:g}} on")
    why = "an edge that joins two components does not lower S in {joining:.1%} of cases, any other in {inside:.1%}"
    return f"{', '.join(parts)}; {why}" if parts else why


def _of_table(shares: Any, others: Any, facts: Facts) -> Verdict:
    """The paper's five numbers against the mean and against single graphs."""
    paper = np.array([_PAPER[degree] for degree in shares["degree"]]) / 100
    off = paper - shares["mean"].to_numpy()
    facts.add("degrees", len(shares), "additions", "mean degrees")
    # Another hundred graphs would have a mean that is off by as much again.
    near = np.abs(off) <= np.sqrt(2) * (shares["high"] - shares["mean"]).to_numpy()
    facts.add("agree", near.sum(), "additions", "degrees at which the paper's value is within √2 intervals of ours")
    single = (shares["least"] <= paper) & (paper <= shares["most"])
    facts.add("single", single.sum(), "additions", "degrees at which it is within 2.5 to 97.5 % of single graphs")
    facts.add("largest_off", 100 * off.max(), "additions", "largest excess of the paper's value over ours, in points")
    model = np.abs(others["mean"].to_numpy() - shares["mean"].to_numpy()).max()
    facts.add("model_off", 100 * model, "additions", "largest difference of G(n, M) from G(n, p), in points")
    outcome = grade(near.all(), facts["single"] == facts["degrees"])
    return Verdict(
        "The shares at mean degrees 1.6, 2.5, 3, 4, 5 are 95.65, 88.57, 88.82, 88.13 and 87.25 %",
        "Appendix A.1, Table",
        "{agree:.0f} of {degrees:.0f} agree with the mean of as many graphs; the paper's are up to {largest_off:.1f} "
        "points higher; G(n, M) in place of G(n, p) changes ours by at most {model_off:.1f} points",
        outcome,
        "the paper does not say how many graphs it took; its value is within the central 95 in 100 of our single "
        "graphs at {single:.0f} of {degrees:.0f} degrees",
    )


def _of_most(small: Any, large: Any, facts: Facts) -> Verdict:
    least = facts.add("least", min(small["low"].min(), large["low"].min()), "additions", "lowest end of any interval")
    return Verdict(
        "Assumption 1 holds for most added edges",
        _SOURCE,
        "the lowest share's interval, over both sizes and all degrees, starts at {least:.1%}",
        grade(least > 0.5),
    )


def _of_bipartite(table: Any, facts: Facts) -> Verdict:
    drops = table.assign(drop=table["S"] - table["S_with_edge"])
    claimed = drops[drops["n"] > 5]
    facts.add("sizes", len(claimed), "bipartite", "sizes n > 5")
    falls = facts.add("falls", (claimed["drop"] > _EQUAL).sum(), "bipartite", "sizes at which S falls")
    facts.add("largest_n", claimed["n"].max(), "bipartite", "largest n")
    at = where(drops, n=8).iloc[0]
    facts.add("n_shown", at["n"], "bipartite", "the size that is shown")
    facts.add("S_without", at["S"], "bipartite", "S of K(2, 6), nats")
    facts.add("S_with", at["S_with_edge"], "bipartite", "S of K(2, 6) with the edge, nats")
    facts.add("change_5", -where(drops, n=5)["drop"].iloc[0], "bipartite", "change of S at n = 5, nats")
    return Verdict(
        "Joining the two hubs of K(2, n−2) lowers the entropy for every n > 5",
        "Appendix A.1",
        "S falls at {falls:.0f} of {sizes:.0f} sizes up to n = {largest_n:.0f}; at n = {n_shown:.0f} from "
        "{S_without:.4f} to {S_with:.4f} nats; at n = 5 it changes by {change_5:+.4f} nats",
        grade(falls == len(claimed)),
    )


def draw(frames: Frames) -> list[Picture]:
    """Shares by degree in both sizes, beside the paper's; the counterexample by size."""
    figure, axes = panels(1, 3, height=2.1)
    shares = _shares(frames["additions"])
    for ax, n in zip(axes[0], (20, 200), strict=False):
        for i, (model, label) in enumerate(_MODELS.items()):
            rows = where(shares, model=model, nodes=n)
            if len(rows):
                reach = 100 * (rows["high"] - rows["mean"])
                ax.errorbar(rows["degree"], 100 * rows["mean"], reach, label=label, capsize=2, **look(i))
        ax.axhline(100 * _CLAIMED, color="0.5", linewidth=0.6)
        ax.set(title=f"N = {n}", xlabel="mean degree", ylabel="additions that don't lower S (%)", ylim=(70, 100))
    axes[0, 0].plot(list(_PAPER), list(_PAPER.values()), label="the paper's", **look(2))
    axes[0, 0].legend(loc="upper right")
    axes[0, 1].legend(loc="upper right")
    table = frames["bipartite"]
    curve(axes[0, 2], table["n"], 1000 * (table["S_with_edge"] - table["S"]), 3)
    axes[0, 2].axhline(0, color="0.5", linewidth=0.6)
    axes[0, 2].set(title="K(2, n−2), its hubs joined", xlabel="n", ylabel="change of S (10⁻³ nats)")
    return [
        Picture(
            "assumption",
            figure,
            "Share of absent edges whose addition does not lower the von Neumann entropy, in Erdős–Rényi graphs of 20 "
            "nodes (all absent edges) and 200 nodes (a sample of them). Bars: 95 % intervals of the mean over graphs; "
            "grey line: the share that the paper states. Right: change of the entropy when the two hubs of K(2, n−2) "
            "are joined.",
        )
    ]
