"""One spelling for values that draw the same: numbers, colours, transform lists, paths.

Every rule here was measured on the rasterizer: the two spellings give the same bytes of pixels
(`tests/scene/test_scene_normal.py` draws them). A value that a rule does not read completely is
kept as the author wrote it; nothing is ever rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from nfbuild.scene.colour import normal_colour

_BLANKS = " \t\r\n"

# Seven digits at most: the rasterizer adds up digits in single precision, and only what fits its
# 24 bits is sure to be the same number when zeros are dropped.
# A point without digits after it stops the rasterizer's reader in places: it stays.
_PLAIN = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]+))?", re.ASCII)
_DIGITS = 7

_FUNCTION = re.compile(
    r"[ \t\r\n]*(matrix|translate|scale|rotate|skewX|skewY)[ \t\r\n]*\(([-+0-9., \t\r\n]*)\)",
    re.ASCII,
)
_ARITIES = {
    "matrix": (6,),
    "translate": (1, 2),
    "scale": (1, 2),
    "rotate": (1, 3),
    "skewX": (1,),
    "skewY": (1,),
}
_LETTERS = "MLHVCSQTZmlhvcsqtz"
_PATH_TOKEN = re.compile(
    rf"(?:[ \t\r\n]*,)?[ \t\r\n]*(?:([{_LETTERS}])"
    r"|([-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    rf"(?=[{_LETTERS} \t\r\n,]|$))",
    re.ASCII,
)
_LIST = re.compile(r"[-+0-9. \t\r\n,]*", re.ASCII)
_SEPARATORS = re.compile(r"[ \t\r\n]*,[ \t\r\n]*|[ \t\r\n]+", re.ASCII)


def normal_number(text: str) -> str:
    """Return the shortest spelling of a plain decimal number, any other text unchanged."""
    value = text.strip(_BLANKS)
    match = _PLAIN.fullmatch(value)
    if match is None:
        return text
    sign, whole, fraction = match.group(1), match.group(2), match.group(3) or ""
    if not (whole or fraction) or len(whole) + len(fraction) > _DIGITS:
        return text
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    if whole == "0" and not fraction:
        return "0"
    return ("-" if sign == "-" else "") + whole + (f".{fraction}" if fraction else "")


def normal_transform(text: str) -> str:
    """Return `name(a,b) name(c)` for a transform list that is read completely."""
    out = []
    position = 0
    end = len(text.rstrip(_BLANKS))
    while position < end:
        match = _FUNCTION.match(text, position)
        if match is None:
            return text
        numbers = _numbers(match.group(2))
        if numbers is None or len(numbers) not in _ARITIES[match.group(1)]:
            return text
        out.append(f"{match.group(1)}({','.join(numbers)})")
        position = match.end()
    return " ".join(out)


def normal_points(text: str) -> str:
    """Return the numbers of a point list, one blank between two."""
    numbers = _numbers(text)
    return text if numbers is None else " ".join(numbers)


def normal_path(text: str) -> str:
    """Return path data with one blank between numbers and none around letters; no arcs."""
    out: list[str] = []
    position = 0
    end = len(text.rstrip(_BLANKS))
    number_before = False
    while position < end:
        match = _PATH_TOKEN.match(text, position)
        if match is None:
            return text
        letter, number = match.group(1), match.group(2)
        if letter is not None:
            out.append(letter)
            number_before = False
        else:
            out.append(f" {normal_number(number)}" if number_before else normal_number(number))
            number_before = True
        position = match.end()
    return "".join(out)


def _numbers(text: str) -> list[str] | None:
    stripped = text.strip(_BLANKS)
    if not stripped or _LIST.fullmatch(stripped) is None:
        return None
    numbers = []
    for part in _SEPARATORS.split(stripped):
        if _PLAIN.fullmatch(part) is None or not part.strip("+-."):
            return None
        numbers.append(normal_number(part))
    return numbers


_TO_BLANK = {ord(character): " " for character in "\t\r\n"}


def normal_text(text: str) -> str:
    """Return a text's characters with blanks as the rasterizer sees them: runs are one blank."""
    return " ".join(part for part in text.translate(_TO_BLANK).split(" ") if part)


_COLOURS = ("color", "fill", "flood-color", "stop-color", "stroke")
_NUMBERS = (
    *("cx", "cy", "fill-opacity", "font-size", "fx", "fy", "height", "offset", "opacity", "r"),
    *("rx", "ry", "stop-opacity", "stroke-dashoffset", "stroke-miterlimit", "stroke-opacity"),
    *("stroke-width", "width", "x", "x1", "x2", "y", "y1", "y2"),
)

RULES: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(_COLOURS, normal_colour),
    **dict.fromkeys(_NUMBERS, normal_number),
    "d": normal_path,
    "gradientTransform": normal_transform,
    "points": normal_points,
    "transform": normal_transform,
}
"""Attribute name -> the rule for its value; every other attribute stays as it is."""


def normal_value(name: str, value: str) -> str:
    """Return the one spelling of an attribute's value."""
    rule = RULES.get(name)
    return value if rule is None else rule(value)
