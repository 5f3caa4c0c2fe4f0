"""`build`: render what moved, export it, and write ledger entries as build products.

The order of things: load and name inputs, ask every frame's question, look answers up, draw what
is left, judge each film against its entry, write what the table of the design allows, export,
and leave a state behind for the build that has nothing to do. Plan first, then act: nothing is
drawn or written before it is known what will be.
"""

from __future__ import annotations

import os
import random
import time
from array import array
from collections.abc import Generator, Sequence

from nfbuild.digests import SequenceDigest, shown
from nfbuild.errors import EXIT_GATE, NfbuildError, ProjectError, UsageError
from nfbuild.events import Event, Failed, Planned, Warned
from nfbuild.execute.trace import Profile
from nfbuild.ledger.book import Book, renames
from nfbuild.ledger.entry import Entry, Present
from nfbuild.ledger.runs import Runs
from nfbuild.ledger.sequence import SequenceHasher
from nfbuild.ledger.verdict import Verdict, judge
from nfbuild.ledger.write_policy import decide, recorded
from nfbuild.ops.audit import audit_reused
from nfbuild.ops.check import FaceGlyphs, findings_of
from nfbuild.ops.drawing import Drawing
from nfbuild.ops.films import Film, ask, load_film
from nfbuild.ops.graph.make import graph_of
from nfbuild.ops.graph.text import save
from nfbuild.ops.leave import leave_state
from nfbuild.ops.nothing import state_path
from nfbuild.ops.options import BuildOptions
from nfbuild.ops.products import make_products
from nfbuild.ops.questions import Questions, State
from nfbuild.ops.reasons import refine
from nfbuild.ops.recall import Recall
from nfbuild.ops.reports import (
    BuildReport,
    BuildRow,
    failure,
    identity_json,
    reason_json,
    talk_json,
)
from nfbuild.ops.session import Session
from nfbuild.ops.settling import settle
from nfbuild.ops.sharing import draw_shared
from nfbuild.ops.snapshot import keep_snapshot
from nfbuild.ops.state import forget_state
from nfbuild.ops.underway import Build
from nfbuild.project import discover, select


def build(session: Session, options: BuildOptions) -> Generator[Event, None, BuildReport]:
    """Build the compositions that `options.names` mean; yields events, returns the report."""
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
    recall = Recall(session)
    drawing = Drawing(session, run.films, run.questions, recall)
    yield from _plan(run, recall)
    if not session.settings.fresh:
        with session.measured("look up"):
            drawing.look_up()
    unknown = array("I", run.questions.numbers(State.UNKNOWN))
    yield Planned(
        compositions=len(run.films),
        frames=sum(len(film.frames) for film in run.films),
        distinct=len(run.questions),
        to_render=len(unknown),
    )
    if session.settings.fresh:
        yield from drawing.draw(unknown)
    else:
        yield from draw_shared(drawing, unknown)
    if options.audit:
        yield from _audit(run, drawing)
    yield from _judge_all(run, drawing, book)
    yield from make_products(run, drawing, recall)
    yield from settle(run, drawing)
    _count(run, drawing)
    if options.graph is not None:
        save(graph_of(session, drawing.films, run.questions, run.products), options.graph)
    if options.profile is not None:
        _write_profile(run, options.profile)
    for warning in session.take_warnings():
        run.report.warnings.append(talk_json(warning))
        yield warning
    if run.report.exit_code == 0 and not options.names and run.whole and options.use_state:
        leave_state(run, book)
    return run.report


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
    try:
        with open(path, "wb") as file:
            file.write(profile.to_json())
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}") from None
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
            yield _failed(run, film)


def _failed(run: Build, film: Film) -> Failed:
    assert film.error is not None
    failed = failure(film.error, film.name)
    film.is_reported = True
    run.report.errors.append(failed)
    return failed


def _plan(run: Build, recall: Recall) -> Generator[Event, None, None]:
    """Ask every wanted frame's question: from the composition record, or by baking."""
    for film in run.films:
        if film.error is not None:
            continue
        began = time.perf_counter()
        wanted = _wanted(run, film)
        runs = None if run.session.settings.fresh else recall.film(film)
        try:
            if runs is not None and len(wanted) == film.scene.frames:
                film.ask_again(runs, run.questions)
            else:
                with run.session.measured("bake and key", composition=film.name):
                    ask(run.session, film, run.questions, wanted)
        except NfbuildError as error:
            film.error = error
            yield _failed(run, film)
        film.seconds += time.perf_counter() - began


def _wanted(run: Build, film: Film) -> Sequence[int]:
    if run.options.span is None:
        return range(film.scene.frames)
    return run.options.span.frames(film.scene.frames, film.scene.markers)


