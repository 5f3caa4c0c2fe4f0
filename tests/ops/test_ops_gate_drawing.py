"""What a green gate rests on: what is drawn, how often, and what the cache said of it."""

from __future__ import annotations

import shutil
import tracemalloc
from collections import Counter

import pytest
from gate_space import build_with, entry_path, verdicts, verify_with
from opspace import HEAD, MOVING, STILL, Space

from nfbuild.events import CacheLied, FrameRendered


@pytest.fixture
def recorded(space: Space) -> Space:
    space.compose("moving")
    space.compose("still", STILL)
    assert space.build().exit == 0
    return space


def test_every_distinct_frame_is_drawn_once_and_some_repeats_again(recorded):
    """Six places of the box and one still: seven distinct; one repeat of each film, seeded."""
    ran = recorded.verify()
    drawn = Counter(event.key for event in ran.events if isinstance(event, FrameRendered))

    assert len(drawn) == 7
    assert sum(drawn.values()) == 7 + 2
    assert sorted(drawn.values()) == [1, 1, 1, 1, 1, 2, 2]


def test_the_seed_chooses_and_repeats_itself(recorded):
    """One seed, one choice; over some seeds every repeat has its turn."""
    chosen = [tuple(recorded.verify(seed=seed).rendered) for seed in (0, 0, 1, 2, 3, 4)]

    assert chosen[0] == chosen[1]
    assert len(set(chosen)) > 1


def test_every_draws_every_frame(recorded):
    """`--every` trusts no key at all."""
    assert len(recorded.verify(every=True).rendered) == 15


def test_a_key_that_two_pictures_share_is_found_by_the_repeats(recorded, tmp_path):
    """An identity that is unsound for a pair of frames: equal keys, other pixels, a regression."""
    seen = tmp_path / "seen"
    seen.mkdir()
    ran = verify_with(recorded, f"Still|once={seen}")
    row = ran.row("still")

    assert (row.verdict, ran.exit) == ("regression", 1)
    assert "unsound key" in row.note
    assert sum(last - first + 1 for first, last in row.moved) == 1
    assert verdicts(ran)["moving"] == "match"


def test_an_identity_that_forgets_the_colour_is_found_by_the_repeats(recorded, monkeypatch):
    """A really unsound identity, planted for one pair of frames of the film."""
    from nfbuild.ops.frames.films import Film

    real = Film.scene_key

    def forgetful(self, frame):
        if self.name == "blink":
            frame = _without_color(frame)
        return real(self, frame)

    recorded.compose("blink", BLINK)
    monkeypatch.setattr(Film, "scene_key", forgetful)
    recorded.build("blink")
    ran = recorded.verify()

    assert ran.row("blink").verdict == "regression"
    assert "unsound key" in ran.row("blink").note
    assert ran.exit == 1


BLINK = (
    HEAD
    + """ data-duration="0.2">
  <rect id="ground" width="64" height="36" fill="#102030"/>
  <rect id="first" width="9" height="9" fill="#ff0000" data-start="0" data-duration="0.05"/>
  <rect id="second" width="9" height="9" fill="#0000ff" data-start="0.1" data-duration="0.05"/>
</svg>
"""
)


def _without_color(frame):
    from nfbuild.dataclasses import replace

    def blind(data):
        return data.replace(b"#0000ff", b"#ff0000").replace(b"second", b"first")

    return replace(
        frame,
        head=blind(frame.head),
        pieces=tuple(blind(piece) for piece in frame.pieces),
        tail=blind(frame.tail),
    )


def test_a_cache_that_lied_fails_the_gate_and_is_put_right(recorded):
    """The ledger agrees with the drawing, the cache does not: the cache lied."""
    recorded.build()
    ledger = entry_path(recorded, "still").read_bytes()
    shutil.rmtree(recorded.root / "cache")
    entry_path(recorded, "still").unlink()
    build_with(recorded, "Still|block", fresh=True)
    entry_path(recorded, "still").write_bytes(ledger)
    first, second = recorded.verify(), recorded.verify()

    assert verdicts(first) == {"moving": "match", "still": "match"}
    assert first.exit == 1
    assert [lie["composition"] for lie in first.report.cache_lied] == ["still"]
    assert [event.composition for event in first.events if isinstance(event, CacheLied)] == [
        "still"
    ]
    assert (second.exit, second.report.cache_lied) == (0, [])


def test_a_blob_that_shows_something_else_fails_the_gate(recorded):
    """Record and digest are right, the blob is whole, and its pixels are another frame's."""
    _swap_pixels(recorded)
    first, second = recorded.verify(), recorded.verify()

    assert first.exit == 1
    assert len(first.report.cache_lied) == 1
    assert second.exit == 0


