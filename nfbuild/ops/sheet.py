"""`sheet`: a contact sheet of a composition, or one frame under the ghosts of its neighbours."""

from __future__ import annotations

import os
from collections.abc import Generator
from fractions import Fraction

from nfbuild.errors import UsageError
from nfbuild.events import Event, Planned
from nfbuild.ops.exports.source import Drawn, FilmSource
from nfbuild.ops.frame import MadeFrame, written
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.run.session import Session
from nfbuild.project import discover, select


def sheet(
    session: Session,
    name: str,
    start: str,
    *,
    cells: int = 12,
    onion: int | None = None,
    output: str | None = None,
) -> Generator[Event, None, MadeFrame]:
    """Draw what the picture needs and write it; yields events. `onion` is a frame number."""
    from nfbuild.export.pictures import (  # noqa: PLC0415  NumPy, for this command only
        contact_sheet,
        onion_skin,
        sheet_layout,
        spread,
    )

    listed = select(session.project, discover(session.project).compositions, [name], start)
    if len(listed) != 1:
        raise UsageError(f"`{name}` means {len(listed)} compositions", hint="name one")
    film = load_film(session, 0, listed[0], Fraction(1))
    if film.error is not None:
        raise film.error
    count = film.scene.frames
    if onion is not None and not 0 <= onion < count:
        raise UsageError(f"there is no frame {onion}", hint=f"frames are 0 to {count - 1}")
    questions = Questions()
    recall = Recall(session)
    drawing = Drawing(session, [film], questions, recall)
    ask(session, film, questions, range(count))
    drawing.look_up()
    shown = (
        spread(count, cells) if onion is None else range(max(0, onion - 2), min(count, onion + 3))
    )
    wanted = [
        number
        for number in dict.fromkeys(film.frames[frame] for frame in shown)
        if questions.state(number) is State.UNKNOWN
        or recall.png_path(questions.digest(number)) is None
    ]
    yield Planned(1, len(shown), len(wanted), len(wanted))
    yield from drawing.draw(wanted)
    if film.error is not None:
        raise film.error
    source = FilmSource(film, questions, recall, Drawn(drawing))
    if onion is None:
        data = contact_sheet(source, list(shown), sheet_layout(source, len(shown)))
    else:
        data = onion_skin(source, onion)
    kind = "sheet" if onion is None else f"onion-{onion:05d}"
    return written(output or f"{os.path.basename(film.name)}-{kind}.png", data)
