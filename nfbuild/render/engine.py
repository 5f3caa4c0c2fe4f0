"""Start the rasterizer's engine so that what it drew before decides no pixel.

ThorVG 1.0 counts the edges of each row in a pool of cells that it keeps from shape to shape. The
pool grows with the widest or highest shape drawn so far, to 15/16 of its side, and a shape that
needs more cells in one row than there are is not drawn (`rleRender` in `tvgSwRle.cpp`). So a comb
of 400 teeth above a card would be missing from a worker's first frame and be there in the next
one, after a title as wide as the canvas. Here the pool is brought to the size that it can have on
the widest canvas there is, before the first frame: 30,720 cells, 720 KB. Rows of a canvas have a
cell for each pixel and one beside it, so nothing is dropped any more on canvases narrower than
that, and on wider ones the same in every frame.
Not here: what is drawn (`renderer`), the functions themselves (`thorvg`).
"""

from __future__ import annotations

import ctypes

from . import thorvg

MAX_SIDE = 32_768
"""Longest side of a raster; the rasterizer counts in 16.16 fixed point in places."""

_WIDEST = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {MAX_SIDE} 1">'
    f'<path d="M0 0h{MAX_SIDE}L1 1z"/></svg>'
).encode()


def start(library: thorvg.Library) -> int:
    """Start an engine and return its canvas, which has no target yet; DrawError if that fails."""
    library.engine_init(0)
    canvas = library.new("tvg_swcanvas_create", thorvg.OPTION_NONE)
    _fill_the_pool(library, canvas)
    return canvas


def _fill_the_pool(library: thorvg.Library, canvas: int) -> None:
    row = bytearray(4 * MAX_SIDE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(row))
    library.swcanvas_set_target(canvas, address, MAX_SIDE, MAX_SIDE, 1, thorvg.ABGR8888)
    picture = library.new("tvg_picture_new")
    library.picture_load_data(picture, _WIDEST, len(_WIDEST), b"svg", None, True)
    library.canvas_add(canvas, picture)
    library.canvas_draw(canvas, True)
    library.canvas_sync(canvas)
    library.canvas_remove(canvas, None)
