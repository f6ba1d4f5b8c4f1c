"""What we write, the field reads: every format by each library that knows it, with the same edges and attributes."""

from __future__ import annotations

import html
import inspect
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.io

from graphpri import io as gio
from graphpri.graph import EdgeTable

LABELS = ["ann", "bob", "cem", "dörte"]
ENDS = [(0, 1), (1, 2), (3, 2), (0, 3)]
WEIGHTS = [0.5, 2.25, 1e-3, 4.0]
KINDS = ["x", "near by", "x", "é"]
AGES = [31, 7, 64, 25]
CLUBS = ["red", "blue", "red & white", "blue"]


def table(directed: bool) -> EdgeTable:
    u, v = np.array(ENDS).T
    return EdgeTable(
        4,
        u,
        v,
        LABELS,
        directed,
        {"weight": WEIGHTS, "kind": KINDS},
        {"age": AGES, "club": CLUBS},
        {"name": "friends"},
    )


class Seen:
    """What a library has read: nodes and edges with attributes, None for what the format does not hold."""

    def __init__(self, nodes: Any, edges: Any, *, directed: bool | None = None) -> None:
        self.nodes, self.edges, self.directed = nodes, edges, directed


def of_networkx(graph: Any, label: str | None = None) -> Seen:
    name = {node: node if label is None else graph.nodes[node][label] for node in graph}
    nodes = [(name[node], data.get("age"), data.get("club")) for node, data in graph.nodes(data=True)]
    edges = [(name[u], name[v], data.get("weight"), data.get("kind")) for u, v, data in graph.edges(data=True)]
    return Seen(nodes, edges, directed=graph.is_directed())


