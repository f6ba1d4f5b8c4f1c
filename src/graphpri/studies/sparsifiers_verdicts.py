"""What the two figures show: the paper's claims on ranks, and what this library says of the measures."""

from __future__ import annotations

from typing import Any

from graphpri.studies.graphs import ALPHA, TITLES
from graphpri.studies.sparsifiers_ranks import CELL, SAME, TABLE, always_from, medians, second_best
from graphpri.studies.study import Facts, Frames, Outcome, Verdict

_SETTING = ["beta", "alpha", "connected", "reweight"]
_COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "all")
_FROM = 0.4
"""Keep ratio from which on these graphs can be kept connected, but for one."""


def judge_distance(frames: Frames, facts: Facts) -> list[Verdict]:
    """Ranks by d_x; then what Graph-PRI does have the lowest of, and what new weights do to both."""
    return [
        *second_best(facts, frames, "d_x", "lowest spectral distance d_x", low=True),
        _divergence(facts, frames),
        *_reweighting(facts, frames),
        _connectivity(facts, frames),
        _against_local_degree(facts, frames),
        *_jazz(facts, frames),
    ]


def _divergence(facts: Facts, frames: Frames) -> Verdict:
    table = medians(frames, "D")
    beta = float(frames[TABLE]["beta"].max())
    ours = table[f"Graph-PRI, β={beta:g}, α={ALPHA:g}"]
    others = table[[way for way in table if not way.startswith(("Graph-PRI", "Algorithm"))]].min(axis=1)
    facts.add("beta_D", beta, TABLE, "largest β")
    below = ours <= others + SAME
    facts.add("lowest_D", below.mean(), TABLE, "share of cells where no other method has a lower D")
    facts.add("tied_D", (below & (ours >= others - SAME)).sum(), TABLE, "cells where another has the same D")
    facts.add("ratio_D", (ours / others).median(), TABLE, "median ratio of its D to the lowest of the others")
    shown = _on_jazz(facts, table, beta) if ("jazz", _FROM) in table.index else ""
    return Verdict(
        "At equal budgets no other method has a lower divergence D than Graph-PRI",
        "graphpri",
        "at β={beta_D:.0f}, without new weights, none in {lowest_D:.0%} of {cells:.0f} cells (the same in "
        f"{{tied_D:.0f}}); its D is {{ratio_D:.2f}} of the lowest of the others (median){shown}",
        _share(facts["lowest_D"]),
        "" if below.all() else f"not in: {', '.join(_cells(below))}",
    )


def _on_jazz(facts: Facts, table: Any, beta: float) -> str:
    """D of one cell, connected, without and with new weights, beside local degree's."""
    ours = f"Graph-PRI, β={beta:g}, α={ALPHA:g}, connected"
    for name, way in {"ours": ours, "new": f"{ours}, reweighted", "local": "local-degree"}.items():
        facts.add(f"jazz_D_{name}", table[way]["jazz", _FROM], TABLE, f"D on jazz at {_FROM} of {way}")
    facts.add("jazz_keep", _FROM, TABLE, "keep ratio of that cell")
    return (
        "; jazz musicians at keep {jazz_keep:.1f}, connected: {jazz_D_ours:.4f}, with new weights {jazz_D_new:.4f}, "
        "local degree {jazz_D_local:.4f}"
    )


def _cells(holds: Any) -> list[str]:
    """Graphs, and in how many of their cells something does not hold."""
    lost = (~holds).groupby("graph").sum()
    return [f"{TITLES[graph]} ({_COUNTS[min(count, 9)]} of its cells)" for graph, count in lost.items() if count]


def _share(share: float) -> Outcome:
    return "reproduced" if share == 1 else "conditional" if share >= 0.5 else "not reproduced"


