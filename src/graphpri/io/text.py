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
        data = chunk.encode(errors="surrogatepass")
        check_text(data, name)
        stream.write(data)


def check_text(data: bytes, name: str) -> None:
    """Refuse text that no text file can hold, with a FileError."""
    if b"\0" in data:
        line = next(text for text in data.split(b"\n") if b"\0" in text).decode(errors="surrogatepass")
        raise FileError(f"{name}: a text file can't hold the zero byte in {line[:100]!r}; npz can")
    if b"\xed" in data:  # with which the halves of surrogate pairs begin, and other characters
        try:
            data.decode()
        except UnicodeDecodeError as error:
            half = data[error.start : error.start + 3].decode(errors="surrogatepass")
            raise FileError(f"{name}: {half!r} is not a character that UTF-8 can hold") from None


def numbers_text(values: NDArray[Any]) -> list[str]:
    """An array of int or float dtype as text."""
    if values.dtype.kind == "f":
        return list(map(repr, values.astype(np.float64).tolist()))
    return list(map(str, values.tolist()))
