"""What an export asks of the frames it is made of, and what can go wrong.

A `FrameSource` is one composition at one raster size. Frames may become available while others
are still being drawn: `wait` blocks until one is there, so encoding overlaps drawing. An encoder
asks for frames in rising order and holds one or two of them; who answers may forget what was
asked for. A GIF asks twice (palette, then frames), and reading a product back asks once more:
so every frame must stay answerable until the export returns.
Not here: which frames an export takes (`plan`, `timing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeAlias

from nfbuild.dataclasses import dataclass
from nfbuild.errors import CompositionError

if TYPE_CHECKING:
    from nfbuild.digests import FrameDigest, InputDigest, SequenceDigest

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (steps done, steps in all), from encoding to reading back; may raise to stop."""


class ExportError(CompositionError):
    """A product could not be made, or did not read back as what was put in; it is not published."""

    default_code = "export"


class FrameSource(Protocol):
    """The frames of one composition at one raster size, by frame number from 0."""

    @property
    def count(self) -> int:
        """How many frames the composition has."""

    @property
    def width(self) -> int:
        """Raster width in pixels."""

    @property
    def height(self) -> int:
        """Raster height in pixels."""

    @property
    def rate(self) -> Fraction:
        """Frames a second, exactly."""

    @property
    def sequence(self) -> SequenceDigest:
        """The sequence digest of all frames at this raster size; may wait for all of them."""

    @property
    def markers(self) -> Mapping[str, tuple[int, int]]:
        """Named ranges of frame numbers, both ends included."""

    def wait(self, number: int) -> None:
        """Return once the frame is there; raise `CompositionError` when it will never be."""

    def confirm(self) -> None:
        """Return once every frame that was given out is final; raise when one moved since.

        Asked before anything is put in place: nothing is published of frames that may still move.
        """

    def digest(self, number: int) -> FrameDigest:
        """Return the digest of a frame that is there: `pixels.digest` of what `rgba` returns."""

    def png_path(self, number: int) -> str | None:
        """Return a file that holds the frame as a verified PNG, or None: then ask `png_bytes`."""

    def png_bytes(self, number: int) -> bytes:
        """Return the frame as a PNG file's bytes."""

    def rgba(self, number: int) -> bytes | memoryview:
        """Return `4 * width * height` bytes: straight 8-bit RGBA rows from the top.

        Whoever answers must not write into them afterwards.
        """


@dataclass(frozen=True)
class Audio:
    """An audio file to go under a film: where it is, and the digest of the bytes it must have."""

    path: str
    digest: InputDigest


class Steps:
    """Counts the steps of one export: every frame is looked at `passes` times, reading included."""

    def __init__(self, progress: Progress, frames: int, passes: int) -> None:
        self._progress = progress
        self._frames = frames
        self._total = frames * passes
        self._pass = 0

    def at(self, frames: int) -> None:
        """Say that so many frames of the present pass are done; the last one ends the pass."""
        self._progress(self._pass * self._frames + frames, self._total)
        self._pass += frames == self._frames


def no_progress(_done: int, _total: int) -> None:
    """Tell nobody."""
