"""Heavy libraries are imported where they are used, and a missing one is named with the extra that brings it."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from pkgutil import walk_packages

import graphpri

HEAVY = ("igraph", "matplotlib", "networkit", "networkx", "pandas", "pyarrow", "sklearn", "torch", "torch_geometric")
# Estimators derive from scikit-learn's classes, so that they, and what uses them, are imported on first use only.
ESTIMATORS = (
    "graphpri.estimator",
    *("graphpri.apps.mtl", "graphpri.apps.mtl_protocol", "graphpri.apps.mtl_report", "graphpri.apps.scalar"),
    *("graphpri.studies.mtl_real", "graphpri.studies.mtl_synthetic", "graphpri.studies.task_graphs"),
    *("graphpri.studies.brain_planted", "graphpri.studies.brain_real"),
    *("graphpri.studies.costs", "graphpri.studies.node_classification"),  # what they define derives from PyTorch's
)
LATE = ("graphpri.__main__", *ESTIMATORS)
FOUND = [module.name for module in walk_packages(graphpri.__path__, "graphpri.", onerror=lambda name: None)]
MODULES = [name for name in FOUND if name not in LATE and not name.startswith("graphpri.torch")]


def test_no_module_imports_a_heavy_library():
    code = f"import sys, {', '.join(MODULES)}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_parquet_is_read_and_written_without_pandas(tmp_path: Path):
    """pyarrow's own conversions import it, a fifth of a second of every command."""
    code = (
        "import sys, numpy as np, graphpri; from graphpri.graph import EdgeTable; "
        "columns = {'weight': np.array([2.0, 0.5]), 'kind': np.array([3, 1], np.uint8), 'x': np.array([1, 2], '>i2')}; "
        "table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), edge_attributes=columns); "
        "graphpri.write(table, sys.argv[1]); found = graphpri.read(sys.argv[1]); "
        "print({name: column.tolist() for name, column in found.edge_attributes.items()}, 'pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "graph.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'weight': [2.0, 0.5], 'kind': [3, 1], 'x': [1, 2]} False"


def test_extras_that_errors_name_exist():
    extras = set(metadata("graphpri").get_all("Provides-Extra", []))
    texts = [file.read_text("utf-8") for file in Path(*graphpri.__path__).rglob("*.py")]
    trees = [ast.parse(text) for text in texts if "MissingExtraError(" in text]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    raised = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "MissingExtraError"]
    assert raised
    for call in raised:
        assert ast.literal_eval(call.args[1]) in extras | {None}  # None for packages that no extra brings
