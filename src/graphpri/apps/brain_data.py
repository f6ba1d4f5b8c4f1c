"""Connectomes: correlation matrices of many scans with a label each, checked, and the regions they join.

Each error names the scan, and the region or entry, at fault.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpri import datasets
from graphpri.errors import Note, OptionError, argument, setting
from graphpri.graph import BoolArray, FloatArray, IntArray

Values = Sequence[Any] | NDArray[Any]

MISSING = frozenset({"", "n/a", "na", "nan", "none", "null"})
"""Text, in lower case, that stands for no value."""

SHORT = 30
"""Time points up to which a series is noted as short."""

DERIVED = "the functional systems of the AAL regions are derived from near Dosenbach regions, not published"
"""What to say wherever the systems of the AAL atlas are shown."""

_LEAST_SCANS = 2  # of a class
_MOST_CLASSES = 10  # that are taken without being named
_LEAST_SHAPE = 3  # regions, and time points
_TOLERANCE = 1e-5  # of correlations written in single precision or to six digits
_CONSTANT = 1e-12  # of the largest entry
_OUT = f"leave out the region in all scans ({setting('drop_regions', True)}), or the scan"
_SUBJECT = re.compile(r"(?:^|[_/\\])sub-([A-Za-z0-9]+)")  # in names of BIDS entities, sub-01_task-rest


@dataclass(frozen=True, eq=False)
class Rois:
    """Regions of interest, the nodes of every graph.

    Parameters
    ----------
    names : tuple of str, length N
    coordinates : ndarray of float64, shape (N, 3), or None
        Centres in MNI space, mm.
    systems : tuple of str, length N, or None
        Functional system of each region.
    note : str
        A caveat to print wherever the systems are shown; empty where there is none.

    Examples
    --------
    >>> atlas = Rois(("left", "right"), np.array([[-40.0, 0.0, 0.0], [40.0, 0.0, 0.0]]), ("motor", "motor"))
    >>> atlas.names, atlas.systems
    (('left', 'right'), ('motor', 'motor'))
    """

    names: tuple[str, ...]
    coordinates: FloatArray | None = None
    systems: tuple[str, ...] | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Connectomes:
    """Correlation matrices of S scans over N regions, each with a class, or with a score to predict.

    Build one with :func:`from_series`, :func:`from_matrices`, :func:`named` or
    :func:`graphpri.apps.brain_files.read_connectomes`, which check what they are given.

    Parameters
    ----------
    matrices : ndarray of float64, shape (S, N, N)
        Pearson correlations: symmetric, diagonal 1.
    labels : ndarray of int64, shape (S,)
        Classes, numbers from 0; zeros where there is a score.
    classes : tuple of str
        What labels mean; empty where there is a score.
    groups : tuple of str, length S
        The subject of each scan.
    scans : tuple of str, length S
        Names of the scans.
    rois : Rois
    series : tuple of ndarray of float64, shapes (T, N), or None
        What the correlations come from, where it is known; T may differ between scans.
    grouped : bool
        Whether subjects were given; else each scan counts as a subject of its own.
    notes : tuple of str
        Warnings to show.
    target : ndarray of float64, shape (S,), or None
        The score, such as age.
    confounds : ndarray of float64, shape (S, Q), or None
        What is to be removed from edges within training scans; text and sites have a column for each value but one.
    confound_names : tuple of str
        What they come from, before that.
    sites : tuple of str, length S, or None
        Where each scan was made.
    score_name : str
        What the score is called.

    Examples
    --------
    >>> scans = from_matrices([np.eye(3)] * 6, ["old", "young"] * 3, groups=[1, 1, 2, 2, 3, 3])
    >>> scans.n_scans, scans.n_rois, scans.classes, scans.groups
    (6, 3, ('old', 'young'), ('1', '1', '2', '2', '3', '3'))
    >>> scans.take(scans.labels == 1).scans
    ('1', '3', '5')
    """

    matrices: FloatArray
    labels: IntArray
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    scans: tuple[str, ...]
    rois: Rois
    series: tuple[FloatArray, ...] | None = None
    grouped: bool = False
    notes: tuple[str, ...] = ()
    target: FloatArray | None = None
    confounds: FloatArray | None = None
    confound_names: tuple[str, ...] = ()
    sites: tuple[str, ...] | None = None
    score_name: str = "the score"

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where there is a score."""
        return len(self.classes)

    @property
    def truth(self) -> FloatArray | IntArray:
        """What is to be predicted: the score, or the labels."""
        return self.labels if self.target is None else self.target

    @property
    def n_scans(self) -> int:
        """Number of scans S."""
        return self.matrices.shape[0]

    @property
    def n_rois(self) -> int:
        """Number of regions N."""
        return self.matrices.shape[1]

    def take(self, index: ArrayLike) -> Connectomes:
        """Some of the scans, in the order given; a fold may hold one class only.

        Parameters
        ----------
        index : array_like of int or of bool
            Positions, or a mask of length S.
        """
        at = np.arange(self.n_scans)[np.asarray(index)]
        return replace(
            self,
            matrices=self.matrices[at],
            labels=self.labels[at],
            groups=tuple(self.groups[i] for i in at),
            scans=tuple(self.scans[i] for i in at),
            series=None if self.series is None else tuple(self.series[i] for i in at),
            target=None if self.target is None else self.target[at],
            confounds=None if self.confounds is None else self.confounds[at],
            sites=None if self.sites is None else tuple(self.sites[i] for i in at),
        )


