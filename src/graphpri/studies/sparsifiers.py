"""Figures "spectral distance" and "centrality": Graph-PRI beside the paper's other methods at equal budgets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphpri import plot
from graphpri._objective import Objective
from graphpri._selection import count_edges, select_top
from graphpri._sparsify import sparsify
from graphpri.baselines import run
from graphpri.graph import Graph
from graphpri.measures import MEASURES, Settings, View
from graphpri.solvers.gumbel import Gumbel
from graphpri.solvers.reweight import reweighted
from graphpri.studies.graphs import ALPHA, PAPER, TITLES, load
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    generator,
    grade,
    legend_below,
    panels,
    where,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What is run

BASELINES = ("random", "local-degree", "local-similarity", "effective-resistance", "effective-resistance-sampling")
_KEEPS = tuple(round(i / 10, 1) for i in range(1, 10))
_BETAS = (0, 1, 2, 5, 10, 50)
_GUMBEL_EXACT = 100
"""Nodes up to which Algorithm 1 takes the exact entropy; the local one above takes a tenth of the time."""
_THOROUGH = 100
"""Edges up to which the largest β, where D decides and the search is hardest, is searched with normal effort."""
_REWEIGHTING = 100
"""Steps of the search for new weights, which come close to its end in a fifth of the time."""
_MEASURED = {
    "d_x": "spectral_distance",
    "C_D": "centralisation",
    "S": "entropy",
    "D": "divergence",
    "components": "components",
    "cut_off": "cut_off",
}


class Sparsification(NamedTuple):
    """What one setting of one method keeps."""

    graph: Graph
    method: str
    seed: int
    beta: float | None = None
    alpha: float | None = None
    connected: bool = False
    reweight: bool = False


def cells(quick: bool) -> list[Cell]:
    """One for each graph and keep ratio, and one for each graph and β of Algorithm 1; large graphs first."""
    graphs, keeps, betas, alphas, runs = PAPER[::-1], _KEEPS, _BETAS, (ALPHA, 0.0), 10
    relaxed, steps = (2, 10), 2500
    if quick:
        graphs, keeps, betas, alphas, runs = ("karate", "g1"), (0.4, 0.6, 0.8), (1, 50), (ALPHA,), 3
        relaxed, steps = (2,), 150
    size = {"betas": list(betas), "alphas": list(alphas), "runs": runs}
    size["thorough"] = 0 if quick else _THOROUGH
    solver = {"keeps": list(keeps), "steps": steps, "runs": 1 if quick else 2}
    found: list[Cell] = []
    for graph in graphs:
        found += [{"graph": graph, "gumbel": beta, **solver} for beta in relaxed]
        found += [{"graph": graph, "keep": keep, **size} for keep in keeps]
    return found


def work(cell: Cell, seed: int) -> Tables:
    """Sparsify a graph by every method, and measure what each kept."""
    graph = load(cell["graph"])
    origin = View(graph, Settings(4.0, 0.0, "exact", "equation", "nats", 0))
    kept = _by_gumbel(graph, cell, seed) if "gumbel" in cell else _by_all(graph, cell, seed)
    return {"sparsifiers": [_row(cell["graph"], keep, found, origin) for keep, found in kept]}


def _row(name: str, keep: float, found: Sparsification, origin: View) -> dict[str, Any]:
    view = View(found.graph, origin.settings, origin)
    setting = {**found._asdict(), "graph": name, "keep": keep, "K": found.graph.n_edges}
    return setting | {short: MEASURES[long].compute(view) for short, long in _MEASURED.items()}


def _by_all(graph: Graph, cell: Cell, seed: int) -> Iterator[tuple[float, Sparsification]]:
    """Other methods with several seeds, and Graph-PRI with each setting that the budget allows."""
    keep = cell["keep"]
    k = count_edges(keep, graph.n_edges)
    seeds = generator(seed, "sparsifiers", cell["graph"], keep).integers(2**31, size=cell["runs"]).tolist()
    for method, drawn in ((method, drawn) for method in BASELINES for drawn in seeds):
        mask, scored = run(graph, method, k, np.random.default_rng(drawn))
        yield keep, Sparsification(graph.select(mask, scored.weights), method, drawn)
    joins = graph.n_nodes - graph.components()[0] <= k
    for alpha, beta, connected in product(cell["alphas"], cell["betas"], (False, True) if joins else (False,)):
        effort = "normal" if graph.n_edges <= cell["thorough"] and beta == max(cell["betas"]) else "fast"
        result = sparsify(graph, keep=keep, beta=beta, alpha=alpha, connected=connected, effort=effort, entropy="exact")
        kept_by = partial(Sparsification, method="pri", seed=0, beta=beta, alpha=alpha, connected=connected)
        yield keep, kept_by(result.kept)
        if alpha == ALPHA:
            weights = reweighted(Objective(graph, beta, alpha, "exact"), result.mask, _REWEIGHTING).weights
            yield keep, kept_by(graph.select(result.mask, weights), reweight=True)


def _by_gumbel(graph: Graph, cell: Cell, seed: int) -> Iterator[tuple[float, Sparsification]]:
    """The K most probable edges of Algorithm 1, run once for all budgets."""
    beta, solver = cell["gumbel"], Gumbel(steps=cell["steps"])
    entropy = "exact" if graph.n_nodes <= _GUMBEL_EXACT else "local"
    objective = Objective(graph, beta, ALPHA, entropy)
    seeds = generator(seed, "sparsifiers", cell["graph"], "gumbel", beta).integers(2**31, size=cell["runs"])
    for drawn in seeds.tolist():
        chances = solver.solve(objective, None, seed=drawn).probabilities
        scores = np.zeros(graph.n_edges) if chances is None else chances
        for keep in cell["keeps"]:
            k = count_edges(keep, graph.n_edges)
            mask = select_top(graph, scores, k, np.random.default_rng(drawn))
            yield keep, Sparsification(graph.select(mask), "gumbel", drawn, beta, ALPHA)


# Graph-PRI's rank among the paper's methods, by one measure

TABLE = "sparsifiers"
PAPER_BASELINES = ("random", "local-degree", "local-similarity", "effective-resistance-sampling")
"""The paper's other methods; its effective resistance is the sampling with weights."""
CELL = ["graph", "keep"]
RING = "g1"
"""Its smallest eigenvalue above zero repeats: d_x takes a fixed one of many directions."""
SAME = 1e-9
"""Differences up to this are ties."""


