"""Judging what was drawn: each film against its entry, in order, as soon as its frames are there.

The order in which films are judged, and so everything that is said of them, is the order in which
they are listed, however frames arrive. Judging goes on beside drawing: a film is judged between
two frames of a later one.

Not here: what a verdict is (`ledger.verdict`) and what it may write (`ledger.write_policy`).
"""

from __future__ import annotations

import random
from collections.abc import Generator

from nfbuild.digests import SequenceDigest, shown
from nfbuild.errors import EXIT_GATE
from nfbuild.events import Event, Warned
from nfbuild.ledger.book import Book, renames
from nfbuild.ledger.entry import Entry, Present
from nfbuild.ledger.runs import Runs
from nfbuild.ledger.sequence import SequenceHasher
from nfbuild.ledger.verdict import Verdict, judge
from nfbuild.ledger.write_policy import Decision, decide, recorded
from nfbuild.ops.causes.reasons import refine
from nfbuild.ops.causes.snapshot import keep_snapshot
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.findings import FaceGlyphs, findings_of
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.underway import Build
from nfbuild.ops.run.reports import BuildRow, identity_json, reason_json, talk_json

_LONG = 8_000
"""Frames of a film that takes more memory to judge than a table's pages are worth."""


class Judging:
    """Judges the films of a build, each once; `judged` says how many of them are."""

    def __init__(self, run: Build, drawing: Drawing, book: Book) -> None:
        self.judged = 0
        self._run = run
        self._drawing = drawing
        self._book = book
        self._glyphs = FaceGlyphs()
        self._missing: dict[str, Present] = {}
        self._answered = 0
        """How many of the next film's frames are known to be answered."""

    def is_final(self, film: Film) -> bool:
        """Tell whether the answers of a film will not move any more."""
        return film.index < self.judged or not self._run.lists(film)

    def ready(self) -> Generator[Event, None, None]:
        """Judge the next films as far as all their frames are answered."""
        while self.judged < len(self._run.films) and self._is_answered(
            self._run.films[self.judged]
        ):
            yield from self._next()

    def rest(self) -> Generator[Event, None, None]:
        """Judge all films that are left, and follow compositions that were renamed."""
        while self.judged < len(self._run.films):
            yield from self._next()
        if self._run.whole and not self._run.options.names:
            _follow_renames(self._run, self._book, self._missing)

    def _is_answered(self, film: Film) -> bool:
        if film.error is not None:
            return True
        questions = self._run.questions
        while self._answered < len(film.frames):
            if questions.state(film.frames[self._answered]) in (State.UNKNOWN, State.FAILED):
                return False
            self._answered += 1
        return True

    def _next(self) -> Generator[Event, None, None]:
        film = self._run.films[self.judged]
        row = BuildRow(film.name, film.listed.path)
        self._run.report.rows.append(row)
        yield from self._film(film, row)
        self.judged += 1
        self._answered = 0

    def _film(self, film: Film, row: BuildRow) -> Generator[Event, None, None]:
        run = self._run
        if film.composition is None:
            return
        row.frames = len(film.frames)
        if row.frames > _LONG:
            # Its frames are looked up or put by now: what that took is room to judge them in.
            run.session.caches.local.rest()
        if film.identity is not None:
            row.identity = identity_json(film.identity.digests())
        if film.error is not None:
            if not film.is_reported:
                yield run.fail(film)
            return
        yield from self._verdict(film, row)
        edited = any(reason["part"] == "source" for reason in row.reasons)
        if row.verdict == "missing" or edited:
            yield from self._findings(film)

    def _findings(self, film: Film) -> Generator[Event, None, None]:
        """Say what `check` finds in a composition that is new or was edited, each thing once."""
        if film.error is not None:
            return
        said = {
            (warning.code, warning.file, warning.line, warning.message) for warning in film.warnings
        }
        for found in findings_of(self._run.session, film, self._glyphs):
            if (found.code, found.file, found.line, found.message) not in said:
                warning = Warned(
                    found.code, found.message, film.name, found.file, found.line, found.hint
                )
                self._run.report.warnings.append(talk_json(warning))
                yield warning

    def _verdict(self, film: Film, row: BuildRow) -> Generator[Event, None, None]:
        run = self._run
        page = run.pages.get(film.name)
        entry = None if page is None else page.entry
        if not run.whole:
            row.digest = shown(present_of(film, run.questions).digest)
            row.verdict = "missing" if entry is None else "match"
            self._drawing.recall.remember_film(film, run.questions)
            return
        verdict, decision, present = yield from self._settled(film)
        if film.error is not None:
            yield run.fail(film)
            return
        row.digest = shown(present.digest)
        row.verdict = verdict.kind
        tag = run.session.toolchain.lane
        lane = None if entry is None else entry.lanes.get(verdict.lane or tag)
        reasons, _ = refine(run.session, film, lane, verdict.reasons)
        row.reasons = [reason_json(reason) for reason in reasons]
        row.moved = list(verdict.moved or verdict.regressed)
        if decision.exit_code == EXIT_GATE:
            run.report.exits.add(EXIT_GATE)
        if decision.hint and verdict.kind != "match":
            row.note = f"hint: {decision.hint}"
        if verdict.kind != "regression":
            # What a regression drew does not take the place of the frames that were recorded.
            self._drawing.recall.remember_film(film, run.questions)
        if decision.action != "untouched":
            facts = {"processor": run.session.toolchain.level}
            row.written = self._book.write(
                film.listed.stem, recorded(entry, tag, present, facts=facts)
            )
            keep_snapshot(run.session, film)
        if verdict.kind == "missing":
            self._missing[film.listed.stem] = present

    def _settled(self, film: Film) -> Generator[Event, None, tuple[Verdict, Decision, Present]]:
        """Judge until nothing that the verdict rests on is doubtful any more."""
        run = self._run
        page = run.pages.get(film.name)
        entry = None if page is None else page.entry
        tag = run.session.toolchain.lane
        while True:
            present = present_of(film, run.questions)
            verdict = judge(entry, tag, present)
            decision = decide(
                verdict,
                entry,
                tag,
                film.name,
                canonical=page is None or page.canonical,
                locked=run.options.locked,
            )
            if again := _doubtful(run, film, verdict):
                yield from self._drawing.draw(again)
            elif not _rests(decision) or not (yield from self._spot_check(film)):
                return verdict, decision, present
            if film.error is not None:
                return verdict, decision, present

    def _spot_check(self, film: Film) -> Generator[Event, None, bool]:
        """Draw one seeded frame afresh before an entry rests on answers of a shared tier.

        Where it disagrees, nothing that the tiers say of this film is believed: all of it is drawn.
        Returns whether an answer changed.
        """
        run = self._run
        shared = sorted({n for n in film.frames if run.questions.state(n) is State.SHARED})
        if not shared:
            return False
        chance = random.Random(f"{run.options.seed}/spot/{film.id}")  # noqa: S311  a pinned seed is the point
        chosen = chance.choice(shared)
        said = run.questions.digest(chosen)
        yield from self._drawing.draw([chosen])
        if film.error is not None or run.questions.digest(chosen) == said:
            return False
        yield from self._drawing.draw([number for number in shared if number != chosen])
        warning = Warned(
            "cache.shared-lied",
            "a shared cache holds a wrong answer: what it says of this composition was drawn "
            "afresh",
            composition=film.name,
            file=film.listed.path,
            hint=f"`nfbuild build --recache {film.name}` replaces what is kept there",
        )
        run.report.warnings.append(talk_json(warning))
        yield warning
        return True


