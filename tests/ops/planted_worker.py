"""Workers for proofs: one that draws a pixel wrong and stands by it, one that is slow."""

from __future__ import annotations

import os
import time

from nfbuild.digests import blob_digest
from nfbuild.errors import DrawError
from nfbuild.pixels import png
from nfbuild.pixels.digest import frame_digest
from nfbuild.render.tasks import Drawn, DrawTask
from nfbuild.render.worker import Worker

X, Y = 3, 2


class Wrong(Worker):
    """Digest, blob and record of the wrong picture agree: only another drawing shows the fault."""

    def perform(self, task: object) -> object:
        if not isinstance(task, DrawTask) or b"Still" not in task.document:
            return super().perform(task)
        pixels = bytearray(self._drawing().draw(task))
        pixels[(Y * task.width + X) * 4] ^= 1
        data = png.encode(bytes(pixels), task.width, task.height)
        blob = blob_digest(data)
        self.setup.write(blob, data)
        digest = frame_digest(bytes(pixels), task.width, task.height)
        return Drawn(digest, blob, len(data), None, ())


class Slow(Worker):
    """Every other worker takes its time, so that frames overtake each other."""

    def perform(self, task: object) -> object:
        if isinstance(task, DrawTask) and os.getpid() % 2:
            time.sleep(0.03)
        return super().perform(task)


class Tired(Worker):
    """Refuses every frame after the twelfth."""

    drawn = 0

    def perform(self, task: object) -> object:
        if isinstance(task, DrawTask):
            self.drawn += 1
            if self.drawn > 12:
                raise DrawError("no more for today", code="draw.tired")
        return super().perform(task)
