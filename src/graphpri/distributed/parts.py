"""The parts of the input: files of parquet or delimited text, read a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.distributed.store import file_system, find
from graphpri.errors import FileError, setting
from graphpri.io.columns import find_ends, whole_with_points
from graphpri.io.rows import INTEGER, NUMBER

ROWS = 1 << 18
"""Rows of a batch."""

TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".csv.gz", ".tsv.gz", ".txt.gz")
WEIGHT = "weight"
"""The column that has the weights where no other is named, and where there are any."""

MOST = 1e290
"""Largest weight: the sum of all must be finite."""

IGNORE_WEIGHTS = f"pass {setting('weight', None)} to take each edge for 1"
_UNNAMED = ["column 1", "column 2"]
"""What the ends are called in text without a header."""

_HEAD = 1 << 16
_BLOCK = 1 << 23


class Part(NamedTuple):
    """A file of the input, as it was found: its size and what tells one version from another."""

    path: str
    name: str
    size: int
    version: str


class Piece(NamedTuple):
    """What one task reads: a part, or some row groups of it, the rows of the part before them, and theirs.

    Rows of text are not counted beforehand: about 16 bytes are taken for one.
    """

    part: Part
    groups: tuple[int, ...] | None
    before: int
    rows: int


@dataclass(frozen=True)
class Reading:
    """Which columns are the ends, by their usual names where absent, and what a column of weights is called.

    Where numbers with a `point`, such as 1.0, are the integers that they are, words of text are read as these.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    point: bool = False

    def columns(self, ends: Sequence[str], names: list[str], part: Part) -> list[str]:
        """The columns to read: both ends, and the weights where there are any."""
        if self.weight in names:
            return [*ends, self.weight]
        if self.weight not in (None, WEIGHT):
            raise FileError(
                f"{part.name}: no column is called {self.weight}, named by {setting('weight', self.weight)} "
                f"(columns: {', '.join(names[:20])})"
            )
        return list(ends)


def listed(url: str) -> list[Part]:
    """The parts at a path, a folder or a pattern, by name.

    Raises
    ------
    FileError
        Where there is none.
    """
    try:
        return _listed(url, *file_system(url))
    except OSError as error:  # such as a server that does not answer
        raise FileError(f"{url}: can't be read ({' '.join(str(error).split())})") from None


def _listed(url: str, fs: Any, root: str) -> list[Part]:
    fs.invalidate_cache()
    nothing = "there is no such file"
    if "*" in root or "?" in root:
        paths = fs.glob(root)
    elif fs.isdir(root):
        paths = [path for path in fs.find(root) if not _is_hidden(path[len(root) :])]
        nothing = "the folder has no part in it"
    else:
        paths = [root] if fs.exists(root) else []
    known = [path for path in sorted(paths) if path.lower().endswith((".parquet", ".pq", *TEXT))]
    if not known:
        what = f"none of its {len(paths)} files ends in .parquet, .csv, .tsv or .txt" if paths else nothing
        raise FileError(f"{url}: {what}; the input is a folder of parts, one part, or a pattern")
    parts: list[Part] = []
    for path in known:
        facts = fs.info(path)
        version = facts.get("ETag") or facts.get("md5Hash") or facts.get("mtime") or facts.get("LastModified")
        parts.append(Part(fs.unstrip_protocol(path), path.rpartition("/")[2], int(facts["size"]), str(version)))
    return parts


def _is_hidden(path: str) -> bool:
    return any(name.startswith(("_", ".")) for name in path.split("/"))


def changed(before: list[Part], after: list[Part]) -> str | None:
    """What is different in the second list of parts, in words."""
    old, new = {part.path: part for part in before}, {part.path: part for part in after}
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            return f"{new[path].name} was added"
        if path not in new:
            return f"{old[path].name} was removed"
        if old[path] != new[path]:
            return f"{new[path].name} was changed"
    return None


