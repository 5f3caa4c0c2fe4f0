"""The contract: what tools outside the repository read, exactly as it is written down."""

from __future__ import annotations

import json

import pytest
from opspace import MOVING, STILL, Space

BUILD = ["schema", "ok", "compositions", "totals", "errors", "warnings"]
BUILD_ROW = [
    "name", "source", "frames", "distinct", "rendered", "reused", "written", "digest", "identity",
    "verdict", "reasons", "seconds",
]  # fmt: skip
BUILD_TOTALS = ["frames", "distinct", "rendered", "reused", "cache_lied", "seconds"]
VERIFY = [
    "schema", "ok", "lane", "seed", "sampled", "compared", "compositions", "totals", "cache_lied",
    "errors", "warnings",
]  # fmt: skip
VERIFY_ROW = [
    "name", "verdict", "identity_moved", "reasons", "frames", "digest", "recorded", "across",
    "excuse", "moved",
]  # fmt: skip
TALK = ["code", "composition", "file", "line", "message", "hint"]
REASON = ["part", "what", "file", "line", "before", "after"]
PARTS = ["source", "media", "fonts", "toolchain"]


@pytest.fixture
def recorded(space: Space) -> Space:
    space.compose("moving")
    space.compose("still", STILL)
    assert space.run().returncode == 0
    return space


def test_build_prints_one_document_of_the_agreed_fields(recorded):
    """Fields may be added, never renamed."""
    recorded.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    recorded.write("compositions/bad.nf.svg", "<svg")
    ran = recorded.run("build", "--json")
    document = json.loads(ran.stdout)
    row = next(row for row in document["compositions"] if row["name"] == "moving")

    assert [key for key in document if key in BUILD] == BUILD
    assert document["schema"] == "nfbuild.build/1"
    assert [key for key in row if key in BUILD_ROW] == BUILD_ROW
    assert [key for key in document["totals"] if key in BUILD_TOTALS] == BUILD_TOTALS
    assert list(row["identity"]) == PARTS
    assert list(row["reasons"][0]) == REASON
    assert list(document["errors"][0]) == TALK
    assert [row["name"] for row in document["compositions"]] == ["bad", "moving", "still"]
    assert document["ok"] is (ran.returncode == 0) is False
    assert ran.returncode == 3


def test_digests_name_their_algorithm(recorded):
    """`algorithm:hex`, also inside an identity; an empty part is `none`."""
    row = recorded.json()["compositions"][0]

    assert row["digest"].startswith("blake3:")
    assert row["identity"]["media"] == "none"
    assert all(v == "none" or v.startswith("blake3:") for v in row["identity"].values())


def test_a_quick_answer_is_the_same_document(recorded):
    """The build with nothing to do says what a whole one would."""
    quick = recorded.json()
    whole = recorded.json("build", "--rehash")
    for document in (quick, whole):
        document["totals"]["seconds"] = 0
        for row in document["compositions"]:
            row["seconds"] = 0
        document.pop("cache", None)

    assert quick == whole


def test_verify_prints_one_document_of_the_agreed_fields(recorded):
    """The gate's document, green and red."""
    green = recorded.run("verify", "--json")
    document = json.loads(green.stdout)
    recorded.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    red = recorded.run("verify", "--json")

    assert [key for key in document if key in VERIFY] == VERIFY
    assert [key for key in document["compositions"][0] if key in VERIFY_ROW] == VERIFY_ROW
    assert (green.returncode, red.returncode) == (0, 1)
    assert document["ok"] is True
    assert json.loads(red.stdout)["ok"] is False
    assert json.loads(red.stdout)["compositions"][0]["moved"] == [[0, 9]]


def test_digest_and_status_documents(recorded):
    """The two small ones."""
    digest = recorded.json("digest", "still")
    status = recorded.json("status")

    for key in ("schema", "name", "algorithm", "frames", "sampled", "digest", "frame_digests"):
        assert key in digest
    assert len(digest["frame_digests"]) == digest["frames"] == 5
    assert list(status["compositions"][0]) == [
        "name",
        "frames",
        "up_to_date",
        "to_render",
        "reasons",
    ]
    assert status["schema"] == "nfbuild.status/1"
    assert all(row["up_to_date"] for row in status["compositions"])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["build", "--scale", "0"], 2),
        (["build", "nope"], 2),
        (["build", "--nope"], 2),
        (["nope"], 2),
        (["verify", "--fail-on", "nothing"], 2),
        (["frame", "still", "99"], 2),
        (["explain"], 2),
        (["digest", "still", "--algorithm", "md5"], 2),
        (["-C", "nowhere", "build"], 2),
        (["--help"], 0),
        (["--version"], 0),
        (["status"], 0),
    ],
)
def test_exit_codes(recorded, words, code):
    """2 is usage, with a message and no traceback."""
    ran = recorded.run(*words)

    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
    assert code == 0 or ran.stderr.startswith("error: ")


def test_options_may_stand_before_the_command(recorded, tmp_path):
    """`-C`, `-q` and `-v` belong to every command, wherever they stand."""
    root = str(recorded.root)
    elsewhere = Space(tmp_path / "elsewhere")
    for words in (["-C", root], ["-C", root, "build"], ["build", "-C", root], ["-q", "-C", root]):
        ran = elsewhere.run(*words)
        assert ran.returncode == 0, ran.stderr
        assert ("-q" in words) == (ran.stderr == "")


def test_status_writes_nothing(space):
    """Not a file, not a folder, in a project that was never built and in one that was."""
    space.compose("moving")
    before = sorted(space.root.rglob("*"))
    space.run("status")

    assert sorted(space.root.rglob("*")) == before
    assert space.run().returncode == 0
    (space.root / "compositions" / "moving.nf.svg").write_text(MOVING.replace("#ff8800", "#fff"))
    before = {path: path.stat().st_mtime_ns for path in space.root.rglob("*") if path.is_file()}
    status = space.json("status")
    after = {path: path.stat().st_mtime_ns for path in space.root.rglob("*") if path.is_file()}

    assert status["compositions"][0]["to_render"] == 6
    assert before == after
