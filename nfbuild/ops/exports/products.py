"""Which exports a build owes: each resolved against its film before anything is drawn.

An export at another raster than the build's has a film of its own, drawn along with the others.
Not here: making them (`exporting`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from fractions import Fraction
from typing import get_args

from nfbuild.dataclasses import replace
from nfbuild.errors import MediaError, NfbuildError, Place, ProjectError, UsageError
from nfbuild.events import Event, Failed
from nfbuild.execute.base import Job
from nfbuild.export.base import Audio
from nfbuild.export.plan import ExportPlan, Subject, default_export, resolve
from nfbuild.ops.exports.exporting import Order
from nfbuild.ops.frames.audit import lie_about, shown_by_blobs
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, load_film
from nfbuild.ops.frames.questions import State
from nfbuild.ops.frames.underway import Build
from nfbuild.ops.run.reports import failure
from nfbuild.ops.run.session import Session
from nfbuild.project.select import matches
from nfbuild.project.targets import targets
from nfbuild.project.values import Export, Format


class Owed:
    """The exports that a build owes, and the films at other rasters that they need.

    `scaled` are these films, to be asked for and drawn with the build's own.
    """

    def __init__(self, run: Build) -> None:
        self.scaled: list[Film] = []
        self._run = run
        self._orders: list[Order] = []
        self._targets: set[str] = set()
        self._at_scale: dict[tuple[int, Fraction], Film] = {}

    def resolve(self) -> Generator[Failed, None, None]:
        """Resolve every export of the loaded films; one that cannot be made hides no other."""
        run = self._run
        for kind in run.options.export:
            if kind not in get_args(Format):
                raise _unknown(kind)
        targets(run.session.project, [film.name for film in run.films])
        for film in run.films:
            if film.error is not None:
                continue
            for owed in self._exports(film):
                try:
                    self._take(self._order(film, owed))
                except NfbuildError as error:
                    failed = failure(error, film.name)
                    run.report.errors.append(failed)
                    yield failed

    def orders(self) -> list[Order]:
        """Return what can be made: exports of films that can be drawn so far as is known."""
        run = self._run
        return [o for o in self._orders if o.film.error is None or not run.lists(o.film)]

    def _take(self, order: Order) -> None:
        # What the command line asks for may be what the project makes anyway.
        if order.plan.target not in self._targets:
            self._targets.add(order.plan.target)
            self._orders.append(order)

    def _exports(self, film: Film) -> Iterator[Export]:
        options = self._run.options
        if options.scale == 1 and options.span is None:
            # At another scale, or of some frames to look at, nothing is a product of the project.
            yield from listed_exports(self._run.session, film)
        for kind in get_args(Format):
            if kind in options.export:
                yield _asked(self._run, film, kind)

    def _order(self, film: Film, owed: Export) -> Order:
        run = self._run
        plan = plan_of(run.session, film, owed)
        audio = audio_of(run.session, plan)
        if audio is not None:
            run.watched.append(audio.path)
        for note in plan.notes:
            run.report.notes.append(f"{plan.place}: {note}")
        if (plan.width, plan.height) != (film.width, film.height):
            film = self._film_at(film, plan.scale)
        return Order(film, plan, audio)

    def _film_at(self, film: Film, scale: Fraction) -> Film:
        known = self._at_scale.get((film.index, scale))
        if known is None:
            index = len(self._run.films) + len(self.scaled)
            known = load_film(self._run.session, index, film.listed, scale)
            if known.error is not None:
                raise known.error
            self._at_scale[film.index, scale] = known
            self.scaled.append(known)
        return known


def listed_exports(session: Session, film: Film) -> Iterator[Export]:
    """Yield the exports of `nfbuild.toml` that are made of a film."""
    for listed in session.project.exports:
        if matches(listed.composition, film.name):
            yield listed


def plan_of(session: Session, film: Film, owed: Export) -> ExportPlan:
    """Return what an export means for a film; raises ProjectError."""
    return resolve(owed, _subject(film), session.project.root)


def audio_of(session: Session, plan: ExportPlan) -> Audio | None:
    """Return the sound that a plan names, read; raises ProjectError."""
    if plan.audio is None:
        return None
    try:
        file = session.files.read(plan.audio, place=plan.place)
    except MediaError as error:
        raise ProjectError(
            error.message, place=plan.place, hint=error.hint, code="project.export"
        ) from None
    return Audio(session.files.absolute(plan.audio), file.digest)


def _asked(run: Build, film: Film, kind: Format) -> Export:
    """Return the export that `--export` asks for, of the frames and at the scale of the build."""
    export = default_export(kind, Place("--export"))
    scale, span = run.options.scale, run.options.span
    if span is not None:
        frames = span.frames(film.scene.frames, film.scene.markers)
        export = replace(export, frames=(frames[0], frames[-1]))
    return export if scale == 1 else replace(export, scale=scale)


def _unknown(kind: str) -> UsageError:
    return UsageError(
        f"`{kind}` is no export format", hint=f"the formats are {', '.join(get_args(Format))}"
    )


def _subject(film: Film) -> Subject:
    scene = film.scene
    return Subject(
        name=film.name,
        width=scene.width,
        height=scene.height,
        rate=scene.rate,
        count=scene.frames,
        markers=scene.markers,
    )


def look_at_told(run: Build, drawing: Drawing, orders: list[Order]) -> Generator[Event, None, None]:
    """See with our own eyes the blobs that exports need and that only a tier vouches for.

    What shows other pixels than it should is drawn again.
    """
    recall, questions = drawing.recall, run.questions
    doubted: dict[int, Job] = {}
    for order in orders:
        for number in order.film.frames:
            if number not in doubted and questions.state(number) in (State.CACHED, State.SHARED):
                digest = questions.digest(number)
                if recall.is_unchecked(digest):
                    doubted[number] = Job(number, digest)
    shown = shown_by_blobs(run.session, drawing, list(doubted.values()))
    lies = [number for number, digest in shown.items() if digest != questions.digest(number)]
    told = frozenset(lies)
    recall.vouch(questions.digest(number) for number in shown if number not in told)
    for number in lies:
        recall.distrust(questions.digest(number))
        drawing.lied += 1
        yield lie_about(drawing.films, questions, number, shown[number])
    if lies:
        yield from drawing.draw(lies)
