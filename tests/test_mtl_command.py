"""``graphpri mtl``: from a table to files and a report; and the protocol behind it."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import MultiTaskLasso

from commands import call
from graphpri import datasets
from graphpri.apps import mtl_protocol as protocol
from graphpri.apps.mtl import GraphMTL
from graphpri.apps.mtl_data import as_lists, group_rows, read_table, synthetic, tasks_of
from graphpri.apps.mtl_report import TaskRequest, _comparison, _page, _picture, advice, study
from graphpri.cli import main
from graphpri.errors import FileError, OptionError

FIVE = "school,score,hours,age\na,1.0,2,10\na,2.0,3,11\nb,3.0,1,12\nb,5.5,4,13\nc,2.5,2,12\n"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def exams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of eight tasks."""
    drawn = synthetic(0, n_tasks=8, group_size=4, n=14, informative=3, irrelevant=1)
    frame = pd.DataFrame(drawn.tasks.X * [1, 10, 100, 0.1] + 5, columns=["a", "b", "c", "d"])
    frame["score"], frame["school"] = drawn.tasks.y + 50, [f"s{i}" for i in drawn.tasks.member]
    path = tmp_path_factory.mktemp("exams") / "exams.csv"
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


DONE = ("--task", "school", "--target", "score", "--k", "5", "--keep", "0.7")


@pytest.fixture(scope="module")
def done(exams: Path) -> Path:
    """The folder of results for it."""
    out = exams.parent / "out"
    found = call("mtl", exams, *DONE, "-o", out)
    assert found.code == 0, found.err
    assert "graph, pri" in found.out
    return out


def test_every_file_is_there_and_has_a_row_for_everything(exams: Path, done: Path) -> None:
    names = {path.name for path in done.iterdir()}
    assert names == {"comparison.csv", "predictions.csv", "coefficients.csv", "edges.csv", "report.html", "pieces"}
    assert [row["model"] for row in rows_of(done / "comparison.csv")] == [
        *protocol.references(),
        "graph",
        "graph, pri",
        *(f"graph, {name}" for name in protocol.BASELINES),
    ]
    table = rows_of(exams)
    predictions = rows_of(done / "predictions.csv")
    assert [row["task"] for row in predictions] == [row["school"] for row in table]
    targets, scores = ([float(row[name]) for row in rows] for rows, name in ((predictions, "target"), (table, "score")))
    assert targets == pytest.approx(scores, rel=1e-12)  # pandas before 3 reads some numbers one digit off
    assert all(row["graph"] and row["graph, pri"] for row in predictions)
    assert [row["task"] for row in rows_of(done / "coefficients.csv")] == [f"s{i}" for i in range(8)]


def test_compared_errors_are_those_of_the_predictions(done: Path) -> None:
    predictions = rows_of(done / "predictions.csv")
    compared = {row["model"]: float(row["rmse"]) for row in rows_of(done / "comparison.csv")}
    for model in ("per-task ridge", "graph", "graph, pri"):
        errors = [float(row["target"]) - float(row[model]) for row in predictions]
        assert compared[model] == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_coefficients_are_for_the_columns_as_they_stand_in_the_table(exams: Path, done: Path) -> None:
    coefficients = {row["task"]: row for row in rows_of(done / "coefficients.csv")}
    errors = []
    for row in rows_of(exams):
        own = coefficients[row["school"]]
        found = float(own["intercept"]) + sum(float(own[name]) * float(row[name]) for name in "abcd")
        errors.append(float(row["score"]) - found)
    assert np.sqrt(np.mean(np.square(errors))) < 1.2


def test_edges_say_what_is_kept(done: Path) -> None:
    edges = rows_of(done / "edges.csv")
    kept = [row for row in edges if row["kept"] == "True"]
    assert len(kept) == int(0.7 * len(edges) + 0.5)
    degrees = {name: sum(name in (row["task"], row["other"]) for row in kept) for name in {r["task"] for r in edges}}
    assert min(degrees.values()) >= 3


