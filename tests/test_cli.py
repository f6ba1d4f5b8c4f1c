"""The command line: what it reads, writes, refuses and says; most of it in this process, the rest as programs."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import numpy as np
import pytest
from cyclopts import App
from hypothesis import given, settings
from hypothesis import strategies as st

import graphpri
import zoo
from graphpri.cli import COMMANDS, build_app, main, options, progress
from graphpri.graph import EdgeTable
from graphpri.io import FOLDER, FORMATS, READ_ONLY, read, write
from graphpri.solvers.solution import Progress

SQUARE = "source,target,weight\na,b,1\nb,c,2\nc,d,3\nd,a,4\na,c,5\n"


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(word: str) -> None:
            raise ValueError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Run the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAPHPRI_DEBUG", raising=False)

    def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
        if stdin is not None:
            content = stdin.encode() if isinstance(stdin, str) else stdin
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return run


@pytest.fixture
def square(tmp_path: Path) -> Path:
    """Four nodes, five weighted edges."""
    file = tmp_path / "square.csv"
    file.write_text(SQUARE)
    return file


def program(*arguments: object, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a program of its own."""
    return subprocess.run(
        [sys.executable, "-m", "graphpri", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )


@contextmanager
def nothing_new(folder: Path) -> Iterator[None]:
    """Whatever happens inside leaves the folder as it was."""
    before = {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
    yield
    assert {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")} == before


def replace(monkeypatch: pytest.MonkeyPatch, module: str, name: str, value: object) -> None:
    """Replace a name in a module that a function of the same name hides."""
    monkeypatch.setattr(import_module(f"graphpri.{module}"), name, value)


def refused(result: Result, *words: str) -> str:
    """The message of a refusal: exit code 2, one line on standard error, nothing on standard output."""
    assert (result.code, result.out) == (2, ""), result
    assert result.err.startswith("graphpri: error: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err, result.err
    return result.err


def kept_edges(path: Path) -> set[frozenset[Any]]:
    table = read(path)
    ends = zip(table.source.tolist(), table.target.tolist(), strict=True)
    return {frozenset((table.label(u), table.label(v))) for u, v in ends}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Starting, help and usage


@pytest.mark.parametrize("arguments", [["--help"], ["sparsify", "--help"], ["data", "--help"], ["--version"]])
def test_help_imports_no_numerical_library(arguments: list[str]):
    code = (
        f"import sys; from graphpri.cli import main; assert main({arguments}) == 0; "
        "assert not {'numpy', 'scipy', 'networkx', 'matplotlib'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_help_names_every_command(cli: Cli):
    for arguments in ([], ["--help"], ["-h"]):
        result = cli(*arguments)
        assert (result.code, result.err) == (0, "")
        assert all(f"\n  {name} " in result.out for name in COMMANDS)


def commands(app: App) -> Iterator[tuple[list[str], App]]:
    for name in app:
        if not name.startswith("-"):
            yield [name], app[name]
            yield from (([name, *chain], sub) for chain, sub in commands(app[name]))


ALL_COMMANDS = list(commands(build_app()))


@pytest.mark.parametrize("chain", [chain for chain, _ in ALL_COMMANDS], ids=" ".join)
def test_every_command_explains_itself(chain: list[str], cli: Cli):
    result = cli(*chain, "--help")
    assert (result.code, result.err) == (0, "")
    assert f"Usage: graphpri {' '.join(chain)}" in result.out
    assert all(len(line.rstrip()) <= 80 for line in result.out.splitlines())


def test_every_option_has_a_help_text():
    arguments = [
        (chain, a) for chain, app in ALL_COMMANDS if app.default_command for a in app.assemble_argument_collection()
    ]
    assert len(arguments) > 60
    assert [(chain, a.name) for chain, a in arguments if not a.children and not a.parameter.help] == []


def examples() -> Iterator[str]:
    texts = [sub.help_epilogue or "" for _, sub in ALL_COMMANDS]
    for line in "\n".join([*texts, sys.modules["graphpri.cli"]._OVERVIEW]).splitlines():
        if line.startswith("  graphpri "):
            yield line.strip().split("  ")[0].split(" > ")[0].replace("*", "x")


def test_every_example_in_the_help_parses():
    lines = list(examples())
    assert len(lines) > 20
    for line in lines:
        build_app().parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)


def test_help_names_every_method_and_format(cli: Cli):
    text = " ".join(cli("sparsify", "--help").out.replace("│", " ").split())
    listed = text.partition("--method")[2].partition("--reweight")[0].replace("- ", "-")
    assert [name for name in graphpri.methods() if f" {name}," not in listed and f" {name}." not in listed] == []
    assert [form.name for form in (*FORMATS, FOLDER, *READ_ONLY) if f" {form.name}" not in text] == []


def test_help_names_the_limits_and_their_variables(cli: Cli):
    assert all(name in cli("--help").out for name in ("GRAPHPRI_MEMORY", "GRAPHPRI_THREADS", "--memory", "--threads"))
    for command in ("sparsify", "path", "compare", "measure", "info"):
        text = cli(command, "--help").out
        assert all(name in text for name in ("GRAPHPRI_MEMORY", "GRAPHPRI_THREADS", "--memory", "--threads")), command


def test_version(cli: Cli):
    assert cli("--version").out.strip() == graphpri.__version__
    assert cli("sparsify", "--version").out.strip() == graphpri.__version__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_know_the_commands(shell: str, cli: Cli):
    result = cli("completion", shell)
    assert result.code == 0
    assert all(name in result.out for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sparsfy", "karate"], ["sparsfy", "sparsify"]),
        (["sparsify"], ["sparsify needs INPUT: Files"]),
        (["sparsify", "karate", "--kep", "3"], ["--kep", "--keep"]),
        (["sparsify", "karate", "--keep"], ["--keep stands without a value: Edges to keep"]),
        (["choose", "karate", "--for", "hubs"], ["choose needs --keep: Edges to keep: a share such as 0.3"]),
        (["choose", "karate", "--keep", "0.3"], ["choose needs --for", "information, hubs, spectrum"]),
        (["choose", "karate", "--kep", "0.3", "--for", "hubs"], ["choose needs --keep", "instead of --kep"]),
        (["sparsify", "karate", "--keep", "9", "--at-least"], ["--at-least", "--connected, --cover or --protect"]),
        (["sparsify", "karate", "--at-least", "--cover"], ["--at-least raises a budget", "pass --keep"]),
        (["sparsify", "karate", "--beta", "high"], ["--beta", "high"]),
        (["sparsify", "karate", "--directed", "yes"], ["--directed", "symmetrize"]),
        (["sparsify", "karate", "--seed", "0.5"], ["--seed"]),
        (["measure", "karate"], ["KEPT"]),
        (["explore", "a.csv", "b.csv", "-o", "p.html"], ["explore takes one graph", "'b.csv' is one too many"]),
        (["measure", "a.csv", "b.csv", "c.csv", "-"], ["two graphs", "'c.csv', '-' are too many"]),
        (["brain", *"abcdefgh", "-o", "x"], ["one SOURCE", "in quotes", "'f' and 2 more are too many"]),
        (["data", "git"], ["git"]),
        (["--nonsense"], ["--nonsense"]),
        (["data", "get", "karate", "jazz"], ["'jazz' is one too many"]),
        (["sparsify", "karate", "--json", "-o", "-"], ["--json", "standard output"]),
        (["path", "karate", "--beta", "0,1", "--json", "-o", "-"], ["--json", "standard output"]),
        (["sparsify", "-", "-", "-o", "x/", "--format", "csv"], ["twice"]),
        (["measure", "-", "-"], ["standard input"]),
    ],
)
def test_usage_errors_name_the_culprit(arguments: list[str], words: list[str], cli: Cli, tmp_path: Path):
    with nothing_new(tmp_path):
        refused(cli(*arguments), *words)


# Sparsify


def test_sparsify_reports_and_writes(cli: Cli, square: Path, tmp_path: Path):
    result = cli("sparsify", square, "-o", "small.csv", "--keep", "0.6", "--beta", "2")
    assert (result.code, result.err) == (0, "")
    assert "3 of 5 edges kept (60.0%) of 4 nodes" in result.out
    for word in ("entropy S", "divergence D", "objective J", "'weight'", "status", "small.csv"):
        assert word in result.out
    table = read(tmp_path / "small.csv")
    assert table.source.size == 3
    assert kept_edges(tmp_path / "small.csv") < kept_edges(square)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_names_of_files_need_not_be_text(cli: Cli, tmp_path: Path):
    given, out = (os.fsdecode(name) for name in (b"\xff\xfein.csv", b"\xfeout.csv"))
    Path(given).write_text("a,b\nb,c\nc,a\n", encoding="utf-8")
    done = cli("sparsify", given, "--keep", 2, "-o", out, "--report", "page.html")
    assert done.code == 0, done.err
    assert Path(out).read_text(encoding="utf-8").startswith("source,target")
    assert "??in.csv" in Path("page.html").read_text(encoding="utf-8")
    assert cli("explore", given, "-o", "explorer.html", "--beta", 4, "--keep", 2).code == 0


def test_sparsify_without_output_only_reports(cli: Cli, square: Path, tmp_path: Path):
    with nothing_new(tmp_path):
        assert "edges kept" in cli("sparsify", square).out
        assert cli("sparsify", square, "--quiet") == Result(0, "", "")


def test_without_a_budget_the_graph_stays_connected(cli: Cli):
    report = cli("sparsify", "karate", "--beta", "3", "--weight", "none", "--json").json
    assert report["keep"] is None
    assert report["connected"]
    assert report["components_kept"] == 1
    assert 33 < report["edges_kept"] < 78


@pytest.mark.parametrize(("text", "edges"), [("1", 1), ("1.0", 5), ("0.5", 3), ("0.1", 1), ("4", 4), ("1e-1", 1)])
def test_keep_is_a_count_without_a_point_and_a_share_with_one(text: str, edges: int, cli: Cli, square: Path):
    report = cli("sparsify", square, "--keep", text, "--json").json
    assert report["edges_kept"] == edges
    assert report["keep"] == (float(text) if not text.isdecimal() else int(text))


def test_json_says_what_the_library_says(cli: Cli, square: Path):
    result = cli("sparsify", square, "--keep", "3", "--beta", "2", "-o", "small.gml", "--json")
    expected = graphpri.sparsify(read(square), keep=3, beta=2, seed=0).report()
    assert result.err == ""
    assert {key: result.json[key] for key in expected} == expected
    assert result.json["output"] == "small.gml"
    assert result.json["input"] == str(square)


@pytest.mark.parametrize("method", ["random", "local-degree", "spanning-forest", "effective-resistance-sampling"])
@pytest.mark.parametrize("connected", ["--connected", "--no-connected"])
def test_every_method_keeps_exactly_the_budget(method: str, connected: str, cli: Cli, tmp_path: Path):
    report = cli("sparsify", "karate", "--keep", "40", "--method", method, connected, "-o", "k.gml", "--json").json
    assert report["edges_kept"] == 40 == read(tmp_path / "k.gml").source.size
    if connected == "--connected":
        assert report["components_kept"] == 1


def test_options_reach_the_solver(cli: Cli):
    arguments = ["--keep", "0.3", "--beta", "1.5", "--alpha", "0.01", "--entropy", "local", "--mixture", "listing"]
    report = cli(
        "sparsify", "karate", *arguments, "--effort", "fast", "--seed", "7", "--reweight", "rescale", "--json"
    ).json
    expected = {"beta": 1.5, "alpha": 0.01, "entropy_by": "local", "mixture": "listing", "effort": "fast", "seed": 7}
    assert expected.items() <= report.items()
    assert report["reweight"] == "rescale"


def test_options_of_a_method_and_of_algorithm_1(cli: Cli):
    def report(*options: str) -> dict[str, Any]:
        return cli("sparsify", "karate", "--keep", "20", "--json", *options).json

    assert report("--method", "local-degree", "--option", "exponent=0.5")["exponent"] == 0.5
    gumbel = report("--solver", "gumbel", "--option", "steps=60", "--option", "patience=0")
    assert (gumbel["steps"], gumbel["patience"], gumbel["edges_kept"]) == (60, 0, 20)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--option", "exponent"], ["exponent", "name=value"]),
        (["--option", "exponent=2", "--method", "local-degree"], ["exponent=2"]),
        (["--option", "exponent=1", "--option", "exponent=2"], ["twice"]),
        (["--option", "power=2", "--method", "local-degree"], ["power", "exponent"]),
        (["--option", "steps=9"], ["steps"]),
        (["--option", "keep=3"], ["--keep"]),
        (["--method", "local-degre"], ["--method local-degre", "'local-degree'"]),
        (["--method", "prl"], ["did you mean 'pri'", "(methods: pri, "]),
        (["--method", "random", "--effort", "best"], ["effort", "random"]),
        (["--method", "random", "--time-limit", "2"], ["--time-limit", "random"]),
        (["--solver", "gumbel", "--connected"], ["--solver gumbel", "use --solver budgeted"]),
        (["--seed", "-1"], ["--seed -1 "]),
        (["--time-limit", "0"], ["--time-limit 0.0 "]),
        (["--memory", "lots"], ["--memory lots "]),
        (["--weight", "strength"], ["strength", "weight"]),
        (["--label", "name"], ["label"]),
    ],
)
def test_options_that_cannot_be_used_are_refused(arguments: list[str], words: list[str], cli: Cli, square: Path):
    with nothing_new(square.parent):
        refused(cli("sparsify", square, "--keep", "3", "-o", "small.csv", *arguments), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--keep", "0"], ["--keep 0 "]),
        (["--keep", "-3"], ["--keep -3 "]),
        (["--keep", "6"], ["--keep 6 ", "5 edges"]),
        (["--keep", "9" * 5000], ["--keep"]),
        (["--keep", "0.0"], ["--keep 0.0"]),
        (["--keep", "1.5"], ["--keep 1.5", "without a point"]),
        (["--keep", "-0.1"], ["--keep -0.1"]),
        (["--keep", "nan"], ["--keep nan"]),
        (["--keep", "inf"], ["--keep inf"]),
        (["--keep", "many"], ["--keep many"]),
        (["--keep", "1_0"], ["--keep 1_0"]),
        (["--keep", "2", "--connected"], ["--keep 2 ", "--connected needs at least 3 edges"]),
        (["--beta", "-1"], ["--beta -1.0 "]),
        (["--beta", "nan"], ["--beta nan "]),
        (["--beta", "inf"], ["--beta inf "]),
        (["--alpha", "-0.1"], ["--alpha -0.1 "]),
        (["--alpha", "inf"], ["--alpha inf "]),
        (["--method", "random"], ["random", "--keep"]),
    ],
)
def test_values_out_of_range_are_refused(arguments: list[str], words: list[str], cli: Cli, square: Path):
    with nothing_new(square.parent):
        refused(cli("sparsify", square, "-o", "small.csv", *arguments), *words)