def from_series(
    series: Sequence[ArrayLike],
    labels: Values,
    *,
    groups: Values | None = None,
    classes: Sequence[Any] | None = None,
    scans: Sequence[str] | None = None,
    rois: Rois | None = None,
    score: bool = False,
    confounds: Mapping[str, Values] | None = None,
    sites: Values | None = None,
    drop_regions: bool = False,
) -> Connectomes:
    """Connectomes from the time series of regions.

    Parameters
    ----------
    series : sequence of array_like, each of shape (T, N)
        A row a time point, a column a region; T may differ between scans.
    labels : sequence, length S
        Numbers or text of a few values, or numbers of any value for a `score`.
    groups : sequence, optional
        Subject of each scan; needed where a subject has several scans.
    classes : sequence of labels, optional
        Which labels to compare, the first as 0; scans of other labels are left out and noted. Where absent all of
        them, at most ten, in the order of numbers or of the alphabet.
    scans : sequence of str, optional
        Names of the scans; their numbers from 0 where absent.
    rois : Rois, optional
        Names "ROI 1" and so on where absent.
    score : bool
        Whether `labels` are a score to predict, such as age, and no classes.
    confounds : mapping of str to sequence, optional
        Of each scan; text, and what is called site or scanner, counts as so many values, other columns as numbers.
    sites : sequence, optional
        Where each scan was made.
    drop_regions : bool
        Whether regions without a signal in some scan are left out of all, and noted; else they are an error.

    Raises
    ------
    OptionError
        For a region that is constant or has a NaN (names scan and region), for fewer than 3 time points or regions, for
        scans of different regions, for labels that aren't of two to ten classes with two scans each or more, for scores
        that aren't numbers or are all alike, for confounds that are missing or the same in all scans, and for several
        scans of a subject, as their names have it (``sub-01_...``), without `groups`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = from_series([rng.normal(size=(50, 4)) for _ in range(6)], ["patient", "control"] * 3)
    >>> found.matrices.shape, found.classes, found.labels.tolist()
    ((6, 4, 4), ('control', 'patient'), [1, 0, 1, 0, 1, 0])
    """
    names = _scan_names(len(series), labels, scans)
    held = [_as_table(x, name) for x, name in zip(series, names, strict=True)]
    _check_widths(held, names)
    dead = [~np.isfinite(x).all(axis=0) | _constant(x) for x in held] if drop_regions else []
    held, rois, note = _without_regions(held, dead, names, rois, square=False)
    regions = None if rois is None else rois.names
    for x, name in zip(held, names, strict=True):
        _check_series(x, name, regions)
    matrices = _symmetric(np.stack([np.corrcoef(x, rowvar=False) for x in held]))
    known = _Facts(labels, groups, classes, names, rois, score, confounds, sites)
    found = _assemble(matrices, known, tuple(held))
    return replace(found, notes=note + _about_lengths(tuple(held), names) + found.notes)


