"""`build`: render what moved, export it, and write ledger entries as build products.

The order of things: load and name inputs, ask every frame's question, look answers up, draw what
is left, judge each film against its entry, write what the table of the design allows, export,
and leave a state behind for the build that has nothing to do. Plan first, then act: nothing is
drawn or written before it is known what will be.
"""

from __future__ import annotations

import contextlib
import os
import time
from array import array
from collections.abc import Generator, Sequence
from functools import partial

from nfbuild.errors import EXIT_GATE, NfbuildError, ProjectError
from nfbuild.events import Event, Planned, Warned
from nfbuild.execute.trace import Profile
from nfbuild.ledger.book import Book
from nfbuild.ops.caches.settling import settle
from nfbuild.ops.exports.exporting import Exporting
from nfbuild.ops.exports.products import Owed, look_at_told
from nfbuild.ops.frames.audit import audit_reused
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.frames.sharing import draw_shared
from nfbuild.ops.frames.underway import Build
from nfbuild.ops.gate.judging import Judging
from nfbuild.ops.leave import leave_state
from nfbuild.ops.nothing import state_path
from nfbuild.ops.run.options import BuildOptions
from nfbuild.ops.run.outputs import check_output, write_output
from nfbuild.ops.run.reports import BuildReport, talk_json
from nfbuild.ops.run.session import Session
from nfbuild.ops.run.state import forget_state
from nfbuild.project import discover, select


def build(session: Session, options: BuildOptions) -> Generator[Event, None, BuildReport]:
    """Build the compositions that `options.names` mean; yields events, returns the report."""
    for path in (options.graph, options.profile):
        check_output(path)
    session.note_start()
    if options.profile is not None:
        session.profile = Profile()
    discovery = discover(session.project)
    listed = select(session.project, discovery.compositions, options.names, options.start)
    run = Build(session, options, discovery, listed, BuildReport())
    forget_state(state_path(session.project.cache.folder, session.project.root))
    book = Book(session.project.ledger_folder, session.project.ledger)
    yield from _discovered(run)
    if listed and not _may_be_fetched(session):
        # Workers get warm while compositions are read: most builds that get here draw something.
        session.executor.start()
    yield from _load(run, book)
    owed = Owed(run)
    yield from owed.resolve()
    recall = Recall(session)
    drawing = Drawing(session, [*run.films, *owed.scaled], run.questions, recall)
    yield from _plan(run, drawing)
    if not session.settings.fresh:
        with session.measured("look up"):
            drawing.look_up()
    yield from _draw_and_make(run, drawing, book, owed)
    yield from settle(run, drawing)
    _count(run, drawing)
    if options.graph is not None:
        from nfbuild.ops.graph.make import graph_of  # noqa: PLC0415  few builds write it
        from nfbuild.ops.graph.text import save  # noqa: PLC0415  as above

        save(graph_of(session, drawing.films, run.questions, run.products), options.graph)
    if options.profile is not None:
        _write_profile(run, options.profile)
    for warning in session.take_warnings():
        run.report.warnings.append(talk_json(warning))
        yield warning
    if run.report.exit_code == 0 and not options.names and run.whole and options.use_state:
        leave_state(run, book)
    return run.report


def _draw_and_make(
    run: Build, drawing: Drawing, book: Book, owed: Owed
) -> Generator[Event, None, None]:
    """Draw what is not known; judge and export every film as soon as its frames are there."""
    session = run.session
    unknown = array("I", run.questions.numbers(State.UNKNOWN))
    yield Planned(
        compositions=len(run.films),
        frames=sum(len(film.frames) for film in drawing.films),
        distinct=len(run.questions),
        to_render=len(unknown),
    )
    judging = Judging(run, drawing, book)
    orders = owed.orders()
    yield from look_at_told(run, drawing, orders)
    with contextlib.closing(Exporting(run, drawing, orders, judging.is_final)) as exporting:
        exporting.start(session.cores)
        draw = drawing.draw if session.settings.fresh else partial(draw_shared, drawing)
        for event in exporting.beside(draw(unknown)):
            yield event
            if not run.options.audit:
                yield from judging.ready()
        if run.options.audit:
            yield from _audit(run, drawing)
        session.retire()
        yield from judging.rest()
        yield from exporting.finish()


def _may_be_fetched(session: Session) -> bool:
    """Tell whether a cold cache stands in front of shared tiers: there may be nothing to draw."""
    cold = not os.path.isdir(os.path.join(session.project.cache.folder, "blobs"))
    return cold and bool(session.project.cache.shared) and not session.settings.fresh


