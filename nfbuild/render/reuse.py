"""Draw a static bottom once: where a document may be cut, whether it pays, and the kept raster.

A raster of leading elements that is opaque everywhere can be drawn on: with no engine option,
drawing the upper elements over it without clearing gives the same bytes as drawing all (held by
a test over the peer's compositions). A bottom that is translucent anywhere is drawn whole, since
its straight colours were rounded once already.
The same opaque bottom spares more. The rasterizer's own colours are premultiplied; it ends every
frame by a pass over all pixels that makes them straight, 0.7 ms of 4 at 960 x 540, and leaves
pixels with an alpha of 255 as they are. What is drawn over an opaque pixel leaves it opaque
(source over destination: a + 255 (256 - a) / 256 rounded down is 255 for every a), so over an
opaque bottom the pass can be left out: `stays_opaque`. Only a blend mode breaks this, and other
builds of the rasterizer may round otherwise: it is done where a test over thousands of random
documents has looked, on Linux for x86-64.
Whether it pays is judged by a table of costs, never by a measured time: the choice is then equal
everywhere, and so is what a worker does.
Not here: which elements stay equal over which frames (`ops`), drawing (`renderer`), what stands
still above moving elements (`top`).
"""

from __future__ import annotations

import os
import re
import sys
from itertools import accumulate
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass

from .tasks import Split

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

# Root children that only define; at the front they may stand in both parts of a document.
_DEFINITIONS = re.compile(
    rb"\s*<(?:defs|style|title|desc|linearGradient|radialGradient|clipPath|mask|filter|symbol)[\s/>]"
)
_IDS = re.compile(rb"""\sid=["']([^"']*)["']""")
_REFERENCES = re.compile(rb"""url\(\s*["']?\s*#([^"')\s]*)|href=["']\s*#([^"'\s]*)""")
_ELEMENTS = re.compile(rb"<[a-zA-Z]")
_IMAGES = re.compile(rb"<image[\s/>]")
_GLYPHS = re.compile(rb"(?<=>)[^<]+(?=</(?:text|tspan)>)")
_PAINTS = re.compile(rb"url\(")
_LAYERS = re.compile(rb"""\sopacity=["']0?\.|\sfilter=|\smask=""")

# Nanoseconds on the machine this was first measured on; only their proportions matter.
_PER_PIXEL_COPIED = 0.3
_PER_PIXEL_PAINTED = 2.2  # gradient fill of one canvas
_PER_PIXEL_IMAGE = 2.5
_PER_PIXEL_LAYER = 1.5  # group opacity, mask, filter
_PER_ELEMENT = 7_000.0
_PER_BYTE = 25.0  # of an element's text: path data is most of it
_PER_GLYPH = 30_000.0
_MOST_ELEMENTS = 64  # above a bottom: with more, it is not looked at which of them stand still


_OWN_COLOURS = sys.platform == "linux" and os.uname().machine == "x86_64"
_CLOSED = b"</svg>"


def stays_opaque(document: bytes) -> bool:
    """Tell whether drawing this document over an opaque raster surely leaves it opaque.

    A vector picture is a document of its own, which may blend.
    """
    return _OWN_COLOURS and b"blend" not in document and b'.svg"' not in document


def ground(head: bytes, pieces: Sequence[bytes]) -> int:
    """Return where the first piece of a document ends, when it draws alone as it does in it.

    0 when it defines something, refers to what follows, or may be dressed by a style sheet.
    """
    if len(pieces) < 2 or _DEFINITIONS.match(pieces[0]) or b"<style" in head:
        return 0
    if _referred(pieces[:1]) - _names([head]):
        return 0
    return len(head) + len(pieces[0])


def leading_run(frames: Iterable[Sequence[bytes]]) -> int:
    """Return how many leading pieces are equal in all frames given; 0 for no frame."""
    first: Sequence[bytes] | None = None
    run = 0
    for pieces in frames:
        if first is None:
            first, run = pieces, len(pieces)
            continue
        run = min(run, len(pieces))
        for index in range(run):
            if pieces[index] != first[index]:
                run = index
                break
    return run