def _pairs(frames: Frames, column: str) -> Any:
    """Rows of Graph-PRI side by side that differ in one switch alone."""
    table = frames[TABLE]
    ours = table[table["method"] == "pri"]
    key = [*CELL, *(name for name in _SETTING if name != column)]
    off, on = (ours[ours[column] == state].set_index(key)[["d_x", "D", "cut_off"]] for state in (False, True))
    return off.add_suffix("_off").join(on.add_suffix("_on"), how="inner").reset_index()


def _reweighting(facts: Facts, frames: Frames) -> list[Verdict]:
    pairs = _pairs(frames, "reweight")
    facts.add("pairs", len(pairs), TABLE, "pairs of Graph-PRI with and without new weights")
    facts.add("lowers_D", (pairs["D_on"] < pairs["D_off"]).mean(), TABLE, "share of pairs where new weights lower D")
    never = (pairs["D_on"] <= pairs["D_off"] + SAME).mean()
    facts.add("never_D", never, TABLE, "share of pairs where new weights do not raise D")
    factor = (pairs["D_on"] / pairs["D_off"]).median()
    facts.add("factor_D", factor, TABLE, "median ratio of D with new weights to D without")
    up = pairs["d_x_on"] > pairs["d_x_off"]
    facts.add("raises_d", up.mean(), TABLE, "share of pairs where new weights raise d_x")
    by_graph = up.groupby(pairs["graph"]).mean()
    most, least = str(by_graph.idxmax()), str(by_graph.idxmin())
    facts.add("raises_most", by_graph.max(), TABLE, f"the same share on {most}")
    facts.add("raises_least", by_graph.min(), TABLE, f"the same share on {least}")
    return [
        Verdict(
            "New weights for the kept edges never raise the divergence D",
            "graphpri",
            "not higher in {never_D:.1%} of {pairs:.0f} pairs, lower in {lowers_D:.1%}, at {factor_D:.2f} of what it "
            "was (median)",
            _share(facts["never_D"]),
        ),
        Verdict(
            "New weights that lower D raise the spectral distance d_x, which looks at one direction only",
            "graphpri",
            "higher in {raises_d:.0%} of {pairs:.0f} pairs",
            _share(facts["raises_d"]),
            ""
            if facts["raises_d"] == 1
            else f"in {{raises_most:.0%}} on {TITLES[most]}, in {{raises_least:.0%}} on {TITLES[least]}",
        ),
    ]


def _connectivity(facts: Facts, frames: Frames) -> Verdict:
    pairs = _pairs(frames, "connected")
    cut = pairs[pairs["cut_off_off"] > 0]
    facts.add("cut", len(cut), TABLE, "pairs with and without connected=True of which the latter cuts off nodes")
    claim = "Keeping the graph connected keeps the spectral distance d_x down, which cut-off nodes push up"
    if cut.empty:
        return Verdict(
            claim, "graphpri", "{cut:.0f} pairs where nodes are cut off", "not testable", "no node is cut off"
        )
    lower = cut["d_x_on"] <= cut["d_x_off"] + SAME
    by_graph = lower.groupby(cut["graph"]).mean()
    best, worst = str(by_graph.idxmax()), str(by_graph.idxmin())
    facts.add("joined", lower.mean(), TABLE, "share of these where connected=True has no higher d_x")
    facts.add("joined_best", by_graph.max(), TABLE, f"the same on {best}")
    facts.add("joined_worst", by_graph.min(), TABLE, f"the same on {worst}")
    return Verdict(
        claim,
        "graphpri",
        "of {cut:.0f} pairs where nodes are cut off without it, d_x is no higher with it in {joined:.0%}",
        _share(facts["joined"]),
        "" if lower.all() else f"in {{joined_best:.0%}} on {TITLES[best]}, in {{joined_worst:.0%}} on {TITLES[worst]}",
    )