def setting_name(row: Any) -> str:
    """How texts and legends call a method with its setting."""
    if row.method not in ("pri", "gumbel"):
        return str(row.method)
    name = f"β={row.beta:g}, α={row.alpha:g}"
    name += ", connected" * bool(row.connected) + ", reweighted" * bool(row.reweight)
    return f"Algorithm 1, {name}" if row.method == "gumbel" else f"Graph-PRI, {name}"


def medians(frames: Frames, measure: str) -> Any:
    """Median over the seeds: a row a cell of graph and keep ratio, a column a method with its setting."""
    table = frames[TABLE]
    table = table.assign(setting=[setting_name(row) for row in table.itertuples()])
    return table.groupby([*CELL, "setting"])[measure].median().unstack("setting")


def ranks(table: Any, *, low: bool) -> Any:
    """Rank of each setting of Graph-PRI among the paper's four other methods; NaN where the budget is too small."""
    value = table if low else -table
    ours = value[[name for name in value if name.startswith(("Graph-PRI", "Algorithm"))]]
    rank: Any = 1
    for baseline in PAPER_BASELINES:
        rank = rank + ours.gt(value[baseline] + SAME, axis=0)
    return rank.where(ours.notna())


class _BestSetting(NamedTuple):
    """The setting of Graph-PRI that is first or second most often, and in which cells."""

    name: str
    rank: Any


def _best(found: Any) -> _BestSetting:
    share = (found <= 2).sum() / found.notna().sum()
    name = str((share + 1e-6 * (found == 2).sum() / found.notna().sum()).idxmax())
    return _BestSetting(name, found[name].dropna())


