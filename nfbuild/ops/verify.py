"""`verify`: draw everything afresh and compare it with the ledger.

Nothing kept is trusted: no record, no blob, no shared tier, no stat, no kept raster. Every distinct
frame is drawn once, and a seeded share of the repeats again: two pictures under one key are a
regression. What was drawn is compared with what the cache says of the same keys, and a cache that
lied fails the gate. A sample is marked wherever it appears and is never a whole.

Not here: what is said of it (`cli.gate`, `report`, `junit`, `annotations`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass, field, replace
from nfbuild.digests import FrameDigest, FrameKey, shown
from nfbuild.errors import EXIT_GATE, NfbuildError, ProjectError, UsageError
from nfbuild.events import Event, Failed, Planned, Warned
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import Entry, Present
from nfbuild.ledger.excuse import (
    DEAD,
    Judged,
    Measured,
    find,
    judge_excuse,
    nameless,
    needs_measuring,
)
from nfbuild.ledger.runs import Runs
from nfbuild.ledger.sequence import SampleHasher, SequenceHasher
from nfbuild.ledger.verdict import Verdict, judge
from nfbuild.ops.causes.places import Places
from nfbuild.ops.causes.reasons import refine
from nfbuild.ops.frames.audit import audit_cached, kept_before
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Hit, Recall
from nfbuild.ops.frames.sampling import repeats, sample
from nfbuild.ops.gate.moves import Judgement, draw_again, find_moves, measure
from nfbuild.ops.run.reports import VerifyReport, VerifyRow, failure, reason_json, talk_json
from nfbuild.ops.run.session import Session, Settings
from nfbuild.project import Discovery, discover, select
from nfbuild.project.discover import name_of

if TYPE_CHECKING:
    import datetime as dt


@dataclass(frozen=True)
class VerifyOptions:
    """What a verification is asked for; `today` is the day excuses are judged by.

    `report` is the path of an HTML report to write.
    """

    names: tuple[str, ...] = ()
    start: str = "."
    samples: int | None = None
    seed: int = 0
    every: bool = False
    fail_on: str = "changed"
    today: dt.date | None = None
    report: str | None = None


@dataclass
class Verification:
    """One verification under way: what its steps share."""

    session: Session
    options: VerifyOptions
    discovery: Discovery
    report: VerifyReport
    questions: Questions = field(default_factory=Questions)
    films: list[Film] = field(default_factory=list)
    unsound: dict[int, list[int]] = field(default_factory=dict)
    judged: list[Judgement] = field(default_factory=list)

    @cached_property
    def book(self) -> Book:
        """The project's ledger."""
        return Book(self.session.project.ledger_folder, self.session.project.ledger)


def failing_verdicts(fail_on: str) -> tuple[str, ...]:
    """Return the verdicts that shut the gate; `failed` brings an exit code of its own."""
    shape = ("regression", "missing", "orphaned")
    return (*shape, "changed") if fail_on == "changed" else shape


def verify_settings(jobs: int | None) -> Settings:
    """Return how a run goes about it that trusts nothing."""
    return Settings(jobs=jobs, fresh=True, keep_rasters=False, rehash=True)


def verify(session: Session, options: VerifyOptions) -> Generator[Event, None, VerifyReport]:
    """Draw and compare; yields events, returns the gate's answer."""
    if options.fail_on not in ("changed", "regression"):
        raise UsageError(f"`--fail-on {options.fail_on}` is neither `changed` nor `regression`")
    run, drawing, known = yield from draw_and_judge(session, options)
    report = run.report
    lies = yield from audit_cached(session, drawing, known, _vouched(run))
    report.cache_lied = [
        {
            "composition": lie.composition,
            "frame": lie.number,
            "key": shown(lie.key),
            "cached": shown(lie.cached),
            "drawn": shown(lie.drawn),
        }
        for lie in lies
    ]
    if not options.names:
        _orphans(run)
    yield from _excuses_without_need(run)
    for warning in session.take_warnings():
        report.warnings.append(talk_json(warning))
        yield warning
    report.rows.sort(key=lambda row: row.name.encode("utf-8", "surrogatepass"))
    _close_gate(run)
    if options.report is not None:
        from nfbuild.ops.gate.report.write import write_report  # noqa: PLC0415  only where asked

        yield from write_report(session, drawing, run.judged, report, options.report)
    return report


