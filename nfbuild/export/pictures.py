"""Pictures of a film: a contact sheet of its frames, and one frame with its neighbours' ghosts.

Both are PNG files of straight RGBA, by integer arithmetic, so the same film gives the same picture.
A sheet's cells are made smaller by a whole factor, each pixel the mean of a square, weighted by
alpha. An onion skin shows a neighbour only where it differs from the frame itself: red what
was there before, blue what will be, fainter with distance. Not here: films (`make`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError
from nfbuild.pixels import png
from nfbuild.pixels.arrays import Bytes, Ints, np, rgba

if TYPE_CHECKING:
    from nfbuild.export.base import FrameSource

_BEFORE = (224, 60, 50)
_AFTER = (40, 110, 230)
_STRENGTH = 160
"""Alpha of the nearest ghost, 0 to 255."""
MAX_SIDE = 32_768


@dataclass(frozen=True)
class SheetLayout:
    """How a sheet is laid out: cells in a row, the whole factor they shrink by, the gap in pixels.

    `background` is an opaque colour, or None for a transparent sheet.
    """

    columns: int
    shrink: int
    gap: int = 8
    background: tuple[int, int, int] | None = None


def spread(count: int, wanted: int) -> list[int]:
    """Return at most `wanted` frame numbers of `count`, evenly spread, the first and last too."""
    if wanted >= count:
        return list(range(count))
    if wanted == 1:
        return [0]
    return [(2 * i * (count - 1) + wanted - 1) // (2 * (wanted - 1)) for i in range(wanted)]


def sheet_layout(source: FrameSource, cells: int, *, cell_width: int = 320) -> SheetLayout:
    """Return a layout of about square shape, its cells at most `cell_width` pixels wide."""
    columns = 1
    while columns * columns * source.width < cells * source.height or columns * columns < cells:
        columns += 1
    return SheetLayout(columns=min(columns, cells), shrink=-(-source.width // cell_width))


def contact_sheet(source: FrameSource, numbers: Sequence[int], layout: SheetLayout) -> bytes:
    """Return a PNG of the frames `numbers`, row by row.

    Raises `UsageError` for no frames, and for a sheet larger than programs can show.
    """
    if not numbers:
        raise UsageError("a contact sheet needs at least one frame")
    cell_width = max(1, source.width // layout.shrink)
    cell_height = max(1, source.height // layout.shrink)
    rows = -(-len(numbers) // layout.columns)
    width = layout.columns * (cell_width + layout.gap) + layout.gap
    height = rows * (cell_height + layout.gap) + layout.gap
    if max(width, height) > MAX_SIDE:
        raise UsageError(
            f"the sheet would be {width} x {height} pixels",
            hint="choose fewer frames or smaller cells",
        )
    sheet = np.zeros((height, width, 4), dtype=np.uint8)
    for position, number in enumerate(numbers):
        source.wait(number)
        pixels = rgba(source.rgba(number), source.width, source.height)
        row, column = divmod(position, layout.columns)
        top = layout.gap + row * (cell_height + layout.gap)
        left = layout.gap + column * (cell_width + layout.gap)
        cell = _shrunk(pixels, layout.shrink)
        sheet[top : top + cell_height, left : left + cell_width] = cell
    if layout.background is not None:
        from nfbuild.pixels import blend  # noqa: PLC0415  only with a background

        raster = bytearray(sheet.tobytes())
        blend.lay_on(raster, width, height, layout.background)
        return png.encode(raster, width, height)
    return png.encode(sheet.tobytes(), width, height)


def onion_skin(source: FrameSource, number: int, *, before: int = 2, after: int = 2) -> bytes:
    """Return a PNG of a frame under the ghosts of its neighbours that exist.

    Raises `UsageError` for a frame that the composition does not have.
    """
    if not 0 <= number < source.count:
        raise UsageError(f"there is no frame {number}", hint=f"frames are 0 to {source.count - 1}")
    size = (source.width, source.height)
    source.wait(number)
    frame = rgba(source.rgba(number), *size)
    shown = frame.astype(np.int32)
    ghosts = [(number - k, k, before, _BEFORE) for k in range(before, 0, -1)]
    ghosts += [(number + k, k, after, _AFTER) for k in range(after, 0, -1)]
    # The farthest first, so that the nearest lies on top.
    for neighbour, distance, reach, tint in sorted(ghosts, key=lambda ghost: -ghost[1]):
        if 0 <= neighbour < source.count:
            source.wait(neighbour)
            other = rgba(source.rgba(neighbour), *size)
            strength = _STRENGTH * (reach + 1 - distance) // reach
            shown = _ghosted(shown, frame, other, tint, strength)
    return png.encode(shown.astype(np.uint8).tobytes(), *size)


def _shrunk(pixels: Bytes, factor: int) -> Bytes:
    """Return means of `factor` x `factor` pixels; what does not fill a square is left out."""
    tall, wide = pixels.shape[:2]
    if factor == 1:
        return pixels
    across, down = min(factor, wide), min(factor, tall)
    rows, columns = max(1, tall // factor), max(1, wide // factor)
    squares = pixels[: rows * down, : columns * across].astype(np.int64)
    squares = squares.reshape(rows, down, columns, across, 4)
    alpha = squares[..., 3]
    weight = alpha.sum(axis=(1, 3))
    out = np.zeros((rows, columns, 4), dtype=np.uint8)
    for channel in range(3):
        total = (squares[..., channel] * alpha).sum(axis=(1, 3))
        out[..., channel] = (total + weight // 2) // np.maximum(weight, 1)
    out[..., 3] = (weight + across * down // 2) // (across * down)
    return out


def _ghosted(
    under: Ints, frame: Bytes, other: Bytes, tint: tuple[int, int, int], strength: int
) -> Ints:
    """Return `under` with what `other` shows otherwise than `frame`, tinted and faint, on top."""
    differs = (frame != other).any(axis=2)
    # Where the neighbour shows nothing, its absence is not drawn.
    alpha = np.where(differs, other[..., 3].astype(np.int32) * strength // 255, 0)
    color = (other[..., :3].astype(np.int32) + np.array(tint, dtype=np.int32)) // 2
    below = under[..., 3] * (255 - alpha)  # times 255
    total = alpha * 255 + below
    out = under.copy()
    for channel in range(3):
        mixed = color[..., channel] * alpha * 255 + under[..., channel] * below
        value = (mixed + total // 2) // np.maximum(total, 1)
        out[..., channel] = np.where(alpha > 0, value, under[..., channel])
    out[..., 3] = np.where(alpha > 0, (total + 127) // 255, under[..., 3])
    return out
