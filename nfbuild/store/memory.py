"""A store in memory: the reference that the other stores are compared with, and a test's double.

Nothing here outlives the object.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping

from nfbuild.digests import BlobDigest, blob_digest
from nfbuild.errors import Corrupt, Missing, StoreError
from nfbuild.store.base import (
    BlobInfo,
    Kind,
    check_blob,
    check_kind,
    check_name,
    decode_record,
    encode_record,
)


class MemoryStore:
    """Blobs and encoded records in two dictionaries; both may be damaged by a test."""

    def __init__(self, name: str = "memory") -> None:
        self.name = name
        self.held_blobs: dict[BlobDigest, bytes] = {}
        self.held_records: dict[tuple[Kind, str], bytes] = {}
        self._used: dict[BlobDigest, float] = {}
        self._lock = threading.RLock()

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`; a damaged blob is dropped."""
        check_name(digest)
        with self._lock:
            data = self.held_blobs.get(digest)
            if data is None:
                raise Missing(f"{self.name}: no blob `{digest[:16]}`")
            try:
                check_blob(digest, data, self.name)
            except Corrupt:
                del self.held_blobs[digest]
                raise
            self._used[digest] = time.time()
            return data

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        check_name(digest)
        with self._lock:
            return digest in self.held_blobs

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """See `WritableStore`."""
        digest = blob_digest(data)
        with self._lock:
            if replace or digest not in self.held_blobs:
                self.held_blobs[digest] = bytes(data)
            self._used[digest] = time.time()
        return digest

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`; a damaged record is dropped."""
        check_kind(kind)
        check_name(key)
        with self._lock:
            data = self.held_records.get((kind, key))
            if data is None:
                raise Missing(f"{self.name}: no {kind} record `{key[:16]}`")
            try:
                return decode_record(kind, key, data, self.name)
            except Corrupt:
                del self.held_records[kind, key]
                raise

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`."""
        found: dict[str, bytes] = {}
        for key in keys:
            try:
                found[key] = self.get_record(kind, key)
            except StoreError:
                continue
        return found

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """See `WritableStore`."""
        data = encode_record(kind, key, payload)
        with self._lock:
            if not replace:
                try:
                    self.get_record(kind, key)
                except StoreError:
                    pass
                else:
                    return
            self.held_records[kind, key] = data

    def put_records(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False) -> None:
        """See `WritableStore`."""
        for key, payload in items.items():
            self.put_record(kind, key, payload, replace=replace)

    def blobs(self) -> Iterator[BlobInfo]:
        """See `PrunableStore`."""
        with self._lock:
            held = sorted(self.held_blobs.items())
            infos = [BlobInfo(digest, len(data), self._used[digest]) for digest, data in held]
        yield from infos

    def records(self) -> Iterator[tuple[Kind, str]]:
        """See `PrunableStore`."""
        with self._lock:
            names = list(self.held_records)
        yield from names

    def drop_blob(self, digest: BlobDigest) -> bool:
        """See `PrunableStore`."""
        check_name(digest)
        with self._lock:
            return self.held_blobs.pop(digest, None) is not None

    def drop_record(self, kind: Kind, key: str) -> bool:
        """See `PrunableStore`."""
        check_kind(kind)
        check_name(key)
        with self._lock:
            return self.held_records.pop((kind, key), None) is not None