def draw_and_judge(
    session: Session, options: VerifyOptions, *, png: bool = False
) -> Generator[Event, None, tuple[Verification, Drawing, Mapping[FrameKey, Hit]]]:
    """Draw every distinct frame and some repeats, and judge each film by its entry.

    With `png` the pictures are kept, to become what is recorded. Also returns what the cache said
    of these frames before they were drawn.
    """
    discovery = discover(session.project)
    listed = select(session.project, discovery.compositions, options.names, options.start)
    report = VerifyReport(session.toolchain.lane, options.seed, options.samples is not None)
    run = Verification(session, options, discovery, report)
    if listed:
        # Everything will be drawn: workers get warm while compositions are read.
        session.executor.start()
    for index, one in enumerate(listed):
        film = load_film(session, index, one, Fraction(1))
        run.films.append(film)
        yield from _begin(run, film)
    drawing = Drawing(session, run.films, run.questions, Recall(session), png=png)
    distinct = list(run.questions.numbers(State.UNKNOWN))
    again = list(repeats(run.films, run.questions, options.seed, every=options.every))
    yield Planned(
        len(run.films),
        sum(len(film.frames) for film in run.films),
        len(distinct),
        len(distinct) + len(again),
    )
    known = kept_before(drawing, distinct)
    yield from drawing.draw(distinct)
    yield from _draw_repeats(run, drawing, again)
    session.retire()
    for film in run.films:
        yield from _judge(run, drawing, film)
    return run, drawing, known


def _begin(run: Verification, film: Film) -> Generator[Event, None, None]:
    for warning in film.warnings:
        run.report.warnings.append(talk_json(warning))
        yield warning
    if film.error is None:
        count = film.scene.frames
        wanted: Sequence[int] = range(count)
        if run.options.samples is not None:
            wanted = sample(count, run.options.samples, run.options.seed, film.name)
        try:
            ask(run.session, film, run.questions, wanted)
        except NfbuildError as error:
            film.error = error


def _draw_repeats(
    run: Verification, drawing: Drawing, again: Sequence[tuple[Film, int]]
) -> Generator[Event, None, None]:
    frames = [(film.index, frame) for film, frame in again if film.error is None]
    found: dict[tuple[int, int], FrameDigest] = {}
    yield from drawing.draw_frames(frames, found)
    for index, frame in frames:
        film = run.films[index]
        digest = found.get((index, frame))
        number = film.frames[film.at(frame)]
        if digest is not None and digest != run.questions.digest(number):
            run.unsound.setdefault(index, []).append(frame)


def _vouched(run: Verification) -> Callable[[int, FrameDigest], bool]:
    """Return a test whether the ledger stands by what the cache says of a question.

    Then it is the drawing that moved, not the cache that lied: the verdict says so already.
    """
    recorded: dict[int, dict[int, str]] = {}
    for one in run.judged:
        lane = None
        if one.entry is not None and one.verdict.kind == "regression":
            lane = one.entry.lanes.get(one.verdict.lane or "")
        if lane is not None:
            frames = enumerate(lane.runs.expand())
            recorded[one.film.index] = {n: frame.digest for n, frame in frames if frame is not None}

    def vouched(number: int, cached: FrameDigest) -> bool:
        index, frame = run.questions.asker(number)
        digest = recorded.get(index, {}).get(frame)
        return digest is not None and cached.startswith(digest)

    return vouched


# --- judging ------------------------------------------------------------------------------------


