"""How far frames moved: the pixels that were recorded against those that are drawn now.

A ledger keeps sixteen digits of a frame digest; the whole digest, and through it the pixels, is
found by the composition record of the recorded identity, in the cache or a shared tier. Where that
or a blob is gone, the frame is not measured, and the caller says so.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.digests import FrameDigest
from nfbuild.errors import StoreError
from nfbuild.events import Event
from nfbuild.identity.manifest import composition_id
from nfbuild.ledger.entry import Entry
from nfbuild.ledger.excuse import Measured
from nfbuild.ledger.verdict import Ranges, Verdict
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film

if TYPE_CHECKING:
    from nfbuild.pixels.compare import Raster


@dataclass(frozen=True)
class Judgement:
    """One film that was drawn, what was promised of it, and the verdict."""

    film: Film
    entry: Entry | None
    verdict: Verdict


@dataclass(frozen=True)
class Move:
    """One picture that became another.

    `old` is the digest of what was recorded, None where it is in no cache or where the recorded
    film does not reach; `new` is the question that is drawn now, None where the present film does
    not reach. `frames` are the frame numbers, rising; `reached` says that the record has them.
    """

    old: FrameDigest | None
    new: int | None
    reached: bool
    frames: tuple[int, ...]


def recorded_digests(drawing: Drawing, entry: Entry, tag: str) -> dict[int, FrameDigest]:
    """Return the whole digests of a lane's frames, by number, as far as they are known."""
    lane = entry.lanes.get(tag)
    if lane is None:
        return {}
    runs = drawing.recall.recorded_runs(composition_id(lane.identity), lane.width, lane.height)
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


def find_moves(drawing: Drawing, judged: Judgement, moved: Ranges) -> list[Move]:
    """Return what became what in the frames `moved`, each pair once, by first frame."""
    film, entry, tag = judged.film, judged.entry, judged.verdict.lane
    before: Mapping[int, FrameDigest] = {}
    reach = 0
    if entry is not None and tag is not None and tag in entry.lanes:
        before = recorded_digests(drawing, entry, tag)
        reach = entry.lanes[tag].frames
    now = dict(zip(film.wanted, film.frames, strict=True))
    pairs: dict[tuple[FrameDigest | None, int | None, bool], list[int]] = {}
    for first, last in moved:
        for frame in range(first, last + 1):
            pair = (before.get(frame), now.get(frame), frame < reach)
            pairs.setdefault(pair, []).append(frame)
    found = [Move(*pair, tuple(frames)) for pair, frames in pairs.items()]
    return sorted(found, key=lambda move: move.frames[0])


def draw_again(drawing: Drawing, numbers: Iterable[int]) -> Generator[Event, None, tuple[int, ...]]:
    """Draw questions for their pixels; returns those that now gave another picture."""
    wanted = list(dict.fromkeys(numbers))
    digests = {number: drawing.questions.digest(number) for number in wanted}
    yield from drawing.draw_pictures(wanted)
    return tuple(number for number in wanted if drawing.questions.digest(number) != digests[number])


def rasters(drawing: Drawing, move: Move) -> tuple[Raster | None, Raster | None]:
    """Return what was recorded and what is drawn now; None for pixels that are not at hand."""
    new = None if move.new is None else drawing.questions.digest(move.new)
    return _raster(drawing, move.old), _raster(drawing, new)


def _raster(drawing: Drawing, digest: FrameDigest | None) -> Raster | None:
    from nfbuild.pixels.compare import Raster  # noqa: PLC0415  NumPy, where needed

    if digest is None:
        return None
    try:
        rows, width, height = drawing.recall.pixels(digest)
    except StoreError:
        return None
    return Raster(bytes(rows), width, height)


def measure(drawing: Drawing, moves: Sequence[Move]) -> Iterator[tuple[Move, Measured]]:
    """Yield by how much each pair differs; one whose pixels are not at hand is left out.

    Holds two frames at a time. What is drawn now must have been drawn with its pixels.
    """
    from nfbuild.pixels.compare import difference  # noqa: PLC0415  NumPy, where needed

    for move in moves:
        old, new = rasters(drawing, move)
        if old is None or new is None or (old.width, old.height) != (new.width, new.height):
            continue
        found = difference(old, new)
        yield move, Measured(found.pixels, found.step)