def test_protected_edges_stay_and_forbidden_ones_go(cli: Cli, tmp_path: Path):
    (tmp_path / "stay.txt").write_text("0 8\n33 14\n")
    arguments = ["--keep", "10", "--protect", "stay.txt", "--protect", "26,29", "--forbid", "0,1", "--forbid", "32,33"]
    assert cli("sparsify", "karate", *arguments, "-o", "small.csv").code == 0
    kept = kept_edges(tmp_path / "small.csv")
    assert len(kept) == 10
    assert {frozenset(pair) for pair in [(0, 8), (33, 14), (26, 29)]} <= kept
    assert not kept & {frozenset((0, 1)), frozenset((32, 33))}


def test_protect_matches_labels_that_are_numbers_in_one_place_and_text_in_the_other(cli: Cli, tmp_path: Path):
    (tmp_path / "mixed.csv").write_text("u,v\n1,2\n2,x\nx,1\n1,y\n")
    (tmp_path / "stay.csv").write_text("u,v\n1,2\n")
    for protected in ("1,2", "stay.csv"):
        assert cli("sparsify", "mixed.csv", "--keep", "1", "--protect", protected, "-o", "m.csv", "--force").code == 0
        assert (tmp_path / "m.csv").read_text() == "u,v\n1,2\n"


@pytest.mark.parametrize(
    ("pair", "words"),
    [("a", ["a", "u,v"]), ("a,b,c", ["a,b,c"]), ("a,z", ["a,z", "'z'"]), ("b,d", ["'b'", "'d'"]), ("a,", ["a,"])],
)
def test_protect_refuses_what_is_not_an_edge(pair: str, words: list[str], cli: Cli, square: Path):
    refused(cli("sparsify", square, "--keep", "3", "--protect", pair), "protect", *words)


def test_time_limit_returns_the_best_so_far(cli: Cli):
    options = ["--option", "steps=10000000", "--option", "patience=0"]
    report = cli("sparsify", "karate", "--solver", "gumbel", *options, "--time-limit", "0.2", "--json").json
    assert "time limit" in report["status"]
    assert report["seconds"] < 10


# Graphs that need a decision, or can't be used


ASYM = "% asym unweighted\n1 2\n2 1\n2 3\n3 1\n"
ARCS = (
    '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
)


@pytest.mark.parametrize(("name", "content"), [("net.txt", ASYM), ("net.graphml", ARCS)])
def test_directed_graphs_need_consent(name: str, content: str, cli: Cli, tmp_path: Path):
    (tmp_path / name).write_text(content)
    with nothing_new(tmp_path):
        refused(cli("sparsify", name, "--keep", "1", "-o", "small.gml"), name, "directed", "--directed symmetrize")
    result = cli("sparsify", name, "--keep", "1", "-o", "small.gml", "--directed", "symmetrize")
    assert result.code == 0
    assert "symmetrised" in result.out
    assert not read(tmp_path / "small.gml").directed


def test_weights_of_opposite_arcs_are_added(cli: Cli, tmp_path: Path):
    (tmp_path / "arcs.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 2.5\n2 1 4\n2 3 1\n")
    cli("sparsify", "arcs.mtx", "--keep", "1.0", "--directed", "symmetrize", "-o", "all.csv")
    assert (tmp_path / "all.csv").read_text() == "source,target,weight\n0,1,6.5\n1,2,1.0\n"


def test_loops_and_parallel_edges_need_consent(cli: Cli, tmp_path: Path):
    (tmp_path / "net.csv").write_text("u,v,weight\na,b,1\nb,b,1\nb,a,5\nb,c,2\nc,c,1\n")
    message = refused(cli("sparsify", "net.csv", "--keep", "1"), "2 self-loops", "'b', 'b'", "--loops drop", "net.csv")
    assert "line 3" in message
    message = refused(cli("sparsify", "net.csv", "--keep", "1", "--loops", "drop"), "1 parallel edge", "--parallel")
    assert "line 4" in message
    for how, weight in (("sum", "6"), ("max", "5"), ("first", "1")):
        arguments = ["--loops", "drop", "--parallel", how, "-o", f"{how}.csv"]
        assert "dropped" in cli("sparsify", "net.csv", "--keep", "1.0", *arguments).out
        assert f"a,b,{weight}\n" in (tmp_path / f"{how}.csv").read_text()


@pytest.mark.parametrize("weight", ["0", "-1.5", "nan", "inf", "-inf", "heavy"])
def test_weights_that_are_not_positive_numbers_are_refused(weight: str, cli: Cli, tmp_path: Path):
    (tmp_path / "net.csv").write_text(f"u,v,weight\na,b,1\nb,c,{weight}\n")
    with nothing_new(tmp_path):
        refused(cli("sparsify", "net.csv", "--keep", "1", "-o", "small.csv"), "net.csv", "line 3")
    if weight != "heavy":
        assert cli("sparsify", "net.csv", "--keep", "1", "--weight", "none").code == 0


def test_first_row_is_a_header_if_it_names_known_columns_or_the_user_says_so(cli: Cli, tmp_path: Path):
    rows = "a,b\nb,c\nc,a\n"
    for header, chosen, edges in (
        ("", [], 3),
        ("source,target\n", [], 3),
        ("From,To\n", [], 3),
        ("ends,meets\n", [], 4),
        ("ends,meets\n", ["--header"], 3),
        ("source,target\n", ["--no-header"], 4),
    ):
        (tmp_path / "net.csv").write_text(header + rows)
        assert cli("info", "net.csv", "--json", *chosen).json["edges"] == edges, (header, chosen)


def test_delimiter_and_comments_can_be_named(cli: Cli, tmp_path: Path):
    (tmp_path / "net.txt").write_text("// a note\na|b\nb|c\n")
    assert cli("info", "net.txt", "--delimiter", "|", "--comment", "/", "--json").json["edges"] == 2
    (tmp_path / "tags.csv").write_text("#a,#b\n#b,#c\n")
    refused(cli("info", "tags.csv"), "tags.csv")
    assert cli("info", "tags.csv", "--comment", "none", "--json").json["edges"] == 2


