"""Connectomes from users' files: a file a scan, or one file of all scans, and a table of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from graphpri.apps.brain_arrays import Numbers, read_numbers, stem_of, suffix_of
from graphpri.apps.brain_data import Connectomes, Rois, from_matrices, from_series, full, sides
from graphpri.apps.brain_match import find_files, match
from graphpri.apps.brain_table import LabelTable, read_atlas, read_labels
from graphpri.errors import FileError, OptionError
from graphpri.graph import FloatArray

Kind = Literal["auto", "series", "matrix"]
Progress = Callable[[str, float], object]

_STACKED = (".npz", ".npy", ".mat")
_TOLERANCE = 1e-5


class _Loaded(NamedTuple):
    """Series or matrices of the scans, their names and rows of the table, and names of the regions."""

    numbers: list[FloatArray]
    are_matrices: bool
    scans: list[str]
    rows: list[int]
    regions: tuple[str, ...] | None


def read_connectomes(
    source: str | Path,
    labels: str | Path,
    *,
    label: str | None = None,
    group: str | None = None,
    id_column: str | None = None,
    classes: Sequence[Any] | None = None,
    atlas: str | Path | None = None,
    kind: Kind = "auto",
    array: str | None = None,
    on_progress: Progress | None = None,
) -> Connectomes:
    r"""Connectomes from files.

    Parameters
    ----------
    source : str or Path
        A folder (searched with those below it) or a pattern (``"derivatives/**/*_timeseries.tsv"``) of files of one
        scan each: CSV, TSV or text, gzipped too, with or without a header of region names; npy, npz; mat of version 5
        and 7.3. Or one npz, npy or mat file of all scans: series (S, T, N), matrices (S, N, N), or strict lower
        triangles row by row (S, N(N − 1)/2); a mat file may have the scans last. In a folder these are passed over: the
        tables of labels and atlas, hidden files, participants.tsv, README and the like, and files of text, pictures and
        settings (.json, .md, .pdf, .png, ...); anything else that isn't a scan is an error.
    labels : str or Path
        CSV or TSV with a header; a row a scan, or a subject of several scans. Rows of one file of all scans stand in
        its order.
    label : str, optional
        Column of labels; where absent the only one of two values, or one called label or diagnosis.
    group : str, optional
        Column of subjects; where absent participant_id, subject and the like.
    id_column : str, optional
        Column that names the scans: file, scan, participant_id, subject and the like where absent. A file is the scan
        of a row whose id is its name, its ``sub-`` entity (with or without ``sub-``), a part of its name between
        other marks, or its folder; columns session_id and run tell scans of a subject apart.
    classes : sequence of two labels, optional
        See :func:`graphpri.apps.brain_data.from_series`.
    atlas : str or Path, optional
        See :func:`graphpri.apps.brain_table.read_atlas`; regions have the names of the files' headers where absent.
    kind : {"auto", "series", "matrix"}
        What the files hold; symmetric ones are matrices where it is "auto".
    array : str, optional
        Name of the array in npz and mat files of several.
    on_progress : callable, optional
        Called with a stage and the share of it that is done.

    Returns
    -------
    Connectomes
        Scans in the order of the table, files of a row in the order of their names.

    Raises
    ------
    FileError
        For an empty folder, a file that can't be read or isn't a scan, and tables that can't be read.
    OptionError
        For labels that don't match files, either way (lists them), for files that may be series or matrices, and as
        :func:`graphpri.apps.brain_data.from_series` has it, after the name of `source`.
    MissingExtraError
        Where pandas, or h5py for a mat file of version 7.3, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/scans.npy", rng.normal(size=(4, 40, 3)))
    ...     table = "participant_id,diagnosis\n1,control\n2,patient\n3,control\n4,patient\n"
    ...     _ = Path(folder, "labels.csv").write_text(table, encoding="utf-8")
    ...     scans = read_connectomes(f"{folder}/scans.npy", f"{folder}/labels.csv")
    >>> scans.n_scans, scans.n_rois, scans.classes, scans.groups
    (4, 3, ('control', 'patient'), ('1', '2', '3', '4'))
    """
    if kind not in get_args(Kind):
        raise OptionError(f"kind={kind!r}: choose 'auto', 'series' or 'matrix'")
    table = read_labels(Path(labels), label=label, group=group, id_column=id_column, classes=classes)
    place, beside = Path(source), [Path(labels), *([] if atlas is None else [Path(atlas)])]
    if place.is_file():
        loaded = _load_stacked(place, table, kind, array)
    else:
        loaded = _load_files(find_files(place, beside), table, kind, array, on_progress)
    rois = _rois(loaded, atlas)
    rows = loaded.rows
    make = from_matrices if loaded.are_matrices else from_series
    try:
        found = make(
            loaded.numbers,
            [table.labels[i] for i in rows],
            groups=None if table.subjects is None else [table.subjects[i] for i in rows],
            classes=classes,
            scans=loaded.scans,
            rois=rois,
        )
    except OptionError as error:
        text = str(error).replace("name their subjects (groups=)", "name the column of subjects (group=)")
        raise OptionError(f"{source}: {text}") from None
    return replace(found, notes=table.notes + found.notes)


def _rois(loaded: _Loaded, atlas: str | Path | None) -> Rois | None:
    if atlas is not None:
        return read_atlas(atlas, loaded.numbers[0].shape[1])
    return None if loaded.regions is None else Rois(loaded.regions)


def _load_files(
    files: list[Path], table: LabelTable, kind: Kind, array: str | None, on_progress: Progress | None
) -> _Loaded:
    if array is not None and not any(suffix_of(path) in _STACKED for path in files):
        raise OptionError(f"array={array!r}: the files hold one table each; only npz and mat files name arrays")
    matched = match(files, table)
    held: list[Numbers] = []
    for i, (path, _) in enumerate(matched):
        held.append(_one_scan(path, read_numbers(path, array)))
        if on_progress is not None:
            on_progress("reading scans", (i + 1) / len(matched))
    paths = [path for path, _ in matched]
    matrices = _are_matrices([x.values for x in held], paths, kind)
    names = _scan_names(paths)
    return _Loaded([x.values for x in held], matrices, names, [row for _, row in matched], _regions(held, paths))


def _one_scan(path: Path, numbers: Numbers) -> Numbers:
    """A table of numbers; a row of pairs is a triangle."""
    values = numbers.values
    flat = values.ravel()
    if max(values.shape, default=0) == values.size and sides(values.size) is not None:
        return Numbers(full(flat[None])[0], None)
    if values.ndim != 2:
        raise FileError(f"{path}: has shape {values.shape}, where a scan is time points by regions, or a matrix")
    return numbers


def _scan_names(paths: list[Path]) -> list[str]:
    """Names of files without suffixes; with their folders where they aren't all different."""
    short = [stem_of(path) for path in paths]
    if len(set(short)) == len(short):
        return short
    return [str(path.parent / name) for path, name in zip(paths, short, strict=True)]


