"""How much memory there is, and refusing work that needs more before it begins."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from graphpri.errors import MemoryLimitError, OptionError

VARIABLE = "GRAPHPRI_MEMORY"
"""Environment variable that says how much memory one piece of work may take, such as 8GB; what is free where unset."""

UNASKED = 50 << 20
"""Bytes that work may take without a look at what is free; a limit that the user sets always counts."""

_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_MEMINFO = Path("/proc/meminfo")
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
    asked = os.environ.get(VARIABLE)
    return min([_free(), *_group_limits()]) if not asked else parse_size(asked)


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
    if needed <= UNASKED and not os.environ.get(VARIABLE):
        return
    there = available()
    if needed > there:
        whose = f"{VARIABLE} allows {size_text(there)}" if os.environ.get(VARIABLE) else f"{size_text(there)} are free"
        more = size_text(2 * needed, digits=0).replace(" ", "")
        raise MemoryLimitError(
            f"{what} needs about {size_text(needed)} of memory, and {whose}: {remedy}, or set {VARIABLE} "
            f"(--memory) to what it may take ({VARIABLE}={more})"
        )


def parse_size(text: str, name: str = VARIABLE) -> int:
    """Bytes that a text such as ``8GB``, ``1.5G`` or ``500 MiB`` says, in powers of 1024; messages call it `name`.

    Raises
    ------
    OptionError
        For any other text, and for nothing at all.
    """
    found = _SIZE.fullmatch(text.strip())
    size = int(float(found[1]) * 1024 ** _POWERS[found[2].upper()]) if found else 0
    if size < 1:
        raise OptionError(f"{name}={text!r} must be a size of memory such as 8GB or 500MB")
    return size


def size_text(size: float, digits: int = 1) -> str:
    """A number of bytes in words."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.{digits}f} {unit}"
        size /= 1024
    return f"{size:.{digits}f} TB"


def _free() -> int:
    try:
        found = re.search(r"^MemAvailable:\s*([0-9]+) kB", _MEMINFO.read_text(), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    names = getattr(os, "sysconf_names", {})
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if pages in names and "SC_PAGE_SIZE" in names:
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


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
