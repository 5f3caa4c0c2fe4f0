"""How each film format is encoded: codecs, their options and the container's, as values.

Chosen for equal bytes at equal input. x264 gives other bytes with another number of threads and,
with several vector units, even between two calls: `threads=1:cpu-independent=1` (design facts).
Containers and codecs are told to be bit-exact: no dates, no library versions, no random ids.
Look-ahead is kept short, so that an encoder holds few frames: what it holds is stated here.

`quality` is 1 to 100, higher is better and larger, the same scale for all formats; each turns
it into its codec's own number. The worst is still a picture: H.264 at 40 of 51, VP9 at 50 of 63.
Not here: driving the encoder (`film`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass, field

if TYPE_CHECKING:
    from nfbuild.export.plan import ExportPlan

DEFAULT_QUALITY = 55
X264_LOOKAHEAD = 8
"""Frames that x264 looks ahead, in half-size planes: 8 of these are 3 frames of RGBA."""
VP9_LOOKAHEAD = 0
"""Frames that VP9 looks ahead: it has no use for them here, as its hidden frames are off."""
_LAMBDA = 118
"""FFmpeg's unit of quality: so many of them are one step of a quantiser."""
KEY_INTERVAL = 240
"""At most so many frames from one key frame to the next: seeking decodes no more than these."""


@dataclass(frozen=True)
class Coding:
    """One way of encoding: names as FFmpeg knows them.

    `units` is the container's clock in ticks a second, None where it is the film's own rate.
    `alpha_bound` and `luma_bound` are by how much the mean of a field of a decoded frame may differ
    from what was put in, 0 to 255.
    """

    container: str
    codec: str
    decoder: str
    pixels: str
    options: dict[str, str]
    container_options: dict[str, str] = field(default_factory=dict)
    audio_codec: str = "aac"
    audio_format: str = "fltp"
    audio_rate: int = 48_000
    audio_bit_rate: int | None = None
    units: int | None = None
    alpha_bound: int = 0
    luma_bound: int = 12


def coding_of(plan: ExportPlan) -> Coding:
    """Return how a film is encoded; the plan's format is `mp4`, `webm` or `mov`."""
    quality = DEFAULT_QUALITY if plan.quality is None else plan.quality
    return {"mp4": _mp4, "webm": _webm, "mov": _mov}[plan.format](plan, quality)


def _mp4(plan: ExportPlan, quality: int) -> Coding:
    # 0 would be lossless, in a profile that browsers and phones do not play.
    crf = max(1, _down(quality, 40))
    x264 = (
        "threads=1:cpu-independent=1:lookahead-threads=1:sliced-threads=0:"
        f"rc-lookahead={X264_LOOKAHEAD}:keyint={KEY_INTERVAL}:chromaloc=1"
    )
    return Coding(
        container="mp4",
        codec="libx264",
        decoder="h264",
        pixels="yuv420p",
        options={"preset": "medium", "profile": "high", "crf": str(crf), "x264-params": x264},
        container_options={"movflags": "+faststart", **_exact_clock(plan)},
        audio_bit_rate=192_000,
        luma_bound=_luma_bound(quality),
    )


def _webm(plan: ExportPlan, quality: int) -> Coding:
    options = {
        "crf": str(_down(quality, 50)),
        "b": "0",
        "deadline": "good",
        "cpu-used": "4",
        "row-mt": "0",
        "tile-columns": "0",
        "lag-in-frames": str(VP9_LOOKAHEAD),
        # The codec's hidden frames do not exist in its alpha stream.
        "auto-alt-ref": "0",
        "g": str(KEY_INTERVAL),
    }
    return Coding(
        container="webm",
        codec="libvpx-vp9",
        decoder="libvpx-vp9",  # the decoder of FFmpeg's own ignores alpha
        pixels="yuva420p" if plan.alpha else "yuv420p",
        options=options,
        audio_codec="libopus",
        audio_format="flt",
        audio_bit_rate=160_000,
        units=1000,
        alpha_bound=16,
        luma_bound=_luma_bound(quality),
    )


def _mov(plan: ExportPlan, quality: int) -> Coding:
    options = {"profile": "4444", "vendor": "apl0", "alpha_bits": "16" if plan.alpha else "0"}
    if plan.quality is not None:
        # One quantiser for the whole picture, 1 the finest, instead of a budget of bits.
        options |= {"global_quality": str(_LAMBDA * (1 + _down(quality, 30)))}
    return Coding(
        container="mov",
        codec="prores_ks",
        decoder="prores",
        pixels="yuva444p10le" if plan.alpha else "yuv444p10le",
        options=options,
        container_options=_exact_clock(plan),
        audio_codec="pcm_s16le",
        audio_format="s16",
        alpha_bound=1,
    )


def _exact_clock(plan: ExportPlan) -> dict[str, str]:
    """Return options that make every time of the file a whole number of ticks.

    A QuickTime file has one clock for the whole and one for each track; the default of the first
    is a thousandth of a second, which would cut off a part of the last frame.
    """
    ticks = plan.timing.rate.numerator
    while ticks < 10_000:
        ticks *= 2
    return {"movie_timescale": str(ticks), "video_track_timescale": str(ticks)}


def _luma_bound(quality: int) -> int:
    # Measured on moving blocks in small frames: 2 from quality 40 on, 6 at 20, 36 at 1.
    return 12 if quality >= 40 else 48


def _down(quality: int, worst: int) -> int:
    return round(worst * (100 - quality) / 100)
