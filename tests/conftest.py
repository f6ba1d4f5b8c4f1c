"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Test processes that run side by side share the cores: threads of BLAS and OpenMP would only wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

from hypothesis import settings

if TYPE_CHECKING:
    from graphpri.studies import Result

# A run in the background of a shell ignores Ctrl-C, and so would the commands that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Every run draws the same examples, so that a failure is there for everyone; look for new ones with
# `make test PYTEST_ARGS=--hypothesis-profile=explore`.
settings.register_profile("repeatable", max_examples=50, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("repeatable")

collect_ignore = ["conftest.py"]  # the sources have one of the same name


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and the programs that they run, leave the user's cache alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHPRI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def search_briefly(patch: pytest.MonkeyPatch) -> None:
    """Let searches of normal effort take as long as fast ones."""
    from graphpri.solvers.budgeted import EFFORTS

    patch.setitem(EFFORTS, "normal", EFFORTS["fast"])


def shorten_searches(patch: pytest.MonkeyPatch) -> None:
    """Let searches pass all of their stages, for a part of the time: brief ones leave stages out."""
    from graphpri.solvers.budgeted import EFFORTS

    patch.setitem(EFFORTS, "normal", replace(EFFORTS["normal"], work=0.15 * EFFORTS["normal"].work, check=0.1))


SEARCHING = {"test_docs": None, "test_processors": shorten_searches, "test_solvers": None, "test_sweeps": None}
"""How files search that are on the search itself, or on what it finds; None is as users do."""


@pytest.fixture(scope="module", autouse=True)
def searches(request: pytest.FixtureRequest) -> Iterator[None]:
    """Searches of normal effort are brief where a test is on what is done with a solution, whatever found it."""
    with pytest.MonkeyPatch.context() as patch:
        change = SEARCHING.get(request.path.stem, search_briefly)
        if change is not None:
            change(patch)
        yield


@pytest.fixture
def brief_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brief searches for one test of a file that else has others."""
    search_briefly(monkeypatch)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short searches for one test."""
    shorten_searches(monkeypatch)


@pytest.fixture(scope="session")
def quick_study(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """Runs a study in its quick size, with brief searches and training: once for all tests, in this process.

    Data are those that are shipped where the study says so.
    """
    from graphpri import studies
    from graphpri.apps.brain_models import MaskedGCN
    from graphpri.plot import as_bytes
    from graphpri.studies import runner
    from graphpri.studies.catalogue import find

    out = tmp_path_factory.mktemp("studies")

    def draw(figure: Any, folder: Path, name: str) -> None:
        """As SVG alone, and not laid out anew; the files that users get are drawn of one study (test_studies.py)."""
        figure.set_layout_engine("none")
        (folder / f"{name}.svg").write_bytes(as_bytes(figure, "svg"))

    @cache
    def run(name: str) -> Result:
        study = find(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GRAPHPRI_THREADS", "1")
            patch.setattr(runner, "save", draw)
            search_briefly(patch)
            patch.setattr("graphpri.apps.brain_methods.MaskedGCN", partial(MaskedGCN, epochs=15))
            if not (study.needs if study.needs_quick is None else study.needs_quick):
                patch.delenv("GRAPHPRI_DATA", raising=False)
            (found,) = studies.reproduce([name], out, quick=True)
        return found

    return run


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A test file at a time for each process; the tests of studies are for one process, which runs each study once."""
    from xdist.scheduler import LoadFileScheduling

    class BySubject(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "studies" if "test_studies" in file else file

    config.option.loadscopereorder = False  # in the order of collection, which is ours
    return BySubject(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """What collecting has made stays: else every full collection of garbage would walk over all tests again."""
    gc.collect()
    gc.freeze()


LONG = (
    *("test_studies", "test_cli", "test_docs", "test_distributed", "test_solvers", "test_sparsify", "test_sweeps"),
    *("test_explore_browser", "test_large_files", "test_explore", "test_processors", "test_brain_protocol"),
    *("test_stochastic", "test_baselines", "test_interruption", "test_pages", "test_integrations", "test_measures"),
)
"""Files that take longest, from the longest on."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: one that begins last is waited for by all other processes."""

    def place(item: pytest.Item) -> int:
        return next((i for i, name in enumerate(LONG) if item.path.name.startswith(name)), len(LONG))

    items.sort(key=place)


@pytest.fixture
def data() -> Path:
    """Folder of the data sets that are not shipped; the test is skipped where it isn't known."""
    folder = os.environ.get("GRAPHPRI_DATA")
    if not folder:
        pytest.skip("set GRAPHPRI_DATA to the folder of the data sets to run this")
    if not Path(folder).is_dir():
        pytest.fail(f"GRAPHPRI_DATA names {folder}, which is not a folder: correct or unset it")
    return Path(folder)
