"""The rasterizer's C functions, declared here and checked one by one.

The library is the file that `build.library` names, out of the binding `thorvg_python`, whose own
modules are not imported: that saves a worker 17 ms, and several of its functions call the wrong
C function or pass lengths wrongly (`Text.font_load_data`, `Picture.load_data` with a path). The
declarations follow ThorVG's public header `thorvg_capi.h`, release 1.0.
Every function that returns a result code is called through `checked`, so that no code is lost.
Not here: which calls draw a frame (`renderer`, `lottie`).
"""

from __future__ import annotations

from ctypes import (
    CDLL,
    POINTER,
    byref,
    c_bool,
    c_char_p,
    c_float,
    c_int,
    c_uint16,
    c_uint32,
    c_void_p,
)
from typing import TYPE_CHECKING, Any

from nfbuild.errors import DrawError, UsageError

from . import build

if TYPE_CHECKING:
    from collections.abc import Callable

RELEASES = "'thorvg-python>=1.1.3,<1.2'"
OPTION_NONE = 0
"""No engine option: every draw is whole. The default redraws parts and leaves wrong pixels."""
ABGR8888 = 0
"""Premultiplied alpha, in the same order: the rasterizer's own form."""
ABGR8888S = 2
"""Straight alpha; in memory red, green, blue, alpha on a little-endian machine."""

_MEANINGS = {
    1: "invalid argument",
    2: "insufficient condition",
    3: "out of memory",
    4: "memory corruption",
    5: "not supported",
    255: "unknown error",
}

_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "tvg_engine_init": (c_uint32,),
    "tvg_engine_term": (),
    "tvg_font_load_data": (c_char_p, c_char_p, c_uint32, c_char_p, c_bool),
    "tvg_swcanvas_set_target": (c_void_p, c_void_p, c_uint32, c_uint32, c_uint32, c_int),
    "tvg_canvas_add": (c_void_p, c_void_p),
    "tvg_canvas_remove": (c_void_p, c_void_p),
    "tvg_canvas_draw": (c_void_p, c_bool),
    "tvg_canvas_update": (c_void_p,),
    "tvg_canvas_sync": (c_void_p,),
    "tvg_canvas_set_viewport": (c_void_p, c_int, c_int, c_int, c_int),
    "tvg_canvas_destroy": (c_void_p,),
    "tvg_picture_load": (c_void_p, c_char_p),
    "tvg_picture_load_data": (c_void_p, c_char_p, c_uint32, c_char_p, c_char_p, c_bool),
    "tvg_picture_set_size": (c_void_p, c_float, c_float),
    "tvg_picture_get_size": (c_void_p, POINTER(c_float), POINTER(c_float)),
    "tvg_animation_set_frame": (c_void_p, c_float),
    "tvg_animation_get_frame": (c_void_p, POINTER(c_float)),
    "tvg_animation_get_total_frame": (c_void_p, POINTER(c_float)),
    "tvg_animation_del": (c_void_p,),
}
"""Arguments of the functions that return a result code."""

_MAKERS: dict[str, tuple[Any, ...]] = {
    "tvg_swcanvas_create": (c_int,),
    "tvg_picture_new": (),
    "tvg_animation_new": (),
    "tvg_lottie_animation_new": (),
    "tvg_animation_get_picture": (c_void_p,),
}
"""Functions that return a new object, or null."""


class Library:
    """ThorVG's functions in this process; raises OSError when the file cannot be loaded."""

    def __init__(self, path: str | None = None) -> None:
        self._library = CDLL(build.library() if path is None else path)
        for name, arguments in _PROTOTYPES.items():
            self._declare(name, arguments, c_int)
        for name, arguments in _MAKERS.items():
            self._declare(name, arguments, c_void_p)
        self._unreference = self._declare("tvg_paint_unref", (c_void_p, c_bool), c_uint16)
        self.engine_init = self._checked("tvg_engine_init")
        self.engine_term = self._checked("tvg_engine_term")
        self.font_load_data = self._checked("tvg_font_load_data")
        self.swcanvas_set_target = self._checked("tvg_swcanvas_set_target")
        self.canvas_add = self._checked("tvg_canvas_add")
        self.canvas_remove = self._checked("tvg_canvas_remove")
        self.canvas_draw = self._checked("tvg_canvas_draw")
        self.canvas_update = self._checked("tvg_canvas_update")
        self.canvas_sync = self._checked("tvg_canvas_sync")
        self.canvas_set_viewport = self._checked("tvg_canvas_set_viewport")
        self.canvas_destroy = self._checked("tvg_canvas_destroy")
        self.picture_load = self._checked("tvg_picture_load")
        self.picture_load_data = self._checked("tvg_picture_load_data")
        self.picture_set_size = self._checked("tvg_picture_set_size")
        self.animation_set_frame = self._checked("tvg_animation_set_frame")
        self.animation_del = self._checked("tvg_animation_del")
        self._picture_size = self._checked("tvg_picture_get_size")
        self._frame = self._checked("tvg_animation_get_frame")
        self._total_frame = self._checked("tvg_animation_get_total_frame")

    def new(self, maker: str, *arguments: object) -> int:
        """Return the object that a C function makes; DrawError when it makes none."""
        handle = getattr(self._library, maker)(*arguments)
        if not handle:
            raise DrawError(f"the rasterizer's `{maker}` returned nothing", code="draw.refused")
        return int(handle)

    def frame(self, animation: int) -> float:
        """Return the frame number that is set."""
        number = c_float()
        self._frame(animation, byref(number))
        return float(number.value)

    def total_frame(self, animation: int) -> float:
        """Return how many frames a loaded animation says it has."""
        total = c_float()
        self._total_frame(animation, byref(total))
        return float(total.value)

    def picture_size(self, picture: int) -> tuple[float, float]:
        """Return width and height that a loaded picture has by itself."""
        width, height = c_float(), c_float()
        self._picture_size(picture, byref(width), byref(height))
        return float(width.value), float(height.value)

    def release(self, paint: int) -> None:
        """Free a paint that no canvas owns."""
        self._unreference(paint, True)

    def _declare(self, name: str, arguments: tuple[Any, ...], result: Any) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise UsageError(
                f"the rasterizer library has no function `{name}`",
                hint=f"install the release that nfbuild asks for: `pip install {RELEASES}`",
                code="rasterizer",
            ) from error
        function.argtypes = list(arguments)
        function.restype = result
        return function

    def _checked(self, name: str) -> Callable[..., None]:
        function = getattr(self._library, name)

        def call(*arguments: object) -> None:
            code = function(*arguments)
            if code:
                raise refused(name, code)

        return call


def refused(name: str, code: int) -> DrawError:
    """Return the error for a result code other than success."""
    meaning = _MEANINGS.get(code, "unlisted error")
    return DrawError(
        f"the rasterizer's `{name}` failed with result {code} ({meaning})", code="draw.refused"
    )
