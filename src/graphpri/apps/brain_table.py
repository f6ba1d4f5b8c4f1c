"""Tables beside scans: labels and subjects (participants.tsv), and the atlas of the regions."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphpri.apps.brain_data import DERIVED, Rois
from graphpri.apps.brain_labels import label_text
from graphpri.errors import FileError, OptionError
from graphpri.graph import FloatArray

SCAN_IDS = ("file", "filename", "file_name", "scan", "scan_id")
SUBJECT_IDS = ("participant_id", "subject_id", "subject", "sub", "sub_id", "participant", "id")
OTHER_IDS = ("name", "index")
SESSIONS = ("session_id", "session", "ses")
RUNS = ("run_id", "run")
LABELS = ("label", "diagnosis")

_NAMES = ("name", "roi", "roi_name", "region", "abbrev", "label", "aal_name", "abbreviation")
_AXES = {axis: (axis, f"{axis}_mni", f"mni_{axis}", f"{axis}.mni", f"{axis}_mm") for axis in "xyz"}
_SYSTEMS = ("system", "network", "dos_system", "network_label", "functional_system", "module", "community")
_NO_SYSTEM = "none"

Columns = dict[str, list[str]]


@dataclass(frozen=True)
class LabelTable:
    """A row a scan, or a subject of several scans.

    Parameters
    ----------
    ids : list of str
    id_column : str
        Where they come from.
    labels : list of str
    subjects : list of str, or None
        None where no column names subjects.
    sessions, runs : list of str, or None
    notes : tuple of str
        Which columns were taken.

    Examples
    --------
    >>> table = LabelTable(["01", "01"], "subject", ["open", "closed"], ["01", "01"], ["a", "b"], None, ())
    >>> table.row(1), table.counted
    ('01 b', False)
    """

    ids: list[str]
    id_column: str
    labels: list[str]
    subjects: list[str] | None
    sessions: list[str] | None
    runs: list[str] | None
    notes: tuple[str, ...]

    @property
    def counted(self) -> bool:
        """Whether the ids are whole numbers of a column index."""
        return self.id_column.casefold() == "index" and all(x.isdecimal() for x in self.ids)

    def row(self, i: int) -> str:
        """What to call a row in a message."""
        parts = (self.ids, self.sessions, self.runs)
        return " ".join(part[i] for part in parts if part is not None)


def _read_columns(path: Path) -> Columns:
    """Columns of a CSV or TSV file as text, by their names in the header.

    Raises
    ------
    FileError
        Where it can't be read, has no rows, a name twice, or a row of another length.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            file.seek(0)
            mark = next((mark for mark in ("\t", ",", ";") if mark in head), ",")
            header, *rows = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=mark) if any(row)]
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path}: can't be read as a table ({error})") from None
    except ValueError:
        raise FileError(f"{path}: the table is empty") from None
    if not rows:
        raise FileError(f"{path}: the table has a header and no rows")
    if len(set(header)) < len(header):
        raise FileError(f"{path}: two columns have the same name")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise FileError(f"{path}: row {i + 1} has {len(row)} cells, and the header has {len(header)}")
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def read_labels(
    path: Path,
    *,
    label: str | None = None,
    group: str | None = None,
    id_column: str | None = None,
    classes: Sequence[Any] | None = None,
) -> LabelTable:
    r"""Labels and subjects of scans.

    Parameters
    ----------
    path : Path
        CSV or TSV with a header.
    label, group, id_column : str, optional
        Columns; see :func:`graphpri.apps.brain_files.read_connectomes`.
    classes : sequence of two labels, optional
        Only columns with both can then be labels.

    Raises
    ------
    FileError
        Where the file can't be read, has no rows, a name twice, a row of another length or two rows of one scan.
    OptionError
        For a column that isn't there, and where several or none can be the labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "participants.csv"
    ...     text = "participant_id,age,diagnosis\n01,31,ASD\n02,29,TD\n03,40,TD\n"
    ...     _ = path.write_text(text, encoding="utf-8")
    ...     found = read_labels(path)
    >>> found.ids, found.labels, found.subjects
    (['01', '02', '03'], ['ASD', 'TD', 'TD'], ['01', '02', '03'])
    """
    table = _read_columns(path)
    ids = _one(table, id_column, (*SCAN_IDS, *SUBJECT_IDS, *OTHER_IDS), "id_column", path)
    if ids is None:
        raise OptionError(f"{path}: no column names the scans; id_column= names one of {', '.join(table)}")
    sessions, runs = (_one(table, None, names, "", path) for names in (SESSIONS, RUNS))
    groups = _one(table, group, SUBJECT_IDS, "group", path)
    labels = label or _label_column(table, {ids, sessions, runs, groups}, classes, path)
    if labels not in table:
        raise OptionError(f"{path}: there is no column {labels!r} for label=; there are {', '.join(table)}")
    taken = f"columns taken from {path.name}: scans {ids}, labels {labels}, subjects {groups or '(none)'}"
    found = LabelTable(
        table[ids],
        ids,
        table[labels],
        *(None if c is None else table[c] for c in (groups, sessions, runs)),
        notes=(taken,),
    )
    _check_rows(found, path)
    return found


