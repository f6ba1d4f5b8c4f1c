"""Connectomes from users' files: a file a scan, or one file of all scans, and a table of labels."""

from __future__ import annotations

import gzip
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from graphpri.apps.brain_data import (
    DERIVED,
    Connectomes,
    Rois,
    from_matrices,
    from_series,
    full,
    have_diagonals,
    label_text,
    name_some,
    sides,
)
from graphpri.errors import FileError, MissingExtraError, OptionError, argument, setting
from graphpri.graph import FloatArray
from graphpri.io import ProgressCallback, tables

Kind = Literal["auto", "series", "matrix"]

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".1d", ".edge", ".npy", ".npz", ".mat")
"""Files of numbers that are read."""

_STACKED = (".npz", ".npy", ".mat")
_TOLERANCE = 1e-5  # of symmetry, as for correlations


class _Loaded(NamedTuple):
    """Series or matrices of the scans, their names and rows of the table, and names of the regions."""

    numbers: list[FloatArray]
    are_matrices: bool
    scans: list[str]
    rows: list[int]
    regions: tuple[str, ...] | None
    notes: tuple[str, ...] = ()
    turned: bool = False  # from Fisher z to correlations


CONN = "matrices of CONN: its Fisher z were turned into correlations"
DIAGONALS = "rows of numbers have the diagonals of their matrices, as nilearn writes them with vectorize=True"


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
    score: str | None = None,
    confounds: Sequence[str] = (),
    site: str | None = None,
    fisher_z: bool = False,
    allow_missing: bool = False,
    drop_regions: bool = False,
    on_progress: ProgressCallback | None = None,
) -> Connectomes:
    r"""Connectomes from files.

    Parameters
    ----------
    source : str or Path
        A folder (searched with those below it) or a pattern (``"derivatives/**/*_timeseries.tsv"``) of files of one
        scan each: CSV, TSV or text, gzipped too, with or without a header of region names; npy, npz; mat of version 5
        and 7.3. Or one npz, npy or mat file of all scans: series (S, T, N), matrices (S, N, N), or lower
        triangles row by row: strict ones (S, N(N − 1)/2), or with diagonals of ones, as nilearn's vectors have them; a
        mat file may have the scans last. In a folder these are passed over: the
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
        other marks, its folder, or the same number but for zeros in front; columns session_id and run tell scans of a
        subject apart.
    classes : sequence of two labels, optional
        See :func:`graphpri.apps.brain_data.from_series`.
    atlas : str or Path, optional
        See :func:`graphpri.apps.brain_files.read_atlas`; regions have the names of the files' headers where absent.
    kind : {"auto", "series", "matrix"}
        What the files hold; symmetric ones are matrices where it is "auto".
    array : str, optional
        Name of the array in npz and mat files of several.
    score : str, optional
        Column of a score, such as age, to predict instead of classes.
    confounds : sequence of str
        Columns of what is to be removed within training scans.
    site : str, optional
        Column of where each scan was made.
    fisher_z : bool
        Whether matrices hold Fisher z.
    allow_missing : bool
        Whether rows without a file, and files without a row, are passed over and noted; else they are an error.
    drop_regions : bool
        Whether regions without a signal in some scan are left out of all, and noted.
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
        raise OptionError(f"{argument('kind', kind)}: choose 'auto', 'series' or 'matrix'")
    table = _read_labels(
        Path(labels),
        label=label,
        group=group,
        id_column=id_column,
        classes=classes,
        score=score,
        confounds=confounds,
        site=site,
    )
    place, known = Path(source), [Path(labels), *([] if atlas is None else [Path(atlas)])]
    if place.is_file():
        loaded = _load_stacked(place, table, kind, array)
    else:
        files, notes = _find_files(place, known)
        loaded = _load_files(files, table, kind, array, allow_missing, on_progress)
        loaded = loaded._replace(notes=notes + loaded.notes)
    rois = None if loaded.regions is None else Rois(loaded.regions)
    if atlas is not None:
        rois = read_atlas(atlas, loaded.numbers[0].shape[1])
    rows = loaded.rows
    if fisher_z and not loaded.are_matrices:
        raise OptionError(f"{source}: {setting('fisher_z', True)} is for matrices, and these are series")
    make = partial(from_matrices, fisher_z=fisher_z and not loaded.turned) if loaded.are_matrices else from_series
    try:
        found = make(
            loaded.numbers,
            [table.labels[i] for i in rows],
            groups=None if table.subjects is None else [table.subjects[i] for i in rows],
            classes=classes,
            scans=loaded.scans,
            rois=rois,
            score=score is not None,
            confounds={name: [column[i] for i in rows] for name, column in table.confounds.items()},
            sites=None if table.sites is None else [table.sites[i] for i in rows],
            drop_regions=drop_regions,
        )
    except OptionError as error:
        text = error.message.replace(
            f"name their subjects ({setting('groups')})", f"name the column of subjects ({setting('group')})"
        )
        raise OptionError(f"{source}: {text}") from None
    called = found.score_name if score is None else score
    return replace(found, notes=table.notes + loaded.notes + found.notes, score_name=called)


def _load_files(
    files: list[Path],
    table: _LabelTable,
    kind: Kind,
    array: str | None,
    allow_missing: bool,
    on_progress: ProgressCallback | None,
) -> _Loaded:
    if array is not None and not any(_suffix(path) in _STACKED for path in files):
        raise OptionError(
            f"{argument('array', array)}: the files hold one table each; only npz and mat files name arrays"
        )
    matched, missing = _match(files, table, allow_missing)
    held: list[FileNumbers] = []
    notes: tuple[str, ...] = ()
    for i, (path, _) in enumerate(matched):
        numbers = read_numbers(path, array)
        held.append(_one_scan(path, numbers))
        if held[-1].values.size != numbers.values.size:
            notes = (_about_triangles(numbers.values.reshape(1, -1)),)
        if on_progress is not None:
            on_progress("reading scans", (i + 1) / len(matched))
    paths = [path for path, _ in matched]
    matrices = _are_matrices([x.values for x in held], paths, kind)
    names, turned = _scan_names(paths), [x.turned for x in held]
    if any(turned):
        if not all(turned):
            raise FileError(f"{paths[turned.index(False)]}: it is no result of CONN, as the others are")
        notes += (CONN,)
    rows = [row for _, row in matched]
    return _Loaded(
        [x.values for x in held], matrices, names, rows, _regions(held, paths), missing + notes, turned=any(turned)
    )


def _one_scan(path: Path, numbers: FileNumbers) -> FileNumbers:
    """A table of numbers; a row of pairs is a triangle."""
    values = numbers.values
    flat = values.ravel()
    if max(values.shape, default=0) == values.size and sides(values.size) is not None:
        return FileNumbers(full(flat[None])[0], None)
    if values.ndim != 2:
        raise FileError(f"{path}: has shape {values.shape}, where a scan is time points by regions, or a matrix")
    return numbers


def _about_triangles(rows: FloatArray) -> str:
    """How rows of numbers were read as triangles of matrices, as their length alone does not say."""
    n = full(rows[:1]).shape[1]
    if have_diagonals(rows):
        return f"{DIAGONALS}, of {n} regions"
    return f"rows of {rows.shape[1]} numbers were read as pairs of {n} regions, without diagonals"


def _scan_names(paths: list[Path]) -> list[str]:
    """Names of files without suffixes; with their folders where they aren't all different."""
    short = [_stem(path) for path in paths]
    if len(set(short)) == len(short):
        return short
    return [str(path.parent / name) for path, name in zip(paths, short, strict=True)]


