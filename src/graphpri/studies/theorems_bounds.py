"""Theorems 1 to 3: an edge more, the gap between the degree entropy and the exact one, and how it closes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from graphpri.entropy import evaluate, scaled
from graphpri.graph import Graph
from graphpri.studies.families import RANDOM, absent_pairs, build, drawn, entropies_with
from graphpri.studies.study import Cell, Facts, Frames, Outcome, Tables, Verdict, generator

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
        before, after = entropies_with(graph, pairs)
        total = 2 * graph.n_edges + 2
        slack = after - (total - 2) / total * before
        head = {"graph": name, "nodes": graph.n_nodes, "edges": graph.n_edges, "tried": after.size, "S": before}
        rows.append({**head, "least_slack": float(slack.min()), "raised": int((after >= before).sum())})
    return {"additions": rows}


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
    strengths = np.bincount(graph.source, w, graph.n_nodes) + np.bincount(graph.target, w, graph.n_nodes)
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


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
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
        "reproduced" if min(slack, slack_small) >= -_ROUNDING else "not reproduced",
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
    outcome: Outcome = "not reproduced" if not holds.all() else "conditional" if mixed.any() else "reproduced"
    return Verdict(
        "The gap between degree entropy and entropy is between 0 and log₂e · tr(W²)/(δ d)",
        "Theorem 2",
        "with H and S in one base it holds on {within:.0f} of {compared:.0f} graphs ({weighted:.0f} weighted), and the "
        "gap reaches {tightest:.1%} of the bound; with H in bits as printed and S in nats, the gap is beyond the bound "
        "on {mixed_fails:.0f}",
        outcome,
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
    outcome: Outcome = "reproduced" if all(bounded) else "conditional" if any(bounded) else "not reproduced"
    return Verdict(
        "H/S − 1 is not negative and decays like 1/log₂ N for almost all graphs",
        "Theorem 3",
        "H/S − 1 is at least {least_ratio:.2e}; the power of log₂ N by which it falls from N = {smallest_n:.0f} to "
        f"{{largest_n:.0f}} (and what becomes of (H/S − 1) log₂ N on the way): {'; '.join(text for text, _ in found)}",
        outcome if least >= -_ROUNDING else "not reproduced",
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
    shown = "half of all pairs joined" if str(degree) == "half" else f"degree {degree}"
    return f"{family}, {shown}: {{power_{key}:.2f}} (× {{growth_{key}:.2f}})", float(growth)
