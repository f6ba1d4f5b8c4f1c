"""Progress on standard error, and interruptions that keep the best result so far."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from graphpri.cli.commands import say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from graphpri.solvers.solution import Progress

DELAY = 1.0
"""Seconds after which progress appears."""
_INTERVAL = 0.1

COMPILING = "compiling loops for large graphs, once on this machine"


class Watch:
    """Shows what is going on once it takes long, and takes interruptions (Ctrl-C, SIGTERM).

    An interruption is a KeyboardInterrupt, which the library raises as Interrupted with the best so far; `interrupted`
    says that there was one. Signals are left alone outside the main thread, and where they are ignored (in background
    jobs).

    Parameters
    ----------
    quiet : bool
        Show nothing. Without it, progress shows if standard error is a terminal, or a `console` is given.
    delay : float
        Seconds after which progress appears.
    console : rich.console.Console, optional
        Where to show it; standard error where absent.
    """

    def __init__(self, *, quiet: bool = False, delay: float = DELAY, console: Any = None) -> None:
        self.interrupted = False
        self._shown = not quiet and (console is not None or sys.stderr.isatty())
        self._delay, self._console = delay, console
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._bar: Bar | None = None
        self._text, self._fraction, self._updated = "", None, 0.0
        self._before: dict[int, Any] = {}
        self._gentle = False
        self._hooks = ExitStack()

    def __enter__(self) -> Watch:
        if self._shown:
            from graphpri._runtime import when_compiling

            self._hooks.enter_context(when_compiling(lambda: self.stage(COMPILING)))
            self._timer = threading.Timer(self._delay, self._open)
            self._timer.daemon = True
            self._timer.start()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._hooks.close()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._shown = False
            if self._bar is not None:
                self._bar.stop()

    @property
    def shows(self) -> bool:
        """Whether progress is shown."""
        return self._shown

    def stage(self, text: str) -> None:
        """Say what is being done; how much of it is done is not known until the next step."""
        self._show(text, None)

    def step(self, progress: Progress) -> bool:
        """Callback of the solvers: show a step; True asks them to stop."""
        text = f"{progress.stage} {progress.step}: {progress.edges} edges, J = {progress.objective:.4f}"
        return self.show(text, progress.fraction)

    def file(self, name: str) -> Callable[[str, float], object]:
        """Progress of reading or writing a file."""
        shown = name if name != "-" else "a stream"
        return lambda stage, share: self.show(f"{stage} {shown}", None if math.isnan(share) else share)

    def show(self, text: str, fraction: float | None) -> bool:
        """Say what is being done and how much of it is; True where the user has asked to stop."""
        now = time.monotonic()
        if self._shown and now - self._updated > _INTERVAL:
            self._updated = now
            self._show(text, fraction)
        return self.interrupted

    @contextmanager
    def gently(self) -> Generator[None]:
        """Within this, the first interruption only asks for a stop at the next step."""
        self._gentle = True
        try:
            yield
        finally:
            self._gentle = False

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        again, self.interrupted = self.interrupted, True
        if again or not self._gentle:
            raise KeyboardInterrupt
        say("stopping after this step; interrupt again to stop at once")

    def _show(self, text: str, fraction: float | None) -> None:
        with self._lock:
            self._text, self._fraction = text, fraction
            self._refresh()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if not self._shown:
                return
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
            console = self._console or Console(stderr=True)
            self._bar = Progress(*columns, console=console, transient=True)
            self._bar.add_task(self._text, total=None)
            self._bar.start()
            self._refresh()

    def _refresh(self) -> None:
        if self._bar is not None and self._bar.task_ids:
            total = None if self._fraction is None else 1.0
            self._bar.update(
                self._bar.task_ids[0], description=self._text, total=total, completed=self._fraction or 0.0
            )
