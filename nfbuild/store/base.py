"""Stores: what every place for blobs and records promises, and the bytes of a record.

A store answers with bytes that it has checked, or with one of three errors that tell the caller
what to do next: `Missing` (ask elsewhere), `Corrupt` (recompute; the store has already dropped
what it could drop) or `Unavailable` (go on without this store). Each carries a short reason as its
`code`, which is what statistics count. Nothing from a store is ever unpickled, evaluated or used
as a path: names are 64 hexadecimal digits or they are refused.

Not here: what a record's payload means (whoever puts it), where bytes are kept (`memory`, `local`,
`directory`, `http`, `object`), who asks whom (`layers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from nfbuild.dataclasses import dataclass
from nfbuild.digests import HEX_LENGTH, BlobDigest, blob_digest, derive_raw
from nfbuild.errors import Corrupt, Missing, StoreError

Kind: TypeAlias = Literal["frame", "pixels", "composition", "answer"]
"""What a record answers; the four kinds are four separate spaces of keys."""

FRAME: Final = "frame"
PIXELS: Final = "pixels"
COMPOSITION: Final = "composition"
ANSWER: Final = "answer"
KINDS: Final[tuple[Kind, ...]] = (FRAME, PIXELS, COMPOSITION, ANSWER)

BLOB_LIMIT: Final = 256 * 2**20
"""No blob is longer, in bytes; a longer one is refused before it is read."""
RECORD_LIMIT: Final = 16 * 2**20
"""No encoded record is longer, in bytes."""

RECORD_VERSION: Final = 1
_MAGIC = b"nfbr"
_CONTEXT = "nfbuild 2026 store record v1"
_DIGITS = "0123456789abcdef"
_KEY_BYTES = 32
_SUM_BYTES = 32
_HEAD = len(_MAGIC) + 2
_SMALLEST = _HEAD + 1 + _KEY_BYTES + 4 + 2 + _SUM_BYTES


@runtime_checkable
class Store(Protocol):
    """A place that blobs and records can be read from, by any thread of one process."""

    @property
    def name(self) -> str:
        """What messages and statistics call this place; never holds a credential."""
        ...

    def get_blob(self, digest: BlobDigest) -> bytes:
        """Return the blob whose digest is `digest`; raises `Missing`, `Corrupt`, `Unavailable`."""
        ...

    def has_blob(self, digest: BlobDigest) -> bool:
        """Tell whether a blob is there, without reading it; raises `Unavailable`."""
        ...

    def get_record(self, kind: Kind, key: str) -> bytes:
        """Return the payload stored under `key`; raises `Missing`, `Corrupt`, `Unavailable`."""
        ...

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the payloads that are there and right; a wrong one counts as absent.

        Raises `Unavailable` when the store could not be asked.
        """
        ...


@runtime_checkable
class WritableStore(Store, Protocol):
    """A store that also takes blobs and records."""

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """Keep `data` and return its name; afterwards the whole blob is there or nothing is.

        An existing blob is left alone unless `replace`. Raises `Unavailable`.
        """
        ...

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """Keep `payload` under `key`; a right record that stands stays unless `replace`.

        The blob that a record speaks of is put first. Raises `Unavailable`.
        """
        ...

    def put_records(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False) -> None:
        """Keep many records at once; raises `Unavailable`, after which any part may be kept."""
        ...


@runtime_checkable
class TierStore(WritableStore, Protocol):
    """A store that can be one tier of several: its faults are told apart, record by record."""

    def look(
        self, kind: Kind, keys: Iterable[str]
    ) -> tuple[dict[str, bytes], dict[str, StoreError]]:
        """Return payloads by key, and the error of each record that is there and wrong.

        Raises `Unavailable` when the store could not be asked.
        """
        ...

    def close(self) -> None:
        """Let go of what is held open; a later call opens it again."""
        ...


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """A blob as a listing shows it: size in bytes, last use in seconds since 1970."""

    digest: BlobDigest
    size: int
    used: float


