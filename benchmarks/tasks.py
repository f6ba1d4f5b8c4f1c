"""Multi-task regression with many tasks: the whole fit, against as many regressions of scikit-learn on their own."""

from __future__ import annotations

import numpy as np

from clock import REPEATS, alternated, load
from graphpri.apps.mtl import GraphMTL
from graphpri.apps.mtl_data import as_lists, synthetic
from outcome import Cell, Check, Outcome
from quality import Say

TASKS, COLUMNS, ROWS = 23_812, 15, 20
LIMIT = 10.0


def many_tasks(quick: bool, say: Say) -> Outcome:
    """T tasks in groups of 50, 15 columns, 20 rows each, k = 10: seconds of one core, and error of the coefficients."""
    from sklearn.linear_model import Ridge

    count = 2000 if quick else TASKS
    drawn = synthetic(0, n_tasks=count, group_size=50, n=ROWS, informative=COLUMNS, irrelevant=0)
    rows = drawn.tasks
    X, y = as_lists(rows)

    def alone() -> np.ndarray:
        return np.array([Ridge(1.0).fit(x, v).coef_ for x, v in zip(X, y, strict=True)])

    def together(penalty: str) -> GraphMTL:
        return GraphMTL(penalty, gamma=1.0, k=10).fit(rows.X, rows.y, tasks=rows.member)

    calls = {"squared": lambda: together("squared"), "l2": lambda: together("l2"), "scikit-learn's Ridge, alone": alone}
    found = alternated(calls, 1 if quick else REPEATS)
    outcome = Outcome(
        notes=["Medians; nodes are tasks and edges those of the task graph. Error: RMSE of coefficients."]
    )
    for name, series in found.items():
        model = series.result
        w = model if isinstance(model, np.ndarray) else model.coef_
        edges = 0 if isinstance(model, np.ndarray) else model.graph_.n_edges
        error = float(np.sqrt(((w - drawn.coefficients) ** 2).mean()))
        values = {"s": series.wall, "CPU s": series.cpu, "error": error, "load": load()}
        outcome.cells.append(Cell(name, count, edges, values))
        say(f"{name}: {series.wall:.1f} s, {series.cpu:.1f} s of CPU, error {error:.4f}")
        if name != "scikit-learn's Ridge, alone":
            outcome.checks.append(Check(f"{name}, {count} tasks: CPU time", series.cpu, LIMIT, "s", not quick))
    return outcome
