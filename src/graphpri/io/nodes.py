"""Node labels for the formats whose nodes have ids and attributes (GML, GraphML, Pajek)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from graphpri.io.columns import Column, python_values
from graphpri.io.ends import label_sequence, parse_labels
from graphpri.io.source import Source


class Nodes(NamedTuple):
    """Labels of the nodes and their remaining attributes."""

    labels: Sequence[Hashable] | None
    attributes: dict[str, Column]


def label_nodes(
    source: Source,
    ids: Sequence[Any],
    attributes: Mapping[str, Column],
    lines: Sequence[int],
    option: str | None,
    default: str = "id",
    remedy: str = 'pass label="id" (--label id) to call nodes by their ids',
) -> Nodes:
    """Choose what the nodes are called.

    Parameters
    ----------
    source : Source
    ids : sequence
        The file's ids of the nodes.
    attributes : mapping
        Columns of node attributes; the one that becomes the label is taken out.
    lines : sequence of int
        Where each node stands.
    option : str or None
        The attribute to use, or ``"id"`` for the ids.
    default : str
        The same, where `option` is None; the ids where no node has this attribute.
    remedy : str
        What to do about labels that are missing or stand twice.

    Raises
    ------
    FileError
        For an attribute that no node or not every node has, and for labels that stand twice.
    """
    name = option or default
    if option is None and default not in attributes:
        name = "id"
    if name == "id":
        values = list(ids)
    elif name in attributes:
        values = python_values(attributes[name])
    else:
        known = ", ".join(map(repr, attributes)) or "none"
        raise source.error(f"no node has the attribute {name!r} named as label= (--label; node attributes: {known})")
    if option == "id":
        remedy = "correct the file"
    seen: dict[str, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value is None:
            raise source.error(f"the node has no {name!r}, and others have: {remedy}", line)
        if not isinstance(value, str | int | float):
            raise source.error(f"the node's {name!r} is neither text nor a number: {remedy}", line)
        text = str(value)
        if text in seen:
            raise source.error(f"the node label {value!r} stands in line {seen[text]} already: {remedy}", line)
        seen[text] = line
    rest = {key: column for key, column in attributes.items() if name == "id" or key != name}
    return Nodes(label_sequence(parse_labels(list(seen))), rest)