def present_of(film: Film, questions: Questions) -> Present:
    """Return a film as it is known now; every question of it must be answered."""
    scene = film.scene
    assert film.identity is not None
    hasher = SequenceHasher(film.width, film.height, scene.rate, len(film.frames))
    for number in film.frames:
        hasher.add(questions.digest(number))
    return Present(
        identity=film.identity,
        width=film.width,
        height=film.height,
        rate=scene.rate,
        digest=SequenceDigest(hasher.digest()),
        runs=Runs.of((questions.scene(n), questions.digest(n)) for n in film.frames),
    )


def _rests(decision: Decision) -> bool:
    """Tell whether an entry is to be written, now or where the ledger is not locked."""
    return decision.action != "untouched" or decision.locked == "write"


def _doubtful(run: Build, film: Film, verdict: Verdict) -> list[int]:
    """Return the questions to draw afresh before this verdict is said.

    An alarm must not rest on a cache: every frame that differs and was not drawn in this run.
    """
    if verdict.kind != "regression" and not verdict.redrawn:
        return []
    numbers: dict[int, None] = {}
    for first, last in (*verdict.moved, *verdict.redrawn, *verdict.unsound):
        for frame in range(first, min(last + 1, len(film.frames))):
            number = film.frames[frame]
            if run.questions.state(number) in (State.CACHED, State.SHARED):
                numbers[number] = None
    return list(numbers)


def _follow_renames(run: Build, book: Book, missing: dict[str, Present]) -> None:
    """Let entries of compositions that were renamed go: the new entries say the same."""
    if run.options.locked or not missing:
        return
    stems = [listed.stem for listed in run.discovery.compositions]
    orphaned: dict[str, Entry] = {}
    for stem in book.prunable(book.shelf(stems).orphaned):
        page = book.read(stem)
        if page is not None:
            orphaned[stem] = page.entry
    for rename in renames(orphaned, missing):
        entry = orphaned[rename.before]
        page = book.read(rename.after)
        if page is not None:
            merged = {**entry.lanes, **page.entry.lanes}
            renamed = Entry(page.entry.source, page.entry.media, page.entry.fonts, merged)
            book.write(rename.after, renamed.without_other_films())
        book.remove(rename.before)
        run.report.notes.append(f"`{rename.before}` was renamed: its entry is now `{rename.after}`")
