"""Pillow's door in exports: single pictures of WebP and GIF, and reading animated ones.

Pillow writes animations too, but holds all frames in memory, merges equal ones and leaves their
times to its own rounding; so the containers are written here (`webp`, `gif`, `apng`) and Pillow
compresses one picture at a time. It reads whole products for `readback`: what the library that
browsers share makes of a file is the best test of what was written.
`pixels.decode` is Pillow's door for pictures that compositions draw; the two are apart because
that one belongs to the pixel core, whose bytes name every frame.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from PIL import Image, ImageSequence

from nfbuild.dataclasses import dataclass

# What our own exports may hold is bounded by the project's limits, not by Pillow's guess.
Image.MAX_IMAGE_PIXELS = None

_LOSSLESS_EFFORT = 25
_LOSSLESS_METHOD = 1


def webp_still(pixels: bytes, width: int, height: int, quality: int | None) -> bytes:
    """Return the WebP file of one picture of straight RGBA rows; lossless without a quality."""
    image = Image.frombytes("RGBA", (width, height), pixels)
    out = io.BytesIO()
    if quality is None:
        image.save(
            out,
            "WEBP",
            lossless=True,
            exact=True,
            quality=_LOSSLESS_EFFORT,
            method=_LOSSLESS_METHOD,
        )
    else:
        image.save(out, "WEBP", quality=quality, alpha_quality=100, method=4)
    return out.getvalue()


def gif_still(indices: bytes, width: int, height: int, palette: bytes) -> bytes:
    """Return the GIF file of one picture of palette indices; `palette` is RGB triples."""
    image = Image.frombytes("P", (width, height), indices)
    image.putpalette(palette)
    out = io.BytesIO()
    image.save(out, "GIF", optimize=False, interlace=False)
    return out.getvalue()


@dataclass(frozen=True)
class Shown:
    """One picture of an animation read back: straight RGBA rows, and how long it stands.

    `seconds` is None where the file does not say.
    """

    pixels: bytes
    seconds: Fraction | None


@dataclass(frozen=True)
class Animation:
    """An animated picture read back; `loop` is how often it plays, 0 for ever, None if not said."""

    width: int
    height: int
    loop: int | None
    pictures: Iterator[Shown]


@contextlib.contextmanager
def read_animation(path: str) -> Iterator[Animation]:
    """Open an animated picture; its pictures are decoded one by one as they are asked for.

    Raises `OSError` or `SyntaxError` for a file that cannot be read.
    """
    with open(path, "rb") as file, Image.open(file) as image:
        yield Animation(image.width, image.height, image.info.get("loop"), _pictures(image))


def _pictures(image: Any) -> Iterator[Shown]:
    for frame in ImageSequence.Iterator(image):
        frame.load()  # which fills in the duration
        # Converting to the same mode would be a copy of every frame.
        pixels = (frame if frame.mode == "RGBA" else frame.convert("RGBA")).tobytes()
        duration = frame.info.get("duration")
        # Pillow gives milliseconds, as a float where the format has fractions.
        seconds = None if duration is None else Fraction(duration) / 1000
        yield Shown(pixels, seconds)
