"""What is interrupted is no result: runs stop, keep nothing unfinished, and end as if they had been left alone."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import graphpri
from graphpri import _runtime, studies
from graphpri._runtime import Deadline, deadline, single_thread, within
from graphpri.apps import mtl_report
from graphpri.cli import main
from graphpri.errors import FileError, Interrupted
from graphpri.io.pieces import Pieces
from graphpri.solvers import gumbel
from graphpri.studies import karate

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from interruptions import Moment, content, run

KARATE = nx.karate_club_graph()


def press(*_: Any, **__: Any) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


class PressedAt:
    """A function that is interrupted at one of its calls, once."""

    def __init__(self, function: Callable[..., Any], call: int) -> None:
        self.function, self.call, self.calls = function, call, 0

    def __call__(self, *given: Any, **options: Any) -> Any:
        self.calls += 1
        if self.calls == self.call:
            raise KeyboardInterrupt
        return self.function(*given, **options)


# Pieces


@pytest.fixture
def pieces(tmp_path: Path) -> Pieces:
    return Pieces(tmp_path / "pieces")


def test_a_piece_is_made_once_and_comes_back_as_it_was(pieces: Pieces) -> None:
    made = {"a": [1, 0.1 + 0.2, None, "é"], "b": np.float64(1 / 3), "c": np.arange(3), "d": (True, np.bool_(False))}
    plain = {"a": [1, 0.1 + 0.2, None, "é"], "b": 1 / 3, "c": [0, 1, 2], "d": [True, False]}
    assert pieces.get(["key"], lambda: made) == plain
    assert pieces.get(["key"], press) == plain
    assert pieces.get(["nan"], lambda: float("nan")) != pieces.get(["nan"], press)  # NaN, both times
    assert pieces.has(["key"])
    pieces.clear()
    assert not pieces.has(["key"])


def test_other_keys_are_other_pieces(pieces: Pieces) -> None:
    graph = graphpri.Graph.from_edges([0, 1], [1, 2])
    keys: list[list[Any]] = [
        *([1], ["1"], [1.0], [True], [None], [1, 2], [[1, 2]], [[1], 2], [{"a": 1}], [{"b": 1}]),
        *([np.arange(3)], [np.arange(3.0)], [np.zeros((2, 3))], [np.zeros((3, 2))]),
        *([graph], [graphpri.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0])], []),
    ]
    found = [pieces.get(key, lambda i=i: i) for i, key in enumerate(keys)]
    assert found == list(range(len(keys)))
    assert pieces.get([{"x": 1, "y": 2}], lambda: "first") == pieces.get([{"y": 2, "x": 1}], press)
    with pytest.raises(TypeError, match="a key can't have"):
        pieces.get([object()], lambda: 1)


def test_nothing_is_kept_of_a_piece_that_is_interrupted(pieces: Pieces) -> None:
    with pytest.raises(KeyboardInterrupt):
        pieces.get(["key"], press)
    assert not pieces.has(["key"])
    assert pieces.get(["key"], lambda: 3) == 3


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda held: b"",
    "cut off": lambda held: held[: len(held) // 2],
    "a digit changed": lambda held: held.replace(b"25", b"26"),
    "no text": lambda held: b"\xff\x00" + held,
    "something else": lambda held: b"[1, 2]",
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_piece_is_made_again(how: str, pieces: Pieces) -> None:
    pieces.get(["key"], lambda: {"value": 25})
    assert pieces.folder is not None
    (path,) = pieces.folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(DAMAGE[how](whole))
    assert path.read_bytes() != whole
    assert not pieces.has(["key"])
    assert pieces.get(["key"], lambda: {"value": 25}) == {"value": 25}
    assert path.read_bytes() == whole


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file"):
        Pieces(tmp_path / "file" / "pieces").get(["key"], lambda: 1)


# Studies


@pytest.fixture
def short_karate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study karate with Algorithm 1's fewest steps and no verdicts, in this process."""
    kinds = [("equation", 0, 0.0), ("equation", 2, 0.0)]
    monkeypatch.setenv("GRAPHPRI_THREADS", "1")
    monkeypatch.setattr("graphpri.studies.runner.conclude", lambda study, folder: folder)
    study = studies.find("karate")
    cells = [karate._run(kind, 0, 100) for kind in kinds]
    monkeypatch.setitem(vars(study), "cells", lambda quick: cells)


