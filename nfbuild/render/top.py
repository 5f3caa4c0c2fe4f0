"""Keep a static top: elements that stand still above everything that moves.

A title above a moving card is the same in every frame, but cannot be drawn first. What it makes of
a pixel depends on that pixel alone, so where the moving elements left the bottom as it was, the
pixel is the one of bottom and top without them, which is kept. A frame is the bottom, the moving
elements drawn on it, the kept pixels filled in wherever the top can touch one that is still the
bottom's, and the top drawn into the box of the others, if there are any.

Which pixels the top can touch (its spans) is found by drawing each of its elements over a mark:
white with an alpha of 0, which every drawing changes that could change any pixel. With source over
destination (ThorVG, `tvgSwCommon.h`) a source alpha above 0 raises the mark's; an opaque source
that covers c of 255 of a pixel makes it d + ((s - d) c >> 8) in each channel, which for c = 1 falls
by one where s < d and moves nothing else, so that white falls wherever any colour does.

Drawing into a box gives the pixels of a whole drawing for plain fills and strokes and for text. A
gradient is summed along each row from where the row begins, which a box would move, and so may the
layers of opacity, masks and filters: such an element may be filled in, but if the box meets it the
whole top is drawn. The smoothed edges of a turned picture look at their neighbours: it is never in
a top. Nor is anything in a document that blends (`reuse.stays_opaque`).
Not here: the bottom (`reuse`), drawing (`renderer`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nfbuild.dataclasses import dataclass

from .reuse import cost_of, is_whole_in, stays_opaque

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from .reuse import KeptRaster
    from .tasks import Split

    Box: TypeAlias = tuple[int, int, int, int]
    Paint: TypeAlias = Callable[[bytes, Box | None], None]

MARK = b"\xff\xff\xff\0"

_PATIENCE = 2  # frames in a row in which elements must have stood still
_AGAIN = 8  # frames until another top is tried, and how many one must have served
_SELDOM = 128  # as many when those before served fewer
_MOST = 16  # elements
_TILE = 512  # bytes of a row: 128 pixels
_LEAST = 150_000.0  # what a top must spare in each frame, by the table of costs
# Off: in 9 of 43,000 random films with sharp tips and hairlines a box had other pixels.
_BOXED = False
_PER_SPAN = 500.0
_PER_PIXEL = 0.3
_FOREIGN = re.compile(rb"<(?:image|use|pattern|style|svg)[\s/>]")
_TURNS = re.compile(rb"rotate|matrix|skew")
_PAINTED = re.compile(rb"url\(")
_LAYERED = re.compile(rb"<(?:image|use|g)[\s/>]|\s(?:opacity|filter|mask|clip-path|style)=")


class _Row(NamedTuple):
    """Where a row of an element's spans lies in the raster, and its pixels below and with it."""

    start: int
    end: int
    below: bytes
    shown: bytes


class _Part(NamedTuple):
    """One element of a top: its text, the rows of its spans and the box around them."""

    element: bytes
    rows: tuple[_Row, ...]
    bounds: Box


