"""What runs the library: the compiler of loops (numba), how much memory there is, and threads.

The compiler is known to this module only. It is imported when a loop is first called, which large graphs alone do: a
small one would wait longer for the compiler than for NumPy.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache, update_wrapper
from pathlib import Path
from threading import Lock, RLock
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from graphpri.errors import MemoryLimitError, OptionError, argument, setting

F = TypeVar("F", bound=Callable[..., Any])
_COMPILING = RLock()


@contextmanager
def _held_interrupts() -> Generator[None]:
    """Context that Ctrl-C can't leave half-way, as it would leave a module half imported: it acts at the end."""
    came: list[tuple[int, Any]] = []
    try:
        before = signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    except ValueError:  # only the main thread is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)
    if came and callable(before):
        before(*came[0])


_WHEN_COMPILING: list[Callable[[], object]] = []


@contextmanager
def when_compiling(tell: Callable[[], object]) -> Generator[None]:
    """Context in which `tell` is called when a loop that is not kept on disk yet is compiled, which takes seconds."""
    _WHEN_COMPILING.append(tell)
    try:
        yield
    finally:
        _WHEN_COMPILING.remove(tell)


@lru_cache(maxsize=1)
def _listen_to_compiler() -> None:
    from numba.core import event

    class Told(event.Listener):
        def on_start(self, event: Any) -> None:
            for tell in _WHEN_COMPILING:
                tell()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Told())


class _Loop:
    """A loop that is compiled at its first call, so that small graphs never wait for the compiler."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options
        self._made: Any = None

    def make(self) -> Any:
        """The compiled function; those that it calls are made first, and take their own places in its module."""
        with _COMPILING:
            if self._made is None:
                with _held_interrupts():
                    from numba import njit

                    _listen_to_compiler()
                jit, known = cast("Any", njit), self._function.__globals__
                for name in self._function.__code__.co_names:
                    if isinstance(known.get(name), _Loop):
                        known[name] = known[name].make()
                try:
                    self._made = jit(**self._options)(self._function)
                except RuntimeError:  # no folder to keep it in
                    self._made = jit(**(self._options | {"cache": False}))(self._function)
                if known.get(self._function.__name__) is self:
                    known[self._function.__name__] = self._made
            return self._made

    def __call__(self, *arguments: Any) -> Any:
        return self.make()(*arguments)


def compiled(function: F) -> F:
    """Compile a function of numbers and arrays at its first call; the result is kept on disk where that can be.

    It runs without the interpreter's lock, and divides by zero as NumPy does.
    """
    return cast("F", _Loop(cast("Any", function), {"nogil": True, "error_model": "numpy", "cache": True}))


def inlined(function: F) -> F:
    """Compile a function into each of its callers: a call of its own would count references to its arrays."""
    return cast("F", _Loop(cast("Any", function), {"inline": "always", "error_model": "numpy"}))


def merged(function: F) -> F:
    """Compile a function once for all its callers, into which LLVM then puts it: large ones compile faster so.

    Small ones are better off as :func:`inlined`, which are typed and compiled anew wherever they are called.
    """
    return cast("F", _Loop(cast("Any", function), {"forceinline": True, "error_model": "numpy"}))


MEMORY_VARIABLE = "GRAPHPRI_MEMORY"
"""Environment variable that says how much memory one piece of work may take, such as 8GB; what is free where unset."""

UNASKED = 50 << 20
"""Bytes that work may take without a look at what is free; a limit that the user sets always counts."""

_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def available() -> int:
    """Bytes of memory that work may take.

    What GRAPHPRI_MEMORY says, where it is set; otherwise what the system can give without swapping, within
    the limits of the control groups (containers, batch systems) that the process is in.

    Raises
    ------
    OptionError
        Where GRAPHPRI_MEMORY is not a size such as ``8GB`` or ``500M``.
    """
    asked = os.environ.get(MEMORY_VARIABLE)
    if asked:
        return parse_size(asked)
    import psutil

    return min([psutil.virtual_memory().available, *_group_limits()])


def require(needed: float, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than there is; asking for little costs a microsecond.

    Parameters
    ----------
    needed : float
        Estimate, in bytes.
    what : str
        The work, as the subject of "needs".
    remedy : str
        How to need less.

    Raises
    ------
    MemoryLimitError
        Says the estimate, what is available, and how to go on.
    """
    if needed <= UNASKED and not os.environ.get(MEMORY_VARIABLE):
        return
    there = available()
    if needed > there:
        whose = (
            f"{MEMORY_VARIABLE} allows {size_text(there)}"
            if os.environ.get(MEMORY_VARIABLE)
            else f"{size_text(there)} are free"
        )
        more = size_text(2 * needed, digits=0).replace(" ", "")
        raise MemoryLimitError(
            f"{what} needs about {size_text(needed)} of memory, and {whose}: {remedy}, or set {MEMORY_VARIABLE} "
            f"to what it may take ({setting('memory', more, python=f'{MEMORY_VARIABLE}={more}')})"
        )


