"""Which frames: ranges as `A:B`, marker names, and instants as `2.5s`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError


@dataclass(frozen=True)
class Span:
    """An inclusive range of frame numbers, or a marker; an open end is None."""

    first: int | None = None
    last: int | None = None
    marker: str | None = None

    def frames(self, count: int, markers: Mapping[str, tuple[int, int]]) -> Sequence[int]:
        """Return the frame numbers of a film of `count` frames; raises UsageError when none is."""
        first, last = self.first or 0, count - 1 if self.last is None else self.last
        if self.marker is not None:
            if self.marker not in markers:
                known = ", ".join(f"`{name}`" for name in markers) or "none"
                raise UsageError(
                    f"there is no marker `{self.marker}`", hint=f"the markers are: {known}"
                )
            first, last = markers[self.marker]
        if first > last or first >= count:
            raise UsageError(
                f"no frame lies in {first}:{last}", hint=f"the frames are 0 to {count - 1}"
            )
        return range(first, min(last, count - 1) + 1)


def parse_range(text: str) -> Span:
    """Return what `--range` says: `A:B` (both ends included, either may be left out) or a marker.

    Raises UsageError for a range that runs backwards.
    """
    left, colon, right = text.partition(":")
    if not colon:
        if _is_number(text):
            return Span(int(text), int(text))
        return Span(marker=text)
    if (left and not _is_number(left)) or (right and not _is_number(right)):
        raise UsageError(f"`{text}` is no range of frames", hint="write it as `10:20`")
    first = int(left) if left else None
    last = int(right) if right else None
    if first is not None and last is not None and first > last:
        raise UsageError(f"the range `{text}` runs backwards", hint=f"write `{last}:{first}`")
    return Span(first, last)


def frame_at(text: str, rate: Fraction, count: int) -> int:
    """Return the frame that shows at an instant like `2.5s`, `2.5` or `1/3`; UsageError else."""
    try:
        seconds = Fraction(text.strip().removesuffix("s"))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"`{text}` is no instant", hint="write seconds, as `2.5s`") from None
    number = seconds * rate
    if seconds < 0 or number >= count:
        raise UsageError(
            f"nothing shows at {text}",
            hint=f"the film has {count} frames and lasts {float(count / rate):.3f} s",
        )
    return int(number)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
