"""What the caches know of frames, and telling them what was drawn.

Two records make a frame: frame key → frame digest (the trace), frame digest → blob and size. A
trace whose blob is gone is no answer, but still a memory of what was true. What a shared tier says
is kept apart from what this cache drew itself, and its blobs are fetched when they are looked up.

Not here: stores and tiers themselves (`store`), deciding what to draw (`drawing`).
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from nfbuild.digests import BlobDigest, CompositionId, FrameDigest, FrameKey
from nfbuild.errors import Corrupt, Missing, StoreError
from nfbuild.ops.frames.filmrecord import FilmRun, fold, pack_parts, read_film, record_key
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.run.session import Session
from nfbuild.store.base import COMPOSITION, FRAME, PIXELS, Kind
from nfbuild.store.stats import CORRUPT, HEALED

_DIGEST_BYTES = 32
_SIZE_BYTES = 8
_CHUNK = 2_000
_PLACES = 8_000


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
    """The memory of one run; threads that export may ask it for pictures."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._caches = session.caches
        self._blobs: dict[FrameDigest, Blob] = {}
        self._unchecked: set[FrameDigest] = set()
        self._damaged: set[FrameDigest] = set()
        self._lock = threading.RLock()
        """Held while places are looked up and learned: they are read by exporting threads too."""

    # --- frames -------------------------------------------------------------------------------

    def find_frames(self, keys: Sequence[FrameKey]) -> dict[FrameKey, Hit]:
        """Return what is known of `keys`, from this cache and from the tiers behind it.

        Blobs that only a tier has are fetched. An own answer is never replaced by hearsay: where
        a tier says something else the frame is drawn again.
        """
        return self._find(keys, shared=True)

    def find_own(self, keys: Sequence[FrameKey]) -> dict[FrameKey, Hit]:
        """Return what this cache itself says of `keys`; no tier is asked."""
        return self._find(keys, shared=False)

    def find_kept(self, keys: Sequence[FrameKey]) -> dict[FrameKey, Hit]:
        """Return what lies in this cache of `keys`, made here or told by a tier; none is asked."""
        found = self._find(keys, shared=False)
        rest = [key for key in keys if key not in found]
        told = {
            FrameKey(key): FrameDigest(payload.hex())
            for key, payload in self._told(FRAME, rest).items()
            if len(payload) == _DIGEST_BYTES
        }
        self._learn(self._told(PIXELS, told.values()), shared=True)
        for key, digest in told.items():
            blob = self._blobs.get(digest)
            is_there = blob is not None and self._is_there(digest, blob)
            found[key] = Hit(digest, is_there, shared=True)
        return found

    def _told(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        # A cache without a table kept nothing.
        with contextlib.suppress(StoreError):
            return self._caches.local.find_records(kind, keys, own=False)
        return {}

    def _find(self, keys: Sequence[FrameKey], *, shared: bool) -> dict[FrameKey, Hit]:
        found: dict[FrameKey, Hit] = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            answers = {
                FrameKey(key): (FrameDigest(told.payload.hex()), told.shared)
                for key, told in self._caches.look_up(FRAME, chunk, shared=shared).items()
                if len(told.payload) == _DIGEST_BYTES
            }
            there = self._bring([digest for digest, _ in answers.values()], shared=shared)
            for key, (digest, hearsay) in answers.items():
                found[key] = Hit(digest, digest in there, hearsay)
        return found

    def _bring(self, digests: Iterable[FrameDigest], *, shared: bool) -> set[FrameDigest]:
        """Return which frames' blobs are here, whole by their size, after asking the tiers."""
        places = self._locate(digests, shared=shared)
        there = {digest for digest, blob in places.items() if self._is_there(digest, blob)}
        absent = {digest: blob.digest for digest, blob in places.items() if digest not in there}
        if shared and absent and self._caches.tiers:
            brought = self._caches.fetch_blobs(list(absent.values()))
            observed = brought if self._session.settings.observe else frozenset()
            there |= {
                digest
                for digest, blob in absent.items()
                if self._is_there(digest, places[digest]) or blob in observed
            }
        return there

    def _locate(
        self, digests: Iterable[FrameDigest], *, shared: bool = True
    ) -> dict[FrameDigest, Blob]:
        """Return the places of some thousand frames at most; older ones may be let go."""
        wanted = list(dict.fromkeys(digests))
        with self._lock:
            self._forget_oldest()
            unknown = [digest for digest in wanted if digest not in self._blobs]
            found = self._caches.look_up(PIXELS, unknown, shared=shared)
            for hearsay in (True, False):
                told = {name: one.payload for name, one in found.items() if one.shared is hearsay}
                self._learn(told, shared=hearsay)
            return {digest: self._blobs[digest] for digest in wanted if digest in self._blobs}

    def _learn(self, places: Mapping[str, bytes], *, shared: bool) -> None:
        for name, payload in places.items():
            digest = FrameDigest(name)
            if len(payload) == _DIGEST_BYTES + _SIZE_BYTES:
                self._blobs[digest] = Blob(
                    BlobDigest(payload[:_DIGEST_BYTES].hex()),
                    int.from_bytes(payload[_DIGEST_BYTES:], "big"),
                )
                if shared:
                    self._unchecked.add(digest)
                else:
                    self._unchecked.discard(digest)

    def _is_there(self, digest: FrameDigest, blob: Blob) -> bool:
        try:
            status = os.lstat(self._caches.local.blob_path(blob.digest))
        except OSError:
            return False
        # The size is compared too: a blob that was cut or emptied is no blob.
        if stat.S_ISREG(status.st_mode) and status.st_size == blob.size:
            return True
        if digest not in self._damaged:
            self._damaged.add(digest)
            self._caches.journal.count("local", f"{CORRUPT}.length")
        return False

    def place(self, digest: FrameDigest, blob: BlobDigest, size: int) -> None:
        """Learn where the pixels of a frame lie that was just drawn; nothing is kept yet."""
        with self._lock:
            self._blobs[digest] = Blob(blob, size)
            self._unchecked.discard(digest)

    def remember_frames(
        self, drawn: Sequence[tuple[FrameKey, FrameDigest, BlobDigest | None, int]]
    ) -> None:
        """Keep what was drawn; the blobs are there already. A cache that cannot is no error."""
        traces: dict[str, bytes] = {}
        places: dict[str, bytes] = {}
        kept: dict[FrameDigest, Blob] = {}
        for key, digest, blob, size in drawn:
            traces[key] = bytes.fromhex(digest)
            if blob is not None:
                kept[digest] = Blob(blob, size)
                places[digest] = _packed(kept[digest])
        self._forget_oldest()
        if traces:
            for there in kept.values():
                self._caches.local.note_blob(there.digest, there.size)
            healed = self._damaged.intersection(kept)
            self._caches.journal.count("local", HEALED, len(healed))
            self._damaged.difference_update(healed)
            self._caches.share_blobs(there.digest for there in kept.values())
            self._keep(PIXELS, places)
            self._keep(FRAME, traces)

    def _forget_oldest(self) -> None:
        """Let places go that the table can tell again; those of the last frames are asked soon."""
        with self._lock:
            surplus = len(self._blobs) - _PLACES
            if surplus <= _CHUNK:  # not one by one: a dictionary finds its oldest slowly
                return
            for digest in list(islice(self._blobs, surplus)):
                if digest not in self._unchecked:
                    del self._blobs[digest]

    def _keep(self, kind: Kind, items: Mapping[str, bytes]) -> None:
        # What cannot be kept is drawn again another time; the journal has said so.
        with contextlib.suppress(StoreError):
            self._caches.store.put_records(kind, items, replace=True)

    # --- pixels -------------------------------------------------------------------------------

    def png_path(self, digest: FrameDigest) -> str | None:
        """Return the file that holds a frame, verified; None where there is none."""
        blob = self._place_of(digest)
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
        blob = self._place_of(digest)
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
            self.distrust(digest)
            raise Corrupt("a blob holds another frame's pixels", code="pixels")
        self.vouch([digest])
        return memoryview(rows), width, height

    def blob_of(self, digest: FrameDigest) -> BlobDigest | None:
        """Return the blob of a frame, whatever lies there; None where none is known."""
        blob = self._place_of(digest)
        return None if blob is None else blob.digest

    def _place_of(self, digest: FrameDigest) -> Blob | None:
        with self._lock:
            return self._blobs.get(digest) or self._locate([digest]).get(digest)

    def blobs(self, digests: Iterable[FrameDigest]) -> Iterator[BlobDigest]:
        """Yield the blobs of frames, as far as this run has met them."""
        wanted = iter(digests)
        while chunk := list(islice(wanted, _CHUNK)):
            yield from (blob.digest for blob in self._locate(chunk).values())

    def is_unchecked(self, digest: FrameDigest) -> bool:
        """Tell whether only a tier says that the blob of a frame shows its pixels."""
        return digest in self._unchecked

    def vouch(self, digests: Iterable[FrameDigest]) -> None:
        """Keep as our own knowledge that the blobs of frames show their pixels: they were seen."""
        with self._lock:
            seen = [digest for digest in digests if digest in self._unchecked]
            places: dict[str, bytes] = {digest: _packed(self._blobs[digest]) for digest in seen}
            self._unchecked.difference_update(seen)
        with contextlib.suppress(StoreError):
            self._caches.local.put_records(PIXELS, places, replace=True)

    def distrust(self, digest: FrameDigest) -> None:
        """Forget the blob of a frame, which was seen to show other pixels."""
        with self._lock:
            self._blobs.pop(digest, None)
            self._unchecked.discard(digest)
            self._damaged.add(digest)
        self._caches.journal.count("local", f"{CORRUPT}.pixels")
        with contextlib.suppress(StoreError):
            self._caches.local.drop_record(PIXELS, digest)

    # --- films --------------------------------------------------------------------------------

    def film(self, film: Film) -> Sequence[FilmRun] | None:
        """Return the frames of a film from its composition record, or None.

        Only from a record of our own: one that a tier tells names the keys of any film it likes.
        """

        def own(part: int) -> bytes | None:
            key = record_key(film.id, film.width, film.height, part)
            return self._caches.local.find_records(COMPOSITION, [key], own=True).get(key)

        try:
            runs = read_film(own)
        except StoreError:
            return None
        return runs if runs.frames == film.scene.frames else None

    def recorded_runs(
        self, identity: CompositionId, width: int, height: int
    ) -> Sequence[FilmRun] | None:
        """Return what this cache or a tier says that a composition id stood for: hearsay.

        To be checked against a ledger before it counts; nothing is decided by it.
        """

        def known(part: int) -> bytes | None:
            key = record_key(identity, width, height, part)
            told = self._caches.look_up(COMPOSITION, [key]).get(key)
            return None if told is None else told.payload

        try:
            return read_film(known)
        except StoreError:
            return None

    def remember_film(self, film: Film, questions: Questions) -> None:
        """Keep the frames of a whole film that is answered."""
        if len(film.frames) != film.scene.frames:
            return
        for part, payload in enumerate(pack_parts(fold(_frames(film, questions)))):
            key = record_key(film.id, film.width, film.height, part)
            self._keep(COMPOSITION, {key: payload})


def _packed(blob: Blob) -> bytes:
    return bytes.fromhex(blob.digest) + blob.size.to_bytes(_SIZE_BYTES, "big")


def _frames(film: Film, questions: Questions) -> Iterator[tuple[FrameKey, FrameDigest, str]]:
    for number in film.frames:
        if questions.state(number) in (State.UNKNOWN, State.FAILED):
            raise LookupError("a film with an open question is not remembered")
        yield questions.key(number), questions.digest(number), questions.scene(number)