def _write_profile(run: Build, path: str) -> None:
    """Write the Chrome trace, and say in one line where time went."""
    profile = run.session.profile
    assert profile is not None
    for timing in getattr(run.session.executor, "warmings", ()):
        profile.add_warming(timing)
    write_output(path, [profile.to_json()])
    stages = sorted(profile.by_stage().items(), key=lambda stage: -stage[1])
    times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in stages if " " not in name)
    run.report.notes.append(f"time by stage, over all workers: {times}")


def _audit(run: Build, drawing: Drawing) -> Generator[Event, None, None]:
    """Draw a share of what was reused afresh; a cache that lied fails the build."""
    audit = yield from audit_reused(run.session, drawing, run.options.audit, run.options.seed)
    run.report.extra["audit"] = audit.to_json()
    found = "all as kept" if not audit.lied else f"the cache lied about {audit.lied}"
    run.report.notes.append(f"audited {audit.frames:,} of {audit.reused:,} reused frames: {found}")
    if audit.lied:
        run.report.exits.add(EXIT_GATE)


def _discovered(run: Build) -> Generator[Event, None, None]:
    if not run.listed:
        warning = Warned(
            "project.empty",
            "the project lists no composition",
            file=run.session.project.config,
            hint="put one into `compositions/`, or name where they are in `[project]`",
        )
        run.report.warnings.append(talk_json(warning))
        yield warning
    for clash in run.discovery.clashes:
        warning = Warned(
            "project.case",
            f"`{clash.first}` and `{clash.second}` differ only in case",
            file=clash.second,
            hint="other systems have room for one of them",
        )
        run.report.warnings.append(talk_json(warning))
        yield warning


def _load(run: Build, book: Book) -> Generator[Event, None, None]:
    for index, listed in enumerate(run.listed):
        began = time.perf_counter()
        with run.session.measured("parse", composition=listed.name):
            film = load_film(run.session, index, listed, run.options.scale)
        film.seconds += time.perf_counter() - began
        run.films.append(film)
        for warning in film.warnings:
            run.report.warnings.append(talk_json(warning))
            yield warning
        if film.error is None:
            try:
                run.pages[film.name] = book.read(listed.stem, listed.name)
            except ProjectError as error:
                # An entry that cannot be read is written anew: the hint says to build, so build.
                if error.code != "ledger.conflict":
                    film.error = error
                else:
                    run.pages[film.name] = None
        if film.error is not None:
            yield run.fail(film)


def _plan(run: Build, drawing: Drawing) -> Generator[Event, None, None]:
    """Ask every wanted frame's question: from the composition record, or by baking."""
    for film in drawing.films:
        if film.error is not None:
            continue
        began = time.perf_counter()
        wanted = _wanted(run, film)
        runs = None if run.session.settings.fresh else drawing.recall.film(film)
        try:
            if runs is not None and len(wanted) == film.scene.frames:
                film.ask_again(runs, run.questions)
            else:
                with run.session.measured("bake and key", composition=film.name):
                    ask(run.session, film, run.questions, wanted)
        except NfbuildError as error:
            film.error = error
            if run.lists(film):
                yield run.fail(film)
        film.seconds += time.perf_counter() - began


def _wanted(run: Build, film: Film) -> Sequence[int]:
    if run.options.span is None or not run.lists(film):
        return range(film.scene.frames)
    return run.options.span.frames(film.scene.frames, film.scene.markers)


def _count(run: Build, drawing: Drawing) -> None:
    """Fill in what was rendered and what did not have to be, each distinct frame once."""
    report = run.report
    counted = bytearray(len(run.questions))
    by_name = {row.name: row for row in report.rows}
    for film in drawing.films:
        if film.composition is None:
            continue
        row = by_name[film.name]
        row.seconds += film.seconds
        for number in set(film.frames):
            state = run.questions.state(number)
            if state in (State.FAILED, State.UNKNOWN):
                continue
            row.distinct += 1
            if state is State.DRAWN and not counted[number]:
                counted[number] = 1
                row.rendered += 1
        row.reused = row.distinct - row.rendered
        report.frames += row.frames
    report.distinct = sum(1 for n in run.questions.numbers(State.CACHED, State.SHARED, State.DRAWN))
    report.rendered = drawing.rendered
    report.reused = report.distinct - report.rendered
    report.cache_lied = drawing.lied
    report.seconds = time.perf_counter() - run.session.started
