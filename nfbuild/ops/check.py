"""`check`: what an author should know; nothing is written.

Findings come from the scene (`scene.lint`); what only pixels can tell, a frame in which nothing
is drawn, is told from the digests of frames that the cache knows or that are drawn for it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import EXIT_GATE, NfbuildError, worst_exit
from nfbuild.events import Event, Failed, Planned
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.findings import FaceGlyphs, findings_of
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.run.reports import failure, talk_json
from nfbuild.ops.run.session import Session
from nfbuild.project import discover, select
from nfbuild.scene.lint import blank_frames
from nfbuild.scene.protocols import Finding


@dataclass
class CheckReport:
    """The findings of every composition, in the order of names, files and lines."""

    findings: list[tuple[str, Finding]] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)
    compositions: int = 0

    @property
    def exit_code(self) -> int:
        """1 when a finding is an error; 3 when a composition could not be read."""
        codes = {error.exit_code for error in self.errors}
        if any(finding.severity == "error" for _, finding in self.findings):
            codes.add(EXIT_GATE)
        return worst_exit(codes)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `check --json`."""
        return {
            "schema": "nfbuild.check/1",
            "ok": self.exit_code == 0,
            "compositions": self.compositions,
            "findings": [
                {
                    "code": finding.code,
                    "severity": finding.severity,
                    "composition": name,
                    "file": finding.file,
                    "line": finding.line,
                    "message": finding.message,
                    "hint": finding.hint,
                }
                for name, finding in self.findings
            ],
            "errors": [talk_json(error) for error in self.errors],
            "warnings": [],
        }


def check_project(
    session: Session, names: Sequence[str], start: str
) -> Generator[Event, None, CheckReport]:
    """Check the compositions that `names` mean; yields progress, returns the findings."""
    listed = select(session.project, discover(session.project).compositions, names, start)
    report = CheckReport(compositions=len(listed))
    glyphs = FaceGlyphs()
    questions = Questions()
    films: list[Film] = []
    drawing = Drawing(session, films, questions, Recall(session), png=False)
    for index, one in enumerate(listed):
        film = load_film(session, index, one, Fraction(1))
        films.append(film)
        try:
            if film.error is not None:
                raise film.error
            found = findings_of(session, film, glyphs)
            report.findings.extend((film.name, finding) for finding in found)
            ask(session, film, questions, range(film.scene.frames))
        except NfbuildError as error:
            film.error = error
            report.errors.append(failure(error, film.name))
            yield report.errors[-1]
    drawing.look_up()
    unknown = list(questions.numbers(State.UNKNOWN))
    yield Planned(len(films), sum(len(f.frames) for f in films), len(questions), len(unknown))
    yield from drawing.draw(unknown)
    for film in films:
        if film.composition is None or film.error is not None:
            continue
        found = blank_frames(film.scene, _blank(film, questions))
        report.findings.extend((film.name, finding) for finding in found)
    report.findings.sort(key=lambda row: row[0].encode("utf-8", "surrogatepass"))
    return report


def _blank(film: Film, questions: Questions) -> list[int]:
    from nfbuild.pixels.digest import frame_digest  # noqa: PLC0415  with the frames

    nothing = frame_digest(bytes(4 * film.width * film.height), film.width, film.height)
    return [
        frame
        for frame, number in enumerate(film.frames)
        if questions.state(number) is not State.FAILED and questions.digest(number) == nothing
    ]