def _against_local_degree(facts: Facts, frames: Frames) -> Verdict:
    """Connected Graph-PRI's lowest d_x over the α and β against local degree's, by graph."""
    table = medians(frames, "d_x")
    ours = table[[way for way in table if way.endswith("connected")]].dropna(how="all")
    below = (ours.min(axis=1) < table["local-degree"][ours.index])[ours.index.get_level_values("keep") >= _FROM]
    by_graph = below.groupby("graph").mean()
    facts.add("connected_cells", len(below), TABLE, f"cells from keep ratio {_FROM} on that can be connected")
    facts.add("below_local", below.mean(), TABLE, "share where the best β has a lower d_x than local degree")
    at = facts.add("at", 0.6, TABLE, "a keep ratio")
    known = [graph for graph in ("jazz", "karate") if (graph, at) in ours.index]
    shown: list[str] = []
    for graph in known:
        cell = ours.loc[(graph, at)]
        facts.add(f"{graph}_ours", cell.min(), TABLE, f"d_x on {graph} at {at:g} of {cell.idxmin()}")
        facts.add(
            f"{graph}_local", table["local-degree"][graph, at], TABLE, f"d_x on {graph} at {at:g} of local degree"
        )
        shown.append(f"{TITLES[graph]} at keep {{at:.1f}}: {{{graph}_ours:.2f}} against {{{graph}_local:.2f}}")
    best = [TITLES[graph] for graph in by_graph.index if by_graph[graph] == 1]
    single = ours.loc[below.index].lt(table["local-degree"][below.index], axis=0).mean()
    facts.add("single_local", single.max(), TABLE, f"share of these cells where {single.idxmax()} alone has")
    return Verdict(
        "With connected=True and each cell's best β and α, Graph-PRI has a lower spectral distance than local degree",
        "graphpri",
        "in {below_local:.0%} of {connected_cells:.0f} cells; " + "; ".join(shown),
        _share(facts["below_local"]),
        f"in every cell on: {', '.join(best) or 'no graph'}; the best is chosen afterwards: any one β and α for all "
        "cells has it in {single_local:.0%} at most",
    )


def _jazz(facts: Facts, frames: Frames) -> list[Verdict]:
    """Local degree against connected Graph-PRI on jazz, without the paper's α and with it."""
    table = medians(frames, "d_x")
    if "jazz" not in table.index or not any("α=0," in way for way in table):
        return []
    here = table.loc["jazz"]
    here = here[here.index >= _FROM]
    for key, alpha in (("none", 0.0), ("paper", ALPHA)):
        ours = here[[way for way in here if way.endswith(f"α={alpha:g}, connected")]]
        higher = ours.gt(here["local-degree"], axis=0).to_numpy().mean()
        facts.add(f"jazz_higher_{key}", higher, TABLE, f"share of cells and β on jazz with a higher d_x, α={alpha:g}")
        facts.add(f"jazz_alpha_{key}", alpha, TABLE, "an α")
    at = facts["at"]
    shown = {"one_joined": "β=1, α=0, connected", "one_free": "β=1, α=0"}
    shown |= {"five_joined": f"β=5, α={ALPHA:g}, connected"}
    for key, way in shown.items():
        facts.add(f"jazz_{key}", here[f"Graph-PRI, {way}"][at], TABLE, f"d_x on jazz at {at:g} of {way}")
    facts.add("jazz_one", 1, TABLE, "β of the first two")
    facts.add("jazz_five", 5, TABLE, "β of the third")
    none, paper = facts["jazz_higher_none"], facts["jazz_higher_paper"]
    outcome: Outcome = "reproduced" if min(none, paper) == 1 else "conditional" if none == 1 else "not reproduced"
    return [
        Verdict(
            "On jazz local degree has a lower spectral distance than Graph-PRI with connected=True",
            "graphpri",
            "at α={jazz_alpha_none:g} in {jazz_higher_none:.0%}, at α={jazz_alpha_paper:g} in {jazz_higher_paper:.0%} "
            "of cells and β; at keep {at:.1f} local degree {jazz_local:.2f}; β={jazz_one:g}, α={jazz_alpha_none:g}: "
            "{jazz_one_joined:.2f} connected, {jazz_one_free:.2f} not; β={jazz_five:g}, α={jazz_alpha_paper:g}, "
            "connected: {jazz_five_joined:.2f}",
            outcome,
            ""
            if outcome == "reproduced"
            else "holds with α={jazz_alpha_none:g} only"
            if none == 1
            else "with neither α in all",
        )
    ]


