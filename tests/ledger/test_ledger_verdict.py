"""What the verdict sees beyond the matrix: frames that move, hide, repeat; lanes that disagree."""

from __future__ import annotations

import pytest
from ledger_films import LINUX, MAC, Film, digest

from nfbuild.dataclasses import replace
from nfbuild.errors import EXIT_GATE
from nfbuild.ledger.entry import Entry
from nfbuild.ledger.verdict import judge
from nfbuild.ledger.write_policy import decide, recorded


def _entry(film: Film | None = None, tag: str = LINUX) -> Entry:
    return recorded(None, tag, (film or Film()).present())


def test_a_fault_beside_an_edit_is_a_regression_in_its_frame():
    """An edit moves frames 8 to 11; frame 5, whose key did not move, draws something else."""
    now = Film().edited("source", "#a").redrawn(8, 9, 10, 11).flipped(5)
    verdict = judge(_entry(), LINUX, now.present())

    assert verdict.kind == "regression"
    assert verdict.regressed == ((5, 5),)
    assert verdict.moved == ((5, 5), (8, 11))
    assert [reason.what for reason in verdict.reasons] == ["#a"]
    assert decide(verdict, _entry(), LINUX, "a").exit_code == EXIT_GATE


def test_a_scene_that_moved_to_another_frame_is_still_known():
    """An edit shifts the film by one frame; the shifted scene is recognised by its key."""
    film = Film()
    shifted = film.edited("source", "canvas").but(
        scenes=("new", *film.scenes[:-1]), pixels=("new", *film.pixels[:-1])
    )
    assert judge(_entry(), LINUX, shifted.present()).kind == "changed"

    # Frame 6 shows what frame 5 showed, drawn otherwise.
    verdict = judge(_entry(), LINUX, shifted.flipped(6).present())
    assert verdict.kind == "regression"
    assert verdict.regressed == ((6, 6),)


def test_a_fault_is_seen_even_where_the_frame_looks_as_before():
    """A frame comes to show a recorded scene but keeps its old picture: the scene was misdrawn."""
    film = Film()
    scenes = list(film.scenes)
    scenes[5] = "a"  # drawn as D, recorded as A
    now = film.edited("source", "#a").but(scenes=tuple(scenes))
    verdict = judge(_entry(), LINUX, now.present())

    assert verdict.moved == ()
    assert verdict.kind == "regression"
    assert verdict.regressed == ((5, 5),)


def test_one_key_with_two_pictures_is_a_regression():
    """An unsound key is found within one film, and by the repeats that `verify` draws."""
    split = Film().edited("toolchain", "libthorvg").flipped(1)
    verdict = judge(_entry(), LINUX, split.present())
    assert verdict.kind == "regression"
    assert verdict.unsound == ((0, 1),)

    verdict = judge(_entry(), LINUX, Film(unsound=(3,)).present())
    assert verdict.kind == "regression"
    assert verdict.unsound == ((3, 3),)
    assert verdict.moved == ()


def test_a_new_toolchain_with_an_edit_is_changed_and_tells_what_it_redrew():
    """Scenes that stayed and moved are the toolchain's doing: not to be taken unseen."""
    now = Film().edited("source", "#a").redrawn(10, 11).edited("toolchain", "libthorvg")
    quiet = judge(_entry(), LINUX, now.present())
    assert (quiet.kind, quiet.redrawn) == ("changed", ())
    assert decide(quiet, _entry(), LINUX, "a").action == "write"

    loud = judge(_entry(), LINUX, now.flipped(5).present())
    assert (loud.kind, loud.redrawn, loud.regressed) == ("changed", ((5, 5),), ())
    decision = decide(loud, _entry(), LINUX, "a")
    assert decision.action == "untouched"
    assert "ledger accept" in (decision.hint or "")


