"""Run what the pages show: their Python blocks and their shell commands, and compare what these print.

A ``python`` block is run after those before it on the page; a ``text`` block right behind it is what it prints.
In a ``console`` block, lines after ``$ `` are commands for the shell, and the lines below one, if there are any,
what it prints. Times are not compared, and ``...`` alone on a line stands for any lines.

python docs/run_blocks.py            say which outputs differ
python docs/run_blocks.py gnn.md     on this page
python docs/run_blocks.py --write    put the real ones in their place
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from fill_tables import PAGES

from graphpri.cli import main as graphpri

TRAINING = ("gnn.md",)
"""Pages that train networks over several seeds, which takes long: `make pages` runs their code, not the tests."""

RUNNER = """
import contextlib, io, json, os, sys, traceback, warnings
pages = []
for folder, blocks in json.load(sys.stdin):
    os.chdir(folder)
    namespace, printed, error = {"__name__": "__main__"}, [], None
    with warnings.catch_warnings():
        for name, line, code in blocks:
            out = io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile("\\n" * line + code, name, "exec"), namespace)
            except BaseException:
                error = traceback.format_exc()
                break
            printed.append(out.getvalue())
    pages.append((printed, error))
json.dump(pages, sys.stdout)
"""
WARNINGS = ("-Werror", "-Wignore::DeprecationWarning", "-Werror::DeprecationWarning:__main__")
"""Warnings are errors, but for those about what libraries call in each other."""
SHELL = re.compile(r"[|&;<>$*?`()]")
NUMBER = re.compile(r"[−-]?\d+(?:\.(\d+))?")
SECONDS = re.compile(r"\d+\.\d+ s\b")
APART = re.compile(r"sys\.modules|^@(method|measure|accepts)\(", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `start` and `stop` are the lines of its content, counted from 0."""

    page: Path
    kind: str
    start: int
    stop: int
    lines: tuple[str, ...]

    @property
    def where(self) -> str:
        return f"{self.page.name}, line {self.start + 1}"


@dataclass(frozen=True)
class Run:
    """What a block or a command printed beside what the page shows; None where it shows nothing."""

    where: str
    code: int
    printed: list[str]
    shown: list[str] | None
    page: Path
    start: int
    stop: int

    @property
    def as_shown(self) -> bool:
        return self.shown is None or alike(self.printed, self.shown)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    start, kind = None, ""
    for i, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start, kind = i + 1, line.removeprefix("```").strip()
        else:
            found.append(Block(page, kind, start, i, tuple(lines[start:i])))
            start = None
    if start is not None:
        raise ValueError(f"{page.name}, line {start}: a block has no end")
    return found


def run_python(pages: Sequence[Path], folder: Path) -> list[list[Run]]:
    """Run the Python blocks of each page, one after the other: pages in folders and namespaces of their own.

    One process runs them, so that what they import is loaded once; a page that changes what is imported, or adds
    methods, has its own.
    """
    apart = [page for page in pages if APART.search(page.read_text(encoding="utf-8"))]
    together = [page for page in pages if page not in apart]
    runs: dict[Path, list[Run]] = {}
    for group in [together, *([page] for page in apart)]:
        runs |= zip(group, _in_one_process(group, folder), strict=True)
    return [runs[page] for page in pages]


def _in_one_process(pages: Sequence[Path], folder: Path) -> list[list[Run]]:
    given: list[tuple[str, list[tuple[str, int, str]]]] = []
    for page in pages:
        code = [(str(page), block.start, "\n".join(block.lines)) for block in blocks(page) if block.kind == "python"]
        given.append((tempfile.mkdtemp(prefix=page.stem, dir=folder), code))
    done = subprocess.run(
        [sys.executable, *WARNINGS, "-c", RUNNER],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(folder),
        check=False,
    )
    if done.returncode:
        return [[Run(page.name, done.returncode, done.stderr.splitlines(), None, page, 0, 0)] for page in pages]
    return [_compared(page, *found) for page, found in zip(pages, json.loads(done.stdout), strict=True)]


def _compared(page: Path, printed_by: list[str], error: str | None) -> list[Run]:
    """What the Python blocks of a page printed, up to the one that failed, beside what the page shows."""
    found = blocks(page)
    runs: list[Run] = []
    for block, printed in zip([b for b in found if b.kind == "python"], printed_by, strict=False):
        output = found[found.index(block) + 1 : found.index(block) + 2]
        # One empty line between the two fences, so that they belong together.
        shown = next((b for b in output if b.kind == "text" and b.start == block.stop + 3), None)
        ends = (shown.start, shown.stop) if shown else (0, 0)
        runs.append(Run(block.where, 0, printed.splitlines(), list(shown.lines) if shown else None, page, *ends))
    return runs if error is None else [*runs, Run(page.name, 1, error.splitlines(), None, page, 0, 0)]


def run_console(page: Path, folder: Path) -> list[Run]:
    """Run the shell commands of a page in one folder, one after the other."""
    return [run_command(command, folder) for command in commands(page)]


