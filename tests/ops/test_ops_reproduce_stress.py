"""Builds under stress give the same bytes: a part of what `scripts/stress_build.py` does."""

from __future__ import annotations

import pytest
import stress_builds as stress
from opspace import MOVING, STILL, Space

EXPORT = '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n'


@pytest.fixture
def project(space: Space) -> Space:
    """Three compositions of many frames, so that there is time to disturb."""
    space.write("nfbuild.toml", EXPORT)
    for number in range(3):
        colour = f"#ff88{number}0"
        space.compose(
            f"m{number}",
            MOVING.replace("#ff8800", colour).replace('data-duration="1"', 'data-duration="6"')
            .replace('"t": 0.5', '"t": 5.9'),
        )  # fmt: skip
    space.compose("still", STILL)
    return space


@pytest.mark.process
def test_more_workers_than_cores_beside_a_hog(project: Space):
    """The same build again and again; the report of what was drawn is the same too."""
    done = stress.again_and_again(project.root, builds=3, seed=1)

    assert (done.builds, done.places) == (3, [])


@pytest.mark.process
def test_two_builds_of_one_project_at_once(project: Space):
    """They share a cache and a ledger, and neither spoils the other's."""
    done = stress.two_at_once(project.root, rounds=3)

    assert (done.builds, done.places) == (6, [])


@pytest.mark.process
@pytest.mark.skipif(not stress.has_children_file(), reason="finds workers through /proc")
def test_workers_killed_at_random(project: Space):
    """A frame whose worker was killed is drawn by another one, and comes out the same."""
    done = stress.workers_killed(project.root, builds=3, seed=1, every=0.15)

    assert done.killed >= 2
    assert (done.builds, done.places) == (3, [])


@pytest.mark.process
def test_a_slow_worker(project: Space):
    """Frames overtake each other by far more than chance would let them."""
    done = stress.one_slow(project.root, builds=2)

    assert (done.builds, done.places) == (2, [])
