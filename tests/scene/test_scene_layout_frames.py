"""Laid out text through time: timelines, windows, fades and frame text, frame by frame."""
# ruff: noqa: E501, ISC004  one film a line

import os
import re
import subprocess
import sys

import pytest
from layout_bench import sarasa
from layout_cases import BASE
from world import World

pytestmark = pytest.mark.oracle

FADE = 'data-start="0.2" data-duration="0.6" data-fade="0.3"'
CHIP = 'data-bg="#ffe0c0"'

MOVE = """{"target": "#a", "keyframes": [
  {"t": 0, "opacity": 0.2, "fill": "#ff0000", "transform": {"translate": [0, 5]}},
  {"t": 0.9, "opacity": 1, "fill": "#00ff40", "transform": {"translate": [40, 25]}}]}"""

FILMS = {
    "chip fades": (f'<text id="a" x="40" y="60" {BASE} {CHIP} {FADE}>Brake</text>', ""),
    "chip moves": (f'<text id="a" x="40" y="60" {BASE} {CHIP}>Brake</text>', MOVE),
    "wrap fades": (
        f'<text id="a" x="40" y="60" {BASE} data-wrap="90" {FADE}>over and under</text>',
        "",
    ),
    "wrap with chip moves": (
        f'<text id="a" x="40" y="60" {BASE} {CHIP} data-wrap="90">over and under</text>',
        MOVE,
    ),
    "wrap fades while it moves": (
        f'<text id="a" x="40" y="60" opacity="0.9" {BASE} data-wrap="90" {FADE}>over 上 under</text>',
        MOVE,
    ),
    "curve moves": (
        f'<text id="a" {BASE} data-curve-d="M20 50C90 10 150 10 200 60">along</text>',
        MOVE,
    ),
    "circle fades": (f'<text {BASE} data-curve-circle="100,80,50" {FADE}>ROUND</text>', ""),
    "fit shows for a while": (
        f'<text x="40" y="60" {BASE} {CHIP} data-fit="70" data-start="0.3" data-duration="0.3">'
        "state changing</text>",
        "",
    ),
    "frame text in a chip": (
        f'<text x="40" y="60" {BASE} {CHIP} data-frame-text="t {{second:.2f}} of {{frames}}"/>',
        "",
    ),
    "frame text wrapped": (
        f'<text x="40" y="60" {BASE} {CHIP} data-wrap="60" data-frame-text="frame {{frame}} now"/>',
        "",
    ),
    "frame text on a circle": (
        f'<text {BASE} data-curve-circle="100,80,50" data-frame-text="{{frame:05d}}"/>',
        "",
    ),
    "chip in a moving group": (
        f'<g id="a"><text x="40" y="60" {BASE} {CHIP}>inside</text></g>',
        MOVE,
    ),
    "raster text without a handler": (
        f'<text id="a" x="40" y="60" {BASE} {CHIP} data-raster="tex" {FADE}>by font</text>',
        "",
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    made = World(folder, folder, [sarasa()])
    yield made
    made.close()


def film(body, timeline):
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="240" data-height="160" data-fps="10"'
        f' data-duration="1">{body}<script type="application/nanoframes+json"><![CDATA['
        f'{{"animations": [{timeline}]}}]]></script></svg>'
    )


@pytest.fixture(scope="module")
def peers(world):
    """The peer's frames as documents, made by one process."""
    names = sorted(FILMS)
    paths = []
    for index, name in enumerate(names):
        paths.append(os.path.join(world.folder, f"film-{index}.nf.svg"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(film(*FILMS[name]))
    run = (
        "import sys; from nanoframes.cli import main\n"
        "for p in sys.argv[1:]:"
        " main(['svg', p, '--all', '--with-measure', '-o', p + '.frames'])"
    )
    subprocess.run([sys.executable, "-c", run, *paths], check=True, stdout=subprocess.DEVNULL)
    return {name: _documents(f"{path}.frames") for name, path in zip(names, paths, strict=True)}


def _documents(folder):
    documents = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            family = f'font-family="{sarasa().digest}"'
            documents.append(re.sub(r'font-family="[^"]*"', family, file.read()).encode())
    return documents


@pytest.mark.parametrize("name", sorted(FILMS))
def test_every_frame_of_a_laid_out_text_is_the_peers(world, peers, name):
    """Ten frames, each drawn from both documents by one rasterizer."""
    composition = world.text(film(*FILMS[name]))
    drawn = [world.draw(composition.bake(number)) for number in range(composition.frames)]

    assert len(peers[name]) == composition.frames == 10
    for number, theirs in enumerate(peers[name]):
        assert drawn[number] == world.rasterizer.draw(theirs, 240, 160), f"frame {number}"
