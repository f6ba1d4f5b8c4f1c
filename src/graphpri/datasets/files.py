"""Load named graphs: from the folder GRAPHPRI_DATA, the cache, or what comes with networkx; checksums always."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, cast
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import checked
from graphpri.datasets.catalogue import Dataset, ScanSet, Table, about, info, scan_sets, tables
from graphpri.datasets.generators import ring_knn, stochastic_block_model
from graphpri.errors import FileError, MissingExtraError, OptionError
from graphpri.graph import EdgeTable, Graph
from graphpri.io.tables import read_table

_GENERATED = {"g1": ring_knn, "g2": stochastic_block_model}
_LARGEST = 64 * 2**20  # bytes; no file of a data set comes near
_TIMEOUT = 60  # seconds

# networkx lists the characters in another order than Knuth's file.
# fmt: off
_LESMIS_IDS = (
    1, 0, 2, 3, 4, 5, 9, 6, 8, 7, 11, 14, 12, 32, 13, 10, 17, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    31, 15, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 47, 46, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
    60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 73, 75, 76,
)
# fmt: on


@checked
def load(name: str) -> EdgeTable:
    """Load a named graph with its weights and node attributes.

    Looks in the folder that the environment variable ``GRAPHPRI_DATA`` names, then in the cache; karate
    and lesmis also come with networkx, and g1 and g2 are generated.

    Parameters
    ----------
    name : str
        One of :func:`names`, or ``"g3"`` to ``"g6"``.

    Returns
    -------
    EdgeTable
        Nodes 0 to N − 1; weights, where there are any, in the edge attribute ``"weight"``.

    Raises
    ------
    OptionError
        For an unknown name.
    FileError
        Where a file is nowhere to be found (says how to get it), can't be read, or fails its checksum.

    Examples
    --------
    >>> karate = load("karate")
    >>> karate.n_nodes, karate.source.size, karate.node_attributes["club"][0]
    (34, 78, 'Mr. Hi')
    """
    dataset = info(name)
    if dataset.name in _GENERATED:
        return _as_table(_GENERATED[dataset.name](), dataset.name)
    texts = [_text(path, data) for path, data in contents(dataset).items()]
    return _parse(dataset, texts)


def contents(dataset: Dataset | Table) -> dict[str, bytes]:
    """Each file of a data set, checked, from the first place that has it.

    Raises
    ------
    FileError
        As in :func:`load`.
    """
    return {path: _find(dataset, path, digest) for path, digest in dataset.files}


@checked
def table(name: str) -> Any:
    """Load a named table as a pandas ``DataFrame``.

    Parameters
    ----------
    name : str
        One of :func:`tables`.

    Raises
    ------
    OptionError
        For an unknown name.
    FileError
        As in :func:`load`.
    MissingExtraError
        Where pandas is not installed.

    Examples
    --------
    >>> table("karate")
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: no table is called 'karate': known are parkinsons, school
    """
    if name not in tables():
        raise OptionError(f"no table is called {name!r}: known are {', '.join(tables())}")
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "pandas", "a table of rows") from error
    ((path, data),) = contents(about(name)).items()
    return pd.read_csv(io.StringIO(_text(path, data)))


@checked
def get(name: str, source: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """Put the files of a named graph or table into the cache, after checking them.

    Parameters
    ----------
    name : str
        One of :func:`names`, ``"g3"`` to ``"g6"``, or one of :func:`tables` or :func:`scan_sets`.
    source : str or path, optional
        A folder laid out like the cache, or one that holds the files themselves; the file of the edges,
        with that of the node attributes beside it; or an http or https address: of the file, of a folder
        (ends in a slash), or one where ``{path}`` stands for the path of a file. Where absent: the folder
        ``GRAPHPRI_DATA``, or networkx for karate and lesmis.

    Returns
    -------
    tuple of Path
        The files in the cache.

    Raises
    ------
    OptionError
        For an unknown name, a generated graph and another kind of address.
    FileError
        Where a file can't be had or written, or fails its checksum; the cache is then left as it was.

    Examples
    --------
    >>> get("g1")
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: g1 is generated, there is nothing to get: load it
    """
    dataset = about(name)
    if not dataset.files:
        raise OptionError(f"{dataset.name} is generated, there is nothing to get: load it")
    contents: dict[Path, bytes] = {}
    for path, digest in dataset.files:
        if source is None:
            contents[cache_folder() / path] = _find(dataset, path, digest)
        else:
            place, data = _fetch(os.fspath(source), path, dataset)
            contents[cache_folder() / path] = _verified(place, data, digest)
    for target, data in contents.items():
        _store(target, data)
    return tuple(contents)


def cache_folder() -> Path:
    """Folder of the cache: ``GRAPHPRI_CACHE``, else a folder graphpri where the platform keeps caches.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, GRAPHPRI_CACHE="graphs"):
    ...     cache_folder().name
    'graphs'
    """
    if named := os.environ.get("GRAPHPRI_CACHE"):
        return Path(named).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "graphpri"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "graphpri" / "Cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "graphpri"


def _find(dataset: Dataset | Table, path: str, digest: str) -> bytes:
    """Content of a file of a data set, from the first place that has it."""
    for folder in _folders():
        if (file := folder / path).is_file():
            return _verified(str(file), _read(file), digest)
    if dataset.name in ("karate", "lesmis"):
        return _verified(f"networkx's {dataset.name} graph", _from_networkx(path), digest)
    raise FileError(
        f"the data set {dataset.name!r} is not on this machine and can't be shipped: set GRAPHPRI_DATA to a folder "
        f"that holds {path}, put the file at {cache_folder() / path}, or run "
        f"'graphpri data get {dataset.name} --from FOLDER_OR_URL'"
    )


def _folders() -> Iterator[Path]:
    if named := os.environ.get("GRAPHPRI_DATA"):
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise FileError(f"GRAPHPRI_DATA names {folder}, which is not a folder: correct or unset it")
        yield folder
    yield cache_folder()


def _from_networkx(path: str) -> bytes:
    """The very bytes of a file, made from the graph that networkx ships."""
    import networkx as nx

    karate = path.startswith("karate")
    g: Any = nx.karate_club_graph() if karate else nx.les_miserables_graph()
    if path == "karate/nodes.csv":
        return ("node,club\n" + "".join(f"{u},{club}\n" for u, club in g.nodes(data="club"))).encode()
    number = dict(zip(g, range(34) if karate else _LESMIS_IDS, strict=True))
    rows = sorted((*sorted((number[u], number[v])), w) for u, v, w in g.edges(data="weight"))
    return ("source,target,weight\n" + "".join(f"{u},{v},{w if karate else float(w)}\n" for u, v, w in rows)).encode()


def _fetch(source: str, path: str, dataset: Dataset | Table) -> tuple[str, bytes]:
    """Where a file was found in a source that the user named, and its content."""
    scheme = urlsplit(source).scheme
    if scheme in ("http", "https"):
        return _download(source, path, dataset)
    if "://" in source:
        raise OptionError(f"from {source!r}: pass a folder, a file, or an http or https address, not {scheme}")
    place = Path(source).expanduser()
    own = PurePosixPath(path).name
    if place.is_dir():
        tried = [place / path, place / own]
    elif path == dataset.files[0][0]:
        tried = [place]
    else:
        tried = [place.with_name(own)]
    for file in tried:
        if file.is_file():
            return str(file), _read(file)
    raise FileError(f"{' and '.join(map(str, tried))}: no such file; {dataset.name} needs {path}")


def _download(source: str, path: str, dataset: Dataset | Table) -> tuple[str, bytes]:
    url = source.replace("{path}", path) if "{path}" in source else source + path if source.endswith("/") else source
    if url == source and len(dataset.files) > 1:
        needs = " and ".join(p for p, _ in dataset.files)
        raise OptionError(f"{dataset.name} consists of {needs}: give an address that ends in / or holds {{path}}")
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:
            data = cast("bytes", answer.read(_LARGEST + 1))
    except (URLError, OSError, ValueError) as error:
        raise FileError(f"{url}: can't be downloaded ({error})") from error
    if len(data) > _LARGEST:
        raise FileError(f"{url} is larger than any file of a data set ({_LARGEST} bytes): not the right one")
    return url, data


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise FileError(f"{file}: can't be read ({error.strerror})") from error


def _verified(place: str, data: bytes, digest: str) -> bytes:
    if (found := sha256(data).hexdigest()) != digest:
        raise FileError(
            f"{place} is damaged or another file: expected SHA-256 {digest}, found {found}; delete it and get it again"
        )
    return data


def _store(target: Path, data: bytes) -> None:
    """Write beside the target and rename, so that no half-written file is ever found there."""
    partial_file: str | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, partial_file = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        Path(partial_file).replace(target)
    except OSError as error:
        if partial_file is not None:
            Path(partial_file).unlink(missing_ok=True)
        raise FileError(f"{target}: can't be written ({error.strerror}); GRAPHPRI_CACHE names another place") from error


def _text(path: str, data: bytes) -> str:
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode()


def _parse(dataset: Dataset, texts: list[str]) -> EdgeTable:
    """Columns source, target[, weight] of numbers; node, then attributes in the second file."""
    dtype = np.int64 if dataset.weights is None else np.float64
    rows = np.loadtxt(io.StringIO(texts[0]), dtype, delimiter=",", skiprows=1, ndmin=2)
    columns: dict[str, Any] = {}
    if dataset.weights is not None:
        w = rows[:, 2].copy()
        columns["weight"] = w.astype(np.int64) if (w == np.floor(w)).all() else w
    u, v = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    attributes = _node_columns(texts[1].encode()) if len(texts) > 1 else {}
    named = {"name": dataset.name}
    return EdgeTable(dataset.n_nodes, u, v, edge_attributes=columns, node_attributes=attributes, graph_attributes=named)


def _node_columns(data: bytes) -> dict[str, list[Any]]:
    _, *columns = _columns(data).items()
    return {key: [int(x) for x in c] if all(x.isdecimal() for x in c) else list(c) for key, c in columns}


def _as_table(graph: Graph, name: str) -> EdgeTable:
    return EdgeTable(graph.n_nodes, graph.source, graph.target, graph_attributes={"name": name})


AtlasColumns = dict[str, tuple[str, ...]]


class Scans(NamedTuple):
    """Arrays of S scans over N regions; either `series` or `triangles` is there.

    Parameters
    ----------
    names : tuple of str, length S
    labels : tuple of str, length S
        The class of each scan, as text.
    classes : tuple of two str
    subjects : tuple of str, length S
    series : ndarray of float32, shape (S, T, N), or None
    triangles : ndarray of float32, shape (S, N(N − 1)/2), or None
        Strict lower triangles of Pearson correlations, row by row.
    atlas : dict of column to tuple of str, length N, or None
    note : str
        How the scans belong to subjects.

    Examples
    --------
    >>> series = np.zeros((2, 50, 4), np.float32)
    >>> both = Scans(("one", "two"), ("rest", "task"), ("rest", "task"), ("a", "b"), series, None, None, "")
    >>> both.series.shape, both.triangles is None
    ((2, 50, 4), True)
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    classes: tuple[str, str]
    subjects: tuple[str, ...]
    series: NDArray[np.float32] | None
    triangles: NDArray[np.float32] | None
    atlas: AtlasColumns | None
    note: str