def test_label_names_the_nodes(cli: Cli, tmp_path: Path):
    (tmp_path / "net.gml").write_text(
        'graph [ node [ id 4 label "x" ] node [ id 7 label "y" ] edge [ source 4 target 7 ] ]'
    )
    cli("sparsify", "net.gml", "--keep", "1.0", "--label", "id", "-o", "ids.csv")
    cli("sparsify", "net.gml", "--keep", "1.0", "-o", "labels.csv")
    assert (tmp_path / "ids.csv").read_text() == "source,target\n4,7\n"
    assert (tmp_path / "labels.csv").read_text() == "source,target\nx,y\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("no.csv", None, ["no.csv", "no such file"]),
        ("empty.csv", b"", ["empty"]),
        ("comments.txt", b"# nothing\n", ["comments.txt"]),
        ("one.csv", b"a\n", ["line 1"]),
        ("ragged.csv", b"a,b\nb,c\nc\n", ["line 3"]),
        ("missing.csv", b"u,v\na,b\nb,\n", ["line 3", "drop the row", "GraphML"]),
        ("binary.csv", b"a,b\n\0\1\2\n", ["binary"]),
        ("latin.csv", "é,b\n".encode("latin-1"), ["UTF-8", "line 1"]),
        ("wide.csv", b"a" * (1 << 21), ["wide.csv", "longer"]),
        ("cut.csv.gz", gzip.compress(b"a,b\nb,c\n" * 99, mtime=0)[:-20], ["gzip"]),
        ("wrong.mtx", b"a,b\n", ["wrong.mtx"]),
        ("short.mtx", b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n", ["short.mtx"]),
        ("broken.gml", b"graph [ node [ id 1 ]", ["broken.gml"]),
        ("twice.gml", b'graph [ node [ id 1 label "a" ] node [ id 2 label "a" ] edge [ source 1 target 2 ] ]', ["'a'"]),
        ("broken.graphml", b"<graphml><graph><node", ["broken.graphml"]),
        (
            "bomb.graphml",
            b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><graphml><graph edgedefault="undirected">'
            b'<node id="&b;"/></graph></graphml>',
            ["bomb.graphml"],
        ),
        ("broken.net", b"*Vertices 2\n1\n*Edges\n1 9\n", ["broken.net", "line 4"]),
        ("broken.graph", b"2 5\n2\n1\n", ["broken.graph"]),
        ("broken.npz", b"PK\x03\x04 nothing", ["broken.npz"]),
        ("other.npz", b"nothing at all", ["other.npz", "another format"]),
        ("broken.parquet", b"PAR1 nothing PAR1", ["broken.parquet"]),
        ("plain.doc", b"a\n", ["plain.doc", "--format"]),
    ],
)
def test_files_that_cannot_be_read_are_refused(
    name: str, content: bytes | None, words: list[str], cli: Cli, tmp_path: Path
):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    for command in (["sparsify", name, "--keep", "1", "-o", "small.csv"], ["info", name], ["measure", name, name]):
        with nothing_new(tmp_path):
            refused(cli(*command), *words)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("edgeless.gml", "graph [ node [ id 1 ] node [ id 2 ] ]"),
        ("single.gml", "graph [ node [ id 1 ] ]"),
        ("void.gml", "graph [ ]"),
        ("header.csv", "source,target\n"),
    ],
)
def test_graphs_without_edges_are_refused_and_described(name: str, content: str, cli: Cli, tmp_path: Path):
    (tmp_path / name).write_text(content)
    for command in (["sparsify", name], ["path", name, "--beta", "0,1"], ["compare", name], ["measure", name, name]):
        refused(cli(*command), name, "no edges")
    described = cli("info", name, "--json").json
    assert described["edges"] == 0
    assert "no edges" in described["problem"]
    assert "no edges" in cli("info", name).out


def test_one_edge_is_kept(cli: Cli, tmp_path: Path):
    (tmp_path / "one.csv").write_text("a,b\n")
    report = cli("sparsify", "one.csv", "--json").json
    assert (report["edges_kept"], report["objective"], report["divergence"]) == (1, 0, 0)


def test_extreme_weights_give_the_results_of_their_ratios(cli: Cli, tmp_path: Path):
    def objective(unit: str) -> float:
        (tmp_path / "net.csv").write_text(f"u,v,weight\na,b,1{unit}\nb,c,2{unit}\nc,d,3{unit}\nd,a,4{unit}\n")
        return cli("sparsify", "net.csv", "--keep", "2", "--json").json["objective"]

    assert objective("e-300") == pytest.approx(objective("")) == pytest.approx(objective("e300"))


def test_labels_of_every_kind_survive(cli: Cli, tmp_path: Path):
    labels = ["90071992547409929007199254740993", "007", "-5", "Zoë", "a b", 'say "hi"', "x;y"]
    with (tmp_path / "net.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("source", "target"), *itertools.pairwise(labels)])
    assert cli("sparsify", "net.csv", "--keep", "1.0", "-o", "all.csv").code == 0
    assert kept_edges(tmp_path / "all.csv") == {frozenset(pair) for pair in itertools.pairwise(labels)}


def test_many_components(cli: Cli, tmp_path: Path):
    n = 30_000
    write(EdgeTable(2 * n, np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)), tmp_path / "pairs.npz")
    report = cli("sparsify", "pairs.npz", "--keep", "0.25", "--entropy", "degree", "--json").json
    assert (report["components"], report["components_kept"], report["edges_kept"]) == (n, 52_500, 7_500)
    assert report["entropy"] == pytest.approx(np.log(n / 2))


# Inputs and outputs


def test_stdin_to_stdout(cli: Cli):
    result = cli("sparsify", "-", "--format", "csv", "--keep", "2", "-o", "-", stdin=SQUARE)
    rows = result.out.splitlines()
    assert (result.code, rows[0], len(rows)) == (0, "source,target,weight", 3)
    assert set(rows) < set(SQUARE.splitlines())
    assert "2 of 5 edges kept" in result.err


def test_gzip_on_stdin_and_another_format_on_stdout(cli: Cli):
    packed = gzip.compress(SQUARE.encode())
    arguments = ["--format", "csv", "--keep", "2", "--output", "-", "--output-format", "gml", "-q"]
    result = cli("sparsify", "-", *arguments, stdin=packed)
    assert result.out.startswith("graph [")
    assert result.err == ""


def test_stdin_is_read_by_its_content_and_refused_with_the_option_where_that_says_nothing(cli: Cli):
    assert cli("info", "-", "--json", stdin=SQUARE).json["edges"] == 5
    refused(cli("sparsify", "-", "--keep", "2", stdin="Dear all,\nhello\n"), "--format", "csv")


def test_inputs_without_a_format_to_write_become_csv(cli: Cli, tmp_path: Path):
    (tmp_path / "out.square").write_text("% sym\n1 2 1 7\n2 3 1 8\n3 4 1 9\n4 1 1 9\n")
    (tmp_path / "square.sif").write_text("a pp b\nb pp c\nc pp d\nd pp a\n")
    assert cli("sparsify", "out.square", "square.sif", "--keep", "2", "-o", "kept/", "-q").code == 0
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["out.square.csv", "square.csv"]
    assert cli("sparsify", "square.sif", "--keep", "2", "-o", "-", "-q").out.startswith("source,target,")
    refused(cli("sparsify", "square.sif", "--keep", "2", "-o", "kept.sif"), "is read, not written")


@pytest.mark.parametrize("form", [form for form in FORMATS if form.name != "parquet"], ids=lambda form: form.name)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_every_format_can_be_written_and_measured(form: Any, zipped: str, cli: Cli, tmp_path: Path):
    name = f"small{form.suffixes[0]}{zipped}"
    assert cli("sparsify", "g2", "--keep", "0.5", "--method", "local-degree", "-o", name).code == 0
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == bool(zipped)
    again = cli("info", name, "--json").json
    assert again["edges"] == 252
    assert cli("measure", "g2", name, "--measures", "edges", "--json").json["measures"]["edges"] == 252


def test_parquet(cli: Cli, tmp_path: Path):
    pytest.importorskip("pyarrow")
    assert cli("sparsify", "g1", "--keep", "0.5", "--method", "random", "-o", "small.parquet").code == 0
    assert cli("info", "small.parquet", "--json").json["edges"] == 50


