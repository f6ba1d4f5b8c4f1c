"""Every public name is on the reference page, and shows in its docstring how it is used."""

from __future__ import annotations

import inspect
import re
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import graphpri

pytest.importorskip("sklearn")
pytest.importorskip("torch")

REFERENCE = Path(__file__).parent.parent / "docs" / "api.rst"
# Packages whose modules show how all their names are used, whether the page lists these one by one or not.
THROUGHOUT = ("graphpri.apps", "graphpri.explorer")


def modules_of(package: str) -> list[str]:
    """Names of a package's modules, in order."""
    return sorted(module.name for module in walk_packages(import_module(package).__path__, f"{package}."))


def own_names(module: ModuleType) -> list[str]:
    """Public names of a module: those of ``__all__``, or the functions and classes that it defines."""
    if listed := getattr(module, "__all__", None):
        return list(listed)
    found = vars(module).items()
    return [name for name, value in found if name[0] != "_" and getattr(value, "__module__", "") == module.__name__]


def described(value: Any) -> bool:
    """Whether it is a function or class of this library, which have docstrings of their own."""
    return (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("graphpri")


def names_of(module: str) -> dict[str, Any]:
    """Functions and classes among a module's public names, by their full name."""
    home = import_module(module)
    found = {f"{module}.{name}": getattr(home, name) for name in own_names(home)}
    return {name: value for name, value in found.items() if described(value)}


@cache
def on_the_page() -> tuple[str, ...]:
    """Full names that the reference page lists."""
    return tuple(
        f"graphpri.{name}" for name in re.findall(r"^   ([\w.]+)$", REFERENCE.read_text("utf-8"), re.MULTILINE)
    )


def looked_up(full: str) -> Any:
    """What a listed name means: a name of the package first, as a user writes it."""
    first, *rest = full.split(".")[1:]
    value = getattr(graphpri, first, None)
    if not rest and value is not None:
        return value
    try:
        for name in rest:
            value = getattr(value, name)
        return value
    except AttributeError:
        return getattr(import_module(full.rpartition(".")[0]), full.rpartition(".")[2])


@pytest.fixture(scope="module")
def public() -> dict[str, Any]:
    """Every function and class that has to show how it is used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch_geometric, on import
        pytest.importorskip("torch_geometric")
    listed = {name: value for name in on_the_page() if described(value := looked_up(name))}
    throughout = [names_of(module) for package in THROUGHOUT for module in modules_of(package)]
    found = {"graphpri.GraphPRI": graphpri.GraphPRI}
    for names in (listed, names_of("graphpri"), names_of("graphpri.torch"), *throughout):
        found |= names
    return found


def test_there_are_many_public_names(public: dict[str, Any]) -> None:
    assert len(public) > 200
    assert {"graphpri.sparsify", "graphpri.torch.PRILoss", "graphpri.apps.scalar.Cloud"} <= set(public)
    assert {"graphpri.apps.brain_data.Rois", "graphpri.explorer.solutions.Grid"} <= set(public)


def test_every_public_name_has_a_doctest(public: dict[str, Any]) -> None:
    docs = {name: value.__doc__ or "" for name, value in public.items()}
    assert not [name for name, doc in docs.items() if ">>> " not in doc]
    assert not [name for name, doc in docs.items() if not re.search(r"^ *Examples\n *-{8}$", doc, re.MULTILINE)]


@pytest.mark.parametrize("module", ["graphpri", "graphpri.datasets", "graphpri.studies", "graphpri.torch"])
def test_a_public_name_is_on_the_reference_page(module: str, public: dict[str, Any]) -> None:
    assert not set(names_of(module)) - set(on_the_page())


def test_what_the_explorer_exports_is_on_the_reference_page(public: dict[str, Any]) -> None:
    """Under the names that users write, ``graphpri.explore`` for ``graphpri.explorer.explore``."""
    exported = names_of("graphpri.explorer")
    assert exported
    for name, value in exported.items():
        assert any(looked_up(other) is value for other in on_the_page()), name


def test_the_reference_page_lists_what_exists_and_once(public: dict[str, Any]) -> None:
    names = on_the_page()
    assert len(set(names)) == len(names)
    for name in names:
        assert looked_up(name) is not None, name


def test_applications_are_on_the_reference_page_all_of_them() -> None:
    assert "graphpri.apps" in on_the_page()
    assert re.search(r":recursive:\n\n   apps\n", REFERENCE.read_text("utf-8"))
    assert "graphpri.apps.mtl" in modules_of("graphpri.apps")


def test_pages_and_docstrings_never_name_private_modules(public: dict[str, Any]) -> None:
    pages = [*REFERENCE.parent.glob("*.md"), REFERENCE, *(REFERENCE.parent.parent / f"{n}.md" for n in ("README",))]
    texts = {str(page): page.read_text("utf-8") for page in pages} | {n: v.__doc__ or "" for n, v in public.items()}
    assert not [name for name, text in texts.items() if re.search(r"\bgraphpri\._[a-z]", text)]
