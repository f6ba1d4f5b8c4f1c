"""Methods that score edges: a registry, and one selection of exactly K edges for all of them.

A method is a function ``(graph, k, rng, *, option=…) -> Scored``, registered by :func:`method` under a name.
Budget, ties, connectivity, protected and forbidden edges are :func:`graphpri.budget.select_top`'s.
Those that come with the library are in :mod:`graphpri.baselines`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from graphpri.budget import check_budget, select_top
from graphpri.errors import OptionError
from graphpri.graph import BoolArray, FloatArray, Graph


class Scored(NamedTuple):
    """What a method says about the edges.

    `scores` has shape (M,), higher = keep. `weights`, of the same shape, are those of methods that set weights
    of their own; they are meant for the edges that are kept.

    Examples
    --------
    >>> Scored(np.array([3.0, 1.0])).weights is None
    True
    """

    scores: FloatArray
    weights: FloatArray | None = None


@dataclass(frozen=True)
class Method:
    """A registered method.

    Parameters
    ----------
    name : str
        What users call it.
    summary : str
        One line.
    reference : str
        Where it comes from.
    score : callable
        ``(graph, k, rng, *, …) -> Scored``.
    options : frozenset of str
        Keyword options that `score` takes.
    constrained : bool
        Whether `score` takes ``protect`` and ``forbid`` too, because its weights depend on them.

    Examples
    --------
    >>> from graphpri.baselines import METHODS
    >>> METHODS["local-degree"].options, METHODS["random"].summary
    (frozenset({'exponent'}), 'edges drawn at random, all alike')
    """

    name: str
    summary: str
    reference: str
    score: Callable[..., Scored]
    options: frozenset[str]
    constrained: bool


METHODS: dict[str, Method] = {}
"""Every registered method by name."""

_CONSTRAINTS = frozenset({"protect", "forbid"})


def method(name: str, *, summary: str, reference: str) -> Callable[[Callable[..., Scored]], Callable[..., Scored]]:
    """Register a score function under a name; its keyword-only parameters become the method's options.

    Examples
    --------
    >>> @method("strong-ends", summary="edges between strong nodes", reference="…")
    ... def strong_ends(graph, k, rng, *, power=1.0):
    ...     s = graph.strengths() ** power
    ...     return Scored(s[graph.source] * s[graph.target])
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], [1.0, 3.0, 2.0])
    >>> run(star, "strong-ends", 1, np.random.default_rng(0), power=2)[0]
    array([False,  True, False])
    >>> METHODS.pop("strong-ends").options
    frozenset({'power'})
    """
    if name in METHODS:
        raise ValueError(f"there is a method called {name!r} already")

    def register(function: Callable[..., Scored]) -> Callable[..., Scored]:
        parameters = inspect.signature(function).parameters.values()
        keywords = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)

        @wraps(function)
        def score(graph: Graph, k: int, rng: np.random.Generator, **options: Any) -> Scored:
            return function(graph, k, rng, **options) if graph.n_edges else Scored(np.empty(0))

        METHODS[name] = Method(
            name, summary, reference, score, keywords - _CONSTRAINTS, constrained=keywords >= _CONSTRAINTS
        )
        return score

    return register


def find(name: str, *, besides: Sequence[str] = ()) -> Method:
    """The method of that name.

    Parameters
    ----------
    name : str
    besides : sequence of str
        Names that the caller takes as well; an error lists them first.

    Raises
    ------
    OptionError
        Lists the names there are, and the closest.

    Examples
    --------
    >>> from graphpri.baselines import find
    >>> find("jaccard").summary
    'edges whose ends share most of their neighbours'
    >>> find("jacard")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: method='jacard' is not known; did you mean 'jaccard'? (methods: ...
    """
    if name not in METHODS:
        names = [*besides, *sorted(METHODS)]
        close = get_close_matches(str(name), names, 1, 0.5)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise OptionError(f"method={name!r} is not known{guess} (methods: {', '.join(names)})")
    return METHODS[name]


def run(
    graph: Graph,
    name: str,
    k: int,
    rng: np.random.Generator,
    *,
    connected: bool = False,
    protect: BoolArray | None = None,
    forbid: BoolArray | None = None,
    **options: Any,
) -> tuple[BoolArray, Scored]:
    """Score the edges by a method and keep exactly `k` of them.

    Parameters
    ----------
    graph : Graph
    name : str
        One of `METHODS`.
    k : int
        Number of edges to keep.
    rng : Generator
        For methods that draw, then for ties.
    connected : bool
        Take a maximum spanning forest of the scores first, so that no component falls apart.
    protect, forbid : ndarray of bool, shape (M,), optional
        Edges that must stay and edges that must go.
    **options
        The method's own.

    Returns
    -------
    mask : ndarray of bool, shape (M,)
        The edges that are kept.
    scored : Scored
        Scores of all edges, and the method's own weights where it has some.

    Raises
    ------
    OptionError
        For an unknown method, an option that it doesn't use, and a budget that can't be met.

    Examples
    --------
    >>> from graphpri.baselines import run
    >>> ring = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [4.0, 1.0, 3.0, 2.0])
    >>> mask, scored = run(ring, "weight", 2, np.random.default_rng(0))
    >>> mask, scored.scores
    (array([ True, False, False,  True]), array([4., 2., 1., 3.]))
    """
    chosen = find(name)
    if unused := sorted(options.keys() - chosen.options):
        uses = f"uses {', '.join(sorted(chosen.options))}" if chosen.options else "has no options"
        raise OptionError(f"method {name!r} does not use {', '.join(unused)}; it {uses}")
    check_budget(graph, k, connected=connected, protect=protect, forbid=forbid)
    constraints = {"protect": protect, "forbid": forbid} if chosen.constrained else {}
    scored = chosen.score(graph, k, rng, **options, **constraints)
    mask = select_top(graph, scored.scores, k, rng, connected=connected, protect=protect, forbid=forbid)
    return mask, scored
