"""Kills and crowds: real processes, real signals, seeded moments."""

import contextlib
import json
import random
import subprocess

import pytest
import store_actor
from store_crowds import crowd, finish, kill_at_random, start

pytestmark = pytest.mark.process


def test_killed_writers_leave_whole_files_and_no_litter(tmp_path):
    """A tenth of `scripts/stress_store.py`: afterwards all is whole and the next build is right."""
    assert kill_at_random(tmp_path / "killed", kills=30, seed=20260701) >= 5


def test_a_crowd_with_too_little_room_has_misses_only(tmp_path):
    """Eight builders, two collectors and a scrubber; the limit is half of one build."""
    reports = crowd(tmp_path / "crowd", seconds=20)

    assert all(report["rounds"] >= 1 for report in reports["build"])
    assert sum(report["files"] for report in reports["collect"]) > 0
    assert sum(report["done"] for report in reports["scrub"]) > 0


def test_eight_builders_share_the_work(tmp_path):
    """They start together from empty and draw at most 1.3 times the distinct frames in all."""
    folder = tmp_path / "shared-work"
    folder.mkdir()
    builders = [start("share", folder, seed, 60) for seed in range(8)]
    drawn = [finish(builder, 90)["drawn"] for builder in builders]

    assert sum(drawn) >= store_actor.FRAMES
    assert sum(drawn) <= 1.3 * store_actor.FRAMES
    assert sum(count > 0 for count in drawn) >= 2


def test_a_killed_builder_gives_its_claims_back(tmp_path):
    """The lock is the kernel's: the others draw what it would have drawn."""
    folder = tmp_path / "killed-claims"
    folder.mkdir()
    chance = random.Random(7)
    for seed in range(6):
        builder = start("share", folder, seed, 60)
        assert builder.stdout.readline() == "ready\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            builder.wait(chance.uniform(0.05, 0.3))
        builder.kill()
        builder.communicate()

    assert finish(start("share", folder, 9, 60), 60)["drawn"] <= store_actor.FRAMES
    assert json.dumps(finish(start("share", folder, 9, 60), 60)) == '{"drawn": 0}'