@pytest.mark.parametrize("arguments", [["-o", "small.parquet"], ["--plot", "small.png"]])
def test_missing_extras_are_named_before_the_work(arguments: list[str], cli: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("graphpri.cli.outputs.find_spec", lambda name: None)
    refused(cli("sparsify", "karate", *arguments), "pip install 'graphpri[p")


def test_konect_and_snap_files(cli: Cli, tmp_path: Path):
    (tmp_path / "out.konect.txt").write_text("% sym weighted\n% 3 3 3\n1 2 0.5\n2 3 1.5\n3 1 2\n")
    (tmp_path / "snap.txt").write_text(
        "# Undirected graph: toy\n# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0\n"
    )
    assert cli("sparsify", "out.konect.txt", "--keep", "2", "--json").json["weights"] == "weights: 'weight'"
    assert cli("sparsify", "snap.txt", "--keep", "2", "-o", "small.txt", "--json").json["edges"] == 3
    assert read(tmp_path / "small.txt").source.size == 2


def test_what_a_format_cannot_hold_is_said(cli: Cli):
    result = cli("sparsify", "karate", "--keep", "0.1", "-o", "small.csv")
    about = result.out.partition("about the file")[2]
    assert "isolated nodes, node attribute 'club' and graph attribute 'name' not in the file" in about
    assert about.count("can't hold") == 1


CALLS = "source,target,calls,since\na,b,3,May\na,c,10,May\nb,c,2,June\nc,d,30,June\nd,a,1,July\n"


def test_what_needs_weights_is_refused_where_no_one_named_them(cli: Cli, tmp_path: Path):
    (tmp_path / "calls.csv").write_text(CALLS)
    for asked in (
        ("--method", "noise-corrected", "--significance", "0.5"),
        ("--method", "weight", "--keep", "2"),
        ("--keep", "2", "--negative", "drop"),
    ):
        refused(cli("sparsify", "calls.csv", *asked), "needs weights", "--weight calls, or --weight none")
    assert cli("sparsify", "calls.csv", "--method", "weight", "--keep", "2", "--weight", "none").code == 0
    tested = "--method", "noise-corrected", "--significance", "0.5", "--weight", "calls"
    assert "none, significance 0.5" in cli("sparsify", "calls.csv", *tested).out
    assert "pass --weight calls if that holds the weights" in cli("sparsify", "calls.csv", "--keep", "2").out
    compared = cli("compare", "calls.csv", "--keep", "2", "--method", "random,disparity").out
    assert "error: method 'disparity' needs weights" in compared
    assert "pass --weight calls, or --weight none" in compared
    refused(cli("explore", "calls.csv", "--method", "disparity", "-o", "page.html"), "--weight calls")


def test_attributes_survive(cli: Cli, tmp_path: Path):
    cli("sparsify", "karate", "--keep", "0.1", "-o", "small.graphml")
    table = read(tmp_path / "small.graphml")
    assert table.n_nodes == 34
    assert set(table.node_attributes["club"]) == {"Mr. Hi", "Officer"}
    assert len(table.edge_attributes["weight"]) == 8


def test_reweighted_edges_carry_their_weights(cli: Cli, square: Path, tmp_path: Path):
    cli("sparsify", square, "--keep", "3", "--reweight", "divergence", "-o", "small.csv")
    assert sum(read(tmp_path / "small.csv").edge_attributes["weight"]) == pytest.approx(15)


def test_new_weights_are_reported_with_what_they_change(cli: Cli):
    arguments = ["karate", "--keep", "0.5", "--method", "random", "--reweight"]
    text = cli("sparsify", *arguments, "rescale").out.partition("new weights")[2].splitlines()[0]
    assert "rescale: sum times" in text
    report = cli("sparsify", *arguments, "divergence", "--json").json
    assert set(report["changes"]) == {"divergence", "quadratic_error", "eigenvalue_error"}
    before, after = report["changes"]["divergence"]
    assert after == pytest.approx(report["divergence"])
    assert before == pytest.approx(report["divergence_before"])
    assert after < before
    refused(cli("sparsify", *arguments, "diffusion"), "--reweight", "diffusion")


def test_data_set_names_stand_for_files(cli: Cli):
    assert cli("sparsify", "karate", "--keep", "0.5", "--json").json["edges_kept"] == 39
    assert cli("info", "G3", "--json").json["edges"] == 78
    refused(cli("sparsify", "karat"), "karat", "no such file", "'karate'")
    refused(cli("sparsify", "nothing-like-it"), "nothing-like-it", "graphpri data list")
    refused(cli("sparsify", "karate", "--format", "csv"), "karate", "--format")


def test_an_existing_file_goes_before_a_data_set_and_says_so(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "karate").mkdir()
    assert cli("info", "karate", "--json").json["edges"] == 78
    square.rename(tmp_path / "lesmis")
    result = cli("info", "lesmis", "--format", "csv", "--json")
    assert result.json["edges"] == 5
    assert "lesmis" in result.err
    assert "not from the data set" in result.err


def test_one_name_for_two_outputs_is_refused_before_the_work(cli: Cli, square: Path):
    for picture, chosen in (("same.html", ["--report"]), ("same.png", ["--plot"])):
        for force in ([], ["--force"]):
            with nothing_new(square.parent):
                asked = ["-o", picture, "--output-format", "csv", *chosen, f"./{picture}", *force]
                refused(cli("sparsify", square, "--keep", "3", *asked), f"-o and {chosen[0]}", picture)


def test_messages_name_options_and_leave_what_was_typed(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "beta=2.csv").write_text("seed=1,keep=3\nb,b\n")
    batch = cli("sparsify", "beta=2.csv", "keep=3.csv", "--keep", "2", "-o", "out/").err
    assert "(beta=2.csv, line 2): pass --loops drop to leave them out\n" in batch
    assert "keep=3.csv: there is no such file" in batch
    with nothing_new(tmp_path):
        refused(cli("info", "beta=1.csv"), "beta=1.csv: there is no such file")
        refused(cli("sparsify", square, "--protect", "seed=1,a"), "--protect", "'seed=1'")
        refused(cli("sparsify", square, "-o", "square.csv"), "pass --force to replace it")


def test_errors_about_files_name_options_too(cli: Cli, tmp_path: Path):
    (tmp_path / "labels.csv").write_text("scan,group\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(8)))
    np.savez(tmp_path / "scans.npz", first=np.ones((8, 5, 5)), second=np.ones((8, 5, 5)))
    refused(cli("brain", "scans.npz", "--labels", "labels.csv", "-o", "out/"), "name one with --array")


def test_the_report_names_options(cli: Cli, square: Path):
    assert "pass --keep\n" in cli("sparsify", square, "--beta", "50").out


def test_folders_that_are_no_graph_say_what_to_name(cli: Cli, square: Path):
    (square.parent / "none").mkdir()
    for command in (["sparsify", "--keep", "2"], ["info"], ["explore", "-o", "page.html"]):
        with nothing_new(square.parent):
            refused(cli(command[0], square.parent, *command[1:]), "is a folder", str(square.parent / "*.csv"))
            refused(cli(command[0], "none", *command[1:]), "none: is a folder", "no file in it")


def test_existing_output_is_refused_before_the_work(cli: Cli, square: Path, monkeypatch: pytest.MonkeyPatch):
    for module, name in (("compare", "compare"), ("sparsify", "sparsify"), ("sparsify", "path")):
        replace(monkeypatch, f"_{module}", name, lambda *a, **k: pytest.fail("solved before the outputs were checked"))
    (square.parent / "small.csv").write_text("precious\n")
    (square.parent / "small.png").write_text("precious\n")
    (square.parent / "square-keep2.csv").write_text("precious\n")
    commands = [
        ["sparsify", square, "-o", "small.csv"],
        ["sparsify", square, "--plot", "small.png"],
        ["path", square, "--beta", "0,1", "-o", "small.csv"],
        ["path", square, "--keep", "2,3", "--save", "."],
        ["compare", square, "-o", "small.csv"],
    ]
    for command in commands:
        with nothing_new(square.parent):
            refused(cli(*command), "exists already", "--force")


def test_force_replaces(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "small.csv").write_text("precious\n")
    assert cli("sparsify", square, "--keep", "2", "-o", "small.csv", "--force").code == 0
    assert read(tmp_path / "small.csv").source.size == 2


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("nowhere/small.csv", ["nowhere", "make it first"]),
        ("square.csv/small.csv", ["square.csv"]),
        ("small.xyz", ["small.xyz", "--output-format"]),
        ("small", ["small", "--output-format"]),
        ("square.csv/", ["square.csv", "not a folder"]),
    ],
)
def test_outputs_that_cannot_be_written_are_refused(output: str, words: list[str], cli: Cli, square: Path):
    with nothing_new(square.parent):
        refused(cli("sparsify", square, "--keep", "2", "-o", output), *words)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_folders_without_permission_are_refused(cli: Cli, square: Path):
    locked = square.parent / "locked"
    locked.mkdir(mode=0o500)
    refused(cli("sparsify", square, "--keep", "2", "-o", "locked/small.csv"), "locked")
    refused(cli("sparsify", square, "--keep", "2", "-o", "locked/deep/"), "locked")


def test_labels_that_a_format_cannot_hold_leave_no_file(cli: Cli, tmp_path: Path):
    (tmp_path / "net.csv").write_text('u,v\n"a b",c\nc,d\n')
    with nothing_new(tmp_path):
        refused(cli("sparsify", "net.csv", "--keep", "1.0", "-o", "small.ncol"), "small.ncol", "a b")


# Batches


def test_batch_writes_one_file_each_in_its_own_format(cli: Cli, square: Path, tmp_path: Path):
    write(read(square), tmp_path / "other.gml.gz")
    result = cli("sparsify", "square.csv", "other.gml.gz", "karate", "-o", "out/", "--keep", "0.4")
    assert result.code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["karate.csv", "other.gml.gz", "square.csv"]
    assert kept_edges(tmp_path / "out" / "square.csv") == kept_edges(tmp_path / "out" / "other.gml.gz")
    assert len(re.findall(r"  (?:converged|good) ", result.out)) == 3  # a status each


def test_batch_into_another_format(cli: Cli, square: Path, tmp_path: Path):
    assert cli("sparsify", square, "karate", "-o", "out/", "--keep", "2", "--output-format", "mtx.gz").code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["karate.mtx.gz", "square.mtx.gz"]


def test_a_failing_input_does_not_stop_the_others(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "loop.csv").write_text("a,a\n")
    (tmp_path / "strange.doc").write_text("a\n")
    inputs = ["loop.csv", "missing.csv", "strange.doc", "square.csv"]
    result = cli("sparsify", *inputs, "-o", "out/", "--keep", "0.4")
    assert result.code == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["square.csv"]
    assert result.err.count("graphpri: error: ") == 3
    assert all(name in result.err for name in inputs[:3])
    assert result.out.count("failed") == 3
    rows = cli("sparsify", *inputs, "-o", "out/", "--keep", "0.4", "--force", "--json").json["results"]
    assert [row["input"] for row in rows] == inputs
    assert ["error" in row for row in rows] == [True, True, True, False]


@pytest.mark.parametrize("output", ["small.csv", "-"])
def test_batch_needs_a_folder(output: str, cli: Cli, square: Path):
    refused(cli("sparsify", square, "karate", "--keep", "2", "-o", output), "folder")
    assert cli("sparsify", square, "karate", "--keep", "2").code == 0


def test_batch_refuses_names_that_collide(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "square.csv").write_text(SQUARE)
    with nothing_new(tmp_path):
        refused(cli("sparsify", square, "deep/square.csv", "--keep", "2", "-o", "out/"), "square.csv", "rename")
        refused(cli("sparsify", square, square, "--keep", "2", "-o", "out/"), "square.csv")


def test_one_input_into_a_folder(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "out").mkdir()
    assert cli("sparsify", square, "--keep", "2", "-o", "out").code == 0
    assert read(tmp_path / "out" / "square.csv").source.size == 2


# The other commands


def test_path_along_beta(cli: Cli, tmp_path: Path):
    result = cli(
        "path", "karate", "--beta", "0:4:2,20", "--weight", "none", "-o", "path.csv", "--save", "steps/", "--json"
    )
    rows = result.json["rows"]
    assert [row["beta"] for row in rows] == [0, 2, 4, 20]
    assert rows[-1]["edges_kept"] == 78
    for key, sign in (("edges_kept", 1), ("entropy", 1), ("divergence", -1)):
        assert (sign * np.diff([row[key] for row in rows]) >= -1e-12).all()
    written = rows_of(tmp_path / "path.csv")
    assert [float(row["objective"]) for row in written] == [row["objective"] for row in rows]
    sizes = [read(tmp_path / "steps" / f"karate-beta{beta}.csv").source.size for beta in (0, 2, 4, 20)]
    assert sizes == [row["edges_kept"] for row in rows]


