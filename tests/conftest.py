"""Fixtures and settings of all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A run in the background of a shell ignores Ctrl-C, and so would the commands that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Every run draws the same examples, so that a failure is there for everyone; look for new ones with
# `make test PYTEST_ARGS=--hypothesis-profile=explore`.
settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and the programs that they run, leave the user's cache alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHPRI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def quick_studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that all tests run the studies' quick sizes into, so that each piece of work is done once."""
    return tmp_path_factory.mktemp("studies")


@pytest.fixture
def data() -> Path:
    """Folder of the data sets that are not shipped; the test is skipped where it isn't known."""
    folder = os.environ.get("GRAPHPRI_DATA")
    if not folder:
        pytest.skip("set GRAPHPRI_DATA to the folder of the data sets to run this")
    if not Path(folder).is_dir():
        pytest.fail(f"GRAPHPRI_DATA names {folder}, which is not a folder: correct or unset it")
    return Path(folder)
