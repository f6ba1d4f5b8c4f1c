"""Print constraints that pin every library of pyproject.toml, extras included, to the lowest version allowed there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TOOLS = ("test", "docs", "bench", "lint")
"""Extras of tools that come in their newest versions: they are no part of what users install."""


def lowest(requirement: str) -> str | None:
    """``name==version`` for ``name>=version``; None for the extras of graphpri itself, which have no version."""
    found = re.fullmatch(r"([\w-]+)>=([\w.]+)(,.*)?", requirement.replace(" ", ""))
    if found is None and not requirement.startswith("graphpri["):
        raise SystemExit(f"{requirement} in pyproject.toml names no lowest version")
    return found and f"{found[1]}=={found[2]}"


def main() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(r for name in extras if name not in TOOLS for r in extras[name])]
    print(*sorted({pin for requirement in asked if (pin := lowest(requirement))}), sep="\n")


if __name__ == "__main__":
    main()