def test_path_along_budgets(cli: Cli, tmp_path: Path):
    result = cli("path", "karate", "--keep", "0.2:0.6:0.2,70", "--beta", "2")
    assert result.code == 0
    assert [line.split()[1:3] for line in result.out.splitlines()[2:6]] == [
        ["0.2000", "16"],
        ["0.4000", "31"],
        ["0.6000", "47"],
        ["70", "70"],
    ]
    table = cli("path", "karate", "--keep", "0.2,0.4", "-o", "-").out
    assert table.splitlines()[0].startswith("beta,keep,edges_kept,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--beta", "4"], ["--beta", "--keep"]),
        ([], ["--beta", "--keep"]),
        (["--beta", "0,1", "--keep", "0.1,0.2"], ["--beta", "--keep"]),
        (["--beta", "0:1"], ["start:stop:step"]),
        (["--beta", "0:1:0"], ["0:1:0", "step", "must not be 0"]),
        (["--beta", "0:1:-1"], ["stop (1) is above start (0)"]),
        (["--beta", "5:1:1"], ["stop (1) is below start (5)"]),
        (["--beta", "0:1:1e-9"], ["about 1.0e+9 values", "at most 10000"]),
        (["--beta", "0:10000:1"], ["10001 values", "at most 10000"]),
        (["--beta", "0:nan:1"], ["start:stop:step"]),
        (["--beta", "0:inf:1"], ["start:stop:step"]),
        (["--beta", "-1,2"], ["--beta -1.0 must be a finite number, 0 or more"]),
        (["--beta", "-.5:1:0.5"], ["--beta -0.5 must be a finite number, 0 or more"]),
        (["--beta", "0,x"], ["--beta x"]),
        (["--beta", "0,-1"], ["--beta -1.0 "]),
        (["--keep", "0.5,99"], ["--keep 99 "]),
        (["--beta", "0,1", "-o", "x.png", "--plot", "x.png"], ["-o and --plot", "x.png"]),
        (["--beta", "1,1.0", "--save", "steps/"], ["twice"]),
    ],
)
def test_path_refuses_what_is_no_path(arguments: list[str], words: list[str], cli: Cli, tmp_path: Path):
    with nothing_new(tmp_path):
        refused(cli("path", "karate", *arguments), *words)


def test_ranges_include_their_end_and_keep_decimals():
    assert options.parse_betas("0:0.3:0.1") == [0.0, 0.1, 0.2, 0.3]
    assert options.parse_betas("3:1:-1,7") == [3.0, 2.0, 1.0, 7.0]
    assert options.parse_keeps("0.5:1:0.25") == [0.5, 0.75, 1.0]
    assert list(map(type, options.parse_keeps("0.5:1:0.5,1,10:20:10"))) == [float, float, int, int, int]


def test_compare(cli: Cli, tmp_path: Path):
    arguments = ["--keep", "0.2,40", "--method", "pri,local-degree,random", "--beta", "2", "--measures", "core"]
    result = cli("compare", "karate", *arguments, "-o", "table.csv", "--json")
    rows = result.json["rows"]
    assert [(row["method"], row["K"]) for row in rows] == [
        (method, k) for method in ("pri", "local-degree", "random") for k in (16, 40)
    ]
    assert rows[0]["objective"] == min(row["objective"] for row in rows if row["K"] == 16)
    assert len(rows_of(tmp_path / "table.csv")) == 6
    text = cli("compare", "karate", *arguments).out
    assert all(name in text for name in ("pri", "local-degree", "random", "objective"))


def test_choose_writes_what_the_best_way_keeps(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("graphpri._choose.ALL_EDGES", 0)  # as on large graphs: few ways
    result = cli("choose", "karate", "--keep", "40", "--for", "degrees", "-o", "kept.csv", "--json")
    assert result.json["for"] == "degrees"
    assert result.json["best"].items() <= result.json["rows"][0].items()
    assert result.json["output"] == "kept.csv"
    assert len(rows_of(tmp_path / "kept.csv")) == 40
    text = cli("choose", "karate", "--keep", "40", "--for", "hubs", "--weights-as-given").out
    assert "not tried" in text
    assert "divergence" not in text
    refused(cli("choose", "karate", "--keep", "40", "--for", "beauty"), "beauty", "communities")


def test_compare_takes_options_seeds_and_all_methods(cli: Cli):
    arguments = ["--keep", "0.5", "--seeds", "0,5", "--option", "local-degree:exponent=0.5", "--measures", "edges"]
    rows = cli("compare", "g1", "--method", "local-degree,random", *arguments, "--json").json["rows"]
    assert [row["seed"] for row in rows] == [0, 5, 0, 5]
    assert rows[0]["options"] == "exponent=0.5"
    every = cli("compare", "g1", "--method", "all", "--keep", "0.5", "--measures", "edges", "--json").json["rows"]
    assert [row["method"] for row in every] == list(graphpri.methods())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "pri,foo"], ["foo", "(methods: pri, "]),
        (["-o", "x.png", "--plot", "./x.png"], ["-o and --plot", "x.png"]),
        (["--measures", "entropi"], ["entropi", "entropy"]),
        (["--keep", "2.5"], ["--keep 2.5"]),
        (["--seeds", "a"], ["--seeds"]),
        (["--option", "exponent=1"], ["METHOD:name=value"]),
        (["--option", "scan:x=1"], ["scan"]),
        (["--method", "", "--keep", "0.5"], ["method"]),
    ],
)
def test_compare_refuses(arguments: list[str], words: list[str], cli: Cli):
    refused(cli("compare", "karate", *arguments), *words)


def test_measure(cli: Cli, tmp_path: Path):
    cli("sparsify", "karate", "--keep", "0.3", "--beta", "2", "-o", "small.gml")
    report = graphpri.sparsify(graphpri.datasets.load("karate"), keep=0.3, beta=2).report()
    result = cli("measure", "karate", "small.gml", "--beta", "2", "--json")
    assert (result.code, result.err) == (0, "")
    measures = result.json["measures"]
    assert measures["edges"] == 23
    for name in ("entropy", "divergence", "objective"):
        assert measures[name] == pytest.approx(report[name], abs=1e-9)
    bits = cli("measure", "karate", "small.gml", "--unit", "bits", "--measures", "entropy", "--json").json["measures"]
    assert bits["entropy"] == pytest.approx(report["entropy"] / np.log(2))
    assert "divergence" in cli("measure", "karate", "small.gml").out


def test_measure_matches_labels_that_a_file_turned_into_numbers(cli: Cli, tmp_path: Path):
    (tmp_path / "all.csv").write_text("u,v\n1,2\n2,3\n3,x\n")
    (tmp_path / "part.csv").write_text("u,v\n1,2\n2,3\n")
    assert cli("measure", "all.csv", "part.csv", "--measures", "edges", "--json").json["measures"]["edges"] == 2
    (tmp_path / "strange.csv").write_text("u,v\n1,2\n2,y\n")
    refused(cli("measure", "all.csv", "strange.csv"), "'y'")


def test_measure_reads_one_graph_from_stdin(cli: Cli, square: Path):
    result = cli(
        "measure", square, "-", "--format", "csv", "--measures", "edges", "--json", stdin="u,v,weight\na,b,1\n"
    )
    assert result.json["measures"]["edges"] == 1


def test_json_writes_infinities_as_text(cli: Cli, square: Path, tmp_path: Path):
    (tmp_path / "part.csv").write_text("u,v,weight\nc,d,3\n")
    measures = cli("measure", square, "part.csv", "--json").json["measures"]
    assert "Infinity" in measures.values()
    assert all(isinstance(value, int | float) or value in ("Infinity", "NaN") for value in measures.values())


def test_info_describes_what_sparsify_takes(cli: Cli):
    facts = cli("info", "karate", "--json").json
    assert (facts["nodes"], facts["edges"], facts["components"], facts["needs"]) == (34, 78, 1, [])
    assert facts["entropies"]["exact"] == pytest.approx(graphpri.von_neumann_entropy(graphpri.datasets.load("karate")))
    assert facts["defaults"] == {"entropy": "exact", "beta_with_keep": 50, "beta": 4}
    assert facts["node_attributes"] == ["club"]
    assert cli("info", "karate", "--weight", "none", "--json").json["entropies"]["exact"] == pytest.approx(
        3.1541, abs=1e-4
    )


def test_info_says_which_options_a_graph_needs(cli: Cli, tmp_path: Path):
    (tmp_path / "net.txt").write_text("% asym\n1 2\n2 1\n2 3\n2 3\n3 3\n")
    facts = cli("info", "net.txt", "--json").json
    assert facts["directed"]
    assert (facts["self_loops"], facts["parallel_edges"], facts["opposite_arcs"]) == (1, 1, 1)
    assert facts["needs"] == ["--directed symmetrize", "--loops drop", "--parallel sum, max or first"]
    assert (facts["nodes"], facts["edges"]) == (3, 2)
    options = [word for need in facts["needs"] for word in need.replace(" sum, max or", "").split()]
    assert cli("sparsify", "net.txt", *options, "--keep", "1").code == 0
    assert "--loops drop" in cli("info", "net.txt").out


def test_info_names_weights_that_cannot_be_used(cli: Cli, tmp_path: Path):
    (tmp_path / "net.csv").write_text("u,v,weight\na,b,1\nb,c,nan\n")
    facts = cli("info", "net.csv", "--json").json
    assert "nan" in facts["problem"]
    assert any("--weight none" in need for need in facts["needs"])
    assert facts["edges"] == 2


def test_negative_and_zero_weights_have_options(cli: Cli, tmp_path: Path):
    (tmp_path / "net.csv").write_text("u,v,weight\na,b,1\nb,c,-2\nc,a,0\nc,d,3\n")
    facts = cli("info", "net.csv", "--json").json
    assert (facts["negative_weights"], facts["zero_weights"], facts["problem"]) == (1, 1, None)
    assert facts["needs"] == ["--negative abs or drop", "--zero drop"]
    refused(cli("sparsify", "net.csv", "--keep", "1.0"), "--negative abs", "--negative drop")
    facts = cli("sparsify", "net.csv", "--keep", "1.0", "--negative", "abs", "--zero", "drop", "-o", "k.csv", "--json")
    assert "1 edge of negative weight taken as absolute values; 1 edge of weight 0 dropped" in facts.json["weights"]
    assert (tmp_path / "k.csv").read_text().splitlines()[1:] == ["a,b,1", "b,c,2", "c,d,3"]


def test_data_list_and_info(cli: Cli):
    rows = cli("data", "list", "--json").json["data_sets"]
    assert [row["name"] for row in rows] == list(graphpri.datasets.names())
    lines = cli("data", "list").out.splitlines()
    assert lines[len(rows) + 1] == ""
    others = [line.split()[0] for line in lines[len(rows) + 2 :] if line and not line.startswith("name ")]
    assert others == [*graphpri.datasets.tables(), *graphpri.datasets.scan_sets()]
    assert "Zachary" in cli("data", "info", "karate").out
    assert cli("data", "info", "karate", "--json").json["edges"] == 78
    refused(cli("data", "info", "karat"), "'karate'")


def test_data_get_fills_the_cache(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("GRAPHPRI_DATA", raising=False)
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path / "cache"))
    assert cli("data", "path").out.strip() == str(tmp_path / "cache")
    files = cli("data", "get", "karate").out.splitlines()
    assert files == [str(tmp_path / "cache" / "karate" / name) for name in ("edges.csv", "nodes.csv")]
    assert all(Path(file).is_file() for file in files)
    refused(cli("data", "get", "jazz"), "jazz", "--from")
    refused(cli("data", "get", "jazz", "--from", tmp_path / "cache"), "jazz/edges.csv")
    refused(cli("sparsify", "jazz"), "graphpri data get jazz")