def _regions(held: list[FileNumbers], paths: list[Path]) -> tuple[str, ...] | None:
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


def _are_matrices(scans: Sequence[FloatArray], paths: Sequence[Path], kind: Kind) -> bool:
    if kind != "auto":
        return kind == "matrix"
    is_square = [x.shape[0] == x.shape[1] for x in scans]
    symmetric = [
        square and bool(np.allclose(x, x.T, 0, _TOLERANCE, equal_nan=True))
        for x, square in zip(scans, is_square, strict=True)
    ]
    for path, x, square, mirrored in zip(paths, scans, is_square, symmetric, strict=True):
        if square and not mirrored:
            i, j = np.argwhere(np.abs(x - x.T) > _TOLERANCE)[0]
            what = f"{x[i, j]:.6g} in row {i + 1}, column {j + 1} and {x[j, i]:.6g} in its mirror image"
            if others := sum(symmetric):
                remedy = f"where {others} other scans are symmetric matrices: correct or leave out this one"
                raise OptionError(f"{path}: {what}, {remedy}")
            filled = sorted(int(np.count_nonzero(half)) for half in (np.tril(x, -1), np.triu(x, 1)))
            if not filled[0] and 4 * filled[1] > x.size:  # most of the N(N − 1)/2 pairs
                raise OptionError(f"{path}: only one triangle of it is filled ({what}): fill in its mirror image")
            raise OptionError(
                f"{path}: it is square and not symmetric ({what}); {setting('kind', 'series', 'matrix')} says what "
                "it is"
            )
    if any(symmetric) and not all(symmetric):
        one, other = paths[symmetric.index(True)], paths[symmetric.index(False)]
        raise OptionError(
            f"{one.name} looks like a matrix and {other.name} like a series: say which with {setting('kind')}"
        )
    return all(symmetric)


