"""Animated GIF, written block by block: one palette, instants rounded to hundredths of a second.

CompuServe, "Graphics Interchange Format, Version 89a", 1990; the repeat count is Netscape's
application extension. A film without transparency stores for each picture the box that changed,
with unchanged pixels transparent; one with transparency stores what is visible and clears it
before the next picture, as nothing else can make a pixel transparent again.
Not here: choosing colours (`palette`), compression (`stills`).
"""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import BinaryIO

from nfbuild.export.palette import Palette
from nfbuild.export.planes import Box, box_of
from nfbuild.export.stills import gif_still
from nfbuild.export.timing import instant
from nfbuild.pixels.arrays import Bytes, np

UNITS = 100
_LONGEST = 0xFFFF
_KEEP, _CLEAR = 1, 2
_COLORS = 256


class GifWriter:
    """Writes pictures of palette indices to `file`."""

    def __init__(
        self,
        file: BinaryIO,
        size: tuple[int, int],
        rate: Fraction,
        *,
        loop: int,
        palette: Palette,
        clearing: bool,
    ) -> None:
        self._file = file
        self._rate = rate
        self._palette = palette
        self._disposal = _CLEAR if clearing else _KEEP
        self._before: Bytes | None = None
        table = palette.colors.tobytes()
        self._table = table + bytes(3 * _COLORS - len(table))
        # A global table of 2 ** (7 + 1) colours, 8 bits a channel.
        file.write(b"GIF89a" + struct.pack("<HHBBB", *size, 0xF7, 0, 0) + self._table)
        if loop != 1:
            # The extension counts repeats, the option counts how often the film plays.
            repeats = max(0, loop - 1)
            file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", repeats) + b"\0")

    def add(self, indices: Bytes, start: int, end: int) -> None:
        """Add the picture of frames `start` to `end` (exclusive), shape (height, width)."""
        whole = instant(end, self._rate, UNITS) - instant(start, self._rate, UNITS)
        box, shown = self._stored(indices)
        while whole > 0:
            step = min(whole, _LONGEST)
            whole -= step
            self._picture(shown, box, step)
            if self._disposal == _KEEP:
                shown, box = np.full((1, 1), self._palette.transparent, dtype=np.uint8), _CORNER
        self._before = indices

    def finish(self) -> None:
        """End the file."""
        self._file.write(b"\x3b")

    def _stored(self, indices: Bytes) -> tuple[Box, Bytes]:
        if self._before is None and self._disposal == _KEEP:
            return (0, 0, indices.shape[1], indices.shape[0]), indices
        if self._disposal == _CLEAR:
            moved = indices != self._palette.transparent
        else:
            assert self._before is not None
            moved = indices != self._before
        box = box_of(moved) or _CORNER
        left, top, right, bottom = box
        shown = indices[top:bottom, left:right]
        if self._disposal == _KEEP:
            still = np.logical_not(moved[top:bottom, left:right])
            shown = np.where(still, np.uint8(self._palette.transparent), shown)
        return box, shown

    def _picture(self, shown: Bytes, box: Box, delay: int) -> None:
        left, top, right, bottom = box
        width, height = right - left, bottom - top
        flags = self._disposal << 2 | 1
        control = struct.pack("<BHB", flags, delay, self._palette.transparent)
        self._file.write(b"\x21\xf9\x04" + control + b"\0")
        self._file.write(b"\x2c" + struct.pack("<HHHHB", left, top, width, height, 0))
        self._file.write(_data(gif_still(shown.tobytes(), width, height, self._table)))


_CORNER: Box = (0, 0, 1, 1)


def _data(still: bytes) -> bytes:
    """Return the compressed picture of a GIF file of one picture: code size and data blocks."""
    at = 13 + _table_size(still[10])
    while still[at] != 0x2C:  # extensions stand before the picture
        at = _after_blocks(still, at + 2)
    at += 10 + _table_size(still[at + 9])
    return still[at : _after_blocks(still, at + 1)]


def _table_size(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(data: bytes, at: int) -> int:
    while data[at]:
        at += 1 + data[at]
    return at + 1
