"""The ledger's shape, its lanes side by side, and the peer's ledger."""

from __future__ import annotations

import json

import pytest
from ledger_films import LINUX, MAC, Film, digest

from nfbuild.dataclasses import replace
from nfbuild.errors import ProjectError
from nfbuild.ledger.book import Book
from nfbuild.ledger.check import check
from nfbuild.ledger.importing import PeerEntry, judge_import, pair, parse
from nfbuild.ledger.matrix import matrix
from nfbuild.ledger.write_policy import recorded

ENTRY = recorded(None, LINUX, Film().present())


@pytest.fixture
def book(tmp_path) -> Book:
    made = Book(str(tmp_path / "ledger"))
    for stem in ("c/a", "c/b", "c/d"):
        made.write(stem, ENTRY)
    return made


NAMES = {"c/a": "a", "c/b": "b", "c/d": "d"}


def test_a_ledger_in_shape_has_no_finding(book):
    """And gives the entries it read."""
    checked = check(book, NAMES, {})

    assert checked.ok
    assert list(checked.entries) == ["a", "b", "d"]


def test_missing_and_orphaned_entries_are_found(book):
    """Both directions, by name."""
    checked = check(book, {"c/a": "a", "c/new": "new", "c/d": "d"}, {"c/b": "b"})

    assert [(one.code, one.name, one.file) for one in checked.findings] == [
        ("ledger.orphaned", "b", "ledger/c/b.json"),
        ("ledger.missing", "new", None),
    ]


def test_what_cannot_be_read_is_found_and_the_rest_is_checked(book, tmp_path):
    """With the line and the hint of the refusal."""
    path = tmp_path / "ledger/c/a.json"
    path.write_bytes(b"\n<<<<<<< HEAD\n" + path.read_bytes())
    (tmp_path / "ledger/c/b.json").write_text(json.dumps({"format": "nfbuild.ledger/9"}))
    path = tmp_path / "ledger/c/d.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    checked = check(book, NAMES, {})

    assert [(one.code, one.name, one.line) for one in checked.findings] == [
        ("ledger.conflict", "a", 2),
        ("ledger.version", "b", None),
        ("ledger.canonical", "d", None),
    ]
    assert all(one.hint for one in checked.findings)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (lambda entry: replace(entry, lanes={}), "ledger.incomplete", "has no lane"),
        (
            lambda _: recorded(None, LINUX, Film(drawn=(1, 2)).present()),
            "ledger.incomplete",
            "the lane `linux-x86_64` is a sample of 2 of 12 frames",
        ),
        (
            lambda entry: replace(
                entry, lanes=recorded(None, LINUX, Film().edited("media", "x").present()).lanes
            ),
            "ledger.stale",
            "was recorded of another film",
        ),
        (
            lambda _: recorded(None, LINUX, Film(source={}).present()),
            "ledger.inputs",
            "names no input of its source",
        ),
        (
            lambda _: recorded(None, LINUX, Film().edited("toolchain", "libthorvg").present()),
            "ledger.pass",
            "was drawn by another `libthorvg` than most entries",
        ),
    ],
)
def test_an_entry_out_of_shape_is_found(book, change, code, message):
    """One entry of three, alone."""
    book.write("c/b", change(ENTRY))
    checked = check(book, NAMES, {})

    assert [(one.code, one.name) for one in checked.findings] == [(code, "b")]
    assert message in checked.findings[0].message


def test_a_lane_without_sub_inputs_is_found(book):
    """It could not say what moved."""
    for stem in NAMES:
        book.write(stem, recorded(None, LINUX, Film(toolchain={}).present()))

    assert {one.message for one in check(book, NAMES, {}).findings} == {
        "the lane `linux-x86_64` does not say what drew it"
    }


def test_decoders_are_some_compositions_own(book):
    """A composition with pictures has a decoder in its toolchain; others have not."""
    book.write("c/b", recorded(None, LINUX, Film().edited("toolchain", "pillow").present()))
    assert check(book, NAMES, {}).ok

    module = Film().edited("toolchain", "nfbuild/scene/new.py")
    book.write("c/b", recorded(None, LINUX, module.present()))
    assert [one.code for one in check(book, NAMES, {}).findings] == ["ledger.pass"]


def test_lanes_are_judged_apart(book):
    """Another platform has another rasterizer; that is no second pass."""
    mac = Film().edited("toolchain", "libthorvg", "mac").present()
    book.write("c/b", recorded(ENTRY, MAC, mac))

    assert check(book, NAMES, {}).ok


def test_the_matrix_says_who_agrees_and_on_which_frames_not():
    """Groups by digest, the largest first."""
    mac = Film().edited("toolchain", "libthorvg", "mac")
    three = recorded(ENTRY, MAC, mac.flipped(5, 10, 11).present())
    three = recorded(three, "linux-aarch64", mac.present())
    found = matrix({"b": three, "a": ENTRY})

    assert found.lanes == ("linux-aarch64", LINUX, MAC)
    a, b = found.rows
    assert (a.name, dict(a.cells)) == (
        "a",
        {"linux-aarch64": "absent", LINUX: "agrees", MAC: "absent"},
    )
    assert dict(b.cells) == {"linux-aarch64": "agrees", LINUX: "agrees", MAC: "differs"}
    assert dict(b.group) == {"linux-aarch64": 1, LINUX: 1, MAC: 2}
    assert dict(b.frames) == {MAC: ((5, 5), (10, 11))}


