"""Which colours the rasterizer reads, and what comes of the others.

Source: drawn one by one with ThorVG 1.0.4. What it does not read is black in a `fill` and a stop,
and no stroke at all; `rgb()` that is wrong inside is black everywhere. Nothing is inherited then.
"""

from __future__ import annotations

import re

from nfbuild.scene.colour import NAMED
from nfbuild.scene.numbers import double

PAINTS = ("fill", "stroke", "stop-color")

# Names that are drawn as another colour, and what CSS means by them.
_STRAYS = {"mediumpurple": "#9370db", "palevioletred": "#db7093"}
_REBECCA = "#663399"
_KEYWORDS = frozenset(["currentColor", "none"])

_BLANKS = " \t\r\n"
_HEX = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})", re.ASCII)
_ALPHA_HEX = re.compile(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{4})", re.ASCII)
_ALPHA_FUNCTION = re.compile(r"(?:rgba|hsla)\s*\(", re.ASCII | re.IGNORECASE)
_URL = re.compile(r"url\s*\(", re.ASCII | re.IGNORECASE)
_RGB = re.compile(r"rgb\(([^(),]+),([^(),]+),([^(),]+)\)", re.ASCII | re.IGNORECASE)
_HSL = re.compile(r"hsl\(\s*[-+0-9.]+[\s,]+[0-9.]+%[\s,]+[0-9.]+%\s*\)", re.ASCII | re.IGNORECASE)


def misread(name: str, value: str) -> tuple[str, str] | None:
    """Return what comes of a paint that is not drawn as written, and a remedy; None if it is."""
    text = value.strip(_BLANKS)
    lost = _outcome(name, text)
    if _ALPHA_HEX.fullmatch(text) or _ALPHA_FUNCTION.match(text):
        return f"whose alpha is lost: {lost}", f"write `#rrggbb` and `{_opacity(name)}`"
    if text in _KEYWORDS or _HEX.fullmatch(text) or _URL.match(text) or _HSL.fullmatch(text):
        return None
    word = text.lower()
    if word in NAMED or _is_rgb(text):
        return None
    if word in _STRAYS:
        return "which is drawn as another colour", f"write `{_STRAYS[word]}`"
    if word == "transparent":
        remedy = 'write `stop-opacity="0"`' if name == "stop-color" else "write `none`"
    elif word == "rebeccapurple":
        remedy = f"write `{_REBECCA}`"
    elif word == "inherit":
        remedy = f"leave `{name}` out: it is inherited without a word"
    elif word.startswith("rgb("):
        remedy = "write `#rrggbb`, or three numbers from 0 to 255 with commas between them"
    else:
        remedy = "write `#rrggbb`"
    return f"which the rasterizer does not know: {lost}", remedy


def _outcome(name: str, text: str) -> str:
    if name == "stroke" and text[:4].lower() != "rgb(":
        return "no stroke is painted"
    return "it is painted black"


def _opacity(name: str) -> str:
    return "stop-opacity" if name == "stop-color" else f"{name}-opacity"


def _is_rgb(text: str) -> bool:
    match = _RGB.fullmatch(text)
    if match is None:
        return False
    for part in match.groups():
        written = part.strip(_BLANKS)
        number = double(written.removesuffix("%"))
        if number is None or not 0.0 <= number <= (100.0 if written[-1] == "%" else 255.0):
            return False
    return True
