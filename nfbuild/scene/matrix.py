"""Affine matrices and the transform lists that bake has to understand to place a pivot.

A matrix is (a, b, c, d, e, f): x' = a x + c y + e, y' = b x + d y + f. Sines and cosines are the
core's own series, so that no C library has a say.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Matrix: TypeAlias = "tuple[float, float, float, float, float, float]"

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

_FUNCTION = re.compile(r"([A-Za-z]+)\s*\(([^)]*)\)", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_HALF_PI = 1.5707963267948966


def multiply(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies `second`, then `first`."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (
        a * g + c * h,
        b * g + d * h,
        a * i + c * j,
        b * i + d * j,
        a * k + c * m + e,
        b * k + d * m + f,
    )


def apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """Return the image of the point (x, y)."""
    a, b, c, d, e, f = matrix
    return (a * x + c * y + e, b * x + d * y + f)


def sine_cosine(degrees: float) -> tuple[float, float]:
    """Return sine and cosine of an angle, by a fixed-order series on -45..45 degrees."""
    turns = degrees - 360.0 * int(degrees / 360.0)
    quarter = int(turns / 90.0 + (0.5 if turns >= 0.0 else -0.5))
    angle = (turns - 90.0 * quarter) / 90.0 * _HALF_PI
    square = angle * angle
    sine = angle
    term = angle
    for k in (2, 4, 6, 8, 10, 12, 14, 16):
        term = -term * square / (k * (k + 1))
        sine += term
    cosine = 1.0
    term = 1.0
    for k in (1, 3, 5, 7, 9, 11, 13, 15, 17):
        term = -term * square / (k * (k + 1))
        cosine += term
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][quarter % 4]


def read_transform(text: str) -> Matrix | None:
    """Return the matrix of a transform list, None where a function of it cannot be read."""
    matrix = IDENTITY
    for name, inside in _FUNCTION.findall(text):
        step = _function(name, [float(number) for number in _NUMBER.findall(inside)])
        if step is None:
            return None
        matrix = multiply(matrix, step)
    return matrix


def _function(name: str, values: list[float]) -> Matrix | None:
    if not values:
        return None
    first = values[0]
    if name == "translate":
        return (1.0, 0.0, 0.0, 1.0, first, values[1] if len(values) > 1 else 0.0)
    if name == "scale":
        return (first, 0.0, 0.0, values[1] if len(values) > 1 else first, 0.0, 0.0)
    if name == "rotate":
        sine, cosine = sine_cosine(first)
        turn: Matrix = (cosine, sine, -sine, cosine, 0.0, 0.0)
        if len(values) < 3:
            return turn
        x, y = values[1], values[2]
        there: Matrix = (1.0, 0.0, 0.0, 1.0, x, y)
        back: Matrix = (1.0, 0.0, 0.0, 1.0, -x, -y)
        return multiply(multiply(there, turn), back)
    if name in ("skewX", "skewY"):
        sine, cosine = sine_cosine(first)
        if cosine == 0.0:
            return None
        tangent = sine / cosine
        return (
            (1.0, 0.0, tangent, 1.0, 0.0, 0.0)
            if name == "skewX"
            else (1.0, tangent, 0.0, 1.0, 0.0, 0.0)
        )
    if name == "matrix" and len(values) >= 6:
        return (values[0], values[1], values[2], values[3], values[4], values[5])
    return None
