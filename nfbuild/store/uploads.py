"""Uploads: what was made here goes to the writable tiers in the background.

Nobody waits for an upload before the end of the run, and then no longer than a bound. The queue
holds names: blobs are read from the local store when their turn comes. A record goes after every
blob that was offered before it. What is given up is counted and named.

Not here: what a tier does about trouble (`breaker`).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from nfbuild.dataclasses import dataclass
from nfbuild.digests import BlobDigest
from nfbuild.errors import StoreError, StoreRequired
from nfbuild.store.base import Kind
from nfbuild.store.breaker import Tier
from nfbuild.store.stats import Journal

_WIDTH: Final = 4
_QUEUE: Final = 100_000
_CLOSE_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 2.0


@dataclass(frozen=True)
class _Blob:
    number: int
    digest: BlobDigest


@dataclass(frozen=True)
class _Record:
    after: int
    kind: Kind
    key: str
    payload: bytes


class Uploads:
    """The queues of all writable tiers."""

    def __init__(
        self,
        read: Callable[[BlobDigest], bytes],
        tiers: Sequence[Tier],
        journal: Journal,
        *,
        replace: bool = False,
        limit: int = _QUEUE,
    ) -> None:
        self._lines = [
            _Line(read, tier, journal, replace=replace, limit=limit)
            for tier in tiers
            if tier.writable
        ]

    def blob(self, digest: BlobDigest) -> None:
        """Offer a blob that the local store has."""
        for line in self._lines:
            line.offer_blob(digest)

    def record(self, kind: Kind, key: str, payload: bytes) -> None:
        """Offer a record; the blobs it speaks of have been offered."""
        for line in self._lines:
            line.offer_record(kind, key, payload)

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Wait for what is queued, at most `seconds` in all; the rest is lost and named.

        Raises `StoreRequired`, once, for the first required tier that was given up.
        """
        until = time.monotonic() + seconds
        refused: StoreRequired | None = None
        try:
            for line in self._lines:
                line.drain(until)
        finally:
            for line in self._lines:
                line.stop()
                refused, line.refused = refused or line.refused, None
        if refused is not None:
            raise refused


class _Line:
    """The queue of one tier and the threads that empty it."""

    def __init__(
        self,
        read: Callable[[BlobDigest], bytes],
        tier: Tier,
        journal: Journal,
        *,
        replace: bool,
        limit: int,
    ) -> None:
        self._read = read
        self._tier = tier
        self._journal = journal
        self._replace = replace
        self._limit = limit
        self._changed = threading.Condition()
        self._blobs: deque[_Blob] = deque()
        self._records: deque[_Record] = deque()
        self._under_way: set[int] = set()
        self._busy = 0
        self._offered = 0
        self._known: set[str] = set()
        self._threads: list[threading.Thread] = []
        self._ending = False
        self.refused: StoreRequired | None = None

    def offer_blob(self, digest: BlobDigest) -> None:
        with self._changed:
            if digest in self._known:
                return
            self._known.add(digest)
            if self._has_room(f"blob {digest}"):
                self._offered += 1
                self._blobs.append(_Blob(self._offered, digest))
                self._wake()

    def offer_record(self, kind: Kind, key: str, payload: bytes) -> None:
        with self._changed:
            if self._has_room(f"{kind} {key}"):
                self._records.append(_Record(self._offered, kind, key, payload))
                self._wake()

    def _has_room(self, name: str) -> bool:
        if self._ending or len(self._blobs) + len(self._records) >= self._limit:
            self._journal.lose(self._tier.name, name)
            return False
        return True

    def _wake(self) -> None:
        if len(self._threads) < min(_WIDTH, len(self._blobs) + len(self._records)):
            thread = threading.Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()
        self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                item = self._next()
                while item is None:
                    if self._ending:
                        return
                    self._changed.wait()
                    item = self._next()
                self._busy += 1
            try:
                self._send(item)
            finally:
                with self._changed:
                    self._busy -= 1
                    if isinstance(item, _Blob):
                        self._under_way.discard(item.number)
                    self._changed.notify_all()

    def _next(self) -> _Blob | _Record | None:
        """Take a record whose blobs are through, or else the next blob."""
        if self._ending:
            return None
        if self._records:
            unfinished = set(self._under_way)
            if self._blobs:
                unfinished.add(self._blobs[0].number)
            if not unfinished or min(unfinished) > self._records[0].after:
                return self._records.popleft()
        if not self._blobs:
            return None
        blob = self._blobs.popleft()
        self._under_way.add(blob.number)
        return blob

    def _send(self, item: _Blob | _Record) -> None:
        tier = self._tier
        name = item.digest if isinstance(item, _Blob) else item.key
        replace = self._replace or tier.was_damaged(name)
        try:
            if isinstance(item, _Blob):
                tier.put_blob(self._read(item.digest), replace=replace)
            else:
                tier.put_record(item.kind, item.key, item.payload, replace=replace)
        except StoreError:
            self._journal.lose(tier.name, _named(item))
        except StoreRequired as error:
            self._journal.lose(tier.name, _named(item))
            with self._changed:
                self.refused = self.refused or error
        else:
            tier.mark_healed(name)

    def drain(self, until: float) -> None:
        with self._changed:
            while self._blobs or self._records or self._busy:
                left = until - time.monotonic()
                if left <= 0 or self._tier.off is not None:
                    return
                self._changed.wait(min(left, 0.2))

    def stop(self) -> None:
        """Begin nothing new; what is under way gets a moment to end, so that it leaves no trace."""
        with self._changed:
            self._ending = True
            rest: list[_Blob | _Record] = [*self._blobs, *self._records]
            self._blobs.clear()
            self._records.clear()
            self._changed.notify_all()
        for item in rest:
            self._journal.lose(self._tier.name, _named(item))
        until = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))


def _named(item: _Blob | _Record) -> str:
    if isinstance(item, _Blob):
        return f"blob {item.digest}"
    return f"{item.kind} {item.key}"
