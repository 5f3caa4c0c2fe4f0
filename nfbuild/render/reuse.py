"""Draw a static bottom once: where a document may be cut, whether it pays, and the kept raster.

A raster of leading elements that is opaque everywhere can be drawn on: with no engine option,
drawing the upper elements over it without clearing gives the same bytes as drawing all (held by
a test over the peer's compositions). A bottom that is translucent anywhere is drawn whole, since
its straight colours were rounded once already.
Whether it pays is judged by a table of costs, never by a measured time: the choice is then equal
everywhere, and so is what a worker does.
Not here: which elements stay equal over which frames (`ops`), drawing (`renderer`).
"""

from __future__ import annotations

import re
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
_PAINTS = re.compile(rb"url\(")
_LAYERS = re.compile(rb"""\sopacity=["']0?\.|\sfilter=|\smask=""")

# Nanoseconds on the machine this was first measured on; only their proportions matter.
_PER_PIXEL_COPIED = 0.3
_PER_PIXEL_PAINTED = 2.2  # gradient fill of one canvas
_PER_PIXEL_IMAGE = 2.5
_PER_PIXEL_LAYER = 1.5  # group opacity, mask, filter
_PER_ELEMENT = 7_000.0
_PER_BYTE = 25.0  # of an element's text: path data is most of it


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
    return Split(shared, cut, cut + sum(map(len, above)))


def worth_keeping(bottom: Sequence[bytes], width: int, height: int) -> bool:
    """Tell whether copying a raster costs clearly less than drawing these pieces on it.

    Each gradient, image and layer is taken to cover the canvas: where that is wrong the copy
    costs little. One flat rectangle never pays.
    """
    pixels = width * height
    cost = 0.0
    for piece in bottom:
        if _DEFINITIONS.match(piece):
            continue
        cost += pixels * (
            _PER_PIXEL_PAINTED * len(_PAINTS.findall(piece))
            + _PER_PIXEL_IMAGE * len(_IMAGES.findall(piece))
            + _PER_PIXEL_LAYER * len(_LAYERS.findall(piece))
        )
        cost += _PER_ELEMENT * len(_ELEMENTS.findall(piece)) + _PER_BYTE * len(piece)
    return cost > 2 * pixels * _PER_PIXEL_COPIED


def _names(pieces: Sequence[bytes]) -> set[bytes]:
    return {name for piece in pieces for name in _IDS.findall(piece)}


def _referred(pieces: Sequence[bytes]) -> set[bytes]:
    found = (pair for piece in pieces for pair in _REFERENCES.findall(piece))
    return {name for pair in found for name in pair if name}


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
        opaque = buffer[3::4].count(255) == width * height
        return cls(document, width, height, bytes(buffer) if opaque else b"")

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
