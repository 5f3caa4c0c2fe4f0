"""Workers that draw something else than the rasterizer would, planted by name."""

from __future__ import annotations

import os
import time

from nfbuild.dataclasses import replace
from nfbuild.pixels.digest import frame_digest
from nfbuild.render.tasks import DrawTask
from nfbuild.render.worker import Worker

FLIP = "NFBUILD_TEST_FLIP"


class FlippingWorker(Worker):
    """Draws every document that holds the marked text with one bit of one pixel flipped."""

    marker = b""

    def perform(self, task: object) -> object:
        drawn = super().perform(task)
        if isinstance(task, DrawTask) and self.flips(task):
            pixels = bytearray(self._drawing().draw(task))
            pixels[0] ^= 1
            digest = frame_digest(bytes(pixels), task.width, task.height)
            return replace(drawn, digest=digest)
        return drawn

    def flips(self, task: DrawTask) -> bool:
        """Tell whether this task is drawn wrong."""
        return True


class FlippingStill(FlippingWorker):
    """Draws wrong only what does not hold the moving box's last place."""

    def flips(self, task: DrawTask) -> bool:
        return b"Still" in task.document


class DyingWorker(Worker):
    """Dies on the frames whose document holds a mark."""

    def perform(self, task: object) -> object:
        if isinstance(task, DrawTask) and b"#dead00" in task.document:
            os._exit(3)
        return super().perform(task)


class ClockWorker(Worker):
    """Draws scenes as if an expression read the clock in seconds."""

    def perform(self, task: object) -> object:
        drawn = super().perform(task)
        if isinstance(task, DrawTask) and task.lottie is not None:
            second = f"{time.monotonic():.0f}".encode()
            return replace(drawn, digest=frame_digest(second.ljust(4, b" ")[-4:], 1, 1))
        return drawn