def pieces(part: Part) -> list[Piece]:
    """Pieces of a part of about a batch each: by row groups of parquet; text is read in one go.

    Raises
    ------
    FileError
        Where the part is damaged.
    """
    if part.path.lower().endswith(TEXT):
        return [Piece(part, None, 0, part.size // 16)]
    found: list[Piece] = []
    with _opened(part) as file:
        rows, groups, before = 0, [], 0
        for group in range(file.metadata.num_row_groups):
            groups.append(group)
            rows += file.metadata.row_group(group).num_rows
            if rows >= 2 * ROWS or group == file.metadata.num_row_groups - 1:
                found.append(Piece(part, tuple(groups), before, rows))
                before, rows, groups = before + rows, 0, []
    return found or [Piece(part, (), 0, 0)]


class Decimals(NamedTuple):
    """Numbers with a point among the words that name nodes in text.

    Attributes
    ----------
    numbers, whole : bool
        Whether all words are numbers, and whether those with a point are integers, as tables with gaps write them.
    pointed, plain : tuple of bool
        Whether the words of either end have a point, and whether some have none.
    example : str
        One with a point, the first by its characters; empty where there is none.
    """

    numbers: bool = True
    whole: bool = True
    pointed: tuple[bool, bool] = (False, False)
    plain: tuple[bool, bool] = (False, False)
    example: str = ""

    def joined(self, other: Decimals) -> Decimals:
        """Of the words of both."""
        return Decimals(
            self.numbers and other.numbers,
            self.whole and other.whole,
            (self.pointed[0] or other.pointed[0], self.pointed[1] or other.pointed[1]),
            (self.plain[0] or other.plain[0], self.plain[1] or other.plain[1]),
            min(filter(None, (self.example, other.example)), default=""),
        )

    @property
    def are_integers(self) -> bool:
        """Whether the nodes are called by the integers that the words are, as in a file that is read whole."""
        mixed = any(a and b for a, b in zip(self.pointed, self.plain, strict=True))
        return bool(self.example) and self.numbers and self.whole and not mixed


def decimals_in(words: list[str], ends: Sequence[NDArray[np.integer[Any]]]) -> Decimals:
    """Look at different words, not all of which are integers, and at the places of both ends among them."""
    odd = next((word for word in words if not INTEGER.fullmatch(word)), "0")
    if not NUMBER.fullmatch(odd) or not all(map(NUMBER.fullmatch, words)):
        return Decimals(numbers=False)
    has_point = np.array(["." in word for word in words])
    pointed, plain = ((bool(some[ends[0]].any()), bool(some[ends[1]].any())) for some in (has_point, ~has_point))
    example = min((word for word in words if "." in word), default="")
    return Decimals(True, whole_with_points(words), pointed, plain, example)


class _opened:
    """A parquet file; what is wrong with it is an error that names the part."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __enter__(self) -> Any:
        fs, path = file_system(self.part.path)
        try:
            self.stream = fs.open(path, "rb")
            return find("pyarrow.parquet").ParquetFile(self.stream, pre_buffer=False)
        except Exception as error:
            raise _damaged(self.part, error) from None

    def __exit__(self, kind: Any, error: BaseException | None, at: Any) -> None:
        self.stream.close()
        if error is not None and isinstance(error, (find("pyarrow").ArrowException, OSError, EOFError)):
            raise _damaged(self.part, error) from None


def _damaged(part: Part, error: BaseException) -> FileError:
    if isinstance(error, FileError):
        return error
    if isinstance(error, FileNotFoundError):
        return FileError(f"{part.name}: the part is no longer there")
    return FileError(f"{part.name}: the part is damaged, or not what its name says ({' '.join(str(error).split())})")


class Batch(NamedTuple):
    """Rows of a piece.

    Attributes
    ----------
    before : int
        Rows before them.
    first, second : pyarrow.Array
        Their ends, both ``int64`` or both ``large_string``.
    weights : array of shape (rows,) or None
    words : tuple of str or None
        The first row of text that has no header, where it may be one: words, or 0 and 1, as pandas calls columns
        without a name.
    """

    before: int
    first: Any
    second: Any
    weights: NDArray[np.float64] | None
    words: tuple[str, str] | None


def batches(piece: Piece, reading: Reading) -> Iterator[Batch]:
    """The rows of a piece, a batch at a time.

    Raises
    ------
    FileError
        Names the part and, where there is one, the row.
    """
    pa = find("pyarrow")
    stream = _text_batches(piece, reading) if piece.groups is None else _parquet_batches(piece, reading)
    before = piece.before
    for batch in stream:
        columns = [_plain(pa, column, piece.part) for column in batch.columns[:2]]
        if columns[0].type != columns[1].type:
            raise FileError(
                f"{piece.part.name}: its ends are {columns[0].type} and {columns[1].type}: store both as integers or "
                "both as text"
            )
        for column in columns:
            if column.null_count:
                row = before + 1 + column.is_null().to_pylist().index(True)
                raise FileError(f"{piece.part.name}, row {row}: an end of the edge is missing")
        if piece.groups is None and reading.point:
            columns = [_integers(pa, column) for column in columns]
        weights = None if batch.num_columns < 3 else _weights(pa, batch.column(2), piece.part, before)
        words = (
            _perhaps_names(columns) if batch.num_rows and not before and batch.schema.names[:2] == _UNNAMED else None
        )
        yield Batch(before, columns[0], columns[1], weights, words)
        before += batch.num_rows


def _perhaps_names(columns: Sequence[Any]) -> tuple[str, str] | None:
    first, second = (str(column[0].as_py()) for column in columns)
    is_edge = (first, second) != ("0", "1") and any(map(NUMBER.fullmatch, (first, second)))
    return None if is_edge else (first, second)


def _integers(pa: Any, column: Any) -> Any:
    """Whole numbers that are written with a point or without."""
    coded = column.dictionary_encode()
    values = np.array([int(float(word)) for word in coded.dictionary.to_pylist()], np.int64)
    return pa.array(values[coded.indices.to_numpy()])


def _weights(pa: Any, column: Any, part: Part, before: int) -> NDArray[np.float64]:
    """The weights of a batch, all positive.

    Raises
    ------
    FileError
        For the first one that is missing, no number, or can't be used.
    """
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise FileError(f"{part.name}, row {before + row + 1}: the weight is missing: fill it in, or drop the row")
    if pa.types.is_boolean(column.type):
        raise FileError(f"{part.name}: its weights are true or false, not numbers: {IGNORE_WEIGHTS}")
    try:
        weights = column.cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row = next((i for i, text in enumerate(column.to_pylist()) if not _is_number(text)), 0)
        what = f"the weight {str(column[row].as_py())!r} is not a number: correct it, or {IGNORE_WEIGHTS}"
        raise FileError(f"{part.name}, row {before + row + 1}: {what}") from None
    wrong = ~((weights > 0) & (weights <= MOST))
    if wrong.any():
        row = int(wrong.argmax())
        raise FileError(
            f"{part.name}, row {before + row + 1}: the weight {weights[row]:g}; weights must be positive and at most "
            f"{MOST:g}: correct it, or {IGNORE_WEIGHTS}"
        )
    return weights


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def _plain(pa: Any, column: Any, part: Part) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_integer(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise FileError(f"{part.name}: node numbers beyond 64-bit integers: store them as text") from None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.large_string())
    raise FileError(f"{part.name}: ends of edges that are {kind} can't be read: store them as integers or text")


def _chosen(names: list[str], reading: Reading, part: Part) -> tuple[str, str] | None:
    if reading.source is None:
        found = find_ends(names)
        return None if found is None else (names[found[0]], names[found[1]])
    ends = str(reading.source), str(reading.target)
    for option, name in zip(("source", "target"), ends, strict=True):
        if name not in names:
            raise FileError(
                f"{part.name}: no column is called {name}, named by {setting(option, name)} "
                f"(columns: {', '.join(names[:20])})"
            )
    return ends


def _parquet_batches(piece: Piece, reading: Reading) -> Iterator[Any]:
    with _opened(piece.part) as file:
        names = list(file.schema_arrow.names)
        ends = _chosen(names, reading, piece.part)
        if ends is None:
            raise FileError(
                f"{piece.part.name}: no columns are called source and target, or the like (columns: "
                f"{', '.join(names[:20]) or 'none'}): pass {setting('source')} and {setting('target')}"
            )
        wanted = reading.columns(ends, names, piece.part)
        stream = file.iter_batches(ROWS, row_groups=list(piece.groups or ()), columns=wanted, use_threads=False)
        for batch in stream:
            yield batch.select(wanted)


class Layout(NamedTuple):
    """How a part of text is written: lines before the rows, the delimiter, names of the columns, and which to read."""

    skip: int
    delimiter: str
    names: list[str]
    wanted: list[str]


def layout(part: Part, head: str, reading: Reading) -> Layout | None:
    """What the first lines of a part of text say; None for one without rows.

    Comments begin with # or % and stand before the rows.

    Raises
    ------
    FileError
        Where a row has a single cell, or the first one may be a header of unknown names.
    """
    lines = head.splitlines()
    skip = next((i for i, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in "#%"), len(lines))
    rows = lines[skip : skip + 2]
    if not rows:
        return None
    delimiter = next((mark for mark in ",\t;" if mark in rows[0]), " ")
    cells = [[cell.strip().strip('"') for cell in row.split(delimiter)] for row in rows]
    if len(cells[0]) < 2:
        raise FileError(f"{part.name}, line {skip + 1}: no comma, tab, semicolon or space between two ends")
    ends = _chosen(cells[0], reading, part)
    if ends is not None:
        return Layout(skip + 1, delimiter, cells[0], reading.columns(ends, cells[0], part))
    whole = [[cell.lstrip("-").isdecimal() for cell in row[:2]] for row in cells]
    if len(cells) > 1 and not any(map(NUMBER.fullmatch, cells[0][:2])) and all(whole[1]):
        raise FileError(
            f"{part.name}, line {skip + 1}: the first row looks like a header of names that are not known "
            f"({', '.join(cells[0][:20])}): pass {setting('source')} and {setting('target')}"
        )
    names = [*_UNNAMED, *(f"column {i + 1}" for i in range(2, len(cells[0])))]
    names[2:3] = [WEIGHT] * len(names[2:3])  # as in a file that is read whole
    return Layout(skip, delimiter, names, reading.columns(names[:2], names, part))


def _text_batches(piece: Piece, reading: Reading) -> Iterator[Any]:
    pa, csv = find("pyarrow"), find("pyarrow.csv")
    part = piece.part
    fs, path = file_system(part.path)
    zipped = "gzip" if part.path.lower().endswith(".gz") else None
    try:
        with fs.open(path, "rb", compression=zipped) as stream:
            found = layout(part, stream.read(_HEAD).decode(errors="replace"), reading)
        if found is None:
            return
        how = csv.ReadOptions(use_threads=False, block_size=_BLOCK, skip_rows=found.skip, column_names=found.names)
        kinds = dict.fromkeys(found.wanted, pa.string())
        convert = csv.ConvertOptions(
            column_types=kinds, include_columns=found.wanted, null_values=[""], strings_can_be_null=True
        )
        with fs.open(path, "rb", compression=zipped) as stream:
            yield from csv.open_csv(stream, how, csv.ParseOptions(delimiter=found.delimiter), convert)
    except (pa.ArrowException, EOFError, OSError) as error:
        raise _damaged(part, error) from None
