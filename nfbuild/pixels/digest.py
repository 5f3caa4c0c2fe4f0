"""The canonical digest of a frame's pixels, and the form the peer nanoframes publishes.

A frame digest is BLAKE3 under its own context over the ASCII text `RGBA WxH`, a zero byte, and the
rows from the top, four bytes a pixel: red, green, blue, alpha, not premultiplied. The header fixes
how many bytes follow, so no two frames have one encoding. The peer takes SHA-256 of the same bytes.
Not here: a whole film's digest with rate and canvas (`ledger`), the file a frame is in (`png`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.digests import FrameDigest, InputDigest, derive_raw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

FRAME_CONTEXT = "nfbuild 2026 frame pixels v1"
PICTURE_CONTEXT = "nfbuild 2026 picture pixels v1"


def header(width: int, height: int) -> bytes:
    """Return what stands before the rows in both digests."""
    return b"RGBA %dx%d\0" % (width, height)


def frame_digest(pixels: Buffer, width: int, height: int) -> FrameDigest:
    """Return the digest of `width` x `height` straight RGBA pixels; ValueError on another size."""
    _require_size(pixels, width, height)
    return FrameDigest(derive_raw(FRAME_CONTEXT, header(width, height), pixels))


def picture_digest(pixels: Buffer, width: int, height: int) -> InputDigest:
    """Return the name of a decoded picture: a digest of its pixels, not of the file they are in.

    Documents name pictures, and the PNG encoder's bytes differ from processor to processor.
    """
    _require_size(pixels, width, height)
    return InputDigest(derive_raw(PICTURE_CONTEXT, header(width, height), pixels))


def peer_digest(pixels: Buffer, width: int, height: int) -> str:
    """Return the SHA-256 frame digest as nanoframes 0.4 defines it."""
    _require_size(pixels, width, height)
    import hashlib  # noqa: PLC0415  for comparisons with the peer alone; loads a library

    hasher = hashlib.sha256(header(width, height))
    hasher.update(pixels)
    return hasher.hexdigest()


def peer_sequence_digest(frames: Iterable[str]) -> str:
    r"""Return the peer's digest of a film: SHA-256 over the frames' hex digests joined by `\n`."""
    import hashlib  # noqa: PLC0415  as above

    return hashlib.sha256("\n".join(frames).encode("ascii")).hexdigest()


def _require_size(pixels: Buffer, width: int, height: int) -> None:
    size = memoryview(pixels).nbytes
    if width < 1 or height < 1 or size != 4 * width * height:
        raise ValueError(f"{size} bytes are not {width} x {height} pixels of RGBA")
