"""Synthetic frames: what an export is made of, without drawing anything."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from fractions import Fraction

from nfbuild.digests import FrameDigest, SequenceDigest, derive
from nfbuild.pixels import png
from nfbuild.pixels.digest import frame_digest


class Frames:
    """A frame source over rasters in memory, its PNG files in a folder as a cache has them.

    `order[i]` is which of `rasters` frame i shows.
    """

    def __init__(
        self,
        folder: str,
        rasters: Sequence[bytes],
        order: Sequence[int],
        size: tuple[int, int],
        *,
        rate: Fraction = Fraction(30),
        markers: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        self.width, self.height = size
        self.count = len(order)
        self.rate = rate
        self.markers = markers or {}
        self.rasters = list(rasters)
        self.order = list(order)
        self.asked: list[int] = []
        self.waited: list[int] = []
        self.confirmed = 0
        self._digests = [frame_digest(raster, *size) for raster in rasters]
        self._paths = []
        os.makedirs(folder, exist_ok=True)
        for raster, digest in zip(self.rasters, self._digests, strict=True):
            path = os.path.join(folder, f"{digest}.png")
            if not os.path.exists(path):
                with open(path, "wb") as file:
                    file.write(png.encode(raster, *size))
                os.chmod(path, 0o444)
            self._paths.append(path)

    @property
    def sequence(self) -> SequenceDigest:
        shape = [self.width, self.height, *self.rate.as_integer_ratio()]
        digests = [self._digests[shown] for shown in self.order]
        return SequenceDigest(derive("nfbuild 2026 test sequence v1", shape, digests))

    def wait(self, number: int) -> None:
        self.waited.append(number)

    def confirm(self) -> None:
        self.confirmed += 1

    def digest(self, number: int) -> FrameDigest:
        return self._digests[self.order[number]]

    def png_path(self, number: int) -> str | None:
        return self._paths[self.order[number]]

    def png_bytes(self, number: int) -> bytes:
        with open(self._paths[self.order[number]], "rb") as file:
            return file.read()

    def rgba(self, number: int) -> bytes:
        self.asked.append(number)
        return self.rasters[self.order[number]]


def flat(size: tuple[int, int], color: tuple[int, int, int, int]) -> bytes:
    return bytes(color) * (size[0] * size[1])


@functools.cache
def numbered(size: tuple[int, int], number: int, *, alpha: bool = False) -> bytes:
    """A picture that no other number has: a gradient, and a block whose place is the number."""
    width, height = size
    out = bytearray()
    place = number % max(1, width)
    for y in range(height):
        for x in range(width):
            inside = abs(x - place) <= 3 and y * 3 > height
            shade = (x * 200 // max(1, width - 1)) & 255
            opacity = min(255, 40 + x * 215 // max(1, width - 1)) if alpha else 255
            out += (
                bytes((240, (number * 37) & 255, 30, 255))
                if inside
                else bytes((shade, 90, (y * 150 // max(1, height - 1)) & 255, opacity))
            )
    return bytes(out)