def parse_size(text: str, name: str = MEMORY_VARIABLE) -> int:
    """Bytes that a text such as ``8GB``, ``1.5G`` or ``500 MiB`` says, in powers of 1024; messages call it `name`.

    Raises
    ------
    OptionError
        For any other text, and for nothing at all.
    """
    found = _SIZE.fullmatch(text.strip())
    size = int(float(found[1]) * 1024 ** _POWERS[found[2].upper()]) if found else 0
    if size < 1:
        raise OptionError(f"{argument(name, text)} must be a size of memory such as 8GB or 500MB")
    return size


def size_text(size: float, digits: int = 1) -> str:
    """A number of bytes in words."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.{digits}f} {unit}"
        size /= 1024
    return f"{size:.{digits}f} TB"


def _group_limits() -> Iterator[int]:
    """What is left in each control group of the process, of both versions; a group without a limit gives nothing."""
    try:
        lines = _MEMBERSHIP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root = _CGROUPS if not controllers else _CGROUPS / "memory"
        if controllers and "memory" not in controllers.split(","):
            continue
        names = ("memory.max", "memory.current") if not controllers else _VERSION_1
        inside = root / path.lstrip("/")
        for folder in (inside, *inside.parents):
            if folder.is_relative_to(root) and (left := _left(folder, *names)) is not None:
                yield left


_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def _left(folder: Path, limit: str, usage: str) -> int | None:
    try:
        most = (folder / limit).read_text().strip()
        if not most.isdecimal():  # "max"
            return None
        # Cached files count as used, and are given up when memory is short.
        cached = re.search(r"^(?:total_)?inactive_file ([0-9]+)", (folder / "memory.stat").read_text(), re.MULTILINE)
        used = int((folder / usage).read_text()) - (int(cached[1]) if cached else 0)
    except (OSError, ValueError):
        return None
    return max(int(most) - used, 0)


# ---------------------------------------------------------------------------------------------------------------------
# The time that a call may take.
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deadline:
    """When a call should end: so many seconds after it began, or never where that is None; a part of it may end before.

    Examples
    --------
    >>> Deadline(1e-9).is_over(), Deadline(60.0).is_over(), Deadline().is_over()
    (True, False, False)
    """

    seconds: float | None = None
    share: float = 1.0
    begun: float = field(default_factory=lambda: time.monotonic())

    def is_over(self, in_seconds: float = 0.0) -> bool:
        """Whether the time is up, or will be after so many seconds more."""
        return self.seconds is not None and time.monotonic() + in_seconds - self.begun > self.share * self.seconds

    def part(self, share: float) -> Deadline:
        """The deadline of a part of the call, which may take this share of the time."""
        return replace(self, share=share)


_DEADLINE = ContextVar[Deadline]("_DEADLINE")
_NEVER = Deadline()


@contextmanager
def within(limit: Deadline) -> Generator[None]:
    """Context in which whatever takes long looks at :func:`deadline`, and ends there with the best so far."""
    token = _DEADLINE.set(limit)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def deadline() -> Deadline:
    """The deadline of the work that is being done."""
    return _DEADLINE.get(_NEVER)


THREADS_VARIABLE = "GRAPHPRI_THREADS"
"""Environment variable that limits the library's own threads; all cores that the process may use where unset."""

CHUNK = 1 << 18
"""Edges or nodes that one task of :func:`in_chunks` takes: fixed, so that results don't depend on the threads."""

LARGE_GRAPH = 250_000
"""Edges from which compiled loops pay: below, NumPy and SciPy are done before the loops are loaded. Loops that gain
more have thresholds of their own."""


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@lru_cache(maxsize=1)
def _libraries() -> tuple[list[Any], list[Any]]:
    """Controllers of BLAS libraries: those whose number of threads the process has, and those where each thread has it.

    OpenBLAS over OpenMP is of the second kind.
    """
    found: dict[bool, list[Any]] = {False: [], True: []}
    for library in cast("list[Any]", _controller().lib_controllers):
        if library.user_api == "blas":
            own = library.internal_api == "openblas" and getattr(library, "threading_layer", "") == "openmp"
            found[own].append(library)
    return found[False], found[True]


