"""The targets, as data: what is compared with what, within one run.

A target is text and a judgement: the table prints what was reached beside what was asked, and a
target that is missed is printed like one that is met, with another word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.measure import Figures


@dataclass(frozen=True)
class Judged:
    """A target and what was reached."""

    text: str
    reached: str
    passed: bool


@dataclass(frozen=True)
class AtMost:
    """`who` takes at most `factor` times `than`, plus `allowance` seconds for start-up."""

    who: str
    factor: float
    than: str
    allowance: float = 0.0

    def judge(self, figures: Mapping[str, Figures]) -> Judged:
        """Return what was reached in one run."""
        mine, other = figures[self.who].median, figures[self.than].median
        extra = f" + {self.allowance:g} s" if self.allowance else ""
        limit = self.factor * other + self.allowance
        return Judged(
            f"{self.who} at most {self.factor:g} x {self.than}{extra}",
            f"{mine:.3f} s of {limit:.3f} s ({mine / other:.2f} x)",
            mine <= limit,
        )


@dataclass(frozen=True)
class AtMostSlower:
    """`who` takes at most `factor` times the slower of some others."""

    who: str
    factor: float
    than: tuple[str, ...]

    def judge(self, figures: Mapping[str, Figures]) -> Judged:
        """Return what was reached in one run."""
        mine = figures[self.who].median
        slower = max(self.than, key=lambda name: figures[name].median)
        other = figures[slower].median
        return Judged(
            f"{self.who} at most {self.factor:g} x the slower of {', '.join(self.than)}",
            f"{mine:.3f} s of {self.factor * other:.3f} s ({mine / other:.2f} x {slower})",
            mine <= self.factor * other,
        )


@dataclass(frozen=True)
class Faster:
    """`who` is at least `times` times faster than `than`."""

    who: str
    times: float
    than: str

    def judge(self, figures: Mapping[str, Figures]) -> Judged:
        """Return what was reached in one run."""
        ratio = figures[self.than].median / figures[self.who].median
        return Judged(
            f"{self.who} at least {self.times:g} x faster than {self.than}",
            f"{ratio:.1f} x",
            ratio >= self.times,
        )


@dataclass(frozen=True)
class Within:
    """`who` takes at most `seconds`."""

    who: str
    seconds: float

    def judge(self, figures: Mapping[str, Figures]) -> Judged:
        """Return what was reached in one run."""
        mine = figures[self.who].median
        return Judged(
            f"{self.who} at most {self.seconds:g} s", f"{mine:.3f} s", mine <= self.seconds
        )


@dataclass(frozen=True)
class Memory:
    """Peak memory of `who`: of the parent, or of its largest worker, at most `megabytes`."""

    who: str
    megabytes: float
    worker: bool = False

    def judge(self, figures: Mapping[str, Figures]) -> Judged:
        """Return what was reached in one run."""
        mine = figures[self.who]
        size = (mine.worker_bytes if self.worker else mine.parent_bytes) / 1e6
        part = "a worker" if self.worker else "the parent"
        return Judged(
            f"{self.who}: {part} at most {self.megabytes:.0f} MB",
            f"{size:.0f} MB",
            0 < size <= self.megabytes,
        )


@dataclass(frozen=True)
class GrowsBy:
    """The parent's memory grows by at most `bytes_a_frame` from `small` to `large`."""

    small: str
    large: str
    frames: int
    bytes_a_frame: float

    def judge(self, figures: Mapping[str, Figures]) -> Judged:
        """Return what was reached in one run."""
        grown = figures[self.large].parent_bytes - figures[self.small].parent_bytes
        each = grown / self.frames
        return Judged(
            f"the parent grows by at most {self.bytes_a_frame:g} bytes a frame",
            f"{each:.0f} bytes",
            each <= self.bytes_a_frame,
        )


Target = AtMost | AtMostSlower | Faster | Within | Memory | GrowsBy
