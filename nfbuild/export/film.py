"""PyAV's one door: films are encoded, muxed and decoded here.

Frames go in as planes of our own making (`yuv`), so no colour is converted by the library. Every
frame has an exact time, its number over the rate, and equal neighbours are converted once. One
frame is held here at a time; how many the encoder holds is `settings`' business.
Not here: options of codecs (`settings`), judging what is decoded (`readback`), sound (`sound`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError
from nfbuild.pixels.arrays import np

try:
    import av
    import av.error
    from av.audio.fifo import AudioFifo
    from av.audio.resampler import AudioResampler
    from av.codec.context import Flags
except ImportError as error:
    raise UsageError(
        "films need the package `av`, which is not installed",
        hint='install it with `pip install "nfbuild[video]"`',
    ) from error

if TYPE_CHECKING:
    from nfbuild.export.settings import Coding

FilmFault = av.error.FFmpegError
"""What the library raises; an `OSError` too where the system refused."""
_BT709 = 1
_LIMITED = 1


@dataclass(frozen=True)
class Moment:
    """One frame on its way in: its planes, and whether they are those of the frame before."""

    planes: list[Any]
    same: bool


def encode_film(
    path: str,
    coding: Coding,
    size: tuple[int, int],
    rate: Fraction,
    moments: Iterable[Moment],
    *,
    sound: bytes | None = None,
    length: Fraction = Fraction(0),
) -> None:
    """Write a film of `size` (stored width and height) at `rate` frames a second to a new file.

    `sound` is an audio file's bytes; it is cut off or filled up with silence to `length` seconds.
    Raises `FilmFault` when the library refuses, `OSError` when the disk does.
    """
    options = {"fflags": "+bitexact", **coding.container_options}
    with av.open(path, "w", format=coding.container, options=options) as container:
        stream: Any = container.add_stream(coding.codec, rate=rate)
        context = stream.codec_context
        context.width, context.height = size
        context.pix_fmt = coding.pixels
        context.time_base = 1 / rate
        context.thread_count = 1
        context.flags |= Flags.bitexact
        context.options = coding.options
        context.colorspace = context.color_primaries = context.color_trc = _BT709
        context.color_range = _LIMITED
        stream.time_base = 1 / rate
        track = None if sound is None else _Track(container, coding, sound, length)
        frame: Any = None
        for position, moment in enumerate(moments):
            if frame is None or not moment.same:
                frame = _frame(coding.pixels, size, moment.planes)
            frame.pts = position
            frame.time_base = 1 / rate
            frame.duration = 1
            for packet in stream.encode(frame):
                container.mux(packet)
            if track is not None:
                track.write_until((position + 1) / rate)
        for packet in stream.encode(None):
            container.mux(packet)
        if track is not None:
            track.finish()


def _frame(pixels: str, size: tuple[int, int], planes: list[Any]) -> Any:
    frame: Any = av.VideoFrame(*size, pixels)
    for plane, values in zip(frame.planes, planes, strict=True):
        rows = np.frombuffer(plane, dtype=values.dtype)
        rows = rows.reshape(plane.height, plane.line_size // values.itemsize)
        rows[:, : values.shape[1]] = values
    frame.colorspace = frame.color_primaries = frame.color_trc = _BT709
    frame.color_range = _LIMITED
    return frame


class _Track:
    """The audio stream: a file's sound from its beginning, exactly as long as the film."""

    def __init__(self, container: Any, coding: Coding, data: bytes, length: Fraction) -> None:
        self._container = container
        self._rate = coding.audio_rate
        self._left = round(length * self._rate)
        self._written = 0
        self._stream = container.add_stream(coding.audio_codec, rate=self._rate, layout="stereo")
        context = self._stream.codec_context
        context.format = coding.audio_format
        context.time_base = Fraction(1, self._rate)
        context.thread_count = 1
        context.flags |= Flags.bitexact
        if coding.audio_bit_rate is not None:
            context.bit_rate = coding.audio_bit_rate
        self._fifo: Any = AudioFifo()
        self._source = self._resampled(io.BytesIO(data), coding.audio_format)
        self._format = coding.audio_format

    def _resampled(self, file: Any, form: str) -> Iterator[Any]:
        with av.open(file, "r") as audio:
            resampler = AudioResampler(format=form, layout="stereo", rate=self._rate)
            for frame in audio.decode(audio=0):
                frame.pts = None
                yield from resampler.resample(frame)
            yield from resampler.resample(None)

    def write_until(self, time: Fraction) -> None:
        """Encode the sound up to `time` seconds, in pieces the encoder likes."""
        size = self._stream.codec_context.frame_size or 1024
        while self._left and self._written < time * self._rate:
            self._write(min(size, self._left))

    def finish(self) -> None:
        """Encode what is left and end the stream."""
        self.write_until(Fraction(self._written + self._left, self._rate))
        for packet in self._stream.encode(None):
            self._container.mux(packet)

    def _write(self, samples: int) -> None:
        while self._fifo.samples < samples:
            frame = next(self._source, None)
            if frame is None:
                frame = self._silence(samples - self._fifo.samples)
            frame.pts = None
            self._fifo.write(frame)
        frame = self._fifo.read(samples)
        frame.pts = self._written
        frame.time_base = Fraction(1, self._rate)
        self._written += samples
        self._left -= samples
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def _silence(self, samples: int) -> Any:
        frame: Any = av.AudioFrame(format=self._format, layout="stereo", samples=samples)
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        frame.sample_rate = self._rate
        return frame


