"""A film as a list of holds: which picture stands for how many frames.

Animated pictures are written with one picture for each run of equal neighbours, which stands for as
long as all of them. Not here: what a format does with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.export.base import FrameSource, Steps

if TYPE_CHECKING:
    from nfbuild.export.plan import ExportPlan


@dataclass(frozen=True)
class Hold:
    """A run of equal frames: the composition's number of the first, and where it begins and ends.

    `start` and `end` count exported frames, `end` exclusive.
    """

    number: int
    start: int
    end: int


def holds(plan: ExportPlan, source: FrameSource, steps: Steps) -> Iterator[Hold]:
    """Yield the runs of equal neighbours in order, each as soon as the next one has begun.

    Waits for frames; `steps` hears of every frame that has been looked at.
    """
    total = plan.timing.count
    first, start, digest = -1, 0, ""
    for position, number in enumerate(plan.timing.numbers()):
        source.wait(number)
        here = source.digest(number)
        if position and here != digest:
            yield Hold(first, start, position)
            steps.at(position)
        if not position or here != digest:
            first, start, digest = number, position, here
    yield Hold(first, start, total)
    steps.at(total)
