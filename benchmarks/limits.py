"""Time limits: how long a call takes beyond its limit, new weights, Algorithm 1 and estimates included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphpri
from clock import load, timed
from graphpri.datasets import barabasi_albert
from graphpri.graph import Graph
from outcome import Cell, Check, Outcome
from quality import Say

BETA = 4.0
LIMIT = 1.0
OVER = max(1.0, 0.2 * LIMIT)

GRAPHS: dict[str, Callable[[], Graph]] = {
    "BA 500": lambda: barabasi_albert(500, 20, seed=1),
    "BA 700": lambda: barabasi_albert(700, 4, seed=2),
    "BA 2000": lambda: barabasi_albert(2000, 10, seed=1),
    "BA 20000": lambda: barabasi_albert(20_000, 10, seed=1),
    "BA 50000": lambda: barabasi_albert(50_000, 5, seed=2),
    "BA 100000": lambda: barabasi_albert(100_000, 10, seed=1),
}
CASES: list[tuple[str, dict[str, Any]]] = [
    *((graph, {"keep": 0.5, "reweight": True}) for graph in ("BA 500", "BA 2000", "BA 20000")),
    *((graph, {"keep": 0.5, "solver": "gumbel"}) for graph in ("BA 500", "BA 20000")),
    *((graph, {"keep": 0.4, "entropy": "stochastic"}) for graph in ("BA 700", "BA 20000")),
    ("BA 50000", {"keep": 0.4, "entropy": "stochastic", "reweight": True}),
    *((graph, {"keep": 0.5, "effort": "best"}) for graph in ("BA 500", "BA 100000")),
    ("BA 500", {}),
]


def time_limits(quick: bool, say: Say) -> Outcome:
    """Calls with a limit of a second, on graphs where each takes longer; the second call, as the first loads code."""
    outcome = Outcome(notes=[f"Limit {LIMIT:g} s. Time beyond it may be 1 s, or a fifth of the limit."])
    worst = 0.0
    for name, options in CASES[:4] if quick else CASES:
        graph = GRAPHS[name]()
        graphpri.sparsify(graph, beta=BETA, **options, time_limit=LIMIT)
        call = timed(
            lambda graph=graph, options=options: graphpri.sparsify(graph, beta=BETA, **options, time_limit=LIMIT)
        )
        case = f"{name}, {', '.join(f'{key}={value}' for key, value in options.items()) or 'free size'}"
        status = str(call.result.status)
        say(f"{case}: {call.wall:.2f} s, {call.cpu:.2f} s of CPU; {status}")
        outcome.cells.append(Cell(case, graph.n_nodes, graph.n_edges, call.values | {"load": load(), "status": status}))
        worst = max(worst, call.wall - LIMIT)
    outcome.checks.append(Check("most time beyond a limit of 1 s", worst, OVER, "s"))
    return outcome
