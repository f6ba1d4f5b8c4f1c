"""The package: names are there when asked for, and cost nothing until then."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import iter_modules

import pytest

import graphpri

ROOT = Path(__file__).parent.parent


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_imports_nothing_else():
    modules = fresh(
        "import sys, graphpri; print(*sorted(m for m in sys.modules if m.startswith(('graphpri', 'numpy'))))"
    )
    assert modules == "graphpri graphpri._version"


def test_every_name_is_there_and_listed():
    assert set(graphpri.__all__) <= set(dir(graphpri))
    for name in graphpri.__all__:
        assert getattr(graphpri, name) is not None


def test_type_checkers_see_every_name():
    tree = ast.parse(Path(graphpri.__file__).read_text("utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(graphpri.__all__) <= imported


def test_every_error_of_the_package_has_its_name_here():
    from graphpri import errors

    own = [value for value in vars(errors).values() if getattr(value, "__module__", "") == errors.__name__]
    names = {value.__name__ for value in own if isinstance(value, type) and issubclass(value, Exception)}
    assert names >= {"MemoryLimitError", "GraphPRIError"}
    assert names <= set(graphpri.__all__)
    for name in names:
        assert getattr(graphpri, name) is getattr(errors, name)


def test_a_strange_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'graphpri' has no attribute 'sparsifi'"):
        _ = graphpri.sparsifi


def public_modules() -> list[str]:
    """Modules and packages beside the front page whose names don't begin with an underscore."""
    return [module.name for module in iter_modules(graphpri.__path__) if module.name[0] != "_"]


def test_what_dir_lists_is_public_and_all_that_is():
    assert not [name for name in dir(graphpri) if name[0] == "_" and name != "__version__"]
    assert set(public_modules()) - {"cli"} <= set(dir(graphpri))
    assert fresh("import graphpri._compare, graphpri; print(graphpri.__dir__())") == str(dir(graphpri))


def test_modules_are_modules_and_functions_are_functions():
    """``import graphpri.X.Y as y`` binds the module, at any depth: no function has the name of one beside it."""
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    code = """
import graphpri, importlib, pkgutil, sys
names = [m.name for m in pkgutil.walk_packages(graphpri.__path__, "graphpri.") if m.name != "graphpri.__main__"]
modules = {name: importlib.import_module(name) for name in names}
hidden = []
for name in names:
    exec(f"import {name} as bound")
    if bound is not modules[name]:
        hidden.append(name)
print(len(names) > 100, hidden)
"""
    assert fresh(code).splitlines()[-1] == "True []"


@pytest.mark.parametrize(
    "imports",
    [
        "from graphpri._entropy.by_name import entropy_for; import graphpri._compare, graphpri._sparsify",
        "from graphpri import *; import graphpri",
    ],
)
def test_functions_are_not_hidden_by_modules_of_their_name(imports: str):
    names = "graphpri.sparsify, graphpri.compare, graphpri.objective, graphpri.path"
    code = f"{imports}\nimport graphpri\nprint(*(type(f).__name__ for f in ({names})))"
    assert fresh(code).splitlines()[-1] == "function function function function"


def test_the_estimator_is_there():
    pytest.importorskip("sklearn")
    assert "GraphPRI" in dir(graphpri)
    assert graphpri.GraphPRI.__module__ == "graphpri.estimator"


def test_importing_all_names_needs_no_extra():
    assert (
        fresh("import sys; sys.modules['sklearn'] = None; from graphpri import *; print(callable(sparsify))") == "True"
    )


def test_functions_pickle():
    assert pickle.loads(pickle.dumps(graphpri.sparsify)) is graphpri.sparsify


def test_the_recipe_of_conda_asks_for_what_the_package_asks_for() -> None:
    recipe = (ROOT / "recipe" / "meta.yaml").read_text("utf-8")
    listed = re.search(r"  run:\n((?:    - .*\n)+)", recipe)
    assert listed is not None
    run = {line.strip("- \n").replace(" ", "") for line in listed[1].splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert run == {*project["dependencies"], f"python{project['requires-python']}"}
