"""Figure "monotonic": the number of kept edges grows with β."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from graphpri._sparsify import Sparsified, path, sparsify
from graphpri.graph import Graph
from graphpri.studies.graphs import ALPHA, MODELS, random_graph
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    grade,
    legend_below,
    panels,
    where,
)

# What is run

ALGORITHM = "algorithm 1"
MINIMA = {"connected": True, "free": False}
"""Solvers that are asked for a minimum, and whether it must be connected."""
_ROUNDING = 1e-9
_GRAPH = ["model", "degree"]
_LEAST_GROWTH = 0.01
"""Share of edges by which K must rise from the smallest β to the largest to count as growing."""


_DEGREES = (10, 20, 30)
_BOTH = "minima"
_BETAS = (0, 1, 2, 2.5, 2.75, 3, 3.1, 3.2, 3.3, 3.4, 3.5, 3.75, 4, 5, 6, 8, 12)
_RUN_BETAS = (0, 1, 2, 3, 4, 6)
_BARRED_BETAS = (0, 3, 6)
"""Of Algorithm 1 with the paper's α, where β turns out to matter little."""
_LONG_BETAS = (0, 3)
_LAST_DRAWN = 8
"""Largest β in the picture."""


def cells(quick: bool) -> list[Cell]:
    """One for each run of Algorithm 1, and one for the minima of each graph and α."""
    return _quick() if quick else _whole()


def _quick() -> list[Cell]:
    head = {"model": "ER", "degree": 10, "n": 24}
    run = {**head, "solver": ALGORITHM, "steps": 60, "rate": 0.1}
    return [
        *({**run, "alpha": 0.0, "beta": b, "draw": draw} for b, draw in product((0, 3, 6), range(2))),
        *({**run, "alpha": ALPHA, "beta": b, "draw": 0} for b in (0, 6)),
        *({**run, "alpha": 0.0, "beta": b, "draw": 0, "steps": 150, "table": "long"} for b in _LONG_BETAS),
        *({**head, "solver": _BOTH, "alpha": a, "betas": [0, 1, 3, 4, 8]} for a in (ALPHA, 0.0)),
    ]


def _whole() -> list[Cell]:
    graphs = [{"model": m, "degree": d, "n": 200} for d, m in product(_DEGREES[::-1], ("ER", "BA"))]
    run = {"solver": ALGORITHM, "steps": 150, "rate": 0.1}
    long = {"solver": ALGORITHM, "steps": 1000, "rate": 0.05, "alpha": 0.0, "draw": 0, "table": "long"}
    return [
        *({**graphs[-2], **long, "beta": b} for b in _LONG_BETAS),
        *({**g, "solver": _BOTH, "alpha": a, "betas": list(_BETAS)} for g, a in product(graphs, (0.0, ALPHA))),
        *({**g, **run, "alpha": 0.0, "beta": b, "draw": d} for g, b, d in product(graphs, _RUN_BETAS, range(3))),
        *({**g, **run, "alpha": ALPHA, "beta": b, "draw": 0} for g, b in product(graphs, _BARRED_BETAS)),
    ]


def work(cell: Cell, seed: int) -> Tables:
    """How many edges are kept at each β."""
    graph = random_graph(cell["model"], cell["n"], cell["degree"], seed)
    head = {key: cell[key] for key in ("model", "degree", "alpha")}
    head |= {"draw": cell.get("draw", 0), "steps": cell.get("steps", 0)}
    head |= {"nodes": graph.n_nodes, "edges": graph.n_edges}
    options: dict[str, Any] = {"alpha": cell["alpha"]}
    if cell["solver"] == _BOTH:
        found = _minima(graph, cell["betas"], seed=seed, **options)
    else:
        options |= {"steps": cell["steps"], "learning_rate": cell["rate"], "patience": 0}
        found = {ALGORITHM: [sparsify(graph, beta=cell["beta"], solver="gumbel", seed=seed + cell["draw"], **options)]}
    rows = [
        {**head, "solver": solver, "beta": f.settings["beta"], "K": f.kept.n_edges, "share": f.mask.mean()}
        | {"J": f.objective, "S": f.entropy, "D": f.divergence, "components": f.kept.components()[0]}
        for solver, results in found.items()
        for f in results
    ]
    return {cell.get("table", "path"): rows}


def _minima(graph: Graph, betas: Sequence[float], **options: Any) -> dict[str, list[Sparsified]]:
    """Along the path, of each solver; connected subgraphs compete for the free minimum too."""
    found = {solver: path(graph, beta=betas, connected=connected, **options) for solver, connected in MINIMA.items()}
    pairs = zip(found["free"], found["connected"], strict=True)
    return found | {"free": [min(pair, key=lambda result: result.objective) for pair in pairs]}


