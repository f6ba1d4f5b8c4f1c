"""How much memory and how many threads one run may take."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from graphpri.cli.search import to_whole
from graphpri.errors import OptionError

_LIMITS = Group("Memory and threads", sort_key=40)


@Parameter(name="*", group=_LIMITS)
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one run, which go before those of the environment."""

    memory: Annotated[
        str | None,
        Parameter(
            metavar="SIZE",
            help="What a piece of work may take, such as 8GB: more is refused. GRAPHPRI_MEMORY, or what is free, "
            "where absent.",
        ),
    ] = None
    threads: Annotated[
        int | None,
        Parameter(
            converter=to_whole, help="For large graphs. GRAPHPRI_THREADS, or as many as there are cores, where absent."
        ),
    ] = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Within this, the limits hold."""
        wanted = self._variables()
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def _variables(self) -> dict[str, str]:
        from graphpri import memory, threads

        wanted: dict[str, str] = {}
        if self.memory is not None:
            wanted[memory.VARIABLE] = str(memory.parse_size(self.memory, "memory"))
        if self.threads is not None:
            if self.threads < 1:
                raise OptionError(f"--threads {self.threads}: give a whole number, 1 or more")
            wanted[threads.VARIABLE] = str(self.threads)
        return wanted


DEFAULT_LIMITS = Limits()