def _set_threads(libraries: Iterable[tuple[Any, int]]) -> None:
    for library, count in libraries:
        library.set_num_threads(count)


class _Limit:
    """The number of threads of BLAS, which the process has once while calls may run side by side.

    The first call to want one thread sets it, and the last puts back what there was.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._before: list[tuple[Any, int]] = []
        self.renew_lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew_lock)  # another thread may have held it

    def renew_lock(self) -> None:
        self._lock = Lock()

    def begin(self) -> None:
        with self._lock:
            if not self._calls:
                self._before = [(library, library.num_threads) for library in _libraries()[0]]
                _set_threads((library, 1) for library, _ in self._before)
            self._calls += 1

    def end(self) -> None:
        with self._lock:
            self._calls -= 1
            if self._calls:
                return
            # threadpoolctl 3.8 lets the thread that set the number alone change it, unless it is told otherwise.
            clear = [getattr(library, "clear_controlling_thread", None) for library, _ in self._before]
            for let_go in filter(None, clear):
                let_go(force=True)
            _set_threads(self._before)
            for let_go in filter(None, clear):
                let_go(force=True)


_LIMIT = _Limit()


@contextmanager
def single_thread() -> Generator[None]:
    """Context in which BLAS uses one thread: faster on small matrices, and the same digits everywhere.

    Calls in several threads may be in it at the same time; BLAS has its threads back when the last of them leaves.
    """
    own = [(library, library.num_threads) for library in _libraries()[1]]
    _LIMIT.begin()
    try:
        _set_threads((library, 1) for library, _ in own)
        yield
    finally:
        _set_threads(own)
        _LIMIT.end()


_THREADS = ContextVar[int | None]("_THREADS", default=None)


@contextmanager
def in_threads(most: int | None) -> Generator[None]:
    """Context in which compiled loops run in at most so many threads; as many as otherwise where that is None."""
    token = _THREADS.set(_THREADS.get() if most is None else most)
    try:
        yield
    finally:
        _THREADS.reset(token)


def workers() -> int:
    """Number of threads that compiled loops run in.

    Raises
    ------
    OptionError
        Where the environment variable GRAPHPRI_THREADS is not a whole number of 1 or more.

    Examples
    --------
    >>> workers() >= 1
    True
    """
    chosen, asked = _THREADS.get(), os.environ.get(THREADS_VARIABLE)
    if chosen is not None:
        return chosen
    if not asked:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise OptionError(f"{THREADS_VARIABLE}={asked!r} must be a whole number of threads, 1 or more")
    return int(asked)


def in_chunks(task: Callable[[int, int], Any], size: int, chunk: int = CHUNK) -> list[Any]:
    """Run ``task(start, stop)`` over fixed pieces of 0…size, in threads; results in the order of the pieces.

    Parameters
    ----------
    task : callable
        Compiled code that releases the interpreter's lock and writes to nothing that another piece writes to.
    size : int
    chunk : int
        Length of a piece.
    """
    starts = range(0, size, chunk)
    pieces = [(start, min(start + chunk, size)) for start in starts]
    threads = min(workers(), len(pieces))
    if threads < 2:
        return [task(*piece) for piece in pieces]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(task, *zip(*pieces, strict=True)))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous view that can't be written to: loops are compiled for such arrays alone."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


T = TypeVar("T")
R = TypeVar("R")


def in_turn(make: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Results of a function for items in their order, made in threads while the next items are fetched."""
    threads = workers()
    if threads < 2:
        yield from map(make, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(pool.submit(make, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def compact(ids: NDArray[Any]) -> NDArray[Any]:
    """Integers as a copy in 4 bytes each where these hold them, in 8 otherwise."""
    limits = np.iinfo(np.int32)
    fits = not ids.size or (ids.min() >= limits.min and ids.max() <= limits.max)
    return ids.astype(np.int32 if fits else np.int64)


def joined(pieces: Sequence[NDArray[Any]], dtype: Any = None) -> NDArray[Any]:
    """The pieces as one read-only array; of their common type, where none is given."""
    array = np.concatenate(pieces, dtype=dtype, casting="unsafe") if pieces else np.zeros(0, dtype or np.int32)
    array.setflags(write=False)
    return array