# What the numbers say


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's claim by Algorithm 1, then what the minima do."""
    table = frames["path"]
    facts.add("alpha", ALPHA, "path", "the paper's α")
    facts.add("none", table["alpha"].min(), "path", "α without a barrier")
    facts.add("graphs", table.groupby(_GRAPH).ngroups, "path", "graphs: models × mean degrees")
    facts.add("nodes", table["nodes"].max(), "path", "nodes of each")
    return [
        _paper(table, facts),
        _minima_verdict(table, "connected", facts),
        _minima_verdict(table, "free", facts),
        _law(table, facts),
        _trivial(table, facts),
        _gap(table, facts),
        _barrier(table, facts),
        _above(table, facts),
        _steps(table, frames["long"], facts),
    ]


def _growth(rows: Any, key: str, which: str, facts: Facts) -> bool:
    """Note how the mean share kept goes along β; whether it grows on every graph."""
    means = rows.groupby([*_GRAPH, "beta"])["share"].mean()
    lines = [line for _, line in means.groupby(level=[0, 1])]
    steps = [np.diff(line) for line in lines]
    grown = [line.iloc[-1] - line.iloc[0] for line in lines]
    falls = [-step[step < -_ROUNDING] for step in steps]
    ranks = [stats.spearmanr(line.index.get_level_values("beta"), line)[0] for line in lines if line.nunique() > 1]
    facts.add(f"{key}_grows", sum(g > _LEAST_GROWTH for g in grown), "path", f"graphs on which K rises at all {which}")
    facts.add(f"{key}_falling", sum(f.size for f in falls), "path", f"steps between neighbours where K falls {which}")
    facts.add(f"{key}_steps", sum(s.size for s in steps), "path", f"such steps in all {which}")
    facts.add(f"{key}_fall", max(f.max(initial=0) for f in falls), "path", f"largest fall, as share of M {which}")
    facts.add(f"{key}_rank", min(ranks, default=0.0), "path", f"least rank correlation of β and K {which}")
    facts.add(f"{key}_first", np.mean([line.iloc[0] for line in lines]), "path", f"mean share at the least β {which}")
    facts.add(f"{key}_last", np.mean([line.iloc[-1] for line in lines]), "path", f"mean share at the largest β {which}")
    return facts[f"{key}_grows"] == len(lines) and facts[f"{key}_falling"] == 0


def _paper(table: Any, facts: Facts) -> Verdict:
    barred = _growth(where(table, solver=ALGORITHM, alpha=ALPHA), "barred", "(Algorithm 1, α = 0.005)", facts)
    bare = _growth(where(table, solver=ALGORITHM, alpha=0.0), "bare", "(Algorithm 1, α = 0)", facts)
    facts.add(
        "seeds", where(table, solver=ALGORITHM, alpha=0.0)["draw"].nunique(), "path", "seeds of Algorithm 1, α = 0"
    )
    mostly = (
        _rises_from_the_lower_half(where(table, solver=ALGORITHM, alpha=0.0), facts)
        and facts["bare_grows"] == facts["graphs"]
    )
    holds = barred and bare
    condition = "with α = {none:g}, and from β = {bare_from:g} on"
    condition = condition if barred else f"not at the paper's α, but {condition}"
    return Verdict(
        "The number of preserved edges increases monotonically with β",
        "§3.2.1, Figure monotonic",
        "Algorithm 1, mean of {seeds:.0f} seeds, α = {none:g}: it rises on {bare_grows:.0f} of {graphs:.0f} graphs, "
        "from {bare_first:.1%} to {bare_last:.1%} of the edges, and falls at {bare_falling:.0f} of {bare_steps:.0f} "
        "steps, by {bare_fall:.2%} of the edges at most; with the paper's α = {alpha:g} it rises on "
        "{barred_grows:.0f}, from {barred_first:.1%} to {barred_last:.1%}",
        grade(holds),
        condition if mostly and not holds else "",
    )


def _rises_from_the_lower_half(rows: Any, facts: Facts) -> bool:
    """Whether K falls on no graph from some β on that is not above the middle one."""
    shares = rows.groupby([*_GRAPH, "beta"])["share"].mean().unstack("beta")
    falls = (np.diff(shares) < -_ROUNDING).any(axis=0)
    last = int(np.flatnonzero(falls).max(initial=-1)) + 1
    facts.add("bare_from", shares.columns[last], "path", "β from which on K falls on no graph (Algorithm 1, α = 0)")
    return last <= len(falls) // 2


