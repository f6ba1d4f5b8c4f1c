"""The writing side of a file: all of it or nothing, and never over an existing one unasked."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from graphpri.errors import FileError
from graphpri.io.source import stream_name


@contextmanager
def open_sink(path_or_stream: Any, *, zipped: bool, force: bool) -> Generator[BinaryIO]:
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
        opened = _beside(path, force) if not path.exists() or path.is_file() else _direct(path)
    else:
        opened = _stream(sys.stdout if isinstance(path_or_stream, str) else path_or_stream)
    with opened as raw:
        if not zipped:
            yield raw
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast("BinaryIO", packed)


def is_path(path_or_stream: Any) -> bool:
    """Whether this is a path, and not a stream or ``-``."""
    return isinstance(path_or_stream, str | os.PathLike) and path_or_stream != "-"


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
    if mode is not None and stat.S_ISDIR(mode):
        raise FileError(f"{path}: can't be written, it is a directory")
    if mode is not None and not stat.S_ISREG(mode):
        return
    if not folder.is_dir():
        raise FileError(f"{path}: can't be written, there is no directory {folder}: make it first")
    if mode is not None and not force:
        raise FileError(f"{path}: exists already: choose another name, or pass force=True (--force) to replace it")
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
    held = io.BytesIO()
    yield held
    try:
        if binary is not stream:
            stream.flush()
        if isinstance(binary, io.TextIOBase):
            binary.write(held.getvalue().decode())
        else:
            binary.write(held.getbuffer())
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
