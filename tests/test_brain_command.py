"""``graphpri brain``: from files of scans to tables, pictures and a report; and what these are computed from."""

from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

pytest.importorskip("torch", reason="the methods need the extra graphpri[brain]")
pytest.importorskip("nilearn", reason="the pictures need the extra graphpri[brain]")

from commands import call
from graphpri.apps import brain_edges, brain_figures, brain_methods
from graphpri.apps.brain_data import Connectomes, Rois, from_series
from graphpri.apps.brain_graph import pairs
from graphpri.apps.brain_protocol import Stability
from graphpri.apps.brain_report import about_confounds, about_edges, about_systems, about_tests, conclusions
from graphpri.apps.brain_tests import edge_tests
from graphpri.cli import main

FILES = {"scores.csv", "comparison.csv", "edges.csv", "all_edges.csv", "importance.csv", "systems.csv"}
MORE = {"components.csv", "report.json", "report.html", "connectome.node", "connectome.edge", "connectome.graphml"}
PICTURES = {"connectome.png", "connectome.html", "ring.svg"}
N, S = 8, 10
QUICK = ["--methods", "linear-svm,edge-readout", "--folds", "3", "--half-samples", "4", "--top", "9", "--no-nested"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def series(seed: int = 0) -> list[Any]:
    """Ten scans of eight regions; the first four regions are coupled in every second one."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=(60, N)) + rng.normal(size=(60, 1)) for _ in range(S)]
    for i in range(0, S, 2):
        found[i][:, 1:4] = found[i][:, :1] + 0.3 * rng.normal(size=(60, 3))
    return found


def labels() -> list[str]:
    return ["patient" if i % 2 == 0 else "control" for i in range(S)]


def write_scans(folder: Path, scans: list[Any], classes: list[str]) -> Path:
    folder.mkdir()
    for i, x in enumerate(scans):
        np.savetxt(folder / f"sub-{i:02}.csv", x, delimiter=",")
    frame = pd.DataFrame({"participant_id": [f"sub-{i:02}" for i in range(len(classes))], "diagnosis": classes})
    frame.to_csv(folder / "participants.tsv", sep="\t", index=False)
    return folder


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten small CSV files with their table of labels."""
    folder = write_scans(tmp_path_factory.mktemp("brain") / "scans", series(), labels())
    rng = np.random.default_rng(1)
    atlas = pd.DataFrame(rng.normal(0, 25, size=(N, 3)), columns=["x", "y", "z"])
    atlas.insert(0, "name", [f"R<{i}>" for i in range(N)])
    atlas["system"] = ["visual", "motor"] * (N // 2)
    atlas.to_csv(folder.parent / "atlas.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def done(scans: Path) -> Path:
    """The folder of results for them."""
    out = scans.parent / "out"
    found = call("brain", scans, "--atlas", scans.parent / "atlas.csv", *QUICK, "-o", out)
    assert found.code == 0, found.err
    assert "10 scans of 10 subjects: control against patient" in found.out
    return out


def test_every_file_is_there_and_every_scan_is_tested_once_by_each_method(done: Path) -> None:
    assert {path.name for path in done.iterdir()} == FILES | MORE | PICTURES | {"pieces"}
    assert (done / "connectome.png").read_bytes().startswith(b"\x89PNG")
    tested = [(row["method"], row["scan"]) for row in rows_of(done / "scores.csv")]
    methods = ("linear-svm", "edge-readout")
    assert sorted(tested) == sorted((m, f"sub-{i:02}") for m in methods for i in range(S))


def test_accuracies_are_those_of_the_scores(done: Path) -> None:
    scores = pd.read_csv(done / "scores.csv")
    right = (scores["score"] > 0) == (scores["label"] == 1)
    compared = {row["method"]: row for row in rows_of(done / "comparison.csv")}
    for method, share in right.groupby(scores["method"]).mean().items():
        assert float(compared[str(method)]["accuracy"]) == pytest.approx(share)
    best = max(float(row["balanced_accuracy"]) for row in compared.values())
    for row in compared.values():
        assert float(row["difference"]) == pytest.approx(float(row["balanced_accuracy"]) - best)
        assert 0 < float(row["p"]) <= float(row["p_best"]) <= 1


def test_the_edge_table_describes_the_series(done: Path) -> None:
    z = {i: np.arctanh(np.corrcoef(x, rowvar=False)[np.triu_indices(N, 1)]) for i, x in enumerate(series())}
    patient, control = (np.array([z[i] for i in range(k, S, 2)]) for k in (0, 1))
    t, p = stats.ttest_ind(patient, control, equal_var=True)
    at = {(f"R<{u}>", f"R<{v}>"): e for e, (u, v) in enumerate(zip(*pairs(N), strict=True))}
    rows = rows_of(done / "edges.csv")
    assert 0 < len(rows) <= 9
    for row in rows:
        e = at[row["region"], row["other"]]
        assert float(row["t"]) == pytest.approx(t[e])
        assert float(row["p"]) == pytest.approx(p[e])
        assert float(row["mean_r_patient"]) == pytest.approx(np.tanh(patient[:, e].mean()))
        assert float(row["mean_r_control"]) == pytest.approx(np.tanh(control[:, e].mean()))
        assert row["system"] == ("visual", "motor")[int(row["region"][2]) % 2]
        assert (row["region"], row["other"]) == (f"R<{int(row['node']) - 1}>", f"R<{int(row['other_node']) - 1}>")
    assert [float(row["importance"]) for row in rows] == sorted((float(r["importance"]) for r in rows), reverse=True)
    coupled = {"R<0>", "R<1>", "R<2>", "R<3>"}
    assert all({row["region"], row["other"]} <= coupled and row["sign"] == "+" for row in rows[:4])


def test_files_for_other_programs_hold_the_edges_of_the_table(done: Path) -> None:
    edges = {(int(row["node"]) - 1, int(row["other_node"]) - 1): row for row in rows_of(done / "edges.csv")}
    matrix = np.loadtxt(done / "connectome.edge")
    np.testing.assert_array_equal(matrix, matrix.T)
    assert {(int(u), int(v)) for u, v in zip(*np.nonzero(np.triu(matrix)), strict=True)} == set(edges)
    for (u, v), row in edges.items():
        assert matrix[u, v] == pytest.approx(float(row["importance"]) * (1 if row["sign"] == "+" else -1), rel=1e-5)
    nodes = [line.split("\t") for line in (done / "connectome.node").read_text().splitlines()]
    assert [node[5] for node in nodes] == [f"R<{i}>" for i in range(N)]
    assert [int(node[4]) for node in nodes] == [sum(i in edge for edge in edges) for i in range(N)]
    graph = nx.read_graphml(done / "connectome.graphml")
    assert graph.number_of_nodes() == N
    assert {tuple(int(end[1:]) - 1 for end in edge) for edge in graph.edges} == set(edges)
    assert graph.nodes["n2"]["system"] == "motor"
    every = pd.read_csv(done / "importance.csv", index_col=0)
    assert list(every.columns) == list(every.index) == [f"R<{i}>" for i in range(N)]
    long = rows_of(done / "all_edges.csv")
    assert len(long) == N * (N - 1) // 2
    assert all(
        every.iloc[int(row["node"]) - 1, int(row["other_node"]) - 1] == pytest.approx(float(row["importance"]))
        for row in long
    )
    ring = (done / "ring.svg").read_text()
    assert all(f">{name}<" in ring for name in ("visual", "motor", "larger in patient"))


def test_the_json_report_says_how_to_do_it_again(done: Path) -> None:
    facts = json.loads((done / "report.json").read_text())
    assert facts["command"].startswith("graphpri brain ")
    assert facts["settings"]["protocol"]["seed"] == 0
    assert {"graphpri", "numpy", "torch", "nilearn"} <= set(facts["versions"])
    tested = [scan for fold in facts["folds"] for scan in fold["test"]]
    assert len(facts["folds"]) == 3
    assert sorted(tested) == [f"sub-{i:02}" for i in range(S)]
    assert len(facts["edges"]) == len(rows_of(done / "edges.csv"))
    assert sum(row["selected"] for row in facts["systems"]) == len(facts["edges"])


def test_pages_ask_the_network_for_nothing_and_show_names_as_text(done: Path) -> None:
    loads = re.compile(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)\s*=\s*[\"']?(?!data:|#)([^\"'\s>]+)")
    for name in ("report.html", "connectome.html"):
        assert loads.findall((done / name).read_text()) == [], name
    page = (done / "report.html").read_text()
    assert "R&lt;0&gt;" in page
    assert "R<0>" not in page
    assert "http://" not in re.sub(r"data:image/[^\"]*", "", page)


def test_an_interrupted_run_goes_on_with_what_is_done(
    scans: Path, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted: list[str] = []
    svm = brain_methods.CLASSIFIERS["linear-svm"]

    def stopping(*given: Any) -> Any:
        fitted.append("linear-svm")
        if len(fitted) == 3:
            raise KeyboardInterrupt
        return svm.train(*given)

    monkeypatch.setitem(brain_methods.CLASSIFIERS, "linear-svm", replace(svm, train=stopping))
    command = ["brain", str(scans), *QUICK, "-o", str(tmp_path)]
    assert main(command) == 1
    assert "the same command goes on" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pieces"]
    # Folds of methods, and half-samples, of which the same may be drawn twice of so few subjects.
    assert 4 + 4 < len(list((tmp_path / "pieces").iterdir())) <= 4 + 2 * 4
    assert main(command) == 0
    assert len(fitted) == 4
    assert (tmp_path / "scores.csv").read_bytes() == (done / "scores.csv").read_bytes()


def test_a_folder_of_results_is_not_written_over(scans: Path, done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (done / "scores.csv").read_bytes()
    refused(capsys, [scans, *QUICK, "-o", done], "--force")
    assert (done / "scores.csv").read_bytes() == before


# Bad input: each is told in one line, and nothing is left in the way of another try.


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str | Path], *says: str) -> None:
    assert main(["brain", *map(str, arguments)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("graphpri: error: ")
    assert error.count("\n") == 1
    for text in says:
        assert text in error


def asymmetric() -> list[Any]:
    found = [np.corrcoef(x, rowvar=False) for x in series()]
    found[3][0, 1] += 0.1
    return found


def beyond_one() -> list[Any]:
    found = [np.corrcoef(x, rowvar=False) for x in series()]
    found[3][0, 1] = found[3][1, 0] = 1.2
    return found


@pytest.mark.parametrize(
    ("scans", "classes", "options", "says"),
    [
        (series, ["a"] * S, ["--label", "diagnosis"], ["all 10 scans", "two classes"]),
        (series, [*labels(), "patient"], [], ["sub-10"]),
        (series, labels()[:-1], [], ["sub-09"]),
        (series, labels(), ["--folds", "11"], ["--folds 11", "10"]),
        (series, labels(), ["--folds", "1"], ["fold"]),
        (series, labels(), ["--label", "site"], ["site", "diagnosis"]),
        (series, labels(), ["--methods", "guess"], ["guess", "linear-svm"]),
        (series, labels(), ["--explain", "tangent-svm-2"], ["tangent-svm-2"]),
        (series, labels(), ["--top", "0"], ["top"]),
        (series, labels(), ["--density", "0"], ["--density 0"]),
        (series, labels(), ["--classes", "a,b,c"], ["--label", "diagnosis"]),
        (asymmetric, labels(), ["--kind", "matrix"], ["sub-03", "symmetric"]),
        (beyond_one, labels(), [], ["sub-03", "1.2"]),
        (lambda: [*series()[:-1], series()[0][:, :5]], labels(), [], ["sub-09", "5"]),
    ],
)
def test_bad_input_is_named(
    scans: Any, classes: list[str], options: list[str], says: list[str], tmp_path: Path, capsys: Any
) -> None:
    folder = write_scans(tmp_path / "scans", scans(), classes)
    refused(capsys, [folder, *options, "-o", tmp_path / "out"], *says)


def test_sources_that_are_no_scans_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_scans(tmp_path / "scans", [], labels())
    refused(capsys, [folder, "-o", tmp_path / "a"], "scans")
    refused(capsys, [tmp_path / "nowhere", "-o", tmp_path / "b"], "nowhere", "eoec")
    (folder / "participants.tsv").rename(tmp_path / "labels.tsv")
    refused(capsys, [folder, "-o", tmp_path / "c"], "--labels")
    refused(capsys, ["eoec", "--labels", tmp_path / "labels.tsv", "-o", tmp_path / "d"], "--labels", "eoec")
    for option in (["--fisher-z"], ["--classes", "eyes_open,eyes_closed"], ["--kind", "series"], ["--array", "a"]):
        refused(capsys, ["eoec", *option, "-o", tmp_path / "d"], option[0], "named set")
    refused(capsys, [folder, "--labels", tmp_path / "labels.tsv", "-o", tmp_path / "labels.tsv"], "folder")


def test_one_of_several_arrays_must_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_scans(tmp_path / "scans", [], labels())
    np.savez(tmp_path / "all.npz", bold=np.array(series()), motion=np.zeros((S, 60, 6)))
    table = ["--labels", folder / "participants.tsv"]
    refused(capsys, [tmp_path / "all.npz", *table, "-o", tmp_path / "a"], "bold", "motion")
    refused(capsys, [tmp_path / "all.npz", *table, "--array", "fmri", "-o", tmp_path / "b"], "bold", "motion")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--tune", "--no-nested"], ["--tune", "--no-nested"]),
        (["--time-budget", "3"], ["--time-budget 3.0", "--tune"]),
        (["--inner", "1"], ["--inner 1"]),
        (["--inner", "40"], ["--inner 40", "--no-nested"]),
        (["--seed", "4294967296"], ["--seed 4294967296"]),
        (["--methods", "linear-svm,linear-svm"], ["linear-svm", "2 times"]),
        (["--top", "28"], ["--top 28", "28 edges"]),
        (["--half-samples", "5"], ["--half-samples 5", "pairs"]),
        (["--methods", "linear-svm", "--explain", "edge-readout"], ["--explain edge-readout", "scored", "linear-svm"]),
        (["--methods", "gcn,gat"], ["no method says which edges count"]),
        (["--nbs-threshold", "0"], ["--nbs-threshold 0"]),
        (["--fisher-z"], ["--fisher-z", "series"]),
        (["--confounds", "sex"], ["--confounds", "sex"]),
        (["--methods", "ridge"], ["ridge", "no classes"]),
        (["--permute", "linear-svm"], ["--permute linear-svm", "--permutations"]),
        (["--methods", "linear-svm", "--permute", "gcn", "--permutations", "9"], ["--permute gcn", "scored"]),
    ],
)
def test_options_that_do_not_fit_are_refused_before_any_work(
    scans: Path, options: list[str], says: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, [scans, "--folds", "3", *options, "-o", tmp_path / "out"], *says)
    assert not (tmp_path / "out").exists()


def test_help_names_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["brain", "--help"]) == 0
    said = re.search(r"Methods: ([^.]*)\.", capsys.readouterr().out)
    assert said
    assert re.split(r",\s+", said[1]) == list(brain_methods.names())


def test_help_names_every_regression(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["brain", "--help"]) == 0
    said = re.search(r"Of a score: ([^.]*)\.", capsys.readouterr().out)
    assert said
    assert re.split(r",\s+", said[1]) == list(brain_methods.names(regression=True))


@pytest.fixture(scope="module")
def aged(scans: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The labels with age, site and sex, and a person who has no scan."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"participant_id": [f"sub-{i:02}" for i in range(S + 1)], "diagnosis": [*labels(), "control"]})
    frame = frame.assign(age=rng.integers(20, 60, S + 1), site=[*"aabbaabbaab"], sex=[*"MFFMMFFMMFF"])
    path = tmp_path_factory.mktemp("aged") / "people.csv"
    frame.to_csv(path, index=False)
    return path


def test_confounds_and_sites_are_reported_beside_the_methods(scans: Path, aged: Path, tmp_path: Path) -> None:
    more = ["--labels", aged, "--label", "diagnosis", "--confounds", "age", "--site", "site", "--allow-missing"]
    found = call("brain", scans, *more, *QUICK, "--permutations", "3", "-o", tmp_path)
    assert found.code == 0, found.err
    assert "passed over: 1 row without a file: sub-10" in found.out
    facts = json.loads((tmp_path / "report.json").read_text())
    assert facts["confounds_alone"]["method"] == "confounds"
    assert {row["method"] for row in facts["sites_left_out"]} == {"linear-svm", "edge-readout", "confounds"}
    assert {row["method"] for row in facts["results"]} == {"linear-svm", "edge-readout"}
    assert all(0 < row["permutation_p"] <= row["permutation_p_best"] <= 1 for row in facts["results"])
    page = (tmp_path / "report.html").read_text()
    assert "The confounds alone (age) have a balanced accuracy" in page
    assert "Each of the 2 sites (a, b) was left out in turn" in page
    assert "there than luck explains" in page


def test_a_score_is_predicted_from_the_command_line(scans: Path, aged: Path, tmp_path: Path) -> None:
    methods = ["--methods", "ridge,cpm", "--no-nested", "--half-samples", "2", "--folds", "3"]
    score = ["--labels", aged, "--score", "age", "--allow-missing"]
    found = call("brain", scans, *score, *methods, "-o", tmp_path)
    assert found.code == 0, found.err
    compared = rows_of(tmp_path / "comparison.csv")
    assert {row["method"] for row in compared} == {"ridge", "cpm"}
    assert all(-1 <= float(row["lower"]) <= float(row["upper"]) <= 1 for row in compared)
    page = (tmp_path / "report.html").read_text()
    assert "Can age be predicted" in page
    assert "red edges rise with age, blue ones fall" in page
    assert "10 subjects: age" in found.out


def test_tuning_and_two_channels_run_from_the_command_line(scans: Path, tmp_path: Path) -> None:
    options = ["--methods", "linear-svm,gcn", "--folds", "2", "--inner", "2", "--tune", "--time-budget", "0"]
    more = ["--signs", "two", "--node-features", "clustering", "--half-samples", "2"]
    assert main(["brain", str(scans), *options, *more, "-o", str(tmp_path / "out")]) == 0
    facts = json.loads((tmp_path / "out" / "report.json").read_text())["settings"]
    assert facts["protocol"]["settings"]["tune"]
    assert facts["top"] == 2
    page = (tmp_path / "out" / "report.html").read_text()
    assert "tuned on 2 folds within them, 0 s for each" in page
    assert "in channels of their own" in page


def test_a_missing_library_is_named_before_any_work(
    scans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nilearn", None)
    refused(
        capsys, [scans, "--atlas", scans.parent / "atlas.csv", *QUICK, "-o", tmp_path], "graphpri[brain]", "nilearn"
    )
    assert not list(tmp_path.iterdir())


# What tables and sentences are computed from.


def subjects_twice(n: int = 12, seed: int = 0) -> Connectomes:
    """Two scans of each subject, one a class; edge 0 is stronger in class 1."""
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for _ in range(n):
        for label in (0, 1):
            x = rng.normal(size=(80, 6))
            x[:, 1] += label * 1.5 * x[:, 0]
            found.append(x)
    rois = Rois(tuple("abcdef"), None, ("p", "p", "q", "q", "r", "r"))
    return from_series(found, [0, 1] * n, groups=[i // 2 for i in range(2 * n)], rois=rois)


def test_a_system_pair_with_all_edges_is_found_and_one_edge_is_not() -> None:
    n = 30
    names = tuple("abc"[i // 10] for i in range(n))
    scans = replace(blank(n), rois=Rois(tuple(map(str, range(n))), None, names))
    u, v = pairs(n)
    within = np.flatnonzero((u < 10) & (v < 10))
    rows = brain_edges.system_table(scans, within, 499)
    assert (rows[0]["system"], rows[0]["other_system"], rows[0]["selected"]) == ("a", "a", 45)
    assert rows[0]["p"] == 1 / 500
    assert sum(row["edges"] for row in rows) == u.size
    assert sum(row["expected"] for row in rows) == pytest.approx(1)
    assert all(row["p"] > 0.05 for row in brain_edges.system_table(scans, [7], 499))
    assert brain_edges.system_table(scans, within, 499) == rows
    assert brain_edges.system_table(blank(n), within) == []


def test_permuted_systems_are_unlikely_as_often_as_they_should_be() -> None:
    n, rng = 30, np.random.default_rng(0)
    scans = replace(blank(n), rois=Rois(tuple(map(str, range(n))), None, tuple("ab"[i % 2] for i in range(n))))
    p = [brain_edges.system_table(scans, rng.choice(435, 40, False), 199, i)[0]["p"] for i in range(200)]
    assert np.mean(np.array(p) <= 0.1) < 0.25


def blank(n: int) -> Connectomes:
    """Four scans of `n` regions without systems."""
    return from_series(list(np.random.default_rng(0).normal(size=(4, 50, n))), [0, 1, 0, 1])


ROW = {"method": "m", "balanced_accuracy": 0.9, "auc": 0.95, "lower": 0.8, "upper": 0.95, "verdict": "best"} | {
    "p": 0.001,
    "p_best": 0.002,
}


def test_sentences_follow_the_results() -> None:
    scans = subjects_twice()
    strong = " ".join(conclusions(scans, [ROW | {"permutation_p": 0.005, "permutation_p_best": 0.005}], CHANCE, 200))
    assert "Better than luck explains (p < .05): m." in strong
    assert "p of 200 permutations of the labels, with everything fitted anew: m 0.005" in strong
    weak = " ".join(conclusions(blank(5), [ROW | {"p_best": 0.4}], CHANCE))
    assert "don't interpret" in weak
    assert "smallest p = 0.4" in weak
    assert "No subjects were given" in weak
    worse = ROW | {"method": "w", "verdict": "worse", "p_best": 0.3}
    two = conclusions(scans, [ROW, worse], CHANCE)
    assert "Clearly behind m: w." in two
    assert "Better than luck explains (p < .05, corrected for the choice among 2 methods): m." in two
    edge = {"selection_frequency": 0.2, "q": 0.5, "p_family": 0.5}
    often = edge | {"selection_frequency": 0.9}
    stable = Stability(np.zeros(100), np.zeros(100), 0.4, shared_by_luck=0.1, often_by_luck=0)
    lucky = replace(stable, often_by_luck=1)
    for row, found, warns in ((edge, stable, True), (often, stable, False), (often, lucky, True)):
        text = " ".join(about_edges("m", [row], found, 10, 100))
        assert ("don't report single edges" in text) == warns
        assert "share 0.40 of their edges (intersection over union), and 0.10 with such labels" in text
    assert "don't interpret its edges" in " ".join(about_edges("m", [often], stable, 10, 100, lucky=True))
    blind = edge | {"q": np.nan, "p_family": np.nan}
    assert not any("q < .05" in text for text in about_edges("m", [blind], stable, 10, 100))
    assert about_systems([], "")[0].startswith("The regions have no systems")
    assert about_systems([{"system": "a", "other_system": "b", "q": 0.01}], "derived")[1] == "Of the atlas: derived."


CHANCE = (0.5, 0.3, 0.7)


def test_a_site_for_each_class_leaves_nothing_to_test_and_is_said() -> None:
    sites = ["north", "south"] * 5
    scans = from_series(series(), labels(), confounds={"site": sites})
    tested = edge_tests(scans, 20)
    assert about_tests(tested) == [
        "No edge can be tested: the confounds leave nothing to test, or there are too few subjects."
    ]
    alone = ROW | {"balanced_accuracy": 1.0, "difference_lower": 0.2, "difference_upper": 0.5}
    assert "clearly worse than that: the classes differ in site" in about_confounds(scans, [ROW], alone)[1]
    assert "without permutations" in about_tests(edge_tests(from_series(series(), labels()), 0))[0]


def test_without_coordinates_there_is_no_brain_and_without_systems_edges_show_their_sign() -> None:
    scans = blank(6)
    assert brain_figures.connectome(scans, [0], [1]) is None
    assert brain_figures.interactive(scans, [0], [1]) is None
    assert brain_figures.system_matrix([]) is None
    placed = replace(scans, rois=replace(scans.rois, coordinates=np.random.default_rng(0).normal(0, 20, (6, 3))))
    drawn = [brain_figures.connectome(placed, [0, 3], signs) for signs in ([1, 1], [1, -1])]
    assert drawn[0] != drawn[1]
    assert brain_figures.connectome(placed, [], []) is None
