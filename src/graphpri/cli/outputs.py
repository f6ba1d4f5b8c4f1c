"""Where results go: names of output files, checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphpri.cli.inputs import bare, has_folder_suffix, is_dataset, is_file, is_folder, is_graph_folder
from graphpri.cli.options import in_words
from graphpri.errors import FileError, MissingExtraError, OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".eps", ".ps")


class Target(NamedTuple):
    """An input and where its results go: a path or ``-`` for the graph, paths for picture and page, None for none."""

    input: str
    output: str | None
    format: str | None
    picture: str | None
    page: str | None = None


class Wanted(NamedTuple):
    """What the user asked for on output."""

    output: str | None
    output_format: str | None = None
    input_format: str | None = None
    plot: str | None = None
    force: bool = False
    page: str | None = None


def plan(inputs: Sequence[str], wanted: Wanted) -> list[Target]:
    """Say where the results of each input go, and refuse what can't be written, before any work is done.

    Raises
    ------
    OptionError
        For several inputs without a folder to write to, names that collide, and an unknown format.
    FileError
        For an output that exists (without `force`) or can't be written.
    MissingExtraError
        Where a library that the writing needs is not installed.
    """
    if inputs.count("-") > 1:
        raise OptionError("standard input (-) stands twice among the inputs, and can be read once")
    if wanted.output_format is not None:
        output_format("-", wanted.output_format)
    many = len(inputs) > 1
    folder = _folder(wanted.output, "-o", many)
    pictures = _folder(wanted.plot, "--plot", many)
    pages = _folder(wanted.page, "--report", many)
    targets: list[Target] = []
    for name in inputs:
        output, form = wanted.output, _wanted_format(name, wanted, folder)
        if output is not None:
            output = str(Path(output) / _file_name(name, form, wanted)) if folder else bare(output)
        picture = wanted.plot
        if pictures and picture is not None:
            picture = str(Path(picture) / f"{_stem(name)}.png")
        page = wanted.page
        if pages and page is not None:
            page = str(Path(page) / f"{_stem(name)}.html")
        targets.append(Target(name, output, form, picture, page))
    _check_distinct(targets)
    for target in targets:
        if target.output is not None:
            _check_graph(target.output, target.format, folder, wanted.force)
        if target.picture is not None:
            check_picture(target.picture, force=wanted.force, make=pictures)
        if target.page is not None:
            check_page(target.page, "--report", "a report", force=wanted.force, make=pages, pictures=True)
    return targets


def plan_points(name: str, points: Sequence[str], wanted: Wanted) -> list[str]:
    """Files in a folder for several graphs made from one input, checked as by :func:`plan`."""
    if len(set(points)) < len(points):
        raise OptionError(
            f"{next(p for p in points if points.count(p) > 1)} stands twice: its file can be written once"
        )
    if wanted.output_format is not None:
        output_format("-", wanted.output_format)
    form, stem = _wanted_format(name, wanted, folder=True), _stem(name)
    suffix = _file_name(name, form, wanted)[len(stem) :]
    places = [str(Path(wanted.output or ".") / f"{stem}-{point}{suffix}") for point in points]
    for place in places:
        _check_graph(place, form, folder=True, force=wanted.force)
    return places


def refuse_two_streams(output: str | None, what: str, *, json: bool) -> None:
    """Refuse JSON and what goes to ``-o -`` on the same stream."""
    if json and output == "-":
        raise OptionError(f"--json and '-o -' both want standard output: name a file for the {what}")


class TableFiles(NamedTuple):
    """Where a table goes, as CSV, and a picture of it."""

    output: str | None
    plot: str | None
    force: bool

    def check(self) -> None:
        """Refuse what can't be written."""
        refuse_same({"-o": self.output, "--plot": self.plot})
        if self.output is not None:
            check_path(self.output, force=self.force)
        if self.plot is not None:
            check_picture(self.plot, force=self.force)

    def write(self, rows: Sequence[dict[str, Any]], draw: Callable[[Axes], object]) -> None:
        """Write both; the picture is drawn first, so that where it can't be, nothing is there."""
        picture = b"" if self.plot is None else picture_bytes(draw, self.plot, (8, 5))
        if self.output is not None:
            from graphpri.io.tables import as_csv

            write_bytes(self.output, as_csv(rows).encode(), force=self.force)
        if self.plot is not None:
            write_bytes(self.plot, picture, force=self.force)