def _load_stacked(path: Path, table: _LabelTable, kind: Kind, array: str | None) -> _Loaded:
    if _suffix(path) not in _STACKED:
        raise FileError(
            f"{path}: one file of all scans is npz, npy or mat; for text pass the folder of the scans' files"
        )
    count = len(table.ids)
    order = _stacked_order(path, table)
    names = [table.row(i) for i in order]
    if each := _array_each(path, table, array):
        scans = [_one_scan(path, FileNumbers(x, None)).values for x in each]
        rows = list(range(count))
        return _Loaded(scans, _are_matrices(scans, [path / x for x in table.ids], kind), table.ids, rows, None)
    values = read_numbers(path, array).values
    if values.ndim == 3 and _suffix(path) == ".mat" and values.shape[0] != count == values.shape[2]:
        values = np.moveaxis(values, 2, 0)
    if values.shape[0] != count:
        raise OptionError(
            f"{path}: an array of shape {values.shape}, and {count} rows of labels: the first axis must be the scans, "
            "as many as rows"
        )
    if values.ndim == 2:
        if kind == "series" or sides(values.shape[1]) is None:
            raise FileError(
                f"{path}: an array of shape {values.shape} holds neither the series of all scans, (S, T, N), nor "
                "triangles, (S, N(N - 1)/2)"
            )
        return _Loaded(list(full(values)), True, names, order, None, (_about_triangles(np.asarray(values, float)),))
    if values.ndim != 3:
        raise FileError(f"{path}: an array of shape {values.shape}: pass (S, T, N), (S, N, N) or (S, N(N - 1)/2)")
    scans = list(values)
    return _Loaded(scans, _are_matrices(scans, [path / name for name in names], kind), names, order, None)


def _array_each(path: Path, table: _LabelTable, array: str | None) -> list[FloatArray]:
    """The scans of a file that has an array named as each row of the labels, or a cell of them; none of others."""
    if _suffix(path) not in (".mat", ".npz"):
        return []
    try:
        arrays = _BINARY[_suffix(path)](path, array)
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile):
        return []  # read again, with a message
    cells = {name: x for name, x in arrays.items() if x.dtype == object and x.size == len(table.ids)}
    if array in cells or (len(cells) == 1 and array is None):
        return _numbers_each(path, list(cells[array or next(iter(cells))].ravel()))
    plain = {name.removeprefix("sub_").removeprefix("x"): name for name in arrays}
    wanted = [re.sub(r"\W", "_", text.removeprefix("sub-")) for text in table.ids]
    if array is None and all(text in plain for text in wanted):
        return _numbers_each(path, [arrays[plain[text]] for text in wanted])
    return []


def _numbers_each(path: Path, held: Sequence[Any]) -> list[FloatArray]:
    for x in held:
        if np.asarray(x).dtype.kind not in "fiu":
            raise FileError(f"{path}: a cell holds {np.asarray(x).dtype}, not numbers")
    return [np.asarray(x, np.float64) for x in held]


def _stacked_order(path: Path, table: _LabelTable) -> list[int]:
    """Row of each scan: the order of the table, or of its index where that is the id."""
    at = list(range(len(table.ids)))
    if not table.counted:
        return at
    numbers = [int(x) for x in table.ids]
    if sorted(numbers) not in (at, [i + 1 for i in at]):
        raise OptionError(f"{path}: the column index of the labels doesn't count the scans from 0 or 1")
    return [int(i) for i in np.argsort(numbers)]


# Which file is the scan of which row of the table of labels

# Suffixes of files in a folder of scans that are no scans.
_NO_SCANS = (
    *(".json", ".toml", ".yaml", ".yml", ".xml", ".md", ".rst", ".html", ".htm", ".css", ".js", ".log", ".bib", ".pdf"),
    *(".svg", ".png", ".jpg", ".jpeg", ".gif", ".py", ".m", ".r"),
)
_WORDS = re.compile(
    r"(?:README|CHANGES|CHANGELOG|LICEN[CS]E|CITATION|AUTHORS)(?:\..*)?|participants\.tsv", re.IGNORECASE
)
_ENTITY = re.compile(r"([A-Za-z]+)-([A-Za-z0-9]+)")
_ENTITIES = ("sub", "ses", "run")  # what tells scans apart
_END = re.compile(r"(?:_[A-Za-z]+)?(?:\.[A-Za-z0-9]+)+$")  # of a file's name: what it holds, and its suffix
_Matches = Callable[[Path, str], bool]


