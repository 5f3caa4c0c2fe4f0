"""`status`: what `build` would do and why; writes nothing at all.

It loads, names inputs, bakes and looks records up, and stops where `build` would draw. Measuring
and decoding that a bake needs is done when it is not kept, and what it finds is thrown away.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fractions import Fraction

from nfbuild.errors import NfbuildError, ProjectError
from nfbuild.events import Event
from nfbuild.identity.manifest import Reason
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import Entry, reasons_since
from nfbuild.ops.causes.reasons import refine
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.run.reports import StatusReport, StatusRow, failure, reason_json, talk_json
from nfbuild.ops.run.session import Session
from nfbuild.project import discover, select


def status(
    session: Session, names: Sequence[str], start: str
) -> Generator[Event, None, StatusReport]:
    """Return what a build of `names` would do; yields warnings and failures."""
    discovery = discover(session.project)
    listed = select(session.project, discovery.compositions, names, start)
    book = Book(session.project.ledger_folder, session.project.ledger)
    recall = Recall(session)
    report = StatusReport()
    for index, one in enumerate(listed):
        questions = Questions()
        film = load_film(session, index, one, Fraction(1))
        for warning in film.warnings:
            report.warnings.append(talk_json(warning))
            yield warning
        row = StatusRow(one.name)
        report.rows.append(row)
        try:
            if film.error is not None:
                raise film.error
            _look(session, film, questions, recall)
            entry = _entry(book, film)
        except NfbuildError as error:
            row.up_to_date = False
            report.errors.append(failure(error, one.name))
            yield report.errors[-1]
            continue
        row.frames = film.scene.frames
        row.to_render = sum(1 for _ in questions.numbers(State.UNKNOWN))
        reasons = _reasons(session, film, entry)
        row.reasons = [reason_json(reason) for reason in reasons]
        row.up_to_date = not row.to_render and not reasons and entry is not None
    return report


def _look(session: Session, film: Film, questions: Questions, recall: Recall) -> None:
    """Ask and look up the film's questions alone: what it needs, not what others share."""
    runs = recall.film(film)
    if runs is not None:
        film.ask_again(runs, questions)
    else:
        film.index = 0
        ask(session, film, questions, range(film.scene.frames))
    Drawing(session, [film], questions, recall).look_up()


def _entry(book: Book, film: Film) -> Entry | None:
    try:
        page = book.read(film.listed.stem, film.name)
    except ProjectError as error:
        if error.code == "ledger.conflict":
            return None
        raise
    return None if page is None else page.entry


def _reasons(session: Session, film: Film, entry: Entry | None) -> list[Reason]:
    assert film.identity is not None
    lane = None if entry is None else entry.lanes.get(session.toolchain.lane)
    if entry is None or lane is None:
        return []
    return refine(session, film, lane, reasons_since(entry, lane, film.identity))[0]
