"""The passes of the search where edges weigh differently: round by round, as the trace moves meanwhile."""

from __future__ import annotations

import math
from typing import Any

from graphpri.distributed import weighted
from graphpri.distributed.choices import Choice
from graphpri.distributed.ingest import Pair
from graphpri.distributed.moves import Pass
from graphpri.distributed.run import ATTEMPTS, ROUGHLY, SWING, Look, Measured, Search
from graphpri.distributed.weighted import Play, Weighted
from graphpri.solvers.sweeps import DRIFT, ENTROPY_RULES, Coefficients
from graphpri.solvers.tournament import rounds_of

LIGHT_BETA = 4.0
"""β up to which the minimum is looked for among light edges alone, as on one machine."""

SIZES = 0.6
"""Ratio of one size to the next where the search comes down from all edges."""

WIDE = 0.8
"""The same from the lightest edges, and for a second try: nearer ones may stay in a higher valley."""

FEW_SWINGS = 3
"""Swings up to `LIGHT_BETA`, and one round of sweep, exact size and swaps behind them: more gained 0.003 %."""

SETTLING = 2
"""Such rounds above it."""


class WeightedSearch(Search):
    """The passes over weighted edges."""

    setting: Weighted

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.tasks = weighted
        self.rounds: list[list[Pair]] = []
        b = self.numbers.blocks
        self.rounds = [[(int(p) // b, int(p) % b) for p in one] for one in rounds_of(b)]

    def plan(self) -> list[tuple[str, int]]:
        """Every pass by what it does, and the size it does it for."""
        k, m, beta = self.setting.k, self.setting.edges, self.setting.beta
        if k == m:
            return [("all", k)]
        if self.choice is not None:
            return [("draw", k)]
        exact = [("exact", k)] * ROUGHLY
        settle = [("sweep", k), ("sweep", k), *exact, ("swap", k)]
        found: list[tuple[str, int]] = []
        if beta < ENTROPY_RULES or beta > LIGHT_BETA:
            found, size = [("all", m)], m
            while size > k:
                size = max(k, int(SIZES * size))
                found.append(("sweep", size))
            found += [*settle]
        if beta >= ENTROPY_RULES:
            found += [("lightest", k), ("sweep", k), *settle]
        if beta <= LIGHT_BETA:
            found += self._swings(SWING if beta < ENTROPY_RULES else WIDE)
        else:
            found += [("choose", k), ("stay", k), *self._swings(SWING), ("back", k), *self._swings(WIDE), ("choose", k)]
        return [*found, ("sweep", k), *[("exact", k)] * ATTEMPTS, ("swap", k), ("recount", k)]

    def _swings(self, share: float) -> list[tuple[str, int]]:
        """Sweeps above, below and at the size asked for, nearer and nearer, and some rounds at it."""
        k, m = self.setting.k, self.setting.edges
        exact = [("exact", k)] * ROUGHLY
        found: list[tuple[str, int]] = []
        is_light = self.setting.beta <= LIGHT_BETA
        for _ in range(min(self.swings, FEW_SWINGS) if is_light else self.swings):
            found += [("sweep", min(max(int(k * by), 1), m - 1)) for by in (1 + share, 1 - share, 1)]
            share /= 2
        found += [*exact, ("swap", k), ("recount", k)]
        for _ in range(1 if is_light else SETTLING):
            found += [("sweep", k), *exact, ("swap", k)]
        return found

    # What is looked at between passes.

    def _look_at_original(self) -> None:
        calls = [(weighted.strength, self.store, b, self.setting) for b in range(self.numbers.blocks)]
        found = self.cluster.all("strengths", 0.0, 0, calls)
        total, f = (math.fsum(column) for column in zip(*found, strict=True))
        self.journal.note(original=-f, total=total)

    def run(self) -> str:
        """Go through the passes that are not done yet; returns the name of the last one."""
        if self.journal["original"] is None:
            self._look_at_original()
        self.setting = self.setting._replace(total=self.journal["total"])
        return super().run()

    def _trace(self, nodes: str) -> float:
        calls = [(weighted.trace, self.store, b, nodes) for b in range(self.numbers.blocks)]
        return math.fsum(self.cluster.all("trace", 0.0, 0, calls))

    def _coefficients(self, nodes: str) -> Coefficients:
        t = self._trace(nodes)
        kappa = self.setting.kappa(t)
        calls = [(weighted.sums, self.store, b, self.setting, nodes, kappa) for b in range(self.numbers.blocks)]
        sums = weighted.gathered(self.setting, t, self.cluster.all("trace", 0.0, 0, calls))
        return weighted.coefficients_of(self.setting, sums)

    def measured(self, name: str) -> Measured:
        """J and its parts after a pass."""
        t = self._trace(name)
        kappa = self.setting.kappa(t)
        calls = [(weighted.measure, self.store, b, self.setting, name, kappa) for b in range(self.numbers.blocks)]
        return self._measured(self.cluster.all("measuring", 0.0, 0, calls), (t, 2 * t, self.setting.total))

    # Passes.

    def _play(self, kind: str, label: str, how: Pass, k: int, *, at_any_cost: bool) -> str:
        if kind == "choose":
            return self._better(str(self.journal["rival"]), str(how.before))
        if kind == "stay":
            self.journal.note(origin=how.before, origin_size=self.size)
            return str(how.before)
        if kind == "back":
            origin = str(self.journal["origin"])
            self.journal.note(rival=how.before, rival_size=self.size, origin=None)
            self.size = self.journal["origin_size"]
            return origin
        if kind in ("all", "lightest", "draw"):
            self.journal.note(rival=how.before, rival_size=self.size)
            play = Play(self.setting, None, None, how.name, how.name)
            if kind == "all":
                self._rounds(weighted.keep_all, "start", play)
            else:
                choice = self._chosen(self.choice or Choice("lightest", 0))
                self._rounds(weighted.draw, "start", play._replace(choice=choice))
        elif kind == "recount":
            self._rounds(weighted.recount, "recount", Play(self.setting, how.before, None, how.name, how.name))
        else:
            self._moves(kind, label, how, k, at_any_cost)
        return how.name

    def _moves(self, kind: str, label: str, how: Pass, k: int, at_any_cost: bool) -> None:
        c = self._coefficients(str(how.before))
        play = Play(self.setting, how.before, how.before, how.name, how.name, c)

        def look(_: Pair) -> Play:
            return play

        if kind == "sweep":
            self._rounds(weighted.sweep, label, play._replace(numbers=(self._price(look, k),)), k)
        elif kind == "exact":
            self._rounds(weighted.take, "exact size", play._replace(numbers=self._cut(look, at_any_cost)))
        else:
            self._rounds(weighted.swap, "swaps", play._replace(numbers=(max(1.0, abs(self.setting.beta)),)))

    def _rounds(self, move: weighted.Move, label: str, play: Play, k: int | None = None) -> None:
        """Play all pairs, round by round; a sweep at the price for `k` edges follows the trace."""
        size, drift, at, done = 0, 0.0, play.nodes, set[Pair]()
        for i, pairs in enumerate(self.rounds):
            if k is not None and play.c is not None and abs(drift) > DRIFT * play.c[6]:
                play = play._replace(nodes=at, c=self._coefficients(str(at)))
                play, drift = play._replace(numbers=(self._price(self._look(play, done), k),)), 0.0
            name = play.to_states if i == len(self.rounds) - 1 else f"{play.to_states}.{i}"
            calls = [(move, self.store, pair, play._replace(nodes=at, to_nodes=name)) for pair in pairs]
            edges = self.setting.edges // len(self.rounds)
            found = self.cluster.all(label, 1 / len(self.rounds), edges, calls)
            size += sum(one.kept for one in found)
            drift += math.fsum(one.drift for one in found)
            if at is not None and at != play.states:
                self._forget_nodes(at)
            at = name
            done.update(pairs)
        self.size = size

    @staticmethod
    def _look(play: Play, done: set[Pair]) -> Look:
        """How to look at a pair half-way through a pass, which has settled some of them."""
        return lambda pair: play._replace(states=play.to_states) if pair in done else play

    def _better(self, one: str, other: str) -> str:
        """The better of two subsets, by J; the other one is forgotten."""
        values = [self.measured(name).terms.objective for name in (one, other)]
        self.journal.note(rival=None)
        if values[0] > values[1]:
            self._forget(one, other)
            return other
        self.size = self.journal["rival_size"]
        return one

    def _forget(self, name: str | None, following: str) -> None:
        if name not in (self.journal["rival"], self.journal["origin"]):
            super()._forget(name, following)

    def _forget_nodes(self, name: str) -> None:
        self.store.remove_files([f"nodes/{block}.{name}" for block in range(self.numbers.blocks)])
