"""A bar that shows how far a call is, in a notebook or in a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any

from graphpri._arguments import checked

_EVERY = 0.1  # seconds from one picture of the bar to the next
_WIDTH = 30


@checked
class ProgressBar:
    """A callback that shows a bar: ``graphpri.sparsify(G, 0.2, callback=graphpri.ProgressBar())``.

    It serves :func:`graphpri.sparsify`, :func:`graphpri.path` and :func:`graphpri.compare`. In a notebook the bar
    stands below the cell, elsewhere in one line of standard error.

    Parameters
    ----------
    label : str
        What stands before the bar.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> bar = graphpri.ProgressBar("karate")
    >>> result = graphpri.sparsify(nx.karate_club_graph(), 0.3, callback=bar)
    """

    def __init__(self, label: str = "") -> None:
        self.label = label
        self._last = -_EVERY
        self._handle: Any = None
        self._shell = _notebook()

    def __call__(self, progress: Any) -> None:
        """Show where a call is; anything with a ``fraction``, or with ``done`` of ``total``."""
        fraction = progress.fraction if hasattr(progress, "fraction") else progress.done / max(progress.total, 1)
        now = time.monotonic()
        if now - self._last < _EVERY and fraction < 1:
            return
        self._last = now
        self._show(float(min(max(fraction, 0.0), 1.0)), str(getattr(progress, "stage", "")))

    def _show(self, fraction: float, stage: str) -> None:
        text = " ".join(filter(None, (self.label, stage)))
        if self._shell is None:
            full = round(_WIDTH * fraction)
            end = "\n" if fraction >= 1 else ""
            sys.stderr.write(f"\r{text:<20} [{'#' * full}{'.' * (_WIDTH - full)}] {fraction:4.0%}{end}")
            sys.stderr.flush()
            return
        from html import escape

        html = f'{escape(text)} <progress value="{fraction:.3f}" max="1"></progress> {fraction:.0%}'
        if self._handle is None:
            self._handle = self._shell.display(self._shell.HTML(html), display_id=True)
        else:
            self._handle.update(self._shell.HTML(html))


def _notebook() -> Any:
    """What shows things in a notebook, where this runs in one; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import IPython.display  # pyright: ignore[reportMissingImports]

    return IPython.display
