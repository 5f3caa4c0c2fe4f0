"""The verdict matrix, end to end: which input moved, what moved in the picture, what was recorded.

Every case is a project on disk: the input is really edited (or the toolchain really is another
one), the picture is moved by a rasterizer with a planted fault, the record is the entry's file.
"""

from __future__ import annotations

import os
import shutil
from importlib.resources import files
from itertools import product

import pytest
from gate_space import (
    FAULTY,
    edit_entry,
    entry_path,
    other_toolchain,
)
from opspace import HEAD, Space

from nfbuild.dataclasses import replace
from nfbuild.identity.manifest import Part
from nfbuild.ledger.runs import Run, Runs
from nfbuild.ops.run.session import Settings
from nfbuild.ops.verify import VerifyOptions, verify
from nfbuild.pixels.png import encode

INPUTS = ("source", "media", "fonts", "library", "module", "none")
MOVES = ("one pixel", "one frame", "all frames", "frame count", "none")
RECORDS = ("this lane", "sampled", "another lane only", "stale identity", "missing")

PART = {"library": "toolchain", "module": "toolchain"}
WHAT = {
    "source": {"#under", "order"},
    "media": {"compositions/dot.png"},
    "fonts": {"face"},
    "library": {"libthorvg"},
    "module": {"nfbuild/scene/window.py"},
}
# Frame 2 alone shows the mark, so a fault on it moves that frame only.
MARK = "#010203"
FAULTS = {
    "one pixel": f"{MARK}|pixel",
    "one frame": f"{MARK}|block",
    "all frames": "<svg|block",
    "frame count": "",
    "none": "",
}
MOVED = {
    "one pixel": [(2, 2)],
    "one frame": [(2, 2)],
    "all frames": [(0, 3)],
    "frame count": [(4, 4)],
    "none": [],
}
FILM = (
    HEAD
    + f""" data-duration="0.4">
  <rect id="ground" width="64" height="36" fill="#102030"/>
  <image id="dot" href="dot.png" x="2" y="2" width="4" height="4"/>
  <text id="word" x="8" y="24" font-family="face" font-size="16" fill="#ffffff">Word</text>
  <rect id="mark" x="60" y="30" width="2" height="2" fill="{MARK}"
        data-start="0.2" data-duration="0.05"/>
  <rect id="box" x="30" y="10" width="4" height="4" fill="#ff8800"/>
  <script type="application/nanoframes+json">
  {{"animations": [{{"target": "#box", "keyframes": [
    {{"t": 0, "transform": {{"translate": [0, 0]}}}},
    {{"t": 0.4, "transform": {{"translate": [20, 0]}}}}
  ]}}]}}
  </script>
</svg>
"""
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A project with one film of four frames, recorded."""
    space = Space(tmp_path_factory.mktemp("matrix"), '[fonts]\nfaces = ["fonts/face.ttf"]\n')
    face = files("font_source_sans_pro").joinpath("files/SourceSansPro-Regular.ttf")
    space.write("fonts/face.ttf", face.read_bytes())
    space.write("compositions/dot.png", encode(bytes([200, 40, 40, 255]) * 16, 4, 4))
    space.compose("film", FILM)
    assert space.build().exit == 0
    shutil.rmtree(space.root / "cache")
    return space.root


@pytest.fixture
def film(recorded, tmp_path, monkeypatch):
    """A copy of it."""
    here = os.getcwd()
    shutil.copytree(recorded, tmp_path / "project")
    space = Space.__new__(Space)
    space.root = tmp_path / "project"
    yield space
    os.chdir(here)


def move_input(space, which, monkeypatch):
    """Really move an input in a way that moves no pixel."""
    if which == "source":
        space.edit(
            "compositions/film.nf.svg",
            '<rect id="ground"',
            '<rect id="under" width="9" height="9" fill="#ffffff"/>\n<rect id="ground"',
        )
    elif which == "media":
        same = encode(bytes([200, 40, 40, 255]) * 16, 4, 4)
        space.write("compositions/dot.png", same[:-12] + TEXT_CHUNK + same[-12:])
    elif which == "fonts":
        path = space.root / "fonts/face.ttf"
        path.write_bytes(path.read_bytes() + b"\0\0\0\0")
    elif which == "library":
        other_toolchain(monkeypatch, libthorvg="ab" * 32)
    elif which == "module":
        other_toolchain(monkeypatch, **{"nfbuild__scene__window.py": "ab" * 32})


TEXT_CHUNK = bytes.fromhex("00000008744558744e6f7465006e6f6e76a41b08")


def move_record(space, record, move):
    """Make the entry what the case says was recorded."""
    if record == "missing":
        entry_path(space, "film").unlink()
        return
    edit_entry(space, "film", lambda entry: _record(entry, record, move))


def _record(entry, record, move):
    (tag,) = entry.lanes
    lane = entry.lanes[tag]
    if move == "frame count":
        # The film that was recorded under these inputs had a frame more.
        runs = Runs([*lane.runs, replace(list(lane.runs)[-1], count=1)])
        lane = replace(lane, runs=runs, digest="cd" * 32)
    if record == "sampled":
        frames = list(lane.runs.expand())
        runs = Runs(
            Run(1, frame.key, frame.digest) if at in (0, 2) else Run(1, None, None)
            for at, frame in enumerate(frames)
        )
        lane = replace(lane, runs=runs, sampled=True, digest="ef" * 32)
    elif record == "another lane only":
        tag = "macos-arm64"
        library = Part("toolchain", {**lane.toolchain, "libthorvg": "12" * 32})
        identity = {**lane.identity, "toolchain": library.digest}
        lane = replace(lane, toolchain=dict(library.inputs), identity=identity)
    elif record == "stale identity":
        source = Part("source", {**entry.source.inputs, "#older": "34" * 32})
        lane = replace(lane, identity={**lane.identity, "source": source.digest})
        entry = replace(entry, source=source)
    return replace(entry, lanes={tag: lane})


def expected(which, move, record):
    """Return (verdict, parts of the reasons, identity moved, exit code), as the design says."""
    parts = set() if which == "none" else {PART.get(which, which)}
    if record == "missing":
        return "missing", set(), False, 1
    if record == "stale identity":
        parts = parts | {"source"}
    if record == "another lane only":
        if move == "none":
            parts -= {"toolchain"}
            return "match", parts, bool(parts), 0
        return "changed", parts | {"toolchain"}, True, 1
    if move == "none":
        if record == "sampled":
            return "missing", set(), False, 1
        return "match", parts, bool(parts), 0
    if not parts:
        return "regression", set(), False, 1
    # Whatever else moved: a scene that this toolchain drew as one picture must be that picture.
    if record == "stale identity" and which == "none" and move != "frame count":
        return "regression", parts, True, 1
    return "changed", parts, True, 1


@pytest.mark.parametrize(
    ("which", "move", "record"),
    [pytest.param(*case, id="/".join(case)) for case in product(INPUTS, MOVES, RECORDS)],
)
def test_every_case_has_the_verdict_of_the_design(film, monkeypatch, which, move, record):
    """{what was edited} x {what moved in the picture} x {what was recorded}."""
    move_record(film, record, move)
    move_input(film, which, monkeypatch)
    monkeypatch.setenv("NFBUILD_TEST_FAULT", FAULTS[move])
    settings = Settings(
        jobs=0, fresh=True, keep_rasters=False, rehash=True, audited=False, target=FAULTY
    )
    ran = film._run(verify, VerifyOptions(start=str(film.root)), settings)
    row = ran.row("film")
    verdict, parts, identity_moved, code = expected(which, move, record)

    assert row.verdict == verdict
    assert {reason["part"] for reason in row.reasons} == parts
    assert (row.identity_moved, ran.exit) == (identity_moved, code)
    if verdict in ("changed", "regression"):
        # A sample of frames 0 and 2 can only see these two.
        seen = [(0, 0), (2, 2)] if (move, record) == ("all frames", "sampled") else MOVED[move]
        assert row.moved == seen
        assert row.digest != row.recorded
    if parts == {PART.get(which, which)} and record == "this lane" and which in WHAT:
        assert {reason["what"] for reason in row.reasons} == WHAT[which]


def test_the_table_is_not_of_one_row():
    """The expectations above name every verdict that comparing two records can have."""
    every = [expected(*case)[0] for case in product(INPUTS, MOVES, RECORDS)]

    assert {kind: every.count(kind) for kind in every} == {
        "match": 18,
        "changed": 85,
        "regression": 11,
        "missing": 36,
    }
