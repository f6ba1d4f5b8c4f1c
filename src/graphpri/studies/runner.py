"""Runs studies: pieces of work in processes, each kept when it is done, then tables, verdicts and pictures."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from graphpri import _runtime, datasets
from graphpri._arguments import checked
from graphpri._version import versions
from graphpri.errors import FileError, OptionError, argument
from graphpri.io import tables
from graphpri.io.pieces import Pieces
from graphpri.studies.catalogue import find
from graphpri.studies.study import Cell, Facts, Study, Tables, Verdict, save, style, untested

_LIBRARIES = ("numpy", "scipy", "networkx", "networkit", "pandas", "matplotlib")


class StudyProgress(NamedTuple):
    """Where a run stands: passed to the callback after each piece of work and each finished study.

    Examples
    --------
    >>> StudyProgress(3, 12, "karate").study
    'karate'
    """

    done: int
    total: int
    study: str


@dataclass(frozen=True)
class Result:
    """What a study found, as it stands in its folder.

    Parameters
    ----------
    study : Study
    folder : Path
        Its CSV files, pictures, ``facts.csv`` and ``verdicts.csv``.
    judged : tuple of Verdict
        With the names of facts.
    facts : Facts
    pictures : tuple of (name, caption)
    tables : tuple of (file name, number of rows)
    derived : tuple of str
        Names of those that were made from others, short enough to show.
    seconds : float
        Of work, summed over the pieces.
    quick : bool
    seed : int
    missing : tuple of str
        Data sets and libraries that it needs and that are not here; then it has not run.

    Examples
    --------
    >>> study = find("karate")
    >>> result = Result(study, Path("out"), quick=True, missing=("madrid",))
    >>> result.command
    'graphpri reproduce karate --quick --seed 0'
    >>> result.verdicts[0].outcome
    'not testable'
    """

    study: Study
    folder: Path
    judged: tuple[Verdict, ...] = ()
    facts: Facts = field(default_factory=Facts)
    pictures: tuple[tuple[str, str], ...] = ()
    tables: tuple[tuple[str, int], ...] = ()
    derived: tuple[str, ...] = ()
    seconds: float = 0.0
    quick: bool = False
    seed: int = 0
    missing: tuple[str, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts with facts in place of their names; where it has not run, the one that says why."""
        if not self.missing:
            return tuple(verdict.filled(self.facts.fill) for verdict in self.judged)
        why = f"the data sets {', '.join(self.missing)} are not here: set GRAPHPRI_DATA to their folder"
        if libraries := [name for name in self.missing if name in self.study.libraries]:
            why = f"{', '.join(libraries)} must be installed: pip install 'graphpri[brain]'"
        source = self.study.source
        return (Verdict(f"All claims of {source}", source, "not run", "not testable", why),)

    @property
    def command(self) -> str:
        """The command that does it again."""
        return f"graphpri reproduce {self.study.name}{' --quick' * self.quick} --seed {self.seed}"


class _Piece(NamedTuple):
    """A piece of work of a study, and the folder that keeps it when it is done."""

    study: str
    cell: Cell
    seed: int
    folder: Path

    @property
    def key(self) -> list[Any]:
        return [self.study, self.cell, self.seed]

    def is_done(self) -> bool:
        return Pieces(self.folder).has(self.key)

    def done(self) -> dict[str, Any]:
        """The tables, and how long they took: what is kept, or made now and kept."""
        return Pieces(self.folder).get(self.key, self._work)

    def _work(self) -> dict[str, Any]:
        start = time.perf_counter()
        with _runtime.single_thread():
            found = find(self.study).work(self.cell, self.seed)
        return {"seconds": time.perf_counter() - start, "tables": found}


