"""Pictures made small: lossless PNG files for a page that people send each other.

A store's PNGs are packed for speed; here a crop is packed once and looked at often. Few colours
become a palette, an opaque picture loses its alpha, and of the row filters the one that packs best
is taken.
Not here: a frame's own PNG (`pixels.png`).
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfbuild.pixels.arrays import Bytes
    from nfbuild.pixels.compare import Raster

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _PALETTE, _RGBA = 2, 3, 6
_NONE, _SUB, _UP = 0, 1, 2
_MOST_COLORS = 256


BEST, QUICK = 9, 1


def pack(raster: Raster, level: int = BEST) -> bytes:
    """Return a small PNG file of exactly these pixels; `QUICK` to know about how small.

    The colour of fully transparent pixels is not kept: nobody can see it.
    """
    from nfbuild.pixels.arrays import np, rgba  # noqa: PLC0415  NumPy, where needed

    pixels = rgba(raster.pixels, raster.width, raster.height).copy()
    pixels[pixels[..., 3] == 0] = 0
    colors, index = np.unique(pixels.view("<u4").reshape(-1), return_inverse=True)
    size = (raster.width, raster.height)
    if len(colors) <= _MOST_COLORS:
        table = colors.astype("<u4").view(np.uint8).reshape(-1, 4)
        rows = index.astype(np.uint8).reshape(raster.height, raster.width)
        extra = _chunk(b"PLTE", table[:, :3].tobytes())
        if (table[:, 3] != 255).any():
            extra += _chunk(b"tRNS", table[:, 3].tobytes())
        packed = min((_packed(rows, 1, kind, level) for kind in (_NONE, _UP)), key=len)
        return _file(size, _PALETTE, packed, extra)
    opaque = bool((pixels[..., 3] == 255).all())
    depth = 3 if opaque else 4
    rows = np.ascontiguousarray(pixels[..., :depth]).reshape(raster.height, raster.width * depth)
    kinds = (_NONE, _SUB, _UP)
    best = min(kinds, key=lambda kind: len(_packed(rows, depth, kind, QUICK)))
    return _file(size, _RGB if opaque else _RGBA, _packed(rows, depth, best, level))


def _packed(rows: Bytes, depth: int, kind: int, level: int) -> bytes:
    """Return rows filtered one way (PNG specification, section 9) and deflated."""
    from nfbuild.pixels.arrays import np  # noqa: PLC0415  as above

    filtered = rows.copy()
    if kind == _SUB:
        filtered[:, depth:] -= rows[:, :-depth]
    elif kind == _UP:
        filtered[1:] -= rows[:-1]
    first = np.full((rows.shape[0], 1), kind, dtype=np.uint8)
    return zlib.compress(np.hstack((first, filtered)).tobytes(), level)


def _file(size: tuple[int, int], color: int, packed: bytes, extra: bytes = b"") -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, color, 0, 0, 0))
    return _SIGNATURE + head + extra + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
