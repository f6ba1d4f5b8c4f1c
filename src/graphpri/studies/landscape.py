"""Every method against every kind of property: which one, and which β, for which purpose."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpri._choose import PURPOSES, kept_distances, loss, nine_digits
from graphpri._entropy.by_name import entropy_for
from graphpri._objective import BUDGET_BETA, FREE_BETA, Objective
from graphpri._sparsify import Sparsified, methods, path, sparsify
from graphpri.graph import FloatArray, Graph
from graphpri.measures import MEASURES, Settings, View
from graphpri.measures.reports import SCALED, evaluate
from graphpri.solvers.reweight import rescaled, reweighted
from graphpri.studies.graphs import load
from graphpri.studies.study import PAGE, Cell, Facts, Frames, Picture, Tables, Verdict, generator, grade, panels, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What is run

BETAS = (0.5, 1, 2, 4, 8, 16, 50, 200, 1000)
_BOTH = (False, True)
_GRAPHS: dict[str, tuple[tuple[float, ...], tuple[bool, ...]]] = {
    "us-airports": ((0.4,), (True,)),
    "power-grid": ((0.8,), (False,)),
    "netscience": ((0.5,), (True,)),
    "celegans": ((0.4,), _BOTH),
    "jazz": ((0.3, 0.6), (False,)),
    "polbooks": ((0.3, 0.5, 0.7), (False,)),
    "lesmis": ((0.4, 0.7), _BOTH),
    "madrid": ((0.3, 0.6), _BOTH),
    "karate": ((0.5, 0.7), _BOTH),
}
"""Keep ratios, all of which leave enough edges to hold components together, and whether weights are read; those that
take longest first."""
_EIGENVALUES = 20_000
"""Edges up to which the ten lowest eigenvalues are computed; they take seconds for each subgraph above."""
_STEPS = 30
"""Of the search for new weights, which come within 2 % of its end in a small part of the time."""
_FREE = ("polbooks", "lesmis", "madrid", "karate")
"""Graphs on which β is tried without a budget too."""
_QUICK = ("random", "local-degree", "effective-resistance")

WEIGHTS = ("given", "rescaled", "reweighted")
"""Weights of what is kept: as the method leaves them, times one factor that holds the sum, or those of least D."""
WEIGHED = {*SCALED, "divergence", "entropy", "eigenvector_rank", "pagerank_rank", "community_nmi", "community_ari"}
"""Measures that depend on weights at all: the others are taken once for a subset."""


def cells(quick: bool) -> list[Cell]:
    """One for each graph, keep ratio, and whether components are held together; and one a graph without a budget."""
    names, betas = [name for name in methods() if name != "pri"], list(BETAS)
    if quick:
        common = {"keep": 0.6, "methods": list(_QUICK), "betas": [1, 4, 50]}
        both = product((("lesmis", True), ("karate", False)), (False, True))
        compared = [{"graph": name, "weighted": w, "connected": joined, **common} for (name, w), joined in both]
        return [*compared, {"graph": "karate", "weighted": False, "free": common["betas"]}]
    free = [{"graph": g, "weighted": _GRAPHS[g][1][-1], "free": betas} for g in _FREE]
    return free + [
        {"graph": g, "weighted": w, "keep": keep, "connected": c, "methods": names, "betas": betas}
        for g, (keeps, read) in _GRAPHS.items()
        for w, keep, c in product(read, keeps, (False, True))
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Sparsify a graph by all methods, and measure each subset with the three kinds of weights."""
    graph = load(cell["graph"], weighted=cell["weighted"])
    if "free" in cell:
        return {"free": _free(graph, cell)}
    seed = int(generator(seed, "landscape", cell["graph"], cell["keep"]).integers(2**31))
    settings = Settings(BUDGET_BETA, 0.0, entropy_for(graph, "auto"), "equation", "nats", 0)
    origin, rows = View(graph, settings), list[dict[str, Any]]()
    ways: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in cell["methods"]]
    for name, options in ways + [("pri", {"beta": beta, "effort": "fast"}) for beta in cell["betas"]]:
        result = sparsify(graph, cell["keep"], method=name, seed=seed, connected=cell["connected"], **options)
        head = {key: cell[key] for key in ("graph", "weighted", "keep", "connected")}
        head |= {"nodes": graph.n_nodes, "edges": graph.n_edges, "method": name, "beta": options.get("beta")}
        rows += [head | {"weights": kind} | values for kind, values in _measured(origin, result).items()]
    return {"landscape": rows}


