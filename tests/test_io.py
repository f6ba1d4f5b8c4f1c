"""Files: finding the format, opening, writing all or nothing, and what hostile content meets."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphpri import io as gio
from graphpri.errors import FileError, MissingExtraError, OptionError
from graphpri.graph import EdgeTable
from graphpri.io.tables import read_table

NAMES = [known.name for known in gio.FORMATS]
TEXT_FORMATS = [name for name in NAMES if name not in ("npz", "parquet")]
SUFFIXES = [(known.name, suffix) for known in gio.FORMATS for suffix in known.suffixes]


def table() -> EdgeTable:
    return EdgeTable(
        4, np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3]), edge_attributes={"weight": np.array([1, 2, 3, 4])}
    )


def edges(t: EdgeTable) -> list[Any]:
    return sorted(zip(np.minimum(t.source, t.target).tolist(), np.maximum(t.source, t.target).tolist(), strict=True))


def content(name: str) -> bytes:
    stream = io.BytesIO()
    assert gio.write(table(), stream, name) == []
    return stream.getvalue()


def read_bytes(data: bytes, name: str, **options: Any) -> EdgeTable:
    return gio.read(io.BytesIO(data), name, **options)


# Finding the format


@pytest.mark.parametrize(("name", "suffix"), SUFFIXES)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_every_suffix_is_read_and_written_plain_and_zipped(tmp_path: Path, name: str, suffix: str, zipped: str) -> None:
    path = tmp_path / f"graph{suffix.upper()}{zipped}"
    gio.write(table(), path)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(zipped)
    assert edges(gio.read(path)) == edges(table())
    assert edges(gio.read(str(path))) == edges(gio.read(path, name))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_bytes_depend_on_the_content_only(name: str, zipped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = content(name + zipped)
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert content(name + zipped) == first


def test_format_overrides_the_suffix(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    gio.write(table(), path, "gml")
    assert path.read_text().startswith("graph [")
    assert edges(gio.read(path, "gml")) == edges(table())


@pytest.mark.parametrize("name", ["graph", "graph.pdf", "graph.gz", "csv"])
def test_unknown_suffix_lists_the_formats_and_the_option(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("Dear reader,\nthis is no graph at all.\nYours\n")
    for call in (lambda: gio.read(path), lambda: gio.write(table(), path, force=True)):
        with pytest.raises(OptionError, match=r"graphml \(\.graphml \.xml\).*") as caught:
            call()
        assert "pass format=" in str(caught.value)
        assert str(path) in str(caught.value)


def test_unknown_format_name_is_refused() -> None:
    with pytest.raises(OptionError, match=r"format='excel': choose from csv, tsv"):
        gio.read("x.csv", "excel")


def test_stream_without_a_name_is_read_by_its_content_and_needs_a_format_to_be_written() -> None:
    assert gio.read(io.BytesIO(b"1 2\n")).n_nodes == 2
    with pytest.raises(OptionError, match=r"pass format=, one of csv"):
        gio.write(table(), io.BytesIO())


@pytest.mark.parametrize(
    ("name", "options"), [("gml", {"header": True}), ("mtx", {"comment": None}), ("csv", {"label": "id"})]
)
def test_option_without_a_meaning_for_the_format_is_refused(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=rf"{next(iter(options))}=.* has no meaning for the format '{name}'"):
        read_bytes(content(name), name, **options)


# Streams


def test_standard_input_is_read_and_unzipped(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (b"a,b\nb,c\n", gzip.compress(b"a,b\nb,c\n")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert gio.read("-", "csv").labels == ["a", "b", "c"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(FileError, match="standard input: the file is empty"):
        gio.read("-", "csv")


def test_a_real_pipe_is_read() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as w:
        w.write(gzip.compress(b"1 2\n2 3\n"))
    with os.fdopen(reader, "rb") as r:
        assert gio.read(r, "edgelist").n_nodes == 3


@pytest.mark.parametrize("name", ["csv", "csv.gz", "npz"])
def test_standard_output_gets_the_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(binary))
    gio.write(table(), "-", name)
    assert edges(read_bytes(binary.getvalue(), name)) == edges(table())


def test_text_streams_are_read_and_written() -> None:
    stream = io.StringIO()
    gio.write(table(), stream, "csv")
    assert stream.getvalue().startswith("source,target,weight\n0,1,1\n")
    stream.seek(0)
    assert edges(gio.read(stream, "csv")) == edges(table())
    with pytest.raises(FileError, match="takes text only"):
        gio.write(table(), io.StringIO(), "npz")


def test_user_streams_stay_open() -> None:
    stream = io.BytesIO()
    gio.write(table(), stream, "csv.gz")
    stream.seek(0)
    gio.read(stream, "csv")
    assert not stream.closed


@pytest.mark.parametrize("thing", [3, None, object()])
def test_what_is_neither_path_nor_stream_is_refused(thing: Any) -> None:
    with pytest.raises(OptionError, match="must be a path or an open file"):
        gio.read(thing, "csv")
    with pytest.raises(OptionError, match="must be a path or an open file"):
        gio.write(table(), thing, "csv")


# Reading what can't be opened


def test_missing_file_suggests_similar_names(tmp_path: Path) -> None:
    (tmp_path / "karate.csv").write_text("1,2\n")
    with pytest.raises(FileError, match=r"karat\.csv: there is no such file; similar names there: karate\.csv"):
        gio.read(tmp_path / "karat.csv")
    with pytest.raises(FileError, match="no such file, nor a directory"):
        gio.read(tmp_path / "nowhere" / "karate.csv")


@pytest.mark.parametrize("name", ["graph.csv", "graph.npz"])
def test_directory_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match="is a directory"):
        gio.read(tmp_path / name)
    with pytest.raises(FileError, match="is a directory"):
        gio.write(table(), tmp_path / name, force=True)


def test_unreadable_paths_are_refused() -> None:
    for path in ("bad\0name.csv", "x" * 5000 + ".csv"):
        with pytest.raises(FileError, match="can't be read"):
            gio.read(path)
        with pytest.raises(FileError, match="can't be written"):
            gio.write(table(), path)


# Writing all or nothing


def assert_untouched(folder: Path, before: dict[str, bytes]) -> None:
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_existing_output_is_refused_and_replaced_with_force(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("precious")
    path.chmod(0o640)
    with pytest.raises(FileError, match=r"exists already.*force=True"):
        gio.write(table(), path)
    assert_untouched(tmp_path, {"graph.csv": b"precious"})
    gio.write(table(), path, force=True)
    assert edges(gio.read(path)) == edges(table())
    assert path.stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 1


def test_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    gio.write(table(), tmp_path / "graph.csv")
    assert (tmp_path / "graph.csv").stat().st_mode == plain.stat().st_mode


def test_file_that_appears_during_the_work_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.csv"
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("precious"))
    with pytest.raises(FileError, match="exists already"):
        gio.write(table(), path)
    assert_untouched(tmp_path, {"graph.csv": b"precious"})


def test_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    gio.write(table(), tmp_path / "link.csv", force=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert edges(gio.read(tmp_path / "real.csv")) == edges(table())


class Failing(io.BufferedIOBase):
    """A file that is made, and fails when it is written to."""

    def __init__(self, made: Any, error: BaseException) -> None:
        self.made, self.error = made, error

    def write(self, _: Any) -> int:
        raise self.error

    def close(self) -> None:
        self.made.close()
        super().close()


@pytest.mark.parametrize("name", ["csv", "csv.gz", "npz", "graphml", "parquet"])
@pytest.mark.parametrize("when", ["write", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, when: str, error: BaseException
) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"graph.{name}"
    path.write_text("precious")
    made: list[Path] = []
    opened = Path.open

    def open_path(self: Path, mode: str = "r") -> Any:
        made.append(self)
        stream = opened(self, mode)
        return Failing(stream, error) if when == "write" else stream

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Path, "open", open_path)
    if when != "write":
        monkeypatch.setattr(*((os, "fsync") if when == "fsync" else (Path, "replace")), fail)
    expected = FileError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="No space left" if isinstance(error, OSError) else None):
        gio.write(table(), path, force=True)
    monkeypatch.undo()
    assert [draft.parent for draft in made] == [tmp_path]
    assert_untouched(tmp_path, {path.name: b"precious"})


def test_refused_content_leaves_nothing_behind(tmp_path: Path) -> None:
    directed = EdgeTable(2, np.array([0]), np.array([1]), directed=True)
    with pytest.raises(FileError, match=r"graph\.metis: METIS holds undirected graphs only"):
        gio.write(directed, tmp_path / "graph.metis")
    assert_untouched(tmp_path, {})


def test_refused_content_sends_nothing_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    binary = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(binary))
    bad = EdgeTable(2, np.array([0]), np.array([1]), labels=["a", "b\0"])
    with pytest.raises(FileError, match="standard output: a text file can't hold the zero byte"):
        gio.write(bad, "-", "csv")
    assert binary.getvalue() == b""


def test_outputs_that_cannot_be_made_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for path, message in (
        (tmp_path / "none" / "graph.csv", f"there is no directory {tmp_path / 'none'}"),
        (tmp_path / "file" / "graph.csv", "Not a directory"),
    ):
        with pytest.raises(FileError, match=message):
            gio.check_output(path)
        with pytest.raises(FileError, match=message):
            gio.write(table(), path)
    gio.check_output(tmp_path / "graph.csv")
    gio.check_output("-")
    monkeypatch.setattr(os, "access", lambda *_: False)  # for tests that run as root
    with pytest.raises(FileError, match="is not writable"):
        gio.write(table(), tmp_path / "graph.csv")
    assert_untouched(tmp_path, {"file": b""})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_devices_are_written_in_place(tmp_path: Path) -> None:
    gio.write(table(), "/dev/null", "csv")
    with pytest.raises(FileError, match="No space left"):
        gio.write(table(), "/dev/full", "csv")
    assert not Path("/dev/null").is_file()


def test_broken_pipe_on_a_stream_passes_for_the_caller_to_end_quietly() -> None:
    class Closed(io.RawIOBase):
        def write(self, _: Any) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        gio.write(table(), Closed(), "csv")


def test_failing_stream_is_a_file_error() -> None:
    class Broken(io.RawIOBase):
        def write(self, _: Any) -> int:
            raise OSError(5, "Input/output error")

    with pytest.raises(FileError, match="Input/output error"):
        gio.write(table(), Broken(), "csv")


# Hostile content


@pytest.mark.parametrize("name", NAMES)
def test_empty_files_are_refused(name: str) -> None:
    for data in (b"", gzip.compress(b"")):
        with pytest.raises(FileError, match="the file is empty"):
            read_bytes(data, name)


@pytest.mark.parametrize("name", TEXT_FORMATS)
@pytest.mark.parametrize("data", [b"\n \n", b"\xef\xbb\xbf", b"\t"])
def test_blank_files_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(FileError):
        read_bytes(data, name)


@pytest.mark.parametrize("name", NAMES)
def test_binary_junk_is_refused(name: str) -> None:
    junk = np.random.default_rng(0).bytes(5000)
    for data in (junk, content("npz") if name != "npz" else content("csv"), b"PAR1" + junk, gzip.compress(junk)):
        with pytest.raises(FileError):
            read_bytes(data, name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_truncated_gzip_is_refused(name: str, share: float) -> None:
    data = content(name + ".gz")
    with pytest.raises(FileError, match="cut off or damaged"):
        read_bytes(data[: max(3, int(share * len(data)))], name)


def test_damaged_gzip_is_refused() -> None:
    data = bytearray(gzip.compress(np.random.default_rng(0).bytes(1000).hex().encode()))
    for place in (20, len(data) // 2, len(data) - 6):
        broken = data.copy()
        broken[place] ^= 0x55
        with pytest.raises(FileError, match="cut off or damaged"):
            read_bytes(bytes(broken), "csv")


@pytest.mark.parametrize("name", ["mtx", "gml", "graphml", "gexf", "json", "metis", "npz", "parquet"])
def test_truncation_at_any_place_is_refused(name: str) -> None:
    data = content(name)
    last = len(data.rstrip())
    for end in range(1, last - (1 if name == "mtx" else 0)):
        if name in ("metis", "mtx") and data[:end].count(b"\n") == data.count(b"\n") - 1:
            break  # inside the last number, where what is left can be a graph
        with pytest.raises(FileError):
            read_bytes(data[:end], name)


@pytest.mark.parametrize("name", [name for name in TEXT_FORMATS if name not in ("graphml", "gexf")])
def test_zero_bytes_are_refused_with_their_line(name: str) -> None:
    data = content(name)
    with pytest.raises(FileError, match=r"line 2: is not text"):
        read_bytes(data.replace(b"\n", b"\n\0", 1), name)


@pytest.mark.parametrize("name", ["csv", "edgelist", "mtx", "gml", "pajek", "metis"])
def test_text_that_is_not_utf8_is_refused_with_its_line(name: str) -> None:
    with pytest.raises(FileError, match=r"line 3: byte 0xe9 is not UTF-8 text.*iconv"):
        read_bytes("% a\n% b\nb,caf\xe9\n".encode("latin1"), name)


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", ["csv", "edgelist", "mtx", "gml", "graphml", "pajek", "metis"])
def test_text_in_utf16_is_read_with_and_without_its_mark(name: str, code: str, zipped: bool) -> None:
    data = content(name)
    wide = data.decode().encode(code)
    again, plain = read_bytes(gzip.compress(wide) if zipped else wide, name), read_bytes(data, name)
    assert (again.n_nodes, again.source.tolist()) == (plain.n_nodes, plain.source.tolist())
    assert [again.label(i) for i in range(4)] == [plain.label(i) for i in range(4)]


def test_damaged_utf16_is_refused() -> None:
    with pytest.raises(FileError, match="begins as text in UTF-16, and is none from byte 8"):
        read_bytes("a,b\n".encode("utf-16")[:-2] + b"\x00\xd8\x0a\x00", "csv")


def test_byte_order_mark_is_no_part_of_the_first_cell() -> None:
    assert read_bytes("\ufeffsource,target\né,b\n".encode(), "csv").labels == ["é", "b"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_of_all_systems_are_read(end: bytes) -> None:
    assert read_bytes(content("csv").replace(b"\n", end), "csv").n_nodes == 4
    assert read_bytes(content("metis").replace(b"\n", end), "metis").n_nodes == 4


class Endless(io.RawIOBase):
    """A stream that never ends nor breaks a line."""

    def __init__(self, byte: bytes) -> None:
        self.byte, self.served = byte, 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        self.served += size
        return self.byte * size

    def peek(self, size: int) -> bytes:
        return self.byte * size


@pytest.mark.parametrize("name", [name for name in TEXT_FORMATS if name not in ("graphml", "gexf")])
def test_enormous_line_fails_before_it_is_read(name: str) -> None:
    stream = Endless(b"7")
    with pytest.raises(FileError, match="line 1: the line is longer than"):
        gio.read(stream, name)
    assert stream.served <= 1 << 27


def test_enormous_line_inside_gzip_fails_with_its_line() -> None:
    data = gzip.compress(b"1 2\n3 4\n" + b"5" * 10_000_000)
    with pytest.raises(FileError, match="line 3: the line is longer than"):
        read_bytes(data, "edgelist")


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % x SYSTEM "http://example.com/x.dtd"> %x;]>',
        '<!DOCTYPE x SYSTEM "http://example.com/x.dtd">',
    ],
)
def test_xml_entities_are_refused(doctype: str) -> None:
    data = f'<?xml version="1.0"?>\n{doctype}\n<graphml><graph><node id="&b;"/></graph></graphml>'
    with pytest.raises(FileError, match=r"line 2: the XML declares entities or refers to other files"):
        read_bytes(data.encode(), "graphml")


class Exploit:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was run",))


def test_pickles_in_npz_are_not_run() -> None:
    stream = io.BytesIO()
    np.savez(stream, format=np.array([Exploit()], object), shape=np.array([2, 2]), data=np.ones(1))
    for content, told in ((stream.getvalue(), "Python objects"), (pickle.dumps(Exploit()), "no npz archive")):
        with pytest.raises(FileError, match=told) as caught:
            read_bytes(content, "npz")
        assert "allow_pickle" not in str(caught.value)  # nothing to try: it would run the file's code


def test_index_arrays_of_a_hostile_sparse_matrix_are_checked() -> None:
    for indptr, indices in (([0, 9, 1], [0]), ([0, 1, 1], [7]), ([0, 1, 1], [-1])):
        stream = io.BytesIO()
        parts = {
            "indptr": np.array(indptr),
            "indices": np.array(indices),
            "data": np.ones(1),
            "shape": np.array([2, 2]),
        }
        np.savez(stream, format=np.array(b"csr"), **parts)
        with pytest.raises(FileError, match="damaged"):
            read_bytes(stream.getvalue(), "npz")


def test_archives_that_hold_no_graph_say_what_they_hold() -> None:
    stream = io.BytesIO()
    np.savez(stream, X=np.ones(3), y=np.ones(2))
    with pytest.raises(FileError, match=r"neither a graph.*\(arrays: 'X', 'y'\)"):
        read_bytes(stream.getvalue(), "npz")
    stream = io.BytesIO()
    np.save(stream, np.ones(3))
    with pytest.raises(FileError, match="a single array"):
        read_bytes(stream.getvalue(), "npz")


def test_damaged_table_in_npz_is_refused() -> None:
    with zipfile.ZipFile(io.BytesIO(content("npz"))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert set(parts) == {"source.npy", "target.npy", "edge_0.npy", "graphpri.npy"}
    long = io.BytesIO()
    np.save(long, np.arange(9))
    nested = io.BytesIO()
    np.save(nested, np.frombuffer(b"[" * 100_000, np.uint8))
    for name, data in [("source.npy", long), ("edge_0.npy", long), ("graphpri.npy", nested), ("target.npy", None)]:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for part, old in parts.items():
                if part != name:
                    archive.writestr(part, old)
                elif data is not None:
                    archive.writestr(part, data.getvalue())
        with pytest.raises(FileError, match="damaged"):
            read_bytes(stream.getvalue(), "npz")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("mtx", b"%%MatrixMarket matrix coordinate real general\n999999999999 999999999999 1\n1 2 1\n"),
        ("metis", b"999999999999 1\n2\n1\n"),
        ("pajek", b"*Vertices 999999999999\n"),
        ("pajek", b"*Vertices 1999999999\n*Edges\n1 2\n"),
        ("gml", b"graph [ node [ id " + b"9" * 5000 + b" ] ]"),
        ("gml", b"a [ " * 100_000),
        ("graphml", b"<graphml>" + b"<graph>" * 100_000),
    ],
)
def test_sizes_that_no_memory_can_hold_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(FileError):
        read_bytes(data, name)


def test_missing_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'graphpri\[parquet\]'"):
        gio.write(table(), io.BytesIO(), "parquet")


# Tables of cells under a header


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_tables_are_read_cell_by_cell_whatever_splits_them(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "subjects.csv.gz"
    path.write_bytes(
        gzip.compress(mark.join(["id", "age", "note"]).encode() + f"\n007{mark}31{mark}\n\n{mark}{mark}\n".encode())
    )
    table = read_table(path)
    assert table.columns == {"id": ["007"], "age": ["31"], "note": [""]}
    assert list(table.lines) == [2]
    assert str(table.source.error("too old", 2)) == f"{path}, line 2: too old"


def test_a_table_of_one_column_is_not_split_at_spaces() -> None:
    assert read_table(io.StringIO("name\nleft amygdala\nright amygdala\n")).columns == {
        "name": ["left amygdala", "right amygdala"]
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a\n1,2\n", "line 1: two columns are called 'a'"),
        ("a,\n1,2\n", "line 1: column 2 has no name"),
        ("a,b\n1,2,3\n", "line 2: the row has 3 cells where line 1 has 2"),
        ('a,b\n1,"2\n', "line 2: a quote is opened and never closed"),
        ("a,b\n,\n", "the table has a header and no rows"),
    ],
)
def test_broken_tables_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_table(io.StringIO(text))
