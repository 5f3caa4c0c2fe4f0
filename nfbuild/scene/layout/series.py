"""Sine, cosine and arctangent of our own: the same bits on every machine.

The C library's functions differ between systems in the last bit, and a last bit can move a
glyph. These take only `+ - * /` and comparisons, in one fixed order, on doubles. They are right
to about two units in the last place, far below the six digits that a baked document keeps.
Angles are in degrees, as SVG writes them, so that the reduction to one octant is exact.

Formulas: the Taylor series of sine and cosine to the 17th power within 45 degrees, and of the
arctangent to the 29th within 15 degrees, with `atan x = 30 + atan((x sqrt 3 - 1) / (x + sqrt 3))`.
"""

from __future__ import annotations

PI = 3.141592653589793
SQRT_3 = 1.7320508075688772
_TAN_15 = 0.2679491924311227


def sine(degrees: float) -> float:
    """Return the sine of an angle in degrees; any finite size."""
    turn = _reduced(degrees)
    if turn < 0.0:
        return -_sine_to_180(-turn)
    return _sine_to_180(turn)


def cosine(degrees: float) -> float:
    """Return the cosine of an angle in degrees; any finite size."""
    turn = _reduced(degrees)
    if turn < 0.0:
        turn = -turn
    if turn > 90.0:
        return -_cosine_to_90(180.0 - turn)
    return _cosine_to_90(turn)


def arctangent(y: float, x: float) -> float:
    """Return the direction of the vector (x, y) in degrees, -180 to 180; 0 for no vector."""
    wide = x if x >= 0.0 else -x
    high = y if y >= 0.0 else -y
    if wide == 0.0 and high == 0.0:
        return 0.0
    angle = 90.0 - _arctangent_to_45(wide / high) if high > wide else _arctangent_to_45(high / wide)
    if x < 0.0:
        angle = 180.0 - angle
    return -angle if y < 0.0 else angle


def _reduced(degrees: float) -> float:
    """Return the same direction within -180 to 180; exact, as `%` on doubles is."""
    turn = degrees % 360.0
    return turn - 360.0 if turn > 180.0 else turn


def _sine_to_180(turn: float) -> float:
    if turn > 90.0:
        turn = 180.0 - turn
    if turn > 45.0:
        return _cosine_series((90.0 - turn) * PI / 180.0)
    return _sine_series(turn * PI / 180.0)


def _cosine_to_90(turn: float) -> float:
    if turn > 45.0:
        return _sine_series((90.0 - turn) * PI / 180.0)
    return _cosine_series(turn * PI / 180.0)


def _sine_series(x: float) -> float:
    square = x * x
    total = 1.0
    for divisor in (272.0, 210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0):
        total = 1.0 - square / divisor * total
    return x * total


def _cosine_series(x: float) -> float:
    square = x * x
    total = 1.0
    for divisor in (240.0, 182.0, 132.0, 90.0, 56.0, 30.0, 12.0, 2.0):
        total = 1.0 - square / divisor * total
    return total


def _arctangent_to_45(x: float) -> float:
    if x > _TAN_15:
        return 30.0 + _arctangent_series((x * SQRT_3 - 1.0) / (x + SQRT_3)) * 180.0 / PI
    return _arctangent_series(x) * 180.0 / PI


def _arctangent_series(x: float) -> float:
    square = x * x
    total = 0.0
    for odd in (
        29.0,
        27.0,
        25.0,
        23.0,
        21.0,
        19.0,
        17.0,
        15.0,
        13.0,
        11.0,
        9.0,
        7.0,
        5.0,
        3.0,
        1.0,
    ):
        total = 1.0 / odd - square * total
    return x * total