@pytest.mark.parametrize(
    "command",
    [
        ["sparsify", "karate", "--effort", "fast"],
        ["path", "karate", "--beta", "0,4", "--keep", "0.3", "--effort", "fast"],
        ["compare", "karate", "--method", "random,local-degree"],
    ],
)
def test_plot_draws_a_picture(command: list[str], cli: Cli, tmp_path: Path):
    pytest.importorskip("matplotlib")
    assert cli(*command, "--plot", "picture.png").code == 0
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    refused(cli(*command, "--plot", "picture.xyz"), "picture.xyz", ".png")


def test_batch_draws_a_picture_each(cli: Cli, square: Path, tmp_path: Path):
    pytest.importorskip("matplotlib")
    refused(cli("sparsify", square, "karate", "--keep", "2", "--plot", "all.png"), "--plot", "folder")
    assert cli("sparsify", square, "karate", "--keep", "2", "--plot", "pictures/").code == 0
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["karate.png", "square.png"]


# Things that go wrong, and interruptions


def test_unexpected_errors_are_one_line(cli: Cli, square: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*args: Any, **keywords: Any) -> None:
        raise ZeroDivisionError("oh\nno")

    replace(monkeypatch, "_sparsify", "sparsify", fail)
    result = cli("sparsify", square)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("graphpri: error: internal error: ZeroDivisionError: oh no (test_cli.py, line ")
    assert "report" in result.err
    assert cli("sparsify", square, "karate").code == 1
    monkeypatch.setenv("GRAPHPRI_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["sparsify", str(square)])


OPTIONS = (
    *("--keep", "--beta", "--alpha", "--method", "--effort", "--entropy", "--protect", "--forbid", "--seed"),
    *("--option", "--weight", "--solver", "--directed", "--output-format", "-o", "--plot", "--time-limit"),
)
TEXTS = st.text(max_size=12) | st.sampled_from(
    ["-", "", "a" * 300, "a" * 300 + "/", "0", "-1", "nan", "1e999", "1,0", "\0"]
)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(OPTIONS), TEXTS), max_size=3))
def test_no_value_of_an_option_is_an_internal_error(
    tmp_path_factory: pytest.TempPathFactory, given: list[tuple[str, str]]
):
    arguments = [word for pair in given for word in pair]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        patch.chdir(tmp_path_factory.mktemp("any"))
        code = main(["sparsify", "g1", "--effort", "fast", *arguments])
    assert code in (0, 2), (arguments, said.getvalue())


@settings(max_examples=12)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_no_arguments_are_an_internal_error(tmp_path_factory: pytest.TempPathFactory, given: list[str]):
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        patch.chdir(tmp_path_factory.mktemp("any"))
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        for command in ([], ["info"], ["path"], ["compare"], ["measure"], ["data", "info"], ["data", "get"]):
            assert main([*command, *given]) in (0, 2), (command, given, said.getvalue())


def test_lack_of_memory_is_said(cli: Cli, square: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*args: Any, **keywords: Any) -> None:
        raise MemoryError("Unable to allocate 3 TiB")

    replace(monkeypatch, "_sparsify", "sparsify", fail)
    result = cli("sparsify", square)
    assert result.code == 1
    assert "not enough memory: Unable to allocate 3 TiB" in result.err


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user presses Ctrl-C at the first step of a solver."""
    step = progress.Watch.step

    def interrupted(self: progress.Watch, progress: Progress) -> bool:
        if not self.interrupted:
            signal.raise_signal(signal.SIGINT)
        return step(self, progress)

    monkeypatch.setattr(progress.Watch, "step", interrupted)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_search_writes_its_best_and_says_so(cli: Cli, tmp_path: Path):
    before = signal.getsignal(signal.SIGINT)
    result = cli("sparsify", "karate", "--keep", "20", "-o", "small.csv", "--json")
    assert result.code == 1
    assert "interrupted" in result.json["status"]
    assert "interrupted" in result.err
    assert read(tmp_path / "small.csv").source.size == 20
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_batch_begins_no_other_input(cli: Cli, tmp_path: Path):
    result = cli("sparsify", "karate", "lesmis", "-o", "out/", "--keep", "20", "--json")
    assert result.code == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["karate.csv"]
    assert "interrupted" in result.json["results"][1]["error"]


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_path_says_so(cli: Cli):
    result = cli("path", "karate", "--beta", "0,1,2", "--json")
    assert result.code == 1
    assert all("interrupted" in row["status"] for row in result.json["rows"])


def test_an_interrupted_comparison_keeps_its_rows(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress.Watch, "show", lambda *_: signal.raise_signal(signal.SIGTERM))
    result = cli("compare", "karate", "--method", "random,scan", "--keep", "0.5", "--json")
    assert result.code == 1
    assert [row["method"] for row in result.json["rows"]] == ["random"]


def test_an_interruption_outside_the_search_ends_quietly(cli: Cli, square: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("graphpri.io.read", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    with nothing_new(square.parent):
        assert cli("sparsify", square, "-o", "small.csv") == Result(1, "", "graphpri: interrupted\n")


def test_progress_appears_only_after_a_while():
    from rich.console import Console

    held = io.StringIO()
    console = Console(file=held, force_terminal=True, width=100)
    with progress.Watch(console=console, delay=60) as quick:
        quick.stage("reading")
    assert held.getvalue() == ""
    with progress.Watch(console=console, delay=0) as slow:
        slow.stage("reading karate")
        deadline = monotonic() + 20
        while "reading karate" not in held.getvalue() and monotonic() < deadline:
            sleep(0.02)
        slow.file("-")("reading", math.nan)
        while "reading a stream" not in held.getvalue() and monotonic() < deadline:
            sleep(0.02)
        sleep(2 * progress._INTERVAL)
        slow.step(Progress("perturb", 3, 12, 1.5, 0.5))
        while "perturb 3" not in held.getvalue() and monotonic() < deadline:
            sleep(0.02)
    assert "reading karate" in held.getvalue()
    assert "reading a stream" in held.getvalue()
    assert "12 edges, J = 1.5000" in held.getvalue()


# Large graphs


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one graph of 79 600 edges in several formats: labelled by numbers far apart, and by 0, 1, 2."""
    folder = tmp_path_factory.mktemp("large")
    graph = graphpri.datasets.barabasi_albert(10_000, 8, seed=3)
    table = EdgeTable(graph.n_nodes, graph.source, graph.target)
    for name in ("plain.npyd", "plain.csv", "plain.csv.gz", "plain.mtx"):
        write(table, folder / name)
    far = 2**31 + 2**40 * np.arange(graph.n_nodes)
    write(EdgeTable(graph.n_nodes, graph.source, graph.target, labels=far), folder / "far.npyd")
    write(graph_table(zoo.star(100_001)), folder / "star.npyd")
    write(graph_table(zoo.path(100_001)), folder / "path.npyd")
    return folder


def graph_table(graph: graphpri.Graph, weights: np.ndarray | None = None) -> EdgeTable:
    attributes = {} if weights is None else {"weight": weights}
    return EdgeTable(graph.n_nodes, graph.source, graph.target, edge_attributes=attributes)


def arrays(folder: Path, **columns: Any) -> None:
    """A folder of arrays as other programs make it."""
    folder.mkdir()
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", np.asarray(column))


def test_folders_of_arrays_are_graphs_for_every_command(cli: Cli, square: Path, tmp_path: Path):
    assert cli("sparsify", square, "-o", "all.npyd", "--keep", "1.0", "-q") == Result(0, "", "")
    assert kept_edges(tmp_path / "all.npyd") == kept_edges(square)
    for name in ("all.npyd", "all.npyd/", tmp_path / "all.npyd"):
        assert cli("info", name, "--json").json["weights"] == "weights: 'weight'"
        assert cli("sparsify", name, "--keep", "2", "--json").json["edges_kept"] == 2
    assert cli("measure", "all.npyd", square, "--measures", "edges", "--json").json["measures"]["edges"] == 5
    assert len(cli("compare", "all.npyd/", "--method", "random", "--keep", "0.4", "--json").json["rows"]) == 1
    assert cli("path", "all.npyd", "--keep", "2,3", "--save", "steps/", "-q").code == 0
    assert sorted(path.name for path in (tmp_path / "steps").iterdir()) == ["all-keep2.npyd", "all-keep3.npyd"]
    assert cli("sparsify", square, "--keep", "3", "--protect", "steps/all-keep2.npyd", "-o", "k.csv").code == 0
    assert kept_edges(tmp_path / "steps" / "all-keep2.npyd") < kept_edges(tmp_path / "k.csv")


def test_folders_of_arrays_under_any_name_and_in_batches(cli: Cli, square: Path, tmp_path: Path):
    arrays(tmp_path / "made elsewhere", source=[10, 20, 30], target=[20, 30, 10])
    result = cli("sparsify", "made elsewhere/", square, "-o", "out/", "--keep", "2", "-q")
    assert result == Result(0, "", "")
    assert read(tmp_path / "out" / "made elsewhere").source.size == 2
    assert kept_edges(tmp_path / "out" / "made elsewhere") < kept_edges(tmp_path / "made elsewhere")
    assert cli("sparsify", square, "karate", "-o", "arrays/", "--keep", "2", "--output-format", "npy", "-q").code == 0
    assert sorted(path.name for path in (tmp_path / "arrays").iterdir()) == ["karate.npyd", "square.npyd"]


