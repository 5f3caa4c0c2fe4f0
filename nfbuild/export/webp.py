"""Animated WebP, written chunk by chunk: one frame in memory, instants rounded to milliseconds.

Google, "WebP Container Specification" (RFC 9649, section 2.7): RIFF, `VP8X`, `ANIM`, then one
`ANMF` per picture. Every picture replaces the pixels of its box (no blending, nothing disposed of),
so translucent pixels come back as they went in. Boxes begin at even places, as the format demands.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import BinaryIO

from nfbuild.export.planes import Box
from nfbuild.export.stills import webp_still
from nfbuild.export.timing import instant

_ANIMATED, _ALPHA = 0x02, 0x10
_REPLACE = 0x02
_LONGEST = 0xFFFFFF
UNITS = 1000
_PICTURE = (b"ALPH", b"VP8 ", b"VP8L")


def even_box(box: Box) -> Box:
    """Return the box enlarged to begin at even places."""
    left, top, right, bottom = box
    return (left & ~1, top & ~1, right, bottom)


class WebpWriter:
    """Writes pictures to `file`, which must allow going back: the size is filled in at the end."""

    def __init__(
        self,
        file: BinaryIO,
        size: tuple[int, int],
        rate: Fraction,
        *,
        loop: int,
        quality: int | None,
    ) -> None:
        self._file = file
        self._rate = rate
        self._quality = quality
        self._alpha = False
        self._size = size
        file.write(b"RIFF\0\0\0\0WEBP")
        self._chunk(b"VP8X", self._features())
        self._chunk(b"ANIM", struct.pack("<IH", 0, loop))

    def add(self, pixels: bytes, box: Box, start: int, end: int) -> None:
        """Add the picture of frames `start` to `end` (exclusive): RGBA rows of an even box.

        The first box is the whole canvas.
        """
        left, top, right, bottom = box
        width, height = right - left, bottom - top
        alpha, picture = _picture(webp_still(pixels, width, height, self._quality))
        self._alpha = self._alpha or alpha
        whole = instant(end, self._rate, UNITS) - instant(start, self._rate, UNITS)
        while whole > 0:
            step = min(whole, _LONGEST)
            whole -= step
            head = (
                _three(left // 2)
                + _three(top // 2)
                + _three(width - 1)
                + _three(height - 1)
                + _three(step)
                + bytes((_REPLACE,))
            )
            self._chunk(b"ANMF", head + picture)

    def finish(self) -> None:
        """End the file; nothing may be added afterwards."""
        end = self._file.tell()
        self._file.seek(4)
        self._file.write(struct.pack("<I", end - 8))
        self._file.seek(12)
        self._chunk(b"VP8X", self._features())
        self._file.seek(0, 2)

    def _features(self) -> bytes:
        flags = _ANIMATED | (_ALPHA if self._alpha else 0)
        return struct.pack("<I", flags) + _three(self._size[0] - 1) + _three(self._size[1] - 1)

    def _chunk(self, kind: bytes, body: bytes) -> None:
        self._file.write(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2))


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")


def _picture(still: bytes) -> tuple[bool, bytes]:
    """Return whether a WebP file has transparency, and the chunks that hold its picture."""
    parts = []
    alpha = False
    at = 12
    while at < len(still):
        kind = still[at : at + 4]
        (length,) = struct.unpack_from("<I", still, at + 4)
        end = at + 8 + length + length % 2
        if kind in _PICTURE:
            parts.append(still[at:end])
            # A lossless stream says so in the bit after its two 14-bit sides (RFC 9649, 3.4).
            alpha |= kind == b"ALPH" or (kind == b"VP8L" and bool(still[at + 12] & 0x10))
        at = end
    return alpha, b"".join(parts)
