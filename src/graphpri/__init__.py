"""Keep the informative edges of a graph and drop the rest.

Names are imported when they are first used, so that ``import graphpri`` takes milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphpri._version import __version__

if TYPE_CHECKING:
    from graphpri import datasets, io, plot
    from graphpri._choose import Choice, choose
    from graphpri._compare import Comparison, compare
    from graphpri._objective import Objective
    from graphpri._output import ProgressBar
    from graphpri._path import SparsifiedPath, path
    from graphpri._sparsify import Sparsified, methods, sparsify
    from graphpri.errors import (
        ArgumentError,
        ClusterError,
        FileError,
        GraphError,
        GraphPRIError,
        Interrupted,
        MemoryLimitError,
        MissingExtraError,
        OptionError,
    )
    from graphpri.estimator import GraphPRI as GraphPRI
    from graphpri.explorer import Exploration, explore
    from graphpri.graph import EdgeTable, Graph
    from graphpri.interop import as_graph
    from graphpri.io import read, write
    from graphpri.measures import Estimates, Report, divergence, estimate, objective, report, von_neumann_entropy

# GraphPRI is left out: "from graphpri import *" must work without scikit-learn.
__all__ = [
    "ArgumentError",
    "Choice",
    "ClusterError",
    "Comparison",
    "EdgeTable",
    "Estimates",
    "Exploration",
    "FileError",
    "Graph",
    "GraphError",
    "GraphPRIError",
    "Interrupted",
    "MemoryLimitError",
    "MissingExtraError",
    "Objective",
    "OptionError",
    "ProgressBar",
    "Report",
    "Sparsified",
    "SparsifiedPath",
    "__version__",
    "as_graph",
    "choose",
    "compare",
    "datasets",
    "divergence",
    "estimate",
    "explore",
    "io",
    "methods",
    "objective",
    "path",
    "plot",
    "read",
    "report",
    "sparsify",
    "von_neumann_entropy",
    "write",
]

_MODULES = (
    *(
        "apps",
        "baselines",
        "datasets",
        "distributed",
        "errors",
        "estimator",
        "explorer",
        "graph",
        "interop",
        "io",
        "measures",
    ),
    *("plot", "solvers", "studies", "torch"),
)
_HOMES = {
    "graphpri._choose": ("Choice", "choose"),
    "graphpri._compare": ("Comparison", "compare"),
    "graphpri._objective": ("Objective",),
    "graphpri.errors": (
        "ArgumentError",
        "ClusterError",
        "FileError",
        "GraphError",
        "GraphPRIError",
        "Interrupted",
        "MemoryLimitError",
        "MissingExtraError",
        "OptionError",
    ),
    "graphpri.estimator": ("GraphPRI",),
    "graphpri.explorer": ("Exploration", "explore"),
    "graphpri.graph": ("EdgeTable", "Graph"),
    "graphpri.interop": ("as_graph",),
    "graphpri.io": ("read", "write"),
    "graphpri.measures": (
        "Estimates",
        "Report",
        "divergence",
        "estimate",
        "objective",
        "report",
        "von_neumann_entropy",
    ),
    "graphpri._output": ("ProgressBar",),
    "graphpri._path": ("SparsifiedPath", "path"),
    "graphpri._sparsify": ("Sparsified", "methods", "sparsify"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """Public names and public modules, whether imported yet or not."""
    return sorted({*__all__, *_HOME, *_MODULES})
