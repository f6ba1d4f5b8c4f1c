"""What the landscape says: a verdict for each purpose, and on the default β."""

from __future__ import annotations

from typing import Any

from graphpri.defaults import DEFAULT_BETA
from graphpri.studies.landscape_ranks import ALL, PURPOSES, by_cell
from graphpri.studies.sparsifiers_ranks import told
from graphpri.studies.study import Facts, Frames, Outcome, Verdict

_SOURCE = "graphpri"
NARROW = 5.0
"""Ranks by which a lead may be chance."""

_WORDS = {
    "information": "information (low divergence D from the original)",
    "spectrum": "the spectrum (quadratic form, lowest eigenvalues, slowest mode)",
    "flows": "the largest flows between nodes",
    "connectivity": "components together and nodes covered",
    "distances": "distances (pairs still connected, over their mean stretch)",
    "centralities": "the order of nodes by centrality",
    "degrees": "the degrees (shape of their distribution, order of the nodes)",
    "clustering": "the clustering coefficient",
    "communities": "communities",
    "hubs": "hubs, in a simple graph (high centralisation, low entropy)",
}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """One verdict for each purpose; then the lowest divergence by cell, what β does, and the default."""
    table = frames["landscape"]
    facts.add("graphs", table["graph"].nunique(), "landscape", "graphs")
    facts.add("cells", len(table[["graph", "keep"]].drop_duplicates()), "landscape", "cells of graph and keep ratio")
    ways = table[["method", "beta", "connected"]].drop_duplicates()
    facts.add("ways", len(ways), "landscape", "methods with their β, with and without connectivity")
    return [
        *(_purpose(row, facts) for row in frames["purposes"].itertuples() if row.purpose in PURPOSES),
        _divergence(frames, facts),
        _direction(frames, facts),
        _default(frames, facts),
    ]


def _purpose(row: Any, facts: Facts) -> Verdict:
    name = row.purpose
    facts.add(f"{name}_pri", row.pri_rank, "purposes", f"mean percentile rank for {name} of {row.best_pri}")
    facts.add(f"{name}_other", row.other_rank, "purposes", f"mean percentile rank for {name} of {row.best_other}")
    facts.add(f"{name}_default", row.default_beta_rank, "purposes", f"lower mean percentile rank for {name}, default β")
    ours = told(facts, f"{name}_best", row.best_pri, "purposes")
    wins = row.pri_rank <= row.other_rank
    narrow = 0 < row.other_rank - row.pri_rank < NARROW
    outcome: Outcome = "conditional" if narrow else "reproduced" if wins else "not reproduced"
    return Verdict(
        f"Graph-PRI at its best β keeps {_WORDS[name]} at least as well as the best other method",
        _SOURCE,
        f"of a hundred others {{{name}_pri:.0f}} do better than {ours} on average, {{{name}_other:.0f}} better "
        f"than {row.best_other}, {{{name}_default:.0f}} better than the default β",
        outcome,
        _remark(row, narrow),
    )


def _remark(row: Any, narrow: bool) -> str:
    if narrow:
        return "a narrow lead, and the best of many settings, chosen after the fact"
    if row.pri_rank == row.other_rank:
        return "a tie"
    return "" if row.pri_rank < row.other_rank else f"for this purpose take {row.best_other}"


def _divergence(frames: Frames, facts: Facts) -> Verdict:
    ranks = by_cell(frames)["divergence"].reset_index()
    first = ranks.loc[ranks.groupby(["graph", "keep"])["divergence"].idxmin()]
    facts.add(
        "least_D", (first["method"] == "pri").mean(), "landscape", "share of cells where Graph-PRI has the lowest D"
    )
    share = facts["least_D"]
    lost = first[first["method"] != "pri"].drop_duplicates(["method", "graph"])
    return Verdict(
        "In each cell of graph and keep ratio, the lowest divergence D is Graph-PRI's",
        _SOURCE,
        "in {least_D:.0%} of {cells:.0f} cells on {graphs:.0f} graphs, against {ways:.0f} methods and settings",
        "reproduced" if share == 1 else "conditional" if share > 0.5 else "not reproduced",
        "" if share == 1 else "lower: " + ", ".join(f"{row.method} on {row.graph}" for row in lost.itertuples()),
    )


