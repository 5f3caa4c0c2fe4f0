"""What `build` writes: the table of the design, row by row, and what becomes of other lanes."""

from __future__ import annotations

import pytest
from ledger_films import LINUX, MAC, Film, digest

from nfbuild.ledger.entry import Entry
from nfbuild.ledger.verdict import FAILED, ORPHANED, judge
from nfbuild.ledger.write_policy import decide, recorded

HELD = recorded(None, LINUX, Film().present())
EDIT = Film().edited("source", "#a").redrawn(5)
QUIET_EDIT = Film().edited("source", "#a")
LIBRARY = Film().edited("toolchain", "libthorvg")

ROWS = [
    # what build finds, entry, film, action, exit, action and exit when locked
    ("no entry", None, Film(), "write", 0, 1),
    ("same digest, same identity", HELD, Film(), "untouched", 0, 0),
    ("same digest, source moved", HELD, QUIET_EDIT, "refresh", 0, 0),
    ("same digest, toolchain moved", HELD, LIBRARY, "refresh", 0, 0),
    ("source moved", HELD, EDIT, "write", 0, 1),
    ("media moved", HELD, Film().edited("media", "logo.png").redrawn(5), "write", 0, 1),
    ("fonts moved", HELD, Film().edited("fonts", "Sans").redrawn(5), "write", 0, 1),
    (
        "source and toolchain moved, scenes kept theirs",
        HELD,
        EDIT.edited("toolchain", "libthorvg"),
        "write",
        0,
        1,
    ),
    (
        "source and toolchain moved, a kept scene moved",
        HELD,
        EDIT.edited("toolchain", "libthorvg").flipped(0, 1),
        "untouched",
        0,
        0,
    ),
    ("only the toolchain moved", HELD, LIBRARY.flipped(5), "untouched", 0, 0),
    ("a regression in the film", HELD, Film().flipped(5), "untouched", 1, 1),
    ("a regression in one frame", HELD, EDIT.flipped(0, 1), "untouched", 1, 1),
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_table_row_by_row(row):
    """Action and exit code, free and locked; a sample or a range writes nothing."""
    _, entry, film, action, free_exit, locked_exit = row
    verdict = judge(entry, LINUX, film.present())

    free = decide(verdict, entry, LINUX, "a")
    locked = decide(verdict, entry, LINUX, "a", locked=True)
    partial = decide(verdict, entry, LINUX, "a", whole=False)
    assert (free.action, free.exit_code) == (action, free_exit)
    assert (locked.action, locked.exit_code) == ("untouched", locked_exit)
    assert locked.locked == (None if action == "untouched" else action)
    assert partial.action == "untouched"


def test_red_stays_red():
    """What is not written is judged the same the next time."""
    for film in (Film().flipped(5), LIBRARY.flipped(5)):
        first = judge(HELD, LINUX, film.present())
        assert decide(first, HELD, LINUX, "a").action == "untouched"
        assert judge(HELD, LINUX, film.present()) == first


def test_failed_and_orphaned_write_nothing():
    """One exits 3; the other is the ledger's matter, not the build's."""
    assert decide(FAILED, HELD, LINUX, "a").exit_code == 3
    assert decide(ORPHANED, HELD, LINUX, "a").exit_code == 0
    assert {decide(v, HELD, LINUX, "a").action for v in (FAILED, ORPHANED)} == {"untouched"}


def test_an_entry_in_other_bytes_is_written_again():
    """What `ledger check` calls not canonical, `build` puts right."""
    verdict = judge(HELD, LINUX, Film().present())

    assert decide(verdict, HELD, LINUX, "a", canonical=False).action == "refresh"


def test_an_entry_that_a_merge_mixed_is_put_right():
    """Lanes of one film under the inputs of another: the next build sorts them out."""
    other = recorded(None, MAC, EDIT.present())
    mixed = Entry(HELD.source, HELD.media, HELD.fonts, {**HELD.lanes, **other.lanes})
    strange = Entry(other.source, other.media, other.fonts, HELD.lanes)
    for entry in (mixed, strange):
        verdict = judge(entry, LINUX, Film().present())
        assert (verdict.kind, verdict.identity_moved) == ("match", False)
        assert decide(verdict, entry, LINUX, "a").action == "refresh"
        assert recorded(entry, LINUX, Film().present()) == HELD


def test_a_lane_without_a_recording_is_added_under_an_equal_digest():
    """And keeps the other, which is the same film."""
    film = Film().edited("toolchain", "libthorvg", "mac")
    verdict = judge(HELD, MAC, film.present())
    assert decide(verdict, HELD, MAC, "a").action == "refresh"

    both = recorded(HELD, MAC, film.present())
    assert sorted(both.lanes) == [LINUX, MAC]
    assert judge(both, MAC, film.present()).kind == "match"
    assert judge(both, LINUX, Film().present()).kind == "match"


def test_writing_a_lane_removes_lanes_of_another_film():
    """Source, media or fonts moved: what another platform recorded speaks of another film."""
    both = recorded(HELD, MAC, Film().edited("toolchain", "libthorvg", "mac").present())
    for part, name in (("source", "#a"), ("media", "logo.png"), ("fonts", "Sans")):
        after = recorded(both, LINUX, Film().edited(part, name).redrawn(5).present())
        assert list(after.lanes) == [LINUX]

    after = recorded(both, LINUX, LIBRARY.present())
    assert sorted(after.lanes) == [LINUX, MAC]


def test_reason_and_facts_live_as_long_as_the_digest():
    """Why a film was accepted stays with the film, not with the next one."""
    accepted = recorded(
        HELD, LINUX, LIBRARY.flipped(5).present(), reason="new ThorVG", facts={"cpu": "v4"}
    )
    assert accepted.lanes[LINUX].reason == "new ThorVG"

    refreshed = recorded(accepted, LINUX, LIBRARY.flipped(5).edited("source", "#a").present())
    assert refreshed.lanes[LINUX].reason == "new ThorVG"
    assert refreshed.lanes[LINUX].facts == {"cpu": "v4"}

    edited = recorded(accepted, LINUX, EDIT.redrawn(5, word="?").present())
    assert edited.lanes[LINUX].reason is None


def test_a_sample_never_takes_the_place_of_a_whole_lane():
    """Of the same film; of another film there is nothing left to keep."""
    sample = Film(drawn=(0, 5))
    assert not recorded(HELD, LINUX, sample.present()).lanes[LINUX].sampled

    other = sample.edited("source", "#a")
    assert recorded(HELD, LINUX, other.present()).lanes[LINUX].sampled


def test_what_is_recorded_is_what_is_there():
    """The new entry matches the film it was made of, with nothing to say."""
    verdict = judge(recorded(HELD, LINUX, EDIT.present()), LINUX, EDIT.present())

    assert (verdict.kind, verdict.identity_moved) == ("match", False)
    assert recorded(None, LINUX, EDIT.present()).source.inputs["#a"] == digest("moved")