@pytest.mark.parametrize(
    "change", [{"width": 97}, {"height": 55}, {"rate": Film().rate + 1}], ids=str
)
def test_the_shape_of_a_film_is_part_of_its_digest(change):
    """Another canvas or speed is another film, though every frame were the same."""
    verdict = judge(_entry(), LINUX, Film().but(**change).edited("source", "canvas").present())

    assert (verdict.kind, verdict.shape_moved, verdict.moved) == ("changed", True, ())
    assert judge(_entry(), LINUX, Film().but(**change).present()).kind == "regression"


def test_a_shorter_film_moves_the_frames_that_went():
    """Ranges reach to the end of the longer film."""
    short = Film(scenes=Film().scenes[:8], pixels=Film().pixels[:8]).edited("source", "canvas")
    verdict = judge(_entry(), LINUX, short.present())

    assert (verdict.kind, verdict.moved, verdict.compared) == ("changed", ((8, 11),), 8)


def test_a_digest_that_its_own_runs_contradict_is_a_regression():
    """Somebody wrote into the ledger by hand: no input explains it."""
    entry = _entry()
    forged = replace(entry.lanes[LINUX], digest=digest("forged"))
    verdict = judge(replace(entry, lanes={LINUX: forged}), LINUX, Film().present())

    assert (verdict.kind, verdict.moved) == ("regression", ())


def test_a_sample_of_the_present_is_compared_frame_by_frame():
    """It can fail, and where it agrees it is marked."""
    good = judge(_entry(), LINUX, Film(drawn=(0, 5)).present())
    assert (good.kind, good.sampled, good.compared) == ("match", True, 2)

    bad = judge(_entry(), LINUX, Film(drawn=(0, 5)).flipped(5).present())
    assert (bad.kind, bad.moved) == ("regression", ((5, 5),))

    blind = judge(_entry(), LINUX, Film(drawn=(0, 4)).flipped(5).present())
    assert (blind.kind, blind.sampled) == ("match", True)


def test_a_recorded_sample_never_passes_for_a_whole():
    """Whether the present is whole or the very same sample."""
    entry = _entry(Film(drawn=(0, 5)))
    for present in (Film().present(), Film(drawn=(0, 5)).present()):
        verdict = judge(entry, LINUX, present)
        assert (verdict.kind, verdict.sampled) == ("missing", True)
        assert not verdict.passes


def test_another_lane_stands_in_for_a_sample():
    """This lane has a sample, another the whole film: the whole one counts."""
    entry = recorded(_entry(Film(drawn=(0, 5))), MAC, Film().present())
    verdict = judge(entry, LINUX, Film().present())

    assert (verdict.kind, verdict.across, verdict.lane) == ("match", (MAC,), MAC)


def test_of_several_lanes_any_that_agrees_is_enough_and_the_nearest_explains():
    """Agreement is named; where none agrees, the lane with the fewest parts moved is compared."""
    mac = Film().edited("toolchain", "libthorvg", "mac").flipped(5)
    entry = recorded(_entry(), MAC, mac.present())

    found = judge(entry, "windows-amd64", Film().present())
    assert (found.kind, found.across) == ("match", (LINUX,))

    stranger = Film().flipped(0, 1)
    verdict = judge(entry, "windows-amd64", stranger.present())
    assert (verdict.kind, verdict.lane, verdict.across) == ("regression", LINUX, ())


def test_a_lane_of_another_film_explains_by_parts_alone():
    """After a merge a lane may speak of other inputs than the entry: their names are not known."""
    old = Film().edited("source", "#a", "old")
    entry = replace(_entry(), lanes=_entry(old).lanes)
    verdict = judge(
        entry, LINUX, Film().edited("source", "#a", "new").flipped(*range(12)).present()
    )

    assert [(reason.part, reason.what) for reason in verdict.reasons] == [("source", "source")]


def test_reasons_have_values_before_and_after():
    """None where a sub-input appeared or went."""
    film = Film().but(source={"canvas": "c", "#b": "b"}).redrawn(5)
    verdict = judge(_entry(), LINUX, film.present())

    assert [(r.what, r.before, r.after) for r in verdict.reasons] == [
        ("#a", digest("a"), None),
        ("#b", None, digest("b")),
    ]
