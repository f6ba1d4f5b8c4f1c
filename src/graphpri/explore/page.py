"""The page as one text: data, scripts and styles in a single file that asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.explore.colours import Attribute
from graphpri.explore.encode import masks_to_bits, pack
from graphpri.explore.grid import COLUMNS, Grid
from graphpri.explore.rivals import Rival
from graphpri.graph import Graph
from graphpri.version import __version__

SCRIPTS = ("data.js", "draw.js", "curves.js", "save.js", "app.js")


def render(
    title: str,
    graph: Graph,
    place: NDArray[np.float32],
    attributes: Sequence[Attribute],
    grid: Grid,
    rivals: Sequence[Rival],
    about: Sequence[str],
) -> str:
    """The page of a graph and its solutions.

    Parameters
    ----------
    title : str
        Any text.
    graph : Graph
    place : ndarray of float32, shape (N, 2)
    attributes : sequence of Attribute
    grid : Grid
    rivals : sequence of Rival
    about : sequence of str
        What to say of how the page came about, a sentence each.

    Examples
    --------
    >>> from graphpri.explore.grid import Meter, solve_grid
    >>> from graphpri.objective import Objective
    >>> from graphpri.solvers.search import Constraints
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> grid = solve_grid(Meter.of(Objective(graph, 1.0)), [1.0], [1], Constraints(), seed=0)
    >>> html = render("Two edges", graph, np.zeros((3, 2), np.float32), [], grid, [], [])
    >>> "<title>Two edges" in html
    True
    """
    header = {
        "title": _printable(title),
        "version": __version__,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "labels": None if graph.labels is None else [_printable(str(graph.label(i))) for i in range(graph.n_nodes)],
        "weight": None if graph.weight_name is None else _printable(graph.weight_name),
        "betas": grid.betas,
        "budgets": grid.budgets,
        "columns": COLUMNS,
        "scored": grid.scored,
        "rivals": [rival.name for rival in rivals],
        "attributes": [
            {"name": _printable(a.name), "groups": None if a.groups is None else [_printable(g) for g in a.groups]}
            for a in attributes
        ],
        "about": [_printable(line) for line in about],
    }
    return _assembled(title, pack(header, _arrays(graph, place, attributes, grid, rivals)))


def _arrays(
    graph: Graph,
    place: NDArray[np.float32],
    attributes: Sequence[Attribute],
    grid: Grid,
    rivals: Sequence[Rival],
) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "source": graph.source.astype(np.uint32),
        "target": graph.target.astype(np.uint32),
        "x": place[:, 0],
        "y": place[:, 1],
        "bits": masks_to_bits(grid.masks),
        "values": grid.values,
        "scores": grid.scores,
    }
    if graph.is_weighted:
        arrays["weights"] = np.array(graph.weights)
    arrays |= {f"attribute{i}": a.values for i, a in enumerate(attributes)}
    for i, rival in enumerate(rivals):
        arrays |= {f"order{i}": rival.order, f"rival{i}": rival.values}
    return arrays


def _assembled(title: str, data: str) -> str:
    assets = files("graphpri.explore") / "assets"
    style = (assets / "style.css").read_text("utf-8")
    script = "\n".join((assets / name).read_text("utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    page = (assets / "page.html").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; img-src blob: data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"title": escape(_printable(title)), "policy": policy, "style": style, "script": script, "data": data}
    # In one pass: a title may hold what looks like the place of another part.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _printable(text: str) -> str:
    """The text with what UTF-8 can't write replaced: halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")
