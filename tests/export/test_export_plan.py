"""What one `[[export]]` means for one composition: frames, times, sizes, names, keys."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfbuild.dataclasses import replace
from nfbuild.digests import InputDigest, SequenceDigest
from nfbuild.errors import Place, ProjectError
from nfbuild.export.plan import Subject, default_export, resolve
from nfbuild.export.timing import Timing, instant
from nfbuild.project.values import Export

PLACE = Place("nfbuild.toml", 12)
LOOP = Subject("intro/loop", 640, 361, Fraction(30), 60, {"hit": (10, 19)})


def plan(kind="mp4", to=None, subject=LOOP, **options):
    target = to or ("out/{name}/{number:05d}.png" if kind == "png" else f"out/{{name}}.{kind}")
    return resolve(Export("*", kind, target, PLACE, **options), subject, "/project")


def test_a_plain_export_takes_every_frame_once():
    """The whole film at its own rate and size."""
    made = plan("mov")

    assert list(made.timing.numbers()) == list(range(60))
    assert (made.width, made.height, made.stored_height) == (640, 361, 361)
    assert made.timing.duration == 2
    assert made.target == os.path.join("/project", "out", "intro", "loop.mov")
    assert made.pattern is None
    assert made.alpha


def test_halved_colour_planes_need_even_sides():
    """Only the formats that halve them are enlarged."""
    assert [(plan(kind).stored_width, plan(kind).stored_height) for kind in ("mp4", "webm")] == [
        (640, 362)
    ] * 2
    assert [plan(kind).stored_height for kind in ("mov", "apng", "webp", "gif")] == [361] * 4


def test_the_scale_sizes_the_raster_half_up():
    """As every raster at a scale is sized; never less than one pixel."""
    assert (plan("mov", scale=Fraction(1, 2)).width, plan("mov", scale=Fraction(1, 2)).height) == (
        320,
        181,
    )
    assert plan("mov", scale=Fraction(1, 5000)).height == 1


def test_a_marker_is_its_range():
    """Both ends are included."""
    assert list(plan(marker="hit").timing.numbers()) == list(range(10, 20))
    assert plan(frames=(10, 19)).timing == plan(marker="hit").timing


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"frames": (10, 60)}, "has no frames 10 to 60", "0 to 59"),
        ({"frames": (5, 4)}, "has no frames 5 to 4", "0 to 59"),
        ({"marker": "hot"}, "has no marker `hot`", "`hit`"),
        ({"rate": Fraction(0)}, "rate 0 is not above 0", "rate = 25"),
        ({"scale": Fraction(-1)}, "scale -1 is not above 0", "scale = 2"),
        ({"rate": Fraction(10**7)}, "frames at a rate of", "lower `rate`"),
        ({"rate": Fraction(5994005994, 10**8)}, "no exact form", '"60000/1001"'),
        ({"scale": Fraction(100)}, "more than `mp4` can hold", "smaller `scale`"),
    ],
)
def test_what_the_composition_or_the_format_does_not_have_is_refused(options, message, hint):
    """Place, fact, hint."""
    with pytest.raises(ProjectError) as caught:
        plan(**options)
    assert message in caught.value.message
    assert caught.value.hint is not None
    assert hint in caught.value.hint
    assert caught.value.place == PLACE


def test_a_marker_of_a_film_without_markers_says_so():
    """The hint names the other way to choose frames."""
    with pytest.raises(ProjectError) as caught:
        plan(marker="x", subject=replace(LOOP, markers={}))
    assert caught.value.hint == "it has no markers; write `range` instead"


def test_a_sequence_needs_numbers():
    """Every frame has a file of its own."""
    with pytest.raises(ProjectError, match=r"no `\{number\}`"):
        plan("png", to="out/{name}.png")
    made = plan("png")
    assert made.pattern is not None
    assert made.pattern.name(7) == "00007.png"
    assert made.folder == os.path.join("/project", "out", "intro", "loop")


def test_players_limits_are_kept_and_said():
    """GIF at 60 a second would be played at 10: it is made at 50, with a note."""
    fast = replace(LOOP, rate=Fraction(60))
    made = plan("gif", subject=fast)

    assert (made.timing.rate, made.timing.count) == (50, 50)
    assert made.timing.duration == 1
    assert made.notes == ("`gif` plays at 50 frames a second at the most, not at 60",)
    assert plan("apng", subject=fast).notes == ()


def test_h264_has_a_background():
    """It has no transparency: nothing said means black."""
    assert plan("mp4").background == (0, 0, 0)
    assert not plan("mp4").alpha
    assert plan("webm").background is None
    assert plan("webm", background="#0a141e").background == (10, 20, 30)
    assert not plan("webm", background="#0a141e").alpha


def test_every_setting_is_in_the_key():
    """Two exports that differ in anything that shows have two keys; where they go does not show."""
    frames = SequenceDigest("a" * 64)
    exports = [
        plan("gif"),
        plan("webp"),
        plan("webp", quality=50),
        plan("gif", loop=2),
        plan("gif", palette=16),
        plan("gif", rate=Fraction(10)),
        plan("gif", frames=(0, 9)),
        plan("gif", frames=(1, 10)),
        plan("gif", scale=Fraction(2)),
        plan("gif", background="#000000"),
        plan("mp4"),
    ]
    keys = [made.key(frames, None) for made in exports]
    keys += [plan("gif").key(SequenceDigest("b" * 64), None), plan("gif").key(None, None)]
    keys += [plan("mp4").key(frames, InputDigest("c" * 64))]

    assert len(set(keys)) == len(keys)
    assert plan("gif", to="elsewhere/{name}.gif").key(frames, None) == keys[0]


def test_the_default_of_each_format_resolves():
    """`--export FORMAT` writes below `out`, one name for each format."""
    kinds = ("png", "mp4", "webm", "mov", "apng", "webp", "gif")
    targets = {
        resolve(default_export(kind, Place("--export")), LOOP, "/project").target for kind in kinds
    }
    assert len(targets) == len(kinds)


RATES = st.fractions(min_value=Fraction(1, 3), max_value=61, max_denominator=101)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(0, 50), RATES, RATES)
def test_one_rule_drops_and_repeats(count, first, source_rate, rate):
    """Frame k shows what is on screen at k / R; the length is right to half a frame."""
    timing = Timing(first, first + count - 1, source_rate, rate)
    numbers = list(timing.numbers())

    assert len(numbers) == timing.count >= 1
    assert numbers == [timing.source_number(position) for position in range(timing.count)]
    for position, number in enumerate(numbers):
        begins = (number - first) / source_rate
        assert begins <= position / rate
        if number < timing.last:
            assert position / rate < begins + 1 / source_rate
    if timing.count > 1:
        assert abs(timing.duration - count / source_rate) <= 1 / rate / 2


@given(RATES, st.integers(1, 1000), st.sampled_from([100, 1000]))
def test_rounded_instants_never_drift(rate, position, units):
    """However long the film, an instant is at most half a unit from where it belongs."""
    assert abs(Fraction(instant(position, rate, units), units) - position / rate) <= Fraction(
        1, 2 * units
    )


def test_an_ntsc_film_at_its_own_rate_drops_nothing():
    """30000/1001 is a rate like any other."""
    rate = Fraction(30000, 1001)
    assert list(Timing(0, 899, rate, rate).numbers()) == list(range(900))
    assert Timing(0, 899, Fraction(30), rate).count == 899
