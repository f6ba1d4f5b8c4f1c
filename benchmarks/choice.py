"""`choose` on real graphs that the landscape does not contain, against the best of all methods and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import graphpri
from choice_graphs import GRAPHS
from clock import timed
from graphpri import _choose, datasets
from graphpri._choose import PURPOSES, Way
from graphpri._selection import count_edges, forest_size
from graphpri.graph import Graph
from graphpri.io import tables
from graphpri.io.pieces import Pieces
from graphpri.studies.landscape import BETAS
from outcome import Cell, Check, Outcome
from quality import Say

KEEP, SECOND_KEEP, SECOND_EDGES = 0.2, 0.5, 300
"""Share of the edges on all graphs, and another on those of at most so many edges."""
NEAR = 2.0
"""Percent of what random edges lose, and of the least loss, by which a choice may lose more than the best of all."""
FOLDER = Path("out/choose")
"""Finished cells, from which an interrupted run goes on, and `ways.csv`, all ways in all cells."""
QUICK = ("southern women",)
LARGE: dict[str, Callable[[], Graph]] = {
    "ca-condmat": lambda: graphpri.as_graph(datasets.load("ca-condmat")),
    "barabasi-albert": lambda: datasets.barabasi_albert(20_000, 5, seed=0),
}
_ALIKE = 1e-6


def choice(quick: bool, say: Say) -> Outcome:
    """In how many cells of graph, budget and purpose the choice is near the best of all, and how long it takes."""
    outcome, pieces, found = Outcome(), Pieces(None if quick else FOLDER), list[dict[str, Any]]()
    names = QUICK if quick else tuple(GRAPHS)
    cells = [(name, KEEP) for name in names]
    cells += [(name, SECOND_KEEP) for name in names if GRAPHS[name]().n_edges <= SECOND_EDGES]
    for name, keep in cells:
        cell = pieces.get(["choice", 1, name, keep], partial(_cell, name, keep))
        found += [row | {"graph": name} for row in cell]
        near = sum(row["gap"] <= NEAR for row in cell)
        say(f"{name}, keep {keep}: {near} of {len(cell)} purposes within {NEAR:g} %")
    if not quick:
        tables.write(FOLDER / "ways.csv", [row for name, keep in cells for row in _ways(pieces, name, keep)])
    for purpose in [*PURPOSES, "all purposes"]:
        rows = [row for row in found if purpose in (row["purpose"], "all purposes")]
        outcome.cells.append(Cell(purpose, None, None, _summary(rows)))
    whole = outcome.cells[-1].values
    for beta in BETAS:
        outcome.cells.append(Cell(f"Graph-PRI, β = {beta:g}", None, None, _ranks(found, beta)))
    outcome.checks = [
        Check("cells within 2 % of the best of all", whole["within 2 % of chance"], 90, "%", not quick, True),
        Check(
            "cells where it is first / those of the best single way",
            whole["first"] / whole["first, single"],
            1.01,
            judged=not quick,
            at_least=True,
        ),
    ]
    outcome.notes.append(
        f"{len(names)} graphs, keep {KEEP:g}, and {SECOND_KEEP:g} on those of at most {SECOND_EDGES} edges. All: every "
        f"method, Graph-PRI at β {', '.join(f'{beta:g}' for beta in BETAS)}, connected and not, with weights as given, "
        "rescaled and of least divergence. A loss is in percent of what random edges lose, mean over the measures of "
        "the purpose. 'few' is what is tried on graphs too large to try all. 'single' is the one way, settings "
        "included, that is first or near most often."
    )
    return outcome


def seconds(quick: bool, say: Say) -> Outcome:
    """How long a choice takes on graphs of about 10⁵ edges, where it tries few ways."""
    outcome, pieces = (
        Outcome(notes=["keep 0.2; processor and wall time of one call."]),
        Pieces(None if quick else FOLDER),
    )
    for name, make in LARGE.items():
        graph = make()
        for purpose in ("degrees",) if quick else PURPOSES:
            found = pieces.get(["choice seconds", 1, name, purpose], partial(_seconds, graph, purpose))
            outcome.cells.append(Cell(f"{name}, {purpose}", graph.n_nodes, graph.n_edges, found))
            say(f"{name}, {purpose}: {found}")
    return outcome


def _ranks(found: list[dict[str, Any]], beta: float) -> dict[str, float]:
    """Percent of all ways that do better than Graph-PRI at β, connected or not, with any weights; all but hubs."""
    ranks: dict[str, list[float]] = {"all": [], "weighted": [], "unweighted": []}
    for row in found:
        if row["purpose"] == "hubs":
            continue
        losses = np.array(list(row["ways"].values()))
        own = [value for way, value in row["ways"].items() if way.split(",")[0] == f"pri {beta:g}"]
        mean = float(np.mean([100 * (losses < value - _ALIKE).mean() for value in own]))
        for kind in ("all", "weighted" if "weighted" in row["graph"] else "unweighted"):
            ranks[kind].append(mean)
    return {kind: float(np.mean(values)) for kind, values in ranks.items() if values}


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of cells in percent, and the mean of what is lost beyond the best."""
    share = lambda test: 100 * float(np.mean([test(row) for row in rows]))  # noqa: E731
    firsts, nears = (Counter(way for row in rows for way in row[key]) for key in ("firsts", "nears"))
    first, near = (max(c.items(), key=lambda item: (item[1], -len(item[0]), item[0])) for c in (firsts, nears))
    return {
        "cells": len(rows),
        "within 2 % of chance": share(lambda r: r["gap"] <= NEAR),
        "within 2 % of the least loss": share(lambda r: r["loss"] <= (1 + NEAR / 100) * r["least"] + _ALIKE),
        "first": share(lambda r: r["gap"] <= _ALIKE),
        "mean gap": float(np.mean([r["gap"] for r in rows])),
        "within 2 % of chance, few": share(lambda r: r["few"] <= NEAR),
        "mean gap, few": float(np.mean([r["few"] for r in rows])),
        "within 2 % of chance, single": 100 * near[1] / len(rows),
        "single near": near[0],
        "first, single": 100 * first[1] / len(rows),
        "single first": first[0],
    }


