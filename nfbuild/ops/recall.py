"""What the caches know of frames, and telling them what was drawn.

Two records make a frame: frame key → frame digest (the trace), frame digest → blob and size. A
trace whose blob is gone is no answer, but still a memory of what was true. What a shared tier says
is kept apart from what this cache drew itself, and its blobs are fetched when they are looked up.

Not here: stores and tiers themselves (`store`), deciding what to draw (`drawing`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nfbuild.digests import BlobDigest, CompositionId, FrameDigest, FrameKey
from nfbuild.errors import Corrupt, Missing, StoreError
from nfbuild.ops.filmrecord import FilmRun, fold, pack, record_key, unpack
from nfbuild.ops.films import Film
from nfbuild.ops.questions import Questions, State
from nfbuild.ops.session import Session
from nfbuild.store.base import COMPOSITION, FRAME, PIXELS

_SIZE_BYTES = 8
_CHUNK = 2_000


class Hit(NamedTuple):
    """A known answer; `drawable` when its blob is there, `shared` when a tier said so."""

    digest: FrameDigest
    drawable: bool
    shared: bool


class Blob(NamedTuple):
    """Where a frame's pixels are: the blob's digest and its size in bytes."""

    digest: BlobDigest
    size: int


class Recall:
    """The memory of one run."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._caches = session.caches
        self._blobs: dict[FrameDigest, Blob] = {}

    # --- frames -------------------------------------------------------------------------------

    def find_frames(self, keys: Sequence[FrameKey]) -> dict[FrameKey, Hit]:
        """Return what is known of `keys`: first what this cache drew, then what tiers say."""
        found: dict[FrameKey, Hit] = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            found.update(self._own(chunk))
            rest = [key for key in chunk if key not in found or not found[key].drawable]
            found.update(self._told(rest, found))
        return found

    def find_own(self, keys: Sequence[FrameKey]) -> dict[FrameKey, Hit]:
        """Return what this cache itself says of `keys`; no tier is asked."""
        found: dict[FrameKey, Hit] = {}
        for start in range(0, len(keys), _CHUNK):
            found.update(self._own(keys[start : start + _CHUNK]))
        return found

    def _own(self, keys: Sequence[FrameKey]) -> dict[FrameKey, Hit]:
        answers = self._traces(keys, own=True)
        self._locate(answers.values(), own=True)
        return {
            key: Hit(digest, self._is_there(digest), shared=False)
            for key, digest in answers.items()
        }

    def _traces(self, keys: Iterable[str], *, own: bool) -> dict[FrameKey, FrameDigest]:
        try:
            payloads = self._caches.local.find_records(FRAME, keys, own=own)
        except StoreError:
            return {}
        return {
            FrameKey(key): FrameDigest(payload.hex())
            for key, payload in payloads.items()
            if len(payload) == 32
        }

    def _told(self, keys: list[FrameKey], known: dict[FrameKey, Hit]) -> dict[FrameKey, Hit]:
        told = self._traces(keys, own=False)
        self._locate(told.values(), own=False)
        return {
            key: Hit(digest, drawable=True, shared=True)
            for key, digest in told.items()
            if key not in known and self._is_there(digest)
        }

    def _locate(self, digests: Iterable[FrameDigest], *, own: bool) -> None:
        wanted = [digest for digest in dict.fromkeys(digests) if digest not in self._blobs]
        try:
            payloads = self._caches.local.find_records(PIXELS, wanted, own=own)
        except StoreError:
            return
        for digest, payload in payloads.items():
            if len(payload) == 32 + _SIZE_BYTES:
                self._blobs[FrameDigest(digest)] = Blob(
                    BlobDigest(payload[:32].hex()), int.from_bytes(payload[32:], "big")
                )

    def _is_there(self, digest: FrameDigest) -> bool:
        blob = self._blobs.get(digest)
        if blob is None:
            return False
        try:
            # The size is compared too: a blob that was cut or emptied is no blob.
            return os.stat(self._caches.local.blob_path(blob.digest)).st_size == blob.size
        except OSError:
            return False

    def remember_frames(
        self, drawn: Iterable[tuple[FrameKey, FrameDigest, BlobDigest | None, int]]
    ) -> None:
        """Keep what was drawn; the blobs are there already. A cache that cannot is no error."""
        traces: dict[str, bytes] = {}
        places: dict[str, bytes] = {}
        for key, digest, blob, size in drawn:
            traces[key] = bytes.fromhex(digest)
            if blob is not None:
                self._blobs[digest] = Blob(blob, size)
                places[digest] = bytes.fromhex(blob) + size.to_bytes(_SIZE_BYTES, "big")
        if traces:
            self._caches.keep(PIXELS, places, replace=True)
            self._caches.keep(FRAME, traces, replace=True)

    # --- pixels -------------------------------------------------------------------------------

    def png_path(self, digest: FrameDigest) -> str | None:
        """Return the file that holds a frame, verified; None where there is none."""
        blob = self._blobs.get(digest)
        if blob is None:
            self._locate([digest], own=True)
            self._locate([digest], own=False)
            blob = self._blobs.get(digest)
        if blob is None:
            return None
        try:
            self._caches.store.get_blob(blob.digest)
        except StoreError:
            return None
        return self._caches.local.blob_path(blob.digest)

    def png_path_of(self, questions: Questions, number: int) -> str | None:
        """Return the verified file of a question's frame; None where it has no answer yet."""
        if questions.state(number) in (State.UNKNOWN, State.FAILED):
            return None
        return self.png_path(questions.digest(number))

    def png(self, digest: FrameDigest) -> bytes:
        """Return a frame's PNG; raises Missing or Corrupt."""
        if digest not in self._blobs:
            self._locate([digest], own=True)
            self._locate([digest], own=False)
        blob = self._blobs.get(digest)
        if blob is None:
            raise Missing("no blob is known for the frame", code="missing")
        return self._caches.store.get_blob(blob.digest)

    def pixels(self, digest: FrameDigest) -> tuple[memoryview, int, int]:
        """Return rows, width and height of a frame, checked against its digest.

        Raises Missing or Corrupt: a blob whose pixels are another frame's is no answer.
        """
        from nfbuild.pixels.digest import frame_digest  # noqa: PLC0415  only for who decodes
        from nfbuild.pixels.png import decode_own  # noqa: PLC0415

        rows, width, height = decode_own(self.png(digest))
        if frame_digest(rows, width, height) != digest:
            raise Corrupt("a blob holds another frame's pixels", code="pixels")
        return memoryview(rows), width, height

    # --- films --------------------------------------------------------------------------------

    def film(self, film: Film) -> list[FilmRun] | None:
        """Return the frames of a film from its composition record, or None."""
        runs = self.runs_of(film.id, film.width, film.height)
        if runs is None or sum(run.length for run in runs) != film.scene.frames:
            return None
        return runs

    def runs_of(self, identity: CompositionId, width: int, height: int) -> list[FilmRun] | None:
        """Return the frames that a composition id stands for at a raster size, or None."""
        try:
            key = record_key(identity, width, height)
            return unpack(self._caches.local.get_record(COMPOSITION, key))
        except StoreError:
            return None

    def remember_film(self, film: Film, questions: Questions) -> None:
        """Keep the frames of a whole film that is answered."""
        if len(film.frames) != film.scene.frames:
            return
        key = record_key(film.id, film.width, film.height)
        self._caches.keep(COMPOSITION, {key: pack(fold(_frames(film, questions)))}, replace=True)


def _frames(film: Film, questions: Questions) -> Iterator[tuple[FrameKey, FrameDigest, str]]:
    for number in film.frames:
        if questions.state(number) in (State.UNKNOWN, State.FAILED):
            raise LookupError("a film with an open question is not remembered")
        yield questions.key(number), questions.digest(number), questions.scene(number)
