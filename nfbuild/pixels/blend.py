"""Lay a raster on an opaque colour, by the integer arithmetic of the peer.

Each channel becomes (c * a + b * (255 - a)) / 255, rounded to the nearest integer; there are no
ties, as 255 is odd. Found by comparing with the peer's frames on all 256 alphas.
Not here: which scenes have a background (`scene`).
"""

from __future__ import annotations

from .arrays import np, rgba

_ROWS = 64  # rows at a time: the 16-bit working copy stays small


def lay_on(raster: bytearray, width: int, height: int, color: tuple[int, int, int]) -> None:
    """Lay straight RGBA rows on an opaque colour, in place; alpha becomes 255 everywhere."""
    pixels = rgba(raster, width, height)
    below = np.array(color, dtype=np.uint16)
    for start in range(0, height, _ROWS):
        rows = pixels[start : start + _ROWS]
        alpha = rows[..., 3:].astype(np.uint16)
        # At most 255 * 255 + 128, so 16 bits hold it; x / 255 = (x + x / 256) / 256 here.
        mixed = rows[..., :3].astype(np.uint16)
        mixed *= alpha
        mixed += (255 - alpha) * below
        mixed += 128
        mixed += mixed >> 8
        mixed >>= 8
        rows[..., :3] = mixed
        rows[..., 3] = 255
