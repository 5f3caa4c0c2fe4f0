"""One `[[export]]` against one composition: everything decided before anything is drawn.

The plan says which frames, how large, how fast, how they are encoded and where the product goes;
`key` names the product by all of that and by what goes in. Two equal keys mean equal bytes, so a
product whose key did not move is not made again. Where files go is not in the key.

Stated rules: frames are drawn at the export's scale, never resampled. An encoder that halves the
colour planes (`mp4`, `webm`) gets odd sizes enlarged by one column at the right, one row at the
bottom, that repeat the last one. Players slow down pictures that change too fast, so `gif` is
made at 50 frames a second at the most, `apng` and `webp` at 90, by the one rule of `timing`.
Not here: reading `nfbuild.toml` and which option a format knows (`project`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.digests import derive
from nfbuild.errors import Place, ProjectError
from nfbuild.export.builds import encoder_build
from nfbuild.export.scan import NamePattern, parse_pattern
from nfbuild.export.timing import Timing
from nfbuild.project.targets import check_template
from nfbuild.project.values import Export, Format

if TYPE_CHECKING:
    from nfbuild.digests import InputDigest, SequenceDigest

_CONTEXT = "nfbuild 2026 export v1"

FASTEST: Mapping[str, int] = {"gif": 50, "apng": 90, "webp": 90}
"""Frames a second beyond which players slow a picture down."""
LARGEST: Mapping[str, int] = {
    "gif": 65_535,
    "webp": 16_383,
    "mp4": 16_384,
    "webm": 16_384,
    "mov": 16_384,
}
"""The longest side a format can hold."""
EVEN: frozenset[str] = frozenset({"mp4", "webm"})
"""Formats with halved colour planes."""
FILMS: frozenset[str] = frozenset({"mp4", "webm", "mov"})
"""Formats with a time base: their rate must be a fraction of whole 31-bit numbers."""
MAX_FRAMES = 1_000_000


@dataclass(frozen=True)
class Subject:
    """What an export must know of a composition: canvas in pixels, exact rate, frame count."""

    name: str
    width: int
    height: int
    rate: Fraction
    count: int
    markers: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class ExportPlan:
    """A resolved export.

    `width` and `height` are the raster at which frames must be drawn. `folder` is absolute, `name`
    the file in it, with `{number}` for a sequence. `notes` are sentences for the user on
    what was decided for them.
    """

    composition: str
    format: Format
    place: Place
    folder: str
    name: str
    timing: Timing
    scale: Fraction
    width: int
    height: int
    background: tuple[int, int, int] | None = None
    quality: int | None = None
    loop: int = 0
    palette: int = 256
    audio: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def pattern(self) -> NamePattern | None:
        """The names of a sequence's files; None where the product is one file."""
        return parse_pattern(self.name)

    @property
    def target(self) -> str:
        """Absolute path of the product, with `{number}` for a sequence."""
        return os.path.join(self.folder, self.name)

    @property
    def stored_width(self) -> int:
        """Width of the product: the raster's, enlarged by one where it must be even."""
        return self.width + (self.width % 2 if self.format in EVEN else 0)

    @property
    def stored_height(self) -> int:
        """Height of the product."""
        return self.height + (self.height % 2 if self.format in EVEN else 0)

    @property
    def alpha(self) -> bool:
        """Whether the product holds transparency."""
        return self.background is None and self.format != "mp4"

    def key(self, sequence: SequenceDigest | None, audio: InputDigest | None) -> str:
        """Return the name of the product: of what it shows, how, and by which encoder.

        `sequence` is the digest of all frames at this raster, `audio` that of the audio file.
        Without a sequence it names the settings alone.
        """
        return derive(
            _CONTEXT,
            self.format,
            sequence,
            [self.timing.first, self.timing.last],
            [*self.timing.source_rate.as_integer_ratio(), *self.timing.rate.as_integer_ratio()],
            [self.width, self.height],
            None if self.background is None else list(self.background),
            self.quality,
            self.loop,
            self.palette,
            audio,
            encoder_build(self.format),
        )


