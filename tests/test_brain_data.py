"""Connectomes from arrays, from users' files and by name: what is read, and what each kind of bad input is told."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from graphpri import datasets
from graphpri.apps.brain_data import (
    Connectomes,
    Rois,
    from_matrices,
    from_series,
    full,
    have_diagonals,
    named,
    sides,
)
from graphpri.apps.brain_files import read_atlas, read_connectomes, read_numbers
from graphpri.errors import FileError, Note, OptionError, worded

N, T, S = 5, 40, 10


def series(count: int = S, n: int = N, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(T, n)) @ rng.normal(size=(n, n)) for _ in range(count)]


def pearson(x: Any) -> Any:
    return np.corrcoef(x, rowvar=False)


def labels(count: int = S) -> list[str]:
    return ["a" if i % 2 else "b" for i in range(count)]


def table(path: Path, **columns: Any) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def folder_of(tmp_path: Path, xs: list[Any], name: str = "sub-{:02}.csv", **options: Any) -> Path:
    """Files of scans and participants.tsv, in one folder."""
    folder = tmp_path / "scans"
    folder.mkdir()
    for i, x in enumerate(xs):
        pd.DataFrame(x).to_csv(folder / name.format(i), **({"index": False, "header": False} | options))
    table(folder / "participants.tsv", participant_id=[f"sub-{i:02}" for i in range(len(xs))], group=labels(len(xs)))
    return folder


def read(folder: Path, **options: Any) -> Connectomes:
    return read_connectomes(folder, folder / "participants.tsv", **options)


def assert_scans(found: Connectomes, xs: list[Any], atol: float = 1e-12) -> None:
    """The scans, in order, are these series."""
    np.testing.assert_allclose(found.matrices, [pearson(x) for x in xs], atol=atol)


# Arrays


def test_correlations_are_pearson_exactly_symmetric_with_a_unit_diagonal() -> None:
    xs = series()
    found = from_series(xs, labels())
    assert_scans(found, xs)
    np.testing.assert_array_equal(found.matrices, found.matrices.swapaxes(1, 2))
    assert (np.diagonal(found.matrices, axis1=1, axis2=2) == 1).all()
    assert (found.n_scans, found.n_rois, found.classes, found.grouped) == (S, N, ("a", "b"), False)
    assert found.labels.tolist() == [1, 0] * 5
    assert "each scan counts as another subject" in found.notes[-1]


def test_series_and_their_correlations_are_the_same_connectomes() -> None:
    xs = series()
    one, other = from_series(xs, labels()), from_matrices([pearson(x) for x in xs], labels())
    np.testing.assert_allclose(one.matrices, other.matrices, atol=1e-12)
    assert other.series is None
    assert one.series is not None


def test_inputs_stay_as_they_were() -> None:
    matrix = np.stack([pearson(x) * (1 - np.eye(N)) for x in series()])
    before = matrix.copy()
    found = from_matrices(matrix, labels())
    np.testing.assert_array_equal(matrix, before)
    assert (np.diagonal(found.matrices, axis1=1, axis2=2) == 1).all()
    assert any("diagonal of zeros" in note for note in found.notes)


def test_taking_scans_takes_all_of_each() -> None:
    found = from_series(series(), labels(), groups=[i // 2 for i in range(S)], scans=[f"s{i}" for i in range(S)])
    for some in (found.take([3, 0]), found.take(np.isin(np.arange(S), [3, 0])).take([1, 0])):
        assert (some.scans, some.groups, some.labels.tolist()) == (("s3", "s0"), ("1", "0"), [0, 1])
        assert some.series is not None
        assert found.series is not None
        np.testing.assert_array_equal(some.matrices, found.matrices[[3, 0]])
        np.testing.assert_array_equal(some.series[0], found.series[3])


@pytest.mark.parametrize(
    ("values", "classes", "names", "codes"),
    [
        ([10, 9, 9, 10], None, ("9", "10"), [1, 0, 0, 1]),
        ([1.0, -1.0, -1.0, 1.0], None, ("-1", "1"), [1, 0, 0, 1]),
        (np.array([True, False, True, False]), None, ("0", "1"), [1, 0, 1, 0]),
        (["x", "y", "x", "y"], ("y", "x"), ("y", "x"), [1, 0, 1, 0]),
        (["x", "y", "x", "y", "z", None], ("x", "y"), ("x", "y"), [0, 1, 0, 1]),
    ],
)
def test_labels_become_0_and_1(values: Any, classes: Any, names: Any, codes: list[int]) -> None:
    found = from_series(series(len(values)), values, classes=classes)
    assert (found.classes, found.labels.tolist()) == (names, codes)
    assert ("scans left out for another label or none: 2" in found.notes) == (len(values) == 6)


def test_scans_of_a_subject_and_short_or_uneven_series_are_noted() -> None:
    xs = series()
    xs[3] = xs[3][:25]
    found = from_series(xs, labels(), groups=[i // 2 for i in range(S)])
    assert any("scans of 30 time points or fewer: 3;" in note for note in found.notes)
    assert any("25 to 40 time points" in note for note in found.notes)
    assert any("10 scans of 5 subjects" in note for note in found.notes)
    assert from_series(series(), labels(), groups=range(S)).notes == ()  # pyright: ignore[reportArgumentType]


def test_one_scan_under_two_names_is_noted() -> None:
    xs = series()
    xs[7] = xs[2].copy()
    assert any("identical: 2 = 7" in note for note in from_series(xs, labels()).notes)


def damaged(i: int, change: Callable[[Any], Any]) -> list[Any]:
    xs = series()
    xs[i] = change(xs[i].copy())
    return xs


def put(at: Any, value: float) -> Callable[[Any], Any]:
    def change(x: Any) -> Any:
        x[at] = value
        return x

    return change


@pytest.mark.parametrize(
    ("xs", "message"),
    [
        (damaged(4, put((7, 2), np.nan)), r"scan 4 has NaN .* in ROI 3 \(C\): leave out"),
        (damaged(4, put((slice(None), 1), 0.1)), r"scan 4 is constant in ROI 2 \(B\), .* leave out"),
        (damaged(4, lambda x: x[:, :4]), "scan 4 has 4 regions and scan 0 has 5"),
        (damaged(4, lambda x: x[:2]), "scan 4 has shape .2, 5."),
        (damaged(4, lambda x: x[0]), "scan 4 has shape .5,.: pass a table"),
        (damaged(4, lambda x: x.astype(str).astype(object) + "?"), "scan 4 has entries that are not numbers"),
        (
            [x[: T - i % 2].T for i, x in enumerate(series())],
            "scan 1 has 39 .* 0 has 40: .*Then transpose",
        ),
    ],
)
def test_bad_series_are_named(xs: list[Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        from_series(xs, labels(), rois=Rois(tuple("ABCDE")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put((1, 3), 0.123), "scan 4 has .* in row 2, column 4: its mirror image differs"),
        (
            lambda x: x + 3 * (np.eye(N)[1][:, None] * np.eye(N)[3] + np.eye(N)[3][:, None] * np.eye(N)[1]),
            "row 2, column 4: corr",
        ),
        (put((2, 2), 1.7), "scan 4 has 1.7 in row 3, column 3: the diagonal"),
        (put((0, 0), np.nan), "scan 4 has nan in row 1, column 1"),
        (lambda x: x[:4], r"scan 4 has shape \(4, 5\): a correlation matrix is square"),
        (lambda x: x[:4, :4], "scan 4 has 4 regions"),
    ],
)
def test_bad_matrices_are_named(change: Callable[[Any], Any], message: str) -> None:
    matrices = [pearson(x) for x in series()]
    matrices[4] = change(matrices[4])
    with pytest.raises(OptionError, match=message):
        from_matrices(matrices, labels())


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["a"] * S, {}, "all 10 scans have the label 'a': two classes"),
        (
            ["a", "b", "c", *labels(7)],
            {},
            r"class 'c' has 1 scan: .*3 labels \(and scans\): 'a' of 4, 'b' of 5, 'c' of 1",
        ),
        ([None, *labels(9)], {}, "scan 0 has no label"),
        (["Old", *["old", "young"] * 4, "old"], {}, "labels 'Old' and 'old' differ in case only"),
        ([None, None, *labels(8)], {}, "scans 0, 1 have no label"),
        (["a"] + ["b"] * 9, {}, "class 'a' has 1 scan: each class needs 2"),
        (labels(), {"classes": ("a", "z")}, "no scan has the label 'z'"),
        (labels(), {"classes": ("a", "a")}, "two or more different labels"),
        (labels(), {"classes": "ab"}, "two or more different labels"),
        (labels(9), {}, "10 scans, 9 labels"),
        ([*range(9), None], {"score": True}, "scan 9 has no score"),
        ([*range(9), "old"], {"score": True}, "scan 9 has the score 'old', which is no number"),
        ([3] * S, {"score": True}, "not all alike"),
        (labels(), {"confounds": {"age": [20] * S}}, "confound 'age' is '20' in all scans"),
        (labels(), {"confounds": {"age": [None, *range(9)]}}, "scan 0 has no age"),
        (
            labels(),
            {"confounds": {"age": [20, 20, 30, 30, "4O", *[40] * 5]}},
            "scan 4 has '4O' for .* in 9 other scans",
        ),
        (labels(), {"confounds": {"age": [1, 2]}}, "confound 'age' has 2 values for 10 scans"),
        (labels(), {"confounds": {"city": list("abcdefghij")}}, "confound 'city' has 10 different values"),
        (labels(), {"sites": ["x"]}, "1 sites for 10 scans"),
        (labels(), {"groups": [1, 2]}, "2 subjects for 10 scans"),
        (labels(), {"groups": ["a", float("nan"), None, *"bcdefgh"]}, "scans 1, 2 have no subject"),
        (labels(), {"scans": ["x"] * S}, "scans x stand twice"),
        (
            labels(),
            {"scans": [f"sub-{i // 2}_ses-{i % 2}" for i in range(S)]},
            "subjects 0, 1, .* name their subjects .groups=",
        ),
        (labels(), {"rois": Rois(("A", "B"))}, "the atlas has 2 regions and the scans have 5"),
    ],
)
def test_labels_and_subjects_that_do_not_do_are_refused(values: Any, options: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        from_series(series(), values, **options)


def test_no_scans_at_all_are_refused() -> None:
    with pytest.raises(OptionError, match="no scans"):
        from_series([], [])


def test_correlations_of_one_region_with_the_next_are_no_diagonal() -> None:
    strict = np.random.default_rng(0).uniform(-1, 1, (3, 10))
    assert not have_diagonals(strict)
    strict[:, [0, 2, 5, 9]] = 0.9
    assert not have_diagonals(strict)
    assert full(strict).shape == (3, 5, 5)
    strict[:, [0, 2, 5, 9]] = 1.0
    assert have_diagonals(strict)
    assert full(strict).shape == (3, 4, 4)


def test_triangles_are_lower_ones_row_by_row() -> None:
    matrix = pearson(series()[0])
    np.testing.assert_allclose(full(matrix[np.tril_indices(N, -1)][None])[0], matrix)
    assert [sides(k) for k in (1, 3, 6, 7, 2016, 6670)] == [2, 3, 4, None, 64, 116]
    with pytest.raises(OptionError, match="no triangles"):
        full(np.zeros((2, 7)))


# A folder of files


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sub-{:02}.csv", {}),
        ("sub-{:02}.csv", {"header": True}),
        ("sub-{:02}.csv", {"header": list("ABCDE"), "index": True}),
        ("sub-{:02}_task-rest_timeseries.tsv", {"sep": "\t", "header": list("ABCDE")}),
        ("sub-{:02}.txt", {"sep": " "}),
        ("sub-{:02}.csv.gz", {"sep": ";"}),
        ("x_sub-{:02}.y.csv", {}),
    ],
)
def test_text_of_ten_scans_is_read(tmp_path: Path, name: str, options: Any) -> None:
    xs = series()
    (folder := folder_of(tmp_path, xs, name, **options)).joinpath("README").write_text("about")
    (folder / "dataset_description.json").write_text("{}")
    seen: list[float] = []
    found = read(folder, on_progress=lambda stage, share: seen.append(share))
    assert_scans(found, xs)
    assert found.series is not None
    assert found.rois.names == (
        tuple("ABCDE") if options.get("header") == list("ABCDE") else tuple(f"ROI {i}" for i in range(1, 6))
    )
    assert (found.labels.tolist(), found.groups[:2], found.grouped) == ([1, 0] * 5, ("sub-00", "sub-01"), True)
    assert seen[-1] == 1
    assert seen == sorted(seen)
    assert any("labels group" in note for note in found.notes)


def test_text_of_matrices_with_names_on_both_sides_is_read(tmp_path: Path) -> None:
    xs = series()
    frames = [pd.DataFrame(pearson(x), index=list("ABCDE")) for x in xs]
    folder = folder_of(tmp_path, frames, index=True, header=list("ABCDE"))
    found = read(folder)
    assert_scans(found, xs)
    assert found.series is None
    assert found.rois.names == tuple("ABCDE")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat"])
@pytest.mark.parametrize("what", ["series", "matrix", "triangle"])
def test_binary_files_of_a_scan_each_are_read(tmp_path: Path, suffix: str, what: str) -> None:
    xs = series()
    made = {"series": lambda x: x, "matrix": pearson, "triangle": lambda x: pearson(x)[np.tril_indices(N, -1)]}[what]
    save = {
        ".npy": np.save,
        ".npz": lambda p, x: np.savez(p, x=x),
        ".mat": lambda p, x: savemat(p, {"x": x, "s": "text"}),
    }
    for i, x in enumerate(xs):
        save[suffix](tmp_path / f"scan_{i}{suffix}", made(x))
    ids = table(tmp_path / "labels.csv", index=range(S), label=labels())
    found = read_connectomes(tmp_path, ids)
    assert_scans(found, xs)
    assert (found.series is None) == (what != "series")
    assert not found.grouped


def test_xcp_d_sessions_become_scans_of_a_subject(tmp_path: Path) -> None:
    xs = series()
    for i, x in enumerate(xs):
        name = f"sub-{i // 2:02}_ses-{i % 2 + 1}_task-rest_space-MNI152NLin2009cAsym_seg-Tian_stat-mean_timeseries.tsv"
        folder = tmp_path / f"sub-{i // 2:02}" / f"ses-{i % 2 + 1}" / "func"
        folder.mkdir(parents=True)
        pd.DataFrame(x, columns=[f"LH_{j}" for j in range(N)]).to_csv(folder / name, sep="\t", index=False)
    people = table(tmp_path / "participants.tsv", participant_id=[f"sub-{i:02}" for i in range(5)], sex=list("MFMFM"))
    found = read_connectomes(tmp_path, people)
    assert_scans(found, xs)
    assert found.groups == tuple(f"sub-{i // 2:02}" for i in range(S))
    assert found.classes == ("F", "M")
    assert found.rois.names[:2] == ("LH_0", "LH_1")
    by_state = table(
        tmp_path / "scans.csv",
        participant_id=[f"{i // 2:02}" for i in range(S)][::-1],
        session_id=[f"ses-{i % 2 + 1}" for i in range(S)][::-1],
        state=["closed", "open"] * 5,
    )
    found = read_connectomes(str(tmp_path / "sub-*" / "**" / "*_timeseries.tsv"), by_state)
    assert_scans(found, xs[::-1])
    assert (found.classes, found.labels.tolist()) == (("closed", "open"), [0, 1] * 5)
    assert any("10 scans of 5 subjects" in note for note in found.notes)


def test_files_of_one_subject_that_differ_in_other_things_than_sessions_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, series(), "sub-{:02}_seg-AAL.csv")
    (folder / "sub-03_seg-Tian.csv").write_bytes((folder / "sub-03_seg-AAL.csv").read_bytes())
    with pytest.raises(
        OptionError, match=r"sub-03 .* aren't distinct sessions or runs, sub-03_seg-AAL.csv, sub-03_seg-T"
    ):
        read(folder)
    assert read_connectomes(f"{folder}/*_seg-AAL.csv", folder / "participants.tsv").n_scans == S


def test_subjects_folders_name_their_files(tmp_path: Path) -> None:
    xs = series()
    for i, x in enumerate(xs):
        (tmp_path / f"P{i}").mkdir()
        np.savetxt(tmp_path / f"P{i}" / "bold.txt", x)
    found = read_connectomes(tmp_path, table(tmp_path / "l.csv", subject=[f"P{i}" for i in range(S)], dx=labels()))
    assert_scans(found, xs)
    assert len(set(found.scans)) == S


def test_numbers_that_contain_each_other_are_not_mixed_up(tmp_path: Path) -> None:
    xs = series(12)
    for i, x in enumerate(xs):
        np.save(tmp_path / f"S{i}.npy", x)
    found = read_connectomes(tmp_path, table(tmp_path / "l.csv", scan=[f"S{i}" for i in range(12)], dx=labels(12)))
    assert_scans(found, xs)


def remove(name: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).unlink()


def write(name: str, text: str | bytes) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def sheet(**columns: Any) -> Callable[[Path], Any]:
    return lambda folder: table(folder / "participants.tsv", **columns)


IDS = [f"sub-{i:02}" for i in range(S)]


@pytest.mark.parametrize(
    ("harm", "error", "message"),
    [
        (remove("sub-03.csv"), OptionError, "rows without a file: sub-03"),
        (write("sub-77.csv", "1,2\n3,4\n"), OptionError, "files without a row: sub-77.csv"),
        (write("bold.nii.gz", b"x"), FileError, r"bold.nii.gz: not a file of numbers"),
        (write("sub-03.csv", ""), FileError, "sub-03.csv: it is empty"),
        (write("sub-03.csv", "a,b\n1,x\n"), FileError, "sub-03.csv: column 'b' has entries that are not numbers"),
        (write("sub-03.csv", "1.5,2\n1,2,3,4\n"), FileError, "sub-03.csv: can't be read"),
        (write("sub-03.csv", "a,b\n" + "1,2,3\n" * 9), FileError, "sub-03.csv: rows have more cells than the header"),
        (write("sub-03.csv", "a,b\n" + "1,2,3,4\n" * 9), FileError, "sub-03.csv: rows have more cells than the head"),
        (write("sub-03.csv", "1,2,3,4\n" * 40), OptionError, "scan sub-03 has 4 regions"),
        (write("sub-03.csv", "1,2,3,4,n/a\n" * 40), OptionError, "scan sub-03 has NaN .* in ROI 5"),
        (write("sub-03.csv", "1,0,0\n0,1,0\n0,0,1\n"), OptionError, "sub-03.csv looks like a matrix and sub-00.csv"),
        (write("sub-03.csv", "1,0,0\n1,1,0\n0,0,1\n"), OptionError, 'sub-03.csv: .* not symmetric .* kind="ser'),
        (sheet(participant_id=IDS, group=["a"] * S), OptionError, "all 10 scans have the label 'a'"),
        (sheet(participant_id=IDS, group=[*"aabbccaabd"]), OptionError, "class 'd' has 1 scan"),
        (sheet(participant_id=IDS, age=range(S), iq=range(S)), OptionError, "no column has .* label=, one of age, iq"),
        (sheet(participant_id=IDS, sex=list("MF") * 5, dx=[0] * 5 + [1] * 5), OptionError, "columns sex, dx have two"),
        (sheet(participant_id=IDS[:9] + IDS[8:9], group=labels()), FileError, "sub-08 stands in 2 rows"),
        (sheet(who=IDS, group=labels()), OptionError, "no column names the scans; id_column= .* who, group"),
        (write("participants.tsv", "participant_id\tgroup\nsub-00\n"), FileError, "line 2: the row has 1 cell"),
        (write("participants.tsv", "participant_id\tgroup\n"), FileError, "no rows"),
        (write("participants.tsv", ""), FileError, "the file is empty"),
    ],
)
def test_bad_folders_are_told_what_is_wrong(tmp_path: Path, harm: Any, error: type[Exception], message: str) -> None:
    folder = folder_of(tmp_path, series())
    assert read(folder).n_scans == S
    harm(folder)
    with pytest.raises(error, match=message):
        read(folder)


@pytest.mark.parametrize("name", ["label", "group", "id_column"])
def test_columns_that_are_not_there_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match=f"no column 'zzz' for {name}=; there are participant_id, group"):
        read(folder_of(tmp_path, series()), **{name: "zzz"})


def test_named_columns_and_classes_are_used(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, series())
    sheet(who=IDS, site=list("xy") * 5, dx=["HC", "MCI", "AD", "HC", "AD"] * 2, family=[i // 2 for i in range(S)])(
        folder
    )
    found = read(folder, id_column="who", classes=("HC", "AD"), group="family", label="dx")
    assert (found.n_scans, found.classes, found.groups[1]) == (8, ("HC", "AD"), "1")
    assert read(folder, id_column="who", classes=("HC", "AD")).labels.tolist() == found.labels.tolist()


def test_regions_in_another_order_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, series(), header=list("ABCDE"))
    pd.DataFrame(series()[0], columns=list("ABDCE")).to_csv(folder / "sub-03.csv", index=False)
    with pytest.raises(FileError, match=r"sub-03.csv: column 3 is D, and it is C in sub-00.csv"):
        read(folder)


def test_matrices_of_xcp_d_name_their_rows(tmp_path: Path) -> None:
    rng, names = np.random.default_rng(0), ["LH_Vis_1", "LH_Vis_2", "RH_Vis_1"]
    held = [np.corrcoef(rng.normal(size=(3, 50))) for _ in range(4)]
    for i, matrix in enumerate(held):
        folder = tmp_path / "xcpd" / f"sub-{i:02}" / "func"
        folder.mkdir(parents=True)
        frame = pd.DataFrame(matrix, index=pd.Index(names, name="Node"), columns=names)
        frame.to_csv(folder / f"sub-{i:02}_task-rest_stat-pearsoncorrelation_relmat.tsv", sep="\t")
        (folder / f"sub-{i:02}_bold.nii.gz").write_bytes(b"x")
    people = table(tmp_path / "people.tsv", participant_id=IDS[:4], group=list("abab"))
    for place in (tmp_path / "xcpd", str(tmp_path / "xcpd" / "**" / "*_relmat.tsv")):
        found = read_connectomes(place, people)
        np.testing.assert_allclose(found.matrices, held, atol=1e-12)
        assert found.rois.names == tuple(names)


def derivatives(folder: Path, ends: Sequence[str]) -> Path:
    """A folder of derivatives with BIDS names: files of these ends for each of ten people."""
    for i, x in enumerate(series()):
        place = folder / f"sub-{i:02}" / "func"
        place.mkdir(parents=True)
        for end in ends:
            np.savetxt(place / f"sub-{i:02}_{end}", x, delimiter="\t", header="\t".join("ABCDE"), comments="")
    return folder


def test_series_of_derivatives_are_told_from_confounds_and_motion_by_their_names(tmp_path: Path) -> None:
    own = "task-rest_space-MNI_seg-4S156Parcels_stat-mean_timeseries.tsv"
    more = ["task-rest_desc-confounds_timeseries.tsv", "task-rest_motion.tsv", "task-rest_outliers.tsv"]
    relmat = own.replace("mean_timeseries", "pearsoncorrelation_relmat")
    folder = derivatives(tmp_path / "xcpd", [own, relmat, *more])
    people = table(tmp_path / "people.tsv", participant_id=IDS, group=labels())
    found = read_connectomes(folder, people)
    assert found.n_scans == S
    assert all("4S156Parcels_stat-mean" in name for name in found.scans)
    assert any("10 of 50 files are scans" in note for note in found.notes)
    for i in range(S):
        shutil.copy(
            folder / f"sub-{i:02}" / "func" / f"sub-{i:02}_{own}", folder / f"sub-{i:02}_seg-Glasser_timeseries.tsv"
        )
    with pytest.raises(FileError, match=r"several kinds, .*seg-4S156Parcels, seg-Glasser.*xcpd/\*\*/\*"):
        read_connectomes(folder, people)
    with pytest.raises(FileError, match="confounds and no series of regions"):
        read_connectomes(derivatives(tmp_path / "fmriprep", more), people)


def test_files_of_afni_and_brainnet_viewer_are_read(tmp_path: Path) -> None:
    people = table(tmp_path / "people.tsv", participant_id=IDS, group=labels())
    for suffix, held in (("1D", series()), ("edge", [pearson(x) for x in series()])):
        folder = tmp_path / suffix
        folder.mkdir()
        for i, x in enumerate(held):
            np.savetxt(folder / f"sub-{i:02}.{suffix}", x, header="3dmaskave -mask roi.nii", comments="# ")
        np.testing.assert_allclose(read_connectomes(folder, people).matrices, [pearson(x) for x in series()], atol=1e-6)
        pattern = read_connectomes(f"{folder}/*.{suffix}", people)
        assert pattern.n_scans == S
    nodes = "".join(f"{i}\t{-i}\t0.5\t{1 + i % 2}\t3\tR{i}\n" for i in range(N))
    (tmp_path / "aal.node").write_text("# x y z\n" + nodes)
    rois = read_atlas(tmp_path / "aal.node", N)
    assert rois.names == ("R0", "R1", "R2", "R3", "R4")
    assert rois.coordinates is not None
    assert rois.coordinates[3].tolist() == [3, -3, 0.5]
    assert rois.systems == ("colour 1", "colour 2", "colour 1", "colour 2", "colour 1")
    (tmp_path / "bad.node").write_text("1 2 3 R\n")
    with pytest.raises(FileError, match=r"bad.node, line 1: 4 cells"):
        read_atlas(tmp_path / "bad.node")


def test_results_of_conn_become_correlations_with_the_names_of_their_regions(tmp_path: Path) -> None:
    names = np.array(["atlas.A", "atlas.B", "atlas.C", "atlas.D", "atlas.E"], object)
    for i, x in enumerate(series()):
        z = np.arctanh(np.where(np.eye(N), np.nan, pearson(x)))
        held = {
            "Z": np.column_stack([z, np.ones((N, 2))]),
            "names": names,
            "SE": np.ones((N, 7)),
            "xyz": np.ones((7, 3)),
        }
        savemat(tmp_path / f"resultsROI_Subject{i + 1:03}_Condition001.mat", held)
    people = table(tmp_path / "people.tsv", subject=range(1, S + 1), group=labels())
    found = read_connectomes(tmp_path / "*.mat", people)
    np.testing.assert_allclose(found.matrices, [pearson(x) for x in series()], atol=1e-12)
    assert found.rois.names == tuple(names)
    assert any("CONN" in note for note in found.notes)
    same = read_connectomes(tmp_path / "*.mat", people, fisher_z=True)
    np.testing.assert_array_equal(same.matrices, found.matrices)


def test_mat_files_with_a_cell_or_an_array_of_each_scan_are_read(tmp_path: Path) -> None:
    people = table(tmp_path / "people.tsv", participant_id=IDS, group=labels())
    cell = np.empty(S, object)
    for i, x in enumerate(series()):
        cell[i] = x[: T - i]
    savemat(tmp_path / "cell.mat", {"bold": cell})
    savemat(tmp_path / "each.mat", {f"sub_{i:02}": x[: T - i] for i, x in reversed([*enumerate(series())])})
    for name in ("cell", "each"):
        found = read_connectomes(tmp_path / f"{name}.mat", people)
        np.testing.assert_allclose(found.matrices[7], pearson(series()[7][: T - 7]), atol=1e-12)


def test_rows_without_files_and_files_without_rows_are_passed_over_where_that_is_allowed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, series())
    (folder / "sub-03.csv").rename(folder / "sub-93.csv")
    with pytest.raises(
        OptionError, match=r"rows without a file: sub-03; files without a row: sub-93.*allow_missing=True"
    ):
        read(folder)
    found = read(folder, allow_missing=True)
    assert found.n_scans == S - 1
    assert any("passed over: 1 row without a file: sub-03" in note for note in found.notes)
    assert any("passed over: 1 file without a row: sub-93" in note for note in found.notes)


def test_the_pattern_that_a_message_proposes_finds_the_files(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, series())
    (folder / "mask.nii.gz").write_bytes(b"x")
    with pytest.raises(FileError) as told:
        read(folder)
    pattern = str(told.value).split("'")[1]
    assert read_connectomes(pattern, folder / "participants.tsv").n_scans == S


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scan.csv", "# R0,R1,R2\n0.5,1,2\n1,0,3\n2.5,7,1\n4,1,1\n"),
        ("scan.txt", "# R0 R1 R2\n0.5 1 2\n1 0 3\n2.5 7 1\n4 1 1\n"),
        ("scan.csv", "R0;R1;R2\n0,5;1;2\n1;0;3\n2,5;7;1\n4;1;1\n"),
        ("scan.csv", "0,5;1;2\n1;0;3\n2,5;7;1\n4;1;1\n"),
        ("scan.tsv", "R0\tR1\tR2\n0,5\t1\t2\n1\t0\t3\n2,5\t7\t1\n4\t1\t1\n"),
    ],
)
def test_headers_of_savetxt_and_decimal_commas_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read_numbers(tmp_path / name)
    np.testing.assert_array_equal(found.values, [[0.5, 1, 2], [1, 0, 3], [2.5, 7, 1], [4, 1, 1]])
    assert found.columns == (("R0", "R1", "R2") if "R0" in text else None)


def test_matrices_of_fisher_z_are_told_from_correlations() -> None:
    held = [pearson(x) for x in series()]
    bad = held[2].copy()
    np.fill_diagonal(bad, np.inf)
    with pytest.raises(OptionError, match=r"inf in row 1, column 1: .* fisher_z=True"):
        from_matrices([*held[:2], bad, *held[3:]], labels())
    blank = [x - np.diag(np.full(len(x), 1 - 1e-17)) for x in held]
    assert any("fisher_z=True" in note for note in from_matrices(blank, labels()).notes)


def test_fisher_z_with_any_diagonal_become_the_correlations() -> None:
    held = [pearson(x) for x in series()]
    for diagonal in (np.inf, np.nan, 0.0):
        z = [np.arctanh(np.where(np.eye(N), 0, x)) for x in held]
        for x in z:
            np.fill_diagonal(x, diagonal)
        found = from_matrices(z, labels(), fisher_z=True)
        np.testing.assert_allclose(found.matrices, held, atol=1e-12)


def test_dead_regions_are_left_out_of_all_scans_and_counted() -> None:
    xs = series()
    xs[1][:, 3] = 0.5
    xs[4][:, 1] = np.nan
    xs[5][:, 3] = 0.0
    rois = Rois(tuple("ABCDE"), np.arange(15.0).reshape(5, 3), tuple("uvwxy"))
    found = from_series(xs, labels(), rois=rois, drop_regions=True)
    assert found.rois.names == ("A", "C", "E")
    assert found.rois.systems == ("u", "w", "y")
    assert any("2 of 5 (B in 1 scan, D in 2 scans)" in note for note in found.notes)
    matrices = [pearson(x) for x in series()]
    matrices[2][3, :] = matrices[2][:, 3] = np.nan
    matrices[3][1, :] = matrices[3][:, 1] = 0.0
    same = from_matrices(matrices, labels(), rois=rois, drop_regions=True)
    assert same.rois.names == found.rois.names
    np.testing.assert_allclose(same.matrices[0], found.matrices[0], atol=1e-12)
    with pytest.raises(OptionError, match="scan 1 is constant in ROI 4"):
        from_series(xs, labels())


def test_confounds_are_numbers_or_values_and_sites_always_values() -> None:
    columns = {"age": range(S), "sex": list("MF") * 5, "site": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]}
    found = from_series(series(), labels(), confounds=columns, sites=columns["site"])  # pyright: ignore[reportArgumentType]
    assert found.confounds is not None
    np.testing.assert_array_equal(found.confounds[:, 0], range(S))
    np.testing.assert_array_equal(found.confounds[:3, 1:], [[1, 0, 0], [0, 1, 0], [1, 0, 1]])
    assert any("age (a number), sex (2 values), site (3 values)" in note for note in found.notes)
    part = found.take([4, 2])
    assert part.confounds is not None
    np.testing.assert_array_equal(part.confounds, found.confounds[[4, 2]])
    assert part.sites == ("2", "3")


def test_three_classes_and_scores_are_taken() -> None:
    three = from_series(series(), list("abcabcabca"))
    assert three.classes == ("a", "b", "c")
    assert three.labels.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    scored = from_series(series(), [20.5, *range(9)], score=True)
    assert scored.classes == ()
    assert scored.truth.tolist() == [20.5, *range(9)]


def test_a_region_without_correlations_is_noted() -> None:
    held = [pearson(x) for x in series()]
    held[3][1], held[3][:, 1] = 0, 0
    held[3][1, 1] = 1
    found = from_matrices(held, labels(), scans=IDS)
    note = next(note for note in found.notes if "regions without any correlation: ROI 2 in sub-03" in note)
    assert "leave them out in all scans (drop_regions=True)" in note
    assert not any("without any" in note for note in from_matrices(held[:3] + held[4:], labels()[:-1]).notes)


def test_a_region_of_zeros_on_the_diagonal_too_is_refused_and_can_be_left_out() -> None:
    held = [pearson(x) for x in series()]
    held[3][1], held[3][:, 1] = 0, 0
    with pytest.raises(OptionError, match=r"scan sub-03 has no correlations of ROI 2.*drop_regions=True"):
        from_matrices(held, labels(), scans=IDS)
    found = from_matrices(held, labels(), scans=IDS, drop_regions=True)
    assert found.rois.names == ("ROI 1", "ROI 3", "ROI 4", "ROI 5")
    assert "1 of 5 (ROI 2 in 1 scan)" in found.notes[0]


def test_zeros_in_front_of_a_number_are_of_no_account(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    for i, x in enumerate(series()):
        np.savetxt(tmp_path / "scans" / (f"{i + 1:03}.csv" if i % 2 else f"sub-{i + 1:03}_run-2.csv"), x, delimiter=",")
    for ids in (range(1, S + 1), [f"SUB{i:02}" for i in range(1, S + 1)]):
        found = read_connectomes(tmp_path / "scans", table(tmp_path / "people.tsv", id=ids, group=labels()))
        assert found.groups == tuple(map(str, ids))
        assert [int(name[4:7] if name.startswith("sub") else name) for name in found.scans] == list(range(1, S + 1))


def test_half_of_a_matrix_and_a_struct_are_named_as_such(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, [np.triu(pearson(x)) for x in series()])
    with pytest.raises(OptionError, match="only one triangle of it is filled"):
        read(folder)
    savemat(tmp_path / "all.mat", {"data": {"conn": np.array(series()), "subject": "x"}})
    with pytest.raises(FileError, match="data is a struct of conn, subject: save what is wanted"):
        read_connectomes(tmp_path / "all.mat", table(tmp_path / "people.tsv", id=IDS, group=labels()))


def test_notes_name_arguments_in_words_of_python_and_of_the_command() -> None:
    note = from_matrices([pearson(x) - np.eye(5) for x in series()], labels()).notes[0]
    assert note.endswith("if they hold Fisher z, say fisher_z=True")
    assert isinstance(note, Note)
    assert worded(note.message, lambda name, value: f"--{name}").endswith("say --fisher_z")


def test_a_bad_matrix_among_good_ones_is_told_with_its_entry_or_region(tmp_path: Path) -> None:
    held = [pearson(x) for x in series()]
    folder = folder_of(tmp_path, held, header=list("ABCDE"))
    good = (folder / "sub-03.csv").read_bytes()
    for change, message in (
        ((0, 2, 0.9), r"sub-03.csv: 0.9 in row 1, column 3 and .* where 9 other scans are symmetric"),
        ((slice(None), 1, np.nan), r"scan sub-03 has no correlations of ROI 2 \(B\): leave out the region"),
    ):
        bad = held[3].copy()
        bad[change[0], change[1]] = change[2]
        if np.isnan(change[2]):
            bad[1] = np.nan
        pd.DataFrame(bad, columns=list("ABCDE")).to_csv(folder / "sub-03.csv", index=False)
        with pytest.raises(OptionError, match=message):
            read(folder)
    (folder / "sub-03.csv").write_bytes(good)
    with pytest.raises(OptionError, match="only npz and mat files name arrays"):
        read(folder, array="Z")


def test_folders_without_scans_and_other_places_are_refused(tmp_path: Path) -> None:
    people = table(tmp_path / "people.tsv", participant_id=IDS, group=labels())
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="no files of scans"):
        read_connectomes(tmp_path / "empty", people)
    with pytest.raises(FileError, match="no such file or folder"):
        read_connectomes(tmp_path / "nowhere", people)
    with pytest.raises(FileError, match="no such file"):
        read_connectomes(tmp_path, tmp_path / "nobody.tsv")
    with pytest.raises(OptionError, match="kind='maps'"):
        read_connectomes(tmp_path, people, kind="maps")  # pyright: ignore[reportArgumentType]


def test_square_series_are_read_when_said_to_be_series(tmp_path: Path) -> None:
    xs = [x[:N] for x in series()]
    folder = folder_of(tmp_path, xs)
    with pytest.raises(OptionError, match='kind="series"'):
        read(folder)
    assert_scans(read(folder, kind="series"), xs)
    with pytest.raises(OptionError, match=f"{folder.name}: scan sub-00 has .* in row"):
        read(folder, kind="matrix")


# One file of all scans


def stacked(path: Path, x: Any, version: str = "5") -> Path:
    if path.suffix == ".npz":
        np.savez(path, data=x)
    elif path.suffix == ".npy":
        np.save(path, x)
    elif version == "5":
        savemat(path, {"data": x})
    else:
        with h5py.File(path, "w", userblock_size=512) as file:
            file["data"] = np.asarray(x).T
            file["made"] = np.array([[116], [111]], np.uint16)
            file["made"].attrs["MATLAB_class"] = np.bytes_("char")
        with path.open("r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path


@pytest.mark.parametrize(("suffix", "version"), [(".npz", ""), (".npy", ""), (".mat", "5"), (".mat", "7.3")])
@pytest.mark.parametrize("what", ["series", "matrix", "triangle", "with diagonals", "with ones", "last"])
def test_stacked_arrays_are_read(tmp_path: Path, suffix: str, version: str, what: str) -> None:
    xs = series()
    matrices = np.stack([pearson(x) for x in xs])
    made = {
        "series": np.stack(xs),
        "matrix": matrices,
        "triangle": matrices[:, *np.tril_indices(N, -1)],
        # As nilearn's ConnectivityMeasure(vectorize=True) has it.
        "with diagonals": (matrices * np.where(np.eye(N), 0.5**0.5, 1))[:, *np.tril_indices(N)],
        "with ones": matrices[:, *np.tril_indices(N)],
        "last": np.stack(xs, axis=2) if suffix == ".mat" else np.stack(xs),
    }[what]
    ids = table(tmp_path / "labels.csv", index=range(1, S + 1), group=labels())
    found = read_connectomes(stacked(tmp_path / f"all{suffix}", made, version), ids)
    assert_scans(found, xs)
    assert found.labels.tolist() == [1, 0] * 5
    assert any("have the diagonals" in note for note in found.notes) == what.startswith("with")


def test_an_index_says_which_scan_a_row_is(tmp_path: Path) -> None:
    xs = series()
    order = np.random.default_rng(1).permutation(S)
    ids = table(tmp_path / "labels.csv", index=order, dx=np.array(labels())[order])
    found = read_connectomes(stacked(tmp_path / "all.npz", np.stack(xs)), ids)
    assert_scans(found, xs)
    assert found.labels.tolist() == [1, 0] * 5
    assert found.scans == tuple(map(str, range(S)))


def test_several_arrays_need_a_name(tmp_path: Path) -> None:
    ids = table(tmp_path / "labels.csv", index=range(S), group=labels())
    xs = series()
    np.savez(tmp_path / "all.npz", bold=np.stack(xs), age=np.arange(S))
    savemat(tmp_path / "all.mat", {"bold": np.stack(xs), "age": np.arange(S), "TR": 2.0, "made": "today"})
    for path in (tmp_path / "all.npz", tmp_path / "all.mat"):
        with pytest.raises(FileError, match=r"several arrays, bold of shape \(10, 40, 5\), age of shape .*array="):
            read_connectomes(path, ids)
        with pytest.raises(OptionError, match="no array 'x'; it has bold of shape"):
            read_connectomes(path, ids, array="x")
        assert_scans(read_connectomes(path, ids, array="bold"), xs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: np.stack(series(9)), r"shape \(9, 40, 5\), and 10 rows of labels"),
        (lambda: np.zeros((S, 7)), "nor triangles"),
        (lambda: np.zeros((S, 2, 3, 4)), r"pass \(S, T, N\)"),
        (lambda: np.array(["a"] * S), "no array of numbers"),
    ],
)
def test_arrays_of_other_shapes_are_refused(tmp_path: Path, make: Callable[[], Any], message: str) -> None:
    ids = table(tmp_path / "labels.csv", index=range(S), group=labels())
    with pytest.raises((FileError, OptionError), match=message):
        read_connectomes(stacked(tmp_path / "all.npz", make()), ids)


@pytest.mark.parametrize("name", ["all.npz", "all.npy", "all.mat", "all.csv", "all.parquet"])
def test_files_that_are_not_what_they_say_are_refused(tmp_path: Path, name: str) -> None:
    ids = table(tmp_path / "labels.csv", index=range(S), group=labels())
    (tmp_path / name).write_bytes(b"this is not it" * 20)
    with pytest.raises(FileError, match=name):
        read_connectomes(tmp_path / name, ids)


# The atlas


def test_an_atlas_gives_names_coordinates_and_systems(tmp_path: Path) -> None:
    path = table(
        tmp_path / "atlas.csv",
        ROI=list("ABCDD"),
        x_mni=range(5),
        y_mni=range(5),
        z_mni=range(5),
        network=["u", "v", "u", "", "v"],
    )
    folder = folder_of(tmp_path, series(), header=list("VWXYZ"))
    rois = read(folder, atlas=path).rois
    assert rois.names == ("A", "B", "C", "D 4", "D 5")
    assert rois.systems == ("u", "v", "u", "none", "v")
    assert rois.coordinates is not None
    assert rois.coordinates.tolist() == [[i] * 3 for i in range(5)]
    assert "names from ROI; coordinates from x_mni, y_mni, z_mni; systems from network" in rois.note


def test_an_atlas_may_lack_columns(tmp_path: Path) -> None:
    rois = read_atlas(table(tmp_path / "atlas.csv", name=list("ABC")), 3)
    assert (rois.names, rois.coordinates, rois.systems) == (tuple("ABC"), None, None)
    assert read_atlas(table(tmp_path / "atlas.csv", network=list("ABC"))).names == ("ROI 1", "ROI 2", "ROI 3")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"name": list("AB")}, "it has 2 regions and the scans have 3"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, "only x, y"),
        ({"x": [1, 2, 3], "y": [1, 2, 3], "z": [1, "?", 3]}, "row 2 has '.' in column z"),
        ({"x": [1, 2, 3], "y": [1, 2, 3], "z": [1, "nan", 3]}, "row 2 has no coordinates"),
    ],
)
def test_a_bad_atlas_is_refused(tmp_path: Path, columns: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_atlas(table(tmp_path / "atlas.csv", **columns), 3)


# Named data


def test_eoec_is_as_published(data: Path) -> None:
    found = named("eoec")
    assert (found.n_scans, found.n_rois, len(set(found.groups))) == (94, 116, 47)
    assert found.classes == ("eyes_closed", "eyes_open")
    assert np.bincount(found.labels).tolist() == [47, 47]
    assert (found.scans[0], found.scans[-1], found.groups[3], found.groups[50]) == ("EC01", "EO47", "4", "4")
    left, right = np.arange(0, 108, 2), np.arange(1, 108, 2)
    assert found.matrices[:, left, right].mean() == pytest.approx(0.80, abs=0.005)
    assert found.rois.names[0] == "PreCG.L"
    assert any("taken for the same subject" in note for note in found.notes)
    assert found.rois.systems is not None
    assert len(set(found.rois.systems)) == 6
    assert "derived" in found.rois.note
    assert found.rois.coordinates is not None
    assert found.rois.coordinates[0].tolist() == [-38.65, -5.68, 50.94]


def test_eoec_read_as_users_files_is_the_same(data: Path) -> None:
    one, other = (
        named("eoec"),
        read_connectomes(
            data / "eoec/eoec_timeseries.npz", data / "eoec/scans.csv", atlas=data / "aal116/aal116_rois.csv"
        ),
    )
    np.testing.assert_array_equal(one.matrices, other.matrices)
    assert (one.groups, one.scans, one.classes) == (other.groups, other.scans, other.classes)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.rois.names == other.rois.names
    assert one.rois.systems == other.rois.systems
    assert "derived" in other.rois.note


def test_devfmri_is_as_published(data: Path) -> None:
    found = named("devfmri")
    assert (found.n_scans, found.n_rois, len(set(found.groups)), found.grouped) == (83, 64, 83, True)
    assert found.classes == ("child", "adult")
    assert np.bincount(found.labels).tolist() == [50, 33]
    off = found.matrices[:, ~np.eye(64, dtype=bool)]
    assert (off.min().round(3), off.max().round(3)) == (-0.976, 0.983)
    files = read_connectomes(
        data / "devfmri/devfmri_basc064_fc.npz", data / "devfmri/labels.csv", classes=("child", "adult")
    )
    np.testing.assert_array_equal(files.matrices, found.matrices)
    assert files.labels.tolist() == found.labels.tolist()


def test_named_data_that_is_not_there_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHPRI_DATA", str(tmp_path))
    with pytest.raises(FileError, match="graphpri data get eoec"):
        named("eoec")
    with pytest.raises(OptionError, match="known are eoec, devfmri"):
        named("adni")
    (tmp_path / "devfmri").mkdir()
    (tmp_path / "devfmri" / "devfmri_basc064_fc.npz").write_bytes(gzip.compress(b"no"))
    with pytest.raises(FileError, match="SHA-256"):
        named("devfmri")


@pytest.mark.parametrize("name", datasets.scan_sets())
def test_sets_of_scans_get_into_the_cache(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHPRI_CACHE", str(tmp_path))
    datasets.get(name, data)
    monkeypatch.delenv("GRAPHPRI_DATA")
    facts = datasets.about(name)
    assert named(name).matrices.shape == (facts.n_rows, facts.n_columns, facts.n_columns)  # pyright: ignore
