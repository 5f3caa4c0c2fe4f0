"""What time it is inside one composition, for one frame of the outermost one."""

from __future__ import annotations

from fractions import Fraction

from nfbuild.scene.canvas import Canvas, rounded


class Clock:
    """An exact instant and what follows from it; nested compositions have a clock of their own.

    The instant is `top / bottom` seconds; `seconds` is the double nearest to it.
    """

    __slots__ = ("_bottom", "_canvas", "_fields", "_frame", "_top", "seconds")

    def __init__(self, canvas: Canvas, top: int, bottom: int, frame: int | None = None) -> None:
        self.seconds = top / bottom
        self._top = top
        self._bottom = bottom
        self._canvas = canvas
        self._frame = frame
        self._fields: dict[str, float] | None = None

    @property
    def instant(self) -> Fraction:
        """The exact instant."""
        return Fraction(self._top, self._bottom)

    @property
    def fields(self) -> dict[str, float]:
        """The values that a text template may use; computed on first use."""
        if self._fields is None:
            canvas = self._canvas
            rate = canvas.rate
            frame = self._frame
            if frame is None:
                frame = rounded(self.instant * rate)
            self._fields = {
                "frame": frame,
                "second": self.seconds,
                "time": self.seconds,
                "fps": rate.numerator if rate.denominator == 1 else float(rate),
                "duration": float(canvas.duration),
                "frames": canvas.frames,
            }
        return self._fields
