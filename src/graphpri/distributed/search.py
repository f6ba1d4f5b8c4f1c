"""The passes of the search over parts, from one subset to a better one; each is noted in the journal when it is done.

The degree entropy of edges that all weigh 1 needs nothing but the degrees. By the local entropy the pulls at nodes are
added up before each sweep. Where edges weigh differently, passes go round by round, as the trace moves meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from graphpri._objective import Terms, divergence_between
from graphpri.distributed import choices, ingest, local, moves, swaps, weighted
from graphpri.distributed.choices import Criterion
from graphpri.distributed.ingest import Pair, pairs_of
from graphpri.distributed.pairs import Pass, Played, Setting, load_nodes
from graphpri.distributed.run import TABLES, WRITING, Cluster, Journal, Later, Numbers
from graphpri.distributed.store import Store
from graphpri.distributed.weighted import Held
from graphpri.solvers.sweeps import DRIFT, ENTROPY_RULES, price_below
from graphpri.solvers.tournament import rounds_of

SAMPLE = 50_000
FEW_NODES = 1 << 21
"""Nodes of a block up to which both blocks of a pair are passed on together: twice the bytes, a third of the tasks."""

ROUGHLY, ATTEMPTS = (2, 1), 8
"""Passes to the exact size between sweeps, in fine and in coarse searches, and after the last sweep: the very last one
flips edges at any cost."""

OVER = 1.7, 1.35
"""How many times as many flips as are needed a pass to the exact size lets through, the first of a round and others:
each makes those at its nodes dearer, and what costs too much in its turn is not flipped."""

FEW = 1e-5
"""Share of K up to which edges are flipped at any cost at once."""

SIZES = 0.8, 0.7
"""Ratio of one size to the next where the search comes down from all edges. Coarse searches are as good by the degree
entropy for β from 2 to 5, not by the local entropy: at β = 4 communities are up to 0.1 % higher."""

DOWN_BETA, ROUNDS, MANY_ROUNDS = 5.0, 2, 6
"""β up to which it does, and rounds of a sweep, the exact size and swaps up to it and above. Where few edges are kept
of hubs, edges spread evenly lead to a valley 0.1 % higher at β = 4, and to one up to 2 % lower at β = 50."""

SWINGS, FAR_SWINGS = ((1, 0.3), (1, 0.4)), (4, 0.6)
"""How often sweeps above, below and at the size asked for follow the way down, and by which share the first ones are;
and where edges gather (β < 2)."""


class Measured(NamedTuple):
    """J with its parts, the entropy of the graph, and how many nodes have lost all edges."""

    terms: Terms
    original: float
    cut_off: int


Look = Callable[[Pair], Pass]
"""What a task that looks at a pair is to go by."""

Plan = list[tuple[str, int]]
"""Every pass by what it does, and the size it does it for."""


class Passes:
    """The passes over edges that all weigh 1.

    Parameters
    ----------
    cluster : Cluster
    store : Store
    numbers : Numbers
    setting : Setting
    journal : Journal
    choice : Criterion or None
        How another method chooses edges; None for a search.
    """

    def __init__(
        self,
        cluster: Cluster,
        store: Store,
        numbers: Numbers,
        setting: Setting,
        journal: Journal,
        choice: Criterion | None = None,
    ) -> None:
        self.cluster, self.store, self.numbers, self.journal = cluster, store, numbers, journal
        self.setting, self.choice = setting, choice
        self.pairs, self.blocks = pairs_of(numbers.blocks), range(numbers.blocks)
        b = numbers.blocks
        self.schedule: list[list[Pair]] = [[(int(p) // b, int(p) % b) for p in one] for one in rounds_of(b)]
        self.order = [pair for pairs in self.schedule for pair in pairs]
        self.size = 0

    def plan(self) -> Plan:
        """The passes to make."""
        k = self.setting.k
        if k == self.setting.edges:
            return [("spread", k)]
        return self._searched(k) if self.choice is None else [("draw", k)]

    def _searched(self, k: int) -> Plan:
        if self.setting.beta > DOWN_BETA:
            return [("spread", k), *self._rounds(k, MANY_ROUNDS)]
        swings = FAR_SWINGS if self.setting.beta < ENTROPY_RULES else SWINGS[self._is_coarse]
        return [*self._down(k), *self._swings(k, *swings), *self._rounds(k, ROUNDS)]

    def _rounds(self, k: int, many: int) -> Plan:
        """Sweeps, each with the exact size and swaps behind it, and one more."""
        rounds = [("sweep", k), *self._roughly(k), ("swap", k)] * many
        return [*rounds, ("sweep", k), *[("exact", k)] * ATTEMPTS, ("swap", k)]

    @property
    def _is_coarse(self) -> bool:
        is_local = self.setting.local and not self.setting.weighted
        return not is_local and ENTROPY_RULES <= self.setting.beta <= DOWN_BETA

    def _roughly(self, k: int) -> Plan:
        """Passes that bring the size near to the exact one."""
        return [("exact", k)] * ROUGHLY[self._is_coarse]

    def _swings(self, k: int, rounds: int, share: float) -> Plan:
        """Sweeps above, below and at the size asked for, nearer and nearer."""
        shares = [sign * share / 2**i for i in range(rounds) for sign in (1, -1, 0)]
        return [("sweep", min(max(int(k * (1 + by)), 1), self.setting.edges - 1)) for by in shares]

    def _down(self, k: int) -> Plan:
        """All edges, and sweeps at smaller and smaller sizes."""
        size, ratio = self.setting.edges, SIZES[self._is_coarse]
        found: Plan = [("spread", size)]
        while size > k:
            size = max(k, int(ratio * size))
            found.append(("sweep", size))
        return found

    def run(self) -> str:
        """Go through the passes that are not done yet; returns the name of the last one."""
        plan, done = self.plan(), int(self.journal["passes"] or 0)
        if self.journal["original"] is None:
            self._look_at_original()
        self.setting = self.setting._replace(total=self.journal["total"])
        self.size = int(self.journal["size"] or 0)
        before = self.journal["pass"]
        if done:
            self.cluster.skip(float(done))
        sweeps = sum(kind == "sweep" for kind, _ in plan)
        for step in range(done, len(plan)):
            kind, k = plan[step]
            if kind == "exact" and self.size == self.setting.k:
                self.cluster.skip(1.0)
                continue
            how = Pass(self.setting, before, before, str(step))
            label = kind if kind != "sweep" else f"sweep {sum(w == 'sweep' for w, _ in plan[: step + 1])} of {sweeps}"
            last = all(what != "exact" for what, _ in plan[step + 1 :]) or abs(self.size - k) <= FEW * k
            over = None if last else OVER[step > 0 and plan[step - 1][0] == "exact"]
            name = self._play(kind, label, how, k, over)
            self.journal.note(passes=step + 1, size=self.size, **{"pass": name})
            self._forget(before, name)
            before = name
        return str(before)

    def _look_at_original(self) -> None:
        """Note what is needed of the graph, and make the tables."""
        found = self.cluster.all("tables", TABLES, 0, self._on_blocks(moves.tabulate, self.setting))
        total, f = (math.fsum(column) for column in zip(*found, strict=True))
        if self.setting.local:
            calls = self._on_pairs(local.original, self.setting._replace(trace=total))
            f += math.fsum(self.cluster.all("tables", 0.0, self.setting.edges, calls))
        self.journal.note(original=f, total=total)

    def _on_blocks(self, task: Any, *arguments: Any) -> list[tuple[Any, ...]]:
        return [(task, self.store, block, *arguments) for block in self.blocks]

    def _on_pairs(self, task: Any, *arguments: Any) -> list[tuple[Any, ...]]:
        return [(task, self.store, pair, *arguments) for pair in self.pairs]

    # Passes.

    def _play(self, kind: str, label: str, how: Pass, k: int, over: float | None) -> str:
        """Make one pass; returns the name of what it leads to."""
        if kind in ("sweep", "exact", "swap"):
            before, how = how, self._set_up(kind, how)
            self._move(kind, label, how, k, over)
            self._forget_looks(before, how)
        elif kind == "spread":
            counts = np.cumsum([0, *self.numbers.pair_edges])
            share = dict(zip(self.pairs, np.diff(counts * k // self.setting.edges).tolist(), strict=True))
            self._through(moves.spread, "start", how, lambda pair: (share[pair],))
        else:
            choice = self._chosen(self.choice or Criterion("lightest", 0))
            self._through(moves.draw, "choosing", how._replace(choice=choice))
        return how.name

    def _set_up(self, kind: str, how: Pass) -> Pass:
        """What moves hang on, as a pass finds it."""
        if not self.setting.local:
            return how
        if kind == "sweep":
            self._look_around(how)
            return how._replace(bend=how.name, nodes=local.fresh(how.name))
        return how._replace(bend=self.journal["bend"])

    def _look_around(self, how: Pass) -> Sequence[Any]:
        """Add up the pulls at nodes."""
        return self._chain(local.pull, "neighbours", how, local.no_pulls, local.look_around)

    def _forget_looks(self, before: Pass, how: Pass) -> None:
        """Remove what was needed for one pass alone, and note the pulls that are held."""
        held = self.journal["bend"]
        if how.bend != held:
            self.journal.facts["bend"] = how.bend
            files = [f"nodes/{b}.{how.nodes}" for b in self.blocks]
            self.store.remove_files(files + ([f"bends/{b}.{held}" for b in self.blocks] if held else []))

    def _move(self, kind: str, label: str, how: Pass, k: int, over: float | None) -> None:
        def look(_: Pair) -> Pass:
            return how

        if kind == "sweep":
            self._through(moves.sweep, label, how._replace(numbers=(self._price(look, k),)), k=k)
        elif kind == "exact":
            self._through(moves.take, "exact size", how._replace(numbers=self._cut(look, over)))
        else:
            self._swap(how._replace(numbers=(max(1.0, abs(self.setting.beta)),)))

    def _swap(self, how: Pass) -> None:
        """Make swaps at nodes."""
        self.store.make("swaps", "wanted")
        self.cluster.all("swaps", 0.5, self.setting.edges, self._on_pairs(swaps.find, how))
        self.cluster.all("swaps", 0.0, 0, self._on_blocks(swaps.choose, self.numbers.blocks, how))
        self._make_swaps(how, [swaps.DROP, swaps.ADD, swaps.TAKE_BACK])
        for step in (swaps.DROP, swaps.ADD):
            self._forget(swaps.step_of(how, step).name, how.name)
        for folder in ("swaps", "wanted"):
            self.store.remove(folder)

    def _make_swaps(self, how: Pass, steps: list[int]) -> None:
        self._chain(swaps.make, "swaps", how, swaps.first, swaps.last, turns=[(step,) for step in steps])

    def _through(
        self,
        task: Any,
        label: str,
        how: Pass,
        extra: Callable[[Pair], tuple[Any, ...]] = lambda _: (),
        k: int | None = None,
    ) -> None:
        """Play all pairs and hand their nodes on."""
        self.size = sum(self._chain(task, label, how, load_nodes, moves.save_nodes, extra)) // 2

    def _chain(
        self,
        task: Any,
        label: str,
        how: Pass,
        first: Any,
        last: Any,
        extra: Callable[[Pair], tuple[Any, ...]] = lambda _: (),
        turns: Sequence[tuple[Any, ...]] = ((),),
    ) -> list[Any]:
        """Play all pairs in the order of the tournament; those that share no block may run side by side.

        What tasks hand on for each block is what `first` gives; `last` takes it in the end, and its results are these.
        Pairs are played once for each of `turns`, which are further arguments.
        """
        submit, store = self.cluster.submit, self.store
        large = self.numbers.nodes > FEW_NODES * self.numbers.blocks
        nodes = [submit(first, store, b, how) for b in self.blocks]
        for turn, pair in product(turns, self.order):
            handed = (nodes[block] for block in dict.fromkeys(pair))
            played = submit(task, store, pair, how, *turn, *extra(pair), *handed)
            for i, block in enumerate(dict.fromkeys(pair)):
                nodes[block] = submit(itemgetter(i), played) if large else Later(played.key, i)
        ended = [submit(last, store, b, how, nodes[b]) for b in self.blocks]
        del nodes
        return self.cluster.wait(label, 1.0, self.setting.edges, ended)

    # Looks.

    def _sample(self, look: Look) -> list[Any]:
        edges, among = dict(zip(self.pairs, self.numbers.pair_edges, strict=True)), 0
        some: list[Pair] = []
        # Every round has all blocks, and a hash has dealt these: a few rounds are as good a sample as all of them.
        for pairs in self.schedule:
            if among < 4 * SAMPLE:
                some += pairs
                among += sum(edges[pair] for pair in pairs)
        calls = [(moves.sample, self.store, pair, look(pair), max(1, among // SAMPLE)) for pair in some]
        return self.cluster.all("prices", 0.0, 0, calls)

    def _price(self, look: Look, k: int) -> float:
        """The price below which `k` edges lie, from a sample."""
        found = np.concatenate([prices for prices, _ in self._sample(look)])
        return price_below(found, k / self.setting.edges)

    def _cut(self, look: Look, over: float | None) -> tuple[float, ...]:
        """The rank of the last flip to let through, of `over` times as many as K needs or of just these at any cost."""
        need = self.setting.k - self.size
        kept = int(need < 0)
        most = self.size if kept else self.setting.edges - self.size
        many = min(int(abs(need) * (over or 1)), most)
        some = self._sample(look)
        costs = np.concatenate([(prices if not kept else -prices)[state == kept] for prices, state in some])
        costs.sort()
        share = many / max(most, 1)
        at, wide = share * costs.size, 4 * math.sqrt(share * costs.size) + 8
        while True:
            low = float(costs[int(at - wide)]) if at - wide >= 1 else -math.inf
            high = float(costs[int(at + wide)]) if at + wide < costs.size else math.inf
            calls = [(moves.probe, self.store, pair, look(pair), kept, low, high) for pair in self.pairs]
            found = self.cluster.all("prices", 0.0, self.setting.edges, calls)
            below = sum(count for count, _ in found)
            ranks = np.concatenate([some for _, some in found])
            if below + ranks.size < many and low == -math.inf and high == math.inf:
                many = below + ranks.size  # the others can't be flipped
            if below < many <= below + ranks.size:
                place = many - below - 1
                return int(np.partition(ranks, place)[place]), kept, int(over is None)
            wide *= 8

    def _chosen(self, how: Criterion) -> Criterion:
        """A choice with what it takes to be of K edges."""
        if how.by == "scores":
            self.store.make("scores")
            calls = self._on_blocks(choices.rank, self.numbers.blocks, how.seed)
            self.cluster.all("ranking neighbours", 1.0, 2 * self.setting.edges, calls)
        cut, behind = self._digits(how, self.setting.k, tied=False)
        how = how._replace(cut=cut)
        return how._replace(lot=self._digits(how, behind, tied=True)[0])

    def _digits(self, how: Criterion, k: int, *, tied: bool) -> tuple[int, int]:
        """The k-th number in order, 16 bits at a time, and which of those equal to it that is, counted from 1."""
        found = 0
        for level in range(4):
            calls = self._on_pairs(choices.digits, how, tied, found, level)
            counts = np.cumsum(sum(self.cluster.all("choosing", 0.0, self.setting.edges, calls)))
            digit = int(np.searchsorted(counts, k))
            k -= int(counts[digit - 1]) if digit else 0
            found = found << 16 | digit
        return found, k

    def _forget(self, name: str | None, following: str) -> None:
        if name not in (None, following):
            files = [f"states/{ingest.pair_name(pair)}.{name}" for pair in self.pairs]
            self.store.remove_files(files + [f"nodes/{block}.{name}" for block in self.blocks])

    def _at(self, name: str) -> Pass:
        """The end of a pass, to look at."""
        return Pass(self.setting, name, name)

    def measured(self, name: str) -> Measured:
        """J and its parts after a pass."""
        how, corrections = self._at(name), np.zeros(3)
        if self.setting.local:
            found = self.cluster.all("measuring", 0.0, self.setting.edges, self._on_pairs(local.corrections, how))
            corrections = [math.fsum(column) for column in zip(*found, strict=True)]
        sums = self.cluster.all("measuring", 0.0, 0, self._on_blocks(moves.measure, how))
        plain, mixed, logs, cut_off = zip(*sums, strict=True)
        fs = math.fsum(plain) - corrections[0], math.fsum(mixed) - corrections[1], -float(self.journal["original"])
        # S = ln T + F/T, as in :class:`graphpri._entropy.Side`.
        traces = (*how.setting.traces[:2], self.setting.total)
        kept, mixture, original = (math.log(t) + f / t for f, t in zip(fs, traces, strict=True))
        beta, alpha = self.setting.beta, self.setting.alpha
        barrier = -alpha * math.fsum(logs) if alpha else 0.0
        terms = Terms.of(beta, kept, divergence_between(mixture, kept, original), barrier)
        return Measured(terms, original, sum(cut_off))

    def write(self, output: Store, name: str, columns: list[str]) -> list[moves.Wrote]:
        """Write the kept edges, a part a pair."""
        files = [(pair, f"part-{i:05}.parquet") for i, pair in enumerate(self.pairs) if self.numbers.pair_edges[i]]
        output.make()
        calls = [
            (moves.write, self.store, output, pair, name, file, self.numbers.kinds, columns) for pair, file in files
        ]
        return self.cluster.all("writing", WRITING, self.setting.k, calls)


LIGHT_BETA, FEW_EDGES = 4.0, 250_000
"""β up to which the minimum of graphs with more edges is looked for among light edges alone, as on one machine."""

TURNS = 64
"""Times that sweeps of a round are cut short, at most."""

WIDE_SWINGS = 2, 0.9
"""The same from the lightest edges: nearer ones may stay in a valley 0.3 % higher."""


class WeightedPasses(Passes):
    """The passes over weighted edges."""

    held = Held()
    """Sums over edges where the pass began whose moves are made."""

    def _searched(self, k: int) -> Plan:
        beta, last = self.setting.beta, ("recount", k)
        if beta < ENTROPY_RULES:
            return [*super()._searched(k), last]
        swings = [("lightest", k), ("sweep", k), *self._swings(k, *WIDE_SWINGS)]
        rounds = self._rounds(k, 1 if beta <= LIGHT_BETA else MANY_ROUNDS)
        if beta <= LIGHT_BETA and self.setting.edges > FEW_EDGES:
            return [*swings, *rounds, last]
        one = [("sweep", k), *self._roughly(k), ("swap", k)]
        return [*self._down(k), *one, *swings, *one, ("choose", k), *rounds, last]

    def _make_swaps(self, how: Pass, steps: list[int]) -> None:
        # At one trace, so that both halves of a swap are measured alike.
        for step in steps:
            self._through(swaps.make, "swaps", how, extra=lambda _, step=step: (step,))
            how = how._replace(nodes=how.name)

    # What is looked at between passes.

    def _at(self, name: str) -> Pass:
        return self._at_trace(super()._at(name))

    def _at_trace(self, how: Pass) -> Pass:
        """The same at the trace of its nodes."""
        found = self.cluster.all("trace", 0.0, 0, self._on_blocks(weighted.trace, how))
        return how._replace(setting=self.setting._replace(trace=math.fsum(found)))

    def _with_coefficients(self, how: Pass) -> Pass:
        """The same with what moves take."""
        how = self._at_trace(how)
        parts = self.cluster.all("trace", 0.0, 0, self._on_blocks(weighted.sums, how))
        c, self.held = weighted.gathered(how.setting, parts, self.held)
        return how._replace(c=c)

    def _set_up(self, kind: str, how: Pass) -> Pass:
        if self.setting.local and kind == "sweep":
            how = self._at_trace(how)
            kept, mixed, along = map(math.fsum, zip(*self._look_around(how), strict=True))
            self.held = Held(kept, mixed, along, 0.0, how.setting.traces[2])
            how = how._replace(nodes=local.fresh(how.name))
        else:
            self.held = Held(*(self.journal["held"] or ()))
        return self._with_coefficients(how)

    def _forget_looks(self, before: Pass, how: Pass) -> None:
        self.journal.facts["held"] = list(self.held)

    # Passes.

    def _play(self, kind: str, label: str, how: Pass, k: int, over: float | None) -> str:
        before = str(how.states)
        if kind == "choose":
            return self._better(str(self.journal["rival"]), before)
        if kind == "recount":
            self._through(moves.recount, "recount", how._replace(nodes=None))
            return how.name
        if kind == "lightest":
            self.journal.note(rival=how.states, rival_size=self.size)
            how = how._replace(states=None, nodes=None)
        return super()._play(kind, label, how, k, over)

    def _through(
        self,
        task: Any,
        label: str,
        how: Pass,
        extra: Callable[[Pair], tuple[Any, ...]] = lambda _: (),
        k: int | None = None,
    ) -> None:
        """Play all pairs, round by round; a sweep at the price for `k` edges follows the trace.

        Where the trace moves far within a pair, its sweep is cut short, and goes on once all hangs on the new one:
        from light edges the trace may grow by powers of ten, and heavy ones would come in as if they were alone.
        """
        size, drift, before, at, edges = 0, 0.0, how.states, dict[Pair, str](), self.setting.edges // len(self.schedule)
        for i, pairs in enumerate(self.schedule):
            is_last, places, turn, cut = i == len(self.schedule) - 1, dict.fromkeys(pairs, 0), 0, list[str]()
            while True:
                if k is not None and how.c is not None and abs(drift) > DRIFT * how.c[6]:
                    how = self._with_coefficients(how)
                    how, drift = how._replace(numbers=(self._price(partial(self._half_way, how, at), k),)), 0.0
                name = how.name if is_last else f"{how.name}.{i}.{turn}"
                steps = {pair: self._half_way(how._replace(to_nodes=name), at, pair) for pair in pairs}
                if k is not None and how.c is not None:
                    price, limit = how.numbers[0], np.inf if is_last or turn == TURNS else DRIFT * how.c[6]
                    steps = {pair: one._replace(numbers=(price, limit, places[pair])) for pair, one in steps.items()}
                calls = [(task, self.store, pair, steps[pair], *extra(pair)) for pair in pairs]
                share = 0.0 if turn else 1 / len(self.schedule)
                found: list[Played] = self.cluster.all(label, share, 0 if turn else edges, calls)
                moved = [math.fsum(column) for column in zip(*(one.drift for one in found), strict=True)]
                drift, self.held = drift + moved[0], self.held.moved(moved)
                if how.nodes not in (None, before):
                    self.store.remove_files([f"nodes/{block}.{how.nodes}" for block in self.blocks])
                how = how._replace(nodes=name)
                places = {pair: one.place for pair, one in zip(pairs, found, strict=True)}
                short = {pair for pair, one in zip(pairs, found, strict=True) if one.place < one.edges}
                at |= {pair: name if pair in short else how.name for pair in pairs}
                self.store.remove_files(cut)
                cut, turn = [f"states/{ingest.pair_name(pair)}.{name}" for pair in short], turn + 1
                if not short:
                    break
            size += sum(one.kept for one in found)
        self.size = size

    @staticmethod
    def _half_way(how: Pass, at: dict[Pair, str], pair: Pair) -> Pass:
        """How to look at a pair half-way through a pass, where what is kept of some goes by other names."""
        return how._replace(states=at.get(pair, how.states))

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
        if name != self.journal["rival"]:
            super()._forget(name, following)