def _free(graph: Graph, cell: Cell) -> list[dict[str, Any]]:
    """How many edges each β keeps where nothing else says how many."""
    points = path(graph, beta=cell["free"])
    head = {"graph": cell["graph"], "edges": graph.n_edges}
    return [head | {"beta": point.settings["beta"], "K": point.kept.n_edges} for point in points]


def _measured(origin: View, result: Sparsified) -> dict[str, dict[str, float]]:
    """What a subset keeps, and its share of the weight, by the kind of weights."""
    graph, wanted = origin.graph, _measures(origin.graph)
    objective = Objective(graph, BUDGET_BETA, 0.0, origin.settings.entropy)
    new: dict[str, FloatArray] = {
        "given": result.weights,
        "rescaled": rescaled(objective, result.weights).weights,
        "reweighted": reweighted(objective, result.mask, _STEPS).weights,
    }
    found, values = dict[str, dict[str, float]](), dict[str, float]()
    for kind, weights in new.items():
        asked = {"given": wanted, "rescaled": SCALED, "reweighted": WEIGHED}[kind]
        view = View(graph.select(result.mask, weights), origin.settings, origin)
        values = values | evaluate(view, [MEASURES[name] for name in wanted if name in asked])
        found[kind] = values | {"share": float(weights.sum() / graph.weights.sum())}
    return found


def _measures(graph: Graph) -> list[str]:
    """Measures of all purposes that are affordable on this graph."""
    wanted = [name for kinds in PURPOSES.values() for name in kinds if name in MEASURES]
    wanted += UNRANKED
    large = graph.n_edges > _EIGENVALUES
    return [name for name in wanted if MEASURES[name].affordable(graph) and not (large and name == "eigenvalue_error")]


# Ranks of all methods, by measure and by purpose

UNRANKED = ("stretch", "effective_diameter")
"""Measures that are taken and not ranked by."""

ALL = "all purposes"
SETTING = ["method", "beta", "connected", "weights"]
_CELL = ["graph", "weighted", "keep"]
_RESAMPLES = 2000


def _with_distances(table: Any) -> Any:
    """The table with how well distances are kept."""
    if not {"connected_pairs", "stretch"} <= set(table):
        return table
    return table.assign(kept_distances=kept_distances(table["connected_pairs"], table["stretch"]))


def _losses(table: Any) -> Any:
    """What each row loses by each measure: 0 or least is best."""
    import pandas as pd

    losses: dict[str, Any] = {}
    for name, kind in ((name, kind) for kinds in PURPOSES.values() for name, kind in kinds.items()):
        if name not in table:
            continue
        losses[name] = loss(kind, table[name], table.get(f"{name}_original"))
    return pd.DataFrame(losses)


def by_cell(frames: Frames) -> Any:
    """Share of the other ways that do better, in percent, by measure and cell of graph and keep ratio.

    A way is a method with its β, its connectivity and its weights. Where a measure is not defined for a way it ranks
    last, and where it was not computed it is NaN.
    """
    table = _with_distances(frames["landscape"])
    losses = _losses(table)
    table = table[[*_CELL, *SETTING]].assign(beta=table["beta"].fillna(-1)).join(losses)
    values = table.set_index([*_CELL, *SETTING])[list(losses)]
    # Equal but for rounding is equal: one factor for all weights changes no D.
    cells = values.map(nine_digits).groupby(_CELL)
    measured = cells.transform("count") > 0
    better = cells.rank(method="min", na_option="bottom") - 1
    return (100 * better.div(cells["divergence"].transform("size") - 1, axis=0)).where(measured)