def _find_files(place: Path, known: Sequence[Path]) -> tuple[list[Path], tuple[str, ...]]:
    """Files of scans in a folder or of a pattern, other than the known tables, in the order of their names, and notes.

    Raises
    ------
    FileError
        Where there are none, one is of an unknown suffix, or derivatives are of several atlases.
    """
    if place.is_dir():
        found = place.rglob("*")
    elif any(mark in str(place) for mark in "*?["):
        found = Path(place.anchor).glob(str(place.relative_to(place.anchor)))
    else:
        raise FileError(f"{place}: no such file or folder")
    tables = {path.resolve() for path in known}
    files = sorted(path for path in found if path.is_file() and not _is_ignored(path, place, tables))
    if place.is_dir() and (derivatives := _derivatives(place, files)):
        return derivatives
    for path in files:
        if _suffix(path) not in SUFFIXES:
            raise FileError(
                f"{path}: not a file of numbers ({', '.join(SUFFIXES)}): move it away, or pass a pattern such as "
                f"'{_pattern(place, files)}'"
            )
    if not files:
        raise FileError(f"{place}: there are no files of scans ({', '.join(SUFFIXES)})")
    return files, ()


_DERIVED = re.compile(r"sub-[A-Za-z0-9]+_.*_(timeseries|relmat)\.tsv(?:\.gz)?")


def _derivatives(place: Path, files: Sequence[Path]) -> tuple[list[Path], tuple[str, ...]] | None:
    """Series of regions, or matrices, among derivatives with BIDS names; None where there are no such names.

    Raises
    ------
    FileError
        For confounds alone, as fMRIPrep has them, and for files that differ in more than subject, session and run.
    """
    named = [(path, found[1]) for path in files if (found := _DERIVED.fullmatch(path.name))]
    if not named:
        return None
    own = [(path, kind) for path, kind in named if _entities(path).get("desc") != "confounds"]
    if not own:
        raise FileError(
            f"{place}: there are confounds and no series of regions; take these from fMRIPrep's images first, by XCP-D "
            "or nilearn's NiftiLabelsMasker"
        )
    kind = "timeseries" if any(kind == "timeseries" for _, kind in own) else "relmat"
    chosen = [path for path, its in own if its == kind]
    sorts: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for path in chosen:
        sorts.setdefault(tuple((k, v) for k, v in _entities(path).items() if k not in _ENTITIES), []).append(path)
    if len(sorts) > 1:
        differ = [{f"{k}-{v}" for k, v in held} for held in sorts]
        apart = sorted(set[str]().union(*differ) - set[str].intersection(*differ))
        raise FileError(
            f"{place}: derivatives of several kinds, {name_some(apart, 8)}: choose one with a pattern such as "
            f"'{place}/**/*{apart[0]}*_{kind}.tsv'"
        )
    return chosen, (f"{len(chosen)} of {len(files)} files are scans, by their BIDS names: *_{kind}.tsv",)


def _pattern(place: Path, files: Sequence[Path]) -> str:
    """A pattern that finds files of numbers in the folder, by the end of their names."""
    folder = place if place.is_dir() else place.parent
    read = [path for path in files if _suffix(path) in SUFFIXES]
    good = next((path for word in ("timeseries", "relmat", "") for path in read if word in path.name), None)
    if good is None:
        return f"{folder}/*.csv"
    end = _END.search(good.name)
    return f"{folder}/{'**/' * (good.parent != folder)}*{end[0] if end else ''}"


def _is_ignored(path: Path, place: Path, known: set[Path]) -> bool:
    parts = path.relative_to(place).parts if place.is_dir() else (path.name,)
    hidden = any(part.startswith(".") for part in parts)
    return hidden or _suffix(path) in _NO_SCANS or bool(_WORDS.fullmatch(path.name)) or path.resolve() in known


