"""Answers about films in `<image>`: what a film is at a rate, and its pictures.

Both are kept like decoded stills, under the film's content, the decoder's bytes and the rate. All
pictures that one round asks of a film are decoded together, in portions that several workers can
share; a portion begins at a keyframe of its own.
Not here: when they are asked (`answers`), how a film is decoded (`pixels.video`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from nfbuild.digests import InputDigest, RecordKey, derive
from nfbuild.ops.run.kept import KeptAnswers, packed, packed_picture, picture_of
from nfbuild.render.tasks import FilmFacts, FilmPictures, VideoTask
from nfbuild.scene.protocols import Clip, NeedsAnswers, Picture, SourceFile, VideoRequest

if TYPE_CHECKING:
    from nfbuild.ops.run.staging import Staging

_FILM_CONTEXT = "nfbuild 2026 film facts key v1"
_PICTURE_CONTEXT = "nfbuild 2026 film picture key v1"

# So many pixels are converted by one task: some two seconds of work.
_PORTION = 40_000_000

_Film: TypeAlias = tuple[InputDigest, Fraction]


class VideoAnswers:
    """What has been answered about films; `again` has one request answered once more."""

    def __init__(
        self,
        kept: KeptAnswers,
        decoder: Callable[[], Mapping[str, str]],
        staging: Callable[[], Staging],
        again: Callable[[VideoRequest], None],
    ) -> None:
        self._kept = kept
        self._decoder = decoder
        self._staging = staging
        self._again = again
        self._clips: dict[_Film, Clip] = {}
        self._pictures: dict[tuple[InputDigest, Fraction, int], Picture] = {}

    def clip(self, file: SourceFile, rate: Fraction) -> Clip:
        """Return what a film is at a rate; may raise NeedsAnswers."""
        film = (file.digest, rate)
        clip = self._clips.get(film) or _clip(self._kept.values(self._facts_key(film)))
        if clip is None:
            raise NeedsAnswers([VideoRequest(file, rate, ())])
        self._clips[film] = clip
        return clip

    def frame(self, file: SourceFile, number: int, rate: Fraction) -> Picture:
        """Return a picture of a film at a rate; may raise NeedsAnswers."""
        place = (file.digest, rate, number)
        request = VideoRequest(file, rate, (number,))
        picture = self._pictures.get(place) or self._kept.picture(
            self._picture_key((file.digest, rate), number), lambda: self._again(request)
        )
        if picture is None:
            raise NeedsAnswers([request])
        self._pictures[place] = picture
        return picture

    def joined(self, requests: Iterable[VideoRequest]) -> list[VideoRequest]:
        """Return the requests with all numbers of one film together, cut into portions."""
        files: dict[_Film, SourceFile] = {}
        numbers: dict[_Film, dict[int, None]] = {}
        joined: list[VideoRequest] = []
        for request in requests:
            film = (request.file.digest, request.rate)
            if not request.numbers:
                joined.append(request)
                continue
            files.setdefault(film, request.file)
            numbers.setdefault(film, {}).update(dict.fromkeys(request.numbers))
        for film, wanted in numbers.items():
            clip = self._clips.get(film)
            size = max(1, _PORTION // (clip.width * clip.height)) if clip is not None else 1
            rising = sorted(wanted)
            for start in range(0, len(rising), size):
                part = tuple(rising[start : start + size])
                joined.append(VideoRequest(files[film], film[1], part))
        return joined

    def task(self, request: VideoRequest) -> VideoTask:
        """Return the task that answers a request, with its film staged."""
        file = request.file
        name = f"{file.digest}.video"
        self._staging().offer(name, lambda: file.data)
        self._staging().need([name])
        return VideoTask(name, request.rate, request.numbers, name=file.path)

    def take(self, request: VideoRequest, value: object) -> dict[str, bytes]:
        """Take an answer; returns the records to keep."""
        film = (request.file.digest, request.rate)
        if isinstance(value, FilmFacts):
            self._clips[film] = Clip(value.width, value.height, value.duration, value.frames)
            length = value.duration
            return {
                self._facts_key(film): packed(
                    value.width, value.height, length.numerator, length.denominator, value.frames
                )
            }
        assert isinstance(value, FilmPictures)
        records: dict[str, bytes] = {}
        for number, decoded in zip(request.numbers, value.pictures, strict=True):
            self._pictures[(*film, number)] = picture_of(decoded)
            records[self._picture_key(film, number)] = packed_picture(decoded)
        return records

    def _facts_key(self, film: _Film) -> RecordKey:
        return RecordKey(derive(_FILM_CONTEXT, *self._fields(film)))

    def _picture_key(self, film: _Film, number: int) -> RecordKey:
        return RecordKey(derive(_PICTURE_CONTEXT, *self._fields(film), number))

    def _fields(self, film: _Film) -> tuple[str, str, int, int]:
        digest, rate = film
        return digest, self._libraries, rate.numerator, rate.denominator

    @cached_property
    def _libraries(self) -> str:
        libraries = [[name, digest] for name, digest in sorted(self._decoder().items())]
        return derive(_FILM_CONTEXT, libraries)


def _clip(values: list[object] | None) -> Clip | None:
    if values is None or len(values) != 5:
        return None
    found = [value for value in values if isinstance(value, int) and value > 0]
    if len(found) != 5:
        return None
    width, height, numerator, denominator, frames = found
    return Clip(width, height, Fraction(numerator, denominator), frames)