def test_the_report_is_one_page_with_a_picture(done: Path) -> None:
    text = (done / "report.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64," in text
    assert "http" not in text.replace("http-equiv", "")
    assert "graphpri mtl" in text


def test_five_rows_are_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "five.csv").write_text(FIVE)
    columns = ["--task", "school", "--target", "score"]
    assert main(["mtl", str(tmp_path / "five.csv"), *columns, "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "a single row, which was learned from and never tested" in said
    assert "not sparsified" in said


def test_one_task_and_rows_of_tasks_that_can_not_be_tested(tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": ["x"] * 6, "y": np.arange(6.0), "a": np.arange(6.0) ** 2})
    outcome = study(frame, TaskRequest("t", "y"))
    assert "no edges" in " ".join(outcome.notes)
    alone = study(pd.DataFrame({"t": ["x", "y"], "y": [1.0, 2.0], "a": [1.0, 3.0]}), TaskRequest("t", "y"))
    assert alone.comparison == []
    assert "nothing could be tested" in " ".join(alone.notes)
    assert "<h1>" in _page(alone, TaskRequest("t", "y"), "a&b.csv", "graphpri mtl")
    assert "a&amp;b.csv" in _page(alone, TaskRequest("t", "y"), "a&b.csv", "graphpri mtl")


def test_the_same_seed_gives_the_same_files(exams: Path, done: Path, tmp_path: Path) -> None:
    assert call("mtl", exams, *DONE, "-o", tmp_path).code == 0
    tables = sorted(path.name for path in done.glob("*.csv"))
    assert len(tables) == 4
    assert all((tmp_path / name).read_bytes() == (done / name).read_bytes() for name in tables)


def test_json_has_the_comparison_and_nothing_else(
    exams: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--task", "school", "--target", "score", "--json", "--folds", "2", "-o", str(tmp_path / "out")]
    assert main(["mtl", str(exams), *options]) == 0
    comparison = json.loads(capsys.readouterr().out)["comparison"]
    assert {row["model"] for row in comparison} >= {"graph", "per-task ridge"}


@pytest.mark.parametrize("parameters", [{"penalty": "l2", "gamma": 1.0}, {"gamma": 1.0}])
def test_a_weight_that_is_given_is_not_chosen_again(exams: Path, parameters: dict[str, Any]) -> None:
    request = TaskRequest("school", "score", keep=0.7, folds=2, parameters={"k": 5, **parameters})
    outcome = study(read_table(str(exams)), request)
    assert {row["status"] for row in outcome.comparison} == {"fitted"}
    found, whole = outcome.model, outcome.model.sparsified_
    assert whole is not None
    assert found.gamma_ == 1.0
    assert found.graph_.weights.sum() == pytest.approx(whole.original.weights.sum())


def test_leave_one_out_of_too_much_is_refused_before_any_work() -> None:
    frame = pd.DataFrame({"t": np.repeat(np.arange(9000), 2), "y": np.arange(18000.0), "a": np.arange(18000.0)})
    heard: list[str] = []
    with pytest.raises(OptionError, match="9000 tasks of 1"):
        study(frame, TaskRequest("t", "y"), lambda text, share: heard.append(text))
    assert heard == []


def test_labels_and_numbers_are_read_as_they_are_meant(tmp_path: Path) -> None:
    rows = ["task,y,boarder,intercept,small"]
    rows += [f" {t} ,{i},{i % 3 == 0},{i * i % 7},{(i * 5 % 11) * 1e-15}" for t in ("NA", "b") for i in range(6)]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    request = TaskRequest("task", "y", folds=2)
    frame = read_table(str(tmp_path / "table.csv"))
    tasks, _ = tasks_of(frame, "task", "y")
    assert tasks.labels == ("NA", "b")
    assert tasks.X[:3, 0].tolist() == [1, 0, 0]
    own = study(frame, request).coefficients
    assert [row["task"] for row in own] == ["NA", "b"]
    assert set(own[0]) == {"task", "intercept", "boarder", "intercept (column)", "small"}
    assert own[0]["small"] != 0


def test_tasks_that_are_whole_numbers_stand_in_their_order() -> None:
    frame = pd.DataFrame({"t": ["10", "9", "10", "9"], "y": list("1234"), "a": list("1342")}, dtype=object)
    assert tasks_of(frame, "t", "y")[0].labels == (9, 10)
    frame["t"] = ["10", "09", "10", "09"]
    assert tasks_of(frame, "t", "y")[0].labels == ("09", "10")


def test_the_picture_names_the_tasks_as_they_are_written() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "y"])
    frame["t"] = np.repeat(["<b>", "$x_1$", "東", "u", "v", "w"], 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = _picture(study(frame, TaskRequest("t", "y", folds=2))).decode()
    assert all(f">{name}<" in drawn for name in ("&lt;b&gt;", "$x_1$", "東"))


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (FIVE, ["--task", "class", "--target", "score"], "--task class: there is no such column"),
        (FIVE, ["--task", "school", "--target", "mark"], "--target mark: there is no such column"),
        (FIVE, ["--task", "school", "--target", "school"], "both name 'school'"),
        (FIVE, ["--task", "school", "--target", "score", "--features", "hours,size"], "--features size"),
        (FIVE, ["--task", "school", "--target", "score", "--folds", "1"], "--folds 1"),
        (FIVE, ["--task", "school", "--target", "score", "--seed", "-1"], "seed"),
        (FIVE, ["--task", "school", "--target", "score", "--keep", "x"], "x"),
        (FIVE, ["--task", "school", "--target", "score", "--gamma", "high"], "--gamma high"),
        (FIVE, ["--task", "school", "--target", "score", "--ridge", "-1"], "--ridge -1"),
        (FIVE, ["--task", "school", "--target", "score", "--method", "prii"], "prii"),
        (
            FIVE.replace("5.5", "good"),
            ["--task", "school", "--target", "score"],
            "column 'score' has 'good' in its row 4",
        ),
        (
            FIVE.replace("4,13", ",13"),
            ["--task", "school", "--target", "score"],
            "column 'hours' is empty in its row 4",
        ),
        (
            FIVE.replace("4,13", "1e300,13"),
            ["--task", "school", "--target", "score"],
            "'hours' has numbers up to 1e+300",
        ),
        (FIVE.replace("b,3.0", ",3.0"), ["--task", "school", "--target", "score"], "no task in its row 3"),
        (FIVE.replace("age", "hours"), ["--task", "school", "--target", "score"], "two columns are called 'hours'"),
        ("school,score\na,1\n", ["--task", "school", "--target", "score"], "no column to learn from"),
        ("school,score,x\n", ["--task", "school", "--target", "score"], "no rows"),
        ("", ["--task", "school", "--target", "score"], "the file is empty"),
    ],
)
def test_bad_input_is_one_line_that_names_what_is_at_fault(
    text: str, arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table.csv").write_text(text)
    assert main(["mtl", str(tmp_path / "table.csv"), *arguments, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_folders_with_files_are_left_alone(exams: Path, done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (done / "edges.csv").read_bytes()
    assert main(["mtl", str(exams), "--task", "school", "--target", "score", "-o", str(done)]) == 2
    assert "has files" in capsys.readouterr().err
    assert (done / "edges.csv").read_bytes() == before


def test_tables_are_read_by_suffix(tmp_path: Path) -> None:
    frames = {}
    (tmp_path / "a.csv").write_text(FIVE)
    (tmp_path / "a.tsv").write_text(FIVE.replace(",", "\t"))
    with gzip.open(tmp_path / "a.csv.gz", "wt") as zipped:
        zipped.write(FIVE)
    for name in ("a.csv", "a.tsv", "a.csv.gz"):
        frames[name] = read_table(str(tmp_path / name))
    assert all(frame.equals(frames["a.csv"]) for frame in frames.values())
    with pytest.raises(FileError, match="no such file"):
        read_table(str(tmp_path / "b.csv"))


# The protocol


def test_folds_test_every_row_once_and_never_all_rows_of_a_task() -> None:
    drawn = synthetic(0, n_tasks=5, group_size=5, n=7, informative=2, irrelevant=0).tasks
    splits = list(protocol.folds(drawn, 3, np.random.default_rng(0)))
    assert sorted(np.concatenate([s.test for s in splits])) == list(range(35))
    assert len(list(protocol.folds(drawn, 10**9, np.random.default_rng(0)))) == 7
    for split in splits:
        assert set(drawn.member[split.train]) == set(range(5))
        assert not set(split.train) & set(split.test)


def test_splits_take_their_share_of_each_task() -> None:
    drawn = synthetic(0, n_tasks=4, group_size=2, n=10, informative=2, irrelevant=0).tasks
    random = protocol.random_split(drawn, 0.4, np.random.default_rng(0))
    assert np.bincount(drawn.member[random.train]).tolist() == [4, 4, 4, 4]
    key = np.tile(np.arange(10.0)[::-1], 4)
    early = protocol.ordered_split(drawn, 0.4, key)
    assert (key[early.train] < 4).all()


def test_columns_are_standardised_by_the_rows_to_learn_from_alone() -> None:
    drawn = synthetic(0, n_tasks=3, group_size=3, n=10, informative=2, irrelevant=0).tasks
    split = protocol.random_split(drawn, 0.5, np.random.default_rng(0))
    taken = protocol.standardise(drawn, split)
    assert np.allclose(taken.train.X.mean(axis=0), 0)
    assert np.allclose(taken.train.X.std(axis=0), 1)
    spoilt = drawn.X.copy()
    spoilt[split.test] *= 1000
    other = protocol.standardise(group_rows(spoilt, drawn.y, drawn.member, True), split)
    assert np.array_equal(other.train.X, taken.train.X)


def test_models_without_a_graph_are_what_they_say() -> None:
    drawn = synthetic(1, n_tasks=4, group_size=2, n=20, informative=3, irrelevant=0).tasks
    taken = protocol.standardise(drawn, protocol.random_split(drawn, 0.5, np.random.default_rng(0)))
    X, y = as_lists(taken.train)
    mean = np.array([v.mean() for v in y])
    assert np.allclose(protocol.GRAPH_FREE["task mean"](taken), mean[taken.test_task])
    heavy = GraphMTL(gamma=1e9, k=3).fit(X, y)
    assert np.allclose(protocol.GRAPH_FREE["common slopes"](taken), protocol._predict(heavy, taken), atol=1e-5)


def test_the_multi_task_lasso_is_that_of_scikit_learn_where_tasks_share_rows() -> None:
    rng = np.random.default_rng(0)
    X, slopes = rng.normal(size=(40, 6)), rng.normal(size=(4, 6)) * [1, 1, 0, 0, 0.5, 0]
    Y = X @ slopes.T + 0.3 * rng.normal(size=(40, 4))
    tasks = group_rows([X] * 4, list(Y.T), list("abcd"), True)
    penalties = np.array([0.5, 0.1, 0.01])
    for penalty, found in zip(penalties, protocol.row_sparse_path(tasks, penalties * 40), strict=True):
        known = MultiTaskLasso(alpha=penalty, tol=1e-10, max_iter=10**5).fit(X, Y)
        np.testing.assert_allclose(found, known.coef_, atol=2e-5)
    path = protocol.row_penalties(tasks)
    assert not protocol.row_sparse_path(tasks, path[:1] * 1.001)[0].any()
    assert protocol.row_sparse_path(tasks, path[:1] * 0.99)[0].any()


def test_the_multi_task_lasso_of_rows_of_their_own_is_optimal() -> None:
    drawn = synthetic(1, n_tasks=4, group_size=2, n=20, informative=3, irrelevant=2).tasks
    penalty = protocol.row_penalties(drawn)[4]
    (w,) = protocol.row_sparse_path(drawn, np.array([penalty]))
    X, y = drawn.centred
    rest = y - np.einsum("np,np->n", X, w[drawn.member])
    gradient = np.add.reduceat(X * rest[:, None], drawn.starts[:-1], axis=0)
    size = np.linalg.norm(w, axis=0)
    for p in range(w.shape[1]):
        if size[p]:
            np.testing.assert_allclose(gradient[:, p], penalty * w[:, p] / size[p], atol=1e-3 * penalty)
        else:
            assert np.linalg.norm(gradient[:, p]) <= penalty * 1.001


def test_the_mixed_model_has_common_slopes_and_intercepts_between_one_and_each_own() -> None:
    pytest.importorskip("statsmodels")
    rng = np.random.default_rng(0)
    X, at = rng.normal(size=(60, 2)), np.repeat(np.arange(12), 5)
    y = X @ [1.0, -2.0] + rng.normal(0, 0.7, 12)[at] + rng.normal(size=60)
    tasks = group_rows(X, y, at, True)
    zero = np.zeros((12, 2))
    split = protocol.StandardisedSplit(tasks, zero, np.zeros(12), np.arange(12), np.zeros(2), np.ones(2))
    found = protocol.references()["mixed model"](split)
    own, mean = protocol.GRAPH_FREE["common slopes"](split), found.mean()
    between = (found - mean) / (own - mean)
    assert ((between > 0) & (between < 1)).mean() > 0.8
    assert np.corrcoef(found, own)[0, 1] > 0.99


def test_a_failed_fold_voids_the_comparison_of_that_model_alone() -> None:
    def entry(model: str, error: float, fold: int) -> protocol.ModelErrors:
        failed = model == "graph, pri" and fold == 1
        rows = (np.empty(0), np.empty(0, np.int64)) if failed else (np.full(4, error), np.arange(4))
        return protocol.ModelErrors(model, None, 5, 1.0, *rows, *(["error: too few edges"] if failed else []))

    models = (("common slopes", 1.0), ("graph", 2.0), ("graph, pri", 0.5))
    rows = _comparison([[entry(model, error, fold) for model, error in models] for fold in range(3)])
    assert [row["rmse"] for row in rows] == [1.0, 2.0, None]
    assert rows[2]["change"] is None
    assert rows[2]["status"] == "error: too few edges (fold 2 of 3, so not compared)"
    assert advice(rows).startswith("You need no task graph: common slopes has the least error, 1,")


def test_advice_follows_the_errors() -> None:
    rows = [{"model": m, "rmse": e, "status": "fitted"} for m, e in (("task mean", 3.0), ("graph", 2.0))]
    assert advice(rows) == "A task graph has the least error, 2 (graph); without a graph the least is 3 (task mean)."
    pruned = [*rows, {"model": "graph, pri", "rmse": 1.5, "status": "fitted"}]
    assert "least error, 1.5 (graph, pri), and the whole graph 2" in advice(pruned)
    assert advice([]) == ""


def test_the_advice_is_printed_and_on_the_page(done: Path) -> None:
    assert re.search(
        r"<p>(You need no task graph|A task graph has the least error)", (done / "report.html").read_text()
    )


def test_the_synthetic_tasks_are_as_the_paper_has_them() -> None:
    drawn = synthetic(0)
    assert drawn.tasks.X.shape == (2000, 30)
    assert (drawn.coefficients[:, 20:] == 0).all()
    assert drawn.groups.tolist() == [0] * 10 + [1] * 10
    residual = drawn.tasks.y - np.einsum("np,np->n", drawn.tasks.X, drawn.coefficients[drawn.tasks.member])
    assert residual.std() == pytest.approx(1, abs=0.05)
    with pytest.raises(OptionError, match="noise='sd'"):
        synthetic(0, noise="sd")  # pyright: ignore[reportArgumentType]
    with pytest.raises(OptionError, match="n_tasks"):
        synthetic(0, n_tasks=0)


# Tables of rows


@pytest.mark.skipif(
    not os.environ.get("GRAPHPRI_DATA"), reason="GRAPHPRI_DATA does not name the folder of the data sets"
)
@pytest.mark.parametrize("name", datasets.tables())
def test_tables_are_what_the_catalogue_says(name: str) -> None:
    facts = datasets.about(name)
    assert isinstance(facts, datasets.Table)
    assert datasets.table(name).shape == (facts.n_rows, facts.n_columns)


def test_a_table_that_is_not_there_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHPRI_DATA", raising=False)
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path))
    with pytest.raises(FileError, match="graphpri data get school"):
        datasets.table("school")
    with pytest.raises(OptionError, match="known are parkinsons, school"):
        datasets.table("schools")
