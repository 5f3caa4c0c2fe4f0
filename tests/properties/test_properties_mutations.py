"""Sound and tight: a thousand seeded edits of every kind of input, against real drawings.

`scripts/mutations.py` is the long form. `NFBUILD_MUTATION_SEED` takes another seed.
"""

import os

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.process]

MUTATIONS = 1000
SEED = os.environ.get("NFBUILD_MUTATION_SEED", "ordinary")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The run, and the broken identities that looked on."""
    from mutation_bench import Bench
    from mutation_controls import controls
    from mutation_run import Run

    bench = Bench(tmp_path_factory.mktemp("mutations"))
    looking = controls()
    try:
        report = Run(bench, SEED, looking).run(MUTATIONS)
    finally:
        bench.close()
    print(report.table())
    return report, looking


def test_equal_keys_mean_equal_pixels(ran):
    """No frame key and no composition id is equal where a pixel differs, whoever draws."""
    report, _ = ran

    assert report.unsound == []
    assert report.mutations == MUTATIONS


def test_the_oracle_draws_what_is_drawn_here(ran):
    """What is drawn is the author's document: outside the table of departures, byte for byte."""
    report, _ = ran

    assert report.disagreements == []
    assert report.oracle_frames > 10 * MUTATIONS


def test_most_mutations_are_judged(ran):
    """A run in which nothing was drawn, moved, or seen by the oracle would prove nothing."""
    from mutation_edits import KINDS

    report, _ = ran
    refused = sum(row.refused for row in report.rows.values())
    moved = sum(row.moved for row in report.rows.values())
    silent = sum(report.silent.values())

    assert set(report.rows) == set(KINDS)
    assert refused < MUTATIONS / 20
    assert silent < MUTATIONS / 5
    assert moved > 2 * MUTATIONS


def test_equal_pixels_mean_equal_keys(ran):
    """Over the kinds that write one picture differently, with equal weight, at most one in ten."""
    shares, mean = ran[0].tightness()

    assert len(shares) >= 15
    assert mean <= 0.1, shares


def test_an_edit_costs_the_frames_that_it_moves(ran):
    """Rendered frames are at most 1.1 times the frames that moved; holds may make it less."""
    distinct, _ = ran[0].cost()

    assert distinct <= 1.1


def test_every_broken_identity_is_caught(ran):
    """The suite that lets one of them through is no suite."""
    _, looking = ran

    assert len(looking) >= 6
    assert [control.name for control in looking if control.caught is None] == []