def _minima_verdict(table: Any, solver: str, facts: Facts) -> Verdict:
    grows = _growth(where(table, solver=solver, alpha=0.0), solver, f"({solver} minimum, α = 0)", facts)
    small = facts[f"{solver}_grows"] == facts["graphs"] and facts[f"{solver}_fall"] < _LEAST_GROWTH
    which = "among connected subgraphs" if MINIMA[solver] else "among all subgraphs"
    return Verdict(
        f"The number of edges of the minimum {which} grows with β",
        "graphpri",
        f"α = {{none:g}}: from {{{solver}_first:.1%}} to {{{solver}_last:.1%}} of the edges on average; it falls at "
        f"{{{solver}_falling:.0f}} of {{{solver}_steps:.0f}} steps, by at most {{{solver}_fall:.2%}} of the edges; "
        f"rank correlation at least {{{solver}_rank:.3f}}",
        grade(grows, small),
        "" if grows else f"but for falls of up to {{{solver}_fall:.2%}} of the edges" if small else "",
    )


def _law(table: Any, facts: Facts) -> Verdict:
    wrong = steps = 0
    for solver in MINIMA:
        for _, rows in where(table, solver=solver, alpha=0.0).sort_values("beta").groupby(_GRAPH):
            wrong += int((np.diff(rows["D"]) > _ROUNDING).sum() + (np.diff(rows["S"]) < -_ROUNDING).sum())
            steps += 2 * (len(rows) - 1)
    facts.add("law_wrong", wrong, "path", "steps along β where D of a minimum rises or S falls, α = 0")
    facts.add("law_steps", steps, "path", "such steps of S and D in all")
    return Verdict(
        "What grows with β without exception is S, and what falls is D",
        "graphpri",
        "{law_wrong:.0f} exceptions in {law_steps:.0f} steps along β, both kinds of minima, α = {none:g}",
        grade(wrong == 0),
    )


def _trivial(table: Any, facts: Facts) -> Verdict:
    rows = where(table, solver="free", alpha=0.0)
    single = where(rows, K=1).groupby(_GRAPH)["beta"].max()
    above = rows[rows["K"] > 1].groupby("model")["share"].min()
    facts.add("trivial", len(single), "path", "graphs whose free minimum is one edge at some β, α = 0")
    facts.add("trivial_least", single.min() if len(single) else 0, "path", "largest β of which that is true, least")
    facts.add("trivial_most", single.max() if len(single) else 0, "path", "the same, most over the graphs")
    for model, share in above.items():
        facts.add(f"leap_{model}", share, "path", f"least share kept where it is more than one edge, {model}, α = 0")
    leaps = ", ".join(f"{{leap_{model}:.1%}} of the edges on {model}" for model in above.index)
    good = len(single) == facts["graphs"] and above.min() > 0.1
    return Verdict(
        "Without connectivity the minimum is a single edge up to some β, and a tenth of the edges or more above it",
        "graphpri",
        "one edge on {trivial:.0f} of {graphs:.0f} graphs, up to β = {trivial_least:g} on each and {trivial_most:g} at "
        f"most; beyond, at least {leaps} graphs",
        grade(good),
    )


def _gap(table: Any, facts: Facts) -> Verdict:
    rows = where(table, solver="connected", alpha=0.0).sort_values([*_GRAPH, "beta"]).reset_index(drop=True)
    rises = rows.groupby(_GRAPH)["share"].diff()
    places = rises.groupby(rows["model"]).idxmax()
    for model, place in places.items():
        facts.add(f"gap_{model}", rises[place], "path", f"largest rise of the share kept in one step of β, {model}")
        facts.add(f"gap_{model}_from", rows["beta"][place - 1], "path", f"β before that step, {model}")
        facts.add(f"gap_{model}_to", rows["beta"][place], "path", f"β after that step, {model}")
    parts = (f"{{gap_{m}:.1%}} on {m} (β = {{gap_{m}_from:g}} to {{gap_{m}_to:g}})" for m in places.index)
    good = rises.max() < 0.1
    return Verdict(
        "On this grid of β the size of the connected minimum grows in steps of less than a tenth of the edges",
        "graphpri",
        f"the largest rise between neighbouring β, as a share of the edges, is {', '.join(parts)} graphs",
        grade(good),
        "" if good else "it leaps from near a tree to much of the graph: for the sizes between, give a budget",
    )


def _barrier(table: Any, facts: Facts) -> Verdict:
    first = where(table, solver="connected", alpha=ALPHA)
    first = first[first["beta"] == first["beta"].min()]
    barrier = first["J"] - first["S"] - 2 * first["beta"] * first["D"]
    facts.add("barrier_share", first["share"].min(), "path", "least share of the connected minimum, β = 0, α = 0.005")
    facts.add("barrier_least", -barrier.max(), "path", "least size of the barrier in nats, connected, β = 0")
    facts.add("barrier_most", -barrier.min(), "path", "largest size of the barrier in nats, connected, β = 0")
    facts.add("barrier_S", first["S"].max(), "path", "largest S in nats, connected, β = 0, α = 0.005")
    return Verdict(
        "The paper's α keeps nearly all edges by itself on graphs of this size, whatever β is",
        "graphpri",
        "with α = {alpha:g} the connected minimum has at least {barrier_share:.1%} of the edges at β = 0 already: the "
        "barrier sums over all {nodes:.0f} nodes, {barrier_least:.2f} to {barrier_most:.2f} nats beside an entropy of "
        "at most {barrier_S:.2f}",
        grade(facts["barrier_share"] > 0.9),
    )