@checked
def reproduce(
    names: Sequence[str],
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    seed: int = 0,
    fresh: bool = False,
    callback: Callable[[StudyProgress], object] | None = None,
) -> list[Result]:
    """Run studies and write what they find.

    Each has a folder of its own: its tables, the facts that its verdicts rest on, the verdicts, and its pictures.
    Pieces of work that an earlier run into the same folder has done, with the same seed, size and version, are
    not done again. The pieces run in as many processes as ``GRAPHPRI_THREADS`` says, and as there are cores otherwise.

    Parameters
    ----------
    names : sequence of str
        Studies, see :func:`graphpri.studies.names`.
    out : path
        Folder for all of them.
    quick : bool
        The small size, which takes seconds, instead of the paper's.
    seed : int
        Of everything random.
    fresh : bool
        Do every piece of work again.
    callback : callable, optional
        Gets a :class:`StudyProgress`; returning True stops, and what is done is kept.

    Returns
    -------
    list of Result
        In the order of `names`. A study whose data sets or libraries are not here has ``missing``, and has not run.

    Raises
    ------
    OptionError
        For no names, unknown ones, and a negative seed.
    FileError
        Where the folder can't be written.
    MissingExtraError
        Where pandas or matplotlib is not installed.
    KeyboardInterrupt
        Where the callback asked to stop.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     (result,) = reproduce(["lemma-3"], out, quick=True)
    ...     len(result.verdicts), (result.folder / "verdicts.csv").is_file()
    (1, True)
    """
    if not names:
        raise OptionError("no study: name one, see graphpri.studies.names()")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError(f"{argument('seed', seed)} must be a whole number, 0 or more")
    found = [find(name) for name in dict.fromkeys(names)]
    with style():
        pass
    root = _folder(Path(out))
    lacking = {study.name: _missing(study, quick) for study in found}
    pieces = {study.name: _pieces(study, root, quick, seed) for study in found if not lacking[study.name]}
    if fresh:
        for group in pieces.values():
            Pieces(group[0].folder).clear()
    _work([piece for group in pieces.values() for piece in group], callback)
    results: list[Result] = []
    for study in found:
        folder = root / study.name
        if lacking[study.name]:
            results.append(Result(study, folder, missing=lacking[study.name]))
            continue
        _collect(study, _folder(folder), pieces[study.name], quick, seed)
        results.append(conclude(study, folder))
    return results


def conclude(study: Study, folder: Path) -> Result:
    """Read a study's tables from its folder, judge them, draw them, and write verdicts and pictures.

    Raises
    ------
    FileError
        Where the study has not run, or a table is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     (first,) = reproduce(["lemma-3"], out, quick=True)
    ...     again = conclude(find("lemma-3"), first.folder)
    ...     again.verdicts == first.verdicts
    True
    """
    run = _run_file(folder)
    frames = {name: tables.read(folder / f"{name}.csv") for name in run["tables"]}
    derived = study.derive(frames) if study.derive else {}
    for name, frame in derived.items():
        tables.write(folder / f"{name}.csv", frame.to_dict("records"))
    frames |= derived
    facts = Facts()
    judged = tuple(study.judge(frames, facts))
    tables.write(folder / "facts.csv", [fact._asdict() for fact in facts.rows.values()])
    with style():
        pictures = study.draw(frames)
        for picture in pictures:
            save(picture.figure, folder, picture.name)
    result = Result(
        study=study,
        folder=folder,
        judged=judged,
        facts=facts,
        pictures=tuple((picture.name, picture.caption) for picture in pictures),
        tables=tuple((f"{name}.csv", len(frame)) for name, frame in frames.items()),
        derived=tuple(derived),
        seconds=run["seconds"],
        quick=run["quick"],
        seed=run["seed"],
    )
    tables.write(folder / "verdicts.csv", [row_of(verdict, result) for verdict in result.verdicts])
    return result


def row_of(verdict: Verdict, result: Result | None = None) -> dict[str, Any]:
    """A verdict as a row of ``verdicts.csv``.

    Examples
    --------
    >>> row_of(Verdict("S falls", "Section 3", "always", "reproduced"))["verdict"]
    'reproduced'
    """
    return {
        "study": result.study.name if result else "",
        "claim": verdict.claim,
        "source": verdict.source,
        "measured": verdict.measured,
        "verdict": verdict.outcome,
        "condition": verdict.condition,
        "command": result.command if result else "",
    }


