"""`data-aspect`: where a picture goes that must keep its proportions.

Source: the format's table. `contain` fits the picture into the box, `cover` fills the box and is
clipped to it; both centre it. Anything else stretches, as the rasterizer does.
"""

from __future__ import annotations

from nfbuild.dataclasses import dataclass
from nfbuild.scene.numbers import double
from nfbuild.scene.tree import Element


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a picture of the box goes; `clip` is the box itself where it must be cut."""

    x: float
    y: float
    width: float
    height: float
    clip: tuple[float, float, float, float] | None


def declared_box(element: Element) -> tuple[float, float, float, float] | None:
    """Return x, y, width, height; None unless a width and a height above zero are declared."""
    width, height = _number(element, "width"), _number(element, "height")
    if width is None or height is None or width <= 0 or height <= 0:
        return None
    return (_number(element, "x") or 0.0, _number(element, "y") or 0.0, width, height)


def placement(element: Element, width: int, height: int) -> Placement | None:
    """Return where a picture of `width` x `height` goes; None where nothing has to be computed."""
    mode = (element.get("data-aspect") or "").strip(" \t\r\n")
    box = declared_box(element)
    if mode not in ("contain", "cover") or box is None or width <= 0 or height <= 0:
        return None
    x, y, box_width, box_height = box
    horizontal, vertical = box_width / width, box_height / height
    factor = min(horizontal, vertical) if mode == "contain" else max(horizontal, vertical)
    drawn_width, drawn_height = width * factor, height * factor
    return Placement(
        x + (box_width - drawn_width) / 2,
        y + (box_height - drawn_height) / 2,
        drawn_width,
        drawn_height,
        box if mode == "cover" else None,
    )


def _number(element: Element, name: str) -> float | None:
    text = element.get(name)
    return None if text is None else double(text)