def by_graph(ranks: Any) -> Any:
    """Mean rank of each way for each purpose on each graph: over keep ratios and kinds of input, then over measures.

    Rows are ways and graphs; the last column is the mean over all purposes.
    """
    import pandas as pd

    scores = ranks.groupby([*SETTING, "graph"]).mean()
    measured = {purpose: [name for name in kinds if name in scores] for purpose, kinds in PURPOSES.items()}
    table = pd.DataFrame({purpose: scores[names].mean(axis=1) for purpose, names in measured.items() if names})
    return table.assign(**{ALL: table.mean(axis=1)})


def resampled(values: Any, resamples: int = _RESAMPLES) -> FloatArray:
    """Means over graphs drawn with replacement (Efron's bootstrap), shape (B, n), of values by graph, shape (n, G)."""
    values = np.asarray(values, np.float64)
    rng = generator(0, "landscape", "graphs", values.shape[1])
    weights = rng.multinomial(values.shape[1], np.full(values.shape[1], 1 / values.shape[1]), resamples)
    return weights @ values.T / values.shape[1]


def interval(values: Any) -> tuple[float, float]:
    """95 % interval of the mean over graphs of values by graph, shape (G,)."""
    low, high = np.percentile(resampled(np.atleast_2d(values))[:, 0], (2.5, 97.5))
    return float(low), float(high)


def setting_name(setting: tuple[str, float, bool, str]) -> str:
    """How texts call a way."""
    method, beta, connected, weights = setting
    name = f"pri β={beta:g}" if method == "pri" else method
    return name + ", connected" * bool(connected) + f", {weights}" * (weights != "given")


def derive(frames: Frames) -> Frames:
    """Tables of ranks, of the best for each purpose, of all that tie with it, and of Graph-PRI's β for each purpose."""
    graphs = by_graph(by_cell(frames))
    means = graphs.groupby(SETTING).mean()
    ranks = means.round(1).reset_index()
    return {
        "ranks": ranks.assign(beta=ranks["beta"].where(ranks["beta"] >= 0)),
        "purposes": _purposes(graphs, means),
        "ties": _ties(graphs, means),
        "betas": _betas(means),
        "defaults": _defaults(frames),
    }


def _of(graphs: Any, purpose: str, setting: Any) -> Any:
    """Ranks of a way for a purpose, by graph."""
    return graphs[purpose].xs(setting, level=SETTING)


def _purposes(graphs: Any, means: Any) -> Any:
    import pandas as pd

    ours = means.index.get_level_values("method") == "pri"
    default = means[means.index.get_level_values("beta") == BUDGET_BETA]
    rows: list[dict[str, Any]] = []
    for purpose in means:
        order, own = means[purpose].sort_values(kind="stable"), means[purpose][ours].sort_values(kind="stable")
        other = means[purpose][~ours].sort_values(kind="stable")
        low, high = interval(_of(graphs, purpose, other.index[0]) - _of(graphs, purpose, own.index[0]))
        rows.append(
            {
                "purpose": purpose,
                "measures": ", ".join(PURPOSES.get(str(purpose), ["those above"])),
                "best": _first(order),
                "best_rank": order.iloc[0],
                "best_other": _first(other),
                "other_rank": other.iloc[0],
                "best_pri": _first(own),
                "pri_rank": own.iloc[0],
                "lead_low": low,
                "lead_high": high,
                "default_beta_rank": default[purpose].min(),
            }
        )
    return pd.DataFrame(rows).round(1)