def _above(table: Any, facts: Facts) -> Verdict:
    least = where(table, solver="free", alpha=0.0).set_index([*_GRAPH, "beta"])["J"]
    runs = where(table, solver=ALGORITHM, alpha=0.0)
    runs = runs[runs["beta"].isin(least.index.get_level_values("beta"))]
    gaps = runs["J"].to_numpy() - least.loc[list(runs[[*_GRAPH, "beta"]].itertuples(index=False, name=None))].to_numpy()
    facts.add(
        "above", (gaps > -_ROUNDING).sum(), "path", "runs of Algorithm 1 that are not below the free minimum, α = 0"
    )
    facts.add("above_runs", len(gaps), "path", "runs of Algorithm 1, α = 0")
    facts.add("above_median", np.median(gaps), "path", "median of J above the free minimum, nats")
    facts.add("above_most", gaps.max(), "path", "most of it, nats")
    return Verdict(
        "The library's minima are at or below all runs of Algorithm 1",
        "graphpri",
        "{above:.0f} of {above_runs:.0f} runs are not below; the median is {above_median:.4f} nats above, the largest "
        "{above_most:.3f}",
        grade(facts["above"] == len(gaps)),
    )


def _steps(table: Any, long: Any, facts: Facts) -> Verdict:
    more = long.sort_values("beta").set_index([*_GRAPH, "beta"])
    fewer = where(table, solver=ALGORITHM, alpha=0.0).query("draw == 0").set_index([*_GRAPH, "beta"])
    for key, place in (("low", more.index[0]), ("high", more.index[-1])):
        facts.add(f"{key}_beta", place[-1], "long", "β of a long run of Algorithm 1, α = 0")
        facts.add(f"{key}_usual", fewer["K"][place], "path", "edges kept there by the usual run of the same seed")
        facts.add(f"{key}_long", more["K"][place], "long", "edges kept there by the long run")
    facts.add("usual_steps", fewer["steps"].max(), "path", "steps of a usual run of Algorithm 1")
    facts.add("long_steps", more["steps"].max(), "long", "steps of a long run")
    sharper = facts["low_long"] <= facts["low_usual"] and facts["low_long"] < facts["high_long"]
    return Verdict(
        "On one graph more steps of Algorithm 1 than were taken here leave fewer edges at β = 0: the rise is steeper",
        "graphpri",
        "{low_long:.0f} instead of {low_usual:.0f} edges at β = {low_beta:g}, {high_long:.0f} instead of "
        "{high_usual:.0f} at β = {high_beta:g}, after {long_steps:.0f} instead of {usual_steps:.0f} steps",
        grade(sharper),
    )


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """Kept edges over β with α = 0: a row a model, a column a solver; the paper's α in grey."""
    table = frames["path"]
    table = table[table["beta"] <= _LAST_DRAWN]
    models = list(dict.fromkeys(table["model"]))
    figure, axes = panels(len(models), 3, height=1.75, sharex=True, sharey=True)
    names = {ALGORITHM: "Algorithm 1", "connected": "connected minimum", "free": "free minimum"}
    for (row, model), (column, solver) in product(enumerate(models), enumerate(names)):
        ax = axes[row, column]
        rows = where(table, model=model, solver=solver)
        for i, degree in enumerate(_DEGREES):
            shares = 100 * where(rows, degree=degree, alpha=0).groupby("beta")["share"].agg(["mean", "min", "max"])
            if len(shares):
                curve(ax, shares.index, shares["mean"], i, f"mean degree {degree}", (shares["min"], shares["max"]))
        for i, (_, barred) in enumerate(where(rows, alpha=ALPHA).groupby("degree")):
            mean = 100 * barred.groupby("beta")["share"].mean()
            label = None if i else f"α = {ALPHA}, each degree"
            ax.plot(mean.index, mean, color="0.65", linewidth=0.7, zorder=0, label=label)
        ax.set_title(names[solver] if row == 0 else "")
        ax.set_xlabel("β" if row == len(models) - 1 else "")
        if column == 0:
            ax.set_ylabel(f"{MODELS[model]}\nedges kept (%)")
    legend_below(figure, axes[0, 0])
    return [
        Picture(
            "beta_path",
            figure,
            "Share of edges kept along β, α = 0, by mean degree; with the paper's α = 0.005 in grey. Lines: means over "
            "the seeds of Algorithm 1, and the minima; bands: least and most over these seeds.",
        )
    ]