def from_matrices(
    matrices: ArrayLike | Sequence[ArrayLike],
    labels: Values,
    *,
    groups: Values | None = None,
    classes: Sequence[Any] | None = None,
    scans: Sequence[str] | None = None,
    rois: Rois | None = None,
    score: bool = False,
    confounds: Mapping[str, Values] | None = None,
    sites: Values | None = None,
    drop_regions: bool = False,
    fisher_z: bool = False,
) -> Connectomes:
    """Connectomes from correlation matrices.

    Parameters
    ----------
    matrices : array_like of shape (S, N, N), or sequence of array_like of shape (N, N)
        A diagonal of zeros or NaN is set to 1 and noted.
    labels, groups, classes, scans, rois, score, confounds, sites, drop_regions
        As in :func:`from_series`.
    fisher_z : bool
        Whether the entries are Fisher z = artanh r of the correlations.

    Raises
    ------
    OptionError
        For a matrix that isn't square or symmetric, that has a NaN, an entry beyond ±1 or another diagonal (names scan
        and entry); and as in :func:`from_series`.

    Examples
    --------
    >>> found = from_matrices([np.eye(3) + 0.1 * k * (1 - np.eye(3)) for k in range(4)], [1, 1, 0, 0])
    >>> found.n_scans, found.n_rois, found.classes
    (4, 3, ('0', '1'))
    """
    names = _scan_names(len(matrices), labels, scans)  # pyright: ignore[reportArgumentType]
    held = [_as_table(x, name) for x, name in zip(matrices, names, strict=True)]  # pyright: ignore[reportArgumentType]
    for x, name in zip(held, names, strict=True):
        if x.shape[0] != x.shape[1]:
            raise OptionError(f"scan {name} has shape {x.shape}: a correlation matrix is square")
    _check_widths(held, names)
    held, rois, note = _without_regions(
        held, [_silent(x) for x in held] if drop_regions else [], names, rois, square=True
    )
    held = [_filled_diagonal(np.tanh(x) if fisher_z else x) for x in held]
    regions = None if rois is None else rois.names
    for x, name in zip(held, names, strict=True):
        _check_matrix(x, name, regions)
    blank = [name for x, name in zip(held, names, strict=True) if _has_blank_diagonal(x)]
    known = _Facts(labels, groups, classes, names, rois, score, confounds, sites)
    found = _assemble(_symmetric(np.stack(held)), known, None)
    if blank:
        text = f"{len(blank)} matrices ({name_some(blank)}) had a diagonal of zeros or NaN, which was set to 1"
        note += (text if fisher_z else Note(f"{text}; if they hold Fisher z, say {setting('fisher_z', True)}"),)
    return replace(found, notes=note + _about_silence(found) + found.notes)


def named(name: str, *, drop_regions: bool = False) -> Connectomes:
    """A named data set of brain networks, from the folder GRAPHPRI_DATA or the cache.

    Parameters
    ----------
    name : {"eoec", "devfmri"}
        Eyes open against eyes closed, 94 scans of 47 subjects, 116 AAL regions; children against adults, 83 people, 64
        BASC parcels.
    drop_regions : bool
        As in :func:`from_series`.

    Raises
    ------
    OptionError
        For another name.
    FileError
        Where a file is nowhere to be found (says how to get it) or fails its checksum.

    Examples
    --------
    >>> named("adhd")
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: no set of brain networks is called 'adhd': known are eoec, devfmri
    """
    raw = datasets.scans(name)
    facts: dict[str, Any] = {"groups": raw.subjects, "classes": raw.classes, "scans": raw.names}
    facts["drop_regions"] = drop_regions
    if raw.atlas is not None:
        at = np.array([raw.atlas[axis] for axis in ("x_mni", "y_mni", "z_mni")], np.float64).T
        facts["rois"] = Rois(raw.atlas["abbrev"], at, raw.atlas["dos_system"], DERIVED)
    if raw.triangles is not None:
        found = from_matrices(full(raw.triangles), raw.labels, **facts)
    else:
        found = from_series(list(np.asarray(raw.series)), raw.labels, **facts)
    return replace(found, notes=(*found.notes, raw.note))


