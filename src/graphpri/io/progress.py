"""How reading and writing say how far they are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str, float], object]
"""Called with a stage and the share of it that is done; see :func:`graphpri.io.read`."""

_SECONDS = 0.05


@dataclass
class Meter:
    """Passes on how far one stage is: now and then, and at its end."""

    stage: str
    progress: Progress | None
    _last: float = field(default=-math.inf, repr=False)

    def __call__(self, done: float, size: float | None = 1) -> None:
        """Say that `done` of `size` is done; a size of None is unknown."""
        if self.progress is None:
            return
        share = math.nan if not size else min(done / size, 1.0)
        now = time.monotonic()
        if share == 1 or now - self._last >= _SECONDS:
            self._last = now
            self.progress(self.stage, share)
