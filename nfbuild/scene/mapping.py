"""From a parent's time to the time inside what it embeds: `data-in`, `data-speed`, `data-loop`.

Source: the format's rule, `in + (t - start) * speed`, in exact fractions. Without a loop the time
is held inside 0..duration; with one it wraps.
"""

from __future__ import annotations

from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, SourceError
from nfbuild.scene.numbers import exact
from nfbuild.scene.tree import Element, describe


@dataclass(frozen=True, slots=True)
class Mapping:
    """The clock of one embedded thing."""

    start: Fraction
    into: Fraction
    speed: Fraction
    loop: bool

    def instant(self, instant: Fraction, duration: Fraction) -> Fraction:
        """Return the time inside the source, of `duration` seconds, at the parent's `instant`."""
        mapped = self.into + (instant - self.start) * self.speed
        if self.loop:
            return mapped % duration
        return min(max(mapped, Fraction(0)), duration)


def read_mapping(element: Element, file: str) -> Mapping:
    """Return the clock that an `<image>` declares for what it shows."""
    return Mapping(
        _number(element, file, "data-start", 0),
        _number(element, file, "data-in", 0),
        _number(element, file, "data-speed", 1),
        (element.get("data-loop") or "").strip(" \t\r\n").lower() in ("true", "1", "yes", "on"),
    )


def _number(element: Element, file: str, name: str, default: int) -> Fraction:
    text = element.get(name)
    if text is None:
        return Fraction(default)
    value = exact(text)
    if value is None or abs(value) > 1_000_000_000:
        raise SourceError(
            f"`{name}` of `{describe(element)}` is `{text}`, which is no number",
            place=Place(file, element.line),
            hint=f'write `{name}="{default or 0.5}"`',
            code="media.bad_attribute",
        )
    return value
