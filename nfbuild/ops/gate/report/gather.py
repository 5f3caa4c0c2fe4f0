"""Looking at what moved: pictures before and after, cut to what differs, within a budget of bytes.

Holds two frames at a time. A crop is lossless; where all that moved would make the page too large,
the part with the most moved pixels is cut out, and the whole frame is there reduced.
Not here: the page (`page`), packing (`pack`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from nfbuild.events import Event
from nfbuild.ledger.runs import ranges
from nfbuild.ledger.verdict import SEVERITY, Ranges, Verdict
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.gate import moves as moved_frames
from nfbuild.ops.gate.moves import Judgement, draw_again, find_moves, rasters
from nfbuild.ops.gate.report.pack import QUICK, pack
from nfbuild.ops.gate.report.values import Box, Move, View

if TYPE_CHECKING:
    from nfbuild.pixels.compare import Raster

BUDGET = 3_300_000
"""Bytes of all pictures of a page; in base64 a third more, so the page stays below 5 MB."""
_MOST = 30
_LEAST_SHARE = 24_000
_MARGIN = 8
_THUMB = 400
_LONE = 960
_SMALLEST = 48
_BLOCK = 8
# A first guess is packed quickly; packing well makes about this much of it.
_GUESS = 0.85

_OTHER = (
    "unsound: drawn once more for this page, {count} of the pictures came out otherwise than for"
    " the verdict"
)
_NO_BEFORE = (
    "the frames as they were recorded are in no cache and no shared tier of this machine, so only"
    " the present ones are shown; build the recorded state here, or share a cache, to compare"
)


def gather(
    drawing: Drawing, judged: Sequence[Judgement]
) -> Generator[Event, None, dict[str, View]]:
    """Draw what moved for its pixels; returns what is to be seen, by composition."""
    wanted = [one for one in judged if one.film.error is None and looked_at(one.verdict)]
    wanted.sort(key=lambda one: (SEVERITY.index(one.verdict.kind), one.film.name))
    views: dict[str, View] = {}
    left = BUDGET
    for index, one in enumerate(wanted):
        share = left // (len(wanted) - index)
        view = yield from _view(drawing, one, share)
        left -= sum(move.size for move in view.moves)
        views[one.film.name] = view
    return views


def looked_at(verdict: Verdict) -> Ranges:
    """Return the frames that a report shows: what moved, and what a key did not hold for."""
    if verdict.kind not in ("regression", "changed", "excused"):
        return ()
    stretches = (*verdict.moved, *verdict.regressed, *verdict.unsound)
    return ranges(sorted((first, last - first + 1) for first, last in stretches))


def alarming(verdict: Verdict) -> Ranges:
    """Return the frames whose picture moved while their inputs did not."""
    if verdict.kind != "regression":
        return ()
    stretches = (*verdict.regressed, *verdict.unsound)
    if not stretches and not verdict.reasons:
        return verdict.moved
    return ranges(sorted((first, last - first + 1) for first, last in stretches))


def _view(drawing: Drawing, one: Judgement, share: int) -> Generator[Event, None, View]:
    film, verdict = one.film, one.verdict
    shown, alarms = looked_at(verdict), alarming(verdict)
    moves = find_moves(drawing, one, shown)
    chosen = choose(moves, alarms, max(1, min(_MOST, share // _LEAST_SHARE)))
    other = yield from draw_again(drawing, [move.new for move in chosen if move.new is not None])
    notes = [_OTHER.format(count=len(other))] if other else []
    made: list[Move] = []
    left = share
    for index, move in enumerate(chosen):
        picture = look(drawing, move, left // (len(chosen) - index))
        left -= picture.size
        made.append(picture)
    count = sum(last - first + 1 for first, last in shown)
    reached = [move for move in moves if move.reached]
    if reached and not any(move.old for move in reached):
        notes.append(_NO_BEFORE)
    return View(
        width=film.width,
        height=film.height,
        rate=float(film.scene.rate),
        frames=max([film.scene.frames, *(last + 1 for _, last in shown)]),
        moved=shown,
        regressed=alarms,
        moves=tuple(made),
        left_out=count - sum(len(move.frames) for move in chosen),
        note="; ".join(notes) or None,
    )


def choose(
    moves: Sequence[moved_frames.Move], alarms: Ranges, most: int
) -> list[moved_frames.Move]:
    """Return at most `most` of the moves: the alarms first, then evenly spread over the film."""
    if len(moves) <= most:
        return list(moves)
    alarmed = [
        move for move in moves if any(first <= move.frames[0] <= last for first, last in alarms)
    ]
    if len(alarmed) >= most:
        return _spread(alarmed, most)
    frames = {move.frames[0] for move in alarmed}
    rest = [move for move in moves if move.frames[0] not in frames]
    both = alarmed + _spread(rest, most - len(alarmed))
    return sorted(both, key=lambda move: move.frames[0])


def _spread(moves: Sequence[moved_frames.Move], most: int) -> list[moved_frames.Move]:
    if len(moves) <= most:
        return list(moves)
    if most == 1:
        return [moves[0]]
    return [moves[at * (len(moves) - 1) // (most - 1)] for at in range(most)]


def look(drawing: Drawing, move: moved_frames.Move, share: int) -> Move:
    """Return the pictures of one move, in about `share` bytes."""
    from nfbuild.pixels.compare import difference, reduced  # noqa: PLC0415  NumPy, where needed

    frames = ranges((frame, 1) for frame in move.frames)
    old, new = rasters(drawing, move)
    if new is None or old is None:
        return Move(
            frames,
            note=_absent(move, old, new),
            whole=None if new is None else pack(reduced(new, _LONE)),
            whole_before=None if old is None else pack(reduced(old, _LONE)),
        )
    if (old.width, old.height) != (new.width, new.height):
        return Move(
            frames,
            note=f"the canvas was {old.width} x {old.height}: nothing to lay over one another",
            whole=pack(reduced(new, _LONE)),
            whole_before=pack(reduced(old, _LONE)),
        )
    found = difference(old, new)
    whole = pack(reduced(new, _THUMB))
    if found.box is None:
        note = "the picture is the one that was recorded"
        return Move(frames, note=note, whole=whole)
    full = _grown(found.box, new)
    box = fitted(old, new, full, max(share - 2 * len(whole), _LEAST_SHARE // 2))
    part = box != full
    pictures = cut(old, new, box)
    return Move(
        frames,
        note="the crop shows the part with the most moved pixels; the rest is reduced"
        if part
        else None,
        pixels=found.pixels,
        step=found.step,
        moved=found.box,
        box=box,
        before=pictures[0],
        after=pictures[1],
        heat=pictures[2],
        whole=whole,
        whole_before=pack(reduced(old, _THUMB)) if part else None,
    )


def _absent(move: moved_frames.Move, old: Raster | None, new: Raster | None) -> str:
    if move.new is None:
        return "the film does not reach this frame any more"
    if new is None:
        return "the frame as it is drawn now could not be kept, so there is no picture of it"
    if old is None and not move.reached:
        return "the recorded film did not reach this frame"
    return "the frame as it was recorded is in no cache and no shared tier"


def cut(old: Raster, new: Raster, box: Box) -> tuple[bytes, bytes, bytes]:
    """Return PNG files of a box: before, after, and what differs in colour on nothing."""
    from nfbuild.pixels.arrays import np, rgba  # noqa: PLC0415  as above
    from nfbuild.pixels.compare import Raster, crop, heat_map  # noqa: PLC0415

    first, second = crop(old, box), crop(new, box)
    heat = heat_map(first, second)
    size = (heat.width, heat.height)
    pixels = rgba(heat.pixels, *size).copy()
    same = (rgba(first.pixels, *size) == rgba(second.pixels, *size)).all(axis=2)
    pixels[same] = np.uint8(0)
    return pack(first), pack(second), pack(Raster(pixels.tobytes(), *size))


def fitted(old: Raster, new: Raster, box: Box, share: int) -> Box:
    """Return `box`, or the part of it with the most moved pixels whose pictures fit `share`."""
    from nfbuild.pixels.compare import crop  # noqa: PLC0415  as above

    while True:
        size = 0.0
        for raster in (old, new):
            part = crop(raster, box)
            size += _GUESS * len(pack(part, QUICK))
        width, height = box[2] - box[0], box[3] - box[1]
        if size <= share or max(width, height) <= _SMALLEST:
            return box
        side = max(0.4, min(0.85, (share / size) ** 0.5))
        box = _densest(
            old,
            new,
            box,
            (max(_SMALLEST, int(width * side)), max(_SMALLEST, int(height * side))),
        )


def _densest(old: Raster, new: Raster, box: Box, size: tuple[int, int]) -> Box:
    """Return the window of `size` (width, height) inside `box` that holds the most moved pixels."""
    from nfbuild.pixels.arrays import np, rgba  # noqa: PLC0415  as above

    left, top, right, bottom = box
    width, height = min(size[0], right - left), min(size[1], bottom - top)
    before = rgba(old.pixels, old.width, old.height)[top:bottom, left:right]
    after = rgba(new.pixels, new.width, new.height)[top:bottom, left:right]
    moved = (before != after).any(axis=2)
    sums = np.zeros((moved.shape[0] + 1, moved.shape[1] + 1), dtype=np.int64)
    sums[1:, 1:] = moved.cumsum(axis=0).cumsum(axis=1)
    windows = (
        sums[height:, width:]
        - sums[:-height, width:]
        - sums[height:, :-width]
        + sums[:-height, :-width]
    )[::_BLOCK, ::_BLOCK]
    row, column = divmod(int(windows.argmax()), windows.shape[1])
    left, top = left + column * _BLOCK, top + row * _BLOCK
    return (left, top, left + width, top + height)


def _grown(box: Box, raster: Raster) -> Box:
    return (
        max(0, box[0] - _MARGIN),
        max(0, box[1] - _MARGIN),
        min(raster.width, box[2] + _MARGIN),
        min(raster.height, box[3] + _MARGIN),
    )