def _match(
    files: Sequence[Path], table: _LabelTable, allow_missing: bool
) -> tuple[list[tuple[Path, int]], tuple[str, ...]]:
    """Each file with the row of its labels, in the order of the rows, and what was passed over.

    Raises
    ------
    OptionError
        Where a row has no file, a file no row or several, or a row several files that aren't distinct sessions or runs.
    """
    found = [(path, i) for i in range(len(table.ids)) for path in _files_of(files, table, i)]
    used = {path for path, _ in found}
    rows = {i for _, i in found}
    lonely = [table.row(i) for i in range(len(table.ids)) if i not in rows]
    unnamed = [path.name for path in files if path not in used]
    parts = [f"rows without a file: {name_some(lonely)}"] if lonely else []
    parts += [f"files without a row: {name_some(unnamed)}"] if unnamed else []
    if parts and not (allow_missing and found):
        raise OptionError(
            f"labels and files don't match; {'; '.join(parts)}. A row's id (column {table.id_column!r}) must be a "
            "file's name, its sub- entity, a part of its name between marks or its folder; "
            f"{setting('id_column')} names another one, and {setting('allow_missing', True)} passes such over"
        )
    notes = (f"passed over: {_counted(lonely, 'row')} without a file: {name_some(lonely)}",) if lonely else ()
    notes += (f"passed over: {_counted(unnamed, 'file')} without a row: {name_some(unnamed)}",) if unnamed else ()
    for path, pairs in groupby(sorted(found), key=lambda pair: pair[0]):
        fitting = [table.row(i) for _, i in pairs]
        if len(fitting) > 1:
            raise OptionError(
                f"{path.name} fits several rows of the labels, {name_some(fitting)}: name each file in a column file"
            )
    for i, pairs in groupby(found, key=lambda pair: pair[1]):
        paths = [path for path, _ in pairs]
        if len({tuple(_entities(path).get(key) for key in _ENTITIES) for path in paths}) < len(paths):
            raise OptionError(
                f"row {table.row(i)} of the labels fits several files that aren't distinct sessions or runs, "
                f"{name_some([path.name for path in paths])}: choose with a pattern such as '**/*_timeseries.tsv', or "
                "name each file in a column file"
            )
    return found, notes


def _counted(things: Sequence[str], word: str) -> str:
    return f"{len(things)} {word}{'s' * (len(things) > 1)}"


def _files_of(files: Sequence[Path], table: _LabelTable, i: int) -> list[Path]:
    """Files of a row, by the strictest way of reading its id that finds some."""
    there = [path for path in files if _fits(path, "ses", table.sessions, i) and _fits(path, "run", table.runs, i)]
    for matches in _WAYS:
        if found := [path for path in there if matches(path, table.ids[i])]:
            return found
    return []


def _fits(path: Path, key: str, column: list[str] | None, i: int) -> bool:
    """Whether a file is of a row's session or run, as far as both say."""
    own = _entities(path).get(key)
    return column is None or own is None or column[i].removeprefix(f"{key}-") in (own, own.lstrip("0"))


def _entities(path: Path) -> dict[str, str]:
    """BIDS entities in a file's name, ``{"sub": "01", "ses": "1"}``."""
    return dict(_ENTITY.findall(_stem(path)))


def _is_name(path: Path, name: str) -> bool:
    return name in (path.name, _stem(path)) or path.as_posix().endswith(f"/{name}")


def _is_subject(path: Path, name: str) -> bool:
    return _entities(path).get("sub") == name.removeprefix("sub-")


def _is_part(path: Path, name: str) -> bool:
    if name.isdecimal() and "sub" in _entities(path):
        return False  # the number of a run or session is no subject's
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", _stem(path)) is not None


def _is_folder(path: Path, name: str) -> bool:
    return path.parent.name.removeprefix("sub-") == name.removeprefix("sub-")


def _is_conn(path: Path, name: str) -> bool:
    """Whether a result of CONN is of the subject of that number."""
    found = re.search(r"Subject0*([0-9]+)(?![0-9])", path.name)
    return found is not None and name.isdecimal() and found[1] == name.lstrip("0")


_NUMBERED = re.compile(r"(?:sub(?:ject)?)?[-_ ]?0*([0-9]+)", re.IGNORECASE)


def _is_number_of(path: Path, name: str) -> bool:
    """Whether a file is of the subject of that number: spreadsheets make 1 of 001."""
    own = _NUMBERED.fullmatch(_entities(path).get("sub", _stem(path)))
    wanted = _NUMBERED.fullmatch(name)
    return own is not None and wanted is not None and own[1] == wanted[1]


_WAYS: tuple[_Matches, ...] = (_is_name, _is_subject, _is_part, _is_conn, _is_folder, _is_number_of)


# Tables of labels and subjects (participants.tsv), and the atlas of the regions

# Common names of columns.
_SCAN_IDS = ("file", "filename", "file_name", "scan", "scan_id")
_SUBJECT_IDS = ("participant_id", "subject_id", "subject", "sub", "sub_id", "participant", "id")
_OTHER_IDS = ("name", "index")
_SESSIONS = ("session_id", "session", "ses")
_RUNS = ("run_id", "run")
_LABELS = ("label", "diagnosis")

