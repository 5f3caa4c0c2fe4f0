"""Reading products with other libraries than those that wrote and checked them.

Films, APNG and GIF are decoded by the `ffmpeg` program (another build of another version than the
one inside PyAV), animated WebP by Pillow, as no release of Debian has another decoder of it.
"""

from __future__ import annotations

import bisect
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from fractions import Fraction

import pytest

needs_ffmpeg = pytest.mark.skipif(
    shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None,
    reason="the second decoder is the program `ffmpeg`, which is not installed",
)


@dataclass(frozen=True)
class Seen:
    """What a viewer sees: pictures with the time at which each begins, and when the last ends."""

    width: int
    height: int
    starts: list[Fraction]
    end: Fraction
    pictures: list[bytes]

    def at(self, time: Fraction) -> bytes:
        """Return the picture that is on screen at an instant."""
        return self.pictures[bisect.bisect_right(self.starts, time) - 1]


def second_look(path: str, kind: str) -> Seen:
    """Decode a product; RGBA pictures in order."""
    return _by_pillow(path) if kind == "webp" else _by_ffmpeg(path, kind)


def _by_pillow(path: str) -> Seen:
    from PIL import Image

    starts, pictures, now = [], [], Fraction(0)
    with Image.open(path) as image:
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            pictures.append(image.convert("RGBA").tobytes())
            starts.append(now)
            now += Fraction(image.info["duration"]) / 1000
        return Seen(*image.size, starts, now, pictures)


def _by_ffmpeg(path: str, kind: str) -> Seen:
    # Only this decoder of VP9 knows of transparency.
    decoder = ["-c:v", "libvpx-vp9"] if kind == "webm" else []
    entries = "frame=pts_time,pkt_duration_time,width,height:format=duration"
    asked = ["ffprobe", "-v", "error", "-select_streams", "v", "-of", "json"]
    found = subprocess.run(
        [*asked, "-show_entries", entries, path], capture_output=True, check=True
    )
    told = json.loads(found.stdout)
    frames = told["frames"]
    width, height = frames[0]["width"], frames[0]["height"]
    starts = [Fraction(frame["pts_time"]) for frame in frames]
    if "pkt_duration_time" in frames[-1] and kind != "webm":
        end = starts[-1] + Fraction(frames[-1]["pkt_duration_time"])
    else:
        end = Fraction(told["format"]["duration"])
    asked = ["ffmpeg", "-v", "error", *decoder, "-i", path, "-fps_mode", "passthrough"]
    raw = subprocess.run(
        [*asked, "-f", "rawvideo", "-pix_fmt", "rgba", "-"], capture_output=True, check=True
    ).stdout
    step = 4 * width * height
    pictures = [raw[at : at + step] for at in range(0, len(raw), step)]
    assert len(pictures) == len(starts), f"{os.path.basename(path)}: pictures without times"
    return Seen(width, height, starts, end, pictures)
