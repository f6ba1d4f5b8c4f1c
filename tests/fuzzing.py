"""Damaged files of every format, with options, through the command line: looks for what must never happen.

Each run mutates a file that the library wrote itself, and gives it to a command in this process. Faults are tracebacks,
"internal error", an exit code that means nothing, a file left behind by a run that failed, and runs that take long or
much memory. A seed and a number name a run: ``python tests/fuzzing.py --seed 7 --only 1234`` repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.io

import graphpri
from graphpri import io as gio
from graphpri.cli import main

LONG = 10.0
"""Seconds of processor time that a run on a file of this size may take."""

MUCH = 700 << 20
"""Bytes by which the process may grow over all runs."""

LIMIT = "200MB"
"""What ``--memory`` allows."""

_OPTIONS = (
    *(
        "--weight none",
        "--weight cost",
        "--directed symmetrize",
        "--directed average",
        "--loops drop",
        "--parallel sum",
    ),
    *("--header", "--no-header", "--delimiter ,", "--delimiter tab", "--comment none", "--label id", "--label name"),
    *(f"--format {known.name}" for known in (*gio.FORMATS, gio.FOLDER, *gio.READ_ONLY)),
    *("--connected", "--source a --target b", "--negative abs", "--zero drop", "--variable A"),
)
_WORDS = (
    *(b"nan", b"inf", b"-1", b"0", b"1e999", b"99999999999999999999", b"2147483648", b"-", b"=1+1", b"'", b'"', b"\0"),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b",",
        b";",
        b"\t",
        b" ",
        b"#",
        b"%",
        b"[",
        b"]",
        b"<",
        b"&x;",
        b"]]>",
    ),
    *("é".encode(), "é".encode("latin1"), b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"*Edges", b"<node/>", b"node [", b""),
)


def originals(folder: Path) -> None:
    """Write a small graph in every format."""
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(7, 1)
    table = graphpri.EdgeTable(
        7,
        u,
        v,
        labels=["anna", "ben", "=c", "é", "007", "NA", "x"],
        edge_attributes={"weight": rng.random(u.size).round(3), "cost": np.arange(u.size)},
        node_attributes={"club": ["p", "q", "p", None, "q", "p", "q"]},
    )
    names = [f"a{known.suffixes[0]}" for known in (*gio.FORMATS, gio.FOLDER)]
    for name in (*names, "a.edges", "a.csv.gz", "a.npz.gz"):
        graphpri.write(table, folder / name)
    square = np.zeros((7, 7))
    square[u, v] = square[v, u] = rng.random(u.size)
    np.savetxt(folder / "a.matrix.txt", square)
    np.savetxt(folder / "a.edge", square)
    np.save(folder / "a.npy", square)
    scipy.io.savemat(folder / "a.mat", {"A": square, "name": "seven"})
    ends = list(zip(u.tolist(), v.tolist(), strict=True))
    (folder / "a.sif").write_text("".join(f"n{a}\tpp\tn{b}\n" for a, b in ends))
    (folder / "a.dot").write_text(
        "graph {\n" + "".join(f'"n {a}" -- n{b} [weight={a + 1}];\n' for a, b in ends) + "}\n"
    )
    (folder / "a.adjlist").write_text("".join(f"{a} {' '.join(map(str, range(a + 1, 7)))}\n" for a in range(7)))
    rows = [f'"n, {a}","n ""{b}""",{w}' for (a, b), w in zip(ends, rng.random(u.size), strict=True)]
    (folder / "quoted.csv").write_text("\n".join(["source,target,weight", *rows]) + "\n")
    times = "".join(f"{a} {b} {1082008561 + a}\n" for a, b in ends)
    (folder / "out.times").write_text("% sym unweighted\n" + times)


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """The content with one to four changes."""
    for _ in range(int(rng.integers(1, 5))):
        data = _changed(data, rng)
    return data


