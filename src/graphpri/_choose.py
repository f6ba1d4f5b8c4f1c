"""Which method, with which settings, for a purpose: those that do best on other graphs, measured on the one at hand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from graphpri import _sparsify
from graphpri._arguments import checked
from graphpri._compare import Comparison, Step, compare
from graphpri._output import aligned
from graphpri._sparsify import Sparsified, methods
from graphpri.errors import OptionError, argument
from graphpri.graph import Directed, FloatArray, Graph, Loops, Negative, Parallel, Zero
from graphpri.interop import Policies, load
from graphpri.measures import MEASURES
from graphpri.solvers.reweight import ReweightName

Purpose = Literal[
    "information",
    "hubs",
    "spectrum",
    "flows",
    "connectivity",
    "distances",
    "centralities",
    "degrees",
    "clustering",
    "communities",
]

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

_DISTANCES = "connected_pairs", "stretch"
"""What :func:`kept_distances` takes."""


class Way(NamedTuple):
    """A method and its settings.

    Attributes
    ----------
    method : str
    beta : float or None
        Of method "pri".
    connected : bool
    reweight : {"rescale", "divergence"} or None
    """

    method: str
    beta: float | None = None
    connected: bool = False
    reweight: ReweightName | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.sparsify`, beside the method; searches are brief, as in the study."""
        own = {} if self.beta is None else {"beta": self.beta, "effort": "fast"}
        return own | {"connected": self.connected, "reweight": self.reweight}


def _pri(*betas: float, connected: tuple[bool, ...] = (True,), reweight: ReweightName | None = None) -> tuple[Way, ...]:
    return tuple(Way("pri", beta, joined, reweight) for beta in betas for joined in connected)


_BOTH = (True, False)
_LEAST_D: ReweightName = "divergence"

