"""Every method against every kind of property: which one, and which β, for which purpose."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from graphpri._compare import compare
from graphpri._objective import DEFAULT_BETA
from graphpri._selection import count_edges
from graphpri._sparsify import methods, path
from graphpri.graph import Graph
from graphpri.measures import MEASURES
from graphpri.studies.figures import PAGE, panels
from graphpri.studies.graphs import load
from graphpri.studies.study import Cell, Facts, Frames, Picture, Tables, Verdict, generator, grade, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What is run

BETAS = (0.5, 1, 2, 4, 8, 16, 50)
_MOST = (0.2, 0.4, 0.6, 0.8)
_GRAPHS: dict[str, tuple[tuple[float, ...], int, bool]] = {
    "us-airports": ((0.2, 0.4, 0.8), 1, True),
    "as-caida": ((0.6,), 1, False),
    "ca-grqc": ((0.6,), 1, False),
    "facebook": ((0.6,), 1, False),
    "celegans": ((0.2, 0.4, 0.8), 1, True),
    "polblogs": ((0.4, 0.8), 1, False),
    "power-grid": ((0.4, 0.8), 1, False),
    "netscience": ((0.4, 0.8), 1, True),
    "jazz": (_MOST, 3, False),
    "polbooks": (_MOST, 3, False),
    "lesmis": (_MOST, 3, True),
    "madrid": (_MOST, 3, True),
    "karate": (_MOST, 3, False),
}
"""Keep ratios, seeds and whether weights are read; those that take longest first."""
_EIGENVALUES = 20_000
"""Edges up to which the ten lowest eigenvalues are computed; they take seconds for each subgraph above."""
_FREE = ("celegans", "jazz", "polbooks", "lesmis", "madrid", "karate")
"""Graphs on which β is tried without a budget too."""
_QUICK = ("random", "local-degree", "effective-resistance")


def cells(quick: bool) -> list[Cell]:
    """One for each graph, keep ratio, and whether components are held together; and one a graph without a budget."""
    names, betas = [name for name in methods() if name != "pri"], list(BETAS)
    if quick:
        common = {"keep": 0.6, "seeds": 1, "methods": list(_QUICK), "betas": [1, 4, 50]}
        both = product((("lesmis", True), ("karate", False)), (False, True))
        compared = [{"graph": name, "weighted": w, "connected": joined, **common} for (name, w), joined in both]
        return [*compared, {"graph": "karate", "weighted": False, "free": common["betas"]}]
    free = [{"graph": g, "weighted": _GRAPHS[g][2], "free": betas} for g in _FREE]
    return free + [
        {"graph": g, "weighted": w, "keep": keep, "connected": c, "seeds": seeds, "methods": names, "betas": betas}
        for g, (keeps, seeds, w) in _GRAPHS.items()
        for keep, c in product(keeps, (False, True))
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Sparsify a graph by all methods, and measure; nothing where the budget is too small for connectivity."""
    graph = load(cell["graph"], weighted=cell["weighted"])
    if "free" in cell:
        return {"free": _free(graph, cell)}
    needed = graph.n_nodes - graph.components()[0]
    if cell["connected"] and count_edges(cell["keep"], graph.n_edges) < needed:
        return {"landscape": []}
    seeds = generator(seed, "landscape", cell["graph"], cell["keep"]).integers(2**31, size=cell["seeds"]).tolist()
    ours = [("pri", {"beta": beta, "effort": "fast"}) for beta in cell["betas"]]
    rows = _compared(graph, cell, [(name, {}) for name in cell["methods"]], seeds)
    return {"landscape": rows + _compared(graph, cell, ours, seeds[:1])}


def _free(graph: Graph, cell: Cell) -> list[dict[str, Any]]:
    """How many edges each β keeps where nothing else says how many."""
    points = path(graph, beta=cell["free"])
    head = {"graph": cell["graph"], "edges": graph.n_edges}
    return [head | {"beta": point.settings["beta"], "K": point.kept.n_edges} for point in points]


