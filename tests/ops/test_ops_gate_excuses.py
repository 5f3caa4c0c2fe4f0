"""Excuses end to end: measured on recorded frames, bounded, dated, and never for anything else."""

from __future__ import annotations

import datetime as dt
import shutil

import pytest
from gate_space import other_toolchain, verdicts, verify_with
from opspace import STILL, Space

from nfbuild.ops.run.toolchain import read_toolchain

LANE = read_toolchain().lane
EXCUSED = f"""[verify.excused."film"]
lanes = ["{LANE}"]
reason = "glyph edges of another build"
until = 2027-06-30
max_pixels = 5
max_step = 2
"""
LAST = dt.date(2027, 6, 30)
EARLY = dt.date(2027, 1, 10)


@pytest.fixture
def excused(tmp_path, monkeypatch) -> Space:
    """A recorded film with an excuse, on a machine whose rasterizer is another one by now."""
    space = Space(tmp_path / "project", EXCUSED)
    space.compose("film", STILL)
    assert space.build().exit == 0
    other_toolchain(monkeypatch, libthorvg="ab" * 32)
    return space


def test_a_difference_inside_the_bounds_is_excused_and_said(excused):
    """Five pixels by two steps: excused, with what was measured."""
    ran = verify_with(excused, "Still|pixels=5,2", today=EARLY)
    row = ran.row("film")

    assert (row.verdict, ran.exit) == ("excused", 0)
    assert row.excuse["outcome"] == "holds"
    assert (row.excuse["frames"], row.excuse["pixels"], row.excuse["step"]) == (5, 5, 2)
    assert ran.report.warnings == []


@pytest.mark.parametrize("fault", ["pixels=6,2", "pixels=5,3"])
@pytest.mark.parametrize("fail_on", ["changed", "regression"])
def test_one_pixel_or_one_step_beyond_fails(excused, fault, fail_on):
    """An excuse that is exceeded is dead: it fails the gate whatever the gate is asked."""
    ran = verify_with(excused, f"Still|{fault}", today=EARLY, fail_on=fail_on)
    row = ran.row("film")

    assert (row.verdict, ran.exit) == ("changed", 1)
    assert row.excuse["outcome"] == "exceeded"


@pytest.mark.parametrize(
    ("today", "code", "outcome", "warned"),
    [
        (LAST - dt.timedelta(days=15), 0, "holds", False),
        (LAST - dt.timedelta(days=14), 0, "holds", True),
        (LAST, 0, "holds", True),
        (LAST + dt.timedelta(days=1), 1, "expired", False),
    ],
)
def test_an_excuse_lives_to_its_last_day_and_warns_before(excused, today, code, outcome, warned):
    """The clock is injected: warned of fourteen days before, dead the day after."""
    ran = verify_with(excused, "Still|pixels=2,1", today=today)

    assert (ran.exit, ran.row("film").excuse["outcome"]) == (code, outcome)
    assert [one["code"] for one in ran.report.warnings] == ["excuse.ends"] * warned


def test_an_expired_excuse_fails_a_gate_that_asks_for_regressions_only(excused):
    """`--fail-on regression` still fails on a dead excuse."""
    late = LAST + dt.timedelta(days=1)

    assert verify_with(excused, "Still|pixel", today=late, fail_on="regression").exit == 1


def test_without_recorded_frames_it_cannot_be_judged_and_says_so(excused):
    """Nothing measured, nothing excused."""
    shutil.rmtree(excused.root / "cache")
    ran = verify_with(excused, "Still|pixel", today=EARLY)
    row = ran.row("film")

    assert (row.verdict, ran.exit) == ("changed", 1)
    assert row.excuse["outcome"] == "unmeasured"
    assert "in no cache" in row.excuse["fact"]


def test_recorded_frames_are_found_in_a_shared_tier(tmp_path, monkeypatch):
    """A fresh machine judges an excuse by the frames that a tier keeps."""
    tier = tmp_path / "tier"
    tier.mkdir()
    shared = f'[[cache.shared]]\nurl = "file://{tier}"\nmode = "read-write"\n'
    space = Space(tmp_path / "project", EXCUSED + shared)
    space.compose("film", STILL)
    space.build()
    shutil.rmtree(space.root / "cache")
    other_toolchain(monkeypatch, libthorvg="ab" * 32)
    ran = verify_with(space, "Still|pixels=5,2", today=EARLY)

    assert (ran.row("film").verdict, ran.exit) == ("excused", 0)


def test_an_edit_is_never_excused(excused):
    """Source moved too: the excuse is refused by name."""
    excused.edit("compositions/film.nf.svg", "#203040", "#203041")
    ran = verify_with(excused, "", today=EARLY)

    assert ran.row("film").verdict == "changed"
    assert ran.row("film").excuse["outcome"] == "refused"


def test_a_regression_is_never_excused(tmp_path):
    """Nothing declared moved: that is the alarm, excuse or not."""
    space = Space(tmp_path / "project", EXCUSED)
    space.compose("film", STILL)
    space.build()
    ran = verify_with(space, "Still|pixel", today=EARLY)

    assert (ran.row("film").verdict, ran.exit) == ("regression", 1)
    assert ran.row("film").excuse["outcome"] == "refused"


def test_a_frame_that_draws_otherwise_when_measured_is_a_regression(excused, tmp_path):
    """A drawing that does not repeat itself is found also while an excuse is measured."""
    seen = tmp_path / "seen"
    seen.mkdir()
    ran = verify_with(excused, f"Still|flaky={seen},2", today=EARLY)

    assert (ran.row("film").verdict, ran.exit) == ("regression", 1)
    assert "unsound key" in ran.row("film").note


def test_excuses_that_nothing_needs_are_reported(tmp_path):
    """One whose film matches again, and one that names no composition."""
    space = Space(tmp_path / "project", EXCUSED + EXCUSED.replace('"film"', '"gone"'))
    space.compose("film", STILL)
    space.build()
    ran = verify_with(space, "", today=EARLY)

    assert verdicts(ran) == {"film": "match"}
    assert ran.exit == 0
    assert sorted(one["code"] for one in ran.report.warnings) == [
        "excuse.nameless",
        "excuse.unneeded",
    ]


def test_an_excuse_of_another_lane_excuses_nothing_here(tmp_path, monkeypatch):
    """Lanes are named in the excuse."""
    space = Space(tmp_path / "project", EXCUSED.replace(LANE, "macos-arm64"))
    space.compose("film", STILL)
    space.build()
    other_toolchain(monkeypatch, libthorvg="ab" * 32)
    ran = verify_with(space, "Still|pixel", today=EARLY)

    assert (ran.row("film").verdict, ran.row("film").excuse, ran.exit) == ("changed", None, 1)