def _ties(graphs: Any, means: Any) -> Any:
    """The ways whose distance to the best for a purpose may be chance, by purpose and rank, with their intervals."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for purpose in means:
        wide = graphs[purpose].unstack("graph")
        draws = resampled(wide)
        best = int(np.argmin(means[purpose].reindex(wide.index).to_numpy()))
        behind = np.percentile(draws - draws[:, [best]], 2.5, axis=0)
        bounds = np.percentile(draws, (2.5, 97.5), axis=0)
        found = wide.index.to_frame(index=False).assign(
            purpose=purpose, rank=wide.mean(axis=1).to_numpy(), low=bounds[0], high=bounds[1]
        )
        found = found[behind <= 0].sort_values("rank", kind="stable")
        rows += found[["purpose", *SETTING, "rank", "low", "high"]].to_dict("records")
    table = pd.DataFrame(rows).round(1)
    return table.assign(beta=table["beta"].where(table["beta"] >= 0))


def _first(order: Any) -> str:
    """The best way; where all that hold the graph together are best alike, all of these."""
    tied = order[order == order.iloc[0]].index
    joined = order[order.index.get_level_values("connected")]
    if len(tied) == len(joined) > 1 and tied.get_level_values("connected").all():
        if tied.get_level_values("method").nunique() > 1:
            return "any method, connected"
        if tied.get_level_values("beta").nunique() > 1:
            return "pri of any β, connected"
    return setting_name(_plainest(tied))


def _plainest(tied: Any) -> Any:
    """Of ways that are alike the one with the fewest wishes."""
    return min(tied, key=lambda way: (way[2], WEIGHTS.index(way[3])))


def _betas(means: Any) -> Any:
    """Graph-PRI's ranks by β, with rescaled weights."""
    import pandas as pd

    ours = means[means.index.get_level_values("method") == "pri"].xs("rescaled", level="weights")
    rows: list[dict[str, Any]] = []
    for purpose in means:
        for connected in (False, True):
            along = ours[purpose].xs(connected, level="connected").droplevel("method")
            row = {"purpose": purpose, "connected": connected, "best_beta": along.idxmin()}
            rows.append(row | {f"β={beta:g}": value for beta, value in along.items()})
    return pd.DataFrame(rows).round(1)


def _defaults(frames: Frames) -> Any:
    """Graph-PRI's mean rank over all purposes but hubs, by β and groups of graphs; connected or not, any weights."""
    import pandas as pd

    cells = by_cell(frames)
    weighted = cells.index.get_level_values("weighted").astype(bool)
    every = _by_beta(cells)
    names = sorted(every)
    groups = {"all": every, "one half": every[names[::2]], "the other half": every[names[1::2]]}
    kinds = {"weighted": weighted, "unweighted": ~weighted}
    groups |= {name: _by_beta(cells[rows]) for name, rows in kinds.items() if rows.any()}
    rows = [
        {"graphs": name, "names": ", ".join(table), **{f"β={beta:g}": x for beta, x in table.mean(axis=1).items()}}
        for name, table in groups.items()
        if table.shape[1]
    ]
    return pd.DataFrame(rows).round(1)


def _by_beta(cells: Any) -> Any:
    """Graph-PRI's mean rank over all purposes but hubs, a row for each β and a column for each graph."""
    own = by_graph(cells).xs("pri", level="method")
    kept = own[[name for name in PURPOSES if name in own and name != "hubs"]].mean(axis=1)
    return kept.groupby(["beta", "graph"]).mean().unstack("graph")


# What the numbers say

_SOURCE = "graphpri"

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
    """One verdict for each purpose; then what weights do, the lowest divergence by cell, what β does, the default."""
    table = frames["landscape"]
    facts.add("graphs", table["graph"].nunique(), "landscape", "graphs")
    facts.add("cells", len(table[_CELL].drop_duplicates()), "landscape", "cells of graph, its weights, and keep ratio")
    settings = table[SETTING].drop_duplicates()
    facts.add("ways", len(settings), "landscape", "methods with their β, connectivity and weights")
    return [
        *(_purpose(row, facts) for row in frames["purposes"].itertuples() if row.purpose in PURPOSES),
        _scale(frames, facts),
        *_new_weights(frames, facts),
        _divergence(frames, facts),
        _direction(frames, facts),
        _default(frames, facts),
    ]


