"""What frames share: definitions, pictures and faces, each with one bit.

While a frame is put together the bits of everything it draws are collected in one number; the
head of the document and the lists of pictures and faces follow from that number alone, and are
made once for each number. So a definition stands in a frame exactly when something of that frame
uses it.
"""

from __future__ import annotations

from nfbuild.digests import InputDigest
from nfbuild.scene.baked import PictureRef


class Pool:
    """The shared parts of one composition with all that is nested in it."""

    def __init__(self) -> None:
        self._bits = 0
        self._definitions: dict[tuple[str, bool], tuple[int, int]] = {}
        self._pictures: dict[PictureRef, int] = {}
        self._faces: dict[InputDigest, int] = {}
        self.styles: list[str] = []

    def _bit(self) -> int:
        self._bits += 1
        return 1 << (self._bits - 1)

    def definition(self, text: str, uses: int, *, late: bool = False) -> int:
        """Return the bits of a definition and of all it uses; equal text is one definition.

        A `late` one stands at the end of the document.
        """
        key = (text, late)
        known = self._definitions.get(key)
        if known is None:
            known = (self._bit(), uses)
            self._definitions[key] = known
        return known[0] | known[1]

    def picture(self, picture: PictureRef) -> int:
        """Return the bit of a picture."""
        bit = self._pictures.get(picture)
        if bit is None:
            bit = self._pictures[picture] = self._bit()
        return bit

    def face(self, digest: InputDigest) -> int:
        """Return the bit of a face."""
        bit = self._faces.get(digest)
        if bit is None:
            bit = self._faces[digest] = self._bit()
        return bit

    def definitions_text(self, mask: int, *, late: bool = False) -> str:
        """Return the definitions of `mask`, in the order in which they were first met."""
        return "".join(
            text
            for (text, stands_late), (bit, _) in self._definitions.items()
            if bit & mask and stands_late == late
        )

    def pictures(self, mask: int) -> tuple[PictureRef, ...]:
        """Return the pictures of `mask`, sorted."""
        return tuple(sorted(picture for picture, bit in self._pictures.items() if bit & mask))

    def faces(self, mask: int) -> tuple[InputDigest, ...]:
        """Return the faces of `mask`, sorted."""
        return tuple(sorted(face for face, bit in self._faces.items() if bit & mask))
