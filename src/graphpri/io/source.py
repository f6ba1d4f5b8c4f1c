"""The reading side of a file: options, opening, gzip, encodings, limits, and errors that name file and line."""

from __future__ import annotations

import difflib
import gzip
import io
import math
import os
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._runtime import require, size_text
from graphpri.errors import FileError, OptionError, argument, setting

ProgressCallback = Callable[[str, float], object]
"""Called with a stage and the share of it that is done; see :func:`graphpri.io.read`."""

_SECONDS = 0.05


@dataclass
class Meter:
    """Passes on how far one stage is: now and then, and at its end."""

    stage: str
    progress: ProgressCallback | None
    _last: float = field(default=-math.inf, repr=False)

    def __call__(self, done: float, size: float | None = 1) -> None:
        """Say that `done` of `size` is done; a size of None is unknown."""
        if self.progress is None:
            return
        share = math.nan if not size else min(done / size, 1.0)
        now = time.monotonic()
        if share == 1 or now - self._last >= _SECONDS:
            self._last = now
            self.progress(self.stage, share)


CHUNK = 1 << 20
LINE_LIMIT = 1 << 20
LONG_LINE_LIMIT = 1 << 26
_LARGE = 1 << 26
_UNZIPPED = 1 << 24  # bytes up to which nothing is asked
_ZIPPED = 2  # an edge list is at least twice as large as its gzip
_MAGIC = {
    b"PK\x03\x04": "a zip archive, such as npz or xlsx",
    b"PAR1": "a parquet file",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"%PDF": "a PDF file",
    b"\x89PNG": "a PNG picture",
    b"\x89HDF": "an HDF5 file",
}


@dataclass(frozen=True)
class ReadOptions:
    """Choices of :func:`graphpri.io.read` that only some formats know."""

    header: bool | None = None
    delimiter: str | None = None
    comment: str | None = "auto"
    label: str | None = None
    source: str | None = None
    target: str | None = None
    variable: str | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "comment"):
            if getattr(self, name) == "":
                raise OptionError(f"{argument(name, '')} is no text: leave it out, or pass {setting(name, None)}")

    def changed(self) -> set[str]:
        """Names of the options that differ from their default."""
        return {f.name for f in fields(self) if getattr(self, f.name) != f.default}