def _purpose(row: Any, facts: Facts) -> Verdict:
    name = row.purpose
    facts.add(f"{name}_pri", row.pri_rank, "purposes", f"mean percentile rank for {name} of {row.best_pri}")
    facts.add(f"{name}_other", row.other_rank, "purposes", f"mean percentile rank for {name} of {row.best_other}")
    facts.add(f"{name}_low", row.lead_low, "purposes", f"lower end of the lead of Graph-PRI for {name}, 95 %")
    facts.add(f"{name}_high", row.lead_high, "purposes", f"upper end of the lead of Graph-PRI for {name}, 95 %")
    facts.add(
        f"{name}_default", row.default_beta_rank, "purposes", f"lowest mean percentile rank for {name}, default β"
    )
    ours = facts.add_setting(f"{name}_best", row.best_pri, "purposes")
    alike = row.lead_low == row.lead_high == 0
    is_noise = row.lead_low <= 0 <= row.lead_high and not alike
    return Verdict(
        f"Graph-PRI at its best β keeps {_WORDS[name]} at least as well as the best other method",
        _SOURCE,
        f"of a hundred other ways {{{name}_pri:.0f}} do better than {ours}, {{{name}_other:.0f}} better than "
        f"{row.best_other}: a lead of {{{name}_low:.0f}} to {{{name}_high:.0f}} ranks (interval over graphs); "
        f"{{{name}_default:.0f}} better than the default β",
        grade(alike or row.lead_low > 0, is_noise),
        _remark(row, alike, is_noise),
    )


def _remark(row: Any, alike: bool, is_noise: bool) -> str:
    if alike:
        return "a tie"
    if is_noise:
        leader = row.best_pri if row.pri_rank < row.other_rank else row.best_other
        return f"a tie: the lead of {leader} may be chance"
    if row.lead_low <= 0:
        return f"for this purpose take {row.best_other}"
    itself = "D is what Graph-PRI minimises at large β: the objective scored on itself, and no evidence of a use"
    return itself if row.purpose == "information" else ""


def _scale(frames: Frames, facts: Facts) -> Verdict:
    """Whether the quadratic form of what is kept with its weights as given measures anything but the missing scale."""
    table = frames["landscape"]
    given = where(table, weights="given")
    given = given[given["method"] != "effective-resistance-sampling"]
    apart = (given["quadratic_error"] - (1 - given["share"])).abs()
    facts.add("apart", apart.median(), "landscape", "median |quadratic_error − (1 − share of the weight)|, as given")
    for kind in WEIGHTS:
        values = where(table, weights=kind)["quadratic_error"]
        facts.add(f"quadratic_{kind}", values.median(), "landscape", f"median quadratic_error, {kind}")
    return Verdict(
        "With weights as given, the error of the quadratic form is one minus the share of the weight that is kept",
        _SOURCE,
        "apart by {apart:.3f} (median; methods that set no weights); the error itself is {quadratic_given:.2f} as "
        "given, {quadratic_rescaled:.3f} rescaled, {quadratic_reweighted:.3f} with weights of least D (medians)",
        grade(facts["apart"] < 0.05),
        "compare kept graphs with their sum of weights held",
    )


