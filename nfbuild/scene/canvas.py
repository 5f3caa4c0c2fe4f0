"""The root element's own attributes: canvas, exact frame rate, duration, frame count.

Source: the format's table for the root `<svg>`. Departures: the rate is exact (`29.97`,
`30000/1001`), and the count is the exact duration times the exact rate, rounded half to even, at
least one.
"""

from __future__ import annotations

import re
from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, SourceError
from nfbuild.scene.numbers import double, exact
from nfbuild.scene.protocols import Limits
from nfbuild.scene.tree import Element

_LENGTH = re.compile(r"\s*([^a-zA-Z%]*(?:[eE][+-]?[0-9]+)?)\s*(?:px)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Canvas:
    """Pixels, exact rate (frames per second), exact duration (seconds) and number of frames."""

    width: int
    height: int
    rate: Fraction
    duration: Fraction
    frames: int


def rounded(value: Fraction) -> int:
    """Return the nearest integer, half to even."""
    return round(value)


def read_canvas(root: Element, file: str, limits: Limits, *, still: bool) -> Canvas:
    """Return the canvas that `root` declares; a `still` has one frame whatever it says of time."""
    place = Place(file, root.line)
    if root.tag != "svg":
        raise SourceError(
            f"the outermost element is `<{root.tag}>`",
            place=place,
            hint="a composition is one `<svg>` element in SVG's namespace",
        )
    box = _view_box(root) if still else None
    width = _side(root, "width", place, limits, None if box is None else box[0])
    height = _side(root, "height", place, limits, None if box is None else box[1])
    if width * height > limits.pixels:
        raise SourceError(
            f"the canvas of {width} x {height} has more than {limits.pixels} pixels",
            place=place,
            hint="make it smaller, or raise the limit `canvas_pixels`",
        )
    if still:
        return Canvas(width, height, Fraction(1), Fraction(1), 1)
    rate = _rate(root, place)
    duration = _duration(root, place)
    frames = max(1, rounded(duration * rate))
    if frames > limits.frames:
        raise SourceError(
            f"the composition has {frames} frames, more than {limits.frames}",
            place=place,
            hint="shorten `data-duration`, or raise the limit `frames`",
        )
    return Canvas(width, height, rate, duration, frames)


def _side(root: Element, name: str, place: Place, limits: Limits, fallback: float | None) -> int:
    attribute = f"data-{name}"
    text = root.get(attribute)
    if text is None:
        attribute = name
        text = root.get(attribute)
    if fallback is not None and (text is None or text.strip().endswith("%")):
        value: float | None = fallback
        text = f"{fallback:g}"
    elif text is None:
        raise SourceError(
            f"the canvas has no `data-{name}`", place=place, hint=f'write `data-{name}="540"`'
        )
    else:
        value = _pixels(text)
    if value is None:
        raise SourceError(
            f"`{attribute}` is `{text}`, which is no number of pixels",
            place=place,
            hint=f'write `{attribute}="540"`',
        )
    if value < 1:
        raise SourceError(
            f"`{attribute}` is `{text}`, which leaves no pixel",
            place=place,
            hint="a canvas has at least one pixel each way",
        )
    if value > limits.side:
        raise SourceError(
            f"`{attribute}` is `{text}`, more than {limits.side}",
            place=place,
            hint="make the canvas smaller, or raise the limit `canvas_side`",
        )
    return int(value)


def _pixels(text: str) -> float | None:
    match = _LENGTH.fullmatch(text)
    return None if match is None else double(match.group(1))


def _view_box(root: Element) -> tuple[float, float] | None:
    numbers = [double(part) for part in (root.get("viewBox") or "").replace(",", " ").split()]
    if len(numbers) != 4 or numbers[2] is None or numbers[3] is None:
        return None
    return numbers[2], numbers[3]


def _rate(root: Element, place: Place) -> Fraction:
    text = root.get("data-fps")
    if text is None:
        return Fraction(30)
    top, slash, bottom = text.partition("/")
    value = exact(top)
    if value is not None and slash:
        divisor = exact(bottom)
        value = None if divisor is None or divisor == 0 else value / divisor
    if value is None or value <= 0:
        raise SourceError(
            f"`data-fps` is `{text}`, which is no frame rate",
            place=place,
            hint='write `data-fps="30"`, `"29.97"` or `"30000/1001"`',
        )
    return value


def _duration(root: Element, place: Place) -> Fraction:
    text = root.get("data-duration")
    if text is None:
        raise SourceError(
            "the composition has no `data-duration`",
            place=place,
            hint='write how many seconds it lasts: `data-duration="2"`',
        )
    value = exact(text)
    if value is None or value <= 0:
        raise SourceError(
            f"`data-duration` is `{text}`, which is no length of time",
            place=place,
            hint='write seconds: `data-duration="2.5"`',
        )
    return value
