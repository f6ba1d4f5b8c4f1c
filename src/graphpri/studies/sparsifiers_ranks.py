"""Graph-PRI's rank among the paper's methods: what the paper says of it, for one measure or the other."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from graphpri.studies.graphs import ALPHA, TITLES
from graphpri.studies.study import Facts, Frames, Outcome, Verdict

TABLE = "sparsifiers"
RIVALS = ("random", "local-degree", "local-similarity", "effective-resistance-sampling")
"""The paper's other methods; its effective resistance is the sampling with weights."""
CELL = ["graph", "keep"]
RING = "g1"
"""Its smallest eigenvalue above zero repeats: d_x takes a fixed one of many directions."""
SAME = 1e-9
"""Differences up to this are ties."""


def named(row: Any) -> str:
    """How texts and legends call a method with its setting."""
    if row.method not in ("pri", "gumbel"):
        return str(row.method)
    name = f"β={row.beta:g}, α={row.alpha:g}"
    name += ", connected" * bool(row.connected) + ", reweighted" * bool(row.reweight)
    return f"Algorithm 1, {name}" if row.method == "gumbel" else f"Graph-PRI, {name}"


def told(facts: Facts, key: str, name: str, table: str = TABLE) -> str:
    """A method's name for a verdict, where its β and α are facts as every other number."""
    for symbol, word in (("β", "beta"), ("α", "alpha")):
        if found := re.search(rf"{symbol}=([\d.]+)", name):
            facts.add(f"{key}_{word}", float(found[1]), table, f"{symbol} of {name}")
            name = name.replace(found[0], f"{symbol}={{{key}_{word}:g}}")
    return name


def medians(frames: Frames, measure: str) -> Any:
    """Median over the seeds: a row a cell of graph and keep ratio, a column a method with its setting."""
    table = frames[TABLE]
    table = table.assign(way=[named(row) for row in table.itertuples()])
    return table.groupby([*CELL, "way"])[measure].median().unstack("way")


def ranks(table: Any, *, low: bool) -> Any:
    """Rank of each setting of Graph-PRI among the paper's four other methods; NaN where the budget is too small."""
    value = table if low else -table
    ours = value[[way for way in value if way.startswith(("Graph-PRI", "Algorithm"))]]
    rank: Any = 1
    for rival in RIVALS:
        rank = rank + ours.gt(value[rival] + SAME, axis=0)
    return rank.where(ours.notna())


class _Best(NamedTuple):
    """The setting of Graph-PRI that is first or second most often, and in which cells."""

    name: str
    rank: Any


def _best(found: Any) -> _Best:
    share = (found <= 2).sum() / found.notna().sum()
    name = str((share + 1e-6 * (found == 2).sum() / found.notna().sum()).idxmax())
    return _Best(name, found[name].dropna())


def second_best(facts: Facts, frames: Frames, measure: str, words: str, *, low: bool) -> list[Verdict]:
    """Graph-PRI is always second best, and local degree the best."""
    table = medians(frames, measure)
    everything = ranks(table, low=low)
    found = everything[[way for way in everything if f"α={ALPHA:g}" in way]]
    every, held = _best(found.loc[:, found.notna().all()]), _best(found)
    how = f"of its cells where {every.name} ranks"
    facts.add("settings", found.shape[1], TABLE, f"settings of Graph-PRI and of Algorithm 1 with α={ALPHA:g}")
    facts.add("cells", len(found), TABLE, "cells of graph and keep ratio")
    facts.add("second", (every.rank == 2).mean(), TABLE, f"share {how} second of five methods")
    facts.add("two", (every.rank <= 2).mean(), TABLE, f"share {how} first or second of five methods")
    facts.add("held", len(held.rank), TABLE, f"cells of {held.name}")
    facts.add("held_two", (held.rank <= 2).mean(), TABLE, f"share of its cells where {held.name} is first or second")
    facts.add("held_second", (held.rank == 2).mean(), TABLE, f"share of its cells where {held.name} is second")
    tied = (table[held.name] - table["local-degree"])[held.rank.index].abs() <= SAME
    facts.add("held_tied", tied.mean(), TABLE, f"share of its cells where {held.name} is level with local degree")
    start = always_from(held.rank <= 2)
    facts.add("start", start, TABLE, f"keep ratio from which on {held.name} is first or second on every graph")
    outcome: Outcome = "reproduced" if facts["two"] == 1 else "conditional" if start <= 0.5 else "not reproduced"
    name, kept = told(facts, "every", every.name), told(facts, "held", held.name)
    holds = f"{kept} is first or second in {{held_two:.0%}} of the {{held:.0f}} cells that it can do"
    holds += (
        " and in every one from keep ratio {start:.1f} on"
        if start < 1
        else ", second in {held_second:.0%}; no setting is in all of them from any keep ratio on"
    )
    holds += ", level with local degree in {held_tied:.0%}" * bool(facts["held_tied"])
    holds += _without_alpha(facts, everything, found) + _without_ring(facts, held.rank, low=low)
    return [
        Verdict(
            f"Graph-PRI always has the second {words}, of five methods",
            "§4.1",
            "the best of {settings:.0f} settings that can do all cells, "
            f"{name}, is second in {{second:.0%}} and first or second in {{two:.0%}} of {{cells:.0f}} cells",
            outcome,
            ("first in the others" * (facts["second"] < 1)) if outcome == "reproduced" else holds,
        ),
        _local_degree(facts, table, held.name, words, low=low),
    ]


