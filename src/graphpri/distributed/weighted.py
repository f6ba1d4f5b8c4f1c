"""What moves hang on where edges weigh differently: the trace of the kept graph, and how J follows it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphpri._entropy import LIGHTEST
from graphpri.distributed.moves import plain_f
from graphpri.distributed.pairs import Pass, Setting, degrees_in, kept_degrees, load_nodes, logs_of
from graphpri.distributed.store import Store
from graphpri.solvers import sweeps
from graphpri.solvers.sweeps import Coefficients, TraceSums


class Held(NamedTuple):
    """The local entropy's sums over the edges, as moves have followed them; all 0 for the degree entropy.

    Attributes
    ----------
    kept, mixed : float
        Σ y² Λ on both sides, the latter at `kappa`.
    along : float
        Its derivative in κ, degrees held.
    of_kappa : float
        The same, degrees of the mixture following.
    kappa : float
    """

    kept: float = 0.0
    mixed: float = 0.0
    along: float = 0.0
    of_kappa: float = 0.0
    kappa: float = 0.0

    def moved(self, drift: list[float]) -> Held:
        """After moves."""
        return self._replace(kept=self.kept + drift[1], mixed=self.mixed + drift[2])


def trace(store: Store, block: int, how: Pass) -> float:
    """Sum of a block's degrees in the kept graph."""
    return float(kept_degrees(store, block, how).sum())


class Parts(NamedTuple):
    """A block's parts in :class:`~graphpri.solvers.sweeps.TraceSums`, and in its pulls' derivative in κ."""

    f: float
    mixed_f: float
    along: float
    bend: float
    pull: float


def sums(store: Store, block: int, how: Pass) -> Parts:
    """The parts of a block, its sums over edges left out."""
    nodes, original = load_nodes(store, block, how), degrees_in(store, block, how.setting)
    degrees = nodes[:, sweeps.DEGREE].copy()
    added = how.setting.traces[2] * original
    mixed = degrees + added
    along = np.where(mixed > 0, logs_of(mixed) + 1, 0.0)
    bend = float((added * (added / np.maximum(mixed, LIGHTEST))).sum())
    pull = float((nodes[:, 2] / np.maximum(mixed, LIGHTEST)) @ original) if how.setting.local else 0.0
    return Parts(plain_f(degrees), plain_f(mixed), -float(along @ original), bend, pull)


def gathered(setting: Setting, parts: list[Parts], held: Held) -> tuple[Coefficients, Held]:
    """What moves take, from all blocks, and the sums over edges at the new κ."""
    t, mixed_trace, kappa = setting.traces
    f, mixed_f, along, bend, pull = (math.fsum(column) for column in zip(*parts, strict=True))
    at = held.mixed + (kappa - held.kappa) * held.of_kappa
    held = held._replace(mixed=at, of_kappa=held.along + pull, kappa=kappa)
    s = TraceSums(
        t, mixed_trace, kappa, f - held.kept, mixed_f - held.mixed, along - held.of_kappa, bend, setting.total
    )
    return setting.c(sweeps.trace_slope(setting.beta, "equation", s), sweeps.beyond_slope(setting.beta, s)), held
