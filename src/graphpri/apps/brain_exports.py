"""Edges of brain networks in the files of other programs: BrainNet Viewer, GraphML, and a matrix of all importances."""

from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree as Xml

import numpy as np
from numpy.typing import ArrayLike

from graphpri.apps import Rows
from graphpri.apps.brain_data import Rois
from graphpri.apps.brain_graph import pairs, square


def brainnet_node(rois: Rois, edges: ArrayLike) -> str | None:
    r"""BrainNet Viewer's table of nodes: x, y, z, colour (number of the system), size (degree) and name.

    None where the regions have no coordinates. White space in names becomes a dot, as the format splits there.

    Examples
    --------
    >>> rois = Rois(("left M1", "V1"), np.array([[-40.0, -20.0, 50.0], [0.0, -90.0, 0.0]]), ("motor", "visual"))
    >>> brainnet_node(rois, [0]).splitlines()
    ['-40\t-20\t50\t1\t1\tleft.M1', '0\t-90\t0\t2\t1\tV1']
    """
    if rois.coordinates is None:
        return None
    n, at = len(rois.names), np.asarray(edges, np.int64)
    names = sorted(set(rois.systems or ()))
    u, v = pairs(n)
    degree = np.bincount(np.concatenate([u[at], v[at]]), minlength=n)
    rows: list[str] = []
    for i, (name, (x, y, z)) in enumerate(zip(rois.names, rois.coordinates.tolist(), strict=True)):
        colour = names.index(rois.systems[i]) + 1 if rois.systems else 1
        label = re.sub(r"\s+", ".", name.strip()) or "-"
        rows.append(f"{x:.6g}\t{y:.6g}\t{z:.6g}\t{colour}\t{degree[i]}\t{label}\n")
    return "".join(rows)


def brainnet_edge(rois: Rois, edges: ArrayLike, values: ArrayLike) -> str:
    """BrainNet Viewer's matrix of edges: signed importance, 0 for edges that are not shown.

    Examples
    --------
    >>> [row.split() for row in brainnet_edge(Rois(("a", "b", "c")), [1], [-0.5]).splitlines()]
    [['0', '0', '-0.5'], ['0', '0', '0'], ['-0.5', '0', '0']]
    """
    rows = _matrix(rois, edges, values)
    return "".join("\t".join(f"{x:.6g}" for x in row) + "\n" for row in rows)


def importance_matrix(rois: Rois, importance: ArrayLike) -> str:
    """Importances of all edges as a symmetric matrix in CSV, with names of regions in its first row and column.

    Examples
    --------
    >>> print(importance_matrix(Rois(("a", "b")), [0.5]), end="")
    ,a,b
    a,0.0,0.5
    b,0.5,0.0
    """
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(["", *rois.names])
    rows = square(np.asarray(importance, np.float64), len(rois.names)).tolist()
    writer.writerows([name, *row] for name, row in zip(rois.names, rows, strict=True))
    return held.getvalue()


def graphml(rois: Rois, edges: ArrayLike, values: ArrayLike, rows: Rows) -> str:
    """The edges as GraphML: nodes with name, system and place, edges with signed importance as weight, and `rows`.

    Examples
    --------
    >>> text = graphml(Rois(("a", "b"), None, ("motor", "visual")), [0], [0.5], [{"q": 0.01}])
    >>> '<data key="weight">0.5</data>' in text, '<data key="system">motor</data>' in text
    (True, True)
    """
    root = Xml.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    numbers = [key for key in (rows[0] if rows else ()) if key in _OF_EDGES]
    node_keys = ["name", *(["system"] if rois.systems else []), *("xyz" if rois.coordinates is not None else "")]
    for keys, holder in ((node_keys, "node"), (["weight", *numbers], "edge")):
        for key in keys:
            kind = "string" if key in ("name", "system") else "double"
            Xml.SubElement(root, "key", {"id": key, "for": holder, "attr.name": key, "attr.type": kind})
    graph = Xml.SubElement(root, "graph", edgedefault="undirected")
    for i, name in enumerate(rois.names):
        node = Xml.SubElement(graph, "node", id=f"n{i + 1}")
        facts = {"name": name} | ({"system": rois.systems[i]} if rois.systems else {})
        if rois.coordinates is not None:
            facts |= dict(zip("xyz", map(repr, rois.coordinates[i].tolist()), strict=True))
        _add(node, facts)
    at = np.asarray(edges, np.int64)
    u, v = (ends[at] for ends in pairs(len(rois.names)))
    for a, b, value, row in zip(u, v, np.asarray(values, np.float64).tolist(), rows, strict=True):
        edge = Xml.SubElement(graph, "edge", source=f"n{a + 1}", target=f"n{b + 1}")
        _add(edge, {"weight": repr(value)} | {key: repr(float(row[key])) for key in numbers if row[key] == row[key]})
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


_OF_EDGES = frozenset({"importance", "selection_frequency", "t", "F", "p", "q", "p_family"})


def _add(element: Xml.Element, facts: dict[str, str]) -> None:
    for key, text in facts.items():
        Xml.SubElement(element, "data", key=key).text = _CONTROL.sub("", text)


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # not allowed in XML


def _matrix(rois: Rois, edges: ArrayLike, values: ArrayLike) -> list[list[float]]:
    n = len(rois.names)
    held = np.zeros(n * (n - 1) // 2)
    held[np.asarray(edges, np.int64)] = values
    return square(held, n).tolist()