def split(head: bytes, pieces: Sequence[bytes], run: int) -> Split | None:
    """Return where a document may be cut after the first `run` of its pieces, which follow `head`.

    None where it may not: nothing is left on one side, or one side refers to what the other
    defines. Definitions in front belong to both sides.
    """
    front = 0
    while front < len(pieces) and _DEFINITIONS.match(pieces[front]):
        front += 1
    below, above = pieces[front:run], pieces[run:]
    if not below or not above or any(_DEFINITIONS.match(piece) for piece in (*below, *above)):
        return None
    if _names(below) & _referred(above) or _names(above) & _referred(below):
        return None
    shared = len(head) + sum(map(len, pieces[:front]))
    cut = shared + sum(map(len, below))
    ends = tuple(accumulate(map(len, above), initial=cut))[1:]
    return Split(shared, cut, ends[-1], ends if len(ends) <= _MOST_ELEMENTS else ())


def worth_keeping(bottom: Sequence[bytes], width: int, height: int) -> bool:
    """Tell whether copying a raster costs clearly less than drawing these pieces on it.

    Each gradient, image and layer is taken to cover the canvas: where that is wrong the copy
    costs little. One flat rectangle never pays.
    """
    pixels = width * height
    cost = sum(cost_of(piece, pixels) for piece in bottom if not _DEFINITIONS.match(piece))
    return cost > 2 * pixels * _PER_PIXEL_COPIED


def cost_of(piece: bytes, pixels: int) -> float:
    """Return what drawing an element costs that covers so many pixels, in the table's terms."""
    painted = (
        _PER_PIXEL_PAINTED * len(_PAINTS.findall(piece))
        + _PER_PIXEL_IMAGE * len(_IMAGES.findall(piece))
        + _PER_PIXEL_LAYER * len(_LAYERS.findall(piece))
    )
    elements = _PER_ELEMENT * len(_ELEMENTS.findall(piece))
    glyphs = _PER_GLYPH * sum(map(len, _GLYPHS.findall(piece)))
    return pixels * painted + elements + glyphs + _PER_BYTE * len(piece)


def is_whole_in(head: bytes, element: bytes) -> bool:
    """Tell whether an element refers to nothing but the head, and nothing can refer to it."""
    return not _names([element]) and not _referred([element]) - _names([head])


def _names(pieces: Sequence[bytes]) -> set[bytes]:
    return {name for piece in pieces for name in _IDS.findall(piece)}


def _referred(pieces: Sequence[bytes]) -> set[bytes]:
    found = (pair for piece in pieces for pair in _REFERENCES.findall(piece))
    return {name for pair in found for name in pair if name}


class Ground:
    """Whether the first element of the frames that come covers the canvas, opaque.

    It is drawn alone and looked at once, when it has come often enough for that to pay.
    """

    _FEWEST = 3

    def __init__(self, start: bytes, size: tuple[int, int]) -> None:
        self._start = start
        self._size = size
        self._seen = 0
        self.opaque: bool | None = None

    def is_of(self, document: bytes, end: int, size: tuple[int, int]) -> bool:
        """Tell whether a document has this ground; counts it if so."""
        is_same = size == self._size and end == len(self._start)
        if not is_same or not document.startswith(self._start):
            return False
        self._seen += 1
        return True

    @property
    def is_due(self) -> bool:
        """Whether it should be looked at now."""
        return self.opaque is None and self._seen >= self._FEWEST

    @property
    def document(self) -> bytes:
        """What draws it alone."""
        return self._start + _CLOSED


def is_opaque(raster: bytearray) -> bool:
    """Tell whether every pixel of a raster has an alpha of 255."""
    return raster[3::4].count(255) == len(raster) // 4


@dataclass(frozen=True)
class KeptRaster:
    """The raster of one bottom document at one size; `pixels` is empty when it is not opaque."""

    document: bytes
    width: int
    height: int
    pixels: bytes

    @classmethod
    def of(cls, document: bytes, width: int, height: int, buffer: bytearray) -> Self:
        """Keep a copy of what was just drawn into `buffer`, if every pixel of it is opaque."""
        return cls(document, width, height, bytes(buffer) if is_opaque(buffer) else b"")

    @property
    def opaque(self) -> bool:
        """Whether something may be drawn over it."""
        return bool(self.pixels)

    def is_of(self, document: bytes, width: int, height: int) -> bool:
        """Tell whether this is the raster of `document` at that size."""
        return (self.width, self.height) == (width, height) and self.document == document

    def copy_into(self, buffer: bytearray) -> None:
        """Fill `buffer`, of the same size, with the kept pixels."""
        memoryview(buffer)[:] = self.pixels