@dataclass(frozen=True)
class InputStream:
    """An open binary stream, already unzipped, and the name it goes by in messages.

    Parameters
    ----------
    name : str
    stream : binary stream
    path : Path or None
        The regular file that the stream reads, if it does.
    size : int or None
        Bytes of the file or buffer below, zipped where it is zipped; None where that can't be told.
    position : callable or None
        How many of these have been read.
    meter : Meter
        Hears how far reading is.
    """

    name: str
    stream: BinaryIO
    path: Path | None = None
    size: int | None = None
    position: Callable[[], int] | None = None
    meter: Meter = field(default_factory=lambda: Meter("reading", None), repr=False)
    _needs: dict[str, float] = field(default_factory=dict[str, float], repr=False)

    @property
    def zipped(self) -> bool:
        """Whether the content is larger than the file."""
        return isinstance(self.stream.below if isinstance(self.stream, Tape) else self.stream, gzip.GzipFile)

    @property
    def unzipped_size(self) -> int | None:
        """Bytes of the content, at least; None where that can't be told."""
        return None if self.size is None else self.size * (_ZIPPED if self.zipped else 1)

    def require(self, per_byte: float, remedy: str) -> None:
        """Refuse a file that takes more memory than there is, `per_byte` bytes for each byte of its content."""
        self._needs.clear()
        self._needs[remedy] = per_byte
        if self.size is not None and self.size > _LARGE:
            require(per_byte * (self.unzipped_size or 0), f"{self.name}: reading it", remedy)

    def taped(self) -> tuple[InputStream, Tape]:
        """The same source, and what brings it back to its start after some of it was read."""
        tape = Tape(self.stream, seekable=self.path is not None)
        return replace(self, stream=cast("BinaryIO", tape)), tape

    def error(self, message: str, line: int | None = None) -> FileError:
        """Make an error that names this file, and a line of it where given."""
        return FileError(message, where=f"{self.name}, line {line}" if line else self.name)

    def check_nodes(self, n: int, n_listed: int, line: int | None = None) -> int:
        """Refuse a number of nodes out of all proportion to what the file lists, as a damaged header gives."""
        most = min(2**31 - 1, 10**7 + 100 * n_listed)
        if n > most:
            raise self.error(f"{n} nodes are declared, and a file of this size can have {most}: is it damaged?", line)
        return n

    def row_name(self, lines: Sequence[int] | NDArray[Any], what: str = "line") -> Callable[[int], str]:
        """Name a row of a table by the line it stands in."""
        numbers = lines if isinstance(lines, range) else np.asarray(lines, np.int64)
        return lambda row: f"{self.name}, {what} {numbers[row]}"

    def chunks(self) -> Iterator[bytes]:
        """Content in pieces of at most `CHUNK` bytes; a stream that breaks off is a FileError.

        What is unzipped may be a thousand times as large as the file: every so often what is there by then is asked
        for, by what :meth:`require` was told or as held once.
        """
        size, known = 0, _UNZIPPED
        while chunk := self._next():
            size += len(chunk)
            if self.zipped and size >= known:
                known = size + size // 4
                remedy, per_byte = next(iter(self._needs.items()), ("split it", 1.0))
                require(per_byte * size, f"{self.name}: unzipping it beyond {size_text(size)}", remedy)
            if self.position is not None:
                self.meter(self.position(), self.size)
            yield chunk

    def _next(self) -> bytes:
        try:
            return self.stream.read(CHUNK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.damaged(error) from None
        except OSError as error:
            raise self.error(f"can't be read: {error.strerror or error}") from None

    def damaged(self, error: Exception) -> FileError:
        """The error about gzip data that can't be unzipped."""
        return self.error(f"the gzip data is cut off or damaged ({error}): fetch or make the file again")

    def content(self) -> bytes:
        """Everything, for binary formats."""
        data = b"".join(self._held(self.chunks()))
        if not data:
            raise self.error("the file is empty")
        return data

    def _held(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The same pieces, of which the whole is held twice in a moment: in pieces and joined."""
        self._needs.setdefault("split it", 2.0)
        return iter(chunks)

    def text(self, line_limit: int = LINE_LIMIT) -> bytes:
        r"""Everything as UTF-8 without a byte order mark, every line ended by ``\n``.

        Parameters
        ----------
        line_limit : int
            Longest line accepted, in bytes; found out before the rest is read.

        Raises
        ------
        FileError
            For empty, binary and non-UTF-8 content, and for a line beyond the limit.
        """
        data = b"".join(self._held(self._checked(line_limit))).removeprefix(b"\xef\xbb\xbf")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not data.strip(b" \t\n"):
            raise self.error("the file is empty")
        if not data.isascii():
            self._check_utf8(data)
        return data if data.endswith(b"\n") else data + b"\n"

    def _checked(self, line_limit: int) -> Iterator[bytes]:
        run, line = 0, 1
        for chunk in self.chunks():
            if line == 1 and run == 0 and (kind := _known_binary(chunk)):
                raise self.error(f"is not plain UTF-8 text: it is {kind}")
            if (zero := chunk.find(b"\0")) >= 0:
                where = line + _breaks(chunk[:zero])
                raise self.error("is not text: it holds a zero byte, so it is binary or damaged", where)
            flat = chunk.replace(b"\r", b"\n")
            first = flat.find(b"\n")
            run += first if first >= 0 else len(flat)
            if run > line_limit:
                raise self.error(f"the line is longer than {line_limit} bytes: is this the right format?", line)
            if first >= 0:
                line += _breaks(chunk)
                run = len(flat) - flat.rfind(b"\n") - 1
            yield chunk

    def _check_utf8(self, data: bytes) -> None:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self.error(
                f"byte 0x{data[error.start]:02x} is not UTF-8 text: convert the file "
                "(from Latin-1, for example, with: iconv -f latin1 -t utf-8)",
                line,
            ) from None


class Tape:
    """A stream that can be read again from its start.

    What was read is kept for that; of a seekable one, only what was read before :meth:`drop`.
    """

    def __init__(self, stream: Any, *, seekable: bool) -> None:
        self.below = stream
        self._seekable = seekable
        self._kept: list[bytes] | None = []
        self._replayed = 0
        self._last = False
        self._failed: Exception | None = None

    def read(self, size: int) -> bytes:
        """At most `size` bytes, which should be the same number in all calls."""
        if self._kept is not None and self._replayed < len(self._kept):
            if self._last:
                return self._kept.pop(0)
            self._replayed += 1
            return self._kept[self._replayed - 1]
        if self._failed is not None:
            raise self._failed
        try:
            piece = self.below.read(size)
        except (OSError, EOFError, zlib.error) as error:
            self._failed = error
            raise
        if self._kept is not None and not self._last:
            self._kept.append(piece)
            self._replayed += 1
        return piece

    def drop(self) -> None:
        """Keep nothing more, where the stream can be read again from the file."""
        if self._seekable:
            self._kept = None

    def rewind(self, *, last: bool = False) -> None:
        """Read from the start on; with `last`, what is read is no longer kept."""
        self._replayed = 0
        self._last = last
        if self._kept is None:
            self.below.seek(0)
            self._failed = None


class _Replay:
    """A stream of which some was read, and which gives that first."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        if not self._head:
            return self._stream.read(size)
        piece, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return piece + self._stream.read() if size < 0 else piece


def peeked(source: InputStream) -> tuple[bytes, InputStream]:
    """The first bytes of a source, `CHUNK` at most, and the source as it was."""
    head = next(source.chunks(), b"")
    if source.path is not None:
        source.stream.seek(0)
        return head, source
    return head, replace(source, stream=cast("BinaryIO", _Replay(head, source.stream)))


@contextmanager
def open_source(path_or_stream: Any, progress: ProgressCallback | None = None) -> Generator[InputStream]:
    """Open a path, ``-`` (standard input) or a binary stream for reading, unzipped where it is gzip.

    Raises
    ------
    FileError
        For a missing file (with similar names beside it), a directory, and what can't be read.
    """
    meter = Meter("reading", progress)
    if isinstance(path_or_stream, str | os.PathLike) and os.fspath(path_or_stream) != "-":
        path = Path(cast("str | os.PathLike[str]", path_or_stream))
        with _open_path(path) as stream:
            yield _unzipped(str(path), stream, meter, path)
    elif isinstance(path_or_stream, str):
        yield _unzipped("standard input", getattr(sys.stdin, "buffer", sys.stdin), meter)
    else:
        yield _unzipped(stream_name(path_or_stream), path_or_stream, meter)
    meter(1)


def open_folder_source(path_or_stream: Any, progress: ProgressCallback | None = None) -> InputStream:
    """A folder whose files the format opens itself.

    Raises
    ------
    FileError
        For what is no folder.
    """
    if not isinstance(path_or_stream, str | os.PathLike) or not os.path.isdir(path_or_stream):
        name = os.fspath(path_or_stream) if isinstance(path_or_stream, str | os.PathLike) else "the stream"
        raise FileError(f"{name}: is no directory, as this format is")
    path = Path(cast("str | os.PathLike[str]", path_or_stream))
    return InputStream(str(path), io.BytesIO(), path, meter=Meter("reading", progress))


def stream_name(stream: Any) -> str:
    """Name of a stream for messages."""
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "the stream"


def _open_path(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise FileError(f"{path}: is a directory, not a file")
        return path.open("rb")
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file{_similar(path)}") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from None


def _similar(path: Path) -> str:
    try:
        names = os.listdir(path.parent)
    except OSError:
        return f", nor a directory {path.parent}" if not path.parent.exists() else ""
    close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.75)
    return f"; similar names there: {', '.join(sorted(close))}" if close else ""


def _unzipped(name: str, stream: Any, meter: Meter, path: Path | None = None) -> InputStream:
    if not hasattr(stream, "read"):
        raise FileError(f"{stream!r} is neither a path nor a stream to read from")
    size = _file_size(stream)
    if not hasattr(stream, "peek"):
        content = stream.read()
        stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
        start, size = stream.getvalue()[:2], len(stream.getbuffer())
    else:
        start = stream.peek(2)[:2]
    position = None if size is None else stream.tell
    if start and b"\x1f\x8b".startswith(start):
        stream = gzip.GzipFile(fileobj=stream, mode="rb")
    if (encoding := _wide_encoding(_head(name, stream))) is not None:
        stream = io.BytesIO(_as_utf8(name, stream, encoding))
        path, size, position = None, len(stream.getbuffer()), stream.tell
    return InputStream(name, cast("BinaryIO", stream), path if size is not None else None, size, position, meter)


_WIDE_HEAD = 256


def _head(name: str, stream: Any) -> bytes:
    if isinstance(stream, io.BytesIO):
        return stream.getvalue()[:_WIDE_HEAD]
    try:
        return stream.peek(_WIDE_HEAD)[:_WIDE_HEAD]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputStream(name, stream).damaged(error) from None
    except OSError:
        return b""  # which reading says


def _wide_encoding(head: bytes) -> str | None:
    """UTF-16 where a mark says so, or every other byte at the start is zero and those between are text; else None."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    for encoding, letters, zeros in (("utf-16-le", head[::2], head[1::2]), ("utf-16-be", head[1::2], head[::2])):
        is_text = len(letters) >= _LEAST_WIDE and all(byte in _PRINTED for byte in letters)
        if is_text and not any(zeros):
            return encoding
    return None


_LEAST_WIDE = 4
_PRINTED = frozenset(b"\t\r\n") | frozenset(range(32, 127))


def _as_utf8(name: str, stream: Any, encoding: str) -> bytes:
    """The content of a stream of UTF-16 in UTF-8."""
    source = InputStream(name, stream)
    data = b"".join(source.chunks())
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise source.error(
            f"begins as text in UTF-16, and is none from byte {error.start} on: is it damaged?"
        ) from None
    if text.startswith("<?xml"):
        head, mark, rest = text.partition("?>")
        text = re.sub(r"\s+encoding\s*=\s*(\"[^\"]*\"|'[^']*')", "", head) + mark + rest
    return text.encode()


def _file_size(stream: Any) -> int | None:
    """Size of the regular file that a stream reads."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _known_binary(start: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)


def _breaks(chunk: bytes) -> int:
    return chunk.count(b"\n") or chunk.count(b"\r")
