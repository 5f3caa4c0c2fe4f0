"""One worker: performs task values with what its setup gives it, and answers with values.

Constructing a worker is cheap; the rasterizer, the PNG codec, Pillow and PyAV are loaded when a
task first needs them, or ahead by `warm`. A task that cannot be done raises a typed error and
leaves the worker as good as new; what kills the process is for `execute` to handle.
Not here: where tasks come from and how answers travel (`execute`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, overload

from nfbuild.digests import blob_digest, file_digest
from nfbuild.errors import MediaError

from .tasks import (
    Audited,
    AuditTask,
    Decoded,
    DecodeTask,
    Drawn,
    DrawTask,
    FilmFacts,
    FilmPictures,
    Measured,
    MeasureTask,
    VideoTask,
)

if TYPE_CHECKING:
    from nfbuild.pixels.decoded import DecodedPicture

    from .renderer import Clock, Renderer
    from .tasks import Answer, Setup, Task


def prepare() -> None:
    """Load what every worker needs, before it is known what for."""
    from . import renderer, thorvg  # noqa: F401, PLC0415  the parent imports this module too

    thorvg.Library()


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
    def perform(self, task: VideoTask) -> FilmFacts | FilmPictures: ...
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
        if isinstance(task, VideoTask):
            return self._film(task)
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
        from nfbuild.pixels.decode import decode_picture  # noqa: PLC0415  Pillow takes 30 ms

        from .renderer import Clock  # noqa: PLC0415  as above

        clock = Clock()
        picture = decode_picture(task.data, max_pixels=task.max_pixels, name=task.name)
        clock.stage("decode")
        return self._keep(picture, clock)

    def _film(self, task: VideoTask) -> FilmFacts | FilmPictures:
        from nfbuild.pixels import video  # noqa: PLC0415  an extra that few compositions need

        from .renderer import Clock  # noqa: PLC0415  as above

        clock = Clock()
        data = self._staged(task.staged, task.name)
        if not task.numbers:
            facts = video.describe(data, task.rate, max_pixels=task.max_pixels, name=task.name)
            clock.stage("decode")
            stages = tuple(clock.stages)
            return FilmFacts(facts.width, facts.height, facts.duration, facts.frames, stages)
        kept = []
        for _, picture in video.pictures(
            data, task.rate, task.numbers, max_pixels=task.max_pixels, name=task.name
        ):
            clock.stage("decode")
            kept.append(self._keep(picture, clock))
        return FilmPictures(tuple(kept), tuple(clock.stages))

    def _staged(self, name: str, shown: str) -> bytes:
        try:
            with open(os.path.join(self.setup.staging, name), "rb") as file:
                data = file.read()
        except OSError as error:
            raise MediaError(f"`{shown}` is not staged: {error.strerror}") from error
        if file_digest(data) != os.path.splitext(name)[0]:
            raise MediaError(f"the staged `{shown}` has other content", hint="build again")
        return data

    def _keep(self, picture: DecodedPicture, clock: Clock) -> Decoded:
        """Stage a decoded picture and write its blob; `clock` tells where the time went."""
        from nfbuild.pixels import png  # noqa: PLC0415  as above
        from nfbuild.pixels.digest import picture_digest  # noqa: PLC0415  as above

        digest = picture_digest(picture.pixels, picture.width, picture.height)
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