def test_a_folder_of_arrays_takes_the_place_of_an_older_one(cli: Cli, square: Path, tmp_path: Path):
    arguments = ["--keep", "3", "-o", "small.npyd/"]
    assert cli("sparsify", square, *arguments, "-q").code == 0
    with nothing_new(tmp_path):
        refused(cli("sparsify", square, *arguments), "small.npyd", "exists already", "--force")
    assert cli("sparsify", "small.npyd", "--keep", "2", "-o", "small.npyd", "--force", "-q").code == 0
    assert read(tmp_path / "small.npyd").source.size == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.npyd", "square.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sparsify", "g.npyd", "--keep", "1", "-o", "-"], ["npy", "folder", "--output-format"]),
        (["sparsify", "karate", "--keep", "1", "-o", "-", "--output-format", "npy"], ["npy", "folder"]),
        (["sparsify", "-", "--format", "npy", "--keep", "1"], ["standard input", "folder"]),
        (["sparsify", "g.npyd", "karate", "--keep", "1", "-o", "out.npyd"], ["out.npyd", "several inputs"]),
        (["sparsify", "g.npyd", "g.npyd/", "--keep", "1", "-o", "out/"], ["g.npyd", "rename"]),
        (["sparsify", "g.npyd", "--keep", "1", "-o", "g.npyd.gz"], ["g.npyd.gz", "gzip"]),
        (["sparsify", "karate", "--keep", "1", "-o", "other.npyd", "--force"], ["other.npyd", "directory"]),
        (["sparsify", "karate", "--keep", "1", "-o", "g.npyd", "--output-format", "csv", "--force"], ["directory"]),
        (["compare", "karate", "-o", "g.npyd", "--force"], ["g.npyd", "directory"]),
        (["path", "karate", "--beta", "0,1", "-o", "g.npyd", "--force"], ["g.npyd", "directory"]),
    ],
)
def test_folders_of_arrays_where_none_can_be_are_refused(
    arguments: list[str], words: list[str], cli: Cli, tmp_path: Path
):
    arrays(tmp_path / "g.npyd", source=[0, 1], target=[1, 2])
    (tmp_path / "other.npyd").mkdir()
    (tmp_path / "other.npyd" / "notes.txt").write_text("precious")
    with nothing_new(tmp_path):
        refused(cli(*arguments), *words)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, ["without source.npy"]),
        ({"source": [0, 1]}, ["without target.npy"]),
        ({"source": [0, 1], "target": [1, 2, 3]}, ["target.npy", "(3,)"]),
        ({"source": [0.0, 1.0], "target": [1, 2]}, ["source.npy", "float64"]),
        ({"source": [[0], [1]], "target": [[1], [2]]}, ["source.npy", "(2, 1)"]),
        ({"source": ["a", "b"], "target": ["b", "c"]}, ["source.npy"]),
        ({"source": [0, 1], "target": [1, 2], "weight": [1.0]}, ["weight.npy"]),
        ({"source": [0, 1], "target": [1, 2], "weight": [1.0, np.nan]}, ["edge number 1", "nan"]),
        ({"source": [0, 1], "target": [1, 1]}, ["self-loop", "edge number 1"]),
        ({"source": np.zeros(0, int), "target": np.zeros(0, int)}, ["no edges"]),
    ],
)
def test_folders_of_arrays_that_are_no_graph_are_refused(
    columns: dict[str, Any], words: list[str], cli: Cli, tmp_path: Path
):
    arrays(tmp_path / "g.npyd", **columns)
    with nothing_new(tmp_path):
        refused(cli("sparsify", "g.npyd", "--keep", "1", "-o", "small.csv"), "g.npyd", *words)


def test_ids_below_zero_and_beyond_32_and_62_bits_come_back(cli: Cli, tmp_path: Path):
    ids = np.array([-(2**62), -7, 2**31, 2**31 + 1, 2**62, 2**63 - 1])
    arrays(tmp_path / "g.npyd", source=ids[:-1], target=ids[1:])
    lines = "".join(f"{u},{v}\n" for u, v in itertools.pairwise([*ids.tolist(), 2**70]))
    (tmp_path / "g.csv").write_text(lines)
    for name, edges in (("g.npyd", 5), ("g.csv", 6)):
        for out in ("all.csv", "all.npyd", "all.mtx"):
            assert cli("sparsify", name, "--keep", "1.0", "-o", out, "--force", "-q").code == 0
            assert read(tmp_path / out).source.size == edges
        for out in ("all.csv", "all.npyd"):
            assert kept_edges(tmp_path / out) == kept_edges(tmp_path / name)


def test_a_large_graph_is_the_same_from_every_file(cli: Cli, large: Path, tmp_path: Path):
    arguments = ["--keep", "0.1", "--effort", "fast", "-q"]
    for name in ("plain.npyd", "plain.csv", "plain.csv.gz", "plain.mtx", "far.npyd"):
        assert cli("sparsify", large / name, *arguments, "-o", "small.npyd", "--force") == Result(0, "", "")
        graph = read(tmp_path / "small.npyd").canonical().graph
        if name == "plain.npyd":
            first = graph
        assert np.array_equal(graph.source, first.source)
        assert np.array_equal(graph.target, first.target)
    assert graph.label(9999) == 2**31 + 2**40 * 9999


def test_a_large_graph_is_described_measured_and_compared(cli: Cli, large: Path):
    facts = cli("info", large / "far.npyd", "--json").json
    assert (facts["edges"], facts["components"], facts["needs"], facts["problem"]) == (79_936, 1, [], None)
    assert facts["entropies"].keys() == {"local", "degree"}
    graph = graphpri.datasets.barabasi_albert(10_000, 8, seed=3)
    for name, value in facts["entropies"].items():
        assert value == pytest.approx(graphpri.von_neumann_entropy(graph, name), abs=1e-12)
    cli("sparsify", large / "plain.npyd", "--keep", "0.2", "--method", "random", "-o", "small.npyd", "-q")
    measures = cli("measure", large / "plain.csv", "small.npyd", "--measures", "edges,cut_off", "--json").json[
        "measures"
    ]
    assert measures["edges"] == 15_987
    rows = cli("compare", large / "plain.npyd", "--keep", "0.2", "--method", "random,local-degree", "--json").json[
        "rows"
    ]
    assert rows[0]["cut_off"] == measures["cut_off"] > rows[1]["cut_off"]


def test_estimates_show_their_errors_in_every_command(cli: Cli, tmp_path: Path):
    write(graph_table(graphpri.datasets.barabasi_albert(3000, 4, seed=1)), tmp_path / "g.npyd")
    fast = ["--effort", "fast"]
    arguments = ["g.npyd", "--keep", "0.3", "--entropy", "stochastic", *fast]
    told = cli("sparsify", *arguments, "--beta", "4", "-o", "small.npyd").out
    for word in ("entropy S", "divergence D", "objective J"):
        assert " ± " in next(line for line in told.splitlines() if word in line)
    report = cli("sparsify", *arguments, "--beta", "4", "--json").json
    call = "measure", "g.npyd", "small.npyd", "--measures", "core", "--beta", "4"
    measured = cli(*call, "--json").json["measures"]
    for name in ("entropy", "divergence", "objective"):
        error = np.hypot(report[f"{name}_error"], measured[f"{name}_error"])
        assert abs(report[name] - measured[name]) < 5 * error < 0.02
    assert cli("measure", "g.npyd", "small.npyd", "--measures", "core").out.count(" ± ") == 4
    table = cli("path", *arguments, "--beta", "0,4", "-o", "path.csv").out
    assert table.count(" ± ") == 6
    assert float(rows_of(tmp_path / "path.csv")[1]["entropy_error"]) == pytest.approx(report["entropy_error"], rel=5)
    assert cli("compare", *arguments, "--method", "random", "-o", "c.csv").out.count(" ± ") == 4
    assert float(rows_of(tmp_path / "c.csv")[0]["divergence_error"]) < 0.001
    assert cli("sparsify", *arguments[:1], "karate", *arguments[1:]).out.count(" ± ") == 3
    assert " ± " not in cli("sparsify", *arguments[:3], "--entropy", "local", *fast).out


@pytest.mark.parametrize("name", ["star", "path"])
def test_stars_and_paths_of_a_hundred_thousand_edges(name: str, cli: Cli, large: Path):
    file, arguments = large / f"{name}.npyd", ["--keep", "0.3", "--json"]
    report = cli("sparsify", file, *arguments).json
    assert report["edges_kept"] == 30_000
    assert report["nodes_cut_off"] == 70_000 if name == "star" else report["nodes_cut_off"] < 70_000
    rows = cli("compare", file, *arguments, "--method", "random,local-degree,local-similarity,triangles").json["rows"]
    assert [row["K"] for row in rows] == [30_000] * 4
    assert all(row["objective"] >= report["objective"] - 1e-9 for row in rows)


def test_equal_scores_keep_exactly_the_budget_and_depend_on_the_seed_alone(cli: Cli, tmp_path: Path):
    write(graph_table(graphpri.datasets.ring_knn(1200, 10)), tmp_path / "ring.npyd")
    for method in ("pri", "local-degree", "jaccard", "effective-resistance"):
        found: list[np.ndarray] = []
        for seed, threads in ((0, 1), (0, 2), (7, 2)):
            options = ["--method", method, "--seed", seed, "--threads", threads, "-o", "k.npyd", "--force", "-q"]
            assert cli("sparsify", "ring.npyd", "--keep", "1600", *options) == Result(0, "", "")
            found.append(np.stack([read(tmp_path / "k.npyd").source, read(tmp_path / "k.npyd").target]))
        assert found[0].shape == (2, 1600)
        assert np.array_equal(found[0], found[1])
        assert method == "pri" or not np.array_equal(found[0], found[2])


@pytest.mark.parametrize(("nodes", "entropy"), [(30, "exact"), (60, "local")])
def test_extreme_weights(nodes: int, entropy: str, cli: Cli, tmp_path: Path):
    graph = graphpri.datasets.barabasi_albert(nodes, 5, seed=1)
    k = graph.n_edges // 3
    rng = np.random.default_rng(0)
    weights = {"one": np.ones(graph.n_edges), "tiny": np.full(graph.n_edges, 1e-300)}
    weights |= {"two": np.where(rng.random(graph.n_edges) < 0.5, 1e-300, 1e300)}
    weights |= {"huge": np.full(graph.n_edges, 1e300), "wide": 10.0 ** rng.uniform(-300, 300, graph.n_edges)}
    reports: dict[str, Any] = {}
    budget = ["--keep", k, "--effort", "fast", "--entropy", entropy]
    for name, column in weights.items():
        write(graph_table(graph, column), tmp_path / f"{name}.npyd")
        told = cli("sparsify", f"{name}.npyd", *budget, "-o", f"{name}.csv", "--json")
        reports[name] = told.json
        assert np.isfinite([reports[name][key] for key in ("entropy", "divergence", "objective")]).all()
        assert (reports[name]["edges_kept"], reports[name]["entropy_by"]) == (k, entropy)
        assert (name, entropy) != ("wide", "exact") or cli(
            "path", f"{name}.npyd", *budget, "--beta", "0,4", "-q"
        ).code == 0
        arguments = ["--method", "weight,local-degree", "--keep", "0.3", "--measures", "objective,components"]
        assert cli("compare", f"{name}.npyd", *arguments, "-q").code == 0
    assert reports["tiny"]["objective"] == pytest.approx(reports["one"]["objective"], rel=1e-9)
    assert kept_edges(tmp_path / "tiny.csv") == kept_edges(tmp_path / "huge.csv") == kept_edges(tmp_path / "one.csv")


