"""Which file is the scan of which row of a table of labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from graphpri.apps.brain_arrays import SUFFIXES, stem_of, suffix_of
from graphpri.apps.brain_data import listed
from graphpri.apps.brain_table import LabelTable
from graphpri.errors import FileError, OptionError

PASSED_OVER = (
    *(".json", ".toml", ".yaml", ".yml", ".xml", ".md", ".rst", ".html", ".htm", ".css", ".js", ".log", ".bib", ".pdf"),
    *(".svg", ".png", ".jpg", ".jpeg", ".gif", ".py", ".m", ".r"),
)
"""Suffixes of files in a folder of scans that are no scans."""

_WORDS = re.compile(
    r"(?:README|CHANGES|CHANGELOG|LICEN[CS]E|CITATION|AUTHORS)(?:\..*)?|participants\.tsv", re.IGNORECASE
)
_ENTITY = re.compile(r"([A-Za-z]+)-([A-Za-z0-9]+)")
_OWN = ("sub", "ses", "run")  # what tells scans apart
_END = re.compile(r"(?:_[A-Za-z]+)?(?:\.[A-Za-z0-9]+)+$")  # of a file's name: what it holds, and its suffix
_Matches = Callable[[Path, str], bool]


def find_files(place: Path, beside: Sequence[Path]) -> list[Path]:
    """Files of scans in a folder or of a pattern, in the order of their names.

    Raises
    ------
    FileError
        Where there are none, or one is of an unknown suffix.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("sub-02.csv", "sub-01.csv", "README.md", "labels.csv"):
    ...         Path(folder, name).touch()
    ...     found = find_files(Path(folder), [Path(folder, "labels.csv")])
    >>> [path.name for path in found]
    ['sub-01.csv', 'sub-02.csv']
    """
    if place.is_dir():
        found = place.rglob("*")
    elif any(mark in str(place) for mark in "*?["):
        found = Path(place.anchor).glob(str(place.relative_to(place.anchor)))
    else:
        raise FileError(f"{place}: no such file or folder")
    known = {path.resolve() for path in beside}
    files = sorted(path for path in found if path.is_file() and not _passed_over(path, place, known))
    for path in files:
        if suffix_of(path) not in SUFFIXES:
            raise FileError(
                f"{path}: not a file of numbers ({', '.join(SUFFIXES)}): move it away, or pass a pattern such as "
                f"'{_pattern(place, files)}'"
            )
    if not files:
        raise FileError(f"{place}: there are no files of scans ({', '.join(SUFFIXES)})")
    return files


def _pattern(place: Path, files: Sequence[Path]) -> str:
    """A pattern that finds files of numbers in the folder, by the end of their names."""
    read = [path for path in files if suffix_of(path) in SUFFIXES]
    good = next((path for word in ("timeseries", "relmat", "") for path in read if word in path.name), None)
    if good is None:
        return f"{place.name}/*.csv"
    end = _END.search(good.name)
    return f"{place.name}/{'**/' * (good.parent != place)}*{end[0] if end else ''}"


def _passed_over(path: Path, place: Path, known: set[Path]) -> bool:
    parts = path.relative_to(place).parts if place.is_dir() else (path.name,)
    hidden = any(part.startswith(".") for part in parts)
    return hidden or suffix_of(path) in PASSED_OVER or bool(_WORDS.fullmatch(path.name)) or path.resolve() in known


def match(files: Sequence[Path], table: LabelTable) -> list[tuple[Path, int]]:
    """Each file with the row of its labels, in the order of the rows.

    Raises
    ------
    OptionError
        Where a row has no file, a file no row or several, or a row several files that aren't distinct sessions or runs.

    Examples
    --------
    >>> table = LabelTable(["2", "1"], "participant_id", ["control", "patient"], None, None, None, ())
    >>> [(path.name, row) for path, row in match([Path("sub-1_bold.csv"), Path("sub-2_bold.csv")], table)]
    [('sub-2_bold.csv', 0), ('sub-1_bold.csv', 1)]
    """
    found = [(path, i) for i in range(len(table.ids)) for path in _files_of(files, table, i)]
    used = {path for path, _ in found}
    rows = {i for _, i in found}
    lonely = [table.row(i) for i in range(len(table.ids)) if i not in rows]
    unnamed = [path.name for path in files if path not in used]
    if lonely or unnamed:
        parts = [f"rows without a file: {listed(lonely)}"] if lonely else []
        parts += [f"files without a row: {listed(unnamed)}"] if unnamed else []
        raise OptionError(
            f"labels and files don't match; {'; '.join(parts)}. A row's id (column {table.id_column!r}) must be a "
            "file's name, its sub- entity, a part of its name between marks or its folder; id_column= names another one"
        )
    _check_one_row(found, table)
    _check_distinct(found, table)
    return found


def _files_of(files: Sequence[Path], table: LabelTable, i: int) -> list[Path]:
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
    return dict(_ENTITY.findall(stem_of(path)))


def _is_name(path: Path, name: str) -> bool:
    return name in (path.name, stem_of(path)) or path.as_posix().endswith(f"/{name}")


def _is_subject(path: Path, name: str) -> bool:
    return _entities(path).get("sub") == name.removeprefix("sub-")


def _is_part(path: Path, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", stem_of(path)) is not None


def _is_folder(path: Path, name: str) -> bool:
    return path.parent.name.removeprefix("sub-") == name.removeprefix("sub-")


_WAYS: tuple[_Matches, ...] = (_is_name, _is_subject, _is_part, _is_folder)


def _check_one_row(found: Sequence[tuple[Path, int]], table: LabelTable) -> None:
    for path, pairs in groupby(sorted(found), key=lambda pair: pair[0]):
        rows = [table.row(i) for _, i in pairs]
        if len(rows) > 1:
            raise OptionError(
                f"{path.name} fits several rows of the labels, {listed(rows)}: name each file in a column file"
            )


def _check_distinct(found: Sequence[tuple[Path, int]], table: LabelTable) -> None:
    for i, pairs in groupby(found, key=lambda pair: pair[1]):
        paths = [path for path, _ in pairs]
        keys = {tuple(_entities(path).get(key) for key in _OWN) for path in paths}
        if len(keys) < len(paths):
            raise OptionError(
                f"row {table.row(i)} of the labels fits several files that aren't distinct sessions or runs, "
                f"{listed([path.name for path in paths])}: choose with a pattern such as '**/*_timeseries.tsv', or "
                "name each file in a column file"
            )
