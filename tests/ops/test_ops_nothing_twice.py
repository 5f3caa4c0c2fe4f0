"""Nothing is drawn twice: what moved is drawn, and nothing else."""

from __future__ import annotations

import os
import shutil

import pytest
from opspace import HEAD, MOVING, STILL, Space


@pytest.fixture
def built(space: Space) -> Space:
    space.compose("moving")
    space.compose("still", STILL)
    assert len(space.build().rendered) == 7
    return space


def test_a_second_build_renders_nothing(built):
    """An unchanged frame is never drawn again."""
    assert built.build().rendered == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  <rect", "\n\n        <rect"),
        ('x="2" y="10"', 'y="10" x="2"'),
        ("<rect", "<!-- a comment --><rect"),
        ("\n", "\r\n"),
        ("<svg", '<svg data-safe-margin="4" data-palette-budget="3"'),
        ('fill="#ff8800"', "fill='#ff8800'"),
        ('"t": 0,', '"t":   0.0,'),
    ],
    ids=["indent", "order", "comment", "lines", "checks", "quotes", "json"],
)
def test_another_spelling_renders_nothing(built, before, after):
    """Layout, order, comments, line ends and what only checks read are no inputs of a frame."""
    built.edit("compositions/moving.nf.svg", before, after)

    assert built.build().rendered == []


def test_another_prefix_renders_nothing(built):
    """A namespace prefix is spelling."""
    text = built.read("compositions/still.nf.svg")
    for tag in ("svg", "rect", "text"):
        text = text.replace(f"<{tag}", f"<s:{tag}").replace(f"</{tag}", f"</s:{tag}")
    built.write("compositions/still.nf.svg", text.replace("xmlns=", "xmlns:s="))

    assert built.build().rendered == []


def test_touching_renders_nothing(built):
    """Times of files are no inputs."""
    os.utime(built.root / "compositions/moving.nf.svg", (1, 1))

    assert built.build().rendered == []


def test_a_copied_checkout_renders_nothing(built, tmp_path):
    """Paths are no inputs, and the cache comes along."""
    shutil.copytree(built.root, tmp_path / "elsewhere", symlinks=True)

    assert Space(tmp_path / "elsewhere").build().rendered == []


def test_another_home_renders_nothing(built, tmp_path, monkeypatch):
    """A user's home is no input."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    assert built.build().rendered == []


EDITS = {
    "keyframe": (
        '"t": 0.5, "transform": {"translate": [40',
        '"t": 0.5, "transform": {"translate": [41',
    ),
    "ease": ("[40, 0]}}", '[40, 0]}, "ease": "ease-in"}'),
    "last frames": ('"t": 0.5, "transform"', '"t": 0.6, "transform"'),
    "fill": ("#ff8800", "#ff8801"),
    "background": ("#102030", "#102031"),
    "window": ('height="10" fill', 'height="10" data-start="0.15" fill'),
    "size": ('width="10" height="10"', 'width="11" height="10"'),
    "attribute": ('<rect id="box"', '<rect id="box" rx="2"'),
    "fade": ('height="10" fill', 'height="10" data-fade="0.2" fill'),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_renders_exactly_the_distinct_frames_that_moved(built, kind):
    """An edit that moves k distinct frames renders k, not k + 1."""
    before = set(built.json("digest", "moving")["frame_digests"])
    built.edit("compositions/moving.nf.svg", *EDITS[kind])
    after = built.json("digest", "moving")["frame_digests"]
    ran = built.build()

    assert set(after) - before
    assert {name for name, _ in ran.rendered} == {"moving"}
    assert len(ran.rendered) == len(set(after) - before)
    assert built.build().rendered == []


def test_equal_frames_of_a_hold_and_of_two_compositions_render_once(space):
    """Time and names are not in a frame's key."""
    space.compose("one")
    space.compose("two")
    ran = space.build()

    # Frames 5 to 9 hold, so six distinct frames serve twenty.
    assert len(ran.rendered) == 6
    assert {name for name, _ in ran.rendered} == {"one"}
    assert (ran.report.frames, ran.report.distinct, ran.report.rendered) == (20, 6, 6)
    two = ran.row("two")
    assert (two.distinct, two.rendered, two.reused) == (6, 0, 6)


def test_a_loop_renders_each_phase_once(space):
    """The second round of a loop is the first one again."""
    keys = ", ".join(
        f'{{"t": {i / 10}, "transform": {{"translate": [{40 * (i % 5)}, 0]}}}}' for i in range(10)
    )
    start, end = MOVING.index('{"t": 0,'), MOVING.index("\n  ]}]}")
    space.compose("loop", MOVING[:start] + keys + MOVING[end:])

    assert len(space.build().rendered) == 5


def test_rows_and_totals_add_up(built):
    """`distinct = rendered + reused`, in each row and in the totals."""
    built.edit("compositions/moving.nf.svg", "#ff8800", "#00ff88")
    report = built.build().report

    for part in (report, *report.rows):
        assert part.distinct == part.rendered + part.reused
    assert report.frames == 15


def test_the_program_says_the_same(space):
    """The same through the command line, with its JSON and its exit codes."""
    space.compose("moving")
    first, second = space.json(), space.json()

    assert first["totals"]["rendered"] == 6
    assert second["totals"]["rendered"] == 0
    assert second["totals"]["reused"] == second["totals"]["distinct"] == 6
    assert first["compositions"][0]["verdict"] == "missing"
    assert second["compositions"][0]["verdict"] == "match"
    assert first["ok"] is second["ok"] is True


def test_a_plain_svg_is_one_frame(space):
    """A still that the project lists is a film of one frame."""
    space.write("nfbuild.toml", '[project]\ncompositions = ["art/*.svg"]\n')
    space.write(
        "art/dot.svg",
        '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">'
        '<circle cx="4" cy="4" r="3" fill="red"/></svg>',
    )
    ran = space.build()

    assert ran.rendered == [("dot", 0)]
    assert HEAD not in space.read("art/dot.svg")


def test_a_build_says_what_check_finds_in_what_was_edited(built):
    """Once, when it is written: not on every build, and not for what nobody touched."""
    built.edit("compositions/still.nf.svg", "<text x", '<text text-anchor="middle" x')
    told = [warning["code"] for warning in built.build().report.warnings]
    again = [warning["code"] for warning in built.build().report.warnings]

    assert len(told) == len(set(told)) == 1
    assert again == []
