"""The narrow waist: one frame of a composition, fully resolved.

Its bytes are what the rasterizer gets and what the frame key is taken of; nothing is left to
evaluate. Pictures and faces are named by the digest of their content.
"""

from __future__ import annotations

from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.digests import InputDigest


@dataclass(frozen=True, slots=True, order=True)
class PictureRef:
    """A picture the document draws, staged as `<digest><suffix>`."""

    digest: InputDigest
    suffix: str

    @property
    def name(self) -> str:
        """The name that the document writes."""
        return f"{self.digest}{self.suffix}"


@dataclass(frozen=True, slots=True)
class LottieFrame:
    """Which frame of a Lottie scene: then `document` is the scene's JSON."""

    number: Fraction
    expressions: bool
    background: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class BakedFrame:
    """One frame: `head`, one piece per drawn child of the root, `tail`.

    `width` and `height` are the canvas; pictures and faces are sorted by digest and complete.
    """

    head: bytes
    pieces: tuple[bytes, ...]
    tail: bytes
    width: int
    height: int
    pictures: tuple[PictureRef, ...]
    faces: tuple[InputDigest, ...]
    lottie: LottieFrame | None = None

    @property
    def document(self) -> bytes:
        """The whole document, a standalone SVG (or a Lottie scene)."""
        return b"".join((self.head, *self.pieces, self.tail))