def _changed(data: bytes, rng: np.random.Generator) -> bytes:
    at, length = int(rng.integers(0, len(data) + 1)), int(rng.integers(1, 40))
    part = data[at : at + length]
    match int(rng.integers(0, 8)):
        case 0:
            return data[:at] + bytes(rng.integers(0, 256, min(length, 4), np.uint8)) + data[at + min(length, 4) :]
        case 1:
            return data[:at] + data[at + length :]
        case 2:
            return data[:at] + part * int(rng.integers(2, 6)) + data[at + length :]
        case 3:
            return data[:at]
        case 4:
            word = _WORDS[int(rng.integers(0, len(_WORDS)))]
            return data[:at] + word + data[at + (length if rng.random() < 0.5 else 0) :]
        case 5:
            lines = data.split(b"\n")
            i, j = rng.integers(0, len(lines), 2)
            lines[i], lines[j] = lines[j], lines[i]
            return b"\n".join(lines)
        case 6:
            numbers = [i for i, byte in enumerate(data) if 48 <= byte < 58]
            if not numbers:
                return data
            i = numbers[int(rng.integers(0, len(numbers)))]
            return data[:i] + str(rng.integers(0, 10 ** int(rng.integers(1, 19)))).encode() + data[i + 1 :]
        case _:
            return data[:at] + part.swapcase() + data[at + length :]


def _damaged(source: Path, folder: Path, rng: np.random.Generator) -> Path:
    """A damaged copy of a file, or of a folder of files; of what is compressed, sometimes the content."""
    target = folder / source.name
    if source.is_dir():
        shutil.copytree(source, target)
        files = sorted(target.iterdir())
        chosen = files[int(rng.integers(0, len(files)))]
        if rng.random() < 0.1:
            chosen.unlink()
        else:
            chosen.write_bytes(mutated(chosen.read_bytes(), rng))
        return target
    data = source.read_bytes()
    if source.suffix == ".gz" and rng.random() < 0.7:
        target.write_bytes(gzip.compress(mutated(gzip.decompress(data), rng), 1))
    else:
        target.write_bytes(mutated(data, rng))
    return target


def run(number: int, seed: int, files: list[Path], folder: Path) -> Iterator[str]:
    """Do one run; yields its faults."""
    rng = np.random.default_rng([seed, number])
    source = _damaged(files[int(rng.integers(0, len(files)))], folder, rng)
    chosen = rng.choice(len(_OPTIONS), int(rng.integers(0, 4)), replace=False)
    options = [word for i in chosen for word in _OPTIONS[i].split()]
    output = folder / f"out{rng.choice(['.csv', '.npz', '.net', '.gml', '.graphml', '.mtx', '.csv.gz'])}"
    command = ["sparsify", str(source), "-o", str(output), "--keep", "0.5", "--method", "random", "--memory", LIMIT]
    said, printed = io.StringIO(), io.StringIO()
    begun = time.process_time()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
            code = main([*command, *options])
    except BaseException:  # SystemExit and interrupts are faults as well
        yield traceback.format_exc()
        return
    taken, text = time.process_time() - begun, said.getvalue()
    words = f"{source.name} {' '.join(options)}: exit {code}: {text.strip()[-300:]}"
    if "internal error" in text or "Traceback" in text or code not in (0, 2):
        yield words
    if (code == 0) != output.exists():
        yield f"{'no file' if code == 0 else 'a file left behind'}: {words}"
    if left := [path.name for path in folder.iterdir() if path not in (source, output)]:
        yield f"{', '.join(left)} left behind: {words}"
    if taken > LONG:
        yield f"{taken:.1f} s: {words}"


def fuzz(seconds: float, seed: int = 0, only: int | None = None) -> tuple[int, list[str]]:
    """Run for some seconds of processor time; gives the number of runs, and their faults with their numbers."""
    faults: list[str] = []
    debug = os.environ.pop("GRAPHPRI_DEBUG", None)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as name:
        kept, work = Path(name, "originals"), Path(name, "work")
        kept.mkdir()
        originals(kept)
        files, begun, number = sorted(kept.iterdir()), time.process_time(), only or 0
        while time.process_time() - begun < seconds:
            work.mkdir()
            faults += [f"seed {seed}, run {number}: {fault}" for fault in run(number, seed, files, work)]
            shutil.rmtree(work)
            number += 1
            if only is not None:
                break
    if debug is not None:
        os.environ["GRAPHPRI_DEBUG"] = debug
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (1 if sys.platform == "darwin" else 1024)
    if grown > MUCH:
        faults.append(f"the process has grown by {grown >> 20} MB")
    return number, faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    runs, found = fuzz(given.seconds, given.seed, given.only)
    print(*found, f"{runs} runs, {len(found)} faults", sep="\n")
    sys.exit(bool(found))
