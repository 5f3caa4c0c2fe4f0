"""Stretches of frames that share a static bottom, which a worker draws once and keeps.

Frames are taken in the order in which they are drawn. A stretch is a run of frames of one film
whose leading pieces stay equal; the longest equal run of pieces that pays by the table of costs
(`render.reuse`, never a measured time) is cut off as the bottom. A document is whole in every task:
a worker that keeps nothing draws the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nfbuild.dataclasses import dataclass
from nfbuild.ops.frames.films import Film
from nfbuild.render.reuse import leading_run, split, worth_keeping
from nfbuild.render.tasks import Split
from nfbuild.scene import BakedFrame

_WINDOW = 64
_FEWEST = 3
"""A bottom is drawn once by each worker: fewer frames than this do not pay for it."""


@dataclass(frozen=True)
class Baked:
    """A frame on its way to be drawn: its question, its film and the document."""

    question: int
    film: Film
    frame: BakedFrame


def cut(frames: Iterable[Baked]) -> Iterator[tuple[Baked, Split | None]]:
    """Yield each frame with where its document may be cut, None where it is drawn whole."""
    stretch: list[Baked] = []
    run = 0
    for one in frames:
        if stretch:
            same_film = one.film is stretch[0].film and len(stretch) < _WINDOW
            kept = min(run, _common(stretch[0], one)) if same_film else 0
            if same_film and (kept == run or _pays(stretch[0], kept)):
                run = kept
                stretch.append(one)
                continue
            yield from _with_split(stretch, run)
        stretch, run = [one], len(one.frame.pieces)
    yield from _with_split(stretch, run)


def _common(first: Baked, second: Baked) -> int:
    if first.frame.head != second.frame.head:
        return 0
    return leading_run([first.frame.pieces, second.frame.pieces])


def _pays(one: Baked, run: int) -> bool:
    return run > 0 and worth_keeping(one.frame.pieces[:run], one.film.width, one.film.height)


def _with_split(stretch: list[Baked], run: int) -> Iterator[tuple[Baked, Split | None]]:
    keeps = len(stretch) >= _FEWEST and _pays(stretch[0], run)
    for one in stretch:
        at = split(one.frame.head, one.frame.pieces, run) if keeps else None
        yield one, at
