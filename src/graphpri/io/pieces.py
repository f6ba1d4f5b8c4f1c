"""Finished pieces of long work, kept in a folder, from which a run that was interrupted goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphpri._version import __version__
from graphpri.errors import FileError
from graphpri.graph import Graph
from graphpri.io import tables


class Pieces:
    """A folder of finished pieces, a file of JSON each, which is there whole or not at all.

    Files are named after a digest of the key and of the library's version. Each has a digest of what it holds, so that
    one that is empty, cut off or changed counts as none, and the piece is made again.

    Parameters
    ----------
    folder : Path or None
        Made where it is not there; None keeps nothing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pieces = Pieces(Path(folder))
    ...     first = pieces.get(["square", 3], lambda: {"found": 9})
    ...     again = pieces.get(["square", 3], lambda: None)
    ...     first == again, pieces.has(["square", 4])
    (True, False)
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, key: Sequence[Any], make: Callable[[], Any]) -> Any:
        """What is kept under a key; where nothing is, what `make` gives, which is kept.

        Parameters
        ----------
        key : sequence
            All that the piece depends on: numbers, texts, arrays and graphs (but for their labels), and lists and dicts
            of these.
        make : callable
            Makes the piece, of JSON's types; numbers of NumPy become those of Python. What it raises is raised, and
            nothing is kept.

        Returns
        -------
        object
            As JSON gives it back, whether it was kept or made: tuples are lists.

        Raises
        ------
        FileError
            Where the folder can't be written.
        TypeError
            For a key or a piece of other types.
        """
        if self.folder is None:
            return make()
        path = self._path(key)
        found = _read(path)
        if found is None:
            text = json.dumps(make(), default=_plain)
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FileError(f"{self.folder}: the folder can't be made: {error.strerror}") from None
            tables.write_text(path, f'{{"sha256": "{_sha256(text)}", "result": {text}}}\n')
            found = (json.loads(text),)
        return found[0]

    def has(self, key: Sequence[Any]) -> bool:
        """Whether the piece with this key is kept, and whole."""
        return self.folder is not None and _read(self._path(key)) is not None

    def clear(self) -> None:
        """Forget all pieces."""
        for path in [] if self.folder is None else self.folder.glob("*.json"):
            path.unlink(missing_ok=True)

    def _path(self, key: Sequence[Any]) -> Path:
        assert self.folder is not None
        digest = hashlib.sha256()
        for part in _bytes([__version__, *key]):
            digest.update(part)
        return self.folder / f"{digest.hexdigest()[:32]}.json"


NOTHING_KEPT = Pieces(None)


def _read(path: Path) -> tuple[Any] | None:
    """What a file holds, as a tuple of one; None where it is not there, or not as it was written."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        result = held["result"]
        return (result,) if held["sha256"] == _sha256(json.dumps(result)) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """An array or number of NumPy in JSON's types."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{value!r} can't be kept: it is a {type(value).__name__}")


def _bytes(value: Any) -> Iterator[bytes]:
    """Bytes that tell a key from any other."""
    if isinstance(value, Graph):
        value = ["graph", value.n_nodes, value.source, value.target, value.weights]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"array {value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.ndarray | np.generic):
        yield from _bytes(value.tolist())
    elif isinstance(value, Mapping):
        yield from _bytes(sorted(cast("Mapping[str, Any]", value).items()))
    elif isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        yield f"{len(items)} items".encode()
        for item in items:
            yield from _bytes(item)
    elif value is None or isinstance(value, str | bool | int | float):
        yield f"{type(value).__name__} {value!r};".encode()
    else:
        raise TypeError(f"a key can't have {value!r}: it is a {type(value).__name__}")