def check_path(path: str, *, force: bool, make: bool = False, arrays: bool = False) -> None:
    """Refuse a path that can't be written.

    With `make`, its folder may be yet to be made; with `arrays`, it may be a folder of arrays itself.
    """
    from graphpri.io import check_output

    if is_folder(path) and not arrays:
        raise FileError(f"{path}: can't be written, it is a directory")
    parent = Path(path).absolute().parent
    if is_folder(str(parent)) or not make:
        check_output(path, force=force)
        return
    while not (is_folder(str(parent)) or is_file(str(parent))):
        parent = parent.parent
    if is_file(str(parent)) or not os.access(parent, os.W_OK | os.X_OK):
        raise FileError(f"{path}: can't be written, {parent} is not a folder that can be written to")


def make_folder(path: str) -> None:
    """Make the folder of an output that goes into one."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: can't be written: {error.strerror}") from None


def check_picture(path: str, *, force: bool, make: bool = False) -> None:
    """Refuse a picture that can't be drawn or written."""
    if Path(path).suffix.lower() not in PICTURES:
        raise OptionError(f"--plot {path}: a picture's name ends in one of {' '.join(PICTURES)}")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", "drawing")
    check_path(path, force=force, make=make)


def check_page(path: str, option: str, what: str, *, force: bool, make: bool = False, pictures: bool = False) -> None:
    """Refuse a page that can't be made or written; `option` and `what` say in messages what it is."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"{option} {path}: {what}'s name ends in .html")
    if pictures and find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", f"drawing {what}'s pictures")
    check_path(path, force=force, make=make)


def picture_bytes(draw: Callable[[Axes], object], path: str, size: tuple[float, float] = (8, 7)) -> bytes:
    """What `draw` draws on axes, as the content of a picture file; needs no display."""
    import io

    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    held = io.BytesIO()
    kind = Path(path).suffix.lower().removeprefix(".")
    figure.savefig(held, format=kind, dpi=150, bbox_inches="tight", pad_inches=0.05)
    return held.getvalue()


def write_bytes(path: str, content: bytes, *, force: bool) -> None:
    """Write a file, all of it or nothing."""
    from graphpri.io.sink import open_sink

    if path != "-":
        make_folder(path)
    with open_sink(path, zipped=False, force=force) as sink:
        sink.write(content)


def _folder(path: str | None, option: str, many: bool) -> bool:
    """Whether a path is that of a folder that results go into."""
    if path is None:
        return False
    if path == "-":
        if many:
            raise OptionError(f"{option} - takes one input: name a folder for several")
        if option == "--plot":
            raise OptionError("--plot -: a picture goes to a file")
        return False
    if has_folder_suffix(path) or is_graph_folder(path):
        if many:
            raise OptionError(f"{option} {path}: this is the folder of one graph; several inputs need one for all")
        return False
    folder = path.endswith(("/", os.sep)) or is_folder(path)
    if many and not folder:
        raise OptionError(f"{option} {path}: several inputs need a folder to write to; write {path}/ if it is one")
    if folder and is_file(path):
        raise FileError(f"{path}: is a file, not a folder")
    return folder


def output_format(path: str, name: str | None) -> str:
    """Name of the format to write, by name or by the path's suffix.

    Raises
    ------
    OptionError
        For an unknown one, and one that is read only; lists others.
    """
    from graphpri.io import find_format

    try:
        known = find_format(path, name, written=True)[0]
        known.writer()
        return known.name
    except OptionError as error:
        raise OptionError(in_words(error.message, {"format": "output_format"})) from None


def _wanted_format(name: str, wanted: Wanted, folder: bool) -> str | None:
    """Format by name; None where the output's own suffix decides."""
    from graphpri.io import FOLDER, READ_ONLY

    if wanted.output_format is not None or wanted.output is None:
        return wanted.output_format
    if folder or wanted.output == "-":
        if wanted.input_format is not None:
            return "csv" if wanted.input_format in {known.name for known in READ_ONLY} else wanted.input_format
        if name == "-" or (is_dataset(name) and not is_file(name)):
            return "csv"
        if folder and is_graph_folder(name):
            return FOLDER.name
        own = _own_format(name)
        return "csv" if own is None else own if wanted.output == "-" else None
    return None


