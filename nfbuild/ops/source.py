"""The frames of a drawn film, as exports ask for them.

A blob may go while it is exported: a collector of another build, a damage, pixels that are not what
a tier said. Such a frame is drawn again, a few times at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from nfbuild.digests import FrameDigest, SequenceDigest
from nfbuild.errors import DrawError, StoreError
from nfbuild.events import Event
from nfbuild.ledger.sequence import SequenceHasher
from nfbuild.ops.films import Film
from nfbuild.ops.questions import Questions, State
from nfbuild.ops.recall import Recall

Value = TypeVar("Value")

_TRIES = 4


class FilmSource:
    """Answers `export.FrameSource` for one film whose questions are answered.

    `redraw` draws a question again, for its picture.
    """

    def __init__(
        self, film: Film, questions: Questions, recall: Recall, redraw: Callable[[int], None]
    ) -> None:
        self._redraw = redraw
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
        path = self._recall.png_path(self.digest(number))
        if path is None:
            self._redraw(self._film.frames[number])
            path = self._recall.png_path(self.digest(number))
        return path

    def png_bytes(self, number: int) -> bytes:
        """Return the PNG of a frame."""
        return self._persist(number, self._recall.png)

    def rgba(self, number: int) -> memoryview:
        """Return the rows of a frame."""
        return self._persist(number, lambda digest: self._recall.pixels(digest)[0])

    def _persist(self, number: int, take: Callable[[FrameDigest], Value]) -> Value:
        for _ in range(_TRIES):
            try:
                return take(self.digest(number))
            except StoreError:
                self._redraw(self._film.frames[number])
        try:
            return take(self.digest(number))
        except StoreError as error:
            raise _gone(number, error) from None


def drain(events: Iterable[Event]) -> None:
    """Run a drawing whose events nobody reads."""
    for _ in events:
        pass


def _gone(number: int, error: StoreError) -> DrawError:
    return DrawError(
        f"frame {number} is not in the cache though it was drawn again: {error.message}",
        hint="exports are made from the cache: make room where it lies, or set a larger `max_size`",
        code="frame-gone",
    )
