"""`frame`: one frame to look at, as a PNG or as the document that is drawn."""

from __future__ import annotations

import os
from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.run.options import read_scale
from nfbuild.ops.run.outputs import write_output
from nfbuild.ops.run.ranges import frame_at
from nfbuild.ops.run.session import Session
from nfbuild.project import discover, select


@dataclass(frozen=True)
class MadeFrame:
    """A frame: the file it was written to, or its document's text."""

    path: str | None = None
    text: str = ""


def frame(
    session: Session,
    name: str,
    start: str,
    *,
    number: int | None = None,
    at: str | None = None,
    output: str | None = None,
    svg: bool = False,
    scale: str = "1",
) -> MadeFrame:
    """Make one frame of the composition `name`, by its number or its instant.

    Raises UsageError where they name no frame, and the composition's own errors.
    """
    listed = select(session.project, discover(session.project).compositions, [name], start)
    if len(listed) != 1:
        raise UsageError(f"`{name}` means {len(listed)} compositions", hint="name one")
    film = load_film(session, 0, listed[0], read_scale(scale))
    if film.error is not None:
        raise film.error
    chosen = _chosen(film, number, at)
    if svg:
        baked = session.answers.settle(lambda: film.scene.bake(chosen))
        text = baked.document.decode("utf-8")
        if output is None:
            return MadeFrame(text=text)
        return written(output, text.encode("utf-8"))
    questions = Questions()
    recall = Recall(session)
    drawing = Drawing(session, [film], questions, recall)
    ask(session, film, questions, [chosen])
    drawing.look_up()
    if recall.png_path_of(questions, film.frames[0]) is None:
        for _ in drawing.draw([film.frames[0]]):
            pass
    if film.error is not None or questions.state(film.frames[0]) is State.FAILED:
        assert film.error is not None
        raise film.error
    png = recall.png(questions.digest(film.frames[0]))
    return written(output or f"{film.name.replace('/', '-')}-{chosen:05d}.png", png)


def _chosen(film: Film, number: int | None, at: str | None) -> int:
    count = film.scene.frames
    if (number is None) == (at is None):
        raise UsageError("name one frame", hint="write its number, or `--at 2.5s`")
    if at is not None:
        return frame_at(at, film.scene.rate, count)
    assert number is not None
    if not 0 <= number < count:
        seconds = float(Fraction(count) / film.scene.rate)
        raise UsageError(
            f"`{film.name}` has no frame {number}",
            hint=f"its frames are 0 to {count - 1} ({seconds:.3f} s)",
        )
    return number


def written(path: str, data: bytes) -> MadeFrame:
    """Write a picture; raises UsageError."""
    write_output(path, [data])
    return MadeFrame(path=os.path.abspath(path))
