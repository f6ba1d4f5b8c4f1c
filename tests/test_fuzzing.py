"""Damaged files end in a message, whatever the format and the options; ``make fuzz`` looks for longer."""

from __future__ import annotations

import fuzzing


def test_damaged_files_end_in_messages() -> None:
    runs, faults = fuzzing.fuzz(seconds=15, seed=0)
    assert not faults, "\n".join(faults)
    assert runs > 20


def test_a_seed_and_a_number_repeat_a_run() -> None:
    import numpy as np

    data = bytes(range(200)) * 3
    first, second = (fuzzing.mutated(data, np.random.default_rng([7, 3])) for _ in range(2))
    assert first == second != data
