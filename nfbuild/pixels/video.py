"""PyAV's one door: which pictures a video file holds, and some of them decoded.

A film is shown at a composition's frame rate by the rule of FFmpeg's `fps` filter: a picture at
second `t` goes to place `t * rate`, rounded to the nearest (halves up), the last picture at or
before a place is the one that shows there, and there are as many places as the film's length
comes to, rounded the same way. Times count from the first picture.

Pictures are decoded by one thread, from the last keyframe before the first one wanted, and only as
far as is needed; a picture that does not come out of that (a keyframe that is none) is looked for
from the start, so the result is always that of decoding from the start. Containers are told by
their first bytes, never by trial: a playlist that names other files is no film.
Not here: samples into RGBA (`samples`), which pictures are wanted (`scene`), keeping them.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import Any

import av

from nfbuild.dataclasses import dataclass
from nfbuild.errors import MediaError

from .decoded import DecodedPicture
from .samples import straight

# First bytes of the containers that are read, at an offset, and the name of their demuxer.
_CONTAINERS = (
    (4, b"ftyp", "mov"),
    (4, b"moov", "mov"),
    (4, b"mdat", "mov"),
    (4, b"wide", "mov"),
    (4, b"free", "mov"),
    (4, b"skip", "mov"),
    (0, b"\x1a\x45\xdf\xa3", "matroska"),
    (8, b"AVI ", "avi"),
    (0, b"OggS", "ogg"),
    (0, b"\x00\x00\x01\xba", "mpeg"),
    (0, b"\x00\x00\x01\xb3", "mpegvideo"),
)

# Containers whose packets say when each picture shows. In the others times are missing, or are
# those of decoding: there a picture lasts as long as any other.
_TIMED = ("mov", "matroska", "ogg")

_ALPHA_DECODERS = {"vp8": "libvpx", "vp9": "libvpx-vp9"}

# The same inverse transform and no shortcuts, whatever the processor has.
_CODEC_OPTIONS = {"flags": "+bitexact", "idct": "simple"}


@dataclass(frozen=True)
class VideoFacts:
    """A film at some rate: `frames` pictures of `width` x `height` px, lasting `duration` s."""

    width: int
    height: int
    duration: Fraction
    frames: int


def describe(data: bytes, rate: Fraction, *, max_pixels: int, name: str = "video") -> VideoFacts:
    """Return what a film is when shown at `rate`; MediaError where it cannot be decoded."""
    with _opened(data, name, max_pixels) as film:
        first = film.picture(film.first())
        length = film.length
        frames = max(1, _nearest(length * rate))
        return VideoFacts(first.width, first.height, length, frames)


def pictures(
    data: bytes, rate: Fraction, numbers: Iterable[int], *, max_pixels: int, name: str = "video"
) -> Iterator[tuple[int, DecodedPicture]]:
    """Yield (number, picture) for the `numbers` of a film shown at `rate`, rising, each once.

    Numbers past the end give the last picture. MediaError where it cannot be decoded.
    """
    with _opened(data, name, max_pixels) as film:
        places = [_nearest(time * rate) for time in film.times]
        by_stamp: dict[int, list[int]] = {}
        for number in sorted(set(numbers)):
            at = max(0, bisect_right(places, number) - 1)
            by_stamp.setdefault(film.stamps[at], []).append(number)
        for stamp, frame in film.shown(list(by_stamp)):
            picture = film.picture(frame)
            for number in by_stamp[stamp]:
                yield number, picture


def _nearest(value: Fraction) -> int:
    """Return the nearest whole number; halves go up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


@contextmanager
def _opened(data: bytes, name: str, max_pixels: int) -> Iterator[_Film]:
    kind = next((kind for at, magic, kind in _CONTAINERS if data[at:].startswith(magic)), None)
    if kind is None and data[:1] == b"G" and data[188:189] == b"G":
        kind = "mpegts"
    if kind is None:
        raise MediaError(
            f"the video `{name}` is in no container that is read",
            hint="save it as MP4, WebM, Matroska, AVI, Ogg or MPEG",
            code="media.damaged",
        )
    try:
        with av.open(io.BytesIO(data), "r", format=kind, metadata_errors="ignore") as container:
            if not container.streams.video:
                raise MediaError(
                    f"the file `{name}` has no moving picture in it", code="media.empty"
                )
            yield _Film(container, name, max_pixels, timed=kind in _TIMED)
    except av.FFmpegError as error:
        words = str(getattr(error, "strerror", None) or error).splitlines() or ["no reason given"]
        raise MediaError(
            f"the video `{name}` cannot be decoded: {words[0]}",
            hint="save the file again",
            code="media.damaged",
        ) from error


