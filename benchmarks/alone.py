"""A measurement in a process of its own, so that its peak memory, threads and compiled code are its own.

A module of such measurements ends in ``answer(TASKS)``; ``alone(__file__, "task", …)`` runs one of them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphpri.errors import FileError

Task = Callable[..., dict[str, Any]]
_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def alone(
    script: str, task: str, *, threads: int | None = None, cache: Path | None = None, **job: Any
) -> dict[str, Any]:
    """Run a task of a script, with so many threads, compiled code being kept in `cache`.

    Where a data set is absent the only entry is ``missing``, which says so.
    """
    settings = {} if threads is None else {"GRAPHPRI_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    if cache is not None:
        settings["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, script, task, json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | settings)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def answer(tasks: Mapping[str, Task]) -> None:
    """Run the task that the command line names and print what it found as JSON."""
    if len(sys.argv) != 3 or sys.argv[1] not in tasks:
        raise SystemExit("this module is run by benchmarks/run.py (make bench)")
    try:
        found = tasks[sys.argv[1]](**json.loads(sys.argv[2]))
    except FileError as error:
        found = {"missing": str(error)}
    print(json.dumps(found))


def peak() -> float:
    """Largest resident memory of this process so far, in bytes."""
    # ru_maxrss would count the parent process, whose memory a child shares until it starts a program of its own.
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024.0
    size = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return size if sys.platform == "darwin" else size * 1024


def peak_from_here() -> None:
    """Forget the peak so far, where the system can do that."""
    with suppress(OSError):
        _RESET.write_text("5")
