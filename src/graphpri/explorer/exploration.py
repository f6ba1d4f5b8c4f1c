"""What users call: make the page of a graph, show it in a notebook, save it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphpri._arguments import checked, whole
from graphpri._entropy.by_name import entropy_for
from graphpri._objective import Mixture, Objective
from graphpri._selection import check_budget, count_edges
from graphpri._sparsify import check_weights
from graphpri.errors import OptionError, argument, in_stages
from graphpri.explorer.page import columns_of, node_attributes, place_nodes, render
from graphpri.explorer.solutions import (
    COLUMNS,
    Grid,
    Ranking,
    SubsetMeter,
    choose_betas,
    choose_budgets,
    default_methods,
    rank_by,
    solve_grid,
)
from graphpri.graph import BoolArray, Directed, EdgeTable, Graph, Loops, Negative, Order, Parallel, Zero
from graphpri.interop import Policies, Source, edge_selector, load
from graphpri.io import tables
from graphpri.io.pieces import Pieces
from graphpri.solvers.local_search import Constraints
from graphpri.solvers.solution import Callback

MOST_EDGES = 500_000
"""Largest graph that a page is made of."""


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """A page of a graph and its solutions over β and budgets; in a notebook it shows itself.

    Attributes
    ----------
    graph : Graph
        The graph in canonical form.
    betas : tuple of float
        Values on the slider over β.
    budgets : tuple of int
        Values on the slider over the number of kept edges.
    methods : tuple of str
        Methods to compare with.
    html : str
        The page.
    notes : tuple of str
        How the graph was read, what was left out, and whether the search was interrupted.
    height : int
        Of the page where a notebook shows it, in pixels.

    Examples
    --------
    >>> import networkx as nx
    >>> page = explore(nx.karate_club_graph(), beta=[1, 4], keep=[0.3, 0.5], methods=["random"])
    >>> page.betas, page.budgets, page.methods
    ((1.0, 4.0), (23, 39), ('random',))
    >>> page.rows()[0]["K"], page.html.startswith("<!doctype html>")
    (23, True)
    """

    graph: Graph
    html: str
    notes: tuple[str, ...]
    height: int
    _grid: Grid = field(repr=False)
    _baselines: tuple[Ranking, ...] = field(repr=False)
    _edges: Order = field(repr=False)

    @property
    def betas(self) -> tuple[float, ...]:
        """Values on the slider over β, ascending."""
        return self._grid.betas

    @property
    def budgets(self) -> tuple[int, ...]:
        """Values on the slider over the number of kept edges, ascending."""
        return self._grid.budgets

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods to compare with."""
        return tuple(ranking.method for ranking in self._baselines)

    @property
    def interrupted(self) -> bool:
        """Whether the search was stopped before every β was solved."""
        return self._grid.interrupted

    @checked
    def mask(self, beta: float, keep: float | int, method: str = "pri") -> BoolArray:
        """The edges that the page shows as kept.

        Parameters
        ----------
        beta : float
            One of `betas`; the other methods don't use it.
        keep : float or int
            A share or a number of edges that is one of `budgets`.
        method : str
            "pri" or one of `methods`.

        Returns
        -------
        ndarray of bool, shape (M,)
            In the input's edge order, as ``Sparsified.mask``.

        Raises
        ------
        OptionError
            For what the page doesn't have.
        """
        column = _index(self.budgets, count_edges(keep, self.graph.n_edges), "keep", "edges")
        if method == "pri":
            return self._grid.masks[_index(self.betas, beta, "beta", ""), column][self._edges]
        order = self._baselines[_index(self.methods, method, "method", "")].order
        mask = np.zeros(self.graph.n_edges, bool)
        mask[order[: self.budgets[column]]] = True
        return mask[self._edges]

    def rows(self) -> list[dict[str, Any]]:
        """What is measured at every grid point: a row for each β and budget, and for each method and budget.

        Divergence and entropy are in nats; NaN stands where a measure was left out.
        """
        ours = [
            {"method": "pri", "beta": beta, "K": k, **_named(self._grid.values[i, j])}
            for i, beta in enumerate(self.betas)
            for j, k in enumerate(self.budgets)
        ]
        others = [
            {"method": ranking.method, "beta": None, "K": k, **_named(ranking.values[j])}
            for ranking in self._baselines
            for j, k in enumerate(self.budgets)
        ]
        return ours + others

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all; a file of that name is replaced.

        Raises
        ------
        FileError
            Where it can't be written.
        """
        tables.write_text(Path(path), self.html)

    def _repr_html_(self) -> str:
        return (
            '<iframe title="graphpri explorer" sandbox="allow-scripts allow-downloads allow-modals" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        grid = f"{len(self.betas)} beta, {len(self.budgets)} budgets, {len(self.methods)} other methods"
        return f"Exploration({self.graph.n_nodes} nodes, {self.graph.n_edges} edges; {grid})"


@checked
def explore(
    G: Any,
    *,
    beta: float | Iterable[float] | None = None,
    keep: float | int | Iterable[float | int] | None = None,
    methods: Sequence[str] | None = None,
    alpha: float = 0.0,
    connected: bool = False,
    protect: Any = None,
    forbid: Any = None,
    entropy: str = "auto",
    mixture: Mixture = "equation",
    seed: int = 0,
    attributes: Mapping[str, Any] | None = None,
    layout: Any = None,
    title: str | None = None,
    height: int = 760,
    callback: Callback | None = None,
    store: str | os.PathLike[str] | None = None,
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Exploration:
    """Make an interactive page of a graph and what is kept of it over β and budgets.

    The page is one HTML file that needs no server and no network. All its solutions are computed here: each β
    along the budgets as by :func:`graphpri.path`; then every β takes, of all subsets found at a budget, the
    one with its smallest J.

    Parameters
    ----------
    G : object
        As in :func:`graphpri.sparsify`, with at most 500 000 edges.
    beta : float or iterable of float, optional
        Values on the slider over β; 21 from 0 to 100 where absent (11 above 50 000 edges, 5 above 150 000).
    keep : float, int, or iterable of these, optional
        Budgets, shares or numbers of edges; 2 % and every 5 % where absent (every 10 % above 50 000 edges).
    methods : sequence of str, optional
        Baselines to compare with: some quick ones where absent. An empty sequence is none.
    alpha, connected, protect, forbid, entropy, mixture, seed, weight, directed, loops, parallel
        As in :func:`graphpri.sparsify`. The page has no error bars: `entropy` is not "stochastic".
    negative, zero, source, target
        As in :func:`graphpri.as_graph`.
    attributes : mapping of str to mapping or sequence, optional
        Values to colour nodes by, keyed by node label or in the order of the input's nodes; those that G has
        are there in any case.
    layout : array_like of shape (N, 2), or mapping of labels to (x, y), optional
        Positions of the nodes, in the order of ``as_graph(G)``. Where absent, springs place them, above 1500
        nodes community by community.
    title : str, optional
    height : int
        Of the page where a notebook shows it, 200 to 10 000 pixels.
    callback : callable, optional
        Gets a :class:`Progress` after each step; returning True stops, and the page has the β solved so far.
    store : path, optional
        Folder that keeps what is solved; a later call with the same graph and arguments goes on from there.

    Returns
    -------
    Exploration

    Raises
    ------
    GraphError
        For a graph that can't be sparsified, one without edges, and one with too many.
    OptionError
        For values out of range, unknown methods, and attributes and positions that don't fit the nodes.
    FileError
        Where `store` can't be written.
    Interrupted
        On Ctrl-C, once a β is solved: its ``result`` is the :class:`Exploration` of these.

    Examples
    --------
    >>> import networkx as nx
    >>> page = explore(nx.karate_club_graph(), beta=[1, 4], keep=[0.3, 0.5])
    >>> page
    Exploration(34 nodes, 78 edges; 2 beta, 2 budgets, 7 other methods)
    >>> int(page.mask(beta=4, keep=0.3).sum())
    23
    """
    whole("seed", seed)
    whole("height", height, 200, 10_000)
    loaded = load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target))
    if loaded.graph.n_edges > MOST_EDGES:
        raise OptionError(
            f"the graph has {loaded.graph.n_edges} edges, and a page is drawn of at most {MOST_EDGES}: sparsify it "
            "first (graphpri sparsify), and explore what is kept"
        )
    constraints = _constraints(loaded, connected, protect, forbid)
    budgets = choose_budgets(keep, loaded.graph, constraints)
    check_budget(loaded.graph, budgets[0], **vars(constraints))
    meter = SubsetMeter.of(_objective(loaded.graph, alpha, entropy, mixture))
    names = default_methods(loaded.graph) if methods is None else list(methods)
    for name in methods or ():
        check_weights(name, loaded)
    baselines = tuple(rank_by(meter, name, budgets, constraints, seed) for name in names)
    colours = node_attributes(G, loaded, attributes, meter.origin)
    place = place_nodes(loaded.graph, layout, seed)
    columns = columns_of(G, loaded)
    name = title if isinstance(G, EdgeTable) else None
    call = _call(name, alpha, connected, entropy, mixture, seed, weight)
    betas, pieces = choose_betas(beta, loaded.graph), Pieces(None if store is None else Path(store))

    def page(grid: Grid) -> Exploration:
        notes = (*loaded.notes, *_settings(meter.objective, constraints, seed), *grid.notes)
        stops = _stops(grid, beta is not None or len(grid.betas) < len(betas), keep is not None)
        again = {**call, "python": stops + call["python"]}
        html = render(title or "Graph", loaded.graph, place, colours, grid, baselines, notes, columns, again)
        return Exploration(loaded.graph, html, notes, height, grid, baselines, loaded.edges)

    return in_stages(
        lambda: solve_grid(meter, betas, budgets, constraints, seed=seed, callback=callback, pieces=pieces), page
    )


def _stops(grid: Grid, betas: bool, budgets: bool) -> str:
    """Arguments that say where the sliders stop, where these are not the defaults."""
    return f", beta={list(grid.betas)}" * betas + f", keep={list(grid.budgets)}" * budgets


def _call(
    name: str | None, alpha: float, connected: bool, entropy: str, mixture: str, seed: int, weight: str | None
) -> dict[str, str]:
    """Options other than the defaults, as they are written in Python and on the command line; `name` is a file's."""
    given = {"alpha": (alpha, 0.0), "connected": (connected, False), "entropy": (entropy, "auto")}
    given |= {"mixture": (mixture, "equation"), "seed": (seed, 0), "weight": (weight, "weight")}
    chosen = {name: value for name, (value, default) in given.items() if value != default}
    flags = {
        name: "--connected"
        if value is True
        else "--weight none"
        if value is None
        else f"--{name} {shlex.quote(str(value))}"
        for name, value in chosen.items()
    }
    return {
        "input": shlex.quote(name or "INPUT"),
        "command": "".join(f" {flag}" for flag in flags.values()),
        "baseline": "".join(f" {flag}" for name, flag in flags.items() if name in ("connected", "seed", "weight")),
        "python": "".join(f", {name}={value!r}" for name, value in chosen.items()),
    }