def of_igraph(path: Path, name: str, label: str) -> Seen:
    ig = pytest.importorskip("igraph", reason="igraph is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an error would end the process: igraph leaves the entities of GML as they are
        graph = ig.Graph.Read(str(path), format=name)

    def value(item: Any, key: str) -> Any:
        found = item[key] if key in item.attributes() else None
        return html.unescape(found) if name == "gml" and isinstance(found, str) else found

    at = [value(v, label) for v in graph.vs]
    nodes = [(label, value(v, "age"), value(v, "club")) for label, v in zip(at, graph.vs, strict=True)]
    edges = [(at[e.source], at[e.target], value(e, "weight"), value(e, "kind")) for e in graph.es]
    return Seen(nodes, edges, directed=graph.is_directed())


def of_networkit(path: Path, reader: str, *arguments: Any) -> Seen:
    """Edges of NetworKit, whose nodes are numbers; it keeps weights, and no other attributes of these formats."""
    nk = pytest.importorskip("networkit", reason="NetworKit is not installed")
    found = getattr(nk.graphio, reader)(*arguments).read(str(path))
    graph = found[0] if isinstance(found, tuple) else found  # of GEXF, with the changes of dynamic graphs
    edges = [(LABELS[u], LABELS[v], w if graph.isWeighted() else None, None) for u, v, w in graph.iterEdgesWeights()]
    return Seen([(LABELS[i], None, None) for i in range(graph.numberOfNodes())], edges, directed=graph.isDirected())


def of_rows(rows: Any, *, kinds: bool = True) -> Seen:
    return Seen(None, [tuple(row) if kinds else (*tuple(row)[:3], None) for row in rows])


def by_pandas(path: Path, reader: str, **options: Any) -> Seen:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    if reader == "read_parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = getattr(pd, reader)(path, **options)
    assert list(frame) == ["source", "target", "weight", "kind"]
    return of_rows(frame.itertuples(index=False))


def by_pyarrow(path: Path, form: str) -> Seen:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.csv
    import pyarrow.parquet

    found = pyarrow.csv.read_csv(path) if form == "csv" else pyarrow.parquet.read_table(path)
    return of_rows(zip(*(found[key].to_pylist() for key in ("source", "target", "weight", "kind")), strict=True))


def by_scipy(path: Path) -> Seen:
    a = scipy.io.mmread(path).tocoo()
    rows = [(LABELS[i], LABELS[j], w, None) for i, j, w in zip(a.row, a.col, a.data, strict=True)]
    symmetric = bool((abs(a - a.T)).nnz == 0)
    return Seen(None, [row for row in rows if not symmetric or row[0] < row[1]], directed=not symmetric)


def by_numpy(path: Path) -> Seen:
    with np.load(path) as archive:
        ends = [archive[key].tolist() for key in ("source", "target")]
    return Seen(None, [(LABELS[u], LABELS[v], None, None) for u, v in zip(*ends, strict=True)])


def by_json(path: Path) -> Seen:
    key = "edges" if "edges" in inspect.signature(nx.node_link_graph).parameters else "link"  # before networkx 3.4
    return of_networkx(nx.node_link_graph(json.loads(path.read_text()), **{key: "links"}))


def by_igraph_pajek(path: Path) -> Seen:
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    if tuple(map(int, igraph.__version__.split(".")[:3])) < (0, 11, 5):
        pytest.skip("this igraph reads no attributes of its own names from Pajek files")
    return of_igraph(path, "pajek", "name")


READERS: dict[tuple[str, str], Callable[[Path], Seen]] = {
    ("csv", "pandas"): lambda path: by_pandas(path, "read_csv"),
    ("csv", "pyarrow"): lambda path: by_pyarrow(path, "csv"),
    ("tsv", "pandas"): lambda path: by_pandas(path, "read_csv", sep="\t"),
    ("edgelist", "networkx"): lambda path: of_networkx(nx.read_weighted_edgelist(path)),
    ("ncol", "igraph"): lambda path: of_igraph(path, "ncol", "name"),
    ("ncol", "networkx"): lambda path: of_networkx(nx.read_weighted_edgelist(path)),
    ("mtx", "scipy"): by_scipy,
    ("gml", "networkx"): lambda path: of_networkx(nx.read_gml(path)),
    ("gml", "igraph"): lambda path: of_igraph(path, "gml", "label"),
    ("gml", "networkit"): lambda path: of_networkit(path, "GMLGraphReader"),
    ("graphml", "networkx"): lambda path: of_networkx(nx.read_graphml(path)),
    ("graphml", "igraph"): lambda path: of_igraph(path, "graphml", "id"),
    ("graphml", "networkit"): lambda path: of_networkit(path, "GraphMLReader"),
    ("gexf", "networkx"): lambda path: of_networkx(nx.read_gexf(path), "label"),
    ("gexf", "networkit"): lambda path: of_networkit(path, "GEXFReader"),
    ("json", "networkx"): by_json,
    ("pajek", "networkx"): lambda path: of_networkx(nx.read_pajek(path)),
    ("pajek", "igraph"): by_igraph_pajek,
    ("metis", "networkit"): lambda path: of_networkit(path, "METISGraphReader"),
    ("npz", "numpy"): by_numpy,
    ("parquet", "pandas"): lambda path: by_pandas(path, "read_parquet"),
    ("parquet", "pyarrow"): lambda path: by_pyarrow(path, "parquet"),
}


def test_every_format_that_we_write_is_read_by_another_library() -> None:
    assert {name for name, _ in READERS} == {known.name for known in gio.FORMATS}


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize(("name", "library"), READERS)
def test_other_libraries_read_the_same_graph(name: str, library: str, directed: bool, tmp_path: Path) -> None:
    t = table(directed)
    if name == "metis":
        if directed:
            pytest.skip("METIS holds undirected graphs only")
        t = EdgeTable(**{**vars(t), "edge_attributes": {"weight": [2, 9, 4, 1]}})
    if name in ("edgelist", "ncol"):
        t = EdgeTable(**{**vars(t), "edge_attributes": {"weight": WEIGHTS}})
    path = tmp_path / ("graph" + next(known.suffixes[0] for known in gio.FORMATS if known.name == name))
    gio.write(t, path)
    seen = READERS[name, library](path)

    def order(u: str, v: str) -> tuple[str, str]:
        return (u, v) if directed and seen.directed is not False else (min(u, v), max(u, v))

    weights, kinds = t.edge_attributes["weight"], t.edge_attributes.get("kind", [None] * 4)
    expected = {order(LABELS[u], LABELS[v]): (w, k) for (u, v), w, k in zip(ENDS, weights, kinds, strict=True)}
    assert len(seen.edges) == len(expected)
    for u, v, weight, kind in seen.edges:
        right = expected.pop(order(u, v))
        assert weight is None or weight == right[0]
        assert kind is None or kind == right[1]
    if seen.directed is not None and name not in ("edgelist", "ncol"):
        assert seen.directed == directed
    for label, age, club in seen.nodes or []:
        i = LABELS.index(label)
        assert age is None or float(age) == AGES[i]
        assert club is None or club == CLUBS[i]
    holds = {"gml", "graphml", "gexf", "json", "pajek"}
    if name in holds and library != "networkit":
        assert sorted(label for label, *_ in seen.nodes) == sorted(LABELS)
        assert all(age is not None and club is not None for _, age, club in seen.nodes)
    if name in holds | {"csv", "tsv", "parquet"} and library != "networkit":
        assert all(kind is not None for *_, kind in seen.edges)
    if (name, library) not in (("npz", "numpy"), ("gml", "networkit")):  # which reads the ends only
        assert all(weight is not None for _, _, weight, _ in seen.edges)
