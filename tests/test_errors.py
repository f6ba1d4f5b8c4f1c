"""Messages of errors and statuses: worded for Python and for a shell, with fields, and safe for what users write."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path

import networkx as nx
import pytest

import graphpri
from graphpri.errors import (
    FileError,
    GraphError,
    GraphPRIError,
    MemoryLimitError,
    MissingExtraError,
    OptionError,
    argument,
    named,
    setting,
    worded,
)
from graphpri.solvers.solution import Ending, Outcome, Status

SOURCES = sorted(Path(graphpri.__file__).parent.rglob("*.py"))


def shell(name: str, value: str) -> str:
    """Words of a command line that calls every argument an option."""
    return f"--{name} {value}".strip()


@pytest.mark.parametrize(
    ("marked", "python", "typed"),
    [
        (argument("keep", 3), "keep=3", "--keep 3"),
        (argument("keep", 0.25), "keep=0.25", "--keep 0.25"),
        (argument("solver", "exact"), "solver='exact'", "--solver exact"),
        (argument("label", "two words"), "label='two words'", "--label 'two words'"),
        (argument("density", 0.123456789, "g"), "density=0.123457", "--density 0.123457"),
        (argument("keep", None), "keep=None", "--keep none"),
        (setting("keep"), "keep=", "--keep"),
        (setting("connected", True), "connected=True", "--connected True"),
        (setting("loops", "drop"), 'loops="drop"', "--loops drop"),
        (
            setting("parallel", "sum", "max", "first"),
            'parallel="sum", "max" or "first"',
            "--parallel sum, max or first",
        ),
        (setting("memory", "8GB", python="MEMORY=8GB"), "MEMORY=8GB", "--memory 8GB"),
        (named("time_limit"), "time_limit", "--time_limit"),
    ],
)
def test_arguments_are_worded_for_python_and_for_a_shell(marked, python, typed):
    message = f"before {marked}, after"
    assert worded(message) == f"before {python}, after"
    assert worded(message, shell) == f"before {typed}, after"
    assert worded(message, lambda name, value: None) == f"before {python}, after"


@pytest.mark.parametrize("text", ["{keep}", "{0}", "keep=3", "--keep 3", "%s", "\ufdd0", "\ufdd3keep", "a\nb", ""])
def test_what_users_write_stays_as_it_is(text):
    error = OptionError(f"{text}: {argument('keep', text)} and {text}")
    assert str(error).startswith(f"{text}: keep={text!r} and {text}")
    assert error.worded(shell).endswith(f" and {text}")


def test_errors_say_which_argument_and_where():
    error = OptionError(f"{argument('keep', 3)} is too many: pass {setting('connected', False)}")
    assert (error.option, error.value, error.where) == ("keep", "3", None)
    assert str(error) == "keep=3 is too many: pass connected=False"
    there = error.at("a {b}.csv")
    assert type(there) is OptionError
    assert (there.option, there.where) == ("keep", "a {b}.csv")
    assert str(there) == "a {b}.csv: keep=3 is too many: pass connected=False"
    assert there.worded(shell) == "a {b}.csv: --keep 3 is too many: pass --connected False"
    plain = FileError("is empty", where="g.csv, line 2")
    assert (str(plain), plain.option, plain.value) == ("g.csv, line 2: is empty", None, None)


@pytest.mark.parametrize(
    "error",
    [
        GraphError(f"a loop: pass {setting('loops', 'drop')}", where="g.csv"),
        MemoryLimitError("too much"),
        MissingExtraError("matplotlib", "plot", "drawing"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("again", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))], ids=["copy", "pickle"])
def test_errors_can_be_copied_and_pickled(error, again):
    found = again(error)
    assert type(found) is type(error)
    assert (str(found), found.message, found.where, vars(found)) == (
        str(error),
        error.message,
        error.where,
        vars(error),
    )
    assert isinstance(found, GraphPRIError)


def test_the_library_names_no_options_of_the_command_line():
    """In messages, arguments are marked; only the command line knows what it calls them."""
    found = []
    for path in SOURCES:
        if path.parent.name in ("cli", "studies"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        found += [
            f"{path.name}:{n.lineno}"
            for n in texts
            if id(n) not in docstrings and re.search(r"(?<!var)\(--[a-z]", n.value)
        ]
    assert not found


def test_every_ending_has_a_status_of_its_own():
    facts = {"steps": 5, "edges": "3 edges", "beta": argument("beta", 4), "allowed": "", "reason": "there is only one"}
    facts |= {
        "count": 12,
        "looked_at": 3,
        "method": "random",
        "level": "0.05",
        "rules": "",
        "best": "this is the best subset so far",
        "seconds": 2.0,
    }
    texts = {ending: ending.status(**facts) for ending in Ending}
    assert len(set(texts.values())) == len(Ending)
    for ending, status in texts.items():
        assert isinstance(status, str)
        assert status.outcome is ending.outcome
        assert worded(ending.remedy) in status
        assert status.interrupted == (ending.outcome is Outcome.INTERRUPTED) == status.startswith("interrupted")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["copy", "pickle"])
def test_a_status_keeps_its_ending(again):
    status = Ending.UNFINISHED.status()
    found = again(status)
    assert type(found) is Status
    assert (found, found.ending, found.message) == (status, Ending.UNFINISHED, status.message)
    assert found.noted("").ending is Ending.UNFINISHED
    assert found.noted("a note").endswith("effort='best' goes on; a note")


def test_results_tell_how_they_came_about():
    result = graphpri.sparsify(nx.path_graph(5), keep=2)
    assert result.status.outcome is Outcome.CONVERGED
    assert not result.interrupted
    assert graphpri.sparsify(nx.path_graph(5), keep=2, method="random").status.outcome is Outcome.SCORED
    assert graphpri.sparsify(nx.karate_club_graph(), beta=0, connected=False).status.outcome is Outcome.TRIVIAL
    stopped = graphpri.sparsify(nx.karate_club_graph(), keep=0.5, callback=lambda at: True)
    assert stopped.status.ending is Ending.CALLBACK
    assert stopped.status.halted