def has_sound(data: bytes) -> bool:
    """Tell whether the bytes of a file begin with sound that can be decoded."""
    try:
        with av.open(io.BytesIO(data), "r") as audio:
            return bool(audio.streams.audio) and next(audio.decode(audio=0), None) is not None
    except FilmFault:
        return False


@dataclass(frozen=True)
class Decoded:
    """One frame read back: when it is shown, in seconds, and its planes as they are stored.

    `luma` and `alpha` have shape (height, width) and `bits` bits; `alpha` is None without one.
    """

    time: Fraction
    bits: int
    luma: Any
    alpha: Any


@dataclass(frozen=True)
class Facts:
    """What a container says of its film; lengths in seconds, `sound` None without such a stream."""

    width: int
    height: int
    length: Fraction
    sound: Fraction | None


def read_film(path: str, coding: Coding) -> tuple[Facts, Iterator[Decoded]]:
    """Open a film; return what it says of itself and its frames in the order they are shown."""
    container = av.open(path, "r")
    stream: Any = container.streams.video[0]
    audio = container.streams.audio
    length = Fraction(container.duration or 0, av.time_base)
    facts = Facts(stream.width, stream.height, length, _sound_length(path) if audio else None)
    return facts, _decoded(container, stream, coding)


def _sound_length(path: str) -> Fraction:
    # Decoded, not believed.
    samples = 0
    rate = 1
    with av.open(path, "r") as container:
        for frame in container.decode(audio=0):
            samples += frame.samples
            rate = frame.sample_rate
    return Fraction(samples, rate)


def _decoded(container: Any, stream: Any, coding: Coding) -> Iterator[Decoded]:
    with container:
        context: Any = av.CodecContext.create(coding.decoder, "r")
        context.extradata = stream.codec_context.extradata
        context.thread_count = 1
        for packet in container.demux(stream):
            for frame in context.decode(packet if packet.size else None):
                yield _planes(frame, stream.time_base)


def _planes(frame: Any, base: Fraction) -> Decoded:
    bits = frame.format.components[0].bits
    views = [
        np.frombuffer(plane, dtype=np.uint16 if bits > 8 else np.uint8).reshape(plane.height, -1)
        for plane in frame.planes
    ]
    luma = views[0][:, : frame.width]
    alpha = views[3][:, : frame.width] if len(views) == 4 else None
    return Decoded(frame.pts * base, bits, luma, alpha)