class _Film:
    """An open film: its packets, and its pictures by stamp.

    A stamp tells pictures apart and rises in the order they are shown: the time in units of the
    stream, or a running number where the container gives no times. `stamps` and `times` (seconds
    since the first picture) belong together.
    """

    def __init__(self, container: Any, name: str, max_pixels: int, *, timed: bool) -> None:
        self.name = name
        self.max_pixels = max_pixels
        self._stream = container.streams.video[0]
        self._codec = self._decoder()
        self._primed = False
        self._packets = [p for p in container.demux(self._stream) if p.size and not p.is_corrupt]
        self._kept = [p for p in self._packets if not p.is_discard]
        if not self._kept:
            raise MediaError(f"the video `{name}` holds no picture", code="media.empty")
        self._stamped = timed and all(p.pts is not None for p in self._kept)
        self._keys = [at for at, packet in enumerate(self._packets) if packet.is_keyframe]

    def _decoder(self) -> Any:
        stream = self._stream
        codec = stream.codec_context
        if codec is None:
            raise MediaError(
                f"the video `{self.name}` is coded in a way that is not read",
                hint="save it as H.264, VP9 or AV1",
                code="media.kind",
            )
        says = {name.lower(): value for name, value in stream.metadata.items()}
        if codec.name in _ALPHA_DECODERS and says.get("alpha_mode") == "1":
            # FFmpeg's own decoders leave the second picture out that carries alpha.
            codec = av.CodecContext.create(_ALPHA_DECODERS[codec.name], "r")
            codec.extradata = stream.codec_context.extradata
        codec.thread_count = 1
        codec.thread_type = "NONE"
        codec.options = _CODEC_OPTIONS
        return codec

    @cached_property
    def _base(self) -> Fraction:
        return Fraction(self._stream.time_base)

    @cached_property
    def _step(self) -> Fraction:
        """How long a picture lasts of which nothing else is known."""
        rate = self._stream.average_rate or self._stream.guessed_rate or 25
        return 1 / Fraction(rate)

    @cached_property
    def stamps(self) -> Sequence[int]:
        """The stamps of all pictures, rising."""
        if self._stamped:
            return sorted({packet.pts for packet in self._kept})
        return range(sum(1 for _ in self._decoded(0)))

    @cached_property
    def times(self) -> list[Fraction]:
        """The seconds of all pictures since the first, in the order of `stamps`."""
        unit = self._base if self._stamped else self._step
        first = self.stamps[0] if self.stamps else 0
        return [(stamp - first) * unit for stamp in self.stamps]

    @property
    def length(self) -> Fraction:
        """Seconds from the first picture to the end of the last."""
        last = self._step
        if self._stamped:
            ending = max(self._kept, key=lambda packet: packet.pts)
            last = ending.duration * self._base if ending.duration else self._step
        return self.times[-1] + last

    def first(self) -> Any:
        """Return the first picture that comes out of the decoder."""
        for _, frame in self._decoded(0):
            return frame
        raise self._empty()

    def picture(self, frame: Any) -> DecodedPicture:
        """Return a frame as straight RGBA; MediaError where it is damaged or of a kind unread."""
        if frame.width * frame.height > self.max_pixels:
            raise MediaError(
                f"the video `{self.name}` has {frame.width} x {frame.height} pixels, more than "
                f"{self.max_pixels}",
                hint="make it smaller, or raise the limit",
                code="media.large",
            )
        if frame.is_corrupt:
            raise MediaError(
                f"the video `{self.name}` is damaged",
                hint="save the file again",
                code="media.damaged",
            )
        return straight(frame, name=self.name)

    def shown(self, wanted: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Yield the pictures of the stamps `wanted`, rising; what is between is not converted."""
        if self._stamped:
            run: _Run | None = None
            for at, stamp in enumerate(wanted):
                start = self._key_before(stamp)
                if run is None or start > run.position:
                    run = _Run(self, start)
                frame = run.until(stamp)
                if frame is None:
                    yield from self._from_the_start(wanted[at:])
                    return
                yield stamp, frame
        else:
            yield from self._from_the_start(wanted)

    def _from_the_start(self, wanted: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Yield, for each stamp, the last picture at or before it that the decoder gives."""
        waiting = list(reversed(wanted))
        before = None
        for stamp, frame in self._decoded(0):
            while waiting and stamp > waiting[-1]:
                yield waiting.pop(), frame if before is None else before
            if not waiting:
                return
            before = frame
        if before is None:
            raise self._empty()
        while waiting:
            yield waiting.pop(), before

    def _key_before(self, stamp: int) -> int:
        """Return the packet from which decoding reaches the picture of `stamp`.

        That is the last keyframe that comes before the picture both in the file and on the
        screen: pictures shown before a keyframe but stored behind it need the one before it.
        """
        position = self._positions[stamp]
        for at in range(bisect_right(self._keys, position) - 1, -1, -1):
            shown = self._packets[self._keys[at]].pts
            if shown is not None and shown <= stamp:
                return self._keys[at]
        return 0

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {p.pts: at for at, p in enumerate(self._packets) if not p.is_discard}

    def feed(self, start: int) -> Iterator[tuple[int, list[Any]]]:
        """Decode from packet `start`; yield how many packets were used, and what came out."""
        if start and not self._primed:
            # The first packet tells some decoders which encoder's habits they must allow for.
            self._codec.decode(self._packets[0])
        self._codec.flush_buffers()
        self._primed = True
        for position in range(start, len(self._packets)):
            yield position + 1, self._codec.decode(self._packets[position])
        yield len(self._packets), self._codec.decode(None)

    def _decoded(self, start: int) -> Iterator[tuple[int, Any]]:
        number = 0
        for _, frames in self.feed(start):
            for frame in frames:
                yield (frame.pts if self._stamped and frame.pts is not None else number), frame
                number += 1

    def _empty(self) -> MediaError:
        return MediaError(
            f"no picture of the video `{self.name}` can be decoded",
            hint="save the file again",
            code="media.damaged",
        )


class _Run:
    """Decoding that goes on from one wanted picture to the next."""

    def __init__(self, film: _Film, start: int) -> None:
        self.position = start
        self._fed = film.feed(start)
        self._waiting: list[Any] = []

    def until(self, stamp: int) -> Any | None:
        """Return the picture of `stamp`; None where the decoder gives a later one instead."""
        while True:
            while self._waiting:
                frame = self._waiting[0]
                if frame.pts is None or frame.pts > stamp:
                    return None
                if frame.pts == stamp:
                    return frame
                self._waiting.pop(0)
            following = next(self._fed, None)
            if following is None:
                return None
            self.position, self._waiting = following
