"""Exports as build products: which ones a build owes, and bringing each up to date.

Frames that an export needs and whose blob is gone or damaged are drawn again first. An export at
another scale than the build's has its own questions.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import get_args

from nfbuild.digests import derive
from nfbuild.errors import MediaError, NfbuildError, Place, ProjectError, UsageError
from nfbuild.events import Event, Exported, Planned
from nfbuild.execute.base import Job
from nfbuild.export.base import Audio
from nfbuild.export.make import export
from nfbuild.export.plan import ExportPlan, Subject, default_export, resolve
from nfbuild.ops.audit import lie_about, shown_by_blobs
from nfbuild.ops.drawing import Drawing
from nfbuild.ops.films import Film, ask, load_film
from nfbuild.ops.questions import State
from nfbuild.ops.recall import Recall
from nfbuild.ops.reports import failure
from nfbuild.ops.session import Session
from nfbuild.ops.source import FilmSource
from nfbuild.ops.underway import Build, Product
from nfbuild.project.select import matches
from nfbuild.project.values import Export, Format

_STATE_CONTEXT = "nfbuild 2026 export state name v1"


def make_products(run: Build, drawing: Drawing, recall: Recall) -> Generator[Event, None, None]:
    """Bring every export of the built films up to date; one that fails hides no other."""
    if run.options.span is not None and not run.options.export:
        # A range selects frames to look at; a film of some frames is no product.
        return
    for film in [film for film in run.films if film.error is None]:
        for owed in _owed(run, film):
            try:
                plan = plan_of(run.session, film, owed)
                yield from _make(run, drawing, recall, film, plan)
            except NfbuildError as error:
                failed = failure(error, film.name)
                run.report.errors.append(failed)
                yield failed


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


def _owed(run: Build, film: Film) -> Iterator[Export]:
    if run.options.scale == 1:
        yield from listed_exports(run.session, film)
    for kind in run.options.export:
        yield _asked(kind)


def _asked(kind: str) -> Export:
    for known in get_args(Format):
        if kind == known:
            return default_export(known, Place("--export"))
    raise UsageError(
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


def _make(
    run: Build, drawing: Drawing, recall: Recall, film: Film, plan: ExportPlan
) -> Generator[Event, None, None]:
    for note in plan.notes:
        run.report.notes.append(f"{plan.place}: {note}")
    if (plan.width, plan.height) != (film.width, film.height):
        film = yield from _at_scale(run, drawing, film, plan)
    yield from _present_blobs(run, drawing, recall, film)
    if film.error is not None:
        raise film.error
    again: list[Event] = []

    def redraw(number: int) -> None:
        again.extend(drawing.draw([number]))

    source = FilmSource(film, run.questions, recall, redraw)
    audio = audio_of(run.session, plan)
    if audio is not None:
        run.watched.append(audio.path)
    try:
        made = export(plan, source, _state_path(run, plan), audio=audio)
    finally:
        yield from again
    run.products.append(Product(plan.folder, plan.name, made.fingerprint, plan, film, audio))
    for name in made.left:
        run.report.notes.append(
            f"`{_shown(run, plan)}`: `{name}` is not nfbuild's and was left alone"
        )
    yield Exported(film.name, _shown(run, plan), made.written, made.removed, made.kept)


def _at_scale(
    run: Build, drawing: Drawing, film: Film, plan: ExportPlan
) -> Generator[Event, None, Film]:
    scaled = load_film(run.session, len(drawing.films), film.listed, plan.scale)
    if scaled.error is not None:
        raise scaled.error
    drawing.films.append(scaled)
    ask(run.session, scaled, run.questions, range(scaled.scene.frames))
    if not run.session.settings.fresh:
        drawing.look_up()
    unknown = [n for n in scaled.frames if run.questions.state(n) is State.UNKNOWN]
    unknown = list(dict.fromkeys(unknown))
    yield Planned(1, len(scaled.frames), len(set(scaled.frames)), len(unknown))
    yield from drawing.draw(unknown)
    if scaled.error is not None:
        raise scaled.error
    return scaled


def _present_blobs(
    run: Build, drawing: Drawing, recall: Recall, film: Film
) -> Generator[Event, None, None]:
    """Draw again what is known but whose pixels are gone, damaged, or not what a tier said."""
    digests = {number: run.questions.digest(number) for number in dict.fromkeys(film.frames)}
    absent = [number for number, digest in digests.items() if recall.png_path(digest) is None]
    doubted = [
        Job(number, digest) for number, digest in digests.items() if recall.is_unchecked(digest)
    ]
    shown = shown_by_blobs(run.session, drawing, doubted)
    lies = [number for number, digest in shown.items() if digest != digests[number]]
    recall.vouch(digests[number] for number in shown if number not in lies)
    for number in lies:
        recall.distrust(digests[number])
        drawing.lied += 1
        yield lie_about(drawing.films, run.questions, number, shown[number])
    if absent or lies:
        yield from drawing.draw(sorted({*absent, *lies}))


def _state_path(run: Build, plan: ExportPlan) -> str:
    name = derive(_STATE_CONTEXT, os.path.realpath(plan.folder), plan.name)
    return os.path.join(run.session.project.cache.folder, "exports", f"{name[:32]}.json")


def _shown(run: Build, plan: ExportPlan) -> str:
    return run.session.project.relative(plan.target)
