"""Auditing the cache: what it says of frames that were just drawn, and what its blobs show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nfbuild.digests import FrameDigest
from nfbuild.errors import StoreError
from nfbuild.events import CacheLied
from nfbuild.execute.base import Done, Job
from nfbuild.ops.drawing import Drawing
from nfbuild.ops.films import Film
from nfbuild.ops.questions import Questions, State
from nfbuild.ops.session import Session
from nfbuild.render.tasks import Audited, AuditTask

_NOTHING = FrameDigest("0" * 64)


def audit_cached(
    session: Session, drawing: Drawing, films: Sequence[Film], questions: Questions
) -> Iterator[CacheLied]:
    """Yield every frame of which the local cache says or shows something else than was drawn.

    A blob that is absent or damaged is a miss, no lie: its digest gives it away on every read.
    A blob that is whole and shows other pixels than its record says has digest zero here when it
    cannot be decoded.
    """
    drawn = list(questions.numbers(State.DRAWN))
    known = drawing.recall.find_own([questions.key(number) for number in drawn])
    jobs: list[Job] = []
    for number in drawn:
        hit = known.get(questions.key(number))
        if hit is None:
            continue
        if hit.digest != questions.digest(number):
            yield _lie(drawing, films, questions, number, hit.digest)
        elif hit.drawable:
            jobs.append(Job(number, hit.digest))
    yield from _audit_blobs(session, drawing, films, questions, jobs)


def _audit_blobs(
    session: Session,
    drawing: Drawing,
    films: Sequence[Film],
    questions: Questions,
    jobs: Sequence[Job],
) -> Iterator[CacheLied]:
    found: dict[int, FrameDigest] = {}
    for outcome in session.executor.run(_tasks(drawing, jobs)):
        shows = _NOTHING
        if isinstance(outcome, Done) and isinstance(outcome.value, Audited):
            shows = outcome.value.digest
        found[outcome.position] = shows
    for number in sorted(found):
        if found[number] != questions.digest(number):
            yield _lie(drawing, films, questions, number, found[number])


def _tasks(drawing: Drawing, jobs: Sequence[Job]) -> Iterator[Job]:
    for job in jobs:
        try:
            data = drawing.recall.png(job.task)
        except StoreError:
            continue
        yield Job(job.position, AuditTask(data))


def _lie(
    drawing: Drawing,
    films: Sequence[Film],
    questions: Questions,
    number: int,
    cached: FrameDigest,
) -> CacheLied:
    drawing.lied += 1
    index, frame = questions.asker(number)
    return CacheLied(
        films[index].name, frame, questions.key(number), cached, questions.digest(number)
    )
