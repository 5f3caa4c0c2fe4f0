"""Lottie scenes through the whole program: found, built, cut by markers, laid on a background."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import pytest
from lottie_scenes import moving, scripted
from opspace import MOVING
from test_ops_never_stale import png

MARKERS = [{"cm": "start", "tm": 0, "dr": 2}, {"cm": "middle", "tm": 2, "dr": 3}]


def archive(scene, **files):
    """Return a `.lottie` file with one scene."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("manifest.json", json.dumps({"version": "1", "animations": [{"id": "a"}]}))
        made.writestr("animations/a.json", scene)
        for name, data in files.items():
            made.writestr(f"images/{name}", data)
    return file.getvalue()


@pytest.fixture
def scenes(space):
    """A project as it comes: what it builds is told by suffixes alone."""
    space.write("compositions/one.lottie.json", moving(markers=MARKERS))
    space.write("compositions/deep/two.lottie", archive(moving(opacity=50)))
    space.write("compositions/not-listed.json", moving(colour=(0, 0, 1)))
    space.compose("film")
    return space


def test_scenes_are_found_by_suffix_and_built(scenes):
    """`.lottie` and `.lottie.json`; a plain `.json` only where it is listed."""
    report = scenes.json()
    rows = {row["name"]: row for row in report["compositions"]}

    assert (report["ok"], sorted(rows)) == (True, ["deep/two", "film", "one.lottie"])
    assert (rows["one.lottie"]["frames"], rows["one.lottie"]["distinct"]) == (6, 6)
    assert rows["one.lottie"]["digest"] != rows["deep/two"]["digest"]
    assert rows["deep/two"]["identity"]["fonts"] == "none"
    assert scenes.json()["totals"]["rendered"] == 0
    assert scenes.json("verify")["ok"] is True


def test_a_listed_json_is_a_composition(scenes):
    """Where a pattern says so."""
    scenes.write("nfbuild.toml", '[project]\ncompositions = ["compositions/not-listed.json"]\n')

    assert [row["name"] for row in scenes.json()["compositions"]] == ["not-listed"]


def test_a_marker_is_a_range(scenes):
    """`--range` takes the name that the scene gives it."""
    report = scenes.json("build", "one.lottie", "--range", "middle")

    assert report["totals"]["rendered"] == 3
    wrong = scenes.run("build", "one.lottie", "--range", "end")
    assert wrong.returncode == 2
    assert "there is no marker `end`" in wrong.stderr
    assert "`start`, `middle`" in wrong.stderr


def test_a_background_is_an_input_of_scenes_and_of_nothing_else(scenes):
    """It draws, so it is in the source part; films without scenes are left alone."""
    first = scenes.build()
    scenes.write("nfbuild.toml", '[project]\n[lottie]\nbackground = "white"\n')
    second = scenes.build()
    scenes.write("nfbuild.toml", '[project]\n[lottie]\nbackground = "#FFFFFF"\n')
    third = scenes.build()

    assert {name for name, _ in second.rendered} == {"deep/two", "one.lottie"}
    for name in ("deep/two", "one.lottie"):
        assert first.row(name).digest != second.row(name).digest
        assert second.row(name).verdict == "changed"
        assert [(r["part"], r["what"]) for r in second.row(name).reasons] == [
            ("source", "background")
        ]
    assert second.row("film").verdict == "match"
    assert third.rendered == []


def test_pictures_beside_a_scene_and_in_its_archive_are_media(space):
    """Moved by their bytes, wherever they are."""
    layer = {
        "ty": 2,
        "refId": "dot",
        "ip": 0,
        "op": 6,
        "st": 0,
        "ks": json.loads(moving())["layers"][0]["ks"],
    }
    asset = {"id": "dot", "w": 8, "h": 8, "u": "images/", "p": "dot.png"}
    scene = moving(assets=[asset])
    scene = json.dumps({**json.loads(scene), "layers": [layer]}).encode()
    space.write("compositions/beside.lottie.json", scene)
    space.write("compositions/images/dot.png", png((200, 0, 0)))
    space.write("compositions/inside.lottie", archive(scene, **{"dot.png": png((200, 0, 0))}))
    first = space.build()
    assert (first.exit, first.row("inside").digest) == (0, first.row("beside.lottie").digest)
    space.write("compositions/images/dot.png", png((0, 200, 0)))
    second = space.build()

    assert {name for name, _ in second.rendered} == {"beside.lottie"}
    assert [reason["part"] for reason in second.row("beside.lottie").reasons] == ["media"]


def test_an_endless_expression_meets_the_deadline(space):
    """One message, and everything else is built."""
    space.write("nfbuild.toml", '[project]\n[limits]\nframe_deadline = "1 s"\n')
    space.write("compositions/endless.lottie.json", scripted("while (true) {}"))
    space.compose("film", MOVING)
    ran = space.build()

    assert ran.exit == 3
    assert [error.code for error in ran.report.errors] == ["draw.processor-time"]
    assert ran.row("film").written


@pytest.mark.oracle
@pytest.mark.process
@pytest.mark.parametrize("background", ["none", "white", "#1e1e2e"])
def test_the_peers_frames_are_ours(space, tmp_path, background):
    """`digest --algorithm sha256` against the frames that the peer keeps."""
    from nanoframes.lottie import parse_background, render_lottie_frames
    from PIL import Image

    space.write("nfbuild.toml", f'[project]\n[lottie]\nbackground = "{background}"\n')
    path = space.write("compositions/moving.lottie.json", moving(opacity=70))
    backdrop = None if background == "none" else parse_background(background)
    render_lottie_frames(str(path), str(tmp_path / "frames"), background=backdrop)
    theirs = []
    for file in sorted((tmp_path / "frames").iterdir()):
        with Image.open(file) as image:
            rows = image.convert("RGBA").tobytes()
            head = f"RGBA {image.width}x{image.height}".encode() + b"\0"
        theirs.append(hashlib.sha256(head + rows).hexdigest())
    ours = space.json("digest", "moving.lottie", "--algorithm", "sha256")

    assert [digest.removeprefix("sha256:") for digest in ours["frame_digests"]] == theirs
    assert len(set(theirs)) == 6
