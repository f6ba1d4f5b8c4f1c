"""What the multi-task studies share: names of methods, and changes of the error against the unpruned graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphpri.apps.mtl_protocol import Entry, by_task, root_mean_square

PRUNED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Shares of edges pruned."""

NAMES = {
    "pri": "Graph-PRI",
    "random": "random",
    "local-degree": "local degree",
    "local-similarity": "local similarity",
    "effective-resistance": "effective resistance",
}
"""How pictures call the methods."""


def row_of(entry: Entry) -> dict[str, Any]:
    """What one model did on one split, as a row of a table."""
    p = entry.pruning
    return {
        "model": entry.model,
        "method": p.method if p else "",
        "pruned": round(1 - float(p.keep), 6) if p else 0.0,
        "after": p.gamma if p else "",
        "min_degree": p.min_degree if p else None,
        "edges": entry.edges,
        "gamma": entry.gamma,
        "rmse": root_mean_square(entry.errors),
        "task_rmse": by_task(entry.errors, entry.task),
        "status": entry.status,
    }


def differences(table: Any, after: str, min_degree: int = 3) -> Any:
    """Mean change of RMSE, and its standard error over the draws, by method and share pruned."""
    import pandas as pd

    whole = table[table["model"] == "graph"].set_index("draw")["rmse"]
    rows = table[(table["after"] == after) & (table["min_degree"] == min_degree)]
    change = rows["rmse"] - rows["draw"].map(whole)
    grouped = rows.assign(change=change).dropna(subset=["change"]).groupby(["method", "pruned"])["change"]
    return pd.DataFrame(
        {"change": grouped.mean(), "se": grouped.std(ddof=1) / np.sqrt(grouped.size()), "draws": grouped.size()}
    ).reset_index()


def changes(tables: Iterable[tuple[dict[str, str], Any]], after: str) -> list[dict[str, Any]]:
    """Rows of mean changes ± standard errors, a column a share pruned, for several tables with their heads."""
    rows: list[dict[str, Any]] = []
    for head, table in tables:
        for method, group in differences(table, after).groupby("method", sort=False):
            shown = {
                f"{pruned:.0%} pruned": f"{change:+.4f}" + ("" if np.isnan(se) else f" ± {se:.4f}")
                for pruned, change, se in zip(group["pruned"], group["change"], group["se"], strict=True)
            }
            rows.append({**head, "gamma": after, "method": NAMES[str(method)], **shown})
    return rows


def least(found: Any) -> Any:
    """The row with the lowest change."""
    return found.loc[found["change"].idxmin()]
