"""Settings of the examples in docstrings."""

import pytest


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies run in this process: starting others takes longer than what an example does."""
    monkeypatch.setenv("GRAPHPRI_THREADS", "1")


collect_ignore = ["conftest.py"]  # the tests have one of the same name
