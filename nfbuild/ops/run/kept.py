"""Answers that outlive a run: small records in the cache, and decoded pictures beside them.

A record that is not there, that cannot be read or that names a blob which is gone is no answer:
the question is asked again. A fresh run reads none.
Not here: what is asked (`answers`, `videos`).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nfbuild.digests import BlobDigest, InputDigest, RecordKey, is_hex_digest
from nfbuild.errors import StoreError
from nfbuild.scene.protocols import Picture
from nfbuild.store.base import ANSWER, WritableStore

if TYPE_CHECKING:
    from nfbuild.ops.run.staging import Staging
    from nfbuild.render.tasks import Decoded


class KeptAnswers:
    """The answers of earlier runs in `store`; None keeps none, and `fresh` reads none."""

    def __init__(
        self, store: WritableStore | None, staging: Callable[[], Staging], *, fresh: bool
    ) -> None:
        self._store = store
        self._staging = staging
        self._fresh = fresh

    def values(self, key: RecordKey) -> list[Any] | None:
        """Return what was kept under a key."""
        if self._store is None or self._fresh:
            return None
        try:
            values = json.loads(self._store.get_record(ANSWER, key))
        except (StoreError, ValueError):
            return None
        return values if isinstance(values, list) else None

    def picture(self, key: RecordKey, again: Callable[[], None]) -> Picture | None:
        """Return a decoded picture kept under a key, offered for staging from its blob.

        `again` decodes it once more: its blob may go between now and when it is staged.
        """
        values = self.values(key)
        if values is None or len(values) != 4 or not all(is_hex_digest(str(v)) for v in values[:2]):
            return None
        blob = BlobDigest(values[1])
        if self._store is None or not _has(self._store, blob):
            return None
        picture = Picture(InputDigest(values[0]), ".png", int(values[2]), int(values[3]))
        self._staging().offer(picture.name, lambda: self._bytes(picture.name, blob, again))
        return picture

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers; one that is not kept is asked again, never a reason to fail."""
        if self._store is not None and answers:
            with contextlib.suppress(StoreError):
                self._store.put_records(ANSWER, answers)

    def _bytes(self, name: str, blob: BlobDigest, again: Callable[[], None]) -> bytes:
        if self._store is not None:
            with contextlib.suppress(StoreError):
                return self._store.get_blob(blob)
        again()  # the worker stages what it decodes
        with open(os.path.join(self._staging().folder, name), "rb") as staged:
            return staged.read()


def packed(*values: int | str) -> bytes:
    """Return an answer as it is kept."""
    return json.dumps(values, separators=(",", ":")).encode("ascii")


def packed_picture(decoded: Decoded) -> bytes:
    """Return a decoded picture as it is kept: named by its pixels, found by its blob."""
    return packed(decoded.digest, decoded.blob, decoded.width, decoded.height)


def picture_of(decoded: Decoded) -> Picture:
    """Return a picture that was decoded in this run: its worker has staged it."""
    return Picture(decoded.digest, ".png", decoded.width, decoded.height)


def _has(store: WritableStore, blob: BlobDigest) -> bool:
    try:
        return store.has_blob(blob)
    except StoreError:
        return False
