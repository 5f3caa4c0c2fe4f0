"""What every decoder of foreign pictures gives.

Not here: decoding stills (`decode`) and films (`video`), each behind its own door.
"""

from __future__ import annotations

from nfbuild.dataclasses import dataclass, field


@dataclass(frozen=True)
class DecodedPicture:
    """A picture as straight 8-bit sRGB RGBA rows from the top."""

    pixels: bytes = field(repr=False)
    width: int
    height: int
