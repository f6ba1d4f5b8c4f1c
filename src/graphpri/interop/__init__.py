"""From the graph types of other libraries to the canonical graph, and back to the type that came in.

One module per family of types. Each registers functions with :func:`accepts`; nothing here imports a
graph library before an object of that library arrives.
"""

from graphpri.interop import frames, matrices, networks, pyg
from graphpri.interop.matching import align, edge_selector
from graphpri.interop.source import Policies, Source, accepts, as_graph, from_table, load

__all__ = [
    "Policies",
    "Source",
    "accepts",
    "align",
    "as_graph",
    "edge_selector",
    "frames",
    "from_table",
    "load",
    "matrices",
    "networks",
    "pyg",
]
