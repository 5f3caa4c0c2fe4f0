"""The frames of a film, as exports ask for them.

A blob may go while it is exported: a collector of another build, a damage, pixels that are not what
a tier said. Such a frame is drawn again, a few times at most.
Not here: where frames come from while they are still being drawn (`Supply` of `handover`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol, TypeVar

from nfbuild.digests import FrameDigest, SequenceDigest
from nfbuild.errors import DrawError, StoreError
from nfbuild.ledger.sequence import SequenceHasher
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall

Value = TypeVar("Value")

_TRIES = 4


class Supply(Protocol):
    """Who sees to it that a frame is there."""

    def wait(self, film: Film, number: int) -> None:
        """Return once frame `number` of a film is answered; raise when it never will be."""

    def redraw(self, film: Film, question: int) -> None:
        """Draw a question of a film again, for its picture."""

    def confirm(self, film: Film, since: int) -> None:
        """Return once the answers of a film are final; raise `Moved` if one moved after `since`.

        `since` counts the answers of the run that moved.
        """


class Drawn:
    """A supply of frames that were drawn before anybody asks, by the thread that asks."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing

    def wait(self, film: Film, number: int) -> None:
        """See `Supply`."""
        question = film.frames[film.at(number)]
        if self._drawing.questions.state(question) in (State.UNKNOWN, State.FAILED):
            raise film.error or DrawError(f"frame {number} could not be drawn")

    def redraw(self, film: Film, question: int) -> None:  # noqa: ARG002  the protocol's
        """See `Supply`."""
        for _ in self._drawing.draw([question]):
            pass

    def confirm(self, film: Film, since: int) -> None:
        """See `Supply`."""


class FilmSource:
    """Answers `export.FrameSource` for one film."""

    def __init__(self, film: Film, questions: Questions, recall: Recall, supply: Supply) -> None:
        self._supply = supply
        self._film = film
        self._questions = questions
        self._recall = recall
        self._since = len(questions.moved)
        self._last: tuple[FrameDigest, str] | None = None
        self.count = film.scene.frames
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
        """Return once the frame is drawn; raises the film's error when it will never be."""
        self._supply.wait(self._film, number)

    def confirm(self) -> None:
        """Return once all frames are final; raises `Moved` when one was given out that moved."""
        self._supply.confirm(self._film, self._since)

    def digest(self, number: int) -> FrameDigest:
        """Return the digest of a frame."""
        return self._questions.digest(self._question(number))

    def png_path(self, number: int) -> str | None:
        """Return the verified blob of a frame, or None."""
        digest = self.digest(number)
        # Holds ask for one frame many times in a row.
        if self._last is not None and self._last[0] == digest:
            return self._last[1]
        path = self._recall.png_path(digest)
        if path is None:
            self._supply.redraw(self._film, self._question(number))
            path = self._recall.png_path(self.digest(number))
        self._last = None if path is None else (self.digest(number), path)
        return path

    def png_bytes(self, number: int) -> bytes:
        """Return the PNG of a frame."""
        return self._persist(number, self._recall.png)

    def rgba(self, number: int) -> memoryview:
        """Return the rows of a frame."""
        return self._persist(number, lambda digest: self._recall.pixels(digest)[0])

    def _question(self, number: int) -> int:
        return self._film.frames[self._film.at(number)]

    def _persist(self, number: int, take: Callable[[FrameDigest], Value]) -> Value:
        for _ in range(_TRIES):
            try:
                return take(self.digest(number))
            except StoreError:
                self._supply.redraw(self._film, self._question(number))
        try:
            return take(self.digest(number))
        except StoreError as error:
            raise _gone(number, error) from None


def _gone(number: int, error: StoreError) -> DrawError:
    return DrawError(
        f"frame {number} is not in the cache though it was drawn again: {error.message}",
        hint="exports are made from the cache: make room where it lies, or set a larger `max_size`",
        code="frame-gone",
    )
