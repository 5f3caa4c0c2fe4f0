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

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


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
