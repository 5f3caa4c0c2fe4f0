"""`explain`: why would this be rendered, why did it move, and what do two ledger states differ in.

Three levels, as deep as what is at hand allows. The identities say which named input moved. The
recorded source, from its snapshot or from git, says which element, attribute, line or keyframe.
The recorded frames say which frames moved, and where their pixels are known by how much.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import ProjectError, UsageError
from nfbuild.events import Event
from nfbuild.identity.manifest import Reason
from nfbuild.ledger.book import Book
from nfbuild.ledger.canonical import read as read_entry
from nfbuild.ledger.entry import FILM_PARTS, Entry, Lane, reasons_since
from nfbuild.ledger.runs import ranges, stretches
from nfbuild.ledger.verdict import Verdict
from nfbuild.ops.causes.history import History
from nfbuild.ops.causes.reasons import refine
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.gate.moves import Judgement, find_moves, measure
from nfbuild.ops.run.reports import reason_json, spans, talk_json
from nfbuild.ops.run.session import Session
from nfbuild.project import Listed, discover, select


@dataclass(frozen=True)
class ExplainOptions:
    """What is asked: one frame, a history since a revision, or two ledger states."""

    name: str
    start: str = "."
    frame: int | None = None
    since: str | None = None
    between: str | None = None


@dataclass
class Explanation:
    """The answer: `reasons` as fine as they go, and where the old side came from."""

    name: str
    question: str
    frames: int = 0
    to_render: int = 0
    recorded: str | None = None
    present: str | None = None
    reasons: list[Reason] = field(default_factory=list)
    old_source: str | None = None
    moved: list[tuple[int, int]] = field(default_factory=list)
    rate: Fraction = Fraction(1)
    pixels: list[dict[str, int]] = field(default_factory=list)
    commits: list[dict[str, Any]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    exit_code: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the document of `explain --json`."""
        return {
            "schema": "nfbuild.explain/1",
            "ok": self.exit_code == 0,
            "name": self.name,
            "question": self.question,
            "frames": self.frames,
            "to_render": self.to_render,
            "reasons": [reason_json(reason) for reason in self.reasons],
            "recorded_source": self.old_source,
            "moved": [list(span) for span in self.moved],
            "pixels": self.pixels,
            "commits": self.commits,
            "facts": self.facts,
            "errors": [],
            "warnings": self.warnings,
        }


def explain(session: Session, options: ExplainOptions) -> Generator[Event, None, Explanation]:
    """Answer one question about one composition; yields warnings, returns the explanation."""
    listed = select(
        session.project, discover(session.project).compositions, [options.name], options.start
    )
    if len(listed) != 1:
        raise UsageError(f"`{options.name}` means {len(listed)} compositions", hint="name one")
    if options.between is not None:
        return _between(session, listed[0], options.between)
    if options.since is not None:
        return _since(session, listed[0], options.since)
    return (yield from _now(session, listed[0], options.frame))


# --- now against the entry --------------------------------------------------------------------


def _now(
    session: Session, listed: Listed, frame: int | None
) -> Generator[Event, None, Explanation]:
    book = Book(session.project.ledger_folder, session.project.ledger)
    film = load_film(session, 0, listed, Fraction(1))
    answer = Explanation(listed.name, "now")
    for warning in film.warnings:
        answer.warnings.append(talk_json(warning))
        yield warning
    if film.error is not None:
        raise film.error
    assert film.identity is not None
    answer.frames, answer.rate = film.scene.frames, film.scene.rate
    if frame is not None and not 0 <= frame < film.scene.frames:
        raise UsageError(
            f"`{film.name}` has no frame {frame}",
            hint=f"its frames are 0 to {film.scene.frames - 1}",
        )
    questions = Questions()
    recall = Recall(session)
    drawing = Drawing(session, [film], questions, recall)
    ask(session, film, questions, range(film.scene.frames))
    drawing.look_up()
    unknown = sorted(questions.numbers(State.UNKNOWN))
    answer.to_render = len(unknown)
    page = book.read(listed.stem, listed.name)
    lane = None if page is None else page.entry.lanes.get(session.toolchain.lane)
    if page is None or lane is None:
        answer.facts.append("it has no entry in the ledger for this lane: nothing was recorded yet")
        return answer
    answer.reasons = reasons_since(page.entry, lane, film.identity)
    answer.reasons, answer.old_source = refine(session, film, lane, answer.reasons)
    if answer.old_source is None and any(reason.part == "source" for reason in answer.reasons):
        answer.facts.append(
            "the recorded source is neither in the cache nor in git: "
            "the reasons stop at the entry's sub-inputs"
        )
    _moved_frames(answer, film, questions, lane)
    _say_frame(answer, film, questions, lane, frame)
    _say_cache(answer, unknown)
    verdict = Verdict("changed", lane=session.toolchain.lane)
    _measure(answer, drawing, Judgement(film, page.entry, verdict))
    return answer


def _moved_frames(answer: Explanation, film: Film, questions: Questions, lane: Lane) -> None:
    """Say which frames are another scene, or show something else, than was recorded."""
    recorded = list(lane.runs.expand())
    moved: list[int] = []
    for number in range(max(len(recorded), len(film.frames))):
        if number >= len(recorded) or number >= len(film.frames):
            moved.append(number)
            continue
        question, before = film.frames[number], recorded[number]
        if before is None or before.key == questions.scene(question):
            continue
        known = questions.state(question) is not State.UNKNOWN
        if not known or not questions.digest(question).startswith(before.digest):
            moved.append(number)
    answer.moved = spans(moved)


