"""How far two rasters are apart, in numbers and in pictures.

Bounds are judged on alpha and on colour premultiplied to 8 bits, since the straight colour of a
nearly transparent pixel may jump without anybody seeing it; a pixel counts as different when any
of its four straight bytes is, as that is what moves a digest.
Not here: verdicts and excuses (`ledger`), writing reports (`ops`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass

from .arrays import Bytes, np, rgba

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIM = 5  # the picture under a heat map is this many times darker
_GAP = 4  # pixels between the cells of a contact sheet
_BACK = (40, 40, 44, 255)


@dataclass(frozen=True)
class Difference:
    """What differs between two rasters of one size.

    `pixels` counts those that differ; `alpha_step` and `color_step` are the largest steps, 0 to
    255; `box` holds all that differ: (left, top, right, bottom), ends exclusive, None for none.
    """

    pixels: int
    alpha_step: int
    color_step: int
    box: tuple[int, int, int, int] | None

    @property
    def step(self) -> int:
        """The larger of the two steps: what an excuse bounds."""
        return max(self.alpha_step, self.color_step)


@dataclass(frozen=True)
class Raster:
    """Straight RGBA rows with their size."""

    pixels: bytes
    width: int
    height: int


def difference(first: Raster, second: Raster) -> Difference:
    """Measure two rasters; ValueError when their sizes differ."""
    a, b = _pair(first, second)
    moved = (a != b).any(axis=2)
    count = int(np.count_nonzero(moved))
    if not count:
        return Difference(0, 0, 0, None)
    rows = np.flatnonzero(moved.any(axis=1))
    columns = np.flatnonzero(moved.any(axis=0))
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    left, right = int(columns[0]), int(columns[-1]) + 1
    a, b = a[top:bottom, left:right], b[top:bottom, left:right]
    color, alpha = _steps(a, b)
    return Difference(count, int(alpha.max()), int(color.max()), (left, top, right, bottom))


def heat_map(first: Raster, second: Raster) -> Raster:
    """Return the first raster in dim grey with every pixel that differs in yellow (a step of one
    or none to be seen) to red (64 and more)."""  # noqa: D205, D209  one sentence
    a, b = _pair(first, second)
    moved = (a != b).any(axis=2)
    color, alpha = _steps(a, b)
    step = np.minimum(np.maximum(color.max(axis=2), alpha), 64).astype(np.uint16)
    grey = (_premultiplied(a).sum(axis=2, dtype=np.uint32) // (3 * _DIM)).astype(np.uint8)
    out = np.empty_like(a)
    for channel in range(3):
        out[..., channel] = grey
    out[..., 3] = 255
    out[moved, 0] = 255
    out[moved, 1] = (255 - step[moved] * 255 // 64).astype(np.uint8)
    out[moved, 2] = 0
    return Raster(out.tobytes(), first.width, first.height)


def crop(raster: Raster, box: tuple[int, int, int, int], *, margin: int = 0) -> Raster:
    """Return the part of a raster inside a box and a margin, cut at the raster's edges."""
    left, top = max(0, box[0] - margin), max(0, box[1] - margin)
    right = min(raster.width, box[2] + margin)
    bottom = min(raster.height, box[3] + margin)
    if left >= right or top >= bottom:
        raise ValueError(f"the box {box} holds no pixel of {raster.width} x {raster.height}")
    part = rgba(raster.pixels, raster.width, raster.height)[top:bottom, left:right]
    return Raster(part.tobytes(), right - left, bottom - top)


def enlarged(raster: Raster, times: int) -> Raster:
    """Return every pixel as a square of `times` x `times`."""
    pixels = rgba(raster.pixels, raster.width, raster.height)
    big = pixels.repeat(times, axis=0).repeat(times, axis=1)
    return Raster(big.tobytes(), raster.width * times, raster.height * times)


def reduced(raster: Raster, largest: int) -> Raster:
    """Return the raster shrunk by a whole factor until no side is above `largest`.

    Each pixel is the mean of a square, taken of premultiplied colour; at the right and bottom
    edge the last pixels are repeated to fill the square.
    """
    times = max(1, -(-max(raster.width, raster.height) // largest))
    if times == 1:
        return raster
    pixels = rgba(raster.pixels, raster.width, raster.height)
    height, width = -(-raster.height // times), -(-raster.width // times)
    fill = ((0, height * times - raster.height), (0, width * times - raster.width), (0, 0))
    padded = np.pad(pixels, fill, mode="edge").astype(np.uint32)
    weighted = padded.copy()
    weighted[..., :3] *= padded[..., 3:]
    sums = weighted.reshape(height, times, width, times, 4).sum(axis=(1, 3), dtype=np.uint64)
    alpha = sums[..., 3:]
    out = np.empty((height, width, 4), dtype=np.uint8)
    out[..., :3] = (sums[..., :3] + alpha // 2) // np.maximum(alpha, 1)
    out[..., 3] = ((alpha + times * times // 2) // (times * times))[..., 0]
    return Raster(out.tobytes(), width, height)


def contact_sheet(frames: Sequence[Raster], *, columns: int, largest: int) -> Raster:
    """Return frames side by side, reduced to `largest`, in rows of `columns`, on dark grey."""
    if not frames or columns < 1:
        raise ValueError("a contact sheet needs a frame and a column")
    cells = [reduced(frame, largest) for frame in frames]
    wide = max(cell.width for cell in cells) + _GAP
    high = max(cell.height for cell in cells) + _GAP
    across = min(columns, len(cells))
    down = -(-len(cells) // across)
    sheet = np.empty((down * high + _GAP, across * wide + _GAP, 4), dtype=np.uint8)
    sheet[...] = _BACK
    for index, cell in enumerate(cells):
        top, left = _GAP + index // across * high, _GAP + index % across * wide
        sheet[top : top + cell.height, left : left + cell.width] = rgba(
            cell.pixels, cell.width, cell.height
        )
    return Raster(sheet.tobytes(), sheet.shape[1], sheet.shape[0])


def _pair(first: Raster, second: Raster) -> tuple[Bytes, Bytes]:
    if (first.width, first.height) != (second.width, second.height):
        raise ValueError(
            f"{first.width} x {first.height} and {second.width} x {second.height} pixels"
            " cannot be compared"
        )
    return (
        rgba(first.pixels, first.width, first.height),
        rgba(second.pixels, second.width, second.height),
    )


def _steps(a: Bytes, b: Bytes) -> tuple[Bytes, Bytes]:
    """Return the steps of premultiplied colour, per channel, and of alpha."""
    return _apart(_premultiplied(a), _premultiplied(b)), _apart(a[..., 3], b[..., 3])


def _apart(a: Bytes, b: Bytes) -> Bytes:
    return np.maximum(a, b) - np.minimum(a, b)


def _premultiplied(pixels: Bytes) -> Bytes:
    # c * a / 255 rounded to the nearest, exact in 16 bits (see `blend`).
    product = pixels[..., :3].astype(np.uint16)
    product *= pixels[..., 3:]
    product += 128
    product += product >> 8
    return (product >> 8).astype(np.uint8)