def _compared(
    graph: Graph, cell: Cell, settings: list[tuple[str, dict[str, Any]]], seeds: list[int]
) -> list[dict[str, Any]]:
    found = compare(
        graph,
        settings,
        cell["keep"],
        seeds=seeds,
        connected=cell["connected"],
        measures=_measures(graph),
        weight="weight",
    )
    head = {"graph": cell["graph"], "nodes": graph.n_nodes, "edges": graph.n_edges, "weighted": cell["weighted"]}
    original = {f"{name}_original": value for name, value in found.original.items()}
    return [
        head
        | {"keep": cell["keep"], "connected": cell["connected"], "method": name, "beta": options.get("beta")}
        | {"seed": row["seed"], "K": row["K"]}
        | {measure: row[measure] for measure in found.measures}
        | original
        for (name, options), row in zip((setting for setting in settings for _ in seeds), found, strict=True)
    ]


def _measures(graph: Graph) -> list[str]:
    """Measures of all purposes that are affordable on this graph."""
    wanted = [name for kinds in PURPOSES.values() for name in kinds if name in MEASURES]
    wanted += UNRANKED
    large = graph.n_edges > _EIGENVALUES
    return [name for name in wanted if MEASURES[name].affordable(graph) and not (large and name == "eigenvalue_error")]


# Ranks of all methods, by measure and by purpose

PURPOSES: dict[str, dict[str, str]] = {
    "information": {"divergence": "low"},
    "spectrum": {"quadratic_error": "low", "eigenvalue_error": "low", "spectral_distance": "low"},
    "flows": {"flow_ratio": "one"},
    "connectivity": {"components": "low", "connected_pairs": "high", "cut_off": "low"},
    "distances": {"kept_distances": "high"},
    "centralities": {
        "betweenness_rank": "high",
        "closeness_rank": "high",
        "eigenvector_rank": "high",
        "pagerank_rank": "high",
    },
    "degrees": {"degree_shape_ks": "low", "degree_rank": "high"},
    "clustering": {"clustering": "same"},
    "communities": {"community_nmi": "high", "community_ari": "high"},
    "hubs": {"centralisation": "high", "entropy": "low"},
}
"""Measures by what they are for, and what is best: low, high, the original's value (same), or a ratio of 1 (one)."""

UNRANKED = ("stretch", "effective_diameter")
"""Measures that are taken and not ranked by."""

ALL = "all purposes"
SETTING = ["method", "beta", "connected"]
_CELL = ["graph", "keep"]


def _with_distances(table: Any) -> Any:
    """The table with how well distances are kept: the share of pairs still connected over their mean stretch.

    Stretch and effective diameter alone look at connected pairs only, and praise graphs that lose the far ones.
    """
    if not {"connected_pairs", "stretch"} <= set(table):
        return table
    return table.assign(kept_distances=(table["connected_pairs"] / table["stretch"]).fillna(0.0))


def _losses(table: Any) -> Any:
    """What each row loses by each measure: 0 or least is best."""
    import pandas as pd

    losses: dict[str, Any] = {}
    for name, kind in ((name, kind) for kinds in PURPOSES.values() for name, kind in kinds.items()):
        if name not in table:
            continue
        aims = {"low": 0, "high": 0, "same": table.get(f"{name}_original"), "one": 1}
        losses[name] = {"low": table[name], "high": -table[name]}.get(kind, abs(table[name] - aims[kind]))
    return pd.DataFrame(losses)


def by_cell(frames: Frames) -> Any:
    """Share of the other settings that do better, in percent, by measure and cell of graph and keep ratio.

    A setting is a method with its β and its connectivity; values are medians over the seeds. Where a measure is not
    defined for a setting it ranks last, and where it was not computed it is NaN.
    """
    table = _with_distances(frames["landscape"])
    losses = _losses(table)
    table = table[[*_CELL, *SETTING]].assign(beta=table["beta"].fillna(-1)).join(losses)
    median = table.groupby([*_CELL, *SETTING])[list(losses)].median()
    cells = median.groupby(_CELL)
    measured = cells.transform("count") > 0
    better = cells.rank(method="min", na_option="bottom") - 1
    return (100 * better.div(cells["divergence"].transform("size") - 1, axis=0)).where(measured)


