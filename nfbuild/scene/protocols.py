"""What the scene asks of the rest of the program, and the values it is answered with.

The scene reads no file, decodes no picture and measures no text itself. It asks through the
protocols below, which other rooms answer. An answer that is not at hand yet is not waited for:
the answerer raises `NeedsAnswers`, the caller of `load` or `bake` gets the questions answered
(they are ordinary tasks, kept like frames), and calls again.

Not here: who answers, and where answers are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import InputDigest
from nfbuild.errors import Place
from nfbuild.scene.tree import Element


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file, read once: the bytes that are hashed are the bytes that are used.

    `path` is relative to the project, with forward slashes. A picture or face that stands in a
    `data:` reference is a source file too; its path is then the referring file and a number.
    """

    path: str
    data: bytes = field(repr=False)
    digest: InputDigest


class Files(Protocol):
    """The project's files, each read once; inside or outside is judged by the real path."""

    def read(self, reference: str, *, base: str, place: Place) -> SourceFile:
        """Return the file that `reference` names, relative to the folder of the file `base`.

        `reference` is a path with forward slashes, already decoded; never a URL. Raises
        `MediaError` with code `media.missing` where nothing is there, and with another code
        where it is a directory, unreadable, or outside of what the project allows.
        """
        ...


@dataclass(frozen=True, slots=True)
class Face:
    """One face: the digest of its bytes is the name under which the rasterizer knows it."""

    digest: InputDigest
    family: str
    full_name: str
    postscript_name: str
    stem: str
    weight: int
    italic: bool
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The face a text run draws with; `matched` is false where it is only the fallback."""

    face: Face
    matched: bool


class Faces(Protocol):
    """The configured faces in their order, and the reading of faces that a document embeds."""

    def resolve(
        self,
        family: str | None,
        weight: str | None,
        style: str | None,
        *,
        embedded: Sequence[Face],
    ) -> Resolved:
        """Return the face for a run; `embedded` faces of the composition come first.

        The values are as the author wrote them: a CSS list takes its first match.
        """
        ...

    def embed(self, data: bytes, *, family: str, place: Place) -> Face:
        """Return the face that a composition carries in an `@font-face` rule of that `family`.

        Raises `FontError` where the bytes are no face that the rasterizer can use.
        """
        ...


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as the rasterizer gets it: staged as `<digest><suffix>`, `width` x `height` px."""

    digest: InputDigest
    suffix: str
    width: int
    height: int

    @property
    def name(self) -> str:
        """The name under which it is staged, and which the baked document writes."""
        return f"{self.digest}{self.suffix}"


class Pictures(Protocol):
    """How big a picture is and which bytes draw it right."""

    def prepare(self, file: SourceFile, *, place: Place) -> Picture:
        """Return the drawable picture of `file`; may raise `NeedsAnswers`, or `MediaError`."""
        ...


@dataclass(frozen=True, slots=True)
class Clip:
    """What a video source is: `frames` pictures of `width` x `height` px in `duration` seconds."""

    width: int
    height: int
    duration: Fraction
    frames: int


class Videos(Protocol):
    """Moving pictures, resampled to a composition's frame rate."""

    def clip(self, file: SourceFile, *, rate: Fraction, place: Place) -> Clip:
        """Return size and length of `file` resampled to `rate`; may raise `NeedsAnswers`."""
        ...

    def frame(self, file: SourceFile, number: int, *, rate: Fraction, place: Place) -> Picture:
        """Return picture `number` (from 0) of that sequence; may raise `NeedsAnswers`."""
        ...


@dataclass(frozen=True, slots=True)
class Ink:
    """Pixel box of what a document drew: right and bottom exclusive; all zero when `empty`."""

    empty: bool
    left: int
    top: int
    right: int
    bottom: int


class Measurer(Protocol):
    """Text is measured by drawing it: the box can never differ from the picture."""

    def ink(self, document: bytes, width: int, height: int, faces: tuple[InputDigest, ...]) -> Ink:
        """Return the box of the non-transparent pixels of `document`; may raise `NeedsAnswers`."""
        ...


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """Draw `document` on `width` x `height` px with `faces` and say where there is ink."""

    document: bytes
    width: int
    height: int
    faces: tuple[InputDigest, ...]


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """Decode a picture that the rasterizer would draw wrong or not at all."""

    file: SourceFile


@dataclass(frozen=True, slots=True)
class VideoRequest:
    """Describe a video resampled to `rate` (`numbers` empty), or decode some of its pictures."""

    file: SourceFile
    rate: Fraction
    numbers: tuple[int, ...]


Request = MeasureRequest | DecodeRequest | VideoRequest


class NeedsAnswers(Exception):
    """Not an error: answers are missing; the caller gets them and calls again.

    Carries as many questions as could be collected at once.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        super().__init__(f"{len(requests)} answers are missing")
        self.requests = tuple(requests)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.requests,))


@dataclass(frozen=True, slots=True)
class FontConfig:
    """The faces of the project in their configured order; the first is the fallback."""

    faces: tuple[Face, ...] = ()


@dataclass(frozen=True, slots=True)
class Services:
    """Everything the scene can ask. `videos` is None where the extra is not installed."""

    files: Files
    faces: Faces
    pictures: Pictures
    measurer: Measurer
    videos: Videos | None = None
    fonts: FontConfig = FontConfig()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep one composition from taking the machine; each can be raised."""

    document_bytes: int = 64 << 20
    elements: int = 200_000
    depth: int = 4_096
    side: int = 16_384
    pixels: int = 64_000_000
    frames: int = 1_000_000
    nesting: int = 64


class FaceOf(Protocol):
    """Which face a text element draws with."""

    def __call__(self, element: Element) -> Face:
        """Return the face of `element`, resolved with its own and its inherited attributes."""
        ...


@dataclass(frozen=True, slots=True)
class LayoutContext:
    """What text layout may know: `layout.apply(tree, context)` edits `tree` in place.

    `tree` is a `<g>` around one `<text>` of one frame; the timeline and the frame's words are
    already in its attributes and text, `font-family` is still the author's. What layout leaves
    in the group replaces the text. A text measured is written with `font-family` set to the
    digest of its face, which is also what the final document will say.
    """

    file: str
    width: int
    height: int
    measurer: Measurer
    face_of: FaceOf


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the author should know that does not stop the build."""

    code: str
    message: str
    file: str
    line: int | None
    hint: str | None = None
    severity: str = "warning"
