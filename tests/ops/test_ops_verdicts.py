"""What `build` and `verify` say when something moved: an edit is never taken for the alarm."""

from __future__ import annotations

import json
import shutil

import pytest
from opspace import STILL, Space

FLIPPED = "doubles:FlippingWorker"
FLIPPED_STILL = "doubles:FlippingStill"


@pytest.fixture
def recorded(space: Space) -> Space:
    space.compose("moving")
    space.compose("still", STILL)
    assert space.build().exit == 0
    return space


def verdicts(ran):
    return {row.name: row.verdict for row in ran.report.rows}


def test_an_untouched_project_matches(recorded):
    """A green gate: everything was drawn and everything agreed."""
    ran = recorded.verify()

    assert verdicts(ran) == {"moving": "match", "still": "match"}
    assert ran.report.compared == 15
    assert ran.exit == 0


def test_an_edit_is_changed_and_names_the_source(recorded):
    """The reasons say which part moved, and what in it."""
    recorded.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    ran = recorded.verify()
    row = ran.row("moving")

    assert row.verdict == "changed"
    assert {(reason["part"], reason["what"]) for reason in row.reasons} == {("source", "#box@fill")}
    assert row.moved == [(0, 9)]
    assert ran.exit == 1


def test_a_flipped_pixel_with_equal_inputs_is_a_regression(recorded):
    """The alarm: same inputs, other pixels."""
    ran = recorded.verify(target=FLIPPED)

    assert set(verdicts(ran).values()) == {"regression"}
    assert all(row.reasons == [] for row in ran.report.rows)
    assert ran.exit == 1


def test_a_regression_beside_an_edit_is_still_found(recorded):
    """A frame whose scene did not move and whose picture did is the alarm, whatever else moved."""
    recorded.edit("compositions/moving.nf.svg", '"translate": [40', '"translate": [41')
    ran = recorded.verify(target=FLIPPED)
    row = ran.row("moving")

    assert row.verdict == "regression"
    assert row.moved == [(0, 0)]


def test_a_regression_stays_red_on_every_build(recorded):
    """Red stays red: an alarm does not go away by building again with a warm cache."""
    shutil.rmtree(recorded.root / "cache")
    runs = [recorded.build(target=FLIPPED) for _ in range(3)]

    assert [run.exit for run in runs] == [1, 1, 1]
    assert all(set(verdicts(run).values()) == {"regression"} for run in runs)


def test_a_lying_cache_is_no_regression(recorded):
    """Before the alarm is said the frames are drawn afresh: a cache that lied is replaced."""
    shutil.rmtree(recorded.root / "cache")
    ledger = {path: path.read_bytes() for path in (recorded.root / "ledger").rglob("*.json")}
    recorded.build(target=FLIPPED)
    ran = recorded.build()

    assert verdicts(ran) == {"moving": "match", "still": "match"}
    assert ran.report.cache_lied == 7
    assert ran.exit == 0
    assert ledger == {path: path.read_bytes() for path in ledger}


def test_an_edit_is_written_and_reviewed(recorded):
    """`build` updates an entry after an edit, as a lock file is updated."""
    before = recorded.read("ledger/compositions/moving.json")
    recorded.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    ran = recorded.build()

    assert ran.row("moving").written
    assert ran.row("moving").verdict == "changed"
    assert recorded.read("ledger/compositions/moving.json") != before
    assert recorded.verify().exit == 0


def test_locked_writes_nothing_and_stays_red(recorded):
    """`--locked` fails where an entry would be updated, as often as it is asked."""
    before = recorded.read("ledger/compositions/moving.json")
    recorded.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    runs = [recorded.build(locked=True) for _ in range(3)]

    assert [run.exit for run in runs] == [1, 1, 1]
    assert recorded.read("ledger/compositions/moving.json") == before


def test_ci_is_locked_unless_it_records(recorded, monkeypatch):
    """A machine that nobody watches writes no promise."""
    recorded.compose("new", STILL.replace("#203040", "#203041"))
    locked = recorded.run("build", CI="true")
    recording = recorded.run("build", "--record", CI="true")

    assert (locked.returncode, recording.returncode) == (1, 0)


def test_a_missing_entry_and_an_orphan_fail_the_gate(recorded):
    """The ledger's shape is part of the gate."""
    (recorded.root / "ledger/compositions/moving.json").rename(
        recorded.root / "ledger/compositions/gone.json"
    )
    ran = recorded.verify()

    assert verdicts(ran)["moving"] == "missing"
    assert "orphaned" in verdicts(ran).values()
    assert ran.exit == 1


def test_nothing_compared_is_a_failure(space):
    """A gate that looked at nothing is not green."""
    assert space.verify().exit == 1


def test_a_renamed_composition_takes_its_entry_along(recorded):
    """A rename is no new promise."""
    old = recorded.root / "compositions/moving.nf.svg"
    old.rename(old.with_name("renamed.nf.svg"))
    ran = recorded.build()

    assert ran.rendered == []
    assert not (recorded.root / "ledger/compositions/moving.json").exists()
    assert (recorded.root / "ledger/compositions/renamed.json").exists()


def test_a_sample_never_passes_for_a_whole(recorded):
    """A sample is marked, and does not enter the ledger as a film."""
    ran = recorded.verify(samples=3)

    assert ran.report.sampled
    assert ran.exit == 0
    assert json.loads(recorded.run("verify", "--samples", "3", "--json").stdout)["sampled"] is True


def test_a_toolchain_that_draws_otherwise_is_not_recorded(recorded, monkeypatch):
    """Another renderer's picture is taken by a person, never by a build."""
    from nfbuild.ops.run import session
    from nfbuild.ops.run.toolchain import read_toolchain

    def other():
        from nfbuild.dataclasses import replace

        real = read_toolchain()
        return replace(real, base={**real.base, "libthorvg": "0" * 64}, _parts={})

    monkeypatch.setattr(session, "read_toolchain", other)
    before = recorded.read("ledger/compositions/moving.json")
    same = recorded.verify()
    moved = recorded.verify(target=FLIPPED)
    built = recorded.build(target=FLIPPED)

    assert verdicts(same) == {"moving": "match", "still": "match"}
    assert all(row.identity_moved for row in same.report.rows)
    assert set(verdicts(moved).values()) == {"changed"}
    reasons = {(r["part"], r["what"]) for row in moved.report.rows for r in row.reasons}
    assert reasons == {("toolchain", "libthorvg")}
    assert built.exit == 0
    assert recorded.read("ledger/compositions/moving.json") == before