def second_best(facts: Facts, frames: Frames, measure: str, words: str, *, low: bool) -> list[Verdict]:
    """Graph-PRI is always second best, and local degree the best."""
    table = medians(frames, measure)
    everything = ranks(table, low=low)
    found = everything[[name for name in everything if f"α={ALPHA:g}" in name]]
    every, most = _best(found.loc[:, found.notna().all()]), _best(found)
    how = f"of its cells where {every.name} ranks"
    facts.add("settings", found.shape[1], TABLE, f"settings of Graph-PRI and of Algorithm 1 with α={ALPHA:g}")
    facts.add("cells", len(found), TABLE, "cells of graph and keep ratio")
    facts.add("second", (every.rank == 2).mean(), TABLE, f"share {how} second of five methods")
    facts.add("two", (every.rank <= 2).mean(), TABLE, f"share {how} first or second of five methods")
    facts.add("held", len(most.rank), TABLE, f"cells of {most.name}")
    facts.add("held_two", (most.rank <= 2).mean(), TABLE, f"share of its cells where {most.name} is first or second")
    facts.add("held_second", (most.rank == 2).mean(), TABLE, f"share of its cells where {most.name} is second")
    tied = (table[most.name] - table["local-degree"])[most.rank.index].abs() <= SAME
    facts.add("held_tied", tied.mean(), TABLE, f"share of its cells where {most.name} is level with local degree")
    start = always_from(most.rank <= 2)
    facts.add("start", start, TABLE, f"keep ratio from which on {most.name} is first or second on every graph")
    outcome = grade(facts["two"] == 1, start <= 0.5)
    name, kept = facts.add_setting("every", every.name, TABLE), facts.add_setting("held", most.name, TABLE)
    holds = f"{kept} is first or second in {{held_two:.0%}} of the {{held:.0f}} cells that it can do"
    holds += (
        " and in every one from keep ratio {start:.1f} on"
        if start < 1
        else ", second in {held_second:.0%}; no setting is in all of them from any keep ratio on"
    )
    holds += ", level with local degree in {held_tied:.0%}" * bool(facts["held_tied"])
    holds += _without_alpha(facts, everything, found) + _without_ring(facts, most.rank, low=low)
    return [
        Verdict(
            f"Graph-PRI always has the second {words}, of five methods",
            "§4.1",
            "the best of {settings:.0f} settings that can do all cells, "
            f"{name}, is second in {{second:.0%}} and first or second in {{two:.0%}} of {{cells:.0f}} cells",
            outcome,
            ("first in the others" * (facts["second"] < 1)) if outcome == "reproduced" else holds,
        ),
        _local_degree(facts, table, most.name, words, low=low),
    ]


def _without_alpha(facts: Facts, everything: Any, found: Any) -> str:
    """What the best setting does with α = 0, which is not the paper's; empty where there is none."""
    others = everything[[name for name in everything if name not in set(found)]]
    others = others.loc[:, others.notna().all()]
    if others.empty:
        return ""
    best = _best(others)
    facts.add("other_two", (best.rank <= 2).mean(), TABLE, f"share of cells where {best.name} is first or second")
    name = facts.add_setting("other", best.name, TABLE)
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
    others = value[[*(name for name in PAPER_BASELINES if name != "local-degree"), ours]]
    first = value["local-degree"] <= others.min(axis=1) + SAME
    by_graph = first.groupby("graph").mean()
    facts.add("local_first", first.mean(), TABLE, f"share of cells where local degree is first, with {ours} as ours")
    always = [TITLES[graph] for graph in by_graph.index if by_graph[graph] == 1]
    never = [TITLES[graph] for graph in by_graph.index if by_graph[graph] < 0.5]
    share = facts["local_first"]
    outcome = grade(share == 1, share > 0.5)
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


