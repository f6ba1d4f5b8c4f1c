"""Studies: pieces of work that are kept, verdicts that follow the numbers, one page, and the command."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from graphpri import studies
from graphpri.cli import main
from graphpri.errors import FileError, OptionError
from graphpri.studies import tradeoff
from graphpri.studies.catalogue import find
from graphpri.studies.study import UNTESTED, Fact, Facts, Verdict, generator, untested
from judging import read, rewrite

DATA = bool(os.environ.get("GRAPHPRI_DATA"))


@pytest.fixture(scope="module")
def everything(
    quick_study: Callable[[str], studies.Result], tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[studies.Result], Path]:
    """All studies in their quick sizes."""
    out = tmp_path_factory.mktemp("page")
    found = [quick_study(name) for name in studies.names()]
    studies.write_verdicts(found, out)
    studies.write_page(found, out)
    return found, out


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests do not ask more processes for is done in their own."""
    monkeypatch.setenv("GRAPHPRI_THREADS", "1")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the study tradeoff in its quick size."""
    out = tmp_path_factory.mktemp("one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHPRI_THREADS", "1")
        studies.reproduce(["tradeoff"], out, quick=True)
    return out


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study tradeoff without its picture, which takes longer than its pieces of work."""
    monkeypatch.setattr(tradeoff, "draw", lambda frames: [])


def pieces(out: Path) -> list[Path]:
    """What a run has kept of the study tradeoff's pieces of work."""
    return sorted((out / "tradeoff" / "pieces").glob("*.json"))


def content(folder: Path) -> dict[str, bytes]:
    """The files of a study but those with times."""
    return {p.name: p.read_bytes() for p in sorted(folder.glob("*")) if p.is_file() and p.name != "run.json"}


# What a study is


def test_every_name_leads_to_its_study() -> None:
    for name in studies.names():
        assert find(name).name == name


def test_an_unknown_study_is_an_error_that_says_the_closest() -> None:
    with pytest.raises(OptionError, match="did you mean 'karate'"):
        find("karat")


def test_random_numbers_depend_on_seed_and_key_alone() -> None:
    first = generator(3, "a", {"n": 1, "m": 2}).random(4)
    assert (first == generator(3, "a", {"m": 2, "n": 1}).random(4)).all()
    assert (first != generator(4, "a", {"n": 1, "m": 2}).random(4)).all()
    assert (first != generator(3, "b", {"n": 1, "m": 2}).random(4)).all()


def test_facts_fill_texts_and_nothing_else_does() -> None:
    facts = Facts()
    facts.add("share", 0.25, "t", "how")
    facts.add("none", float("inf"), "t", "how")
    assert facts.fill("{share:.1%} of {none:.0f}, {share}") == "25.0% of ∞, 0.25"
    with pytest.raises(KeyError):
        facts.fill("{other}")
    with pytest.raises(ValueError, match="already"):
        facts.add("share", 1, "t", "how")


# Running


