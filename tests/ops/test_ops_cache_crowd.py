"""Whole programs on one cache: killed at any moment, and many at once."""

from __future__ import annotations

import pytest
from cache_crowds import crowd, kill_at_random
from cache_space import DISTINCT

pytestmark = pytest.mark.process


def test_killed_programs_leave_whole_files_and_no_litter(tmp_path):
    """60 builds, uploads and collections killed: all is whole, the next build equals a cold one."""
    seen = kill_at_random(tmp_path, kills=60, seed=20260701)

    assert seen["killed"] >= 60
    # A build leaves a folder to stand in and at most one file of each writer, until the next.
    assert seen["litter"] <= 40


def test_eight_builds_from_empty_draw_each_frame_once(tmp_path):
    """Eight that start together draw at most 1.3 times the distinct frames in total."""
    reports = crowd(tmp_path / "crowd", seconds=0, builders=8)

    drawn = sum(report["drawn"] for report in reports["build"])
    assert DISTINCT <= drawn <= 1.3 * DISTINCT


def test_a_crowd_with_too_little_room_has_misses_only(tmp_path):
    """Builds, collectors and a scrubber, a limit below one build: right, and nobody hangs."""
    reports = crowd(tmp_path / "crowd", seconds=20, builders=8, collectors=2, scrubbers=1)

    assert sum(report["rounds"] for report in reports["build"]) > 8
    assert sum(report["bad"] for report in reports["build"]) == 0
    assert sum(report["gone"] for report in reports["collect"]) > DISTINCT
    assert sum(report["drawn"] for report in reports["build"]) > 2 * DISTINCT
