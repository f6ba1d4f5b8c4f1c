"""Tasks of the local entropy: what edges do to the terms of their neighbours.

How much the local entropy pulls at each node is a sum over all of its edges. It is added up before each sweep, pair by
pair in the order of the tournament. Where all edges weigh 1 it is held until the next one, as on one machine; nodes
then go from pair to pair with what one more edge and one less do to their potentials. A heavy edge has a large part in
the pulls at its own ends, which goes with it: pulls of weighted graphs are part of their nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import LIGHTEST, correct, read_only
from graphpri._runtime import in_threads
from graphpri.distributed.ingest import Pair, pair_name
from graphpri.distributed.pairs import (
    Pass,
    Setting,
    degrees_in,
    kept_degrees,
    logs_of,
    mean_weights,
    scaled_weights,
    state_of,
)
from graphpri.distributed.store import Store
from graphpri.graph import FloatArray
from graphpri.solvers import sweeps

Pulls = tuple[FloatArray, FloatArray]
"""Pulls of the kept graph and of the mixture at the nodes of a block, shape (n, 2), and :data:`Corrections` of the
pairs of which it is the first."""

Corrections = FloatArray
"""Σ y² Λ over edges in the kept graph and in the mixture, and the derivative of the latter in κ; shape (3,)."""


class _Sums:
    """The edges of a pair, which of them are kept, and degrees at their nodes in the kept graph and in the mixture.

    All edges are kept where no pass is given.
    """

    def __init__(self, store: Store, pair: Pair, setting: Setting, how: Pass | None) -> None:
        u, v, *w = store.load(f"edges/{pair_name(pair)}")
        blocks = dict.fromkeys(pair)
        kept = original = np.concatenate([degrees_in(store, b, setting) for b in blocks])
        state = np.ones(u.size, np.uint8)
        if how is not None:
            kept = np.concatenate([kept_degrees(store, b, how) for b in blocks])
            state = state_of(store, pair, how.states, u.size)
        self.edges = read_only(u), read_only(v), scaled_weights(w, setting), read_only(state)
        trace, mixed, kappa = setting.traces
        self.sides = (0.0, LIGHTEST * trace, kept), (kappa, LIGHTEST * mixed, kept + kappa * original)

    def of_side(self, side: int, pull: FloatArray) -> tuple[float, float]:
        """Σ y² Λ over the edges of one side and its derivative in κ; adds those in degrees to `pull`, if not empty."""
        kappa, least, degrees = self.sides[side]
        with in_threads(1):
            return correct(0, self.edges[0].size, *self.edges, kappa, least, degrees, logs_of(degrees), pull)

    def corrections(self, pulls: tuple[FloatArray, FloatArray] = (np.empty(0), np.empty(0))) -> Corrections:
        """Of both sides, whose pulls are added up."""
        (kept, _), (mixed, along) = (self.of_side(side, pulls[side]) for side in range(2))
        return np.array([kept, mixed, along])


# Tasks.


def original(store: Store, pair: Pair, setting: Setting) -> float:
    """Σ y² Λ over the edges of a pair, all kept."""
    return _Sums(store, pair, setting, None).of_side(0, np.empty(0))[0]


def corrections(store: Store, pair: Pair, how: Pass) -> Corrections:
    """Of the edges of a pair."""
    return _Sums(store, pair, how.setting, how).corrections()


def no_pulls(store: Store, block: int, how: Pass) -> Pulls:
    """Pulls before any pair is played."""
    return np.zeros((store.load(f"blocks/{block}")[0].size, 2)), np.zeros(3)


def pull(store: Store, pair: Pair, how: Pass, a: Pulls, *b: Pulls) -> tuple[Pulls, ...]:
    """Add the pulls of a pair's edges."""
    found = np.zeros((2, sum(len(pulls) for pulls, _ in (a, *b))))
    sums = _Sums(store, pair, how.setting, how).corrections((found[0], found[1]))
    first, *other = np.split(found.T, [len(a[0])])
    return (a[0] + first, a[1] + sums), *((pulls + some, had) for (pulls, had), some in zip(b, other, strict=False))


def look_around(store: Store, block: int, how: Pass, pulls: Pulls) -> Corrections:
    """Write how a block's nodes are bent and, where all edges weigh 1, what steps do to their potentials."""
    setting, d = how.setting, kept_degrees(store, block, how)
    added = setting.traces[2] * degrees_in(store, block, setting)
    mean = mean_weights(store, block, setting)
    held = np.column_stack([pulls[0][:, 0] * np.maximum(d, mean), pulls[0][:, 1] * (d + added)])
    if setting.weighted:
        store.save(f"nodes/{block}.{fresh(how.name)}", np.column_stack([d, held]))
        return pulls[1]
    nodes: NDArray[Any] = np.zeros((d.size, 4), np.float32)
    nodes[:, sweeps.DEGREE], nodes[:, sweeps.ADDED] = d, added
    bend = np.tile(np.array([0, 0, 1, 0], np.float32), (d.size, 1))
    bend[:, : sweeps.LEAST] = held
    sweeps.look_around(0, d.size, nodes, bend, setting.c())
    store.save(f"bends/{block}.{how.name}", held.astype(np.float32))
    store.save(f"nodes/{block}.{fresh(how.name)}", nodes)
    return pulls[1]


def fresh(name: str) -> str:
    """Name of the nodes at the beginning of a pass that has looked at them."""
    return f"{name}.fresh"