def full(triangles: ArrayLike) -> FloatArray:
    """Correlation matrices from lower triangles row by row, shape (S, N(N − 1)/2) or (S, N(N + 1)/2) to (S, N, N).

    Triangles are strict unless :func:`have_diagonals` finds diagonals in them.

    Raises
    ------
    OptionError
        Where no N has that many pairs.

    Examples
    --------
    >>> full([[0.1, 0.2, 0.3]])[0].tolist()
    [[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]]
    """
    rows = np.asarray(triangles, np.float64)
    n = sides(rows.shape[1])
    if n is None:
        raise OptionError(f"rows of {rows.shape[1]} numbers are no triangles: N regions have N(N - 1)/2 pairs")
    if have_diagonals(rows):
        rows, n = np.delete(rows, _diagonal(n - 1), axis=1), n - 1
    matrices = np.zeros((rows.shape[0], n, n))
    u, v = np.tril_indices(n, -1)
    matrices[:, u, v] = matrices[:, v, u] = rows
    matrices[:, np.arange(n), np.arange(n)] = 1.0
    return matrices


def have_diagonals(triangles: FloatArray) -> bool:
    """Whether rows of triangles have diagonals, as those of nilearn's ``ConnectivityMeasure(vectorize=True)``.

    A triangle of N regions with its diagonal is as long as a strict one of N + 1. Correlations tell them apart: all
    entries on the diagonal are 1, or 1/√2 where a library keeps the norm of the matrix (nilearn does).

    Examples
    --------
    >>> have_diagonals(np.array([[0.7071068, 0.3, 0.7071068, 0.1, 0.2, 0.7071068]]))
    True
    >>> have_diagonals(np.array([[0.7, 0.3, 0.5, 0.1, 0.2, 0.7]]))
    False
    """
    n = sides(triangles.shape[1])
    if n is None or n < 3:
        return False
    at = triangles[:, _diagonal(n - 1)]
    one = float(at[0, 0])
    return min(abs(one - 1), abs(one - 0.5**0.5)) < _ROUNDED and bool((np.abs(at - one) < _ROUNDED).all())


_ROUNDED = 1e-5


def _diagonal(n: int) -> NDArray[np.int64]:
    """Places of the diagonal in a lower triangle row by row."""
    row = np.arange(n)
    return row * (row + 3) // 2


def sides(pairs: int) -> int | None:
    """The N that has so many pairs N(N − 1)/2; None where none has.

    Examples
    --------
    >>> sides(6670), sides(5)
    (116, None)
    """
    n = round((1 + (1 + 8 * pairs) ** 0.5) / 2)
    return n if n > 1 and n * (n - 1) // 2 == pairs else None


