"""Lay the characters of a text along a path or a circle, each turned to the path.

A character takes as much of the path as its ink is wide and a blank takes none; its ink's centre
stands on the path. A place on the path is found by counting pieces, not by their lengths: that
is exact on lines and circles and is how the format has it on curves. Beyond the ends of the path
characters stand on the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.scene.layout.path import Pieces
from nfbuild.scene.layout.series import arctangent, cosine, sine

if TYPE_CHECKING:
    from nfbuild.scene.layout.ink import Ruler

CIRCLE_PIECES = 240


@dataclass(frozen=True, slots=True)
class Glyph:
    """One character: the origin of its baseline, and a turn in degrees about a point."""

    character: str
    x: float
    y: float
    turn: float
    pivot_x: float
    pivot_y: float


def circle(x: float, y: float, radius: float, start: float = -90.0) -> Pieces:
    """Return a circle clockwise from `start` degrees; its first piece begins one step later."""
    pieces = Pieces()
    for index in range(1, CIRCLE_PIECES + 1):
        angle = start + 360.0 * index / CIRCLE_PIECES
        pieces.add(x + radius * cosine(angle), y + radius * sine(angle))
    return pieces


def place(text: str, size: float, ruler: Ruler, pieces: Pieces) -> list[Glyph]:
    """Return every character of `text`, blanks too, where it stands on `pieces`."""
    glyphs = []
    used = 0.0
    for character in text:
        box = ruler.box(character, size)
        middle = box.left + box.width / 2.0
        x, y, turn = _at(pieces, used + middle)
        rise = box.top + box.height / 2.0
        glyphs.append(Glyph(character, x - middle, y - rise, turn, x, y))
        used += box.width
    return glyphs


def _at(pieces: Pieces, distance: float) -> tuple[float, float, float]:
    """Return point and direction at `distance`, which is held between the path's ends."""
    points = pieces.points
    last = len(points) - 1
    total = pieces.distances[-1]
    if last == 0:
        return points[0][0], points[0][1], 0.0
    distance = min(max(distance, 0.0), total)
    count = distance / total * last if total > 0.0 else 0.0
    index = min(int(count), last - 1)
    part = count - index
    (ax, ay), (bx, by) = points[index], points[index + 1]
    x, y = ax + (bx - ax) * part, ay + (by - ay) * part
    return x, y, arctangent(by - ay, bx - ax)
