"""What a worker can be asked, and what it answers: small frozen values that cross process borders.

A task is complete: with the files of its `Setup` it decides its answer, whoever performs it and
after whatever else. Importing this module costs nothing; it knows no rasterizer.
Not here: performing (`worker`), which tasks there are to do (`ops`), pools (`execute`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from nfbuild.dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from nfbuild.digests import BlobDigest, FrameDigest, InputDigest


class BlobWriter(Protocol):
    """Puts a blob where it belongs: write beside, then rename. Must be picklable.

    It may be called twice with one digest, by two workers at once too; it returns when the blob
    can be read under its name.
    """

    def __call__(self, digest: BlobDigest, data: bytes, /) -> None:
        """Store `data`, whose plain BLAKE3 is `digest`."""


@dataclass(frozen=True)
class Setup:
    """What a worker is told once, before its first task.

    `staging` is an existing folder; pictures that documents name stand in it as
    `<digest><suffix>`, and the worker makes it its working directory, as ThorVG resolves
    references against that. `faces` gives the faces that a task may name: a path, or its bytes;
    others are staged as `<digest>.ttf`. The bytes are checked against the digest when the face is
    loaded. Without `write` no blob is kept.
    """

    staging: str
    faces: Mapping[InputDigest, str | bytes] = field(default_factory=dict, repr=False)
    write: BlobWriter | None = None
    keep_rasters: bool = True


@dataclass(frozen=True)
class LottieShot:
    """Which instant of a Lottie scene to draw, and how.

    `number` is in the scene's own frames from its in point. `alone` asks for a fresh engine, the
    scene loaded anew and the C library's random numbers at their start: for scenes with
    expressions, which share one script machine per process. `background` is an opaque colour to
    lay the scene on (red, green, blue, 0 to 255), or None to keep its transparency.
    """

    number: float
    alone: bool = False
    background: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Split:
    """Where a document may be cut into a static bottom and what is drawn over it.

    Three offsets into the document's bytes: `[0, shared)` is the head with every definition that
    both parts need, `[shared, cut)` the bottom's elements, `[cut, tail)` the upper ones, and the
    rest closes the root. `ends` tells where each upper element ends, the last at `tail`; it may be
    empty. `reuse.split` computes it. Drawing in parts gives the same bytes.
    """

    shared: int
    cut: int
    tail: int
    ends: tuple[int, ...] = ()

    def parts(self, document: bytes) -> tuple[bytes, bytes]:
        """Return the bottom's document and the upper one."""
        end = document[self.tail :]
        bottom = document[: self.cut] + end
        return bottom, document[: self.shared] + document[self.cut : self.tail] + end

    def elements(self, document: bytes) -> tuple[bytes, ...]:
        """Return the upper elements, none when it is not known where they end."""
        starts = (self.cut, *self.ends)
        return tuple(document[start:end] for start, end in zip(starts, self.ends, strict=False))


@dataclass(frozen=True)
class DrawTask:
    """Draw one document at one raster size.

    `document` is exactly what the rasterizer gets: an SVG document, or a Lottie scene's JSON when
    `lottie` is given. `pictures` are the staged file names that it refers to, `faces` the digests
    that its texts name, both sorted. `png` asks for the blob, which is only named and not written
    without `keep`; `sha256` asks for the peer's digest too. `ground` is where the first element
    ends if it needs nothing that follows (`reuse.ground`), else 0: it often covers the canvas,
    which makes drawing cheaper. The bytes of the frame are the same for any ground and split.
    """

    document: bytes = field(repr=False)
    width: int
    height: int
    pictures: tuple[str, ...] = ()
    faces: tuple[InputDigest, ...] = ()
    lottie: LottieShot | None = None
    split: Split | None = None
    ground: int = 0
    png: bool = True
    keep: bool = True
    sha256: bool = False


@dataclass(frozen=True)
class Stage:
    """One stretch of a worker's time, for the profile: nanoseconds of `time.perf_counter_ns`."""

    name: str
    start: int
    duration: int


@dataclass(frozen=True)
class Drawn:
    """A frame that was drawn; `blob` and `size` (bytes of the PNG) are None and 0 without PNG."""

    digest: FrameDigest
    blob: BlobDigest | None
    size: int
    sha256: str | None = None
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class MeasureTask:
    """Draw a document and say where its ink is."""

    document: bytes = field(repr=False)
    width: int
    height: int
    pictures: tuple[str, ...] = ()
    faces: tuple[InputDigest, ...] = ()


@dataclass(frozen=True)
class Measured:
    """The pixel box of everything that is not fully transparent; right and bottom exclusive.

    All four are 0 when the raster is `empty`.
    """

    empty: bool
    left: int
    top: int
    right: int
    bottom: int
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class DecodeTask:
    """Turn a picture that ThorVG cannot draw right into a PNG of straight 8-bit sRGB RGBA.

    The PNG is staged and given to the blob writer. `max_pixels` bounds what is decoded. `name` is
    only for messages.
    """

    data: bytes = field(repr=False)
    max_pixels: int = 64_000_000
    name: str = "picture"


@dataclass(frozen=True)
class Decoded:
    """A decoded picture, staged as `<digest>.png`.

    `digest` names the pixels and is the same on every machine, so documents may hold it; `blob`
    names the PNG's bytes in this machine's store. To stage it again, copy the blob under the
    digest's name: a worker checks that the pixels are the ones the name promises.
    """

    digest: InputDigest
    blob: BlobDigest
    width: int
    height: int
    size: int
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class VideoTask:
    """Say what a film is when shown at `rate`, or decode some of its pictures.

    The film is staged as `staged`, whose stem is the digest of its bytes. Without `numbers` the
    answer is `FilmFacts`; with them (rising) the pictures are staged and given to the blob writer
    as decoded stills are. `name` is only for messages.
    """

    staged: str
    rate: Fraction
    numbers: tuple[int, ...] = ()
    max_pixels: int = 64_000_000
    name: str = "video"


@dataclass(frozen=True)
class FilmFacts:
    """A film at some rate: `frames` pictures of `width` x `height` px, lasting `duration` s."""

    width: int
    height: int
    duration: Fraction
    frames: int
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class FilmPictures:
    """The pictures of a film that a task asked for, in the order of its numbers."""

    pictures: tuple[Decoded, ...]
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class AuditTask:
    """Read a frame's PNG as this program writes it, and say which pixels are in it."""

    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Audited:
    """What an audited blob holds: the digest of its pixels, its size in pixels."""

    digest: FrameDigest
    width: int
    height: int
    stages: tuple[Stage, ...] = ()


Task: TypeAlias = "DrawTask | MeasureTask | DecodeTask | VideoTask | AuditTask"
Answer: TypeAlias = "Drawn | Measured | Decoded | FilmFacts | FilmPictures | Audited"
