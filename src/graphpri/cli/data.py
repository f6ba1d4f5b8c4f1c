"""``graphpri data``: the named data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from graphpri.cli import show
from graphpri.cli.options import Json

if TYPE_CHECKING:
    from graphpri.datasets import Dataset, Table

app = App(
    name="data",
    help="List, fetch and describe the named data sets.",
    help_epilogue="""\
Examples:
  graphpri data list
  graphpri data info jazz
  graphpri data get jazz --from ~/downloads/jazz       into the cache, where every command finds it

The environment variable GRAPHPRI_DATA names a folder of data sets, GRAPHPRI_CACHE another place for the cache.""",
)

Name = Annotated[str, Parameter(name="NAME", help="A data set's name; see 'graphpri data list'.")]


@app.command(name="list")
def list_names(*, json: Json = False) -> None:
    """List the data sets, their sizes, and where each is found."""
    from graphpri import datasets

    rows = [_facts(datasets.info(name)) for name in datasets.names()]
    others = {
        kind: [_facts(datasets.about(name)) for name in listed()]
        for kind, listed in (("tables", datasets.tables), ("brain_networks", datasets.scan_sets))
    }
    if json:
        print(show.as_json({"data_sets": rows, **others}))
        return
    brief = ("name", "nodes", "edges", "weights", "found", "title")
    print(show.table([{key: row[key] or "" for key in brief} for row in rows]))
    for held in others.values():
        size = [key for key in held[0] if key in ("rows", "columns", "scans", "regions")]
        print()
        print(show.table([{key: row[key] for key in ("name", *size, "found", "title")} for row in held]))


@app.command
def get(
    name: Name,
    /,
    *,
    source: Annotated[
        str | None,
        Parameter(
            name="--from",
            metavar="SOURCE",
            help="A folder, a file, or an http(s) address; GRAPHPRI_DATA (or networkx) where absent.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put a data set's files into the cache, after checking them."""
    from graphpri import datasets

    files = [str(file) for file in datasets.get(name, source)]
    print(show.as_json({"name": datasets.about(name).name, "files": files}) if json else "\n".join(files))


@app.command
def info(name: Name, /, *, json: Json = False) -> None:
    """Say what a data set is, where it comes from and on what terms."""
    from graphpri import datasets

    facts = _facts(datasets.about(name))
    if json:
        print(show.as_json(facts))
        return
    title, label = facts.pop("title"), facts.pop("name")
    facts["files"] = " ".join(file["path"] for file in facts["files"]) or None
    print(f"{label}: {title}\n{show.fields((key.replace('_', ' '), value) for key, value in facts.items())}")


@app.command(name="path")
def places(*, json: Json = False) -> None:
    """Print the folders that data sets are looked for in, the cache last."""
    folders = [str(folder) for folder in _folders()]
    print(show.as_json({"folders": folders, "cache": folders[-1]}) if json else "\n".join(folders))


def _folders() -> list[Path]:
    from graphpri.datasets import cache_folder

    named = os.environ.get("GRAPHPRI_DATA")
    return ([Path(named).expanduser()] if named else []) + [cache_folder()]


def _facts(dataset: Dataset | Table) -> dict[str, Any]:
    from graphpri import datasets

    size: dict[str, Any]
    if isinstance(dataset, datasets.ScanSet):
        size = {"scans": dataset.n_rows, "regions": dataset.n_columns, "classes": " or ".join(dataset.classes)}
    elif isinstance(dataset, datasets.Table):
        size = {"rows": dataset.n_rows, "columns": dataset.n_columns}
    else:
        size = {"nodes": dataset.n_nodes, "edges": dataset.n_edges, "weights": dataset.weights}
    return {
        "name": dataset.name,
        "title": dataset.title,
        **size,
        "found": _found(dataset),
        "in_the_paper": getattr(dataset, "alias", None),
        "citation": dataset.citation,
        "terms": dataset.terms,
        "files": [{"path": path, "sha256": digest} for path, digest in dataset.files],
    }


def _found(dataset: Dataset | Table) -> str:
    """Where a data set would be loaded from."""
    if not dataset.files:
        return "generated"
    for folder in _folders():
        if all((folder / path).is_file() for path, _ in dataset.files):
            return str(folder)
    return "networkx" if dataset.name in ("karate", "lesmis") else "not here"