_NAMES = ("name", "roi", "roi_name", "region", "abbrev", "label", "aal_name", "abbreviation")
_AXES = {axis: (axis, f"{axis}_mni", f"mni_{axis}", f"{axis}.mni", f"{axis}_mm") for axis in "xyz"}
_SYSTEMS = ("system", "network", "dos_system", "network_label", "functional_system", "module", "community")
_NO_SYSTEM = "none"

_Columns = dict[str, list[str]]


@dataclass(frozen=True)
class _LabelTable:
    """A row a scan, or a subject of several scans.

    Parameters
    ----------
    ids : list of str
    id_column : str
        Where they come from.
    labels : list of str
    subjects : list of str, or None
        None where no column names subjects.
    sessions, runs, sites : list of str, or None
    confounds : dict of str to list of str
        By column.
    notes : tuple of str
        Which columns were taken.
    """

    ids: list[str]
    id_column: str
    labels: list[str]
    subjects: list[str] | None
    sessions: list[str] | None
    runs: list[str] | None
    sites: list[str] | None
    confounds: dict[str, list[str]]
    notes: tuple[str, ...]

    @property
    def counted(self) -> bool:
        """Whether the ids are whole numbers of a column index."""
        return self.id_column.casefold() == "index" and all(x.isdecimal() for x in self.ids)

    def row(self, i: int) -> str:
        """What to call a row in a message."""
        parts = (self.ids, self.sessions, self.runs)
        return " ".join(part[i] for part in parts if part is not None)


def _read_labels(
    path: Path,
    *,
    label: str | None = None,
    group: str | None = None,
    id_column: str | None = None,
    classes: Sequence[Any] | None = None,
    score: str | None = None,
    confounds: Sequence[str] = (),
    site: str | None = None,
) -> _LabelTable:
    """Labels and subjects of scans; only columns with all `classes` can then be labels."""
    if score is not None and label is not None:
        raise OptionError(f"{argument('score', score)}: with {argument('label', label)} there are classes: give one")
    table = tables.read_table(path).columns
    ids = _column(table, id_column, (*_SCAN_IDS, *_SUBJECT_IDS, *_OTHER_IDS), "id_column", path)
    if ids is None:
        raise OptionError(f"{path}: no column names the scans; {setting('id_column')} names one of {', '.join(table)}")
    sessions, runs = (_column(table, None, names, "", path) for names in (_SESSIONS, _RUNS))
    groups = _column(table, group, _SUBJECT_IDS, "group", path)
    for name in confounds:
        _column(table, name, (), "confounds", path)
    sites = None if site is None else _column(table, site, (), "site", path)
    aside = {ids, sessions, runs, groups, sites, *confounds}
    labels = score or label or _label_column(table, aside, classes, path)
    if labels not in table:
        what = "score" if score else "label"
        raise OptionError(f"{path}: there is no column {labels!r} for {setting(what)}; there are {', '.join(table)}")
    if labels in confounds:
        raise OptionError(f"{path}: column {labels!r} is to be predicted, and can't be a confound")
    taken = f"columns taken from {path.name}: scans {ids}, labels {labels}, subjects {groups or '(none)'}"
    found = _LabelTable(
        table[ids],
        ids,
        table[labels],
        *(None if c is None else table[c] for c in (groups, sessions, runs, sites)),
        confounds={name: table[name] for name in confounds},
        notes=(taken,),
    )
    rows = [found.row(i) for i in range(len(found.ids))]
    for name in rows:
        if not name:
            raise FileError(f"{path}: row {rows.index(name) + 1} has no id of a scan")
        if rows.count(name) > 1:
            raise FileError(
                f"{path}: {name} stands in {rows.count(name)} rows: give each scan a row and a column that tells them "
                "apart (session_id, run, or file)"
            )
    return found


