"""Frames of Lottie scenes by frame number, on the renderer's engine and canvas.

A scene without expressions stays loaded from frame to frame: setting a frame number decides all
of its pixels, whatever frame was drawn before. A scene with expressions is drawn alone: its script
machine is one per process and keeps globals and the state of `Math.random`, so the engine is
started afresh, the C library's random numbers are set to their start, and the engine is given up
afterwards.

Pictures that a scene names stand in the working directory, as for documents; ThorVG puts the
folder `.` before a name only when it is told so. A font name that matches no face falls back to
the first face loaded, so a scene is drawn only with exactly its own faces in the engine, in the
task's order.
Not here: which numbers a scene has, what it refers to, whether it has expressions (`scene`).
"""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import TYPE_CHECKING

from nfbuild.errors import DrawError

if TYPE_CHECKING:
    from nfbuild.digests import InputDigest

    from . import thorvg
    from .renderer import Clock, Renderer
    from .tasks import DrawTask, LottieShot

_FOLDER = b"."


class Scene:
    """A scene loaded and put on the canvas."""

    def __init__(
        self, library: thorvg.Library, canvas: int, task: DrawTask, faces: tuple[InputDigest, ...]
    ) -> None:
        self._library = library
        self._canvas = canvas
        self._key = (task.document, task.width, task.height, task.pictures, faces)
        self._animation = library.new("tvg_lottie_animation_new")
        picture = library.new("tvg_animation_get_picture", self._animation)
        data = task.document
        try:
            library.picture_load_data(picture, data, len(data), b"lottie", _FOLDER, True)
            library.picture_set_size(picture, task.width, task.height)
        except DrawError:
            library.animation_del(self._animation)
            raise
        library.canvas_add(canvas, picture)

    def is_of(self, task: DrawTask) -> bool:
        """Tell whether this is a task's scene at its size."""
        key = (task.document, task.width, task.height, task.pictures, task.faces)
        return self._key == key

    def draw(self, number: float) -> None:
        """Draw one frame into the canvas's target."""
        # Asking for the frame that is set already is refused, so that one is not asked for.
        if self._library.frame(self._animation) != _float32(number):
            self._library.animation_set_frame(self._animation, number)
        self._library.canvas_update(self._canvas)
        self._library.canvas_draw(self._canvas, True)
        self._library.canvas_sync(self._canvas)

    def close(self) -> None:
        """Take the scene off the canvas and let go of it."""
        self._library.canvas_remove(self._canvas, None)
        self._library.animation_del(self._animation)


def draw_scene(renderer: Renderer, task: DrawTask, shot: LottieShot, clock: Clock) -> None:
    """Draw one frame of a scene into the renderer's buffer; DrawError when a call fails."""
    if shot.alone or not renderer.has_just(task.faces):
        renderer.reset()
    if shot.alone:
        _restart_random_numbers()
    library, canvas = renderer.begin(task, keep_scene=True)
    scene = renderer.scene
    if scene is None or not scene.is_of(task):
        renderer.close_scene()
        scene = renderer.scene = Scene(library, canvas, task, task.faces)
    clock.stage("load")
    scene.draw(shot.number)
    if shot.alone:
        renderer.reset()
    clock.stage("draw")
    if shot.background is not None:
        from nfbuild.pixels.blend import lay_on  # noqa: PLC0415  NumPy takes 85 ms

        lay_on(renderer.buffer, task.width, task.height, shot.background)
        clock.stage("background")


def _float32(number: float) -> float:
    return float(struct.unpack("f", struct.pack("f", number))[0])


def _restart_random_numbers() -> None:
    """Set the state of the C library's `rand` to what a process starts with."""
    name = "msvcrt" if sys.platform == "win32" else None
    seed = ctypes.CDLL(name).srand
    seed.argtypes = [ctypes.c_uint]
    seed.restype = None
    seed(1)
