"""Damaged files kill workers at most: every variant ends in frames or in one clear message."""

from __future__ import annotations

import fuzzing
import pytest

SEED = 20261201
BATCH = 200


@pytest.mark.process
@pytest.mark.parametrize("batch", range(4))
def test_damaged_files_end_in_frames_or_in_one_message(tmp_path, batch):
    """Cut off, with bits flipped, nested another way: 800 variants, the same at every run."""
    numbers = range(batch * BATCH, (batch + 1) * BATCH)
    tally = fuzzing.run(tmp_path, SEED, numbers)

    assert tally.faults == []
    assert tally.variants == BATCH
    assert tally.frames > 10
    assert tally.refused > 10


def test_a_variant_is_known_by_its_number():
    """A finding can be made again."""
    found = fuzzing.cases()

    assert fuzzing.variant(found, SEED, 77) == fuzzing.variant(found, SEED, 77)
    assert fuzzing.variant(found, SEED, 77) != fuzzing.variant(found, SEED + 1, 77)
    assert {case.victim for case in found} >= {"wide.png", "tall.jpg", "child.nf.svg"}
