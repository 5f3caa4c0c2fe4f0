"""`verify`: draw everything afresh and compare it with the ledger.

Nothing kept is trusted: no record, no blob, no shared tier, no stat, no kept raster. Every distinct
frame is drawn once, and a seeded share of the repeats again: two pictures under one key are a
regression. What was drawn is compared with what the cache says of the same keys, and a cache that
lied fails the gate. A sample is marked wherever it appears and is never a whole.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from nfbuild.digests import FrameDigest, shown
from nfbuild.errors import EXIT_GATE, NfbuildError, ProjectError, UsageError
from nfbuild.events import Event, Failed, Planned, Warned
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import Entry, Present
from nfbuild.ledger.excuse import DEAD, Judged, find, judge_excuse, nameless, needs_measuring
from nfbuild.ledger.runs import Runs
from nfbuild.ledger.sequence import SampleHasher, SequenceHasher
from nfbuild.ledger.verdict import Verdict, judge
from nfbuild.ops.audit import audit_cached
from nfbuild.ops.drawing import Drawing
from nfbuild.ops.films import Film, ask, load_film
from nfbuild.ops.moves import measure_moves
from nfbuild.ops.questions import Questions, State
from nfbuild.ops.recall import Recall
from nfbuild.ops.reports import VerifyReport, VerifyRow, failure, reason_json, talk_json
from nfbuild.ops.session import Session, Settings
from nfbuild.project import Discovery, discover, select
from nfbuild.project.discover import name_of

REPEATS = Fraction(2, 100)
"""The share of repeats that is drawn again, at least one per composition that has any."""


@dataclass(frozen=True)
class VerifyOptions:
    """What a verification is asked for; `today` is the day excuses are judged by."""

    names: tuple[str, ...] = ()
    start: str = "."
    samples: int | None = None
    seed: int = 0
    every: bool = False
    fail_on: str = "changed"
    today: dt.date | None = None


@dataclass
class Verification:
    """One verification under way."""

    session: Session
    options: VerifyOptions
    discovery: Discovery
    report: VerifyReport
    questions: Questions = field(default_factory=Questions)
    films: list[Film] = field(default_factory=list)
    numbers: dict[int, Sequence[int]] = field(default_factory=dict)
    unsound: dict[int, list[int]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    entries: dict[str, Entry | None] = field(default_factory=dict)


def verify_settings(jobs: int | None) -> Settings:
    """Return how a run goes about it that trusts nothing."""
    return Settings(jobs=jobs, fresh=True, keep_rasters=False, rehash=True)


def verify(session: Session, options: VerifyOptions) -> Generator[Event, None, VerifyReport]:
    """Draw and compare; yields events, returns the gate's answer."""
    if options.fail_on not in ("changed", "regression"):
        raise UsageError(f"`--fail-on {options.fail_on}` is neither `changed` nor `regression`")
    discovery = discover(session.project)
    listed = select(session.project, discovery.compositions, options.names, options.start)
    report = VerifyReport(session.toolchain.lane, options.seed, options.samples is not None)
    run = Verification(session, options, discovery, report)
    for index, one in enumerate(listed):
        film = load_film(session, index, one, Fraction(1))
        run.films.append(film)
        yield from _begin(run, film)
    drawing = Drawing(session, run.films, run.questions, Recall(session), png=False)
    distinct = list(run.questions.numbers(State.UNKNOWN))
    again = list(_repeats(run))
    yield Planned(
        len(run.films),
        sum(len(film.frames) for film in run.films),
        len(distinct),
        len(distinct) + len(again),
    )
    yield from drawing.draw(distinct)
    yield from _draw_again(run, drawing, again)
    yield from _audit(run, drawing)
    book = Book(session.project.ledger_folder, session.project.ledger)
    for film in run.films:
        yield from _judge(run, drawing, book, film)
    if not options.names:
        yield from _orphans(run, book)
    yield from _excuses_without_need(run)
    for warning in session.take_warnings():
        report.warnings.append(talk_json(warning))
        yield warning
    report.rows.sort(key=lambda row: row.name.encode("utf-8", "surrogatepass"))
    _close_gate(run)
    return report


