"""`digest`: a fresh sequence digest of one composition, ours or in the peer's form."""

from __future__ import annotations

from collections.abc import Generator
from fractions import Fraction
from typing import Any

from nfbuild.dataclasses import dataclass, field, replace
from nfbuild.digests import shown
from nfbuild.errors import EXIT_GATE, UsageError, worst_exit
from nfbuild.events import Event, Failed, Planned, Warned
from nfbuild.ledger.book import Book
from nfbuild.ledger.sequence import PeerSequence, SampleHasher, SequenceHasher
from nfbuild.ledger.verdict import judge
from nfbuild.ledger.write_policy import decide, recorded
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.frames.sampling import sample
from nfbuild.ops.gate.judging import present_of
from nfbuild.ops.run.reports import failure, talk_json
from nfbuild.ops.run.session import Session
from nfbuild.project import discover, select

ALGORITHMS = ("blake3", "sha256")


@dataclass
class DigestReport:
    """The digest of one composition, whole or of a sample."""

    name: str
    algorithm: str
    frames: int = 0
    sampled: bool = False
    digest: str = ""
    frame_digests: list[str] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    exits: set[int] = field(default_factory=set)
    seed: int = 0

    @property
    def exit_code(self) -> int:
        """0, or the code of what went wrong."""
        return worst_exit(self.exits | {error.exit_code for error in self.errors})

    def to_json(self) -> dict[str, Any]:
        """Return the document of `digest --json`."""
        return {
            "schema": "nfbuild.digest/1",
            "ok": self.exit_code == 0,
            "name": self.name,
            "algorithm": self.algorithm,
            "frames": self.frames,
            "sampled": self.sampled,
            # Which sample it was: without its seed nobody could take it again.
            **({"seed": self.seed} if self.sampled else {}),
            "digest": self.digest,
            "frame_digests": self.frame_digests,
            "errors": [talk_json(error) for error in self.errors],
            "warnings": self.warnings,
        }


def digest(
    session: Session,
    name: str,
    start: str,
    *,
    algorithm: str = "blake3",
    samples: int | None = None,
    seed: int = 0,
    record: bool = False,
) -> Generator[Event, None, DigestReport]:
    """Draw the composition `name` afresh and return its digest; yields events."""
    if algorithm not in ALGORITHMS:
        raise UsageError(
            f"`{algorithm}` is no digest algorithm here", hint="it is `blake3` or `sha256`"
        )
    if record and (samples is not None or algorithm != "blake3"):
        raise UsageError("only a whole film's own digest is recorded")
    listed = select(session.project, discover(session.project).compositions, [name], start)
    if len(listed) != 1:
        raise UsageError(f"`{name}` means {len(listed)} compositions", hint="name one")
    film = load_film(session, 0, listed[0], Fraction(1))
    report = DigestReport(film.name, algorithm)
    for warning in film.warnings:
        report.warnings.append(talk_json(warning))
        yield warning
    questions = Questions()
    drawing = Drawing(
        session, [film], questions, Recall(session), png=record, sha256=algorithm == "sha256"
    )
    if film.error is None:
        count = film.scene.frames
        wanted = range(count) if samples is None else sample(count, samples, seed, film.name)
        ask(session, film, questions, wanted)
        numbers = list(questions.numbers(State.UNKNOWN))
        yield Planned(1, len(wanted), len(numbers), len(numbers))
        yield from drawing.draw(numbers)
    if film.error is not None:
        report.errors.append(failure(film.error, film.name))
        yield report.errors[-1]
        return report
    report.seed = seed
    _fill(report, film, drawing)
    if record:
        yield from _record(session, film, questions, report)
    return report


def _fill(report: DigestReport, film: Film, drawing: Drawing) -> None:
    scene = film.scene
    report.frames = len(film.frames)
    report.sampled = len(film.frames) != scene.frames
    if report.algorithm == "sha256":
        digests = [drawing.peer[number] for number in film.frames]
        peer = PeerSequence()
        for one in digests:
            peer.add(one)
        report.digest = shown(peer.digest(), "sha256")
        report.frame_digests = [shown(one, "sha256") for one in digests]
        return
    shape = (film.width, film.height, scene.rate, scene.frames)
    answers = [drawing.questions.digest(number) for number in film.frames]
    report.frame_digests = [shown(one) for one in answers]
    if report.sampled:
        sampled = SampleHasher(*shape)
        for frame, one in zip(film.wanted, answers, strict=True):
            sampled.add_frame(frame, one)
        report.digest = shown(sampled.digest())
        return
    whole = SequenceHasher(*shape)
    for one in answers:
        whole.add(one)
    report.digest = shown(whole.digest())


def _record(
    session: Session, film: Film, questions: Questions, report: DigestReport
) -> Generator[Event, None, None]:
    book = Book(session.project.ledger_folder, session.project.ledger)
    page = book.read(film.listed.stem, film.name)
    entry = None if page is None else page.entry
    tag = session.toolchain.lane
    present = present_of(film, questions)
    decision = decide(judge(entry, tag, present), entry, tag, film.name)
    if decision.action != "untouched":
        book.write(
            film.listed.stem,
            recorded(entry, tag, present, facts={"processor": session.toolchain.level}),
        )
    elif decision.hint is not None:
        if decision.exit_code == EXIT_GATE:
            report.exits.add(EXIT_GATE)
        yield replace(
            Warned("ledger.untouched", "the entry was left as it is"),
            composition=film.name,
            hint=decision.hint,
        )