def name_some(names: Sequence[str], most: int = 5) -> str:
    """The first few of some names, and how many more there are.

    Examples
    --------
    >>> name_some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _have(scans: Sequence[str]) -> str:
    """The beginning of a sentence about what scans have."""
    return f"scan {scans[0]} has" if len(scans) == 1 else f"scans {name_some(scans)} have"


def label_text(label: Any) -> str | None:
    """A label as text, 1.0 as "1"; None where it is missing.

    Examples
    --------
    >>> label_text(1.0), label_text(" patient "), label_text("n/a")
    ('1', 'patient', None)
    """
    if isinstance(label, (bool, np.bool_)):
        return str(int(label))
    if isinstance(label, (float, np.floating)) and np.isfinite(label) and label == int(label):
        label = int(label)
    text = str(label).strip()
    return None if text.casefold() in MISSING else text


def _scan_names(count: int, labels: Values, scans: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(map(str, range(count) if scans is None else scans))
    if not count:
        raise OptionError("there are no scans: pass four or more, two of each class")
    if not count == len(labels) == len(names):
        raise OptionError(f"{count} scans, {len(labels)} labels and {len(names)} names of scans: pass as many of each")
    if repeats := [name for name, times in Counter(names).items() if times > 1]:
        raise OptionError(f"scans {name_some(repeats)} stand twice: names must differ")
    return names


class _Facts(NamedTuple):
    """What is known of the scans besides their numbers."""

    labels: Values
    groups: Values | None
    classes: Sequence[Any] | None
    names: tuple[str, ...]
    rois: Rois | None
    score: bool
    confounds: Mapping[str, Values] | None
    sites: Values | None


def _assemble(matrices: FloatArray, known: _Facts, series: tuple[FloatArray, ...] | None) -> Connectomes:
    texts = [label_text(x) for x in known.labels]
    names, n = known.names, matrices.shape[1]
    target, classes = None, ()
    if known.score:
        if known.classes is not None:
            raise OptionError(f"{argument('classes', known.classes)}: a score has no classes")
        target = _score(known.labels, texts, names)
        codes, kept = np.zeros(len(names), np.int64), np.ones(len(names), np.bool_)
    else:
        classes = _classes(texts, names, known.classes)
        codes = np.array([classes.index(text) if text in classes else 0 for text in texts], np.int64)
        kept = np.array([text in classes for text in texts])
    subjects = names if known.groups is None else _texts(known.groups, names, "subject", "as many groups as scans")
    rois = known.rois or Rois(tuple(f"ROI {i + 1}" for i in range(n)))
    if len(rois.names) != n:
        raise OptionError(f"the atlas has {len(rois.names)} regions and the scans have {n}: pass their own")
    sites = None if known.sites is None else _texts(known.sites, names, "site")
    every = Connectomes(
        matrices, codes, classes, subjects, names, rois, series, known.groups is not None, target=target, sites=sites
    )
    found = every.take(kept)
    if known.groups is None:
        _check_subjects(found.scans)
    out = int((~kept).sum())
    notes = (f"scans left out for another label or none: {out}",) if out else ()
    if known.confounds:
        columns = {
            name: [x for x, chosen in zip(values, kept, strict=True) if chosen]
            for name, values in known.confounds.items()
            if len(values) == len(names) or _wrong_length(name, values, names)
        }
        table, note = _confounds(columns, found.scans)
        found = replace(found, confounds=table, confound_names=tuple(columns))
        notes += (note,)
    return replace(found, notes=notes + _about_subjects(found) + _about_copies(found))


def _wrong_length(name: str, values: Values, names: tuple[str, ...]) -> bool:
    raise OptionError(f"confound {name!r} has {len(values)} values for {len(names)} scans: pass as many")


def _score(labels: Values, texts: Sequence[str | None], names: tuple[str, ...]) -> FloatArray:
    """The score of each scan, as numbers."""
    found = np.zeros(len(names))
    for i, (text, name) in enumerate(zip(texts, names, strict=True)):
        if text is None:
            raise OptionError(f"scan {name} has no score: fill it in, or leave the scan out")
        try:
            found[i] = float(text)
        except ValueError:
            raise OptionError(f"scan {name} has the score {labels[i]!r}, which is no number") from None
    if not np.isfinite(found).all() or np.ptp(found) == 0:
        raise OptionError("the scores must be finite numbers that are not all alike")
    return found


def _texts(values: Values, names: tuple[str, ...], what: str, as_many: str = "as many") -> tuple[str, ...]:
    """A value of each scan as text; `as_many` ends what is said of a wrong number of them."""
    if len(values) != len(names):
        raise OptionError(f"{len(values)} {what}s for {len(names)} scans: pass {as_many}")
    found = tuple(label_text(x) for x in values)
    if without := [name for name, text in zip(names, found, strict=True) if text is None]:
        raise OptionError(f"{_have(without)} no {what}: fill it in, or leave them out")
    return tuple(map(str, found))


_NOMINAL = frozenset({"site", "site_id", "scanner", "scanner_id", "center", "centre", "batch"})


def _number(text: str) -> float:
    """The number that a text is; NaN where it is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def _confounds(columns: Mapping[str, Values], names: tuple[str, ...]) -> tuple[FloatArray, str]:
    """A column for each number, and for each value but the first of text and sites; and how they were read."""
    table: list[FloatArray] = []
    read: list[str] = []
    for name, values in columns.items():
        texts = _texts(values, names, name)
        kinds = sorted(set(texts))
        numbers = np.array([_number(x) for x in texts])
        there = np.isfinite(numbers)
        if len(kinds) == 1:
            raise OptionError(f"confound {name!r} is {kinds[0]!r} in all scans: leave it out")
        if there.any() and name.casefold() not in _NOMINAL:
            if not there.all():
                i = int(np.argmin(there))
                raise OptionError(
                    f"scan {names[i]} has {texts[i]!r} for the confound {name!r}, which is a number in {there.sum()} "
                    "other scans: correct it, or leave the scan out"
                )
            table.append(numbers)
            read.append(f"{name} (a number)")
            continue
        if len(kinds) > len(names) // 2:
            raise OptionError(
                f"confound {name!r} has {len(kinds)} different values, such as {kinds[0]!r}, which are no numbers: too "
                f"many for {len(names)} scans"
            )
        table += [np.array([float(x == kind) for x in texts]) for kind in kinds[1:]]
        read.append(f"{name} ({len(kinds)} values)")
    return np.column_stack(table), f"confounds removed within training scans: {', '.join(read)}"


