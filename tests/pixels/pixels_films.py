"""Small films made by PyAV, each picture told apart by its pixels."""

import io
from fractions import Fraction

import av
import numpy as np

WIDTH, HEIGHT = 64, 48


def planes_of(number, width=WIDTH, height=HEIGHT, *, alpha=False):
    """A pattern that moves with `number`: luma waves, slow chroma, a block of alpha."""
    y, x = np.mgrid[0:height, 0:width]
    luma = (16 + (x * 3 + y * 2 + number * 11) % 200).astype(np.uint8)
    y, x = np.mgrid[0 : height // 2, 0 : width // 2]
    blue = (100 + (x + number * 3) % 56).astype(np.uint8)
    red = (90 + (y * 2 + number * 5) % 70).astype(np.uint8)
    planes = [luma, blue, red]
    if alpha:
        cover = np.full((height, width), 255, np.uint8)
        cover[: height // 2, : width // 2] = (number * 23) % 256
        planes.append(cover)
    return planes


def film(
    count,
    *,
    codec="libx264",
    rate=25,
    options=None,
    container="mp4",
    times=None,
    base=None,
    alpha=False,
    size=(WIDTH, HEIGHT),
    picture=planes_of,
    pixels=None,
):
    """Return the bytes of a film of `count` pictures, shown at `times` (of `base`) if given."""
    width, height = size
    file = io.BytesIO()
    with av.open(file, "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate, options=options or {})
        stream.width, stream.height = width, height
        stream.pix_fmt = pixels or ("yuva420p" if alpha else "yuv420p")
        stream.codec_context.thread_count = 1
        if base is not None:
            stream.codec_context.time_base = base
        if alpha:
            stream.metadata["alpha_mode"] = "1"
        for number in range(count):
            frame = av.VideoFrame(width, height, stream.pix_fmt)
            for plane, samples in zip(
                frame.planes,
                picture(number, width, height, **({"alpha": True} if alpha else {})),
                strict=True,
            ):
                padded = np.zeros((plane.height, plane.line_size), np.uint8)
                padded[:, : samples.shape[1]] = samples
                plane.update(padded.tobytes())
            frame.pts = number if times is None else times[number]
            frame.time_base = base or Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return file.getvalue()


X264 = {
    "closed, no B": {"x264-params": "keyint=7:min-keyint=7:bframes=0:open-gop=0:scenecut=0"},
    "closed, B": {"x264-params": "keyint=8:min-keyint=8:bframes=3:open-gop=0:scenecut=0"},
    "open, B": {"x264-params": "keyint=8:min-keyint=4:bframes=3:b-pyramid=2:open-gop=1:scenecut=0"},
    "one keyframe": {"x264-params": "keyint=infinite:bframes=2"},
    "refreshed": {"x264-params": "keyint=10:intra-refresh=1:bframes=0"},
}
MPEG4 = {"g": "6", "bf": "2", "flags": "+bitexact"}
VP9 = {"deadline": "realtime", "cpu-used": "8", "g": "6", "auto-alt-ref": "0", "row-mt": "0"}
VP8 = {"deadline": "good", "cpu-used": "4", "g": "9", "auto-alt-ref": "1", "lag-in-frames": "8"}

FILMS = {
    **{f"h264 {name}": {"options": options} for name, options in X264.items()},
    "h264 open in matroska": {"options": X264["open, B"], "container": "matroska"},
    "h264 open in avi": {"options": X264["open, B"], "container": "avi"},
    "mpeg4 in mp4": {"codec": "mpeg4", "options": MPEG4},
    "mpeg4 in avi": {"codec": "mpeg4", "options": MPEG4, "container": "avi"},
    "mpeg2 in a program stream": {"codec": "mpeg2video", "options": MPEG4, "container": "mpeg"},
    "vp8 with hidden pictures": {"codec": "libvpx", "options": VP8, "container": "webm"},
    "vp9": {"codec": "libvpx-vp9", "options": VP9, "container": "webm"},
    "vp9 with alpha": {"codec": "libvpx-vp9", "options": VP9, "container": "webm", "alpha": True},
    "mjpeg": {"codec": "mjpeg", "container": "matroska", "pixels": "yuvj420p"},
}