def read_atlas(path: str | Path, n: int | None = None) -> Rois:
    r"""Regions of an atlas, from a CSV or TSV file with a header and a row a region.

    Parameters
    ----------
    path : str or Path
        Columns name, x, y, z (MNI, mm) and system, or one of their other common names (``abbrev``, ``x_mni``,
        ``network``, ...); any may be absent, x, y and z together.
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
    table = _read_columns(file)
    count = len(next(iter(table.values())))
    if n is not None and count != n:
        raise FileError(f"{file}: it has {count} regions and the scans have {n}: pass their own atlas")
    name, system = (_first(table, names) for names in (_NAMES, _SYSTEMS))
    axes = [_first(table, names) for names in _AXES.values()]
    taken = {"names": name, "coordinates": ", ".join(filter(None, axes)), "systems": system}
    told = "; ".join(f"{what} from {column or '(no column)'}" for what, column in taken.items())
    note = f"{file.name}: {told}" + (f"; {DERIVED}" if system == "dos_system" else "")
    names = tuple(f"ROI {i + 1}" for i in range(count)) if name is None else _distinct(table[name])
    systems = None if system is None else tuple(label_text(x) or _NO_SYSTEM for x in table[system])
    return Rois(names, _coordinates(table, axes, file), systems, note)


def _one(table: Columns, named: str | None, known: Sequence[str], option: str, path: Path) -> str | None:
    """The column that the user named, or the first that has a common name."""
    if named is None:
        return _first(table, known)
    if named not in table:
        raise OptionError(f"{path}: there is no column {named!r} for {option}=; there are {', '.join(table)}")
    return named


def _first(table: Columns, known: Sequence[str]) -> str | None:
    folded = {column.casefold(): column for column in reversed(table)}
    return next((folded[name] for name in known if name in folded), None)


def _label_column(table: Columns, taken: set[str | None], classes: Sequence[Any] | None, path: Path) -> str:
    """The one column of two values (or with both classes); columns that split the scans alike count as one."""
    texts = {c: [label_text(x) for x in cells] for c, cells in table.items() if c not in taken}
    wanted = None if classes is None else {str(label_text(x)) for x in classes}
    fit = {c: x for c, x in texts.items() if (wanted <= {*x} if wanted else len({*x} - {None}) == 2)}
    splits = {tuple(x.index(y) for y in x) for x in fit.values()}
    if len(splits) == 1:  # words say more than numbers
        return next((c for c in fit if not any(map(_is_number, fit[c]))), next(iter(fit)))
    named = [c for c in fit if c.casefold() in LABELS]
    if len(named) == 1:
        return named[0]
    likely = [c for c in texts if c.casefold() in LABELS]
    if not fit and not wanted and len(likely or texts) == 1:
        return (likely or list(texts))[0]  # its labels have a message of their own
    what = f"the labels {classes!r}" if wanted else "two different values"
    which = f"columns {', '.join(fit)} have" if fit else "no column has"
    raise OptionError(f"{path}: {which} {what}: name the labels with label=, one of {', '.join(texts)}")


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _check_rows(found: LabelTable, path: Path) -> None:
    rows = [found.row(i) for i in range(len(found.ids))]
    for name in rows:
        if not name:
            raise FileError(f"{path}: row {rows.index(name) + 1} has no id of a scan")
        if rows.count(name) > 1:
            raise FileError(
                f"{path}: {name} stands in {rows.count(name)} rows: give each scan a row and a column that tells them "
                "apart (session_id, run, or file)"
            )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names of regions; those that stand twice get their row's number."""
    return tuple(name if names.count(name) == 1 else f"{name} {i + 1}" for i, name in enumerate(names))


def _coordinates(table: Columns, axes: Sequence[str | None], file: Path) -> FloatArray | None:
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
