"""Frames of Lottie scenes, by frame number.

Not here: how many frames a scene has and which files it draws (`scene`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.errors import DrawError

if TYPE_CHECKING:
    from .renderer import Clock, Renderer
    from .tasks import DrawTask, LottieShot


def draw_scene(renderer: Renderer, task: DrawTask, shot: LottieShot, clock: Clock) -> memoryview:
    """Return the straight RGBA rows of one frame of a scene."""
    raise DrawError(f"{renderer}{task}{shot}{clock}")