@runtime_checkable
class PrunableStore(WritableStore, Protocol):
    """A store that can list what it has and drop it."""

    def blobs(self) -> Iterator[BlobInfo]:
        """Yield every blob, by digest."""
        ...

    def records(self) -> Iterator[tuple[Kind, str]]:
        """Yield kind and key of every record, in no promised order."""
        ...

    def drop_blob(self, digest: BlobDigest) -> bool:
        """Remove a blob and tell whether it was there; raises `Unavailable`."""
        ...

    def drop_record(self, kind: Kind, key: str) -> bool:
        """Remove a record and tell whether it was there; raises `Unavailable`."""
        ...


def is_name(name: object) -> bool:
    """Tell whether `name` is a digest in lower case; asked for every file of a listing."""
    return isinstance(name, str) and len(name) == HEX_LENGTH and not name.strip(_DIGITS)


def check_name(name: str) -> None:
    """Raise `Corrupt` unless `name` is a digest: it comes from a record, which may say anything."""
    if not is_name(name):
        raise Corrupt(f"`{str(name)[:80]!r}` names nothing that a store can hold", code="name")


def sound_names(names: Iterable[str]) -> list[str]:
    """Return `names` once each, in order, without those that are no digests."""
    return [name for name in dict.fromkeys(names) if is_name(name)]


def check_kind(kind: str) -> None:
    """Raise `ValueError` for a kind of record that does not exist."""
    if kind not in KINDS:
        raise ValueError(f"there is no record kind {kind!r}")


def check_blob(digest: BlobDigest, data: bytes, where: str) -> None:
    """Raise `Corrupt` unless `data` is the blob `digest`."""
    found = blob_digest(data)
    if found != digest:
        raise Corrupt(
            f"{where}: blob `{digest[:16]}` holds other bytes: `{found[:16]}`", code="digest"
        )


def encode_record(kind: Kind, key: str, payload: bytes, *, signature: bytes = b"") -> bytes:
    """Return a record's bytes, as `docs/formats.md` describes them.

    `signature` is room for a later version: it covers everything before its own length.
    """
    check_kind(kind)
    check_name(key)
    if len(signature) > 0xFFFF or len(payload) > RECORD_LIMIT - 2**17:
        raise ValueError("a record of this size cannot be stored")
    name = kind.encode("ascii")
    body = b"".join(
        (
            _MAGIC,
            bytes((RECORD_VERSION, len(name))),
            name,
            bytes.fromhex(key),
            len(payload).to_bytes(4, "big"),
            payload,
            len(signature).to_bytes(2, "big"),
            signature,
        )
    )
    return body + bytes.fromhex(derive_raw(_CONTEXT, body))


def decode_record(kind: Kind, key: str, data: bytes, where: str) -> bytes:
    """Return the payload of a record that was found under `kind` and `key`.

    Raises `Corrupt` for anything but whole bytes that name this very kind and key, and `Missing`
    for a whole record of a version that this program does not know: a later program's record is
    nobody's damage.
    """
    what = f"{where}: {kind} record `{key[:16]}`"
    if not _SMALLEST <= len(data) <= RECORD_LIMIT or data[:4] != _MAGIC:
        raise Corrupt(f"{what} is not a record", code="record")
    body = data[:-_SUM_BYTES]
    if bytes.fromhex(derive_raw(_CONTEXT, body)) != data[-_SUM_BYTES:]:
        raise Corrupt(f"{what} does not match its checksum", code="checksum")
    if data[4] != RECORD_VERSION:
        raise Missing(f"{what} has version {data[4]}", code="version")
    name_end = _HEAD + data[5]
    key_end = name_end + _KEY_BYTES
    if body[_HEAD:name_end] != kind.encode("ascii") or body[name_end:key_end].hex() != key:
        raise Corrupt(f"{what} answers another question", code="other-key")
    payload_end = key_end + 4 + int.from_bytes(body[key_end : key_end + 4], "big")
    signature_end = payload_end + 2 + int.from_bytes(body[payload_end : payload_end + 2], "big")
    if signature_end != len(body):
        raise Corrupt(f"{what} is longer or shorter than it says", code="record")
    return body[key_end + 4 : payload_end]
