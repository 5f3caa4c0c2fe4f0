"""Which frame stands when: one rule for rates, exact to the last step.

An export takes the frames `first` to `last` of a composition that plays at rate r; they cover
n / r seconds. Played at rate R it has round(n * R / r) frames (half to even, at least one), and
frame k, which begins at k / R, shows the frame that is on screen at that instant: number
floor(k * r / R) of the range, and never one past its end. Where R = r that is every frame once; a
higher rate repeats, a lower one drops; nothing is blended.

Formats that keep whole units (GIF hundredths, WebP thousandths of a second) get the *instants*
rounded, never the delays: at 30 a second GIF shows frames for 3, 3, 4 hundredths, so no error adds
up and the whole lasts what it should. Not here: which rate an export has (`plan`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from nfbuild.dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """`count` frames at `rate` a second: `first` to `last` of a film at `source_rate`."""

    first: int
    last: int
    source_rate: Fraction
    rate: Fraction

    @property
    def count(self) -> int:
        """How many frames the export has; at least one."""
        taken = self.last - self.first + 1
        return max(1, round(taken * self.rate / self.source_rate))

    @property
    def duration(self) -> Fraction:
        """How long the export lasts, in seconds."""
        return self.count / self.rate

    def source_number(self, position: int) -> int:
        """Return the frame number of the composition that stands at `position` of the export."""
        taken = position * self.source_rate // self.rate
        return self.first + min(int(taken), self.last - self.first)

    def numbers(self) -> Iterator[int]:
        """Yield the composition's frame number of each exported frame, in order; never falling."""
        if self.rate == self.source_rate:
            yield from range(self.first, self.last + 1)
            return
        step = self.source_rate / self.rate
        for position in range(self.count):
            taken = position * step.numerator // step.denominator
            yield self.first + min(taken, self.last - self.first)


def instant(position: int, rate: Fraction, units: int) -> int:
    """Return when a frame begins, in whole `units` of a second, rounded half to even.

    A hold stands from one instant to the next: whatever single delays lose, the whole is right.
    """
    return round(position * units / rate)
