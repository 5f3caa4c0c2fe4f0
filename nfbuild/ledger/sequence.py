"""The sequence digest: one name for a whole film.

Taken over the canvas, the exact frame rate, the number of frames and every frame digest in order,
so a frame cannot be added, left out or moved, and the film cannot be played at another speed,
without another digest. A sample has a context of its own: it is never a film's digest.

Also the SHA-256 form that the peer publishes, for comparison with it only.
"""

from __future__ import annotations

from fractions import Fraction

from nfbuild.digests import FrameDigest, SequenceDigest, derive_raw, encode

_CONTEXT = "nfbuild 2026 sequence v1"
_BLOCK = 1_024
_SAMPLE_CONTEXT = "nfbuild 2026 sequence sample v1"


class SequenceHasher:
    """Takes the frame digests of one film in order, 32 bytes of memory each.

    `width` and `height` are the canvas in pixels, `frames` how many will come.
    """

    def __init__(self, width: int, height: int, rate: Fraction, frames: int) -> None:
        self.frames = frames
        self.added = 0
        self._head = encode([width, height, rate.numerator, rate.denominator, frames])
        # In blocks: where one buffer grows, the heap keeps the holes that it left.
        self._digests: list[bytearray] = []

    def add(self, digest: FrameDigest) -> None:
        """Take the digest of the next frame."""
        raw = bytes.fromhex(digest)
        if len(raw) != 32:
            raise ValueError(f"`{digest}` is not a frame digest")
        if self.added % _BLOCK == 0:
            self._digests.append(bytearray())
        self._digests[-1] += raw
        self.added += 1

    def digest(self) -> SequenceDigest:
        """Return the film's digest; every frame must have come."""
        if self.added != self.frames:
            raise ValueError(f"{self.added} frames came, {self.frames} were announced")
        # The head delimits itself and fixes the count: the framing is unique.
        return SequenceDigest(derive_raw(_CONTEXT, self._head, *self._digests))


class SampleHasher(SequenceHasher):
    """Takes some frame digests of a film of `frames` frames, each with its number, rising."""

    def __init__(self, width: int, height: int, rate: Fraction, frames: int) -> None:
        super().__init__(width, height, rate, frames)
        self._numbers: list[int] = []

    def add_frame(self, number: int, digest: FrameDigest) -> None:
        """Take the digest of frame `number`."""
        if not (self._numbers[-1] if self._numbers else -1) < number < self.frames:
            raise ValueError(f"frame {number} is out of order")
        self._numbers.append(number)
        self.add(digest)

    def digest(self) -> SequenceDigest:
        """Return the digest of the sample: of the film's shape, the numbers and the digests."""
        head = self._head + encode(self._numbers)
        return SequenceDigest(derive_raw(_SAMPLE_CONTEXT, head, *self._digests))


class PeerSequence:
    """The peer's digest of a film: SHA-256 over its frames' SHA-256 digits, joined by line feeds.

    The format is described in the peer's `docs/determinism.md`.
    """

    def __init__(self) -> None:
        import hashlib  # noqa: PLC0415  loads a library that nothing else needs

        self._hash = hashlib.sha256()
        self._first = True

    def add(self, digest: str) -> None:
        """Take the SHA-256 of the next frame's pixels, as `pixels` gives it."""
        self._hash.update(digest.encode("ascii") if self._first else b"\n" + digest.encode("ascii"))
        self._first = False

    def digest(self) -> str:
        """Return the digest of what has come so far."""
        return self._hash.hexdigest()
