"""A static top: elements that stand still above everything that moves, and how they are put on.

A title above a moving card is the same in every frame, but cannot be drawn first. What it makes of
a pixel depends on that pixel alone, so where the moving elements left the bottom as it was, the
pixel is the one of bottom and top without them, which is kept. A frame is the bottom, the moving
elements drawn on it, the kept pixels filled in wherever the top can touch one that is still the
bottom's (its spans), and the top drawn into boxes around the others, if there are any.

Drawing into a box gives the pixels of a whole drawing for an element that is one shape with a fill
or a stroke, not both, and of which some pixel is seen in the whole (`tvgSwRle.cpp`, ThorVG 1.0):

- what lies left of a box is summed up in the cell before it, what lies right, above or below adds
  nothing to a pixel inside, so each pixel has the coverage that it has in the whole;
- a shape with more edges in one row than the rasterizer has cells for is dropped, all of it. Fewer
  edges lie in a box, so what the whole shows is never dropped, but what the whole drops may appear:
  only elements with spans are drawn, and a group or a fill with a stroke is two shapes;
- a shape whose stroke lies beside the box loses its fill too (`tvgSwRenderer.cpp`);
- a gradient is summed along each row from where the row begins, so a box that meets one has it in
  all its width. The layers of opacity, masks and filters begin where the box does.

If a box meets any other element, the whole top is drawn.
Not here: which elements stand still, and where their spans lie (`standing`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nfbuild.dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Box: TypeAlias = tuple[int, int, int, int]
    Paint: TypeAlias = Callable[[bytes, Box | None], None]

_TILE = 512  # bytes of a row: 128 pixels
_NEAR = 16  # rows between pixels that one box holds
_PAINTED = re.compile(rb"url\(")
_LAYERED = re.compile(rb"\s(?:opacity|filter|mask|clip-path|style)=")
_SHAPE = re.compile(rb"<(?:rect|circle|ellipse|line|path|polygon|polyline)\s[^<>]*/>")
_TEXT = re.compile(rb"<text\s[^<>]*>[^<]*</text>")
_STROKED = re.compile(rb"\sstroke=")
_NOT_FILLED = re.compile(rb'<[a-z]+\s[^<>]*\sfill="none"')


class Row(NamedTuple):
    """A stretch of the raster that the top can touch, and its pixels below and with the top."""

    start: int
    end: int
    below: memoryview
    shown: bytes


class Part(NamedTuple):
    """One element of a top, and the box around its shape: no gradient of it begins outside."""

    element: bytes
    bounds: Box
    fits_boxes: bool
    is_painted: bool

    @classmethod
    def of(cls, element: bytes, bounds: Box, root: bytes) -> Part:
        """Find out how an element, under a root tag, may be drawn into a box."""
        return cls(element, bounds, _is_one_shape(element, root), bool(_PAINTED.search(element)))


@dataclass(frozen=True)
class Top:
    """A static top over one bottom, on a raster `width` pixels wide.

    A document is `head`, elements and `end`; `parts` are the elements of which anything is seen.
    `paint` draws a document over what the raster holds, into a box (x, y, width, height) or, for
    None, everywhere.
    """

    head: bytes
    elements: tuple[bytes, ...]
    end: bytes
    width: int
    rows: tuple[Row, ...]
    parts: tuple[Part, ...]

    def put_on(self, raster: bytearray, paint: Paint) -> None:
        """Put the top on a raster of the bottom with everything that moves on it."""
        boxes = self._boxes(self._touched(raster))
        if boxes is None:
            paint(b"".join((self.head, *self.elements, self.end)), None)
            return
        stride = 4 * self.width
        view = memoryview(raster)
        starts = [
            (line + 4 * x, line + 4 * (x + width))
            for x, y, width, height in boxes
            for line in range(y * stride, (y + height) * stride, stride)
        ]
        moved = [(start, end, bytes(view[start:end])) for start, end in starts]
        for start, end, _, shown in self.rows:
            view[start:end] = shown
        for start, end, pixels in moved:
            view[start:end] = pixels
        for box in boxes:
            met = [part.element for part in self.parts if _meet(box, part.bounds)]
            if met:
                paint(b"".join((self.head, *met, self.end)), box)

    def _touched(self, raster: bytearray) -> list[Box]:
        """Return boxes around the pixels in the spans that are not the bottom's any more.

        Looked at in tiles, since what moves may touch a line of text at both of its ends.
        """
        stride = 4 * self.width
        tiles: dict[int, list[tuple[int, int]]] = {}  # number from the left: first and last rows
        for start, end, below, _ in self.rows:
            if raster.startswith(below, start):
                continue
            row, at = divmod(start, stride)
            for tile in range(at // _TILE, (at + end - start - 1) // _TILE + 1):
                first, last = max(0, tile * _TILE - at), (tile + 1) * _TILE - at
                if not raster.startswith(below[first:last], start + first):
                    runs = tiles.setdefault(tile, [])
                    near = bool(runs) and row - runs[-1][1] <= _NEAR
                    runs.append((runs.pop()[0] if near else row, row))
        boxes: list[Box] = []
        for tile, runs in sorted(tiles.items()):
            x = tile * _TILE // 4
            for first, last in runs:
                box = (x, first, min(_TILE // 4, self.width - x), last - first + 1)
                for other in [other for other in boxes if _is_left_of(other, box)]:
                    boxes.remove(other)
                    box = _around(other, box)
                boxes.append(box)
        return boxes

    def _boxes(self, boxes: list[Box]) -> list[Box] | None:
        """Return boxes apart from each other in which the top may be drawn; None where it may not.

        A box holds the whole width of every gradient that it meets.
        """
        apart: list[Box] = []
        while boxes:
            box = boxes.pop()
            grown = box
            for part in self.parts:
                if _meet(grown, part.bounds):
                    if not part.fits_boxes:
                        return None
                    if part.is_painted:
                        grown = _widened(grown, part.bounds)
            for other in [other for other in apart if _meet(grown, other)]:
                apart.remove(other)
                grown = _around(grown, other)
            # What has grown may meet what it did not before.
            (apart if grown == box else boxes).append(grown)
        return apart


def _is_one_shape(element: bytes, root: bytes) -> bool:
    """Tell whether an element is one shape with either a fill or a stroke and without layers."""
    if _LAYERED.search(root) or _LAYERED.search(element):
        return False
    if _STROKED.search(root) or _STROKED.search(element):
        return bool(_SHAPE.fullmatch(element) and _NOT_FILLED.match(element))
    return bool(_SHAPE.fullmatch(element) or _TEXT.fullmatch(element))


def _is_left_of(one: Box, other: Box) -> bool:
    """Tell whether one box ends where another begins, at some row that they share."""
    beside = one[0] + one[2] == other[0]
    return beside and one[1] < other[1] + other[3] and other[1] < one[1] + one[3]


def _widened(box: Box, bounds: Box) -> Box:
    left, right = min(box[0], bounds[0]), max(box[0] + box[2], bounds[0] + bounds[2])
    return left, box[1], right - left, box[3]


def _around(one: Box, other: Box) -> Box:
    left, upper = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    lower = max(one[1] + one[3], other[1] + other[3])
    return left, upper, right - left, lower - upper


def _meet(one: Box, other: Box) -> bool:
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