def judge_centrality(frames: Frames, facts: Facts) -> list[Verdict]:
    """Ranks by C_D; then how it depends on β and on connectivity."""
    return [
        *second_best(facts, frames, "C_D", "highest centralisation C_D", low=False),
        _falls_with_beta(facts, frames),
        *_of_local_degree(facts, frames),
    ]


def _falls_with_beta(facts: Facts, frames: Frames) -> Verdict:
    table = frames[TABLE]
    ours = table[table["method"] == "pri"].sort_values("beta")
    steps = ours.groupby([*CELL, "alpha", "connected"])["C_D"].diff().dropna()
    ends = ours.groupby([*CELL, "alpha", "connected"])["C_D"].agg(["first", "last"])
    facts.add("steps", len(steps), TABLE, "steps from one β to the next")
    facts.add("down", (steps <= SAME).mean(), TABLE, "share of steps where C_D does not rise")
    lower = (ends["last"] <= ends["first"] + SAME).mean()
    facts.add("ends", lower, TABLE, "share of cells where the last β has no higher C_D than the first")
    return Verdict(
        "Graph-PRI's centralisation falls as β grows: small β gathers edges at hubs",
        "§3.3, graphpri",
        "from the least to the largest β no higher in {ends:.1%} of cells; step by step in {down:.0%} of {steps:.0f}",
        "reproduced" if facts["ends"] == 1 and facts["down"] == 1 else _share(min(1 - 1e-9, facts["ends"])),
        "" if facts["down"] == 1 else "from end to end, not at each step",
    )


def _of_local_degree(facts: Facts, frames: Frames) -> list[Verdict]:
    table = medians(frames, "C_D")
    least = f"β={frames[TABLE]['beta'].min():g}, α={ALPHA:g}"
    facts.add("least_beta", frames[TABLE]["beta"].min(), TABLE, "least β")
    no_lower = table[f"Graph-PRI, {least}"] - table["local-degree"] >= -SAME
    free = no_lower.mean()
    start = facts.add("free_from", always_from(no_lower), TABLE, "keep ratio from which on in every cell; 1 for none")
    facts.add("free_least", free, TABLE, f"share of cells where Graph-PRI, {least}, has at least local degree's C_D")
    gap = (table[f"Graph-PRI, {least}, connected"] - table["local-degree"]).dropna()
    gap = gap[gap.index.get_level_values("keep") >= _FROM]
    facts.add("joined_cells", len(gap), TABLE, f"cells from keep ratio {_FROM} on that can be connected")
    facts.add("equal", (gap.abs() <= SAME).mean(), TABLE, f"share where {least}, connected, has the same C_D")
    facts.add("least", (gap >= -SAME).mean(), TABLE, f"share where {least}, connected, has at least the same C_D")
    return [
        Verdict(
            "At the smallest β Graph-PRI centralises at least as much as local degree",
            "graphpri",
            "at β={least_beta:g} C_D is no lower in {free_least:.0%} of {cells:.0f} cells",
            _share(facts["free_least"]),
            ""
            if free == 1
            else "in every cell from keep ratio {free_from:.1f} on"
            if start < 1
            else "from no ratio on",
        ),
        Verdict(
            "With connected=True it has local degree's centralisation, where two fifths of the edges or more are kept",
            "graphpri",
            "at β={least_beta:g} equal in {equal:.0%} and no lower in {least:.0%} of {joined_cells:.0f} cells",
            _share(facts["equal"]),
            "" if facts["equal"] == 1 else "where both keep all edges of the largest hub",
        ),
    ]