def _say_frame(
    answer: Explanation, film: Film, questions: Questions, lane: Lane, frame: int | None
) -> None:
    if frame is None:
        return
    question = film.frames[frame]
    recorded = list(lane.runs.expand())
    before = recorded[frame] if frame < len(recorded) else None
    seconds = float(film.scene.time(frame))
    same = before is not None and before.key == questions.scene(question)
    answer.facts.append(
        f"frame {frame} ({seconds:.3f} s) is the scene that was recorded"
        if same
        else f"frame {frame} ({seconds:.3f} s) is another scene than was recorded"
    )
    if questions.state(question) is State.UNKNOWN:
        answer.facts.append("the cache has no picture of it: it would be rendered")


def _say_cache(answer: Explanation, unknown: Sequence[int]) -> None:
    if unknown and not answer.reasons:
        answer.facts.append(f"no input moved; {len(unknown)} distinct frames are not in the cache")
    if not unknown and not answer.reasons:
        answer.facts.append("nothing moved: it is up to date")


def _measure(answer: Explanation, drawing: Drawing, judged: Judgement) -> None:
    """Say by how much frames moved, where the pixels of both sides are at hand without drawing."""
    states = drawing.questions
    moves = [
        move
        for move in find_moves(drawing, judged, tuple(answer.moved))
        if move.old is not None
        and move.new is not None
        and states.state(move.new) in (State.CACHED, State.SHARED)
    ]
    for move, found in measure(drawing, moves):
        answer.pixels.extend(
            {"frame": number, "pixels": found.pixels, "step": found.step} for number in move.frames
        )
    answer.pixels.sort(key=lambda one: one["frame"])


# --- two states of the ledger -----------------------------------------------------------------


def _between(session: Session, listed: Listed, text: str) -> Explanation:
    first, colon, second = text.partition(":")
    history = History(session.project.root)
    book = Book(session.project.ledger_folder, session.project.ledger)
    path = session.project.relative(book.path(listed.stem))
    before = _entry_at(history, path, history.resolve(first), listed)
    if colon and second:
        after = _entry_at(history, path, history.resolve(second), listed)
    else:
        page = book.read(listed.stem, listed.name)
        after = None if page is None else page.entry
    answer = Explanation(listed.name, "between")
    if before is None or after is None:
        side = first if before is None else second or "the working tree"
        answer.facts.append(f"there is no entry in {side}")
        return answer
    _compare_entries(session, answer, before, after)
    return answer


def _entry_at(history: History, path: str, revision: str, listed: Listed) -> Entry | None:
    data = history.read(revision, path)
    return None if data is None else read_entry(data, f"{revision[:12]}:{path}", listed.name)


def _compare_entries(session: Session, answer: Explanation, before: Entry, after: Entry) -> None:
    from nfbuild.identity.manifest import diff_inputs  # noqa: PLC0415  only for two entries

    for name in FILM_PARTS:
        old, new = before.part(name), after.part(name)
        answer.reasons.extend(diff_inputs(old.name, old.inputs, new.inputs))
    tags = sorted({*before.lanes, *after.lanes})
    tag = session.toolchain.lane if session.toolchain.lane in tags else tags[0]
    left, right = before.lanes.get(tag), after.lanes.get(tag)
    if left is None or right is None:
        answer.facts.append(f"the lane {tag} is in one of the two only")
        return
    answer.reasons.extend(diff_inputs("toolchain", left.toolchain, right.toolchain))
    answer.frames, answer.rate = right.frames, right.rate
    answer.recorded, answer.present = left.digest, right.digest
    answer.moved = list(
        ranges(
            (start, count)
            for start, count, old_run, new_run in stretches(left.runs, right.runs)
            if old_run is None or new_run is None or old_run.digest != new_run.digest
        )
    )
    same = "the picture is the same" if left.digest == right.digest else "the picture moved"
    answer.facts.append(f"in {tag} {same}")


def _since(session: Session, listed: Listed, since: str) -> Explanation:
    """Name the commits since a revision whose entry shows another picture; nothing is drawn."""
    history = History(session.project.root)
    book = Book(session.project.ledger_folder, session.project.ledger)
    path = session.project.relative(book.path(listed.stem))
    start = history.resolve(since)
    answer = Explanation(listed.name, "since")
    before = _readable(history, path, start, listed, answer)
    for commit in history.writers(path, start):
        after = _readable(history, path, commit.name, listed, answer)
        step = Explanation(listed.name, "between")
        if before is not None and after is not None:
            _compare_entries(session, step, before, after)
        elif after is not None:
            step.facts.append("the entry appeared")
        else:
            step.facts.append("the entry went")
        if step.moved or before is None or after is None:
            answer.commits.append(
                {
                    "commit": commit.name,
                    "subject": commit.subject,
                    "parts": list(dict.fromkeys(reason.part for reason in step.reasons)),
                    "reasons": [reason_json(reason) for reason in step.reasons],
                    "moved": [list(span) for span in step.moved],
                }
            )
        before = after
    if answer.commits:
        first = answer.commits[0]
        parts = ", ".join(first["parts"]) or "the entry itself"
        answer.facts.append(
            f"{first['commit'][:12]} first changed the picture ({parts}): {first['subject']}"
        )
    else:
        answer.facts.append(f"no commit since {start[:12]} changed the picture")
    return answer


def _readable(
    history: History, path: str, revision: str, listed: Listed, answer: Explanation
) -> Entry | None:
    try:
        return _entry_at(history, path, revision, listed)
    except ProjectError as error:
        answer.facts.append(f"the entry in {revision[:12]} cannot be read: {error.message}")
        return None