def _regions(held: list[Numbers], paths: list[Path]) -> tuple[str, ...] | None:
    """Names of regions in the headers of the files, which must be the same in all that have some."""
    named = [(x.columns, path) for x, path in zip(held, paths, strict=True) if x.columns is not None]
    if not named:
        return None
    first, origin = named[0]
    for columns, path in named:
        if columns == first or len(columns) != len(first):
            continue  # another number of regions has an error of its own
        i = next(i for i, (a, b) in enumerate(zip(first, columns, strict=True)) if a != b)
        raise FileError(
            f"{path}: column {i + 1} is {columns[i]}, and it is {first[i]} in {origin.name}: all must have the same "
            "regions in the same order"
        )
    return first


def _are_matrices(tables: Sequence[FloatArray], paths: Sequence[Path], kind: Kind) -> bool:
    if kind != "auto":
        return kind == "matrix"
    is_square = [x.shape[0] == x.shape[1] for x in tables]
    symmetric = [
        square and bool(np.allclose(x, x.T, 0, _TOLERANCE, equal_nan=True))
        for x, square in zip(tables, is_square, strict=True)
    ]
    for path, x, square, mirrored in zip(paths, tables, is_square, symmetric, strict=True):
        if square and not mirrored:
            raise OptionError(_not_mirrored(path, x, others=sum(symmetric)))
    if any(symmetric) and not all(symmetric):
        one, other = paths[symmetric.index(True)], paths[symmetric.index(False)]
        raise OptionError(f"{one.name} looks like a matrix and {other.name} like a series: say which with kind=")
    return all(symmetric)


def _not_mirrored(path: Path, x: FloatArray, others: int) -> str:
    i, j = np.argwhere(np.abs(x - x.T) > _TOLERANCE)[0]
    what = f"{x[i, j]:.6g} in row {i + 1}, column {j + 1} and {x[j, i]:.6g} in its mirror image"
    if others:
        return f"{path}: {what}, where {others} other scans are symmetric matrices: correct or leave out this one"
    return f"{path}: it is square and not symmetric ({what}); kind='series' or kind='matrix' says what it is"


def _load_stacked(path: Path, table: LabelTable, kind: Kind, array: str | None) -> _Loaded:
    if suffix_of(path) not in _STACKED:
        raise FileError(
            f"{path}: one file of all scans is npz, npy or mat; for text pass the folder of the scans' files"
        )
    values, count = read_numbers(path, array).values, len(table.ids)
    order = _stacked_order(path, table)
    names = [table.row(i) for i in order]
    if values.ndim == 3 and suffix_of(path) == ".mat" and values.shape[0] != count == values.shape[2]:
        values = np.moveaxis(values, 2, 0)
    if values.shape[0] != count:
        raise OptionError(
            f"{path}: an array of shape {values.shape}, and {count} rows of labels: the first axis must be the scans, "
            "as many as rows"
        )
    if values.ndim == 2:
        return _Loaded(list(_triangles(values, path, kind)), True, names, order, None)
    if values.ndim != 3:
        raise FileError(f"{path}: an array of shape {values.shape}: pass (S, T, N), (S, N, N) or (S, N(N - 1)/2)")
    tables = list(values)
    return _Loaded(tables, _are_matrices(tables, [path / name for name in names], kind), names, order, None)


def _triangles(values: FloatArray, path: Path, kind: Kind) -> FloatArray:
    if kind == "series" or sides(values.shape[1]) is None:
        raise FileError(
            f"{path}: an array of shape {values.shape} holds neither the series of all scans, (S, T, N), nor "
            "triangles, (S, N(N - 1)/2)"
        )
    return full(values)


def _stacked_order(path: Path, table: LabelTable) -> list[int]:
    """Row of each scan: the order of the table, or of its index where that is the id."""
    at = list(range(len(table.ids)))
    if not table.counted:
        return at
    numbers = [int(x) for x in table.ids]
    if sorted(numbers) not in (at, [i + 1 for i in at]):
        raise OptionError(f"{path}: the column index of the labels doesn't count the scans from 0 or 1")
    return [int(i) for i in np.argsort(numbers)]
