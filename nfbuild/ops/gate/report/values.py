"""What the page shows: plain values, already measured, cut and packed.

Not here: where pictures come from (`gather`), how they are laid out (`page`).
"""

from __future__ import annotations

from typing import TypeAlias

from nfbuild.dataclasses import dataclass

Box: TypeAlias = tuple[int, int, int, int]
"""(left, top, right, bottom) in canvas pixels, right and bottom exclusive."""
Ranges: TypeAlias = "tuple[tuple[int, int], ...]"


@dataclass(frozen=True)
class Move:
    """One picture that became another, and all frames in which it did.

    `frames` are inclusive ranges of frame numbers. `pixels` and `step` measure the whole frame;
    `moved` holds everything that differs. `box` is what `before`, `after` and `heat` (PNG files,
    lossless; `heat` is clear where nothing differs) show of the canvas; it is smaller than `moved`
    where the page would grow too large. `whole` is the frame as it is now, reduced; `whole_before`
    as it was, where `box` does not show all that moved. A picture that is not at hand is None, and
    `note` says why.
    """

    frames: Ranges
    note: str | None = None
    pixels: int = 0
    step: int = 0
    moved: Box | None = None
    box: Box | None = None
    before: bytes | None = None
    after: bytes | None = None
    heat: bytes | None = None
    whole: bytes | None = None
    whole_before: bytes | None = None

    @property
    def size(self) -> int:
        """How many bytes of pictures it holds."""
        pictures = (self.before, self.after, self.heat, self.whole, self.whole_before)
        return sum(len(one) for one in pictures if one is not None)


@dataclass(frozen=True)
class View:
    """What is to be seen of one composition.

    `width` and `height` are the canvas in pixels, `rate` frames a second. `frames` reaches to the
    end of the longer film. `moved` and `regressed` are inclusive ranges; `moves` are the pictures
    shown, by first frame, and `left_out` counts the moved frames that none of them stands for.
    """

    width: int
    height: int
    rate: float
    frames: int
    moved: Ranges = ()
    regressed: Ranges = ()
    moves: tuple[Move, ...] = ()
    left_out: int = 0
    note: str | None = None