def write_verdicts(results: Sequence[Result], out: str | os.PathLike[str]) -> None:
    """Write the verdicts of all studies, and the claims that no study tests, as one table, ``verdicts.csv``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     results = reproduce(["lemma-3"], out, quick=True)
    ...     write_verdicts(results, out)
    ...     (Path(out) / "verdicts.csv").is_file()
    True
    """
    rows = [row_of(verdict, result) for result in results for verdict in result.verdicts]
    tables.write(
        Path(out) / "verdicts.csv",
        rows + [row_of(verdict) for verdict in untested([result.study.name for result in results])],
    )


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: the folder can't be made: {error.strerror}") from error
    return path


def _missing(study: Study, quick: bool) -> tuple[str, ...]:
    """Libraries that the study needs and that are not installed, and data sets that can't be loaded."""
    absent = [name for name in study.libraries if find_spec(name) is None]
    for name in study.needs_quick if quick and study.needs_quick is not None else study.needs:
        kinds = ((datasets.scan_sets(), datasets.scans), (datasets.tables(), datasets.table))
        load = next((load for names, load in kinds if name in names), datasets.load)
        try:
            load(name)
        except FileError:
            absent.append(name)
    return tuple(absent)


def _pieces(study: Study, root: Path, quick: bool, seed: int) -> list[_Piece]:
    owner = study.shares or study.name
    return [_Piece(owner, cell, seed, root / owner / "pieces") for cell in study.cells(quick)]


def _work(pieces: list[_Piece], callback: Callable[[StudyProgress], object] | None) -> None:
    """Do the pieces that are not kept, in processes."""
    distinct = list({json.dumps([str(piece.folder), *piece.key], sort_keys=True): piece for piece in pieces}.values())
    waiting = [piece for piece in distinct if not piece.is_done()]
    done = len(distinct) - len(waiting)
    count = min(_runtime.workers(), len(waiting))
    for name in map(_do, waiting) if count < 2 else _in_processes(waiting, count):
        done += 1
        if callback is not None and callback(StudyProgress(done, len(distinct), name)) is True:
            raise KeyboardInterrupt


def _in_processes(pieces: list[_Piece], count: int) -> Iterator[str]:
    """Do pieces of work in new processes, in their order, since the longest come first; yields each when it is done.

    Processes are ended at once where something goes wrong, an interruption included. (joblib's own pool starts new
    processes where old ones have grown, and was seen to wait for ever for one of them.)
    """
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_start)
    try:
        with _held_signals():
            futures = [pool.submit(_do, piece) for piece in pieces]
        for future in as_completed(futures):
            yield future.result()
        pool.shutdown()
    except BaseException:
        workers = list(pool._processes.values())  # pyright: ignore[reportPrivateUsage]
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        raise


@contextmanager
def _held_signals() -> Generator[None]:
    """Interruptions wait until this is left; processes that are started within never see them, not even at first."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_SIGNALS = signal.SIGINT, signal.SIGTERM


def _start() -> None:
    """Prepare a process: one thread, and signals are left to the one that started it, whose end is its own too."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.environ[_runtime.THREADS_VARIABLE] = "1"
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, killed for example: nobody would read what it makes."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(piece: _Piece) -> str:
    """Do a piece of work and keep what it gave."""
    piece.done()
    return piece.study


def _collect(study: Study, folder: Path, pieces: list[_Piece], quick: bool, seed: int) -> None:
    """Join the tables of all pieces, in the order of the study's cells."""
    joined: Tables = {}
    seconds = 0.0
    for piece in pieces:
        kept = piece.done()
        seconds += kept["seconds"]
        for name, rows in kept["tables"].items():
            joined.setdefault(name, []).extend(rows)
    for name, rows in joined.items():
        tables.write(folder / f"{name}.csv", rows)
    run = {
        "study": study.name,
        "quick": quick,
        "seed": seed,
        "seconds": seconds,
        "tables": list(joined),
        "versions": versions(*_LIBRARIES),
    }
    tables.write_text(folder / "run.json", json.dumps(run, indent=2) + "\n")


def _run_file(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FileError(f"{path}: can't be read: run the study first, with 'graphpri reproduce'") from None
