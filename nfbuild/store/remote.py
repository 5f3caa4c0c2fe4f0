"""What HTTP servers and buckets have in common: names of objects, and records asked one by one.

    v1/blobs/ab/<digest>.png
    v1/records/<kind>/ab/<key>.rec

The layout's version is part of each name, so two versions share a server without meeting.
A transport gets, looks, and puts whole objects; everything else is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from nfbuild.digests import BlobDigest, blob_digest
from nfbuild.errors import Corrupt, Missing, StoreError, Unavailable
from nfbuild.store.base import (
    BLOB_LIMIT,
    RECORD_LIMIT,
    Kind,
    check_blob,
    check_kind,
    check_name,
    decode_record,
    encode_record,
    sound_names,
)
from nfbuild.store.parallel import fan_out

LAYOUT: Final = "v1"


class Transport(Protocol):
    """Whole objects by name, with the errors of a store; used by several threads at once."""

    @property
    def name(self) -> str:
        """What messages call the place."""
        ...

    def get(self, path: str, limit: int) -> bytes:
        """Return an object; `Corrupt` when it has more than `limit` bytes or is cut short."""
        ...

    def has(self, path: str) -> bool:
        """Tell whether an object is there."""
        ...

    def put(self, path: str, data: bytes) -> None:
        """Put an object in place of what is there."""
        ...

    def close(self) -> None:
        """Let go of connections; a later call makes new ones."""
        ...


class RemoteStore:
    """A store over a transport; see `TierStore`."""

    def __init__(self, transport: Transport) -> None:
        self.name = transport.name
        self._transport = transport

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`."""
        data = self._transport.get(_blob(digest), BLOB_LIMIT)
        check_blob(digest, data, self.name)
        return data

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        return self._transport.has(_blob(digest))

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """See `WritableStore`."""
        if len(data) > BLOB_LIMIT:
            raise Unavailable(f"{self.name}: a blob of {len(data)} bytes", code="too-large")
        digest = blob_digest(data)
        path = _blob(digest)
        if replace or not self._transport.has(path):
            self._transport.put(path, data)
        return digest

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        return decode_record(
            kind, key, self._transport.get(_record(kind, key), RECORD_LIMIT), self.name
        )

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`."""
        return self.look(kind, keys)[0]

    def look(
        self, kind: Kind, keys: Iterable[str]
    ) -> tuple[dict[str, bytes], dict[str, StoreError]]:
        """See `TierStore`; several are asked for at a time."""
        check_kind(kind)
        found: dict[str, bytes] = {}
        wrong: dict[str, StoreError] = {}

        def ask(key: str) -> None:
            try:
                found[key] = self.get_record(kind, key)
            except Corrupt as error:
                wrong[key] = error
            except Missing as error:
                if error.code != Missing.default_code:
                    wrong[key] = error

        fan_out(ask, sound_names(keys))
        return found, wrong

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """See `WritableStore`."""
        path = _record(kind, key)
        data = encode_record(kind, key, payload)
        if not replace:
            try:
                self.get_record(kind, key)
            except (Missing, Corrupt):
                pass
            else:
                return
        self._transport.put(path, data)

    def put_records(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False) -> None:
        """See `WritableStore`; several are put at a time."""
        fan_out(
            lambda item: self.put_record(kind, item[0], item[1], replace=replace), items.items()
        )

    def close(self) -> None:
        """Let go of connections; a later call makes new ones."""
        self._transport.close()


def _blob(digest: BlobDigest) -> str:
    check_name(digest)
    return f"{LAYOUT}/blobs/{digest[:2]}/{digest}.png"


def _record(kind: Kind, key: str) -> str:
    check_kind(kind)
    check_name(key)
    return f"{LAYOUT}/records/{kind}/{key[:2]}/{key}.rec"
