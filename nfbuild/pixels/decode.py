"""Pillow's one door: pictures that the rasterizer cannot draw right become straight sRGB RGBA.

First frame, orientation applied, an ICC profile other than sRGB converted by LittleCMS (perceptual
intent), samples of 16 bits cut to their upper eight as Pillow itself does for colour. Nothing is
guessed: a damaged file, one of an unlisted kind or one larger than allowed is a MediaError.
What is decoded depends on the file and on the files that `decoder` lists, nothing else.
Not here: judging which pictures need this (`sniff`), writing PNG (`png`).
"""

from __future__ import annotations

import io
import struct
import sys
import warnings
import zlib

from PIL import Image, ImageCms, ImageOps

from nfbuild.errors import MediaError

from .decoded import DecodedPicture
from .profile import is_srgb

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")

# What Pillow's decoders raise on damaged files, beside their own errors, all of them OSErrors.
_DAMAGED = (
    OSError,
    SyntaxError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    EOFError,
    OverflowError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)

_ALIKE = {"1": "L", "P": "RGBA", "PA": "RGBA", "LA": "RGBA", "La": "RGBA", "RGBa": "RGBA"}


def decode_picture(data: bytes, *, max_pixels: int, name: str = "picture") -> DecodedPicture:
    """Return a picture's pixels; MediaError when it is damaged, unlisted or too large."""
    # The bound is checked here, before anything is unpacked, with our own message.
    Image.MAX_IMAGE_PIXELS = None
    try:
        # Pillow warns of oddities that change no pixel; what does is an error already.
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(data), formats=FORMATS) as opened,
        ):
            width, height = opened.size
            if width * height > max_pixels:
                raise MediaError(
                    f"the picture `{name}` has {width} x {height} pixels, more than {max_pixels}",
                    hint="make it smaller, or raise the limit",
                    code="media.large",
                )
            picture = _rgba(opened)
    except _DAMAGED as error:
        raise MediaError(
            f"the picture `{name}` cannot be decoded: {_one_line(error)}",
            hint="save the file again",
            code="media.damaged",
        ) from error
    return DecodedPicture(picture.tobytes(), *picture.size)


def _rgba(opened: Image.Image) -> Image.Image:
    opened.load()
    profile = opened.info.get("icc_profile")
    picture = _eight_bits(opened)
    picture = ImageOps.exif_transpose(picture)
    if isinstance(profile, bytes) and profile and not is_srgb(profile):
        picture = _to_srgb(picture, profile)
    return picture if picture.mode == "RGBA" else picture.convert("RGBA")


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Return a picture of 16-bit or 32-bit grey samples with 8 bits; any other as it is."""
    kinds = {"I;16": (2, 1), "I;16L": (2, 1), "I;16B": (2, 0), "I;16N": (2, 1)}
    if picture.mode == "I":
        raw = picture.tobytes()
        low = sys.byteorder == "little"
        if any(raw[3 if low else 0 :: 4]) or any(raw[2 if low else 1 :: 4]):
            raise ValueError("its samples have more than 16 bits")
        upper = raw[1 if low else 2 :: 4]
    elif picture.mode in kinds:
        step, at = kinds[picture.mode]
        upper = picture.tobytes()[at::step]
    elif picture.mode == "F":
        raise ValueError("its samples are fractions")
    else:
        return picture
    grey = Image.frombytes("L", picture.size, upper)
    grey.info = {key: value for key, value in picture.info.items() if key == "exif"}
    return grey


def _to_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    """Return a picture converted from its profile; as it is where the profile does not fit it.

    A profile for other colours than the file has, or a damaged one, is ignored, as everywhere.
    """
    if picture.mode == "P" or "transparency" in picture.info:
        picture = picture.convert("RGBA")
    picture = picture.convert(_ALIKE[picture.mode]) if picture.mode in _ALIKE else picture
    target = "RGBA" if picture.mode == "RGBA" else "RGB"
    try:
        converted = ImageCms.profileToProfile(
            picture,
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.createProfile("sRGB"),
            renderingIntent=ImageCms.Intent.PERCEPTUAL,
            outputMode=target,
        )
    except (ImageCms.PyCMSError, OSError):
        return picture
    return picture if converted is None else converted


def _one_line(error: BaseException) -> str:
    text = str(error).splitlines()
    return text[0].rstrip(".") if text else type(error).__name__
