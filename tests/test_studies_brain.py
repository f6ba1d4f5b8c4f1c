"""The studies of brain networks: what they find, that verdicts follow the numbers, and what they need."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the studies need the extra graphpri[brain]")
pytest.importorskip("nilearn", reason="the studies need the extra graphpri[brain]")

from graphpri import studies
from graphpri.studies import runner
from graphpri.studies.catalogue import find
from judging import Row, judged, read

needs_data = pytest.mark.skipif(
    not os.environ.get("GRAPHPRI_DATA"), reason="GRAPHPRI_DATA does not name the folder of the data sets"
)


@pytest.fixture(scope="module")
def planted(quick_study: Callable[[str], studies.Result]) -> studies.Result:
    """The study of planted edges in its quick size."""
    return quick_study("brain-planted")


@pytest.fixture(scope="module")
def eoec(quick_study: Callable[[str], studies.Result]) -> studies.Result:
    """The study of eyes open or closed in its quick size."""
    return quick_study("brain-eoec")


def changed(folder: Path, to: Path, table: str, change: Callable[[Row], object]) -> dict[str, studies.Verdict]:
    """The verdicts by claim after every row of a table went through `change`."""
    found = judged(find(folder.name), folder, to / folder.name, table, change)
    return {verdict.claim: verdict for verdict in found.verdicts}


def test_the_edge_readout_finds_planted_edges(planted: studies.Result) -> None:
    rows = [row for row in read(planted.folder / "areas.csv") if row["method"] == "edge-readout"]
    assert min(float(row["mean"]) for row in rows) > 0.95
    term = read(planted.folder / "term.csv")
    assert {(row["pri"], row["beta"]) for row in term} >= {("0.0", "2.0"), ("0.3", "2.0"), ("1.0", "50.0")}


def test_areas_near_one_half_turn_the_verdicts(planted: studies.Result, tmp_path: Path) -> None:
    def blind(row: dict[str, str]) -> None:
        row["auroc"] = "0.52"

    assert planted.verdicts[0].outcome == "reproduced"
    after = list(changed(planted.folder, tmp_path, "found", blind).values())
    assert [verdict.outcome for verdict in after[:2]] == ["not reproduced", "not reproduced"]
    assert "0.520" in after[0].measured


@needs_data
def test_a_scan_of_a_subject_is_scored_once_by_each_method(eoec: studies.Result) -> None:
    seen = [(row["method"], row["scan"]) for row in read(eoec.folder / "scores.csv")]
    assert len(set(seen)) == len(seen) == 5 * 32
    folds = {(row["method"], row["subject"]): row["fold"] for row in read(eoec.folder / "scores.csv")}
    assert all(folds[row["method"], row["subject"]] == row["fold"] for row in read(eoec.folder / "scores.csv"))


@needs_data
def test_a_network_that_is_always_right_turns_the_verdicts(eoec: studies.Result, tmp_path: Path) -> None:
    def right(row: dict[str, str]) -> None:
        if row["method"] == "paper-exact":
            row["score"] = "1" if row["label"] == "1" else "-1"

    found = changed(eoec.folder, tmp_path, "scores", right)
    assert next(iter(found.values())).outcome == "reproduced"
    assert found["The mask and the Graph-PRI term make a graph convolutional network more accurate"].outcome == (
        "reproduced"
    )
    ours = next(verdict for claim, verdict in found.items() if claim.startswith("An edge readout"))
    assert ours.outcome != "conditional"  # an interval that holds the paper's figure shows no difference
    networks = next(verdict for claim, verdict in found.items() if claim.startswith("Linear models"))
    assert networks.outcome == "not reproduced"


@needs_data
def test_the_figure_shows_each_edge_in_one_class(eoec: studies.Result) -> None:
    edges, regions = (read(eoec.folder / f"{name}.csv") for name in ("edges", "regions"))
    assert len(edges) == 100
    assert {row["sign"] for row in edges} == {"+", "-"}
    assert all(regions[int(row["u"])]["name"] == row["region"] for row in edges)
    assert all(regions[int(row["v"])]["system"] == row["other_system"] for row in edges)
    text = (eoec.folder / "eoec_links.svg").read_text(encoding="utf-8")
    for sign in "+-":
        assert f": {sum(row['sign'] == sign for row in edges)}<" in text
    assert all(f">{system}<" in text for system in {row["system"] for row in regions})


@needs_data
def test_labels_that_say_nothing_are_at_chance_by_folds_of_subjects(eoec: studies.Result) -> None:
    facts = {row["name"]: float(row["value"]) for row in read(eoec.folder / "facts.csv")}
    assert 0.35 <= facts["nothing_subjects"] <= 0.65
    assert facts["nothing_scans"] < facts["nothing_subjects"]


@needs_data
def test_the_second_data_set_is_judged_too(quick_study: Callable[[str], studies.Result]) -> None:
    found = quick_study("brain-devfmri")
    assert not found.missing
    assert [name for name, _ in found.pictures] == ["devfmri_accuracy"]


def test_without_its_libraries_a_study_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    (found,) = studies.reproduce(["brain-planted"], tmp_path, quick=True)
    assert found.missing == ("sklearn", "torch")
    assert "graphpri[brain]" in found.verdicts[0].condition
