"""Read a picture's header, and judge whether ThorVG draws the file right as it is.

Plain Python over the file's bytes, so that the parent can ask without Pillow. The judgement was
found by drawing 70 files of all kinds at four sizes and angles beside their decoded pixels
(thorvg-python 1.1.3, Linux x86-64):

- drawn right, byte for byte: PNG of 8 bits and fewer in every colour type, JPEG in grey, YCbCr and
  RGB, baseline and progressive in every sampling;
- drawn right, though not by every build of the library: palette and interlaced PNG, grey JPEG and
  still WebP. They are decoded all the same: the result is equal here and certain elsewhere;
- drawn wrong: 16-bit PNG (taken as linear light), orientation by EXIF and ICC profiles (ignored);
- drawn as nothing, with success reported: CMYK JPEG, GIF, BMP, TIFF, animated WebP, and any file
  that is cut off. So a file that may be drawn as it is must also be whole (`whole`).

A PNG's own gamma (`gAMA`) is the one thing that ThorVG honours and Pillow does not.
Not here: decoding (`decode`), what a colour profile says (`profile`).
"""

from __future__ import annotations

import struct
import zlib
from typing import Literal

from nfbuild.dataclasses import dataclass
from nfbuild.errors import MediaError

from . import profile

Format = Literal["png", "jpeg", "gif", "webp", "bmp", "tiff"]

_PNG = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_SRGB_GAMMA = 45455  # 1 / 2.2 in parts of 100000
_ORIENTATION = 0x0112

# JPEG markers that begin a frame; the others of this range are tables.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PLAIN_FRAMES = (0xC0, 0xC1, 0xC2)  # baseline, extended, progressive; Huffman coded


