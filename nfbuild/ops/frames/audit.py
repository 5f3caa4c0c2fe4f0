"""Auditing the cache: what it says of frames that were just drawn, and what its blobs show.

Two ways to lie: a record that names another picture than the one its key draws, and a blob that
is whole and shows other pixels than its record says. A blob that is absent or damaged is a miss,
no lie: its digest gives it away on every read.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.digests import FrameDigest, FrameKey
from nfbuild.errors import StoreError
from nfbuild.events import CacheLied, Event
from nfbuild.execute.base import Done, Job
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Hit
from nfbuild.ops.run.session import Session
from nfbuild.render.tasks import Audited, AuditTask

_NOTHING = FrameDigest("0" * 64)
"""What a blob shows that cannot be decoded."""


@dataclass(frozen=True)
class Audit:
    """What an audit of reused frames looked at and found."""

    share: Fraction
    reused: int
    frames: int
    lied: int

    def to_json(self) -> dict[str, object]:
        """Return the audit as the report of a build prints it."""
        return {
            "share": float(self.share),
            "reused": self.reused,
            "frames": self.frames,
            "lied": self.lied,
        }


def kept_before(drawing: Drawing, numbers: Sequence[int]) -> Mapping[FrameKey, Hit]:
    """Return what the cache says of questions, to be compared once they are drawn.

    The drawing is told of their blobs, so that each is packed again beside being drawn.
    """
    keys = {number: drawing.questions.key(number) for number in numbers}
    known = drawing.recall.find_kept(list(keys.values()))
    blobs = {
        number: drawing.recall.blob_of(hit.digest)
        for number, key in keys.items()
        if (hit := known.get(key)) is not None and hit.drawable
    }
    drawing.kept = {number: blob for number, blob in blobs.items() if blob is not None}
    return known


def audit_cached(
    session: Session,
    drawing: Drawing,
    known: Mapping[FrameKey, Hit],
    vouched: Callable[[int, FrameDigest], bool],
) -> Generator[Event, None, list[CacheLied]]:
    """Compare what was drawn with what the cache said; yields and returns every lie.

    A blob into which the drawing packs shows what was drawn; of the others the pixels are read.
    `vouched` tells of a question and a digest whether the ledger stands by it: then the cache is
    right. A blob that lied is replaced, as its record was when the frame was drawn.
    """
    questions, films = drawing.questions, drawing.films
    lies: dict[int, CacheLied] = {}
    jobs: list[Job] = []
    for number in questions.numbers(State.DRAWN):
        hit = known.get(questions.key(number))
        if hit is None:
            continue
        if hit.digest != questions.digest(number):
            if not vouched(number, hit.digest):
                lies[number] = lie_about(films, questions, number, hit.digest)
        elif hit.drawable and number not in drawing.confirmed:
            # Packed otherwise, by another processor or by a lie: what does it show?
            jobs.append(Job(number, hit.digest))
    shows = shown_by_blobs(session, drawing, jobs)
    for number, shown in shows.items():
        if shown != questions.digest(number):
            lies[number] = lie_about(films, questions, number, shown)
    told = [lies[number] for number in sorted(lies)]
    drawing.lied += len(told)
    yield from told
    if lies:
        yield from drawing.draw_pictures(lies)
    return told


def audit_reused(
    session: Session, drawing: Drawing, share: Fraction, seed: int
) -> Generator[Event, None, Audit]:
    """Draw a seeded share of the reused frames afresh, at least one, and compare.

    Records and blobs that lied are replaced; what was drawn is the answer from then on.
    """
    questions = drawing.questions
    reused = list(questions.numbers(State.CACHED, State.SHARED))
    count = min(len(reused), max(1, -(-len(reused) * share.numerator // share.denominator)))
    choice = random.Random(f"{seed}/audit")  # noqa: S311  a pinned seed is the point
    chosen = sorted(choice.sample(reused, count))
    before = drawing.lied
    shows = shown_by_blobs(
        session, drawing, [Job(number, questions.digest(number)) for number in chosen]
    )
    told: dict[int, FrameDigest] = {number: questions.digest(number) for number in chosen}
    yield from drawing.draw(chosen)
    for number in chosen:
        if questions.state(number) is not State.DRAWN:
            continue
        drawn, shown = questions.digest(number), shows.get(number)
        # A record that lied was said while drawing; here is what only the blob gives away.
        if shown is not None and shown != drawn and told[number] == drawn:
            drawing.lied += 1
            yield lie_about(drawing.films, questions, number, shown)
    return Audit(share, len(reused), len(chosen), drawing.lied - before)


def shown_by_blobs(
    session: Session, drawing: Drawing, jobs: Sequence[Job]
) -> dict[int, FrameDigest]:
    """Return what the blobs of frames show: each job is a question and the frame's digest.

    A frame whose blob is not there is left out.
    """
    found: dict[int, FrameDigest] = {}
    if not jobs:
        return found
    for outcome in session.perform(_tasks(drawing, jobs)):
        shows = _NOTHING
        if isinstance(outcome, Done) and isinstance(outcome.value, Audited):
            shows = outcome.value.digest
        found[outcome.position] = shows
    return {number: found[number] for number in sorted(found)}


def _tasks(drawing: Drawing, jobs: Sequence[Job]) -> Iterator[Job]:
    for job in jobs:
        try:
            data = drawing.recall.png(job.task)
        except StoreError:
            continue
        yield Job(job.position, AuditTask(data))


def lie_about(
    films: Sequence[Film], questions: Questions, number: int, cached: FrameDigest
) -> CacheLied:
    """Return the event for a question that was drawn, or looked at, and was kept as `cached`."""
    index, frame = questions.asker(number)
    return CacheLied(
        films[index].name, frame, questions.key(number), cached, questions.digest(number)
    )
