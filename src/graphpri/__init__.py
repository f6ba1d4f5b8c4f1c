"""Keep the informative edges of a graph and drop the rest."""

from graphpri.errors import FileError, GraphError, GraphPRIError, MissingExtraError, OptionError
from graphpri.graph import EdgeTable, Graph
from graphpri.interop import as_graph
from graphpri.sparsify import Sparsified, methods, path, sparsify
from graphpri.version import __version__

__all__ = [
    "EdgeTable",
    "FileError",
    "Graph",
    "GraphError",
    "GraphPRIError",
    "MissingExtraError",
    "OptionError",
    "Sparsified",
    "__version__",
    "as_graph",
    "methods",
    "path",
    "sparsify",
]