def by_measure(ranks: Any) -> Any:
    """Mean rank of each setting by each measure: over the keep ratios of a graph, then over graphs."""
    return ranks.groupby(["graph", *SETTING]).mean().groupby(SETTING).mean()


def by_purpose(scores: Any) -> Any:
    """Mean rank of each setting for each purpose, over its measures; and for all purposes alike."""
    import pandas as pd

    measured = {purpose: [name for name in kinds if name in scores] for purpose, kinds in PURPOSES.items()}
    found = {purpose: scores[names].mean(axis=1) for purpose, names in measured.items() if names}
    table = pd.DataFrame(found)
    return table.assign(**{ALL: table.mean(axis=1)})


def setting_name(setting: tuple[str, float, bool]) -> str:
    """How texts call a setting."""
    method, beta, connected = setting
    return (f"pri β={beta:g}" if method == "pri" else method) + ", connected" * bool(connected)


def derive(frames: Frames) -> Frames:
    """Tables of ranks, of the best for each purpose, and of Graph-PRI's β for each purpose."""
    scores = by_measure(by_cell(frames))
    purposes, ranks = by_purpose(scores), scores.round(1).reset_index()
    ranks = ranks.assign(beta=ranks["beta"].where(ranks["beta"] >= 0))
    return {"ranks": ranks, "purposes": _purposes(purposes), "betas": _betas(purposes)}


def _purposes(scores: Any) -> Any:
    import pandas as pd

    ours = scores.index.get_level_values("method") == "pri"
    default = scores[scores.index.get_level_values("beta") == DEFAULT_BETA]
    rows: list[dict[str, Any]] = []
    for purpose in scores:
        order, own = scores[purpose].sort_values(kind="stable"), scores[purpose][ours].sort_values(kind="stable")
        other = scores[purpose][~ours].sort_values(kind="stable")
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
                "default_beta_rank": default[purpose].min(),
            }
        )
    return pd.DataFrame(rows).round(1)


def _first(order: Any) -> str:
    """The best setting; where all that hold the graph together are best alike, all of these."""
    tied = order[order == order.iloc[0]].index
    joined = order.xs(True, level="connected")
    if len(tied) == len(joined) > 1 and tied.get_level_values("connected").all():
        return "any method, connected"
    return setting_name(order.index[0])


def _betas(scores: Any) -> Any:
    import pandas as pd

    ours = scores[scores.index.get_level_values("method") == "pri"]
    rows: list[dict[str, Any]] = []
    for purpose in scores:
        for connected in (False, True):
            along = ours[purpose].xs(connected, level="connected").droplevel("method")
            row = {"purpose": purpose, "connected": connected, "best_beta": along.idxmin()}
            rows.append(row | {f"β={beta:g}": value for beta, value in along.items()})
    return pd.DataFrame(rows).round(1)