@dataclass(frozen=True)
class Top:
    """A static top over one bottom, on a raster `width` pixels wide, and the document of it all.

    `paint` draws a document over what the raster holds, into a box (x, y, width, height) or, for
    None, everywhere.
    """

    elements: tuple[bytes, ...]
    document: bytes
    width: int
    parts: tuple[_Part, ...]

    @property
    def pays(self) -> bool:
        """Whether drawing the elements costs clearly more than looking after their spans."""
        cost = care = 0.0
        for element, rows, _ in self.parts:
            pixels = sum(row.end - row.start for row in rows) // 4
            cost += cost_of(element, pixels)
            care += _PER_SPAN * len(rows) + _PER_PIXEL * pixels
        return cost - care > max(_LEAST, care / 2)

    def put_on(self, raster: bytearray, paint: Paint) -> None:
        """Put the top on a raster of the bottom with everything that moves on it."""
        boxes = self._boxes([box for part in self.parts for box in self._touched(part, raster)])
        if boxes is None:
            paint(self.document, None)
            return
        stride = 4 * self.width
        view = memoryview(raster)
        starts = [
            (line + 4 * x, line + 4 * (x + width))
            for x, y, width, height in boxes
            for line in range(y * stride, (y + height) * stride, stride)
        ]
        moved = [(start, end, bytes(view[start:end])) for start, end in starts]
        for part in self.parts:
            for start, end, _, shown in part.rows:
                view[start:end] = shown
        for start, end, pixels in moved:
            view[start:end] = pixels
        for box in boxes:
            paint(self.document, box)

    def _touched(self, part: _Part, raster: bytearray) -> list[Box]:
        """Return boxes around a part's pixels that are not the bottom's any more.

        Looked at in tiles, since what moves may touch a line of text at both of its ends.
        """
        stride = 4 * self.width
        tiles: dict[int, tuple[int, int]] = {}  # number from the left: first and last row
        for start, end, below, _ in part.rows:
            if raster.startswith(below, start):
                continue
            row, at = divmod(start, stride)
            for tile in range(at // _TILE, (at + end - start - 1) // _TILE + 1):
                first, last = max(0, tile * _TILE - at), (tile + 1) * _TILE - at
                piece = below[first:last]
                if not raster.startswith(piece, start + first):
                    tiles[tile] = (tiles.get(tile, (row, row))[0], row)
        boxes: list[Box] = []
        for tile, (first, last) in sorted(tiles.items()):
            x = tile * _TILE // 4
            box = (x, first, min(_TILE // 4, self.width - x), last - first + 1)
            if boxes and boxes[-1][0] + boxes[-1][2] == x:
                box = _around(boxes.pop(), box)
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
                    if not _BOXED or _LAYERED.search(part.element):
                        return None
                    if _PAINTED.search(part.element):
                        grown = _widened(grown, part.bounds, self.width)
            for other in [other for other in apart if _meet(grown, other)]:
                apart.remove(other)
                grown = _around(grown, other)
            # What has grown may meet what it did not before.
            (apart if grown == box else boxes).append(grown)
        return apart


class TopKeeper:
    """Notices which upper elements stand still over one kept bottom, and keeps them.

    What it remembers is a matter of speed alone.
    """

    def __init__(self, kept: KeptRaster) -> None:
        self._kept = kept
        self._elements: tuple[bytes, ...] = ()
        self._runs: list[int] = [0] * _PATIENCE
        self._top: Top | None = None
        self._served = self._wait = 0
        self._pause = _AGAIN

    def draw(self, document: bytes, split: Split, raster: bytearray, paint: Paint) -> bool:
        """Draw a frame into `raster` with the kept bottom and top; False without a top."""
        elements = split.elements(document)
        self._watch(elements)
        if not elements or not stays_opaque(document):
            return False
        head, end = document[: split.shared], document[split.tail :]
        top = self._top_of(elements, head, end, raster, paint)
        if top is None:
            return False
        self._kept.copy_into(raster)
        self._served += 1
        moving = elements[: -len(top.elements)]
        if moving:
            paint(b"".join((head, *moving, end)), None)
        top.put_on(raster, paint)
        return True

    def _watch(self, elements: tuple[bytes, ...]) -> None:
        self._runs = [*self._runs[1:], _run_at_end(self._elements, elements)]
        self._elements = elements
        self._wait -= 1

    def _top_of(
        self, elements: tuple[bytes, ...], head: bytes, end: bytes, raster: bytearray, paint: Paint
    ) -> Top | None:
        """Return the top of these elements, made anew when that pays; None where none does."""
        top = self._top
        if top is not None and elements[-len(top.elements) :] != top.elements:
            top = self._top = None
            self._pause = _AGAIN if self._served >= _AGAIN else min(2 * self._pause, _SELDOM)
        kept = 0 if top is None else len(top.elements)
        run = min(*self._runs, _MOST)
        if run <= kept or self._wait > 0:
            return top
        standing = _allowed(head, elements[len(elements) - run :])
        pixels = len(raster) // 16  # a quarter of the canvas, until it is known
        if len(standing) <= kept or sum(cost_of(one, pixels) for one in standing) < _LEAST:
            return top
        self._wait = self._pause
        made = self._made(standing, head, end, raster, paint)
        if made.pays:
            self._top, self._served = made, 0
        else:
            self._pause = min(2 * self._pause, _SELDOM)
        return self._top

    def _made(
        self,
        elements: tuple[bytes, ...],
        head: bytes,
        end: bytes,
        raster: bytearray,
        paint: Paint,
    ) -> Top:
        stride = 4 * self._kept.width
        spans, view, blank = [], memoryview(raster), MARK * self._kept.width
        for element in elements:
            for row in range(0, len(raster), stride):
                view[row : row + stride] = blank
            paint(head + element + end, None)
            spans.append(_spans(raster, stride))
        self._kept.copy_into(raster)
        document = b"".join((head, *elements, end))
        paint(document, None)
        below = self._kept.pixels
        parts = tuple(
            _Part(
                element,
                tuple(_Row(at, to, below[at:to], bytes(raster[at:to])) for at, to in found),
                _bounds(found, stride),
            )
            for element, found in zip(elements, spans, strict=True)
            if found
        )
        return Top(elements, document, self._kept.width, parts)


def _run_at_end(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    """Return how many elements at the end are equal; never all of them."""
    most = min(len(before), len(now) - 1)
    for run in range(most):
        if before[-1 - run] != now[-1 - run]:
            return run
    return max(most, 0)


def _allowed(head: bytes, elements: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the longest run at the end of elements that may be drawn apart from the others."""
    if _FOREIGN.search(head, head.find(b">")):
        return ()
    for number in range(len(elements), 0, -1):
        element = elements[number - 1]
        turned = _FOREIGN.search(element) and _TURNS.search(element)
        if turned or not is_whole_in(head, element):
            return elements[number:]
    return elements


def _spans(raster: bytearray, stride: int) -> list[tuple[int, int]]:
    """Return, for every row that has lost a mark, where the shortest span lies with all of them."""
    blank = MARK * (stride // 4)
    found = []
    for row in range(0, len(raster), stride):
        if raster.startswith(blank, row):
            continue
        line = bytes(raster[row : row + stride])
        first = 4 * _same(line.startswith, blank, from_end=False)
        last = 4 * _same(line.endswith, blank, from_end=True)
        found.append((row + first, row + stride - last))
    return found


def _same(is_at: Callable[[bytes], bool], row: bytes, *, from_end: bool) -> int:
    """Return how many pixels at one end a row has in common with another, by halving; not all."""
    low, high = 0, len(row) // 4 - 1
    while low < high:
        middle = (low + high + 1) // 2
        if is_at(row[-4 * middle :] if from_end else row[: 4 * middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _bounds(spans: list[tuple[int, int]], stride: int) -> Box:
    left = min(start % stride for start, _ in spans) // 4
    right = max((end - 1) % stride for _, end in spans) // 4 + 1
    upper, lower = spans[0][0] // stride, spans[-1][0] // stride
    return left, upper, right - left, lower - upper + 1


def _widened(box: Box, bounds: Box, width: int) -> Box:
    """Return a box with the whole width of another, and a pixel beside it."""
    left = min(box[0], max(0, bounds[0] - 1))
    right = max(box[0] + box[2], min(width, bounds[0] + bounds[2] + 1))
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
