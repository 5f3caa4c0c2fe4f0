"""Arithmetic that decides pixels has the same bits on every machine: vectors in hexadecimal.

`tests/vectors/floats.json` is the output of easing, interpolation, transforms and layout for
inputs that are doubles themselves. A moved last bit is a moved rule of evaluation: it can move a
digit of what bake prints, and then a picture. The series have theirs in
`test_scene_layout_series`.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from nfbuild.scene import matrix
from nfbuild.scene.ease import NAMED, find
from nfbuild.scene.layout.curve import circle
from nfbuild.scene.layout.path import flatten
from nfbuild.scene.transform import motion_between

VECTORS = json.loads(
    (Path(__file__).resolve().parents[1] / "vectors/floats.json").read_text("utf-8")
)


def bits(value: object) -> object:
    """Return doubles as hexadecimal text, in the shape they came."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return float(value).hex()
    return [bits(one) for one in value]


@pytest.mark.parametrize("vector", VECTORS["eases"], ids=lambda vector: vector["ease"])
def test_an_ease_has_these_bits(vector):
    """Named curves and spelled ones, at thirds, sevenths and next to the ends."""
    ease = find(vector["ease"])

    assert [bits(ease(float.fromhex(at))) for at in vector["at"]] == vector["bits"]


def test_every_named_ease_has_a_vector():
    """A new name gets its bits with it."""
    assert sorted(NAMED) == sorted(
        vector["ease"] for vector in VECTORS["eases"] if "(" not in vector["ease"]
    )


@pytest.mark.parametrize(
    "vector",
    [vector for vector in VECTORS["eases"] if "(" in vector["ease"]],
    ids=lambda vector: vector["ease"],
)
def test_the_bits_of_a_bezier_are_right(vector):
    """Against the curve in exact fractions; where it stands upright, within what a double can say.

    The solver looks for the parameter at which x is u, and x itself is a double: it may answer
    for any u that rounds alike.
    """
    x1, y1, x2, y2 = (Fraction(word) for word in vector["ease"][13:-1].split(","))
    for at, shown in zip(vector["at"], vector["bits"], strict=True):
        u, slack = Fraction(float.fromhex(at)), Fraction(2, 10**16)
        ends = [_bezier(_parameter(near, x1, x2), y1, y2) for near in (u - slack, u + slack)]
        small = Fraction(1, 10**9)
        assert min(ends) - small < Fraction(float.fromhex(shown)) < max(ends) + small


def _parameter(u: Fraction, x1: Fraction, x2: Fraction) -> Fraction:
    low, high = Fraction(0), Fraction(1)
    for _ in range(100):
        middle = (low + high) / 2
        if _bezier(middle, x1, x2) < u:
            low = middle
        else:
            high = middle
    return low


def _bezier(s: Fraction, first: Fraction, second: Fraction) -> Fraction:
    return 3 * (1 - s) * (1 - s) * s * first + 3 * (1 - s) * s * s * second + s * s * s


@pytest.mark.parametrize("vector", VECTORS["motions"], ids=lambda vector: vector["name"])
def test_an_interpolation_has_these_bits(vector):
    """Low + (high - low) * position, in that order."""
    move = motion_between(vector["low"], vector["high"])

    assert [bits(move(float.fromhex(at))) for at in vector["at"]] == vector["bits"]


@pytest.mark.parametrize("vector", VECTORS["matrices"], ids=lambda vector: vector["transform"])
def test_a_transform_has_these_bits(vector):
    """Matrices are multiplied in the order of the list, and applied in one expression."""
    found = matrix.read_transform(vector["transform"])

    assert bits(found) == vector["bits"]
    assert bits(matrix.apply(found, 0.1, -7.3)) == vector["point"]


@pytest.mark.parametrize("vector", VECTORS["paths"], ids=lambda vector: vector["d"])
def test_a_flattened_path_has_these_bits(vector):
    """Every twentieth point of curves, arcs and lines, and the path's length."""
    pieces = flatten(vector["d"])

    assert bits(pieces.points[::20]) == vector["points"]
    assert bits(pieces.distances[-1]) == vector["length"]


def test_a_circle_has_these_bits():
    """What text on a circle stands on."""
    vector = VECTORS["circle"]
    pieces = circle(*(float.fromhex(word) for word in vector["circle"]))

    assert bits(pieces.points[::30]) == vector["points"]
    assert bits(pieces.distances[-1]) == vector["length"]


def test_the_vectors_tell_orders_apart():
    """They were chosen so that another order of the same sum has another last bit."""
    apart = 0
    for vector in VECTORS["motions"]:
        low, high = vector["low"].get("translate"), vector["high"].get("translate")
        if low and high:
            for at in map(float.fromhex, vector["at"]):
                other = low[0] * (1.0 - at) + high[0] * at
                apart += other != low[0] + (high[0] - low[0]) * at

    assert apart >= 3
