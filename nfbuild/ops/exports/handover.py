"""Between the thread that draws and the threads that export: frames one way, wishes the other.

Workers, events and the ledger belong to the thread that runs the operation. Threads that export
wait here for frames, and leave a wish where a frame has to be drawn again; the drawing thread hears
of it in `wishes` and says in `tell` that something has happened.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import DrawError
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions, State


class Stopped(Exception):
    """The build ends: a thread that exports lets go of everything."""


class Moved(Exception):
    """A frame that was given out has another answer by now: the export begins again."""


@dataclass
class Wish:
    """A question to be drawn again; `granted` once that was tried."""

    question: int
    granted: threading.Event = field(default_factory=threading.Event)


class Handover:
    """One build's meeting place; implements `source.Supply` for threads.

    `is_final` tells of a film whether its answers will not move any more.
    """

    def __init__(self, questions: Questions, is_final: Callable[[Film], bool]) -> None:
        self._questions = questions
        self._is_final = is_final
        self._changed = threading.Condition()
        self._wishes: deque[Wish] = deque()
        self._stopped = False
        self.knock: Callable[[], None] = lambda: None
        """Called after a wish was left, to wake the thread that draws."""

    # --- what threads that export call --------------------------------------------------------

    def wait(self, film: Film, number: int) -> None:
        """See `Supply`."""
        question = film.frames[film.at(number)]
        if self._is_there(film, question):
            return
        with self._changed:
            while not self._is_there(film, question):
                self._changed.wait()

    def _is_there(self, film: Film, question: int) -> bool:
        self.check()
        state = self._questions.state(question)
        if state is State.FAILED or film.error is not None:
            raise film.error or DrawError("a frame could not be drawn")
        return state is not State.UNKNOWN

    def redraw(self, film: Film, question: int) -> None:
        """See `Supply`."""
        wish = Wish(question)
        self._wishes.append(wish)
        self.check()  # after the wish: who stops grants those that were left before
        self.knock()
        wish.granted.wait()
        self.check()
        if film.error is not None:
            raise film.error

    def confirm(self, film: Film, since: int) -> None:
        """See `Supply`."""
        with self._changed:
            while not self._is_final(film):
                self.check()
                self._changed.wait()
        self.check()
        if film.error is not None:
            raise film.error
        moved = self._questions.moved[since:]
        if moved and not set(moved).isdisjoint(film.frames):
            raise Moved

    @property
    def is_stopped(self) -> bool:
        """Whether the build ends."""
        return self._stopped

    def check(self) -> None:
        """Raise `Stopped` when the build ends."""
        if self._stopped:
            raise Stopped

    # --- what the thread that draws calls -----------------------------------------------------

    def tell(self) -> None:
        """Say that frames have come, a film was judged or given up."""
        with self._changed:
            self._changed.notify_all()

    def wishes(self) -> Iterator[Wish]:
        """Yield the wishes that were left, each to be granted."""
        while self._wishes:
            yield self._wishes.popleft()

    def stop(self) -> None:
        """End every wait, now and from now on."""
        self._stopped = True
        for wish in self.wishes():
            wish.granted.set()
        self.tell()
