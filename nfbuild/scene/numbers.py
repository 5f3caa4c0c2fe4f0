"""Numbers as authors write them and as bake prints them.

A number is ASCII: sign, digits, point, exponent. What is compared exactly (instants, windows,
rates) becomes a `Fraction` of its decimal text; what is drawn becomes a double. Printing is
always six significant digits, as C's `%g`.
"""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_BLANKS = " \t\r\n\f"

# A decimal exponent beyond this is no length and no time; an exact value of it would be huge.
_EXPONENT = 400


def exact(text: str) -> Fraction | None:
    """Return the exact value of a decimal number, None where `text` is none."""
    stripped = text.strip(_BLANKS)
    if _NUMBER.fullmatch(stripped) is None:
        return None
    mantissa, _, exponent = stripped.lower().partition("e")
    if exponent and (len(exponent) > 5 or abs(int(exponent)) > _EXPONENT):
        return None
    return Fraction(stripped) if exponent else Fraction(mantissa.rstrip(".") or "0")


def double(text: str) -> float | None:
    """Return the double nearest to a decimal number, None where `text` is none or too big."""
    stripped = text.strip(_BLANKS)
    if _NUMBER.fullmatch(stripped) is None:
        return None
    value = float(stripped)
    return value if abs(value) < float("inf") else None


def shown(value: float) -> str:
    """Return six significant digits, `%g`; zero has no sign."""
    text = f"{value:g}"
    return "0" if text == "-0" else text


def json_number(value: object) -> float | None:
    """Return a JSON value as a double: numbers, `true`/`false`, and text that is a number."""
    if isinstance(value, (int, float)):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if abs(number) < float("inf") else None
    if isinstance(value, str):
        return double(value)
    return None
