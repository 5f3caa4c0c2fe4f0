"""Answers to what a scene asks while it loads and bakes: measurements, decoded pictures, films.

An answer is a cache like a frame: its key is the digest of everything that decides it (for a
measurement the exact document and the toolchain; for a decoded picture its bytes, the decoder's
libraries and every option). A scene that asks what is not at hand raises `NeedsAnswers`; `settle`
has the executor answer and lets it try again. A fresh run (`verify`) uses no kept answer.

Not here: which picture needs decoding (`pixels.sniff`), keeping answers (`kept`), films (`videos`),
drawing frames (`drawing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from nfbuild.digests import InputDigest, RecordKey, derive
from nfbuild.errors import MediaError, NfbuildError, Place
from nfbuild.execute.base import Done, Executor, Job, Refused
from nfbuild.ops.run.kept import KeptAnswers, packed, packed_picture, picture_of
from nfbuild.ops.run.staging import Staging
from nfbuild.ops.run.videos import VideoAnswers
from nfbuild.pixels.sniff import sniff, whole
from nfbuild.render.tasks import Decoded, DecodeTask, Measured, MeasureTask, VideoTask
from nfbuild.scene.protocols import (
    DecodeRequest,
    Ink,
    MeasureRequest,
    NeedsAnswers,
    Picture,
    Request,
    SourceFile,
    VideoRequest,
)
from nfbuild.store.base import WritableStore

_MEASURE_CONTEXT = "nfbuild 2026 measurement key v1"
_DECODE_CONTEXT = "nfbuild 2026 decoded picture key v1"

Value = TypeVar("Value")


class Answers:
    """Everything that has been answered in this run, and the way to ask for more.

    `store` keeps answers for later runs; None keeps none. With `fresh` nothing kept is read.
    """

    def __init__(
        self,
        *,
        toolchain: str,
        decoder: Callable[[], Mapping[str, str]],
        executor: Callable[[], Executor],
        staging: Callable[[], Staging],
        store: WritableStore | None,
        fresh: bool,
        film_decoder: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._toolchain = toolchain
        self._decoder = decoder
        self._executor = executor
        self._staging = staging
        self._answers = KeptAnswers(store, staging, fresh=fresh)
        self.videos = VideoAnswers(
            self._answers, film_decoder, staging, lambda request: self.answer([request])
        )
        self._inks: dict[MeasureRequest, Ink] = {}
        self._unknown: set[MeasureRequest] = set()
        self._pictures: dict[RecordKey, Picture] = {}
        self.measured = 0
        self.decoded = 0

    def settle(self, attempt: Callable[[], Value]) -> Value:
        """Return what `attempt` returns, answering what it asks until it asks no more."""
        while True:
            try:
                return attempt()
            except NeedsAnswers as need:
                self.answer(need.requests)

    # --- measurements -------------------------------------------------------------------------

    def ink(self, document: bytes, width: int, height: int, faces: tuple[InputDigest, ...]) -> Ink:
        """Answer `scene.Measurer`."""
        request = MeasureRequest(document, width, height, faces)
        known = self._inks.get(request)
        if known is not None:
            return known
        if request not in self._unknown:
            kept = _ink(self._answers.values(self._measure_key(document, width, height, faces)))
            if kept is not None:
                self._inks[request] = kept
                return kept
            self._unknown.add(request)
        raise NeedsAnswers([request])

    def _measure_key(
        self, document: bytes, width: int, height: int, faces: tuple[InputDigest, ...]
    ) -> RecordKey:
        return RecordKey(
            derive(_MEASURE_CONTEXT, document, width, height, list(faces), self._toolchain)
        )

    # --- pictures -----------------------------------------------------------------------------

    def prepare(self, file: SourceFile, *, place: Place) -> tuple[Picture, bool]:
        """Return a drawable picture, and whether a decoder made it."""
        try:
            seen = sniff(file.data, name=file.path)
        except MediaError as error:
            raise MediaError(error.message, place=place, hint=error.hint, code=error.code) from None
        if seen.drawn_right and whole(file.data):
            picture = Picture(file.digest, seen.suffix, *seen.size)
            self._staging().offer(picture.name, lambda: file.data)
            return picture, False
        key = self._decode_key(file)
        known = self._pictures.get(key)
        if known is None:
            request = DecodeRequest(file)
            known = self._answers.picture(key, lambda: self.answer([request]))
            if known is None:
                raise NeedsAnswers([request])
            self._pictures[key] = known
        return known, True

    def _decode_key(self, file: SourceFile) -> RecordKey:
        libraries = [[name, digest] for name, digest in sorted(self._decoder().items())]
        return RecordKey(derive(_DECODE_CONTEXT, file.digest, libraries))

    # --- asking ---------------------------------------------------------------------------------

    def answer(self, requests: Iterable[Request]) -> None:
        """Have every request answered; raises the first refusal by position."""
        distinct = self._distinct(requests)
        jobs = [Job(i, self._task(request), "") for i, request in enumerate(distinct)]
        kept: dict[str, bytes] = {}
        refused: dict[int, NfbuildError] = {}
        for outcome in self._executor().run(jobs):
            try:
                value = _value(outcome)
            except NfbuildError as error:
                refused[outcome.position] = _placed(error, distinct[outcome.position])
                continue
            self._take(distinct[outcome.position], value, kept)
        self._answers.put(kept)
        if refused:
            raise refused[min(refused)]

    def _distinct(self, requests: Iterable[Request]) -> list[Request]:
        films: list[VideoRequest] = []
        others: dict[Request, None] = {}
        for request in requests:
            if isinstance(request, VideoRequest):
                films.append(request)
            else:
                others[request] = None
        return [*others, *self.videos.joined(films)]

    def _task(self, request: Request) -> MeasureTask | DecodeTask | VideoTask:
        if isinstance(request, MeasureRequest):
            self._staging().need(f"{digest}.ttf" for digest in request.faces)
            return MeasureTask(
                request.document, request.width, request.height, (), tuple(request.faces)
            )
        if isinstance(request, DecodeRequest):
            return DecodeTask(request.file.data, name=request.file.path)
        return self.videos.task(request)

    def _take(self, request: Request, value: object, kept: dict[str, bytes]) -> None:
        if isinstance(request, MeasureRequest):
            assert isinstance(value, Measured)
            self.measured += 1
            box = (value.left, value.top, value.right, value.bottom)
            key = self._measure_key(request.document, request.width, request.height, request.faces)
            self._inks[request] = Ink(value.empty, *box)
            self._unknown.discard(request)
            kept[key] = packed(int(value.empty), *box)
        elif isinstance(request, DecodeRequest):
            assert isinstance(value, Decoded)
            self.decoded += 1
            key = self._decode_key(request.file)
            self._pictures[key] = picture_of(value)
            kept[key] = packed_picture(value)
        else:
            self.decoded += len(request.numbers)
            kept.update(self.videos.take(request, value))


def _placed(error: NfbuildError, request: Request) -> NfbuildError:
    """Return the error with the file that was asked about as its place, if it has none."""
    if error.place is not None or isinstance(request, MeasureRequest):
        return error
    place = Place(request.file.path)
    return type(error)(error.message, place=place, hint=error.hint, code=error.code)


def _ink(values: list[Any] | None) -> Ink | None:
    if values is None or len(values) != 5 or not all(isinstance(v, int) for v in values):
        return None
    return Ink(bool(values[0]), *values[1:])


def _value(outcome: object) -> object:
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Refused):
        raise outcome.error
    error = getattr(outcome, "error", None)
    raise error if isinstance(error, NfbuildError) else MediaError("it was not tried")
