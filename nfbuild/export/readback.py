"""Opening what was written, and comparing it with what went in.

A product counts only after this: number of frames, the time of each, size, transparency, sound,
and every pixel where the format is lossless (of a lossy WebP every alpha). Of a film each frame's
coarse picture must come back: the mean luma and alpha of up to 16 by 16 fields. A frame that was
lost, swapped for one that looks otherwise, shifted or cut into stripes does not pass.
Raises `ExportError`; what failed is not published. Not here: writing (`make`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass
from nfbuild.export.base import ExportError, Steps
from nfbuild.pixels.arrays import np, rgba
from nfbuild.pixels.digest import frame_digest

if TYPE_CHECKING:
    from nfbuild.export.plan import ExportPlan
    from nfbuild.export.settings import Coding

_FIELDS = 16
_FIELD_SIDE = 8
"""Pixels: what a coarse quantiser does to less than one of its blocks says little."""
_FLOAT_SECONDS = Fraction(1, 10**6)
"""What a reader that tells times as floating-point milliseconds may be off."""
_SOUND_BOUND = Fraction(1, 20)
"""Audio coders work in pieces of up to a fiftieth of a second and add some at both ends."""


@dataclass(frozen=True)
class Picture:
    """What must stand from frame `start` to `end` (exclusive): the digest of its RGBA rows."""

    start: int
    end: int
    digest: str


@dataclass(frozen=True)
class Means:
    """What a frame of a film must come back as, coarsely: mean luma and alpha by field, 0 to 255.

    `alpha` is None in a film without it.
    """

    luma: Any
    alpha: Any


def means_of(planes: list[Any], bits: int) -> Means:
    """Return the means of planes with `bits` bits: luma first, alpha fourth if there is one."""
    luma = _fields(planes[0]) / (1 << (bits - 8))
    alpha = _fields(planes[3]) * 255 / ((1 << bits) - 1) if len(planes) == 4 else None
    return Means(luma, alpha)


def _fields(plane: Any) -> Any:
    """Return the means of a plane's fields."""
    tall, wide = plane.shape
    down, across = (max(1, min(_FIELDS, side // _FIELD_SIDE)) for side in (tall, wide))
    rows = np.arange(down) * tall // down
    columns = np.arange(across) * wide // across
    sums = np.add.reduceat(plane, rows, axis=0, dtype=np.int64)
    sums = np.add.reduceat(sums, columns, axis=1)
    sizes = np.diff(np.append(rows, tall))[:, None] * np.diff(np.append(columns, wide))
    return sums / sizes


def _apart(got: Any, want: Any) -> float:
    return float(np.abs(got - want).max())


def alpha_digest(pixels: bytes | bytearray | memoryview, width: int, height: int) -> str:
    """Return the digest of a raster's alpha alone."""
    only = np.zeros((height, width, 4), dtype=np.uint8)
    only[..., 3] = rgba(pixels, width, height)[..., 3]
    return frame_digest(only.tobytes(), width, height)


def check_animation(
    path: str, plan: ExportPlan, expected: Sequence[Picture], units: int | None, steps: Steps
) -> None:
    """Compare an animated picture with what was put in.

    `units` is the clock of its format in ticks a second, None where times are exact.
    """
    from nfbuild.export.stills import read_animation  # noqa: PLC0415  Pillow

    lossy = plan.format == "webp" and plan.quality is not None
    digest = alpha_digest if lossy else frame_digest
    size = (plan.width, plan.height)
    try:
        with read_animation(path) as animation:
            if (animation.width, animation.height) != size:
                raise _fault(plan, f"is {animation.width} x {animation.height} pixels, not {size}")
            clock = _Clock(plan, expected, units)
            for shown in animation.pictures:
                want = clock.next(shown.seconds)
                if digest(shown.pixels, *size) != want.digest:
                    raise _fault(plan, f"shows other pixels in frame {want.start}")
                steps.at(want.end)
            clock.finish()
    except (OSError, SyntaxError, EOFError, ValueError) as error:
        raise _fault(plan, f"cannot be read: {error}") from error


class _Clock:
    """Walks through the times of an animation: every picture must begin where it should."""

    def __init__(self, plan: ExportPlan, expected: Sequence[Picture], units: int | None) -> None:
        self._plan = plan
        self._expected = expected
        self._units = units
        self._at = 0
        self._now = Fraction(0)
        self._begun = False

    def _time(self, position: int) -> Fraction:
        exact = position / self._plan.timing.rate
        return exact if self._units is None else Fraction(round(exact * self._units), self._units)

    def next(self, seconds: Fraction | None) -> Picture:
        """Return what the next picture must show, given how long it stands."""
        if seconds is None:
            raise _fault(self._plan, f"does not say how long picture {self._at} stands")
        if self._begun and self._now >= self._time(self._expected[self._at].end) - _FLOAT_SECONDS:
            self._at += 1
            self._begun = False
        if self._at == len(self._expected):
            raise _fault(self._plan, f"goes on after {self._plan.timing.count} frames")
        want = self._expected[self._at]
        if not self._begun and abs(self._now - self._time(want.start)) > _FLOAT_SECONDS:
            raise _fault(self._plan, f"shows frame {want.start} at {float(self._now):.6f} s")
        self._begun = True
        self._now += seconds
        return want

    def finish(self) -> None:
        """Check that all pictures came and that the whole is as long as it should be."""
        if self._at != len(self._expected) - 1 or not self._begun:
            raise _fault(self._plan, f"ends before frame {self._expected[-1].start}")
        wanted = self._time(self._plan.timing.count)
        if abs(self._now - wanted) > _FLOAT_SECONDS:
            raise _fault(self._plan, f"lasts {float(self._now):.6f} s, not {float(wanted):.6f} s")


def check_film(
    path: str,
    plan: ExportPlan,
    coding: Coding,
    expected: Sequence[Means],
    steps: Steps,
    *,
    sound: bool,
) -> None:
    """Compare a film with what was put in; `expected` has one value for every frame."""
    from nfbuild.export.film import FilmFault, read_film  # noqa: PLC0415  PyAV

    try:
        facts, frames = read_film(path, coding)
        size = (plan.stored_width, plan.stored_height)
        if (facts.width, facts.height) != size:
            raise _fault(plan, f"is {facts.width} x {facts.height} pixels, not {size}")
        _check_lengths(plan, coding, facts.length, facts.sound, sound=sound)
        half_tick = Fraction(0) if coding.units is None else Fraction(1, 2 * coding.units)
        count = 0
        for frame in frames:
            if count == len(expected):
                raise _fault(plan, f"goes on after {count} frames")
            if abs(frame.time - count / plan.timing.rate) > half_tick:
                raise _fault(plan, f"shows frame {count} at {float(frame.time):.6f} s")
            if (frame.alpha is not None) != plan.alpha:
                raise _fault(plan, "has lost its transparency" if plan.alpha else "is transparent")
            planes = [frame.luma, None, None, frame.alpha]
            got = means_of(planes if plan.alpha else planes[:1], frame.bits)
            want = expected[count]
            if plan.alpha and _apart(got.alpha, want.alpha) > coding.alpha_bound:
                raise _fault(plan, f"has other transparency in frame {count}")
            if _apart(got.luma, want.luma) > coding.luma_bound:
                raise _fault(plan, f"shows another picture in frame {count}")
            count += 1
            steps.at(count)
        if count != len(expected):
            raise _fault(plan, f"has {count} frames, not {len(expected)}")
    except (FilmFault, OSError, IndexError) as error:
        raise _fault(plan, f"cannot be read: {error}") from error


def _check_lengths(
    plan: ExportPlan,
    coding: Coding,
    length: Fraction,
    sound_length: Fraction | None,
    *,
    sound: bool,
) -> None:
    wanted = plan.timing.duration
    bound = Fraction(1, coding.units or 100_000) + (_SOUND_BOUND if sound else 0)
    if abs(length - wanted) > bound:
        raise _fault(plan, f"lasts {float(length):.6f} s, not {float(wanted):.6f} s")
    if (sound_length is not None) != sound:
        raise _fault(plan, "has lost its sound" if sound else "has sound that nobody gave it")
    if sound_length is not None and abs(sound_length - wanted) > _SOUND_BOUND:
        raise _fault(plan, f"has {float(sound_length):.3f} s of sound in {float(wanted):.3f} s")


def _fault(plan: ExportPlan, fact: str) -> ExportError:
    return ExportError(
        f"the {plan.format} of `{plan.composition}`, read back, {fact}; it was not published",
        place=plan.place,
        hint="the former product is still in place; this is a fault of nfbuild or of its encoder",
        code="export.readback",
    )