def _swap_pixels(space):
    """Make the record of one frame's pixels name another frame's blob."""
    from nfbuild.ops.run.session import open_session
    from nfbuild.store.base import FRAME, PIXELS

    with open_session(str(space.root)) as session:
        local = session.caches.local
        ran = space.build()
        keys = [event.key for event in space.verify().events if isinstance(event, FrameRendered)]
        assert ran.exit == 0
        frames = local.find_records(FRAME, keys, own=True)
        digests = sorted({payload.hex() for payload in frames.values()})[:2]
        places = local.find_records(PIXELS, digests, own=True)
        local.put_records(PIXELS, {digests[0]: places[digests[1]]}, replace=True)


def test_a_regression_is_no_lie_of_the_cache(recorded):
    """Cache and ledger agree, the drawing moved: that is said once, as a regression."""
    ran = verify_with(recorded, "Still|block")

    assert verdicts(ran)["still"] == "regression"
    assert ran.report.cache_lied == []


def test_a_build_audits_a_share_of_what_it_reuses(recorded):
    """`--audit` draws a seeded share again, says how many, and finds a cache that lied."""
    good = recorded.build(audit="0.5%")
    _swap_pixels(recorded)
    bad = recorded.build(audit="100%")
    after = recorded.build(audit="100%")

    assert good.report.to_json()["audit"] == {
        "share": 0.005,
        "reused": 7,
        "frames": 1,
        "lied": 0,
    }
    assert len(good.rendered) == 1
    assert good.exit == 0
    assert bad.report.to_json()["audit"]["lied"] == 1
    assert bad.report.to_json()["totals"]["cache_lied"] == 1
    assert bad.exit == 1
    assert any("audited 7 of 7" in note for note in bad.report.notes)
    assert (after.exit, after.report.to_json()["audit"]["lied"]) == (0, 0)


def test_an_audit_finds_a_record_that_lied(recorded):
    """The trace itself is wrong: what is drawn counts, and the ledger stays as it is."""
    ledger = entry_path(recorded, "still").read_bytes()
    entry_path(recorded, "still").unlink()
    build_with(recorded, "Still|block", fresh=True)
    entry_path(recorded, "still").write_bytes(ledger)
    ran = recorded.build(audit="100%")

    assert ran.report.to_json()["audit"]["lied"] == 1
    assert ran.row("still").verdict == "match"
    assert ran.exit == 1
    assert entry_path(recorded, "still").read_bytes() == ledger


def test_verifying_holds_at_most_a_few_frames(tmp_path):
    """Ninety distinct frames of a megabyte each pass through; a few are in memory at once."""
    space = Space(tmp_path / "project")
    space.compose(
        "large",
        MOVING.replace('data-width="64" data-height="36"', 'data-width="640" data-height="400"')
        .replace('data-duration="1"', 'data-duration="9"')
        .replace('"t": 0.5', '"t": 9'),
    )
    space.build()
    space.edit("compositions/large.nf.svg", "#ff8800", "#0088ff")
    tracemalloc.start()
    ran = space.verify(report=str(tmp_path / "report.html"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert ran.row("large").moved == [(0, 89)]
    assert peak < 24 * 640 * 400 * 4


def test_a_failing_film_hides_no_other(recorded):
    """One error, and every other verdict."""
    recorded.compose("broken", "<svg")
    recorded.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    ran = recorded.verify()

    assert verdicts(ran) == {"broken": "failed", "moving": "changed", "still": "match"}
    assert ran.exit == 3


def test_a_regression_hidden_by_an_edit_is_named_by_its_frame(recorded):
    """An edit moves the end of the film; frame 0, whose key did not move, draws something else."""
    recorded.edit("compositions/moving.nf.svg", '"t": 0.5, "transform"', '"t": 0.6, "transform"')
    moved = recorded.verify().row("moving").moved
    ran = verify_with(recorded, 'fill="#ff8800"|pixel')
    row = ran.row("moving")

    assert moved == [(1, 5)]
    assert row.verdict == "regression"
    assert (0, 0) in row.moved
    assert not any(first <= 1 <= last for first, last in row.moved)


def test_two_films_of_one_text_are_explained_each_by_its_own_file(space):
    """Equal sources are one identity; what moved is still named in the file that was edited."""
    space.compose("first")
    space.compose("second")
    space.build()
    space.edit("compositions/first.nf.svg", "#ff8800", "#00ff00")
    (reason,) = space.verify().row("first").reasons

    assert (reason["what"], reason["file"]) == ("#box@fill", "compositions/first.nf.svg")