WAYS: dict[str, tuple[Way, ...]] = {
    "information": (
        *_pri(1000, 200, 50, connected=(False, True), reweight=_LEAST_D),
        *_pri(1000, connected=(False, True), reweight="rescale"),
        *_pri(1000, connected=(False, True)),
        Way("spanning-forest", reweight=_LEAST_D),
    ),
    "spectrum": (
        *_pri(50, 16, 1000, reweight=_LEAST_D),
        Way("spanning-forest", connected=True, reweight=_LEAST_D),
        Way("weight", connected=True, reweight=_LEAST_D),
        Way("effective-resistance-sampling", connected=True, reweight=_LEAST_D),
        *_pri(50, reweight="rescale"),
        *_pri(50, connected=(False,), reweight=_LEAST_D),
        *_pri(50, connected=_BOTH),
    ),
    "flows": (
        Way("effective-resistance-sampling", connected=True, reweight=_LEAST_D),
        *_pri(1000, 50, reweight=_LEAST_D),
        Way("effective-resistance-sampling", connected=True),
        Way("spanning-forest", connected=True, reweight=_LEAST_D),
        *_pri(50, reweight="rescale"),
        Way("random", connected=True, reweight=_LEAST_D),
        *_pri(50, connected=_BOTH),
    ),
    "connectivity": (
        Way("spanning-forest", connected=True),
        *_pri(50),
        Way("local-degree", connected=True),
        *_pri(50, connected=(False,)),
    ),
    "distances": (
        Way("edge-betweenness", connected=True),
        Way("edge-betweenness"),
        Way("local-degree", connected=True),
        *_pri(2, 4, 0.5, connected=_BOTH),
    ),
    "centralities": (
        *_pri(1000, 16, 4, 50, reweight=_LEAST_D),
        Way("local-degree", connected=True, reweight=_LEAST_D),
        Way("local-degree", reweight=_LEAST_D),
        *_pri(8, connected=(False,), reweight=_LEAST_D),
        *_pri(50, 8, connected=_BOTH),
        Way("local-degree", connected=True),
    ),
    "degrees": (
        *_pri(50, 200, 1000, connected=(False, True)),
        *_pri(16, connected=(False,)),
        Way("local-similarity"),
        Way("random"),
        Way("jaccard", connected=True),
    ),
    "clustering": (
        Way("scan"),
        Way("algebraic-distance"),
        Way("simmelian"),
        Way("triangles"),
        Way("jaccard"),
        *_pri(1, 4, connected=_BOTH),
    ),
    "communities": (
        *_pri(50, 16, connected=_BOTH),
        *_pri(50, 1000, 16, reweight=_LEAST_D),
        Way("spanning-forest", connected=True),
        Way("local-similarity", connected=True),
        Way("algebraic-distance", connected=True),
        Way("jaccard", connected=True),
    ),
    "hubs": (
        *_pri(0.5, 1, 2, connected=(True, False)),
        Way("local-degree"),
        Way("local-degree", connected=True),
    ),
}
"""What is tried for each purpose: what `reproduce landscape` ranks first, and Graph-PRI connected and not."""


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What does best for a purpose on one graph, and what it was compared with.

    ``str()`` gives the table, best first.

    Attributes
    ----------
    purpose : str
    result : Sparsified
        Of the way that did best.
    ways : tuple of Way
        Those that were tried, best first.
    rows : list of dict
        Their rows, best first: ``rank`` is the mean over the measures of the share of the others that do better, in
        percent; the other columns are those of :func:`graphpri.compare`.
    failed : list of dict
        Rows of those that can't be done, ``status`` says why.
    not_tried : tuple of str
        Methods that other graphs speak against, for this purpose.
    table : Comparison
        As it was measured.

    Examples
    --------
    >>> import networkx as nx
    >>> found = choose(nx.karate_club_graph(), 40, "distances", new_weights=False)
    >>> found.best.method, len(found.rows), {row["K"] for row in found.rows}
    ('local-degree', 9, {40})
    """

    purpose: str
    result: Sparsified
    ways: tuple[Way, ...]
    rows: list[dict[str, Any]] = field(repr=False)
    failed: list[dict[str, Any]] = field(repr=False)
    not_tried: tuple[str, ...]
    table: Comparison

    @property
    def best(self) -> Way:
        """The way that did best."""
        return self.ways[0]

    @property
    def runner_up(self) -> Way | None:
        """The way that came next; None where there is no other."""
        return self.ways[1] if self.ways[1:] else None

    def __repr__(self) -> str:
        return f"Choice({self.purpose}: {_in_words(self.best)}, of {len(self.ways)} ways)"

    def __str__(self) -> str:
        names = [name for name in PURPOSES[self.purpose] if name in self.rows[0]]
        head = ["rank", "method", "beta", "connected", "reweight", "K", *names]
        cells = [
            [row["rank"], way.method, way.beta, way.connected, way.reweight or "", row["K"], *(row[n] for n in names)]
            for way, row in zip(self.ways, self.rows, strict=True)
        ]
        lines = [f"for {self.purpose}: {_in_words(self.best)}"]
        lines += aligned([head, *([_shown(value) for value in cell] for cell in cells)], left=2)
        lines += [f"not done: {row['method']}: {row['status'].removeprefix('error: ')}" for row in self.failed]
        return "\n".join([*lines, f"not tried, as other graphs speak against them: {', '.join(self.not_tried)}"])


def _in_words(way: Way) -> str:
    words = [way.method if way.beta is None else f"{way.method} with beta {way.beta:g}"]
    words += ["connected"] * way.connected + [f"weights by {way.reweight}"] * (way.reweight is not None)
    return ", ".join(words)


def _shown(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else value


@checked
def choose(
    G: Any,
    keep: float | int,
    purpose: Purpose,
    *,
    new_weights: bool = True,
    seed: int = 0,
    callback: Callable[[Step], object] | None = None,
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Choice:
    """Sparsify by what serves a purpose best: a few methods and settings are tried, and measured on this graph.

    Parameters
    ----------
    G : object
        As in :func:`graphpri.sparsify`.
    keep : float or int
        Share or number of edges.
    purpose : str
        What the kept graph is for: "information" (least divergence), "hubs", "spectrum", "flows", "connectivity",
        "distances", "centralities", "degrees", "clustering" or "communities".
    new_weights : bool
        Whether ways that give the kept edges other weights are tried as well.
    seed : int
        Of methods that draw at random.
    callback : callable, optional
        Gets a step, as that of :func:`graphpri.compare`, after each way.
    weight, directed, loops, parallel, negative, zero, source, target
        As in :func:`graphpri.as_graph`.

    Returns
    -------
    Choice

    Raises
    ------
    OptionError
        Where no measure of the purpose is computed at this size, and where nothing that was tried can be done.

    Notes
    -----
    What is tried are the ways that ``graphpri reproduce landscape`` ranks first for the purpose, see docs/which.md;
    they can be far from the best that there is where a graph is unlike those.

    Examples
    --------
    >>> import networkx as nx
    >>> found = choose(nx.karate_club_graph(), 0.5, "hubs")
    >>> found.best.method, found.result.kept.n_edges
    ('pri', 39)
    """
    policies = Policies(weight, directed, loops, parallel, negative, zero, source, target)
    loaded = load(G, policies)
    graph = loaded.graph
    measures = _measures(purpose, graph)
    if not measures:
        others = ", ".join(name for name in PURPOSES if _measures(name, graph))
        raise OptionError(
            f"{argument('purpose', purpose)}: {', '.join(PURPOSES[purpose])} cost too much for "
            f"{graph.n_nodes} nodes and {graph.n_edges} edges; choose from {others}"
        )
    ways = [way for way in WAYS[purpose] if new_weights or way.reweight is None]
    given = {name: value for name, value in vars(policies).items() if name != "edge_attrs"}
    table = compare(
        G, [(way.method, way.options) for way in ways], keep, measures=measures, seeds=seed, callback=callback, **given
    )
    done = [i for i, row in enumerate(table.rows) if row["K"] is not None]
    ranks = purpose_ranks(purpose, [table.rows[i] for i in done], table.original)
    order = np.argsort(ranks, kind="stable")
    rows = [{"rank": float(ranks[i]), **table.rows[done[i]]} for i in order]
    best = ways[done[order[0]]]
    names = {way.method for way in ways}
    return Choice(
        purpose,
        _sparsify.sparsify(G, keep, method=best.method, seed=seed, **best.options, **given),
        tuple(ways[done[i]] for i in order),
        rows,
        [row for row in table.rows if row["K"] is None],
        tuple(name for name in methods() if name not in names),
        table,
    )


def _measures(purpose: str, graph: Graph) -> list[str]:
    """Measures of a purpose that are affordable on this graph."""
    if purpose == "distances":
        return list(_DISTANCES) if all(MEASURES[name].affordable(graph) for name in _DISTANCES) else []
    return [name for name in PURPOSES[purpose] if MEASURES[name].affordable(graph)]


def kept_distances(connected_pairs: Any, stretch: Any) -> Any:
    """How well distances are kept: the share of pairs still connected over their mean stretch; 0 where there is none.

    Stretch alone looks at connected pairs only, and praises graphs that lose the far ones. Takes numbers or arrays.
    """
    return np.nan_to_num(np.divide(connected_pairs, stretch), nan=0.0)


def loss(kind: str, value: Any, original: Any) -> Any:
    """What is lost by a measure, least is best; `kind` as in `PURPOSES`. Takes numbers or arrays."""
    if kind in ("low", "high"):
        return value if kind == "low" else -value
    return abs(value - (1 if kind == "one" else original))


def nine_digits(value: float) -> float:
    """A value without what rounding does to it."""
    return float(f"{value:.9g}")


def purpose_ranks(purpose: str, rows: list[dict[str, Any]], original: dict[str, float]) -> FloatArray:
    """How rows of measures rank for a purpose: the mean share of the others that do better, in percent; 0 is best.

    Adds ``kept_distances`` to the rows where the purpose is distances.
    """
    return _ranks([_losses(purpose, row, original) for row in rows])


def _losses(purpose: str, row: dict[str, Any], original: dict[str, float]) -> list[float]:
    """What a row loses by each measure of the purpose, 0 or least is best; adds `kept_distances` to the row."""
    if purpose == "distances":
        row["kept_distances"] = float(kept_distances(row["connected_pairs"], row["stretch"]))
    kinds = {name: kind for name, kind in PURPOSES[purpose].items() if name in row}
    losses = [float(loss(kind, row[name], original.get(name))) for name, kind in kinds.items()]
    return [np.inf if np.isnan(value) else nine_digits(value) for value in losses]


def _ranks(losses: list[list[float]]) -> FloatArray:
    """Mean over measures of the share of others that do better, in percent; what differs by rounding is equal."""
    table = np.array(losses)
    better = (table[None, :, :] < table[:, None, :]).sum(axis=1)
    return 100 * better.mean(axis=1) / max(len(table) - 1, 1)
