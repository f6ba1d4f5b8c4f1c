"""The command line called in the tests' own process, also by fixtures that are shared, which have no `capsys`."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from graphpri.cli import main


class Called(NamedTuple):
    """Exit code, and what was said."""

    code: int
    out: str
    err: str


def call(*arguments: str | Path) -> Called:
    """What ``graphpri`` does with these arguments."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([*map(str, arguments)])
    return Called(code, out.getvalue(), err.getvalue())