def _cell(name: str, keep: float) -> list[dict[str, Any]]:
    """What is chosen for each purpose, and the best of all."""
    graph, found = GRAPHS[name](), list[dict[str, Any]]()
    with shared():
        for purpose in PURPOSES:
            losses = all_ways(graph, keep, purpose)
            least = min(losses.values())
            chosen = graphpri.choose(graph, keep, purpose)
            with _few():
                few = graphpri.choose(graph, keep, purpose)
            best = losses[chosen.best]
            found.append(
                {
                    "purpose": purpose,
                    "chosen": _text(chosen.best),
                    "tried": len(chosen.ways),
                    "loss": best,
                    "least": least,
                    "gap": best - least,
                    "few": losses[few.best] - least,
                    "few tried": len(few.ways),
                    "firsts": [_text(way) for way, value in losses.items() if value <= least + _ALIKE],
                    "nears": [_text(way) for way, value in losses.items() if value <= least + NEAR],
                    "ways": {_text(way): value for way, value in losses.items()},
                }
            )
    return found


def _ways(pieces: Pieces, name: str, keep: float) -> Iterator[dict[str, Any]]:
    for row in pieces.get(["choice", 1, name, keep], partial(_cell, name, keep)):
        for way, value in row["ways"].items():
            yield {"graph": name, "keep": keep, "purpose": row["purpose"], "way": way, "loss": value}


def all_ways(graph: Graph, keep: float, purpose: str) -> dict[Way, float]:
    """What every method with every setting loses, as `choose` measures it."""
    joined = (False, True) if count_edges(keep, graph.n_edges) >= forest_size(graph) else (False,)
    names = [name for name in graphpri.methods() if name not in ("pri", "random")]
    ways = [Way(name, None, c) for name in names for c in joined] + [Way("pri", b, c) for b in BETAS for c in joined]
    ways = [Way("random", None, c) for c in joined] + ways
    trial = _choose._Trial(graph, keep, purpose, _choose._measures(purpose, graph), 0, None)
    for way in ways:
        trial.run(way, True)
    for way in [way for way in ways if way in trial.results]:
        trial.refine(way)
    return {tried.way: loss for loss, tried in trial.ordered()}


def _text(way: Way) -> str:
    beta = "" if way.beta is None else f" {way.beta:g}"
    return f"{way.method}{beta}{', connected' * way.connected}{f', {way.reweight}' if way.reweight else ''}"


@contextmanager
def _few() -> Iterator[None]:
    """As on graphs where not all can be tried."""
    before = _choose.ALL_EDGES
    _choose.ALL_EDGES = 0
    try:
        yield
    finally:
        _choose.ALL_EDGES = before


@contextmanager
def shared() -> Iterator[None]:
    """Searches, new weights and measures of one graph are made once for all purposes."""
    kept = {name: getattr(_choose, name) for name in ("sparsify", "reweighted", "evaluate")}
    memory: dict[Any, Any] = {}

    def once(key: Any, make: Callable[[], Any]) -> Any:
        if key not in memory:
            try:
                memory[key] = make()
            except graphpri.GraphPRIError as error:
                memory[key] = error
        if isinstance(memory[key], Exception):
            raise memory[key]
        return memory[key]

    def sparsify(graph: Graph, keep: float, **options: Any) -> Any:
        key = ("sparsify", tuple(sorted(options.items())))
        return once(key, lambda: kept["sparsify"](graph, keep, **options))

    def reweighted(objective: Any, mask: Any, steps: int) -> Any:
        return once(("weights", mask.tobytes()), lambda: kept["reweighted"](objective, mask, steps))

    def evaluate(view: Any, measures: Any) -> dict[str, float]:
        g = view.graph
        ends = g.source.tobytes(), g.target.tobytes(), g.weights.tobytes()
        values = [once((m.name, ends), lambda m=m: kept["evaluate"](view, [m])) for m in measures]
        return {name: value for one in values for name, value in one.items()}

    _choose.sparsify, _choose.reweighted, _choose.evaluate = sparsify, reweighted, evaluate
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(_choose, name, function)


def _seconds(graph: Graph, purpose: str) -> dict[str, Any]:
    """Time of a choice, where the purpose has measures at this size."""
    if not _choose._measures(purpose, graph):
        return {"not measured at this size": ", ".join(PURPOSES[purpose])}
    call = timed(lambda: graphpri.choose(graph, 0.2, purpose))
    return {"CPU s": call.cpu, "s": call.wall, "chosen": _text(call.result.best), "ways": len(call.result.ways)}