def _own_format(name: str) -> str | None:
    """The format that an input's own name says; None where it says none that can be written."""
    from graphpri.io import READ_ONLY, find_format

    try:
        own = find_format(name, None)[0]
    except OptionError:
        return None
    return None if own in READ_ONLY else own.name


def _stem(name: str) -> str:
    """Name of an input without folder and suffixes."""
    from graphpri.io import FOLDER, FORMATS, READ_ONLY

    if name == "-":
        return "stdin"
    base = Path(name).name
    plain = base[:-3] if base.lower().endswith(".gz") else base
    known = (*FORMATS, FOLDER, *READ_ONLY)
    suffix = max((s for f in known for s in f.suffixes if plain.lower().endswith(s)), key=len, default="")
    return plain[: len(plain) - len(suffix)] or plain


def _file_name(name: str, form: str | None, wanted: Wanted) -> str:
    """File in the output folder: the input's own name, or its stem with the suffix of another format."""
    from graphpri.io import find_format

    keeps = form is None or form == wanted.input_format or is_graph_folder(name)
    if keeps and wanted.output_format is None and name != "-" and not (is_dataset(name) and not is_file(name)):
        return Path(name).name
    known, zipped = find_format("-", form or "csv")
    return _stem(name) + known.suffixes[0] + (".gz" if zipped else "")


def _check_distinct(targets: Sequence[Target]) -> None:
    places: dict[str, str] = {}
    for target in targets:
        refuse_same({"-o": target.output, "--plot": target.picture, "--report": target.page})
        for path in (target.output, target.picture, target.page):
            if path is None or path == "-":
                continue
            place = os.path.abspath(path)
            if place in places:
                raise OptionError(f"{places[place]} and {target.input} would both be written to {path}: rename one")
            places[place] = target.input


PIECES = "pieces"
"""Folder within one of results that keeps finished pieces of work."""
_UNFINISHED = Path(PIECES) / "unfinished"


@contextmanager
def results_folder(name: str, *, force: bool) -> Generator[Path]:
    """A folder for results; one made here goes again where nothing came to stand in it.

    Its folder `PIECES` is what an interrupted run may have left there, and the next one uses. A run that was killed
    while it wrote results, see :func:`unfinished_until_written`, may be done again too.
    """
    path = Path(name)
    made = not path.exists()
    if not made and not path.is_dir():
        raise FileError(f"{name}: it is a file, not a folder; name a folder for the results")
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = [entry.name for entry in path.iterdir() if entry.name != PIECES]
    except OSError as error:
        raise FileError(f"{name}: the folder can't be made: {error.strerror}") from error
    if others and not force and not (path / _UNFINISHED).exists():
        raise FileError(
            f"{name}: the folder has files; name another one, or give --force: what {PIECES} keeps is used again"
        )
    try:
        yield path
    finally:
        if made:
            with suppress(OSError):
                path.rmdir()


@contextmanager
def unfinished_until_written(folder: Path) -> Generator[None]:
    """Within this results are written; a file says so, which stays where the run is killed before all are there."""
    mark = folder / _UNFINISHED
    try:
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
        yield
        mark.unlink()
    except OSError as error:
        raise FileError(f"{folder}: can't be written: {error.strerror}") from error


def refuse_same(paths: Mapping[str, str | None]) -> None:
    """Refuse one name for two outputs of a run, given by the options that ask for them."""
    first: dict[str, str] = {}
    for option, path in paths.items():
        if path is None or path == "-":
            continue
        other = first.setdefault(os.path.abspath(path), option)
        if other != option:
            raise OptionError(f"{other} and {option} would both be written to {path}: give them different names")


def _check_graph(path: str, form: str | None, folder: bool, force: bool) -> None:
    from graphpri.io import FOLDER

    try:
        known = output_format(path, form)
    except OptionError:
        if not folder:
            raise
        return  # an input of a batch whose suffix names no format: reading it says so, and the others go on
    if known == "parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "parquet", "writing parquet")
    if path != "-":
        check_path(path, force=force, make=folder, arrays=known == FOLDER.name)
    elif known == FOLDER.name:
        raise OptionError(f"-o -: {known} is a folder of files, and can't be standard output: pass --output-format")