def _direction(frames: Frames, facts: Facts) -> Verdict:
    """Best β by purpose, without connectivity: hubs at the least, information at the largest."""
    best = frames["betas"]
    free = best[~best["connected"]].set_index("purpose")["best_beta"]
    for name in PURPOSES:
        facts.add(f"{name}_beta", free[name], "betas", f"best β for {name}, without connectivity")
    small = [name for name in PURPOSES if free[name] <= DEFAULT_BETA]
    facts.add("large", len(PURPOSES) - len(small), "betas", "purposes whose best β is above the default")
    facts.add("purposes", len(PURPOSES), "betas", "purposes")
    shown = ", ".join(f"{name} {{{name}_beta:g}}" for name in sorted(PURPOSES, key=lambda name: float(free[name])))
    mostly = "hubs" in small and len(small) <= len(PURPOSES) / 2
    return Verdict(
        "A small β is for hubs, a β above the default for properties that are to be as in the original",
        _SOURCE,
        f"above it for {{large:.0f}} of {{purposes:.0f}} purposes; best β without connectivity: {shown}",
        "reproduced" if small == ["hubs"] else "conditional" if mostly else "not reproduced",
        "" if small == ["hubs"] else f"a small β is best for: {', '.join(small) or 'none'}",
    )


def _default(frames: Frames, facts: Facts) -> Verdict:
    table = frames["betas"].set_index(["purpose", "connected"])
    columns = [column for column in table if column.startswith("β=")]
    default = f"β={DEFAULT_BETA:g}"
    overall = table.loc[(ALL, False)]
    kept = table.loc[[name for name in PURPOSES if name != "hubs"]].xs(False, level="connected")[columns].mean()
    facts.add("default", DEFAULT_BETA, "betas", "default β of this library")
    facts.add("overall_beta", overall["best_beta"], "betas", "best β over all purposes, without connectivity")
    facts.add("overall_default", overall[default], "betas", "mean rank of the default β over all purposes")
    facts.add("overall_best", overall[columns].min(), "betas", "mean rank of the best β over all purposes")
    facts.add("overall_joined", table.loc[(ALL, True)]["best_beta"], "betas", "the same with connectivity")
    facts.add("kept_beta", float(str(kept.idxmin())[2:]), "betas", "best β over all purposes but hubs")
    facts.add("kept_gap", kept[default] - kept.min(), "betas", "ranks that the default β is behind for these")
    same = facts["overall_beta"] == DEFAULT_BETA
    return Verdict(
        "The default β is the best single value over all purposes together",
        _SOURCE,
        "best β over all purposes {overall_beta:g} (rank {overall_best:.1f}, the default {default:g} has "
        "{overall_default:.1f}), connected {overall_joined:g}; without hubs {kept_beta:g}, the default {kept_gap:.1f} "
        "ranks behind",
        "reproduced" if same else "not reproduced",
        "" if same else _why(frames, facts, table.xs(False, level="connected").drop(ALL)[columns]),
    )


def _why(frames: Frames, facts: Facts, table: Any) -> str:
    """The β that is nowhere far from the best, and what it and the default keep without a budget."""
    behind = table.sub(table.min(axis=1), axis=0).max()
    even = facts.add("even", float(str(behind.idxmin())[2:]), "betas", "β that is nowhere far behind the best")
    facts.add("even_gap", behind.min(), "betas", "most ranks that it is behind the best β for a purpose")
    facts.add("default_gap", behind[f"β={DEFAULT_BETA:g}"], "betas", "the same of the default β")
    free = frames["free"]
    share = (free["K"] / free["edges"]).groupby(free["beta"]).median()
    facts.add("free_graphs", free["graph"].nunique(), "free", "graphs without a budget")
    facts.add("even_share", share[even], "free", "median share of the edges that it keeps without a budget")
    facts.add("default_share", share[DEFAULT_BETA], "free", "the same of the default β")
    told = (
        "β={even:g} is nowhere more than {even_gap:.0f} ranks behind the best for a purpose, the default up to "
        "{default_gap:.0f}; but without a budget, where β alone decides, they keep {even_share:.0%} and "
        "{default_share:.0%} of the edges (median of {free_graphs:.0f} graphs)"
    )
    return told + ": one default serves both, and the smaller still sparsifies" * bool(
        share[DEFAULT_BETA] < share[even]
    )
