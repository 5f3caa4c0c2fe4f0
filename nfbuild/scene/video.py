"""A video in an `<image>`: which of its pictures a frame shows.

Source: the format's time mapping; the nearest picture shows, halves to the even one, as the peer's
frames have it. Past the end the last picture holds, unless it loops.
"""

from __future__ import annotations

from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place
from nfbuild.scene.baked import PictureRef
from nfbuild.scene.mapping import Mapping
from nfbuild.scene.pool import Pool
from nfbuild.scene.program import Dressing, Run
from nfbuild.scene.protocols import Clip, NeedsAnswers, SourceFile, Videos


@dataclass(frozen=True, slots=True)
class Reel:
    """A video and the clock it is shown on."""

    file: SourceFile
    place: Place
    rate: Fraction
    clip: Clip
    mapping: Mapping

    def number(self, instant: Fraction) -> int:
        """Return which picture shows at the parent's `instant`, the nearest, half to even.

        Past the end it is the last.
        """
        seconds = self.mapping.instant(instant, self.clip.duration)
        return min(self.clip.frames - 1, round(seconds * self.rate))


class Video:
    """Draws one picture of a video."""

    __slots__ = ("after", "before", "dressing", "mask", "pool", "reel", "videos")

    def __init__(
        self,
        reel: Reel,
        videos: Videos,
        pool: Pool,
        *,
        dressing: Dressing,
        before: str,
        after: str,
        mask: int,
    ) -> None:
        self.reel = reel
        self.videos = videos
        self.pool = pool
        self.dressing = dressing
        self.before = before
        self.after = after
        self.mask = mask

    def run(self, run: Run, following: int) -> int:
        """Write the image with the picture that the clock maps to."""
        dressed = self.dressing.dress(run.clock)
        if dressed is None and not self.dressing.kept:
            return following
        reel = self.reel
        number = reel.number(run.clock.instant)
        try:
            picture = self.videos.frame(reel.file, number, rate=reel.rate, place=reel.place)
        except NeedsAnswers as need:
            run.missing += need.requests
            return following
        run.mask |= self.mask | self.pool.picture(PictureRef(picture.digest, picture.suffix))
        opacity, moving = dressed or ("", "")
        text = f'{self.before}{moving} href="{picture.name}"{self.after}'
        if dressed is None:
            text = f'<g display="none">{text}</g>'
        elif opacity:
            text = f'<g opacity="{opacity}">{text}</g>'
        run.out.append(text)
        return following
