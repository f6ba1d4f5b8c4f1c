"""What a run stands on: stages of tasks on a cluster, the journal to resume from, and the input read and numbered."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial, reduce
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from graphpri._arguments import checked
from graphpri._runtime import size_text
from graphpri.distributed import ingest
from graphpri.distributed.ingest import Dealt, FirstRow, dealt_slices, pairs_of, slices
from graphpri.distributed.keys import FINE, block_of, blocks_for
from graphpri.distributed.parts import IGNORE_WEIGHTS, Decimals, Part, Piece, Reading, changed, listed, pieces
from graphpri.distributed.store import Store, find
from graphpri.errors import ClusterError, FileError, GraphError, GraphPRIError, Note, OptionError, argument, setting
from graphpri.io.rows import shorten

JOURNAL = "journal.json"
BYTES_AN_EDGE = 32
"""About the most that the scratch storage holds at a time, added up from what is written; 9 from the first sweep on."""

INTERVAL = 0.2
"""Seconds between two calls that tell how far a run is."""

LOOK, LONELY = 5.0, 60.0
"""Seconds after which a cluster that finishes nothing is looked at, and without a worker after which it is given up."""

PATIENCE = "20s"
"""How long to wait for a scheduler."""


class Step(NamedTuple):
    """How far a run is.

    Attributes
    ----------
    stage : str
        Such as ``"reading"`` or ``"sweep 3 of 12"``.
    done, tasks : int
        Tasks of this stage, done and in all.
    share : float
        Of the whole run, from 0 to 1, roughly.
    edges_per_second : float
        In this stage; 0 where it is not known yet.
    remaining : float
        Seconds that the rest may take, judged by what was done; NaN where it is not known yet.
    dashboard : str
        Address of Dask's page about the cluster.

    Examples
    --------
    >>> print(Step("sweep 3 of 12", 9, 36, 0.5, 1.2e7, 30.0, "http://127.0.0.1:8787/status"))
    sweep 3 of 12: 9 of 36 tasks, 1.2e+07 edges/s, about 30 s to go
    """

    stage: str
    done: int
    tasks: int
    share: float
    edges_per_second: float
    remaining: float
    dashboard: str

    def __str__(self) -> str:
        speed = f", {self.edges_per_second:.1e} edges/s" if self.edges_per_second else ""
        left = "" if math.isnan(self.remaining) else f", about {self.remaining:.0f} s to go"
        return f"{self.stage}: {self.done} of {self.tasks} tasks{speed}{left}"


Told = Callable[[Step], object]

DEALING, SORTING, NUMBERING, PLACING, TABLES, WRITING = 3.0, 3.0, 1.0, 1.0, 0.2, 2.0
"""Shares of the whole run, in CPU time, where a pass over all edges is 1."""

READING = DEALING + SORTING + NUMBERING + PLACING
"""Reading an input and numbering its nodes."""

WHOLE = READING + TABLES + WRITING + 22
"""About as many passes as a search makes."""


@checked
def connect(scheduler: str) -> Any:
    """A client of the cluster at an address.

    Raises
    ------
    OptionError
        For what is no address.
    ClusterError
        Where no scheduler answers there.

    Examples
    --------
    >>> connect("nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: scheduler='nowhere' is not an address such as tcp://host:8786 (missing port ...)
    """
    try:
        return find("distributed").Client(scheduler, timeout=PATIENCE)
    except (ValueError, TypeError) as error:
        what = f"is not an address such as tcp://host:8786 ({_words(error)})"
        raise OptionError(f"{argument('scheduler', scheduler)} {what}") from None
    except OSError as error:  # a TimeoutError is one
        raise ClusterError(f"no Dask scheduler answers at {scheduler} ({_words(error)}): is it running?") from None


FREED = 31 << 20
"""Bytes of a block below the most, 32 MiB, up to which glibc changes its ways."""


class Later(NamedTuple):
    """What a task will return, or an item of it."""

    key: str
    item: int | None = None


@lru_cache(maxsize=1)
def _keep_freed_memory() -> None:
    """Let glibc keep what arrays of some MB leave, for the next ones: getting it anew takes longer than many tasks.

    When a block of its own pages is freed, glibc takes smaller ones from its heap from then on (``mallopt(3)``).
    """
    np.empty(FREED, np.uint8)


def _call(task: Any, arguments: tuple[Any, ...], *found: Any) -> Any:
    """Call a task, with what others have returned in the places where that was announced."""
    _keep_freed_memory()
    results = iter(found)

    def filled(value: Any) -> Any:
        if not isinstance(value, Later):
            return value
        result = next(results)
        return result if value.item is None else result[value.item]

    return task(*map(filled, arguments))


class Cluster:
    """Runs graphs of tasks, tells how far they are, and words what goes wrong.

    Parameters
    ----------
    client : dask.distributed.Client or ThreadPoolExecutor
        Of workers, or threads of this process.
    tell : callable, optional
        Called with a :class:`Step`, at most some times a second.
    whole : float
        The work of the run, in the unit of what each stage weighs.
    """

    def __init__(self, client: Any, tell: Told | None, whole: float = WHOLE) -> None:
        self.client, self.tell, self.whole, self.run = client, tell, whole, uuid4().hex[:8]
        self._begun = time.monotonic()
        self._share, self._resumed, self._calls = 0.0, 0.0, 0
        self._graph: dict[str, Any] = {}
        with suppress(Exception):
            self._dashboard = str(client.dashboard_link)

    _dashboard = ""

    def submit(self, task: Any, *arguments: Any) -> Later:
        """Add a task to the graph; the same call with the same files gives the same result, on any worker."""
        self._calls += 1
        key = f"{getattr(task, '__name__', 'item')}-{self.run}-{self._calls}"
        self._graph[key] = partial(_call, task, arguments), *[a.key for a in arguments if isinstance(a, Later)]
        return Later(key)

    def skip(self, weight: float) -> None:
        """Count work that an earlier run has done."""
        self._share += weight / self.whole
        self._resumed = self._share

    def all(self, stage: str, weight: float, edges: int, calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Results of tasks, in the order of the calls."""
        return self.wait(stage, weight, edges, [self.submit(*call) for call in calls])

    def wait(self, stage: str, weight: float, edges: int, wanted: Sequence[Later]) -> list[Any]:
        """Run the graph of all tasks so far; returns the results of some, in their order."""
        begun, told = time.monotonic(), 0.0
        done, keys = 0, {one.key: one for one in wanted}
        graph, self._graph = self._graph, {}

        def count() -> None:
            nonlocal done, told
            done, now = done + 1, time.monotonic()
            if self.tell is not None and (now - told >= INTERVAL or done == len(wanted)):
                told, part = now, done / len(wanted)
                share = min(self._share + weight / self.whole * part, 1.0)
                passed, worked = now - self._begun, share - self._resumed
                left = passed / worked * (1 - share) if worked > 0.02 else math.nan
                speed = edges * part / max(now - begun, 1e-3)
                self.tell(Step(stage, done, len(wanted), share, speed, left, self._dashboard))

        if isinstance(self.client, ThreadPoolExecutor):
            results = self._in_threads(graph, list(keys), count)
        else:
            results = self._on_workers(graph, list(keys), count)
        self._share += weight / self.whole
        return results

    def _in_threads(self, graph: dict[str, Any], keys: list[str], count: Callable[[], None]) -> list[Any]:
        wanted = frozenset(keys)

        def after(key: str, *_: Any) -> None:
            if key in wanted:
                count()

        with find("dask.callbacks").Callback(posttask=after):
            return list(find("dask.threaded").get(graph, keys, pool=self.client))

    def _on_workers(self, graph: dict[str, Any], keys: list[str], count: Callable[[], None]) -> list[Any]:
        results: dict[str, Any] = {}
        futures = self.client.get(graph, keys, sync=False)
        for future, result in self._finished(futures):
            if isinstance(result, BaseException):  # of a future that was cancelled
                raise result
            results[future.key] = result
            count()
        return [results[key] for key in keys]

    def _finished(self, futures: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        """The futures with their results, as they come.

        Raises
        ------
        ClusterError
            Where the cluster has had no worker for `LONELY` seconds: Dask itself would wait for ever.
        """
        waiting, seen = {future.key: future for future in futures}, time.monotonic()
        while waiting:
            some = find("distributed").as_completed(list(waiting.values()), with_results=True, timeout=LOOK)
            try:
                for future, result in some:
                    del waiting[future.key]
                    yield future, result
            except TimeoutError:
                if any(future.status == "error" for future in waiting.values()):
                    raise  # a task's own
                if self.client.status == "running" and self.client.nthreads():
                    seen = time.monotonic()
                elif time.monotonic() - seen > LONELY:
                    raise ClusterError(
                        f"Dask's cluster has had no worker for {LONELY:g} s: start some, and see their logs"
                    ) from None


@contextmanager
def failures_in_words(scratch: Store, resumable: Callable[[], str]) -> Generator[None]:
    """Turn what a cluster or a disk does into errors that say what to do; `resumable` ends the message."""
    try:
        yield
    except GraphPRIError:
        raise
    except (Exception, CancelledError) as error:
        if words := _of_a_cluster(error):
            raise ClusterError(f"{words}{resumable()}") from None
        if not isinstance(error, OSError):
            raise
        # `from error` would hide from the command line that a disk is full.
        where = error.filename or scratch.url
        raise FileError(f"{where}: can't be read or written: {error.strerror or error}{resumable()}") from error


def _of_a_cluster(error: Any) -> str:
    """What went wrong with a cluster, in words; nothing for other errors."""
    if "distributed" not in sys.modules:  # which takes long to import
        return ""
    distributed = find("distributed")
    lost = CancelledError, distributed.client.FutureCancelledError, distributed.comm.CommClosedError
    if isinstance(error, distributed.scheduler.KilledWorker):
        return (
            f"workers died again and again at the same task ({error.task}), most often for want of memory: give each "
            "more, or start fewer on a machine"
        )
    if isinstance(error, lost):
        return f"the connection to Dask's scheduler was lost ({_words(error)})"
    if isinstance(error, (TimeoutError, distributed.client.TimeoutError)):
        return f"Dask's scheduler does not answer ({_words(error)})"
    return ""


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class Journal:
    """What a run has done so far, in the scratch storage, so that another one can go on from there."""

    def __init__(self, store: Store, facts: dict[str, Any]) -> None:
        self.store, self.facts = store, facts

    def note(self, **facts: Any) -> None:
        """Write down what was done."""
        self.facts |= facts
        self.store.note(JOURNAL, self.facts)

    def __getitem__(self, name: str) -> Any:
        return self.facts.get(name)


class Numbers(NamedTuple):
    """How large the graph is, in how many blocks it lies, what its nodes are called by, and the range of weights.

    Where numbers with a `point` name nodes, such as 1.0, these are the integers that they are.
    """

    blocks: int
    edges: int
    nodes: int
    pair_edges: list[int]
    kinds: frozenset[str]
    notes: list[str]
    least: float
    most: float
    weighted: bool
    point: bool


class RowRules(NamedTuple):
    """What to do with self-loops, with rows that repeat an edge, and whether there must be weights."""

    loops: str
    parallel: str
    weights: bool = False


def read_all(cluster: Cluster, store: Store, parts: list[Part], reading: Reading, policies: RowRules) -> Numbers:
    """Read the input, number its nodes and deal its edges to pairs of blocks.

    Raises
    ------
    FileError
        For parts that are damaged or can't be read.
    GraphError
        For self-loops and repeated edges, named by part and row, unless the policies allow them.
    """
    store.make("blocks", "names", "edges", "tables", "states", "nodes", "flips", "bends")
    r = _sorted_rows(cluster, store, parts, reading, policies)
    width, named = FINE // r.blocks, ingest.TEXTS in r.kinds
    asked = np.unique(np.array([key for row in r.doubtful for key in row.keys], np.uint64))
    of = block_of(asked, r.blocks)
    texts = [slices(r.texts, block * width, (block + 1) * width) if named else None for block in range(r.blocks)]
    calls = [(ingest.number, store, block, r.blocks, texts[block], asked[of == block]) for block in range(r.blocks)]
    numbered = cluster.all("numbering", NUMBERING, r.rows, calls)
    if clash := next((one.clash for one in numbered if one.clash is not None), None):
        raise GraphError(f"the nodes {clash[0]!r} and {clash[1]!r} have the same 64-bit hash: rename one of them")
    calls = [(ingest.place, store, pair) for pair in pairs_of(r.blocks)]
    pair_edges = cluster.all("placing", PLACING, r.rows, calls)
    _remove_rows(store)
    nodes, least, most = sum(one.nodes for one in numbered), min(o.least for o in r.order), max(o.most for o in r.order)
    notes = [*r.notes, *_about_first_rows(r.doubtful, set().union(*(one.lonely for one in numbered)))]
    return Numbers(r.blocks, sum(pair_edges), nodes, pair_edges, r.kinds, notes, least, most, r.weighted, r.point)


def mark_all(
    cluster: Cluster, store: Store, parts: list[Part], reading: Reading, policies: RowRules, numbers: Numbers, url: str
) -> int:
    """Find the edges of another input, a part of the graph, and note what each weighs there; returns their number.

    Raises
    ------
    FileError
        For parts that are damaged or can't be read, and where one of both graphs has weights.
    GraphError
        As :func:`read_all`; and for an edge that the graph, read from `url`, doesn't have.
    """
    store.make("marks")
    reading = replace(reading, point=numbers.point)
    r = _sorted_rows(cluster, store, parts, reading, policies, numbers.blocks)
    if r.weighted != numbers.weighted:
        which = ("has weights", "has none") if r.weighted else ("has no weights", "has")
        raise FileError(f"{parts[0].name} {which[0]} and {url} {which[1]}: {IGNORE_WEIGHTS}")
    found = cluster.all("placing", 1.0, r.rows, [(ingest.mark, store, pair) for pair in pairs_of(numbers.blocks)])
    if keys := next((one.missing for one in found if one.missing is not None), None):
        where = _rows_with(cluster, r.every, reading, keys)[0]
        raise GraphError(f"{where}: {url} doesn't have that edge, and over parts the kept graph must be a part of it")
    _remove_rows(store)
    return sum(one.kept for one in found)


class _Rows(NamedTuple):
    """An input whose rows were dealt to pairs of blocks, and these sorted."""

    every: list[Piece]
    rows: int
    blocks: int
    order: list[Any]
    texts: list[Any]
    kinds: frozenset[str]
    notes: list[str]
    weighted: bool
    point: bool
    doubtful: list[FirstRow]


def _sorted_rows(
    cluster: Cluster,
    store: Store,
    parts: list[Part],
    reading: Reading,
    policies: RowRules,
    blocks: int | None = None,
) -> _Rows:
    """Deal the rows of an input to pairs of blocks, as many as their number asks for if that isn't given, and sort.

    Where that is given, the input is a part of a graph that was read before, whose nodes are called as they are there.
    """
    store.make("dealt", "texts", "sorted")
    found = cluster.all("looking at parts", 0.0, 0, [(pieces, part) for part in parts])
    every: list[Piece] = [piece for some in found for piece in some]
    check_room(store, sum(piece.rows for piece in every))
    dealt = _dealt(cluster, store, every, reading)
    decimals = reduce(Decimals.joined, (one.decimals for one in dealt), Decimals())
    notes: list[str] = []
    if blocks is None and decimals.are_integers:
        number = int(float(decimals.example))
        notes = [f"nodes such as {decimals.example} are called {number}, by the integers that they are"]
        reading = replace(reading, point=True)
        dealt = _dealt(cluster, store, every, reading)
    elif decimals.example and decimals.numbers:
        notes = [f"nodes are called by decimals, such as {decimals.example}"]
    notes += _about_loops(every, dealt, policies.loops)
    weighted = _about_weights(every, dealt, policies)
    rows = sum(one.rows - one.loops for one in dealt)
    if not rows:
        raise GraphError(f"the {len(parts)} parts have no edges")
    blocks = blocks_for(rows) if blocks is None else blocks
    files = [file for one in dealt for file in one.files]
    order = cluster.all(
        "sorting",
        SORTING,
        rows,
        [
            (ingest.sort_pair, store, pair, dealt_slices(files, pair, blocks), weighted, policies.parallel)
            for pair in pairs_of(blocks)
        ],
    )
    if repeats := sum(one.repeats for one in order):
        if policies.parallel == "refuse":
            keys = next(one.repeated for one in order if one.repeated is not None)
            _refuse_repeats(cluster, every, reading, keys, repeats, ("sum", "max") if weighted else ("first",))
        how = {"sum": "joined, weights added", "max": "joined, largest weight kept", "first": "left out"}
        notes.append(
            f"{repeats} {'row that repeats' if repeats == 1 else 'rows that repeat'} an edge {how[policies.parallel]}"
        )
    kinds = frozenset().union(*(one.kinds for one in dealt))
    texts = [file for one in dealt for file in one.texts]
    doubtful = [one.doubtful for one in dealt if one.doubtful is not None]
    return _Rows(every, rows, blocks, order, texts, kinds, notes, weighted, reading.point, doubtful)


def _about_first_rows(doubtful: list[FirstRow], lonely: set[int]) -> list[str]:
    """Note that a first row is read as an edge whose nodes have no other, so that it may name the columns."""
    found = next((row for row in doubtful if lonely.issuperset(row.keys)), None)
    if found is None:
        return []
    source, target = found.words
    remedy = f"pass {setting('source', source)} and {setting('target', target)} if it names the columns"
    return [
        Note(f"the first row of {found.part}, {', '.join(map(shorten, found.words))}, is read as an edge: {remedy}")
    ]


def _dealt(cluster: Cluster, store: Store, every: list[Piece], reading: Reading) -> list[Dealt]:
    return cluster.all(
        "reading", DEALING, 0, [(ingest.deal, store, piece, i, reading) for i, piece in enumerate(every)]
    )


def _remove_rows(store: Store) -> None:
    for folder in ("dealt", "texts", "sorted"):
        store.remove(folder)


def _about_weights(every: list[Piece], dealt: list[Dealt], policies: RowRules) -> bool:
    """Whether the edges have weights, which either all parts have or none."""
    with_weights = [(piece, one.weighted) for piece, one in zip(every, dealt, strict=True) if one.rows]
    weighted = any(has for _, has in with_weights)
    if weighted and not all(has for _, has in with_weights):
        (has, _), (lacks, _) = (next(o for o in with_weights if o[1] == wanted) for wanted in (True, False))
        raise FileError(
            f"{lacks.part.name} has no weights and {has.part.name} has: add them, or pass {setting('weight', None)} "
            "to take each edge for 1"
        )
    parallel = policies.parallel
    if policies.weights and not weighted:
        raise OptionError(f"{argument('method', 'weight')} needs weights, and the edges have none")
    if weighted and parallel == "first":
        raise OptionError(
            f"{argument('parallel', 'first')} can't be kept to where edges have weights: which row comes first hangs "
            f"on the partition: pass {setting('parallel', 'sum', 'max')}"
        )
    if not weighted and parallel in ("sum", "max"):
        raise OptionError(
            f"{argument('parallel', parallel)} is for weights, and the edges have none: pass "
            f"{setting('parallel', 'first')} to take each edge once"
        )
    return weighted


def _about_loops(every: list[Piece], dealt: list[Dealt], policy: str) -> list[str]:
    loops = sum(one.loops for one in dealt)
    if not loops:
        return []
    where = next(f"{piece.part.name}, row {one.loop}" for piece, one in zip(every, dealt, strict=True) if one.loops)
    text = f"{loops} self-loop{'s' * (loops > 1)}"
    if policy == "refuse":
        raise GraphError(f"{text}, the first in {where}: pass {setting('loops', 'drop')} to leave them out")
    return [f"{text} left out"]


def _refuse_repeats(
    cluster: Cluster,
    every: list[Piece],
    reading: Reading,
    keys: tuple[int, int],
    repeats: int,
    remedies: tuple[str, ...],
) -> None:
    places = _rows_with(cluster, every, reading, keys)
    what = f"{repeats} {'row repeats' if repeats == 1 else 'rows repeat'} an edge of another"
    remedy = setting("parallel", *remedies)
    raise GraphError(f"{what}, such as {places[1]}, that in {places[0]}: pass {remedy} to take each edge once")


def _rows_with(cluster: Cluster, every: list[Piece], reading: Reading, keys: tuple[int, int]) -> list[str]:
    """Where an edge, given by its keys, stands in the input."""
    rows = cluster.all("looking for rows", 0.0, 0, [(ingest.rows_with, piece, reading, keys) for piece in every])
    return [f"{piece.part.name}, row {row}" for piece, some in zip(every, rows, strict=True) for row in some]


def check_unchanged(before: list[Part], url: str) -> None:
    """Refuse an input that is no longer what was read.

    Raises
    ------
    FileError
        Names the part.
    """
    if difference := changed(before, listed(url)):
        raise FileError(f"{url}: {difference} while it was read: run again when its parts stay as they are")


def check_room(store: Store, rows: int) -> None:
    """Refuse a scratch disk that has no room for so many edges, where that is known."""
    import shutil

    if "file" not in store.fs.protocol:
        return
    needed, free = BYTES_AN_EDGE * rows, shutil.disk_usage(store.path()).free
    if needed > free:
        raise FileError(
            f"{store.url}: the scratch storage needs about {size_text(needed)} for {rows} rows, and {size_text(free)} "
            f"are free: name another place by {setting('scratch')}"
        )
