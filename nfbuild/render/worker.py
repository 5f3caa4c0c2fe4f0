"""One worker: performs task values with what its setup gives it, and answers with values.

Constructing a worker is cheap; the rasterizer, the PNG codec and Pillow are loaded when a task
first needs them, or ahead by `warm`. A task that cannot be done raises a typed error and leaves
the worker as good as new; what kills the process is for `execute` to handle.
Not here: where tasks come from and how answers travel (`execute`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, overload

from nfbuild.digests import blob_digest

from .tasks import (
    Audited,
    AuditTask,
    Decoded,
    DecodeTask,
    Drawn,
    DrawTask,
    Measured,
    MeasureTask,
)

if TYPE_CHECKING:
    from .renderer import Renderer
    from .tasks import Answer, Setup, Task


class Worker:
    """Performs tasks in this process, which it makes stand in the setup's staging folder."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._renderer: Renderer | None = None

    def warm(self) -> None:
        """Load what drawing needs and start the engine."""
        self._drawing().warm()

    @overload
    def perform(self, task: DrawTask) -> Drawn: ...
    @overload
    def perform(self, task: MeasureTask) -> Measured: ...
    @overload
    def perform(self, task: DecodeTask) -> Decoded: ...
    @overload
    def perform(self, task: AuditTask) -> Audited: ...
    def perform(self, task: Task) -> Answer:
        """Return a task's answer. Raises DrawError, MediaError (a picture) or Corrupt (a blob)."""
        if isinstance(task, DrawTask):
            return self._drawing().draw_frame(task, self.setup.write)
        if isinstance(task, MeasureTask):
            from .measure import measure  # noqa: PLC0415  only compositions with laid out text

            return measure(self._drawing(), task)
        if isinstance(task, DecodeTask):
            return self._decode(task)
        return _audit(task)

    def close(self) -> None:
        """Let go of the engine; the worker may be used again."""
        if self._renderer is not None:
            self._renderer.reset()

    def _drawing(self) -> Renderer:
        if self._renderer is None:
            from .renderer import Renderer  # noqa: PLC0415  so that constructing costs nothing

            os.chdir(self.setup.staging)
            self._renderer = Renderer(self.setup.faces, keep_rasters=self.setup.keep_rasters)
        return self._renderer

    def _decode(self, task: DecodeTask) -> Decoded:
        from nfbuild.pixels import png  # noqa: PLC0415  as below
        from nfbuild.pixels.decode import decode_picture  # noqa: PLC0415  Pillow takes 30 ms
        from nfbuild.pixels.digest import picture_digest  # noqa: PLC0415  as below

        from .renderer import Clock  # noqa: PLC0415  as above

        clock = Clock()
        picture = decode_picture(task.data, max_pixels=task.max_pixels, name=task.name)
        digest = picture_digest(picture.pixels, picture.width, picture.height)
        clock.stage("decode")
        data = png.encode(picture.pixels, picture.width, picture.height)
        blob = blob_digest(data)
        clock.stage("encode")
        stage(self.setup.staging, f"{digest}.png", data)
        if self.setup.write is not None:
            self.setup.write(blob, data)
        clock.stage("write")
        return Decoded(digest, blob, picture.width, picture.height, len(data), tuple(clock.stages))


def stage(folder: str, name: str, data: bytes) -> None:
    """Put a picture into a staging folder under its name; harmless when it is there already."""
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return
    beside = f"{path}.{os.getpid()}.tmp"
    with open(beside, "wb") as file:
        file.write(data)
    os.replace(beside, path)


def _audit(task: AuditTask) -> Audited:
    from nfbuild.pixels.digest import frame_digest  # noqa: PLC0415  as above
    from nfbuild.pixels.png import decode_own  # noqa: PLC0415  as above

    from .renderer import Clock  # noqa: PLC0415  as above

    clock = Clock()
    pixels, width, height = decode_own(task.data)
    clock.stage("decode")
    digest = frame_digest(pixels, width, height)
    clock.stage("digest")
    return Audited(digest, width, height, tuple(clock.stages))