def resolve(export: Export, subject: Subject, root: str) -> ExportPlan:
    """Return what `export` means for a composition of the project in `root`.

    Raises `ProjectError` for frames, markers, rates and sizes that this composition or this format
    does not have.
    """
    first, last = _frames(export, subject)
    scale = Fraction(1) if export.scale is None else export.scale
    if scale <= 0:
        raise _error(export, f"the scale {scale} is not above 0", "write for example `scale = 2`")
    width, height = (_scaled(subject.width, scale), _scaled(subject.height, scale))
    _check_size(export, width, height)
    rate, notes = _rate(export, subject)
    timing = Timing(first, last, subject.rate, rate)
    if timing.count > MAX_FRAMES:
        raise _error(
            export,
            f"`{subject.name}` would have {timing.count} frames at a rate of {rate}",
            "choose a lower `rate` or a shorter `range`",
        )
    folder, name = _target(export, subject.name, root)
    return ExportPlan(
        composition=subject.name,
        format=export.format,
        place=export.place,
        folder=folder,
        name=name,
        timing=timing,
        scale=scale,
        width=width,
        height=height,
        background=_background(export),
        quality=export.quality,
        loop=export.loop or 0,
        palette=export.palette or 256,
        audio=export.audio,
        notes=notes,
    )


def default_export(kind: Format, place: Place) -> Export:
    """Return the export that `nfbuild build --export FORMAT` stands for."""
    to = "out/{name}/{number:05d}.png" if kind == "png" else f"out/{{name}}.{_SUFFIX[kind]}"
    return Export(composition="*", format=kind, to=to, place=place)


# An APNG is a PNG to every program that does not know better, hence the second dot.
_SUFFIX: Mapping[str, str] = {
    "mp4": "mp4",
    "webm": "webm",
    "mov": "mov",
    "apng": "apng.png",
    "webp": "webp",
    "gif": "gif",
}


def _error(export: Export, fact: str, hint: str) -> ProjectError:
    return ProjectError(fact, place=export.place, hint=hint, code="project.export")


def _frames(export: Export, subject: Subject) -> tuple[int, int]:
    span = (0, subject.count - 1)
    if export.frames is not None:
        span = export.frames
    elif export.marker is not None:
        if export.marker not in subject.markers:
            raise _error(
                export,
                f"`{subject.name}` has no marker `{export.marker}`",
                f"its markers are {', '.join(f'`{name}`' for name in subject.markers)}"
                if subject.markers
                else "it has no markers; write `range` instead",
            )
        span = subject.markers[export.marker]
    first, last = span
    if not 0 <= first <= last < subject.count:
        raise _error(
            export,
            f"`{subject.name}` has no frames {first} to {last}",
            f"its frames are 0 to {subject.count - 1}, both ends included",
        )
    return span


def _scaled(side: int, scale: Fraction) -> int:
    # Half up, as a raster at a scale is sized everywhere.
    return max(1, int(side * scale + Fraction(1, 2)))


def _check_size(export: Export, width: int, height: int) -> None:
    longest = LARGEST.get(export.format)
    if longest is not None and max(width, height) > longest:
        raise _error(
            export,
            f"{width} x {height} pixels are more than `{export.format}` can hold",
            f"its longest side is {longest} pixels; write a smaller `scale`",
        )


def _rate(export: Export, subject: Subject) -> tuple[Fraction, tuple[str, ...]]:
    rate = subject.rate if export.rate is None else export.rate
    if rate <= 0:
        raise _error(export, f"the rate {rate} is not above 0", "write for example `rate = 25`")
    fastest = FASTEST.get(export.format)
    if fastest is not None and rate > fastest:
        note = f"`{export.format}` plays at {fastest} frames a second at the most, not at {rate}"
        return Fraction(fastest), (note,)
    if export.format in FILMS and max(rate.as_integer_ratio()) >= 1 << 31:
        near = rate.limit_denominator(1001)
        raise _error(
            export,
            f"the rate {rate} has no exact form in `{export.format}`",
            f'write `rate = "{near}"`',
        )
    return rate, ()


def _background(export: Export) -> tuple[int, int, int] | None:
    if export.background is None:
        # H.264 as people play it has no transparency: what is behind a film is black.
        return (0, 0, 0) if export.format == "mp4" else None
    digits = export.background[1:]
    return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))


def _target(export: Export, name: str, root: str) -> tuple[str, str]:
    template = check_template(export.to, export.format)
    form = f"{{number:0{template.width}d}}" if template.width > 1 else "{number}"
    path = os.path.join(root, *template.filled(name, form).split("/"))
    folder, file = os.path.split(path)
    if template.numbered:
        return folder, file
    if export.format == "png":
        raise _error(
            export,
            "`to` of a PNG sequence has no `{number}`",
            "write for example `out/{name}/{number:05d}.png`",
        )
    return folder, file
