"""Animated PNG, written chunk by chunk: exact pixels, exact times, one frame in memory.

W3C "Portable Network Graphics (Third Edition)", sections 11.3.6.1 to 11.3.6.3. Every picture
replaces the pixels of its box (`APNG_BLEND_OP_SOURCE`, nothing disposed of), so translucent pixels
come back exactly. A delay is a fraction of two 16-bit numbers: frame rates such as 30000/1001 are
exact. A hold longer than a delay can say is continued by pictures of one pixel that change nothing.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO

from nfbuild.export.planes import Box
from nfbuild.export.timing import instant

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LONGEST = 0xFFFF
_LEVEL = 6
_COARSE = 1000
"""Parts of a second in which times are told that no 16-bit fraction holds."""


def clock(rate: Fraction) -> int | None:
    """Return the clock of a film's file in ticks a second; None where all times are exact."""
    return None if max(rate.as_integer_ratio()) <= _LONGEST else _COARSE


class ApngWriter:
    """Writes pictures to `file`, which must allow going back: the count is filled in at the end."""

    def __init__(self, file: BinaryIO, size: tuple[int, int], rate: Fraction, loop: int) -> None:
        self._file = file
        self._size = size
        self._rate = rate
        self._loop = loop
        self._pictures = 0
        self._chunks = 0
        file.write(_SIGNATURE)
        self._chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 6, 0, 0, 0))
        self._control = file.tell()
        self._chunk(b"acTL", struct.pack(">II", 0, loop))

    def add(self, pixels: bytes, box: Box, start: int, end: int) -> None:
        """Add the picture of frames `start` to `end` (exclusive): RGBA rows of what changed.

        The first box is the whole canvas.
        """
        first = True
        for numerator, denominator in self._delays(start, end):
            if not first:
                # The pixel at the box's corner, once more.
                pixels, box = pixels[:4], (box[0], box[1], box[0] + 1, box[1] + 1)
            self._picture(pixels, box, numerator, denominator)
            first = False

    def finish(self) -> None:
        """End the file; nothing may be added afterwards."""
        self._chunk(b"IEND", b"")
        self._file.seek(self._control)
        self._chunk(b"acTL", struct.pack(">II", self._pictures, self._loop))
        self._file.seek(0, 2)

    def _delays(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        frames = end - start
        unit = 1 / self._rate
        if clock(self._rate) is not None:
            # No exact form: round the instants, so that the whole is right.
            frames = instant(end, self._rate, _COARSE) - instant(start, self._rate, _COARSE)
            unit = Fraction(1, _COARSE)
        most = max(1, _LONGEST // unit.numerator)
        while frames > 0:
            step = min(frames, most)
            frames -= step
            yield step * unit.numerator, unit.denominator

    def _picture(self, pixels: bytes, box: Box, numerator: int, denominator: int) -> None:
        left, top, right, bottom = box
        width, height = right - left, bottom - top
        control = (width, height, left, top, numerator, denominator, 0, 0)
        self._chunk(b"fcTL", struct.pack(">IIIIIHHBB", self._next(), *control))
        rows = memoryview(pixels)
        stride = 4 * width
        packer = zlib.compressobj(_LEVEL)
        packed = []
        for start in range(0, len(rows), stride):
            packed.append(packer.compress(b"\0"))
            packed.append(packer.compress(rows[start : start + stride]))
        packed.append(packer.flush())
        data = b"".join(packed)
        if self._pictures == 0:
            self._chunk(b"IDAT", data)
        else:
            self._chunk(b"fdAT", struct.pack(">I", self._next()) + data)
        self._pictures += 1

    def _next(self) -> int:
        self._chunks += 1
        return self._chunks - 1

    def _chunk(self, kind: bytes, body: bytes) -> None:
        check = zlib.crc32(body, zlib.crc32(kind))
        self._file.write(b"".join((struct.pack(">I", len(body)), kind, body)))
        self._file.write(struct.pack(">I", check))