# What the numbers say

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
    others = table[[setting for setting in table if not setting.startswith(("Graph-PRI", "Algorithm"))]].min(axis=1)
    facts.add("beta_D", beta, TABLE, "largest β")
    below = ours <= others + SAME
    facts.add("lowest_D", below.mean(), TABLE, "share of cells where no other method has a lower D")
    facts.add("tied_D", (below & (ours >= others - SAME)).sum(), TABLE, "cells where another has the same D")
    facts.add("ratio_D", (ours / others).median(), TABLE, "median ratio of its D to the lowest of the others")
    example = _on_jazz(facts, table, beta) if ("jazz", _FROM) in table.index else ""
    return Verdict(
        "At equal budgets no other method has a lower divergence D than Graph-PRI",
        "graphpri",
        "at β={beta_D:.0f}, without new weights, none in {lowest_D:.0%} of {cells:.0f} cells (the same in "
        f"{{tied_D:.0f}}); its D is {{ratio_D:.2f}} of the lowest of the others (median){example}",
        grade(facts["lowest_D"] == 1, facts["lowest_D"] >= 0.5),
        "D is what Graph-PRI minimises at large β: the objective scored on itself, and no evidence of a use"
        + ("" if below.all() else f"; not in: {', '.join(_cells(below))}"),
    )


def _on_jazz(facts: Facts, table: Any, beta: float) -> str:
    """D of one cell, connected, without and with new weights, beside local degree's."""
    ours = f"Graph-PRI, β={beta:g}, α={ALPHA:g}, connected"
    for name, setting in {"ours": ours, "new": f"{ours}, reweighted", "local": "local-degree"}.items():
        facts.add(f"jazz_D_{name}", table[setting]["jazz", _FROM], TABLE, f"D on jazz at {_FROM} of {setting}")
    facts.add("jazz_keep", _FROM, TABLE, "keep ratio of that cell")
    return (
        "; jazz musicians at keep {jazz_keep:.1f}, connected: {jazz_D_ours:.4f}, with new weights {jazz_D_new:.4f}, "
        "local degree {jazz_D_local:.4f}"
    )


def _cells(holds: Any) -> list[str]:
    """Graphs, and in how many of their cells something does not hold."""
    lost = (~holds).groupby("graph").sum()
    return [f"{TITLES[graph]} ({_COUNTS[min(count, 9)]} of its cells)" for graph, count in lost.items() if count]


def _pairs(frames: Frames, column: str) -> Any:
    """Rows of Graph-PRI side by side that differ in one switch alone."""
    table = frames[TABLE]
    ours = where(table, method="pri")
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
            grade(facts["never_D"] == 1, facts["never_D"] >= 0.5),
            "they are chosen to make D least: a check of the solver",
        ),
        Verdict(
            "New weights that lower D raise the spectral distance d_x, which looks at one direction only",
            "graphpri",
            "higher in {raises_d:.0%} of {pairs:.0f} pairs",
            grade(facts["raises_d"] == 1, facts["raises_d"] >= 0.5),
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
        grade(facts["joined"] == 1, facts["joined"] >= 0.5),
        "" if lower.all() else f"in {{joined_best:.0%}} on {TITLES[best]}, in {{joined_worst:.0%}} on {TITLES[worst]}",
    )


