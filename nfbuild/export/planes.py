"""Comparing and cutting rasters: what animated pictures need between two frames.

An animated picture stores, for each change, the smallest box that holds it. Boxes are (left, top,
right, bottom) in pixels, right and bottom exclusive.
Not here: colour planes (`yuv`), palettes (`palette`), encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nfbuild.pixels import blend
from nfbuild.pixels.arrays import Bytes, np, rgba

if TYPE_CHECKING:
    from nfbuild.export.base import FrameSource
    from nfbuild.export.plan import ExportPlan

Box: TypeAlias = tuple[int, int, int, int]


def shown(plan: ExportPlan, source: FrameSource, number: int) -> bytes | bytearray | memoryview:
    """Return straight RGBA rows of a frame as it is shown: laid on the background, if any."""
    drawn = source.rgba(number)
    if plan.background is None:
        return drawn
    raster = bytearray(drawn)
    blend.lay_on(raster, plan.width, plan.height, plan.background)
    return raster


def changed_box(before: Bytes | None, after: Bytes) -> Box | None:
    """Return the smallest box outside which two rasters are equal; None when they are equal.

    Both have shape (height, width, 4). With nothing before, that is the whole.
    """
    if before is None:
        return (0, 0, after.shape[1], after.shape[0])
    return box_of(_words(before) != _words(after))


def _words(pixels: Bytes) -> np.typing.NDArray[np.uint32]:
    # Four channels compared as one number.
    return np.ascontiguousarray(pixels).view(np.uint32)[..., 0]


def box_of(marks: np.typing.NDArray[np.bool_]) -> Box | None:
    """Return the smallest box that holds all marks of a shape (height, width); None for none."""
    rows = np.flatnonzero(marks.any(axis=1))
    if not rows.size:
        return None
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(marks[top:bottom].any(axis=0))
    return (int(columns[0]), top, int(columns[-1]) + 1, bottom)


def cut(pixels: Bytes, box: Box) -> bytes:
    """Return the rows of a box."""
    left, top, right, bottom = box
    return pixels[top:bottom, left:right].tobytes()


def as_pixels(raster: bytes | bytearray | memoryview, width: int, height: int) -> Bytes:
    """Return a view of RGBA rows with shape (height, width, 4)."""
    return rgba(raster, width, height)