def test_memory_and_threads_hold_for_one_run(cli: Cli, large: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GRAPHPRI_MEMORY", raising=False)
    monkeypatch.setenv("GRAPHPRI_THREADS", "3")
    arguments = ["sparsify", large / "plain.npyd", "--keep", "0.1", "--entropy", "exact"]
    message = refused(
        cli(*arguments, "--memory", "1GB", "--threads", "1"), "plain.npyd", "10000 nodes", "1.0 GB", "'local'"
    )
    assert "--memory" in message
    assert os.environ.get("GRAPHPRI_MEMORY") is None
    assert os.environ["GRAPHPRI_THREADS"] == "3"
    for option, value in (("--memory", "plenty"), ("--memory", "0"), ("--threads", "0"), ("--threads", "1.5")):
        for command in (["sparsify", "karate"], ["path", "karate", "--beta", "0,1"], ["info", "karate"]):
            refused(cli(*command, option, value), option, value)
    monkeypatch.setenv("GRAPHPRI_THREADS", "many")
    refused(cli("sparsify", large / "plain.npyd", "--keep", "0.1"), "GRAPHPRI_THREADS='many'")
    monkeypatch.setenv("GRAPHPRI_MEMORY", "1MB")
    for command in (
        ["sparsify", *arguments[1:]],
        ["measure", large / "plain.npyd", large / "plain.npyd", "--entropy", "exact"],
    ):
        refused(cli(*command, "--threads", "2"), "GRAPHPRI_MEMORY allows 1.0 MB")


def test_every_batch_input_that_does_not_fit_is_refused_alone(cli: Cli, large: Path, tmp_path: Path):
    inputs = [large / "plain.npyd", "g1"]
    result = cli(
        "sparsify",
        *inputs,
        *["-o", "out/", "--keep", "0.1", "--effort", "fast", "--entropy", "exact", "--memory", "200MB"],
    )
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["g1.csv"]


def test_reading_and_writing_show_how_far_they_are(cli: Cli, large: Path, monkeypatch: pytest.MonkeyPatch):
    shown: dict[str, list[float | None]] = {}

    def show(self: progress.Watch, text: str, fraction: float | None) -> bool:
        shown.setdefault(text, []).append(fraction)
        return False

    monkeypatch.setattr(progress.Watch, "show", show)
    assert cli("sparsify", large / "plain.csv", "--keep", "0.9", "--method", "random", "-o", "k.mtx").err == ""
    cli("path", large / "plain.npyd", "--keep", "0.5,0.6", "--save", "steps/")
    cli("measure", "k.mtx", "k.mtx", "--measures", "edges")
    cli("sparsify", "-", "--format", "csv", "--keep", "1", stdin=SQUARE)
    read_from = shown[f"reading {large / 'plain.csv'}"]
    assert read_from == sorted(read_from)
    for name in (large / "plain.csv", large / "plain.npyd", "k.mtx", "a stream"):
        assert shown[f"reading {name}"][-1] == 1
    for name in ("k.mtx", "steps/plain-keep0.5.npyd", "steps/plain-keep0.6.npyd"):
        assert shown[f"writing {name}"][-1] == 1


@pytest.mark.parametrize("stage", ["reading", "writing"])
@pytest.mark.parametrize("command", ["sparsify", "path", "measure", "compare", "info"])
@pytest.mark.parametrize(("form", "written"), [("csv", "npz"), ("npyd", "npyd")])
def test_an_interruption_while_reading_or_writing_leaves_nothing(
    stage: str,
    command: str,
    form: str,
    written: str,
    cli: Cli,
    large: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    if stage == "writing" and command not in ("sparsify", "path"):
        pytest.skip("this command writes no graph")
    arguments: dict[str, list[object]] = {
        "sparsify": ["--keep", "0.5", "--method", "random", "-o", f"small.{written}"],
        "path": ["--keep", "0.5,0.6", "--save", ".", "--output-format", written.replace("npyd", "npy")],
        "measure": [large / f"plain.{form}"],
        "compare": ["--method", "random", "-o", "table.csv"],
        "info": [],
    }

    def show(self: progress.Watch, text: str, fraction: float | None) -> bool:
        # When writing is done, the file is there.
        if text.startswith(stage) and (stage == "reading" or fraction != 1):
            signal.raise_signal(signal.SIGINT)
        return False

    monkeypatch.setattr(progress.Watch, "show", show)
    with nothing_new(tmp_path):
        assert cli(command, large / f"plain.{form}", *arguments[command]) == Result(1, "", "graphpri: interrupted\n")


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("entropy", ["local", "degree"])
def test_an_interrupted_search_of_a_large_graph_writes_its_best(entropy: str, cli: Cli, large: Path, tmp_path: Path):
    arguments = ["--keep", "0.1", "--effort", "best", "--entropy", entropy, "-o", "small.npyd", "--json"]
    result = cli("sparsify", large / "plain.npyd", *arguments)
    assert result.code == 1
    assert "interrupted" in result.json["status"]
    assert result.err == "graphpri: interrupted; what was found until then is written\n"
    assert read(tmp_path / "small.npyd").source.size == 7994


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "command",
    [
        "sparsify karate --keep 9 --effort fast --output-format mtx -o",
        "path karate --keep 9,20 --effort fast -o",
        "compare karate --method random -o",
    ],
)
def test_a_full_disk_is_no_fault_of_the_input(command: str, cli: Cli):
    result = cli(*command.split(), "/dev/full")
    assert (result.code, result.out) == (1, "")
    assert result.err == "graphpri: error: /dev/full: can't be written: No space left on device\n"


# As a program


@pytest.mark.skipif(os.name == "nt", reason="no signals of this kind")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_reading_ends_the_program_in_one_line(number: int, tmp_path: Path):
    command = [sys.executable, "-m", "graphpri", "sparsify", "-", "--format", "csv", "--keep", "1", "-o", "small.csv"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as opened:
        assert opened.stdin is not None
        rows = b"".join(b"%d,%d\n" % (i, i + 1) for i in range(100_000))
        # A pipe holds 64 kilobytes: when all is written the program is reading, and waits for more.
        for _ in range(4):
            opened.stdin.write(rows)
        opened.stdin.flush()
        opened.send_signal(number)
        out, err = opened.communicate()
    assert (opened.returncode, out, err) == (1, b"", b"graphpri: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def lesmis(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A weighted graph as a file, and the same with its rows shuffled and turned round."""
    folder = tmp_path_factory.mktemp("lesmis")
    write(graphpri.datasets.load("lesmis"), folder / "plain.csv")
    header, *rows = (folder / "plain.csv").read_text().splitlines()
    rng = np.random.default_rng(5)
    turned = [",".join([*row.split(",")[:2][:: rng.choice([1, -1])], row.split(",")[2]]) for row in rows]
    (folder / "shuffled.csv").write_text("\n".join([header, *rng.permutation(turned)]) + "\n")
    return {"plain": folder / "plain.csv", "shuffled": folder / "shuffled.csv"}


@pytest.mark.parametrize(
    "options", [["--beta", "6", "--effort", "fast"], ["--method", "effective-resistance-sampling"]]
)
def test_results_are_equal_across_processes_threads_and_edge_orders(
    options: list[str], lesmis: dict[str, Path], cli: Cli, tmp_path: Path
):
    def kept(name: str) -> list[str]:
        table = read(tmp_path / name)
        ends = (sorted((table.label(u), table.label(v))) for u, v in zip(table.source, table.target, strict=True))
        return sorted(f"{e} {w:.9g}" for e, w in zip(ends, table.edge_attributes["weight"], strict=True))

    command = ["--keep", "0.3", *options, "-q", "-o"]
    assert cli("sparsify", lesmis["plain"], *command, "here.csv").code == 0
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = program("sparsify", lesmis["shuffled"], *command, tmp_path / "there.csv", **threads)
    assert (done.returncode, done.stderr) == (0, "")
    assert kept("here.csv") == kept("there.csv")


def test_pipes_between_programs():
    done = program("sparsify", "-", "--format", "edgelist", "--keep", "2", "-o", "-", stdin="1 2\n2 3\n3 1\n")
    assert done.returncode == 0
    assert [line.startswith("#") for line in done.stdout.splitlines()] == [True, False, False]
    assert "2 of 3 edges kept" in done.stderr


def test_errors_of_the_program_have_no_traceback(tmp_path: Path):
    done = program("sparsify", tmp_path / "nothing.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("graphpri: error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="no pipes of this kind")
@pytest.mark.parametrize(
    "command",
    [
        "data list",
        "sparsify g1 --keep 9 --method random --json",
        "sparsify g1 --keep 9 --method random -o -",
        "sparsify --help",
    ],
)
def test_a_reader_that_stops_reading_is_no_error(command: str):
    opened = subprocess.Popen(
        [sys.executable, "-m", "graphpri", *command.split(), *(["-q"] if "-o" in command else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert opened.stdout is not None
    assert opened.stderr is not None
    opened.stdout.close()
    with opened.stderr:
        assert opened.stderr.read() == b""
    assert opened.wait() in (0, 1)


@pytest.mark.skipif(os.name == "nt", reason="no terminal of this kind")
def test_progress_shows_on_a_terminal_and_ctrl_c_ends_the_search(tmp_path: Path):
    import pty

    ours, theirs = pty.openpty()
    endless = ["--solver", "gumbel", "--option", "steps=100000000", "--option", "patience=0", "--keep", "9"]
    command = [
        sys.executable,
        "-m",
        "graphpri",
        "sparsify",
        "g1",
        *endless,
        "-o",
        str(tmp_path / "small.csv"),
        "--json",
    ]
    shown, sent = b"", False
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=os.environ | {"TERM": "xterm"}) as opened:
        os.close(theirs)
        while part := read_terminal(ours):
            shown += part
            if not sent and b"edges, J =" in shown:
                opened.send_signal(signal.SIGINT)
                sent = True
        assert opened.stdout is not None
        status = json.loads(opened.stdout.read())["status"]
    os.close(ours)
    assert b"gumbel" in shown
    assert b"graphpri: interrupted" in shown
    assert "interrupted" in status
    assert opened.returncode == 1
    assert read(tmp_path / "small.csv").source.size == 9


def read_terminal(file: int) -> bytes:
    try:
        return os.read(file, 4096)
    except OSError:  # how Linux ends a terminal whose other side is closed
        return b""


@pytest.mark.parametrize("name", ["g1", "g2", "karate", "madrid", "polbooks", "jazz"])
def test_the_papers_graphs_at_three_budgets(cli: Cli, data: Path, name: str):
    other = "none" if "weight" in graphpri.datasets.load(name).edge_attributes else "weight"
    # Below the forest a connected budget is refused, and the message says how many edges it takes.
    asked = ((0.2, True, "weight", "exact"), (0.5, False, other, "degree"), (0.8, True, "weight", "degree"))
    for keep, connected, weight, entropy in asked:
        options = ["--connected"] if connected else []
        told = cli(
            "sparsify", name, "--keep", keep, "--weight", weight, "--effort", "fast", "--json", "--force",
            "-o", "kept.csv", "--entropy", entropy, *options,
        )  # fmt: skip
        if told.code == 2:
            assert connected
            assert "--connected needs at least" in told.err
            continue
        assert told.code == 0
        report = told.json
        assert report["edges_kept"] == int(keep * report["edges"] + 0.5 + 1e-9)
        assert read("kept.csv").source.size == report["edges_kept"]
        assert not connected or report["components_kept"] == report["components"]
        assert report["objective"] == pytest.approx(report["entropy"] + 2 * report["beta"] * report["divergence"])