def test_the_matrix_shows_samples_and_lanes_of_another_film():
    """Neither agrees nor differs."""
    entry = replace(
        ENTRY,
        lanes={
            **ENTRY.lanes,
            "s": recorded(None, "s", Film(drawn=(0,)).present()).lanes["s"],
            "t": recorded(None, "t", Film().edited("source", "#a").present()).lanes["t"],
        },
    )
    (row,) = matrix({"a": entry}).rows

    assert dict(row.cells) == {LINUX: "agrees", "s": "sampled", "t": "stale"}


def _peer(**compositions: object) -> bytes:
    return json.dumps({"version": 1, "compositions": compositions}).encode()


PEER = {"digest": "a" * 64, "frames": 30, "sampled": False, "identity": {"source": "x"}}


def test_the_peer_s_ledger_is_read():
    """Sorted by path; its identities are not ours to judge."""
    found = parse(_peer(**{"b.nf.svg": PEER, "a.nf.svg": {**PEER, "sampled": True}}), "d.json")

    assert found == (
        PeerEntry("a.nf.svg", "a" * 64, 30, sampled=True),
        PeerEntry("b.nf.svg", "a" * 64, 30, sampled=False),
    )


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"{", "is not JSON"),
        (b"[]", "has no `compositions`"),
        (b'{"compositions": {}, "version": 2}', "the version `2`"),
        (b'{"compositions": {}, "version": true}', "the version `True`"),
        (b'{"compositions": {}}', "the version `None`"),
        (_peer(a=[]), "`a` has no SHA-256 digest"),
        (_peer(a={**PEER, "digest": "A" * 64}), "`a` has no SHA-256 digest"),
        (_peer(a={**PEER, "frames": 0}), "`a` has no number of frames"),
        (_peer(a={**PEER, "sampled": 1}), "`sampled` is neither true nor false"),
    ],
)
def test_another_file_is_refused(data, fact):
    """By what is wrong with it."""
    with pytest.raises(ProjectError) as caught:
        parse(data, "digests.json")

    assert fact in caught.value.message
    assert str(caught.value.place) == "digests.json"


def test_the_peer_s_paths_are_paired_with_compositions():
    """By the path, or by the longest end of it that only one composition has."""
    entries = [
        PeerEntry(path, "a" * 64, 1, sampled=False)
        for path in ("examples/loop.nf.svg", "x/intro/card.nf.svg", "c/only.nf.svg", "x/none.svg")
    ]
    ours = {
        "compositions/loop.nf.svg": "loop",
        "compositions/intro/card.nf.svg": "intro/card",
        "compositions/outro/card.nf.svg": "outro/card",
        "c/only.nf.svg": "only",
        "d/only.nf.svg": "other",
    }

    assert pair(entries, ours) == {
        "examples/loop.nf.svg": "loop",
        "x/intro/card.nf.svg": "intro/card",
        "c/only.nf.svg": "only",
    }
    twice = [PeerEntry("e/only.nf.svg", "a" * 64, 1, sampled=False)]
    assert pair(twice, ours) == {}


@pytest.mark.parametrize(
    ("entry", "name", "drawn", "outcome", "fact"),
    [
        ({}, "a", (30, "a" * 64), "agrees", "30 frames"),
        ({}, "a", (30, "b" * 64), "differs", "sha256:bbbbbbbbbbbbbbbb… was drawn"),
        ({}, "a", (31, "a" * 64), "frames", "31 frames here, 30 in the peer's"),
        ({"sampled": True}, "a", (30, "a" * 64), "sampled", "a sample"),
        ({}, None, None, "absent", "no composition"),
        ({}, "a", None, "failed", "could not be drawn"),
    ],
)
def test_only_an_equal_digest_of_a_whole_film_agrees(entry, name, drawn, outcome, fact):
    """Everything else is explained."""
    peer = replace(PeerEntry("a.nf.svg", "a" * 64, 30, sampled=False), **entry)
    found = judge_import(peer, name, drawn)

    assert (found.outcome, found.name) == (outcome, name)
    assert fact in found.fact


@pytest.mark.oracle
@pytest.mark.process
def test_what_the_peer_writes_today_is_read(tmp_path):
    """The form is the peer's own, not our memory of it."""
    import subprocess
    import sys

    composition = (
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="8" data-height="8" data-fps="2"'
        ' data-duration="1"><rect width="8" height="8" fill="#123456"/></svg>'
    )
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/a.nf.svg").write_text(composition)
    subprocess.run(
        [sys.executable, "-m", "nanoframes", "digest", "--all", "--record", "--ledger", "d.json"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    (found,) = parse((tmp_path / "d.json").read_bytes(), "d.json")

    assert (found.path, found.frames, found.sampled) == ("examples/a.nf.svg", 2, False)
    # Two equal frames, by the published definition of the digest.
    import hashlib

    frame = hashlib.sha256(b"RGBA 8x8\0" + bytes([0x12, 0x34, 0x56, 255]) * 64).hexdigest()
    assert found.digest == hashlib.sha256(f"{frame}\n{frame}".encode()).hexdigest()
    assert digest("a") != found.digest