@dataclass(frozen=True)
class Command:
    """A shell command of a page and the lines shown as its output."""

    block: Block
    text: str
    start: int
    stop: int

    @property
    def shown(self) -> list[str] | None:
        lines = list(self.block.lines[self.start - self.block.start : self.stop - self.block.start])
        return lines or None


def commands(page: Path) -> Iterator[Command]:
    """The commands of a page's console blocks, continued lines joined."""
    for block in blocks(page):
        if block.kind != "console":
            continue
        i = 0
        while i < len(block.lines):
            text = block.lines[i].removeprefix("$ ")
            while text.endswith("\\"):
                i += 1
                text = text[:-1] + block.lines[i].strip()
            begin = end = i + 1
            while end < len(block.lines) and not block.lines[end].startswith("$ "):
                end += 1
            yield Command(block, text, block.start + begin, block.start + end)
            i = end


def run_command(command: Command, folder: Path) -> Run:
    """Run one command; messages on standard error count as output.

    The shell runs it, but for ``graphpri`` without pipes and the like: then its entry point is called in this process,
    which spares each command the second that a new interpreter takes to import what it needs.
    """
    name, *arguments = [""] if SHELL.search(command.text) else shlex.split(command.text)
    code, said = _called(arguments, folder) if name == "graphpri" else _by_the_shell(command.text, folder)
    where = f"{command.block.page.name}, line {command.start}: $ {command.text}"
    printed = said.rstrip().splitlines()
    return Run(where, code, printed, command.shown, command.block.page, command.start, command.stop)


def _by_the_shell(text: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        text,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment(folder),
        check=False,
    )
    return done.returncode, done.stdout


def _called(arguments: list[str], folder: Path) -> tuple[int, str]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with (
        patch.dict(os.environ, environment(folder), clear=True),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        code = graphpri(arguments)
    out.seek(0)
    return code, out.read()


def environment(folder: Path) -> dict[str, str]:
    """Environment of a new user: no data folder, no screen, `graphpri` on the path."""
    programs = folder / ".bin"
    if not programs.exists():
        programs.mkdir()
        script = programs / "graphpri"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m graphpri "$@"\n')
        script.chmod(0o755)
    own = {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8", "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return {key: value for key, value in os.environ.items() if key != "GRAPHPRI_DATA"} | own


def alike(printed: list[str], shown: list[str]) -> bool:
    """Whether an output is the one that the page shows, apart from times and the last digit of numbers."""
    printed, shown = comparable(printed), comparable(shown)
    if "..." not in shown:
        return len(printed) == len(shown) and all(map(same_line, printed, shown))
    cut = shown.index("...")
    head, tail = shown[:cut], shown[cut + 1 :]
    if not alike(printed[:cut], head):
        return False
    return any(alike(printed[i:], tail) for i in range(cut, len(printed) + 1))


def comparable(lines: list[str]) -> list[str]:
    """Lines without spacing, times and empty ends; the column of seconds of a table is taken off."""
    plain = [" ".join(SECONDS.sub("TIME", line).split()) for line in lines]
    width = next((len(line.split()) for line in plain if line.endswith(" seconds")), None)
    if width is not None:
        plain = [" ".join(line.split()[: width - 1]) if len(line.split()) == width else line for line in plain]
    while plain and not plain[-1]:
        plain.pop()
    return plain


def same_line(a: str, b: str) -> bool:
    """Equal, numbers with decimals up to one unit of the last digit."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(map(same_number, NUMBER.finditer(a), NUMBER.finditer(b)))


def same_number(a: re.Match[str], b: re.Match[str]) -> bool:
    """Equal whole numbers, or decimals of equal length that differ by at most one unit of the last digit."""
    if a[1] is None or b[1] is None or len(a[1]) != len(b[1]):
        return a[0] == b[0]
    one, two = (round(float(x[0].replace("−", "-")) * 10 ** len(x[1])) for x in (a, b))
    return abs(one - two) <= 1


def write(runs: list[Run]) -> None:
    """Put the real output where a page shows another one."""
    for run in sorted((r for r in runs if not r.as_shown), key=lambda r: -r.start):
        lines = run.page.read_text(encoding="utf-8").splitlines()
        lines[run.start : run.stop] = run.printed
        run.page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Run every page, or those named; 1 where something fails or differs."""
    wrong = 0
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    pages = [page for page in PAGES if page.name in named or not named]
    if unknown := set(named) - {page.name for page in pages}:
        raise SystemExit(f"no page is called {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as name:
        by_page = run_python(pages, Path(name))
    for page, runs in zip(pages, by_page, strict=True):
        with tempfile.TemporaryDirectory() as name:
            runs += run_console(page, Path(name))
        for run in runs:
            if run.code:
                print(f"{run.where}: failed with {run.code}", *run.printed, sep="\n  ")
            elif not run.as_shown:
                print(f"{run.where}: prints", *run.printed, sep="\n  ")
        wrong += sum(bool(run.code) or not run.as_shown for run in runs)
        if "--write" in sys.argv:
            write([run for run in runs if not run.code])
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
