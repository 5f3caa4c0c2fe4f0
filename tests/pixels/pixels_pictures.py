"""Pictures of every kind the tests need, made in memory, with the pixels each must show."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image, ImageCms

WIDTH, HEIGHT = 32, 24

_y, _x = np.mgrid[0:HEIGHT, 0:WIDTH]
RGB = np.stack([_x * 8, _y * 10, (_x + _y) * 4], -1).astype(np.uint8)
ALPHA = (_x * 8 + 7).astype(np.uint8)
RGBA = np.dstack([RGB, ALPHA])
GREY = RGB[..., 1]


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def raw_png(samples: np.ndarray, depth: int, colors: int, extra: bytes = b"") -> bytes:
    """A PNG of unfiltered rows, written here so that no encoder's habits are in it."""
    kind = ">u2" if depth == 16 else np.uint8
    rows = b"".join(b"\0" + row.astype(kind).tobytes() for row in samples)
    header = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], depth, colors, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            extra,
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


def interlaced_png(samples: np.ndarray, colors: int) -> bytes:
    """An Adam7 PNG of 8 bits."""
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2))
    out = b""
    for left, top, across, down in (*passes, (0, 1, 1, 2)):
        for row in samples[top::down, left::across]:
            out += b"\0" + row.tobytes()
    header = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], 8, colors, 0, 0, 1)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(out)),
            chunk(b"IEND", b""),
        )
    )


def saved(array: np.ndarray | Image.Image, kind: str, **options) -> bytes:
    picture = array if isinstance(array, Image.Image) else Image.fromarray(array)
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def oriented(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def swapped_profile() -> bytes:
    """sRGB with its red and green primaries exchanged: converted pictures swap the channels."""
    profile = bytearray(srgb_profile())
    (count,) = struct.unpack_from(">I", profile, 128)
    places = {}
    for index in range(count):
        name, offset, _ = struct.unpack_from(">4sII", profile, 132 + 12 * index)
        places[name] = 132 + 12 * index + 4
        del offset
    red, green = places[b"rXYZ"], places[b"gXYZ"]
    profile[red : red + 4], profile[green : green + 4] = (
        profile[green : green + 4],
        profile[red : red + 4],
    )
    return bytes(profile)


def with_alpha(rgb: np.ndarray, alpha: np.ndarray | int = 255) -> np.ndarray:
    full = np.full(rgb.shape[:2], alpha, np.uint8) if isinstance(alpha, int) else alpha
    return np.dstack([rgb, full])


def as_grey(grey: np.ndarray) -> np.ndarray:
    return with_alpha(np.dstack([grey] * 3))


PALETTE = Image.fromarray(RGB).quantize(16)
CMYK = Image.fromarray(RGB).convert("CMYK")
WIDE = np.dstack([RGB.astype(np.uint16) * 257])

DRAWN_RIGHT = {
    "rgb.png": saved(RGB, "PNG"),
    "rgba.png": saved(RGBA, "PNG"),
    "grey.png": saved(GREY, "PNG"),
    "grey-alpha.png": raw_png(np.dstack([GREY, ALPHA]), 8, 4),
    "bits.png": saved(Image.fromarray(GREY).convert("1"), "PNG"),
    "key-color.png": raw_png(RGB, 8, 2, chunk(b"tRNS", b"\0\x08\0\x0a\0\x08")),
    "gamma.png": raw_png(RGB, 8, 2, chunk(b"gAMA", (100_000).to_bytes(4, "big"))),
    "animated.png": saved(RGBA, "PNG", save_all=True, append_images=[Image.fromarray(RGBA[::-1])]),
    "srgb-profile.png": saved(RGB, "PNG", icc_profile=srgb_profile()),
    "420.jpg": saved(RGB, "JPEG", subsampling=2),
    "444.jpg": saved(RGB, "JPEG", subsampling=0),
    "progressive.jpg": saved(RGB, "JPEG", progressive=True),
    "upright.jpg": saved(RGB, "JPEG", exif=oriented(1)),
    "srgb-profile.jpg": saved(RGB, "JPEG", icc_profile=srgb_profile()),
}

NEEDS_DECODING = {
    "palette.png": saved(PALETTE, "PNG"),
    "interlaced.png": interlaced_png(RGB, 2),
    "16-bit.png": raw_png(WIDE, 16, 2),
    "grey-16-bit.png": raw_png(GREY.astype(np.uint16), 16, 0),
    "turned.png": saved(RGB, "PNG", exif=oriented(6)),
    "profile.png": saved(RGB, "PNG", icc_profile=swapped_profile()),
    "grey.jpg": saved(GREY, "JPEG"),
    "cmyk.jpg": saved(CMYK, "JPEG"),
    "profile.jpg": saved(RGB, "JPEG", icc_profile=swapped_profile()),
    **{f"turned-{o}.jpg": saved(RGB, "JPEG", exif=oriented(o)) for o in range(2, 9)},
    "still.webp": saved(RGB, "WEBP"),
    "lossless.webp": saved(RGBA, "WEBP", lossless=True),
    "animated.webp": saved(
        RGBA, "WEBP", save_all=True, append_images=[Image.fromarray(RGBA[::-1])]
    ),
    "a.gif": saved(PALETTE, "GIF"),
    "a.bmp": saved(RGB, "BMP"),
    "a.tif": saved(RGB, "TIFF"),
    "cmyk.tif": saved(CMYK, "TIFF"),
}