def read_atlas(path: str | Path, n: int | None = None) -> Rois:
    r"""Regions of an atlas, from a CSV or TSV file with a header and a row a region.

    Parameters
    ----------
    path : str or Path
        Columns name, x, y, z (MNI, mm) and system, or one of their other common names (``abbrev``, ``x_mni``,
        ``network``, ...); any may be absent, x, y and z together. In a node file colours stand for systems.
    n : int, optional
        Number of regions that there should be.

    Returns
    -------
    Rois
        With a note of the columns taken.

    Raises
    ------
    FileError
        Where the file can't be read, has no rows, a name twice or a row of another length; for another number of rows,
        and coordinates that are not numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "atlas.csv"
    ...     _ = path.write_text("name,x,y,z,network\nleft,-40,0,0,motor\nright,40,0,0,motor\n", encoding="utf-8")
    ...     rois = read_atlas(path)
    >>> rois.names, rois.coordinates[0].tolist(), rois.systems
    (('left', 'right'), [-40.0, 0.0, 0.0], ('motor', 'motor'))
    """
    file = Path(path)
    table = _read_nodes(file) if _suffix(file) == ".node" else tables.read_table(file).columns
    count = len(next(iter(table.values())))
    if n is not None and count != n:
        raise FileError(f"{file}: it has {count} regions and the scans have {n}: pass their own atlas")
    name, system = (_known_column(table, names) for names in (_NAMES, _SYSTEMS))
    axes = [_known_column(table, names) for names in _AXES.values()]
    taken = {"names": name, "coordinates": ", ".join(filter(None, axes)), "systems": system}
    origins = "; ".join(f"{what} from {column or '(no column)'}" for what, column in taken.items())
    note = f"{file.name}: {origins}" + (f"; {DERIVED}" if system == "dos_system" else "")
    names = [f"ROI {i + 1}" for i in range(count)] if name is None else table[name]
    distinct = tuple(text if names.count(text) == 1 else f"{text} {i + 1}" for i, text in enumerate(names))
    systems = None if system is None else tuple(label_text(x) or _NO_SYSTEM for x in table[system])
    return Rois(distinct, _coordinates(table, axes, file), systems, note)


def _read_nodes(file: Path) -> _Columns:
    """Columns of a node file: x, y, z, colour, size and name, no header."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{file}: can't be read ({error})") from None
    rows = [(i, line.split()) for i, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    for i, cells in rows:
        if len(cells) != 6:
            raise FileError(f"{file}, line {i}: {len(cells)} cells, where a node has x, y, z, colour, size and name")
    if not rows:
        raise FileError(f"{file}: there are no nodes in it")
    x, y, z, colour, _, name = (list(column) for column in zip(*(cells for _, cells in rows), strict=True))
    systems = {"system": [f"colour {text}" for text in colour]} if len(set(colour)) > 1 else {}
    return {"name": name, "x": x, "y": y, "z": z, **systems}


def _column(table: _Columns, named: str | None, known: Sequence[str], option: str, path: Path) -> str | None:
    """The column that the user named, or the first that has a common name."""
    if named is None:
        return _known_column(table, known)
    if named not in table:
        raise OptionError(f"{path}: there is no column {named!r} for {setting(option)}; there are {', '.join(table)}")
    return named


def _known_column(table: _Columns, known: Sequence[str]) -> str | None:
    folded = {column.casefold(): column for column in reversed(table)}
    return next((folded[name] for name in known if name in folded), None)


def _label_column(table: _Columns, taken: set[str | None], classes: Sequence[Any] | None, path: Path) -> str:
    """The one column of two values (or with all classes); columns that split the scans alike count as one."""
    texts = {c: [label_text(x) for x in cells] for c, cells in table.items() if c not in taken}
    wanted = None if classes is None else {str(label_text(x)) for x in classes}
    fit = {c: x for c, x in texts.items() if (wanted <= {*x} if wanted else len({*x} - {None}) == 2)}
    splits = {tuple(x.index(y) for y in x) for x in fit.values()}
    if len(splits) == 1:  # words say more than numbers
        return next((c for c in fit if not any(map(_is_number, fit[c]))), next(iter(fit)))
    named = [c for c in fit if c.casefold() in _LABELS]
    if len(named) == 1:
        return named[0]
    likely = [c for c in texts if c.casefold() in _LABELS]
    if not fit and not wanted and len(likely or texts) == 1:
        return (likely or list(texts))[0]  # its labels have a message of their own
    what = f"the labels {classes!r}" if wanted else "two different values"
    which = f"columns {', '.join(fit)} have" if fit else "no column has"
    raise OptionError(
        f"{path}: {which} {what}: name the labels with {setting('label')}, one of {', '.join(fit or texts)}, "
        f"or a score to predict with {setting('score')}"
    )


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _coordinates(table: _Columns, axes: Sequence[str | None], file: Path) -> FloatArray | None:
    there = [axis for axis in axes if axis is not None]
    if not there:
        return None
    if len(there) < len(axes):
        raise FileError(f"{file}: of the coordinates there is only {', '.join(there)}: give x, y and z, or none")
    for axis in there:
        for row, cell in enumerate(table[axis]):
            if not _is_number(cell):
                raise FileError(f"{file}: row {row + 1} has {cell!r} in column {axis}: fill in a number of mm")
    found = np.array([table[axis] for axis in there], np.float64).T
    if not np.isfinite(found).all():
        row = int(np.argmax(~np.isfinite(found).all(axis=1)))
        raise FileError(f"{file}: region in row {row + 1} has no coordinates: fill them in, or drop the columns")
    return found


# Numbers of one scan, or of all, from a file: text, NumPy's npy and npz, MATLAB's mat of version 5 and 7.3

Arrays = dict[str, NDArray[Any]]


class FileNumbers(NamedTuple):
    """Numbers of a file, names of their columns where it has a header, and whether they were Fisher z of CONN.

    Examples
    --------
    >>> FileNumbers(np.eye(2), ("left", "right")).values.shape
    (2, 2)
    """

    values: FloatArray
    columns: tuple[str, ...] | None
    turned: bool = False


def _suffix(path: Path) -> str:
    """The suffix of a file in lower case, ``.csv.gz`` in whole."""
    parts = [part.lower() for part in path.suffixes[-2:]]
    return "".join(parts) if parts[-1:] == [".gz"] else "".join(parts[-1:])


def _stem(path: Path) -> str:
    """The name of a file without its suffix."""
    return path.name[: len(path.name) - len(_suffix(path))]


def read_numbers(path: Path, array: str | None = None) -> FileNumbers:
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
    suffix = _suffix(path)
    try:
        if suffix.startswith((".csv", ".tsv", ".txt")):
            return _read_text(path)
        if suffix in (".1d", ".edge"):
            return FileNumbers(_read_plain(path), None)
        arrays = _BINARY[suffix](path, array)
        if {"Z", "names"} <= set(arrays) and array is None:
            return _of_conn(arrays, path)
        return FileNumbers(_as_numbers(arrays, path, array), None)
    except KeyError:
        raise FileError(f"{path}: {suffix or 'no suffix'} is not read, only {', '.join(SUFFIXES)}") from None
    except (MissingExtraError, FileError, OptionError):
        raise
    except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: can't be read as numbers ({error})") from None


def _read_plain(path: Path) -> FloatArray:
    """Rows of numbers between white space, with remarks after #, as AFNI and BrainNet Viewer write them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a file without rows, which has a message of its own
        found = np.loadtxt(path, dtype=np.float64, comments="#", ndmin=2)
    if not found.size:
        raise FileError(f"{path}: there are no numbers in it")
    return found


