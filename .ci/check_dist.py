"""Install each distribution of a folder into a clean environment, and run there what the README shows first."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def basics() -> tuple[str, list[str]]:
    """The README's first block of Python, and its shell commands."""
    text = (ROOT / "README.md").read_text("utf-8")
    python = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    console = re.search(r"```console\n(.*?)```", text, re.DOTALL)
    if python is None or console is None:
        raise SystemExit("README.md shows no Python or no shell")
    return python[1], re.findall(r"^\$ (.*)$", console[1], re.MULTILINE)


def check(distribution: Path) -> None:
    """Run them with what the distribution installs."""
    python, commands = basics()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        own = folder / "env" / "bin"
        constraints = ["-c", str(ROOT / "constraints.txt")]
        wanted = f"{distribution.absolute()}[plot]"
        subprocess.run([own / "python", "-m", "pip", "install", "-qq", *constraints, wanted], check=True)
        subprocess.run([own / "python", "-I", "-c", python], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        for command in commands:
            first, *rest = command.split()
            subprocess.run([own / first, *rest], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        missing = [file for file in ("small.graphml", "small.png") if not (folder / file).exists()]
        if missing:
            raise SystemExit(f"{distribution.name}: not written: {', '.join(missing)}")
    print(f"{distribution.name}: installs, and the README's {len(commands)} commands and its Python run")


def main() -> None:
    found = sorted(Path(sys.argv[1]).glob("graphpri-*"))
    if {file.suffix for file in found} != {".whl", ".gz"}:
        names = ", ".join(file.name for file in found) or "nothing"
        raise SystemExit(f"{sys.argv[1]} has {names}: a wheel and an sdist wanted")
    for distribution in found:
        check(distribution)


if __name__ == "__main__":
    main()
