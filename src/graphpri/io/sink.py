"""The writing side of a file: all of it or nothing, and never over an existing one unasked."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import checked
from graphpri.errors import FileError, setting
from graphpri.io.source import CHUNK, Meter, ProgressCallback, stream_name

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


_GZIP_LEVEL = 6  # that of the program gzip; 9 takes twice as long for a hundredth
_HELD = 1 << 26  # bytes of a stream's content in memory, rather than in a temporary file


class Sink:
    """Takes the bytes of an output, or the files of a folder, and hears how far writing is."""

    def __init__(self, stream: BinaryIO, meter: Meter, folder: Path | None = None) -> None:
        self._stream = stream
        self.meter = meter
        self.folder = folder

    def write(self, data: Any) -> int:
        """Write bytes."""
        return self._stream.write(data)

    def flush(self) -> None:
        """Pass on what is held back."""
        self._stream.flush()


class Forward:
    """A stream that can only be written to, whatever else it could."""

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush


def advance(stream: Any, done: float, size: float) -> None:
    """Say that `done` of `size` is written; a stream that is no :class:`Sink` doesn't want to know."""
    if isinstance(stream, Sink):
        stream.meter(done, size + 1)  # closing the file is still to come


@contextmanager
def open_sink(
    path_or_stream: Any, *, zipped: bool, force: bool, progress: ProgressCallback | None = None
) -> Generator[BinaryIO]:
    """Open a path, ``-`` (standard output) or a stream for writing bytes.

    A path is written beside itself, under a name of its own, and takes its place only when everything
    is on disk; after any failure, an interruption included, nothing is left behind. A broken pipe on
    standard output passes as BrokenPipeError, for the caller to end quietly.

    Raises
    ------
    FileError
        As in :func:`check_output`, and where the disk is full or the stream fails.
    """
    if is_path(path_or_stream):
        path = Path(path_or_stream)
        check_output(path, force=force)
        if path.is_dir():
            raise FileError(f"{path}: can't be written, it is a directory")
        opened = _beside(path, force) if not path.exists() or path.is_file() else _direct(path)
    else:
        opened = _stream(sys.stdout if isinstance(path_or_stream, str) else path_or_stream)
    meter = Meter("writing", progress)
    with opened as raw:
        if zipped:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0) as packed:
                yield cast("BinaryIO", Sink(cast("BinaryIO", packed), meter))
        else:
            yield cast("BinaryIO", Sink(raw, meter))
    meter(1)


@contextmanager
def open_folder(path_or_stream: Any, *, force: bool, progress: ProgressCallback | None = None) -> Generator[BinaryIO]:
    """Open a folder for writing files; it takes its place, and that of an older one, when all are on disk.

    Raises
    ------
    FileError
        As in :func:`check_output`, for a stream, and where the disk is full.
    """
    if not is_path(path_or_stream):
        raise FileError("this format is a folder of files, which needs a path: it can't go to a stream")
    path = Path(path_or_stream)
    check_output(path, force=force)
    target = path.resolve()
    draft, old = (target.with_name(f".graphpri-{secrets.token_hex(8)}.tmp") for _ in range(2))
    meter = Meter("writing", progress)
    try:
        draft.mkdir()
        yield cast("BinaryIO", Sink(cast("BinaryIO", io.BytesIO()), meter, draft))
        check_output(path, force=force)
        _swap(draft, target, old)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    meter(1)


def _swap(new: Path, target: Path, old: Path) -> None:
    """Put a folder in the place of another one, which goes for good only when that is done."""
    try:
        if target.exists():
            target.rename(old)
        new.rename(target)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        elif old.is_dir():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.unlink(missing_ok=True)


def is_edge_folder(path: str | os.PathLike[str]) -> bool:
    """Whether this is a folder of edge arrays."""
    return all(os.path.isfile(os.path.join(path, name)) for name in ("source.npy", "target.npy"))


def is_path(path_or_stream: Any) -> bool:
    """Whether this is a path, and not a stream or ``-``."""
    return isinstance(path_or_stream, str | os.PathLike) and path_or_stream != "-"


@checked
def check_output(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse an output path that can't be written, before the work for it begins.

    Parameters
    ----------
    path : path
        Where the output is to go; ``-`` always passes.
    force : bool
        Accept a file that exists.

    Raises
    ------
    FileError
        Where the folder doesn't exist or can't be written, the path is a directory, or a file exists
        and `force` is False.

    Examples
    --------
    >>> check_output("no-such-folder/kept.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.FileError: no-such-folder/kept.csv: can't be written, there is no directory ...
    """
    if not is_path(path):
        return
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    folder = path.resolve().parent
    if mode is not None and stat.S_ISDIR(mode) and not is_edge_folder(path):
        raise FileError(f"{path}: can't be written, it is a directory")
    if mode is not None and stat.S_ISDIR(mode):
        others = sorted(name for name in os.listdir(path) if not name.endswith((".npy", ".json")))
        if others:
            raise FileError(f"{path}: can't be replaced, it holds other files, such as {others[0]!r}: move them first")
    if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return
    if not folder.is_dir():
        raise FileError(f"{path}: can't be written, there is no directory {folder}: make it first")
    if mode is not None and not force:
        raise FileError(f"{path}: exists already: choose another name, or pass {setting('force', True)} to replace it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{path}: can't be written, the directory {folder} is not writable")


@contextmanager
def _beside(path: Path, force: bool) -> Generator[BinaryIO]:
    # Through a link, the file that it points to is replaced and the link stays.
    target = path.resolve()
    draft = target.with_name(f".graphpri-{secrets.token_hex(8)}.tmp")
    try:
        # A plain open leaves the permissions to the umask, where tempfile would make the file private.
        with draft.open("xb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        check_output(path, force=force)
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def _direct(path: Path) -> Generator[BinaryIO]:
    """Devices and named pipes are written in place."""
    try:
        with path.open("wb") as raw:
            yield raw
    except OSError as error:
        raise _refusal(path, error) from None


@contextmanager
def _stream(stream: Any) -> Generator[BinaryIO]:
    binary = getattr(stream, "buffer", stream)
    name = "standard output" if stream is sys.stdout else stream_name(stream)
    if not hasattr(binary, "write"):
        raise FileError(f"{stream!r} is neither a path nor a stream to write to")
    # Nothing goes out before the whole content is made, so that an error leaves no half of it.
    with SpooledTemporaryFile(_HELD) as held:
        yield cast("BinaryIO", held)
        held.seek(0)
        _copy(held, stream, binary, name)


def _copy(held: Any, stream: Any, binary: Any, name: str) -> None:
    text = codecs.getincrementaldecoder("utf-8")() if isinstance(binary, io.TextIOBase) else None
    try:
        if binary is not stream:
            stream.flush()
        while data := held.read(CHUNK):
            binary.write(data if text is None else text.decode(data))
        if text is not None:
            text.decode(b"", final=True)
        if hasattr(binary, "flush"):
            binary.flush()
    except BrokenPipeError:
        raise
    except UnicodeDecodeError:
        raise FileError(f"{name}: takes text only, and this format is binary: pass a binary stream") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{name}: can't be written: {getattr(error, 'strerror', None) or error}") from None


def _refusal(path: Path, error: Exception) -> FileError:
    return FileError(f"{path}: can't be written: {getattr(error, 'strerror', None) or error}")
