"""Where the ink of a raster is: the box of its pixels that are not fully transparent.

Plain bytes operations, as importing NumPy takes a worker longer than a hundred measurements:
a 960 x 540 raster with a line of text takes 0.1 ms.
Not here: drawing the raster (`renderer`), what a composition wants measured (`scene`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .tasks import DrawTask, Measured

if TYPE_CHECKING:
    from .renderer import Renderer
    from .tasks import MeasureTask


def measure(renderer: Renderer, task: MeasureTask) -> Measured:
    """Draw a task's document and return its ink box, in pixels; DrawError as drawing does."""
    from .renderer import Clock  # noqa: PLC0415  the two modules know each other only here

    clock = Clock()
    renderer.draw(
        DrawTask(
            task.document,
            task.width,
            task.height,
            pictures=task.pictures,
            faces=task.faces,
            png=False,
        ),
        clock,
        straight=False,
    )
    box = ink_box(renderer.buffer, task.width)
    clock.stage("measure")
    if box is None:
        return Measured(True, 0, 0, 0, 0, tuple(clock.stages))
    return Measured(False, *box, tuple(clock.stages))


def ink_box(raster: bytes | bytearray, width: int) -> tuple[int, int, int, int] | None:
    """Return (left, top, right, bottom) of the pixels with alpha, ends exclusive; None for none."""
    stride = 4 * width
    # Text covers few rows: the others are compared whole, which is several times as fast.
    first, last = _touched(raster, stride)
    alpha = bytes(raster[first * stride + 3 : last * stride : 4])
    from_first = len(alpha.lstrip(b"\0"))
    if not from_first:
        return None
    top = (len(alpha) - from_first) // width
    bottom = (len(alpha.rstrip(b"\0")) - 1) // width + 1
    left, right = width, 0
    for start in range(top * width, bottom * width, width):
        row = alpha[start : start + width]
        inked = row.lstrip(b"\0")
        if inked:
            left = min(left, width - len(inked))
            right = max(right, len(row.rstrip(b"\0")))
    return left, first + top, right, first + bottom


def _touched(raster: bytes | bytearray, stride: int) -> tuple[int, int]:
    """Return the rows outside which every byte is 0: the first, and the one after the last."""
    nothing = bytes(stride)
    first, last = 0, len(raster) // stride
    while first < last and raster.startswith(nothing, first * stride):
        first += 1
    while first < last and raster.startswith(nothing, (last - 1) * stride):
        last -= 1
    return first, last