def test_a_study_writes_tables_facts_verdicts_and_pictures(one: Path) -> None:
    names = set(content(one / "tradeoff"))
    assert names == {"random.csv", "facts.csv", "verdicts.csv", "tradeoff.png", "tradeoff.svg"}
    assert (one / "tradeoff" / "tradeoff.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("undrawn")
def test_same_seed_same_files_in_any_number_of_processes(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHPRI_THREADS", "2")
    studies.reproduce(["tradeoff"], tmp_path, quick=True)
    drawn_once = {name: found for name, found in content(one / "tradeoff").items() if name.endswith(".csv")}
    assert content(tmp_path / "tradeoff") == drawn_once


@pytest.mark.usefixtures("undrawn")
def test_another_seed_gives_other_numbers(one: Path, tmp_path: Path) -> None:
    studies.reproduce(["tradeoff"], tmp_path, quick=True, seed=1)
    assert content(tmp_path / "tradeoff")["random.csv"] != content(one / "tradeoff")["random.csv"]


def test_pieces_that_are_done_are_not_done_again(one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(one, tmp_path / "copy")
    done = pieces(tmp_path / "copy")
    assert len(done) == len(tradeoff.cells(True))
    done[0].unlink()
    worked: list[dict[str, Any]] = []
    honest = tradeoff.work
    monkeypatch.setattr(tradeoff, "work", lambda cell, seed: (worked.append(cell), honest(cell, seed))[1])
    studies.reproduce(["tradeoff"], tmp_path / "copy", quick=True)
    assert len(worked) == 1
    assert content(tmp_path / "copy" / "tradeoff") == content(one / "tradeoff")
    monkeypatch.setattr(tradeoff, "draw", lambda frames: [])
    studies.reproduce(["tradeoff"], tmp_path / "copy", quick=True, fresh=True)
    assert worked[1:] == tradeoff.cells(True)


def test_the_callback_hears_of_every_piece_and_can_stop(tmp_path: Path) -> None:
    steps: list[studies.StudyProgress] = []

    def stop(step: studies.StudyProgress) -> bool:
        steps.append(step)
        return step.done == 2

    with pytest.raises(KeyboardInterrupt):
        studies.reproduce(["tradeoff"], tmp_path, quick=True, callback=stop)
    assert [step.done for step in steps] == [1, 2]
    assert len(pieces(tmp_path)) >= 2
    assert not (tmp_path / "tradeoff" / "verdicts.csv").exists()


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ([], {}, "no study"),
        (["nothing"], {}, "not known"),
        (["tradeoff"], {"seed": -1}, "seed"),
        (["tradeoff"], {"seed": 1.5}, "seed"),
    ],
)
def test_bad_options_are_refused(names: list[str], options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        studies.reproduce(names, tmp_path, quick=True, **options)


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file"):
        studies.reproduce(["tradeoff"], tmp_path / "file", quick=True)


def test_a_study_that_has_not_run_can_not_be_judged(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="run the study first"):
        studies.conclude(find("tradeoff"), tmp_path)


# Verdicts


@pytest.mark.usefixtures("undrawn")
def test_a_changed_number_changes_the_verdict(one: Path, tmp_path: Path) -> None:
    shutil.copytree(one / "tradeoff", tmp_path / "tradeoff")
    table = tmp_path / "tradeoff" / "random.csv"
    assert {v.outcome for v in studies.conclude(find("tradeoff"), table.parent).verdicts} == {"reproduced"}

    def lower(row: dict[str, str]) -> None:
        if row["model"] == "BA" and row["share"] == "0.5":
            row["S"] = "0.1"

    rewrite(table, lower)
    rising, falling = studies.conclude(find("tradeoff"), table.parent).verdicts
    assert rising.outcome != "reproduced"
    assert "3 of 6" in rising.measured
    assert falling.outcome == "reproduced"
    assert read(table.parent / "verdicts.csv")[0]["verdict"] == rising.outcome


def test_every_study_judges_and_draws(everything: tuple[list[studies.Result], Path]) -> None:
    for result in everything[0]:
        if result.missing:
            assert not DATA, result.missing
            continue
        assert result.verdicts, result.study.name
        assert result.pictures, result.study.name
        for verdict in result.verdicts:
            assert verdict.outcome in studies.GRADES
            assert "{" not in verdict.claim + verdict.measured + verdict.condition
            assert "nan" not in verdict.measured + verdict.condition
        for name, caption in result.pictures:
            assert caption.endswith(".")
            assert (result.folder / f"{name}.svg").stat().st_size > 1000


def test_figures_of_verdicts_are_facts_and_facts_come_from_tables(
    everything: tuple[list[studies.Result], Path],
) -> None:
    for result in everything[0]:
        tables = {name for name, _ in result.tables}
        for fact in result.facts.rows.values():
            assert f"{fact.table}.csv" in tables, (result.study.name, fact)
        for verdict in result.judged:
            for text in (verdict.measured, verdict.condition):
                typed = re.sub(r"\{[^}]*\}", "", text)
                assert not re.search(r"\d\.\d|\d\s?%", typed), (result.study.name, text)


def test_claims_of_studies_that_have_not_run_are_untested() -> None:
    assert untested(studies.names()) == UNTESTED
    claims = [verdict.condition for verdict in untested(["karate"])]
    assert "its study has not run for this page: graphpri reproduce mtl-synthetic" in claims


def test_only_claims_without_a_study_are_untested() -> None:
    assert all(verdict.outcome == "not testable" and verdict.condition for verdict in UNTESTED)


# The page


class Page(HTMLParser):
    """What a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [found["id"]] if found.get("id") else []  # pyright: ignore
        self.links += [found["href"]] if tag == "a" and found.get("href") else []  # pyright: ignore
        self.sources += [found["src"]] if found.get("src") else []  # pyright: ignore
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else_and_its_links_lead_somewhere(
    everything: tuple[list[studies.Result], Path],
) -> None:
    text = (everything[1] / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert page.sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_has_every_verdict_and_its_numbers_lead_to_facts(
    everything: tuple[list[studies.Result], Path],
) -> None:
    text = (everything[1] / "index.html").read_text(encoding="utf-8")
    for result in everything[0]:
        used = {name for v in result.judged for name in re.findall(r"\{(\w+)", v.claim + v.measured + v.condition)}
        for name in used:
            assert f'href="#{result.study.name}-{name}"' in text
            assert f'id="{result.study.name}-{name}"' in text
    table = read(everything[1] / "verdicts.csv")
    assert len(table) == sum(len(result.verdicts) for result in everything[0]) + len(UNTESTED)
    assert list(table[0]) == ["study", "claim", "source", "measured", "verdict", "condition", "command"]


def test_a_studys_text_is_shown_as_text(tmp_path: Path) -> None:
    facts = Facts({"x": Fact("x", 1.0, "t", '"<b>')})
    judged = (Verdict("<script>alert(1)</script>", "<i>", "{x:.0f} < 2 & more", "reproduced"),)
    result = studies.Result(find("tradeoff"), tmp_path, judged, facts)
    text = studies.write_page([result], tmp_path).read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "<i>" not in text
    assert "&lt; 2 &amp; more" in text


# Without data sets


@pytest.mark.usefixtures("undrawn")
def test_without_its_data_a_study_says_so_and_the_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHPRI_DATA", raising=False)
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path / "cache"))
    lacking, there = studies.reproduce(["mtl-school", "tradeoff"], tmp_path / "out", quick=True)
    (verdict,) = lacking.verdicts
    assert lacking.missing == ("school",)
    assert verdict.outcome == "not testable"
    assert "GRAPHPRI_DATA" in verdict.condition
    assert there.verdicts[0].outcome == "reproduced"
    text = studies.write_page([lacking, there], tmp_path).read_text(encoding="utf-8")
    assert "Not run: the data sets school are not here" in text


# The command


def test_the_command_lists_the_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in studies.names())
    assert main(["reproduce", "--list", "--json"]) == 0
    named = json.loads(capsys.readouterr().out)["studies"]
    assert [row["name"] for row in named] == list(studies.names())


def test_listing_the_studies_needs_none_of_their_libraries() -> None:
    code = """
import sys

ABSENT = {"joblib", "matplotlib", "networkit", "nilearn", "pandas", "psutil", "sklearn", "torch", "torch_geometric"}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from graphpri.cli import main

sys.exit(main(["reproduce", "--list"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in studies.names())


@pytest.mark.usefixtures("undrawn")
def test_the_command_prints_verdicts_as_text_and_as_json(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "tradeoff", "--quick", "--out", str(one)]
    assert main(command) == 0
    assert "REPRODUCED" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in found["verdicts"]] == ["reproduced", "reproduced"]
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a study"),
        (["tradeof"], "did you mean 'tradeoff'"),
        (["--all", "karate"], "leave out karate"),
        (["tradeoff", "--seed", "-1"], "seed"),
        (["tradeoff", "--seed", "x"], "x"),
        (["tradeoff", "--threads", "0"], "--threads 0"),
    ],
)
def test_the_command_refuses_what_can_not_be(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments, "--quick", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupted_command_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    # Pieces that are shorter than the full ones, and long enough to be interrupted.
    cells = [{"model": m, "degree": d, "n": 60, "repeats": 60} for m, d in product(("ER", "BA"), (30, 20, 10))]
    monkeypatch.setattr(tradeoff, "cells", lambda quick: cells)
    code = f"""
import sys
from graphpri.cli import main
from graphpri.studies import tradeoff

tradeoff.cells = lambda quick: {cells}
sys.exit(main(["reproduce", "tradeoff", "--out", {str(out)!r}]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "GRAPHPRI_THREADS": "2"},
        start_new_session=True,
    )
    while not pieces(out):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the processes that it has started too
    _, message = process.communicate(timeout=60)
    assert process.returncode == 1
    assert message == f"graphpri: interrupted; the same command goes on where it was, with what {out} keeps\n"
    kept = pieces(out)
    assert 0 < len(kept) < len(cells)
    times = [piece.stat().st_mtime_ns for piece in kept]

    def stop(step: studies.StudyProgress) -> bool:
        assert step.done == len(kept) + 1
        return True

    monkeypatch.setattr(tradeoff, "work", lambda cell, seed: {})
    with pytest.raises(KeyboardInterrupt):
        studies.reproduce(["tradeoff"], out, callback=stop)
    assert times == [piece.stat().st_mtime_ns for piece in kept]