@dataclass(frozen=True)
class PictureHeader:
    """What a picture's header says; `width` and `height` are as the file stores them.

    `colors` is `grey`, `grey-alpha`, `rgb`, `rgba`, `palette`, `cmyk` or `other`; `depth` is bits
    per sample. `orientation` is EXIF's, 1 to 8. `profile` tells whether an ICC profile other than
    sRGB is attached. A field that the format does not say in its header has its plainest value.
    """

    format: Format
    width: int
    height: int
    depth: int = 8
    colors: str = "rgb"
    interlaced: bool = False
    orientation: int = 1
    profile: bool = False
    gamma: bool = False
    animated: bool = False
    unusual: bool = False

    @property
    def suffix(self) -> str:
        """The file suffix by which ThorVG knows the format, for what it draws as it is."""
        return {"png": ".png", "jpeg": ".jpg"}.get(self.format, f".{self.format}")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height as the picture is to be seen: orientation applied."""
        if self.orientation >= 5:
            return self.height, self.width
        return self.width, self.height

    @property
    def drawn_right(self) -> bool:
        """Whether ThorVG draws the file right as it is, when it is whole."""
        if self.orientation != 1 or self.profile or self.unusual:
            return False
        if self.format == "png":
            odd = self.interlaced or self.colors == "palette"
            return self.depth <= 8 and (self.gamma or not odd)
        return self.format == "jpeg" and self.depth == 8 and self.colors == "rgb"


def sniff(data: bytes, *, name: str = "picture") -> PictureHeader:
    """Return what the header of a picture says.

    MediaError when the format is not one of ours or the header is damaged. `name` is what
    messages call the file.
    """
    try:
        header = _header(data)
    except (struct.error, IndexError) as error:
        raise MediaError(
            f"the picture `{name}` is damaged: its header is cut off",
            hint="save the file again",
            code="media.damaged",
        ) from error
    if header is None:
        raise MediaError(
            f"`{name}` is not a picture that can be drawn",
            hint="use PNG, JPEG, WebP, GIF, BMP or TIFF",
            code="media.format",
        )
    if header.width < 1 or header.height < 1:
        raise MediaError(f"the picture `{name}` has no pixels", code="media.damaged")
    return header


def whole(data: bytes) -> bool:
    """Tell whether a PNG or JPEG file is all there: PNG by its checksums, JPEG by its markers."""
    try:
        return _whole_png(data) if data.startswith(_PNG) else _whole_jpeg(data)
    except (struct.error, IndexError):
        return False


def _header(data: bytes) -> PictureHeader | None:
    if data.startswith(_PNG):
        return _png(data)
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data[:6] in (b"GIF87a", b"GIF89a"):
        width, height = struct.unpack_from("<HH", data, 6)
        return PictureHeader("gif", width, height, colors="palette")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    if data[:2] == b"BM":
        return _bmp(data)
    if data[:4] in (b"II*\0", b"MM\0*"):
        return _tiff(data)
    return None


def _png(data: bytes) -> PictureHeader:
    length, kind, width, height, depth, colors, _, _, interlace = struct.unpack_from(
        ">I4sIIBBBBB", data, 8
    )
    if kind != b"IHDR" or length != 13:
        raise struct.error
    orientation, icc, gamma, srgb, animated = 1, False, False, False, False
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length] if kind in (b"gAMA", b"iCCP", b"eXIf") else b""
        if kind == b"gAMA":
            # libpng takes up to 5 % beside sRGB's for sRGB's.
            (value,) = struct.unpack(">I", body)
            gamma = abs(value - _SRGB_GAMMA) * 20 > _SRGB_GAMMA
        elif kind == b"sRGB":
            srgb = True
        elif kind == b"iCCP":
            icc = not profile.is_srgb(_png_profile(body))
        elif kind == b"eXIf":
            orientation = _exif_orientation(body)
        elif kind == b"acTL":
            animated = True
        elif kind == b"IEND":
            break
        at += 12 + length
    names = {
        _GREY: "grey",
        _RGB: "rgb",
        _PALETTE: "palette",
        _GREY_ALPHA: "grey-alpha",
        _RGBA: "rgba",
    }
    return PictureHeader(
        "png",
        width,
        height,
        depth=depth,
        colors=names.get(colors, "other"),
        interlaced=interlace != 0,
        orientation=orientation,
        profile=icc and not srgb,
        gamma=gamma and not srgb,
        animated=animated,
        unusual=colors not in names,
    )


def _png_profile(body: bytes) -> bytes:
    _, _, packed = body.partition(b"\0")
    inflater = zlib.decompressobj()
    try:
        return inflater.decompress(packed[1:], 1 << 20)
    except zlib.error:
        return b""


def _jpeg(data: bytes) -> PictureHeader:
    orientation, adobe, icc_parts = 1, None, []
    at = 2
    while True:
        while data[at] == 0xFF and data[at + 1] == 0xFF:
            at += 1
        if data[at] != 0xFF:
            raise struct.error
        marker = data[at + 1]
        if marker in (0xD9, 0xDA):
            raise struct.error  # no frame before the scan
        (length,) = struct.unpack_from(">H", data, at + 2)
        body = data[at + 4 : at + 2 + length]
        if marker in _FRAMES:
            break
        if marker == 0xE1 and body.startswith(b"Exif\0\0"):
            orientation = _exif_orientation(body[6:])
        elif marker == 0xE2 and body.startswith(b"ICC_PROFILE\0"):
            icc_parts.append((body[12], body[14:]))
        elif marker == 0xEE and body.startswith(b"Adobe"):
            adobe = body[11]
        at += 2 + length
    depth, height, width, components = struct.unpack_from(">BHHB", body)
    attached = b"".join(part for _, part in sorted(icc_parts))
    return PictureHeader(
        "jpeg",
        width,
        height,
        depth=depth,
        colors={1: "grey", 3: "rgb", 4: "cmyk"}.get(components, "other"),
        interlaced=marker == 0xC2,
        orientation=orientation,
        profile=bool(icc_parts) and not profile.is_srgb(attached),
        unusual=marker not in _PLAIN_FRAMES or (components == 3 and adobe not in (None, 0, 1)),
    )


def _exif_orientation(exif: bytes) -> int:
    """Return the orientation in the first directory of a TIFF structure; 1 when there is none."""
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return 1
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for index in range(count):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, start + 2 + 12 * index)
            if tag == _ORIENTATION:
                return value if kind == 3 and 1 <= value <= 8 else 1
    except struct.error:
        return 1
    return 1


def _webp(data: bytes) -> PictureHeader:
    kind = data[12:16]
    if len(data) < 30:
        raise struct.error
    if kind == b"VP8X":
        flags = data[20]
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
        return PictureHeader(
            "webp",
            width,
            height,
            colors="rgba" if flags & 0x10 else "rgb",
            profile=bool(flags & 0x20),
            animated=bool(flags & 0x02),
        )
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return PictureHeader("webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), colors="rgba")
    width, height = struct.unpack_from("<HH", data, 26)
    return PictureHeader("webp", width & 0x3FFF, height & 0x3FFF)


def _bmp(data: bytes) -> PictureHeader:
    (size,) = struct.unpack_from("<I", data, 14)
    if size == 12:
        width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
    else:
        width, height, _, bits = struct.unpack_from("<iiHH", data, 18)
    return PictureHeader(
        "bmp", width, abs(height), colors="palette" if bits <= 8 else "rgb", unusual=bits == 16
    )


def _tiff(data: bytes) -> PictureHeader:
    order = "<" if data[:2] == b"II" else ">"
    (start,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, start)
    values: dict[int, int] = {}
    for index in range(count):
        at = start + 2 + 12 * index
        tag, kind, _ = struct.unpack_from(f"{order}HHI", data, at)
        (values[tag],) = struct.unpack_from(f"{order}{'I' if kind == 4 else 'H'}", data, at + 8)
    orientation = values.get(_ORIENTATION, 1)
    return PictureHeader(
        "tiff",
        values.get(0x0100, 0),
        values.get(0x0101, 0),
        colors={0: "grey", 1: "grey", 2: "rgb", 3: "palette", 5: "cmyk"}.get(
            values.get(0x0106, 2), "other"
        ),
        orientation=orientation if 1 <= orientation <= 8 else 1,
        profile=0x8773 in values,
    )


def _whole_png(data: bytes) -> bool:
    at, pixels = 8, False
    while True:
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 8 + length
        (check,) = struct.unpack_from(">I", data, end)
        if zlib.crc32(memoryview(data)[at + 4 : end]) != check:
            return False
        if kind == b"IEND":
            return pixels
        pixels = pixels or kind == b"IDAT"
        at = end + 4


def _whole_jpeg(data: bytes) -> bool:
    """Walk the segments; inside a scan only 0xFF with a marker byte ends the coded data."""
    at, scans = 2, 0
    while True:
        if data[at] != 0xFF:
            return False
        marker = data[at + 1]
        if marker == 0xD9:
            return scans > 0
        if marker == 0xFF:
            at += 1
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        at += 2 + length
        if marker != 0xDA:
            continue
        scans += 1
        while True:
            at = data.find(b"\xff", at)
            if at < 0:
                return False
            if data[at + 1] != 0 and not 0xD0 <= data[at + 1] <= 0xD7:
                break
            at += 2