def _classes(texts: Sequence[str | None], scans: Sequence[str], classes: Sequence[Any] | None) -> tuple[str, ...]:
    """The labels to compare: those of `classes`, or all that there are, each of two scans or more."""
    counts = Counter(text for text in texts if text is not None)
    try:
        order = sorted(counts, key=float)
    except ValueError:
        order = sorted(counts)
    each = ", ".join(f"{name!r} of {counts[name]}" for name in order[:6]) + (", ..." if len(order) > 6 else "")
    there = f"{len(counts)} labels (and scans): {each}"
    if classes is not None:
        chosen = tuple(str(label_text(x)) for x in classes)
        if isinstance(classes, str) or len(chosen) < 2 or len(set(chosen)) < len(chosen):
            raise OptionError(f"{argument('classes', classes)}: name two or more different labels")
        for name in chosen:
            if name not in counts:
                raise OptionError(f"{argument('classes', classes)}: no scan has the label {name!r}; there are {there}")
    else:
        if without := [scan for text, scan in zip(texts, scans, strict=True) if text is None]:
            raise OptionError(
                f"{_have(without)} no label: fill it in, or choose classes with {setting('classes')}, which leaves out "
                "scans of other labels or none"
            )
        folded = {text.casefold(): text for text in reversed(order)}
        if other := next((text for text in order if folded[text.casefold()] != text), None):
            raise OptionError(
                f"labels {folded[other.casefold()]!r} and {other!r} differ in case only: write them alike, or choose "
                f"classes with {setting('classes')}"
            )
        if len(counts) == 1:
            raise OptionError(f"all {len(texts)} scans have the label {order[0]!r}: two classes are needed")
        if len(counts) > _MOST_CLASSES:
            raise OptionError(
                f"there are {there}: choose some with {setting('classes')}, another column of labels, or predict them "
                f"as a score with {setting('score')}"
            )
        chosen = tuple(order)
    for name in chosen:
        if counts[name] < _LEAST_SCANS:
            raise OptionError(
                f"class {name!r} has {counts[name]} scan: each class needs {_LEAST_SCANS} or more; there are {there}"
            )
    return chosen


def _check_subjects(scans: tuple[str, ...]) -> None:
    """Names of scans that show several of one subject, which nobody said belong together."""
    times = Counter(found[1] for scan in scans if (found := _SUBJECT.search(scan)))
    if repeats := [subject for subject, n in times.items() if n > 1]:
        raise OptionError(
            f"subjects {name_some(repeats)} have several scans and no groups were given: name their subjects "
            "(groups=), so that no subject is in training and test data at once"
        )


def _as_table(x: ArrayLike, name: str) -> FloatArray:
    try:
        found = np.array(x, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"scan {name} has entries that are not numbers: {error}") from None
    if found.ndim != 2:
        raise OptionError(f"scan {name} has shape {found.shape}: pass a table of time points by regions, or a matrix")
    if min(found.shape) < _LEAST_SHAPE:
        raise OptionError(
            f"scan {name} has shape {found.shape}: {_LEAST_SHAPE} rows and {_LEAST_SHAPE} columns are the least"
        )
    return found