def _begin(run: Verification, film: Film) -> Generator[Event, None, None]:
    for warning in film.warnings:
        run.report.warnings.append(talk_json(warning))
        yield warning
    if film.error is None:
        count = film.scene.frames
        wanted: Sequence[int] = range(count)
        if run.options.samples is not None:
            wanted = sample(count, run.options.samples, run.options.seed, film.name)
        run.numbers[film.index] = wanted
        try:
            ask(run.session, film, run.questions, wanted)
        except NfbuildError as error:
            film.error = error


def sample(count: int, wanted: int, seed: int, name: str) -> range | list[int]:
    """Return a seeded, stratified sample: one frame of each of `wanted` equal stretches."""
    if wanted >= count:
        return range(count)
    draw = random.Random(f"{seed}/{name}")  # noqa: S311  a pinned seed is the point
    return [
        draw.randrange(count * part // wanted, count * (part + 1) // wanted)
        for part in range(wanted)
    ]


def _repeats(run: Verification) -> Iterator[tuple[Film, int]]:
    """Yield (film, position) of the repeats that are drawn again."""
    for film in run.films:
        if film.error is not None:
            continue
        repeats = [
            at
            for at, number in enumerate(film.frames)
            if run.questions.asker(number) != (film.index, run.numbers[film.index][at])
        ]
        if run.options.every:
            yield from ((film, at) for at in repeats)
            continue
        if repeats:
            share = max(1, int(len(repeats) * REPEATS))
            draw = random.Random(f"{run.options.seed}/repeats/{film.name}")  # noqa: S311  pinned
            yield from ((film, at) for at in sorted(draw.sample(repeats, share)))


def _draw_again(
    run: Verification, drawing: Drawing, again: Sequence[tuple[Film, int]]
) -> Generator[Event, None, None]:
    frames = [(film.index, run.numbers[film.index][at]) for film, at in again if not film.error]
    found: dict[tuple[int, int], FrameDigest] = {}
    yield from drawing.draw_frames(frames, found)
    for film, at in again:
        frame = run.numbers[film.index][at]
        digest = found.get((film.index, frame))
        if digest is not None and digest != run.questions.digest(film.frames[at]):
            run.unsound.setdefault(film.index, []).append(frame)


def _audit(run: Verification, drawing: Drawing) -> Generator[Event, None, None]:
    for lie in audit_cached(run.session, drawing, run.films, run.questions):
        run.report.cache_lied.append(
            {
                "composition": lie.composition,
                "frame": lie.number,
                "key": shown(lie.key),
                "cached": shown(lie.cached),
                "drawn": shown(lie.drawn),
            }
        )
        yield lie


# --- judging ----------------------------------------------------------------------------------


def _judge(
    run: Verification, drawing: Drawing, book: Book, film: Film
) -> Generator[Event, None, None]:
    row = VerifyRow(film.name, "failed", source=film.listed.path)
    run.report.rows.append(row)
    if film.error is not None:
        yield _failed(run, film, film.error)
        return
    try:
        page = book.read(film.listed.stem, film.name)
    except ProjectError as error:
        yield _failed(run, film, error)
        return
    entry = None if page is None else page.entry
    present = present_of(run, film)
    verdict = judge(entry, run.report.lane, present)
    excuse = find(run.session.project.excused, film.name, run.report.lane)
    if excuse is not None:
        measured = None
        today = run.options.today or dt.datetime.now(tz=dt.UTC).date()
        if needs_measuring(verdict, excuse, today) and entry is not None:
            measured = yield from measure_moves(run.session, drawing, film, entry, verdict)
        verdict, judged = judge_excuse(verdict, excuse, today, measured)
        row.excuse = _excuse_json(judged)
        if judged.outcome in DEAD:
            run.report.exits.add(EXIT_GATE)
        if judged.warning is not None:
            yield _warn(run, "excuse.ends", judged.warning, film, excuse.place.line)
    run.verdicts[film.name] = verdict
    run.entries[film.name] = entry
    run.report.compared += verdict.compared
    row.verdict = verdict.kind
    row.identity_moved = verdict.identity_moved
    row.reasons = [reason_json(reason) for reason in verdict.reasons]
    row.frames = present.frames
    row.digest = shown(present.digest)
    row.recorded = None if verdict.recorded is None else shown(verdict.recorded)
    row.across = list(verdict.across)
    row.moved = list(_moved(verdict))
    row.rate = str(film.scene.rate)
    row.note = _note(verdict)


def _moved(verdict: Verdict) -> Sequence[tuple[int, int]]:
    if verdict.kind == "regression":
        return verdict.unsound or verdict.regressed or verdict.moved
    return verdict.moved


def _note(verdict: Verdict) -> str | None:
    if verdict.unsound:
        return "unsound key: two drawings under one key gave different pixels"
    if verdict.kind == "regression" and verdict.reasons:
        return "the inputs of these frames did not move, whatever else was edited"
    return None


def present_of(run: Verification, film: Film) -> Present:
    """Return a film as it was just drawn, in whole or by its sample."""
    scene, wanted = film.scene, run.numbers[film.index]
    assert film.identity is not None
    whole = len(wanted) == scene.frames
    shape = (film.width, film.height, scene.rate, scene.frames)
    by_frame = dict(zip(wanted, film.frames, strict=True))
    digests = ((frame, run.questions.digest(number)) for frame, number in by_frame.items())
    if whole:
        hasher = SequenceHasher(*shape)
        for _, digest in digests:
            hasher.add(digest)
    else:
        hasher = SampleHasher(*shape)
        for frame, digest in digests:
            hasher.add_frame(frame, digest)
    return Present(
        identity=film.identity,
        width=film.width,
        height=film.height,
        rate=scene.rate,
        digest=hasher.digest(),
        runs=Runs.of(
            (run.questions.scene(by_frame[i]), run.questions.digest(by_frame[i]))
            if i in by_frame
            else None
            for i in range(scene.frames)
        ),
        sampled=not whole,
        unsound=tuple(run.unsound.get(film.index, ())),
    )


def _failed(run: Verification, film: Film, error: NfbuildError) -> Failed:
    failed = failure(error, film.name)
    run.report.errors.append(failed)
    return failed


def _warn(run: Verification, code: str, text: str, film: Film | None, line: int | None) -> Warned:
    warning = Warned(
        code,
        text,
        composition=None if film is None else film.name,
        file=run.session.project.config,
        line=line,
    )
    run.report.warnings.append(talk_json(warning))
    return warning


def _excuse_json(judged: Judged) -> dict[str, object]:
    return {
        "outcome": judged.outcome,
        "fact": judged.fact,
        "reason": judged.excuse.reason,
        "until": judged.excuse.until.isoformat(),
        "frames": judged.frames,
        "pixels": judged.pixels,
        "step": judged.step,
        "days_left": judged.days_left,
    }


def _orphans(run: Verification, book: Book) -> Generator[Event, None, None]:
    stems = [listed.stem for listed in run.discovery.compositions]
    for stem in book.shelf(stems).orphaned:
        name = name_of(run.session.project, stem)
        run.report.rows.append(
            VerifyRow(name, "orphaned", note="hint: `nfbuild ledger prune` removes the entry")
        )
    yield from ()


def _excuses_without_need(run: Verification) -> Generator[Event, None, None]:
    names = {listed.name for listed in run.discovery.compositions}
    for excuse in nameless(run.session.project.excused, names):
        yield _warn(
            run,
            "excuse.nameless",
            f"the excuse of `{excuse.name}` names no composition",
            None,
            excuse.place.line,
        )
    for row in run.report.rows:
        if row.excuse is not None and row.excuse["outcome"] == "unneeded":
            yield _warn(
                run,
                "excuse.unneeded",
                f"the excuse of `{row.name}` is not needed any more: {row.excuse['fact']}",
                None,
                run.session.project.excused[row.name].place.line,
            )


def _close_gate(run: Verification) -> None:
    """Decide whether the gate fails; failed compositions bring exit codes of their own."""
    failing = {"regression", "missing", "orphaned"}
    if run.options.fail_on == "changed":
        failing.add("changed")
    if any(row.verdict in failing for row in run.report.rows) or run.report.cache_lied:
        run.report.exits.add(EXIT_GATE)
    if run.report.compared == 0:
        run.report.exits.add(EXIT_GATE)
