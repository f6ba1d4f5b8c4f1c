"""Scratch storage that all workers share: arrays and facts in files, on a disk or at any URL that fsspec knows."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import MissingExtraError


def find(module: str) -> Any:
    """A module of the extra ``distributed``, imported when it is needed."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtraError(library, "distributed", "sparsifying over partitions") from None


@lru_cache(maxsize=16)
def _opened(url: str) -> tuple[Any, str]:
    return find("fsspec.core").url_to_fs(url)


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

    def path(self, name: str = "") -> str:
        """Where a file is, as the file system names it."""
        root = _opened(self.url)[1].rstrip("/")
        return f"{root}/{name}" if name else root

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file, or the folder itself."""
        self.fs.invalidate_cache()
        return bool(self.fs.exists(self.path(name)))

    def make(self, *folders: str) -> None:
        """Make the folder and some below it."""
        for folder in folders or ("",):
            self.fs.makedirs(self.path(folder), exist_ok=True)

    def remove(self, name: str = "") -> None:
        """Remove a file or folder, where it is there."""
        if self.exists(name):
            self.fs.rm(self.path(name), recursive=True)

    def read(self, name: str, start: int | None = None, stop: int | None = None) -> bytes:
        """Bytes of a file."""
        return self.fs.cat_file(self.path(name), start=start, end=stop)

    def write(self, name: str, data: bytes) -> int:
        """Write a file; returns its size."""
        with self.fs.open(self.path(name), "wb") as stream:
            stream.write(data)
        return len(data)

    def load(self, name: str) -> list[NDArray[Any]]:
        """Arrays of a file that :meth:`save` wrote."""
        stream, size = io.BytesIO(data := self.read(name)), 0
        size = len(data)
        arrays: list[NDArray[Any]] = []
        while stream.tell() < size:
            arrays.append(np.lib.format.read_array(stream, allow_pickle=False))
        return arrays

    def save(self, name: str, *arrays: NDArray[Any]) -> int:
        """Write arrays; returns the size of the file."""
        stream = io.BytesIO()
        for array in arrays:
            np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
        return self.write(name, cast("bytes", stream.getbuffer()))

    def facts(self, name: str) -> Any:
        """What JSON says in a file, or None where it is not there."""
        return json.loads(self.read(name)) if self.exists(name) else None

    def note(self, name: str, facts: Any) -> None:
        """Write facts as JSON, whole or not at all."""
        self.write(f"{name}.new", json.dumps(facts, indent=1).encode())
        self.fs.mv(self.path(f"{name}.new"), self.path(name))