def _without_alpha(facts: Facts, everything: Any, found: Any) -> str:
    """What the best setting does with α = 0, which is not the paper's; empty where there is none."""
    others = everything[[way for way in everything if way not in set(found)]]
    others = others.loc[:, others.notna().all()]
    if others.empty:
        return ""
    best = _best(others)
    facts.add("other_two", (best.rank <= 2).mean(), TABLE, f"share of cells where {best.name} is first or second")
    name = told(facts, "other", best.name)
    return f"; {name}, which is not the paper's, is in {{other_two:.0%}} of {{cells:.0f}}"


def _without_ring(facts: Facts, rank: Any, *, low: bool) -> str:
    """The share without the ring, whose d_x hangs on a choice among its slowest modes."""
    elsewhere = rank[rank.index.get_level_values("graph") != RING]
    if not low or elsewhere.empty or len(elsewhere) == len(rank):
        return ""
    facts.add("held_elsewhere", (elsewhere <= 2).mean(), TABLE, "the same share without the ring")
    return "; without the ring, where the slowest mode repeats and d_x hangs on a choice, in {held_elsewhere:.0%}"


def always_from(holds: Any) -> float:
    """Least keep ratio from which on it holds in all cells; 1 where there is none."""
    good = holds.groupby("keep").all().sort_index(ascending=False).cumprod()
    return float(good[good == 1].index.min()) if good.any() else 1.0


def _local_degree(facts: Facts, table: Any, ours: str, words: str, *, low: bool) -> Verdict:
    value = table if low else -table
    others = value[[*(r for r in RIVALS if r != "local-degree"), ours]]
    first = value["local-degree"] <= others.min(axis=1) + SAME
    by_graph = first.groupby("graph").mean()
    facts.add("local_first", first.mean(), TABLE, f"share of cells where local degree is first, with {ours} as ours")
    always = [TITLES[graph] for graph in by_graph.index if by_graph[graph] == 1]
    never = [TITLES[graph] for graph in by_graph.index if by_graph[graph] < 0.5]
    share = facts["local_first"]
    outcome: Outcome = "reproduced" if share == 1 else "conditional" if share > 0.5 else "not reproduced"
    parts = [f"in every cell on: {', '.join(always)}"] * bool(always)
    parts += [f"in fewer than half of them on: {', '.join(never)}"] * bool(never)
    if low and RING in by_graph.index and len(by_graph) > 1:
        elsewhere = first[first.index.get_level_values("graph") != RING].mean()
        facts.add("local_elsewhere", elsewhere, TABLE, "the same share without the ring")
        parts.append(
            "without the ring, where the slowest mode repeats and d_x hangs on a choice: {local_elsewhere:.0%}"
        )
    return Verdict(
        f"Local degree has the {words}",
        "§4.1",
        "first in {local_first:.0%} of {cells:.0f} cells",
        outcome,
        "" if outcome == "reproduced" else "; ".join(parts),
    )