def _judge(run: Verification, drawing: Drawing, film: Film) -> Generator[Event, None, None]:
    row = VerifyRow(film.name, "failed", source=film.listed.path)
    run.report.rows.append(row)
    if film.error is not None:
        yield _failed(run, film, film.error)
        return
    try:
        page = run.book.read(film.listed.stem, film.name)
    except ProjectError as error:
        yield _failed(run, film, error)
        return
    entry = None if page is None else page.entry
    verdict = judge(entry, run.report.lane, present_of(run, film))
    excuse = find(run.session.project.excused, film.name, run.report.lane)
    if excuse is not None:
        today = run.options.today or _today()
        measured: dict[int, Measured] | None = None
        if needs_measuring(verdict, excuse, today):
            measured, verdict = yield from _measured(run, drawing, film, entry, verdict)
        verdict, judged = judge_excuse(verdict, excuse, today, measured)
        row.excuse = _excuse_json(judged)
        if judged.outcome in DEAD:
            run.report.exits.add(EXIT_GATE)
        if judged.warning is not None:
            yield _warn(run, "excuse.ends", judged.warning, film, excuse.place.line)
    run.judged.append(Judgement(film, entry, verdict))
    run.report.compared += verdict.compared
    _fill(run, row, film, entry, verdict)


def _today() -> dt.date:
    import datetime as dt  # noqa: PLC0415  milliseconds, and only excuses ask for the day

    return dt.datetime.now(tz=dt.UTC).date()


def _measured(
    run: Verification, drawing: Drawing, film: Film, entry: Entry | None, verdict: Verdict
) -> Generator[Event, None, tuple[dict[int, Measured], Verdict]]:
    """Measure every moved frame; a frame that now draws otherwise again makes it a regression."""
    moves = find_moves(drawing, Judgement(film, entry, verdict), verdict.moved)
    here = [move for move in moves if move.old is not None and move.new is not None]
    other = yield from draw_again(drawing, [move.new for move in here if move.new is not None])
    if other:
        numbers = frozenset(other)
        frames = [f for f, n in zip(film.wanted, film.frames, strict=True) if n in numbers]
        run.unsound.setdefault(film.index, []).extend(frames)
        verdict = judge(entry, run.report.lane, present_of(run, film))
    measured = {frame: found for move, found in measure(drawing, here) for frame in move.frames}
    return measured, verdict


def _fill(
    run: Verification, row: VerifyRow, film: Film, entry: Entry | None, verdict: Verdict
) -> None:
    scene = film.scene
    places = Places(run.session.files, film.listed.path)
    lane = None if entry is None or verdict.lane is None else entry.lanes.get(verdict.lane)
    reasons, _ = refine(run.session, film, lane, verdict.reasons)
    row.verdict = verdict.kind
    row.identity_moved = verdict.identity_moved
    row.reasons = [reason_json(places.placed(reason)) for reason in reasons]
    row.frames = scene.frames
    row.digest = None if verdict.digest is None else shown(verdict.digest)
    row.recorded = None if verdict.recorded is None else shown(verdict.recorded)
    row.across = list(verdict.across)
    row.moved = list(_moved(verdict))
    row.rate = str(scene.rate)
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
    scene = film.scene
    assert film.identity is not None
    whole = len(film.wanted) == scene.frames
    shape = (film.width, film.height, scene.rate, scene.frames)
    by_frame = dict(zip(film.wanted, film.frames, strict=True))
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


# --- excuses and the ledger's shape -------------------------------------------------------------


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


def _orphans(run: Verification) -> None:
    stems = [listed.stem for listed in run.discovery.compositions]
    for stem in run.book.shelf(stems).orphaned:
        name = name_of(run.session.project, stem)
        run.report.rows.append(
            VerifyRow(name, "orphaned", note=f"the entry is `{run.book.place(stem)}`")
        )


def _excuses_without_need(run: Verification) -> Generator[Event, None, None]:
    names = {listed.name for listed in run.discovery.compositions}
    for excuse in nameless(run.session.project.excused, names):
        warning = _warn(
            run,
            "excuse.nameless",
            f"the excuse of `{excuse.name}` names no composition",
            None,
            excuse.place.line,
        )
        yield replace(warning, hint="remove it")
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
    failing = failing_verdicts(run.options.fail_on)
    if any(row.verdict in failing for row in run.report.rows) or run.report.cache_lied:
        run.report.exits.add(EXIT_GATE)
    if run.report.compared == 0:
        run.report.exits.add(EXIT_GATE)