# What the numbers say

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
    settings = table[SETTING].drop_duplicates()
    facts.add("ways", len(settings), "landscape", "methods with their β, with and without connectivity")
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
    ours = facts.add_setting(f"{name}_best", row.best_pri, "purposes")
    wins = row.pri_rank <= row.other_rank
    narrow = 0 < row.other_rank - row.pri_rank < NARROW
    return Verdict(
        f"Graph-PRI at its best β keeps {_WORDS[name]} at least as well as the best other method",
        _SOURCE,
        f"of a hundred others {{{name}_pri:.0f}} do better than {ours} on average, {{{name}_other:.0f}} better "
        f"than {row.best_other}, {{{name}_default:.0f}} better than the default β",
        grade(wins and not narrow, narrow),
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
        grade(share == 1, share > 0.5),
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
    best_betas = ", ".join(f"{name} {{{name}_beta:g}}" for name in sorted(PURPOSES, key=lambda name: float(free[name])))
    mostly = "hubs" in small and len(small) <= len(PURPOSES) / 2
    return Verdict(
        "A small β is for hubs, a β above the default for properties that are to be as in the original",
        _SOURCE,
        f"above it for {{large:.0f}} of {{purposes:.0f}} purposes; best β without connectivity: {best_betas}",
        grade(small == ["hubs"], mostly),
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
        grade(same),
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
    measured = (
        "β={even:g} is nowhere more than {even_gap:.0f} ranks behind the best for a purpose, the default up to "
        "{default_gap:.0f}; but without a budget, where β alone decides, they keep {even_share:.0%} and "
        "{default_share:.0%} of the edges (median of {free_graphs:.0f} graphs)"
    )
    return measured + ": one default serves both, and the smaller still sparsifies" * bool(
        share[DEFAULT_BETA] < share[even]
    )


# Pictures

_ROW = 0.142
_SHORT = {
    "divergence": "divergence D",
    "quadratic_error": "quadratic form",
    "eigenvalue_error": "eigenvalues",
    "spectral_distance": "distance $d_x$",
    "flow_ratio": "max flow",
    "components": "components",
    "connected_pairs": "connected pairs",
    "cut_off": "nodes cut off",
    "kept_distances": "distances",
    "betweenness_rank": "betweenness",
    "closeness_rank": "closeness",
    "eigenvector_rank": "eigenvector",
    "pagerank_rank": "PageRank",
    "degree_shape_ks": "degree shape",
    "degree_rank": "degree order",
    "clustering": "clustering",
    "community_nmi": "community NMI",
    "community_ari": "community ARI",
    "centralisation": "centralisation",
    "entropy": "low entropy S",
}


def draw(frames: Frames) -> list[Picture]:
    """Methods without connectivity above, with it below."""
    table = frames["ranks"]
    table = table.assign(beta=table["beta"].fillna(-1))
    blocks = [_sorted(where(table, connected=joined)) for joined in (False, True)]
    sizes = [len(block) for block in blocks]
    figure, axes = panels(2, 1, width=PAGE, height=_ROW * sum(sizes) / 2 + 0.55, height_ratios=sizes)
    for ax, block, title in zip(axes[:, 0], blocks, ("edges chosen freely", "connected=True"), strict=True):
        _block(ax, block)
        ax.set_title(title, loc="left", pad=3)
    axes[0, 0].set_xticklabels([])
    return [
        Picture(
            "landscape",
            figure,
            "How well each method keeps each property: the share of all other methods and settings that do better, in "
            "percent, on average over keep ratios and real graphs (0: the best of all), with and without connectivity. "
            "Darker is better. Vertical lines separate purposes; other methods stand in the order of their mean.",
        )
    ]


def _sorted(block: Any) -> Any:
    """Other methods by their mean over all measures, then Graph-PRI by β."""
    measures = [name for kinds in PURPOSES.values() for name in kinds if name in block]
    names = [setting_name((row.method, row.beta, row.connected)) for row in block.itertuples()]
    block = block.assign(mean=block[measures].mean(axis=1), setting=names)
    ours = block["method"] == "pri"
    both = block[~ours].sort_values("mean"), block[ours].sort_values("beta")
    records = [record for part in both for record in part.to_dict("records")]
    table = type(block)(records).set_index("setting")[measures]
    return table.rename({name: name.removesuffix(", connected") for name in names})


def _block(ax: Axes, block: Any) -> None:
    values = block.to_numpy(float)
    ax.imshow(values, cmap="gray", vmin=-40, vmax=110, aspect="auto")
    for i, j in product(*map(range, values.shape)):
        shade, text = ("w" if values[i, j] < 30 else "k"), f"{values[i, j]:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=5, color=shade)
    labels = [_SHORT[name] for name in block.columns]
    ax.set_yticks(range(len(block)), block.index, fontsize=5.5)
    ax.set_xticks(range(len(labels)), labels, rotation=60, ha="right", fontsize=5.5)
    ax.tick_params(length=0, pad=2)
    end = -0.5
    for kinds in PURPOSES.values():
        end += sum(name in block for name in kinds)
        ax.axvline(end, color="w", linewidth=1.5)
    ax.axhline(sum("β" not in name for name in block.index) - 0.5, color="w", linewidth=1.5)
    ax.spines[:].set_visible(False)
