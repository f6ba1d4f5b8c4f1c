"""Fixtures and settings of all tests."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def brief_searches() -> Iterator[None]:
    """Brief searches in this process, for files on what is done with a solution, whatever found it."""
    with pytest.MonkeyPatch.context() as patch:
        search_briefly(patch)
        yield


@pytest.fixture
def brief_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for one test."""
    search_briefly(monkeypatch)


def shorten_searches(patch: pytest.MonkeyPatch) -> None:
    """Let searches pass all of their stages, for a part of the time: brief ones leave stages out."""
    from graphpri.solvers.budgeted import EFFORTS

    patch.setitem(EFFORTS, "normal", replace(EFFORTS["normal"], work=0.15 * EFFORTS["normal"].work, check=0.1))


@pytest.fixture(scope="module")
def short_searches() -> Iterator[None]:
    """Short searches in this process, for files on what every stage must keep."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_searches(patch)
        yield


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for one test."""
    shorten_searches(monkeypatch)


@pytest.fixture(scope="session")
def quick_study(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """Runs a study in its quick size, with brief searches and training: once for all tests, in this process.

    Data are those that are shipped where the study says so.
    """
    from graphpri import studies
    from graphpri.apps.brain_models import MaskedGCN
    from graphpri.studies import figures
    from graphpri.studies.catalogue import find

    out = tmp_path_factory.mktemp("studies")

    @cache
    def run(name: str) -> Result:
        study = find(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GRAPHPRI_THREADS", "1")
            patch.setitem(figures._STYLE, "savefig.dpi", 60)
            search_briefly(patch)
            patch.setattr("graphpri.apps.brain_methods.MaskedGCN", partial(MaskedGCN, epochs=50))
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


LONG = (
    *("test_studies", "test_cli", "test_sparsify", "test_solvers", "test_docs", "test_processors", "test_sweeps"),
    *("test_explore_browser", "test_large_files", "test_measures", "test_explore", "test_integrations"),
    *("test_interruption", "test_brain_protocol", "test_stochastic", "test_io_formats", "test_scalar"),
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