def _new_weights(frames: Frames, facts: Facts) -> list[Verdict]:
    """Rescaled against given, and new weights against rescaled, for Graph-PRI where one of them matters."""
    graphs = by_graph(by_cell(frames))
    ours = graphs.xs("pri", level="method")
    found: list[Verdict] = []
    for kind, before, claim in (
        ("rescaled", "given", "One factor for all weights is better than weights as given"),
        ("reweighted", "rescaled", "Weights of least D are better than one factor for all"),
    ):
        change = ours.xs(before, level="weights") - ours.xs(kind, level="weights")
        better: list[str] = []
        worse: list[str] = []
        for purpose in ("information", "spectrum", "flows", "centralities", "communities", ALL):
            key = f"{kind}_{purpose.split()[0]}"
            by_graphs = change[purpose].groupby("graph").mean()
            low, high = interval(by_graphs)
            facts.add(key, by_graphs.mean(), "landscape", f"mean ranks that pri gains for {purpose}: {kind}, {before}")
            (better if low > 0 else worse if high < 0 else []).append(purpose)
        names = ("information", "spectrum", "flows", "centralities", "communities", "all")
        gains = ", ".join(f"{name} {{{kind}_{name}:+.1f}}" for name in names)
        found.append(
            Verdict(
                f"{claim}, after Graph-PRI of any β",
                _SOURCE,
                f"ranks gained, mean over β and graphs: {gains}",
                grade(len(better) == len(names), len(better) > len(worse)),
                "; ".join(
                    f"{word} for {', '.join(some)}"
                    for word, some in (("better beyond noise", better), ("worse", worse))
                    if some
                ),
            )
        )
    return found


def _divergence(frames: Frames, facts: Facts) -> Verdict:
    ranks = by_cell(frames)["divergence"].xs("given", level="weights").reset_index()
    first = ranks.loc[ranks.groupby(_CELL)["divergence"].idxmin()]
    facts.add(
        "least_D", (first["method"] == "pri").mean(), "landscape", "share of cells where Graph-PRI has the lowest D"
    )
    share = facts["least_D"]
    lost = first[first["method"] != "pri"].drop_duplicates(["method", "graph"])
    return Verdict(
        "In each cell of graph and keep ratio, the lowest divergence D with weights as given is Graph-PRI's",
        _SOURCE,
        "in {least_D:.0%} of {cells:.0f} cells on {graphs:.0f} graphs, among {ways:.0f} ways",
        grade(share == 1, share > 0.5),
        "D is what Graph-PRI minimises at large β: a check of the search, and no evidence of a use"
        + ("" if share == 1 else "; lower: " + ", ".join(f"{row.method} on {row.graph}" for row in lost.itertuples())),
    )


def _direction(frames: Frames, facts: Facts) -> Verdict:
    """Best β by purpose, without connectivity: hubs at the least, information at the largest."""
    best = frames["betas"]
    free = best[~best["connected"]].set_index("purpose")["best_beta"]
    for name in PURPOSES:
        facts.add(f"{name}_beta", free[name], "betas", f"best β for {name}, without connectivity")
    small = [name for name in PURPOSES if free[name] <= FREE_BETA]
    facts.add("large", len(PURPOSES) - len(small), "betas", "purposes whose best β is above 4")
    facts.add("purposes", len(PURPOSES), "betas", "purposes")
    best_betas = ", ".join(f"{name} {{{name}_beta:g}}" for name in sorted(PURPOSES, key=lambda name: float(free[name])))
    mostly = "hubs" in small and len(small) <= len(PURPOSES) / 2
    return Verdict(
        "A small β is for hubs, a β above 4 for properties that are to be as in the original",
        _SOURCE,
        f"above it for {{large:.0f}} of {{purposes:.0f}} purposes; best β without connectivity: {best_betas}",
        grade(small == ["hubs"], mostly),
        "" if small == ["hubs"] else f"a small β is best for: {', '.join(small) or 'none'}",
    )