def _against_local_degree(facts: Facts, frames: Frames) -> Verdict:
    """Connected Graph-PRI's lowest d_x over the α and β against local degree's, by graph."""
    table = medians(frames, "d_x")
    ours = table[[name for name in table if name.endswith("connected")]].dropna(how="all")
    below = (ours.min(axis=1) < table["local-degree"][ours.index])[ours.index.get_level_values("keep") >= _FROM]
    by_graph = below.groupby("graph").mean()
    facts.add("connected_cells", len(below), TABLE, f"cells from keep ratio {_FROM} on that can be connected")
    facts.add("below_local", below.mean(), TABLE, "share where the best β has a lower d_x than local degree")
    at = facts.add("at", 0.6, TABLE, "a keep ratio")
    known = [graph for graph in ("jazz", "karate") if (graph, at) in ours.index]
    examples: list[str] = []
    for graph in known:
        cell = ours.loc[(graph, at)]
        facts.add(f"{graph}_ours", cell.min(), TABLE, f"d_x on {graph} at {at:g} of {cell.idxmin()}")
        facts.add(
            f"{graph}_local", table["local-degree"][graph, at], TABLE, f"d_x on {graph} at {at:g} of local degree"
        )
        examples.append(f"{TITLES[graph]} at keep {{at:.1f}}: {{{graph}_ours:.2f}} against {{{graph}_local:.2f}}")
    best = [TITLES[graph] for graph in by_graph.index if by_graph[graph] == 1]
    single = ours.loc[below.index].lt(table["local-degree"][below.index], axis=0).mean()
    facts.add("single_local", single.max(), TABLE, f"share of these cells where {single.idxmax()} alone has")
    return Verdict(
        "With connected=True and each cell's best β and α, Graph-PRI has a lower spectral distance than local degree",
        "graphpri",
        "in {below_local:.0%} of {connected_cells:.0f} cells; " + "; ".join(examples),
        grade(facts["below_local"] == 1, facts["below_local"] >= 0.5),
        f"in every cell on: {', '.join(best) or 'no graph'}; the best is chosen afterwards: any one β and α for all "
        "cells has it in {single_local:.0%} at most",
    )


def _jazz(facts: Facts, frames: Frames) -> list[Verdict]:
    """Local degree against connected Graph-PRI on jazz, without the paper's α and with it."""
    table = medians(frames, "d_x")
    if "jazz" not in table.index or not any("α=0," in name for name in table):
        return []
    here = table.loc["jazz"]
    here = here[here.index >= _FROM]
    for key, alpha in (("none", 0.0), ("paper", ALPHA)):
        ours = here[[name for name in here if name.endswith(f"α={alpha:g}, connected")]]
        higher = ours.gt(here["local-degree"], axis=0).to_numpy().mean()
        facts.add(f"jazz_higher_{key}", higher, TABLE, f"share of cells and β on jazz with a higher d_x, α={alpha:g}")
        facts.add(f"jazz_alpha_{key}", alpha, TABLE, "an α")
    at = facts["at"]
    settings = {"one_joined": "β=1, α=0, connected", "one_free": "β=1, α=0"}
    settings |= {"five_joined": f"β=5, α={ALPHA:g}, connected"}
    for key, setting in settings.items():
        facts.add(f"jazz_{key}", here[f"Graph-PRI, {setting}"][at], TABLE, f"d_x on jazz at {at:g} of {setting}")
    facts.add("jazz_one", 1, TABLE, "β of the first two")
    facts.add("jazz_five", 5, TABLE, "β of the third")
    none, paper = facts["jazz_higher_none"], facts["jazz_higher_paper"]
    outcome = grade(min(none, paper) == 1, none == 1)
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
    frames = _own_weights(frames)
    return [
        *second_best(facts, frames, "C_D", "highest centralisation C_D", low=False),
        _falls_with_beta(facts, frames),
        *_of_local_degree(facts, frames),
    ]


def _falls_with_beta(facts: Facts, frames: Frames) -> Verdict:
    table = frames[TABLE]
    ours = where(table, method="pri").sort_values("beta")
    steps = ours.groupby([*CELL, "alpha", "connected"])["C_D"].diff().dropna()
    ends = ours.groupby([*CELL, "alpha", "connected"])["C_D"].agg(["first", "last"])
    facts.add("steps", len(steps), TABLE, "steps from one β to the next")
    facts.add("down", (steps <= SAME).mean(), TABLE, "share of steps where C_D does not rise")
    lower = (ends["last"] <= ends["first"] + SAME).mean()
    facts.add("ends", lower, TABLE, "share of cells where the last β has no higher C_D than the first")
    return Verdict(
        "Graph-PRI's centralisation falls as β grows: small β gathers edges at hubs",
        "§3.2.2, graphpri",
        "from the least to the largest β no higher in {ends:.1%} of cells; step by step in {down:.0%} of {steps:.0f}",
        grade(facts["ends"] == facts["down"] == 1, facts["ends"] >= 0.5),
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
            grade(facts["free_least"] == 1, facts["free_least"] >= 0.5),
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
            grade(facts["equal"] == 1, facts["equal"] >= 0.5),
            "" if facts["equal"] == 1 else "where both keep all edges of the largest hub",
        ),
    ]


