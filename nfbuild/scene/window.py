"""Clip windows: when an element shows, and how far it has faded in or out.

A window is closed at both ends and compared without a tolerance: its start and its end, the sum
of start and duration, are doubles, and so is a frame's instant, each the nearest to its exact
value. That is the peer's rule, and `master-demo` shows it: `0.6` and `4.8` end a hair before the
frame at 5.4 seconds.
"""

from __future__ import annotations

from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, SourceError
from nfbuild.scene.numbers import exact
from nfbuild.scene.tree import Element, describe

ATTRIBUTES = ("data-start", "data-duration", "data-fade")


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to `end` seconds, both included; `fade` seconds at each end."""

    start: float
    end: float
    fade: float

    def visible(self, seconds: float) -> bool:
        """Tell whether the element shows at an instant."""
        return self.start <= seconds <= self.end

    def always(self, duration: float) -> bool:
        """Tell whether the window says nothing for the instants 0 to `duration`."""
        return self.fade <= 0.0 and self.start <= 0.0 and self.end >= duration

    def presence(self, seconds: float) -> float:
        """Return the fade's share of opacity, 0 to 1; exactly 1 away from the ends."""
        fade = self.fade
        if fade <= 0.0:
            return 1.0
        share = 1.0
        since = seconds - self.start
        left = self.end - seconds
        if since < fade:
            share = since / fade
        if left < fade:
            out = left / fade
            share = min(share, out)
        return max(share, 0.0)


def read_window(element: Element, file: str, duration: Fraction) -> Window | None:
    """Return the window an element declares, None where it declares nothing about time."""
    start_text, length_text, fade_text = (element.get(name) for name in ATTRIBUTES)
    if start_text is None and length_text is None and fade_text is None:
        return None
    start = Fraction(0) if start_text is None else _seconds(element, file, "data-start")
    length = duration if length_text is None else _seconds(element, file, "data-duration")
    fade = Fraction(0) if fade_text is None else _seconds(element, file, "data-fade")
    return Window(float(start), float(start) + float(length), float(fade))


def _seconds(element: Element, file: str, name: str) -> Fraction:
    text = element.attributes[name]
    value = exact(text)
    if value is None or abs(value) > 1_000_000_000:
        raise SourceError(
            f"`{name}` of `{describe(element)}` is `{text}`, which is no number of seconds",
            place=Place(file, element.line),
            hint=f'write `{name}="0.5"`',
        )
    return value
