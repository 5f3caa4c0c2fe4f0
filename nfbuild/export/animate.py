"""Animated pictures: a film as the pictures of its holds, each the box that changed.

One frame and the one before are held at a time. A GIF looks at all frames twice, as its palette
must be known before the first is written: that alone does not overlap drawing.
Not here: the containers (`apng`, `webp`, `gif`), films with a codec (`make`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from nfbuild.dataclasses import dataclass, field
from nfbuild.export import apng, planes, webp
from nfbuild.export.gif import UNITS as GIF_UNITS
from nfbuild.export.gif import GifWriter
from nfbuild.export.holds import Hold, holds
from nfbuild.export.palette import Census
from nfbuild.export.readback import Picture, alpha_digest
from nfbuild.export.record import Runs
from nfbuild.pixels.digest import frame_digest

if TYPE_CHECKING:
    from nfbuild.export.base import FrameSource, Steps
    from nfbuild.export.plan import ExportPlan
    from nfbuild.export.planes import Box
    from nfbuild.pixels.arrays import Bytes

_CORNER: Box = (0, 0, 1, 1)


@dataclass
class Animation:
    """An animated picture in the making; `runs` and `pictures` fill up as it is written.

    `pictures` is what must be read back, `runs` what is remembered.
    """

    plan: ExportPlan
    source: FrameSource
    steps: Steps
    runs: Runs = field(default_factory=Runs)
    pictures: list[Picture] = field(default_factory=list)

    def write(self, path: str) -> int | None:
        """Write the product to a new file; return its clock in ticks a second, None if exact."""
        with open(path, "xb") as file:
            if self.plan.format == "apng":
                return self._apng(file)
            if self.plan.format == "webp":
                return self._webp(file)
            return self._gif(file)

    @property
    def _size(self) -> tuple[int, int]:
        return (self.plan.width, self.plan.height)

    def _apng(self, file: BinaryIO) -> int | None:
        writer = apng.ApngWriter(file, self._size, self.plan.timing.rate, self.plan.loop)
        for hold, pixels, box in self._changes():
            writer.add(planes.cut(pixels, box), box, hold.start, hold.end)
        writer.finish()
        return apng.clock(self.plan.timing.rate)

    def _webp(self, file: BinaryIO) -> int:
        plan = self.plan
        writer = webp.WebpWriter(
            file, self._size, plan.timing.rate, loop=plan.loop, quality=plan.quality
        )
        for hold, pixels, changed in self._changes():
            box = webp.even_box(changed)
            writer.add(planes.cut(pixels, box), box, hold.start, hold.end)
        writer.finish()
        return webp.UNITS

    def _changes(self) -> Iterator[tuple[Hold, Bytes, Box]]:
        """Yield every hold with its pixels and the box in which they changed."""
        before = None
        for hold in holds(self.plan, self.source, self.steps):
            pixels = self._taken(hold)
            self._expect(hold, self._digest(hold, pixels))
            # Different frames may be equal on a background: one pixel stands for no change.
            yield hold, pixels, planes.changed_box(before, pixels) or _CORNER
            before = pixels

    def _digest(self, hold: Hold, pixels: Bytes) -> str:
        if self.plan.format == "webp" and self.plan.quality is not None:
            return alpha_digest(pixels.tobytes(), *self._size)
        if self.plan.background is None:
            return self.source.digest(hold.number)
        return frame_digest(pixels.tobytes(), *self._size)

    def _taken(self, hold: Hold) -> Bytes:
        raster = planes.shown(self.plan, self.source, hold.number)
        return planes.as_pixels(raster, *self._size)

    def _expect(self, hold: Hold, digest: str) -> None:
        self.runs.add(self.source.digest(hold.number), hold.end - hold.start)
        self.pictures.append(Picture(hold.start, hold.end, digest))

    def _gif(self, file: BinaryIO) -> int:
        plan = self.plan
        census = self._census()
        palette = census.palette()
        writer = GifWriter(
            file,
            self._size,
            plan.timing.rate,
            loop=plan.loop,
            palette=palette,
            clearing=census.transparent,
        )

        for hold in holds(plan, self.source, self.steps):
            indices = palette.mapped(self._taken(hold))
            self._expect(hold, frame_digest(palette.unmapped(indices).tobytes(), *self._size))
            writer.add(indices, hold.start, hold.end)
        writer.finish()
        return GIF_UNITS

    def _census(self) -> Census:
        # The last of 256 entries is the one that shows nothing.
        census = Census(min(self.plan.palette, 255))
        before = None
        for hold in holds(self.plan, self.source, self.steps):
            pixels = self._taken(hold)
            box = planes.changed_box(before, pixels)
            if box is not None:
                left, top, right, bottom = box
                census.add(pixels[top:bottom, left:right])
            before = pixels
        return census