def _default(frames: Frames, facts: Facts) -> Verdict:
    """The default with a budget against all other β, over all purposes but hubs; also by halves of the graphs."""
    table = frames["defaults"].set_index("graphs")
    ranks = table[[column for column in table if column.startswith("β=")]]
    for group in ("all", "one half", "the other half"):
        name = group.replace(" ", "_")
        facts.add(name, float(str(ranks.loc[group].idxmin())[2:]), "defaults", f"best β on {table.loc[group, 'names']}")
    facts.add("best_rank", ranks.loc["all"].min(), "defaults", "mean rank of the best β over all purposes but hubs")
    for name, beta in (("default", BUDGET_BETA), ("free", FREE_BETA)):
        facts.add(name, beta, "defaults", f"default β {'with' if name == 'default' else 'without'} a budget")
        facts.add(f"{name}_rank", ranks.loc["all", f"β={beta:g}"], "defaults", f"mean rank of β = {beta:g}")
    free = frames["free"]
    share = (free["K"] / free["edges"]).groupby(free["beta"]).median()
    for name, beta in (("default_share", BUDGET_BETA), ("free_share", FREE_BETA)):
        facts.add(name, share[beta], "free", f"median share of the edges that β = {beta:g} keeps without a budget")
    same = facts["all"] == facts["default"]
    halves = facts["one_half"] == facts["the_other_half"] == facts["default"]
    return Verdict(
        "With a budget the default β is the best single value over all purposes but hubs",
        _SOURCE,
        "best {all:g} (rank {best_rank:.1f}; the default {default:g} has {default_rank:.1f} and {free:g} has "
        "{free_rank:.1f}); on one half of the graphs {one_half:g}, on the other {the_other_half:g}; without a budget β "
        "decides how many edges stay: {default:g} keeps {default_share:.0%} of them and {free:g} {free_share:.0%}",
        grade(same and halves, same),
    )


# Pictures

_ROW = 0.142


def draw(frames: Frames) -> list[Picture]:
    """Methods without connectivity above, with it below; purposes side by side for each kind of weights."""
    table = frames["ranks"]
    table = table.assign(beta=table["beta"].fillna(-1))
    blocks = [_sorted(where(table, connected=joined)) for joined in (False, True)]
    sizes = [len(block) for block in blocks]
    figure, axes = panels(2, 1, width=PAGE, height=_ROW * sum(sizes) / 2 + 0.55, height_ratios=sizes)
    for ax, block, title in zip(axes[:, 0], blocks, ("edges chosen freely", "connected=True"), strict=True):
        _block(ax, block)
        ax.set_title(f"{title}: weights {', '.join(WEIGHTS)}", loc="left", pad=3)
    axes[0, 0].set_xticklabels([])
    return [
        Picture(
            "landscape",
            figure,
            "How well each method serves each purpose: the share of all other ways that do better, in percent, on "
            "average over keep ratios and real graphs (0: the best of all), with weights as given, rescaled to the sum "
            "of the original, and chosen for the least divergence. Darker is better. Other methods stand in the order "
            "of their mean.",
        )
    ]


def _sorted(block: Any) -> Any:
    """Rows: other methods by their mean, then Graph-PRI by β. Columns: purposes, for each kind of weights."""
    purposes = [name for name in (*PURPOSES, ALL) if name in block]
    wide = block.pivot(index=["method", "beta"], columns="weights", values=purposes).swaplevel(axis=1)
    wide = wide[[(kind, name) for kind in WEIGHTS for name in purposes]]
    ours = wide.index.get_level_values("method") == "pri"
    order = wide.mean(axis=1)
    rows = [*order[~ours].sort_values(kind="stable").index, *sorted(wide.index[ours], key=lambda way: way[1])]
    return wide.loc[rows]


def _block(ax: Axes, block: Any) -> None:
    values = block.to_numpy(float)
    ax.imshow(values, cmap="gray", vmin=-40, vmax=110, aspect="auto")
    for i, j in product(*map(range, values.shape)):
        shade, text = ("w" if values[i, j] < 30 else "k"), f"{values[i, j]:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=4.5, color=shade)
    names = [f"pri β={beta:g}" if method == "pri" else method for method, beta in block.index]
    labels = [purpose for _, purpose in block.columns]
    ax.set_yticks(range(len(block)), names, fontsize=5.5)
    ax.set_xticks(range(len(labels)), labels, rotation=60, ha="right", fontsize=5)
    ax.tick_params(length=0, pad=2)
    for end in range(1, len(WEIGHTS)):
        ax.axvline(end * len(labels) / len(WEIGHTS) - 0.5, color="w", linewidth=1.5)
    ax.axhline(sum("β" not in name for name in names) - 0.5, color="w", linewidth=1.5)
    ax.spines[:].set_visible(False)
