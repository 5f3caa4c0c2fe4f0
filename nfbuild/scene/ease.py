"""Eases: how a segment's progress becomes motion.

An ease maps progress 0..1 to a position; it may leave 0..1 in between (overshoot). The named
curves and the grammar of `cubic-bezier(x1, y1, x2, y2)` are the format's; a name that is none of
them is linear. Only + - * / and comparisons, in fixed order: the same double on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

Ease: TypeAlias = Callable[[float], float]

_NUMBER = r"\s*([+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
_BEZIER = re.compile(
    r"cubic-bezier\(" + ",".join([_NUMBER] * 4) + r"\)",
    re.ASCII,
)

# The parameter is found by halving an interval. Forty-eight steps, without a shortcut for a hit:
# where the curve stands still for a moment, another count or form gives another sixth digit.
_STEPS = 48


def linear(progress: float) -> float:
    """Return `progress`: constant speed."""
    return progress


def _ease_in(u: float) -> float:
    return u * u


def _ease_out(u: float) -> float:
    return 1.0 - (1.0 - u) * (1.0 - u)


def _ease_in_out(u: float) -> float:
    return 3.0 * u * u - 2.0 * u * u * u


def cubic_bezier(x1: float, y1: float, x2: float, y2: float) -> Ease:
    """Return the curve with end points (0,0) and (1,1); `x1` and `x2` lie in 0..1."""

    def ease(u: float) -> float:
        if u <= 0.0:
            return 0.0
        if u >= 1.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            s = (low + high) / 2
            r = 1 - s
            if 3 * r * r * s * x1 + 3 * r * s * s * x2 + s * s * s < u:
                low = s
            else:
                high = s
        s = (low + high) / 2
        r = 1 - s
        return 3 * r * r * s * y1 + 3 * r * s * s * y2 + s * s * s

    return ease


NAMED: Mapping[str, Ease] = MappingProxyType(
    {
        "linear": linear,
        "ease-in": _ease_in,
        "ease-out": _ease_out,
        "ease-in-out": _ease_in_out,
        "ease-out-cubic": cubic_bezier(0.215, 0.61, 0.355, 1.0),
        "ease-in-out-cubic": cubic_bezier(0.645, 0.045, 0.355, 1.0),
        "ease-out-expo": cubic_bezier(0.16, 1.0, 0.3, 1.0),
        "ease-out-back": cubic_bezier(0.175, 0.885, 0.32, 1.275),
        "ease-in-back": cubic_bezier(0.6, -0.28, 0.735, 0.045),
        "standard": cubic_bezier(0.2, 0.0, 0.0, 1.0),
        "emphasized": cubic_bezier(0.05, 0.7, 0.1, 1.0),
        "accelerate": cubic_bezier(0.3, 0.0, 1.0, 1.0),
        "decelerate": cubic_bezier(0.0, 0.0, 0.0, 1.0),
        "apple": cubic_bezier(0.25, 0.1, 0.25, 1.0),
        "gentle": cubic_bezier(0.4, 0.0, 0.2, 1.0),
    }
)
"""Every ease that has a name."""


def find(text: str) -> Ease | None:
    """Return the ease that `text` names or spells out, None where it is neither.

    `cubic-bezier(...)` with an x outside 0..1 is no function of time, so it is no ease.
    """
    named = NAMED.get(text)
    if named is not None:
        return named
    match = _BEZIER.fullmatch(text)
    if match is None:
        return None
    x1, y1, x2, y2 = (float(number) for number in match.groups())
    if not (0.0 <= x1 <= 1.0 and 0.0 <= x2 <= 1.0):
        return None
    if abs(y1) == float("inf") or abs(y2) == float("inf"):
        return None
    return cubic_bezier(x1, y1, x2, y2)
