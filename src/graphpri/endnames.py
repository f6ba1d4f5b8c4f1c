"""Column names that say where the two ends of an edge stand, in files and frames."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Columns that hold the two ends of an edge, whatever their case and punctuation.
END_NAMES = (
    ("source", "target"),
    ("source", "destination"),
    ("sourceid", "targetid"),
    ("sourcenode", "targetnode"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("vertex1", "vertex2"),
    ("v1", "v2"),
    ("u", "v"),
    ("i", "j"),
    ("start", "end"),
    ("head", "tail"),
    ("tail", "head"),
    ("ego", "alter"),
)


def find_ends(names: Iterable[str]) -> list[tuple[int, int]]:
    """Positions of the columns that could hold the two ends of an edge, source first.

    More than one pair where the names leave a choice; ``source`` and ``target`` go before others. Of
    ``head`` and ``tail``, whose meaning differs between fields, the source is what stands first.
    """
    at: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        at.setdefault(re.sub(r"[\W_]", "", name).casefold(), []).append(i)
    known = END_NAMES[:1] if END_NAMES[0][0] in at and END_NAMES[0][1] in at else END_NAMES
    pairs = [(i, j) for a, b in known for i in at.get(a, ()) for j in at.get(b, ())]
    return [(i, j) for i, j in pairs if i < j or (j, i) not in pairs]
