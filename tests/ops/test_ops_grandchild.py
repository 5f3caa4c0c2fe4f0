"""A change deep inside: exactly the frames that show it are drawn again."""

from __future__ import annotations

import base64
import importlib.util
from pathlib import Path

import pytest
from opspace import HEAD
from test_ops_never_stale import png

FACES = Path(importlib.util.find_spec("font_source_sans_pro").submodule_search_locations[0])

# Ten frames, each different from the others. The child shows in frames 2 to 7, and in it the
# grandchild from 3 to 6; the grandchild's clock is the parent's less 0.3 s.
PARENT = f"""{HEAD} data-duration="1">
  <rect id="run" width="3" height="3" fill="#fff"/>
  <image href="../parts/child.nf.svg" width="64" height="36" data-start="0.2"
         data-duration="0.5"/>
  <script type="application/nanoframes+json">{{"animations": [{{"target": "#run", "keyframes": [
    {{"t": 0, "transform": {{"translate": [0, 0]}}}},
    {{"t": 1, "transform": {{"translate": [40, 0]}}}}]}}]}}</script>
</svg>"""

CHILD = f"""{HEAD} data-duration="1">
  <image href="deep/grandchild.nf.svg" width="64" height="36" data-start="0.1"
         data-duration="0.3"/>
</svg>"""


def face(name):
    data = (FACES / "files" / f"SourceSansPro-{name}.ttf").read_bytes()
    return base64.b64encode(data).decode()


GRANDCHILD = f"""{HEAD} data-duration="1">
  <style>@font-face{{font-family:'Own';src:url(data:font/ttf;base64,FACE)}}</style>
  <image href="dot.png" x="4" y="4" width="8" height="8" data-start="0.1" data-duration="0.1"/>
  <text x="20" y="30" font-size="12" fill="#0f0" data-start="0" data-duration="0.1">Set</text>
  <text x="2" y="30" font-size="12" fill="#f00" font-family="Own" data-start="0.2">Own</text>
  <rect id="box" x="50" y="4" width="8" height="8" fill="#08f"/>
  <script type="application/nanoframes+json">{{"animations": [{{"target": "#box", "keyframes": [
    {{"t": 0.1, "transform": {{"translate": [0, 0]}}}},
    {{"t": 0.3, "transform": {{"translate": [0, 9]}}}}]}}]}}</script>
</svg>"""

DEEP = "parts/deep/grandchild.nf.svg"

# What is edited, and the parent's frames that show it.
EDITS = {
    "picture": (lambda s: s.write("parts/deep/dot.png", png((1, 99, 200))), [4, 5]),
    "text": (lambda s: s.edit(DEEP, ">Own<", ">Oxen<"), [5, 6]),
    "timeline": (lambda s: s.edit(DEEP, "[0, 9]", "[0, 8]"), [5, 6]),
    "face": (lambda s: s.edit(DEEP, face("Regular"), face("Black")), [5, 6]),
    "configured face": (
        lambda s: s.edit("nfbuild.toml", "SourceSansPro-Bold", "SourceSansPro-Light"),
        [3, 4],
    ),
    "window of the grandchild": (
        lambda s: s.edit(
            "parts/child.nf.svg",
            'data-start="0.1"\n         data-duration="0.3"',
            'data-start="0.1"\n         data-duration="0.2"',
        ),
        [6],
    ),
    "nothing that draws": (lambda s: s.edit(DEEP, 'id="box" x="50"', 'x="50" id="box"'), []),
}


@pytest.mark.parametrize("kind", EDITS)
def test_a_change_in_a_grandchild_draws_the_frames_that_show_it(space, kind):
    """Picture, text, timeline and face, through two compositions, each on a clock of its own."""
    space.write(
        "nfbuild.toml",
        '[project]\n[fonts]\nfaces = ["package:font_source_sans_pro/files/SourceSansPro-Bold.ttf"]',
    )
    space.compose("parent", PARENT)
    space.write("parts/child.nf.svg", CHILD)
    space.write(DEEP, GRANDCHILD.replace("FACE", face("Regular")))
    space.write("parts/deep/dot.png", png((200, 10, 10)))
    assert len(space.build().rendered) == 10
    before = space.json("digest", "parent")["frame_digests"]
    edit, wanted = EDITS[kind]
    edit(space)
    ran = space.build()
    after = space.json("digest", "parent")["frame_digests"]

    assert [number for _, number in ran.rendered] == wanted
    assert [at for at in range(10) if before[at] != after[at]] == wanted
    assert (ran.row("parent").reasons == []) == (wanted == [])
    assert space.build().rendered == []
