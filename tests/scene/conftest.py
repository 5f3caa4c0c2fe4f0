"""Fixtures of the scene's tests: the peer's files and face, and a world over a folder."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture(scope="session")
def peer_face():
    from world import face_of, peer_folder

    with open(peer_folder("fonts", "Sarasa Mono SC.ttf"), "rb") as file:
        return face_of(file.read(), "Sarasa Mono SC")


@pytest.fixture
def make_world(tmp_path, peer_face):
    """Build worlds over folders; all of them are closed at the end."""
    from world import World

    made = []

    def make(folder):
        staging = tmp_path / f"staging{len(made)}"
        staging.mkdir()
        made.append(World(folder, staging, [peer_face]))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world, tmp_path):
    """A world over an empty folder; `world.folder` is where to put files."""
    folder = tmp_path / "project"
    folder.mkdir()
    return make_world(folder)
