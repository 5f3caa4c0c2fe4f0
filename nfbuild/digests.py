"""Digests: their types, their contexts and the one canonical encoding they are taken over.

A question and an answer never share a type or a context: a `FrameKey` names inputs, a
`FrameDigest` names pixels, and mixing them fails in the type checker and in the bytes.

The encoding (documented with vectors in `docs/formats.md`): every field is one tag byte, its
length as an unsigned LEB128 number, and its bytes. A list is a tag, its count, and its items.
No two different values have one encoding. BLAKE3's `derive_key` mode keeps contexts apart.

Not here: what goes into an identity (`identity`), how pixels are laid out (`pixels.digest`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NewType, TypeAlias

from blake3 import blake3

if TYPE_CHECKING:
    from typing_extensions import Buffer

InputDigest = NewType("InputDigest", str)
"""Plain BLAKE3 of a file's bytes: what `b3sum` prints."""
BlobDigest = NewType("BlobDigest", str)
"""Plain BLAKE3 of a blob's bytes: the blob's name in every store."""
ManifestDigest = NewType("ManifestDigest", str)
"""Digest of an ordered list of named digests, or of one part of an identity."""
CompositionId = NewType("CompositionId", str)
"""The identity of a whole composition with everything it refers to."""
SceneKey = NewType("SceneKey", str)
"""What is to be drawn, whoever draws it."""
FrameKey = NewType("FrameKey", str)
"""What is to be drawn, and by which toolchain: the question."""
FrameDigest = NewType("FrameDigest", str)
"""The canonical pixels of a frame: the answer."""
SequenceDigest = NewType("SequenceDigest", str)
"""Canvas, rate, count and all frame digests in order."""
RecordKey = NewType("RecordKey", str)
"""The name of any other cached answer (a measurement, a decoded picture)."""

HEX_LENGTH = 64
NONE = "none"
"""What stands for the digest of an empty part."""

Field: TypeAlias = "str | bytes | int | Sequence[Field] | None"

_TAG_BYTES = b"b"
_TAG_TEXT = b"t"
_TAG_INT = b"i"
_TAG_LIST = b"l"
_TAG_NONE = b"n"
_SHORT = 128
"""Lengths below this take one byte."""
_SHORT_LENGTH = [bytes([size]) for size in range(_SHORT)]
_SHORT_TEXT = [_TAG_TEXT + length for length in _SHORT_LENGTH]


def file_digest(data: Buffer) -> InputDigest:
    """Return the plain BLAKE3 of a file's bytes, 64 lower-case hexadecimal digits."""
    return InputDigest(blake3(data).hexdigest())


def blob_digest(data: Buffer) -> BlobDigest:
    """Return the name of a blob: the plain BLAKE3 of its bytes."""
    return BlobDigest(blake3(data).hexdigest())


def encode(value: Field) -> bytes:
    """Return the canonical encoding of `value`.

    Text is UTF-8 (lone surrogates pass through, so that any file name has an encoding);
    a `bool` is refused, as it would be one with 0 or 1.
    """
    # By exact types first: a document's digest encodes thousands of short texts.
    if type(value) is str or isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        size = len(data)
        return (_SHORT_TEXT[size] if size < _SHORT else _TAG_TEXT + _length(size)) + data
    if type(value) is list or type(value) is tuple:
        return _TAG_LIST + _length(len(value)) + b"".join([encode(item) for item in value])
    if isinstance(value, bytes):
        return _TAG_BYTES + _length(len(value)) + value
    if isinstance(value, bool):
        raise TypeError("a bool has no canonical encoding: name the two states")
    if isinstance(value, int):
        digits = str(value).encode("ascii")
        return _TAG_INT + _length(len(digits)) + digits
    if value is None:
        return _TAG_NONE
    return _TAG_LIST + _length(len(value)) + b"".join([encode(item) for item in value])


def derive(context: str, *fields: Field) -> str:
    """Return the digest of `fields` under `context`, which must be a constant of the program.

    Contexts read `nfbuild 2026 <what> v<n>`; the version moves when the meaning does.
    """
    return blake3(encode(fields), derive_key_context=context).hexdigest()


def derive_raw(context: str, *chunks: Buffer) -> str:
    """Return the digest of bytes that are already framed, without copying them.

    For frames' pixels: the caller's header fixes the length of what follows.
    """
    hasher = blake3(derive_key_context=context)
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.hexdigest()


def is_hex_digest(text: str) -> bool:
    """Tell whether `text` is a digest as this module writes them."""
    return len(text) == HEX_LENGTH and all(c in "0123456789abcdef" for c in text)


def by_utf8(names: Iterable[str]) -> list[str]:
    """Return `names` sorted by their UTF-8 bytes: the only order of names in anything canonical."""
    return sorted(names, key=lambda name: name.encode("utf-8", "surrogatepass"))


def shown(digest: str, algorithm: str = "blake3") -> str:
    """Return a digest as tools read it: `algorithm:hex`, and `none` for an empty part."""
    return digest if digest == NONE else f"{algorithm}:{digest}"


def _length(count: int) -> bytes:
    if count < _SHORT:
        return _SHORT_LENGTH[count]
    out = bytearray()
    while count > 127:
        out.append(count & 127 | 128)
        count >>= 7
    out.append(count)
    return bytes(out)