def _own_weights(frames: Frames) -> Frames:
    """The rows without new weights, which degrees don't look at."""
    table = frames["sparsifiers"]
    return {"sparsifiers": table[~table["reweight"]]}


# Pictures

_OTHERS = {
    "random": "random",
    "local-degree": "local degree",
    "local-similarity": "local similarity",
    "effective-resistance-sampling": "effective resistance, sampled",
}
_BANDS = "Lines: medians over the seeds; bands: 5th to 95th percentile of the seeds, for methods that draw."

_SETTINGS = f"Graph-PRI and Algorithm 1 with α = {ALPHA:g}; Graph-PRI connected, where so few edges can be."


def draw_distance(frames: Frames) -> list[Picture]:
    """d_x, the smaller the better."""
    figure = _figure(frames, "d_x", "spectral distance $d_x$")
    caption = "Spectral distance of the kept graph from the original along its slowest mode (the smaller the better)"
    ring = "The ring has two such modes, of which a fixed combination is taken."
    lost = " Infinite values are left out." if np.isinf(frames["sparsifiers"]["d_x"]).any() else ""
    text = f"{caption}, by the share of edges kept. {_SETTINGS} {_BANDS} {ring}{lost}"
    return [Picture("spectral-distance", figure, text)]


def draw_centrality(frames: Frames) -> list[Picture]:
    """C_D, the larger the more centralised."""
    figure = _figure(_own_weights(frames), "C_D", "centralisation $C_D$")
    caption = "Degree centralisation of the kept graph (1 for a star; the larger the more centralised)"
    return [Picture("centrality", figure, f"{caption}, by the share of edges kept. {_SETTINGS} {_BANDS}")]


def _betas(frames: Frames) -> list[float]:
    """The two of Graph-PRI's β that are drawn."""
    table = frames["sparsifiers"]
    betas = sorted(table.loc[table["method"] == "pri", "beta"].unique())
    return [betas[len(betas) // 3], betas[-1]]


def _lines(frames: Frames) -> list[tuple[str, Any]]:
    """Labels and the rows of each line."""
    table = frames["sparsifiers"]
    found = [(label, where(table, method=method)) for method, label in _OTHERS.items()]
    ours = table[(table["method"] == "pri") & (table["alpha"] == ALPHA) & table["connected"] & ~table["reweight"]]
    found += [(f"Graph-PRI, β = {beta:g}", where(ours, beta=beta)) for beta in _betas(frames)]
    relaxed = where(table, method="gumbel")
    beta = relaxed["beta"].min()
    return [*found, (f"Algorithm 1, β = {beta:g}", where(relaxed, beta=beta))]


def _figure(frames: Frames, measure: str, label: str) -> Figure:
    graphs = [graph for graph in PAPER if graph in set(frames["sparsifiers"]["graph"])]
    columns = min(3, len(graphs))
    figure, axes = panels(-(-len(graphs) // columns), columns, height=1.75, sharex=True)
    for ax, graph in zip(axes.flat, graphs, strict=True):
        rows = [
            {"method": name, "kept": 100 * row["keep"], measure: row[measure]}
            for name, table in _lines(frames)
            for row in where(table, graph=graph).to_dict("records")
        ]
        plot.compare(rows, ax, measure=measure, along="kept", centre="median", band=(0.05, 0.95))
        ax.get_legend().remove()
        ax.set(xlabel="", ylabel="")
        ax.set_title(TITLES[graph])
        ax.set_ylim(bottom=0)
    for ax in axes[-1]:
        ax.set_xlabel("edges kept (%)")
    for ax in axes[:, 0]:
        ax.set_ylabel(label)
    legend_below(figure, axes[0, 0])
    return figure
