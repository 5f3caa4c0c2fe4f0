"""The frames of a drawn film, as exports ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from nfbuild.digests import FrameDigest, SequenceDigest
from nfbuild.errors import DrawError, StoreError
from nfbuild.ledger.sequence import SequenceHasher
from nfbuild.ops.films import Film
from nfbuild.ops.questions import Questions, State
from nfbuild.ops.recall import Recall


class FilmSource:
    """Answers `export.FrameSource` for one film whose questions are answered."""

    def __init__(self, film: Film, questions: Questions, recall: Recall) -> None:
        self._film = film
        self._questions = questions
        self._recall = recall
        self.count = len(film.frames)
        self.width = film.width
        self.height = film.height
        self.rate: Fraction = film.scene.rate
        self.markers: Mapping[str, tuple[int, int]] = film.scene.markers

    @property
    def sequence(self) -> SequenceDigest:
        """The sequence digest at this raster size."""
        hasher = SequenceHasher(self.width, self.height, self.rate, self.count)
        for number in range(self.count):
            hasher.add(self.digest(number))
        return hasher.digest()

    def wait(self, number: int) -> None:
        """Return at once: every frame was drawn before exports are made."""
        if self._questions.state(self._film.frames[number]) in (State.UNKNOWN, State.FAILED):
            raise DrawError(f"frame {number} could not be drawn")

    def digest(self, number: int) -> FrameDigest:
        """Return the digest of a frame."""
        return self._questions.digest(self._film.frames[number])

    def png_path(self, number: int) -> str | None:
        """Return the verified blob of a frame, or None."""
        return self._recall.png_path(self.digest(number))

    def png_bytes(self, number: int) -> bytes:
        """Return the PNG of a frame."""
        try:
            return self._recall.png(self.digest(number))
        except StoreError as error:
            raise _gone(number, error) from None

    def rgba(self, number: int) -> memoryview:
        """Return the rows of a frame."""
        try:
            rows, _, _ = self._recall.pixels(self.digest(number))
        except StoreError as error:
            raise _gone(number, error) from None
        return rows


def _gone(number: int, error: StoreError) -> DrawError:
    return DrawError(
        f"frame {number} went from the cache while it was exported: {error.message}",
        hint="build again; a cache that is collected while it is used needs a larger `max_size`",
        code="frame-gone",
    )
