"""Notice which upper elements stand still, and make a top of them when that pays.

Which pixels an element can touch (its spans) is found by drawing it alone over a mark: white with
an alpha of 0, which every drawing changes that could change any pixel. With source over
destination (ThorVG, `tvgSwCommon.h`) a source alpha above 0 raises the mark's; an opaque source
that covers c of 255 of a pixel makes it d + ((s - d) c >> 8) in each channel, which for c = 1 falls
by one where s < d and moves nothing else, so that white falls wherever any colour does.

The smoothed edges of a turned picture look at their neighbours: it is never in a top. Nor is
anything in a document that blends (`reuse.stays_opaque`).
Not here: how a top is put on a frame (`top`), the bottom (`reuse`), drawing (`renderer`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .reuse import cost_of, is_whole_in, stays_opaque
from .top import Part, Row, Top

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from .reuse import KeptRaster
    from .tasks import Split
    from .top import Box, Paint

    Span: TypeAlias = tuple[int, int]

MARK = b"\xff\xff\xff\0"

_PATIENCE = 2  # frames in a row in which elements must have stood still
_AGAIN = 8  # frames until another top is tried, and how many one must have served
_SELDOM = 128  # as many when those before served fewer
_MOST = 16  # elements
_LEAST = 150_000.0  # what a top must spare in each frame, by the table of costs
_PER_SPAN = 500.0
_PER_PIXEL = 0.3
_FOREIGN = re.compile(rb"<(?:image|use|pattern|style|svg)[\s/>]")
_PAINTS = re.compile(rb"url\([^)]*\)")
_OPACITIES = re.compile(rb"\s(?:fill|stroke)-opacity=(?:\"[^\"]*\"|'[^']*')")
_TURNS = re.compile(rb"rotate|matrix|skew")


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
        if made is None:
            self._pause = min(2 * self._pause, _SELDOM)
        else:
            self._top, self._served = made, 0
        return self._top

    def _made(
        self,
        elements: tuple[bytes, ...],
        head: bytes,
        end: bytes,
        raster: bytearray,
        paint: Paint,
    ) -> Top | None:
        """Return a top of these elements; None if it would not pay.

        It holds the pixels of its rows once, however many elements lie over each other there.
        """
        stride = 4 * self._kept.width
        view, blank = memoryview(raster), MARK * self._kept.width

        def spans_of(element: bytes) -> list[Span]:
            for row in range(0, len(raster), stride):
                view[row : row + stride] = blank
            paint(head + element + end, None)
            return _spans(raster, stride)

        found = [(element, spans_of(element)) for element in elements]
        joined = _joined(span for _, spans in found for span in spans)
        if not _pays(found, joined):
            return None
        root = head[: head.find(b">")]
        parts = []
        for element, spans in found:
            if spans:
                shape = spans_of(_blackened(element)) if b"url(" in element else spans
                parts.append(Part.of(element, _bounds([*spans, *shape], stride), root))
        self._kept.copy_into(raster)
        paint(b"".join((head, *elements, end)), None)
        below = memoryview(self._kept.pixels)
        rows = tuple(Row(at, to, below[at:to], bytes(view[at:to])) for at, to in joined)
        return Top(head, elements, end, self._kept.width, rows, tuple(parts))


def _blackened(element: bytes) -> bytes:
    """Return an element with opaque black for its gradients, which may be clear at their ends."""
    return _PAINTS.sub(b"#000", _OPACITIES.sub(b"", element))


def _pays(found: Iterable[tuple[bytes, Sequence[Span]]], joined: Sequence[Span]) -> bool:
    """Tell whether drawing the elements costs clearly more than looking after their spans."""
    cost = sum(cost_of(element, _pixels(spans)) for element, spans in found if spans)
    care = _PER_SPAN * len(joined) + _PER_PIXEL * _pixels(joined)
    return cost - care > max(_LEAST, care / 2)


def _pixels(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans) // 4


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans apart from each other, each in one row, that hold the given ones alone."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span[0] < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], span[1]))
        else:
            joined.append(span)
    return joined


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


def _spans(raster: bytearray, stride: int) -> list[Span]:
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


def _bounds(spans: Sequence[Span], stride: int) -> Box:
    left = min(start % stride for start, _ in spans) // 4
    right = max((end - 1) % stride for _, end in spans) // 4 + 1
    rows = [start // stride for start, _ in spans]
    upper, lower = min(rows), max(rows)
    return left, upper, right - left, lower - upper + 1
