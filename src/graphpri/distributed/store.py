"""Scratch storage that all workers share: arrays and facts in files, on a disk or at any URL that fsspec knows."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError, MissingExtraError

_ALIGN = 64
"""Bytes to whose multiples arrays in a file begin, so that loops see them aligned."""


def find(module: str) -> Any:
    """A module of the extra ``distributed``, imported when it is needed."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtraError(library, "distributed", "sparsifying over partitions") from None


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a path or URL, and what it calls the place.

    Raises
    ------
    MissingExtraError
        Names the package that knows such URLs.
    FileError
        For a URL that no file system is known for, or that it can't open.
    """
    fsspec = find("fsspec.core")
    try:
        return fsspec.url_to_fs(url)
    except ImportError as error:
        package = getattr(error.__cause__, "name", None) or "fsspec[full]"
        raise MissingExtraError(package.partition(".")[0], None, url) from None
    except (ValueError, TypeError, OSError) as error:
        what = " ".join(str(error).split())
        raise FileError(f"{url}: not a path or a URL of a storage that fsspec knows, such as s3:// ({what})") from None


_opened = lru_cache(maxsize=16)(file_system)


@dataclass(frozen=True)
class Store:
    """A folder of files, named by their paths below it.

    A file is written whole: one that a dying worker leaves half written is written again, with the same bytes, by the
    worker that repeats its task, before anything reads it.

    Parameters
    ----------
    url : str
        A path, or a URL such as ``s3://bucket/folder``; every worker must be able to reach it.
    """

    url: str

    @property
    def fs(self) -> Any:
        """The file system."""
        return _opened(self.url)[0]

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine, whose files need no detour by fsspec."""
        return "file" in self.fs.protocol

    def path(self, name: str = "") -> str:
        """Where a file is, as the file system names it."""
        root = _opened(self.url)[1].rstrip("/")
        return f"{root}/{name}" if name else root

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file, or the folder itself."""
        self.fs.invalidate_cache()
        return bool(self.fs.exists(self.path(name)))

    def is_within(self, other: Store) -> bool:
        """Whether the folder is another one, or lies in it."""
        if self.fs is not other.fs and self.fs.protocol != other.fs.protocol:
            return False
        here, there = ((os.path.realpath(s.path()) if s.is_local else s.path()) for s in (self, other))
        return f"{here}/".startswith(f"{there}/")

    def check_parent(self) -> None:
        """Refuse a folder of this machine in one that is not there, so that none is left behind but this.

        A link to nowhere is refused as well: no folder can be made in its place.

        Raises
        ------
        FileError
            Names the missing one.
        """
        if self.is_local and os.path.islink(self.path()) and not self.exists():
            there = os.readlink(self.path())
            raise FileError(
                f"{self.url}: is a link to {there}, which is not there: make that folder, or remove the link"
            )
        if self.is_local and not os.path.isdir(parent := os.path.dirname(self.path())):
            raise FileError(f"{self.url}: can't be written, there is no directory {parent}: make it first")

    def make(self, *folders: str) -> None:
        """Make the folder and some below it."""
        for folder in folders or ("",):
            self.fs.makedirs(self.path(folder), exist_ok=True)

    def remove(self, name: str = "") -> None:
        """Remove a file or folder, where it is there."""
        if self.exists(name):
            self.fs.rm(self.path(name), recursive=True)

    def clear(self) -> None:
        """Remove what is in the folder."""
        if self.exists():
            for path in self.fs.ls(self.path(), detail=False):
                self.fs.rm(path, recursive=True)

    def remove_files(self, names: list[str]) -> None:
        """Remove files; some may be gone."""
        with suppress(FileNotFoundError):
            self.fs.rm([self.path(name) for name in names])

    def read(self, name: str, start: int = 0, stop: int | None = None) -> bytes:
        """Bytes of a file, from one to another or to its end.

        Raises
        ------
        FileError
            Where the file is missing, or ends before.
        """
        try:
            data = self._read(name, start, stop)
        except FileNotFoundError:
            raise self.damaged(name, "missing, or out of a worker's reach") from None
        if stop is not None and len(data) < stop - start:
            raise self.damaged(name, "cut short")
        return data

    def _read(self, name: str, start: int, stop: int | None) -> bytes:
        if not self.is_local:
            return self.fs.cat_file(self.path(name), start=start, end=stop)
        with open(self.path(name), "rb", buffering=0) as stream:
            stream.seek(start)
            return stream.read() if stop is None else stream.read(stop - start)

    def damaged(self, name: str, what: str) -> FileError:
        """The error about a file that is not as it was written."""
        return FileError(f"{self.url} is damaged: its file {name} is {what}: remove the folder, and begin anew")

    def write(self, name: str, data: bytes | memoryview) -> int:
        """Write a file; returns its size."""
        path = self.path(name)
        try:
            with open(path, "wb", buffering=0) if self.is_local else self.fs.open(path, "wb") as stream:
                stream.write(data)
        except OSError as error:
            error.filename = error.filename or path  # a full disk doesn't say which it is
            raise
        return len(data)

    def load(self, name: str) -> list[NDArray[Any]]:
        """Arrays of a file that :meth:`save` wrote; they are read-only views of its bytes.

        Raises
        ------
        FileError
            Where the file is missing, or not whole.
        """
        data = self.read(name)
        arrays: list[NDArray[Any]] = []
        try:
            at = data.index(b"\n") + 1
            for kind, shape in json.loads(data[:at]):
                at = -(-at // _ALIGN) * _ALIGN
                arrays.append(np.frombuffer(data, kind, math.prod(shape), at).reshape(shape))
                at += arrays[-1].nbytes
        except (ValueError, TypeError):
            raise self.damaged(name, "cut short, or not what was written") from None
        return arrays

    def save(self, name: str, *arrays: NDArray[Any]) -> int:
        """Write arrays, after a line of JSON that says their types and shapes; returns the size of the file."""
        head = json.dumps([(array.dtype.str, array.shape) for array in arrays]).encode() + b"\n"
        pieces: list[Any] = [head]
        size = len(head)
        for array in arrays:
            pieces += [bytes(-size % _ALIGN), np.ascontiguousarray(array).data.cast("B") if array.size else b""]
            size += -size % _ALIGN + array.nbytes
        return self.write(name, b"".join(pieces))

    def facts(self, name: str) -> Any:
        """What JSON says in a file, a dict, or None where it is not there."""
        if not self.exists(name):
            return None
        try:
            found = json.loads(self.read(name))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self.damaged(name, "cut short, or not what was written")
        return found

    def note(self, name: str, facts: Any) -> None:
        """Write facts as JSON, whole or not at all."""
        self.write(f"{name}.new", json.dumps(facts, indent=1).encode())
        self.fs.mv(self.path(f"{name}.new"), self.path(name))
