"""The gallery's scripts run as they stand, without a warning, and draw something."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("sklearn")

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("plot_*.py"))


@pytest.fixture(autouse=True)
def no_display() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pieces each figure has when it is shown."""
    pieces: list[int] = []

    def show() -> None:
        axes = plt.gcf().axes
        pieces.append(sum(len(ax.lines) + len(ax.collections) + len(ax.images) for ax in axes))
        assert all(ax.has_data() for ax in axes)
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    return pieces


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} >= {"plot_sparsify", "plot_compare", "plot_tasks", "plot_clustering"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_and_draws(
    path: Path, shown: list[int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    before = set(path.parent.iterdir())
    runpy.run_path(str(path), run_name="__main__")
    assert shown
    assert min(shown) > 0
    assert not plt.get_fignums(), "a figure was not shown"
    assert capsys.readouterr().out.strip()
    assert {new.name for new in set(path.parent.iterdir()) - before} <= {"__pycache__"}
