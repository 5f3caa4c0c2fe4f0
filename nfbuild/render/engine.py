"""Start the rasterizer's engine, and keep what it drew before from deciding a pixel.

ThorVG 1.0 counts the edges of each row in a pool of cells that it keeps from shape to shape. A
shape that needs more cells in one row than there are is not drawn (`rleRender` in `tvgSwRle.cpp`);
a wide or high shape makes the pool larger for all that come after it. So a comb of 400 teeth above
a card would be missing from a worker's first frame and be there in the next one, after a title as
wide as the canvas. Here the pool is brought, before the first frame of a canvas, to the cells that
one row of it can need: one a pixel, and one beside it. Then nothing is dropped, and it does not
matter how much larger the pool is. It is not made larger than that without need: a pool that the
processor's first cache cannot hold draws complex shapes at two thirds of the speed.
Not here: what is drawn (`renderer`), the functions themselves (`thorvg`).
"""

from __future__ import annotations

import ctypes

from . import thorvg

MAX_SIDE = 32_768
"""Longest side of a raster; the rasterizer counts in 16.16 fixed point in places."""

_FIRST_CELLS = 682  # 16,368 bytes of 24
_SPARE = 16  # for the cell beside the canvas and the list of rows, rounded up


class Engine:
    """A running engine with one canvas; DrawError where it cannot be started."""

    def __init__(self, library: thorvg.Library) -> None:
        library.engine_init(0)
        self._library = library
        self._cells = _FIRST_CELLS  # at least
        self.canvas = library.new("tvg_swcanvas_create", thorvg.OPTION_NONE)

    def make_room(self, side: int) -> None:
        """Bring the pool to what a canvas with this longest side needs; its target is lost."""
        need = side + _SPARE
        if need > self._cells:
            # A shape asks for three cells for every four pixels of its side. If that is more than
            # there are, it gets a quarter on top: this one gets at least the cells needed, whatever
            # another engine of this process has left.
            self._draw_a_shape(need * 4 // 3 + 4)
            self._cells = need

    def _draw_a_shape(self, width: int) -> None:
        library, canvas = self._library, self.canvas
        row = bytearray(4 * width)
        address = ctypes.addressof(ctypes.c_char.from_buffer(row))
        library.swcanvas_set_target(canvas, address, width, width, 1, thorvg.ABGR8888)
        document = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 1">'
            f'<path d="M0 0h{width}L1 1z"/></svg>'
        ).encode()
        picture = library.new("tvg_picture_new")
        library.picture_load_data(picture, document, len(document), b"svg", None, True)
        library.canvas_add(canvas, picture)
        library.canvas_draw(canvas, True)
        library.canvas_sync(canvas)
        library.canvas_remove(canvas, None)
