"""Questions into answers: look up what is known, draw what is not, remember what was drawn.

Outcomes arrive in any order; nothing here depends on it: answers are stored by question, and
failures are reported by frame once all have come. Write order is blob (by the worker), then
records: a record never speaks of a blob that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from time import perf_counter

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import BlobDigest, FrameDigest
from nfbuild.errors import CompositionError, DrawError, NfbuildError, Place
from nfbuild.events import CacheLied, Event, FrameRendered
from nfbuild.execute.base import Died, Done, Job, Outcome, Refused
from nfbuild.ops.frames.films import Film, bake, draw_task
from nfbuild.ops.frames.probe import Probe
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.frames.stretches import Baked, cut
from nfbuild.ops.run.session import Session
from nfbuild.render.tasks import Drawn

_FLUSH = 64
_CHUNK = 2_000


@dataclass
class Drawing:
    """What a run has drawn: events for readers, failures by film, and where time went."""

    session: Session
    films: list[Film]
    questions: Questions
    recall: Recall
    png: bool = True
    sha256: bool = False
    peer: dict[int, str] = field(default_factory=dict)
    remembered: dict[int, FrameDigest] = field(default_factory=dict)
    kept: Mapping[int, BlobDigest] = field(default_factory=dict)
    """Blobs that lie in the cache for questions which are drawn to be compared, not to be kept."""
    confirmed: set[int] = field(default_factory=set)
    """Those of these questions whose drawing packs into the very blob that is kept."""
    lied: int = 0
    spent: float = 0.0
    """Seconds that workers spent on what was rendered."""

    @cached_property
    def probe(self) -> Probe:
        """What tells scenes that depend on the clock."""
        return Probe(self.session, self.films)

    @property
    def rendered(self) -> int:
        """How many distinct frames were rasterized in this run."""
        return sum(1 for _ in self.questions.numbers(State.DRAWN))

    def look_up(self, numbers: Iterable[int] | None = None, *, near: bool = False) -> None:
        """Answer from the caches what they know: of `numbers`, or of every open question.

        With `near` no tier is asked (again): what builds beside this one have drawn is here.
        """
        unknown = self.questions.numbers(State.UNKNOWN) if numbers is None else iter(numbers)
        while chunk := list(islice(unknown, _CHUNK)):
            self._look_up(chunk, near=near)

    def _look_up(self, numbers: Sequence[int], *, near: bool) -> None:
        keys = [self.questions.key(number) for number in numbers]
        found = self.recall.find_own(keys) if near else self.recall.find_frames(keys)
        for number, key in zip(numbers, keys, strict=True):
            hit = found.get(key)
            if hit is None:
                continue
            if hit.drawable:
                state = State.SHARED if hit.shared else State.CACHED
                self.questions.answer(number, hit.digest, state)
            elif not hit.shared:
                # The blob is gone, the memory of what was true is not: compare when drawn again.
                self.remembered[number] = hit.digest

    def draw(
        self, numbers: Iterable[int], kept: Callable[[Sequence[int]], None] | None = None
    ) -> Generator[Event, None, None]:
        """Draw the questions `numbers` afresh; a frame that cannot be drawn fails its films.

        `kept` is told of the questions whose answers have just been recorded.
        """
        refused: dict[int, NfbuildError] = {}
        pending: list[tuple[int, Drawn]] = []
        for outcome in self.session.perform(self._jobs(numbers, refused)):
            number = outcome.position
            if not isinstance(outcome, Done):
                refused[number] = self._error(outcome)
                continue
            drawn: Drawn = outcome.value
            self._note(number, outcome, drawn)
            pending.append((number, drawn))
            yield from self._answer(number, drawn)
            if len(pending) >= _FLUSH:
                self._remember(pending, kept)
                pending = []
        self._remember(pending, kept)
        self._fail(refused)

    def draw_frames(
        self, frames: Sequence[tuple[int, int]], found: dict[tuple[int, int], FrameDigest]
    ) -> Generator[Event, None, None]:
        """Draw (film, frame number) pairs whatever is known of them; `found` gets the digests.

        Nothing is remembered: this is for comparing two drawings under one key.
        """
        failed: dict[int, NfbuildError] = {}
        for outcome in self.session.perform(self._frame_jobs(frames, failed)):
            index, frame = frames[outcome.position]
            if isinstance(outcome, Done):
                found[index, frame] = outcome.value.digest
                key = self.questions.key(self._number(index, frame))
                yield FrameRendered(self.films[index].name, frame, key, outcome.value.digest)
            else:
                failed[outcome.position] = self._error(outcome)
        for position in sorted(failed):
            index, frame = frames[position]
            film = self.films[index]
            film.error = film.error or _placed(failed[position], film, frame)

    def _number(self, index: int, frame: int) -> int:
        film = self.films[index]
        return film.frames[film.at(frame)]

    def _frame_jobs(
        self, frames: Sequence[tuple[int, int]], failed: dict[int, NfbuildError]
    ) -> Iterator[Job]:
        for position, (index, frame) in enumerate(frames):
            film = self.films[index]
            try:
                baked = bake(self.session, film, frame)
                yield Job(position, draw_task(self.session, film, baked, png=False), film.name)
            except CompositionError as error:
                failed[position] = error

    def draw_pictures(self, numbers: Iterable[int]) -> Generator[Event, None, None]:
        """Draw questions again for their pixels, which the cache keeps: to look at them."""
        png, self.png = self.png, True
        try:
            yield from self.draw(sorted(numbers))
        finally:
            self.png = png

    def _jobs(self, numbers: Iterable[int], refused: dict[int, NfbuildError]) -> Iterator[Job]:
        frames = self._baked(numbers, refused)
        cuts = (
            cut(frames) if self.session.settings.keep_rasters else ((one, None) for one in frames)
        )
        for one, split in cuts:
            try:
                task = draw_task(
                    self.session,
                    one.film,
                    one.frame,
                    split=split,
                    on_ground=split is None and self.session.settings.on_ground,
                    png=self.png or one.question in self.kept,
                    keep=self.png,
                    sha256=self.sha256,
                )
            except CompositionError as error:
                refused[one.question] = error
                continue
            yield Job(one.question, task, one.film.name)

    def _baked(self, numbers: Iterable[int], refused: dict[int, NfbuildError]) -> Iterator[Baked]:
        for number in numbers:
            index, frame = self.questions.asker(number)
            film = self.films[index]
            began = perf_counter()
            try:
                baked = bake(self.session, film, frame)
            except CompositionError as error:
                refused[number] = error
                continue
            film.seconds += perf_counter() - began
            fault = self.probe.fault(film, baked)
            if fault is not None:
                refused[number] = fault
                continue
            yield Baked(number, film, baked)

    def _answer(self, number: int, drawn: Drawn) -> Iterator[Event]:
        index, frame = self.questions.asker(number)
        film = self.films[index]
        key = self.questions.key(number)
        before = self._before(number)
        if drawn.blob is not None and drawn.blob == self.kept.get(number):
            self.confirmed.add(number)
        if drawn.blob is not None and self.png:
            # Before the answer: whoever sees that may ask for the picture at once.
            self.recall.place(drawn.digest, drawn.blob, drawn.size)
        self.questions.answer(number, drawn.digest, State.DRAWN)
        if drawn.sha256 is not None:
            self.peer[number] = drawn.sha256
        spent = sum(stage.duration for stage in drawn.stages) / 1e9
        film.seconds += spent
        self.spent += spent
        yield FrameRendered(film.name, frame, key, drawn.digest)
        if before is not None and before != drawn.digest:
            self.lied += 1
            yield CacheLied(film.name, frame, key, before, drawn.digest)

    def _note(self, number: int, outcome: Done, drawn: Drawn) -> None:
        if self.session.profile is None or outcome.timing is None:
            return
        index, frame = self.questions.asker(number)
        name = f"{self.films[index].name} {frame}"
        self.session.profile.add_job(name, outcome.timing, drawn.stages)

    def _before(self, number: int) -> FrameDigest | None:
        if self.questions.state(number) in (State.CACHED, State.SHARED):
            return self.questions.digest(number)
        return self.remembered.get(number)

    def _remember(
        self,
        drawn: Sequence[tuple[int, Drawn]],
        kept: Callable[[Sequence[int]], None] | None,
    ) -> None:
        self.recall.remember_frames(
            [
                (
                    self.questions.key(number),
                    answer.digest,
                    answer.blob if self.png else None,
                    answer.size,
                )
                for number, answer in drawn
            ]
        )
        if kept is not None:
            kept([number for number, _ in drawn])

    def _fail(self, refused: dict[int, NfbuildError]) -> None:
        """Give up every film that asked a question without an answer, by its first such frame."""
        for number in refused:
            self.questions.fail(number)
        if not refused:
            return
        for film in self.films:
            if film.error is None:
                for frame, number in enumerate(film.frames):
                    if number in refused:
                        film.error = _placed(refused[number], film, frame)
                        break

    def _error(self, outcome: Outcome) -> NfbuildError:
        if isinstance(outcome, (Refused, Died)):
            return outcome.error
        return DrawError(
            "it was not tried: too many frames of this composition ended their worker",
            code="draw-skipped",
        )


def _placed(error: NfbuildError, film: Film, frame: int) -> NfbuildError:
    """Return the error with the frame's number and time; a place of its own stays."""
    seconds = float(film.scene.time(frame))
    return type(error)(
        f"frame {frame} ({seconds:.3f} s): {error.message}",
        place=error.place or Place(film.listed.path),
        hint=error.hint,
        code=error.code,
    )
