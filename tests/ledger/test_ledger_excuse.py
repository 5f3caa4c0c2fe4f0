"""Excuses hold inside their bounds, in their lane, until their day, and cover nothing else."""

from __future__ import annotations

import datetime as dt

import pytest
from ledger_films import LINUX, MAC, Film

from nfbuild.errors import Place
from nfbuild.ledger.excuse import DEAD, Measured, find, judge_excuse, nameless, needs_measuring
from nfbuild.ledger.verdict import judge
from nfbuild.ledger.write_policy import recorded
from nfbuild.project.values import Excuse

UNTIL = dt.date(2027, 6, 30)
TODAY = dt.date(2027, 1, 1)
EXCUSE = Excuse("demo", (MAC,), "glyph edges", UNTIL, 5, 1, Place("nfbuild.toml", 9))
ENTRY = recorded(None, LINUX, Film().present())
OTHER = Film().edited("toolchain", "libthorvg", "mac")
CHANGED = judge(ENTRY, MAC, OTHER.flipped(5, 6, 7).present())
INSIDE = {5: Measured(1, 1), 6: Measured(5, 1), 7: Measured(5, 1)}


def test_a_difference_within_the_bounds_is_excused_and_told():
    """Exactly at the bounds is inside; what was measured is part of the answer."""
    verdict, judged = judge_excuse(CHANGED, EXCUSE, TODAY, INSIDE)

    assert (verdict.kind, verdict.passes) == ("excused", True)
    assert verdict.moved == ((5, 7),)
    assert (judged.outcome, judged.frames, judged.pixels, judged.step) == ("holds", 3, 5, 1)
    assert judged.worst == 6
    assert judged.fact == "3 frames differ, in at most 5 pixels by at most 1/255"
    assert judged.warning is None


@pytest.mark.parametrize(
    ("frame", "fact"),
    [
        (Measured(6, 1), "frame 6 differs in 6 pixels by at most 1/255; 5 by 1 are excused"),
        (Measured(1, 2), "frame 6 differs in 1 pixel by at most 2/255; 5 by 1 are excused"),
    ],
)
def test_one_pixel_or_one_step_beyond_the_bounds_fails(frame, fact):
    """In one frame of many."""
    verdict, judged = judge_excuse(CHANGED, EXCUSE, TODAY, {**INSIDE, 6: frame})

    assert (verdict.kind, verdict.passes) == ("changed", False)
    assert (judged.outcome, judged.worst, judged.fact) == ("exceeded", 6, fact)
    assert judged.outcome in DEAD


def test_an_excuse_ends_after_its_day():
    """It holds on its last day and fails one day later."""
    on_the_day = judge_excuse(CHANGED, EXCUSE, UNTIL, INSIDE)
    after = judge_excuse(CHANGED, EXCUSE, UNTIL + dt.timedelta(days=1), INSIDE)

    assert on_the_day[0].kind == "excused"
    assert (after[0].kind, after[1].outcome) == ("changed", "expired")
    assert after[1].fact == "ended on 2027-06-30"
    assert after[1].outcome in DEAD


@pytest.mark.parametrize(("days", "warned"), [(15, False), (14, True), (1, True), (0, True)])
def test_it_warns_fourteen_days_before_it_ends(days, warned):
    """Long enough for someone to look."""
    today = UNTIL - dt.timedelta(days=days)
    _, judged = judge_excuse(CHANGED, EXCUSE, today, INSIDE)

    assert judged.days_left == days
    assert (judged.warning == "the excuse of `demo` ends on 2027-06-30") is warned


@pytest.mark.parametrize("measured", [None, {}, {5: Measured(1, 1), 6: Measured(1, 1)}])
def test_without_the_recorded_frames_it_cannot_be_judged(measured):
    """One frame that is not at hand is enough, and it says which."""
    verdict, judged = judge_excuse(CHANGED, EXCUSE, TODAY, measured)

    assert (verdict.kind, judged.outcome) == ("changed", "unmeasured")
    absent = 7 if measured else 5
    assert judged.fact.startswith(f"frame {absent} as recorded is in no cache")


@pytest.mark.parametrize(
    ("film", "fact"),
    [
        (OTHER.edited("source", "#a").redrawn(5), "source moved"),
        (OTHER.edited("fonts", "Sans").redrawn(5), "fonts moved"),
        (OTHER.edited("source", "#a").edited("media", "logo.png").redrawn(5), "source and media"),
        (Film().edited("source", "#a").redrawn(9).flipped(5), "a regression"),
        (Film().flipped(5), "a regression"),
        (OTHER.but(width=97), "the shape of the film moved"),
    ],
)
def test_it_never_covers_an_edit_or_a_regression(film, fact):
    """Whatever was measured."""
    before = judge(ENTRY, MAC, film.present())
    every = {number: Measured(1, 1) for number in range(12)}
    verdict, judged = judge_excuse(before, EXCUSE, TODAY, every)

    assert verdict == before
    assert not verdict.passes
    assert judged.outcome == "refused"
    assert fact in judged.fact
    assert not needs_measuring(before, EXCUSE, TODAY)


def test_an_excuse_that_nothing_needs_is_told():
    """The difference is gone, or the composition is."""
    match = judge(ENTRY, MAC, OTHER.present())
    verdict, judged = judge_excuse(match, EXCUSE, TODAY, None)

    assert (verdict.kind, judged.outcome) == ("match", "unneeded")
    assert nameless({"demo": EXCUSE, "b": EXCUSE}, ["demo"]) == [EXCUSE]


def test_an_excuse_is_for_its_lanes():
    """Another platform has none."""
    assert find({"demo": EXCUSE}, "demo", MAC) is EXCUSE
    assert find({"demo": EXCUSE}, "demo", LINUX) is None
    assert find({"demo": EXCUSE}, "other", MAC) is None


def test_measuring_is_asked_for_only_where_it_could_help():
    """It reads frames, which costs."""
    assert needs_measuring(CHANGED, EXCUSE, TODAY)
    assert not needs_measuring(CHANGED, None, TODAY)
    assert not needs_measuring(CHANGED, EXCUSE, UNTIL + dt.timedelta(days=1))
    assert not needs_measuring(judge(ENTRY, MAC, OTHER.present()), EXCUSE, TODAY)