@checked
def scans(name: str) -> Scans:
    """Load a named set of brain networks; :func:`graphpri.apps.brain_data.named` makes connectomes of it.

    Parameters
    ----------
    name : str
        One of :func:`scan_sets`.

    Raises
    ------
    OptionError
        For an unknown name.
    FileError
        As in :func:`load`.

    Examples
    --------
    >>> scans("karate")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: no set of brain networks is called 'karate': known are eoec, ...
    """
    facts = about(name) if str(name).casefold() in scan_sets() else None
    if not isinstance(facts, ScanSet):
        raise OptionError(f"no set of brain networks is called {name!r}: known are {', '.join(scan_sets())}")
    numbers, table, *atlas = contents(facts).values()
    rows = _columns(table)
    with np.load(io.BytesIO(numbers), allow_pickle=False) as arrays:
        ((key, values),) = arrays.items()
    names = rows.get("scan") or tuple(map("-".join, zip(rows["group"], rows["index"], strict=True)))
    return Scans(
        names=names,
        labels=rows.get("state") or rows["group"],
        classes=facts.classes,
        subjects=rows.get("subject", names),
        series=cast("NDArray[np.float32]", values) if key == "bold" else None,
        triangles=None if key == "bold" else cast("NDArray[np.float32]", values),
        atlas=_columns(atlas[0]) if atlas else None,
        note=facts.note,
    )


def _columns(data: bytes) -> AtlasColumns:
    return {name: tuple(cells) for name, cells in read_table(io.BytesIO(data), ",").columns.items()}
