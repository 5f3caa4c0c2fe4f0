"""How far frames moved: the pixels that were recorded against those that are drawn now.

A ledger keeps sixteen digits of a frame digest; the whole digest, and through it the pixels, is
found by the composition record of the recorded identity. Where that or a blob is gone, the frame
is not measured, and the caller says so.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from nfbuild.digests import FrameDigest
from nfbuild.errors import StoreError
from nfbuild.events import Event
from nfbuild.identity.manifest import composition_id
from nfbuild.ledger.entry import Entry
from nfbuild.ledger.excuse import Measured
from nfbuild.ledger.verdict import Verdict
from nfbuild.ops.drawing import Drawing
from nfbuild.ops.films import Film
from nfbuild.ops.session import Session


def recorded_digests(
    drawing: Drawing, film: Film, entry: Entry, tag: str
) -> dict[int, FrameDigest]:
    """Return the whole digests of a lane's frames, by number, as far as they are known."""
    lane = entry.lanes.get(tag)
    if lane is None:
        return {}
    runs = drawing.recall.runs_of(composition_id(lane.identity), film.width, film.height)
    numbered: dict[int, FrameDigest] = {}
    at = 0
    for run in runs or ():
        for number in range(at, at + run.length):
            numbered[number] = run.digest
        at += run.length
    # What the record says must be what the ledger says: a record can be another film's.
    return {
        number: numbered[number]
        for number, frame in enumerate(lane.runs.expand())
        if number in numbered and frame is not None and numbered[number].startswith(frame.digest)
    }


def measure_moves(
    session: Session, drawing: Drawing, film: Film, entry: Entry, verdict: Verdict
) -> Generator[Event, None, dict[int, Measured]]:
    """Return by how much each moved frame differs; a frame whose pixels are gone is left out."""
    from nfbuild.pixels.compare import Raster, difference  # noqa: PLC0415  NumPy, where needed

    before = recorded_digests(drawing, film, entry, verdict.lane or session.toolchain.lane)
    moved = [
        number
        for first, last in verdict.moved
        for number in range(first, last + 1)
        if number in before and number < len(film.frames)
    ]
    yield from drawing.draw_pictures({film.frames[number] for number in moved})
    measured: dict[int, Measured] = {}
    for number, old, new in _pairs(drawing, film, before, moved):
        found = difference(
            Raster(bytes(old), film.width, film.height), Raster(bytes(new), film.width, film.height)
        )
        measured[number] = Measured(found.pixels, found.step)
    return measured


def _pairs(
    drawing: Drawing, film: Film, before: dict[int, FrameDigest], moved: list[int]
) -> Iterator[tuple[int, memoryview, memoryview]]:
    for number in moved:
        try:
            old, width, height = drawing.recall.pixels(before[number])
            new, _, _ = drawing.recall.pixels(drawing.questions.digest(film.frames[number]))
        except StoreError:
            continue
        if (width, height) == (film.width, film.height):
            yield number, old, new