def _of_conn(arrays: Arrays, path: Path) -> FileNumbers:
    """Correlations among the regions of a result of CONN, whose Z has those with more targets in columns."""
    z, names = arrays["Z"], [str(np.asarray(x).ravel()[0]) for x in arrays["names"].ravel() if np.asarray(x).size]
    n = len(names)
    if z.ndim != 2 or z.shape[0] != n or z.shape[1] < n:
        raise FileError(f"{path}: Z of shape {z.shape} for {n} names is no result of one subject of CONN")
    found = np.tanh(np.asarray(z[:, :n], np.float64))
    if np.isnan(found.diagonal()).all():
        np.fill_diagonal(found, 1.0)
    return FileNumbers(found, tuple(names), turned=True)


def _read_text(path: Path) -> FileNumbers:
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
    return FileNumbers(frame.to_numpy(np.float64), None if names is None or _counts(names) else names)


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
    return _counts(tuple(cells)) or not all(_is_number_or_missing(cell) for cell in cells)


def _counts(cells: tuple[str, ...]) -> bool:
    held = [cell for cell in cells if cell]
    return len(held) > 1 and held in ([str(i) for i in range(len(held))], [str(i + 1) for i in range(len(held))])


def _is_number_or_missing(cell: str) -> bool:
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
        structs = [f"{name} is a struct of {', '.join(x.dtype.names)}" for name, x in arrays.items() if x.dtype.names]
        remedy = f"; {'; '.join(structs)}: save what is wanted as an array of its own" if structs else ""
        raise FileError(f"{path}: there is no array of numbers; it has {_shapes(arrays) or 'nothing'}{remedy}")
    if len(numeric) > 1:
        raise FileError(f"{path}: there are several arrays, {_shapes(numeric)}: name one with {setting('array')}")
    ((name, found),) = numeric.items()
    if found.dtype.kind not in "fiu":
        raise FileError(f"{path}: array {name!r} holds {found.dtype}, not numbers")
    return np.asarray(found, np.float64)


def _shapes(arrays: Arrays) -> str:
    return ", ".join(f"{name} of shape {x.shape}" for name, x in arrays.items())
