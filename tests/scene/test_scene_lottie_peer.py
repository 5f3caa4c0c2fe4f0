"""Lottie scenes draw the peer's pixels, frame by frame."""

import importlib.util
import json
import os

import pytest
from lottie_bench import (
    Memory,
    box,
    data_url,
    draw_all,
    expressed,
    layer,
    load,
    moving,
    peer_all,
    png,
    scene,
)

pytestmark = pytest.mark.oracle

GREEN, BLUE = png((0, 200, 0, 255)), png((0, 0, 200, 128))
INNER = {"id": "inner", "layers": [moving(), box("still")]}

SCENES = {
    "shapes": scene(moving(), box()),
    "translucent": scene(box(color=(1, 1, 1, 1))),
    "in point": scene(moving(), ip=3, op=9),
    "negative in point": scene(moving(), ip=-3, op=4),
    "out point between frames": scene(moving(), op=9.5),
    "in point between frames": scene(moving(), ip=0.5, op=9.75),
    "less than a frame": scene(moving(), op=0.4),
    "odd rate": scene(moving(), fr=29.97),
    "size between pixels": scene(moving(), w=64.5, h=48.9),
    "precomp": scene(layer(0, "pre", refId="inner", w=64, h=48), assets=[INNER]),
    "precomp twice": scene(
        layer(0, "one", refId="inner", w=64, h=48),
        layer(0, "two", refId="inner", w=64, h=48, st=4),
        assets=[INNER],
    ),
    "picture inside": scene(
        layer(2, "pic", refId="im"),
        assets=[{"id": "im", "w": 8, "h": 8, "u": "", "p": data_url(GREEN), "e": 1}],
    ),
    "picture beside": scene(
        layer(2, "pic", refId="im"),
        assets=[{"id": "im", "w": 8, "h": 8, "u": "images/", "p": "blue.png", "e": 0}],
    ),
    "picture in a folder with a slash": scene(
        layer(2, "pic", refId="im"),
        assets=[{"id": "im", "w": 8, "h": 8, "u": "/images/", "p": "blue.png", "e": 0}],
    ),
    "expression": scene(expressed("[10 + time * 30, 20]"), moving()),
    "expression with a counter": scene(
        expressed("var n = (typeof n == 'undefined' ? 0 : n) + 5; [10 + n, 20]")
    ),
    "markers": scene(moving(), markers=[{"cm": "mid", "tm": 2, "dr": 3}]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("lottie")
    (made / "images").mkdir()
    (made / "images" / "blue.png").write_bytes(BLUE)
    return str(made)


@pytest.fixture(scope="module")
def peers(folder):
    names = sorted(SCENES)
    paths = []
    for index, name in enumerate(names):
        paths.append(os.path.join(folder, f"scene-{index}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(SCENES[name], file)
    return dict(zip(names, peer_all(paths, folder), strict=True))


@pytest.mark.parametrize("name", sorted(SCENES))
def test_a_scene_draws_the_peers_frames(folder, peers, name):
    """As many frames as the peer's, and every pixel of them."""
    memory = Memory({"images/blue.png": BLUE})
    composition = load(SCENES[name], memory)

    assert draw_all(composition, memory, folder) == peers[name]


def test_the_peers_example_draws_its_frames_on_white(folder):
    """The example that the peer ships, with its default backdrop."""
    home = importlib.util.find_spec("nanoframes").submodule_search_locations[0]
    path = os.path.join(home, "examples", "lottie", "bounce.json")
    with open(path, "rb") as file:
        composition = load(file.read(), background="white")
    (theirs,) = peer_all([path], os.path.join(folder, "bounce"), "white")

    assert composition.frames == 30
    assert len(set(theirs)) > 20
    assert draw_all(composition, Memory(), folder) == theirs