def _check_widths(held: Sequence[FloatArray], names: Sequence[str]) -> None:
    n = held[0].shape[1]
    for x, name in zip(held, names, strict=True):
        if x.shape[1] != n:
            turned = x.shape[0] == held[0].shape[0] < min(n, x.shape[1])
            hint = "; are regions in rows? Then transpose the series" if turned else ""
            raise OptionError(
                f"scan {name} has {x.shape[1]} regions and scan {names[0]} has {n}: all must have the same{hint}"
            )


def _name_regions(columns: IntArray, n: int, regions: Sequence[str] | None) -> str:
    """The first of some of n regions, by number and name, and how many more there are."""
    i = int(columns[0])
    named = f" ({regions[i]})" if regions is not None and len(regions) == n else ""
    return f"ROI {i + 1}{named}" + (f" and {columns.size - 1} more" if columns.size > 1 else "")


def _constant(x: FloatArray) -> BoolArray:
    """Which columns of a series are constant."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.ptp(x, axis=0) <= _CONSTANT * np.abs(x).max(axis=0))


def _silent(x: FloatArray) -> BoolArray:
    """Which regions of a matrix have no correlations, or only zeros, as tools write those without a signal."""
    off = ~np.eye(len(x), dtype=bool)
    return ((~np.isfinite(x) | (x == 0)) & off).sum(axis=1) == len(x) - 1


def _without_regions(
    held: list[FloatArray], dead: Sequence[BoolArray], names: Sequence[str], rois: Rois | None, *, square: bool
) -> tuple[list[FloatArray], Rois | None, tuple[str, ...]]:
    """Scans and regions without those that are dead in some scan, and a note that counts them."""
    every = np.array(dead)
    if not every.any():
        return held, rois, ()
    out = np.flatnonzero(every.any(axis=0))
    n = held[0].shape[1]
    if n - out.size < _LEAST_SHAPE:
        worst = names[int(every.sum(axis=1).argmax())]
        raise OptionError(
            f"{out.size} of {n} regions have no signal in some scan, most in scan {worst}: leave out such scans first"
        )
    kept = np.setdiff1d(np.arange(n), out)
    regions = None if rois is None else rois.names
    if regions is not None and len(regions) != n:
        raise OptionError(f"the atlas has {len(regions)} regions and the scans have {n}: pass their own")
    known = rois or Rois(tuple(f"ROI {i + 1}" for i in range(n)))
    fewer = replace(
        known,
        names=tuple(known.names[i] for i in kept),
        coordinates=None if known.coordinates is None else known.coordinates[kept],
        systems=None if known.systems is None else tuple(known.systems[i] for i in kept),
    )
    times = [(known.names[i], int(every[:, i].sum())) for i in out]
    some = name_some([f"{name} in {count} scan{'s' * (count > 1)}" for name, count in times])
    note = f"regions left out of all scans, as they have no signal in some: {out.size} of {n} ({some})"
    return [x[np.ix_(kept, kept)] if square else x[:, kept] for x in held], fewer, (note,)


def _filled_diagonal(x: FloatArray) -> FloatArray:
    """The matrix; a diagonal of NaN throughout, as CONN leaves it, is blank (0)."""
    if not np.isnan(x.diagonal()).all():
        return x
    found = x.copy()
    np.fill_diagonal(found, 0.0)
    return found


def _check_series(x: FloatArray, name: str, regions: Sequence[str] | None) -> None:
    n = x.shape[1]
    bad = ~np.isfinite(x)
    if bad.any():
        raise OptionError(
            f"scan {name} has NaN or an infinite entry in "
            f"{_name_regions(np.flatnonzero(bad.any(axis=0)), n, regions)}: {_OUT}"
        )
    constant = np.flatnonzero(_constant(x))
    if constant.size:
        raise OptionError(
            f"scan {name} is constant in {_name_regions(constant, n, regions)}, which has no correlations: {_OUT}"
        )


def _symmetric(matrices: FloatArray) -> FloatArray:
    """Correlation matrices, shape (S, N, N), exactly symmetric, within [-1, 1] and with a diagonal of 1."""
    found = np.clip((matrices + matrices.swapaxes(1, 2)) / 2, -1, 1)
    at = np.arange(found.shape[1])
    found[:, at, at] = 1.0
    return found


def _has_blank_diagonal(x: FloatArray) -> bool:
    return bool((np.abs(x.diagonal()) <= _TOLERANCE).all())


def _check_matrix(x: FloatArray, name: str, regions: Sequence[str] | None) -> None:
    bad = ~np.isfinite(x) & ~np.eye(len(x), dtype=bool)
    blank = _has_blank_diagonal(x)
    zeros = _silent(x) & (np.abs(x.diagonal()) <= _TOLERANCE)  # as tools write regions without a signal
    without = np.flatnonzero((bad.sum(axis=1) == len(x) - 1) | (zeros & (not blank)))
    if without.size:
        raise OptionError(f"scan {name} has no correlations of {_name_regions(without, len(x), regions)}: {_OUT}")
    beyond = f"correlations lie in [-1, 1]; {setting('fisher_z', True)} takes Fisher z"
    finite, diagonal = np.where(np.isfinite(x), x, 0.0), x.diagonal()
    cases = (
        (
            np.isinf(x),
            f"correlations lie in [-1, 1]; {setting('fisher_z', True)} takes Fisher z, of which that of 1 is infinite",
        ),
        (np.isnan(x), "pass numbers only"),
        (np.abs(finite - finite.T) > _TOLERANCE, "its mirror image differs: pass symmetric matrices"),
        (
            (np.abs(x) > 1 + _TOLERANCE) & ~np.eye(len(x), dtype=bool),
            f"{beyond}; divide covariances by the deviations",
        ),
        (
            np.diag((np.abs(diagonal - 1) > _TOLERANCE) & (not blank)),
            "the diagonal of a correlation matrix is 1 (or left at 0)",
        ),
    )
    for bad, remedy in cases:
        if bad.any():
            u, v = np.argwhere(bad)[0]
            raise OptionError(f"scan {name} has {x[u, v]:.6g} in row {u + 1}, column {v + 1}: {remedy}")


def _about_subjects(found: Connectomes) -> tuple[str, ...]:
    subjects = len(set(found.groups))
    if not found.grouped:
        return ("no subjects were given: each scan counts as another subject",)
    if subjects == found.n_scans:
        return ()
    return (f"{found.n_scans} scans of {subjects} subjects: folds keep the scans of a subject together",)


def _about_copies(found: Connectomes) -> tuple[str, ...]:
    """Scans that are the same numbers under two names: one in training and one in test data would leak."""
    first: dict[bytes, int] = {}
    pairs: list[str] = []
    for i, matrix in enumerate(found.matrices):
        j = first.setdefault(blake2b(matrix.tobytes()).digest(), i)
        if j != i and found.groups[j] != found.groups[i]:
            pairs.append(f"{found.scans[j]} = {found.scans[i]}")
    return (f"scans of different subjects are identical: {name_some(pairs)}",) if pairs else ()


def _about_silence(found: Connectomes) -> tuple[str, ...]:
    """Regions whose correlations are all 0 in a scan, as those of a region without signal are set by some tools."""
    silent = np.argwhere((found.matrices != 0).sum(axis=2) <= 1)
    if not silent.size:
        return ()
    silent_in = name_some([f"{found.rois.names[i]} in {found.scans[s]}" for s, i in silent])
    remedy = f"leave them out in all scans ({setting('drop_regions', True)}) if they have no signal"
    return (Note(f"regions without any correlation: {silent_in}; {remedy}"),)


def _about_lengths(series: tuple[FloatArray, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    lengths = [x.shape[0] for x in series]
    short = [name for name, length in zip(names, lengths, strict=True) if length <= SHORT]
    notes: list[str] = []
    if short:
        fewer = all(x.shape[0] < x.shape[1] for x in series)
        turned = ", or regions stand in rows: then transpose the series" if fewer else ""
        noise = f"their correlations are mostly noise{turned}"
        notes.append(f"scans of {SHORT} time points or fewer: {name_some(short)}; {noise}")
    if min(lengths) != max(lengths):
        notes.append(f"scans have {min(lengths)} to {max(lengths)} time points: short ones give noisier correlations")
    return tuple(notes)
