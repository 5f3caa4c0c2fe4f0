"""Rates, counts, windows, clocks and eases: time is exact until the last step."""

from fractions import Fraction

import pytest

from nfbuild.scene.canvas import read_canvas
from nfbuild.scene.clock import Clock
from nfbuild.scene.ease import NAMED, find
from nfbuild.scene.mapping import read_mapping
from nfbuild.scene.protocols import Limits
from nfbuild.scene.tree import Element

RATES = ["7", "11", "12.5", "23.976", "24000/1001", "29.97", "30000/1001", "43", "59.94", "60"]


def canvas(rate, duration):
    attributes = {
        "data-width": "9",
        "data-height": "9",
        "data-fps": rate,
        "data-duration": duration,
    }
    return read_canvas(Element("svg", attributes), "x.nf.svg", Limits(), still=False)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("30", Fraction(30)),
        ("29.97", Fraction(2997, 100)),
        ("30000/1001", Fraction(30000, 1001)),
        (" 12.5 ", Fraction(25, 2)),
        ("1e1", Fraction(10)),
        ("59.94/2", Fraction(2997, 100)),
    ],
)
def test_a_rate_is_exact(text, rate):
    """The decimal text means what it says."""
    assert canvas(text, "1").rate == rate


@pytest.mark.parametrize("rate", RATES)
def test_n_frames_of_time_are_n_frames(rate):
    """A duration written with enough digits for n frames has n frames, for every n to 300."""
    exact = canvas(rate, "1").rate
    for n in range(1, 301):
        seconds = float(n / exact)

        assert canvas(rate, f"{seconds:.12f}").frames == n


@pytest.mark.parametrize(
    ("duration", "frames"),
    [("0.25", 2), ("0.35", 4), ("0.45", 4), ("0.05", 1), ("0.049", 1), ("0.001", 1), ("0.15", 2)],
)
def test_half_a_frame_rounds_to_even_and_at_least_one_is_drawn(duration, frames):
    """Exactly half: 2.5 is 2, 3.5 is 4; nothing has no frame."""
    assert canvas("10", duration).frames == frames


def shown(world, attributes, *, rate="10", duration="1"):
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" data-width="9" data-height="9" data-fps="{rate}"'
        f' data-duration="{duration}"><rect width="5" height="5" {attributes}/></svg>'
    )
    composition = world.text(text)
    return [n for n in range(composition.frames) if composition.bake(n).pieces]


@pytest.mark.parametrize(
    ("start", "length", "frames"),
    [
        ("0.1", "0.1", [1, 2]),
        ("0.1", "0.099", [1]),
        ("0.5", "0", [5]),
        ("0.51", "0.08", []),
        ("-1", "1.25", [0, 1, 2]),
        ("0.9", "5", [9]),
        ("0.3", "-1", []),
    ],
)
def test_a_window_is_closed_at_both_ends(world, start, length, frames):
    """No tolerance: a window that ends a thousandth before a frame does not show in it."""
    assert shown(world, f'data-start="{start}" data-duration="{length}"') == frames


@pytest.mark.parametrize("rate", RATES)
def test_a_window_that_starts_at_a_frames_instant_shows_in_that_frame(world, rate):
    """For every frame of a second, whatever the rate."""
    exact = canvas(rate, "1").rate
    if exact.numerator % 3 == 0 and exact.denominator != 1:
        pytest.skip("its instants have no finite decimal text")
    for number in (0, 1, 3):
        instant = number / exact
        if 10**9 % instant.denominator:
            continue
        text = f"{float(instant):.12g}"

        assert shown(world, f'data-start="{text}" data-duration="0"', rate=rate) == [number]


@pytest.mark.parametrize(
    ("attributes", "instant", "mapped"),
    [
        ({}, "0.3", "0.3"),
        ({}, "3", "2"),
        ({"data-start": "1"}, "0.5", "0"),
        ({"data-in": "0.5", "data-speed": "2", "data-start": "0.1"}, "0.4", "1.1"),
        ({"data-speed": "-1", "data-in": "1"}, "0.4", "0.6"),
        ({"data-loop": "true"}, "4.5", "0.5"),
        ({"data-loop": "yes", "data-speed": "-1"}, "0.5", "1.5"),
        ({"data-loop": "false"}, "4.5", "2"),
        ({"data-speed": "0", "data-in": "0.7"}, "9", "0.7"),
    ],
)
def test_the_time_inside_is_mapped_exactly(attributes, instant, mapped):
    """In, speed and loop over a source of two seconds."""
    mapping = read_mapping(Element("image", attributes), "x.nf.svg")

    assert mapping.instant(Fraction(instant), Fraction(2)) == Fraction(mapped)


def test_a_clock_offers_its_fields():
    """The frame of a mapped time is rounded half to even; whole rates are whole numbers."""
    made = canvas("10", "2")
    fields = Clock(made, 1, 4).fields

    assert fields == {
        "frame": 2,
        "second": 0.25,
        "time": 0.25,
        "fps": 10,
        "duration": 2.0,
        "frames": 20,
    }
    assert Clock(canvas("30000/1001", "2"), 0, 1).fields["fps"] == 30000 / 1001


SPELLED = [
    "cubic-bezier(.1, .9, .9, -.4)",
    "cubic-bezier(1,0,0,1)",
    "cubic-bezier(0,1,1,0)",
    "cubic-bezier(0,0,1,1)",
    "cubic-bezier(0.5,0,0.5,1)",
    "cubic-bezier(1e-1,-5,+1,5)",
    "cubic-bezier(0,0,0,0)",
    "cubic-bezier(1,1,1,1)",
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*sorted(NAMED), *SPELLED])
def test_an_ease_is_the_peers_to_the_last_bit(name):
    """Sampled finely, and beyond the ends where the curve is a formula."""
    from nanoframes.ease import eased

    ease = find(name)
    for step in range(1001):
        progress = step / 1000

        assert ease(progress) == eased(name, progress)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [
        *("Ease-In", " ease-in", "nope", "", "cubic-bezier(1.5,0,0,1)", "cubic-bezier(0,0,-1,1)"),
        *("cubic-bezier(0,0,1)", "cubic-bezier(0 0 1 1)", "cubic-bezier(0,inf,1,1)"),
        *("cubic-bezier(0,0,1.,1)", "cubic-bezier(0,0,1,1)x"),
        *("CUBIC-BEZIER(0,0,1,1)", "cubic-bezier (0,0,1,1)", "cubic-bezier(0,0,1,1) "),
        *("cubic-bezier(\u0660,0,1,1)", "cubic-bezier(0,1_0,1,1)"),
    ],
)
def test_what_is_no_ease_to_the_peer_is_none_here(name):
    """Names are exact, and a curve has to be a function of time."""
    from nanoframes.ease import known

    assert find(name) is None
    assert not known(name)