def _constraints(source: Source, connected: bool, protect: Any, forbid: Any) -> Constraints:
    masks = [
        None if edges is None else edge_selector(source, edges, name)
        for name, edges in (("protect", protect), ("forbid", forbid))
    ]
    return Constraints(connected, *(None if mask is None or not mask.any() else mask for mask in masks))


def _objective(graph: Graph, alpha: float, entropy: str, mixture: Mixture) -> Objective:
    objective = Objective(graph, 1.0, alpha, entropy_for(graph, entropy), mixture)
    if objective.is_stochastic:
        raise OptionError(
            f"{argument('entropy', 'stochastic')} has error bars, which the page does not show: choose 'local'"
        )
    return objective


def _settings(objective: Objective, constraints: Constraints, seed: int) -> list[str]:
    """What was asked for, in sentences."""
    rules = constraints.rules
    lines = [f"S, D and J by the {objective.entropy} entropy, in nats", f"seed {seed}"]
    lines += [f"mixture as in the paper's {objective.mixture}"]
    lines += [f"alpha {objective.alpha:g}"] if objective.alpha else []
    return lines + ([f"subject to {', '.join(rules)}"] if rules else [])


def _index(values: Sequence[Any], value: Any, name: str, unit: str) -> int:
    if value not in values:
        there = ", ".join(f"{other:g}" if isinstance(other, float) else str(other) for other in values)
        raise OptionError(f"{argument(name, value)}{f' {unit}' if unit else ''} is not on the page; it has {there}")
    return values.index(value)


def _named(values: Any) -> dict[str, float]:
    return dict(zip(COLUMNS, cast("list[float]", values.tolist()), strict=True))