# --- judging ----------------------------------------------------------------------------------


def _judge_all(run: Build, drawing: Drawing, book: Book) -> Generator[Event, None, None]:
    moved_in: dict[str, Present] = {}
    glyphs = FaceGlyphs()
    rows: dict[str, BuildRow] = {}
    for film in run.films:
        row = BuildRow(film.name, film.listed.path)
        run.report.rows.append(row)
        rows[film.name] = row
        if film.error is not None and film.composition is None:
            continue
        row.frames = len(film.frames)
        if film.identity is not None:
            row.identity = identity_json(film.identity.digests())
        if film.error is not None:
            if not film.is_reported:
                yield _failed(run, film)
            continue
        yield from _judge(run, drawing, book, film, row)
        edited = any(reason["part"] == "source" for reason in row.reasons)
        if row.verdict == "missing" or edited:
            yield from _findings(run, film, glyphs)
        if row.verdict == "missing" and run.whole:
            moved_in[film.listed.stem] = present_of(film, run.questions)
    if run.whole and not run.options.names:
        _follow_renames(run, book, moved_in)


def _findings(run: Build, film: Film, glyphs: FaceGlyphs) -> Generator[Event, None, None]:
    """Say what `check` finds in a composition that is new or was edited, each thing once."""
    if film.error is not None:
        return
    said = {
        (warning.code, warning.file, warning.line, warning.message) for warning in film.warnings
    }
    for found in findings_of(run.session, film, glyphs):
        if (found.code, found.file, found.line, found.message) not in said:
            warning = Warned(
                found.code, found.message, film.name, found.file, found.line, found.hint
            )
            run.report.warnings.append(talk_json(warning))
            yield warning


def _judge(
    run: Build, drawing: Drawing, book: Book, film: Film, row: BuildRow
) -> Generator[Event, None, None]:
    page = run.pages.get(film.name)
    entry = None if page is None else page.entry
    tag = run.session.toolchain.lane
    present = present_of(film, run.questions)
    row.digest = shown(present.digest)
    if not run.whole:
        row.verdict = "missing" if entry is None else "match"
        drawing.recall.remember_film(film, run.questions)
        return
    while True:
        verdict = judge(entry, tag, present)
        again = _doubtful(run, film, verdict)
        if again:
            yield from drawing.draw(again)
        else:
            decision = decide(
                verdict,
                entry,
                tag,
                film.name,
                canonical=page is None or page.canonical,
                locked=run.options.locked,
            )
            if decision.action == "untouched" and decision.locked != "write":
                break
            if not (yield from _spot_check(run, drawing, film)):
                break
        if film.error is not None:
            break
        present = present_of(film, run.questions)
        row.digest = shown(present.digest)
    if film.error is not None:
        yield _failed(run, film)
        return
    row.verdict = verdict.kind
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
        drawing.recall.remember_film(film, run.questions)
    if decision.action != "untouched":
        present = present_of(film, run.questions)
        row.written = book.write(
            film.listed.stem,
            recorded(entry, tag, present, facts={"processor": run.session.toolchain.level}),
        )
        keep_snapshot(run.session, film)


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


def _spot_check(run: Build, drawing: Drawing, film: Film) -> Generator[Event, None, bool]:
    """Draw one seeded frame afresh before an entry rests on answers of a shared tier.

    Where it disagrees, nothing that the tiers say of this film is believed: all of it is drawn.
    Returns whether an answer changed.
    """
    shared = sorted({n for n in film.frames if run.questions.state(n) is State.SHARED})
    if not shared:
        return False
    chance = random.Random(f"{run.options.seed}/spot/{film.id}")  # noqa: S311  a pinned seed is the point
    chosen = chance.choice(shared)
    said = run.questions.digest(chosen)
    yield from drawing.draw([chosen])
    if film.error is not None or run.questions.digest(chosen) == said:
        return False
    yield from drawing.draw([number for number in shared if number != chosen])
    warning = Warned(
        "cache.shared-lied",
        "a shared cache holds a wrong answer: what it says of this composition was drawn afresh",
        composition=film.name,
        file=film.listed.path,
        hint=f"`nfbuild build --recache {film.name}` replaces what is kept there",
    )
    run.report.warnings.append(talk_json(warning))
    yield warning
    return True


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


def _count(run: Build, drawing: Drawing) -> None:
    """Fill in what was rendered and what did not have to be, each distinct frame once."""
    report = run.report
    counted = bytearray(len(run.questions))
    by_name = {row.name: row for row in report.rows}
    for film in run.films:
        if film.composition is None:
            continue
        row = by_name[film.name]
        row.seconds = film.seconds
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
