"""Graphs too large for the memory of one machine: files of edges in, files of kept edges out, on a Dask cluster.

The search is that of :mod:`graphpri.solvers.sweeps`, on blocks of nodes that a hash of their ids deals: a task plays
the edges between two blocks, and whatever runs the tasks, the result is the same. docs/machines.md says when that pays,
and how a cluster is set up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Literal

from graphpri._arguments import WORDS, checked, real, whole
from graphpri._entropy.stochastic import TARGET
from graphpri._objective import BUDGET_BETA, Mixture, check_beta
from graphpri._runtime import workers
from graphpri._selection import count_edges
from graphpri._version import __version__
from graphpri.distributed.choices import Criterion
from graphpri.distributed.estimates import STEP, STEPS, Asked, estimated
from graphpri.distributed.moves import Wrote
from graphpri.distributed.pairs import Setting
from graphpri.distributed.parts import Reading, listed
from graphpri.distributed.run import (
    READING,
    Cluster,
    Journal,
    Numbers,
    RowRules,
    Step,
    check_unchanged,
    connect,
    failures_in_words,
    mark_all,
    read_all,
)
from graphpri.distributed.search import Measured, Passes, WeightedPasses
from graphpri.distributed.store import Store, find
from graphpri.errors import ClusterError, FileError, Note, OptionError, argument, marked, setting
from graphpri.measures.information import Estimates, check_estimate
from graphpri.measures.registry import Unit

__all__ = ["Manifest", "Step", "connect", "estimate", "sparsify"]

MANIFEST = "_manifest.json"
"""Named so that what reads a folder of parquet (pyarrow, pandas, Dask, Spark) passes it over."""
FORMAT = 1
COLUMNS = "source", "target"
THREADS = 8
"""Most threads of a process; where cores are more, they are shared out to several processes."""


@dataclass(frozen=True)
class Manifest:
    """What a folder of kept edges holds; the file ``_manifest.json`` in it, which is written last, says the same.

    Attributes
    ----------
    input : str
        As it was given.
    nodes, edges, kept : int
        N, M and K.
    nodes_cut_off : int
        Nodes that have lost all of their edges.
    objective, entropy, entropy_original, divergence : float
        J, S of the kept graph and of the original, and D, by the entropy of the settings, in nats.
    settings : dict
        What was asked for.
    notes : list of str
        What was left out of the input, and what may have been meant otherwise.
    versions : dict
        Of the libraries that the result may hang on.
    parts : list of dict
        Name, rows, bytes and SHA-256 of each file.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facts = {"input": "edges/", "nodes": 3, "edges": 2, "kept": 1, "nodes_cut_off": 1, "objective": 1.1}
    ...     facts |= {"entropy": 0.7, "entropy_original": 1.0, "divergence": 0.05, "settings": {}, "notes": []}
    ...     text = json.dumps({"format": 1, **facts, "versions": {}, "parts": []})
    ...     _ = pathlib.Path(folder, "_manifest.json").write_text(text)
    ...     Manifest.read(folder).kept
    1
    """

    input: str
    nodes: int
    edges: int
    kept: int
    nodes_cut_off: int
    objective: float
    entropy: float
    entropy_original: float
    divergence: float
    settings: dict[str, Any]
    notes: list[str]
    versions: dict[str, str]
    parts: list[dict[str, Any]]

    @classmethod
    def read(cls, output: str) -> Manifest:
        """The manifest of a folder of kept edges, whose parts are checked to be there with their sizes.

        Raises
        ------
        FileError
            Where there is none, or a part is missing or of another size.
        """
        store = Store(output)
        facts = store.facts(MANIFEST)
        if facts is None:
            raise FileError(f"{output}: no {MANIFEST} there: the run that wrote into it did not come to its end")
        if facts.pop("format", None) != FORMAT:
            raise FileError(f"{output}: its {MANIFEST} was written by a newer graphpri")
        found = cls(**facts)
        for part in found.parts:
            if not store.exists(part["name"]) or store.fs.size(store.path(part["name"])) != part["bytes"]:
                raise FileError(f"{output}: its part {part['name']} is missing or damaged")
        return found

    def __repr__(self) -> str:
        return (
            f"Manifest({self.kept} of {self.edges} edges kept by {self.settings.get('method')}, "
            f"J={self.objective:.4f}, S={self.entropy:.4f}, D={self.divergence:.4f}; {len(self.parts)} parts)"
        )


@checked
def sparsify(
    input: str,
    output: str,
    *,
    keep: float | int,
    beta: float = BUDGET_BETA,
    alpha: float = 0.0,
    entropy: Literal["auto", "degree", "local"] = "auto",
    method: Literal["pri", "random", "weight", "local-degree"] = "pri",
    seed: int = 0,
    weight: str | None = "weight",
    connected: bool = False,
    loops: Literal["refuse", "drop"] = "refuse",
    parallel: Literal["refuse", "first", "sum", "max"] = "refuse",
    source: str | None = None,
    target: str | None = None,
    client: Any = None,
    scratch: str | None = None,
    resume: bool = False,
    callback: Callable[[Step], object] | None = None,
) -> Manifest:
    """Keep the informative edges of a graph that lies in parts, on as many machines as a Dask cluster has.

    The result is the same for any number of workers, and for any order and partition of the rows.

    Parameters
    ----------
    input : str
        A folder of parts, one part, or a pattern such as ``"edges/2026-*.parquet"``: a path, or a URL that fsspec
        knows. Parts are parquet, or delimited text (``.csv``, ``.tsv``, ``.txt``, zipped as well), a row an edge; ids
        are integers or text. CSV parts are read by a task each: many of moderate size are read faster than one.
    output : str
        Folder for the kept edges: parquet with the columns ``source`` and ``target``, the weights under their name,
        and ``_manifest.json``, written last. It must not exist, or be empty.
    keep : float in (0, 1] or int
        Share or number of edges to keep.
    beta : float
        Weight of the divergence.
    alpha : float
        Weight of the degree barrier.
    entropy : {"auto", "degree", "local"}
        ``"auto"`` is the degree entropy.
    method : {"pri", "random", "weight", "local-degree"}
        To compare with: ``"random"`` keeps edges drawn by lot, ``"weight"`` the heaviest, and ``"local-degree"``
        those to each node's neighbours of highest degree.
    seed : int
        For what these draw, and for ties: lots hang on it and on the ids of an edge's ends.
    weight : str or None
        Name of the column of weights, which all parts have or none; the third one of text without a header. None
        takes every edge for 1.
    connected : bool
        Refused: a spanning forest of a graph in parts takes many rounds over all edges.
    loops : {"refuse", "drop"}
        What to do with self-loops.
    parallel : {"refuse", "first", "sum", "max"}
        What to do with rows that repeat an edge, in either direction: ``"first"`` takes each edge once, and where
        there are weights ``"sum"`` adds them and ``"max"`` takes the largest.
    source, target : str, optional
        Columns of the ends; by usual names where absent, and the first two of text without a header.
    client : dask.distributed.Client, optional
        Of a cluster whose workers can reach input, output and scratch. Where absent, the tasks run in threads of
        this process, one for each core (``GRAPHPRI_THREADS`` limits them). From nine cores on it starts a local
        cluster of processes with up to eight threads each; a script that does so needs the line
        ``if __name__ == "__main__":`` before the call, as Python starts the workers anew.
    scratch : str, optional
        Folder for what is needed meanwhile, about 30 bytes an edge, a path or URL that all workers can reach, apart
        from the output and not there yet. Beside the output where absent. It is removed when all is written, and stays
        when a run fails after the input was read, for `resume`.
    resume : bool
        Go on from what a run with the same input and settings left in `scratch`.
    callback : callable, optional
        Called with a :class:`Step` now and then.

    Returns
    -------
    Manifest

    Raises
    ------
    OptionError
        For options that can't be used.
    FileError
        For parts that are damaged or changed meanwhile, an output that exists, and a disk that is full.
    GraphError
        For self-loops and repeated edges, named by part and row.
    ClusterError
        Where workers or the scheduler die; what was done can be resumed.
    MissingExtraError
        Where Dask is not installed.

    Examples
    --------
    >>> import graphpri.distributed
    >>> graphpri.distributed.sparsify("edges/", "kept/", keep=0.3, connected=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: connected=True can't be kept to over parts: a spanning forest ...
    """
    check_beta(beta)
    real("alpha", alpha)
    if keep <= 0 or (isinstance(keep, float) and keep > 1):
        raise OptionError(f"{argument('keep', keep)} must be {WORDS['keep']}")
    whole("seed", seed)
    if connected:
        raise OptionError(
            f"{argument('connected', True)} can't be kept to over parts: a spanning forest of what is kept takes "
            "rounds over all edges, each waiting for the one before. Sparsify without it, or in memory on one machine"
        )
    _check_running(source, target, client)
    by = "degree" if entropy == "auto" else entropy
    asked = {"keep": keep, "beta": beta, "alpha": alpha, "entropy": by, "method": method, "seed": seed}
    settings = asked | {"loops": loops, "parallel": parallel, "weight": weight, "source": source, "target": target}
    places = Store(output), Store(scratch or f"{output.rstrip('/')}.scratch")
    job = _Job(input, *places, settings, weight, resume, places[0].exists())
    job.check_places()
    parts = listed(input)
    with failures_in_words(job.scratch, job.how_to_resume):
        journal = job.begin(parts)
        try:
            with _connected(client) as own:
                result = job.run(Cluster(own, callback), parts, journal)
        except BaseException as error:
            job.clean(error)
            if isinstance(error, KeyboardInterrupt) and (words := job.how_to_resume()):
                error.args = (ClusterError(words.removeprefix("; ")),)
            raise
    job.scratch.remove()
    return result


@checked
def estimate(
    input: str,
    kept: str | None = None,
    *,
    beta: float = BUDGET_BETA,
    alpha: float = 0.0,
    error: float = TARGET,
    probes: int | None = None,
    seed: int = 0,
    mixture: Mixture = "equation",
    unit: Unit = "nats",
    weight: str | None = "weight",
    loops: Literal["refuse", "drop"] = "refuse",
    parallel: Literal["refuse", "first", "sum", "max"] = "refuse",
    source: str | None = None,
    target: str | None = None,
    client: Any = None,
    scratch: str | None = None,
    callback: Callable[[Step], object] | None = None,
) -> Estimates:
    """Von Neumann entropy of a graph in parts, and divergence and objective of what is kept of it, with error bars.

    The method of :func:`graphpri.estimate`, on vectors that lie in files; graphs of up to 250 000 edges are estimated
    by one task, in memory. The result is the same for any number of workers, and for any order and partition of the
    rows.

    Parameters
    ----------
    input : str
        As in :func:`sparsify`.
    kept : str, optional
        Another input, whose edges are edges of the first: what :func:`sparsify` wrote, or any folder of parts.
        Weights there may be new ones. Without it only the entropy of `input` is estimated.
    beta, alpha : float
        Of the objective.
    error, probes, mixture, unit
        As in :func:`graphpri.estimate`; of graphs of more than 250 000 edges probes come in blocks of 8.
    seed : int
        For the probes, which hang on it and on the ids of the nodes.
    weight, loops, parallel, source, target
        As in :func:`sparsify`, for both inputs.
    client, callback
        As in :func:`sparsify`.
    scratch : str, optional
        Folder for what is needed meanwhile, about 40 bytes an edge and 200 a node, a path or URL that all workers can
        reach. Beside `kept` or, without it, `input` where absent. It is removed at the end.

    Returns
    -------
    Estimates
        As :func:`graphpri.estimate`; above 250 000 edges small components too are estimated.

    Raises
    ------
    OptionError, FileError, ClusterError, MissingExtraError
        As :func:`sparsify`.
    GraphError
        As :func:`sparsify`, and for an edge of `kept`, named by part and row, that `input` doesn't have.

    Examples
    --------
    >>> import graphpri.distributed
    >>> graphpri.distributed.estimate("edges/", error=0.0)
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: error=0.0 must be a finite number above 0
    """
    in_unit = check_estimate(beta, alpha, error, probes, seed, unit)
    _check_running(source, target, client)
    url = scratch or f"{(kept or input).rstrip('/')}.scratch"
    if scratch is None and ("*" in url or "?" in url):
        raise OptionError(f"an input given by a pattern has no place beside it: pass {setting('scratch')}")
    store, reading, policies = Store(url), Reading(source, target, weight), RowRules(loops, parallel)
    store.check_parent()
    if store.exists():
        raise FileError(f"{store.url}: exists already: name another place by {setting('scratch')}, or remove it")
    inputs = {url: listed(url) for url in (input, kept) if url is not None}
    asked = Asked(mixture, beta, alpha, error * in_unit, probes, seed)
    with failures_in_words(store, lambda: ""), _connected(client) as own:
        store.make()
        try:
            cluster = Cluster(own, callback, READING * len(inputs) + 3 * STEP * STEPS)
            numbers = read_all(cluster, store, inputs[input], reading, policies)
            if kept is not None:
                mark_all(cluster, store, inputs[kept], reading, policies, numbers, input)
            for url, parts in inputs.items():
                check_unchanged(parts, url)
            values, barrier = estimated(cluster, store, numbers, asked, is_pair=kept is not None)
            if kept is None:
                return Estimates(values[0].over(in_unit))
            s, original, d, j = (value.over(in_unit) for value in values)
            return Estimates(s, original, d, j.plus(barrier))
        finally:
            store.remove()


def _check_running(source: str | None, target: str | None, client: Any) -> None:
    """Refuse columns and clients that can't be used, and a missing library."""
    if (source is None) != (target is None):
        raise OptionError(f"{setting('source')} and {setting('target')} go together: pass both")
    for library in ("dask", "pyarrow", "fsspec"):
        find(library)
    if client is not None and not isinstance(client, find("distributed").Client):
        raise OptionError(f"{argument('client', client)} must be a client of dask.distributed")


class _connected:
    """The client that was given, or threads of this process, or a local cluster; what was started ends with it.

    Compiled loops run without the interpreter's lock, so that threads, which start at once and share what they hand
    on, are enough until the rest of the work waits for that lock.
    """

    def __init__(self, client: Any) -> None:
        self.given = client
        self.client: Any = client
        self.cluster: Any = None

    def __enter__(self) -> Any:
        threads = workers()
        processes = -(-threads // THREADS)
        if self.given is None and processes == 1:
            self.client = ThreadPoolExecutor(threads)
        elif self.given is None:
            distributed = find("distributed")
            self.cluster = distributed.LocalCluster(
                n_workers=processes,
                threads_per_worker=-(-threads // processes),
                dashboard_address=":0",
                silence_logs=50,
            )
            self.client = distributed.Client(self.cluster)
        return self.client

    def __exit__(self, *_: object) -> None:
        if self.cluster is not None:
            self.client.close()
            self.cluster.close()
        elif self.given is None:
            self.client.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Job:
    """One run: where it reads and writes, and what was asked."""

    input: str
    output: Store
    scratch: Store
    settings: dict[str, Any]
    weight: str | None
    resume: bool
    had_output: bool

    def check_places(self) -> None:
        """Refuse an output that is there already, and folders of which one would be read or removed with another."""
        if self.output.exists() and self.output.fs.ls(self.output.path()):
            raise FileError(f"{self.output.url}: exists already: name another folder, or remove it first")
        if self.output.is_within(self.scratch) or self.scratch.is_within(self.output):
            raise FileError(
                f"{self.scratch.url}: the scratch folder, which is removed at the end, and the output "
                f"{self.output.url} must lie apart: name another place by {setting('scratch')}"
            )
        if self.output.is_within(Store(self.input)):
            raise FileError(
                f"{self.output.url}: lies in the input {self.input}, where what is written would be read as its parts: "
                "name another folder"
            )
        for store in (self.output, self.scratch):
            store.check_parent()

    def how_to_resume(self) -> str:
        """The end of a message about a run that failed."""
        if self.scratch.facts("journal.json") is None:
            return ""
        return f"; {self.scratch.url} has what was done: pass {setting('resume', True)} to go on from there"

    def begin(self, parts: list[Any]) -> Journal:
        """The journal of a run to resume, or a new one."""
        facts = {"graphpri": __version__, "settings": self.settings, "parts": [list(part) for part in parts]}
        found = self.scratch.facts("journal.json")
        if not self.resume:
            if found is not None:
                raise FileError(
                    f"{self.scratch.url}: an unfinished run left it: pass {setting('resume', True)} to go on "
                    "from there, or remove it"
                )
            if self.scratch.exists():
                raise FileError(
                    f"{self.scratch.url}: exists already, and no run left it: name a scratch folder that is not there "
                    f"yet by {setting('scratch')}; it is removed at the end"
                )
            self.scratch.make()
            journal = Journal(self.scratch, facts)
            journal.note()
            return journal
        if found is None:
            raise FileError(f"{self.scratch.url}: there is no run to resume: leave {setting('resume', True)} out")
        if facts.keys() - found.keys():
            raise self.scratch.damaged("journal.json", "not what was written")
        if found["graphpri"] != __version__:
            raise FileError(
                f"{self.scratch.url}: graphpri {found['graphpri']} began the run there, and this is {__version__}: go "
                "on with that version, or remove the folder and begin anew"
            )
        for name, asked in self.settings.items():
            if (before := found["settings"].get(name)) != asked:
                raise FileError(
                    f"{self.scratch.url}: the run there has {argument(name, before)}, not {argument(name, asked)}: "
                    "resume it with that, or remove the folder and begin anew"
                )
        if found["parts"] != facts["parts"]:
            raise FileError(f"{self.input}: its parts are not those that the run in {self.scratch.url} has read")
        return Journal(self.scratch, found)

    def run(self, cluster: Cluster, parts: list[Any], journal: Journal) -> Manifest:
        """All stages."""
        reading = Reading(self.settings["source"], self.settings["target"], self.weight)
        if journal["numbers"] is None:
            needs = self.settings["method"] == "weight"
            policies = RowRules(self.settings["loops"], self.settings["parallel"], needs)
            numbers = read_all(cluster, self.scratch, parts, reading, policies)
            check_unchanged(parts, self.input)
            plain = {"kinds": sorted(numbers.kinds), "notes": list(map(marked, numbers.notes))}
            journal.note(numbers=numbers._asdict() | plain)
        facts = journal["numbers"]
        numbers = Numbers(**facts | {"kinds": frozenset(facts["kinds"]), "notes": list(map(Note, facts["notes"]))})
        k = count_edges(self.settings["keep"], numbers.edges)
        search = self._search(cluster, numbers, k, journal)
        last = search.run()
        measured = search.measured(last)
        wrote = search.write(self.output, last, [*COLUMNS, str(self.weight)] if numbers.weighted else list(COLUMNS))
        check_unchanged(parts, self.input)
        return self._finish(numbers, k, measured, wrote)

    def _search(self, cluster: Cluster, numbers: Numbers, k: int, journal: Journal) -> Passes:
        beta, alpha, method = (self.settings[name] for name in ("beta", "alpha", "method"))
        by = {"random": "lots", "weight": "heaviest", "local-degree": "scores"}.get(method)
        choice = None if by is None else Criterion(by, self.settings["seed"])
        setting = Setting(
            beta=beta,
            alpha=alpha,
            k=k,
            edges=numbers.edges,
            local=self.settings["entropy"] == "local",
            weighted=numbers.weighted,
            least=numbers.least,
            most=numbers.most,
            trace=2.0 * k,
            total=2.0 * numbers.edges,
        )
        of_kind = WeightedPasses if numbers.weighted else Passes
        return of_kind(cluster, self.scratch, numbers, setting, journal, choice)

    def _finish(self, numbers: Numbers, k: int, measured: Measured, wrote: list[Wrote]) -> Manifest:
        rows = sum(one.rows for one in wrote)
        if rows != k:
            raise RuntimeError(f"{rows} edges were written and {k} asked for")
        versions = {name: version(name) for name in ("dask", "distributed", "numpy", "pyarrow")}
        manifest = Manifest(
            self.input,
            numbers.nodes,
            numbers.edges,
            k,
            measured.cut_off,
            float(measured.terms.objective),
            float(measured.terms.entropy),
            float(measured.original),
            float(measured.terms.divergence),
            self.settings,
            numbers.notes,
            {"graphpri": __version__} | versions,
            [one._asdict() for one in wrote],
        )
        self.output.note(MANIFEST, {"format": FORMAT} | asdict(manifest))
        return manifest

    def clean(self, error: BaseException) -> None:
        """Leave no part of an output, and no scratch where there is nothing to resume."""
        if self.had_output:
            self.output.clear()  # a folder that was there stays
        else:
            self.output.remove()
        facts = self.scratch.facts("journal.json")
        if facts is None or facts.get("numbers") is None or isinstance(error, OptionError) or self._is_changed(facts):
            self.scratch.remove()

    def _is_changed(self, facts: dict[str, Any]) -> bool:
        """Whether the input is no longer what was read, so that nothing can go on from there."""
        try:
            return [list(part) for part in listed(self.input)] != facts["parts"]
        except FileError:
            return True
