"""Straight RGBA to the colour planes that films keep, by integer arithmetic on whole planes.

Own arithmetic, because swscale's answer differs between calls and processors at some widths, and
an export must have the same bytes at any `-j`. The matrix is ITU-R BT.709 in limited range (Rec.
BT.709-6, items 3.2 to 3.5): white is luma 235 (940 in ten bits), black 16 (64), grey chroma 128.
The factors are those of the standard times 65536, rounded so that each row's sum is exact: greys
get exactly grey chroma, and white gets exactly white.

Halved planes hold the mean of two by two pixels, weighted by their alpha where there is one: a
transparent pixel's colour means nothing and must not stain its neighbour. Rasters of odd size are
enlarged by repeating the last column and row. Ten-bit alpha is a * 1023 / 255, rounded, which
eight-bit alpha comes back from exactly. Not here: encoding (`film`).
"""

from __future__ import annotations

from typing import TypeAlias

from nfbuild.pixels.arrays import Bytes, Ints, np, rgba

Shorts: TypeAlias = np.typing.NDArray[np.uint16]

_ROWS = 32
"""Rows at a time, an even number: the 32-bit working copies stay in the processor's cache."""
_HALF = 1 << 15
_LUMA = (11966, 40254, 4064)
_BLUE = (-6596, -22188, 28784)
_RED = (28784, -26145, -2639)


def halved(
    raster: bytes | bytearray | memoryview, width: int, height: int, *, alpha: bool
) -> list[Bytes]:
    """Return luma, both chroma planes in half size and, if asked, alpha, in 8 bits.

    The planes have the enlarged, even size; chroma half of it in both directions.
    """
    pixels = _even(rgba(raster, width, height))
    tall, wide = pixels.shape[:2]
    luma = np.empty((tall, wide), dtype=np.uint8)
    blue = np.empty((tall // 2, wide // 2), dtype=np.uint8)
    red = np.empty_like(blue)
    for start in range(0, tall, _ROWS):
        block = pixels[start : start + _ROWS]
        colors = [block[..., channel].astype(np.int32) for channel in range(3)]
        luma[start : start + _ROWS] = _mixed(colors, _LUMA, 16, 16)
        weight = block[..., 3].astype(np.int32) if alpha else None
        small = [_mean(color, weight) for color in colors]
        blue[start // 2 : (start + _ROWS) // 2] = _mixed(small, _BLUE, 128, 16)
        red[start // 2 : (start + _ROWS) // 2] = _mixed(small, _RED, 128, 16)
    return [luma, blue, red, np.ascontiguousarray(pixels[..., 3])] if alpha else [luma, blue, red]


def full(
    raster: bytes | bytearray | memoryview, width: int, height: int, *, alpha: bool
) -> list[Shorts]:
    """Return luma, both chroma planes and, if asked, alpha, in full size and 10 bits."""
    pixels = rgba(raster, width, height)
    planes = [np.empty((height, width), dtype=np.uint16) for _ in range(4 if alpha else 3)]
    for start in range(0, height, _ROWS):
        block = pixels[start : start + _ROWS]
        rows = slice(start, start + _ROWS)
        colors = [block[..., channel].astype(np.int32) for channel in range(3)]
        # Shifted by two bits less: four times the 8-bit value, with its fraction.
        planes[0][rows] = _mixed(colors, _LUMA, 64, 14)
        planes[1][rows] = _mixed(colors, _BLUE, 512, 14)
        planes[2][rows] = _mixed(colors, _RED, 512, 14)
        if alpha:
            planes[3][rows] = (block[..., 3].astype(np.int32) * 1023 + 127) // 255
    return planes


def _mixed(colors: list[Ints], factors: tuple[int, int, int], base: int, shift: int) -> Ints:
    total = colors[0] * factors[0]
    total += colors[1] * factors[1]
    total += colors[2] * factors[2]
    total += (base << shift) + (_HALF if shift == 16 else _HALF >> 2)
    total >>= shift
    return total


def _mean(color: Ints, weight: Ints | None) -> Ints:
    """Return the rounded mean of two by two values, by weight where there is any."""
    plain = (_quads(color) + 2) >> 2
    if weight is None or int(weight.min()) == 255:
        return plain
    weights = _quads(weight)
    weighted = (_quads(color * weight) + (weights >> 1)) // np.maximum(weights, 1)
    return np.where(weights > 0, weighted, plain)


def _quads(values: Ints) -> Ints:
    total: Ints = values[0::2, 0::2] + values[0::2, 1::2]
    total += values[1::2, 0::2]
    total += values[1::2, 1::2]
    return total


def _even(pixels: Bytes) -> Bytes:
    tall, wide = pixels.shape[:2]
    if tall % 2 == 0 and wide % 2 == 0:
        return pixels
    return np.pad(pixels, ((0, tall % 2), (0, wide % 2), (0, 0)), mode="edge")