@pytest.mark.usefixtures("short_karate")
def test_a_study_interrupted_within_algorithm_one_ends_as_if_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies.reproduce(["karate"], tmp_path / "alone", quick=True)
    monkeypatch.setattr(gumbel._Run, "_adam", function := pressed(gumbel._Run._adam, 150))
    with pytest.raises(KeyboardInterrupt):
        studies.reproduce(["karate"], tmp_path / "cut", quick=True)
    assert function.calls == 150
    assert len(list((tmp_path / "cut" / "karate" / "pieces").iterdir())) == 1
    studies.reproduce(["karate"], tmp_path / "cut", quick=True)
    assert function.calls == 250
    assert content(tmp_path / "cut") == content(tmp_path / "alone") != {}


def pressed(method: Callable[..., Any], call: int) -> Any:
    """A method that is interrupted at one of its calls."""
    held = PressedAt(method, call)

    def again(self: Any, *given: Any) -> Any:
        again.calls += 1  # type: ignore[attr-defined]
        return held(self, *given)

    again.calls = 0  # type: ignore[attr-defined]
    return again


@pytest.mark.skipif(os.name == "nt", reason="no signals of this kind")
def test_a_study_that_is_cut_ends_as_if_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fixed part of benchmarks/interruptions.py: a run is cut twice, with one and with two workers."""
    monkeypatch.setenv("GRAPHPRI_THREADS", "1")
    studies.reproduce(["assumption"], tmp_path / "alone", quick=True)
    command = ["reproduce", "assumption", "--quick", "-q", "--out", str(tmp_path / "cut")]
    for workers, moment in ((2, Moment(signal.SIGKILL, pieces=1)), (1, Moment(signal.SIGTERM, pieces=3))):
        ended = run(command, workers, moment)
        assert (ended.cut, ended.code != 0) == (True, True), ended.error
        assert content(tmp_path / "cut") == {}
    assert ended.error.startswith("graphpri: interrupted; the same command goes on where it was")
    studies.reproduce(["assumption"], tmp_path / "cut", quick=True)
    found = content(tmp_path / "cut")
    assert found == content(tmp_path / "alone")
    assert {"assumption/verdicts.csv", "assumption/run.json"} <= found.keys()


# Comparisons and pages


def test_a_comparison_that_is_interrupted_has_its_finished_rows_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(**options: Any) -> Any:
        return graphpri.compare(KARATE, ["pri", "random"], [0.3, 0.6], effort="fast", measures=CHEAP, **options)

    alone = compared(store=tmp_path / "alone")
    steps: list[Any] = []
    monkeypatch.setattr("graphpri._compare.sparsify", cut := PressedAt(graphpri.sparsify, 3))
    with pytest.raises(Interrupted) as stop:
        compared(store=tmp_path / "rows", callback=steps.append)
    assert [row["K"] for row in stop.value.result] == [23, 47]
    assert len(list((tmp_path / "rows").iterdir())) == 2
    again = compared(store=tmp_path / "rows")
    assert cut.calls == 5  # three, and the two that were left
    assert without_times(again) == without_times(alone) == without_times(compared())
    assert again.notes == alone.notes


CHEAP = ["entropy", "divergence"]


def without_times(table: Any) -> list[dict[str, Any]]:
    return [row | {"seconds": 0} for row in table]


def test_a_comparison_interrupted_in_its_first_row_has_nothing_to_show() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphpri._compare.sparsify", press)
        with pytest.raises(KeyboardInterrupt) as stop:
            graphpri.compare(KARATE, ["random"], [0.3])
    assert not isinstance(stop.value, Interrupted)


def test_a_page_that_is_interrupted_has_the_beta_that_are_solved_and_goes_on(tmp_path: Path) -> None:
    def explored(**options: Any) -> Any:
        return graphpri.explore(KARATE, beta=[1, 2, 4], keep=[8], methods=[], layout=np.zeros((34, 2)), **options)

    stages: list[str] = []

    def press_at_the_third(progress: Any) -> None:
        stages.append(progress.stage.partition(",")[0])
        if len(set(stages)) == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        explored(store=tmp_path / "solved", callback=press_at_the_third)
    page = stop.value.result
    assert (page.betas, page.interrupted) == ((1, 2), True)
    assert len(list((tmp_path / "solved").iterdir())) == 2
    heard: list[str] = []
    again = explored(store=tmp_path / "solved", callback=lambda progress: heard.append(progress.stage))
    before_search = heard[: next(i for i, stage in enumerate(heard) if "local search" in stage)]
    assert {stage.partition(",")[0] for stage in before_search} == {"beta 4"}
    assert again.html == explored().html
    with pytest.raises(KeyboardInterrupt) as at_once:
        explored(callback=press)
    assert not isinstance(at_once.value, Interrupted)


# Multi-task regression


@pytest.fixture
def exams(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(96, 3)), columns=["hours", "age", "score"])
    frame["school"] = np.repeat(list("abcdef"), 16)
    frame.to_csv(tmp_path / "exams.csv", index=False)
    return tmp_path / "exams.csv"


def test_an_interrupted_regression_goes_on_with_the_folds_that_are_done(
    exams: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--task", "school", "--target", "score", "--keep", "0.8", "--min-degree", "2", "--folds", "3", "-q"]
    command = ["mtl", str(exams), *options, "-o"]
    assert main([*command, str(tmp_path / "alone")]) == 0
    monkeypatch.setattr(mtl_report, "evaluate", cut := PressedAt(mtl_report.evaluate, 3))
    out = tmp_path / "cut"
    assert main([*command, str(out)]) == 1
    assert "the same command goes on where it was" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["pieces"]
    assert len(list((out / "pieces").iterdir())) == 2
    assert main([*command, str(out)]) == 0
    assert cut.calls == 4
    assert tables(out) == tables(tmp_path / "alone")


def tables(folder: Path) -> dict[str, bytes]:
    """The tables; the report names its folder."""
    found = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    assert len(found) == 4
    return found


def test_results_of_a_run_that_was_killed_while_it_wrote_them_may_be_written_over(
    exams: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["mtl", str(exams), "--task", "school", "--target", "score", "--k", "2", "--min-degree", "1", "-q"]
    command += ["--folds", "2", "--keep", "0.9", "-o", str(tmp_path / "out")]
    (tmp_path / "out").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(mtl_report, "write", cut_in_the_middle)
        assert main(command) == 1
    assert (tmp_path / "out" / "comparison.csv").read_text() == "half"
    assert main(command) == 0
    assert (tmp_path / "out" / "comparison.csv").read_text() != "half"
    assert main(command) == 2  # and those of one that is complete may not


def cut_in_the_middle(outcome: Any, request: Any, out: Path, *names: str) -> None:
    (out / "comparison.csv").write_text("half")
    raise KeyboardInterrupt


# Threads of BLAS, and deadlines


@pytest.fixture
def two_threads() -> Iterator[None]:
    """BLAS with two threads, as on a machine with two cores."""
    limits = threadpool_limits(2, "blas")
    let_go_of_blas()
    if blas_threads() != {2}:
        pytest.skip("this BLAS has one thread")
    yield
    limits.restore_original_limits()
    let_go_of_blas()


def let_go_of_blas() -> None:
    """Let any thread set the number of threads, where threadpoolctl (3.8) leaves that to the first that did."""
    for library in ThreadpoolController().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("first_ends_first", [True, False])
def test_blas_has_its_threads_back_after_calls_side_by_side(first_ends_first: bool) -> None:
    inside, ends = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]
    seen: list[set[int]] = []

    def work(i: int) -> None:
        with single_thread(), single_thread():
            inside[i].set()
            ends[i].wait()
            seen.append(blas_threads())

    workers = [threading.Thread(target=work, args=(i,), daemon=True) for i in (0, 1)]
    for i, worker in enumerate(workers):
        worker.start()
        inside[i].wait()
    for i in (0, 1) if first_ends_first else (1, 0):
        ends[i].set()
        workers[i].join()
        assert blas_threads() == ({1} if workers[1 - i].is_alive() else {2})
    assert seen == [{1}, {1}]


@pytest.mark.usefixtures("two_threads")
def test_blas_has_its_threads_back_after_interruptions_and_errors() -> None:
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error), single_thread():
            raise error
    assert blas_threads() == {2}


def test_a_deadline_is_that_of_the_innermost_call_and_of_its_thread() -> None:
    assert deadline().seconds is None
    with within(Deadline(5.0)):
        with within(Deadline()):
            assert deadline().seconds is None
        assert deadline().seconds == 5
        other: list[Deadline] = []
        worker = threading.Thread(target=lambda: other.append(deadline()))
        worker.start()
        worker.join()
        assert other[0].seconds is None
    assert deadline().seconds is None


def test_a_part_of_a_deadline_ends_before_it() -> None:
    whole = Deadline(100.0, begun=Deadline().begun - 60)
    assert not whole.is_over()
    assert whole.part(0.5).is_over()
    assert json.dumps(whole.seconds) == "100.0"


def test_an_interrupt_waits_until_the_compiler_is_imported() -> None:
    done: list[bool] = []

    def load() -> None:
        with _runtime._held_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        load()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
