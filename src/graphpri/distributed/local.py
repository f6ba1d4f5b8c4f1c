"""The search by the local entropy, where all edges weigh 1: what edges do to the terms of their neighbours.

How much the local entropy pulls at each node is a sum over all of its edges. It is added up before each sweep, pair by
pair in the order of the tournament, and held until the next one, as on one machine. Nodes go from pair to pair with
what one more edge and one less do to their potentials.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpri._entropy import correct, read_only
from graphpri._runtime import in_threads
from graphpri.distributed.ingest import Pair, pair_name
from graphpri.distributed.moves import Pass, Setting, kept_degrees, load_nodes, plain_f, state_of
from graphpri.distributed.run import Measured, Search
from graphpri.distributed.store import Store
from graphpri.graph import FloatArray
from graphpri.solvers import sweeps

FEW_SWINGS, FEW_BETA = 2, 5.0
"""Swings up to a β: measured with preferential attachment, of 10⁵ and 10⁶ edges."""

Pulls = FloatArray
"""Pulls of the kept graph and of the mixture at the nodes of a block, shape (n, 2)."""


class _Sums:
    """Degrees at the nodes of a pair in the kept graph and in the mixture, and the edges' sums on both sides."""

    def __init__(self, store: Store, pair: Pair, setting: Setting, state: NDArray[np.uint8], kept: FloatArray) -> None:
        u, v = store.load(f"edges/{pair_name(pair)}")[:2]
        self.ends, self.state = (read_only(u), read_only(v)), read_only(state)
        original = np.concatenate([store.load(f"blocks/{b}")[1] for b in dict.fromkeys(pair)])
        kappa = setting.traces[2]
        self.sides = (0.0, kept), (kappa, kept + kappa * original)

    def of_side(self, side: int, pull: FloatArray) -> float:
        """Σ y² Λ over the edges of one side; adds its derivatives to `pull`, where that is not empty."""
        kappa, degrees = self.sides[side]
        logs = np.log(np.where(degrees > 0, degrees, 1.0))
        with in_threads(1):
            return correct(0, self.state.size, *self.ends, None, self.state, kappa, 0.0, degrees, logs, pull)[0]


def _kept(store: Store, pair: Pair, how: Pass) -> _Sums:
    nodes = [kept_degrees(store, block, how, load_nodes(store, block, how)) for block in dict.fromkeys(pair)]
    return _Sums(store, pair, how.setting, state_of(store, pair, how.before), np.concatenate(nodes))


# Tasks.


def original(store: Store, pair: Pair, setting: Setting) -> float:
    """Σ Λ over the edges of a pair, all kept."""
    degrees = np.concatenate([store.load(f"blocks/{b}")[1] for b in dict.fromkeys(pair)]).astype(np.float64)
    size = store.load(f"edges/{pair_name(pair)}")[0].size
    return _Sums(store, pair, setting, np.ones(size, np.uint8), degrees).of_side(0, np.empty(0))


def corrections(store: Store, pair: Pair, how: Pass) -> tuple[float, float]:
    """Σ y² Λ over the edges of a pair, in the kept graph and in the mixture."""
    sums = _kept(store, pair, how)
    return sums.of_side(0, np.empty(0)), sums.of_side(1, np.empty(0))


def no_pulls(store: Store, block: int, how: Pass) -> Pulls:
    """Pulls before any pair is played."""
    return np.zeros((store.load(f"blocks/{block}")[0].size, 2))


def pull(store: Store, pair: Pair, how: Pass, a: Pulls, b: Pulls | None = None) -> tuple[Pulls, ...]:
    """Add the pulls of a pair's edges."""
    sums, n = _kept(store, pair, how), len(a) + (0 if b is None else len(b))
    found = np.zeros((2, n))
    for side in range(2):
        sums.of_side(side, found[side])
    first = a + found[:, : len(a)].T
    return (first,) if b is None else (first, b + found[:, len(a) :].T)


def look_around(store: Store, block: int, how: Pass, pulls: Pulls) -> None:
    """Write how a block's nodes are bent, and what steps do to their potentials."""
    d = kept_degrees(store, block, how, load_nodes(store, block, how))
    nodes = np.zeros((d.size, 4), np.float32)
    nodes[:, sweeps.DEGREE] = d
    nodes[:, sweeps.ADDED] = added = how.setting.traces[2] * store.load(f"blocks/{block}")[1]
    held = np.column_stack([pulls[:, 0] * np.maximum(d, 1.0), pulls[:, 1] * (d + added)]).astype(np.float32)
    bend = np.tile(np.array([0, 0, 1, 0], np.float32), (d.size, 1))
    bend[:, : sweeps.LEAST] = held
    sweeps.look_around(0, d.size, nodes, bend, how.setting.c)
    store.save(f"bends/{block}.{how.name}", held)
    store.save(f"nodes/{block}.{_fresh(how.name)}", nodes)


def _fresh(name: str) -> str:
    return f"{name}.fresh"


class LocalSearch(Search):
    """The passes by the local entropy: wider swings, and twice to the exact size, as pulls follow sweep by sweep."""

    swing, settling = 0.9, 2

    @property
    def swings(self) -> int:
        """Rounds of sweeps: few where more gain less than 0.01 %."""
        return min(super().swings, FEW_SWINGS) if self.setting.beta <= FEW_BETA else super().swings

    def _look_at_original(self) -> None:
        self.store.make("bends")
        calls = [(original, self.store, pair, self.setting) for pair in self.pairs]
        correction = math.fsum(self.cluster.all("tables", 0.0, self.setting.edges, calls))
        degrees = (self.store.load(f"blocks/{b}")[1].astype(np.float64) for b in range(self.numbers.blocks))
        self.journal.note(original=math.fsum(-plain_f(d) for d in degrees) + correction)

    def _play(self, kind: str, label: str, how: Pass, k: int, *, at_any_cost: bool) -> str:
        before = self.journal["bend"]
        if kind != "sweep":
            return super()._play(kind, label, how._replace(bend=before), k, at_any_cost=at_any_cost)
        self._chain(pull, "neighbours", how, no_pulls, look_around)
        fresh = how._replace(bend=how.name, nodes=_fresh(how.name))
        name = super()._play(kind, label, fresh, k, at_any_cost=at_any_cost)
        self.journal.note(bend=how.name)
        files = [f"nodes/{b}.{fresh.nodes}" for b in range(self.numbers.blocks)]
        if before is not None:
            files += [f"bends/{b}.{before}" for b in range(self.numbers.blocks)]
        self.store.remove_files(files)
        return name

    def measured(self, name: str) -> Measured:
        """J and its parts after a pass."""
        how = Pass(self.setting, "k", name, "")
        calls = [(corrections, self.store, pair, how) for pair in self.pairs]
        found = self.cluster.all("measuring", 0.0, self.setting.edges, calls)
        return self._measured_less(name, *(math.fsum(column) for column in zip(*found, strict=True)))
