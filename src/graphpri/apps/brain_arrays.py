"""Numbers of one scan, or of all, from a file: text, NumPy's npy and npz, MATLAB's mat of version 5 and 7.3."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import FileError, MissingExtraError, OptionError
from graphpri.graph import FloatArray

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".npy", ".npz", ".mat")
"""Files of numbers that are read."""

Arrays = dict[str, NDArray[Any]]


class Numbers(NamedTuple):
    """Numbers of a file, and the names of their columns where it has a header.

    Examples
    --------
    >>> Numbers(np.eye(2), ("left", "right")).values.shape
    (2, 2)
    """

    values: FloatArray
    columns: tuple[str, ...] | None


def suffix_of(path: Path) -> str:
    """The suffix of a file in lower case, ``.csv.gz`` in whole.

    Examples
    --------
    >>> suffix_of(Path("sub-01.CSV.gz"))
    '.csv.gz'
    """
    parts = [part.lower() for part in path.suffixes[-2:]]
    return "".join(parts) if parts[-1:] == [".gz"] else "".join(parts[-1:])


def stem_of(path: Path) -> str:
    """The name of a file without its suffix.

    Examples
    --------
    >>> stem_of(Path("scans/sub-01_bold.csv.gz"))
    'sub-01_bold'
    """
    return path.name[: len(path.name) - len(suffix_of(path))]


def read_numbers(path: Path, array: str | None = None) -> Numbers:
    r"""Numbers of a file.

    Parameters
    ----------
    path : Path
    array : str, optional
        Which of several arrays of an npz or mat file.

    Raises
    ------
    FileError
        Where the file can't be read or holds no numbers, and where it has several arrays and none is named.
    OptionError
        Where it has no array of that name.
    MissingExtraError
        For mat files of version 7.3 without h5py, and for text without pandas.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sub-01.csv"
    ...     _ = path.write_text("left,right\n0.5,1\n2,3\n", encoding="utf-8")
    ...     found = read_numbers(path)
    >>> found.columns, found.values.tolist()
    (('left', 'right'), [[0.5, 1.0], [2.0, 3.0]])
    """
    suffix = suffix_of(path)
    try:
        if suffix.startswith((".csv", ".tsv", ".txt")):
            return _read_text(path)
        return Numbers(_as_numbers(_BINARY[suffix](path, array), path, array), None)
    except KeyError:
        raise FileError(f"{path}: {suffix or 'no suffix'} is not read, only {', '.join(SUFFIXES)}") from None
    except (MissingExtraError, FileError, OptionError):
        raise
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: can't be read as numbers ({error})") from None


def _read_text(path: Path) -> Numbers:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "brain", "reading text files of numbers") from error
    first = _first_line(path).strip(" \r\n")
    separator, remark = _separator(first), first.startswith("#")  # as numpy.savetxt writes a header
    header = [cell.strip().strip('"') for cell in re.split(separator, first.lstrip("# ") if remark else first)]
    named = remark or _is_header([cell.replace(",", ".") for cell in header] if separator != "," else header)
    how: dict[str, Any] = {"sep": separator, "index_col": 0 if named and not header[0] else None}
    how |= {"header": None, "names": header, "skiprows": 1} if remark else {"header": 0 if named else None}
    frame: Any = _without_row_names(pd.read_csv(path, **how), path)
    if separator != "," and _bad_columns(frame):
        commas = _without_row_names(pd.read_csv(path, **how, decimal=","), path)
        frame = frame if _bad_columns(commas) else commas
    if bad := _bad_columns(frame):
        raise FileError(f"{path}: column {bad[0]!r} has entries that are not numbers")
    if not frame.size:
        raise FileError(f"{path}: there are no numbers in it")
    names = tuple(str(x).strip() for x in frame.columns) if named else None
    return Numbers(frame.to_numpy(np.float64), None if names is None or _counts(names) else names)


def _bad_columns(frame: Any) -> list[Any]:
    return [column for column in frame.columns if frame[column].dtype.kind not in "fiu"]


def _without_row_names(frame: Any, path: Path) -> Any:
    """The frame without a first column that repeats the header, as matrices of XCP-D have it."""
    _check_row_names(frame, path)
    names = [str(x) for x in frame.columns[1:]]
    return frame.iloc[:, 1:] if len(frame) == len(names) and [str(x) for x in frame.iloc[:, 0]] == names else frame


def _check_row_names(frame: Any, path: Path) -> None:
    """Rows longer than the header have names in front, or pandas took numbers for names."""
    index: Any = frame.index
    counted = index.nlevels == 1 and list(index) in (list(range(len(index))), list(range(1, len(index) + 1)))
    if index.nlevels > 1 or not (counted or index.name is not None or index.dtype.kind in "OUT"):
        raise FileError(f"{path}: rows have more cells than the header")


def _first_line(path: Path) -> str:
    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        line: str = file.readline()
    if not line.strip():
        raise FileError(f"{path}: it is empty, or its first line is")
    return line


def _separator(line: str) -> str:
    return next((mark for mark in ("\t", ";", ",") if mark in line), r"\s+")


def _is_header(cells: list[str]) -> bool:
    """Whether a first line names columns: one cell is no number, or they just count."""
    return _counts(tuple(cells)) or not all(_is_number(cell) for cell in cells)


def _counts(cells: tuple[str, ...]) -> bool:
    held = [cell for cell in cells if cell]
    return len(held) > 1 and held in ([str(i) for i in range(len(held))], [str(i + 1) for i in range(len(held))])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.casefold() in ("n/a", "na", "nan")
    return True


def _read_npy(path: Path, array: str | None) -> Arrays:
    return {path.stem: np.load(path, allow_pickle=False)}


def _read_npz(path: Path, array: str | None) -> Arrays:
    with np.load(path, allow_pickle=False) as arrays:
        return {array: arrays[array]} if array is not None and array in arrays else dict(arrays)


def _read_mat(path: Path, array: str | None) -> Arrays:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        found = loadmat(path)
    except NotImplementedError:
        return _read_mat73(path)
    except MatReadError as error:
        raise FileError(f"{path}: can't be read as a MATLAB file ({error})") from None
    return {name: np.asarray(x) for name, x in found.items() if not name.startswith("__")}


def _read_mat73(path: Path) -> Arrays:
    """Arrays of an HDF5 file, which has the axes of MATLAB in reverse."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError("h5py", "brain", "a MATLAB file of version 7.3") from error
    with h5py.File(path) as file:
        held: dict[str, Any] = {
            name: x
            for name, x in file.items()
            if isinstance(x, h5py.Dataset) and x.attrs.get("MATLAB_class") != b"char"
        }
        return {name: np.asarray(x[()]).T for name, x in held.items()}


_BINARY: dict[str, Callable[[Path, str | None], Arrays]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mat": _read_mat,
}


def _as_numbers(arrays: Arrays, path: Path, array: str | None) -> FloatArray:
    if array is not None and array not in arrays and len(arrays) + (path.suffix != ".npy") > 1:
        raise OptionError(f"{path}: there is no array {array!r}; it has {_shapes(arrays)}")
    numeric = {name: x for name, x in arrays.items() if x.dtype.kind in "fiu" and x.size > 1}
    if array is not None and array in arrays:
        numeric = {array: arrays[array]}
    if not numeric:
        raise FileError(f"{path}: there is no array of numbers; it has {_shapes(arrays) or 'nothing'}")
    if len(numeric) > 1:
        raise FileError(f"{path}: there are several arrays, {_shapes(numeric)}: name one with array=")
    ((name, found),) = numeric.items()
    if found.dtype.kind not in "fiu":
        raise FileError(f"{path}: array {name!r} holds {found.dtype}, not numbers")
    return np.asarray(found, np.float64)


def _shapes(arrays: Arrays) -> str:
    return ", ".join(f"{name} of shape {x.shape}" for name, x in arrays.items())
