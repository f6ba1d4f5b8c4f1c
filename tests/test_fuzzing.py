"""Damaged files end in a message, whatever the format and the options; ``make fuzz`` looks for longer."""

from __future__ import annotations

from pathlib import Path

import fuzzing
from graphpri import io as gio


def test_damaged_files_end_in_messages() -> None:
    runs, faults = fuzzing.fuzz(seconds=3, seed=0)
    assert not faults, "\n".join(faults)
    assert runs > 20


def test_a_seed_and_a_number_repeat_a_run() -> None:
    import numpy as np

    data = bytes(range(200)) * 3
    first, second = (fuzzing.mutated(data, np.random.default_rng([7, 3])) for _ in range(2))
    assert first == second != data


def test_every_format_is_damaged(tmp_path: Path) -> None:
    fuzzing.originals(tmp_path)
    found = {gio.find_format(path, None)[0].name for path in tmp_path.iterdir() if not path.name.startswith("out.")}
    assert found == {known.name for known in (*gio.FORMATS, gio.FOLDER, *gio.READ_ONLY)}
