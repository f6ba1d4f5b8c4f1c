"""Writing text: encoding, rows, and cells."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError

_LINES = 50_000


def write_text(stream: BinaryIO, name: str, lines: Iterable[str]) -> None:
    """Write lines, each with its own line break, as UTF-8.

    Raises
    ------
    FileError
        For text that no text file can hold: zero bytes and halves of surrogate pairs.
    """
    lines = iter(lines)
    while chunk := "".join(islice(lines, _LINES)):
        try:
            data = chunk.encode()
        except UnicodeEncodeError as error:
            raise FileError(f"{name}: {error.object[error.start]!r} is not a character that UTF-8 can hold") from None
        if b"\0" in data:
            line = next(text for text in chunk.split("\n") if "\0" in text)
            raise FileError(f"{name}: a text file can't hold the zero byte in {line[:100]!r}; npz can")
        stream.write(data)


def numbers_text(values: NDArray[Any]) -> list[str]:
    """An array of int or float dtype as text."""
    if values.dtype.kind == "f":
        return list(map(repr, values.astype(np.float64).tolist()))
    return list(map(str, values.tolist()))
