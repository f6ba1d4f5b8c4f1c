"""Ranks of all methods, by measure and by purpose."""

from __future__ import annotations

from typing import Any

from graphpri.defaults import DEFAULT_BETA
from graphpri.studies.study import Frames

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

BESIDE = ("stretch", "effective_diameter")
"""Measures that are taken and not ranked by."""

ALL = "all purposes"
WAY = ["method", "beta", "connected"]
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
    """Share of the other ways that do better, in percent, by measure and cell of graph and keep ratio.

    A way is a method with its β and its connectivity; values are medians over the seeds. Where a measure is not
    defined for a way it ranks last, and where it was not computed it is NaN.
    """
    table = _with_distances(frames["landscape"])
    losses = _losses(table)
    table = table[[*_CELL, *WAY]].assign(beta=table["beta"].fillna(-1)).join(losses)
    median = table.groupby([*_CELL, *WAY])[list(losses)].median()
    cells = median.groupby(_CELL)
    measured = cells.transform("count") > 0
    better = cells.rank(method="min", na_option="bottom") - 1
    return (100 * better.div(cells["divergence"].transform("size") - 1, axis=0)).where(measured)


def by_measure(ranks: Any) -> Any:
    """Mean rank of each way by each measure: over the keep ratios of a graph, then over graphs."""
    return ranks.groupby(["graph", *WAY]).mean().groupby(WAY).mean()


def by_purpose(scores: Any) -> Any:
    """Mean rank of each way for each purpose, over its measures; and for all purposes alike."""
    import pandas as pd

    measured = {purpose: [name for name in kinds if name in scores] for purpose, kinds in PURPOSES.items()}
    found = {purpose: scores[names].mean(axis=1) for purpose, names in measured.items() if names}
    table = pd.DataFrame(found)
    return table.assign(**{ALL: table.mean(axis=1)})


def named(way: tuple[str, float, bool]) -> str:
    """How texts call a way."""
    method, beta, connected = way
    return (f"pri β={beta:g}" if method == "pri" else method) + ", connected" * bool(connected)


def derive(frames: Frames) -> Frames:
    """Tables of ranks, of the best for each purpose, and of Graph-PRI's β for each purpose."""
    scores = by_measure(by_cell(frames))
    purposes = by_purpose(scores)
    return {"ranks": _shown(scores), "purposes": _purposes(purposes), "betas": _betas(purposes)}


def _shown(scores: Any) -> Any:
    table = scores.round(1).reset_index()
    return table.assign(beta=table["beta"].where(table["beta"] >= 0))


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
    """The best way; where all that hold the graph together are best alike, all of these."""
    tied = order[order == order.iloc[0]].index
    joined = order.xs(True, level="connected")
    if len(tied) == len(joined) > 1 and tied.get_level_values("connected").all():
        return "any method, connected"
    return named(order.index[0])


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
